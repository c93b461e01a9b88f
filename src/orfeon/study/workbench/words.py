"""Figures of a study in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from orfeon.study.workbench.choice import BASELINE
from orfeon.study.workbench.outcome import StudyOutcome
from orfeon.study.workbench.scoring import SHARES
from orfeon.study.workbench.standing import standings
from orfeon.wording import clauses

#: Digits after the point of scores of the smallest targets.
_MOST_DECIMALS = 12


def score_decimals(scores: Iterable[float], metric: str) -> int:
    """Digits after the point that tell scores apart.

    Parameters
    ----------
    scores : iterable of float
        The scores that are shown together; the least counts.
    metric : str
        What they measure.

    Returns
    -------
    int
        One of a percentage, or two where the least is below 1%; of other scores as many as give
        the least four digits that count.

    Examples
    --------
    >>> from orfeon.study.workbench.words import score_decimals
    >>> score_decimals([0.16, 0.3], "error"), score_decimals([0.004, 0.3], "error")
    (1, 2)
    >>> score_decimals([57.18, 1234.5], "rmse"), score_decimals([0.0123], "mae")
    (2, 5)
    """
    least = min((score for score in scores if math.isfinite(score)), default=1.0)
    if metric in SHARES:
        return 1 if least >= 0.01 else 2
    size = math.floor(math.log10(float(f"{abs(least):.3e}"))) if least else 0
    return min(max(3 - size, 0), _MOST_DECIMALS)


def shown_decimals(outcome: StudyOutcome, metric: str) -> int:
    """Digits after the point of the scores of a study, the same in all that is said of it.

    Parameters
    ----------
    outcome : StudyOutcome
        What was found.
    metric : str
        The measure.

    Returns
    -------
    int
        As suits the best candidate.
    """
    return score_decimals((found.mean(metric) for found in outcome.candidates), metric)


def score_text(value: float, metric: str, decimals: int | None = None) -> str:
    """A score as tables and reports show it.

    Parameters
    ----------
    value : float
        The score.
    metric : str
        What it measures: shares are shown in percent.
    decimals : int, optional
        Digits after the point; by default those that suit the score alone.

    Returns
    -------
    str
        A dash for NaN.

    Examples
    --------
    >>> from orfeon.study.workbench.words import score_text
    >>> score_text(0.16049, "error"), score_text(12345.6, "rmse"), score_text(0.0123, "mae")
    ('16.0%', '12,346', '0.01230')
    >>> score_text(0.16049, "error", 2)
    '16.05%'
    """
    if not math.isfinite(value):
        return "-"
    if decimals is None:
        decimals = score_decimals([value], metric)
    if metric in SHARES:
        return f"{100 * value:.{decimals}f}%"
    return f"{value:,.{decimals}f}"


def interval_text(ends: tuple[float, float], metric: str, decimals: int | None = None) -> str:
    """An interval as tables show it.

    Parameters
    ----------
    ends : tuple of float
        Its ends. Shares and losses below 0 are shown as 0.
    metric : str
        What is measured.
    decimals : int, optional
        Digits after the point; by default those that suit the lower end above 0.

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
    low = max(low, 0.0)
    if decimals is None:
        decimals = score_decimals([end for end in (low, high) if end > 0], metric)
    return f"{score_text(low, metric, decimals)} to {score_text(high, metric, decimals)}"


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
    decimals = shown_decimals(outcome, metric)
    article = "an" if what[0] in "aeiou" else "a"
    return (
        f"Expect {article} {what} of {score_text(honest.mean(metric), metric, decimals)} on new "
        f"data (95% interval {interval_text(honest.interval, metric, decimals)}): chosen on inner "
        "folds, judged on outer ones."
    )


def _how_often(outcome: StudyOutcome) -> str:
    times = Counter(outcome.honest.chosen)[outcome.chosen]
    whole = len(outcome.honest.chosen)
    if times == 0:
        return (
            "Inner folds chose other candidates: the figure above is of the procedure, and did not "
            "judge this one."
        )
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
