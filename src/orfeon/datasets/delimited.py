"""CSV files and the like, read piece by piece."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from typing import Any, TextIO

import numpy as np

from orfeon.datasets.dialect import (
    MISSING_WORDS,
    Dialect,
    dialect_of,
    encoding_of,
    fallback_encoding,
)
from orfeon.datasets.memory import available_memory, give_back, readable_size
from orfeon.datasets.sources import Source, text_of
from orfeon.errors import UserError

Columns = dict[str, Any]

#: Bytes of text read at a time.
PIECE = 32 << 20
_HEAD = 1 << 18
#: Numbers as text: integers that may exceed 64 bits, any integer, any number.
_LONG = r"^[+-]?[0-9]{19}"
_INTEGER = r"[+-]?[0-9]+"
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
#: The longest integer that Python reads from text by default.
_MOST_DIGITS = 4300
#: A table may take this share of the free memory: estimators need the rest.
SHARE_OF_MEMORY = 0.5
#: Characters of a record beyond which its quote was surely never closed.
_LONGEST_RECORD = 10_000_000


class _UnclosedQuoteError(ValueError):
    pass


def read_delimited(
    source: Source, *, rows: int | None, random_state: int, header: bool | None
) -> Any:
    dialect = _dialect(source, header)
    try:
        frame = _read(source, dialect, rows, random_state)
    except UnicodeDecodeError as error:
        other = fallback_encoding(error.object[error.start : error.start + 1])
        notes = (*dialect.notes, f"The file is not UTF-8: it is read as {other}.")
        dialect = Dialect(**{**vars(dialect), "encoding": other, "notes": notes})
        frame = _read(source, dialect, rows, random_state)
    if not len(frame):
        raise UserError(f"{source.name} has a header but no rows.")
    if len(frame.columns) > 1 and dialect.names[-1].startswith("column_"):
        last = frame.columns[-1]
        if frame[last].isna().all():  # each line ends with a delimiter
            frame = frame.drop(columns=last)
    if dialect.twice:
        frame.attrs["twice"] = dialect.twice
    frame.attrs["notes"] = [*dialect.notes, *frame.attrs.get("notes", ())]
    return frame


def _dialect(source: Source, header: bool | None) -> Dialect:
    with source.open() as (stream, _):
        head = stream.read(_HEAD)
    encoding = encoding_of(head, cut=len(head) == _HEAD)
    text = head.decode(encoding, errors="replace")
    if len(head) == _HEAD:  # the last line may be cut
        text = text[: text.rfind("\n") + 1] or text
    try:
        return dialect_of(text, encoding, header=header)
    except UserError as error:
        raise UserError(f"{source.name}: {error}.") from error


def _read(source: Source, dialect: Dialect, rows: int | None, random_state: int) -> Any:
    try:
        if rows is not None:
            return _sample(source, dialect, rows, random_state)
        return _whole(source, dialect)
    except _UnclosedQuoteError as error:
        raise UserError(f"{source.name} has a quote that is never closed.") from error
    except _pandas_errors() as error:
        raise UserError(f"{source.name} {_explain(str(error), dialect)}") from error


def _pandas_errors() -> tuple[type[Exception], ...]:
    from pandas.errors import EmptyDataError, ParserError, ParserWarning

    return ParserError, EmptyDataError, ParserWarning


def _explain(message: str, dialect: Dialect) -> str:
    """A message of pandas in words for users."""
    wide = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message)
    if wide:
        expected, line, seen = wide.groups()
        return (
            f"has {seen} cells in line {line}, but {expected} columns: put cells that contain "
            f"{dialect.delimiter!r} in quotes."
        )
    if "EOF inside string" in message:
        return "has a quote that is never closed."
    if "does not match length of data" in message:
        return f"has rows with more than {len(dialect.names)} cells, the number of its columns."
    return f"cannot be read as a table: {message.strip()}."


def _settings(dialect: Dialect) -> dict[str, Any]:
    return {
        "sep": dialect.delimiter,
        "names": list(dialect.names),
        "header": None,
        "skiprows": dialect.n_skipped,
        "index_col": False,
        "decimal": dialect.decimal,
        "na_values": list(MISSING_WORDS),
        "keep_default_na": True,
        "skipinitialspace": True,
        "low_memory": False,
        **_exact_numbers(dialect),
    }


def _pieces(source: Source, dialect: Dialect, **options: Any) -> Iterator[tuple[Any, float]]:
    """Pieces of the table, each with the share of the file read so far."""
    import pandas

    n_rows = max(1000, int(PIECE / max(dialect.bytes_per_row, 1.0)))
    settings = {**_settings(dialect), "chunksize": n_rows, **options}
    with (
        source.open() as (stream, file),
        text_of(stream, dialect.encoding) as text,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        try:
            for piece in pandas.read_csv(text, **settings):
                read = without_blanks(piece)
                if "dtype" not in options:
                    read = with_long_numbers(read)
                yield read, file.tell() / max(source.size, 1)
        except pandas.errors.EmptyDataError:
            return


def without_blanks(piece: Any) -> Any:
    """Remove blanks at the end of strings (pandas skips those at the start)."""
    for name in piece.columns:
        column = piece[name]
        if _kind(column) == "strings" and bool(column.str.endswith((" ", "\t")).any()):
            bare = column.str.rstrip()
            piece[name] = bare.where(~bare.isin(["", *MISSING_WORDS]))
    return piece


def with_long_numbers(piece: Any) -> Any:
    """Convert columns that pandas reads as strings because their numbers exceed 64 bits."""
    for name in piece.columns:
        column = piece[name]
        if _kind(column) != "strings" or not column.str.contains(_LONG).any():
            continue
        # pandas does not recognise missing values beside such numbers.
        column = column.where(~column.isin(["", *MISSING_WORDS]))
        present = column.dropna()
        if present.str.fullmatch(_INTEGER).all() and present.str.len().max() <= _MOST_DIGITS:
            column = column.map(int, na_action="ignore").astype(object)
        elif present.str.fullmatch(_NUMBER).all():
            column = column.astype(np.float64)
        piece[name] = column
    return piece


def _exact_numbers(dialect: Dialect) -> dict[str, Any]:
    """Make pandas before 3.1 read the nearest double."""
    import pandas

    release = tuple(map(int, pandas.__version__.split(".")[:2]))
    return {"float_precision": "round_trip"} if release < (3, 1) and dialect.decimal == "." else {}


def _whole(source: Source, dialect: Dialect) -> Any:
    """All rows. In a file of several pieces, repeated strings are stored once."""
    pieces: list[Columns] = []
    n_bytes, room, first = 0.0, available_memory(), None
    for piece, share in _pieces(source, dialect):
        if first is None:
            first = piece
            n_bytes = float(piece.memory_usage(deep=True).sum())
        else:
            if not pieces:
                pieces.append(_coded(first))
                n_bytes = _size(pieces[0])
            pieces.append(_coded(piece))
            n_bytes += _size(pieces[-1])
        _check_room(source, n_bytes / min(max(share, 0.001), 1.0), room)
    if first is None:
        return _empty(dialect)
    del piece
    if not pieces:
        return first
    frame = _joined(source, dialect, pieces)
    give_back()
    return frame


def _size(columns: Columns) -> float:
    return float(sum(column.memory_usage(deep=True) for column in columns.values()))


def _empty(dialect: Dialect) -> Any:
    import pandas

    return pandas.DataFrame(columns=list(dialect.names))


def _check_room(source: Source, expected: float, room: int | None) -> None:
    if room is not None and expected > SHARE_OF_MEMORY * room:
        raise UserError(
            f"{source.name} would take {readable_size(expected)} of memory; "
            f"{readable_size(room)} are free, half of it for estimators: read a sample with rows= "
            "(--rows N on the command line), or drop columns."
        )


def _coded(piece: Any) -> Columns:
    """The columns of a piece as separate objects, so that each can be freed by itself."""
    columns = {}
    for name in piece.columns:
        column = piece[name]
        if _kind(column) == "strings" and column.nunique() < len(column) / 2:
            column = column.astype("category")
        columns[name] = column.copy(deep=True)
    return columns


def _kind(column: Any) -> str:
    from pandas.api import types

    if column.isna().all():
        return "missing"
    if types.is_bool_dtype(column.dtype):
        return "booleans"
    if types.is_numeric_dtype(column.dtype):
        return "numbers"
    types_seen = set(map(type, column.dropna())) if column.dtype == object else {str}
    if types_seen == {bool}:
        return "booleans"
    if types_seen <= {int, float}:  # integers beyond 64 bits stay Python's
        return "numbers"
    return "strings"


def _joined(source: Source, dialect: Dialect, pieces: list[Columns]) -> Any:
    """Join the pieces column by column, so that little is in memory twice."""
    import pandas

    columns: dict[str, Any] = {}
    for name in dialect.names:
        parts = [piece.pop(name) for piece in pieces]
        kinds = {_kind(part) for part in parts} - {"missing"}
        if len(kinds) > 1:  # strings among the numbers, far down the file
            again = _pieces(source, dialect, usecols=[name], dtype={name: str})
            parts = [_coded(piece)[name] for piece, _ in again]
            kinds = {"strings"}
        columns[name] = _one_column(parts, kinds)
    return pandas.DataFrame(columns, copy=False)


def _one_column(parts: list[Any], kinds: set[str]) -> Any:
    import pandas
    from pandas.api.types import union_categoricals

    if kinds == {"strings"}:
        if any(isinstance(part.dtype, pandas.CategoricalDtype) for part in parts):
            coded = [part.astype("category").cat for part in parts]
            named = [part.rename_categories(list(map(str, part.categories))) for part in coded]
            return pandas.Series(union_categoricals([part.array for part in named]))
        return pandas.concat(
            [part.astype("str") if part.notna().any() else part for part in parts],
            ignore_index=True,
        )
    if kinds == {"booleans"} and any(part.isna().any() for part in parts):
        parts = [part.astype(object) for part in parts]
    return pandas.concat(parts, ignore_index=True)


def _sample(source: Source, dialect: Dialect, rows: int, random_state: int) -> Any:
    """A random sample: every row draws a number, and the rows with the smallest are kept."""
    generator = np.random.default_rng(random_state)
    kept: list[str] = []
    keys = np.empty(0)
    n_rows = 0
    with source.open() as (stream, _), text_of(stream, dialect.encoding) as text:
        for lines in _record_pieces(text, dialect.delimiter, dialect.n_skipped, PIECE // 4):
            n_rows += len(lines)
            drawn = generator.random(len(lines))
            # Most rows of later pieces are skipped at once.
            near = np.flatnonzero(drawn < keys.max()) if len(keys) == rows else range(len(lines))
            kept += [lines[i] for i in near]
            keys = np.append(keys, drawn[near])
            if len(keys) > rows:
                smallest = np.sort(np.argpartition(keys, rows)[:rows])
                kept, keys = [kept[i] for i in smallest], keys[smallest]
    if not kept:
        return _empty(dialect)
    frame = _parsed(
        "".join(line if line.endswith(("\n", "\r")) else line + "\n" for line in kept), dialect
    )
    if rows < n_rows:
        frame.attrs["notes"] = [f"A random sample of {rows} of its {n_rows} rows was read."]
    return frame


def _parsed(text: str, dialect: Dialect) -> Any:
    import pandas

    settings = {**_settings(dialect), "skiprows": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        return with_long_numbers(without_blanks(pandas.read_csv(io.StringIO(text), **settings)))


def _record_pieces(
    text: TextIO, delimiter: str, n_skipped: int, n_letters: int
) -> Iterator[list[str]]:
    """Records of a text, a few megabytes at a time; an open quote continues on the next line."""
    quoted = _quoted_cells(delimiter)
    left, begun = n_skipped, ""
    while lines := text.readlines(n_letters):
        lines[0] = begun + lines[0]
        begun = ""
        if any('"' in line for line in lines):
            lines, begun = _join_records(lines, quoted)
        left, lines = max(left - len(lines), 0), lines[left:]
        yield [line for line in lines if not line.isspace()]
    if begun:
        yield [begun]


def _quoted_cells(delimiter: str) -> re.Pattern[str]:
    """Matches quoted cells; one whose quote stays open reaches the end of the record."""
    separator = delimiter if delimiter == r"\s+" else re.escape(delimiter)
    return re.compile(rf'(?:^|{separator})\s*"(?:[^"]|"")*("|$)')


def _join_records(lines: list[str], quoted: re.Pattern[str]) -> tuple[list[str], str]:
    """Lines joined to records, and the beginning of an incomplete one."""
    records: list[str] = []
    begun = ""
    for line in lines:
        record = begun + line
        if '"' in record and any(not m.group(1) for m in quoted.finditer(record)):
            if len(record) > _LONGEST_RECORD:
                raise _UnclosedQuoteError(f"record {len(records) + 1} of the piece")
            begun = record
            continue
        records.append(record)
        begun = ""
    return records, begun
