"""A tree as rules, one for each leaf: if x1 > 5 and x2 > 2 then square.

The conditions met on the way to a leaf are intersected feature by feature, so a rule has only
the tightest bounds. Of the rules of a tree exactly one covers any row, missing values included;
only where a missing value is sent down every branch (C4.5) several cover it, each in part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.schema import Schema
from orfeon.forest.conditions import Condition, Conditions, Missing, covered, narrowed
from orfeon.rendering.numbers import share_text, weight_text
from orfeon.rendering.view import (
    NodeView,
    TreeView,
    check_option,
    checked_classes,
    checked_schema,
    documented,
    read_tree,
)
from orfeon.rendering.wording import Wording, threshold_texts


@dataclass(frozen=True)
class LeafRule:
    """The conditions of a leaf and its prediction; ``str`` gives the sentence.

    Parameters
    ----------
    leaf : int
        The leaf's number within its tree, or the rule's among ordered rules.
    conditions : tuple of Interval or Subset
        Conditions on a row, one for each feature or linear combination.
    prediction : int or float
        Code of the class, or the mean in regression.
    coverage : float or None
        Share of the training weight that reached the leaf, where known.
    confidence : float or None
        Share of the leaf's training weight that is of the predicted class; ``None`` in regression.
    text : str
        The sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import CARTClassifier
    >>> from orfeon.rendering import export_rules
    >>> first, second = export_rules(CARTClassifier().fit([[1.0], [2.0], [7.0]], ["a", "a", "b"]))
    >>> second.covers(np.array([[3.0], [5.0]]))
    array([False,  True])
    """

    leaf: int
    conditions: tuple[Condition, ...]
    prediction: float
    coverage: float | None
    confidence: float | None
    text: str = field(compare=False)

    def __str__(self) -> str:
        return self.text

    def covers(self, X: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which rows satisfy the rule.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Rows encoded by the schema; NaN is a missing value.

        Returns
        -------
        ndarray of shape (n_rows,)
            Whether each row reaches the leaf, perhaps in part.
        """
        return covered(self.conditions, X)


@documented
def export_rules(
    tree_or_forest: Any,
    *,
    tree: int = 0,
    schema: Schema | None = None,
    class_names: Sequence[Any] | None = None,
    decimals: int | None = None,
    show_weights: bool = False,
    show_missing: bool = False,
    max_categories: int | None = None,
) -> list[LeafRule]:
    """List the rules of a tree, one for each leaf, from left to right.

    Of a :class:`orfeon.C45RulesClassifier` it lists the rules in the order in which they are tried,
    and its default class last.

    Parameters
    ----------
    <tree>
    <decimals>
    show_weights : bool, default=False
        Whether the sentences end with coverage and confidence.
    show_missing : bool, default=False
        Whether the sentences state which conditions accept missing values.
    max_categories : int, optional
        Categories named before a list is cut; by default all are.

    Returns
    -------
    list of LeafRule
        The rules.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.rendering import export_rules
    >>> X = [[0, 6], [1, 7], [2, 1], [3, 4], [4, 6], [6, 1], [8, 2], [9, 1], [6, 3], [9, 5]]
    >>> y = ["circle"] * 8 + ["square"] * 2
    >>> for rule in export_rules(CARTClassifier().fit(X, y), show_weights=True):
    ...     print(rule)
    if x0 <= 5 then circle (50% of the samples, 100% of them circle)
    if x0 > 5 and x1 <= 2.5 then circle (30% of the samples, 100% of them circle)
    if x0 > 5 and x1 > 2.5 then square (20% of the samples, 100% of them square)
    """
    if hasattr(tree_or_forest, "rules_"):
        return _ordered_rules(
            tree_or_forest, schema, class_names, decimals, max_categories, show_weights
        )
    view, wording = read_tree(
        tree_or_forest, tree, schema, class_names, decimals=decimals, show_missing=show_missing,
        max_categories=max_categories,
    )  # fmt: skip
    rules = []
    for leaf, conditions in _paths(view):
        answer = view.prediction(leaf, wording)
        text = _sentence([wording.condition(c) for c in conditions], conditions, answer)
        coverage = _coverage(view, leaf)
        confidence = leaf.shares[leaf.label] if view.class_names else None
        if show_weights:
            text += _measures(coverage, confidence, leaf, answer)
        prediction = leaf.label if leaf.mean is None else leaf.mean
        rules.append(LeafRule(leaf.index, conditions, prediction, coverage, confidence, text))
    return rules


def _ordered_rules(
    model: Any,
    schema: Schema | None,
    class_names: Sequence[Any] | None,
    decimals: int | None,
    max_categories: int | None,
    show_weights: bool,
) -> list[LeafRule]:
    """The rules of a classifier that tries one after the other."""
    check_option("decimals", decimals, largest=17)
    check_option("max_categories", max_categories, smallest=1)
    rules = model.rules_
    known = checked_schema(schema, model.schema_.n_categories, model.schema_)
    names = checked_classes(
        model.classes_ if class_names is None else class_names, len(model.classes_)
    )
    texts = threshold_texts((c for rule in rules for c in rule.conditions), decimals)
    wording = Wording(known, texts, decimals, max_categories=max_categories)
    listed = []
    for r, rule in enumerate(rules):
        answer = names[rule.prediction]
        text = _sentence([wording.condition(c) for c in rule.conditions], rule.conditions, answer)
        if show_weights:
            shares = share_text(rule.coverage), share_text(rule.confidence)
            text += f" ({shares[0]} of the samples, {shares[1]} of them {answer})"
        listed.append(
            LeafRule(r, rule.conditions, rule.prediction, rule.coverage, rule.confidence, text)
        )
    default = model.classes_.tolist().index(model.default_class_)
    text = f"otherwise {names[default]}" if rules else f"always {names[default]}"
    return [*listed, LeafRule(len(rules), (), default, None, None, text)]


def _paths(view: TreeView) -> Iterator[tuple[NodeView, tuple[Condition, ...]]]:
    """Walk to the leaves, with the intersected conditions that lead to them."""
    pending: list[tuple[int, Conditions]] = [(0, {})]
    while pending:
        index, held = pending.pop()
        node = view.nodes[index]
        if node.condition is not None:
            held = narrowed(held, node.condition)
        if node.is_leaf:
            queried = (c for c in held.values() if not (c.accepts_all and c.missing == Missing.YES))
            yield node, tuple(queried)
        pending.extend((child, held) for child in reversed(node.children))


def _sentence(texts: list[str], conditions: tuple[Condition, ...], answer: str) -> str:
    if not conditions:
        return f"always {answer}"
    if any(c.accepts_none and c.missing == Missing.NO for c in conditions):
        return f"never {answer}"  # contradictory tests: no row gets there
    return f"if {' and '.join(texts)} then {answer}"


def _coverage(view: TreeView, leaf: NodeView) -> float | None:
    if leaf.weight is None or not view.root.weight:
        return None
    return leaf.weight / view.root.weight


def _measures(coverage: float | None, confidence: float | None, leaf: NodeView, answer: str) -> str:
    """Coverage and confidence, or the mean's company in regression."""
    if coverage is None or leaf.weight is None:
        return ""
    if confidence is None:
        return f" ({share_text(coverage)} of the samples)"
    if weight_text(leaf.weight) == "0":
        return " (no samples)"
    return f" ({share_text(coverage)} of the samples, {share_text(confidence)} of them {answer})"
