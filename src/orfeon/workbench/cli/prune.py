"""The command ``orfeon prune``: order the members of a saved ensemble and keep the first ones."""

from __future__ import annotations

import argparse
import time
from typing import Any

from orfeon.errors import UserError
from orfeon.utils.text import duration_text, nearest_names, size_text
from orfeon.workbench.cli import options as types
from orfeon.workbench.cli.live import LiveDisplay
from orfeon.workbench.cli.options import command_parser
from orfeon.workbench.cli.output import print_json, print_table, say
from orfeon.workbench.cli.saved_models import (
    SavedModel,
    add_foreign_option,
    error_text,
    errors_of,
    model_failures,
    read_saved,
)
from orfeon.workbench.cli.tables import read_table

_DESCRIPTION = """\
Orders the members of a saved ensemble and keeps the first ones. A fifth of a bagging ensemble or a
forest usually errs no more than the whole, often less, and is five times smaller and faster.
Members stay as they were trained; nothing is refitted.

DATA holds the labelled rows that the members are ordered on, usually the training set. Errors on
those rows are optimistic for both models; use --test with other rows for a reliable estimate.

MODEL is an ensemble saved by orfeon, such as 'orfeon fit' and 'orfeon study' write. Pickles (.pkl,
.joblib) are never loaded, because loading one can run arbitrary code; in Python, orfeon.prune()
takes scikit-learn's forests directly.
"""

_EXAMPLES = """\
orfeon fit waveform --method bagging -o bag.orfeon
orfeon prune bag.orfeon waveform -o small.orfeon
orfeon prune bag.orfeon train.csv --keep 21 --test test.csv -o small.orfeon
orfeon prune bag.orfeon train.csv --rule complementarity --keep auto -o auto.orfeon
"""

#: Facts about the whole model that do not hold for the pruned one.
_OF_THE_WHOLE = ("training", "seconds")
#: Rows predicted to measure the speed.
_TIMED_ROWS = 1000
_TIMES = 3


def _keep(text: str) -> int | float | str:
    return text if text in ("auto", "rule") else types.size(text)


