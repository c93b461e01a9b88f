"""From the rows of a table to the inputs of perceptrons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from orfeon.data.schema import Categories, Schema
from orfeon.utils import saved
from orfeon.utils.types import Floats

#: Inputs are cut at this, so that no sum of their squares leaves the range of floats.
_LARGEST = 1e100
#: A power of two; numbers times it are far enough from the largest floats.
_SMALLER = 2.0**-64
#: Rows that are made inputs of at once.
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
    """How encoded rows become inputs: numbers only, none missing, and a last one of -1."""

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
        """Learn centres and spreads from a training set."""
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
        """How many inputs there are, the last one of -1 among them."""
        return len(self.centres) + 1

    def of(self, X: Floats) -> Floats:
        """The inputs for encoded rows."""
        inputs = np.empty((len(X), self.n_inputs))
        # Some rows at a time, which stay at hand while their columns are gone through.
        for first in range(0, len(X), _ROWS):
            some = slice(first, first + _ROWS)
            self._fill(X[some], inputs[some])
        return inputs

    def _fill(self, X: Floats, inputs: Floats) -> None:
        """Write the inputs for some rows."""
        inputs[:, -1] = -1.0 / self.divisor
        for place, column in self._columns(X):
            centre, spread = self.centres[place], self.spreads[place]
            # Where all are large, smaller ones have the same quotients, to the bit.
            unit = _SMALLER if spread > 1 else 1.0
            gaps = np.isnan(column)
            filled = np.where(gaps, centre, column) * unit
            with np.errstate(over="ignore"):  # what is too large is cut
                if self.standardize:
                    filled -= centre * unit
                inputs[:, place] = filled / (spread * unit * self.divisor)
        np.clip(inputs, -_LARGEST, _LARGEST, out=inputs)

    def _columns(self, X: Floats) -> Iterator[tuple[int, Floats]]:
        """Each input's place and its values as they are in the table, missing ones as NaN."""
        place = 0
        for feature, codes in enumerate(self.codes):
            # A column of a matrix of rows is far apart in memory; it is gone through many times.
            values = np.ascontiguousarray(X[:, feature])
            if codes is None:
                yield place, values
                place += 1
                continue
            gaps = np.isnan(values)
            for code in codes:
                yield place, np.where(gaps, np.nan, values == code)
                place += 1


def _input_codes(categories: Categories) -> tuple[int, ...] | None:
    """The categories of a feature that become inputs, by their codes."""
    if categories is None:
        return None
    return (1,) if len(categories) == 2 else tuple(range(len(categories)))


def _mean_and_deviation(column: Floats, weights: Floats) -> tuple[float, float]:
    """Weighted mean and deviation of what is there.

    The deviation of a constant is infinite: standardized it is 0 in all rows, also in new ones
    that differ, for its weight was never learnt.
    """
    there = ~np.isnan(column)
    values, its = column[there], weights[there]
    if not len(values):
        return 0.0, np.inf
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low, np.inf
    # In units of the largest, no square leaves the range of floats.
    unit = max(abs(low), abs(high))
    scaled = values / unit
    # Not as products of vectors, whose sums depend on the number of threads.
    mean = float((its * scaled).sum() / its.sum())
    deviation = float(np.sqrt((its * (scaled - mean) ** 2).sum() / its.sum()))
    return mean * unit, deviation * unit if deviation * unit > 0 else np.inf
