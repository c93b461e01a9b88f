"""Where a measurement was made: the machine and the versions."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

_PACKAGES = (
    "orfeon",
    "numpy",
    "numba",
    "scikit-learn",
    "ydf",
    "scikit-learn-intelex",
    "lightgbm",
    "xgboost",
    "xgboost-cpu",
)


@cache
def machine() -> dict[str, str | int]:
    """The processor, its cores and the operating system.

    Returns
    -------
    dict
        ``processor``, ``cores``, ``system``.
    """
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that are installed.

    Returns
    -------
    dict of str to str
        By name.
    """
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
