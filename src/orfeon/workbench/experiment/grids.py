"""Grids of one's own: settings of methods, every combination of which is a method."""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from orfeon.errors import ArgumentError
from orfeon.utils.text import nearest_names
from orfeon.workbench.experiment.builders import Task
from orfeon.workbench.experiment.methods import METHODS, Method, named_with_settings

#: Combinations of a grid at most.
MOST = 200


def read_grid(path: Path) -> dict[str, Any]:
    """A grid from a TOML or JSON file."""
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:  # both parsers raise ValueErrors
        raise ArgumentError(
            "grid", f"must be a TOML file, or a JSON file named *.json; {path}: {error}."
        ) from error
    if not isinstance(found, dict):
        raise ArgumentError("grid", f"must map methods to parameters; {path} holds a list.")
    return found


def grid_methods(grid: Mapping[str, Any], task: Task) -> list[str]:
    """The names of all combinations, in order."""
    found = []
    for base, spaces in grid.items():
        if base not in METHODS or METHODS[base].is_derived or task not in METHODS[base].tasks:
            able = [n for n, one in METHODS.items() if task in one.tasks and not one.is_derived]
            raise ArgumentError(
                "grid",
                f"names {base!r}, which is not a method for {task}{nearest_names(base, able)}. "
                f"Available: {', '.join(able)}.",
            )
        for space in spaces if isinstance(spaces, list) else [spaces]:
            if not isinstance(space, Mapping) or not space:
                raise ArgumentError("grid", f"must list parameters of {base}; got {space!r}.")
            _check_names(METHODS[base], space, task)
            found += [named_with_settings(base, one) for one in _combinations(base, space)]
            if len(found) > MOST:
                raise ArgumentError("grid", f"must have at most {MOST} combinations.")
    for name in found:
        _check_values(METHODS[name], task)
    return list(dict.fromkeys(found))


def _check_names(method: Method, space: Mapping[str, Any], task: Task) -> None:
    known = method.estimator(task, 0, None, None).get_params(deep=True)
    for name in space:
        if name not in known:
            able = sorted(one for one in known if "__" not in one)
            raise ArgumentError(
                "grid",
                f"names {name!r}, which is not a parameter of {method.name}"
                f"{nearest_names(name, known)}. Its parameters are {', '.join(able)}.",
            )


def _combinations(base: str, space: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """All combinations of the listed values; a value that is no list is one."""
    listed = {name: value if isinstance(value, list) else [value] for name, value in space.items()}
    if not all(listed.values()):
        raise ArgumentError("grid", f"must list values for every parameter of {base}.")
    for values in itertools.product(*listed.values()):
        text = "".join(one for one in values if isinstance(one, str))
        if any(sign.isspace() or sign in "@{}" for sign in text):
            raise ArgumentError("grid", f"must not have {text!r}: values are numbers or words.")
        yield dict(zip(listed, values, strict=True))


def _check_values(method: Method, task: Task) -> None:
    try:
        made = method.estimator(task, 0, None, None)
        if hasattr(made, "_validate_params"):
            made._validate_params()
    except (TypeError, ValueError) as error:
        raise ArgumentError("grid", f"must have allowed values; {method.title}: {error}") from error
