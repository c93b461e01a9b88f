"""Importance of the attributes by permutation of the out-of-bag examples.

Each tree is asked about the examples it was not grown from, first as they are and then with the
values of one attribute shuffled among them. What the shuffling costs is what the tree drew from
the attribute.

References
----------
Breiman (2001). Random forests. Machine Learning 45(1), 5-32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.forest import Forest
from orfeon.seeding import RandomState, seed_sequence, tree_seeds

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PermutationImportances:
    """What the shuffling of each attribute costs.

    Parameters
    ----------
    mean : ndarray of shape (n_attributes,)
        Mean increase of the error over the trees that have out-of-bag examples; NaN if none has.
    standard_error : ndarray of shape (n_attributes,)
        Standard error of that mean; NaN with fewer than two such trees.
    per_tree : ndarray of shape (n_trees, n_attributes)
        Increase of each tree's error; NaN for a tree without out-of-bag examples.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import CARTRegressor
    >>> from orfeon.permutation import oob_permutation_importances
    >>> X, y = np.array([[0.0], [1.0]]), np.array([2.0, 5.0])
    >>> tree = CARTRegressor().fit(X, y).forest_
    >>> everything = np.ones((1, 2), dtype=bool)
    >>> oob_permutation_importances(tree, X, y, everything, random_state=2)
    PermutationImportances(mean=array([9.]), standard_error=array([nan]), per_tree=array([[9.]]))
    """

    mean: Floats
    standard_error: Floats
    per_tree: Floats


def oob_permutation_importances(
    forest: Forest,
    X: Floats,
    y: npt.NDArray[Any],
    out_of_bag: npt.NDArray[np.bool_],
    *,
    weights: npt.NDArray[Any] | None = None,
    random_state: RandomState = None,
    n_repeats: int = 1,
) -> PermutationImportances:
    """Increase of the out-of-bag error of the trees when an attribute is permuted.

    Parameters
    ----------
    forest : Forest
        Any forest.
    X : ndarray of shape (n_rows, n_attributes)
        Encoded rows. Missing values and categories are permuted like any value.
    y : ndarray of shape (n_rows,)
        Class codes, or targets in regression.
    out_of_bag : ndarray of bool of shape (n_trees, n_rows)
        For each tree, the rows it was not grown from.
    weights : ndarray of shape (n_rows,), optional
        Weights of the rows' errors; a row of weight 0 is left out.
    random_state : int, Generator, RandomState or None, default=None
        Source of the permutations. Each tree has a seed of its own, so the first trees of a
        larger forest keep their results.
    n_repeats : int, default=1
        Permutations of each attribute in each tree, averaged.

    Returns
    -------
    PermutationImportances
        The increase of the share of errors, or of the mean squared error in regression. An
        attribute that a tree does not use costs it nothing.

    Notes
    -----
    Within a tree the attributes share their permutations: each importance is then the same
    whatever else the tree uses, and differences between attributes are less noisy.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import Table
    >>> from orfeon.growth import grow_forest
    >>> from orfeon.permutation import oob_permutation_importances
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 3))
    >>> y = (X[:, 1] > 0.5).astype(np.int64)
    >>> counts = rng.multinomial(200, np.full(200, 1 / 200), size=25)
    >>> forest = grow_forest(
    ...     Table(X), y, n_classes=2, seeds=np.arange(25, dtype=np.uint64), weights=counts
    ... )
    >>> importances = oob_permutation_importances(forest, X, y, counts == 0, random_state=0)
    >>> importances.mean.round(1)
    array([0. , 0.5, 0. ])
    """
    y, out_of_bag = np.asarray(y), np.asarray(out_of_bag)
    w = _checked(forest, X, y, out_of_bag, weights, n_repeats)
    used = attributes_used(forest)
    seeds = tree_seeds(seed_sequence(random_state), len(forest))
    per_tree = np.full((len(forest), forest.n_attributes), np.nan)
    for t, seed in enumerate(seeds):
        rows = np.flatnonzero(out_of_bag[t] & (w > 0))
        if len(rows):
            error = _error_of(forest.subset([t]), y[rows], w[rows])
            rng = np.random.Generator(np.random.PCG64(int(seed)))
            per_tree[t] = _increases(error, X[rows], used[t], rng, n_repeats)
    taken = per_tree[~np.isnan(per_tree[:, 0])]
    nothing = np.full(forest.n_attributes, np.nan)
    return PermutationImportances(
        mean=taken.mean(axis=0) if len(taken) else nothing,
        standard_error=(
            taken.std(axis=0, ddof=1) / np.sqrt(len(taken)) if len(taken) > 1 else nothing
        ),
        per_tree=per_tree,
    )


def _increases(
    error: Callable[[Floats], float],
    X: Floats,
    attributes: npt.NDArray[np.int64],
    rng: np.random.Generator,
    n_repeats: int,
) -> Floats:
    """What the shuffling of each attribute adds to a tree's error; ``X`` is changed meanwhile."""
    increase = np.zeros(X.shape[1])
    before = error(X)
    for _ in range(n_repeats):
        order = rng.permutation(len(X))
        for j in attributes:
            values = X[:, j].copy()
            X[:, j] = values[order]
            increase[j] += error(X) - before
            X[:, j] = values
    return increase / n_repeats


