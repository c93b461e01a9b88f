"""Pictures of what a classifier decides over a plane, and how clearly.

References
----------
Martínez-Muñoz (2006). Clasificación mediante conjuntos. Universidad Autónoma de Madrid. Figures 4.2
and 4.3.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils.validation import column_or_1d

from orfeon.base import class_codes
from orfeon.data.schema import Schema
from orfeon.data.training_set import check_length
from orfeon.inspection._fitting import make_room
from orfeon.inspection._map_drawing import (
    GROUND,
    MARKERS,
    TOO_MANY,
    TRUE,
    darker,
    draw_border,
    draw_classes,
    draw_margins,
    draw_true_border,
    margin_scale,
    on_same_grid,
)
from orfeon.inspection._plane import Box
from orfeon.inspection.maps import (
    ClassificationMap,
    MarginMap,
    Of,
    classification_map,
    margin_map,
)
from orfeon.rendering.figure import axes_for, put_colour_bar, put_legend, put_title
from orfeon.rendering.palette import INK, class_colours, mixed
from orfeon.rendering.texts import plain
from orfeon.utils.types import Floats, Integers

#: Width and height in inches of a new figure.
_SIZE = (4.8, 4.9)


class _MapDisplay:
    """A plane with its ground, borders and samples."""

    #: The title.
    _says: ClassVar[str]

    ax_: Any
    figure_: Any
    image_: Any
    border_: Any
    points_: list[Any]

    def __init__(
        self, data: ClassificationMap, X: Any = None, y: Any = None, *, true_classes: Any = None
    ) -> None:
        self.data = data
        self.true_classes: ClassificationMap | None = true_classes
        self.points, self.point_codes = _samples(data, X, y)

    def _draw(self, ax: Any, points: bool, border: bool, legend: bool) -> Self:
        self.ax_ = ax = axes_for(type(self).__name__, ax, _SIZE)
        self.figure_ = ax.figure
        self.image_ = self._draw_ground()
        self.border_ = draw_border(ax, self.data) if border else None
        if self.true_classes is not None:
            draw_true_border(ax, self.true_classes)
        self.points_ = self._draw_points() if points else []
        self._label_axes()
        put_title(ax, self._title())
        if legend:
            self._draw_legend(points)
            make_room(self.ax_)
        return self

    def _draw_ground(self) -> Any:
        return draw_classes(self.ax_, self.data)

    def _draw_points(self) -> list[Any]:
        drawn = []
        size = float(np.clip(4000.0 / max(len(self.points), 1), 3.0, 24.0))
        colours = class_colours(len(self.data.classes))
        look: dict[str, Any] = {"s": size, "linewidths": 0.5, "zorder": 3}
        look["edgecolors"] = "white" if size > 8 else "none"
        for code in np.unique(self.point_codes):
            of_class = self.points[self.point_codes == code]
            drawn.append(
                self.ax_.scatter(
                    *of_class.T, marker=MARKERS[code % len(MARKERS)], color=darker(colours[code]),
                    rasterized=len(self.points) > TOO_MANY, **look,
                )
            )  # fmt: skip
        return drawn

    def _label_axes(self) -> None:
        names, categories = self.data.names, self.data.categories
        self.ax_.set_xlabel(plain(names[0]))
        self.ax_.set_ylabel(plain(names[1]))
        if categories[0] is not None:
            self.ax_.set_xticks(self.data.x, [plain(c) for c in categories[0]])
        if categories[1] is not None:
            self.ax_.set_yticks(self.data.y, [plain(c) for c in categories[1]])

    def _draw_legend(self, points: bool) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        shown = set(self.point_codes.tolist()) if points else set()
        entries: list[Any] = []
        for code, colour in enumerate(class_colours(len(self.data.classes))):
            name = f"class {plain(self.data.classes[code])}"
            if code in shown:
                look: dict[str, Any] = {"markerfacecolor": darker(colour), "markersize": 7}
                look |= {"marker": MARKERS[code % len(MARKERS)], "markeredgecolor": "white"}
                entries.append(Line2D([], [], linestyle="", label=name, **look))
            else:
                entries.append(Patch(color=mixed(colour, "#FFFFFF", GROUND), label=name))
        if self.true_classes is not None:
            entries.append(Line2D([], [], color=INK, linestyle=TRUE, label="true border"))
        put_legend(self.ax_, handles=entries, handlelength=1.8)

    def _title(self) -> str:
        lines = [self._says]
        if self.data.model:
            lines.append(f"by {self.data.model}")
        if self.true_classes is not None:
            wrong = 100 * self.data.disagreement(self.true_classes)
            lines.append(f"{wrong:.1f}% of the area is wrong")
        return "\n".join(lines)


class ClassificationMapDisplay(_MapDisplay):
    """The class decided at each point of a plane, with the border between classes.

    Parameters
    ----------
    data : ClassificationMap
        What is drawn, see :func:`classification_map`.
    X : array or data frame of shape (n_rows, 2), optional
        Samples to draw.
    y : array of shape (n_rows,), optional
        Their classes.
    truth : ClassificationMap, optional
        The true classes on the same grid, whose border is drawn too.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    image_ : AxesImage
        The classes.
    border_ : LineCollection or None
        Where the class changes.
    points_ : list of PathCollection
        The samples, one for each class that has some.

    See Also
    --------
    MarginMapDisplay : How clearly the class is decided.
    MapMosaicDisplay : Several maps.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import BaggingClassifier
    >>> from orfeon.datasets import make_circle
    >>> from orfeon.inspection import ClassificationMapDisplay
    >>> X, y = make_circle(300, random_state=0)
    >>> bag = BaggingClassifier(n_estimators=101, random_state=0).fit(X, y)
    >>> display = ClassificationMapDisplay.from_estimator(bag, X, y)
    >>> print(display.ax_.get_title())
    Class decided at each point
    by BaggingClassifier, 101 members
    >>> len(display.points_)
    2
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _says = "Class decided at each point"

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        true_classes: Any = None,
        box: Box | None = None,
        grid_resolution: int | tuple[int, int] = 300,
        room: float = 0.05,
        n_members: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw what a fitted model decides.

        Parameters
        ----------
        model : classifier, ensemble, list of fitted classifiers, or function
            See :func:`classification_map`.
        X : array or data frame of shape (n_rows, 2), optional
            Samples, drawn if ``y`` is given.
        y : array of shape (n_rows,), optional
            Their classes.
        truth : object, optional
            What knows the true classes, such as a problem of :mod:`orfeon.datasets`: anything that
            ``model`` may be.
        box, grid_resolution, room, n_members
            As in :func:`classification_map`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ClassificationMapDisplay
            What was drawn.
        """
        data = classification_map(
            model, X, box=box, grid_resolution=grid_resolution, room=room, n_members=n_members
        )
        known = None if true_classes is None else on_same_grid(true_classes, data)
        return cls(data, *_both(X, y), true_classes=known).plot(ax)

    def plot(
        self, ax: Any = None, *, points: bool = True, border: bool = True, legend: bool = True
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        points, border, legend : bool, default=True
            Whether to draw the samples, the border between classes, and the legend.

        Returns
        -------
        ClassificationMapDisplay
            The display, with what was drawn.
        """
        return self._draw(ax, points, border, legend)


