"""Files that are not a store, or not any more."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.shared import cases
from tests.workbench.store.rows import make_row

from orfeon.workbench.store import RunRow, Store, StoreError

ROWS = [make_row(f"run {number:03}", number, text="x" * (7 * number)) for number in range(150)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a store of some forty pages."""
    path = tmp_path_factory.mktemp("whole") / "results.db"
    with Store(path) as store:
        study = store.open_study("a", {"folds": 10, "methods": ["bagging"] * 100})
        study.put_many(ROWS)
        study.note("rounds", 3)
    return path.read_bytes()


def _everything(path: Path, *, read_only: bool) -> tuple[list[RunRow], set[str], object, object]:
    with Store(path, read_only=read_only) as store:
        (info,) = store.studies()
        study = store.study("a")
        return study.rows(), study.keys(), study.notes, info.configuration


def _zeros(content: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(content))
    content[start : start + 4096] = bytes(len(content[start : start + 4096]))


def _noise(content: bytearray, chance: random.Random) -> None:
    start, length = chance.randrange(len(content)), chance.choice((1, 1, 2, 10, 300, 5000))
    length = min(length, len(content) - start)
    content[start : start + length] = chance.randbytes(length)


def _letter(content: bytearray, chance: random.Random) -> None:
    """Damage that SQLite cannot see: one digit for another."""
    digits = [at for at, letter in enumerate(content) if chr(letter).isdigit()]
    at = chance.choice(digits)
    content[at] = ord("0") + (content[at] - ord("0") + 1) % 10


def _cut(content: bytearray, chance: random.Random) -> None:
    del content[chance.randrange(1, len(content)) :]


@pytest.mark.parametrize("damage", [_zeros, _noise, _letter, _cut])
@pytest.mark.parametrize("read_only", [True, False])
def test_damage_is_told_or_does_not_matter(
    whole: bytes,
    tmp_path: Path,
    damage: Callable[[bytearray, random.Random], None],
    read_only: bool,
) -> None:
    path = tmp_path / "results.db"
    told = 0
    n_cases = cases(40)
    for seed in range(n_cases):
        content = bytearray(whole)
        damage(content, random.Random(seed))
        path.write_bytes(content)
        try:
            rows, keys, notes, configuration = _everything(path, read_only=read_only)
        except StoreError:
            told += 1
            assert path.read_bytes() == content, seed
        else:
            assert rows == ROWS, seed
            assert keys == {row.key for row in ROWS}
            assert notes == {"rounds": 3}
            assert configuration == {"folds": 10, "methods": ["bagging"] * 100}
        # SQLite leaves its side files beside a damaged one, but nothing is in the log.
        log = tmp_path / "results.db-wal"
        assert not log.exists() or log.read_bytes() == b"", seed
        log.unlink(missing_ok=True)
        (tmp_path / "results.db-shm").unlink(missing_ok=True)
    assert told >= n_cases / 2


def test_damage_to_the_names_of_tables(whole: bytes, tmp_path: Path) -> None:
    """Python itself fails while it words what SQLite says of names that are no text."""
    path = tmp_path / "results.db"
    content = whole.replace(b"CREATE TABLE notes", b"CREATE \xb4ABLE notes")
    assert content != whole
    path.write_bytes(content)
    for read_only in (True, False):
        with pytest.raises(StoreError, match="the file is damaged"):
            Store(path, read_only=read_only)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"name,class\n1,2\n", "not a results store"),
        (b"\x00" * 5000, "not a results store"),
        (b"SQLite format 3\x00", "not a results store"),
        (random.Random(0).randbytes(20_000), "not a results store"),
    ],
)
@pytest.mark.parametrize("read_only", [True, False])
def test_files_that_are_no_databases(
    tmp_path: Path, content: bytes, told: str, read_only: bool
) -> None:
    path = tmp_path / "results.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=f"results.db: .*{told}.*choose another file"):
        Store(path, read_only=read_only)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_of_another_application(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "places.db"
    other = sqlite3.connect(path)
    other.execute(f"PRAGMA journal_mode = {journal}")
    other.execute("CREATE TABLE runs (distance REAL)")
    other.commit()
    other.execute("INSERT INTO runs VALUES (42.195)")
    other.commit()
    files = {file: file.read_bytes() for file in tmp_path.iterdir()}
    for read_only in (True, False):
        with pytest.raises(StoreError, match="a SQLite database of another application"):
            Store(path, read_only=read_only)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == files
    other.close()


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    path.touch()
    with pytest.raises(StoreError, match="it does not exist"):
        Store(path, read_only=True)
    assert path.read_bytes() == b""
    with Store(path) as store:
        assert store.open_study("a", {}).put(make_row("x"))


def test_a_folder_is_not_a_store(tmp_path: Path) -> None:
    for read_only in (True, False):
        with pytest.raises(StoreError, match=r"is a folder\. Choose a file in it"):
            Store(tmp_path, read_only=read_only)
    assert list(tmp_path.iterdir()) == []


def test_folders_are_made_for_writing_only(tmp_path: Path) -> None:
    path = tmp_path / "a folder" / "ñ?#%20" / "results.db"
    with pytest.raises(StoreError, match="it does not exist"):
        Store(path, read_only=True)
    assert list(tmp_path.iterdir()) == []
    with Store(path) as store:
        store.open_study("a", {}).put(make_row("x"))
    assert list(path.parent.iterdir()) == [path]
    with Store(f"sqlite:///{tmp_path}/other.db") as store:
        assert store.studies() == []
    assert (tmp_path / "other.db").is_file()


def test_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(StoreError, match=r"results\.db"):
        Store(tmp_path / "file" / "results.db")
    assert (tmp_path / "file").read_text() == "here"


@pytest.mark.parametrize("read_only", [True, False])
def test_a_store_of_a_later_release(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "results.db"
    Store(path).close()
    with sqlite3.connect(path) as later:
        later.execute("UPDATE orfeon_store SET schema_version = 2")
    later.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"a later release .*version 2, this release knows 1"):
        Store(path, read_only=read_only)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_store_half_made_is_made_whole(tmp_path: Path) -> None:
    """The header is ours, the tables are not there: what a killed first writer may leave."""
    path = tmp_path / "results.db"
    half = sqlite3.connect(path)
    half.execute(f"PRAGMA application_id = {0x6F72666E}")
    half.close()
    with Store(path) as store:
        assert store.open_study("a", {}).put(make_row("x"))


@pytest.mark.parametrize("where", ["", "a\0b"])
def test_names_of_no_file(where: str) -> None:
    with pytest.raises(StoreError, match="name of a store"):
        Store(where)


def test_the_tables_can_be_asked_in_sql(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    with Store(path) as store:
        study = store.open_study("a", {})
        study.put_many(make_row(str(number), error=number / 4) for number in range(4))
    plain = sqlite3.connect(path)
    query = """SELECT studies.name, avg(json_extract(result, '$.error'))
               FROM runs JOIN studies ON studies.id = runs.study_id
               GROUP BY studies.name, json_extract(runs.configuration, '$.method.name')"""
    assert plain.execute(query).fetchall() == [("a", 0.375)]
    plain.close()
