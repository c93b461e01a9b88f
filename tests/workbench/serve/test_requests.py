"""Requests of all forms, and those that are refused: clearly, and without harm."""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import json
import threading
import time
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.workbench.serve.clients import ARROW, CSV, JSON, ask, ask_all, ask_in_parts, rows_of
from tests.workbench.serve.test_served_model import plain_rows

import orfeon
from orfeon.workbench.serve import Limits, create_app
from orfeon.workbench.serve.application import ScoringApplication
from orfeon.workbench.serve.bodies import read_head


@pytest.fixture(scope="module")
def small(homes) -> ScoringApplication:
    """The same model, with small limits."""
    return ScoringApplication(homes.served, Limits(max_bytes=4000, max_rows=5))


@pytest.fixture(scope="module")
def row(homes) -> dict[str, object]:
    return homes.served.example_row()


def stream(table: pa.Table, **options: object) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as file:
        file.write_table(table)
    return sink.getvalue().to_pybytes()


# -- forms that are read ---------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("begin", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a BOM"])
def test_csv_says_the_same_as_json(homes, new_homes, delimiter, begin):
    shuffled = new_homes[["built", "code", "size", "garden", "rooms"]].assign(more="x, y")
    body = begin + shuffled.to_csv(index=False, sep=delimiter).encode()
    answer = ask(homes, body, CSV, query="probabilities=true")
    assert answer.status == 200
    expected = ask(homes, rows_of(*plain_rows(new_homes)), query="probabilities=true")
    assert answer.body == expected.body


def test_csv_cells_are_read_as_people_write_them(homes, row):
    expected = ask(homes, rows_of({**row, "size": 1234.5, "rooms": None, "code": "01"})).body
    for size, rooms in (
        ("1234.5", ""),
        ('"1,234.5"', "NA"),
        ("1.2345e3", "?"),
        (" 1234.5 ", "null"),
    ):
        body = (
            f"size,rooms,code,garden,built\r\n{size},{rooms},01,{row['garden']},{row['built']}\r\n"
        )
        assert ask(homes, body.encode(), CSV).body == expected, (size, rooms)


def arrow_table(frame: pd.DataFrame) -> pa.Table:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return table.append_column("nested", pa.array([[1]] * len(frame)))


def test_arrow_says_the_same_as_json(homes, new_homes):
    expected = ask(homes, rows_of(*plain_rows(new_homes)), query="probabilities=true")
    table = arrow_table(new_homes)
    coded = table.set_column(2, "code", table["code"].dictionary_encode())
    large = table.set_column(2, "code", table["code"].cast("large_string"))
    decimals = table.set_column(
        0, "size", pa.array(table["size"].to_pylist()).cast(pa.decimal128(20, 4))
    )
    dates = pd.to_datetime(new_homes["built"], format="%d/%m/%Y")
    days = table.set_column(4, "built", pa.array(dates.dt.date))
    moments = table.set_column(4, "built", pa.array(dates, pa.timestamp("ms")))
    for one in (table, coded, large, decimals, days, moments):
        answer = ask(homes, stream(one), ARROW, query="probabilities=true")
        assert answer.body == expected.body, one.schema
    batches = stream(pa.concat_tables([table.slice(0, 7), table.slice(7)]))
    assert ask(homes, batches, ARROW, query="probabilities=true").body == expected.body


def test_integers_nulls_and_floats_of_arrow_are_numbers(wave, wave_model):
    X = np.arange(42).reshape(2, 21)
    columns = {f"x{j}": pa.array(X[:, j], pa.int16()) for j in range(21)}
    columns["x0"] = pa.array([None, 3], pa.uint8())
    columns["x1"] = pa.array([np.nan, 1.5], pa.float32())
    columns["x2"] = pa.nulls(2)
    columns["x3"] = pa.array(np.array([1.5, 2.5], np.float16))
    expected = X.astype(float)
    expected[:, 0], expected[:, 1], expected[:, 2] = [np.nan, 3], [np.nan, 1.5], np.nan
    expected[:, 3] = [1.5, 2.5]
    answer = ask(wave, stream(pa.table(columns)), ARROW).json
    assert answer["predictions"] == wave_model.predict(expected).tolist()


