"""The command ``orfeon export``: export a saved model to an ONNX file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from orfeon.errors import UserError
from orfeon.utils.text import counted, size_text, some_of
from orfeon.workbench.cli import options as types
from orfeon.workbench.cli.options import command_parser
from orfeon.workbench.cli.output import print_json, print_table, say
from orfeon.workbench.cli.saved_models import (
    SavedModel,
    add_foreign_option,
    model_failures,
    read_saved,
)
from orfeon.workbench.cli.tables import read_pieces

_DESCRIPTION = """\
Exports a saved model to an ONNX file, for other languages and for machines without Python. The file
predicts as the model does, to the last vote. Trees and ensembles of trees can be exported, whole or
pruned, boosted or not, and so can the linear models, naive Bayes, networks and kernel machines of
'orfeon study', and ensemble selection among all of these; others are rejected with the reason.

A model of numeric features takes one matrix of doubles, X. If some features have strings as
categories, each feature is an input of its own, a column of strings or doubles. The command prints
the inputs and what they must contain: the ONNX file does not parse dates, and does not know which
rare categories were grouped.

With --check, onnxruntime runs the file on the rows of a table, and every prediction is compared
with the model's own.
"""

_EXAMPLES = """\
orfeon fit waveform -o model.orfeon
orfeon export model.orfeon model.onnx
orfeon export model.orfeon model.onnx --check waveform:100000
orfeon export model.orfeon votes.onnx --outputs label,votes --missing never
"""


#: Relative difference of sums that are added in another order.
_ROUNDING = 1e-9
#: ONNX's code for strings.
STRING = 8


def add_parser(subparsers: Any) -> None:
    """Define the arguments."""
    parser = command_parser(
        subparsers, "export", "export a saved model to an ONNX file", _DESCRIPTION, _EXAMPLES
    )
    parser.add_argument("model", type=types.existing_file, metavar="MODEL", help="a model file")
    parser.add_argument(
        "output", type=types.output_file, metavar="FILE", help="the ONNX file to write"
    )
    parser.add_argument(
        "--outputs", type=types.names, metavar="NAMES",
        help="outputs of the file: label, probabilities and votes of a classifier (default: the "
        "first two), prediction and predictions of a regressor (default: the first)",
    )  # fmt: skip
    parser.add_argument(
        "--missing", choices=["auto", "never"], default="auto",
        help="never: assume no missing values and no new categories, so that C4.5 trees can be "
        "exported; default: auto",
    )  # fmt: skip
    parser.add_argument(
        "--check",
        metavar="DATA",
        help="rows to compare predictions on: a file or the name of a data set",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    add_foreign_option(parser)
    types.add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    """Export, compare, and describe the inputs."""
    types.check_output(options.output, force=options.force)
    saved = read_saved(options.model, foreign=options.foreign)
    exported = _exported(saved, options)
    with model_failures(saved.path):
        content = exported.SerializeToString()
    checked = None
    if options.check is not None:
        checked = _compare(saved, content, options.check)
    from orfeon.utils.atomic_file import atomic_write

    with atomic_write(options.output) as file:
        file.write(content)
    _tell(options, saved, exported, len(content), checked)
    return 0


def _exported(saved: SavedModel, options: argparse.Namespace) -> Any:
    from orfeon.io.onnx import to_onnx

    with model_failures(saved.path):
        try:
            return to_onnx(saved.model, outputs=options.outputs, missing=options.missing)
        except (UserError, ValueError, ImportError) as error:
            hint = ""
            if "study" in saved.about:
                hint = " 'orfeon study --deployable onnx' delivers a model that can be."
            raise UserError(f"{saved.path} cannot be exported: {error}{hint}") from error


def _compare(saved: SavedModel, content: bytes, data: str) -> int:
    """Compare the predictions of file and model; return the number of rows."""
    from orfeon.io.onnx import as_inputs

    try:
        from onnxruntime import InferenceSession
    except ImportError as error:
        raise UserError(
            "--check runs the file with onnxruntime, which is not installed: "
            "pip install onnxruntime, or leave --check out."
        ) from error
    with model_failures(saved.path):
        session = InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    wanted = "label" if saved.task == "classification" else "prediction"
    found = [name for name in names if name.lstrip("_") == wanted]
    if not found:
        raise UserError(f"--check compares {wanted!r}, which is not among --outputs; add it.")
    n_rows = 0
    for frame, _ in read_pieces(data, frozenset(_words(saved))):
        if not len(frame):
            continue
        with model_failures(saved.path):
            X = saved.features(frame)
            (answers,) = session.run(found, as_inputs(saved.model, X))
            differ = np.flatnonzero(_differ(saved, answers, saved.model.predict(X)))
        if len(differ):
            raise UserError(
                f"--check: {len(differ):,} of {len(frame):,} predictions differ, the first in row "
                f"{n_rows + int(differ[0]) + 1:,} of {data}; nothing was written."
            )
        n_rows += len(frame)
    return n_rows


def _differ(saved: SavedModel, answers: Any, predicted: Any) -> Any:
    """Where predictions differ; sums that the runtime adds in its own order may, in last digits."""
    answers, predicted = np.asarray(answers), np.asarray(predicted)
    if saved.task == "regression" and _has_numeric_inputs(saved.model):
        return ~np.isclose(answers, predicted, rtol=_ROUNDING, atol=0.0)
    return answers != predicted


def _has_numeric_inputs(model: Any) -> bool:
    from orfeon.combining.numeric_inputs import inputs_of

    inside = getattr(model, "estimators_", []) if hasattr(model, "named_estimators_") else []
    return any(inputs_of(one) is not None for one in [model, *inside])


def _words(saved: SavedModel) -> set[str]:
    if saved.preparation is None:
        return set()
    return {one.name for one in saved.preparation.columns_used if one.kind == "category"}


def _inputs(saved: SavedModel, exported: Any) -> list[dict[str, str]]:
    """The inputs: names, types as runtimes call them, and contents."""
    from orfeon.io.onnx.rows import MATRIX

    holds = _feature_contents(saved)
    made = []
    for one in exported.graph.input:
        tensor = one.type.tensor_type
        kind = "string" if tensor.elem_type == STRING else "double"
        width = tensor.shape.dim[1].dim_value
        text = holds.get(one.name, "numbers; NaN where missing")
        if one.name == MATRIX and width == len(holds):
            dates = [f"{name} is {what}" for name, what in holds.items() if "date" in what]
            text = "; ".join([f"columns {some_of(holds, 8)}; NaN where missing", *dates])
        made.append({"name": one.name, "type": f"{kind} (n, {width})", "holds": text})
    return made


def _feature_contents(saved: SavedModel) -> dict[str, str]:
    """What each feature of a model with a preparation must contain."""
    if saved.preparation is None:
        return {}
    holds = {}
    for column in saved.preparation.columns_used:
        for feature, part in zip(column.features, column.parts or ("",), strict=False):
            if column.kind == "date":
                unit = "days since 1970" if part == "days" else part
                holds[feature] = f"the {unit} of the date {column.name!r}"
            elif column.kind == "category":
                others = f"; all others as {column.categories[-1]!r}" if column.has_other else ""
                holds[feature] = (
                    f"{some_of(map(repr, column.categories), 5)}{others}; '' where missing"
                )
            else:
                holds[feature] = "numbers; NaN where missing"
    return holds


def _tell(
    options: argparse.Namespace, saved: SavedModel, exported: Any, n_bytes: int, checked: int | None
) -> None:
    output: Path = options.output
    inputs = _inputs(saved, exported)
    outputs = [one.name for one in exported.graph.output]
    if options.json:
        print_json(
            {
                "model": str(saved.path),
                "output": str(output),
                "bytes": n_bytes,
                "inputs": inputs,
                "outputs": outputs,
                "rows_checked": checked,
            }
        )
        return
    print_table(["input", "type", "contents"], [list(one.values()) for one in inputs])
    compared = "" if checked is None else f" Predictions match on {counted(checked, 'row')}."
    say(
        f"Wrote {output} ({size_text(n_bytes)}); outputs: {', '.join(outputs)}.{compared}",
        quiet=options.quiet,
    )
