"""Log loss of ensembles on real tables: calibrated in one fit, against scikit-learn's calibration.

Five folds of each table. Uncalibrated, calibrated in the same fit by two methods, and by
scikit-learn's ``CalibratedClassifierCV`` over the same ensemble, which trains it five times and
averages the five; on each table the better of its two methods counts. Half a vote of smoothing, the
pulls of calibrators, "beta", the method that is judged, and the prior of class-switching were
chosen on 15 of these tables; made tables took no part.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss

from benchmarks import accuracy_tables
from benchmarks.accuracy_tables import Table
from benchmarks.contestants import SCIKIT_LEARN
from benchmarks.report import Measurement, Target
from benchmarks.suite import Case, Suite
from orfeon import (
    BaggingClassifier,
    ClassSwitchingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)

ENSEMBLES: dict[str, Callable[[], Any]] = {
    "forest": partial(RandomForestClassifier, 100, random_state=0),
    "extra-trees": partial(ExtraTreesClassifier, 100, bootstrap=True, random_state=0),
    "bagging": partial(BaggingClassifier, n_estimators=100, random_state=0),
    "class-switching": partial(ClassSwitchingClassifier, n_estimators=500, random_state=0),
}
#: Calibrated in the fit of the ensemble; the first is judged.
ONE_FIT = ("beta", "sigmoid")
THEIRS = ("sigmoid", "isotonic")
#: Tables that are made; the others are of real things, or enumerated.
_MADE = {
    "car-like", "claims", "clusters", "friedman1", "friedman2", "mammography-like", "orders",
    "ringnorm", "spambase-like", "tickets", "visits", "waveform",
}  # fmt: skip
#: Members of class-switching, which are compared with a forest of 100 trees; 1,000 by default.
SIZES = (100, 200, 500, 1000)
_QUICK = ("breast_cancer", "iris", "titanic")
#: At most so many rows of a table are used, drawn at random.
_MOST_ROWS = 1000
#: Classes of fewer rows are left out.
_LEAST = 10
_LIMIT = Target("at most", 1.02, "ratio")
_TO_FOREST = Target("at most", 1.1, "ratio")


def geometric_mean(ratios: Sequence[float]) -> float:
    """The geometric mean of some ratios.

    Examples
    --------
    >>> geometric_mean([0.5, 2.0])
    1.0
    """
    return float(np.exp(np.mean(np.log(ratios))))


@dataclass(frozen=True)
class Losses:
    """Mean log losses of one ensemble on a table, and processor times of its fits, by contender."""

    table: str
    shape: tuple[int, int]
    loss: dict[str, float]
    seconds: dict[str, float]

    @property
    def theirs(self) -> str:
        """The better of scikit-learn's methods."""
        return min((f"cv {one}" for one in THEIRS), key=self.loss.__getitem__)


def tables(quick: bool) -> list[str]:
    """Names of the tables that are compared."""
    names = [name for name in accuracy_tables.present() if name not in _MADE]
    if quick:
        return [name for name in names if name in _QUICK]
    return [name for name in names if _has_enough(name)]


def made(quick: bool) -> list[str]:
    """Names of the made tables with classes, on which nothing was chosen."""
    return ["ringnorm"] if quick else [name for name in sorted(_MADE) if _has_enough(name)]


def _has_enough(name: str) -> bool:
    """Whether scikit-learn can calibrate: five samples of each class in each training set."""
    table = rows_of(name)
    return table.n_classes > 1 and int(np.bincount(table.y).min()) >= _LEAST


def rows_of(name: str) -> Table:
    """A table, or as many of its rows as are used."""
    table = accuracy_tables.read(name)
    rows = np.random.default_rng(0).permutation(table.shape[0])[:_MOST_ROWS]
    taken = table.take(np.sort(rows))
    if not taken.n_classes:
        return taken
    rare = np.flatnonzero(np.bincount(taken.y, minlength=taken.n_classes) < _LEAST)
    kept = taken.take(np.flatnonzero(~np.isin(taken.y, rare)))
    classes, y = np.unique(kept.y, return_inverse=True)
    return Table(kept.name, kept.X, y, len(classes))


