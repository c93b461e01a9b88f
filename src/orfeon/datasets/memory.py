"""How much memory there is."""

from __future__ import annotations

import os
from pathlib import Path


def available_memory() -> int | None:
    """Bytes of memory that can still be used.

    Returns
    -------
    int or None
        None where the system does not say.

    Examples
    --------
    >>> found = available_memory()
    >>> found is None or found > 2**20
    True
    """
    limits = [_of_the_machine(), _of_the_container()]
    known = [limit for limit in limits if limit is not None]
    return min(known, default=None)


def _of_the_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        for line in lines:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (OSError, ValueError, AttributeError):
        return None


def _of_the_container() -> int | None:
    """What a control group leaves, where the process is in one with a limit."""
    folder = Path("/sys/fs/cgroup")
    for limit, used in (
        (folder / "memory.max", folder / "memory.current"),
        (folder / "memory/memory.limit_in_bytes", folder / "memory/memory.usage_in_bytes"),
    ):
        try:
            return max(int(limit.read_text()) - int(used.read_text()), 0)
        except (OSError, ValueError):  # "max" is no limit
            continue
    return None


def readable_size(n_bytes: float) -> str:
    """A number of bytes, in words.

    Parameters
    ----------
    n_bytes : float
        The number.

    Returns
    -------
    str
        With its unit.

    Examples
    --------
    >>> readable_size(1_500_000_000), readable_size(2_000)
    ('1.5 GB', '2 kB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            number = n_bytes / scale
            return (
                f"{number:.1f} {unit}" if number < 10 and unit == "GB" else f"{number:.0f} {unit}"
            )
    return f"{n_bytes:.0f} bytes"
