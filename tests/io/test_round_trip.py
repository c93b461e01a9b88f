"""Every public estimator comes back from a file as it was, here and in another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from tests.io.asking import answers, digest_of_fitted
from tests.shared import public_estimators, thorough
from tests.test_estimator_checks import every_setting, mixed_frame, numbers

import orfeon
from orfeon.io import describe
from orfeon.io.catalogue import entries

ROOT = Path(__file__).resolve().parents[2]
#: Interpreters with orfeon installed that load what this one saved: paths as in PATH.
OTHER_PYTHONS = os.environ.get("ORFEON_OTHER_PYTHONS", "").split(os.pathsep)

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*degrees from the diagonal:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*no better than chance:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*the first member:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*so nothing determines when to stop:UserWarning"),
]


def samples(estimator: Any, *, mixed: bool) -> tuple[Any, Any]:
    """A small table, and a target: numbers, codes or names of classes."""
    X, signal = (mixed_frame if mixed else numbers)(np.random.default_rng(0), 80)
    if is_regressor(estimator):
        return X, signal
    takes_two = type(estimator).__name__ in ("PPBoostClassifier", "PPTSSClassifier")
    codes = np.argsort(np.argsort(signal)) * (2 if takes_two else 3) // 80
    return X, np.array(["one", "three", "two"])[codes] if mixed else codes


def fitted(estimator: Any, *, mixed: bool) -> tuple[Any, Any]:
    estimator = clone(estimator)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    X, y = samples(estimator, mixed=mixed)
    return estimator.fit(X, y), X


def test_every_public_estimator_is_in_the_catalogue():
    known = {entry.name: entry.kind for entry in entries() if entry.is_estimator}
    assert {"BorderSelection", "PPTSSSampler", "WeightedDistanceEditing"} <= set(known)
    for name, kind in public_estimators().items():
        assert known[name] is kind


def test_every_class_of_the_catalogue_is_there():
    for entry in entries():
        assert entry.kind.__name__ == entry.name.rpartition(".")[2]
        assert not set(entry.kinds) & set(entry.parameters)


#: Each setting with numbers or with a mixed frame; if thorough, with both.
CASES = [
    pytest.param(estimator, mixed, id=f"{estimator}-{'mixed' if mixed else 'numbers'}")
    for _, same in groupby(every_setting(), key=type)
    for number, estimator in enumerate(same)
    for mixed in (False, True)
    if thorough or mixed == (number % 2 == 0)
]


@pytest.mark.parametrize(("estimator", "mixed"), CASES)
def test_predictions_are_the_same_to_the_bit(estimator, mixed, tmp_path):
    model, X = fitted(estimator, mixed=mixed)
    path = tmp_path / "model.orfeon"
    orfeon.save(model, path)
    loaded = orfeon.load(path)
    outputs = answers(model, X)
    assert answers(loaded, X) == outputs
    assert answers(orfeon.load(path, memory_map=True), X) == outputs
    assert type(loaded) is type(model)
    assert str(loaded) == str(model)
    again = tmp_path / "again.orfeon"
    orfeon.save(loaded, again)
    assert again.read_bytes() == path.read_bytes()
    assert describe(path)["n_features"] == X.shape[1]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Files of models, their predictions for some rows, and the rows."""
    folder = tmp_path_factory.mktemp("saved")
    outputs = {}
    defaults = [next(same) for _, same in groupby(every_setting(), key=type)]
    for number, estimator in enumerate(every_setting() if thorough else defaults):
        model, X = fitted(estimator, mixed=False)
        path = folder / f"{number}.orfeon"
        orfeon.save(model, path)
        outputs[str(path)] = answers(model, X)
    np.save(folder / "rows.npy", X)
    return outputs, folder / "rows.npy"


@pytest.mark.tools
@pytest.mark.parametrize("python", [sys.executable, *filter(None, OTHER_PYTHONS)])
def test_another_process_says_the_same(saved, python):
    """One process loads every file and predicts the same rows.

    Other Pythons are named in the environment, each with orfeon installed into it:
    ``ORFEON_OTHER_PYTHONS=/a/bin/python:/b/bin/python pytest tests/io/test_round_trip.py``.
    """
    answers, rows = saved
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(
        [python, "-m", "tests.io.asking", str(rows), *answers],
        cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )  # fmt: skip
    printed = json.loads(done.stdout)
    if python != sys.executable:
        assert printed["python"] != list(sys.version_info[:2])
    there = printed["answers"]
    assert len(there) >= len(public_estimators())
    assert {path for path in answers if there[path] != answers[path]} == set()
    if python == sys.executable:  # it also fits the same model and writes the same file
        assert printed["fitted"] == digest_of_fitted()


OTHER_OPTIONS = [
    (name, options)
    for name, kind in sorted(public_estimators().items())
    for options in ({"oob_score": True}, {"importance": "permutation"}, {"warm_start": True})
    if set(options) <= set(kind().get_params())
]


@pytest.mark.parametrize(("name", "options"), OTHER_OPTIONS, ids=str)
def test_what_else_a_fit_leaves_comes_back(name, options, tmp_path):
    estimator = public_estimators()[name]()
    if "warm_start" not in options and "bootstrap" in estimator.get_params():
        estimator.set_params(bootstrap=True)
    # With fewer members some sample is in every bag, and out-of-bag scores warn.
    few = {"n_estimators": 30 if "oob_score" in options else 5, "n_committees": 2}
    accepted = {key: few[key] for key in few if key in estimator.get_params()}
    model, X = fitted(estimator.set_params(**options, **accepted), mixed=False)
    orfeon.save(model, tmp_path / "model.orfeon")
    loaded = orfeon.load(tmp_path / "model.orfeon")
    assert answers(loaded, X) == answers(model, X)
    lost = set(vars(model)) - set(vars(loaded))
    assert lost <= {"_run", "_folds", "_with_statistics"}  # each fit finds them anew
    for feature in ("oob_score_", "oob_decision_function_", "oob_error_curve_"):
        if hasattr(model, feature):
            before, after = getattr(model, feature), getattr(loaded, feature)
            np.testing.assert_array_equal(np.asarray(before), np.asarray(after))
    if hasattr(model, "permutation_importances_"):
        assert (
            loaded.permutation_importances_.per_tree.tobytes()
            == model.permutation_importances_.per_tree.tobytes()
        )


@pytest.mark.parametrize("name", sorted(public_estimators()))
def test_an_estimator_that_is_not_fitted_comes_back(name, tmp_path):
    estimator = public_estimators()[name]()
    orfeon.save(estimator, tmp_path / "model.orfeon")
    loaded = orfeon.load(tmp_path / "model.orfeon")
    assert type(loaded) is type(estimator)
    assert str(loaded) == str(estimator)
    assert describe(tmp_path / "model.orfeon")["is_fitted"] is False
