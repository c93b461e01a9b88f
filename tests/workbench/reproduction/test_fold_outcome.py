"""What is right class by class, and the measures of a repetition."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon.workbench.reproduction import FoldOutcome, Partition
from orfeon.workbench.reproduction.results import METRICS

FOLDS = [FoldOutcome(1, 2, 9, 10, 100), FoldOutcome(3, 3, 4, 8, 101)]


class Fixed:
    """A model that says the same whatever it is asked."""

    def __init__(self, answers):
        self.answers = np.array(answers)

    def predict(self, X):
        return self.answers


def split(y_test):
    y_train = np.array(["positive"] * 5 + ["negative"] * 15)
    return Partition(np.zeros((20, 1)), y_train, np.zeros((len(y_test), 1)), np.array(y_test))


def test_hits_are_counted_by_the_true_class():
    truth = ["positive", "negative", "negative", "positive", "negative"]
    model = Fixed(["positive", "positive", "negative", "negative", "negative"])
    found = FoldOutcome.of(model, split(truth))
    assert found == FoldOutcome(1, 2, 2, 3, n_train=20, n_selected=None)
    assert (found.accuracy, found.error, found.selected) == (60.0, 40.0, None)


def test_a_model_that_selects_says_how_many():
    model = Fixed(["negative", "positive"])
    model.selected_ = np.array([0, 3, 7])
    found = FoldOutcome.of(model, split(["negative", "positive"]))
    assert (found.n_selected, found.selected, found.error) == (3, 15.0, 0.0)


def test_accuracies_are_averaged_over_folds_and_not_over_samples():
    measures = {name: measure(FOLDS) for name, measure in METRICS.items()}
    assert measures == pytest.approx(
        {
            "accuracy": 100 * (10 / 12 + 7 / 11) / 2,
            "acc+": 100 * (1 / 2 + 1) / 2,
            "acc-": 100 * (9 / 10 + 4 / 8) / 2,
            "g": 100 * np.sqrt(0.75 * 0.7),
            "n_train": np.mean([fold.n_used for fold in FOLDS]),
            "n_rounds": 0.0,  # none of them selects
        }
    )


def test_g_is_that_of_the_averages_and_not_the_average_of_those_of_the_folds():
    folds = [FoldOutcome(0, 2, 9, 9, 90), FoldOutcome(2, 2, 9, 9, 90)]
    assert METRICS["g"](folds) == pytest.approx(100 * np.sqrt(0.5))  # not 50
    assert METRICS["g"](folds) == METRICS["g"](folds[::-1])


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((3, 2, 1, 1, 9), "right_positive must be from 0 to n_positive, .* got 3 and 2"),
        ((0, 0, 1, 1, 9), "right_positive must be .* at least 1; got 0 and 0"),
        ((1, 2, -1, 1, 9), "right_negative must be .* got -1 and 1"),
        ((1, 2, 1, 1, 9, 10), "n_selected must be from 0 to n_train, .* got 10 and 9"),
        ((1, 2, 1, 1, 0), "n_selected must be .* got None and 0"),
    ],
)
def test_impossible_numbers_are_refused(numbers, message):
    with pytest.raises(ValueError, match=message):
        FoldOutcome(*numbers)
