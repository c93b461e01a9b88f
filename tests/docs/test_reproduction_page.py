"""The page of reproduced tables: its totals are the sums of its rows, and every table has one."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from orfeon.workbench import PROTOCOLS

PAGE = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text(encoding="utf-8")
P_VALUES = ("martinez-3.4", "martinez-3.5", "martinez-4.4", "martinez-5.9")
TIMES = ("martinez-3.7", "martinez-5.10")


def rows():
    """Table, agreeing cells and all cells of each row."""
    found = re.findall(r"^\| \[([\w.-]+)\]\(.*\| ([\d,]+) of ([\d,]+)\D*$", PAGE, re.MULTILINE)
    return [(name, *(int(n.replace(",", "")) for n in pair)) for name, *pair in found]


def kind(table):
    if table in P_VALUES:
        return "Martínez-Muñoz, p-values"
    if table in TIMES:
        return "Martínez-Muñoz, times"
    return {"martinez": "Martínez-Muñoz", "cantador": "Cantador", "recarey": "Recarey"}.get(
        table.partition("-")[0]
    )


def test_every_table_has_a_row():
    assert set(re.findall(r"^\| \[([\w.-]+)\]\(", PAGE, re.MULTILINE)) == set(PROTOCOLS)


def test_totals_are_the_sums_of_the_rows():
    agreeing, cells = Counter(), Counter()
    for table, n_agreeing, n_cells in rows():
        agreeing[kind(table)] += n_agreeing
        cells[kind(table)] += n_cells
    section = PAGE.partition("## Totals, by document")[2].partition("\n## ")[0]
    printed = re.findall(
        r"^\| (\S.*?) \|.*\| ([\d,]+) of ([\d,]+), (\d+)% \|$", section, re.MULTILINE
    )
    assert len(printed) == 5
    for name, *numbers in printed:
        n_agreeing, n_cells, percent = (int(number.replace(",", "")) for number in numbers)
        assert (n_agreeing, n_cells) == (agreeing[name], cells[name]), name
        assert percent == int(100 * n_agreeing / n_cells)