@pytest.mark.parametrize("kind", [CSV, ARROW])
def test_answers_come_in_the_form_that_is_asked_for(homes, new_homes, kind):
    body = rows_of(*plain_rows(new_homes))
    expected = ask(homes, body, query="probabilities=true").json
    answer = ask(homes, body, query="probabilities=true", accept=f"{JSON};q=0.9, {kind}")
    assert answer.headers["content-type"] == kind
    if kind == CSV:
        lines = list(csv.reader(io.StringIO(answer.body.decode())))
        found = pd.DataFrame(lines[1:], columns=lines[0])
        found = found.astype(dict.fromkeys(lines[0][1:], float))
    else:
        found = pa.ipc.open_stream(answer.body).read_pandas()
    assert list(found.columns) == ["prediction", "probability_cheap", "probability_dear"]
    assert found["prediction"].tolist() == expected["predictions"]
    shares = found[["probability_cheap", "probability_dear"]].to_numpy().tolist()
    assert shares == expected["probabilities"]


def test_a_body_may_come_in_parts(homes, row):
    body = rows_of(row)
    parts = [body[i : i + 7] for i in range(0, len(body), 7)]
    assert ask_in_parts(homes, parts).body == ask(homes, body).body
    assert homes._bodies._held == 0


def test_many_rows_are_answered_in_another_thread(wave, wave_model):
    X = np.random.default_rng(0).normal(size=(2000, 21))
    answer = ask(wave, rows_of(*X.tolist()))
    assert answer.json["predictions"] == wave_model.predict(X).tolist()


# -- refusals --------------------------------------------------------------------------------------

BAD_JSON = {
    "empty": b"",
    "blank": b"  \n",
    "no json": b"rows=1",
    "cut": b'{"rows": [[1, 2',
    "two documents": b"{} {}",
    "NaN": b'{"rows": [[NaN]]}',
    "Infinity": b'{"rows": [[-Infinity]]}',
    "not UTF-8": b'{"rows": ["\xff"]}',
    "UTF-16": '{"rows": []}'.encode("utf-16"),
    "deep": b'{"rows": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "many digits": b'{"rows": [[' + b"9" * 100_000 + b"]]}",
    "a name twice": b'{"rows": [{"size": 1, "size": 2}]}',
    "rows twice": b'{"rows": [], "rows": []}',
    "single quotes": b"{'rows': []}",
    "a bare word": b"nul",
}


@pytest.mark.parametrize("case", BAD_JSON)
def test_what_is_no_json_is_a_400(homes, case):
    answer = ask(homes, BAD_JSON[case])
    assert (answer.status, answer.kind) == (400, "bad_json")
    assert len(answer.body) < 400


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ([], "wrong_shape"),
        (None, "wrong_shape"),
        (1e999, "bad_json"),
        ({}, "wrong_shape"),
        ({"rows": None}, "wrong_shape"),
        ({"rows": {}}, "wrong_shape"),
        ({"rows": "abc"}, "wrong_shape"),
        ({"rows": []}, "no_rows"),
        ({"rows": [1]}, "wrong_shape"),
        ({"rows": [None]}, "wrong_shape"),
        ({"rows": ["abcde"]}, "wrong_shape"),
        ({"rows": [[]]}, "wrong_shape"),
        ({"rows": [[1, 2, 3, 4, 5, 6]]}, "wrong_shape"),
        ({"rows": [{}]}, "missing_column"),
        ({"rows": [[[1, 2, 3, 4, 5]]]}, "wrong_shape"),
    ],
)
def test_what_is_no_list_of_rows_is_refused(homes, body, kind):
    answer = ask(homes, json.dumps(body).encode())
    assert (answer.status, answer.kind) == (400 if kind == "bad_json" else 422, kind)


def test_rows_are_all_objects_or_all_lists(homes, row):
    for rows in ([row, list(row.values())], [list(row.values()), row], [row, 5], [row, None]):
        answer = ask(homes, rows_of(*rows))
        assert (answer.status, answer.kind) == (422, "wrong_shape")
        assert answer.json["error"]["where"] == {"row": 1, "column": None}


def test_names_beside_rows_are_refused_and_unknown_columns_passed_over(homes, row):
    extra = json.dumps({"rows": [row], "probabilities": True}).encode()
    assert ask(homes, extra).kind == "wrong_shape"
    more = {**row, "class": "dear", "": None, "constructor": {"a": [1]}, "x" * 500: 1}
    assert ask(homes, rows_of(more)).body == ask(homes, rows_of(row)).body


def test_a_missing_column_is_named_and_so_is_what_it_may_be_called(homes, row):
    given = {("sise" if name == "size" else name): cell for name, cell in row.items()}
    answer = ask(homes, rows_of(row, given))
    assert (answer.status, answer.kind) == (422, "missing_column")
    assert answer.json["error"]["where"] == {"row": 1, "column": "size"}
    assert "'sise'" in answer.message


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("size", "12"),
        ("size", "abc"),
        ("size", True),
        ("size", [1]),
        ("size", {}),
        ("size", 10**400),
        ("size", "\ud800"),
        ("code", []),
        ("code", {"a": 1}),
        ("garden", [True]),
        ("built", 20240229),
        ("built", "2024-02-29"),
        ("built", "31/02/2024"),
        ("built", "soon"),
        ("built", True),
        ("built", [1]),
    ],
)
def test_cells_of_the_wrong_kind_are_refused_by_row_and_column(homes, row, column, cell):
    for rows, at in (([{**row, column: cell}], 0), ([row, row, {**row, column: cell}], 2)):
        answer = ask(homes, rows_of(*rows))
        assert (answer.status, answer.kind) == (422, "wrong_value")
        assert answer.json["error"]["where"] == {"row": at, "column": column}
        assert len(answer.body) < 500


