"""Forest-RC: the linear combinations at the nodes, and the trees grown by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.ensembles.twins import LEVEL, content_order, redraw, table
from tests.shared import assert_same_forest

from orfeon import ObliqueForestClassifier, ObliqueForestRegressor, RandomForestClassifier
from orfeon.data.presorted import Table
from orfeon.growth import Growth, grow_forest


def root_combinations(forest):
    """Features and coefficients of the test at each root."""
    starts, features, weights = forest.projections
    found = []
    for root in forest.tree_start[:-1]:
        p = -1 - forest.feature[root]
        assert p >= 0
        terms = slice(starts[p], starts[p + 1])
        found.append((features[terms], weights[terms]))
    return found


def one_combination(n_trees=600, n_combined=3, n_features=6):
    """Forests that have no choice: one combination at a node."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, n_features)), rng.integers(0, 2, 60)
    forest = ObliqueForestClassifier(
        n_trees, n_combinations=1, n_combined=n_combined, max_depth=1, random_state=0
    )
    return root_combinations(forest.fit(X, y).forest_)


def test_coefficients_are_uniform_between_minus_one_and_one():
    coefficients = np.concatenate([weights for _, weights in one_combination()])
    assert len(coefficients) == 1800
    assert stats.kstest(coefficients, stats.uniform(-1, 2).cdf).pvalue > LEVEL


def test_features_are_drawn_without_replacement_all_alike():
    chosen = [features for features, _ in one_combination()]
    assert {len(set(features.tolist())) for features in chosen} == {3}
    counts = np.bincount(np.concatenate(chosen), minlength=6)
    assert stats.chisquare(counts).pvalue > LEVEL


@pytest.mark.parametrize(("n_combined", "taken"), [(1, 1), (4, 4), (9, 6)])
def test_so_many_features_are_combined_or_all_there_are(n_combined, taken):
    for features, _ in one_combination(10, n_combined):
        assert len(features) == taken


@pytest.mark.parametrize(("make", "criterion"), [
    (ObliqueForestClassifier, "gini"), (ObliqueForestRegressor, "variance"),
])  # fmt: skip
def test_the_trees_are_those_grown_by_hand(make, criterion):
    X, y = table(make())
    forest = make(8, n_combinations=4, n_combined=2, random_state=3).fit(X, y)
    order = content_order(X, y)
    seeds, counts = redraw(3, 8, len(y))
    growth = Growth(criterion, splitter="oblique", max_features=4, n_combined=2)
    by_hand = grow_forest(
        Table(X[order]), y[order], n_classes=3 if criterion == "gini" else 0, seeds=seeds,
        weights=counts, growth=growth,
    )  # fmt: skip
    assert_same_forest(forest.forest_, by_hand)


def test_each_node_routes_by_its_combination():
    """Votes of depth-one trees, from coefficients and thresholds by hand."""
    X, y = table(ObliqueForestClassifier())
    forest = ObliqueForestClassifier(30, max_depth=1, random_state=0).fit(X, y)
    votes = forest.votes(X)
    trees = forest.forest_
    for t, (features, weights) in enumerate(root_combinations(trees)):
        root = trees.tree_start[t]
        right = X[:, features] @ weights > trees.threshold[root]
        child = root + trees.first_child[root] + right
        np.testing.assert_array_equal(trees.label[child], votes[t])


def test_oblique_classes_need_fewer_nodes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (X @ [1, 1, -1, 0.5] > 0).astype(np.int64)
    X_test = rng.normal(size=(2000, 4))
    y_test = (X_test @ [1, 1, -1, 0.5] > 0).astype(np.int64)
    oblique = ObliqueForestClassifier(30, random_state=0).fit(X, y)
    straight = RandomForestClassifier(30, random_state=0).fit(X, y)
    assert oblique.forest_.n_leaves.mean() < 0.85 * straight.forest_.n_leaves.mean()
    assert oblique.score(X_test, y_test) > straight.score(X_test, y_test)


def test_categories_are_tested_as_they_are():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, 200)
    frame = pandas.DataFrame(
        {
            "colour": pandas.Categorical.from_codes(codes, list("abcde")),
            "x": rng.normal(size=200),
            "z": rng.normal(size=200),
        }
    )
    y = np.isin(codes, [0, 3]).astype(np.int64)
    forest = ObliqueForestClassifier(20, oob_score=True, random_state=0).fit(frame, y)
    assert forest.oob_error_ < 0.05
    combined = forest.forest_.projections[1]
    assert set(combined.tolist()) <= {1, 2}


@pytest.mark.parametrize("name", ["n_combinations", "n_combined"])
@pytest.mark.parametrize("make", [ObliqueForestClassifier, ObliqueForestRegressor])
def test_no_combination_is_refused(make, name):
    X, y = table(make())
    with pytest.raises(ValueError, match=f"'{name}' parameter of {make.__name__} must be"):
        make(**{name: 0}).fit(X, y)
