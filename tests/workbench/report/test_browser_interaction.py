"""The page in a real browser: hover, keyboard, legends, sorting, files.

Every test also fails if the page writes to the console or asks for anything (see conftest.py).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.workbench.report.conftest import Opened, Opener
from tests.workbench.report.demo import METHODS, blocks_of, demo_content
from tests.workbench.report.odd import NASTY, odd_content

from orfeon.workbench.report.content_types import (
    Axis,
    Box,
    BoxPlot,
    Column,
    Content,
    Line,
    LineChart,
    Matrix,
    Points,
    ScatterPlot,
    Section,
    Table,
    ThresholdChart,
)
from orfeon.workbench.report.tables import shown

pytestmark = pytest.mark.tools

CONTENT = demo_content()
BLOCKS = blocks_of(CONTENT)


def block(kind: type, number: int = 0) -> Any:
    return [b for b in BLOCKS if isinstance(b, kind)][number]


def hover(report: Opened, selector: str, number: int = 0) -> str:
    mark = report.tab.locator(selector).nth(number)
    mark.scroll_into_view_if_needed()

    def centre() -> tuple[float, float]:
        box = mark.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    return hover_at(report, centre)


def hover_at(report: Opened, point: Callable[[], tuple[float, float]]) -> str:
    for _ in range(40):  # a busy machine scrolls and draws late
        report.tab.mouse.move(0, 0)
        report.tab.mouse.move(*point())
        tip = report.tip()
        if tip:
            return tip
        report.tab.wait_for_timeout(50)
    return ""


# -- hover -----------------------------------------------------------------------------------------


def test_a_dot_of_a_box_plot_tells_its_run(demo: Opened) -> None:
    box = block(BoxPlot).series[0]
    least = int(np.argmin(box.values))
    assert hover(demo, "#methods-2 .plot .mark") == (
        f"Random forest\n{box.labels[least]}\n{shown(box.values[least], 1, percent=True)}"
    )


def test_beside_the_dots_the_box_tells_its_median(demo: Opened) -> None:
    names = demo.tab.locator("#methods-2 .plot text.name")
    names.nth(4).scroll_into_view_if_needed()
    demo.tab.mouse.move(*[names.nth(4).bounding_box()[side] + 3 for side in "xy"])
    median = float(np.median(block(BoxPlot).series[4].values))
    assert demo.tip().startswith(f"Gradient boosting\nMedian\n{shown(median, 1, percent=True)}")


def test_curves_tell_all_series_at_a_size(demo: Opened) -> None:
    ordered, unordered = block(LineChart).series
    tip = hover(demo, "#ordering-1 .plot .chosen-point")
    assert tip.startswith("Trees: 42\nOrdered by margin distance\n")
    assert f"{shown(ordered.y[41], 1, percent=True)} (" in tip
    assert f"{shown(unordered.y[41], 1, percent=True)} (" in tip
    assert demo.count("#ordering-1 .plot .pointer-line") == 1
    demo.tab.mouse.move(2, 2)
    assert demo.tip() == ""
    assert demo.count(".pointer, .pointer-line") == 0


def test_a_point_among_thousands_tells_its_own_numbers(demo: Opened) -> None:
    demo.tab.locator("#why-1").scroll_into_view_if_needed()
    svg = demo.tab.locator("#why-1 .plot svg")
    first = svg.locator(".cloud").first.get_attribute("d")
    x, y = (float(part) for part in first[1:].split("h0")[0].split())

    def point() -> tuple[float, float]:
        box = svg.bounding_box()
        return box["x"] + x, box["y"] + y

    lines = hover_at(demo, point).split("\n")
    series = block(ScatterPlot, 1).series[0]
    assert lines[0] == "Bagging"
    pairs = {
        (shown(a, 3), shown(b, 1, percent=True)) for a, b in zip(series.x, series.y, strict=True)
    }
    assert (lines[2], lines[4]) in pairs


def test_cells_tell_counts_and_shares(open_report: Opener) -> None:
    report = open_report(CONTENT)
    tip = hover(report, "#mistakes-1 .plot rect.cell:not(.paper)", 5)
    share = shown(77 / (118 + 1452 + 77), 1, percent=True)
    assert tip.split("\n") == [
        "True class: second wave",
        "Predicted class: third wave",
        "Count",
        "77",
        "Share of the row",
        share,
    ]
    report.tab.get_by_role("button", name="Shares of the row").click()
    assert share in report.tab.locator("#mistakes-1 .plot text.value").all_text_contents()


def test_bars_tell_their_interval(demo: Opened) -> None:
    tip = hover(demo, "#features-1 .plot rect.barmark", 2)
    assert tip.startswith("x14\nGrowth\n6.0")
    assert " to " in tip


def test_tooltips_stay_inside_a_phone(open_report: Opener) -> None:
    report = open_report(CONTENT, width=375, height=800)
    for number in (0, 9):
        hover(report, "#ordering-2 .plot .mark", number)
        box = report.tab.locator("#orfeon-tip").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 375


# -- legends ---------------------------------------------------------------------------------------


def test_legend_entries_hide_and_show_series(open_report: Opener) -> None:
    report = open_report(CONTENT)
    entry = report.tab.locator("#why-1 .entry").nth(1)
    assert entry.get_attribute("aria-pressed") == "true"
    entry.click()
    assert entry.get_attribute("aria-pressed") == "false"
    assert report.dots("#why-1") == 4950 + 2000
    assert report.count("#why-1 .plot .look-1") == 0
    entry.press("Enter")
    assert report.dots("#why-1") == 11_900
    for other in report.tab.locator("#why-1 .entry").all():
        other.click()
    assert report.tab.locator("#why-1 .plot").inner_text() == "All series are hidden."


def test_box_plots_choose_their_rows_by_name(open_report: Opener) -> None:
    report = open_report(CONTENT)
    figure = report.tab.locator("#methods-2")
    figure.locator("summary").click()
    figure.get_by_role("button", name="Hide all").click()
    figure.get_by_role("button", name="Stacking").click()
    assert figure.locator("summary").inner_text() == "Shown: 1 of 10"
    assert figure.locator(".plot text.name").all_text_contents() == ["Stacking"]
    assert report.dots("#methods-2") == 30


def test_what_is_hidden_at_first_can_be_shown(open_report: Opener) -> None:
    lines = [Line("a", [1, 2], [1, 2]), Line("b", [1, 2], [3, 900], hidden=True)]
    chart = LineChart("c", "", Axis("x"), Axis("y"), lines)
    report = open_report(Content("t", sections=[Section("s", "S", [], [chart])]))
    assert report.count(".plot path.line") == 1
    assert report.tab.locator(".entry").nth(1).get_attribute("aria-pressed") == "false"
    report.tab.locator(".entry").nth(1).click()
    assert report.count(".plot path.line") == 2
    assert "1,000" in report.tab.locator(".plot text").all_text_contents()


# -- keyboard --------------------------------------------------------------------------------------


def test_arrows_walk_along_points_and_across_series(demo: Opened) -> None:
    plot = demo.tab.locator("#ordering-1 .plot")
    plot.focus()
    plot.press("Home")
    assert demo.tip().startswith("Trees: 1\n")
    plot.press("ArrowRight")
    assert demo.tip().startswith("Trees: 2\n")
    assert demo.tab.locator("#orfeon-tip .faint").inner_text().startswith("In the order")
    plot.press("ArrowDown")
    assert demo.tip().startswith("Trees: 2\n")
    assert demo.tab.locator("#orfeon-tip .faint").inner_text().startswith("Ordered by")
    plot.press("End")
    assert demo.tip().startswith("Trees: 200\n")
    answers = demo.tab.locator("#orfeon-voice").inner_text()
    assert answers.startswith("Trees: 200, Ordered by margin distance: ")
    plot.press("Escape")
    assert demo.tip() == ""
    plot.press("Home")
    plot.press("ArrowLeft")
    assert demo.tip().startswith("Trees: 200\n")  # the end of the series before
    plot.blur()
    assert demo.tip() == ""


def test_arrows_walk_over_a_matrix_in_both_ways(demo: Opened) -> None:
    plot = demo.tab.locator("#mistakes-1 .plot")
    plot.focus()
    for key in ("Home", "ArrowRight", "ArrowDown", "ArrowDown"):
        plot.press(key)
    assert demo.tip().split("\n")[:2] == [
        "True class: third wave",
        "Predicted class: second wave",
    ]


def test_the_keyboard_reaches_everything_and_shows_where_it_is(open_report: Opener) -> None:
    report = open_report(CONTENT)
    expected = report.tab.evaluate(
        """() => [...document.querySelectorAll("a[href], button, summary, [tabindex='0']")]
        .filter((e) => e.getClientRects().length && !e.closest("details:not([open]) > div"))
        .length"""
    )
    seen: list[dict[str, Any]] = []
    for _ in range(expected):
        report.tab.keyboard.press("Tab")
        seen.append(
            report.tab.evaluate(
                """() => { const e = document.activeElement, style = getComputedStyle(e);
                e.dataset.seen = "1";
                return { tag: e.tagName, outline: style.outlineStyle + style.outlineWidth,
                  name: (e.getAttribute("aria-label") || e.textContent).trim() }; }"""
            )
        )
    assert report.count("[data-seen]") == expected
    assert expected > 50
    assert {stop["outline"] for stop in seen} == {"solid3px"}
    assert all(stop["name"] for stop in seen)


def test_charts_have_names_and_roles(demo: Opened) -> None:
    labels = demo.tab.eval_on_selector_all(
        ".plot", "plots => plots.map(p => [p.getAttribute('role'), p.getAttribute('aria-label')])"
    )
    titles = [b.title for b in BLOCKS if not isinstance(b, Table)]
    assert labels == [
        ["application", f"{t}. Arrow keys move through the chart, Escape closes."] for t in titles
    ]
    assert demo.count(".plot svg:not([aria-hidden])") == 0
    assert demo.tab.locator("#orfeon-voice").get_attribute("aria-live") == "polite"


# -- tables ----------------------------------------------------------------------------------------


def column(report: Opened, number: int) -> list[str]:
    cells = report.tab.locator(f"#methods-1 tbody tr > :nth-child({number})").all_inner_texts()
    return [text.split(",")[0].strip() for text in cells]


def test_headers_sort_by_number_and_by_name(open_report: Opener) -> None:
    report = open_report(CONTENT)
    heads = report.tab.locator("#methods-1 thead th")
    assert heads.nth(1).get_attribute("aria-sort") == "ascending"
    heads.nth(4).locator("button").click()
    times = [float(text) for text in column(report, 5)]
    assert times == sorted(m[3] for m in METHODS)
    assert heads.nth(4).get_attribute("aria-sort") == "ascending"
    assert heads.nth(1).get_attribute("aria-sort") is None
    heads.nth(4).locator("button").press("Enter")
    assert [float(text) for text in column(report, 5)] == times[::-1]
    assert heads.nth(4).get_attribute("aria-sort") == "descending"
    heads.nth(0).locator("button").click()
    assert report.tab.locator("#methods-1 tbody th").first.inner_text() == "Bagging"


def test_what_is_missing_comes_last_both_ways(open_report: Opener) -> None:
    report = open_report(CONTENT)
    button = report.tab.locator("#methods-1 thead th").nth(5).locator("button")
    for _ in range(2):
        button.click()
        last = report.tab.locator("#methods-1 tbody tr").last
        assert last.locator("th").inner_text() == "Random forest"
        assert "highlight" in last.get_attribute("class")


def test_numbers_open_and_close(demo: Opened) -> None:
    button = demo.tab.locator("#mistakes-1 [data-do=numbers]")
    region = demo.tab.locator("#mistakes-1-numbers")
    assert (button.get_attribute("aria-expanded"), region.is_visible()) == ("false", False)
    button.click()
    assert (button.get_attribute("aria-expanded"), region.is_visible()) == ("true", True)
    assert region.locator("td").all_inner_texts()[4] == "1,452"
    button.click()
    assert (button.get_attribute("aria-expanded"), region.is_visible()) == ("false", False)


# -- files -----------------------------------------------------------------------------------------


def saved(report: Opened, figure: str) -> tuple[str, list[list[str]]]:
    with report.tab.expect_download() as waiting:
        report.tab.locator(f"{figure} [data-do=csv]").click()
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    return waiting.value.suggested_filename, list(csv.reader(io.StringIO(text, newline="")))


def test_a_table_is_saved_with_all_its_digits(demo: Opened) -> None:
    name, rows = saved(demo, "#methods-1")
    table = block(Table)
    assert name == "methods-1.csv"
    assert rows[0][:5] == ["Method", "Error", "Error low", "Error high", "Mean rank"]
    assert tuple(float(part) for part in rows[1][1:4]) == table.rows[0][1]
    assert rows[1][-1] == ""
    assert len(rows) == 1 + len(table.rows)


def test_a_chart_is_saved_with_every_point(demo: Opened) -> None:
    _, rows = saved(demo, "#why-1")
    assert len(rows) == 1 + 11_900
    assert float(rows[1][2]) == pytest.approx(block(ScatterPlot, 1).series[0].x[0], rel=1e-6)
    _, rows = saved(demo, "#mistakes-1")
    assert rows[1] == ["first wave", *(f"{value:.0f}" for value in block(Matrix).values[0])]


def test_names_in_files_are_quoted_and_are_no_formulas(open_report: Opener) -> None:
    table = Table(
        "T", "", [Column("n"), Column("v", "number")], [[NASTY, -1], ["=1+1", 2], ["-x", 3]]
    )
    report = open_report(Content("t", sections=[Section("s", "S", [], [table])]))
    _, rows = saved(report, "#s-1")
    assert rows == [["n", "v"], [NASTY, "-1"], ["'=1+1", "2"], ["'-x", "3"]]


def test_the_configuration_can_be_copied(open_report: Opener) -> None:
    report = open_report(CONTENT, permissions=["clipboard-read", "clipboard-write"])
    button = report.tab.locator("#orfeon-repeat [data-do=copy]").first
    button.click()
    report.tab.wait_for_function(
        "document.querySelector('#orfeon-repeat [data-do=copy]').textContent === 'Copied'"
    )
    assert report.tab.evaluate("navigator.clipboard.readText()") == CONTENT.command


def test_every_chart_can_be_hovered_and_walked_whatever_it_holds(open_report: Opener) -> None:
    report = open_report(odd_content())
    failed = report.tab.evaluate(
        """() => { const failed = []; addEventListener("error", (e) => failed.push(e.message));
        for (const plot of document.querySelectorAll(".plot")) {
          const box = plot.getBoundingClientRect();
          for (let i = 0; i < 12; i++) plot.dispatchEvent(new PointerEvent("pointermove",
            { clientX: box.left + (box.width * i) / 12,
              clientY: box.top + (box.height * ((i * 5) % 12)) / 12 }));
          const keys = "ArrowRight ArrowDown ArrowUp ArrowLeft End PageUp Escape".split(" ");
          for (const key of keys)
            plot.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        }
        return failed; }"""
    )
    assert failed == []
    assert report.tip() == ""


# -- thresholds and costs --------------------------------------------------------------------------


def test_a_threshold_is_moved_and_the_cheapest_one_found(open_report: Opener) -> None:
    chart = ThresholdChart(
        "Threshold and costs", "", "no", "yes", [0.0, 0.3, 0.5, 0.9, 1.0], [50, 20, 10, 1, 0],
        [30, 29, 20, 5, 0], 50, 30,
    )  # fmt: skip
    report = open_report(Content("One chart", sections=[Section("s", "Section", [], [chart])]))
    tab = report.tab
    cells = tab.locator(".plot text.value")
    assert cells.all_text_contents() == ["40", "10", "10", "20"]
    assert "Error 25.0%" in tab.inner_text(".measures")
    assert "recall 66.7%" in tab.inner_text(".measures")
    first, second = tab.locator(".slider input").all()
    first.focus()
    tab.keyboard.press("ArrowRight")
    assert cells.all_text_contents() == ["49", "1", "25", "5"]
    assert tab.locator(".slider output").first.inner_text() == "0.900"
    second.focus()
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    assert "10 × a false alarm" in tab.locator(".slider output").last.inner_text()  # noqa: RUF001
    tab.get_by_role("button", name="Lowest cost").click()
    # 10 for each missed: 50, 20 + 10, 10 + 100, ...: the second is the cheapest.
    assert cells.all_text_contents() == ["30", "20", "1", "29"]
    assert "cost per row 0.3750" in tab.inner_text(".measures")


def test_points_with_tones_have_colours_and_no_box(open_report: Opener) -> None:
    values = [0.1, -0.2, 0.3, 0.4, -0.5]
    box = Box("x1", values, [f"x1 = {k}" for k in range(5)], tones=[0, 0.25, 0.5, None, 1])
    chart = BoxPlot("Shapley values", "", Axis("change"), [box])
    report = open_report(Content("One chart", sections=[Section("s", "Section", [], [chart])]))
    assert report.count(".plot rect.box") == 0
    colours = report.tab.eval_on_selector_all(
        ".plot .toned", "all => all.map(one => getComputedStyle(one).stroke)"
    )
    assert len(set(colours)) == 5


def test_guides_are_drawn_and_named(open_report: Opener) -> None:
    guide = Line("chance", (0.0, 1.0), (0.0, 1.0))
    axes = Axis("x", low=0.0, high=1.0), Axis("y", low=0.0, high=1.0)
    lines = LineChart("a", "", *axes, [Line("roc", (0, 0, 1), (0, 1, 1))], guides=[guide])
    points = ScatterPlot("b", "", *axes, [Points("p", [0.2], [0.4])], guides=[guide])
    report = open_report(
        Content("Two charts", sections=[Section("s", "Section", [], [lines, points])])
    )
    assert report.count(".plot path.guide") == 2
    assert report.tab.locator(".plot text", has_text="chance").count() == 2