def add_parser(subparsers: Any) -> None:
    """Define the arguments."""
    from orfeon.ordering import ORDERING_RULES

    parser = command_parser(
        subparsers,
        "prune",
        "prune a saved ensemble to the members that matter",
        _DESCRIPTION,
        _EXAMPLES,
    )
    parser.add_argument("model", type=types.existing_file, metavar="MODEL", help="a model file")
    parser.add_argument(
        "data", metavar="DATA", help="labelled rows: a file or the name of a data set"
    )
    parser.add_argument(
        "-o", "--output", type=types.output_file, required=True, metavar="FILE",
        help="where to save the smaller model",
    )  # fmt: skip
    parser.add_argument(
        "--rule", metavar="NAME",
        help="how to order the members; default: margin_distance for classification, reduce_error "
        f"for regression; all: {', '.join(sorted(ORDERING_RULES))}",
    )  # fmt: skip
    parser.add_argument(
        "--keep", type=_keep, default=0.2, metavar="SIZE",
        help="a fraction (0.2, 20%%), a number of members (21), auto (the size with the lowest "
        "cross-validated error) or rule (the size that the rule suggests); default: 0.2",
    )  # fmt: skip
    parser.add_argument(
        "--on", choices=["train", "out_of_bag"], default="train",
        help="train: all members vote on all rows of DATA; out_of_bag: each member votes on the "
        "rows it was not trained on (DATA must be the training rows, in the same order); default: "
        "train",
    )  # fmt: skip
    parser.add_argument(
        "--test", metavar="DATA", help="other labelled rows, to estimate the error on new data"
    )
    parser.add_argument(
        "--target", metavar="COL", help="the column to predict, for models that do not record it"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    add_foreign_option(parser)
    types.add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    """Prune, save, and compare."""
    import orfeon
    from orfeon.io import describe

    types.check_output(options.output, force=options.force)
    saved = read_saved(options.model, foreign=options.foreign)
    inside = saved.described()
    _check_members(saved, inside)
    rule = _rule(options.rule, saved)
    X, y = _labelled(saved, options.data, options.target)
    with LiveDisplay("pruning", quiet=options.quiet) as display:
        display.start(3)
        display.running([f"ordering by {rule}"])
        start = time.perf_counter()
        smaller = _pruned(saved, X, y, rule, options)
        seconds = time.perf_counter() - start
        display.advance(1, f"ordered by {rule}")
        display.running(["saving and measuring"])
        about = _about(saved, rule, options)
        orfeon.save(smaller, options.output, preparation=saved.preparation, about=about)
        display.advance(1)
        test = None if options.test is None else _labelled(saved, options.test, options.target)
        with model_failures(saved.path):
            figures = {
                name: _measured(model, facts, saved.task, (X, y), test)
                for name, model, facts in (
                    ("before", saved.model, inside),
                    ("after", smaller, describe(options.output, foreign=options.foreign)),
                )
            }
        display.advance(1)
    _tell(options, rule, figures, seconds)
    return 0


def _check_members(saved: SavedModel, inside: dict[str, Any]) -> None:
    """Reject a single tree, and a model made of others, before any data is read."""
    if inside.get("n_members") is None and inside.get("n_trees") == 1:
        raise UserError(
            f"{saved.path} cannot be pruned: a single tree has no members to leave out."
        )
    from orfeon.combining.composition import Composition

    if isinstance(saved.model, Composition):
        raise UserError(
            f"{saved.path} cannot be pruned: {type(saved.model).__name__} combines models of "
            "different kinds; 'orfeon study --deployable single --methods bagging,random_forest' "
            "delivers one that can be."
        )


def _rule(given: str | None, saved: SavedModel) -> str:
    from orfeon.ordering import ORDERING_RULES

    if given is None:
        return "margin_distance" if saved.task == "classification" else "reduce_error"
    if given not in ORDERING_RULES:
        raise UserError(
            f"--rule: unknown rule {given!r}{nearest_names(given, ORDERING_RULES)}. "
            f"The rules are {', '.join(ORDERING_RULES)}."
        )
    return given


def _labelled(saved: SavedModel, data: str, target: str | None) -> tuple[Any, Any]:
    table = read_table(data)
    # A model with a preparation records its target; one without may get it from a named data set.
    known = table.target if saved.preparation is None else None
    with model_failures(saved.path):
        return saved.labelled(table.frame, target or known)


def _pruned(saved: SavedModel, X: Any, y: Any, rule: str, options: argparse.Namespace) -> Any:
    from orfeon import prune

    with model_failures(saved.path):
        try:
            return prune(saved.model, X, y, rule=rule, keep=options.keep, on=options.on)
        except UserError:
            raise
        except (ValueError, TypeError) as error:
            raise UserError(f"{saved.path} cannot be pruned: {error}") from error


def _about(saved: SavedModel, rule: str, options: argparse.Namespace) -> dict[str, Any]:
    """Facts about the smaller model, without the errors and the time of the whole one."""
    known = {name: fact for name, fact in saved.about.items() if name not in _OF_THE_WHOLE}
    how = {"rule": rule, "keep": options.keep, "on": options.on}
    return {**known, "pruned": {"from": saved.path.name, **how}}


def _measured(
    model: Any, inside: dict[str, Any], task: str, data: Any, test: Any
) -> dict[str, Any]:
    """Size, errors and speed of a model."""
    X, y = data
    found: dict[str, Any] = {
        "members": inside.get("n_members"),
        "nodes": inside.get("n_nodes"),
        "bytes": inside["file_bytes"],
        "selection": errors_of(task, y, model.predict(X)),
        "seconds_per_1000_rows": _speed(model, X if test is None else test[0]),
    }
    if test is not None:
        found["test"] = errors_of(task, test[1], model.predict(test[0]))
    return found


def _speed(model: Any, X: Any) -> float:
    rows = X[:_TIMED_ROWS]
    seconds = []
    for _ in range(_TIMES):
        start = time.perf_counter()
        model.predict(rows)
        seconds.append(time.perf_counter() - start)
    return min(seconds) * 1000 / len(rows)


def _tell(
    options: argparse.Namespace, rule: str, figures: dict[str, dict[str, Any]], seconds: float
) -> None:
    before, after = figures["before"], figures["after"]
    if options.json:
        print_json(
            {
                "model": str(options.model),
                "output": str(options.output),
                "rule": rule,
                "keep": options.keep,
                "seconds": seconds,
                **figures,
            }
        )
        return
    rows = [
        ["members", before["members"], after["members"]],
        ["nodes", f"{before['nodes']:,}", f"{after['nodes']:,}"],
        ["file", size_text(before["bytes"]), size_text(after["bytes"])],
        ["error on DATA", error_text(before["selection"]), error_text(after["selection"])],
    ]
    if "test" in before:
        rows.append(["error on --test", error_text(before["test"]), error_text(after["test"])])
    speeds = [duration_text(each["seconds_per_1000_rows"]) for each in (before, after)]
    rows.append([f"{_TIMED_ROWS:,} predictions", *speeds])
    print_table(["", "before", "after"], rows, to_the_right={1, 2})
    if "test" not in before:
        say(
            "The members were chosen on DATA; use --test to estimate the error on new rows.",
            quiet=options.quiet,
        )
    say(
        f"Ordered by {rule} in {duration_text(seconds)} and saved to {options.output}.",
        quiet=options.quiet,
    )
