"""Tests of significance over our splits, beside the published ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from orfeon.workbench import Reproduction, reproduce
from orfeon.workbench.reproduction import Record, published_cells
from orfeon.workbench.reproduction.significance import significance_text

CART = [30.0, 28.0, 33.0, 29.0, 31.0, 27.0]
IGP = [29.0, 27.5, 31.0, 28.5, 29.5, 26.5]


def trees(dataset: str, cart: list[float], igp: list[float]) -> Reproduction:
    table = "martinez-3.2"
    return Reproduction(
        tuple(cell for cell in published_cells(table) if cell.dataset == dataset),
        tuple(
            Record(table, dataset, method, {}, 1, split, error, 0.0)
            for method, errors in (("cart", cart), ("igp_tree", igp))
            for split, error in enumerate(errors)
        ),
    )


def test_p_values_are_those_of_the_paired_t_test():
    (test,) = trees("german", CART, IGP).significance
    assert test.p_value == pytest.approx(stats.ttest_rel(IGP, CART).pvalue)
    assert test.difference == pytest.approx(np.mean(IGP) - np.mean(CART))
    # 600 to train and 400 to test: the variance is 1/6 + 4/6 instead of 1/6.
    statistic = stats.ttest_rel(IGP, CART).statistic / np.sqrt(5)
    assert test.corrected_p_value == pytest.approx(2 * stats.t.sf(abs(statistic), 5))
    assert (test.published_p_value, test.level) == (0.0061, 0.005)


def test_splits_of_a_synthetic_problem_share_nothing():
    (test,) = trees("waveform", CART, IGP).significance
    assert test.corrected_p_value == test.p_value


def test_a_verdict_agrees_with_the_published_one_or_not():
    (alike,) = trees("german", 3 * CART, 3 * CART[::-1]).significance
    assert (alike.verdict(alike.p_value), alike.agrees) == ("alike", True)
    better = trees("german", 3 * CART, 3 * [error - 2 - 0.01 * error for error in CART])
    (test,) = better.significance
    assert (test.verdict(test.p_value), test.agrees) == ("better", False)
    assert "0 of 1 verdicts match the published ones." in str(better)
    (few,) = trees("german", CART, CART[::-1]).significance
    assert few.agrees is None  # with so few splits hardly anything is significant
    (worse,) = trees("german", [error - 2 - 0.01 * error for error in CART], CART).significance
    assert worse.verdict(worse.p_value) == "worse"


def test_one_split_has_no_test():
    found = trees("german", CART[:1], IGP[:1])
    assert found.significance == []
    assert "t-tests" not in str(found)


def test_where_no_p_values_are_printed_verdicts_are_counted():
    found = reproduce("martinez-3.3", datasets=["waveform"], n_splits=2, quick=True)
    tests = {(test.rival, test.method, test.config): test for test in found.significance}
    # With T = 1, 9 and 99 against bagging, with 9 and 99 against boosting.
    assert len(tests) == 9 + 8
    assert tests["bagging", "igp_committees", "T=99"].published_p_value is None
    assert tests["bagging", "igp_committees", "T=99"].agrees is None
    text = significance_text(found.significance)
    assert text.count("Number of data sets, of 1:") == 2
    lines = [line.split() for line in text.splitlines() if line.startswith("igp_committees")]
    assert all(sum(map(int, line[2:5])) == 1 for line in lines)
    assert len(found.to_dict()["significance"]) == 17
