"""What a schema decides, how it matches categories, and what it refuses."""

from __future__ import annotations

import pickle
import subprocess
import sys
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from orfeon.data.presorted import Table
from orfeon.data.schema import MAX_CATEGORIES, Schema, names_of

nan = np.nan


def objects(*rows: list[Any]) -> np.ndarray:
    X = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        X[i] = row
    return X


def column(*items: Any) -> np.ndarray:
    return objects(*[[item] for item in items])


# Plain numbers


@pytest.mark.parametrize(
    "dtype",
    ["?", "b", "h", "i", "q", "B", "H", "I", "Q", "e", "f", "d", "g"],
)
def test_numbers_of_any_type_are_ordered_and_kept(dtype):
    X = np.array([[0, 1], [1, 0], [1, 1]], dtype=dtype)
    schema = Schema.learn(X)
    assert schema == Schema.ordered(2)
    encoded = schema.encode(X)
    assert encoded.dtype == np.float64
    assert_array_equal(encoded, [[0, 1], [1, 0], [1, 1]])


def test_a_clean_matrix_is_not_copied():
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert np.shares_memory(Schema.ordered(3).encode(X), X)


def test_layout_does_not_matter(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 6))
    X[3, 1] = nan
    file = tmp_path / "X.npy"
    np.save(file, X)
    frozen = X.copy()
    frozen.flags.writeable = False
    big_endian = X.astype(">f8")
    wide = np.zeros((40, 12))
    wide[::2, ::-2] = X
    same = [np.asfortranarray(X), np.load(file, mmap_mode="r"), frozen, big_endian, wide[::2, ::-2]]
    for other in same:
        schema, encoded = Schema.learn_and_encode(other)
        assert schema.all_ordered
        assert encoded.flags.c_contiguous
        assert encoded.dtype == np.float64
        assert_array_equal(encoded, X)
        by_index = Schema.learn(other, [0])
        assert by_index.n_categories[0] == 20
        assert_array_equal(by_index.encode(other)[:, 1:], X[:, 1:])


def test_the_input_is_never_changed():
    X = objects([1.5, "a", None], [nan, None, 2], [0, "b", True])
    before = pickle.dumps(X)
    Schema.learn_and_encode(X)
    assert pickle.dumps(X) == before


def test_masked_values_are_missing():
    X = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert_array_equal(Schema.learn_and_encode(X)[1], [[1, nan], [3, 4]])
    words = np.ma.array([["a"], ["b"]], mask=[[False], [True]])
    assert Schema.learn(words).categories == (("a",),)


def test_objects_that_are_numbers_are_ordered():
    X = column(1, 2.5, np.float32(0.5), np.int8(3), Decimal("1.25"), None, nan)
    schema, encoded = Schema.learn_and_encode(X)
    assert schema.all_ordered
    assert_array_equal(encoded[:, 0], [1, 2.5, 0.5, 3, 1.25, nan, nan])


def test_a_column_of_nothing_is_ordered_and_missing():
    schema, encoded = Schema.learn_and_encode(column(None, nan, None))
    assert schema.all_ordered
    assert np.isnan(encoded).all()


def test_lists_of_rows_keep_numbers_beside_strings():
    schema, encoded = Schema.learn_and_encode(
        [[1, "b", True], [2.5, "a", False], [None, "b", None]]
    )
    assert schema.categories == (None, ("a", "b"), (False, True))
    assert_array_equal(encoded, [[1, 1, 1], [2.5, 0, 0], [nan, 1, nan]])


@pytest.mark.parametrize("dtype", ["U4", object])
def test_string_arrays_are_categorical(dtype):
    X = np.array([["pear", "1"], ["fig", "2"], ["pear", "2"]], dtype=dtype)
    schema, encoded = Schema.learn_and_encode(X)
    assert schema.categories == (("fig", "pear"), ("1", "2"))
    assert_array_equal(encoded, [[1, 0], [0, 1], [1, 1]])
    assert all(type(c) is str for c in schema.categories[0])


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="needs NumPy 2")
def test_variable_width_strings_are_categorical():
    X = np.array([["pear"], ["fig"]], dtype=np.dtypes.StringDType())
    assert Schema.learn(X).categories == (("fig", "pear"),)


# Which features are categorical


@pytest.mark.parametrize(
    "chosen",
    [[0, 2], (2, 0), {0, 2}, np.array([0, 2]), [-1, 0], [True, False, True],
     np.array([True, False, True]), iter([0, 2]), range(0, 3, 2)],
)  # fmt: skip
def test_indices_and_masks_choose_the_categorical_features(chosen):
    X = np.array([[3.0, 1.0, 7.0], [nan, 2.0, 5.0], [1.0, nan, 7.0]])
    schema = Schema.learn(X, chosen)
    assert schema.categories == ((1.0, 3.0), None, (5.0, 7.0))
    assert_array_equal(schema.is_categorical, [True, False, True])
    assert_array_equal(schema.n_categories, [2, 0, 2])
    assert_array_equal(schema.encode(X), [[1, 1, 1], [nan, 2, 0], [0, nan, 1]])


