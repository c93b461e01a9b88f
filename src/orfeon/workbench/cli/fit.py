"""The command ``orfeon fit``: one method, one table, one model file."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orfeon.errors import UserError
from orfeon.utils.text import duration_text, nearest_names, size_text
from orfeon.workbench.cli import options as types
from orfeon.workbench.cli.options import command_parser
from orfeon.workbench.cli.output import is_terminal, print_facts, print_json, say
from orfeon.workbench.cli.saved_models import error_text, errors_of
from orfeon.workbench.cli.tables import read_table, target_of

_DESCRIPTION = """\
Fits one method to a table and saves the model with everything needed to predict new rows: columns,
categories, dates, the target. Columns that cannot help (row identifiers, constants, free text) are
dropped and listed. To find out which method suits your data, and how well it predicts new rows, run
'orfeon study' instead: the training error that this command prints does not tell you.

DATA is a file (CSV, also compressed; Parquet, ARFF, NPZ; - for standard input) or the name of a
data set (see 'orfeon datasets').
"""

_EXAMPLES = """\
orfeon fit waveform -o model.orfeon
orfeon fit wine.csv --target class --method bagging --members 500 -o bag.orfeon
orfeon fit homes.parquet --target price --method gradient_boosting --set learning_rate=0.05 \\
    --set max_depth=5 -o boost.orfeon
