"""Committees of boosted IGP trees: each committee votes first, then the committees vote.

References
----------
Martínez-Muñoz and Suárez (2004). Using all data to generate decision tree ensembles. IEEE
Transactions on Systems, Man and Cybernetics C 34(4), 393-397.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.boosting.boosting_igp import BoostingIGPClassifier, ReweightedHalves
from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import Recipe, Trained
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.igp_ensemble import OF_TREES, OfIGPTrees
from orfeon.forest import Forest
from orfeon.forest.importance import impurity_importances
from orfeon.members.members import CommitteeMembers
from orfeon.trees.base import Criterion, Ties
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval


@saved.attributes(_committee_size=saved.integer(1))
@documented()
class IGPCommitteesClassifier(OfIGPTrees):
    """Vote of committees of boosted IGP trees, each committee on its own split into halves.

    Each committee has ``n_estimators`` trees: there are ``n_committees`` times as many in all. With
    one committee it is :class:`BoostingIGPClassifier`, with one tree in each
    :class:`IGPEnsembleClassifier`.

    Parameters
    ----------
    n_committees : int, default=11
        Number of committees.
    n_estimators : int, default=9
        Maximum number of trees in a committee.
    <criterion>
    <max_depth>
    <least_weight_of_half>
    <tie_rule>
    <categorical_features>
    combine : {"majority", "soft"}, default="majority"
        Whether committees vote, or the vote shares within them are averaged.
    <calibrate>
    warm_start : bool, default=False
        Whether a second ``fit`` with more committees adds to those there are.
    n_jobs : int, optional
        Threads, through joblib. The model does not depend on it.
    <verbose>
    <random_state>

    Attributes
    ----------
    members_ : CommitteeMembers
        The committees.
    committee_forests_ : list of Forest
        The trees of each committee.
    forest_ : Forest
        The trees of all committees.
    estimators_ : sequence of BoostingIGPClassifier
        The committees as estimators, created on access.
    <classes>
    <calibrated>

    Examples
    --------
    >>> from orfeon import IGPCommitteesClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> committees = IGPCommitteesClassifier(random_state=0).fit(X, y)
    >>> round(committees.score(X_test, y_test), 2)
    0.81
    >>> [len(committee) for committee in committees.first(3, 3).committee_forests_]
    [3, 3, 3]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OfIGPTrees._parameter_constraints,
        "n_committees": [Interval(Integral, 1, None, closed="left")],
    }
    _size_parameter: ClassVar[str] = "n_committees"
    _most_in_block: ClassVar[int] = 4

    n_committees: int
    _committee_size: int

    def __init__(
        self,
        n_committees: int = 11,
        n_estimators: int = 9,
        *,
        criterion: Criterion = "gini",
        max_depth: int | None = None,
        min_weight_fraction_leaf: float = 0.0,
        ties: Ties = "random",
        categorical_features: Any = "auto",
        combine: Combine = "majority",
        calibrate: Method | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_committees = n_committees
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.ties = ties
        self.categorical_features = categorical_features
        self.combine = combine
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _training(self, recipe: Recipe) -> Callable[[slice], Trained]:
        self.estimator_._prepare(recipe.samples)
        return _CommitteeTraining(ReweightedHalves(self.estimator_, recipe), self.n_estimators)

    def _prepare(self, samples: TrainingSet, members: range) -> None:
        if members.start and self._committee_size != self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} is not that of the committees there are, "
                f"{self._committee_size}; warm_start=True adds committees of the same size."
            )
        self._committee_size = self.n_estimators

    @property
    def committee_forests_(self) -> list[Forest]:
        """The trees of each committee."""
        check_is_fitted(self, "members_")
        return list(self.members_.committees)

    @property
    def forest_(self) -> Forest:
        """The trees of all committees, one after the other."""
        return Forest.concatenate(self.committee_forests_)

    def first(self, n_committees: int, n_estimators: int) -> IGPCommitteesClassifier:
        """The smaller ensemble of the first trees of the first committees.

        Parameters
        ----------
        n_committees : int
            How many committees.
        n_estimators : int
            How many trees of each; fewer where a committee ended early.

        Returns
        -------
        IGPCommitteesClassifier
            A fitted ensemble.
        """
        forests = self.committee_forests_
        if not 1 <= n_committees <= len(forests) or n_estimators < 1:
            raise ValueError(
                f"n_committees={n_committees} and n_estimators={n_estimators} are not allowed: "
                f"there are {len(forests)} committees, and each needs a tree."
            )
        smaller: IGPCommitteesClassifier = copy(self).set_params(
            n_committees=n_committees, n_estimators=n_estimators
        )
        smaller.members_ = CommitteeMembers(
            [f.subset(range(min(n_estimators, len(f)))) for f in forests[:n_committees]]
        )
        return smaller

    def _member(self, index: int) -> Any:
        given = {name: getattr(self, name) for name in OF_TREES}
        # Within a committee nothing is learnt: trees vote, or their shares are averaged.
        within = "soft" if self._simple_rule == "soft" else "majority"
        committee = BoostingIGPClassifier(self.n_estimators, **given, combine=within)
        committee.members_ = self.members_.committees[index]
        self._hand_over(committee)
        committee.estimator_ = self.estimator_
        return committee

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Share of each feature in the impurity decrease of all trees."""
        return impurity_importances(self.forest_, self.estimator_._impurity)


class _CommitteeTraining:
    """Grows blocks of committees."""

    def __init__(self, boosting: ReweightedHalves, n_trees: int) -> None:
        self._boosting = boosting
        self._n_trees = n_trees

    def __call__(self, block: slice) -> Trained:
        """Grow the committees of a block."""
        committees = range(block.start, block.stop)
        forests = [self._boosting.grow(c, self._n_trees) for c in committees]
        return Trained(CommitteeMembers(forests), None)
