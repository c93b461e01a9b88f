"""ARFF: declarations, full and sparse rows, quotes, missing values, dates."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pandas as pd
import pytest

from orfeon.datasets import read_file
from orfeon.datasets.arff import parse_declaration, read_arff
from orfeon.errors import UserError

GOLF = """% a comment
@RELATION 'the golf'

@ATTRIBUTE outlook {sunny, 'over cast', "rain, y"}
@attribute 'the humidity' REAL
@attribute wind integer
@attribute remark string
@attribute day date "yyyy-MM-dd"
@attribute it\\'s {a,b}
@attribute play {no,yes}
@DATA
sunny, 85.5, 1, 'it\\'s hot', 2024-02-29, a, no
% another
'over cast', ?, 2, ?, ?, ?, yes
"rain, y",-1e2,3,"two words","2024-03-01",b,yes
"""


def test_all_that_a_header_declares():
    frame = read_arff(GOLF.splitlines())
    assert list(frame.columns) == [
        "outlook", "the humidity", "wind", "remark", "day", "it\\'s", "play",
    ]  # fmt: skip
    assert frame["outlook"].tolist() == ["sunny", "over cast", "rain, y"]
    assert frame["outlook"].cat.categories.tolist() == ["sunny", "over cast", "rain, y"]
    np.testing.assert_array_equal(frame["the humidity"], [85.5, np.nan, -100.0])
    assert frame["remark"].iloc[0] == "it's hot"
    assert frame["remark"].isna().tolist() == [False, True, False]
    assert frame["day"].dt.day.tolist()[::2] == [29, 1]
    assert frame["day"].isna().tolist() == [False, True, False]


def test_sparse_rows_leave_zeros_and_first_levels_out():
    lines = ["@attribute u numeric", "@attribute v {a, b}", "@attribute w numeric", "@data"]
    frame = read_arff([*lines, "{0 2.5, 1 b}", "{}", "{2 ?}", "{ 1 'b' }"])
    np.testing.assert_array_equal(frame["u"], [2.5, 0, 0, 0])
    np.testing.assert_array_equal(frame["w"], [0, 0, np.nan, 0])
    assert frame["v"].tolist() == ["b", "a", "a", "b"]


def test_escapes_in_quotes():
    frame = read_arff(["@attribute s string", "@data", r"'a\tb'", r"'it\'s 5\% \\ \n'"])
    assert frame["s"].tolist() == ["a\tb", "it's 5% \\ \n"]


def test_weights_of_rows_are_ignored():
    frame = read_arff(["@attribute u numeric", "@attribute v {a}", "@data", "1,a,{5}", "2,a"])
    assert frame["u"].tolist() == [1.0, 2.0]


def test_a_level_that_was_not_declared_is_kept():
    frame = read_arff(["@attribute v {a,b}", "@data", "a", "c"])
    assert frame["v"].tolist() == ["a", "c"]


@pytest.mark.parametrize(
    ("java", "python"),
    [
        ("date", "ISO8601"),
        ("date 'yyyy-MM-dd HH:mm:ss'", "%Y-%m-%d %H:%M:%S"),
        ("DATE dd/MM/yy", "%d/%m/%y"),
        ("date \"yyyy-MM-dd'T'HH:mm\"", "%Y-%m-%dT%H:%M"),
    ],
)
def test_formats_of_dates(java, python):
    assert parse_declaration(f"@attribute when {java}").date_format == python


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["@attribute u numeric", "1"], "cannot parse the header line '1'"),
        (["@attribute u numeric"], "there is no line '@data'"),
        (["@relation r", "@data", "1"], "declares no columns"),
        (["@attribute u relational", "@data"], "type 'relational'; numeric, nominal"),
        (["@attribute u numeric", "@data", "1,2"], "row '1,2' has 2 cells; the header declares 1"),
        (["@attribute u numeric", "@data", "one"], "numeric column 'u' holds text"),
        (["@attribute u numeric", "@data", "{7 1}"], "cannot parse the sparse row"),
        (
            ["@attribute u date %q", "@data", "1"],
            "cannot parse the format of date column 'u'",
        ),
        (["@attribute u string", "@data", "'open"], "cannot parse the row"),
    ],
)
def test_broken_files_are_refused(tmp_path, lines, message):
    (tmp_path / "a.arff").write_text("\n".join(lines))
    with pytest.raises(UserError, match=message) as caught:
        read_file(tmp_path / "a.arff")
    assert str(caught.value).startswith(f"{tmp_path / 'a.arff'}: ")


def test_files_packed_sampled_and_in_other_letters(tmp_path):
    header = "@relation r\n@attribute größe numeric\n@attribute class {a,b}\n@data\n"
    text = header + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(200))
    (tmp_path / "a.arff.gz").write_bytes(gzip.compress(text.encode("latin-1")))
    frame = read_file(tmp_path / "a.arff.gz")
    assert frame.shape == (200, 2)
    assert frame.columns[0] == "größe"
    sample = read_file(tmp_path / "a.arff.gz", rows=20)
    assert len(sample) == 20
    assert sample["größe"].is_monotonic_increasing
    assert sample.attrs["notes"] == ["A random sample of 20 of its 200 rows was read."]
    (tmp_path / "b.arff").write_text(header)
    with pytest.raises(UserError, match="no rows"):
        read_file(tmp_path / "b.arff")


def test_the_same_is_read_as_by_scipy(tmp_path):
    arff = pytest.importorskip("scipy.io.arff")
    generator = np.random.default_rng(0)
    rows = [f"{u!r},{'xyz'[i % 3]}" for i, u in enumerate(generator.normal(size=50).tolist())]
    path = tmp_path / "a.arff"
    path.write_text(
        "@relation r\n@attribute u real\n@attribute v {x,y,z}\n@data\n" + "\n".join(rows)
    )
    limit = csv.field_size_limit()
    expected = pd.DataFrame(arff.loadarff(path)[0])
    csv.field_size_limit(limit)  # SciPy lifts it for the whole process
    found = read_file(path)
    assert found["u"].tolist() == expected["u"].tolist()
    assert found["v"].tolist() == [level.decode() for level in expected["v"]]
