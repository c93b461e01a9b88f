"""A prepared table against the slow, obvious version of it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from orfeon.data.presorted import CATEGORICAL, COUNTED, FEW_VALUES, MAX_NARROW_ROWS, SORTED, Table
from orfeon.data.schema import Schema

nan = np.nan


def obvious_ranks(column: np.ndarray) -> tuple[list[int], list[float]]:
    values = sorted({x for x in column.tolist() if x == x})
    rank = {x: i for i, x in enumerate(values)}
    return [rank.get(x, len(values)) for x in column.tolist()], values


def check(table: Table, X: np.ndarray) -> None:
    """Everything a table promises, feature by feature."""
    n_rows, n_features = X.shape
    assert table.ranks.shape == (n_features, n_rows)
    categorical = table.schema.is_categorical
    segments = 0
    for j in range(n_features):
        kept = table.values[table.value_start[j] : table.value_start[j + 1]]
        if categorical[j]:
            n_categories = table.schema.n_categories[j]
            codes = [n_categories if x != x else x for x in X[:, j]]
            assert_array_equal(table.ranks[j], codes)
            assert table.n_values[j] == n_categories
            assert len(kept) == 0
            assert table.kind[j] == CATEGORICAL
            assert table.segment[j] == -1
            continue
        ranks, values = obvious_ranks(X[:, j])
        assert_array_equal(table.ranks[j], ranks)
        assert_array_equal(kept, values)
        assert table.n_values[j] == len(values)
        if len(values) <= FEW_VALUES or len(values) <= min(255, n_rows // 32):
            assert table.kind[j] == COUNTED
            assert table.segment[j] == -1
            continue
        assert table.kind[j] == SORTED
        assert table.segment[j] == segments
        records = table.records[segments]
        expected = sorted((rank, row) for row, rank in enumerate(ranks))
        assert_array_equal(records >> table.shift, [rank for rank, _ in expected])
        assert_array_equal(records & table.mask, [row for _, row in expected])
        segments += 1
    assert table.records.shape == (segments, n_rows)
    assert table.value_start[-1] == len(table.values)


def random_matrix(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Continuous, rounded, few-valued, constant, missing and huge features."""
    X = np.column_stack(
        [
            rng.normal(size=n_rows),
            rng.normal(size=n_rows).round(1),
            rng.integers(0, 5, n_rows),
            np.full(n_rows, 3.0),
            rng.choice([-0.0, 0.0, 1e-320, -1e308, 1e308], n_rows),
            rng.integers(0, FEW_VALUES + 1, n_rows),
            np.full(n_rows, nan),
            rng.normal(size=n_rows),
        ]
    )
    X[rng.random(n_rows) < 0.3, 1] = nan
    X[rng.random(n_rows) < 0.3, 2] = nan
    X[rng.random(n_rows) < 0.1, 7] = nan
    return X


@pytest.mark.parametrize("n_rows", [1, 2, 3, 17, 64, 65, 66, 500, 3000])
def test_ordered_features_agree_with_the_obvious_version(n_rows):
    rng = np.random.default_rng(n_rows)
    X = random_matrix(rng, n_rows)
    table = Table(X)
    assert (table.n_rows, table.n_features) == X.shape
    assert table.ranks.dtype == np.uint16
    assert table.records.dtype == np.uint32
    assert table.shift == 16
    check(table, X)


def test_categorical_features_agree_with_the_obvious_version():
    rng = np.random.default_rng(1)
    X = np.empty((400, 4), dtype=object)
    X[:, 0] = rng.choice(np.array(["a", "b", "c", None], dtype=object), 400)
    X[:, 1] = rng.normal(size=400)
    X[:, 2] = rng.integers(0, 200, 400)
    X[:, 3] = rng.choice(np.array([True, False, None], dtype=object), 400)
    table = Table.from_data(X, [0, 2, 3])
    assert table.schema == Schema.learn(X, [0, 2, 3])
    assert_array_equal(table.kind, [CATEGORICAL, SORTED, CATEGORICAL, CATEGORICAL])
    assert table.n_values[2] == len(set(X[:, 2]))
    check(table, table.schema.encode(X))


def test_the_missing_rank_comes_after_the_last():
    table = Table(np.array([[5.0], [nan], [5.0], [-1.0]]))
    assert table.ranks.tolist() == [[1, 2, 1, 0]]
    words = Table.from_data([["b"], [None], ["a"]])
    assert words.ranks.tolist() == [[1, 2, 0]]
    assert words.n_values.tolist() == [2]


