"""Splits: exact sizes, fair shares, and the same for everybody."""

from __future__ import annotations

import numpy as np
import pytest
from tests.shared import path_of

from orfeon.workbench.reproduction import (
    Partitions,
    Sizes,
    is_synthetic,
    published_sizes,
    split_rows,
)


def write_data(folder, counts):
    """A file whose first feature is the number of the row."""
    labels = np.repeat(np.arange(len(counts)), counts)
    lines = [f"{row},{row % 7},c{label}" for row, label in enumerate(labels)]
    (folder / "a.csv").write_text("\n".join(["row,u,class", *lines]) + "\n")


@pytest.mark.parametrize("stratified", [True, False])
def test_sizes_are_exact_and_no_row_is_used_twice(stratified):
    y = np.repeat([0, 1, 2], [50, 31, 6])
    for seed, sizes in enumerate([Sizes(40, 47), Sizes(40, 20), Sizes(1, 1), Sizes(86, 1)]):
        train, test = split_rows(y, sizes, np.random.default_rng(seed), stratified=stratified)
        assert (len(train), len(test)) == sizes
        assert len(np.union1d(train, test)) == sum(sizes)


def test_each_class_has_its_share_to_within_one_sample():
    y = np.repeat([0, 1, 2, 3], [100, 61, 30, 1])
    for seed in range(50):
        rng = np.random.default_rng(seed)
        train, test = split_rows(y, Sizes(75, 60), rng)
        for rows, size in ((train, 75), (test, 60)):
            shares = np.bincount(y) * size / len(y)
            assert np.abs(np.bincount(y[rows], minlength=4) - shares).max() < 1 + 60 / len(y)


def test_a_class_of_one_sample_is_tested():
    y = np.repeat([0, 1, 2, 3], [20, 8, 1, 1])
    for seed in range(20):
        train, test = split_rows(y, Sizes(20, 10), np.random.default_rng(seed))
        assert np.bincount(y[train], minlength=4).tolist() == [14, 6, 0, 0]
        assert np.bincount(y[test], minlength=4).tolist() == [6, 2, 1, 1]
    # Unless the size of the training set cannot be met without it.
    train, _ = split_rows(np.arange(4), Sizes(3, 1), np.random.default_rng(0))
    assert len(train) == 3


def test_equal_remainders_are_rounded_up_at_random():
    y = np.repeat([0, 1], 5)
    firsts = [
        np.sum(y[split_rows(y, Sizes(5, 5), np.random.default_rng(seed))[0]] == 0)
        for seed in range(200)
    ]
    assert set(firsts) == {2, 3}
    assert 70 < sum(first == 3 for first in firsts) < 130


def test_plain_splits_do_not_keep_the_shares():
    y = np.repeat([0, 1], 100)
    counts = [
        np.sum(split_rows(y, Sizes(100, 100), np.random.default_rng(s), stratified=False)[0] < 100)
        for s in range(200)
    ]
    # Hypergeometric: the variance is 100 / 4 * 100 / 199.
    assert np.std(counts) == pytest.approx(np.sqrt(100 / 4 * 100 / 199), rel=0.2)


def test_every_row_has_the_same_chance_of_being_tested():
    y = np.repeat([0, 1, 2], [20, 10, 10])
    tested = np.zeros(40)
    for seed in range(2000):
        tested[split_rows(y, Sizes(25, 15), np.random.default_rng(seed))[1]] += 1
    assert np.abs(tested / 2000 - 15 / 40).max() < 5 * np.sqrt(0.375 * 0.625 / 2000)


def test_rows_come_in_random_order():
    y = np.repeat([0, 1], 500)
    for rows in split_rows(y, Sizes(500, 500), np.random.default_rng(0)):
        assert abs(np.corrcoef(np.arange(500), y[rows])[0, 1]) < 0.15


@pytest.mark.parametrize("sizes", [Sizes(8, 3), Sizes(0, 5), Sizes(5, 0)])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match=r"at most 10 rows together, got Sizes"):
        split_rows(np.zeros(10), sizes, np.random.default_rng(0))


