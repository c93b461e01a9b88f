"""A table for random cuts against what it must hold."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from orfeon.data.coding import (
    CATEGORY_CODES,
    CATEGORY_KEYS,
    CODES,
    KEYS,
    MISSING_CODE,
    MOST_CODES,
    N_SLICES,
    code_near,
    code_of,
    slice_values,
)
from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.data.sorting import MISSING_KEY, value_of
from orfeon.utils.jit import kernel

nan = np.nan


@kernel
def values_of(keys, values):
    for i in range(len(keys)):
        values[i] = value_of(keys[i])


@kernel
def codes_of(values, numbers, codes):
    """Codes of some numbers, among all values but the first."""
    for i in range(len(numbers)):
        codes[i] = code_of(values, 1, len(values), numbers[i])


def test_columns_hold_the_values_as_codes_and_keys():
    rng = np.random.default_rng(0)
    n = 2000
    X = np.column_stack([
        rng.normal(size=n), rng.choice([-1e308, -0.0, 0.0, 1e-320, 7.5], n), np.full(n, nan),
        rng.permutation(np.arange(n) % MOST_CODES) - 3.0,
        rng.permutation(np.arange(n) % (MOST_CODES + 1)) - 3.0,
        rng.integers(0, 4, n), rng.integers(0, 300, n),
    ])  # fmt: skip
    X[rng.random(X.shape) < 0.1] = nan
    widths = [0, 0, 0, 0, 0, 4, 300]
    schema = Schema(tuple(tuple(range(w)) if w else None for w in widths))
    table = Table(X, schema).unsorted
    assert table.kind.tolist() == [KEYS, CODES, CODES, CODES, KEYS, CATEGORY_CODES, CATEGORY_KEYS]
    assert_array_equal(table.rows.reshape(X.shape), X)
    for f, kind in enumerate(table.kind):
        column, missing = X[:, f], np.isnan(X[:, f])
        coded = kind in (CODES, CATEGORY_CODES)
        own = (table.codes if coded else table.keys)[table.start[f] : table.start[f] + n]
        if kind in (CATEGORY_CODES, CATEGORY_KEYS):
            assert_array_equal(own, np.where(missing, widths[f], column))
        elif kind == KEYS:
            assert (own[missing] == MISSING_KEY).all()
            values_of(own[~missing], values := np.empty((~missing).sum()))
            assert_array_equal(values, column[~missing])
        else:
            first = table.value_start[f]
            values = table.values[first : first + table.n_values[f]]
            assert_array_equal(values, np.unique(column[~missing]))
            assert (own[missing] == MISSING_CODE).all()
            assert_array_equal(values[own[~missing]], column[~missing])


def test_a_code_is_that_of_the_last_value_up_to_a_number():
    values = np.array([9.0, -2.0, 0.0, 0.5, 4.0, 5.0])
    numbers = np.array([-2.0, -0.1, 0.0, 0.4, 0.5, 3.9, 4.0, 4.5, 5.0])
    codes_of(values, numbers, codes := np.empty(len(numbers), np.int64))
    assert_array_equal(codes, np.searchsorted(values[1:], numbers, side="right") - 1)


@kernel
def codes_near(values, numbers, slices, scale, codes):
    """Codes of some numbers, found by slices, within all pairs of codes around them."""
    for i in range(len(numbers)):
        for low in range(len(values)):
            for high in range(low + 1, len(values)):
                if values[low] <= numbers[i] < values[high]:
                    code = code_near(values, 0, low, high, numbers[i], slices, 0, scale)
                    codes[i] = code if codes[i] in (-1, code) else -2


def test_slices_lead_to_the_same_codes():
    rng = np.random.default_rng(3)
    shapes = (
        np.arange(20.0), np.round(rng.exponential(1.0, 60), 2), 10.0 ** np.arange(-9.0, 12.0),
        np.array([0.0, 5e-324, 1e-323]), np.array([-1e308, 0.0, 1e308]), np.array([1.0, 2.0]),
        1.0 + 2.0**-52 * np.arange(30.0), np.array([-np.inf, 0.0, 1.0]), np.array([3.0]),
    )  # fmt: skip
    n_sliced = 0
    for shape in shapes:
        values = np.unique(shape)
        slices = np.zeros(N_SLICES + 1, np.uint8)
        scale = slice_values(values, slices)
        n_sliced += scale > 0
        between = 0.5 * values[:-1] + 0.5 * values[1:]
        numbers = np.concatenate([values[:-1], between, np.nextafter(values[1:], -np.inf)])
        codes_near(values, numbers, slices, scale, codes := np.full(len(numbers), -1))
        assert_array_equal(codes, np.searchsorted(values, numbers, side="right") - 1)
    assert n_sliced == 5


def test_random_trees_need_no_sorted_table():
    from orfeon import ExtraTreesClassifier
    from orfeon.data.training_set import TrainingSet

    X = np.random.default_rng(1).normal(size=(50, 3))
    samples = TrainingSet(X, np.arange(50) % 2, np.ones(50), 2, schema=Schema.ordered(3))
    ExtraTreesClassifier()._base()._prepare(samples)
    assert "unsorted" in samples.table.__dict__
    assert "in_order" not in samples.table.__dict__
