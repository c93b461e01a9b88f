"""Average ranks on a line, with bars over methods that do not differ significantly.

References
----------
Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine
Learning Research 7, 1-30.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

from orfeon.rendering.display import Display
from orfeon.rendering.figure import put_title, width_of
from orfeon.rendering.palette import EDGE, INK, MUTED_INK, class_colours
from orfeon.rendering.texts import plain, small_size
from orfeon.statistics.rank_differences import NemenyiTest, nemenyi

#: Width in inches of a new figure, and heights of a line and of all else.
_WIDTH, _LINE, _ELSE = 6.4, 0.2, 1.3
#: The parts of the picture in lines of text: the interval above the axis, the first bar below it,
#: from bar to bar, and from the last bar to the first name.
_ABOVE, _FIRST, _STEP, _BELOW = 1.5, 0.9, 0.55, 1.0
#: Letters of a name, beyond which it is cut.
_LONGEST = 40
#: Points that a number of the axis takes.
_NUMBER = 15.0
_BAR = class_colours(1)[0]


class CriticalDifferenceDisplay(Display):
    """Average ranks of methods on a line, the best on the left.

    Bars join methods whose average ranks are less than a critical difference apart; its length is
    shown above the line.

    Parameters
    ----------
    data : NemenyiTest
        Average ranks and their critical difference, see :func:`nemenyi`.

    Attributes
    ----------
    <axes>
    bars_ : list of matplotlib Line2D
        One for each group of methods that do not differ significantly.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon.statistics import CriticalDifferenceDisplay
    >>> names = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    >>> ranks = [3.143, 2.000, 2.893, 1.964]
    >>> display = CriticalDifferenceDisplay.from_ranks(ranks, 14, names=names, alpha=0.1)
    >>> print(display.ax_.get_title())
    Average ranks of 4 methods on 14 data sets; bars join those that do not differ significantly
    (Nemenyi, level 0.1)
    >>> len(display.bars_)
    2
    >>> matplotlib.pyplot.close(display.figure_)
    """

    bars_: list[Any]

    def __init__(self, data: NemenyiTest) -> None:
        self.data = data

    @classmethod
    def from_ranks(
        cls,
        ranks: Any,
        n_datasets: int,
        *,
        names: Sequence[str] | None = None,
        alpha: float = 0.05,
        ax: Any = None,
    ) -> Self:
        """Draw average ranks.

        Parameters
        ----------
        ranks : array-like of shape (n_methods,)
            Average ranks; 1 is the best.
        n_datasets : int
            Number of data sets.
        names : sequence of str, optional
            Names of the methods; by default their numbers.
        alpha : float, default=0.05
            Level of significance, for all pairs together.
        <ax>
        """
        return cls(NemenyiTest.from_ranks(ranks, n_datasets, names=names, alpha=alpha)).plot(ax)

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        *,
        greater_is_better: bool = True,
        names: Sequence[str] | None = None,
        decimals: int | None = None,
        alpha: float = 0.05,
        ax: Any = None,
    ) -> Self:
        """Rank methods on each data set, and draw their average ranks.

        Parameters
        ----------
        scores : array-like or data frame of shape (n_datasets, n_methods)
            One row per data set, one column per method.
        greater_is_better, names, decimals, alpha
            As for :func:`nemenyi`.
        <ax>
        """
        found = nemenyi(
            scores, greater_is_better=greater_is_better, names=names, decimals=decimals, alpha=alpha
        )
        return cls(found).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        <ax>
        """
        n_lines = math.ceil(len(self.data.names) / 2)
        bars = _bars(self.data)
        n_rows = 1 + max((row for row, _, _ in bars), default=-1)
        first = _FIRST + _STEP * n_rows + _BELOW
        lowest = first + n_lines - 1
        size = (_WIDTH, _ELSE + _LINE * (lowest + _ABOVE + 1.0))
        ax = self._begin(ax, size)
        k = len(self.data.names)
        ax.set_xlim(1 - 0.02 * (k - 1), k + 0.02 * (k - 1))
        ax.set_ylim(lowest + 0.6, -_ABOVE - 0.9)
        self._draw_axis()
        self._draw_names(first)
        self.bars_ = [
            ax.plot(
                [left, right], [_FIRST + _STEP * row] * 2, color=_BAR, linewidth=3.2,
                solid_capstyle="round", zorder=3,
            )[0]
            for row, left, right in bars
        ]  # fmt: skip
        self._draw_difference()
        put_title(
            ax,
            f"Average ranks of {k} methods on {self.data.n_datasets} data sets; bars join those "
            f"that do not differ significantly (Nemenyi, level {self.data.alpha:g})",
        )
        self._finish()
        # Whether numbers fit beside each other is known only after the layout.
        every = max(1, math.ceil(_NUMBER * (k - 1) / width_of(ax)))
        ax.set_xticks(range(1, k + 1, every))
        return self

    def _draw_axis(self) -> None:
        """The line of ranks, with its numbers above it."""
        ax, k = self.ax_, len(self.data.names)
        for side in ("left", "right", "bottom"):
            ax.spines[side].set_visible(False)
        ax.yaxis.set_visible(False)
        ax.spines["top"].set_position(("data", 0.0))
        ax.spines["top"].set_bounds(1, k)
        ax.xaxis.tick_top()
        ax.set_xticks(range(1, k + 1))
        ax.tick_params(axis="x", direction="in", labelsize=small_size(), pad=2.0)

    def _draw_names(self, first: float) -> None:
        """Names beside the picture, the better half on the left, joined to their ranks."""
        ax, data = self.ax_, self.data
        ordered = sorted(zip(data.ranks, data.names, strict=True), key=lambda pair: pair[0])
        half = (len(ordered) + 1) // 2
        left, right = ax.get_xlim()
        sides = [
            (ordered[:half], left, "right", -3.0),
            # From the last: its line is the outermost, and no other crosses it.
            (ordered[half:][::-1], right, "left", 3.0),
        ]
        for methods, edge, alignment, gap in sides:
            for line, (rank, name) in enumerate(methods):
                height = first + line
                ax.plot(
                    [rank, rank, edge], [0.0, height, height], color=EDGE, linewidth=0.8,
                    solid_joinstyle="miter", zorder=1,
                )  # fmt: skip
                ax.plot(rank, 0.0, "o", color=INK, markersize=3.0, clip_on=False, zorder=4)
                shown = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
                numbered = (f"{plain(shown)}  {rank:.2f}", f"{rank:.2f}  {plain(shown)}")
                ax.annotate(
                    numbered[alignment == "left"], (edge, height), xytext=(gap, 0.0), va="center",
                    ha=alignment, textcoords="offset points", fontsize=small_size(), color=INK,
                    annotation_clip=False,
                )  # fmt: skip

    def _draw_difference(self) -> None:
        """The critical difference as an interval above the axis."""
        ax, length = self.ax_, self.data.critical_difference
        k = len(self.data.names)
        text = f"critical difference {length:.2f}"
        # Longer than the whole line: no methods differ, and it is only written.
        if length <= k - 1:
            ax.errorbar(
                1 + 0.5 * length, -_ABOVE, xerr=0.5 * length, color=INK, linewidth=1.2, capsize=3.0
            )
            place = (1 + length, -_ABOVE)
        else:
            text += ", longer than the line"
            place = (1.0, -_ABOVE)
        ax.annotate(
            text, place, xytext=(5.0, 0.0), textcoords="offset points", va="center",
            fontsize=small_size(), color=MUTED_INK, annotation_clip=False,
        )  # fmt: skip


def _bars(data: NemenyiTest) -> list[tuple[int, float, float]]:
    """Row, left end and right end of the bar of each group; bars of a row do not touch."""
    rank_of = dict(zip(data.names, data.ranks, strict=True))
    gap = 0.02 * (len(data.names) - 1)
    ends: list[float] = []
    found = []
    for group in data.groups():
        left, right = rank_of[group[0]] - gap, rank_of[group[-1]] + gap
        row = next((row for row, end in enumerate(ends) if end + gap < left), len(ends))
        ends[row : row + 1] = [right]
        found.append((row, left, right))
    return found
