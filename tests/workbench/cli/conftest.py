"""Small tables and models that tests of commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from orfeon.workbench.cli import main


def make_homes(n_rows: int, seed: int) -> pd.DataFrame:
    """Homes with a name, a code that begins with a zero, a date, missing cells and a class."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(30, 200, n_rows).round(2)
    code = rng.choice(["01", "02", "A7", "10"], n_rows)
    price = size * np.where(code == "01", 3.0, 1.5) + rng.normal(0, 10, n_rows)
    rooms = np.where(rng.random(n_rows) < 0.1, np.nan, np.round(size / 25))
    return pd.DataFrame(
        {
            "name": [f"home-{i:05d}" for i in range(n_rows)],
            "size": size,
            "rooms": rooms,
            "code": code,
            "built": pd.date_range("1990-01-01", periods=n_rows, freq="D").strftime("%Y-%m-%d"),
            "price": price.round(2),
            "class": np.where(price > 250, "dear", "cheap"),
        }
    )


@pytest.fixture(scope="session")
def homes() -> pd.DataFrame:
    return make_homes(240, seed=0)


@pytest.fixture(scope="session")
def new_homes() -> pd.DataFrame:
    return make_homes(60, seed=1)


@pytest.fixture(scope="session")
def place(
    tmp_path_factory: pytest.TempPathFactory, homes: pd.DataFrame, new_homes: pd.DataFrame
) -> Path:
    """A folder with tables and with models of them; tests write elsewhere."""
    folder: Path = tmp_path_factory.mktemp("homes")
    homes.to_csv(folder / "homes.csv", index=False)
    new_homes.to_csv(folder / "new.csv", index=False)
    fit(folder / "homes.csv", "class", folder / "bag.orfeon", "--method", "bagging")
    fit(folder / "homes.csv", "price", folder / "price.orfeon", "--drop", "class")
    return folder


def fit(data: Path, target: str, output: Path, *more: str) -> None:
    arguments: list[Any] = ["fit", data, "--target", target, "-o", output, "--members", 15]
    assert main([*map(str, arguments), "--n-jobs", "1", "--quiet", "--json", *more]) == 0
