"""The benchmark of coverage."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import coverage

pytestmark = pytest.mark.tools


def test_a_problem_has_a_line_for_each_method(monkeypatch):
    monkeypatch.setattr(coverage, "_PEERS", {})
    problems = {one.name: one for one in coverage.problems(quick=True)}
    few = {name: problems[name] for name in ("friedman1", "unbalanced")}
    found = [line for one in few.values() for line in coverage._measure(one, quick=True)]
    assert [line.case for line in found] == [
        "friedman1: jackknife", "friedman1: residuals", "friedman1: quantile",
        "unbalanced: sets", "unbalanced: sets, by class", "unbalanced: sets, randomized",
    ]  # fmt: skip
    assert all(0.8 < line.figure <= 1.0 and line.detail["width"] > 1 for line in found)


def test_coverage_and_width_by_hand():
    found = coverage._of_interval(np.array([[0.0, 2.0], [0.0, 4.0]]), np.array([1.0, 5.0]), 0.5)
    assert found == (0.5, 3.0, 0.5)
