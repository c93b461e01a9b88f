"""Run a published protocol: every fit that is not in the store yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from orfeon.datasets.folder import FOLDER_VARIABLE
from orfeon.errors import UserError
from orfeon.workbench.experiment.engine import Engine
from orfeon.workbench.reproduction.plan import Fit, Plan, Request, make_plan
from orfeon.workbench.reproduction.protocols import PROTOCOLS, find_protocol
from orfeon.workbench.reproduction.reproduction import Reproduction
from orfeon.workbench.reproduction.results import Cell, Record, records_of
from orfeon.workbench.reproduction.splits import Partition, Problem
from orfeon.workbench.reproduction.study import Variant
from orfeon.workbench.store import RunRow, Store, StoredStudy

#: Called as fits begin and end: with the number of fits done, that of all, and the latest begun.
Progress = Callable[[int, int, str], None]


def reproduce(
    table: str,
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    n_splits: int | None = None,
    quick: bool = False,
    models: str = "orfeon",
    settings: str = "published",
    n_samples: int | None = None,
    folds: bool = False,
    data: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
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
        Whether to run 2 splits, unless ``n_splits`` is given, and at most 100 members.
        Without ``datasets`` only some of them are run, and of these only those that are available.
    models : {"orfeon", "scikit-learn"}, default="orfeon"
        In Recarey's studies: whose trees, ensembles and stacks are run. Other models are
        scikit-learn's either way.
    settings : {"published", "tuned"}, default="published"
        In Recarey's studies: whether settings are those of the document, or chosen by grid search.
    n_samples : int, optional
        In Recarey's studies: how many samples are drawn from the file.
    folds : bool, default=False
        In Recarey's studies: whether to score the models on folds of the training part, too, as
        their box plots do.
    data : path, optional
        Folder of the real data sets, by default that of the environment variable ``ORFEON_DATA``.
    store : path or URL, optional
        Where finished fits are kept (see :class:`orfeon.workbench.store.Store`): each is there
        before the next begins, and those that are there are not run again. Tables of the same fits
        share them. By default nothing is kept.
    n_jobs : int, optional
        Number of fits at once, each with one thread, or -1 for as many as there are cores. Results
        do not depend on it. Fits that are timed are run one by one.
    progress : callable, optional
        Called as fits begin and end, with the number of fits done, that of all, and the latest
        that was begun.

    Returns
    -------
    Reproduction
        Our figures and the published ones.

    Examples
    --------
    >>> from orfeon.workbench import reproduce
    >>> found = reproduce("martinez-3.2", datasets=["waveform"], methods=["igp_tree"], n_splits=3)
    >>> [comparison.agrees for comparison in found.comparisons]
    [True]
    """
    variant = Variant(models, settings, n_samples, folds)
    plan = make_plan(Request(table, datasets, methods, n_splits, quick, variant, data))
    family = plan.protocol.family
    with Store(":memory:" if store is None else store) as opened:
        study = opened.open_study(f"reproduce {family}", {"what": "reproduction", "seeds": family})
        engine = Engine(study, 1 if plan.protocol.is_timed else n_jobs)
        missing = engine.missing(plan.fits)
        rows = [row for row in study.rows() if row.key in plan.keys]
        _check_settings(plan, rows, missing)
        if missing:
            digests = _digests(missing, study)
            worker = _Worker(plan.protocol.table, variant, _folder(data), digests)
            shown = _Shown(len(missing), engine.n_jobs in (None, 1), progress)
            tickets = map(_Ticket.of, missing)
            engine.run(worker, tickets, begun=shown.begun, done=shown.done)
            rows = [row for row in study.rows() if row.key in plan.keys]
    table, records = plan.protocol.table, _records(plan, rows)
    return Reproduction(plan.cells, records, plan.left_out, table, plan.reduced, variant)


