"""Opening a store in a SQLite file."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, false
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from orfeon.workbench.store.database import (
    APPLICATION_ID,
    Database,
    StoreError,
    about,
    has_tables,
    make_tables,
    store_error,
    transaction,
)

#: How long a writer waits for others, in seconds.
PATIENCE = 60.0

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_APPLICATION_ID_AT = slice(68, 72)


def open_memory() -> Database:
    """A store that is kept in memory, to try things out."""
    address = f"file:orfeon-{uuid.uuid4()}?mode=memory&cache=shared"
    # The data lives as long as a connection is open; this one survives a Ctrl-C that breaks the
    # store's own.
    keeper = _connect(address)
    database = Database(_engine(address), ":memory:", on_close=keeper.close)
    database.run(make_tables)
    return database


def open_file(path: Path, *, read_only: bool = False) -> Database:
    """Open a store, or make it."""
    path = path.absolute()
    place = str(path)
    try:
        is_there = _is_ours(path)
        if read_only and not is_there:
            raise StoreError(f"The store {place}: it does not exist.")
        if not read_only:
            path.parent.mkdir(parents=True, exist_ok=True)
            _check_writable(path)
    except OSError as error:
        raise store_error(error, place) from error
    if read_only:
        return _open_for_reading(path)
    database = _database(f"{path.as_uri()}?mode=rwc", path, read_only=False)
    try:
        database.run(lambda connection: _prepare(connection, path))
    except BaseException:
        database.close()
        raise
    return database


def _is_ours(path: Path) -> bool:
    """Whether the file holds a store; False if there is none, or an empty one.

    Looks at the first bytes only, so that files of other programs are not touched.
    """
    if path.is_dir():
        raise StoreError(f"The store {path}: is a folder. Choose a file in it.")
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return False
    if not header:
        return False
    if not header.startswith(_MAGIC) or len(header) < _HEADER_BYTES:
        raise StoreError(
            f"The store {path}: the file is not a results store (not a SQLite database). It was "
            "not changed: choose another file."
        )
    if int.from_bytes(header[_APPLICATION_ID_AT], "big") != APPLICATION_ID:
        raise StoreError(
            f"The store {path}: the file is a SQLite database of another application. It was "
            "not changed: choose another file."
        )
    return True


def _check_writable(path: Path) -> None:
    """SQLite itself would only report that it cannot open the file."""
    for place in (path.parent, path):
        if place.exists() and not os.access(place, os.W_OK):
            kind = "folder" if place.is_dir() else "file"
            raise StoreError(
                f"The store {path}: the {kind} cannot be written to. Choose a writable place, "
                "or open it for reading only."
            )


def _prepare(connection: Connection, path: Path) -> None:
    _check_whole(connection, path)
    # The lock is taken before anything is looked at: two processes may be making the store.
    with transaction(connection):
        if not has_tables(connection, str(path)):
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            make_tables(connection)
        # Changes nothing, but fails now, not after a run, if the file cannot be written.
        connection.execute(about.update().values(schema_version=0).where(false()))
    _use_write_ahead_log(connection)


def _use_write_ahead_log(connection: Connection) -> None:
    """Switch to the write-ahead log, for which SQLite does not wait by itself."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            return
        except OperationalError as error:
            name = getattr(error.orig, "sqlite_errorname", "")
            if not name.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _check_whole(connection: Connection, path: Path) -> None:
    """Check the file, so that damage is reported before work is done.

    It takes about 5 s per gigabyte; reading all rows would take minutes. Without it, rows that a
    damaged index does not lead to would be missed.
    """
    found = str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar())
    if found != "ok":
        raise StoreError(
            f"The store {path}: the file is damaged ({' '.join(found.split())}). It was not "
            "changed: restore it from a backup, or choose another file."
        )


def _open_for_reading(path: Path) -> Database:
    try:
        return _readable(f"{path.as_uri()}?mode=rw", path)
    except StoreError as error:
        cause = error.__cause__
        name = getattr(getattr(cause, "orig", None), "sqlite_errorname", "") or ""
        if not name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
            raise
    # On a read-only medium SQLite cannot create its side files.
    log = path.with_name(f"{path.name}-wal")
    if not log.exists() or log.stat().st_size == 0:
        return _readable(f"{path.as_uri()}?mode=ro&immutable=1", path)
    # The last runs are in the log, which SQLite can only read from a writable copy.
    folder = tempfile.TemporaryDirectory(prefix="orfeon-store-")
    try:
        copy = Path(folder.name) / path.name
        shutil.copyfile(path, copy)
        shutil.copyfile(log, copy.with_name(log.name))
        return _readable(f"{copy.as_uri()}?mode=rw", path, folder.cleanup)
    except BaseException:
        folder.cleanup()
        raise


def _readable(address: str, path: Path, on_close: Callable[[], None] | None = None) -> Database:
    database = _database(address, path, read_only=True, on_close=on_close)
    try:
        database.run(lambda connection: _check_readable(connection, path))
    except BaseException:
        database.close()
        raise
    return database


def _check_readable(connection: Connection, path: Path) -> None:
    _check_whole(connection, path)
    if not has_tables(connection, str(path)):
        raise StoreError(f"The store {path}: it does not exist.")


def _database(
    address: str, path: Path, *, read_only: bool, on_close: Callable[[], None] | None = None
) -> Database:
    return Database(
        _engine(address, read_only=read_only),
        str(path),
        read_only=read_only,
        check=_SameFile(path),
        on_close=on_close,
    )


class _SameFile:
    """Checks that the file is still in place: SQLite would go on writing to a deleted one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None

    def __call__(self) -> None:
        try:
            found = os.stat(self._path)
        except OSError as error:
            raise self._error() from error
        identity = (found.st_dev, found.st_ino)
        if self._identity is None:
            self._identity = identity
        if identity != self._identity:
            raise self._error()

    def _error(self) -> StoreError:
        return StoreError(
            f"The store {self._path}: the file was removed or replaced while it was in use. Run "
            "again with a file that stays."
        )


def _engine(address: str, *, read_only: bool = False) -> Engine:
    return create_engine(
        "sqlite://",
        creator=lambda: _connect(address, read_only=read_only),
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
    )


def _connect(address: str, *, read_only: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        # A commit is then safe once the operating system has it: a killed process loses nothing.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA cell_size_check = ON")
        if read_only:
            connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection
