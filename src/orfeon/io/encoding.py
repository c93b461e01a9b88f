"""Encode a model as JSON values, objects and arrays.

A value is a JSON value, or a dict with one key that is its type: ``{"tuple": [...]}``,
``{"array": 3}``, ``{"object": 7}``. Objects are listed after the objects that they hold, so that no
model can hold itself and a reader builds them from first to last.
"""

from __future__ import annotations

import json
import math
from collections import UserList
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.io import limits, randomness
from orfeon.io.arrays import is_plain, small_array
from orfeon.io.catalogue import entry_of
from orfeon.io.errors import ModelFileError


class Encoder:
    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.arrays: list[npt.NDArray[Any]] = []
        self.foreign: list[bytes] = []
        self.n_bytes_used = 0
        self._known: dict[int, dict[str, int]] = {}
        self._alive: list[Any] = []  # the id of a deleted object may be used again
        self._open: set[int] = set()
        self._where: list[str] = []

    def encode(self, value: Any, depth: int = 0) -> Any:
        """A value as JSON."""
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return self._integer(value)
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if depth > limits.MAX_DEPTH:
            raise self._refusal(f"has containers nested more than {limits.MAX_DEPTH} deep")
        if isinstance(value, UserList):  # of scikit-learn 1.6, which warns when its items are read
            value = list(value.data)
            kind = list
        if kind in _CONTAINERS:
            return self._container(value, depth)
        if kind is range and len(value) > limits.MAX_RANGE:
            raise self._refusal(f"holds a range of more than {limits.MAX_RANGE} items")
        if kind is range or kind is slice:
            ends = [value.start, value.stop, value.step]
            return {kind.__name__: [self.encode(end, depth + 1) for end in ends]}
        if isinstance(value, np.generic):
            return {"scalar": small_array(self._plain(np.asarray(value)))}
        if isinstance(value, np.ndarray):
            return self._array(value, depth)
        if isinstance(value, np.dtype) or (kind is type and issubclass(value, np.generic)):
            return self._dtype(value)
        if randomness.is_random(value):
            return {"random": self.encode(randomness.state_of(value), depth + 1)}
        return self._object(value)

    def _dtype(self, value: Any) -> dict[str, str]:
        """A dtype or scalar type, which some estimators have as a parameter."""
        dtype: np.dtype[Any] = np.dtype(value)
        if dtype.kind not in "biufO":
            raise self._refusal(f"holds the type {value!r}, which model files cannot hold")
        return {"dtype" if isinstance(value, np.dtype) else "type": dtype.name}

    def _integer(self, value: int) -> int:
        if value.bit_length() > limits.MAX_INTEGER_BITS:
            raise self._refusal("holds an integer that is too large")
        return value

    def _container(self, value: Any, depth: int) -> Any:
        if not isinstance(value, list | tuple) and not limits.are_keys(value):
            raise self._refusal(
                f"holds a {type(value).__name__} of more than {limits.MAX_ODD_KEYS} items that are "
                "neither strings nor numbers of up to 64 bits"
            )
        if isinstance(value, dict):
            name = "bunch" if type(value) is not dict else "dict"
            pairs = [
                [self.encode(k, depth + 1), self.encode(v, depth + 1)] for k, v in value.items()
            ]
            return {name: pairs}
        items = [self.encode(item, depth + 1) for item in value]
        if isinstance(value, set | frozenset):
            items.sort(key=lambda item: json.dumps(item, sort_keys=True))
        return items if type(value) is list else {type(value).__name__: items}

    def _plain(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if not is_plain(array):
            raise self._refusal(f"holds an array of {array.dtype}, which model files cannot hold")
        return array

    def _array(self, array: npt.NDArray[Any], depth: int) -> Any:
        if type(array) not in (np.ndarray, np.memmap):  # a mask, for example, would be lost
            raise self._refusal(f"holds a {type(array).__name__}, which model files cannot hold")
        array = np.asarray(array)
        if array.dtype.kind in "OT":
            items = [self.encode(item, depth + 1) for item in array.ravel().tolist()]
            name = "objects" if array.dtype.kind == "O" else "strings"
            return {name: [list(array.shape), items]}
        self._plain(array)
        if array.nbytes <= limits.SMALL_ARRAY:
            return {"inline": small_array(array)}
        if id(array) not in self._known:
            self._remember(array, "array", len(self.arrays))
            self.arrays.append(array)
        self.n_bytes_used += array.nbytes
        return self._known[id(array)]

    def _remember(self, thing: Any, name: str, at: int) -> None:
        self._known[id(thing)] = {name: at}
        self._alive.append(thing)

    def _object(self, thing: Any) -> Any:
        if id(thing) in self._known:
            return self._known[id(thing)]
        if id(thing) in self._open:
            raise self._refusal("holds itself")
        if len(self._open) >= limits.MAX_NESTING:
            raise self._refusal(f"has objects nested more than {limits.MAX_NESTING} deep")
        entry = entry_of(thing)
        if entry is None:
            return self._foreign(thing)
        self._open.add(id(thing))
        fields = entry.fields_of(thing)
        encoded = {}
        for name, value in fields.items():
            self._where.append(f"{entry.name}.{name}")
            encoded[entry.names_in_files.get(name, name)] = self.encode(value)
            self._where.pop()
        try:
            entry.checked(fields)
        except ModelFileError as error:
            raise ModelFileError(f"{self._place()}the model cannot be saved: {error}") from error
        self._open.discard(id(thing))
        self._remember(thing, "object", len(self.objects))
        self.objects.append({"class": entry.name, "fields": encoded})
        return self._known[id(thing)]

    def _foreign(self, thing: Any) -> Any:
        from orfeon.io.foreign import dump_foreign

        data = dump_foreign(thing, self._place())
        self._remember(thing, "foreign", len(self.foreign))
        self.foreign.append(data)
        return self._known[id(thing)]

    def _place(self) -> str:
        return f"{self._where[-1]}: " if self._where else ""

    def _refusal(self, what: str) -> ModelFileError:
        return ModelFileError(
            f"the model cannot be saved: {self._where[-1] if self._where else 'it'} {what}."
        )


def _bunch() -> type[Any]:
    from sklearn.utils import Bunch

    kind: type[Any] = Bunch
    return kind


_CONTAINERS = {list, tuple, dict, set, frozenset, _bunch()}
