"""Small files with the columns of Recarey's problems."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas

_WORDS = {
    "workclass": ["Private", "State-gov"],
    "education": ["HS-grad", "Masters", "9th"],
    "marital_status": ["Divorced", "Never-married", "Widowed"],
    "occupation": ["Sales", "Tech-support", "Craft-repair"],
    "relationship": ["Husband", "Wife"],
    "race": ["White", "Black"],
    "sex": ["Male", "Female"],
    "native_country": ["United-States", "United-States", "Cuba"],
}


def adults(n_rows: int = 240) -> pandas.DataFrame:
    """People whose income follows from their hours of work, but for some noise."""
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "age": rng.integers(17, 90, n_rows),
            "fnlwgt": rng.integers(10_000, 900_000, n_rows),
            "education_num": rng.integers(1, 17, n_rows),
            "capital_gain": rng.integers(0, 3, n_rows) * 5000,
            "capital_loss": rng.integers(0, 2, n_rows) * 1900,
            "hours_per_week": rng.integers(10, 80, n_rows),
        }
        | {name: rng.choice(words, n_rows) for name, words in _WORDS.items()}
    )
    rich = frame["hours_per_week"] + rng.normal(0, 5, n_rows) > 50
    return frame.assign(**{"class": np.where(rich, ">50K", "<=50K")})


def cars(n_rows: int = 240) -> pandas.DataFrame:
    """Cars whose price falls with their mileage."""
    rng = np.random.default_rng(1)
    mileage = rng.integers(0, 100_000, n_rows)
    return pandas.DataFrame(
        {
            "model": rng.choice(["Golf", "Polo", "Up"], n_rows),
            "year": rng.integers(2010, 2020, n_rows),
            "transmission": rng.choice(["Manual", "Automatic"], n_rows),
            "mileage": mileage,
            "fuelType": rng.choice(["Petrol", "Diesel"], n_rows),
            "tax": rng.integers(0, 200, n_rows),
            "mpg": rng.uniform(20, 80, n_rows),
            "engineSize": rng.choice([1.0, 1.5, 2.0], n_rows),
            "target": 30_000 - mileage // 5 + rng.integers(0, 3000, n_rows),
        }
    )


def write_files(folder: Path) -> Path:
    """All three files, as the real ones are packed; 20 images of each of the ten digits."""
    adults().to_csv(folder / "adult.csv.gz", index=False)
    cars().to_csv(folder / "used_cars_vw.csv.gz", index=False)
    rng = np.random.default_rng(2)
    y = np.repeat(np.arange(10), 20).astype(np.uint8)
    shapes = rng.integers(0, 2, (10, 36)) * 200
    X = np.abs(shapes[y] - rng.integers(0, 120, (200, 36))).clip(0, 255).astype(np.uint8)
    order = rng.permutation(200)
    X, y = X[order], y[order]
    np.savez(folder / "mnist.npz", X_train=X[:150], y_train=y[:150], X_test=X[150:], y_test=y[150:])
    return folder
