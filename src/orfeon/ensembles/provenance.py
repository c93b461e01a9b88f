"""What an ensemble knows of its earlier fits: its training set, its members, where they came from.

Neither the samples nor the drawn ones are kept. A digest tells whether samples are those of the
fit, and each member's own generator draws its bootstrap sample again.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from orfeon.ensembles.ensemble import Ensemble
from orfeon.members.members import EstimatorMembers
from orfeon.utils import saved
from orfeon.utils.user_warning import warn_user

#: What members were drawn by that were chosen from among others: nothing that can be drawn again.
CHOSEN = "chosen from among others"


@saved.attributes(
    sequence=saved.seed_sequence, history=saved.history, members=saved.tuple_of(saved.integer(0))
)
class Origin(NamedTuple):
    """Where the members come from that were chosen from a larger ensemble."""

    sequence: np.random.SeedSequence
    history: list[tuple[range, str]]
    members: tuple[int, ...]


def origin_of(ensemble: Any) -> Origin:
    """Where the members of a fitted ensemble come from: a larger one, or its own fit."""
    known: Origin | None = getattr(ensemble, "_origin", None)
    if known is not None:
        return known
    return Origin(ensemble._sequence, ensemble._history, tuple(range(len(ensemble.members_))))


def was_trained_on(ensemble: Any, X: Any, y: Any, sample_weight: Any = None) -> bool:
    """Whether an ensemble of orfeon was fitted to these very samples."""
    if not isinstance(ensemble, Ensemble) or not getattr(ensemble, "_history", None):
        return False
    try:
        samples = copy(ensemble)._read_all(X, y, sample_weight)
    except (TypeError, ValueError):  # another table: it cannot be the training set
        return False
    key_of = getattr(ensemble, "_drawing_key", lambda given: given.digest)
    history = origin_of(ensemble).history
    return any(key.split(",")[0] == key_of(samples) for _, key in history)


class WarmStart:
    """What a warm start goes on from."""

    def __init__(self, members: Any, state: dict[str, Any]) -> None:
        self.members = members
        self.history: list[tuple[range, str]] = []
        if members is not None:
            self.history = state.get("_history", [])
        self._state = state

    @classmethod
    def of(cls, ensemble: Ensemble) -> WarmStart:
        """Take note of a fitted ensemble before it is fitted again."""
        warm = getattr(ensemble, "warm_start", False) and hasattr(ensemble, "members_")
        return cls(ensemble.members_ if warm else None, dict(ensemble.__dict__))

    def check(self, ensemble: Ensemble, n_members: int) -> int:
        """How many members are kept; refuses fewer members than there are, and other data."""
        if self.members is None:
            return 0
        refusal, size = None, ensemble._size_parameter
        if n_members < len(self.members):
            refusal = (
                f"{size}={n_members} is less than the {len(self.members)} members there are; "
                "warm_start=True only adds some. Use warm_start=False to begin anew."
            )
        elif not self._fits(ensemble):
            refusal = (
                "warm_start=True goes on with the features, the classes and the kind of members "
                "of the fit before, and these are others; use warm_start=False to begin anew."
            )
        elif ensemble._is_sequential and any(key == CHOSEN for _, key in self.history):
            refusal = (
                "the members there are were chosen from among others, and this method trains each "
                "on what those before it got wrong; use warm_start=False to begin anew."
            )
        if refusal is not None:
            raise ValueError(refusal)
        if n_members == len(self.members):
            warn_that_none_is_added(size, n_members)
        return len(self.members)

    def _fits(self, ensemble: Ensemble) -> bool:
        """Whether members, features and classes are still of the same kind."""
        classes = (getattr(ensemble, "classes_", ()), self._state.get("classes_", ()))
        names = ("schema_", "n_features_in_")
        same = all(getattr(ensemble, name, None) == self._state.get(name) for name in names)
        first = getattr(self.members, "rounds", [self.members])[0]  # of several in each round
        of_trees = not isinstance(first, EstimatorMembers)
        return same and of_trees == ensemble._has_trees and np.array_equal(*classes)


def warn_that_none_is_added(size: str, n_members: int) -> None:
    """Warn of a warm start that has nothing to train."""
    warn_user(
        f"warm_start=True and {size}={n_members}, as many as there are: no member is trained."
    )
