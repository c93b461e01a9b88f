"""Types of options: what is read, and what is refused in which words."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orfeon.errors import UserError
from orfeon.workbench.cli import options


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90), ("2m", 120), ("1h30m", 5400), ("1h 30m", 5400), ("1.5h", 5400), ("45", 45),
        ("0.5", 0.5), ("250ms", 0.25), ("2min", 120), ("1d", 86400), ("1H30M5S", 5405),
    ],
)  # fmt: skip
def test_durations(text, seconds):
    assert options.duration(text) == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize("text", ["", "2x", "m2", "2m banana", "-2m", "1h-30m", "two minutes"])
def test_what_is_no_duration_is_refused_with_examples(text):
    with pytest.raises(ArgumentTypeError, match=r"is not a duration: write it as 90s, 2m, 1h30m"):
        options.duration(text)


@pytest.mark.parametrize("text", ["0", "0s", "-5", "inf", "nan"])
def test_durations_are_more_than_nothing(text):
    with pytest.raises(ArgumentTypeError, match="a duration must be greater than 0"):
        options.duration(text)


@given(hours=st.integers(0, 99), minutes=st.integers(0, 99), seconds=st.integers(1, 99))
def test_parts_of_a_duration_add_up(hours, minutes, seconds):
    text = f"{hours}h{minutes}m{seconds}s"
    assert options.duration(text) == 3600 * hours + 60 * minutes + seconds


def test_lists_of_names_have_each_once_in_their_order():
    assert options.names(" b, a ,b,,c") == ["b", "a", "c"]
    with pytest.raises(ArgumentTypeError, match="contains no names"):
        options.names(" , ")


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("n_estimators=500", ("n_estimators", 500)),
        ("max_samples=0.5", ("max_samples", 0.5)),
        ("max_samples=1e-3", ("max_samples", 0.001)),
        ("bootstrap=False", ("bootstrap", False)),
        ("max_depth=None", ("max_depth", None)),
        ("max_depth=null", ("max_depth", None)),
        ("max_features=sqrt", ("max_features", "sqrt")),
        ("estimator__pruning=cv", ("estimator__pruning", "cv")),
        ('name="5"', ("name", "5")),
        ("sizes=[1, 2.5]", ("sizes", [1, 2.5])),
        ("text=a=b", ("text", "a=b")),
        ("text=", ("text", "")),
        ("broken=[1", ("broken", "[1")),
    ],
)
def test_settings(text, pair):
    name, found = options.setting(text)
    assert (name, found) == pair
    assert type(found) is type(pair[1])


@pytest.mark.parametrize("text", ["n_estimators", "=5", "5=n", "a b=1", ""])
def test_what_is_no_setting_is_refused(text):
    with pytest.raises(ArgumentTypeError, match="is not a setting: write it as name=value"):
        options.setting(text)


def test_a_setting_given_twice_is_refused_with_both_values():
    assert options.merged(None) == {}
    with pytest.raises(UserError, match=r"--set a=\.\.\. is given twice: 1 and 2"):
        options.merged([("a", 1), ("a", 2)])


def test_counts_seeds_jobs_and_shares():
    assert options.count("7") == 7
    assert options.seed("4294967295") == 4294967295
    assert options.jobs("-1") == -1
    assert options.share("12.5%") == 0.125
    assert options.size("21") == 21
    assert isinstance(options.size("21"), int)
    assert options.size("1.0") == 1.0


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("count", "0"), ("count", "x"), ("seed", "-1"), ("seed", "4294967296"), ("seed", "1.5"),
        ("jobs", "0"), ("jobs", "-2"), ("jobs", "two"), ("share", "0"), ("share", "1.1"),
        ("share", "101%"), ("share", "much"), ("size", "0"), ("size", "-3"), ("size", "2.5"),
    ],
)  # fmt: skip
def test_numbers_out_of_range_are_refused_with_their_value(kind, text):
    with pytest.raises(ArgumentTypeError) as refused:
        getattr(options, kind)(text)
    assert text in str(refused.value)


def test_files_that_must_be_there(tmp_path):
    file = tmp_path / "a.csv"
    file.touch()
    assert options.existing_file(str(file)) == file
    with pytest.raises(ArgumentTypeError, match="is a folder"):
        options.existing_file(str(tmp_path))
    with pytest.raises(ArgumentTypeError, match="there is no file"):
        options.existing_file(str(tmp_path / "b.csv"))


def test_files_to_be_written_need_a_folder(tmp_path):
    assert options.output_file(str(tmp_path / "m.orfeon")) == tmp_path / "m.orfeon"
    assert options.output_file("~/m.orfeon") == Path.home() / "m.orfeon"
    with pytest.raises(ArgumentTypeError, match="is not a folder: create it first"):
        options.output_file(str(tmp_path / "nowhere" / "m.orfeon"))
    with pytest.raises(ArgumentTypeError, match="is a folder: name a file"):
        options.output_file(str(tmp_path))


def test_what_is_there_is_replaced_only_when_told(tmp_path):
    file = tmp_path / "m.orfeon"
    options.check_output(file, force=False)
    file.touch()
    options.check_output(file, force=True)
    with pytest.raises(UserError, match=r"m\.orfeon already exists.*--force"):
        options.check_output(file, force=False)
