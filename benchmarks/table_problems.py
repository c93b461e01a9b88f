"""Tables as people have them: categories, missing values, few values, zeros, unequal classes.

Some are files of the optional data folder: the one that ``ORFEON_DATA`` names, or ``shared/data``
beside the repository. Others are made, in the shape of well-known ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas
from sklearn.datasets import make_classification

from benchmarks.problems import Data
from orfeon.datasets.folder import FOLDER_VARIABLE

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


@dataclass(frozen=True)
class Rows:
    """The same rows in the forms that libraries like best."""

    #: For orfeon: a data frame whose categories are of pandas' type, or an array of numbers.
    own: Data
    #: For the others: numbers; categories by their position, missing ones as -1.
    coded: Data
    #: A data frame whose categories are strings, as they were read.
    text: Data | None = None

    def take(self, rows: npt.NDArray[np.int64]) -> Rows:
        """Some of the rows."""
        return Rows(
            _taken(self.own, rows), _taken(self.coded, rows),
            None if self.text is None else _taken(self.text, rows),
        )  # fmt: skip


def _taken(data: Data, rows: npt.NDArray[np.int64]) -> Data:
    X: Any = data.X
    taken = X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else X[rows]
    return Data(data.name, taken, data.y[rows])


def of_frame(name: str, frame: Any, target: Any) -> Rows:
    """A data frame of strings and numbers in all forms.

    Examples
    --------
    >>> frame = pandas.DataFrame({"a": ["x", None, "y"], "b": [1.5, 2.5, None]})
    >>> of_frame("small", frame, ["no", "yes", "no"]).coded.X.tolist()
    [[0.0, 1.5], [-1.0, 2.5], [1.0, -1.0]]
    """
    y = np.unique(np.asarray(target), return_inverse=True)[1].astype(np.int64)
    coded = np.empty(frame.shape)
    typed = {}
    for j, (label, column) in enumerate(frame.items()):
        if pandas.api.types.is_numeric_dtype(column):
            coded[:, j], typed[label] = column.fillna(-1), column
        else:
            typed[label] = column.astype("category")
            coded[:, j] = typed[label].cat.codes
    # Rounded to 32 bits, so that scikit-learn's trees lose nothing.
    coded = coded.astype(np.float32).astype(np.float64)
    numbers = Data(name, coded, y)
    if all(pandas.api.types.is_numeric_dtype(column) for column in typed.values()):
        given = frame.to_numpy(np.float64).astype(np.float32).astype(np.float64)
        return Rows(Data(name, given, y), numbers)
    given = pandas.DataFrame(typed)
    return Rows(Data(name, given, y), numbers, Data(name, frame, y))


# -- files -----------------------------------------------------------------------------------------


def file_of(name: str) -> Path | None:
    """The file of a real table; None where there is none."""
    named = os.environ.get(FOLDER_VARIABLE)
    folders = ([Path(named)] if named else []) + [_BESIDE]
    found = [folder / f"{name}.csv{packed}" for folder in folders for packed in ("", ".gz")]
    return next((path for path in found if path.is_file()), None)


def _read(name: str) -> Rows:
    path = file_of(name)
    if path is None:
        raise FileNotFoundError(f"{name}.csv is not in the optional data folder.")
    frame = pandas.read_csv(path)
    target = frame.columns[-1]
    return of_frame(name, frame.drop(columns=target), frame[target].to_numpy(str))


# -- made ------------------------------------------------------------------------------------------


def car_like() -> Rows:
    """All combinations of six categorical features, with a rule that says how good a car is."""
    prices, few = ["low", "med", "high", "vhigh"], ["low", "med", "high"]
    features = {
        "buying": prices, "maint": prices, "doors": ["2", "3", "4", "5more"],
        "persons": ["2", "4", "more"], "lug_boot": ["small", "med", "big"], "safety": few,
    }  # fmt: skip
    frame = pandas.DataFrame(list(product(*features.values())), columns=list(features))
    rank = {name: frame[name].map(values.index) for name, values in features.items()}
    comfort = rank["lug_boot"] + (rank["doors"] > 0) + rank["safety"]
    cost = rank["buying"] + rank["maint"]
    refused = (rank["persons"] == 0) | (rank["safety"] == 0) | (cost > 4)
    grade = np.select([refused, cost - comfort > -1, cost > 1], ["no", "yes", "good"], "very good")
    return of_frame("car-like", frame, grade)


def spambase_like(seed: int = 0) -> Rows:
    """Shares of words in messages: mostly zeros, and three features of long tails."""
    rng = np.random.default_rng(seed)
    n_rows, n_words = 4601, 54
    y = (rng.random(n_rows) < 0.394).astype(np.int64)
    occurs = rng.uniform(0.02, 0.3, (2, n_words))
    size = rng.uniform(0.1, 1.0, (2, n_words))
    shares = np.where(rng.random((n_rows, n_words)) < occurs[y], rng.exponential(size[y]), 0.0)
    runs = np.exp(rng.normal([1.0, 2.5, 4.5], 1.0, (n_rows, 3)) + 0.7 * y[:, None])
    X = np.hstack([np.round(shares, 2), np.round(runs, 3)])
    return _of_numbers("spambase-like", X, y)


def _of_numbers(name: str, X: Any, y: Any) -> Rows:
    data = Data(name, np.asarray(X, np.float32).astype(np.float64), np.asarray(y, np.int64))
    return Rows(data, data)


def _clusters(name: str, n_rows: int, n_features: int, shares: list[float]) -> Rows:
    X, y = make_classification(
        n_rows, n_features, n_informative=n_features - 2, n_redundant=2, n_classes=len(shares),
        weights=shares, class_sep=1.5, flip_y=0.01, random_state=0,
    )  # fmt: skip
    return _of_numbers(name, X, y)


#: Real tables, in the order they are run.
FILES = ("adult", "german", "thyroid", "letter", "segment", "vowel")
#: Those that are made.
MADE: dict[str, Callable[[], Rows]] = {
    "car-like": car_like,
    "spambase-like": spambase_like,
    "page-blocks-like": partial(
        _clusters, "page-blocks-like", 5473, 10, [0.898, 0.06, 0.005, 0.016, 0.021]
    ),
    "mammography-like": partial(_clusters, "mammography-like", 11_183, 6, [0.977, 0.023]),
}


def read(name: str) -> Rows:
    """A table by its name.

    Examples
    --------
    >>> read("car-like").coded.shape, read("spambase-like").own.n_classes
    ((1728, 6), 2)
    """
    return MADE[name]() if name in MADE else _read(name)


def split(rows: Rows, n_training: int | None, n_asked: int) -> tuple[Rows, Rows, Rows]:
    """Training rows, test rows, and rows to predict.

    Examples
    --------
    >>> [len(part.own.y) for part in split(read("car-like"), None, 10_000)]
    [1152, 576, 10000]
    """
    rng = np.random.default_rng(0)
    order = rng.permutation(len(rows.own.y))
    border = 2 * len(order) // 3
    test = rows.take(order[border:])
    asked = rng.integers(len(test.own.y), size=n_asked)
    return rows.take(order[:border][:n_training]), test, test.take(asked)
