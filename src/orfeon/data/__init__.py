"""Any X, y and weights as numbers: the schema of the columns, and presorted tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import lazy_names

_HOMES = {"Schema": "schema", "Table": "presorted"}

if TYPE_CHECKING:
    from orfeon.data.presorted import Table
    from orfeon.data.schema import Schema

__all__ = ["Schema", "Table"]

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
