"""Classifiers whose answers to samples that they have not seen are judged.

Arbiters (:mod:`orfeon.combining.arbiter`) and cascades of increasing cost
(:mod:`orfeon.combining.cost_cascade`) train classifiers, and learn from their out-of-fold answers
when each of them is right.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.base import TabularClassifierMixin
from orfeon.combining.composition import Composition, Given, Named
from orfeon.combining.out_of_fold import Split
from orfeon.combining.training_units import Units
from orfeon.utils.types import Floats


class CalibratedClassifiers(TabularClassifierMixin, Composition):
    """Several classifiers, trained on all samples, and judged by out-of-fold answers.

    What a classifier decides is the class that it finds most probable, the first of those that it
    finds equally so; one without ``predict_proba`` is sure of what it decides.
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
        self._judge(answers, units, splits, after)

    def _with_known_classes(self, units: Units, fitted: Named) -> Units:
        """Refuse classifiers that may decide for a class about which they cannot be judged."""
        for name, estimator in fitted:
            known = np.asarray(estimator.classes_).tolist()
            if not set(known) <= set(self.classes_.tolist()):
                raise ValueError(
                    f"{name} was fitted to the classes {known}, and y has {self.classes_.tolist()} "
                    "only; give samples of all classes, or another classifier."
                )
        return units

    @abstractmethod
    def _judge(
        self,
        answers: Floats,
        units: Units,
        splits: Sequence[Split],
        after: Callable[[], object],
    ) -> None:
        """Learn from out-of-fold answers, of shape (n_members, n_units, n_classes)."""

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities."""

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class, the first of those that are equally so.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])
