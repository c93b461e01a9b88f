"""The interactive page: one file, both languages complete, and it reacts in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.workbench.report.conftest import Opened, _open, browser

from orfeon.errors import UserError
from orfeon.workbench.cli import main
from orfeon.workbench.teach import render_lesson, write_lesson
from orfeon.workbench.teach.texts import TEXTS

assert browser  # a fixture

LANGUAGES = sorted(TEXTS)


def shape(texts: Any) -> Any:
    """Keys, lengths and names in braces: what a translation must keep."""
    if isinstance(texts, dict):
        return {key: shape(value) for key, value in texts.items()}
    if isinstance(texts, list):
        return [shape(value) for value in texts]
    return sorted(re.findall(r"\{\w+\}", texts)) if isinstance(texts, str) else texts


def test_translations_have_the_same_texts():
    assert LANGUAGES == ["en", "es"]
    assert shape(TEXTS["es"]) == shape(TEXTS["en"])
    assert TEXTS["es"]["stories"] != TEXTS["en"]["stories"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_loads_nothing_and_is_small(language):
    text = render_lesson(language)
    assert f'<html lang="{language}">' in text
    assert "default-src 'none'" in text
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//|@import|url\(""", text)
    assert len(text.encode()) < 80_000


def test_another_language_is_refused():
    with pytest.raises(ValueError, match=r"language='fr' is not allowed; use one of 'en', 'es'\."):
        render_lesson("fr")


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path):
    with pytest.raises(UserError, match="The page cannot be written to"):
        write_lesson(tmp_path)


def test_the_command_writes_the_page_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert main(["teach"]) == 0
    assert capsys.readouterr().out == "The page is lesson.html. Open it in a browser.\n"
    assert (tmp_path / "lesson.html").read_text(encoding="utf-8") == render_lesson()
    assert main(["teach"]) == 2
    assert "already exists" in capsys.readouterr().err
    arguments = ["teach", "--force", "--language", "es", "-o", "lesson.html", "--json"]
    assert main([*arguments, "--open"]) == 0
    assert json.loads(capsys.readouterr().out) == {"path": "lesson.html", "language": "es"}
    assert (tmp_path / "lesson.html").read_text(encoding="utf-8") == render_lesson("es")
    assert opened == [(tmp_path / "lesson.html").as_uri()]


# -- in a browser ----------------------------------------------------------------------------------


@pytest.fixture
def open_lesson(browser: Any, tmp_path: Any) -> Iterator[Any]:
    opened: list[Opened] = []

    def open_it(language: str = "en", **options: Any) -> Any:
        where = write_lesson(tmp_path / f"{language}.html", language).as_uri()
        opened.append(_open(browser, where, **options))
        drawn(opened[-1].tab)
        return opened[-1].tab

    yield open_it
    for lesson in opened:
        lesson.close()  # complains of errors and of requests


def drawn(tab: Any) -> None:
    tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def move(tab: Any, name: str, value: Any) -> str:
    """Set a control, and return what the page then says."""
    if name in {"problem", "method", "order"}:
        tab.select_option(f"#{name}", value)
    else:
        tab.fill(f"#{name}", str(value))
    drawn(tab)
    return str(tab.inner_text("#summary"))


def pictures(tab: Any) -> dict[str, str]:
    return tab.evaluate(
        """() => ({map: document.querySelector("#plane").toDataURL(),
        curves: document.querySelector("#curves-plot").innerHTML,
        margins: document.querySelector("#margins-plot").innerHTML,
        votes: document.querySelector("#votes-plot").innerHTML})"""
    )


@pytest.mark.tools
def test_every_setting_changes_every_picture(open_lesson):
    tab = open_lesson()
    before = pictures(tab)
    for name, value in [
        ("samples", 120), ("noise", 30), ("members", 33), ("rate", 40), ("depth", 3),
        ("problem", "threenorm"), ("method", "switching"), ("method", "adaboost"),
    ]:  # fmt: skip
        move(tab, name, value)
        after = pictures(tab)
        changed = {picture for picture in after if after[picture] != before[picture]}
        assert {"map", "curves", "margins"} <= changed, name
        before = after
    tab.click("#redraw")
    drawn(tab)
    assert pictures(tab)["map"] != before["map"]


