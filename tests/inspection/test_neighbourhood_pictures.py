"""Pictures of a forest as a neighbourhood: proximities, outliers, and the weights of samples."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    CARTClassifier,
    CARTRegressor,
    ExtraTreesClassifier,
    PrunedClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from orfeon.datasets import make_circle, make_friedman1, make_waveform
from orfeon.inspection import forest_weights, outlier_scores, proximities
from orfeon.inspection.neighbourhood import ForestWeightsDisplay, RowWeights, row_weights
from orfeon.inspection.proximity_display import (
    OutlierDisplay,
    ProximityDisplay,
    scaling_coordinates,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture(scope="module")
def waves():
    X, y = make_waveform(90, random_state=0)
    return X, np.array(["first", "second", "third"])[y]


@pytest.fixture(scope="module")
def forest(waves):
    return RandomForestClassifier(n_estimators=50, random_state=0).fit(*waves)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def stays_inside(figure):
    figure.canvas.draw()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    return box.x0 > -0.05 and box.y0 > -0.05 and box.x1 < width + 0.05 and box.y1 < height + 0.05


# -- proximities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [
    TheirForest(20, random_state=0), DecisionTreeClassifier(max_depth=3, random_state=0),
])  # fmt: skip
def test_proximities_of_scikit_learn_are_shared_leaves(model, waves):
    X, y = waves
    leaves = model.fit(X, y).apply(X).reshape(len(X), -1)
    expected = (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    np.testing.assert_allclose(proximities(model, X), expected, rtol=0, atol=1e-15)


def test_proximities_of_ours_are_those_of_the_forest(forest, waves):
    X, _ = waves
    expected = proximities(forest.forest_, X)
    for given in (forest, forest.forest_):
        assert (proximities(given, X) == expected).all()
    frame = pd.DataFrame(X)
    tree = CARTClassifier(random_state=0).fit(frame, waves[1])
    assert (proximities(tree, frame) == proximities(tree.forest_, X)).all()
    pruned = PrunedClassifier(BaggingClassifier(n_estimators=20), random_state=0).fit(*waves)
    kept = pruned.ensemble_.forest_
    assert (proximities(pruned, X) == proximities(kept, X)).all()
    with pytest.raises(TypeError, match="forest is a LogisticRegression; proximities need trees"):
        proximities(LogisticRegression().fit(X[:, :2], waves[1]), X[:, :2])


def test_weights_of_samples_are_those_of_the_forest_whoever_made_it(forest, waves):
    X, y = waves
    expected = forest_weights(forest.forest_, X, X[:5])
    assert (forest_weights(forest, pd.DataFrame(X), X[:5].tolist()) == expected).all()
    theirs = TheirForest(70, random_state=0).fit(X, y)  # more trees than are looked at together
    leaves, others = theirs.apply(X), theirs.apply(X[:5])
    same = others[:, None, :] == leaves[None, :, :]
    expected = (same / same.sum(axis=1, keepdims=True)).mean(axis=2)
    np.testing.assert_allclose(forest_weights(theirs, X, X[:5]), expected, atol=1e-12)
    near = proximities(theirs, X, X[:5])
    np.testing.assert_allclose(near, same.mean(axis=2).T, atol=1e-12)
    sparse_ones = proximities(theirs, X, X[:5], sparse_output=True)
    np.testing.assert_allclose(sparse_ones.toarray(), near, atol=1e-12)
    with pytest.raises(TypeError, match=r"forest is a LogisticRegression; .* need trees"):
        forest_weights(LogisticRegression().fit(X, y), X, X)


@pytest.mark.parametrize("wrong", ["forest", "trees", "theirs"])
def test_scores_are_of_proximities_and_not_of_a_forest(wrong, forest, waves):
    given = {"forest": forest, "trees": forest.forest_, "theirs": TheirForest()}[wrong]
    for make in (outlier_scores, ProximityDisplay):
        with pytest.raises(
            TypeError, match=r"proximities is a \w*Forest\w*; .*proximities\(forest"
        ):
            make(given, waves[1])
    near = proximities(forest, waves[0])
    assert (outlier_scores(near.tolist()) == outlier_scores(near)).all()


def test_pictures_of_sparse_proximities_are_the_same(forest, waves):
    few = proximities(forest, waves[0], sparse_output=True)
    assert (ProximityDisplay(few, waves[1]).proximities == few.toarray()).all()


def test_scaling_keeps_the_distances_of_what_fits_a_plane():
    # Rows at the corners of a triangle: squared distances 2 (1 - p).
    near = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.75], [0.25, 0.75, 1.0]])
    points, shares = scaling_coordinates(near)
    for i in range(3):
        for j in range(3):
            apart = ((points[i] - points[j]) ** 2).sum()
            assert apart == pytest.approx(2 * (1 - near[i, j]), abs=1e-12)
    assert shares.sum() == pytest.approx(1)
    assert shares[0] > shares[1] > 0
    with pytest.raises(ValueError, match="proximities has 2 rows"):
        scaling_coordinates(near[:2, :2])


def test_scaling_of_many_rows_is_that_of_few(forest, waves, monkeypatch):
    near = proximities(forest.forest_, waves[0])
    points, shares = scaling_coordinates(near)
    monkeypatch.setattr("orfeon.inspection.proximity_display._FEW", 10)
    others, other_shares = scaling_coordinates(near)
    np.testing.assert_allclose(np.abs(others), np.abs(points), atol=1e-9)
    np.testing.assert_allclose(other_shares, shares, atol=1e-12)
    assert 0 < shares.sum() < 1


def test_the_matrix_is_sorted_by_class_the_typical_rows_first(forest, waves):
    X, y = waves
    display = ProximityDisplay.from_estimator(forest, X, y)
    assert (np.sort(display.order_) == np.arange(90)).all()
    assert (np.diff(np.unique(y, return_inverse=True)[1][display.order_]) >= 0).all()
    for name in np.unique(y):
        rows = [row for row in display.order_ if y[row] == name]
        mean = display.proximities[np.ix_(rows, rows)].mean(axis=1)
        assert (np.diff(mean) <= 1e-12).all()
    drawn = np.asarray(display.ax_.images[0].get_array())
    assert (drawn == display.proximities[np.ix_(display.order_, display.order_)]).all()
    names = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert names == ["class first", "class second", "class third"]
    # Names stand in the middle of their rows, and lines between them.
    counts = np.unique(y, return_counts=True)[1]
    assert display.ax_.get_xticks()[0] == (counts[0] - 1) / 2
    assert display.ax_.lines[0].get_ydata()[0] == counts[0] - 0.5
    assert display.ax_.get_title() == "Proximities of rows, sorted by class"


def test_the_plane_has_a_marker_for_each_class(forest, waves):
    X, y = waves
    display = ProximityDisplay.from_estimator(forest, X, y, kind="plane")
    points, shares = scaling_coordinates(display.proximities)
    drawn = [np.asarray(c.get_offsets()) for c in display.ax_.collections]
    for name, found in zip(np.unique(y), drawn, strict=True):
        np.testing.assert_allclose(found, points[y == name])
    assert legend_of(display.ax_) == ["class first", "class second", "class third"]
    assert display.ax_.get_xlabel() == f"first coordinate ({100 * shares[0]:.0f}% of the variation)"


def test_rows_without_classes_are_drawn_too(forest, waves):
    display = ProximityDisplay.from_estimator(forest, waves[0])
    assert display.ax_.get_title() == "Proximities of rows"
    assert display.ax_.get_xlabel() == "rows"
    plane = ProximityDisplay(display.proximities).plot(kind="plane")
    assert plane.ax_.get_legend() is None
    assert len(plane.ax_.collections) == 1
    same = ProximityDisplay(np.eye(4)).plot()  # no two rows are near
    assert same.ax_.images[0].get_clim() == (0.0, 1.0)


def test_proximities_that_are_none_are_refused(forest, waves):
    with pytest.raises(ValueError, match=r"proximities has shape \(2, 3\)"):
        ProximityDisplay(np.ones((2, 3)))
    with pytest.raises(ValueError, match="kind='tree' is not allowed"):
        ProximityDisplay(np.eye(3)).plot(kind="tree")
    with pytest.raises(ValueError, match="y has 2 values"):
        ProximityDisplay(np.eye(3), [0, 1])
    with pytest.raises(ValueError, match="y holds numbers that are not classes"):
        ProximityDisplay(np.eye(3), [0.5, 1.25, 3.5])


# -- outliers --------------------------------------------------------------------------------------


def test_a_row_far_from_its_class_is_found_and_named():
    X, y = make_blobs([60, 60], centers=[[0, 0], [12, 0]], random_state=0)
    y[0] = 1 - y[0]  # among the others
    forest = ExtraTreesClassifier(n_estimators=200, min_samples_leaf=5, random_state=0).fit(X, y)
    display = OutlierDisplay.from_estimator(forest, X, y)
    assert display.outliers_.tolist() == [0]
    assert (display.scores == outlier_scores(proximities(forest.forest_, X), y)).all()
    assert [text.get_text() for text in display.ax_.texts] == ["row 0"]
    assert display.ax_.get_title() == "1 of 120 rows is far from its class"
    assert legend_of(display.ax_) == ["class 0", "class 1", "above 10: worth a look"]


def test_outliers_come_from_the_highest_score_and_five_are_named():
    scores = np.array([0.0, 30.0, 20.0, -1.0, 25.0, 11.0, 12.0, 13.0, 10.0])
    display = OutlierDisplay(scores).plot()
    assert display.outliers_.tolist() == [1, 4, 2, 7, 6, 5]  # 10 is not above 10
    assert [t.get_text() for t in display.ax_.texts] == [f"row {r}" for r in (1, 4, 2, 7, 6)]
    assert display.ax_.get_title() == "6 of 9 rows are far from all others"
    assert OutlierDisplay(scores, threshold=24).outliers_.tolist() == [1, 4]
    # Rows stand class by class.
    display = OutlierDisplay(scores, [1, 0, 1, 0, 1, 0, 1, 0, 1]).plot()
    first = np.asarray(display.ax_.collections[0].get_offsets())
    assert first[:, 0].tolist() == [0, 1, 2, 3]
    assert first[:, 1].tolist() == scores[1::2].tolist()
    assert display.ax_.get_title() == "6 of 9 rows are far from their class"


@pytest.mark.parametrize("width", [3.5, 4.8])
def test_names_of_outliers_with_nearly_the_same_score_are_apart(width):
    scores = np.random.default_rng(0).normal(size=300)
    scores[[60, 65, 150, 151, 298]] = [20.0, 20.2, 31.0, 31.3, 25.0]
    figure, ax = pyplot.subplots(figsize=(width, 3.6), layout="constrained")
    display = OutlierDisplay(scores, np.repeat(["a", "b", "c"], 100)).plot(ax)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    assert len(boxes) == 5
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)
    frame = ax.get_window_extent()
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)


def test_scores_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"scores has shape \(1, 2\)"):
        OutlierDisplay([[1.0, 2.0]])
    with pytest.raises(ValueError, match="a finite number for each row"):
        OutlierDisplay([1.0, np.nan])


# -- the weights of samples -----------------------------------------------------------------------


@pytest.mark.parametrize("model", [
    RandomForestClassifier(n_estimators=30, random_state=0),
    ExtraTreesClassifier(n_estimators=30, random_state=0),
    CARTClassifier(max_depth=3, random_state=0),
])  # fmt: skip
@pytest.mark.parametrize("weighted", [False, True])
def test_the_weights_of_the_classes_are_the_supports(model, weighted):
    X, y = make_circle(150, random_state=0)
    w = np.random.default_rng(0).integers(0, 4, len(y)) if weighted else None
    model.fit(X, y, w)
    for row in ([0.5, 0.9], [0.2, 0.2]):
        found = row_weights(model, X, y, row, sample_weight=w)
        assert found.weights.sum() == pytest.approx(1)
        if weighted:
            assert (found.weights[w == 0] == 0).all()
        supports = model.forest_.mean_supports(np.array([row]))[0]
        np.testing.assert_allclose(list(found.prediction().values()), supports, atol=1e-12)


def test_the_weights_of_the_targets_are_the_prediction():
    X, y = make_friedman1(150, random_state=0)
    for model in (RandomForestRegressor(20, random_state=0), CARTRegressor(max_depth=3)):
        found = row_weights(model.fit(X, y), X, y, X[3])
        assert found.prediction() == pytest.approx(model.predict(X[3:4])[0], rel=1e-12)
        assert found.points is None
        assert found.is_regression


def test_equal_weights_are_effective_as_many():
    y = np.array(["a"] * 4)
    assert RowWeights(np.array([0.25] * 4), y, False).n_effective == 4
    assert RowWeights(np.array([1.0, 0, 0, 0]), y, False).n_effective == 1
    assert RowWeights(np.zeros(4), y, False).n_effective == 0


def test_a_row_may_be_a_row_of_a_data_frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"kind": rng.choice(["red", "blue"], 80), "x": rng.random(80)})
    y = (table["kind"] == "red").to_numpy()
    forest = RandomForestClassifier(n_estimators=10, random_state=0).fit(table, y)
    whole = row_weights(forest, table, y, table.iloc[[5]])
    assert (row_weights(forest, table, y, table.iloc[5]).weights == whole.weights).all()
    assert whole.names == ("kind", "x")
    assert whole.points is None  # one of the features has no order
    display = ForestWeightsDisplay(whole).plot()
    assert display.ax_.get_yticklabels()[0].get_text().startswith("row ")
    plain = RandomForestClassifier(n_estimators=10, random_state=0).fit(table.to_numpy(), y)
    listed = row_weights(plain, table.to_numpy(), y, table.to_numpy().tolist()[5])
    assert (listed.weights == whole.weights).all()


def test_heavy_samples_are_large_in_the_plane_and_the_row_is_marked():
    X, y = make_circle(150, random_state=0)
    forest = RandomForestClassifier(n_estimators=30, random_state=0).fit(X, y)
    display = ForestWeightsDisplay.from_estimator(forest, X, y, [0.5, 0.9])
    data, faint, *classes = display.data, *display.ax_.collections
    assert len(faint.get_offsets()) == (data.weights == 0).sum()
    for code, drawn in enumerate(classes):
        mine = (data.weights > 0) & (y == code)
        assert (drawn.get_offsets() == X[mine]).all()
        assert np.corrcoef(drawn.get_sizes(), data.weights[mine])[0, 1] == pytest.approx(1)
    star = display.ax_.lines[0]
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (0.5, 0.9)
    shares = data.prediction()
    assert legend_of(display.ax_) == [
        f"class 0: {100 * shares[0]:.0f}%", f"class 1: {100 * shares[1]:.0f}%", "the row",
    ]  # fmt: skip
    counted = (data.weights > 0).sum()
    assert display.ax_.get_title().startswith(f"{counted} of 150 samples have a weight")


def test_bars_are_the_heaviest_samples(forest, waves):
    X, y = waves
    display = ForestWeightsDisplay.from_estimator(forest, X, y, X[4], n_shown=6)
    widths = [bar.get_width() for bar in display.ax_.patches]
    heaviest = np.sort(display.data.weights)[::-1][:6]
    assert widths == heaviest.tolist()
    first = display.ax_.get_yticklabels()[0].get_text()
    row = int(np.argmax(display.data.weights))
    assert first == f"row {row} ({y[row]})"
    assert display.ax_.get_xlabel() == f"weight (all shown: {100 * heaviest.sum():.0f}%)"
    shares = display.data.prediction()
    expected = [f"class {name}: {100 * share:.0f}%" for name, share in shares.items()]
    assert legend_of(display.ax_) == expected


def test_regression_shows_targets():
    X, _ = make_circle(100, random_state=0)
    target = np.hypot(*(X.T - 0.5))
    forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, target)
    display = ForestWeightsDisplay.from_estimator(forest, X, target, [0.5, 0.5])
    answers = forest.predict([[0.5, 0.5]])[0]
    assert display.figure_.axes[1].get_ylabel() == f"target (weighted mean {answers:.4g})"
    bars = ForestWeightsDisplay(display.data).plot(kind="bars", n_shown=3)
    assert len(bars.ax_.patches) == 3
    assert bars.ax_.texts[0].get_text() == f"weighted mean of all targets: {answers:.4g}"


def test_weights_that_cannot_be_drawn_are_refused(forest, waves):
    X, y = waves
    with pytest.raises(TypeError, match="of type LogisticRegression; sample weights need"):
        row_weights(LogisticRegression().fit(X[:, :2], y), X[:, :2], y, X[0, :2])
    with pytest.raises(ValueError, match=r"row has shape \(2, 21\)"):
        row_weights(forest, X, y, X[:2])
    with pytest.raises(ValueError, match="row has 2 rows"):
        row_weights(forest, X, y, pd.DataFrame(X[:2]))
    with pytest.raises(ValueError, match="not the training set"):
        row_weights(forest, X[1:], y[1:], X[0])
    data = row_weights(forest, X, y, X[0])
    with pytest.raises(ValueError, match='kind="plane" needs two ordered features; there are 21'):
        ForestWeightsDisplay(data).plot(kind="plane")
    with pytest.raises(ValueError, match="kind='pie' is not allowed"):
        ForestWeightsDisplay(data).plot(kind="pie")
    with pytest.raises(ValueError, match="n_shown=0 is not allowed"):
        ForestWeightsDisplay(data).plot(n_shown=0)


def test_boosted_trees_have_weights_too(waves):
    X, y = waves
    boosted = AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=5, random_state=0)
    found = row_weights(boosted.fit(X, y), X, y, X[0])
    assert found.weights.sum() == pytest.approx(1)
    assert found.weights[0] > 0


# -- what pictures share ---------------------------------------------------------------------------
