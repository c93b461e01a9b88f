"""Out-of-bag estimates: for each sample, only members that did not see it are asked.

A sample that every member saw has no such estimate: it is NaN, not a guess. A sample of weight
2 was seen as soon as one of its copies was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.ensembles.decision import only_left_out
from orfeon.ensembles.perturbation import Samples
from orfeon.rules.decider import Decider
from orfeon.rules.rule import CombiningRule
from orfeon.utils.types import Floats, Mask

#: Members asked at once.
_BLOCK = 32


@dataclass(frozen=True)
class OutOfBag:
    """What members say of the samples they did not see."""

    votes: npt.NDArray[np.int32] | None
    outputs: Floats
    error_curve: Floats

    @property
    def error(self) -> float:
        """Error of all members."""
        return float(self.error_curve[-1])


def left_out(seen: Mask, samples: Samples) -> tuple[Mask, npt.NDArray[np.int64]]:
    """Which rows each member left out, all copies of them."""
    _, one, row = np.unique(samples.rows, return_index=True, return_inverse=True)
    out = np.ones((len(seen), len(one)), dtype=bool)
    for member, units in zip(out, seen, strict=True):
        member[row[units]] = False
    return out, one


def out_of_bag_classes(
    members: Any, X: Any, y: npt.NDArray[Any], weights: Floats, out: Mask, soft: bool
) -> OutOfBag:
    """Out-of-bag votes and error of a classifier."""
    n_members, n_rows = out.shape
    n_classes = members.n_classes
    votes = np.full((n_members, n_rows), -1, np.int32)
    sums = np.zeros((n_rows, n_classes))
    queried = np.zeros(n_rows, np.int64)
    curve = np.full(n_members, np.nan)
    for first in range(0, n_members, _BLOCK):
        block = range(first, min(first + _BLOCK, n_members))
        some = members.subset(list(block))
        answers = some.votes(X)
        supports = some.supports(X) if soft else None
        for k, t in enumerate(block):
            mine = np.flatnonzero(out[t])
            votes[t, mine] = answers[k, mine]
            if supports is None:
                sums[mine, answers[k, mine]] += 1.0
            else:
                sums[mine] += supports[k, mine]
            queried[mine] += 1
            curve[t] = _weighted_mean(sums.argmax(axis=1) != y, weights, queried > 0)
    with np.errstate(invalid="ignore"):
        outputs = sums / np.where(queried > 0, queried, np.nan)[:, None]
    return OutOfBag(votes, outputs, curve)


def out_of_bag_predictions(members: Any, X: Any, y: Floats, weights: Floats, out: Mask) -> OutOfBag:
    """Out-of-bag predictions and squared error of a regressor."""
    n_members, n_rows = out.shape
    sums, queried = np.zeros(n_rows), np.zeros(n_rows, np.int64)
    curve = np.full(n_members, np.nan)
    for first in range(0, n_members, _BLOCK):
        block = range(first, min(first + _BLOCK, n_members))
        answers = members.subset(list(block)).supports(X)[:, :, 0]
        for k, t in enumerate(block):
            mine = out[t]
            sums[mine] += answers[k, mine]
            queried += mine
            mean = sums / np.maximum(queried, 1)
            curve[t] = _weighted_mean((mean - y) ** 2, weights, queried > 0)
    outputs = np.where(queried > 0, sums / np.maximum(queried, 1), np.nan)
    return OutOfBag(None, outputs[:, None], curve)


def out_of_bag_by_rule(
    members: Any,
    X: Any,
    y: npt.NDArray[Any],
    weights: Floats,
    out: Mask,
    rule: CombiningRule,
    fold: npt.NDArray[np.int64],
    learning_weights: Floats,
) -> OutOfBag:
    """Out-of-bag answers combined by a rule, and the error of that."""
    n_classes = members.n_classes
    votes = only_left_out(members.votes(X), out, n_classes) if n_classes else None
    answers = votes
    if votes is None or rule.reads == "supports":
        supports = members.supports(X)
        answers = only_left_out(supports if n_classes else supports[:, :, 0], out, n_classes)
    assert answers is not None
    outputs = np.full((len(y), max(n_classes, 1)), np.nan)
    losses = np.zeros(out.shape)
    queried = np.logical_or.accumulate(out, axis=0)
    for part in [fold == f for f in np.unique(fold)] if rule.learns else [queried[-1]]:
        rest = ~part
        if not out[:, part].any() or (rule.learns and not out[:, rest].any()):
            queried[:, part] = False  # nobody can decide, or nothing can be learnt to decide by
            continue
        decider = rule.learn(answers[:, rest], y[rest], n_classes, learning_weights[rest])
        for loss, decided in zip(
            losses, _stages(decider, answers[:, part], n_classes), strict=True
        ):
            wrong = decided.argmax(axis=1) != y[part] if n_classes else decided[:, 0] - y[part]
            loss[part] = np.square(wrong, dtype=np.float64)
            outputs[part] = decided
    outputs[~queried[-1]] = np.nan
    losses[~queried] = 0.0
    stages = zip(losses, queried, strict=True)
    curve = np.array([_weighted_mean(loss, weights, taken) for loss, taken in stages])
    return OutOfBag(votes, outputs, curve)


def _stages(decider: Decider, answers: npt.NDArray[Any], n_classes: int) -> Iterator[Floats]:
    """What the first member decides, the first two, and so on, in columns."""
    if n_classes:
        yield from decider.staged_shares(answers, n_classes)
    else:
        for numbers in decider.staged_predict(answers):
            yield numbers[:, None]


def _weighted_mean(loss: npt.NDArray[Any], weights: Floats, taken: Mask) -> float:
    total = weights[taken].sum()
    return float(weights[taken] @ loss[taken] / total) if total > 0 else np.nan
