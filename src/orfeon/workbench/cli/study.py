"""The command ``orfeon study``: compare methods on a table, write a report and the best model."""

from __future__ import annotations

import argparse
import math
import re
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orfeon.datasets.memory import peak_memory
from orfeon.errors import UserError
from orfeon.utils.text import counted, duration_text, p_value_text, size_text
from orfeon.workbench.cli.live import LiveDisplay
from orfeon.workbench.cli.options import (
    add_output_options,
    command_parser,
    count,
    duration,
    existing_file,
    inner_folds,
    jobs,
    names,
    output_file,
    seed,
    share,
)
from orfeon.workbench.cli.output import command_text, print_json, print_table, say
from orfeon.workbench.cli.tables import NamedTable, read_table, target_of
from orfeon.workbench.experiment.thresholds import Costs

if TYPE_CHECKING:
    from orfeon.workbench.experiment.costs import Decision, GivenCosts
    from orfeon.workbench.experiment.evaluation import RunKey
    from orfeon.workbench.experiment.outcome import Candidate, StudyOutcome
    from orfeon.workbench.experiment.scoring import TestScores
    from orfeon.workbench.experiment.verdict import Significance

_DESCRIPTION = """\
Compares methods on a table and writes to the folder --out: all runs (store.db), a report for any
browser (report.html) and the chosen model (model.orfeon).

DATA is a CSV, Parquet or ARFF file, '-' for standard input, or the name of a data set (see 'orfeon
datasets'); without DATA, a synthetic data set is used. Classification or regression is inferred
from the target. Row identifiers, constants, dates and free text are detected, and the output says
how they were handled.

Methods are compared by repeated stratified cross-validation (or random splits, --design splits).
Bagging ensembles and forests are also pruned: their members are ordered and the first ones kept,
and pruned ensembles compete with whole ones. So does a weighted mean of the models that are best
together (ensemble selection). The estimate to report is cross-fitted: for each fold, the winner and
the weights are chosen by the other folds, so that the choice does not bias the estimate.

Ctrl-C stops, and every finished run is kept; rerun the command to resume, also with a larger
--budget.
"""

_EXAMPLES = """\
orfeon study
orfeon study data.csv --target class
orfeon study data.csv --target price --methods cart,random_forest,gradient_boosting --budget 10m
orfeon study data.csv --target class --test later.csv --cost fn=10,fp=1
orfeon study data.csv --target demand --time day --latency 1ms
orfeon study data.csv --target class --repeats 10 --store postgresql://host/results
"""

#: The data set used if none is given.
DEFAULT_DATA = "waveform"


def add_parser(subparsers: Any) -> None:
    """Define the arguments."""
    parser = command_parser(
        subparsers,
        "study",
        "compare methods on your data, prune the best, write a report",
        _DESCRIPTION,
        _EXAMPLES,
    )
    parser.add_argument(
        "data",
        metavar="DATA",
        nargs="?",
        help=f"a file or the name of a data set; default: {DEFAULT_DATA}",
    )
    _add_data_options(parser.add_argument_group("data"))
    _add_comparison_options(parser.add_argument_group("comparison"))
    _add_result_options(parser.add_argument_group("execution and output"))
    add_output_options(parser)


def _shares(text: str) -> list[float]:
    """Fractions of members to keep."""
    return [] if text == "none" else [share(part) for part in names(text)]


def _costs(text: str) -> GivenCosts:
    """Costs of the two kinds of mistakes, or a file with those of all."""
    from orfeon.workbench.experiment.costs import read_cost_file

    return Costs.read(text) if "=" in text else read_cost_file(existing_file(text))


