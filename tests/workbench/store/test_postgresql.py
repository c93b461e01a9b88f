"""What only a server can do: refuse, hang up, be shared with others."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest
from tests.workbench.store.conftest import PASSWORD
from tests.workbench.store.rows import make_row

from orfeon.workbench.store import Store, StoreError

pytestmark = pytest.mark.tools


def _sql(url: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def test_a_connection_that_breaks_is_made_anew(database_url: str) -> None:
    hang_up = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"""
    with Store(database_url) as store:
        study = store.open_study("a", {})
        assert study.put(make_row("before"))
        _sql(database_url, hang_up)
        assert study.put(make_row("after"))
        _sql(database_url, hang_up)
        assert study.put_many([make_row("many"), make_row("more")]) == 2
        _sql(database_url, hang_up)
        assert study.keys() == {"before", "after", "many", "more"}


def test_a_server_that_refuses(server: str) -> None:
    user, rest = server.split("//")[1].split(":", 1)
    host = rest.rsplit("@", 1)[1]
    port = host.split(":")[1]
    for address, told in (
        (f"{server}/nowhere", 'database "nowhere" does not exist'),
        (f"postgresql://{user}:wrong-{PASSWORD[:6]}@{host}/postgres", "authentication failed"),
        (f"postgresql://{user}@{host}/postgres", "password"),
        ("postgresql://127.0.0.1:1/postgres", "refused"),
    ):
        with pytest.raises(StoreError, match=told) as caught:
            Store(address)
        assert PASSWORD[:6] not in str(caught.value)
        assert "\n" not in str(caught.value)
    assert int(port) > 0


def test_tables_of_another_application(database_url: str) -> None:
    _sql(database_url, "CREATE TABLE runs (distance REAL)")
    with pytest.raises(StoreError, match="has a table 'runs' of another application"):
        Store(database_url)
    _sql(database_url, "INSERT INTO runs VALUES (42.195)")


def test_other_tables_are_left_alone(database_url: str) -> None:
    _sql(database_url, "CREATE TABLE walks (distance REAL)")
    with Store(database_url) as store:
        assert store.open_study("a", {}).put(make_row("x"))
    _sql(database_url, "INSERT INTO walks VALUES (42.195)")


def test_a_store_of_a_later_release(database_url: str) -> None:
    Store(database_url).close()
    _sql(database_url, "UPDATE orfeon_store SET schema_version = 2")
    with pytest.raises(StoreError, match=r"a later release .*version 2, this release knows 1"):
        Store(database_url)


def test_a_user_who_may_only_read(database_url: str, server: str) -> None:
    with Store(database_url) as store:
        study = store.open_study("a", {})
        study.put(make_row("x"))
    _sql(database_url, "CREATE USER reader PASSWORD 'read'")
    schema = database_url.rsplit("%3D", 1)[1]
    _sql(database_url, f"GRANT USAGE ON SCHEMA {schema} TO reader")
    _sql(database_url, f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader")
    reader = database_url.replace(server.rsplit("@", 1)[0], "postgresql://reader:read")
    try:
        with Store(reader, read_only=True) as store:
            assert store.study("a").keys() == {"x"}
        with Store(reader) as store, pytest.raises(StoreError, match="permission denied"):
            store.study("a").put(make_row("y"))
    finally:
        _sql(database_url, "DROP OWNED BY reader")
        _sql(database_url, "DROP USER reader")


def test_a_changed_row_is_told(database_url: str) -> None:
    with Store(database_url) as store:
        study = store.open_study("a", {})
        study.put(make_row("x", error=0.25))
        _sql(database_url, "UPDATE runs SET result = replace(result, '0.25', '0.15')")
        with pytest.raises(StoreError, match="the run 'x' of the study 'a' is damaged"):
            study.rows()


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    find = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "psycopg":
            raise ImportError(name)
        return find(name, *arguments, **options)

    monkeypatch.delitem(sys.modules, "psycopg", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(StoreError, match=r"pip install orfeon\[postgresql\]"):
        Store("postgresql://localhost/results")


@pytest.mark.parametrize(
    "address",
    ["://", "postgresql://user:s3cret@host:port/database", "mysql://user:s3cret@host/database"],
)
def test_addresses_that_cannot_be(address: str) -> None:
    with pytest.raises(StoreError) as caught:
        Store(address)
    assert "s3cret" not in str(caught.value)
