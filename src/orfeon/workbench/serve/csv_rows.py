"""Rows in CSV: a header, then one line per row.

Not read by pandas, which takes more than fifty times as long for a single row.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from orfeon.utils.text import some_of
from orfeon.workbench.serve.columns import ColumnReader
from orfeon.workbench.serve.errors import RequestError, shown
from orfeon.workbench.serve.json_rows import missing_columns, too_many_rows

_DELIMITERS = (",", ";", "\t")


def read_csv(body: bytes, columns: Sequence[ColumnReader], max_rows: int) -> list[list[Any]]:
    """The cells of each column."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError(
            400, "bad_csv", f"The body is not UTF-8: byte {error.start} is invalid."
        ) from None
    header = text.lstrip().split("\n", 1)[0]
    if not header:
        raise RequestError(400, "bad_csv", "The body is empty; a header and rows are needed.")
    delimiter = max(_DELIMITERS, key=header.count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(line for line in lines if line)]
        places = _places(names, columns)
        return _cells(lines, len(names), places, columns, max_rows)
    except StopIteration:
        raise RequestError(400, "bad_csv", "The body has no header.") from None
    except csv.Error as error:
        raise RequestError(
            400, "bad_csv", f"The body is not valid CSV: {error}, line {lines.line_num}."
        ) from None


def _places(names: list[str], columns: Sequence[ColumnReader]) -> list[int]:
    position: dict[str, int] = {}
    twice = [name for at, name in enumerate(names) if position.setdefault(name, at) != at]
    wanted = {column.name for column in columns}
    unclear = [name for name in twice if name in wanted]
    if unclear:
        raise RequestError(
            400, "bad_csv", f"The header has {some_of(map(shown, unclear), 5)} more than once.",
            column=unclear[0],
        )  # fmt: skip
    absent = [column.name for column in columns if column.name not in position]
    if absent:
        raise missing_columns(absent, names)
    return [position[column.name] for column in columns]


def _cells(
    lines: Any, width: int, places: list[int], columns: Sequence[ColumnReader], max_rows: int
) -> list[list[Any]]:
    cells: list[list[Any]] = [[] for _ in columns]
    readers = [
        (column.cell, place, into)
        for column, place, into in zip(columns, places, cells, strict=True)
    ]
    row = 0
    for line in lines:
        # An empty line is skipped, unless rows have one cell, which may be empty.
        if not line and width > 1:
            continue
        if row == max_rows:
            raise too_many_rows(row + 1 + sum(1 for _ in lines), max_rows)
        if len(line) != width and line:
            raise RequestError(
                400, "bad_csv",
                f"Row {row} has {len(line)} cells; the header has {width}.", row=row,
            )  # fmt: skip
        for read, place, into in readers:
            into.append(read(line[place] if line else "", row))
        row += 1
    if not row:
        raise RequestError(422, "no_rows", "The body has a header but no rows.")
    return cells
