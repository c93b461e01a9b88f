"""The store: studies and their runs, in a SQLite file or a PostgreSQL database."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import URL, Connection, create_engine, func, make_url, select
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool

from orfeon.utils.text import clauses
from orfeon.workbench.store.canonical import canonical, checksum, differences, is_whole
from orfeon.workbench.store.database import (
    APPLICATION_ID,
    Database,
    StoreError,
    has_tables,
    insert_once,
    make_tables,
    runs,
    studies,
    transaction,
)
from orfeon.workbench.store.export import write_runs
from orfeon.workbench.store.sqlite_file import open_file, open_memory
from orfeon.workbench.store.study import StoredStudy, StudyInfo, check_name, now


def shown_address(where: str | os.PathLike[str]) -> str:
    """An address without its password.

    Parameters
    ----------
    where : str or path
        A path, or a URL of a database.

    Returns
    -------
    str
        The same, with stars in place of a password.

    Examples
    --------
    >>> from orfeon.workbench.store import shown_address
    >>> shown_address("postgresql://ada:secret@host/results")
    'postgresql://ada:***@host/results'
    >>> shown_address("postgresql://host/results?password=secret")
    'postgresql://host/results?password=%2A%2A%2A'
    >>> shown_address("results.db")
    'results.db'
    """
    text = os.fspath(where)
    if "://" not in text:
        return text
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        return text.split("://")[0] + "://***"  # it cannot be parsed, so it is hidden
    secret = {name: "***" for name in url.query if "password" in name.lower()}
    return url.update_query_dict(secret).render_as_string(hide_password=True)


#: How many differences an error names.
_NAMED = 5


class Store:
    """Studies and their finished runs, in a SQLite file or a PostgreSQL database.

    A run is safe when :meth:`StoredStudy.put` returns: a killed process loses nothing. Any number
    of processes may write to one store, and any number of threads may use one Store.

    Parameters
    ----------
    where : str or path
        A SQLite file, made if needed along with its folder; or an address such as
        ``postgresql://user@host/database``; or ":memory:", to try things out.
    read_only : bool, default=False
        Whether nothing may be written. The store must exist; the file may then be on a medium
        that cannot be written to.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from orfeon.workbench.store import RunRow, Store
    >>> folder = tempfile.TemporaryDirectory()
    >>> where = pathlib.Path(folder.name) / "results.db"
    >>> with Store(where) as store:
    ...     study = store.open_study("iris", {"folds": 10})
    ...     study.put(RunRow("bagging/0", {"n_estimators": 10}, 7, {"error": 0.05}, 0.12))
    True
    >>> with Store(where, read_only=True) as store:
    ...     [row.result["error"] for row in store.study("iris").rows()]
    [0.05]
    >>> folder.cleanup()
    """

    def __init__(self, where: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self._database = _open(where, read_only)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store {self.place}>"

    @property
    def place(self) -> str:
        """Where the store is, without a password."""
        return self._database.place

    def close(self) -> None:
        """Close the store; a second time does nothing."""
        self._database.close()

    def open_study(self, name: str, configuration: Mapping[str, Any]) -> StoredStudy:
        """The study of this name, begun if it does not exist.

        Parameters
        ----------
        name : str
            Name of the study, of at most 255 characters.
        configuration : mapping
            Everything that its results depend on, as JSON can hold it.

        Returns
        -------
        Study

        Raises
        ------
        StoreError
            If it was started with a different configuration; the message lists what differs.
        """
        check_name(name, "name of a study")
        text = canonical(configuration, "configuration")
        study = self._find(name)
        if study is None and not self._database.read_only:
            self._begin(name, text)
        study = study or self.study(name)
        found = list(itertools.islice(differences(study.configuration, json.loads(text)), 100))
        if found:
            raise StoreError(
                f"The store {self.place}: the study {name!r} was started with a different "
                f"configuration ({clauses(found, _NAMED)}). Run it as before, or choose another "
                "store."
            )
        return study

    def study(self, name: str) -> StoredStudy:
        """An existing study.

        Parameters
        ----------
        name : str
            Name of the study.

        Returns
        -------
        Study

        Raises
        ------
        StoreError
            If there is none of this name; the message lists the existing ones.
        """
        study = self._find(name)
        if study is None:
            names = [repr(info.name) for info in self.studies()]
            there = f"it has {', '.join(names[:10])}" if names else "it has none yet"
            raise StoreError(f"The store {self.place}: there is no study {name!r}; {there}.")
        return study

    def studies(self) -> list[StudyInfo]:
        """All studies of the store.

        Returns
        -------
        list of StudyInfo
            Ordered by name.
        """
        query = (
            select(
                studies,
                func.count(runs.c.id).label("n_runs"),
                func.max(runs.c.finished).label("last_finished"),
                func.coalesce(func.sum(runs.c.seconds), 0.0).label("seconds"),
            )
            .outerjoin(runs, runs.c.study_id == studies.c.id)
            .group_by(studies.c.id)
        )
        found = self._database.run(lambda connection: connection.execute(query).mappings().all())
        infos = [
            StudyInfo(
                name=columns["name"],
                configuration=self._configuration(columns),
                begun=columns["begun"],
                n_runs=columns["n_runs"],
                last_finished=columns["last_finished"],
                seconds=columns["seconds"],
            )
            for columns in found
        ]
        return sorted(infos, key=lambda info: info.name)

    def export(self, path: str | os.PathLike[str], study: str | None = None) -> int:
        """Write the runs to a file, a line each; the file appears whole or not at all.

        Parameters
        ----------
        path : str or path
            A .csv or .parquet file. Configuration and result are spread over columns with dotted
            names, such as ``result.error``.
        study : str, optional
            Only the runs of this study.

        Returns
        -------
        int
            Number of runs written.
        """
        names = [info.name for info in self.studies()] if study is None else [study]
        return write_runs(Path(path), [(name, self.study(name).rows()) for name in names])

    def _begin(self, name: str, configuration: str) -> None:
        begun = now()
        columns = {
            "name": name,
            "configuration": configuration,
            "begun": begun,
            "checksum": checksum(name, configuration, begun),
        }
        # Another process may have begun it meanwhile: the first one is kept.
        statement = insert_once(studies, self._database.dialect)
        self._database.run(lambda connection: connection.execute(statement, columns), writes=True)

    def _find(self, name: str) -> StoredStudy | None:
        query = select(studies).where(studies.c.name == name)
        columns = self._database.run(
            lambda connection: connection.execute(query).mappings().first()
        )
        if columns is None:
            return None
        return StoredStudy(self._database, columns["id"], name, self._configuration(columns))

    def _configuration(self, columns: Any) -> dict[str, Any]:
        name, text = columns["name"], columns["configuration"]
        if not is_whole(columns["checksum"], name, text, columns["begun"]):
            raise StoreError(
                f"The store {self.place}: the study {name!r} is damaged. Nothing was changed: "
                "restore the store from a backup, or choose another one."
            )
        configuration: dict[str, Any] = json.loads(text)
        return configuration


def _open(where: str | os.PathLike[str], read_only: bool) -> Database:
    if isinstance(where, str) and "://" in where:
        try:
            url = make_url(where)
        except (ArgumentError, ValueError):
            raise StoreError(
                "The address of the store cannot be understood; it must be like "
                "postgresql://user@host:5432/database."
            ) from None
        if url.drivername.split("+")[0] == "postgresql":
            return open_server(url, read_only=read_only)
        if url.drivername.split("+")[0] != "sqlite":
            raise StoreError(
                f"The store {url.render_as_string(hide_password=True)}: must be a SQLite file or "
                "a postgresql:// address."
            )
        where = url.database or ":memory:"
    if where == ":memory:" and not read_only:
        return open_memory()
    if "\0" in os.fspath(where) or not os.fspath(where):
        raise StoreError(f"The name of a store must not be empty; got {os.fspath(where)!r}.")
    return open_file(Path(where).expanduser(), read_only=read_only)


#: How long to wait for a server that does not answer, in seconds.
_SERVER_PATIENCE = 10


def open_server(url: URL, *, read_only: bool = False) -> Database:
    """Open a store in a PostgreSQL database; its tables are made if needed."""
    place = url.render_as_string(hide_password=True)
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise StoreError(
            f"The store {place}: PostgreSQL needs the package psycopg. Install it with "
            "`pip install orfeon[postgresql]`."
        ) from None
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": str(_SERVER_PATIENCE)})
    try:
        engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    except (ArgumentError, ImportError) as error:
        raise StoreError(f"The store {place}: {error}.") from error
    database = Database(engine, place, read_only=read_only)
    try:
        database.run(lambda connection: _prepare_server(connection, place, read_only))
    except BaseException:
        database.close()
        raise
    return database


def _prepare_server(connection: Connection, place: str, read_only: bool) -> None:
    if has_tables(connection, place):
        return
    if read_only:
        raise StoreError(f"The store {place}: it does not exist.")
    with transaction(connection):
        # Two processes may be making the tables: the second waits, and finds them.
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({APPLICATION_ID})")
        if not has_tables(connection, place):
            make_tables(connection)
