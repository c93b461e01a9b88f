"""``orfeon export``: the file, what it takes and gives, the comparison, and what is refused."""

from __future__ import annotations

import importlib.util
import json
import sys

import numpy as np
import onnx
import onnxruntime
import pytest

import orfeon
from orfeon.io.onnx import as_inputs, to_onnx
from orfeon.workbench.cli import main
from orfeon.workbench.cli.saved_models import read_saved


def export(place, output, *arguments: str, model: str = "bag.orfeon") -> int:
    return main(["export", str(place / model), str(output), *arguments])


def test_the_file_decides_as_the_model_does(place, new_homes, tmp_path, capsys):
    output = tmp_path / "bag.onnx"
    assert export(place, output) == 0
    out, err = capsys.readouterr()
    saved = read_saved(place / "bag.orfeon")
    X = saved.preparation.transform(new_homes)
    session = onnxruntime.InferenceSession(output, providers=["CPUExecutionProvider"])
    label, shares = session.run(None, as_inputs(saved.model, X))
    assert np.array_equal(label, saved.model.predict(X))
    assert np.array_equal(shares, saved.model.predict_proba(X))
    assert output.read_bytes() == to_onnx(saved.model).SerializeToString()
    assert "string (n, 1)" in out
    assert "the days since 1970 of the date 'built'" in out
    assert "'01', '02', '10' and 'A7'; '' where missing" in out
    assert "outputs: label, probabilities." in err


def test_rows_are_compared_and_counted(place, tmp_path, capsys):
    output = tmp_path / "price.onnx"
    rows = ["--check", str(place / "new.csv")]
    assert export(place, output, *rows, "--json", model="price.orfeon") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows_checked"] == 60
    assert document["bytes"] == output.stat().st_size
    assert document["outputs"] == ["prediction"]
    names = [one.name for one in onnx.load(output).graph.input]
    assert [one["name"] for one in document["inputs"]] == names
    assert "size" in names


def test_a_difference_is_told_and_nothing_is_written(place, tmp_path, capsys, monkeypatch):
    saved = read_saved(place / "bag.orfeon").model
    wrong = type(saved).predict

    def predict(self, X):
        answers = wrong(self, X)
        answers[3] = "dear" if answers[3] == "cheap" else "cheap"
        return answers

    monkeypatch.setattr(type(saved), "predict", predict)
    output = tmp_path / "bag.onnx"
    assert export(place, output, "--check", str(place / "new.csv")) == 2
    assert "1 of 60 predictions differ, the first in row 4 of" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_outputs_are_chosen(place, tmp_path, capsys):
    output = tmp_path / "votes.onnx"
    assert export(place, output, "--outputs", "votes,label", "-q") == 0
    assert [one.name for one in onnx.load(output).graph.output] == ["votes", "label"]
    assert export(place, output, "--outputs", "voices", "--force") == 2
    assert "outputs has 'voices'" in capsys.readouterr().err
    check = ["--check", str(place / "new.csv"), "--force"]
    assert export(place, output, "--outputs", "votes", *check) == 2
    assert "--check compares 'label', which is not among --outputs" in capsys.readouterr().err


def test_a_file_that_is_there_stays(place, tmp_path, capsys):
    output = tmp_path / "bag.onnx"
    output.write_text("mine")
    assert export(place, output) == 2
    assert "already exists" in capsys.readouterr().err
    assert output.read_text() == "mine"
    assert export(place, output, "--force", "-q") == 0
    assert output.stat().st_size > 1000


def test_refusals_say_why(tmp_path, capsys):
    X, y = [[0.0], [1.0], [2.0], [3.0]] * 5, [0, 0, 1, 1] * 5
    for name, model in {
        "tree": orfeon.C45Classifier(), "perceptron": orfeon.ParallelPerceptronClassifier(),
    }.items():  # fmt: skip
        orfeon.save(model.fit(X, y), tmp_path / f"{name}.orfeon")
    assert export(tmp_path, tmp_path / "out.onnx", model="perceptron.orfeon") == 2
    answers = capsys.readouterr().err
    assert (
        "perceptron.orfeon cannot be exported: ParallelPerceptronClassifier has no ONNX" in answers
    )
    assert export(tmp_path, tmp_path / "out.onnx", model="tree.orfeon") == 2
    assert 'with missing="never" it is exported' in capsys.readouterr().err
    assert export(tmp_path, tmp_path / "out.onnx", "--missing", "never", model="tree.orfeon") == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["X", "double", "(n,"]


@pytest.mark.parametrize(
    ("package", "given", "words"),
    [
        ("onnx", [], 'pip install "orfeon[onnx]"'),
        ("onnxruntime", ["--check", "waveform:5"], "pip install onnxruntime"),
    ],
)
def test_a_missing_package_is_named(place, tmp_path, capsys, monkeypatch, package, given, words):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == package else find(name)
    )
    monkeypatch.setitem(sys.modules, package, None)
    assert export(place, tmp_path / "bag.onnx", *given) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
