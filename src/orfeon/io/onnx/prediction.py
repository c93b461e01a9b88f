"""Predictions of trees in ONNX: vote counts, predictions of each tree, sums in a fixed order.

Counts are exact in any order. The last bits of other sums depend on the order, and may decide a
tie. Runtimes sum trees in parallel, so they are not used for that: the trees return the leaf of
each row, and running sums add the values of the leaves tree by tree, as our kernels do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.forest import Forest
from orfeon.io.onnx.errors import NoOnnxFormError
from orfeon.io.onnx.graph import INT64, ML, Graph
from orfeon.io.onnx.tree_arrays import as_tree_arrays
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.types import Floats, Integers

#: Most numbers per row in memory at once, unless one tree has more.
_MAX_NUMBERS = 256
#: Most trees in one operator.
_MAX_TREES = 64
#: Codes of ONNX: aggregate by sum, no post-transform.
_SUM, _NONE = 1, 0


@dataclass(frozen=True)
class PredictionGraph:
    """Adds predictions of trees for encoded rows to a graph."""

    graph: Graph
    rows: str
    may_miss: bool = True

    # -- trees ---------------------------------------------------------------------------------

    def _checked(self, forest: Forest) -> Forest:
        """The forest; raises if a test leads down several branches."""
        if (forest.branches == ALL_BRANCHES).any():
            raise NoOnnxFormError(
                "a tree that sends a known category down all branches",
                "ONNX's trees follow one branch",
                "train with another base learner, such as CARTClassifier",
            )
        parts = forest.missing == ALL_BRANCHES
        if not parts.any():
            return forest
        if self.may_miss:
            raise NoOnnxFormError(
                "a tree that sends a missing value down all branches, as C4.5 does,",
                "ONNX's trees follow one branch",
                'with missing="never" it is exported for rows in which nothing is missing and '
                "no category is new",
            )
        return forest._replace(missing=np.where(parts, 0, forest.missing).astype(np.uint16))

    def _operator(self, forest: Forest, target: Any, weight: Any, n_targets: int) -> str:
        """Trees whose leaves add a weight to one of several targets.

        ``target`` and ``weight`` are functions of the leaves (node indices) and their trees.
        """
        rows, forest = self._with_derived_columns(self._checked(forest))
        arrays = as_tree_arrays(forest)
        unused = np.zeros(arrays.n_unused)
        targets = np.concatenate([unused, target(arrays.leaf, arrays.leaf_tree)])
        return self.graph.add(
            "TreeEnsemble", rows, domain=ML, **arrays.attributes(), n_targets=n_targets,
            aggregate_function=_SUM, post_transform=_NONE,
            leaf_targetids=targets.astype(np.int64).tolist(),
            leaf_weights=np.concatenate([unused, weight(arrays.leaf, arrays.leaf_tree)]),
        )  # fmt: skip

    def _leaf_numbers(self, forest: Forest, number: Floats) -> str:
        """An integer of the leaf that each row reaches in each tree."""
        found = self._operator(
            forest, lambda leaf, tree: tree, lambda leaf, tree: number[leaf], len(forest)
        )
        return self.graph.add("Cast", found, to=INT64)

    def _with_derived_columns(self, forest: Forest) -> tuple[str, Forest]:
        """Rows with columns for linear combinations and categorical tests, and trees that use them.

        The column of a categorical test holds the branch of each category and of missing values.
        """
        nodes, n_columns, columns = forest.nodes.copy(), forest.n_features, [self.rows]
        is_inner = forest.n_children > 0
        oblique = np.flatnonzero(is_inner & (forest.feature < 0))
        if len(oblique):
            made, place, n_made = self._projections(forest, -1 - forest.feature[oblique])
            columns += made
            nodes["feature"][oblique] = n_columns + place
            n_columns += n_made
        is_categorical = is_inner & (forest.n_categories[np.maximum(forest.feature, 0)] > 0)
        is_categorical &= forest.feature >= 0
        for j in np.unique(forest.feature[is_categorical]).tolist():
            at = np.flatnonzero(is_categorical & (forest.feature == j))
            taken, place = np.unique(_branches_taken(forest, at, j), axis=1, return_inverse=True)
            columns.append(self._branches(taken, j))
            nodes["feature"][at] = n_columns + place.ravel()
            nodes["threshold"][at] = 0.5
            n_columns += taken.shape[1]
        if len(columns) == 1:
            return self.rows, forest
        rows = self.graph.add("Concat", *columns, axis=1)
        return rows, forest._replace(nodes=nodes, n_categories=np.zeros(n_columns, np.int64))

    def _branches(self, taken: Floats, feature: int) -> str:
        """Columns of branch numbers: a row of the table for each code, and the last for NaN."""
        graph = self.graph
        codes = graph.add("Gather", self.rows, graph.constant(np.array(feature)), axis=1)
        last = graph.constant(np.array(float(len(taken) - 1)))
        known = graph.add("Where", graph.add("IsNaN", codes), last, codes)
        index = graph.add("Cast", known, to=INT64)
        return graph.add("Gather", graph.constant(taken), index, axis=0)

    def _projections(
        self, forest: Forest, wanted: npt.NDArray[Any]
    ) -> tuple[list[str], Integers, int]:
        """Columns of linear combinations, the index of each wanted one, and their number."""
        used, place = np.unique(wanted, return_inverse=True)
        start = forest.projections[0]
        n_terms = start[used + 1] - start[used]
        order = np.argsort(n_terms, kind="stable")
        columns = [
            self._combinations(forest, used[order][n_terms[order] == n]) for n in np.unique(n_terms)
        ]
        position = np.empty(len(used), np.int64)
        position[order] = np.arange(len(used))
        return columns, position[place], len(used)

    @cached_property
    def _columns(self) -> str:
        """The transposed rows, from which features are gathered."""
        return self.graph.add("Transpose", self.rows, perm=[1, 0])

    def _combinations(self, forest: Forest, which: Integers) -> str:
        """Linear combinations with equal numbers of terms, summed in the order of the kernels."""
        graph, (start, feature, weight) = self.graph, forest.projections
        total = ""
        for k in range(int(start[which[0] + 1] - start[which[0]])):
            terms = start[which] + k
            index = graph.constant(feature[terms].astype(np.int64))
            values = graph.add("Gather", self._columns, index, axis=0)
            products = graph.add("Mul", values, graph.constant(weight[terms][:, None]))
            total = graph.add("Add", total, products) if total else products
        return graph.add("Transpose", total, perm=[1, 0])

    def _last(self, values: str, axis: int, length: int) -> str:
        """Sums along an axis, added from first to last."""
        graph = self.graph
        running = graph.add("CumSum", values, graph.constant(np.array(axis)))
        return graph.add("Gather", running, graph.constant(np.array(length - 1)), axis=axis)

    def _blocks(self, forest: Forest, n_columns: int) -> list[Integers]:
        """Trees of each operator: few where each takes much memory."""
        derived = _uses_derived_column(forest).astype(np.int64)
        tests = np.add.reduceat(derived, forest.tree_start[:-1])
        blocks: list[list[int]] = [[]]
        filled = 0
        for t, n_tests in enumerate(tests.tolist()):
            fills = n_columns + n_tests
            if blocks[-1] and (filled + fills > _MAX_NUMBERS or len(blocks[-1]) == _MAX_TREES):
                blocks.append([])
                filled = 0
            blocks[-1].append(t)
            filled += fills
        return [np.array(block) for block in blocks]

    # -- predictions ---------------------------------------------------------------------------

    def counts(self, forest: Forest) -> str:
        """How many trees vote for each class."""
        return self.grouped_counts(forest, np.zeros(len(forest), np.int64), 1)

    def grouped_counts(self, forest: Forest, group: Integers, n_groups: int) -> str:
        """How many trees of each group vote for each class."""
        n_classes = forest.n_classes
        # Derived columns take memory; without them one operator holds all trees.
        blocks = [np.arange(len(forest))]
        if _uses_derived_column(forest).any():
            blocks = self._blocks(forest, 1)
        total = ""
        for block in blocks:
            some = forest.subset(block) if len(blocks) > 1 else forest
            mine, label = group[block], some.label
            counted = self._operator(
                some,
                lambda leaf, tree, mine=mine, label=label: mine[tree] * n_classes + label[leaf],
                lambda leaf, tree: np.ones(len(leaf)),
                n_groups * n_classes,
            )
            total = self.graph.add("Add", total, counted) if total else counted
        return total

    def numbers(self, forest: Forest, value: npt.NDArray[Any]) -> str:
        """A number of the leaf that each row reaches in each tree."""
        blocks = self._blocks(forest, 1)
        parts = [self._numbers(forest, value, block) for block in blocks]
        return parts[0] if len(parts) == 1 else self.graph.add("Concat", *parts, axis=1)

    def _numbers(self, forest: Forest, value: npt.NDArray[Any], block: Integers) -> str:
        some, numbers = forest, value
        if len(block) < len(forest):
            some = forest.subset(block)
            numbers = np.concatenate([value[slice(*forest.tree_start[t : t + 2])] for t in block])
        numbers = np.asarray(numbers, dtype=np.float64)
        return self._operator(
            some, lambda leaf, tree: tree, lambda leaf, tree: numbers[leaf], len(block)
        )

    def ordered_sum(
        self, forest: Forest, value: npt.NDArray[Any], start: float | None = None
    ) -> str:
        """Numbers of the leaves reached, summed tree by tree."""
        graph, total = self.graph, ""
        for block in self._blocks(forest, 1):
            numbers = self._numbers(forest, value, block)
            length = len(block)
            if total:
                numbers, length = graph.add("Concat", total, numbers, axis=1), length + 1
            elif start is not None:
                before = ((0, 0), (1, 0))
                pads = graph.constant(np.array(before).T.ravel())
                numbers = graph.add("Pad", numbers, pads, graph.constant(np.array(float(start))))
                length += 1
            running = graph.add("CumSum", numbers, graph.constant(np.array(1)))
            total = graph.add("Gather", running, graph.constant(np.array([length - 1])), axis=1)
        return total

    def ordered_row_sums(
        self, forest: Forest, value: npt.NDArray[Any], start: Floats | None = None
    ) -> str:
        """Rows of numbers of the leaves reached, summed tree by tree."""
        graph, total = self.graph, ""
        n_columns = value.shape[1]
        for block in self._blocks(forest, n_columns):
            answers, length = self._leaf_rows(forest, value, block), len(block)
            if start is not None and not total:
                some = graph.add("Gather", answers, graph.constant(np.array(0)), axis=1)
                zeros = graph.add("Mul", some, graph.constant(np.zeros(n_columns)))
                total = graph.add("Add", zeros, graph.constant(np.asarray(start, np.float64)))
            if total:
                raised = graph.add("Unsqueeze", total, graph.constant(np.array([1])))
                answers, length = graph.add("Concat", raised, answers, axis=1), length + 1
            total = self._last(answers, 1, length)
        return total

    def _leaf_rows(self, forest: Forest, value: npt.NDArray[Any], block: Integers) -> str:
        """The rows of numbers of the leaves reached, of shape (n_rows, n_trees, n_columns)."""
        some = forest.subset(block)
        at = np.concatenate([np.arange(*forest.tree_start[t : t + 2]) for t in block])
        number, table = _numbered_leaves(some, value[at])
        index = self._leaf_numbers(some, number)
        return self.graph.add("Gather", self.graph.constant(table), index, axis=0)


def _numbered_leaves(forest: Forest, value: npt.NDArray[Any]) -> tuple[Floats, npt.NDArray[Any]]:
    """Numbers of the leaves, by node, and the table that they index; equal leaves share a row."""
    leaves = np.flatnonzero(forest.is_leaf)
    table, place = np.unique(value[leaves], axis=0, return_inverse=True)
    number = np.zeros(len(forest.nodes))
    number[leaves] = place.ravel()
    return number, table


def _uses_derived_column(forest: Forest) -> npt.NDArray[np.bool_]:
    """Which nodes test a linear combination or a category."""
    feature = forest.feature
    is_categorical = forest.n_categories[np.maximum(feature, 0)] > 0
    return np.asarray((forest.n_children > 0) & ((feature < 0) | is_categorical))


def _branches_taken(forest: Forest, at: Integers, feature: int) -> Floats:
    """The branch of each category and of a missing value at some nodes, one column per node."""
    n_categories = int(forest.n_categories[feature])
    entries = forest.threshold[at].astype(np.int64) + np.arange(n_categories)[:, None]
    taken = np.vstack([forest.branches[entries], forest.missing[at]])
    return taken.astype(np.float64)


def one_hot(forest: Forest, weights: Floats | None = None) -> Floats:
    """The weight of each node's vote, in the column of the class it votes for."""
    each = np.ones(len(forest)) if weights is None else np.asarray(weights, dtype=np.float64)
    value = np.zeros((len(forest.nodes), forest.n_classes))
    value[np.arange(len(value)), forest.label] = np.repeat(each, forest.n_nodes)
    return value
