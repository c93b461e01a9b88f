"""A real browser, once a module, that nothing gets out of."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.workbench.report.demo import demo_content

from orfeon.workbench.report import Content, write_report

#: The browser asks for nothing by itself.
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("there is no Chromium on the PATH")
    with driver.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=list(_ARGUMENTS))
        yield chromium
        chromium.close()


class Opened:
    """A report in a tab: the tab, what it complained of and what it asked for."""

    def __init__(self, tab: Any) -> None:
        self.tab = tab
        self.complaints: list[str] = []
        self.requests: list[str] = []
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("console", lambda message: self.complaints.append(message.text))
        tab.on("request", lambda request: self.requests.append(request.url))

    def tip(self) -> str:
        """The text of the tooltip; nothing if it is closed."""
        tip = self.tab.locator("#orfeon-tip")
        return str(tip.inner_text()) if tip.is_visible() else ""

    def count(self, selector: str) -> int:
        """How many elements there are."""
        return int(self.tab.locator(selector).count())

    def dots(self, figure: str) -> int:
        """How many points are drawn: marks of their own, and dots of clouds."""
        return int(
            self.tab.evaluate(
                """(figure) => [...document.querySelectorAll(`${figure} .plot .mark`)]
                .reduce((n, mark) => n + (mark.classList.contains("cloud")
                    ? mark.getAttribute("d").split("M").length - 1 : 1), 0)""",
                figure,
            )
        )

    def close(self) -> None:
        """Close the tab; says so if it complained or asked for anything."""
        self.tab.context.close()
        assert self.complaints == []
        known = ("file:", "blob:", "data:")
        assert [url for url in self.requests if not url.startswith(known)] == []


Opener = Callable[..., Opened]
Address = Callable[[Content], str]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Address:
    """Writes a report, the same one only once; gives its address."""
    folder = tmp_path_factory.mktemp("reports")
    written: list[tuple[Content, str]] = []

    def of(content: Content) -> str:
        for other, where in written:
            if other is content:
                return where
        path = write_report(content, folder / f"report-{len(written)}.html")
        written.append((content, path.as_uri()))
        return path.as_uri()

    return of


def _open(browser: Any, where: str, width: int = 1280, height: int = 900, **options: Any) -> Opened:
    options.setdefault("reduced_motion", "reduce")
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    report = Opened(context.new_page())
    report.tab.goto(where)
    return report


@pytest.fixture
def open_report(browser: Any, address: Address) -> Iterator[Opener]:
    """Opens a report in a tab of its own."""
    opened: list[Opened] = []

    def open_it(content: Content, **options: Any) -> Opened:
        opened.append(_open(browser, address(content), **options))
        return opened[-1]

    yield open_it
    for report in opened:
        report.close()


@pytest.fixture(scope="module")
def _demo(browser: Any, address: Address) -> Iterator[Opened]:
    report = _open(browser, address(demo_content()))
    yield report
    report.close()


@pytest.fixture
def demo(_demo: Opened) -> Iterator[Opened]:
    """The report of the demonstration in a tab that tests share: they leave it as it was."""
    yield _demo
    _demo.tab.mouse.move(2, 2)
    _demo.tab.evaluate("document.activeElement.blur()")
