"""Base of estimators made of several named ones: stacks, cascades, arbiters.

They train named models, let them predict samples that they have not seen, and learn from these
predictions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import MetaEstimatorMixin, TransformerMixin, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from orfeon.base import TabularClassifierMixin, TabularEstimator, class_codes, restored_on_failure
from orfeon.combining.fitting import (
    Method,
    check_kind,
    check_sparse,
    fit_weighted,
    is_frame,
    is_frozen,
    query,
    seeded_clone,
    takes_sparse,
)
from orfeon.combining.level_one import check_unseen, warn_if_never_wrong
from orfeon.combining.out_of_fold import Split, Units, out_of_fold, read_splits
from orfeon.trees.base import LIMITS
from orfeon.utils import saved
from orfeon.utils.joblib_results import joblib_results
from orfeon.utils.progress import CallbackSupport, report_progress
from orfeon.utils.scikit_learn import (
    _BaseComposition,
    _fit_context,
    _safe_indexing,
    _wrap_data_with_container,
)
from orfeon.utils.types import Floats

Given = tuple[Any, Any, Any]
Named = list[tuple[str, Any]]

#: Shared texts of their docstrings.
COMPOSITION_TEXTS = {
    "running": """
    n_jobs : int, optional
        Models trained at the same time, over folds too. The result does not depend on it.
    <verbose>
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of all random choices, also of every ``random_state`` inside that is None.
""",
    "fitted": """
    estimators_ : list of estimators
        The models, fitted to all samples.
    named_estimators_ : Bunch
        The same by name.
