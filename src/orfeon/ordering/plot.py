"""Error against the number of members: how a curve is drawn, and the picture of an order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from orfeon.rendering.figure import Scale, axes_for, look_of, put_title, scale_members
from orfeon.rendering.palette import MUTED_INK
from orfeon.utils.types import Floats

if TYPE_CHECKING:
    from orfeon.ordering.order_type import Keep, Order


#: Width and height in inches of a new figure.
_SIZE = (6.0, 4.0)
#: The share of the axis of sizes whose errors are cut off.
_FIRST = 0.05
#: The gid of error curves among other lines on the same axes.
_CURVE = "error curve"


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
    """Draw the error of the first 1, 2, ... members."""
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
    """A ring around a point of the curve, and a note on the side with more room."""
    ax.plot(
        [size], [error], "o", color=line.get_color(), markersize=7, markerfacecolor="white",
        markeredgewidth=1.6, zorder=3, clip_on=False, label=f"_mark of {line.get_label()}",
    )  # fmt: skip
    if note is not None:
        is_log = ax.get_xscale() == "log"
        place = math.log(size) / math.log(max(n_members, 2)) if is_log else size / n_members
        is_left = place <= 0.6
        ax.annotate(
            note, (size, error), xytext=(7 if is_left else -7, -4), textcoords="offset points",
            ha="left" if is_left else "right", va="top", fontsize="small", color=line.get_color(),
        )  # fmt: skip


def show_sizes(ax: Any, scale: Scale = "linear") -> None:
    """Set the limits of both axes.

    The errors of the first few members would flatten the rest of the curves, so the error axis fits
    them from a twentieth of the size axis on.
    """
    curves = [np.asarray(line.get_ydata()) for line in ax.lines if line.get_gid() == _CURVE]
    longest = max(len(curve) for curve in curves)
    scale_members(ax, longest, scale)
    is_log = ax.get_xscale() == "log"
    low, high = np.inf, -np.inf
    for curve in curves:
        first = len(curve) ** _FIRST - 1 if is_log else len(curve) * _FIRST
        low, high = min(low, np.nanmin(curve)), max(high, np.nanmax(curve[math.floor(first) :]))
    room = 0.12 * (high - low) or 0.05 * abs(high) or 1.0
    # Room for a note below the lowest point, but little below 0: errors are not negative.
    ax.set_ylim(max(low - room, -0.8 * room), high + 1.5 * room)


def plot_error_curve(order: Order, ax: Any, keep: Keep | None, label: str | None) -> Any:
    """Draw the error curve of an order, the size that is kept, and the error of all members."""
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
