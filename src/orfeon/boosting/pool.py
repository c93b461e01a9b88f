"""Boosting over a given pool: each round picks the classifier with the lowest weighted error.

References
----------
Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and an
application to boosting. Journal of Computer and System Sciences 55(1), 119-139.

Rojas (2009). AdaBoost and the super bowl of classifiers: a tutorial introduction to adaptive
boosting. Freie Universität Berlin.

Rätsch, Onoda and Müller (2001). Soft margins for AdaBoost. Machine Learning 42(3), 287-320.

Demiriz, Bennett and Shawe-Taylor (2002). Linear programming boosting via column generation.
Machine Learning 46, 225-254.
"""

from __future__ import annotations

from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from orfeon.boosting.adaboost import AdaBoostScheme, Algorithm
from orfeon.boosting.base import STOPPING, VOTED, BoostedEnsemble
from orfeon.boosting.bounds import BoundsMixin
from orfeon.boosting.given_pool import PoolLearner, read_pool
from orfeon.boosting.loop import LEAST_SHARE, Learner, Run, Scheme
from orfeon.boosting.lp_boost import LPBoostScheme
from orfeon.boosting.soft_margins import SoftMarginScheme
from orfeon.boosting.stump_pool import StumpLearner, StumpPool
from orfeon.boosting.weighted_vote import WeightedVoteMixin
from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import ENSEMBLE
from orfeon.ensembles.decision import OWN, Combine
from orfeon.members.members import LazyView
from orfeon.trees.base import LIMITS
from orfeon.trees.stump import StumpClassifier
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions, _clone_parametrized
from orfeon.utils.seeding import Purpose, branch
from orfeon.utils.types import Integers
from orfeon.utils.user_warning import AdvisedWarning

PoolRule = Literal["adaboost", "soft_margin", "lp"]


