"""Files of published tables: the figures as CSV, and how they were made as TOML.

A table is added by adding both files to the folder ``tables``. A mistake in a TOML file is
reported with the name of the file and of the key.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NoReturn

from orfeon.errors import UserError
from orfeon.utils.text import nearest_names

_FOLDER = files("orfeon.workbench.reproduction") / "tables"
_WORDS = {str: "text", int: "an integer", float: "a number", bool: "true or false", dict: "a table",
          list: "an array"}  # fmt: skip
_NUMBER = (int, float)
#: Keys of a file and of its parts, and their types. ``estimator``, ``original``, ``grid``,
#: ``original_grid``, ``variants`` and ``options`` are free.
_KEYS: dict[str, dict[str, Any]] = {
    "": {
        "title": str, "alias": str, "like": str, "follows_from": str, "problems": str,
        "splits": int, "folds": int, "timed": bool, "quick_datasets": list, "quick_note": str,
        "tested_against": list, "methods": list, "conclusions": str, "figure": str,
        "comparisons": str, "reference": str, "report": str, "note": str, "main": dict,
        "doubt_check": str, "design": dict, "study": dict, "run_defaults": dict, "runs": list,
        "rules": list, "doubts": list,
    },
    "design": {
        "kind": str, "stratified": bool, "files": dict, "positive": dict, "synthetic": str,
        "as_numbers": dict, "drawn_by": list,
    },
    "main": {"config": str, "metric": str},
    "study": {
        "samples": int, "in_order": bool, "search_folds": int, "scoring": str, "score_folds": int,
        "stratified_folds": bool, "quick_samples": int, "quick_members": int,
    },
    "runs": {
        "name": str, "method": str, "methods": list, "configs": list, "tables": list,
        "members": int, "measure": str, "options": dict, "estimator": dict,
        "original": dict, "variants": dict, "grid": dict, "original_grid": dict,
        "expected_warning": str, "on_request": bool, "pool_setting": str,
    },
    "rules": {
        "kind": str, "metric": (str, list), "config": str, "most": _NUMBER, "part": _NUMBER,
        "n_samples": int, "decimals": int, "sentence": str, "what": str,
    },
    "doubts": dict.fromkeys(("dataset", "method", "metric", "text"), str),
}  # fmt: skip
_KEYS["run_defaults"] = _KEYS["runs"]
_REQUIRED = {
    "": ("title",), "design": ("kind",), "main": ("config", "metric"),
    "study": ("search_folds", "score_folds", "quick_samples", "quick_members"),
    "runs": ("measure", "estimator"), "rules": ("kind",), "run_defaults": (),
    "doubts": ("dataset", "method", "metric", "text"),
}  # fmt: skip
#: What a table takes from the one that it is ``like``: how it was run, not how it is judged.
_INHERITED = ("problems", "splits", "folds", "quick_datasets", "design")


class TableFileError(UserError):
    """A TOML file of a published table has a mistake."""


def file_name(table: str, ending: str = "toml") -> str:
    """Name of a file of a table."""
    return f"{table.replace('-', '_').replace('.', '_')}.{ending}"


def reject(table: str, key: str, what: str) -> NoReturn:
    """Report a mistake in a file."""
    raise TableFileError(f"{file_name(table)}: {key} {what}.")


def pick(table: str, key: str, name: str, known: Collection[str]) -> str:
    """A name that must be one of several."""
    if name not in known:
        allowed = ", ".join(known)
        reject(table, key, f"must be one of {allowed}; got {name!r}{nearest_names(name, known)}")
    return name


@cache
def table_names() -> tuple[str, ...]:
    """The tables that have a TOML file: by author, in the order of the chapters."""
    names = [path.name for path in _FOLDER.iterdir() if path.name.endswith(".toml")]
    tables = [name.removesuffix(".toml").replace("_", "-", 1).replace("_", ".") for name in names]
    return tuple(sorted(tables, key=_chapters))


def _chapters(table: str) -> list[str]:
    return [part.zfill(4) if part.isdigit() else part for part in re.split(r"[-.]", table)]


def read_rows(table: str) -> list[dict[str, str]]:
    """The lines of the CSV file of a table."""
    with (_FOLDER / file_name(table, "csv")).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def read_settings(table: str) -> Mapping[str, Any]:
    """The checked content of the TOML file of a table, with what it takes from another one."""
    if table not in table_names():
        raise ValueError(f"table must be one of {', '.join(table_names())}, got {table!r}")
    return checked_settings(table, (_FOLDER / file_name(table)).read_text(encoding="utf-8"))


def checked_settings(table: str, text: str) -> dict[str, Any]:
    """The content of a TOML file, checked and completed."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TableFileError(f"{file_name(table)}: {error}.") from error
    _check(table, "", "", found)
    for part in ("design", "main", "study", "run_defaults"):
        if part in found:
            _check(table, part, f"{part}.", found[part])
    defaults = found.pop("run_defaults", {})
    for part in ("runs", "rules", "doubts"):
        for number, entry in enumerate(found.get(part, []), start=1):
            where = f"{part}[{number}]"
            if not isinstance(entry, dict):
                reject(table, where, "must be a table")
            if part == "runs":
                entry |= {key: value for key, value in defaults.items() if key not in entry}
            _check(table, part, f"{where}.", entry)
    other = found.get("follows_from") or found.get("like")
    if other is not None:
        pick(table, "follows_from" if "follows_from" in found else "like", other, table_names())
        of_other = read_settings(other)
        found = {key: of_other[key] for key in _INHERITED if key in of_other} | found
    for key in ("splits", "design", *(() if other else ("runs",))):
        if key not in found:
            reject(table, key, "is missing")
    return found


def _check(table: str, part: str, where: str, found: Mapping[str, Any]) -> None:
    """Reject unknown and missing keys, and values of another type."""
    known = _KEYS[part]
    for key, value in found.items():
        if key not in known:
            reject(table, f"{where}{key}", f"is not a key of this part{nearest_names(key, known)}")
        kinds = known[key] if isinstance(known[key], tuple) else (known[key],)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            allowed = " or ".join(dict.fromkeys(_WORDS[kind] for kind in kinds))
            reject(table, f"{where}{key}", f"must be {allowed}; got {value!r}")
        if list in kinds and isinstance(value, list) and key not in ("runs", "rules", "doubts"):
            for item in value:
                if not isinstance(item, str):
                    reject(table, f"{where}{key}", f"must be an array of texts; got {item!r} in it")
        if kinds == (int,) and value < 1 and key != "decimals":
            reject(table, f"{where}{key}", f"must be at least 1; got {value}")
    for key in _REQUIRED[part]:
        if key not in found:
            reject(table, f"{where}{key}", "is missing")
