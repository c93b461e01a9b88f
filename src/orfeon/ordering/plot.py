"""Error against the number of members: how a curve is drawn, and the picture of an order."""

from __future__ import annotations

import math
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.rendering.palette import INK, MUTED_INK, class_colours

if TYPE_CHECKING:
    from orfeon.ordering.ordered import Keep, Order

Floats = npt.NDArray[np.float64]

_BLUE, _ORANGE, _GREEN, _PURPLE, _SKY, _VERMILLION, _, _ = class_colours(8)
#: Width and height in inches of a new figure.
_SIZE = (6.0, 4.0)
#: Width of a letter as a share of its height, a little more than in most words.
_LETTER = 0.55
#: Height of the letters of a legend, in points.
_SMALL = 8.5
#: One member in so many is among the first, whose errors are cut off.
_FIRST = 20
#: How curves are known among others on the same axes.
_CURVE = "error curve"


class Look(NamedTuple):
    """How a curve is told from others, with and without colours."""

    colour: str
    marker: str
    linestyle: Any


#: Looks of curves, one after the other.
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
    """The look of a curve.

    Parameters
    ----------
    number : int
        How many curves there are before it.

    Returns
    -------
    Look
        Colour, marker and line style; after seven they come again.

    Examples
    --------
    >>> from orfeon.ordering.plot import look_of
    >>> look_of(1)
    Look(colour='#D55E00', marker='s', linestyle='--')
    """
    return LOOKS[number % len(LOOKS)]


def draw_error_curve(
    ax: Any,
    errors: Floats,
    label: str,
    *,
    spread: Floats | None = None,
    mark: int | None = None,
    note: str | None = None,
    whole: str | None = None,
    **style: Any,
) -> Any:
    """Draw the error of the first 1, 2, ... members.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw.
    errors : ndarray of shape (n_members,)
        Errors, in the units of the axis; NaN where there is none.
    label : str
        Name of the curve.
    spread : ndarray of shape (n_members,), optional
        Half the height of a faint band about the curve.
    mark : int, optional
        A size to be marked.
    note : str, optional
        What is written beside it.
    whole : str, optional
        Name of the dotted line at the error of all members; none is drawn by default, and none
        twice.
    **style
        Properties of the line; by default it looks different from the curves that are there.

    Returns
    -------
    matplotlib Line2D
        The curve.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from orfeon.ordering.plot import draw_error_curve
    >>> ax = Figure().add_subplot()
    >>> curve = draw_error_curve(ax, np.array([30.0, 20.0, 25.0]), "votes", mark=2, whole="all 3")
    >>> [line.get_label() for line in ax.lines], ax.lines[2].get_xydata().tolist()
    (['votes', 'all 3', '_mark of votes'], [[2.0, 20.0]])
    """
    look = look_of(sum(line.get_gid() == _CURVE for line in ax.lines))
    style = {"color": look.colour, "linestyle": look.linestyle, "linewidth": 1.5, **style}
    sizes = np.arange(1, len(errors) + 1)
    (line,) = ax.plot(sizes, errors, label=label, gid=_CURVE, **style)
    if spread is not None:
        ax.fill_between(
            sizes, errors - spread, errors + spread, color=line.get_color(), alpha=0.15,
            linewidth=0,
        )  # fmt: skip
    if whole is not None and whole not in ax.get_legend_handles_labels()[1]:
        ax.axhline(errors[-1], color=MUTED_INK, linestyle=":", linewidth=1.1, label=whole)
    if mark is not None:
        _mark(ax, mark, float(errors[mark - 1]), len(errors), note, line)
    return line


def _mark(ax: Any, size: int, error: float, n_members: int, note: str | None, line: Any) -> None:
    """A ring about a point of the curve, and a note on the side that has more room."""
    ax.plot(
        [size], [error], "o", color=line.get_color(), markersize=7, markerfacecolor="white",
        markeredgewidth=1.6, zorder=3, clip_on=False, label=f"_mark of {line.get_label()}",
    )  # fmt: skip
    if note is not None:
        is_left = size <= 0.6 * n_members
        ax.annotate(
            note, (size, error), xytext=(7 if is_left else -7, -4), textcoords="offset points",
            ha="left" if is_left else "right", va="top", fontsize="small", color=line.get_color(),
        )  # fmt: skip


