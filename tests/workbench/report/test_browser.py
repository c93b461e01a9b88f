"""The page in a real browser: what is drawn, how it looks, and that nothing breaks it.

Every test also fails if the page writes to the console or asks for anything (see conftest.py).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from tests.workbench.report.conftest import Opened, Opener
from tests.workbench.report.demo import METHODS, N_MEMBERS, N_RUNS, demo_content
from tests.workbench.report.odd import NASTY, RTL, odd_content
from tests.workbench.report.studies import classification

from orfeon.workbench.report.content import study_content
from orfeon.workbench.report.content_types import (
    Axis,
    Box,
    BoxPlot,
    Content,
    Line,
    LineChart,
    Mark,
    Points,
    Reference,
    ScatterPlot,
    Section,
)

pytestmark = pytest.mark.tools

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
GROUND = "getComputedStyle(document.body).backgroundColor"


def one_chart(chart: Any) -> Content:
    return Content("One chart", sections=[Section("s", "Section", [], [chart])])


# -- what is drawn ---------------------------------------------------------------------------------


def test_there_are_as_many_marks_as_data(demo: Opened) -> None:
    n_methods = len(METHODS)
    assert demo.dots("#methods-2") == n_methods * N_RUNS
    assert demo.count("#methods-2 .plot rect.box") == n_methods
    assert demo.count("#methods-2 .plot .mean") == n_methods
    curves = demo.tab.eval_on_selector_all(
        "#ordering-1 .plot path.line", "lines => lines.map(l => l.getAttribute('d'))"
    )
    assert [d.count("M") + d.count("L") for d in curves] == [N_MEMBERS, N_MEMBERS]
    assert demo.count("#ordering-1 .plot path.band") == 2
    assert demo.count("#ordering-1 .plot .chosen-point") == 1
    assert demo.dots("#ordering-2") == n_methods
    assert demo.dots("#why-1") == 4950 + 4950 + 2000
    assert demo.count("#why-2 .plot path.line") == 3
    assert demo.count("#features-1 .plot rect.barmark") == 14
    assert demo.count("#features-1 .plot path.interval") == 14
    assert demo.count("#mistakes-1 .plot rect.cell:not(.paper)") == 9


def test_places_follow_the_numbers(open_report: Opener) -> None:
    chart = ScatterPlot("", "", Axis("x"), Axis("y"), [Points("p", [0, 5, 10], [0, 10, 2.5])])
    report = open_report(one_chart(chart))
    boxes = [mark.bounding_box() for mark in report.tab.locator(".plot .mark").all()]
    x, y = ([box[side] for box in boxes] for side in "xy")
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.3)
    assert (y[0] - y[2]) / (y[0] - y[1]) == pytest.approx(0.25, abs=0.005)


def test_years_have_no_commas_and_other_numbers_do(open_report: Opener) -> None:
    line = Line("price", [2010, 2013, 2021], [1200, 1500, 2400])
    axes = Axis("year", is_year=True), Axis("price")
    report = open_report(one_chart(LineChart("", "", *axes, [line])))
    texts = report.tab.locator(".plot text").all_text_contents()
    assert len([text for text in texts if re.fullmatch(r"20[12]\d", text)]) >= 2
    assert any(re.fullmatch(r"\d,\d{3}", text) for text in texts)


def test_lines_of_marks_end_below_the_names_before_them(open_report: Opener) -> None:
    line = Line("ordered", [1, 50, 100], [0.4, 0.3, 0.2])
    marks = [Mark("40%: 40 members", 40, 0.31), Mark("20%: 20 members", 20, 0.35)]
    axes = Axis("Members"), Axis("Error")
    report = open_report(one_chart(LineChart("", "", *axes, [line], marks)))
    names = [
        report.tab.locator(".plot text", has_text=one).bounding_box() for one in ("20%", "40%")
    ]
    lines = [path.bounding_box() for path in report.tab.locator(".plot path.chosen").all()]
    assert names[0]["y"] < names[1]["y"]
    right = max(lines, key=lambda box: box["x"])
    assert right["y"] >= names[0]["y"] + names[0]["height"] / 2


def test_the_name_of_a_level_line_hides_no_points(open_report: Opener) -> None:
    members = list(range(1, 21))
    errors = [0.2 + 0.2 / n + 0.01 * (-1) ** n for n in members]
    line, level = Line("ordered", members, errors), Reference("all members", errors[-1])
    axes = Axis("Members"), Axis("Error", percent=True)
    report = open_report(one_chart(LineChart("", "", *axes, [line], [], [level])))
    label = report.tab.locator(".plot text", has_text="all members").bounding_box()
    path = report.tab.locator(".plot path.line").get_attribute("d")
    frame = report.tab.locator(".plot").first.bounding_box()
    places = [tuple(map(float, place)) for place in re.findall(r"[ML]([\d.]+)[ ,]([\d.]+)", path)]
    assert len(places) == 20
    assert label["x"] < frame["x"] + frame["width"] / 4
    for x, y in places:
        is_beside = not 0 <= x + frame["x"] - label["x"] <= label["width"]
        assert is_beside or not 0 <= y + frame["y"] - label["y"] <= label["height"]


@pytest.mark.parametrize("media", ["screen", "print"])
def test_ends_of_intervals_are_seen(open_report: Opener, media: str) -> None:
    report = open_report(demo_content())
    report.tab.emulate_media(media=media)
    ends = report.tab.locator("#methods-1 tbody tr").first.locator(".ends span")
    assert re.fullmatch(r"\d+\.\d to \d+\.\d%", ends.inner_text())
    assert ends.bounding_box()["width"] > 50


def test_a_logarithmic_axis_gives_equal_ratios_equal_room(open_report: Opener) -> None:
    chart = ScatterPlot("", "", Axis("x", "log"), Axis("y"), [Points("p", [1, 10, 100], [1, 1, 1])])
    report = open_report(one_chart(chart))
    x = [mark.bounding_box()["x"] for mark in report.tab.locator(".plot .mark").all()]
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.3)
    labels = report.tab.locator(".plot text").all_text_contents()
    assert {"1", "10", "100"} <= set(labels)


def test_missing_values_leave_gaps_and_are_counted(open_report: Opener) -> None:
    line = Line("a", [1, 2, 3, 4, 5], [1, 2, None, 4, float("nan")])
    report = open_report(one_chart(LineChart("", "", Axis("x"), Axis("y"), [line])))
    d = report.tab.locator(".plot path.line").get_attribute("d")
    assert (d.count("M"), d.count("L")) == (2, 1)
    assert "2 values are missing and not drawn." in report.tab.locator("figure").inner_text()


def test_series_keep_their_colours_by_group(open_report: Opener) -> None:
    boxes = [Box("a", range(9), group=3), Box("b", range(9), group=3), Box("c", range(9))]
    report = open_report(one_chart(BoxPlot("", "", Axis("x"), boxes)))
    colours = report.tab.eval_on_selector_all(
        ".plot rect.box", "boxes => boxes.map(box => getComputedStyle(box).stroke)"
    )
    assert colours == ["rgb(204, 121, 167)"] * 2 + ["rgb(0, 114, 178)"]


def test_twenty_thousand_points_are_fast(open_report: Opener) -> None:
    n = 20_000
    x = [(i * 0.618034) % 1 for i in range(n)]
    y = [(i * 0.754878) % 1 for i in range(n)]
    chart = ScatterPlot("Cloud", "", Axis("x"), Axis("y"), [Points("p", x, y)])
    report = open_report(one_chart(chart))
    assert report.dots("#s-1") == n
    assert report.count(".plot path") < 60
    took = report.tab.evaluate(
        """() => { const plot = document.querySelector(".plot"), box = plot.getBoundingClientRect();
        const start = performance.now();
        for (let i = 0; i < 50; i++) plot.dispatchEvent(new PointerEvent("pointermove",
          { clientX: box.left + 100 + 7 * i, clientY: box.top + 150 }));
        return (performance.now() - start) / 50; }"""
    )
    assert took < 50  # milliseconds a move; here 2


# -- any content -----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 375])
def test_nothing_breaks_the_page(open_report: Opener, width: int) -> None:
    report = open_report(odd_content(), width=width)
    assert report.tab.evaluate("window.broken") is None
    assert report.count("img") == 0
    assert report.tab.evaluate(OVERFLOW) == 0
    assert report.tab.locator("figure.chart").count() == 26
    # Nothing to draw is said, not drawn.
    empty = report.tab.locator("#numbers .plot .empty").all_inner_texts()
    assert empty == ["Nothing to draw."] * 6
    assert report.tab.evaluate("document.body.innerHTML.includes('NaN ')") is False
    assert report.count("#numbers .plot [d*=NaN], #numbers .plot [x*=NaN], #names [d*=NaN]") == 0


def test_two_hundred_methods_are_folded_and_unfold(open_report: Opener) -> None:
    report = open_report(odd_content())
    plot = report.tab.locator("#many-2 .plot")
    assert plot.bounding_box()["height"] < 700
    report.tab.locator("#many-2 .unfold").click()
    assert plot.bounding_box()["height"] > 200 * 30
    assert report.dots("#many-2") == 200 * 20
    assert report.count("#many-2 .plot text.name") == 200


def test_names_are_shown_as_they_are(open_report: Opener) -> None:
    names = [Box(name, range(9)) for name in (NASTY, RTL)]
    report = open_report(one_chart(BoxPlot(NASTY, RTL, Axis(RTL), names)))
    assert report.tab.locator("h3").inner_text().startswith("</script><img src=x onerror=")
    assert report.tab.locator("figure .caption").inner_text() == RTL
    assert RTL in report.tab.locator(".plot text").all_text_contents()


# -- how it looks ----------------------------------------------------------------------------------


def test_a_phone_sees_all_without_scrolling_sideways(open_report: Opener) -> None:
    report = open_report(demo_content(), width=375, height=800)
    assert report.tab.evaluate(OVERFLOW) == 0
    beyond = report.tab.evaluate(
        """() => [...document.querySelectorAll("main *")].filter((e) => !e.closest(".scroll, svg")
        && !e.matches(".unseen") && e.getBoundingClientRect().right > innerWidth + 1)
        .map((e) => e.className)"""
    )
    assert beyond == []
    box = report.tab.locator("#methods-1 .scroll")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    assert box.get_attribute("tabindex") == "0"
    smallest = report.tab.evaluate(
        "Math.min(...[...document.querySelectorAll('main button')].filter(b => b.offsetHeight)"
        ".map(b => b.offsetHeight))"
    )
    assert smallest >= 24


def test_the_table_of_methods_fits_a_common_screen(open_report: Opener) -> None:
    outcome = classification()
    long = {
        "title": "bagging of pruned trees, pruned to 40%",
        "nodes": 148_564,
        "fit_seconds": 12.3,
    }
    candidates = [replace(candidate, **long) for candidate in outcome.candidates]
    content = study_content(replace(outcome, candidates=tuple(candidates)))
    report = open_report(content, width=1280)
    box = report.tab.locator("#methods-1 .scroll")
    assert report.count("#methods-1 thead th") == 11
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    report.tab.set_viewport_size({"width": 400, "height": 900})
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    assert report.tab.evaluate(OVERFLOW) == 0


def test_charts_are_drawn_anew_for_another_width(open_report: Opener) -> None:
    report = open_report(demo_content())
    before = report.tab.locator("#why-1 .plot svg").get_attribute("viewBox")
    report.tab.set_viewport_size({"width": 700, "height": 900})
    report.tab.wait_for_function(
        "before => document.querySelector('#why-1 .plot svg').getAttribute('viewBox') !== before",
        arg=before,
    )
    assert report.dots("#why-1") == 11_900
    assert report.tab.evaluate(OVERFLOW) == 0


def test_dark_follows_the_system_and_the_reader(open_report: Opener) -> None:
    report = open_report(demo_content(), color_scheme="dark")
    assert report.tab.evaluate(GROUND) == "rgb(15, 20, 25)"
    button = report.tab.locator("[data-do=theme]")
    assert button.inner_text() == "Light"
    button.click()
    assert report.tab.evaluate(GROUND) == "rgb(255, 255, 255)"
    assert button.inner_text() == "Dark"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read(open_report: Opener, scheme: str) -> None:
    report = open_report(demo_content(), color_scheme=scheme)
    worst = report.tab.evaluate(CONTRAST)
    assert worst["ratio"] >= 4.5, worst


#: The text that stands out least from what lies under it; text in cells has a test of its own.
CONTRAST = """() => {
  const parse = (c) => { const n = c.match(/[\\d.]+/g).map(Number);
    return n.length < 4 ? [...n, 1] : n; };
  const light = (c) => c.slice(0, 3).map((v) => { v /= 255;
    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; })
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; }
    return [255, 255, 255, 1]; };
  let worst = { ratio: 21 };
  for (const e of document.querySelectorAll("body *")) {
    if (e.matches("script, style, .cell *") || !e.getClientRects().length) continue;
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const svg = e.namespaceURI.endsWith("svg"), style = getComputedStyle(e);
    const [a, b] = [light(parse(svg ? style.fill : style.color)), light(ground(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst.ratio) worst = { ratio, text: e.textContent.slice(0, 40), tag: e.tagName };
  }
  return worst; }"""


def test_the_contents_stay_and_follow(open_report: Opener) -> None:
    report = open_report(demo_content())
    current = report.tab.locator(".contents [aria-current]")
    assert current.inner_text() == "Summary"
    report.tab.locator(".contents a", has_text="Why it works").click()
    report.tab.wait_for_function(
        "document.querySelector('.contents [aria-current]').textContent === 'Why it works'"
    )
    assert report.tab.evaluate("scrollY") > 1000
    assert 0 <= report.tab.locator(".contents").bounding_box()["y"] < 100


# -- paper, and no script --------------------------------------------------------------------------


def test_paper_is_white_and_has_nothing_to_press(open_report: Opener) -> None:
    report = open_report(demo_content(), color_scheme="dark")
    report.tab.locator("#why-1 .entry").first.click()
    report.tab.locator("#methods-2 [data-do=numbers]").click()
    report.tab.emulate_media(media="print")
    assert report.tab.evaluate(GROUND) == "rgb(255, 255, 255)"
    for hidden in (".tools", ".numbers", ".contents", "[data-do=theme]", ".unfold", "#orfeon-tip"):
        visible = [e for e in report.tab.locator(hidden).all() if e.is_visible()]
        assert visible == [], hidden
    # A series that is hidden has no entry on paper.
    entries = [e.is_visible() for e in report.tab.locator("#why-1 .entry").all()]
    assert entries == [False, True, True]
    assert report.tab.locator("section h2").first.is_visible()
    inside = report.tab.eval_on_selector_all(
        "figure.chart", "charts => charts.map(chart => getComputedStyle(chart).breakInside)"
    )
    assert set(inside) == {"avoid"}
    assert report.tab.pdf(format="A4").startswith(b"%PDF")


def test_without_scripts_the_numbers_are_read_as_tables(open_report: Opener) -> None:
    report = open_report(demo_content(), java_script_enabled=False)
    assert report.tab.locator("noscript").first.inner_text().startswith("Scripts are turned off")
    assert report.tab.locator("#ordering-1 .numbers table").is_visible()
    assert report.tab.locator("#mistakes-1 .numbers td").all_inner_texts()[:3] == [
        "1,382",
        "148",
        "127",
    ]
    assert not report.tab.locator("button").first.is_visible()
