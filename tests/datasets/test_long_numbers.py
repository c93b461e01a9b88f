"""Numbers of more digits than 64 bits hold, in files."""

from __future__ import annotations

import math

import pytest

from orfeon.datasets import delimited, read_file
from orfeon.workbench.cli import main

LONG = 10**25
NONE = math.nan


def column_of(cells, tmp_path, **options):
    path = tmp_path / "long.csv"
    path.write_text("\n".join(["a,b", *(f"{cell},word" for cell in cells)]) + "\n")
    return read_file(path, **options)["a"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", f"{LONG}", ""], [1, LONG, NONE]),
        (["1", f"-{LONG}", "NA"], [1, -LONG, NONE]),
        ([f"{2**63}", "-1", "?"], [2**63, -1, NONE]),  # neither int64 nor uint64
        ([f"{LONG}", f"{LONG + 1}", ""], [LONG, LONG + 1, NONE]),
        (["1.5", f"{LONG}", ""], [1.5, 1e25, NONE]),
        (["1", "9" * 400, ""], [1, int("9" * 400), NONE]),
        (["1", "9" * 5000, ""], [1.0, math.inf, NONE]),
        (["1", "1e400", f"{LONG}"], [1.0, math.inf, 1e25]),
        (["x", f"{LONG}", ""], ["x", f"{LONG}", NONE]),
        (["NA", f"{LONG}", "x"], [NONE, f"{LONG}", "x"]),
    ],
    ids=lambda given: str(given)[:40],
)
def test_long_numbers_are_numbers_and_beside_them_missing_cells_are_missing(
    cells, expected, tmp_path
):
    found = column_of(cells, tmp_path).tolist()
    assert [(type(value), str(value)) for value in found] == [(type(x), str(x)) for x in expected]


def test_long_numbers_far_down_a_file_and_in_a_sample(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "PIECE", 400)
    cells = [*map(str, range(3000)), f"{LONG}"]
    assert column_of(cells, tmp_path).tolist() == [*range(3000), LONG]
    assert set(column_of(cells, tmp_path, rows=2999)) <= {*range(3000), LONG}
    words = column_of([*cells, "x"], tmp_path)
    assert words.tolist() == [*cells, "x"]


@pytest.mark.parametrize("target", ["y", "n"])
def test_commands_take_long_numbers(tmp_path, capsys, target):
    path, model = tmp_path / "long.csv", tmp_path / "model.orfeon"
    rows = [f"{i},{LONG * i},{LONG * (i % 2)}" for i in range(40)]
    path.write_text("\n".join(["x,n,y", *rows]) + "\n")
    assert main(["inspect", str(path)]) == 0
    fit = ["fit", str(path), "--target", target, "--method", "cart", "-o", str(model), "--quiet"]
    assert main([*fit, "--drop", "x"]) == 0
    capsys.readouterr()
    assert main(["predict", str(model), str(path)]) == 0
    predicted = capsys.readouterr().out.split()[1:]
    assert len(predicted) == 40
    assert all(0 <= float(number) <= 40 * LONG for number in predicted)
