"""The runs of a study, from a first screening to the last outer fold."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.errors import ArgumentError
from orfeon.utils.types import Floats
from orfeon.workbench.experiment.choice import Evidence
from orfeon.workbench.experiment.costs import GivenCosts, cost_matrix
from orfeon.workbench.experiment.evaluation import Evaluation, lean, take_rows
from orfeon.workbench.experiment.methods import BASELINE, METHODS
from orfeon.workbench.experiment.plan import Folding, Plan
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
from orfeon.workbench.experiment.screening import (
    FEWEST_METHODS,
    FOLDS,
    ROWS,
    affordable,
    quick_enough,
    screened_out,
    seconds_on_samples,
    survivors,
)
from orfeon.workbench.prepare import Prepared
from orfeon.workbench.store import RunRow, StoredStudy

#: Seconds of a study that names neither a budget nor repetitions.
BUDGET = 60.0
#: Seconds, None for no limit, or automatic.
Budget = float | Literal["auto"] | None
#: Outer folds whose time is left for the final model and the models of the charts.
_RESERVE = 1.5
#: Numbers in a table from which methods are screened, however few rows it has.
_WIDE = 100_000
#: Share of a budget after which no further fold of a screening is begun.
_SCREENING = 0.15
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


class Bench:
    """The runs of a study: on how many rows, with which methods, and how many outer folds."""

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
        self.screened = ""
        self.screening: list[RunRow] = []
        if self.is_classification:
            self.classes, self.y = np.unique(prepared.y, return_inverse=True)
        self.costs: tuple[Floats, int] | None = None
        if costs is not None:
            self.costs = cost_matrix(costs, list(map(str, self.classes)), self.y)

    def evaluation(
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
        evaluation = Evaluation(
            lean(take_rows(self.prepared.X, rows)), y, plan.task, len(self.classes), folding,
            plan.rule, plan.keep, plan.members, plan.seed, metric=plan.metric,
            keeps_predictions=plan.keeps_predictions, weights=columns.weights,
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
        evaluation, _ = self.evaluation(ROWS, small)
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
        self.screening = rows = study.rows()
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
        self.screened = (
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
            evaluation, _ = self.evaluation(n_rows)
            where = {"n_jobs": self.n_workers, "cluster": self.cluster}
            seconds = time_methods(evaluation, self.plan, **where)
            left = self._seconds_left(extent, started)
            wanted = affordable_rows(seconds, n_rows, self.plan.n_inner, left)
        return int(self.study.note("rows", wanted))

    def run(self, extent: Extent, n_rows: int, started: float) -> int:
        """Make the runs; the number of outer folds that count."""
        evaluation, _ = self.evaluation(n_rows)
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


class _Quiet(NullListener):
    """Shows what a screening does in the place of its single runs."""

    def __init__(self, listener: Listener, what: str) -> None:
        self._listener = listener
        listener.running(what)

    def note(self, text: str) -> None:
        self._listener.note(text)
