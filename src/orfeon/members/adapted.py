"""Bare members, such as a forest, to choose from: their classes are codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.forest import Forest
from orfeon.members.adapter import FittedEnsemble
from orfeon.members.members import CommitteeMembers
from orfeon.utils.types import Floats, Integers, Mask


@dataclass(frozen=True, eq=False)
class BareMembers(FittedEnsemble):
    """Members without the ensemble that they come from."""

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.ensemble)

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """The class codes; None in regression."""
        return np.arange(self.ensemble.n_classes) if self.ensemble.n_classes else None

    def answers(self, X: Any) -> npt.NDArray[Any]:
        """What each member says."""
        if self.classes is None:
            return self._supports(X)[:, :, 0]
        return np.asarray(self.ensemble.votes(self._rows(X)))

    def _rows(self, X: Any) -> Any:
        is_trees = isinstance(self.ensemble, Forest | CommitteeMembers)
        return np.ascontiguousarray(X, dtype=np.float64) if is_trees else X

    def _supports(self, X: Any) -> Floats:
        return np.asarray(self.ensemble.supports(self._rows(X)))

    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        raise self._no_out_of_bag("members alone do not know what they were trained on")

    def _keep(self, index: Integers) -> Any:
        return self.ensemble.subset(index)
