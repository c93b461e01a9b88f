"""Where rounding, chunks, constants and ties must not decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.oracles import perceptrons as oracle

from orfeon import ParallelPerceptronClassifier
from orfeon.perceptrons import p_delta
from orfeon.perceptrons.p_delta import PDelta, Solution
from orfeon.perceptrons.pptss import select_samples


def test_an_feature_constant_in_training_says_nothing_of_new_rows() -> None:
    """Its weight was drawn and never learnt."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(40, 2)), np.full(40, 7.0)])
    y = (X[:, 0] > 0).astype(int)
    model = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    moved = X + np.array([0.0, 0.0, 1e4])
    rows = oracle.standardised(X.tolist(), moved.tolist(), [1.0] * 40)
    assert [row[2] for row in rows] == [0.0] * 40
    assert model.predict(moved).tolist() == model.predict(X).tolist()


def test_an_error_that_stays_leaves_the_adaptive_rate_alone() -> None:
    """All samples are wrong in every epoch; 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1."""
    rule = PDelta("incremental", learning_rate="adaptive", rate=1e-9, tune_margin=False)
    start = Solution(np.array([[1.0]]), 0.0)
    given = np.ones((3, 1)), -np.ones(3), np.array([0.1, 0.2, 0.3])
    end = p_delta.train(*given, start, rule, 30, np.random.default_rng(0)).solution
    assert end.rate == 1e-9


def test_the_adaptive_rate_looks_at_shares_of_chunks() -> None:
    """Five errors of ten, then three of four.

    Shares 1/2, then 3/4: the error rose, and the rate halves, though fewer samples are wrong.
    """
    model = ParallelPerceptronClassifier(
        1, learning_rate="adaptive", eta0=1e-9, standardize=False, random_state=0
    )
    X = np.ones((10, 1))
    says = int(model.partial_fit(X, np.arange(10) % 2, classes=[0, 1]).predict(X[:1])[0])
    model.partial_fit(X[:4], [1 - says, 1 - says, 1 - says, says])
    assert model.error_curve_.tolist() == [0.5, 0.75]
    solution: Any = model._solutions[0]
    assert solution.rate == pytest.approx(0.5e-9)


def test_zero_says_the_second_class_whichever_is_of_interest() -> None:
    """Zero is right of a negative sample of the second class: it is not quasi-noisy."""
    inputs, y = np.array([[0.0], [0.1], [-0.1], [3.0]]), np.array([1.0, 1.0, -1.0, 1.0])

    def still(rows: Any, start: Any) -> Solution:
        return Solution(np.array([[1.0]]), 0.5)

    found = select_samples(inputs, y, np.ones(4), still, positive=-1.0)
    # All are right: 3 is redundant, the others are borderline.
    assert found.rounds[0][1:] == (1.0, 1.0, 1.0)
    assert found.rows.tolist() == [0, 1, 2]
