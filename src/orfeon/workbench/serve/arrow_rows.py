"""Rows as an Arrow stream: record batches, checked before a value of them is looked at."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from orfeon.utils.types import Floats
from orfeon.workbench.serve.columns import ColumnReader, DateReader, NumberReader, wrong_value
from orfeon.workbench.serve.errors import RequestError, shown
from orfeon.workbench.serve.json_rows import missing_columns, too_many_rows

#: Columns of a table, whatever the model takes.
_MAX_COLUMNS = 20_000
#: Letters of all words of a request: a few bytes of a stream can name a long one in every row.
_MAX_LETTERS = 1 << 25
#: Kinds of messages, and the place of what tells of compression, in Arrow's metadata.
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
_HEADER_TYPE, _HEADER, _COMPRESSION, _DICTIONARY_DATA, _IS_DELTA = 1, 2, 3, 1, 2


def read_arrow(
    body: bytes, columns: Sequence[ColumnReader], max_rows: int, *, quick: bool
) -> list[list[Any]] | list[Floats]:
    """The cells of each column, or the numbers of each feature."""
    try:
        import pyarrow
    except ImportError:
        raise RequestError(
            415, "unsupported_media_type",
            'This service cannot read Arrow: pip install "orfeon[parquet]" adds it.',
        ) from None  # fmt: skip
    if not body:
        raise RequestError(400, "bad_arrow", "The body is empty.")
    try:
        table = _table(body, columns, max_rows)
    except (pyarrow.ArrowException, OSError, ValueError, EOFError, IndexError, struct.error) as e:
        message = f"The body is not an Arrow stream: {_reason(e)}."
        raise RequestError(400, "bad_arrow", message) from None
    read: list[Any] = []
    letters = _Letters()
    for column in columns:
        try:
            read += _read(table.column(column.name), column, letters, quick=quick)
        except (pyarrow.ArrowException, OverflowError, ValueError) as e:  # such as a date too far
            raise RequestError(
                422, "wrong_value",
                f"The column {shown(column.name)} has a value that cannot be read: {_reason(e)}.",
                column=column.name,
            ) from None  # fmt: skip
    return read


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


def _table(body: bytes, columns: Sequence[ColumnReader], max_rows: int) -> Any:
    """The columns that are needed, of a stream that was found to be sound."""
    import pyarrow

    _check_messages(body)
    batches = []
    n_rows = 0
    with pyarrow.ipc.open_stream(pyarrow.py_buffer(body)) as stream:
        names = _checked_names(stream.schema, columns)
        for batch in stream:
            n_rows += batch.num_rows
            # Columns without buffers may claim any length: it is looked at before they are made.
            if n_rows > max_rows:
                raise too_many_rows(n_rows, max_rows)
            needed = batch.select(names)
            needed.validate(full=True)
            batches.append(needed)
    if not n_rows:
        raise RequestError(422, "no_rows", "The stream has no rows; at least one is needed.")
    return pyarrow.Table.from_batches(batches)


def _checked_names(schema: Any, columns: Sequence[ColumnReader]) -> list[str]:
    if len(schema) > _MAX_COLUMNS:
        raise RequestError(413, "too_large", f"There are {len(schema):,} columns.")
    names = list(schema.names)
    n_times = Counter(names)
    wanted = [column.name for column in columns]
    absent = [name for name in wanted if name not in n_times]
    if absent:
        raise missing_columns(absent, names)
    for column in columns:
        if n_times[column.name] > 1:
            raise RequestError(
                400, "bad_arrow", f"The column {shown(column.name)} is there more than once.",
                column=column.name,
            )  # fmt: skip
        kind = schema.field(column.name).type
        if not _is_allowed(kind, column):
            raise RequestError(
                422, "wrong_value",
                f"The column {shown(column.name)} has the type {shown(str(kind))}, and the model "
                f"takes it as a {column.kind}.",
                column=column.name,
            )  # fmt: skip
    return wanted


def _is_allowed(kind: Any, column: ColumnReader) -> bool:
    """Whether a column of this type can hold what is needed."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    is_word = str(kind) in ("string", "large_string", "string_view")
    if types.is_null(kind):
        return True
    if isinstance(column, NumberReader):
        return bool(is_number)
    if isinstance(column, DateReader):
        return bool(is_word or types.is_date(kind) or types.is_timestamp(kind))
    return bool(is_number or is_word or types.is_boolean(kind))


class _Letters:
    """Counts the letters of the words of a request, before more are made than memory holds."""

    def __init__(self) -> None:
        self._left = _MAX_LETTERS

    def take(self, n_letters: int) -> None:
        self._left -= n_letters
        if self._left < 0:
            raise RequestError(
                413, "too_large",
                f"The strings of all rows together have more than {_MAX_LETTERS:,} characters.",
            )  # fmt: skip


def _cells(values: Any, letters: _Letters) -> list[Any]:
    """The values as Python has them; a word that many rows share is made once."""
    from pyarrow import types

    if types.is_dictionary(values.type):
        return _shared_cells(values, letters)
    if str(values.type) == "string_view":
        for chunk in values.chunks:
            letters.take(_view_letters(chunk))
    # Other words stand in the body one by one, and are no longer than it.
    return list(values.to_pylist())


