"""Sparse rows: what is read and refused, and the table of trees against the dense one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from orfeon import CARTClassifier, GradientBoostingClassifier, RandomForestClassifier
from orfeon.data import Table
from orfeon.data.schema import Schema
from orfeon.data.sparse import NO_ZEROS, SparseTable, read_sparse
from orfeon.data.training_set import TrainingSet, hash_rows

nan = np.nan


def random_table(seed: int, n_rows: int = 60, n_features: int = 9) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n_rows, n_features)).astype(float)
    X[:, 3] = rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.6] = 0
    X[::7, 4] = nan
    X[:, 5] = 0  # an empty column
    X[:, 6] = rng.normal(size=n_rows)  # a full one
    X[:, 7] = 0.0
    X[::5, 7] = nan  # zeros and missing values
    return X


def test_what_is_stored_as_zero_or_twice_is_read_as_its_sum():
    values = np.array([1.0, 2.0, 0.0, -3.0, nan])
    where = ([0, 0, 1, 1, 1], [2, 2, 0, 1, 2])
    rows = read_sparse(sparse.coo_matrix((values, where), shape=(2, 3)))
    assert rows.format == "csr"
    assert rows.nnz == 3
    assert_array_equal(rows.toarray(), [[0, 0, 3], [0, -3, nan]])


def test_the_given_matrix_is_left_as_it_was():
    given = sparse.csr_matrix(([0.0, 1.0], [1, 0], [0, 2]), shape=(1, 2))
    read_sparse(given)
    assert given.nnz == 2
    assert given.indices.tolist() == [1, 0]


@pytest.mark.parametrize("seed", range(4))
def test_ranks_and_values_are_those_of_the_dense_table(seed):
    X = random_table(seed)
    n_rows, n_features = X.shape
    dense = Table(X)
    records, by_row, start, _, n_values, value_start, values, shift, mask, _ = SparseTable(
        read_sparse(sparse.csc_array(X)), Schema.ordered(n_features)
    ).arrays
    assert_array_equal(n_values, dense.n_values)
    assert_array_equal(values, dense.values)
    assert_array_equal(value_start, dense.value_start)
    assert start[-1] == np.count_nonzero(X)
    for f in range(n_features):
        own = records[start[f] : start[f + 1]]
        assert_array_equal(own, np.sort(own))
        ranks = np.full(n_rows, by_row[f])
        ranks[own & mask] = own >> shift
        assert_array_equal(ranks, dense.ranks[f])
        assert (by_row[f] == NO_ZEROS) == (X[:, f] != 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_rows_hash_as_dense_ones_do(seed):
    X = random_table(seed)
    y = np.arange(len(X)) % 3
    assert_array_equal(hash_rows(read_sparse(sparse.csr_matrix(X)), y), hash_rows(X, y))


def test_copies_are_in_the_same_order():
    X = random_table(0)
    y, weights = np.zeros(len(X), np.int64), np.arange(len(X)) % 3 + 1.0
    dense = TrainingSet(X, y, weights, rows=np.arange(len(X))).in_canonical_order()
    rows = read_sparse(sparse.csr_matrix(X))
    wide = TrainingSet(rows, y, weights, rows=np.arange(len(X))).in_canonical_order()
    assert_array_equal(dense.rows, wide.rows)
    assert dense.digest == wide.digest


BAD = {
    "complex": (sparse.csr_matrix([[1j], [1.0]]), ValueError, "Complex data not supported"),
    "infinite": (sparse.csr_matrix([[0.0, 1.0], [0.0, -np.inf]]), ValueError, "'x1', row 1"),
    "no rows": (sparse.csr_matrix((0, 3)), ValueError, r"X has 0 sample\(s\)"),
    "no columns": (sparse.csr_matrix((2, 0)), ValueError, r"X has 0 feature\(s\)"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_matrices(name):
    X, error, message = BAD[name]
    fitted = CARTClassifier().fit(sparse.csr_matrix([[1.0, 0], [0, 1.0]]), [0, 1])
    with pytest.raises(error, match=message):
        CARTClassifier().fit(X, np.arange(X.shape[0]) % 2)
    if X.shape[1] == 2:
        with pytest.raises(error, match=message):
            fitted.predict(X)


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint64, np.float32])
def test_numbers_of_all_types_and_long_indices(kind):
    X = sparse.random(50, 20, 0.3, "csr", random_state=0)
    X.data = np.ceil(5 * X.data)
    y = np.arange(50) % 2
    typed = X.astype(kind)
    expected = CARTClassifier(random_state=0).fit(typed.toarray().astype(float), y)
    typed.indices, typed.indptr = typed.indices.astype(np.int64), typed.indptr.astype(np.int64)
    assert_array_equal(
        CARTClassifier(random_state=0).fit(typed, y).apply(typed),
        expected.apply(typed.toarray().astype(float)),
    )


def test_shapes_and_categories_are_checked():
    X = sparse.random(30, 4, 0.5, "csr", random_state=0)
    y = np.arange(30) % 2
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features"):
        forest.predict(X[:, :3])
    with pytest.raises(ValueError, match="not allowed with a sparse X"):
        RandomForestClassifier(3, categorical_features=[1]).fit(X, y)
    RandomForestClassifier(3, categorical_features=[]).fit(X, y)


REFUSING = {
    "pruning by cross-validation": CARTClassifier(pruning="cv"),
    "linear combinations": CARTClassifier(linear_combinations=True),
    "several best": CARTClassifier(n_best=3),
    "subsamples of nodes": CARTClassifier(max_split_samples=10),
    "boosting by every threshold": GradientBoostingClassifier(tree_method="exact"),
    "symmetric boosting": GradientBoostingClassifier(tree_shape="symmetric"),
    "boosting of first order": GradientBoostingClassifier(order=1),
}


@pytest.mark.parametrize("name", REFUSING)
def test_what_needs_dense_data_says_so(name):
    X = sparse.random(30, 4, 0.5, "csr", random_state=0)
    with pytest.raises(TypeError, match=r"Sparse data was passed for X.*[Uu]se X.toarray\(\)"):
        REFUSING[name].fit(X, np.arange(30) % 2)


def test_permuted_importances_need_dense_data():
    X = sparse.random(60, 4, 0.5, "csr", random_state=0)
    forest = RandomForestClassifier(20, importance="permutation", random_state=0)
    with pytest.raises(ValueError, match="needs dense data"):
        forest.fit(X, np.arange(60) % 2)
