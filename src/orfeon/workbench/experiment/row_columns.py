"""Columns that say something about rows, and are no features: groups, weights and times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.errors import ArgumentError
from orfeon.utils.text import nearest_names, some_of
from orfeon.utils.types import Floats
from orfeon.workbench.experiment.plan import column_fingerprint
from orfeon.workbench.prepare.kinds import profile_column
from orfeon.workbench.prepare.parsing import numbers, timestamps


@dataclass(frozen=True, eq=False)
class RowColumns:
    """Groups, weights and times of rows, and the names of their columns."""

    names: dict[str, str]
    groups: npt.NDArray[Any] | None = None
    weights: Floats | None = None
    times: npt.NDArray[Any] | None = None

    @classmethod
    def read(
        cls, frame: Any, *, group: str | None, weights: str | None, time: str | None, target: str
    ) -> RowColumns:
        """Read the columns that are named."""
        import pandas

        given = {"group": group, "weights": weights, "time_column": time}
        names = {argument: name for argument, name in given.items() if name is not None}
        for argument, name in names.items():
            if name not in frame.columns:
                raise ArgumentError(
                    argument,
                    f"must name a column: {name!r} is not among {some_of(frame.columns, 20)}.",
                )
            if name == target:
                raise ArgumentError(argument, f"must not be the target, {name!r}.")
        return cls(
            names,
            None if group is None else pandas.factorize(frame[group], use_na_sentinel=False)[0],
            None if weights is None else read_weights(frame, weights),
            None if time is None else _times(frame, time),
        )

    def take(self, rows: npt.NDArray[Any]) -> RowColumns:
        """The same for some rows."""
        return RowColumns(
            self.names,
            *(
                None if one is None else one[rows]
                for one in (self.groups, self.weights, self.times)
            ),
        )

    def fingerprint(self, argument: str) -> str | None:
        """A short text that differs between any two columns."""
        values = {"group": self.groups, "weights": self.weights, "time_column": self.times}[
            argument
        ]
        return None if values is None else column_fingerprint(values, self.names[argument])


def read_weights(frame: Any, name: str) -> Floats:
    """The weights of rows: numbers that are 0 or more, not all 0."""
    import pandas

    if name not in frame.columns:
        raise ArgumentError(
            "weights",
            f"the data has no column {name!r}{nearest_names(name, map(str, frame.columns))}.",
        )
    found: Floats = pandas.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64)
    if not (found >= 0).all() or not 0 < found.sum() < np.inf:
        raise ArgumentError(
            "weights", f"{name!r} must hold numbers that are 0 or more and finite, not all 0."
        )
    return found


def _times(frame: Any, name: str) -> npt.NDArray[Any]:
    """When each row was, as numbers."""
    profile = profile_column(name, frame[name])
    if profile.kind == "date":
        when = timestamps(frame[name], profile.date_format)
        found = (when - when.min()).dt.total_seconds().to_numpy(dtype=np.float64)
    else:
        found = numbers(frame[name])[0]
    if not np.isfinite(found).all():
        n_unknown = int(np.count_nonzero(~np.isfinite(found)))
        raise ArgumentError(
            "time_column",
            f"must hold a date or a number in every row; {name!r} has none in {n_unknown:,} of "
            f"{len(found):,}.",
        )
    return np.asarray(found)
