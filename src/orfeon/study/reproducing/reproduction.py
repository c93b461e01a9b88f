"""Run a published protocol again and set what comes out beside what was published."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from orfeon.study.data import HOW_TO_NAME_IT
from orfeon.study.reproducing.comparison import (
    Comparison,
    PairedDifference,
    comparison_table,
    paired_difference,
    summary,
)
from orfeon.study.reproducing.curve import Curve, best_size
from orfeon.study.reproducing.designs import Problem
from orfeon.study.reproducing.fold_outcome import METRICS, FoldOutcome
from orfeon.study.reproducing.partitions import Partition
from orfeon.study.reproducing.protocols import PROTOCOLS
from orfeon.study.reproducing.published import (
    ERROR,
    Kept,
    PublishedCell,
    config_text,
    published_cells,
    published_folds,
    read_config,
)
from orfeon.study.reproducing.records import Key, Record, RecordStore
from orfeon.study.reproducing.runs import Cell, Protocol, Result, Run

QUICK_SPLITS = 2
QUICK_MEMBERS = 100

#: Called before each fit with the number of fits done, that of all, and what is next.
Progress = Callable[[int, int, str], None]


class NothingToRunError(FileNotFoundError):
    """None of the data sets of a quick run is there.

    Examples
    --------
    >>> from orfeon.study import reproduce
    >>> reproduce("cantador-6.3.1", quick=True, data="no/such/folder")
    Traceback (most recent call last):
    ...
    orfeon.study.reproducing.reproduction.NothingToRunError: Nothing to run: ...
    """


@dataclass(frozen=True)
class Reproduction:
    """Our results for a published table.

    Parameters
    ----------
    cells : tuple of PublishedCell
        The cells asked for.
    records : tuple of Record
        Our results on each split.
    left_out : tuple of str, optional
        Data sets that a quick run went without, as their files are not there.

    Examples
    --------
    >>> from orfeon.study import reproduce
    >>> found = reproduce("martinez-3.2", datasets=["waveform"], n_splits=2)
    >>> len(found.comparisons), found.not_run
    (2, [])
    """

    cells: tuple[PublishedCell, ...]
    records: tuple[Record, ...]
    left_out: tuple[str, ...] = ()

    @cached_property
    def _records_of(self) -> dict[tuple[str, ...], list[Record]]:
        """The records of each cell, in the order of the splits."""
        found: dict[tuple[str, ...], list[Record]] = {}
        for record in sorted(self.records, key=lambda record: record.split):
            found.setdefault(record.key[:4], []).append(record)
        return found

    def _of(self, cell: PublishedCell) -> list[Record]:
        place = (cell.table, cell.dataset, cell.method, config_text(cell.config))
        return self._records_of.get(place, [])

    def kept(self, cell: PublishedCell) -> Kept | None:
        """The size whose mean error over our splits is least.

        Parameters
        ----------
        cell : PublishedCell
            A cell that asks for it.

        Returns
        -------
        Kept or None
            The size; None for a cell that is about one size only.
        """
        curves = [record.curve for record in self._of(cell) if record.curve is not None]
        if not curves:
            return None
        size = best_size(curves)
        return Kept(size, 100.0 * size / len(curves[0]))

    def values(self, cell: PublishedCell) -> dict[int, float]:
        """Our errors or accuracies for a cell, at the best size if the cell asks for it.

        Parameters
        ----------
        cell : PublishedCell
            The cell. With another ``metric`` than the published one, accuracies of that kind.

        Returns
        -------
        dict of int to float
            Percent, by the number of the split, or of the repetition if all its folds are there.
        """
        if cell.metric != ERROR:
            measure = METRICS[cell.metric]
            return {number: measure(folds) for number, folds in self.outcomes(cell).items()}
        kept = self.kept(cell)
        return {
            record.split: record.error
            if kept is None or record.curve is None
            else record.curve.percent(kept.n_classifiers)
            for record in self._of(cell)
        }

    def outcomes(self, cell: PublishedCell) -> dict[int, list[FoldOutcome]]:
        """What is right on the folds of each repetition.

        Parameters
        ----------
        cell : PublishedCell
            A cell of a cross-validation.

        Returns
        -------
        dict of int to list of FoldOutcome
            By the number of the repetition, of those that are complete.
        """
        found: dict[int, list[FoldOutcome]] = {}
        for record in self._of(cell):
            if record.outcome is not None:
                found.setdefault(record.split // cell.n_folds, []).append(record.outcome)
        return {number: folds for number, folds in found.items() if len(folds) == cell.n_folds}

    @property
    def comparisons(self) -> list[Comparison]:
        """The cells that were run, ours beside the published."""
        values = [(cell, list(self.values(cell).values())) for cell in self.cells]
        return [Comparison.of(cell, ours, self.kept(cell)) for cell, ours in values if ours]

    @property
    def not_run(self) -> list[PublishedCell]:
        """The cells of methods that were not run, or of pools larger than those that were."""
        return [cell for cell in self.cells if not self.values(cell)]

    def versus(self, method: str) -> list[tuple[PublishedCell, PairedDifference]]:
        """Compare the other methods with one of them, on the same splits.

        Parameters
        ----------
        method : str
            The method to compare with: its cell of the same settings, or the only one it has.

        Returns
        -------
        list of (PublishedCell, PairedDifference)
            The cells, and their errors or accuracies minus those of ``method``.

        Examples
        --------
        >>> from orfeon.study import reproduce
        >>> found = reproduce("martinez-3.2", datasets=["waveform"], n_splits=2)
        >>> [(str(cell), difference.n_splits) for cell, difference in found.versus("cart")]
        [('waveform igp_tree', 2)]
        """
        rivals: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
        for cell in self.cells:
            if cell.method == method:
                rival = rivals.setdefault((cell.dataset, cell.metric), {})
                rival[config_text(cell.config)] = self.values(cell)
        found = []
        for cell in self.cells:
            alike = rivals.get((cell.dataset, cell.metric), {})
            others = alike.get(config_text(cell.config))
            if others is None and len(alike) == 1:
                (others,) = alike.values()
            values = self.values(cell)
            if cell.method != method and others and len(values.keys() & others.keys()) > 1:
                found.append((cell, paired_difference(values, others)))
        return found

    def __str__(self) -> str:
        comparisons = self.comparisons
        parts = [comparison_table(comparisons), summary(comparisons), *self._notes()]
        conclude = PROTOCOLS[self.cells[0].table].conclude if comparisons else None
        if conclude is not None:
            parts.append(conclude(self))
        return "\n\n".join(parts)

    def _notes(self) -> list[str]:
        """What is not in the table, and what is in doubt there."""
        notes = []
        if self.not_run:
            methods = sorted({cell.method for cell in self.not_run})
            slow = PROTOCOLS[self.cells[0].table].on_request.intersection(methods)
            when = " They are slow and run only when --methods names them." if slow else ""
            notes.append(f"Not run: {len(self.not_run)} cells of {', '.join(methods)}.{when}")
        if self.left_out:
            notes.append(f"Left out, as their data is not there: {', '.join(self.left_out)}.")
        notes += [
            f"In doubt: {cell} is printed as {cell.value}, but {cell.doubt}."
            for cell in self.cells
            if cell.doubt is not None and self.values(cell)
        ]
        return notes


def reproduce(
    table: str,
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    n_splits: int | None = None,
    quick: bool = False,
    data: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Run the protocol of a published table.

    Parameters
    ----------
    table : str
        One of :func:`list_tables`.
    datasets, methods : sequence of str, optional
        Those of the table to run; by default all but the slowest methods.
    n_splits : int, optional
        Number of splits, or of repetitions of a cross-validation; by default as many as published.
    quick : bool, default=False
        Whether to run 2 splits, unless ``n_splits`` says otherwise, and at most 100 members.
        Without ``datasets`` only some of them are run, and of these only those that are there.
    data : path, optional
        Folder of the real data sets, by default that of the environment variable ``ORFEON_DATA``.
    out : path, optional
        File of JSON lines. Results are added to it as they come, and those in it are not run again.
        A fit that also fills cells of other methods or tables writes these with the rest.
    n_jobs : int, optional
        Number of threads of each fit.
    progress : callable, optional
        Called before each fit with the number of fits done, that of all, and what is next.

    Returns
    -------
    Reproduction
        Our figures and the published ones.

    Examples
    --------
    >>> from orfeon.study import reproduce
    >>> found = reproduce("martinez-3.2", datasets=["waveform"], methods=["igp_tree"], n_splits=3)
    >>> [comparison.agrees for comparison in found.comparisons]
    [True]
    """
    cells = published_cells(table)
    protocol = PROTOCOLS[table]
    if n_splits is None:
        n_splits = QUICK_SPLITS if quick else cells[0].n_splits
    if n_splits < 1:
        raise ValueError(f"n_splits must be at least 1, got {n_splits}")
    names = _chosen("datasets", datasets, [cell.dataset for cell in cells])
    asked = _chosen("methods", methods, [cell.method for cell in cells])
    slow = protocol.on_request if methods is None else frozenset()
    runs = _wanted_runs(protocol, [name for name in asked if name not in slow], quick)
    left_out: tuple[str, ...] = ()
    if quick and datasets is None:
        names, left_out = _available(protocol, names, data)
    problems = [protocol.design.problem(table, name, data) for name in names]
    tasks = [
        _Task(protocol, problem, split, run, wanted)
        for split in range(n_splits * published_folds(table))
        for problem in problems
        for run, wanted in runs
    ]
    store = RecordStore(out)
    _run_all([task for task in tasks if not task.is_done(store)], store, n_jobs, progress)
    keys = {key for task in tasks for key in task.wanted_keys()}
    return Reproduction(
        tuple(cell for cell in cells if cell.dataset in names and cell.method in asked),
        tuple(record for record in store if record.key in keys),
        left_out,
    )


