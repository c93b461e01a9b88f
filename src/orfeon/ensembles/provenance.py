"""What a fitted ensemble knows of its training set: whether samples are that, and who drew what.

Neither samples nor samples are kept. A digest tells whether samples are those of the fit, and
each member's own generator draws its sample again.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from orfeon.ensembles.ensemble import Ensemble
from orfeon.utils import saved


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
        _, samples = copy(ensemble)._read_all(X, y, sample_weight)
    except (TypeError, ValueError):  # another table: it cannot be the training set
        return False
    key_of = getattr(ensemble, "_drawing_key", lambda given: given.digest)
    history = origin_of(ensemble).history
    return any(key.split(",")[0] == key_of(samples) for _, key in history)
