"""Write a tree as indented text, in the manner of C4.5.

Each line is a branch; a leaf is on the line of its branch, followed by the weight of the training
samples that reached it and, after a stroke, of those of another class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orfeon.data.schema import Schema
from orfeon.rendering.numbers import weight_text
from orfeon.rendering.view import NodeView, TreeView, documented, read_tree
from orfeon.rendering.wording import Wording

_INDENT = "|   "


@documented
def export_text(
    tree_or_forest: Any,
    *,
    tree: int = 0,
    schema: Schema | None = None,
    class_names: Sequence[Any] | None = None,
    max_depth: int | None = None,
    decimals: int | None = None,
    show_weights: bool = True,
    show_missing: bool = False,
    max_categories: int | None = 8,
) -> str:
    """Write a tree as indented text.

    Parameters
    ----------
    <tree>
    max_depth : int, optional
        Maximum depth of the tests shown; deeper subtrees are summarised.
    <decimals>
    show_weights : bool, default=True
        Whether leaves show ``(weight/errors)``, or ``(weight, sd deviation)`` in regression.
    <missing>
    max_categories : int or None, default=8
        Categories named before a list is cut to ``{a, b, ... (12)}``; ``None`` names all.

    Returns
    -------
    str
        The text, without a line break at the end.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.rendering import export_text
    >>> X = [[0, 6], [1, 7], [2, 1], [3, 4], [4, 6], [6, 1], [8, 2], [9, 1], [6, 3], [9, 5]]
    >>> y = ["circle"] * 8 + ["square"] * 2
    >>> print(export_text(CARTClassifier().fit(X, y)))
    x0 <= 5: circle (5)
    x0 > 5
    |   x1 <= 2.5: circle (3)
    |   x1 > 2.5: square (2)
    """
    view, wording = read_tree(
        tree_or_forest, tree, schema, class_names, max_depth=max_depth, decimals=decimals,
        show_missing=show_missing, max_categories=max_categories,
    )  # fmt: skip
    lines = []
    for node, cut in view.visible(max_depth):
        line = "" if node.condition is None else _branch(node, wording)
        if node.is_leaf or cut:
            line += ": " if line else ""
            line += view.prediction(node, wording)
            line += _weights(view, node, wording) if show_weights else ""
            line += f" ... {node.n_leaves} leaves below" if cut else ""
        if line:  # the root has a line only if it is a leaf
            lines.append(line)
    return "\n".join(lines)


def _branch(node: NodeView, wording: Wording) -> str:
    assert node.condition is not None
    return _INDENT * (node.depth - 1) + wording.condition(node.condition)


def _weights(view: TreeView, node: NodeView, wording: Wording) -> str:
    """Write the weight and the errors of a node in brackets."""
    if node.weight is None:
        return ""
    weight = weight_text(node.weight)
    if view.class_names:
        errors = weight_text(node.errors, node.weight)
        return f" ({weight})" if errors == "0" else f" ({weight}/{errors})"
    if node.deviation is None:
        return f" ({weight})"
    return f" ({weight}, sd {wording.number(node.deviation)})"
