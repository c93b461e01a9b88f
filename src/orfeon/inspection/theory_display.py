"""Plots of theory and measurements: Condorcet's juries and class-switching.

References
----------
Condorcet (1785). Essai sur l'application de l'analyse à la probabilité des décisions rendues à la
pluralité des voix. Imprimerie royale, Paris.

Martínez-Muñoz and Suárez (2005). Switching class labels to generate classification ensembles.
Pattern Recognition 38(10), 1483-1494.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from orfeon.inspection.display import check_not_empty
from orfeon.inspection.documentation import TEXTS
from orfeon.inspection.reading import read_class_votes
from orfeon.inspection.theory import (
    Curve,
    condorcet_error,
    odd_sizes,
    split_axes,
    switching_error,
    switching_margins,
    vote_errors,
)
from orfeon.inspection.vote_margins import margin_distribution
from orfeon.members.votes import Selection
from orfeon.rendering.display import Display
from orfeon.rendering.figure import (
    Scale,
    check_scale,
    look_of,
    put_legend,
    put_title,
    scale_members,
)
from orfeon.rendering.palette import INK, MUTED_INK


class CondorcetDisplay(Display):
    """Error of the majority of independent members against their number.

    If each member errs on less than half of the samples, the vote improves with every member; if on
    more than half, it gets worse. A measured vote shows the limits: its members are not
    independent, so it stops improving.

    Parameters
    ----------
    curves : dict of str to Curve
        Errors by theory, by the name of each curve.
    measured : dict of str to Curve, optional
        Measured errors.

    Attributes
    ----------
    <axes>
    lines_ : dict of str to Line2D
        The curves.

    See Also
    --------
    orfeon.inspection.condorcet_error : The numbers.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon.inspection import CondorcetDisplay
    >>> display = CondorcetDisplay.from_member_errors([0.3, 0.45], max_members=21)
    >>> list(display.lines_)
    ['30%', '45%']
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _texts = TEXTS
    _size = (6.0, 4.2)

    lines_: dict[str, Any]

    def __init__(
        self, curves: Mapping[str, Curve], measured: Mapping[str, Curve] | None = None
    ) -> None:
        check_not_empty("curves", curves)
        self.curves = dict(curves)
        self.measured = dict(measured or {})

    @classmethod
    def from_member_errors(
        cls,
        member_errors: Sequence[float] = (0.2, 0.3, 0.4, 0.45, 0.5, 0.55),
        *,
        max_members: int = 101,
        scale: Scale = "auto",
        ax: Any = None,
    ) -> Self:
        """Draw the theory for members with these errors.

        Parameters
        ----------
        member_errors : sequence of float, default=(0.2, 0.3, 0.4, 0.45, 0.5, 0.55)
            Probabilities that a member errs.
        max_members : int, default=101
            The largest size; sizes are odd, so no vote is tied.
        <scale>
        <ax>
        """
        sizes = odd_sizes(max_members)
        return cls({
            f"{100 * error:.3g}%": Curve(sizes, condorcet_error(error, sizes))
            for error in member_errors
        }).plot(ax, scale=scale)  # fmt: skip

    @classmethod
    def from_estimator(
        cls,
        ensemble: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        scale: Scale = "auto",
        ax: Any = None,
    ) -> Self:
        """Draw the vote of an ensemble, and that of independent members with the same mean error.

        Parameters
        ----------
        ensemble : fitted ensemble, members, or list of fitted estimators
            Of two classes. All votes count equally here.
        X, y : arrays
            Samples, preferably not those it was trained on.
        <weights>
        <scale>
        <ax>
        """
        votes = read_class_votes(ensemble, X, y, sample_weight, what="Condorcet curves")
        return cls._of(votes.selection, scale, ax)

    @classmethod
    def from_votes(
        cls,
        votes: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        scale: Scale = "auto",
        ax: Any = None,
    ) -> Self:
        """Draw a vote, and that of independent members with the same mean error.

        Parameters
        ----------
        votes : array of shape (n_members, n_samples)
            Labels of two classes that each member votes for.
        y : array of shape (n_samples,)
            True labels.
        <weights>
        <scale>
        <ax>
        """
        read = read_class_votes(votes, None, y, sample_weight, what="Condorcet curves")
        return cls._of(read.selection, scale, ax)

    @classmethod
    def _of(cls, votes: Selection, scale: Scale, ax: Any) -> Self:
        if votes.n_classes != 2:
            raise ValueError(
                f"the votes are for {votes.n_classes} classes; Condorcet's theorem is about two."
            )
        if not votes.is_complete:
            raise ValueError("votes are missing; in Condorcet's theorem all members vote.")
        mean = float((~votes.right @ votes.weights).mean() / votes.total_weight)
        sizes = odd_sizes(votes.n_members)
        return cls(
            {f"independent, {100 * mean:.1f}% each": Curve(sizes, condorcet_error(mean, sizes))},
            {"measured": Curve(sizes, vote_errors(votes, sizes))},
        ).plot(ax, scale=scale)

    def plot(self, ax: Any = None, *, scale: Scale = "auto") -> Self:
        """Draw the picture.

        Parameters
        ----------
        <scale>
        <ax>
        """
        check_scale(scale)
        ax = self._begin(ax)
        self.lines_ = {}
        for number, (name, curve) in enumerate(self.curves.items()):
            look = look_of(number)
            (self.lines_[name],) = ax.plot(
                curve.x, 100 * curve.y, color=look.colour, linestyle=look.linestyle, linewidth=1.6,
                label=name,
            )  # fmt: skip
        for name, curve in self.measured.items():
            (self.lines_[name],) = ax.plot(
                curve.x, 100 * curve.y, color=INK, linestyle="", marker="o", markersize=3.5,
                label=name,
            )  # fmt: skip
        if not self.measured:
            ax.axhline(50.0, color=MUTED_INK, linewidth=0.8, linestyle=":", zorder=1)
        ax.set(xlabel="members", ylabel="error of the vote, %", ylim=(-1.5, None))
        scale_members(ax, max(int(curve.x[-1]) for curve in self.curves.values()), scale)
        put_title(ax, self._title())
        head = None if self.measured else "each member errs on"
        put_legend(ax, title=head, title_fontsize="small")
        return self._finish()

    def _title(self) -> str:
        if not self.measured:
            return "The vote of independent members improves if each is better than a coin toss"
        ((_, found),) = self.measured.items()
        ((_, theory),) = self.curves.items()
        last = 100 * float(theory.y[-1])
        expected = f"{last:.1f}%" if last >= 0.05 else "less than 0.1%"
        return (
            f"The vote of {int(found.x[-1]):,} members errs on {100 * found.y[-1]:.1f}%; "
            f"independent members would err on {expected}"
        )


