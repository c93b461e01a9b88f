"""How candidates stand against the best one, all of them being compared at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from orfeon.statistics import holm
from orfeon.workbench.experiment.choice import BASELINE, corrected_test
from orfeon.workbench.experiment.outcome import Candidate, StudyOutcome

#: Level of significance, for all candidates together.
LEVEL = 0.05


@dataclass(frozen=True)
class Significance:
    """Where a candidate stands."""

    word: str
    adjusted: float | None = None


def has_failed(candidate: Candidate, metric: str) -> bool:
    """Whether a candidate could not be fitted on some fold."""
    return not math.isfinite(candidate.mean(metric))


def standings(outcome: StudyOutcome) -> dict[str, Significance]:
    """How all candidates stand against the best."""
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
    """The difference of two candidates in the measure that counts."""
    first, second = one.scores[outcome.metric], other.scores[outcome.metric]
    if len(first) < 2 or has_failed(one, outcome.metric) or has_failed(other, outcome.metric):
        return None
    test = corrected_test(first, second, outcome.test_ratio)
    return (test.mean_difference, *test.interval(0.95), test.p_value)


def baseline_of(outcome: StudyOutcome) -> Candidate | None:
    """The candidate that others must beat."""
    found = [c for c in outcome.candidates if c.name == BASELINE]
    return found[0] if found and not has_failed(found[0], outcome.metric) else None


def groups_of(outcome: StudyOutcome) -> dict[str, int]:
    """Numbers of the colours of methods, the same in all charts."""
    names = [outcome.best.method, *(candidate.method for candidate in outcome.candidates)]
    return {name: number for number, name in enumerate(dict.fromkeys(names))}
