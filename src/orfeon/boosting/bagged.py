"""Bagged gradient boosting: every model is stopped on the samples that it did not see.

Members are trained on bootstrap samples, or on all folds but one. The samples that a member leaves
out, with all their copies, choose its number of rounds and give out-of-bag predictions: no sample
is lost to a validation set, and none is predicted by a model that was trained on it. They do choose
when it stops, so out-of-bag errors are slightly optimistic.

References
----------
Breiman (1996). Bagging predictors. Machine Learning 24(2), 123-140.

Caruana, Niculescu-Mizil, Crew and Ksikes (2004). Ensemble selection from libraries of models. ICML.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import clone

from orfeon.boosting.gradient_base import GradientBoosting
from orfeon.boosting.gradient_boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from orfeon.calibration.methods import Method
from orfeon.data.schema import Schema
from orfeon.data.sparse import learn_sparse
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.bagging import SAMPLING, Bootstrap, Resampling
from orfeon.ensembles.base import ENSEMBLE, Recipe, Trained, seed_estimator
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.holdout import deal_folds, hash_samples
from orfeon.ensembles.out_of_bag import Importance
from orfeon.ensembles.perturbation import Perturbation
from orfeon.ensembles.voting import (
    CLASS_WEIGHT,
    CLASSIFIER,
    REGRESSOR,
    AveragingRegressorMixin,
    VotingClassifierMixin,
)
from orfeon.members.members import EstimatorMembers
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, _safe_indexing
from orfeon.utils.seeding import Purpose, branch
from orfeon.utils.types import Integers

#: Most rounds of a default member, which stops by itself.
_MOST_ROUNDS = 1000

TEXTS = {
    "bagging": """
    estimator : %(default)s, optional
        The model to bag, whose ``n_estimators`` is the maximum number of rounds. By default with
        1,000 rounds at most.
    n_estimators : int, default=10
        Number of boosted models.
    n_folds : int or None, default=5
        Number of folds: each model is trained without one, in turn; after ``n_folds`` models the
        samples are dealt again. None draws bootstrap samples instead.
    bootstrap : bool or "balanced", default=True
        With ``n_folds=None``: whether samples are drawn with replacement; "balanced" draws every
        sample equally often over all models.
    max_samples : int, float or None, default=1.0
        With ``n_folds=None``: number or share of the samples to draw; None draws as many as there
        are.
    early_stopping : bool, default=True
        Whether each model stops on the samples that it left out, after its ``n_iter_no_change``
        rounds without improvement (10 if that is None).
""",
    "bagged": """
    n_rounds_ : ndarray of shape (n_estimators,)
        Number of rounds of each model.
    estimators_ : list
        The boosted models. Those of a classifier predict indices into ``classes_``.
    members_ : EstimatorMembers
        The same.
    estimator_ : estimator
        The model that was bagged.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each feature, the mean over the models.
