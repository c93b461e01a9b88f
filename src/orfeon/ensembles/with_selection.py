"""Estimators that train an ensemble and select its members by labelled samples."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import has_fit_parameter

from orfeon.data.training_set import are_counts, check_length, read_weights, rows_with_copies
from orfeon.ensembles.base import set_nested_params
from orfeon.ensembles.holdout import set_aside
from orfeon.trees.base import LIMITS
from orfeon.utils.scikit_learn import (
    HasMethods,
    Interval,
    StrOptions,
    _num_samples,
    _safe_indexing,
)
from orfeon.utils.seeding import seed_sequence

#: The samples that members are selected by.
Samples = Literal["train", "out_of_bag", "validation"]


class EnsembleWithSelection(MetaEstimatorMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Train an ensemble, all samples or some set aside, and select members by labelled samples."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "on": [StrOptions({"train", "out_of_bag", "validation"})],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": LIMITS["random_state"],
    }

    estimator: Any
    on: Samples
    validation_fraction: float
    n_jobs: int | None
    verbose: int
    random_state: Any

    @abstractmethod
    def _base(self) -> Any:
        """The ensemble that is trained when none is given."""

    def _prepared(self) -> Any:
        """The ensemble to be fitted, with the settings passed on to it; a frozen one as it is."""
        base = self._base() if self.estimator is None else self.estimator
        kind = "classifier" if is_classifier(self) else "regressor"
        if not (is_classifier(base) if kind == "classifier" else is_regressor(base)):
            raise ValueError(f"estimator={base} is not a {kind}; {type(self).__name__} needs one.")
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
        """Fit the ensemble unless it is frozen; return the samples to select members by."""
        if isinstance(whole, FrozenEstimator):
            return X, y, sample_weight
        if sample_weight is not None and not has_fit_parameter(whole, "sample_weight"):
            X, y = _as_often_as_they_weigh(X, y, sample_weight, whole)
            sample_weight = None
        (X_train, y_train, weights), select = self._parts(X, y, sample_weight)
        whole.fit(X_train, y_train, **({} if weights is None else {"sample_weight": weights}))
        return select

    def _was_trained_on(self, whole: Any) -> bool | None:
        """Whether the ensemble was trained on the selection samples; None if unknown."""
        if self.on == "validation":
            return False
        return None if isinstance(whole, FrozenEstimator) else True

    def _parts(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        """The samples to train on and those to select members by."""
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
                f"validation_fraction={self.validation_fraction} holds out none of "
                f"{len(count)} sample(s); each class, or the whole training set in regression, "
                "needs at least two different samples, one of which is trained on."
            )
        parts = []
        for chosen in (count[~aside], count[aside]):
            given = None if sample_weight is None else weights[chosen]
            parts.append((_safe_indexing(rows, chosen), labels[chosen], given))
        return parts[0], parts[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self._base() if self.estimator is None else self.estimator
        if isinstance(given, list | tuple):
            return tags
        inner = get_tags(given).input_tags
        tags.input_tags.allow_nan = inner.allow_nan
        tags.input_tags.sparse = inner.sparse
        return tags


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
            f"sample_weight has fractions, but estimator={base} takes no weights; give whole "
            "numbers, or another estimator."
        )
    copies = rows_with_copies(weights)
    return _safe_indexing(rows, copies), labels[copies]
