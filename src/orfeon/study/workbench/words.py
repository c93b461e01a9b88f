"""Figures of a study in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from orfeon.study.workbench.choice import BASELINE
from orfeon.study.workbench.outcome import StudyOutcome
from orfeon.study.workbench.scoring import SHARES
from orfeon.study.workbench.standing import standings
from orfeon.wording import clauses, counted

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


class Verdict(NamedTuple):
    r"""What follows from a study, in sentences.

    Parameters
    ----------
    expected : str
        The figure to report.
    model : str
        The choice, and how often inner folds made it.
    others : str
        How the other candidates stand against the best; empty where nothing was tested.

    Examples
    --------
    >>> from orfeon.study.workbench.words import Verdict
    >>> "\n".join(filter(None, Verdict("Expect an error of 1.2%.", "The model is bagging.", "")))
    'Expect an error of 1.2%.\nThe model is bagging.'
    """

    expected: str
    model: str
    others: str


def verdict(outcome: StudyOutcome) -> Verdict:
    """What follows from a study, in the words of both the command and the report.

    Parameters
    ----------
    outcome : StudyOutcome
        What was found.

    Returns
    -------
    Verdict
        What to expect, the model, and how sure it is that others are worse.
    """
    return Verdict(_expected(outcome), _model(outcome), _others(outcome))


def _expected(outcome: StudyOutcome) -> str:
    metric, honest = outcome.metric, outcome.honest
    what = outcome.metrics[metric]
    if math.isnan(honest.mean(metric)):
        return (
            f"What {what} to expect on new data is not known: a method that inner folds chose "
            "could not be fitted on an outer one. More rows, or a smaller n_folds (--folds), may "
            "help."
        )
    decimals = shown_decimals(outcome, metric)
    article = "an" if what[0] in "aeiou" else "a"
    mean = score_text(honest.mean(metric), metric, decimals)
    said = f"Expect {article} {what} of {mean} on new rows like these"
    if all(map(math.isfinite, honest.interval)):
        said += f" (95% interval {interval_text(honest.interval, metric, decimals)})"
    return f"{said}."


def _model(outcome: StudyOutcome) -> str:
    said = f"The model is {outcome.best.title}: {outcome.best.idea}."
    times = Counter(outcome.honest.chosen)[outcome.chosen]
    if times == 0:
        return (
            f"{said} Inner folds chose other candidates: that figure is of the procedure, and "
            "did not judge this one."
        )
    whole = len(outcome.honest.chosen)
    return (
        f"{said} It was chosen on inner folds, which the figure does not see, and they chose the "
        f"same in {times} of {whole} outer folds."
    )


def _others(outcome: StudyOutcome) -> str:
    """How many of the others are worse than the best, and which may be as good."""
    found = standings(outcome)
    rivals = [candidate for candidate in outcome.candidates if candidate.name != BASELINE]
    words = Counter(found[candidate.name].word for candidate in rivals)
    if not words["worse"] + words["unclear"]:
        return ""
    n_worse, n_alike = words["worse"], words["unclear"] + words["unknown"]
    if n_worse + n_alike == 1:
        said = "is clearly worse" if n_worse else "cannot be called worse with confidence"
        return f"The other candidate {said} (corrected resampled t-test at 0.05)."
    others = counted(n_worse + n_alike, "other candidate")
    tests = "corrected resampled t-tests at 0.05, Holm's correction"
    if not n_worse:
        return f"None of the {others} can be called worse than the best with confidence ({tests})."
    if not n_alike:
        return f"All of the {others} are clearly worse than the best ({tests})."
    alike = [c.title for c in rivals if found[c.name].word in ("unclear", "unknown")]
    return (
        f"Of the {others}, {n_worse} {'is' if n_worse == 1 else 'are'} clearly worse than the best "
        f"({tests}); {n_alike} cannot be told apart from it: {clauses(alike)}."
    )