@saved.attributes(
    _chosen=saved.list_of(saved.integer(0)),
    _pool=saved.one_of(
        saved.instance("StumpPool"),
        saved.list_of(saved.instance("Voter", "MemberVoter"), at_least=1),
    ),
    margin_=saved.optional(saved.number()),
)
@documented(n_boosted="50")
class PoolBoostClassifier(BoundsMixin, WeightedVoteMixin, BoostedEnsemble):
    """Boosting over a pool of classifiers: each round picks the one with the lowest weighted error.

    Parameters
    ----------
    pool : list of classifiers, or fitted ensemble, optional
        The classifiers to choose from. Fitted ones are used as they are, others are fitted once to
        the training samples; functions from rows to classes are allowed too. An ensemble from
        orfeon or scikit-learn supplies its members. By default all stumps: each test of a
        feature with each pair of classes on its branches, and each class alone.
    <n_boosted>
    rule : {"adaboost", "soft_margin", "lp"}, default="adaboost"
        How classifiers and samples are weighted. "soft_margin" is AdaBoost that trusts samples less
        the longer they were heavy (Rätsch et al. 2001). "lp" finds the votes that maximise the
        smallest margin by linear programming (LPBoost).
    algorithm : {"samme", "m1"}, default="samme"
        With ``rule="adaboost"`` and more than two classes, "samme" needs classifiers better than
        chance, with an error below ``1 - 1 / n_classes``; "m1" needs an error below one half, so
        that the run often ends after few rounds. The rule "soft_margin" always requires less than
        half.
    regularization : float, default=0.1
        With ``rule="soft_margin"``: how much less; at 0 it is AdaBoost.
    nu : float, default=0.0
        With ``rule="lp"``: share of the samples that may have a smaller margin; at 0 none may.
    n_thresholds : int, optional
        For stumps: maximum number of thresholds per ordered feature, evenly spread over its
        distinct values. By default there is one between any two values.
    categorical_features : "auto", None, or a list of names, indices or a mask, default="auto"
        For stumps: which features are categorical; "auto" infers it from their types.
    <combine_boosted>
    <calibrate_boosted>
    <stopping>
    <fitting>

    Attributes
    ----------
    pool_ : sequence of classifiers
        The fitted pool. Stumps are created on access; members of an ensemble are ensembles of one.
    chosen_ : ndarray of int of shape (n_members,)
        Index in the pool of the classifier chosen in each round; ties go to the lowest.
    margin_ : float
        With ``rule="lp"``: the margin reached, of all samples if ``nu`` is 0.
    <members>
    <boosted>
    <classes>
    <calibrated>

    See Also
    --------
    AdaBoostClassifier : Trains a new member in each round.

    Notes
    -----
    Weights and votes are those of AdaBoost (SAMME with more than two classes). A classifier may be
    chosen several times. With ``rule="lp"`` all votes are recomputed in each round, sum to 1 and
    may be 0, and the run ends when no classifier of the pool would enlarge the margin; before that,
    ``n_estimators`` may end it. Otherwise the run ends when the best one is no better than chance
    (with "m1", not right on more than half of the weight), and dropped, or errs on nothing, and is
    kept. Errors that differ by 1e-12 or less are equal.

    Stumps of a feature with missing values send these to either branch, and one more stump
    separates missing from known values. Stumps test a categorical feature for one category.

    Clones keep the classifiers of a given pool as they are, fitted or not.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier, PoolBoostClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> bag = BaggingClassifier(CARTClassifier(max_depth=3), 100, random_state=0).fit(X, y)
    >>> boosted = PoolBoostClassifier(bag).fit(X, y)
    >>> boosted.chosen_[:5], len(set(boosted.chosen_))
    (array([25, 35, 68,  4, 72]), 17)
    >>> round(bag.score(X_test, y_test), 2), round(boosted.score(X_test, y_test), 2)
    (0.75, 0.75)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **STOPPING,
        **VOTED,
        "pool": "no_validation",
        "rule": [StrOptions({"adaboost", "soft_margin", "lp"})],
        "algorithm": [StrOptions({"m1", "samme"})],
        "regularization": [Interval(Real, 0.0, None, closed="left")],
        "nu": [Interval(Real, 0.0, 1.0, closed="both")],
        "n_thresholds": [Interval(Integral, 1, None, closed="left"), None],
        "categorical_features": LIMITS["categorical_features"],
    }

    _pool: Any
    _chosen: list[int]
    margin_: float

    def __init__(
        self,
        pool: Any = None,
        n_estimators: int = 50,
        *,
        rule: PoolRule = "adaboost",
        algorithm: Algorithm = "samme",
        regularization: float = 0.1,
        nu: float = 0.0,
        n_thresholds: int | None = None,
        categorical_features: Any = "auto",
        combine: Combine = OWN,
        calibrate: Method | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 0.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.pool = pool
        self.n_estimators = n_estimators
        self.rule = rule
        self.algorithm = algorithm
        self.regularization = regularization
        self.nu = nu
        self.n_thresholds = n_thresholds
        self.categorical_features = categorical_features
        self.combine = combine
        self.calibrate = calibrate
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_clone__(self) -> Any:
        # Cloning the parameter would unfit the classifiers of the pool.
        bare = copy(self)
        bare.pool = None
        other = _clone_parametrized(bare)
        other.pool = self.pool
        return other

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.pool is not None:
            given = self.pool if isinstance(self.pool, list | tuple) else [self.pool]
            known = [c for c in given if hasattr(c, "__sklearn_tags__")]
            takes = [get_tags(c).input_tags for c in known if not isinstance(c, type)]
            tags.input_tags.sparse = all(one.sparse for one in takes)
            tags.input_tags.allow_nan = all(one.allow_nan for one in takes)
        return tags

    def _base(self) -> Any:
        if self.pool is None:
            return StumpClassifier(categorical_features=self.categorical_features)
        return None

    def _check_base(self) -> None:
        if self.pool is None:
            super()._check_base()
        elif isinstance(self.pool, list | tuple) and not self.pool:
            raise ValueError("pool is empty; give at least one classifier, or None for stumps.")

    def _scheme(self, samples: TrainingSet) -> Scheme:
        n_classes = max(2, samples.n_classes)
        if self.rule == "soft_margin":
            return SoftMarginScheme(samples.y, samples.weights, n_classes, self.regularization)
        if self.rule == "lp":
            return LPBoostScheme(samples.y, samples.weights, self.nu)
        return AdaBoostScheme(samples.y, samples.weights, n_classes, algorithm=self.algorithm)

    def _check_stopping(self) -> None:
        super()._check_stopping()
        if self.rule == "lp" and self.n_iter_no_change is not None:
            raise ValueError(
                f"n_iter_no_change={self.n_iter_no_change} is not available with rule="
                '"lp", whose votes all change in each round; use None.'
            )

    def _take_from(self, scheme: Any, n_kept: int) -> None:
        self.__dict__.pop("margin_", None)
        if isinstance(scheme, LPBoostScheme) and scheme.solution is not None:
            self.member_weights_ = scheme.solution.votes
            self.margin_ = scheme.solution.margin

    def _check_one_run(self) -> None:
        if self.rule != "adaboost":
            raise AttributeError(
                f'the bounds are those of rule="adaboost", not of rule={self.rule!r}.'
            )
        if self.n_classes_ > 2 and self.algorithm != "m1":
            raise AttributeError(
                'with several classes the bounds are those of algorithm="m1", not of '
                f"algorithm={self.algorithm!r}."
            )

    def _learner(self, samples: TrainingSet) -> Learner:
        continues = self.warm_start and hasattr(self, "members_")
        self._chosen = list(self.chosen_) if continues else []
        n_classes = samples.n_classes
        if self.pool is None:
            self._pool = StumpPool.of(samples.table, n_classes, self.n_thresholds, samples.weights)
            return StumpLearner(self._pool, samples, self._chosen)
        sequence = branch(self._sequence, Purpose.FITTING_A_POOL)
        self._pool, answers = read_pool(self.pool, samples, self.classes_, sequence)
        return PoolLearner(self._pool, answers, n_classes, self._chosen)

    def _explain(self, run: Run) -> AdvisedWarning | None:
        if not run.has_failed:  # a linear program that is solved ends as it should
            return None if self.rule == "lp" else super()._explain(run)
        return AdvisedWarning(
            f"{type(self).__name__}: the best classifier of the pool errs on "
            f"{run.results[-1].error:.3g} of the weight, which is no better than chance; the "
            "ensemble is this one alone.",
            self._advice("stronger"),
        )

    def _advice(self, wanted: Literal["stronger", "weaker"]) -> str:
        advice = f"Give a pool with {wanted} classifiers."
        if wanted == "stronger" and self._asks_for_half:
            advice += (
                f' With {self.n_classes_} classes, rule="adaboost" with algorithm="samme" is '
                "less demanding."
            )
        return advice

    @property
    def _asks_for_half(self) -> bool:
        """Whether classifiers must be right on half of the weight of several classes."""
        of_rule = self.rule == "soft_margin" or self.algorithm == "m1"
        return self.n_classes_ > 2 and of_rule and self.rule != "lp"

    @property
    def _least_share(self) -> float:
        return 1.0 if self._asks_for_half else LEAST_SHARE

    def _keep_members(self, index: Integers) -> None:
        self._chosen = list(self.chosen_[index])
        super()._keep_members(index)

    # -- inspection ----------------------------------------------------------------------------

    @property
    def chosen_(self) -> Integers:
        """Index in the pool of the classifier chosen in each round."""
        check_is_fitted(self, "members_")
        return np.array(self._chosen[: len(self.members_)], dtype=np.int64)

    @property
    def pool_(self) -> Any:
        """The fitted classifiers of the pool."""
        check_is_fitted(self, "members_")
        if isinstance(self._pool, StumpPool):
            return LazyView(len(self._pool), self._stump)
        return [voter.classifier for voter in self._pool]

    def _stump(self, index: int) -> StumpClassifier:
        stump = StumpClassifier(categorical_features=self.categorical_features)
        stump.forest_ = self._pool.forest([index])
        self._hand_over(stump)
        return stump

    @property
    def estimators_(self) -> Any:
        """The chosen classifiers in order, possibly with repetitions."""
        check_is_fitted(self, "members_")
        if isinstance(self._pool, StumpPool):
            return super().estimators_
        return [self._pool[i].classifier for i in self.chosen_]
