"""The pages: self-contained, safe whatever a model calls its columns, and of use to a person."""

from __future__ import annotations

import re
import shutil

import pandas as pd
import pytest
from tests.workbench.serve.clients import ask, serving

import orfeon
from orfeon.workbench.report.theme import DARK, LIGHT, contrast
from orfeon.workbench.serve import create_app

_EVIL = "</script><img src=x onerror=alert(1)>'\"&"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="module")
def evil():
    """A model whose names and classes are markup."""
    frame = pd.DataFrame({_EVIL: [0.0, 1.0] * 5, "b": pd.Categorical([_EVIL, "x"] * 5)})
    return create_app(orfeon.CARTClassifier().fit(frame, [_EVIL, "no"] * 5))


def page(app, path: str) -> tuple[str, str]:
    answer = ask(app, b"", path=path, method="GET")
    return answer.body.decode(), answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_ask_for_nothing_from_elsewhere(homes, path):
    text, policy = page(homes, path)
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text)
    assert "@import" not in text
    assert "url(" not in text
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert len(text) < 40_000


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_names_of_a_model_are_never_markup(evil, path):
    text, _ = page(evil, path)
    assert "<img" not in text
    assert text.count("</script>") == (3 if path == "/" else 1)
    assert "onerror" in text  # it is shown, as a text


def test_colours_can_be_read_in_light_and_dark():
    for colours in (LIGHT, DARK):
        assert contrast(colours["ink"], colours["paper"]) >= 4.5
        assert contrast(colours["muted"], colours["paper"]) >= 4.5
        assert contrast(colours["warn"], colours["soft"]) >= 4.5
        assert contrast(colours["on-accent"], colours["accent"]) >= 4.5


@pytest.fixture(scope="module")
def browser():
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("there is no Chromium on the PATH")
    with driver.sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = playwright.chromium.launch(executable_path=program, args=arguments)
        yield chromium
        chromium.close()


@pytest.mark.tools
@pytest.mark.parametrize("width", [375, 1280])
def test_a_person_can_try_the_model(browser, homes, evil, width):
    with serving(homes) as (host, port):
        tab = browser.new_page(viewport={"width": width, "height": 800})
        complaints: list[str] = []
        asked: list[str] = []
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("request", lambda request: asked.append(request.url))
        origin = f"http://{host}:{port}"
        tab.goto(f"{origin}/")
        tab.click("#ask")
        tab.wait_for_selector(".answer")
        assert tab.inner_text(".answer") in ("cheap", "dear")
        assert tab.locator(".share").count() == 2
        assert complaints == []
        assert asked == [f"{origin}/", f"{origin}/predict?probabilities=true"]
        assert f"{origin}/predict" in tab.inner_text("#command")
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        tab.goto(f"{origin}/docs")
        assert f"{origin}/predict" in tab.inner_text("#command")
        assert "8000" not in tab.content().replace("8000\\/predict", "")
        assert complaints == []
        tab.goto(f"{origin}/")
        tab.fill("#column-0", "big")
        tab.click("#ask")
        assert tab.inner_text(".error") == "size: big is no number."
        assert tab.evaluate("document.activeElement.id") == "column-0"
        tab.click("#clear")
        tab.fill("#column-4", "soon")
        tab.click("#ask")
        tab.wait_for_selector(".error >> text=DD/MM/YYYY")
        assert tab.get_attribute("#column-4", "aria-invalid") == "true"
        tab.close()


@pytest.mark.tools
def test_markup_of_a_model_does_nothing_in_a_browser(browser, evil):
    with serving(evil) as (host, port):
        tab = browser.new_page()
        complaints: list[str] = []
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("dialog", lambda dialog: complaints.append(dialog.message))
        tab.goto(f"http://{host}:{port}/")
        tab.click("#ask")
        tab.wait_for_selector(".answer")
        assert tab.inner_text(".answer") in (_EVIL, "no")
        assert complaints == []
        tab.close()
