"""What follows from a study: which candidates differ significantly, and the result in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from orfeon.statistics import holm
from orfeon.utils.text import clauses, counted
from orfeon.workbench.experiment.choice import at_least_sign_test, corrected_test
from orfeon.workbench.experiment.methods import BASELINE, METHODS, SELECTION
from orfeon.workbench.experiment.metrics import METRICS as METRICS_OF_TASKS
from orfeon.workbench.experiment.outcome import Candidate, StudyOutcome
from orfeon.workbench.experiment.plan import SHARES

#: Level of significance, for all candidates together.
LEVEL = 0.05


@dataclass(frozen=True)
class Significance:
    """How a candidate compares with the best one: a word, and the adjusted p-value."""

    word: str
    adjusted: float | None = None


def has_failed(candidate: Candidate, metric: str) -> bool:
    """Whether a candidate could not be fitted on some fold."""
    return not math.isfinite(candidate.mean(metric))


def standings(outcome: StudyOutcome) -> dict[str, Significance]:
    """Compare all candidates with the best one."""
    found = {
        candidate.name: Significance(
            "failed" if has_failed(candidate, outcome.metric) else "unknown"
        )
        for candidate in outcome.candidates
    }
    tested = {
        candidate.name: candidate.p_versus_best
        for candidate in outcome.candidates
        if candidate.p_versus_best is not None
        and math.isfinite(candidate.p_versus_best)
        and found[candidate.name].word != "failed"
    }
    rivals = {name: p_value for name, p_value in tested.items() if name != BASELINE}
    if rivals:
        tested.update(zip(rivals, holm(list(rivals.values()), alpha=LEVEL).adjusted, strict=True))
    for name, p_value in tested.items():
        found[name] = Significance("worse" if p_value <= LEVEL else "unclear", p_value)
    for candidate in outcome.candidates:
        if candidate.p_versus_best is None and found[candidate.name].word != "failed":
            found[candidate.name] = Significance("best")
    return found


def compared(
    outcome: StudyOutcome, one: Candidate, other: Candidate
) -> tuple[float, float, float, float] | None:
    """Difference of two candidates in the main metric, its interval and p-value."""
    first, second = one.scores[outcome.metric], other.scores[outcome.metric]
    if len(first) < 2 or has_failed(one, outcome.metric) or has_failed(other, outcome.metric):
        return None
    test = corrected_test(first, second, outcome.test_ratio)
    p_value = float(test.p_value)
    if outcome.metric == "error":
        n_repetitions = outcome.n_outer / (
            1 if outcome.configuration.get("design") == "splits" else outcome.n_folds
        )
        n_apart = abs(test.mean_difference) * outcome.n_outer * outcome.n_test
        p_value = at_least_sign_test(p_value, n_apart / max(1.0, n_repetitions))
    return (test.mean_difference, *test.interval(0.95), p_value)


def baseline_of(outcome: StudyOutcome) -> Candidate | None:
    """The candidate that others must beat."""
    found = [c for c in outcome.candidates if c.name == BASELINE]
    return found[0] if found and not has_failed(found[0], outcome.metric) else None


def groups_of(outcome: StudyOutcome) -> dict[str, int]:
    """Numbers of the colours of methods, the same in all charts."""
    names = [outcome.best.method, *(candidate.method for candidate in outcome.candidates)]
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


#: Decimals of the smallest scores.
_MOST_DECIMALS = 12


def score_decimals(scores: Iterable[float], metric: str) -> int:
    """Decimals needed to distinguish scores."""
    least = min((score for score in scores if math.isfinite(score)), default=1.0)
    if metric in SHARES:
        return 1 if least >= 0.01 else 2
    size = math.floor(math.log10(float(f"{abs(least):.3e}"))) if least else 0
    return min(max(3 - size, 0), _MOST_DECIMALS)


def shown_decimals(outcome: StudyOutcome, metric: str) -> int:
    """Decimals of the scores of a study, the same everywhere."""
    return score_decimals((found.mean(metric) for found in outcome.candidates), metric)


def score_text(value: float, metric: str, decimals: int | None = None) -> str:
    """A score as tables and reports show it."""
    if not math.isfinite(value):
        return "-"
    if decimals is None:
        decimals = score_decimals([value], metric)
    if metric in SHARES:
        return f"{100 * value:.{decimals}f}%"
    return f"{value:,.{decimals}f}"


def interval_text(ends: tuple[float, float], metric: str, decimals: int | None = None) -> str:
    """An interval as tables show it."""
    low, high = ends
    if math.isnan(low):
        return "-"
    low = max(low, 0.0)
    if decimals is None:
        decimals = score_decimals([end for end in (low, high) if end > 0], metric)
    return f"{score_text(low, metric, decimals)} to {score_text(high, metric, decimals)}"


class Verdict(NamedTuple):
    r"""What follows from a study, in sentences."""

    expected: str
    model: str
    others: str


def verdict(outcome: StudyOutcome) -> Verdict:
    """What follows from a study, in the words of both the command and the report."""
    expected = " ".join(filter(None, [_expected(outcome), _tested(outcome)]))
    return Verdict(expected, _model(outcome), _others(outcome))


def _tested(outcome: StudyOutcome) -> str:
    """What the final model reached on rows that the study did not use."""
    if outcome.tested is None:
        return ""
    metric, tested = outcome.metric, outcome.tested
    known = METRICS_OF_TASKS[outcome.task][metric]
    value, *ends = tested.scores[metric]
    if known.is_better_high:
        value, *ends = (1.0 - one for one in (value, *reversed(ends)))
    decimals = shown_decimals(outcome, metric)
    return (
        f"On the {tested.n_rows:,} rows of {tested.name}, which the study did not use, the model "
        f"has {outcome.metrics[metric]} {score_text(value, metric, decimals)} (95% interval "
        f"{interval_text((ends[0], ends[1]), metric, decimals)})."
    )


def _expected(outcome: StudyOutcome) -> str:
    metric, honest = outcome.metric, outcome.honest
    what = outcome.metrics[metric]
    if math.isnan(honest.mean(metric)):
        return (
            f"The expected {what} on new data is unknown: a method that the inner folds picked "
            "could not be fitted on an outer fold. More rows, or a smaller n_folds (--folds), may "
            "help."
        )
    decimals = shown_decimals(outcome, metric)
    article = "an" if what[0] in "aeiou" else "a"
    mean = score_text(honest.mean(metric), metric, decimals)
    answers = f"Expect {article} {what} of {mean} on new rows like these"
    if all(map(math.isfinite, honest.interval)):
        answers += f" (95% interval {interval_text(honest.interval, metric, decimals)})"
    return f"{answers}."


def _model(outcome: StudyOutcome) -> str:
    answers = f"The model is {outcome.best.title}: {outcome.best.idea}."
    if outcome.chosen == SELECTION:
        answers = f"The model is {outcome.best.title}, {shares_text(outcome)}."
    times, whole = Counter(outcome.honest.chosen)[outcome.chosen], len(outcome.honest.chosen)
    if times == 0:
        return (
            f"{answers} Judged without their own rows, all {whole} folds picked other candidates, "
            "whose mean is the expected figure: several are about equally good, and a longer "
            "--budget would separate them."
        )
    return f"{answers} Judged without its own rows, it was picked in {times} of {whole} folds."


def shares_text(outcome: StudyOutcome) -> str:
    """The methods in the weighted mean, largest share first."""
    shares = sorted(outcome.weights.items(), key=lambda item: -item[1])
    if len(shares) == 1:
        return f"which chose {METHODS[shares[0][0]].title} alone"
    listed = ", ".join(f"{100 * share:.0f}% {METHODS[name].title}" for name, share in shares)
    return f"a weighted mean: {listed}"


def _others(outcome: StudyOutcome) -> str:
    """How many of the others are worse than the best, and which may be as good."""
    found = standings(outcome)
    rivals = [candidate for candidate in outcome.candidates if candidate.name != BASELINE]
    words = Counter(found[candidate.name].word for candidate in rivals)
    if not words["worse"] + words["unclear"]:
        return ""
    n_worse, n_alike = words["worse"], words["unclear"] + words["unknown"]
    if n_worse + n_alike == 1:
        answers = "is significantly worse" if n_worse else "is not significantly worse"
        return f"The other candidate {answers} (corrected resampled t-test at 0.05)."
    others = counted(n_worse + n_alike, "other candidate")
    tests = "corrected resampled t-tests at 0.05 with Holm's correction"
    if not n_worse:
        return f"None of the {others} is significantly worse than the best ({tests})."
    if not n_alike:
        return f"All {others} are significantly worse than the best ({tests})."
    alike = [c.title for c in rivals if found[c.name].word in ("unclear", "unknown")]
    are, do = ("is" if n_worse == 1 else "are"), ("does" if n_alike == 1 else "do")
    return (
        f"Of the {others}, {n_worse} {are} significantly worse than the best ({tests}); {n_alike} "
        f"{do} not differ significantly: {clauses(alike)}."
    )
