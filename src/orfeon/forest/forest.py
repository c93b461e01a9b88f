"""Any number of trees in flat arrays: no Python object per tree.

A forest routes samples to leaves and reads their values; it does not know how it was grown. A tree
estimator holds a forest of one tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orfeon.forest import joining, routing
from orfeon.forest.joining import NODE
from orfeon.forest.packed import PackedForest
from orfeon.forest.ranked import RankedForest
from orfeon.kernels.cart import leaf_sums
from orfeon.kernels.routing import fractional
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils import saved
from orfeon.utils.types import Floats, Integers

if TYPE_CHECKING:
    from scipy import sparse

_NO_ROWS = np.zeros(0, np.int64)
_NO_LABELS = np.zeros(0, np.int32)
_NO_WEIGHTS = np.zeros(0)
#: Rows times trees routed at once, if leaves have several values.
_ROUTED = 1 << 20


def _empty_projections() -> tuple[Integers, npt.NDArray[np.int32], Floats]:
    return np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0)


@saved.attributes(
    tree_start=saved.indices,
    nodes=saved.array(NODE, 1),
    n_children=saved.array("u2", 1),
    missing=saved.array("u2", 1),
    label=saved.array("i4", 1),
    value=saved.array(("u4", "f8"), 2),
    n_classes=saved.integer(0, 2**31 - 1),
    n_categories=saved.indices,
    branches=saved.array("u2", 1),
    projections=saved.tuple_with(saved.indices, saved.array("i4", 1), saved.floats),
    leaf_weight=saved.one_of(saved.none, saved.array(("u4", "f8"), 1)),
    leaf_impurity=saved.one_of(saved.none, saved.floats),
)
@dataclass(frozen=True)
class Forest:
    """Trees in flat arrays.

    Node indices are relative to their tree; the children of a node are adjacent.

    Parameters
    ----------
    tree_start : ndarray of shape (n_trees + 1,)
        Where each tree's nodes begin.
    nodes : ndarray of ``NODE`` of shape (n_nodes,)
        Threshold, feature and first child. The threshold of a categorical test is the start of
        its branch table in ``branches``; the feature ``-1 - p`` is projection ``p``.
    n_children : ndarray of uint16
        0 at a leaf.
    missing : ndarray of uint16
        Branch of a missing value; ``ALL_BRANCHES`` for every branch.
    label : ndarray of int32
        The class each node votes for; empty in regression.
    value : ndarray of shape (n_nodes, n_outputs)
        Class weights, or the mean target; with several outputs their means, or the shares of the
        classes of each, one output after the other.
    n_classes : int
        Number of classes, 0 in regression.
    n_categories : ndarray of shape (n_features,)
        Number of categories of each feature, 0 if it is ordered.
    branches : ndarray of uint16
        Branch tables of categorical tests.
    projections : tuple of three arrays
        Start, features and weights of the linear combinations.
    leaf_weight : ndarray of shape (n_leaves,), optional
        Weight of each leaf in regression; other nodes have the sum over their leaves.
    leaf_impurity : ndarray of shape (n_leaves,) or (0,), optional
        Variance of each leaf in regression, summed over several outputs; empty if all leaves are
        pure, as in most unpruned trees.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import CARTClassifier
    >>> forest = CARTClassifier().fit([[0.0], [1.0], [2.0]], [0, 0, 1]).forest_
    >>> len(forest), forest.n_nodes.tolist(), forest.n_leaves.tolist(), forest.depth.tolist()
    (1, [3], [2], [1])
    >>> forest.votes(np.array([[0.5], [1.7]]))
    array([[0, 1]], dtype=int32)
    """

    tree_start: Integers
    nodes: npt.NDArray[np.void]
    n_children: npt.NDArray[np.uint16]
    missing: npt.NDArray[np.uint16]
    label: npt.NDArray[np.int32]
    value: npt.NDArray[Any]
    n_classes: int
    n_categories: Integers
    branches: npt.NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, np.uint16))
    projections: tuple[Integers, npt.NDArray[np.int32], Floats] = field(
        default_factory=_empty_projections
    )
    leaf_weight: npt.NDArray[Any] | None = None
    leaf_impurity: Floats | None = None

    def __len__(self) -> int:
        return len(self.tree_start) - 1

    def __getstate__(self) -> dict[str, Any]:
        """The arrays, without what was derived from them."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    # -- shape ---------------------------------------------------------------------------------

    @property
    def threshold(self) -> Floats:
        """Threshold of each node (a view)."""
        return self.nodes["threshold"]

    @property
    def feature(self) -> npt.NDArray[np.int32]:
        """Feature tested at each node, 0 at leaves (a view)."""
        return self.nodes["feature"]

    @property
    def first_child(self) -> npt.NDArray[np.int32]:
        """First child of each node within its tree, itself at leaves (a view)."""
        return self.nodes["first_child"]

    @property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        """Whether each node is a leaf."""
        return np.asarray(self.n_children == 0)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_categories)

    @property
    def n_nodes(self) -> Integers:
        """Number of nodes of each tree."""
        return np.diff(self.tree_start)

    @property
    def n_leaves(self) -> Integers:
        """Number of leaves of each tree."""
        return np.add.reduceat(self.is_leaf.astype(np.int64), self.tree_start[:-1])

    @property
    def depth(self) -> Integers:
        """Depth of each tree: number of tests on its longest path."""
        return np.maximum.reduceat(self.node_depth, self.tree_start[:-1])

    @property
    def node_depth(self) -> Integers:
        """Number of tests above each node."""
        depth = np.zeros(len(self.nodes), np.int64)
        frontier = self.tree_start[:-1]
        level = 0
        while len(frontier):
            depth[frontier] = level
            frontier = self._children(frontier)
            level += 1
        return depth

    def _children(self, at: Integers) -> Integers:
        """Absolute indices of the children of the nodes ``at`` (absolute indices)."""
        inner = at[self.n_children[at] > 0]
        count = self.n_children[inner].astype(np.int64)
        base = inner - self._relative(inner)
        first = np.repeat(base + self.first_child[inner], count)
        within = np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)
        return first + within

    def _relative(self, at: Integers) -> Integers:
        return at - self.tree_start[np.searchsorted(self.tree_start, at, side="right") - 1]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = [
            self.tree_start,
            self.nodes,
            self.n_children,
            self.missing,
            self.label,
            self.value,
        ]
        arrays += [self.n_categories, self.branches, *self.projections]
        arrays += [a for a in (self.leaf_weight, self.leaf_impurity) if a is not None]
        return int(sum(a.nbytes for a in arrays))

    def weights(self) -> Floats:
        """Weight of the training samples in each node."""
        known = self.node_weight
        if known is not None:
            return known
        return np.asarray(self.value.sum(axis=1, dtype=np.float64))

    @property
    def node_weight(self) -> Floats | None:
        """Weight of each node, if known; regression only."""
        if self.leaf_weight is None:
            return None
        weight = np.empty(len(self.nodes))
        leaf_sums.node_weights(
            self.tree_start, self.first_child, self.n_children,
            self.leaf_weight.astype(np.float64), weight,
        )  # fmt: skip
        return weight

    @property
    def impurity(self) -> Floats | None:
        """Variance of each node, if known; regression only."""
        weight = self.node_weight
        if self.leaf_impurity is None or weight is None:
            return None
        variance = np.empty(len(self.nodes))
        leaf_sums.node_variances(
            self.tree_start, self.first_child, self.n_children, self.value, weight,
            self._leaf_impurity(), variance,
        )  # fmt: skip
        return variance

    # -- prediction ----------------------------------------------------------------------------

    @property
    def _is_plain(self) -> bool:
        """Whether every test is a threshold on an ordered feature."""
        return not len(self.branches) and not len(self.projections[1])

    def _tests(self) -> tuple[Any, ...]:
        return (self.n_categories > 0, self.branches, *self.projections)

    def _words(self) -> tuple[Floats, npt.NDArray[np.uint64]]:
        """The nodes as words, for the routing kernels."""
        words = self.nodes.view(np.uint64)
        return words.view(np.float64), words

    @cached_property
    def _packed(self) -> PackedForest:
        """The nodes as routing of categories and missing values wants them."""
        return PackedForest.of(self)

    def _leaves(self, X: Floats) -> npt.NDArray[np.uint32]:
        """Leaf of each row in each tree, if no row goes down several branches."""
        return self._route(X)[0]

    def _route(self, X: Floats) -> tuple[npt.NDArray[np.uint32], Integers]:
        """Leaf of each row in each tree, and the rows that have no single one in some tree."""
        return routing.route_rows(self, X)

    def add_predictions(self, X: Floats, weights: Floats, out: Floats) -> Integers:
        """Add the weighted votes of each tree, or its supports if there are no weights.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Encoded rows.
        weights : ndarray of shape (n_trees,) or (0,)
            Weights of the votes.
        out : ndarray of shape (n_rows, n_outputs)
            The trees are added in their order; those of regression to one column after the other.

        Returns
        -------
        ndarray
            Rows that go down several branches of some tree: what was added to them is not defined.
        """
        return routing.add_predictions(self, X, weights, out)

    @cached_property
    def _ranked_numbers(self) -> RankedForest | None:
        return RankedForest.of(self, numbers=True)

    @cached_property
    def _ranked(self) -> RankedForest | None:
        return RankedForest.of(self, numbers=False)

    @cached_property
    def _categorical(self) -> tuple[Integers, Integers]:
        """Indices of the categorical features, and their numbers of categories."""
        where = np.flatnonzero(self.n_categories)
        return where, self.n_categories[where]

    def apply(self, X: Floats) -> npt.NDArray[np.int64]:
        """Leaf that each row reaches in each tree.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Encoded rows, C-ordered float64.

        Returns
        -------
        ndarray of shape (n_rows, n_trees)
            Node indices within each tree. A row that goes down every branch is counted in the
            branch with the most training samples.
        """
        leaves, several = self._route(X)
        reached = leaves.astype(np.int64)
        if len(several):
            reached[several] = self._heaviest._leaves(X[several])
        return reached

    @cached_property
    def _heaviest(self) -> Forest:
        """The same forest with rows that went down every branch following the heaviest."""
        inner = np.flatnonzero(self.n_children > 0)
        children, owner = self._children(inner), np.repeat(inner, self.n_children[inner])
        order = np.lexsort((children, -self.weights()[children], owner))
        starts = np.flatnonzero(np.diff(owner[order], prepend=-1))  # the first of each node
        heaviest = np.zeros(len(self.nodes), np.int64)
        heaviest[inner] = self._relative(children[order][starts]) - self.first_child[inner]
        missing, branches = self.missing.copy(), self.branches.copy()
        missing[missing == ALL_BRANCHES] = heaviest[missing == ALL_BRANCHES]
        feature = self.feature[inner]
        width = np.where(feature >= 0, self.n_categories[np.maximum(feature, 0)], 0)
        table = np.repeat(self.threshold[inner], width).astype(np.int64)
        entry = table + np.arange(len(table)) - np.repeat(np.cumsum(width) - width, width)
        everywhere = branches[entry] == ALL_BRANCHES
        branches[entry[everywhere]] = heaviest[np.repeat(inner, width)[everywhere]]
        return self._replace(missing=missing, branches=branches)

    def _replace(self, **changes: Any) -> Forest:
        from dataclasses import replace

        return replace(self, **changes)

    def supports(self, X: Floats) -> npt.NDArray[np.float64]:
        """Prediction of each tree for each row: class shares, or the target.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Encoded rows.

        Returns
        -------
        ndarray of shape (n_trees, n_rows, n_outputs)
            Class shares of the leaf reached; in regression its mean, with one output.
        """
        leaves, several = self._route(X)
        at = leaves.T.astype(np.int64) + self.tree_start[:-1, None]
        out = self._shares().take(at, axis=0)
        if len(several):
            out[:, several] = self._supports_in_several(X[several])
        return out

    def _supports_in_several(self, X: Floats) -> npt.NDArray[np.float64]:
        """``supports`` of rows that may go down several branches."""
        out = np.empty((len(self), len(X), self.value.shape[1]))
        shares, weight = self._shares(), self.weights()
        for t in range(len(self)):
            fractional.supports_fractional(
                self.feature, self.threshold, self.first_child, self.n_children, self.missing,
                weight, shares, *self._tests(), t,  # type: ignore[call-arg]
                self.tree_start, X, out[t],
            )  # fmt: skip
        return out

    @cached_property
    def _pure_label(self) -> npt.NDArray[np.int32]:
        """Class of each pure node, -1 for the others; empty in regression."""
        if self.n_classes == 0:
            return np.zeros(0, np.int32)
        own = self.value[np.arange(len(self.label)), self.label]
        pure = (own > 0) & ((self.value > 0).sum(axis=1) == 1)
        return np.where(pure, self.label, -1).astype(np.int32)

    def _pure_label_for(self, weights: Floats) -> npt.NDArray[np.int32]:
        """What the kernels read of it: nothing where votes have weights."""
        return _NO_LABELS if len(weights) else self._pure_label

    def _shares(self) -> npt.NDArray[np.float64]:
        if self.n_classes == 0:
            return np.asarray(self.value, dtype=np.float64)
        value = self.value.astype(np.float64)
        total = value.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(value, total, out=np.zeros_like(value), where=total > 0))

    def mean_supports(self, X: Floats) -> npt.NDArray[np.float64]:
        """Supports of each row averaged over the trees.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Encoded rows.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
            Mean class shares, or the mean prediction.
        """
        out = np.zeros((X.shape[0], self.value.shape[1]))
        if self.n_outputs > 1:
            return self._mean_values(X, out)
        several = self.add_predictions(X, _NO_WEIGHTS, out)
        if len(several):
            out[several] = self._supports_in_several(X[several]).sum(axis=0)
        out /= len(self)
        return out

    predict_proba = mean_supports

    @property
    def n_outputs(self) -> int:
        """Number of values in a leaf of numbers: means of outputs, or shares of their classes."""
        return 1 if self.n_classes else int(self.value.shape[1])

    def _mean_values(self, X: Floats, out: Floats) -> Floats:
        """The values of several outputs averaged over the trees, which are added in order."""
        step = max(1, _ROUTED // len(self))
        for first in range(0, X.shape[0], step):
            rows = slice(first, first + step)
            leaves = self._route(X[rows])[0]
            for t, start in enumerate(self.tree_start[:-1]):
                out[rows] += self.value[start + leaves[:, t]]
        out /= len(self)
        return out

    def votes(self, X: Floats) -> npt.NDArray[np.int32]:
        """Class that each tree votes for.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Encoded rows.

        Returns
        -------
        ndarray of shape (n_trees, n_rows)
            Class codes.
        """
        self._check_classes()
        leaves, several = self._route(X)
        at = leaves.T.astype(np.int64) + self.tree_start[:-1, None]
        votes = self.label[at]
        if len(several):
            votes[:, several] = self._votes_in_several(X[several])
        return np.asarray(votes)

    def _votes_in_several(self, X: Floats) -> npt.NDArray[np.int32]:
        """``votes`` of rows that may go down several branches."""
        supports = self._supports_in_several(X)
        at = self._heaviest._leaves(X).T + self.tree_start[:-1, None]
        # In most trees a row still reaches a single leaf, whose label respects the rule for ties.
        alone = (supports == self._shares()[at]).all(axis=2)
        votes = np.where(alone, self.label[at], np.argmax(supports, axis=2))
        return np.asarray(votes, dtype=np.int32)

    def _check_classes(self) -> None:
        if self.n_classes == 0:
            raise ValueError("this forest predicts numbers; only classification trees vote.")

    def count_votes(self, X: Floats) -> Integers:
        """Number of trees that vote for each class.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Encoded rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Vote counts.
        """
        self._check_classes()
        return self._sum_votes(X, self._one_each).astype(np.int64)

    @cached_property
    def _one_each(self) -> Floats:
        return np.ones(len(self))

    def weigh_votes(self, X: Floats, weights: Floats) -> Floats:
        """Sum of the weights of the trees that vote for each class, added in their order.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Encoded rows.
        weights : ndarray of shape (n_trees,)
            Weight of each tree's vote.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Sums.
        """
        self._check_classes()
        if np.shape(weights) != (len(self),):
            raise ValueError(
                f"weights has shape {np.shape(weights)}; there are {len(self)} trees, one weight "
                "each."
            )
        return self._sum_votes(X, np.array(weights, dtype=np.float64))

    def _sum_votes(self, X: Floats, weights: Floats) -> Floats:
        sums = np.zeros((X.shape[0], self.n_classes))
        several = self.add_predictions(X, weights, sums)
        if len(several):
            sums[several] = 0.0
            for votes, weight in zip(self._votes_in_several(X[several]), weights, strict=True):
                sums[several, votes] += weight
        return sums

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """Prediction of the whole forest: class codes by majority vote, or the mean target.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Encoded rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class codes (a tied vote takes the first class), or numbers.
        """
        if self.n_classes == 0:
            return np.asarray(self.mean_supports(X)[:, 0])
        if len(self) == 1:
            return np.asarray(self.votes(X)[0])
        return np.asarray(np.argmax(self.count_votes(X), axis=1))

    def decision_path(self, X: Floats) -> sparse.csr_matrix:
        """Nodes that each row passes through.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Encoded rows.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)
            1 where the row passes through the node; nodes of all trees, tree by tree.
        """
        leaves = self.apply(X) + self.tree_start[:-1]
        parent = self.parents()
        rows, columns = [], []
        at = leaves.ravel()
        row = np.repeat(np.arange(X.shape[0]), len(self))
        while len(at):
            rows.append(row)
            columns.append(at)
            inside = parent[at] >= 0
            at, row = parent[at[inside]], row[inside]
        index = (np.concatenate(rows), np.concatenate(columns))
        from scipy import sparse  # slow to import

        path = sparse.csr_matrix(
            (np.ones(len(index[0]), np.int64), index), shape=(X.shape[0], len(self.nodes))
        )
        path.sort_indices()
        return path

    def parents(self) -> Integers:
        """Absolute index of the parent of each node, -1 at roots."""
        parent = np.full(len(self.nodes), -1, np.int64)
        inner = np.flatnonzero(self.n_children > 0)
        parent[self._children(inner)] = np.repeat(inner, self.n_children[inner])
        return parent

    # -- whole-forest operations ---------------------------------------------------------------

    def subset(self, trees: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Forest:
        """The forest of some of the trees, in the order given.

        Parameters
        ----------
        trees : sequence of int, or mask of shape (n_trees,)
            Indices of trees (negative from the end), or a mask.

        Returns
        -------
        Forest
            A new forest; it keeps unused branch tables and projections.
        """
        return joining.take_trees(self, trees)

    @staticmethod
    def concatenate(forests: Sequence[Forest]) -> Forest:
        """Join the trees of several forests, in order.

        Parameters
        ----------
        forests : sequence of Forest
            Forests over the same features and classes.

        Returns
        -------
        Forest
            All their trees.
        """
        return joining.join_forests(forests)

    def _leaf_impurity(self) -> Floats:
        """Variance of each leaf, also if all are zero."""
        known = self.leaf_impurity
        return np.zeros(int(self.is_leaf.sum())) if known is None or not len(known) else known

    def _of_leaves(self, known: npt.NDArray[Any] | None, at: Integers) -> Any:
        """Entries of a per-leaf array for the leaves among the nodes ``at``."""
        if known is None or not len(known):
            return known
        place = np.cumsum(self.is_leaf) - 1
        return known[place[at[self.is_leaf[at]]]]

    def validate(self) -> Forest:
        """Check that the arrays describe trees, so that kernels stay within bounds.

        Returns
        -------
        Forest
            The forest itself.

        Raises
        ------
        ValueError
            If anything is out of bounds or inconsistent; the message says where.
        """
        from orfeon.forest.validation import check_forest

        check_forest(self)
        return self
