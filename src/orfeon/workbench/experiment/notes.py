"""The sentences of a study: what it did to the data, what failed, what is uncertain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from orfeon.workbench.experiment.choice import FEWEST_FOLDS, Evidence
from orfeon.workbench.experiment.costs import Decision
from orfeon.workbench.experiment.methods import METHODS
from orfeon.workbench.store import RunRow

if TYPE_CHECKING:
    from orfeon.workbench.experiment.bench import Bench


def study_notes(bench: Bench, n_rows: int, n_final: int) -> list[str]:
    """What the study itself did to the data."""
    remarks = [bench.screened] if bench.screened else []
    if n_final < len(bench.y):
        remarks.append(
            f"The final model is trained on {n_final:,} of the {len(bench.y):,} rows: training "
            "on all would take much longer than the comparison. Use a longer budget (--budget) "
            "for more rows, or repetitions (--repeats) without a budget for all."
        )
    if n_rows < len(bench.y):
        why = (
            ", to fit the budget; set compare_rows (--compare-rows) to use more"
            if bench.plan.rows is None
            else ""
        )
        remarks.append(f"Methods were compared on {n_rows:,} of the {len(bench.y):,} rows{why}.")
    if bench.columns.weights is not None:
        remarks.append(
            f"Fits and scores are weighted by {bench.columns.names['weights']}; rows of weight "
            "0 are left out."
        )
    if bench.columns.times is not None:
        remarks.append(
            f"Models were trained on the past and tested on the future, by "
            f"{bench.columns.names['time_column']}, which is not a feature."
        )
    if bench.columns.groups is not None:
        n_groups = len(np.unique(bench.columns.groups))
        name = bench.columns.names["group"]
        remarks.append(
            f"Rows with the same {name} stay on one side of every split ({n_groups:,} groups)."
        )
    if bench.is_classification:
        counts = np.bincount(bench.y)
        rare = [str(bench.classes[k]) for k in np.flatnonzero(counts < bench.plan.n_folds)]
        if rare:
            shown = ", ".join(rare[:5]) + (" ..." if len(rare) > 5 else "")
            remarks.append(
                f"Classes with fewer rows than folds are missing from some folds: {shown}."
            )
    return remarks


def notes_on_choice(methods: Iterable[str], decision: Decision | None) -> list[str]:
    """What costs decide, and which methods are compared and cannot be delivered."""
    found = [
        f"{METHODS[name].title} is compared, but never delivered: model files do not hold its "
        "models. Train and save it with its own package."
        for name in methods
        if not METHODS[name].is_delivered
    ]
    if decision is not None:
        how = "It predicts the class with the lowest expected cost"
        if decision.threshold is not None:
            how = (
                f"It predicts {decision.positive} at a probability of {decision.threshold:.3g} or "
                "more"
            )
        found.append(
            f"{how}, chosen by out-of-fold predictions: a cost of {decision.cost:.4g} per row, "
            f"against {decision.usual_cost:.4g} for the most probable class. Errors in the table "
            "are those of the most probable class."
        )
    return found


def failures(evidence: Evidence) -> list[str]:
    """Methods that failed, and their messages."""
    failed: Counter[str] = Counter()
    words: dict[str, str] = {}
    results = [(name, found) for (_, name), found in evidence.outer.items()]
    results += [(name, found) for (_, name), several in evidence.inner.items() for found in several]
    for name, found in results:
        if "failed" in found:
            failed[name] += 1
            words[name] = found["failed"]
    n_each = len(results) // max(1, len(evidence.plan.methods))
    return [
        f"{METHODS[name].title} failed in {count} of {n_each} fits: {words[name]}"
        for name, count in failed.items()
    ]


def warnings_of(notes: Mapping[str, Any], chosen: str, answers: Iterable[str]) -> list[str]:
    """What runs and the training of the final model warned of, each once."""
    found = {
        f"{METHODS[name.split()[1]].title}: {text}"
        for name, text in notes.items()
        if name.startswith("warning ")
    }
    return sorted(found | {f"{METHODS[chosen].title}: {text}" for text in answers})


def doubts(evidence: Evidence, rows: Sequence[RunRow]) -> list[str]:
    """Reasons why the figures are less certain than they look."""
    answers = []
    if len(evidence.units) < FEWEST_FOLDS:
        answers.append(
            f"{len(evidence.units)} outer folds are too few to see how much they vary: intervals "
            "reflect only the number of test rows, and there are no significance tests. Use a "
            "longer budget (--budget) or more repetitions (--repeats)."
        )
    n_test = evidence.parts[:, 1]
    if len(n_test) and n_test.max() > 2 * n_test.min():
        answers.append(
            f"Test sets differ in size, from {n_test.min():,} to {n_test.max():,} rows: all count "
            "the same, so intervals are rough."
        )
    versions = sorted({row.versions.get("orfeon", "unknown") for row in rows})
    if len(versions) > 1:
        answers.append(
            f"The runs come from several versions of orfeon: {', '.join(versions)}. Use a new "
            "store (--out) to repeat them all with one version."
        )
    return answers
