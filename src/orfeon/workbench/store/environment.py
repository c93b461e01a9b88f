"""When, where and with what a run was done."""

from __future__ import annotations

import datetime
import functools
import importlib.metadata
import platform

#: The packages that figures can depend on.
_PACKAGES = ("orfeon", "numpy", "scipy", "scikit-learn", "numba")


def now() -> str:
    """The time, in UTC, as ISO 8601 writes it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


@functools.cache
def host() -> str:
    """The name of this machine."""
    return platform.node() or "unknown"


@functools.cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that figures can depend on."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:  # run from a checkout
            found[name] = "unknown"
    return found
