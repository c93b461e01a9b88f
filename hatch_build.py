"""Builds wheels; with ``ORFEON_KERNELS=1`` wheels for one platform that hold compiled kernels.

The first fit then takes seconds less. Build in an environment that has what orfeon needs, with the
Python and the Numba that users will have: ``ORFEON_KERNELS=1 python -m build --no-isolation``.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles the kernels of all families and adds them to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say that the wheel is for this platform only."""
        if os.environ.get("ORFEON_KERNELS") != "1" or version == "editable":
            return
        self.temporary = tempfile.TemporaryDirectory(prefix="orfeon-kernels-")
        folder = Path(self.temporary.name)
        compile_kernels(Path(self.root) / "src", folder / "cache", folder / "kernels")
        build_data["force_include"][str(folder / "kernels")] = "orfeon/_kernels"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled: it is in the wheel."""
        if hasattr(self, "temporary"):
            self.temporary.cleanup()


def compile_kernels(source: Path, cache: Path, folder: Path) -> None:
    """Compile the kernels of the package below ``source`` for all processors of a kind."""
    environment = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(cache)}
    find = "from orfeon.utils.shipped_kernels import KINDS; print(KINDS[{!r}][0])"
    command = [sys.executable, "-c", find.format(platform.machine())]
    kind = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    environment |= {"NUMBA_CPU_NAME": kind.stdout.strip(), "NUMBA_CPU_FEATURES": ""}
    family = os.environ.get("ORFEON_KERNELS_FAMILY", "all")
    for arguments in (
        ["-m", "orfeon", "warmup", "--quiet", "--family", family],
        ["-m", "orfeon.utils.shipped_kernels", str(cache), str(folder)],
    ):
        subprocess.run([sys.executable, *arguments], env=environment, check=True)