def _add_data_options(group: Any) -> None:
    group.add_argument("--target", metavar="COL", help="the column to predict")
    group.add_argument(
        "--task", choices=("auto", "classification", "regression"), default="auto",
        help="default: auto, inferred from the target",
    )  # fmt: skip
    group.add_argument("--drop", type=names, default=[], metavar="A,B", help="columns to ignore")
    group.add_argument(
        "--use", type=names, default=[], metavar="A,B",
        help="columns to use even if they look like row identifiers, constants or free text",
    )  # fmt: skip
    group.add_argument(
        "--group", metavar="COL",
        help="never split rows with the same value of this column (patients, users)",
    )  # fmt: skip
    group.add_argument(
        "--weights", metavar="COL", help="a column with the weight of each row, in fits and scores"
    )
    group.add_argument(
        "--time", metavar="COL",
        help="a column of dates or numbers: train on the past, test on the future",
    )  # fmt: skip
    group.add_argument(
        "--test", metavar="FILE",
        help="labelled rows to score the final model on, used for nothing else",
    )  # fmt: skip
    group.add_argument(
        "--rows", type=count, metavar="N",
        help="read a random sample of N rows, for files too large for memory",
    )  # fmt: skip
    group.add_argument(
        "--compare-rows", type=count, metavar="N",
        help="compare methods on N rows, and fit the final model on all; default: as many as the "
        "budget allows",
    )  # fmt: skip


def _add_comparison_options(group: Any) -> None:
    group.add_argument(
        "--methods", type=names, metavar="A,B",
        help="'default', 'all', or names; see 'orfeon inspect methods'",
    )  # fmt: skip
    group.add_argument(
        "--metric", metavar="M",
        help="metric to choose by: error, balanced_error, log_loss, brier, auc, average_precision, "
        "f1 or mcc for classification; rmse, mae, unexplained, mape or median_error for regression",
    )  # fmt: skip
    group.add_argument(
        "--budget", type=duration, metavar="TIME",
        help="time for the study, final model included: 90s, 2m, 1h30m; default: 1m, or no limit "
        "with --repeats",
    )  # fmt: skip
    group.add_argument(
        "--repeats", type=count, metavar="N",
        help="repetitions of the cross-validation, or number of random splits",
    )  # fmt: skip
    group.add_argument(
        "--design", choices=("cv", "splits"), default="cv",
        help="repeated cross-validation or random splits; default: cv",
    )  # fmt: skip
    group.add_argument(
        "--folds", type=count, default=5, metavar="K", help="number of folds; default: 5"
    )
    group.add_argument(
        "--inner-folds", type=inner_folds, metavar="K",
        help="folds inside each training part, to choose the winner for the estimate; default: 0, "
        "where the other folds choose, or 3 with random splits",
    )  # fmt: skip
    group.add_argument(
        "--test-share", type=share, default=1 / 3, metavar="S",
        help="fraction of rows to test on in a random split; default: 1/3",
    )  # fmt: skip
    group.add_argument(
        "--members",
        type=count,
        metavar="T",
        help="members per ensemble; default: 200, or 99 for IGP",
    )
    group.add_argument(
        "--deployable", choices=("any", "onnx", "single", "small"), default="any",
        help="what to deliver: any model, one that 'orfeon export' takes, a single ensemble, or a "
        "model file of at most 1 MB",
    )  # fmt: skip
    group.add_argument(
        "--latency", type=duration, metavar="TIME",
        help="deliver a model that predicts a row within this time, such as 1ms",
    )  # fmt: skip
    group.add_argument(
        "--grid", type=existing_file, metavar="FILE",
        help="a TOML or JSON file with settings to compare as well: for each method, parameters "
        "and lists of values",
    )  # fmt: skip
    group.add_argument(
        "--cost", type=_costs, metavar="fn=C,fp=C",
        help="what a missed case of the rarer class (fn) and a false alarm (fp) cost, or a CSV "
        "file with a row for each true class and a column for each predicted one: the model "
        "decides by them (not with --design splits or --deployable onnx)",
    )  # fmt: skip
    group.add_argument(
        "--rule", metavar="R",
        help="how to order members: margin_distance (default for classification), reduce_error "
        "(default for regression), boosting_based, complementarity, kappa, orientation...",
    )  # fmt: skip
    group.add_argument(
        "--keep", type=_shares, default=[0.2, 0.4], metavar="S,S",
        help="fractions of the ordered members to keep, or 'none' for no pruning; default: 0.2,0.4",
    )  # fmt: skip
    group.add_argument("--seed", type=seed, default=0, metavar="N", help="random seed; default: 0")


