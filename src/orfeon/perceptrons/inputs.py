"""Encoded rows as inputs of perceptrons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from orfeon.data.schema import Categories, Schema
from orfeon.utils import saved
from orfeon.utils.types import Floats

#: Inputs are clipped to this, so that sums of squares do not overflow.
_LARGEST = 1e100
#: A power of two that takes large numbers away from overflow.
_SMALLER = 2.0**-64
#: Rows converted at a time, so that they stay in the cache.
_ROWS = 1 << 13


@saved.attributes(
    codes=saved.tuple_of(saved.one_of(saved.none, saved.tuple_of(saved.integer(0))), at_least=1),
    centres=saved.finite_floats,
    spreads=saved.floats,
    standardize=saved.boolean,
    divisor=saved.number(),
)
@dataclass(frozen=True)
class Inputs:
    """Converts encoded rows to numeric inputs without missing values, the last one constant -1."""

    codes: tuple[tuple[int, ...] | None, ...]
    centres: Floats
    spreads: Floats
    standardize: bool
    divisor: float

    @classmethod
    def learn(
        cls,
        X: Floats,
        schema: Schema,
        weights: Floats,
        *,
        standardize: bool,
        divide: bool,
        ignore_constants: bool = True,
    ) -> Self:
        codes = tuple(_input_codes(seen) for seen in schema.categories)
        n_inputs = sum(1 if its is None else len(its) for its in codes) + 1
        centres, spreads = np.zeros(n_inputs - 1), np.ones(n_inputs - 1)
        plain = cls(codes, centres, spreads, False, 1.0)
        for place, column in plain._columns(X):
            centres[place], spread = _mean_and_deviation(column, weights)
            if standardize and (ignore_constants or np.isfinite(spread)):
                spreads[place] = spread
        return cls(codes, centres, spreads, standardize, np.sqrt(n_inputs) if divide else 1.0)

    @property
    def n_inputs(self) -> int:
        """Number of inputs, including the constant."""
        return len(self.centres) + 1

    def of(self, X: Floats) -> Floats:
        """The inputs for encoded rows."""
        inputs = np.empty((len(X), self.n_inputs))
        for first in range(0, len(X), _ROWS):
            some = slice(first, first + _ROWS)
            self._fill(X[some], inputs[some])
        return inputs

    def _fill(self, X: Floats, inputs: Floats) -> None:
        inputs[:, -1] = -1.0 / self.divisor
        for place, column in self._columns(X):
            centre, spread = self.centres[place], self.spreads[place]
            # Scaling by a power of two leaves the quotients the same to the bit.
            unit = _SMALLER if spread > 1 else 1.0
            filled = np.where(np.isnan(column), centre, column) * unit
            with np.errstate(over="ignore"):  # clipped below
                if self.standardize:
                    filled -= centre * unit
                inputs[:, place] = filled / (spread * unit * self.divisor)
        np.clip(inputs, -_LARGEST, _LARGEST, out=inputs)

    def _columns(self, X: Floats) -> Iterator[tuple[int, Floats]]:
        """Yield the index of each input and its values, missing ones as NaN."""
        place = 0
        for feature, codes in enumerate(self.codes):
            # Copied, because it is read several times and its elements are far apart.
            values = np.ascontiguousarray(X[:, feature])
            if codes is None:
                yield place, values
                place += 1
                continue
            is_missing = np.isnan(values)
            for code in codes:
                yield place, np.where(is_missing, np.nan, values == code)
                place += 1


def _input_codes(categories: Categories) -> tuple[int, ...] | None:
    """Codes of the categories that become inputs; of two categories, one is enough."""
    if categories is None:
        return None
    return (1,) if len(categories) == 2 else tuple(range(len(categories)))


def _mean_and_deviation(column: Floats, weights: Floats) -> tuple[float, float]:
    """Weighted mean and standard deviation of the values that are not missing.

    Constants get an infinite deviation: standardised, they are 0 in new rows too, whose weight was
    never learnt.
    """
    present = ~np.isnan(column)
    values, its = column[present], weights[present]
    if not len(values):
        return 0.0, np.inf
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low, np.inf
    # In units of the largest value, squares do not overflow.
    unit = max(abs(low), abs(high))
    scaled = values / unit
    # Not as dot products, whose sums depend on the number of threads.
    mean = float((its * scaled).sum() / its.sum())
    deviation = float(np.sqrt((its * (scaled - mean) ** 2).sum() / its.sum()))
    return mean * unit, deviation * unit if deviation * unit > 0 else np.inf
