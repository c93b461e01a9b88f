"""What many tests use: the optional real data, the public estimators, the comparison of forests."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import orfeon
from orfeon.forest import Forest

#: Real data sets and published tables, beside the repository; tests that want them skip without.
SHARED = Path(__file__).resolve().parents[2] / "shared"

#: Whether ``--thorough`` was given: every setting of every estimator is checked then.
thorough = False


def cases(n_cases: int) -> int:
    """How many of the cases of a thorough run a usual one tries: a quarter."""
    return n_cases if thorough else max(1, n_cases // 4)


def path_of(name: str) -> Path:
    """A file of the optional data, such as "reference/martinez_3_2.csv"; skips when absent."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not among the optional data in {SHARED.name}/")
    return path


def load(name: str) -> tuple[Any, npt.NDArray[Any]]:
    """A real data set: the features as a data frame, and the target, its last column."""
    pandas = pytest.importorskip("pandas")
    packed = (SHARED / "data" / f"{name}.csv.gz").exists()
    frame = pandas.read_csv(path_of(f"data/{name}.csv{'.gz' if packed else ''}"))
    target = frame.columns[-1]
    return frame.drop(columns=target), frame[target].to_numpy()


def public_estimators() -> dict[str, type]:
    """Every estimator that the package exports, by name."""
    exported = {name: getattr(orfeon, name) for name in orfeon.__all__}
    return {name: thing for name, thing in exported.items() if hasattr(thing, "get_params")}


def differences(one: Forest, other: Forest) -> list[str]:
    """The fields in which two forests differ in any bit; NaN equals NaN."""
    found = []
    for field in fields(Forest):
        a, b = getattr(one, field.name), getattr(other, field.name)
        parts = zip(a, b, strict=True) if field.name == "projections" else [(a, b)]
        if not all(_same_bits(x, y) for x, y in parts):
            found.append(field.name)
    return found


def _same_bits(a: Any, b: Any) -> bool:
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return bool(a is b or a == b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def assert_same_forest(one: Forest, other: Forest, but: tuple[str, ...] = ()) -> None:
    """Two forests agree bit for bit, except in the fields named."""
    assert [name for name in differences(one, other) if name not in but] == []
