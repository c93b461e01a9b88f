"""Words of messages, at the edges of what is said."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from orfeon.utils import text as wording


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.00042, "0.42 ms"), (0.0994, "99 ms"), (0.0999, "100 ms"), (0.25, "250 ms"),
        (0.9994, "999 ms"), (0.9996, "1.0 s"), (59.94, "59.9 s"), (59.97, "1 min 00 s"),
        (3599.4, "59 min 59 s"), (3599.9, "1 h 00 min"), (90_000, "25 h 00 min"),
        (math.nan, "unknown"),
    ],
)  # fmt: skip
def test_durations_are_told_as_people_do(seconds: float, text: str) -> None:
    assert wording.duration_text(seconds) == text


def test_clocks_and_sizes() -> None:
    assert [wording.clock_text(s) for s in (-1, 59.6, 3599.6)] == ["0:00", "1:00", "1:00:00"]
    assert [wording.size_text(n) for n in (999_990, 2.5e12)] == ["1.0 MB", "2.5 TB"]


def test_near_names_whatever_their_capitals() -> None:
    assert wording.nearest_names("Random-Forest", ["random_forest"]) == (
        " (did you mean 'random_forest'?)"
    )
    assert wording.nearest("class", ["Class", "CLASS", "glass"]) == ["Class", "CLASS"]
    assert wording.nearest("clas", ["outlook", "glass", "class", "class"]) == ["class", "glass"]
    assert wording.nearest("clas", ["glass", "class"], n=1) == ["class"]
    assert wording.nearest(3, [12, 30]) == ["30"]
    assert wording.nearest("x", []) == []
    assert wording.did_you_mean([]) == ""


def test_lists() -> None:
    assert wording.listed([]) == wording.some_of([]) == wording.clauses([]) == ""
    assert wording.listed(["a", "b"], "or") == "a or b"
    assert wording.some_of(["a"]) == "a"
    assert wording.some_of("abcdefg") == "a, b, c, d, e, f and g"
    assert wording.some_of("abcdefgh") == "a, b, c, d, e, f and 2 more"
    assert wording.some_of(["a\nb", "c" * 61]) == f"a b and {'c' * 59}…"
    assert wording.clauses(["a", "b"], most=2) == "a; b"
    assert wording.clauses(["a", "b", "c", "d"], most=2) == "a; b; and 2 more"


def test_cells_stand_below_each_other_in_any_script() -> None:
    lines = [["name", "n"], ["e\u0301t\u00e9", "1"], ["\u6771\u4eac", "23"]]
    text = wording.aligned(lines, to_the_right={1})
    assert text.splitlines() == ["name   n", "e\u0301t\u00e9    1", "\u6771\u4eac  23"]


def test_names_numbers_and_p_values() -> None:
    assert wording.short("two\nlines") == "two lines"
    assert wording.short("c" * 60) == "c" * 60
    assert wording.counted(1.2, "row") == "1 row"
    assert wording.capital("") == ""
    assert wording.p_value_text(0.0051) == "p = 0.005"
    assert wording.p_value_text(0.00099) == "p < 0.001"
    assert wording.p_value_text(math.nan) == "p unknown"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (1.0, "1"), (0.12346, "0.1235"), (-1031.4, "-1,031"), (2.5, "2.5"),
        (1.0461e4, "10,461"), (0.00012346, "0.0001235"), (1e-7, "1e-07"), (1e20, "1e+20"),
        (100.0, "100"), (99.996, "100"),
    ],
)  # fmt: skip
def test_numbers_have_no_exponent_unless_they_are_extreme(value: float, text: str) -> None:
    assert wording.number_text(value) == text
    assert wording.number_text(value, grouped=False) == text.replace(",", "")


def test_words_need_no_other_part_of_the_workbench() -> None:
    program = (
        "import sys, orfeon.utils.text\n"
        "print([n for n in sys.modules if n.startswith('orfeon.workbench')])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.stdout == "[]\n", ended.stderr
