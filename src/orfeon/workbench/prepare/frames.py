"""Raw tables: unique column names, and columns by name."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from orfeon.errors import UserError
from orfeon.utils.text import did_you_mean, nearest, some_of


def clean_frame(frame: Any) -> tuple[Any, list[str]]:
    """A pandas frame whose column names are distinct, stripped strings, and notes on it."""
    import pandas

    if not isinstance(frame, pandas.DataFrame):
        if not hasattr(frame, "to_pandas"):
            raise TypeError(
                f"frame must be a pandas DataFrame, got a {type(frame).__name__}; "
                "convert arrays with pandas.DataFrame(frame)."
            )
        frame = frame.to_pandas()
    notes = list(frame.attrs.get("notes", ()))
    names: dict[str, None] = {}
    twice: dict[str, list[str]] = dict(frame.attrs.get("twice", {}))
    for position, label in enumerate(frame.columns):
        name = first = _name(label, position)
        if name in names:
            name = _free_name(name, names)
            twice.setdefault(first, []).append(name)
        names[name] = None
    if twice:
        notes.append(f"Columns with the same name were numbered: {some_of(twice)}.")
    table = frame.set_axis(list(names), axis=1).reset_index(drop=True)
    table.attrs = {"twice": twice} if twice else {}
    return table, notes


def _name(label: Any, position: int) -> str:
    if isinstance(label, tuple):  # several header rows
        label = " ".join(str(part) for part in label if str(part).strip())
    name = "" if label is None or label != label else str(label).strip()
    return name or f"column_{position + 1}"


def _free_name(name: str, taken: Container[str]) -> str:
    number = 2
    while f"{name}.{number}" in taken:
        number += 1
    return f"{name}.{number}"


def find_column(table: Any, name: Any, what: str = "") -> str:
    """The column with a name; the error suggests similar names."""
    wanted = str(name).strip()
    names = list(table.columns)
    if wanted in names:
        return wanted
    help_ = did_you_mean(map(repr, nearest(wanted, names)))
    if not help_:
        help_ = f" The columns are {some_of(names, 12)}." if names else " The table has no columns."
    raise UserError(f"{what} {wanted!r} is not a column.{help_}".lstrip())
