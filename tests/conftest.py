"""Data that many tests grow trees from."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings

from orfeon.datasets import make_friedman1, make_waveform

# The same cases in every run, so that a change is judged by what it changes; with
# HYPOTHESIS_PROFILE=search they are drawn anew.
settings.register_profile("fixed", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

Problem = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


@pytest.fixture(scope="session")
def waveform() -> Problem:
    """The classic 300 examples of 21 attributes and 3 classes; read-only."""
    return _frozen(*make_waveform(300, random_state=0))


@pytest.fixture(scope="session")
def friedman() -> Problem:
    """200 examples of a regression problem; read-only."""
    return _frozen(*make_friedman1(200, random_state=0))


def _frozen(*arrays: npt.NDArray[np.generic]) -> Problem:
    for array in arrays:
        array.setflags(write=False)
    return arrays  # type: ignore[return-value]
