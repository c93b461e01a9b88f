"""Anyone's fitted ensemble with calibrated probabilities; no member is trained again."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin, clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted

from orfeon.base import TabularClassifierMixin, TabularEstimator, class_codes, transactional
from orfeon.calibration.calibrator import Calibrator
from orfeon.calibration.methods import (
    METHODS,
    Method,
    cross_fitted,
    cross_fitted_log_loss,
    learn,
    learn_without_folds,
)
from orfeon.calibration.samples import ScoredSamples
from orfeon.calibration.smoothing import SMOOTHING, smooth
from orfeon.data.training_set import relative_weights
from orfeon.ensembles.base import seed_estimator
from orfeon.ensembles.decision import COUNTS, N_FOLDS
from orfeon.ensembles.holdout import deal_folds, hash_samples
from orfeon.ensembles.perturbation import member_generator
from orfeon.ensembles.probabilities import mean_of_copies
from orfeon.ensembles.random_forest import RandomForestClassifier
from orfeon.members import Members, adapt
from orfeon.members.adapter import EnsembleInPipeline
from orfeon.trees.base import LIMITS
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import HasMethods, StrOptions
from orfeon.utils.seeding import Purpose, seed_sequence
from orfeon.utils.types import Floats, Integers

#: Members queried at once.
_BLOCK = 32


@documented()
@saved.attributes(
    schema_=None,
    n_features_in_=saved.optional(saved.integer(1)),
    ensemble_=saved.estimator,
    calibrator_=saved.one_of(saved.none, saved.subclass("Calibrator")),
    oob_probabilities_=saved.matrix,
    oob_log_loss_=saved.anything,
)
class CalibratedEnsemble(TabularClassifierMixin, MetaEstimatorMixin, TabularEstimator):  # type: ignore[misc]
    """A fitted ensemble with calibrated probabilities, from its own out-of-bag predictions.

    Parameters
    ----------
    estimator : ensemble, optional
        A fitted ensemble of classifiers: one of orfeon; scikit-learn's bagging, random forest,
        extra-trees, AdaBoost or voting; or a pipeline that ends in one. It is neither retrained nor
        changed. An unfitted one is cloned and trained first. By default a random forest.
    calibrate : {"sigmoid", "beta", "isotonic", "venn_abers", "auto"}, default="sigmoid"
        How vote shares become probabilities: by a logistic function of log odds, beta (with several
        classes Dirichlet) calibration, a monotone step function, or Venn-Abers prediction; "auto"
        picks the one with the lowest log loss on folds.
    on : {"out_of_bag", "held_out"}, default="out_of_bag"
        What is passed to ``fit``: the training set of the ensemble, whose members predict the
        samples that they did not see; or samples that no member saw.
    <random_state>

    Attributes
    ----------
    ensemble_ : ensemble
        The fitted ensemble.
    calibrator_ : Calibrator or None
        What turns its shares into probabilities; None if there is one class.
    oob_log_loss_ : float
        Log loss on the samples that it was learnt from, each fold calibrated by the others.
    oob_probabilities_ : ndarray of shape (n_rows, n_classes)
        The probabilities behind it; NaN for samples that every member saw.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    RandomForestClassifier : Calibrates itself in ``fit``, as all ensembles of orfeon can.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.metrics import log_loss
    >>> from orfeon import CalibratedEnsemble
    >>> from orfeon.datasets import make_ringnorm
    >>> X, y = make_ringnorm(300, random_state=0)
    >>> X_test, y_test = make_ringnorm(5000, random_state=1)
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> calibrated = CalibratedEnsemble(forest).fit(X, y)
    >>> [round(log_loss(y_test, one.predict_proba(X_test)), 2) for one in (forest, calibrated)]
    [0.28, 0.15]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "calibrate": [StrOptions(set(METHODS))],
        "on": [StrOptions({"out_of_bag", "held_out"})],
        "random_state": LIMITS["random_state"],
    }

    ensemble_: Any
    calibrator_: Calibrator | None
    oob_probabilities_: Floats
    oob_log_loss_: float

    def __init__(
        self,
        estimator: Any = None,
        *,
        calibrate: Method = "sigmoid",
        on: Literal["out_of_bag", "held_out"] = "out_of_bag",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.calibrate = calibrate
        self.on = on
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._given()).input_tags
        tags.input_tags.allow_nan, tags.input_tags.sparse = inner.allow_nan, inner.sparse
        return tags

    def _given(self) -> Any:
        return RandomForestClassifier() if self.estimator is None else self.estimator

    @transactional
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Calibrate the ensemble, without training it again.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The training set of the ensemble, or samples held out from it.
        y : array of shape (n_rows,)
            Classes.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice. For out-of-bag predictions
            those that the ensemble was trained with.

        Returns
        -------
        self
            The calibrated ensemble.
        """
        self._validate_params()
        if y is not None:
            y = column_or_1d(y, warn=True)
        sequence = seed_sequence(self.random_state)
        self.ensemble_ = self._fitted(X, y, sample_weight, sequence)
        members = adapt(self.ensemble_)
        if members.classes is None:
            raise ValueError(f"estimator={self.estimator} predicts numbers; give a classifier.")
        self.classes_, self.n_classes_ = np.asarray(members.classes), members.n_classes
        self.n_features_in_ = self.ensemble_.n_features_in_
        kept, labels, weights, rows, n_given = self._read_samples(X, y, sample_weight)
        self.calibrator_, self.oob_log_loss_ = None, 0.0
        self.oob_probabilities_ = np.ones((n_given, self.n_classes_))
        if self.n_classes_ == 1:
            return self
        if self.on == "out_of_bag" and hasattr(_innermost(members), "_redrawn"):
            unseen = _unseen_by_ours(members, X, y, sample_weight)
        else:
            shares, n_members = self._unseen_shares(members, X, y, sample_weight)
            smoothed = _smoothed(members, shares, n_members)[rows]
            codes = class_codes(labels, self.classes_)
            order = _order_of(kept, codes, weights)
            unseen = Unseen(smoothed[order], codes[order], weights[order], rows[order])
        rng = member_generator(sequence, Purpose.CALIBRATING)
        units = np.arange(len(unseen.y), dtype=np.uint64)
        fold = deal_folds(units, unseen.y, unseen.weights, N_FOLDS, rng, by_class=True)
        weights = relative_weights(unseen.weights)
        samples = ScoredSamples.of(unseen.shares, unseen.y, weights, fold)
        self.calibrator_ = learn(samples, self.calibrate)
        others = learn_without_folds(samples, self.calibrate)
        found = cross_fitted(others, unseen.shares, fold)
        self.oob_probabilities_ = mean_of_copies(found, unseen.rows, n_given)
        self.oob_log_loss_ = cross_fitted_log_loss(samples, self.calibrate, others)
        return self

    def _fitted(self, X: Any, y: Any, sample_weight: Any, sequence: np.random.SeedSequence) -> Any:
        """The ensemble, trained only if it is not fitted."""
        given = self._given()
        if is_regressor(given):
            raise ValueError(f"estimator={given} predicts numbers; give a classifier.")
        try:
            check_is_fitted(given)
        except NotFittedError:
            if self.on == "held_out":
                raise ValueError(
                    f'on="held_out" needs a fitted estimator, and estimator={given} is not: fit '
                    "it to other samples first."
                ) from None
            more = {} if sample_weight is None else {"sample_weight": sample_weight}
            base = clone(given)
            if self.random_state is not None:
                seed_estimator(base, int(sequence.generate_state(1, np.uint64)[0]))
            return base.fit(X, y, **more)
        return given

    def _unseen_shares(
        self, members: Members, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Floats, float | Floats]:
        """Shares by members that did not see the samples, and how many of them there are."""
        if self.on == "held_out":
            return _shares(members, X), float(members.n_members)
        y = self._read_target(y)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        out = members.out_of_bag(X, y, weights, with_copies=False)
        if members.member_weights is not None or not _counts_or_averages(members):
            raise ValueError(
                f"{type(self.ensemble_).__name__} weighs its members, or combines them by a rule, "
                'so its out-of-bag shares are not known here; use on="held_out", or its own '
                "calibrate."
            )
        sums = np.zeros((out.shape[1], members.n_classes))
        for first in range(0, members.n_members, _BLOCK):
            some = members.part(first, min(first + _BLOCK, members.n_members))
            if members.averages_supports:
                answers = some.supports(X)
            else:
                answers = np.eye(members.n_classes)[some.answers(X)]
            for one, unseen in zip(answers, out[first:], strict=False):
                sums[unseen] += one[unseen]
        n_members = out.sum(axis=0).astype(np.float64)
        with np.errstate(invalid="ignore"):
            return sums / np.where(n_members > 0, n_members, np.nan)[:, None], n_members

    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probabilities.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self, "ensemble_")
        members = adapt(self.ensemble_)
        shares = _shares(members, X)
        if self.calibrator_ is None:
            return shares
        smoothed = _smoothed(members, shares, float(members.n_members))
        return self.calibrator_.probabilities(smoothed)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes; the first of those that are tied.
        """
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[np.argmax(probabilities, axis=1)])

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature, where the ensemble has it."""
        check_is_fitted(self, "ensemble_")
        return np.asarray(self.ensemble_.feature_importances_)

    @property
    def forest_(self) -> Any:
        """The trees of the ensemble, where they are of orfeon."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.forest_