def test_few_values_are_counted_and_one_more_is_sorted():
    X = np.arange(200.0)
    table = Table(np.column_stack([X % FEW_VALUES, X % (FEW_VALUES + 1)]))
    assert table.kind.tolist() == [COUNTED, SORTED]
    assert table.segment.tolist() == [-1, 0]


def test_equal_values_are_in_the_order_of_their_rows():
    X = np.random.default_rng(2).integers(0, 100, (20_000, 2)).astype(float)
    table = Table(X)
    assert (np.diff(table.records.astype(np.int64), axis=1) > 0).all()


@pytest.mark.parametrize("n_rows", [MAX_NARROW_ROWS, MAX_NARROW_ROWS + 1])
def test_records_widen_where_16_bits_end(n_rows):
    rng = np.random.default_rng(5)
    X = np.column_stack(
        [
            rng.permutation(n_rows).astype(float),  # as many values as rows
            rng.normal(size=n_rows).round(2),
            np.where(rng.random(n_rows) < 0.5, nan, rng.normal(size=n_rows)),
            rng.integers(0, 4, n_rows),
        ]
    )
    schema = Schema((None, None, None, ("a", "b", "c", "d")))
    table = Table(X, schema)
    narrow = n_rows == MAX_NARROW_ROWS
    assert table.ranks.dtype == (np.uint16 if narrow else np.uint32)
    assert table.records.dtype == (np.uint32 if narrow else np.uint64)
    assert table.shift.dtype == table.mask.dtype == table.records.dtype
    assert table.n_values[0] == n_rows
    check(table, X)


def test_all_features_may_be_categorical():
    table = Table.from_data([["a", "x"], ["b", None]])
    assert table.records.shape == (0, 2)
    assert table.values.size == 0
    assert table.value_start.tolist() == [0, 0, 0]


def test_blocks_of_columns_do_not_show():
    # Enough values that the columns are sorted in more than one block.
    X = np.random.default_rng(6).normal(size=(30_000, 40)).round(2)
    table = Table(X)
    for j in (0, 33, 34, 35, 39):
        ranks, values = obvious_ranks(X[:, j])
        assert_array_equal(table.ranks[j], ranks)
        assert_array_equal(table.values[table.value_start[j] : table.value_start[j + 1]], values)
    assert table.segment.tolist() == list(range(40))


def test_any_layout_gives_the_same_table():
    X = random_matrix(np.random.default_rng(7), 100)
    frozen = X.copy()
    frozen.flags.writeable = False
    table = Table.from_data(X)
    for other in (np.asfortranarray(X), frozen, np.repeat(X, 2, axis=0)[::2], X.astype(object)):
        same = Table.from_data(other)
        assert_array_equal(same.ranks, table.ranks)
        assert_array_equal(same.records, table.records)
        assert_array_equal(same.values, table.values)


def test_a_data_frame_becomes_a_table():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"size": [1.5, 0.5, None], "colour": ["red", None, "blue"]})
    table = Table.from_data(X)
    assert table.ranks.tolist() == [[1, 0, 2], [1, 2, 0]]
    assert table.kind.tolist() == [COUNTED, CATEGORICAL]
    assert table.schema.names == ("size", "colour")


def test_large_tables_have_records_once_they_are_read():
    rng = np.random.default_rng(0)
    table = Table(rng.normal(size=(MAX_NARROW_ROWS + 1, 2)))
    ranks = table.ranks
    assert table.in_order.records is None
    records = table.records
    assert table.in_order.records is records
    np.testing.assert_array_equal(table.ranks, ranks)
    for f in range(2):
        assert (np.diff(records[f] >> table.shift) <= 1).all()
        np.testing.assert_array_equal(ranks[f][records[f] & table.mask], records[f] >> table.shift)


@pytest.mark.parametrize("travels", [False, True])
def test_ranks_by_row_are_behind_those_by_feature(travels):
    table = Table(np.random.default_rng(0).normal(size=(50, 3)))
    ranks = table.ranks.copy()
    assert table.ranks_by_row is table.ranks_by_row
    if travels:
        table = pickle.loads(pickle.dumps(table))
        assert "ranks_by_row" not in vars(table)
    both = table.ranks_by_row
    np.testing.assert_array_equal(both[:150].reshape(3, 50), ranks)
    np.testing.assert_array_equal(both[150:].reshape(50, 3), ranks.T)
    np.testing.assert_array_equal(table.ranks, ranks)
