"""Pictures of how the output depends on one or two features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from orfeon.inspection.display import check_positive
from orfeon.inspection.partial_effects import (
    AccumulatedEffects,
    PartialDependence,
    accumulated_effects,
    partial_dependence,
)
from orfeon.inspection.shapley_display import places_of
from orfeon.rendering.display import Display
from orfeon.rendering.figure import look_of, put_colour_bar, put_legend, put_title
from orfeon.rendering.palette import EDGE
from orfeon.rendering.texts import in_lines, plain, small_size

#: Rows whose curves are drawn, at most.
_MOST_CURVES = 50


def _outputs_shown(classes: npt.NDArray[Any] | None, n_outputs: int, name: Any) -> list[int]:
    """The outputs that are drawn: of two classes the last."""
    if classes is None or n_outputs == 1:
        return list(range(n_outputs))
    if name is not None:
        known = classes.tolist()
        if name not in known:
            raise ValueError(f"name={name!r} is not a class: the classes are {known}.")
        return [known.index(name)]
    return [1] if n_outputs == 2 else list(range(n_outputs))


def _output_name(data: Any, shown: list[int]) -> str:
    if data.classes is None or len(shown) > 1:
        return str(data.what)
    return f"{data.what}, class {plain(data.classes[shown[0]])}"


def _label_outputs(ax: Any, text: str) -> None:
    """Name the outputs, in as many lines as the height of the axes wants."""
    height = 72.0 * ax.get_window_extent().height / ax.figure.dpi
    ax.set_ylabel(in_lines(text, 0.8 * height, small_size()), fontsize="small")


class PartialDependenceDisplay(Display):
    """The mean output over the values of a feature, or over a map of two.

    Parameters
    ----------
    data : PartialDependence
        From :func:`partial_dependence`, of one or two features.
    name : object, optional
        The class to draw; by default all of three or more, and the last of two.

    Attributes
    ----------
    <axes>
    lines_ : list of Line2D
        The mean of each output; empty for two features.
    mesh_ : QuadMesh or None
        The map of two features.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import RandomForestRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> from orfeon.inspection import PartialDependenceDisplay
    >>> X, y = make_friedman1(300, random_state=0)
    >>> forest = RandomForestRegressor(random_state=0).fit(X, y)
    >>> display = PartialDependenceDisplay.from_estimator(forest, X, 3, kind="both")
    >>> len(display.lines_), display.ax_.get_xlabel()
    (1, 'x3')
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size = (4.8, 3.6)

    lines_: list[Any]
    mesh_: Any

    def __init__(self, data: PartialDependence, name: Any = None) -> None:
        if len(data.grid) > 2:
            raise ValueError(f"{len(data.grid)} features are not drawn together; give one or two.")
        self.data = data
        self.shown = _outputs_shown(data.classes, data.average.shape[-1], name)
        if len(data.grid) == 2:
            self.shown = self.shown[-1:]

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, features: Any, *, name: Any = None, ax: Any = None, **options: Any
    ) -> Self:
        """Compute the partial dependence of a model, and draw it.

        Parameters
        ----------
        model, X, features, **options
            As for :func:`partial_dependence`; ``kind="both"`` also draws curves of single rows.
        name : object, optional
            The class to draw; by default all of three or more, and the last of two.
        <ax>
        """
        return cls(partial_dependence(model, X, features, **options), name).plot(ax)

    def _draw(self) -> None:
        self.lines_, self.mesh_ = [], None
        if len(self.data.grid) == 2:
            self._draw_map()
        else:
            self._draw_curves()
        self.ax_.tick_params(labelsize="small")

    def _draw_curves(self) -> None:
        data, ax = self.data, self.ax_
        place, ticks = places_of(data.grid[0])
        for k, output in enumerate(self.shown):
            look = look_of(k)
            if data.individual is not None:
                some = np.linspace(0, len(data.individual) - 1, _MOST_CURVES).astype(int)
                rows = data.individual[np.unique(some)][..., output]
                ax.plot(place, rows.T, color=look.colour, alpha=0.15, linewidth=0.7)
            label = "" if data.classes is None else f"class {plain(data.classes[output])}"
            marker = "o" if ticks is not None else ""
            (line,) = ax.plot(
                place, data.average[:, output], color=look.colour, linewidth=2.0, label=label,
                marker=marker, linestyle="" if ticks is not None else look.linestyle,
            )  # fmt: skip
            self.lines_.append(line)
        if ticks is not None:
            ax.set_xticks(np.arange(len(ticks)), ticks)
        ax.set_xlabel(plain(data.names[0]), fontsize="small")
        _label_outputs(ax, _output_name(data, self.shown))
        ax.spines[["top", "right"]].set_visible(False)
        if len(self.shown) > 1:
            put_legend(ax)
        rows = "" if data.individual is None else ", and of single rows"
        put_title(ax, f"Mean output over {plain(data.names[0])}{rows}")

    def _draw_map(self) -> None:
        data, ax = self.data, self.ax_
        places = [places_of(one) for one in data.grid]
        values = data.average[:, :, self.shown[0]]
        (x, x_names), (y, y_names) = places
        self.mesh_ = ax.pcolormesh(x, y, values.T, cmap="cividis", shading="nearest")
        for names, set_ticks in ((x_names, ax.set_xticks), (y_names, ax.set_yticks)):
            if names is not None:
                set_ticks(np.arange(len(names)), names)
        ax.set_xlabel(plain(data.names[0]), fontsize="small")
        ax.set_ylabel(plain(data.names[1]), fontsize="small")
        put_colour_bar(self.mesh_, ax, _output_name(data, self.shown))
        put_title(ax, f"Mean output over {plain(data.names[0])} and {plain(data.names[1])}")


