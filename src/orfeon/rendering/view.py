"""One tree as plain values: what the renderers draw.

:func:`view_tree` reads a tree out of the flat arrays of a :class:`~orfeon.forest.Forest`, once. The
renderers see nodes, conditions and names, never the arrays.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError

from orfeon.data.schema import Schema
from orfeon.forest import Forest
from orfeon.forest.conditions import Condition, branch_conditions
from orfeon.rendering.wording import Wording, clean, threshold_texts
from orfeon.utils import documentation

#: Parameters that all renderers share; their docstrings have a line ``<name>`` in their place.
_TEXTS = {
    "tree": """
tree_or_forest : estimator or Forest
    A fitted estimator with a ``forest_``, or a forest.
tree : int, default=0
    Which tree of the forest; negative numbers count from the end.
schema : Schema, optional
    Names and categories of the features; the estimator's by default, else x0, x1...
class_names : sequence, optional
    Names of the classes; the estimator's ``classes_`` by default, else 0, 1...
""",
    "decimals": """
decimals : int, optional
    Digits after the point; four significant digits by default. In both cases thresholds of one
    feature get more where they would otherwise read the same.
""",
    "drawn": """
max_depth : int, optional
    Depth of the tests that are drawn; a dashed box with an ellipsis replaces deeper subtrees.
""",
    "weights": """
show_weights : bool, default=True
    Whether to show the weights of the samples.
""",
    "missing": """
show_missing : bool, default=False
    Whether to show which branch takes missing values.
""",
}

#: Fills the shared texts into the docstring of a function.
documented = documentation.documented(_TEXTS)


@dataclass(frozen=True)
class NodeView:
    """A node of a tree.

    Parameters
    ----------
    index : int
        Its number within the tree; the root is 0.
    parent : int
        Its parent's, -1 at the root.
    depth : int
        Number of tests above it.
    children : tuple of int
        Its children, in the order of the branches; none at a leaf.
    condition : Interval, Subset or None
        What the branch that leads here accepts; ``None`` at the root.
    label : int
        Code of the class it votes for; 0 in regression.
    mean : float or None
        What it predicts in regression.
    weight : float or None
        Weight of its training samples, where known.
    errors : float
        Weight of its samples of other classes than its label; in regression 0.
    shares : tuple of float
        Share of each class; none in regression.
    deviation : float or None
        Standard deviation of the target in regression, where known.
    n_leaves : int
        Number of leaves of its subtree.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.rendering import view_tree
    >>> root = view_tree(CARTClassifier().fit([[0.0], [1.0], [2.0]], ["no", "no", "yes"])).root
    >>> root.children, root.weight, root.errors, root.n_leaves, root.is_leaf
    ((1, 2), 3.0, 1.0, 2, False)
    """

    index: int
    parent: int
    depth: int
    children: tuple[int, ...]
    condition: Condition | None
    label: int
    mean: float | None
    weight: float | None
    errors: float
    shares: tuple[float, ...]
    deviation: float | None
    n_leaves: int

    @property
    def is_leaf(self) -> bool:
        """Whether it has no children."""
        return not self.children


@dataclass(frozen=True)
class TreeView:
    """A tree in a form that is easy to show.

    Parameters
    ----------
    nodes : tuple of NodeView
        The nodes; parents come before their children.
    schema : Schema
        Names and categories of the features.
    class_names : tuple of str
        Names of the classes; none in regression.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.rendering import view_tree
    >>> view = view_tree(CARTClassifier().fit([[0.0], [1.0], [2.0]], ["no", "no", "yes"]))
    >>> len(view.nodes), view.depth, view.class_names
    (3, 1, ('no', 'yes'))
    """

    nodes: tuple[NodeView, ...]
    schema: Schema
    class_names: tuple[str, ...]

    @property
    def root(self) -> NodeView:
        """The root."""
        return self.nodes[0]

    @cached_property
    def depth(self) -> int:
        """Number of tests on the longest path."""
        return max(node.depth for node in self.nodes)

    @cached_property
    def mean_range(self) -> tuple[float, float]:
        """Smallest and largest mean of the nodes, in regression."""
        means = [node.mean for node in self.nodes if node.mean is not None]
        return (min(means), max(means)) if means else (math.nan, math.nan)

    def wording(self, decimals: int | None = None, **options: Any) -> Wording:
        """How this tree's conditions are worded: thresholds distinct and in order."""
        conditions = (node.condition for node in self.nodes if node.condition is not None)
        texts = threshold_texts(conditions, decimals)
        return Wording(self.schema, texts, decimals, **options)

    def visible(self, max_depth: int | None = None) -> Iterator[tuple[NodeView, bool]]:
        """Nodes down to a depth, depth first, and whether their children are cut."""
        pending = [0]
        while pending:
            node = self.nodes[pending.pop()]
            cut = max_depth is not None and node.depth >= max_depth and not node.is_leaf
            yield node, cut
            if not cut:
                pending.extend(reversed(node.children))

    def prediction(self, node: NodeView, wording: Wording) -> str:
        """Write the class or the mean that a node predicts."""
        return self.class_names[node.label] if node.mean is None else wording.number(node.mean)


@documented
def view_tree(
    tree_or_forest: Any,
    *,
    tree: int = 0,
    schema: Schema | None = None,
    class_names: Sequence[Any] | None = None,
) -> TreeView:
    """Read one tree out of an estimator or a forest.

    Parameters
    ----------
    <tree>

    Returns
    -------
    TreeView
        The tree.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.rendering import view_tree
    >>> view = view_tree(CARTClassifier().fit([[0.0], [1.0], [2.0]], ["no", "no", "yes"]))
    >>> [(node.depth, view.class_names[node.label], node.weight) for node in view.nodes]
    [(0, 'no', 3.0), (1, 'no', 2.0), (1, 'yes', 1.0)]
    """
    forest = _forest(tree_or_forest)
    known_schema = schema if schema is not None else _known_schema(tree_or_forest)
    if class_names is None and forest.n_classes:
        class_names = getattr(tree_or_forest, "classes_", None)
    one = forest.subset([_checked_tree(tree, len(forest))])
    names = checked_classes(class_names, forest.n_classes)
    return TreeView(_nodes(one), checked_schema(known_schema, forest.n_categories), names)


