"""Base of stacks of classifiers and regressors; see :mod:`orfeon.combining.stacking`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.dummy import DummyRegressor
from sklearn.utils.validation import check_is_fitted

from orfeon.combining.composition import Composition, Given, MembersTransformerMixin, Named
from orfeon.combining.fitting import (
    Method,
    add_columns,
    answer_columns,
    answer_names,
    check_kind,
    fit_weighted,
    free_names,
    seeded_clone,
)
from orfeon.combining.level_one import (
    LevelOne,
    check_members,
    ensemble_answers,
    ensemble_means,
    out_of_bag_means,
    out_of_bag_members,
    warn_if_never_wrong,
)
from orfeon.combining.out_of_fold import Split, Units, folds_are_informative
from orfeon.members import adapt
from orfeon.utils import saved
from orfeon.utils.scikit_learn import (
    HasMethods,
    StrOptions,
    _check_feature_names_in,
    _safe_indexing,
)
from orfeon.utils.types import Floats


@saved.attributes(
    _method=saved.string,
    _queried=saved.in_files("_asked", saved.string),
    level_one_=saved.matrix,
    final_estimator_=saved.one_of(saved.estimator, saved.instance("MeanAnswers")),
)
class Stacking(MembersTransformerMixin, Composition):
    """Base of stacks of classifiers and regressors."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Composition._parameter_constraints,
        "estimators": [list, HasMethods(["fit", "predict"]), None],
        "cv": ["cv_object", StrOptions({"prefit", "out_of_bag"})],
        "passthrough": ["boolean"],
    }

    final_estimator: Any
    passthrough: bool
    final_estimator_: Any
    level_one_: Floats
    _queried: Literal["models", "ensembles", "members"]
    _method: Method

    # -- what is stacked -----------------------------------------------------------------------

    @property
    def _is_one_ensemble(self) -> bool:
        """Whether the members of one ensemble are stacked."""
        return self.estimators is not None and not isinstance(self.estimators, list)

    def _given(self) -> Named:
        if not self._is_one_ensemble:
            return super()._given()
        return [("ensemble", self.estimators)]

    def _members(self) -> Named:
        if self.estimators is None and self._is("prefit"):
            raise ValueError('cv="prefit" needs fitted estimators; estimators is None.')
        if self._is_one_ensemble and not self._is("out_of_bag"):
            raise ValueError(
                f"estimators={self.estimators} is one ensemble, whose members can be stacked only "
                'with cv="out_of_bag"; for other cv, give a list of (name, estimator).'
            )
        return super()._members()

    def _estimators_inside(self) -> list[Any]:
        found = super()._estimators_inside()
        if self.passthrough and hasattr(self.final_estimator, "fit"):
            found.append(self.final_estimator)
        return found

    # -- fitting -------------------------------------------------------------------------------

    def _check_settings(self, members: Named) -> None:
        self._check_final()
        self._method = self._check_method(members)

    def _splits(self, units: Units, X: Any, groups: Any) -> list[Split]:
        return [] if isinstance(self.cv, str) else super()._splits(units, X, groups)

    def _n_fits(self, members: Named, n_splits: int) -> int:
        return super()._n_fits(members, n_splits) + 1

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
                members, units.table, units, splits, self._method, after=after
            )
            is_informative = folds_are_informative(splits, units)
            is_informative |= len(self._fitted_before(members)) == len(members)
            level = LevelOne.of_all(answers, is_informative=is_informative)
            fitted = self._fit_members(members, units.table, units, after=after)
            self._keep_members(members, fitted)
            self._queried = "models"
        else:
            level = self._fit_and_predict(members, units, given, after)
        self._fit_final(level, units)
        after()

    def _fit_and_predict(
        self,
        members: Named,
        units: Units,
        given: Given,
        after: Callable[[], object],
    ) -> LevelOne:
        """Level-1 data of models that are trained once, or were fitted before."""
        fitted = [estimator for _, estimator in members]
        if not self._is("prefit"):
            fitted = self._fit_members(members, units.table, units, after=after)
        self._keep_members(members, fitted)
        self._queried = "models"
        if self._is("out_of_bag") and not units.is_constant:
            for (name, _), one in zip(members, fitted, strict=True):
                check_members("estimators" if self._is_one_ensemble else name, one)
            how = (units, given, self._classes, self._method)
            if self._is_one_ensemble:
                self._queried = "members"
                return out_of_bag_members(fitted[0], *how)
            self._queried = "ensembles"
            return out_of_bag_means(fitted, *how)
        answers = self._answers(units.table)
        if self._is("prefit") and not units.is_constant:
            warn_if_never_wrong([name for name, _ in members], answers, units.y)
        return LevelOne.of_all(answers)

    def _fit_final(self, level: LevelOne, units: Units) -> None:
        self.level_one_ = np.asarray(units.on_given_rows(self._columns(level.answers)))
        self.final_estimator_ = self._learn(level, units, np.flatnonzero(level.known))

    def _learn(self, level: LevelOne, units: Units, known: npt.NDArray[np.intp]) -> Any:
        """The final estimator, fitted to the samples with level-1 data."""
        if not level.is_informative:
            return MeanAnswers(len(level.answers), self._classes)
        answers, weights = level.answers[:, known], units.weights[known]
        rows = _safe_indexing(units.table, known) if self.passthrough else None
        table = self._final_table(answers, rows)
        final = self.final_estimator
        if final is None:
            final = self._default_final(table, weights)
        if units.is_constant and not is_classifier(self):
            final = DummyRegressor()
        return fit_weighted(
            seeded_clone(final, units.seed(2)), table, units.labels[known], weights,
            name="final_estimator",
        )  # fmt: skip

    @abstractmethod
    def _default_final(self, table: Any, weights: Floats) -> Any:
        """The final estimator when none is given."""

    def _check_final(self) -> None:
        if hasattr(self.final_estimator, "fit"):
            check_kind(self.final_estimator, classifier=is_classifier(self), name="final_estimator")

    def _check_method(self, members: Named) -> Method:
        return "predict"

    # -- level 1 -------------------------------------------------------------------------------

    def _answers(self, rows: Any) -> Floats:
        """Predictions of the fitted models, of shape (n_models, n_rows, n_outputs)."""
        how: tuple[Any, Any, Method] = (rows, self._classes, self._method)
        if self._queried == "members":
            return ensemble_answers(self.estimators_[0], *how)
        if self._queried == "ensembles":
            return np.stack([ensemble_means(ensemble, *how) for ensemble in self.estimators_])
        return self._query(self.estimators_, rows, self._method)

    def _columns(self, answers: Floats) -> Floats:
        return np.concatenate([answer_columns(answer) for answer in answers], axis=1)

    def _final_table(self, answers: Floats, rows: Any) -> Any:
        columns = self._columns(answers)
        if rows is None:
            return columns
        return add_columns(rows, columns, self._column_names(), first=True)

    def _column_names(self) -> list[str]:
        names = [name for name, fitted in self.named_estimators_.items() if fitted != "drop"]
        if self._queried == "members":
            names = [f"member{t}" for t in range(adapt(self.estimators_[0]).n_members)]
        return answer_names(names, self._classes)

    @property
    def answer_names_(self) -> list[str]:
        """Names of the columns of :meth:`answers` and ``level_one_``."""
        check_is_fitted(self, "final_estimator_")
        return self._column_names()

    def answers(self, X: Any) -> Floats:
        """Predictions of the models.

        On the training samples they are too optimistic; use ``level_one_`` for those.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Class probabilities (of two classes, those of the second) or predictions.
        """
        return self._columns(self._answers(self._rows(X)))

    def transform(self, X: Any) -> Any:
        """Input of the final estimator: predictions of the models, and features if it sees them.

        The models have seen their own training samples; see :meth:`fit_transform_out_of_fold`.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        array or data frame of shape (n_rows, n_columns)
            The columns of :meth:`answers`; with ``passthrough`` those of ``X`` after them.
        """
        check_is_fitted(self, "final_estimator_")
        return self._seen_by_final(X)

    def _out_of_fold_columns(self, X: Any, sample_weight: Any) -> Any:
        columns = self._out_of_fold_or_fitted(
            self.level_one_, sample_weight, lambda: self.answers(X)
        )
        if not self.passthrough:
            return columns
        return add_columns(self._rows(X), columns, self._column_names(), first=True)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : array of str, optional
            Names of the features, where ``X`` had none.

        Returns
        -------
        ndarray of str
            ``answer_names_``, followed by those of the features with ``passthrough``.
        """
        check_is_fitted(self, "final_estimator_")
        inputs = _check_feature_names_in(self, input_features).tolist()
        names = self._column_names()
        names = [*free_names(names, inputs), *inputs] if self.passthrough else names
        return np.array(names, dtype=object)

    def _seen_by_final(self, X: Any) -> Any:
        rows = self._rows(X)
        return self._final_table(self._answers(rows), rows if self.passthrough else None)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        check_is_fitted(self, "final_estimator_")
        return np.asarray(self.final_estimator_.predict(self._seen_by_final(X)))


@saved.attributes(n_models=saved.integer(1), classes_=saved.one_of(saved.none, saved.labels))
@dataclass(frozen=True, eq=False)
class MeanAnswers:
    """Mean prediction of the models: the final estimator where there is nothing to learn from."""

    n_models: int
    classes_: npt.NDArray[Any] | None

    def _means(self, table: Any) -> Floats:
        """Means by class; features after the models' columns are ignored."""
        n_classes = 1 if self.classes_ is None else len(self.classes_)
        width = 1 if n_classes == 2 else n_classes
        columns = np.arange(self.n_models * width)
        found = _safe_indexing(table, columns, axis=1)
        answers = np.asarray(found.toarray() if issparse(found) else found, dtype=np.float64)
        means = answers.reshape(len(answers), self.n_models, width).mean(axis=1)
        return np.column_stack([1.0 - means, means]) if n_classes == 2 else means

    def predict(self, table: Any) -> npt.NDArray[Any]:
        means = self._means(table)
        if self.classes_ is None:
            return np.asarray(means[:, 0])
        return np.asarray(self.classes_[means.argmax(axis=1)])

    def predict_proba(self, table: Any) -> Floats:
        return self._means(table)
