"""How fast boosted ensembles fit and predict, end to end, against other libraries.

Times are those of a whole ``fit`` of the public estimators. Each round of boosting waits for the
one before, so the notes give how many rounds each library ran, and its test error after the same
number.

AdaBoost and gradient boosting of exact trees have targets against scikit-learn's. Gradient boosting
of binned trees is held against scikit-learn's, on one thread and on two; LightGBM and XGBoost are
shown beside, where they are installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import boosting_peers, gradient_peers
from benchmarks.boosting_peers import Answers, Booster
from benchmarks.contestants import ORFEON, SCIKIT_LEARN
from benchmarks.ensembles import Fitting
from benchmarks.problems import Data
from benchmarks.report import Measurement, Target, compare, remarks
from benchmarks.suite import Case, Suite
from benchmarks.timing import Contender, Timing, interleave, one_thread

_ROOT = Path(__file__).resolve().parents[1]
_MEGABYTE = 1e6
_TEST_ROWS = 5000
#: With fewer rows a fit is so short that it is timed more often.
_FEW_ROWS = 2000
#: Times as fast as scikit-learn's AdaBoost.
_ADABOOST = {SCIKIT_LEARN: Target("at least", 12.0, "x")}
#: Times as fast as scikit-learn's gradient boosting of exact trees.
_GRADIENT = {SCIKIT_LEARN: Target("at least", 5.0, "x")}
#: At most 1.5 times the time of scikit-learn's gradient boosting of binned trees.
_HISTOGRAM = {SCIKIT_LEARN: Target("at least", 1 / 1.5, "x")}

Problem = Callable[[int, int], tuple[Data, Data]]


@dataclass(frozen=True)
class Effort:
    """The amount of work in each case."""

    #: Members of AdaBoost by the rows of the training set.
    stumps: Mapping[int, int] = field(default_factory=lambda: {300: 100, 5000: 100, 50_000: 50})
    depth_5: Mapping[int, int] = field(default_factory=lambda: {300: 100, 5000: 50, 50_000: 50})
    full_trees: Mapping[int, int] = field(default_factory=lambda: {300: 50, 5000: 20, 50_000: 5})
    #: Rounds of gradient boosting of exact trees by the rows of the training set.
    gradient: Mapping[int, int] = field(default_factory=lambda: {300: 100, 5000: 100, 50_000: 100})
    #: Rows of the training set and rounds of gradient boosting of binned trees.
    histogram: tuple[int, int] = (50_000, 100)
    #: Members of the models that predict.
    n_queried: int = 100
    #: Rows predicted.
    n_rows_predicted: int = 10_000
    #: How often each contender is timed.
    rounds: int = 5
    #: How many times as often on few rows.
    often: int = 3
    #: Whether memory, and numbers on two threads, are left out.
    hurried: bool = False


FULL = Effort()
QUICK = Effort(
    stumps={300: 50, 5000: 40},
    depth_5={300: 50, 5000: 10},
    full_trees={300: 20, 5000: 5},
    gradient={300: 50, 5000: 10},
    histogram=(50_000, 10),
    n_queried=20,
    rounds=3,
    often=2,
    hurried=True,
)


# -- how models err --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loss:
    """The loss on the test set."""

    #: What it is called.
    name: str
    #: Takes predictions and true values; returns a number.
    of: Callable[[Answers, Answers], float]
    #: Writes that number.
    text: Callable[[float], str]


def _log_loss(answers: Answers, y: Answers) -> float:
    of_truth = np.where(y == 1, answers, 1.0 - answers)
    return float(-np.mean(np.log(np.maximum(of_truth, np.finfo(float).tiny))))


ERROR = Loss("test error", lambda answers, y: float(np.mean(answers != y)), "{:.1%}".format)
LOG_LOSS = Loss("test log-loss", _log_loss, "{:.4f}".format)
SQUARED_ERROR = Loss(
    "mean squared test error",
    lambda answers, y: float(np.mean((answers - y) ** 2)),
    "{:.4f}".format,
)


@dataclass(frozen=True)
class Method:
    """A way to boost, on a problem."""

    #: Returns the libraries, orfeon first.
    who: Callable[[], list[Booster]]
    #: Makes a training set and a test set.
    problem: Problem
    #: By peer.
    targets: Mapping[str, Target] = field(default_factory=dict)
    #: The loss of the models.
    loss: Loss = ERROR
    #: Threads of each library.
    n_threads: int = 1
    #: What a reader must know.
    note: str = ""


# -- fitting ---------------------------------------------------------------------------------------


def _with_rounds(
    measurement: Measurement, ours: Fitting, theirs: Fitting, test: Data, loss: Loss
) -> Measurement:
    """A measurement with the rounds of each library, and the losses after the same number."""
    who, peer = ours.contestant, theirs.contestant
    assert isinstance(who, Booster)
    assert isinstance(peer, Booster)
    model, peer_model = ours.models[-1], theirs.models[-1]
    ran, peer_ran = who.n_rounds(model), peer.n_rounds(peer_model)
    n_rounds = min(ran, peer_ran)
    losses = [
        loss.of(one.answers(fitted, test, n_rounds), test.y)
        for one, fitted in ((who, model), (peer, peer_model))
    ]
    answers = [f"{one.name} {loss.text(x)}" for one, x in zip((who, peer), losses, strict=True)]
    note = f"{measurement.case}: {loss.name} after {n_rounds} rounds: {', '.join(answers)}."
    notes = [note, *measurement.notes]
    # A fraction of the rounds is scaled up as if none of them were left out.
    alike = ran * theirs.n_timed == peer_ran * ours.n_timed
    if not alike:
        notes.insert(
            0,
            f"{measurement.case}: orfeon ran {ran} of {ours.n_timed} rounds, {peer.name} "
            f"{peer_ran} of {theirs.n_timed}: not the same work, so no target is held against it.",
        )
    detail = {
        **measurement.detail, "rounds_run": ran, "peer_rounds_run": peer_ran,
        "rounds_compared": n_rounds, "loss": losses[0], "peer_loss": losses[1],
    }  # fmt: skip
    target = measurement.target if alike else None
    return replace(measurement, notes=notes, target=target, detail=detail)


def _about_peer(measurement: Measurement, timing: Timing, n_threads: int) -> Measurement:
    """Remarks on a peer that may use as many threads as orfeon."""
    name = str(measurement.peer)
    of_one = remarks(name, timing)
    kept = [note for note in measurement.notes if note not in of_one]
    return replace(measurement, notes=[*kept, *remarks(name, timing, n_threads)])


def fitting(
    name: str, method: Method, n_rows: int, n_members: int, rounds: int
) -> list[Measurement]:
    """Fit one method on one training set."""
    training, test = method.problem(n_rows, _TEST_ROWS)
    who = method.who()
    fittings = {one.name: Fitting(one, training, n_members) for one in who}
    with threadpool_limits(limits=method.n_threads):
        timings = interleave([one.contender() for one in fittings.values()], rounds=rounds)
    notes = {one.name: [note for note in (method.note, one.note) if note] for one in who}
    lines = compare(
        name, training.shape, timings, targets=method.targets, notes=notes,
        threads=method.n_threads,
    )  # fmt: skip
    ours = fittings[who[0].name]
    found = []
    for line in lines:
        peer = str(line.peer)
        seen = _about_peer(line, timings[peer], method.n_threads)
        found.append(_with_rounds(seen, ours, fittings[peer], test, method.loss))
    return found


# -- memory ----------------------------------------------------------------------------------------


def _boost_in_a_process(library: str, *sizes: int) -> dict[str, float]:
    """The result of :mod:`benchmarks.one_boost`."""
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.one_boost", library, *map(str, sizes)],
        cwd=_ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return answer


def memory(name: str, n_rows: int, n_features: int, n_rounds: int) -> list[Measurement]:
    """Peak memory of a fit of binned trees beside its data, each in a fresh process."""
    sizes = n_rows, n_features, n_rounds
    answers = {library: _boost_in_a_process(library, *sizes) for library in (ORFEON, SCIKIT_LEARN)}
    if any("before" not in one for one in answers.values()):
        return []
    most = {library: one["peak"] - one["before"] for library, one in answers.items()}
    text = ", ".join(f"{library} {more / _MEGABYTE:.0f} MB" for library, more in most.items())
    return [
        Measurement(
            name, n_rows, n_features, most[ORFEON] / most[SCIKIT_LEARN], "share",
            peer=SCIKIT_LEARN, detail=answers,
            notes=[f"{name}: at most, beside the data: {text}."],
        )
    ]  # fmt: skip


# -- predicting ------------------------------------------------------------------------------------


def predicting(
    name: str, who: Sequence[Booster], problem: Problem, n_rows: int, effort: Effort
) -> list[Measurement]:
    """Predict a batch of rows with fitted models, on one thread."""
    training, rows = problem(n_rows, effort.n_rows_predicted)
    with one_thread():
        models = {one.name: one.fit(training, effort.n_queried, 0) for one in who}
        contenders = [
            Contender(one.name, partial(one.predict, models[one.name], rows)) for one in who
        ]
        timings = interleave(contenders, rounds=effort.rounds)
    members = {one.name: one.n_rounds(models[one.name]) for one in who}
    return compare(name, rows.shape, timings, detail={"members": members})


# -- the suite -------------------------------------------------------------------------------------


#: Features of the problems for binned trees.
_WIDE = 30
_FEW_VALUES = (
    "Full trees on features of few values are a weak spot: sorting is cheap there for all, "
    "so that less is gained by sorting once. No target is held against it."
)
_ONE_ROUND = "The first full tree makes no error here, so that one tree is all that is timed."

#: What is predicted: whether classes, and what models are judged by.
_KINDS = {"classes": (True, LOG_LOSS), "numbers": (False, SQUARED_ERROR)}

Load = tuple[str, Method, Mapping[int, int]]


def _adaboost(effort: Effort) -> list[Load]:
    """AdaBoost of small trees and of large ones."""
    clean, contradicting = boosting_peers.two_clusters, boosting_peers.contradicting_clusters
    few_values: Problem = partial(contradicting, rounded=True)
    stumps, depth_5 = boosting_peers.adaboost_stumps, boosting_peers.adaboost_depth_5
    full = boosting_peers.adaboost_full_trees
    return [
        ("AdaBoost, stumps", Method(stumps, clean, _ADABOOST), effort.stumps),
        ("AdaBoost, depth 5", Method(depth_5, clean, _ADABOOST), effort.depth_5),
        ("AdaBoost, full trees", Method(full, contradicting, _ADABOOST), effort.full_trees),
        ("AdaBoost, few values", Method(full, few_values, note=_FEW_VALUES), effort.full_trees),
        ("AdaBoost, one round", Method(full, clean, note=_ONE_ROUND), effort.full_trees),
    ]


def _gradient(effort: Effort) -> list[Load]:
    """Gradient boosting of exact trees."""
    return [
        (
            f"gradient boosting, {kind}",
            Method(
                partial(gradient_peers.exact, classes=classes),
                gradient_peers.problem(classes=classes), _GRADIENT, loss,
            ),
            effort.gradient,
        )
        for kind, (classes, loss) in _KINDS.items()
    ]  # fmt: skip


def _histogram(n_threads: int) -> dict[str, Method]:
    """Gradient boosting of binned trees."""
    return {
        kind: Method(
            partial(gradient_peers.binned, classes=classes, n_threads=n_threads),
            gradient_peers.problem(classes=classes, n_features=_WIDE), _HISTOGRAM, loss,
            n_threads, "The target against scikit-learn is at most 1.5 times its time.",
        )
        for kind, (classes, loss) in _KINDS.items()
    }  # fmt: skip


def suite(quick: bool) -> Suite:
    """The cases of boosting."""
    effort = QUICK if quick else FULL
    cases = []

    def add(name: str, run: Callable[..., list[Measurement]], *arguments: Any) -> None:
        cases.append(Case(name, partial(run, name, *arguments)))

    loads: Mapping[int, int]
    for label, method, loads in (*_adaboost(effort), *_gradient(effort)):
        for n_rows, n_members in loads.items():
            rounds = effort.rounds * (effort.often if n_rows < _FEW_ROWS else 1)
            add(f"{label}, {n_rows} rows", fitting, method, n_rows, n_members, rounds)
    several = (os.cpu_count() or 1) >= 2
    in_two = [] if not several else ["classes"] if effort.hurried else [*_KINDS]
    for label, n_threads, kinds in (("1 thread", 1, [*_KINDS]), ("2 threads", 2, in_two)):
        for kind in kinds:
            name, method = f"histogram, {kind}, {label}", _histogram(n_threads)[kind]
            add(name, fitting, method, *effort.histogram, effort.rounds)
    if not effort.hurried:
        n_rows, n_members = effort.histogram
        add("histogram, memory", memory, n_rows, _WIDE, n_members)
    clean = boosting_peers.two_clusters
    for label, who in (
        ("AdaBoost, stumps", boosting_peers.adaboost_stumps),
        ("AdaBoost, depth 5", boosting_peers.adaboost_depth_5),
        ("gradient boosting", partial(gradient_peers.exact, classes=True)),
        ("histogram", partial(gradient_peers.binned, classes=True)),
    ):
        add(f"predict, {label}", predicting, who(), clean, 5000, effort)
    notices = gradient_peers.missing_notices()
    if not several:
        notices.append("There is one core only: two threads are not measured.")
    return Suite(cases, notices)
