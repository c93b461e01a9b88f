"""Means of repeated measurements, with their standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Mean(NamedTuple):
    """A mean and its standard error.

    Examples
    --------
    >>> from benchmarks.means import Mean
    >>> print(Mean.of([10.0, 12.0, 14.0, 16.0]))
    13.00 ± 1.29
    """

    value: float
    standard_error: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Mean:
        """Mean of independent measurements, of which there must be two or more."""
        if len(figures) < 2:
            raise ValueError(f"figures must be two or more, got {len(figures)}")
        spread = float(np.std(figures, ddof=1))
        return cls(float(np.mean(figures)), spread / len(figures) ** 0.5)

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {self.standard_error:.2f}"
