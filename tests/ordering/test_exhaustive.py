"""Exhaustive search: nothing but the truth, checked subset by subset."""

from __future__ import annotations

import _thread
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.oracles.subset_search import best_subsets, wrong_weight

from orfeon.datasets import make_waveform
from orfeon.ordering import (
    error_curve,
    order,
    order_votes,
    read_selection,
    search_exhaustive_votes,
)
from orfeon.ordering import exhaustive as module
from orfeon.ordering.exhaustive import search_exhaustive


def draw(rng, n_members, n_samples, n_classes, skill, silent=0.0):
    """Votes of members that are right with some probability, and the truth."""
    y = rng.integers(0, n_classes, n_samples)
    votes = rng.integers(0, n_classes, (n_members, n_samples))
    votes = np.where(rng.random(votes.shape) < skill, y, votes)
    votes[rng.random(votes.shape) < silent] = -1
    votes[0, (votes < 0).all(axis=0)] = 0  # each sample has a vote
    return votes, y


def assert_as_brute_force(votes, y, weights, search):
    expected = best_subsets(votes.tolist(), y.tolist(), weights.tolist())
    expected = [expected[size - 1] for size in search.sizes]
    assert search.error_curve.tolist() == [best.wrong / weights.sum() for best in expected]
    assert search.n_optima.tolist() == [len(best.subsets) for best in expected]
    assert [tuple(subset) for subset in search.subsets] == [best.subsets[0] for best in expected]


@pytest.fixture(scope="module")
def bag():
    X, y = make_waveform(300, random_state=1)
    trees = DecisionTreeClassifier(ccp_alpha=0.01)
    return BaggingClassifier(trees, 16, random_state=0).fit(X, y), X, y


# -- against brute force ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 4, 6])
@pytest.mark.parametrize("n_members", [1, 2, 5, 8])
def test_errors_counts_and_subsets_are_those_of_brute_force(n_classes, n_members):
    rng = np.random.default_rng([n_classes, n_members])
    votes, y = draw(rng, n_members, 30, n_classes, 0.4)
    search = search_exhaustive_votes(votes, y)
    assert_as_brute_force(votes, y, np.ones(30, int), search)
    assert search.sizes.tolist() == list(range(1, n_members + 1))


@pytest.mark.parametrize("seed", range(8))
def test_weights_copies_and_silence_as_in_brute_force(seed):
    rng = np.random.default_rng(seed)
    # More than 64 samples that differ, so that they fill more than a word.
    votes, y = draw(rng, 7, 150, 2 + seed % 4, 0.3, silent=0.5 * (seed % 2))
    drawn = rng.integers(0, 150, 200)
    votes, y = votes[:, drawn], y[drawn]
    weights = rng.integers(1, 12, 200)
    search = search_exhaustive_votes(votes, y, sample_weight=weights, no_vote=-1)
    assert_as_brute_force(votes, y, weights, search)


def test_ten_members_with_many_equal_subsets():
    rng = np.random.default_rng(3)
    votes, y = draw(rng, 10, 6, 3, 0.6)
    search = search_exhaustive_votes(votes, y)
    assert_as_brute_force(votes, y, np.ones(6, int), search)
    assert search.n_optima.max() > 50


@pytest.mark.parametrize("low", [1, 2, 5, 8])
@pytest.mark.parametrize("patience", [1.0, 200.0, 1e9])
def test_the_cut_into_parts_changes_nothing(monkeypatch, low, patience):
    votes, y = draw(np.random.default_rng(4), 8, 70, 3, 0.4)
    monkeypatch.setattr(module, "_LOW", low)
    monkeypatch.setattr(module, "_PATIENCE", patience)
    assert_as_brute_force(votes, y, np.ones(70, int), search_exhaustive_votes(votes, y))


def test_of_identical_members_all_subsets_are_optimal_and_the_first_is_given():
    search = search_exhaustive_votes(np.tile([0, 1, 1, 0, 2], (14, 1)), [0, 1, 0, 1, 2])
    assert search.error_curve.tolist() == [0.4] * 14
    assert search.n_optima.tolist() == [math.comb(14, size) for size in range(1, 15)]
    assert search.subset(5).tolist() == [0, 1, 2, 3, 4]


def test_a_tie_goes_to_the_lowest_class():
    # Against class 1 a tie is won by class 0 and lost by class 2.
    assert search_exhaustive_votes([[0], [1]], [0]).error_curve.tolist() == [0, 0]
    assert search_exhaustive_votes([[2], [1]], [2]).error_curve.tolist() == [0, 1]


