"""The end of a study: candidates ranked, one chosen, trained on all rows and described."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orfeon.errors import UserError
from orfeon.workbench.experiment.choice import (
    Evidence,
    chosen_of,
    honest_choice,
    mean_curves,
    rank_candidates,
)
from orfeon.workbench.experiment.costs import Decision, decide
from orfeon.workbench.experiment.evaluation import (
    Evaluation,
    RunKey,
    findings,
    lean,
    row_time,
    take_rows,
)
from orfeon.workbench.experiment.final import (
    final_model,
    keep_unseen,
    showcase,
    showcase_names,
)
from orfeon.workbench.experiment.limits import check_limits, limit_note
from orfeon.workbench.experiment.methods import SELECTION
from orfeon.workbench.experiment.notes import (
    doubts,
    failures,
    notes_on_choice,
    study_notes,
    warnings_of,
)
from orfeon.workbench.experiment.out_of_fold import OutOfFold, out_of_fold, trials
from orfeon.workbench.experiment.outcome import Candidate, Honest, Showcase, StudyOutcome
from orfeon.workbench.experiment.plan import Plan
from orfeon.workbench.experiment.running import sample_rows
from orfeon.workbench.experiment.scoring import TestRows
from orfeon.workbench.experiment.selection import Mean
from orfeon.workbench.store import RunRow

if TYPE_CHECKING:
    from orfeon.workbench.experiment.bench import Bench

#: Share of a budget that the training of the final model may always take.
_LEAST_FIT = 0.2
#: Share of the rows in training parts from which the final model takes little longer than a fold.
_NEARLY_ALL = 0.6
#: Power of the number of rows by which the time of a fit is taken to grow.
_POWER = 1.15


def conclude_study(
    bench: Bench,
    n_units: int,
    n_rows: int,
    budget: float | None,
    started: float,
    *,
    name: str,
    command: str,
    notes: tuple[str, ...],
    tested: TestRows | None,
) -> StudyOutcome:
    """Rank the candidates, choose one, and train the final model."""
    plan, prepared = bench.plan, bench.prepared
    compared = _Comparison.of(bench, n_units, n_rows)
    evidence, best = compared.evidence, compared.best
    pictured = showcase_names(best.name, compared.candidates)
    final = _train_final(bench, compared, pictured, budget, started)
    bench.listener.running("training models for the charts")
    shown = _charted(bench, compared, pictured)
    limited = _limit_notes(bench, compared, n_units, final)
    n_train, n_test = evidence.sizes
    return StudyOutcome(
        name=name, task=plan.task, target=str(prepared.preparation.target),
        classes=tuple(map(str, bench.classes)),
        metric=plan.metric, metrics=plan.metrics, candidates=compared.candidates,
        honest=compared.honest, chosen=best.name, curves=mean_curves(evidence), showcase=shown,
        model=final.model, preparation=prepared.preparation, profile=prepared.profile,
        notes=(
            *notes, *prepared.notes, *study_notes(bench, len(compared.studied), final.n_rows),
            *doubts(evidence, compared.runs), *limited,
            *notes_on_choice(plan.methods, final.decision),
            *([] if tested is None else tested.notes()), *failures(evidence),
            *warnings_of(bench.study.notes, best.method, final.warnings),
        ),
        n_rows=len(prepared.y), n_features=prepared.X.shape[1], n_studied=len(compared.studied),
        n_folds=plan.n_folds, n_outer=len(evidence.units), n_train=n_train, n_test=n_test,
        test_ratio=evidence.test_ratio, n_runs=len(compared.runs),
        seconds=float(sum(row.seconds for row in compared.runs)),
        configuration={
            **plan.to_dict(), "name": name, "outer_folds": n_units, "rows": n_rows,
            "digest": plan.digest,
        },
        command=command, versions=dict(compared.runs[-1].versions), seed=plan.seed,
        weights=evidence.mean.weights, out_of_fold=compared.unseen,
        trials=trials(
            [("screening", row) for row in bench.screening] + [("", row) for row in compared.runs],
            plan.metric,
        ),
        tested=None if tested is None else tested.score(final.model), decision=final.decision,
        row_seconds=final.row_seconds,
    )  # fmt: skip


@dataclass(frozen=True)
class _Comparison:
    """The runs that count, what they are evidence of, and the candidate that they choose."""

    evaluation: Evaluation
    studied: npt.NDArray[np.int64]
    runs: list[RunRow]
    evidence: Evidence
    candidates: tuple[Candidate, ...]
    honest: Honest
    best: Candidate
    unseen: OutOfFold | None

    @classmethod
    def of(cls, bench: Bench, n_units: int, n_rows: int) -> _Comparison:
        rows = bench.study.rows()
        evaluation, studied = bench.evaluation(n_rows)
        evidence = _evidence(bench, bench.plan, rows, n_units, evaluation)
        counted = [row for row in rows if RunKey.read(row.key).unit in evidence.units]
        check_limits(evidence)
        candidates = rank_candidates(evidence)
        chosen = chosen_of(evidence)
        honest = honest_choice(evidence)
        if chosen is None or honest is None:
            raise UserError(f"No method could be fitted. {' '.join(failures(evidence)[:1])}")
        best = next(candidate for candidate in candidates if candidate.name == chosen)
        unseen = out_of_fold(evidence, evaluation.folding, best.method)
        return cls(evaluation, studied, counted, evidence, candidates, honest, best, unseen)


def _evidence(
    bench: Bench, plan: Plan, rows: Sequence[RunRow], n_units: int, evaluation: Evaluation
) -> Evidence:
    return Evidence.of(
        plan, rows, len(bench.classes), n_units, evaluation.folding, evaluation.weights
    )


@dataclass(frozen=True)
class _Final:
    """The model that is delivered."""

    model: Any
    n_rows: int
    row_seconds: float
    decision: Decision | None
    warnings: list[str]


def _train_final(
    bench: Bench,
    compared: _Comparison,
    pictured: Sequence[str],
    budget: float | None,
    started: float,
) -> _Final:
    """Train the best candidate on all rows, or on as many as there is time for."""
    prepared, best, evidence = bench.prepared, compared.best, compared.evidence
    bench.listener.running(f"training the final model: {best.name}")
    left = math.inf
    if budget is not None:
        times = [one.fit_seconds for one in compared.candidates if one.name in pictured]
        left = budget - (time.perf_counter() - started) - sum(times)
    n_rows = _final_rows(bench, budget, best, evidence.sizes[0], left)
    trained = sample_rows(bench.y, n_rows, bench.is_classification, bench.plan.seed)
    with findings() as warnings:
        model = final_model(
            bench.plan, best.name, take_rows(prepared.X, trained), prepared.y[trained],
            bench.n_jobs, evidence.mean, bench.columns.take(trained).weights,
        )  # fmt: skip
    if best.name == SELECTION and compared.unseen is not None:
        keep_unseen(
            model, compared.unseen, compared.evaluation.folding, bench.classes,
            compared.evaluation.weights,
        )  # fmt: skip
    row_seconds = row_time(model, lean(prepared.X))
    decision = _decision(bench, compared)
    if decision is not None:
        model = decision.of(model, prepared.X, prepared.y, list(map(str, bench.classes)))
    return _Final(model, len(trained), row_seconds, decision, warnings)


def _charted(bench: Bench, compared: _Comparison, pictured: Sequence[str]) -> Showcase:
    """The models of the charts, trained on the first outer fold."""
    evidence, studied = compared.evidence, compared.studied
    with findings():  # already reported by the runs
        return showcase(
            bench.plan, compared.evaluation, bench.prepared.y[studied], pictured,
            take_rows(bench.prepared.X, studied), bench.n_jobs,
            Mean.of(evidence.outer.get((0, SELECTION), {})),
            min(len(evidence.units), bench.plan.n_folds),
        )  # fmt: skip


def _limit_notes(bench: Bench, compared: _Comparison, n_units: int, final: _Final) -> list[str]:
    """What limits of time and size cost, if there are any."""
    plan = bench.plan
    if plan.latency is None and plan.deployable != "small":
        return []
    free = _evidence(
        bench, replace(plan, latency=None, deployable="any"), compared.runs, n_units,
        compared.evaluation,
    )  # fmt: skip
    return [limit_note(compared.evidence, free, final.row_seconds, final.model)]


def _decision(bench: Bench, compared: _Comparison) -> Decision | None:
    """How the final model decides by costs, from its candidate's out-of-fold predictions."""
    evidence, evaluation = compared.evidence, compared.evaluation
    if bench.costs is None:
        return None
    folds, units = {}, evidence.units
    for unit in units:
        test, given = evaluation.folding.outer(unit).test, evaluation.weights
        shares = evidence.predictions(unit, compared.best.name)
        folds[unit] = (evaluation.y[test], shares, None if given is None else given[test])
    others = {unit: bench.plan.others(unit, units) for unit in units}
    return decide(*bench.costs, list(map(str, bench.classes)), folds, others)


def _final_rows(
    bench: Bench, budget: float | None, best: Candidate, n_train: float, left: float
) -> int:
    """Rows that the final model is trained on: all, unless that would take too long.

    It may take the time that is left of the budget. How long it takes is known from the fits on
    ``n_train`` rows.
    """
    n_rows = len(bench.y)
    if budget is None or n_train >= _NEARLY_ALL * n_rows:
        return n_rows
    note = f"rows of {best.name} within {budget:g} s"
    settled = bench.study.notes.get(note)
    if settled is None:
        allowed = max(left, _LEAST_FIT * budget)
        growth = (allowed / max(best.fit_seconds, 1e-6)) ** (1 / _POWER)
        settled = bench.study.note(note, int(min(n_rows, max(n_train * growth, n_train))))
    return int(settled)