@pytest.mark.parametrize("chosen", [None, []])
def test_none_takes_all_as_ordered(chosen):
    X = column(True, 2, None)
    assert_array_equal(Schema.learn(X, chosen).encode(X)[:, 0], [1, 2, nan])
    with pytest.raises(ValueError, match=r"Feature 'x0' is ordered but holds strings .*'red'.*"):
        Schema.learn(column("red"), chosen)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("colour", r"categorical_features='colour' is not allowed: give 'auto', None, a list"),
        (3, r"categorical_features=3 is not allowed"),
        ([2], r"categorical_features has 2; .* indices from -2 to 1"),
        ([0.0], r"categorical_features has 0\.0; allowed are"),
        ([True, 1], r"categorical_features has True; .* a mask of booleans only"),
        ([True], r"categorical_features is a mask of length 1; X has 2 features"),
        (["a"], r"unknown column 'a'; X has no column names"),
    ],
)
def test_a_wrong_choice_of_categorical_features_is_explained(chosen, message):
    with pytest.raises(ValueError, match=message):
        Schema.learn(np.zeros((3, 2)), chosen)


# What a category is


def test_one_and_one_point_zero_are_the_same_category():
    schema = Schema.learn(np.array([[3], [1], [7]]), [0])
    assert schema.categories == ((1, 3, 7),)
    assert_array_equal(
        schema.encode(np.array([[7.0], [1.0], [2.0], [nan]])), [[2], [0], [nan], [nan]]
    )
    assert_array_equal(schema.encode(column(7.0, np.int8(1), "x")), [[2], [0], [nan]])


def test_a_number_is_not_its_spelling():
    schema = Schema.learn(column(1, "1", "2"))
    assert schema.categories == ((1, "1", "2"),)
    assert_array_equal(schema.encode(column("1", 1, 1.0, 2, "2"))[:, 0], [1, 0, 0, nan, 2])
    numbers = Schema.learn(np.array([[1], [2]]), [0])
    assert np.isnan(numbers.encode(column("1", "2"))).all()
    strings = Schema.learn(column("1", "2"))
    assert np.isnan(strings.encode(np.array([[1.0], [2.0]]))).all()


def test_true_and_one_differ_where_both_were_seen():
    schema = Schema.learn(column(1, True, "a", 0, 2.0, np.True_))
    assert schema.categories == ((True, 0, 1, 2.0, "a"),)
    assert [type(c) for c in schema.categories[0]] == [bool, int, int, float, str]
    assert_array_equal(schema.encode(column(True, 1, 1.0, False, 0))[:, 0], [0, 2, 2, nan, 1])


def test_zero_and_one_stand_for_booleans_where_only_one_kind_was_seen():
    booleans = Schema.learn(column(True, False, None))
    assert booleans.categories == ((False, True),)
    assert_array_equal(booleans.encode(np.array([[1.0], [0.0], [2.0]]))[:, 0], [1, 0, nan])
    numbers = Schema.learn(np.array([[0], [1]]), [0])
    assert_array_equal(numbers.encode(column(True, False, 5))[:, 0], [1, 0, nan])


def test_large_integers_are_distinguished():
    big = 2**53
    schema = Schema.learn(column(big, big + 1, None), [0])
    assert schema.categories == ((big, big + 1),)
    assert_array_equal(schema.encode(column(big + 1, big + 2))[:, 0], [1, nan])
    assert_array_equal(schema.encode(np.array([[big + 1], [big]]))[:, 0], [1, 0])


@pytest.mark.parametrize("gone", [None, nan, np.float32("nan"), Decimal("nan")])
def test_missing_is_no_category(gone):
    schema, encoded = Schema.learn_and_encode(column("a", gone, "b", gone))
    assert schema.categories == (("a", "b"),)
    assert_array_equal(encoded[:, 0], [0, nan, 1, nan])


def test_an_empty_string_is_a_category():
    assert Schema.learn(column("", "nan", None)).categories == (("", "nan"),)


def test_unseen_categories_are_missing():
    schema = Schema.learn(column("a", "b"))
    assert_array_equal(schema.encode(column("c", "b", "", None))[:, 0], [nan, 1, nan, nan])


def test_a_categorical_feature_without_any_value_stays_categorical():
    schema, encoded = Schema.learn_and_encode(np.full((3, 1), nan), [0])
    assert schema.categories == ((),)
    assert np.isnan(encoded).all()
    assert np.isnan(schema.encode(np.ones((2, 1)))).all()
    assert Table(encoded, schema).n_values[0] == 0


