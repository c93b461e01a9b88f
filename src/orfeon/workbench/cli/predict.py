"""The command ``orfeon predict``: predict new rows with a saved model."""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, TextIO

from orfeon.errors import UserError
from orfeon.utils.atomic_file import atomic_write
from orfeon.utils.text import duration_text, nearest_names
from orfeon.workbench.cli import options as types
from orfeon.workbench.cli.live import LiveDisplay
from orfeon.workbench.cli.options import command_parser
from orfeon.workbench.cli.output import plain_value, print_json, say
from orfeon.workbench.cli.saved_models import (
    SavedModel,
    add_foreign_option,
    model_failures,
    read_saved,
)
from orfeon.workbench.cli.tables import read_pieces
from orfeon.workbench.serve.reasons import interval_columns, reasons

_DESCRIPTION = """\
Predicts the rows of a table with a saved model and writes one row for each, in the same order: to a
file, or as CSV to standard output. The table needs the columns that the model was trained on, by
name and in any order; other columns, and the target, are ignored. Categories not seen in training
count as missing values.

Rows are read, predicted and written a few thousand at a time, so a CSV or Parquet file of any size
needs little memory. The output file appears once it is complete.

The column 'prediction' holds the class or the number. With --proba, there is also a column
'probability_CLASS' for each class. With --interval 0.9, the columns 'low' and 'high' hold 90% of
the true numbers, and the column 'set' the classes that contain the true one in 90% of the rows;
both need predictions of rows that a model had not seen: bags and forests of 'orfeon fit' have them,
and so has ensemble selection of 'orfeon study'. With --explain 3, the column 'reasons' names the
three features that matter most for the prediction (+) or against it (-), by their Shapley values.
"""

_EXAMPLES = """\
orfeon fit waveform -o model.orfeon
orfeon predict model.orfeon waveform:20
orfeon predict model.orfeon new.csv --id customer --proba -o predictions.csv
orfeon predict model.orfeon new.parquet -o predictions.parquet
orfeon predict model.orfeon waveform:5 --interval 0.9 --explain 3
cat new.csv | orfeon predict model.orfeon - --format jsonl | head
"""


