"""How to turn tables into features: learnt in training, saved with the model, used on new data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from orfeon.errors import UserError
from orfeon.utils.text import short, some_of
from orfeon.workbench.prepare.columns import InputColumn, require
from orfeon.workbench.prepare.frames import clean_frame, find_column
from orfeon.workbench.prepare.target import Target

VERSION = 1


@dataclass(frozen=True)
class Preparation:
    """How to turn a table into features.

    Parameters
    ----------
    columns_used : tuple of InputColumn
        The columns that the model needs.
    target_used : Target
        The column to predict.

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

    columns_used: tuple[InputColumn, ...]
    target_used: Target

    @property
    def target(self) -> str:
        """Name of the target."""
        return self.target_used.name

    @property
    def task(self) -> str:
        """The task: "classification" or "regression"."""
        return self.target_used.task

    @property
    def classes(self) -> tuple[str | int, ...]:
        """Sorted classes; empty in regression."""
        return self.target_used.classes

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that a table must have, without the target."""
        return tuple(column.name for column in self.columns_used)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(name for column in self.columns_used for name in column.features)

    def transform(self, frame: Any) -> Any:
        """Turn a table into features.

        Parameters
        ----------
        frame : pandas.DataFrame
            New data with the columns of the training data, in any order; others are ignored.
            Categories not seen in training become missing, unless rare ones were merged.

        Returns
        -------
        pandas.DataFrame
            The features, one row per row of ``frame``.
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
        for column in self.columns_used:
            made.update(column.transform(table[column.name]))
        return pandas.DataFrame(made, index=table.index)

    def transform_labelled(self, frame: Any) -> tuple[Any, npt.NDArray[Any]]:
        """Turn a table with the target into features and target.

        Parameters
        ----------
        frame : pandas.DataFrame
            Data with the target; rows without a target value are left out.

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
        """Return the preparation as plain values for JSON."""
        return {
            "version": VERSION,
            "target": self.target_used.to_dict(),
            "columns": [column.to_dict() for column in self.columns_used],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Preparation:
        """Make a preparation from what :meth:`to_dict` returns."""
        version = plain.get("version")
        if version != VERSION:
            raise UserError(
                f"the preparation has version {short(repr(version))}; this release reads {VERSION}."
            )
        columns = tuple(InputColumn.from_dict(column) for column in plain["columns"])
        names = [column.name for column in columns]
        require(columns, "columns must not be empty", names)
        require(len(set(names)) == len(names), "columns must have distinct names", names)
        return cls(columns, Target.from_dict(plain["target"]))


def read_preparation(plain: Mapping[str, Any] | None, file: object) -> Preparation | None:
    """Make the preparation that a model file contains; errors name the file."""
    if plain is None:
        return None
    try:
        return Preparation.from_dict(plain)
    except UserError as error:
        raise UserError(f"{file}: {error}") from error
    except KeyError as error:
        raise UserError(f"{file}: its table preparation lacks {error}.") from error
    except ValueError as error:
        raise UserError(f"{file}: its table preparation cannot be read: {error}.") from error
    except (TypeError, AttributeError) as error:
        raise UserError(f"{file}: its table preparation cannot be read.") from error