class SwitchingTheoryDisplay(Display):
    """Training error and margins of class-switching ensembles, in theory and as measured.

    Parameters
    ----------
    errors : dict of float to Curve
        Errors against the number of members, by switching rate.
    margins : dict of (float, int) to Curve
        Distributions of the margins, by switching rate and number of members.
    measured_errors : Curve, optional
        Measured training errors.
    measured_margins : dict of int to Curve, optional
        Measured distributions of margins, by number of members.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the errors.
    margin_ax_ : matplotlib Axes or None
        The axes of the margins.
    figure_ : matplotlib Figure
        Their figure.
    error_lines_ : dict of float to Line2D
        By switching rate.
    margin_lines_ : dict of (float, int) to Line2D
        By switching rate and number of members.

    See Also
    --------
    orfeon.inspection.switching_error, orfeon.inspection.switching_margins : The numbers.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon.inspection import SwitchingTheoryDisplay
    >>> display = SwitchingTheoryDisplay.from_rates([0.2, 0.4], max_members=101)
    >>> list(display.margin_lines_)
    [(0.2, 11), (0.2, 101), (0.4, 11), (0.4, 101)]
    >>> matplotlib.pyplot.close(display.figure_)
    """

    margin_ax_: Any
    error_lines_: dict[float, Any]
    margin_lines_: dict[tuple[float, int], Any]

    def __init__(
        self,
        errors: Mapping[float, Curve],
        margins: Mapping[tuple[float, int], Curve],
        measured_errors: Curve | None = None,
        measured_margins: Mapping[int, Curve] | None = None,
    ) -> None:
        check_not_empty("errors", errors)
        self.errors, self.margins = dict(errors), dict(margins)
        self.measured_errors = measured_errors
        self.measured_margins = dict(measured_margins or {})

    @classmethod
    def from_rates(
        cls,
        switch_rates: Sequence[float] = (0.1, 0.2, 0.3, 0.4),
        *,
        max_members: int = 1001,
        margin_sizes: Sequence[int] | None = None,
        n_classes: int = 2,
        ax: Any = None,
    ) -> Self:
        """Draw the theory for these switching rates.

        Parameters
        ----------
        switch_rates : sequence of float, default=(0.1, 0.2, 0.3, 0.4)
            Fractions of the labels switched.
        max_members : int, default=1001
            The largest size.
        margin_sizes : sequence of int, optional
            Sizes whose margins are drawn; by default 11 and ``max_members``.
        n_classes : int, default=2
            Number of classes. Margins are drawn for two.
        <ax>
        """
        return cls(*_theory(switch_rates, max_members, margin_sizes, n_classes)).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        ensemble: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        margin_sizes: Sequence[int] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw a fitted ensemble on its training samples, and the theory for its rate.

        Parameters
        ----------
        ensemble : ClassSwitchingClassifier
            Fitted.
        X, y, sample_weight
            Its training samples.
        margin_sizes : sequence of int, optional
            Sizes whose margins are drawn; by default 11 and all members.
        <ax>
        """
        from orfeon.ensembles.switching import ClassSwitchingClassifier

        if not isinstance(ensemble, ClassSwitchingClassifier):
            raise TypeError(
                f"ensemble={ensemble!r} is not allowed: it must be a ClassSwitchingClassifier."
            )
        check_is_fitted(ensemble, "members_")
        votes = read_class_votes(ensemble, X, y, sample_weight, what="theoretical curves").selection
        n_classes = max(2, len(ensemble.classes_))
        errors, margins = _theory([ensemble.switch_rate_], votes.n_members, margin_sizes, n_classes)
        ((_, curve),) = errors.items()
        measured = {}
        if margins:
            sizes = [size for _, size in margins]
            found = margin_distribution(ensemble, X, y, sizes=sizes, sample_weight=sample_weight)
            measured = {stage.n_members: Curve(*stage.steps()) for stage in found.stages}
        return cls(errors, margins, Curve(curve.x, vote_errors(votes, curve.x)), measured).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw errors and margins side by side in place of the axes, or stacked if it is narrow.

        Parameters
        ----------
        <ax>
        """
        ax = self._begin(ax, (7.0, 3.6) if self.margins else (6.0, 4.2))
        self.ax_, self.margin_ax_ = split_axes(ax) if self.margins else (ax, None)
        self.error_lines_, self.margin_lines_ = {}, {}
        self._draw_errors()
        if self.margin_ax_ is None:
            return self._finish()
        self._draw_margins()
        return self

    def _draw_errors(self) -> None:
        ax = self.ax_
        for number, (rate, curve) in enumerate(self.errors.items()):
            look = look_of(number)
            (self.error_lines_[rate],) = ax.plot(
                curve.x, 100 * curve.y, color=look.colour, linestyle=look.linestyle, linewidth=1.5,
                label=f"p = {rate:.3g}",
            )  # fmt: skip
        if self.measured_errors is not None:
            ax.plot(
                self.measured_errors.x, 100 * self.measured_errors.y, color=INK, linestyle="",
                marker="o", markersize=3, label="measured",
            )  # fmt: skip
        ax.set(xlabel="members", ylabel="training error, %", ylim=(-1, None))
        scale_members(ax, max(int(curve.x[-1]) for curve in self.errors.values()), "log")
        put_title(ax, "Training error, for any data")
        put_legend(ax)

    def _draw_margins(self) -> None:
        ax = self.margin_ax_
        sizes = sorted({size for _, size in self.margins})
        rates = list(self.errors)
        for (rate, size), curve in self.margins.items():
            look = look_of(rates.index(rate))
            # Colours and styles show rates; thicker lines are larger ensembles.
            (self.margin_lines_[rate, size],) = ax.plot(
                curve.x, 100 * curve.y, color=look.colour, linestyle=look.linestyle,
                drawstyle="steps-post",
                linewidth=0.8 + 1.2 * sizes.index(size) / max(1, len(sizes) - 1),
            )  # fmt: skip
        for number, (size, curve) in enumerate(self.measured_margins.items()):
            ax.plot(
                curve.x, 100 * curve.y, color=INK, linestyle="", marker="o^sD"[number % 4],
                markersize=3.2, markevery=0.06, label=f"measured, {size:,}",
            )  # fmt: skip
        ax.axvline(0.0, color=MUTED_INK, linewidth=0.8, linestyle=":", zorder=1)
        ax.set(xlabel="margin, at most", ylabel="share of samples, %", xlim=(-1, 1))
        words = " and ".join(f"{size:,}" for size in sizes)
        put_title(ax, f"Margins of {words}{' (thicker)' if len(sizes) > 1 else ''} members")
        if self.measured_margins:
            put_legend(ax)


def _theory(
    rates: Sequence[float], max_members: int, margin_sizes: Sequence[int] | None, n_classes: int
) -> tuple[dict[float, Curve], dict[tuple[float, int], Curve]]:
    sizes = odd_sizes(max_members)
    chosen = sorted({min(11, max_members), max_members} if margin_sizes is None else margin_sizes)
    beyond = [size for size in chosen if not 1 <= size <= max_members]
    if beyond:
        raise ValueError(
            f"margin_sizes has {beyond[0]}; sizes are from 1 to the {max_members} members."
        )
    errors = {rate: Curve(sizes, switching_error(rate, sizes, n_classes)) for rate in rates}
    if n_classes > 2:
        return errors, {}
    return errors, {(rate, size): _margins(rate, size) for rate in rates for size in chosen}


def _margins(rate: float, size: int) -> Curve:
    """Possible margins, and the probability of at most each."""
    margins, probabilities = switching_margins(rate, size)
    return Curve(margins, np.cumsum(probabilities))
