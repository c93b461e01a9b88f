"""Classifiers whose answers to examples that they have not seen are judged.

Arbiters (:mod:`orfeon.combining.arbiter`) and cascades of increasing cost
(:mod:`orfeon.combining.cost_cascade`) train classifiers, and learn from their out-of-fold answers
when each of them is right.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted

from orfeon.combining.composition import Composition, Named, Units, is_frozen, read_splits
from orfeon.combining.level_one import check_unseen
from orfeon.progress import report_progress
from orfeon.restoring import restored_on_failure
from orfeon.tabular import TabularClassifierMixin

Floats = npt.NDArray[np.float64]


class JudgedClassifiers(TabularClassifierMixin, Composition):
    """Several classifiers, trained on all examples, and judged by out-of-fold answers.

    What a classifier decides is the class that it finds most probable, the first of those that it
    finds equally so; one without ``predict_proba`` is sure of what it decides.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Composition._parameter_constraints,
        "cv": ["cv_object"],
    }

    cv: Any

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the classifiers, and judge them by examples that they have not seen.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            The examples; missing values and categories are welcome as far as the classifiers take
            them.
        y : array of shape (n_rows,)
            Classes.
        sample_weight : array of shape (n_rows,), optional
            Weights: 0 is the same as leaving the example out, 2 as giving it twice.

        Returns
        -------
        self
            The fitted classifier.
        """
        with restored_on_failure(self):
            members = self._members()
            self._check_settings(members)
            in_order = not isinstance(self.cv, Integral | None)
            units = self._read_units(X, y, sample_weight, sort=not in_order)
            splits = [] if units.is_constant else read_splits(self.cv, units, X)
            for name, estimator in members:
                if is_frozen(estimator):
                    self._check_fitted_member(name, estimator)
                    check_unseen(name, estimator, X, y, sample_weight)
            n_fits = len(members) * (1 + len(splits)) + self._n_more_fits(members)
            with report_progress(
                self, n_fits, self.verbose, X=X, y=y, sample_weight=sample_weight
            ) as progress:
                after = progress.update
                if units.is_constant:  # all are right
                    answers = np.ones((len(members), len(units), 1))
                else:
                    answers = self._out_of_fold(
                        members, units.table, units, splits, "predict_proba", after=after
                    )
                fitted = self._fit_members(members, units.table, units, after=after)
                self._keep_members(members, fitted)
                self._judge(answers, units, after)
        return self

    def _check_fitted_member(self, name: str, estimator: Any) -> None:
        """Refuse a classifier that may decide for a class about which it cannot be judged."""
        check_is_fitted(estimator)
        known = np.asarray(estimator.classes_).tolist()
        if not set(known) <= set(self.classes_.tolist()):
            raise ValueError(
                f"{name} was fitted to the classes {known}, and y has {self.classes_.tolist()} "
                "only; give examples of all classes, or another classifier."
            )

    def _check_settings(self, members: Named) -> None:
        """Refuse settings that scikit-learn's own validation cannot."""

    def _n_more_fits(self, members: Named) -> int:
        """How many models are trained besides the classifiers."""
        return 0

    @abstractmethod
    def _judge(self, answers: Floats, units: Units, after: Callable[[], object]) -> None:
        """Learn from out-of-fold answers, of shape (n_members, n_units, n_classes)."""

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities."""

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class, the first of those that are equally so.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])
