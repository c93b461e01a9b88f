"""Models of a study: settings chosen by grid search, and scores on folds of the training part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold


def searched(
    estimator: Any, grid: Mapping[str, Sequence[Any]], n_folds: int, scoring: str | None
) -> Any:
    """The estimator with the settings of a grid that score best; folds are stratified."""
    return GridSearchCV(estimator, dict(grid), cv=n_folds, scoring=scoring)


class CrossValidated(BaseEstimator):  # type: ignore[misc]
    """An estimator that is fitted to folds of the training part, and predicts the rest of it."""

    folds_: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]  # predictions and targets

    def __init__(self, estimator: Any, n_folds: int = 5, *, stratified: bool = False) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.stratified = stratified

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> CrossValidated:
        """Fit on all folds but one, and predict that one."""
        X, y = np.asarray(X), np.asarray(y)
        folds = (StratifiedKFold if self.stratified else KFold)(self.n_folds)
        self.folds_ = [
            (clone(self.estimator).fit(X[train], y[train]).predict(X[test]), y[test])
            for train, test in folds.split(X, y)
        ]
        return self
