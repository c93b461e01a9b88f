"""The command ``orfeon score``: evaluate a saved model on labelled rows."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from orfeon.errors import UserError
from orfeon.utils.text import nearest_names
from orfeon.utils.types import Floats
from orfeon.workbench.cli import options as types
from orfeon.workbench.cli.options import command_parser
from orfeon.workbench.cli.output import print_json, print_table, say
from orfeon.workbench.cli.saved_models import (
    SavedModel,
    add_foreign_option,
    model_failures,
    read_saved,
)
from orfeon.workbench.cli.tables import read_table
from orfeon.workbench.experiment.metrics import METRICS, Answers
from orfeon.workbench.experiment.row_columns import read_weights
from orfeon.workbench.experiment.scoring import Scored, model_answers, scores_with_intervals
from orfeon.workbench.experiment.thresholds import Costs, best_threshold, rarer_class

_DESCRIPTION = """\
Predicts the rows of a table with a saved model, compares the predictions with the target, and
prints metrics with 95% intervals (from 500 bootstrap samples of the rows) and the confusion of the
classes.

The table must not share rows with the training data, or the figures will be optimistic.

With --cost fn=10,fp=1, a missed positive costs ten times as much as a false alarm: the threshold
with the lowest cost is reported beside the usual one. The positive class is the rarer of two;
--positive names another. This threshold is chosen on these rows, so check it on others.
"""

_EXAMPLES = """\
orfeon fit waveform -o model.orfeon
orfeon score model.orfeon waveform:500
orfeon score model.orfeon labelled.csv --weights exposure
orfeon score model.orfeon labelled.csv --cost fn=10,fp=1 --positive yes --json
"""


def add_parser(subparsers: Any) -> None:
    """Define the arguments."""
    parser = command_parser(
        subparsers, "score", "evaluate a saved model on labelled rows", _DESCRIPTION, _EXAMPLES
    )
    parser.add_argument("model", type=types.existing_file, metavar="MODEL", help="a model file")
    parser.add_argument(
        "data", metavar="DATA", help="a file, - for standard input, or the name of a data set"
    )
    parser.add_argument(
        "--target", metavar="COL", help="the column of true values; default: that of the model"
    )
    parser.add_argument("--weights", metavar="COL", help="a column with the weight of each row")
    parser.add_argument(
        "--cost", type=Costs.read, metavar="fn=C,fp=C",
        help="what a missed positive (fn) and a false alarm (fp) cost",
    )  # fmt: skip
    parser.add_argument(
        "--positive", metavar="CLASS", help="the class that --cost is about; default: the rarer one"
    )
    add_foreign_option(parser)
    types.add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    """Evaluate."""
    saved = read_saved(options.model, foreign=options.foreign)
    table = read_table(options.data)
    frame = table.frame
    if not len(frame):
        raise UserError(f"{options.data} has no rows.")
    weights = None if options.weights is None else read_weights(frame, options.weights)
    with model_failures(saved.path):
        answers, classes, n_unknown = answers_of(saved, frame, options.target, weights)
    found = scores_with_intervals(answers, saved.task)
    threshold = None
    if options.cost is not None or options.positive is not None:
        threshold = _threshold(options, saved, answers, classes)
    document = {
        "model": str(saved.path), "data": options.data, "rows": len(answers.y),
        "rows_of_unknown_classes": n_unknown,
        "metrics": {
            name: {"value": value, "interval": list(ends)} for name, (value, *ends) in found.items()
        },
    }  # fmt: skip
    if classes:
        document["classes"] = classes
        document["confusion"] = _confusion(answers, len(classes))
    if threshold is not None:
        document["threshold"] = threshold
    if options.json:
        print_json(document)
    else:
        _print(document, saved, quiet=options.quiet)
    return 0


def answers_of(
    saved: SavedModel, frame: Any, target: str | None, weights: Floats | None
) -> tuple[Answers, list[str], int]:
    """Predictions beside the truth, the classes, and how many rows have unknown classes."""
    if weights is not None:
        frame = frame.assign(**{_WEIGHTS: weights})
    known = None if saved.preparation is None else saved.preparation.target
    column = target or known
    if column is not None and column not in frame.columns:
        raise UserError(
            f"The data has no column {column!r} to compare predictions with"
            f"{nearest_names(column, map(str, frame.columns))}."
        )
    if column is not None:
        frame = frame[frame[column].notna()]
    if weights is not None:
        weights = frame[_WEIGHTS].to_numpy()
        frame = frame.drop(columns=_WEIGHTS)
    X, y = saved.labelled(frame, target)
    found, n_unknown = model_answers(saved.model, X, y, saved.task, weights)
    classes = [] if saved.task == "regression" else list(map(str, saved.model.classes_))
    return found, classes, n_unknown


_WEIGHTS = "weight of the row, as orfeon score reads it"


def _confusion(answers: Answers, n_classes: int) -> list[list[float]]:
    """Weight of the rows of each true class, by predicted class."""
    weights = np.ones(len(answers.y)) if answers.weights is None else answers.weights
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (answers.y, answers.predicted), weights)
    found: list[list[float]] = counts.tolist()
    return found


def _threshold(
    options: argparse.Namespace, saved: SavedModel, answers: Answers, classes: list[str]
) -> dict[str, Any]:
    if len(classes) != 2 or not hasattr(saved.model, "predict_proba"):
        raise UserError("--cost needs a model of two classes with probabilities.")
    if options.cost is None:
        raise UserError("--positive goes with --cost: give both, or neither.")
    if options.positive is not None and options.positive not in classes:
        raise UserError(f"--positive: {options.positive!r} is not one of {', '.join(classes)}.")
    if options.positive is None:
        positive = rarer_class(answers.y)
    else:
        positive = classes.index(options.positive)
    found = best_threshold(
        answers.y == positive, answers.shares[:, positive], options.cost, answers.weights
    )
    return {"positive": classes[positive], **found}


def metric_rows(task: str, scores: Mapping[str, Scored]) -> list[list[str]]:
    """Rows of a table of metrics: title, value and interval."""
    rows = []
    for name, found in scores.items():
        metric = METRICS[task][name]
        value, low, high = (_text(one, is_share=metric.is_share) for one in found)
        rows.append([metric.title, value, f"{low} to {high}"])
    return rows


def _print(document: dict[str, Any], saved: SavedModel, *, quiet: bool) -> None:
    scores = {name: (one["value"], *one["interval"]) for name, one in document["metrics"].items()}
    rows = metric_rows(saved.task, scores)
    title = f"{saved.path.name} on {document['rows']:,} rows of {document['data']}"
    print_table(["metric", "value", "95% interval"], rows, title=title, to_the_right={1, 2})
    if "classes" in document:
        classes = document["classes"]
        print()
        print_table(
            ["true class", *classes],
            [
                [name, *(f"{count:,.6g}" for count in counts)]
                for name, counts in zip(classes, document["confusion"], strict=True)
            ],
            title="Rows by true class and predicted class",
            to_the_right=set(range(1, len(classes) + 1)),
        )
    if "threshold" in document:
        found = document["threshold"]
        print(
            f"\nPredict {found['positive']} at a probability of {found['threshold']:.3g} or more: "
            f"a cost of {found['cost']:.4g} per row, against {found['usual_cost']:.4g} at one half."
        )
    if document["rows_of_unknown_classes"]:
        n = document["rows_of_unknown_classes"]
        say(f"{n:,} rows of classes that the model does not know were left out.", quiet=quiet)


def _text(value: float, *, is_share: bool) -> str:
    if not math.isfinite(value):
        return "-"
    return f"{100 * value:.2f}%" if is_share else f"{value:.4g}"
