"""Rows as an Arrow stream: record batches, checked before a value of them is looked at."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from orfeon.serving.columns import DateInput, Floats, InputColumn, NumberInput, wrong_value
from orfeon.serving.errors import RequestError, shown
from orfeon.serving.json_rows import missing_columns, too_many_rows

#: Columns of a table, whatever the model takes.
_MAX_COLUMNS = 20_000
#: Kinds of messages, and the place of what tells of compression, in Arrow's metadata.
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
_HEADER_TYPE, _HEADER, _COMPRESSION, _DICTIONARY_DATA = 1, 2, 3, 1


def read_arrow(
    body: bytes, columns: Sequence[InputColumn], max_rows: int, *, quick: bool
) -> list[list[Any]] | list[Floats]:
    """The cells of each column, or the numbers of each attribute.

    Parameters
    ----------
    body : bytes
        A stream of record batches, not compressed. Columns may stand in any order, with others
        between.
    columns : sequence of InputColumn
        The columns that are needed.
    max_rows : int
        How many rows are allowed.
    quick : bool
        Whether numbers are wanted, and not cells.

    Returns
    -------
    list of list, or list of ndarray
        A list of cells for each column; with ``quick`` an array for each attribute.

    Examples
    --------
    >>> import pyarrow
    >>> from orfeon.serving.arrow_rows import read_arrow
    >>> from orfeon.serving.columns import NumberInput
    >>> table = pyarrow.table({"u": [1.5, None]})
    >>> sink = pyarrow.BufferOutputStream()
    >>> with pyarrow.ipc.new_stream(sink, table.schema) as writer:
    ...     writer.write_table(table)
    >>> read_arrow(sink.getvalue().to_pybytes(), [NumberInput("u")], 10, quick=True)
    [array([1.5, nan])]
    """
    try:
        import pyarrow
    except ImportError:
        raise RequestError(
            415, "unsupported_media_type",
            'This service reads no Arrow: it needs pip install "orfeon[parquet]".',
        ) from None  # fmt: skip
    if not body:
        raise RequestError(400, "bad_arrow", "The body is empty.")
    try:
        table = _table(body, columns, max_rows)
    except (pyarrow.ArrowException, OSError, ValueError, EOFError, IndexError, struct.error) as e:
        reason = str(e).splitlines()[0][:200] if str(e) else type(e).__name__
        raise RequestError(400, "bad_arrow", f"The body is no Arrow stream: {reason}.") from None
    read: list[Any] = []
    for column in columns:
        read += _read(table.column(column.name), column, quick=quick)
    return read


def _table(body: bytes, columns: Sequence[InputColumn], max_rows: int) -> Any:
    """The columns that are needed, of a stream that was found to be sound."""
    import pyarrow

    _refuse_compressed(body)
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


def _checked_names(schema: Any, columns: Sequence[InputColumn]) -> list[str]:
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


def _is_allowed(kind: Any, column: InputColumn) -> bool:
    """Whether a column of this type can hold what is needed."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    is_word = str(kind) in ("string", "large_string", "string_view")
    if types.is_null(kind):
        return True
    if isinstance(column, NumberInput):
        return bool(is_number)
    if isinstance(column, DateInput):
        return bool(is_word or types.is_date(kind) or types.is_timestamp(kind))
    return bool(is_number or is_word or types.is_boolean(kind))


def _read(values: Any, column: InputColumn, *, quick: bool) -> list[Any]:
    """The numbers of the attributes, or the cells, of a column."""
    from pyarrow import types

    kind = values.type
    if types.is_decimal(kind):
        values = values.cast("float64")
    if quick and isinstance(column, NumberInput) and _is_plain(values.type):
        numbers = values.cast("float64", safe=False).fill_null(np.nan).to_numpy()
        lost = np.flatnonzero(np.isinf(numbers))
        if len(lost):
            cell = float(numbers[lost[0]])
            raise wrong_value(column.name, int(lost[0]), cell, "a finite number")
        return [np.asarray(numbers, dtype=np.float64)]
    cells = [_plain(cell) for cell in values.to_pylist()]
    if isinstance(column, DateInput):
        cells = [cell.isoformat() if hasattr(cell, "isoformat") else cell for cell in cells]
        if column.format is not None and not types.is_string(kind):
            cells = [_rewritten(cell, column.format) for cell in values.to_pylist()]
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


# -- compression -----------------------------------------------------------------------------------


def _refuse_compressed(body: bytes) -> None:
    """Refuse batches that are compressed: a few bytes of them may claim any amount of memory.

    pyarrow unpacks them without asking, so their metadata is looked at before.
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
        if message.type in ("record batch", "dictionary") and _is_compressed(
            message.metadata.to_pybytes()
        ):
            raise RequestError(
                415, "compressed", "The batches are compressed; send them as they are."
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
