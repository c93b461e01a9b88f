"""Newton trees over the bins of a sparse table: those of the dense table, to the last bit."""

from __future__ import annotations

from typing import Any

from orfeon.growth.histogram_newton import HistogramNewtonTrees
from orfeon.growth.sparse_binning import bin_sparse
from orfeon.kernels.histogram.sparse_grow import grow_sparse_tree
from orfeon.utils.types import Floats, Integers


class SparseNewtonTrees(HistogramNewtonTrees):
    """Newton trees of sparse rows; threads grow whole trees, and do not share one."""

    _grow_tree = staticmethod(grow_sparse_tree)

    def _bin(self, max_bins: int, copies: Floats | None) -> tuple[Any, tuple[Any, ...]]:
        X = self.X if self.rows is None else self.X[self.rows]
        bins = bin_sparse(X, max_bins, copies)
        return bins, (
            bins.offset, bins.n_bins, self.schema.is_categorical, bins.low, bins.high, self.n_rows,
            bins.starts, bins.places, bins.features, bins.zero_bin,
        )  # fmt: skip

    def _rows_at(self, which: Integers) -> Any:
        return self.X[which if self.rows is None else self.rows[which]]

    def _n_helpers(self, candidates: Integers) -> int:
        return 0
