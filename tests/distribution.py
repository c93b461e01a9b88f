"""What is released, tried where the checkout is not: ``python -m tests.distribution [--quick]``.

Builds the wheel and the sdist, installs the wheel with its extra ``test`` into a new virtual
environment, unpacks the sdist elsewhere without its ``src``, and runs the tests there, so that what
they import is what a user would have.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
#: A part of the tests that touches every kind of file which is installed.
QUICK = (
    "tests/test_package.py",
    "tests/test_docs.py::test_pictures_and_pages_that_are_linked_exist",
    "tests/trees/test_stump.py",
    "tests/ensembles/test_switching.py",
    "tests/ordering/test_order_object.py",
    "tests/io/test_model_file.py",
    "tests/workbench/cli/test_frame.py",
    "tests/workbench/report/test_page.py",
    "tests/workbench/reproduction/test_published.py",
)


class Built(NamedTuple):
    """The two files of a release."""

    wheel: Path
    sdist: Path


def build(folder: Path, *, isolated: bool = False, root: Path = ROOT) -> Built:
    """Make a wheel and an sdist; the wheel from the sdist when isolated, as for a release."""
    if isolated:
        command = [sys.executable, "-m", "build", "--outdir", str(folder)]
    else:
        command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
        command += ["-t", "sdist", "-t", "wheel"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(wheel, sdist)


def unpack_without_source(sdist: Path, folder: Path) -> Path:
    """Unpack all but ``src``; gives the folder that holds the tests."""
    with tarfile.open(sdist) as archive:
        top = archive.getnames()[0].partition("/")[0]
        wanted = [m for m in archive.getmembers() if not m.name.startswith(f"{top}/src/")]
        archive.extractall(folder, members=wanted, filter="data")
    return folder / top


def environment() -> dict[str, str]:
    """Ours, without what would lead Python back to the checkout."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NUMBA_CACHE_DIR")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def install(wheel: Path, folder: Path, python: str) -> Path:
    """A new virtual environment with the wheel and all that its tests need; gives its Python."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True, env=environment())
    own = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    command = [str(own), "-m", "pip", "install", "-q", f"{wheel}[test]"]
    subprocess.run(command, check=True, env=environment(), cwd=folder)
    return own


def imported_from(python: Path, folder: Path) -> Path:
    """Where a Python started in some folder finds the package."""
    done = subprocess.run(
        [str(python), "-c", "import orfeon; print(orfeon.__file__)"],
        cwd=folder, env=environment(), check=True, capture_output=True, text=True,
    )  # fmt: skip
    return Path(done.stdout.strip())


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = argparse.ArgumentParser(prog="python -m tests.distribution", description=__doc__)
    options.add_argument("--python", default=sys.executable, help="the Python to try it with")
    options.add_argument("--quick", action="store_true", help="a part of the tests")
    options.add_argument("--jobs", default="2", help="test processes (default 2)")
    options.add_argument("tests", nargs="*", help="only these tests, as pytest names them")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, install, unpack, test; the exit code is that of the tests."""
    options = parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="orfeon-distribution-") as folder:
        place = Path(folder)
        built = build(place / "dist", isolated=True)
        print(f"built {built.wheel.name} ({built.wheel.stat().st_size / 1e6:.1f} MB)", end=", ")
        print(f"{built.sdist.name} ({built.sdist.stat().st_size / 1e6:.1f} MB)", flush=True)
        python = install(built.wheel, place / "venv", options.python)
        outside = unpack_without_source(built.sdist, place / "unpacked")
        found = imported_from(python, outside)
        if not found.is_relative_to(place / "venv"):
            raise SystemExit(f"the tests would import {found}, not what was installed")
        print(f"imports {found.relative_to(place)}", flush=True)
        # Without tests named, the docstrings of what is installed are run, too.
        chosen = options.tests or (QUICK if options.quick else ("tests", "--pyargs", "orfeon"))
        command = [str(python), "-m", "pytest", "-q", "-n", options.jobs, "--dist", "worksteal"]
        return subprocess.run([*command, *chosen], cwd=outside, env=environment()).returncode


if __name__ == "__main__":
    raise SystemExit(main())
