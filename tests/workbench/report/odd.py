"""A report that no one would write: the worst of names and numbers, for tests."""

from __future__ import annotations

import functools
import math

from orfeon.workbench.report.content_types import (
    Axis,
    BarChart,
    Bars,
    Block,
    Box,
    BoxPlot,
    Column,
    Content,
    Line,
    LineChart,
    Mark,
    Matrix,
    Points,
    Reference,
    ScatterPlot,
    Section,
    Table,
    Text,
)

NASTY = '</script><img src=x onerror="window.broken=1"><!-- \' & \u2028 =cmd'
LONG = "very long name " * 667
RTL = "שלום עולם (1)"
EMOJI = "👩‍👩‍👧 🎻 ẞ"
NAMES = (NASTY, LONG, RTL, EMOJI, "", " ", "-1")


@functools.cache
def odd_content() -> Content:
    """Every kind of block with every kind of trouble."""
    return Content(
        title=NASTY + LONG,
        subtitle=RTL,
        summary=[NASTY, LONG, RTL, EMOJI],
        facts=[(name, LONG) for name in NAMES],
        warnings=list(NAMES),
        sections=[
            Section("names", NASTY, [LONG], _with_names()),
            Section("numbers", RTL, [], _with_numbers()),
            Section("many", LONG, [], _with_many()),
        ],
        configuration={NASTY: [LONG, math.inf, {"nested": EMOJI}]},
        command=f"orfeon study {NASTY}",
        made=RTL,
        versions={NASTY: LONG},
    )


def _with_names() -> list[Block]:
    n = len(NAMES)
    ones = [float(i) for i in range(n)]
    x, y = Axis(NASTY), Axis(LONG, percent=True)
    return [
        Table(
            NASTY,
            LONG,
            [Column(NASTY), Column(LONG, "number")],
            list(zip(NAMES, ones, strict=True)),
        ),
        BoxPlot(NASTY, LONG, x, [Box(name, ones, NAMES) for name in NAMES], [Reference(LONG, 2)]),
        LineChart(
            NASTY,
            RTL,
            x,
            y,
            [Line(name, ones, ones, ones, ones) for name in NAMES],
            [Mark(name, i, i) for i, name in enumerate(NAMES)],
            [Reference(name, i) for i, name in enumerate(NAMES)],
        ),
        ScatterPlot(NASTY, "", x, y, [Points("p", ones, ones, ones, NAMES)], y, show_labels=True),
        BarChart(NASTY, "", x, NAMES, [Bars(name, ones) for name in NAMES[:3]]),
        Matrix(NASTY, "", NAMES, NAMES, [ones] * n, LONG, NASTY),
        Text([NASTY, LONG]),
    ]


def _with_numbers() -> list[Block]:
    nothing = [math.nan, None, math.inf]
    axis, log = Axis("a"), Axis("b", "log")
    wide = [Column("a"), *[Column(f"column {i}", "estimate") for i in range(9)]]
    return [
        Table("No rows", "", [Column("a"), Column("b", "estimate")], []),
        Table(
            "No numbers", "", [Column("a"), Column("b", "number")], [["x", None], ["y", math.nan]]
        ),
        Table("Wide", "", wide, [["x", *[(i, -i, 1e9) for i in range(9)]]]),
        BoxPlot("No series", "", axis, []),
        BoxPlot("No values", "", axis, [Box("a", []), Box("b", nothing)]),
        BoxPlot("One value", "", axis, [Box("a", [3.0]), Box("b", nothing), Box("c", [3.0])]),
        LineChart("No series", "", axis, log, []),
        LineChart("One point", "", axis, axis, [Line("a", [1], [2])]),
        LineChart("Gaps", "", axis, axis, [Line("a", [1, 2, 3, 4], [1, None, 3, 4])]),
        LineChart("Not for a logarithm", "", log, log, [Line("a", [0, -1, 5], [0, -2, 1])]),
        LineChart("Huge", "", axis, axis, [Line("a", [1e-300, 1e300], [-1e300, 1e300])]),
        LineChart("Equal", "", axis, axis, [Line("a", [5, 5], [7, 7])], steps=True),
        ScatterPlot("No points", "", axis, axis, [Points("a", [], [])]),
        ScatterPlot("One point", "", log, log, [Points("a", [1], [1])], frontier=True),
        ScatterPlot("No sizes", "", axis, axis, [Points("a", [1], [1])], size=axis),
        BarChart("No bars", "", axis, [], []),
        BarChart("Below zero", "", axis, ["a", "b"], [Bars("s", [-1, None], [-2, None], [0.5, 1])]),
        Matrix("No cells", "", [], [], [], "r", "c"),
        Matrix("One cell", "", ["a"], ["a"], [[None]], "r", "c"),
        Matrix("All zero", "", ["a"], ["a", "b"], [[0, 0]], "r", "c", shares="none"),
    ]


def _with_many() -> list[Block]:
    names = [f"method {i}" for i in range(200)]
    runs = [[math.sin(i + j) for j in range(20)] for i in range(200)]
    axis = Axis("a")
    sizes = range(1, 41)
    return [
        Table("Methods", "", [Column("Method"), Column("a", "number")], [[n, 1.0] for n in names]),
        BoxPlot("Boxes", "", axis, [Box(*pair) for pair in zip(names, runs, strict=True)]),
        LineChart(
            "Lines",
            "",
            axis,
            axis,
            [Line(n, sizes, [i / s for s in sizes]) for i, n in enumerate(names)],
        ),
        BarChart("Bars", "", axis, names, [Bars("b", [run[0] for run in runs])]),
        Matrix(
            "Pairs",
            "",
            names,
            names,
            [[(i - j) % 7 for j in range(200)] for i in range(200)],
            "r",
            "c",
        ),
    ]
