"""Tables that commands read: files and named data sets, whole or in pieces."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from orfeon.errors import UserError
from orfeon.utils.text import some_of

#: Rows per piece.
PIECE_ROWS = 20_000
_HEAD_BYTES = 1 << 18


class NamedTable(NamedTuple):
    """A table, its name, and its target if known."""

    frame: Any
    name: str
    target: str | None
    notes: tuple[str, ...]


def names_a_file(where: str) -> bool:
    """Whether an argument names a file, existing or not, rather than a data set."""
    from orfeon.datasets.sources import means_a_file

    return means_a_file(where)


def read_table(where: str, *, rows: int | None = None) -> NamedTable:
    """Read a file or a named data set."""
    from orfeon import datasets

    if names_a_file(where):
        path = Path(where).expanduser() if where != "-" else where
        frame = datasets.read_file(path, rows=rows)
        name = "stdin" if where == "-" else Path(where).name.split(".")[0] or "data"
        return NamedTable(frame, name, None, tuple(frame.attrs.get("notes", ())))
    found = datasets.load_dataset(where, rows=rows)
    return NamedTable(found.frame, str(found.name), found.target_name, ())


def target_of(table: NamedTable, given: str | None) -> str:
    """The target: the given one, or that of a named data set."""
    target = given if given is not None else table.target
    if target is None:
        columns = [str(column) for column in table.frame.columns]
        raise UserError(
            f"--target is missing: name the column to predict, such as --target {columns[-1]!r}. "
            f"{table.name} has the columns {some_of(columns, 20)}."
        )
    return target


def read_pieces(where: str, as_words: frozenset[str] = frozenset()) -> Iterator[tuple[Any, float]]:
    r"""Read a table in pieces, so that a file of any size needs little memory.

    This works for delimited text and Parquet; other formats are read whole.
    """
    from orfeon.datasets.sources import open_source

    if not names_a_file(where):
        yield read_table(where).frame, 1.0
        return
    path = where if where == "-" else str(Path(where).expanduser())
    with open_source(path) as source:
        if source.format == "delimited":
            yield from _text_pieces(source, as_words)
        elif source.format == "parquet" and source.packing == "none":
            yield from _parquet_pieces(source)
        else:
            yield read_table(where).frame, 1.0


def _text_pieces(source: Any, as_words: frozenset[str]) -> Iterator[tuple[Any, float]]:
    from orfeon.datasets.dialect import dialect_of, encoding_of, fallback_encoding

    with source.open() as (stream, _):
        head = stream.read(_HEAD_BYTES)
    is_cut = len(head) == _HEAD_BYTES
    encoding = encoding_of(head, cut=is_cut)
    text = head.decode(encoding, errors="replace")
    if is_cut:
        text = text[: text.rfind("\n") + 1] or text
    try:
        dialect = dialect_of(text, encoding)
    except UserError as error:
        raise UserError(f"{source.name}: {error}.") from error
    if encoding == "utf-8":
        # Characters of another encoding may come far down the file, after rows were predicted.
        other = _encoding_below(source, fallback_encoding)
        dialect = dataclasses.replace(dialect, encoding=other or encoding)
    yield from _parsed(source, dialect, as_words)


def _encoding_below(source: Any, fallback: Any) -> str | None:
    """The encoding of a file that starts as UTF-8 and turns out to be something else."""
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8")()
    with source.open() as (stream, _):
        while block := stream.read(1 << 20):
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                return str(fallback(error.object[error.start : error.start + 1]))
    return None


def _parsed(source: Any, dialect: Any, as_words: frozenset[str]) -> Iterator[tuple[Any, float]]:
    import pandas

    from orfeon.datasets.delimited import without_blanks
    from orfeon.datasets.dialect import MISSING_WORDS
    from orfeon.datasets.sources import text_of

    settings: Mapping[str, Any] = {
        "sep": dialect.delimiter,
        "names": list(dialect.names),
        "header": None,
        "skiprows": dialect.n_skipped,
        "index_col": False,
        "decimal": dialect.decimal,
        "na_values": list(MISSING_WORDS),
        "skipinitialspace": True,
        "low_memory": False,
        "dtype": {name: str for name in dialect.names if name.strip() in as_words},
        "chunksize": PIECE_ROWS,
    }
    with (
        source.open() as (stream, file),
        text_of(stream, dialect.encoding) as text,
        _parser_errors(source),
    ):
        for piece in pandas.read_csv(text, **settings):
            yield without_blanks(piece), min(1.0, file.tell() / max(source.size, 1))


@contextlib.contextmanager
def _parser_errors(source: Any) -> Iterator[None]:
    """Turn errors of pandas into messages about the file."""
    import pandas

    try:
        yield
    except pandas.errors.EmptyDataError:
        return
    except pandas.errors.ParserError as error:
        raise UserError(f"{source.name} cannot be read as a table: {error}.") from error


def _parquet_pieces(source: Any) -> Iterator[tuple[Any, float]]:
    from orfeon.datasets.files import import_parquet

    pyarrow, parquet = import_parquet(source.name)
    done = 0
    try:
        with parquet.ParquetFile(source.path) as file:
            for batch in file.iter_batches(batch_size=PIECE_ROWS):
                done += batch.num_rows
                piece = pyarrow.Table.from_batches([batch]).to_pandas()
                yield piece, done / max(file.metadata.num_rows, 1)
    except pyarrow.ArrowException as error:
        raise UserError(f"{source.name} cannot be read as Parquet: {error}.") from error
