"""One tree that is equivalent to the vote of a few.

The leaves of the first tree are replaced by copies of the second tree, their leaves by the third,
and so on. Tests that the path has already decided are left out, a path ends where the vote is
decided, and a test whose branches all end in the same class becomes a leaf. The size is up to the
product of the members' sizes, so this is for three small trees.

References
----------
Quinlan (1998). MiniBoosting decision trees. Manuscript.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from orfeon.forest import NODE, Forest
from orfeon.kernels.routing.route import ALL_BRANCHES


class _Values(NamedTuple):
    """The values of a feature that reach a node: above ``low``, up to ``high``; or categories."""

    low: float
    high: float
    categories: frozenset[int]
    may_be_missing: bool


class _Test(NamedTuple):
    """An inner node: where its test stands in the forest, and a subtree for each branch."""

    at: int
    branches: tuple[Any, ...]


def single_tree(ensemble: Any, *, max_nodes: int = 100_000) -> Any:
    """One tree that predicts the same as the majority of an ensemble's trees.

    Parameters
    ----------
    ensemble : fitted ensemble of orfeon
        A classifier of about three trees, which vote with equal weights.
    max_nodes : int, default=100_000
        Larger trees are rejected.

    Returns
    -------
    tree estimator
        Fitted, of the kind of the members; for any row it predicts the class that the majority of
        the members votes for, the first of those that are tied. Its leaves hold no class shares:
        the predicted class has probability 1.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.ordering import single_tree
    >>> X, y = make_waveform(300, random_state=0)
    >>> three = BaggingClassifier(CARTClassifier(max_depth=3), 3, random_state=0).fit(X, y)
    >>> one = single_tree(three)
    >>> bool((one.predict(X) == three.predict(X)).all()), int(one.forest_.n_leaves[0])
    (True, 133)
    """
    check_is_fitted(ensemble)
    forest = getattr(ensemble, "members_", None)
    if not isinstance(forest, Forest) or not forest.n_classes:
        raise TypeError(
            f"ensemble is a {type(ensemble).__name__}; give a fitted classifier of orfeon whose "
            "members are trees."
        )
    if hasattr(ensemble, "member_weights_"):
        raise ValueError("the members of ensemble vote with different weights; they must be equal.")
    if getattr(ensemble, "combine", "majority") != "majority":
        raise ValueError(
            f"ensemble has combine={ensemble.combine!r}; only a majority vote can become one tree."
        )
    if (forest.missing == ALL_BRANCHES).any():
        raise ValueError(
            "the members of ensemble send missing values down all branches, as C4.5 does; give "
            "trees that choose a branch."
        )
    tree = clone(ensemble.estimator_)
    tree.forest_ = _flat(forest, _Merging(forest, max_nodes).merged())
    ensemble._hand_over(tree)
    return tree


class _Merging:
    """The trees of a forest, one below the other."""

    def __init__(self, forest: Forest, max_nodes: int) -> None:
        self._forest = forest
        self._left = max_nodes
        self._max_nodes = max_nodes

    def merged(self) -> Any:
        """The whole tree: a class, or a test with subtrees."""
        return self._below(0, 0, (0,) * self._forest.n_classes, {})

    def _below(
        self, tree: int, node: int, votes: tuple[int, ...], known: Mapping[int, _Values]
    ) -> Any:
        """The subtree at a node of a tree, after some votes, for the values that reach it."""
        forest = self._forest
        at = int(forest.tree_start[tree]) + node
        if forest.n_children[at] == 0:
            label = int(forest.label[at])
            votes = (*votes[:label], votes[label] + 1, *votes[label + 1 :])
            decided = _decided(votes, len(forest) - tree - 1)
            return self._below(tree + 1, 0, votes, known) if decided < 0 else decided
        feature, first = int(forest.feature[at]), int(forest.first_child[at])
        parts = self._parts(at, feature, known)
        reached = [branch for branch, part in enumerate(parts) if part is not None]
        if len(reached) == 1:
            return self._below(tree, first + reached[0], votes, known)
        self._left -= 1
        if self._left < 0:
            raise ValueError(
                f"the tree has more than max_nodes={self._max_nodes} tests; give fewer or smaller "
                "members."
            )
        found = {
            branch: self._below(tree, first + branch, votes, {**known, feature: parts[branch]})
            for branch in reached
        }
        classes = {below for below in found.values() if isinstance(below, int)}
        if len(classes) == 1 and all(isinstance(below, int) for below in found.values()):
            return classes.pop()
        # A branch that no row reaches may end in any class.
        return _Test(at, tuple(found.get(branch, 0) for branch in range(len(parts))))

    def _parts(self, at: int, feature: int, known: Mapping[int, _Values]) -> list[Any]:
        """The values that go down each branch, None where there are none."""
        forest = self._forest
        n_branches, threshold = int(forest.n_children[at]), float(forest.threshold[at])
        if feature < 0:  # a linear combination: it bounds no single feature
            return [_Values(0.0, 0.0, frozenset(), True)] * n_branches
        n_categories = int(forest.n_categories[feature])
        now = known.get(feature)
        if now is None:
            now = _Values(-np.inf, np.inf, frozenset(range(n_categories)), True)
        parts = []
        for branch in range(n_branches):
            missing = now.may_be_missing and int(forest.missing[at]) == branch
            if n_categories:
                table = forest.branches[int(threshold) :]
                inside = frozenset(c for c in now.categories if table[c] == branch)
                is_reached, part = bool(inside), _Values(0.0, 0.0, inside, missing)
            else:
                low = now.low if branch == 0 else max(now.low, threshold)
                high = min(now.high, threshold) if branch == 0 else now.high
                # Only the missing value may be left: the range is then empty.
                is_reached, part = low < high, _Values(low, max(low, high), frozenset(), missing)
            parts.append(part if is_reached or missing else None)
        return parts


def _decided(votes: tuple[int, ...], n_left: int) -> int:
    """The class that wins whatever the trees left vote for; -1 if there is none yet."""
    leader = votes.index(max(votes))
    for other, count in enumerate(votes):
        if other != leader and count + n_left >= votes[leader] + (other > leader):
            return -1
    return leader


def _flat(forest: Forest, root: Any) -> Forest:
    """A tree of tests and classes in flat arrays, the children of a node side by side."""
    found = [root]
    first_child: list[int] = []
    for at in range(2**62):
        if at == len(found):
            break
        first_child.append(len(found) if isinstance(found[at], _Test) else at)
        if isinstance(found[at], _Test):
            found.extend(found[at].branches)
    n = len(found)
    nodes, value = np.zeros(n, NODE), np.zeros((n, forest.n_classes), forest.value.dtype)
    n_children, missing = np.zeros(n, np.uint16), np.zeros(n, np.uint16)
    nodes["threshold"], nodes["first_child"] = np.inf, first_child
    for at in reversed(range(n)):
        one = found[at]
        if isinstance(one, _Test):
            for name in ("threshold", "feature"):
                nodes[name][at] = forest.nodes[name][one.at]
            n_children[at], missing[at] = forest.n_children[one.at], forest.missing[one.at]
            value[at] = value[first_child[at] : first_child[at] + len(one.branches)].sum(axis=0)
        else:
            value[at, one] = 1
    return Forest(
        np.array([0, n]), nodes, n_children, missing, np.argmax(value, axis=1).astype(np.int32),
        value, forest.n_classes, forest.n_categories, forest.branches, forest.projections,
    ).validate()  # fmt: skip
