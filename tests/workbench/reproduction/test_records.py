"""What a store keeps of a fit, and what is read back."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from orfeon.errors import UserError
from orfeon.workbench.reproduction import Cell, Curve, FoldOutcome, Record
from orfeon.workbench.reproduction.results import (
    cell_name,
    decode_result,
    encode_result,
    records_of,
)
from orfeon.workbench.store import RunRow

FIRST = Record("martinez-3.3", "waveform", "bagging", {"T": "9"}, 99, 0, 24.12, 0.5)
OTHERS = [
    replace(FIRST, split=1),
    replace(FIRST, config={"T": "99"}),
    replace(FIRST, members=9),
    replace(FIRST, method="igp_ensemble"),
    replace(FIRST, table="martinez-4.2"),
    replace(FIRST, dataset="glass"),
]
RESULTS = [
    24.12,
    FoldOutcome(2, 3, 17, 18, 193, 50),
    FoldOutcome(2, 3, 17, 18, 193),
    Curve((3, 2, 1), 4),
    {"n_leaves": 5.0, "training_errors": 2.0},
]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_results_come_back_as_they_were(result):
    assert decode_result(json.loads(json.dumps(encode_result(result)))) == result


def test_a_row_gives_the_records_of_all_its_cells():
    cells = [Cell("martinez-5.7", "bagging", "keep=100%"), Cell("martinez-5.8", "bagging", "")]
    row = RunRow(
        "wine/bag/200/0007",
        {"dataset": "wine", "members": 200, "split": 7},
        5,
        {cell_name(cell): error for cell, error in zip(cells, (3.0, 6.5), strict=True)},
        1.25,
    )
    assert list(records_of(row)) == [
        Record("martinez-5.7", "wine", "bagging", {"keep": "100%"}, 200, 7, 3.0, 1.25),
        Record("martinez-5.8", "wine", "bagging", {}, 200, 7, 6.5, 1.25),
    ]


@pytest.mark.parametrize(
    ("configuration", "result"),
    [
        ({}, {"martinez-3.2 cart": 3.0}),
        ({"dataset": "wine", "members": 1, "split": 0}, {"alone": 3.0}),
        ({"dataset": "wine", "members": 1, "split": 0}, {"a b": {"curve": {"wrong": [1]}}}),
        ({"dataset": "wine", "members": 1, "split": 0}, {"a b": {"something": 1}}),
        ({"dataset": "wine", "members": 1, "split": 0}, {"a b": None}),
    ],
)
def test_a_foreign_row_is_refused(configuration, result):
    with pytest.raises(
        UserError, match="row 'a key' of the store was not written by a reproduction"
    ):
        list(records_of(RunRow("a key", configuration, 0, result, 1.0)))


def test_keys_tell_records_apart():
    assert len({record.key for record in (FIRST, *OTHERS)}) == 7
    assert replace(FIRST, result=1.0, seconds=9.0).key == FIRST.key


def test_errors_are_those_of_all_members_or_of_all_samples():
    of_curve, of_fold = replace(FIRST, result=RESULTS[3]), replace(FIRST, result=RESULTS[1])
    assert (of_curve.error, of_curve.curve, of_curve.outcome) == (25.0, RESULTS[3], None)
    assert (of_fold.error, of_fold.curve, of_fold.outcome) == (
        pytest.approx(100 * 2 / 21), None, RESULTS[1],
    )  # fmt: skip
    assert math.isnan(replace(FIRST, result=RESULTS[4]).error)
