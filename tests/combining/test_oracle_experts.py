"""Mixtures of experts, against their likelihood row by row."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.oracles import combining as rules
from tests.oracles import combining_models as oracle

from orfeon.combining.experts import (
    HierarchicalExpertsClassifier,
    HierarchicalExpertsRegressor,
    MixtureOfExpertsClassifier,
    MixtureOfExpertsRegressor,
)
from orfeon.combining.gating import responsibilities
from orfeon.combining.local_models import LinearLearner


def class_problem(seed, n_classes, n=30):
    """Two features, classes that overlap, and rows to ask about."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(3)
    noisy = X[:, 0] + rng.normal(0, 0.7, n)
    y = np.digitize(noisy, np.linspace(-0.7, 0.7, n_classes - 1)).astype(int)
    y[: 3 * n_classes] = np.tile(range(n_classes), 3)
    return X, np.array(list("pqrst"))[y], rng.normal(size=(8, 2)).round(3)


def number_problem(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(3)
    y = (np.abs(X[:, 0]) + X[:, 1] + rng.normal(0, 0.2, n)).round(3)
    return X, y, rng.normal(size=(8, 2)).round(3)


def inputs_by_hand(X, counts, queried):
    """Standardised features of rows, by weighted mean and deviation of the training set."""
    columns = []
    for j in range(X.shape[1]):
        values = [Fraction(float(v)) for v in X[:, j]]
        mean = rules.mean(values, counts.tolist())
        variance = rules.mean([(v - mean) ** 2 for v in values], counts.tolist())
        columns.append([(float(v) - float(mean)) / math.sqrt(variance) for v in queried[:, j]])
    return [list(row) for row in zip(*columns, strict=True)]


def shares_of_gates(levels, x):
    """Shares of the leaves of a tree of gates of two branches; the last input is -1."""

    def below(level, gate):
        if level == len(levels):
            return None
        rows = [[*w[:-1].tolist(), -float(w[-1])] for w in levels[level][gate]]
        left = oracle.gate(x, rows)[0]
        return (left, below(level + 1, 2 * gate), below(level + 1, 2 * gate + 1))

    if levels[0].shape[1] != 2:
        (weights,) = levels[0]
        return oracle.gate(x, [[*w[:-1].tolist(), -float(w[-1])] for w in weights])
    return oracle.leaf_gates(below(0, 0))


def softmax_of(weights, x):
    return oracle.gate(x, [[*w[:-1].tolist(), -float(w[-1])] for w in weights])


def squares(weights):
    return float((np.asarray(weights)[..., :-1] ** 2).sum())


def objective_of_classes(levels, experts, alpha, inputs, codes, counts):
    """Penalised log-likelihood per sample, by the oracle."""
    gates = [shares_of_gates(levels, x) for x in inputs]
    seen = [[softmax_of(w, x)[k] for w in experts] for x, k in zip(inputs, codes, strict=True)]
    penalty = alpha / 2 * (sum(squares(level) for level in levels) + squares(experts))
    value = oracle.mixture_log_likelihood(gates, seen, counts)
    return (value - penalty) / sum(counts)


MIXTURES = [
    (MixtureOfExpertsClassifier, MixtureOfExpertsRegressor, {"n_experts": 2}),
    (MixtureOfExpertsClassifier, MixtureOfExpertsRegressor, {"n_experts": 3}),
    (HierarchicalExpertsClassifier, HierarchicalExpertsRegressor, {"depth": 2}),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("classifier", "_", "size"), MIXTURES)
def test_mixture_of_softmax_experts(classifier, _, size, n_classes):
    X, y, queried = class_problem(40 + n_classes, n_classes)
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    counts[: 3 * n_classes] = 1
    model = classifier(**size, alpha=0.5, n_init=1, max_iter=60, tol=1e-9, random_state=1)
    model.fit(X, y, sample_weight=counts)
    classes = model.classes_.tolist()
    experts, levels = model.experts_.weights, model.gates_.levels
    for x, gates, supports, shares in zip(
        inputs_by_hand(X, counts, queried), model.gate_proba(queried), model.expert_proba(queried),
        model.predict_proba(queried), strict=True,
    ):  # fmt: skip
        by_hand = shares_of_gates(levels, x)
        assert gates.tolist() == pytest.approx(by_hand, abs=1e-9)
        answers = [softmax_of(w, x) for w in experts]
        np.testing.assert_allclose(supports, answers, rtol=0, atol=1e-9)
        mixed = [
            sum(g * row[k] for g, row in zip(by_hand, answers, strict=True))
            for k in range(n_classes)
        ]
        assert shares.tolist() == pytest.approx(mixed, abs=1e-9)
    inputs, codes = inputs_by_hand(X, counts, X), [classes.index(label) for label in y]
    for x, k, found in zip(inputs, codes, model.responsibilities(X, y), strict=True):
        seen = [softmax_of(w, x)[k] for w in experts]
        expected = oracle.responsibilities(shares_of_gates(levels, x), seen)
        assert found.tolist() == pytest.approx(expected, abs=1e-9)
    value = objective_of_classes(levels, experts, 0.5, inputs, codes, counts.tolist())
    assert model.log_likelihood_curve_.max() == pytest.approx(value, abs=1e-9)
    assert (np.diff(model.log_likelihood_curve_) > -1e-12).all()


@pytest.mark.parametrize("seed", range(2))
def test_mixture_ends_where_no_step_gains_anything(seed):
    """Derivatives of the penalised log-likelihood, by differences of the oracle's value."""
    X, y, _ = class_problem(50 + seed, 2, n=20)
    model = MixtureOfExpertsClassifier(
        n_experts=2, alpha=1.0, n_init=1, max_iter=4000, tol=1e-13, random_state=seed
    ).fit(X, y)
    assert model.converged_
    inputs, codes = inputs_by_hand(X, np.ones(20, int), X), [int(label == "q") for label in y]
    gates, experts = model.gates_.levels[0].copy(), model.experts_.weights.copy()
    for block in (gates, experts):
        for place in np.ndindex(block.shape):
            values, step = [], 1e-4
            for sign in (-1, 1):
                block[place] += sign * step
                values.append(objective_of_classes((gates,), experts, 1.0, inputs, codes, [1] * 20))
                block[place] -= sign * step
            assert (values[1] - values[0]) / (2 * step) == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize(("_", "regressor", "size"), MIXTURES)
def test_mixture_of_linear_experts(_, regressor, size):
    X, y, queried = number_problem(7, n=40)
    counts = np.random.default_rng(3).integers(0, 3, len(y))
    alpha = 0.5
    model = regressor(**size, alpha=alpha, n_init=1, max_iter=60, tol=1e-9, random_state=1)
    model.fit(X, y, sample_weight=counts)
    weights, variances = model.experts_.weights, model.variances_.tolist()
    levels = model.gates_.levels

    def means_at(x):
        return [sum(a * b for a, b in zip(w[:-1], x, strict=True)) - float(w[-1]) for w in weights]

    found, deviations = model.predict(queried, return_std=True)
    for x, value, deviation in zip(
        inputs_by_hand(X, counts, queried), found, deviations, strict=True
    ):
        gates = shares_of_gates(levels, x)
        mean, variance = rules.average_of_models(means_at(x), variances, gates)
        assert value == pytest.approx(mean, abs=1e-9)
        assert deviation == pytest.approx(math.sqrt(variance), abs=1e-9)
    inputs = inputs_by_hand(X, counts, X)
    densities = [
        [
            math.exp(-((label - mean) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v)
            for mean, v in zip(means_at(x), variances, strict=True)
        ]
        for x, label in zip(inputs, y, strict=True)
    ]
    gates = [shares_of_gates(levels, x) for x in inputs]
    for row_gates, row, shares in zip(gates, densities, model.responsibilities(X, y), strict=True):
        expected = oracle.responsibilities(row_gates, row)
        assert shares.tolist() == pytest.approx(expected, abs=1e-9)
    # The penalty is that of a target of variance 1.
    centre = float(np.average(y, weights=counts))
    spread = math.sqrt(np.average((y - centre) ** 2, weights=counts))
    penalty = alpha / 2 * sum(squares(level) for level in levels)
    for w, v in zip(weights, variances, strict=True):
        scaled = v / spread**2
        penalty += alpha / 2 * ((squares(w) / spread**2 + 1) / scaled + math.log(scaled))
    value = oracle.mixture_log_likelihood(gates, densities, counts.tolist()) - penalty
    assert model.log_likelihood_curve_.max() == pytest.approx(value / counts.sum(), abs=1e-9)
    assert (np.diff(model.log_likelihood_curve_) > -1e-12).all()


def test_e_step_of_random_shares():
    rng = np.random.default_rng(0)
    gates = rng.dirichlet(np.ones(4), 20)
    densities = rng.exponential(size=(20, 4))
    found, logs = responsibilities(np.log(gates), np.log(densities))
    for row in range(20):
        exact = [[Fraction(float(v)) for v in part[row]] for part in (gates, densities)]
        expected = [float(v) for v in oracle.responsibilities(*exact)]
        assert found[row].tolist() == pytest.approx(expected, rel=1e-12)
        value = oracle.mixture_log_likelihood([exact[0]], [exact[1]], [1])
        assert logs[row] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_m_step_of_a_line_is_weighted_least_squares_in_fractions(seed):
    rng = np.random.default_rng(seed)
    x, y, shares = (rng.integers(low, 9, 8) for low in (-8, -8, 0))
    shares[:2], x[:2] = 1, (0, 1)
    exact = [[Fraction(int(v)) for v in values] for values in (x, y, shares)]
    centre_x, centre_y = rules.mean(exact[0], exact[2]), rules.mean(exact[1], exact[2])
    above, below = Fraction(0), Fraction(0)
    for a, b, w in zip(*exact, strict=True):
        above += w * (a - centre_x) * (b - centre_y)
        below += w * (a - centre_x) ** 2
    slope = above / below
    residuals = [b - centre_y - slope * (a - centre_x) for a, b, _ in zip(*exact, strict=True)]
    variance = rules.mean([r**2 for r in residuals], exact[2])
    learner = LinearLearner(np.column_stack([x, -np.ones(8)]), y.astype(float), 0.0)
    found = learner.fit(shares[:, None].astype(float), None, 1e-12)
    assert found.weights[0, 0] == pytest.approx(float(slope), abs=1e-10)
    assert -found.weights[0, 1] == pytest.approx(float(centre_y - slope * centre_x), abs=1e-10)
    assert found.variances[0] == pytest.approx(float(variance), abs=1e-10)
