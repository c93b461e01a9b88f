"""The zip that a model file is: members as they are, at places that suit memory maps.

Nothing in it is compressed, so that nothing can grow when it is read.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import stat
import struct
import zipfile
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

import numpy as np

from orfeon.io import limits
from orfeon.io.errors import ModelFileError
from orfeon.writing import atomic_write

#: Entries of arrays begin at multiples of this many bytes: cache lines, and pages of any machine.
ALIGNMENT = 64
_LOCAL = struct.Struct("<4s5H3I2H")
_LOCAL_SIGNATURE = b"PK\x03\x04"
#: The extra field by which zips are aligned elsewhere too.
_PADDING = 0xD935
_NAME = re.compile(r"model\.json|arrays/\d{5,6}\.npy|foreign/\d{5,6}\.skops")
#: Bits that say how a member was compressed, or that its name is in UTF-8: they change nothing.
_HARMLESS_BITS = 0x0800


# -- writing ---------------------------------------------------------------------------------------


class Member(NamedTuple):
    """A part of the archive.

    Parameters
    ----------
    name : str
        Its name.
    parts : sequence of buffers
        What it holds, one after the other.
    """

    name: str
    parts: Sequence[bytes | memoryview]


def write_archive(path: str, members: Sequence[Member]) -> None:
    """Write a zip in the place of a file, wholly or not at all.

    Parameters
    ----------
    path : str
        The file. It is replaced when all is on the disk; until then it stays as it was.
    members : sequence of Member
        In this order.
    """
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
            info.create_system = 3  # whatever the machine: the same model is the same bytes
            info.external_attr = 0o644 << 16
            info.file_size = sum(len(memoryview(part)) for part in member.parts)
            info.extra = _padding(file.tell() + _LOCAL.size + len(member.name))
            with archive.open(info, "w") as writer:
                for part in member.parts:
                    writer.write(part)


def _padding(place: int) -> bytes:
    """What comes before the contents, so that these begin at a multiple of the alignment."""
    size = -place % ALIGNMENT
    if size < 6:
        size += ALIGNMENT
    return struct.pack("<HHH", _PADDING, size - 4, ALIGNMENT) + bytes(size - 6)


# -- reading ---------------------------------------------------------------------------------------


class Archive:
    """The members of a zip in memory, or in the file as far as they are read.

    Parameters
    ----------
    memory : memoryview
        The whole file.
    places : dict of str to (int, int)
        Where the contents of each member begin and end.
    """

    def __init__(self, memory: memoryview, places: dict[str, tuple[int, int]]) -> None:
        self._memory = memory
        self._places = places

    @property
    def names(self) -> set[str]:
        """The members."""
        return set(self._places)

    @property
    def n_bytes(self) -> int:
        """Bytes of the file."""
        return len(self._memory)

    def contents(self, name: str) -> memoryview:
        """What a member holds.

        Parameters
        ----------
        name : str
            The member.

        Returns
        -------
        memoryview
            Its bytes, not copied.
        """
        if name not in self._places:
            raise ModelFileError(f"{name} is not in it.")
        begin, end = self._places[name]
        return self._memory[begin:end]


@contextlib.contextmanager
def open_archive(path: str, *, memory_map: bool = False) -> Iterator[Archive]:
    """Read a model file.

    Parameters
    ----------
    path : str
        The file.
    memory_map : bool, default=False
        Whether the file stays where it is, and only what is used is read.

    Yields
    ------
    Archive
        Its members. Anything that is wrong with them, then or later, names the file.
    """
    try:
        with open(path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ModelFileError("it is no regular file")
            infos, directory = _directory(file)
            memory = _mapped(file) if memory_map else _whole(file)
            yield Archive(memory, _places(infos, directory, memory))
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ModelFileError as error:
        raise ModelFileError(f"{path} cannot be loaded: {error}") from error


def _directory(file: BinaryIO) -> tuple[list[zipfile.ZipInfo], int]:
    """The members that the directory of a zip names, and where the directory begins."""
    try:
        with zipfile.ZipFile(file) as archive:
            infos, start = archive.infolist(), archive.start_dir
    except OSError:
        raise
    except Exception as error:  # whatever a broken zip leads to
        raise ModelFileError(f"it is no model file, or was cut or changed ({error}).") from error
    if len(infos) > limits.MAX_MEMBERS:
        raise ModelFileError(f"it has {len(infos)} members; at most {limits.MAX_MEMBERS} may be.")
    for info in infos:
        if not _NAME.fullmatch(info.filename):
            raise ModelFileError(f"it has a member {info.filename[:80]!r}; it is no model file.")
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ModelFileError(
                f"its member {info.filename} is compressed; model files are stored as they are."
            )
        if info.flag_bits & ~_HARMLESS_BITS:
            raise ModelFileError(f"its member {info.filename} is encrypted or incomplete.")
    if len({info.filename for info in infos}) < len(infos):
        raise ModelFileError("it has several members of one name.")
    return sorted(infos, key=lambda info: info.header_offset), start


def _places(
    infos: list[zipfile.ZipInfo], directory: int, memory: memoryview
) -> dict[str, tuple[int, int]]:
    """Where the contents of the members are: one after the other, before the directory."""
    places = {}
    free = 0
    for info in infos:
        begin = info.header_offset
        if not free <= begin <= min(directory, len(memory)) - _LOCAL.size:
            raise ModelFileError(f"its member {info.filename} overlaps another.")
        signature, *_, n_name, n_extra = _LOCAL.unpack_from(memory, begin)
        start = begin + _LOCAL.size + n_name + n_extra
        end = start + info.file_size
        if signature != _LOCAL_SIGNATURE or end > min(directory, len(memory)):
            raise ModelFileError(f"its member {info.filename} is cut or changed.")
        name = bytes(memory[begin + _LOCAL.size : begin + _LOCAL.size + n_name])
        if name != info.filename.encode():
            raise ModelFileError(f"its member {info.filename} has two names.")
        places[info.filename] = (start, end)
        free = end
    return places


def _whole(file: BinaryIO) -> memoryview:
    """The file in memory that arrays can be views of."""
    size = os.fstat(file.fileno()).st_size
    block = np.empty(size + ALIGNMENT, np.uint8)
    first = -block.ctypes.data % ALIGNMENT
    memory = memoryview(block)[first : first + size]
    file.seek(0)
    done = 0
    while done < size:
        n = file.readinto(memory[done:])  # type: ignore[attr-defined]
        if not n:
            raise ModelFileError("it was cut while it was read.")
        done += n
    return memory


def _mapped(file: BinaryIO) -> memoryview:
    """The file where it is: processes share what they read, and what they write is their own."""
    return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
