"""The Spanish pages of the guide have the code and figures of their sources; links go both ways."""

import re
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.tools

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"
SPANISH = sorted(page for page in (GUIDE / "es").glob("*.md") if page.name != "index.md")
_BLOCK = re.compile(r"^(`{3,})(?!\{).*?^\1$", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"!\[[^]]+\]\((?:\.\./)+(images/[^)]+)\)")
_HEADING = re.compile(r"^(#+) ", re.MULTILINE)
_COMMAND = re.compile(r"`((?:python|orfeon) [^`]+)`")


def both(page):
    """Text of a translation and of its source."""
    source = GUIDE / page.name
    return page.read_text(encoding="utf-8"), source.read_text(encoding="utf-8")


def prose(text):
    return _BLOCK.sub("", text)


def commands(text):
    return Counter(" ".join(command.split()) for command in _COMMAND.findall(prose(text)))


def test_the_core_pages_are_translated():
    names = {page.stem for page in SPANISH}
    assert names >= {"getting_started", "ensembles", "ordering", "trust", "workbench"}


@pytest.mark.parametrize("page", SPANISH, ids=lambda page: page.stem)
def test_blocks_of_code_are_those_of_the_source(page):
    spanish, english = both(page)
    found = [match[0] for match in _BLOCK.finditer(spanish)]
    assert found
    assert found == [match[0] for match in _BLOCK.finditer(english)]


@pytest.mark.parametrize("page", SPANISH, ids=lambda page: page.stem)
def test_figures_pictures_and_sections_are_those_of_the_source(page):
    spanish, english = both(page)
    decimals = [Counter(re.findall(r"\d+\.\d+", prose(text))) for text in (spanish, english)]
    assert decimals[0] == decimals[1]
    assert _PICTURE.findall(spanish) == _PICTURE.findall(english)
    levels = [_HEADING.findall(prose(text)) for text in (spanish, english)]
    assert levels[0] == levels[1]
    rows = [len(re.findall(r"^\|", prose(text), re.MULTILINE)) for text in (spanish, english)]
    assert rows[0] == rows[1]
    assert commands(spanish) - Counter({"orfeon teach --language es": 1}) == commands(english)


@pytest.mark.parametrize("page", SPANISH, ids=lambda page: page.stem)
def test_each_page_links_to_the_other_language(page):
    spanish, english = both(page)
    assert f"](../{page.name})" in spanish
    assert f"](es/{page.name})" in english
