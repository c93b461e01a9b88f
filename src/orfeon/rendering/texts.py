"""Texts in pictures: escapes, line breaks, sizes, and places for names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from textwrap import fill, wrap
from typing import Any, NamedTuple

from orfeon.rendering.palette import MUTED_INK

#: Width of a letter as a share of its height, a little more than in most words.
_LETTER = 0.55
#: Height of small letters as a share of others.
_SMALL = 0.833
#: Letters that a line or a marker and the gaps about it take in a legend.
_HANDLE = 7


def plain(name: Any) -> str:
    r"""A name in which dollar signs are dollar signs."""
    return str(name).replace("$", r"\$")


def in_lines(text: str, width: float, size: float) -> str:
    """A text in as few lines as fit, and these as even as can be."""
    n_letters = max(int(width / (_LETTER * size)), 10)
    return "\n".join(_evenly(line, n_letters) for line in text.splitlines())


def _evenly(line: str, n_letters: int) -> str:
    n_lines = len(wrap(line, n_letters))
    # The narrowest lines of the same number, so that the last is not a single word.
    fits = (n for n in range(10, n_letters) if len(wrap(line, n)) == n_lines)
    return fill(line, next(fits, n_letters))


def small_size() -> float:
    """Height of small letters."""
    from matplotlib import rcParams

    return _SMALL * float(rcParams["font.size"])


def fitting_size(longest: int, length: float) -> float:
    """A size of letters by which a text has some length at most, and can be read."""
    usual = small_size()
    return min(usual, max(0.6 * usual, length * 72.0 / (_LETTER * max(longest, 1))))


def columns_of(labels: Sequence[str], width: float) -> int:
    """How many entries of a legend are beside each other."""
    n_letters = width / (_LETTER * small_size())
    for n_columns in range(len(labels), 1, -1):
        n_rows = math.ceil(len(labels) / n_columns)
        # Rows of equal length look better than a full one and a rest.
        if math.ceil(len(labels) / n_rows) < n_columns:
            continue
        starts = range(0, len(labels), n_rows)
        longest = [max(map(len, labels[start : start + n_rows])) for start in starts]
        if sum(longest) + _HANDLE * len(longest) <= n_letters:
            return n_columns
    return 1


class _Box(NamedTuple):
    """Where a text is, in points."""

    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right and other.left < self.right
            and self.bottom < other.top and other.bottom < self.top
        )  # fmt: skip


def put_names(ax: Any, names: Sequence[str], points: Any) -> None:
    """Write names right of their points, or elsewhere nearby if they would overlap."""
    size, scale = small_size(), 72.0 / ax.figure.dpi
    frame = ax.get_window_extent()
    taken: list[_Box] = []
    for name, point in zip(names, points, strict=True):
        x, y = ax.transData.transform(point) * scale
        width = _LETTER * size * len(name)
        for side, lift in _places(size):
            left = x + 5.0 if side == "left" else x - 5.0 - width
            # Higher than the letters, because the layout may make the axes less high.
            box = _Box(left, y + lift - 0.7 * size, left + width, y + lift + 0.7 * size)
            is_inside = (
                frame.x0 * scale <= box.left and box.right <= frame.x1 * scale
                and frame.y0 * scale <= box.bottom and box.top <= frame.y1 * scale
            )  # fmt: skip
            if is_inside and not any(box.meets(other) for other in taken):
                break
        taken.append(box)
        ax.annotate(
            name, point, xytext=(5.0 if side == "left" else -5.0, lift), ha=side, va="center",
            textcoords="offset points", fontsize=size, color=MUTED_INK,
        )  # fmt: skip


def _places(size: float) -> Iterator[tuple[str, float]]:
    """Sides of a text on which its point is, and how much higher the text is; the best first."""
    lifts = (0.0, *(sign * step * size for step in (1.4, 2.8, 4.2) for sign in (1, -1)))
    return ((side, lift) for lift in lifts for side in ("left", "right"))
