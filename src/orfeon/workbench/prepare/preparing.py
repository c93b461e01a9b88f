"""Prepare a table for any estimator: ``prepare()``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.errors import ArgumentError, UserError
from orfeon.utils.text import counted, some_of
from orfeon.workbench.prepare.columns import MAX_CATEGORIES, InputColumn, learn_column
from orfeon.workbench.prepare.frames import clean_frame, find_column
from orfeon.workbench.prepare.kinds import ColumnProfile
from orfeon.workbench.prepare.leakage import imbalance_note, leakage_notes
from orfeon.workbench.prepare.parsing import numbers
from orfeon.workbench.prepare.preparation import Preparation
from orfeon.workbench.prepare.profile import Profile, profile_clean
from orfeon.workbench.prepare.target import MIN_ROWS, Target, Task, decide_target

#: Kinds of columns that are excluded, and their names in notes.
_EXCLUDED = {
    "empty": "empty columns",
    "constant": "constant columns",
    "identifier": "row identifiers",
    "text": "free-text columns",
    "nested": "columns of lists, tables or bytes",
}
_SHARE_OF_MISSING = 0.5


@dataclass(frozen=True, eq=False)
class Prepared:
    """A prepared table.

    Parameters
    ----------
    X : pandas.DataFrame
        The features: numbers (NaN is missing) and categories.
    y : ndarray
        The target: strings or integers, or floats in regression.
    task : {"classification", "regression"}
        The task.
    preparation : Preparation
        How to turn new data into features.
    profile : Profile
        Profile of the table.
    notes : tuple of str
        What was done, one sentence each.
    rows : ndarray of int
        Indices of the rows of the table that are used.

    Examples
    --------
    >>> import pandas
    >>> from orfeon.workbench.prepare import prepare
    >>> frame = pandas.DataFrame({"u": [0.5, 1.5] * 10, "class": ["no", "yes"] * 10})
    >>> prepare(frame, "class").y[:2]
    array(['no', 'yes'], dtype='<U3')
    """

    X: Any
    y: npt.NDArray[Any]
    task: Task
    preparation: Preparation
    profile: Profile
    notes: tuple[str, ...]
    rows: npt.NDArray[np.int64]


def prepare(
    frame: Any,
    target: str,
    *,
    task: str = "auto",
    drop: Iterable[str] = (),
    keep_columns: Iterable[str] = (),
) -> Prepared:
    """Prepare a table for any estimator.

    Parameters
    ----------
    frame : pandas.DataFrame
        The raw table.
    target : str
        Name of the column to predict.
    task : {"auto", "classification", "regression"}, default="auto"
        The task; by default numbers with more than 20 distinct values mean regression.
    drop : iterable of str, default=()
        Columns to exclude.
    keep_columns : iterable of str, default=()
        Columns to use even if they look useless: row identifiers, constants, free text.

    Returns
    -------
    Prepared
        Features, target, preparation of new data, and notes on what was done.

    Examples
    --------
    >>> import pandas
    >>> from orfeon.workbench.prepare import prepare
    >>> frame = pandas.DataFrame({
    ...     "id": range(20), "sex": ["f", "m", "m", "f"] * 5, "ill": [0, 1] * 10,
    ...     "age": [20 + i / 2 for i in range(20)],
    ... })
    >>> prepared = prepare(frame, "ill")
    >>> list(prepared.X.columns), prepared.task
    (['sex', 'age'], 'classification')
    >>> prepared.notes[-1]
    'Excluded row identifiers: id.'
    """
    table, notes = clean_frame(frame)
    _check_size(table)
    name = find_column(table, target, "The target")
    dropped = _find_columns(table, drop, "drop")
    kept = _find_columns(table, keep_columns, "keep_columns")
    if name in dropped:
        raise UserError(f"The target {name!r} cannot be dropped.")
    table, copies = _one_target(table, name)
    notes += copies
    profile = profile_clean(table, name)
    decided, reasons = decide_target(table[name], profile.column(name), task)
    notes += reasons
    y, known = decided.read(table[name])
    if not known.all():
        n_unknown = int(np.sum(~known))
        verb = "was" if n_unknown == 1 else "were"
        notes.append(f"{counted(n_unknown, 'row')} without a target value {verb} excluded.")
        table = table[known].reset_index(drop=True)
    columns = [c for c in profile.columns if c.name != name and c.name not in dropped]
    learnt, more = _learn(table, columns, kept)
    X, inputs, same = _without_copies(table, learnt, kept)
    notes += more + same + _notes_on_cells(X, inputs, profile, table)
    notes += _notes_on_leakage(X, y, decided, profile, _numbered(table, columns))
    if not inputs:
        why = [f"Dropped: {some_of(sorted(dropped))}."] if dropped else []
        why += [note for note in more if note.startswith("Excluded")]
        raise UserError(" ".join([f"No feature is left to predict {name!r}.", *why]))
    if profile.n_duplicates:
        notes.append(duplicates_note(profile))
    preparation = Preparation(inputs, decided)
    rows = np.flatnonzero(known)
    return Prepared(X, y, decided.task, preparation, profile, tuple(notes), rows)


def duplicates_note(profile: Profile) -> str:
    return (
        f"{profile.n_duplicates:,} of {profile.n_rows:,} rows are duplicates: copies can land in "
        "both the training and the test set, so every method looks better than it is."
    )


def _find_columns(table: Any, columns: Iterable[str], argument: str) -> set[str]:
    try:
        return {find_column(table, column) for column in columns}
    except UserError as error:
        raise ArgumentError(argument, str(error)) from error


def _one_target(table: Any, name: str) -> tuple[Any, list[str]]:
    """Exclude copies of the target with the same name; reject others with that name."""
    others = table.attrs.get("twice", {}).get(name, [])
    differing = [other for other in others if not table[other].equals(table[name])]
    if differing:
        raise UserError(
            f"{len(others) + 1} columns are named {name!r}, as the target is, and they differ: "
            "rename all but one, because the others may leak the target."
        )
    notes = [f"Excluded copies of the target: {some_of(others)}."] if others else []
    return table.drop(columns=others), notes


def _check_size(table: Any) -> None:
    n_rows, n_columns = table.shape
    if n_columns < 2:
        raise UserError(
            f"The table has {n_columns} column{'s' if n_columns != 1 else ''}: a target and at "
            "least one feature are needed. Is the delimiter right?"
        )
    if n_rows < MIN_ROWS:
        raise UserError(f"The table has {n_rows} rows: at least {MIN_ROWS} are needed.")


def _learn(
    table: Any, columns: list[ColumnProfile], kept: set[str]
) -> tuple[list[InputColumn], list[str]]:
    """Learn how each column becomes features, with notes."""
    excluded: dict[str, list[str]] = {}
    dates: list[str] = []
    inputs: list[InputColumn] = []
    notes: list[str] = []
    for column in columns:
        if column.kind in _EXCLUDED and column.name not in kept:
            excluded.setdefault(_EXCLUDED[column.kind], []).append(column.name)
            continue
        one = learn_column(column.name, table[column.name], _use(column), column.date_format)
        if one.kind == "date":
            form = one.date_format
            how = "" if form in (None, "ISO8601") else f" (format {form})"
            dates.append(column.name + how)
        notes += _notes_on(column, one, len(table))
        inputs.append(one)
    notes = [f"Excluded {what}: {some_of(names)}." for what, names in excluded.items()] + notes
    if dates:
        notes.append(
            f"Dates were split into days since 1970, month, weekday and hour: {some_of(dates)}."
        )
    return inputs, notes


def _use(column: ColumnProfile) -> str:
    """The kind as which a column is used, also if it would be excluded by default."""
    if column.kind in ("identifier", "constant", "empty"):
        try:
            [float(example) for example in column.examples]
        except ValueError:
            return "category"
        return "number"
    return column.kind


def _notes_on(column: ColumnProfile, one: InputColumn, n_rows: int) -> list[str]:
    notes = []
    if one.has_other:
        notes.append(
            f"{column.name} has {column.n_distinct:,} categories: the {MAX_CATEGORIES - 1} most "
            "frequent are kept, the rest are merged into one."
        )
    if column.n_missing > _SHARE_OF_MISSING * n_rows:
        notes.append(f"{column.name} is missing in {column.n_missing / n_rows:.1%} of rows.")
    if column.kind == "number" and column.reason:
        notes.append(f"{column.name} is numeric: {column.reason}.")
    return notes


def _without_copies(
    table: Any, inputs: list[InputColumn], kept: set[str]
) -> tuple[Any, tuple[InputColumn, ...], list[str]]:
    """The features, without copies of earlier ones."""
    import pandas

    made: dict[str, Any] = {}
    used: list[InputColumn] = []
    seen: dict[bytes, str] = {}
    copies: list[str] = []
    for one in inputs:
        features = one.transform(table[one.name])
        fingerprint = b"".join(map(_fingerprint, features.values()))
        if fingerprint in seen and one.name not in kept:
            copies.append(f"{one.name} (same as {seen[fingerprint]})")
            continue
        seen.setdefault(fingerprint, one.name)
        made.update(features)
        used.append(one)
    notes = [f"Excluded copies of other columns: {some_of(copies)}."] if copies else []
    # Copying a large table into one block would take too much memory.
    copy = len(table) * len(made) < 2**24
    return pandas.DataFrame(made, index=table.index, copy=copy), tuple(used), notes


def _notes_on_cells(
    X: Any, inputs: tuple[InputColumn, ...], profile: Profile, table: Any
) -> list[str]:
    """Notes on cells that are treated as missing or rounded."""
    lost, rounded = [], []
    for one in inputs:
        if one.kind == "category":
            continue
        found = X[one.features[0]].to_numpy()
        column = profile.column(one.name)
        n_lost = int(np.isnan(found).sum()) - int(table[one.name].isna().sum())
        if n_lost > 0 and not column.reason.endswith("treated as missing"):
            lost.append(f"{one.name} ({n_lost:,})")
        if one.kind == "number" and np.nanmax(np.abs(found), initial=0.0) > 2.0**53:
            rounded.append(one.name)
    notes = []
    if lost:
        notes.append(
            f"Cells without a finite number or a date are treated as missing: {some_of(lost)}."
        )
    if rounded:
        notes.append(f"Numbers above 2**53 are rounded: {some_of(rounded)}.")
    return notes


def _numbered(table: Any, columns: list[ColumnProfile]) -> dict[str, npt.NDArray[np.float64]]:
    """The row identifiers that are numbers."""
    found = {c.name: numbers(table[c.name])[0] for c in columns if c.kind == "identifier"}
    return {name: values for name, values in found.items() if np.isfinite(values).all()}


def _notes_on_leakage(
    X: Any,
    y: npt.NDArray[Any],
    target: Target,
    profile: Profile,
    identifiers: dict[str, npt.NDArray[np.float64]],
) -> list[str]:
    """Notes on features that determine the target or predict it alone, and on rare classes."""
    import pandas

    if target.task == "classification":
        n_classes = len(target.classes)
        same = [c.name for c in profile.columns if c.n_distinct == n_classes and c.name in X]
        codes = pandas.factorize(y)[0] if same else y
        leaks = [name for name in same if np.array_equal(pandas.factorize(X[name])[0], codes)]
    else:
        able = [name for name in X if X[name].dtype == np.float64]
        leaks = [name for name in able if np.array_equal(X[name].to_numpy(), y)]
    notes = []
    if leaks:
        notes.append(
            f"Possible leakage: the target is determined by {some_of(leaks)}. Exclude with drop "
            "(--drop) whatever is not known before the target."
        )
    notes += leakage_notes(X.drop(columns=leaks) if leaks else X, y, identifiers)
    shares = profile.class_shares
    is_whole = target.task == "classification" and len(shares) == len(target.classes)
    rare = imbalance_note(shares) if is_whole else None
    return notes if rare is None else [*notes, rare]


def _fingerprint(values: Any) -> bytes:
    """A digest of the values of a feature."""
    import hashlib

    if isinstance(values, np.ndarray):
        plain = values + 0.0  # -0.0 becomes 0.0
        return b"n" + hashlib.sha256(plain.tobytes()).digest()
    codes = np.asarray(values.codes, dtype=np.int32)
    categories = "\0".join(map(str, values.categories)).encode("utf-8", "surrogatepass")
    return b"c" + hashlib.sha256(codes.tobytes() + categories).digest()
