"""How fast boosted ensembles are fitted and asked, end to end, against other libraries.

Times are those of a whole ``fit`` of the public estimators. Boosting is a chain of rounds, each
waiting for the one before; so it is told how many rounds each library ran, and how it errs on a
test set after as many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks import boosting_peers
from benchmarks.boosting_peers import Answers, Booster
from benchmarks.contestants import SCIKIT_LEARN
from benchmarks.ensembles import Fitting
from benchmarks.problems import Data
from benchmarks.report import Measurement, Target, compare
from benchmarks.suite import Case, Suite
from benchmarks.timing import Contender, interleave, one_thread

_TEST_ROWS = 5000
#: Times as fast as scikit-learn's AdaBoost.
_ADABOOST = {SCIKIT_LEARN: Target("at least", 12.0, "x")}

Problem = Callable[[int, int], tuple[Data, Data]]


@dataclass(frozen=True)
class Effort:
    """How much work the cases do.

    Parameters
    ----------
    stumps, depth_5, full_trees : mapping of int to int
        Members of AdaBoost by the rows of the training set.
    n_asked : int
        Members of the models that predict.
    n_rows_asked : int
        Rows predicted.
    rounds : int
        How often each contender is timed.
    """

    stumps: Mapping[int, int] = field(default_factory=lambda: {300: 100, 5000: 100, 50_000: 50})
    depth_5: Mapping[int, int] = field(default_factory=lambda: {300: 100, 5000: 50, 50_000: 50})
    full_trees: Mapping[int, int] = field(default_factory=lambda: {300: 50, 5000: 20, 50_000: 5})
    n_asked: int = 100
    n_rows_asked: int = 10_000
    rounds: int = 5


FULL = Effort()
QUICK = Effort(
    stumps={300: 50, 5000: 20},
    depth_5={300: 50, 5000: 10},
    full_trees={300: 20, 5000: 5},
    n_asked=20,
    rounds=3,
)


# -- how models err --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loss:
    """What models are judged by on the test set.

    Parameters
    ----------
    name : str
        What it is called.
    of : callable
        Takes answers and the truth; gives a number.
    text : callable
        Writes that number.
    """

    name: str
    of: Callable[[Answers, Answers], float]
    text: Callable[[float], str]


ERROR = Loss("test error", lambda said, y: float(np.mean(said != y)), "{:.1%}".format)


# -- fitting ---------------------------------------------------------------------------------------


def _told(
    measurement: Measurement, ours: Fitting, theirs: Fitting, test: Data, loss: Loss
) -> Measurement:
    """A measurement with the rounds that were run, and with the losses after as many."""
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
    said = [f"{one.name} {loss.text(x)}" for one, x in zip((who, peer), losses, strict=True)]
    note = f"{measurement.case}: {loss.name} after {n_rounds} rounds: {', '.join(said)}."
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


def fitting(
    name: str,
    who: Sequence[Booster],
    problem: Problem,
    n_rows: int,
    n_members: int,
    rounds: int,
    targets: Mapping[str, Target],
    loss: Loss = ERROR,
) -> list[Measurement]:
    """Fit one method on one training set, on one thread.

    Parameters
    ----------
    name : str
        The case.
    who : sequence of Booster
        Who takes part, orfeon first.
    problem : callable
        Makes a training set and a test set.
    n_rows, n_members : int
        Rows of the training set, and members that are asked for.
    rounds : int
        How often each is timed.
    targets : mapping of str to Target
        By peer.
    loss : Loss
        What the models are judged by.

    Returns
    -------
    list of Measurement
        One for each peer.
    """
    training, test = problem(n_rows, _TEST_ROWS)
    fittings = {one.name: Fitting(one, training, n_members) for one in who}
    with one_thread():
        timings = interleave([one.contender() for one in fittings.values()], rounds=rounds)
    notes = {one.name: [one.note] for one in who if one.note}
    lines = compare(name, training.shape, timings, targets=targets, notes=notes)
    ours = fittings[who[0].name]
    return [_told(line, ours, fittings[str(line.peer)], test, loss) for line in lines]


# -- predicting ------------------------------------------------------------------------------------


def predicting(
    name: str, who: Sequence[Booster], problem: Problem, n_rows: int, effort: Effort
) -> list[Measurement]:
    """Ask fitted models about a batch of rows, on one thread.

    Parameters
    ----------
    name : str
        The case.
    who : sequence of Booster
        Who takes part, orfeon first.
    problem : callable
        Makes a training set and the batch.
    n_rows : int
        Rows of the training set.
    effort : Effort
        Members and rows of the batch.

    Returns
    -------
    list of Measurement
        One for each peer.
    """
    training, rows = problem(n_rows, effort.n_rows_asked)
    models = {one.name: one.fit(training, effort.n_asked, 0) for one in who}
    contenders = [Contender(one.name, partial(one.predict, models[one.name], rows)) for one in who]
    with one_thread():
        timings = interleave(contenders, rounds=effort.rounds)
    members = {one.name: one.n_rounds(models[one.name]) for one in who}
    return compare(name, rows.shape, timings, detail={"members": members})


# -- the suite -------------------------------------------------------------------------------------


def suite(quick: bool) -> Suite:
    """The cases of boosting.

    Parameters
    ----------
    quick : bool
        Whether there is less work.

    Returns
    -------
    Suite
        The cases.
    """
    effort = QUICK if quick else FULL
    cases = []

    def add(name: str, run: Callable[..., list[Measurement]], *arguments: Any) -> None:
        cases.append(Case(name, partial(run, name, *arguments)))

    clean, contradicting = boosting_peers.two_clusters, boosting_peers.contradicting_clusters
    few_values: Problem = partial(contradicting, rounded=True)
    full_trees = boosting_peers.adaboost_full_trees
    for label, who, problem, loads, targets in (
        ("stumps", boosting_peers.adaboost_stumps, clean, effort.stumps, _ADABOOST),
        ("depth 5", boosting_peers.adaboost_depth_5, clean, effort.depth_5, _ADABOOST),
        ("full trees", full_trees, contradicting, effort.full_trees, _ADABOOST),
        ("few values", full_trees, few_values, effort.full_trees, _ADABOOST),
        ("one round", full_trees, clean, effort.full_trees, {}),
    ):
        for n_rows, n_members in loads.items():
            name = f"AdaBoost, {label}, {n_rows} rows"
            add(name, fitting, who(), problem, n_rows, n_members, effort.rounds, targets)
    for label, who in (
        ("stumps", boosting_peers.adaboost_stumps),
        ("depth 5", boosting_peers.adaboost_depth_5),
    ):
        add(f"predict, AdaBoost, {label}", predicting, who(), clean, 5000, effort)
    return Suite(cases)
