"""The pages of the user guide: their code runs, their links lead somewhere."""

import re
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tools

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
#: Translations have the blocks of their sources (docs/test_translations.py), which run there.
SPANISH = DOCS / "guide" / "es"
SOURCES = [page for page in PAGES if SPANISH not in page.parents]
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def blocks(page):
    """Python blocks of a page, with the lines they begin at."""
    text = page.read_text(encoding="utf-8")
    return [(text[: m.start(1)].count("\n"), m.group(1)) for m in _BLOCK.finditer(text)]


def names(page):
    return page.relative_to(DOCS).as_posix()


def test_no_fence_of_python_escapes_the_pattern():
    for page in PAGES:
        fences = re.findall(r"^\s*```+\s*py\w*", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(fences) == len(blocks(page)), names(page)
    assert sum(len(blocks(page)) for page in PAGES) >= 10


@pytest.mark.parametrize("page", SOURCES, ids=names)
def test_every_block_of_python_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # what a page writes is not kept
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    namespace = {"__name__": "__main__"}
    for line, code in blocks(page):
        # Line numbers of an error are those of the page.
        exec(compile("\n" * line + code, str(page), "exec"), namespace)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_pictures_and_pages_that_are_linked_exist(page):
    local = [link for link in _LINK.findall(page.read_text(encoding="utf-8")) if ":" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_pictures_are_small_and_all_used():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for picture in (DOCS / "images").glob("*"):
        assert picture.stat().st_size < 100_000, picture.name
        assert f"images/{picture.name}" in text


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_no_figure_is_left_out(page):
    assert not re.search(r"\|\s*(…|\.\.\.|TODO|\?)\s*\|", page.read_text())
