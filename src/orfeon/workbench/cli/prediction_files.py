"""Prediction files, written in pieces: CSV, JSON Lines, Parquet.

A file appears under its name once it is complete; until then, an existing one stays.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TextIO

from orfeon.errors import UserError
from orfeon.utils.atomic_file import atomic_write
from orfeon.utils.text import nearest_names
from orfeon.workbench.cli.output import plain_value

#: Formats by file extension.
ENDINGS = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
FORMATS = ("csv", "jsonl", "parquet")


class Writer(Protocol):
    """Writes a table in pieces."""

    def write(self, piece: Any) -> None:
        """Write more rows."""


def format_of(path: Path | None, given: str | None) -> str:
    """The format of a prediction file."""
    if path is None or given is not None:
        if path is None and given == "parquet":
            raise UserError("--format parquet needs a file: name it with -o.")
        return given or "csv"
    plain = path.name.lower().removesuffix(".gz")
    ending = Path(plain).suffix
    if ending not in ENDINGS:
        near = nearest_names(ending, ENDINGS) if ending else ""
        raise UserError(
            f"-o {path}: the name does not tell the format{near}. End it in .csv, .jsonl or "
            ".parquet (or .csv.gz, compressed), or use --format."
        )
    return ENDINGS[ending]


@contextlib.contextmanager
def open_predictions(path: Path | None, form: str) -> Iterator[Writer]:
    """A prediction file, written in pieces."""
    if path is None:
        with contextlib.suppress(AttributeError, ValueError):
            sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        yield _text_writer(sys.stdout, form)
        return
    with atomic_write(path) as file:
        if form == "parquet":
            with contextlib.closing(_ParquetWriter(file)) as writer:
                yield writer
        else:
            with _text_file(file, is_packed=path.name.lower().endswith(".gz")) as stream:
                yield _text_writer(stream, form)


@contextlib.contextmanager
def _text_file(file: BinaryIO, *, is_packed: bool) -> Iterator[TextIO]:
    with contextlib.ExitStack() as stack:
        binary: Any = file
        if is_packed:
            binary = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        text = io.TextIOWrapper(binary, encoding="utf-8", newline="", write_through=False)
        try:
            yield text
            text.flush()
        finally:
            with contextlib.suppress(OSError, ValueError):
                text.detach()


def _text_writer(stream: TextIO, form: str) -> Any:
    return {"csv": _CsvWriter, "jsonl": _LinesWriter}[form](stream)


class _CsvWriter:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._has_header = False

    def write(self, piece: Any) -> None:
        piece.to_csv(self._stream, index=False, header=not self._has_header, lineterminator="\n")
        self._has_header = True


class _LinesWriter:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, piece: Any) -> None:
        lines = (
            json.dumps(plain_value(row), ensure_ascii=False) for row in piece.to_dict("records")
        )
        self._stream.write("".join(f"{line}\n" for line in lines))


class _ParquetWriter:
    """Takes the column types from the first piece."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise UserError("Writing Parquet needs pyarrow: install orfeon[parquet].") from error
        self._file = file
        self._writer: Any = None

    def write(self, piece: Any) -> None:
        import pyarrow
        from pyarrow import parquet

        schema = None if self._writer is None else self._writer.schema
        table = pyarrow.Table.from_pandas(piece, schema=schema, preserve_index=False)
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
