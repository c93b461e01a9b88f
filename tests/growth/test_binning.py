"""Cutting features into bins."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon.data.schema import Schema
from orfeon.data.sorting import N_DIGITS
from orfeon.growth.binning import bin_table
from orfeon.kernels.histogram.bins import sort_known


def of_categories(*counts: int) -> Schema:
    return Schema(tuple(tuple(range(n)) if n else None for n in counts))


def test_few_values_have_a_bin_each_and_missing_ones_their_own():
    X = np.array([[3.0, np.nan], [-1.0, 2.0], [np.nan, 2.0], [3.0, 2.0], [0.5, np.nan]])
    bins = bin_table(X, Schema.ordered(2), max_bins=3)
    assert bins.n_bins.tolist() == [3, 1]
    assert bins.column(0).tolist() == [2, 0, 3, 2, 1]
    assert bins.column(1).tolist() == [1, 0, 0, 0, 1]
    assert bins.offset.tolist() == [0, 4, 6, 7, 8, 9, 10, 11, 12]
    assert bins.low[:3].tolist() == bins.high[:3].tolist() == [-1.0, 0.5, 3.0]


@pytest.mark.parametrize(("n_rows", "max_bins"), [(255, 255), (256, 255), (1000, 255), (100, 7)])
def test_distinct_values_fill_the_bins_evenly(n_rows, max_bins):
    x = np.random.default_rng(0).permutation(n_rows).astype(np.float64)
    bins = bin_table(x[:, None], Schema.ordered(1), max_bins)
    assert bins.n_bins.tolist() == [min(n_rows, max_bins)]
    sizes = np.bincount(bins.column(0))
    assert len(sizes) == bins.n_bins[0]
    assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(bins.high[: len(sizes)] + 1, np.cumsum(sizes))
    np.testing.assert_array_equal(bins.low[1 : len(sizes)], np.cumsum(sizes)[:-1])


def test_a_frequent_value_has_a_bin_of_its_own_and_leaves_the_others_to_the_rest():
    rng = np.random.default_rng(1)
    x = np.concatenate([np.zeros(9000), rng.normal(size=1000)])
    bins = bin_table(rng.permutation(x)[:, None], Schema.ordered(1))
    at = int(np.flatnonzero(bins.low[:255] == 0)[0])
    assert bins.high[at] == 0
    # 1000 rows are left for 254 bins: about 4 each.
    sizes = np.bincount(bins.column(0))
    assert bins.n_bins[0] >= 250
    assert np.delete(sizes, at).max() <= 8


@pytest.mark.parametrize("kind", ["few", "float32", "float64", "extreme", "missing", "one"])
def test_known_values_are_sorted(kind):
    rng = np.random.default_rng(3)
    normal = rng.normal(size=500)
    column = {
        "few": rng.integers(-3, 4, 500).astype(np.float64),
        "float32": normal.astype(np.float32).astype(np.float64),
        "float64": np.where(rng.random(500) < 0.2, np.nan, normal),
        "extreme": np.array([1e308, -1e308, 5e-324, -5e-324, 0.0, -0.0, 1.0, np.nan, -1.0]),
        "missing": np.full(20, np.nan),
        "one": np.full(20, -7.5),
    }[kind]
    before = column.copy()
    keys = np.zeros((2, len(column)), np.uint64)
    n_known = sort_known(column, keys, np.zeros(N_DIGITS, np.uint32))
    expected = np.sort(column[~np.isnan(column)])
    np.testing.assert_array_equal(keys[0, :n_known].view(np.float64), expected)
    np.testing.assert_array_equal(column, before)


@pytest.mark.parametrize("selected", [False, True])
def test_type_layout_and_threads_change_no_bin(selected):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 19)).astype(np.float32).astype(np.float64)
    X[::7, 3] = np.nan
    rows = rng.permutation(3000)[: 2000 if selected else 3000]
    schema = Schema.ordered(19)
    expected = bin_table(X, schema, 31, rows=rows)
    for given in (X.astype(np.float32), np.asfortranarray(X)):
        bins = bin_table(given, schema, 31, n_threads=2, rows=rows)
        np.testing.assert_array_equal(bins.codes, expected.codes)
        np.testing.assert_array_equal(bins.low, expected.low)
        np.testing.assert_array_equal(bins.high, expected.high)


def test_bins_are_intervals_within_their_number():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, max_bins = int(rng.integers(1, 200)), int(rng.integers(2, 20))
        x = np.round(rng.standard_cauchy(n), int(rng.integers(0, 3)))
        x[rng.random(n) < rng.choice([0.0, 0.5])] = rng.choice(x)
        x[rng.random(n) < rng.choice([0.0, 0.3, 1.0], p=[0.5, 0.4, 0.1])] = np.nan
        bins = bin_table(x[:, None], Schema.ordered(1), max_bins)
        n_bins, codes, known = int(bins.n_bins[0]), bins.column(0), ~np.isnan(x)
        n_values = len(np.unique(x[known]))
        assert n_bins == max(n_values, 1) if n_values <= max_bins else 2 <= n_bins <= max_bins
        assert (codes[~known] == n_bins).all()
        for b in range(n_bins if known.any() else 0):
            inside = x[codes == b]
            assert (inside.min(), inside.max()) == (bins.low[b], bins.high[b])
        assert (bins.high[: n_bins - 1] < bins.low[1:n_bins]).all()


def test_every_category_has_a_bin():
    x = np.array([2.0, 0.0, np.nan, 2.0])
    bins = bin_table(x[:, None], of_categories(4), max_bins=4)
    assert bins.n_bins.tolist() == [4]
    assert bins.column(0).tolist() == [2, 0, 4, 2]
    assert bins.categories[0].tolist() == [0, 1, 2, 3]


def test_the_rarest_of_too_many_categories_share_a_bin():
    x = np.array([4.0, 4, 4, 1, 1, 0, 3, 2, 2, np.nan])
    bins = bin_table(x[:, None], of_categories(6), max_bins=4)
    # 4 occurs thrice, 1 and 2 twice; 0 and 3 once, 5 never.
    assert bins.categories[0].tolist() == [3, 0, 1, 3, 2, 3]
    assert bins.n_bins.tolist() == [4]
    assert bins.column(0).tolist() == [2, 2, 2, 0, 0, 3, 3, 1, 1, 4]


def test_many_categories_fit_into_bytes():
    x = np.arange(1000.0)
    bins = bin_table(np.tile(x, 2)[:, None], of_categories(1000))
    assert bins.n_bins.tolist() == [255]
    np.testing.assert_array_equal(bins.column(0), np.tile(np.minimum(x, 254), 2))


def test_features_are_read_from_their_place_in_a_word():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 200, (50, 19)).astype(np.float64)
    X[rng.random(X.shape) < 0.1] = np.nan
    bins = bin_table(X, Schema.ordered(19))
    assert bins.codes.shape == (3, 50)
    for j in range(19):
        known = ~np.isnan(X[:, j])
        values, ranks = np.unique(X[known, j], return_inverse=True)
        np.testing.assert_array_equal(bins.column(j)[known], ranks)
        assert (bins.column(j)[~known] == len(values)).all()


def test_read_only_rows_are_enough():
    X = np.arange(12.0).reshape(6, 2)
    X.setflags(write=False)
    assert bin_table(X, Schema.ordered(2)).column(1).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("max_bins", [1, 0, 256])
def test_the_number_of_bins_is_checked(max_bins):
    with pytest.raises(
        ValueError, match=f"max_bins={max_bins} is not allowed: it must be from 2 to 255"
    ):
        bin_table(np.zeros((3, 1)), Schema.ordered(1), max_bins)