def read_tree(
    tree_or_forest: Any,
    tree: int,
    schema: Schema | None,
    class_names: Sequence[Any] | None,
    *,
    max_depth: int | None = None,
    decimals: int | None = None,
    max_categories: int | None = None,
    **options: Any,
) -> tuple[TreeView, Wording]:
    """A tree and the wording of its conditions, with the options that renderers share checked."""
    check_option("max_depth", max_depth)
    check_option("decimals", decimals, largest=17)
    check_option("max_categories", max_categories, smallest=1)
    view = view_tree(tree_or_forest, tree=tree, schema=schema, class_names=class_names)
    return view, view.wording(decimals, max_categories=max_categories, **options)


def check_option(name: str, value: Any, smallest: int = 0, largest: int | None = None) -> None:
    """Refuse an option that is neither ``None`` nor an integer of its range."""
    if value is None:
        return
    integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    number = int(value) if integer else smallest - 1
    if smallest <= number <= (number if largest is None else largest):
        return
    upwards = f"from {smallest}" if largest is None else f"from {smallest} to {largest}"
    raise ValueError(f"{name}={value!r} is not allowed: give None or an integer {upwards}.")


def _known_schema(tree_or_forest: Any) -> Schema | None:
    """The features as the trees take them, which may not be those of the ensemble."""
    own = getattr(tree_or_forest, "schema_", None)
    return getattr(tree_or_forest, "tree_schema_", own)


def _forest(tree_or_forest: Any) -> Forest:
    if isinstance(tree_or_forest, Forest):
        return tree_or_forest
    forest = getattr(tree_or_forest, "forest_", None)
    if isinstance(forest, Forest):
        return forest
    name = type(tree_or_forest).__name__
    if hasattr(tree_or_forest, "fit"):
        raise NotFittedError(
            f"This {name} has no forest_: fit it first, and give an estimator made of trees."
        )
    raise TypeError(
        f"tree_or_forest is a {name}; a fitted estimator with a forest_ or a Forest is expected."
    )


def _checked_tree(tree: int, n_trees: int) -> int:
    index = operator.index(tree)
    if not -n_trees <= index < n_trees:
        raise ValueError(f"tree={tree} is not allowed: the forest has {n_trees} tree(s), from 0.")
    return index


def checked_schema(
    schema: Schema | None, n_categories: npt.NDArray[np.int64], known: Schema | None = None
) -> Schema:
    """A schema that fits the features; by default the one that is known, else x0, x1..."""
    if schema is None:
        counts = n_categories.tolist()
        return known or Schema(tuple(tuple(range(count)) if count else None for count in counts))
    if not np.array_equal(schema.n_categories, n_categories):
        raise ValueError(
            f"schema has features with {schema.n_categories.tolist()} categories (0: ordered); "
            f"the forest expects {n_categories.tolist()}."
        )
    return schema


def checked_classes(class_names: Sequence[Any] | None, n_classes: int) -> tuple[str, ...]:
    if class_names is None:
        return tuple(str(code) for code in range(n_classes))
    names = tuple(clean(name) for name in class_names)
    if len(names) != n_classes:
        raise ValueError(
            f"class_names has {len(names)} names; the forest has {n_classes} classes"
            + ("." if n_classes else " (it is a regression forest).")
        )
    return names


def _nodes(forest: Forest) -> tuple[NodeView, ...]:
    """Read the nodes of a forest of one tree."""
    n_nodes = len(forest.nodes)
    parent, depth = forest.parents(), forest.node_depth
    conditions: list[Condition | None] = [None] * n_nodes
    children: list[tuple[int, ...]] = [()] * n_nodes
    n_leaves = forest.is_leaf.astype(np.int64)
    for node in range(n_nodes - 1, -1, -1):  # children come after their parent
        width = int(forest.n_children[node])
        if width:
            first = int(forest.first_child[node])
            children[node] = tuple(range(first, first + width))
            conditions[first : first + width] = branch_conditions(forest, node)
            n_leaves[node] = n_leaves[first : first + width].sum()
    regression = forest.n_classes == 0
    weight = forest.weights() if not regression or forest.leaf_weight is not None else None
    variance = forest.impurity
    deviation = None if variance is None else np.sqrt(np.maximum(variance, 0.0))
    value = forest.value.astype(np.float64)
    shares = np.empty((n_nodes, 0)) if regression else forest._shares()
    return tuple(
        NodeView(
            index=node,
            parent=int(parent[node]),
            depth=int(depth[node]),
            children=children[node],
            condition=conditions[node],
            label=0 if regression else int(forest.label[node]),
            mean=float(value[node, 0]) if regression else None,
            weight=None if weight is None else float(weight[node]),
            errors=0.0 if regression else _errors(value[node], int(forest.label[node])),
            shares=tuple(shares[node].tolist()),
            deviation=float(deviation[node]) if regression and deviation is not None else None,
            n_leaves=int(n_leaves[node]),
        )
        for node in range(n_nodes)
    )


def _errors(value: Any, label: int) -> float:
    """Weight of the other classes, summed rather than subtracted: a pure node has none exactly."""
    return float(value[:label].sum() + value[label + 1 :].sum())
