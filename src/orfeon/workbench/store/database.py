"""The database of a store: its connection, which threads share, its errors, and its tables."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    Engine,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from orfeon.errors import UserError

#: SQLite's errors (the beginning of their names), and their messages.
_SQLITE = {
    "SQLITE_FULL": "the disk is full. Free some space and run again: all runs already stored are "
    "safe",
    "SQLITE_READONLY": "it cannot be written to. Choose a writable place, or open it for reading "
    "only",
    "SQLITE_CANTOPEN": "it cannot be opened. Check that the folder exists and that you can read "
    "and write there",
    "SQLITE_PERM": "it cannot be opened: permission denied",
    "SQLITE_AUTH": "it cannot be opened: permission denied",
    "SQLITE_CORRUPT": "the file is damaged. It was not changed: restore it from a backup, or "
    "choose another file",
    "SQLITE_NOTADB": "it is not a results store (not a SQLite database). It was not changed: "
    "choose another file",
    "SQLITE_BUSY": "another process has locked it for too long. Wait for it to end, then retry",
    "SQLITE_LOCKED": "another process has locked it for too long. Wait for it to end, then retry",
    "SQLITE_TOOBIG": "a value is larger than SQLite can hold (1 GB)",
    "SQLITE_IOERR": "reading or writing failed: the disk is full or failing. All runs already "
    "stored are safe",
}


class StoreError(UserError):
    """A store cannot be used this way; the message says what to do, and nothing is lost.

    Examples
    --------
    >>> from orfeon.workbench.store import Store, StoreError
    >>> try:
    ...     Store("mysql://localhost/results")
    ... except StoreError as error:
    ...     print(error)
    The store mysql://localhost/results: must be a SQLite file or a postgresql:// address.
    """


def store_error(error: BaseException, place: str) -> StoreError:
    """The StoreError for an error of the database's driver."""
    cause: BaseException | None = error.orig if isinstance(error, DBAPIError) else error
    return StoreError(f"The store {place}: {_reason(cause or error)}.")


def _reason(cause: BaseException) -> str:
    if isinstance(cause, OSError):
        return cause.strerror or str(cause)
    # Errors that Python itself raises, such as for text that is not UTF-8, have no name.
    name = getattr(cause, "sqlite_errorname", None) or ""
    for beginning, reason in _SQLITE.items():
        if name.startswith(beginning):
            return reason
    if isinstance(cause, sqlite3.Error | UnicodeDecodeError) and "decode" in str(cause):
        return _SQLITE["SQLITE_CORRUPT"]
    return " ".join(str(cause).split()).rstrip(".") or type(cause).__name__


Answer = TypeVar("Answer")

#: Errors that a database can raise. In a damaged SQLite file, names may not be valid text, and
#: Python then fails to format the error.
_TROUBLES = (SQLAlchemyError, UnicodeDecodeError)


