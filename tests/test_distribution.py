"""What is released: the wheel holds the package and nothing else, the sdist what the tests need."""

from __future__ import annotations

import email
import importlib.util
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from tests.distribution import QUICK, ROOT, build, environment, unpack_without_source

pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(
        importlib.util.find_spec("hatchling") is None, reason="hatchling, which builds, is missing"
    ),
    pytest.mark.skipif(
        not (ROOT / "src" / "orfeon").is_dir(), reason="the sources are not here: nothing to build"
    ),
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def in_wheel(built):
    with zipfile.ZipFile(built.wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def in_sdist(built):
    with tarfile.open(built.sdist) as archive:
        files = [member.name for member in archive.getmembers() if member.isfile()]
    return {name.partition("/")[2] for name in files}


def of_git(*patterns):
    """Files that are under version control, as others may be lying about."""
    if not (ROOT / ".git").exists():
        pytest.skip("no repository to compare with")
    command = ["git", "ls-files", "-z", *patterns]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("git does not answer")
    return {name for name in done.stdout.split("\0") if name and (ROOT / name).exists()}


def test_a_build_that_fails_says_why(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "odd name"\nversion = "1"\n')
    with pytest.raises(SystemExit, match=r"(?s)hatchling build .* failed:.*name"):
        build(tmp_path / "dist", root=tmp_path)


def test_the_wheel_holds_every_file_of_the_package(in_wheel):
    sources = {name.removeprefix("src/") for name in of_git("src")}
    assert len(sources) > 300
    assert sources - in_wheel == set()


def test_the_wheel_holds_what_is_not_python_too(in_wheel):
    kinds = {Path(name).suffix for name in in_wheel if name.startswith("orfeon/")}
    assert {".py", ".typed", ".css", ".js", ".csv"} <= kinds
    assert "orfeon/py.typed" in in_wheel
    assert sum(name.startswith("orfeon/workbench/reproduction/tables/") for name in in_wheel) >= 20


def test_the_wheel_holds_nothing_else(in_wheel):
    information = f"orfeon-{PROJECT['version']}.dist-info/"
    other = {name for name in in_wheel if not name.startswith(("orfeon/", information))}
    assert other == set()
    assert {name for name in in_wheel if Path(name).name.startswith("test_")} == set()
    assert {name for name in in_wheel if name.endswith((".pyc", ".nbi", ".nbc"))} == set()


def test_the_wheel_says_what_it_is(built):
    information = f"orfeon-{PROJECT['version']}.dist-info"
    with zipfile.ZipFile(built.wheel) as archive:
        about = email.message_from_bytes(archive.read(f"{information}/METADATA"))
        scripts = archive.read(f"{information}/entry_points.txt").decode()
        assert f"{information}/licenses/LICENSE" in archive.namelist()
    assert (about["Name"], about["Version"]) == ("orfeon", PROJECT["version"])
    assert about["License-Expression"] == "BSD-3-Clause"
    assert set(about.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert "orfeon = orfeon.workbench.cli:main" in scripts
    assert built.wheel.name.endswith("-py3-none-any.whl")


def test_the_wheel_works_where_it_is_unpacked(built, tmp_path):
    with zipfile.ZipFile(built.wheel) as archive:
        archive.extractall(tmp_path)
    # -P: neither the folder of the test nor the checkout is looked into.
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import orfeon; print(orfeon.__file__);"
        "from orfeon.workbench.cli import main; main(['--version'])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", script],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    where, version = done.stdout.splitlines()
    assert Path(where) == tmp_path / "orfeon" / "__init__.py"
    assert version == f"orfeon {PROJECT['version']}"


def test_the_sdist_holds_all_that_is_under_version_control(in_sdist):
    missing = of_git() - in_sdist
    # How this repository is checked is of use only there.
    assert {name for name in missing if not name.startswith(".")} == set()


def test_the_sdist_holds_nothing_that_was_made(in_sdist):
    made = (".pyc", ".nbi", ".nbc", ".so", ".orfeon.tmp")
    assert {name for name in in_sdist if name.endswith(made)} == set()
    folders = {name.partition("/")[0] for name in in_sdist if "/" in name}
    assert folders == {"src", "tests", "benchmarks", "examples", "docs"}
    assert {name for name in in_sdist if name.startswith(("docs/_build", "docs/gallery"))} == set()


def test_the_sdist_is_small(built):
    assert built.sdist.stat().st_size < 6e6
    assert built.wheel.stat().st_size < 2e6


def test_unpacked_without_its_source_the_sdist_has_tests_but_no_package(built, tmp_path):
    folder = unpack_without_source(built.sdist, tmp_path)
    assert not (folder / "src").exists()
    assert (folder / "pyproject.toml").exists()
    for name in QUICK:
        assert (folder / name.partition("::")[0]).exists(), name
