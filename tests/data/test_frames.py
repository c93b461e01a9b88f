"""Tables of other libraries: pandas, polars, Arrow and the interchange interfaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from orfeon.data.schema import MAX_CATEGORIES, Schema

nan = np.nan


class Only:
    """A table that offers nothing but one interface."""

    def __init__(self, table: Any, interface: str) -> None:
        self.reads = 0
        self.table, self.interface = table, interface

    def __getattr__(self, name: str) -> Any:
        if name != self.interface:
            raise AttributeError(name)
        self.reads += 1
        return getattr(self.table, name)


def read(X: Any, categorical_features: Any = "auto") -> tuple[Any, list[Any]]:
    """Categories and encoded values of the only column."""
    schema, encoded = Schema.learn_and_encode(X, categorical_features)
    assert_array_equal(schema.encode(X), encoded)
    assert encoded.shape[1] == 1
    return schema.categories[0], encoded[:, 0].tolist()


def same(found: tuple[Any, list[Any]], categories: Any, values: list[Any]) -> None:
    assert found[0] == categories
    assert [type(c) for c in found[0] or ()] == [type(c) for c in categories or ()]
    assert_array_equal(found[1], values)


@pytest.fixture
def pd() -> Any:
    return pytest.importorskip("pandas")


@pytest.fixture
def pl() -> Any:
    return pytest.importorskip("polars")


@pytest.fixture
def pa() -> Any:
    return pytest.importorskip("pyarrow")


# pandas


@pytest.mark.parametrize("dtype", [object, "str", "string", "string[python]", "string[pyarrow]"])
def test_pandas_strings(pd, dtype):
    if dtype == "string[pyarrow]":
        pytest.importorskip("pyarrow")
    X = pd.DataFrame({"a": pd.Series(["b", None, "a", "b"], dtype=dtype)})
    if pd.__version__ < "3" and dtype == "str":
        pytest.skip("the str type came with pandas 3")
    same(read(X), ("a", "b"), [1, nan, 0, 1])


def test_pandas_object_columns_of_several_types(pd):
    X = pd.DataFrame({"a": pd.Series([1, "a", pd.NA, True, None, nan, pd.NaT, 1.0], dtype=object)})
    same(read(X), (True, 1, "a"), [1, 2, nan, 0, nan, nan, nan, 1])
    numbers = pd.DataFrame({"a": pd.Series([1, 2.5, pd.NA, None], dtype=object)})
    same(read(numbers), None, [1, 2.5, nan, nan])
    integers = pd.DataFrame({"a": pd.Series([2**53 + 1, pd.NA], dtype=object)})
    same(read(integers, ["a"]), (2**53 + 1,), [0, nan])


def test_pandas_categories(pd):
    levels = ["low", "middle", "high", "unused"]
    values = pd.Categorical(["high", None, "low", "middle"], categories=levels)
    X = pd.DataFrame({"a": values})
    # Only what occurs is a category: a level never seen in training is unseen later.
    same(read(X), ("high", "low", "middle"), [0, nan, 1, 2])
    schema = Schema.learn(X)
    later = pd.Categorical(["unused", "low", "new"], categories=["new", "unused", "low"])
    assert_array_equal(schema.encode(pd.DataFrame({"a": later}))[:, 0], [nan, 1, nan])
    assert_array_equal(schema.encode(pd.DataFrame({"a": ["low", "high"]}))[:, 0], [1, 0])


def test_pandas_categories_that_are_numbers_or_booleans(pd):
    same(read(pd.DataFrame({"a": pd.Categorical([3, 1, None])})), (1, 3), [1, 0, nan])
    same(read(pd.DataFrame({"a": pd.Categorical([2.5, 1])})), (1.0, 2.5), [1, 0])
    same(read(pd.DataFrame({"a": pd.Categorical([True, None])})), (True,), [0, nan])
    X = pd.DataFrame({"a": pd.Categorical([3, 1, None])})
    same(read(X, None), None, [3, 1, nan])
    schema = Schema.learn(X)
    assert_array_equal(schema.encode(np.array([[1.0], [3.0], [2.0]]))[:, 0], [0, 1, nan])


def test_pandas_many_categories_need_wide_codes(pd):
    words = [f"word {i:03}" for i in range(300)]
    categories, codes = read(pd.DataFrame({"a": pd.Categorical(words)}))
    assert categories == tuple(words)
    assert codes == list(range(300))


def test_pandas_booleans(pd):
    same(read(pd.DataFrame({"a": [True, False, True]})), (False, True), [1, 0, 1])
    same(read(pd.DataFrame({"a": [True, True]})), (True,), [0, 0])
    nullable = pd.DataFrame({"a": pd.Series([True, None, False], dtype="boolean")})
    same(read(nullable), (False, True), [1, nan, 0])
    same(read(nullable, None), None, [1, nan, 0])
    objects = pd.DataFrame({"a": pd.Series([True, None, False], dtype=object)})
    same(read(objects), (False, True), [1, nan, 0])


@pytest.mark.parametrize(
    "dtype",
    ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
     "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64",
     "int8[pyarrow]", "uint64[pyarrow]", "float[pyarrow]", "double[pyarrow]", "Sparse[float]"],
)  # fmt: skip
def test_pandas_numbers(pd, dtype):
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    whole = pd.DataFrame({"a": pd.Series([3, 1, 2], dtype=dtype)})
    same(read(whole), None, [3, 1, 2])
    categories, codes = read(whole, ["a"])
    assert categories == (1, 2, 3)
    assert codes == [2, 0, 1]
    if "int" in dtype and "pyarrow" not in dtype:
        return
    missing = pd.DataFrame({"a": pd.Series([3, None, 2], dtype=dtype)})
    same(read(missing), None, [3, nan, 2])
    assert_array_equal(read(missing, [0])[1], [1, nan, 0])


def test_pandas_large_integers_stay_exact_beside_missing_values(pd):
    X = pd.DataFrame({"a": pd.array([2**53, None, 2**53 + 1], dtype="Int64")})
    same(read(X, ["a"]), (2**53, 2**53 + 1), [0, nan, 1])
    same(read(X.dropna(), ["a"]), (2**53, 2**53 + 1), [0, 1])


def test_pandas_arrow_types(pd, pa):
    def frame(values: list[Any], dtype: Any) -> Any:
        return pd.DataFrame({"a": pd.Series(values, dtype=pd.ArrowDtype(dtype))})

    same(read(frame(["b", None, "a"], pa.string())), ("a", "b"), [1, nan, 0])
    same(read(frame(["b", None, "a"], pa.large_string())), ("a", "b"), [1, nan, 0])
    same(read(frame([True, None, False], pa.bool_())), (False, True), [1, nan, 0])
    same(read(frame([5, None, 2], pa.int16())), None, [5, nan, 2])
    same(read(frame([None, None], pa.null())), None, [nan, nan])
    dictionary = pd.Series(pd.arrays.ArrowExtensionArray(pa.array(["b", None]).dictionary_encode()))
    same(read(pd.DataFrame({"a": dictionary})), ("b",), [0, nan])


def test_pandas_dates_and_other_things_are_refused(pd):
    dates = pd.date_range("2020-01-01", periods=2)
    for values in (dates, dates.tz_localize("UTC"), dates - dates[0], dates.to_period("D")):
        with pytest.raises(TypeError, match="Feature 'when' holds dates or durations"):
            Schema.learn(pd.DataFrame({"when": values}))
    with pytest.raises(ValueError, match="Complex data not supported: Feature 'z'"):
        Schema.learn(pd.DataFrame({"z": [1j]}))
    with pytest.raises(TypeError, match=r"Feature 'a' has dtype interval.*; numbers, strings"):
        Schema.learn(pd.DataFrame({"a": pd.interval_range(0, 2)}))
    with pytest.raises(TypeError, match="'Interval': the argument must be a string, a number"):
        Schema.learn(pd.DataFrame({"a": pd.cut([1, 2, 3], 2)}))
    with pytest.raises(TypeError, match="'date': the argument must be a string, a number"):
        Schema.learn(pd.DataFrame({"a": pd.Series(dates.date, dtype=object)}))


def test_pandas_names(pd):
    X = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    schema = Schema.learn(X)
    assert schema.names == ("a", "b")
    for chosen in (["b"], [1], [False, True], X.columns[1:]):
        assert Schema.learn(X, chosen) == schema
    with pytest.raises(ValueError, match=r"unknown column 'c'; the columns are \['a', 'b'\]"):
        Schema.learn(X, ["c"])
    with pytest.raises(ValueError, match="Feature 'b' is ordered but holds strings"):
        Schema.learn(X, ["a"])
    assert Schema.learn(X.set_axis([7, 3], axis=1)).names is None
    assert Schema.learn(X.set_axis([0, 0], axis=1)).n_features == 2
    with pytest.raises(
        TypeError, match=r"string names, but X has column names of types \['str', 'int'"
    ):
        Schema.learn(X.set_axis(["a", 0], axis=1))
    with pytest.raises(ValueError, match=r"X has duplicate column names: \['a'\]"):
        Schema.learn(X.set_axis(["a", "a"], axis=1))


def test_pandas_other_names_at_prediction_are_refused(pd):
    schema = Schema.learn(pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "b", "c"]))
    assert_array_equal(schema.encode(np.ones((1, 3))), np.ones((1, 3)))
    start = "The feature names should match those that were passed during fit.\n"
    for names, message in (
        (["c", "b", "a"], "Feature names must be in the same order as they were in fit.\n"),
        (["a", "b", "d"], "Feature names unseen at fit time:\n- d\n"
                          "Feature names seen at fit time, yet now missing:\n- c\n"),
        (["b"], "Feature names seen at fit time, yet now missing:\n- a\n- c\n"),
        (["a", "b", "c", *"ijklmn"], "Feature names unseen at fit time:\n"
                                     "- i\n- j\n- k\n- l\n- m\n- ...\n"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="feature names") as caught:
            schema.encode(pd.DataFrame(np.ones((1, len(names))), columns=names))
        assert str(caught.value) == start + message


def test_pandas_infinity_is_named(pd):
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.inf]})
    with pytest.raises(ValueError, match=r"infinity .* in Feature 'b', row 1\."):
        Schema.learn_and_encode(X)


def test_pandas_empty_frames_and_series_are_refused(pd):
    X = pd.DataFrame({"a": [1.0]})
    with pytest.raises(ValueError, match=r"0 sample\(s\) \(shape=\(0, 1\)\)"):
        Schema.learn(X[:0])
    with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(1, 0\)\)"):
        Schema.learn(X[[]])
    with pytest.raises(ValueError, match="Reshape your data"):
        Schema.learn(X["a"])


def test_too_many_strings_are_refused(pd, pl):
    words = [str(i) for i in range(MAX_CATEGORIES + 1)]
    for X in (pd.DataFrame({"a": words}), pl.DataFrame({"a": words})):
        with pytest.raises(ValueError, match="Feature 'a' has 65001 categories; at most 65000"):
            Schema.learn(X)


# polars


def test_polars_strings_and_categories(pl):
    words = ["b", None, "a", "b"]
    for dtype in (pl.String, pl.Categorical):
        X = pl.DataFrame({"a": pl.Series(words, dtype=dtype)})
        same(read(X), ("a", "b"), [1, nan, 0, 1])
        assert_array_equal(Schema.learn(X).encode(pl.DataFrame({"a": ["c", "b"]}))[:, 0], [nan, 1])
    same(read(pl.DataFrame({"a": pl.Series([None], dtype=pl.String)})), (), [nan])
    objects = pl.DataFrame({"a": pl.Series([1, "x", None], dtype=pl.Object)})
    same(read(objects), (1, "x"), [0, 1, nan])


def test_polars_numbers_and_booleans(pl):
    integers = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]
    if hasattr(pl, "Int128"):
        integers.append(pl.Int128)
    for dtype in (*integers, pl.Float32, pl.Float64, pl.Decimal(10, 2)):
        X = pl.DataFrame({"a": pl.Series([3, None, 1], dtype=dtype)})
        same(read(X), None, [3, nan, 1])
        assert_array_equal(read(X, ["a"])[1], [1, nan, 0])
    same(read(pl.DataFrame({"a": [2**53, None, 2**53 + 1]}), [0]), (2**53, 2**53 + 1), [0, nan, 1])
    same(read(pl.DataFrame({"a": [True, None, False]})), (False, True), [1, nan, 0])
    same(read(pl.DataFrame({"a": [nan, None, 1.0]})), None, [nan, nan, 1])
    same(read(pl.DataFrame({"a": [None, None]})), None, [nan, nan])


def test_polars_what_is_refused(pl):
    import datetime

    with pytest.raises(TypeError, match="Feature 'a' holds dates or durations"):
        Schema.learn(pl.DataFrame({"a": [datetime.date(2020, 1, 1)]}))
    with pytest.raises(TypeError, match=r"Feature 'a' has dtype List\(Int64\); numbers"):
        Schema.learn(pl.DataFrame({"a": [[1, 2]]}))
    with pytest.raises(TypeError, match=r"X is a polars LazyFrame: pass X.collect\(\)"):
        Schema.learn(pl.DataFrame({"a": [1]}).lazy())
    with pytest.raises(ValueError, match="Reshape your data"):
        Schema.learn(pl.Series([1, 2]))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        Schema.learn(pl.DataFrame({"a": []}))


# Arrow and the interchange interface


def arrow_table(pa: Any) -> Any:
    return pa.table(
        {
            "text": ["b", None, "a"],
            "large": pa.array(["b", None, "a"], pa.large_string()),
            "coded": pa.array(["b", None, "a"]).dictionary_encode(),
            "codes": pa.array([7, None, 5]).dictionary_encode(),
            "flag": [True, None, False],
            "whole": pa.array([3, None, 1], pa.int32()),
            "float": pa.array([0.5, None, nan], pa.float32()),
        }
    )


EXPECTED = ([("a", "b")] * 3) + [(5, 7), (False, True), None, None]
VALUES = [[1, 1, 1, 1, 1, 3, 0.5], [nan] * 7, [0, 0, 0, 0, 0, 1, nan]]


def test_arrow_tables(pa):
    table = arrow_table(pa)
    chunks = pa.concat_tables([table.slice(0, 1), table.slice(1, 2)])
    for X in (table, chunks, table.to_batches()[0], Only(table, "__arrow_c_stream__")):
        schema, encoded = Schema.learn_and_encode(X)
        assert list(schema.categories) == EXPECTED
        assert schema.names == tuple(table.column_names)
        assert_array_equal(encoded, VALUES)


def test_arrow_chunks_with_different_dictionaries(pa):
    chunks = [pa.array(["b", None]).dictionary_encode(), pa.array(["a", "b"]).dictionary_encode()]
    same(read(pa.table({"a": pa.chunked_array(chunks)})), ("a", "b"), [1, nan, 0, 1])
    empty_word = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int32()), ["a", None])
    chunked = pa.chunked_array([*chunks, empty_word])
    same(read(pa.table({"a": chunked})), ("a", "b"), [1, nan, 0, 1, nan, 0])


def test_arrow_rare_types(pa):
    import decimal

    same(read(pa.table({"a": pa.nulls(2)})), None, [nan, nan])
    half = pa.array([np.float16(1.5), None], pa.float16())
    same(read(pa.table({"a": half})), None, [1.5, nan])
    same(read(pa.table({"a": [decimal.Decimal("1.25"), None]})), None, [1.25, nan])
    same(
        read(pa.table({"a": pa.array([2**53, None, 2**53 + 1])}), [0]),
        (2**53, 2**53 + 1),
        [0, nan, 1],
    )
    nans = pa.array([nan, 2.0, None]).dictionary_encode()
    same(read(pa.table({"a": nans})), (2.0,), [nan, 0, nan])
    with pytest.raises(TypeError, match="Feature 'a' holds dates or durations"):
        Schema.learn(pa.table({"a": pa.array([0], pa.timestamp("s"))}))
    with pytest.raises(TypeError, match="Feature 'a' has dtype binary; numbers, strings"):
        Schema.learn(pa.table({"a": [b"x"]}))


def test_an_arrow_column_is_rejected(pa):
    for X in (pa.array([1, 2]), pa.chunked_array([[1, 2]])):
        with pytest.raises(ValueError, match=r"its shape is \(2,\). Reshape your data"):
            Schema.learn(X)


def test_a_stream_is_read_once(pa):
    reader = arrow_table(pa).to_reader()
    schema, encoded = Schema.learn_and_encode(reader)
    assert list(schema.categories) == EXPECTED
    assert_array_equal(encoded, VALUES)


def test_polars_through_the_arrow_stream(pa, pl):
    frame = pl.DataFrame(
        {
            "text": ["b", None, "a"],
            "coded": pl.Series(["b", None, "a"], dtype=pl.Categorical),
            "levels": pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "a"])),
            "flag": [True, None, False],
            "whole": [3, None, 1],
        }
    )
    if not hasattr(frame, "__arrow_c_stream__"):
        pytest.skip("this polars has no Arrow stream")
    direct = Schema.learn_and_encode(frame)
    streamed = Schema.learn_and_encode(Only(frame, "__arrow_c_stream__"))
    assert streamed[0] == direct[0]
    assert_array_equal(streamed[1], direct[1])


def test_the_interchange_interface(pa):
    table = arrow_table(pa).drop_columns(["codes", "coded"])
    X = Only(table, "__dataframe__")
    schema, encoded = Schema.learn_and_encode(X)
    assert X.reads > 0
    assert list(schema.categories) == [("a", "b"), ("a", "b"), (False, True), None, None]
    assert_array_equal(encoded, [[1, 1, 1, 3, 0.5], [nan] * 5, [0, 0, 0, 1, nan]])


@pytest.mark.filterwarnings("ignore:The Dataframe Interchange Protocol is deprecated")
def test_pandas_through_the_interchange_interface_keeps_missing_categories(pa, pd):
    X = pd.DataFrame({"a": pd.Categorical(["b", None, "a"]), "n": [1.5, nan, 2.0]})
    schema, encoded = Schema.learn_and_encode(Only(X, "__dataframe__"))
    assert schema.categories == (("a", "b"), None)
    assert_array_equal(encoded, [[1, 1.5], [nan, nan], [0, 2]])


def test_a_broken_interface_is_named(pa):
    class Broken:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            raise RuntimeError("no more")

    with pytest.raises(TypeError, match=r"X is a Broken, read through .* failed: no more"):
        Schema.learn(Broken())


def test_all_containers_agree(pd, pl, pa):
    rng = np.random.default_rng(0)
    words = rng.choice(np.array(["x", "y", "z", None], dtype=object), 300).tolist()
    numbers = rng.choice(np.array([1, 2, 30, None], dtype=object), 300).tolist()
    data = {"w": words, "n": numbers}
    rows = [list(row) for row in zip(words, numbers, strict=True)]
    X = np.array(rows, dtype=object)
    for chosen in ("auto", [0, 1]):
        schema, encoded = Schema.learn_and_encode(rows, chosen)
        for other in (X, pd.DataFrame(data), pd.DataFrame(data, dtype=object), pl.DataFrame(data),
                      pa.table(data), pd.DataFrame(data).astype("category")):  # fmt: skip
            found = Schema.learn_and_encode(other, chosen)
            if chosen != "auto" or "category" not in str(getattr(other, "dtypes", "")):
                assert found[0].categories == schema.categories
                assert_array_equal(found[1], encoded)
            assert_array_equal(schema.encode(other), encoded)


@pytest.mark.parametrize("type_", ["string", "large_string", "string_view"])
@pytest.mark.parametrize("made_of", ["pandas", "pyarrow"])
@pytest.mark.parametrize("hole", ["x", None])
def test_known_strings_are_coded_as_read(hole, made_of, type_):
    """Strings among the categories are looked up; a column with others is read as a whole."""
    pyarrow = pytest.importorskip("pyarrow")
    schema = Schema.learn(pyarrow.table({"a": ["x", "y", "z"], "b": ["z", None, "y"]}))
    for other in ("y", "new"):
        columns = {"a": ["y", hole, "z"], "b": [other, "z", None]}
        X: Any = pyarrow.table(columns).cast(
            pyarrow.schema([(name, getattr(pyarrow, type_)()) for name in columns])
        )
        if made_of == "pandas":
            X = X.to_pandas().astype("string[pyarrow]")
        code = 0.0 if other == "y" else nan
        assert_array_equal(schema.encode(X), [[1, code], [0 if hole else nan, 1], [2, nan]])
        marked = schema.encode(X, mark_unseen=[1])
        assert_array_equal(marked[:, 1], [0 if other == "y" else 2, 1, nan])
