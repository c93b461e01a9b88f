"""The gallery: each page has a title, prose and a picture, and uses public names only.

All pages are executed where the documentation is built; two of the fastest are executed here.
"""

import ast
import importlib
import re
import runpy
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tools

ROOT = Path(__file__).resolve().parents[2]
GALLERY, DOCS = ROOT / "examples" / "gallery", ROOT / "docs"
PAGES = sorted(GALLERY.rglob("*.py"))
SECTIONS = sorted({page.parent for page in PAGES})
FAST = ("practice/plot_a_tree.py", "inspection/plot_kappa_error.py")
#: What the extra ``docs`` brings, and what comes with these and with Python.
ALLOWED = {"imblearn", "joblib", "matplotlib", "numpy", "orfeon", "pandas", "sklearn"}


def names(page):
    return page.relative_to(GALLERY).as_posix()


def imported(tree):
    """Pairs of a module and a name in it (None for the module itself) that a page imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)


def text_cells(source):
    """Text of the cells that begin with ``# %%``."""
    cells = re.findall(r"^# %%\n((?:#.*\n)*)", source, re.MULTILINE)
    return [re.sub(r"^# ?", "", cell, flags=re.MULTILINE).strip() for cell in cells]


def test_there_are_enough_pages_in_a_few_sections():
    assert len(PAGES) >= 18
    assert 4 <= len(SECTIONS) <= 9
    for section in SECTIONS:
        assert len(list(section.glob("plot_*.py"))) >= 3, section.name
    for folder in (GALLERY, *SECTIONS):
        title, underline, *_ = (folder / "GALLERY_HEADER.rst").read_text("utf-8").splitlines()
        assert len(title) == len(underline), folder.name


def test_pages_have_names_of_their_own():
    # Only plot_*.py is executed, and two pages of one name would overwrite each other's pictures.
    assert all(page.name.startswith("plot_") for page in PAGES)
    assert len({page.name for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_page_begins_with_a_title_and_tells_a_story(page):
    source = page.read_text("utf-8")
    docstring = ast.get_docstring(ast.parse(source))
    title, underline, empty, *story = docstring.split("\n")
    assert 10 <= len(title) <= 70
    assert underline == "=" * len(title)
    assert empty == ""
    assert len(" ".join(story)) >= 150
    cells = text_cells(source)
    assert len(cells) >= 2
    assert sum(map(len, cells)) >= 250
    for heading, line in re.findall(r"^(.+)\n(-{3,})$", "\n\n".join(cells), re.MULTILINE):
        assert len(heading) == len(line), heading
    assert 40 <= len(source.splitlines()) <= 120


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_page_has_a_picture_and_shows_it(page):
    source = page.read_text("utf-8")
    assert re.search(r"plt\.subplots\(|Display\b.*\(|plot_tree\(", source)
    assert source.count("plt.show()") >= 1


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_page_uses_public_names_of_allowed_packages(page):
    tree = ast.parse(page.read_text("utf-8"))
    for module, name in imported(tree):
        package = module.partition(".")[0]
        assert package in ALLOWED or package in sys.stdlib_module_names, module
        if package == "orfeon":
            public = importlib.import_module(module)
            assert name is None or name in dir(public), f"{module}.{name}"
            assert not re.search(r"(^|\.)_", f"{module}.{name}")
    private = [
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and re.match(r"_[^_]", node.attr)
    ]
    assert private == []


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_pages_that_are_linked_exist(page):
    docs = GALLERY.parents[1] / "docs"
    targets = re.findall(r":doc:`(?:[^`<]*<)?/([\w/]+)>?`", page.read_text("utf-8"))
    assert page.read_text("utf-8").count(":doc:") == len(targets)
    assert [target for target in targets if not (docs / f"{target}.md").exists()] == []


@pytest.mark.parametrize("name", FAST)
def test_page_runs_without_a_warning_and_draws(name, monkeypatch, capsys, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    drawn = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pyplot, "show", lambda: drawn.append(len(pyplot.get_fignums())))
    runpy.run_path(str(GALLERY / name), run_name="__main__")
    pyplot.close("all")
    assert drawn
    assert min(drawn) >= 1
    assert len(capsys.readouterr().out) > 100
    assert list(tmp_path.iterdir()) == []


def test_lessons_lead_to_pages_of_the_gallery():
    lessons = (DOCS / "howto" / "lessons.md").read_text("utf-8")
    named = re.findall(r"<\.\./gallery/(\w+/\w+)>", lessons)
    assert len(named) >= 16
    assert [name for name in named if not (GALLERY / f"{name}.py").exists()] == []
