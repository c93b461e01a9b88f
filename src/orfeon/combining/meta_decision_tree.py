"""Meta decision trees: a tree chooses the member to trust by how certain the members are.

The leaves are members in place of classes. The tree tests properties of the members' class
probabilities: their maximum and entropy, which mean the same in all domains, and optionally the
probabilities themselves.

References
----------
Todorovski and Džeroski (2003). Combining classifiers with meta decision trees. Machine Learning
50(3), 223-249.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.forest import Forest
from orfeon.forest.pruning import prune_to_alpha
from orfeon.growth import Growth, grow_forest, grow_pruned_forest
from orfeon.utils import saved
from orfeon.utils.seeding import seed_sequence, tree_seeds
from orfeon.utils.types import Floats, Integers

Properties = Literal["distribution", "probabilities"]


@saved.attributes(forest_=saved.instance("Forest"), n_members_=saved.integer(1))
class MetaDecisionTree(BaseEstimator):  # type: ignore[misc]
    """A tree whose leaves choose a member; a final estimator of :class:`StackingClassifier`.

    Parameters
    ----------
    properties : {"distribution", "probabilities"}, default="distribution"
        What is tested about each member's class probabilities: their maximum and entropy, as in the
        paper; or the probability of each class too.
    criterion : {"gini", "entropy"}, default="gini"
        Impurity of the counts of which member is right.
    pruning : "cv", float or None, default="cv"
        "cv" chooses the cost of a leaf by cross-validation; a number is that cost, as a share of
        the samples on which members disagree; None does not prune.
    pruning_rule : {"1se", "min"}, default="1se"
        With cross-validation: the smallest tree within one standard error of the lowest error, or
        the tree with the lowest error.
    n_folds : int, default=10
        Folds of the cross-validation.
    min_samples_leaf : int, default=1
        Minimum number of samples in a leaf, each counted for every member that is right on it.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of the folds, and of the choice between equally good splits.

    Attributes
    ----------
    forest_ : Forest
        The tree; its classes are members.
    n_members_ : int
        Number of members.

    Notes
    -----
    A sample counts once for each member that is right on it, and not at all if all members are
    right or all are wrong. So a leaf chooses the member that is right most often there, and pruning
    minimises the error of the chosen members, up to a constant. In the paper trees are split by the
    accuracy of the best member; here by the impurity of those counts, which also rewards a split
    that does not yet change the best member.

    Examples
    --------
    The first member can be trusted when it is certain:

    >>> import numpy as np
    >>> from orfeon.combining import MetaDecisionTree
    >>> rng = np.random.default_rng(0)
    >>> y, sure = rng.integers(0, 2, 400), rng.random(400) < 0.5
    >>> right = sure | (rng.random(400) < 0.5)
    >>> p = np.where(right == (y == 1), 1, -1) * np.where(sure, 0.4, 0.1) + 0.5
    >>> constant = np.where((rng.random(400) < 0.7) == (y == 1), 0.8, 0.2)
    >>> answers = np.stack([np.column_stack([1 - q, q]) for q in (p, constant)])
    >>> tree = MetaDecisionTree(random_state=0).learn(answers, y)
    >>> chosen = tree.choose(answers)
    >>> [round(float(np.mean(chosen[some] == 0)), 2) for some in (sure, ~sure)]
    [1.0, 0.0]
    """

    forest_: Forest
    n_members_: int

    def __init__(
        self,
        *,
        properties: Properties = "distribution",
        criterion: Literal["gini", "entropy"] = "gini",
        pruning: Literal["cv"] | float | None = "cv",
        pruning_rule: Literal["1se", "min"] = "1se",
        n_folds: int = 10,
        min_samples_leaf: int = 1,
        random_state: Any = None,
    ) -> None:
        self.properties = properties
        self.criterion = criterion
        self.pruning = pruning
        self.pruning_rule = pruning_rule
        self.n_folds = n_folds
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def learn(
        self,
        answers: Floats,
        y: npt.NDArray[np.integer[Any]],
        weights: Floats | None = None,
        *,
        answered: npt.NDArray[np.bool_] | None = None,
        groups: Integers | None = None,
        features: tuple[Floats, Schema] | None = None,
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        answers : ndarray of shape (n_members, n_rows, n_classes)
            Class probabilities by members that have not seen the samples.
        y : ndarray of shape (n_rows,)
            Class codes.
        weights : ndarray of shape (n_rows,), optional
            Weights.
        answered : ndarray of bool of shape (n_members, n_rows), optional
            Whether a prediction is the member's own; all are by default.
        groups : ndarray of shape (n_rows,), optional
            A number for each sample that its copies share; they share a fold.
        features : tuple of (encoded rows, Schema), optional
            Features of the samples, to be tested too.

        Returns
        -------
        self
            The tree.
        """
        self._check()
        n_members, n_rows, _ = answers.shape
        answered = np.ones((n_members, n_rows), dtype=bool) if answered is None else answered
        right = answered & (answers.argmax(axis=2) == y)
        is_informative = right.any(axis=0) & (answered & ~right).any(axis=0)
        member, row = np.nonzero(right & is_informative)
        if not len(row):  # all are equally good
            row, member = np.zeros(1, np.int64), right.sum(axis=1).argmax(keepdims=True)
        table, schema = self._table(answers, features)
        chosen = np.ascontiguousarray(table[row])
        own = np.ones(n_rows) if weights is None else weights
        self.forest_ = self._grow(
            Table(chosen, schema), chosen, member, n_members, own[row],
            (np.arange(n_rows) if groups is None else groups)[row],
        )  # fmt: skip
        self.n_members_ = n_members
        return self

    def _grow(
        self,
        table: Table,
        X: Floats,
        member: Integers,
        n_members: int,
        weights: Floats,
        groups: Integers,
    ) -> Forest:
        how: dict[str, Any] = {
            "n_classes": n_members,
            "seeds": tree_seeds(seed_sequence(self.random_state), 1),
            "weights": weights[None],
            "growth": Growth(criterion=self.criterion, min_samples_leaf=self.min_samples_leaf),
        }
        if isinstance(self.pruning, str):
            return grow_pruned_forest(
                table, X, member, **how, n_folds=self.n_folds, groups=groups,
                one_standard_error=self.pruning_rule == "1se", keep_a_split=False,
            )[0]  # fmt: skip
        forest = grow_forest(table, member, **how)
        return forest if self.pruning is None else prune_to_alpha(forest, self.pruning)

    def choose(self, answers: Floats, *, features: tuple[Floats, Schema] | None = None) -> Integers:
        """The member to trust for each row.

        Parameters
        ----------
        answers : ndarray of shape (n_members, n_rows, n_classes)
            Class probabilities of the members.
        features : tuple of (encoded rows, Schema), optional
            Features of the rows, where the tree was grown with them.

        Returns
        -------
        ndarray of shape (n_rows,)
            Indices of members.
        """
        table, _ = self._table(answers, features)
        return np.asarray(self.forest_.votes(table)[0], dtype=np.int64)

    def _table(
        self, answers: Floats, features: tuple[Floats, Schema] | None
    ) -> tuple[Floats, Schema]:
        """The features that the tree may test."""
        parts = [distribution_properties(answers)]
        if self.properties == "probabilities":
            parts.append(np.concatenate(list(answers), axis=1))
        n_own = sum(part.shape[1] for part in parts)
        categories: tuple[Any, ...] = (None,) * n_own
        if features is not None:
            parts.append(features[0])
            categories += features[1].categories
        return np.ascontiguousarray(np.concatenate(parts, axis=1)), Schema(categories)

    def _check(self) -> None:
        options = {
            "properties": ("distribution", "probabilities"),
            "criterion": ("gini", "entropy"),
            "pruning_rule": ("1se", "min"),
        }
        for name, allowed in options.items():
            given = getattr(self, name)
            if given not in allowed:
                raise ValueError(
                    f"{name}={given!r} is not allowed; use {' or '.join(map(repr, allowed))}."
                )
        cost: Any = self.pruning
        is_number = isinstance(cost, Real) and 0 <= float(cost) < np.inf
        if cost not in (None, "cv") and not is_number:
            raise ValueError(
                f'pruning={self.pruning!r} is not allowed; use "cv", None or a number that is not '
                "negative."
            )
        for name, least in (("n_folds", 2), ("min_samples_leaf", 1)):
            if getattr(self, name) < least:
                raise ValueError(
                    f"{name}={getattr(self, name)} is not allowed; give at least {least}."
                )


def distribution_properties(answers: Floats) -> Floats:
    """Maximum and entropy of each member's class probabilities."""
    logarithm = np.log2(answers, out=np.zeros_like(answers), where=answers > 0)
    entropy = -(answers * logarithm).sum(axis=2) + 0.0  # -0.0 becomes 0.0
    return np.concatenate([answers.max(axis=2).T, entropy.T], axis=1)
