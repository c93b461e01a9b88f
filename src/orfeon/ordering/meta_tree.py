"""Selection by a pruned tree: the members whose votes a small tree uses are kept.

A decision tree is grown whose features are the votes of the members, and pruned by
cost-complexity. Members that the pruned tree does not test are discarded; the others vote
as before.

References
----------
Prodromidis and Stolfo (2001). Cost complexity-based pruning of ensemble classifiers. Knowledge and
Information Systems 3(4), 449-469.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from orfeon.members.votes import Selection
from orfeon.ordering.individual_error import member_errors
from orfeon.ordering.rule import Arrangement, Rule
from orfeon.trees.cart import CARTClassifier, PruningRule

Target = Literal["vote", "class"]

#: Decimals to which importances are compared; further ones are rounding.
_DECIMALS = 12


#: With more classes there are too many groups of votes to try at a node.
_MOST_CLASSES = 30


@dataclass(frozen=True)
class MetaTree(Rule):
    """Members that a pruned tree over all their votes tests, by their importance in it.

    The other members follow by their own errors. The size that the rule suggests is
    the number of members that the tree tests, at least one.

    Parameters
    ----------
    target : {"vote", "class"}, default="vote"
        What the tree predicts: the decision of the whole ensemble, which makes it a model of the
        ensemble, or the class of the sample.
    pruning : "cv" or float, default="cv"
        "cv" chooses the cost of a leaf by cross-validation; a number is that cost, as a share of
        the samples. A higher cost keeps fewer members; 0 prunes what does not lower the error.
    pruning_rule : {"1se", "min"}, default="1se"
        With cross-validation: the smallest tree within one standard error of the lowest error, or
        the one with the lowest error.
    n_folds : int, default=10
        Folds of the cross-validation. Samples with the same votes and the same target share one.
    random_state : int, default=0
        Seed of the folds, and of the choice between equally good splits.

    Notes
    -----
    The tree is a :class:`orfeon.CARTClassifier` with Gini impurity; votes are categorical
    features, missing where a member does not vote. Of members that vote alike only the first can
    be in the tree.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> votes = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1], [0, 1, 0, 0, 1, 1]]
    >>> ordered = order_votes(votes, [0, 0, 0, 0, 1, 1], rule="meta_tree", pruning=0.0)
    >>> ordered.order, ordered.criterion, ordered.own_size
    (array([1, 0, 2]), array([1., 0., 0.]), 1)
    """

    name: ClassVar[str] = "meta_tree"

    target: Target = "vote"
    pruning: Literal["cv"] | float = "cv"
    pruning_rule: PruningRule = "1se"
    n_folds: int = 10
    random_state: int = 0

    def __post_init__(self) -> None:
        for name, allowed in (("target", Target), ("pruning_rule", PruningRule)):
            given, words = getattr(self, name), get_args(allowed)
            if given not in words:
                raise ValueError(
                    f"{name}={given!r} is not allowed; use {' or '.join(map(repr, words))}."
                )
        price: Any = self.pruning
        is_number = isinstance(price, Real) and not isinstance(price, bool)
        if price != "cv" and not (is_number and 0 <= price < np.inf):
            raise ValueError(
                f'pruning={price!r} is not allowed; use "cv" or a number that is not negative.'
            )
        if self.n_folds < 2:
            raise ValueError(f"n_folds={self.n_folds} is not allowed; at least 2 are needed.")

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is their importance in the tree."""
        if selection.n_classes > _MOST_CLASSES:
            raise ValueError(
                f"rule='meta_tree' takes up to {_MOST_CLASSES} classes, but there are "
                f"{selection.n_classes}: groups of votes at each node become too many. Use another "
                "rule."
            )
        importance, is_used = self._query_tree(selection)
        order = np.lexsort((member_errors(selection), -importance, ~is_used))
        used = max(1, int(is_used.sum()))
        return Arrangement(order.astype(np.int64), importance[order], own_size=used)

    def _query_tree(
        self, selection: Selection
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Importance of each member in the pruned tree, and which members are in it."""
        first = _first_of_those_alike(selection.answers)
        votes: Any = np.where(selection.answers[first] >= 0, selection.answers[first], np.nan).T
        target = selection.y if self.target == "class" else decisions(selection)
        tree = CARTClassifier(
            pruning=self.pruning,
            pruning_rule=self.pruning_rule,
            n_folds=self.n_folds,
            categorical_features=range(len(first)),
            random_state=self.random_state,
        ).fit(votes, target, sample_weight=selection.weights)
        importance = np.zeros(selection.n_members)
        importance[first] = np.round(tree.feature_importances_, _DECIMALS)
        is_used = np.zeros(selection.n_members, dtype=bool)
        forest = tree.forest_
        is_used[first[forest.feature[~forest.is_leaf]]] = True
        return importance, is_used


def decisions(selection: Selection) -> npt.NDArray[np.int64]:
    """The class that all members together decide for, for each sample."""
    support = np.zeros((selection.n_samples, selection.n_classes))
    # Member by member: rounding is then the same for all samples.
    for votes, weight in zip(selection.answers, selection.vote_weights, strict=True):
        voted = np.flatnonzero(votes >= 0)
        support[voted, votes[voted]] += weight
    return np.asarray(np.argmax(support, axis=1), dtype=np.int64)


def _first_of_those_alike(answers: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The members without those that vote as an earlier one does."""
    rows = [votes.tobytes() for votes in answers]
    return np.array(sorted({row: t for t, row in reversed(list(enumerate(rows)))}.values()))
