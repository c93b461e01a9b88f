"""The picture of an order: its error against the number of members kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from orfeon.ordering.ordered import Keep, Order


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
    ['margin distance', 'all 4 members', '_child2']
    """
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots()
    scale = 100.0 if order.n_classes else 1.0
    sizes, errors = np.arange(1, len(order) + 1), scale * order.error_curve
    named = label or order.rule.name.replace("_", " ")
    (line,) = ax.plot(sizes, errors, label=named, linewidth=1.5)
    whole = f"all {len(order)} members"
    if whole not in ax.get_legend_handles_labels()[1]:  # other orders of them end there too
        ax.axhline(errors[-1], color="0.5", linestyle=":", linewidth=1, label=whole)
    if keep is not None:
        size = order.size(keep)
        ax.plot([size], [errors[size - 1]], "o", color=line.get_color())
        ax.annotate(
            f"{size} kept", (size, errors[size - 1]), xytext=(6, -14), textcoords="offset points"
        )
    ax.set_xlabel("members kept")
    ax.set_ylabel("error on the selection examples" + (", %" if order.n_classes else ""))
    ax.set_xlim(1, max(2, len(order)))
    ax.legend(frameon=False)
    return ax
