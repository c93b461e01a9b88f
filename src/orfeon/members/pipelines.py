"""Pipelines that end in an ensemble: the members are those of the last step."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy.typing as npt

from orfeon.members.adapter import FittedEnsemble
from orfeon.utils.types import Floats, Integers, Mask


@dataclass(frozen=True, eq=False)
class EnsembleInPipeline(FittedEnsemble):
    """A fitted pipeline whose last step is an ensemble."""

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

    @property
    def averages_supports(self) -> bool:
        """Whether classifiers decide by the mean of their supports, and not by their votes."""
        return self.last.averages_supports

    def answers(self, X: Any) -> npt.NDArray[Any]:
        """What each member says of rows that went through the steps before."""
        return self.last.answers(self.transform(X))

    def _supports(self, X: Any) -> Floats:
        return self.last._supports(self.transform(X))

    def transform(self, X: Any) -> Any:
        """Rows as the steps before hand them to the ensemble."""
        return self.ensemble[:-1].transform(X) if len(self.ensemble.steps) > 1 else X

    def part(self, first: int, last: int) -> Self:
        """Members that follow each other, to be asked alone: the classes stay those of all."""
        return replace(super().part(first, last), last=self.last.part(first, last))

    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        return self.last._seen(self.transform(X), y, sample_weight)

    @property
    def _can_verify(self) -> bool:
        return self.last._can_verify

    def _check_indices(self, indices: Any) -> Integers:
        return self.last._check_indices(indices)

    def _keep(self, index: Integers) -> Any:
        smaller = copy(self.ensemble)
        name = self.ensemble.steps[-1][0]
        smaller.steps = [*self.ensemble.steps[:-1], (name, self.last._keep(index))]
        return smaller

    @property
    def _name(self) -> str:
        return self.last._name
