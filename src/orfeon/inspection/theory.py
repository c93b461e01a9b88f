"""Theory of votes: class-switching ensembles and Condorcet's juries.

Members trained to zero error on randomly switched labels err on the training set exactly where
their labels were switched, independently of each other and of the data. The errors and margins of
their vote then follow from counting alone.

References
----------
Martínez-Muñoz and Suárez (2005). Switching class labels to generate classification ensembles.
Pattern Recognition 38(10), 1483-1494.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt
from scipy.stats import binom, poisson

from orfeon.inspection.display import check_positive
from orfeon.members.votes import Selection
from orfeon.rendering.figure import width_of
from orfeon.utils.types import Floats, Integers

Sizes = Sequence[int] | npt.NDArray[np.integer[Any]]

#: Probabilities below this are left out of sums.
_NEGLIGIBLE = 1e-18


@overload
def condorcet_error(member_error: float, n_members: int) -> float: ...
@overload
def condorcet_error(member_error: float, n_members: Sizes) -> Floats: ...
def condorcet_error(member_error: float, n_members: int | Sizes) -> float | Floats:
    """Error of the majority vote of independent members in a two-class problem.

    Parameters
    ----------
    member_error : float
        Probability that a member errs, from 0 to 1.
    n_members : int or array of int
        Sizes of the ensemble.

    Returns
    -------
    float or ndarray
        Probability that the vote is wrong: the binomial tail. A tie, possible at even sizes, is
        decided by a coin toss, so half of its probability counts.

    Examples
    --------
    >>> from orfeon.inspection import condorcet_error
    >>> round(condorcet_error(0.3, 21), 3)
    0.026
    >>> condorcet_error(0.3, [1, 2, 3]).round(3)
    array([0.3  , 0.3  , 0.216])
    """
    if not 0.0 <= member_error <= 1.0:
        raise ValueError(f"member_error={member_error} is not allowed: it must be from 0 to 1.")
    sizes = _sizes(n_members)
    return _like(n_members, _majority_errors(member_error, sizes))


@overload
def switching_error(switch_rate: float, n_members: int, n_classes: int = 2) -> float: ...
@overload
def switching_error(switch_rate: float, n_members: Sizes, n_classes: int = 2) -> Floats: ...
def switching_error(
    switch_rate: float, n_members: int | Sizes, n_classes: int = 2
) -> float | Floats:
    """Training error of a class-switching ensemble, for any data.

    Parameters
    ----------
    switch_rate : float
        Fraction of the labels switched for each member: from 0 to less than
        ``(n_classes - 1) / n_classes``.
    n_members : int or array of int
        Sizes of the ensemble.
    n_classes : int, default=2
        Number of classes. Each member is right with probability ``1 - switch_rate``; when wrong,
        it votes for each other class equally often.

    Returns
    -------
    float or ndarray
        Probability that the vote is wrong on a training sample. A tie is decided at random among
        the tied classes, so with two classes half of its probability counts.

    Notes
    -----
    With two classes it is the binomial tail. With more it is exact too, by counting the ways in
    which the other classes can share the remaining votes; rounding leaves an absolute error below
    1e-12, so smaller results mean zero.

    Examples
    --------
    >>> from orfeon.inspection import switching_error
    >>> switching_error(0.3, [1, 11, 101]).round(4)
    array([0.3   , 0.0782, 0.    ])
    >>> round(switching_error(0.4, 11, n_classes=3), 4)
    0.0986
    """
    _check_rate(switch_rate, n_classes)
    sizes = _sizes(n_members)
    if n_classes == 2:
        return _like(n_members, _majority_errors(switch_rate, sizes))
    return _like(n_members, _plurality_errors(switch_rate, sizes, n_classes))


def switching_error_curve(
    switch_rate: float, max_members: int, n_classes: int = 2
) -> tuple[Integers, Floats]:
    """Training error of a class-switching ensemble as it grows.

    Parameters
    ----------
    switch_rate : float
        Fraction of the labels switched for each member.
    max_members : int
        The largest size.
    n_classes : int, default=2
        Number of classes.

    Returns
    -------
    sizes : ndarray of shape (max_members,)
        Sizes 1, 2, ...
    errors : ndarray of shape (max_members,)
        The error at each size, see :func:`switching_error`.

    Examples
    --------
    >>> from orfeon.inspection import switching_error_curve
    >>> sizes, errors = switching_error_curve(0.4, 5)
    >>> sizes
    array([1, 2, 3, 4, 5])
    >>> errors.round(4)
    array([0.4   , 0.4   , 0.352 , 0.352 , 0.3174])
    """
    sizes = np.arange(1, _sizes(max_members)[0] + 1)
    return sizes, switching_error(switch_rate, sizes, n_classes)


def switching_margins(switch_rate: float, n_members: int) -> tuple[Floats, Floats]:
    """Distribution of the training margins of a class-switching ensemble of two classes.

    Parameters
    ----------
    switch_rate : float
        Fraction of the labels switched for each member, from 0 to less than 1/2.
    n_members : int
        Size of the ensemble.

    Returns
    -------
    margins : ndarray of shape (n_members + 1,)
        Right votes minus wrong votes as a share of all, from -1 to 1.
    probabilities : ndarray of shape (n_members + 1,)
        Probability of each: binomial, centred at ``1 - 2 * switch_rate``.

    Examples
    --------
    >>> from orfeon.inspection import switching_margins
    >>> margins, probabilities = switching_margins(0.25, 4)
    >>> margins
    array([-1. , -0.5,  0. ,  0.5,  1. ])
    >>> probabilities.round(3)
    array([0.004, 0.047, 0.211, 0.422, 0.316])
    >>> round(float(margins @ probabilities), 12)
    0.5
    """
    _check_rate(switch_rate, 2)
    size = int(_sizes(n_members)[0])
    right = np.arange(size + 1)
    return (2 * right - size) / size, np.asarray(binom.pmf(size - right, size, switch_rate))


def switching_margin_distribution(
    switch_rate: float, n_members: int, margins: npt.ArrayLike
) -> Floats:
    """Cumulative distribution of the training margins of a class-switching ensemble.

    Parameters
    ----------
    switch_rate : float
        Fraction of the labels switched for each member, from 0 to less than 1/2.
    n_members : int
        Size of the ensemble.
    margins : array-like
        Margins.

    Returns
    -------
    ndarray of the shape of margins
        Probability that a sample's margin is at most each of them.

    Examples
    --------
    >>> from orfeon.inspection import switching_margin_distribution
    >>> switching_margin_distribution(0.25, 4, [-1.0, -0.2, 0.0, 1.0]).round(3)
    array([0.004, 0.051, 0.262, 1.   ])
    """
    _check_rate(switch_rate, 2)
    size = int(_sizes(n_members)[0])
    # Rounding must not move a possible margin below its own step.
    right = np.floor(size * (1.0 + np.asarray(margins, dtype=np.float64)) / 2.0 + 1e-9)
    return np.asarray(binom.sf(size - right - 1, size, switch_rate))


def _majority_errors(member_error: float, sizes: Integers) -> Floats:
    """Probability that more than half of the members err, and half of that of a tie."""
    tie = np.where(sizes % 2 == 0, binom.pmf(sizes // 2, sizes, member_error), 0.0)
    return np.asarray(binom.sf(sizes // 2, sizes, member_error) + 0.5 * tie)


def _plurality_errors(switch_rate: float, sizes: Integers, n_classes: int) -> Floats:
    """Probability that the true class loses, summed over the votes that it gets itself."""
    errors = np.zeros(len(sizes))
    right = 1.0 - switch_rate
    fewest = int(binom.ppf(_NEGLIGIBLE, sizes.min(), right))
    most = int(binom.isf(_NEGLIGIBLE, sizes.max(), right))
    # With more than half of the votes it cannot lose.
    for votes in range(max(fewest, 0), min(most, int(sizes.max()) // 2) + 1):
        probability = binom.pmf(votes, sizes, right)
        counts = (sizes >= 2 * votes) & (probability > _NEGLIGIBLE)
        if counts.any():
            rest, place = np.unique(sizes[counts] - votes, return_inverse=True)
            loses = _probability_to_lose(votes, rest, n_classes - 1)
            errors[counts] += probability[counts] * loses[place]
    return errors


def _probability_to_lose(votes: int, rest: Integers, n_others: int) -> Floats:
    """Probability that a class with some votes loses to others that share the rest at random.

    ``rest`` is ascending: each is a number of votes that the others share.
    """
    if votes == 0:
        return np.ones(len(rest))
    loses = np.zeros(len(rest))
    # An upper bound: one of them needs as many votes. It is usually zero, which saves the work.
    at_most = n_others * binom.sf(votes - 1, rest, 1.0 / n_others)
    left = np.flatnonzero(at_most > _NEGLIGIBLE)
    while len(left):
        # Poisson counts with a mean near the rest: far from it probabilities underflow.
        near = rest[left] <= rest[left[0]] + 10.0 * np.sqrt(rest[left[0]])
        block, left = left[near], left[~near]
        loses[block] = 1.0 - _probability_to_win(votes, rest[block], n_others)
    return np.clip(loses, 0.0, 1.0)


def _probability_to_win(votes: int, rest: Integers, n_others: int) -> Floats:
    """Probability that no other class gets more votes, and that a tie is drawn in its favour.

    Votes shared at random are Poisson counts whose sum is known. Those that are below a limit
    have a truncated generating polynomial, and its powers count several classes together.
    """
    mean = float(rest.mean()) / n_others
    count = poisson.pmf(np.arange(votes + 1), mean)
    # Leave negligible counts out of the polynomial, which is slow with many votes.
    lowest = min(int(np.argmax(count > 1e-40)), votes - 1)
    below, level = count[lowest:-1], float(count[-1])
    wins = np.zeros(len(rest))
    power = np.ones(1)
    for n_below in range(n_others + 1):
        n_tied = n_others - n_below
        at = rest - n_tied * votes - n_below * lowest
        inside = (at >= 0) & (at < len(power))
        ways = comb(n_others, n_tied) * level**n_tied / (n_tied + 1)
        wins[inside] += ways * power[at[inside]]
        power = np.convolve(power, below)[: rest[-1] + 1]
    return np.asarray(wins / poisson.pmf(rest, n_others * mean))


def _check_rate(switch_rate: float, n_classes: int) -> None:
    if n_classes < 2:
        raise ValueError(f"n_classes={n_classes} is not allowed: it must be 2 or more.")
    if not 0.0 <= switch_rate < (n_classes - 1) / n_classes:
        raise ValueError(
            f"switch_rate={switch_rate} is not allowed: with {n_classes} classes it is from 0 to "
            f"less than {(n_classes - 1) / n_classes:.4g}."
        )


def _sizes(n_members: int | Sizes) -> Integers:
    sizes = np.atleast_1d(np.asarray(n_members))
    if sizes.dtype.kind not in "iu" or sizes.ndim != 1 or not (sizes >= 1).all() or not len(sizes):
        raise ValueError(f"n_members={n_members!r} is not allowed: sizes are whole, 1 or more.")
    return sizes.astype(np.int64)


def _like(n_members: int | Sizes, errors: Floats) -> float | Floats:
    return errors if np.ndim(n_members) else float(errors[0])


# -- curves for pictures ---------------------------------------------------------------------------

#: Minimum width in points of two pictures side by side.
_SIDE_BY_SIDE = 330.0
#: Sizes of a curve, at most.
_MOST_SIZES = 120


class Curve(NamedTuple):
    """Errors, or shares, at some sizes or margins."""

    x: npt.NDArray[Any]
    y: Floats


def odd_sizes(most: int) -> Integers:
    """Odd sizes of an ensemble, all or about as many as a picture can show."""
    check_positive("max_members", most)
    every = np.arange(1, most + 1, 2)
    if len(every) <= _MOST_SIZES:
        return every
    # More of the small ones, as the axis may be logarithmic.
    return every[np.unique(np.geomspace(1, len(every), _MOST_SIZES).round().astype(np.int64) - 1)]


def vote_errors(votes: Selection, sizes: Integers) -> Floats:
    """Errors of unweighted votes of the first members; half of a tie counts."""
    counts = np.zeros((votes.n_samples, votes.n_classes))
    rows, errors, done = np.arange(votes.n_samples), [], 0
    for size in sizes:
        for answers in votes.answers[done:size]:
            counts[rows, answers] += 1
        done = int(size)
        is_top = counts == counts.max(axis=1, keepdims=True)
        right = is_top[rows, votes.y] / is_top.sum(axis=1)
        errors.append(1.0 - right @ votes.weights / votes.total_weight)
    return np.array(errors)


def split_axes(ax: Any) -> tuple[Any, Any]:
    """Two axes in place of one: side by side, or stacked if it is narrow."""
    figure, room = ax.figure, ax.get_subplotspec()
    shape = (1, 2) if width_of(ax) >= _SIDE_BY_SIDE else (2, 1)
    grid = room.subgridspec(*shape)
    ax.remove()
    return figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
