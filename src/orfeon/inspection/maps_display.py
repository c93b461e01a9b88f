"""Pictures of what a classifier predicts over a plane, and how clearly.

References
----------
Martínez-Muñoz (2006). Clasificación mediante conjuntos. Universidad Autónoma de Madrid. Figures 4.2
and 4.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import column_or_1d

from orfeon.base import class_codes
from orfeon.data.schema import Schema
from orfeon.data.training_set import check_length
from orfeon.inspection.maps import (
    ClassificationMap,
    MarginMap,
    classification_map,
    margin_map,
)
from orfeon.rendering.display import Display
from orfeon.rendering.figure import put_colour_bar, put_legend, put_title
from orfeon.rendering.palette import INK, MUTED_INK, class_colours, mixed
from orfeon.rendering.texts import plain
from orfeon.utils.types import Floats, Integers


class _MapDisplay(Display):
    """A plane with its background, borders and samples."""

    _size = (4.8, 4.9)

    #: The first line of the title.
    _heading: ClassVar[str]
    #: Computes the map of a model.
    _map: ClassVar[Callable[..., ClassificationMap]]

    image_: Any
    border_: Any
    points_: list[Any]

    def __init__(
        self, data: ClassificationMap, X: Any = None, y: Any = None, *, true_classes: Any = None
    ) -> None:
        self.data = data
        self.true_classes: ClassificationMap | None = true_classes
        self.points, self.point_codes = _samples(data, X, y)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        true_classes: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a fitted model.

        Parameters
        ----------
        model, X
            As for :func:`classification_map`. The samples are drawn if ``y`` is given.
        y : array of shape (n_rows,), optional
            Their classes.
        true_classes : object, optional
            What predicts the true classes, such as a problem of :mod:`orfeon.datasets`, or anything
            that ``model`` may be.
        **options
            Options of the function that computes the map; the class names it.
        <ax>
        """
        data = cls._map(model, X, **options)
        known = None if true_classes is None else on_same_grid(true_classes, data)
        samples = (None, None) if y is None else (X, y)
        return cls(data, *samples, true_classes=known).plot(ax)

    def _draw_all(self, ax: Any, points: bool, border: bool, legend: bool) -> Self:
        ax = self._begin(ax)
        self.image_ = self._draw_ground()
        self.border_ = draw_border(ax, self.data) if border else None
        if self.true_classes is not None:
            draw_true_border(ax, self.true_classes)
        self.points_ = self._draw_points() if points else []
        self._label_axes()
        put_title(ax, self._title())
        if legend:
            self._draw_legend(points)
            self._finish()
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
        lines = [self._heading]
        if self.data.model:
            lines.append(f"by {self.data.model}")
        if self.true_classes is not None:
            wrong = 100 * self.data.disagreement(self.true_classes)
            lines.append(f"{wrong:.1f}% of the area is wrong")
        return "\n".join(lines)


class ClassificationMapDisplay(_MapDisplay):
    """The class predicted at each point of a plane, with the border between classes.

    Parameters
    ----------
    data : ClassificationMap
        Map from :func:`classification_map`.
    X : array or data frame of shape (n_rows, 2), optional
        Samples to draw.
    y : array of shape (n_rows,), optional
        Their classes.
    true_classes : ClassificationMap, optional
        The true classes on the same grid; their border is drawn too.

    Attributes
    ----------
    <axes>
    image_ : AxesImage
        The classes.
    border_ : LineCollection or None
        Where the class changes.
    points_ : list of PathCollection
        The samples of each class that has some.

    See Also
    --------
    MarginMapDisplay : How clearly the class is predicted.
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
    Class predicted at each point
    by BaggingClassifier, 101 members
    >>> len(display.points_)
    2
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _heading = "Class predicted at each point"
    _map = staticmethod(classification_map)

    def plot(
        self, ax: Any = None, *, points: bool = True, border: bool = True, legend: bool = True
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        points, border, legend : bool, default=True
            Whether to draw the samples, the border between classes, and the legend.
        <ax>
        """
        return self._draw_all(ax, points, border, legend)


