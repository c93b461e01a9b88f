"""Examples set aside: a share of each class to order members by, on which they are not trained."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from orfeon.ensembles.units import hash_rows
from orfeon.schema import Schema

#: Rows of a sparse matrix that are looked at in one go.
_ROWS = 1 << 10


def set_aside(
    X: Any,
    y: npt.NDArray[Any],
    weights: npt.NDArray[np.float64],
    share: float,
    rng: np.random.Generator,
    *,
    by_class: bool,
) -> npt.NDArray[np.bool_]:
    """Choose examples at random, copies of one together.

    What is chosen depends on what the examples are, not on their order, nor on whether copies are
    given as weights.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_rows, n_attributes)
        Examples.
    y : ndarray of shape (n_rows,)
        Their classes or targets.
    weights : ndarray of shape (n_rows,)
        Their weights, all positive.
    share : float
        How much of the weight is set aside.
    rng : numpy.random.Generator
        Source of randomness.
    by_class : bool
        Whether the share is that of each class; then of each class one example at least stays.

    Returns
    -------
    ndarray of bool of shape (n_rows,)
        Which are set aside; one example at least is not.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.ensembles.setting_aside import set_aside
    >>> X, y = np.array([[0.0], [1], [2], [2], [4], [5]]), np.array([0, 0, 0, 0, 1, 1])
    >>> set_aside(X, y, np.ones(6), 0.4, np.random.default_rng(0), by_class=True)
    array([False,  True, False, False,  True, False])
    """
    codes = np.unique(y, return_inverse=True)[1]
    different, first, copy = np.unique(
        hash_examples(X, codes), return_index=True, return_inverse=True
    )
    weight = np.bincount(copy, weights=weights)
    stratum = codes[first] if by_class else np.zeros(len(different), np.int64)
    in_turn = np.lexsort((rng.random(len(different)), stratum))
    taken = np.zeros(len(different), dtype=bool)
    for mine in np.split(in_turn, np.flatnonzero(np.diff(stratum[in_turn])) + 1):
        middle = np.cumsum(weight[mine]) - weight[mine] / 2
        taken[mine[:-1]] = (middle <= share * weight[mine].sum())[:-1]
    return np.asarray(taken[copy])


def hash_examples(X: Any, codes: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """A number for each example that depends on its values and its target alone.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_rows, n_attributes)
        Examples.
    codes : ndarray of shape (n_rows,)
        Class codes or targets.

    Returns
    -------
    ndarray of uint64 of shape (n_rows,)
        The numbers.
    """
    if not issparse(X):
        return hash_rows(Schema.learn_and_encode(X)[1], codes)
    rows = X.tocsr()
    parts = [slice(a, a + _ROWS) for a in range(0, len(codes), _ROWS)]
    return np.concatenate([hash_rows(rows[part].toarray(), codes[part]) for part in parts])
