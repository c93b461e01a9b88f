"""Pipelines that end in an ensemble: the members are those of the last step."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from orfeon.adapters.base import FittedEnsemble, Floats, Integers, Mask


@dataclass(frozen=True, eq=False)
class EnsembleInPipeline(FittedEnsemble):
    """A fitted pipeline whose last step is an ensemble.

    Parameters
    ----------
    ensemble : sklearn.pipeline.Pipeline
        The pipeline.
    last : FittedEnsemble
        Its last step.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from orfeon import BaggingClassifier
    >>> from orfeon.adapters import adapt
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> pipeline = make_pipeline(StandardScaler(), BaggingClassifier(random_state=0)).fit(X, y)
    >>> adapt(pipeline).subset([4, 2])[-1]
    BaggingClassifier(n_estimators=2, random_state=0)
    """

    last: FittedEnsemble

    @property
    def n_members(self) -> int:
        """Number of members."""
        return self.last.n_members

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """The classes, sorted; None in regression."""
        return self.last.classes

    @property
    def member_weights(self) -> Floats | None:
        """Weight of each member in the decision of the whole; None when all weigh the same."""
        return self.last.member_weights

    def answers(self, X: Any) -> npt.NDArray[Any]:
        """What each member says of rows that went through the steps before.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows, as the pipeline takes them.

        Returns
        -------
        ndarray of shape (n_members, n_rows)
            Class codes, or predictions.
        """
        return self.last.answers(self._transform(X))

    def _supports(self, X: Any) -> Floats:
        return self.last._supports(self._transform(X))

    def _transform(self, X: Any) -> Any:
        return self.ensemble[:-1].transform(X) if len(self.ensemble.steps) > 1 else X

    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        return self.last._seen(self._transform(X), y, sample_weight)

    def _keep(self, index: Integers) -> Any:
        smaller = copy(self.ensemble)
        name = self.ensemble.steps[-1][0]
        smaller.steps = [*self.ensemble.steps[:-1], (name, self.last._keep(index))]
        return smaller

    @property
    def _name(self) -> str:
        return self.last._name
