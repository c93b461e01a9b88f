"""Bias and variance of a learner: the parts of its error, by several definitions.

A learner that is trained repeatedly on samples of the same problem errs in two ways: its
predictions are off on average, and they differ from each other. For squared error there is one way
to separate the two. For zero-one loss there are several, and they do not agree, because the
majority of many wrong predictions may be right. With p the probabilities of the classes at a point
and q their shares among the predictions:

==================== ==================================================== ======================
definition           bias is                                              variance may be < 0
==================== ==================================================== ======================
``squared_error``    the squared distance of the mean from the target     no
``kohavi_wolpert``   half the squared distance of p and q                 no
``kong_dietterich``  the error of the class predicted most often          yes
``breiman``          all excess error where that class is not the best    no
``webb``             wrong predictions of that class, noise included      no
``domingos``         1 where that class is not the best, 0 elsewhere      yes
==================== ==================================================== ======================

The parts of each add up to the mean error. Friedman's account, of an estimated probability, does
not add: see :func:`orfeon.inspection.friedman_decomposition`. The predictions come from
:func:`orfeon.inspection.resample_predictions`.

References
----------
Kohavi and Wolpert (1996). Bias plus variance decomposition for zero-one loss functions. Proceedings
of the 13th International Conference on Machine Learning, 275-283.

Kong and Dietterich (1995). Error-correcting output coding corrects bias and variance. Proceedings
of the 12th International Conference on Machine Learning, 313-321.

James (2003). Variance and bias for general loss functions. Machine Learning 51(2), 115-135.

Breiman (1996). Bias, variance, and arcing classifiers. Technical report 460, Statistics Department,
University of California, Berkeley.

Breiman (1998). Arcing classifiers. Annals of Statistics 26(3), 801-849.

Breiman (2000). Randomizing outputs to increase prediction accuracy. Machine Learning 40(3),
229-242.

Webb (2000). MultiBoosting: a technique for combining boosting and wagging. Machine Learning 40(2),
159-196.

Domingos (2000). A unified bias-variance decomposition for zero-one and squared loss. Proceedings of
the 17th National Conference on Artificial Intelligence, 564-569.

Domingos (2000). A unified bias-variance decomposition and its applications. Proceedings of the 17th
International Conference on Machine Learning, 231-238.

Geman, Bienenstock and Doursat (1992). Neural networks and the bias/variance dilemma. Neural
Computation 4(1), 1-58.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite, column_or_1d

from orfeon.inspection.bias_variance.parts import (
    BiasVariance,
    Parts,
    check_points,
    check_predictions,
    corrected,
    no_correction,
    read_repeated_votes,
)
from orfeon.inspection.documentation import documented
from orfeon.inspection.reading import read_weights
from orfeon.utils.types import Floats, Mask

Definition = Literal[
    "squared_error", "kohavi_wolpert", "kong_dietterich", "breiman", "webb", "domingos"
]


def bias_variance_decomposition(
    predictions: Any,
    y: Any = None,
    *,
    definition: Definition = "kohavi_wolpert",
    posterior: Any = None,
    noise: Any = 0.0,
    classes: Any = None,
    sample_weight: Any = None,
    unbiased: bool = False,
) -> BiasVariance:
    """Bias, variance and noise of a learner, from its predictions after repeated trainings.

    Parameters
    ----------
    predictions : array of shape (n_trainings, n_points)
        Labels or numbers predicted after each training.
    y : array of shape (n_points,), optional
        Labels or targets, taken as certain: their noise is then part of the bias. For
        "squared_error" also the regression function, with its ``noise``.
    definition : str, default="kohavi_wolpert"
        One of "squared_error", for regression, "kohavi_wolpert", "kong_dietterich", "breiman",
        "webb" and "domingos".
    posterior : array of shape (n_points, n_classes), optional
        Probability of each class at each point, if known, instead of ``y``.
    noise : float or array of shape (n_points,), default=0.0
        For "squared_error": variance of the noise.
    classes : array of shape (n_classes,), optional
        The labels, in the order of the columns of ``posterior``; sorted by default.
    sample_weight : array of shape (n_points,), optional
        Weights of the points: 0 is the same as leaving one out, 2 as giving it twice.
    unbiased : bool, default=False
        For "squared_error" and "kohavi_wolpert": whether to correct bias and variance for the
        number of trainings.

    Returns
    -------
    BiasVariance
        At each point and on average; the parts add up to the error.

    See Also
    --------
    resample_predictions : Trains a learner repeatedly.
    bias_variance_intervals : Confidence intervals of the parts.
    friedman_decomposition : From estimated probabilities.

    Examples
    --------
    >>> from orfeon.inspection import bias_variance_decomposition
    >>> predictions = [[0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]]
    >>> for definition in ("kohavi_wolpert", "kong_dietterich", "breiman", "domingos"):
    ...     print(bias_variance_decomposition(predictions, [0, 1, 0], definition=definition))
    error 0.4167 = bias 0.2292 + variance 0.1875 + noise 0.0000 (kohavi_wolpert, 4 trainings)
    error 0.4167 = bias 0.3333 + variance 0.0833 + noise 0.0000 (kong_dietterich, 4 trainings)
    error 0.4167 = bias 0.2500 + variance 0.1667 + noise 0.0000 (breiman, 4 trainings)
    error 0.4167 = bias 0.3333 + variance 0.0833 + noise 0.0000 (domingos, 4 trainings)
    """
    check_definition(definition)
    if definition == "squared_error":
        for name, value in (("posterior", posterior), ("classes", classes)):
            if value is not None:
                raise ValueError(f"{name} is for classes, and definition='squared_error' has none.")
        return squared_error_decomposition(
            predictions, y, noise=noise, sample_weight=sample_weight, unbiased=unbiased
        )
    if np.any(np.asarray(noise) != 0):
        raise ValueError(
            f"noise={noise!r} is for definition='squared_error'; for classes give posterior."
        )
    given = {"posterior": posterior, "classes": classes, "sample_weight": sample_weight}
    if definition == "kohavi_wolpert":
        return kohavi_wolpert_decomposition(predictions, y, unbiased=unbiased, **given)
    no_correction(definition, unbiased)
    return _DECOMPOSITIONS[definition](predictions, y, **given)


def check_definition(definition: Any) -> None:
    if definition not in get_args(Definition):
        names = ", ".join(repr(name) for name in get_args(Definition))
        own = " For Friedman's use friedman_decomposition()." * (definition == "friedman")
        raise ValueError(f"definition={definition!r} is not allowed; use one of {names}.{own}")


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
    shares = votes.shares
    parts = kohavi_wolpert_parts(votes.y_true, shares, votes.n_trainings, unbiased)
    return BiasVariance(
        "kohavi_wolpert", *parts, votes.central(shares), votes.weights, votes.n_trainings
    )


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
    shares = votes.shares
    parts = kong_dietterich_parts(votes.y_true, shares, votes.n_trainings)
    return BiasVariance(
        "kong_dietterich", *parts, votes.central(shares), votes.weights, votes.n_trainings
    )


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
    shares = votes.shares
    parts = breiman_parts(votes.y_true, shares, votes.n_trainings)
    return BreimanBiasVariance(
        "breiman", *parts, votes.central(shares), votes.weights, votes.n_trainings,
        biased_set(votes.y_true, shares),
    )  # fmt: skip


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
    shares = votes.shares
    parts = webb_parts(votes.y_true, shares, votes.n_trainings)
    return BiasVariance("webb", *parts, votes.central(shares), votes.weights, votes.n_trainings)


@dataclass(frozen=True, eq=False)
class DomingosBiasVariance(BiasVariance):
    """The parts by Domingos, with the factors by which they count.

    ``variance`` is the net variance c2 V and ``noise`` the net noise c1 N, for these add up.

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

    Noise counts less, or even negatively, where a prediction other than y* may happen to be right,
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
    shares = votes.shares
    parts = domingos_parts(votes.y_true, shares, votes.n_trainings)
    found = _factors(votes.y_true, shares)
    return DomingosBiasVariance(
        "domingos", *parts, votes.central(shares), votes.weights, votes.n_trainings,
        found.variance, found.noise, found.of_noise, found.of_variance,
    )  # fmt: skip