@pytest.mark.parametrize("name", ["waveform", "twonorm", "threenorm", "a"])
def test_a_split_depends_on_its_number_alone(name, tmp_path):
    write_data(tmp_path, [60, 40])
    sizes = Sizes(30, 50)
    forwards = Partitions(name, sizes, folder=tmp_path)
    backwards = Partitions(name, sizes, folder=tmp_path)
    one = {split: forwards.draw(split) for split in range(4)}
    other = {split: backwards.draw(split) for split in (3, 1, 0, 2, 1)}
    for split, partition in one.items():
        for a, b in zip(partition, other[split], strict=True):
            np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one[0].X_train, one[1].X_train)
    assert (len(one[0].y_train), len(one[0].y_test)) == sizes


def test_a_synthetic_training_set_does_not_depend_on_the_test_set():
    small, large = (Partitions("waveform", Sizes(100, n_test)).draw(2) for n_test in (10, 1000))
    np.testing.assert_array_equal(small.X_train, large.X_train)


def test_the_first_split_stays_what_it_was():
    """Results on disk are only good while the splits are those they were made on."""
    partition = Partitions("waveform", Sizes(300, 5000), stratified=False).draw(0)
    assert partition.y_train[:12].tolist() == [0, 2, 2, 2, 0, 2, 0, 1, 1, 1, 2, 1]
    partition = Partitions("waveform", Sizes(300, 5000)).draw(0)
    assert partition.y_train[:12].tolist() == [0, 1, 1, 0, 2, 2, 2, 1, 0, 0, 2, 1]
    train, _ = split_rows(np.repeat([0, 1], [9, 6]), Sizes(5, 10), np.random.default_rng([1, 2]))
    assert train.tolist() == [8, 9, 12, 0, 5]


def test_real_rows_keep_their_class(tmp_path):
    write_data(tmp_path, [60, 25, 15])
    partition = Partitions("problem", Sizes(70, 30), file="a", folder=tmp_path).draw(5)
    rows = np.concatenate([partition.X_train[:, 0], partition.X_test[:, 0]]).astype(int)
    labels = np.concatenate([partition.y_train, partition.y_test])
    assert sorted(rows) == list(range(100))
    assert labels.tolist() == np.repeat(["c0", "c1", "c2"], [60, 25, 15])[rows].tolist()


def test_a_file_that_is_too_small_is_refused(tmp_path):
    write_data(tmp_path, [20, 20])
    with pytest.raises(ValueError, match="has 40 samples; the splits of a need 41"):
        Partitions("a", Sizes(30, 11), folder=tmp_path).load()


def test_a_negative_split_is_refused():
    with pytest.raises(ValueError, match="split must not be negative, got -1"):
        Partitions("waveform", Sizes(30, 11)).draw(-1)


def test_only_classification_problems_count_as_synthetic():
    assert is_synthetic("ringnorm")
    assert not is_synthetic("friedman1")


@pytest.mark.parametrize("table", ["martinez-3.2", "martinez-4.2", "martinez-5.8"])
def test_published_sizes_use_up_the_real_data(table):
    folder = path_of("data")
    for name, sizes in published_sizes(table).items():
        if not is_synthetic(name):
            n_rows = len((folder / f"{name}.csv").read_text().splitlines()) - 1
            assert n_rows == sum(sizes), name


def test_stratified_samples_of_a_synthetic_problem_have_equal_classes():
    for split in range(5):
        even = Partitions("waveform", Sizes(301, 150)).draw(split)
        assert sorted(np.bincount(even.y_train)) == [100, 100, 101]
        assert np.bincount(even.y_test).tolist() == [50, 50, 50]
    drawn = [Partitions("waveform", Sizes(300, 150), stratified=False).draw(k) for k in range(5)]
    assert len({tuple(np.bincount(part.y_train)) for part in drawn}) > 1
