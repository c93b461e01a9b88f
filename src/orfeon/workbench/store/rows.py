"""What a store holds: runs, and what is known of a study."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RunRow:
    """One finished run.

    Parameters
    ----------
    key : str
        What the run is, unique in its study; any length.
    configuration : dict
        Everything that the result depends on, as JSON can hold it. Numbers must be finite.
    seed : int
        The seed it was run with, of at most 64 bits.
    result : dict
        What came out, as JSON can hold it. NaN and infinities are stored as null, and are
        None when they are read.
    seconds : float
        How long it took.
    timings : dict of str to float, optional
        How long its parts took.
    finished : str, optional
        When it ended (ISO 8601, UTC). The store fills it in.
    host : str, optional
        Name of the machine. The store fills it in.
    versions : dict of str to str, optional
        Versions of Python and of the packages it was run with. The store fills them in.

    Examples
    --------
    >>> from orfeon.workbench.store import RunRow
    >>> RunRow("iris/bagging/0", {"n_estimators": 10}, 7, {"error": 0.05}, 0.12).result["error"]
    0.05
    """

    key: str
    configuration: dict[str, Any]
    seed: int
    result: dict[str, Any]
    seconds: float
    timings: dict[str, float | None] = field(default_factory=dict)
    finished: str = ""
    host: str = ""
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyInfo:
    """A study of a store, at a glance.

    Parameters
    ----------
    name : str
        Name of the study.
    configuration : dict
        What it was begun with.
    begun : str
        When it was begun (ISO 8601, UTC).
    n_runs : int
        Number of finished runs.
    last_finished : str or None
        When the last run ended; None if there is none.
    seconds : float
        The time of all runs together.

    Examples
    --------
    >>> from orfeon.workbench.store import Store
    >>> with Store(":memory:") as store:
    ...     study = store.open_study("iris", {"folds": 10})
    ...     [(info.name, info.n_runs) for info in store.studies()]
    [('iris', 0)]
    """

    name: str
    configuration: dict[str, Any]
    begun: str
    n_runs: int
    last_finished: str | None
    seconds: float
