"""Bias and variance of zero-one loss, by Kohavi and Wolpert.

With probabilities p_k of the classes at a point and shares q_k of them among the predictions,

    bias^2   = 1/2 sum_k (p_k - q_k)^2
    variance = 1/2 (1 - sum_k q_k^2)
    noise    = 1/2 (1 - sum_k p_k^2)

add up to the error 1 - sum_k p_k q_k at every point. None of them is ever negative. This noise is
less than the error of the Bayes rule, and at least half of it: the rest of that error counts as
bias, also for the Bayes rule itself.

References
----------
Kohavi and Wolpert (1996). Bias plus variance decomposition for zero-one loss functions. Proceedings
of the 13th International Conference on Machine Learning, 275-283.
"""

from __future__ import annotations

from typing import Any

from orfeon.inspection.bias_variance.parts import BiasVariance, Parts, corrected, read_votes
from orfeon.utils.types import Floats


def kohavi_wolpert_parts(
    y_true: Floats, shares: Floats, n_trainings: int, unbiased: bool = False
) -> Parts:
    """The parts at each point, from probabilities and shares of the classes."""
    error = 1.0 - (y_true * shares).sum(axis=1)
    bias = 0.5 * ((y_true - shares) ** 2).sum(axis=1)
    variance = 0.5 * (1.0 - (shares**2).sum(axis=1))
    noise = 0.5 * (1.0 - (y_true**2).sum(axis=1))
    if unbiased:
        bias, variance = corrected(bias, variance, n_trainings)
    return Parts(error, bias, variance, noise)


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

    Parameters
    ----------
    predictions : array of shape (n_trainings, n_points)
        Labels predicted after each training.
    y : array of shape (n_points,), optional
        Labels, taken for the truth: the noise is then nothing, and is part of the bias.
    posterior : array of shape (n_points, n_classes), optional
        Probability of each class at each point, instead of ``y``.
    classes : array of shape (n_classes,), optional
        The labels, in the order of the columns of ``posterior``; by default sorted.
    sample_weight : array of shape (n_points,), optional
        Weights of the points: 0 is the same as leaving one out, 2 as giving it twice.
    unbiased : bool, default=False
        Whether bias and variance are estimated without bias. Shares of n trainings make the
        squared bias too large by ``variance / n``, and the variance too small by as much; the
        correction moves it back. A corrected bias may be below 0. Needs two trainings.

    Returns
    -------
    BiasVariance
        The parts, which add up to the error.

    Examples
    --------
    >>> from orfeon.inspection import kohavi_wolpert_decomposition
    >>> said = [[0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 1]]
    >>> parts = kohavi_wolpert_decomposition(said, [0, 1, 0])
    >>> parts.point_bias, parts.point_variance
    (array([0.0625, 0.0625, 1.    ]), array([0.1875, 0.1875, 0.    ]))
    >>> corrected = kohavi_wolpert_decomposition(said, [0, 1, 0], unbiased=True)
    >>> corrected.point_bias, corrected.point_variance
    (array([0., 0., 1.]), array([0.25, 0.25, 0.  ]))
    """
    votes = read_votes(predictions, y, posterior, classes, sample_weight)
    shares = votes.shares
    parts = kohavi_wolpert_parts(votes.y_true, shares, votes.n_trainings, unbiased)
    return BiasVariance(
        "kohavi_wolpert", *parts, votes.central(shares), votes.weights, votes.n_trainings
    )
