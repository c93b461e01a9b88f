"""Records of wins, counted from errors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orfeon.workbench import Reproduction, reproduce
from orfeon.workbench.reproduction import Record, published_cells
from orfeon.workbench.reproduction.published import WinRecord, published_records
from orfeon.workbench.reproduction.win_table import count_wins, name_of, pair_records

SOURCE = "martinez-4.2"


def published_errors() -> dict[str, dict[str, float]]:
    errors: dict[str, dict[str, float]] = {}
    for cell in published_cells(SOURCE):
        errors.setdefault(name_of(cell), {})[cell.dataset] = cell.value
    return errors


def test_the_published_records_follow_from_the_published_errors():
    records, errors = published_records(), published_errors()
    assert len(records) == 110
    counted = {pair: count_wins(errors[pair[0]], errors[pair[1]]) for pair in records}
    off = {
        pair: (counted[pair], records[pair]) for pair in records if counted[pair] != records[pair]
    }
    assert off == {}


def reproduction(errors: dict[str, dict[str, list[float]]]) -> Reproduction:
    cells = tuple(
        cell
        for cell in published_cells(SOURCE)
        if name_of(cell) in errors and cell.dataset in errors[name_of(cell)]
    )
    records = tuple(
        Record(SOURCE, cell.dataset, cell.method, cell.config, 1000, split, error, 0.0)
        for cell in cells
        for split, error in enumerate(errors[name_of(cell)][cell.dataset])
    )
    return Reproduction(cells, records, table="martinez-4.3")


def test_methods_that_are_printed_alike_draw():
    assert count_wins({"a": 4.04, "b": 5.0}, {"a": 3.96, "b": 6.0}) == WinRecord(1, 1, 0)


def test_a_record_agrees_unless_a_data_set_clearly_changes_sides():
    """Published on wine: 6.4 for bagging and 4.1 for boosting."""
    published = published_errors()
    gap = published["bagging"]["wine"] - published["boosting"]["wine"]
    assert gap == pytest.approx(2.3)
    for ours, agrees in ((gap, True), (0.0, False), (-1.0, False)):
        found = reproduction(
            {"bagging": {"wine": [5.0 + ours, 6.0 + ours]}, "boosting": {"wine": [5.0, 6.0]}}
        )
        (pair,) = pair_records(found)
        assert pair.agrees is agrees
        assert pair.published == WinRecord(1, 0, 0)  # of boosting, which the table has first
        assert pair.ours.wins == (ours > 0)
    # The same change, but so uncertain that it may be chance.
    found = reproduction({"bagging": {"wine": [5.0, 15.0]}, "boosting": {"wine": [11.0, 9.0]}})
    (pair,) = pair_records(found)
    assert (pair.changed, pair.clearly_changed) == (("wine",), ())


def test_the_table_rests_on_the_fits_of_another(tmp_path):
    store = tmp_path / "fits.db"
    options = {"datasets": ["waveform"], "methods": ["c45", "bagging"], "n_splits": 2}
    errors = reproduce(SOURCE, quick=True, store=store, **options)
    found = reproduce(
        "martinez-4.3", quick=True, store=store, **options,
        progress=lambda *_: pytest.fail("run again"),
    )  # fmt: skip
    assert found.records == errors.records
    text = str(found)
    assert text.startswith(
        "Wins/draws/losses on 1 data sets, and on how many the winner is not the"
    )
    assert "c45     bagging  0/0/1      0/0/1        0  not comparable" in text
    assert "1 records are not comparable: they were run with fewer members" in text
    whole = str(replace(found, reduced=frozenset()))
    assert "c45     bagging  0/0/1      0/0/1        0  agrees" in whole
    assert whole.endswith("1 of 1 records agree.")
    (line,) = found.to_dict()["cells"]
    assert (line["method"], line["versus"], line["losses"]) == ("c45", "bagging", 1)
