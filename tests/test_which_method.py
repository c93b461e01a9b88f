"""The example behind the page of which method when, and the glossary."""

import re
import unicodedata

import pytest
from tests.programs import ROOT, run

pytestmark = pytest.mark.tools


def rows(printed):
    """The last number of each row by its name."""
    found = re.findall(r"^  (\S.*?) {2,}[\d. ]*?([\d.]+)$", printed, re.MULTILINE)
    return {name: float(number) for name, number in found}


def test_ensembles_are_compared_with_the_trees_that_they_are_made_of():
    errors = rows(run("which_method", "--quick", "--only", "plain"))
    assert len(errors) == 13
    assert errors["random forest"] + 3 < errors["CART tree, pruned"]
    assert all(5 < error < 50 for error in errors.values())


def test_parts_have_an_error_and_a_time():
    printed = run("which_method", "--quick", "--only", "parts")
    found = re.findall(r"^  (\S.*?) {2,}([\d.]+) +([\d.]+)$", printed, re.MULTILINE)
    assert len(found) == 6
    assert all(10 < float(error) < 40 and float(seconds) < 60 for _, error, seconds in found)


def test_a_table_that_is_not_there_is_refused_with_those_that_are(capsys):
    with pytest.raises(SystemExit):
        run("which_method", "--only", "plane")
    assert "there are: plain, few, many" in capsys.readouterr().err


def test_every_situation_of_the_page_is_a_table_of_the_example():
    page = (ROOT / "docs" / "which_method.md").read_text(encoding="utf-8")
    source = (ROOT / "examples" / "which_method.py").read_text(encoding="utf-8")
    named = set(re.findall(r"`--only (\w+)`", page))
    assert len(named) >= 9
    assert named == set(re.findall(r'^ {8}"(\w+)": lambda: ', source, re.MULTILINE))


def letters(text):
    plain = unicodedata.normalize("NFKD", text.lower())
    return re.sub(r"[^a-z0-9 ]", "", plain)


def test_the_glossary_has_its_terms_in_order_in_both_languages():
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    english, spanish = page.split("## From Spanish to English")
    terms = re.findall(r"^\| \*\*(.+?)\*\* \| (.+?) \| (.+?) \|$", english, re.MULTILINE)
    names = [letters(term) for term, _, _ in terms]
    assert len(names) >= 80
    assert names == sorted(set(names))
    assert f"{len(names)} terms" in english
    back = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", spanish, re.MULTILINE)[1:]
    assert [letters(word) for word, _ in back] == sorted(letters(word) for word, _ in back)
    words = {word for word, _ in back}
    for term, all_words, meaning in terms:
        assert meaning.endswith((".", ".)")), term
        for word in all_words.split("; "):
            assert word in words or letters(word) == letters(term), word
