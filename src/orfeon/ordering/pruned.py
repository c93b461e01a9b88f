"""Ensembles pruned as part of fit, for pipelines and parameter searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from orfeon.ensembles.with_selection import Samples
from orfeon.members import adapt, unpruned
from orfeon.ordering.ordering import Keep
from orfeon.ordering.pruned_base import PrunedEnsemble, ensemble_has
from orfeon.ordering.rule import Rule
from orfeon.utils import saved
from orfeon.utils.types import Floats


@saved.attributes(classes_=saved.labels)
class PrunedClassifier(ClassifierMixin, PrunedEnsemble):  # type: ignore[misc]
    """An ensemble of classifiers of which only the members that matter are kept.

    Parameters
    ----------
    estimator : ensemble, optional
        The ensemble to train: one of orfeon, or scikit-learn's bagging, random forest, extra-trees,
        AdaBoost or voting. One that is fitted already is given as
        :class:`sklearn.frozen.FrozenEstimator`: it is not trained again, and of its parameters
        nothing is set. By default bagging of 200 CART trees pruned by cross-validation, which
        gains most.
    rule : str or Rule, default="margin_distance"
        How members are ordered: see :func:`orfeon.order`.
    keep : float, int, "auto" or "rule", default=0.2
        A share of the members, their number, the size of least cross-validated error, or that which
        the rule suggests.
    on : {"train", "out_of_bag", "validation"}, default="train"
        What members are ordered by: their votes on all training samples, on those that they were
        not trained on, or on samples that are set aside: for a frozen ensemble, all those given.
    validation_fraction : float, default=0.25
        Share of the samples, of each class, that is set aside with ``on="validation"``; copies of
        one stay together, and no class is set aside as a whole.
    n_jobs : int, optional
        Handed on to the ensemble, unless it is frozen; by default it keeps its own.
    verbose : int, default=0
        Likewise: whether it shows progress.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Fixes everything; when given, it is that of the ensemble too.

    Attributes
    ----------
    ensemble_ : ensemble
        The pruned ensemble, of the kind given.
    order_ : Order
        The order of all members.
    kept_ : ndarray
        Indices of the kept members in the whole ensemble.
    error_curve_ : ndarray
        Error of the first 1, 2, ... members on the selection samples.
    estimators_ : sequence
        The kept members.
    forest_ : Forest
        The kept members as a forest, where they are trees of orfeon.
    feature_importances_ : ndarray
        Importance of each feature for them, where the ensemble tells it.
    classes_ : ndarray
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Their names, when all are strings.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from orfeon import BaggingClassifier, CARTClassifier, PrunedClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(CARTClassifier(pruning="cv"), n_estimators=100)
    >>> pruned = PrunedClassifier(bag, keep="auto", random_state=0).fit(X, y)
    >>> len(pruned), len(pruned.order_)
    (39, 100)
    >>> rules = {"rule": ["orientation", "reduce_error"], "keep": [0.1, 0.2]}
    >>> search = GridSearchCV(pruned, rules, cv=3).fit(X, y)
    >>> sorted(search.best_params_)
    ['keep', 'rule']
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        rule: str | Rule = "margin_distance",
        keep: Keep = 0.2,
        on: Samples = "train",
        validation_fraction: float = 0.25,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.keep = keep
        self.on = on
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        from orfeon.ensembles import BaggingClassifier
        from orfeon.trees import CARTClassifier

        return BaggingClassifier(CARTClassifier(pruning="cv"), n_estimators=200)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class that the kept members vote for together.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes.
        """
        check_is_fitted(self, "ensemble_")
        if not self._has_own_weights:
            return super().predict(X)
        return np.asarray(self.classes_[np.argmax(self._weighted_shares(X), axis=1)])

    @available_if(ensemble_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Class shares, as the ensemble gives them; weighted vote shares where the rule weighs.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes_``.
        """
        check_is_fitted(self, "ensemble_")
        if not self._has_own_weights:
            return np.asarray(self.ensemble_.predict_proba(X))
        return self._weighted_shares(X)

    @available_if(ensemble_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of :meth:`predict_proba`.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Logarithms; minus infinity where a share is zero.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def votes(self, X: Any) -> npt.NDArray[np.int32]:
        """Class that each of the kept members votes for.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_members, n_rows)
            Indices into ``classes_``. They all count the same: where the rule weighs them, this is
            refused.
        """
        return np.asarray(adapt(self).answers(X), dtype=np.int32)

    @available_if(ensemble_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Values of the decision function of the kept members, where the ensemble has one.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            As the ensemble gives them. Where the rule weighs votes, ``ensemble_`` does not know it,
            and this is refused.
        """
        return np.asarray(unpruned(self).decision_function(X))

    @property
    def _has_own_weights(self) -> bool:
        """Whether the rule gave the votes weights that the ensemble itself does not know."""
        return self.order_.has_own_weights

    def _weighted_shares(self, X: Any) -> Floats:
        votes = adapt(self.ensemble_).answers(X)
        assert self.order_.member_weights is not None
        weights = self.order_.member_weights[: len(votes)]
        shares = np.zeros((votes.shape[1], len(self.classes_)))
        for vote, weight in zip(votes, weights, strict=True):
            shares[np.arange(votes.shape[1]), vote] += weight
        return np.asarray(shares / weights.sum())


class PrunedRegressor(RegressorMixin, PrunedEnsemble):  # type: ignore[misc]
    """An ensemble of regressors of which only the members that matter are kept.

    Parameters
    ----------
    estimator : ensemble, optional
        The ensemble to train: one of orfeon, or scikit-learn's bagging, random forest, extra-trees
        or voting. One that is fitted already is given as :class:`sklearn.frozen.FrozenEstimator`:
        it is not trained again, and of its parameters nothing is set. By default bagging of 200
        CART trees pruned by cross-validation.
    rule : str or Rule, default="reduce_error"
        How members are ordered: "reduce_error", "complementarity", "individual_error",
        "early_stopping", "gasen", "utility", "output_clustering" or "random".
    keep : float, int, "auto" or "rule", default=0.2
        A share of the members, their number, the size of least cross-validated error, or that which
        the rule suggests.
    on : {"train", "out_of_bag", "validation"}, default="train"
        What members are ordered by: their predictions on all training samples, on those that they
        were not trained on, or on samples that are set aside: for a frozen ensemble, all those
        given.
    validation_fraction : float, default=0.25
        Share of the samples that is set aside with ``on="validation"``; copies of one stay
        together.
    n_jobs : int, optional
        Handed on to the ensemble, unless it is frozen; by default it keeps its own.
    verbose : int, default=0
        Likewise: whether it shows progress.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Fixes everything; when given, it is that of the ensemble too.

    Attributes
    ----------
    ensemble_ : ensemble
        The pruned ensemble, of the kind given.
    order_ : Order
        The order of all members.
    kept_ : ndarray
        Indices of the kept members in the whole ensemble.
    error_curve_ : ndarray
        Mean squared error of the first 1, 2, ... members on the selection samples.
    estimators_ : sequence
        The kept members.
    forest_ : Forest
        The kept members as a forest, where they are trees of orfeon.
    feature_importances_ : ndarray
        Importance of each feature for them, where the ensemble tells it.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Their names, when all are strings.

    Examples
    --------
    >>> from orfeon import BaggingRegressor, PrunedRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> X_test, y_test = make_friedman1(2000, random_state=1)
    >>> bag = BaggingRegressor(n_estimators=100)
    >>> pruned = PrunedRegressor(bag, random_state=0).fit(X, y)
    >>> len(pruned), round(pruned.score(X_test, y_test), 2)
    (20, 0.76)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        rule: str | Rule = "reduce_error",
        keep: Keep = 0.2,
        on: Samples = "train",
        validation_fraction: float = 0.25,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.keep = keep
        self.on = on
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        from orfeon.ensembles import BaggingRegressor
        from orfeon.trees import CARTRegressor

        return BaggingRegressor(CARTRegressor(pruning="cv"), n_estimators=200)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The mean prediction of the kept members, weighted where the rule weighs them.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions.
        """
        check_is_fitted(self, "ensemble_")
        if not self.order_.has_own_weights:
            return super().predict(X)
        assert self.order_.member_weights is not None
        weights = self.order_.member_weights[: len(self.kept_)]
        return np.asarray(np.average(adapt(self.ensemble_).answers(X), axis=0, weights=weights))
