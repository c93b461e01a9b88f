"""Save a model from time to time while it is fitted."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orfeon.io.model_file import save


class Snapshot:
    """Saves a gradient boosting model while it is fitted, so that a killed run is not lost.

    Pass it to ``fit`` as ``callback``. The file has the rounds so far; fitted further with
    ``warm_start=True``, the loaded model becomes the same, bit for bit, as after a run that was not
    interrupted.

    Parameters
    ----------
    path : str or path-like
        Model file, which each snapshot replaces; it is always complete.
    seconds : float, default=60.0
        Minimum time between two snapshots.
    clock : callable, default=time.monotonic
        Gives the time in seconds.

    Attributes
    ----------
    n_rounds : int
        Rounds of the last snapshot; 0 before the first.

    Examples
    --------
    >>> import tempfile, os, orfeon
    >>> from orfeon import GradientBoostingRegressor, Snapshot
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.orfeon")
    >>> snapshot = Snapshot(path, seconds=0)
    >>> def in_ten_rounds(so_far):  # as if the run were killed after them
    ...     if so_far.n_rounds <= 10:
    ...         snapshot(so_far)
    >>> model = GradientBoostingRegressor(random_state=0)
    >>> whole = model.fit(X, y, callback=in_ten_rounds)
    >>> again = orfeon.load(path).set_params(warm_start=True)
    >>> bool((again.fit(X, y).predict(X) == whole.predict(X)).all())
    True
    """

    def __init__(
        self,
        path: Any,
        *,
        seconds: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not seconds >= 0:
            raise ValueError(f"seconds={seconds} is not allowed: it must be 0 or more.")
        self.path = Path(path)
        self.seconds = seconds
        self.n_rounds = 0
        self._clock = clock
        self._last = clock()

    def __call__(self, so_far: Any) -> None:
        """Save the model, if it is time."""
        if self._clock() - self._last < self.seconds:
            return
        save(so_far.model(), self.path)
        self.n_rounds = so_far.n_rounds
        self._last = self._clock()
