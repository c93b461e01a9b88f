"""Random forests: features drawn at each node or for each tree, and the trees grown by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.ensembles.test_subspace import features_used
from tests.ensembles.twins import LEVEL, content_order, generators, redraw, table
from tests.shared import assert_same_forest

from orfeon import BaggingClassifier, RandomForestClassifier, RandomForestRegressor
from orfeon.data.presorted import Table
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.ensembles.perturbation import draw_seed
from orfeon.growth import Growth, grow_forest


@pytest.mark.parametrize(
    ("max_features", "drawn"), [("sqrt", 2), ("log2", 3), (1, 1), (0.7, 3), (None, None)]
)
def test_with_features_drawn_at_nodes_the_trees_are_those_grown_by_hand(max_features, drawn):
    X, y = table(RandomForestClassifier())
    forest = RandomForestClassifier(10, max_features=max_features, random_state=4).fit(X, y)
    order = content_order(X, y)
    seeds, counts = redraw(4, 10, len(y))
    by_hand = grow_forest(
        Table(X[order]), y[order], n_classes=3, seeds=seeds, weights=counts,
        growth=Growth(max_features=drawn),
    )  # fmt: skip
    assert_same_forest(forest.forest_, by_hand)


def test_with_features_drawn_for_trees_they_are_those_grown_by_hand():
    X, y = table(RandomForestClassifier())
    forest = RandomForestClassifier(
        10, max_features=3, features_per="tree", criterion="entropy", random_state=4
    ).fit(X, y)
    order = content_order(X, y)
    seeds, counts = redraw(4, 10, len(y))
    candidates = []
    for rng in generators(4, 10):
        draw_seed(rng)
        rng.random(len(y))  # the bootstrap sample is drawn before
        candidates.append(np.sort(rng.permutation(5)[:3]))
    by_hand = grow_forest(
        Table(X[order]), y[order], n_classes=3, seeds=seeds, weights=counts,
        candidates=np.array(candidates), growth=Growth("entropy"),
    )  # fmt: skip
    assert_same_forest(forest.forest_, by_hand)


def test_all_features_at_every_node_is_bagging():
    X, y = table(RandomForestClassifier())
    forest = RandomForestClassifier(5, max_features=None, random_state=0).fit(X, y)
    bag = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    assert_same_forest(forest.forest_, bag.forest_)


def test_one_feature_drawn_at_the_root_may_be_any():
    """Though only two of the features tell the classes apart."""
    X, y = make_waveform(100, random_state=0)
    X = X[:, :7]
    forest = RandomForestClassifier(1400, max_features=1, max_depth=1, random_state=0).fit(X, y)
    roots = forest.forest_.feature[forest.forest_.tree_start[:-1]]
    assert stats.chisquare(np.bincount(roots, minlength=7)).pvalue > LEVEL


def test_the_best_of_several_features_is_at_the_root():
    """Of 5 features one tells the classes: it is at the root whenever it is among the 2 drawn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X[:, 3] > 0).astype(np.int64)
    forest = RandomForestClassifier(1000, max_features=2, max_depth=1, random_state=0).fit(X, y)
    roots = forest.forest_.feature[forest.forest_.tree_start[:-1]]
    assert stats.binomtest(int((roots == 3).sum()), 1000, 2 / 5).pvalue > LEVEL


