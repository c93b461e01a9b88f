"""How fast ensembles are on real tables, on one thread, against other libraries.

Categories, missing values, features of few values and unequal classes are what tables have and
Gaussian problems have not. orfeon gets the table as it is; the others get numbers (the codes of the
categories), which they need. Test errors are in the JSON lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn.ensemble

import orfeon
from benchmarks import contestants, gradient_peers, table_problems
from benchmarks.contestants import INTEL, ORFEON, SCIKIT_LEARN, Contestant
from benchmarks.ensembles import Fitting
from benchmarks.gradient_peers import LIGHTGBM, XGBOOST
from benchmarks.peers import _import, missing_notices
from benchmarks.problems import Data
from benchmarks.report import Measurement, Target, compare
from benchmarks.suite import Case, Suite
from benchmarks.table_problems import Rows
from benchmarks.timing import Contender, interleave, one_thread

#: Times as fast as the peer in training, by method.
_TRAINING = {"bagging": 6.0, "forest": 6.0, "extra-trees": 3.0, "gradient boosting": 5.0}
#: And in prediction.
_PREDICTION = {SCIKIT_LEARN: 3.0, XGBOOST: 1.0, LIGHTGBM: 1.0}
#: orfeon's name where it gets strings instead of categories of pandas' type.
_STRINGS = "orfeon, strings"
#: From this many rows on, scikit-learn grows a tenth of the trees.
_SLOW_FROM = 4000
#: With more classes than this, gradient boosting runs a fifth of the rounds, on all sides.
_MANY_CLASSES = 20
_GRADIENT: dict[str, Any] = {"learning_rate": 0.1, "max_depth": 3}


@dataclass(frozen=True)
class Effort:
    """How much work the cases do."""

    #: Trees of an ensemble, or rounds of gradient boosting.
    n_trees: int = 100
    #: Rows predicted.
    n_asked: int = 10_000
    #: At most so many rows are trained on.
    n_training: int | None = None
    #: How often each contender is timed.
    rounds: int = 5

    def trees(self, method: str, n_classes: int) -> int:
        """Trees, or rounds, of a method."""
        many = method == "gradient boosting" and n_classes > _MANY_CLASSES
        return self.n_trees // 5 if many else self.n_trees


FULL = Effort()
QUICK = Effort(n_trees=10, n_asked=1000, n_training=500, rounds=2)


# -- gradient boosting -----------------------------------------------------------------------------


def _boost_scikit_learn() -> Contestant:
    def fit(data: Data, n_trees: int, seed: int) -> Any:
        model = sklearn.ensemble.GradientBoostingClassifier(
            n_estimators=n_trees, random_state=seed, **_GRADIENT
        )
        return model.fit(data.narrow, data.y)

    return Contestant(
        SCIKIT_LEARN, fit, lambda model, rows: model.predict(rows.narrow),
        lambda model, rows: model.predict_proba(rows.narrow), slow_from=_SLOW_FROM,
    )  # fmt: skip


def _classes(shares: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(shares > 0.5 if shares.ndim == 1 else np.argmax(shares, axis=1))


def _boost_xgboost() -> Contestant:
    def fit(data: Data, n_trees: int, seed: int) -> Any:
        xgboost = _import("xgboost")
        two = data.n_classes == 2
        settings: dict[str, Any] = {
            "objective": "binary:logistic" if two else "multi:softprob",
            "tree_method": "exact", "eta": 0.1, "max_depth": 3, "lambda": 0.0,
            "min_child_weight": 0.0, "nthread": 1, "verbosity": 0, "seed": seed,
        }  # fmt: skip
        settings |= {} if two else {"num_class": data.n_classes}
        return xgboost.train(settings, xgboost.DMatrix(data.narrow, data.y, nthread=1), n_trees)

    def shares(model: Any, rows: Data) -> npt.NDArray[Any]:
        return np.asarray(model.inplace_predict(rows.narrow))

    return Contestant(XGBOOST, fit, lambda model, rows: _classes(shares(model, rows)), shares)


def _boost_lightgbm() -> Contestant:
    def fit(data: Data, n_trees: int, seed: int) -> Any:
        lightgbm = _import("lightgbm")
        two = data.n_classes == 2
        settings: dict[str, Any] = {
            "objective": "binary" if two else "multiclass", "learning_rate": 0.1, "max_depth": 3,
            "num_leaves": 8, "min_data_in_leaf": 1, "num_threads": 1, "verbosity": -1, "seed": seed,
        }  # fmt: skip
        settings |= {} if two else {"num_class": data.n_classes}
        return lightgbm.train(settings, lightgbm.Dataset(data.narrow, data.y), n_trees)

    def shares(model: Any, rows: Data) -> npt.NDArray[Any]:
        return np.asarray(model.predict(rows.narrow, num_threads=1))

    return Contestant(LIGHTGBM, fit, lambda model, rows: _classes(shares(model, rows)), shares)


# -- who -------------------------------------------------------------------------------------------


def _pair(ours: type[Any], theirs: type[Any], slow_from: int) -> list[Contestant]:
    return [contestants.of_orfeon(ours), contestants.of_scikit_learn(theirs, slow_from=slow_from)]


def _with_intel(who: list[Contestant], method: Callable[[], list[Contestant]]) -> list[Contestant]:
    return [*who, *(one for one in method() if one.name == INTEL)]


def bagging() -> list[Contestant]:
    return _pair(orfeon.BaggingClassifier, sklearn.ensemble.BaggingClassifier, _SLOW_FROM)


def forest() -> list[Contestant]:
    who = _pair(
        orfeon.RandomForestClassifier, sklearn.ensemble.RandomForestClassifier, 4 * _SLOW_FROM
    )
    return _with_intel(who, contestants.random_forest)


def extra_trees() -> list[Contestant]:
    who = _pair(orfeon.ExtraTreesClassifier, sklearn.ensemble.ExtraTreesClassifier, 4 * _SLOW_FROM)
    return _with_intel(who, contestants.extra_trees)


def gradient_boosting() -> list[Contestant]:
    ours = contestants.of_orfeon(
        orfeon.GradientBoostingClassifier, **gradient_peers.PLAIN, **_GRADIENT
    )
    return [ours, _boost_scikit_learn()]


def gradient_boosting_and_others() -> list[Contestant]:
    others = {XGBOOST: _boost_xgboost, LIGHTGBM: _boost_lightgbm}
    installed = [make() for name, make in others.items() if gradient_peers.is_installed(name)]
    return [*gradient_boosting(), *installed]


METHODS: Mapping[str, Callable[[], list[Contestant]]] = {
    "bagging": bagging,
    "forest": forest,
    "extra-trees": extra_trees,
    "gradient boosting": gradient_boosting,
}
#: The methods whose predictions are timed.
ASKED: Mapping[str, Callable[[], list[Contestant]]] = {
    "bagging": bagging,
    "forest": forest,
    "gradient boosting": gradient_boosting_and_others,
}


def _form(one: Contestant, rows: Rows) -> Data:
    return rows.own if one.name == ORFEON else rows.coded


def _error(one: Contestant, model: Any, rows: Rows) -> float:
    data = _form(one, rows)
    return float((one.predict(model, data) != data.y).mean())


# -- cases -----------------------------------------------------------------------------------------


def training(name: str, method: str, table: str, effort: Effort) -> list[Measurement]:
    """One method fitted to one table."""
    rows, test, _ = table_problems.split(
        table_problems.read(table), effort.n_training, effort.n_asked
    )
    n_trees = effort.trees(method, rows.own.n_classes)
    fittings = [Fitting(one, _form(one, rows), n_trees) for one in METHODS[method]()]
    with one_thread():
        timings = interleave([fitting.contender() for fitting in fittings], rounds=effort.rounds)
    errors = {
        fitting.contestant.name: _error(fitting.contestant, fitting.models[-1], test)
        for fitting in fittings
    }
    trees = {fitting.contestant.name: fitting.n_timed for fitting in fittings}
    return compare(
        name, rows.own.shape, timings,
        targets={SCIKIT_LEARN: Target("at least", _TRAINING[method], "x")},
        notes={fitting.contestant.name: _notes(fitting.contestant) for fitting in fittings},
        detail={"errors": errors, "trees": trees},
    )  # fmt: skip


def _notes(one: Contestant) -> list[str]:
    return [one.note] if one.note else []


def predicting(name: str, method: str, table: str, effort: Effort) -> list[Measurement]:
    """The classes of many rows; where there are categories, of pandas' type and as strings."""
    rows, test, asked = table_problems.split(
        table_problems.read(table), effort.n_training, effort.n_asked
    )
    n_trees = effort.trees(method, rows.own.n_classes)
    who = ASKED[method]()
    models = {one.name: one.fit(_form(one, rows), n_trees, 0) for one in who}
    errors = {one.name: _error(one, models[one.name], test) for one in who}
    contenders = [
        Contender(one.name, partial(one.predict, models[one.name], _form(one, asked)))
        for one in who
    ]
    if asked.text is not None:
        ask = partial(who[0].predict, models[ORFEON], asked.text)
        contenders.append(Contender(_STRINGS, ask))
    with one_thread():
        timings = interleave(contenders, rounds=effort.rounds)
    strings = timings.pop(_STRINGS, None)
    targets = {peer: Target("at least", limit, "x") for peer, limit in _PREDICTION.items()}
    detail = {"errors": errors, "trees": n_trees}
    shape = asked.own.shape
    found = compare(name, shape, timings, targets=targets, detail=detail)
    if strings is not None:
        told = {_STRINGS: strings, SCIKIT_LEARN: timings[SCIKIT_LEARN]}
        found += compare(f"{name}, strings", shape, told, targets=targets, detail=detail)
    return found


def suite(quick: bool) -> Suite:
    """The cases of real tables."""
    effort = QUICK if quick else FULL
    absent = [name for name in table_problems.FILES if table_problems.file_of(name) is None]
    tables = [name for name in table_problems.FILES if name not in absent]
    cases = []
    for table in (*tables, *table_problems.MADE):
        for method in METHODS:
            name = f"train, {method}, {table}"
            cases.append(Case(name, partial(training, name, method, table, effort)))
        for method in ASKED:
            name = f"predict, {method}, {table}"
            cases.append(Case(name, partial(predicting, name, method, table, effort)))
    notices = [f"{name}.csv is not in the optional data folder: left out." for name in absent]
    intel = [peer for peer in contestants.compared_peers() if peer.name == INTEL]
    notices += [*missing_notices(intel), *gradient_peers.missing_notices()]
    return Suite(cases, notices)
