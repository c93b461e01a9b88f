"""Model files that were changed and signed again: every command rejects them with one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.io.mutations import opened, signed

from orfeon.workbench.cli import main

Content = dict[str, Any]


def forged(place: Path, folder: Path, edit: Callable[[Content], None]) -> Path:
    parts = opened((place / "bag.orfeon").read_bytes())
    edit(parts.content)
    (folder / "forged.orfeon").write_bytes(signed(parts))
    return folder / "forged.orfeon"


def arguments(command: str, model: Path, place: Path) -> list[str]:
    given = {
        "inspect": [],
        "predict": [place / "new.csv", "--proba"],
        "prune": [place / "homes.csv", "-o", model.with_name("small.orfeon")],
        "export": [model.with_name("model.onnx"), "--check", place / "new.csv"],
        "serve": ["--port", "0"],
    }
    return [command, str(model), *map(str, given[command])]


def assert_one_sentence(capsys: Any, arguments: list[str], message: str = "") -> None:
    code, told = main(arguments), capsys.readouterr().err
    lines = [line for line in told.splitlines() if not line.startswith("Preparing")]
    assert (code, len(lines)) == (2, 1), told
    assert message in told
    assert "internal error" not in told


COMMANDS = ["inspect", "predict", "prune", "export", "serve"]

ABOUT: list[tuple[Any, str]] = [
    ({"training": {"error": "x"}}, "about.training.error must be a finite number or null"),
    ({"training": {"error": [0.1]}}, "about.training.error"),
    ({"training": {"error": True}}, "about.training.error"),
    ({"training": {"rmse": 1.0, "r2": "\x1b[31m"}}, "about.training.r2"),
    ({"training": {"oob_error": {}}}, "about.training.oob_error"),
    ({"training": {"oob_r2": 10**400}}, "about.training.oob_r2"),
    ({"seconds": 10**400}, "about.seconds must be a finite number or null"),
]


@pytest.mark.parametrize(("about", "message"), ABOUT)
def test_figures_that_are_no_numbers_are_rejected(place, tmp_path, capsys, about, message):
    path = str(forged(place, tmp_path, lambda content: content.update(about=about)))
    assert_one_sentence(capsys, ["inspect", path], message)
    assert_one_sentence(capsys, ["inspect", path, "--json"], message)


@pytest.mark.parametrize(
    ("about", "line"),
    [
        ({"training": {"rmse": 2.5, "r2": None}}, "training error RMSE 2.5, R² nan"),
        ({"training": {"error": None, "oob_error": 0.5}}, "training error (out of bag 50.00%)"),
        ({"training": "yesterday", "seconds": "few"}, "training yesterday"),
        ({"seconds": "few"}, "seconds few"),
        ({"seconds": -1e308}, "training time"),
        ({"\x1b[31m": {"a\n": "\ud800"}}, "\\x1b[31m a\\n=\\ud800"),
    ],
)
def test_what_users_may_save_is_printed(place, tmp_path, capsys, about, line):
    path = forged(place, tmp_path, lambda content: content.update(about=about))
    assert main(["inspect", str(path)]) == 0
    assert line in " ".join(capsys.readouterr().out.split())
    assert main(["inspect", str(path), "--json"]) == 0


def in_column(which: str, **changes: Any) -> Callable[[Content], None]:
    def edit(content: Content) -> None:
        columns = content["preparation"]["columns"]
        next(one for one in columns if one["kind"] == which).update(changes)

    return edit


def in_target(**changes: Any) -> Callable[[Content], None]:
    return lambda content: content["preparation"]["target"].update(changes)


def in_preparation(**changes: Any) -> Callable[[Content], None]:
    return lambda content: content["preparation"].update(changes)


def repeat_a_column(content: Content) -> None:
    content["preparation"]["columns"] *= 2


def lose_a_field(content: Content) -> None:
    del content["preparation"]["columns"][0]["parts"]


PREPARATIONS: dict[str, tuple[Callable[[Content], None], str]] = {
    "levels twice": (in_column("category", levels=["a", "a"]), "'code': levels must be distinct"),
    "levels of numbers": (in_column("category", levels=[1, 2]), "'code': levels must be"),
    "levels as a text": (in_column("category", levels="ab"), "'code': levels must be"),
    "half a letter": (in_column("category", levels=["\ud800"]), "'code': levels must be"),
    "others without levels": (in_column("category", levels=[], has_other=True), "has_other must"),
    "others unclear": (in_column("category", has_other=1), "has_other must be"),
    "a format twice": (in_column("date", date_format="%d%d"), "'built': date_format must be"),
    "a list as format": (in_column("date", date_format=["%d"]), "'built': date_format must be"),
    "an unknown part": (
        in_column("date", parts=["year"]),
        "'built': parts must be distinct values",
    ),
    "a part twice": (in_column("date", parts=["days", "days"]), "'built': parts must be distinct"),
    "a date of no parts": (in_column("date", parts=[]), "'built': dates need parts"),
    "a number with parts": (in_column("number", parts=["days"]), "dates need parts and"),
    "an unknown kind": (in_column("number", kind={}), "'size': kind must be 'number'"),
    "a name of numbers": (in_column("number", name=7), "name must be a string"),
    "a column twice": (repeat_a_column, "columns must have distinct names"),
    "no columns": (in_preparation(columns=[]), "columns must not be empty"),
    "columns of numbers": (in_preparation(columns=3), "cannot be read"),
    "a lost field": (lose_a_field, "lacks 'parts'"),
    "another version": (in_preparation(version=10**1000), "the preparation has version 1000"),
    "an unknown task": (
        in_target(task="guess"),
        "task must be 'classification' or 'regression'; got 'guess'",
    ),
    "classes twice": (in_target(classes=["cheap", "cheap"]), "classes must be distinct"),
    "mixed classes": (in_target(classes=["cheap", 1]), "classes must be distinct strings or"),
    "large classes": (in_target(classes=[2**60, 1]), "classes must be distinct strings or"),
    "classes of numbers": (in_target(task="regression"), "regression has no classes"),
    "a target of no name": (in_target(name=None), "the name of the target must be a string"),
}


@pytest.mark.parametrize("name", PREPARATIONS)
def test_preparations_that_cannot_be_are_rejected(place, tmp_path, capsys, name):
    edit, message = PREPARATIONS[name]
    path = forged(place, tmp_path, edit)
    for command in COMMANDS:
        assert_one_sentence(capsys, arguments(command, path, place), message)


def no_longer_fits(content: Content) -> None:
    """A consistent preparation, of features that are not the model's."""
    content["preparation"]["columns"] = content["preparation"]["columns"][:1]