@pytest.mark.parametrize("column", ["size", "code"])
def test_numbers_too_large_for_a_float_are_refused(homes, row, column):
    body = rows_of({**row, column: 12345.5}).replace(b"12345.5", b"1e999")
    answer = ask(homes, body)
    assert (answer.status, answer.kind) == (422, "wrong_value")
    whole = rows_of({**row, "size": 12345}).replace(b"12345", b"1" + b"0" * 308)
    assert ask(homes, whole).status == 200


def test_too_much_is_refused(small, row):
    answer = ask(small, rows_of(*[row] * 6))
    assert (answer.status, answer.kind) == (422, "too_many_rows")
    assert ask(small, rows_of(*[row] * 5)).status == 200
    text = "\n".join([",".join(row), *[",".join(map(str, row.values()))] * 9])
    answer = ask(small, text.encode(), CSV)
    assert (answer.status, answer.kind) == (422, "too_many_rows")
    assert "9 rows" in answer.message
    table = pa.Table.from_pandas(pd.DataFrame([row] * 6))
    large = ScoringApplication(small.served, Limits(max_rows=5))
    assert ask(large, stream(table), ARROW).kind == "too_many_rows"
    answer = ask(small, b" " * 4001)
    assert (answer.status, answer.kind) == (413, "too_large")
    assert ask(small, b"{}", content_length="4001").status == 413
    answer = ask_in_parts(small, [b" " * 1000] * 5)
    assert (answer.status, answer.kind) == (413, "too_large")
    assert small._bodies._held == 0


@pytest.mark.parametrize(
    "kind",
    ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json",
     "application/json; charset=utf-16", "text/csv; charset=latin-1", "\xff", ";", "image/png"],
)  # fmt: skip
def test_other_content_types_are_refused(homes, row, kind):
    answer = ask(homes, rows_of(row), kind)
    assert (answer.status, answer.kind) == (415, "unsupported_media_type")
    assert JSON in answer.message or "UTF-8" in answer.message


@pytest.mark.parametrize("kind", ["application/json; charset=UTF-8", "Application/JSON"])
def test_content_types_may_be_written_in_any_way(homes, row, kind):
    assert ask(homes, rows_of(row), kind).status == 200


def test_packed_bodies_are_refused_clearly(homes, row):
    for packing in ("gzip", "br", "deflate", "GZIP", "gzip, gzip"):
        answer = ask(homes, gzip.compress(rows_of(row)), content_encoding=packing)
        assert (answer.status, answer.kind) == (415, "compressed")
        assert packing.lower() in answer.message
    assert ask(homes, rows_of(row), content_encoding="identity").status == 200
    assert ask(homes, gzip.compress(rows_of(row))).kind == "bad_json"


