"""Pictures of Shapley values: one prediction, many rows, and one feature."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from orfeon.inspection.display import check_positive
from orfeon.inspection.shapley import ShapleyValues, shap_values
from orfeon.inspection.tree_sum_types import Output
from orfeon.rendering.display import Display
from orfeon.rendering.figure import fitting_rows, inches, put_colour_bar, put_title
from orfeon.rendering.palette import EDGE, FAINT, INK, MUTED_INK
from orfeon.rendering.texts import in_lines, plain, small_size
from orfeon.utils.types import Floats, Integers

#: Colours of what raises the output, and of what lowers it.
_UP, _DOWN = "#D55E00", "#0072B2"
_SCALE = "cividis"
#: Width in inches of a new figure, and heights of a row and of all else.
_WIDTH, _ROW, _ELSE = 5.4, 0.3, 1.25
#: Points that lie on one another are moved apart by this share of a row, at most.
_SPREAD = 0.38
_BINS = 60


def _of_one_output(data: ShapleyValues, name: Any, row: int | None) -> ShapleyValues:
    """The values of one class: that of the name, else of a row's greatest output, or the last."""
    if data.has_interactions:
        raise ValueError("values of pairs of features are not drawn; use interactions=False.")
    if name is not None:
        return data.for_class(name)
    if data.n_outputs == 1:
        return data
    assert data.classes is not None
    at = data.n_outputs - 1 if row is None else int(np.argmax(data.outputs[row]))
    return data.for_class(data.classes[at])


def _output_name(data: ShapleyValues) -> str:
    if data.classes is None or len(data.classes) != 1:
        return data.what
    return f"{data.what}, class {plain(data.classes[0])}"


def _shown(value: Any) -> str:
    """A value of a feature, in few digits."""
    if value is None or value != value:
        return "missing"
    if isinstance(value, str):
        return plain(value)
    return f"{float(value):.4g}"