def _innermost(members: Members) -> Any:
    """The ensemble itself, without the pipeline around it."""
    return _innermost(members.last) if isinstance(members, EnsembleInPipeline) else members.ensemble


class Unseen(NamedTuple):
    """Smoothed shares by members that did not see the samples, in an order of their content."""

    shares: Floats
    y: Integers
    weights: Floats
    rows: Integers


def _unseen_by_ours(members: Members, X: Any, y: Any, sample_weight: Any) -> Unseen:
    """Out-of-bag shares of an ensemble of orfeon, of each copy of a sample on its own."""
    if isinstance(members, EnsembleInPipeline):
        return _unseen_by_ours(members.last, members.transform(X), y, sample_weight)
    ensemble = members.ensemble
    samples, drawn = ensemble._redrawn(X, y, sample_weight)
    out = np.stack([weights == 0 for weights in drawn])
    if not out.any():
        raise members._no_out_of_bag("each of its members saw all the samples")
    outputs = ensemble._estimate(samples.X, samples.y, samples.sample_weights, out).outputs
    shares = ensemble._smoothed(outputs, np.maximum(out.sum(axis=0), 1).astype(np.float64))
    return Unseen(shares, samples.y, samples.sample_weights, samples.rows)


def _counts_or_averages(members: Members) -> bool:
    rule = getattr(_innermost(members), "_simple_rule", "majority")
    return rule in (*COUNTS, "soft")