def another_task(content: Content) -> None:
    content["preparation"]["target"].update(task="regression", classes=[])


def odd_parameters(content: Content) -> None:
    """The rule of combination is a parameter, which may be anything until it is used."""
    content["objects"][-1]["fields"]["combine"] = {"tuple": [1]}
    content["objects"][-1]["fields"]["_learnt"] = None


@pytest.mark.parametrize("edit", [no_longer_fits, another_task, odd_parameters])
@pytest.mark.parametrize("command", ["inspect", "predict", "prune", "export"])
def test_models_that_load_and_cannot_answer_are_no_defects(place, tmp_path, capsys, edit, command):
    path = forged(place, tmp_path, edit)
    code, told = main(arguments(command, path, place)), capsys.readouterr().err
    assert code in (0, 2)
    assert "internal error" not in told


def test_a_model_that_fails_is_named(place, capsys, monkeypatch):
    """Whatever a loaded model raises, the sentence names the file and the error."""
    import orfeon

    def fail(*given: Any) -> Any:
        raise KeyError("no such part")

    monkeypatch.setattr(orfeon.BaggingClassifier, "predict", fail)
    path = place / "bag.orfeon"
    message = f"The model in {path} failed (KeyError: 'no such part'); --debug shows where."
    assert_one_sentence(capsys, arguments("predict", path, place), message)


def test_the_service_names_a_model_that_fails(place, capsys, monkeypatch):
    from orfeon.workbench.serve import served_model

    def fail(*given: Any) -> Any:
        raise KeyError("no such part")

    monkeypatch.setattr(served_model.ServedModel, "warm_up", fail)
    path = place / "bag.orfeon"
    assert_one_sentence(capsys, arguments("serve", path, place), f"The model in {path} failed")


def test_a_larger_number_than_all_classes_is_no_known_class():
    import pandas as pd

    from orfeon.workbench.prepare.target import Target

    y, known = Target("y", "classification", (0, 1)).read(pd.Series(["0", str(10**25)]))
    assert y.tolist() == ["0", str(10**25)]
    assert known.all()
