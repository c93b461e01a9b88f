"""The EM algorithm of mixtures of experts, against brute force and scikit-learn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests import shared
from tests.combining.mixtures import BOTH, Floats, coefficients, inputs_of, regimes, three_classes
from tests.oracles import combining_models as oracle

from orfeon.combining import gating
from orfeon.combining.experts import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor
from orfeon.combining.gating import Gates, fit_softmax, responsibilities
from orfeon.combining.local_models import SoftmaxLearner
from orfeon.combining.mixture_base import evaluate

# -- softmax regression ----------------------------------------------------------------------------


@pytest.mark.parametrize("most_unknowns", [400, 0], ids=["Newton", "L-BFGS"])
@pytest.mark.parametrize("alpha", [0.5, 20.0])
def test_softmax_regression_is_that_of_scikit_learn(monkeypatch, most_unknowns, alpha):
    monkeypatch.setattr(gating, "_MOST_UNKNOWNS", most_unknowns)
    rng = np.random.default_rng(0)
    X, y = three_classes(rng, 300)
    weights = rng.integers(0, 4, 300) * 0.5
    found = fit_softmax(
        inputs_of(X), np.eye(3)[y] * weights[:, None], np.zeros((3, 4)), alpha=alpha
    )
    other = LogisticRegression(C=1 / alpha, tol=1e-12, solver="newton-cholesky", max_iter=1000)
    other.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(found[:, :-1], other.coef_, atol=1e-5)
    intercepts = -found[:, -1] - np.mean(-found[:, -1])
    np.testing.assert_allclose(intercepts, other.intercept_ - other.intercept_.mean(), atol=1e-5)


def test_soft_targets_are_rows_of_several_classes_with_weights():
    rng = np.random.default_rng(1)
    X, targets = rng.normal(size=(60, 2)), rng.dirichlet(np.ones(3), 60)
    soft = fit_softmax(inputs_of(X), targets, np.zeros((3, 3)), alpha=1.0)
    hard = np.kron(np.eye(3), np.ones((60, 1))) * targets.T.reshape(-1, 1)
    rows = fit_softmax(inputs_of(np.tile(X, (3, 1))), hard, np.zeros((3, 3)), alpha=1.0)
    np.testing.assert_allclose(soft, rows, atol=1e-10)


@pytest.mark.parametrize("most_unknowns", [400, 0], ids=["Newton", "L-BFGS"])
def test_classes_that_a_line_parts_are_no_obstacle_without_a_penalty(monkeypatch, most_unknowns):
    monkeypatch.setattr(gating, "_MOST_UNKNOWNS", most_unknowns)
    X = np.linspace(-1, 1, 20)[:, None]
    targets = np.eye(2)[(X[:, 0] > 0).astype(int)]
    weights = fit_softmax(inputs_of(X), targets, np.zeros((2, 2)), alpha=0.0)
    shares = np.exp(gating.log_softmax(inputs_of(X) @ weights.T))
    assert np.isfinite(weights).all()
    assert (shares * targets).sum(axis=1).min() > 0.99


def test_a_start_is_never_left_for_the_worse():
    rng = np.random.default_rng(2)
    inputs, targets = inputs_of(rng.normal(size=(40, 3))), rng.dirichlet(np.ones(4), 40)

    def value(weights: Floats) -> float:
        logs = gating.log_softmax(inputs @ weights.T)
        return float((targets * logs).sum() - 0.5 * (weights[:, :-1] ** 2).sum())

    best = value(fit_softmax(inputs, targets, np.zeros((4, 4)), alpha=1.0))
    for scale in (0.1, 1.0, 10.0, 1e3):
        start = rng.normal(size=(4, 4)) * scale
        found = value(fit_softmax(inputs, targets, start, alpha=1.0))
        assert value(start) <= found <= best + 1e-9
        assert found == pytest.approx(best, abs=1e-8)


# -- the E step ------------------------------------------------------------------------------------


def test_gates_and_responsibilities_are_those_of_bayes():
    X, y = three_classes(np.random.default_rng(3))
    model = MixtureOfExpertsClassifier(n_experts=3, random_state=0).fit(X, y)
    inputs = model.inputs_.of(X)
    shares, answers = model.gate_proba(X), model.expert_proba(X)
    posterior, together = model.responsibilities(X, y), model.predict_proba(X)
    for i in range(0, 200, 7):
        x = inputs[i, :-1].tolist()
        gate = oracle.gate(x, coefficients(model.gates_.levels[0][0]))
        experts = [oracle.gate(x, coefficients(w)) for w in model.experts_.weights]
        densities = [expert[y[i]] for expert in experts]
        np.testing.assert_allclose(shares[i], gate, atol=1e-12)
        np.testing.assert_allclose(answers[i], experts, atol=1e-12)
        np.testing.assert_allclose(
            posterior[i], oracle.responsibilities(gate, densities), atol=1e-9
        )
        mixed = [sum(g * e[k] for g, e in zip(gate, experts, strict=True)) for k in range(3)]
        np.testing.assert_allclose(together[i], mixed, atol=1e-12)


def test_responsibilities_of_gaussian_experts_are_those_of_bayes():
    X, y, _ = regimes(np.random.default_rng(4), 100)
    model = MixtureOfExpertsRegressor(n_experts=3, random_state=0).fit(X, y)
    inputs = model.inputs_.of(X)
    posterior, answers = model.responsibilities(X, y), model.expert_predict(X)
    for i in range(0, 100, 7):
        gate = oracle.gate(inputs[i, :-1].tolist(), coefficients(model.gates_.levels[0][0]))
        densities = []
        for weights, variance in zip(model.experts_.weights, model.variances_, strict=True):
            mean = float(inputs[i] @ weights)
            assert mean in [pytest.approx(value) for value in answers[i]]
            square = (y[i] - mean) ** 2 / variance
            densities.append(math.exp(-square / 2) / math.sqrt(2 * math.pi * variance))
        expected = oracle.responsibilities(gate, densities)
        np.testing.assert_allclose(posterior[i], expected, atol=1e-9)


def test_responsibilities_survive_densities_that_no_float_holds():
    posterior, log_likelihood = responsibilities(
        np.log([[0.5, 0.5], [0.25, 0.75]]), np.array([[-1e6, -1e6], [-1e200, 0.0]])
    )
    np.testing.assert_allclose(posterior, [[0.5, 0.5], [0.0, 1.0]])
    np.testing.assert_allclose(log_likelihood, [-1e6, np.log(0.75)])


# -- the likelihood --------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("mixture", BOTH)
def test_no_iteration_lowers_the_likelihood(mixture, alpha):
    rng = np.random.default_rng(5)
    X, y = three_classes(rng) if mixture is BOTH[0] else regimes(rng, 200)[:2]
    for seed in range(shared.cases(4)):
        model = mixture(n_experts=3, n_init=1, alpha=alpha, max_iter=60, tol=0.0, random_state=seed)
        curve = model.fit(X, y).log_likelihood_curve_
        assert len(curve) == model.n_iter_ + 1
        assert np.diff(curve).min() > -1e-12
        assert curve[-1] > curve[0] + 0.01


def test_the_curve_ends_at_the_log_likelihood_less_the_penalty():
    X, y = three_classes(np.random.default_rng(6), 80)
    weights = np.random.default_rng(7).integers(1, 4, 80)
    model = MixtureOfExpertsClassifier(n_experts=2, alpha=0.3, random_state=0)
    model.fit(X, y, sample_weight=weights)
    densities = model.expert_proba(X)[np.arange(80), :, y].tolist()
    found = oracle.mixture_log_likelihood(model.gate_proba(X).tolist(), densities, weights.tolist())
    squares = (model.gates_.levels[0][:, :, :-1] ** 2).sum()
    squares += (model.experts_.weights[:, :, :-1] ** 2).sum()
    expected = (found - 0.15 * squares) / weights.sum()
    assert model.log_likelihood_curve_[-1] == pytest.approx(expected, abs=1e-10)


def test_the_curve_of_a_regressor_is_in_the_units_of_the_target():
    X, y, _ = regimes(np.random.default_rng(8), 120)
    model = MixtureOfExpertsRegressor(n_experts=2, alpha=0.0, random_state=0).fit(X, 50 * y + 7)
    gaps = (50 * y + 7)[:, None] - model.expert_predict(X)
    variances = model.variances_
    densities = np.exp(-(gaps**2) / (2 * variances)) / np.sqrt(2 * np.pi * variances)
    expected = np.log((model.gate_proba(X) * densities).sum(axis=1)).mean()
    assert model.log_likelihood_curve_[-1] == pytest.approx(expected, abs=1e-9)
    plain = MixtureOfExpertsRegressor(n_experts=2, alpha=0.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        model.log_likelihood_curve_, plain.log_likelihood_curve_ - np.log(50), atol=1e-8
    )


def test_the_responsibilities_make_the_greatest_lower_bound_and_the_m_step_raises_it():
    """Neal and Hinton (1998): EM climbs F(R, model) = expected log of the joint + entropy of R."""
    rng = np.random.default_rng(9)
    X, y = three_classes(rng)
    learner = SoftmaxLearner(inputs_of(X), y, 0.5, 3)
    weights = rng.integers(1, 4, len(y)).astype(float)
    gates = Gates.draw(3, 1, 4, 1.0, rng)
    experts = learner.fit(rng.dirichlet(np.ones(3), len(y)), None, 1e-12)

    def bound(shares: Floats, gates: Gates, experts: Any) -> float:
        joint = gates.log_shares(learner.inputs) + learner.log_densities(experts)
        entropy = -(shares * np.log(shares)).sum(axis=1)
        value = (weights * ((shares * joint).sum(axis=1) + entropy)).sum()
        return (value - gates.penalty(0.5) - learner.penalty(experts)) / weights.sum()

    value, posterior = evaluate(gates, experts, learner, weights)
    assert bound(posterior, gates, experts) == pytest.approx(value, abs=1e-12)
    for _ in range(20):
        other = 0.9 * posterior + 0.1 * rng.dirichlet(np.ones(3), len(y))
        assert bound(other, gates, experts) < value
    shares = weights[:, None] * posterior
    new_gates = gates.fitted(learner.inputs, shares, alpha=0.5, tol=1e-12)
    new_experts = learner.fit(shares, experts, 1e-12)
    raised = bound(posterior, new_gates, new_experts)
    assert raised > value
    assert evaluate(new_gates, new_experts, learner, weights)[0] > raised
    # The M step is exact: no model near it has a greater bound.
    for _ in range(20):
        moved = Gates(tuple(w + rng.normal(0, 0.01, w.shape) for w in new_gates.levels))
        assert bound(posterior, moved, new_experts) < raised


def test_a_flat_likelihood_ends_where_it_is(monkeypatch):
    """Where all shares are 0 or 1 there is no curvature, and some solvers find that singular."""

    def refuse(*_):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(np.linalg, "solve", refuse)
    inputs = np.column_stack([np.linspace(-1, 1, 6), -np.ones(6)])
    start = np.array([[900.0, 0.0], [-900.0, 0.0]])
    targets = np.eye(2)[(inputs[:, 0] < 0).astype(int)]
    found = fit_softmax(inputs, targets, start, alpha=0.0)
    np.testing.assert_array_equal(found, start)
