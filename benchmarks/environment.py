"""Where a measurement was made: the machine and the versions."""

from __future__ import annotations

import os
import platform
import subprocess
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
    "catboost",
    "lightgbm",
    "xgboost",
    "xgboost-cpu",
    "onnxruntime",
    "starlette",
    "uvicorn",
    "shap",
    "mapie",
    "quantile-forest",
)
_ROOT = Path(__file__).resolve().parents[1]


@cache
def machine() -> dict[str, str | int]:
    """The processor, its cores and the operating system."""
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
    """Versions of Python and of the packages that are installed."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache
def commit() -> str:
    """Which state of the sources is measured."""
    try:
        name = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", "src", "benchmarks/*.py")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{name} and changes" if changed else name


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
