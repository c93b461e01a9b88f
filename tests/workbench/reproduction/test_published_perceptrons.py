"""What parallel perceptrons are published for, on real unbalanced samples (where they are there).

Selecting the training set: a tenth of the samples or less is enough, and the rare class is found.
Boosting by categories: more of the rare class is found than AdaBoost finds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from tests.shared import load

from orfeon import ParallelPerceptronClassifier, PPBoostClassifier, PPTSSClassifier
from orfeon.imbalance import geometric_mean, positive_accuracy


def parts(name: str, positive: list[str], seed: int) -> Any:
    """Nine tenths to train on and one to test: rows and rows, whether positive and whether."""
    X, y = load(name)
    is_positive = np.isin(y, positive)
    return train_test_split(X, is_positive, test_size=0.1, stratify=is_positive, random_state=seed)


def test_selection_finds_the_ill_of_thyroid() -> None:
    X, X_test, y, y_test = parts("thyroid", ["code1_hypo", "code2_subnormal"], seed=0)
    assert (len(y), y.sum(), len(y_test), y_test.sum()) == (6480, 481, 720, 53)
    plain = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    selective = PPTSSClassifier(random_state=0).fit(X, y)
    assert 100 * geometric_mean(y_test, plain.predict(X_test), pos_label=True) < 80
    assert 100 * geometric_mean(y_test, selective.predict(X_test), pos_label=True) > 95
    assert len(selective.selected_) < 500


@pytest.mark.parametrize("seed", range(3))
def test_balanced_boosting_finds_more_saabs_than_adaboost(seed: int) -> None:
    X, X_test, y, y_test = parts("vehicle", ["saab"], seed)
    assert (len(y), y.sum(), len(y_test), y_test.sum()) == (761, 195, 85, 22)
    answers = {
        mode: PPBoostClassifier(mode=mode, random_state=0).fit(X, y).predict(X_test)
        for mode in ("adaboost", "balanced")
    }
    found = {mode: positive_accuracy(y_test, its, pos_label=True) for mode, its in answers.items()}
    g = {mode: geometric_mean(y_test, its, pos_label=True) for mode, its in answers.items()}
    assert found["balanced"] > found["adaboost"] + 0.1
    assert g["balanced"] > g["adaboost"] + 0.03
