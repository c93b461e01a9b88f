"""Rows that were encoded once, for several estimators of the same schema."""

from __future__ import annotations

from dataclasses import dataclass

from orfeon.data.schema import Schema
from orfeon.utils.types import Floats


@dataclass(frozen=True)
class EncodedRows:
    """Rows as numbers, checked; estimators of this schema take them as they are."""

    schema: Schema
    values: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape[0], self.values.shape[1]

    def __len__(self) -> int:
        return len(self.values)
