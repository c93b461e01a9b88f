"""A study from a table to its outcome."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from orfeon.workbench.experiment.bench import Bench, Budget, Extent
from orfeon.workbench.experiment.conclusion import conclude_study
from orfeon.workbench.experiment.costs import GivenCosts
from orfeon.workbench.experiment.grids import grid_methods
from orfeon.workbench.experiment.methods import Deployable
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.experiment.plan import Plan, fingerprint
from orfeon.workbench.experiment.row_columns import RowColumns
from orfeon.workbench.experiment.running import Listener, NullListener
from orfeon.workbench.experiment.scoring import TestRows
from orfeon.workbench.experiment.screening import screening_plan
from orfeon.workbench.prepare import prepare
from orfeon.workbench.store import Store


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
        Your own settings: for each method a mapping from parameters to lists of values (or several
        such mappings), whose combinations are compared, too.
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
        Labelled rows, used only to score the final model.
    test_name : str, default="the test rows"
        What they are called.
    drop, keep_columns : iterable of str
        Columns to leave out, and columns to use even if they look useless.
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
        What was done to the data before the study.

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
        bench = Bench(plan, prepared, study, columns, n_jobs, cluster, listener, costs)
        if bench.is_screened(extent):
            small = screening_plan(plan)
            screening = opened.open_study(f"{name}-{small.digest}-screening", small.to_dict())
            bench.screen(small, screening, extent, started)
        n_rows = bench.settle_rows(extent, started)
        n_units = bench.run(extent, n_rows, started)
        return conclude_study(
            bench, n_units, n_rows, extent.budget, started,
            name=name, command=command, notes=tuple(notes), tested=tested,
        )  # fmt: skip