""",
    "features": """
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Their names, when all are strings.
""",
}


@saved.attributes(
    estimators_=saved.list_of(saved.estimator, at_least=1),
    named_estimators_=saved.dict_of(
        saved.string, saved.one_of(saved.estimator, saved.exactly("drop"))
    ),
)
class Composition(CallbackSupport, MetaEstimatorMixin, _BaseComposition, TabularEstimator):  # type: ignore[misc]
    """An estimator made of several named ones, of any kind.

    Subclasses have the parameters ``estimators``, ``cv``, ``n_jobs``, ``verbose`` and
    ``random_state``, and define the estimators of ``estimators=None``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": [list, None],
        "cv": ["cv_object"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": LIMITS["random_state"],
    }

    estimators: Any
    cv: Any
    n_jobs: int | None
    verbose: int
    classes_: npt.NDArray[Any]
    n_classes_: int
    estimators_: list[Any]
    named_estimators_: Bunch

    @abstractmethod
    def _default(self) -> Named:
        """The estimators when none are given."""

    def _categorical_features(self) -> Any:
        return "auto"

    def _takes_sparse(self) -> bool:
        return all(map(takes_sparse, self._estimators_inside()))

    def _check_sparse(self) -> None:
        check_sparse(self._estimators_inside())

    # -- parameters ----------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, including those of the named estimators.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the estimators by their names, and their parameters.

        Returns
        -------
        dict
            Names and values.
        """
        if isinstance(self.estimators, list):
            return dict(self._get_params("estimators", deep=deep))
        return dict(super().get_params(deep=deep))

    def set_params(self, **params: Any) -> Self:
        """Set parameters; the name of an estimator replaces it, and "drop" leaves it out.

        Parameters
        ----------
        **params : dict
            Names and values, such as ``tree__max_depth=3`` or ``tree="drop"``.

        Returns
        -------
        self
            The estimator.
        """
        self._set_params("estimators", **params)
        return self

    @property
    def named_estimators(self) -> Bunch:
        """The given or default estimators, by name."""
        return Bunch(**dict(self._given()))

    def _given(self) -> Named:
        return self._default() if self.estimators is None else list(self.estimators)

    def _members(self) -> Named:
        """The estimators that are not dropped, checked, with their names."""
        given = self._given()
        pairs = all(
            isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)
            for pair in given
        )
        if not given or not pairs:
            raise ValueError(
                f"estimators={self.estimators!r} is not allowed: give a list of (name, estimator), "
                "at least one."
            )
        names = [name for name, _ in given]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"estimators has the name {name!r} twice; each needs its own.")
            if "__" in name or name in self.get_params(deep=False):
                raise ValueError(
                    f"estimators has the name {name!r}; a name must not contain '__', nor be that "
                    f"of a parameter of {type(self).__name__}."
                )
        members = [(name, est) for name, est in given if not isinstance(est, str) or est != "drop"]
        if not members:
            raise ValueError('estimators are all "drop"; at least one must take part.')
        for name, estimator in members:
            check_kind(estimator, classifier=is_classifier(self), name=name)
        return members

    def _fitted_before(self, members: Named) -> Named:
        """The estimators that are fitted already and used as they are."""
        fitted = [(name, est) for name, est in members if self._is("prefit") or is_frozen(est)]
        for name, estimator in fitted:
            try:
                check_is_fitted(estimator)
            except NotFittedError as error:
                raise NotFittedError(
                    f"{name}={estimator} is to be used as it is, but is not fitted; fit it first."
                ) from error
        return fitted

    def _is(self, word: str) -> bool:
        """Whether ``cv`` is a certain string."""
        return isinstance(self.cv, str) and self.cv == word

    def _keep_members(self, members: Named, fitted: Sequence[Any]) -> None:
        self.estimators_ = list(fitted)
        by_name = dict(zip([name for name, _ in members], fitted, strict=True))
        self.named_estimators_ = Bunch(
            **{name: by_name.get(name, "drop") for name, _ in self._given()}
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for estimator in self._estimators_inside():
            if not hasattr(estimator, "__sklearn_tags__") or isinstance(estimator, type):
                continue
            inner = get_tags(estimator)
            tags.input_tags.allow_nan &= inner.input_tags.allow_nan
            if tags.classifier_tags is not None and inner.classifier_tags is not None:
                tags.classifier_tags.multi_class &= inner.classifier_tags.multi_class
        return tags

    def _estimators_inside(self) -> list[Any]:
        """All estimators that see the features."""
        try:
            return [estimator for _, estimator in self._given()]
        except (TypeError, ValueError):  # fit says what is wrong with them
            return []

    # -- reading -------------------------------------------------------------------------------

    def _read_units(self, X: Any, y: Any, sample_weight: Any, *, sort: bool = True) -> Units:
        """Read a training set, in an order of content or in that of the rows."""
        data = self._read(X, y, sample_weight).in_canonical_order()
        if not sort:
            data = data.take(np.argsort(data.rows, kind="stable"))
        labels = self.classes_[data.y] if data.n_classes else data.y
        table = _safe_indexing(X, data.rows) if is_frame(X) else self.schema_.decode(data.X)
        return Units(
            table, data.X, data.y, labels, data.relative_weights, data.rows, data.n_given,
            data.n_classes, data.seeds,
        )  # fmt: skip

    def _rows(self, X: Any) -> Any:
        """Rows to predict, as the members take them."""
        check_is_fitted(self, "estimators_")
        encoded = self._encode(X)
        return X if is_frame(X) else self.schema_.decode(encoded)

    def _with_known_classes(self, units: Units, fitted: Named) -> Units:
        """Add the classes that fitted classifiers know to those of the samples."""
        known = [self.classes_]
        for name, estimator in fitted:
            found = np.asarray(estimator.classes_)
            if isinstance(found[0], str) != isinstance(self.classes_[0], str):
                raise ValueError(
                    f"{name} was fitted to the classes {found.tolist()}, and y has "
                    f"{self.classes_.tolist()}; classes must be all strings or all numbers."
                )
            known.append(found)
        self.classes_ = np.unique(np.concatenate(known))
        self.n_classes_ = len(self.classes_)
        codes = class_codes(units.labels, self.classes_)
        return replace(units, y=codes, n_classes=self.n_classes_)

    # -- fitting -------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Train the models, and the estimator that learns from their predictions.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The samples; missing values, categories and sparse matrices are supported if the models
            support them.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.
        groups : array of shape (n_rows,), optional
            Passed to a splitter ``cv`` that keeps the rows of a group together, such as
            :class:`sklearn.model_selection.GroupKFold`.

        Returns
        -------
        self
            Fitted.
        """
        with restored_on_failure(self):
            X = X.tocsr() if issparse(X) else X
            members = self._members()
            self._check_settings(members)
            fitted = self._fitted_before(members)
            in_order = not isinstance(self.cv, Integral | str | None)
            units = self._read_units(X, y, sample_weight, sort=not in_order)
            if fitted and units.n_classes:
                units = self._with_known_classes(units, fitted)
            splits = [] if units.is_constant else self._splits(units, X, groups)
            if splits or (self._is("prefit") and not units.is_constant):
                for name, estimator in fitted:
                    check_unseen(name, estimator, X, y, sample_weight)
            with report_progress(
                self, self._n_fits(members, len(splits)), self.verbose, X=X, y=y,
                sample_weight=sample_weight,
            ) as progress:  # fmt: skip
                self._train(members, units, splits, (X, y, sample_weight), progress.update)
        return self

    def _check_settings(self, members: Named) -> None:
        """Reject parameters that scikit-learn's own validation cannot."""

    def _splits(self, units: Units, X: Any, groups: Any) -> list[Split]:
        """Folds for predictions of unseen samples; none where these come from elsewhere."""
        return read_splits(self.cv, units, X, groups)

    def _n_fits(self, members: Named, n_splits: int) -> int:
        """How many models are trained, for the progress bar."""
        return len(members) * (1 + n_splits)

    @abstractmethod
    def _train(
        self,
        members: Named,
        units: Units,
        splits: Sequence[Split],
        given: Given,
        after: Callable[[], object],
    ) -> None:
        """Train everything; ``after`` is called after each model."""

    @property
    def _classes(self) -> npt.NDArray[Any] | None:
        """The classes, None in regression."""
        return getattr(self, "classes_", None)

    def _fit_members(
        self,
        members: Named,
        table: Any,
        units: Units,
        *,
        first: int = 0,
        after: Callable[[], object] | None = None,
    ) -> list[Any]:
        """Fit estimators to all samples, with the seeds of the members from ``first`` on."""
        calls = (
            delayed(_fit_one)(estimator, table, units, units.seed(0, first + t), name)
            for t, (name, estimator) in enumerate(members)
        )
        fitted = []
        at_once = Parallel(n_jobs=self.n_jobs, prefer=prefer(members), return_as="generator")
        with joblib_results(at_once, calls) as found:
            for one in found:
                fitted.append(one)
                if after is not None:
                    after()
        return fitted

    def _out_of_fold(
        self,
        members: Named,
        table: Any,
        units: Units,
        splits: Sequence[Split],
        method: Method,
        *,
        first: int = 0,
        after: Callable[[], object] | None = None,
    ) -> Floats:
        """Predictions of samples by estimators that were not trained on them."""
        answers = out_of_fold(
            [estimator for _, estimator in members], table, units.labels, units.weights,
            rng=units.generator(1, first), method=method, splits=splits, classes=self._classes,
            names=[name for name, _ in members], n_jobs=self.n_jobs, prefer=prefer(members),
            after=after,
        )  # fmt: skip
        frozen = [t for t, (_, estimator) in enumerate(members) if is_frozen(estimator)]
        warn_if_never_wrong([members[t][0] for t in frozen], answers[frozen], units.y)
        return answers

    def _out_of_fold_or_fitted(
        self, columns: Floats, sample_weight: Any, predict: Callable[[], Floats]
    ) -> Floats:
        """Out-of-fold columns; rows of weight 0, which no model has seen, are predicted by all."""
        if sample_weight is None:
            return columns.copy()
        absent = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64) == 0, len(columns))
        return np.where(absent[:, None], predict(), columns) if absent.any() else columns.copy()

    def _query(self, estimators: Sequence[Any], rows: Any, method: Method) -> Floats:
        """Predictions of fitted estimators, of shape (n_estimators, n_rows, n_outputs)."""
        return np.stack([query(estimator, rows, self._classes, method) for estimator in estimators])

    @abstractmethod
    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict classes or targets.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes, the first of those that are tied; or predictions.
        """


def _fit_one(estimator: Any, table: Any, units: Units, seed: int, name: str) -> Any:
    return fit_weighted(
        seeded_clone(estimator, seed), table, units.labels, units.weights, name=name
    )


def prefer(members: Named) -> str | None:
    """Threads for estimators of orfeon, which release the GIL; processes for others."""
    ours = all(isinstance(estimator, TabularEstimator) for _, estimator in members)
    return "threads" if ours else None


@saved.attributes(_sklearn_output_config=saved.optional(saved.dict_of(saved.string, saved.string)))
class MembersTransformerMixin(TransformerMixin):  # type: ignore[misc]
    """``fit_transform`` as scikit-learn has it, and its out-of-fold counterpart."""

    def fit_transform(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> Any:
        """Fit, then transform ``X``: the same as ``fit(X, y).transform(X)``.

        The members have seen the samples that they predict here. To train another model on their
        predictions, use :meth:`fit_transform_out_of_fold`.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            The training samples.
        y : array of shape (n_samples,)
            Classes or targets.
        sample_weight : array of shape (n_samples,), optional
            Sample weights.
        groups : array of shape (n_samples,), optional
            As in :meth:`fit`.

        Returns
        -------
        array or data frame of shape (n_samples, n_columns)
            What :meth:`transform` returns.
        """
        fitted: Any = self.fit(X, y, sample_weight, groups=groups)
        return fitted.transform(X)

    def fit_transform_out_of_fold(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> Any:
        """Fit, and return out-of-fold predictions of the training samples.

        The columns are those of :meth:`transform`, but no member predicts a sample that it was
        trained on, so they are safe to train another model on.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            The training samples.
        y : array of shape (n_samples,)
            Classes or targets.
        sample_weight : array of shape (n_samples,), optional
            Sample weights. Samples of weight 0 are in no fold; the fitted members predict them.
        groups : array of shape (n_samples,), optional
            As in :meth:`fit`.

        Returns
        -------
        array or data frame of shape (n_samples, n_columns)
            Out-of-fold predictions, in the columns of :meth:`transform`.
        """
        self.fit(X, y, sample_weight, groups=groups)
        found = self._out_of_fold_columns(X, sample_weight)
        return _wrap_data_with_container("transform", found, X, self)

    @abstractmethod
    def _out_of_fold_columns(self, X: Any, sample_weight: Any) -> Any:
        """Out-of-fold predictions of the training samples, in the columns of ``transform``."""


class CalibratedClassifiers(TabularClassifierMixin, Composition):
    """Classifiers trained on all samples, and a model of when each of them is right.

    That model is learnt from out-of-fold predictions. A classifier predicts its most probable
    class, the first of those tied; one without ``predict_proba`` is certain of its prediction.
    """

    def _train(
        self,
        members: Named,
        units: Units,
        splits: Sequence[Split],
        given: Given,
        after: Callable[[], object],
    ) -> None:
        if splits:
            answers = self._out_of_fold(
                members, units.table, units, splits, "predict_proba", after=after
            )
        else:  # one class, about which all are right
            answers = np.ones((len(members), len(units), 1))
        self._keep_members(members, self._fit_members(members, units.table, units, after=after))
        self._learn_from_answers(answers, units, splits, after)

    def _with_known_classes(self, units: Units, fitted: Named) -> Units:
        """Reject fitted classifiers with a class that the samples do not have."""
        for name, estimator in fitted:
            known = np.asarray(estimator.classes_).tolist()
            if not set(known) <= set(self.classes_.tolist()):
                raise ValueError(
                    f"{name} was fitted to the classes {known}, and y has {self.classes_.tolist()} "
                    "only; give samples of all classes, or another classifier."
                )
        return units

    @abstractmethod
    def _learn_from_answers(
        self,
        answers: Floats,
        units: Units,
        splits: Sequence[Split],
        after: Callable[[], object],
    ) -> None:
        """Learn from out-of-fold predictions, of shape (n_members, n_samples, n_classes)."""

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities."""

    def predict(self, X: Any) -> npt.NDArray[Any]:
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])
