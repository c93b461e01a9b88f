"""What estimators share that are made of several named ones: names, reading, fitting, asking.

All of them train named models, ask them about samples that they have not seen, and learn from the
answers. What makes such answers honest is here, once for all.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from orfeon.base import TabularEstimator, class_codes, restored_on_failure
from orfeon.combining.fitting import Method, check_kind, fit_weighted, fresh, is_frozen, query
from orfeon.combining.level_one import check_unseen, warn_of_memory
from orfeon.combining.out_of_fold import Split, out_of_fold
from orfeon.combining.tables import is_frame
from orfeon.combining.training_units import Units, read_splits
from orfeon.trees.base import LIMITS
from orfeon.utils import saved
from orfeon.utils.joblib_results import joblib_results
from orfeon.utils.progress import CallbackSupport, report_progress
from orfeon.utils.scikit_learn import _BaseComposition, _fit_context, _safe_indexing
from orfeon.utils.types import Floats

Given = tuple[Any, Any, Any]
Named = list[tuple[str, Any]]


@saved.attributes(
    estimators_=saved.list_of(saved.estimator, at_least=1),
    named_estimators_=saved.dict_of(saved.string, saved.estimator),
)
class Composition(CallbackSupport, MetaEstimatorMixin, _BaseComposition, TabularEstimator):  # type: ignore[misc]
    """An estimator made of several named ones, of any kind.

    Subclasses have the parameters ``estimators``, ``cv``, ``n_jobs``, ``verbose`` and
    ``random_state``, and give a list of named estimators for ``estimators=None``.
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

    # -- parameters ----------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, those of the named estimators among them.

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
        """Set parameters; an estimator is replaced by its name, and left out by "drop".

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
        """The estimators given, or those by default, by name."""
        return Bunch(**dict(self._given()))

    def _given(self) -> Named:
        return self._default() if self.estimators is None else list(self.estimators)

    def _members(self) -> Named:
        """The estimators that take part, checked, with their names."""
        given = self._given()
        pairs = all(
            isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)
            for pair in given
        )
        if not given or not pairs:
            raise ValueError(
                f"estimators={self.estimators!r} is not allowed: give a list of (name, estimator), "
                "one at least."
            )
        names = [name for name, _ in given]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"estimators has the name {name!r} twice; each needs its own.")
            if "__" in name or name in self.get_params(deep=False):
                raise ValueError(
                    f"estimators has the name {name!r}; names are not those of parameters of "
                    f"{type(self).__name__}, and have no '__'."
                )
        members = [(name, est) for name, est in given if not isinstance(est, str) or est != "drop"]
        if not members:
            raise ValueError('estimators are all "drop"; one at least must take part.')
        for name, estimator in members:
            check_kind(estimator, classifier=is_classifier(self), name=name)
        return members

    def _fitted_before(self, members: Named) -> Named:
        """Those of the estimators that are taken as they are, fitted."""
        fitted = [(name, est) for name, est in members if self._is("prefit") or is_frozen(est)]
        for name, estimator in fitted:
            try:
                check_is_fitted(estimator)
            except NotFittedError as error:
                raise NotFittedError(
                    f"{name}={estimator} is to be taken as it is, and not fitted yet; fit it first."
                ) from error
        return fitted

    def _is(self, word: str) -> bool:
        """Whether ``cv`` is a word."""
        return isinstance(self.cv, str) and self.cv == word

    def _keep_members(self, members: Named, fitted: Sequence[Any]) -> None:
        self.estimators_ = list(fitted)
        by_name = dict(zip([name for name, _ in members], fitted, strict=True))
        self.named_estimators_ = Bunch(
            **{name: by_name.get(name, "drop") for name, _ in self._given()}
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        for estimator in self._estimators_inside():
            if not hasattr(estimator, "__sklearn_tags__") or isinstance(estimator, type):
                continue
            inner = get_tags(estimator)
            tags.input_tags.allow_nan &= inner.input_tags.allow_nan
            if tags.classifier_tags is not None and inner.classifier_tags is not None:
                tags.classifier_tags.multi_class &= inner.classifier_tags.multi_class
        return tags

    def _estimators_inside(self) -> list[Any]:
        """All that see the features."""
        try:
            return [estimator for _, estimator in self._given()]
        except (TypeError, ValueError):  # fit says what is wrong with them
            return []

    # -- reading -------------------------------------------------------------------------------

    def _read_units(self, X: Any, y: Any, sample_weight: Any, *, sort: bool = True) -> Units:
        """Check a training set and make it units: by content, or in the order of the rows."""
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
        """The classes of the samples, and those that fitted classifiers know besides."""
        known = [self.classes_]
        for name, estimator in fitted:
            found = np.asarray(estimator.classes_)
            if isinstance(found[0], str) != isinstance(self.classes_[0], str):
                raise ValueError(
                    f"{name} was fitted to the classes {found.tolist()}, and y has "
                    f"{self.classes_.tolist()}; strings and numbers are not the same."
                )
            known.append(found)
        self.classes_ = np.unique(np.concatenate(known))
        self.n_classes_ = len(self.classes_)
        codes = class_codes(units.labels, self.classes_)
        return replace(units, y=codes, n_classes=self.n_classes_)

    # -- fitting and asking --------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Train the models, and what learns from their answers.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; missing values and categories are welcome as far as the models take them.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Weights: 0 is the same as leaving the sample out, 2 as giving it twice.
        groups : array of shape (n_rows,), optional
            For a splitter ``cv`` that keeps the rows of a group together, such as
            :class:`sklearn.model_selection.GroupKFold`; other ``cv`` do not look at them.

        Returns
        -------
        self
            Fitted.
        """
        with restored_on_failure(self):
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
        """Refuse settings that scikit-learn's own validation cannot."""

    def _splits(self, units: Units, X: Any, groups: Any) -> list[Split]:
        """Folds by which answers to unseen samples are found; none where they come otherwise."""
        return read_splits(self.cv, units, X, groups)

    def _n_fits(self, members: Named, n_splits: int) -> int:
        """How many trainings there are to be, for those who watch."""
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
        """Train all there is; ``after`` is called after each training."""

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
        """Fit estimators to all units; the seeds are those of members from ``first`` on."""
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
        """What estimators say of units that they were not trained on."""
        answers = out_of_fold(
            [estimator for _, estimator in members], table, units.labels, units.weights,
            rng=units.generator(1, first), method=method, splits=splits, classes=self._classes,
            names=[name for name, _ in members], n_jobs=self.n_jobs, prefer=prefer(members),
            after=after,
        )  # fmt: skip
        frozen = [t for t, (_, estimator) in enumerate(members) if is_frozen(estimator)]
        warn_of_memory([members[t][0] for t in frozen], answers[frozen], units.y)
        return answers

    def _unseen(self, told: Floats, sample_weight: Any, answers: Callable[[], Floats]) -> Floats:
        """What was told of the rows given by models that have not seen them.

        No model has seen rows of weight 0: all of them are asked about these.
        """
        if sample_weight is None:
            return told.copy()
        absent = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64) == 0, len(told))
        return np.where(absent[:, None], answers(), told) if absent.any() else told.copy()

    def _query(self, estimators: Sequence[Any], rows: Any, method: Method) -> Floats:
        """What fitted estimators say, of shape (n_estimators, n_rows, n_outputs)."""
        return np.stack([query(estimator, rows, self._classes, method) for estimator in estimators])


def _fit_one(estimator: Any, table: Any, units: Units, seed: int, name: str) -> Any:
    return fit_weighted(fresh(estimator, seed), table, units.labels, units.weights, name=name)


def prefer(members: Named) -> str | None:
    """Threads for estimators of orfeon, which do not wait for each other; processes for others."""
    ours = all(isinstance(estimator, TabularEstimator) for _, estimator in members)
    return "threads" if ours else None