def test_a_subset_that_does_not_vote_is_wrong_and_an_abstention_is_no_vote_against():
    votes = [[0, -1], [-1, 0], [-1, 0]]
    search = search_exhaustive_votes(votes, [0, 0], no_vote=-1)
    assert search.error_curve.tolist() == [0.5, 0, 0]
    assert search.n_optima.tolist() == [3, 2, 1]
    assert search.subset(2).tolist() == [0, 1]


def test_unanimous_samples_count_though_no_subset_can_change_them():
    votes = np.array([[0, 1, 1, 0], [0, 1, 1, 1], [0, 1, 1, 1]])
    search = search_exhaustive_votes(votes, [0, 1, 0, 1], sample_weight=[2, 3, 4, 1])
    assert search.error_curve.tolist() == [0.4, 0.4, 0.4]
    assert search.n_optima.tolist() == [2, 1, 1]
    assert search.subset(2).tolist() == [1, 2]


def test_labels_of_any_kind():
    search = search_exhaustive_votes(
        [["no", "yes", "no"], ["no", "no", "yes"]], ["no", "yes", "no"]
    )
    assert search.error_curve.tolist() == [0, pytest.approx(1 / 3)]


# -- weights ---------------------------------------------------------------------------------------


def test_weight_three_is_three_copies_and_weight_zero_none():
    rng = np.random.default_rng(5)
    votes, y = draw(rng, 9, 60, 3, 0.4)
    weights = rng.integers(0, 4, 60)
    weighted = search_exhaustive_votes(votes, y, sample_weight=weights)
    copied = search_exhaustive_votes(np.repeat(votes, weights, axis=1), np.repeat(y, weights))
    assert weighted.error_curve.tolist() == copied.error_curve.tolist()
    assert weighted.n_optima.tolist() == copied.n_optima.tolist()
    assert [s.tolist() for s in weighted.subsets] == [s.tolist() for s in copied.subsets]


def test_huge_weights_are_summed_exactly():
    huge = 2**45
    search = search_exhaustive_votes([[0, 1], [1, 0]], [0, 0], sample_weight=[huge + 1, huge])
    assert search.subset(1).tolist() == [0]
    assert search.n_optima.tolist() == [1, 1]
    assert search.error_curve[0] == huge / (2 * huge + 1)


def test_weights_with_fractions_scale():
    votes, y = draw(np.random.default_rng(6), 8, 40, 3, 0.4)
    weights = np.random.default_rng(7).integers(1, 9, 40)
    whole = search_exhaustive_votes(votes, y, sample_weight=weights)
    shares = search_exhaustive_votes(votes, y, sample_weight=weights / 16)
    assert whole.error_curve.tolist() == shares.error_curve.tolist()


# -- threads, sizes, orders ------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", ["all", "odd"])
def test_threads_change_nothing(monkeypatch, sizes):
    monkeypatch.setattr(module, "_LOW", 6)
    monkeypatch.setattr(module, "_PATIENCE", 1e4)
    votes, y = draw(np.random.default_rng(8), 15, 40, 3, 0.4)
    one = search_exhaustive_votes(votes, y, sizes=sizes)
    two = search_exhaustive_votes(votes, y, sizes=sizes, n_jobs=2)
    assert one.error_curve.tolist() == two.error_curve.tolist()
    assert one.n_optima.tolist() == two.n_optima.tolist()
    assert [s.tolist() for s in one.subsets] == [s.tolist() for s in two.subsets]


def test_odd_sizes_are_those_of_all_sizes():
    votes, y = draw(np.random.default_rng(9), 8, 40, 2, 0.5)
    every, odd = search_exhaustive_votes(votes, y), search_exhaustive_votes(votes, y, sizes="odd")
    assert odd.sizes.tolist() == [1, 3, 5, 7]
    assert odd.error_curve.tolist() == every.error_curve[::2].tolist()
    assert odd.n_optima.tolist() == every.n_optima[::2].tolist()
    assert odd.subset(5).tolist() == every.subset(5).tolist()
    assert odd.coincidence(range(8)).tolist() == every.coincidence(range(8))[::2].tolist()


@pytest.mark.parametrize("rule", ["reduce_error", "margin_distance", "complementarity"])
def test_no_order_is_better_at_any_size(bag, rule):
    ensemble, X, y = bag
    search = search_exhaustive(ensemble, X, y)
    greedy = order(ensemble, X, y, rule=rule).error_curve
    assert (search.error_curve <= greedy).all()
    assert (search.error_curve < greedy).any()
    assert search.error_curve[-1] == greedy[-1]
    assert search.error_curve[0] == min(1 - tree.score(X, y) for tree in ensemble.estimators_)


