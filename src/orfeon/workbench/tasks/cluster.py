"""A Dask cluster, which runs the tasks of joblib and of :func:`run_all`."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from orfeon.errors import UserError
from orfeon.utils.text import clauses
from orfeon.utils.user_warning import warn_user

#: What must be the same everywhere, or results may differ or fail to travel.
SAME = ("orfeon", "numpy")
#: What should be the same; results may differ in the last bits.
SHOULD_BE_SAME = ("numba", "scikit-learn", "scipy", "pandas", "joblib")


class ClusterError(UserError):
    """A cluster cannot be used; the message explains why, and what to do."""


@dataclass(frozen=True)
class Cluster:
    """A Dask cluster that can be used."""

    address: str
    client: Any

    def threads(self) -> int:
        """How many tasks run at a time: the threads of all workers."""
        return int(sum(self.client.nthreads().values()))


@contextlib.contextmanager
def connect(address: str, *, timeout: float = 10.0) -> Iterator[Cluster]:
    """Use a Dask cluster: joblib runs on it inside the ``with``, and so do Dask collections.

    Workers must have the same Python, orfeon and NumPy as this process.
    """
    distributed = _import_distributed()
    from joblib import parallel_config

    with _quiet_logs():
        client = _open(distributed, address, timeout)
        try:
            _wait_for_workers(client, address, timeout)
            _compare_versions(client.get_versions(packages=["orfeon", *SHOULD_BE_SAME]), address)
            with parallel_config(backend=cluster_backend(client)):
                yield Cluster(address, client)
        finally:
            _close(client)


def _import_distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise ClusterError(
            "A cluster needs Dask, which is not installed here: pip install 'orfeon[dask]'."
        ) from error


@contextlib.contextmanager
def _quiet_logs() -> Iterator[None]:
    """Without Dask's logs of lost connections: the errors raised have what matters."""
    logger = logging.getLogger("distributed")
    children = [
        logging.getLogger(name)
        for name in list(logging.root.manager.loggerDict)
        if name == "distributed" or name.startswith("distributed.")
    ]
    levels = {one: one.level for one in {logger, *children}}
    for one in levels:
        one.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for one, level in levels.items():
            one.setLevel(level)


def _open(distributed: Any, address: str, timeout: float) -> Any:
    if not isinstance(address, str) or not address.strip():
        raise ClusterError(
            f"The address of a cluster is like tcp://10.0.0.1:8786; got {address!r}."
        )
    # Made and then begun, so that one that fails to begin can be closed; left alone it would make
    # the end of the process wait, and complain.
    client = distributed.Client.__new__(distributed.Client)
    try:
        with warnings.catch_warnings():
            # Versions are compared here, in one sentence.
            warnings.filterwarnings("ignore", message=r"(?s).*Mismatched versions")
            client.__init__(address, timeout=timeout)
    except BaseException as error:
        _close(client)
        if isinstance(error, Exception):
            raise _not_connected(error, address, timeout) from error
        raise
    return client


def _close(client: Any) -> None:
    with contextlib.suppress(Exception):
        client.close(timeout=2)


def _not_connected(error: Exception, address: str, timeout: float) -> ClusterError:
    if isinstance(error, OSError):  # running out of time is one
        return ClusterError(
            f"No Dask scheduler answers at {address} (waited {timeout:g} s). Is it running there "
            "(dask scheduler), is the port right, does a firewall block it?"
        )
    if isinstance(error, ValueError | TypeError | RuntimeError):
        return ClusterError(
            f"{address!r} is not the address of a Dask scheduler, such as tcp://10.0.0.1:8786: "
            f"{error}."
        )
    return ClusterError(
        f"The service that answers at {address} is not a Dask scheduler ({type(error).__name__}). "
        "Is it the right port? The dashboard has its own."
    )


def _wait_for_workers(client: Any, address: str, timeout: float) -> None:
    try:
        client.wait_for_workers(1, timeout=timeout)
    except (OSError, TimeoutError) as error:
        raise ClusterError(
            f"The scheduler at {address} has no workers (waited {timeout:g} s). Start some: "
            f"dask worker {address}."
        ) from error


def _compare_versions(versions: Mapping[str, Any], address: str) -> None:
    """Refuse workers that could not understand this process, or would give other results."""
    mine = versions["client"]["packages"]
    differing: dict[str, list[str]] = {"refuse": [], "warn": []}
    for worker, found in sorted(versions["workers"].items()):
        theirs = found["packages"]
        if theirs["python"].split(".")[:2] != mine["python"].split(".")[:2]:
            differing["refuse"].append(
                _difference("Python", worker, theirs["python"], mine["python"])
            )
        for package in SAME + SHOULD_BE_SAME:
            if theirs.get(package) != mine.get(package):
                fate = "refuse" if package in SAME else "warn"
                text = _difference(package, worker, theirs.get(package), mine.get(package))
                differing[fate].append(text)
    if differing["refuse"]:
        raise ClusterError(
            f"The workers of {address} need the versions that are installed here: "
            f"{clauses(differing['refuse'], 3)}."
        )
    if differing["warn"]:
        warn_user(
            f"Results of the cluster may differ in the last bits: {clauses(differing['warn'], 3)}."
        )


def _difference(package: str, worker: str, theirs: str | None, mine: str | None) -> str:
    if theirs is None:
        return f"{worker} has no {package} (here: {mine})"
    return f"{worker} has {package} {_plain(theirs)} (here: {_plain(mine or 'none')})"


def _plain(version: str) -> str:
    """Version of Python without its release level."""
    return version.split(".final")[0]


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