def _add_result_options(group: Any) -> None:
    group.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="output folder; default: orfeon-study/ and the name of the data",
    )
    group.add_argument(
        "--store", metavar="FILE|URL",
        help="where to store runs: an SQLite file or postgresql://...; default: store.db in --out",
    )  # fmt: skip
    group.add_argument(
        "--export",
        type=output_file,
        metavar="FILE",
        help="also write all runs to a .csv or .parquet file",
    )
    group.add_argument(
        "--n-jobs", type=jobs, default=-1, metavar="J",
        help="parallel runs; the results do not depend on it; default: -1, one per core",
    )  # fmt: skip
    group.add_argument(
        "--cluster", metavar="ADDRESS", help="Dask scheduler to run on, such as tcp://host:8786"
    )


def run(options: argparse.Namespace) -> int:
    """Run the study, write its files, and print the comparison."""
    from orfeon.workbench.store import shown_address

    table = read_table(options.data or DEFAULT_DATA, rows=options.rows)
    target = target_of(table, options.target)
    out = options.out or Path("orfeon-study") / _folder_name(table.name)
    _make_folder(out)
    _refuse_other_study(out, table.name)
    store = options.store or str(out / "store.db")
    shown = shown_address(store)
    started = time.perf_counter()
    with ExitStack() as stack:
        display = stack.enter_context(LiveDisplay(f"study of {table.name}", quiet=options.quiet))
        listener = _Listener(display, options.budget, options.repeats)
        cluster = None
        if options.cluster is not None:
            from orfeon.workbench.tasks.cluster import connect

            cluster = stack.enter_context(connect(options.cluster))
        try:
            outcome = _study(options, table, target, store, cluster, listener)
            written = _leave(outcome, out, store, options.export, display)
        except KeyboardInterrupt:
            display.close()
            say(
                f"Stopped. {counted(listener.n_done, 'new run')} kept in {shown}; rerun the "
                "command to resume.",
                quiet=options.quiet,
            )
            raise
    seconds = time.perf_counter() - started
    if options.json:
        print_json(_document(outcome, {**written, "store": shown}, seconds))
    else:
        _print_outcome(outcome, {**written, "store": shown}, seconds)
    return 0


def _folder_name(name: str) -> str:
    """The name of the data as a valid folder name."""
    return re.sub(r"[^\w.-]+", "_", name).strip("._") or "data"


def _refuse_other_study(out: Path, name: str) -> None:
    """Refuse to replace the report and the model of another study."""
    from orfeon.io import ModelFileError, describe

    try:
        about = describe(out / "model.orfeon")["about"] or {}
    except (ModelFileError, OSError, KeyError):
        return
    other = about.get("study") if isinstance(about, dict) else None
    if other not in (None, name):
        raise UserError(
            f"--out {out} already holds the report and the model of another study, {other}: choose "
            "another folder."
        )


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise UserError(f"--out must be a writable folder; {out}: {error.strerror}.") from None


def _study(
    options: argparse.Namespace,
    table: NamedTable,
    target: str,
    store: str,
    cluster: Any,
    listener: _Listener,
) -> StudyOutcome:
    from orfeon.workbench.experiment.grids import read_grid
    from orfeon.workbench.experiment.run import run_study

    test = None if options.test is None else read_table(options.test)
    return run_study(
        table.frame, target, name=table.name, task=options.task, methods=options.methods,
        metric=options.metric, budget="auto" if options.budget is None else options.budget,
        repetitions=options.repeats, compare_rows=options.compare_rows,
        design=options.design, n_folds=options.folds, n_inner_folds=options.inner_folds,
        test_share=options.test_share, rule=options.rule, keep=options.keep,
        members=options.members, deployable=options.deployable, latency=options.latency,
        grid=None if options.grid is None else read_grid(options.grid), costs=options.cost,
        group=options.group, weights=options.weights, time_column=options.time,
        test=None if test is None else test.frame,
        test_name="" if test is None else test.name, drop=options.drop,
        keep_columns=options.use, seed=options.seed, n_jobs=options.n_jobs, cluster=cluster,
        store=store, listener=listener, notes=table.notes,
        command=command_text(options.arguments),
    )  # fmt: skip