class Numbers(NamedTuple):
    """Predictions of a learner trained many times, and the targets, as numbers."""

    #: Predictions after each training, of shape (n_trainings, n_points).
    answers: Floats
    #: Targets, or the regression function.
    y_true: Floats
    #: Variance of the noise at each point.
    noise: Floats
    #: Weights of the points.
    weights: Floats

    @property
    def n_trainings(self) -> int:
        return int(self.answers.shape[0])


def read_numbers(predictions: Any, y: Any, noise: Any, sample_weight: Any) -> Numbers:
    answers = np.asarray(predictions, dtype=np.float64)
    check_predictions(answers)
    if y is None:
        raise ValueError("y is missing: give the targets, or the regression function.")
    y_true = np.asarray(column_or_1d(y), dtype=np.float64)
    assert_all_finite(y_true, input_name="y")
    check_points("y", len(y_true), answers.shape[1])
    variance = np.asarray(noise, dtype=np.float64)
    if (
        variance.shape not in ((), y_true.shape)
        or not (np.isfinite(variance) & (variance >= 0)).all()
    ):
        raise ValueError(
            f"noise={noise!r} is not allowed: it is a variance, 0 or more, for all points or for "
            f"each of the {len(y_true)}."
        )
    weights = read_weights(sample_weight, len(y_true))
    counts = weights > 0
    everywhere = np.broadcast_to(variance, y_true.shape)
    return Numbers(answers[:, counts], y_true[counts], everywhere[counts], weights[counts])


