"""Where pictures are drawn. matplotlib is imported here only, when something is drawn."""

from __future__ import annotations

from typing import Any


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
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            f"{who} needs matplotlib, which the extra orfeon[plot] installs: "
            "pip install 'orfeon[plot]'."
        ) from error
    if ax is None:
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    return ax
