"""Base of conformal estimators: models that did not see a sample, by folds or out of bag."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from orfeon.base import (
    TabularEstimator,
    restored_on_failure,
)
from orfeon.combining.fitting import (
    check_kind,
    fit_weighted,
    is_frame,
    is_frozen,
    seeded_clone,
)
from orfeon.combining.out_of_fold import Split, Units, check_leaves_samples, read_splits
from orfeon.data.training_set import relative_weights
from orfeon.members import adapt
from orfeon.members.protocol import NoOutOfBagError
from orfeon.trees.base import LIMITS
from orfeon.uncertainty.left_out import LeftOutSamples, pack
from orfeon.utils.scikit_learn import StrOptions, _fit_context, _safe_indexing
from orfeon.utils.types import Integers

CONFORMAL_TEXTS = {
    "learning": """
    on : {"folds", "out_of_bag"}, default="folds"
        Which models predict a training sample. "folds" trains one model without each fold, and one
        on all samples. "out_of_bag" takes the members of an ensemble that left it out: bagging and
        forests with bootstrap samples, of orfeon or scikit-learn. It costs one fit, or none if the
        ensemble is a :class:`sklearn.frozen.FrozenEstimator`, whose training set ``fit`` then gets,
        in the same order.
    cv : int, splitter or iterable of splits, default=10
        The folds.
    n_jobs : int, optional
        Models fitted in parallel, through joblib. The result does not depend on it.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of the folds, and for every ``random_state`` of the estimator that is None.
""",
    "learnt": """
    estimator_ : estimator
        The model trained on all samples.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Their names, when all are strings.
""",
}


class Conformal(MetaEstimatorMixin, TabularEstimator, BaseEstimator):  # type: ignore[misc]
    """Base of both: reads the samples, and trains models that did not see them."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",  # fit says what is wrong with it
        "on": [StrOptions({"folds", "out_of_bag"})],
        "cv": ["cv_object"],
        "n_jobs": [Integral, None],
        "random_state": LIMITS["random_state"],
    }

    estimator: Any
    on: Literal["folds", "out_of_bag"]
    cv: Any
    n_jobs: int | None
    estimator_: Any

    def _default(self) -> Any:
        raise NotImplementedError

    def _given(self) -> Any:
        return self._default() if self.estimator is None else self.estimator

    def _categorical_features(self) -> Any:
        return "auto"

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the model, and learn from samples that models did not see.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; missing values and categories are supported if the estimator supports them.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            Fitted.
        """
        with restored_on_failure(self):
            base = self._given()
            check_kind(base, classifier=is_classifier(self), name="estimator")
            units = self._read_units(X, y, sample_weight)
            if self.on == "out_of_bag":
                self._learn_out_of_bag(base, units, X, y, sample_weight)
            elif is_frozen(base):
                raise ValueError(
                    'estimator is frozen, and on="folds" trains it again; use on="out_of_bag" with '
                    "its training set."
                )
            else:
                self._learn_by_folds(base, units, X)
        return self

    def _read_units(self, X: Any, y: Any, sample_weight: Any) -> Units:
        data = self._read(X, y, sample_weight).in_canonical_order()
        if not isinstance(self.cv, Integral | None):
            data = data.take(np.argsort(data.rows, kind="stable"))
        labels = self.classes_[data.y] if data.n_classes else data.y
        table = _safe_indexing(X, data.rows) if is_frame(X) else self.schema_.decode(data.X)
        return Units(
            table, data.X, data.y, labels, data.relative_weights, data.rows, data.n_given,
            data.n_classes, data.seeds,
        )  # fmt: skip

    def _rows(self, X: Any) -> Any:
        """Rows to predict, as the estimator takes them."""
        check_is_fitted(self, "estimator_")
        encoded = self._encode(X)
        return X if is_frame(X) else self.schema_.decode(encoded)

    # -- by folds ------------------------------------------------------------------------------

    def _learn_by_folds(self, base: Any, units: Units, X: Any) -> None:
        splits = read_splits(self.cv, units, X)
        check_leaves_samples(splits)
        everything = np.arange(len(units))
        parts = [everything, *(split.train for split in splits)]
        whole, *models = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_part)(base, units, part, units.seed(0, k)) for k, part in enumerate(parts)
        )
        self.estimator_ = whole
        self._learn_from_models(models, splits, units)

    def _learn_from_models(
        self, models: Sequence[Any], splits: Sequence[Split], units: Units
    ) -> None:
        raise NotImplementedError

    # -- out of bag ----------------------------------------------------------------------------

    def _learn_out_of_bag(
        self, base: Any, units: Units, X: Any, y: Any, sample_weight: Any
    ) -> None:
        X = X if hasattr(X, "shape") else np.asarray(X)
        y, weights = np.asarray(y), None if sample_weight is None else np.asarray(sample_weight)
        if is_frozen(base):
            check_is_fitted(base)
            self.estimator_ = clone(base)
        else:
            given = {} if weights is None else {"sample_weight": weights}
            self.estimator_ = seeded_clone(base, units.seed(0, 0)).fit(X, y, **given)
        members = adapt(self.estimator_)
        try:
            out = members.out_of_bag(X, y, weights)
        except NoOutOfBagError as error:
            raise ValueError(
                f'{error.what} (n_samples={len(y):,}). Use on="folds", or members that leave '
                "samples out."
            ) from error
        rows, first = np.unique(units.rows, return_index=True)
        place = np.searchsorted(rows, units.rows)
        of_rows = np.bincount(place, weights=units.weights).astype(np.float64)
        known = LeftOutSamples(
            rows, units.y[first].astype(np.float64 if not units.n_classes else np.int64),
            relative_weights(of_rows), pack(out[:, rows]), members.n_members,
        )  # fmt: skip
        known = known.taken(known.n_left_out() > 0)
        self._learn_from_members(members, known, X)

    def _learn_from_members(self, members: Any, samples: LeftOutSamples, X: Any) -> None:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self._given()
        tags.input_tags.sparse = False
        if hasattr(given, "__sklearn_tags__") and not isinstance(given, type):
            inner = get_tags(given)
            tags.input_tags.allow_nan = inner.input_tags.allow_nan
            if tags.classifier_tags is not None and inner.classifier_tags is not None:
                tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags


def _fit_part(base: Any, units: Units, part: Integers, seed: int) -> Any:
    return fit_weighted(
        seeded_clone(base, seed), _safe_indexing(units.table, part), units.labels[part],
        units.weights[part], name="estimator",
    )  # fmt: skip
