"""Records of arrays that kernels pass to each other by reference.

A function that takes a dozen arrays costs the compiler and the caller a dozen times seven words.
A record is one pointer. Records are made inside kernels and never seen by Python code.
"""

from __future__ import annotations

import sys
from typing import Any, TypeVar, get_type_hints

from numba import types
from numba.core import config
from numba.experimental import structref

ClassT = TypeVar("ClassT", bound=type)


def record(cls: ClassT) -> ClassT:
    """Turn a class whose annotations name its fields into a record type for kernels.

    With compilation disabled it becomes a plain class with the same constructor.
    """
    fields = list(get_type_hints(cls))
    if config.DISABLE_JIT:
        return _plain(cls, fields)

    class RecordType(types.StructRef):  # type: ignore[misc]
        def preprocess_fields(self, fields: Any) -> Any:
            return tuple((name, types.unliteral(kind)) for name, kind in fields)

    # Cached kernels name the type by its module and name: it must be found there.
    RecordType.__name__ = RecordType.__qualname__ = f"{cls.__name__}Type"
    RecordType.__module__ = cls.__module__
    setattr(sys.modules[cls.__module__], RecordType.__name__, RecordType)
    structref.register(RecordType)
    proxy = type(cls.__name__, (structref.StructRefProxy,), {"__doc__": cls.__doc__})
    proxy.__module__ = cls.__module__
    structref.define_proxy(proxy, RecordType, fields)
    return proxy  # type: ignore[return-value]


def _plain(cls: ClassT, fields: list[str]) -> ClassT:
    def initialise(self: Any, *values: Any) -> None:
        for name, value in zip(fields, values, strict=True):
            setattr(self, name, value)

    cls.__init__ = initialise  # type: ignore[misc]
    return cls