class ShapWaterfallDisplay(Display):
    """One prediction: from the expected output to that of the row, feature by feature.

    Parameters
    ----------
    data : ShapleyValues
        Values from :func:`shap_values`, without interactions.
    row : int, default=0
        Which of its rows.
    name : object, optional
        The class whose output is drawn; by default that of the row's greatest output.

    Attributes
    ----------
    <axes>
    order_ : ndarray of int
        The features shown, from top to bottom.
    bars_ : BarContainer
        Their bars, the last one for all other features where some are not shown.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from orfeon import RandomForestClassifier
    >>> from orfeon.inspection import ShapWaterfallDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> display = ShapWaterfallDisplay.from_estimator(forest, X, 70)
    >>> display.ax_.get_title()
    'share of the votes, class 1: 0.63'
    >>> matplotlib.pyplot.close(display.figure_)
    """

    order_: Integers
    bars_: Any

    def __init__(self, data: ShapleyValues, row: int = 0, name: Any = None) -> None:
        if not -len(data) <= row < len(data):
            raise ValueError(f"row={row} is not allowed: there are {len(data)} rows.")
        self.data, self.row = _of_one_output(data, name, row), row

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        row: int = 0,
        *,
        name: Any = None,
        background: Any = None,
        output: Output = "auto",
        n_shown: int = 10,
        ax: Any = None,
    ) -> Self:
        """Explain one row of X, and draw it.

        Parameters
        ----------
        model, X, background, output
            As for :func:`shap_values`.
        row : int, default=0
            Which row.
        name : object, optional
            The class whose output is drawn; by default that of the row's greatest output.
        n_shown : int, default=10
            Maximum number of features to show; fewer if their names have no room.
        <ax>
        """
        one = X.iloc[[row]] if hasattr(X, "iloc") else X[row : row + 1 or None]
        data = shap_values(model, one, background=background, output=output)
        return cls(data, 0, name).plot(ax, n_shown=n_shown)

    def plot(self, ax: Any = None, *, n_shown: int = 10) -> Self:
        """Draw the picture.

        Parameters
        ----------
        n_shown : int, default=10
            Maximum number of features to show; fewer if their names have no room.
        <ax>
        """
        check_positive("n_shown", n_shown)
        data = self.data
        values = data.values[self.row]
        n = min(n_shown, len(values))
        ax = self._begin(ax, (_WIDTH, _ROW * (n + 1) + _ELSE))
        n = fitting_rows(ax, n, _ELSE)
        order = np.argsort(-np.abs(values), kind="stable")
        self.order_ = order[:n]
        steps, texts = values[self.order_], [self._label(j) for j in self.order_]
        if n < len(values):
            steps = np.append(steps, values[order[n:]].sum())
            texts.append(f"{len(values) - n} others")
        # The least important come first, as in a sum that is refined.
        ends = data.base_values + np.cumsum(steps[::-1])[::-1]
        starts = ends - steps
        at = np.arange(len(steps))
        colours = [_UP if step >= 0 else _DOWN for step in steps]
        self.bars_ = ax.barh(at, steps, left=starts, color=colours, height=0.7, zorder=2)
        for k in range(len(steps) - 1):
            ax.plot([starts[k]] * 2, [k - 0.35, k + 1.35], color=EDGE, linewidth=0.7, zorder=1)
        self._write_steps(steps, starts, ends)
        ax.axvline(data.base_values, color=MUTED_INK, linewidth=0.8, linestyle=(0, (3, 3)))
        ax.set_yticks(at, texts, fontsize="small")
        ax.set_ylim(len(steps) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.tick_params(axis="x", labelsize="small")
        ax.spines[["top", "right", "left"]].set_visible(False)
        output = float(data.outputs[self.row])
        room = 72 * 0.85 * inches(self.figure_)[0]
        ax.set_xlabel(
            in_lines(f"from {data.base_values:.3g} (expected) to {output:.3g}", room, small_size()),
            fontsize="small",
        )
        put_title(ax, f"{_output_name(data)}: {output:.4g}")
        return self._finish()

    def _label(self, feature: int) -> str:
        return f"{plain(self.data.names[feature])} = {_shown(self.data.data[self.row, feature])}"

    def _write_steps(self, steps: Floats, starts: Floats, ends: Floats) -> None:
        """Signed numbers at the bars."""
        low, high = float(min(starts.min(), ends.min())), float(max(starts.max(), ends.max()))
        width = max(high - low, 1e-12)
        self.ax_.set_xlim(low - 0.18 * width, high + 0.18 * width)
        for k, (step, end) in enumerate(zip(steps, ends, strict=True)):
            side = 1 if step >= 0 else -1
            self.ax_.annotate(
                f"{step:+.2g}", (end, k), xytext=(3 * side, 0), textcoords="offset points",
                va="center", ha="left" if step >= 0 else "right", fontsize="x-small", color=INK,
            )  # fmt: skip


class ShapBeeswarmDisplay(Display):
    """The values of many rows: a point for each row, a line of points for each feature.

    Parameters
    ----------
    data : ShapleyValues
        Values from :func:`shap_values`, without interactions.
    name : object, optional
        The class whose output is drawn; by default the last.

    Attributes
    ----------
    <axes>
    order_ : ndarray of int
        The features shown, from top to bottom: the largest mean absolute value first.
    points_ : list of PathCollection
        The points of each.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_breast_cancer
    >>> from orfeon import GradientBoostingClassifier
    >>> from orfeon.inspection import ShapBeeswarmDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = GradientBoostingClassifier(random_state=0).fit(X, y)
    >>> display = ShapBeeswarmDisplay.from_estimator(model, X, n_shown=8)
    >>> [X.columns[j] for j in display.order_[:2]]
    ['worst perimeter', 'worst concave points']
    >>> matplotlib.pyplot.close(display.figure_)
    """

    order_: Integers
    points_: list[Any]

    def __init__(self, data: ShapleyValues, name: Any = None) -> None:
        self.data = _of_one_output(data, name, None)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        name: Any = None,
        background: Any = None,
        output: Output = "auto",
        n_shown: int = 12,
        ax: Any = None,
    ) -> Self:
        """Explain the rows of X, and draw them.

        Parameters
        ----------
        model, X, background, output
            As for :func:`shap_values`.
        name : object, optional
            The class whose output is drawn; by default the last.
        n_shown : int, default=12
            Maximum number of features to show; fewer if their names have no room.
        <ax>
        """
        data = shap_values(model, X, background=background, output=output)
        return cls(data, name).plot(ax, n_shown=n_shown)

    def plot(self, ax: Any = None, *, n_shown: int = 12) -> Self:
        """Draw the picture.

        Parameters
        ----------
        n_shown : int, default=12
            Maximum number of features to show; fewer if their names have no room.
        <ax>
        """
        check_positive("n_shown", n_shown)
        data = self.data
        n = min(n_shown, len(data.names))
        ax = self._begin(ax, (_WIDTH, _ROW * n + _ELSE))
        n = fitting_rows(ax, n, _ELSE)
        size = np.abs(data.values).mean(axis=0)
        self.order_ = np.argsort(-size, kind="stable")[:n]
        ax.axvline(0.0, color=MUTED_INK, linewidth=0.8, zorder=1)
        low, high = float(data.values.min()), float(data.values.max())
        self.points_ = []
        mappable = None
        for k, j in enumerate(self.order_):
            values = data.values[:, j]
            ranks = shares_of_ranks(data.data[:, j])
            look: dict[str, Any] = {"color": EDGE}
            if ranks is not None:
                look = {"c": ranks, "cmap": _SCALE, "vmin": 0.0, "vmax": 1.0}
            drawn = ax.scatter(
                values, k + spread(values, low, high), s=7, linewidths=0, zorder=2, **look
            )
            mappable = drawn if ranks is not None else mappable
            self.points_.append(drawn)
        ax.set_yticks(np.arange(n), [plain(data.names[j]) for j in self.order_], fontsize="small")
        ax.set_ylim(n - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.tick_params(axis="x", labelsize="small")
        ax.grid(axis="y", color=FAINT, linewidth=0.5)
        ax.set_axisbelow(True)
        ax.spines[["top", "right", "left"]].set_visible(False)
        room = 72 * 0.7 * inches(self.figure_)[0]
        ax.set_xlabel(in_lines("Shapley value", room, small_size()), fontsize="small")
        if mappable is not None:
            bar = put_colour_bar(mappable, ax, "value of the feature")
            bar.set_ticks([0.0, 1.0], labels=["low", "high"])
        shown = f" ({n} of {len(data.names)} shown)" if n < len(data.names) else ""
        put_title(ax, f"What features add to the {_output_name(data)}{shown}")
        return self._finish()


def shares_of_ranks(column: npt.NDArray[Any]) -> Floats | None:
    """Place of each value among all, from 0 to 1; None for categories."""
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError):
        return None
    known = ~np.isnan(numbers)
    distinct, rank = np.unique(numbers[known], return_inverse=True)
    shares = np.full(len(numbers), np.nan)
    shares[known] = rank / max(len(distinct) - 1, 1)
    return shares


