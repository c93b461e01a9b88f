"""Boosting over a given pool against the oracle that looks at every classifier in every round."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests import shared
from tests.oracles.boosting import adaboost_m1
from tests.oracles.boosting_weak import all_cuts, best_of_pool, majority

from orfeon.boosting.pool import PoolBoostClassifier

usual = settings(deadline=None, derandomize=True, max_examples=shared.cases(50))


def fit_quietly(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X, y)


def voter(answer):
    return lambda X: answer[X[:, 0].astype(int)]


@given(st.integers(4, 12), st.integers(2, 3), st.integers(1, 8), st.data())
@usual
def test_each_round_takes_the_first_of_the_best(n, n_classes, size, data):
    y = data.draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    assume(len(set(y)) == n_classes)
    mistake = st.dictionaries(st.integers(0, n - 1), st.integers(1, 2), max_size=1 + n // 2)
    mistakes = data.draw(st.lists(mistake, min_size=size, max_size=size))
    pool = [[(c + row.get(i, 0)) % n_classes for i, c in enumerate(y)] for row in mistakes]
    oracle = adaboost_m1(best_of_pool(pool), y, 8, floor=Fraction(0))
    X = np.arange(n, dtype=float)[:, None]
    voters = [voter(np.array(h)) for h in pool]
    model = fit_quietly(PoolBoostClassifier(voters, 8, algorithm="m1"), X, np.array(y))
    if not oracle.members:
        assert len(model.members_) == 1
        return
    exact = [pool.index(m.answers) for m in oracle.members]
    assert [pool.index(pool[c]) for c in model.chosen_] == exact
    assert all(pool.index(pool[c]) == c for c in model.chosen_)
    errors = [float(m.error) for m in oracle.members]
    np.testing.assert_allclose(model.errors_, errors, rtol=1e-10)
    alphas = [float(m.alpha) for m in oracle.members]
    np.testing.assert_allclose(model.member_weights_, alphas, rtol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_stumps_have_the_least_error_of_all_stumps(seed):
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(8, 18)), int(rng.integers(2, 4))
    rows = rng.integers(0, 6, (n, 2)).tolist()
    y = [*range(n_classes), *rng.integers(0, n_classes, n - n_classes).tolist()]
    X = np.array(rows, dtype=float)
    model = fit_quietly(PoolBoostClassifier(n_estimators=6, algorithm="m1"), X, np.array(y))
    answers = iter(model.votes(X).tolist())
    least = []

    def weak(weights, labels):
        alone = sum((w for w, c in zip(weights, labels, strict=True)
                     if c != majority(weights, labels)), Fraction(0))  # fmt: skip
        least.append(min([alone, *(error for error, _, _ in all_cuts(rows, weights, labels))]))
        return next(answers)

    oracle = adaboost_m1(weak, y, len(model.members_), floor=Fraction(0))
    if not oracle.members:
        assert least[0] >= Fraction(1, 2)
        return
    assert [m.error for m in oracle.members] == least
    np.testing.assert_allclose(model.errors_, [float(e) for e in least], rtol=1e-10)