class MarginMapDisplay(_MapDisplay):
    """How clearly the class is predicted at each point of a plane.

    With two classes the colour goes from that of the first, where all votes are for it, through
    white to that of the second. With more, each point has the colour of its class, stronger where
    the decision is clearer.

    Parameters
    ----------
    data : MarginMap
        Map from :func:`margin_map`.
    X : array or data frame of shape (n_rows, 2), optional
        Samples to draw.
    y : array of shape (n_rows,), optional
        Their classes.
    true_classes : ClassificationMap, optional
        The true classes on the same grid; their border is drawn too.

    Attributes
    ----------
    <axes>
    image_ : AxesImage
        The margins.
    colour_bar_ : Colorbar or None
        The scale of the colours.
    border_ : LineCollection or None
        Where the class changes.
    levels_ : QuadContourSet or None
        The level curves.
    points_ : list of PathCollection
        The samples of each class that has some.

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

    _heading = "How clearly each point is decided"
    _map = staticmethod(margin_map)

    colour_bar_: Any
    levels_: Any
    _is_grey = False

    def __init__(
        self, data: MarginMap, X: Any = None, y: Any = None, *, true_classes: Any = None
    ) -> None:
        super().__init__(data, X, y, true_classes=true_classes)

    def plot(
        self,
        ax: Any = None,
        *,
        points: bool = False,
        border: bool = True,
        legend: bool = True,
        colour_bar: bool = True,
        levels: Sequence[float] = (),
        grey: bool = False,
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        points : bool, default=False
            Whether to draw the samples, which hide some of the background.
        border, legend, colour_bar : bool, default=True
            Whether to draw the border between classes, the legend, and the scale of the colours.
        levels : sequence of float, default=()
            Margins between 0 and 1, of whichever class, along which to draw level curves.
        grey : bool, default=False
            Whether to draw the margin of the predicted class in grey, the darker the clearer.
        <ax>
        """
        self._is_grey = grey
        self._draw_all(ax, points, border, legend and not grey)
        self.levels_ = draw_levels(self.ax_, cast(MarginMap, self.data), levels)
        self.colour_bar_ = self._draw_colour_bar() if colour_bar else None
        return self._finish()

    def _draw_ground(self) -> Any:
        return draw_margins(self.ax_, cast(MarginMap, self.data), self._is_grey)

    def _draw_colour_bar(self) -> Any:
        data = cast(MarginMap, self.data)
        if self._is_grey or len(data.classes) != 2:
            text = f"{data.of}: first class minus second"
            return put_colour_bar(margin_scale(data, self._is_grey), self.ax_, text)
        first, second = map(plain, data.classes)
        text = f"{data.of}: class {first} minus class {second}"
        bar = put_colour_bar(margin_scale(data), self.ax_, text)
        bar.set_ticks([-1.0, -0.5, 0.0, 0.5, 1.0])
        return bar


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


#: Strength of the background of a class, under samples and without them.
GROUND, STRONG_GROUND = 0.42, 0.8
#: Markers of the classes.
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
#: The same at margins of 0 and of 1, with more than two classes.
_LEAST, _MOST = 0.06, 0.9
#: The grey of a margin of 1, light enough for lines in ink.
_DARKEST = "#6B6B6B"
#: Dashes of the true border.
TRUE = (0, (3.5, 2.0))
#: Lines and points beyond which they are rasterized.
TOO_MANY = 3000


def extent_of(data: ClassificationMap) -> tuple[float, float, float, float]:
    """The edges of a map, whose points are in the middle of their pixels."""
    ends = []
    for at in (data.x, data.y):
        half = 0.5 * (at[1] - at[0]) if len(at) > 1 else 0.5
        ends += [float(at[0] - half), float(at[-1] + half)]
    return ends[0], ends[1], ends[2], ends[3]


def darker(colour: str) -> str:
    """The colour of points, which stand out from the background of their class."""
    return mixed(colour, "#000000", 0.8)


def draw_classes(ax: Any, data: ClassificationMap, strength: float = GROUND) -> Any:
    from matplotlib.colors import ListedColormap

    n_classes = len(data.classes)
    colours = [mixed(c, "#FFFFFF", strength) for c in class_colours(n_classes)]
    return ax.imshow(
        data.codes, origin="lower", extent=extent_of(data), aspect="auto", interpolation="nearest",
        cmap=ListedColormap(colours), vmin=-0.5, vmax=n_classes - 0.5, zorder=0,
    )  # fmt: skip


