"""A forest as a weighted neighbourhood: which rows it holds alike, and which are far from all.

Two rows are near each other when many trees send them to the same leaf. A regression forest's
prediction is then a weighted mean of the training targets, and a row that shares few leaves with
its own class is an outlier.

References
----------
Breiman (2001). Random forests. Machine Learning 45(1), 5-32.
Meinshausen (2006). Quantile regression forests. Journal of Machine Learning Research 7, 983-999.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
from scipy import sparse

from orfeon.forest import Forest

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Trees looked at together: enough to make their sums cheap, few enough to hold their leaves.
_TREES = 64
#: Entries of a block of rows that is summed at once.
_ENTRIES = 4_000_000


@overload
def proximities(
    forest: Forest, X: Floats, Z: Floats | None = None, *, sparse_output: Literal[False] = False
) -> Floats: ...
@overload
def proximities(
    forest: Forest, X: Floats, Z: Floats | None = None, *, sparse_output: Literal[True]
) -> sparse.csr_array: ...
def proximities(
    forest: Forest, X: Floats, Z: Floats | None = None, *, sparse_output: bool = False
) -> Floats | sparse.csr_array:
    """Share of the trees in which two rows reach the same leaf.

    Parameters
    ----------
    forest : Forest
        Any forest.
    X : ndarray of shape (n_rows, n_attributes)
        Encoded rows.
    Z : ndarray of shape (n_others, n_attributes), optional
        The rows to compare them with; by default ``X`` itself.
    sparse_output : bool, default=False
        Whether to keep only what is not zero: for many rows and deep trees.

    Returns
    -------
    ndarray or sparse array of shape (n_rows, n_others)
        Shares between 0 and 1. Where a row is sent down every branch, the branch with most
        training examples is followed.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import CARTClassifier
    >>> from orfeon.inspection import proximities
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> proximities(CARTClassifier().fit(X, [0, 0, 1]).forest_, X)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    n_others = len(X) if Z is None else len(Z)
    shared = _Sums(len(X), n_others, sparse_output)
    for chunk in _chunks(forest, X, X if Z is None else Z):
        shared.add(chunk, np.ones(chunk.theirs.shape))
    return shared.divided_by(np.full(len(X), float(len(forest))))


@overload
def forest_weights(
    forest: Forest,
    X_train: Floats,
    X: Floats,
    in_bag: npt.NDArray[Any] | None = None,
    *,
    sparse_output: Literal[False] = False,
) -> Floats: ...
@overload
def forest_weights(
    forest: Forest,
    X_train: Floats,
    X: Floats,
    in_bag: npt.NDArray[Any] | None = None,
    *,
    sparse_output: Literal[True],
) -> sparse.csr_array: ...
def forest_weights(
    forest: Forest,
    X_train: Floats,
    X: Floats,
    in_bag: npt.NDArray[Any] | None = None,
    *,
    sparse_output: bool = False,
) -> Floats | sparse.csr_array:
    """Weight of each training row in what the forest says of each row.

    Parameters
    ----------
    forest : Forest
        Any forest.
    X_train : ndarray of shape (n_train, n_attributes)
        Encoded training rows.
    X : ndarray of shape (n_rows, n_attributes)
        Encoded rows.
    in_bag : ndarray of shape (n_trees, n_train), optional
        How often each tree saw each training row, or with what weight; once each by default.
    sparse_output : bool, default=False
        Whether to keep only what is not zero: for many rows and deep trees.

    Returns
    -------
    ndarray or sparse array of shape (n_rows, n_train)
        Weights that sum to one over the training rows: in each tree, those in the row's leaf share
        the tree's vote. Trees that saw none of them there are left out; a row for which that
        leaves no tree has weights 0.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import CARTRegressor
    >>> from orfeon.inspection import forest_weights
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 1.0, 5.0])
    >>> forest = CARTRegressor().fit(X, y).forest_
    >>> weights = forest_weights(forest, X, np.array([[0.2], [3.0]]))
    >>> weights
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    >>> weights @ y, forest.predict(np.array([[0.2], [3.0]]))
    (array([1., 5.]), array([1., 5.]))
    """
    if in_bag is None:
        in_bag = np.ones((1, len(X_train)))
    else:
        in_bag = _checked_counts(in_bag, len(forest), len(X_train))
    shares = _Sums(len(X), len(X_train), sparse_output)
    n_trees = np.zeros(len(X))
    for chunk in _chunks(forest, X, X_train):
        counts = in_bag[chunk.trees] if len(in_bag) > 1 else in_bag
        counts = np.broadcast_to(counts.T, chunk.theirs.shape).astype(np.float64)
        total = np.bincount(chunk.theirs.ravel(), counts.ravel(), minlength=chunk.n_nodes)
        whole = total[chunk.theirs]
        shares.add(chunk, np.divide(counts, whole, out=np.zeros_like(counts), where=whole > 0))
        n_trees += (total[chunk.ours] > 0).sum(axis=1)
    return shares.divided_by(np.maximum(n_trees, 1.0))