def _shared_cells(values: Any, letters: _Letters) -> list[Any]:
    """The values of a column of codes, whose batches mostly share one dictionary."""
    known: dict[tuple[int, ...], list[Any]] = {}
    cells: list[Any] = []
    for chunk in values.chunks:
        words = chunk.dictionary
        place = tuple(0 if each is None else each.address for each in words.buffers())
        key = (*place, words.offset, len(words))
        if key not in known:
            if str(words.type) == "string_view":
                letters.take(_view_letters(words))
            known[key] = words.to_pylist()
        shared = known[key]
        found = [None if code is None else shared[code] for code in chunk.indices.to_pylist()]
        letters.take(sum(len(cell) for cell in found if isinstance(cell, str)))
        cells += found
    return cells


def _view_letters(words: Any) -> int:
    """Bytes of words that may overlap: each is a length of four bytes, and twelve others."""
    views = words.buffers()[1]
    if views is None or not len(words):
        return 0
    first = 4 * words.offset
    lengths = np.frombuffer(views, np.int32)[first : first + 4 * len(words) : 4]
    return int(lengths[np.asarray(words.is_valid())].sum(dtype=np.int64))


def _read(values: Any, column: ColumnReader, letters: _Letters, *, quick: bool) -> list[Any]:
    """The numbers of the features, or the cells, of a column."""
    from pyarrow import types

    kind = values.type
    if types.is_decimal(kind):
        values = values.cast("float64")
    if quick and isinstance(column, NumberReader) and _is_plain(values.type):
        numbers = values.cast("float64", safe=False).fill_null(np.nan).to_numpy()
        lost = np.flatnonzero(np.isinf(numbers))
        if len(lost):
            cell = float(numbers[lost[0]])
            raise wrong_value(column.name, int(lost[0]), cell, "a finite number")
        return [np.asarray(numbers, dtype=np.float64)]
    found = _cells(values, letters)
    cells = [_plain(cell) for cell in found]
    if isinstance(column, DateReader):
        if column.format is None:
            cells = [cell.isoformat() if hasattr(cell, "isoformat") else cell for cell in cells]
        else:
            cells = [_rewritten(cell, column.format) for cell in found]
    return list(column.read_all(cells)) if quick else [cells]


def _is_plain(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind))


def _plain(cell: Any) -> Any:
    """A cell as JSON would hold it: decimals as numbers, NaN as missing."""
    if isinstance(cell, float) and cell != cell:
        return None
    if cell is None or isinstance(cell, str | bool | int | float):
        return cell
    return cell if hasattr(cell, "isoformat") else float(cell)


def _rewritten(cell: Any, form: str) -> Any:
    """A date as the model's table had it written."""
    return cell.strftime(form) if hasattr(cell, "strftime") else cell


# -- what a few bytes can make large ---------------------------------------------------------------


def _check_messages(body: bytes) -> None:
    """Refuse batches that are compressed, and dictionaries in parts.

    A few bytes of either may claim any amount of memory: pyarrow unpacks the one without asking,
    and keeps a dictionary for each part of the other. So their metadata is looked at before.
    """
    import pyarrow

    source = pyarrow.BufferReader(pyarrow.py_buffer(body))
    while True:
        try:
            message = pyarrow.ipc.read_message(source)
        except EOFError:
            return
        if message is None:
            return
        if message.type not in ("record batch", "dictionary"):
            continue
        metadata = message.metadata.to_pybytes()
        if _is_compressed(metadata):
            raise RequestError(
                415, "compressed", "The batches are compressed; send them as they are."
            )
        if message.type == "dictionary" and _is_delta(metadata):
            raise RequestError(
                400, "bad_arrow", "A dictionary comes in parts (delta); send it as a whole."
            )


def _is_compressed(metadata: bytes) -> bool:
    """Whether a message's batch says that it is compressed; the metadata is a FlatBuffer."""
    root = struct.unpack_from("<I", metadata, 0)[0]
    kind_at = _field(metadata, root, _HEADER_TYPE)
    header_at = _field(metadata, root, _HEADER)
    if kind_at is None or header_at is None:
        return False
    batch = _target(metadata, header_at)
    if metadata[kind_at] == _DICTIONARY_BATCH:
        data_at = _field(metadata, batch, _DICTIONARY_DATA)
        if data_at is None:
            return False
        batch = _target(metadata, data_at)
    return _field(metadata, batch, _COMPRESSION) is not None


def _is_delta(metadata: bytes) -> bool:
    """Whether a dictionary goes on from the one before it."""
    header_at = _field(metadata, struct.unpack_from("<I", metadata, 0)[0], _HEADER)
    if header_at is None:
        return False
    delta_at = _field(metadata, _target(metadata, header_at), _IS_DELTA)
    return delta_at is not None and metadata[delta_at] != 0


def _field(data: bytes, table: int, number: int) -> int | None:
    """Where a field of a FlatBuffer table is; None if it has none."""
    directory = table - struct.unpack_from("<i", data, table)[0]
    size = struct.unpack_from("<H", data, directory)[0]
    place = 4 + 2 * number
    if place + 2 > size:
        return None
    offset = struct.unpack_from("<H", data, directory + place)[0]
    return table + offset if offset else None


def _target(data: bytes, place: int) -> int:
    return int(place + struct.unpack_from("<I", data, place)[0])
