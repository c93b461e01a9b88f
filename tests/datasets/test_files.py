"""Files of every format are read, or rejected in one sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from tests.shared import path_of

from orfeon.datasets import delimited, files, read_file, sources
from orfeon.datasets.memory import available_memory
from orfeon.errors import UserError

ROWS = "".join(f"{i / 2},{'ab'[i % 2]},{'yes' if i % 3 else 'no'}\n" for i in range(30))
TEXT = "u,v,class\n" + ROWS


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def notes(frame):
    return " ".join(frame.attrs["notes"])


# -- text ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.csv", TEXT),
        ("crlf.csv", TEXT.replace("\n", "\r\n")),
        ("old_mac.csv", TEXT.replace("\n", "\r")),
        ("semicolons.csv", TEXT.replace(",", ";")),
        ("tabs.tsv", TEXT.replace(",", "\t")),
        ("bars.txt", TEXT.replace(",", "|")),
        ("blanks.txt", TEXT.replace(",", "   ")),
        ("spaces.csv", TEXT.replace(",", " , ").replace("\n", " \n")),
        ("quoted.csv", TEXT.replace("yes", '"yes"').replace("class", '"class"')),
        ("bom.csv", b"\xef\xbb\xbf" + TEXT.encode()),
        ("wide.csv", TEXT.encode("utf-16")),
        ("packed.csv.gz", gzip.compress(TEXT.encode())),
        ("packed.csv.bz2", bz2.compress(TEXT.encode())),
        ("packed.csv.xz", lzma.compress(TEXT.encode())),
        ("packed_but_named.csv", gzip.compress(TEXT.encode())),
        ("comments.csv", "# made by hand, today, twice, or more\n#\n" + TEXT),
        ("excel.csv", "sep=;\n" + TEXT.replace(",", ";")),
        ("empty_lines.csv", "\n\n" + TEXT.replace("yes\n", "yes\n\n")),
        ("delimiter_at_the_end.csv", TEXT.replace("\n", ",\n")),
        ("delimiter_at_the_end_of_rows.csv", "u,v,class\n" + ROWS.replace("\n", ",\n")),
        ("no_end_of_line.csv", TEXT.rstrip("\n")),
    ],
)
def test_the_same_table_written_in_many_ways(tmp_path, name, content):
    frame = read_file(written(tmp_path, name, content))
    assert list(frame.columns) == ["u", "v", "class"]
    assert frame["u"].tolist() == [i / 2 for i in range(30)]
    assert frame["v"].tolist() == ["a", "b"] * 15
    assert frame["class"].tolist() == ["no", "yes", "yes"] * 10


def test_an_archive_of_one_file_is_unpacked_and_of_several_is_not(tmp_path):
    for names in (["in.csv"], ["a.csv", "b.csv"], ["read.me", "in.csv"]):
        path = tmp_path / f"{len(names)}{names[0]}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, TEXT)
        if names == ["a.csv", "b.csv"]:
            with pytest.raises(UserError, match=r"of 2 files \(a.csv and b.csv\): unpack it"):
                read_file(path)
        else:
            assert read_file(path).shape == (30, 3)


def test_a_comma_that_does_not_part_the_header_is_a_decimal_sign(tmp_path):
    # Two commas in every row, as many as semicolons.
    rows = "".join(f"0,{i};1,{i + 100};{'yes' if i % 2 else 'no'}\n" for i in range(100, 400))
    frame = read_file(written(tmp_path, "a.csv", "a;b;y\n" + rows))
    assert list(frame.columns) == ["a", "b", "y"]
    assert frame.iloc[1].tolist() == [0.101, 1.201, "yes"]
    assert len(frame) == 300
    titled = read_file(written(tmp_path, "b.csv", "# A table\nu,v\n1,2\n3,4\n"))
    assert titled.to_dict("list") == {"u": [1, 3], "v": [2, 4]}


def test_decimal_commas_are_seen_where_commas_do_not_part_cells(tmp_path):
    frame = read_file(written(tmp_path, "a.csv", "u;v\n1,5;a\n-2,25;b\n3;c\n"))
    assert frame["u"].tolist() == [1.5, -2.25, 3.0]
    assert "decimal commas" in notes(frame)


def test_every_number_is_the_nearest_double(tmp_path):
    generator = np.random.default_rng(0)
    numbers = generator.random(2000) * 10.0 ** generator.integers(-300, 300, 2000)
    text = "u\n" + "\n".join(map(repr, numbers.tolist()))
    assert read_file(written(tmp_path, "a.csv", text))["u"].tolist() == numbers.tolist()


def test_spellings_of_missing_values(tmp_path):
    text = "u,v\n1,a \n?,NA \n,NULL\nNaN,none\n"
    frame = read_file(written(tmp_path, "a.csv", text))
    assert frame["u"].isna().tolist() == [False, True, True, True]
    assert frame["v"].isna().tolist() == [False, True, True, False]  # none may be a category


def test_other_encodings_than_utf_8_are_read_and_noted(tmp_path):
    early = read_file(written(tmp_path, "a.csv", "größe,v\n1,ä\n".encode("latin-1")))
    assert list(early.columns) == ["größe", "v"]
    assert "not UTF-8" in notes(early)
    late = TEXT + ROWS * 500 + "1,ä,no\n"
    frame = read_file(written(tmp_path, "b.csv", late.encode("latin-1")))
    assert frame["v"].iloc[-1] == "ä"
    assert "read as cp1252" in notes(frame)


def test_a_file_without_header_gets_names(tmp_path):
    numbers = read_file(written(tmp_path, "a.csv", ROWS))
    words = read_file(written(tmp_path, "b.csv", "x,o,p\n" + "o,x,n\nx,o,p\n" * 5))
    for frame, n_rows in ((numbers, 30), (words, 11)):
        assert list(frame.columns) == ["column_1", "column_2", "column_3"]
        assert len(frame) == n_rows
        assert "no header" in notes(frame)


def test_a_line_that_counts_the_columns_names_them(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("0,1,2,target\n5.1,3.5,0,a\n4.9,3.0,0,b\n")
    assert list(read_file(path).columns) == ["0", "1", "2", "target"]
    path.write_text("0,1,3,target\n5.1,3.5,0,a\n4.9,3.0,0,b\n")
    assert len(read_file(path)) == 3


def test_the_user_can_say_whether_there_is_a_header(tmp_path):
    path = written(tmp_path, "a.csv", "2019,2020\n5,6\n7,8\n")
    assert list(read_file(path).columns) == ["column_1", "column_2"]
    assert list(read_file(path, header=True).columns) == ["2019", "2020"]


def test_a_header_without_the_name_of_the_row_names(tmp_path):
    rows = "".join(f"r{i},{line}\n" for i, line in enumerate(ROWS.splitlines()))
    frame = read_file(written(tmp_path, "a.csv", "u,v,class\n" + rows))
    assert list(frame.columns) == ["row", "u", "v", "class"]
    assert frame["u"].iloc[3] == 1.5


def test_names_that_occur_twice_get_numbers(tmp_path):
    frame = read_file(written(tmp_path, "a.csv", "u,u,,u\n1,2,3,4\n5,6,7,8\n"))
    assert list(frame.columns) == ["u", "u.2", "column_3", "u.3"]
    assert frame.attrs["twice"] == {"u": ["u.2", "u.3"]}


def test_short_rows_miss_cells_and_long_rows_are_refused_with_their_line(tmp_path):
    frame = read_file(written(tmp_path, "a.csv", TEXT + "9\n"))
    assert frame.iloc[-1].isna().tolist() == [False, True, True]
    assert "1 of the first 31 rows have fewer cells" in notes(frame)
    with pytest.raises(UserError, match=r"4 cells in line 32, but 3 columns.*in quotes"):
        read_file(written(tmp_path, "b.csv", TEXT + "1,2,3,4\n" + ROWS))
    with pytest.raises(UserError, match="more than 3 cells"):
        read_file(written(tmp_path, "c.csv", "u,v,class\n1,2,3,4\n" + ROWS))


def test_cells_with_line_ends_and_very_long_cells(tmp_path):
    text = 'u,"v\nw"\n' + '1,"a\nb"\n2,"say ""no"""\n' + f"3,{'z' * 300_000}\n"
    frame = read_file(written(tmp_path, "a.csv", text))
    assert frame["v\nw"].iloc[:2].tolist() == ["a\nb", 'say "no"']
    assert len(frame["v\nw"].iloc[2]) == 300_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n \n\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"u,v,class\n", "a header but no rows"),
        (b'u,v\n1,"a\n2,b\n', "a quote that is never closed"),
        (bytes(range(256)) * 20, "is a binary file"),
        (np.random.default_rng(0).bytes(5000), "is a binary file"),
        (b"u,class\n1,a\x00\n", "is a binary file"),
        (b"<!DOCTYPE html><html><body>Not found</body></html>", "is a web page, not a table"),
        (b"<?xml version='1.0'?><table/>", "is an XML document"),
        (b'{"rows": []}', "looks like JSON"),
        (b"%PDF-1.7 ...", "is a PDF document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "is an Excel workbook: save it as CSV"),
        (b"SQLite format 3\x00", "is a database"),
        (b"\x80\x04\x95\x00", "pickled Python object, which is never read"),
        (b"PK\x05\x06" + b"\0" * 18, "is an empty archive"),
        (b"PK\x03\x04" + b"x" * 50, "cannot be read: File is not a zip file"),
        (b"\x1f\x8b" + b"x" * 50, "cannot be read"),
        (gzip.compress(TEXT.encode() * 99)[:-50], "cannot be read: Compressed file ended"),
        (b"PAR1" + b"x" * 50, "cannot be read as Parquet"),
        (b"version https://git-lfs.github.com/spec/v1\n", "only points to the data"),
    ],
)
def test_other_files_are_rejected_in_one_sentence(tmp_path, content, message):
    with pytest.raises(UserError, match=message) as caught:
        read_file(written(tmp_path, "named.csv", content))
    assert str(caught.value).startswith(str(tmp_path / "named.csv"))
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_workbook_and_a_model_named_csv_are_known(tmp_path):
    for members, message in [
        (["[Content_Types].xml", "xl/workbook.xml"], "is an Excel workbook"),
        (["mimetype", "content.xml"], "is a spreadsheet"),
        (["model.json", "arrays/0.npy"], "is a saved model"),
    ]:
        with zipfile.ZipFile(tmp_path / "a.csv", "w") as archive:
            for member in members:
                archive.writestr(member, "x")
        with pytest.raises(UserError, match=message):
            read_file(tmp_path / "a.csv")