class _Listener:
    """Shows the progress of a study on a live display."""

    def __init__(self, display: LiveDisplay, budget: float | None, repeats: int | None) -> None:
        from orfeon.workbench.experiment.bench import Extent

        self._display = display
        self._budget = Extent.of("auto" if budget is None else budget, repeats).budget
        self._started = time.perf_counter()
        self._shown = 0.0
        self.n_done = 0
        if self._budget is not None:
            display.start(self._budget, is_time=True)

    def begin(self, n_runs: int | None, n_stored: int = 0) -> None:
        if n_runs is not None:
            self._budget = None
            self._display.start(n_runs, n_stored)

    def running(self, what: str) -> None:
        self._display.running([what])
        self._move()

    def done(self, key: RunKey, failed: str | None) -> None:
        self.n_done += 1
        if failed is not None:
            self._display.error(f"{key.method}: {failed}")
        if self._budget is None:
            self._display.advance(1, key.method)
        else:
            self._move(f"{counted(self.n_done, 'run')}, last: {key.method}")

    def note(self, text: str) -> None:
        self._display.note(text)

    def _move(self, text: str = "") -> None:
        """Measure progress by time if there is a budget."""
        if self._budget is None:
            return
        elapsed = min(time.perf_counter() - self._started, self._budget)
        self._display.advance(elapsed - self._shown, text)
        self._display.time_left(self._budget - elapsed)
        self._shown = elapsed


def _leave(
    outcome: StudyOutcome, out: Path, store: str, export: Path | None, display: LiveDisplay
) -> dict[str, str]:
    """Write report, model and export; return their paths."""
    from orfeon.workbench.store import Store
    from orfeon.workbench.study import write_study

    display.running(["writing the report"])
    written = write_study(outcome, out)
    if export is not None:
        with Store(store, read_only=True) as opened:
            opened.export(export, f"{outcome.name}-{_digest(outcome)}")
        written["export"] = str(export)
    return written


def _digest(outcome: StudyOutcome) -> str:
    return str(outcome.configuration["digest"])


def _print_outcome(outcome: StudyOutcome, written: dict[str, str], seconds: float) -> None:
    from orfeon.workbench.experiment.verdict import standings

    metric = outcome.metric
    kind = f"{len(outcome.classes):,} classes" if outcome.classes else "numeric"
    print(
        f"{outcome.name}: {outcome.n_rows:,} rows, {counted(outcome.n_features, 'feature')}; "
        f"target {outcome.target}, {kind}; {counted(outcome.n_outer, 'outer fold')}, "
        f"{outcome.n_runs:,} runs.\n"
    )
    columns = [
        "method", outcome.metrics[metric], "95% interval", "rank", "p (Holm)", "members", "fit",
        "predict 1,000",
    ]  # fmt: skip
    found = standings(outcome)
    rows = [_table_row(outcome, candidate, found) for candidate in outcome.candidates]
    chosen = [candidate.name for candidate in outcome.candidates].index(outcome.chosen)
    print_table(columns, rows, to_the_right=range(1, len(columns)), highlight=[chosen])
    print(f"\n{_verdict(outcome)}\n")
    if outcome.tested is not None:
        _print_tested(outcome.task, outcome.tested)
    for note in [*_warnings(outcome), *outcome.notes]:
        print(f"- {note}")
    if outcome.notes or _warnings(outcome):
        print()
    for what, path in written.items():
        print(f"{what:<7} {path}")
    peak = peak_memory()
    used = "" if peak is None else f", peak memory {size_text(peak)}"
    print(f"Finished in {duration_text(seconds)}{used}.")


def _print_tested(task: str, tested: TestScores) -> None:
    from orfeon.workbench.cli.score import metric_rows

    title = f"The model on {tested.n_rows:,} rows of {tested.name}"
    columns = ["metric", "value", "95% interval"]
    print_table(columns, metric_rows(task, tested.scores), title=title, to_the_right={1, 2})
    print()


