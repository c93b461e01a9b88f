"""Curves of theory and of votes, and the axes that they are drawn in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.members.votes import Selection
from orfeon.rendering.figure import width_of
from orfeon.utils.types import Floats, Integers

#: Points of width that two pictures side by side need.
_SIDE_BY_SIDE = 330.0
#: Sizes of a curve, at most.
_MOST_SIZES = 120


class Curve(NamedTuple):
    """Errors, or shares, at some sizes or margins."""

    x: npt.NDArray[Any]
    y: Floats


def odd_sizes(most: int) -> Integers:
    """Odd sizes of an ensemble, all of them or about as many as a picture can show."""
    if most < 1:
        raise ValueError(f"max_members={most!r} is not allowed: it is 1 or more.")
    every = np.arange(1, most + 1, 2)
    if len(every) <= _MOST_SIZES:
        return every
    # Some more of the small ones, for the axis of sizes may be logarithmic.
    return every[np.unique(np.geomspace(1, len(every), _MOST_SIZES).round().astype(np.int64) - 1)]


def vote_errors(votes: Selection, sizes: Integers) -> Floats:
    """Errors of the votes of the first members, all alike; a tie is decided by a fair draw."""
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
    """Two axes in the room of one: side by side, or one above the other where it is narrow."""
    figure, room = ax.figure, ax.get_subplotspec()
    shape = (1, 2) if width_of(ax) >= _SIDE_BY_SIDE else (2, 1)
    grid = room.subgridspec(*shape)
    ax.remove()
    return figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
