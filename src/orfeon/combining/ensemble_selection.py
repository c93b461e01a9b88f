"""Ensemble selection as an estimator.

How models are chosen is in :mod:`orfeon.combining.greedy_selection`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.base import (
    TabularClassifierMixin,
    TabularRegressorMixin,
    class_codes,
)
from orfeon.combining.composition import COMPOSITION_TEXTS, Composition, Given, Named
from orfeon.combining.fitting import is_frame, query
from orfeon.combining.greedy_selection import (
    CLASS_LOSSES,
    TARGET_LOSSES,
    Loss,
    best_power,
    powered,
    select_greedily,
)
from orfeon.combining.numeric_inputs import takes_encoded
from orfeon.combining.out_of_fold import Split, Units
from orfeon.data.encoded_rows import EncodedRows
from orfeon.data.training_set import read_weights, relative_weights
from orfeon.uncertainty.prediction_sets import PredictionSetsMixin, UnseenShares
from orfeon.uncertainty.ranks import check_coverage, upper_bound
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions
from orfeon.utils.types import Floats

_TEXTS = {
    "selecting": """
    weights : sequence of float, optional
        Weights of the models, if they are known: nothing is selected then, and ``cv`` is not used.
    n_rounds : int, default=50
        Models taken in each search, with replacement; of all rounds the best one is kept.
    n_bags : int, default=10
        Searches, each among a random half of the models; their choices are added up. 1 is one
        search among all.
    min_weight : float, default=0.02
        Models with a smaller weight are left out.
    cv : int, splitter or iterable of splits, default=5
        Folds whose predictions the models are chosen by.
""",
    "selected": """
    weights_ : ndarray of shape (n_given,)
        Weights of the models that were given and not dropped, 0 for those that were not selected.
    estimators_ : list of estimators
        The selected models, fitted to all samples.
    named_estimators_ : Bunch
        The same by name; "drop" stands for those that were not selected.
    out_of_fold_predictions_ : ndarray of shape (n_rows,) or (n_rows, n_classes)
        The weighted mean for each training sample, from models that had not seen it; NaN for rows
        of weight 0. The weights were chosen by these samples. None with ``weights``.
