"""Trees over binned features with several threads: they help, change nothing, and end."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pytest
from numba import config, njit
from tests.growth.test_histogram import assert_same_forest, larger_problem, variance
from tests.oracles.histogram import seeds_of

from orfeon.growth.histogram import HistogramTrees
from orfeon.kernels.histogram.grow import grow_tree
from orfeon.kernels.histogram.parts import CHUNK, KIND, SEARCH, move_rows, set_aside
from orfeon.kernels.histogram.splits import AHEAD
from orfeon.kernels.histogram.threads import CLOSED, DONE, publish


@pytest.fixture(autouse=True)
def _small_trees_are_shared(monkeypatch):
    """Threads share the trees of these small tables, too."""
    monkeypatch.setattr("orfeon.growth.histogram._WORTH_HELPERS", 0)


needs_threads = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="one thread without JIT")


@pytest.mark.parametrize("weights", ["none", "zero", "float"])
@pytest.mark.parametrize("n_trees", [1, 3])
def test_the_trees_do_not_depend_on_the_number_of_threads(weights, n_trees):
    problem = larger_problem(3, weights, n=5000)
    growth = variance(max_leaf_nodes=31)
    residuals = np.random.default_rng(4).normal(size=(n_trees, 5000)) + problem.y
    grown = [
        HistogramTrees(problem.X, problem.schema, growth, n_jobs=n_jobs).grow(
            residuals, problem.all_weights, seeds_of(n_trees)
        )
        for n_jobs in (None, 1, 2, 3)
    ]
    for forest, leaves in grown[1:]:
        assert_same_forest(forest, grown[0][0])
        np.testing.assert_array_equal(forest.value, grown[0][0].value)
        np.testing.assert_array_equal(leaves, grown[0][1])


def test_helping_threads_change_nothing_tree_after_tree():
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(6000, 30)), rng.normal(size=6000)
    growth = variance(max_leaf_nodes=15)
    alone, helped = (HistogramTrees(X, growth=growth, n_jobs=n_jobs) for n_jobs in (1, 3))
    for seed in range(60):
        residuals = (y + X[:, seed % 30])[None]
        one, leaves = alone.grow(residuals, np.ones(6000), seeds_of(1, seed))
        other, theirs = helped.grow(residuals, np.ones(6000), seeds_of(1, seed))
        np.testing.assert_array_equal(one.nodes, other.nodes)
        np.testing.assert_array_equal(leaves, theirs)


@pytest.mark.parametrize("weights", ["none", "zero", "float"])
def test_many_rows_are_parted_alike_by_any_number_of_threads(weights):
    """Nodes of several chunks of rows, which threads part and read together."""
    n = 5 * CHUNK + 77
    problem = larger_problem(6, weights, n=n)
    growth = variance(max_leaf_nodes=12, min_samples_leaf=40)
    residuals = problem.y[None]
    grown = [
        HistogramTrees(problem.X, problem.schema, growth, n_jobs=n_jobs).grow(
            residuals, problem.all_weights, seeds_of(1)
        )
        for n_jobs in (1, 2, 3)
    ]
    forest, leaves = grown[0]
    assert forest.n_leaves.tolist() == [12]
    np.testing.assert_array_equal(leaves, forest.apply(problem.X).T)
    for other, theirs in grown[1:]:
        assert_same_forest(other, forest)
        np.testing.assert_array_equal(other.value, forest.value)
        np.testing.assert_array_equal(theirs, leaves)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_chunks_set_aside_and_moved_back_are_a_stable_partition(share):
    rng = np.random.default_rng(0)
    n, first = 3 * CHUNK + 5, 40
    codes = rng.random(n + first) < share
    goes_left = np.array([0, 1], np.uint8)
    rows = np.zeros(n + first + AHEAD, np.uint32)
    rows[: n + first] = rng.permutation(n + first)
    before, spare = rows.copy(), np.empty_like(rows)
    words, zero = codes.astype(np.uint64), np.uint64(0)
    chunks = [(k, min(k + CHUNK, first + n)) for k in range(first, first + n, CHUNK)]

    @njit
    def set_one_aside(words, goes_left, rows, spare, begin, end):
        return set_aside(words, zero, zero, goes_left, rows, spare, begin, end)

    @njit
    def move_back(rows, spare, begin, end, n_left, to_left, to_right):
        move_rows(rows, spare, begin, end, n_left, to_left, to_right)

    counts = [set_one_aside(words, goes_left, rows, spare, begin, end) for begin, end in chunks]
    middle, lefts = first + sum(counts), 0
    for (begin, end), n_left in zip(chunks, counts, strict=True):
        to_right = middle + begin - first - lefts
        move_back(rows, spare, begin, end, n_left, first + lefts, to_right)
        lefts += n_left
    moved = before[first : first + n]
    left = codes[moved]
    np.testing.assert_array_equal(rows[:first], before[:first])
    np.testing.assert_array_equal(
        rows[first : first + n], np.concatenate([moved[left], moved[~left]])
    )


def test_small_tables_are_left_to_one_thread(monkeypatch):
    monkeypatch.undo()
    small, large = (HistogramTrees(np.zeros((n_rows, 30)), n_jobs=2) for n_rows in (10_000, 50_000))
    assert [trees._n_helpers(np.arange(30)) for trees in (small, large)] == [0, 1]
    assert large._n_helpers(np.arange(3)) == 0


class Threads:
    """Threads that take note of what they are given, and refuse some of it."""

    def __init__(self, n_accepted=99):
        self.executor = ThreadPoolExecutor(2)
        self.n_accepted = n_accepted
        self.helpers = []
        self.boards = []

    def submit(self, task, *arguments):
        if len(self.helpers) == self.n_accepted:
            raise RuntimeError("no more threads")
        self.helpers.append(self.executor.submit(task, *arguments))
        self.boards.append(arguments[-1])
        return self.helpers[-1]


def finished(submit):
    """Wait for what is submitted."""

    def submit_and_wait(*arguments):
        future = submit(*arguments)
        wait([future])
        return future

    return submit_and_wait


def helped_trees(n_jobs, n_features=30, **limits):
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(6000, n_features)), rng.normal(size=6000)
    return HistogramTrees(X, growth=variance(**limits), n_jobs=n_jobs), (y + X[:, 0])[None]


@needs_threads
def test_no_helper_is_left_alone_when_another_cannot_be_started(monkeypatch):
    trees, residuals = helped_trees(3, max_leaf_nodes=4)
    threads = Threads(n_accepted=1)
    monkeypatch.setattr(trees, "_threads", lambda: threads)
    with pytest.raises(RuntimeError, match="no more threads"):
        trees.grow(residuals, np.ones(6000), seeds_of(1))
    try:
        assert [helper.result(timeout=20) for helper in threads.helpers] == [None]
    finally:
        for board in threads.boards:
            board[CLOSED] = 1


@needs_threads
def test_an_error_in_a_helper_is_raised(monkeypatch):
    def fail(*_):
        raise MemoryError("no room to help")

    monkeypatch.setattr("orfeon.growth.histogram._help", fail)
    trees, residuals = helped_trees(2, max_leaf_nodes=4)
    threads = Threads()
    monkeypatch.setattr(threads.executor, "submit", finished(threads.executor.submit))
    monkeypatch.setattr(trees, "_threads", lambda: threads)
    with pytest.raises(MemoryError, match="no room to help"):
        trees.grow(residuals, np.ones(6000), seeds_of(1))


@needs_threads
@pytest.mark.parametrize(
    ("n_features", "candidates", "n_helpers"),
    [(8, None, 0), (9, None, 1), (30, None, 2), (30, [[0, 7, 1]], 0), (30, [[0, 29]], 1)],
)
def test_no_more_threads_help_than_there_are_parts(monkeypatch, n_features, candidates, n_helpers):
    """A search is shared out by eight features."""
    trees, residuals = helped_trees(3, n_features, max_leaf_nodes=4)
    threads = Threads()
    monkeypatch.setattr(trees, "_threads", lambda: threads)
    own = None if candidates is None else np.array(candidates)
    trees.grow(residuals, np.ones(6000), seeds_of(1), own)
    assert len(threads.helpers) == n_helpers


@needs_threads
@pytest.mark.parametrize("weight", [1.0, 0.7])
def test_a_helper_does_the_parts_that_are_published(monkeypatch, weight):
    """One tree that may not be split leaves the search of its root; a helper does it again."""
    calls = []

    @njit
    def publish_again(board):
        publish(board, np.int64(4))

    def grow_after_help(columns, limits, search, work, *rest):
        thread = rest[-2]
        if thread > 0:
            return grow_tree(columns, limits, search, work, *rest)
        histograms, length, is_wide = search[:3]
        scores, job, task, board = work[8], work[-4], work[-3], work[-1]
        if calls:
            size = length * (1 + is_wide)
            root = histograms[job[0, 4] * size :][:size]
            expected, best = root.copy(), scores[0].copy()
            histograms[:] = scores[:] = 0
            task[KIND] = SEARCH
            publish_again(board)
            latest = time.monotonic() + 60
            while board[DONE] < 4 and time.monotonic() < latest:
                time.sleep(0.001)
            assert board[DONE] == 4
            assert (best > 0).all()
            np.testing.assert_array_equal(scores[0], best)
            np.testing.assert_array_equal(root, expected)
        calls.append(grow_tree(columns, limits, search, work, *rest))
        return calls[-1]

    monkeypatch.setattr("orfeon.growth.histogram.grow_tree", grow_after_help)
    trees, residuals = helped_trees(2, min_impurity_decrease=1e9)
    for _ in range(2):
        trees.grow(residuals, np.full(6000, weight), seeds_of(1))
    assert calls == [1, 1]
