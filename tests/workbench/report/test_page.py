"""The page as text: complete, closed to the world, and safe with any name."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import pytest
from tests.workbench.report.demo import METHODS, N_RUNS, blocks_of, demo_content
from tests.workbench.report.odd import NASTY, odd_content

from orfeon.errors import UserError
from orfeon.rendering.figure import LOOKS
from orfeon.rendering.pages import environment, escape, render
from orfeon.rendering.palette import mixed
from orfeon.workbench.report import Content, render_report, write_report
from orfeon.workbench.report.content_types import (
    Axis,
    Column,
    Line,
    LineChart,
    Matrix,
    Points,
    ScatterPlot,
    Section,
    Table,
)
from orfeon.workbench.report.tables import (
    HELPERS,
    MISSING,
    MOST_ROWS,
    axis_decimals,
    numbers_table,
    shown,
)
from orfeon.workbench.report.theme import DARK, LIGHT, contrast


def table_html(table: Table, label: str) -> str:
    """A table in a box in which it can scroll, as pages have it."""
    return render("orfeon.workbench.report", "table.html", table=table, label=label, **HELPERS)


VOID = {"meta", "link", "br", "hr", "img", "input", "path", "circle", "rect"}


class Reader(HTMLParser):
    """Tags, attributes and texts of a page; tags that are left open or closed twice are errors."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open += [] if tag in VOID else [tag]
        for name, value in attrs:
            self.handlers += [name] if name.startswith("on") else []
            self.addresses += [value or ""] if name in ("src", "href", "action", "data") else []
            self.ids += [value or ""] if name == "id" else []

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def page() -> str:
    return render_report(demo_content())


# -- closed to the world ---------------------------------------------------------------------------


def test_the_page_asks_for_nothing(page: str) -> None:
    reader = read(page)
    assert all(a.startswith(("#", "data:image/svg+xml,")) for a in reader.addresses)
    assert not {"iframe", "object", "embed", "form", "img"} & set(reader.tags)
    assert "@import" not in page
    assert "url(" not in page
    # The name of the SVG language is the only address there is; nothing is fetched from it.
    assert set(re.findall(r"https?://[^\s\"'<>]+", page)) == {"http://www.w3.org/2000/svg"}


