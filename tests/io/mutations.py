"""Files that were changed inside and signed again, as by somebody who knows the format.

All digests are right, so that what is met are the checks behind them. Loading must be refused, or
give a model that can be asked without reading beyond an array; what it says is the forger's.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import struct
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple

from tests.io.zips import Part, zipped

from orfeon.io import ModelFileError
from orfeon.io.arrays import Layout
from orfeon.io.document import NAME, read_document


class Opened(NamedTuple):
    """The parts of a model file."""

    content: dict[str, Any]
    arrays: list[bytes]
    #: Estimators of other packages, as skops wrote them.
    foreign: list[bytes]


def opened(data: bytes) -> Opened:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        content = read_document(memoryview(archive.read(NAME)))
        arrays = [
            archive.read(f"arrays/{at:05d}.npy")[len(_header(shape)) :]
            for at, shape in enumerate(content["arrays"])
        ]
        foreign = [archive.read(_foreign(at)) for at in range(len(content["foreign"]))]
    return Opened(content, arrays, foreign)


def _foreign(at: int) -> str:
    return f"foreign/{at:05d}.skops"


def signed(forged: Opened, spoil: Callable[[bytes], bytes] | None = None) -> bytes:
    """The file of forged parts, with all digests right; the text of its document may be spoilt."""
    content = dict(forged.content)
    shapes = content.get("arrays")
    if isinstance(shapes, list) and all(isinstance(shape, list) for shape in shapes):
        pairs = zip(shapes, forged.arrays, strict=False)
        content["arrays"] = [[*one[:3], sha256(held).hexdigest()] for one, held in pairs]
    if forged.foreign:
        content["foreign"] = [sha256(held).hexdigest() for held in forged.foreign]
    parts = [Part(NAME.encode(), signed_document(content, spoil))]
    for at, held in enumerate(forged.arrays):
        shape = shapes[at] if isinstance(shapes, list) and at < len(shapes) else None
        parts.append(Part(b"arrays/%05d.npy" % at, _header(shape) + held))
    parts += [Part(_foreign(at).encode(), held) for at, held in enumerate(forged.foreign)]
    return zipped(parts)


def signed_document(
    content: dict[str, Any], spoil: Callable[[bytes], bytes] | None = None
) -> bytes:
    """A document of any content, with its digest."""
    rest = json.dumps(content, sort_keys=True, separators=(",", ":"))[1:].encode()
    rest = rest if spoil is None else spoil(rest)
    front = f'{{"format":"orfeon model","version":1,"digest":"{sha256(rest).hexdigest()}",'
    return front.encode() + rest


_HEADERS: dict[str, bytes] = {}


def _header(shape: Any) -> bytes:
    known = repr(shape)
    if known not in _HEADERS:
        try:
            _HEADERS[known] = Layout.from_json(shape[:3]).header()
        except (ModelFileError, TypeError, ValueError):
            _HEADERS[known] = bytes(128)
    return _HEADERS[known]


STRANGE: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 5, 2**15, 2**31, 2**32, 2**63, 2**64, -(2**63), 10**40, 0.5,
    -0.0, 1e308, 5e-324, "", "a", "majority", "C", "<f8", "<U9", "|O", "node", "../x", "\x00",
    "\ud800", "a" * 5000, [], {}, [[]], [None], [0] * 2000, {"a": 1}, {"object": 0}, {"object": -1},
    {"object": 10**9}, {"array": 0}, {"array": 1}, {"tuple": []}, {"tuple": [1, 2]},
    {"dict": [[1, 2]]}, {"dict": [[[], 2]]}, {"set": [1]}, {"float": "nan"}, {"float": "inf"},
    {"float": "1"}, {"range": [0, 10**12, 1]}, {"range": [0, 1, 0]}, {"range": [0, 2**62, 1]},
    {"scalar": ["<f8", [], "C", "AAAAAAAA8D8="]}, {"inline": ["<f8", [1], "C", "AAAAAAAA8D8="]},
    {"inline": ["<i8", [1], "C", "/////////38="]}, {"inline": ["<f8", [0], "C", ""]},
    {"inline": ["<f8", [0, 2**40], "C", ""]}, {"inline": ["|S1048576", [0], "C", ""]},
    {"objects": [[2], ["a", "b"]]}, {"objects": [[3], []]}, {"objects": [[0], []]},
    {"objects": [[0, 2**40], []]}, {"strings": [[1], ["a"]]}, {"random": {"dict": []}},
    {"bunch": []}, {"slice": [None, 3, 0]}, {"type": "float64"}, {"dtype": "object"},
    {"foreign": 0}, {"frozenset": [{"tuple": []}]},
]  # fmt: skip
_TEXTS = [json.dumps(one) for one in STRANGE]


def _strange(rng: Random) -> Any:
    return json.loads(rng.choice(_TEXTS))


# -- places ----------------------------------------------------------------------------------------


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON value: the container, and the key or index."""
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
    for key, inner in pairs:
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