def show_sizes(ax: Any) -> None:
    """Let the axis of sizes begin at 1 and end with the longest curve; cut off the first errors.

    Errors of the very first members are so large that the rest could not be told apart: the axis of
    errors is made for the curves from a twentieth of the members on.

    Parameters
    ----------
    ax : matplotlib Axes
        With error curves.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from orfeon.ordering.plot import draw_error_curve, show_sizes
    >>> ax = Figure().add_subplot()
    >>> curves = [draw_error_curve(ax, np.ones(n), f"{n} members") for n in (40, 50, 30)]
    >>> show_sizes(ax)
    >>> ax.get_xlim() == (1, 50)
    True
    """
    curves = [np.asarray(line.get_ydata()) for line in ax.lines if line.get_gid() == _CURVE]
    ax.set_xlim(1, max(2, *(len(curve) for curve in curves)))
    low, high = np.inf, -np.inf
    for curve in curves:
        later = curve[len(curve) // _FIRST :]
        low, high = min(low, np.nanmin(curve)), max(high, np.nanmax(later))
    room = 0.12 * (high - low) or 0.05 * abs(high) or 1.0
    # Room for a note below the lowest point; errors are not negative, so not much of it below 0.
    ax.set_ylim(max(low - room, -0.8 * room), high + 1.5 * room)
    ax.xaxis.get_major_locator().set_params(integer=True)


def put_title(ax: Any, title: str) -> None:
    """Write a title in as many lines as the width of the axes asks for.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.
    title : str
        What is seen.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from orfeon.ordering.plot import put_title
    >>> ax = Figure(figsize=(3.5, 2.5)).add_subplot()
    >>> put_title(ax, "The error of the first members is least with 41 of all 200 of them")
    >>> print(ax.get_title())
    The error of the first members is
    least with 41 of all 200 of them
    """
    text = ax.set_title(title, fontsize="medium")
    # Titles may reach a little beyond the axes on both sides.
    n_letters = int(1.15 * width_of(ax) / (_LETTER * text.get_fontsize()))
    n_letters = max(n_letters, 10)
    n_lines = len(wrap(title, n_letters))
    # The narrowest lines of as many, lest a word be alone in the last.
    fits = (n for n in range(10, n_letters) if len(wrap(title, n)) == n_lines)
    text.set_text(fill(title, next(fits, n_letters)))


def put_legend(ax: Any, *, below: float = 32.0, **options: Any) -> Any:
    """Write the legend below the axes, in as many columns as there is room for.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.
    below : float, default=32.0
        What the numbers and the label of the axes take, in points.
    **options
        Such as ``handles``.

    Returns
    -------
    matplotlib Legend
        The legend.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from orfeon.ordering.plot import put_legend
    >>> ax = Figure(figsize=(3.5, 2.5)).add_subplot()
    >>> lines = [ax.plot([1, 2], label=f"a name of some length, {k}")[0] for k in range(2)]
    >>> put_legend(ax)._ncols
    1
    """
    from matplotlib.transforms import ScaledTranslation

    handles = options.pop("handles", None)
    if handles is None:
        handles = ax.get_legend_handles_labels()[0]
    longest = max((len(handle.get_label()) for handle in handles), default=1)
    # Besides its letters, an entry has a line and gaps, which take as much as seven of them.
    n_columns = int(1.15 * width_of(ax) / ((longest + 7) * _LETTER * _SMALL))
    n_columns = max(1, min(n_columns, len(handles)))
    # Rows of equal length look better than a full one and a rest.
    n_columns = math.ceil(len(handles) / math.ceil(len(handles) / n_columns)) if handles else 1
    # A distance, and no share of the height of the axes, which the layout may change.
    lower = ScaledTranslation(0.0, -below / 72.0, ax.figure.dpi_scale_trans)
    return ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=n_columns,
        bbox_transform=ax.transAxes + lower, frameon=False, fontsize="small", handlelength=2.6,
        columnspacing=1.2, **options,
    )  # fmt: skip


def width_of(ax: Any) -> float:
    """Width of axes.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.

    Returns
    -------
    float
        In points.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from orfeon.ordering.plot import width_of
    >>> ax = Figure(figsize=(5.0, 2.5)).add_axes((0.1, 0.1, 0.8, 0.8))
    >>> round(width_of(ax))
    288
    """
    return float(ax.get_window_extent().width / ax.figure.dpi * 72.0)


def plot_error_curve(order: Order, ax: Any, keep: Keep | None, label: str | None) -> Any:
    """Draw the error curve of an order, the size that is kept, and the error of all members.

    Parameters
    ----------
    order : Order
        The order.
    ax : matplotlib Axes or None
        Where to draw; a new figure for None.
    keep : float, int, "auto", "rule" or None
        The size to mark.
    label : str or None
        Name of the curve; that of the rule for None.

    Returns
    -------
    matplotlib Axes
        With the curve.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import order
    >>> ordered = order([[0, 1, 1], [0, 0, 1], [1, 0, 0], [0, 1, 0]], [0, 0, 0])
    >>> [line.get_label() for line in ordered.plot(keep=2).lines]
    ['margin distance', 'all 4 members', '_mark of margin distance']
    """
    from orfeon.inspection._figure import axes_for

    size = None if keep is None else order.size(keep)
    is_new = ax is None
    ax = axes_for("Order.plot", ax, _SIZE)
    errors = (100.0 if order.n_classes else 1.0) * order.error_curve
    draw_error_curve(
        ax, errors, label or order.rule.name.replace("_", " "), mark=size,
        note=None if size is None else f"{size} kept", whole=f"all {len(order)} members",
    )  # fmt: skip
    ax.set_xlabel("members kept")
    ax.set_ylabel("selection error, %" if order.n_classes else "selection error (squared)")
    show_sizes(ax)
    if is_new and size is not None:
        unit = "%" if order.n_classes else ""
        put_title(
            ax,
            f"Selection error: {errors[size - 1]:.3g}{unit} with {size} of {len(order)} members, "
            f"{errors[-1]:.3g}{unit} with all",
        )
    ax.legend(fontsize="small", handlelength=2.6, framealpha=0.85, edgecolor="none")
    return ax
