"""Importance of the features by permutation of the out-of-bag samples.

Each tree predicts its out-of-bag samples as they are, and again with the values of one feature
shuffled among them. The importance of the feature is the increase of the error.

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
from orfeon.forest.routing import check_rows
from orfeon.utils import saved
from orfeon.utils.seeding import RandomState, seed_sequence, tree_seeds
from orfeon.utils.types import Floats


@saved.attributes(mean=saved.floats, standard_error=saved.floats, per_tree=saved.matrix)
@dataclass(frozen=True)
class PermutationImportances:
    """Increase of the error by shuffling each feature."""

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
    """Increase of the out-of-bag error of the trees when a feature is permuted.

    Notes
    -----
    All features of a tree are shuffled by the same permutations: an importance does not depend on
    the other features, and differences between features are less noisy.
    """
    y, out_of_bag = np.asarray(y), np.asarray(out_of_bag)
    w = _checked(forest, X, y, out_of_bag, weights, n_repeats)
    used = features_used(forest)
    seeds = tree_seeds(seed_sequence(random_state), len(forest))
    per_tree = np.full((len(forest), forest.n_features), np.nan)
    for t, seed in enumerate(seeds):
        rows = np.flatnonzero(out_of_bag[t] & (w > 0))
        if len(rows):
            error = _error_of(forest.subset([t]), y[rows], w[rows])
            rng = np.random.Generator(np.random.PCG64(int(seed)))
            per_tree[t] = _increases(error, X[rows], used[t], rng, n_repeats)
    taken = per_tree[~np.isnan(per_tree[:, 0])]
    nothing = np.full(forest.n_features, np.nan)
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
    features: npt.NDArray[np.int64],
    rng: np.random.Generator,
    n_repeats: int,
) -> Floats:
    """Increase of a tree's error by shuffling each feature; ``X`` is restored."""
    increase = np.zeros(X.shape[1])
    before = error(X)
    for _ in range(n_repeats):
        order = rng.permutation(len(X))
        for j in features:
            values = X[:, j].copy()
            X[:, j] = values[order]
            increase[j] += error(X) - before
            X[:, j] = values
    return increase / n_repeats


def _error_of(tree: Forest, y: npt.NDArray[Any], weights: Floats) -> Callable[[Floats], float]:
    """The weighted error of one tree as a function of the rows."""
    total = float(weights.sum())

    def error(X: Floats) -> float:
        predicted = tree.predict(X)
        cost = predicted != y if tree.n_classes else (predicted - y) ** 2
        return float(weights @ cost) / total

    return error


def features_used(forest: Forest) -> list[npt.NDArray[np.int64]]:
    """Features that each tree tests, alone or in a linear combination."""
    start, terms, _ = forest.projections
    used = []
    for begin, end in zip(forest.tree_start[:-1], forest.tree_start[1:], strict=True):
        tested = np.unique(forest.feature[begin:end][forest.n_children[begin:end] > 0])
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
    """Check the arguments; returns the weights."""
    check_rows(forest, X)
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
        raise ValueError(f"n_repeats={n_repeats} is not allowed: it must be 1 or more.")
    w = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != (n_rows,) or not (np.isfinite(w) & (w >= 0)).all():
        raise ValueError(
            f"weights has shape {w.shape}; {n_rows} finite weights that are not negative are "
            "expected."
        )
    return w