def test_the_policy_lets_nothing_in(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert policy[1].startswith(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    )
    # It must stand before anything that it is to stop.
    assert page.index("Content-Security-Policy") < page.index("<style") < page.index("<script")


def test_the_script_is_small_and_cannot_end_its_element() -> None:
    assets = files("orfeon.workbench.report") / "assets"
    script = (assets / "report.js").read_bytes()
    style = (assets / "report.css").read_bytes()
    assert len(script) < 70_000
    assert b"</script" not in script.lower()
    assert b"<!--" not in script
    assert b"</style" not in style.lower()
    assert b"innerHTML" not in script
    assert b"eval(" not in script


# -- complete --------------------------------------------------------------------------------------


def test_every_chart_has_its_numbers_in_the_page_twice(page: str) -> None:
    charts = json.loads(re.findall(r'id="orfeon-charts">(.*?)</script>', page, re.DOTALL)[0])
    assert [chart["kind"] for chart in charts] == [
        "boxes",
        "lines",
        "points",
        "points",
        "lines",
        "bars",
        "matrix",
    ]
    assert len(charts[0]["series"][3]["values"]) == N_RUNS
    assert len(charts[3]["series"][0]["x"]) == 4950
    # One table of its own, and one beside each chart.
    assert read(page).tags.count("table") == 1 + len(charts)


def test_addresses_in_the_page_exist_and_are_unique(page: str) -> None:
    reader = read(page)
    assert len(reader.ids) == len(set(reader.ids))
    inner = {a[1:] for a in reader.addresses if a.startswith("#")}
    assert inner <= set(reader.ids)
    assert len(inner) == 8  # skip link, summary, five sections, how to repeat it


def test_an_empty_report_is_a_page(tmp_path: Path) -> None:
    text = write_report(Content("Nothing"), tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<title>Nothing</title>" in text
    assert "Repeat this study" not in text
    read(text)


def test_the_same_content_gives_the_same_page(page: str) -> None:
    assert render_report(demo_content()) == page


# -- any name --------------------------------------------------------------------------------------


def test_names_cannot_become_elements() -> None:
    text = render_report(odd_content())
    reader = read(text)
    assert reader.handlers == []
    assert "img" not in reader.tags
    assert reader.tags.count("script") == 2
    assert escape(NASTY) in text
    assert NASTY not in text


def test_json_in_a_script_cannot_end_it_and_reads_back() -> None:
    data = {"name": "</script><!--\u2028\u2029&amp; 😀 \u05e9"}
    text = environment("orfeon.workbench.report").from_string("{{ data|tojson }}").render(data=data)
    assert text.isascii()
    assert not set(text) & set("<>&")
    assert json.loads(text) == data


def test_controls_and_half_characters_are_replaced() -> None:
    assert escape("a\x00b\ud800c\x1b") == "a�b�c�"
    text = render_report(Content("half \ud800 and \x00", summary=["\udfff"]))
    assert "half � and �" in text
    text.encode("utf-8")


# -- writing ---------------------------------------------------------------------------------------


def test_a_report_is_replaced_at_once_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "report.html"
    write_report(Content("One"), path)
    assert write_report(Content("Two"), path) == path
    assert "<title>Two</title>" in path.read_text(encoding="utf-8")
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]


def test_a_report_that_cannot_be_written_says_where_and_why(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(UserError, match=r"cannot be written to '.*report\.html': Is a directory"):
        write_report(Content("One"), tmp_path / "report.html")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match=r"Not a directory|File exists"):
        write_report(Content("One"), tmp_path / "file" / "report.html")


# -- numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "decimals", "percent", "text"),
    [
        (0.15449, 1, True, "15.4%"),
        (-0.0004, 2, False, "0.00"),
        (-1.5, 1, False, "\u22121.5"),
        (9999, 0, False, "9,999"),
        (1234567.891, 1, False, "1,234,567.9"),
        (0.000123456, None, False, "0.000123"),
        (1001.0, None, False, "1,001"),
        (None, 2, True, MISSING),
        (float("nan"), 2, False, MISSING),
    ],
)
def test_numbers_as_they_are_shown(
    value: float | None, decimals: int | None, percent: bool, text: str
) -> None:
    assert shown(value, decimals, percent) == text


def test_decimals_follow_the_spread() -> None:
    assert axis_decimals(Axis("n"), [1.0, 200.0, None]) == 0
    assert axis_decimals(Axis("e", percent=True), [0.10, 0.30]) == 1
    assert axis_decimals(Axis("e", percent=True), [0.1000, 0.1010]) == 3
    assert axis_decimals(Axis("t"), [0.25, 0.75]) == 3
    assert axis_decimals(Axis("t", "log"), [0.25, 7500.0]) is None
    assert axis_decimals(Axis("t", decimals=4), [1.0]) == 4
    assert axis_decimals(Axis("t"), []) == 0


def test_small_numbers_are_not_shown_as_none() -> None:
    table = Table("", "", [Column("p", "number", 3)], [[0.0001], [0.0], [0.0006]])
    assert re.findall(r">([^<>]*)</th>", table_html(table, "p"))[-3:] == [
        "&lt;0.001",
        "0.000",
        "0.001",
    ]


def test_intervals_and_estimates_keep_their_numbers_for_files() -> None:
    columns = [Column("a"), Column("b", "interval", 1), Column("c", "estimate", 1, percent=True)]
    text = table_html(Table("", "", columns, [["x", (1, 2), (0.25, 0.2, None)]]), "t")
    assert 'data-value="1.0 2.0">1.0\u202fto\u202f2.0</td>' in text
    assert 'data-value="0.25 0.2 ">25.0%</td>' in text


