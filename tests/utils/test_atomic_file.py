"""Files are replaced whole or not at all, where the link points to, as readable as any other."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from orfeon.utils.atomic_file import atomic_write

_HAS_MASKS = pytest.mark.skipif(os.name == "nt", reason="Windows has no permissions of this kind.")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file that says "old"."""
    path = tmp_path / "figures.txt"
    path.write_text("old", encoding="utf-8")
    return path


@pytest.fixture
def narrow_mask() -> Iterator[None]:
    """New files are the user's only."""
    mask = os.umask(0o077)
    yield
    os.umask(mask)


def test_a_file_is_made(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "new.bin") as file:
        file.write(b"\x00\r\n\xff")
    assert (tmp_path / "new.bin").read_bytes() == b"\x00\r\n\xff"
    assert os.listdir(tmp_path) == ["new.bin"]


def test_until_the_end_the_old_file_stands_and_one_draft_is_hidden_beside_it(old: Path) -> None:
    with atomic_write(str(old)) as file:
        file.write(b"new")
        file.flush()
        assert old.read_text(encoding="utf-8") == "old"
        (draft,) = set(os.listdir(old.parent)) - {old.name}
        assert draft.startswith(".")
        assert (old.parent / draft).read_bytes() == b"new"
    assert old.read_text(encoding="utf-8") == "new"
    assert os.listdir(old.parent) == [old.name]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_a_block_that_fails_changes_nothing(old: Path, error: type[BaseException]) -> None:
    def write_half() -> None:
        with atomic_write(old) as file:
            file.write(b"new")
            raise error("in the middle")

    with pytest.raises(error, match="in the middle"):
        write_half()
    assert old.read_text(encoding="utf-8") == "old"
    assert os.listdir(old.parent) == [old.name]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_disk_that_fails_changes_nothing(
    old: Path, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="No space left"), atomic_write(old) as file:
        file.write(b"new")
    assert old.read_text(encoding="utf-8") == "old"
    assert os.listdir(old.parent) == [old.name]


@pytest.mark.skipif(os.name == "nt", reason="Folders cannot be opened on Windows.")
def test_file_and_folder_are_both_on_the_disk(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = []
    sync, replace = os.fsync, os.replace

    def note_sync(handle: int) -> None:
        answers.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        sync(handle)

    def note_replace(*names: str) -> None:
        answers.append("replaced")
        replace(*names)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", note_replace)
    with atomic_write(old) as file:
        file.write(b"new")
    assert answers == ["file", "replaced", "folder"]


@_HAS_MASKS
def test_permissions_are_those_of_any_new_file(tmp_path: Path, narrow_mask: None) -> None:
    with atomic_write(tmp_path / "mine") as file:
        file.write(b"")
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o600
    os.umask(0o022)
    with atomic_write(tmp_path / "all") as file:
        file.write(b"")
    assert stat.S_IMODE((tmp_path / "all").stat().st_mode) == 0o644


def test_permissions_of_a_file_that_is_there_stay(old: Path) -> None:
    old.chmod(0o640)
    with atomic_write(old) as file:
        file.write(b"new")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


@_HAS_MASKS
def test_the_mask_of_the_process_is_not_touched(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(mask: int) -> int:
        raise AssertionError("another thread would have made a file of anybody's")

    monkeypatch.setattr(os, "umask", fail)
    with atomic_write(old) as file:
        file.write(b"new")
    assert old.read_text(encoding="utf-8") == "new"


@_HAS_MASKS
def test_a_link_stays_and_what_it_points_to_is_replaced(old: Path) -> None:
    elsewhere = old.parent / "elsewhere"
    elsewhere.mkdir()
    link = elsewhere / "link.txt"
    link.symlink_to(old)
    with atomic_write(link) as file:
        file.write(b"new")
        assert os.listdir(elsewhere) == ["link.txt"]  # a draft on another disk cannot be renamed
    assert link.is_symlink()
    assert old.read_text(encoding="utf-8") == "new"


@_HAS_MASKS
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with atomic_write(pipe) as file:
        file.write(b"new")
    reader.join()
    assert read == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_folder_in_the_place_of_the_file_is_kept(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"), atomic_write(tmp_path / "taken") as file:
        file.write(b"new")
    assert os.listdir(tmp_path) == ["taken"]
    assert (tmp_path / "taken").is_dir()


def test_no_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "no" / "file"):
        raise AssertionError("the block was entered")
    assert os.listdir(tmp_path) == []


def test_the_longest_names_can_be_written(tmp_path: Path) -> None:
    for name in ("n" * 255, "é" * 127):  # 255 and 254 bytes
        with atomic_write(tmp_path / name) as file:
            file.write(b"long")
        assert (tmp_path / name).read_bytes() == b"long"


def test_a_process_that_is_killed_leaves_the_old_file(old: Path) -> None:
    program = (
        "import os, sys; from orfeon.utils.atomic_file import atomic_write\n"
        "with atomic_write(sys.argv[1]) as file:\n"
        "    file.write(b'new'); file.flush(); os._exit(9)"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(old)], check=False)
    assert ended.returncode == 9
    assert old.read_text(encoding="utf-8") == "old"