@pytest.mark.parametrize(
    "query", ["probabilities", "probabilities=1", "proba=true", "probabilities=true&more=1",
              "probabilities=true&probabilities=false", "probabilities=%00", "=", "a" * 3000,
              "explain=-1", "explain=101", "explain=x", "interval=1", "interval=0", "interval=nan"]
)  # fmt: skip
def test_other_parameters_are_refused(homes, row, query):
    answer = ask(homes, rows_of(row), query=query)
    assert (answer.status, answer.kind) == (400, "bad_parameter")
    assert ask(homes, rows_of(row), query="probabilities=false").status == 200


def test_a_length_that_is_no_number_is_refused_by_any_server(homes, row):
    for length in ("abc", "-1", "1.5", "²"):
        answer = ask(homes, rows_of(row), content_length=length)
        assert (answer.status, answer.kind) == (400, "bad_http")


def test_intervals_and_reasons_are_those_of_the_library(tmp_path):
    from orfeon.inspection import shap_values

    X, y = orfeon.datasets.make_friedman1(120, random_state=0)
    forest = orfeon.RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, y)
    orfeon.save(forest, tmp_path / "forest.orfeon")
    app = create_app(tmp_path / "forest.orfeon")
    body = json.dumps({"rows": X[:3].tolist()}).encode()
    answer = ask(app, body, query="explain=2&interval=0.8").json
    low, high = forest.predict_interval(X[:3], 0.8).T
    assert (answer["low"], answer["high"]) == (low.tolist(), high.tolist())
    values = shap_values(forest, X[:3]).values
    for row, text in zip(values, answer["reasons"], strict=True):
        assert text.count(";") == 1
        most = int(np.argmax(np.abs(row)))
        assert text.endswith(")")
        assert f"({row[most]:+.3g})" in text.split(";")[0]
    assert "reasons" not in ask(app, body).json
    assert ask(app, body, CSV, query="explain=2").status == 422  # this is no CSV
    table = ask(app, body, accept=CSV, query="interval=0.8").body.decode().splitlines()
    assert table[0] == "prediction,low,high"


def test_what_a_model_cannot_explain_is_one_sentence(homes, row):
    answer = ask(homes, rows_of(row), query="interval=0.9")
    assert (answer.status, answer.kind) == (422, "no_evidence")
    assert answer.json["error"]["message"].startswith("interval: ")


def test_numbers_have_no_probabilities(prices_file):
    app = create_app(prices_file)
    answer = ask(app, rows_of(app.served.example_row()), query="probabilities=true")
    assert (answer.status, answer.kind) == (422, "no_probabilities")


HEADER = "size,rooms,code,garden,built\n"
LINE = "50,2,01,True,01/02/1999\n"
BAD_CSV = {
    "empty": ("", 400),
    "a BOM only": ("\ufeff", 400),
    "blank lines": ("\n\n\n", 400),
    "header only": (HEADER, 422),
    "no such columns": ("a,b\n1,2\n", 422),
    "no header": (LINE, 422),
    "a column twice": ("size," + HEADER + "1," + LINE, 400),
    "a short row": (HEADER + "50,2\n", 400),
    "a long row": (HEADER + "50,2,01,True,01/02/1999,9\n", 400),
    "an open quote": (HEADER + '"50,2,01,True,01/02/1999\n', 400),
    "a word for a number": (HEADER + "big,2,01,True,01/02/1999\n", 422),
    "a word among numbers": (HEADER + LINE + "50,two,01,True,01/02/1999\n", 422),
    "infinity": (HEADER + "1e999,2,01,True,01/02/1999\n", 422),
    "a wrong date": (HEADER + "50,2,01,True,1999-02-01\n", 422),
    "a zero byte": (HEADER + "5\0,2,01,True,01/02/1999\n", 422),
    "a field without end": (HEADER + "5" * 200_000 + ",2,01,True,01/02/1999\n", 400),
}


@pytest.mark.parametrize("case", BAD_CSV)
def test_what_is_no_table_is_refused(homes, case):
    text, status = BAD_CSV[case]
    answer = ask(homes, text.encode(), CSV)
    assert answer.status == status, answer.body
    assert len(answer.body) < 500
    assert ask(homes, (HEADER + LINE).encode(), CSV).status == 200


def test_csv_that_is_not_utf_8_is_refused(homes):
    answer = ask(homes, (HEADER + LINE).encode("utf-16"), CSV)
    assert (answer.status, answer.kind) == (400, "bad_csv")