def test_ends_of_intervals_are_text_that_is_seen() -> None:
    columns = [Column("a"), Column("c", "estimate", 1, percent=True)]
    text = table_html(Table("", "", columns, [["x", (0.25, 0.2, 0.312)]]), "t")
    assert "<b>25.0%</b>" in text
    assert "</svg><span>20.0 to 31.2%</span>" in text


# -- numbers beside charts -------------------------------------------------------------------------


def test_numbers_of_boxes_are_the_five_and_the_mean() -> None:
    boxes = next(block for block in blocks_of(demo_content()) if block.kind == "boxes")
    table = numbers_table(boxes)  # type: ignore[arg-type]
    assert len(table.rows) == len(METHODS)
    name, n, mean, *five = table.rows[0]
    assert (name, n) == ("Random forest", N_RUNS)
    assert five == sorted(five)  # type: ignore[type-var]
    assert five[0] < mean < five[-1]  # type: ignore[operator]


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    line = Line("a", range(5000), range(5000), range(5000), range(5000))
    table = numbers_table(LineChart("", "", Axis("x"), Axis("y"), [line]))
    assert len(table.rows) == MOST_ROWS
    assert (table.rows[0][0], table.rows[-1][0]) == (0.0, 4999.0)
    assert table.rows[-1][2] == (4999.0, 4999.0)
    assert table.caption == "200 of 5,000 points are shown; the CSV file has them all."


def test_large_clouds_are_summed_up() -> None:
    cloud = Points("a", range(1001), [0.5] * 1001)
    table = numbers_table(ScatterPlot("", "", Axis("x"), Axis("y"), [cloud]))
    assert table.rows == (("a", 1001.0, 250.0, 500.0, 750.0, 0.5, 0.5, 0.5),)


def test_large_matrices_show_their_largest_mistakes() -> None:
    names = [str(i) for i in range(60)]
    values = [[100.0 if i == j else float(i == 3 and j == 7) for j in range(60)] for i in range(60)]
    table = numbers_table(Matrix("", "", names, names, values, "true", "said"))
    assert table.rows[0] == ("3", "7", 1.0)
    assert len(table.rows) == MOST_ROWS


# -- colours ---------------------------------------------------------------------------------------


def test_series_have_the_colours_of_all_pictures() -> None:
    assert [LIGHT[f"series-{i}"] for i in range(7)] == [look.colour for look in LOOKS]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read(theme: dict[str, str]) -> None:
    for ink in ("ink", "muted", "accent"):
        for ground in ("paper", "soft", "accent-soft"):
            assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground)
    assert contrast(theme["warn"], theme["warn-soft"]) >= 4.5
    assert contrast(theme["ink"], theme["warn-soft"]) >= 4.5
    assert contrast(theme["on-tooltip"], theme["tooltip"]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_numbers_in_the_fullest_cells_can_be_read(theme: dict[str, str]) -> None:
    for series in ("series-0", "series-1"):
        fullest = mixed(theme[series], theme["paper"], float(theme["tint"]))
        assert contrast(theme["ink"], fullest) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_series_stand_out_and_differ(theme: dict[str, str]) -> None:
    series = [theme[f"series-{i}"] for i in range(7)]
    # Orange, sky blue and reddish purple are light: marker and dashes tell them apart as well.
    assert all(contrast(colour, theme["paper"]) >= 2.2 for colour in series)
    for one, other in combinations(series, 2):
        distance = sum(abs(int(one[i : i + 2], 16) - int(other[i : i + 2], 16)) for i in (1, 3, 5))
        assert distance > 80, (one, other)


def test_sections_may_have_no_blocks() -> None:
    text = render_report(Content("a", sections=[Section("b", "Ünïcode")]))
    assert '<section id="b"><h2 dir="auto">Ünïcode</h2>' in text
