"""A classifier trained step by step on changing parts of the training set."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

from orfeon.utils.scikit_learn import HasMethods
from orfeon.utils.seeding import seed_sequence
from orfeon.utils.types import Floats, Integers

#: Allowed values of ``estimator``.
TRAINEES: list[Any] = [HasMethods(["fit", "partial_fit", "predict_proba"]), None]


class Trainee:
    """Trains a classifier on standardised features, and measures its errors on all samples."""

    def __init__(self, estimator: Any, X: Any, y: npt.NDArray[Any], random_state: Any) -> None:
        # Sums depend on the layout in memory in their last bits, and training amplifies these.
        values = np.ascontiguousarray(X.toarray() if issparse(X) else X)
        self.inputs = StandardScaler().fit_transform(values)
        self.classes, self.codes = np.unique(y, return_inverse=True)
        self._targets = np.eye(len(self.classes))[self.codes]
        default = MLPClassifier((10,), learning_rate_init=0.01)
        self.model = default if estimator is None else clone(estimator)
        if "random_state" in self.model.get_params() and (
            estimator is None or random_state is not None
        ):
            word = seed_sequence(random_state).generate_state(1)[0]
            self.model.set_params(random_state=int(word))

    def train(self, rows: Integers, n_epochs: int) -> None:
        inputs, labels = self.inputs[rows], self.classes[self.codes[rows]]
        for _ in range(n_epochs):
            self.model.partial_fit(inputs, labels, classes=self.classes)

    def errors(self) -> tuple[Floats, float]:
        """Largest error of each sample's class probabilities, and the accuracy."""
        shares = self.model.predict_proba(self.inputs)
        right = shares.argmax(axis=1) == self.codes
        return np.abs(shares - self._targets).max(axis=1), float(right.mean())

    def has_all_classes(self, rows: Integers) -> bool:
        return len(np.unique(self.codes[rows])) == len(self.classes)
