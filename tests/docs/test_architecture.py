"""What the page on the architecture says of imports is so."""

from __future__ import annotations

import ast
import importlib.util
from functools import cache
from pathlib import Path

import pytest

import orfeon

PACKAGE = Path(orfeon.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
AROUND = {"io", "serving", "study", "cli"}
#: The public names come from everywhere; the command has an entrance of its own.
ENTRANCES = {"__init__", "__main__"}


@cache
def imports(path):
    """Modules that a file imports, whenever it does; not those that only types are taken from."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


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
    return {name.split(".")[1] for name in modules if name.startswith("orfeon.")}


@pytest.mark.parametrize("part", sorted(set(PARTS) - AROUND - ENTRANCES))
def test_nothing_sees_what_stands_around(part):
    for path in PARTS[part]:
        assert own(imports(path)) & AROUND == set(), path.name


def test_kernels_know_arrays_only():
    assert len(PARTS["kernels"]) > 20
    for path in PARTS["kernels"]:
        modules = imports(path)
        assert own(modules) <= {"kernels", "table"}, path.name
        assert {name.split(".")[0] for name in modules} & {"sklearn", "pandas", "scipy"} == set()


def test_only_the_command_sees_the_command():
    for part in set(PARTS) - {"cli"} - ENTRANCES:
        assert not any("cli" in own(imports(path)) for path in PARTS[part]), part


def test_every_package_is_on_the_page_and_every_name_on_it_is_one():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.split("## The packages and their rules")[1].split("Dependencies point")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name.strip(" `") for row in rows for name in row.split(",")}
    packages = {part for part in PARTS if (PACKAGE / part).is_dir() and part != "votes"}
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
    others = {"imbalance", "datasets", "rendering", "kernels", "votes", "growth", "rules", "forest"}
    assert {part for part in PARTS if (PACKAGE / part).is_dir()} - shown - others == set()
