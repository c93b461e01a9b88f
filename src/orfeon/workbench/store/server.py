"""Opening a store in a PostgreSQL database."""

from __future__ import annotations

from sqlalchemy import URL, Connection, create_engine
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool

from orfeon.workbench.store.database import Database, transaction
from orfeon.workbench.store.errors import StoreError
from orfeon.workbench.store.tables import APPLICATION_ID, has_tables, make_tables

#: How long to wait for a server that does not answer, in seconds.
PATIENCE = 10


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
        url = url.update_query_dict({"connect_timeout": str(PATIENCE)})
    try:
        engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    except (ArgumentError, ImportError) as error:
        raise StoreError(f"The store {place}: {error}.") from error
    database = Database(engine, place, read_only=read_only)
    try:
        database.run(lambda connection: _prepare(connection, place, read_only))
    except BaseException:
        database.close()
        raise
    return database


def _prepare(connection: Connection, place: str, read_only: bool) -> None:
    if has_tables(connection, place):
        return
    if read_only:
        raise StoreError(f"The store {place}: it does not exist.")
    with transaction(connection):
        # Two processes may be making the tables: the second waits, and finds them.
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({APPLICATION_ID})")
        if not has_tables(connection, place):
            make_tables(connection)
