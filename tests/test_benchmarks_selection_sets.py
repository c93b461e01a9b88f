"""The comparison of what members are ordered by."""

from __future__ import annotations

import pytest
from benchmarks.selection_sets import ORDERED_BY, line, main

pytestmark = pytest.mark.tools


def _errors(*errors):
    return {on: dict(enumerate(pair)) for on, pair in zip(ORDERED_BY, errors, strict=True)}


def test_a_row_has_the_mean_error_and_paired_differences():
    found = [
        _errors((10, 12), (11, 15), (9, 11)),
        _errors((20, 22), (20, 22), (20, 24)),
    ]
    assert line("bag", found) == "| bag | 16.0 | +1.00 ± 0.50 | +0.00 ± 0.50 |"


def test_the_command_prints_a_row_for_each_ensemble(capsys, monkeypatch):
    monkeypatch.delenv("ORFEON_DATA", raising=False)
    assert main(["--splits", "2", "--members", "10"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "A fifth of 10 members on waveform; 2 splits."
    assert [row.split(" | ")[0] for row in lines[4:]] == [
        "| bagging, pruned trees", "| random forest", "| bagging, unpruned trees",
    ]  # fmt: skip


def test_one_split_is_too_few(capsys):
    with pytest.raises(SystemExit):
        main(["--splits", "1"])
    assert "--splits must be 2 or more, got 1" in capsys.readouterr().err
