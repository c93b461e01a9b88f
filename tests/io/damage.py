"""What happens to files by accident, or by somebody who does not know how they are signed.

Whatever becomes of the bytes, loading must give the very model that was saved, or be refused.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.io.zips import End, Part, deflated, zipped

Damage = Callable[[bytes, list[Part], Random], bytes]


# -- bytes -----------------------------------------------------------------------------------------


def flip_bits(data: bytes, parts: list[Part], rng: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8, 64))):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncate(data: bytes, parts: list[Part], rng: Random) -> bytes:
    return data[: rng.randrange(len(data))]


def cut_the_front(data: bytes, parts: list[Part], rng: Random) -> bytes:
    return data[rng.randrange(1, len(data)) :]


def delete_a_stretch(data: bytes, parts: list[Part], rng: Random) -> bytes:
    begin = rng.randrange(len(data))
    return data[:begin] + data[begin + rng.randrange(1, 200) :]


def insert_a_stretch(data: bytes, parts: list[Part], rng: Random) -> bytes:
    begin = rng.randrange(len(data) + 1)
    return data[:begin] + rng.randbytes(rng.randrange(1, 200)) + data[begin:]


def swap_stretches(data: bytes, parts: list[Part], rng: Random) -> bytes:
    changed = bytearray(data)
    n = rng.randrange(1, max(2, len(data) // 4))
    a, b = rng.randrange(len(data) - n), rng.randrange(len(data) - n)
    changed[a : a + n], changed[b : b + n] = changed[b : b + n], changed[a : a + n]
    return bytes(changed)


def overwrite(data: bytes, parts: list[Part], rng: Random) -> bytes:
    changed = bytearray(data)
    begin = rng.randrange(len(data))
    n = min(rng.randrange(1, 600), len(data) - begin)
    changed[begin : begin + n] = rng.choice((bytes(n), b"\xff" * n, rng.randbytes(n)))
    return bytes(changed)


def append(data: bytes, parts: list[Part], rng: Random) -> bytes:
    return data + rng.randbytes(rng.randrange(1, 300))


def twice(data: bytes, parts: list[Part], rng: Random) -> bytes:
    return data + data


def change_the_directory(data: bytes, parts: list[Part], rng: Random) -> bytes:
    """Write a number into the directory, the end, or the header of a member."""
    signature = rng.choice((b"PK\x01\x02", b"PK\x05\x06", b"PK\x03\x04"))
    places = _all_of(signature, data)
    at = rng.choice(places) + rng.randrange(4, 46)
    large = (0, 1, 8, 0xFFFF, 0xFFFFFFFF, 0x7FFFFFFF, len(data), rng.getrandbits(32))
    n = rng.choice((1, 2, 4))
    return data[:at] + struct.pack("<I", rng.choice(large))[:n] + data[at + n :]


def _all_of(signature: bytes, data: bytes) -> list[int]:
    found, at = [], data.find(signature)
    while at >= 0:
        found.append(at)
        at = data.find(signature, at + 1)
    return found


def change_a_digit(data: bytes, parts: list[Part], rng: Random) -> bytes:
    """Edit the document as text does, the digests left as they are."""
    at = rng.randrange(len(parts[0].data))
    begin = data.find(parts[0].data[:64]) + at
    while not 48 <= data[begin] < 58:
        begin -= 1
    return data[:begin] + str(rng.randrange(10)).encode() + data[begin + 1 :]


# -- members ---------------------------------------------------------------------------------------


def _one(parts: list[Part], rng: Random) -> int:
    return rng.randrange(len(parts))


def swap_members(data: bytes, parts: list[Part], rng: Random) -> bytes:
    """Two members under each other's name."""
    a, b = _one(parts, rng), _one(parts, rng)
    changed = list(parts)
    changed[a], changed[b] = (
        replace(parts[a], name=parts[b].name),
        replace(parts[b], name=parts[a].name),
    )
    return zipped(changed)


def reorder_members(data: bytes, parts: list[Part], rng: Random) -> bytes:
    """The same members in another order, which changes nothing."""
    return zipped(rng.sample(parts, len(parts)))


def list_a_member_twice(data: bytes, parts: list[Part], rng: Random) -> bytes:
    order = [*range(len(parts)), _one(parts, rng)]
    rng.shuffle(order)
    return zipped(parts, order=order)


def add_a_second_of_a_name(data: bytes, parts: list[Part], rng: Random) -> bytes:
    other = replace(parts[_one(parts, rng)], data=rng.randbytes(rng.randrange(300)))
    return zipped(rng.sample([*parts, other], len(parts) + 1))


def lose_a_member(data: bytes, parts: list[Part], rng: Random) -> bytes:
    at = _one(parts, rng)
    return zipped(parts[:at] + parts[at + 1 :])