def _available(
    protocol: Protocol, names: Sequence[str], data: str | os.PathLike[str] | None
) -> tuple[list[str], tuple[str, ...]]:
    """The data sets of a quick run, and those of them whose files are not there."""
    wanted = [name for name in names if name in (protocol.quick_datasets or names)]
    table, design = protocol.table, protocol.design
    there = [name for name in wanted if design.problem(table, name, data).is_available()]
    if not there:
        raise NothingToRunError(
            f"Nothing to run: none of the data sets {', '.join(wanted)} is there. {HOW_TO_NAME_IT}"
        )
    return there, tuple(name for name in wanted if name not in there)


def _wanted_runs(
    protocol: Protocol, methods: Sequence[str], quick: bool
) -> list[tuple[Run, tuple[Cell, ...]]]:
    """The fits that fill cells asked for, and these cells."""
    found = []
    for whole in protocol.runs:
        run = whole.at_most(QUICK_MEMBERS) if quick else whole
        wanted = tuple(
            cell for cell in run.cells if cell.table == protocol.table and cell.method in methods
        )
        if wanted:
            found.append((run, wanted))
    return found


@dataclass(frozen=True)
class _Task:
    """One fit on one split, and those of its cells that were asked for."""

    protocol: Protocol
    problem: Problem
    split: int
    run: Run
    wanted: tuple[Cell, ...]

    def __str__(self) -> str:
        return f"{self.problem.name} {self.problem.describe(self.split)} {self.run.name}"

    def wanted_keys(self) -> list[Key]:
        """The keys of the records that were asked for."""
        return [
            (cell.table, self.problem.name, cell.method, cell.config, self.run.members, self.split)
            for cell in self.wanted
        ]

    def is_done(self, store: RecordStore) -> bool:
        return all(key in store for key in self.wanted_keys())

    def records(self, partition: Partition, n_jobs: int | None) -> list[Record]:
        """Fit and fill all cells, asked for or not: it is the fit that costs."""
        start = time.perf_counter()
        model = self.run.build(self.run.members, self.protocol.random_state(self.split), n_jobs)
        with warnings.catch_warnings():
            if self.run.expected_warning is not None:
                warnings.filterwarnings("ignore", message=self.run.expected_warning)
            model.fit(partition.X_train, partition.y_train)
            results = self.run.measure(model, partition)
        seconds = round(time.perf_counter() - start, 4)
        return [self._record(cell, results[cell], seconds) for cell in self.run.cells]

    def _record(self, cell: Cell, result: Result, seconds: float) -> Record:
        curve = result if isinstance(result, Curve) else None
        outcome = result if isinstance(result, FoldOutcome) else None
        return Record(
            cell.table, self.problem.name, cell.method, read_config(cell.config), self.run.members,
            self.split, _error(result), seconds, curve, outcome,
        )  # fmt: skip


def _error(result: Result) -> float:
    """The error of all members, in percent."""
    if isinstance(result, Curve):
        return result.percent(len(result))
    return result.error if isinstance(result, FoldOutcome) else result


def _run_all(
    tasks: Sequence[_Task], store: RecordStore, n_jobs: int | None, progress: Progress | None
) -> None:
    """Run the tasks in order: all methods on a split before the next split is drawn."""
    for task in tasks:
        task.problem.load()  # so that a missing file is met before hours of work
    drawn: tuple[str, int] | None = None
    for number, task in enumerate(tasks):
        if progress is not None:
            progress(number, len(tasks), str(task))
        if drawn != (task.problem.name, task.split):
            drawn = (task.problem.name, task.split)
            partition = task.problem.draw(task.split)
        found = task.records(partition, n_jobs)
        store.add([record for record in found if record.key not in store])


def _chosen(what: str, wanted: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Names asked for, each once, in the table's order; all of them when None."""
    names = list(dict.fromkeys(known))
    unknown = [name for name in wanted or [] if name not in names]
    if unknown:
        raise ValueError(f"{what} must be among {', '.join(names)}, got {', '.join(unknown)}")
    return names if wanted is None else [name for name in names if name in wanted]
