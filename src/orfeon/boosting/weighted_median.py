"""The weighted median, by which boosted regressors decide.

Of the members' predictions it is the least that, together with all those below it, has at least
half of the votes (Freund and Schapire 1997). It moves with the members under any increasing change
of scale, and a few members who are far off do not move it.

References
----------
Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and an
application to boosting. Journal of Computer and System Sciences 55(1), 119-139.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from orfeon.utils.types import Floats, Integers

#: Votes are counted in steps: their sum has about this many of them (as a power of two).
_STEPS = 52
#: Predictions that are sorted at once.
_BLOCK = 1 << 22


def weighted_median(predictions: Floats, votes: Floats) -> Floats:
    """The least prediction that has, with those below it, at least half of the votes.

    Notes
    -----
    Votes are counted in steps of about 2**-52 of their sum. So sums do not depend on the order in
    which they are added, and a tie between equal votes is a tie.
    """
    predictions, votes = _check(predictions, votes)
    counted = _in_steps(votes)
    medians = np.empty(predictions.shape[1])
    width = max(1, _BLOCK // len(votes))
    for first in range(0, predictions.shape[1], width):
        some = predictions[:, first : first + width]
        order = np.argsort(some, axis=0, kind="stable")
        medians[first : first + width] = _median_of_sorted(some, order, counted)
    return medians


def staged_weighted_median(predictions: Floats, votes: Floats) -> Iterator[Floats]:
    """The weighted median of the first prediction, of the first two, and so on."""
    predictions, votes = _check(predictions, votes)
    # Sorted once: the members still to come have no votes.
    order = np.argsort(predictions, axis=0, kind="stable")
    counted = np.zeros(len(votes), np.int64)
    for n_members in range(1, len(votes) + 1):
        counted[:n_members] = _in_steps(votes[:n_members])
        yield _median_of_sorted(predictions, order, counted)


def _check(predictions: Floats, votes: Floats) -> tuple[Floats, Floats]:
    predictions = np.asarray(predictions, dtype=np.float64)
    votes = np.asarray(votes, dtype=np.float64)
    if predictions.ndim != 2 or votes.shape != predictions.shape[:1] or not len(votes):
        raise ValueError(
            f"predictions of shape {predictions.shape} and votes of shape {votes.shape} do not "
            "match; (n_members, n_rows) and (n_members,) are expected, of one member or more."
        )
    if not (votes >= 0).all():
        raise ValueError(f"votes must be numbers, and not negative; the least is {votes.min()}.")
    return predictions, votes


def _in_steps(votes: Floats) -> Integers:
    """Votes as whole numbers of steps, so that their sums are exact."""
    if np.isinf(votes).any():
        return np.isinf(votes).astype(np.int64)
    most = float(votes.max())
    if most == 0:
        return np.ones(len(votes), np.int64)
    # A step is a power of two: votes that are whole numbers, or halves, stay what they are.
    exponent = _STEPS - int(np.frexp(most)[1]) - int(np.frexp(float(len(votes)))[1])
    return np.rint(np.ldexp(votes, exponent)).astype(np.int64)


def _median_of_sorted(predictions: Floats, order: Integers, votes: Integers) -> Floats:
    """The weighted median, given the order of the predictions of each row."""
    sums = np.cumsum(votes[order], axis=0)
    # The least integer that is half of the votes or more.
    place = np.argmax(sums >= (votes.sum() + 1) // 2, axis=0)
    columns = np.arange(predictions.shape[1])
    return np.asarray(predictions[order[place, columns], columns])
