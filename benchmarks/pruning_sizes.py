"""How many members to keep: the automatic size against a fixed fifth and against all members.

``python -m benchmarks sizes`` measures it beside the other suites. The same study as a command of
its own, ``python -m benchmarks.pruning_sizes --out FILE``, writes every finished split to disk
before the next begins, resumes where it was stopped, and prints tables for the user guide.

The rule for the automatic size was designed on the splits 0 to 9 of these problems; it is judged
here on others, from split 100 on.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import orfeon
from benchmarks.report import Measurement, Target
from benchmarks.suite import Case, Suite
from orfeon.datasets import FOLDER_VARIABLE
from orfeon.ordering.order_type import FIFTH, share_of
from orfeon.workbench import PROTOCOLS
from orfeon.workbench.reproduction import (
    Curve,
    PairedDifference,
    Partition,
    Partitions,
    is_synthetic,
    paired_difference,
    published_sizes,
)
from orfeon.workbench.reproduction.measures import codes_with_unseen
from orfeon.workbench.store import RunRow, Store

#: Sizes of the training and test sets, and the seeds of the fits, are those of this table.
TABLE = "martinez-5.8"
#: Name of this study in a store.
NAME = "pruning sizes"
RULE = "margin_distance"
#: The first splits that the rule for the size was not designed on.
FIRST_SPLIT = 100
#: A mean difference counts as a win or a loss beyond this many of its standard errors.
_CLEAR = 2.0

Build = Callable[[int, int], Any]


def _bagging_of_pruned_trees(n_members: int, seed: int) -> Any:
    tree = orfeon.CARTClassifier(pruning="cv")
    return orfeon.BaggingClassifier(tree, n_estimators=n_members, random_state=seed)


def _random_forest(n_members: int, seed: int) -> Any:
    return orfeon.RandomForestClassifier(n_estimators=n_members, random_state=seed)


def _bagging_of_full_trees(n_members: int, seed: int) -> Any:
    tree = orfeon.CARTClassifier()
    return orfeon.BaggingClassifier(tree, n_estimators=n_members, random_state=seed)


def _class_switching(n_members: int, seed: int) -> Any:
    return orfeon.ClassSwitchingClassifier(n_estimators=n_members, random_state=seed)


#: From the number of members and a seed to an ensemble.
ENSEMBLES: dict[str, Build] = {
    "bagging, pruned trees": _bagging_of_pruned_trees,
    "random forest": _random_forest,
    "bagging, unpruned trees": _bagging_of_full_trees,
    "class-switching": _class_switching,
}


@dataclass(frozen=True)
class Outcome:
    """Results of one ensemble on one split.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Curve
    >>> curve = Curve((30, 20, 15, 16, 18), 100)
    >>> outcome = Outcome("random forest", "wine", 100, 3, curve, 0.4)
    >>> outcome.full, outcome.fifth, outcome.auto, outcome.share
    (18.0, 30.0, 15.0, 0.6)
    """

    #: What was trained, and on what.
    ensemble: str
    dataset: str
    #: Number of the split.
    split: int
    #: The automatic size.
    size: int
    #: Test errors of the first 1, 2, ... members in the order found.
    curve: Curve
    #: Time to train, to order and to choose the size.
    seconds: float

    @classmethod
    def read(cls, run: RunRow) -> Outcome:
        """An outcome from what a store keeps of it."""
        where, found = run.configuration, run.result
        curve = Curve(tuple(found["wrong"]), found["n_samples"])
        place = (where["ensemble"], where["dataset"], where["split"])
        return cls(*place, found["size"], curve, run.seconds)

    @property
    def run(self) -> RunRow:
        """The outcome as a store keeps it."""
        return RunRow(
            f"{self.ensemble}/{self.dataset}/{self.split}",
            {"ensemble": self.ensemble, "dataset": self.dataset, "split": self.split},
            PROTOCOLS[TABLE].random_state(self.split),
            {"size": self.size, "wrong": list(self.curve.wrong),
             "n_samples": self.curve.n_samples},
            round(self.seconds, 3),
        )  # fmt: skip

    @property
    def full(self) -> float:
        """Test error of all members, in percent."""
        return self.curve.percent(len(self.curve))

    @property
    def fifth(self) -> float:
        """Test error of the first fifth, in percent."""
        return self.curve.percent(share_of(FIFTH, len(self.curve)))

    @property
    def auto(self) -> float:
        """Test error of the automatic size, in percent."""
        return self.curve.percent(self.size)

    @property
    def share(self) -> float:
        """The automatic size as a share of all members."""
        return self.size / len(self.curve)


def measure(ensemble: str, dataset: str, split: int, members: int, parts: Partition) -> Outcome:
    """Train, order and choose the size on the training set; use the test set once."""
    start = time.perf_counter()
    seed = PROTOCOLS[TABLE].random_state(split)
    fitted = ENSEMBLES[ensemble](members, seed).fit(parts.X_train, parts.y_train)
    order = orfeon.order(fitted, parts.X_train, parts.y_train, rule=RULE)
    size = order.size("auto")
    seconds = time.perf_counter() - start
    y = codes_with_unseen(fitted, parts.y_test)
    wrong = np.rint(order.test_curve_votes(fitted.votes(parts.X_test), y) * len(y)).astype(int)
    curve = Curve(tuple(wrong.tolist()), len(y))
    return Outcome(ensemble, dataset, split, size, curve, seconds)


# -- the splits ------------------------------------------------------------------------------------


@dataclass
class Study:
    """Splits, and the outcomes of ensembles on them."""

    #: Names of the problems.
    datasets: Sequence[str]
    #: Splits of each problem, and members of each ensemble.
    n_splits: int = 20
    members: int = 200
    #: Finished outcomes.
    store: Store = field(default_factory=lambda: Store(":memory:"))
    #: Folder of the real problems; by default that of ``ORFEON_DATA``.
    folder: str | os.PathLike[str] | None = None
    _partitions: dict[str, Partitions] = field(init=False, repr=False, default_factory=dict)
    _known: dict[tuple[str, str, int], Outcome] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._kept = self.store.open_study(
            f"{NAME}, {self.members} members", {"members": self.members}
        )
        found = [Outcome.read(run) for run in self._kept.rows()]
        self._known = {(one.ensemble, one.dataset, one.split): one for one in found}

    def partitions(self, dataset: str) -> Partitions:
        """The splits of a problem."""
        if dataset not in self._partitions:
            sizes = published_sizes(TABLE)
            if dataset not in sizes:
                raise ValueError(f"dataset={dataset!r} is not allowed; use {', '.join(sizes)}.")
            self._partitions[dataset] = Partitions(dataset, sizes[dataset], folder=self.folder)
        return self._partitions[dataset]

    def outcomes(self, ensemble: str, dataset: str) -> list[Outcome]:
        """All splits of one problem; those that are known are not run again."""
        found = []
        for split in range(FIRST_SPLIT, FIRST_SPLIT + self.n_splits):
            place = (ensemble, dataset, split)
            if place not in self._known:
                parts = self.partitions(dataset).draw(split)
                self._known[place] = measure(ensemble, dataset, split, self.members, parts)
                self._kept.put(self._known[place].run)
            found.append(self._known[place])
        return found


# -- what the outcomes say -------------------------------------------------------------------------


class Row(NamedTuple):
    """Means over the splits of one problem, in percent; and differences, in points."""

    dataset: str
    full: float
    fifth: float
    auto: float
    share: float
    from_fifth: PairedDifference
    from_full: PairedDifference
    splits_from_fifth: tuple[int, int, int]
    splits_from_full: tuple[int, int, int]


def row(outcomes: Sequence[Outcome]) -> Row:
    """Summarise the splits of one problem.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Curve
    >>> curves = Curve((30, 20, 15, 16, 18), 100), Curve((30, 24, 28, 24, 30), 100)
    >>> found = row([Outcome("bag", "wine", k, 4, curve, 0.4) for k, curve in enumerate(curves)])
    >>> found.full, found.fifth, found.auto, str(found.from_full), found.splits_from_full
    (24.0, 30.0, 20.0, '-4.00 ± 2.00', (2, 0, 0))
    """
    full, fifth, auto = (
        {one.split: getattr(one, name) for one in outcomes} for name in ("full", "fifth", "auto")
    )
    means = [float(np.mean(list(errors.values()))) for errors in (full, fifth, auto)]
    return Row(
        outcomes[0].dataset,
        full=means[0],
        fifth=means[1],
        auto=means[2],
        share=float(np.mean([one.share for one in outcomes])),
        from_fifth=paired_difference(auto, fifth),
        from_full=paired_difference(auto, full),
        splits_from_fifth=_record([auto[k] - fifth[k] for k in auto]),
        splits_from_full=_record([auto[k] - full[k] for k in auto]),
    )


def _record(differences: Sequence[float]) -> tuple[int, int, int]:
    """How many are below, at and above zero: wins, draws, losses."""
    signs = np.sign(np.round(differences, 9))
    return int((signs < 0).sum()), int((signs == 0).sum()), int((signs > 0).sum())


def clear_record(differences: Sequence[PairedDifference]) -> tuple[int, int, int]:
    """Count problems: what is within two standard errors is a draw.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import PairedDifference
    >>> found = [PairedDifference(-1.0, 0.4, 20), PairedDifference(0.3, 0.2, 20)]
    >>> clear_record(found)
    (1, 1, 0)
    """
    clear = [d.mean if abs(d.mean) > _CLEAR * d.standard_error else 0.0 for d in differences]
    return _record(clear)


def markdown(rows: Sequence[Row]) -> str:
    """The rows as a table for the user guide."""
    lines = [
        "| data set | full | 20% | auto | kept by auto | auto - 20% | auto - full |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {one.dataset} | {one.full:.1f} | {one.fifth:.1f} | {one.auto:.1f} | {one.share:.0%}"
            f" | {one.from_fifth} | {one.from_full} |"
            for one in rows
        ),
    ]
    means = _means(rows)
    lines.append(
        f"| **mean** | {means['full']:.2f} | {means['fifth']:.2f} | {means['auto']:.2f} | "
        f"{means['share']:.0%} | {means['auto'] - means['fifth']:+.2f} | "
        f"{means['auto'] - means['full']:+.2f} |"
    )
    for title, count in (
        ("wins/draws/losses of auto", clear_record),
        ("… whatever the standard error", lambda found: _record([d.mean for d in found])),
    ):
        records = [_slashes(count([getattr(r, n) for r in rows])) for n in _DIFFERENCES]
        lines.append(f"| {title} | | | | | {records[0]} | {records[1]} |")
    by_split = [
        _slashes(tuple(np.sum([getattr(r, f"splits_{n}") for r in rows], axis=0)))
        for n in _DIFFERENCES
    ]
    lines.append(f"| … split by split | | | | | {by_split[0]} | {by_split[1]} |")
    return "\n".join(lines)


_DIFFERENCES = ("from_fifth", "from_full")
#: Shares of the members, in percent, for which errors are shown.
_SHARES = (10, 20, 30, 40, 60, 80, 100)


def shares_markdown(found: Mapping[str, Sequence[Sequence[Outcome]]]) -> str:
    """Mean test errors at several sizes, for each ensemble over all problems, as a table.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Curve
    >>> curves = Curve((30, 20, 15, 16, 18), 100), Curve((30, 24, 28, 24, 30), 100)
    >>> outcomes = [Outcome("bag", "wine", k, 4, curve, 0.4) for k, curve in enumerate(curves)]
    >>> print(shares_markdown({"bag": [outcomes]}).splitlines()[-1])
    | bag | 30.00 | 30.00 | 22.00 | 22.00 | 21.50 | 20.00 | 24.00 | 0/1/0 |
    """
    head = " | ".join(f"{share}%" for share in _SHARES)
    lines = [
        f"| test error with | {head} | 20% against all: wins/draws/losses |",
        "|---" * (len(_SHARES) + 2) + "|",
    ]
    for ensemble, problems in found.items():
        means = []
        for share in _SHARES:
            size = share_of(share / 100, len(problems[0][0].curve))
            means.append(np.mean([[o.curve.percent(size) for o in one] for one in problems]))
        gains = [
            paired_difference({o.split: o.fifth for o in one}, {o.split: o.full for o in one})
            for one in problems
        ]
        cells = " | ".join(f"{mean:.2f}" for mean in means)
        lines.append(f"| {ensemble} | {cells} | {_slashes(clear_record(gains))} |")
    return "\n".join(lines)


def _slashes(record: Sequence[int]) -> str:
    return "/".join(str(int(count)) for count in record)


def _means(rows: Sequence[Row]) -> dict[str, float]:
    names = ("full", "fifth", "auto", "share")
    return {name: float(np.mean([getattr(one, name) for one in rows])) for name in names}


# -- the suite -------------------------------------------------------------------------------------


def one_problem(name: str, study: Study, ensemble: str, dataset: str) -> list[Measurement]:
    outcomes = study.outcomes(ensemble, dataset)
    found = row(outcomes)
    n, d = study.partitions(dataset).draw(FIRST_SPLIT).X_train.shape
    note = (
        f"{name}: all {found.full:.1f}%, a fifth {found.fifth:.1f}%, auto {found.auto:.1f}% with "
        f"{found.share:.0%} of the members; auto - fifth {found.from_fifth}, auto - all "
        f"{found.from_full} points."
    )
    seconds = float(np.median([one.seconds for one in outcomes]))
    detail = {
        "splits": [one.split for one in outcomes],
        "members": study.members,
        **{how: [getattr(one, how) for one in outcomes] for how in ("full", "fifth", "auto")},
        "sizes": [one.size for one in outcomes],
    }
    return [
        Measurement(name, n, d, found.auto / 100, "share", seconds, notes=[note], detail=detail)
    ]


def all_problems(
    name: str, study: Study, ensemble: str, must_pay: bool, n_problems: int
) -> list[Measurement]:
    """The mean over all problems, against that of all members and of a fifth."""
    rows = [row(study.outcomes(ensemble, dataset)) for dataset in study.datasets]
    means = _means(rows)
    measurements = []
    for peer, error, which, promised in (
        ("all members", means["full"], "from_full", must_pay),
        ("a fifth of them", means["fifth"], "from_fifth", False),
    ):
        wins = _slashes(clear_record([getattr(one, which) for one in rows]))
        note = (
            f"{name}: {peer} {error:.2f}%, auto {means['auto']:.2f}% with {means['share']:.0%} of "
            f"the members; wins/draws/losses of auto {wins}."
        )
        measurements.append(
            Measurement(
                name, n_problems, study.n_splits, means["auto"] / 100, "share", peer=peer,
                target=Target("at most", error / 100, "share") if promised else None,
                notes=[note], detail={**means, "record": wins},
            )
        )  # fmt: skip
    return measurements


def _datasets(folder: str | os.PathLike[str] | None) -> list[str]:
    """All problems, or the synthetic ones where no folder of real ones is known."""
    return [name for name in published_sizes(TABLE) if folder or is_synthetic(name)]


def suite(quick: bool) -> Suite:
    folder = os.environ.get(FOLDER_VARIABLE)
    datasets = _datasets(None if quick else folder)
    study = Study(datasets, 2, 50) if quick else Study(datasets)
    notices = [
        f"Test errors in percent; {study.n_splits} splits from number {FIRST_SPLIT} on, "
        f"{study.members} members, rule {RULE}, ordered by the training set."
    ]
    if not quick and not folder:
        notices.append(f"{FOLDER_VARIABLE} is not set: only the synthetic problems.")
    cases = []
    for ensemble in ENSEMBLES:
        for dataset in datasets:
            name = f"{ensemble}, {dataset}"
            cases.append(Case(name, partial(one_problem, name, study, ensemble, dataset)))
        name = f"{ensemble}, mean"
        # Pruning is promised to pay for bags of pruned trees only; two splits prove nothing.
        must_pay = not quick and ensemble == "bagging, pruned trees"
        cases.append(
            Case(name, partial(all_problems, name, study, ensemble, must_pay, len(datasets)))
        )
    return Suite(cases, notices)


# -- the command -----------------------------------------------------------------------------------


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pruning_sizes", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="results store; those found are kept"
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR",
        help=f"folder of the real data sets as CSV files; default: ${FOLDER_VARIABLE}",
    )  # fmt: skip
    parser.add_argument("--splits", type=int, default=20, metavar="N")
    parser.add_argument("--members", type=int, default=200, metavar="T")
    parser.add_argument("--datasets", type=_names, metavar="A,B", help="default: all")
    parser.add_argument(
        "--ensemble", action="append", choices=list(ENSEMBLES), help="default: all; may be repeated"
    )
    options = parser.parse_args(arguments)
    folder = options.data or os.environ.get(FOLDER_VARIABLE)
    datasets = options.datasets or _datasets(folder)
    if options.splits < 2:
        parser.error(f"--splits must be 2 or more, got {options.splits}")
    try:
        store = Store(options.out or ":memory:")
        study = Study(datasets, options.splits, options.members, store, folder)
        for dataset in datasets:  # before anything is trained
            study.partitions(dataset).load()
    except (ValueError, OSError) as error:
        parser.error(str(error))
    found = {}
    for ensemble in options.ensemble or ENSEMBLES:
        found[ensemble] = [study.outcomes(ensemble, dataset) for dataset in datasets]
        rows = [row(outcomes) for outcomes in found[ensemble]]
        print(f"\n**{ensemble}**, {options.members} members, {options.splits} splits\n")
        print(markdown(rows), flush=True)
    print(f"\n**All**\n\n{shares_markdown(found)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
