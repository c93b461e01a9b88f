"""One connection to a database, which threads share and whose errors are plain."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from orfeon.workbench.store.errors import StoreError, store_error

Answer = TypeVar("Answer")

#: What a database can answer with. Names in a damaged file of SQLite may be no text: Python then
#: fails while it words the error.
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
        # Also when nobody closes it: SQLite then tidies its side files up.
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
                # Ctrl-C may have come between any two steps, such as inside a transaction: only
                # a new connection is surely in none.
                if not isinstance(error, Exception):
                    self._connection.invalidate()
                # SQLAlchemy asks for it before a lost connection is made anew.
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
