"""Pictures of correlated members: what averaging them is worth, and what makes them less similar.

References
----------
Hastie, Tibshirani and Friedman (2009). The elements of statistical learning, 2nd edition. Springer.
Section 15.4.

Recarey (2021). Métodos de ensamblado en machine learning. Section 2.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from orfeon.inspection.correlated_members import (
    MemberCorrelationCurve,
    correlated_mean_variance,
    member_answers,
    member_correlation,
    member_correlation_curve,
)
from orfeon.inspection.display import check_not_empty, check_positive
from orfeon.inspection.theory import Curve
from orfeon.rendering.display import Display
from orfeon.rendering.figure import (
    look_of,
    put_legend,
    put_title,
    scale_members,
)
from orfeon.rendering.palette import INK, MUTED_INK, class_colours, mixed

#: Sizes of a curve, at most.
_MOST_SIZES = 100
_RHO = "\N{GREEK SMALL LETTER RHO}"
_BLUE, _, _, _, _, _VERMILLION = class_colours(6)


class CorrelatedMeanDisplay(Display):
    """Variance of the mean of correlated members against their number.

    Each curve falls to a floor of rho times the variance of a member, drawn faintly; only less
    correlation goes below it.

    Parameters
    ----------
    curves : dict of float to Curve
        Variances against sizes, by correlation.
    variance : float
        Variance of a member.
    measured : Curve, optional
        Measured variances of means.

    Attributes
    ----------
    <axes>
    lines_ : dict of float to Line2D
        The curves by correlation.
    measured_ : Line2D or None
        The measured variances.

    See Also
    --------
    orfeon.inspection.correlated_mean_variance : The numbers.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon.inspection import CorrelatedMeanDisplay
    >>> display = CorrelatedMeanDisplay.from_correlations([0.0, 0.3], max_members=50)
    >>> list(display.lines_)
    [0.0, 0.3]
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size = (6.0, 4.2)

    lines_: dict[float, Any]
    measured_: Any

    def __init__(
        self, curves: Mapping[float, Curve], variance: float, measured: Curve | None = None
    ) -> None:
        check_not_empty("curves", curves)
        self.curves, self.variance, self.measured = dict(curves), variance, measured

    @classmethod
    def from_correlations(
        cls,
        correlations: Sequence[float] = (0.0, 0.1, 0.3, 0.5, 0.9),
        *,
        variance: float = 1.0,
        max_members: int = 100,
        ax: Any = None,
    ) -> Self:
        """Draw the formula for these correlations.

        Parameters
        ----------
        correlations : sequence of float, default=(0.0, 0.1, 0.3, 0.5, 0.9)
            Correlations of any two members, from 0 to 1.
        variance : float, default=1.0
            Variance of a member.
        max_members : int, default=100
            The largest size.
        <ax>
        """
        return cls(_curves(correlations, variance, max_members), variance).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        ensemble: Any,
        data: Any,
        y: Any = None,
        *,
        sizes: Sequence[int] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Train an ensemble repeatedly, and draw the variance of the mean of its members.

        Parameters
        ----------
        ensemble, data, y
            As for :func:`member_correlation_curve`.
        sizes : sequence of int, optional
            Numbers of members to average; some up to all by default.
        **options
            ``sampling``, ``n_train``, ``n_test``, ``n_repetitions``, ``n_jobs``, ``verbose`` and
            ``random_state``, as for :func:`resample_predictions`.
        <ax>
        """
        answers, n_classes = member_answers(ensemble, data, y, **options)
        return cls.from_answers(answers, n_classes=n_classes, sizes=sizes, ax=ax)

    @classmethod
    def from_answers(
        cls, answers: Any, *, n_classes: int = 0, sizes: Sequence[int] | None = None, ax: Any = None
    ) -> Self:
        """Draw the variance of ensembles of several sizes, and the formula.

        Parameters
        ----------
        answers : array of shape (n_trainings, n_members, n_points)
            Predictions of each member of ensembles that were trained on different samples:
            numbers, or class codes.
        n_classes : int, default=0
            Number of classes, 0 in regression.
        sizes : sequence of int, optional
            Numbers of members to average; some up to all by default.
        <ax>
        """
        found = member_correlation(answers, n_classes=n_classes)
        rho, each = found.pooled_correlation, found.mean_variance
        outputs = np.asarray(answers)
        chosen = np.asarray(_sizes(found.n_members, 12) if sizes is None else sizes)
        is_whole = chosen.dtype.kind in "iu" and chosen.ndim == 1 and len(chosen) > 0
        if not is_whole or chosen.min() < 1 or chosen.max() > found.n_members:
            raise ValueError(
                f"sizes={sizes!r} is not allowed: it holds whole numbers from 1 to the "
                f"{found.n_members} members."
            )
        measured = [_mean_variance(outputs[:, :size], n_classes) for size in chosen]
        return cls(
            _curves([rho], each, found.n_members), each, Curve(chosen, np.array(measured))
        ).plot(ax)

    def _draw(self) -> None:
        ax = self.ax_
        self.lines_, self.measured_ = {}, None
        for number, (rho, curve) in enumerate(self.curves.items()):
            look = look_of(number)
            (self.lines_[rho],) = ax.plot(
                curve.x, curve.y, color=look.colour, linestyle=look.linestyle, linewidth=1.6,
                label=f"{_RHO} = {rho:.3g}",
            )  # fmt: skip
            floor = max(rho, 0.0) * self.variance
            ax.axhline(floor, color=look.colour, linewidth=0.7, alpha=0.45, zorder=1)
        if self.measured is not None:
            (self.measured_,) = ax.plot(
                self.measured.x, self.measured.y, color=INK, linestyle="", marker="o",
                markersize=4, label="measured", clip_on=False, zorder=3,
            )  # fmt: skip
        last = max(int(curve.x[-1]) for curve in self.curves.values())
        scale_members(ax, last, "log")
        ax.set(xlabel="members", ylabel="variance of their mean")
        most = self.variance if self.measured is None else max(self.variance, *self.measured.y)
        ax.set_ylim(0.0, 1.05 * most)
        put_title(ax, self._title())
        put_legend(ax)

    def _title(self) -> str:
        if self.measured is None:
            return f"Averaging leaves {_RHO} times the variance of a member"
        ((rho, curve),) = self.curves.items()
        left = float(curve.y[-1]) / self.variance
        return (
            f"The mean of {int(curve.x[-1]):,} members has {100 * left:.0f}% of the variance of "
            f"one: {_RHO} = {rho:.2f}"
        )


def _sizes(most: int, n_sizes: int) -> npt.NDArray[np.int64]:
    return np.unique(np.geomspace(1, most, n_sizes).round().astype(np.int64))


def _curves(correlations: Sequence[float], variance: float, max_members: int) -> dict[float, Curve]:
    check_positive("max_members", max_members)
    sizes = _sizes(max_members, _MOST_SIZES)
    return {
        rho: Curve(sizes, np.asarray(correlated_mean_variance(rho, variance, sizes)))
        for rho in correlations
    }


def _mean_variance(answers: npt.NDArray[Any], n_classes: int) -> float:
    """Variance over trainings of the mean of some members, averaged over points."""
    if not n_classes:
        return float(answers.mean(axis=1).var(axis=0, ddof=1).mean())
    shares = ((answers == code).mean(axis=1) for code in range(n_classes))
    return float(sum(share.var(axis=0, ddof=1).mean() for share in shares))


class MemberCorrelationDisplay(Display):
    """Correlation of the members of ensembles against a parameter, such as ``max_features``.

    Boxes show the correlations at the points of the test set: quartiles, median, and whiskers to
    the 5th and 95th percentiles. Dots are the pooled correlations, with two standard errors.

    Parameters
    ----------
    curve : MemberCorrelationCurve
        The measurements, see :func:`member_correlation_curve`.

    Attributes
    ----------
    <axes>
    boxes_ : dict
        What matplotlib's ``boxplot`` returns.
    pooled_ : ErrorbarContainer
        The pooled correlations.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import RandomForestRegressor
    >>> from orfeon.datasets import Friedman1
    >>> from orfeon.inspection import MemberCorrelationDisplay
    >>> display = MemberCorrelationDisplay.from_estimator(
    ...     RandomForestRegressor(10), Friedman1(), values=(1, 4), n_train=50, n_test=20,
    ...     n_repetitions=5, random_state=0,
    ... )
    >>> print(display.ax_.get_xlabel())
    max_features
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size = (6.0, 4.2)

    boxes_: dict[str, Any]
    pooled_: Any

    def __init__(self, curve: MemberCorrelationCurve) -> None:
        self.curve = curve

    @classmethod
    def from_estimator(
        cls, ensemble: Any, data: Any, y: Any = None, *, ax: Any = None, **options: Any
    ) -> Self:
        """Train ensembles repeatedly for several values of a parameter, and draw.

        Parameters
        ----------
        ensemble, data, y, **options
            As for :func:`member_correlation_curve`; ``values`` must be given.
        <ax>
        """
        return cls(member_correlation_curve(ensemble, data, y, **options)).plot(ax)

    def _draw(self) -> None:
        ax = self.ax_
        curve = self.curve
        places = np.arange(len(curve.values))
        points = [one.correlation[~np.isnan(one.correlation)] for one in curve.found]
        line = {"color": _BLUE, "linewidth": 1.0}
        self.boxes_ = ax.boxplot(
            points, positions=places, widths=0.55, whis=(5, 95), showfliers=False,
            patch_artist=True, boxprops={"facecolor": mixed(_BLUE, "#FFFFFF", 0.25), **line},
            medianprops={"color": _BLUE, "linewidth": 2.0}, whiskerprops=line, capprops=line,
        )  # fmt: skip
        self.pooled_ = ax.errorbar(
            places, curve.correlations, yerr=2 * curve.standard_errors, color=_VERMILLION,
            marker="D", markersize=4.5, linewidth=1.3, capsize=2.5, zorder=3,
        )  # fmt: skip
        ax.axhline(0.0, color=MUTED_INK, linewidth=0.8, linestyle=":", zorder=1)
        ax.set_xticks(places, [str(value) for value in curve.values])
        ax.set_xlabel(curve.parameter)
        ax.set_ylabel(f"correlation {_RHO} of two members")
        put_title(ax, self._title())
        self._draw_legend()

    def _title(self) -> str:
        found = self.curve.correlations
        low, high = int(np.argmin(found)), int(np.argmax(found))
        if low == high:
            return f"Members have a correlation of {found[0]:.2f}"
        values, name = self.curve.values, self.curve.parameter
        return (
            f"Correlation of members: {found[low]:.2f} with {name}={values[low]}, "
            f"{found[high]:.2f} with {values[high]}"
        )

    def _draw_legend(self) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        face = mixed(_BLUE, "#FFFFFF", 0.25)
        put_legend(self.ax_, handles=[
            Patch(facecolor=face, edgecolor=_BLUE, label="at the points of the test set"),
            Line2D([], [], color=_VERMILLION, marker="D", markersize=4.5,
                   label="pooled, \u00b1 2 standard errors"),
        ])  # fmt: skip
