"""Rules of agreement other than that of errors."""

from __future__ import annotations

import pytest

from orfeon.workbench import Comparison
from orfeon.workbench.reproduction import PublishedCell
from orfeon.workbench.reproduction.comparison import report_cells
from orfeon.workbench.reproduction.rules import Factor, Within


def compared(value: float, ours: float, rule) -> Comparison:
    cell = PublishedCell("martinez-3.7", "waveform", "bagging", {}, value, None, 1, metric="ratio")
    return Comparison(cell, ours, None, 1, rule=rule)


@pytest.mark.parametrize(
    ("ours", "agrees"), [(2.0, True), (8.0, True), (1.99, False), (8.01, False), (0.0, False)]
)
def test_neither_figure_is_more_than_the_factor_times_the_other(ours, agrees):
    assert compared(4.0, ours, Factor(2, "")).agrees is agrees


def test_figures_within_a_number_agree():
    assert compared(1.0, 1.25, Within(0.25, "", 2)).agrees
    assert not compared(1.0, 1.26, Within(0.25, "", 2)).agrees
    assert not compared(1.0, 0.7, Within(0.25, "", 2)).agrees


def test_rules_are_told_once_each_and_shown_with_their_decimals():
    rules = [Factor(2, "By a factor."), Factor(2, "By a factor."), Within(0, "Equal.")]
    report = report_cells([compared(4.0, 5.0, rule) for rule in rules])
    assert report.n_agreeing == 2
    lines = report.text.splitlines()
    assert lines[1].split()[-4:] == ["+1.00", "0.00", "x2", "agrees"]
    assert lines[3].split()[-4:] == ["+1", "0.00", "0", "DIFFERS"]
    assert lines[5:8] == ["By a factor.", "Equal.", "2 of 3 cells agree."]
