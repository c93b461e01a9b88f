"""The mean of what models say: a final estimator that learns nothing.

It stands in where there are too few samples to learn from, because no model was asked about a
class that it knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.utils import saved
from orfeon.utils.scikit_learn import _safe_indexing
from orfeon.utils.types import Floats


@saved.attributes(n_models=saved.integer(1), classes_=saved.one_of(saved.none, saved.labels))
@dataclass(frozen=True, eq=False)
class MeanAnswers:
    """The mean of class probabilities, or of predictions."""

    n_models: int
    classes_: npt.NDArray[Any] | None

    def _means(self, table: Any) -> Floats:
        """Means by class; features that come after the answers are left out."""
        n_classes = 1 if self.classes_ is None else len(self.classes_)
        width = 1 if n_classes == 2 else n_classes
        columns = np.arange(self.n_models * width)
        answers = np.asarray(_safe_indexing(table, columns, axis=1), dtype=np.float64)
        means = answers.reshape(len(answers), self.n_models, width).mean(axis=1)
        return np.column_stack([1.0 - means, means]) if n_classes == 2 else means

    def predict(self, table: Any) -> npt.NDArray[Any]:
        """The most probable class, the first of those that are equally so; or the mean."""
        means = self._means(table)
        if self.classes_ is None:
            return np.asarray(means[:, 0])
        return np.asarray(self.classes_[means.argmax(axis=1)])

    def predict_proba(self, table: Any) -> Floats:
        """Mean class probabilities."""
        return self._means(table)