@pytest.mark.parametrize(
    ("n_features", "drawn"), [(1, 1), (2, 2), (3, 2), (4, 3), (8, 4), (20, 5), (60, 6), (64, 7)]
)
def test_log2_is_that_of_the_paper(n_features, drawn):
    """floor(log2 M + 1); seen as the number of features that the trees use."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, n_features)), rng.integers(0, 2, 300)
    assert drawn == int(np.floor(np.log2(n_features) + 1))
    forest = RandomForestClassifier(5, max_features="log2", features_per="tree", random_state=0)
    used = features_used(forest.fit(X, y).forest_)
    assert {len(mine) for mine in used} == {drawn}


@pytest.mark.parametrize("make", [RandomForestClassifier, RandomForestRegressor])
def test_drawn_for_a_tree_features_are_its_only_ones(make, waveform):
    X, y = waveform
    forest = make(40, max_features="sqrt", features_per="tree", random_state=0)
    used = features_used(forest.fit(X, y + 0.0 if make is RandomForestRegressor else y).forest_)
    assert {len(mine) for mine in used} == {4}
    counts = np.bincount([j for mine in used for j in mine], minlength=21)
    # 4 of 21 without replacement, forty times: less varied than 160 draws.
    assert stats.chisquare(counts).pvalue > LEVEL
    at_nodes = make(5, max_features="sqrt", random_state=0)
    wide = features_used(at_nodes.fit(X, y).forest_)
    assert min(len(mine) for mine in wide) > 8


def test_regression_forests_draw_a_third_by_default():
    X, y = make_friedman1(100, random_state=0)
    forest = RandomForestRegressor(6, random_state=1).fit(X, y)
    order = content_order(X, y)
    seeds, counts = redraw(1, 6, len(y))
    by_hand = grow_forest(
        Table(X[order]), y[order], n_classes=0, seeds=seeds, weights=counts,
        growth=Growth("variance", max_features=3),
    )  # fmt: skip
    assert_same_forest(forest.forest_, by_hand)


def test_limits_reach_the_trees():
    X, y = make_waveform(300, random_state=0)
    plain = RandomForestClassifier(5, random_state=0).fit(X, y).forest_
    for name, value in {
        "max_depth": 3, "max_leaf_nodes": 6, "min_samples_split": 30, "min_samples_leaf": 10,
        "min_weight_fraction_leaf": 0.05, "min_impurity_decrease": 0.01,
    }.items():  # fmt: skip
        forest = RandomForestClassifier(5, **{name: value}, random_state=0).fit(X, y).forest_
        assert (forest.n_leaves < plain.n_leaves).all(), name
        leaves = forest.value[forest.is_leaf].sum(axis=1)
        if name == "max_depth":
            assert forest.depth.max() == 3
        if name == "max_leaf_nodes":
            assert set(forest.n_leaves) == {6}
        if name in ("min_samples_leaf", "min_weight_fraction_leaf"):
            assert leaves.min() >= {"min_samples_leaf": 10}.get(name, 15)


def test_a_forest_errs_less_than_bagging_on_waveforms():
    X, y = make_waveform(300, random_state=0)
    X_test, y_test = make_waveform(3000, random_state=1)
    errors = [
        np.mean(e.fit(X, y).predict(X_test) != y_test)
        for e in (
            RandomForestClassifier(200, random_state=0),
            BaggingClassifier(n_estimators=200, random_state=0),
        )
    ]
    assert errors[0] < errors[1] - 0.01
    assert errors[0] < 0.19


def test_categories_and_missing_values_are_welcome():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, 300)
    frame = pandas.DataFrame(
        {
            "colour": pandas.Categorical.from_codes(codes, list("abcdef")),
            "size": np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300)),
        }
    )
    y = np.isin(codes, [1, 4]).astype(np.int64)
    # Of a colour without a size there are ten copies, one of which is in almost every sample.
    with pytest.warns(UserWarning, match="of 300 samples were seen by every member"):
        forest = RandomForestClassifier(20, oob_score=True, random_state=0).fit(frame, y)
    assert forest.oob_error_ == 0
    strange = pandas.DataFrame({"colour": ["b", "z", None], "size": [np.nan, 0.0, 1.0]})
    assert forest.predict(strange)[0] == 1
    assert forest.predict_proba(strange).sum(axis=1).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("features_per", ["node", "tree"])
@pytest.mark.parametrize("make", [RandomForestClassifier, RandomForestRegressor])
def test_more_features_than_there_are_is_refused(make, features_per):
    X, y = table(make())
    forest = make(max_features=6, features_per=features_per)
    with pytest.raises(ValueError, match="max_features=6 is more than the 5 features"):
        forest.fit(X, y)
    with pytest.raises(ValueError, match=f"'features_per' parameter of {make.__name__} must be"):
        make(features_per="leaf").fit(X, y)