def test_a_table_of_very_many_columns_is_read_or_refused_in_no_time(homes, row):
    names = [*row, *(f"more{j}" for j in range(100_000))]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerow([*row.values(), *[1] * 100_000])
    assert ask(homes, text.getvalue().encode(), CSV).body == ask(homes, rows_of(row)).body


# -- Arrow streams that are not what they should be ------------------------------------------------


def test_arrow_of_the_wrong_schema_is_refused(homes, new_homes):
    table = arrow_table(new_homes)
    wrong = {
        "size": [pa.array(["a"] * 40), pa.array([True] * 40), pa.array([[1]] * 40),
                 pa.array([b"a"] * 40), pa.array(["a"] * 40).dictionary_encode()],
        "code": [pa.array([[1]] * 40), pa.array([b"a"] * 40), pa.array([{"a": 1}] * 40)],
        "built": [pa.array([1] * 40), pa.array([1.5] * 40), pa.array([True] * 40)],
    }  # fmt: skip
    for name, arrays in wrong.items():
        for array in arrays:
            changed = table.set_column(table.column_names.index(name), name, array)
            answer = ask(homes, stream(changed), ARROW)
            assert (answer.status, answer.kind) == (422, "wrong_value"), array.type
            assert answer.json["error"]["where"]["column"] == name
    assert ask(homes, stream(table.drop_columns(["size"])), ARROW).kind == "missing_column"
    assert ask(homes, stream(table.append_column("size", table["size"])), ARROW).status == 400
    assert ask(homes, stream(table.slice(0, 0)), ARROW).kind == "no_rows"
    infinite = table.set_column(0, "size", pa.array([1.0] * 39 + [np.inf]))
    answer = ask(homes, stream(infinite), ARROW)
    assert answer.json["error"]["where"] == {"row": 39, "column": "size"}


@pytest.mark.parametrize("packing", ["lz4", "zstd"])
def test_compressed_batches_are_refused(homes, new_homes, packing):
    table = arrow_table(new_homes)
    for one in (table, table.set_column(2, "code", table["code"].dictionary_encode())):
        answer = ask(homes, stream(one, compression=packing), ARROW)
        assert (answer.status, answer.kind) == (415, "compressed")


def test_a_column_that_claims_to_be_endless_takes_no_memory(wave):
    nulls = pa.RecordBatch.from_arrays([pa.nulls(2**26)] * 21, [f"x{j}" for j in range(21)])
    answer = ask(wave, stream(pa.Table.from_batches([nulls])), ARROW)
    assert (answer.status, answer.kind) == (422, "too_many_rows")


def with_words(frame: pd.DataFrame, words: pa.Array) -> pa.Table:
    table = arrow_table(frame)
    return table.set_column(table.column_names.index("code"), "code", words)


def test_a_word_that_all_rows_share_is_made_once(homes, new_homes):
    """Seven million letters in each of a thousand rows would fill the memory."""
    codes = pa.array([0] * len(new_homes), pa.int8())
    shared = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * (7 << 20)]))
    body = stream(with_words(new_homes, shared))
    assert len(body) < 8 << 20
    tracemalloc.start()
    try:
        answer = ask(homes, body, ARROW)
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()
    assert (answer.status, answer.kind) == (413, "too_large")
    assert "33,554,432 characters" in answer.message
    few = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 1000]))
    assert ask(homes, stream(with_words(new_homes, few)), ARROW).status == 200


def overlapping_views(n_words: int, n_letters: int) -> pa.Array:
    """Words that all are the same bytes: a length, the first four letters, buffer and offset."""
    one = np.array([n_letters, 0x78787878, 0, 0], np.int32).tobytes()
    parts = [None, pa.py_buffer(one * n_words), pa.py_buffer(b"x" * n_letters)]
    try:
        return pa.Array.from_buffers(pa.string_view(), n_words, parts)
    except ValueError:
        pytest.skip("this pyarrow reads such words, and does not let one make them")


