"""Columns sorted digit by digit, and the keys that stand for values."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon.data.presorted import MAX_COMPARED_ROWS, Table
from orfeon.data.sorting import N_DIGITS, key_of, order_column, value_of

EXTREMES = np.array([
    -np.inf, -1.7e308, -1.0, -np.nextafter(1.0, 0.0), -5e-324, -0.0, 0.0, 5e-324, 2.3e-308, 1.0,
    np.nextafter(1.0, 2.0), 1.7e308, np.inf,
])  # fmt: skip


def columns(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    return {
        "continuous": rng.normal(size=n),
        "narrow": rng.normal(size=n).astype(np.float32).astype(np.float64),
        "whole": rng.integers(-50, 50, n).astype(np.float64),
        "equal": np.full(n, 7.5),
        "close": 1.0 + rng.integers(0, 9, n) * 2.0**-52,
        "extremes": rng.choice(EXTREMES, n),
        "far apart": rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
    }


@pytest.mark.parametrize("missing", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("name", list(columns(1)))
@pytest.mark.parametrize("n", [1, 2, 700, 5000])
def test_columns_are_in_stable_order_missing_values_last(n, name, missing):
    x = columns(n)[name]
    rng = np.random.default_rng(1)
    gone = rng.random(n) < missing
    x[gone] = np.where(rng.random(gone.sum()) < 0.5, np.nan, -np.nan)
    order = np.empty(n, np.int64)
    order_column(
        x, np.empty((2, n), np.uint64), np.empty((2, n), np.uint32),
        np.empty(N_DIGITS, np.uint32), order,
    )  # fmt: skip
    np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))


def test_tables_do_not_depend_on_how_their_columns_are_sorted(monkeypatch):
    n = MAX_COMPARED_ROWS + 1
    X = np.column_stack(list(columns(n).values()))
    X[np.random.default_rng(2).random(X.shape) < 0.05] = np.nan
    by_digits = Table(X)
    monkeypatch.setattr("orfeon.data.presorted.MAX_COMPARED_ROWS", n)
    compared = Table(X)
    for name in ("ranks", "records", "segment", "kind", "n_values", "values", "value_start"):
        np.testing.assert_array_equal(getattr(by_digits, name), getattr(compared, name), name)


def test_keys_are_in_the_order_of_the_values_and_stand_for_them():
    keys = [int(key_of.py_func(x)) for x in EXTREMES]
    assert keys[5] == keys[6] == 0
    del keys[5]
    assert keys == sorted(set(keys))
    assert [float(value_of.py_func(k)) for k in keys] == np.delete(EXTREMES, 5).tolist()
