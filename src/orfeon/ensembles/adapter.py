"""Our own ensembles as members to choose from."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from orfeon.data.training_set import copies, seen_with_copies
from orfeon.ensembles.ensemble import CHOSEN, origin_of
from orfeon.ensembles.out_of_bag import LeavingOut
from orfeon.ensembles.partitioned import PartitionedClassifier, PartitionedRegressor
from orfeon.members.adapter import Members
from orfeon.utils.seeding import Purpose, branch
from orfeon.utils.types import Floats, Integers, Mask


@dataclass(frozen=True, eq=False)
class OwnEnsemble(Members):
    """A fitted ensemble of ours."""

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.ensemble.members_)

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """The classes, sorted; None in regression."""
        return self.ensemble.classes_ if is_classifier(self.ensemble) else None

    @property
    def averages_supports(self) -> bool:
        """Whether classifiers decide by the mean of their supports, and not by their votes."""
        return getattr(self.ensemble, "_simple_rule", "") == "soft"

    def answers(self, X: Any) -> npt.NDArray[Any]:
        """What each member says."""
        query = self.ensemble.predictions if self.classes is None else self.ensemble.votes
        return np.asarray(query(X))

    def _supports(self, X: Any) -> Floats:
        rows = self.ensemble._rows(X)
        return np.asarray(self.ensemble._query(self.ensemble.members_.supports, rows, 1))

    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        if not isinstance(self.ensemble, LeavingOut):
            raise self._no_out_of_bag("each of its members saw all the samples")
        seen = self.ensemble.in_bag(X, y, sample_weight) > 0
        rows = self.ensemble._rows(X)
        group = copies(rows, np.unique(np.ravel(y), return_inverse=True)[1])
        return seen_with_copies(seen, group)

    def _keep(self, index: Integers) -> Any:
        smaller = copy(self.ensemble)
        smaller.members_ = self.ensemble.members_.subset(index)
        smaller._keep_decider(index)
        if isinstance(smaller, LeavingOut):
            smaller._forget_estimates()
        # Parameters of partitioned ensembles say how data are parted, not how many members are kept
        if not isinstance(smaller, PartitionedClassifier | PartitionedRegressor):
            setattr(smaller, smaller._size_parameter, len(index))
            smaller.warm_start = False
        # A member's place no longer says what it was drawn from: it is not drawn again, and
        # members that are added later have generators of their own.
        before = origin_of(self.ensemble)
        smaller._origin = before._replace(members=tuple(before.members[t] for t in index))
        smaller._history = [(range(len(index)), CHOSEN)]
        smaller._sequence = branch(self.ensemble._sequence, Purpose.MEMBERS_AFTER_A_SUBSET)
        return smaller
