"""Tables with more columns: what models say, beside the features."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats


def is_frame(X: Any) -> bool:
    """Whether a table is a data frame of pandas or polars, which can be handed on as it is."""
    return hasattr(X, "iloc") or _is_polars(X)


def _is_polars(X: Any) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, polars.DataFrame)


def beside(X: Any, columns: Floats, names: Sequence[str], *, first: bool = False) -> Any:
    """A table with columns of numbers beside those it has."""
    if not is_frame(X):
        return np.column_stack([columns, X] if first else [X, columns])
    taken = list(X.columns)
    new = free_names(names, taken)
    if _is_polars(X):
        wider = X.with_columns(**dict(zip(new, columns.T.copy(), strict=True)))
        return wider.select([*new, *taken] if first else [*taken, *new])
    pandas = sys.modules["pandas"]
    added = pandas.DataFrame(columns, columns=new, index=X.index)
    return pandas.concat([added, X] if first else [X, added], axis=1)


def answer_columns(answers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """What one model says, as columns; of two classes the probability of the second says all."""
    return answers[:, 1:] if answers.shape[1] == 2 else answers


def answer_names(names: Sequence[str], classes: npt.NDArray[Any] | None) -> list[str]:
    """Names of these columns."""
    if classes is None:
        return list(names)
    told = classes[1:] if len(classes) == 2 else classes
    return [f"{name}_{label}" for name in names for label in told]


def free_names(names: Sequence[str], taken: Sequence[Any]) -> list[Any]:
    """Names of new columns that are not those of others."""
    if not all(isinstance(name, str) for name in taken):
        # Numbers, as those there are: scikit-learn takes no strings beside them.
        free = (number for number in count() if number not in taken)
        return [next(free) for _ in names]
    new: list[Any] = []
    for name in names:
        while name in taken or name in new:
            name = f"_{name}"
        new.append(name)
    return new