def test_as_many_categories_as_codes_and_no_more():
    X = np.arange(MAX_CATEGORIES + 1)[:, None]
    encoded = Schema.learn_and_encode(X[:-1], [0])[1]
    assert encoded[-1, 0] == MAX_CATEGORIES - 1
    with pytest.raises(ValueError, match="Feature 'x0' has 65001 categories; at most 65000 are"):
        Schema.learn(X, [0])
    with pytest.raises(ValueError, match="Feature 'x0' has 65001 categories; at most 65000 are"):
        Schema.learn(X.astype(str).astype(object))


# What is refused


@pytest.mark.parametrize(
    "X", [np.zeros(3), [1.0, 2.0], ["a", "b"], 5, None, "word", np.zeros((2, 2, 2)), {"a": [1]}]
)
@pytest.mark.parametrize("method", [Schema.learn, Schema.ordered(2).encode])
def test_only_tables_are_accepted(X, method):
    with pytest.raises(ValueError, match=r"X must be a table .* its shape is .* Reshape your data"):
        method(X)


def test_ragged_rows_are_rejected():
    with pytest.raises(ValueError, match="X must be a table whose rows have equal lengths"):
        Schema.learn([[1, 2], [3]])


@pytest.mark.parametrize("dtype", [float, object])
def test_empty_tables_are_rejected(dtype):
    with pytest.raises(ValueError, match=r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"):
        Schema.learn(np.empty((0, 3), dtype=dtype))
    with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(4, 0\)\) while a minimum of 1"):
        Schema.learn(np.empty((4, 0), dtype=dtype))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        Schema.ordered(3).encode(np.empty((0, 3), dtype=dtype))


@pytest.mark.parametrize("dtype", [float, object])
def test_another_number_of_features_is_rejected(dtype):
    expected = r"X has 2 features, but Schema is expecting 3 features as input"
    with pytest.raises(ValueError, match=expected):
        Schema.ordered(3).encode(np.ones((4, 2), dtype=dtype))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, object])
def test_infinity_is_rejected_by_place(value, dtype):
    X = np.ones((4, 3), dtype=dtype)
    X[0, 0] = nan
    X[2, 1] = value
    schema = Schema.learn(X)
    with pytest.raises(ValueError, match=r"X contains infinity .* in Feature 'x1', row 2\."):
        schema.encode(X)
    with pytest.raises(ValueError, match=r"X contains infinity .* in Feature 'x1'"):
        Schema.learn(X, [1])
    with pytest.raises(ValueError, match=r"X contains infinity .* in Feature 'x0'"):
        Schema.learn(column("a", value))


def test_numbers_beyond_the_floats_are_rejected():
    with pytest.raises(ValueError, match=r"value too large for dtype.*Feature 'x0'"):
        Schema.learn(column(1, 10**400))
    with pytest.raises(ValueError, match=r"value too large for dtype.*Feature 'x0'"):
        Schema.learn(column("a", 10**400))
    if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
        large = np.array([[1.0], [np.finfo(np.longdouble).max]], dtype=np.longdouble)
        with pytest.raises(ValueError, match=r"value too large for dtype.*Feature 'x0', row 1"):
            Schema.learn_and_encode(large)
    assert Schema.learn_and_encode(column(10**30, 1))[1][0, 0] == 1e30
    # Finite, although their sum is not.
    assert Schema.learn_and_encode(np.full((4, 1), 1e308))[1][0, 0] == 1e308


@pytest.mark.parametrize(
    "item", [{"foo": "bar"}, [1], (1, 2), b"bytes", object(), np.datetime64(0, "D")]
)
@pytest.mark.parametrize("other", [0.5, "word"])
def test_objects_that_are_not_values_are_rejected(item, other):
    with pytest.raises(TypeError, match=r"Feature 'x0' .*argument must be .* string.* number"):
        Schema.learn(column(other, item))


@pytest.mark.parametrize("X", [np.array([[1j]]), column(1j), column("a", 1j)])
def test_complex_numbers_are_rejected(X):
    with pytest.raises(ValueError, match="Complex data not supported"):
        Schema.learn(X)


def test_dates_are_rejected():
    X = np.array([["2020-01-01"]], dtype="datetime64[D]")
    with pytest.raises(TypeError, match="Feature 'x0' holds dates or durations"):
        Schema.learn(X)


def test_bytes_and_structured_arrays_are_rejected():
    with pytest.raises(TypeError, match=r"Feature 'x0' has dtype \|S1; numbers, strings"):
        Schema.learn(np.array([[b"a"]]))
    with pytest.raises(TypeError, match="X is a structured array"):
        Schema.learn(np.zeros(3, dtype=[("a", float), ("b", int)]))


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("method", [Schema.learn, Schema.ordered(3).encode])
def test_sparse_data_are_rejected(make, method):
    with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is required"):
        method(make(np.eye(3)))


