"""How fast ensembles fit and predict, end to end, and their memory, against other libraries.

Everything goes through ``fit``, ``predict`` and ``predict_proba`` of the public estimators, on one
thread unless said otherwise; test errors beside the times show that the work was the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from benchmarks import contestants, cost_growth, model_size, problems
from benchmarks.contestants import (
    INTEL,
    ORFEON,
    SCIKIT_LEARN,
    YDF,
    Contestant,
    error_of,
    error_of_first,
)
from benchmarks.peers import missing_notices
from benchmarks.problems import Data
from benchmarks.report import Measurement, Target, compare, remarks
from benchmarks.suite import Case, Suite
from benchmarks.timing import Contender, Timing, interleave, one_thread

_TEST_ROWS = 5000
#: From this many rows on, a tree or two are enough to warm up.
_LARGE = 2000
_AHEAD = {YDF: 1.0, INTEL: 1.0}


@dataclass(frozen=True)
class Size:
    """A problem, and how much work is done on it."""

    #: Makes so many rows.
    make: Callable[[int], Data]
    #: Rows of the training set.
    n_rows: int
    #: Trees of an ensemble.
    n_trees: int
    #: How often each contender is timed.
    rounds: int = 5
    #: Trees of a random forest, which take less time.
    n_forest: int | None = None


@dataclass(frozen=True)
class Effort:
    """How much work the cases do."""

    #: Training sets, the smallest first.
    sizes: Sequence[Size]
    #: Trees of the class-switching ensemble.
    n_switched: int = 1000
    #: Trees of the models that predict.
    n_queried: int = 100
    #: Rows predicted.
    n_rows_predicted: int = 10_000
    #: Sizes for the growth of the time.
    growth_rows: Sequence[int] = (2000, 4000, 8000, 16_000, 32_000, 64_000)
    growth_members: Sequence[int] = (50, 100, 200, 400, 800)
    #: Trees when rows grow.
    growth_trees: int = 10
    #: How often each contender is timed.
    rounds: int = 5
    #: Whether peers do a fraction of the work even where they are quick.
    hurried: bool = False


_NARROW = partial(problems.clusters, n_features=20)
_WIDE = partial(problems.clusters, n_features=30)

FULL = Effort(
    (
        Size(problems.waveform, 300, 200),
        Size(_NARROW, 5000, 100),
        Size(_WIDE, 50_000, 20, n_forest=40),
        Size(_WIDE, 100_000, 10, rounds=3, n_forest=20),
    )
)
QUICK = Effort(
    (Size(problems.waveform, 300, 50, rounds=3), Size(_NARROW, 5000, 20, rounds=3)),
    n_queried=20,
    growth_rows=(2000, 4000, 8000),
    growth_members=(50, 100, 200),
    growth_trees=5,
    rounds=3,
    hurried=True,
)


# -- fitting ---------------------------------------------------------------------------------------


class Fitting:
    """What a contestant does in a round: the whole ensemble, or other trees of it each time."""

    def __init__(self, contestant: Contestant, data: Data, n_trees: int) -> None:
        self.contestant = contestant
        self.data = data
        self.n_trees = n_trees
        self.n_timed = contestant.trees_timed(len(data.y), n_trees)
        self.models: list[Any] = []

    def __call__(self) -> None:
        """Fit, and keep the model."""
        whole = self.n_timed == self.n_trees
        if whole:
            self.models.clear()  # its memory is free before the next is made
        model = self.contestant.fit(self.data, self.n_timed, len(self.models))
        self.models.append(model)

    def warm_up(self) -> None:
        """A small fit, which is discarded."""
        few = self.n_trees if len(self.data.y) < _LARGE else min(2, self.n_timed)
        self.contestant.fit(self.data, min(few, self.n_timed), 0)

    def contender(self) -> Contender:
        """To be timed."""
        return Contender(
            self.contestant.name, self, self.n_trees / self.n_timed, self.warm_up,
            self.contestant.in_processes,
        )  # fmt: skip


def _with_errors(
    name: str, measurements: list[Measurement], fittings: Sequence[Fitting], test: Data
) -> list[Measurement]:
    """The measurements, with the test errors of as many trees on both sides."""
    ours = fittings[0].models[-1]
    peers = {fitting.contestant.name: fitting for fitting in fittings}
    lines = []
    for measurement in measurements:
        theirs = peers[str(measurement.peer)]
        models = theirs.models[: max(1, fittings[0].n_trees // theirs.n_timed)]
        n_trees = theirs.n_timed * len(models)
        error = error_of_first(ours, n_trees, test)
        peer_error = error_of(theirs.contestant, models, test)
        note = (
            f"{name}: test error with {n_trees} trees: orfeon {error:.1%}, {measurement.peer} "
            f"{peer_error:.1%}."
        )
        detail = {
            **measurement.detail,
            "test_error": error,
            "peer_test_error": peer_error,
            "trees_compared": n_trees,
        }
        lines.append(replace(measurement, notes=[note, *measurement.notes], detail=detail))
    return lines


def _fit_all(
    who: Sequence[Contestant], size: Size
) -> tuple[Data, Data, list[Fitting], dict[str, Timing]]:
    training, test = problems.with_test(size.make, size.n_rows, _TEST_ROWS)
    fittings = [Fitting(contestant, training, size.n_trees) for contestant in who]
    timings = interleave([fitting.contender() for fitting in fittings], rounds=size.rounds)
    return training, test, fittings, timings


def _targets(limits: Mapping[str, float]) -> dict[str, Target]:
    return {peer: Target("at least", limit, "x") for peer, limit in limits.items()}


def fitting(
    name: str,
    method: Callable[[], list[Contestant]],
    size: Size,
    limits: Mapping[str, float],
) -> list[Measurement]:
    """One method on one training set, on one thread."""
    who = method()
    with one_thread():
        training, test, fittings, timings = _fit_all(who, size)
    measurements = compare(
        name, training.shape, timings, targets=_targets(limits),
        notes={one.name: [one.note] for one in who if one.note},
    )  # fmt: skip
    return _with_errors(name, measurements, fittings, test)


def fitting_in_two(
    name: str, method: Callable[[], list[Contestant]], size: Size, limit: float
) -> list[Measurement]:
    """One method on two threads, with a target in seconds; the peer uses two processes."""
    training, test, fittings, timings = _fit_all(method(), size)
    ours = timings[ORFEON]
    alone = Measurement(
        name, *training.shape, figure=ours.seconds, unit="s", seconds=ours.seconds,
        spread=ours.spread, target=Target("at most", limit, "s"),
        notes=remarks(ORFEON, ours, threads=2), detail={"cores": ours.cores},
    )  # fmt: skip
    beside = compare(name, training.shape, timings, threads=2)
    return [alone, *_with_errors(name, beside, fittings, test)]


# -- predicting ------------------------------------------------------------------------------------


def predicting(name: str, size: Size, effort: Effort) -> list[Measurement]:
    """A batch through random forests, each library through its own trees."""
    training, rows = problems.with_test(size.make, size.n_rows, effort.n_rows_predicted)
    who = contestants.random_forest()
    models = {one.name: one.fit(training, effort.n_queried, 0) for one in who}
    errors = {one.name: error_of(one, [models[one.name]], rows) for one in who}
    answers = ", ".join(f"{library} {error:.1%}" for library, error in errors.items())
    notes = {one.name: [f"{name}, {effort.n_queried} trees: test error: {answers}."] for one in who}
    soft = replace(who[0], predict_proba=lambda model, data: model.mean_supports(data.X))
    queried = {
        "predict": [(one, one.predict) for one in who],
        "predict_proba": [(one, one.predict_proba) for one in who],
        # These peers average the class shares of the leaves, which are orfeon's votes if pure.
        "soft predict_proba": [
            (one, one.predict_proba) for one in (soft, *who[1:]) if one.name != YDF
        ],
    }
    measurements = []
    for what, queries in queried.items():
        contenders = [
            Contender(one.name, partial(query, models[one.name], rows)) for one, query in queries
        ]
        with one_thread():
            timings = interleave(contenders, rounds=effort.rounds)
        measurements += compare(
            name.replace("predict", what, 1), rows.shape, timings, targets=_targets(_AHEAD),
            notes=notes, detail={"errors": errors, "trees": effort.n_queried},
        )  # fmt: skip
    return measurements


# -- the suite -------------------------------------------------------------------------------------

#: Times as fast as scikit-learn, by rows.
_BAGGING = {300: 10.0, 5000: 10.0, 50_000: 10.0}
_FOREST = {300: 5.0, 5000: 5.0, 50_000: 4.0}


def _limits(against_scikit_learn: Mapping[int, float], n_rows: int) -> dict[str, float]:
    limit = against_scikit_learn.get(n_rows)
    return _AHEAD if limit is None else {SCIKIT_LEARN: limit, **_AHEAD}


def suite(quick: bool) -> Suite:
    effort = QUICK if quick else FULL
    cases = []

    def add(name: str, run: Callable[..., list[Measurement]], *arguments: Any) -> None:
        cases.append(Case(name, partial(run, name, *arguments)))

    switched = Size(problems.waveform, 300, effort.n_switched, effort.rounds)
    one = partial(contestants.class_switching, quick=effort.hurried)
    two = partial(contestants.class_switching_in_two, quick=effort.hurried)
    label = f"class-switching, {effort.n_switched} trees"
    add(label, fitting, one, switched, {"scikit-learn trees": 10.0})
    several = (os.cpu_count() or 1) >= 2
    if several:
        add(f"{label}, 2 threads", fitting_in_two, two, switched, 0.6)
    for method, ways, aims in (
        ("bagging", contestants.bagging, _BAGGING),
        ("random forest", contestants.random_forest, _FOREST),
        ("extra trees", contestants.extra_trees, None),
    ):
        for size in effort.sizes:
            limits = {} if aims is None else _limits(aims, size.n_rows)
            n_trees = (method == "random forest" and size.n_forest) or size.n_trees
            name = f"{method}, {n_trees} trees, {size.n_rows} rows"
            add(name, fitting, ways, replace(size, n_trees=n_trees), limits)
    for size in effort.sizes[:3]:
        add(f"predict, trees of {size.n_rows} rows", predicting, size, effort)
    for n_classes, make in ((2, problems.twonorm), (3, problems.waveform)):
        name = f"memory, {n_classes} classes"
        add(name, model_size.classification, make, effort.n_queried)
    for least, kind in ((1, "regression"), (5, "regression, 5 a leaf")):
        add(f"memory, {kind}", model_size.regression, effort.n_queried, least)
    rows, members = effort.growth_rows, effort.growth_members
    add("growth with rows", cost_growth.with_rows, rows, effort.growth_trees, effort.rounds)
    add("growth with members", cost_growth.with_members, members, effort.rounds)
    notices = missing_notices(contestants.compared_peers())
    if not several:
        notices.append("There is one core only: two threads are not measured.")
    return Suite(cases, notices)
