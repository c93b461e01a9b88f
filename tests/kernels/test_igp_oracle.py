"""IGP trees of the engine against the loop of the paper, word for word."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.oracles import frozen, nested
from tests.oracles.growth import Problem, random_problem
from tests.oracles.igp import Halves, all_outcomes, igp, undirected
from tests.shared import cases

from orfeon.data.presorted import Table
from orfeon.growth import Growth, grow_igp_forest, split_halves

FREE = Growth(min_samples_leaf=0, min_samples_split=0)


def grow(
    problem: Problem, half: Any, n_trees: int, growth: Growth = FREE, first: int = 0, **options: Any
) -> Any:
    """Trees and rounds of the engine, from the seed number ``first`` on."""
    seeds = np.random.default_rng(1).integers(2**64, size=100, dtype=np.uint64)
    forest, rounds = grow_igp_forest(
        Table(problem.X, problem.schema), problem.X, problem.y, np.asarray(half, np.uint8),
        n_classes=problem.n_classes, seeds=seeds[first : first + n_trees],
        weights=problem.weights, growth=growth, **options,
    )  # fmt: skip
    return forest.validate(), rounds


def halves_of(problem: Problem, half: npt.NDArray[np.int64], criterion: str = "gini") -> Halves:
    return Halves(
        problem.X, problem.y, problem.all_weights, half, problem.n_categories, criterion
    )  # fmt: skip


def trees_of(forest: Any) -> list[tuple[Any, ...]]:
    return [undirected(frozen(nested(forest, t))) for t in range(len(forest))]


def learnable(problem: Problem, rng: np.random.Generator) -> Problem:
    """The same with labels that mostly follow the first feature: some of the tree survives."""
    known = np.nan_to_num(problem.X[:, 0])
    follows = (known > np.median(known)) & (rng.random(len(known)) < 0.8)
    return replace(problem, y=np.where(follows, problem.n_classes - 1, problem.y))


def both_halves_present(problem: Problem, half: npt.NDArray[np.int64]) -> bool:
    return all(((half == h) & (problem.all_weights > 0)).any() for h in (1, 2))


@pytest.mark.parametrize(
    "features",
    ["ordered", "ordered duplicates missing", "categorical missing", "mixed duplicates missing"],
)
@pytest.mark.parametrize("weights", ["none", "integer"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_tree_is_one_that_the_loop_can_end_with(features, weights, n_classes):
    """Equally good splits may fall either way: all ways are followed."""
    rng = np.random.default_rng([len(features), len(weights), n_classes])
    compared = grown = 0
    while compared < cases(25) or grown <= cases(5):
        problem = learnable(random_problem(rng, features, weights, n_classes, n_rows=20), rng)
        half = rng.integers(1, 3, len(problem.y))
        if not both_halves_present(problem, half):
            continue
        outcomes = all_outcomes(halves_of(problem, half), limit=200)
        if outcomes is None:
            continue
        forest, rounds = grow(problem, half, 10)
        expected = {(o.rounds[-1], len(o.rounds)) for o in outcomes}
        assert set(zip(trees_of(forest), rounds.tolist(), strict=True)) <= expected
        compared += 1
        grown += any(len(o.rounds[-1]) > 1 for o in outcomes)


@pytest.mark.parametrize("features", ["ordered", "ordered missing"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_without_ties_the_tree_is_that_of_the_loop(features, criterion):
    """One feature and fractional weights leave no ties."""
    rng = np.random.default_rng([len(features), len(criterion)])
    sizes = []
    for _ in range(cases(40)):
        problem = random_problem(rng, features, "float", int(rng.integers(2, 5)), n_rows=60)
        problem = replace(problem, X=problem.X[:, :1].copy(), n_categories=[0])
        half = rng.integers(1, 3, len(problem.y))
        if not both_halves_present(problem, half):
            continue
        outcome = igp(halves_of(problem, half, criterion))
        forest, rounds = grow(problem, half, 1, replace(FREE, criterion=criterion))
        assert trees_of(forest) == [outcome.rounds[-1]]
        assert rounds.tolist() == [len(outcome.rounds)]
        sizes.append(outcome.sizes[-1])
    assert max(sizes) > 4


def test_by_default_light_samples_are_set_apart_too():
    """An impure leaf is split whenever a boundary exists, however light its samples."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        X, weights = rng.normal(size=(60, 1)), rng.exponential(size=60)
        problem = learnable(Problem(X, [0], rng.integers(0, 2, 60), weights, 2), rng)
        half = split_halves(problem.y, rng).astype(np.int64)
        forest, _ = grow(problem, half, 1, Growth())
        assert trees_of(forest) == [igp(halves_of(problem, half)).rounds[-1]]