def spread(values: Floats, low: float, high: float) -> Floats:
    """Moves apart points that would lie on one another, the more of them the further."""
    width = max(high - low, 1e-12) / _BINS
    bins = np.floor((values - low) / width).astype(np.int64)
    _, bins, counts = np.unique(bins, return_inverse=True, return_counts=True)
    order = np.argsort(bins, kind="stable")
    begins = np.cumsum(counts) - counts
    place = np.empty(len(values))
    place[order] = np.arange(len(values)) - np.repeat(begins, counts)
    side = np.where(place % 2 == 0, 1.0, -1.0) * np.ceil(place / 2)
    return np.asarray(side * 2 * _SPREAD / max(int(counts.max()), 12))


class ShapDependenceDisplay(Display):
    """The Shapley values of one feature, over its values.

    Parameters
    ----------
    data : ShapleyValues
        Values from :func:`shap_values`, without interactions.
    feature : int or str
        The feature.
    name : object, optional
        The class whose output is drawn; by default the last.
    colour_by : int, str or None
        Another feature whose values colour the points.

    Attributes
    ----------
    <axes>
    points_ : PathCollection
        The points.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import RandomForestRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> from orfeon.inspection import ShapDependenceDisplay
    >>> X, y = make_friedman1(300, random_state=0)
    >>> forest = RandomForestRegressor(random_state=0).fit(X, y)
    >>> display = ShapDependenceDisplay.from_estimator(forest, X, 3, colour_by=0)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('x3', 'Shapley value of x3')
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size = (4.8, 3.6)

    points_: Any

    def __init__(
        self, data: ShapleyValues, feature: Any, *, name: Any = None, colour_by: Any = None
    ) -> None:
        from orfeon.inspection.partial_effects import positions_of

        self.data = _of_one_output(data, name, None)
        (self.feature,) = positions_of(feature, data.names)
        self.colour_by = None if colour_by is None else positions_of(colour_by, data.names)[0]

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        feature: Any,
        *,
        name: Any = None,
        colour_by: Any = None,
        background: Any = None,
        output: Output = "auto",
        ax: Any = None,
    ) -> Self:
        """Explain the rows of X, and draw the values of one feature.

        Parameters
        ----------
        model, X, background, output
            As for :func:`shap_values`.
        feature : int or str
            The feature.
        name : object, optional
            The class whose output is drawn; by default the last.
        colour_by : int or str, optional
            Another feature whose values colour the points.
        <ax>
        """
        data = shap_values(model, X, background=background, output=output)
        return cls(data, feature, name=name, colour_by=colour_by).plot(ax)

    def _draw(self) -> None:
        data, ax = self.data, self.ax_
        column, values = data.data[:, self.feature], data.values[:, self.feature]
        place, ticks = places_of(column)
        look: dict[str, Any] = {"color": _DOWN}
        other = self.colour_by
        ranks = None if other is None else shares_of_ranks(data.data[:, other])
        if ranks is not None:
            look = {"c": ranks, "cmap": _SCALE, "vmin": 0.0, "vmax": 1.0}
        ax.axhline(0.0, color=MUTED_INK, linewidth=0.8, zorder=1)
        self.points_ = ax.scatter(place, values, s=11, linewidths=0, alpha=0.85, zorder=2, **look)
        if ticks is not None:
            ax.set_xticks(np.arange(len(ticks)), ticks)
        ax.tick_params(labelsize="small")
        name = plain(data.names[self.feature])
        ax.set_xlabel(name, fontsize="small")
        ax.set_ylabel(f"Shapley value of {name}", fontsize="small")
        ax.spines[["top", "right"]].set_visible(False)
        if ranks is not None and other is not None:
            bar = put_colour_bar(self.points_, ax, plain(data.names[other]))
            bar.set_ticks([0.0, 1.0], labels=["low", "high"])
        put_title(ax, f"{name} in the {_output_name(data)}")


def places_of(column: npt.NDArray[Any]) -> tuple[Floats, list[str] | None]:
    """Where values lie along an axis, and the names of categories."""
    if shares_of_ranks(column) is not None:
        return column.astype(np.float64), None
    texts = np.array([_shown(value) for value in column.tolist()])
    names, place = np.unique(texts, return_inverse=True)
    return place.astype(np.float64), names.tolist()
