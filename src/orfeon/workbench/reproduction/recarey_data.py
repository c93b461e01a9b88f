"""The three problems of Recarey's studies, prepared as section 3.2 and the printed code say.

- Adult: rows with a missing value are dropped, then equal rows; residents of the United States are
  kept; the sampling weight, the country and the years of education are dropped; levels of education
  and of marital status are merged; the rest is one-hot. This gives 41,256 rows and 48 features. The
  text has 42,256 rows and 50 columns: a misprint, as no order of these steps gives more rows.
- Digits: a pixel is 1 when it is above 0. The text says 60,000 images, but its accuracies are those
  of a few thousand: the table's file has the number.
- Cars: rows with a missing value are dropped, the rest is one-hot: 15,157 rows, 39 features.

Nothing is scaled.

References
----------
Recarey (2021). Métodos de ensamblado en machine learning. Chapter 3.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.datasets.folder import DataSet
from orfeon.errors import UserError

_ADULT = [
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country",
]  # fmt: skip
_NOT_USED = ["fnlwgt", "native_country", "education_num"]
_CARS = ["model", "year", "transmission", "mileage", "fuelType", "tax", "mpg", "engineSize"]
_HOME = "United-States"
_EDUCATION = {
    "dropout": ["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"],
    "HighGrad": ["HS-grad"],
    "CommunityCollege": ["Some-college", "Assoc-acdm", "Assoc-voc"],
    "Bachelors": ["Bachelors"],
    "Masters": ["Masters", "Prof-school"],
    "Doctorate": ["Doctorate"],
}
_MARITAL_STATUS = {
    "NotMarried": ["Never-married", "Married-spouse-absent"],
    "Married": ["Married-AF-spouse", "Married-civ-spouse"],
    "Separated": ["Separated", "Divorced"],
    "Widowed": ["Widowed"],
}
#: Images of the training part of MNIST, which come first in its file.
N_TRAINING_IMAGES = 60_000


class Source(NamedTuple):
    """The files a problem can be read from, best first, and how they become numbers."""

    files: tuple[str, ...]
    prepare: Callable[[Any, str], DataSet]

    def available(self, folder: str | os.PathLike[str] | None) -> str | None:
        """The first of the files that is in the folder."""
        from orfeon.datasets import list_datasets

        try:
            there = {found.name for found in list_datasets(folder)}
        except UserError:  # the folder is not there
            return None
        return next((file for file in self.files if file in there), None)

    def read(self, folder: str | os.PathLike[str] | None) -> DataSet:
        """The prepared data."""
        from orfeon.datasets import load_dataset

        found = load_dataset(self.available(folder) or self.files[0], folder=folder)
        return self.prepare(found.frame, found.target_name)


def prepare_adult(frame: Any, target: str) -> DataSet:
    """Clean the census data and write it with numbers only."""
    table = _columns(frame, [*_ADULT, target], "adult").dropna().drop_duplicates()
    table = table[table["native_country"] == _HOME].drop(columns=_NOT_USED)
    table = table.assign(
        education=_merged(table["education"], _EDUCATION),
        marital_status=_merged(table["marital_status"], _MARITAL_STATUS),
    )
    y = table.pop(target).to_numpy(dtype=str)
    return DataSet(_one_hot(table), y)


def prepare_digits(frame: Any, target: str) -> DataSet:
    """Make pixels black or white; of the whole of MNIST only the training images are used."""
    frame = frame.iloc[:N_TRAINING_IMAGES]
    y = frame[target].to_numpy().astype(int)
    X = (frame.drop(columns=target).to_numpy() > 0).astype(np.uint8)
    if (np.diff(y) >= 0).all():  # sorted by class: the first samples must be of all classes
        order = np.random.default_rng(0).permutation(len(y))
        X, y = X[order], y[order]
    return DataSet(X, y)


def prepare_cars(frame: Any, target: str) -> DataSet:
    """Write the listing of cars with numbers only."""
    table = _columns(frame, [*_CARS, target], "used_cars_vw").dropna()
    y = table.pop(target).to_numpy(dtype=float)
    return DataSet(_one_hot(table), y)


def _columns(frame: Any, names: list[str], dataset: str) -> Any:
    """These columns of a file, spelled with hyphens or underscores."""
    found = frame.rename(columns=lambda name: str(name).replace("-", "_"))
    missing = [name for name in names if name not in found.columns]
    if missing:
        raise UserError(f"the data of {dataset} has no column {', '.join(missing)}")
    return found[names]


def _merged(column: Any, groups: dict[str, list[str]]) -> Any:
    """Levels by the name of their group."""
    names = {level: name for name, levels in groups.items() for level in levels}
    unknown = sorted(set(column) - set(names))
    if unknown:
        raise UserError(
            f"{column.name} of the data of adult must be one of {', '.join(names)}; "
            f"got {', '.join(unknown)}"
        )
    return column.map(names)


def _one_hot(frame: Any) -> npt.NDArray[np.float64]:
    import pandas

    texts = [name for name in frame if not pandas.api.types.is_numeric_dtype(frame[name])]
    found: npt.NDArray[np.float64] = pandas.get_dummies(frame, columns=texts).to_numpy(float)
    return found


#: Files and preparation of each data set.
PREPARED = {
    "adult": Source(("adult",), prepare_adult),
    "mnist": Source(("mnist", "mnist_5k"), prepare_digits),
    "used_cars_vw": Source(("used_cars_vw",), prepare_cars),
}