class MarginMapDisplay(_MapDisplay):
    """How clearly the class is decided at each point of a plane.

    With two classes the colour goes from that of the first, where all votes are for it, through
    white to that of the second. With more, each point has the colour of its class, the stronger the
    clearer the decision.

    Parameters
    ----------
    data : MarginMap
        What is drawn, see :func:`margin_map`.
    X : array or data frame of shape (n_rows, 2), optional
        Samples to draw.
    y : array of shape (n_rows,), optional
        Their classes.
    truth : ClassificationMap, optional
        The true classes on the same grid, whose border is drawn too.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    image_ : AxesImage
        The margins.
    colour_bar_ : Colorbar or None
        What the colours stand for.
    border_ : LineCollection or None
        Where the class changes.
    points_ : list of PathCollection
        The samples, one for each class that has some.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import BaggingClassifier
    >>> from orfeon.datasets import make_circle
    >>> from orfeon.inspection import MarginMapDisplay
    >>> X, y = make_circle(300, random_state=0)
    >>> bag = BaggingClassifier(n_estimators=101, random_state=0).fit(X, y)
    >>> display = MarginMapDisplay.from_estimator(bag, X, y)
    >>> display.colour_bar_.ax.get_ylabel()
    'votes: class 0 minus class 1'
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _says = "How clearly each point is decided"

    colour_bar_: Any

    def __init__(
        self, data: MarginMap, X: Any = None, y: Any = None, *, true_classes: Any = None
    ) -> None:
        super().__init__(data, X, y, true_classes=true_classes)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        of: Of = "auto",
        true_classes: Any = None,
        box: Box | None = None,
        grid_resolution: int | tuple[int, int] = 300,
        room: float = 0.05,
        n_members: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the margins of a fitted model.

        Parameters
        ----------
        model : classifier, ensemble, or list of fitted classifiers
            See :func:`margin_map`.
        X : array or data frame of shape (n_rows, 2), optional
            Samples, drawn if ``y`` is given.
        y : array of shape (n_rows,), optional
            Their classes.
        of : {"auto", "votes", "probabilities"}, default="auto"
            What is compared, see :func:`margin_map`.
        truth : object, optional
            What knows the true classes.
        box, grid_resolution, room, n_members
            As in :func:`classification_map`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        MarginMapDisplay
            What was drawn.
        """
        data = margin_map(
            model, X, box=box, grid_resolution=grid_resolution, room=room, n_members=n_members,
            of=of,
        )  # fmt: skip
        known = None if true_classes is None else on_same_grid(true_classes, data)
        return cls(data, *_both(X, y), true_classes=known).plot(ax)

    def plot(
        self,
        ax: Any = None,
        *,
        points: bool = False,
        border: bool = True,
        legend: bool = True,
        colour_bar: bool = True,
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        points : bool, default=False
            Whether to draw the samples, which hide some of the ground.
        border, legend, colour_bar : bool, default=True
            Whether to draw the border between classes, the legend, and what colours stand for.

        Returns
        -------
        MarginMapDisplay
            The display, with what was drawn.
        """
        self._draw(ax, points, border, legend)
        self.colour_bar_ = self._draw_colour_bar() if colour_bar else None
        make_room(self.ax_)
        return self

    def _draw_ground(self) -> Any:
        return draw_margins(self.ax_, cast(MarginMap, self.data))

    def _draw_colour_bar(self) -> Any:
        data = cast(MarginMap, self.data)
        if len(data.classes) != 2:
            text = f"{data.of}: first class minus second"
            return put_colour_bar(margin_scale(data), self.ax_, text)
        first, second = map(plain, data.classes)
        text = f"{data.of}: class {first} minus class {second}"
        bar = put_colour_bar(margin_scale(data), self.ax_, text)
        bar.set_ticks([-1.0, -0.5, 0.0, 0.5, 1.0])
        return bar


def _both(X: Any, y: Any) -> tuple[Any, Any]:
    """Samples, where their classes are known too."""
    return (None, None) if y is None else (X, y)


def _samples(data: ClassificationMap, X: Any, y: Any) -> tuple[Floats, Integers]:
    """Samples in the coordinates of a map, and their class codes."""
    if X is None or y is None:
        if X is not None or y is not None:
            missing = "X" if X is None else "y"
            raise ValueError(f"{missing} is missing: samples need features and classes.")
        return np.zeros((0, 2)), np.zeros(0, np.int64)
    points = Schema(data.categories).encode(X)
    labels = column_or_1d(y)
    check_length(labels, len(points))
    codes = class_codes(labels, data.classes)
    known = ~np.isnan(points).any(axis=1)
    return points[known], codes[known]
