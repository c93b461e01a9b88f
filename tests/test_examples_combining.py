"""Examples that combine members: their quick form runs, and makes the guide's pictures."""

import re

import numpy as np
import pytest
from tests.programs import ROOT, load, run

pytestmark = pytest.mark.tools


def rows(printed, title):
    """Numbers below a title by the name of their row, up to the next title."""
    _, after = printed.split(title, maxsplit=1)
    body = re.split(r"\n\n\S", after)[0]
    found = re.findall(r"^  (\S.*?) {2,}([-\d.%][^A-Za-z\n]*)", body, re.MULTILINE)
    return {name: [float(n) for n in re.findall(r"\d+\.\d+", text)] for name, text in found}


# -- rules, stacks, codes --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared():
    """What the quick form of the comparison prints."""
    return run("combine_members", "--quick")


def test_on_trees_grown_to_the_end_every_rule_over_supports_is_the_vote(compared):
    errors = rows(compared, "trees, fully grown")
    assert len(errors) == 10
    for rule in ("soft", "product", "max", "min", "median", "trimmed_mean"):
        assert errors[rule] == errors["majority"]
    assert all(np.subtract(errors["model_averaging"], errors["majority"]) > 3)


def test_boosting_is_compared_with_its_own_vote_first(compared):
    errors = rows(compared, "AdaBoost of 20 trees of depth 3")
    assert next(iter(errors)) == "own"
    assert len(errors) == 11
    assert errors["max"][1] > errors["own"][1] + 10  # ringnorm


def test_rules_that_learn_find_the_good_models_on_ringnorm(compared):
    alone = rows(compared, "Seven different models, each alone")
    together = rows(compared, "combined by rules that learn out of fold")
    assert len(alone) == 7
    ringnorm = {name: errors[1] for name, errors in together.items()}
    assert ringnorm["model_averaging"] == min(errors[1] for errors in alone.values())
    assert max(ringnorm["weighted"], ringnorm["naive_bayes"]) < ringnorm["majority"]


def test_stacks_are_better_than_the_vote_of_the_seven(compared):
    errors = rows(compared, "The seven stacked, and others")
    vote = errors["majority vote, scikit-learn"]
    for name in ("stack, scikit-learn", "stack, orfeon"):
        assert errors[name][1] < vote[1] / 2  # ringnorm
        assert abs(errors[name][0] - vote[0]) < 4
    assert errors["forest, C4.5, in sample"][1] > errors["cascade: forest, C4.5"][1] + 5


def test_the_median_helps_where_targets_are_wild(compared):
    left = rows(compared, "Numbers: bagging of 20 trees")
    assert left["median"][1] < left["mean"][1]
    assert left["max"][0] > 100 > left["mean"][0]
    stacked = rows(compared, "Stacks and mixtures for numbers")
    assert stacked["stack of seven, orfeon"][0] < stacked["mean of seven, scikit-learn"][0]


def test_codes_err_less_than_the_tree_that_knows_all_classes(compared):
    errors = rows(compared, "Ten digits, 300 training samples")
    tree = errors.pop("C4.5 on all ten classes")[0]
    errors.pop("one against the rest")
    assert len(errors) == 7
    assert all(error < tree - 3 for (error,) in errors.values())


@pytest.mark.parametrize(
    ("these", "mark"),
    [([1.0, 2.0, 3.0], " "), ([2.0, 3.1, 4.2], "+"), ([0.0, 0.9, 1.8], "-"), ([9.0, 9.0], " ")],
)
def test_differences_of_more_than_two_standard_errors_are_marked(these, mark):
    example = load("combine_members")
    assert example.mark(these, [1.0, 2.0, 3.0][: len(these)]) == mark


# -- pictures --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """What the quick form of the lesson prints, and the folder with its pictures."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    folder = tmp_path_factory.mktemp("pictures")
    return run("teach_combining", "--quick", "--out", folder), folder


def test_one_row_is_decided_in_three_ways(taught):
    decided = dict(re.findall(r"^  (\w+)(?: \*)? +[\d. ]+ ([ABC])$", taught[0], re.MULTILINE))
    assert decided == {
        "majority": "A", "median": "A", "soft": "B", "product": "B", "min": "B",
        "trimmed_mean": "B", "max": "C", "weighted": "C",
    }  # fmt: skip


def test_a_member_that_is_always_certain_takes_over_the_maximum(taught):
    alone = float(re.search(r"1 neighbour (\d+\.\d)%", taught[0]).group(1))
    majority, _, _, largest, bayes = rows(taught[0], "of the two that see half")["1 neighbour"]
    assert largest == alone
    assert max(majority, bayes) < alone


def test_three_experts_find_the_triangle_and_no_likelihood_falls(taught):
    lines = taught[0].split("Inside a triangle")[1].split("Threenorm")[0].splitlines()
    errors = {line[2:28].strip(): float(line[28:].split("%")[0]) for line in lines if "%" in line}
    assert errors["3 experts"] < 3 < errors["1 expert, a line"]
    assert sum("never falling" in line for line in lines) == len(errors) - 1  # and the forest


def test_the_cascade_is_cheaper_than_its_last_model(taught):
    found = rows(taught[0], "then support vectors")
    assert found["support vectors alone"][1] == 120.0
    for name, (error, cost, *_) in found.items():
        if name.startswith("cascade"):
            assert cost < 100.0
            assert error < found["logistic regression alone"][0] + 1


def test_the_pictures_are_those_of_the_guide(taught):
    drawn = {path.name for path in taught[1].glob("*.png")}
    assert drawn == {path.name for path in (ROOT / "docs" / "images").glob("combining_*.png")}
    assert f"3 pictures are in {taught[1]}" in taught[0]
    assert all(path.stat().st_size > 4000 for path in taught[1].glob("*.png"))


def test_without_a_folder_nothing_is_drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    album = load("teach_combining").Album(None)
    album.keep("nothing", lambda: pytest.fail("drawn"))
    assert album.names == []
    assert list(tmp_path.iterdir()) == []


# -- dynamic selection -----------------------------------------------------------------------------


def test_dynamic_selection_helps_small_trees():
    printed = run("select_dynamically", "--quick")
    small, full = (part.splitlines() for part in printed.split("\n\n")[-2:])
    majority, _, by_class = (float(value) for value in small[-2].split()[1:4])
    assert "depth 3" in small[0]
    assert "full" in full[0]
    assert by_class < majority - 5
    assert "meta_des: " in run("select_dynamically", "--time", "--quick")
