"""Rows as an Arrow stream of record batches, which are checked before they are read."""

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

#: Columns of a table, needed or not.
_MAX_COLUMNS = 20_000
#: Characters of all strings of a request: with a dictionary, few bytes can repeat a long string in
#: every row.
_MAX_CHARACTERS = 1 << 25
#: Types of messages, and fields of Arrow's metadata.
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
    budget = _CharacterBudget()
    for column in columns:
        try:
            read += _read(table.column(column.name), column, budget, quick=quick)
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
    """The needed columns of a stream, validated."""
    import pyarrow

    _check_messages(body)
    batches = []
    n_rows = 0
    with pyarrow.ipc.open_stream(pyarrow.py_buffer(body)) as stream:
        names = _checked_names(stream.schema, columns)
        for batch in stream:
            n_rows += batch.num_rows
            # Columns without buffers may claim any length, so it is checked first.
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
                400, "bad_arrow", f"The column {shown(column.name)} occurs more than once.",
                column=column.name,
            )  # fmt: skip
        kind = schema.field(column.name).type
        if not _is_allowed(kind, column):
            raise RequestError(
                422, "wrong_value",
                f"The column {shown(column.name)} has the type {shown(str(kind))}; the model needs "
                f"a {column.kind}.",
                column=column.name,
            )  # fmt: skip
    return wanted


def _is_allowed(kind: Any, column: ColumnReader) -> bool:
    """Whether an Arrow type suits a column."""
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


class _CharacterBudget:
    """Limits the characters of all strings of a request, before they fill the memory."""

    def __init__(self) -> None:
        self._left = _MAX_CHARACTERS

    def take(self, n_characters: int) -> None:
        self._left -= n_characters
        if self._left < 0:
            raise RequestError(
                413, "too_large",
                f"The strings of all rows together have more than {_MAX_CHARACTERS:,} characters.",
            )  # fmt: skip


def _cells(values: Any, budget: _CharacterBudget) -> list[Any]:
    """The values as Python objects; rows share equal strings of a dictionary."""
    from pyarrow import types

    if types.is_dictionary(values.type):
        return _shared_cells(values, budget)
    if str(values.type) == "string_view":
        for chunk in values.chunks:
            budget.take(_view_characters(chunk))
    # Other strings are in the body one by one, so its length limits them.
    return list(values.to_pylist())


def _shared_cells(values: Any, budget: _CharacterBudget) -> list[Any]:
    """The values of a dictionary column, whose batches mostly share one dictionary."""
    known: dict[tuple[int, ...], list[Any]] = {}
    cells: list[Any] = []
    for chunk in values.chunks:
        strings = chunk.dictionary
        place = tuple(0 if each is None else each.address for each in strings.buffers())
        key = (*place, strings.offset, len(strings))
        if key not in known:
            if str(strings.type) == "string_view":
                budget.take(_view_characters(strings))
            known[key] = strings.to_pylist()
        shared = known[key]
        found = [None if code is None else shared[code] for code in chunk.indices.to_pylist()]
        budget.take(sum(len(cell) for cell in found if isinstance(cell, str)))
        cells += found
    return cells


def _view_characters(strings: Any) -> int:
    """Bytes of strings that may overlap; each view has 16 bytes, of which 4 are the length."""
    views = strings.buffers()[1]
    if views is None or not len(strings):
        return 0
    first = 4 * strings.offset
    lengths = np.frombuffer(views, np.int32)[first : first + 4 * len(strings) : 4]
    return int(lengths[np.asarray(strings.is_valid())].sum(dtype=np.int64))


def _read(values: Any, column: ColumnReader, budget: _CharacterBudget, *, quick: bool) -> list[Any]:
    """The encoded features of a column, or its cells."""
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
    found = _cells(values, budget)
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
    """A date in the format of the training data."""
    return cell.strftime(form) if hasattr(cell, "strftime") else cell


# -- small bodies that would take much memory ------------------------------------------------------


def _check_messages(body: bytes) -> None:
    """Reject compressed batches and delta dictionaries.

    A few bytes of either can claim any amount of memory: pyarrow decompresses batches without a
    limit, and keeps a dictionary for each delta. So the metadata is checked first.
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
                415, "compressed", "The batches are compressed; send them uncompressed."
            )
        if message.type == "dictionary" and _is_delta(metadata):
            raise RequestError(
                400, "bad_arrow", "A dictionary is a delta; send the complete dictionary."
            )


def _is_compressed(metadata: bytes) -> bool:
    """Whether the batch of a message is compressed; the metadata is a FlatBuffer."""
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
    header_at = _field(metadata, struct.unpack_from("<I", metadata, 0)[0], _HEADER)
    if header_at is None:
        return False
    delta_at = _field(metadata, _target(metadata, header_at), _IS_DELTA)
    return delta_at is not None and metadata[delta_at] != 0


def _field(data: bytes, table: int, number: int) -> int | None:
    """The offset of a field of a FlatBuffer table; None if it is absent."""
    directory = table - struct.unpack_from("<i", data, table)[0]
    size = struct.unpack_from("<H", data, directory)[0]
    place = 4 + 2 * number
    if place + 2 > size:
        return None
    offset = struct.unpack_from("<H", data, directory + place)[0]
    return table + offset if offset else None


def _target(data: bytes, place: int) -> int:
    return int(place + struct.unpack_from("<I", data, place)[0])
