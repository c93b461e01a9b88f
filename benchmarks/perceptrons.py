"""How fast parallel perceptrons are trained, alone, on selected samples, and boosted.

The peer is scikit-learn's ``MLPClassifier`` with a hidden layer of three units, the network that
parallel perceptrons of three were published against: 2000 epochs of it against 250 of theirs, which
is what each was given in print. An epoch is not the same thing to both: a parallel perceptron moves
once in it, the network after each batch of 200 samples. So the time of one epoch, and of as many
on both sides, stand beside.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import sklearn.ensemble
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neural_network import MLPClassifier

from benchmarks.perceptron_problems import DIABETES, diabetes, standardised
from benchmarks.perceptron_scale import EPOCHS, MILLION, growth, many_rows, start, train
from benchmarks.problems import Data
from benchmarks.report import Measurement, Target, compare, remarks
from benchmarks.suite import Case, Suite
from benchmarks.timing import Contender, interleave, one_thread
from orfeon import PPBoostClassifier, PPTSSClassifier
from orfeon.imbalance import geometric_mean

_FOLDS = 10
#: Epochs of the network that parallel perceptrons were published against.
_NETWORK_EPOCHS = 2000
_MEMBERS = 10
_NETWORK, _BOOSTED_NETWORK = "MLPClassifier, 2000 epochs", "AdaBoost of MLPClassifier"

_IN_SECONDS = Target("at most", 10.0, "s")
_TIMES_AS_FAST = Target("at least", 20.0, "x")


@dataclass(frozen=True)
class Effort:
    """How much work the cases do."""

    #: Repetitions of ten-fold cross-validation.
    n_repeats: int = 10
    #: Rows and features of training sets, and which part of the network's epochs is timed: the
    #: tenth, if it is 10.
    training: tuple[tuple[int, int, int], ...] = ((300, 20, 1), (*DIABETES, 1), (5000, 20, 10))
    #: Rows of the large training set.
    n_rows: int = MILLION
    #: Rows of the training sets by which the time should grow.
    growth: tuple[int, ...] = (2000, 4000, 8000, 16_000, 32_000, 64_000)
    #: Which part of the epochs of boosted networks is timed.
    boosted: int = 4
    #: How often each contender is timed.
    rounds: int = 7


FULL = Effort()
QUICK = Effort(
    training=((300, 20, 10), (*DIABETES, 10), (5000, 20, 40)),
    n_rows=100_000,
    growth=(2000, 16_000, 64_000),
    boosted=8,
    rounds=5,
)


# -- cross-validation ------------------------------------------------------------------------------


def cross_validation(name: str, n_repeats: int, rounds: int) -> list[Measurement]:
    """Cross-validate PPTSS: training-set selection and training on each fold, and prediction."""
    data, note = diabetes()
    splits = RepeatedStratifiedKFold(n_splits=_FOLDS, n_repeats=n_repeats, random_state=0)
    folds = list(splits.split(data.X, data.y))

    def validate(folds: Sequence[tuple[Any, Any]]) -> float:
        """Mean g over the folds."""
        scores = []
        for training, test in folds:
            model = PPTSSClassifier(random_state=0).fit(data.X[training], data.y[training])
            answers = model.predict(data.X[test])
            scores.append(geometric_mean(data.y[test], answers, pos_label=1))
        return float(np.mean(scores))

    contender = Contender(name, partial(validate, folds), warm_up=partial(validate, folds[:1]))
    with one_thread():
        timing = interleave([contender], rounds=rounds)[name]
    g, one = timing.result, timing.seconds / len(folds)
    answers = f"{name}: {data.name}, g {g:.1%}; {1000 * one:.1f} ms for each of {len(folds)} folds."
    return [
        Measurement(
            name, *data.shape, timing.seconds, "s", timing.seconds, timing.spread,
            target=_IN_SECONDS, notes=[note, answers, *remarks(name, timing)],
            detail={"data": data.name, "g": g, "folds": len(folds), "rounds": rounds},
        )
    ]  # fmt: skip


# -- training --------------------------------------------------------------------------------------


def new_network(n_epochs: int) -> MLPClassifier:
    """A network of three hidden units; its last epoch is the only end that it knows."""
    return MLPClassifier(
        (3,), max_iter=n_epochs, tol=0.0, n_iter_no_change=n_epochs, random_state=0
    )


def _train_network(data: Data, n_epochs: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it never converges
        network = new_network(n_epochs).fit(data.X, data.y)
    if network.n_iter_ != n_epochs:
        raise AssertionError(f"the network ran {network.n_iter_} epochs, not {n_epochs}")
    return network


def training(
    name: str, n_rows: int, n_features: int, divisor: int, rounds: int
) -> list[Measurement]:
    """Train on one thread against the network: each as published, an epoch, and as many epochs."""
    data, test = standardised(n_rows, n_features)
    n_timed = _NETWORK_EPOCHS // divisor
    contenders = [
        Contender("orfeon", partial(train, data, EPOCHS)),
        Contender("orfeon, 2000 epochs", partial(train, data, _NETWORK_EPOCHS)),
        Contender(
            _NETWORK, partial(_train_network, data, n_timed), _NETWORK_EPOCHS / n_timed,
            partial(_train_network, data, 2),
        ),
    ]  # fmt: skip
    with one_thread():
        timings = interleave(contenders, rounds=rounds)
    ours, long, theirs = timings.values()
    errors = [float(np.mean(one.result.predict(test.X) != test.y)) for one in timings.values()]
    note = (
        f"{name}: test error after {EPOCHS} epochs {errors[0]:.1%}, after {_NETWORK_EPOCHS} "
        f"{errors[1]:.1%}; of the network after {n_timed} {errors[2]:.1%}."
    )
    detail = {
        "epochs": EPOCHS, "peer_epochs": _NETWORK_EPOCHS, "peer_epochs_timed": n_timed,
        "error": errors[0], "peer_error": errors[2],
    }  # fmt: skip
    lines = compare(
        name, data.shape, {"orfeon": ours, _NETWORK: theirs}, targets={_NETWORK: _TIMES_AS_FAST},
        notes={_NETWORK: [_EPOCHS_NOTE, note]}, detail=detail,
    )  # fmt: skip
    each, its = ours.seconds / EPOCHS, theirs.seconds / _NETWORK_EPOCHS
    lines.append(
        Measurement(
            f"{name}, an epoch", *data.shape, its / each, "x", each, ours.spread, "MLPClassifier",
            its, theirs.spread,
        )
    )  # fmt: skip
    same = {**detail, "epochs": _NETWORK_EPOCHS, "error": errors[1]}
    both = {"orfeon": long, _NETWORK: theirs}
    return lines + compare(f"{name}, {_NETWORK_EPOCHS} epochs", data.shape, both, detail=same)


_EPOCHS_NOTE = (
    f"orfeon runs its {EPOCHS} epochs and the network its {_NETWORK_EPOCHS}, as published: a "
    f"factor of {_NETWORK_EPOCHS / EPOCHS:g} is due to that alone. The two lines below are per "
    "epoch, and with as many epochs. In an epoch the network moves once for each 200 samples, a "
    "parallel perceptron once."
)


def takes_weights() -> bool:
    """Whether networks of the scikit-learn that is installed take weights, so can be boosted."""
    return "sample_weight" in inspect.signature(MLPClassifier.fit).parameters


def boosting(name: str, divisor: int, rounds: int) -> list[Measurement]:
    """A member of ten boosted parallel perceptrons, and of as many networks at most.

    scikit-learn ends before the tenth network when one errs on half of the weight or more, as those
    of few epochs do. So the time is that of one member.
    """
    data, test = standardised(*DIABETES)
    n_timed = _NETWORK_EPOCHS // divisor

    def boost() -> Any:
        model = PPBoostClassifier(n_estimators=_MEMBERS, mode="adaboost", random_state=0)
        return model.fit(data.X, data.y)

    def boost_networks(n_epochs: int) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return sklearn.ensemble.AdaBoostClassifier(
                new_network(n_epochs), n_estimators=_MEMBERS, random_state=0
            ).fit(data.X, data.y)

    contenders = [
        Contender("orfeon", boost),
        Contender(
            _BOOSTED_NETWORK, partial(boost_networks, n_timed), _NETWORK_EPOCHS / n_timed,
            partial(boost_networks, 2),
        ),
    ]  # fmt: skip
    with one_thread():
        timings = interleave(contenders, rounds=rounds)
    models = [one.result for one in timings.values()]
    errors = [float(np.mean(model.predict(test.X) != test.y)) for model in models]
    members = [len(model.estimators_) for model in models]
    ours, theirs = (one.seconds / n for one, n in zip(timings.values(), members, strict=True))
    note = (
        f"{name}: {members[0]} members of {EPOCHS} epochs, test error {errors[0]:.1%}; "
        f"{members[1]} networks of {_NETWORK_EPOCHS}, after {n_timed} {errors[1]:.1%}."
    )
    detail = {"members": members, "errors": errors, "peer_epochs_timed": n_timed}
    [line] = compare(name, data.shape, timings, notes={_BOOSTED_NETWORK: [note]}, detail=detail)
    return [replace(line, figure=theirs / ours, seconds=ours, peer_seconds=theirs)]


# -- the suite -------------------------------------------------------------------------------------


def suite(quick: bool) -> Suite:
    """The cases of parallel perceptrons."""
    effort = QUICK if quick else FULL
    cases = []

    def add(name: str, run: Callable[..., list[Measurement]], *arguments: Any) -> None:
        cases.append(Case(name, partial(run, name, *arguments)))

    few = 1 if quick else 3
    add(f"PPTSS, {effort.n_repeats} x {_FOLDS} folds", cross_validation, effort.n_repeats, few)
    for n_rows, n_features, divisor in effort.training:
        add(f"train, {n_rows} rows", training, n_rows, n_features, divisor, effort.rounds)
    notices = []
    if takes_weights():
        add(f"PPBoost, {_MEMBERS} members, each", boosting, effort.boosted, few + 1)
    else:
        notices.append("This scikit-learn's networks take no weights: boosting is not compared.")
    add(f"train, {effort.n_rows} rows", many_rows, effort.n_rows, 30)
    add(f"train, up to {max(effort.growth)} rows", growth, effort.growth, few + 2)
    add("first fit", start, few)
    return Suite(cases, notices)
