"""The published figures that the package carries."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files

import pytest
from tests.shared import path_of

from orfeon.study import (
    PROTOCOLS,
    Sizes,
    config_text,
    list_tables,
    published_cells,
    published_sizes,
)


@pytest.mark.parametrize("name", ["3_1", "3_2", "3_3", "4_1", "4_2"])
def test_the_facts_are_those_of_the_reference(name):
    ours = (files("orfeon.study") / "tables" / f"martinez_{name}.csv").read_text()
    assert ours.splitlines() == path_of(f"reference/martinez_{name}.csv").read_text().splitlines()


@pytest.mark.parametrize(
    ("table", "n_cells", "n_splits"),
    [("martinez-3.2", 10, 50), ("martinez-3.3", 60, 50), ("martinez-4.2", 165, 100)],
)
def test_every_cell_is_read_once(table, n_cells, n_splits):
    cells = published_cells(table)
    assert len(cells) == n_cells
    assert max(Counter(map(str, cells)).values()) == 1
    assert {cell.n_splits for cell in cells} == {n_splits}
    assert {cell.dataset for cell in cells} <= published_sizes(table).keys()


def test_errors_are_in_percent_whatever_was_printed():
    by_name = {str(cell): cell for cell in published_cells("martinez-3.3")}
    fraction = by_name["waveform igp_committees T=99"]
    assert (fraction.value, fraction.std, fraction.config) == (17.7, 0.52, {"T": "99"})
    by_name = {str(cell): cell for cell in published_cells("martinez-4.2")}
    percent = by_name["tic_tac_toe flipping p_hat=3/5"]
    assert (percent.value, percent.std, percent.config) == (19.1, None, {"p_hat": "3/5"})
    assert all(1 < cell.value < 40 for table in list_tables() for cell in published_cells(table))


def test_sizes_are_those_of_the_chapter():
    assert published_sizes("martinez-3.3")["sonar"] == Sizes(120, 88)
    assert published_sizes("martinez-4.2")["segment"] == Sizes(210, 2100)
    assert len(published_sizes("martinez-4.2")) == 15


def test_a_table_not_known_is_refused_with_those_that_are():
    with pytest.raises(ValueError, match=r"martinez-3\.2, .*got 'martinez-9\.9'"):
        published_cells("martinez-9.9")


@pytest.mark.parametrize("table", list_tables())
def test_all_methods_but_boosting_can_be_run(table):
    published = {(cell.method, config_text(cell.config)) for cell in published_cells(table)}
    covered = [
        (run.method, config_text(config)) for run in PROTOCOLS[table].runs for config in run.configs
    ]
    assert len(set(covered)) == len(covered)
    assert {method for method, _ in published - set(covered)} <= {"boosting"}
    assert set(covered) <= published
