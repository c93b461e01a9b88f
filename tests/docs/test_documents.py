"""The pages on the five documents: what they name exists, and both languages name the same."""

from __future__ import annotations

import re
from pathlib import Path

import orfeon
import orfeon.datasets
import orfeon.inspection
import orfeon.ordering
from orfeon.rules.rule import rules_for

DOCS = Path(__file__).parents[2] / "docs"
TABLES = Path(orfeon.__file__).parent / "workbench" / "reproduction" / "tables"
PACKAGES = (orfeon, orfeon.inspection, orfeon.ordering, orfeon.datasets)


def named(page):
    """What a page names in its tables, in code."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    return re.findall(r"`([^`]+)`", "\n".join(line for line in lines if line.startswith("|")))


def test_both_languages_name_the_same_in_the_same_order():
    assert named("documents.md") == named("documentos.md")


def test_every_class_and_function_exists():
    rules = {*orfeon.ordering.ORDERING_RULES, *rules_for("classification")}
    for code in named("documents.md"):
        name = code.partition("(")[0].removeprefix("orfeon.ordering.")
        if code.startswith("orfeon ") or name in ("orfeon.imbalance", "oob_score_"):
            continue
        if '"' in code and "(" not in code:
            assert code.partition('"')[2].rstrip('"') in rules, code
        else:
            assert any(name in dir(package) for package in PACKAGES), code


def test_every_table_is_there_and_nothing_else():
    commands = [code.split()[2] for code in named("documents.md") if code.startswith("orfeon ")]
    authors = ("martinez", "cantador", "recarey")
    tables = [path.stem for path in TABLES.glob("*.toml") if path.stem.startswith(authors)]
    assert tables
    assert set(commands) == {name.replace("_", "-", 1).replace("_", ".") for name in tables}