""",
}


@dataclass(frozen=True)
class StoppedTraining:
    """Fits boosted models, each stopped on the samples that it leaves out."""

    base: GradientBoosting
    recipe: Recipe
    stops: bool

    @cached_property
    def _group(self) -> Integers:
        """Group of each sample: copies of a sample share one."""
        samples = self.recipe.samples
        return np.asarray(np.unique(content_of(samples), return_inverse=True)[1])

    def __call__(self, block: slice) -> Trained:
        """Fit the models of a block."""
        _, seeds, drawn = self.recipe.draw(block)
        fitted = [self._fit(int(seed), one) for seed, one in zip(seeds, drawn, strict=True)]
        members = EstimatorMembers(fitted, self.recipe.samples.n_classes)
        return Trained(members, self.recipe.seen(drawn))

    def _fit(self, seed: int, drawn: Perturbation) -> GradientBoosting:
        samples, model = self.recipe.samples, clone(self.base)
        seed_estimator(model, seed)
        weights = samples.weights if drawn.weights is None else drawn.weights.astype(np.float64)
        seen = np.flatnonzero(weights)
        given: dict[str, Any] = {}
        held = self._left_out(seen) if self.stops else seen[:0]
        if len(held):
            given = {
                "X_val": _safe_indexing(samples.X, held),
                "y_val": samples.y[held],
                "sample_weight_val": samples.weights[held],
            }
        elif self.stops:  # nothing says when
            model.set_params(early_stopping=False)
        X = _safe_indexing(samples.X, seen)
        fitted: GradientBoosting = model.fit(X, samples.y[seen], weights[seen], **given)
        return fitted

    def _left_out(self, seen: Integers) -> Integers:
        """The samples of which no copy was seen, of classes that were."""
        samples = self.recipe.samples
        out = ~np.isin(self._group, self._group[seen])
        if samples.n_classes:
            out &= np.isin(samples.y, samples.y[seen])
        return np.flatnonzero(out)


def content_of(samples: TrainingSet) -> npt.NDArray[np.uint64]:
    """A hash of each sample, the same for copies."""
    return hash_samples(samples.X, np.unique(samples.y, return_inverse=True)[1])


@saved.attributes(_folds=None)  # of a fit
class _BaggedBoosting(Resampling):
    """Bagging of gradient boosting."""

    _draws_by: ClassVar[tuple[str, ...]] = ("bootstrap", "max_samples", "n_folds")
    _needs_weights: ClassVar[bool] = True
    #: Few models, each without a fold, say nothing of the variance over training sets.
    _draws_samples: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **SAMPLING,
        "n_folds": [Interval(Integral, 2, None, closed="left"), None],
        "early_stopping": ["boolean"],
        "oob_score": ["boolean"],
    }

    importance: Importance = "impurity"
    estimator: Any
    n_folds: int | None
    early_stopping: bool
    _folds: dict[int, Integers]

    @property
    def _prefer(self) -> Any:
        return "threads"

    def _takes_sparse(self) -> bool:
        return bool(self._base()._takes_sparse())

    def _check_base(self) -> None:
        super()._check_base()
        if getattr(self.estimator_, "loss", None) == "quantile" and np.ndim(self.estimator_.alpha):
            raise ValueError(
                f"alpha={self.estimator_.alpha!r} predicts several numbers for a row, but "
                f"{type(self).__name__} averages one; bag each quantile on its own."
            )

    def _read_all(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> TrainingSet:
        samples = super()._read_all(X, y, sample_weight, reset=reset)
        # As for trees, in an order that depends on the content only.
        return samples.take(np.lexsort((samples.weights, content_of(samples))))

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        # What no model could read is rejected in the words of the models.
        if reset and issparse(X):
            learn_sparse(X, self.estimator_.categorical_features)
        elif reset:
            Schema.learn_and_encode(X, self.estimator_.categorical_features, as_given=True)
        else:
            self.estimators_[0]._encode_rows(X)
        return super()._check_rows(X, reset=reset)

    def _training(self, recipe: Recipe) -> Callable[[slice], Trained]:
        return StoppedTraining(self.estimator_, recipe, self.early_stopping)

    def _prepare(self, samples: TrainingSet, members: range) -> None:
        self._folds = {}
        if self.n_folds is None:
            super()._prepare(samples, members)
            return
        self._n_drawn = 0

    def _finish(self, samples: TrainingSet, seen: npt.NDArray[np.bool_] | None) -> None:
        super()._finish(samples, seen)
        self._folds = {}

    def _draw(
        self, samples: TrainingSet, rng: np.random.Generator, member: int
    ) -> npt.NDArray[Any] | None:
        if self.n_folds is None:
            return super()._draw(samples, rng, member)
        again, fold = divmod(member, self.n_folds)
        if again not in self._folds:
            self._folds[again] = self._deal_folds(samples, again)
        taken = np.where(self._folds[again] != fold, samples.weights, 0.0)
        return taken if taken.any() else samples.weights  # one sample cannot be left out

    def _deal_folds(self, samples: TrainingSet, again: int) -> Integers:
        """The fold of each sample, the same for copies."""
        rng = np.random.default_rng(branch(self._sequence, Purpose.DEALING_SAMPLES, again))
        by_class = samples.n_classes > 0
        codes = samples.y if by_class else np.zeros(len(samples), np.int64)
        assert self.n_folds is not None
        return deal_folds(
            content_of(samples), codes, samples.weights, self.n_folds, rng, by_class=by_class
        )

    @property
    def n_rounds_(self) -> Integers:
        """Number of rounds of each model."""
        return np.array([model.n_estimators_ for model in self.estimators_], dtype=np.int64)


@documented(TEXTS, estimator="GradientBoostingClassifier")
class BaggedBoostingClassifier(VotingClassifierMixin, _BaggedBoosting):
    """Mean of gradient boosting classifiers, each stopped on the samples that it left out.

    Parameters
    ----------
    <bagging>
    <combine>
    <calibrate>
    <class_weight>
    oob_score : bool, default=False
        Whether to predict each training sample by the models that did not see it.
    <fitting>

    Attributes
    ----------
    <bagged>
    <classes>
    <calibrated>
    <oob_classes>

    See Also
    --------
    GradientBoostingClassifier : A single model, with a validation set or cross-validation.
    BaggingClassifier : Bags any classifier.

    Notes
    -----
    Copies of a sample stay together: a sample is left out with all its copies. The samples left out
    choose when a model stops, so out-of-bag errors are slightly optimistic.

    Examples
    --------
    >>> from orfeon import BaggedBoostingClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(200, random_state=0)
    >>> bagged = BaggedBoostingClassifier(n_estimators=5, oob_score=True, random_state=0)
    >>> bagged = bagged.fit(X, y)
    >>> bagged.oob_decision_function_.shape, bool((bagged.n_rounds_ < 200).all())
    ((200, 3), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_BaggedBoosting._parameter_constraints,
        **CLASSIFIER,
        **CLASS_WEIGHT,
        "estimator": [GradientBoostingClassifier, None],
    }

    def __init__(
        self,
        estimator: GradientBoostingClassifier | None = None,
        n_estimators: int = 10,
        *,
        n_folds: int | None = 5,
        bootstrap: Bootstrap = True,
        max_samples: float | None = 1.0,
        early_stopping: bool = True,
        combine: Combine = "soft",
        calibrate: Method | None = None,
        class_weight: Any = None,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.n_folds = n_folds
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.early_stopping = early_stopping
        self.combine = combine
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        if self.estimator is None:
            return GradientBoostingClassifier(n_estimators=_MOST_ROUNDS)
        return clone(self.estimator)


@documented(TEXTS, estimator="GradientBoostingRegressor")
class BaggedBoostingRegressor(AveragingRegressorMixin, _BaggedBoosting):
    """Mean of gradient boosting regressors, each stopped on the samples that it left out.

    Parameters
    ----------
    <bagging>
    <combine_numbers>
    oob_score : bool, default=False
        Whether to predict each training sample by the models that did not see it.
    <fitting>

    Attributes
    ----------
    <bagged>
    <oob_predictions>

    See Also
    --------
    GradientBoostingRegressor : A single model, with a validation set or cross-validation.
    BaggingRegressor : Bags any regressor.

    Examples
    --------
    >>> from orfeon import BaggedBoostingRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> bagged = BaggedBoostingRegressor(n_estimators=5, oob_score=True, random_state=0)
    >>> bagged = bagged.fit(X, y)
    >>> bagged.oob_prediction_.shape, bagged.n_rounds_.shape
    ((200,), (5,))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_BaggedBoosting._parameter_constraints,
        **REGRESSOR,
        "estimator": [GradientBoostingRegressor, None],
    }

    def __init__(
        self,
        estimator: GradientBoostingRegressor | None = None,
        n_estimators: int = 10,
        *,
        n_folds: int | None = 5,
        bootstrap: Bootstrap = True,
        max_samples: float | None = 1.0,
        early_stopping: bool = True,
        combine: Combine = "mean",
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.n_folds = n_folds
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.early_stopping = early_stopping
        self.combine = combine
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        if self.estimator is None:
            return GradientBoostingRegressor(n_estimators=_MOST_ROUNDS)
        return clone(self.estimator)
