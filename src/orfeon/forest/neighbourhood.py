"""Proximities of rows in a forest, the weights of training rows, and outliers.

Two rows are near if many trees send them to the same leaf. The prediction of a regression forest is
a weighted mean of the training targets, and a row that shares few leaves with its own class is an
outlier.

References
----------
Breiman (2001). Random forests. Machine Learning 45(1), 5-32.
Meinshausen (2006). Quantile regression forests. Journal of Machine Learning Research 7, 983-999.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from orfeon.data.sparse import read_sparse
from orfeon.forest.forest import Forest
from orfeon.utils.scikit_learn import _num_samples
from orfeon.utils.types import Floats, Integers
from orfeon.utils.unwrapping import unpruned

#: Trees per chunk: enough to make sums cheap, few enough to hold their leaves.
_TREES = 64
#: Entries per block of rows.
_ENTRIES = 4_000_000


@overload
def proximities(
    forest: Any, X: Any, Z: Any = None, *, sparse_output: Literal[False] = False
) -> Floats: ...
@overload
def proximities(
    forest: Any, X: Any, Z: Any = None, *, sparse_output: Literal[True]
) -> sparse.csr_array: ...
def proximities(
    forest: Any, X: Any, Z: Any = None, *, sparse_output: bool = False
) -> Floats | sparse.csr_array:
    """Share of the trees in which two rows reach the same leaf.

    Parameters
    ----------
    forest : Forest, tree, or ensemble of trees
        Fitted; from orfeon, or from scikit-learn with ``apply``.
    X : array or data frame of shape (n_rows, n_features)
        Rows as for ``predict``; encoded rows for a :class:`orfeon.forest.Forest`.
    Z : array or data frame of shape (n_others, n_features), optional
        Rows to compare them with; default: ``X``.
    sparse_output : bool, default=False
        Whether to return a sparse array, for many rows and deep trees.

    Returns
    -------
    ndarray or sparse array of shape (n_rows, n_others)
        Shares between 0 and 1. A row that goes down every branch is counted in the branch with the
        most training samples.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.inspection import proximities
    >>> X = [[0.0], [1.0], [2.0]]
    >>> proximities(CARTClassifier().fit(X, [0, 0, 1]), X)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    n_rows, n_trees = _num_samples(X), 0
    shared = _Sums(n_rows, n_rows if Z is None else _num_samples(Z), sparse_output)
    for chunk in _chunks(forest, X, Z, "proximities"):
        shared.add(chunk, np.ones(chunk.theirs.shape))
        n_trees += chunk.theirs.shape[1]
    return shared.divided_by(np.full(n_rows, float(n_trees)))


@overload
def forest_weights(
    forest: Any,
    X_train: Any,
    X: Any,
    in_bag: npt.NDArray[Any] | None = None,
    *,
    sparse_output: Literal[False] = False,
) -> Floats: ...
@overload
def forest_weights(
    forest: Any,
    X_train: Any,
    X: Any,
    in_bag: npt.NDArray[Any] | None = None,
    *,
    sparse_output: Literal[True],
) -> sparse.csr_array: ...
def forest_weights(
    forest: Any,
    X_train: Any,
    X: Any,
    in_bag: npt.NDArray[Any] | None = None,
    *,
    sparse_output: bool = False,
) -> Floats | sparse.csr_array:
    """Weight of each training row in the prediction of each row.

    Parameters
    ----------
    forest : Forest, tree, or ensemble of trees
        Fitted; from orfeon, or from scikit-learn with ``apply``.
    X_train : array or data frame of shape (n_train, n_features)
        Training rows as for ``predict``; encoded rows for a :class:`orfeon.forest.Forest`.
    X : array or data frame of shape (n_rows, n_features)
        Rows.
    in_bag : ndarray of shape (n_trees, n_train), optional
        Number of times, or weight, with which each tree was trained on each row; default: once
        each, even if samples were drawn.
    sparse_output : bool, default=False
        Whether to return a sparse array, for many rows and deep trees.

    Returns
    -------
    ndarray or sparse array of shape (n_rows, n_train)
        Weights that sum to one over the training rows: in each tree, those in the row's leaf share
        the tree's vote. Trees without training rows in that leaf are left out; if no tree is left,
        the weights are 0.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import CARTRegressor
    >>> from orfeon.inspection import forest_weights
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 1.0, 5.0])
    >>> tree = CARTRegressor().fit(X, y)
    >>> weights = forest_weights(tree, X, [[0.2], [3.0]])
    >>> weights
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    >>> weights @ y, tree.predict([[0.2], [3.0]])
    (array([1., 5.]), array([1., 5.]))
    """
    n_rows, n_train = _num_samples(X), _num_samples(X_train)
    shares = _Sums(n_rows, n_train, sparse_output)
    n_trees = np.zeros(n_rows)
    for chunk in _chunks(forest, X, X_train, "weights of samples"):
        counts = np.ones(chunk.theirs.shape)
        if in_bag is not None:
            if chunk.trees.start == 0:
                in_bag = _checked_counts(in_bag, chunk.n_trees, n_train)
            counts = in_bag[chunk.trees].T.astype(np.float64)
        total = np.bincount(chunk.theirs.ravel(), counts.ravel(), minlength=chunk.n_nodes)
        whole = total[chunk.theirs]
        shares.add(chunk, np.divide(counts, whole, out=np.zeros_like(counts), where=whole > 0))
        n_trees += (total[chunk.ours] > 0).sum(axis=1)
    return shares.divided_by(np.maximum(n_trees, 1.0))


