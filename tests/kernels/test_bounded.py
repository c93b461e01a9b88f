"""Searches that count instead of sorting find the same cuts, to the last bit."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numba
import numpy as np
import pytest
from tests.oracles.growth import Problem
from tests.shared import cases

from orfeon.data import Table
from orfeon.growth import Growth
from orfeon.kernels.cart import bounded
from orfeon.kernels.cart.node_sorting import MOST_PAIRS, N_DIGITS
from orfeon.kernels.cart.scan import TIED


@numba.njit(error_model="numpy")
def mark(bins, total, floor, all_corners, marked):
    return bounded.mark_bins(bins, bins.shape[0], total, floor, all_corners, marked)


@numba.njit(error_model="numpy")
def search(ranks, packed, total, min_leaf, best, missing_rank):
    """What ``search_bounded`` makes of one feature and all its rows."""
    n = ranks.shape[0]
    bins = np.zeros(bounded.MOST_BINS, np.uint64)
    fine = np.zeros(bounded.MOST_FINE + 1, np.uint64)
    beside = np.full(2, -1, np.int64)
    found, score, better = bounded.search_bounded(
        ranks, np.uint64(0), np.uint64(1), missing_rank, np.arange(n).astype(np.uint32), packed,
        packed, np.int64(0), n, np.empty(n, np.uint32), bins,
        np.empty(bounded.MOST_BINS, np.bool_), np.empty(bounded.MOST_BINS, np.uint32),
        np.empty(bounded.MOST_BINS, np.uint32), fine,
        np.empty(n + bounded.MOST_FINE, np.uint32), np.empty(n + bounded.MOST_FINE, np.uint64),
        np.empty(2 * (n + MOST_PAIRS), np.uint64), np.uint64(32), np.uint64(0xFFFFFFFF),
        np.empty(N_DIGITS, np.uint32), total, min_leaf, best, beside,
    )  # fmt: skip
    return found, score, better, beside, bins.max(), fine.max()


def gain(weight_left: float, ones_left: float, weight: float, ones: float) -> float:
    """The score of a split; zero if a side is empty."""
    if not 0 < weight_left < weight:
        return 0.0
    excess = ones_left * weight - weight_left * ones
    return excess * excess / (weight_left * (weight - weight_left))


def scanned(ranks: Any, weights: Any, labels: Any, min_leaf: int, best: float) -> Any:
    """Score, and the ranks beside the cut, of all cuts tried one after the other."""
    weight, ones = weights.sum(), (weights * labels).sum()
    values = np.unique(ranks)
    beside, bar = None, best * TIED
    for low, high in pairwise(values):
        left = ranks <= low
        weight_left, ones_left = weights[left].sum(), (weights * labels)[left].sum()
        if min(weight_left, weight - weight_left) < min_leaf:
            continue
        excess = float(ones_left) * float(weight) - float(weight_left) * float(ones)
        shares = float(weight_left) * float(weight - weight_left)
        if excess * excess > bar * shares:
            best = excess * excess / shares
            beside, bar = (low, high), best * TIED
    return best, beside


def random_ranks(rng: np.random.Generator, n: int) -> Any:
    """Ranks spread evenly, in clusters, with one frequent value, or few of them."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.permutation(8 * n)[:n]
    if kind == 1:
        return rng.integers(0, 40, n) + 5_000 * rng.integers(0, 30, n)
    if kind == 2:
        return np.where(rng.random(n) < 0.8, 7, rng.integers(0, 3 * n, n))
    return rng.integers(0, int(rng.integers(2, 3 * n)), n)


def test_the_gain_in_a_box_is_at_most_that_of_a_corner():
    rng = np.random.default_rng(0)
    for _ in range(cases(400)):
        zeros, ones = rng.integers(0, 7, (2, 5))
        weight, all_ones = zeros.sum() + ones.sum(), ones.sum()
        before, inside = (zeros[0], ones[0]), (zeros[1], ones[1])
        corners = [(before[0] + z, before[1] + o) for z in (0, inside[0]) for o in (0, inside[1])]
        most = max(gain(z + o, o, weight, all_ones) for z, o in corners)
        for z, o in product(range(inside[0] + 1), range(inside[1] + 1)):
            at = (before[0] + z + before[1] + o, before[1] + o)
            assert gain(*at, weight, all_ones) <= most * (1 + 1e-12)


