"""Steps become machine code only within kernels, and are read from disk by other kernels."""

from __future__ import annotations

import gc
from itertools import product

import numpy as np
import pytest
from numba.core import config
from numba.core.compiler import Flags

from orfeon.utils.jit import (
    array_step,
    inlined,
    kernel,
    large_kernel,
    loop_step,
    merged_step,
    step,
    with_step,
)
from orfeon.utils.step_library import _FEW_COLLECTIONS, StepLibrary, _QuickFlags

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


#: Replaced in the copies that are compiled.
square = add = fill = len


def squared(x):
    return x * x


def added(values, y):
    total = y
    for i in range(values.shape[0]):
        total += square(values[i])
    return total


def filled(n):
    return np.full(n, 2.0)


def summed(values):
    return add(values, 1.0)


def summed_twice(values):
    return add(values, 0.0) + add(fill(3), 0.0)


def made(outer, decorated=array_step):
    """A kernel of new steps, as a new process has them."""
    steps = {"square": merged_step(squared), "fill": step(filled)}
    steps["add"] = decorated(with_step(added, f"added_{decorated.__name__}", **steps))
    return kernel(with_step(outer, outer.__name__, **steps)), steps


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


@pytest.mark.parametrize("decorated", [array_step, step, inlined, merged_step])
def test_a_kernel_contains_its_steps_and_these_theirs(folder, decorated):
    compute, steps = made(summed, decorated)
    assert compute(np.arange(4.0)) == 1 + 0 + 1 + 4 + 9
    for name in ("square", "add"):
        [overload] = steps[name].overloads.values()
        assert isinstance(overload.library, StepLibrary)
        assert overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name) == 0
    [whole] = compute.overloads.values()
    assert not isinstance(whole.library, StepLibrary)


def test_steps_on_disk_serve_another_kernel(folder):
    made(summed)[0](np.arange(2.0))
    compute, steps = made(summed_twice)
    assert compute(np.arange(4.0)) == 14 + 3 * 4
    assert sum(steps["add"].stats.cache_hits.values()) == 1
    assert not steps["add"].stats.cache_misses
    again, steps = made(summed_twice)
    assert again(np.arange(4.0)) == 14 + 3 * 4
    assert sum(again.stats.cache_hits.values()) == 1
    assert not steps["add"].stats.cache_hits  # the kernel holds all it needs


def test_a_kernel_knows_the_environments_of_its_steps(folder):
    compute, _ = made(summed)
    compute(np.arange(2.0))
    [whole] = compute.overloads.values()
    assert whole._find_referenced_environments()


def counted(values):
    total = np.int64(0)
    for i in range(values.shape[0]):
        total += values[np.uint64(i)]
    return total


def counted_by_a_step(values):
    return square(values)


@pytest.mark.parametrize(
    ("decorated", "outer", "vectorised"),
    [
        (array_step, kernel, True),
        (array_step, large_kernel, False),
        (loop_step, large_kernel, True),
    ],
)
def test_in_large_kernels_only_loop_steps_are_vectorised(folder, decorated, outer, vectorised):
    inner = decorated(with_step(counted, f"counted_{decorated.__name__}"))
    compute = outer(with_step(counted_by_a_step, "counted_by_a_step", square=inner))
    assert compute(np.arange(100)) == 4950
    [code] = compute.inspect_llvm().values()
    assert (" x i64>" in code) == vectorised


def test_compilation_sets_the_garbage_collector_back():
    before = gc.get_threshold()
    try:
        gc.set_threshold(600, 9, 8)
        with _FEW_COLLECTIONS:
            assert gc.get_threshold()[0] >= 100_000
            with _FEW_COLLECTIONS:
                pass
            assert gc.get_threshold()[0] >= 100_000
        assert gc.get_threshold()[0] == 600
        gc.set_threshold(0)
        with _FEW_COLLECTIONS:
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)


def test_quick_flags_are_equal_where_those_of_numba_are():
    settings = (
        {}, {"nrt": False}, {"nrt": True}, {"nrt": True, "release_gil": True},
        {"release_gil": True}, {"error_model": "numpy"}, {"error_model": "python"},
        {"error_model": "numpy", "nrt": False},
    )  # fmt: skip
    flags = []
    for setting in settings:
        flags.append(Flags())
        for name, value in setting.items():
            setattr(flags[-1], name, value)
    quick = [one.copy() for one in flags]
    for one in quick:
        one.__class__ = _QuickFlags
    for i, j in product(range(len(settings)), repeat=2):
        expected = flags[i] == flags[j]
        assert (quick[i] == quick[j]) is (quick[i] == flags[j]) is expected
        assert hash(quick[i]) == hash(flags[i])
    assert quick[0] == quick[1]  # an option that is set to its default
    assert quick[0] != quick[2]
