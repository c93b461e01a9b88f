"""Files that are written completely or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

#: Characters of a file's name in that of its draft, because names are limited to 255 bytes.
_KEPT_CHARACTERS = 40


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file object whose content replaces a file when the block ends.

    It writes to a draft in the same folder, whose name begins with a dot. If the block fails, the
    draft is deleted and the file stays as it was. Links are followed, and an existing file keeps
    its permissions. Devices and pipes cannot be replaced and are written to directly.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        with open(path, "wb") as stream:
            yield stream
        return
    draft = target.with_name(f".{target.name[:_KEPT_CHARACTERS]}.{secrets.token_hex(6)}.part")
    # With os.open the system applies the user's umask.
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(draft, flags, 0o666), "w+b") as file:
            if target.exists():
                os.chmod(draft, stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
        _sync_folder(target.parent)
    finally:
        # It exists only if something failed.
        with contextlib.suppress(OSError):
            draft.unlink()


def _sync_folder(folder: Path) -> None:
    """Make the new name durable, where the system supports it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