@pytest.mark.parametrize("all_corners", [False, True])
def test_bins_left_out_hold_no_better_cut(all_corners):
    """Any order of any counts: every point of every box that is not marked."""
    rng = np.random.default_rng(int(all_corners))
    n_left_out = 0
    for _ in range(cases(800)):
        n_bins = int(rng.integers(2, 9))
        zeros = rng.integers(0, 6, n_bins) * rng.integers(0, 2, n_bins)
        ones = rng.integers(0, 6, n_bins)
        weight, all_ones = int(zeros.sum() + ones.sum()), int(ones.sum())
        left = np.cumsum(zeros + ones), np.cumsum(ones)
        borders = [gain(w, o, weight, all_ones) for w, o in zip(*left, strict=True)]
        # Without the borders as a floor, all four corners must be tried.
        floor = max(borders) * (rng.random() if all_corners else 1.0) * (1 - 1e-9)
        bins = (zeros + ones).astype(np.uint64) | (ones.astype(np.uint64) << np.uint64(32))
        marked = np.zeros(n_bins, bool)
        total = np.array([weight - all_ones, all_ones])
        assert mark(bins, total, floor, all_corners, marked) == marked.sum()
        for b in np.flatnonzero(~marked & (zeros + ones > 1)):
            n_left_out += 1
            w, o = left[0][b] - zeros[b] - ones[b], left[1][b] - ones[b]
            for i, j in product(range(zeros[b] + 1), range(ones[b] + 1)):
                if all_corners or 0 < i + j < zeros[b] + ones[b]:
                    assert gain(w + i + j, o + j, weight, all_ones) <= floor * (1 + 1e-9)
    assert n_left_out > 100


def test_bounded_search_finds_the_cut_of_a_full_scan():
    rng = np.random.default_rng(1)
    n_better = 0
    for _ in range(cases(300)):
        n = int(rng.integers(2, 600))
        ranks = random_ranks(rng, n)
        weights = rng.integers(1, 4, n) if rng.random() < 0.7 else rng.integers(1, 1000, n)
        signal = ranks > np.median(ranks) if rng.random() < 0.5 else np.zeros(n, bool)
        labels = ((rng.random(n) < 0.3) ^ signal).astype(np.int64)
        min_leaf = int(rng.choice([1, 1, 5, 40]))
        total = np.bincount(labels, weights, 2).astype(np.int64)
        highest, _ = scanned(ranks, weights, labels, min_leaf, -np.inf)
        # From nothing, from a little less than the best, and from the best itself.
        best = float(rng.choice([-np.inf, 0.9 * highest, highest]))
        packed = weights.astype(np.uint64) | ((weights * labels).astype(np.uint64) << np.uint64(32))
        found, score, better, beside, *rest = search(
            ranks.astype(np.uint32), packed, total, min_leaf, best, np.int64(1 << 40)
        )
        if len(np.unique(ranks)) == 1:
            assert found == bounded.CONSTANT
            continue
        expected, cut = scanned(ranks, weights, labels, min_leaf, best)
        assert found == bounded.SEARCHED
        assert rest == [0, 0]  # scratch is left clean
        assert better == (cut is not None)
        if better:
            n_better += 1
            assert (score, tuple(beside)) == (expected, cut)
    assert n_better > 30


def test_missing_values_are_left_to_the_scan():
    ranks = np.array([0, 3, 1, 2], np.uint32)
    packed = np.ones(4, np.uint64)
    found, *_ = search(ranks, packed, np.array([4, 0]), 1, -np.inf, np.int64(3))
    assert found == bounded.HAS_MISSING


def tall_problem(n_classes: int, n: int = 4000) -> Problem:
    """Values spread evenly, skewed, mostly zero, missing, few; weights are counts."""
    rng = np.random.default_rng(n_classes)
    X = np.column_stack([
        rng.normal(size=n), np.round(rng.exponential(size=n) ** 4, 1),
        np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)), rng.normal(size=n),
        rng.integers(0, 30, n), rng.integers(0, 200, n), rng.integers(0, 6, n),
    ])  # fmt: skip
    X[rng.random(n) < 0.1, 3] = np.nan
    X[rng.random(n) < 0.1, 4] = np.nan
    score = np.nan_to_num(X).sum(axis=1) + 9.0 * rng.normal(size=n)
    quantiles = np.quantile(score, np.arange(1, max(n_classes, 1)) / max(n_classes, 1))
    y: Any = np.searchsorted(quantiles, score) if n_classes else score
    return Problem(X, [0, 0, 0, 0, 0, 0, 6], y, rng.integers(0, 3, n) * 1.0, n_classes)


