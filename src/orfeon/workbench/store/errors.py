"""What can go wrong with a store, and messages that help."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError

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
    """A store cannot be used this way; the message explains what to do, and nothing is destroyed.

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
