"""Several maps side by side: models against data, or sizes of one ensemble against data.

References
----------
Martínez-Muñoz (2006). Clasificación mediante conjuntos. Universidad Autónoma de Madrid. Its cover.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from orfeon.inspection.display import check_choice
from orfeon.inspection.maps import (
    Box,
    ClassificationMap,
    MarginMap,
    Plane,
    classification_map,
    is_whole,
    margin_map,
)
from orfeon.inspection.maps_display import (
    STRONG_GROUND,
    TRUE,
    draw_border,
    draw_classes,
    draw_levels,
    draw_margins,
    draw_true_border,
    margin_scale,
    on_same_grid,
)
from orfeon.rendering.display import Display
from orfeon.rendering.figure import inches, new_figure
from orfeon.rendering.palette import INK, class_colours, mixed
from orfeon.rendering.texts import columns_of, fitting_size, in_lines, plain
from orfeon.utils.scikit_learn import _num_samples
from orfeon.utils.types import Floats

Kind = Literal["classes", "margins"]

#: Width in inches of a new figure, and what is beside the maps, and above and below them.
_WIDTH, _BESIDE, _ABOVE = 7.0, 0.35, 0.85
#: Width in inches of a scale, with its name.
_SCALE = 0.8
#: The largest map in inches.
_LARGEST = 2.4


@dataclass(frozen=True, eq=False)
class MapMosaic:
    """Maps in rows and columns, all on the same grid.

    Parameters
    ----------
    maps : tuple of tuples of ClassificationMap
        The rows of the mosaic; :class:`MarginMap` if margins are shown.
    row_names : tuple of str
        Names of the rows.
    column_names : tuple of str
        Names of the columns.
    true_classes : ClassificationMap, optional
        The true classes.

    See Also
    --------
    map_mosaic : Fits the models and makes the maps.
    MapMosaicDisplay : The picture.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.datasets import Diagonal
    >>> from orfeon.inspection import map_mosaic
    >>> data = {"few": Diagonal().sample(50, random_state=0)}
    >>> mosaic = map_mosaic({"tree": CARTClassifier()}, data, grid_resolution=5)
    >>> mosaic.row_names, mosaic.column_names, mosaic.maps[0][0].codes.shape
    (('few',), ('tree',), (5, 5))
    """

    maps: tuple[tuple[ClassificationMap, ...], ...]
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    true_classes: ClassificationMap | None = None

    def __post_init__(self) -> None:
        shape = (len(self.row_names), len(self.column_names))
        if not self.maps or {len(row) for row in self.maps} != {shape[1]}:
            raise ValueError(f"maps has rows of {[len(row) for row in self.maps]} maps; each needs "
                             f"one for each of the {shape[1]} column_names.")  # fmt: skip
        if len(self.maps) != shape[0]:
            raise ValueError(
                f"maps has {len(self.maps)} rows and row_names has {shape[0]} names; one for each "
                "row is expected."
            )

    @property
    def errors(self) -> Floats:
        """Share of wrong points of each map; NaN if the true classes are unknown."""
        known = self.true_classes
        return np.array([
            [np.nan if known is None else one.disagreement(known) for one in row]
            for row in self.maps
        ])  # fmt: skip


def map_mosaic(
    models: Any,
    data: Mapping[str, tuple[Any, Any]] | Sequence[tuple[Any, Any]],
    *,
    n_members: Sequence[int] | None = None,
    kind: Kind = "classes",
    true_classes: Any = None,
    box: Box | None = None,
    grid_resolution: int | tuple[int, int] = 300,
    room: float = 0.05,
) -> MapMosaic:
    """Fit models to data sets of two features and map what they predict.

    Parameters
    ----------
    models : dict of str to classifier, or a classifier
        One column per model; clones are fitted. With ``n_members``, one ensemble.
    data : dict of str to (X, y), or list of (X, y)
        One row per data set; those of a list are named after their number of samples.
    n_members : list of int, optional
        One column per number of members. The ensemble is fitted once to each data set, with the
        largest number, and its first members make the smaller ones.
    kind : {"classes", "margins"}, default="classes"
        What is mapped.
    true_classes : object, optional
        What predicts the true classes, such as a problem of :mod:`orfeon.datasets`; anything that
        :func:`classification_map` takes.
    box, grid_resolution, room
        As in :func:`classification_map`; by default the box covers all the data.

    Returns
    -------
    MapMosaic
        The maps.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier
    >>> from orfeon.datasets import Circle
    >>> from orfeon.inspection import map_mosaic
    >>> models = {"tree": CARTClassifier(), "bag": BaggingClassifier(n_estimators=101)}
    >>> data = [Circle().sample(n, random_state=0) for n in (100, 1000)]
    >>> mosaic = map_mosaic(models, data, true_classes=Circle(), grid_resolution=100)
    >>> mosaic.row_names, mosaic.column_names
    (('100 samples', '1,000 samples'), ('tree', 'bag'))
    >>> mosaic.errors.shape, bool((mosaic.errors[1] < mosaic.errors[0]).all())
    ((2, 2), True)
    """
    check_choice("kind", kind, ("classes", "margins"))
    named = _named_data(data)
    estimators = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    if n_members is not None:
        _check_sizes(n_members, estimators)
    if box is None:
        box = _common_box([X for X, _ in named.values()], room)
    grid: dict[str, Any] = {"box": box, "grid_resolution": grid_resolution}
    make: Any = classification_map if kind == "classes" else margin_map
    rows = []
    for X, y in named.values():
        row: list[ClassificationMap] = []
        for model in estimators.values():
            if n_members is None:
                row.append(make(clone(model).fit(X, y), X, **grid))
            else:
                fitted = _with_members(model, max(n_members)).fit(X, y)
                row += [make(fitted, X, n_members=n, **grid) for n in n_members]
        rows.append(tuple(row))
    columns = list(estimators) if n_members is None else [_members(n) for n in n_members]
    known = None if true_classes is None else on_same_grid(true_classes, rows[0][0])
    return MapMosaic(tuple(rows), tuple(named), tuple(columns), known)


def _members(n: int) -> str:
    return "1 member" if n == 1 else f"{n:,} members"


def _named_data(data: Any) -> dict[str, tuple[Any, Any]]:
    if isinstance(data, Mapping):
        named = dict(data)
    else:
        named = {}
        for X, y in data:
            name = f"{_num_samples(X):,} samples"
            if name in named:
                raise ValueError(f"data has two sets of {name}; give a dict with their names.")
            named[name] = (X, y)
    if not named:
        raise ValueError("data is empty; give at least one pair (X, y).")
    return named


def _check_sizes(n_members: Any, estimators: Mapping[str, Any]) -> None:
    if len(estimators) != 1:
        raise ValueError(f"models has {len(estimators)} models; with n_members= give one ensemble.")
    sizes = list(n_members)
    if not sizes or not all(is_whole(n) and n >= 1 for n in sizes):
        raise ValueError(
            f"n_members={n_members!r} is not allowed: it must be a list of whole numbers from 1 on."
        )


def _with_members(model: Any, n_members: int) -> Any:
    parameter = getattr(model, "_size_parameter", "n_estimators")
    return clone(model).set_params(**{parameter: n_members})


def _common_box(tables: list[Any], room: float) -> Box:
    """The box that covers several sets of samples; None for a categorical feature."""
    planes = [Plane.over(None, X, None, 2, 0.0) for X in tables]
    box: list[tuple[float, float] | None] = []
    for j in range(2):
        if any(plane.schema.categories[j] is not None for plane in planes):
            box.append(None)
            continue
        low = min(float(plane.coordinates[j][0]) for plane in planes)
        high = max(float(plane.coordinates[j][-1]) for plane in planes)
        box.append((low - room * (high - low), high + room * (high - low)))
    return box[0], box[1]


class MapMosaicDisplay(Display):
    """Maps in rows and columns.

    Parameters
    ----------
    mosaic : MapMosaic
        Maps from :func:`map_mosaic`.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes of shape (n_rows, n_columns)
        The axes of the maps.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import ClassSwitchingClassifier
    >>> from orfeon.datasets import Diagonal
    >>> from orfeon.inspection import MapMosaicDisplay
    >>> data = [Diagonal().sample(n, random_state=0) for n in (30, 300)]
    >>> model = ClassSwitchingClassifier(random_state=0)
    >>> display = MapMosaicDisplay.from_estimator(
    ...     model, data, n_members=[1, 11, 101], true_classes=Diagonal()
    ... )
    >>> [ax.get_title() for ax in display.axes_[0]]
    ['1 member', '11 members', '101 members']
    >>> matplotlib.pyplot.close(display.figure_)
    """

    axes_: npt.NDArray[Any]
    _is_grey = False

    def __init__(self, mosaic: MapMosaic) -> None:
        self.mosaic = mosaic

    @classmethod
    def from_estimator(
        cls,
        models: Any,
        data: Mapping[str, tuple[Any, Any]] | Sequence[tuple[Any, Any]],
        *,
        figure: Any = None,
        **options: Any,
    ) -> Self:
        """Fit models to data sets of two features and draw what they predict.

        Parameters
        ----------
        models, data, **options
            As for :func:`map_mosaic`.
        figure : matplotlib Figure or SubFigure, optional
            Where to draw; a new figure by default.

        Returns
        -------
        MapMosaicDisplay
            The display, drawn.
        """
        return cls(map_mosaic(models, data, **options)).plot(figure)

    def plot(  # it has many axes, and needs a figure for them
        self,
        figure: Any = None,
        *,
        title: str | None = None,
        border: bool = False,
        errors: bool = True,
        legend: bool = True,
        levels: Sequence[float] = (),
        grey: bool = False,
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        figure : matplotlib Figure or SubFigure, optional
            Where to draw; a new figure by default.
        title : str, optional
            The title; by default it describes the maps. An empty one is left out.
        border : bool, default=False
            Whether to draw the border between classes, which hides small maps that change often.
        errors : bool, default=True
            Whether to write on each map how much of it is wrong, if the true classes are known.
        legend : bool, default=True
            Whether to draw the legend, or the scale of the margins.
        levels, grey
            For margins: level curves and shades of grey, as in :meth:`MarginMapDisplay.plot`.

        Returns
        -------
        MapMosaicDisplay
            The display, drawn.
        """
        self._is_grey = grey
        n_rows, n_columns = len(self.mosaic.row_names), len(self.mosaic.column_names)
        if figure is None:
            beside = _BESIDE + _SCALE * (legend and self._has_scale)
            side = min((_WIDTH - beside) / n_columns, _LARGEST)
            size = (side * n_columns + beside, side * n_rows + _ABOVE)
            figure = new_figure(type(self).__name__, size)
        self.figure_ = figure
        self.axes_ = figure.subplots(n_rows, n_columns, squeeze=False)
        for at, ax in np.ndenumerate(self.axes_):
            self._draw_map(ax, self.mosaic.maps[at[0]][at[1]], border, levels)
        self._name_maps()
        if errors and self.mosaic.true_classes is not None:
            self._write_errors()
        self._write_title(self._title() if title is None else title)
        if legend:
            self._draw_legend()
        return self

    def _draw_map(
        self, ax: Any, data: ClassificationMap, border: bool, levels: Sequence[float]
    ) -> None:
        if isinstance(data, MarginMap):
            draw_margins(ax, data, self._is_grey)
            draw_levels(ax, data, levels, linewidth=0.4)
        else:
            draw_classes(ax, data, STRONG_GROUND)
        if border:
            draw_border(ax, data, linewidth=0.5)
        if self.mosaic.true_classes is not None:
            draw_true_border(ax, self.mosaic.true_classes, linewidth=0.9)
        ax.set(xticks=[], yticks=[])
        ax.set_box_aspect(1)

    @property
    def _has_scale(self) -> bool:
        """Whether one scale explains the colours of all maps."""
        one = self.mosaic.maps[0][0]
        return isinstance(one, MarginMap) and (self._is_grey or len(one.classes) == 2)

    @property
    def _compared(self) -> str:
        """What the margins are of, in one map or another."""
        maps = (one for row in self.mosaic.maps for one in row)
        return " or ".join(sorted({one.of for one in maps if isinstance(one, MarginMap)})[::-1])

    @property
    def _side(self) -> float:
        """Approximate size of a map in inches."""
        width, height = inches(self.figure_)
        width -= _BESIDE + _SCALE * self._has_scale
        n_rows, n_columns = self.axes_.shape
        return float(min(width / n_columns, (height - _ABOVE) / n_rows))

    def _name_maps(self) -> None:
        columns, rows = self.mosaic.column_names, self.mosaic.row_names
        size = fitting_size(max(map(len, columns)), 0.88 * self._side)
        for ax, name in zip(self.axes_[0], columns, strict=True):
            ax.set_title(plain(in_lines(name, 72 * self._side, size)), fontsize=size, pad=4)
        size = fitting_size(max(map(len, rows)), 0.88 * self._side)
        for ax, name in zip(self.axes_[:, 0], rows, strict=True):
            ax.set_ylabel(plain(in_lines(name, 72 * self._side, size)), fontsize=size, labelpad=3)

    def _write_errors(self) -> None:
        size = 0.85 * fitting_size(14, self._side)
        for ax, error in zip(self.axes_.ravel(), self.mosaic.errors.ravel(), strict=True):
            ax.text(
                0.97, 0.03, f"{100 * error:.1f}%", transform=ax.transAxes, ha="right", va="bottom",
                fontsize=size, color=INK,
                bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none"},
            )  # fmt: skip

    def _write_title(self, title: str) -> None:
        width = inches(self.figure_)[0]
        size = 1.2 * fitting_size(len(title), 0.9 * width)
        self.figure_.suptitle(in_lines(title, 72 * 0.9 * width, size), fontsize=size)

    def _title(self) -> str:
        is_clear = isinstance(self.mosaic.maps[0][0], MarginMap)
        heading = (
            "How clearly each point is decided" if is_clear else "Class predicted at each point"
        )
        names = {one.model.split(",")[0] for row in self.mosaic.maps for one in row} - {""}
        return f"{heading} by {names.pop()}" if len(names) == 1 else heading

    def _draw_legend(self) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        one = self.mosaic.maps[0][0]
        names = [plain(label) for label in one.classes]
        colours = class_colours(len(names))
        entries: list[Any] = []
        if isinstance(one, MarginMap) and self._has_scale:
            pair = f"class {names[0]} minus class {names[1]}"
            pair = "first class minus second" if self._is_grey else pair
            self._draw_scale(one, f"{self._compared}: {pair}")
        else:
            entries = [
                Patch(color=mixed(colour, "#FFFFFF", STRONG_GROUND), label=f"class {name}")
                for colour, name in zip(colours, names, strict=True)
            ]
        if self.mosaic.true_classes is not None:
            entries.append(Line2D([], [], color=INK, linestyle=TRUE, label="true border"))
            entries.append(Patch(color="none", label="%: area that is wrong"))
        if entries:
            labels = [entry.get_label() for entry in entries]
            self.figure_.legend(
                handles=entries, loc="outside lower center", frameon=False, fontsize="small",
                ncols=columns_of(labels, 72 * inches(self.figure_)[0]), handletextpad=0.5,
                columnspacing=1.2,
            )  # fmt: skip

    def _draw_scale(self, one: MarginMap, text: str) -> None:
        bar = self.figure_.colorbar(
            margin_scale(one, self._is_grey), ax=self.axes_.ravel().tolist(), fraction=0.04,
            pad=0.02, aspect=30,
        )  # fmt: skip
        bar.set_label(text, fontsize=fitting_size(len(text), 0.8 * inches(self.figure_)[1]))
        bar.set_ticks([0.0, 0.5, 1.0] if self._is_grey else [-1.0, -0.5, 0.0, 0.5, 1.0])
        bar.ax.tick_params(labelsize="small")
        bar.outline.set_linewidth(0.5)
