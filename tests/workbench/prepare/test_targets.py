"""What is to be predicted is found and told, or refused in a sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.shared import path_of
from tests.workbench.prepare.tables import N, answers, table

from orfeon.datasets import load_dataset
from orfeon.errors import UserError
from orfeon.workbench.prepare import prepare

# -- the target ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "task", "classes"),
    [
        (["no", "yes"] * 30, "classification", ("no", "yes")),
        ([0, 1, 10] * 20, "classification", (0, 1, 10)),
        ([0.0, 1.0, None] * 20, "classification", (0, 1)),
        (["1", "2"] * 30, "classification", (1, 2)),
        ([True, False] * 30, "classification", ("False", "True")),
        ([0.5, 1.5, 2] * 20, "classification", ("0.5", "1.5", "2")),
        ([1, "a"] * 30, "classification", ("1", "a")),
        (list(range(20)) * 3, "classification", tuple(range(20))),
        (list(range(30)) * 2, "regression", ()),
        ((np.arange(N) * 0.5).tolist(), "regression", ()),
        ([f"{i}.5" for i in range(N)], "regression", ()),
        (pd.Categorical([30, 4] * 30), "classification", (4, 30)),
        (pd.array([1, None, 2] * 20, dtype="Int64"), "classification", (1, 2)),
        (["01", "1"] * 30, "classification", ("01", "1")),
    ],
)
def test_the_task_is_found_and_told(values, task, classes):
    frame = table()
    frame["class"] = values
    prepared = prepare(frame, "class")
    assert prepared.task == prepared.preparation.task == task
    assert prepared.preparation.classes == classes
    assert np.unique(prepared.y).tolist() == list(classes) or task == "regression"
    assert prepared.notes[0].startswith(f"{task.capitalize()}: the target 'class' has ")
    if task == "regression":
        assert prepared.y.dtype == np.float64


def test_a_small_table_of_fractions_is_regression():
    frame = table().head(15).drop(columns="class")
    frame["y"] = np.arange(15) / 4
    assert prepare(frame, "y").task == "regression"


def test_the_user_can_say_the_task():
    frame = table()
    frame["class"] = list(range(30)) * 2
    assert prepare(frame, "class", task="classification").y.dtype == np.int64
    frame["class"] = [1, 2, 3] * 20
    assert prepare(frame, "class", task="regression").y.tolist()[:3] == [1.0, 2.0, 3.0]
    with pytest.raises(UserError, match="task must be 'auto', 'classification' or 'regression'"):
        prepare(frame, "class", task="clustering")


def test_infinite_targets_are_left_out_of_regression():
    frame = table(target=np.arange(N) * 1.5)
    frame.loc[[2, 4], "target"] = [np.inf, np.nan]
    prepared = prepare(frame, "target")
    assert len(prepared.y) == N - 2
    assert np.isfinite(prepared.y).all()


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (["a"] * N, {}, "is always 'a': there is nothing to predict"),
        ([5] * N, {}, "is always '5': there is nothing to predict"),
        (["a", None] * 30, {}, "is always 'a': there is nothing to predict"),
        ([None] * N, {}, "has no values"),
        (["a", "b", *[None] * 58], {}, "2 rows have a value for the target 'class': at least 10"),
        (pd.date_range("2024-01-01", periods=N), {}, "contains dates: convert them to numbers"),
        ([f"2024-01-{i % 28 + 1:02}" for i in range(N)], {}, "contains dates"),
        ([[1]] * N, {}, "contains lists or tables"),
        ([f"name {i}" for i in range(N)], {}, "60 distinct values in 60 rows: these look like"),
        (
            ["a", "b"] * 30,
            {"task": "regression"},
            "is not numeric .it contains 'a'.: regression needs",
        ),
        ([True, False] * 30, {"task": "regression"}, "is not numeric"),
        ([np.inf] * 30 + [1.5] * 30, {"task": "regression"}, "30 finite numbers, 1 of them"),
    ],
)
def test_targets_that_cannot_be_predicted(values, options, message):
    frame = table()
    frame["class"] = values
    with pytest.raises(UserError, match=message):
        prepare(frame, "class", **options)


def test_a_target_that_is_not_there():
    frame = table()
    for name, message in [
        ("clas", "The target 'clas' is not a column. Did you mean 'class'?"),
        ("CLASS", "The target 'CLASS' is not a column. Did you mean 'class'?"),
        ("zzz", "The target 'zzz' is not a column. The columns are u and class."),
    ]:
        with pytest.raises(UserError) as caught:
            prepare(frame, name)
        assert str(caught.value) == message
    assert prepare(frame, " class ").preparation.target == "class"


def test_tables_that_are_too_small():
    with pytest.raises(UserError, match="has 9 rows: at least 10 are needed"):
        prepare(table().head(9), "class")
    with pytest.raises(UserError, match=r"has 1 column: .*Is the delimiter right"):
        prepare(table()[["class"]], "class")
    with pytest.raises(UserError, match="has 0 columns"):
        prepare(pd.DataFrame(), "class")
    with pytest.raises(TypeError, match="frame must be a pandas DataFrame, got a list"):
        prepare([[1, 2]], "class")


def test_a_class_of_one_row_is_kept_and_told():
    frame = table()
    frame.loc[0, "class"] = "rare"
    prepared = prepare(frame, "class")
    assert prepared.preparation.classes == ("no", "rare", "yes")
    assert "A class has a single row: rare." in answers(prepared)
    audio = prepare(load_dataset("audio", folder=path_of("data/audio.csv").parent).frame, "class")
    assert "5 classes have a single row" in answers(audio)


def test_very_long_names_of_classes_do_not_fill_the_memory():
    frame = table()
    frame["class"] = ["a" * 10_000, "b" * 10_000] * 30
    assert prepare(frame, "class").y.dtype == object


def test_more_classes_than_trees_can_hold_are_refused():
    frame = pd.DataFrame({"u": np.arange(4004) % 7, "y": [f"k{i % 1001}" for i in range(4004)]})
    with pytest.raises(UserError, match="has 1,001 classes, more than the 1,000"):
        prepare(frame, "y")
    assert len(prepare(frame[frame["y"] != "k0"], "y").preparation.classes) == 1000