def is_pruned_from(small: Any, large: Any) -> bool:
    """Whether a tree is another one with some branches cut."""
    if small[0] != large[0] or len(small) == 1:
        return bool(small[0] == large[0])
    if len(large) == 1 or small[1:4] != large[1:4]:
        return False
    return all(is_pruned_from(a, b) for a, b in zip(small[4:], large[4:], strict=True))


@pytest.mark.parametrize("features", ["ordered", "ordered duplicates missing", "mixed missing"])
@pytest.mark.parametrize("weights", ["none", "integer"])
def test_the_trees_of_the_rounds_are_nested_and_the_loop_ends(features, weights, monkeypatch):
    rng = np.random.default_rng([len(features), len(weights)])
    most = 0
    for _ in range(12):
        problem = random_problem(rng, features, weights, int(rng.integers(2, 4)), n_rows=150)
        half = split_halves(problem.y, rng, problem.all_weights)
        if not both_halves_present(problem, half):
            continue
        for seed in range(cases(12)):
            forest, rounds = grow(problem, half, 1, first=seed)
            assert rounds[0] >= 2
            history = []
            for stop in range(rounds[0]):
                monkeypatch.setattr("orfeon.growth.igp.MAX_ROUNDS", stop)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)
                    history.append(frozen(nested(grow(problem, half, 1, first=seed)[0])))
            monkeypatch.undo()
            assert history[-1] == history[-2] == frozen(nested(forest))
            assert all(is_pruned_from(a, b) for a, b in itertools.pairwise(history))
            most = max(most, len(history))
    assert most >= 3


@pytest.mark.parametrize("features", ["ordered missing", "categorical", "mixed missing"])
def test_a_tree_does_not_depend_on_those_grown_with_it(features):
    rng = np.random.default_rng(len(features))
    for _ in range(cases(5)):
        problem = random_problem(rng, features, "none", 3, n_rows=100)
        half = split_halves(problem.y, rng)
        if not both_halves_present(problem, half):
            continue
        together, rounds = grow(problem, half, 40)
        threaded, rounds_threaded = grow(problem, half, 40, n_jobs=2)
        assert trees_of(together) == trees_of(threaded)
        assert rounds.tolist() == rounds_threaded.tolist()
        alone = [trees_of(grow(problem, half, 1, first=t)[0])[0] for t in range(40)]
        assert trees_of(together) == alone


def test_a_tree_that_does_not_converge_is_reported(monkeypatch):
    monkeypatch.setattr("orfeon.growth.igp.MAX_ROUNDS", 1)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    problem = Problem(X, [0, 0], (X[:, 0] + X[:, 1] > 0).astype(np.int64), None, 2)
    with pytest.warns(RuntimeWarning, match="did not converge in 1 rounds"):
        grow(problem, split_halves(problem.y, rng), 20)


@pytest.mark.parametrize("features", ["ordered duplicates missing", "mixed missing"])
def test_weight_k_is_k_copies_and_weight_zero_is_absence(features):
    rng = np.random.default_rng(4)
    for _ in range(20):
        problem = random_problem(rng, features, "integer", 3, n_rows=40)
        half = rng.integers(1, 3, len(problem.y))
        if not both_halves_present(problem, half):
            continue
        at = np.repeat(np.arange(len(half)), problem.all_weights.astype(int))
        weighted, rounds = grow(problem, half, 3)
        copied, rounds_copied = grow(replace(problem.rows(at), weights=None), half[at], 3)
        left_out = np.where(problem.all_weights > 0, half, 0)
        absent, _ = grow(problem, left_out, 3)
        for other in (copied, absent):
            for name in ("tree_start", "nodes", "missing", "label", "value", "branches"):
                np.testing.assert_array_equal(getattr(weighted, name), getattr(other, name))
        np.testing.assert_array_equal(rounds, rounds_copied)


def test_halves_have_equal_sizes_and_class_shares():
    rng = np.random.default_rng(5)
    first = np.zeros(31)
    for _ in range(400):
        y = np.repeat([0, 1, 2], [10, 14, 7])
        half = split_halves(y, rng)
        assert abs(int((half == 1).sum()) - int((half == 2).sum())) == 1
        for k in range(3):
            assert abs(int((half[y == k] == 1).sum()) - int((half[y == k] == 2).sum())) <= 1
        first += half == 1
    assert (np.abs(first - 200) < 4 * np.sqrt(100)).all()


def test_rows_of_weight_zero_are_in_neither_half():
    weights = np.array([1.0, 0.0, 2.0, 1.0, 0.0, 0.5])
    half = split_halves(np.array([0, 0, 0, 1, 1, 1]), np.random.default_rng(6), weights)
    assert (half[weights == 0] == 0).all()
    assert sorted(half[weights > 0].tolist()) == [1, 1, 2, 2]