def _error_of(tree: Forest, y: npt.NDArray[Any], weights: Floats) -> Callable[[Floats], float]:
    """The weighted error of one tree as a function of the rows."""
    total = float(weights.sum())

    def error(X: Floats) -> float:
        said = tree.predict(X)
        cost = said != y if tree.n_classes else (said - y) ** 2
        return float(weights @ cost) / total

    return error


def attributes_used(forest: Forest) -> list[npt.NDArray[np.int64]]:
    """The attributes that each tree tests, alone or in a linear combination.

    Parameters
    ----------
    forest : Forest
        Trees.

    Returns
    -------
    list of ndarray
        Indices of attributes, in ascending order.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.permutation import attributes_used
    >>> tree = CARTClassifier().fit([[0.0, 5.0], [0.0, 6.0], [0.0, 7.0]], [0, 0, 1])
    >>> attributes_used(tree.forest_)
    [array([1])]
    """
    start, terms, _ = forest.projections
    used = []
    for begin, end in zip(forest.tree_start[:-1], forest.tree_start[1:], strict=True):
        tested = np.unique(forest.attribute[begin:end][forest.n_children[begin:end] > 0])
        combined = [terms[start[p] : start[p + 1]] for p in -1 - tested[tested < 0]]
        used.append(np.unique(np.concatenate([tested[tested >= 0], *combined])).astype(np.int64))
    return used


def _checked(
    forest: Forest,
    X: Floats,
    y: npt.NDArray[Any],
    out_of_bag: npt.NDArray[np.bool_],
    weights: npt.NDArray[Any] | None,
    n_repeats: int,
) -> Floats:
    """Refuse what does not fit together; returns the weights."""
    forest._check_rows(X)
    n_rows = len(X)
    if y.shape != (n_rows,):
        raise ValueError(f"y has shape {y.shape}; {n_rows} rows need ({n_rows},).")
    if forest.n_classes and not np.isin(y, np.arange(forest.n_classes)).all():
        raise ValueError(
            f"y holds values that are not class codes; they are 0 to {forest.n_classes - 1}."
        )
    if not forest.n_classes and not np.isfinite(y).all():
        raise ValueError("y holds NaN or infinity; targets are finite numbers.")
    if out_of_bag.dtype != bool or out_of_bag.shape != (len(forest), n_rows):
        raise ValueError(
            f"out_of_bag has dtype {out_of_bag.dtype} and shape {out_of_bag.shape}; {len(forest)} "
            f"trees and {n_rows} rows need bool and ({len(forest)}, {n_rows})."
        )
    if n_repeats < 1:
        raise ValueError(f"n_repeats={n_repeats} is not allowed: it is 1 or more.")
    w = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != (n_rows,) or not (np.isfinite(w) & (w >= 0)).all():
        raise ValueError(
            f"weights has shape {w.shape}; {n_rows} finite weights that are not negative are "
            "expected."
        )
    return w
