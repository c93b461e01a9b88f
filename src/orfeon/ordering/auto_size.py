"""How many members to keep: the size with the lowest cross-validated error.

The error curve on the samples that determined the order reaches its minimum far too early. So the
members are ordered without some of the samples, and the curve is measured on the samples left out,
fold by fold.

Two curves are measured. Out of bag, only members that were not trained on a sample vote on it:
about a third of them, and with so few votes the minimum comes too late. With all votes, most
members have seen the sample, and the minimum comes too early. The size is at the minimum of the
smoothed mean of both curves, or of the second alone where it is unknown which samples the members
saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from orfeon.data.training_set import hash_rows
from orfeon.members.vote_input import Source
from orfeon.members.votes import Selection
from orfeon.ordering.rule import Rule, error_curve
from orfeon.utils.types import Floats, Integers

#: Smoothed errors with a smaller relative difference are equal up to rounding.
_SAME = 1e-10


@dataclass(frozen=True, eq=False)
class SizeChoice:
    """The automatic size and the curves that determine it.

    Parameters
    ----------
    size : int
        How many members to keep.
    curve : ndarray of shape (n_members,)
        The curve whose minimum was taken.
    with_all_votes : ndarray of shape (n_members,)
        Cross-validated error of the first 1, 2, ... members, all of which vote.
    out_of_bag : ndarray of shape (n_members,) or None
        The same with votes only of members that were not trained on the sample, if known.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier, order
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(CARTClassifier(pruning="cv"), 100, random_state=0).fit(X, y)
    >>> choice = order(bag, X, y).size_choice()
    >>> choice.size, choice.out_of_bag[[9, 24, 99]].round(2)
    (39, array([0.26, 0.23, 0.2 ]))
    """

    size: int
    curve: Floats
    with_all_votes: Floats
    out_of_bag: Floats | None


def choose_size(source: Source, rule: Rule, *, n_folds: int = 10) -> SizeChoice:
    """Choose the size by cross-validation."""
    if not isinstance(n_folds, int | np.integer) or n_folds < 2:
        raise ValueError(f"n_folds={n_folds!r} is not allowed; give a whole number from 2 on.")
    selection, left_out = source.selection, source.left_out
    judges = [selection] if left_out is None or left_out is selection else [selection, left_out]
    curves = cross_validated_curves(selection, judges, rule, n_folds)
    curve = smooth(np.mean(curves, axis=0))
    known = None if left_out is None else curves[-1]
    if np.isnan(curve).all():
        return SizeChoice(selection.n_members, curve, curves[0], known)
    smallest = int(np.argmax(curve <= curve.min() * (1 + _SAME))) + 1
    return SizeChoice(smallest, curve, curves[0], known)


def cross_validated_curves(
    selection: Selection, judges: Sequence[Selection], rule: Rule, n_folds: int
) -> list[Floats]:
    """Error curves on samples held out from the ordering."""
    curves = [np.zeros(selection.n_members) for _ in judges]
    judged = 0
    for part in split_weights(selection, judges[-1], n_folds):
        rest = selection.weights - part
        if not part.any() or not rest.any():
            continue
        found = rule.arrange(_weighing(selection, rest))
        judged += int(part.sum())
        for total, judge in zip(curves, judges, strict=True):
            held_out = _weighing(judge, part)
            errors = error_curve(held_out, found.order, found.subsets, found.member_weights)
            total += errors * held_out.total_weight
    return [total / judged if judged else np.full_like(total, np.nan) for total in curves]


def split_weights(selection: Selection, judged: Selection, n_folds: int) -> list[Integers]:
    """Divide the samples into folds.

    Samples of one class with the same votes are of one kind. Each fold gets the same number of
    samples of each kind, up to rounding, so folds depend neither on the order of the samples nor on
    whether copies are given as weights.
    """
    first, kind = _kinds(selection, judged)
    weight = np.bincount(kind, weights=selection.weights).astype(np.int64)
    # Weights that count copies are split one by one, others into pieces of mean size.
    piece = 1 if selection.step == 1.0 else max(1, selection.total_weight // len(kind))
    pieces = np.maximum(1, (weight + piece // 2) // piece)
    last = np.cumsum(pieces)
    parts = []
    for fold in range(n_folds):
        # Pieces are dealt in turn: of the first m it has (m + n_folds - 1 - fold) // n_folds.
        dealt = (last + n_folds - 1 - fold) // n_folds
        before = (last - pieces + n_folds - 1 - fold) // n_folds
        mine = np.zeros(selection.n_samples, np.int64)
        mine[first] = (dealt - before) * (weight // pieces)
        # The remainder of the division goes to the fold of the first piece of the kind.
        mine[first] += np.where((last - pieces) % n_folds == fold, weight % pieces, 0)
        parts.append(mine)
    return parts


def _kinds(selection: Selection, judged: Selection) -> tuple[Integers, Integers]:
    """One sample of each kind, and the kind of each sample; kinds of one class are adjacent."""
    answers = selection.answers.T
    if judged is not selection:
        answers = np.concatenate([selection.answers, judged.answers]).T
    key = hash_rows(answers.astype(np.float64), selection.y)
    strata = np.zeros(len(key), np.int64) if selection.is_regression else selection.y
    order = np.lexsort((key, strata))
    is_new = np.append(True, np.diff(key[order]) != 0)
    kind = np.empty(len(key), np.int64)
    kind[order] = np.cumsum(is_new) - 1
    return order[is_new], kind


def _weighing(selection: Selection, weights: Integers) -> Selection:
    """The samples of positive weight, with these weights."""
    taken = np.flatnonzero(weights)
    return replace(selection.samples(taken), weights=weights[taken])


def smooth(curve: Floats) -> Floats:
    """Average over neighbouring sizes: a tenth of all, fewer towards the ends."""
    n_members = len(curve)
    sums = np.concatenate([[0.0], np.cumsum(curve)])
    at = np.arange(n_members)
    reach = np.minimum(n_members // 20, np.minimum(at, n_members - 1 - at))
    return np.asarray((sums[at + reach + 1] - sums[at - reach]) / (2 * reach + 1))
