"""The section that compares candidates: their scores, fold by fold, and the nested estimate."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from orfeon.utils.text import capital, counted
from orfeon.workbench.experiment.outcome import Candidate, StudyOutcome
from orfeon.workbench.experiment.plan import SHARES
from orfeon.workbench.experiment.verdict import (
    baseline_of,
    groups_of,
    has_failed,
    interval_text,
    score_text,
    shown_decimals,
    standings,
)
from orfeon.workbench.report.content_types import (
    Axis,
    Box,
    BoxPlot,
    Cell,
    Column,
    Reference,
    Section,
    Table,
)


@dataclass(frozen=True)
class Measure:
    """A measure, and with how many digits it is shown."""

    name: str
    title: str
    is_share: bool
    decimals: int

    @classmethod
    def of(cls, outcome: StudyOutcome, name: str | None = None) -> Measure:
        """A measure of a study."""
        name = outcome.metric if name is None else name
        decimals = shown_decimals(outcome, name)
        return cls(name, outcome.metrics[name], name in SHARES, decimals)

    @property
    def label(self) -> str:
        """Its title with a capital."""
        return capital(self.title)

    def text(self, value: float) -> str:
        if not math.isfinite(value):
            return "unknown"
        return score_text(value, self.name, self.decimals)

    def range_text(self, low: float, high: float) -> str:
        """An interval in words."""
        return interval_text((low, high), self.name, self.decimals)

    def difference_text(self, difference: float) -> str:
        """A difference in words, without its sign."""
        size = abs(difference)
        if self.is_share:
            return f"{100 * size:.{self.decimals}f} points"
        return self.text(size)

    def axis(self, label: str | None = None) -> Axis:
        return Axis(label or self.label, percent=self.is_share)

    def column(self, *, is_estimate: bool = False, note: str = "") -> Column:
        if is_estimate:
            return Column(self.label, "estimate", self.decimals, percent=self.is_share, note=note)
        kind: Literal["percent", "number"] = "percent" if self.is_share else "number"
        return Column(self.label, kind, self.decimals, note=note)


def methods_section(outcome: StudyOutcome) -> Section:
    """The candidates, with intervals, ranks and tests, and their scores on all outer folds."""
    return Section(
        "methods",
        "Comparison of methods",
        [
            "All candidates were trained and tested on the same folds. Lower is better for every "
            "measure. “Pruned to 20%”: the members were ordered, and the first 20% kept."
        ],
        [_table(outcome), _boxes(outcome)],
    )


def _table(outcome: StudyOutcome) -> Table:
    measure = Measure.of(outcome)
    others = [Measure.of(outcome, name) for name in outcome.metrics if name != outcome.metric]
    columns = [
        Column("Method"),
        measure.column(is_estimate=True, note="mean over the folds, 95% interval"),
        Column("Rank", "number", 1, note="mean over the folds; 1 is best"),
        Column("Verdict", note="unclear: no significant difference from the best, at 0.05"),
        Column("p", "number", 3, note="corrected resampled t-test against the best, Holm-adjusted"),
        Column("Members", "number", 0),
        Column("Nodes", "number", 0, note="in all trees"),
        Column("1,000 rows, ms", "number", 1, note="prediction time"),
        Column("Training, s", "number", 2),
        *(other.column() for other in others),
    ]
    found = standings(outcome)
    rows: list[list[Cell]] = []
    for candidate in outcome.candidates:
        significance = found[candidate.name]
        rows.append(
            [
                candidate.title,
                _estimate(candidate, outcome.metric),
                None if significance.word == "failed" else candidate.rank,
                significance.word,
                significance.adjusted,
                candidate.members,
                candidate.nodes,
                1000.0 * candidate.predict_seconds,
                candidate.fit_seconds,
                *(candidate.mean(other.name) for other in others),
            ]
        )
    chosen = [i for i, c in enumerate(outcome.candidates) if c.name == outcome.chosen]
    caption = (
        f"Means over {counted(outcome.n_outer, 'outer fold')}; the chosen candidate is "
        "highlighted. Intervals and tests account for training rows that folds share (Nadeau and "
        "Bengio 2003), and p-values for multiple comparisons (Holm 1979); the baseline is tested "
        "separately. The best of many means is optimistic: report the expected figure of the "
        "summary instead."
    )
    return Table("All candidates", caption, columns, rows, chosen, sorted_by=1)


def _estimate(candidate: Candidate, metric: str) -> Cell:
    mean = candidate.mean(metric)
    low, high = candidate.interval
    if not math.isfinite(mean):
        return None
    return (mean, max(low, 0.0) if math.isfinite(low) else low, high)


def _boxes(outcome: StudyOutcome) -> BoxPlot:
    measure, groups = Measure.of(outcome), groups_of(outcome)
    labels = fold_labels(outcome)
    baseline = baseline_of(outcome)
    shown = [c for c in outcome.candidates if not has_failed(c, outcome.metric)]
    series = [
        Box(
            candidate.title, candidate.scores[outcome.metric].tolist(), labels,
            groups[candidate.method],
            hidden=candidate is baseline and len(shown) > 1,
            highlight=candidate.name == outcome.chosen,
        )
        for candidate in shown
    ]  # fmt: skip
    caption = "One point per outer fold."
    if baseline is not None and len(shown) > 1:
        caption += " The baseline is hidden; its button shows it."
    mean = outcome.honest.mean(outcome.metric)
    references = [Reference("expected", mean)] if math.isfinite(mean) else []
    title = f"{measure.label} on the outer folds"
    return BoxPlot(title, caption, measure.axis(), series, references)


def fold_labels(outcome: StudyOutcome) -> list[str]:
    """What each outer fold is called."""
    numbers = range(len(outcome.best.scores[outcome.metric]))
    if outcome.configuration.get("design") == "splits":
        return [f"split {number + 1}" for number in numbers]
    return [
        f"repetition {number // outcome.n_folds + 1}, fold {number % outcome.n_folds + 1}"
        for number in numbers
    ]


def honest_section(outcome: StudyOutcome) -> Section:
    """Why the expected figure is not that of the best candidate, and what was chosen where."""
    measure, honest = Measure.of(outcome), outcome.honest
    expected, naive = honest.mean(outcome.metric), outcome.best.mean(outcome.metric)
    text = [
        "The best of many scores is partly luck. So the choice was repeated for each fold by "
        f"{_judges(outcome)}, and the candidate picked there was evaluated on the fold itself. The "
        "mean of these scores is what to expect.",
        f"The expected {measure.title} is {measure.text(expected)}; the mean of "
        f"{outcome.best.title} over the same folds is {measure.text(naive)}. "
        + _optimism(measure, expected - naive),
    ]
    rows: list[list[Cell]] = []
    scores = honest.scores[outcome.metric]
    for name, times in Counter(honest.chosen).most_common():
        own = [score for score, it in zip(scores, honest.chosen, strict=True) if it == name]
        rows.append([outcome.candidate(name).title, times, sum(own) / len(own)])
    columns = [
        Column("Candidate"),
        Column("Folds", "number", 0),
        measure.column(note="mean over the folds where it was picked"),
    ]
    chosen = [i for i, row in enumerate(rows) if row[0] == outcome.best.title]
    caption = f"The candidate picked in each of {counted(len(honest.chosen), 'outer fold')}."
    table = Table("Candidates picked", caption, columns, rows, chosen, 1, descending=True)
    return Section("honest", "Expected performance", text, [table])


def _judges(outcome: StudyOutcome) -> str:
    """The rows that choose a candidate for a fold."""
    if outcome.configuration.get("n_inner", 0):
        return "folds inside its training set"
    return "the other folds of the repetition"


def _optimism(measure: Measure, gap: float) -> str:
    if not math.isfinite(gap) or measure.text(abs(gap)) == measure.text(0.0):
        return "They agree: the choice had no measurable cost."
    how = "above" if gap > 0 else "below"
    return (
        f"The first is {measure.difference_text(gap)} {how} the second: luck in the choice and "
        "chance both contribute."
    )