def _check_settings(plan: Plan, rows: Sequence[RunRow], missing: Sequence[Fit]) -> None:
    """Find stored runs of other settings, such as defaults that have changed since.

    Otherwise results of two settings would be averaged. A method whose runs are complete is shown
    as it was run.
    """
    unfinished = {fit.run.name for fit in missing}
    fits = {fit.key: fit for fit in plan.fits if fit.run.name in unfinished}
    for row in rows:
        changed = fits[row.key].changed_settings(row) if row.key in fits else ""
        if changed:
            raise UserError(
                f"The store has runs of {fits[row.key].run.name} with {changed}: choose another "
                "store (--out) to run it with the current settings."
            )


def _records(plan: Plan, rows: Sequence[RunRow]) -> tuple[Record, ...]:
    """The wanted results of the fits, split by split, in the order of the plan."""
    place = {fit.key: number for number, fit in enumerate(plan.fits)}
    return tuple(
        record
        for row in sorted(rows, key=lambda row: place[row.key])
        for record in records_of(row)
        if Cell(record.table, record.method, record.key[3]) in plan.wanted
    )


class _Ticket(NamedTuple):
    """The name of a fit; another process makes it from that."""

    key: str
    shown: str
    dataset: str
    run: str
    members: int
    split: int

    @classmethod
    def of(cls, fit: Fit) -> _Ticket:
        run = fit.run
        return cls(fit.key, str(fit), fit.problem.name, run.name, run.members, fit.split)


@dataclass
class _Shown:
    """Progress as fits begin and end; of fits one by one, only as they begin."""

    n_all: int
    is_serial: bool
    progress: Progress | None
    n_done: int = 0
    latest: str = ""

    def begun(self, ticket: _Ticket) -> None:
        self.latest = ticket.shown
        self._show()

    def done(self, row: RunRow) -> None:
        self.n_done += 1
        if not self.is_serial:
            self._show()

    def _show(self) -> None:
        if self.progress is not None:
            self.progress(self.n_done, self.n_all, self.latest)


def _folder(data: str | os.PathLike[str] | None) -> str | None:
    folder = data or os.environ.get(FOLDER_VARIABLE)
    return os.path.abspath(folder) if folder else None


def _digests(fits: Sequence[Fit], study: StoredStudy) -> tuple[tuple[str, str | None], ...]:
    """Find a missing file before hours of work, and one that has changed since earlier runs.

    Results from two versions of a file would be averaged otherwise.
    """
    digests = []
    for name, problem in {fit.problem.name: fit.problem for fit in fits}.items():
        problem.load()
        digest = problem.digest()
        if digest is not None and study.note(f"data of {name}", digest) != digest:
            raise UserError(
                f"the data of {name} has changed since the results in the store were computed: "
                "choose another store, or restore the file."
            )
        digests.append((name, digest))
    return tuple(digests)


@dataclass(frozen=True)
class _Worker:
    """Makes a fit from its name and runs it, in this process or another."""

    table: str
    variant: Variant
    folder: str | None
    digests: tuple[tuple[str, str | None], ...]

    def __call__(self, ticket: _Ticket) -> RunRow:
        protocol = find_protocol(self.table, self.variant)
        digest = dict(self.digests)[ticket.dataset]
        known = (*protocol.runs, *protocol.quick_runs)
        (whole,) = [run for run in known if run.name == ticket.run]
        run = whole.at_most(ticket.members)
        drawn = tuple(run.drawn.items())
        problem = _problem(self.table, ticket.dataset, self.folder, digest, drawn)
        fit = Fit(protocol, problem, ticket.split, run, run.cells)
        return fit.perform(
            _draw(self.table, ticket.dataset, self.folder, digest, drawn, ticket.split)
        )


_Drawn = tuple[tuple[str, str], ...]


# Read and drawn once for all methods; the digest is there so that a changed file is read again.
@lru_cache(maxsize=32)
def _problem(
    table: str, dataset: str, folder: str | None, digest: str | None, drawn: _Drawn
) -> Problem:
    protocol = PROTOCOLS[table]
    return protocol.design.problem(protocol.source, dataset, folder, dict(drawn))


@lru_cache(maxsize=2)
def _draw(
    table: str, dataset: str, folder: str | None, digest: str | None, drawn: _Drawn, split: int
) -> Partition:
    return _problem(table, dataset, folder, digest, drawn).draw(split)
