"""A grid of points over two features, which a model is asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from orfeon.data.schema import Schema
from orfeon.utils.types import Floats, Integers

Range = tuple[float, float]
#: The range of each feature; None leaves it to the samples.
Box = tuple[Range | None, Range | None]

#: Points that a model is asked about at once.
_POINTS = 8192


@dataclass(frozen=True, eq=False)
class Plane:
    """A grid of points; they are numbered row by row, from the lowest."""

    coordinates: tuple[Floats, Floats]
    schema: Schema
    frame: Any

    @classmethod
    def over(
        cls,
        model: Any,
        X: Any,
        box: Box | None,
        grid_resolution: int | tuple[int, int],
        room: float,
    ) -> Self:
        """The grid that is asked for."""
        model = _one_of(model)
        n_features = getattr(model, "n_features_in_", getattr(model, "n_features", 2))
        if n_features != 2:
            raise ValueError(f"model is of {n_features} features; a map needs one of two.")
        sizes = _checked_sizes(grid_resolution)
        schema = _schema(model, X)
        values = None if X is None else schema.encode(X)
        ranges = _ranges(schema, values, box, room)
        coordinates = [
            np.linspace(*ends, n) if its is None else np.arange(len(its), dtype=np.float64)
            for ends, n, its in zip(ranges, sizes, schema.categories, strict=True)
        ]
        return cls((coordinates[0], coordinates[1]), schema, _frame(model, X))

    def __len__(self) -> int:
        return len(self.coordinates[0]) * len(self.coordinates[1])

    def blocks(self) -> Iterator[Any]:
        """The points, some at a time, as the model takes them."""
        n_columns = len(self.coordinates[0])
        for first in range(0, len(self), _POINTS):
            at = np.arange(first, min(first + _POINTS, len(self)))
            x, y = self._column(0, at % n_columns), self._column(1, at // n_columns)
            if self.frame is None:
                yield np.column_stack([x, y])
            else:
                yield self.frame({self.schema.name(0): x, self.schema.name(1): y})

    def _column(self, feature: int, at: Integers) -> npt.NDArray[Any]:
        categories = self.schema.categories[feature]
        if categories is None:
            return self.coordinates[feature][at]
        return np.array(categories, dtype=object)[at]


def is_whole(number: Any) -> bool:
    """Whether something is a whole number."""
    return isinstance(number, Integral) and not isinstance(number, bool)


def _one_of(model: Any) -> Any:
    """One of the estimators of a list, which all have the same features."""
    if isinstance(model, Sequence) and not isinstance(model, str) and len(model):
        return model[0][1] if isinstance(model[0], tuple | list) else model[0]
    return model


def _checked_sizes(grid_resolution: Any) -> tuple[int, int]:
    sizes = (grid_resolution,) * 2 if is_whole(grid_resolution) else grid_resolution
    is_pair = isinstance(sizes, tuple | list) and len(sizes) == 2
    if not is_pair or not all(is_whole(n) and n >= 2 for n in sizes):
        raise ValueError(
            f"grid_resolution={grid_resolution!r} is not allowed: it is a whole number of points "
            "from 2 on, or two of them."
        )
    return int(sizes[0]), int(sizes[1])


def _schema(model: Any, X: Any) -> Schema:
    """What the two features are, as the model knows it or as the samples say."""
    for owner in (model, getattr(model, "ensemble_", None)):  # a pruned one has it inside
        known = getattr(owner, "schema_", None)
        if isinstance(known, Schema):
            return known
    schema = Schema.ordered(2) if X is None else Schema.learn(X)
    if schema.n_features != 2:
        raise ValueError(f"X has {schema.n_features} columns; a map needs two.")
    names = getattr(model, "feature_names_in_", None)
    return schema if names is None else replace(schema, names=tuple(names))


def _frame(model: Any, X: Any) -> Any:
    """The type of data frame that the model takes, None for arrays."""
    named = hasattr(model, "feature_names_in_")
    if hasattr(X, "columns") and (named or not hasattr(model, "n_features_in_")):
        return type(X)
    if not named:
        return None
    import pandas  # the model was fitted to a data frame

    return pandas.DataFrame


def _ranges(schema: Schema, values: Floats | None, box: Box | None, room: float) -> list[Range]:
    """Lowest and highest value of each feature on the grid."""
    if not 0 <= room < np.inf:
        raise ValueError(f"room={room} is not allowed: it is a share of the width, 0 or more.")
    given: Box = (None, None) if box is None else box
    if len(given) != 2 or not all(ends is None or np.shape(ends) == (2,) for ends in given):
        raise ValueError(
            f"box={box!r} is not allowed: it is ((x low, x high), (y low, y high)) in numbers."
        )
    found = []
    for j, ends in enumerate(given):
        name = schema.name(j)
        if schema.categories[j] is not None:
            ends = (0.0, 1.0)  # its categories are in the place of a range
        elif ends is None:
            ends = _covering(None if values is None else values[:, j], name, room)
        low, high = float(ends[0]), float(ends[1])
        with np.errstate(over="ignore"):
            if not (low < high and np.isfinite(high - low)):
                raise ValueError(
                    f"the box of {name} goes from {low:g} to {high:g}; it needs two finite "
                    "numbers, the lower first."
                )
        found.append((low, high))
    return found


def _covering(values: Floats | None, name: str, room: float) -> Range:
    """The range of some values, with room at both ends."""
    if values is None:
        raise ValueError(f"X and the box of {name} are missing: a map needs one or the other.")
    present = values[~np.isnan(values)]
    if not len(present):
        raise ValueError(f"X has no value of {name}; say with box= what the map covers.")
    low, high = float(present.min()), float(present.max())
    more = room * (high - low) if high > low else 0.5
    return low - more, high + more
