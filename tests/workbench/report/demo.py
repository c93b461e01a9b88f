"""A report with the numbers of a study that could have been, for tests and for looking at it.

``python tests/workbench/report/demo.py report.html`` writes it.
"""

from __future__ import annotations

import functools
import sys

import numpy as np

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
)

#: Methods, their mean errors, members, and microseconds of a prediction.
METHODS = (
    ("Random forest", 0.166, 500, 61.0),
    ("Class-switching", 0.169, 500, 142.0),
    ("Boosted trees (AdaBoost)", 0.172, 200, 38.0),
    ("Bagging, ordered and pruned", 0.174, 42, 5.2),
    ("Gradient boosting", 0.178, 150, 21.0),
    ("IGP committees", 0.181, 99, 9.6),
    ("Stacking", 0.184, 6, 88.0),
    ("Bagging", 0.190, 200, 24.0),
    ("C4.5 tree", 0.268, 1, 0.6),
    ("CART tree, pruned", 0.279, 1, 0.5),
)
N_RUNS = 30
N_MEMBERS = 200
CLASSES = ("first wave", "second wave", "third wave")


@functools.cache
def demo_content() -> Content:
    """The report of a study on the waveform problem, with every kind of block."""
    rng = np.random.default_rng(7)
    hardness = rng.normal(0, 0.009, N_RUNS)
    errors = [mean + hardness + rng.normal(0, 0.007, N_RUNS) for _, mean, _, _ in METHODS]
    return Content(
        title="Which ensemble for waveform?",
        subtitle="5 000 examples, 21 features, 3 classes; 10 repetitions of stratified 3-fold "
        "cross-validation.",
        summary=[
            "A random forest of 500 trees errs least: 16.6% of new examples, give or take 0.4. "
            "Class-switching and AdaBoost are as good as this study can tell.",
            "If prediction time matters, take bagging ordered by margin distance and pruned to 42 "
            "of its 200 trees: it errs on 17.4%, and answers twelve times as fast.",
            "The figures come from examples that neither the training nor the choice of size has "
            "seen.",
        ],
        facts=[
            ("Chosen model", "Random forest"),
            ("Its error", "16.6%"),
            ("95% interval", "16.2 to 17.0%"),
            ("Methods compared", "10"),
            ("Runs", "300"),
            ("Time taken", "1 min 42 s"),
        ],
        warnings=[
            "Column “id” was left out: every value is different.",
            "Three methods are within chance of the best; another sample may order them otherwise.",
        ],
        sections=_sections(rng, errors),
        configuration={
            "data": "waveform",
            "target": "class",
            "protocol": {"repetitions": 10, "folds": 3, "stratified": True, "seed": 0},
            "methods": {name: {"n_estimators": members} for name, _, members, _ in METHODS},
        },
        command="orfeon study waveform --repetitions 10 --folds 3 --seed 0 --out waveform-study",
        made="3 November 2026, 14:05 UTC",
        versions={"orfeon": "0.1.0", "python": "3.11.7", "numpy": "2.3.4", "scikit-learn": "1.7.2"},
    )


def _sections(rng: np.random.Generator, errors: list[np.ndarray]) -> list[Section]:
    return [
        Section(
            "methods",
            "Methods compared",
            ["Errors on examples left out, best first. Intervals allow for the overlap of splits."],
            [method_table(errors), box_plot(errors)],
        ),
        Section(
            "ordering",
            "Ordering and pruning",
            ["Bagging's trees were put in order, so that a few of them do the work of all."],
            [error_curves(rng), trade_off()],
        ),
        Section(
            "why",
            "Why it works",
            ["Members that err on different examples correct each other."],
            [kappa_error(rng), margins(rng)],
        ),
        Section("features", "What matters", [], [importances(rng)]),
        Section("mistakes", "Which mistakes", [], [confusion()]),
    ]


def method_table(errors: list[np.ndarray]) -> Table:
    ranks = np.argsort(np.argsort(np.array(errors), axis=0), axis=0).mean(axis=1) + 1
    rows = []
    for i, (name, _, members, seconds) in enumerate(METHODS):
        mean, half = errors[i].mean(), 2.05 * errors[i].std(ddof=1) / np.sqrt(N_RUNS) * 1.6
        gap = errors[i] - errors[0]
        p_value = None if i == 0 else float(np.exp(-abs(gap.mean()) / 0.004))
        cells = [name, (mean, mean - half, mean + half), ranks[i], members, seconds, p_value]
        rows.append(cells)
    columns = [
        Column("Method"),
        Column("Error", "estimate", 1, percent=True, note="Mean, and its 95% interval"),
        Column("Mean rank", "number", 1),
        Column("Members", "number", 0),
        Column("µs a prediction", "number", 1),
        Column("p against the best", "number", 3, note="Corrected resampled t-test, Holm"),
    ]
    caption = "The highlighted method was chosen. Sort by any column."
    return Table("Methods", caption, columns, rows, highlight=[0], sorted_by=1)


