"""Rows by class, each class with its colour and its marker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from orfeon.data.training_set import check_length
from orfeon.inspection._map_drawing import MARKERS, darker
from orfeon.rendering.palette import class_colours
from orfeon.rendering.texts import plain


class RowClasses:
    """Rows by class."""

    def __init__(self, y: Any, n_rows: int) -> None:
        self.names: list[str] = []
        self.codes = np.zeros(n_rows, np.int64)
        if y is None:
            return
        labels = column_or_1d(y)
        check_length(labels, n_rows)
        if type_of_target(labels).startswith("continuous"):
            raise ValueError("y holds numbers that are no classes; leave it out in regression.")
        found, self.codes = np.unique(labels, return_inverse=True)
        self.names = [plain(label) for label in found]

    def __iter__(self) -> Iterator[tuple[int, str, str, str]]:
        """Code, name, colour and marker of each class; one without a name where none are known."""
        names = self.names or [""]
        for code, (name, colour) in enumerate(zip(names, class_colours(len(names)), strict=True)):
            yield code, name, darker(colour), MARKERS[code % len(MARKERS)]

    def draw(self, ax: Any, points: npt.NDArray[np.float64], **look: Any) -> list[Any]:
        """Draw points, each class in its own way."""
        return [
            ax.scatter(
                *points[self.codes == code].T, color=colour, marker=marker, label=f"class {name}",
                edgecolors="white", linewidths=0.4, **look,
            )
            for code, name, colour, marker in self
        ]  # fmt: skip