def test_the_errors_are_those_of_the_votes_of_the_subsets(bag):
    ensemble, X, y = bag
    search = search_exhaustive(ensemble, X, y)
    votes = np.array([tree.predict(X) for tree in ensemble.estimators_], dtype=int)
    selection = read_selection(votes, y)
    for size in (1, 2, 7, 16):
        error = error_curve(selection, search.subset(size))[-1]
        assert error == search.error_curve[size - 1]
        assert round(error * 300) == wrong_weight(votes, y, [1] * 300, search.subset(size))
    assert search.error_curve.min() < search.error_curve[-1] / 1.5


def test_coincidence_by_its_definition(bag):
    ensemble, X, y = bag
    search = search_exhaustive(ensemble, X, y)
    greedy = order(ensemble, X, y, rule="reduce_error")
    matrix = search.coincidence(greedy)
    assert matrix.shape == (16, 16)
    best = search.subsets_like(greedy)
    for i in range(16):
        for j in range(16):
            assert matrix[i, j] == int(greedy.order[j] in best[i].tolist())
    assert matrix.sum(axis=1).tolist() == list(range(1, 17))
    assert matrix[0, 0] == 1
    assert (np.tril(matrix) != matrix).any()  # greedy is not optimal here


@pytest.mark.parametrize("low", [2, 11])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_of_several_best_subsets_the_one_most_like_the_order_counts(monkeypatch, low, n_jobs):
    monkeypatch.setattr(module, "_LOW", low)
    monkeypatch.setattr(module, "_PATIENCE", 1.0)
    rng = np.random.default_rng(13)
    n_others = 0
    for _ in range(6):
        votes, y = draw(rng, 7, 9, 3, 0.5)
        search = search_exhaustive_votes(votes, y)
        for greedy in (order_votes(votes, y, rule="reduce_error").order, rng.permutation(7)):
            found = [tuple(subset) for subset in search.subsets_like(greedy, n_jobs=n_jobs)]
            best = best_subsets(votes.tolist(), y.tolist(), [1] * 9)
            for size, (one, allowed) in enumerate(zip(found, best, strict=True), start=1):
                shared = [len({*greedy[:size].tolist()} & {*some}) for some in allowed.subsets]
                assert one == allowed.subsets[shared.index(max(shared))]
            n_others += found != [tuple(subset) for subset in search.subsets]
            expected = [[int(t in some) for t in greedy] for some in found]
            assert search.coincidence(greedy).tolist() == expected
    assert n_others > 6


def test_where_the_greedy_order_is_optimal_its_triangle_is_full_though_others_are_as_good():
    # All pairs and triples are right everywhere: the first of each size begin with member 0.
    votes = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 0]]
    search = search_exhaustive_votes(votes, [0, 0, 0])
    greedy = order_votes(votes, [0, 0, 0], rule="reduce_error")
    assert greedy.order.tolist() == [3, 0, 1, 2]
    assert search.n_optima[2] == 4
    assert search.subset(3).tolist() == [0, 1, 2]
    assert search.coincidence(greedy).tolist() == np.tri(4, dtype=int).tolist()


def test_subsets_of_a_rule_that_are_not_nested_are_what_the_best_are_compared_with():
    votes, y = draw(np.random.default_rng(14), 8, 8, 2, 0.5)
    made = order_votes(votes, y, rule="clustering")
    found = search_exhaustive_votes(votes, y).subsets_like(made)
    best = best_subsets(votes.tolist(), y.tolist(), [1] * 8)
    for one, allowed, kept in zip(found, best, made.subsets, strict=True):
        shared = [len({*kept.tolist()} & {*some}) for some in allowed.subsets]
        assert len({*kept.tolist()} & {*one.tolist()}) == max(shared)


def test_all_members_agree():
    search = search_exhaustive_votes(np.zeros((5, 3), int), [0, 0, 0])
    assert search.error_curve.tolist() == [0] * 5
    assert search.n_optima.tolist() == [5, 10, 10, 5, 1]


# -- progress and patience -------------------------------------------------------------------------


