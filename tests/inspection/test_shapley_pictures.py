"""Pictures of explanations show the numbers they are given."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from tests.inspection.test_shapley import table

import orfeon
from orfeon.inspection import (
    AccumulatedEffectsDisplay,
    PartialDependenceDisplay,
    ShapBeeswarmDisplay,
    ShapDependenceDisplay,
    ShapWaterfallDisplay,
    accumulated_effects,
    partial_dependence,
    shap_values,
)
from orfeon.inspection.shapley_display import spread

matplotlib.use("agg")


@pytest.fixture(scope="module")
def forest():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return orfeon.RandomForestClassifier(n_estimators=15, random_state=0).fit(X, y), X


def test_a_waterfall_leads_from_the_expected_output_to_that_of_the_row(forest):
    model, X = forest
    display = ShapWaterfallDisplay.from_estimator(model, X, 20, n_shown=6)
    values = shap_values(model, X.iloc[[20]]).for_class(1)
    bars = display.bars_.patches
    assert len(bars) == 7
    widths = [bar.get_width() for bar in bars]
    assert np.allclose(widths[:6], sorted(values.values[0], key=abs, reverse=True)[:6])
    assert np.isclose(sum(widths), values.values.sum())
    ends = [bar.get_x() + bar.get_width() for bar in bars]
    assert np.isclose(ends[0], model.vote_shares(X.iloc[[20]])[0, 1])
    assert np.isclose(bars[-1].get_x(), values.base_values)
    texts = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert texts[-1] == "24 others"
    assert texts[0].startswith(f"{X.columns[display.order_[0]]} = ")


def test_a_waterfall_of_a_class_that_is_named(forest):
    model, X = forest
    of_one = ShapWaterfallDisplay.from_estimator(model, X, 20, name=1)
    of_other = ShapWaterfallDisplay.from_estimator(model, X, 20, name=0)
    assert np.allclose(
        [bar.get_width() for bar in of_one.bars_],
        [-bar.get_width() for bar in of_other.bars_],
    )
    assert "class 0" in of_other.ax_.get_title()


def test_a_beeswarm_has_a_point_for_each_row(forest):
    model, X = forest
    display = ShapBeeswarmDisplay.from_estimator(model, X[:60], n_shown=4)
    values = shap_values(model, X[:60]).for_class(1).values
    assert display.order_.tolist() == np.argsort(-np.abs(values).mean(axis=0))[:4].tolist()
    for k, (points, j) in enumerate(zip(display.points_, display.order_, strict=True)):
        x, y = points.get_offsets().T
        assert np.allclose(x, values[:, j])
        assert (np.abs(y - k) < 0.5).all()


def test_points_on_one_another_move_apart():
    moved = spread(np.array([0.0] * 5 + [1.0]), 0.0, 1.0)
    assert moved[5] == 0
    assert len(set(moved[:5])) == 5
    assert np.isclose(moved[:5].mean(), 0)


def test_dependence_of_numbers_and_of_categories():
    X, y = table()
    model = orfeon.RandomForestRegressor(n_estimators=5, random_state=0).fit(X, y)
    values = shap_values(model, X).values
    display = ShapDependenceDisplay.from_estimator(model, X, "z", colour_by="w")
    drawn = display.points_.get_offsets()
    known = ~np.isnan(X["z"].to_numpy())
    assert np.allclose(np.ma.getdata(drawn)[known, 1], values[known, 3])
    by_letter = ShapDependenceDisplay.from_estimator(model, X, "y")
    assert [t.get_text() for t in by_letter.ax_.get_xticklabels()] == [*"abcdef", "missing"]
    assert np.allclose(by_letter.points_.get_offsets()[:, 1], values[:, 2])


def test_curves_and_maps_of_partial_dependence():
    X, y = load_iris(return_X_y=True)
    model = orfeon.RandomForestClassifier(n_estimators=9, random_state=0).fit(X, y)
    found = partial_dependence(model, X, 2)
    display = PartialDependenceDisplay.from_estimator(model, X, 2, kind="both")
    assert len(display.lines_) == 3
    for k, line in enumerate(display.lines_):
        assert np.allclose(line.get_ydata(), found.average[:, k])
    assert len(display.ax_.lines) == 3 + 3 * 50
    both = PartialDependenceDisplay.from_estimator(model, X, [2, 3], name=0, grid_resolution=8)
    wanted = partial_dependence(model, X, [2, 3], grid_resolution=8).average[:, :, 0]
    assert np.allclose(both.mesh_.get_array(), wanted.T)
    with pytest.raises(ValueError, match="not drawn together"):
        PartialDependenceDisplay(partial_dependence(model, X, [0, 1, 2], grid_resolution=3))
    effects = AccumulatedEffectsDisplay.from_estimator(model, X, 2, name=1)
    wanted = accumulated_effects(model, X, 2).effect[:, 1]
    assert np.allclose(effects.lines_[0].get_ydata(), wanted)


def test_what_cannot_be_drawn(forest):
    model, X = forest
    with pytest.raises(ValueError, match="row=5 is not allowed"):
        ShapWaterfallDisplay(shap_values(model, X[:5]), 5)
    pairs = shap_values(model, X[:2], interactions=True)
    with pytest.raises(ValueError, match="pairs"):
        ShapBeeswarmDisplay(pairs)
    with pytest.raises(ValueError, match="is not a class"):
        ShapWaterfallDisplay.from_estimator(model, X, 0, name="rose")