""",
}


@saved.attributes(
    weights_=saved.floats,
    out_of_fold_predictions_=saved.one_of(saved.none, saved.floats, saved.matrix),
    _unseen=saved.optional(saved.one_of(saved.none, saved.matrix)),
    _unseen_y=saved.optional(saved.one_of(saved.none, saved.floats, saved.indices)),
    _unseen_weights=saved.optional(
        saved.one_of(saved.none, saved.array("f8", 1, finite=True, low=0.0))
    ),
)
class EnsembleSelection(Composition):
    """Base of the two estimators."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Composition._parameter_constraints,
        "weights": ["array-like", None],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "n_bags": [Interval(Integral, 1, None, closed="left")],
        "min_weight": [Interval(Real, 0, 0.5, closed="left")],
    }

    loss: Loss
    weights: Any
    n_rounds: int
    n_bags: int
    min_weight: float
    weights_: Floats
    out_of_fold_predictions_: Floats | None
    #: Weighted means for samples that the models had not seen, their targets and weights.
    _unseen: Floats | None = None
    _unseen_y: npt.NDArray[Any] | None = None
    _unseen_weights: Floats | None = None

    def _check_settings(self, members: Named) -> None:
        if self.weights is None:
            return
        given = np.asarray(self.weights, dtype=np.float64)
        if given.shape != (len(members),) or not (given >= 0).all() or not 0 < given.sum() < np.inf:
            raise ValueError(
                f"weights={self.weights!r} is not allowed: give a number >= 0 for each of the "
                f"{len(members)} estimators, not all 0, or None."
            )

    def _splits(self, units: Units, X: Any, groups: Any) -> list[Split]:
        return [] if self.weights is not None else super()._splits(units, X, groups)

    def _train(
        self,
        members: Named,
        units: Units,
        splits: Sequence[Split],
        given: Given,
        after: Callable[[], object],
    ) -> None:
        self.out_of_fold_predictions_ = None
        self._unseen = self._unseen_y = self._unseen_weights = None
        if self.weights is not None:
            weights = np.asarray(self.weights, dtype=np.float64)
        elif splits:
            answers = self._out_of_fold(
                members, units.table, units, splits, "predict_proba", after=after
            )
            weights = select_greedily(
                answers, units.y, units.weights, loss=self.loss, n_rounds=self.n_rounds,
                n_bags=self.n_bags, least_share=self.min_weight, rng=units.generator(2),
            ).weights  # fmt: skip
            mean = np.tensordot(weights, answers, axes=1)
            mean = self._with_power(mean, units)
            self._unseen, self._unseen_y, self._unseen_weights = mean, units.y, units.weights
            self.out_of_fold_predictions_ = units.on_given_rows(
                mean if units.n_classes else mean[:, 0]
            )
        else:  # one class or one target, which all models predict
            weights = np.eye(len(members))[0]
        self.weights_ = weights / weights.sum()
        selected = np.flatnonzero(self.weights_ > 0)
        chosen = [members[t] for t in selected]
        fitted = self._fit_members(chosen, units.table, units, after=after)
        self._keep_members(chosen, fitted)

    def _with_power(self, mean: Floats, units: Units) -> Floats:
        """The out-of-fold mean as it is predicted."""
        return mean

    def keep_unseen(self, predictions: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn how wide intervals and sets are from samples that the models had not seen.

        ``fit`` does this itself if ``weights=None``; with given weights, call it yourself.

        Parameters
        ----------
        predictions : array of shape (n_samples,) or (n_samples, n_classes)
            What the weighted mean predicts for each sample when its models are trained without it.
        y : array of shape (n_samples,)
            Their classes or targets.
        sample_weight : array of shape (n_samples,), optional
            Sample weights.

        Returns
        -------
        self
            The estimator.
        """
        check_is_fitted(self, "estimators_")
        n_outputs = 1 if self._classes is None else len(self._classes)
        found = np.asarray(predictions, dtype=np.float64).reshape(len(predictions), -1)
        if found.shape != (len(y), n_outputs) or not np.isfinite(found).all():
            raise ValueError(
                f"predictions of shape {np.shape(predictions)} are not allowed: give finite "
                f"numbers for each of the {len(y)} samples, in {n_outputs} columns."
            )
        given = np.ones(len(y)) if sample_weight is None else read_weights(sample_weight, len(y))
        known = self._classes
        y = np.asarray(y, np.float64) if known is None else class_codes(np.asarray(y), known)
        self._unseen, self._unseen_y = found, y
        self._unseen_weights = relative_weights(given)
        return self

    def _of_unseen(self, what: str) -> tuple[Floats, npt.NDArray[Any], Floats]:
        """Predictions of unseen samples, their targets and weights."""
        check_is_fitted(self, "estimators_")
        if self._unseen is None or self._unseen_y is None or self._unseen_weights is None:
            raise ValueError(
                f"{what} needs predictions of samples that the models had not seen: fit with "
                "weights=None, or pass them to keep_unseen."
            )
        return self._unseen, self._unseen_y, self._unseen_weights

    def _mean(self, X: Any) -> Floats:
        """Weighted mean of the selected models; rows are read once for those of our schema."""
        check_is_fitted(self, "estimators_")
        encoded = EncodedRows(self.schema_, self._encode(X))
        plain = None
        answers = []
        for estimator in self.estimators_:
            rows: Any = encoded
            if not takes_encoded(estimator, encoded):
                if plain is None:
                    plain = X if is_frame(X) else self.schema_.decode(encoded.values)
                rows = plain
            answers.append(query(estimator, rows, self._classes, "predict_proba"))
        shares = self.weights_[self.weights_ > 0]
        total = shares[0] * answers[0]
        for share, answer in zip(shares[1:], answers[1:], strict=True):
            total += share * answer  # in this order everywhere, so that exports agree to the bit
        return np.asarray(total)


@saved.attributes(power_=saved.optional(saved.number()))
@documented(COMPOSITION_TEXTS | _TEXTS)
class EnsembleSelectionClassifier(PredictionSetsMixin, TabularClassifierMixin, EnsembleSelection):
    """A weighted mean of classifiers, chosen greedily by predictions of unseen samples.

    The library of models may be large and mixed; the search picks those that are good together,
    some of them several times (Caruana et al. 2004). It overfits less than a model trained on the
    predictions, as in stacking.

    Parameters
    ----------
    estimators : list of (name, classifier) or None, default=None
        The models; "drop" leaves one out, and a :class:`sklearn.frozen.FrozenEstimator` is used as
        it is. By default a random forest, extra-trees and gradient boosting.
    loss : {"log_loss", "error", "brier"}, default="log_loss"
        What the search minimises.
    <selecting>
    power : "auto" or float, default=1.0
        The mean's probabilities are raised to this power and divided by their sum: above 1 they
        become more confident. "auto" learns it from the out-of-fold predictions, by log loss.
        Shapley values explain the mean before the power is applied.
    <running>

    Attributes
    ----------
    <selected>
    power_ : float
        The power.
    <classes>
    <features>

    See Also
    --------
    StackingClassifier : A model learns to combine the predictions.
    orfeon.prune : Chooses among the members of one ensemble.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.metrics import log_loss
    >>> from orfeon import CARTClassifier, EnsembleSelectionClassifier, RandomForestClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> tree, forest = CARTClassifier(max_depth=5), RandomForestClassifier()
    >>> models = [("tree", tree), ("bayes", GaussianNB()), ("forest", forest)]
    >>> chosen = EnsembleSelectionClassifier(models, random_state=0).fit(X, y)
    >>> chosen.weights_.round(2)
    array([0.02, 0.23, 0.74])
    >>> found = [*chosen.estimators_, chosen]
    >>> [round(log_loss(y_test, model.predict_proba(X_test)), 2) for model in found]
    [4.84, 1.11, 0.49, 0.47]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EnsembleSelection._parameter_constraints,
        "loss": [StrOptions(set(CLASS_LOSSES))],
        "power": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    }

    power: Any
    power_: float = 1.0

    def __init__(
        self,
        estimators: Any = None,
        *,
        loss: Loss = "log_loss",
        weights: Any = None,
        n_rounds: int = 50,
        n_bags: int = 10,
        min_weight: float = 0.02,
        power: float | Literal["auto"] = 1.0,
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.loss = loss
        self.weights = weights
        self.n_rounds = n_rounds
        self.n_bags = n_bags
        self.min_weight = min_weight
        self.power = power
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _default(self) -> Named:
        from orfeon.boosting import GradientBoostingClassifier
        from orfeon.ensembles import ExtraTreesClassifier, RandomForestClassifier

        return [
            ("forest", RandomForestClassifier()),
            ("extra_trees", ExtraTreesClassifier()),
            ("boosting", GradientBoostingClassifier()),
        ]

    def predict_proba(self, X: Any) -> Floats:
        """Weighted mean of the selected models' class probabilities.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return powered(self._mean(X), self.power_)

    def _train(self, *given: Any, **more: Any) -> None:
        self.power_ = 1.0 if self.power == "auto" else float(self.power)
        super()._train(*given, **more)

    def _with_power(self, mean: Floats, units: Units) -> Floats:
        if self.power == "auto":
            self.power_ = best_power(mean, units.y, units.weights)
        return powered(mean, self.power_)

    def _unseen_shares(self, what: str) -> UnseenShares:
        return UnseenShares(*self._of_unseen(what))

    def _shares(self, X: Any) -> Floats:
        return self.predict_proba(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        mean = self._mean(X)
        return np.asarray(self.classes_[mean.argmax(axis=1)])


@documented(COMPOSITION_TEXTS | _TEXTS)
class EnsembleSelectionRegressor(TabularRegressorMixin, EnsembleSelection):
    """A weighted mean of regressors, chosen greedily by predictions of unseen samples.

    Parameters
    ----------
    estimators : list of (name, regressor) or None, default=None
        The models; "drop" leaves one out, and a :class:`sklearn.frozen.FrozenEstimator` is used as
        it is. By default a random forest, extra-trees and gradient boosting.
    loss : {"squared_error", "absolute_error"}, default="squared_error"
        What the search minimises.
    <selecting>
    <running>

    Attributes
    ----------
    <selected>
    <features>

    See Also
    --------
    StackingRegressor : A model learns to combine the predictions.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from orfeon import EnsembleSelectionRegressor, RandomForestRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> X_test, y_test = make_friedman1(2000, random_state=1)
    >>> models = [("line", LinearRegression()), ("forest", RandomForestRegressor())]
    >>> chosen = EnsembleSelectionRegressor(models, random_state=0).fit(X, y)
    >>> [round(model.score(X_test, y_test), 2) for model in [*chosen.estimators_, chosen]]
    [0.72, 0.72, 0.73]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EnsembleSelection._parameter_constraints,
        "loss": [StrOptions(set(TARGET_LOSSES))],
    }

    def __init__(
        self,
        estimators: Any = None,
        *,
        loss: Loss = "squared_error",
        weights: Any = None,
        n_rounds: int = 50,
        n_bags: int = 10,
        min_weight: float = 0.02,
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.loss = loss
        self.weights = weights
        self.n_rounds = n_rounds
        self.n_bags = n_bags
        self.min_weight = min_weight
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _default(self) -> Named:
        from orfeon.boosting import GradientBoostingRegressor
        from orfeon.ensembles import ExtraTreesRegressor, RandomForestRegressor

        return [
            ("forest", RandomForestRegressor()),
            ("extra_trees", ExtraTreesRegressor()),
            ("boosting", GradientBoostingRegressor()),
        ]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return np.asarray(self._mean(X)[:, 0])

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Intervals that hold the target with probability ``coverage``, all of one width.

        The width is a quantile of the errors on samples that the models had not seen.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        coverage : float, default=0.9
            Share of the targets to cover, over training and new samples.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper bounds.
        """
        coverage = check_coverage(coverage)
        unseen, targets, weights = self._of_unseen("predict_interval")
        width = upper_bound(np.abs(unseen[:, 0] - targets), weights, coverage)
        return np.asarray(self.predict(X)[:, None] + np.array([-width, width]))
