"""Out-of-bag permutation importances against an oracle that routes one row at a time."""

from __future__ import annotations

import dataclasses
from itertools import permutations

import numpy as np
import pytest
from tests.oracles.routing import KINDS, leaves_of, random_forest, random_rows, says
from tests.shared import cases

from orfeon.data.presorted import Table
from orfeon.forest.permutation import oob_permutation_importances
from orfeon.growth import Growth, grow_forest
from orfeon.utils.seeding import seed_sequence, tree_seeds


def slow_error(forest, tree, X, y, w):
    """Weighted error of one tree: every row is routed by hand."""
    cost = 0.0
    for x, target, weight in zip(X, y, w, strict=True):
        leaves = leaves_of(forest, tree, x)
        if forest.n_classes == 0:
            cost += weight * (says(forest, tree, leaves)[0] - target) ** 2
        elif len(leaves) == 1:
            cost += weight * (forest.label[forest.tree_start[tree] + next(iter(leaves))] != target)
        else:
            cost += weight * (np.argmax(says(forest, tree, leaves)) != target)
    return cost / sum(w)


def slow_importances(forest, X, y, out_of_bag, weights, seeds, n_repeats):
    """Increase of each tree's error for every feature, used or not."""
    per_tree = np.full((len(forest), X.shape[1]), np.nan)
    for t in range(len(forest)):
        rows = [i for i in range(len(X)) if out_of_bag[t, i] and weights[i] > 0]
        if not rows:
            continue
        rng = np.random.default_rng(int(seeds[t]))
        orders = [rng.permutation(len(rows)) for _ in range(n_repeats)]
        before = slow_error(forest, t, X[rows], y[rows], weights[rows])
        for j in range(X.shape[1]):
            increases = []
            for order in orders:
                Z = X[rows].copy()
                Z[:, j] = Z[order, j]
                increases.append(slow_error(forest, t, Z, y[rows], weights[rows]) - before)
            per_tree[t, j] = np.mean(increases)
    return per_tree


def problem(kind, n_classes, *, n_rows=40, share_missing=0.2, fractional=False, n_trees=7):
    forest = random_forest(3, kind, n_trees, n_classes=n_classes, fractional=fractional)
    X = random_rows(forest, n_rows, 1, share_missing)
    rng = np.random.default_rng(2)
    y = rng.integers(0, n_classes, n_rows) if n_classes else rng.normal(size=n_rows)
    if n_classes and fractional:
        # Without ties: which class wins one depends on the order of a sum.
        value = rng.uniform(1.0, 5.0, forest.value.shape)
        label = value.argmax(axis=1).astype(np.int32)
        forest = dataclasses.replace(forest, value=value, label=label)
    return forest, X, y, rng.random((n_trees, n_rows)) < 0.4


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [0, 3])
def test_every_increase_is_that_of_the_slow_oracle(kind, n_classes, fractional, weighted):
    forest, X, y, out_of_bag = problem(kind, n_classes, fractional=fractional)
    out_of_bag[4] = False
    weights = np.ones(len(X))
    if weighted:
        weights = np.random.default_rng(5).integers(0, 4, len(X)) / 2
    found = oob_permutation_importances(
        forest, X, y, out_of_bag, weights=weights, random_state=7, n_repeats=2
    )
    seeds = tree_seeds(seed_sequence(7), len(forest))
    expected = slow_importances(forest, X, y, out_of_bag, weights, seeds, 2)
    np.testing.assert_allclose(found.per_tree, expected, atol=1e-12)
    counted = np.delete(expected, 4, axis=0)
    assert np.abs(counted).max() > 0.05
    np.testing.assert_allclose(found.mean, counted.mean(axis=0), atol=1e-12)
    deviation = counted.std(axis=0, ddof=1) / np.sqrt(6)
    np.testing.assert_allclose(found.standard_error, deviation, atol=1e-12)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_many_repeats_approach_the_mean_over_all_permutations(n_classes):
    forest, X, y, out_of_bag = problem("everything", n_classes, n_rows=5, n_trees=3)
    out_of_bag[:] = True
    n_repeats = cases(4000)
    found = oob_permutation_importances(
        forest, X, y, out_of_bag, random_state=0, n_repeats=n_repeats
    )
    for t in range(3):
        before = slow_error(forest, t, X, y, np.ones(5))
        for j in range(X.shape[1]):
            increases = []
            for order in permutations(range(5)):
                Z = X.copy()
                Z[:, j] = X[list(order), j]
                increases.append(slow_error(forest, t, Z, y, np.ones(5)) - before)
            # Five standard errors: thirty comparisons pass by chance in all but 1 of 50 000 runs.
            tolerance = 5 * np.std(increases) / np.sqrt(n_repeats) + 1e-12
            assert found.per_tree[t, j] == pytest.approx(np.mean(increases), abs=tolerance)


def test_unused_features_cost_nothing_and_trees_without_splits_count():
    forest, X, y, out_of_bag = problem("ordered", 3)
    found = oob_permutation_importances(forest, X, y, out_of_bag, random_state=0)
    categorical = np.flatnonzero(forest.n_categories)
    np.testing.assert_array_equal(found.per_tree[:, categorical], 0.0)
    single_leaves = forest.n_nodes == 1
    np.testing.assert_array_equal(found.per_tree[single_leaves], 0.0)


