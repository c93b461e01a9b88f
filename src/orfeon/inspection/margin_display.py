"""The picture of margins: their cumulative distribution as ensembles grow.

References
----------
Schapire, Freund, Bartlett and Lee (1998). Boosting the margin: a new explanation for the
effectiveness of voting methods. The Annals of Statistics 26(5), 1651-1686.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from orfeon.inspection._fitting import make_room
from orfeon.inspection._reading import named_ensembles
from orfeon.inspection.vote_margins import MarginDistribution, Sizes, margin_distribution
from orfeon.members.votes import On
from orfeon.rendering.figure import axes_for, look_of, put_legend, put_title
from orfeon.rendering.palette import INK
from orfeon.rendering.texts import plain

#: Width and height in inches of a new figure.
_SIZE = (6.0, 4.4)
#: Line styles of the sizes, from the whole ensemble down.
_STYLES = ("-", "--", (0, (1, 1)), (0, (5, 1, 1, 1)))


class MarginDistributionDisplay:
    """Cumulative distribution of the margins of one or several ensembles as they grow.

    A colour for each ensemble, a line style for each size. A mark shows where the margins of the
    whole ensemble begin. Left of 0 the vote is wrong.

    Parameters
    ----------
    distributions : dict of str to MarginDistribution
        Names of the ensembles, and their margins.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    lines_ : dict of (str, int) to Line2D
        The curve of each ensemble at each size.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import AdaBoostClassifier, BaggingClassifier, CARTClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.inspection import MarginDistributionDisplay
    >>> X, y = make_waveform(300, random_state=0)
    >>> tree = CARTClassifier(max_depth=3)
    >>> ensembles = {
    ...     "bagging": BaggingClassifier(tree, n_estimators=50, random_state=0).fit(X, y),
    ...     "boosting": AdaBoostClassifier(tree, n_estimators=50, random_state=0).fit(X, y),
    ... }
    >>> display = MarginDistributionDisplay.from_estimator(ensembles, X, y)
    >>> sorted(display.lines_)
    [('bagging', 10), ('bagging', 50), ('boosting', 10), ('boosting', 50)]
    >>> matplotlib.pyplot.close(display.figure_)
    """

    ax_: Any
    figure_: Any
    lines_: dict[tuple[str, int], Any]

    def __init__(self, distributions: Mapping[str, MarginDistribution]) -> None:
        if not distributions:
            raise ValueError("distributions is empty; there is nothing to draw.")
        self.distributions = {str(name): one for name, one in distributions.items()}

    @classmethod
    def from_estimator(
        cls,
        ensemble: Any,
        X: Any,
        y: Any,
        *,
        sizes: Sizes | None = None,
        sample_weight: Any = None,
        on: On = "train",
        ax: Any = None,
    ) -> Self:
        """Draw the margins of an ensemble, or of several.

        Parameters
        ----------
        ensemble : fitted ensemble, or dict of str to fitted ensembles
            The ensemble; or several, with their names.
        X, y, sizes, sample_weight, on
            As for :func:`margin_distribution`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        MarginDistributionDisplay
            What was drawn.
        """
        return cls({
            name: margin_distribution(one, X, y, sizes=sizes, sample_weight=sample_weight, on=on)
            for name, one in named_ensembles(ensemble).items()
        }).plot(ax)  # fmt: skip

    @classmethod
    def from_votes(
        cls,
        votes: Any,
        y: Any,
        *,
        sizes: Sizes | None = None,
        sample_weight: Any = None,
        no_vote: Any = None,
        member_weights: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the margins in matrices of votes.

        Parameters
        ----------
        votes : array of shape (n_members, n_rows), or dict of str to arrays
            Labels that each member votes for; or those of several ensembles, with their names.
        y, sizes, sample_weight, no_vote, member_weights
            As for :func:`margin_distribution`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        MarginDistributionDisplay
            What was drawn.
        """
        return cls({
            name: margin_distribution(
                one, y=y, sizes=sizes, sample_weight=sample_weight, no_vote=no_vote,
                member_weights=member_weights,
            )
            for name, one in named_ensembles(votes, "votes").items()
        }).plot(ax)  # fmt: skip

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        MarginDistributionDisplay
            The display, with what was drawn.
        """
        self.ax_ = ax = axes_for(type(self).__name__, ax, _SIZE)
        self.figure_, self.lines_ = ax.figure, {}
        for number, (name, distribution) in enumerate(self.distributions.items()):
            look = look_of(number)
            for place, stage in enumerate(reversed(distribution.stages)):
                values, shares = stage.steps()
                (self.lines_[name, stage.n_members],) = ax.plot(
                    np.concatenate([[-1.0], values, [1.0]]),
                    100.0 * np.concatenate([[0.0], shares, [1.0]]),
                    drawstyle="steps-post", color=look.colour, linestyle=_style(place),
                    linewidth=1.2 if place else 1.7, label=f"{name}, {stage.n_members}",
                )  # fmt: skip
            ax.plot(
                [distribution.stages[-1].minimum], [0.0], look.marker, color=look.colour,
                markersize=7, markeredgecolor="white", clip_on=False, zorder=4,
                label=f"_least of {name}",
            )  # fmt: skip
        self._label()
        make_room(self.ax_)
        return self

    def _label(self) -> None:
        """Say what is seen."""
        ax = self.ax_
        ax.axvline(0.0, color="0.8", linewidth=0.8, zorder=0)
        ax.set_xlim(-1.0, 1.0)
        ax.set_ylim(0.0, 100.0)
        ax.set_xlabel("margin, at most")
        ax.set_ylabel("share of samples, %")
        least = ", ".join(
            f"{plain(name)} {_signed(distribution.stages[-1].minimum)}"
            for name, distribution in self.distributions.items()
        )
        put_title(ax, f"Least margin with all members (marked): {least}")
        put_legend(ax, handles=self._handles())

    def _handles(self) -> list[Any]:
        """Entries of the legend: the ensembles, then the sizes."""
        from matplotlib.lines import Line2D

        handles = [
            Line2D([], [], color=look_of(k).colour, marker=look_of(k).marker, label=plain(name))
            for k, name in enumerate(self.distributions)
        ]
        # Ensembles that stopped early have other sizes in the same style.
        sizes: dict[int, dict[int, None]] = {}
        for distribution in self.distributions.values():
            for k, size in enumerate(reversed(distribution.sizes.tolist())):
                sizes.setdefault(k, {})[size] = None
        for k, numbers in sizes.items():
            label = f"{' or '.join(map(str, numbers))} member{'s' if max(numbers) > 1 else ''}"
            handles.append(
                Line2D([], [], color=INK, linewidth=1.2, linestyle=_style(k), label=label)
            )
        return handles


def _style(place: int) -> Any:
    """Line style of a size, the whole ensemble being 0."""
    return _STYLES[place % len(_STYLES)]


def _signed(number: float) -> str:
    return f"{number:+.2f}".replace("-", "\N{MINUS SIGN}")
