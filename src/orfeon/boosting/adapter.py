"""Our own boosted ensembles as members to choose from."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

from orfeon.ensembles.ensemble import CHOSEN, OwnEnsemble
from orfeon.members.adapter import unless_equal
from orfeon.utils.types import Floats, Integers, Mask


@dataclass(frozen=True, eq=False)
class OwnBoostedEnsemble(OwnEnsemble):
    """A fitted boosted ensemble of ours, whose members have unequal votes."""

    @property
    def member_weights(self) -> Floats | None:
        """Weight of each member in the vote; None when all weigh the same."""
        return unless_equal(self.ensemble._vote_weights())

    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        raise self._no_out_of_bag("each of its members was trained on all the samples, weighted")

    def _keep(self, index: Integers) -> Any:
        smaller = copy(self.ensemble)
        smaller._keep_members(index)
        smaller._keep_decider(index)
        smaller.n_estimators = len(index)
        smaller.warm_start = False
        # The weights of the samples are those after all members: nothing goes on from here.
        smaller._run = None
        smaller._history = [(range(len(index)), CHOSEN)]
        smaller.__dict__.pop("validation_errors_", None)
        return smaller
