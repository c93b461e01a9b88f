"""A model whose settings are chosen by grid search, and its scores on five folds."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ParameterGrid,
    StratifiedKFold,
    cross_val_score,
)

#: Folds of the grid search.
TUNING_FOLDS = 3
#: Folds of the box plot.
SCORE_FOLDS = 5


class Tuned(BaseEstimator):  # type: ignore[misc]
    """An estimator with the settings of a grid that score best in cross-validation.

    Notes
    -----
    Solvers that reach their limit of iterations do so silently: a grid holds settings on purpose
    with which they do.
    """

    def __init__(
        self,
        estimator: Any,
        grid: Mapping[str, Sequence[Any]],
        *,
        n_tuning_rows: int | None = None,
        n_training_rows: int | None = None,
        n_fold_rows: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.n_tuning_rows = n_tuning_rows
        self.n_training_rows = n_training_rows
        self.n_fold_rows = n_fold_rows
        self.random_state = random_state

    def fit(self, X: npt.NDArray[Any], y: npt.NDArray[Any]) -> Tuned:
        """Choose settings, train with them, and score them."""
        rows = np.random.default_rng(self.random_state).permutation(len(y))[: self.n_training_rows]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            tuning = rows[: self.n_tuning_rows]
            model = self._chosen(X[tuning], y[tuning])
            self.best_estimator_ = clone(model).fit(X[rows], y[rows])
            scored = rows[: self.n_fold_rows]
            self.fold_scores_ = cross_val_score(
                model, X[scored], y[scored], cv=self._folds(SCORE_FOLDS)
            )
        return self

    def _chosen(self, X: npt.NDArray[Any], y: npt.NDArray[Any]) -> Any:
        """The estimator with the best settings, not trained."""
        model = clone(self.estimator)
        if self.random_state is not None and "random_state" in model.get_params(deep=False):
            model.set_params(random_state=self.random_state)
        settings = list(ParameterGrid(self.grid))
        self.best_index_ = 0
        if len(settings) > 1:
            folds = self._folds(TUNING_FOLDS)
            search = GridSearchCV(model, dict(self.grid), cv=folds, refit=False).fit(X, y)
            self.best_index_ = int(search.best_index_)
        return model.set_params(**settings[self.best_index_])

    def _folds(self, n_folds: int) -> KFold | StratifiedKFold:
        kind = StratifiedKFold if is_classifier(self.estimator) else KFold
        return kind(n_folds, shuffle=True, random_state=self.random_state)

    def predict(self, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Predict with the chosen model."""
        answers: npt.NDArray[Any] = self.best_estimator_.predict(X)
        return answers
