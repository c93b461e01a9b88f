"""AdaBoost.MH, one class against the rest, and boosting of all pairs of classes.

References
----------
Schapire and Singer (1999). Improved boosting algorithms using confidence-rated predictions.
Machine Learning 37(3), 297-336.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from orfeon.boosting.base import BOOSTED, BoostedEnsemble
from orfeon.boosting.binary_problems import (
    ProblemLearner,
    ProblemMembers,
    ProblemScheme,
    ProblemTally,
    all_pairs,
    one_against_rest,
)
from orfeon.boosting.bounds import error_bound
from orfeon.boosting.learners import Sampling, binary_learner
from orfeon.boosting.loop import Learner, Scheme
from orfeon.boosting.vote_sums import Tally
from orfeon.boosting.weighted_vote import WeightedVoteMixin
from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.probabilities import CALIBRATE
from orfeon.forest.importance import impurity_importances
from orfeon.members.members import EstimatorMembers, LazyView
from orfeon.trees.stump import StumpClassifier
from orfeon.utils.documentation import documented
from orfeon.utils.types import Floats, Integers


class _BinaryProblems(WeightedVoteMixin, BoostedEnsemble):
    """Boosts several binary problems side by side, and decodes their outputs."""

    _decides_by_vote: ClassVar[bool] = False
    #: Whether the outputs of problems are bounded before they are added up.
    _squashes: ClassVar[bool] = False
    members_: ProblemMembers

    @abstractmethod
    def _codes(self, n_classes: int) -> Integers:
        """The code matrix."""

    def _decoding(self) -> Integers:
        """Outputs of the problems for each class."""
        return self._codes(self.n_classes_)

    def _joint(self) -> bool:
        """Whether the problems share one vote."""
        return False

    def _base(self) -> Any:
        return StumpClassifier() if self.estimator is None else self.estimator

    def _learner(self, samples: TrainingSet) -> Learner:
        one = binary_learner(self.estimator_, samples, self.sampling)
        return ProblemLearner(one, self._codes(samples.n_classes))

    def _scheme(self, samples: TrainingSet) -> Scheme:
        codes = self._codes(samples.n_classes)
        return ProblemScheme(samples.y, samples.weights, codes, joint=self._joint())

    @property
    def _tally_kind(self) -> type[Tally]:
        return ProblemTally

    def _tally(self, n_rows: int) -> Tally:
        return ProblemTally(n_rows, self._decoding(), bounded=self._squashes)

    def _outputs_of(self, members: ProblemMembers, rows: Any) -> npt.NDArray[Any]:
        return np.array(list(members.outputs(rows)))

    def _as_shares(self, sums: Floats, total: Any) -> Floats:
        """Sums moved to where the least possible one is 0, and made to sum to 1."""
        votes = np.ones(len(self._decoding())) if self._squashes else np.atleast_1d(total)
        most = float((np.abs(self._decoding()).T @ votes).max())
        above = sums + most
        whole = above.sum(axis=1, keepdims=True)
        return np.where(whole > 0, above / np.where(whole > 0, whole, 1.0), 1.0 / sums.shape[1])

    @property
    def forest_(self) -> Any:
        """All trees of all members, where they are trees."""
        check_is_fitted(self, "members_")
        forest = self.members_.forest
        if forest is None:
            raise AttributeError(
                f"this {type(self).__name__} has no forest_: its members are not trees."
            )
        return forest

    @property
    def estimators_(self) -> Any:
        """The binary classifiers of each round, as estimators; they predict 0 or 1."""
        check_is_fitted(self, "members_")
        return LazyView(len(self.members_), self._member)

    def _member(self, index: int) -> Any:
        classifiers = self.members_.rounds[index]
        if isinstance(classifiers, EstimatorMembers):
            return list(classifiers.estimators)
        trees = []
        for k in range(len(classifiers)):
            tree = clone(self.estimator_)
            tree.forest_ = classifiers.subset([k])
            self._hand_over(tree)
            tree.classes_, tree.n_classes_ = np.array([0, 1]), 2
            trees.append(tree)
        return trees

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature, by impurity decrease over all trees."""
        return impurity_importances(self.forest_, self.estimator_._impurity)


