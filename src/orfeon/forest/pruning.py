"""Cost-complexity and reduced-error pruning of grown trees.

A method decides which nodes become leaves; :func:`cut_at` cuts there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.forest import Forest, without_zeros
from orfeon.forest.routing import check_rows
from orfeon.kernels.cart.prune import errors_on_path, reachable, reduced_error_cuts, weakest_links
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats


@dataclass(frozen=True)
class PruningPath:
    """The nested trees of cost-complexity pruning.

    Parameters
    ----------
    alphas : ndarray of shape (n_steps,)
        Breakpoints, ascending from 0: the k-th tree is optimal from ``alphas[k]`` on.
    risks : ndarray of shape (n_steps,)
        Risk of each tree's leaves, as a share of the training weight.
    n_leaves : ndarray of shape (n_steps,)
        Leaves of each tree.
    node_alpha : ndarray of shape (n_nodes,)
        Alpha at which each node becomes a leaf.
    """

    alphas: Floats
    risks: Floats
    n_leaves: npt.NDArray[np.int64]
    node_alpha: Floats


def _check_cost(argument: str, value: str, forest: Forest) -> None:
    allowed = ["error", "gini", "entropy"] if forest.n_classes else ["variance"]
    if value not in allowed:
        raise ValueError(
            f"{argument}={value!r} is not allowed: for this forest it is one of {allowed}."
        )


def node_errors(forest: Forest) -> Floats:
    """Weight of the training samples that each node's label gets wrong."""
    right = forest.value[np.arange(len(forest.label)), forest.label]
    return np.asarray(forest.weights() - right, dtype=np.float64)


