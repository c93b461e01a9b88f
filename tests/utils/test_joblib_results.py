"""Whoever stops a fit early leaves nothing behind that others would wait for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BLOCKS = """
from orfeon.growth.blocks import run_in_blocks
def stopped():
    run_in_blocks(slow, range(30), 2, stop, prefer="processes")
"""
FOLDS = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from orfeon.combining.out_of_fold import out_of_fold
class Slow(ClassifierMixin, BaseEstimator):
    def fit(self, X, y, sample_weight=None):
        slow(0)
        self.classes_ = np.unique(y)
        return self
    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)
def stopped():
    X = np.arange(200.0)[:, np.newaxis]
    out_of_fold([Slow()] * 6, X, np.arange(200) % 2, n_jobs=2, prefer="processes", after=stop)
"""
PROGRAM = """
import time
from joblib import Parallel, delayed
def slow(block):
    time.sleep(0.1)
    return block
def stop(*_):
    raise KeyboardInterrupt
{stopped}
try:
    stopped()
except KeyboardInterrupt as error:
    kept = error  # as a notebook keeps the traceback of what was interrupted
print(Parallel(n_jobs=3)(delayed(abs)(-n) for n in range(3)))
"""


@pytest.mark.parametrize("stopped", [BLOCKS, FOLDS], ids=["blocks", "folds"])
def test_joblib_can_be_used_after_somebody_stopped_early(stopped):
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", PROGRAM.replace("{stopped}", stopped)],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=180,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("[0, 1, 2]\n", "")
