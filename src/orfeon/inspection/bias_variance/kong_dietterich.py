"""Bias and variance of zero-one loss, by Kong and Dietterich.

The bias at a point is the error of the class that is predicted most often, and the variance is what
the mean error has more than that. It is negative where the learner is mostly wrong, for there it
gains by changing its mind.

The definition is published for labels without noise: the bias is then 0 or 1. Where probabilities
of the classes are known the error of the Bayes rule is the noise, and the bias is what the class
predicted most often adds to it. So it is the systematic effect of James, and the variance is his
variance effect.

References
----------
Kong and Dietterich (1995). Error-correcting output coding corrects bias and variance. Proceedings
of the 12th International Conference on Machine Learning, 313-321.

James (2003). Variance and bias for general loss functions. Machine Learning 51(2), 115-135.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.inspection.bias_variance.parts import BiasVariance, Parts, no_correction, read_votes
from orfeon.utils.types import Floats


def kong_dietterich_parts(
    y_true: Floats, shares: Floats, n_trainings: int, unbiased: bool = False
) -> Parts:
    """The parts at each point, from probabilities and shares of the classes."""
    no_correction("kong_dietterich", unbiased)
    error = 1.0 - (y_true * shares).sum(axis=1)
    noise = 1.0 - y_true.max(axis=1)
    of_central = 1.0 - y_true[np.arange(len(y_true)), np.argmax(shares, axis=1)]
    return Parts(error, of_central - noise, error - of_central, noise)


def kong_dietterich_decomposition(
    predictions: Any,
    y: Any = None,
    *,
    posterior: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> BiasVariance:
    """Bias, variance and noise of zero-one loss, by Kong and Dietterich (1995).

    Parameters
    ----------
    predictions : array of shape (n_trainings, n_points)
        Labels predicted after each training.
    y : array of shape (n_points,), optional
        Labels, taken for the truth: the bias is then 0 or 1, as published.
    posterior : array of shape (n_points, n_classes), optional
        Probability of each class at each point, instead of ``y``: the parts are then the noise,
        the systematic effect and the variance effect of James (2003).
    classes : array of shape (n_classes,), optional
        The labels, in the order of the columns of ``posterior``; by default sorted.
    sample_weight : array of shape (n_points,), optional
        Weights of the points: 0 is the same as leaving one out, 2 as giving it twice.

    Returns
    -------
    BiasVariance
        The parts, which add up to the error; the variance may be negative.

    Examples
    --------
    >>> from orfeon.inspection import kong_dietterich_decomposition
    >>> said = [[0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]]
    >>> parts = kong_dietterich_decomposition(said, [0, 1, 0])
    >>> parts.point_bias, parts.point_variance
    (array([0., 0., 1.]), array([ 0.25,  0.25, -0.25]))
    """
    votes = read_votes(predictions, y, posterior, classes, sample_weight)
    shares = votes.shares
    parts = kong_dietterich_parts(votes.y_true, shares, votes.n_trainings)
    return BiasVariance(
        "kong_dietterich", *parts, votes.central(shares), votes.weights, votes.n_trainings
    )
