"""How the ground of maps is drawn, and the borders in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.inspection.maps import ClassificationMap, MarginMap, classification_map
from orfeon.rendering.palette import INK, MUTED_INK, class_colours, mixed
from orfeon.utils.types import Integers

#: How much of its colour the ground of a class has, under samples and without them.
GROUND, STRONG_GROUND = 0.42, 0.8
#: Markers of the classes.
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
#: The same at margins of 0 and of 1, where there are more classes than two.
_LEAST, _MOST = 0.06, 0.9
#: Dashes of the true border.
TRUE = (0, (3.5, 2.0))
#: Lines and points beyond which a vector picture has them as pixels.
TOO_MANY = 3000


def extent_of(data: ClassificationMap) -> tuple[float, float, float, float]:
    """The edges of a map, whose points are in the middle of their pixels."""
    ends = []
    for at in (data.x, data.y):
        half = 0.5 * (at[1] - at[0]) if len(at) > 1 else 0.5
        ends += [float(at[0] - half), float(at[-1] + half)]
    return ends[0], ends[1], ends[2], ends[3]


def darker(colour: str) -> str:
    """The colour of points, which stand out from the ground of their class."""
    return mixed(colour, "#000000", 0.8)


def draw_classes(ax: Any, data: ClassificationMap, strength: float = GROUND) -> Any:
    """Draw the ground in the colours of the classes."""
    from matplotlib.colors import ListedColormap

    n_classes = len(data.classes)
    colours = [mixed(c, "#FFFFFF", strength) for c in class_colours(n_classes)]
    return ax.imshow(
        data.codes, origin="lower", extent=extent_of(data), aspect="auto", interpolation="nearest",
        cmap=ListedColormap(colours), vmin=-0.5, vmax=n_classes - 0.5, zorder=0,
    )  # fmt: skip


def margin_scale(data: MarginMap) -> Any:
    """The colours of margins."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    if len(data.classes) == 2:
        first, second = class_colours(2)
        colours, lowest = [second, "#FFFFFF", first], -1.0
    else:
        strengths = (_LEAST, _MOST)
        colours = [mixed(MUTED_INK, "#FFFFFF", s) for s in strengths]
        lowest = 0.0
    cmap = LinearSegmentedColormap.from_list("margins", colours)
    return ScalarMappable(Normalize(lowest, 1.0), cmap)


def draw_margins(ax: Any, data: MarginMap) -> Any:
    """Draw the ground in the colours of the margins."""
    where: dict[str, Any] = {
        "origin": "lower", "extent": extent_of(data), "aspect": "auto",
        "interpolation": "nearest", "zorder": 0,
    }  # fmt: skip
    if len(data.classes) == 2:
        scale = margin_scale(data)
        return ax.imshow(data.margins, cmap=scale.cmap, norm=scale.norm, **where)
    from matplotlib.colors import to_rgb

    colours = np.array([to_rgb(c) for c in class_colours(len(data.classes))])
    strength = (_LEAST + (_MOST - _LEAST) * data.margins)[:, :, None]
    return ax.imshow(1.0 - strength * (1.0 - colours[data.codes]), **where)


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
    """The classes that something decides for at the points of a map."""
    if isinstance(true_classes, ClassificationMap):
        return true_classes
    box = ((data.x[0], data.x[-1]), (data.y[0], data.y[-1]))
    return classification_map(true_classes, box=box, grid_resolution=data.codes.shape[::-1])
