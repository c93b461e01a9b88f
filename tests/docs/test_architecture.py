"""What the page on the architecture says of imports is so."""

from __future__ import annotations

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest
from tests.programs import ROOT, load

import orfeon

pytestmark = pytest.mark.tools

PACKAGE = Path(orfeon.__file__).parent

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
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path):
    """Modules that a file imports, wherever it does, or names in full to import them later."""
    found = set()
    for node in ast.walk(tree_of(path)):
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


FILES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.stem not in ENTRANCES
}


def runs(path):
    """Files that a file imports when it runs, also inside functions: types alone do not count."""
    nodes = [*ast.walk(tree_of(path))]
    guards = [n for n in nodes if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)]
    typing = {id(node) for guard in guards for line in guard.body for node in ast.walk(line)}
    found = [n for n in nodes if isinstance(n, ast.ImportFrom) and id(n) not in typing]
    named = {f"{node.module}.{alias.name}" for node in found for alias in node.names}
    return ({node.module for node in found} | named) & set(FILES)


def test_no_files_import_each_other_in_a_circle():
    """Files of one package do not, either: what two of them need is in a third."""
    left = {name: runs(path) for name, path in FILES.items()}
    while lowest := {name for name, needs in left.items() if not needs & set(left)}:
        left = {name: needs for name, needs in left.items() if name not in lowest}
    assert sorted(left) == []


def files_with(pattern):
    """Files in which a pattern matches a line."""
    compiled = re.compile(pattern, re.MULTILINE)
    return {
        str(path.relative_to(PACKAGE))
        for path in sorted(PACKAGE.rglob("*.py"))
        if compiled.search(path.read_text(encoding="utf-8"))
    }


def test_private_names_of_scikit_learn_are_imported_in_one_file():
    private = (
        r"^\s*(from sklearn[\w.]*\._|from sklearn[\w.]* import .*\b_\w|import sklearn[\w.]*\._)"
    )
    assert files_with(private) == {"utils/scikit_learn.py"}


def test_types_of_arrays_are_named_in_one_file():
    assert files_with(r"^\w+ = npt\.NDArray\[") == {"utils/types.py"}


def layer(path):
    """The package of a file; the workbench and the kernels count by their own packages."""
    parts = path.relative_to(PACKAGE).parts[:-1]
    return parts[: 2 if parts[:1] in {("workbench",), ("kernels",)} else 1]


def test_no_two_classes_or_functions_of_a_layer_share_a_name():
    """Those that another file can import; kernels are variants that take each other's place."""
    homes = {}
    for path in FILES.values():
        if layer(path)[:1] == ("kernels",) or layer(path) == ("workbench", "cli"):
            continue  # every command has `add_parser` and `run`
        for node in tree_of(path).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_":
                homes.setdefault((layer(path), node.name), set()).add(path.name)
    assert {key: files for key, files in homes.items() if len(files) > 1} == {}


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
    program = load("draw_architecture")
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


def test_all_displays_have_one_base():
    from orfeon.rendering.display import Display

    found = [
        getattr(package, name)
        for package in (orfeon.inspection, orfeon.statistics)
        for name in package.__all__
        if name.endswith("Display")
    ]
    assert [one.__name__ for one in found if not issubclass(one, Display)] == []
    assert len(found) > 20
    # Marks of shared texts are filled in.
    texts = (text for one in found for text in (one.__doc__, one.plot.__doc__))
    assert [text for text in texts if re.search(r"^ *<[\w ]+>$", text, re.MULTILINE)] == []