def test_views_that_overlap_are_counted_before_they_are_made(homes, new_homes):
    views = overlapping_views(len(new_homes), 2 << 20)
    answer = ask(homes, stream(with_words(new_homes, views)), ARROW)
    assert (answer.status, answer.kind) == (413, "too_large")
    short = with_words(new_homes, pa.array(["01", None] * (len(new_homes) // 2), pa.string_view()))
    long = with_words(new_homes, pa.array(["01", None] * (len(new_homes) // 2)))
    assert ask(homes, stream(short), ARROW).body == ask(homes, stream(long), ARROW).body


def test_dictionaries_in_parts_are_refused(homes, new_homes):
    first, second = (
        with_words(new_homes, pa.array(words * 20).dictionary_encode())
        for words in (["01", "02"], ["01", "A7"])
    )
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    grown = pa.DictionaryArray.from_arrays(
        pa.array([0, 2] * 20, pa.int32()), pa.array(["01", "02", "A7"])
    )
    second = with_words(new_homes, grown)
    with pa.ipc.new_stream(sink, first.schema, options=options) as writer:
        writer.write_table(first)
        writer.write_table(second)
    answer = ask(homes, sink.getvalue().to_pybytes(), ARROW)
    assert (answer.status, answer.kind) == (400, "bad_arrow")
    assert "is a delta" in answer.message


@pytest.mark.parametrize(
    "far",
    [pa.array([10**9], pa.date32()), pa.array([10**15], pa.timestamp("s")), pa.array(["9" * 200])],
    ids=["days", "seconds", "a long word"],
)
def test_dates_that_are_too_far_are_refused_by_column(homes, new_homes, far):
    table = arrow_table(new_homes.head(1))
    changed = table.set_column(table.column_names.index("built"), "built", far)
    answer = ask(homes, stream(changed), ARROW)
    assert (answer.status, answer.kind) == (422, "wrong_value")
    assert answer.json["error"]["where"]["column"] == "built"


@pytest.mark.parametrize("kind", [JSON, CSV, ARROW])
def test_a_prediction_that_is_no_number_is_an_error_in_every_form(kind):
    class Overflowing(orfeon.CARTRegressor):
        def predict(self, X):
            return super().predict(X) * 1e308

    app = create_app(Overflowing().fit([[0.0], [1.0]], [0.0, 1e9]))
    assert ask(app, rows_of([0.0]), accept=kind).status == 200
    with np.errstate(over="ignore"):
        answer = ask(app, rows_of([0.0], [1.0]), accept=kind)
    assert (answer.status, answer.kind) == (422, "not_finite")
    assert answer.json["error"]["where"]["row"] == 1


def test_several_accept_lines_are_one_list(homes, row):
    """Of two lines the last does not hide the first."""
    lines = [(b"accept", b"text/csv"), (b"accept", b"*/*")]
    asked = read_head([(b"content-type", JSON.encode()), *lines], b"")
    assert asked.answer == CSV.encode()
    assert ask(homes, rows_of(row), accept="text/*").headers["content-type"] == CSV
    assert ask(homes, rows_of(row), accept="application/*").headers["content-type"] == JSON


def test_memory_that_runs_out_at_any_step_is_no_defect(homes, row, monkeypatch):
    def exhaust(*_):
        raise MemoryError

    for place in ("_rows", "_predict"):
        with monkeypatch.context() as patch:
            patch.setattr(type(homes.scoring), place, exhaust)
            assert ask(homes, rows_of(row)).kind == "busy"


def test_bodies_count_as_held_until_the_work_on_them_has_ended(waveform):
    """Also where a client was told that it takes too long, and where the work never began."""
    model = orfeon.RandomForestClassifier(n_estimators=5, random_state=0).fit(*waveform)
    app = ScoringApplication(create_app(model).served, Limits(predict_timeout=0.1, max_bytes=5000))
    app.scoring._small = 0
    go_on = threading.Event()
    answer = app.scoring.answer
    app.scoring.answer = lambda *given: go_on.wait(20) and answer(*given)
    body = rows_of(waveform[0][0].tolist())

    async def all_at_once() -> list[int]:
        found = [each.status for each in await ask_all(app, [body] * 4)]
        await asyncio.sleep(0.05)
        assert app._bodies._held == 2 * len(body)  # two threads work; the others were dropped
        go_on.set()
        until = time.monotonic() + 10
        while app._bodies._held and time.monotonic() < until:
            await asyncio.sleep(0.01)
        return found

    assert asyncio.run(all_at_once()) == [503] * 4
    assert app._bodies._held == 0


def test_broken_arrow_streams_are_refused_or_read_and_never_more(homes, new_homes):
    whole = stream(arrow_table(new_homes.head(5)).set_column(
        2, "code", pa.array(new_homes["code"].head(5)).dictionary_encode()
    ))  # fmt: skip
    rng = np.random.default_rng(0)
    statuses = set()
    for _ in range(150):
        broken = bytearray(whole)
        for place in rng.integers(0, len(broken), rng.integers(1, 4)):
            broken[place] = rng.integers(0, 256)
        cut = bytes(broken[: rng.integers(0, len(broken))] if rng.random() < 0.2 else broken)
        statuses.add(ask(homes, cut, ARROW).status)
    assert statuses <= {200, 400, 413, 415, 422}
    assert {200, 400} <= statuses
    for junk in (b"", b"\0" * 100, b"ARROW1\0\0", b"\xff\xff\xff\xff\xff\xff\xff\x7f", whole[:8]):
        assert ask(homes, junk, ARROW).kind == "bad_arrow"


def test_random_bytes_never_make_a_defect(homes):
    rng = np.random.default_rng(1)
    whole = rows_of(*[homes.served.example_row()] * 2)
    for _ in range(150):
        broken = bytearray(whole)
        for place in rng.integers(0, len(broken), rng.integers(1, 5)):
            broken[place] = rng.integers(0, 256)
        assert ask(homes, bytes(broken)).status in (200, 400, 422)


# -- the rest --------------------------------------------------------------------------------------


def test_other_requests_have_their_answers(homes, homes_file):
    assert ask(homes, b"", path="/health", method="GET").json["model"] == homes_file.name
    model = ask(homes, b"", path="/model", method="GET").json
    assert model["target"] == "class"
    assert [column["kind"] for column in model["columns"]] == [
        "number", "number", "category", "category", "date",
    ]  # fmt: skip
    assert model["columns"][2]["categories"] == ["01", "02", "10", "A7"]
    assert model["columns"][4]["format"] == "%d/%m/%Y"
    assert model["n_members"] == 15
    assert model["inside"]["n_trees"] == 15
    assert model["inside"]["about"] == {"seconds": 1.5}
    assert str(homes_file.parent) not in json.dumps(model)
    metrics = ask(homes, b"", path="/metrics", method="GET").body.decode()
    assert 'status="200"' in metrics
    assert "orfeon_rows_total" in metrics


def test_what_is_not_there_is_refused_in_the_same_form(homes):
    missing = ask(homes, b"", path="/nothing", method="GET")
    assert (missing.status, missing.kind) == (404, "not_found")
    slash = ask(homes, b"", path="/predict/")  # and not sent to the host that the client names
    assert (slash.status, slash.kind) == (404, "not_found")
    for path, method in (("/predict", "GET"), ("/predict", "DELETE"), ("/health", "POST")):
        answer = ask(homes, b"", path=path, method=method)
        assert (answer.status, answer.kind) == (405, "method_not_allowed")
        assert "allow" in answer.headers


def test_a_defect_is_a_500_that_says_nothing_of_its_inside(homes, row, monkeypatch, caplog):
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(homes.served, "predict", fail)
    answer = ask(homes, rows_of(row))
    assert (answer.status, answer.kind) == (500, "defect")
    assert b"secret" not in answer.body
    assert "secret" in caplog.text


def test_a_prediction_that_takes_too_long_is_told_so(waveform):
    import time

    from orfeon.workbench.serve.served_model import ServedModel

    class Slow(ServedModel):
        def predict(self, rows, *, probabilities=False):
            time.sleep(0.5)
            return super().predict(rows, probabilities=probabilities)

    import orfeon

    slow = Slow(orfeon.CARTClassifier(random_state=0).fit(*waveform))
    slow.is_quick = True
    app = ScoringApplication(slow, Limits(predict_timeout=0.1))
    app.scoring._small = 0
    answer = ask(app, rows_of([0.0] * 21))
    assert (answer.status, answer.kind) == (503, "slow_prediction")
    assert answer.headers["retry-after"] == "5"


@pytest.mark.parametrize(
    "name", ["max_bytes", "max_rows", "max_requests", "max_connections", "receive_timeout"]
)
@pytest.mark.parametrize("value", [0, -1, "5", True, None, float("nan")])
def test_limits_are_checked(name, value):
    with pytest.raises(ValueError, match=f"{name}=.* is not allowed"):
        Limits(**{name: value})
