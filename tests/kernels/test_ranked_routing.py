"""Rows of ranks among the thresholds reach the leaves that rows of numbers reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernels.test_routing import full_forest, one_split
from tests.oracles.routing import random_forest, random_rows

from orfeon.forest import NODE, Forest
from orfeon.forest.packed import _SHALLOW
from orfeon.forest.ranked import RankedForest
from orfeon.kernels.routing.packed import MOST_CATEGORIES
from orfeon.kernels.routing.route import ALL_BRANCHES


@pytest.fixture
def ranks_always(monkeypatch: Any) -> Any:
    """A function after which any number of rows is ranked."""

    def switch() -> None:
        for name in ("_FEW_TREES", "_FEW_PATHS", "_PATHS_PER_NODE"):
            monkeypatch.setattr(f"orfeon.forest.ranked.{name}", 0)

    return switch


def numbers_only(depth: int, n_classes: int) -> Forest:
    """A full forest whose categories are numbers."""
    forest = full_forest(depth, 7, 9, n_classes, 0.1)
    inner = forest.n_children > 0
    forest.nodes["threshold"][inner] = np.round(
        np.random.default_rng(1).normal(size=inner.sum()), 1
    )
    return forest._replace(
        n_categories=np.zeros(4, np.int64), branches=np.zeros(0, np.uint16)
    ).validate()


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("share_missing", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_ranked_rows_get_the_same_bits(kind, share_missing, n_classes, ranks_always):
    depth = _SHALLOW + 2
    forest = full_forest(depth, 4, 9, n_classes, 0.1)
    if kind == "numbers":
        forest = numbers_only(depth, n_classes)
    X = random_rows(forest, 1500, 2, share_missing)
    X[:, :2] = np.round(X[:, :2], 1)  # many are thresholds
    weights = np.random.default_rng(3).exponential(size=len(forest))
    expected = forest.mean_supports(X)
    votes = forest.weigh_votes(X, weights) if n_classes else None
    ranks_always()
    for size in (1500, 13, 12, 7, 1):
        starts = range(0, 1500 if size > 1 else 20, size)
        parts = np.concatenate([forest.mean_supports(X[a : a + size]) for a in starts])
        assert parts.tobytes() == expected[: len(parts)].tobytes()
        if votes is not None:
            parts = np.concatenate([forest.weigh_votes(X[a : a + size], weights) for a in starts])
            assert parts.tobytes() == votes[: len(parts)].tobytes()
    is_used = "_ranked_numbers" if kind == "numbers" and not share_missing else "_ranked"
    assert isinstance(vars(forest)[is_used], RankedForest)


_SPECIAL = (
    -np.inf, -1.7e308, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, np.nextafter(1.0, 2.0), 1.7e308,
    np.inf,
)  # fmt: skip


def stumps(thresholds: tuple[float, ...], missing: int) -> Forest:
    """A test of one feature a tree; class 1 is beyond the threshold."""
    n = len(thresholds)
    nodes = [node for t in thresholds for node in [(t, 0, 1), (np.inf, 0, 1), (np.inf, 0, 2)]]
    return Forest(
        tree_start=np.arange(0, 3 * n + 1, 3), nodes=np.array(nodes, NODE),
        n_children=np.array([2, 0, 0] * n, np.uint16),
        missing=np.array([missing, 0, 0] * n, np.uint16), label=np.array([0, 0, 1] * n, np.int32),
        value=np.array([[1, 1], [1, 0], [0, 1]] * n, np.uint32), n_classes=2,
        n_categories=np.array([0]),
    ).validate()  # fmt: skip


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("n_thresholds", range(1, len(_SPECIAL) + 1))
def test_ranks_compare_as_floats(n_thresholds, missing):
    thresholds = _SPECIAL[:n_thresholds]
    forest = stumps(thresholds, missing)
    expected = [sum(x > t for t in thresholds) for x in _SPECIAL]
    X = np.array(_SPECIAL)[:, None]
    holed = np.append(X, [[np.nan]], axis=0)
    for numbers, rows, counts in (
        (True, X, expected),
        (False, X, expected),
        (False, holed, [*expected, missing * n_thresholds]),
    ):
        ranked = RankedForest.of(forest, numbers=numbers)
        assert ranked is not None
        votes = np.zeros((len(rows), 2))
        ranked.add(forest, rows, np.ones(n_thresholds), votes)
        assert votes[:, 1].tolist() == counts
        assert votes.sum(axis=1).tolist() == [n_thresholds] * len(rows)


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("n_categories", [1, 2, MOST_CATEGORIES])
def test_all_codes_of_a_set(n_categories, missing):
    table = np.random.default_rng(n_categories).integers(0, 2, n_categories).tolist()
    forest = one_split(n_categories, table, missing)
    ranked = RankedForest.of(forest, numbers=False)
    assert ranked is not None
    codes = np.array([*range(n_categories), np.nan])
    votes = np.zeros((len(codes), 2))
    ranked.add(forest, np.column_stack([np.zeros(len(codes)), codes]), np.ones(1), votes)
    assert votes[:, 1].tolist() == [*table, missing]


def test_forests_that_cannot_be_ranked(monkeypatch, ranks_always):
    """They are routed in other ways, with the same answers."""
    for odd in (
        one_split(MOST_CATEGORIES + 1, [0, 1] * 32, 0),
        one_split(3, [0, ALL_BRANCHES, 1], 0),
        random_forest(1, "oblique"),
        random_forest(2, "categorical"),
        random_forest(3, "ordered", fractional=True),
    ):
        assert RankedForest.of(odd, numbers=False) is None
    forest = numbers_only(_SHALLOW + 2, 3)
    X = random_rows(forest, 100, 0)
    expected = forest.mean_supports(X)
    most = max(len(set(forest.threshold[forest.feature == j])) for j in range(4)) - 1
    ranks_always()
    for name, limit in (("NO_COUNT", most - 1), ("MOST_COLUMNS", 4)):
        with monkeypatch.context() as patch:
            patch.setattr(f"orfeon.kernels.routing.ranked.{name}", limit)
            again = forest._replace()
            assert again.mean_supports(X).tobytes() == expected.tobytes()
            assert again._ranked_numbers is None


def test_few_rows_and_few_trees_are_not_ranked():
    forest = numbers_only(_SHALLOW + 2, 3)
    forest.predict(random_rows(forest, 2000, 0))
    assert "_ranked_numbers" not in vars(forest)
    many = Forest.concatenate([forest] * 10)
    many.predict(random_rows(forest, 100, 0))
    assert "_ranked_numbers" not in vars(many)
    many.predict(random_rows(forest, 20_000, 0))
    assert many._ranked_numbers is not None


def test_a_forest_without_tests():
    lone = stumps((0.0,), 0)._replace(
        tree_start=np.array([0, 1, 2]), nodes=np.array([(np.inf, 0, 0)] * 2, NODE),
        n_children=np.zeros(2, np.uint16), missing=np.zeros(2, np.uint16),
        label=np.array([0, 1], np.int32), value=np.array([[1, 0], [0, 1]], np.uint32),
    )  # fmt: skip
    for numbers in (True, False):
        ranked = RankedForest.of(lone, numbers=numbers)
        assert ranked is not None
        votes = np.zeros((30, 2))
        ranked.add(lone, np.full((30, 1), 0.5), np.array([1.0, 2.0]), votes)
        assert votes.tolist() == [[1.0, 2.0]] * 30
