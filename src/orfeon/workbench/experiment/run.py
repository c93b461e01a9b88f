"""A study from a table to its outcome."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.errors import ArgumentError, UserError
from orfeon.utils.types import Floats
from orfeon.workbench.experiment.choice import (
    FEWEST_FOLDS,
    Evidence,
    chosen_of,
    honest_choice,
    mean_curves,
    rank_candidates,
)
from orfeon.workbench.experiment.costs import Decision, GivenCosts, cost_matrix, decide
from orfeon.workbench.experiment.evaluation import (
    Evaluation,
    RunKey,
    findings,
    row_time,
    take_rows,
)
from orfeon.workbench.experiment.final import (
    final_model,
    keep_unseen,
    showcase,
    showcase_names,
)
from orfeon.workbench.experiment.grids import grid_methods
from orfeon.workbench.experiment.limits import check_limits, limit_note
from orfeon.workbench.experiment.methods import BASELINE, METHODS, SELECTION, Deployable
from orfeon.workbench.experiment.out_of_fold import out_of_fold, trials
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.experiment.plan import Folding, Plan, fingerprint
from orfeon.workbench.experiment.row_columns import RowColumns
from orfeon.workbench.experiment.running import (
    SMALL,
    Listener,
    NullListener,
    Running,
    affordable_rows,
    sample_rows,
    time_methods,
    unit_keys,
)
from orfeon.workbench.experiment.scoring import TestRows
from orfeon.workbench.experiment.screening import (
    FEWEST_METHODS,
    FOLDS,
    ROWS,
    affordable,
    quick_enough,
    screened_out,
    screening_plan,
    seconds_on_samples,
    survivors,
)
from orfeon.workbench.experiment.selection import Mean
from orfeon.workbench.prepare import Prepared, prepare
from orfeon.workbench.store import RunRow, Store, StoredStudy

#: Seconds of a study that names neither a budget nor repetitions.
BUDGET = 60.0
#: Seconds, None for no limit, or automatic.
Budget = float | Literal["auto"] | None
#: Share of a budget that the training of the final model may always take.
_LEAST_FIT = 0.2
#: Share of the rows in training parts from which the final model takes little longer than a fold.
_NEARLY_ALL = 0.6
#: Outer folds whose time is left for the final model and the models of the charts.
_RESERVE = 1.5
#: Numbers in a table from which methods are screened, however few rows it has.
_WIDE = 100_000
#: Share of a budget after which no further fold of a screening is begun.
_SCREENING = 0.15
#: Power of the number of rows by which the time of a fit is taken to grow.
_POWER = 1.15
#: Outer folds that are run whatever the budget: fewer do not show their spread.
_LEAST = 5


@dataclass(frozen=True)
class Extent:
    """How far a study goes."""

    budget: float | None
    repetitions: int | None
    compare_rows: int | None

    @classmethod
    def of(
        cls,
        budget: Budget = "auto",
        repetitions: int | None = None,
        compare_rows: int | None = None,
    ) -> Extent:
        """Check what is given and fill in the rest."""
        if budget == "auto":
            budget = BUDGET if repetitions is None else None
        if budget is None and repetitions is None:
            repetitions = 1
        return cls(budget, repetitions, compare_rows)

    def __post_init__(self) -> None:
        if self.budget is not None and self.budget <= 0:
            raise ArgumentError("budget", f"must be longer than 0 s; got {self.budget} s.")
        if self.repetitions is not None and self.repetitions < 1:
            raise ArgumentError("repetitions", f"must be at least 1; got {self.repetitions}.")
        if self.compare_rows is not None and self.compare_rows < 20:
            raise ArgumentError("compare_rows", f"must be at least 20; got {self.compare_rows}.")


def run_study(
    frame: Any,
    target: str,
    *,
    name: str = "data",
    task: str = "auto",
    methods: Sequence[str] | None = None,
    metric: str | None = None,
    budget: Budget = "auto",
    repetitions: int | None = None,
    compare_rows: int | None = None,
    design: Any = "cv",
    n_folds: int = 5,
    n_inner_folds: int | None = None,
    test_share: float = 1 / 3,
    rule: str | None = None,
    keep: Sequence[float] = (0.2, 0.4),
    members: int | None = None,
    deployable: Deployable = "any",
    latency: float | None = None,
    grid: Mapping[str, Any] | None = None,
    costs: GivenCosts | None = None,
    group: str | None = None,
    weights: str | None = None,
    time_column: str | None = None,
    test: Any = None,
    test_name: str = "the test rows",
    drop: Iterable[str] = (),
    keep_columns: Iterable[str] = (),
    seed: int = 0,
    n_jobs: int | None = None,
    cluster: Any = None,
    store: Any = ":memory:",
    listener: Listener | None = None,
    command: str = "",
    notes: Sequence[str] = (),
) -> StudyOutcome:
    """Compare methods on a table, choose one, and train it on all rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        The raw table: numbers, strings, dates, missing values.
    target : str
        The column to predict.
    name : str, default="data"
        Name of the data.
    task : {"auto", "classification", "regression"}, default="auto"
        The task.
    methods : sequence of str, optional
        Names in :data:`orfeon.workbench.experiment.methods.METHODS`.
    metric : str, optional
        The measure to choose by: ``"error"``, ``"balanced_error"``, ``"log_loss"``, ``"brier"``,
        ``"auc"``, ``"average_precision"``, ``"f1"``, ``"mcc"``; ``"rmse"``, ``"mae"``,
        ``"unexplained"``, ``"mape"``, ``"median_error"``. Where higher is better, one minus it.
    budget : float, None or "auto", default="auto"
        Seconds; by default 60, or none if ``repetitions`` is given.
    repetitions : int, optional
        Repetitions of the cross-validation, or number of random splits.
    compare_rows : int, optional
        Rows to compare on; the final model is trained on all.
    design : {"cv", "splits"}, default="cv"
        Repeated stratified cross-validation, or random splits.
    n_folds : int, default=5
        Folds of a repetition.
    n_inner_folds : int, optional
        Folds inside each training part, by which the nested estimate chooses a candidate. With 0,
        the default of cross-validation, the other folds of the repetition choose; random splits
        need inner folds, 3 by default.
    test_share : float, default=1/3
        Share of the test part of random splits.
    rule : str, optional
        Ordering rule of pruned candidates.
    keep : sequence of float, default=(0.2, 0.4)
        Shares of the members that pruned candidates keep.
    members : int, optional
        Members of every ensemble.
    deployable : {"any", "onnx", "single", "small"}, default="any"
        What may be delivered: any model; one with an ONNX form, which leaves out stacking
        and nearest neighbours; a single tree or ensemble; or a model
        whose file has at most 1 MB.
    latency : float, optional
        Seconds that the prediction of a single row may take, as measured in the runs.
    grid : mapping, optional
        Settings of one's own: for each method a mapping from parameters to lists of values (or
        several such mappings), whose combinations are compared, too.
    costs : Costs or mapping, optional
        Costs of mistakes, by which the final model decides: of false negatives and false positives,
        or a mapping from true classes to mappings from predicted classes to costs.
    group : str, optional
        Rows with the same value of this column are never split; it is not used as a feature.
    weights : str, optional
        A column with the weight of each row, in fits and in scores.
    time_column : str, optional
        A column of dates or numbers: models are trained on the past and tested on the future. It is
        not used as a feature.
    test : pandas.DataFrame, optional
        Labelled rows that are used for nothing but the scores of the final model.
    test_name : str, default="the test rows"
        What they are called.
    drop, keep_columns : iterable of str
        Columns to leave out, and to use although they look useless.
    seed : int, default=0
        Random seed.
    n_jobs : int, optional
        Parallel runs; -1 for all cores.
    cluster : Cluster, optional
        From :func:`orfeon.workbench.tasks.cluster.connect`.
    store : str or path, default=":memory:"
        Where runs are kept; runs found there are not repeated.
    listener : Listener, optional
        Receives the progress.
    command : str, default=""
        The command that repeats the study, for the report.
    notes : sequence of str, optional
        What was done to the data before.

    Returns
    -------
    StudyOutcome
        Scores, the nested estimate, the model and its evidence.

    Examples
    --------
    >>> import pandas
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.workbench import run_study
    >>> X, y = make_waveform(150, random_state=0)
    >>> frame = pandas.DataFrame(X).rename(columns="x{}".format).assign(wave=y)
    >>> found = run_study(
    ...     frame, "wave", methods=["cart", "bagging"], members=25, repetitions=1, task="auto"
    ... )
    >>> found.chosen, found.n_runs, round(found.honest.mean("error"), 2)
    ('bagging...', 10, 0.2...)
    """
    started = time.perf_counter()
    extent = Extent.of(budget, repetitions, compare_rows)
    columns = RowColumns.read(frame, group=group, weights=weights, time=time_column, target=target)
    if columns.weights is not None:
        there = np.flatnonzero(columns.weights > 0)
        frame, columns = frame.iloc[there], columns.take(there)
    dropped = [*drop, *columns.names.values()]
    prepared = prepare(frame, target, task=task, drop=dropped, keep_columns=keep_columns)
    columns = columns.take(prepared.rows)
    if grid is not None:
        methods = [*(methods or ["default"]), *grid_methods(grid, prepared.task)]
    plan = Plan.of(
        fingerprint(prepared.X, prepared.y), prepared.task, methods=methods, metric=metric,
        design=design, n_folds=n_folds, n_inner=n_inner_folds, test_share=test_share, rule=rule,
        keep=keep, members=members, seed=seed, groups=columns.fingerprint("group"),
        rows=compare_rows, deployable=deployable, weights=columns.fingerprint("weights"),
        times=columns.fingerprint("time_column"), costs=None if costs is None else repr(costs),
        latency=latency,
    )  # fmt: skip
    tested = None
    if test is not None:
        tested = TestRows.read(test, test_name, prepared, weights)
    listener = listener or NullListener()
    with Store(store) as opened:
        study = opened.open_study(f"{name}-{plan.digest}", plan.to_dict())
        bench = _Bench(plan, prepared, study, columns, n_jobs, cluster, listener, costs)
        if bench.is_screened(extent):
            small = screening_plan(plan)
            screening = opened.open_study(f"{name}-{small.digest}-screening", small.to_dict())
            bench.screen(small, screening, extent, started)
        n_rows = bench.settle_rows(extent, started)
        n_units = bench.run(extent, n_rows, started)
        return bench.outcome(name, n_units, n_rows, extent, command, tuple(notes), tested, started)


class _Bench:
    """The parts of one study."""

    def __init__(
        self,
        plan: Plan,
        prepared: Prepared,
        study: StoredStudy,
        columns: RowColumns,
        n_jobs: int | None,
        cluster: Any,
        listener: Listener,
        costs: GivenCosts | None,
    ) -> None:
        import joblib

        self.plan, self.prepared, self.study, self.columns = plan, prepared, study, columns
        self.cluster, self.listener = cluster, listener
        self.n_jobs = int(joblib.effective_n_jobs(n_jobs))
        self.n_workers = self.n_jobs if cluster is None else max(1, cluster.threads())
        self.is_classification = plan.task == "classification"
        self.classes: npt.NDArray[Any] = np.array([])
        self.y = np.asarray(prepared.y)
        self._screened = ""
        self._screening: list[RunRow] = []
        if self.is_classification:
            self.classes, self.y = np.unique(prepared.y, return_inverse=True)
        self.costs: tuple[Floats, int] | None = None
        if costs is not None:
            self.costs = cost_matrix(costs, list(map(str, self.classes)), self.y)

    def _evaluation(
        self, n_rows: int, plan: Plan | None = None
    ) -> tuple[Evaluation, npt.NDArray[np.int64]]:
        """The evaluation on a sample of this many rows, and the rows."""
        plan = plan or self.plan
        rows = sample_rows(self.y, n_rows, self.is_classification, plan.seed)
        y, columns = self.y[rows], self.columns.take(rows)
        folding = Folding(
            y, self.is_classification, plan.seed, plan.design, plan.n_folds, plan.n_inner,
            plan.test_share, columns.groups, columns.times,
        )  # fmt: skip
        X = take_rows(self.prepared.X, rows)
        if all(kind.kind == "f" for kind in X.dtypes):
            X = X.to_numpy()  # the same numbers, without the cost of a frame in every fit
        evaluation = Evaluation(
            X, y, plan.task, len(self.classes), folding, plan.rule, plan.keep, plan.members,
            plan.seed, metric=plan.metric, keeps_predictions=plan.keeps_predictions,
            weights=columns.weights,
            keeps_all=plan.costs is not None, measures_files=plan.deployable == "small",
        )  # fmt: skip
        return evaluation, rows

    def is_screened(self, extent: Extent) -> bool:
        """Whether a few rows decide first which methods are compared on many."""
        has_time = extent.budget is None or extent.compare_rows is not None
        n_numbers = len(self.y) * self.prepared.X.shape[1]
        is_large = len(self.y) > SMALL or n_numbers > _WIDE
        is_large = is_large and len(self.plan.fitted) >= FEWEST_METHODS
        return is_large and not has_time and self.plan.keeps_predictions

    def screen(self, small: Plan, study: StoredStudy, extent: Extent, started: float) -> None:
        """Compare all methods on few rows, and go on with the best on as many as there is time."""
        evaluation, _ = self._evaluation(ROWS, small)
        n_first = len(evaluation.y)
        listener = _Quiet(
            self.listener, f"screening {len(small.fitted)} methods on {n_first:,} rows"
        )
        running = Running(small, evaluation, study, self.n_workers, self.cluster, listener)
        settled = study.notes.get("folds")
        if settled is None:
            running.units([0])
            spent = time.perf_counter() - started
            n_folds = 1 if spent > _SCREENING * (extent.budget or 0.0) else FOLDS
            settled = study.note("folds", n_folds)
        running.units(range(int(settled)))
        self._screening = rows = study.rows()
        evidence = Evidence.of(
            small, rows, len(self.classes), int(settled), evaluation.folding, evaluation.weights
        )
        if "rows" not in self.study.notes:
            left = self._seconds_left(extent, started)
            seconds, n_inner = seconds_on_samples(rows), self.plan.n_inner
            names = survivors(evidence, quick_enough(seconds, len(self.y), n_inner, left))
            kept, n_rows = affordable(names, seconds, len(self.y), n_inner, left)
            self.study.note("methods", kept)
            self.study.note("rows", n_rows)
        kept = [BASELINE, *self.study.notes["methods"]]
        self._screened = (
            f"All {len(small.fitted)} methods were compared on {n_first:,} rows first, and "
            f"{len(kept) - 1} went on. Left out: {screened_out(evidence, kept)}."
        )
        names = [one for one in self.plan.methods if one in kept or METHODS[one].is_derived]
        self.plan = replace(self.plan, methods=tuple(names))

    def _seconds_left(self, extent: Extent, started: float) -> float:
        """Seconds that are left for runs, of all workers."""
        budget = extent.budget or 0.0
        left = max(budget - (time.perf_counter() - started), 0.3 * budget)
        return left * self.n_workers

    def settle_rows(self, extent: Extent, started: float) -> int:
        """The number of rows to compare on: given, or determined once and kept in the store."""
        n_rows = len(self.y)
        settled = self.study.notes.get("rows")
        if settled is not None:
            return int(settled)
        wanted = n_rows if extent.compare_rows is None else min(extent.compare_rows, n_rows)
        if extent.budget is not None and extent.compare_rows is None and n_rows > SMALL:
            self.listener.running("timing the methods on 1,000 rows")
            evaluation, _ = self._evaluation(n_rows)
            where = {"n_jobs": self.n_workers, "cluster": self.cluster}
            seconds = time_methods(evaluation, self.plan, **where)
            left = self._seconds_left(extent, started)
            wanted = affordable_rows(seconds, n_rows, self.plan.n_inner, left)
        return int(self.study.note("rows", wanted))

    def run(self, extent: Extent, n_rows: int, started: float) -> int:
        """Make the runs; the number of outer folds that count."""
        evaluation, _ = self._evaluation(n_rows)
        running = Running(
            self.plan, evaluation, self.study, self.n_workers, self.cluster, self.listener
        )
        step = 1 if self.plan.design == "splits" else self.plan.n_folds
        if self.plan.design == "time":  # there is one past
            extent = replace(extent, repetitions=1)
        if extent.repetitions is not None and extent.budget is None:
            n_units = max(extent.repetitions * step, 2)
            stored = self.study.keys()
            wanted = [key for unit in range(n_units) for key in unit_keys(self.plan, unit)]
            self.listener.begin(len(wanted), sum(key.key in stored for key in wanted))
            running.units(range(n_units))
            return n_units
        name = f"outer folds within {extent.budget:g} s"
        if extent.repetitions is not None:
            name += f", at most {extent.repetitions} repetitions"
        settled = self.study.notes.get(name)
        if settled is not None:
            return int(settled)
        self.listener.begin(None)
        most = None if extent.repetitions is None else extent.repetitions * step
        # Time that an earlier, stopped call spent counts too.
        spent = sum(row.seconds for row in self.study.rows()) / self.n_workers
        least = _LEAST if most is None else min(_LEAST, most)
        n_units = running.within(
            extent.budget or 0.0, least, step, started - spent, most, reserve=_RESERVE
        )
        return int(self.study.note(name, n_units))

    def outcome(
        self,
        name: str,
        n_units: int,
        n_rows: int,
        extent: Extent,
        command: str,
        notes: tuple[str, ...],
        tested: TestRows | None,
        started: float,
    ) -> StudyOutcome:
        """Rank the candidates, choose one, and train the final model."""
        plan, prepared = self.plan, self.prepared
        rows = self.study.rows()
        evaluation, studied = self._evaluation(n_rows)
        evidence = Evidence.of(
            plan, rows, len(self.classes), n_units, evaluation.folding, evaluation.weights
        )
        rows = [row for row in rows if RunKey.read(row.key).unit in evidence.units]
        check_limits(evidence)
        candidates = rank_candidates(evidence)
        chosen = chosen_of(evidence)
        honest = honest_choice(evidence)
        if chosen is None or honest is None:
            raise UserError(f"No method could be fitted. {' '.join(_failures(evidence)[:1])}")
        self.listener.running(f"training the final model: {chosen}")
        n_jobs = self.n_jobs
        best = next(candidate for candidate in candidates if candidate.name == chosen)
        pictured = showcase_names(chosen, candidates)
        left = math.inf
        if extent.budget is not None:
            times = [one.fit_seconds for one in candidates if one.name in pictured]
            left = extent.budget - (time.perf_counter() - started) - sum(times)
        n_final = self._final_rows(extent, chosen, best.fit_seconds, evidence.sizes[0], left)
        trained = sample_rows(self.y, n_final, self.is_classification, plan.seed)
        with findings() as answers:
            model = final_model(
                plan, chosen, take_rows(prepared.X, trained), prepared.y[trained], n_jobs,
                evidence.mean, self.columns.take(trained).weights,
            )  # fmt: skip
        seen = out_of_fold(evidence, evaluation.folding, best.method)
        if chosen == SELECTION and seen is not None:
            keep_unseen(model, seen, evaluation.folding, self.classes, evaluation.weights)
        row_seconds = row_time(model, _lean(prepared.X))
        decision = self._decision(evidence, evaluation, chosen)
        if decision is not None:
            model = decision.of(model, prepared.X, prepared.y, list(map(str, self.classes)))
        self.listener.running("training models for the charts")
        X = take_rows(prepared.X, studied)
        with findings():  # already reported by the runs
            shown = showcase(
                plan,
                evaluation,
                prepared.y[studied],
                pictured,
                X,
                n_jobs,
                Mean.of(evidence.outer.get((0, SELECTION), {})),
                min(len(evidence.units), plan.n_folds),
            )
        limited = None
        if plan.latency is not None or plan.deployable == "small":
            free = replace(plan, latency=None, deployable="any")
            limited = limit_note(
                evidence,
                Evidence.of(
                    free, rows, len(self.classes), n_units, evaluation.folding, evaluation.weights
                ),
                row_seconds,
                model,
            )
        n_train, n_test = evidence.sizes
        return StudyOutcome(
            name=name, task=plan.task, target=str(prepared.preparation.target),
            classes=tuple(str(label) for label in self.classes),
            metric=plan.metric, metrics=plan.metrics, candidates=candidates, honest=honest,
            chosen=chosen, curves=mean_curves(evidence), showcase=shown, model=model,
            preparation=prepared.preparation, profile=prepared.profile,
            notes=(
                *notes, *prepared.notes, *self._remarks(len(studied), len(trained)),
                *_doubts(evidence, rows), *([limited] if limited else []),
                *self._notes_on_choice(decision), *([] if tested is None else tested.notes()),
                *_failures(evidence),
                *_warnings(self.study.notes, best.method, answers),
            ),
            n_rows=len(prepared.y), n_features=prepared.X.shape[1], n_studied=len(studied),
            n_folds=plan.n_folds, n_outer=len(evidence.units), n_train=n_train, n_test=n_test,
            test_ratio=evidence.test_ratio,
            n_runs=len(rows), seconds=float(sum(row.seconds for row in rows)),
            configuration=self._configuration(name, n_units, n_rows), command=command,
            versions=dict(rows[-1].versions), seed=plan.seed, weights=evidence.mean.weights,
            out_of_fold=seen,
            trials=trials(
                [*(("screening", row) for row in self._screening), *(("", row) for row in rows)],
                plan.metric,
            ),
            tested=None if tested is None else tested.score(model), decision=decision,
            row_seconds=row_seconds,
        )  # fmt: skip

    def _decision(self, evidence: Evidence, evaluation: Evaluation, chosen: str) -> Decision | None:
        """How the final model decides by costs, from its candidate's out-of-fold predictions."""
        if self.costs is None:
            return None
        folds, units = {}, evidence.units
        for unit in units:
            test, given = evaluation.folding.outer(unit).test, evaluation.weights
            shares = evidence.predictions(unit, chosen)
            folds[unit] = (evaluation.y[test], shares, None if given is None else given[test])
        others = {unit: self.plan.others(unit, units) for unit in units}
        return decide(*self.costs, list(map(str, self.classes)), folds, others)

    def _notes_on_choice(self, decision: Decision | None) -> list[str]:
        """What costs decide, and which methods are compared and cannot be delivered."""
        found = [
            f"{METHODS[name].title} is compared, but never delivered: model files do not hold its "
            "models. Train and save it with its own package."
            for name in self.plan.methods
            if not METHODS[name].is_delivered
        ]
        if decision is not None:
            how = "It predicts the class of least expected cost"
            if decision.threshold is not None:
                how = (
                    f"It predicts {decision.positive} from a probability of "
                    f"{decision.threshold:.3g} on"
                )
            found.append(
                f"{how}, chosen by out-of-fold predictions: {decision.cost:.4g} a row, against "
                f"{decision.usual_cost:.4g} for the most probable class. Errors in the table are "
                "those of the most probable class."
            )
        return found

    def _configuration(self, name: str, n_units: int, n_rows: int) -> Mapping[str, Any]:
        settled = {"name": name, "outer_folds": n_units, "rows": n_rows}
        return {**self.plan.to_dict(), **settled, "digest": self.plan.digest}

    def _final_rows(
        self, extent: Extent, name: str, seconds: float, n_train: float, left: float
    ) -> int:
        """Rows that the final model is trained on: all, unless that would take too long.

        It may take the time that is left of the budget. How long it takes is known from fits of
        ``seconds`` on ``n_train`` rows.
        """
        n_rows = len(self.y)
        if extent.budget is None or n_train >= _NEARLY_ALL * n_rows:
            return n_rows
        note = f"rows of {name} within {extent.budget:g} s"
        settled = self.study.notes.get(note)
        if settled is None:
            allowed = max(left, _LEAST_FIT * extent.budget)
            growth = (allowed / max(seconds, 1e-6)) ** (1 / _POWER)
            settled = self.study.note(note, int(min(n_rows, max(n_train * growth, n_train))))
        return int(settled)

    def _remarks(self, n_rows: int, n_final: int) -> list[str]:
        """What the study itself did to the data."""
        remarks = [self._screened] if self._screened else []
        if n_final < len(self.y):
            remarks.append(
                f"The final model is trained on {n_final:,} of the {len(self.y):,} rows: training "
                "on all would take much longer than the comparison. Use a longer budget (--budget) "
                "for more rows, or repetitions (--repeats) without a budget for all."
            )
        if n_rows < len(self.y):
            why = (
                ", to fit the budget; set compare_rows (--compare-rows) to use more"
                if self.plan.rows is None
                else ""
            )
            remarks.append(f"Methods were compared on {n_rows:,} of the {len(self.y):,} rows{why}.")
        if self.columns.weights is not None:
            remarks.append(
                f"Fits and scores are weighted by {self.columns.names['weights']}; rows of weight "
                "0 are left out."
            )
        if self.columns.times is not None:
            remarks.append(
                f"Models were trained on the past and tested on the future, by "
                f"{self.columns.names['time_column']}, which is not a feature."
            )
        if self.columns.groups is not None:
            n_groups = len(np.unique(self.columns.groups))
            name = self.columns.names["group"]
            remarks.append(
                f"Rows with the same {name} stay on one side of every split ({n_groups:,} groups)."
            )
        if self.is_classification:
            counts = np.bincount(self.y)
            rare = [str(self.classes[k]) for k in np.flatnonzero(counts < self.plan.n_folds)]
            if rare:
                shown = ", ".join(rare[:5]) + (" ..." if len(rare) > 5 else "")
                remarks.append(
                    f"Classes with fewer rows than folds are missing from some folds: {shown}."
                )
        return remarks


class _Quiet(NullListener):
    """Shows what a screening does in the place of its single runs."""

    def __init__(self, listener: Listener, what: str) -> None:
        self._listener = listener
        listener.running(what)

    def note(self, text: str) -> None:
        self._listener.note(text)


def _failures(evidence: Evidence) -> list[str]:
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


def _warnings(notes: Mapping[str, Any], chosen: str, answers: Iterable[str]) -> list[str]:
    """What runs and the training of the final model warned of, each once."""
    found = {
        f"{METHODS[name.split()[1]].title}: {text}"
        for name, text in notes.items()
        if name.startswith("warning ")
    }
    return sorted(found | {f"{METHODS[chosen].title}: {text}" for text in answers})


def _doubts(evidence: Evidence, rows: Sequence[RunRow]) -> list[str]:
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


def _lean(X: Any) -> Any:
    """Rows as runs get them: numbers alone come as an array, without the cost of a frame."""
    return X.to_numpy() if all(kind.kind == "f" for kind in X.dtypes) else X
