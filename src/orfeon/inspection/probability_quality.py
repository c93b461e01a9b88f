"""How far probabilities can be trusted: reliability, calibration error, Brier score.

Probabilities are compared with how often the class then comes, in groups of equal or similar
probabilities. With two classes the second one counts. With several, ``kind="confidence"`` compares
the largest probability with how often its class is the right one, ``kind="classes"`` each class
with the rest.

References
----------
Brier (1950). Verification of forecasts expressed in terms of probability. Monthly Weather Review
78(1), 1-3.

Murphy (1973). A new vector partition of the probability score. Journal of Applied Meteorology 12,
595-600.

Naeini, Cooper and Hauskrecht (2015). Obtaining well calibrated probabilities using Bayesian
binning. AAAI, 2901-2907.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.base import class_codes
from orfeon.inspection.display import check_choice
from orfeon.inspection.documentation import documented
from orfeon.inspection.reading import read_weights
from orfeon.utils.scikit_learn import _num_samples
from orfeon.utils.types import Floats

Bins = Literal["quantile", "uniform"]
Kind = Literal["confidence", "classes"]


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Probabilities and observed frequencies, in groups.

    Parameters
    ----------
    probability : ndarray of shape (n_groups,)
        Mean probability of each group, ascending.
    frequency : ndarray of shape (n_groups,)
        Share of its samples that are of the class.
    weight : ndarray of shape (n_groups,)
        Its share of the samples.

    Examples
    --------
    >>> from orfeon.inspection import reliability_curve
    >>> curve = reliability_curve([0, 0, 0, 1, 1, 0], [0.2, 0.2, 0.2, 0.8, 0.8, 0.8], n_bins=2)
    >>> curve.frequency.round(2), round(curve.calibration_error, 2)
    (array([0.  , 0.67]), 0.17)
    """

    probability: Floats
    frequency: Floats
    weight: Floats

    @property
    def calibration_error(self) -> float:
        """Mean distance between the two, weighted by the size of the groups."""
        return float(self.weight @ np.abs(self.probability - self.frequency))


@documented()
def reliability_curve(
    y: Any,
    probabilities: Any,
    *,
    classes: Any = None,
    kind: Kind = "confidence",
    n_bins: int | None = 10,
    bins: Bins = "quantile",
    sample_weight: Any = None,
) -> ReliabilityCurve:
    """Compare probabilities with how often the class occurs.

    Parameters
    ----------
    <probabilities>
    <kind>
    <bins>
    <weights>

    Returns
    -------
    ReliabilityCurve
        Probabilities, frequencies and weights of the groups; with ``kind="classes"`` of all classes
        together.

    Examples
    --------
    The forest is underconfident: where it predicts 0.79, nearly all samples are of the class.

    >>> from orfeon import RandomForestClassifier
    >>> from orfeon.datasets import make_ringnorm
    >>> from orfeon.inspection import reliability_curve
    >>> X, y = make_ringnorm(300, random_state=0)
    >>> X_test, y_test = make_ringnorm(5000, random_state=1)
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> curve = reliability_curve(y_test, forest.predict_proba(X_test), n_bins=5)
    >>> curve.probability.round(2).tolist(), curve.frequency.round(2).tolist()
    ([0.14, 0.27, 0.5, 0.79, 0.95], [0.0, 0.03, 0.49, 0.97, 1.0])
    """
    problems = _binary_problems(y, probabilities, classes, kind, sample_weight)
    p, hits, weights = (np.concatenate(parts) for parts in zip(*problems, strict=True))
    return _curve(p, hits, weights, n_bins, bins)


@documented()
def expected_calibration_error(
    y: Any,
    probabilities: Any,
    *,
    classes: Any = None,
    kind: Kind = "confidence",
    n_bins: int | None = 10,
    bins: Bins = "quantile",
    sample_weight: Any = None,
) -> float:
    """Mean distance between probabilities and how often the class occurs.

    Parameters
    ----------
    <probabilities>
    <kind>
    <bins>
    <weights>

    Returns
    -------
    float
        The mean over groups of samples, weighted by their size; with ``kind="classes"`` also the
        mean over the classes. It is above 0 by chance, more so with many groups of few samples.

    Examples
    --------
    >>> from orfeon.inspection import expected_calibration_error
    >>> expected_calibration_error([0, 1, 1, 1], [0.5, 0.5, 0.9, 0.9], n_bins=None).__round__(3)
    0.05
    """
    problems = _binary_problems(y, probabilities, classes, kind, sample_weight)
    return float(np.mean([_curve(*one, n_bins, bins).calibration_error for one in problems]))


@dataclass(frozen=True)
class BrierScore:
    """The Brier score and its parts: ``reliability - resolution + uncertainty + within``.

    Parameters
    ----------
    score : float
        Mean squared distance of the probabilities from 1 for the true class and 0 for the others.
    reliability : float
        What is lost because probabilities are not the frequencies of their group; 0 is best.
    resolution : float
        What is gained because groups differ in their frequencies; large is best.
    uncertainty : float
        Score of always predicting the shares of the classes.
    within : float
        What is gained or lost within groups of different probabilities; 0 with ``n_bins=None``.

    Examples
    --------
    >>> from orfeon.inspection import BrierScore
    >>> BrierScore(0.1, 0.02, 0.17, 0.25, 0.0).score
    0.1
    """

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within: float


