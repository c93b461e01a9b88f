"""What a fitted ensemble knows of its training set: whether examples are that, and who drew what.

Neither examples nor samples are kept. A digest tells whether examples are those of the fit, and
each member's own generator draws its sample again.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from orfeon.ensembles.ensemble import Ensemble


class Origin(NamedTuple):
    """Where the members come from that were chosen from a larger ensemble.

    Parameters
    ----------
    sequence : numpy.random.SeedSequence
        The root of that ensemble's randomness.
    history : list of (range, str)
        Which of its members were drawn how.
    members : tuple of int
        The places of the chosen ones there.
    """

    sequence: np.random.SeedSequence
    history: list[tuple[range, str]]
    members: tuple[int, ...]


def origin_of(ensemble: Any) -> Origin:
    """Where the members of a fitted ensemble come from: a larger one, or its own fit.

    Parameters
    ----------
    ensemble : Ensemble
        Fitted.

    Returns
    -------
    Origin
        The place of each member when it was drawn.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, prune
    >>> from orfeon.ensembles.training_set import origin_of
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> bag = BaggingClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> few = prune(bag, X, y, keep=[8, 3, 5])
    >>> origin_of(few).members, origin_of(prune(few, X, y, keep=[2])).members
    ((8, 3, 5), (5,))
    """
    known: Origin | None = getattr(ensemble, "_origin", None)
    if known is not None:
        return known
    return Origin(ensemble._sequence, ensemble._history, tuple(range(len(ensemble.members_))))


def was_trained_on(ensemble: Any, X: Any, y: Any, sample_weight: Any = None) -> bool:
    """Whether an ensemble of orfeon was fitted to these very examples.

    Parameters
    ----------
    ensemble : object
        Fitted; others than ensembles of orfeon do not know.
    X, y, sample_weight
        The examples, in any order.

    Returns
    -------
    bool
        False also where it is not known.

    Examples
    --------
    >>> from orfeon import BaggingClassifier
    >>> from orfeon.ensembles.training_set import was_trained_on
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> bag = BaggingClassifier(random_state=0).fit(X, y)
    >>> was_trained_on(bag, X, y), was_trained_on(bag, X, [1, 1, 0, 0])
    (True, False)
    """
    if not isinstance(ensemble, Ensemble) or not getattr(ensemble, "_history", None):
        return False
    try:
        _, examples = copy(ensemble)._read_all(X, y, sample_weight)
    except (TypeError, ValueError):  # another table: it cannot be the training set
        return False
    key_of = getattr(ensemble, "_drawing_key", lambda given: given.digest)
    history = origin_of(ensemble).history
    return any(key.split(",")[0] == key_of(examples) for _, key in history)
