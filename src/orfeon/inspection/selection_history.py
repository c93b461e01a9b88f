"""How the selection of a training set went, round by round: a picture.

References
----------
Cantador and Dorronsoro (2005). Parallel perceptrons, activation margins and imbalanced training set
pruning. IbPRIA 2005, 43-50.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.inspection._fitting import make_room
from orfeon.perceptrons.pptss import PPTSSClassifier
from orfeon.rendering.figure import axes_for, put_legend, put_title
from orfeon.rendering.palette import MUTED_INK, class_colours
from orfeon.utils.types import Integers

_BLUE, _, _, _, _, _VERMILLION = class_colours(6)
#: Width and height in inches of a new figure.
_SIZE = (6.4, 4.4)
#: Rounds up to which all sizes are written.
_MOST_NUMBERS = 12
#: Digits that have room in a row, with gaps between the numbers.
_MOST_DIGITS = 46
#: Share of the width, on either side, where a number is beside an axis.
_EDGE = 0.1
#: Shares of the height that accuracies and sizes have.
_UPPER, _LOWER = 0.5, 0.38


class SelectionHistoryDisplay:
    """Rounds of a selection of the training set: g, acc+, and how many samples are left.

    Parameters
    ----------
    n_selected : array of shape (n_rounds,)
        Samples that each round was trained on.
    geometric_mean : array of shape (n_rounds,)
        The geometric mean of the accuracies on the classes, on the whole training set.
    positive_accuracy : array of shape (n_rounds,)
        The accuracy on the class of interest.
    best_round : int
        The round that is kept.
    ended : str
        Why there was no further round.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where accuracies were drawn.
    size_ax_ : matplotlib Axes
        Where the sizes were, on a logarithmic scale.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        "g", "acc+" and "samples".

    See Also
    --------
    PerceptronCategoriesDisplay : The samples that a round leaves out.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import PPTSSClassifier
    >>> from orfeon.datasets import make_gaussian_clouds
    >>> from orfeon.inspection import SelectionHistoryDisplay
    >>> X, y = make_gaussian_clouds(1000, random_state=0)
    >>> model = PPTSSClassifier(random_state=0).fit(X, y)
    >>> display = SelectionHistoryDisplay.from_estimator(model)
    >>> print(display.ax_.get_title())
    Round ... of PPTSS is kept: ... of 1000 samples, g from ... to ...%
    It ended because ...
    >>> matplotlib.pyplot.close(display.figure_)
    """

    ax_: Any
    size_ax_: Any
    figure_: Any
    lines_: dict[str, Any]

    def __init__(
        self,
        n_selected: npt.ArrayLike,
        geometric_mean: npt.ArrayLike,
        positive_accuracy: npt.ArrayLike,
        best_round: int,
        ended: str,
    ) -> None:
        self.n_selected = np.asarray(n_selected)
        self.geometric_mean = np.asarray(geometric_mean)
        self.positive_accuracy = np.asarray(positive_accuracy)
        self.best_round = best_round
        self.ended = ended

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the rounds of a fitted selection.

        Parameters
        ----------
        estimator : PPTSSClassifier or PPTSSSampler
            Fitted.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SelectionHistoryDisplay
            What was drawn.
        """
        # A sampler keeps the classifier that selected.
        fitted = getattr(estimator, "classifier_", estimator)
        if not isinstance(fitted, PPTSSClassifier):
            raise TypeError(
                f"estimator={estimator!r} is not allowed: it is a fitted PPTSSClassifier or "
                "PPTSSSampler."
            )
        check_is_fitted(fitted, "history_")
        history = fitted.history_
        return cls(
            history["n_selected"], history["geometric_mean"], history["positive_accuracy"],
            fitted.best_round_, fitted.ended_,
        ).plot(ax)  # fmt: skip

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SelectionHistoryDisplay
            The display, with what was drawn.
        """
        self.ax_ = ax = axes_for(type(self).__name__, ax, _SIZE)
        self.figure_, self.size_ax_ = ax.figure, ax.twinx()
        rounds = np.arange(len(self.n_selected))
        self.lines_ = {}
        for name, values, colour, marker in (
            ("g", self.geometric_mean, _BLUE, "o"),
            ("acc+", self.positive_accuracy, _VERMILLION, "^"),
        ):
            (self.lines_[name],) = ax.plot(
                rounds, 100 * values, color=colour, marker=marker, linewidth=1.8, label=name
            )
        (self.lines_["samples"],) = self.size_ax_.plot(
            rounds, self.n_selected, color=MUTED_INK, marker="s", markersize=4, linestyle="--",
            linewidth=1.2, label="training samples",
        )  # fmt: skip
        self._label(rounds)
        make_room(self.ax_)
        return self

    def _label(self, rounds: Integers) -> None:
        """Say what is seen."""
        ax, sizes = self.ax_, self.size_ax_
        kept = ax.axvspan(
            self.best_round - 0.2, self.best_round + 0.2, color="0.92", zorder=0, label="kept"
        )
        # A round alone has room beside it, as it has among others.
        room = 0.5 if len(rounds) > 1 else 1.5
        ax.set_xlim(-room, rounds[-1] + room)
        for at in self._numbered(rounds):
            # Beside an axis, a long number goes away from it and does not cross it.
            place = (at + room) / (rounds[-1] + 2 * room)
            side = "left" if place < _EDGE else "right" if place > 1 - _EDGE else "center"
            sizes.annotate(
                f"{self.n_selected[at]}", (at, self.n_selected[at]),
                xytext=({"left": -3, "center": 0, "right": 3}[side], 6),
                textcoords="offset points", ha=side, fontsize="small", color=MUTED_INK,
            )  # fmt: skip
        if len(rounds) <= _MOST_NUMBERS:
            ax.set_xticks(rounds)
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        self._part_scales()
        ax.set_xlabel("round (0: all training samples)")
        ax.set_ylabel("on all training samples, %", loc="top")
        sizes.set_ylabel("trained on (log scale)", loc="bottom", color=MUTED_INK)
        first, best = 100 * self.geometric_mean[0], 100 * self.geometric_mean[self.best_round]
        put_title(
            ax,
            f"Round {self.best_round} of PPTSS is kept: {self.n_selected[self.best_round]} of "
            f"{self.n_selected[0]} samples, g from {first:.1f} to {best:.1f}%\n"
            f"It ended because {self.ended}",
        )
        put_legend(ax, handles=[*self.lines_.values(), kept])

    def _numbered(self, rounds: Integers) -> Integers:
        """Rounds whose sizes are written: all of them, if they are few and the numbers fit."""
        n_digits = len(str(self.n_selected.max()))
        fit = len(rounds) <= _MOST_NUMBERS and len(rounds) * n_digits <= _MOST_DIGITS
        return rounds if fit else np.unique([0, self.best_round])

    def _part_scales(self) -> None:
        """Accuracies have the upper part and sizes the lower, so that no line crosses another."""
        lowest = 100 * min(self.geometric_mean.min(), self.positive_accuracy.min())
        lowest = 10.0 * np.floor(min(lowest, 90.0) / 10.0)
        height = (100.0 - lowest) / _UPPER
        self.ax_.set_ylim(100.0 - 1.05 * height, 100.0 + 0.05 * height)
        self.ax_.set_yticks([tick for tick in self.ax_.get_yticks() if lowest <= tick <= 100.0])
        decades = int(np.ceil(np.log10(max(self.n_selected.max(), 10))))
        self.size_ax_.set_yscale("log")
        self.size_ax_.set_ylim(0.8, 10.0 ** (decades / _LOWER))
        self.size_ax_.set_yticks(10.0 ** np.arange(decades + 1))
        self.size_ax_.minorticks_off()
