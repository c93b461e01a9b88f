"""Auer's rule for numbers, and ParallelPerceptronRegressor, against the oracle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import shared
from tests.oracles import perceptrons as oracle

from orfeon import ParallelPerceptronRegressor
from orfeon.perceptrons import p_delta
from orfeon.perceptrons.p_delta import PDelta, Solution

Floats = npt.NDArray[np.float64]
QUARTERS = st.integers(-4, 4).map(lambda k: k / 4)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Floats, Floats, Floats, Solution]:
    """Numbers in quarters, so that outputs lie on the limits of the tolerance too."""
    n, n_inputs, n_perceptrons = draw(st.tuples(*[st.integers(1, k) for k in (6, 3, 6)]))

    def array(*shape: int) -> Floats:
        size = int(np.prod(shape))
        return np.array(draw(st.lists(QUARTERS, min_size=size, max_size=size))).reshape(shape)

    weights = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n))
    margin = draw(st.sampled_from([0.0, 0.25, 0.5]))
    solution = Solution(array(n_perceptrons, n_inputs), margin)
    return array(n, n_inputs), array(n), np.array(weights), solution


@given(problems(), st.sampled_from([1.0, 2.0, 4.0, 6.0]), st.sampled_from([0.0, 0.25, 0.5]))
@settings(max_examples=shared.cases(400), deadline=None)
def test_one_epoch(
    problem: tuple[Floats, Floats, Floats, Solution], rho: float, eps: float
) -> None:
    inputs, y, weights, start = problem
    rule = PDelta(rule="auer", rate=0.1, learning_rate="constant", tolerance=eps, rho=rho)
    moved, gamma = oracle.regression_epoch(
        start.weights.tolist(), start.margin, inputs.tolist(), y.tolist(), 0.1, mu=0.1, rho=rho,
        eps=eps, sample_weight=weights.tolist(),
    )  # fmt: skip
    course = p_delta.train(inputs, y, weights, start, rule, 1, np.random.default_rng(0))
    np.testing.assert_allclose(course.solution.weights, moved, atol=1e-12)
    assert course.solution.margin == pytest.approx(gamma, abs=1e-12)
    outputs = np.array(
        [oracle.squashed(oracle.sum_of_signs(start.weights.tolist(), x), rho) for x in inputs]
    )
    assert course.errors[0] == weights[np.abs(outputs - y) > eps].sum()


def test_a_fit_from_known_weights() -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(3.0, 2.0, (20, 3))
        y = 10.0 + X @ [1.0, -2.0, 0.5] + rng.normal(size=20)
        weights = rng.choice([0.5, 1.0, 2.0], 20)
        weights *= 20 / weights.sum()
        model = ParallelPerceptronRegressor(
            7,
            rho=5,
            epsilon=0.05,
            max_iter=1,
            eta0=0.02,
            margin_weight=0.1,
            warm_start=True,
            random_state=seed,
        ).fit(X, y, weights)
        now, gamma = model.weights_[0].tolist(), float(model.margin_[0])
        model.set_params(max_iter=15).fit(X, y, weights)
        rows = oracle.standardised(X.tolist(), X.tolist(), weights.tolist())
        inputs, targets = oracle.extended(rows), oracle.scaled_targets(y.tolist())
        for t in range(1, 16):
            # It is a share of the range of the targets, which is 2 once scaled.
            now, gamma = oracle.regression_epoch(
                now, gamma, inputs, targets, 0.02 / np.sqrt(t), mu=0.1, rho=5, eps=0.1,
                sample_weight=weights.tolist(),
            )  # fmt: skip
        np.testing.assert_allclose(model.weights_[0], now, atol=1e-8)
        assert model.margin_[0] == pytest.approx(gamma, abs=1e-8)
        outputs = np.array([oracle.squashed(oracle.sum_of_signs(now, x), 5) for x in inputs])
        expected = (outputs + 1) / 2 * (y.max() - y.min()) + y.min()
        np.testing.assert_allclose(model.predict(X), expected, rtol=1e-12)


def test_two_targets_are_two_classes() -> None:
    """With rho 1 and targets of -1 and 1 the steps are those of the classifier's rule."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        inputs, start = rng.normal(size=(12, 3)), Solution(rng.normal(size=(3, 3)), 0.3)
        y = rng.choice([-1.0, 1.0], 12)
        rule = oracle.Rule(rule="auer", tunes_on_wrong=True)
        lists = start.weights.tolist(), 0.3, inputs.tolist()
        by_class = oracle.batch_epoch(*lists, y.astype(int).tolist(), 0.1, rule)
        by_number = oracle.regression_epoch(*lists, y.tolist(), 0.1, mu=0.1, rho=1, eps=0.5)
        assert by_class == by_number
        found = p_delta.train(
            inputs, y, np.ones(12), start, PDelta(rule="auer", rate=0.1), 1, rng
        ).solution
        np.testing.assert_allclose(found.weights, by_class[0], atol=1e-12)
        assert found.margin == pytest.approx(by_class[1])
