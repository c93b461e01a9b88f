"""Bias and variance of zero-one loss, by Breiman.

A learner is unbiased at a point where the class that it predicts most often, over trainings, is
that of the Bayes rule. What its error has more than that of the Bayes rule is variance at such
points, and bias at all others. So neither is ever negative. The vote of infinitely many trainings
has no variance; its bias may be smaller or larger than that of one training.

References
----------
Breiman (1996). Bias, variance, and arcing classifiers. Technical report 460, Statistics Department,
University of California, Berkeley.

Breiman (1998). Arcing classifiers. Annals of Statistics 26(3), 801-849.

Breiman (2000). Randomizing outputs to increase prediction accuracy. Machine Learning 40(3),
229-242.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orfeon.inspection.bias_variance.parts import BiasVariance, Parts, no_correction, read_votes
from orfeon.utils.types import Floats, Mask


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
    """The parts at each point, from probabilities and shares of the classes."""
    no_correction("breiman", unbiased)
    right = (y_true * shares).sum(axis=1)
    most = y_true.max(axis=1)
    biased = biased_set(y_true, shares)
    excess = most - right
    return Parts(
        1.0 - right, np.where(biased, excess, 0.0), np.where(biased, 0.0, excess), 1 - most
    )


def breiman_decomposition(
    predictions: Any,
    y: Any = None,
    *,
    posterior: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> BreimanBiasVariance:
    """Bias, variance and noise of zero-one loss, by Breiman (1996).

    Parameters
    ----------
    predictions : array of shape (n_trainings, n_points)
        Labels predicted after each training.
    y : array of shape (n_points,), optional
        Labels, taken for the truth.
    posterior : array of shape (n_points, n_classes), optional
        Probability of each class at each point, instead of ``y``.
    classes : array of shape (n_classes,), optional
        The labels, in the order of the columns of ``posterior``; by default sorted.
    sample_weight : array of shape (n_points,), optional
        Weights of the points: 0 is the same as leaving one out, 2 as giving it twice.

    Returns
    -------
    BreimanBiasVariance
        The parts, which add up to the error, and the biased set.

    Examples
    --------
    >>> from orfeon.inspection import breiman_decomposition
    >>> said = [[0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]]
    >>> parts = breiman_decomposition(said, [0, 1, 0])
    >>> parts.point_bias, parts.point_variance
    (array([0.  , 0.  , 0.75]), array([0.25, 0.25, 0.  ]))
    """
    votes = read_votes(predictions, y, posterior, classes, sample_weight)
    shares = votes.shares
    parts = breiman_parts(votes.y_true, shares, votes.n_trainings)
    return BreimanBiasVariance(
        "breiman", *parts, votes.central(shares), votes.weights, votes.n_trainings,
        biased_set(votes.y_true, shares),
    )  # fmt: skip