def outlier_scores(
    proximities: Floats | sparse.csr_array, labels: npt.ArrayLike | None = None
) -> Floats:
    """How far each row is from the other rows of its class.

    Parameters
    ----------
    proximities : ndarray or sparse array of shape (n_rows, n_rows)
        Proximities between the rows.
    labels : array-like of shape (n_rows,), optional
        Their classes; by default they are all of one.

    Returns
    -------
    ndarray of shape (n_rows,)
        The inverse of the mean squared proximity to the rows of the class, itself among them,
        less the median over the class and divided by the median absolute deviation from it. A
        class in which that is 0 is not divided. Above 10 a row is worth a look.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.inspection import outlier_scores
    >>> near = np.array([[1.0, 0.8, 0.7, 0.0], [0.8, 1.0, 0.9, 0.1],
    ...                  [0.7, 0.9, 1.0, 0.0], [0.0, 0.1, 0.0, 1.0]])
    >>> outlier_scores(near).round(1)
    array([ 0.6, -1.4, -0.6, 17.1])
    """
    n_rows = proximities.shape[0]
    if proximities.shape != (n_rows, n_rows):
        raise ValueError(
            f"proximities has shape {proximities.shape}; those of rows to themselves are expected, "
            "a square."
        )
    classes = np.zeros(n_rows, np.int64) if labels is None else np.asarray(labels)
    if classes.shape != (n_rows,):
        raise ValueError(f"labels has shape {classes.shape}; {n_rows} rows need ({n_rows},).")
    scores = np.zeros(n_rows)
    for name in np.unique(classes):
        rows = np.flatnonzero(classes == name)
        squares = _squared_sums(proximities, rows)
        if not squares.all():
            row = rows[np.argmin(squares)]
            raise ValueError(
                f"proximities[{row}, {row}] is 0; the proximity of a row to itself is 1."
            )
        raw = len(rows) / squares
        raw -= np.median(raw)
        deviation = np.median(np.abs(raw))
        scores[rows] = raw / deviation if deviation > 0 else raw
    return scores


def _squared_sums(matrix: Any, rows: Integers) -> Floats:
    """Sum of the squared proximities of some rows to each other."""
    if sparse.issparse(matrix):
        own = matrix.tocsr()[rows][:, rows]
        return np.asarray(own.multiply(own).sum(axis=1)).ravel()
    sums = np.empty(len(rows))
    step = max(_ENTRIES // len(rows), 1)
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        block = matrix[np.ix_(rows[part], rows)]
        sums[part] = np.einsum("ij,ij->i", block, block)
    return sums


def _checked_counts(in_bag: npt.NDArray[Any], n_trees: int, n_train: int) -> npt.NDArray[Any]:
    counts = np.asarray(in_bag)
    if counts.shape != (n_trees, n_train):
        raise ValueError(
            f"in_bag has shape {counts.shape}; {n_trees} trees and {n_train} training rows need "
            f"({n_trees}, {n_train})."
        )
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError("in_bag holds negative, infinite or missing counts; none is allowed.")
    return counts


class _Chunk:
    """Some trees, and the leaves that two sets of rows reach in them, numbered over all."""

    def __init__(self, forest: Forest, trees: slice, X: Floats, Z: Floats) -> None:
        self.trees = trees
        some = forest.subset(np.arange(trees.start, trees.stop))
        self.n_nodes = len(some.nodes)
        start = some.tree_start[:-1]
        self.ours = some.apply(X) + start
        self.theirs = self.ours if Z is X else some.apply(Z) + start


def _chunks(forest: Forest, X: Floats, Z: Floats) -> Iterator[_Chunk]:
    for begin in range(0, len(forest), _TREES):
        yield _Chunk(forest, slice(begin, min(begin + _TREES, len(forest))), X, Z)


class _Sums:
    """For every pair of rows, a sum over the trees in which they share a leaf."""

    def __init__(self, n_rows: int, n_others: int, is_sparse: bool) -> None:
        self.shape = (n_rows, n_others)
        self.is_sparse = is_sparse
        step = max(_ENTRIES // max(n_others, 1), 1)
        self.blocks = [slice(i, min(i + step, n_rows)) for i in range(0, n_rows, step)]
        self.dense = np.zeros((0, 0) if is_sparse else self.shape)
        self.parts = [sparse.csr_array((b.stop - b.start, n_others)) for b in self.blocks]

    def add(self, chunk: _Chunk, values: Floats) -> None:
        """Add what each of the other rows brings in each tree to the rows of its leaf."""
        theirs = _leaf_matrix(chunk.theirs, chunk.n_nodes, values).T.tocsr()
        for i, rows in enumerate(self.blocks):
            ours = chunk.ours[rows]
            part = _leaf_matrix(ours, chunk.n_nodes, np.ones(ours.shape)) @ theirs
            if self.is_sparse:
                self.parts[i] = self.parts[i] + part
            else:
                self.dense[rows] += part.toarray()

    def divided_by(self, totals: Floats) -> Floats | sparse.csr_array:
        """The sums, each row divided by its total."""
        if not self.is_sparse:
            self.dense /= totals[:, None]
            return self.dense
        whole = sparse.csr_array(self.shape)
        if self.parts:
            whole = sparse.csr_array(sparse.vstack(self.parts, format="csr"))
        whole.data /= np.repeat(totals, np.diff(whole.indptr))
        whole.sort_indices()
        return whole


def _leaf_matrix(leaves: Integers, n_nodes: int, values: Floats) -> sparse.csr_array:
    """One row for each row, one column for each leaf, values where the row reaches it."""
    n_rows, n_trees = leaves.shape
    start = np.arange(0, n_rows * n_trees + 1, n_trees)
    shape = (n_rows, n_nodes)
    matrix = sparse.csr_array((values.ravel(), leaves.ravel(), start), shape=shape)
    matrix.eliminate_zeros()
    return matrix
