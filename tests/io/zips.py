"""Zips written by hand, so that every field can be wrong."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, replace

_LOCAL = struct.Struct("<4s5H3I2H")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_ALIGNMENT = 64


@dataclass
class Part:
    """A member, and what its headers say of it: what is None is said as it is."""

    name: bytes
    data: bytes
    size: int | None = None
    stored: int | None = None
    place: int | None = None
    method: int = 0
    bits: int = 0
    disk: int = 0
    local_name: bytes | None = None
    extra: bytes = b""


@dataclass
class End:
    """What the end says: what is None is said as it is."""

    n_members: int | None = None
    size: int | None = None
    place: int | None = None
    comment: bytes = b""
    disk: int = 0


def zipped(parts: list[Part], end: End | None = None, *, order: list[int] | None = None) -> bytes:
    """The zip of some members; `order` lists members of the directory, some perhaps twice."""
    end = End() if end is None else end
    whole = bytearray()
    places = []
    for part in parts:
        places.append(len(whole))
        name = part.name if part.local_name is None else part.local_name
        padding = -(len(whole) + _LOCAL.size + len(name)) % _ALIGNMENT
        whole += _LOCAL.pack(
            b"PK\x03\x04", 20, part.bits, part.method, 0, 33, zlib.crc32(part.data),
            len(part.data), len(part.data),
            len(name), padding,
        )  # fmt: skip
        whole += name + bytes(padding) + part.data
    begin = len(whole)
    listed = range(len(parts)) if order is None else order
    for at in listed:
        whole += _entry(parts[at], places[at])
    many = len(listed) if end.n_members is None else end.n_members
    whole += _END.pack(
        b"PK\x05\x06", end.disk, end.disk, many & 0xFFFF, many & 0xFFFF,
        (len(whole) - begin if end.size is None else end.size) & 0xFFFFFFFF,
        (begin if end.place is None else end.place) & 0xFFFFFFFF, len(end.comment),
    )  # fmt: skip
    return bytes(whole + end.comment)


def _entry(part: Part, place: int) -> bytes:
    size = len(part.data) if part.size is None else part.size
    stored = len(part.data) if part.stored is None else part.stored
    where = place if part.place is None else part.place
    return (
        _ENTRY.pack(
            b"PK\x01\x02", 20, 20, part.bits, part.method, 0, 33, zlib.crc32(part.data),
            stored & 0xFFFFFFFF, size & 0xFFFFFFFF, len(part.name), len(part.extra), 0,
            part.disk, 0, 0, where & 0xFFFFFFFF,
        )
        + part.name
        + part.extra
    )  # fmt: skip


def deflated(part: Part) -> Part:
    """The same member, compressed as zips usually are."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(part.data) + packer.flush()
    return replace(part, data=packed, method=8, size=len(part.data))
