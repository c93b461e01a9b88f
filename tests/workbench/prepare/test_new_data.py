"""The way from a table to features is kept, for new data and tables of other makes."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from tests.shared import SHARED, path_of
from tests.workbench.prepare.tables import N, everything, table

from orfeon.datasets import load_dataset, read_file
from orfeon.errors import UserError
from orfeon.workbench.prepare import Preparation, prepare, profile_frame

# -- new data --------------------------------------------------------------------------------------


def test_the_way_is_kept_as_plain_json_and_gives_the_same():
    frame = everything()
    prepared = prepare(frame, "class")
    again = Preparation.from_dict(json.loads(json.dumps(prepared.preparation.to_dict())))
    assert again == prepared.preparation
    pd.testing.assert_frame_equal(again.transform(frame), prepared.X)
    X, y = again.transform_labelled(frame)
    pd.testing.assert_frame_equal(X, prepared.X)
    np.testing.assert_array_equal(y, prepared.y)
    assert again.columns == ("u", "word", "truth", "when", "commas")
    assert again.features == tuple(X.columns)


def test_rows_are_prepared_one_by_one_as_together():
    frame = everything()
    prepared = prepare(frame, "class")
    for i in (0, 2, 59):
        row = prepared.preparation.transform(frame.iloc[[i]])
        for name in row:
            one, other = row[name][0], prepared.X[name][i]
            assert one == other or (pd.isna(one) and pd.isna(other))


def test_new_data_in_another_order_with_more_columns_and_as_words(tmp_path):
    frame = everything()
    prepared = prepare(frame, "class")
    frame[["more", *frame.columns[::-1]]] = frame.assign(more=1)[["more", *frame.columns[::-1]]]
    frame = frame[frame.columns[::-1]].drop(columns=["class", "id"])
    frame.to_csv(tmp_path / "new.csv", index=False)
    pd.testing.assert_frame_equal(
        prepared.preparation.transform(read_file(tmp_path / "new.csv")), prepared.X
    )
    words = frame.astype(object).where(frame.isna(), frame.astype(str))
    pd.testing.assert_frame_equal(prepared.preparation.transform(words), prepared.X)
    assert prepared.preparation.transform(frame.head(0)).shape == (0, prepared.X.shape[1])


def test_new_values_are_missing_and_wrong_columns_refused():
    preparation = prepare(everything(), "class").preparation
    new = everything().head(3)
    new["word"] = ["b", "never seen", None]
    new["u"] = ["1", "none", None]
    X = preparation.transform(new)
    assert X["word"].isna().tolist() == [False, True, True]
    assert X["u"].isna().tolist() == [False, True, True]
    with pytest.raises(UserError, match=r"no column 'u' and 'when'; the model was trained with 5"):
        preparation.transform(new.drop(columns=["when", "u"]))
    new["u"] = "red"
    with pytest.raises(UserError, match=r"'u' must contain numbers.*it contains 'red'"):
        preparation.transform(new)
    new["u"], new["when"] = 1.0, "tomorrow"
    with pytest.raises(UserError, match=r"'when' must contain dates.*it contains 'tomorrow'"):
        preparation.transform(new)
    with pytest.raises(UserError, match="The target 'class' is not a column"):
        preparation.transform_labelled(everything().drop(columns="class"))
    with pytest.raises(UserError, match="No row of the data has a value for the target"):
        preparation.transform_labelled(everything().assign(**{"class": None}))


def test_a_preparation_of_another_version_is_refused():
    plain = prepare(everything(), "class").preparation.to_dict()
    with pytest.raises(UserError, match="the preparation has version 99; this release reads 1"):
        Preparation.from_dict({**plain, "version": 99})
    column = {**plain["columns"][0], "kind": "song"}
    with pytest.raises(ValueError, match="kind must be 'number', 'category' or 'date'"):
        Preparation.from_dict({**plain, "columns": [column]})


# -- other frames, files, profiles -----------------------------------------------------------------


def test_frames_of_other_libraries():
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    frame = everything()
    expected = prepare(frame, "class")
    found = prepare(polars.from_pandas(frame), "class")
    pd.testing.assert_frame_equal(found.X, expected.X)
    arrow = prepare(frame.convert_dtypes(dtype_backend="pyarrow"), "class")
    pd.testing.assert_frame_equal(arrow.X, expected.X)
    nullable = prepare(frame.convert_dtypes(), "class")
    pd.testing.assert_frame_equal(nullable.X, expected.X)


def test_the_types_of_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    day = datetime.date(2024, 1, 1)
    columns = {
        "whole": pa.array([None if i == 3 else 2 * i for i in range(N)], pa.int32()),
        "truth": pa.array([None if i == 3 else i % 2 == 0 for i in range(N)]),
        "coded": pa.array(["a", "b", "c"] * 20).dictionary_encode(),
        "price": pa.array([Decimal(i) / 4 for i in range(N)], pa.decimal128(8, 2)),
        "day": pa.array([day + datetime.timedelta(days=i) for i in range(N)]),
        "clock": pa.array([datetime.time(i % 24) for i in range(N)]),
        "list": pa.array([[i, i + 1] for i in range(N)]),
        "struct": pa.array([{"a": i} for i in range(N)]),
        "bytes": pa.array([b"a", b"b"] * 30),
        "class": pa.array(["no", "yes", "yes"] * 20),
    }
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    prepared = prepare(read_file(tmp_path / "a.parquet"), "class")
    kinds = {c.name: c.kind for c in prepared.profile.columns}
    assert kinds == {
        "whole": "number", "truth": "boolean", "coded": "category", "price": "number",
        "day": "date", "clock": "category", "list": "nested", "struct": "nested",
        "bytes": "nested", "class": "category",
    }  # fmt: skip
    assert "Excluded columns of lists, tables or bytes: list, struct and bytes." in prepared.notes
    assert prepared.X["price"][3] == 0.75


def test_notes_of_the_file_come_first(tmp_path):
    (tmp_path / "a.csv").write_text(
        "u;class\n" + "".join(f"{i},5;{'ab'[i % 2]}\n" for i in range(N))
    )
    prepared = prepare(read_file(tmp_path / "a.csv"), "class")
    assert prepared.notes[0] == "Numbers have decimal commas."


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("adult", marks=pytest.mark.thorough), "audio", "horse_colic", "labor",
        pytest.param("mnist_5k", marks=pytest.mark.thorough), "segment",
    ],
)  # fmt: skip
def test_real_data_sets_are_prepared_and_prepared_again(name):
    path_of("data/MANIFEST.csv")
    found = load_dataset(name, folder=SHARED / "data")
    prepared = prepare(found.frame, found.target_name)
    X, y = prepared.preparation.transform_labelled(found.frame)
    pd.testing.assert_frame_equal(X, prepared.X)
    np.testing.assert_array_equal(y, prepared.y)
    assert prepared.task == "classification"


def test_the_profile_of_a_table():
    frame = everything()
    profile = profile_frame(frame, "class")
    assert (profile.n_rows, profile.target) == (N, "class")
    shares = frame["class"].value_counts(normalize=True).to_dict()
    assert profile.class_shares == shares
    assert profile.column("word").n_missing == 20
    assert profile.column("word").examples == ("a", "b")
    assert profile.column("when").date_format == "%d.%m.%Y"
    json.dumps(profile.to_dict(), allow_nan=False)
    bare = profile_frame(frame)
    assert bare.target is None
    assert bare.class_shares == {}


def test_a_long_column_of_names_is_not_listed():
    """Beyond 200 000 rows a part is looked at; the count is of all."""
    n = 200_010
    frame = pd.DataFrame(
        {
            "name": pd.Series([f"n{i % 200_000}" for i in range(n)], dtype="str"),
            "u": np.arange(n) % 977 * 0.5,
            "class": ["a", "b"] * (n // 2),
        }
    )
    prepared = prepare(frame, "class")
    column = prepared.profile.column("name")
    assert (column.kind, column.n_distinct) == ("identifier", 200_000)
    assert list(prepared.X.columns) == ["u"]


def test_typical_values_are_medians_and_most_frequent_categories():
    frame = table(
        size=[1.0, 2.0, 3.0, np.nan, np.inf, 100.0] * 10, word=["a", "b", "b", None, "c", "b"] * 10
    )
    preparation = prepare(frame, "class").preparation
    typical = {column.name: column.typical for column in preparation.columns_used}
    assert typical["size"] == 2.5
    assert typical["word"] == "b"
    plain = preparation.to_dict()
    older = [{k: v for k, v in column.items() if k != "typical"} for column in plain["columns"]]
    again = Preparation.from_dict({**plain, "columns": older})
    assert {column.typical for column in again.columns_used} == {None}
    for name, wrong in (("size", "b"), ("size", float("nan")), ("size", True), ("word", "z")):
        columns = [
            {**column, "typical": wrong} if column["name"] == name else column
            for column in plain["columns"]
        ]
        with pytest.raises(ValueError, match="typical must be null"):
            Preparation.from_dict({**plain, "columns": columns})
