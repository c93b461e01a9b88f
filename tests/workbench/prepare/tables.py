"""The table that tests of preparation start from."""

from __future__ import annotations

import numpy as np
import pandas as pd

N = 60


def table(**columns):
    """Sixty rows: a feature u, the columns given, and a class that follows from neither."""
    generator = np.random.default_rng(0)
    frame = {"u": generator.normal(size=N), **columns}
    frame.setdefault("class", np.where(generator.random(N) < 0.5, "no", "yes"))
    return pd.DataFrame(frame)


def answers(prepared):
    return " ".join(prepared.notes)


def everything():
    return table(
        word=["a", "b", None] * 20,
        truth=[True, False] * 30,
        when=pd.date_range("2024-01-01", periods=N).strftime("%d.%m.%Y"),
        commas=[f"{i},5" for i in range(N)],
        id=range(N),
    )