@documented()
def brier_score(
    y: Any,
    probabilities: Any,
    *,
    classes: Any = None,
    n_bins: int | None = 10,
    bins: Bins = "quantile",
    sample_weight: Any = None,
) -> BrierScore:
    """Brier score, and its decomposition into reliability, resolution and uncertainty.

    Parameters
    ----------
    <probabilities>
    <bins>
    <weights>

    Returns
    -------
    BrierScore
        With two classes, the score of the second, from 0 to 1; with several, the sum over the
        classes, as in scikit-learn.

    Examples
    --------
    >>> from orfeon.inspection import brier_score
    >>> found = brier_score([0, 1, 1, 1], [0.5, 0.5, 0.9, 0.9], n_bins=None)
    >>> round(found.score, 3), round(found.reliability, 3), found.uncertainty
    (0.13, 0.005, 0.1875)
    """
    problems = _binary_problems(y, probabilities, classes, "classes", sample_weight)
    parts = np.zeros(5)
    for p, hits, weights in problems:
        share = weights / weights.sum()
        curve = _curve(p, hits, weights, n_bins, bins)
        base = float(share @ hits)
        score = float(share @ (p - hits) ** 2)
        reliability = float(curve.weight @ (curve.probability - curve.frequency) ** 2)
        resolution = float(curve.weight @ (curve.frequency - base) ** 2)
        uncertainty = base * (1.0 - base)
        within = score - (reliability - resolution + uncertainty)
        parts += score, reliability, resolution, uncertainty, 0.0 if n_bins is None else within
    return BrierScore(*parts.tolist())


# -- reading ---------------------------------------------------------------------------------------

Problem = tuple[Floats, Floats, Floats]


def _binary_problems(
    y: Any, probabilities: Any, classes: Any, kind: Kind, sample_weight: Any
) -> list[Problem]:
    """Probabilities of something, whether it came, and weights: one problem or one per class."""
    check_choice("kind", kind, ("confidence", "classes"))
    p = np.asarray(probabilities, dtype=np.float64)
    p = np.column_stack([1.0 - p, p]) if p.ndim == 1 else p
    if p.ndim != 2 or p.shape[1] < 2 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(
            f"probabilities of shape {np.shape(probabilities)} are not allowed; give those of the "
            "second of two classes, or one column per class, all from 0 to 1."
        )
    if len(p) != _num_samples(y) or not len(p):
        raise ValueError(
            f"y has {_num_samples(y)} labels and probabilities has {len(p)} rows; one row for each "
            "label is expected, and at least one."
        )
    codes = _codes(np.asarray(y), p.shape[1], classes)
    weights = read_weights(sample_weight, len(p))
    counted = weights > 0
    p, codes, weights = p[counted], codes[counted], weights[counted]
    if p.shape[1] == 2:
        return [(p[:, 1], (codes == 1).astype(np.float64), weights)]
    if kind == "confidence":
        first = p.argmax(axis=1)
        return [(p.max(axis=1), (first == codes).astype(np.float64), weights)]
    return [(p[:, k], (codes == k).astype(np.float64), weights) for k in range(p.shape[1])]


def _codes(y: npt.NDArray[Any], n_classes: int, classes: Any) -> npt.NDArray[np.int64]:
    known = np.unique(y) if classes is None else np.asarray(classes)
    if len(known) != n_classes:
        given = "y has" if classes is None else "classes has"
        raise ValueError(
            f"{given} {len(known)} classes and probabilities are of {n_classes}; pass classes, in "
            "the order of the columns."
        )
    order = np.argsort(known)
    return np.asarray(order[class_codes(y, known[order])], dtype=np.int64)


# -- groups ----------------------------------------------------------------------------------------


def _curve(
    p: Floats, hits: Floats, weights: Floats, n_bins: int | None, bins: Bins
) -> ReliabilityCurve:
    group = _groups(p, weights, n_bins, bins)
    total = np.bincount(group, weights=weights)
    kept = total > 0
    mean, share = (
        np.bincount(group, weights=weights * values)[kept] / total[kept] for values in (p, hits)
    )
    return ReliabilityCurve(mean, share, total[kept] / total.sum())


def _groups(p: Floats, weights: Floats, n_bins: int | None, bins: Bins) -> npt.NDArray[np.int64]:
    """The group of each sample; equal probabilities share one."""
    check_choice("bins", bins, ("quantile", "uniform"))
    values, which = np.unique(p, return_inverse=True)
    if n_bins is None:
        return np.asarray(which)
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r} is not allowed; use 1 or more, or None.")
    if bins == "uniform":
        of_value = np.minimum((values * n_bins).astype(np.int64), n_bins - 1)
    else:
        total = np.bincount(which, weights=weights)
        middle = np.cumsum(total) - total / 2
        of_value = np.minimum((middle / total.sum() * n_bins).astype(np.int64), n_bins - 1)
    return np.asarray(of_value[which])
