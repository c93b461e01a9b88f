"""Errors at all sizes, and the size at which their mean is least."""

from __future__ import annotations

import pytest

from orfeon.workbench import Reproduction
from orfeon.workbench.reproduction import Curve, PublishedCell, Record, best_size


def test_errors_are_exact_percentages():
    curve = Curve((100, 73, 0), 300)
    assert [curve.percent(size) for size in (1, 2, 3)] == [33.3333333333, 24.3333333333, 0.0]
    for size in (0, 4, -1):
        with pytest.raises(ValueError, match=f"size must be from 1 to 3, got {size}"):
            curve.percent(size)


@pytest.mark.parametrize("wrong", [(), (-1, 2), (2, 11)])
def test_impossible_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match=r"wrong must hold numbers from 0 to n_samples=10"):
        Curve(wrong, 10)


def test_the_best_size_is_that_of_the_mean_not_the_mean_of_the_best():
    """Alone the splits are best at 1 and at 7, together at 5."""
    one, other = Curve((1, 9, 8, 9, 3, 9, 9), 10), Curve((9, 9, 8, 9, 3, 9, 2), 10)
    assert [best_size([one]), best_size([other]), best_size([one, other])] == [1, 7, 5]


def test_even_sizes_do_not_count():
    assert best_size([Curve((5, 0, 4, 0, 4, 0), 10)]) == 3


def test_the_smallest_of_equally_good_sizes_is_taken():
    """Means of fractions would differ in their last digit: 0.1 + 0.2 and 0.3 + 0.0."""
    curves = [Curve((9, 9, 3, 9, 1), 10), Curve((9, 9, 0, 9, 2), 10)]
    assert best_size(curves) == best_size(curves[::-1]) == 3


def test_curves_of_different_ensembles_are_refused():
    for others in ([Curve((1, 2, 3), 10)], [Curve((1, 2), 11)]):
        with pytest.raises(ValueError, match="curves must all have the same members and samples"):
            best_size([Curve((1, 2), 10), *others])
    with pytest.raises(ValueError, match="there must be one at least"):
        best_size([])


def test_errors_of_a_cell_are_those_at_the_best_size_of_the_mean():
    cell = PublishedCell(
        "martinez-5.4", "diabetes", "reduce_error", {"initial_size": "11"}, 24.9, None, 100
    )
    curves = [Curve((70, 0, 61, 0, 63), 250), Curve((60, 0, 59, 0, 59), 250)]
    records = tuple(
        Record(*("martinez-5.4", "diabetes", "reduce_error"), {"initial_size": "11"}, 1000, split,
               curve, seconds=0.0)
        for split, curve in enumerate(curves)
    )  # fmt: skip
    found = Reproduction((cell,), records)
    assert found.values(cell) == {0: 24.4, 1: 23.6}
    assert found.kept(cell) == (3, 60.0)
    (comparison,) = found.comparisons
    assert comparison.mean == pytest.approx(24.0)
    assert comparison.std == pytest.approx(0.8 / 2**0.5)
    assert comparison.agrees
    line = str(found).splitlines()[1]
    assert " ".join(line.split()).endswith("24.0 ± 0.6 24.9 -0.9 1.0 agrees 3 (60.0%)")
