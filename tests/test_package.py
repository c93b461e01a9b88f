"""The package as a user meets it: light to import, its names in place."""

from __future__ import annotations

import ast
import builtins
import doctest
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


@pytest.mark.tools
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


#: Packages without public names.
INTERNAL = {
    "orfeon.calibration", "orfeon.kernels", "orfeon.rules", "orfeon.uncertainty", "orfeon.utils",
}  # fmt: skip
FAMILIES = sorted(
    module.name
    for module in pkgutil.iter_modules(orfeon.__path__, "orfeon.")
    if module.ispkg and module.name not in INTERNAL
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


PACKAGES = [
    "orfeon",
    *(
        module.name
        for module in pkgutil.walk_packages(orfeon.__path__, "orfeon.")
        if module.ispkg and not module.name.startswith(("orfeon.kernels", "orfeon.workbench.cli"))
    ),
]


def exported(package):
    """What a package exports: objects by name, without its own packages and the version."""
    module = importlib.import_module(package)
    listed = {*getattr(module, "__all__", ())} | {
        name for name in dir(module) if name in getattr(module, "_HOMES", ())
    }
    return {name: getattr(module, name) for name in sorted(listed - {"__version__"})}


def public_things():
    """Every public class and function, and the packages that export it."""
    homes: dict[int, tuple[object, set[str]]] = {}
    for package in PACKAGES:
        for thing in exported(package).values():
            if isinstance(thing, type) or inspect.isfunction(thing):
                homes.setdefault(id(thing), (thing, set()))[1].add(package)
    return homes


def test_dir_lists_the_public_names_and_no_others():
    samplers = {
        "BorderSelection", "DynamicPatternSelection", "IncrementalSelection", "PPTSSSampler",
        "SupportVectorSelection", "WeightedDistanceEditing",
    }  # fmt: skip
    assert dir(orfeon) == sorted({*orfeon.__all__, *orfeon._PACKAGES, *samplers})
    namespace: dict[str, object] = {}
    exec("from orfeon import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(orfeon.__all__)


@pytest.mark.parametrize("package", PACKAGES)
def test_dir_of_a_lazy_package_is_sorted_and_whole(package):
    module = importlib.import_module(package)
    if hasattr(module, "__getattr__"):
        lazy = (name for table in ("_HOMES", "_PACKAGES") for name in getattr(module, table, ()))
        expected = {*module.__all__, *lazy}
        assert dir(module) == sorted(expected)


@pytest.mark.tools
def test_packages_are_attributes_without_being_imported():
    """One fresh process for all; what needs an extra says so when it is used, not before."""
    script = """
import sys
import orfeon

given = {name for name in sys.modules if name.startswith("orfeon.")}
assert given == {"orfeon.utils", "orfeon.utils.lazy", "orfeon.utils.user_warning"}, given
for name in orfeon.workbench._PACKAGES:
    assert getattr(orfeon.workbench, name).__name__ == f"orfeon.workbench.{name}"
assert orfeon.io.onnx.to_onnx is orfeon.to_onnx
for name in orfeon._PACKAGES:
    assert getattr(orfeon, name).__name__ == f"orfeon.{name}"
assert {"matplotlib", "onnx", "dask", "starlette"} & sys.modules.keys() == set()

sys.modules["starlette"] = None  # as if it were not installed
assert "create_app" in dir(orfeon.workbench.serve)
try:
    orfeon.workbench.serve.create_app
except ImportError as error:
    print(error)
"""
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert 'pip install "orfeon[serve]"' in done.stdout


def test_no_package_is_forgotten():
    inner = {"orfeon.workbench.cli"}
    assert {f"orfeon.{name}" for name in orfeon._PACKAGES} >= set(FAMILIES) - inner
    with pytest.raises(AttributeError, match="module 'orfeon' has no attribute 'forests'"):
        orfeon.forests  # noqa: B018


def test_a_public_thing_has_one_home():
    """Beside `orfeon` itself one package exports it, and no two things share a name."""
    by_name: dict[str, set[int]] = {}
    for thing, packages in public_things().values():
        assert len(packages - {"orfeon"}) <= 1, (thing, packages)
        by_name.setdefault(thing.__name__, set()).add(id(thing))
    shared = {name for name, things in by_name.items() if len(things) > 1}
    assert shared == set()


def examples_of(thing):
    """The statements of the examples in a docstring that are run."""
    found = doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")
    run = [example.source for example in found if not example.options.get(doctest.SKIP)]
    return ast.parse("".join(run))


def test_examples_import_public_things_from_the_package():
    """As docs/versioning.md asks of users: the files that they happen to live in may change."""
    homes = public_things()
    found = []
    for thing, _ in homes.values():
        for node in ast.walk(examples_of(thing)):
            if not isinstance(node, ast.ImportFrom) or not node.module.startswith("orfeon"):
                continue
            module = importlib.import_module(node.module)
            for name in (alias.name for alias in node.names):
                _, packages = homes.get(id(getattr(module, name)), (None, {node.module}))
                if node.module not in packages:
                    found.append(f"{thing.__module__}.{thing.__name__}: {node.module}.{name}")
    assert found == []


#: Statements that give a name to what they define.
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)


def test_examples_stand_on_their_own():
    """Names come from the sample, not from the file in which the tests run it."""
    found = []
    for thing, _ in public_things().values():
        known, used = set(dir(builtins)), set()
        for node in ast.walk(examples_of(thing)):
            if isinstance(node, ast.alias):
                known.add(node.asname or node.name.split(".")[0])
            elif isinstance(node, ast.Name):
                (known if isinstance(node.ctx, ast.Store) else used).add(node.id)
            elif isinstance(node, DEFINITIONS):
                known.add(node.name)
            elif isinstance(node, ast.arg):
                known.add(node.arg)
        found += [f"{thing.__module__}.{thing.__name__}: {name}" for name in sorted(used - known)]
    assert found == []


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
