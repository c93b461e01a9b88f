"""``orfeon prune``: the members kept, the figures before and after, and what cannot be pruned."""

from __future__ import annotations

import json

import numpy as np
import pytest

import orfeon
from orfeon.io import describe
from orfeon.workbench.cli import main
from orfeon.workbench.cli.saved_models import read_saved


def prune(place, output, *arguments: str, model: str = "bag.orfeon") -> int:
    names = [str(place / model), str(place / "homes.csv"), "-o", str(output)]
    return main(["prune", *names, *arguments])


def test_what_is_saved_is_what_prune_gives(place, homes, new_homes, tmp_path):
    output = tmp_path / "small.orfeon"
    assert prune(place, output, "--rule", "complementarity", "--keep", "5", "-q") == 0
    saved, small = read_saved(place / "bag.orfeon"), read_saved(output)
    X, y = saved.preparation.transform_labelled(homes)
    expected = orfeon.prune(saved.model, X, y, rule="complementarity", keep=5)
    assert len(small.model) == 5
    assert np.array_equal(small.model.kept_, expected.kept_)
    X_new = saved.preparation.transform(new_homes)
    assert np.array_equal(small.model.predict_proba(X_new), expected.predict_proba(X_new))
    assert small.preparation == saved.preparation
    assert small.about["method"] == "bagging"
    assert "training" in saved.about  # errors of all members, which those that stay do not have
    assert "training" not in small.about
    assert small.about["pruned"] == {
        "from": "bag.orfeon", "rule": "complementarity", "keep": 5, "on": "train",
    }  # fmt: skip


def test_the_smaller_model_predicts_from_the_command_line(place, tmp_path, capsys):
    output = tmp_path / "small.orfeon"
    assert prune(place, output, "-q") == 0
    capsys.readouterr()
    assert main(["predict", str(output), str(place / "new.csv")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 61


def test_figures_before_and_after(place, homes, new_homes, tmp_path, capsys):
    output = tmp_path / "small.orfeon"
    assert prune(place, output, "--test", str(place / "new.csv"), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    before, after = document["before"], document["after"]
    assert (before["members"], after["members"]) == (15, 3)
    assert after["nodes"] == describe(output)["n_nodes"] < before["nodes"]
    assert after["bytes"] == output.stat().st_size < before["bytes"]
    assert document["rule"] == "margin_distance"
    for name, frame in (("selection", homes), ("test", new_homes)):
        for path, figures in ((place / "bag.orfeon", before), (output, after)):
            saved = read_saved(path)
            X, y = saved.preparation.transform_labelled(frame)
            assert figures[name]["error"] == np.mean(saved.model.predict(X) != y)
    assert 0 < after["seconds_per_1000_rows"] < 10


def test_people_see_a_table_and_what_its_errors_are_worth(place, tmp_path, capsys):
    output = tmp_path / "small.orfeon"
    assert prune(place, output, "--keep", "20%") == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1].split() == ["members", "15", "3"]
    assert "use --test to estimate the error on new rows" in captured.err
    assert prune(place, output, "--force", "--test", str(place / "new.csv"), "--quiet") == 0
    captured = capsys.readouterr()
    assert "error on --test" in captured.out
    assert captured.err == ""


def test_regressors_are_ordered_by_a_rule_for_numbers(place, tmp_path, capsys):
    output = tmp_path / "small.orfeon"
    assert prune(place, output, "--json", model="price.orfeon") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rule"] == "reduce_error"
    assert document["after"]["selection"]["rmse"] > 0


@pytest.mark.parametrize("keep", ["auto", "0.5"])
def test_sizes_by_themselves_and_out_of_bag(place, tmp_path, keep, capsys):
    output = tmp_path / "small.orfeon"
    assert prune(place, output, "--keep", keep, "--on", "out_of_bag", "--json") == 0
    members = json.loads(capsys.readouterr().out)["after"]["members"]
    assert 1 <= members <= 15 if keep == "auto" else members == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rule", "kapa"], "--rule: unknown rule 'kapa' (did you mean 'kappa'?)."),
        (["--keep", "0"], "argument --keep: must be 1 or more, got 0"),
        (["--keep", "1.5"], "argument --keep: a fraction must be greater than 0 and at most 1"),
        (["--keep", "many"], "argument --keep: 'many' is not a fraction"),
        (["--keep", "500"], "{place}/bag.orfeon cannot be pruned: keep=500"),
        (["--target", "price"], "--target price: bag.orfeon was trained to predict 'class'."),
    ],
)
def test_mistakes_are_one_sentence(place, tmp_path, capsys, arguments, message):
    assert prune(place, tmp_path / "small.orfeon", *arguments) == 2
    captured = capsys.readouterr()
    message = message.replace("{place}", str(place))
    assert captured.err.startswith(f"orfeon prune: error: {message}"), captured.err
    assert captured.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_data_without_the_target_is_refused(place, homes, tmp_path, capsys):
    homes.drop(columns="class").to_csv(tmp_path / "bare.csv", index=False)
    arguments = ["prune", str(place / "bag.orfeon"), str(tmp_path / "bare.csv")]
    assert main([*arguments, "-o", str(tmp_path / "small.orfeon")]) == 2
    assert "The target 'class' is not a column" in capsys.readouterr().err


def test_a_single_tree_has_no_members_to_choose(place, tmp_path, capsys):
    tree = orfeon.CARTClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    orfeon.save(tree, tmp_path / "tree.orfeon")
    (tmp_path / "a.csv").write_text("u,class\n0,no\n1,yes\n")
    arguments = ["prune", str(tmp_path / "tree.orfeon"), str(tmp_path / "a.csv")]
    output = ["-o", str(tmp_path / "small.orfeon")]
    assert main([*arguments, *output, "--target", "class"]) == 2
    error = capsys.readouterr().err
    assert error.endswith("cannot be pruned: a single tree has no members to leave out.\n")
    assert not (tmp_path / "small.orfeon").exists()


def test_the_target_of_a_bare_ensemble_must_be_named(tmp_path, capsys):
    bag = orfeon.BaggingClassifier(n_estimators=3, random_state=0)
    orfeon.save(bag.fit([[0.0], [1.0]] * 5, ["no", "yes"] * 5), tmp_path / "bag.orfeon")
    (tmp_path / "a.csv").write_text("u,class\n0,no\n1,yes\n")
    arguments = ["prune", str(tmp_path / "bag.orfeon"), str(tmp_path / "a.csv")]
    assert main([*arguments, "-o", str(tmp_path / "small.orfeon")]) == 2
    assert "--target is missing: bag.orfeon does not say which" in capsys.readouterr().err


def test_pickles_are_never_loaded(place, tmp_path, capsys):
    evil = tmp_path / "model.joblib"
    evil.write_bytes(b"\x80\x04\x95cos\nsystem\n")
    arguments = ["prune", str(evil), str(place / "homes.csv"), "-o", str(tmp_path / "s.orfeon")]
    assert main(arguments) == 2
    assert "orfeon never loads pickles" in capsys.readouterr().err
