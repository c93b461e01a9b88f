"""How kernels are compiled: copies with another step, the notice, and not at all."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from orfeon.utils import jit
from orfeon.utils.jit import kernel, kernel_view, with_step

# -- copies of kernels -----------------------------------------------------------------------------


def double(x: float) -> float:
    """The step that is replaced."""
    return 2 * x


def triple(x: float) -> float:
    return 3 * x


def shifted(x: float) -> float:
    """One more than a step gives."""
    return double(x) + 1


def test_a_copy_calls_the_other_step_and_the_original_stays():
    other = with_step(shifted, "shifted_triple", double=triple)
    assert (shifted(5), other(5)) == (11, 16)
    assert (other.__name__, other.__qualname__) == ("shifted_triple", "shifted_triple")
    assert other.__module__ == shifted.__module__
    assert other.__doc__ == shifted.__doc__
    assert shifted.__globals__["double"] is double


def test_a_compiled_kernel_is_copied_from_its_python_function():
    compiled = kernel(shifted)
    other = with_step(compiled, "shifted_triple", double=triple)
    assert isinstance(other, types.FunctionType)
    assert other(5) == 16


# -- read-only arrays ------------------------------------------------------------------------------


def test_a_read_only_array_is_seen_as_writable_without_a_copy():
    array = np.arange(12.0).reshape(3, 4)
    assert kernel_view(array) is array
    array.setflags(write=False)
    view = kernel_view(array)
    assert view.flags.writeable
    assert np.shares_memory(view, array)
    np.testing.assert_array_equal(view, array)
    for part in (array.T, array[::2, 1:]):
        np.testing.assert_array_equal(kernel_view(part), part)


def test_the_view_keeps_the_memory():
    array = np.full(100_000, 7.0)
    array.setflags(write=False)
    view = kernel_view(array)
    del array
    assert np.full(100_000, 1.0).sum() == 100_000
    assert (view == 7.0).all()


# -- the notice ------------------------------------------------------------------------------------


def event(module: str) -> Any:
    """An event of compiling a function of some module."""
    function = types.SimpleNamespace(__module__=module)
    return types.SimpleNamespace(data={"dispatcher": types.SimpleNamespace(py_func=function)})


@pytest.fixture
def notice(monkeypatch, caplog):
    monkeypatch.setattr(jit, "PATIENCE", 0.05)
    monkeypatch.setattr(jit.logger, "filters", [])  # worker processes may have told it before
    caplog.set_level(logging.WARNING, logger="orfeon")
    return jit._CompilationNotice()


def compile_for(notice: Any, seconds: float, module: str = "orfeon.kernels.cart.grow") -> None:
    notice.on_start(event(module))
    time.sleep(seconds)
    notice.on_end(event(module))


def test_a_long_compilation_is_announced_once(notice, caplog):
    compile_for(notice, 0.15)
    compile_for(notice, 0.15)
    assert [r.getMessage() for r in caplog.records] == [
        "orfeon is compiling its kernels; this happens once per machine and takes a few seconds."
    ]


def test_a_short_compilation_is_not_announced(notice, caplog):
    compile_for(notice, 0.0)
    time.sleep(0.1)
    assert caplog.records == []


def test_short_compilations_add_up(notice, caplog):
    for _ in range(6):
        compile_for(notice, 0.02)
    assert len(caplog.records) == 1


def test_nested_compilations_count_once(notice, caplog):
    notice.on_start(event("orfeon.kernels.cart.grow"))
    for _ in range(10):
        compile_for(notice, 0.0)
    assert caplog.records == []
    time.sleep(0.1)
    notice.on_end(event("orfeon.kernels.cart.grow"))
    assert len(caplog.records) == 1


def test_the_compilations_of_others_are_their_own_business(notice, caplog):
    compile_for(notice, 0.15, "somebody.else")
    notice.on_end(event("orfeon.kernels.cart.grow"))
    notice.on_start(types.SimpleNamespace(data=None))
    assert caplog.records == []


# -- not compiled ----------------------------------------------------------------------------------

SCRIPT = """
import hashlib
import numpy as np
import numba
import orfeon
from tests.shared import public_estimators

rng = np.random.default_rng(0)
X = rng.normal(size=(24, 3))
X[:, 1] = np.round(X[:, 1])
X[:, 2] = rng.integers(0, 3, 24)
X[rng.random(X.shape) < 0.1] = np.nan
y = (np.nan_to_num(X[:, 0]) + rng.normal(size=24) > 0).astype(int) + (X[:, 2] == 1)
settings = {"CARTClassifier": {"pruning": "cv", "n_folds": 3}}
few = {"n_estimators": 2, "n_committees": 2, "max_iter": 5}
print(numba.config.DISABLE_JIT)
for name, estimator in public_estimators().items():
    accepted = estimator().get_params()
    if "categorical_features" not in accepted:
        continue  # an ensemble of trees that are here themselves
    given = {key: few[key] for key in few if key in accepted} | settings.get(name, {})
    fitted = estimator(random_state=0, categorical_features=[2], **given)
    fitted.fit(X, y, sample_weight=rng.integers(0, 3, 24))
    text = hashlib.sha256(np.asarray(fitted.predict(X)).tobytes())
    if hasattr(fitted, "forest_"):
        forest = fitted.forest_.validate()
        for part in (forest.nodes, forest.value, forest.branches):
            text.update(part.tobytes())
        print(name, forest.n_leaves[0], text.hexdigest())
    elif hasattr(fitted, "weights_"):  # experts have neither, and no kernel of ours
        text.update(fitted.weights_.tobytes())
        print(name, len(fitted.weights_), text.hexdigest())
"""


@pytest.mark.tools
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_kernels_run_as_plain_python_with_the_same_result(capsys):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    exec(SCRIPT, {})
    plain, compiled = done.stdout.splitlines(), capsys.readouterr().out.splitlines()
    assert (plain[0], compiled[0]) == ("1", "0")
    assert plain[1:] == compiled[1:]
    assert len(plain) > 6
    assert any(int(line.split()[1]) > 3 for line in plain[1:])
