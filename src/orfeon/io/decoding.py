"""Decode a model from a document; everything is checked before it is used."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.io import limits, randomness
from orfeon.io.arrays import read_small_array
from orfeon.io.catalogue import entry_named
from orfeon.io.entry import Entry
from orfeon.io.errors import ModelFileError

#: Dtypes that may be parameters.
_TYPES = {
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "object",
}  # fmt: skip
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Decoder:
    def __init__(
        self, arrays: list[npt.NDArray[Any]], foreign: list[Any], n_bytes: int = 0
    ) -> None:
        self._free = limits.MAX_USES * n_bytes + limits.FREE_USES
        self._nesting: list[int] = []
        self._entries: list[Entry] = []
        self._field = "model"
        self._deepest = 0
        self._held: dict[str, list[Any]] = {"object": [], "array": arrays, "foreign": foreign}
        self._makers: dict[str, Callable[[Any, int], Any]] = {
            "tuple": lambda given, depth: tuple(self._items(given, depth)),
            "set": lambda given, depth: self._hashed(set, self._items(given, depth)),
            "frozenset": lambda given, depth: self._hashed(frozenset, self._items(given, depth)),
            "dict": lambda given, depth: self._hashed(dict, self._pairs(given, depth)),
            "bunch": self._bunch,
            "float": self._float,
            "range": self._range,
            "slice": self._slice,
            "dtype": lambda given, depth: self._dtype(given),
            "type": lambda given, depth: self._dtype(given).type,
            "scalar": self._scalar,
            "inline": lambda given, depth: read_small_array(given),
            "objects": self._objects,
            "strings": self._strings,
            "random": lambda given, depth: randomness.random_from(self.decode(given, depth + 1)),
        }

    def read_objects(self, encoded: Any) -> list[Any]:
        """Build all objects, each from those before it."""
        if type(encoded) is not list or len(encoded) > limits.MAX_OBJECTS:
            raise ModelFileError("its objects must be a list, and not too many.")
        for one in encoded:
            if type(one) is not dict or set(one) != {"class", "fields"}:
                raise ModelFileError("an object must have a class and fields, and nothing else.")
            entry = entry_named(one["class"])
            if type(one["fields"]) is not dict:
                raise ModelFileError(f"the fields of a {entry.name} must be a dict.")
            self._deepest = 0
            fields = {}
            for self._field, value in one["fields"].items():
                fields[self._field] = self.decode(value)
            if self._deepest >= limits.MAX_NESTING:
                raise ModelFileError(f"objects are nested more than {limits.MAX_NESTING} deep.")
            self._nesting.append(self._deepest + 1)
            self._entries.append(entry)
            self._held["object"].append(entry.build(fields))
        self._field = "model"
        return self._held["object"]

    def decode(self, encoded: Any, depth: int = 0) -> Any:
        """The value that :meth:`Encoder.encode` encoded."""
        kind = type(encoded)
        if encoded is None or kind is bool or kind is str:
            return encoded
        if kind is int:
            if encoded.bit_length() > limits.MAX_INTEGER_BITS:
                raise ModelFileError("an integer is too large.")
            return encoded
        if kind is float:
            if not math.isfinite(encoded):
                raise ModelFileError("a number is too large.")
            return encoded
        if depth > limits.MAX_DEPTH:
            raise ModelFileError(f"containers are nested more than {limits.MAX_DEPTH} deep.")
        if kind is list:
            return self._items(encoded, depth)
        if kind is not dict or len(encoded) != 1:
            raise ModelFileError("a value must be plain JSON, or a dict whose only key is a type.")
        ((name, given),) = encoded.items()
        if name in self._held:
            return self._reference(name, given)
        if name not in self._makers:
            raise ModelFileError(f"a value has the unknown type {name[:40]!r}.")
        return self._makers[name](given, depth)

    def _reference(self, name: str, at: Any) -> Any:
        held = self._held[name]
        if type(at) is not int or not 0 <= at < len(held):
            raise ModelFileError(f"{name} {str(at)[:40]} is missing or comes later.")
        if name == "object":
            entry = self._entries[at]
            if entry.only_in not in (None, self._field):
                raise ModelFileError(f"a {entry.name} must be the {entry.only_in} of an estimator.")
            self._deepest = max(self._deepest, self._nesting[at])
        elif name == "array":
            self._free -= held[at].nbytes
            if self._free < 0:
                raise ModelFileError("its arrays are used too often.")
        return held[at]

    def _items(self, given: Any, depth: int) -> list[Any]:
        if type(given) is not list:
            raise ModelFileError("the items of a container must be a list.")
        return [self.decode(item, depth + 1) for item in given]

    def _pairs(self, given: Any, depth: int) -> list[tuple[Any, Any]]:
        if type(given) is not list or any(type(one) is not list or len(one) != 2 for one in given):
            raise ModelFileError("the items of a dict must be pairs.")
        return [(self.decode(key, depth + 1), self.decode(one, depth + 1)) for key, one in given]

    @staticmethod
    def _hashed(kind: type[Any], items: list[Any]) -> Any:
        if not limits.are_keys([key for key, _ in items] if kind is dict else items):
            raise ModelFileError(
                f"a {kind.__name__} of more than {limits.MAX_ODD_KEYS} items may hold only "
                "strings and numbers of up to 64 bits."
            )
        try:
            made = kind(items)
        except TypeError as error:
            raise ModelFileError(f"an item of a {kind.__name__} is not hashable.") from error
        if len(made) != len(items):
            raise ModelFileError(f"a {kind.__name__} holds an item twice.")
        return made

    def _bunch(self, given: Any, depth: int) -> Any:
        from sklearn.utils import Bunch

        pairs = self._pairs(given, depth)
        if any(type(key) is not str for key, _ in pairs):
            raise ModelFileError("the keys of a bunch must be strings.")
        return Bunch(**self._hashed(dict, pairs))

    def _float(self, given: Any, depth: int) -> float:
        if type(given) is not str or given not in _NOT_FINITE:
            raise ModelFileError(f"{str(given)[:40]!r} is not one of nan, inf and -inf.")
        return _NOT_FINITE[given]

    def _range(self, given: Any, depth: int) -> range:
        is_three = type(given) is list and len(given) == 3
        if not is_three or any(type(n) is not int or abs(n) > 2**62 for n in given) or not given[2]:
            raise ModelFileError("a range must have a start, a stop and a step.")
        if len(range(*given)) > limits.MAX_RANGE:
            raise ModelFileError(f"a range has more than {limits.MAX_RANGE} items.")
        return range(*given)

    def _slice(self, given: Any, depth: int) -> slice:
        ends = self._items(given, depth)
        if len(ends) != 3 or any(type(end) not in (int, str, type(None)) for end in ends):
            raise ModelFileError("a slice must have a start, a stop and a step.")
        return slice(*ends)

    @staticmethod
    def _dtype(name: Any) -> np.dtype[Any]:
        if type(name) is not str or name not in _TYPES:
            raise ModelFileError(f"the dtype {str(name)[:40]!r} is not allowed.")
        return np.dtype(name)

    def _scalar(self, given: Any, depth: int) -> Any:
        made = read_small_array(given)
        if made.shape != () or made.dtype.names is not None:
            raise ModelFileError("a scalar must be one number or string.")
        return made[()]

    def _objects(self, given: Any, depth: int) -> npt.NDArray[Any]:
        shape, items = self._shaped(given, depth)
        made = np.empty(len(items), object)
        for at, item in enumerate(items):  # an item may be a sequence itself
            made[at] = item
        return made.reshape(shape)

    def _strings(self, given: Any, depth: int) -> npt.NDArray[Any]:
        shape, items = self._shaped(given, depth)
        if any(type(item) is not str for item in items):
            raise ModelFileError("an array of strings holds something else.")
        kind = getattr(np.dtypes, "StringDType", None)
        if kind is None:
            raise ModelFileError("it has strings of variable length, which need NumPy 2.")
        return np.array(items, dtype=kind()).reshape(shape)

    def _shaped(self, given: Any, depth: int) -> tuple[tuple[int, ...], list[Any]]:
        if type(given) is not list or len(given) != 2 or type(given[0]) is not list:
            raise ModelFileError("an array of objects must have a shape and items.")
        shape, items = given[0], self._items(given[1], depth)
        allowed = len(shape) <= limits.MAX_DIMENSIONS and all(
            type(n) is int and 0 <= n <= limits.MAX_LENGTH for n in shape
        )
        if not allowed or math.prod(shape) != len(items):
            raise ModelFileError("the items of an array of objects do not fit its shape.")
        return tuple(shape), items
