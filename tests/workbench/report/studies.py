"""Small studies that tests of reports look at, each made once."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from orfeon.datasets import make_waveform
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
