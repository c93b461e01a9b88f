"""Pictures of diversity: the ten measures of some ensembles, and one measure of all pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from orfeon.inspection.display import EnsemblesDisplay, check_not_empty
from orfeon.inspection.diversity_measures import MEASURES, Diversity, Measure, diversity
from orfeon.inspection.diversity_of_pairs import PairwiseDiversity, pair_values, pairwise_diversity
from orfeon.rendering.display import Display
from orfeon.rendering.figure import (
    look_of,
    put_legend,
    put_title,
    room_of,
    width_of,
)
from orfeon.rendering.palette import EDGE, FAINT, INK, MUTED_INK, TRACK
from orfeon.rendering.texts import plain

#: Width in inches below which there is no room for numbers beside the axes.
_NARROW = 4.5
#: Numbers are written for at most this many ensembles.
_MOST_NUMBERS = 4
#: Width in inches of a column of numbers, of a number at the end of a scale, and of the names.
_COLUMN, _END, _NAMES = 0.46, 0.34, 0.6
#: Share of the height of a row over which the marks of ensembles are spread.
_SPREAD = 0.6
#: Measures that pairs have.
_OF_PAIRS = {name: measure for name, measure in MEASURES.items() if measure.is_pairwise}
_OF_PAIRS["kappa"] = Measure("kappa of the votes", False, -1.0, 1.0, True)


class DiversityDisplay(EnsemblesDisplay):
    """The ten measures of one or more ensembles, each on a scale that grows with diversity.

    Each measure has a scale of its own, from its least diverse value on the left to its most
    diverse on the right. Arrows show whether more of it, or less, is more diverse.

    Parameters
    ----------
    measured : Diversity or dict of str to Diversity
        Measures from :func:`diversity`, of one ensemble or of several by name.

    Attributes
    ----------
    <axes>
    marks_ : dict of str to Line2D
        Marks of each ensemble: positions on the scales from 0 to 1, and rows.

    See Also
    --------
    PairwiseDiversityDisplay : One measure of all pairs of members.
    KappaErrorDisplay : Agreement and error of pairs.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import AdaBoostClassifier, BaggingClassifier
    >>> from orfeon.datasets import make_twonorm
    >>> from orfeon.inspection import DiversityDisplay
    >>> X, y = make_twonorm(300, random_state=0)
    >>> ensembles = {
    ...     "bagging": BaggingClassifier(n_estimators=20, random_state=0).fit(X, y),
    ...     "boosting": AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y),
    ... }
    >>> display = DiversityDisplay.from_estimator(ensembles, X, y)
    >>> print(display.ax_.get_title())
    Ten measures of diversity: bagging and boosting
    >>> bool(display.marks_["bagging"].get_xdata()[0] < display.marks_["boosting"].get_xdata()[0])
    True
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size = (6.4, 4.6)
    _measure = staticmethod(diversity)

    marks_: dict[str, Any]

    def __init__(self, measured: Diversity | Mapping[str, Diversity]) -> None:
        self.measured = dict(measured) if isinstance(measured, Mapping) else {"members": measured}
        check_not_empty("measured", self.measured)

    def _draw(self) -> None:
        ax = self.ax_
        self._draw_scales()
        n = len(self.measured)
        rows = np.arange(len(MEASURES), dtype=np.float64)
        width = width_of(ax) / 72
        n_columns = n if n <= _MOST_NUMBERS and width >= _NARROW else 0
        # An inch in widths of the scales, to which all positions are relative.
        inch = 1 / max(width - _NAMES - n_columns * _COLUMN - 2 * _END, 1.0)
        self.marks_ = {}
        for k, (name, found) in enumerate(self.measured.items()):
            places = [_place(measure, getattr(found, its)) for its, measure in MEASURES.items()]
            colour, marker, _ = look_of(k)
            look = {
                "marker": marker, "linestyle": "", "color": colour,
                "markersize": 8, "markeredgecolor": "white", "clip_on": False,
            }  # fmt: skip
            shift = _SPREAD * ((k + 0.5) / n - 0.5)
            (self.marks_[name],) = ax.plot(
                places, rows + shift, label=plain(name), zorder=4, **look
            )
            if n_columns:
                self._write_numbers(found, 1 + inch * (_END + (k + 0.5) * _COLUMN), look)
        ax.set_xlim(-inch * _END, 1 + inch * (_END + n_columns * _COLUMN))
        self._label(width < _NARROW)

    def _draw_scales(self) -> None:
        """A line for each measure, with the values at its ends and a tick at 0."""
        for row, measure in enumerate(MEASURES.values()):
            self.ax_.plot([0, 1], [row, row], color=TRACK, linewidth=1, zorder=2)
            for value in (measure.lowest, 0.0, measure.highest):
                at = _place(measure, value)
                self.ax_.plot([at, at], [row - 0.12, row + 0.12], color=TRACK, lw=1, zorder=2)
            for value in (measure.lowest, measure.highest):
                at = _place(measure, value)
                self.ax_.annotate(
                    f"{value:g}".replace("-", "\N{MINUS SIGN}"), (at, row),
                    xytext=(8 * at - 4, 0), textcoords="offset points", va="center",
                    ha="left" if at else "right", fontsize="x-small", color=MUTED_INK, zorder=3,
                )  # fmt: skip

    def _write_numbers(self, found: Diversity, at: float, look: dict[str, Any]) -> None:
        self.ax_.plot([at], [-0.9], **look)
        for row, value in enumerate(found.as_dict().values()):
            text = "\N{EN DASH}" if np.isnan(value) else f"{np.round(value, 3) + 0.0:.3f}"
            self.ax_.annotate(
                text.replace("-", "\N{MINUS SIGN}"), (at, row), ha="center", va="center",
                fontsize="small", annotation_clip=False,
            )  # fmt: skip

    def _label(self, is_narrow: bool) -> None:
        ax = self.ax_
        ax.set_yticks(range(len(MEASURES)), [f"{m.label} {m.arrow}" for m in MEASURES.values()])
        n_pairwise = sum(measure.is_pairwise for measure in MEASURES.values())
        ax.axhline(n_pairwise - 0.5, color=FAINT, linewidth=0.8, zorder=1)
        ax.set(ylim=(len(MEASURES) - 0.4, -1.3), xticks=[])
        ax.tick_params(axis="y", length=0, labelsize="small" if is_narrow else "medium")
        ax.spines[:].set_visible(False)
        ends = {1.0: ("diverse \N{RIGHTWARDS ARROW}", "right")}
        if not is_narrow:
            ends[0.0] = ("\N{LEFTWARDS ARROW} similar", "left")
        for at, (text, side) in ends.items():
            ax.annotate(text, (at, -0.9), ha=side, va="center", fontsize="small", color=INK)
        # The names of the measures take width that the layout does not know yet.
        room = room_of(ax, beside=115.0 if is_narrow else 140.0)
        put_title(ax, f"Ten measures of diversity: {self._whose()}", width=room)
        marks = list(self.marks_.values())
        put_legend(ax, handles=marks, width=0.9 * room, below=0.0, handlelength=1.8)

    def _whose(self) -> str:
        names = [plain(name) for name in self.measured]
        if len(names) == 1:
            (found,) = self.measured.values()
            return f"{found.n_members:,} members"
        return " and ".join(names) if len(names) == 2 else f"{len(names)} ensembles"