def test_strings_in_an_ordered_feature_are_rejected_at_prediction():
    schema = Schema.learn(np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"Feature 'x1' .*convert string to float: 'x'"):
        schema.encode(objects([1.0, "x"], [2.0, 3.0]))


def test_names_must_be_as_many_as_the_features():
    with pytest.raises(ValueError, match="names has 1 names; categories has 2 features"):
        Schema((None, None), ("a",))


# The rest


def test_names_to_show():
    assert Schema.ordered(2).name(1) == "x1"
    assert Schema.ordered(2, ["age", "sex"]).name(1) == "sex"


def test_names_of_the_features_of_a_model():
    def model(**known: Any) -> SimpleNamespace:
        return SimpleNamespace(**known)

    frame, numbered = model(columns=["c", "d"]), model(columns=range(2))
    ours, theirs = Schema.ordered(2, ["age", "sex"]), np.array(["a", "b"], dtype=object)
    assert names_of(model(schema_=ours, feature_names_in_=theirs), 2, frame) == ("age", "sex")
    assert names_of(model(feature_names_in_=theirs), 2, frame) == ("a", "b")
    assert names_of(model(), 2, frame) == ("c", "d")
    assert names_of(model(), 2, numbered) == ("x0", "x1")
    assert names_of(model(schema_=Schema.ordered(2)), 2, frame) == ("x0", "x1")
    assert names_of(model(feature_names_in_=theirs), 3) == ("x0", "x1", "x2")


def test_learning_and_encoding_at_once_gives_the_same():
    rng = np.random.default_rng(3)
    X = np.empty((200, 3), dtype=object)
    X[:, 0] = rng.choice(np.array(["a", "b", "c", None], dtype=object), 200)
    X[:, 1] = rng.normal(size=200)
    X[:, 2] = rng.integers(0, 5, 200)
    schema, encoded = Schema.learn_and_encode(X, [0, 2])
    assert schema == Schema.learn(X, [0, 2])
    assert_array_equal(encoded, schema.encode(X))
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_codes_agree_with_a_plain_dictionary():
    rng = np.random.default_rng(4)
    pool = [None, nan, "x", "y", "1", 1, 2, 2.5, -3, "", True, False]
    for _ in range(30):
        X = column(*[pool[i] for i in rng.integers(0, len(pool), 40)])
        new = column(*[pool[i] for i in rng.integers(0, len(pool), 40)])
        schema = Schema.learn(X, [0])

        def key(v):
            return (type(v) if isinstance(v, bool | str) else float, v)

        seen = {key(v) for v in X[:, 0] if v is not None and v == v}
        (categories,) = schema.categories
        assert {key(c) for c in categories} == seen
        keys = [key(c) for c in categories]
        expected = [keys.index(key(v)) if key(v) in seen else nan for v in new[:, 0]]
        assert_array_equal(schema.encode(new)[:, 0], expected)


def test_no_data_frame_library_is_needed_nor_imported():
    program = """
import sys
for name in ("pandas", "polars", "pyarrow"):
    sys.modules[name] = None  # what an import of a library that is not installed finds
import pickle

import numpy as np
from orfeon.data.schema import Schema
schema, encoded = Schema.learn_and_encode([[1, "b"], [None, "a"], [2.5, float("nan")]])
assert schema.categories == (None, ("a", "b")), schema
assert np.array_equal(encoded, [[1, 1], [np.nan, 0], [2.5, np.nan]], equal_nan=True), encoded
class Stream:
    def __arrow_c_stream__(self, requested_schema=None):
        raise NotImplementedError
try:
    Schema.learn(Stream())
except TypeError as error:
    assert "install pyarrow" in str(error), error
for name in ("pandas", "polars", "pyarrow"):
    del sys.modules[name]
schema.encode(np.array([[1, "b"]], dtype=object))
assert not {"pandas", "polars", "pyarrow"} & set(sys.modules)
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "fine", done.stderr


def test_unseen_categories_can_be_marked():
    schema = Schema.learn([["a", 1.5], ["b", 2.5]])
    X = [["b", 1.0], ["c", 1.0], [None, 1.0]]
    np.testing.assert_array_equal(schema.encode(X)[:, 0], [1, np.nan, np.nan])
    np.testing.assert_array_equal(schema.encode(X, mark_unseen=[0])[:, 0], [1, 2, np.nan])


def test_codes_of_many_categories_are_found_once_and_not_pickled():
    schema, _ = Schema.learn_and_encode([[f"level {i}"] for i in range(500)])
    known = schema._positions
    schema.encode([["level 3"]])
    assert schema._positions is known
    assert len(pickle.dumps(schema)) == len(pickle.dumps(Schema(schema.categories)))
    assert pickle.loads(pickle.dumps(schema)) == schema
