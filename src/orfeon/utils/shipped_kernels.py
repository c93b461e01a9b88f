"""Kernels compiled when a wheel was built, for every processor of a kind.

``ORFEON_KERNELS=1`` makes the build of a wheel (``hatch_build.py``) add a folder of them to the
package. They serve the Python and the Numba of the build; with others, or without the folder,
they are compiled on first use. ``python -m orfeon.utils.shipped_kernels CACHE FOLDER`` copies the
kernels of a cache.
"""

from __future__ import annotations

import functools
import hashlib
import json
import pickle
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from orfeon.utils.step_library import STEP

#: Where they are in an installed package.
FOLDER = Path(__file__).resolve().parents[1] / "_kernels"
#: Bytes of the digest at the start of a file of the kernel cache.
DIGEST_SIZE = hashlib.sha256().digest_size
_TARGET = "target.json"
#: A kind of processor by architecture, and what a processor must have to be of that kind.
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "x86_64": ("x86-64-v3", ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt")),
    "AMD64": ("x86-64-v3", ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt")),
    "aarch64": ("generic", ()),
    "arm64": ("generic", ()),
}


class Target(NamedTuple):
    """What kernels were compiled for, as Numba writes it into the keys of its caches."""

    triple: str
    processor: str
    features: str
    needs: tuple[str, ...]

    def magic_tuple(self) -> tuple[str, str, str]:
        """What Numba asks a code generator for."""
        return self.triple, self.processor, self.features

    def runs_on(self, here: tuple[str, str, str]) -> bool:
        """Whether this machine, by its own tuple, can run them."""
        available = set(here[2].split(","))
        return here[0] == self.triple and all(f"+{need}" in available for need in self.needs)


@functools.cache
def target(folder: Path) -> Target | None:
    """The target of the kernels in a folder; None where there are none."""
    try:
        triple, processor, features, needs = json.loads((folder / _TARGET).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return Target(triple, processor, features, tuple(needs))


def collect(cache: Path, folder: Path, kernels_for: Target) -> int:
    """Copy the kernels of a cache, without the steps that they contain; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    n_kernels = 0
    for path in sorted(cache.rglob("*.nbc")):
        if pickle.loads(path.read_bytes()[DIGEST_SIZE:])[0][1] != STEP:
            shutil.copyfile(path, folder / path.name)
            n_kernels += 1
    (folder / _TARGET).write_text(json.dumps(kernels_for), encoding="utf-8")
    return n_kernels


def main() -> None:
    """Copy the kernels of the folder named first to the one named second."""
    import platform

    from numba.core.registry import cpu_target

    cache, folder = map(Path, sys.argv[1:])
    triple, processor, features = cpu_target.target_context.codegen().magic_tuple()
    kernels_for = Target(triple, processor, features, KINDS[platform.machine()][1])
    n_kernels = collect(cache, folder, kernels_for)
    print(f"{n_kernels} kernels for {kernels_for.processor} are in {folder}.")


if __name__ == "__main__":
    main()
