"""What stacks of classifiers and of regressors share; see :mod:`orfeon.combining.stacking`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.dummy import DummyRegressor
from sklearn.utils.validation import check_is_fitted

from orfeon.combining.composition import Composition, Given, Named
from orfeon.combining.fitting import Method, check_kind, fit_weighted, fresh
from orfeon.combining.level_one import (
    LevelOne,
    check_members,
    ensemble_answers,
    ensemble_means,
    out_of_bag_means,
    out_of_bag_members,
    warn_of_memory,
)
from orfeon.combining.mean_answers import MeanAnswers
from orfeon.combining.out_of_fold import Split
from orfeon.combining.tables import answer_columns, answer_names, beside, free_names
from orfeon.combining.training_units import Units, folds_can_be_learnt_from
from orfeon.combining.transformer import MembersTransformerMixin
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
    """What stacks of classifiers and of regressors share."""

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
        """Whether the models that are stacked are the members of one ensemble."""
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
                f"estimators={self.estimators} is one ensemble, whose members are stacked with "
                'cv="out_of_bag" only; otherwise give a list of (name, estimator).'
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
            tells = folds_can_be_learnt_from(splits, units)
            tells |= len(self._fitted_before(members)) == len(members)
            level = LevelOne.of_all(answers, tells=tells)
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
        """Models that are trained once, or were before, and what they say of what they left out."""
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
            warn_of_memory([name for name, _ in members], answers, units.y)
        return LevelOne.of_all(answers)

    def _fit_final(self, level: LevelOne, units: Units) -> None:
        self.level_one_ = np.asarray(units.on_given_rows(self._columns(level.answers)))
        self.final_estimator_ = self._learn(level, units, np.flatnonzero(level.known))

    def _learn(self, level: LevelOne, units: Units, known: npt.NDArray[np.intp]) -> Any:
        """The final estimator, fitted to what is known of some of the units."""
        if not level.tells:
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
            fresh(final, units.seed(2)), table, units.labels[known], weights,
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
        """What the fitted models say, of shape (n_models, n_rows, n_outputs)."""
        how: tuple[Any, Any, Method] = (rows, self._classes, self._method)
        if self._queried == "members":
            return ensemble_answers(self.estimators_[0], *how)
        if self._queried == "ensembles":
            return np.stack([ensemble_means(ensemble, *how) for ensemble in self.estimators_])
        return self._query(self.estimators_, rows, self._method)

    def _columns(self, answers: Floats) -> Floats:
        """Answers side by side."""
        return np.concatenate([answer_columns(answer) for answer in answers], axis=1)

    def _final_table(self, answers: Floats, rows: Any) -> Any:
        """What the final estimator sees."""
        columns = self._columns(answers)
        if rows is None:
            return columns
        return beside(rows, columns, self._column_names(), first=True)

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
        """What the models say.

        They predict their own training samples too well; for those there is ``level_one_``.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Probabilities of the classes, of the second only where there are two; or predictions.
        """
        return self._columns(self._answers(self._rows(X)))

    def transform(self, X: Any) -> Any:
        """What the final estimator sees: what the models say, and the features if it sees them.

        The models predict their own training samples too well; for those there is
        :meth:`fit_transform_out_of_fold`.

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
        columns = self._unseen(self.level_one_, sample_weight, lambda: self.answers(X))
        if not self.passthrough:
            return columns
        return beside(self._rows(X), columns, self._column_names(), first=True)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : array of str, optional
            Names of the features, where ``X`` had none.

        Returns
        -------
        ndarray of str
            Those of ``answer_names_``; with ``passthrough`` those of the features after them.
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
        """What the final estimator decides.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes or predictions.
        """
        check_is_fitted(self, "final_estimator_")
        return np.asarray(self.final_estimator_.predict(self._seen_by_final(X)))
