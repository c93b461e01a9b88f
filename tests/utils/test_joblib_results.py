"""Whoever stops a fit early leaves nothing behind that others would wait for."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from joblib import Parallel, delayed

from orfeon.utils.joblib_results import joblib_results

PROGRAM = """
import time
import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from orfeon.combining.out_of_fold import out_of_fold
from orfeon.growth.blocks import run_in_blocks

def slow(block):
    time.sleep(0.1)
    return block
def stop(*_):
    raise KeyboardInterrupt
class Slow(ClassifierMixin, BaseEstimator):
    def fit(self, X, y, sample_weight=None):
        slow(0)
        self.classes_ = np.unique(y)
        return self
    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)

def blocks():
    run_in_blocks(slow, range(30), 2, stop, prefer="processes")
def folds():
    X = np.arange(200.0)[:, np.newaxis]
    out_of_fold([Slow()] * 6, X, np.arange(200) % 2, n_jobs=2, prefer="processes", after=stop)

kept = []  # as a notebook keeps the traceback of what was interrupted
for stopped in (blocks, folds):
    try:
        stopped()
    except KeyboardInterrupt as error:
        kept.append(error)
print(Parallel(n_jobs=3)(delayed(abs)(-n) for n in range(3)))
"""


def stop_at_the_first(calls, done):
    with joblib_results(
        Parallel(2, prefer="threads", return_as="generator", pre_dispatch=4), calls
    ) as results:
        done.append(results)
        raise KeyboardInterrupt(next(results))


def test_results_that_nobody_reads_are_cancelled():
    begun: list[int] = []
    done: list[object] = []

    def slow(number):
        begun.append(number)
        time.sleep(0.02)
        return number

    with pytest.raises(KeyboardInterrupt) as kept:
        stop_at_the_first([delayed(slow)(n) for n in range(50)], done)
    assert kept.value.args == (0,)
    assert done[0].gi_frame is None
    time.sleep(0.1)
    assert len(begun) < 20


@pytest.mark.thorough
def test_joblib_can_be_used_after_somebody_stopped_early():
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", PROGRAM],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=180,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("[0, 1, 2]\n", "")
