"""Folds: each row tested once in a repetition, fair shares, and the same for everybody."""

from __future__ import annotations

import numpy as np
import pytest
from tests.shared import path_of

from orfeon.workbench import PROTOCOLS
from orfeon.workbench.reproduction import Folds, deal_folds, published_shares


@pytest.fixture
def letters(tmp_path):
    """A file of three classes whose first feature is the number of the row."""
    labels = np.repeat(["a", "A", "c"], [60, 25, 15])
    lines = [f"{row},{row % 7},{label}" for row, label in enumerate(labels)]
    (tmp_path / "letters.csv").write_text("\n".join(["row,u,class", *lines]) + "\n")
    return tmp_path


@pytest.mark.parametrize(("counts", "n_folds"), [([60, 25, 15], 10), ([29, 185], 10), ([7, 6], 5)])
def test_folds_and_classes_differ_by_at_most_one_sample(counts, n_folds):
    y = np.repeat(np.arange(len(counts)), counts)
    for seed in range(20):
        fold = deal_folds(y, n_folds, np.random.default_rng(seed))
        sizes = np.bincount(fold, minlength=n_folds)
        assert np.ptp(sizes) <= 1
        for label, count in enumerate(counts):
            of_class = np.bincount(fold[y == label], minlength=n_folds)
            assert (of_class.sum(), np.ptp(of_class)) == (count, int(count % n_folds > 0))


def test_every_row_has_the_same_chance_of_every_fold():
    y = np.repeat([0, 1], [12, 3])
    counts = np.zeros((15, 3))
    for seed in range(3000):
        counts[np.arange(15), deal_folds(y, 3, np.random.default_rng(seed))] += 1
    assert np.abs(counts / 3000 - 1 / 3).max() < 5 * np.sqrt(2 / 9 / 3000)


@pytest.mark.parametrize("n_folds", [1, 16])
def test_impossible_numbers_of_folds_are_refused(n_folds):
    with pytest.raises(ValueError, match=f"n_folds must be from 2 to 15, the rows; got {n_folds}"):
        deal_folds(np.zeros(15), n_folds, np.random.default_rng(0))


def test_every_row_is_tested_once_in_a_repetition(letters):
    folds = Folds("problem", ("A", "c"), file="letters", folder=letters)
    for repetition in range(3):
        splits = [folds.draw(10 * repetition + fold) for fold in range(10)]
        tested = np.concatenate([split.X_test[:, 0] for split in splits]).astype(int)
        assert sorted(tested) == list(range(100))
        for split in splits:
            rows = np.concatenate([split.X_train[:, 0], split.X_test[:, 0]])
            assert sorted(rows) == list(range(100))
            assert np.sum(split.y_test == "positive") == 4
            labels = np.concatenate([split.y_train, split.y_test])
            assert labels.tolist() == np.where(rows < 60, "negative", "positive").tolist()


def test_repetitions_differ_and_depend_on_their_number_alone(letters):
    one, other = (Folds("letters", ("A",), folder=letters) for _ in range(2))
    tested = {split: one.draw(split).X_test[:, 0].tolist() for split in range(20)}
    assert tested == {split: other.draw(split).X_test[:, 0].tolist() for split in range(19, -1, -1)}
    assert all(tested[fold] != tested[10 + fold] for fold in range(10))
    assert [one.describe(split) for split in (0, 9, 10, 99)] == [
        "repetition 0 fold 0", "repetition 0 fold 9", "repetition 1 fold 0", "repetition 9 fold 9",
    ]  # fmt: skip


def test_the_first_folds_stay_what_they_were():
    """Results on disk are only good while the folds are those they were made on."""
    fold = deal_folds(np.repeat([0, 1], [9, 6]), 5, np.random.default_rng([1, 2]))
    assert fold.tolist() == [1, 1, 3, 3, 0, 2, 4, 2, 0, 4, 2, 4, 0, 3, 1]


def test_letter_case_tells_classes_apart(letters):
    folds = Folds("letters", ("a",), n_folds=5, folder=letters)
    assert np.sum(folds.draw(0).y_train == "positive") == 48


@pytest.mark.parametrize(
    ("positive", "n_folds", "message"),
    [
        (("b", "c"), 10, r"letters\.csv has no samples of the classes b\."),
        (("c",), 16, r"has 15 samples of one class; the 16 folds of letters need one each"),
        (("a", "A", "c"), 5, r"has 0 samples of one class"),
    ],
)
def test_a_file_of_other_classes_is_refused(letters, positive, n_folds, message):
    with pytest.raises(ValueError, match=message):
        Folds("letters", positive, n_folds, folder=letters).load()


def test_a_negative_split_and_a_missing_file_are_refused(letters):
    with pytest.raises(ValueError, match="split must not be negative, got -1"):
        Folds("letters", ("A",), folder=letters).draw(-1)
    nothing = Folds("digits", ("1",), folder=letters)
    assert not nothing.is_available()
    assert Folds("letters", ("A",), folder=letters).is_available()
    with pytest.raises(FileNotFoundError, match=r"no digits\.csv in the folder"):
        nothing.load()


@pytest.mark.parametrize("dataset", list(published_shares("cantador-6.3.1")))
def test_the_positive_classes_have_their_published_shares(dataset):
    design = PROTOCOLS["cantador-6.3.1"].design
    split = design.problem("cantador-6.3.1", dataset, path_of("data")).draw(0)
    labels = np.concatenate([split.y_train, split.y_test])
    share = 100 * np.mean(labels == "positive")
    assert share == pytest.approx(published_shares("cantador-6.3.1")[dataset], abs=0.051)
    if dataset == "thyroid":  # printed is the number of training samples
        assert len(split.y_train) == 6480
