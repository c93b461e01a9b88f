"""Functions of rows in threads: all parts once, in order, whoever computes them."""

from __future__ import annotations

import threading
import time

import pytest

from orfeon.utils.row_threads import PART, SMALL_PART, RowThreads, even_size


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("n_rows", [1, 7, 8, 50])
def test_each_part_is_computed_once_and_the_results_are_in_order(n_threads, n_rows):
    seen = []

    def last(part):
        seen.append(part.start)
        time.sleep(1e-4)
        return part.stop

    results = RowThreads(n_threads).map(last, n_rows, 4)
    assert results == [min(k + 4, n_rows) for k in range(0, n_rows, 4)]
    assert sorted(seen) == list(range(0, n_rows, 4))


def test_the_caller_is_one_of_the_threads_and_waits_for_the_others():
    threads, both_there = set(), threading.Barrier(2, timeout=10)

    def meet(part):
        threads.add(threading.get_ident())
        both_there.wait()  # one thread alone would never get past the first part

    RowThreads(2).map(meet, 2, 1)
    assert len(threads) == 2
    assert threading.get_ident() in threads


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_what_is_computed_row_by_row_is_shared_evenly(n_threads):
    n_rows, seen = 100_000, []
    RowThreads(n_threads).each(seen.append, n_rows)
    parts = sorted(seen, key=lambda part: part.start)
    assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
    assert (parts[0].start, parts[-1].stop) == (0, n_rows)
    sizes = {part.stop - part.start for part in parts[:-1]}
    assert sizes == {even_size(n_rows, n_threads)}
    assert n_threads == 1 or 2 * n_threads - 1 <= len(parts) <= 2 * n_threads
    # NumPy computes a row in the same way, wherever its part begins.
    assert all(part.start % 4096 == 0 for part in parts)
    assert even_size(10_000_000, n_threads) == (SMALL_PART if n_threads == 1 else PART)


@pytest.mark.parametrize("bad", range(6))
def test_an_error_of_any_part_is_raised_and_ends_the_work(bad):
    def work(part):
        if part.start == bad:
            raise ValueError(f"part {bad}")
        time.sleep(1e-4)

    with pytest.raises(ValueError, match=f"part {bad}"):
        RowThreads(2).map(work, 6, 1)
