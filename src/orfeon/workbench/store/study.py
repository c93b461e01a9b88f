"""One study of a store: its runs, its notes, and what is recorded with a run."""

from __future__ import annotations

import datetime
import functools
import importlib.metadata
import json
import math
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from orfeon.workbench.store.canonical import canonical, checksum, is_whole
from orfeon.workbench.store.database import (
    Database,
    StoreError,
    insert_once,
    notes,
    runs,
    transaction,
)


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
        The result, as JSON can hold it. NaN and infinities are stored as null, and are
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


#: Names of notes are shown in reports and indexed by the database.
MAX_NAME = 255


class StoredStudy:
    """One study of a store; :meth:`Store.open_study` gives it.

    Parameters
    ----------
    database : Database
        Where it is.
    number : int
        Its number in the table of studies.
    name : str
        Its name.
    configuration : dict
        What it was begun with.

    Examples
    --------
    >>> from orfeon.workbench.store import RunRow, Store
    >>> with Store(":memory:") as store:
    ...     study = store.open_study("iris", {"folds": 10})
    ...     row = RunRow("bagging/0", {"n_estimators": 10}, 7, {"error": 0.05}, 0.12)
    ...     study.put(row), study.put(row), "bagging/0" in study, study.note("rounds", 3)
    (True, False, True, 3)
    """

    def __init__(
        self, database: Database, number: int, name: str, configuration: dict[str, Any]
    ) -> None:
        self._database = database
        self._number = number
        self.name = name
        self.configuration = configuration
        self._insert_run = insert_once(runs, database.dialect)
        self._insert_note = insert_once(notes, database.dialect)

    def __repr__(self) -> str:
        return f"<StoredStudy {self.name!r} of {self._database.place}>"

    def __contains__(self, key: str) -> bool:
        query = select(runs.c.id).where(
            runs.c.study_id == self._number, runs.c.key_checksum == checksum(_checked_key(key))
        )
        return self._database.run(lambda connection: connection.execute(query).first() is not None)

    def keys(self) -> set[str]:
        """The keys of all finished runs.

        Returns
        -------
        set of str
        """
        query = select(runs.c.key, runs.c.key_checksum).where(runs.c.study_id == self._number)
        found = self._database.run(lambda connection: connection.execute(query).all())
        for key, expected in found:
            if not is_whole(expected, key):
                raise self._damaged(f"the key of a run ({_shown(key)})")
        return {key for key, _ in found}

    def rows(self) -> list[RunRow]:
        """All finished runs, ordered by key.

        Returns
        -------
        list of RunRow
        """
        query = select(runs).where(runs.c.study_id == self._number)
        found = self._database.run(lambda connection: connection.execute(query).mappings().all())
        # Sorted here: each database orders text in its own way.
        return sorted((self._row(columns) for columns in found), key=lambda row: row.key)

    def put(self, row: RunRow) -> bool:
        """Store a finished run; when this returns, the run is safe.

        Parameters
        ----------
        row : RunRow
            The run. Missing time, host and versions are filled in.

        Returns
        -------
        bool
            False if the store already has a run with this key, which is kept.
        """
        columns = self._columns(row)
        return self._database.run(lambda connection: self._put(connection, columns), writes=True)

    def put_many(self, rows: Iterable[RunRow]) -> int:
        """Store finished runs, all or none.

        Parameters
        ----------
        rows : iterable of RunRow
            The runs.

        Returns
        -------
        int
            How many were new; runs already in the store are kept.
        """
        # In a fixed order, so that two writers cannot deadlock.
        many = sorted(
            (self._columns(row) for row in rows), key=lambda columns: columns["key_checksum"]
        )

        def put_all(connection: Connection) -> int:
            with transaction(connection):
                return sum(self._put(connection, columns) for columns in many)

        return self._database.run(put_all, writes=True)

    def note(self, name: str, value: Any) -> Any:
        """Set a fact of the study, once.

        Parameters
        ----------
        name : str
            Name of the fact, of at most 255 characters.
        value : object
            As JSON can hold it; NaN and infinities become None.

        Returns
        -------
        object
            The value that is kept: the first one that was set.
        """
        check_name(name, "name of a note")
        text = canonical(value, f"note {name}", allow_non_finite=True)
        columns = {
            "study_id": self._number,
            "name": name,
            "value": text,
            "checksum": checksum(name, text),
        }
        self._database.run(
            lambda connection: connection.execute(self._insert_note, columns), writes=True
        )
        return self.notes[name]

    @property
    def notes(self) -> dict[str, Any]:
        """The facts of the study, by name."""
        query = select(notes.c.name, notes.c.value, notes.c.checksum).where(
            notes.c.study_id == self._number
        )
        found = self._database.run(lambda connection: connection.execute(query).all())
        for name, value, expected in found:
            if not is_whole(expected, name, value):
                raise self._damaged(f"the note {_shown(name)}")
        return {name: json.loads(value) for name, value, _ in sorted(tuple(row) for row in found)}

    def _put(self, connection: Connection, columns: dict[str, Any]) -> bool:
        return bool(connection.execute(self._insert_run, columns).rowcount == 1)

    def _columns(self, row: RunRow) -> dict[str, Any]:
        key = _checked_key(row.key)
        columns = {
            "key": key,
            "seed": _checked_seed(row.seed, key),
            "seconds": _checked_seconds(row.seconds, key),
            "finished": _checked_text(row.finished or now(), "time", key),
            "host": _checked_text(row.host or host(), "host", key),
            "configuration": canonical(row.configuration, "configuration"),
            "timings": canonical(row.timings, "timings", allow_non_finite=True),
            "versions": canonical(row.versions or versions(), "versions"),
            "result": canonical(row.result, "result", allow_non_finite=True),
        }
        columns["checksum"] = checksum(*_texts(columns))
        columns["study_id"] = self._number
        columns["key_checksum"] = checksum(key)
        return columns

    def _row(self, columns: Any) -> RunRow:
        key = columns["key"]
        if not is_whole(columns["checksum"], *_texts(columns)):
            raise self._damaged(f"the run {_shown(key)}")
        return RunRow(
            key=key,
            configuration=json.loads(columns["configuration"]),
            seed=columns["seed"],
            result=json.loads(columns["result"]),
            seconds=columns["seconds"],
            timings=json.loads(columns["timings"]),
            finished=columns["finished"],
            host=columns["host"],
            versions=json.loads(columns["versions"]),
        )

    def _damaged(self, what: str) -> StoreError:
        return StoreError(
            f"The store {self._database.place}: {what} of the study {self.name!r} is damaged. "
            "Nothing was changed: restore the store from a backup, or choose another one."
        )


