"""Positions of the nodes of a drawn tree.

Subtrees are set side by side as close as their outlines allow and parents above the middle of their
children (Reingold and Tilford 1981), with a width for each node. An outline is kept as two lists of
offsets, deepest level first, of which merging touches only the levels that both subtrees have: the
work is linear in the number of nodes, and nothing recurses.

References
----------
Reingold and Tilford (1981). Tidier drawings of trees. IEEE Transactions on Software Engineering
7(2), 223-228.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Spreading compares every pair of children: with more they are packed from left to right.
_MOST_SPREAD = 40


@dataclass
class _Outline:
    """Left and right edges of a subtree by level, deepest first, all shifted by ``shift``."""

    left: list[float]
    right: list[float]
    shift: float = 0.0


def horizontal_positions(
    children: Sequence[Sequence[int]], widths: Sequence[float], gap: float
) -> list[float]:
    """Centre of each node, so that no two nodes of a level come closer than ``gap``."""
    n_nodes = len(children)
    offset = [0.0] * n_nodes  # from the parent's centre
    outlines: list[_Outline | None] = [None] * n_nodes
    for node in range(n_nodes - 1, -1, -1):
        outline = _joined(children[node], outlines, offset, gap)
        outline.left.append(-widths[node] / 2 - outline.shift)
        outline.right.append(widths[node] / 2 - outline.shift)
        outlines[node] = outline
    root = outlines[0]
    assert root is not None
    centre = [0.0] * n_nodes
    centre[0] = -(min(root.left) + root.shift)
    for node in range(n_nodes):
        for child in children[node]:
            centre[child] = centre[node] + offset[child]
    return centre


def _joined(
    children: Sequence[int], outlines: list[_Outline | None], offset: list[float], gap: float
) -> _Outline:
    """Join the outlines of all children around their parent at 0, and set their offsets."""
    if not children:
        return _Outline([], [])
    below = [outline for child in children if (outline := outlines[child]) is not None]
    positions = _spread(below, gap) if 2 < len(below) <= _MOST_SPREAD else None
    joined = below[0]
    packed = [0.0]
    for i, outline in enumerate(below[1:], start=1):
        packed.append(_distance(joined, outline) + gap if positions is None else positions[i])
        outline.shift += packed[i]
        joined = _merged(joined, outline)
    middle = (packed[0] + packed[-1]) / 2
    joined.shift -= middle
    for child, position in zip(children, packed, strict=True):
        offset[child] = position - middle
        outlines[child] = None  # its lists live on in the parent's
    return joined


def _spread(below: list[_Outline], gap: float) -> list[float]:
    """Positions midway between packing to the left and packing to the right.

    Packed to one side only, a small subtree between two large ones would lean on one of them. Both
    packings keep every pair apart, so their mean does too.
    """
    n = len(below)
    apart = [[_distance(below[i], below[j]) + gap for j in range(i + 1, n)] for i in range(n)]
    left = [0.0] * n
    for j in range(1, n):
        left[j] = max(left[i] + apart[i][j - i - 1] for i in range(j))
    right = [left[-1]] * n
    for i in range(n - 2, -1, -1):
        right[i] = min(right[j] - apart[i][j - i - 1] for j in range(i + 1, n))
    return [(a + b) / 2 - right[0] / 2 for a, b in zip(left, right, strict=True)]


def _distance(left: _Outline, right: _Outline) -> float:
    """How far the right subtree must move for its edges to touch the left one's."""
    shared = min(len(left.right), len(right.left))
    apart = (
        left.right[-level] + left.shift - right.left[-level] - right.shift
        for level in range(1, shared + 1)
    )
    return max(apart)


def _merged(left: _Outline, right: _Outline) -> _Outline:
    """Merge the outlines of two subtrees: the deeper one's lists, overwritten above."""
    shared = min(len(left.left), len(right.left))
    deeper, other = (left, right) if len(left.left) >= len(right.left) else (right, left)
    change = other.shift - deeper.shift
    edges = (deeper.right, right.right) if deeper is left else (deeper.left, left.left)
    into, source = edges
    for level in range(1, shared + 1):
        into[-level] = source[-level] + change
    return deeper


def vertical_positions(depths: Sequence[int], heights: Sequence[float], gap: float) -> list[float]:
    """Top of each node, counted downwards from 0, with rows as high as their highest node."""
    rows = [0.0] * (max(depths) + 1)
    for depth, height in zip(depths, heights, strict=True):
        rows[depth] = max(rows[depth], height)
    tops = [0.0]
    for height in rows[:-1]:
        tops.append(tops[-1] + height + gap)
    return [tops[depth] for depth in depths]
