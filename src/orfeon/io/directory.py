"""A strict reader of the zip directory: only what a model file may contain is accepted.

Python's ``zipfile`` reads what it can of any zip. Here the directory must be the last thing in the
file and begin where its end record says, members must not be compressed, and bounds are checked
before anything is read.
"""

from __future__ import annotations

import re
import struct
from typing import BinaryIO, NamedTuple

from orfeon.io import limits
from orfeon.io.errors import ModelFileError

_END = struct.Struct("<4s4H2IH")
_LARGE_END = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_LOCAL = struct.Struct("<4s5H3I2H")
_NAME = re.compile(rb"model\.json|arrays/\d{5,6}\.npy|foreign/\d{5,6}\.skops")
#: The flag of UTF-8 names, which changes nothing for ASCII names.
_HARMLESS_BITS = 0x0800
#: Values of a field of four or two bytes that refer to a zip64 field.
_LARGE, _MANY = 0xFFFFFFFF, 0xFFFF
#: The zip64 extra field, with the sizes and offsets of large members.
_LARGE_FIELD = 1


class Listed(NamedTuple):
    name: str
    place: int
    size: int


class _End(NamedTuple):
    """The end record of a zip: where the directory is, and how many members it lists."""

    n_members: int
    size: int
    place: int


def _broken(what: str) -> ModelFileError:
    return ModelFileError(f"it is not a model file, or was truncated or changed ({what}).")


def read_directory(file: BinaryIO, n_bytes: int) -> tuple[list[Listed], int]:
    """The members in the directory of a zip, by offset, and where the directory begins."""
    end = _read_end(file, n_bytes)
    if end.n_members > limits.MAX_MEMBERS:
        raise ModelFileError(
            f"it has {end.n_members} members; at most {limits.MAX_MEMBERS} are allowed."
        )
    if end.size > limits.MAX_DIRECTORY:
        raise ModelFileError(f"its directory has {end.size} bytes, which is too large.")
    file.seek(end.place)
    directory = file.read(end.size)
    listed = []
    at = 0
    for _ in range(end.n_members):
        member, at = _read_entry(directory, at)
        listed.append(member)
    if at != len(directory):
        raise _broken("its directory has unexpected content")
    if len({member.name for member in listed}) < len(listed):
        raise ModelFileError("it has several members with the same name.")
    return sorted(listed, key=lambda member: member.place), end.place


def _read_end(file: BinaryIO, n_bytes: int) -> _End:
    """The end record; the directory must end where it begins."""
    n_tail = min(n_bytes, _END.size + _LOCATOR.size + _LARGE_END.size)
    file.seek(n_bytes - n_tail)
    tail = file.read(n_tail)
    if len(tail) < max(n_tail, _END.size):
        raise _broken("it is too short")
    signature, disk, first, n_here, n_members, size, place, n_comment = _END.unpack(
        tail[-_END.size :]
    )
    if signature != b"PK\x05\x06" or n_comment or disk or first or n_here != n_members:
        raise _broken("it does not end like a zip")
    found, before = _End(n_members, size, place), n_bytes - _END.size
    if len(tail) == _END.size + _LOCATOR.size + _LARGE_END.size and (
        tail[_LARGE_END.size :].startswith(b"PK\x06\x07")
    ):
        found, before = _read_large_end(tail, found, n_bytes)
    if found.place + found.size != before:
        raise _broken("its directory is not where it should be")
    return found


def _read_large_end(tail: bytes, small: _End, n_bytes: int) -> tuple[_End, int]:
    """The zip64 end record, which must agree with the plain one."""
    before = n_bytes - len(tail)
    signature, size_of_this, _, _, disk, first, n_here, *known = _LARGE_END.unpack_from(tail, 0)
    _, _, place, n_disks = _LOCATOR.unpack_from(tail, _LARGE_END.size)
    is_here = place == before and size_of_this == _LARGE_END.size - 12
    if signature != b"PK\x06\x06" or not is_here or disk or first or n_disks > 1:
        raise _broken("it does not end like a large zip")
    found = _End(*known)
    agrees = small.n_members in (_MANY, found.n_members) and n_here == found.n_members
    if not agrees or small.size not in (_LARGE, found.size):
        raise _broken("its two end records differ")
    if small.place not in (_LARGE, found.place):
        raise _broken("its two end records differ")
    return found, before


def _read_entry(directory: bytes, at: int) -> tuple[Listed, int]:
    """The entry at an offset of the directory, and where the next entry begins."""
    if at + _ENTRY.size > len(directory):
        raise _broken("its directory is too short")
    (
        signature, _, _, bits, method, _, _, _, stored, size, n_name, n_extra, n_comment, disk, _,
        _, place,
    ) = _ENTRY.unpack_from(directory, at)  # fmt: skip
    name_at = at + _ENTRY.size
    extra_at = name_at + n_name
    after = extra_at + n_extra + n_comment
    if signature != b"PK\x01\x02" or after > len(directory):
        raise _broken("its directory is not valid")
    written = directory[name_at:extra_at]
    name = written.decode("ascii", "replace")
    if not _NAME.fullmatch(written):
        raise ModelFileError(f"it is not a model file: it has a member {name[:80]!r}.")
    if _LARGE in (size, stored, place):
        size, stored, place = _large_numbers(
            directory[extra_at : extra_at + n_extra], size, stored, place
        )
    if method or stored != size:
        raise ModelFileError(
            f"its member {name} is compressed; members of model files must not be."
        )
    if bits & ~_HARMLESS_BITS or disk:
        raise ModelFileError(f"its member {name} is encrypted or incomplete.")
    return Listed(name, place, size), after


def _large_numbers(extra: bytes, *numbers: int) -> list[int]:
    """Sizes and offset of a large member, which the zip64 extra field has in this order."""
    at = 0
    while at + 4 <= len(extra):
        kind, n = struct.unpack_from("<HH", extra, at)
        held = extra[at + 4 : at + 4 + n]
        if kind == _LARGE_FIELD:
            large = iter(struct.unpack(f"<{len(held) // 8}Q", held[: len(held) // 8 * 8]))
            return [next(large, one) if one == _LARGE else one for one in numbers]
        at += 4 + n
    return list(numbers)


def find_contents(
    listed: list[Listed], directory: int, memory: memoryview
) -> dict[str, tuple[int, int]]:
    """Begin and end of the contents of each member; members must not overlap."""
    places = {}
    free, limit = 0, min(directory, len(memory))
    for name, place, size in listed:
        if not free <= place <= limit - _LOCAL.size:
            raise ModelFileError(f"its member {name} overlaps another.")
        signature, *_, n_name, n_extra = _LOCAL.unpack_from(memory, place)
        name_at = place + _LOCAL.size
        begin = name_at + n_name + n_extra
        if signature != b"PK\x03\x04" or begin + size > limit:
            raise ModelFileError(f"its member {name} is truncated or changed.")
        if bytes(memory[name_at : name_at + n_name]) != name.encode():
            raise ModelFileError(f"its member {name} has two names.")
        places[name] = (begin, begin + size)
        free = begin + size
    return places
