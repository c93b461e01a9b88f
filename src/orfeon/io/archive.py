"""The zip archive of a model file: uncompressed members, aligned for memory maps.

Nothing is compressed, so nothing can grow when it is read.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import stat
import struct
import zipfile
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

import numpy as np

from orfeon.io import limits
from orfeon.io.directory import find_contents, read_directory
from orfeon.io.errors import ModelFileError
from orfeon.utils.atomic_file import atomic_write

#: Array entries begin at multiples of this many bytes, the size of a cache line.
ALIGNMENT = 64
#: Bytes of the header of a member, and of the addition for a large one.
_HEADER, _LARGE_HEADER = 30, 20
#: The extra field that other tools use to align zips.
_PADDING = 0xD935
#: Bytes from which members use zip64 fields.
_LARGE = 1 << 30


# -- writing ---------------------------------------------------------------------------------------


class Member(NamedTuple):
    name: str
    parts: Sequence[bytes | memoryview]


def write_archive(path: str, members: Sequence[Member]) -> None:
    """Replace a file by a zip, completely or not at all."""
    try:
        with atomic_write(path) as file:
            _write_members(file, members)
    except OSError as error:
        raise ModelFileError(
            f"{path} cannot be written: {error.strerror or error}. Nothing was changed."
        ) from error


def _write_members(file: BinaryIO, members: Sequence[Member]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for member in members:
            info = zipfile.ZipInfo(member.name, (1980, 1, 1, 0, 0, 0))
            info.create_system = 3  # on every machine, so that equal models have equal bytes
            info.external_attr = 0o644 << 16
            info.file_size = sum(len(memoryview(part)) for part in member.parts)
            # Slightly below the size at which zipfile switches by itself.
            large = info.file_size >= _LARGE
            header = _HEADER + len(member.name) + (_LARGE_HEADER if large else 0)
            info.extra = _padding(file.tell() + header)
            with archive.open(info, "w", force_zip64=large) as writer:
                for part in member.parts:
                    writer.write(part)


def _padding(place: int) -> bytes:
    """The extra field that aligns the contents after it."""
    size = -place % ALIGNMENT
    if size < 6:
        size += ALIGNMENT
    return struct.pack("<HHH", _PADDING, size - 4, ALIGNMENT) + bytes(size - 6)


# -- reading ---------------------------------------------------------------------------------------


class Archive:
    """The members of a zip, in memory or memory-mapped."""

    def __init__(self, memory: memoryview, places: dict[str, tuple[int, int]]) -> None:
        self._memory = memory
        self._places = places

    @property
    def names(self) -> set[str]:
        return set(self._places)

    @property
    def n_bytes(self) -> int:
        return len(self._memory)

    def contents(self, name: str) -> memoryview:
        if name not in self._places:
            raise ModelFileError(f"its member {name} is missing.")
        begin, end = self._places[name]
        return self._memory[begin:end]


@contextlib.contextmanager
def open_archive(path: str, *, memory_map: bool = False) -> Iterator[Archive]:
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ModelFileError("it is not a regular file.")
            found = os.fstat(file.fileno())
            _check_holes(found)
            listed, directory = read_directory(file, found.st_size)
            memory = _mapped(file) if memory_map else _whole(file, found.st_size)
            yield Archive(memory, find_contents(listed, directory, memory))
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ModelFileError as error:
        raise type(error)(f"{path} cannot be loaded: {error}") from error
    except MemoryError as error:
        raise ModelFileError(f"{path} cannot be loaded: there is not enough memory.") from error


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe would otherwise block until it has a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _check_holes(found: os.stat_result) -> None:
    """Reject a sparse file of enormous size, which would take hours to read."""
    on_disk = getattr(found, "st_blocks", 0) * 512  # 0 where the file system does not report it
    if on_disk and found.st_size > max(limits.FREE_HOLES, limits.MAX_HOLES * on_disk):
        raise ModelFileError(
            f"it has {found.st_size:,} bytes, of which {on_disk:,} are on the disk; model files "
            "must not be sparse."
        )


def _whole(file: BinaryIO, size: int) -> memoryview:
    """The whole file in aligned memory, so that arrays can be views of it."""
    if size > _memory_bytes():
        raise ModelFileError(
            f"it has {size:,} bytes, more than the memory of this machine; memory_map=True leaves "
            "its arrays in the file."
        )
    block = np.empty(size + ALIGNMENT, np.uint8)
    first = -block.ctypes.data % ALIGNMENT
    memory = memoryview(block)[first : first + size]
    file.seek(0)
    done = 0
    while done < size:
        n = file.readinto(memory[done:])  # type: ignore[attr-defined]
        if not n:
            raise ModelFileError("it was truncated while it was read.")
        done += n
    return memory


def _memory_bytes() -> float:
    """Memory of the machine, infinity where it is unknown."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def _mapped(file: BinaryIO) -> memoryview:
    """The file mapped into memory: processes share its pages, and writes stay private."""
    return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
