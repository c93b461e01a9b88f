"""Ways to change a model file: by accident, by somebody who knows the format, and bombs."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orfeon.io import ModelFileError
from orfeon.io.archive import Member, _write_members
from orfeon.io.arrays import Shape
from orfeon.io.document import NAME, read_document

Rng = np.random.Generator


# -- damage ----------------------------------------------------------------------------------------


def flip_bits(data: bytearray, rng: Rng) -> bytes:
    for at in rng.integers(len(data), size=rng.choice([1, 1, 1, 2, 8, 64])):
        data[at] ^= 1 << int(rng.integers(8))
    return bytes(data)


def truncate(data: bytearray, rng: Rng) -> bytes:
    return bytes(data[: int(rng.integers(len(data)))])


def cut_the_front(data: bytearray, rng: Rng) -> bytes:
    return bytes(data[int(rng.integers(1, len(data))) :])


def delete_a_stretch(data: bytearray, rng: Rng) -> bytes:
    begin = int(rng.integers(len(data)))
    del data[begin : begin + int(rng.integers(1, 200))]
    return bytes(data)


def insert_a_stretch(data: bytearray, rng: Rng) -> bytes:
    begin = int(rng.integers(len(data) + 1))
    data[begin:begin] = rng.bytes(int(rng.integers(1, 200)))
    return bytes(data)


def swap_stretches(data: bytearray, rng: Rng) -> bytes:
    n = int(rng.integers(1, max(2, len(data) // 4)))
    a, b = (int(at) for at in rng.integers(0, len(data) - n, size=2))
    data[a : a + n], data[b : b + n] = data[b : b + n], data[a : a + n]
    return bytes(data)


def overwrite(data: bytearray, rng: Rng) -> bytes:
    begin = int(rng.integers(len(data)))
    n = min(int(rng.integers(1, 600)), len(data) - begin)
    filling = rng.choice(["zeros", "ones", "noise"])
    data[begin : begin + n] = {"zeros": bytes(n), "ones": b"\xff" * n, "noise": rng.bytes(n)}[
        str(filling)
    ]
    return bytes(data)


def append(data: bytearray, rng: Rng) -> bytes:
    return bytes(data) + rng.bytes(int(rng.integers(1, 300)))


def twice(data: bytearray, rng: Rng) -> bytes:
    return bytes(data + data)


def change_the_directory(data: bytearray, rng: Rng) -> bytes:
    """Write a number into the central directory, the end record, or a local header."""
    signature = [b"PK\x01\x02", b"PK\x05\x06", b"PK\x03\x04"][int(rng.integers(3))]
    places = [at for at in range(len(data) - 4) if data[at : at + 4] == signature]
    if places:
        at = places[int(rng.integers(len(places)))] + int(rng.integers(4, 46))
        large = [0, 1, 8, 0xFFFF, 0xFFFFFFFF, 0x7FFFFFFF, len(data), int(rng.integers(2**32))]
        number = struct.pack("<I", large[int(rng.integers(len(large)))])
        n = int(rng.choice([1, 2, 4]))
        data[at : at + n] = number[:n]
    return bytes(data)


def change_a_digit(data: bytearray, rng: Rng) -> bytes:
    """Edit the document as text does, the digests left as they are."""
    places = [at for at in range(min(len(data), 20_000)) if 48 <= data[at] < 58]
    data[places[int(rng.integers(len(places)))]] = 48 + int(rng.integers(10))
    return bytes(data)


DAMAGE: list[Callable[[bytearray, Rng], bytes]] = [
    flip_bits, flip_bits, flip_bits, truncate, cut_the_front, delete_a_stretch, insert_a_stretch,
    swap_stretches, overwrite, append, twice, change_the_directory, change_the_directory,
    change_a_digit,
]  # fmt: skip


# -- forgery ---------------------------------------------------------------------------------------


class Opened(NamedTuple):
    """The parts of a model file."""

    content: dict[str, Any]
    arrays: list[bytes]


def opened(data: bytes) -> Opened:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        content = read_document(memoryview(archive.read(NAME)))
        arrays = [
            archive.read(f"arrays/{at:05d}.npy")[len(_header(shape)) :]
            for at, shape in enumerate(content["arrays"])
        ]
    return Opened(content, arrays)


def signed(forged: Opened) -> bytes:
    """The file of forged parts, with all digests right."""
    content = dict(forged.content)
    shapes = content.get("arrays")
    if isinstance(shapes, list) and all(isinstance(shape, list) for shape in shapes):
        pairs = zip(shapes, forged.arrays, strict=False)
        content["arrays"] = [[*one[:3], sha256(held).hexdigest()] for one, held in pairs]
    members = [Member(NAME, [signed_document(content)])]
    for at, held in enumerate(forged.arrays):
        shape = shapes[at] if isinstance(shapes, list) and at < len(shapes) else None
        members.append(Member(f"arrays/{at:05d}.npy", [_header(shape), held]))
    file = io.BytesIO()
    _write_members(file, members)
    return file.getvalue()


def signed_document(content: dict[str, Any]) -> bytes:
    """A document of any content, with its digest."""
    rest = json.dumps(content, sort_keys=True, separators=(",", ":"))[1:].encode()
    front = f'{{"format":"orfeon model","version":1,"digest":"{sha256(rest).hexdigest()}",'
    return front.encode() + rest


def _header(shape: Any) -> bytes:
    try:
        return Shape.read(shape[:3]).header()
    except (ModelFileError, TypeError):
        return bytes(128)


STRANGE: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 5, 2**15, 2**31, 2**32, 2**63, 2**64, -(2**63), 10**40, 0.5,
    -0.0, 1e308, 5e-324, "", "a", "majority", "C", "<f8", "<U9", "|O", "node", "../x", "\x00",
    [], {}, [[]], [None], {"a": 1}, {"object": 0}, {"object": -1}, {"object": 10**9}, {"array": 0},
    {"array": 1}, {"tuple": []}, {"tuple": [1, 2]}, {"dict": [[1, 2]]}, {"dict": [[[], 2]]},
    {"set": [1]}, {"float": "nan"}, {"float": "inf"}, {"float": "1"}, {"range": [0, 10**12, 1]},
    {"range": [0, 1, 0]}, {"scalar": ["<f8", [], "C", "AAAAAAAA8D8="]},
    {"inline": ["<f8", [1], "C", "AAAAAAAA8D8="]}, {"inline": ["<i8", [1], "C", "/////////38="]},
    {"inline": ["<f8", [0], "C", ""]}, {"objects": [[2], ["a", "b"]]}, {"objects": [[3], []]},
    {"objects": [[0], []]}, {"strings": [[1], ["a"]]}, {"random": {"dict": []}}, {"bunch": []},
    {"slice": [None, 3, 0]}, {"type": "float64"}, {"dtype": "object"}, {"foreign": 0},
    {"frozenset": [{"tuple": []}]},
]  # fmt: skip


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON value: the container, and the key or index."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


def _a_place(content: dict[str, Any], rng: Rng) -> tuple[Any, Any]:
    where = content if rng.random() < 0.1 else content["objects"]
    places = list(_places(where))
    return places[int(rng.integers(len(places)))]


def replace_a_value(forged: Opened, rng: Rng) -> None:
    container, key = _a_place(forged.content, rng)
    container[key] = json.loads(json.dumps(STRANGE[int(rng.integers(len(STRANGE)))]))


def change_a_number(forged: Opened, rng: Rng) -> None:
    places = [
        (container, key)
        for container, key in _places(forged.content["objects"])
        if type(container[key]) in (int, float)
    ]
    if places:
        container, key = places[int(rng.integers(len(places)))]
        factor, term = rng.choice([1, 1, -1, 2, 1000]), int(rng.choice([-1, 0, 1, 2, 2**20]))
        container[key] = type(container[key])(container[key] * factor + term)


def remove_a_value(forged: Opened, rng: Rng) -> None:
    container, key = _a_place(forged.content, rng)
    del container[key]


def swap_values(forged: Opened, rng: Rng) -> None:
    (one, a), (other, b) = _a_place(forged.content, rng), _a_place(forged.content, rng)
    first, second = json.dumps(one[a]), json.dumps(other[b])
    one[a] = json.loads(second)
    if b in other if isinstance(other, dict) else b < len(other):
        other[b] = json.loads(first)


def add_a_field(forged: Opened, rng: Rng) -> None:
    objects = forged.content["objects"]
    fields = objects[int(rng.integers(len(objects)))]["fields"]
    name = ["__class__", "predict", "members_", "_run", "n_classes_", "schema_", "__dict__"]
    fields[name[int(rng.integers(len(name)))]] = STRANGE[int(rng.integers(len(STRANGE)))]


def change_a_class(forged: Opened, rng: Rng) -> None:
    objects = forged.content["objects"]
    names = [one["class"] for one in objects] + ["Forest", "os.system", "sklearn.Pipeline", "Order"]
    objects[int(rng.integers(len(objects)))]["class"] = names[int(rng.integers(len(names)))]


def nest(forged: Opened, rng: Rng) -> None:
    container, key = _a_place(forged.content, rng)
    for _ in range(int(rng.choice([3, 39, 45, 500]))):
        container[key] = {"tuple": [container[key]]} if rng.random() < 0.5 else [container[key]]


def _an_array(forged: Opened, rng: Rng) -> int:
    return int(rng.integers(len(forged.arrays))) if forged.arrays else -1


def change_entries(forged: Opened, rng: Rng) -> None:
    """Put other numbers into an array: near ones, and those at the edges of what there is."""
    at = _an_array(forged, rng)
    if at < 0:
        return
    held, size = bytearray(forged.arrays[at]), int(rng.choice([1, 2, 4, 8]))
    edges = [0, 1, 2, 3, -1, -2, 2**15, 2**31 - 1, 2**62, -(2**63)]
    doubles = [np.inf, -np.inf, np.nan, 9.2e18, -1.0, 0.5, 1e300, 65536.0]
    for _ in range(int(rng.choice([1, 1, 2, 10]))):
        place = int(rng.integers(max(1, len(held) // size))) * size
        number = struct.pack("<q", edges[int(rng.integers(len(edges)))])
        if rng.random() < 0.3:
            number, size = struct.pack("<d", doubles[int(rng.integers(len(doubles)))]), 8
        held[place : place + size] = number[: len(held[place : place + size])]
    forged.arrays[at] = bytes(held)


def swap_arrays(forged: Opened, rng: Rng) -> None:
    a, b = _an_array(forged, rng), _an_array(forged, rng)
    if a >= 0:
        arrays, shapes = forged.arrays, forged.content["arrays"]
        arrays[a], arrays[b] = arrays[b], arrays[a]
        if rng.random() < 0.7:
            shapes[a], shapes[b] = shapes[b], shapes[a]


def change_a_shape(forged: Opened, rng: Rng) -> None:
    at = _an_array(forged, rng)
    if at < 0:
        return
    shape = forged.content["arrays"][at]
    kinds = ["<f8", "<i8", "<i4", "<u4", "<u2", "|u1", "<f4", "node", "<U4", "|O", "<c16", "|b1"]
    n = len(forged.arrays[at])
    shapes = [[n], [n // 8], [n // 8, 1], [1, n // 4], [0], [], [n // 16], [2**40], [-1], [n, n]]
    choice = int(rng.integers(3))
    if choice == 0:
        shape[0] = kinds[int(rng.integers(len(kinds)))]
    elif choice == 1:
        shape[1] = shapes[int(rng.integers(len(shapes)))]
    else:
        shape[2] = ["F", "A", None][int(rng.integers(3))]
    if rng.random() < 0.5 and isinstance(shape[1], list) and shape[0] in kinds:
        _fit_entries(forged, at)


def _fit_entries(forged: Opened, at: int) -> None:
    """As many entries as the shape asks for, so that the array itself is in order."""
    try:
        wanted = Shape.read(forged.content["arrays"][at][:3]).n_bytes
    except ModelFileError:
        return
    if wanted < 1 << 20:
        forged.arrays[at] = (forged.arrays[at] + bytes(wanted))[:wanted]


def shorten_an_array(forged: Opened, rng: Rng) -> None:
    at = _an_array(forged, rng)
    if at >= 0:
        shape = forged.content["arrays"][at][1]
        if shape and shape[0]:
            each = len(forged.arrays[at]) // shape[0]
            shape[0] -= int(rng.integers(1, shape[0] + 1))
            forged.arrays[at] = forged.arrays[at][: each * shape[0]]


def remove_an_array(forged: Opened, rng: Rng) -> None:
    at = _an_array(forged, rng)
    if at >= 0:
        del forged.arrays[at]


FORGERY: list[Callable[[Opened, Rng], None]] = [
    replace_a_value, replace_a_value, replace_a_value, change_a_number, change_a_number,
    remove_a_value, swap_values, add_a_field, change_a_class, nest, change_entries, change_entries,
    change_entries, change_entries, swap_arrays, change_a_shape, shorten_an_array, remove_an_array,
]  # fmt: skip


# -- bombs -----------------------------------------------------------------------------------------


def bombs(data: bytes, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Files that are small and say that they are large."""
    path = folder / "bomb.zip"
    zeros = zlib.compress(bytes(1 << 20), 9)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", b" " * (1 << 24))
    yield "compressed blanks", path.read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        for at in range(3000):
            archive.writestr(f"arrays/{at:05d}.npy", b"")
    yield "many members", path.read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", b"[" * 10**5)
    yield "brackets", path.read_bytes()
    for name, about in (("nested", b"[" * 10**5 + b"]" * 10**5), ("a long number", b"9" * 10**6)):
        rest = b'"about":' + about + b"}"
        front = f'{{"format":"orfeon model","version":1,"digest":"{sha256(rest).hexdigest()}",'
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("model.json", front.encode() + rest)
        yield name, path.read_bytes()
    whole = bytearray(data)
    at = whole.find(b"PK\x01\x02")
    whole[at + 20 : at + 28] = struct.pack("<II", 0xFFFFFFF0, 0xFFFFFFF0)
    yield "sizes beyond the file", bytes(whole)
    yield "no zip", zeros
