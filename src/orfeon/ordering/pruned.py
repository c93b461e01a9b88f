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
from orfeon.ordering.order_type import Keep
from orfeon.ordering.pruned_base import PrunedEnsemble, ensemble_has
from orfeon.ordering.rule import Rule
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.types import Floats

_TEXTS = {
    "size": """
    keep : float, int, "auto" or "rule", default=0.2
        A share of the members, their number, the size with the lowest cross-validated error
        ("auto"), or the size that the rule suggests ("rule").
""",
    "running": """
    n_jobs : int, optional
        Passed to the ensemble, unless it is frozen; by default it keeps its own.
    verbose : int, default=0
        Whether to show progress; passed to the ensemble too.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of all random choices, also those of the ensemble; by default it keeps its own.
""",
    "ordered": """
    ensemble_ : ensemble
        The pruned ensemble, of the kind given.
    order_ : Order
        The order of all members.
    kept_ : ndarray
        Indices of the kept members in the whole ensemble.
""",
    "kept_members": """
    estimators_ : sequence
        The kept members.
    forest_ : Forest
        The kept members as a forest, where they are trees of orfeon.
    feature_importances_ : ndarray
        Importance of each feature for the kept members, where the ensemble has it.
""",
    "features": """
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Names of the features, if all are strings.
""",
}


@saved.attributes(classes_=saved.labels)
@documented(_TEXTS)
class PrunedClassifier(ClassifierMixin, PrunedEnsemble):  # type: ignore[misc]
    """An ensemble of classifiers, pruned to the members that matter.

    Parameters
    ----------
    estimator : ensemble, optional
        The ensemble to train: one of orfeon, or scikit-learn's bagging, random forest, extra-trees,
        AdaBoost or voting. Wrap a fitted one in :class:`sklearn.frozen.FrozenEstimator`: it is not
        trained again, and its parameters stay as they are. By default bagging of 200 CART trees
        pruned by cross-validation, which gains the most.
    rule : str or Rule, default="margin_distance"
        How members are ordered: see :func:`orfeon.order`.
    <size>
    on : {"train", "out_of_bag", "validation"}, default="train"
        Which votes determine the order: those on all training samples, on the samples that a member
        was not trained on, or on samples set aside (all samples, if the ensemble is frozen).
    validation_fraction : float, default=0.25
        Share of each class that is set aside with ``on="validation"``. Copies of a sample stay
        together, and no class is set aside entirely.
    <running>

    Attributes
    ----------
    <ordered>
    error_curve_ : ndarray
        Error of the first 1, 2, ... members on the selection samples.
    <kept_members>
    classes_ : ndarray
        The classes.
    <features>

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
        """Decision of the kept members.

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
        """Class probabilities of the ensemble, or shares of the votes where the rule weights them.

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
            Indices into ``classes_``. They all count equally: a rule that weights the votes
            raises an error.
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
            The ensemble's values. A rule that weights the votes raises an error, as ``ensemble_``
            does not know these weights.
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


@documented(_TEXTS)
class PrunedRegressor(RegressorMixin, PrunedEnsemble):  # type: ignore[misc]
    """An ensemble of regressors, pruned to the members that matter.

    Parameters
    ----------
    estimator : ensemble, optional
        The ensemble to train: one of orfeon, or scikit-learn's bagging, random forest, extra-trees
        or voting. Wrap a fitted one in :class:`sklearn.frozen.FrozenEstimator`: it is not trained
        again, and its parameters stay as they are. By default bagging of 200 CART trees pruned by
        cross-validation.
    rule : str or Rule, default="reduce_error"
        How members are ordered: "reduce_error", "complementarity", "individual_error",
        "early_stopping", "gasen", "utility", "output_clustering" or "random".
    <size>
    on : {"train", "out_of_bag", "validation"}, default="train"
        Which predictions determine the order: those on all training samples, on the samples that a
        member was not trained on, or on samples set aside (all samples, if the ensemble is frozen).
    validation_fraction : float, default=0.25
        Share of the samples that is set aside with ``on="validation"``. Copies of a sample stay
        together.
    <running>

    Attributes
    ----------
    <ordered>
    error_curve_ : ndarray
        Mean squared error of the first 1, 2, ... members on the selection samples.
    <kept_members>
    <features>

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
        """Mean prediction of the kept members, weighted if the rule weights them.

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