def node_impurities(forest: Forest, criterion: str) -> Floats:
    _check_cost("criterion", criterion, forest)
    variance = forest.impurity
    if variance is not None:
        return variance
    value = forest.value.astype(np.float64)
    total = value.sum(axis=1, keepdims=True)
    share = np.divide(value, total, out=np.zeros_like(value), where=total > 0)
    if criterion == "error":
        return np.asarray(1.0 - share.max(axis=1))
    if criterion == "gini":
        return np.asarray(1.0 - (share**2).sum(axis=1))
    logarithm = np.log2(share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(-(share * logarithm).sum(axis=1))


def output_impurities(forest: Forest, criterion: str) -> Floats:
    """Impurity of each node, summed over several outputs."""
    if criterion == "entropy":
        logarithm = np.log2(forest.value, out=np.zeros_like(forest.value), where=forest.value > 0)
        return np.asarray(-(forest.value * logarithm).sum(axis=1))
    known = forest.impurity
    assert known is not None  # forests of numbers keep it
    return known


def pruning_path(
    forest: Forest, tree: int = 0, risk: Literal["error", "gini", "entropy", "variance"] = "error"
) -> PruningPath:
    """Cost-complexity pruning path of one tree.

    Parameters
    ----------
    forest : Forest
        The forest.
    tree : int, default=0
        Which tree.
    risk : {"error", "gini", "entropy", "variance"}, default="error"
        Cost of a leaf: the weight it gets wrong (Breiman et al. 1984), or its weighted impurity.

    Returns
    -------
    PruningPath
        The nested trees.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.forest import pruning_path
    >>> grown = CARTClassifier().fit([[1], [2], [3], [4]], [0, 1, 1, 1])
    >>> path = pruning_path(grown.forest_)
    >>> path.n_leaves.tolist(), path.alphas.tolist(), path.risks.tolist()
    ([2, 1], [0.0, 0.25], [0.0, 0.25])
    """
    _check_cost("risk", risk, forest)
    one = forest.subset([tree])
    weight = one.weights()
    cost = node_errors(one) if risk == "error" else node_impurities(one, risk) * weight
    n = len(one.nodes)
    node_alpha, alphas, risks = np.empty(n), np.empty(n + 1), np.empty(n + 1)
    leaves = np.empty(n + 1, np.int64)
    steps = weakest_links(
        one.first_child, one.n_children, cost, n, node_alpha, alphas, risks, leaves
    )
    whole = float(weight[0])
    return PruningPath(
        alphas[:steps] / whole, risks[:steps] / whole, leaves[:steps], node_alpha / whole
    )


def cut_at(forest: Forest, cut: npt.NDArray[np.bool_]) -> Forest:
    """Turn the nodes of a mask into leaves and drop their descendants."""
    keep = np.empty(len(forest.nodes), dtype=bool)
    reachable(forest.tree_start, forest.first_child, forest.n_children, cut, keep)
    place = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
    start = place[forest.tree_start]
    base_before = np.repeat(forest.tree_start[:-1], forest.n_nodes)[keep]
    base_after = np.repeat(start[:-1], np.diff(start))
    nodes = forest.nodes[keep].copy()
    n_children = np.where(cut[keep], 0, forest.n_children[keep]).astype(np.uint16)
    missing = forest.missing[keep].copy()
    leaf = n_children == 0
    nodes["first_child"] = place[base_before + nodes["first_child"]] - base_after
    nodes["first_child"][leaf] = (np.arange(len(nodes)) - base_after)[leaf]
    nodes["threshold"][leaf] = np.inf
    nodes["feature"][leaf] = 0
    missing[leaf] = 0
    impurity = forest.impurity
    return forest._replace(
        tree_start=start, nodes=nodes, n_children=n_children, missing=missing,
        label=forest.label[keep] if len(forest.label) else forest.label,
        value=forest.value[keep],
        leaf_weight=_with_type_of(forest.leaf_weight, forest.node_weight, keep, leaf),
        leaf_impurity=None if impurity is None else without_zeros(impurity[keep][leaf]),
    )  # fmt: skip


def _with_type_of(given: Any, every: Any, keep: Any, leaf: Any) -> Any:
    """Weights of the remaining leaves, in the type of the given ones."""
    return None if given is None else every[keep][leaf].astype(given.dtype)


def prune_to_alpha(
    forest: Forest, alpha: float, risk: Literal["error", "gini", "entropy", "variance"] = "error"
) -> Forest:
    """The smallest subtree of each tree that minimises risk + alpha x leaves.

    Parameters
    ----------
    forest : Forest
        Any forest.
    alpha : float
        Cost per leaf, as a share of the training weight.
    risk : {"error", "gini", "entropy", "variance"}, default="error"
        Cost of a leaf.

    Returns
    -------
    Forest
        The pruned forest.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.forest import prune_to_alpha
    >>> grown = CARTClassifier().fit([[1], [2], [3], [4]], [0, 1, 1, 1])
    >>> [prune_to_alpha(grown.forest_, alpha).n_leaves.tolist() for alpha in (0.2, 0.3)]
    [[2], [1]]
    """
    parts = [pruning_path(forest, t, risk).node_alpha for t in range(len(forest))]
    return cut_at(forest, np.concatenate(parts) <= alpha * (1 + 1e-12))


def _check_pruning_set(forest: Forest, X: Floats, y: Any, weights: Floats) -> None:
    """Check the shapes, because kernels do not check bounds."""
    if not forest.n_classes:
        raise ValueError(
            "the forest has regression trees; reduced-error pruning needs classification trees."
        )
    check_rows(forest, X)
    for name, values in (("y", y), ("weights", weights)):
        if np.shape(values) != (len(X),):
            raise ValueError(
                f"{name} has the shape {np.shape(values)}; X has {len(X)} rows, so it must be "
                f"({len(X)},)."
            )


def prune_reduced_error(
    forest: Forest,
    X: Floats,
    y: npt.NDArray[np.integer[Any]],
    weights: npt.NDArray[Any] | None = None,
) -> Forest:
    """Reduced-error pruning of every tree with a separate set of samples.

    Parameters
    ----------
    forest : Forest
        Any forest of classification trees.
    X : ndarray of shape (n_rows, n_features)
        Encoded rows of the pruning set.
    y : ndarray of shape (n_rows,)
        Their class codes.
    weights : ndarray of shape (n_rows,), optional
        Their weights.

    Returns
    -------
    Forest
        The pruned forest: a node is cut if its own errors on these samples do not exceed those of
        its leaves.

    See Also
    --------
    prune_to_alpha : Needs no other samples.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import CARTClassifier
    >>> from orfeon.forest import prune_reduced_error
    >>> grown = CARTClassifier().fit([[1], [2], [3], [4]], [0, 1, 0, 1]).forest_
    >>> others = np.array([[0.0], [2.0], [3.0], [5.0]])
    >>> pruned = prune_reduced_error(grown, others, np.array([0, 1, 1, 1]))
    >>> grown.n_leaves.tolist(), pruned.n_leaves.tolist()
    ([4], [2])
    """
    w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    _check_pruning_set(forest, X, y, w)
    exact = np.array_equal(w, np.rint(w))
    cut = np.zeros(len(forest.nodes), dtype=bool)
    for t in range(len(forest)):
        span = slice(forest.tree_start[t], forest.tree_start[t + 1])
        error, below = np.zeros(span.stop - span.start), np.empty(span.stop - span.start)
        first_child, n_children = forest.first_child[span], forest.n_children[span]
        errors_on_path(
            forest.feature[span], forest.threshold[span], first_child, n_children,
            forest.missing[span], forest.label[span], *forest._tests(),  # type: ignore[call-arg]
            kernel_view(X), np.array(y, dtype=np.int64), kernel_view(w), error,
        )  # fmt: skip
        tolerance = 0.0 if exact else 1e-13 * float(w.sum())
        reduced_error_cuts(first_child, n_children, error, len(error), tolerance, cut[span], below)
    return cut_at(forest, cut)
