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
    """An estimator that is fitted to folds of the training part, and predicts the rest of it.

    Parameters
    ----------
    estimator : estimator
        The model.
    n_folds : int, default=5
        Number of folds, taken in the order of the rows.
    stratified : bool, default=False
        Whether each class has its share of every fold.

    Attributes
    ----------
    folds_ : list of (ndarray, ndarray)
        Predictions and targets of each fold.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from orfeon.workbench.reproduction.tuning import CrossValidated
    >>> scored = CrossValidated(DummyRegressor(), n_folds=2).fit([[0]] * 4, [1, 3, 5, 9])
    >>> [(predictions.tolist(), y.tolist()) for predictions, y in scored.folds_]
    [([7.0, 7.0], [1, 3]), ([2.0, 2.0], [5, 9])]
    """

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
