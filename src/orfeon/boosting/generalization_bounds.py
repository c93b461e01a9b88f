"""Bounds of the error on new samples: by the number of members, or by the margins.

They hold with probability ``1 - delta`` over the training samples, for any votes, and are far above
the errors that are measured: their use is to show what the error depends on.

References
----------
Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and an
application to boosting. Journal of Computer and System Sciences 55(1), 119-139. (theorems 7 and 8)

Schapire, Freund, Bartlett and Lee (1998). Boosting the margin: a new explanation for the
effectiveness of voting methods. Annals of Statistics 26(5), 1651-1686. (theorems 1 and 2)

Devroye, Györfi and Lugosi (1996). A Probabilistic Theory of Pattern Recognition. Springer.
(theorem 12.5)

Natarajan (1989). On learning sets and functions. Machine Learning 4, 67-97.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats

#: Numbers of members of the smaller votes that are tried in the margin bound.
_N_TRIED = 2000


def vc_dimension_of_votes(vc_dimension: float, n_members: npt.ArrayLike) -> Floats:
    """Bound on the VC dimension of the votes of T members: 2 (d + 1) (T + 1) log2(e (T + 1)).

    Parameters
    ----------
    vc_dimension : float
        VC dimension d of the members, at least 1.
    n_members : int or array of int
        Number T of members.

    Returns
    -------
    ndarray
        The bound for each number of members.

    Examples
    --------
    >>> from orfeon.boosting import vc_dimension_of_votes
    >>> vc_dimension_of_votes(2, [1, 10]).round(1)
    array([ 29.3, 323.5])
    """
    _check_positive("vc_dimension", vc_dimension, 1)
    T = np.asarray(n_members, dtype=np.float64)
    return np.asarray(2.0 * (vc_dimension + 1.0) * (T + 1.0) * np.log2(np.e * (T + 1.0)))


def vc_generalization_bound(
    training_error: npt.ArrayLike,
    n_samples: int,
    n_members: npt.ArrayLike,
    vc_dimension: float,
    *,
    n_classes: int = 2,
    delta: float = 0.05,
) -> Floats:
    """Bound on the error of a weighted vote on new samples, which grows with its members.

    Parameters
    ----------
    training_error : float or array
        Training error of the vote.
    n_samples : int
        Number of training samples.
    n_members : int or array of int
        Number of members.
    vc_dimension : float
        VC dimension of the members, at least 1; with several classes their Natarajan dimension.
    n_classes : int, default=2
        Number of classes.
    delta : float, default=0.05
        Probability with which the bound may fail.

    Returns
    -------
    ndarray
        The bound; it is vacuous above 1.

    Notes
    -----
    With two classes the bound is that of Freund and Schapire (1997). With K classes the number of
    ways in which the votes can label the samples is at most (N K^2)^(d T) for the members, times
    (e N K (K - 1) / (2 T))^T for their weights.

    Examples
    --------
    >>> from orfeon.boosting import vc_generalization_bound
    >>> vc_generalization_bound(0.1, 1_000_000, [1, 10, 100], 2).round(3)
    array([0.138, 0.212, 0.471])
    """
    N = _check(n_samples, n_classes, delta)
    error = np.asarray(training_error, dtype=np.float64)
    T = np.asarray(n_members, dtype=np.float64)
    if n_classes == 2:
        D = vc_dimension_of_votes(vc_dimension, T)
        # No more than all labellings of twice the samples.
        within = np.minimum(D, 2.0 * N)
        log_growth = np.minimum(within * (np.log(2.0 * N / within) + 1.0), 2.0 * N * np.log(2.0))
        return np.asarray(error + 2.0 * np.sqrt((log_growth + np.log(9.0 / delta)) / N))
    pairs = np.maximum(N * n_classes * (n_classes - 1) / 2.0, T)
    weights = T * np.log(np.e * pairs / T)
    log_growth = T * _log_growth(vc_dimension, N, n_classes) + weights
    log_growth = np.minimum(log_growth, N * np.log(n_classes))
    return np.asarray(error + np.sqrt(32.0 / N * (log_growth + np.log(8.0 / delta))))


def margin_generalization_bound(
    share: npt.ArrayLike,
    theta: float,
    n_samples: int,
    *,
    n_hypotheses: float | None = None,
    vc_dimension: float | None = None,
    n_classes: int = 2,
    delta: float = 0.05,
) -> Floats:
    """Bound on the error of a weighted vote on new samples, whatever the number of members.

    Parameters
    ----------
    share : float or array
        Share of the training samples whose margin is at most ``theta``. The margin is the share of
        the vote for the right class minus the largest for another one.
    theta : float
        A margin above 0, up to 1. The bound holds for all of them at once, so you may take the
        best.
    n_samples : int
        Number of training samples.
    n_hypotheses : float, optional
        Number of classifiers that members are chosen from; or give ``vc_dimension``.
    vc_dimension : float, optional
        VC dimension of the members, at least 1; with several classes their Natarajan dimension.
    n_classes : int, default=2
        Number of classes.
    delta : float, default=0.05
        Probability with which the bound may fail.

    Returns
    -------
    ndarray
        The bound; it is vacuous above 1.

    Notes
    -----
    A vote of n members drawn by their weights has almost the margins of the whole vote. The bound
    is ``share`` + 2 (K - 1) exp(-n theta^2 / 8) + the deviation of all votes of n members, for the
    best n, with the constants of the proofs of Schapire et al. (1998).

    Examples
    --------
    >>> from orfeon.boosting import margin_generalization_bound
    >>> bound = margin_generalization_bound(0.1, 0.5, 1_000_000, n_hypotheses=1000)
    >>> round(float(bound), 3)
    0.13
    """
    N = _check(n_samples, n_classes, delta)
    if not 0.0 < theta <= 1.0:
        raise ValueError(f"theta={theta} is not allowed: it must be above 0, up to 1.")
    if (n_hypotheses is None) == (vc_dimension is None):
        raise ValueError("give either n_hypotheses or vc_dimension.")
    most = 8.0 / theta**2 * np.log(2.0 * n_classes * N) + 2.0
    n = np.unique(np.geomspace(1.0, most, _N_TRIED).astype(np.int64)).astype(np.float64)
    far = 2.0 * (n_classes - 1) * np.exp(-n * theta**2 / 8.0)
    failure = np.log(n * (n + 1.0) ** 2 / delta)
    if n_hypotheses is not None:
        _check_positive("n_hypotheses", n_hypotheses, 1)
        deviation = np.sqrt((failure + n * np.log(n_hypotheses)) / (2.0 * N))
    else:
        assert vc_dimension is not None
        growth = n * _log_growth(vc_dimension, N, n_classes)
        deviation = np.sqrt(32.0 / N * (failure + growth + np.log(8.0)))
    return np.asarray(np.asarray(share, dtype=np.float64) + (far + deviation).min())


def _log_growth(dimension: float, n_samples: float, n_classes: int) -> float:
    """Logarithm of a bound of the number of ways in which members label the samples."""
    _check_positive("vc_dimension", dimension, 1)
    if n_classes == 2:  # Sauer's lemma
        return float(dimension * np.log(np.e * max(n_samples / dimension, 1.0)))
    return float(dimension * (np.log(n_samples) + 2.0 * np.log(n_classes)))  # Natarajan's


def _check(n_samples: Any, n_classes: int, delta: float) -> float:
    _check_positive("n_samples", n_samples, 1)
    _check_positive("n_classes", n_classes, 2)
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta={delta} is not a probability between 0 and 1.")
    return float(n_samples)


def _check_positive(name: str, value: float, least: int) -> None:
    if not value >= least:
        raise ValueError(f"{name}={value} is not allowed: it must be at least {least}.")