def margin_scale(data: MarginMap, grey: bool = False) -> Any:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    if grey:
        colours, lowest = ["#FFFFFF", _DARKEST], 0.0
    elif len(data.classes) == 2:
        first, second = class_colours(2)
        colours, lowest = [second, "#FFFFFF", first], -1.0
    else:
        strengths = (_LEAST, _MOST)
        colours = [mixed(MUTED_INK, "#FFFFFF", s) for s in strengths]
        lowest = 0.0
    cmap = LinearSegmentedColormap.from_list("margins", colours)
    return ScalarMappable(Normalize(lowest, 1.0), cmap)


def draw_margins(ax: Any, data: MarginMap, grey: bool = False) -> Any:
    where: dict[str, Any] = {
        "origin": "lower", "extent": extent_of(data), "aspect": "auto",
        "interpolation": "nearest", "zorder": 0,
    }  # fmt: skip
    if grey or len(data.classes) == 2:
        scale = margin_scale(data, grey)
        shown = np.abs(data.margins) if grey else data.margins
        return ax.imshow(shown, cmap=scale.cmap, norm=scale.norm, **where)
    from matplotlib.colors import to_rgb

    colours = np.array([to_rgb(c) for c in class_colours(len(data.classes))])
    strength = (_LEAST + (_MOST - _LEAST) * data.margins)[:, :, None]
    return ax.imshow(1.0 - strength * (1.0 - colours[data.codes]), **where)


def draw_levels(ax: Any, data: MarginMap, levels: Sequence[float], linewidth: float = 0.6) -> Any:
    """Draw curves along which the predicted class leads by given margins."""
    wanted = np.unique(np.asarray(levels, dtype=np.float64))
    if not ((wanted > 0) & (wanted < 1)).all():
        raise ValueError(f"levels={levels!r} is not allowed: margins are between 0 and 1.")
    if not len(wanted) or min(data.margins.shape) < 2:
        return None
    clear = np.abs(data.margins)
    within = wanted[(wanted >= clear.min()) & (wanted <= clear.max())]
    if not len(within):
        return None  # the margin is the same everywhere
    return ax.contour(
        data.x, data.y, clear, within, colors=INK, linewidths=linewidth, alpha=0.8, zorder=1.5
    )


def draw_border(ax: Any, data: ClassificationMap, linewidth: float = 0.8) -> Any:
    """Draw the border between the classes, along the edges of the pixels."""
    from matplotlib.collections import LineCollection

    left, right, bottom, top = extent_of(data)
    n_rows, n_columns = data.codes.shape
    across = np.linspace(left, right, n_columns + 1)
    up = np.linspace(bottom, top, n_rows + 1)
    column, begin, end = _runs((data.codes[:, 1:] != data.codes[:, :-1]).T)
    at = across[column + 1]
    upright = np.column_stack([at, up[begin], at, up[end]])
    row, begin, end = _runs(data.codes[1:] != data.codes[:-1])
    at = up[row + 1]
    level = np.column_stack([across[begin], at, across[end], at])
    edges: Any = np.concatenate([upright, level]).reshape(-1, 2, 2)
    drawn = LineCollection(
        edges, colors=INK, linewidth=linewidth, capstyle="projecting", zorder=2,
        rasterized=len(edges) > TOO_MANY,
    )  # fmt: skip
    ax.add_collection(drawn, autolim=False)
    return drawn


def draw_true_border(ax: Any, true_classes: ClassificationMap, linewidth: float = 1.3) -> list[Any]:
    """Draw the border between the true classes, in dashes."""
    present = np.unique(true_classes.codes)
    some = present if len(present) > 2 else present[1:]  # one line between two
    return [
        ax.contour(
            true_classes.x, true_classes.y, (true_classes.codes == code).astype(float), [0.5],
            colors=INK, linestyles=[TRUE], linewidths=linewidth, zorder=2.5,
        )
        for code in some
    ]  # fmt: skip


def _runs(differ: npt.NDArray[np.bool_]) -> tuple[Integers, Integers, Integers]:
    """Runs of True in each line: its number, where it begins and where it has ended."""
    edges = np.diff(np.pad(differ.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    line, begin = np.nonzero(edges == 1)
    return line, begin, np.nonzero(edges == -1)[1]


def on_same_grid(true_classes: Any, data: ClassificationMap) -> ClassificationMap:
    """The classes that a model predicts at the points of a map."""
    if isinstance(true_classes, ClassificationMap):
        return true_classes
    box = ((data.x[0], data.x[-1]), (data.y[0], data.y[-1]))
    return classification_map(true_classes, box=box, grid_resolution=data.codes.shape[::-1])