"""

#: With fewer members, some rows are in every bootstrap sample and have no out-of-bag estimate.
_ENOUGH_FOR_OUT_OF_BAG = 50


def add_parser(subparsers: Any) -> None:
    """Define the arguments."""
    from orfeon.workbench.experiment.methods import METHODS

    width = max(map(len, METHODS)) + 1
    methods = "\n".join(f"  {name:<{width}} {method.idea}" for name, method in METHODS.items())
    parser = command_parser(
        subparsers,
        "fit",
        "fit one method to a table and save the model",
        f"{_DESCRIPTION}\nMethods:\n{methods}\n",
        _EXAMPLES,
    )
    parser.add_argument("data", metavar="DATA", help="a file, or the name of a data set")
    parser.add_argument(
        "-o", "--output", type=types.output_file, required=True, metavar="FILE",
        help="where to save the model, such as model.orfeon",
    )  # fmt: skip
    parser.add_argument(
        "--target", metavar="COL", help="the column to predict; optional for named data sets"
    )
    parser.add_argument(
        "--method", default="random_forest", metavar="NAME", help="see above; default: %(default)s"
    )
    parser.add_argument(
        "--members", type=types.count, metavar="N",
        help="number of members; default: depends on the method, mostly 200",
    )  # fmt: skip
    parser.add_argument(
        "--set", type=types.setting, action="append", metavar="NAME=VALUE", dest="settings",
        help="a parameter of the estimator; may be repeated; parameters of its members have a "
        "prefix: estimator__max_depth=3",
    )  # fmt: skip
    _add_data_options(parser)
    parser.add_argument(
        "--seed", type=types.seed, default=0, metavar="S", help="random seed; default: 0"
    )
    parser.add_argument(
        "--n-jobs", type=types.jobs, default=-1, metavar="J",
        help="number of threads, which does not affect the model; default: -1, all cores",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    types.add_output_options(parser)


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--task", choices=["auto", "classification", "regression"], default="auto",
        help="default: auto, inferred from the target",
    )  # fmt: skip
    parser.add_argument(
        "--drop", type=types.names, default=[], metavar="A,B", help="columns to ignore"
    )
    parser.add_argument(
        "--use", type=types.names, default=[], metavar="A,B",
        help="columns to use even if they look like row identifiers, constants or free text",
    )  # fmt: skip
    parser.add_argument(
        "--rows", type=types.count, metavar="N", help="fit on a random sample of N rows"
    )


def run(options: argparse.Namespace) -> int:
    """Fit and save."""
    method = _method(options.method)
    types.check_output(options.output, force=options.force)
    import orfeon
    from orfeon.workbench.prepare import prepare

    table = read_table(options.data, rows=options.rows)
    prepared = prepare(
        table.frame,
        target_of(table, options.target),
        task=options.task,
        drop=options.drop,
        keep_columns=options.use,
    )
    for note in (*table.notes, *prepared.notes):
        say(note, quiet=options.quiet or options.json)
    estimator = method.build(
        prepared.task, options.seed, n_jobs=options.n_jobs, members=options.members, X=prepared.X
    )
    settings = types.merged(options.settings)
    _set(estimator, settings, method.name)
    start = time.perf_counter()
    _fit(estimator, prepared.X, prepared.y, settings, quiet=options.quiet)
    seconds = time.perf_counter() - start
    about = {
        "method": method.name,
        "settings": settings,
        "seed": options.seed,
        "data": table.name,
        "rows": len(prepared.X),
        "task": prepared.task,
        "target": prepared.preparation.target,
        "training": _figures(estimator, prepared),
        "seconds": seconds,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    orfeon.save(
        _without_habits(estimator),
        options.output,
        preparation=prepared.preparation,
        about=about,
    )
    _tell(options, about, prepared, estimator)
    return 0


def _method(name: str) -> Any:
    from orfeon.workbench.experiment.methods import METHODS

    method = METHODS.get(name)
    if method is None:
        raise UserError(
            f"--method: unknown method {name!r}{nearest_names(name, METHODS)}. "
            f"The methods are {', '.join(METHODS)}."
        )
    if not method.is_delivered:
        raise UserError(
            f"--method: model files do not hold models of {method.title}; train and save it with "
            "its own package."
        )
    return method


def _set(estimator: Any, settings: dict[str, Any], method: str) -> None:
    """Set parameters; an unknown one is rejected with the nearest names."""
    known = estimator.get_params(deep=True)
    for name in settings:
        if name not in known:
            able = sorted(other for other in known if "__" not in other)
            raise UserError(
                f"--set {name}: {method} has no parameter {name!r}"
                f"{nearest_names(name, known)}. Its parameters are {', '.join(able)}."
            )
    try:
        estimator.set_params(**settings)
    except (AttributeError, TypeError, ValueError) as error:
        raise _refused(settings, error) from error


def _refused(settings: dict[str, Any], error: Exception) -> UserError:
    """The error of a fit, with the settings that may have caused it."""
    given = "".join(f" --set {name}={value}" for name, value in settings.items())
    return UserError(f"The method cannot be fitted{' with' if given else ''}{given}: {error}")


def _fit(estimator: Any, X: Any, y: Any, settings: dict[str, Any], *, quiet: bool) -> None:
    known = estimator.get_params(deep=False)
    if "verbose" in known and not quiet and is_terminal(sys.stderr):
        estimator.set_params(verbose=1)
    is_bag = known.get("oob_score") is False and known.get("bootstrap")
    n_members = known.get("n_estimators")
    if is_bag and isinstance(n_members, int) and n_members >= _ENOUGH_FOR_OUT_OF_BAG:
        estimator.set_params(oob_score=True)
    mistakes: tuple[type[Exception], ...] = (ValueError, TypeError)
    if settings:  # such as estimator=abc, a string without methods
        mistakes = (*mistakes, AttributeError)
    try:
        estimator.fit(X, y)
    except UserError:
        raise
    except mistakes as error:
        raise _refused(settings, error) from error


def _figures(estimator: Any, prepared: Any) -> dict[str, Any]:
    """Training errors, and out-of-bag ones where the method computes them anyway."""
    figures: dict[str, Any] = errors_of(prepared.task, prepared.y, estimator.predict(prepared.X))
    score = getattr(estimator, "oob_score_", None)
    if score is not None:
        name = "oob_error" if prepared.task == "classification" else "oob_r2"
        figures[name] = float(1 - score if prepared.task == "classification" else score)
    return figures


def _without_habits(estimator: Any) -> Any:
    """The model without settings of this run only: threads and progress bars."""
    known = estimator.get_params(deep=False)
    plain = {"verbose": 0, "n_jobs": None}
    estimator.set_params(**{name: value for name, value in plain.items() if name in known})
    return estimator


def _tell(options: argparse.Namespace, about: dict[str, Any], prepared: Any, model: Any) -> None:
    path: Path = options.output
    n_bytes = path.stat().st_size
    if options.json:
        more = {
            "model": str(path),
            "estimator": type(model).__name__,
            "bytes": n_bytes,
            "features": list(map(str, prepared.X.columns)),
            "classes": list(prepared.preparation.classes),
            "notes": list(prepared.notes),
        }
        print_json({**about, **more})
        return
    figures = about["training"]
    out_of_bag = figures.get("oob_error", figures.get("oob_r2"))
    shown = "out-of-bag R²" if "oob_r2" in figures else "out-of-bag error"
    classes = len(prepared.preparation.classes)
    print_facts(
        [
            ("model", f"{path} ({size_text(n_bytes)})"),
            ("method", f"{about['method']} ({type(model).__name__})"),
            ("target", f"{about['target']} ({classes} classes)" if classes else about["target"]),
            ("rows", f"{about['rows']:,}"),
            ("features", f"{prepared.X.shape[1]:,}"),
            ("training error", error_text(figures)),
            (shown, _out_of_bag_text(out_of_bag, shown)),
            ("fit time", duration_text(about["seconds"])),
        ]
    )


def _out_of_bag_text(value: float | None, shown: str) -> str | None:
    if value is None:
        return None
    return f"{value:.3f}" if shown == "out-of-bag R²" else f"{value:.2%}"
