"""Figures of a study in words."""

from __future__ import annotations

import math
from collections import Counter

from orfeon.study.workbench.choice import BASELINE
from orfeon.study.workbench.outcome import StudyOutcome
from orfeon.study.workbench.scoring import SHARES
from orfeon.study.workbench.standing import standings
from orfeon.wording import clauses


def score_text(value: float, metric: str) -> str:
    """A score as tables show it.

    Parameters
    ----------
    value : float
        The score.
    metric : str
        What it measures: shares are shown in percent.

    Returns
    -------
    str
        A dash for NaN.

    Examples
    --------
    >>> from orfeon.study.workbench.words import score_text
    >>> score_text(0.16049, "error"), score_text(1234.5, "rmse"), score_text(0.0123, "mae")
    ('16.0%', '1234', '0.0123')
    """
    if math.isnan(value):
        return "-"
    if metric in SHARES:
        return f"{100 * value:.1f}%"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def interval_text(ends: tuple[float, float], metric: str) -> str:
    """An interval as tables show it.

    Parameters
    ----------
    ends : tuple of float
        Its ends. Shares and losses below 0 are shown as 0.
    metric : str
        What is measured.

    Returns
    -------
    str
        A dash if it is not known.

    Examples
    --------
    >>> from orfeon.study.workbench.words import interval_text
    >>> interval_text((0.124, 0.322), "error")
    '12.4% to 32.2%'
    """
    low, high = ends
    if math.isnan(low):
        return "-"
    return f"{score_text(max(low, 0.0), metric)} to {score_text(high, metric)}"


def verdict(outcome: StudyOutcome) -> list[str]:
    """What follows from a study, in a few sentences.

    Parameters
    ----------
    outcome : StudyOutcome
        What was found.

    Returns
    -------
    list of str
        The figure to report, the choice, how sure it is, and what stands against it.
    """
    said = [
        _expected(outcome),
        f"The model is {outcome.best.title}: {outcome.best.idea}. {_how_often(outcome)}",
    ]
    found = standings(outcome)
    alike = [
        candidate.title
        for candidate in outcome.candidates
        if candidate.name != BASELINE and found[candidate.name].word in ("unclear", "unknown")
    ]
    if alike:
        said.append(f"Not told from the best by these data: {clauses(alike)}.")
    return said + _doubts(outcome)


def _expected(outcome: StudyOutcome) -> str:
    metric, honest = outcome.metric, outcome.honest
    what = outcome.metrics[metric]
    if math.isnan(honest.mean(metric)):
        return (
            f"What {what} to expect on new data is not known: a method that inner folds chose "
            "could not be fitted on an outer one. More rows, or fewer --folds, may help."
        )
    article = "an" if what[0] in "aeiou" else "a"
    return (
        f"Expect {article} {what} of {score_text(honest.mean(metric), metric)} on new data (95% "
        f"interval {interval_text(honest.interval, metric)}): chosen on inner folds, judged on "
        "outer ones."
    )


def _how_often(outcome: StudyOutcome) -> str:
    times = Counter(outcome.honest.chosen)[outcome.chosen]
    whole = len(outcome.honest.chosen)
    return f"Inner folds chose the same in {times} of {whole} outer folds."


def _doubts(outcome: StudyOutcome) -> list[str]:
    """Whether anything was learnt at all."""
    baseline = next((found for found in outcome.candidates if found.name == BASELINE), None)
    if baseline is None or outcome.chosen == BASELINE:
        return []
    if outcome.best.mean(outcome.metric) >= baseline.mean(outcome.metric):
        return [
            "No method is better than the baseline, which looks at no attribute: there may be "
            "nothing to learn here, or not enough rows."
        ]
    return []