def assert_same(one: Any, other: Any) -> None:
    np.testing.assert_array_equal(one.nodes, other.nodes)
    np.testing.assert_array_equal(one.missing, other.missing)
    np.testing.assert_array_equal(one.value, other.value)
    np.testing.assert_array_equal(one.branches, other.branches)


CRITERIA = (("gini", 2), ("gini", 3), ("gini", 26), ("entropy", 3), ("variance", 0))


@pytest.mark.parametrize("max_features", [None, 2])
@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
def test_counting_grows_the_trees_of_sorting(criterion, n_classes, max_features, monkeypatch):
    problem = tall_problem(n_classes)
    growth = Growth(criterion=criterion, max_features=max_features, min_samples_leaf=2)
    counted = problem.grow(growth, 2)
    monkeypatch.setattr("orfeon.data.presorted.FEW_VALUES", 0)
    monkeypatch.setattr("orfeon.data.presorted._MANY_VALUES", 0)
    assert_same(counted, problem.grow(growth, 2))


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("min_samples_leaf", [1, 20])
@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
def test_trees_of_nodes_sorted_or_bounded_are_those_of_segments(
    criterion, n_classes, min_samples_leaf, column
):
    """Of three copies of a feature one is drawn: the cuts are those of the feature alone."""
    problem = tall_problem(n_classes)
    problem.X = problem.X[:, [column]]
    problem.n_categories = [0]
    growth = Growth(criterion=criterion, max_features=1, min_samples_leaf=min_samples_leaf)
    alone = problem.grow(growth, 1)
    problem.X, problem.n_categories = np.repeat(problem.X, 3, axis=1), [0, 0, 0]
    copies = problem.grow(growth, 1)
    copies.nodes["feature"] = 0
    assert_same(alone, copies)


@pytest.mark.parametrize("max_features", [None, 2])
@pytest.mark.parametrize(("criterion", "n_classes"), [("gini", 2), ("gini", 26), ("variance", 0)])
def test_ranks_by_row_change_nothing(criterion, n_classes, max_features, monkeypatch):
    problem = tall_problem(n_classes)
    growth = Growth(criterion=criterion, max_features=max_features)
    by_feature = problem.grow(growth, 2)
    monkeypatch.setattr("orfeon.growth.engine._FAR_APART", 0)
    assert_same(by_feature, problem.grow(growth, 2))


def sparse_problem(n_classes: int, n: int = 1500) -> Problem:
    """Mostly zeros: many values, some of them missing, few enough to count; and a dense feature."""
    rng = np.random.default_rng(n_classes)
    X = rng.exponential(size=(n, 9))
    X[:, 4], X[:, 5:7] = np.round(X[:, 4], 2), np.round(X[:, 5:7], 1)
    X[:, 1:8] *= rng.random((n, 7)) < [0.02, 0.1, 0.3, 0.02, 0.1, 0.3, 0.2]
    X[rng.random(n) < 0.05, 7] = np.nan
    score = np.nan_to_num(X).sum(axis=1) + rng.normal(size=n)
    quantiles = np.quantile(score, np.arange(1, max(n_classes, 1)) / max(n_classes, 1))
    y: Any = np.searchsorted(quantiles, score) if n_classes else score
    return Problem(X, [0] * 9, y, rng.integers(0, 3, n) * 1.0, n_classes)


@pytest.mark.parametrize("min_samples_leaf", [1, 5])
@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
def test_sorting_the_rows_above_the_least_value_changes_nothing(
    criterion, n_classes, min_samples_leaf, monkeypatch
):
    problem = sparse_problem(n_classes)
    assert Table(problem.X).is_sparse.tolist() == [False, *[True] * 7, False]
    growth = Growth(criterion=criterion, max_features=3, min_samples_leaf=min_samples_leaf)
    sparse = problem.grow(growth, 3)
    assert len(np.unique(sparse.feature)) == 9
    monkeypatch.setattr("orfeon.data.presorted._SPARSE_VALUES", 1 << 20)
    assert_same(sparse, problem.grow(growth, 3))
