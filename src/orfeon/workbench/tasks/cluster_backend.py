"""joblib's Dask backend, for functions that hold data.

joblib hashes the functions that it sends to Dask, and waits for ever where one cannot be hashed.
It sends them anew with every call, with all that they hold. Ensembles hand it an object that trains
blocks of members and holds the samples. Here it is an argument, which workers get once.
"""

from __future__ import annotations

import asyncio
import importlib
import types
from collections.abc import Callable
from typing import Any

#: Functions that hold nothing: joblib may have them as they are.
_PLAIN = (types.FunctionType, types.BuiltinFunctionType, type)


def cluster_backend(client: Any) -> Any:
    """A backend for ``joblib.parallel_config``."""
    base = importlib.import_module("joblib._dask").DaskDistributedBackend

    class ClusterBackend(base):  # type: ignore[misc, valid-type]
        """Sends functions that hold data once."""

        def submit(self, func: Any, callback: Any = None) -> Any:
            func.items = [self._plain(*item) for item in func.items]
            return super().submit(func, callback)

        def apply_async(self, func: Any, callback: Any = None) -> Any:
            """The name of ``submit`` in older releases of joblib."""
            func.items = [self._plain(*item) for item in func.items]
            return super().apply_async(func, callback)

        def _plain(self, function: Any, given: Any, named: Any) -> tuple[Any, Any, Any]:
            if isinstance(function, _PLAIN):
                return function, given, named
            return _call, (self._sent(function), *given), named

        def _sent(self, function: Any) -> Any:
            sent = self.__dict__.setdefault("_functions", {})
            if id(function) not in sent:
                if _in_loop():  # where nothing can be waited for
                    return function
                # The function is kept, so that its id stays its own.
                there = self.client.scatter(function, broadcast=True, hash=False)
                sent[id(function)] = function, there
            return sent[id(function)][1]

        def stop_call(self) -> None:
            super().stop_call()
            self.__dict__.pop("_functions", None)

    return ClusterBackend(client=client)


def _call(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    return function(*given, **named)


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
