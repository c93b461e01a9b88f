"""The way from a table to features, kept with the model and applied to new data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from orfeon.errors import UserError
from orfeon.utils.text import short, some_of
from orfeon.workbench.prepare.columns import ColumnPlan
from orfeon.workbench.prepare.frames import clean_frame, find_column
from orfeon.workbench.prepare.plain_values import require
from orfeon.workbench.prepare.target import Target

VERSION = 1


@dataclass(frozen=True)
class Preparation:
    """The way from a table to features.

    Parameters
    ----------
    columns_used : tuple of ColumnPlan
        The columns, and what each becomes.
    target_used : Target
        What is predicted.

    Examples
    --------
    >>> import pandas
    >>> from orfeon.workbench.prepare import Preparation, prepare
    >>> frame = pandas.DataFrame({"u": [0.5, 1.5] * 10, "class": ["no", "yes"] * 10})
    >>> preparation = prepare(frame, "class").preparation
    >>> preparation.task, preparation.classes, preparation.columns
    ('classification', ('no', 'yes'), ('u',))
    >>> preparation.transform(pandas.DataFrame({"more": ["x"], "u": ["2.5"]}))
         u
    0  2.5
    >>> Preparation.from_dict(preparation.to_dict()) == preparation
    True
    """

    columns_used: tuple[ColumnPlan, ...]
    target_used: Target

    @property
    def target(self) -> str:
        """Name of the target."""
        return self.target_used.name

    @property
    def task(self) -> str:
        """What is predicted: "classification" or "regression"."""
        return self.target_used.task

    @property
    def classes(self) -> tuple[str | int, ...]:
        """The classes, sorted; none in regression."""
        return self.target_used.classes

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that a table must have, the target apart."""
        return tuple(plan.name for plan in self.columns_used)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns of the features."""
        return tuple(name for plan in self.columns_used for name in plan.features)

    def transform(self, frame: Any) -> Any:
        """Turn a table into features.

        Parameters
        ----------
        frame : pandas.DataFrame
            New data: the same columns by name, in any order; others are passed over. Values of a
            category that training did not see are missing, or belong to the rare ones if these
            were gathered.

        Returns
        -------
        pandas.DataFrame
            The features, a row for each row.
        """
        import pandas

        table, _ = clean_frame(frame)
        absent = [name for name in self.columns if name not in table.columns]
        if absent:
            raise UserError(
                f"The data has no column {some_of(map(repr, absent))}; the model was trained "
                f"with {len(self.columns)} columns and needs them all."
            )
        made: dict[str, Any] = {}
        for plan in self.columns_used:
            made.update(plan.transform(table[plan.name]))
        return pandas.DataFrame(made, index=table.index)

    def transform_labelled(self, frame: Any) -> tuple[Any, npt.NDArray[Any]]:
        """Turn a table with the target into features and target.

        Parameters
        ----------
        frame : pandas.DataFrame
            Data with the target; rows without a value of it are left out.

        Returns
        -------
        X : pandas.DataFrame
            The features.
        y : ndarray
            The target.
        """
        table, _ = clean_frame(frame)
        name = find_column(table, self.target, "The target")
        y, known = self.target_used.read(table[name])
        if not known.any():
            raise UserError(f"No row of the data has a value for the target {name!r}.")
        return self.transform(table[known]), y

    def to_dict(self) -> dict[str, Any]:
        """The preparation as plain values, for a JSON document."""
        return {
            "version": VERSION,
            "target": self.target_used.to_dict(),
            "columns": [plan.to_dict() for plan in self.columns_used],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Preparation:
        """The preparation of plain values, as :meth:`to_dict` gives them."""
        version = plain.get("version")
        if version != VERSION:
            raise UserError(
                f"the preparation has version {short(repr(version))}; this release reads {VERSION}."
            )
        columns = tuple(ColumnPlan.from_dict(column) for column in plain["columns"])
        names = [plan.name for plan in columns]
        require(columns, "columns must not be empty", names)
        require(len(set(names)) == len(names), "columns must have distinct names", names)
        return cls(columns, Target.from_dict(plain["target"]))
