"""Bias and variance of zero-one loss, where the predictions at a point are seen as shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orfeon.inspection.bias_variance.parts import (
    BiasVariance,
    Parts,
    corrected,
    no_correction,
    parts_of_votes,
    read_repeated_votes,
)
from orfeon.inspection.documentation import documented
from orfeon.utils.types import Floats, Mask


def kohavi_wolpert_parts(
    y_true: Floats, shares: Floats, n_trainings: int, unbiased: bool = False
) -> Parts:
    error = 1.0 - (y_true * shares).sum(axis=1)
    bias = 0.5 * ((y_true - shares) ** 2).sum(axis=1)
    variance = 0.5 * (1.0 - (shares**2).sum(axis=1))
    noise = 0.5 * (1.0 - (y_true**2).sum(axis=1))
    if unbiased:
        bias, variance = corrected(bias, variance, n_trainings)
    return Parts(error, bias, variance, noise)


@documented()
def kohavi_wolpert_decomposition(
    predictions: Any,
    y: Any = None,
    *,
    posterior: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
    unbiased: bool = False,
) -> BiasVariance:
    """Bias, variance and noise of zero-one loss, by Kohavi and Wolpert (1996).

    With probabilities p_k of the classes at a point and shares q_k among the predictions,

        bias^2   = 1/2 sum_k (p_k - q_k)^2
        variance = 1/2 (1 - sum_k q_k^2)
        noise    = 1/2 (1 - sum_k p_k^2)

    None of them is negative. This noise is below the Bayes error, and at least half of it: the rest
    of that error counts as bias, also for the Bayes rule itself.

    Parameters
    ----------
    <predictions>
    <unbiased>

    Returns
    -------
    BiasVariance
        The parts, which add up to the error.

    Examples
    --------
    >>> from orfeon.inspection import kohavi_wolpert_decomposition
    >>> predictions = [[0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 1]]
    >>> parts = kohavi_wolpert_decomposition(predictions, [0, 1, 0])
    >>> parts.point_bias, parts.point_variance
    (array([0.0625, 0.0625, 1.    ]), array([0.1875, 0.1875, 0.    ]))
    >>> corrected = kohavi_wolpert_decomposition(predictions, [0, 1, 0], unbiased=True)
    >>> corrected.point_bias, corrected.point_variance
    (array([0., 0., 1.]), array([0.25, 0.25, 0.  ]))
    """
    votes = read_repeated_votes(predictions, y, posterior, classes, sample_weight)
    parts = kohavi_wolpert_parts(votes.y_true, votes.shares, votes.n_trainings, unbiased)
    return BiasVariance(*parts_of_votes("kohavi_wolpert", parts, votes))


def kong_dietterich_parts(
    y_true: Floats, shares: Floats, n_trainings: int, unbiased: bool = False
) -> Parts:
    no_correction("kong_dietterich", unbiased)
    error = 1.0 - (y_true * shares).sum(axis=1)
    noise = 1.0 - y_true.max(axis=1)
    of_central = 1.0 - y_true[np.arange(len(y_true)), np.argmax(shares, axis=1)]
    return Parts(error, of_central - noise, error - of_central, noise)


@documented()
def kong_dietterich_decomposition(
    predictions: Any,
    y: Any = None,
    *,
    posterior: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> BiasVariance:
    """Bias, variance and noise of zero-one loss, by Kong and Dietterich (1995).

    The bias at a point is the error of the class predicted most often, and the variance is the mean
    error minus that. It is negative where the learner is mostly wrong: there it gains by changing
    its prediction. Published for labels without noise, where the bias is 0 or 1. With a
    ``posterior`` the noise is the Bayes error, and bias and variance are the systematic and
    variance effects of James (2003).

    Parameters
    ----------
    <predictions>

    Returns
    -------
    BiasVariance
        The parts, which add up to the error; the variance may be negative.

    Examples
    --------
    >>> from orfeon.inspection import kong_dietterich_decomposition
    >>> predictions = [[0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]]
    >>> parts = kong_dietterich_decomposition(predictions, [0, 1, 0])
    >>> parts.point_bias, parts.point_variance
    (array([0., 0., 1.]), array([ 0.25,  0.25, -0.25]))
    """
    votes = read_repeated_votes(predictions, y, posterior, classes, sample_weight)
    parts = kong_dietterich_parts(votes.y_true, votes.shares, votes.n_trainings)
    return BiasVariance(*parts_of_votes("kong_dietterich", parts, votes))


@dataclass(frozen=True, eq=False)
class BreimanBiasVariance(BiasVariance):
    """The parts by Breiman, and the set on which the learner is biased.

    Parameters
    ----------
    definition, point_error, point_bias, point_variance, point_noise, central, weights, n_trainings
        As in :class:`BiasVariance`.
    is_biased : ndarray of bool of shape (n_points,)
        Where the class predicted most often is not that of the Bayes rule.

    Examples
    --------
    >>> from orfeon.inspection import breiman_decomposition
    >>> breiman_decomposition([[0, 1], [0, 0], [1, 0]], [0, 1]).is_biased
    array([False,  True])
    """

    is_biased: Mask


def biased_set(y_true: Floats, shares: Floats) -> Mask:
    """Where the class predicted most often is less probable than another one."""
    central = np.argmax(shares, axis=1)
    return np.asarray(y_true[np.arange(len(y_true)), central] < y_true.max(axis=1))


def breiman_parts(
    y_true: Floats, shares: Floats, n_trainings: int, unbiased: bool = False
) -> Parts:
    no_correction("breiman", unbiased)
    right = (y_true * shares).sum(axis=1)
    most = y_true.max(axis=1)
    biased = biased_set(y_true, shares)
    excess = most - right
    return Parts(
        1.0 - right, np.where(biased, excess, 0.0), np.where(biased, 0.0, excess), 1 - most
    )


@documented()
def breiman_decomposition(
    predictions: Any,
    y: Any = None,
    *,
    posterior: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> BreimanBiasVariance:
    """Bias, variance and noise of zero-one loss, by Breiman (1996).

    A learner is unbiased at a point if the class that it predicts most often is that of the Bayes
    rule. Its error above the Bayes error is variance at such points, and bias at all others, so
    neither is negative. The vote of infinitely many trainings has no variance; its bias may be
    smaller or larger than that of one training.

    Parameters
    ----------
    <predictions>

    Returns
    -------
    BreimanBiasVariance
        The parts, which add up to the error, and the biased set.

    Examples
    --------
    >>> from orfeon.inspection import breiman_decomposition
    >>> predictions = [[0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]]
    >>> parts = breiman_decomposition(predictions, [0, 1, 0])
    >>> parts.point_bias, parts.point_variance
    (array([0.  , 0.  , 0.75]), array([0.25, 0.25, 0.  ]))
    """
    votes = read_repeated_votes(predictions, y, posterior, classes, sample_weight)
    parts = breiman_parts(votes.y_true, votes.shares, votes.n_trainings)
    return BreimanBiasVariance(
        *parts_of_votes("breiman", parts, votes), is_biased=biased_set(votes.y_true, votes.shares)
    )


def webb_parts(y_true: Floats, shares: Floats, n_trainings: int, unbiased: bool = False) -> Parts:
    no_correction("webb", unbiased)
    wrong = shares * (1.0 - y_true)
    error = 1.0 - (y_true * shares).sum(axis=1)
    bias = wrong[np.arange(len(wrong)), np.argmax(shares, axis=1)]
    return Parts(error, bias, error - bias, np.zeros_like(error))


@documented()
def webb_decomposition(
    predictions: Any,
    y: Any = None,
    *,
    posterior: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> BiasVariance:
    """Bias and variance of zero-one loss, by counting wrong predictions (Webb 2000).

    With ym the class predicted most often at a point, a wrong prediction counts as bias if it is ym
    and as variance if it is another class:

        bias     = P(y /= t and y = ym)
        variance = P(y /= t and y /= ym)

    for predictions y and labels t. Neither is negative, and no Bayes rule is needed: the noise is 0
    and counts in both. With two classes and no noise this is :func:`breiman_decomposition`. With
    more classes some wrong predictions are variance even where ym is wrong.

    Parameters
    ----------
    <predictions>

    Returns
    -------
    BiasVariance
        The parts, which add up to the error.

    Examples
    --------
    >>> from orfeon.inspection import webb_decomposition
    >>> predictions = [[0, 1, 1], [0, 0, 1], [1, 1, 2], [0, 1, 0]]
    >>> parts = webb_decomposition(predictions, [0, 1, 0])
    >>> parts.point_bias, parts.point_variance
    (array([0. , 0. , 0.5]), array([0.25, 0.25, 0.25]))
    """
    votes = read_repeated_votes(predictions, y, posterior, classes, sample_weight)
    parts = webb_parts(votes.y_true, votes.shares, votes.n_trainings)
    return BiasVariance(*parts_of_votes("webb", parts, votes))
