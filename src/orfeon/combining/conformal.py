"""Intervals and sets around any estimator, by folds or by the samples that its members left out.

By folds, each training sample is predicted by a model that was trained without it. CV+ compares
new rows with the errors of these models and keeps them all (Barber et al. 2021); with models of
several quantiles the errors are how far targets are outside, so widths follow the row (Romano et
al. 2019). For sets of classes the shares of the folds are enough, and one model is kept.

References
----------
Barber, Candès, Ramdas and Tibshirani (2021). Predictive inference with the jackknife+. Annals of
Statistics 49(1), 486-507.

Romano, Patterson and Candès (2019). Conformalized quantile regression. Advances in Neural
Information Processing Systems 32.

Vovk (2015). Cross-conformal predictors. Annals of Mathematics and Artificial Intelligence 74, 9-28.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.base import (
    TabularClassifierMixin,
    TabularRegressorMixin,
    class_codes,
)
from orfeon.combining.conformal_base import CONFORMAL_TEXTS, Conformal
from orfeon.combining.fitting import (
    query,
)
from orfeon.combining.out_of_fold import Split, Units
from orfeon.members import adapt
from orfeon.uncertainty.jackknife import jackknife_intervals, plus_intervals
from orfeon.uncertainty.left_out import LeftOutSamples, is_chosen
from orfeon.uncertainty.prediction_sets import PredictionSetsMixin, UnseenShares
from orfeon.uncertainty.ranks import check_coverage
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import _num_samples, _safe_indexing
from orfeon.utils.types import Bits, Floats, Integers

#: Bounds of models without a sample that are held at once.
_BOUNDS = 1 << 21
#: Samples whose supports are held at once.
_SAMPLES = 1 << 10


@saved.attributes(
    estimator_=saved.estimator,
    models_=saved.list_of(saved.estimator),
    fold_=saved.indices,
    errors_=saved.finite_floats,
    _weights=saved.array("f8", 1, finite=True, low=0.0),
    _samples=saved.one_of(saved.none, saved.instance("LeftOutSamples")),
)
@documented(CONFORMAL_TEXTS)
class ConformalRegressor(TabularRegressorMixin, Conformal):
    """Prediction intervals around any regressor.

    Parameters
    ----------
    estimator : regressor, optional
        Any regressor, including boosted ones; with several quantiles
        (``GradientBoostingRegressor(loss="quantile", alpha=(0.05, 0.95))``) intervals start from
        the lowest and the highest. By default :class:`orfeon.GradientBoostingRegressor`.
    <learning>

    Attributes
    ----------
    models_ : list of regressors
        With ``on="folds"``: the models trained without each fold.
    fold_ : ndarray of shape (n_samples,)
        With ``on="folds"``: which of them did not see a sample.
    errors_ : ndarray of shape (n_samples,)
        Absolute error of each sample by models that did not see it; with quantiles, how far the
        target is outside, negative inside.
    <learnt>

    See Also
    --------
    orfeon.RandomForestRegressor.predict_interval : Forests need no folds.

    Notes
    -----
    The interval covers at least ``2 * coverage - 1`` of the targets whatever the data, and about
    ``coverage`` in practice.

    Examples
    --------
    >>> from orfeon import GradientBoostingRegressor
    >>> from orfeon.combining import ConformalRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(500, random_state=0)
    >>> X_test, y_test = make_friedman1(2000, random_state=1)
    >>> boosted = GradientBoostingRegressor(n_estimators=50)
    >>> model = ConformalRegressor(boosted, cv=5, random_state=0).fit(X, y)
    >>> low, high = model.predict_interval(X_test, coverage=0.9).T
    >>> round(float(((low <= y_test) & (y_test <= high)).mean()), 2)
    0.94

    A fitted forest of scikit-learn, with the samples it was trained on:

    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn.frozen import FrozenEstimator
    >>> forest = RandomForestRegressor(random_state=0).fit(X, y)
    >>> model = ConformalRegressor(FrozenEstimator(forest), on="out_of_bag").fit(X, y)
    >>> low, high = model.predict_interval(X_test, coverage=0.9).T
    >>> round(float(((low <= y_test) & (y_test <= high)).mean()), 2)
    0.91
    """

    models_: list[Any]
    fold_: Integers
    errors_: Floats
    _weights: Floats
    _samples: LeftOutSamples | None

    def __init__(
        self,
        estimator: Any = None,
        *,
        on: Literal["folds", "out_of_bag"] = "folds",
        cv: Any = 10,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.on = on
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _default(self) -> Any:
        from orfeon.boosting import GradientBoostingRegressor

        return GradientBoostingRegressor()

    def _learn_from_models(
        self, models: Sequence[Any], splits: Sequence[Split], units: Units
    ) -> None:
        self.models_ = list(models)
        self.fold_ = np.zeros(len(units), np.int64)
        self.errors_ = np.zeros(len(units))
        for k, (model, split) in enumerate(zip(models, splits, strict=True)):
            low, high = _ends(model, _safe_indexing(units.table, split.test))
            target = units.y[split.test]
            self.fold_[split.test] = k
            self.errors_[split.test] = np.maximum(low - target, target - high)
        self._weights, self._samples = units.weights, None

    def _learn_from_members(self, members: Any, samples: LeftOutSamples, X: Any) -> None:
        sums = np.zeros(len(samples.rows))
        answers = members.answers(_safe_indexing(X, samples.rows))
        for t, one in enumerate(answers):
            sums += np.where(is_chosen(samples.left_out, t), one, 0.0)
        self.errors_ = np.abs(sums / samples.n_left_out() - samples.targets)
        self.models_, self.fold_ = [], np.zeros(0, np.int64)
        self._weights, self._samples = samples.weights, samples

    def predict(self, X: Any) -> Floats:
        """Predictions of the model trained on all samples.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions; the middle one of several quantiles.
        """
        rows = self._rows(X)
        predicted = np.asarray(self.estimator_.predict(rows), np.float64)
        if predicted.ndim == 1:
            return predicted
        n_levels = predicted.shape[1]
        return np.asarray(predicted[:, [(n_levels - 1) // 2, n_levels // 2]].mean(axis=1))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Intervals that hold the target with probability ``coverage``.

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
        rows = self._rows(X)
        if self._samples is not None:
            answers = np.asarray(adapt(self.estimator_).answers(rows), np.float64)
            return jackknife_intervals(answers, self._samples, self.errors_, coverage)
        ends = np.array([_ends(model, rows) for model in self.models_])
        found = np.empty((ends.shape[2], 2))
        step = max(1, _BOUNDS // len(self.errors_))
        for first in range(0, len(found), step):
            some = slice(first, first + step)
            low, high = (ends[self.fold_, side, some].T for side in (0, 1))
            found[some] = plus_intervals(low, high, self.errors_, self._weights, coverage)
        return found


def _ends(model: Any, X: Any) -> tuple[Floats, Floats]:
    """The prediction twice, or the lowest and the highest of several quantiles."""
    predicted = np.asarray(model.predict(X), dtype=np.float64)
    if predicted.ndim == 2 and predicted.shape[1] > 1:
        return predicted[:, 0], predicted[:, -1]
    return predicted.reshape(-1), predicted.reshape(-1)


@saved.attributes(
    estimator_=saved.estimator,
    unseen_shares_=saved.array("f8", 2, finite=True),
    _codes=saved.indices,
    _weights=saved.array("f8", 1, finite=True, low=0.0),
)
@documented(CONFORMAL_TEXTS)
class ConformalClassifier(PredictionSetsMixin, TabularClassifierMixin, Conformal):
    """Prediction sets, and abstention, around any classifier.

    Parameters
    ----------
    estimator : classifier, optional
        Any classifier; without ``predict_proba`` its votes count as 0 and 1. By default
        :class:`orfeon.GradientBoostingClassifier`.
    <learning>

    Attributes
    ----------
    unseen_shares_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of training samples by models that did not see them.
    <learnt>
    classes_ : ndarray of shape (n_classes,)
        The classes.

    See Also
    --------
    orfeon.RandomForestClassifier.predict_set : Forests need no folds.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import GradientBoostingClassifier
    >>> from orfeon.combining import ConformalClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(500, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> boosted = GradientBoostingClassifier(n_estimators=30)
    >>> model = ConformalClassifier(boosted, cv=5, random_state=0).fit(X, y)
    >>> sets = model.predict_set(X_test, coverage=0.9)
    >>> round(float(sets[np.arange(2000), y_test].mean()), 2)
    0.88
    >>> round(float(sets.sum(axis=1).mean()), 1)
    1.1
    """

    unseen_shares_: Floats
    _codes: Integers
    _weights: Floats

    def __init__(
        self,
        estimator: Any = None,
        *,
        on: Literal["folds", "out_of_bag"] = "folds",
        cv: Any = 10,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.on = on
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _default(self) -> Any:
        from orfeon.boosting import GradientBoostingClassifier

        return GradientBoostingClassifier()

    def _learn_from_models(
        self, models: Sequence[Any], splits: Sequence[Split], units: Units
    ) -> None:
        self.unseen_shares_ = np.zeros((len(units), units.n_classes))
        for model, split in zip(models, splits, strict=True):
            rows = _safe_indexing(units.table, split.test)
            self.unseen_shares_[split.test] = query(model, rows, self.classes_, "predict_proba")
        self._codes, self._weights = units.y.astype(np.int64), units.weights

    def _learn_from_members(self, members: Any, samples: LeftOutSamples, X: Any) -> None:
        rows = _safe_indexing(X, samples.rows)
        self.unseen_shares_ = _member_shares(members, rows, self.classes_, samples.left_out)
        self._codes, self._weights = samples.targets, samples.weights

    def _unseen_shares(self, what: str) -> UnseenShares:
        return UnseenShares(self.unseen_shares_, self._codes, self._weights)

    def _shares(self, X: Any) -> Floats:
        if self.on == "folds":
            return self.predict_proba(X)
        # Probabilities may be smoothed or calibrated; those of unseen samples are not.
        return _member_shares(adapt(self.estimator_), self._rows(X), self.classes_)

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the model trained on all samples.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        rows = self._rows(X)
        return query(self.estimator_, rows, self.classes_, "predict_proba")

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
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])


def _member_shares(
    members: Any, X: Any, classes: npt.NDArray[Any], chosen: Bits | None = None
) -> Floats:
    """Shares of the votes, or mean supports, of all members, or of those chosen for each row."""
    known = class_codes(members.classes, classes)
    n_rows = _num_samples(X)
    shares = np.zeros((n_rows, len(classes)))
    for first in range(0, n_rows, _SAMPLES):
        at = np.arange(first, min(first + _SAMPLES, n_rows))
        rows = _safe_indexing(X, at)
        supports = members.supports(rows) if members.averages_supports else None
        votes = members.answers(rows) if supports is None else None
        bits = None if chosen is None else chosen[at]
        for t in range(members.n_members):
            taken = np.ones(len(at), dtype=bool)
            if bits is not None:
                taken = is_chosen(bits, t)
            if supports is not None:
                shares[np.ix_(at[taken], known)] += supports[t, taken]
            elif votes is not None:
                shares[at[taken], known[votes[t, taken]]] += 1.0
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
