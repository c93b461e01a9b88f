"""Free and used memory."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path


def available_memory() -> int | None:
    """Bytes of free memory, if known."""
    limits = [_machine_memory(), _container_memory()]
    known = [limit for limit in limits if limit is not None]
    return min(known, default=None)


def peak_memory() -> int | None:
    """Largest number of bytes that this process has used, if known."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _machine_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        for line in lines:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (OSError, ValueError, AttributeError):
        return None


def _container_memory() -> int | None:
    """What the control group leaves, if it has a limit."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = int((folder / "memory.max").read_text())  # "max" is no limit
        used = int((folder / "memory.current").read_text())
        lines = (folder / "memory.stat").read_text().splitlines()
    except (OSError, ValueError):
        return None
    # Cached file pages count as used, but are freed when needed.
    files = next((int(line.split()[1]) for line in lines if line.startswith("inactive_file ")), 0)
    return max(limit - used + files, 0)


def give_back() -> None:
    """Return freed memory to the system.

    Reading a large file piece by piece leaves many small holes: a third of the memory in use.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # not the GNU C library
            ctypes.CDLL(None).malloc_trim(0)


def readable_size(n_bytes: float) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            number = n_bytes / scale
            return (
                f"{number:.1f} {unit}" if number < 10 and unit == "GB" else f"{number:.0f} {unit}"
            )
    return f"{n_bytes:.0f} bytes"
