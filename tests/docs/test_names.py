"""No two public things share a name, nor two internal ones of the same layer."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import orfeon

pytestmark = pytest.mark.tools

SOURCE = Path(orfeon.__file__).parent
#: Every command is a module with these two functions, which ``cli.main`` calls.
MAY_BE_SHARED = {"workbench.cli": {"add_parser", "run"}}
#: Steps of kernels are named for what they do, and each regime of growth does the same steps in its
#: own way: its files mirror those of the others.
WITHOUT = "kernels"


def public_names():
    """What each public name is, by the packages that export it."""
    found = defaultdict(dict)
    for module in pkgutil.walk_packages(orfeon.__path__, "orfeon."):
        if module.ispkg:
            package = importlib.import_module(module.name)
            for name in getattr(package, "__all__", ()):
                found[name][module.name] = getattr(package, name)
    for name in orfeon.__all__:
        found[name]["orfeon"] = getattr(orfeon, name)
    return found


def test_a_public_name_means_one_thing():
    names = public_names()
    assert len(names) > 400
    alike = {
        name: sorted(homes)
        for name, homes in names.items()
        if len({id(thing) for thing in homes.values()}) > 1
    }
    assert alike == {}


def layer_of(path):
    """The package of a module; a part of the workbench is a layer of its own."""
    parts = path.relative_to(SOURCE).parent.parts
    return ".".join(parts[: 2 if parts[:1] == ("workbench",) else 1])


def names_of(text):
    """Functions and classes of a module that other modules may import; overloads count once."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = (node.name for node in ast.parse(text).body if isinstance(node, kinds))
    return {name for name in found if not name.startswith("_")}


def shared_names(files):
    """Names that several of some files define, by layer."""
    counts = defaultdict(Counter)
    for layer, text in files:
        counts[layer].update(names_of(text))
    return {
        layer: alike
        for layer, of_layer in counts.items()
        if (alike := {name for name, n in of_layer.items() if n > 1})
    }


def test_two_internal_things_of_a_layer_have_two_names():
    files = [(layer_of(path), path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))]
    found = shared_names((layer, text) for layer, text in files if layer != WITHOUT)
    alike = {layer: names - MAY_BE_SHARED.get(layer, set()) for layer, names in found.items()}
    assert {layer: names for layer, names in alike.items() if names} == {}


def test_equal_names_are_found():
    one, other = "def read(): ...\ndef _a(): ...", "class read: ...\ndef _a(): ..."
    assert shared_names([("io", one), ("io", other), ("data", one)]) == {"io": {"read"}}
    overloaded = "@overload\ndef f(x: int): ...\n@overload\ndef f(x: str): ...\ndef f(x): ..."
    assert shared_names([("io", overloaded)]) == {}


@pytest.mark.parametrize(
    ("package", "old", "new"),
    [
        ("orfeon.datasets", "load", "load_dataset"),
        ("orfeon.ordering", "RULES", "ORDERING_RULES"),
        ("orfeon.combining", "RULES", "COMBINING_RULES"),
    ],
)
def test_former_names_still_work(package, old, new):
    module = importlib.import_module(package)
    with pytest.warns(FutureWarning, match=rf"{package}\.{old} is now {package}\.{new}\."):
        assert getattr(module, old) is getattr(module, new)
    assert old not in dir(module)
