"""Pictures of error curves: error against the number of members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import Any, Self

from orfeon.inspection.display import check_not_empty
from orfeon.inspection.documentation import TEXTS
from orfeon.inspection.errors_by_size import (
    OWN,
    RANDOM,
    ErrorCurve,
    ErrorCurves,
    On,
    curves_of_orders,
    error_curves,
)
from orfeon.inspection.reading import Orders
from orfeon.ordering.plot import draw_error_curve, show_sizes
from orfeon.rendering.display import Display
from orfeon.rendering.figure import (
    Scale,
    check_scale,
    look_of,
    put_legend,
    put_title,
    scale_members,
)
from orfeon.rendering.palette import INK, MUTED_INK, mixed
from orfeon.rendering.texts import plain

#: Line styles by samples, the most important first.
_LINES: dict[On, Any] = {"test": "-", "out-of-bag": "-.", "training": (0, (4, 1.5))}
#: Random orders are lighter than the members' own.
_RANDOM_INK = mixed(MUTED_INK, "#FFFFFF", 0.6)


def _line(on: On) -> Any:
    """Line style; samples with a name of their own look like training samples."""
    return _LINES.get(on, _LINES["training"])


class ErrorCurveDisplay(Display):
    """Error against the number of members, ordered or not, on one or more sets of samples.

    One colour and marker per order or ensemble, one line style per set of samples; the members' own
    order and random ones, with a band of one standard deviation, are grey beside others. Rings mark
    the sizes with the lowest error on the most important samples (test, else out-of-bag, else
    training), and a dotted line the error of all members.

    Parameters
    ----------
    curves : ErrorCurves
        The curves, see :func:`error_curves`.

    Attributes
    ----------
    <axes>
    lines_ : dict of (str, str) to Line2D
        The curve of each order or ensemble on each set of samples.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import BaggingClassifier, CARTClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.inspection import ErrorCurveDisplay
    >>> X, y = make_waveform(1300, random_state=0)
    >>> bag = BaggingClassifier(CARTClassifier(pruning="cv"), 100, random_state=0)
    >>> bag = bag.fit(X[:300], y[:300])
    >>> display = ErrorCurveDisplay.from_estimator(
    ...     bag, X[:300], y[:300], X[300:], y[300:], orders="margin_distance", out_of_bag=False
    ... )
    >>> list(display.lines_)  # doctest: +NORMALIZE_WHITESPACE
    [('own order', 'training'), ('own order', 'test'),
     ('margin distance', 'training'), ('margin distance', 'test')]
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _texts = TEXTS
    _size = (6.0, 4.4)

    lines_: dict[tuple[str, str], Any]

    def __init__(self, curves: ErrorCurves) -> None:
        check_not_empty("curves", curves)
        self.curves = curves

    @classmethod
    def from_estimator(
        cls,
        ensemble: Any,
        X: Any,
        y: Any,
        X_test: Any = None,
        y_test: Any = None,
        *,
        on: Sequence[On] | None = None,
        scale: Scale = "auto",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the curves of one or more ensembles.

        Parameters
        ----------
        <named ensembles>
        X, y, X_test, y_test, **options
            As for :func:`error_curves`.
        on : sequence of str, optional
            The samples whose curves are drawn; all by default.
        scale : {"auto", "linear", "log"}, default="auto"
            As for :meth:`plot`.
        <ax>
        """
        named: Mapping[Any, Any] = ensemble if isinstance(ensemble, Mapping) else {None: ensemble}
        if not named:
            raise ValueError("ensemble is empty; give at least one ensemble by name.")
        found = []
        for its, one in named.items():
            curves = error_curves(one, X, y, X_test, y_test, **options)
            found.append(curves if its is None else _renamed(curves, str(its)))
        return cls(_joined(found, on)).plot(ax, scale=scale)

    @classmethod
    def from_votes(
        cls,
        votes: Any,
        y: Any,
        votes_test: Any = None,
        y_test: Any = None,
        *,
        scale: Scale = "auto",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the curves of a matrix of votes, or of predicted numbers.

        Parameters
        ----------
        votes : array of shape (n_members, n_samples)
            Predictions of each member for each sample.
        y, votes_test, y_test, **options
            As for :func:`error_curves`.
        scale : {"auto", "linear", "log"}, default="auto"
            As for :meth:`plot`.
        <ax>
        """
        curves = error_curves(votes, y=y, votes_test=votes_test, y_test=y_test, **options)
        return cls(curves).plot(ax, scale=scale)

    @classmethod
    def from_orders(
        cls,
        orders: Orders,
        members_or_votes: Any = None,
        X: Any = None,
        y: Any = None,
        *,
        scale: Scale = "auto",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the curves of existing orders.

        Parameters
        ----------
        orders, members_or_votes, X, y, **options
            As for :func:`curves_of_orders`.
        scale : {"auto", "linear", "log"}, default="auto"
            As for :meth:`plot`.
        <ax>
        """
        curves = curves_of_orders(orders, members_or_votes, X, y, **options)
        return cls(curves).plot(ax, scale=scale)

    def plot(self, ax: Any = None, *, scale: Scale = "auto") -> Self:
        """Draw the picture.

        Parameters
        ----------
        scale : {"auto", "linear", "log"}, default="auto"
            Scale of the axis of sizes; "auto" is logarithmic from 300 members on, unless ordered.
        <ax>
        """
        check_scale(scale)
        if scale == "auto" and any(curve.is_ordered for curve in self.curves):
            scale = "linear"  # orders differ most in the middle
        ax = self._begin(ax)
        self.lines_ = {}
        scale_members(ax, max(map(len, self.curves)), scale)  # the notes are placed by it
        unit = 1.0 if self.curves.is_regression else 100.0
        marked = self._marked
        for curve in self.curves:
            is_marked = any(curve is one for one in marked)
            self.lines_[curve.name, curve.on] = draw_error_curve(
                ax, unit * curve.errors, f"{curve.name}, {curve.on}",
                spread=None if curve.spread is None else unit * curve.spread,
                mark=curve.best_size if is_marked else None,
                note=self._best(curve) if is_marked and len(marked) == 1 else None,
                whole=f"_all, {curve.name}, {curve.on}" if self._shows_whole(curve) else None,
                **self._style(curve),
            )  # fmt: skip
        show_sizes(ax, scale)
        self._label()
        return self._finish()

    # -- what is shown how -------------------------------------------------------------------------

    @property
    def _ons(self) -> list[On]:
        """The sets of samples, the most important first."""
        named = dict.fromkeys(curve.on for curve in self.curves)
        return [on for on in _LINES if on in named] + [on for on in named if on not in _LINES]

    @property
    def _ordered(self) -> list[str]:
        """Names of the orders that were made, or of all curves if there are none."""
        made = [curve.name for curve in self.curves if curve.is_ordered]
        return list(dict.fromkeys(made or [curve.name for curve in self.curves]))

    @property
    def _marked(self) -> list[ErrorCurve]:
        """The curves whose best size is shown."""
        on, names = self._ons[0], self._ordered
        return [curve for curve in self.curves if curve.on == on and curve.name in names]

    def _shows_whole(self, curve: ErrorCurve) -> bool:
        """Whether to draw the error of all members, which is once for all orders."""
        same = [one for one in self.curves if one.on == self._ons[0]]
        shown: list[ErrorCurve] = []
        for one in [one for one in same if not one.is_ordered] or same[:1]:
            # Own and random orders end at the same error.
            if not any(isclose(one.whole, other.whole, rel_tol=1e-9) for other in shown):
                shown.append(one)
        return any(curve is one for one in shown)

    def _style(self, curve: ErrorCurve) -> dict[str, Any]:
        names = self._ordered
        style: dict[str, Any] = {"linestyle": _line(curve.on), "linewidth": 1.4}
        if curve.name not in names:
            colour = MUTED_INK if curve.spread is None else _RANDOM_INK
            return {**style, "color": colour, "linewidth": 1.2, "zorder": 1.9}
        number = names.index(curve.name)
        look = look_of(number)
        style["color"] = look.colour
        if len(names) > 1:
            # Markers of different curves are not above each other.
            every = (0.02 + 0.15 * (number + 0.5) / len(names), 0.15)
            style |= {"marker": look.marker, "markersize": 4, "markevery": every}
        return style

    # -- words -------------------------------------------------------------------------------------

    def _number(self, error: float) -> str:
        return f"{error:.3g}" if self.curves.is_regression else f"{100 * error:.1f}%"

    def _best(self, curve: ErrorCurve) -> str:
        return f"{self._number(curve.least)} with {curve.best_size:,}"

    def _label(self) -> None:
        ax, ons = self.ax_, self._ons
        what = "mean squared error" if self.curves.is_regression else "error, %"
        ax.set_xlabel("members")
        is_known = ons[0] in _LINES
        ax.set_ylabel(what if len(ons) > 1 or not is_known else f"{ons[0]} {what}")
        best = min(self._marked, key=lambda curve: curve.least)
        name = "" if best.name in (OWN, RANDOM) else f" ({plain(best.name)})"
        error = "mean squared error" if self.curves.is_regression else "error"
        kept = f"{self._number(best.least)} with {best.best_size:,} of {len(best):,} members{name}"
        whole = f", {self._number(best.whole)} with all"
        if best.best_size == len(best):
            kept, whole = f"{self._number(best.least)} with all {len(best):,} members{name}", ""
        of = f"{ons[0]} {error}" if is_known else f"{error} on {plain(ons[0])}"
        put_title(ax, f"Lowest {of}: {kept}{whole}")
        put_legend(ax, handles=self._handles())

    def _handles(self) -> list[Any]:
        from matplotlib.lines import Line2D

        marked = {curve.name: curve for curve in self._marked}
        handles = []
        for name in dict.fromkeys(curve.name for curve in self.curves):
            line = next(line for (its, _), line in self.lines_.items() if its == name)
            label = (
                f"{plain(name)}: {self._best(marked[name])}"
                if len(marked) > 1 and name in marked
                else plain(name)
            )
            handles.append(Line2D(
                [], [], color=line.get_color(), marker=line.get_marker(), markersize=4, label=label,
                linestyle="-" if len(self._ons) > 1 else line.get_linestyle(),
            ))  # fmt: skip
        if len(self._ons) > 1:
            handles += [
                Line2D([], [], color=INK, linewidth=1.2, linestyle=_line(on), label=on)
                for on in self._ons
            ]
        lengths = {len(curve) for curve in self.curves}
        label = f"all {lengths.pop():,} members" if len(lengths) == 1 else "all members"
        handles.append(Line2D([], [], color=MUTED_INK, linewidth=1.1, linestyle=":", label=label))
        return handles


def _joined(found: Sequence[ErrorCurves], on: Sequence[On] | None) -> ErrorCurves:
    """Curves of several ensembles in one, on some of the samples."""
    known = list(dict.fromkeys(curve.on for curves in found for curve in curves))
    if on is not None and (isinstance(on, str) or not len(on) or not set(on) <= set(known)):
        raise ValueError(f"on={on!r} is not allowed; give some of {known}.")
    if len({curves.is_regression for curves in found}) > 1:
        raise ValueError("ensemble holds classifiers and regressors; their errors differ in kind.")
    curves = tuple(c for curves in found for c in curves if on is None or c.on in on)
    return ErrorCurves(curves, found[0].is_regression)


def _renamed(curves: ErrorCurves, name: str) -> ErrorCurves:
    """The same curves under the name of an ensemble."""
    return replace(curves, curves=tuple(
        replace(curve, name=name if curve.name == OWN else f"{name}, {curve.name}")
        for curve in curves
    ))  # fmt: skip
