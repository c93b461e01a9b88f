"""``orfeon predict``: a row for each row, in any format, in little memory."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.workbench.cli.conftest import make_homes

import orfeon
from orfeon.workbench.cli import main, tables
from orfeon.workbench.cli.saved_models import read_saved


def expected(model: Path, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray | None]:
    saved = read_saved(model)
    X = saved.preparation.transform(frame)
    if saved.task == "regression":
        return saved.model.predict(X), None
    return saved.model.predict(X), saved.model.predict_proba(X)


def test_predictions_are_the_models_one_a_row_in_order(place, new_homes, capsys):
    assert main(["predict", str(place / "bag.orfeon"), str(place / "new.csv")]) == 0
    captured = capsys.readouterr()
    predicted, _ = expected(place / "bag.orfeon", new_homes)
    assert captured.out.splitlines() == ["prediction", *predicted]
    assert captured.err == ""


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "parquet"])
def test_all_formats_hold_identifiers_predictions_and_probabilities(
    place, new_homes, tmp_path, ending
):
    output = tmp_path / f"out.{ending}"
    arguments = ["predict", str(place / "bag.orfeon"), str(place / "new.csv"), "-o", str(output)]
    assert main([*arguments, "--proba", "--id", "name", "--quiet"]) == 0
    if ending.startswith("csv"):
        found = pd.read_csv(output)
    elif ending == "parquet":
        found = pd.read_parquet(output)
    else:
        found = pd.read_json(output, lines=True, precise_float=True)
    if ending == "csv.gz":
        assert gzip.decompress(output.read_bytes()).startswith(b"name,prediction,")
    predicted, probabilities = expected(place / "bag.orfeon", new_homes)
    assert list(found.columns) == ["name", "prediction", "probability_cheap", "probability_dear"]
    assert found["name"].tolist() == new_homes["name"].tolist()
    assert found["prediction"].tolist() == predicted.tolist()
    assert np.array_equal(found[["probability_cheap", "probability_dear"]], probabilities)
    assert [path.name for path in tmp_path.iterdir()] == [output.name]


def test_numbers_are_predicted_to_the_last_bit(place, new_homes, tmp_path):
    output = tmp_path / "out.csv"
    model = place / "price.orfeon"
    assert main(["predict", str(model), str(place / "new.csv"), "-o", str(output), "-q"]) == 0
    found = [float(line) for line in output.read_text().splitlines()[1:]]
    assert found == expected(model, new_homes)[0].tolist()


def test_columns_may_stand_in_any_order_with_others_between(place, new_homes, tmp_path, capsys):
    shuffled = new_homes[["class", "code", "price", "built", "rooms", "size"]].assign(more=1)
    shuffled.to_csv(tmp_path / "shuffled.csv", index=False, sep=";")
    assert main(["predict", str(place / "bag.orfeon"), str(tmp_path / "shuffled.csv")]) == 0
    predicted, _ = expected(place / "bag.orfeon", new_homes)
    assert capsys.readouterr().out.splitlines()[1:] == predicted.tolist()


@pytest.mark.parametrize("piece_rows", [1, 7, 60, 1000])
def test_pieces_of_any_size_give_the_same(place, new_homes, capsys, monkeypatch, piece_rows):
    monkeypatch.setattr(tables, "PIECE_ROWS", piece_rows)
    arguments = ["predict", str(place / "bag.orfeon"), str(place / "new.csv"), "--proba"]
    assert main([*arguments, "--id", "code"]) == 0
    found = [line.split(",") for line in capsys.readouterr().out.splitlines()[1:]]
    predicted, probabilities = expected(place / "bag.orfeon", new_homes)
    assert [row[0] for row in found] == new_homes["code"].tolist()
    assert [row[1] for row in found] == predicted.tolist()
    assert probabilities is not None
    assert [[float(cell) for cell in row[2:]] for row in found] == probabilities.tolist()


def test_a_single_row_whose_codes_look_like_numbers_keeps_its_category(place, tmp_path, capsys):
    saved = read_saved(place / "price.orfeon")
    answers = {}
    for code in ("01", "02"):
        row = pd.DataFrame({"size": [150.0], "rooms": [6], "code": [code], "built": ["1990-03-01"]})
        row.to_csv(tmp_path / "one.csv", index=False)
        assert main(["predict", str(place / "price.orfeon"), str(tmp_path / "one.csv")]) == 0
        answers[code] = float(capsys.readouterr().out.splitlines()[1])
        assert answers[code] == saved.model.predict(saved.preparation.transform(row))[0]
    assert answers["01"] > answers["02"] + 100


def test_parquet_goes_in(place, new_homes, tmp_path, capsys):
    new_homes.to_parquet(tmp_path / "new.parquet")
    model = str(place / "bag.orfeon")
    predicted = expected(place / "bag.orfeon", new_homes)[0].tolist()
    assert main(["predict", model, str(tmp_path / "new.parquet")]) == 0
    printed, errors = capsys.readouterr()
    assert (printed.splitlines()[1:], errors) == (predicted, "")


@pytest.mark.tools
def test_standard_input_is_read_as_it_comes(place, new_homes):
    model = str(place / "bag.orfeon")
    predicted = expected(place / "bag.orfeon", new_homes)[0].tolist()
    command = [sys.executable, "-m", "orfeon", "predict", model, "-", "--format", "jsonl"]
    with (place / "new.csv").open() as stream:
        piped = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=True)
    assert [json.loads(line)["prediction"] for line in piped.stdout.splitlines()] == predicted
    assert piped.stderr == ""


def test_json_tells_what_was_done(place, tmp_path, capsys):
    output = tmp_path / "out.csv"
    arguments = ["predict", str(place / "bag.orfeon"), str(place / "new.csv"), "-o", str(output)]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["rows"], document["target"]) == (60, "class")
    assert document["output"] == str(output)


def test_memory_does_not_grow_with_the_file(place, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "PIECE_ROWS", 500)

    def peak(n_rows: int) -> int:
        data = tmp_path / f"{n_rows}.csv"
        make_homes(n_rows, seed=2).to_csv(data, index=False)
        arguments = ["predict", str(place / "bag.orfeon"), str(data), "-o", str(data) + ".out.csv"]
        tracemalloc.start()
        try:
            assert main([*arguments, "--quiet"]) == 0
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(500)
    # The first 256 kB are looked at to find out how the table is written: both files have more.
    assert peak(18_000) < 1.3 * peak(6000)


def test_models_saved_from_python_go_by_the_names_of_their_columns(tmp_path, capsys):
    X = pd.DataFrame({"u": [0.0, 1.0], "v": [1.0, 1.0]})
    orfeon.save(orfeon.StumpClassifier().fit(X, ["no", "yes"]), tmp_path / "named.orfeon")
    orfeon.save(
        orfeon.StumpClassifier().fit(X.to_numpy(), ["no", "yes"]), tmp_path / "nameless.orfeon"
    )
    (tmp_path / "a.csv").write_text("v,w,u\n1,5,0.9\n")
    assert main(["predict", str(tmp_path / "named.orfeon"), str(tmp_path / "a.csv")]) == 0
    assert capsys.readouterr().out == "prediction\nyes\n"
    assert main(["predict", str(tmp_path / "nameless.orfeon"), str(tmp_path / "a.csv")]) == 2
    assert "2 unnamed features, but the data has 3 columns" in capsys.readouterr().err
    (tmp_path / "a.csv").write_text("v,w\n1,5\n")
    assert main(["predict", str(tmp_path / "named.orfeon"), str(tmp_path / "a.csv")]) == 2
    assert "The data has no column 'u'" in capsys.readouterr().err


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bag.orfeon", "new.csv", "--id", "nam"], "--id: the data has no column 'nam' (did you"),
        (["price.orfeon", "new.csv", "--proba"], "--proba: "),
        (["bag.orfeon", "few.csv"], "The data has no column 'rooms'; the model was trained with 5"),
        (["bag.orfeon", "words.csv"], "The column 'size' must contain numbers"),
        (["bag.orfeon", "none.csv"], "none.csv"),
        (["bag.orfeon", "nowhere.csv"], "There is no file nowhere.csv"),
        (["new.csv", "new.csv"], "new.csv cannot be loaded: it is not a model file"),
        (["cut.orfeon", "new.csv"], "cut.orfeon cannot be loaded"),
        (["pickled.orfeon", "new.csv"], "pickled.orfeon is a pickle, and orfeon never loads"),
        (["forest.pkl", "new.csv"], "forest.pkl is a pickle, and orfeon never loads pickles"),
        (["nowhere.orfeon", "new.csv"], "argument MODEL: there is no file 'nowhere.orfeon'"),
        (
            ["bag.orfeon", "new.csv", "-o", "out.xls"],
            "-o out.xls: the name does not tell the format",
        ),
        (["bag.orfeon", "new.csv", "-o", "new.csv"], "new.csv already exists"),
        (["bag.orfeon", "new.csv", "--json"], "--json needs a file for the predictions"),
        (["bag.orfeon", "new.csv", "--format", "parquet"], "--format parquet needs a file"),
    ],
)
def test_mistakes_are_one_sentence(place, new_homes, capsys, monkeypatch, arguments, message):
    monkeypatch.chdir(place)
    new_homes.drop(columns="rooms").to_csv("few.csv", index=False)
    new_homes.assign(size="large").to_csv("words.csv", index=False)
    new_homes.head(0).to_csv("none.csv", index=False)
    Path("cut.orfeon").write_bytes(Path("bag.orfeon").read_bytes()[:-200])
    Path("pickled.orfeon").write_bytes(b"\x80\x04\x95abc")
    Path("forest.pkl").touch()
    before = sorted(os.listdir())
    assert main(["predict", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"orfeon predict: error: {message}"), captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert sorted(os.listdir()) == before


def test_a_mistake_far_down_leaves_the_old_file(place, new_homes, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tables, "PIECE_ROWS", 10)
    broken = new_homes.astype({"size": str})
    broken.loc[30:, "size"] = "large"
    broken.to_csv(tmp_path / "broken.csv", index=False)
    output = tmp_path / "out.csv"
    output.write_text("old")
    arguments = ["predict", str(place / "bag.orfeon"), str(tmp_path / "broken.csv")]
    assert main([*arguments, "-o", str(output), "--force"]) == 2
    assert "must contain numbers" in capsys.readouterr().err
    assert output.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.csv", "out.csv"]


@pytest.mark.tools
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full device is needed")
def test_a_full_disk_is_a_sentence(place):
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "orfeon", "predict", "bag.orfeon", "new.csv"],
            cwd=place, stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert ended.returncode == 2
    assert ended.stderr.startswith("orfeon predict: error: There is no space left on the disk")


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="limits of files of Linux")
def test_a_file_that_cannot_be_written_whole_is_not_left_behind(place, tmp_path):
    import resource

    ended = subprocess.run(
        [sys.executable, "-m", "orfeon", "predict", "bag.orfeon", "new.csv",
         "-o", str(tmp_path / "out.csv")],
        cwd=place, capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == ("orfeon predict: error: The file would be larger than allowed.\n")
    assert list(tmp_path.iterdir()) == []


def test_letters_that_are_not_utf_8_far_down_are_read(place, new_homes, tmp_path, capsys):
    text = new_homes.to_csv(index=False).encode()
    filler = b"".join(b"\n" + line for line in text.splitlines()[1:])
    (tmp_path / "latin.csv").write_bytes(
        text + filler * 80 + b"\ncaf\xe9,50,2,01,1990-01-01,100,cheap\n"
    )
    arguments = ["predict", str(place / "bag.orfeon"), str(tmp_path / "latin.csv")]
    assert main([*arguments, "--id", "name"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("café,")


def test_blanks_around_words_do_not_make_them_unknown(tmp_path, capsys):
    rows = [f"{'ab'[i % 2]} ,{i % 5},{'no' if i % 2 else 'yes'}" for i in range(40)]
    (tmp_path / "t.csv").write_text("kind,u,class\n" + "\n".join(rows))
    model = str(tmp_path / "m.orfeon")
    data = str(tmp_path / "t.csv")
    assert main(["fit", data, "--target", "class", "--method", "cart", "-o", model]) == 0
    assert main(["predict", model, data, "-o", str(tmp_path / "p.csv")]) == 0
    answers = (tmp_path / "p.csv").read_text().split()[1:]
    assert answers == ["no" if i % 2 else "yes" for i in range(40)]


def test_intervals_and_reasons_are_written_beside_predictions(tmp_path, homes, new_homes, capsys):
    homes.to_csv(tmp_path / "homes.csv", index=False)
    new_homes.to_csv(tmp_path / "new.csv", index=False)
    common = ["--method", "random_forest", "--members", "60", "--n-jobs", "1", "--quiet", "--json"]
    for target, dropped in (("price", "class"), ("class", "price")):
        arguments = [str(tmp_path / "homes.csv"), "--target", target, "--drop", dropped]
        model = str(tmp_path / f"{target}.orfeon")
        assert main(["fit", *arguments, "-o", model, *common]) == 0
    capsys.readouterr()
    arguments = [str(tmp_path / "new.csv"), "--interval", "0.8", "--explain", "2", "-q"]
    output = str(tmp_path / "answers.csv")
    assert main(["predict", str(tmp_path / "price.orfeon"), *arguments, "-o", output]) == 0
    found = pd.read_csv(output)
    assert list(found) == ["prediction", "low", "high", "reasons"]
    assert (found["low"] <= found["prediction"]).all()
    inside = (found["low"] <= new_homes["price"]) & (new_homes["price"] <= found["high"])
    assert 0.65 <= inside.mean() <= 0.95
    # The price is made of the size and the code.
    assert found["reasons"].str.contains("size=|code=").mean() == 1.0
    assert (
        main(["predict", str(tmp_path / "class.orfeon"), *arguments, "-o", output, "--force"]) == 0
    )
    found = pd.read_csv(output)
    assert list(found) == ["prediction", "set", "reasons"]
    covered = [
        own in of.split("|") for own, of in zip(new_homes["class"], found["set"], strict=True)
    ]
    assert np.mean(covered) >= 0.7
    assert found["reasons"].str.contains("(+", regex=False).mean() > 0.9


def test_what_a_model_cannot_say_is_one_sentence(place, capsys):
    arguments = ["predict", str(place / "bag.orfeon"), str(place / "new.csv")]
    assert main([*arguments, "--interval"]) == 2
    assert "--interval: predict_set of this BaggingClassifier" in capsys.readouterr().err
    assert main([*arguments, "--interval", "1"]) == 2
    assert "must be less than 1" in capsys.readouterr().err
    assert main([*arguments, "--explain", "0"]) == 2
    assert "must be 1 or more" in capsys.readouterr().err


def test_a_weighted_mean_is_explained_where_it_is_a_sum_over_trees(tmp_path, homes, capsys):
    import orfeon
    from orfeon.workbench.prepare import prepare

    prepared = prepare(homes.drop(columns="price"), "class")
    forest = orfeon.RandomForestClassifier(9, random_state=0)
    for other, code in (
        (orfeon.ExtraTreesClassifier(9, random_state=0), 0),
        (orfeon.GradientBoostingClassifier(n_estimators=9), 2),
    ):
        models = [("forest", forest), ("other", other)]
        model = orfeon.EnsembleSelectionClassifier(models, weights=[0.6, 0.4], random_state=0)
        path, data = str(tmp_path / "m.orfeon"), str(tmp_path / "homes.csv")
        orfeon.save(model.fit(prepared.X, prepared.y), path, preparation=prepared.preparation)
        homes.to_csv(data, index=False)
        assert main(["predict", path, data, "--explain", "2"]) == code
        shown = capsys.readouterr()
        if code:
            assert "GradientBoostingClassifier, whose trees add to scores" in shown.err
            assert (
                "'orfeon study --deployable single --methods random_forest,gradient_boosting'"
                in shown.err
            )
        else:
            assert shown.out.startswith("prediction,reasons")
    assert main(["predict", path, data, "--interval"]) == 2
    assert "predictions of samples that the models had not seen" in capsys.readouterr().err
    smaller = str(tmp_path / "s.orfeon")
    assert main(["prune", path, data, "-o", smaller]) == 2
    assert "--deployable single --methods bagging,random_forest" in capsys.readouterr().err
