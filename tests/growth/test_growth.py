"""Growing forests: the same bits from any number of threads, any size of table, any depth."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests import shared
from tests.shared import assert_same_forest

from orfeon.data.presorted import MAX_NARROW_ROWS, SORTED, Table
from orfeon.data.schema import Schema
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.forest import Forest
from orfeon.growth import (
    Growth,
    copy_groups,
    grow_forest,
    grow_igp_forest,
    grow_pruned_forest,
    split_halves,
)
from orfeon.utils.seeding import tree_seeds

N_TREES = 23


def seeds(n: int) -> npt.NDArray[np.uint64]:
    return tree_seeds(np.random.SeedSequence(0), n)


class Data:
    """Samples with two categorical features and missing values."""

    def __init__(self, n_rows: int = 90, n_classes: int = 3) -> None:
        rng = np.random.default_rng(1)
        if n_classes:
            X, self.y = make_waveform(n_rows, random_state=2)
            self.y = self.y % n_classes
        else:
            X, self.y = make_friedman1(n_rows, random_state=2)
        self.X = np.ascontiguousarray(X[:, :7])
        self.X[:, 5], self.X[:, 6] = rng.integers(0, 4, n_rows), rng.integers(0, 12, n_rows)
        self.X[rng.random(self.X.shape) < 0.05] = np.nan
        letters = tuple("abcdefghijkl")
        self.schema = Schema((None,) * 5 + (letters[:4], letters))
        self.table = Table(self.X, self.schema)
        self.n_classes = n_classes
        self.counts = rng.poisson(1, (N_TREES, n_rows))
        self.shares = rng.exponential(size=(N_TREES, n_rows))
        self.halves = np.array([split_halves(self.y, rng) for _ in range(N_TREES)])


def ways_to_grow() -> dict[str, tuple[int, Any]]:
    """Every grower and splitter: the number of classes, and what grows a forest."""

    def plain(**growth: Any) -> Any:
        def grow(data: Data, n: int, **options: Any) -> Forest:
            criterion = {} if data.n_classes else {"criterion": "variance"}
            return grow_forest(
                data.table, data.y, n_classes=data.n_classes, seeds=seeds(n),
                growth=Growth(**{**criterion, **growth}), **options,
            )  # fmt: skip

        return grow

    def pruned(data: Data, n: int, **options: Any) -> Forest:
        return grow_pruned_forest(
            data.table, data.X, data.y, n_classes=data.n_classes, seeds=seeds(n), n_folds=4,
            **options,
        )[0]  # fmt: skip

    def igp(data: Data, n: int, **options: Any) -> Forest:
        return grow_igp_forest(
            data.table, data.X, data.y, data.halves[:n], n_classes=data.n_classes, seeds=seeds(n),
            **options,
        )[0]  # fmt: skip

    return {
        "gini": (3, plain()),
        "gini of two classes": (2, plain()),
        "entropy": (3, plain(criterion="entropy")),
        "variance": (0, plain()),
        "features drawn": (3, plain(max_features=2)),
        "leaves limited": (3, plain(max_leaf_nodes=6)),
        "among the best": (3, plain(n_best=5)),
        "random cuts": (3, plain(splitter="random", max_features=1)),
        "random cuts of a target": (0, plain(splitter="random", max_features=3)),
        "linear combinations": (3, plain(splitter="oblique", max_features=4)),
        "pruned": (3, pruned),
        "pruned regression": (0, pruned),
        "IGP": (3, igp),
    }


@pytest.mark.parametrize("weights", ["none", "counts", "shares", "some shares"])
@pytest.mark.parametrize("way", ways_to_grow())
def test_the_threads_do_not_matter(way, weights):
    n_classes, grow = ways_to_grow()[way]
    data = Data(n_classes=n_classes)
    given = {"none": None, "counts": data.counts, "shares": data.shares}.get(weights)
    if weights == "some shares":
        given = np.where(np.arange(N_TREES)[:, None] % 3 == 0, data.shares, data.counts)
    alone = grow(data, N_TREES, weights=given, n_jobs=1).validate()
    assert len(alone) == N_TREES
    for n_jobs in (None, 2, 4) if shared.thorough else (2,):
        assert_same_forest(grow(data, N_TREES, weights=given, n_jobs=n_jobs), alone)


@pytest.mark.parametrize("way", ways_to_grow())
def test_more_trees_begin_with_the_same_ones(way):
    n_classes, grow = ways_to_grow()[way]
    data = Data(n_classes=n_classes)
    many = grow(data, N_TREES, weights=data.counts)
    few = grow(data, 5, weights=data.counts[:5])
    assert_same_forest(many.subset(range(5)), few, but=("branches", "projections"))
    np.testing.assert_array_equal(many.branches[: len(few.branches)], few.branches)
    np.testing.assert_array_equal(many.supports(data.X)[:5], few.supports(data.X))
    one = grow(data, 1, weights=data.counts[:1])
    assert_same_forest(few.subset([0]), one, but=("branches", "projections"))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_counts_the_trees(n_jobs):
    data = Data()
    done: list[int] = []
    for way in ("gini", "pruned", "IGP"):
        done.clear()
        ways_to_grow()[way][1](data, N_TREES, n_jobs=n_jobs, progress=done.append)
        assert sum(done) == N_TREES


def test_trees_use_only_their_candidates():
    data = Data()
    rng = np.random.default_rng(3)
    candidates = np.array([rng.choice(7, 2, replace=False) for _ in range(N_TREES)])
    for way in ("gini", "entropy", "random cuts", "pruned", "IGP"):
        forest = ways_to_grow()[way][1](data, N_TREES, candidates=candidates)
        for t in range(N_TREES):
            one = forest.subset([t])
            assert set(one.feature[one.n_children > 0]) <= set(candidates[t])
        assert (forest.n_leaves > 1).any()


@pytest.mark.parametrize("way", ["gini", "entropy", "among the best", "pruned"])
def test_a_row_of_weight_zero_is_absent(way):
    n_classes, grow = ways_to_grow()[way]
    data = Data(n_classes=n_classes)
    present = data.counts[0] > 0
    part = Data(n_classes=n_classes)
    part.X, part.y = np.ascontiguousarray(data.X[present]), data.y[present]
    part.table = Table(part.X, data.schema)
    whole = grow(data, 4, weights=data.counts[0])
    assert_same_forest(grow(part, 4, weights=data.counts[0][present]), whole)


# -- many rows -------------------------------------------------------------------------------------


@pytest.mark.thorough  # compiles another version of every kernel
@pytest.mark.parametrize("way", ways_to_grow())
def test_wide_records_grow_the_trees_of_narrow_ones(way):
    """More than 65 535 rows need records of 64 bits; copies make the same table with fewer."""
    n_classes, grow = ways_to_grow()[way]
    few = Data(n_rows=400, n_classes=n_classes)
    copies = np.random.default_rng(4).permutation(np.repeat(np.arange(400), 175))
    many = Data(n_rows=400, n_classes=n_classes)
    many.X, many.y = np.ascontiguousarray(few.X[copies]), few.y[copies]
    many.table = Table(many.X, few.schema)
    many.halves = few.halves[:, copies]
    assert many.table.n_rows > MAX_NARROW_ROWS >= few.table.n_rows
    assert many.table.records.itemsize == 2 * few.table.records.itemsize
    assert (many.table.kind[:4] == SORTED).all()
    narrow = grow(few, 2, weights=np.full(400, 175))
    assert_same_forest(grow(many, 2), narrow, but=("leaf_impurity",))
    if n_classes == 0:
        np.testing.assert_allclose(grow(many, 2).impurity, narrow.impurity, rtol=1e-9, atol=1e-12)


def test_groups_of_copies_do_not_depend_on_the_order():
    data = Data()
    copies = np.random.default_rng(5).permutation(np.repeat(np.arange(90), 3))
    alone = copy_groups(data.table, data.y)
    assert sorted(alone) == list(range(90))
    together = copy_groups(Table(data.X[copies], data.schema), data.y[copies])
    np.testing.assert_array_equal(together, alone[copies])


# -- depth -----------------------------------------------------------------------------------------


def staircase(n_rows: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Classes that alternate along one feature: the best split always takes an end off."""
    return np.arange(n_rows, dtype=np.float64)[:, None], np.arange(n_rows) % 2


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_a_chain_of_3000_samples(criterion):
    X, y = staircase(3000)
    forest = grow_forest(
        Table(X), y, n_classes=2, seeds=seeds(1), growth=Growth(criterion=criterion)
    ).validate()
    assert forest.n_leaves[0] == 3000
    assert forest.depth[0] > 1000
    np.testing.assert_array_equal(forest.predict(X), y)
    assert len(np.unique(forest.apply(X))) == 3000
    path = forest.decision_path(X[-1:])
    assert path.sum() == forest.node_depth[forest.apply(X[-1:])[0, 0]] + 1


def test_a_chain_is_pruned_and_grown_in_turns_too():
    X, y = staircase(3000)
    table = Table(X)
    pruned, chosen = grow_pruned_forest(
        table, X, y, n_classes=2, seeds=seeds(1), n_folds=2, keep_a_split=False
    )
    assert chosen.n_leaves[0] == 3000
    assert chosen.n_leaves[-1] == 1
    pruned.validate()
    halves = split_halves(y, np.random.default_rng(6))
    forest, rounds = grow_igp_forest(table, X, y, halves, n_classes=2, seeds=seeds(1))
    forest.validate()
    assert rounds[0] < 100