def squared_error_parts(
    y_true: Floats,
    noise: Floats,
    mean: Floats,
    variance: Floats,
    n_trainings: int,
    unbiased: bool = False,
) -> Parts:
    bias = (mean - y_true) ** 2
    error = bias + variance + noise
    if unbiased:
        bias, variance = corrected(bias, variance, n_trainings)
    return Parts(error, bias, variance, noise)


@documented()
def squared_error_decomposition(
    predictions: Any,
    y: Any,
    *,
    noise: Any = 0.0,
    sample_weight: Any = None,
    unbiased: bool = False,
) -> BiasVariance:
    """Squared bias, variance and noise, which add up to the mean squared error E (y - G)^2.

    The bias is that of the mean prediction, the variance that of the predictions about it, and the
    noise the variance of y about the regression function.

    Parameters
    ----------
    predictions : array of shape (n_trainings, n_points)
        Numbers predicted after each training.
    y : array of shape (n_points,)
        Targets, taken as certain: their noise is then part of the bias. Or the regression function,
        if known.
    noise : float or array of shape (n_points,), default=0.0
        With a known regression function: variance of the noise about it.
    sample_weight : array of shape (n_points,), optional
        Weights of the points: 0 is the same as leaving one out, 2 as giving it twice.
    <unbiased>

    Returns
    -------
    BiasVariance
        The parts, which add up to the error; ``bias`` is the squared bias.

    Examples
    --------
    >>> from orfeon.inspection import squared_error_decomposition
    >>> parts = squared_error_decomposition([[1.0, 5.0], [3.0, 5.0]], [2.0, 4.0])
    >>> print(parts)
    error 1.0000 = bias 0.5000 + variance 0.5000 + noise 0.0000 (squared_error, 2 trainings)
    """
    read = read_numbers(predictions, y, noise, sample_weight)
    mean: npt.NDArray[Any] = read.answers.mean(axis=0)
    parts = squared_error_parts(
        read.y_true, read.noise, mean, read.answers.var(axis=0), read.n_trainings, unbiased
    )
    error = ((read.answers - read.y_true) ** 2).mean(axis=0) + read.noise
    return BiasVariance("squared_error", error, *parts[1:], mean, read.weights, read.n_trainings)


#: The definitions for zero-one loss: from probabilities, shares, trainings and correction to parts.
VOTE_PARTS: dict[str, Callable[..., Parts]] = {
    "kohavi_wolpert": kohavi_wolpert_parts,
    "kong_dietterich": kong_dietterich_parts,
    "breiman": breiman_parts,
    "webb": webb_parts,
    "domingos": domingos_parts,
}
_DECOMPOSITIONS: dict[str, Callable[..., BiasVariance]] = {
    "kong_dietterich": kong_dietterich_decomposition,
    "breiman": breiman_decomposition,
    "webb": webb_decomposition,
    "domingos": domingos_decomposition,
}