def _table_row(
    outcome: StudyOutcome, candidate: Candidate, found: Mapping[str, Significance]
) -> list[str]:
    from orfeon.workbench.experiment.verdict import interval_text, score_text, shown_decimals

    metric = outcome.metric
    decimals = shown_decimals(outcome, metric)
    p_value = found[candidate.name].adjusted
    return [
        ("* " if candidate.name == outcome.chosen else "  ") + candidate.title,
        score_text(candidate.mean(metric), metric, decimals),
        interval_text(candidate.interval, metric, decimals),
        f"{candidate.rank:.1f}",
        "" if p_value is None else p_value_text(p_value).removeprefix("p ").removeprefix("= "),
        "" if math.isnan(candidate.members) else f"{candidate.members:.0f}",
        "" if math.isnan(candidate.fit_seconds) else duration_text(candidate.fit_seconds),
        "" if math.isnan(candidate.predict_seconds) else duration_text(candidate.predict_seconds),
    ]


def _warnings(outcome: StudyOutcome) -> list[str]:
    """Warnings of the report that are not among the notes."""
    from orfeon.workbench.report.content import warnings_of

    return [text for text in warnings_of(outcome) if text not in outcome.notes]


def _verdict(outcome: StudyOutcome) -> str:
    from orfeon.workbench.experiment.verdict import verdict

    return "\n".join(filter(None, verdict(outcome)))


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _document(outcome: StudyOutcome, files: dict[str, str], seconds: float) -> dict[str, Any]:
    """The outcome as a JSON document."""
    return {
        "name": outcome.name,
        "task": outcome.task,
        "target": outcome.target,
        "classes": list(outcome.classes),
        "metric": outcome.metric,
        "n_rows": outcome.n_rows,
        "n_features": outcome.n_features,
        "n_studied": outcome.n_studied,
        "n_outer": outcome.n_outer,
        "n_runs": outcome.n_runs,
        "chosen": outcome.chosen,
        "expected": {name: _number(outcome.honest.mean(name)) for name in outcome.metrics},
        "interval": [_number(end) for end in outcome.honest.interval],
        "test": _tested_document(outcome.tested),
        "threshold": _threshold_document(outcome.decision),
        "row_seconds": _number(outcome.row_seconds),
        "candidates": [_candidate_document(outcome, each) for each in outcome.candidates],
        "warnings": _warnings(outcome),
        "notes": list(outcome.notes),
        "configuration": dict(outcome.configuration),
        "files": files,
        "seconds": seconds,
        "peak_memory": peak_memory(),
    }


def _tested_document(tested: TestScores | None) -> dict[str, Any] | None:
    if tested is None:
        return None
    return {
        "name": tested.name,
        "rows": tested.n_rows,
        "rows_of_unknown_classes": tested.n_unknown,
        "rows_seen_in_training": tested.n_seen,
        "metrics": {
            name: {"value": _number(value), "interval": [_number(end) for end in ends]}
            for name, (value, *ends) in tested.scores.items()
        },
    }


def _threshold_document(decision: Decision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    return {
        "positive": decision.positive or None,
        "threshold": decision.threshold,
        "cost": _number(decision.cost),
        "usual_cost": _number(decision.usual_cost),
    }


def _candidate_document(outcome: StudyOutcome, candidate: Candidate) -> dict[str, Any]:
    return {
        "name": candidate.name,
        "title": candidate.title,
        "scores": {name: [_number(x) for x in found] for name, found in candidate.scores.items()},
        "mean": _number(candidate.mean(outcome.metric)),
        "interval": [_number(end) for end in candidate.interval],
        "rank": candidate.rank,
        "p_versus_best": None if candidate.p_versus_best is None
        else _number(candidate.p_versus_best),
        "members": _number(candidate.members),
        "nodes": _number(candidate.nodes),
        "fit_seconds": _number(candidate.fit_seconds),
        "predict_seconds": _number(candidate.predict_seconds),
    }  # fmt: skip
