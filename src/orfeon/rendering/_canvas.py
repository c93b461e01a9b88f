"""The matplotlib side of :func:`orfeon.rendering.plot_tree`: sizes, shapes and texts.

The unit of the axes is a typographic point at full size. This is the only module of the package
that imports matplotlib at its top; it is itself imported when something is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.collections import PatchCollection, PathCollection
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.textpath import text_to_path

from orfeon.rendering.cards import Card
from orfeon.rendering.palette import EDGE, INK, MUTED_INK, TRACK

BOX_GAP, ROW_GAP = 14.0, 50.0
_BRANCH_RISE, _BRANCH_ROOM = 4.0, 16.0
_TITLE_SIZE, _DETAIL_SIZE, _BRANCH_SIZE, _LEGEND_SIZE = 10.0, 8.0, 9.0, 9.0
_PADDING_X, _PADDING_Y, _LINE_GAP, _BAR_HEIGHT, _ROUNDING = 9.0, 6.0, 3.0, 5.0, 4.0
_NARROWEST_BOX = 60.0
_MARGIN = 8.0
_POINTS_PER_INCH = 72.0
#: Beyond this many inches the figure stops growing and the texts shrink instead.
_LARGEST_FIGURE = 80.0
#: Smaller texts cannot be read, and font engines refuse the smallest.
_SMALLEST_TEXT = 0.5


class ScaledText(Text):
    """A text whose size is given in the units of its axes, so that it always fits its box."""

    def __init__(self, x: float, y: float, text: str, size: float, **style: Any) -> None:
        style = {"ha": "center", "va": "center_baseline", **style}
        super().__init__(x, y, text, fontsize=size, parse_math=False, usetex=False, **style)
        self._units = size

    def _rescale(self) -> bool:
        """Follow the axes' size; whether the text is large enough to draw."""
        axes = self.axes
        assert axes is not None
        (left, _), (right, _) = axes.transData.transform([(0.0, 0.0), (1.0, 0.0)])
        size = self._units * (right - left) * _POINTS_PER_INCH / axes.figure.dpi
        if abs(size - self.get_fontsize()) > 1e-3 * size and size >= _SMALLEST_TEXT:
            self.set_fontsize(size)
        return bool(size >= _SMALLEST_TEXT)

    def draw(self, renderer: Any) -> None:
        """Draw at the size that the axes have now."""
        if self._rescale():
            super().draw(renderer)

    def get_window_extent(self, renderer: Any = None, dpi: float | None = None) -> Any:
        """Measure the extent at the size that the axes have now."""
        self._rescale()
        return super().get_window_extent(renderer, dpi)


@dataclass(frozen=True)
class Size:
    """How much room a card takes; its slot is as wide as its box or its branch's text."""

    width: float
    height: float
    slot: float


@dataclass(frozen=True)
class Box:
    """A card in its place; upwards is positive."""

    card: Card
    x: float
    top: float
    size: Size
    parent: int

    @property
    def width(self) -> float:
        return self.size.width

    @property
    def height(self) -> float:
        return self.size.height

    @property
    def slot(self) -> float:
        """The width kept free for it."""
        return self.size.slot


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, weight: str = "normal") -> float:
    """Width of a text, whatever the backend."""
    font = FontProperties(size=size, weight=weight)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def measure(card: Card) -> Size:
    """Measure the room that a card needs."""
    width = max(
        _NARROWEST_BOX,
        text_width(card.title, _TITLE_SIZE, "bold") + 2 * _PADDING_X,
        text_width(card.detail, _DETAIL_SIZE) + 2 * _PADDING_X,
    )
    height = 2 * _PADDING_Y + _TITLE_SIZE + _LINE_GAP + 1 + _BAR_HEIGHT
    height += _DETAIL_SIZE + _LINE_GAP if card.detail else 0.0
    return Size(width, height, max(width, text_width(card.branch, _BRANCH_SIZE) + 8.0))


def prepare_axes(ax: Any, width: float, height: float) -> Any:
    """Axes of the drawing's units and shape, in a figure of its size unless they are given."""
    width, height = width + 2 * _MARGIN, height + 2 * _MARGIN
    if ax is None:
        inches = np.array([width, height]) / _POINTS_PER_INCH
        inches *= min(1.0, _LARGEST_FIGURE / inches.max())
        figure = pyplot.figure(figsize=tuple(np.maximum(inches, 0.5)))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_axis_off()
    ax.set_xlim(-_MARGIN, width - _MARGIN)
    ax.set_ylim(_MARGIN - height, _MARGIN)
    ax.set_aspect("equal", adjustable="box", anchor="C")
    ax.apply_aspect()  # so that texts have their size before the first drawing
    return ax


