r"""ARFF files: a header that declares the columns, then dense or sparse rows.

Read by hand, at the same speed: liac-arff rejects dates, row weights, undeclared levels, repeated
names and headers without a relation, truncates 2.5 in an integer column, and fails on some damaged
files with errors of Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heappush, heappushpop
from typing import Any

import numpy as np

from orfeon.errors import UserError

_DECLARATION = re.compile(
    r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.*)""", re.IGNORECASE
)
_CELL = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*?)\s*(,|$)""")
_SPARSE = re.compile(r"""\s*(\d+)\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*?)\s*(,|$)""")
_QUOTES = ("'", '"')
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
#: Date formats: Java's letters, and Python's.
_JAVA = {
    "yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S",
    "MMM": "%b", "a": "%p", "hh": "%I", "SSS": "%f",
}  # fmt: skip


@dataclass(frozen=True)
class ArffColumn:
    name: str
    kind: str
    levels: tuple[str, ...] = ()
    date_format: str | None = None


def parse_declaration(line: str) -> ArffColumn:
    match = _DECLARATION.match(line)
    if match is None:
        raise UserError(f"cannot parse the declaration {line[:60]!r}")
    name, rest = _unquoted(match.group(1)), match.group(2).strip()
    if rest.startswith("{"):
        inside = rest[1 : rest.rfind("}")] if "}" in rest else rest[1:]
        return ArffColumn(name, "nominal", tuple(cell or "" for cell in _cells(inside)))
    kind, _, form = rest.partition(" ")
    kind = kind.lower()
    if kind in ("numeric", "real", "integer"):
        return ArffColumn(name, "number")
    if kind == "date":
        return ArffColumn(name, "date", date_format=_python_format(_unquoted(form.strip())))
    if kind == "string":
        return ArffColumn(name, "string")
    raise UserError(
        f"column {name!r} has type {kind!r}; numeric, nominal, string and date are supported"
    )


def _python_format(java: str) -> str:
    if not java:
        return "ISO8601"
    form = re.sub(r"'([^']*)'", r"\1", java)
    return re.sub(r"yyyy|yy|MMM|MM|dd|HH|hh|mm|SSS|ss|a", lambda m: _JAVA[m.group()], form)


def _unquoted(word: str) -> str:
    if len(word) >= 2 and word[0] == word[-1] and word[0] in _QUOTES:
        return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m.group(1), m.group(1)), word[1:-1])
    return word


def _is_quoted(word: str) -> bool:
    return len(word) >= 2 and word[0] == word[-1]


def _cells(line: str) -> list[str | None]:
    """The cells of a dense row; None where missing."""
    if "'" not in line and '"' not in line:
        plain = [cell.strip() for cell in line.split(",")]
        return [None if cell in ("?", "") else cell for cell in plain]
    cells: list[str | None] = []
    position = 0
    while True:
        match = _CELL.match(line, position)
        if match is None or (match.group(1)[:1] in _QUOTES and not _is_quoted(match.group(1))):
            raise UserError(f"cannot parse the row {line[:60]!r}")
        cell = match.group(1)
        cells.append(None if cell in ("?", "") else _unquoted(cell))
        if not match.group(2):
            return cells
        position = match.end()


def read_arff(lines: Iterable[str], *, rows: int | None = None, random_state: int = 0) -> Any:
    """Read an ARFF file, or a random sample of its rows, in their order."""
    every = iter(lines)
    columns = _header(every)
    kept, n_rows = _sample(_rows(every, columns), rows, random_state)
    frame = _frame(columns, kept)
    if rows is not None and rows < n_rows:
        frame.attrs["notes"] = [f"A random sample of {rows} of its {n_rows} rows was read."]
    return frame


def _sample(
    rows: Iterable[list[str | None]], size: int | None, random_state: int
) -> tuple[list[list[str | None]], int]:
    """Draw rows from a stream and count it; memory holds only the sample."""
    if size is None:
        every = list(rows)
        return every, len(every)
    generator = np.random.default_rng(random_state)
    # Each row draws a number; the rows with the largest stay, the smallest of these on top.
    heap: list[tuple[float, int, list[str | None]]] = []
    n_rows = 0
    for n_rows, row in enumerate(rows, start=1):
        entry = (float(generator.random()), n_rows, row)
        if len(heap) < size:
            heappush(heap, entry)
        elif entry[0] > heap[0][0]:
            heappushpop(heap, entry)
    return [row for _, _, row in sorted(heap, key=lambda entry: entry[1])], n_rows


def _header(lines: Iterator[str]) -> list[ArffColumn]:
    columns: list[ArffColumn] = []
    for line in lines:
        text = line.strip()
        lower = text.lower()
        if lower.startswith("@data"):
            if not columns:
                raise UserError("the header declares no columns")
            return columns
        if lower.startswith("@attribute"):
            columns.append(parse_declaration(text))
        elif text and not text.startswith("%") and not lower.startswith("@relation"):
            raise UserError(f"cannot parse the header line {text[:60]!r}")
    raise UserError("there is no line '@data'")


def _rows(lines: Iterator[str], columns: list[ArffColumn]) -> Iterator[list[str | None]]:
    """Rows of cells, one for each column; the weight at the end of a row is ignored."""
    n_columns = len(columns)
    for line in lines:
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if text.startswith("{"):
            yield _sparse(text, columns)
            continue
        cells = _cells(text)
        if len(cells) == n_columns + 1 and re.fullmatch(r"\{.*\}", cells[-1] or ""):
            cells.pop()
        if len(cells) != n_columns:
            raise UserError(
                f"row {text[:40]!r} has {len(cells)} cells; the header declares {n_columns} columns"
            )
        yield cells


def _sparse(text: str, columns: list[ArffColumn]) -> list[str | None]:
    """The cells of a sparse row: by default 0, or the first level of a nominal column."""
    inside = text[1 : text.rfind("}")].strip() if "}" in text else text[1:].strip()
    cells: list[str | None] = [
        column.levels[0] if column.kind == "nominal" and column.levels else "0"
        for column in columns
    ]
    position = 0
    while inside:
        match = _SPARSE.match(inside, position)
        if match is None or int(match.group(1)) >= len(columns):
            raise UserError(f"cannot parse the sparse row {text[:60]!r}")
        cell = match.group(2)
        cells[int(match.group(1))] = None if cell == "?" else _unquoted(cell)
        if not match.group(3):
            break
        position = match.end()
    return cells


def _frame(columns: list[ArffColumn], rows: list[list[str | None]]) -> Any:
    import pandas

    made = []
    transposed = zip(*rows, strict=True) if rows else ([] for _ in columns)
    for column, cells in zip(columns, transposed, strict=True):
        made.append(_column(column, list(cells)))
    frame = pandas.concat(made, axis=1)
    frame.columns = [column.name for column in columns]
    return frame


def _column(column: ArffColumn, cells: list[str | None]) -> Any:
    import pandas

    if column.kind == "number":
        try:
            numbers = [np.nan if cell is None else float(cell) for cell in cells]
        except ValueError as error:
            raise UserError(f"numeric column {column.name!r} holds text: {error}") from error
        return pandas.Series(numbers, dtype=np.float64)
    if column.kind == "nominal":
        levels = list(dict.fromkeys(column.levels))
        unknown = {cell for cell in cells if cell is not None} - set(levels)
        return pandas.Series(pandas.Categorical(cells, categories=[*levels, *sorted(unknown)]))
    if column.kind == "date":
        words = pandas.Series(cells, dtype=object)
        try:
            return pandas.to_datetime(words, format=column.date_format, errors="coerce")
        except ValueError as error:
            raise UserError(
                f"cannot parse the format of date column {column.name!r}: {error}"
            ) from error
    return pandas.Series(cells, dtype="str")
