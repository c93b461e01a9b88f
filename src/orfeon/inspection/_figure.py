"""What all pictures share: where they are drawn, how ensembles look, titles and legends.

matplotlib is imported here only, when something is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from orfeon.inspection._texts import columns_of, in_lines, small_size
from orfeon.rendering.palette import INK, class_colours

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
    """The axes that are given, or those of a new figure.

    Parameters
    ----------
    who : str
        What is to be drawn, for the error where matplotlib is not there.
    ax : matplotlib Axes or None
        The axes, or None for a new figure.
    size : tuple of (float, float)
        Width and height of a new figure, in inches.

    Returns
    -------
    matplotlib Axes
        Where to draw.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon.inspection._figure import axes_for
    >>> ax = axes_for("A picture", None, (6.4, 4.0))
    >>> ax.figure.get_size_inches()
    array([6.4, 4. ])
    >>> axes_for("Another", ax, (1.0, 1.0)) is ax
    True
    >>> matplotlib.pyplot.close(ax.figure)
    """
    if ax is None:
        return new_figure(who, size).add_subplot()
    if not hasattr(ax, "transAxes"):
        hint = "; pyplot.subplots gives several: choose one, such as ax[0]" * hasattr(ax, "shape")
        raise TypeError(f"ax is of type {type(ax).__name__}; matplotlib Axes are needed{hint}.")
    return ax


def new_figure(who: str, size: tuple[float, float]) -> Any:
    """A figure in which texts make room for themselves.

    Parameters
    ----------
    who : str
        What is to be drawn, for the error where matplotlib is not there.
    size : tuple of (float, float)
        Width and height, in inches.

    Returns
    -------
    matplotlib Figure
        The figure, without axes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon.inspection._figure import new_figure
    >>> figure = new_figure("A picture", (6.4, 4.0))
    >>> figure.axes
    []
    >>> matplotlib.pyplot.close(figure)
    """
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            f"{who} needs matplotlib, which the extra orfeon[plot] installs: "
            "pip install 'orfeon[plot]'."
        ) from error
    return pyplot.figure(figsize=size, layout="constrained")


def inches(figure: Any) -> tuple[float, float]:
    """Width and height of a figure, or of a part of one.

    Parameters
    ----------
    figure : matplotlib Figure or SubFigure
        The figure.

    Returns
    -------
    tuple of (float, float)
        Inches.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from orfeon.inspection._figure import inches
    >>> inches(Figure(figsize=(5.0, 2.5)))
    (5.0, 2.5)
    """
    width, height = figure.bbox.size / figure.dpi
    return float(width), float(height)


def width_of(ax: Any) -> float:
    """Width of axes.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.

    Returns
    -------
    float
        In points; the layout, which is made when all is drawn, changes it a little.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from orfeon.inspection._figure import width_of
    >>> ax = Figure(figsize=(5.0, 2.5)).add_axes((0.1, 0.1, 0.8, 0.8))
    >>> round(width_of(ax))
    288
    """
    return float(ax.get_window_extent().width / ax.figure.dpi * 72.0)


def room_of(ax: Any, beside: float = _BESIDE) -> float:
    """Width that a text has whose middle is that of the axes.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.
    beside : float, default=45.0
        Points that numbers and names on the left of the axes take.

    Returns
    -------
    float
        In points.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from orfeon.inspection._figure import room_of
    >>> ax = Figure(figsize=(5.0, 2.5)).add_subplot()
    >>> round(room_of(ax)), round(room_of(ax, beside=120.0))
    (315, 240)
    """
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
    """The look of an ensemble, or of a curve: the same in all pictures.

    Parameters
    ----------
    number : int
        How many there are before it.

    Returns
    -------
    Look
        Colour, marker and line style. After seven the colours come again, each with another marker
        and line style.

    Examples
    --------
    >>> from orfeon.inspection._figure import look_of
    >>> look_of(1)
    Look(colour='#D55E00', marker='s', linestyle='--')
    >>> look_of(8)
    Look(colour='#D55E00', marker='^', linestyle='-.')
    """
    n = len(LOOKS)
    shifted = LOOKS[(number + number // n) % n]
    return Look(LOOKS[number % n].colour, shifted.marker, shifted.linestyle)


def check_scale(scale: Any) -> None:
    """Refuse what is no scale of an axis of members.

    Parameters
    ----------
    scale : object
        What was given.

    Examples
    --------
    >>> from orfeon.inspection._figure import check_scale
    >>> check_scale("square")
    Traceback (most recent call last):
    ...
    ValueError: scale='square' is not allowed; use "auto", "linear" or "log".
    """
    if scale not in ("auto", "linear", "log"):
        raise ValueError(f'scale={scale!r} is not allowed; use "auto", "linear" or "log".')


def scale_members(ax: Any, n_members: int, scale: Scale = "linear") -> None:
    """Let the axis of the numbers of members go from 1 to all.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.
    n_members : int
        All members.
    scale : {"auto", "linear", "log"}, default="linear"
        How numbers are spread; "auto" is logarithmic from 300 members on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from orfeon.inspection._figure import scale_members
    >>> ax = Figure().add_subplot()
    >>> scale_members(ax, 1000, "auto")
    >>> ax.get_xscale(), ax.get_xlim() == (1, 1000)
    ('log', True)
    """
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
    """Write a title in as many lines as the width of the axes asks for.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.
    title : str
        What is seen; its own lines stay apart.
    width : float, optional
        Points that there are; by default a little more than the width of the axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from orfeon.inspection._figure import put_title
    >>> ax = Figure(figsize=(4.5, 2.5)).add_subplot()
    >>> put_title(ax, "The error of the first members is least with 41 of all 200 of them")
    >>> print(ax.get_title())
    The error of the first members is
    least with 41 of all 200 of them
    """
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
    """Write the legend below the axes, in as many columns as there is room for.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.
    handles : sequence of artists, optional
        What is in it, with labels; by default all that have one.
    below : float, default=32.0
        What the numbers and the label of the axes take, in points.
    width : float, optional
        Points that there are; by default a little more than the width of the axes.
    **options
        Such as ``title``.

    Returns
    -------
    matplotlib Legend
        The legend.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from orfeon.inspection._figure import put_legend
    >>> ax = Figure(figsize=(3.5, 2.5)).add_subplot()
    >>> lines = [ax.plot([1, 2], label=f"a name of some length, {k}")[0] for k in range(2)]
    >>> put_legend(ax)._ncols
    1
    """
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
    """Draw what the colours beside it stand for.

    Parameters
    ----------
    mappable : matplotlib ScalarMappable
        What has the colours.
    ax : matplotlib Axes
        The axes.
    text : str
        What they stand for.

    Returns
    -------
    matplotlib Colorbar
        The bar, with its text in as many lines as the height of the axes asks for.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from orfeon.inspection._figure import put_colour_bar
    >>> ax = Figure(figsize=(3.0, 2.0)).add_subplot()
    >>> bar = put_colour_bar(ax.imshow([[0, 1]]), ax, "share of the trees in one of the leaves")
    >>> print(bar.ax.get_ylabel())
    share of the trees
    in one of the leaves
    """
    bar = ax.figure.colorbar(mappable, ax=ax, fraction=0.08, pad=0.03, aspect=22)
    height = float(ax.get_window_extent().height / ax.figure.dpi * 72.0)
    bar.set_label(in_lines(text, height, small_size()), fontsize="small")
    bar.ax.tick_params(labelsize="small")
    bar.outline.set_linewidth(0.5)
    return bar
