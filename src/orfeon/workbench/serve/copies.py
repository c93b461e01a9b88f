"""Private copies of the model file that several workers map into memory."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from orfeon.utils.atomic_file import atomic_write

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows, where mapped files cannot be deleted anyway
    fcntl = None

_PREFIX = "orfeon-serve-"
#: The file that a running command keeps locked; the lock ends with the process.
_LOCK = "lock"


@contextlib.contextmanager
def folder_of_copies() -> Iterator[Path]:
    """A folder for copies; folders of killed commands are removed first."""
    remove_stale()
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
        folder = Path(name)
        with _locked(folder):
            yield folder


def remove_stale() -> None:
    """Remove this user's folders whose command was killed."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            state = folder.lstat()
            if stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid():
                _remove_if_stale(folder)


def _remove_if_stale(folder: Path) -> None:
    assert fcntl is not None
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises OSError if the command runs
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    if fcntl is None:
        yield
        return
    # Locked before it gets its name, so that no other command takes the folder for a stale one.
    draft = folder / f".{_LOCK}"
    with draft.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        draft.rename(folder / _LOCK)
        yield


def own_copy(path: Path, folder: Path) -> Path:
    """A copy of the current file, made once per inode, time and size."""
    state = path.stat()
    copy = folder / f"{state.st_ino}-{state.st_mtime_ns}-{state.st_size}" / path.name
    if not copy.exists():
        copy.parent.mkdir(exist_ok=True)
        with atomic_write(copy) as file, path.open("rb") as source:
            shutil.copyfileobj(source, file)
    return copy


def delete_old_copies(folder: Path, served: Path) -> None:
    """Delete all copies except the served one and the latest other, which may be loading."""
    others = (each for each in folder.iterdir() if each.is_dir() and each != served)
    for each in sorted(others, key=lambda each: each.stat().st_mtime_ns)[:-1]:
        shutil.rmtree(each, ignore_errors=True)
