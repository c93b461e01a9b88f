"""Bias, variance and noise by literal sums over trainings and classes, in fractions.

At a point x, ``said[k]`` is the share of the trainings that predict class k, and ``true[k]`` the
probability of class k. A decomposition is a dict of its parts; ties go to the lowest class, unless
``best`` says which of the most probable classes is to be called Bayes's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from tests.oracles.combining import first_largest

Shares = Sequence[Fraction]
Parts = dict[str, Any]


def shares_of_trainings(predictions: Sequence[int], n_classes: int) -> list[Fraction]:
    """How often, over the trainings, each class is predicted at one point.

    Examples
    --------
    >>> shares_of_trainings([0, 2, 2, 0, 0], 3)
    [Fraction(3, 5), Fraction(0, 1), Fraction(2, 5)]
    """
    shares = [Fraction(0)] * n_classes
    for label in predictions:
        shares[label] += Fraction(1, len(predictions))
    return shares


def sure_of(label: int, n_classes: int) -> list[Fraction]:
    """The class distribution where only one label is known and taken for the truth.

    Examples
    --------
    >>> sure_of(1, 2)
    [Fraction(0, 1), Fraction(1, 1)]
    """
    return [Fraction(int(k == label)) for k in range(n_classes)]


def error(answers: Shares, true: Shares) -> Fraction:
    """The probability that a prediction and a label, drawn apart, differ.

    Examples
    --------
    >>> error([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 3), Fraction(2, 3)])  # 6/12 + 1/12
    Fraction(7, 12)
    """
    chance = Fraction(0)
    for a in range(len(answers)):
        for b in range(len(true)):
            if a != b:
                chance += answers[a] * true[b]
    return chance


# -- classification --------------------------------------------------------------------------------


def kohavi_wolpert(answers: Shares, true: Shares) -> Parts:
    """Kohavi and Wolpert (1996): halves of sums of squares.

    Examples
    --------
    >>> parts = kohavi_wolpert([Fraction(3, 4), Fraction(1, 4)], [Fraction(1), Fraction(0)])
    >>> [str(parts[name]) for name in ("bias", "variance", "noise", "error")]
    ['1/16', '3/16', '0', '1/4']
    """
    squared, spread, sharp = Fraction(0), Fraction(0), Fraction(0)
    for q, p in zip(answers, true, strict=True):
        squared += (p - q) ** 2
        spread += q**2
        sharp += p**2
    return {
        "bias": squared / 2,
        "variance": (1 - spread) / 2,
        "noise": (1 - sharp) / 2,
        "error": error(answers, true),
    }


def kohavi_wolpert_corrected(answers: Shares, true: Shares, n_trainings: int) -> Parts:
    """The same, with the bias that the shares of few trainings add to the squared bias taken off.

    The variance of a share q over R trainings is estimated by q (1 - q) / (R - 1).

    Examples
    --------
    >>> half = [Fraction(1, 2), Fraction(1, 2)]
    >>> parts = kohavi_wolpert_corrected(half, [Fraction(1), Fraction(0)], 3)  # 1/4 -+ 1/8
    >>> str(parts["bias"]), str(parts["variance"]), str(parts["error"])
    ('1/8', '3/8', '1/2')
    """
    parts = kohavi_wolpert(answers, true)
    excess = Fraction(0)
    for q in answers:
        excess += q * (1 - q) / (n_trainings - 1) / 2
    return {**parts, "bias": parts["bias"] - excess, "variance": parts["variance"] + excess}


def kong_dietterich(answers: Shares, true: Shares) -> Parts:
    """Kong and Dietterich (1995): bias is the error of the vote of the trainings.

    The variance is what is left, and may be negative. Noise is not set apart.

    Examples
    --------
    >>> parts = kong_dietterich([Fraction(3, 4), Fraction(1, 4)], [Fraction(0), Fraction(1)])
    >>> str(parts["bias"]), str(parts["variance"]), str(parts["error"])
    ('1', '-1/4', '3/4')
    """
    bias = 1 - true[first_largest(answers)]
    return {"bias": bias, "variance": error(answers, true) - bias, "error": error(answers, true)}


def breiman(answers: Shares, true: Shares, best: int | None = None) -> Parts:
    """Breiman (1996): what is lost to Bayes's rule is all bias or all variance at a point.

    It is variance where the vote of the trainings is Bayes's class, else bias.

    Examples
    --------
    >>> parts = breiman([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 3), Fraction(2, 3)])
    >>> [str(parts[name]) for name in ("bias", "variance", "noise", "error")]
    ['1/4', '0', '1/3', '7/12']
    """
    best = first_largest(true) if best is None else best
    right = Fraction(0)
    for q, p in zip(answers, true, strict=True):
        right += q * p
    lost = true[best] - right
    unbiased = first_largest(answers) == best
    return {
        "bias": Fraction(0) if unbiased else lost,
        "variance": lost if unbiased else Fraction(0),
        "noise": 1 - true[best],
        "error": error(answers, true),
    }


def domingos(answers: Shares, true: Shares, best: int | None = None) -> Parts:
    """Domingos (2000): error = c1 noise + bias + c2 variance, for any number of classes.

    Examples
    --------
    >>> parts = domingos([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 3), Fraction(2, 3)])
    >>> [str(parts[name]) for name in ("bias", "variance", "noise", "c1", "c2", "error")]
    ['1', '1/4', '1/3', '-1/2', '-1', '7/12']
    """
    best, main = first_largest(true) if best is None else best, first_largest(answers)
    noise, variance = 1 - true[best], 1 - answers[main]
    both_miss = Fraction(0)  # prediction and label agree, on another class than the best
    for k in range(len(true)):
        if k != best:
            both_miss += answers[k] * true[k]
    c1 = answers[best] - (both_miss / noise if noise else 0)
    c2 = Fraction(1)
    if main != best:
        c2 = -answers[best] / variance if variance else Fraction(0)
    return {
        "bias": Fraction(int(main != best)), "variance": variance, "noise": noise,
        "c1": c1, "c2": c2, "error": error(answers, true),
    }  # fmt: skip


def james(answers: Shares, true: Shares, best: int | None = None) -> Parts:
    """James (2003): the systematic effect of the main prediction, and the effect of variance.

    Examples
    --------
    >>> parts = james([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 3), Fraction(2, 3)])
    >>> [str(parts[name]) for name in ("systematic", "effect", "noise", "error")]
    ['1/3', '-1/12', '1/3', '7/12']
    """
    best, main = first_largest(true) if best is None else best, first_largest(answers)
    noise, of_main, of_all = 1 - true[best], 1 - true[main], error(answers, true)
    return {
        "bias": Fraction(int(main != best)), "variance": 1 - answers[main], "noise": noise,
        "systematic": of_main - noise, "effect": of_all - of_main, "error": of_all,
    }  # fmt: skip


def friedman(answers: Shares, true: Shares) -> Parts:
    """Friedman (1997), two classes: error = noise + |2 f - 1| P(prediction is not Bayes's class).

    Examples
    --------
    >>> parts = friedman([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 3), Fraction(2, 3)])
    >>> [str(parts[name]) for name in ("boundary", "factor", "noise", "error")]
    ['3/4', '1/3', '1/3', '7/12']
    """
    best = first_largest(true)
    return {
        "boundary": 1 - answers[best],
        "factor": abs(2 * true[1] - 1),
        "noise": 1 - true[best],
        "error": error(answers, true),
    }


def boundary_error(mean: float, variance: float, true: float) -> float:
    """Friedman's probability of missing Bayes's class when estimates of f = P(1 | x) are normal.

    Examples
    --------
    >>> round(boundary_error(0.6, 0.01, 0.8), 4), round(boundary_error(0.6, 0.01, 0.3), 4)
    (0.1587, 0.8413)
    """
    distance = (mean - 0.5) / math.sqrt(variance)
    below_half = math.erfc(distance / math.sqrt(2)) / 2
    return below_half if true >= 0.5 else 1 - below_half


# -- regression ------------------------------------------------------------------------------------


def regression(predictions: Sequence[Any], true: Any, labels: Sequence[Any]) -> Parts:
    """At one point: (f - mean G)^2, the mean of (G - mean G)^2, and the mean of (y - f)^2.

    Labels are equally probable values of y, f being their mean; one label has no noise.

    Examples
    --------
    >>> parts = regression([1, 2, 6], 4, [3, 5])  # mean 3; deviations -2, -1, 3
    >>> [str(parts[name]) for name in ("bias", "variance", "noise", "error")]
    ['1', '14/3', '1', '20/3']
    """
    centre = Fraction(sum(Fraction(g) for g in predictions), len(predictions))
    variance, noise, whole = Fraction(0), Fraction(0), Fraction(0)
    for g in predictions:
        variance += (Fraction(g) - centre) ** 2 / len(predictions)
    for y in labels:
        noise += (Fraction(y) - Fraction(true)) ** 2 / len(labels)
        for g in predictions:
            whole += (Fraction(y) - Fraction(g)) ** 2 / len(labels) / len(predictions)
    bias = (Fraction(true) - centre) ** 2
    return {"bias": bias, "variance": variance, "noise": noise, "error": whole}


# -- over the points -------------------------------------------------------------------------------


def over_points(parts: Sequence[Parts], weights: Sequence[Any]) -> Parts:
    """Weighted mean of each part over the points.

    Examples
    --------
    >>> over_points([{"bias": Fraction(1)}, {"bias": Fraction(0)}], [1, 2])
    {'bias': Fraction(1, 3)}
    """
    total = sum((Fraction(weight) for weight in weights), Fraction(0))
    means = {}
    for name in parts[0]:
        value = Fraction(0)
        for part, weight in zip(parts, weights, strict=True):
            value += part[name] * Fraction(weight)
        means[name] = value / total
    return means


def decompose(
    rule: Callable[[Shares, Shares], Parts],
    predictions: Sequence[Sequence[int]],
    true: Sequence[Shares],
    weights: Sequence[Any],
) -> Parts:
    """A decomposition of what trainings (rows) predict of points (columns), over the points.

    Examples
    --------
    >>> certain = [sure_of(0, 2), sure_of(1, 2)]
    >>> parts = decompose(kong_dietterich, [[0, 0], [0, 0], [1, 1]], certain, [1, 1])
    >>> str(parts["bias"]), str(parts["variance"]), str(parts["error"])
    ('1/2', '0', '1/2')
    """
    points = []
    for i, distribution in enumerate(true):
        answers = shares_of_trainings([training[i] for training in predictions], len(distribution))
        points.append(rule(answers, distribution))
    return over_points(points, weights)