def contenders(make: Callable[[], Any]) -> dict[str, Any]:
    """Ensembles, not fitted: plain, calibrated in one fit, and by scikit-learn."""
    found = {"plain": make()}
    found |= {name: make().set_params(calibrate=name) for name in ONE_FIT}
    found |= {f"cv {name}": CalibratedClassifierCV(make(), method=name, cv=5) for name in THEIRS}
    return found


def measure(table: Table, make: Callable[[], Any]) -> Losses:
    """Log losses on the folds of a table."""
    losses: dict[str, list[float]] = {}
    seconds: dict[str, float] = {}
    for training, test in table.folds():
        for name, model in contenders(make).items():
            begin = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # classes of few samples
                model.fit(training.X, training.y)
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - begin
            p = np.clip(model.predict_proba(test.X), 2.0**-52, 1.0)
            known = np.arange(table.n_classes)
            loss = log_loss(test.y, p / p.sum(axis=1, keepdims=True), labels=known)
            losses.setdefault(name, []).append(loss)
    means = {name: float(np.mean(some)) for name, some in losses.items()}
    return Losses(table.name, table.shape, means, seconds)


def compared(name: str, make: Callable[[], Any], chosen: Sequence[str]) -> list[Measurement]:
    """One ensemble on all tables."""
    found = [measure(rows_of(one), make) for one in chosen]
    n_rows = sum(one.shape[0] for one in found)
    lines = []
    for contender in (*ONE_FIT, "plain"):
        ratios = {one.table: one.loss[contender] / one.loss[one.theirs] for one in found}
        ours = sum(one.seconds[contender] for one in found)
        theirs = sum(one.seconds[one.theirs] for one in found)
        worst = max(ratios, key=ratios.__getitem__)
        lines.append(
            Measurement(
                f"{name}, {contender}", n_rows, len(found), geometric_mean(list(ratios.values())),
                "ratio", ours, None, f"CalibratedClassifierCV, {SCIKIT_LEARN}", theirs, None,
                _LIMIT if contender == ONE_FIT[0] else None,
                [f"{name}, {contender}: worst on {worst}, {ratios[worst]:.3g}."],
                {"ratios": ratios, "losses": {one.table: one.loss for one in found}},
            )
        )  # fmt: skip
    return lines


def switching_to_forest(kind: str, chosen: Sequence[str]) -> list[Measurement]:
    """Class-switching of several sizes and a forest, all uncalibrated."""
    ratios: dict[int, dict[str, float]] = {size: {} for size in SIZES}
    for one in chosen:
        table = rows_of(one)
        known = np.arange(table.n_classes)
        of_forest, sums = 0.0, dict.fromkeys(SIZES, 0.0)
        for training, test in table.folds():
            forest = ENSEMBLES["forest"]().fit(training.X, training.y)
            of_forest += log_loss(test.y, forest.predict_proba(test.X), labels=known)
            model = ENSEMBLES["class-switching"]().set_params(warm_start=True)
            for size in SIZES:
                model.set_params(n_estimators=size).fit(training.X, training.y)
                sums[size] += log_loss(test.y, model.predict_proba(test.X), labels=known)
        for size, own in sums.items():
            ratios[size][one] = own / of_forest
    lines = []
    for size, found in ratios.items():
        worst = max(found, key=found.__getitem__)
        note = f"class-switching over forest, {size} members: worst on {worst}, {found[worst]:.3g}."
        lines.append(
            Measurement(
                f"class-switching over forest, {kind}, {size} members", 0, len(found),
                geometric_mean(list(found.values())), "ratio",
                target=_TO_FOREST if kind == "real tables" else None, notes=[note],
                detail={"ratios": found},
            )
        )  # fmt: skip
    return lines


def suite(quick: bool) -> Suite:
    """All cases."""
    chosen = tables(quick)
    cases = [Case(name, partial(compared, name, make, chosen)) for name, make in ENSEMBLES.items()]
    for kind, some in (("real tables", chosen), ("made tables", made(quick))):
        cases.append(Case(f"uncalibrated, {kind}", partial(switching_to_forest, kind, some)))
    return Suite(cases, [f"Tables: {', '.join(chosen)}."])