def _place(measure: Measure, value: float) -> float:
    """Position of a value on the scale of its measure: 0 is least diverse, 1 most."""
    share = (value - measure.lowest) / (measure.highest - measure.lowest)
    return share if measure.grows else 1.0 - share


class PairwiseDiversityDisplay(Display):
    """One measure of all pairs of members in colour; brighter is more diverse.

    Parameters
    ----------
    pairs : PairwiseDiversity
        Matrices from :func:`pairwise_diversity`.
    measure : {"q_statistic", "correlation", "disagreement", "double_fault", "kappa"}, \
default="disagreement"
        The measure.

    Attributes
    ----------
    <axes>
    image_ : matplotlib AxesImage
        The matrix; the diagonal, and pairs for which the measure is undefined, are masked.
    colorbar_ : matplotlib Colorbar
        The scale of the colours.

    See Also
    --------
    DiversityDisplay : Ten measures of an ensemble.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon.inspection import PairwiseDiversityDisplay
    >>> votes = [[0, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]]
    >>> display = PairwiseDiversityDisplay.from_votes(votes, [0, 0, 1, 1])
    >>> print(display.ax_.get_title())
    Disagreement of 3 members, mean 0.5
    >>> display.image_.get_array().tolist()
    [[None, 0.25, 0.5], [0.25, None, 0.75], [0.5, 0.75, None]]
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size = (5.2, 4.4)

    image_: Any
    colorbar_: Any

    def __init__(self, pairs: PairwiseDiversity, measure: str = "disagreement") -> None:
        if measure not in _OF_PAIRS:
            raise ValueError(f"measure={measure!r} is not allowed; use one of {[*_OF_PAIRS]}.")
        self.pairs = pairs
        self.measure = measure

    @classmethod
    def from_estimator(
        cls,
        ensemble: Any,
        X: Any,
        y: Any,
        *,
        measure: str = "disagreement",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a measure of the pairs of an ensemble's members.

        Parameters
        ----------
        ensemble : fitted ensemble or list of fitted estimators
            The ensemble, of orfeon or scikit-learn.
        X, y, **options
            As for :func:`diversity`.
        measure : str, default="disagreement"
            The measure.
        <ax>
        """
        return cls(pairwise_diversity(ensemble, X, y, **options), measure).plot(ax)

    @classmethod
    def from_votes(
        cls, votes: Any, y: Any, *, measure: str = "disagreement", ax: Any = None, **options: Any
    ) -> Self:
        """Draw a measure of pairs from a matrix of votes.

        Parameters
        ----------
        votes : array of shape (n_members, n_samples)
            Labels that each member votes for.
        y, **options
            As for :func:`diversity`.
        measure : str, default="disagreement"
            The measure.
        <ax>
        """
        return cls(pairwise_diversity(votes, None, y, **options), measure).plot(ax)

    def _draw(self) -> None:
        ax = self.ax_
        known = _OF_PAIRS[self.measure]
        matrix: npt.NDArray[np.float64] = getattr(self.pairs, self.measure)
        shown = np.ma.masked_invalid(matrix)
        shown[np.diag_indices(len(matrix))] = np.ma.masked
        self.image_ = ax.imshow(
            shown, cmap="cividis" if known.grows else "cividis_r", interpolation="nearest"
        )
        ax.set_facecolor(FAINT)
        values = pair_values(matrix)
        if np.isnan(values).all():
            self.image_.set_clim(known.lowest, known.highest)
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=ax, shrink=0.9)
        self.colorbar_.set_label(
            f"{known.label} ({'more' if known.grows else 'less'} is more diverse)"
        )
        for axis in (ax.xaxis, ax.yaxis):
            axis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="member", ylabel="member")
        ax.spines[:].set_color(EDGE)
        name = known.label[0].upper() + known.label[1:]
        mean = self.pairs.mean(self.measure)
        put_title(ax, f"{name} of {self.pairs.n_members:,} members, mean {mean:.3g}")
