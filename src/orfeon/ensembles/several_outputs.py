"""Votes of trees of several outputs, and what members say of samples that they did not see."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.forest import Forest
from orfeon.utils.types import Floats, Mask

#: Members that are queried at a time.
_BLOCK = 32


def voting_forest(forest: Forest, n_classes: tuple[int, ...]) -> Forest:
    """A forest of several outputs whose leaves give all to the class with the largest share."""
    votes = np.zeros_like(forest.value)
    for some in _columns(n_classes):
        chosen = some.start + forest.value[:, some].argmax(axis=1)
        votes[np.arange(len(votes)), chosen] = 1.0
    return replace(forest, value=votes)


def _columns(n_classes: tuple[int, ...]) -> list[slice]:
    """The columns of each output."""
    ends = np.cumsum(n_classes).tolist()
    return [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def out_of_bag_outputs(
    members: Any,
    X: Any,
    y: npt.NDArray[Any],
    weights: Floats,
    out: Mask,
    n_classes: tuple[int, ...],
) -> tuple[Floats, Floats]:
    """Mean shares or numbers by members that left samples out, and the error by their number.

    A sample is an error if any of its classes is wrong; in regression its error is the mean of the
    squared errors of its outputs.
    """
    n_members, n_rows = out.shape
    sums = np.zeros((n_rows, sum(n_classes) or y.shape[1]))
    queried = np.zeros(n_rows, np.int64)
    curve = np.full(n_members, np.nan)
    for t in range(n_members):
        if t % _BLOCK == 0:
            answers = members.subset(list(range(t, min(t + _BLOCK, n_members)))).supports(X)
        sums[out[t]] += answers[t % _BLOCK, out[t]]
        queried += out[t]
        known = queried > 0
        loss = _loss_of(sums[known] / queried[known, None], y[known], n_classes)
        if known.any():
            curve[t] = weights[known] @ loss / weights[known].sum()
    with np.errstate(invalid="ignore"):
        return sums / np.where(queried > 0, queried, np.nan)[:, None], curve


def _loss_of(outputs: Floats, y: npt.NDArray[Any], n_classes: tuple[int, ...]) -> Floats:
    if not n_classes:
        return np.asarray(((outputs - y) ** 2).mean(axis=1))
    pairs = zip(_columns(n_classes), y.T, strict=True)
    wrong = [outputs[:, some].argmax(axis=1) != codes for some, codes in pairs]
    return np.asarray(np.any(wrong, axis=0), dtype=np.float64)
