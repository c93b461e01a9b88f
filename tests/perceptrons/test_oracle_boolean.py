"""Every Boolean function of four inputs is learnt exactly, by enough perceptrons.

All 65536 by the training itself; by the classifier, one of each class of functions that are each
other's image under permuted inputs, complemented inputs and a complemented output, 222 for four
inputs, and every symmetric one. Usual runs take every 17th and every third.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests import shared

from orfeon import ParallelPerceptronClassifier
from orfeon.perceptrons import p_delta

CORNERS = np.array(list(itertools.product([0.0, 1.0], repeat=4)))


@cache
def representatives() -> list[int]:
    """The least truth table, as a number, of each class of equally hard functions."""
    places = np.arange(16)
    bits = places[:, None] >> np.arange(4)[::-1] & 1
    images = [
        (bits[:, order] ^ np.array(flips)) @ [8, 4, 2, 1]
        for order in itertools.permutations(range(4))
        for flips in itertools.product([0, 1], repeat=4)
    ]
    seen, found = np.zeros(1 << 16, bool), []
    for table in range(1 << 16):
        if seen[table]:
            continue
        found.append(table)
        values = table >> places & 1
        same = np.array([(values[image] << places).sum() for image in images])
        seen[same] = seen[(1 << 16) - 1 - same] = True
    return found


def values_of(table: int) -> npt.NDArray[np.int64]:
    return np.array([table >> place & 1 for place in range(16)])


def learner(**settings: Any) -> ParallelPerceptronClassifier:
    return ParallelPerceptronClassifier(
        15, init="unit", eta0=0.1, max_iter=400, random_state=0, **settings
    )


def test_all_functions() -> None:
    """19 perceptrons, always from the same weights, learn each within 500 epochs."""
    inputs = np.column_stack([2 * CORNERS - 1, np.full(16, -1.0)]) / np.sqrt(5)
    tables = np.arange(0, 1 << 16, 1 if shared.thorough else 17)
    targets = np.where(tables[:, None] >> np.arange(16) & 1, 1.0, -1.0)
    rng, ones = np.random.default_rng(0), np.ones(16)
    start = p_delta.Solution(p_delta.draw_weights(19, 5, "unit", rng), margin=0.05)
    rule = p_delta.PDelta(rule="auer", rate=0.1, stop_when_right=True)
    weights = np.stack(
        [p_delta.train(inputs, y, ones, start, rule, 500, rng).solution.weights for y in targets]
    )
    says = np.where(weights @ inputs.T >= 0, 1, -1).sum(axis=1)
    missed = np.flatnonzero((np.sign(says) != targets).any(axis=1))
    assert missed.tolist() == []


@pytest.mark.parametrize("rule", ["p_delta", "auer"])
def test_one_of_each_class(rule: Any) -> None:
    tables = representatives()
    assert len(tables) == 222
    tables = tables if shared.thorough else tables[::3]
    missed = [
        table
        for table in tables
        if (learner(rule=rule).fit(CORNERS, values_of(table)).predict(CORNERS) != values_of(table))
        .any()
    ]  # fmt: skip
    assert missed == []


@pytest.mark.parametrize("mode", ["batch", "incremental"])
def test_all_symmetric_functions(mode: Any) -> None:
    """Those that depend on how many inputs are 1, the parities among them."""
    n_ones = CORNERS.sum(axis=1).astype(int)
    for of_count in itertools.product([0, 1], repeat=5):
        y = np.array(of_count)[n_ones]
        model = learner(mode=mode).fit(CORNERS, y)
        assert model.predict(CORNERS).tolist() == y.tolist(), of_count


def test_one_perceptron_learns_no_exclusive_or() -> None:
    """The number of perceptrons matters: one is a hyperplane."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = [0, 1, 1, 0]
    model = ParallelPerceptronClassifier(1, init="unit", eta0=0.1, max_iter=400, random_state=0)
    assert model.fit(X, y).score(X, y) <= 0.75
    model.set_params(n_perceptrons=3)
    assert model.fit(X, y).score(X, y) == 1.0
