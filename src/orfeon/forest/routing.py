"""Rows to leaves: each forest and table by the kernel that is fastest for them."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from orfeon.forest.packed import gains_by_packing
from orfeon.forest.ranked import RankedForest, gains_by_ranking
from orfeon.kernels.routing import packed, route
from orfeon.kernels.routing import sparse as sparse_rows
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats, Integers

if TYPE_CHECKING:
    from scipy import sparse

    from orfeon.forest.forest import Forest

_NO_ROWS = np.zeros(0, np.int64)


def route_rows(forest: Forest, X: Floats) -> tuple[npt.NDArray[np.uint32], Integers]:
    """Leaf of each row in each tree, and the rows that have no single one in some tree."""
    leaves = np.empty((X.shape[0], len(forest)), np.uint32)
    if issparse(X):
        sparse_rows.apply_sparse(*_sparse_arguments(forest, X), leaves)  # type: ignore[call-arg]
        return leaves, _NO_ROWS
    if routes_plain(forest, X):
        route.apply_plain(*forest._words(), forest.tree_start, kernel_view(X), leaves)
        return leaves, _NO_ROWS
    check_codes(forest, X)
    return leaves, forest._packed.apply(forest, X, leaves)


def add_predictions(forest: Forest, X: Floats, weights: Floats, out: Floats) -> Integers:
    """Add what the trees predict; returns the rows that go down several branches of some tree."""
    if issparse(X):
        sparse_rows.add_sparse(
            *_sparse_arguments(forest, X), forest.label, weights,  # type: ignore[call-arg]
            forest.value, forest._pure_label_for(weights), out,
        )  # fmt: skip
        return _NO_ROWS
    is_plain = routes_plain(forest, X)
    ranked = _ranked_for(forest, X, is_plain)
    if ranked is not None:
        ranked.add(forest, X, weights, out)
        return _NO_ROWS
    if is_plain:
        route.add_plain(
            *forest._words(), forest.tree_start, kernel_view(X), forest.label, weights,
            forest.value, forest._pure_label_for(weights), out,
        )  # fmt: skip
        return _NO_ROWS
    return forest._packed.add(forest, X, weights, out)


def routes_plain(forest: Forest, X: Floats) -> bool:
    """Whether nodes and rows are routed as they are, without packing."""
    check_rows(forest, X)
    if not forest._is_plain or has_missing(X):
        return False
    return not gains_by_packing(forest, len(X))


def check_rows(forest: Forest, X: Floats) -> None:
    """Reject rows of another shape or type, because kernels do not check bounds."""
    if X.ndim != 2 or X.shape[1] != forest.n_features or X.dtype != np.float64:
        raise ValueError(
            f"X has shape {X.shape} and dtype {X.dtype}; encoded rows of {forest.n_features} "
            "features in float64 are expected."
        )


def check_codes(forest: Forest, X: Floats) -> None:
    """Reject category codes beyond a branch table."""
    if not len(forest.branches):
        return
    where, many = forest._categorical
    entry = packed.first_unknown_code(kernel_view(X), where, many)
    if entry >= 0:
        row, place = divmod(entry, len(where))
        raise ValueError(
            f"X[{row}, {where[place]}] is {X[row, where[place]]}; this feature has "
            f"{many[place]} categories, and codes from 0 on or NaN are expected."
        )


def _ranked_for(forest: Forest, X: Floats, is_plain: bool) -> RankedForest | None:
    """The forest as many rows are routed; None for few rows, and for shallow trees."""
    if not is_plain:
        check_codes(forest, X)
    if not gains_by_ranking(forest, len(X)):
        return None
    if is_plain:
        return forest._ranked_numbers
    return None if forest._packed.heaps is not None else forest._ranked


def _sparse_arguments(forest: Forest, X: sparse.csr_matrix) -> tuple[Any, ...]:
    """The nodes and sparse rows, for the routing kernels."""
    check_rows(forest, X)
    if not forest._is_plain:
        raise ValueError(
            "X is sparse, but some trees test categories or linear combinations; pass X.toarray()."
        )
    starts, columns = (np.asarray(a, dtype=np.int64) for a in (X.indptr, X.indices))
    return (
        *forest._words(), forest.missing, forest.tree_start, starts, columns, kernel_view(X.data),
        forest.n_features,
    )  # fmt: skip


def has_missing(X: Floats) -> bool:
    """Whether any value is NaN."""
    return len(X) > 0 and isnan(X.max())
