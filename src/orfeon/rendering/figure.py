"""What all pictures share: where they are drawn, how ensembles look, titles and legends.

matplotlib is imported here only, when something is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from orfeon.rendering.palette import INK, class_colours
from orfeon.rendering.texts import columns_of, in_lines, small_size

Scale = Literal["auto", "linear", "log"]

_BLUE, _ORANGE, _GREEN, _PURPLE, _SKY, _VERMILLION, _, _ = class_colours(8)
#: Titles and legends may reach a little beyond the axes on both sides.
_BEYOND = 1.15
#: Width of axes as a share of that of their part of a figure, before there is a layout.
_OF_FIGURE = 0.775
#: Points that numbers and name of the other axis take, from the middle of which texts stay away.
_BESIDE = 45.0
#: Width of axes in points below which a title has small letters.
_NARROW = 250.0
#: Ensembles of as many members have a logarithmic axis: what happens, happens among the first.
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
    """Width of axes."""
    return float(ax.get_window_extent().width / ax.figure.dpi * 72.0)


def room_of(ax: Any, beside: float = _BESIDE) -> float:
    """Width that a text has whose middle is that of the axes."""
    return min(_BEYOND * width_of(ax), width_of(ax) / _OF_FIGURE - beside)


# -- how ensembles and curves look -----------------------------------------------------------------


class Look(NamedTuple):
    """How a curve or a cloud is told from others, with and without colours."""

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
    """Refuse what is no scale of an axis of members."""
    if scale not in ("auto", "linear", "log"):
        raise ValueError(f'scale={scale!r} is not allowed; use "auto", "linear" or "log".')


def scale_members(ax: Any, n_members: int, scale: Scale = "linear") -> None:
    """Let the axis of the numbers of members go from 1 to all."""
    if scale == "log" or (scale == "auto" and n_members >= _MANY):
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        # Between powers of ten there are numbers only where there is no other.
        ax.xaxis.set_minor_formatter("{x:g}" if n_members < 10 else "")
    else:
        ax.set_xscale("linear")
        ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlim(1, max(2, n_members))


# -- titles, legends and colour bars ---------------------------------------------------------------


def put_title(ax: Any, title: str, *, width: float | None = None) -> None:
    """Write a title in as many lines as the width of the axes asks for."""
    text = ax.set_title(title, fontsize="medium" if width_of(ax) >= _NARROW else "small")
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
    # A distance, and no share of the height of the axes, which the layout may change.
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
    """Draw what the colours beside it stand for."""
    bar = ax.figure.colorbar(mappable, ax=ax, fraction=0.08, pad=0.03, aspect=22)
    height = float(ax.get_window_extent().height / ax.figure.dpi * 72.0)
    bar.set_label(in_lines(text, height, small_size()), fontsize="small")
    bar.ax.tick_params(labelsize="small")
    bar.outline.set_linewidth(0.5)
    return bar
