"""Bias and variance of zero-one loss by Domingos, whose parts count by factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from orfeon.inspection.bias_variance.parts import (
    BiasVariance,
    Parts,
    no_correction,
    parts_of_votes,
    read_repeated_votes,
)
from orfeon.inspection.bias_variance.zero_one import biased_set
from orfeon.inspection.documentation import documented
from orfeon.utils.types import Floats


@dataclass(frozen=True, eq=False)
class DomingosBiasVariance(BiasVariance):
    """The parts by Domingos, with the factors by which they count.

    ``variance`` is the net variance c2 V and ``noise`` the net noise c1 N, because these add up.

    Parameters
    ----------
    definition, point_error, point_bias, point_variance, point_noise, central, weights, n_trainings
        As in :class:`BiasVariance`.
    gross_variance_at : ndarray of shape (n_points,)
        V, the share of predictions that are not the central one.
    gross_noise_at : ndarray of shape (n_points,)
        N, the error of the Bayes rule.
    noise_factor : ndarray of shape (n_points,)
        c1.
    variance_factor : ndarray of shape (n_points,)
        c2.

    Examples
    --------
    >>> from orfeon.inspection import domingos_decomposition
    >>> parts = domingos_decomposition([[0, 1], [0, 0], [0, 0], [1, 0]], [0, 1])
    >>> parts.unbiased_variance, parts.biased_variance, parts.net_variance
    (0.125, 0.125, 0.0)
    """

    gross_variance_at: Floats
    gross_noise_at: Floats
    noise_factor: Floats
    variance_factor: Floats

    @property
    def gross_variance(self) -> float:
        """Mean of V."""
        return self.mean(self.gross_variance_at)

    @property
    def gross_noise(self) -> float:
        """Mean of N: the error of the Bayes rule."""
        return self.mean(self.gross_noise_at)

    @property
    def net_variance(self) -> float:
        """Mean of c2 V; the same as ``variance``."""
        return self.variance

    @property
    def unbiased_variance(self) -> float:
        """Mean of V over unbiased points, zero at biased ones: what variance adds to the error."""
        return self.mean(np.where(self.point_bias == 0, self.gross_variance_at, 0.0))

    @property
    def biased_variance(self) -> float:
        """Mean of V over biased points, zero at others.

        With two classes it is what variance takes away, so the net variance is the unbiased minus
        the biased variance. With more classes it takes away only -c2 V.
        """
        return self.mean(np.where(self.point_bias == 0, 0.0, self.gross_variance_at))


class _Factors(NamedTuple):
    """N, B, V, c1 and c2 at each point."""

    noise: Floats
    bias: Floats
    variance: Floats
    of_noise: Floats
    of_variance: Floats


def _factors(y_true: Floats, shares: Floats) -> _Factors:
    rows = np.arange(len(y_true))
    central = np.argmax(shares, axis=1)
    biased = biased_set(y_true, shares)
    best = np.where(biased, np.argmax(y_true, axis=1), central)
    noise = 1.0 - y_true[rows, best]
    variance = 1.0 - shares[rows, central]
    of_best = shares[rows, best]
    # Predictions other than y* that are right: P(y /= y*, y = t), all where t /= y*.
    by_luck = (y_true * shares).sum(axis=1) - y_true[rows, best] * of_best
    # Without noise there is no t /= y*; use the value of two classes.
    with np.errstate(divide="ignore", invalid="ignore"):
        luck = np.where(noise > 0, by_luck / noise, 1.0 - of_best)
        of_variance = np.where(biased & (variance > 0), -of_best / variance, 1.0 - 2.0 * biased)
    return _Factors(noise, biased.astype(np.float64), variance, of_best - luck, of_variance)


def domingos_parts(
    y_true: Floats, shares: Floats, n_trainings: int, unbiased: bool = False
) -> Parts:
    """Bias, net variance and net noise at each point."""
    no_correction("domingos", unbiased)
    found = _factors(y_true, shares)
    return Parts(
        1.0 - (y_true * shares).sum(axis=1), found.bias, found.of_variance * found.variance,
        found.of_noise * found.noise,
    )  # fmt: skip


@documented()
def domingos_decomposition(
    predictions: Any,
    y: Any = None,
    *,
    posterior: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> DomingosBiasVariance:
    """Bias, variance and noise of zero-one loss, by Domingos (2000).

    At a point, with the best prediction y* and the central one ym, which is predicted most often,

        error = c1 N + B + c2 V

    where the noise N is the error of y*, the bias B is 1 if ym is not y* and 0 otherwise, and the
    variance V is the share of predictions that are not ym. For predictions y and labels t,

        c1 = P(y = y*) - P(y /= y*) P(y = t | t /= y*)
        c2 = 1 if there is no bias,  -P(y = y* | y /= ym) if there is.

    Noise counts less, or even negatively, where a prediction other than y* may be right by chance,
    and variance counts negatively where the central prediction is wrong. With two classes c1 is 2
    P(y = y*) - 1 and c2 is 1 or -1.

    Parameters
    ----------
    <predictions>

    Returns
    -------
    DomingosBiasVariance
        Bias, net variance and net noise, which add up to the error; gross variance and noise; and
        the factors c1 and c2.

    Notes
    -----
    Of classes tied for the central prediction the first is taken, and of those tied for the best
    one the central prediction, if it is among them. Without noise c1 does not matter, and is given
    as with two classes.

    Examples
    --------
    >>> from orfeon.inspection import domingos_decomposition
    >>> predictions = [[0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]]
    >>> parts = domingos_decomposition(predictions, [0, 1, 0])
    >>> parts.point_bias, parts.gross_variance_at, parts.variance_factor
    (array([0., 0., 1.]), array([0.25, 0.25, 0.25]), array([ 1.,  1., -1.]))
    """
    votes = read_repeated_votes(predictions, y, posterior, classes, sample_weight)
    parts = domingos_parts(votes.y_true, votes.shares, votes.n_trainings)
    found = _factors(votes.y_true, votes.shares)
    return DomingosBiasVariance(
        *parts_of_votes("domingos", parts, votes), gross_variance_at=found.variance,
        gross_noise_at=found.noise, noise_factor=found.of_noise,
        variance_factor=found.of_variance,
    )  # fmt: skip
