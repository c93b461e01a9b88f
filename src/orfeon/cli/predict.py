"""The command ``orfeon predict``: a saved model, new rows, their predictions."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orfeon.cli import options as types
from orfeon.cli.live import LiveDisplay
from orfeon.cli.output import print_json, say
from orfeon.cli.parser import command_parser
from orfeon.cli.prediction_files import FORMATS, format_of, open_predictions
from orfeon.cli.saved_models import SavedModel, add_foreign_option, model_failures, read_saved
from orfeon.cli.tables import read_pieces
from orfeon.errors import UserError
from orfeon.wording import duration_text, nearest_names

_DESCRIPTION = """\
Applies a saved model to the rows of a table and writes a row for each, in their order: to a file,
or as CSV to standard output. The table needs the columns that the model was trained with, by name
and in any order; others are passed over, and so is the target. Categories that training did not
see count as missing.

Rows are read, predicted and written some thousands at a time, so a CSV or Parquet file of any
size goes through in little memory. A file appears under its name when it is whole.

The column 'prediction' holds the class or the number. With --proba there is also a column
'probability_CLASS' for each class.
"""

_EXAMPLES = """\
orfeon fit waveform -o model.orfeon
orfeon predict model.orfeon waveform:20
orfeon predict model.orfeon new.csv --id customer --proba -o predictions.csv
orfeon predict model.orfeon new.parquet -o predictions.parquet
cat new.csv | orfeon predict model.orfeon - --format jsonl | head
"""


def add_parser(subparsers: Any) -> None:
    """Say what the command takes."""
    parser = command_parser(
        subparsers, "predict", "apply a saved model to new rows", _DESCRIPTION, _EXAMPLES
    )
    parser.add_argument("model", type=types.existing_file, metavar="MODEL", help="a model file")
    parser.add_argument(
        "data", metavar="DATA", help="a file, - for standard input, or the name of a data set"
    )
    parser.add_argument(
        "-o", "--output", type=types.output_file, metavar="FILE",
        help="where predictions go: .csv, .csv.gz, .jsonl or .parquet; default: standard output",
    )  # fmt: skip
    parser.add_argument("--proba", action="store_true", help="also the probability of each class")
    parser.add_argument(
        "--id", metavar="COL", help="a column of the data to put before the predictions"
    )
    parser.add_argument(
        "--format", choices=FORMATS, help="default: by the name of FILE; csv on standard output"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    add_foreign_option(parser)
    types.add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    """Predict, piece by piece."""
    output: Path | None = options.output
    form = format_of(output, options.format)
    if output is not None:
        types.check_output(output, force=options.force)
    elif options.json:
        raise UserError(
            "--json needs a file for the predictions: name it with -o; or take --format jsonl, "
            "a JSON object a line."
        )
    saved = read_saved(options.model, foreign=options.foreign)
    _check_asked(saved, options.proba)
    start = time.perf_counter()
    n_rows = 0
    with LiveDisplay("predicting", quiet=options.quiet or output is None) as display:
        display.start(100)
        with open_predictions(output, form) as file:
            for piece in _predictions(saved, options.data, options.id, options.proba, display):
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
        raise UserError(f"--proba: {kind} gives no probabilities; leave it out.")


def _predictions(
    saved: SavedModel, data: str, identifier: str | None, proba: bool, display: LiveDisplay
) -> Iterator[Any]:
    """The predictions of a table, some thousand rows at a time."""
    read = 0.0
    n_rows = 0
    for frame, share in read_pieces(data, _columns_of_words(saved, identifier)):
        if not len(frame):
            continue
        display.running([f"rows {n_rows + 1:,} to {n_rows + len(frame):,}"])
        yield predictions_of(saved, frame, identifier=identifier, proba=proba)
        n_rows += len(frame)
        display.advance(100 * (share - read), f"{n_rows:,} rows")
        read = share


def _columns_of_words(saved: SavedModel, identifier: str | None) -> frozenset[str]:
    """Columns whose cells are taken as they are written, not as numbers they may look like."""
    words = set() if identifier is None else {identifier}
    if saved.preparation is not None:
        words |= {plan.name for plan in saved.preparation.columns_used if plan.kind == "category"}
    return frozenset(words)


def predictions_of(
    saved: SavedModel, frame: Any, *, identifier: str | None = None, proba: bool = False
) -> Any:
    """The predictions of some rows, as a table."""
    import pandas

    columns: dict[str, Any] = {}
    if identifier is not None:
        columns[identifier] = _identifier(frame, identifier)
    with model_failures(saved.path):
        X = saved.attributes(frame)
        try:
            predicted = saved.model.predict(X)
            probabilities = saved.model.predict_proba(X) if proba else None
        except UserError:
            raise
        except ValueError as error:
            raise UserError(f"{saved.path.name} refuses these rows: {error}") from error
        columns["prediction"] = predicted
        if probabilities is not None:
            for j, label in enumerate(saved.model.classes_):
                columns[f"probability_{label}"] = probabilities[:, j]
        return pandas.DataFrame(columns)


def _identifier(frame: Any, name: str) -> Any:
    found = [column for column in frame.columns if str(column).strip() == name]
    if not found:
        near = nearest_names(name, map(str, frame.columns))
        raise UserError(f"--id: the data has no column {name!r}{near}.")
    if name == "prediction" or name.startswith("probability_"):
        raise UserError(f"--id {name}: this is the name of a column of predictions; rename it.")
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
            f"{rows} predicted in {duration_text(seconds)}, written to {options.output}.",
            quiet=options.quiet,
        )
