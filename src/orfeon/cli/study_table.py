"""The table that a command is given: a file, standard input or a named data set."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orfeon.errors import UserError


@dataclass(frozen=True)
class GivenTable:
    """A table and its target.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str
        The column to predict.
    name : str
        What it is called.
    notes : tuple of str, optional
        What happened on the way.
    """

    frame: Any
    target: str
    name: str
    notes: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        """The name, as a folder may be called."""
        return re.sub(r"[^\w.-]+", "_", self.name).strip("._") or "data"


def data_of(given: str, target: str | None) -> GivenTable:
    """Read what a command is given.

    Parameters
    ----------
    given : str
        A file, ``"-"`` for standard input, or the name of a data set.
    target : str or None
        The column to predict; data sets with a name have one of their own.

    Returns
    -------
    GivenTable
        The table.
    """
    from orfeon.datasets import load, read_file

    if not _is_file(given):
        found = load(given)
        return GivenTable(found.frame, target or str(found.target_name), str(found.name))
    frame = read_file(given)
    if target is None:
        shown = ", ".join(map(str, frame.columns[:20]))
        raise UserError(
            f"--target must name the column to predict, such as --target {frame.columns[-1]}; "
            f"{given} has the columns {shown}."
        )
    name = "stdin" if given == "-" else re.split(r"[\\/]", given)[-1].split(".")[0] or "data"
    return GivenTable(frame, target, name)


def _is_file(given: str) -> bool:
    """Whether a file is meant: one is there, or it looks like a path."""
    from orfeon.datasets.sources import is_data_name

    looks = given == "-" or is_data_name(given) or any(mark in given for mark in "/\\")
    return looks or Path(given).is_file()
