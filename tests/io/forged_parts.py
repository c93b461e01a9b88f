"""Parts of a model file that is being forged: references, arrays and sizes, changed together."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.io.mutations import Opened

from orfeon.io.arrays import Layout, entry_bytes, read_small_array
from orfeon.io.limits import SMALL_ARRAY

#: Bytes of an array, and of a file, beyond which a forgery is no longer quick.
MOST_BYTES = 1 << 21
#: Items of lists, likewise: of ten characters each, or fewer that are longer.
MOST_ITEMS = 50_000


class NotThereError(ValueError):
    """A file has nothing that could be forged in this way."""


def copied(value: Any) -> Any:
    return json.loads(json.dumps(value))


def pick(choices: Any, rng: Random) -> Any:
    found = list(choices)
    if not found:
        raise NotThereError
    return rng.choice(found)


# -- references ------------------------------------------------------------------------------------


def forms(value: Any, *names: str) -> Iterator[dict[str, Any]]:
    """Every value of some forms within a JSON value: {"object": 3}, {"array": 0}."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if len(one) == 1 and next(iter(one)) in names:
                yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def objects(forged: Opened) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = forged.content["objects"]
    return found


def model_at(forged: Opened) -> int:
    found: int = forged.content["model"]["object"]
    return found


def add_object(forged: Opened, name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Add an object behind all others, and give the reference to it."""
    objects(forged).append({"class": name, "fields": fields})
    return {"object": len(objects(forged)) - 1}


def shift(value: Any, by: int) -> None:
    """Count objects that were put before all others."""
    for one in forms(value, "object"):
        one["object"] += by


def way_down(forged: Opened, rng: Random) -> list[int]:
    """Objects from the model to some estimator within it, each held by the one before."""
    way = [model_at(forged)]
    while True:
        held = {one["object"] for one in forms(objects(forged)[way[-1]]["fields"], "object")}
        further = [at for at in sorted(held) if type(at) is int and at < way[-1]]
        if not further or (len(way) > 1 and _is_estimator(forged, way[-1]) and rng.random() < 0.5):
            break
        way.append(rng.choice(further))
    while len(way) > 1 and not _is_estimator(forged, way[-1]):
        way.pop()
    if len(way) < 2:
        raise NotThereError
    return way


def _is_estimator(forged: Opened, at: int) -> bool:
    fields = objects(forged)[at]["fields"]
    return "n_features_in_" in fields or "steps" in fields


# -- arrays ----------------------------------------------------------------------------------------


def read_array(forged: Opened, written: Any) -> npt.NDArray[Any]:
    """The array that stands in the document or in a member, to be changed."""
    if "inline" in written:
        return read_small_array(written["inline"])
    at = written["array"]
    shape = Layout.from_json(forged.content["arrays"][at][:3])
    return shape.view(memoryview(bytearray(forged.arrays[at]))).copy(order=shape.order)


def written_array(forged: Opened, array: npt.NDArray[Any]) -> dict[str, Any]:
    """An array as a new part of the file."""
    if array.nbytes > MOST_BYTES:
        raise NotThereError
    shape = Layout.of(array)
    entries = bytes(entry_bytes(array, shape))
    if array.nbytes <= SMALL_ARRAY:
        return {"inline": [*shape.to_json(), base64.b64encode(entries).decode()]}
    forged.content["arrays"].append([*shape.to_json(), ""])
    forged.arrays.append(entries)
    return {"array": len(forged.arrays) - 1}


def replace_array(forged: Opened, written: dict[str, Any], array: npt.NDArray[Any]) -> None:
    """Another array in the place of one; a member keeps its number."""
    if "inline" in written or array.nbytes > MOST_BYTES:
        new = written_array(forged, array)
        written.clear()
        written.update(new)
        return
    shape = Layout.of(array)
    forged.content["arrays"][written["array"]] = [*shape.to_json(), ""]
    forged.arrays[written["array"]] = bytes(entry_bytes(array, shape))


# -- sizes -----------------------------------------------------------------------------------------


def resize(forged: Opened, where: Any, before: int, after: int) -> None:
    """Let every number and every side of an array that is of one size be of another.

    So the parts of a model still tell one story: classes, members or features, but more or fewer.
    """
    n_bytes = 0
    for written in list(forms(where, "inline", "array")):
        array = read_array(forged, written)
        sides = [after if n == before else n for n in array.shape]
        if sides != list(array.shape):
            n_bytes += math.prod(sides) * array.itemsize
            if n_bytes > MOST_BYTES:
                raise NotThereError
            replace_array(forged, written, _wrapped(array, sides))
    _resize_values(where, before, after, [MOST_ITEMS])


def _wrapped(array: npt.NDArray[Any], sides: list[int]) -> npt.NDArray[Any]:
    """An array of other sides, whose entries begin anew where there are no more."""
    for axis, n in enumerate(sides):
        if array.shape[axis] != n:
            if not array.shape[axis]:
                raise NotThereError
            array = np.take(array, np.arange(n) % array.shape[axis], axis=axis)
    return array


def _resize_values(where: Any, before: int, after: int, left: list[int]) -> None:
    pairs = list(where.items() if isinstance(where, dict) else enumerate(where))
    for key, value in pairs:
        if type(value) is int and value == before and key not in ("object", "array"):
            where[key] = after
        elif isinstance(value, dict) and "inline" not in value and "scalar" not in value:
            _resize_values(value, before, after, left)
        elif isinstance(value, list):
            if any(isinstance(one, list) and len(one) == before for one in value):
                continue  # lists of lists would grow twice
            _resize_values(value, before, after, left)
            if value and len(value) == before:
                left[0] -= after * len(json.dumps(value[0])) // 10
                if left[0] < 0:
                    raise NotThereError
                value[:] = [value[at % before] for at in range(after)]
