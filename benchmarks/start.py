"""How long a user waits for the first ensemble: a fresh process, kernels cached or not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any

from benchmarks.report import Measurement, Target
from benchmarks.suite import Case, Suite

_ROWS, _FEATURES, _TREES = 300, 21, 10
#: Names a wheel with kernels that was built before; without it, one is built from this checkout.
WHEEL_VARIABLE = "ORFEON_WHEEL"

#: A user's first script; it prints how long its parts took.
_SCRIPT = f"""
import time
start = time.perf_counter()
import numpy as np
from orfeon.growth import grow_forest
from orfeon.utils.seeding import seed_sequence, tree_seeds
from orfeon.data.presorted import Table
imported = time.perf_counter()
rng = np.random.default_rng(0)
X = rng.standard_normal(({_ROWS}, {_FEATURES}))
y = np.digitize(X[:, 0] + X[:, 1], [-0.6, 0.6])
counts = rng.multinomial({_ROWS}, np.full({_ROWS}, 1 / {_ROWS}), size={_TREES})
seeds = tree_seeds(seed_sequence(0), {_TREES})
forest = grow_forest(Table(X), y, n_classes=3, seeds=seeds, weights=counts)
fitted = time.perf_counter()
assert (forest.predict(X) == y).mean() > 0.9
predicted = time.perf_counter()
import json
print(json.dumps({{"import": imported - start, "fit": fitted - imported,
                   "predict": predicted - fitted, "processor": time.process_time()}}))
"""


#: One estimator of each family, and whether it predicts numbers.
FAMILIES = {
    "bagging": ("BaggingClassifier(n_estimators=10, random_state=0)", False),
    "bagging, numbers": ("BaggingRegressor(n_estimators=10, random_state=0)", True),
    "random forest": ("RandomForestClassifier(n_estimators=10, random_state=0)", False),
    "extra-trees": ("ExtraTreesClassifier(n_estimators=10, random_state=0)", False),
    "C4.5": ("C45Classifier()", False),
    "CART, cross-validated": ('CARTClassifier(pruning="cv", random_state=0)', False),
    "IGP": ("IGPTreeClassifier(random_state=0)", False),
    "AdaBoost": ("AdaBoostClassifier(n_estimators=10, random_state=0)", False),
    "gradient boosting": ("GradientBoostingClassifier(n_estimators=10, random_state=0)", False),
    "histogram boosting": (
        'GradientBoostingClassifier(n_estimators=10, tree_method="histogram", random_state=0)',
        False,
    ),
    "oblique forest": ("ObliqueForestClassifier(n_estimators=10, random_state=0)", False),
    "parallel perceptrons": ("ParallelPerceptronClassifier(random_state=0)", False),
}
#: A first fit as a user sees it.
_FAMILY = """
import time
start = time.perf_counter()
import warnings
import numpy as np
import orfeon
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.standard_normal(({rows}, {features}))
score = X[:, 0] + X[:, 1]
y = score if {numbers} else np.digitize(score, [-0.6, 0.6])
model = orfeon.{estimator}
imported = time.perf_counter()
model.fit(X, y)
fitted = time.perf_counter()
model.predict(X)
predicted = time.perf_counter()
import json
print(json.dumps({{"import": imported - start, "fit": fitted - imported,
                   "predict": predicted - fitted, "processor": time.process_time()}}))
"""


def _fresh_process(
    cache: str, script: str = _SCRIPT, variables: Mapping[str, str] = MappingProxyType({})
) -> tuple[float, dict[str, float]]:
    """Seconds from starting Python to its end, and the seconds of the parts."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, **variables}
    start = time.perf_counter()
    process = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    seconds = time.perf_counter() - start
    parts: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return seconds, parts


def _measurement(
    case: str, runs: list[tuple[float, dict[str, float]]], limit: float
) -> Measurement:
    seconds = [run[0] for run in runs]
    middle = median(seconds)
    parts = {name: median(run[1][name] for run in runs) for name in runs[0][1]}
    note = f"{case}: " + ", ".join(f"{name} {part:.2f} s" for name, part in parts.items()) + "."
    if parts["processor"] < 0.85 * middle:
        note += " The machine was busy: the processor worked less than the clock ran."
    detail: dict[str, Any] = {"rounds": len(runs), **parts}
    return Measurement(
        case, _ROWS, _FEATURES, middle, "s", middle, (max(seconds) - min(seconds)) / middle,
        target=Target("at most", limit, "s"), notes=[note], detail=detail,
    )  # fmt: skip


def first_bag(warm_rounds: int) -> list[Measurement]:
    """Import, fit and predict, first on an empty cache and then on the one just filled."""
    with tempfile.TemporaryDirectory(prefix="orfeon-benchmark-") as cache:
        cold = [_fresh_process(cache)]
        warm = [_fresh_process(cache) for _ in range(warm_rounds + 1)][1:]
    return [
        _measurement(f"first bag of {_TREES}, empty cache", cold, 15),
        _measurement(f"first bag of {_TREES}, kernels cached", warm, 1.5),
    ]


def first_fit(name: str) -> list[Measurement]:
    """The first fit and prediction of a family, on an empty cache."""
    with tempfile.TemporaryDirectory(prefix="orfeon-benchmark-") as cache:
        runs = [_fresh_process(cache, _first_fit_script(name))]
    return [_measurement(f"first fit, {name}", runs, 8)]


def _first_fit_script(name: str) -> str:
    estimator, numbers = FAMILIES[name]
    return _FAMILY.format(rows=_ROWS, features=_FEATURES, estimator=estimator, numbers=numbers)


def first_fits_from_wheel(families: Sequence[str]) -> list[Measurement]:
    """The same, from a wheel that was built with its kernels (``hatch_build.py``)."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="orfeon-benchmark-") as folder:
        package = _unpacked_wheel(Path(folder))
        for name in families:
            cache = tempfile.mkdtemp(dir=folder)
            runs = [_fresh_process(cache, _first_fit_script(name), {"PYTHONPATH": str(package)})]
            lines.append(_measurement(f"first fit, {name}, wheel with kernels", runs, 8))
    return lines


def _unpacked_wheel(folder: Path) -> Path:
    """A wheel with its kernels, in a folder that Python can import from."""
    named = os.environ.get(WHEEL_VARIABLE)
    package = folder / "package"
    with zipfile.ZipFile(named or _build_wheel(folder)) as wheel:
        wheel.extractall(package)
    return package


def _build_wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(
        command, cwd=Path(__file__).parents[1], env={**os.environ, "ORFEON_KERNELS": "1"},
        capture_output=True, check=True,
    )  # fmt: skip
    return next(folder.glob("*.whl"))


def suite(quick: bool) -> Suite:
    rounds = 3 if quick else 5
    families = ["bagging"] if quick else list(FAMILIES)
    cases = [
        Case("first bag", lambda: first_bag(rounds)),
        *(Case(f"first fit, {name}", partial(first_fit, name)) for name in families),
    ]
    if not quick:  # the build compiles all kernels, which takes minutes
        cases.append(Case("wheel with kernels", partial(first_fits_from_wheel, families)))
    return Suite(cases)
