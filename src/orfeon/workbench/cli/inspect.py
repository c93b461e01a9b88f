"""The command ``orfeon inspect``: what is in a model, a data file or a results store."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orfeon.errors import UserError
from orfeon.utils.text import duration_text, short, size_text
from orfeon.workbench.cli.options import add_output_options, command_parser, count
from orfeon.workbench.cli.output import plain_value, print_facts, print_json, print_table, printable
from orfeon.workbench.cli.saved_models import (
    add_foreign_option,
    error_text,
    model_failures,
    read_saved,
    refuse_pickles,
)

_DESCRIPTION = """\
Describes what WHAT names. Files are recognised by their first bytes, not by their names:

  a model file  what it predicts and from which columns, its members and nodes,
                size on disk, parameters, training error, and the ten most
                important features
  a data file   the kind of every column, missing values, duplicate rows, and the
                classes (--target); or the name of a data set ('orfeon datasets')
  a store       its studies: when they started, how many runs are done, and how
                long they took; a file, or postgresql://host/results
  methods       the word itself: the methods of 'orfeon fit' and 'orfeon study'

Nothing is changed, and no code in a file is run.
"""

_EXAMPLES = """\
orfeon inspect waveform
orfeon inspect model.orfeon
orfeon inspect wine.csv --target class
orfeon inspect orfeon-study/wine/store.db --json
orfeon inspect methods
"""

_TOP = 10
#: Training figures that commands save, printed as numbers.
_FIGURES = ("error", "rmse", "r2", "oob_error", "oob_r2")
_SQLITE = b"SQLite format 3\0"


def add_parser(subparsers: Any) -> None:
    """Define the arguments."""
    parser = command_parser(
        subparsers,
        "inspect",
        "describe a model, a data file or a results store",
        _DESCRIPTION,
        _EXAMPLES,
    )
    parser.add_argument(
        "what",
        metavar="WHAT",
        help="a model, a data file, a store, the name of a data set, or methods",
    )
    parser.add_argument("--target", metavar="COL", help="for data files: the column to predict")
    parser.add_argument(
        "--rows", type=count, metavar="N", help="for data files: read a random sample of N rows"
    )
    add_foreign_option(parser)
    add_output_options(parser, progress=False)


def run(options: argparse.Namespace) -> int:
    """Detect the kind, and describe it."""
    kind = kind_of(options.what)
    if kind != "data" and (options.target is not None or options.rows is not None):
        raise UserError(f"--target and --rows are for data files, but {options.what} is {kind}.")
    if kind == "data":
        facts, show = _data_facts(options.what, options.target, options.rows), _show_data
    elif kind == "a model":
        facts, show = _model_facts(Path(options.what).expanduser(), options.foreign), _show_model
    elif kind == "a store":
        facts, show = _store_facts(options.what), _show_store
    else:
        facts, show = _method_facts(), _show_methods
    if options.json:
        print_json(facts)
    else:
        show(facts)
    return 0


def kind_of(what: str) -> str:
    """What an argument names: a model, a store, the methods, or data."""
    if "://" in what:
        return "a store"
    path = Path(what).expanduser()
    if path.is_dir():
        raise UserError(f"{what} is a folder{_inspectable(path)}.")
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(len(_SQLITE))
        if head.startswith(_SQLITE):
            return "a store"
        refuse_pickles(path)
        return "a model" if path.suffix == ".orfeon" or _is_model(path) else "data"
    if path.suffix == ".orfeon":
        raise UserError(f"There is no file {what}.")
    return "the list of methods" if what == "methods" else "data"


def _is_model(path: Path) -> bool:
    from orfeon.io.directory import read_directory
    from orfeon.io.errors import ModelFileError

    try:
        with path.open("rb") as file:
            listed, _ = read_directory(file, path.stat().st_size)
    except ModelFileError:  # some other zip, or none at all
        return False
    return any(member.name == "model.json" for member in listed)


def _inspectable(folder: Path) -> str:
    found = sorted(file.name for ending in ("*.orfeon", "*.db") for file in folder.glob(ending))
    return f": name a file in it, such as {folder / found[0]}" if found else ""


# -- models ----------------------------------------------------------------------------------------


def _model_facts(path: Path, foreign: bool) -> dict[str, Any]:
    saved = read_saved(path, foreign=foreign)
    _check_about(saved.about, path)
    inside = saved.described()
    preparation = inside.pop("preparation", None)
    columns = [] if saved.preparation is None else list(saved.preparation.columns)
    return {
        "kind": "model",
        "path": str(path),
        **inside,
        "task": saved.task,
        "target": None if saved.preparation is None else saved.preparation.target,
        "columns": columns,
        "has_preparation": preparation is not None,
        "importances": _importances(saved),
    }


def _check_about(about: Mapping[str, Any], path: Path) -> None:
    """Reject figures that cannot be printed as numbers; a forged file may hold anything."""
    training = about.get("training")
    figures = training if isinstance(training, Mapping) else {}
    given = {f"training.{name}": figures[name] for name in _FIGURES if name in figures}
    if _has_time(about):
        given["seconds"] = about["seconds"]
    for name, value in given.items():
        if value is not None and not _is_number(value):
            raise UserError(
                f"{path} cannot be described: about.{name} must be a finite number or null, "
                f"got {short(repr(value), 40)}."
            )


def _is_number(value: Any) -> bool:
    try:
        return type(value) in (int, float) and math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def _importances(saved: Any) -> dict[str, float] | None:
    """Impurity-based importances of the features, largest first."""
    import numpy as np
    from sklearn.exceptions import NotFittedError

    from orfeon.data.schema import names_of

    with model_failures(saved.path):
        try:
            found = np.asarray(saved.model.feature_importances_, dtype=float)
        except (AttributeError, NotFittedError, ValueError):
            return None
    names = () if saved.preparation is None else saved.preparation.features
    if len(names) != len(found):
        names = names_of(saved.model, len(found))
    order = np.argsort(-found, kind="stable")
    return {names[j]: float(found[j]) for j in order}


def _show_model(facts: dict[str, Any]) -> None:
    about = facts["about"] if isinstance(facts["about"], dict) else {}
    classes = facts["classes"]
    features = facts["columns"] or facts["feature_names"]
    print_facts(
        [
            ("model", facts["model"]),
            ("file", f"{facts['path']} ({size_text(facts['file_bytes'])})"),
            ("predicts", _predicts(facts)),
            ("classes", _shortened(classes) if facts["task"] == "classification" else None),
            ("features", f"{facts['n_features']:,}"),
            ("columns", _shortened(features)),
            ("members", facts.get("n_members")),
            ("trees", f"{facts['n_trees']:,}" if facts["n_trees"] else None),
            ("nodes", f"{facts['n_nodes']:,}" if facts["n_nodes"] else None),
            ("maximum depth", facts.get("max_depth")),
            ("parameters", _pairs(facts["parameters"])),
            ("training error", _training_text(about)),
            ("training time", duration_text(about["seconds"]) if _has_time(about) else None),
            *((name, _flat(about[name])) for name in about if not _has_its_line(name, about)),
            ("saved with", _pairs(facts["made_by"], " ")),
        ]
    )
    if facts["importances"]:
        top = list(facts["importances"].items())[:_TOP]
        print()
        print_table(
            ["feature", "importance"],
            [[printable(name, 50), f"{share:.1%}"] for name, share in top],
            to_the_right={1},
        )
        left = len(facts["importances"]) - len(top)
        if left > 0:
            print(f"and {left:,} more.")


def _has_its_line(name: str, about: Mapping[str, Any]) -> bool:
    """Whether a fact has its own line; what users save under the same name is printed as is."""
    if name == "seconds":
        return _has_time(about)
    return name in ("task", "target") or (name == "training" and isinstance(about[name], Mapping))


def _has_time(about: Mapping[str, Any]) -> bool:
    return isinstance(about.get("seconds"), int | float)


def _predicts(facts: dict[str, Any]) -> str:
    if facts["target"]:
        return f"{facts['target']} ({facts['task']})"
    return "a class" if facts["task"] == "classification" else "a number"


def _training_text(about: Mapping[str, Any]) -> str | None:
    figures = about.get("training")
    if not isinstance(figures, Mapping):
        return None
    # Non-finite figures were saved as null.
    known = {name: figures[name] for name in _FIGURES if figures.get(name) is not None}
    text = error_text({"r2": math.nan, **known}) if {"error", "rmse"} & set(known) else ""
    if "oob_error" in known:
        text += f" (out of bag {known['oob_error']:.2%})"
    if "oob_r2" in known:
        text += f" (out of bag R² {known['oob_r2']:.3f})"
    return text.lstrip() or None


def _shortened(values: Any, at_most: int = 12) -> str | None:
    if not values:
        return None
    shown = ", ".join(printable(value, 40) for value in values[:at_most])
    return f"{shown} and {len(values) - at_most:,} more" if len(values) > at_most else shown


def _pairs(values: Any, sign: str = "=") -> str | None:
    if not isinstance(values, Mapping) or not values:
        return None
    return ", ".join(f"{name}{sign}{printable(value, 60)}" for name, value in values.items())


def _flat(value: Any) -> str | None:
    if value is None or value in ({}, []):
        return None
    if isinstance(value, Mapping):
        return _pairs(value)
    return printable(value if isinstance(value, str) else json.dumps(plain_value(value)), 200)


# -- data ------------------------------------------------------------------------------------------


def _data_facts(what: str, target: str | None, rows: int | None) -> dict[str, Any]:
    from orfeon.workbench.cli.tables import read_table
    from orfeon.workbench.prepare import profile_frame

    table = read_table(what, rows=rows)
    aim = target if target is not None else table.target
    profile = profile_frame(table.frame, aim)
    path = Path(what).expanduser()
    return {
        "kind": "data",
        "path": what,
        "file_bytes": path.stat().st_size if path.is_file() else None,
        "memory_bytes": int(table.frame.memory_usage(deep=True).sum()),
        "notes": list(table.notes),
        **profile.to_dict(),
    }


def _show_data(facts: dict[str, Any]) -> None:
    columns = facts["columns"]
    shares = facts["class_shares"] if facts["target"] else {}
    file_bytes = facts["file_bytes"]
    print_facts(
        [
            ("data", f"{facts['path']}{f' ({size_text(file_bytes)})' if file_bytes else ''}"),
            ("rows", f"{facts['n_rows']:,}"),
            ("columns", f"{len(columns):,}"),
            ("duplicate rows", f"{facts['n_duplicates']:,}" if facts["n_duplicates"] else None),
            ("missing values", f"{sum(each['n_missing'] for each in columns):,}"),
            ("target", facts["target"] or None),
            ("target values", _shares_text(shares)),
        ]
    )
    print()
    print_table(
        ["column", "kind", "missing", "distinct", "example values"],
        [
            [
                printable(each["name"], 40),
                each["kind"],
                f"{each['n_missing']:,}",
                f"{each['n_distinct']:,}",
                printable(", ".join(map(_short_number, each["examples"][:4])), 50),
            ]
            for each in columns
        ],
        to_the_right={2, 3},
    )
    for note in facts["notes"]:
        print(f"- {printable(note)}")


def _short_number(example: str) -> str:
    """Shorten a number to six digits, enough to recognise it."""
    try:
        return f"{float(example):.6g}" if len(example) > 8 else example
    except ValueError:
        return example


def _shares_text(shares: Mapping[str, float]) -> str | None:
    """Shares of the classes; None for numeric targets, which have too many values."""
    if not shares or len(shares) > 20:
        return None
    return ", ".join(f"{printable(name, 30)} {share:.1%}" for name, share in shares.items())


# -- stores and methods ----------------------------------------------------------------------------


def _store_facts(where: str) -> dict[str, Any]:
    from orfeon.workbench.store import Store

    with Store(where, read_only=True) as store:
        studies = store.studies()
        return {
            "kind": "store",
            "place": store.place,
            "studies": [
                {
                    "name": each.name,
                    "begun": each.begun,
                    "runs": each.n_runs,
                    "last_finished": each.last_finished,
                    "seconds": each.seconds,
                    "configuration": each.configuration,
                }
                for each in studies
            ],
        }


def _show_store(facts: dict[str, Any]) -> None:
    studies = facts["studies"]
    print_facts([("store", facts["place"]), ("studies", len(studies))])
    if not studies:
        return
    print()
    print_table(
        ["study", "started", "runs", "last run finished", "total run time"],
        [
            [
                printable(each["name"], 50),
                each["begun"][:19].replace("T", " "),
                f"{each['runs']:,}",
                (each["last_finished"] or "")[:19].replace("T", " "),
                duration_text(each["seconds"]) if each["runs"] else "",
            ]
            for each in studies
        ],
        to_the_right={2, 4},
    )


def _method_facts() -> dict[str, Any]:
    from orfeon.workbench.experiment.methods import METHODS

    return {
        "kind": "methods",
        "methods": [
            {
                "name": name,
                "title": method.title,
                "idea": method.idea,
                "tasks": list(method.tasks),
                "members": method.members,
                "is_prunable": method.is_prunable,
                "is_default": method.is_default,
            }
            for name, method in METHODS.items()
        ],
    }


def _show_methods(facts: dict[str, Any]) -> None:
    print_table(
        ["method", "tasks", "members", "prunable", "what it does"],
        [
            [
                f"{each['name']}{'' if each['is_default'] else ' *'}",
                "both" if len(each["tasks"]) == 2 else each["tasks"][0],
                each["members"],
                "yes" if each["is_prunable"] else "",
                each["idea"],
            ]
            for each in facts["methods"]
        ],
        to_the_right={2},
    )
    print("\n* compared by 'orfeon study' only when named.")
