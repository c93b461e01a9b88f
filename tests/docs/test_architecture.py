"""What the page on the architecture says of imports is so."""

from __future__ import annotations

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest

import orfeon

PACKAGE = Path(orfeon.__file__).parent
ROOT = Path(__file__).resolve().parents[2]

#: All parts, the lowest floor first: a part imports only parts that come before it, at the top of a
#: file, inside a function, for types alone, or by the name of a module in a string.
FLOORS = (
    "errors", "utils",
    # data, and trees grown from them
    "data", "kernels", "forest", "growth", "base",
    # members, their votes, and the decision
    "members", "rules", "calibration", "uncertainty",
    # methods
    "trees", "ensembles", "boosting", "imbalance", "perceptrons", "combining",
    # what is done with fitted ensembles
    "rendering", "ordering", "inspection", "statistics", "datasets", "io",
    # the workbench knows everything, and nothing knows it
    "workbench",
)  # fmt: skip
#: The parts of the workbench, in the same order.
WORKBENCH = (
    "store", "prepare", "tasks", "experiment", "report", "teach", "reproduction", "serve", "cli",
)  # fmt: skip
#: The highest part of the library: ``import orfeon`` gives names of all parts up to it.
LIBRARY = "io"
#: The public names come from everywhere; the command has an entrance of its own.
ENTRANCES = {"__init__", "__main__"}
MODULE = re.compile(r"orfeon(\.\w+)+")


@cache
def imports(path):
    """Modules that a file imports, wherever it does, or names in full to import them later."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import"
            found |= modules_of(node)
        elif isinstance(node, ast.Constant) and MODULE.fullmatch(str(node.value)):
            found.add(node.value)
    return found


def modules_of(node):
    """Modules of a statement ``from ... import ...``; public names count as where they live."""
    if node.module != "orfeon":
        return {node.module}
    names = {alias.name for alias in node.names} - {"__version__"}
    return {orfeon._HOMES.get(name, f"orfeon.{name}") for name in names}


def parts():
    """Files of the package by the part they belong to."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        found.setdefault(part, []).append(path)
    return found


PARTS = parts()


def own(modules):
    """The parts of orfeon among some modules."""
    named = {name.split(".")[1] for name in modules if name.startswith("orfeon.")}
    return named | ({LIBRARY} if "orfeon" in modules else set())


def test_every_part_has_its_floor():
    assert sorted(FLOORS) == sorted(set(PARTS) - ENTRANCES)


@pytest.mark.parametrize("part", FLOORS)
def test_imports_point_down(part):
    below = set(FLOORS[: FLOORS.index(part) + 1])
    up = {
        (part, other): str(path.relative_to(PACKAGE))
        for path in PARTS[part]
        for other in own(imports(path)) - below
    }
    assert up == {}


@pytest.mark.parametrize("part", WORKBENCH)
def test_imports_within_the_workbench_point_down(part):
    above = WORKBENCH[WORKBENCH.index(part) + 1 :]
    for path in (PACKAGE / "workbench" / part).rglob("*.py"):
        modules = {
            name.split(".")[2]
            for name in imports(path)
            if name.count(".") > 1 and name.startswith("orfeon.workbench.")
        }
        assert modules & set(above) == set(), path.name


def test_imports_are_found_wherever_they_are(tmp_path):
    path = tmp_path / "late.py"
    path.write_text(
        "import numpy\n"
        "from orfeon import __version__, prune\n"
        "if TYPE_CHECKING:\n"
        "    from orfeon.growth.engine import Growth\n"
        "HOMES = {'Selection': 'orfeon.members.votes'}\n"
        "def late():\n"
        "    'This is not orfeon.statistics, only its name.'\n"
        "    from orfeon.trees import CARTClassifier\n"
        "    from orfeon import workbench\n",
        encoding="utf-8",
    )
    assert own(imports(path)) == {"ordering", "growth", "members", "trees", "workbench"}
    whole = tmp_path / "whole.py"
    whole.write_text("import orfeon\n", encoding="utf-8")
    assert own(imports(whole)) == {LIBRARY}


def test_kernels_know_arrays_only():
    assert len(PARTS["kernels"]) > 20
    for path in PARTS["kernels"]:
        modules = imports(path)
        assert own(modules) <= {"kernels", "data", "utils"}, path.name
        assert {name.split(".")[0] for name in modules} & {"sklearn", "pandas", "scipy"} == set()


def test_every_package_is_on_the_page_and_every_name_on_it_is_one():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.split("## The packages and their rules")[1].split("Dependencies point")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name.strip(" `") for row in rows for name in row.split(",")}
    packages = {part for part in PARTS if (PACKAGE / part).is_dir() and part != "utils"}
    assert packages - named == set()
    assert {name for name in named if importlib.util.find_spec(f"orfeon.{name}") is None} == set()


def test_the_picture_is_drawn_by_its_program_and_shows_the_packages(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location(
        "draw_architecture", ROOT / "examples" / "draw_architecture.py"
    )
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    program.draw(tmp_path / "architecture.png")
    assert 10_000 < (tmp_path / "architecture.png").stat().st_size < 100_000
    shown = {box.title for box in (*program.METHODS, *program.AROUND)}
    assert shown <= set(PARTS)
    shown |= {box.title for box in program.LINE}
    others = {
        "imbalance", "datasets", "rendering", "kernels", "growth", "rules", "forest", "utils",
        "statistics", "calibration", "uncertainty",
    }  # fmt: skip
    assert {part for part in PARTS if (PACKAGE / part).is_dir()} - shown - others == set()
