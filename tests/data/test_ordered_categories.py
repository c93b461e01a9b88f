"""Ordered categorical types are ordered features: their values are read as positions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import orfeon
from orfeon import CARTClassifier, RandomForestClassifier
from orfeon.data import Schema
from orfeon.rendering import export_text

SIZES = ["low", "mid", "high", "huge"]


def sizes(n: int = 120, ordered: bool = True) -> pd.DataFrame:
    values = np.random.default_rng(0).choice(SIZES, n)
    return pd.DataFrame({"size": pd.Categorical(values, categories=SIZES, ordered=ordered)})


def codes(table: pd.DataFrame) -> np.ndarray:
    return table["size"].cat.codes.to_numpy(dtype=float)


def test_values_are_their_positions():
    schema, encoded = Schema.learn_and_encode(sizes())
    assert schema.categories == (None,)
    assert schema.levels == (tuple(SIZES),)
    np.testing.assert_array_equal(encoded[:, 0], codes(sizes()))
    assert schema.decode(encoded)[:, 0].tolist() == sizes()["size"].tolist()


def test_other_orders_and_unknown_values_in_prediction():
    schema = Schema.learn(sizes())
    other = pd.DataFrame(
        {"size": pd.Categorical(["huge", "low", None, "tiny"], categories=["tiny", "huge", "low"])}
    )
    np.testing.assert_array_equal(schema.encode(other)[:, 0], [3, 0, np.nan, np.nan])
    strings = np.array([["mid"], ["?"]], dtype=object)
    np.testing.assert_array_equal(schema.encode(strings)[:, 0], [1, np.nan])


def test_trees_cut_between_them():
    X = sizes()
    y = codes(X) > 1
    tree = CARTClassifier().fit(X, y)
    assert tree.forest_.threshold[0] == 1.5
    assert not tree.forest_.n_categories.any()
    text = export_text(tree)
    assert "size <= mid" in text
    assert "size > mid" in text
    numbers = CARTClassifier().fit(codes(X)[:, None], y)
    np.testing.assert_array_equal(tree.predict(X), numbers.predict(codes(X)[:, None]))


def test_without_an_order_or_when_declared_they_are_categories():
    for schema in (
        Schema.learn(sizes(ordered=False)),
        Schema.learn(sizes(), categorical_features=["size"]),
    ):
        assert schema.levels is None
        assert schema.categories == (tuple(sorted(SIZES)),)
    assert Schema.learn(sizes(), categorical_features=None).levels == (tuple(SIZES),)


def test_enums_of_polars_and_dictionaries_of_arrow():
    polars = pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    X = sizes(20)
    values = X["size"].tolist()
    enum = polars.DataFrame({"size": polars.Series(values, dtype=polars.Enum(SIZES))})
    for table in (enum, arrow.Table.from_pandas(X)):
        schema, encoded = Schema.learn_and_encode(table)
        assert schema.levels == (tuple(SIZES),)
        np.testing.assert_array_equal(encoded[:, 0], codes(X))
    text = polars.DataFrame({"size": polars.Series(values, dtype=polars.Categorical)})
    assert Schema.learn(text).levels is None


def test_model_files_keep_the_order(tmp_path):
    X = sizes()
    forest = RandomForestClassifier(5, random_state=0).fit(X, codes(X) > 1)
    orfeon.save(forest, tmp_path / "m.orfeon")
    loaded = orfeon.load(tmp_path / "m.orfeon")
    assert loaded.schema_ == forest.schema_
    np.testing.assert_array_equal(loaded.predict(X), forest.predict(X))


def test_onnx_says_that_it_has_no_order():
    pytest.importorskip("onnx")
    from orfeon.io.onnx import NoOnnxFormError, to_onnx

    X = sizes()
    tree = CARTClassifier().fit(X, codes(X) > 1)
    with pytest.raises(NoOnnxFormError, match="an ordered categorical feature has no ONNX form"):
        to_onnx(tree)
