"""The pages on the five documents: what they name exists, and both languages name the same."""

from __future__ import annotations

import re
from pathlib import Path

import orfeon
import orfeon.boosting
import orfeon.combining
import orfeon.datasets
import orfeon.imbalance
import orfeon.inspection
import orfeon.ordering
import orfeon.statistics
from orfeon.rules.rule import rules_for
from orfeon.workbench import PROTOCOLS
from orfeon.workbench.reproduction.figures import read_figures

DOCS = Path(__file__).parents[2] / "docs"
PACKAGES = (
    orfeon, orfeon.boosting, orfeon.combining, orfeon.datasets, orfeon.imbalance, orfeon.inspection,
    orfeon.ordering,
)  # fmt: skip
MODULES = ("orfeon.imbalance", "orfeon.statistics")


def named(page):
    """What a page names in its tables, in code."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    return re.findall(r"`([^`]+)`", "\n".join(line for line in lines if line.startswith("|")))


def test_both_languages_name_the_same_in_the_same_order():
    assert named("documents.md") == named("documentos.md")


def test_every_class_and_function_exists():
    rules = {*orfeon.ordering.ORDERING_RULES, *rules_for("classification")}
    for code in named("documents.md"):
        name = code.partition("(")[0]
        if code.startswith("orfeon ") or name in (*MODULES, "oob_score_"):
            continue
        if '"' in code and "(" not in code:
            assert code.partition('"')[2].rstrip('"') in rules, code
        else:
            package, _, name = name.rpartition(".")
            homes = [found for found in PACKAGES if package in ("", found.__name__)]
            assert any(name in dir(home) for home in homes), code


class Names(dict):
    """The names of the library, for the code on the page."""

    def __missing__(self, name):
        return getattr(orfeon, name)


def test_estimators_accept_the_settings_that_the_page_gives_them():
    codes = [code for code in named("documents.md") if code.endswith(")")]
    assert len(codes) > 10
    for code in codes:
        eval(code, {}, Names())._validate_params()


def commands():
    """The tables and figures that the page names; of "3.6 to 3.8" those between, too."""
    text = (DOCS / "documents.md").read_text(encoding="utf-8")
    names = []
    command = r"`orfeon reproduce (\S+)`"
    for first, last in re.findall(f"{command}(?: to {command})?", text):
        names.append(first)
        if last:
            stem, low = first.rsplit(".", 1)
            assert last.rsplit(".", 1)[0] == stem
            names += [f"{stem}.{n}" for n in range(int(low) + 1, int(last.rsplit(".", 1)[1]) + 1)]
    return [name for name in names if name != "list"]


def test_every_table_and_figure_is_there_and_nothing_else():
    tables = {name for name in PROTOCOLS if name != "j48"}
    assert sorted(commands()) == sorted(tables | read_figures().keys())
