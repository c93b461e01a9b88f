"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

#: Letters of a file's name in that of its draft: names may not be longer than 255 bytes.
_KEPT_LETTERS = 40


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write in the place of another, which stays as it was until all is on the disk.

    What is written goes to a draft in the same folder, whose name begins with a dot. It takes
    the place of the file when the block ends; when the block fails, it is deleted. Links are
    followed. The file keeps its permissions; a new one has those of any new file. Devices and pipes
    cannot be replaced: they are written to as it goes.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        with open(path, "wb") as stream:
            yield stream
        return
    draft = target.with_name(f".{target.name[:_KEPT_LETTERS]}.{secrets.token_hex(6)}.part")
    # Opened in this way the system itself takes the user's mask off the permissions.
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(draft, flags, 0o666), "w+b") as file:
            if target.exists():  # who may read it does not change with what is in it
                os.chmod(draft, stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
        _sync_folder(target.parent)
    finally:
        # Still there only where something went wrong.
        with contextlib.suppress(OSError):
            draft.unlink()


def _sync_folder(folder: Path) -> None:
    """Make the new name last; some systems cannot, and then it lasts when they like."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
