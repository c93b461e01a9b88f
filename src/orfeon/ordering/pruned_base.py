"""What pruned classifiers and regressors share: train, order, cut, and ask who is left."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from orfeon.base import transactional
from orfeon.data.training_set import are_counts, check_length, read_weights, rows_with_copies
from orfeon.ensembles.base import set_nested_params
from orfeon.ensembles.holdout import set_aside
from orfeon.forest import Forest
from orfeon.members import unpruned
from orfeon.members.votes import read_ensemble
from orfeon.ordering.ordering import Keep, Order, order_source
from orfeon.ordering.random_order import RandomOrder
from orfeon.ordering.rule import Rule, as_rule
from orfeon.trees.base import LIMITS
from orfeon.utils import saved
from orfeon.utils.scikit_learn import (
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
    _num_samples,
    _safe_indexing,
)
from orfeon.utils.seeding import Purpose, branch, seed_sequence
from orfeon.utils.types import Floats

Ordered = Literal["train", "out_of_bag", "validation"]


def ensemble_has(method: str) -> Callable[[Any], bool]:
    """Whether the ensemble of a pruned one has a method, fitted or not."""

    def find(pruned: Any) -> bool:
        inner = getattr(pruned, "ensemble_", pruned.estimator)
        return hasattr(pruned._base() if inner is None else inner, method)

    return find


@saved.attributes(
    kept_=saved.indices,
    ensemble_=saved.estimator,
    order_=saved.instance("Order"),
    n_features_in_=saved.optional(saved.integer(1)),
    feature_names_in_=saved.optional(saved.labels),
)
class PrunedEnsemble(MetaEstimatorMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Train an ensemble, order its members, keep the first ones."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "rule": [str, Rule],
        "keep": [
            Interval(Real, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto", "rule"}),
        ],
        "on": [
            StrOptions({"train", "out_of_bag", "validation", "examples"}, deprecated={"examples"})
        ],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": LIMITS["random_state"],
    }

    estimator: Any
    rule: str | Rule
    keep: Keep
    on: Ordered
    validation_fraction: float
    n_jobs: int | None
    verbose: int
    random_state: Any
    ensemble_: Any
    order_: Order
    kept_: npt.NDArray[np.int64]
    n_features_in_: int

    @abstractmethod
    def _base(self) -> Any:
        """The ensemble that is trained when none is given."""

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    @transactional
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the ensemble and keep the members that matter.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples, as the ensemble takes them.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Weights: 0 is the same as leaving the sample out, 2 as giving it twice. An ensemble
            that takes none is given copies, for weights that are whole numbers.

        Returns
        -------
        self
            The fitted, pruned ensemble.
        """
        rule = as_rule(self.rule)
        base = self._base() if self.estimator is None else self.estimator
        kind = "classifier" if is_classifier(self) else "regressor"
        if not (is_classifier(base) if kind == "classifier" else is_regressor(base)):
            raise ValueError(f"estimator={base} is not a {kind}; {type(self).__name__} needs one.")
        rule.check(is_regression=is_regressor(self))
        whole = self._prepared(base)
        is_open = isinstance(rule, RandomOrder) and rule.random_state is None
        if is_open and self.random_state is not None:
            rule = RandomOrder(_seed_of_order(self.random_state))
        samples = self._train(whole, X, y, sample_weight)
        source = read_ensemble(
            whole, *samples, on="train" if self.on == "validation" else self.on,
            was_trained_on=self._was_trained_on(whole),
        )  # fmt: skip
        found = order_source(source, rule)
        self.kept_ = found.members(self.keep)
        assert source.ensemble is not None
        self.ensemble_ = source.ensemble.subset(self.kept_)
        self.order_ = found.without_source()
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self.ensemble_, name):
                setattr(self, name, getattr(self.ensemble_, name))
            else:
                self.__dict__.pop(name, None)
        return self

    def _prepared(self, base: Any) -> Any:
        """The ensemble to be fitted, with what is handed on to it; a frozen one stays as it is."""
        whole = clone(base)
        if isinstance(whole, FrozenEstimator):
            return whole
        if self.random_state is not None:
            _set_random_state(whole, self.random_state)
        if self.n_jobs is not None:
            set_nested_params(whole, n_jobs=self.n_jobs)
        if self.verbose:
            set_nested_params(whole, verbose=self.verbose)
        return whole

    def _train(self, whole: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        """Fit the ensemble, unless it is frozen, and give the samples to order its members by."""
        if isinstance(whole, FrozenEstimator):
            return X, y, sample_weight
        if sample_weight is not None and not has_fit_parameter(whole, "sample_weight"):
            X, y = _as_often_as_they_weigh(X, y, sample_weight, whole)
            sample_weight = None
        (X_train, y_train, weights), select = self._parts(X, y, sample_weight)
        whole.fit(X_train, y_train, **({} if weights is None else {"sample_weight": weights}))
        return select

    def _was_trained_on(self, whole: Any) -> bool | None:
        """Whether the ensemble was trained on the samples that members are ordered by."""
        if self.on == "validation":
            return False
        return None if isinstance(whole, FrozenEstimator) else True

    def _parts(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        """The samples to train on and those to order by."""
        if self.on == "out_of_bag" and _num_samples(X) == 1:
            raise ValueError(
                'on="out_of_bag" needs samples that members are not trained on; X has 1 sample.'
            )
        if self.on != "validation":
            return (X, y, sample_weight), (X, y, sample_weight)
        (rows,) = indexable(X)
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_length(labels, _num_samples(rows))
        if is_classifier(self):
            check_classification_targets(labels)
        weights = np.ones(len(labels))
        if sample_weight is not None:
            weights = read_weights(sample_weight, len(labels))
        count = np.flatnonzero(weights)
        aside = set_aside(
            _safe_indexing(rows, count), labels[count], weights[count], self.validation_fraction,
            np.random.default_rng(seed_sequence(self.random_state)), by_class=is_classifier(self),
        )  # fmt: skip
        if not aside.any():
            raise ValueError(
                f"validation_fraction={self.validation_fraction} sets no sample aside to order "
                f"members by, of {len(count)} sample(s); of each class, or of all in regression, "
                "one that is different must stay to train on."
            )
        parts = []
        for chosen in (count[~aside], count[aside]):
            given = None if sample_weight is None else weights[chosen]
            parts.append((_safe_indexing(rows, chosen), labels[chosen], given))
        return parts[0], parts[1]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """What the kept members decide together.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
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
        """Error of the first 1, 2, ... members on the selection samples."""
        check_is_fitted(self, "ensemble_")
        return self.order_.error_curve

    @property
    def estimators_(self) -> Any:
        """The kept members."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.estimators_

    @property
    def forest_(self) -> Forest:
        """The kept members as a forest, where they are trees of orfeon."""
        check_is_fitted(self, "ensemble_")
        forest: Forest = self.ensemble_.forest_
        return forest

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature for the kept members, where the ensemble tells it."""
        check_is_fitted(self, "ensemble_")
        return np.asarray(self.ensemble_.feature_importances_)

    @available_if(ensemble_has("apply"))  # type: ignore[untyped-decorator]
    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Leaf that each row reaches in each of the kept trees.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_trees)
            Node indices within each tree.
        """
        check_is_fitted(self, "ensemble_")
        return np.asarray(self.ensemble_.apply(X))

    @available_if(ensemble_has("decision_path"))  # type: ignore[untyped-decorator]
    def decision_path(self, X: Any) -> tuple[Any, npt.NDArray[np.int64]]:
        """Nodes that each row passes through, in all of the kept trees.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)
            Ones where a row passes through a node; the nodes of all trees, one after the other.
        ndarray of shape (n_trees + 1,)
            Where the nodes of each tree begin.
        """
        check_is_fitted(self, "ensemble_")
        nodes, starts = self.ensemble_.decision_path(X)
        return nodes, np.asarray(starts)

    @available_if(ensemble_has("staged_predict"))  # type: ignore[untyped-decorator]
    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """What the first 1, 2, ... of the kept members decide together.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        iterator of ndarray of shape (n_rows,)
            Classes or predictions. Where the rule weighs votes, ``ensemble_`` does not know it, and
            this is refused.
        """
        stages: Iterator[npt.NDArray[Any]] = unpruned(self).staged_predict(X)
        return stages

    def __len__(self) -> int:
        check_is_fitted(self, "ensemble_")
        return len(self.kept_)

    def _kept_ensemble(self) -> Any:
        """The members that were kept, for :func:`orfeon.members.unpruned`."""
        check_is_fitted(self, "ensemble_")
        if self.order_.has_own_weights:
            raise ValueError(
                f"the votes of this {type(self).__name__} have weights by its rule, which its "
                "members do not know; give its ensemble_, in which all votes count the same."
            )
        return self.ensemble_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base() if self.estimator is None else self.estimator).input_tags
        tags.input_tags.allow_nan = inner.allow_nan
        tags.input_tags.sparse = inner.sparse
        return tags


def _seed_of_order(random_state: Any) -> int:
    """A seed that no member has."""
    root = seed_sequence(random_state)
    return int(branch(root, Purpose.ORDERING).generate_state(1)[0])


def _set_random_state(whole: Any, random_state: Any) -> None:
    """Fix all randomness of an ensemble, or of the steps and members that it is made of."""
    names = sorted(whole.get_params())
    if "random_state" in names:
        whole.set_params(random_state=random_state)
        return
    inner = [name for name in names if name.endswith("__random_state")]
    seeds = seed_sequence(random_state).generate_state(len(inner))
    for name, seed in zip(inner, seeds, strict=True):
        whole.set_params(**{name: int(seed)})


def _as_often_as_they_weigh(X: Any, y: Any, sample_weight: Any, base: Any) -> tuple[Any, Any]:
    """Copies of the samples in place of their weights, which the ensemble does not take."""
    (rows,) = indexable(X)
    labels = column_or_1d(y, warn=True)
    check_length(labels, _num_samples(rows))
    weights = read_weights(sample_weight, len(labels))
    if not are_counts(weights):
        raise ValueError(
            f"sample_weight has fractions, and estimator={base} takes no weights; give whole "
            "numbers, or another estimator."
        )
    copies = rows_with_copies(weights)
    return _safe_indexing(rows, copies), labels[copies]