def _shares(members: Members, X: Any) -> Floats:
    """The ensemble's own shares of the classes, neither smoothed nor calibrated."""
    if isinstance(members, EnsembleInPipeline):
        return _shares(members.last, members.transform(X))
    ensemble = members.ensemble
    if hasattr(ensemble, "_raw_shares"):
        return np.asarray(ensemble._raw_shares(X))
    if hasattr(ensemble, "predict_proba"):
        return np.asarray(ensemble.predict_proba(X), dtype=np.float64)
    votes = members.answers(X)
    weights = np.ones(len(votes)) if members.member_weights is None else members.member_weights
    sums = np.zeros((votes.shape[1], members.n_classes))
    for one, weight in zip(votes, weights, strict=True):
        sums[np.arange(votes.shape[1]), one] += weight
    return np.asarray(sums / weights.sum())


def _smoothed(members: Members, shares: Floats, n_members: float | Floats) -> Floats:
    """Shares that are neither 0 nor 1."""
    ensemble = _innermost(members)
    if getattr(ensemble, "_smoothing", None) is not None:
        return np.asarray(ensemble._smoothed(shares, n_members))
    return smooth(shares, n_members, SMOOTHING)


def _order_of(X: Any, codes: Integers, weights: Floats) -> Integers:
    """An order of samples that depends on their content only."""
    rows = X if hasattr(X, "shape") else np.asarray(X)
    return np.asarray(np.lexsort((weights, hash_samples(rows, codes))))
