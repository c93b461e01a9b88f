"""Scores of an ensemble as it grows: of the first member, of the first two, and so on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils import check_consistent_length, column_or_1d


class StagedClassifierMixin:
    """A classifier that can say what its first members decide."""

    if TYPE_CHECKING:

        def staged_predict(self, X: Any) -> Iterator[Any]:
            """Answers of the first members."""

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Accuracy of the first member or round, of the first two, and so on.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        y : array of shape (n_rows,)
            Their classes.
        sample_weight : array of shape (n_rows,), optional
            Their weights.

        Yields
        ------
        float
            Accuracy.
        """
        # scikit-learn's score would look at all labels again at each stage.
        classes = column_or_1d(y)
        check_consistent_length(X, classes, sample_weight)
        for decided in self.staged_predict(X):
            yield float(np.average(decided == classes, weights=sample_weight))


class StagedRegressorMixin:
    """A regressor that can say what its first members predict."""

    if TYPE_CHECKING:

        def staged_predict(self, X: Any) -> Iterator[Any]:
            """Answers of the first members."""

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R² of the first member or round, of the first two, and so on.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        y : array of shape (n_rows,)
            Their targets.
        sample_weight : array of shape (n_rows,), optional
            Their weights.

        Yields
        ------
        float
            Coefficient of determination.
        """
        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))