class AccumulatedEffectsDisplay(Display):
    """Accumulated local effects of a feature.

    Parameters
    ----------
    data : AccumulatedEffects
        From :func:`accumulated_effects`.
    name : object, optional
        The class to draw; by default all of three or more, and the last of two.

    Attributes
    ----------
    <axes>
    lines_ : list of Line2D
        The effect on each output.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import RandomForestRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> from orfeon.inspection import AccumulatedEffectsDisplay
    >>> X, y = make_friedman1(300, random_state=0)
    >>> forest = RandomForestRegressor(random_state=0).fit(X, y)
    >>> display = AccumulatedEffectsDisplay.from_estimator(forest, X, 3)
    >>> display.ax_.get_xlabel()
    'x3'
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size = (4.8, 3.6)

    lines_: list[Any]

    def __init__(self, data: AccumulatedEffects, name: Any = None) -> None:
        self.data = data
        self.shown = _outputs_shown(data.classes, data.effect.shape[-1], name)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        feature: Any,
        *,
        name: Any = None,
        n_intervals: int = 40,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compute the effects of a feature, and draw them.

        Parameters
        ----------
        model, X, feature, n_intervals, **options
            As for :func:`accumulated_effects`.
        name : object, optional
            The class to draw; by default all of three or more, and the last of two.
        <ax>
        """
        check_positive("n_intervals", n_intervals)
        data = accumulated_effects(model, X, feature, n_intervals=n_intervals, **options)
        return cls(data, name).plot(ax)

    def _draw(self) -> None:
        data, ax = self.data, self.ax_
        ax.axhline(0.0, color=EDGE, linewidth=0.8)
        self.lines_ = []
        for k, output in enumerate(self.shown):
            look = look_of(k)
            label = "" if data.classes is None else f"class {plain(data.classes[output])}"
            (line,) = ax.plot(
                data.edges, data.effect[:, output], color=look.colour, linewidth=2.0, label=label,
                linestyle=look.linestyle,
            )  # fmt: skip
            self.lines_.append(line)
        # Where the rows are.
        for edge in data.edges:
            ax.axvline(edge, ymax=0.025, color=EDGE, linewidth=0.8)
        ax.set_xlabel(plain(data.name), fontsize="small")
        _label_outputs(ax, f"effect on the {_output_name(data, self.shown)}")
        ax.tick_params(labelsize="small")
        ax.spines[["top", "right"]].set_visible(False)
        if len(self.shown) > 1:
            put_legend(ax)
        put_title(ax, f"Accumulated local effects of {plain(data.name)}")
