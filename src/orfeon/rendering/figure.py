"""Shared by all pictures: figures, looks of ensembles, titles, legends and layout.

matplotlib is imported here only, when something is drawn.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from orfeon.rendering.palette import INK, class_colours
from orfeon.rendering.texts import columns_of, in_lines, small_size

Scale = Literal["auto", "linear", "log"]

_BLUE, _ORANGE, _GREEN, _PURPLE, _SKY, _VERMILLION, _, _ = class_colours(8)
#: Titles and legends may reach a little beyond the axes on both sides.
_BEYOND = 1.15
#: Width of axes as a share of that of their part of a figure, before there is a layout.
_OF_FIGURE = 0.775
#: Points that the numbers and the label of the y-axis take.
_BESIDE = 45.0
#: Width of axes in points below which a title has small letters.
_NARROW = 250.0
#: Ensembles of this many members have a logarithmic axis: errors change most among the first.
_MANY = 300


# -- where to draw ---------------------------------------------------------------------------------


def axes_for(who: str, ax: Any, size: tuple[float, float]) -> Any:
    """The axes that are given, or those of a new figure."""
    if ax is None:
        return new_figure(who, size).add_subplot()
    if not hasattr(ax, "transAxes"):
        hint = "; pyplot.subplots gives several: choose one, such as ax[0]" * hasattr(ax, "shape")
        raise TypeError(f"ax is of type {type(ax).__name__}; matplotlib Axes are needed{hint}.")
    return ax


def new_figure(who: str, size: tuple[float, float]) -> Any:
    """A figure in which texts make room for themselves."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            f"{who} needs matplotlib, which the extra orfeon[plot] installs: "
            "pip install 'orfeon[plot]'."
        ) from error
    return pyplot.figure(figsize=size, layout="constrained")


def inches(figure: Any) -> tuple[float, float]:
    """Width and height of a figure, or of a part of one."""
    width, height = figure.bbox.size / figure.dpi
    return float(width), float(height)


def width_of(ax: Any) -> float:
    return float(ax.get_window_extent().width / ax.figure.dpi * 72.0)


def room_of(ax: Any, beside: float = _BESIDE) -> float:
    """Width that a text has whose middle is that of the axes."""
    return min(_BEYOND * width_of(ax), width_of(ax) / _OF_FIGURE - beside)


# -- how ensembles and curves look -----------------------------------------------------------------


class Look(NamedTuple):
    """Colour, marker and line style that distinguish a curve or cloud, also in black and white."""

    colour: str
    marker: str
    linestyle: Any


#: Looks of ensembles and curves, one after the other.
LOOKS = (
    Look(_BLUE, "o", "-"),
    Look(_VERMILLION, "s", "--"),
    Look(_GREEN, "^", "-."),
    Look(_PURPLE, "D", (0, (5, 1, 1, 1, 1, 1))),
    Look(_ORANGE, "v", (0, (1, 1))),
    Look(_SKY, "P", (0, (8, 2))),
    Look(INK, "X", (0, (3, 3))),
)