def draw_edges(ax: Any, boxes: list[Box]) -> None:
    """Curves from parents to children, wider where more samples go, and the branches' texts."""
    root_weight = boxes[0].card.node.weight or 0.0
    paths, widths = [], []
    for box in boxes:
        if box.parent < 0:
            continue
        above = boxes[box.parent]
        start, end = above.top - above.height, box.top + _BRANCH_ROOM
        low, high = start + 0.6 * (end - start), end - 0.7 * (end - start)
        bend = [(above.x, start), (above.x, low), (box.x, high), (box.x, end), (box.x, box.top)]
        paths.append(Path(bend, [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO]))
        share = (box.card.node.weight or 0.0) / root_weight if root_weight > 0 else 0.0
        widths.append(0.8 + 2.2 * min(share, 1.0))
    if paths:
        curves = PathCollection(
            paths, facecolors="none", edgecolors=EDGE, linewidths=widths, zorder=1
        )
        ax.add_collection(curves, autolim=False)
    for box in boxes:
        if box.card.branch:
            _draw_branch(ax, box)


def _draw_branch(ax: Any, box: Box) -> None:
    """Write the text of a branch on its edge just above the box."""
    y = box.top + _BRANCH_RISE + _BRANCH_SIZE / 2
    paper = {"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none"}
    text = ScaledText(box.x, y, box.card.branch, _BRANCH_SIZE, color=INK, bbox=paper, zorder=3)
    ax.add_artist(text)


def draw_boxes(ax: Any, boxes: list[Box]) -> None:
    """Draw the boxes with their texts and bars."""
    shapes: list[Any] = []
    colours: list[str] = []
    for box in boxes:
        card = box.card
        patch = FancyBboxPatch(
            (box.x - box.width / 2, box.top - box.height),
            box.width,
            box.height,
            boxstyle=f"round,pad=0,rounding_size={_ROUNDING}",
            facecolor=card.fill,
            edgecolor=card.border,
            linewidth=1.6 if card.kind == "leaf" else 1.0,
            linestyle="--" if card.kind == "cut" else "-",
            zorder=2,
        )
        patch.set_gid(f"node-{card.node.index}")
        ax.add_patch(patch)
        _draw_texts(ax, box)
        _bar(box, shapes, colours)
    if shapes:
        ax.add_collection(PatchCollection(shapes, facecolors=colours, linewidths=0, zorder=4))


def _draw_texts(ax: Any, box: Box) -> None:
    y = box.top - _PADDING_Y - _TITLE_SIZE / 2
    title = ScaledText(box.x, y, box.card.title, _TITLE_SIZE, weight="bold", color=INK, zorder=4)
    ax.add_artist(title)
    if box.card.detail:
        y -= _TITLE_SIZE / 2 + _LINE_GAP + _DETAIL_SIZE / 2
        detail = ScaledText(box.x, y, box.card.detail, _DETAIL_SIZE, color=MUTED_INK, zorder=4)
        ax.add_artist(detail)


def _bar(box: Box, shapes: list[Any], colours: list[str]) -> None:
    """Paint the shares of the classes, or the mean's place on a scale, at a box's foot."""
    left, width = box.x - box.width / 2 + _PADDING_X, box.width - 2 * _PADDING_X
    bottom = box.top - box.height + _PADDING_Y
    for share, colour in box.card.bar:
        shapes.append(Rectangle((left, bottom), share * width, _BAR_HEIGHT))
        colours.append(colour)
        left += share * width
    if box.card.mark is not None:
        middle = bottom + _BAR_HEIGHT / 2
        shapes.append(Rectangle((left, middle - 0.6), width, 1.2))
        shapes.append(Circle((left + box.card.mark * width, middle), _BAR_HEIGHT / 2))
        colours.extend([TRACK, INK])


@dataclass(frozen=True)
class Entry:
    """A class in the legend: its square begins at ``x``, its row's middle is ``y``."""

    name: str
    colour: str
    x: float
    y: float


def place_legend(
    classes: list[tuple[str, str]], width: float, height: float
) -> tuple[list[Entry], float, float]:
    """Place the legend below a drawing, in rows, and give the size of the whole."""
    rows: list[list[tuple[str, str, float]]] = [[]]
    used = 0.0
    for name, colour in classes:
        room = text_width(name, _LEGEND_SIZE) + _LEGEND_SIZE + 20.0
        if rows[-1] and used + room > max(width, 240.0):
            rows.append([])
            used = 0.0
        rows[-1].append((name, colour, room))
        used += room
    width = max([width, *(sum(room for _, _, room in row) for row in rows)])
    entries: list[Entry] = []
    for row in rows:
        if not row:
            continue
        height += 18.0 if entries else 22.0
        x = (width - sum(room for _, _, room in row) + 14.0) / 2
        for name, colour, room in row:
            entries.append(Entry(name, colour, x, -height + 6.0))
            x += room
    return entries, width, height


def draw_legend(ax: Any, entries: list[Entry]) -> None:
    """Draw the classes' colours and names."""
    side = _LEGEND_SIZE
    squares = [Rectangle((e.x, e.y - side / 2), side, side) for e in entries]
    if not squares:
        return
    colours = [e.colour for e in entries]
    ax.add_collection(PatchCollection(squares, facecolors=colours, linewidths=0, zorder=4))
    for e in entries:
        text = ScaledText(
            e.x + side + 4.0, e.y, e.name, _LEGEND_SIZE, ha="left", color=INK, zorder=4
        )
        ax.add_artist(text)
