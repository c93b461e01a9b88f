"""Boosted stumps on the nested spheres; bagging and boosting on wrong labels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from benchmarks import nested_spheres, noise_sensitivity
from benchmarks.means import Mean
from benchmarks.nested_spheres import Errors, rounds_to_beat
from benchmarks.noise_sensitivity import PROBLEMS, SHARES, with_wrong_labels

pytestmark = pytest.mark.tools


def test_the_standard_error_falls_with_the_root_of_the_number():
    figures = [8.0, 12.0]
    assert Mean.of(figures) == (10.0, 2.0)
    assert Mean.of(figures * 8).standard_error == pytest.approx(2 / np.sqrt(15))
    with pytest.raises(ValueError, match="figures must be two or more, got 1"):
        Mean.of([1.0])


# -- nested spheres --------------------------------------------------------------------------------


def _errors(*boosted):
    return [Errors(46.0, 26.0, 244, np.array(boosted)), Errors(46.0, 24.0, 240, np.array(boosted))]


def test_the_tree_is_beaten_from_where_the_mean_stays_below_it():
    assert rounds_to_beat(_errors(40.0, 24.0, 25.0, 24.9, 20.0)) == 4
    assert rounds_to_beat(_errors(24.0, 20.0)) == 1
    assert rounds_to_beat(_errors(40.0, 25.0)) is None


def test_boosted_stumps_beat_a_large_tree_and_one_stump_hardly_beats_chance():
    found = nested_spheres.measure(draw=0, rounds=100)
    assert found.boosted.shape == (100,)
    assert found.boosted[0] == found.stump
    assert 44 < found.stump < 48
    assert 220 < found.leaves < 270
    assert 23 < found.tree < 29
    assert found.boosted[-1] < found.tree - 5


def test_the_table_of_the_spheres_ends_with_all_stumps(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "spheres.png"
    options = ["--quick", "--draws", "2", "--rounds", "40", "--picture", str(path)]
    assert nested_spheres.main(options) == 0
    printed = capsys.readouterr().out
    rows = [line.split(" | ")[0] for line in printed.splitlines() if line.startswith("| ")]
    assert rows[1] == "| one stump"
    assert rows[2].startswith("| one tree of 2")
    assert rows[3:] == [
        "| 1 boosted stump", "| 10 boosted stumps", "| 30 boosted stumps", "| 40 boosted stumps",
    ]  # fmt: skip
    assert "The tree is " in printed
    assert path.stat().st_size > 5000


# -- wrong labels ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_exactly_the_share_is_wrong_and_a_larger_share_contains_a_smaller(n_classes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 300)
    order, steps = rng.permutation(300), rng.integers(1, n_classes, 300)
    wrong = [with_wrong_labels(y, share, n_classes, order, steps) != y for share in SHARES]
    assert [int(rows.sum()) for rows in wrong] == [0, 15, 30, 60]
    for fewer, more in pairwise(wrong):
        assert (fewer <= more).all()
    noisy = with_wrong_labels(y, 0.2, n_classes, order, steps)
    assert set(noisy) == set(range(n_classes))


def test_noise_takes_more_from_boosting_than_from_bagging():
    found = noise_sensitivity.measure("twonorm", draws=4, members=30)
    means = {key: np.mean(list(errors.values())) for key, errors in found.items()}
    assert len(means) == 8
    assert means[0.0, "boosting"] < means[0.0, "bagging"]
    lost = {e: means[0.2, e] - means[0.0, e] for e in ("bagging", "boosting")}
    assert lost["boosting"] > lost["bagging"] + 2


def test_the_table_of_wrong_labels_has_paired_differences_and_means():
    def found(boosting):
        errors = {"bagging": {0: 10.0, 1: 12.0}, "boosting": dict(enumerate(boosting))}
        return {(share, name): of for share in SHARES for name, of in errors.items()}

    table = noise_sensitivity.lines({"a": found((11.0, 15.0)), "b": found((10.0, 12.0))})
    assert len(table) == 2 + 3 * 4
    assert table[3] == "| a | 5% | 11.00 ± 1.00 | 13.00 ± 2.00 | +2.00 ± 1.00 |"
    assert table[-1] == "| **mean** | 20% | 11.00 | 12.00 | +1.00 ± 0.50 |"


def test_small_trees_may_stand_in_for_pruned_ones():
    tree = noise_sensitivity._tree(4)
    rng = np.random.default_rng(0)
    assert tree.fit(rng.normal(size=(100, 2)), rng.integers(0, 2, 100)).get_n_leaves() == 4
    assert noise_sensitivity._tree(None).pruning == "cv"


def test_the_quick_command_prints_all_problems(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "noise.png"
    assert noise_sensitivity.main(["--quick", "--members", "3", "--picture", str(path)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Test errors in percent with 3 pruned trees, 300 training and 5000")
    for name in (*PROBLEMS, "**mean**"):
        assert printed.count(f"\n| {name} | ") == len(SHARES)
    assert path.stat().st_size > 5000


@pytest.mark.parametrize(
    ("command", "options", "complaint"),
    [
        (nested_spheres, ["--draws", "1"], "--draws must be 2 or more, got 1"),
        (nested_spheres, ["--draws", "0"], "--draws must be 2 or more, got 0"),
        (nested_spheres, ["--rounds", "0"], "--rounds must be 1 or more, got 0"),
        (nested_spheres, ["--rounds", "-1"], "--rounds must be 1 or more, got -1"),
        (noise_sensitivity, ["--draws", "1"], "--draws must be 2 or more, got 1"),
        (noise_sensitivity, ["--draws", "0"], "--draws must be 2 or more, got 0"),
        (noise_sensitivity, ["--members", "0"], "--members must be 1 or more, got 0"),
        (noise_sensitivity, ["--leaves", "1"], "--leaves must be 2 or more, got 1"),
        (noise_sensitivity, ["--members", "-3"], "--members must be 1 or more, got -3"),
    ],
)
def test_too_few_are_refused(command, options, complaint, capsys):
    with pytest.raises(SystemExit):
        command.main(options)
    assert complaint in capsys.readouterr().err
