"""Kernels that come with the package are used where this machine can run them."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core import config
from numba.core.registry import cpu_target

from orfeon.utils import shipped_kernels
from orfeon.utils.jit import kernel, step, with_step
from orfeon.utils.kernel_cache import KernelCache
from orfeon.utils.shipped_kernels import Target, collect

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

twice = len


def doubled(x):
    return 2.0 * x


def total(values):
    found = 0.0
    for i in range(values.shape[0]):
        found += twice(values[i])
    return found


def fresh():
    """A kernel with a step, as a new process has them."""
    return kernel(with_step(total, "total", twice=step(doubled)))


@pytest.fixture
def here():
    return cpu_target.target_context.codegen().magic_tuple()


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A function that compiles the kernel for a target, and empties the cache."""
    shipped_kernels.target.cache_clear()
    folder = tmp_path / "_kernels"

    def compile_for(target):
        cache = tmp_path / "built"
        monkeypatch.setattr(config, "CACHE_DIR", str(cache))
        with monkeypatch.context() as other:
            other.setattr(
                KernelCache, "_index_key",
                lambda self, signature, codegen: key_of(self, signature, target),
            )  # fmt: skip
            assert fresh()(np.arange(3.0)) == 6
        n_kernels = collect(cache, folder, target)
        monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "empty"))
        monkeypatch.setattr(shipped_kernels, "FOLDER", folder)
        return n_kernels

    key_of = KernelCache._index_key
    yield compile_for
    shipped_kernels.target.cache_clear()


def compiled(function):
    """How often a kernel was compiled in a call."""
    assert function(np.arange(4.0)) == 12
    return sum(function.stats.cache_misses.values())


def test_kernels_are_shipped_without_their_steps_and_used(shipped, here):
    assert shipped(Target(here[0], "some kind", "", ())) == 1
    assert compiled(fresh()) == 0


@pytest.mark.parametrize("odd", ["triple", "needs"])
def test_kernels_for_another_machine_are_compiled(shipped, here, odd):
    triple, needs = ("sparc", ()) if odd == "triple" else (here[0], ("telepathy",))
    assert shipped(Target(triple, "some kind", "", needs)) == 1
    assert compiled(fresh()) == 1


def test_what_a_processor_needs_is_read_from_its_features():
    target = Target("t", "x86-64-v3", "", ("avx2", "fma"))
    assert target.magic_tuple() == ("t", "x86-64-v3", "")
    assert target.runs_on(("t", "zen", "+avx2,+fma,-avx512f"))
    assert not target.runs_on(("t", "zen", "+avx,-avx2,+fma"))
    assert not target.runs_on(("other", "zen", "+avx2,+fma"))


def test_a_damaged_or_absent_folder_ships_nothing(tmp_path):
    shipped_kernels.target.cache_clear()
    assert shipped_kernels.target(tmp_path / "nowhere") is None
    (tmp_path / "target.json").write_text("[1")
    assert shipped_kernels.target(tmp_path) is None
