"""What a report says: parts are plain, and what cannot be shown is refused with its name."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from orfeon.workbench.report.content_types import (
    Axis,
    BarChart,
    Bars,
    Box,
    Column,
    Content,
    Line,
    Mark,
    Matrix,
    Points,
    Reference,
    Section,
    Table,
    Text,
)


def test_arrays_become_plain_numbers_and_what_is_not_finite_none() -> None:
    line = Line("a", np.arange(3), np.array([1.5, np.nan, -np.inf]), group=2)
    assert line.x == (0.0, 1.0, 2.0)
    assert line.y == (1.5, None, None)
    assert all(type(value) is float for value in line.x)


def test_cells_of_a_table_are_plain_too() -> None:
    columns = [Column("a"), Column("b", "number"), Column("c", "estimate")]
    table = Table("", "", columns, [[7, np.int64(3), (np.float32(0.5), math.nan, 1)]])
    assert table.rows == (("7", 3.0, (0.5, None, 1.0)),)


def test_a_cumulative_curve_ends_at_one_and_counts_ties_once() -> None:
    line = Line.cumulative("m", [3, 1, None, 1, 2])
    assert (line.x, line.y) == ((1.0, 2.0, 3.0), (0.5, 0.75, 1.0))
    assert Line.cumulative("nothing", []).x == ()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Line("a", [1, 2], [1]), "y has 1 values and x has 2; they must match."),
        (lambda: Line("a", [1], [1], low=[0]), "high has 0 values and low has 1"),
        (lambda: Points("a", [1], [1], labels=["b", "c"]), "labels has 2 values and x has 1"),
        (lambda: Box("a", [1], labels=["b", "c"]), "labels has 2 values and values has 1"),
        (lambda: Bars("a", [1], high=[1]), "high has 1 values and low has 0"),
        (lambda: BarChart("", "", Axis(""), ["a"], [Bars("", [1, 2])]), "series[0].values has 2"),
        (lambda: Matrix("", "", ["a"], ["b"], [[1, 2]], "", ""), "1 rows of 1 values"),
        (
            lambda: Axis("a", scale="root"),
            "scale='root' is not allowed; use one of 'linear', 'log'",
        ),  # type: ignore[arg-type]
        (lambda: Column("a", kind="date"), "kind='date' is not allowed"),  # type: ignore[arg-type]
        (lambda: Mark("a", 1, math.nan), "is not a point; both must be finite"),
        (lambda: Reference("a", math.inf), "value is not finite"),
        (lambda: Section("two words", ""), "id='two words' is not allowed"),
        (lambda: Section("", ""), "id='' is not allowed"),
        (lambda: Content("", sections=[Section("a", ""), Section("a", "")]), "the id 'a' twice"),
        (
            lambda: Table("", "", [Column("range", "interval")], [[(1, 2, 3)]]),
            "column 'range': cell=(1, 2, 3) is not allowed; use 2 numbers, or None.",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(build: object, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        build()  # type: ignore[operator]


def test_words_are_no_numbers() -> None:
    with pytest.raises(TypeError, match=re.escape("values[1]='high' is not a number")):
        Box("a", [1.0, "high"])  # type: ignore[list-item]


def test_parts_cannot_be_changed_afterwards() -> None:
    with pytest.raises(AttributeError):
        Text(["a"]).paragraphs = ()  # type: ignore[misc]