def add_a_member(data: bytes, parts: list[Part], rng: Random) -> bytes:
    name = rng.choice((b"arrays/99999.npy", b"foreign/00000.skops", b"x.pkl", b"../model.json"))
    return zipped([*parts, Part(name, rng.randbytes(rng.randrange(300)))])


def overlap(data: bytes, parts: list[Part], rng: Random) -> bytes:
    """A member begins within another, or ends within the next."""
    at = _one(parts, rng)
    changed = list(parts)
    if rng.random() < 0.5:
        changed[at] = replace(parts[at], place=rng.randrange(len(data)))
    else:
        longer = len(parts[at].data) + rng.choice((1, 64, 500, rng.randrange(len(data))))
        changed[at] = replace(parts[at], size=longer, stored=longer)
    return zipped(changed)


def share_a_place(data: bytes, parts: list[Part], rng: Random) -> bytes:
    """Many names for the same bytes: a bomb without compression."""
    many = [replace(parts[0], name=f"arrays/{at:05d}.npy".encode(), place=0) for at in range(50)]
    return zipped([*parts, *many])


def compress(data: bytes, parts: list[Part], rng: Random) -> bytes:
    at = _one(parts, rng)
    return zipped([*parts[:at], deflated(parts[at]), *parts[at + 1 :]])


def bomb(data: bytes, parts: list[Part], rng: Random) -> bytes:
    """A megabyte of zeros in a thousand bytes, and a size of anything."""
    at = _one(parts, rng)
    packed = deflated(replace(parts[at], data=bytes(1 << 20)))
    packed = replace(packed, size=rng.choice((None, 1 << 20, 0xFFFFFFFE)), stored=packed.stored)
    method = rng.choice((0, 8, 8, 9, 12, 14))
    return zipped([*parts[:at], replace(packed, method=method), *parts[at + 1 :]])


def claim_a_size(data: bytes, parts: list[Part], rng: Random) -> bytes:
    """Sizes and places that there are not, also in the fields for large files."""
    at = _one(parts, rng)
    number = rng.choice((0, 1, len(data), 1 << 31, 0xFFFFFFFF))
    large = struct.pack("<HHQQQ", 1, 24, *(rng.choice((0, 200, 1 << 40, 2**64 - 1)) for _ in "abc"))
    changed = replace(
        parts[at], size=number, stored=number, extra=rng.choice((b"", large, large[:-5]))
    )
    if rng.random() < 0.3:
        changed = replace(changed, place=0xFFFFFFFF)
    return zipped([*parts[:at], changed, *parts[at + 1 :]])


def mark_a_member(data: bytes, parts: list[Part], rng: Random) -> bytes:
    """Encrypted, with a descriptor after it, on another disk, or under two names."""
    at = _one(parts, rng)
    changed = rng.choice(
        (
            replace(parts[at], bits=1 << rng.randrange(16)),
            replace(parts[at], disk=rng.randrange(1, 9)),
            replace(parts[at], local_name=b"arrays/00007.npy"),
            replace(parts[at], name=parts[at].name.upper()),
        )
    )
    return zipped([*parts[:at], changed, *parts[at + 1 :]])


def claim_an_end(data: bytes, parts: list[Part], rng: Random) -> bytes:
    numbers = (None, 0, 1, len(parts), 0xFFFF, len(data), 0xFFFFFFFF)
    end = End(
        n_members=rng.choice(numbers), size=rng.choice(numbers), place=rng.choice(numbers),
        comment=rng.randbytes(rng.choice((0, 0, 3))), disk=rng.choice((0, 0, 0, 1)),
    )  # fmt: skip
    return zipped(parts, end)


def end_as_a_large_file(data: bytes, parts: list[Part], rng: Random) -> bytes:
    """The end that large zips have, right or with a number of anything."""
    whole = zipped(parts)
    end = whole[-22:]
    n, size, place = struct.unpack_from("<HII", end, 10)
    numbers = [n, n, size, place]
    where = len(whole) - 22
    if rng.random() < 0.7:
        numbers[rng.randrange(4)] = rng.choice((0, 1, 1 << 40, 2**64 - 1, len(whole)))
    if rng.random() < 0.2:
        where = rng.randrange(len(whole))
    large = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, *numbers)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, where, 1)
    if rng.random() < 0.5:
        end = end[:8] + b"\xff" * 12 + end[20:]
    return whole[:-22] + large + locator + end


DAMAGE: tuple[Damage, ...] = (
    flip_bits, flip_bits, flip_bits, flip_bits, flip_bits, truncate, truncate, cut_the_front,
    delete_a_stretch, insert_a_stretch, swap_stretches, overwrite, append, twice,
    change_the_directory, change_the_directory, change_a_digit, swap_members, swap_members,
    reorder_members, list_a_member_twice, add_a_second_of_a_name, lose_a_member, add_a_member,
    overlap, overlap, share_a_place, compress, bomb, claim_a_size, mark_a_member, claim_an_end,
    end_as_a_large_file,
)  # fmt: skip
