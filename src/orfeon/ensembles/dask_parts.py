"""Dask collections as parts: the partitions of X, y and sample weights that belong together.

Nothing here computes anything; Dask is imported only where a collection of it is given.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


def is_dask(data: Any) -> bool:
    """Whether data are a Dask collection: an array, a data frame, a bag."""
    base = sys.modules.get("dask.base")  # whoever has a collection has imported Dask
    return base is not None and bool(base.is_dask_collection(data))


@dataclass(frozen=True)
class Part:
    """The samples of one partition, not computed yet."""

    number: int
    X: Any
    y: Any
    sample_weight: Any


def read_parts(X: Any, y: Any, sample_weight: Any = None) -> list[Part]:
    """Cut collections into the parts that they come in."""
    rows = in_rows(X)
    blocks = _blocks(rows, "X")
    targets = _aligned(y, rows, len(blocks), "y")
    weights: list[Any] = [None] * len(blocks)
    if sample_weight is not None:
        weights = _aligned(sample_weight, rows, len(blocks), "sample_weight")
    both = zip(blocks, targets, weights, strict=True)
    return [Part(number, *part) for number, part in enumerate(both)]


def in_rows(X: Any) -> Any:
    """The same collection, cut between rows only."""
    if not _is_array(X):
        return X
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}; a Dask array of rows and columns is expected.")
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def rows_of_part(part: Any) -> Any:
    """The rows of a part as estimators take them."""
    if hasattr(part, "shape"):
        return part
    rows = list(part)
    if rows and isinstance(rows[0], Mapping):
        return importlib.import_module("pandas").DataFrame(rows)
    return [list(row) for row in rows]


def values_of_part(part: Any) -> Any:
    """Targets or weights of a part, in an array."""
    return part if hasattr(part, "shape") else np.asarray(list(part))


def _is_array(data: Any) -> bool:
    return hasattr(data, "rechunk")


def _blocks(data: Any, name: str) -> list[Any]:
    if not hasattr(data, "to_delayed"):
        raise TypeError(
            f"{name} is a Dask {type(data).__name__}; arrays, data frames, series and bags are "
            "taken part by part."
        )
    return list(np.ravel(data.to_delayed()))


def _aligned(values: Any, rows: Any, n_parts: int, name: str) -> list[Any]:
    """The parts of targets or weights; arrays of known lengths are cut as the rows are."""
    if not is_dask(values):
        raise TypeError(
            f"X is a Dask collection and {name} is a {type(values).__name__}; {name} must be a "
            "Dask collection too, in the partitions of X."
        )
    if (
        _is_array(values)
        and _is_array(rows)
        and not _has_unknown(values)
        and not _has_unknown(rows)
    ):
        if values.shape[0] != rows.shape[0]:
            raise ValueError(
                f"X has {rows.shape[0]} rows and {name} has {values.shape[0]} values; one value "
                "for each row is expected."
            )
        values = values.rechunk({0: rows.chunks[0]})
    blocks = _blocks(values, name)
    if len(blocks) != n_parts:
        raise ValueError(
            f"X has {n_parts} partitions and {name} has {len(blocks)}; they must be cut at the "
            "same rows. Take both from one collection, or repartition them."
        )
    return blocks


def _has_unknown(array: Any) -> bool:
    return bool(np.isnan(np.asarray(array.chunks[0], dtype=np.float64)).any())
