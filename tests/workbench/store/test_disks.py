"""Disks that are full, and places that cannot be written."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from tests.workbench.store.rows import make_row, private_mounts, run_script

from orfeon.workbench.store import Store, StoreError, sqlite_file


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder where permissions mean something, which they do not for root."""
    tmp_path.chmod(0o500)
    is_writable = os.access(tmp_path, os.W_OK)
    tmp_path.chmod(0o700)
    if is_writable:
        pytest.skip("this user may write everywhere")
    return tmp_path


@pytest.mark.tools
def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    found = run_script("fill_disk.py", tmp_path, prefix=private_mounts())
    assert found["safe"] > 50
    assert [told.split(": ", 1)[1][:17] for told in found["told"][:3]] == ["the disk is full."] * 3
    assert "runs.csv cannot be written: No space left on device" in found["told"][3]
    assert found["readable"]
    assert found["goes_on"]
    assert found["complete"]
    assert found["files"] == ["results.db", "runs.csv"]


def test_a_full_file_is_told_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a full disk, where none can be made: SQLite is given a limit of pages."""
    path = tmp_path / "results.db"
    connect = sqlite_file._connect

    def connect_with_limit(address: str, *, read_only: bool = False) -> sqlite3.Connection:
        connection = connect(address, read_only=read_only)
        connection.execute("PRAGMA max_page_count = 40")
        return connection

    safe = []
    with monkeypatch.context() as patch:
        patch.setattr(sqlite_file, "_connect", connect_with_limit)
        with Store(path) as store:
            study = store.open_study("a", {})
            rows = (make_row(str(number), text="x" * 500) for number in range(1000))
            with pytest.raises(StoreError, match=r"disk is full\. Free some space and run again"):
                safe.extend(row.key for row in rows if study.put(row))
            with pytest.raises(StoreError, match="disk is full"):
                study.put_many(make_row(f"many {number}", text="x" * 500) for number in range(9))
    assert len(safe) > 50
    with Store(path) as store:
        study = store.study("a")
        assert study.keys() == set(safe)
        assert study.put(make_row("after"))


def test_a_read_only_disk_is_told_and_can_be_read(tmp_path: Path) -> None:
    found = run_script("read_only_disk.py", tmp_path, prefix=private_mounts())
    assert len(found["told"]) == 4
    assert all("cannot be written to" in told for told in found["told"][:3])
    assert "Read-only file system" in found["told"][3]
    # Also the runs that are only in the log of a killed writer.
    assert found["keys"] == {
        "clean.db": ["clean"],
        "open.db": ["one", "two"],
        "bare.db": ["one", "two"],
    }
    assert found["unchanged"]


def test_a_folder_without_permission(place: Path) -> None:
    path = place / "results.db"
    with Store(path) as store:
        store.open_study("a", {}).put(make_row("x"))
    before = path.read_bytes()
    place.chmod(0o500)
    try:
        for name in ("results.db", "new.db", "folder/new.db"):
            with pytest.raises(StoreError, match=r"cannot be written to|Permission denied"):
                Store(place / name)
        with Store(path, read_only=True) as store:
            assert store.study("a").keys() == {"x"}
    finally:
        place.chmod(0o700)
    assert path.read_bytes() == before


def test_a_file_without_permission(place: Path) -> None:
    path = place / "results.db"
    with Store(path) as store:
        store.open_study("a", {}).put(make_row("x"))
    path.chmod(0o400)
    with pytest.raises(StoreError, match="the file cannot be written to"):
        Store(path)
    with Store(path, read_only=True) as store:
        assert store.study("a").keys() == {"x"}
    path.chmod(0)
    for read_only in (False, True):
        with pytest.raises(StoreError, match="Permission denied"):
            Store(path, read_only=read_only)


def test_a_file_that_system_calls_say_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As without permission, which root always has."""
    path = tmp_path / "results.db"
    with Store(path) as store:
        store.open_study("a", {}).put(make_row("x"))
    before = path.read_bytes()
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != path)
    with pytest.raises(StoreError, match="the file cannot be written to"):
        Store(path)
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != tmp_path)
    with pytest.raises(StoreError, match="the folder cannot be written to"):
        Store(path)
    assert path.read_bytes() == before


def test_a_file_that_sqlite_finds_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "results.db"
    with Store(path) as store:
        store.open_study("a", {}).put(make_row("x"))
    before = path.read_bytes()
    connect = sqlite_file._connect
    monkeypatch.setattr(
        sqlite_file,
        "_connect",
        lambda address, **options: connect(address.replace("mode=rwc", "mode=ro"), **options),
    )
    with pytest.raises(StoreError, match="it cannot be written to"):
        Store(path)
    assert path.read_bytes() == before


def test_a_file_that_is_removed_or_replaced_in_use(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    with Store(path) as store:
        study = store.open_study("a", {})
        path.rename(tmp_path / "away.db")
        for use in (study.rows, lambda: study.put(make_row("x"))):
            with pytest.raises(StoreError, match="removed or replaced while it was in use"):
                use()
        path.write_bytes(b"")
        with pytest.raises(StoreError, match="removed or replaced while it was in use"):
            study.put(make_row("x"))
