"""The target: its task, its classes, and checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.errors import UserError
from orfeon.utils.text import some_of
from orfeon.workbench.prepare.columns import are_texts, require
from orfeon.workbench.prepare.kinds import ColumnProfile
from orfeon.workbench.prepare.parsing import numbers, strings

Task = Literal["classification", "regression"]

#: A target with more distinct numbers is a regression target.
MAX_CLASSES_OF_NUMBERS = 20
#: Trees store a number per class in every leaf: with more classes they would fill the memory.
MAX_CLASSES = 1000
#: Fewest rows of a table.
MIN_ROWS = 10


@dataclass(frozen=True)
class Target:
    """The column to predict."""

    name: str
    task: Task
    classes: tuple[str | int, ...] = ()

    def read(self, series: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """The target values, and a mask of the rows that have one."""
        if self.task == "regression":
            found, _ = numbers(series)
            known = np.isfinite(found)
            return found[known], known
        codes, names = strings(series)
        known = codes >= 0
        return _labels(self.classes, [names[code] for code in codes[known]]), known

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "task": self.task, "classes": list(self.classes)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Target:
        """The target of plain values; raises ValueError unless :meth:`to_dict` can return them."""
        name, task, classes = plain["name"], plain["task"], plain["classes"]
        require(type(name) is str, "the name of the target must be a string", name)
        require(
            task in ("classification", "regression"),
            "task must be 'classification' or 'regression'",
            task,
        )
        are_numbers = type(classes) is list and all(map(_is_whole, classes))
        require(
            are_texts(classes) or (are_numbers and len(set(classes)) == len(classes)),
            "classes must be distinct strings or distinct integers",
            classes,
        )
        require(task == "classification" or not classes, "regression has no classes", classes)
        return cls(name, task, tuple(classes))


def _is_whole(value: Any) -> bool:
    return type(value) is int and abs(value) < 2**53


def _labels(classes: tuple[str | int, ...], names: list[str]) -> npt.NDArray[Any]:
    """Labels of the type of the classes: integers or strings."""
    if classes and all(isinstance(c, int) for c in classes):
        try:
            return np.array([int(name) for name in names], dtype=np.int64)
        except (ValueError, OverflowError):
            pass  # a new class
    # In a string array every row takes the length of the longest name.
    long = max(map(len, names), default=0) > 200
    return np.array(names, dtype=object if long else np.str_)


def decide_target(series: Any, column: ColumnProfile, task: str) -> tuple[Target, list[str]]:
    """Decide between classification and regression, and check the target."""
    if task not in ("auto", "classification", "regression"):
        raise UserError(f"task must be 'auto', 'classification' or 'regression', got {task!r}.")
    _check_usable(series, column)
    chosen, reason = _task(series, column, task)
    notes = [reason] if reason else []
    if chosen == "regression":
        found, _ = numbers(series)
        return Target(column.name, "regression"), notes + _check_numbers(column.name, found)
    codes, names = strings(series)
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    _check_classes(column.name, names, counts)
    notes += _notes_on_classes(names, counts)
    return Target(column.name, "classification", _classes(names)), notes


def _check_usable(series: Any, column: ColumnProfile) -> None:
    name = column.name
    if column.kind == "empty":
        raise UserError(f"The target {name!r} has no values.")
    if column.kind == "nested":
        raise UserError(
            f"The target {name!r} contains lists or tables; strings or numbers are needed."
        )
    if column.n_distinct < 2:
        value = column.examples[0] if column.examples else ""
        raise UserError(
            f"The target {name!r} is always {value!r}: there is nothing to predict. Choose another "
            "column, or a file with other rows."
        )
    if column.kind == "date":
        raise UserError(
            f"The target {name!r} contains dates: convert them to numbers (such as days since a "
            "start) or to classes (such as the month) first."
        )
    n_known = len(series) - column.n_missing
    if n_known < MIN_ROWS:
        raise UserError(
            f"{n_known} rows have a value for the target {name!r}: at least {MIN_ROWS} are needed."
        )


def _task(series: Any, column: ColumnProfile, task: str) -> tuple[Task, str]:
    found, others = numbers(series)
    present = found[~np.isnan(found)]
    is_numeric = column.kind != "boolean" and bool(present.size) and _mostly(present, others)
    name, n_distinct = column.name, column.n_distinct
    if task == "regression":
        if not is_numeric:
            value = next(iter(others), "True")
            raise UserError(
                f"The target {name!r} is not numeric (it contains {value!r}): regression needs "
                "numbers. Let the task be inferred, or choose another target."
            )
        return "regression", ""
    if task == "classification":
        return "classification", ""
    fractions = is_numeric and bool((present != np.floor(present)).any())
    if is_numeric and (
        n_distinct > MAX_CLASSES_OF_NUMBERS or (fractions and n_distinct > present.size / 2)
    ):
        kind = "numbers" if fractions else "integers"
        return "regression", f"Regression: the target {name!r} has {n_distinct:,} distinct {kind}."
    return "classification", (
        f"Classification: the target {name!r} has {n_distinct:,} distinct values."
    )


def _mostly(present: npt.NDArray[np.float64], others: dict[str, int]) -> bool:
    n_others = sum(others.values())
    return n_others == 0 or (
        present.size >= 9 * n_others and np.unique(present).size > MAX_CLASSES_OF_NUMBERS
    )


def _check_numbers(name: str, found: npt.NDArray[np.float64]) -> list[str]:
    known = found[np.isfinite(found)]
    if known.size < MIN_ROWS or (known == known[0]).all():
        raise UserError(
            f"The target {name!r} has {known.size} finite numbers, {np.unique(known).size} of them "
            f"distinct: regression needs at least {MIN_ROWS} rows and 2 distinct numbers."
        )
    return []


def _classes(names: list[str]) -> tuple[str | int, ...]:
    """Sorted classes, as integers if all names are integers up to 2**53."""
    try:
        whole = [int(name) for name in names]
    except ValueError:
        return tuple(sorted(names))
    plain = all(str(n) == name for n, name in zip(whole, names, strict=True))
    if plain and all(abs(number) < 2**53 for number in whole):
        return tuple(sorted(whole))
    return tuple(sorted(names))


def _check_classes(name: str, names: list[str], counts: npt.NDArray[np.intp]) -> None:
    n_rows = int(counts.sum())
    if len(names) < 2:
        raise UserError(f"The target {name!r} is always {names[0]!r}: there is nothing to predict.")
    if len(names) > n_rows / 2:
        raise UserError(
            f"The target {name!r} has {len(names):,} distinct values in {n_rows:,} rows: these "
            "look like identifiers, not classes. Choose another target or, if they are numbers, "
            "regression."
        )
    if len(names) > MAX_CLASSES:
        raise UserError(
            f"The target {name!r} has {len(names):,} classes, more than the {MAX_CLASSES:,} that "
            "trees support: merge rare ones first or, if they are numbers, choose regression."
        )


def _notes_on_classes(names: list[str], counts: npt.NDArray[np.intp]) -> list[str]:
    single = [name for name, count in zip(names, counts, strict=True) if count == 1]
    if not single:
        return []
    if len(single) == 1:
        return [
            f"A class has a single row: {some_of(single)}. It can be learnt only where that row "
            "is not in the test set."
        ]
    return [
        f"{len(single):,} classes have a single row: {some_of(single)}. They can be learnt only "
        "where that row is not in the test set."
    ]
