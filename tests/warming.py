"""Compiles the kernels once for all workers of a test run, each worker a share.

Two workers with an empty cache would compile the same kernels at the same time. So, before the
first test of a long run, each one warms up different methods and waits for the others.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import orfeon
from orfeon.datasets import make_waveform
from orfeon.utils.kernel_cache import source_digest
from orfeon.workbench.cli import warmup

#: Estimators that take half of the time (about 70 of 140 seconds), mostly for random cuts. No
#: kernel of theirs is one of the others'.
SECOND_HALF = ("RandomTree", "ExtraTrees", "GradientBoosting", "ParallelPerceptron", "PPBoost")
#: A run of fewer tests does not need all families.
LONG_RUN = 2000
#: Maximum seconds to wait for another worker.
PATIENCE = 300


def is_cold() -> bool:
    """Whether no kernel of the current sources is in the cache."""
    folder = os.environ.get("NUMBA_CACHE_DIR") or Path(orfeon.__file__).parent
    return next(Path(folder).rglob(f"*-{source_digest()}-*.nbc"), None) is None


def warm_up_together(worker: int, n_workers: int, run: str) -> None:
    """Compile the share of a worker, and wait for the other workers."""
    for half in range(2):
        if half % n_workers == worker:
            _compile(half)
    meeting = _meeting(run)
    meeting.mkdir(exist_ok=True)
    (meeting / str(worker)).touch()
    deadline = time.monotonic() + PATIENCE
    while len(list(meeting.iterdir())) < n_workers and time.monotonic() < deadline:
        time.sleep(0.2)


def _compile(half: int) -> None:
    steps = [step for name, family in warmup.FAMILIES.items() if name != "large" for step in family]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such small tables make methods warn
        for step in steps:
            if step.estimator.startswith(SECOND_HALF) == bool(half):
                for table in step.tables:
                    warmup._fit(step, table)
        if half == 0:
            warmup._order_members()
            _explain()
            _fit_other_tables()
        else:
            _fit_wide_tables()


def _explain() -> None:
    """Shapley values of both kinds and of pairs, partial dependence, intervals and quantiles."""
    from orfeon.inspection import partial_dependence, shap_values

    X, y = make_waveform(60, random_state=0)
    settings: dict[str, Any] = {"oob_score": True, "random_state": 0}
    forest = orfeon.RandomForestRegressor(20, quantiles=True, **settings).fit(X, y)
    shap_values(forest, X[:3], interactions=True)
    shap_values(forest, X[:3], background=X[:5])
    shap_values(orfeon.RandomForestClassifier(5).fit(X, y), X[:3])
    partial_dependence(forest, X, [0])
    forest.predict_interval(X)
    forest.predict_quantiles(X, [0.5])
    forest.standard_error(X)


def _fit_wide_tables() -> None:
    """Forests of sparse tables and of several outputs."""
    X, y = make_waveform(60, random_state=0)
    for name in ("RandomForest", "ExtraTrees"):
        for kind in ("Classifier", "Regressor"):
            ensemble = getattr(orfeon, name + kind)
            wide, several = sparse.csr_array(X), np.column_stack([y, y])
            for rows, target in ((wide, y), (X, several), (wide, several)):
                ensemble(3, random_state=0).fit(rows, target).predict(rows)


def _fit_other_tables() -> None:
    """Boosting of sparse tables, and constrained features."""
    X, y = make_waveform(60, random_state=0)
    wide = sparse.csr_array(X)
    orfeon.GradientBoostingRegressor(n_estimators=2).fit(wide, y).predict(wide)
    orfeon.CARTRegressor(monotonic_cst={0: 1}).fit(X, y)


def leave(worker: int, run: str) -> None:
    """Remove the worker's file; the last worker removes the folder."""
    with contextlib.suppress(OSError):
        (_meeting(run) / str(worker)).unlink(missing_ok=True)
        _meeting(run).rmdir()


def _meeting(run: str) -> Path:
    return Path(tempfile.gettempdir()) / f"orfeon-tests-{run}"
