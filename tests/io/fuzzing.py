"""Load files that are no longer what was saved, and see what comes of it.

*Damaged* files differ in their bytes, as after an accident: loading one must give the very model
that was saved, or raise ModelFileError. *Forged* files were changed inside and signed again, as by
somebody who knows the format: loading one must raise ModelFileError, or give a model that can be
asked without reading beyond an array; what it says is the forger's.

``python -m tests.io.fuzzing --mutations 200000`` runs as many as wanted; with the environment
variable NUMBA_BOUNDSCHECK=1 kernels check every index.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.io.mutations import DAMAGE, FORGERY, Rng, opened, signed

import orfeon
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.io import ModelFileError
from orfeon.io.model_file import written


class Specimen(NamedTuple):
    """A saved model, and rows that it can be asked about."""

    name: str
    data: bytes
    X: Any


# -- judging ---------------------------------------------------------------------------------------


class WrongLoadError(AssertionError):
    """A mutated file did what it must not do."""


def fate(path: Path, specimen: Specimen, *, is_damage: bool, memory_map: bool = False) -> str:
    """What loading a file leads to; raises what must not be."""
    try:
        model = orfeon.load(path, memory_map=memory_map)
    except ModelFileError:
        return "refused"
    if is_damage:
        if written(model)[0] != written_before(specimen):
            raise WrongLoadError(f"{specimen.name}: another model was loaded in silence")
        return "equal"
    return ask(model, specimen.X)


def ask(model: Any, X: Any) -> str:
    """Ask a model whatever it has an answer for: it may refuse, but not read beyond an array."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model.predict(X)
            for name in ("predict_proba", "apply", "decision_function"):
                if hasattr(model, name):
                    getattr(model, name)(X)
        except Exception as error:
            if str(error) == "index is out of bounds":  # a kernel says so, not NumPy
                raise WrongLoadError("a kernel read beyond an array") from error
            return f"asked: {type(error).__name__}"
    return "asked"


_BEFORE: dict[str, bytes] = {}


def written_before(specimen: Specimen) -> bytes:
    if specimen.name not in _BEFORE:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.orfeon"
            path.write_bytes(specimen.data)
            _BEFORE[specimen.name] = written(orfeon.load(path))[0]
    return _BEFORE[specimen.name]


def fuzz(
    specimens: list[Specimen], folder: Path, seed: int, n: int, seconds: float = np.inf
) -> Counter[str]:
    """Load as many mutated files and count what came of it."""
    rng = np.random.default_rng(seed)
    fates: Counter[str] = Counter()
    path = folder / "mutant.orfeon"
    end = time.monotonic() + seconds
    for number in range(n):
        if time.monotonic() > end:
            break
        specimen = specimens[int(rng.integers(len(specimens)))]
        is_damage = bool(rng.random() < 0.5)
        kind, mutant = _mutant(specimen, rng, is_damage)
        path.write_bytes(mutant)
        try:
            found = fate(path, specimen, is_damage=is_damage, memory_map=number % 4 == 0)
        except BaseException as error:
            error.add_note(f"mutation {number} of seed {seed}: {specimen.name}, {kind}")
            raise
        fates[f"{'damaged' if is_damage else 'forged'}: {found}"] += 1
    return fates


def _mutant(specimen: Specimen, rng: Rng, is_damage: bool) -> tuple[str, bytes]:
    if is_damage:
        damage = DAMAGE[int(rng.integers(len(DAMAGE)))]
        return damage.__name__, damage(bytearray(specimen.data), rng)
    forged = opened(specimen.data)
    names = []
    for _ in range(int(rng.choice([1, 1, 2, 4]))):
        forgery = FORGERY[int(rng.integers(len(FORGERY)))]
        names.append(forgery.__name__)
        try:
            forgery(forged, rng)
        except (AttributeError, IndexError, KeyError, TypeError):
            break  # there is nothing left to change so
    try:
        return ", ".join(names), signed(forged)
    except (OverflowError, RecursionError, TypeError, ValueError):
        return "not to be signed", specimen.data[:-1]


# -- specimens -------------------------------------------------------------------------------------


def specimens(folder: Path) -> list[Specimen]:
    """Small models of many kinds, saved."""
    X, y = make_waveform(60, random_state=0)
    numbers, target = make_friedman1(60, random_state=0)
    mixed = X[:, :4].astype(object)
    mixed[:, 1] = np.where(X[:, 1].astype(float) > 0, "up", "down")
    mixed[:, 3] = np.array(list("abcdef"))[np.arange(60) % 6]
    mixed[::7, 0] = None
    pair = [("tree", orfeon.CARTClassifier(max_depth=3)), ("stump", orfeon.StumpClassifier())]
    cart = orfeon.CARTClassifier(pruning="cv", n_folds=3)
    made = [
        (orfeon.BaggingClassifier(n_estimators=8, oob_score=True, random_state=0), mixed, y),
        (orfeon.BaggingClassifier(orfeon.C45Classifier(), 6, random_state=0), mixed, y),
        (orfeon.RandomForestRegressor(8, random_state=0), numbers, target),
        (orfeon.ObliqueForestClassifier(5, random_state=0), X, y),
        (orfeon.GradientBoostingClassifier(n_estimators=5, random_state=0), mixed, y),
        (orfeon.AdaBoostMHClassifier(n_estimators=4, random_state=0), X, y),
        (orfeon.IGPCommitteesClassifier(3, 3, random_state=0), X, y),
        (orfeon.PoolBoostClassifier(n_estimators=4, n_thresholds=3, random_state=0), mixed, y),
        (orfeon.PrunedClassifier(orfeon.BaggingClassifier(cart, 9), random_state=0), X, y),
        (orfeon.StackingClassifier(pair, final_estimator="meta_tree", random_state=0), X, y),
        (orfeon.CostCascadeClassifier(pair, random_state=0), X, y),
        (orfeon.MixtureOfExpertsClassifier(n_experts=2, max_iter=5, random_state=0), mixed, y),
        (orfeon.ParallelPerceptronClassifier(max_iter=5, random_state=0), mixed, y),
        (RandomForestClassifier(3, random_state=0), X, y),
        (make_pipeline(StandardScaler(), orfeon.StumpClassifier()), X, y),
        (orfeon.FilterBoostClassifier(depth=2, random_state=0), X, y),
    ]
    found = []
    path = folder / "specimen.orfeon"
    for model, table, labels in made:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            orfeon.save(model.fit(table, labels), path, about={"score": 0.5, "list": [1, "a"]})
        name = f"{len(found)} {type(model).__name__}"
        found.append(Specimen(name, path.read_bytes(), table[:20]))
    return found


def main() -> None:
    """Load mutated files until there were as many as wanted, or the time is over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--mutations", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=np.inf)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fates = fuzz(specimens(folder), folder, options.seed, options.mutations, options.seconds)
    for what, count in sorted(fates.items()):
        print(f"{count:8d}  {what}")


if __name__ == "__main__":
    main()
