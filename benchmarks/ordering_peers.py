"""The ordering rules in NumPy, written from their definitions.

Each takes votes of shape (n_members, n_samples), class codes from 0, and the labels, and gives the
order, the value of each choice and the error curve. All candidates of a step are tried at once,
with whole arrays; nothing is kept from one step to the next but the votes counted so far.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Votes = npt.NDArray[np.int32]
Labels = npt.NDArray[np.int64]

#: Decimals that are compared; further ones are rounding.
_DECIMALS = 9


class Ordered(NamedTuple):
    """An order, the value of each choice, and the error of the members kept at sizes 1, 2, ..."""

    order: list[int]
    values: list[float]
    curve: list[float]


def _one_hot(votes: Votes, y: Labels) -> npt.NDArray[np.bool_]:
    n_classes = 1 + int(max(votes.max(), y.max()))
    return np.asarray(votes[:, :, None] == np.arange(n_classes))


def _with_curve(order: Any, values: Any, votes: Votes, y: Labels) -> Ordered:
    """With the errors of the first 1, 2, ... members."""
    counts = np.cumsum(_one_hot(votes, y)[order], axis=0)
    curve = (np.argmax(counts, axis=2) != y).mean(axis=1)
    return Ordered(list(order), list(values), curve.tolist())


def _errors_with(counts: Any, one_hot: Any, members: list[int], y: Labels) -> Any:
    """How many samples the vote gets wrong with each of some more members."""
    return (np.argmax(counts + one_hot[members], axis=2) != y).sum(axis=1)


def reduce_error(votes: Votes, y: Labels) -> Ordered:
    """The member that gives the vote the lowest error."""
    one_hot = _one_hot(votes, y)
    counts = np.zeros(one_hot.shape[1:], int)
    left, order, values = list(range(len(votes))), [], []
    while left:
        errors = _errors_with(counts, one_hot, left, y)
        values.append(errors.min() / len(y))
        order.append(left.pop(int(np.argmin(errors))))
        counts += one_hot[order[-1]]
    return _with_curve(order, values, votes, y)


def reduce_error_backfitting(votes: Votes, y: Labels, max_passes: int = 100) -> Ordered:
    """The same; then each chosen member is replaced by a better one, until none is."""
    one_hot = _one_hot(votes, y)
    counts = np.zeros(one_hot.shape[1:], int)
    chosen: list[int] = []
    seen: dict[int, None] = {}
    values = []
    for _ in range(len(votes)):
        left = [k for k in range(len(votes)) if k not in chosen]
        errors = _errors_with(counts, one_hot, left, y)
        least = errors.min()
        chosen.append(left[int(np.argmin(errors))])
        counts += one_hot[chosen[-1]]
        for _ in range(max_passes):
            before = least
            least = _backfit(counts, one_hot, chosen, y, least)
            if least == before:
                break
        seen.update(dict.fromkeys(chosen))
        values.append(least / len(y))
    return Ordered(list(seen), values, values)


def _backfit(counts: Any, one_hot: Any, chosen: list[int], y: Labels, least: int) -> int:
    """Go once through the members chosen, in place; returns the errors left."""
    for place in range(len(chosen)):
        left = [k for k in range(len(one_hot)) if k not in chosen]
        if not left:
            break
        counts -= one_hot[chosen[place]]
        errors = _errors_with(counts, one_hot, left, y)
        if errors.min() < least:
            least = errors.min()
            chosen[place] = left[int(np.argmin(errors))]
        counts += one_hot[chosen[place]]
    return least


def complementarity(votes: Votes, y: Labels) -> Ordered:
    """The member that is right on the most samples that the vote gets wrong."""
    one_hot, right = _one_hot(votes, y), votes == y
    counts = np.zeros(one_hot.shape[1:], int)
    is_wrong = np.ones(len(y), bool)
    left, order, values = list(range(len(votes))), [], []
    while left:
        gains = (right[left] & is_wrong).sum(axis=1)
        values.append(gains.max() / len(y))
        order.append(left.pop(int(np.argmax(gains))))
        counts += one_hot[order[-1]]
        is_wrong = np.argmax(counts, axis=1) != y
    return _with_curve(order, values, votes, y)


def margin_distance(votes: Votes, y: Labels, p: float = 0.075) -> Ordered:
    """The member that brings the margins nearest to p everywhere."""
    signs = np.where(votes == y, 1.0, -1.0)
    objective = p * len(votes)  # times the number of members, as are the margins
    margins = np.zeros(len(y))
    left, order, values = list(range(len(votes))), [], []
    while left:
        squares = ((objective - (margins + signs[left])) ** 2).sum(axis=1)
        best = int(np.argmin(squares.round(_DECIMALS - 5)))
        values.append(np.sqrt(squares[best]) / len(votes))
        order.append(left.pop(best))
        margins += signs[order[-1]]
    return _with_curve(order, values, votes, y)


def orientation(votes: Votes, y: Labels) -> Ordered:
    """By the angle with the diagonal's part that is normal to the ensemble's direction."""
    signs = np.where(votes == y, 1.0, -1.0)
    ensemble = signs.mean(axis=0)
    reference = 1 - ensemble.sum() / (ensemble @ ensemble) * ensemble
    lengths = np.linalg.norm(signs, axis=1) * np.linalg.norm(reference)
    angles = np.arccos(np.clip(signs @ reference / lengths, -1, 1))
    order = np.argsort(angles.round(_DECIMALS), kind="stable")
    return _with_curve(order, angles[order], votes, y)


def boosting_based(votes: Votes, y: Labels) -> Ordered:
    """The member of least weighted error; then samples are weighed as in AdaBoost."""
    wrong = votes != y
    start = np.full(len(y), 1 / len(y))
    weights = start
    left, order, values = list(range(len(votes))), [], []
    while left:
        errors = wrong[left] @ weights
        best = int(np.argmax(errors <= errors.min() * (1 + 1e-12)))
        error = errors[best]
        is_bad = error >= 0.5 - 1e-12  # a copy of the last one has just a half, but for rounding
        if is_bad and weights is not start:
            weights = start
            continue
        values.append(error)
        order.append(left.pop(best))
        if error > 0 and not is_bad:
            weights = np.where(wrong[order[-1]], weights / (2 * error), weights / (2 * (1 - error)))
    return _with_curve(order, values, votes, y)


def individual_error(votes: Votes, y: Labels) -> Ordered:
    """By the members' own errors."""
    errors = (votes != y).mean(axis=1)
    order = np.argsort(errors, kind="stable")
    return _with_curve(order, errors[order], votes, y)


