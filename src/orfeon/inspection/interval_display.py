"""Prediction intervals and the targets that they hold or miss."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from orfeon.inspection.display import check_positive
from orfeon.inspection.interval_quality import IntervalCoverage, interval_coverage
from orfeon.rendering.display import Display
from orfeon.rendering.palette import EDGE, INK, MUTED_INK, class_colours


class IntervalDisplay(Display):
    """Prediction intervals against the targets, and how many targets they hold in groups of rows.

    Rows are in the order of the middle of their interval. The figures at the top are the coverage
    of groups of rows: all should be near the requested one.

    Parameters
    ----------
    data : IntervalCoverage
        Intervals and targets, from :func:`interval_coverage`.
    coverage : float, optional
        The requested coverage, shown in the title.

    Attributes
    ----------
    intervals_ : matplotlib LineCollection
        The intervals.
    held_, missed_ : matplotlib PathCollection
        Targets inside and outside of their interval.
    <axes>

    Examples
    --------
    >>> from orfeon import RandomForestRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> from orfeon.inspection import IntervalDisplay
    >>> X, y = make_friedman1(300, random_state=0)
    >>> X_test, y_test = make_friedman1(500, random_state=1)
    >>> forest = RandomForestRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> display = IntervalDisplay.from_estimator(forest, X_test, y_test, coverage=0.9)
    >>> round(display.data.coverage, 2)
    0.91
    >>> display.figure_.clear()
    """

    _size = (6.4, 4.4)

    def __init__(self, data: IntervalCoverage, coverage: float | None = None) -> None:
        self.data = data
        self.coverage = coverage

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        coverage: float = 0.9,
        n_bins: int = 5,
        n_shown: int = 200,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the intervals of a regressor.

        Parameters
        ----------
        model : regressor with ``predict_interval``
            A fitted ensemble of orfeon, or :class:`orfeon.ConformalRegressor`.
        X, y : arrays
            Samples that it was not trained on, and their targets.
        coverage : float, default=0.9
            Share of the targets to cover.
        n_bins : int, default=5
            Groups of rows.
        n_shown : int, default=200
            Maximum number of intervals to draw; all are counted.
        **options
            Options of ``predict_interval``, such as ``method``.
        <ax>
        """
        interval = model.predict_interval(X, coverage=coverage, **options)
        data = interval_coverage(y, interval, n_bins=n_bins)
        return cls(data, coverage).plot(ax, n_shown=n_shown)

    @classmethod
    def from_intervals(
        cls,
        y: Any,
        interval: Any,
        *,
        coverage: float | None = None,
        n_bins: int = 5,
        n_shown: int = 200,
        ax: Any = None,
    ) -> Self:
        """Draw intervals of any origin.

        Parameters
        ----------
        y : array of shape (n_rows,)
            Targets.
        interval : array of shape (n_rows, 2)
            Lower and upper bounds.
        coverage : float, optional
            The requested coverage.
        n_bins, n_shown
            As for :meth:`from_estimator`.
        <ax>
        """
        data = interval_coverage(y, interval, n_bins=n_bins)
        return cls(data, coverage).plot(ax, n_shown=n_shown)

    def plot(self, ax: Any = None, *, n_shown: int = 200) -> Self:
        """Draw the picture.

        Parameters
        ----------
        n_shown : int, default=200
            Maximum number of intervals to draw.
        <ax>
        """
        check_positive("n_shown", n_shown)
        self._begin(ax)
        data, axes = self.data, self.ax_
        middle = data.interval.mean(axis=1)
        order = np.argsort(middle, kind="stable")
        place = np.empty(len(order))
        place[order] = np.arange(len(order))
        chosen = np.linspace(0, len(order) - 1, min(n_shown, len(order))).astype(np.int64)
        rows = order[np.unique(chosen)]
        at, within = place[rows], data.is_within[rows]
        colour, missed = class_colours(2)
        self.intervals_ = axes.vlines(
            at, *data.interval[rows].T, color=colour, alpha=0.35, linewidth=1.5, label="interval"
        )
        self.held_ = axes.scatter(
            at[within], data.y[rows][within], s=8, color=INK, linewidth=0, label="target"
        )
        self.missed_ = axes.scatter(
            at[~within], data.y[rows][~within], s=16, color=missed, marker="x", label="missed"
        )
        self._mark_groups(np.sort(middle))
        axes.set(xlabel="rows, by the middle of their interval", ylabel="target")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False)
        asked = "" if self.coverage is None else f", {100 * self.coverage:.3g}% asked for"
        title = f"{100 * data.coverage:.1f}% held{asked}; mean width {data.width:.3g}"
        axes.set_title(title, fontsize="medium")
        return self._finish()

    def _mark_groups(self, middle: Any) -> None:
        """The coverage of each group, over its rows."""
        axes, n_rows = self.ax_, len(middle)
        ends = np.searchsorted(middle, self.data.edges[1:-1]).tolist()
        borders = [0, *ends, n_rows]
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + 0.12 * (high - low))
        for border in ends:
            axes.axvline(border - 0.5, color=EDGE, linewidth=0.8, zorder=0)
        for first, last, share in zip(borders, borders[1:], self.data.bin_coverage, strict=False):
            axes.text(
                (first + last - 1) / 2, 0.97, f"{100 * share:.0f}%", ha="center", va="top",
                transform=axes.get_xaxis_transform(), fontsize="small", color=MUTED_INK,
            )  # fmt: skip
