"""The base of all Displays: numbers, drawn on axes of matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any, ClassVar, Self

from orfeon.rendering.figure import axes_for, make_room
from orfeon.utils.documentation import filled_docstring

#: Texts of docstrings that all Displays share.
DISPLAY_TEXTS = {
    "ax": """
ax : matplotlib Axes, optional
    Where to draw; a new figure by default.

Returns
-------
Display
    The display, drawn.
""",
    "axes": """
ax_ : matplotlib Axes
    The axes of the plot.
figure_ : matplotlib Figure
    The figure of the axes.
""",
}


class Display:
    """A picture of some numbers.

    A subclass takes the numbers in ``__init__``, computes them in ``from_...`` class methods, and
    draws them in ``_draw``. If drawing has options, it overrides ``plot`` and calls ``_begin``
    first and ``_finish`` last. Marks such as ``<ax>`` in its docstrings are filled in.
    """

    #: Texts by their marks; a subclass may have more.
    _texts: ClassVar[Mapping[str, str]] = DISPLAY_TEXTS

    #: Width and height in inches of a new figure.
    _size: tuple[float, float] = (6.0, 4.4)

    ax_: Any
    figure_: Any

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__doc__ = filled_docstring(cls.__doc__, cls._texts)
        for member in vars(cls).values():
            function = getattr(member, "__func__", member)  # that of a class method
            if isinstance(function, FunctionType) and function.__doc__ is not None:
                function.__doc__ = filled_docstring(function.__doc__, cls._texts)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        Display
            The display, drawn.
        """
        self._begin(ax)
        self._draw()
        return self._finish()

    def _draw(self) -> None:
        raise NotImplementedError

    def _begin(self, ax: Any, size: tuple[float, float] | None = None) -> Any:
        """The axes to draw on, which are kept with their figure."""
        self.ax_ = axes_for(type(self).__name__, ax, self._size if size is None else size)
        self.figure_ = self.ax_.figure
        return self.ax_

    def _finish(self) -> Self:
        """Make all texts fit."""
        make_room(self.ax_)
        return self