def look_of(number: int) -> Look:
    """The look of an ensemble, or of a curve: the same in all pictures."""
    n = len(LOOKS)
    shifted = LOOKS[(number + number // n) % n]
    return Look(LOOKS[number % n].colour, shifted.marker, shifted.linestyle)


def check_scale(scale: Any) -> None:
    """Reject an unknown scale of the axis of members."""
    if scale not in ("auto", "linear", "log"):
        raise ValueError(f'scale={scale!r} is not allowed; use "auto", "linear" or "log".')


def scale_members(ax: Any, n_members: int, scale: Scale = "linear") -> None:
    """Scale the axis of ensemble sizes, from 1 to all members."""
    if scale == "log" or (scale == "auto" and n_members >= _MANY):
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        # Minor ticks have numbers only if there is no power of ten but 1.
        ax.xaxis.set_minor_formatter("{x:g}" if n_members < 10 else "")
    else:
        ax.set_xscale("linear")
        ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlim(1, max(2, n_members))


# -- titles, legends and colour bars ---------------------------------------------------------------


def put_title(ax: Any, title: str, *, width: float | None = None) -> None:
    """Write a title, in several lines if the axes are narrow."""
    # By the part of the figure, whose width the layout does not change: panels have one size.
    is_wide = _OF_FIGURE * _part(ax)[0] >= _NARROW
    text = ax.set_title(title, fontsize="medium" if is_wide else "small")
    room = room_of(ax) if width is None else width
    text.set_text(in_lines(title, room, text.get_fontsize()))
    text.written = (title, text.get_text())  # its lines change where it finds no room


def put_legend(
    ax: Any,
    *,
    handles: Sequence[Any] | None = None,
    below: float = 32.0,
    width: float | None = None,
    **options: Any,
) -> Any:
    """Write the legend below the axes, in as many columns as there is room for."""
    from matplotlib.transforms import ScaledTranslation

    shown = list(ax.get_legend_handles_labels()[0] if handles is None else handles)
    room = room_of(ax) if width is None else width
    # In points, not as a share of the height of the axes, which the layout may change.
    lower = ScaledTranslation(0.0, -below / 72.0, ax.figure.dpi_scale_trans)
    look = {"handlelength": 2.6, "columnspacing": 1.2, "frameon": False, "fontsize": "small"}
    options = {
        **look, "loc": "upper center", "bbox_to_anchor": (0.5, 0.0),
        "bbox_transform": ax.transAxes + lower, **options,
    }  # fmt: skip
    n_columns = columns_of([handle.get_label() for handle in shown], room)
    legend = ax.legend(handles=shown, ncols=n_columns, **options)
    legend.written = (shown, options)  # how to write it again, where it finds no room
    return legend


def put_colour_bar(mappable: Any, ax: Any, text: str) -> Any:
    """Draw the scale of the colours beside the axes."""
    bar = ax.figure.colorbar(mappable, ax=ax, fraction=0.08, pad=0.03, aspect=22)
    height = float(ax.get_window_extent().height / ax.figure.dpi * 72.0)
    bar.set_label(in_lines(text, height, small_size()), fontsize="small")
    bar.ax.tick_params(labelsize="small")
    bar.outline.set_linewidth(0.5)
    return bar


# -- pictures in narrow columns -------------------------------------------------------------------

#: Sizes of letters that are tried one after the other, as shares of small ones.
_SHARES = (1.0, 0.9, 0.8, 0.7, 0.62)
#: Shares of their part of a figure that axes keep.
_WIDTH, _HEIGHT = 0.52, 0.36
#: Figures at least this wide and high, in inches, have room for all texts.
_AMPLE = (7.5, 5.0)
#: Points between the texts of the axes and the legend, and at the edges of the figure.
_GAP = 3.0
#: Points that a line of names takes.
_LINE = 9.0


def make_room(ax: Any) -> None:
    """Shrink and wrap texts until all are inside the figure and the axes keep their share of it."""
    figure = _root(ax)
    width, height = _part(ax)
    is_ample = width >= _AMPLE[0] * 72.0 and height >= _AMPLE[1] * 72.0
    if figure.get_layout_engine() is None or is_ample or ax.name == "3d":
        return
    for share in (None, *_SHARES):
        if share is not None:
            _shrink(ax, share * small_size(), width, height)
        _lay_out(figure)
        if share is not None:
            # The middle is known only after a layout.
            _move(ax)
            _lay_out(figure)
        if _fits(ax, width, height):
            break


def fitting_rows(ax: Any, n_rows: int, beside: float) -> int:
    """How many rows of names have room beside the axes."""
    return min(n_rows, max(3, int((_part(ax)[1] - 72.0 * beside) / _LINE)))


def _root(ax: Any) -> Any:
    return ax.get_figure(root=True)


def _part(ax: Any) -> tuple[float, float]:
    """Width and height, in points, of the part of the figure that the axes and their texts have."""
    box, spec = ax.figure.bbox, ax.get_subplotspec()
    width, height = box.width, box.height
    if spec is not None:
        n_rows, n_columns = spec.get_gridspec().get_geometry()
        width *= len(spec.colspan) / n_columns
        height *= len(spec.rowspan) / n_rows
    return float(width * 72.0 / ax.figure.dpi), float(height * 72.0 / ax.figure.dpi)


def _lay_out(figure: Any) -> None:
    with warnings.catch_warnings():
        # matplotlib warns that axes have no room, which is being mended.
        warnings.simplefilter("ignore", UserWarning)
        figure.draw_without_rendering()


def _fits(ax: Any, width: float, height: float) -> bool:
    scale = 72.0 / ax.figure.dpi
    its_width, its_height = ax.get_window_extent().size * scale
    if its_width < _WIDTH * width and ax.get_aspect() == "auto":
        return False
    if its_height < _HEIGHT * height:
        return False
    edge = ax.figure.bbox
    for text in filter(lambda one: one.get_text(), _texts(ax)):
        box = text.get_window_extent()
        if box.x0 < edge.x0 or box.x1 > edge.x1 or box.y0 < edge.y0 or box.y1 > edge.y1:
            return False
    legend = ax.get_legend() if ax.get_xlabel() else None
    return legend is None or not legend.get_window_extent().overlaps(
        ax.xaxis.label.get_window_extent()
    )


def _alike(ax: Any) -> list[Any]:
    """The axes and those of its colour bars, and those that share its place."""
    bars = [artist.colorbar.ax for artist in (*ax.collections, *ax.images) if artist.colorbar]
    return [*dict.fromkeys([ax, *ax.get_shared_x_axes().get_siblings(ax), *bars])]


def _texts(ax: Any) -> Iterator[Any]:
    for one in _alike(ax):
        yield from (one.title, one.xaxis.label, one.yaxis.label)
        legend = one.get_legend()
        if legend is not None:
            yield from legend.get_texts()


def _shrink(ax: Any, size: float, width: float, height: float) -> None:
    """Write all texts again, smaller and in lines that fit."""
    most = min(size / small_size() * 1.1, 1.0) * small_size()
    for one in _alike(ax):
        for axis, length in ((one.xaxis, width), (one.yaxis, 0.8 * height)):
            label = axis.label
            label.set_fontsize(min(label.get_fontsize(), most))
            _write(label, length - 2 * _GAP)
            for text in axis.get_ticklabels():
                if text.get_fontsize() > most:
                    axis.set_tick_params(labelsize=most)
                    break
    title = ax.title
    title.set_fontsize(min(title.get_fontsize(), most))
    _write(title, 0.97 * width)
    for text in ax.texts:
        text.set_fontsize(min(text.get_fontsize(), most))
    legend = ax.get_legend()
    if legend is not None and hasattr(legend, "written"):
        handles, options = legend.written
        labels = [handle.get_label() for handle in handles]
        room = (width - 2 * _GAP) * small_size() / size
        look = {"columnspacing": 1.0, "labelspacing": 0.25, "borderpad": 0.1, "borderaxespad": 0.0}
        short = {"handlelength": min(options.get("handlelength", 2.0), 2.0), "handletextpad": 0.5}
        made = ax.legend(
            handles=handles,
            **{**options, **look, **short, "fontsize": size, "ncols": columns_of(labels, room)},
        )
        made.written = legend.written


def _write(text: Any, length: float) -> None:
    """Write a text in lines, which are made of its own ones."""
    whole, shown = getattr(text, "written", ("", ""))
    if shown != text.get_text():
        whole = text.get_text()
    text.set_text(in_lines(whole, length, text.get_fontsize()))
    text.written = (whole, text.get_text())


def _move(ax: Any) -> None:
    """Put the middle of wide texts where it has most room, and the legend below the labels."""
    scale, place, figure = 72.0 / ax.figure.dpi, ax.get_window_extent(), ax.figure.bbox
    middle = (0.5 * (figure.x0 + figure.x1) - place.x0) / place.width
    spec = ax.get_subplotspec()
    if spec is not None and spec.get_gridspec().get_geometry()[1] > 1:
        middle = 0.5
    title = ax.title
    title.set_x(middle if title.get_window_extent().width > place.width else 0.5)
    label = ax.xaxis.label
    label.set_x(middle if label.get_window_extent().width > place.width else 0.5)
    side = ax.yaxis.label
    if side.get_ha() == "center":  # and is not put at an end of the axis
        height = (0.5 * (figure.y0 + figure.y1) - place.y0) / place.height
        side.set_y(height if side.get_window_extent().height > place.height else 0.5)
    legend = ax.get_legend()
    if legend is not None and hasattr(legend, "written"):
        from matplotlib.transforms import ScaledTranslation

        lowest = ax.xaxis.get_tightbbox()
        below = _GAP + (0.0 if lowest is None else (place.y0 - lowest.y0) * scale)
        lower = ScaledTranslation(0.0, -below / 72.0, ax.figure.dpi_scale_trans)
        wide = legend.get_window_extent().width > place.width
        legend.set_bbox_to_anchor((middle if wide else 0.5, 0.0), ax.transAxes + lower)