def check_name(name: object, what: str) -> None:
    """Refuse a name that a database cannot hold or index."""
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME or not _is_storable(name):
        raise StoreError(
            f"The {what} must be text of 1 to {MAX_NAME} characters; got {_shown(name)}."
        )


def _checked_key(key: object) -> str:
    if not isinstance(key, str) or not key or not _is_storable(key):
        raise StoreError(f"The key of a run must be text, and not empty; got {_shown(key)}.")
    return key


def _checked_text(text: object, what: str, key: str) -> str:
    if not isinstance(text, str) or not _is_storable(text):
        raise StoreError(f"The {what} of the run {_shown(key)} must be text; got {_shown(text)}.")
    return text


def _is_storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _shown(value: object) -> str:
    return repr(value)[:80]


def _checked_seed(seed: object, key: str) -> int:
    try:
        number = int(seed.__index__())  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        number = 2**63
    if not -(2**63) <= number < 2**63:
        raise StoreError(
            f"The seed of the run {_shown(key)} must be an integer of at most 64 bits, with its "
            f"sign; got {_shown(seed)}."
        )
    return number


def _checked_seconds(seconds: object, key: str) -> float:
    number = float(seconds) if isinstance(seconds, int | float) else math.nan
    if not math.isfinite(number):
        raise StoreError(
            f"The seconds of the run {_shown(key)} must be a finite number; got {_shown(seconds)}."
        )
    return number + 0.0  # SQLite has no negative zero


def _texts(columns: Any) -> list[str]:
    """What the checksum of a run guards."""
    numbers = [repr(columns["seed"]), repr(columns["seconds"])]
    names = ("key", "finished", "host", "configuration", "timings", "versions", "result")
    return [*numbers, *(columns[name] for name in names)]


#: The packages that figures can depend on.
_PACKAGES = ("orfeon", "numpy", "scipy", "scikit-learn", "numba")


def now() -> str:
    """The time, in UTC, as ISO 8601 writes it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


@functools.cache
def host() -> str:
    """The name of this machine."""
    return platform.node() or "unknown"


@functools.cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that figures can depend on."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:  # run from a checkout
            found[name] = "unknown"
    return found
