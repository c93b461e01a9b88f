"""An ensemble that is pruned once it is trained, for pipelines and searches over parameters."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    _fit_context,
    clone,
    is_classifier,
)
from sklearn.utils import _safe_indexing, column_or_1d, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, has_fit_parameter

from orfeon.ensembles.units import hash_rows
from orfeon.ordering.ordered import Keep, Order, order_source
from orfeon.ordering.rule import Rule, as_rule
from orfeon.ordering.source import read_source
from orfeon.schema import Schema
from orfeon.seeding import seed_sequence
from orfeon.trees.limits import LIMITS

Floats = npt.NDArray[np.float64]
Ordered = Literal["examples", "out_of_bag", "validation"]


class _Pruned(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Train an ensemble, order its members, keep the first ones."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "rule": [str, Rule],
        "keep": [
            Interval(Real, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto", "rule"}),
        ],
        "on": [StrOptions({"examples", "out_of_bag", "validation"})],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "random_state": LIMITS["random_state"],
    }

    estimator: Any
    rule: str | Rule
    keep: Keep
    on: Ordered
    validation_fraction: float
    random_state: Any
    ensemble_: Any
    order_: Order
    kept_: npt.NDArray[np.int64]
    n_features_in_: int

    def _base(self) -> Any:
        """The ensemble that is trained when none is given."""
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the ensemble and keep the members that matter.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            The examples, as the ensemble takes them.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Weights: 0 is the same as leaving the example out, 2 as giving it twice.

        Returns
        -------
        self
            The fitted, pruned ensemble.
        """
        rule = as_rule(self.rule)
        base = self._base() if self.estimator is None else self.estimator
        if is_classifier(base) != is_classifier(self):
            kind = "classifier" if is_classifier(self) else "regressor"
            raise ValueError(f"estimator={base} is not a {kind}; {type(self).__name__} needs one.")
        whole = clone(base)
        if self.random_state is not None and "random_state" in whole.get_params():
            whole.set_params(random_state=self.random_state)
        train, select = self._parts(X, y, sample_weight)
        _fit_weighted(whole, *train)
        source = read_source(
            whole, *select, on="out_of_bag" if self.on == "out_of_bag" else "examples"
        )
        found = order_source(source, rule)
        self.kept_ = found.members(self.keep)
        self.ensemble_ = source.ensemble.subset(self.kept_)
        self.order_ = found.without_source()
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self.ensemble_, name):
                setattr(self, name, getattr(self.ensemble_, name))
            else:
                self.__dict__.pop(name, None)
        return self

    def _parts(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        """The examples to train on and those to order by."""
        if self.on != "validation":
            return (X, y, sample_weight), (X, y, sample_weight)
        labels = column_or_1d(y)
        weights = np.ones(len(labels))
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        set_aside = self._set_aside(X, labels, weights)
        parts = []
        for chosen in (np.flatnonzero(~set_aside & (weights > 0)), np.flatnonzero(set_aside)):
            if len(chosen) == 0:
                raise ValueError(
                    f"validation_fraction={self.validation_fraction} leaves no example to train "
                    f"on or to order by, of {int((weights > 0).sum())} different ones."
                )
            given = None if sample_weight is None else weights[chosen]
            parts.append((_safe_indexing(X, chosen), labels[chosen], given))
        return parts[0], parts[1]

    def _set_aside(self, X: Any, y: npt.NDArray[Any], weights: Floats) -> npt.NDArray[np.bool_]:
        """Which examples are set aside, class by class; copies stay together."""
        _, encoded = Schema.learn_and_encode(X, "auto")
        kinds, codes = np.unique(y, return_inverse=True)
        strata = codes if is_classifier(self) else np.zeros(len(y), np.int64)
        different, first, copy = np.unique(
            hash_rows(encoded, codes), return_index=True, return_inverse=True
        )
        rank = np.random.default_rng(seed_sequence(self.random_state)).random(len(different))
        taken = np.zeros(len(different), dtype=bool)
        weight = np.bincount(copy, weights=weights)
        for stratum in range(len(kinds) if is_classifier(self) else 1):
            mine = np.flatnonzero((strata[first] == stratum) & (weight > 0))
            in_turn = mine[np.argsort(rank[mine], kind="stable")]
            share = np.cumsum(weight[in_turn]) - weight[in_turn] / 2
            taken[in_turn] = share <= self.validation_fraction * weight[in_turn].sum()
        return np.asarray(taken[copy] & (weights > 0))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """What the kept members decide together.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes or predictions.
        """
        check_is_fitted(self, "ensemble_")
        return np.asarray(self.ensemble_.predict(X))

    @property
    def error_curve_(self) -> Floats:
        """Error of the first 1, 2, ... members on the selection examples."""
        check_is_fitted(self, "ensemble_")
        return self.order_.error_curve

    @property
    def estimators_(self) -> Any:
        """The kept members."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.estimators_

    def __len__(self) -> int:
        check_is_fitted(self, "ensemble_")
        return len(self.kept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base() if self.estimator is None else self.estimator).input_tags
        tags.input_tags.allow_nan = inner.allow_nan
        tags.input_tags.sparse = inner.sparse
        return tags


def _fit_weighted(estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
    if sample_weight is None:
        estimator.fit(X, y)
    elif has_fit_parameter(estimator, "sample_weight"):
        estimator.fit(X, y, sample_weight=sample_weight)
    else:
        raise ValueError(
            f"sample_weight is given, and {type(estimator).__name__} takes none; leave it out or "
            "give another estimator."
        )


def _has_probabilities(pruned: Any) -> bool:
    inner = getattr(pruned, "ensemble_", pruned.estimator)
    return inner is None or hasattr(inner, "predict_proba")


class PrunedClassifier(ClassifierMixin, _Pruned):  # type: ignore[misc]
    """An ensemble of classifiers of which only the members that matter are kept.

    Parameters
    ----------
    estimator : ensemble, optional
        The ensemble to train: one of orfeon, or scikit-learn's bagging, random forest, extra-trees,
        AdaBoost or voting. By default bagging of 200 CART trees pruned by cross-validation, which
        gains most.
    rule : str or Rule, default="margin_distance"
        How members are ordered: see :func:`orfeon.order`.
    keep : float, int, "auto" or "rule", default=0.2
        A share of the members, their number, the size of least cross-validated error, or that which
        the rule suggests.
    on : {"examples", "out_of_bag", "validation"}, default="examples"
        What members are ordered by: their votes on all training examples, on those that they were
        not trained on, or on examples that are set aside.
    validation_fraction : float, default=0.25
        Share of the examples that is set aside with ``on="validation"``; copies of one stay
        together.
    random_state : int, RandomState or None, default=None
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
        Error of the first 1, 2, ... members on the selection examples.
    estimators_ : sequence
        The kept members.
    classes_ : ndarray
        The classes.
    n_features_in_ : int
        Number of attributes.
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
        on: Ordered = "examples",
        validation_fraction: float = 0.25,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.keep = keep
        self.on = on
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _base(self) -> Any:
        from orfeon.ensembles import BaggingClassifier
        from orfeon.trees import CARTClassifier

        return BaggingClassifier(CARTClassifier(pruning="cv"), n_estimators=200)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class that the kept members decide for.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
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

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Class shares, as the ensemble gives them; weighted vote shares where the rule weighs.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
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

    @property
    def _has_own_weights(self) -> bool:
        """Whether the rule gave the votes weights that the ensemble itself does not know."""
        return bool(getattr(self.order_.rule, "weighted_vote", False))

    def _weighted_shares(self, X: Any) -> Floats:
        from orfeon.ordering.adapters import adapt

        votes = adapt(self.ensemble_).answers(X)
        assert self.order_.member_weights is not None
        weights = self.order_.member_weights[: len(votes)]
        if not weights.any():
            weights = np.ones(len(votes))
        shares = np.zeros((votes.shape[1], len(self.classes_)))
        for vote, weight in zip(votes, weights, strict=True):
            shares[np.arange(votes.shape[1]), vote] += weight
        return np.asarray(shares / weights.sum())


class PrunedRegressor(RegressorMixin, _Pruned):  # type: ignore[misc]
    """An ensemble of regressors of which only the members that matter are kept.

    Parameters
    ----------
    estimator : ensemble, optional
        The ensemble to train: one of orfeon, or scikit-learn's bagging, random forest, extra-trees
        or voting. By default bagging of 200 CART trees pruned by cross-validation.
    rule : str or Rule, default="reduce_error"
        How members are ordered: "reduce_error", "complementarity", "individual_error" or "random".
    keep : float, int, "auto" or "rule", default=0.2
        A share of the members, their number, or the size of least cross-validated error.
    on : {"examples", "out_of_bag", "validation"}, default="examples"
        What members are ordered by: their predictions on all training examples, on those that they
        were not trained on, or on examples that are set aside.
    validation_fraction : float, default=0.25
        Share of the examples that is set aside with ``on="validation"``; copies of one stay
        together.
    random_state : int, RandomState or None, default=None
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
        Mean squared error of the first 1, 2, ... members on the selection examples.
    estimators_ : sequence
        The kept members.
    n_features_in_ : int
        Number of attributes.
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
        on: Ordered = "examples",
        validation_fraction: float = 0.25,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.keep = keep
        self.on = on
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _base(self) -> Any:
        from orfeon.ensembles import BaggingRegressor
        from orfeon.trees import CARTRegressor

        return BaggingRegressor(CARTRegressor(pruning="cv"), n_estimators=200)
