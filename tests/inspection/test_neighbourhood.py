"""Forests as neighbourhoods, against loops over trees and pairs of rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.oracles.routing import KINDS, leaves_of, random_forest, random_rows

from orfeon import RandomForestClassifier
from orfeon.data.presorted import Table
from orfeon.datasets import make_waveform
from orfeon.forest import neighbourhood
from orfeon.growth import Growth, grow_forest
from orfeon.inspection import forest_weights, outlier_scores, proximities


def slow_leaves(forest, X):
    """Leaf of each row in each tree, routed by hand along the heaviest branch."""
    return [
        [next(iter(leaves_of(forest, t, x, heaviest=True))) for t in range(len(forest))] for x in X
    ]


def slow_proximities(forest, X, Z):
    shares = [
        [sum(a == b for a, b in zip(one, other, strict=True)) for other in slow_leaves(forest, Z)]
        for one in slow_leaves(forest, X)
    ]
    return np.array(shares) / len(forest)


def slow_weights(forest, X_train, X, in_bag):
    train, rows = slow_leaves(forest, X_train), slow_leaves(forest, X)
    weights = np.zeros((len(X), len(X_train)))
    for k, leaves in enumerate(rows):
        n_trees = 0
        for t, leaf in enumerate(leaves):
            counts = [in_bag[t][i] * (train[i][t] == leaf) for i in range(len(X_train))]
            if sum(counts) > 0:
                n_trees += 1
                weights[k] += np.array(counts) / sum(counts)
        weights[k] /= max(n_trees, 1)
    return weights


def bagged(X, y, n_classes, n_trees=30, **growth):
    counts = np.random.default_rng(0).multinomial(len(X), np.full(len(X), 1 / len(X)), n_trees)
    criterion = "gini" if n_classes else "variance"
    forest = grow_forest(
        Table(X), y, n_classes=n_classes, seeds=np.arange(n_trees, dtype=np.uint64),
        weights=counts, growth=Growth(criterion=criterion, **growth),
    )  # fmt: skip
    return forest, counts


@pytest.fixture(params=["whole", "in pieces"])
def pieces(request, monkeypatch):
    """Whether rows and trees are taken together or a few at a time."""
    if request.param == "in pieces":
        monkeypatch.setattr(neighbourhood, "_TREES", 3)
        monkeypatch.setattr(neighbourhood, "_ENTRIES", 100)


# -- proximities -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_proximities_are_the_shares_of_common_leaves(kind, fractional):
    forest = random_forest(3, kind, fractional=fractional)
    X, Z = random_rows(forest, 30, 1, 0.2), random_rows(forest, 17, 2, 0.2)
    expected = slow_proximities(forest, X, Z)
    assert 0 < expected.mean() < 0.9
    np.testing.assert_array_equal(proximities(forest, X, Z), expected)
    among = proximities(forest, X)
    np.testing.assert_array_equal(among, slow_proximities(forest, X, X))
    np.testing.assert_array_equal(among, among.T)
    np.testing.assert_array_equal(np.diag(among), 1.0)


@pytest.mark.usefixtures("pieces")
def test_sparse_proximities_are_the_dense_ones(waveform):
    X, y = waveform
    forest, _ = bagged(X, y, 3)
    dense, thin = proximities(forest, X), proximities(forest, X, sparse_output=True)
    assert sparse.issparse(thin)
    assert thin.format == "csr"
    assert thin.has_sorted_indices
    np.testing.assert_array_equal(thin.toarray(), dense)
    assert thin.nnz == np.count_nonzero(dense)
    assert thin.nnz < 0.8 * dense.size


def test_rows_of_one_class_are_nearer_to_each_other(waveform):
    X, y = waveform
    forest, _ = bagged(X, y, 3)
    near = proximities(forest, X)
    same = y[:, None] == y[None, :]
    np.fill_diagonal(same, False)
    other = y[:, None] != y[None, :]
    assert near[same].mean() > 5 * near[other].mean()


def test_no_rows_give_an_empty_matrix():
    forest = random_forest(3)
    X, none = random_rows(forest, 4, 1), random_rows(forest, 0, 1)
    for is_sparse in (False, True):
        assert proximities(forest, X, none, sparse_output=is_sparse).shape == (4, 0)
        assert proximities(forest, none, X, sparse_output=is_sparse).shape == (0, 4)


# -- weights ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("counted", ["once", "counts", "fractions"])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_those_of_the_definition(kind, counted):
    forest = random_forest(3, kind, fractional=True)
    X_train, X = random_rows(forest, 25, 1, 0.1), random_rows(forest, 12, 2, 0.1)
    rng = np.random.default_rng(4)
    in_bag = {
        "once": None,
        "counts": rng.poisson(1.0, (len(forest), 25)),
        "fractions": rng.exponential(size=(len(forest), 25)),
    }[counted]
    found = forest_weights(forest, X_train, X, in_bag)
    given = np.ones((len(forest), 25)) if in_bag is None else in_bag
    np.testing.assert_allclose(found, slow_weights(forest, X_train, X, given), atol=1e-15)
    thin = forest_weights(forest, X_train, X, in_bag, sparse_output=True)
    np.testing.assert_allclose(thin.toarray(), found, rtol=1e-14)
    assert thin.nnz == np.count_nonzero(found)
    sums = found.sum(axis=1)
    np.testing.assert_allclose(sums[sums > 0], 1.0, rtol=1e-13)
    assert (sums > 0).mean() > 0.9


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("max_features", [None, 2])
def test_a_regression_forest_predicts_the_weighted_mean_of_its_targets(friedman, max_features):
    X, y = friedman
    forest, counts = bagged(X[:150], y[:150], 0, max_features=max_features, min_samples_leaf=3)
    weights = forest_weights(forest, X[:150], X, counts)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-13)
    np.testing.assert_allclose(weights @ y[:150], forest.predict(X), rtol=1e-12)
    # Counting every row once is another forest: the out-of-bag rows would have their say.
    once = forest_weights(forest, X[:150], X)
    assert np.abs(once @ y[:150] - forest.predict(X)).max() > 0.1


def test_a_classification_forest_gives_the_weighted_shares_of_its_classes(waveform):
    X, y = waveform
    forest, counts = bagged(X[:200], y[:200], 3, min_samples_leaf=4)
    weights = forest_weights(forest, X[:200], X, counts, sparse_output=True)
    shares = weights @ np.eye(3)[y[:200]]
    np.testing.assert_allclose(shares, forest.mean_supports(X), atol=1e-13)


def test_trees_that_saw_nobody_there_are_left_out():
    forest = random_forest(5, n_trees=6)
    X_train, X = random_rows(forest, 20, 1), random_rows(forest, 9, 2)
    in_bag = np.ones((6, 20))
    in_bag[[0, 3]] = 0.0
    kept = [1, 2, 4, 5]
    np.testing.assert_allclose(
        forest_weights(forest, X_train, X, in_bag),
        forest_weights(forest.subset(kept), X_train, X),
        atol=1e-15,
    )
    nobody = forest_weights(forest, X_train, X, np.zeros((6, 20)))
    np.testing.assert_array_equal(nobody, np.zeros((9, 20)))


@pytest.mark.parametrize(
    ("in_bag", "message"),
    [
        (np.ones((7, 19)), r"in_bag has shape \(7, 19\); 7 trees and 20 training rows"),
        (np.full((7, 20), -1), "in_bag holds negative"),
        (np.full((7, 20), np.nan), "in_bag holds negative, infinite or missing"),
    ],
)
def test_bad_counts_are_named(in_bag, message):
    forest = random_forest(3)
    X = random_rows(forest, 20, 1)
    with pytest.raises(ValueError, match=message):
        forest_weights(forest, X, X, in_bag)


# -- outliers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.usefixtures("pieces")
def test_outlier_scores_are_those_of_the_definition(waveform, as_sparse):
    X, y = waveform
    forest, _ = bagged(X, y, 3)
    near = proximities(forest, X)
    names = np.array(["one", "two", "three"])[y]
    expected = np.zeros(len(X))
    for name in set(names):
        rows = np.flatnonzero(names == name)
        raw = [1 / np.mean([near[i, k] ** 2 for k in rows]) for i in rows]
        middle = np.median(raw)
        deviation = np.median([abs(r - middle) for r in raw])
        expected[rows] = [(r - middle) / deviation for r in raw]
    given = sparse.csr_array(near) if as_sparse else near
    found = outlier_scores(given, names)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    for name in set(names):
        assert np.median(found[names == name]) == pytest.approx(0.0, abs=1e-12)
        assert np.median(np.abs(found[names == name])) == pytest.approx(1.0)


def test_a_row_with_the_wrong_label_is_an_outlier():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 4)) + 4.0 * y[:, None]
    wrong = [5, 17, 80]
    labels = y.copy()
    labels[wrong] = 1 - y[wrong]
    forest, _ = bagged(X, y, 2, n_trees=60)
    scores = outlier_scores(proximities(forest, X), labels)
    assert set(np.argsort(scores)[-3:]) == set(wrong)
    assert scores[wrong].min() > 10


def test_classes_without_spread_score_their_plain_difference():
    near = np.eye(5)
    near[:3, :3] = 1.0
    np.testing.assert_array_equal(outlier_scores(near, [0, 0, 0, 1, 2]), np.zeros(5))
    # Three rows are alike, two are alone: 5 / 3 against 5 / 1, and more than half do not differ.
    np.testing.assert_allclose(outlier_scores(near), [0, 0, 0, 10 / 3, 10 / 3])


def test_bad_proximities_are_named():
    with pytest.raises(ValueError, match=r"proximities has shape \(2, 3\)"):
        outlier_scores(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"labels has shape \(3,\); 2 rows"):
        outlier_scores(np.ones((2, 2)), [0, 1, 1])
    with pytest.raises(ValueError, match=r"proximities\[1, 1\] is 0"):
        outlier_scores(np.diag([1.0, 0.0]))


def test_weights_of_the_training_samples_themselves():
    X, y = make_waveform(80, random_state=0)
    forest = RandomForestClassifier(7, random_state=0).fit(X, y)
    weights = forest.training_weights(X, X, y)
    np.testing.assert_array_equal(weights, forest.training_weights(X.copy(), X, y))
    shares = weights @ (y[:, None] == forest.classes_)
    np.testing.assert_allclose(shares, forest.mean_supports(X), atol=1e-12)