@pytest.mark.parametrize("kind", ["ordered", "everything"])
def test_the_result_depends_on_the_seed_only(kind):
    problem_ = problem(kind, 3)
    forest, X, y, out_of_bag = problem_
    kept = X.copy()
    one = oob_permutation_importances(*problem_, random_state=1)
    same = oob_permutation_importances(*problem_, random_state=1)
    other = oob_permutation_importances(*problem_, random_state=2)
    np.testing.assert_array_equal(X, kept)
    assert one.per_tree.tobytes() == same.per_tree.tobytes()
    assert not np.array_equal(one.per_tree, other.per_tree)
    # A tree does not see the others: the first trees of a longer forest keep their results.
    first = oob_permutation_importances(
        forest.subset([0, 1, 2]), X, y, out_of_bag[:3], random_state=1
    )
    assert first.per_tree.tobytes() == one.per_tree[:3].tobytes()


def test_out_of_bag_rows_only_are_looked_at():
    forest, X, y, out_of_bag = problem("everything", 3)
    one = oob_permutation_importances(forest, X, y, out_of_bag, random_state=1)
    out_of_bag[:, 30:] = False
    few = oob_permutation_importances(forest, X, y, out_of_bag, random_state=1)
    X[30:], y[30:] = 0.0, 0
    same = oob_permutation_importances(forest, X, y, out_of_bag, random_state=1)
    np.testing.assert_array_equal(few.per_tree, same.per_tree)
    assert not np.array_equal(few.per_tree, one.per_tree)


def test_a_row_of_weight_zero_is_a_row_left_out():
    forest, X, y, out_of_bag = problem("everything", 0)
    weights = np.ones(len(X))
    weights[::3] = 0.0
    weighted = oob_permutation_importances(
        forest, X, y, out_of_bag, weights=weights, random_state=1
    )
    out_of_bag[:, ::3] = False
    dropped = oob_permutation_importances(forest, X, y, out_of_bag, random_state=1)
    np.testing.assert_array_equal(weighted.per_tree, dropped.per_tree)


def test_no_out_of_bag_rows_at_all_give_nan():
    forest, X, y, out_of_bag = problem("ordered", 3)
    found = oob_permutation_importances(forest, X, y, np.zeros_like(out_of_bag))
    assert np.isnan(found.mean).all()
    assert np.isnan(found.standard_error).all()
    assert np.isnan(found.per_tree).all()
    out_of_bag[1:] = False
    one = oob_permutation_importances(forest, X, y, out_of_bag, random_state=0)
    np.testing.assert_array_equal(one.mean, one.per_tree[0])
    assert np.isnan(one.standard_error).all()


def bagged(X, y, n_classes, n_trees, splitter="best"):
    rng = np.random.default_rng(0)
    counts = rng.multinomial(len(X), np.full(len(X), 1 / len(X)), size=n_trees)
    criterion = "gini" if n_classes else "variance"
    forest = grow_forest(
        Table(X), y, n_classes=n_classes, seeds=np.arange(n_trees, dtype=np.uint64),
        weights=counts, growth=Growth(criterion=criterion, splitter=splitter),
    )  # fmt: skip
    return forest, counts == 0


def test_only_what_matters_in_friedmans_problem_is_important(friedman):
    X, y = friedman
    forest, out_of_bag = bagged(X, y, 0, 100)
    found = oob_permutation_importances(forest, X, y, out_of_bag, random_state=0)
    # The first five features make the target, the fourth most of it; the others are noise.
    order = np.argsort(-found.mean)
    assert order[0] == 3
    assert set(order[:5]) == {0, 1, 2, 3, 4}
    assert (found.mean[:5] > 3 * found.standard_error[:5]).all()
    assert (np.abs(found.mean[5:]) < 3 * found.standard_error[5:]).all()


def test_oblique_trees_share_the_importance_among_their_terms(waveform):
    X, y = waveform
    forest, out_of_bag = bagged(X, y, 3, 30, splitter="oblique")
    found = oob_permutation_importances(forest, X, y, out_of_bag, random_state=0)
    assert (forest.feature[forest.n_children > 0] < 0).all()
    # The middle of the waves tells the classes apart; the ends are noise.
    assert found.mean[8:13].min() > 3 * np.abs(found.mean[[0, 20]]).max()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.zeros(3, np.int64)}, r"y has shape \(3,\); 40 rows"),
        ({"y": np.full(40, 3)}, "class codes; they are 0 to 2"),
        ({"forest": random_forest(1, n_classes=0), "y": np.full(40, np.nan)}, "y holds NaN"),
        ({"out_of_bag": np.zeros((7, 40), np.int64)}, "out_of_bag has dtype int64"),
        ({"out_of_bag": np.zeros((6, 40), bool)}, r"need bool and \(7, 40\)"),
        ({"weights": -np.ones(40)}, "not negative"),
        ({"weights": np.full(40, np.nan)}, "finite weights"),
        ({"weights": np.ones(4)}, r"weights has shape \(4,\); 40"),
        ({"n_repeats": 0}, "n_repeats=0"),
        ({"X": np.zeros((40, 4))}, r"X has shape \(40, 4\)"),
    ],
)
def test_bad_arguments_are_named(changes, message):
    forest, X, y, out_of_bag = problem("ordered", 3)
    given = {"forest": forest, "X": X, "y": y, "out_of_bag": out_of_bag, **changes}
    with pytest.raises(ValueError, match=message):
        oob_permutation_importances(**given)