class Database:
    """One connection to a database, for any number of threads."""

    def __init__(
        self,
        engine: Engine,
        place: str,
        *,
        read_only: bool = False,
        check: Callable[[], None] | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        self.place = place
        self.dialect = engine.dialect.name
        self.read_only = read_only
        self._check = check
        self._lock = threading.RLock()
        self._process = os.getpid()
        try:
            self._connection = engine.connect()
        except _TROUBLES as error:
            raise store_error(error, place) from error
        # Also closes a store that was never closed, so that SQLite removes its side files.
        self._closer = weakref.finalize(
            self, _close, self._connection, engine, self._process, on_close
        )

    def run(self, work: Callable[[Connection], Answer], *, writes: bool = False) -> Answer:
        """Do some work with the connection, one thread at a time."""
        with self._lock:
            self._check_usable(writes)
            try:
                return self._attempt(work)
            except _TROUBLES as error:
                if not (isinstance(error, DBAPIError) and error.connection_invalidated):
                    raise store_error(error, self.place) from error
            try:
                return self._attempt(work)
            except _TROUBLES as error:
                raise store_error(error, self.place) from error

    def close(self) -> None:
        """Close the connection; a second time does nothing."""
        with self._lock:
            self._closer()

    def _attempt(self, work: Callable[[Connection], Answer]) -> Answer:
        try:
            return work(self._connection)
        except BaseException as error:
            with contextlib.suppress(SQLAlchemyError):
                # Ctrl-C may have come inside a transaction: only a new connection is surely
                # outside of one.
                if not isinstance(error, Exception):
                    self._connection.invalidate()
                # SQLAlchemy requires it before it replaces a lost connection.
                self._connection.rollback()
            raise

    def _check_usable(self, writes: bool) -> None:
        if not self._closer.alive:
            raise StoreError(f"The store {self.place}: has been closed.")
        if os.getpid() != self._process:
            raise StoreError(
                f"The store {self.place}: was opened by another process. Open it again in this one."
            )
        if writes and self.read_only:
            raise StoreError(f"The store {self.place}: was opened for reading only.")
        if self._check is not None:
            self._check()


@contextlib.contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Statements that are all done, or none."""
    # SQLite: a reader that turns writer later could find that another was faster, and fail.
    is_sqlite = connection.dialect.name == "sqlite"
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_sqlite else "BEGIN")
        yield
        connection.exec_driver_sql("COMMIT")
    except BaseException:
        # On some errors, such as a full disk, SQLite has rolled back by itself.
        with contextlib.suppress(SQLAlchemyError):
            connection.exec_driver_sql("ROLLBACK")
        raise


def _close(
    connection: Connection, engine: Engine, process: int, on_close: Callable[[], None] | None
) -> None:
    # A forked process must leave the connection of its parent alone.
    if os.getpid() != process:
        return
    with contextlib.suppress(SQLAlchemyError):
        connection.close()
    engine.dispose()
    if on_close is not None:
        on_close()


#: Raised with every change of the tables.
SCHEMA_VERSION = 1

#: "orfn": written into the header of SQLite files, so that ours can be recognised.
APPLICATION_ID = 0x6F72666E

_METADATA = MetaData()

#: SQLite numbers rows by itself only when the column is declared as INTEGER.
_Number = BigInteger().with_variant(Integer, "sqlite")

about = Table(
    "orfeon_store",
    _METADATA,
    Column("schema_version", Integer, primary_key=True, autoincrement=False),
)

studies = Table(
    "studies",
    _METADATA,
    Column("id", _Number, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("configuration", Text, nullable=False),
    Column("begun", Text, nullable=False),
    Column("checksum", Text, nullable=False),
)

# Keys may be longer than an index of PostgreSQL can hold: their checksums are unique instead.
runs = Table(
    "runs",
    _METADATA,
    Column("id", _Number, primary_key=True),
    Column("study_id", _Number, ForeignKey("studies.id"), nullable=False),
    Column("key_checksum", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("finished", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("configuration", Text, nullable=False),
    Column("timings", Text, nullable=False),
    Column("versions", Text, nullable=False),
    Column("result", Text, nullable=False),
    Column("checksum", Text, nullable=False),
    Index("runs_by_key", "study_id", "key_checksum", unique=True),
)

notes = Table(
    "notes",
    _METADATA,
    Column("id", _Number, primary_key=True),
    Column("study_id", _Number, ForeignKey("studies.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("checksum", Text, nullable=False),
    UniqueConstraint("study_id", "name"),
)


def insert_once(table: Table, dialect: str) -> Any:
    """The statement that inserts a row unless one with its key is there."""
    statement: Any = sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
    # Only whether a row was new is needed, not its number.
    return statement.on_conflict_do_nothing().inline().execution_options(preserve_rowcount=True)


def has_tables(connection: Connection, place: str) -> bool:
    """Whether the tables exist, in the form that this release reads."""
    names = set(inspect(connection).get_table_names())
    if about.name not in names:
        taken = sorted(names & set(_METADATA.tables))
        if taken:
            raise StoreError(
                f"The store {place}: the database has a table {taken[0]!r} of another "
                "application. It was not changed: choose another database."
            )
        return False
    version = connection.execute(select(about.c.schema_version)).scalar()
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise StoreError(
            f"The store {place}: was made by a later release of orfeon (its tables are of version "
            f"{version}, this release knows {SCHEMA_VERSION}). It was not changed: upgrade "
            "orfeon, or choose another store."
        )
    return True


def make_tables(connection: Connection) -> None:
    """Make the tables in a database that has none of them."""
    _METADATA.create_all(connection, checkfirst=False)
    connection.execute(insert(about).values(schema_version=SCHEMA_VERSION))
