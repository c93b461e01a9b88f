"""Limits of what a study delivers: whether any candidate keeps to them, and what they cost."""

from __future__ import annotations

from typing import Any

from orfeon.errors import ArgumentError
from orfeon.utils.text import duration_text, size_text
from orfeon.workbench.experiment.choice import (
    SMALL_FILE,
    Evidence,
    candidate_title,
    chosen_of,
    method_of,
)
from orfeon.workbench.experiment.evaluation import file_size
from orfeon.workbench.experiment.methods import BASELINE
from orfeon.workbench.experiment.verdict import score_text


def check_limits(evidence: Evidence) -> None:
    """Reject limits that no candidate but the baseline keeps to."""
    if any(name != BASELINE for name in evidence.eligible):
        return
    names = [
        name for name in evidence.plan.candidates()
        if name != BASELINE and evidence.plan.is_delivered(name)
    ]  # fmt: skip
    if evidence.plan.latency is not None and names:
        seconds, name = min((evidence.row_time(name), name) for name in names)
        raise ArgumentError(
            "latency",
            f"must allow some method: the fastest, {name}, predicts a row in "
            f"{duration_text(seconds)}; got {duration_text(evidence.plan.latency)}.",
        )
    if evidence.plan.deployable == "small" and names:
        n_bytes, name = min((evidence.size(name, "bytes"), name) for name in names)
        raise ArgumentError(
            "deployable",
            f"is small, but the smallest model file, of {name}, has {size_text(n_bytes)}, more "
            f"than {size_text(SMALL_FILE)}; use fewer members.",
        )


def _title(candidate: str) -> str:
    keep = float(candidate.partition("@")[2]) if "@" in candidate else None
    return candidate_title(method_of(candidate), keep)


def limit_note(evidence: Evidence, free: Evidence, row_seconds: float, model: Any) -> str:
    """What a limit costs, and whether the final model keeps to it."""
    plan = evidence.plan
    wanted, kept = [], []
    if plan.latency is not None:
        wanted.append(f"a row in {duration_text(plan.latency)}")
        kept.append(f"predicts a row in {duration_text(row_seconds)}")
    if plan.deployable == "small":
        wanted.append(f"a file of at most {size_text(SMALL_FILE)}")
        kept.append(f"has a file of {size_text(file_size(model))}")
    mine, best = chosen_of(evidence), chosen_of(free)
    assert mine is not None
    assert best is not None
    own, other = (
        float(one.outer_scores(name, plan.metric).mean())
        for one, name in ((evidence, mine), (free, best))
    )
    title = plan.metrics[plan.metric]
    text = f"The model {' and '.join(kept)} (limit: {' and '.join(wanted)})."
    if mine == best and own == other:
        return f"{text} The limit costs nothing."
    return (
        f"{text} Without the limit, {_title(best)} would be delivered, with "
        f"{title} {score_text(other, plan.metric)} instead of {score_text(own, plan.metric)} on "
        "the same folds."
    )