def _a_place(content: dict[str, Any], rng: Random) -> tuple[Any, Any]:
    """Some place, mostly among the objects: on the way down from the top, or any of all."""
    where: Any = content if rng.random() < 0.1 else content["objects"]
    if rng.random() < 0.2:
        return rng.choice(list(_places(where)))
    return _on_the_way(where, rng)


def _on_the_way(where: Any, rng: Random) -> tuple[Any, Any]:
    while True:
        key = rng.choice(list(where)) if isinstance(where, dict) else rng.randrange(len(where))
        inner = where[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.2:
            return where, key
        where = inner


# -- values ----------------------------------------------------------------------------------------


def replace_a_value(forged: Opened, rng: Random) -> None:
    container, key = _a_place(forged.content, rng)
    container[key] = _strange(rng)


def change_a_number(forged: Opened, rng: Random) -> None:
    for _ in range(30):
        container, key = _on_the_way(forged.content["objects"], rng)
        if type(container[key]) in (int, float):
            factor, term = rng.choice((1, 1, -1, 2, 1000)), rng.choice((-1, 0, 1, 2, 2**20))
            container[key] = type(container[key])(container[key] * factor + term)
            return


def remove_a_value(forged: Opened, rng: Random) -> None:
    container, key = _a_place(forged.content, rng)
    del container[key]


def repeat_a_value(forged: Opened, rng: Random) -> None:
    container, key = _a_place(forged.content, rng)
    if isinstance(container, list):
        container[key:key] = [container[key]] * rng.choice((1, 2, 50))


def swap_values(forged: Opened, rng: Random) -> None:
    (one, a), (other, b) = _a_place(forged.content, rng), _a_place(forged.content, rng)
    first, second = json.dumps(one[a]), json.dumps(other[b])
    one[a] = json.loads(second)
    if b in other if isinstance(other, dict) else b < len(other):
        other[b] = json.loads(first)


def redirect(forged: Opened, rng: Random) -> None:
    """Let a part of the model be another object or array of the same file."""
    for _ in range(30):
        container, key = _on_the_way(forged.content["objects"], rng)
        if key in ("object", "array"):
            most = len(forged.content["objects" if key == "object" else "arrays"])
            container[key] = rng.randrange(max(1, most))
            return


def add_a_field(forged: Opened, rng: Random) -> None:
    names = ("__class__", "predict", "members_", "_run", "n_classes_", "schema_", "__dict__")
    rng.choice(forged.content["objects"])["fields"][rng.choice(names)] = _strange(rng)


def change_a_class(forged: Opened, rng: Random) -> None:
    objects = forged.content["objects"]
    names = [one["class"] for one in objects]
    more = ["Forest", "os.system", "sklearn.Pipeline", "Order", "Combination", "AlikeTrees"]
    rng.choice(objects)["class"] = rng.choice(names + more)


def nest(forged: Opened, rng: Random) -> None:
    container, key = _a_place(forged.content, rng)
    for _ in range(rng.choice((3, 39, 45, 500))):
        container[key] = {"tuple": [container[key]]} if rng.random() < 0.5 else [container[key]]


# -- arrays ----------------------------------------------------------------------------------------

_EDGES = (0, 1, 2, 3, -1, -2, 7, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**62, -(2**63))
_DOUBLES = (float("inf"), -float("inf"), float("nan"), 9.2e18, -1.0, 0.5, 1e300, 65536.0)


def _other_entries(held: bytes, rng: Random) -> bytes:
    """Other numbers in an array: near ones, and those at the edges of what there is."""
    changed = bytearray(held)
    size = rng.choice((1, 2, 4, 8))
    for _ in range(rng.choice((1, 1, 2, 10))):
        place = rng.randrange(max(1, len(changed) // size)) * size
        number = struct.pack("<q", rng.choice(_EDGES))
        if rng.random() < 0.3:
            number, size = struct.pack("<d", rng.choice(_DOUBLES)), 8
        elif rng.random() < 0.3:
            near = int.from_bytes(changed[place : place + size], "little") + rng.choice((-1, 1))
            number = struct.pack("<Q", near % 2**64)
        changed[place : place + size] = number[: len(changed[place : place + size])]
    return bytes(changed)


def _an_array(forged: Opened, rng: Random) -> int:
    return rng.randrange(len(forged.arrays)) if forged.arrays else -1


def _small_arrays(forged: Opened) -> list[list[Any]]:
    """The arrays that stand in the document itself."""
    found = [
        container[key]
        for container, key in _places(forged.content["objects"])
        if key in ("inline", "scalar")
    ]
    return [one for one in found if isinstance(one, list) and len(one) == 4]


def change_entries(forged: Opened, rng: Random) -> None:
    at = _an_array(forged, rng)
    if at >= 0:
        forged.arrays[at] = _other_entries(forged.arrays[at], rng)


def change_small_entries(forged: Opened, rng: Random) -> None:
    small = _small_arrays(forged)
    if small:
        one = rng.choice(small)
        one[3] = base64.b64encode(_other_entries(base64.b64decode(one[3]), rng)).decode()


def swap_arrays(forged: Opened, rng: Random) -> None:
    a, b = _an_array(forged, rng), _an_array(forged, rng)
    if a >= 0:
        arrays, shapes = forged.arrays, forged.content["arrays"]
        arrays[a], arrays[b] = arrays[b], arrays[a]
        if rng.random() < 0.7:
            shapes[a], shapes[b] = shapes[b], shapes[a]


def swap_small_arrays(forged: Opened, rng: Random) -> None:
    small = _small_arrays(forged)
    if len(small) > 1:
        one, other = rng.sample(small, 2)
        one[:], other[:] = other[:], one[:]


def _other_shape(shape: list[Any], n: int, rng: Random) -> None:
    kinds = ("<f8", "<i8", "<i4", "<u4", "<u2", "|u1", "<f4", "node", "<U4", "|O", "<c16", "|b1")
    shapes = (
        [n], [n // 8], [n // 8, 1], [1, n // 4], [0], [], [n // 16], [2**40], [-1], [n, n],
        [2**40, 2**40], [0, 2**40], [1] * 20, [2**63], [n // 8, 0],
    )  # fmt: skip
    which = rng.randrange(3)
    shape[which] = rng.choice((kinds, shapes, ("F", "A", None))[which])


def change_a_shape(forged: Opened, rng: Random) -> None:
    at = _an_array(forged, rng)
    if at >= 0:
        shape = forged.content["arrays"][at]
        _other_shape(shape, len(forged.arrays[at]), rng)
        if rng.random() < 0.5:
            forged.arrays[at] = _fitting(shape, forged.arrays[at])


def change_a_small_shape(forged: Opened, rng: Random) -> None:
    small = _small_arrays(forged)
    if small:
        shape = rng.choice(small)
        held = base64.b64decode(shape[3])
        _other_shape(shape, len(held), rng)
        if rng.random() < 0.7:
            shape[3] = base64.b64encode(_fitting(shape, held)).decode()


def _fitting(shape: list[Any], held: bytes) -> bytes:
    """As many entries as the shape asks for, so that the array itself is in order."""
    try:
        wanted = Layout.from_json(shape[:3]).n_bytes
    except ModelFileError:
        return held
    return (held + bytes(wanted))[:wanted] if wanted < 1 << 20 else held


def shorten_an_array(forged: Opened, rng: Random) -> None:
    at = _an_array(forged, rng)
    if at >= 0:
        shape = forged.content["arrays"][at][1]
        if shape and shape[0]:
            each = len(forged.arrays[at]) // shape[0]
            shape[0] -= rng.randrange(1, shape[0] + 1)
            forged.arrays[at] = forged.arrays[at][: each * shape[0]]


def remove_an_array(forged: Opened, rng: Random) -> None:
    at = _an_array(forged, rng)
    if at >= 0:
        del forged.arrays[at]


FORGERY: tuple[Callable[[Opened, Random], None], ...] = (
    replace_a_value, replace_a_value, replace_a_value, replace_a_value, change_a_number,
    change_a_number, change_a_number, remove_a_value, repeat_a_value, swap_values, redirect,
    redirect, add_a_field, change_a_class, nest, change_entries, change_entries, change_entries,
    change_entries, change_small_entries, change_small_entries, change_small_entries, swap_arrays,
    swap_arrays, swap_small_arrays, change_a_shape, change_a_small_shape, shorten_an_array,
    remove_an_array,
)  # fmt: skip
#: What goes wrong when there is nothing to be changed in a certain way.
NOTHING_THERE = (
    AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError,
    binascii.Error,
)  # fmt: skip


# -- the text of the document ----------------------------------------------------------------------


def a_spoiler(rng: Random) -> Callable[[bytes], bytes]:
    """A way to write a document that no writer of JSON would."""
    number = rng.choice((b"NaN", b"-Infinity", b"1e999", b"9" * 400, b"9" * 5000, b"00", b"0x1"))
    key = rng.choice((b'"about":1,', b'"objects":[],', b'"model":{"object":0},', b'"format":2,'))
    share = rng.random()

    def at_a_number(text: bytes) -> bytes:
        at = text.find(b":", int(share * len(text))) + 1
        return text[:at] + number + b',"' + text[at:]

    def instead_of_a_number(text: bytes) -> bytes:
        for at in range(int(share * len(text)), len(text) - 1):
            if text[at : at + 1].isdigit() and text[at - 1 : at] in b":[,":
                end = at
                while text[end : end + 1].isdigit():
                    end += 1
                return text[:at] + number + text[end:]
        return text

    def with_a_key_twice(text: bytes) -> bytes:
        return key + text

    def with_brackets(text: bytes) -> bytes:
        n = rng.choice((50, 900, 10**5))
        return b'"about":' + b"[" * n + b"]" * n + b"," + text

    def with_a_byte(text: bytes) -> bytes:
        at = int(share * len(text))
        return text[:at] + rng.choice((b"\xff", b"\x00", b"\\", b"}", b"{", b'"')) + text[at:]

    return rng.choice(
        (at_a_number, instead_of_a_number, with_a_key_twice, with_brackets, with_a_byte)
    )