def add_parser(subparsers: Any) -> None:
    """Define the arguments."""
    parser = command_parser(
        subparsers, "predict", "predict new rows with a saved model", _DESCRIPTION, _EXAMPLES
    )
    parser.add_argument("model", type=types.existing_file, metavar="MODEL", help="a model file")
    parser.add_argument(
        "data", metavar="DATA", help="a file, - for standard input, or the name of a data set"
    )
    parser.add_argument(
        "-o", "--output", type=types.output_file, metavar="FILE",
        help="file to write: .csv, .csv.gz, .jsonl or .parquet; default: standard output",
    )  # fmt: skip
    parser.add_argument(
        "--proba", action="store_true", help="also write the probability of each class"
    )
    parser.add_argument(
        "--interval", type=_coverage, nargs="?", const=0.9, metavar="SHARE",
        help="also write intervals, or sets of classes, that hold this share of the true values; "
        "default share: 0.9",
    )  # fmt: skip
    parser.add_argument(
        "--explain", type=types.count, nargs="?", const=3, metavar="N",
        help="also write the N features that matter most for each row; default: 3",
    )  # fmt: skip
    parser.add_argument(
        "--id", metavar="COL", help="a column of the data to copy before the predictions"
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="default: inferred from the name of FILE; csv on standard output",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    add_foreign_option(parser)
    types.add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    """Predict in pieces."""
    output: Path | None = options.output
    form = format_of(output, options.format)
    if output is not None:
        types.check_output(output, force=options.force)
    elif options.json:
        raise UserError(
            "--json needs a file for the predictions: name one with -o, or use --format jsonl for "
            "one JSON object per line."
        )
    saved = read_saved(options.model, foreign=options.foreign)
    _check_asked(saved, options.proba)
    start = time.perf_counter()
    n_rows = 0
    with LiveDisplay("predicting", quiet=options.quiet or output is None) as display:
        display.start(100)
        with open_predictions(output, form) as file:
            extras = Extras(options.id, options.proba, options.interval, options.explain)
            for piece in _predictions(saved, options.data, extras, display):
                file.write(piece)
                n_rows += len(piece)
            if n_rows == 0:
                raise UserError(f"{options.data} has no rows.")
    _tell(options, saved, n_rows, time.perf_counter() - start)
    return 0


def _check_asked(saved: SavedModel, proba: bool) -> None:
    if not proba:
        return
    if saved.task == "regression":
        raise UserError(f"--proba: {saved.path} predicts numbers, which have no probabilities.")
    if not hasattr(saved.model, "predict_proba"):
        kind = type(saved.model).__name__
        raise UserError(f"--proba: {kind} has no predict_proba; leave --proba out.")


def _coverage(text: str) -> float:
    """A share between 0 and 1, without the ends."""
    found = types.share(text)
    if found >= 1:
        raise argparse.ArgumentTypeError(f"must be less than 1, got {text}")
    return found


class Extras(NamedTuple):
    """What is written beside the predictions."""

    identifier: str | None = None
    proba: bool = False
    coverage: float | None = None
    n_reasons: int | None = None


def _predictions(
    saved: SavedModel, data: str, extras: Extras, display: LiveDisplay
) -> Iterator[Any]:
    """The predictions of a table, a few thousand rows at a time."""
    read = 0.0
    n_rows = 0
    for frame, share in read_pieces(data, _columns_of_words(saved, extras.identifier)):
        if not len(frame):
            continue
        display.running([f"rows {n_rows + 1:,} to {n_rows + len(frame):,}"])
        yield predictions_of(saved, frame, extras)
        n_rows += len(frame)
        display.advance(100 * (share - read), f"{n_rows:,} rows")
        read = share


def _columns_of_words(saved: SavedModel, identifier: str | None) -> frozenset[str]:
    """Columns to read as strings, even if they look like numbers."""
    words = set() if identifier is None else {identifier}
    if saved.preparation is not None:
        words |= {one.name for one in saved.preparation.columns_used if one.kind == "category"}
    return frozenset(words)


def predictions_of(saved: SavedModel, frame: Any, extras: Extras | None = None) -> Any:
    """The predictions of some rows, as a data frame."""
    extras = extras or Extras()
    import pandas

    columns: dict[str, Any] = {}
    if extras.identifier is not None:
        columns[extras.identifier] = _identifier(frame, extras.identifier)
    with model_failures(saved.path):
        X = saved.features(frame)
        try:
            predicted = saved.model.predict(X)
            probabilities = saved.model.predict_proba(X) if extras.proba else None
        except UserError:
            raise
        except ValueError as error:
            raise UserError(f"{saved.path.name} rejects these rows: {error}") from error
        columns["prediction"] = predicted
        if probabilities is not None:
            for j, label in enumerate(saved.model.classes_):
                columns[f"probability_{label}"] = probabilities[:, j]
        if extras.coverage is not None:
            columns |= interval_columns(saved.model, X, extras.coverage)
        if extras.n_reasons is not None:
            columns["reasons"] = reasons(saved.model, X, predicted, extras.n_reasons)
        return pandas.DataFrame(columns)


def _identifier(frame: Any, name: str) -> Any:
    found = [column for column in frame.columns if str(column).strip() == name]
    if not found:
        near = nearest_names(name, map(str, frame.columns))
        raise UserError(f"--id: the data has no column {name!r}{near}.")
    taken = ("prediction", "low", "high", "set", "reasons")
    if name in taken or name.startswith("probability_"):
        raise UserError(f"--id {name}: the output has a column of this name; rename yours.")
    return frame[found[0]].to_numpy()


def _tell(options: argparse.Namespace, saved: SavedModel, n_rows: int, seconds: float) -> None:
    if options.json:
        print_json(
            {
                "model": str(saved.path),
                "data": options.data,
                "output": str(options.output),
                "target": None if saved.preparation is None else saved.preparation.target,
                "rows": n_rows,
                "seconds": seconds,
            }
        )
    elif options.output is not None:
        rows = f"{n_rows:,} row{'s' * (n_rows != 1)}"
        say(
            f"{rows} predicted in {duration_text(seconds)} and written to {options.output}.",
            quiet=options.quiet,
        )


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
