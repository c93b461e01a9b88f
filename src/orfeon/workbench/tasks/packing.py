"""Things in bytes, without their large arrays, which travel on their own and once."""

from __future__ import annotations

import functools
import importlib
import io
import pickle
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.workbench.tasks.parallel import LARGE


class Packed(NamedTuple):
    """A thing in bytes."""

    data: bytes
    arrays: tuple[npt.NDArray[Any], ...]


def pack(thing: Any) -> Packed:
    """Put a thing in bytes; large arrays are left out, however deep they lie."""
    stream = io.BytesIO()
    pickler = _pickler()(stream)
    pickler.dump(thing)
    return Packed(stream.getvalue(), tuple(pickler.large))


def unpack(data: bytes, arrays: Sequence[npt.NDArray[Any]]) -> Any:
    """The thing that was packed; its large arrays are read-only, for others have them too."""
    return _Unpickler(data, arrays).load()


def to_bytes(thing: Any) -> bytes:
    """A thing in bytes, with all its arrays."""
    data: bytes = _cloudpickle().dumps(thing)
    return data


def _cloudpickle() -> Any:
    try:
        return importlib.import_module("cloudpickle")
    except ImportError:  # joblib brings its own
        return importlib.import_module("joblib.externals.cloudpickle")


@functools.cache
def _pickler() -> Any:
    class LeavingOut(_cloudpickle().Pickler):  # type: ignore[misc]
        """Leaves large arrays out and collects them."""

        def __init__(self, stream: io.BytesIO) -> None:
            super().__init__(stream)
            self.large: list[Any] = []

        def persistent_id(self, part: Any) -> int | None:
            if type(part) not in (np.ndarray, np.memmap) or part.nbytes < LARGE:
                return None
            if part.dtype.hasobject:
                return None
            for place, array in enumerate(self.large):
                if array is part:
                    return place
            self.large.append(part)
            return len(self.large) - 1

    return LeavingOut


class _Unpickler(pickle.Unpickler):
    """Puts the large arrays back."""

    def __init__(self, data: bytes, arrays: Sequence[npt.NDArray[Any]]) -> None:
        super().__init__(io.BytesIO(data))
        self.arrays = arrays

    def persistent_load(self, place: Any) -> Any:
        array = self.arrays[place].view()
        array.flags.writeable = False
        return array