@documented(estimator="a :class:`orfeon.StumpClassifier`", n_estimators="50")
class AdaBoostMHClassifier(_BinaryProblems):
    """Boosting of one problem for each class: this class against all the others.

    Parameters
    ----------
    <estimator>
    n_estimators : int, default=50
        Maximum number of rounds; each trains one binary classifier for each class. A run that ends
        on its own with fewer than half of them raises a warning.
    joint : bool, default=True
        Whether the pairs of a sample and a class have one distribution, and a round one vote,
        as in AdaBoost.MH; or whether each problem is boosted on its own.
    <sampling>
    <calibrate_boosted>
    <stopping>
    <fitting>

    Attributes
    ----------
    members_ : ProblemMembers
        The members: for each round, one binary classifier for each class.
    member_weights_ : ndarray of shape (n_rounds, n_classes)
        The weights of the members' votes on each problem.
    errors_ : ndarray of shape (n_rounds,)
        Weighted error of each member over the pairs of a sample and a class.
    <validation_errors>
    <classes>
    <calibrated>

    See Also
    --------
    AdaBoostPairwiseClassifier : One problem for each pair of classes.
    AdaBoostOCClassifier : Another split of the classes in each round.

    Notes
    -----
    The decision is the class with the largest real-valued output. With two classes the two problems
    are mirror images, and the decision is that of AdaBoost.

    Examples
    --------
    >>> from orfeon import AdaBoostMHClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> round(AdaBoostMHClassifier(random_state=0).fit(X, y).score(X_test, y_test), 2)
    0.81
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BOOSTED,
        **CALIBRATE,
        "joint": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        joint: bool = True,
        sampling: Sampling = "weights",
        calibrate: Method | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 0.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.joint = joint
        self.sampling = sampling
        self.calibrate = calibrate
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _codes(self, n_classes: int) -> Integers:
        return one_against_rest(n_classes)

    def _decoding(self) -> Integers:
        return np.eye(self.n_classes_, dtype=np.int64)

    def _joint(self) -> bool:
        return self.joint

    @property
    def hamming_bounds_(self) -> Floats:
        """With ``joint=True``: bound on the weighted Hamming loss after each round.

        The Hamming loss is the share of pairs of a sample and a class that are decided wrongly;
        the training error is at most as many times larger as there are classes.
        """
        if not self.joint:
            raise AttributeError("the bound is that of joint=True, but joint=False.")
        check_is_fitted(self, "members_")
        self._check_learnt()
        return error_bound(self.errors_)


@documented(estimator="a :class:`orfeon.StumpClassifier`", n_estimators="50")
class AdaBoostPairwiseClassifier(_BinaryProblems):
    """Boosting of one problem for each pair of classes, whose outputs are added up for each class.

    Parameters
    ----------
    <estimator>
    n_estimators : int, default=50
        Maximum number of rounds; each trains one binary classifier for each pair that is not done
        yet. A run that ends on its own with fewer than half of them raises a warning.
    <sampling>
    <calibrate_boosted>
    <stopping>
    <fitting>

    Attributes
    ----------
    members_ : ProblemMembers
        The members: for each round, one binary classifier for each pair.
    member_weights_ : ndarray of shape (n_rounds, n_pairs)
        The weights of the members' votes on each pair.
    errors_ : ndarray of shape (n_rounds,)
        Weighted error of each member, averaged over the pairs that are not done yet.
    <validation_errors>
    pairs_ : ndarray of shape (n_pairs, 2)
        The pairs, as indices into ``classes_``.
    <classes>
    <calibrated>

    See Also
    --------
    AdaBoostMHClassifier : One problem for each class.

    Notes
    -----
    Each pair is boosted by AdaBoost on the samples of its two classes; a pair is done when a
    member errs on half of its weight, or on none. With two classes this is AdaBoost.

    The output F of a pair counts as tanh F, the difference of the two class probabilities (Friedman
    et al. 2000); otherwise an easily separated pair would dominate on samples of a third class.

    Examples
    --------
    >>> from orfeon import AdaBoostPairwiseClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> round(AdaBoostPairwiseClassifier(random_state=0).fit(X, y).score(X_test, y_test), 2)
    0.8
    """

    _squashes: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {**BOOSTED, **CALIBRATE}

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        sampling: Sampling = "weights",
        calibrate: Method | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 0.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sampling = sampling
        self.calibrate = calibrate
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _codes(self, n_classes: int) -> Integers:
        return all_pairs(n_classes)

    @property
    def pairs_(self) -> npt.NDArray[np.int64]:
        """The pairs of classes."""
        check_is_fitted(self, "members_")
        codes = self._codes(self.n_classes_)
        return np.column_stack([codes.argmin(axis=1), codes.argmax(axis=1)])
