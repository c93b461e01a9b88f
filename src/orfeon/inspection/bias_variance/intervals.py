"""Confidence intervals of bias and variance, by the bootstrap.

Parts of an error are not means over trainings: the bias depends on all trainings together. So the
trainings are resampled with replacement and all parts recomputed; with ``over="both"`` the points
are resampled too, independently, so the interval covers the problem and not these points alone.
Standard errors are the standard deviations of the replicates, and intervals are normal ones about
the estimate. Percentiles would be off: a bootstrap sample has fewer different trainings, so its
variance is too small and its bias too large, by a share of 1 / n_trainings. A spread is not
affected.

References
----------
Efron and Tibshirani (1993). An introduction to the bootstrap. Chapman & Hall.

Owen (2007). The pigeonhole bootstrap. Annals of Applied Statistics 1(2), 386-411.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import ndtri

from orfeon.inspection.bias_variance.definitions import (
    VOTE_PARTS,
    Definition,
    bias_variance_decomposition,
)
from orfeon.inspection.bias_variance.parts import PARTS, Parts, Votes, read_repeated_votes
from orfeon.inspection.bias_variance.squared_error import (
    Numbers,
    read_numbers,
    squared_error_parts,
)
from orfeon.inspection.display import check_choice
from orfeon.utils.seeding import Purpose, RandomState, branch, seed_sequence
from orfeon.utils.types import Floats, Integers

Over = Literal["both", "trainings"]

#: Maximum number of values in a block of replicates.
_BLOCK = 4_000_000


@dataclass(frozen=True)
class BiasVarianceIntervals:
    """Parts of an error, or differences between those of two learners, with their intervals.

    Parameters
    ----------
    definition : str
        The definition of bias and variance.
    estimates : dict of str to float
        "error", "bias", "variance" and "noise".
    standard_errors : dict of str to float
        Their standard errors.
    confidence : float
        Level of the intervals.
    over : {"both", "trainings"}
        What was resampled: trainings and points, or trainings alone.
    n_resamples : int
        Number of bootstrap samples.

    Examples
    --------
    >>> from orfeon.inspection import BiasVarianceIntervals
    >>> found = BiasVarianceIntervals("breiman", {"bias": 0.1}, {"bias": 0.01}, 0.95, "both", 500)
    >>> low, high = found.interval("bias")
    >>> round(low, 4), round(high, 4)
    (0.0804, 0.1196)
    """

    definition: str
    estimates: dict[str, float]
    standard_errors: dict[str, float]
    confidence: float
    over: Over
    n_resamples: int

    def interval(self, part: str) -> tuple[float, float]:
        """Lower and upper end of the interval of a part: "error", "bias", "variance" or "noise"."""
        if part not in self.estimates:
            raise ValueError(f"part={part!r} is not allowed; use one of {list(self.estimates)}.")
        reach = float(ndtri(0.5 + 0.5 * self.confidence)) * self.standard_errors[part]
        return self.estimates[part] - reach, self.estimates[part] + reach

    def __str__(self) -> str:
        parts = (
            f"{part} {self.estimates[part]:.4f} [{low:.4f}, {high:.4f}]"
            for part in self.estimates
            for low, high in (self.interval(part),)
        )
        return f"{', '.join(parts)} ({self.definition}, {100 * self.confidence:g}% intervals)"


def bias_variance_intervals(
    predictions: Any,
    y: Any = None,
    *,
    definition: Definition = "kohavi_wolpert",
    posterior: Any = None,
    noise: Any = 0.0,
    classes: Any = None,
    sample_weight: Any = None,
    unbiased: bool = False,
    over: Over = "both",
    confidence: float = 0.95,
    n_resamples: int = 500,
    random_state: RandomState = None,
) -> BiasVarianceIntervals:
    """Bias, variance and noise of a learner with confidence intervals.

    Parameters
    ----------
    predictions, y, definition, posterior, noise, classes, sample_weight, unbiased
        As for :func:`bias_variance_decomposition`; two trainings or more.
    over : {"both", "trainings"}, default="both"
        What is resampled: trainings and points, or only trainings if no other points matter.
    confidence : float, default=0.95
        Level of the intervals.
    n_resamples : int, default=500
        Bootstrap samples.
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness.

    Returns
    -------
    BiasVarianceIntervals
        Estimates, standard errors and intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.inspection import bias_variance_intervals
    >>> predicted = np.random.default_rng(0).random((100, 200)) < 0.2  # wrong one time in five
    >>> found = bias_variance_intervals(
    ...     predicted, np.zeros(200, bool), unbiased=True, over="trainings", random_state=0
    ... )
    >>> low, high = found.interval("variance")
    >>> bool(low < 0.16 < high)  # 0.2 * 0.8
    True
    """
    given = {
        "definition": definition, "posterior": posterior, "noise": noise, "classes": classes,
        "sample_weight": sample_weight, "unbiased": unbiased,
    }  # fmt: skip
    found = bias_variance_decomposition(predictions, y, **given)
    bootstrap = _Bootstrap(over, confidence, n_resamples, random_state)
    (replicates,) = bootstrap.replicates([_read(predictions, y, given)], definition, unbiased)
    return bootstrap.intervals(
        definition, {part: getattr(found, part) for part in PARTS}, replicates
    )


def bias_variance_difference(
    first: Any,
    second: Any,
    y: Any = None,
    *,
    definition: Definition = "kohavi_wolpert",
    posterior: Any = None,
    noise: Any = 0.0,
    classes: Any = None,
    sample_weight: Any = None,
    unbiased: bool = False,
    over: Over = "both",
    confidence: float = 0.95,
    n_resamples: int = 500,
    random_state: RandomState = None,
) -> BiasVarianceIntervals:
    """Differences between the parts of two learners trained on the same samples.

    Parameters
    ----------
    first, second : array of shape (n_trainings, n_points)
        Predictions of the two after each training. Row r of both must come from the same
        training sample: trainings and points are drawn in pairs.
    y, definition, posterior, noise, classes, sample_weight, unbiased
        As for :func:`bias_variance_decomposition`.
    over, confidence, n_resamples, random_state
        As for :func:`bias_variance_intervals`.

    Returns
    -------
    BiasVarianceIntervals
        Parts of the second minus those of the first.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.inspection import bias_variance_difference
    >>> drawn = np.random.default_rng(0).random((100, 200))
    >>> found = bias_variance_difference(
    ...     drawn < 0.2, drawn < 0.1, np.zeros(200, bool), unbiased=True, random_state=0
    ... )
    >>> found.interval("variance")[1] < 0
    True
    """
    given = {
        "definition": definition, "posterior": posterior, "noise": noise, "classes": classes,
        "sample_weight": sample_weight, "unbiased": unbiased,
    }  # fmt: skip
    shapes = np.shape(first), np.shape(second)
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"first has shape {shapes[0]} and second {shapes[1]}; they must come from the same "
            "training samples and points."
        )
    one, other = (bias_variance_decomposition(answers, y, **given) for answers in (first, second))
    bootstrap = _Bootstrap(over, confidence, n_resamples, random_state)
    tables = [_read(answers, y, given) for answers in (first, second)]
    of_one, of_other = bootstrap.replicates(tables, definition, unbiased)
    estimates = {part: getattr(other, part) - getattr(one, part) for part in PARTS}
    return bootstrap.intervals(definition, estimates, of_other - of_one)


def _read(predictions: Any, y: Any, given: dict[str, Any]) -> Votes | Numbers:
    if given["definition"] == "squared_error":
        return read_numbers(predictions, y, given["noise"], given["sample_weight"])
    return read_repeated_votes(
        predictions, y, given["posterior"], given["classes"], given["sample_weight"]
    )


class _Bootstrap:
    def __init__(
        self, over: Over, confidence: float, n_resamples: int, random_state: RandomState
    ) -> None:
        check_choice("over", over, ("both", "trainings"))
        if not 0.0 < confidence < 1.0:
            raise ValueError(
                f"confidence={confidence!r} is not allowed: it must be between 0 and 1."
            )
        if n_resamples < 2:
            raise ValueError(f"n_resamples={n_resamples!r} is not allowed: it must be 2 or more.")
        self.over: Over = over
        self.confidence = float(confidence)
        self.n_resamples = int(n_resamples)
        self._seeds = branch(seed_sequence(random_state), Purpose.REPEATING)

    def replicates(
        self, tables: Sequence[Votes | Numbers], definition: str, unbiased: bool
    ) -> list[Floats]:
        """Mean parts of each table over the same bootstrap samples, (n_resamples, 4) each."""
        n_trainings, weights = tables[0].n_trainings, tables[0].weights
        if n_trainings < 2:
            raise ValueError("predictions has 1 training; an interval needs two or more.")
        found: list[list[Floats]] = [[] for _ in tables]
        size = max(1, _BLOCK // tables[0].y_true.size)
        for times, point_weights in self._draws(n_trainings, weights, size):
            for table, kept in zip(tables, found, strict=True):
                for parts, on in zip(
                    _parts(table, times, definition, unbiased), point_weights, strict=True
                ):
                    kept.append(np.array(parts) @ on / on.sum())
        return [np.array(kept) for kept in found]

    def _draws(
        self, n_trainings: int, weights: Floats, size: int
    ) -> Iterator[tuple[Integers, Floats]]:
        """Blocks of samples: how often each training is in it, and the weight of each point."""
        # One generator each, so the size of the blocks changes nothing.
        for_trainings, for_points = (
            np.random.default_rng(branch(self._seeds, place)) for place in range(2)
        )
        n_points = len(weights)
        left = self.n_resamples
        while left:
            n_drawn = min(size, left)
            left -= n_drawn
            times = for_trainings.multinomial(
                n_trainings, np.full(n_trainings, 1 / n_trainings), n_drawn
            )
            on = np.tile(weights, (n_drawn, 1))
            if self.over == "both":
                on *= for_points.multinomial(n_points, np.full(n_points, 1 / n_points), n_drawn)
            yield times, on

    def intervals(
        self, definition: str, estimates: dict[str, float], replicates: Floats
    ) -> BiasVarianceIntervals:
        spread = replicates.std(axis=0, ddof=1)
        errors = dict(zip(PARTS, spread.tolist(), strict=True))
        return BiasVarianceIntervals(
            definition, estimates, errors, self.confidence, self.over, self.n_resamples
        )


def _parts(
    table: Votes | Numbers, times: Integers, definition: str, unbiased: bool
) -> Iterator[Parts]:
    """Parts at each point, with a count for each training."""
    if isinstance(table, Numbers):
        # About the mean of all: squares of large numbers would hide their differences.
        middle = table.answers.mean(axis=0)
        answers = table.answers - middle
        shares = times / table.n_trainings
        for mean, square in zip(shares @ answers, shares @ answers**2, strict=True):
            yield squared_error_parts(
                table.y_true, table.noise, middle + mean, np.maximum(square - mean**2, 0.0),
                table.n_trainings, unbiased,
            )  # fmt: skip
        return
    n_points, n_classes = table.y_true.shape
    # Whole numbers, exact as floats: classes with equally many votes are exactly tied.
    counts = np.empty((len(times), n_points, n_classes))
    for code in range(n_classes):
        counts[:, :, code] = times.astype(np.float64) @ (table.codes == code)
    for of_sample in counts / table.n_trainings:
        yield VOTE_PARTS[definition](table.y_true, of_sample, table.n_trainings, unbiased)
