"""Kernels that only other kernels call.

They make no arrays, count no references and cannot be called from Python once compiled. Leaving
out that entry saves a third of the compiler's time where functions take many arrays.
"""

from __future__ import annotations

import numba

from orfeon.kernels.jit import FunctionT


def inner_kernel(function: FunctionT) -> FunctionT:
    """Compile a function for other kernels to call."""
    compiled: FunctionT = numba.njit(
        nogil=True,
        cache=True,
        error_model="numpy",
        _nrt=False,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )(function)
    return compiled