@pytest.mark.tools
def test_what_the_page_says_is_what_its_functions_compute(open_lesson):
    tab = open_lesson()
    move(tab, "members", 40)
    move(tab, "order", "ordered")
    said = move(tab, "first", 9)
    curves = tab.evaluate(
        """() => Ensembles.run({problem: "moons", method: "bagging", samples: 300, noise: 0.1,
        members: 40, rate: 1, depth: Infinity, seed: 1}).curves"""
    )
    test = curves["ordered"]["test"]
    assert f"The first 9 of 40 members: test error {100 * test[8]:.1f}%" in said
    assert f"training error {100 * curves['ordered']['train'][8]:.1f}%" in said
    best = min(range(40), key=test.__getitem__)
    assert f"by margin distance: {100 * test[best]:.1f}% with {best + 1}." in said
    assert tab.locator("#votes-plot rect:not(.silent)").count() == 9
    tab.click("details summary")
    drawn(tab)
    cells = tab.locator("#table tbody tr").nth(8).locator("td").all_inner_texts()
    assert cells[3] == f"{100 * test[8]:.1f}%"
    assert move(tab, "members", 5).startswith("The first 5 of 5 members")


@pytest.mark.tools
def test_the_keyboard_suffices(open_lesson):
    tab = open_lesson()
    words = tab.inner_text("#votes-text")
    tab.focus("#plane")
    for _ in range(25):
        tab.keyboard.press("ArrowDown")
    drawn(tab)
    assert tab.inner_text("#votes-text") != words
    tab.focus("#members")
    tab.keyboard.press("ArrowRight")
    drawn(tab)
    assert tab.inner_text("#summary").startswith("The first 52 of 52")
    assert tab.get_attribute("#members", "aria-valuetext") == "52"
    names = tab.evaluate(
        """() => [...document.querySelectorAll("input, select, button, canvas")].map(
        (part) => part.labels?.[0]?.innerText || part.ariaLabel || part.innerText)"""
    )
    assert len(names) == 18
    assert all(name.strip() for name in names)


@pytest.mark.tools
def test_experiments_set_the_page_up_and_show_what_they_say(open_lesson):
    tab = open_lesson()
    tab.click("[data-story='3']")  # stumps on XOR
    drawn(tab)
    stumps = re.search(r"test error ([\d.]+)%", tab.inner_text("#summary"))
    assert stumps
    assert float(stumps[1]) > 35
    deeper = re.search(r"test error ([\d.]+)%", move(tab, "depth", 2))
    assert deeper
    assert float(deeper[1]) < 15
    tab.click("[data-story='2']")  # wrong labels
    drawn(tab)
    boosted = float(re.search(r"test error ([\d.]+)%", tab.inner_text("#summary"))[1])
    bagged = float(re.search(r"test error ([\d.]+)%", move(tab, "method", "bagging"))[1])
    assert bagged < boosted
    tab.click("#reset")
    drawn(tab)
    assert (tab.input_value("#method"), tab.input_value("#members")) == ("bagging", "51")


@pytest.mark.tools
def test_a_perfect_first_tree_is_explained(open_lesson):
    tab = open_lesson()
    move(tab, "noise", 0)
    move(tab, "method", "adaboost")
    assert not tab.is_visible("#ended")
    move(tab, "depth", 12)
    assert "AdaBoost ended with 1" in tab.inner_text("#ended")


@pytest.mark.tools
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_telephone_in_light_and_dark(open_lesson, language, scheme):
    tab = open_lesson(language, width=375, height=812, color_scheme=scheme)
    assert tab.evaluate("document.documentElement.scrollWidth") == 375
    ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    tab.click("#theme")
    drawn(tab)
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") != ground
