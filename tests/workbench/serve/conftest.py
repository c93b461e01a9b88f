"""Models that tests of the service share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import orfeon
from orfeon.workbench.prepare import prepare
from orfeon.workbench.serve import create_app


def make_homes(n_rows: int, seed: int) -> pd.DataFrame:
    """Homes with a code that begins with a zero, a date, a boolean, missing cells and a class."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(30, 200, n_rows).round(2)
    code = rng.choice(["01", "02", "A7", "10"], n_rows)
    price = size * np.where(code == "01", 3.0, 1.5) + rng.normal(0, 10, n_rows)
    days = pd.to_datetime("1990-01-01") + pd.to_timedelta(rng.integers(0, 9000, n_rows), "D")
    return pd.DataFrame(
        {
            "size": size,
            "rooms": np.where(rng.random(n_rows) < 0.1, np.nan, np.round(size / 25)),
            "code": np.where(rng.random(n_rows) < 0.05, None, code),
            "garden": rng.random(n_rows) < 0.5,
            "built": days.strftime("%d/%m/%Y"),
            "price": price.round(2),
            "class": np.where(price > 250, "dear", "cheap"),
        }
    )


def fit_file(folder: Path, name: str, estimator: Any, target: str, drop: str) -> Path:
    prepared = prepare(make_homes(240, 0).drop(columns=drop), target)
    model = estimator.fit(prepared.X, prepared.y)
    path = folder / name
    orfeon.save(model, path, preparation=prepared.preparation, about={"seconds": 1.5})
    return path


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="session")
def homes_file(folder: Path) -> Path:
    """Classes of homes, of a table with numbers, categories, a boolean and a date."""
    forest = orfeon.RandomForestClassifier(n_estimators=15, random_state=0)
    return fit_file(folder, "homes.orfeon", forest, "class", "price")


@pytest.fixture(scope="session")
def prices_file(folder: Path) -> Path:
    bag = orfeon.BaggingRegressor(n_estimators=10, random_state=0)
    return fit_file(folder, "prices.orfeon", bag, "price", "class")


@pytest.fixture(scope="session")
def new_homes() -> pd.DataFrame:
    return make_homes(40, 1).drop(columns=["price", "class"])


@pytest.fixture(scope="session")
def homes(homes_file: Path) -> Any:
    return create_app(homes_file)


@pytest.fixture(scope="session")
def wave_model(waveform: Any) -> Any:
    """A pruned forest of plain numbers without names."""
    forest = orfeon.RandomForestClassifier(n_estimators=40, random_state=0).fit(*waveform)
    return orfeon.prune(forest, *waveform, keep=20)


@pytest.fixture(scope="session")
def wave(wave_model: Any) -> Any:
    return create_app(wave_model)


@pytest.fixture(scope="session")
def colours_model() -> Any:
    """Categories of words, numbers and booleans, and a number; no preparation, no names."""
    rng = np.random.default_rng(0)
    colour = rng.choice(np.array(["red", "blue", 3, 4.5, True, None], dtype=object), 120)
    number = rng.normal(size=120)
    X = np.column_stack([colour, number.astype(object)])
    y = (number > 0).astype(int) + (colour == "red")
    return orfeon.BaggingClassifier(n_estimators=9, random_state=0).fit(X, y)
