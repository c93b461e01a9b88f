"""The package as a user meets it: light to import, its names in place."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.shared import public_estimators

import orfeon

ROOT = Path(__file__).resolve().parents[1]


def modules_after(code: str) -> set[str]:
    """Top-level modules that a fresh process has imported after running some code."""
    script = f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_package_imports_nothing_heavy():
    loaded = modules_after("import orfeon")
    assert "orfeon" in loaded
    heavy = {"numba", "sklearn", "scipy", "pandas", "polars", "matplotlib", "joblib", "numpy"}
    assert heavy & loaded == set()


def test_fitting_imports_only_what_it_needs():
    loaded = modules_after("import orfeon\norfeon.CARTClassifier().fit([[0.0], [1.0]], [0, 1])")
    assert {"numba", "sklearn"} <= loaded
    assert {"matplotlib", "polars"} & loaded == set()


def test_every_public_name_resolves_and_is_documented():
    assert len(set(orfeon.__all__)) == len(orfeon.__all__)
    for name in orfeon.__all__:
        thing = getattr(orfeon, name)
        if name != "__version__":
            assert thing.__name__ == name
            assert thing.__module__.startswith("orfeon.")
            assert thing.__doc__


FAMILIES = sorted(
    module.name
    for module in pkgutil.iter_modules(orfeon.__path__, "orfeon.")
    if module.ispkg and module.name not in ("orfeon.kernels", "orfeon.votes")
)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_name_of_a_family_resolves(family):
    package = importlib.import_module(family)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert package.__all__ == [*dict.fromkeys(package.__all__)] != []
    for name in package.__all__:
        thing = getattr(package, name)
        if isinstance(thing, type) or inspect.isfunction(thing):
            assert thing.__doc__, name
        # A module of that name would take the place of the object once it is imported.
        assert name not in modules, f"{family}.{name} is also a module"


def test_dir_lists_the_public_names_and_no_others():
    samplers = {"BorderSelection", "PPTSSSampler", "WeightedDistanceEditing"}
    assert dir(orfeon) == sorted({*orfeon.__all__, *samplers})
    namespace: dict[str, object] = {}
    exec("from orfeon import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(orfeon.__all__)


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert orfeon.__version__ == project["version"] == importlib.metadata.version("orfeon")


def test_the_package_says_that_it_is_typed():
    assert (Path(orfeon.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize("estimator", public_estimators().values())
def test_every_parameter_is_documented(estimator):
    text = inspect.cleandoc(estimator.__doc__)  # Python 3.13 keeps no indentation
    described = text.split("Parameters\n")[1].split("Attributes\n")[0]
    listed = {
        name
        for line in described.splitlines()
        if " : " in line and line[0] != " "
        for name in line.split(" : ")[0].strip().split(", ")
    }
    assert listed == set(estimator().get_params())
