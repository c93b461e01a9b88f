"""Empty databases, of each kind that a store can be in."""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import pwd

PASSWORD = "s3cret/with:odd@signs"
_QUOTED = "s3cret%2Fwith%3Aodd%40signs"
_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a PostgreSQL server of our own, on loopback; a database is to be added."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    programs = _programs()
    owner = _unprivileged()
    folder = tempfile.mkdtemp(prefix="orfeon-postgresql-")
    try:
        if owner is not None:
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        process = _start(programs, Path(folder), port, owner)
        try:
            address = f"postgresql://orfeon:{_QUOTED}@127.0.0.1:{port}"
            _wait(psycopg, f"{address}/postgres", process)
            yield address
        finally:
            # At once: nothing of it is kept.
            process.send_signal(signal.SIGQUIT)
            process.wait(timeout=30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def database_url(server: str) -> str:
    """An address at which PostgreSQL shows no tables: a schema of its own."""
    import psycopg

    name = f"study_{next(_NUMBERS)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}/postgres?options=-csearch_path%3D{name}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.tools)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store can be made: a file, or an empty database of a server."""
    if request.param == "sqlite":
        return str(tmp_path / "results.db")
    return str(request.getfixturevalue("database_url"))


def _programs() -> Path:
    on_path = shutil.which("initdb")
    found = [on_path] if on_path else sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    if not found:
        pytest.skip("PostgreSQL is not installed")
    return Path(found[-1]).resolve().parent


def _unprivileged() -> pwd.struct_passwd | None:
    """Who runs the server: it refuses to be run by root."""
    if not hasattr(os, "geteuid"):
        pytest.skip("starting a server is known for POSIX systems only")
    if os.geteuid() != 0:
        return None
    import pwd

    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    pytest.skip("there is no user who could run PostgreSQL")


def _start(
    programs: Path, folder: Path, port: int, owner: pwd.struct_passwd | None
) -> subprocess.Popen[bytes]:
    user = {} if owner is None else {"user": owner.pw_uid, "group": owner.pw_gid}
    secret = folder / "password"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    data = folder / "data"
    options = ["-U", "orfeon", "-E", "UTF8", "--no-locale", "--no-sync", "-A", "scram-sha-256"]
    made = subprocess.run(
        [programs / "initdb", "-D", data, *options, f"--pwfile={secret}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        **user,
    )
    if made.returncode:
        pytest.skip(f"initdb failed: {made.stderr.strip()}")
    options = ["-k", str(folder), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
    return subprocess.Popen(
        [programs / "postgres", "-D", data, "-p", str(port), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        **user,
    )


def _wait(psycopg: object, address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 15
    while True:
        try:
            psycopg.connect(address).close()  # type: ignore[attr-defined]
            return
        except psycopg.OperationalError as error:  # type: ignore[attr-defined]
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.skip(f"PostgreSQL did not start: {error}")
        time.sleep(0.05)