def kappa(votes: Votes, y: Labels) -> Ordered:
    """Both members of the pairs of least agreement beyond chance."""
    one_hot = _one_hot(votes, y).astype(np.float64)
    agreed = sum(one_hot[:, :, c] @ one_hot[:, :, c].T for c in range(one_hot.shape[2])) / len(y)
    shares = one_hot.mean(axis=1)
    chance = shares @ shares.T
    with np.errstate(invalid="ignore", divide="ignore"):
        agreement = np.where(chance < 1, (agreed - chance) / (1 - chance), 1.0)
    first, second = np.triu_indices(len(votes), k=1)
    pairs = agreement[first, second]
    found: dict[int, float] = {}
    for at in np.argsort(pairs.round(_DECIMALS + 3), kind="stable"):
        for member in (int(first[at]), int(second[at])):
            found.setdefault(member, float(pairs[at]))
        if len(found) == len(votes):
            break
    return _with_curve(list(found), found.values(), votes, y)


def clustering(votes: Votes, y: Labels) -> Ordered:
    """One of each group of members that err together, by the size at which they appear."""
    wrong = (votes != y).astype(np.float64)
    both_wrong = wrong @ wrong.T
    distance = len(y) - both_wrong
    errors = wrong.mean(axis=1)
    groups = [[t] for t in range(len(votes))]
    apart = distance.copy()
    np.fill_diagonal(apart, np.inf)
    kept, heights = [list(range(len(votes)))], []
    while len(groups) > 1:
        a, b = np.unravel_index(np.argmin(apart), apart.shape)  # the first pair, with a < b
        heights.append(apart[a, b] / len(y))
        apart[a] = apart[:, a] = np.maximum(apart[a], apart[b])
        apart[a, a] = np.inf
        apart = np.delete(np.delete(apart, b, axis=0), b, axis=1)
        groups[a] = sorted(groups[a] + groups.pop(b))
        kept.append([_farthest(group, distance, errors) for group in groups])
    subsets = [sorted(subset) for subset in reversed(kept)]
    one_hot = _one_hot(votes, y)
    curve = [(one_hot[s].sum(axis=0).argmax(axis=1) != y).mean() for s in subsets]
    order = dict.fromkeys(t for subset in subsets for t in subset)
    return Ordered(list(order), [1.0, *reversed(heights)], curve)


def _farthest(group: list[int], distance: Any, errors: Any) -> int:
    """Of a group, the member farthest from all others; of those, the most accurate."""
    outside = np.delete(distance[group], group, axis=1).sum(axis=1)
    return group[int(np.lexsort((errors[group], -outside))[0])]


def random(votes: Votes, y: Labels) -> Ordered:
    """At random."""
    order = np.random.default_rng(0).permutation(len(votes))
    return _with_curve(order, np.zeros(len(votes)), votes, y)


#: The rules by name. The tree over the votes is missing: NumPy has no trees.
PEERS: dict[str, Callable[[Votes, Labels], Ordered]] = {
    "reduce_error": reduce_error,
    "reduce_error backfitting": reduce_error_backfitting,
    "complementarity": complementarity,
    "margin_distance": margin_distance,
    "orientation": orientation,
    "boosting_based": boosting_based,
    "individual_error": individual_error,
    "kappa": kappa,
    "clustering": clustering,
    "random": random,
}


def same_order(order: Any, values: Any, curve: Any, peer: Ordered) -> bool:
    """Whether a rule and its peer agree.

    Examples
    --------
    >>> same_order([1, 0], [0.3, 0.4], [0.3, 0.2], Ordered([1, 0], [0.3, 0.4], [0.3, 0.2]))
    True
    >>> same_order([0, 1], [0.1 + 0.2, 0.3], [0.3, 0.2], Ordered([1, 0], [0.3, 0.3], [0.3, 0.2]))
    False
    """
    ours, theirs = np.asarray(order), np.asarray(peer.order)
    if np.array_equal(ours, theirs):
        if not np.allclose(curve, peer.curve, rtol=0, atol=1e-12):
            raise AssertionError("the orders are the same, and the error curves differ")
        return True
    at = int(np.argmax(ours != theirs))
    if not np.isclose(values[at], peer.values[at], rtol=1e-9, atol=1e-9):
        raise AssertionError(
            f"the orders differ from place {at} on, where the values are {values[at]!r} and "
            f"{peer.values[at]!r}"
        )
    return False
