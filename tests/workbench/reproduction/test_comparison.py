"""The rule that says whether a cell agrees."""

from __future__ import annotations

import math
from typing import Any

import pytest

from orfeon.workbench import Comparison
from orfeon.workbench.reproduction import (
    PublishedCell,
    comparison_table,
    paired_difference,
    summary,
)


def cell(value: float = 20.0, std: float | None = 4.0, n_splits: int = 100) -> PublishedCell:
    return PublishedCell("martinez-4.2", "wine", "bagging", {"T": "9"}, value, std, n_splits)


def test_standard_error_of_the_difference_of_two_means():
    ours = Comparison(cell(std=4.0, n_splits=100), 21.0, 3.0, 25)
    assert ours.standard_error == pytest.approx(math.sqrt(9 / 25 + 16 / 100))
    assert ours.tolerance == pytest.approx(2 * math.sqrt(0.52))
    assert ours.difference == 1.0


def test_a_point_is_always_tolerated():
    exact: dict[str, Any] = {"std": 0.1, "n_splits": 100}
    assert Comparison(cell(std=0.1), 21.0, **exact).agrees
    assert Comparison(cell(std=0.1), 19.0, **exact).agrees
    assert not Comparison(cell(std=0.1), 21.001, **exact).agrees
    assert not Comparison(cell(std=0.1), 18.999, **exact).agrees


def test_a_difference_of_exactly_the_tolerance_agrees_despite_rounding():
    assert 8.3 - 7.3 > 1.0
    assert Comparison(cell(7.3, 0.1), 8.3, 0.1, 100).agrees
    assert Comparison(cell(20.0, 8.0, 64), 20.0 + 2 * math.sqrt(2), 8.0, 64).agrees
    assert not Comparison(cell(20.0, 8.0, 64), 20.001 + 2 * math.sqrt(2), 8.0, 64).agrees


def test_a_deviation_not_printed_is_like_ours_over_the_published_splits():
    ours = Comparison(cell(std=None, n_splits=100), 20.0, 5.0, 4)
    assert ours.standard_error == pytest.approx(5 * math.sqrt(1 / 4 + 1 / 100))


def test_a_single_split_borrows_the_printed_deviation():
    ours = Comparison.of(cell(std=4.0, n_splits=100), [27.0])
    assert (ours.std, ours.n_splits) == (None, 1)
    assert ours.standard_error == pytest.approx(4 * math.sqrt(1 + 1 / 100))
    assert ours.agrees
    assert Comparison.of(cell(std=None), [21.5]).tolerance == 1.0


def test_no_spread_is_not_an_unknown_spread():
    ours = Comparison.of(cell(std=4.0, n_splits=100), [20.0, 20.0])
    assert ours.std == 0.0
    assert ours.standard_error == pytest.approx(0.4)


def test_mean_and_deviation_over_the_splits():
    ours = Comparison.of(cell(), [19.0, 22.0, 25.0])
    assert (ours.mean, ours.std, ours.n_splits) == (22.0, 3.0, 3)


@pytest.mark.parametrize(("mean", "n_splits"), [(math.nan, 3), (math.inf, 3), (20.0, 0)])
def test_what_is_no_result_is_refused(mean, n_splits):
    with pytest.raises(ValueError, match="must be"):
        Comparison(cell(), mean, 1.0, n_splits)
    with pytest.raises(ValueError, match="at least one split"):
        Comparison.of(cell(), [])


def test_paired_differences_are_of_common_splits():
    found = paired_difference({0: 3.0, 1: 5.0, 2: 10.0, 7: 1.0}, {2: 4.0, 1: 3.0, 0: 2.0, 8: 9.0})
    assert found.mean == pytest.approx(3.0)
    assert found.standard_error == pytest.approx(math.sqrt(7 / 3))
    assert found.n_splits == 3
    with pytest.raises(ValueError, match=r"at least two splits .* got 1"):
        paired_difference({0: 1.0, 1: 2.0}, {1: 3.0})


def test_measures_are_named_and_their_standard_errors_shown():
    g = PublishedCell("cantador-6.3.1", "glass", "pp", {}, 90.4, 1.6, 10, metric="g", n_folds=10)
    accuracy = PublishedCell(
        "cantador-6.4.1", "glass", "mlp", {}, 88.0, None, 10, metric="acc+", n_folds=10
    )
    cells = [Comparison(g, 91.0, 1.2, 5), Comparison(accuracy, 80.0, 2.0, 1)]
    header, first, second = (" ".join(line.split()) for line in comparison_table(cells).split("\n"))
    assert header == (
        "dataset method config metric repetitions ours published difference standard error "
        "tolerance"
    )
    error = math.sqrt(1.2**2 / 5 + 1.6**2 / 10)
    assert first == f"glass pp g 5 91.0 ± 1.2 90.4 ± 1.6 +0.6 {error:.2f} {2 * error:.1f} agrees"
    error = 2 * math.sqrt(1 + 1 / 10)
    assert second == f"glass mlp acc+ 1 80.0 ± 2.0 88.0 -8.0 {error:.2f} {2 * error:.1f} DIFFERS"
    assert summary(cells).splitlines()[1] == "Differs: glass mlp acc+, 80.0 instead of 88.0."


def test_the_table_says_what_agrees_and_what_does_not():
    cells = [Comparison(cell(std=None), 20.4, 1.0, 10), Comparison(cell(), 30.0, 1.0, 10)]
    header, agreeing, differing = comparison_table(cells).splitlines()
    assert header.split()[:4] == ["dataset", "method", "config", "splits"]
    expected = "wine bagging T=9 10 20.4 ± 1.0 20.0 +0.4 1.0 agrees"
    assert " ".join(agreeing.split()) == expected
    assert differing.endswith("DIFFERS")
    assert summary(cells).splitlines() == [
        "1 of 2 cells agree.",
        "Differs: wine bagging T=9, 30.0 instead of 20.0.",
    ]
    assert summary([]) == "0 of 0 cells agree."
