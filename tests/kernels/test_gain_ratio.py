"""C4.5's engine against the slow and obvious one: the same trees, node by node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.oracles import Node, nested
from tests.oracles.c45 import C45, Leaf
from tests.shared import assert_same_forest, cases

from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.forest import Forest
from orfeon.growth.c45 import C45Growth, grow_c45

WEIGHTS = ("unit", "counts", "fractions")
SWITCHES = (
    C45Growth(),
    C45Growth(gain_ratio=False),
    C45Growth(mdl_penalty=False),
    C45Growth(min_samples_leaf=1, mdl_penalty=False),
    C45Growth(min_samples_leaf=5),
    C45Growth(grouping=True),
    C45Growth(grouping=True, gain_ratio=False, mdl_penalty=False, min_samples_leaf=1),
    C45Growth(pruning=False),
    C45Growth(pruning=False, collapse=False, mdl_penalty=False),
    C45Growth(collapse=False, mdl_penalty=False),
    C45Growth(subtree_raising=False, mdl_penalty=False),
    C45Growth(confidence=0.9, mdl_penalty=False),
    C45Growth(confidence=0.01, error_limit="normal"),
    C45Growth(max_depth=2, mdl_penalty=False),
)


def switched(growth: C45Growth) -> str:
    """The options that are not the defaults."""
    usual = C45Growth()
    changed = {k: v for k, v in vars(growth).items() if v != getattr(usual, k)}
    return " ".join(f"{k}={v}" for k, v in changed.items()) or "defaults"


@dataclass
class Problem:
    """A small random table."""

    X: Any
    n_categories: list[int]
    y: Any
    weights: Any
    n_classes: int

    @property
    def table(self) -> Table:
        categories = tuple(tuple(range(n)) if n else None for n in self.n_categories)
        return Table(self.X, Schema(categories))

    def grow(self, growth: C45Growth, n_trees: int = 1, **options: Any) -> Forest:
        seeds = np.arange(1, n_trees + 1, dtype=np.uint64)
        given = {"weights": self.weights, **options}
        return grow_c45(
            self.table, self.y, n_classes=self.n_classes, seeds=seeds, growth=growth, **given
        ).validate()


def random_problem(rng: np.random.Generator, weights: str, missing: float) -> Problem:
    """Ordered features with duplicates, categories, missing values, classes that follow a bit."""
    n, d, n_classes = (int(rng.integers(*bounds)) for bounds in ((2, 60), (1, 5), (1, 5)))
    n_categories = [int(rng.choice([0, 0, 2, 3, 5, 8])) for _ in range(d)]
    X = np.empty((n, d))
    for j, k in enumerate(n_categories):
        X[:, j] = rng.integers(0, k, n) if k else rng.normal(size=n).round(int(rng.integers(0, 3)))
    rank = np.argsort(np.argsort(X[:, 0]))
    noise = (rng.random(n) < 0.4) * rng.integers(0, n_classes, n)
    y = (rank * n_classes // n + noise) % n_classes
    X[rng.random((n, d)) < missing] = np.nan
    drawn = {
        "unit": np.ones(n),
        "counts": rng.integers(0, 4, n).astype(float),
        "fractions": rng.exponential(size=n) * (rng.random(n) < 0.8),
    }[weights]
    drawn[0] = max(drawn[0], 1.0)
    return Problem(X, n_categories, y, drawn, n_classes)


def assert_same(engine: Node, expected: Leaf, oracle: C45) -> None:
    """The same tests, the same class weights, down to the leaves."""
    assert len(engine.children) == len(expected.children)
    if expected.weight > 0:
        np.testing.assert_allclose(engine.value, np.array(expected.counts) * oracle.unit, atol=1e-9)
    if not expected.children:
        return
    assert engine.feature == expected.feature
    if expected.branches is None:
        assert engine.threshold == oracle.threshold(expected)
    assert engine.branches == expected.branches
    for child, twin in zip(engine.children, expected.children, strict=True):
        assert_same(child, twin, oracle)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("growth", SWITCHES, ids=switched)
def test_trees_are_those_of_the_obvious_program(growth, weights):
    rng = np.random.default_rng([SWITCHES.index(growth), WEIGHTS.index(weights)])
    for missing in (0.0, 0.0, 0.05, 0.2, 0.5) * cases(4):
        problem = random_problem(rng, weights, missing)
        oracle = C45(
            problem.X, problem.n_categories, problem.y, problem.weights, problem.n_classes, growth
        )
        forest = problem.grow(growth)
        assert_same(nested(forest), oracle.root, oracle)
        shares = [oracle.shares(x) for x in problem.X]
        np.testing.assert_allclose(forest.supports(problem.X)[0], shares, atol=1e-9)


def test_labels_are_majorities_and_ties_take_the_parent_s():
    rng = np.random.default_rng(5)
    ties = 0
    for _ in range(100):
        problem = random_problem(rng, "counts", 0.0)
        root = nested(problem.grow(C45Growth(pruning=False, mdl_penalty=False, min_samples_leaf=1)))
        for node in root.walk():
            tied = np.flatnonzero(node.value == node.value.max())
            expected = tied[0]
            if node.parent is not None and node.parent.label in tied:
                expected = node.parent.label
            ties += len(tied) > 1
            assert node.label == expected
    assert ties > 50


def test_a_leaf_without_samples_speaks_for_its_parent():
    X = np.array([0, 0, 0, 1, 1, 1, 1, 1], dtype=float)[:, None]
    y = np.array([0, 0, 0, 1, 1, 1, 1, 0])
    table = Table(X, Schema((("a", "b", "never"),)))
    growth = C45Growth(pruning=False)
    forest = grow_c45(table, y, n_classes=2, seeds=np.ones(1, np.uint64), growth=growth)
    row = np.array([[2.0]])
    assert forest.n_leaves[0] == 3
    assert forest.weights()[3] < 1e-50  # and yet the branch has no weight in a missing value's vote
    assert forest.supports(row)[0, 0].tolist() == [0.5, 0.5]
    assert forest.supports(np.array([[np.nan]]))[0, 0] == pytest.approx([0.5, 0.5])
    assert forest.votes(row)[0, 0] == forest.label[0] == 0


@pytest.mark.parametrize("growth", [C45Growth(), C45Growth(grouping=True, mdl_penalty=False)])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_whole_weights_are_copies_in_any_order_and_weight_zero_is_absence(growth, missing):
    rng = np.random.default_rng(1)
    for _ in range(30):
        problem = random_problem(rng, "counts", missing)
        rows = np.repeat(np.arange(len(problem.y)), problem.weights.astype(int))
        rng.shuffle(rows)
        copied = replace(problem, X=problem.X[rows], y=problem.y[rows], weights=np.ones(len(rows)))
        assert_same_forest(problem.grow(growth), copied.grow(growth))


def test_fractional_weights_count_relative_to_their_mean():
    problem = random_problem(np.random.default_rng(6), "fractions", 0.1)
    growth = C45Growth(pruning=False, mdl_penalty=False, min_samples_leaf=1)
    ours = problem.grow(growth)
    scaled = replace(problem, weights=problem.weights * 1e-6).grow(growth)
    assert len(ours.nodes) > 5
    assert (ours.nodes == scaled.nodes).all()
    np.testing.assert_allclose(scaled.value, ours.value * 1e-6, rtol=1e-9)


def test_trees_do_not_depend_on_threads_blocks_or_their_number():
    rng = np.random.default_rng(2)
    problem = random_problem(rng, "unit", 0.1)
    n = len(problem.y)
    weights = rng.integers(0, 3, (150, n)).astype(float) + (np.arange(n) == 0)
    growth = C45Growth(random_ties=True, max_features=1, mdl_penalty=False, min_samples_leaf=1)
    whole = problem.grow(growth, 150, weights=weights)
    threaded = problem.grow(growth, 150, weights=weights, n_jobs=2)
    first = problem.grow(growth, 100, weights=weights[:100])
    assert_same_forest(whole, threaded)
    part = whole.subset(range(100))
    assert (part.nodes["first_child"] == first.nodes["first_child"]).all()
    assert (part.value == first.value).all()


def test_one_row_of_labels_or_one_each():
    rng = np.random.default_rng(3)
    problem = random_problem(rng, "unit", 0.0)
    labels = np.array([problem.y, (problem.y + 1) % problem.n_classes])
    both = replace(problem, y=labels).grow(C45Growth(), 2)
    for t in range(2):
        alone = replace(problem, y=labels[t]).grow(C45Growth())
        assert (both.subset([t]).nodes == alone.nodes).all()
        assert (both.subset([t]).value == alone.value).all()


def test_candidates_are_the_only_features_used():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 4))
    problem = Problem(X, [0] * 4, (X.sum(axis=1) > 0).astype(int), np.ones(80), 2)
    forest = problem.grow(C45Growth(), 2, candidates=np.array([[0, 2], [3, 1]]))
    inner = forest.n_children > 0
    used = [set(forest.feature[inner & (t == forest_of(forest))]) for t in range(2)]
    assert used == [{0, 2}, {1, 3}]


def forest_of(forest: Forest) -> Any:
    return np.repeat(np.arange(len(forest)), forest.n_nodes)


def test_ties_go_to_the_first_feature_or_to_all_of_them_alike():
    x = np.arange(8.0)
    problem = Problem(np.column_stack([x, x, x]), [0] * 3, (x > 3).astype(int), np.ones(8), 2)
    roots = problem.grow(C45Growth(), 300).feature[::3]
    assert set(roots) == {0}
    roots = problem.grow(C45Growth(random_ties=True), 300).feature[::3]
    counts = np.bincount(roots, minlength=3)
    assert counts.sum() == 300
    assert counts.min() > 70  # 100 are expected, with a standard deviation of 8


def test_features_drawn_at_each_node_are_drawn_alike():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3))
    problem = Problem(X, [0] * 3, (X[:, 0] > 0).astype(int), np.ones(60), 2)
    growth = C45Growth(max_features=1, mdl_penalty=False, pruning=False, collapse=False)
    forest = problem.grow(growth, 300)
    roots = forest.feature[forest.tree_start[:-1]]
    assert np.bincount(roots, minlength=3).min() > 70


def test_samples_unknown_everywhere_are_copied_as_often_as_needed():
    # Each of 8 categories gets a copy of the samples without a value: more than there are rows.
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.integers(0, 8, (80, 2)), rng.normal(size=80)]).astype(float)
    y = (X[:, 0] // 4 + X[:, 1] // 4).astype(int) % 2
    X[20:, 0] = np.nan
    X[10:70, 1] = np.nan
    problem = Problem(X, [8, 8, 0], y, np.ones(80), 2)
    # At full confidence the errors seen are the errors expected: next to nothing is pruned.
    growth = C45Growth(mdl_penalty=False, min_samples_leaf=1, confidence=1.0)
    oracle = C45(X, problem.n_categories, y, problem.weights, 2, growth)
    forest = problem.grow(growth)
    assert forest.n_nodes[0] > 50
    assert_same(nested(forest), oracle.root, oracle)


def test_trees_of_many_branches_have_more_nodes_than_rows():
    rng = np.random.default_rng(11)
    X = rng.integers(0, 20, (60, 3)).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    problem = Problem(X, [20] * 3, rng.integers(0, 3, 60), np.ones(60), 3)
    growth = C45Growth(pruning=False, min_samples_leaf=1)
    oracle = C45(X, problem.n_categories, problem.y, problem.weights, 3, growth)
    forest = problem.grow(growth)
    assert forest.n_nodes[0] > 200
    assert_same(nested(forest), oracle.root, oracle)


@pytest.mark.thorough  # compiles another version of the kernels
def test_tables_of_many_rows_have_wide_records(monkeypatch):
    monkeypatch.setattr("orfeon.data.presorted.MAX_NARROW_ROWS", 1)
    rng = np.random.default_rng(9)
    for missing in (0.0, 0.2):
        problem = random_problem(rng, "unit", missing)
        assert problem.table.records.dtype == np.uint64
        oracle = C45(
            problem.X, problem.n_categories, problem.y, problem.weights, problem.n_classes,
            C45Growth(),
        )  # fmt: skip
        assert_same(nested(problem.grow(C45Growth())), oracle.root, oracle)


def test_unpruned_trees_without_penalty_learn_any_labels_of_different_rows():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(200, 5))
    labels = rng.integers(0, 3, (20, 200))
    growth = C45Growth(pruning=False, mdl_penalty=False, min_samples_leaf=1)
    forest = Problem(X, [0] * 5, labels, np.ones(200), 3).grow(growth, 20)
    assert (forest.votes(X) == labels).all()


def test_a_test_on_categories_may_come_before_its_gain():
    # Neither feature tells anything by itself: the first test gains nothing, the second one all.
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]] * 3)
    y = np.array([0, 1, 1, 0] * 3)
    forest = Problem(X, [2, 2], y, np.ones(12), 2).grow(C45Growth(pruning=False))
    assert (forest.votes(X)[0] == y).all()
    # With a useless second feature the test is undone.
    X[:, 1] = np.tile([0, 0, 0, 0, 1, 1, 1, 1], 2)[:12]
    forest = Problem(X, [2, 2], y, np.ones(12), 2).grow(C45Growth(pruning=False))
    assert forest.n_nodes.tolist() == [1]