def box_plot(errors: list[np.ndarray]) -> BoxPlot:
    labels = [f"Repetition {i // 3 + 1}, fold {i % 3 + 1}" for i in range(N_RUNS)]
    boxes = [
        Box(name, values, labels, highlight=i == 0)
        for i, ((name, *_), values) in enumerate(zip(METHODS, errors, strict=True))
    ]
    guess = [Reference("Bayes error", 0.14)]
    caption = "Each dot is one run; boxes that overlap are hard to tell apart."
    return BoxPlot("Error of every run", caption, Axis("Error", percent=True), boxes, guess)


def error_curves(rng: np.random.Generator) -> LineChart:
    sizes = np.arange(1, N_MEMBERS + 1)
    plain = 0.190 + 0.095 / sizes**0.75
    dip = 0.172 + 0.09 / sizes**0.9 + 0.018 * (sizes / N_MEMBERS) ** 1.4
    noise = np.cumsum(rng.normal(0, 0.0004, (2, N_MEMBERS)), axis=1) / np.sqrt(sizes)
    ordered, unordered = dip + noise[0], plain + noise[1]
    half = 0.006 + 0.01 / np.sqrt(sizes)
    lines = [
        Line("Ordered by margin distance", sizes, ordered, ordered - half, ordered + half),
        Line("In the order of training", sizes, unordered, unordered - half, unordered + half),
    ]
    best = 41
    return LineChart(
        "Error by number of trees",
        "Ordered, the error falls below that of all 200 trees, and rises again when the weaker "
        "ones join.",
        Axis("Trees"),
        Axis("Error", percent=True),
        lines,
        [Mark("42 trees chosen", best + 1, ordered[best])],
        [Reference("all 200 trees", float(unordered[-1]))],
    )


def trade_off() -> ScatterPlot:
    single = [m for m in METHODS if m[2] == 1]
    many = [m for m in METHODS if m[2] > 1 and "pruned" not in m[0]]
    pruned = [m for m in METHODS if m[2] > 1 and "pruned" in m[0]]
    series = [
        Points(
            name,
            [m[2] for m in chosen],
            [m[1] for m in chosen],
            [m[3] for m in chosen],
            [m[0] for m in chosen],
        )
        for name, chosen in (("Ensembles", many), ("Pruned", pruned), ("Single trees", single))
    ]
    return ScatterPlot(
        "Size, error and time",
        "Down and to the left is better; no method beats those on the dotted line on both counts.",
        Axis("Members", "log"),
        Axis("Error", percent=True, decimals=1),
        series,
        size=Axis("µs a prediction", decimals=1),
        show_labels=True,
        frontier=True,
    )


def kappa_error(rng: np.random.Generator) -> ScatterPlot:
    clouds = []
    for name, kappa, error, n in (
        ("Bagging", 0.66, 0.285, 4950),
        ("Class-switching", 0.24, 0.42, 4950),
        ("AdaBoost", 0.48, 0.335, 2000),
    ):
        x = rng.normal(kappa, 0.045, n)
        y = error - 0.25 * (x - kappa) + rng.normal(0, 0.012, n)
        clouds.append(Points(name, x, y))
    return ScatterPlot(
        "Agreement and error of pairs",
        "Each dot is a pair of trees: on the left they agree less, below they err less.",
        Axis("Kappa: agreement beyond chance"),
        Axis("Mean error of the two", percent=True),
        clouds,
    )


def margins(rng: np.random.Generator) -> LineChart:
    lines = []
    for name, mean, spread, members in (
        ("Random forest", 0.55, 0.42, 500),
        ("Bagging", 0.62, 0.48, 200),
        ("AdaBoost", 0.38, 0.24, 200),
    ):
        raw = np.clip(rng.normal(mean, spread, 1500), -1, 1)
        lines.append(Line.cumulative(name, np.round(raw * members / 2) * 2 / members))
    return LineChart(
        "Margins",
        "The share of examples with at most that margin; below zero the vote is wrong.",
        Axis("Margin", low=-1, high=1),
        Axis("Share of examples", percent=True, low=0, high=1),
        lines,
        steps=True,
    )


def importances(rng: np.random.Generator) -> BarChart:
    raw = np.abs(np.sin(np.arange(21) / 20 * np.pi * 2 + 0.4)) * 0.06 + 0.002
    values = raw - 0.004 * (raw < 0.006)
    half = 0.002 + 0.1 * np.abs(values) + rng.uniform(0, 0.002, 21)
    order = np.argsort(-values)[:14]
    return BarChart(
        "Importances by permutation",
        "How much the error grows when a feature is shuffled; the 14 largest of 21.",
        Axis("Growth of the error", percent=True),
        [f"x{i + 1}" for i in order],
        [Bars("Growth", values[order], (values - half)[order], (values + half)[order])],
    )


def confusion() -> Matrix:
    counts = [[1382, 148, 127], [118, 1452, 77], [131, 94, 1471]]
    caption = "Out of all 5 000 examples, each judged when it was left out."
    return Matrix(
        "Confusion of the chosen model",
        caption,
        CLASSES,
        CLASSES,
        counts,
        "True class",
        "Predicted class",
    )


def blocks_of(content: Content) -> list[Block]:
    """All blocks of a report, in their order."""
    return [block for section in content.sections for block in section.blocks]


if __name__ == "__main__":
    from orfeon.workbench.report import write_report

    print(write_report(demo_content(), sys.argv[1]))