def outlier_scores(
    proximities: npt.ArrayLike | sparse.csr_array, labels: npt.ArrayLike | None = None
) -> Floats:
    """Distance of each row from the other rows of its class.

    Parameters
    ----------
    proximities : array or sparse array of shape (n_rows, n_rows)
        Proximities between the rows, see :func:`orfeon.inspection.proximities`.
    labels : array-like of shape (n_rows,), optional
        Their classes; default: all the same.

    Returns
    -------
    ndarray of shape (n_rows,)
        Inverse of the mean squared proximity to the rows of the class (itself included), minus the
        median over the class, divided by the median absolute deviation unless that is 0. Rows with
        scores above 10 are worth a look.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.inspection import outlier_scores
    >>> near = np.array([[1.0, 0.8, 0.7, 0.0], [0.8, 1.0, 0.9, 0.1],
    ...                  [0.7, 0.9, 1.0, 0.0], [0.0, 0.1, 0.0, 1.0]])
    >>> outlier_scores(near).round(1)
    array([ 0.6, -1.4, -0.6, 17.1])
    """
    near = checked_proximities(proximities)
    n_rows = near.shape[0]
    classes = np.zeros(n_rows, np.int64) if labels is None else np.asarray(labels)
    if classes.shape != (n_rows,):
        raise ValueError(f"labels has shape {classes.shape}; {n_rows} rows need ({n_rows},).")
    scores = np.zeros(n_rows)
    for name in np.unique(classes):
        rows = np.flatnonzero(classes == name)
        squares = _squared_sums(near, rows)
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


def checked_proximities(given: Any) -> Any:
    """A square matrix of proximities, checked."""
    if hasattr(given, "predict") or isinstance(given, Forest):
        raise TypeError(
            f"proximities is a {type(given).__name__}; give those of the rows: "
            "proximities(forest, X)."
        )
    near = given if sparse.issparse(given) else np.asarray(given, dtype=np.float64)
    if near.ndim != 2 or near.shape[0] != near.shape[1]:
        raise ValueError(
            f"proximities has shape {near.shape}; those of rows to themselves are expected, a "
            "square."
        )
    return near


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
        raise ValueError("in_bag holds negative, infinite or missing values; counts are expected.")
    return counts


class _Chunk(NamedTuple):
    """Some trees, and the leaves that two sets of rows reach in them, numbered across trees."""

    trees: slice
    #: Of the whole forest.
    n_trees: int
    n_nodes: int
    ours: Integers
    theirs: Integers


def _chunks(given: Any, X: Any, Z: Any, what: str) -> Iterator[_Chunk]:
    """Leaves of ``X``, and of ``Z`` or again of ``X``, a few trees at a time."""
    given, Z = unpruned(given), None if Z is X else Z
    forest = forest_of(given)
    if forest is not None:
        return _own_chunks(forest, _encoded(given, X), None if Z is None else _encoded(given, Z))
    if hasattr(given, "apply"):
        return _applied_chunks(given, X, Z)
    raise TypeError(
        f"forest is a {type(given).__name__}; {what} need trees: a tree or an ensemble of trees of "
        "orfeon, or one of scikit-learn with apply."
    )


def forest_of(given: Any) -> Forest | None:
    """The forest of an estimator of orfeon, if it has one."""
    if isinstance(given, Forest):
        return given
    if not hasattr(type(given), "_encode"):
        return None
    check_is_fitted(given)
    forest = getattr(given, "forest_", None)
    return forest if isinstance(forest, Forest) else None


def _encoded(given: Any, X: Any) -> Any:
    if not isinstance(given, Forest):
        return given._encode(X)
    return read_sparse(X) if sparse.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)


def _parts(n_trees: int) -> Iterator[slice]:
    return (slice(k, min(k + _TREES, n_trees)) for k in range(0, n_trees, _TREES))


def _own_chunks(forest: Forest, X: Floats, Z: Floats | None) -> Iterator[_Chunk]:
    for trees in _parts(len(forest)):
        some = forest.subset(np.arange(trees.start, trees.stop))
        start = some.tree_start[:-1]
        ours = some.apply(X) + start
        theirs = ours if Z is None else some.apply(Z) + start
        yield _Chunk(trees, len(forest), len(some.nodes), ours, theirs)


def _applied_chunks(estimator: Any, X: Any, Z: Any) -> Iterator[_Chunk]:
    """Like ``_own_chunks`` for scikit-learn's trees; ``apply`` numbers the leaves by tree."""
    ours = _applied(estimator, X)
    theirs = ours if Z is None else _applied(estimator, Z)
    n_trees = ours.shape[1]
    n_nodes = 1 + max(int(ours.max(initial=0)), int(theirs.max(initial=0)))
    for trees in _parts(n_trees):
        start = n_nodes * np.arange(trees.stop - trees.start)
        size = n_nodes * (trees.stop - trees.start)
        yield _Chunk(trees, n_trees, size, ours[:, trees] + start, theirs[:, trees] + start)


def _applied(estimator: Any, X: Any) -> Integers:
    leaves = np.asarray(estimator.apply(X), dtype=np.int64)
    return leaves.reshape(len(leaves), -1)


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
        """Add the values of the other rows in each tree to the rows of the same leaf."""
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
    """One row per row, one column per leaf; the value where the row reaches the leaf."""
    n_rows, n_trees = leaves.shape
    start = np.arange(0, n_rows * n_trees + 1, n_trees)
    shape = (n_rows, n_nodes)
    # Copies, because zeros are dropped in place.
    matrix = sparse.csr_array((values.flatten(), leaves.flatten(), start), shape=shape)
    matrix.eliminate_zeros()
    return matrix