def test_progress_counts_subsets(capsys, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 1.0)
    votes, y = draw(np.random.default_rng(10), 14, 5, 2, 0.5)
    search_exhaustive_votes(votes, y, verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 8
    assert lines[0].startswith("Exhaustive search  2048/16384 [##------------------]  12%")
    assert lines[-1].startswith("Exhaustive search  16384/16384 [####################] 100%")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C is heard, also where the tests were started in the background, deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_a_long_search(n_jobs):
    votes, y = draw(np.random.default_rng(11), 38, 200, 3, 0.4)
    search_exhaustive_votes(votes[:3], y)  # compiled
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        search_exhaustive_votes(votes, y, n_jobs=n_jobs)
    timer.join()


@pytest.mark.usefixtures("interruptible")
def test_threads_do_not_go_on_after_an_interrupt(monkeypatch):
    n_calls = 0

    def slow(*arguments):
        nonlocal n_calls
        n_calls += 1
        time.sleep(0.01)

    monkeypatch.setattr(module.kernels, "search_part", slow)
    monkeypatch.setattr(module, "_PATIENCE", 1.0)
    monkeypatch.setattr(module, "_BLOCKS", 1)
    votes, y = draw(np.random.default_rng(12), 22, 9, 2, 0.5)  # blocks of 128 parts
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        search_exhaustive_votes(votes, y, n_jobs=2)
    timer.join()
    time.sleep(0.1)
    seen = n_calls
    assert 0 < seen < 128
    time.sleep(0.2)
    assert n_calls == seen


SCRIPT = """
import numpy as np
from orfeon.ordering.exhaustive import search_exhaustive_votes
rng = np.random.default_rng(0)
y = rng.integers(0, 3, 70)
votes = np.where(rng.random((6, 70)) < 0.5, y, rng.integers(0, 3, (6, 70)))
search = search_exhaustive_votes(votes, y, sample_weight=rng.integers(0, 5, 70))
print(search.error_curve.tolist(), search.n_optima.tolist(), [s.tolist() for s in search.subsets])
"""


@pytest.mark.tools
def test_the_kernels_run_as_plain_python_with_the_same_result(capsys):
    plain = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert plain.returncode == 0, plain.stderr
    exec(SCRIPT, {})
    assert plain.stdout == capsys.readouterr().out
    assert plain.stdout.count("[") == 9


# -- what is refused -------------------------------------------------------------------------------


def test_too_many_members_are_refused_with_the_number_of_subsets():
    with pytest.raises(ValueError, match=r"41 members.*2\.2e\+12 subsets; at most 40.*genetic"):
        search_exhaustive_votes(np.zeros((41, 2), int), [0, 0])


def test_wrong_arguments_are_refused():
    votes = [[0, 1], [1, 1]]
    with pytest.raises(ValueError, match="sizes='even' is not allowed"):
        search_exhaustive_votes(votes, [0, 1], sizes="even")
    with pytest.raises(ValueError, match=r"votes has shape \(2, 2\).*y has 3"):
        search_exhaustive_votes(votes, [0, 1, 1])
    with pytest.raises(ValueError, match="ensemble is of type list, not a fitted ensemble"):
        search_exhaustive(votes, [[1], [2]], [0, 1])
    with pytest.raises(ValueError, match="sample_weight"):
        search_exhaustive_votes(votes, [0, 1], sample_weight=[1, -1])
    with pytest.raises(ValueError, match="verbose=-1"):
        search_exhaustive_votes(votes, [0, 1], verbose=-1)


def test_regression_is_refused():
    with pytest.raises(ValueError, match="searched for votes only"):
        search_exhaustive_votes([[0.5, 1.5], [0.2, 1.0]], [0.4, 1.2])


def test_weighted_votes_are_refused_and_their_matrix_taken():
    X, y = make_waveform(60, random_state=0)
    boosted = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=4).fit(X, y)
    with pytest.raises(ValueError, match="vote with different weights"):
        search_exhaustive(boosted, X, y)
    votes = [tree.predict(X) for tree in boosted.estimators_]
    assert search_exhaustive_votes(votes, y).n_members == 4


def test_sizes_and_orders_that_do_not_fit_are_refused():
    search = search_exhaustive_votes([[0, 1], [1, 1], [0, 0]], [0, 1], sizes="odd")
    with pytest.raises(ValueError, match="size=2 was not searched; it is an odd number from 1 to"):
        search.subset(2)
    with pytest.raises(ValueError, match="size=4 was not searched"):
        search.subset(4)
    for wrong in ([0, 1], [0, 1, 1], [1, 2, 3], [[0, 1, 2]]):
        with pytest.raises(ValueError, match="each of the 3 members must be in it once"):
            search.coincidence(wrong)