# -- paths -----------------------------------------------------------------------------------------


def test_paths_that_lead_to_no_file(tmp_path):
    written(tmp_path, "sales.csv", TEXT)
    for path, message in [
        (tmp_path / "sale.csv", r"no file .*sale\.csv\. Did you mean sales\.csv\?"),
        (tmp_path / "sales.parquet", r"Did you mean sales\.csv\?"),
        (tmp_path / "other" / "sales.csv", "There is no folder"),
        (tmp_path, r"is a folder: name a file; its data files are sales\.csv\."),
        ("https://example.org/a.csv", "is a URL: download the file"),
        ("/dev/null", "is not a file"),
    ]:
        with pytest.raises(UserError, match=message):
            read_file(path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads anything")
def test_a_file_without_permission(tmp_path):
    path = written(tmp_path, "a.csv", TEXT)
    path.chmod(0)
    with pytest.raises(UserError, match="cannot be read: permission denied"):
        read_file(path)


class Piped(io.TextIOWrapper):
    def __init__(self, content, terminal=False):
        super().__init__(io.BytesIO(content))
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def test_a_dash_reads_what_is_piped_in(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Piped(gzip.compress(TEXT.encode())))
    assert read_file("-").shape == (30, 3)
    monkeypatch.setattr(sys, "stdin", Piped(b""))
    with pytest.raises(UserError, match="standard input is empty"):
        read_file("-")
    monkeypatch.setattr(sys, "stdin", Piped(b"", terminal=True))
    with pytest.raises(UserError, match="pipe a file into it"):
        read_file("-")


# -- large files -----------------------------------------------------------------------------------


def large(folder, monkeypatch, change=lambda i, row: row):
    """A file that is read in many pieces."""
    monkeypatch.setattr(delimited, "PIECE", 4000)
    rows = [f"{i},{i / 7},{'ab'[i % 2]},name {i},{bool(i % 3)}\n" for i in range(3000)]
    text = "n,u,v,w,t\n" + "".join(change(i, row) for i, row in enumerate(rows))
    return written(folder, "large.csv", text)


def test_pieces_are_put_together_as_if_there_were_one(tmp_path, monkeypatch):
    path = large(tmp_path, monkeypatch)
    pieces = read_file(path)
    monkeypatch.undo()
    whole = read_file(path)
    assert isinstance(pieces["v"].dtype, pd.CategoricalDtype)  # words that repeat are stored once
    pd.testing.assert_frame_equal(pieces.astype({"v": whole["v"].dtype}), whole)


def test_one_string_far_down_makes_a_column_of_strings(tmp_path, monkeypatch):
    path = large(tmp_path, monkeypatch, lambda i, row: "x" + row if i == 2500 else row)
    frame = read_file(path)
    assert frame["n"].iloc[[0, 2499, 2500]].tolist() == ["0", "2499", "x2500"]
    assert frame["u"].dtype == np.float64


def test_booleans_with_missing_values_far_down(tmp_path, monkeypatch):
    path = large(tmp_path, monkeypatch, lambda i, row: row[:-6] + "\n" if i == 2500 else row)
    column = read_file(path)["t"]
    assert column.isna().sum() == 1
    assert set(column.dropna()) == {True, False}


def test_a_file_beyond_the_memory_is_refused_with_the_number(tmp_path, monkeypatch):
    path = large(tmp_path, monkeypatch)
    monkeypatch.setattr(delimited, "available_memory", lambda: 150_000)
    with pytest.raises(UserError, match=r"would take \d+ kB of memory.*150 kB are free.*--rows N"):
        read_file(path)
    assert len(read_file(path, rows=500)) == 500


def test_a_sample_is_in_order_fixed_by_its_seed_and_the_same_for_any_pieces(tmp_path, monkeypatch):
    path = large(tmp_path, monkeypatch)
    first, again, other = (read_file(path, rows=300, random_state=s) for s in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert first["n"].is_monotonic_increasing
    assert first["n"].tolist() != other["n"].tolist()
    monkeypatch.undo()
    pd.testing.assert_frame_equal(first, read_file(path, rows=300))
    assert "sample of 300 of its 3000 rows" in notes(first)


def test_every_row_is_as_likely_to_be_in_a_sample(tmp_path, monkeypatch):
    """Chi-squared of rows drawn from ten parts of the file, over 40 samples: 9 degrees."""
    monkeypatch.setattr(delimited, "PIECE", 400)  # of which a sample reads a quarter at a time
    path = written(tmp_path, "a.csv", "n,v\n" + "".join(f"{i},a\n" for i in range(1800)))
    drawn = np.concatenate([read_file(path, rows=90, random_state=s)["n"] for s in range(40)])
    counts = np.bincount(drawn // 180, minlength=10)
    assert counts.sum() == 3600
    assert ((counts - 360) ** 2 / 360).sum() < 27.9  # exceeded once in a thousand times


def test_a_sample_of_more_rows_than_there_are_is_all_of_them(tmp_path):
    path = written(tmp_path, "a.csv", TEXT)
    sample = read_file(path, rows=1000)
    pd.testing.assert_frame_equal(sample, read_file(path))
    assert sample.attrs["notes"] == []
    for rows in (0, -1, 2.5, True):
        with pytest.raises(UserError, match="rows must be an integer of at least 1"):
            read_file(path, rows=rows)


def test_a_sample_keeps_records_of_several_lines_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "PIECE", 400)
    text = "u,v\n" + "".join(f'{i},"line {i}\nand, ""more"""\n\n' for i in range(500))
    frame = read_file(written(tmp_path, "a.csv", text), rows=50)
    assert frame["v"].tolist() == [f'line {i}\nand, "more"' for i in frame["u"]]
    with pytest.raises(UserError, match="a quote that is never closed"):
        read_file(written(tmp_path, "b.csv", text + '1,"' + "x\n" * 50), rows=400)


def test_inches_do_not_open_quotes_in_a_sample(tmp_path):
    text = "u,v\n" + "".join(f'{i},{i}" pipe\n' for i in range(100))
    frame = read_file(written(tmp_path, "a.csv", text), rows=40)
    assert frame["v"].tolist() == [f'{i}" pipe' for i in frame["u"]]


def test_the_memory_that_is_free_is_known_here():
    found = available_memory()
    assert found is None or 2**24 < found < 2**48


# -- Parquet ---------------------------------------------------------------------------------------


def test_parquet_of_many_types(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import datetime
    import decimal

    n = 30
    table = pa.table(
        {
            "whole": pa.array([None if i == 3 else i for i in range(n)], pa.int32()),
            "flag": pa.array([None if i == 3 else i % 2 == 0 for i in range(n)]),
            "coded": pa.array(["a", "b", "c"] * 10).dictionary_encode(),
            "price": pa.array([decimal.Decimal(i) / 4 for i in range(n)], pa.decimal128(8, 2)),
            "day": pa.array([datetime.date(2024, 1, 1 + i) for i in range(n)]),
            "moment": pa.array([datetime.datetime(2024, 1, 1 + i) for i in range(n)]),
            "list": pa.array([[i, i + 1] for i in range(n)]),
            "nested": pa.array([{"a": i} for i in range(n)]),
        }
    )
    from pyarrow import parquet

    parquet.write_table(table, tmp_path / "a.csv")  # the name does not matter
    frame = read_file(tmp_path / "a.csv")
    assert frame.shape == (n, 8)
    assert float(frame["price"].iloc[5]) == 1.25
    parquet.write_table(table, tmp_path / "b.parquet", row_group_size=7)
    sample = read_file(tmp_path / "b.parquet", rows=11)
    assert len(sample) == 11
    assert sample["whole"].dropna().is_monotonic_increasing
    assert "sample of 11 of its 30 rows" in notes(sample)


def test_parquet_without_rows_too_large_or_without_its_library(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"u": []}).to_parquet(tmp_path / "empty.parquet")
    with pytest.raises(UserError, match="columns but no rows"):
        read_file(tmp_path / "empty.parquet")
    pd.DataFrame({"u": range(1000)}).to_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr(files, "available_memory", lambda: 9000)
    with pytest.raises(UserError, match=r"9 kB of memory.*--rows N"):
        read_file(tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"install orfeon\[parquet\]"):
        read_file(tmp_path / "a.parquet")


# -- arrays ----------------------------------------------------------------------------------------


def test_arrays_x_and_y(tmp_path):
    X, y = np.arange(24.0).reshape(12, 2), np.arange(12) % 3
    np.savez(tmp_path / "a.npz", X=X, y=y)
    frame = read_file(tmp_path / "a.npz")
    assert list(frame.columns) == ["x1", "x2", "target"]
    np.testing.assert_array_equal(frame[["x1", "x2"]], X)
    assert read_file(tmp_path / "a.npz", rows=5).shape == (5, 3)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"data": np.zeros(3)}, "must have arrays X and y, or X_train, .* and y_test; it has data"),
        ({"X": np.zeros(3), "y": np.zeros(3)}, r"shapes are \(3,\) and \(3,\)"),
        ({"X": np.zeros((3, 2)), "y": np.zeros(2)}, r"shapes are \(3, 2\) and \(2,\)"),
        ({"X": np.array([[object()]]), "y": np.zeros(1)}, "cannot be read: .*pickle"),
    ],
)
def test_other_arrays_are_rejected(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(UserError, match=message):
        read_file(tmp_path / "a.npz")


def test_the_pictures_of_digits():
    frame = read_file(path_of("data/mnist_5k.npz"))
    assert frame.shape == (5000, 785)
    assert frame["target"].value_counts().tolist() == [500] * 10


def test_endings_that_say_data():
    known = ["a.csv", "b.CSV.GZ", "c.parquet", "d.arff", "e.npz", "f.tsv.zip"]
    assert all(map(sources.is_data_name, known))
    assert not any(map(sources.is_data_name, ["a.md", "csv", "b.gz", "c.json"]))
