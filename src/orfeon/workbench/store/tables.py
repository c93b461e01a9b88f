"""The tables of a store, and how they are made."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
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

from orfeon.workbench.store.errors import StoreError

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
    """Whether the tables are there, as this release knows them."""
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
