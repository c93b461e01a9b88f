"""Small studies that tests of reports look at, each made once."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from orfeon.datasets import make_friedman1, make_waveform
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.experiment.run import run_study


@cache
def classification() -> StudyOutcome:
    """Waveforms, with a column of names, a text and a row without class."""
    X, y = make_waveform(150, random_state=0)
    frame = pd.DataFrame(X[:, 4:16]).rename(columns="x{}".format)
    frame["wave"] = [f"wave {label}" for label in y]
    frame["id"] = range(len(frame))
    frame["remark"] = [f"this is a remark of several words, number {i}" for i in range(len(frame))]
    frame.loc[3, "wave"] = None
    return run_study(
        frame, "wave", name="waveform", repetitions=1, members=20, n_jobs=1,
        methods=["baseline", "cart", "bagging", "gradient_boosting"],
        command="orfeon study waveform.csv --target wave",
    )  # fmt: skip


@cache
def regression() -> StudyOutcome:
    """A sum of two features with noise; the third says nothing."""
    rng = np.random.default_rng(0)
    X = rng.random((120, 3))
    frame = pd.DataFrame(X, columns=["first", "second", "third"])
    frame["price"] = 100 * X[:, 0] + 20 * X[:, 1] + rng.normal(size=120)
    return run_study(
        frame, "price", name="prices", repetitions=1, members=20, n_jobs=1,
        methods=["baseline", "cart", "bagging"],
    )  # fmt: skip


_FOLDER = tempfile.TemporaryDirectory()
METHODS = ["baseline", "cart", "random_forest", "extra_trees", "selection"]


def store_of(name: str) -> Path:
    """Where the runs of a study are kept."""
    return Path(_FOLDER.name) / f"{name}.db"


@cache
def two_classes() -> tuple[pd.DataFrame, StudyOutcome]:
    """Two waveforms, with a category and missing values; its runs keep their predictions."""
    X, y = make_waveform(240, random_state=1)
    X, y = X[y < 2], y[y < 2]
    frame = pd.DataFrame(X[:, 4:10]).rename(columns="x{}".format)
    frame["kind"] = np.where(X[:, 12] > 2, "high", "low")
    frame.loc[::9, "x1"] = np.nan
    frame["wave"] = np.array(["falling", "rising"])[y]
    found = run_study(
        frame, "wave", name="two", repetitions=2, members=15, n_jobs=1, methods=METHODS, keep=[],
        store=store_of("two"),
    )  # fmt: skip
    return frame, found


@cache
def numbers() -> tuple[pd.DataFrame, StudyOutcome]:
    """Friedman's first problem; its runs keep their predictions."""
    X, y = make_friedman1(100, random_state=1)
    frame = pd.DataFrame(X[:, :6]).rename(columns="x{}".format).assign(y=y)
    found = run_study(
        frame, "y", name="numbers", repetitions=1, members=15, n_jobs=1, methods=METHODS, keep=[],
        store=store_of("numbers"),
    )  # fmt: skip
    return frame, found
