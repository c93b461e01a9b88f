"""The ensemble inside a pruned or a frozen one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.frozen import FrozenEstimator


def unpruned(ensemble: Any) -> Any:
    """The kept members of a pruned ensemble, as an ensemble.

    Parameters
    ----------
    ensemble : object
        Anything.

    Returns
    -------
    object
        The ensemble inside a :class:`orfeon.PrunedClassifier`, a :class:`orfeon.PrunedRegressor` or
        a :class:`sklearn.frozen.FrozenEstimator`; anything else is returned unchanged.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, PrunedClassifier
    >>> from orfeon.members import unpruned
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> pruned = PrunedClassifier(BaggingClassifier(n_estimators=10), keep=3, random_state=0)
    >>> len(unpruned(pruned.fit(X, y)))
    3
    """
    if isinstance(ensemble, FrozenEstimator):
        return unpruned(ensemble.estimator)
    kept: Callable[[Any], Any] | None = getattr(type(ensemble), "_kept_ensemble", None)
    return ensemble if kept is None else kept(ensemble)
