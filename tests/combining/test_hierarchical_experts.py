"""Hierarchical mixtures of experts: a tree of gates against brute force, and against one gate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier
from tests import shared
from tests.oracles import combining_models as oracle

from orfeon import CARTClassifier, CARTRegressor
from orfeon.combining.experts import (
    HierarchicalExpertsClassifier,
    HierarchicalExpertsRegressor,
    MixtureOfExpertsClassifier,
    MixtureOfExpertsRegressor,
)
from orfeon.combining.gating import Gates
from orfeon.combining.local_models import SoftmaxLearner
from orfeon.combining.mixture_base import maximise

PAIRS = [
    (HierarchicalExpertsClassifier, MixtureOfExpertsClassifier),
    (HierarchicalExpertsRegressor, MixtureOfExpertsRegressor),
]
BOTH = [hierarchical for hierarchical, _ in PAIRS]


def problem(seed: int, n: int = 150) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    signal = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, (signal + rng.normal(0, 0.3, n) > 0).astype(int) + (signal > 1)


def test_shares_are_products_along_the_paths():
    X, y = problem(0)
    model = HierarchicalExpertsClassifier(depth=3, max_iter=20, n_init=1, random_state=0).fit(X, y)
    assert [level.shape for level in model.gates_.levels] == [(1, 2, 4), (2, 2, 4), (4, 2, 4)]
    shares, inputs = model.gate_proba(X), model.inputs_.of(X)

    def branches(level: int, gate: int, row: Any) -> Any:
        if level == 3:
            return None
        left, right = (float(row @ w) for w in model.gates_.levels[level][gate])
        below = (branches(level + 1, 2 * gate + side, row) for side in (0, 1))
        return (1 / (1 + math.exp(right - left)), *below)

    for i in range(0, 150, 11):
        expected = [float(share) for share in oracle.leaf_gates(branches(0, 0, inputs[i]))]
        np.testing.assert_allclose(shares[i], expected, atol=1e-12)
        densities = model.expert_proba(X[i : i + 1])[0, :, y[i]].tolist()
        posterior = oracle.responsibilities(expected, densities)
        np.testing.assert_allclose(
            model.responsibilities(X[i : i + 1], y[i : i + 1])[0], posterior, atol=1e-9
        )


@pytest.mark.parametrize(("hierarchical", "flat"), PAIRS)
def test_one_level_of_gates_is_a_mixture_of_experts(hierarchical, flat):
    """From the same start, to the same bits."""
    X, y = problem(1)
    one = hierarchical(depth=1, n_branches=3, n_init=2, max_iter=30, random_state=4).fit(X, y)
    other = flat(n_experts=3, n_init=2, max_iter=30, random_state=4).fit(X, y)
    np.testing.assert_array_equal(one.log_likelihood_curve_, other.log_likelihood_curve_)
    np.testing.assert_array_equal(one.gates_.levels[0], other.gates_.levels[0])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("hierarchical", BOTH)
def test_no_iteration_lowers_the_likelihood(hierarchical, alpha):
    X, y = problem(2)
    for seed in range(shared.cases(3)):
        model = hierarchical(n_init=1, alpha=alpha, max_iter=40, tol=0.0, random_state=seed)
        curve = model.fit(X, y).log_likelihood_curve_
        assert np.diff(curve).min() > -1e-12
        assert curve[-1] > curve[0] + 0.01


def test_each_gate_learns_what_the_gates_above_leave_to_it():
    """The M step of an inner gate is a softmax regression with the weights of its own branch."""
    X, _ = problem(3)
    inputs = np.column_stack([X, -np.ones(len(X))])
    rng = np.random.default_rng(0)
    gates = Gates.draw(2, 2, 4, 1.0, rng)
    shares = rng.dirichlet(np.ones(4), len(X))
    found = gates.fitted(inputs, shares, alpha=1.0, tol=1e-12)
    alone = Gates((gates.levels[1][1:],)).fitted(inputs, shares[:, 2:], alpha=1.0, tol=1e-12)
    np.testing.assert_allclose(found.levels[1][1], alone.levels[0][0], atol=1e-12)
    root = Gates((gates.levels[0],)).fitted(
        inputs, shares.reshape(-1, 2, 2).sum(axis=2), alpha=1.0, tol=1e-12
    )
    np.testing.assert_allclose(found.levels[0], root.levels[0], atol=1e-12)


def test_a_tree_of_gates_without_weights_is_one_gate_without_weights():
    """All shares are equal then, and so are the first experts and their likelihood."""
    X, y = problem(4)
    learner = SoftmaxLearner(np.column_stack([X, -np.ones(len(X))]), y, 1.0, 3)
    starts = [Gates((np.zeros((1, 4, 4)),)), Gates((np.zeros((1, 2, 4)), np.zeros((2, 2, 4))))]
    one, other = (
        maximise(gates, learner, np.ones(len(X)), tol=1e-6, max_iter=1).curve[0] for gates in starts
    )
    assert one == pytest.approx(other, abs=1e-12)


def test_regimes_within_regimes():
    """Four linear functions in four quadrants: a tree of two-way gates finds them."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (3000, 2))
    slopes = np.array([[[1, 0], [0, 2]], [[-1, 1], [2, -2]]])
    mine = slopes[(X[:, 0] > 0).astype(int), (X[:, 1] > 0).astype(int)]
    offset = 2.0 * (X[:, 0] > 0) - 3.0 * (X[:, 1] > 0)
    y = (mine * X).sum(axis=1) + offset + rng.normal(0, 0.1, 3000)
    tree = HierarchicalExpertsRegressor(alpha=0.01, n_init=5, random_state=0)
    tree.fit(X[:1500], y[:1500])
    single = MixtureOfExpertsRegressor(n_experts=1).fit(X[:1500], y[:1500])
    assert single.score(X[1500:], y[1500:]) < 0.93
    np.testing.assert_allclose(np.sqrt(tree.variances_), 0.1, rtol=0.15)
    assert tree.score(X[1500:], y[1500:]) > 0.97


@pytest.mark.parametrize("hierarchical", BOTH)
def test_weights_are_copies_to_the_bit_in_any_order(hierarchical):
    X, y = problem(6, 60)
    rng = np.random.default_rng(7)
    weights = rng.integers(0, 4, 60)
    copies = rng.permutation(np.repeat(np.arange(60), weights))
    model = hierarchical(n_init=2, max_iter=15, random_state=1)
    expected = model.fit(X, y, sample_weight=weights)
    bits = [level.tobytes() for level in expected.gates_.levels]
    again = model.fit(X[copies], y[copies])
    assert [level.tobytes() for level in again.gates_.levels] == bits


def test_experts_of_any_kind():
    X, y = problem(8)
    model = HierarchicalExpertsClassifier(CARTClassifier(max_depth=2), random_state=0).fit(X, y)
    assert len(model.experts_.estimators) == 4
    assert model.score(X, y) > 0.75


@pytest.mark.parametrize("hierarchical", BOTH)
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"depth": 0}, r"'depth' parameter .* int in the range \[1, inf\). Got 0"),
        ({"n_branches": 1}, r"'n_branches' parameter .* int in the range \[2, inf\). Got 1"),
        ({"depth": 13}, r"depth=13 and n_branches=2 make 2\*\*13 experts; at most 4096"),
        ({"depth": 10**9}, r"depth=1000000000 and n_branches=2 make 2\*\*1000000000 experts"),
    ],
)
def test_trees_of_gates_that_cannot_be_are_refused(hierarchical, setting, message):
    with pytest.raises(ValueError, match=message):
        hierarchical(**setting).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("expert", [None, CARTClassifier, CARTRegressor])
def test_hard_gates_query_the_expert_at_the_end_of_the_largest_branches(kind, expert):
    if expert is not None and is_classifier(expert()) != is_classifier(kind()):
        return
    X, y = problem(3)
    given = None if expert is None else expert(max_depth=2)
    soft = kind(given, depth=3, max_iter=5, n_init=1, random_state=0).fit(X, y)
    hard = kind(given, depth=3, gating="hard", max_iter=5, n_init=1, random_state=0).fit(X, y)
    inputs = soft.inputs_.of(X)
    leaves = []
    for row in inputs:
        gate = 0
        for weights in soft.gates_.levels:
            left, right = (float(row @ w) for w in weights[gate])
            gate = 2 * gate + (right > left)
        leaves.append(gate)
    assert hard.choose(X).tolist() == leaves
    assert len(set(leaves)) > 2
    of_all = soft.expert_proba(X) if is_classifier(kind()) else soft.expert_predict(X)
    expected = of_all[np.arange(len(X)), leaves]
    if is_classifier(kind()):
        np.testing.assert_allclose(hard.predict_proba(X), expected, atol=1e-12)
        assert (hard.predict(X) == hard.classes_[expected.argmax(axis=1)]).all()
    else:
        means, deviations = hard.predict(X, return_std=True)
        np.testing.assert_allclose(means, expected, atol=1e-12)
        np.testing.assert_allclose(deviations, np.sqrt(hard.variances_[leaves]))
        assert (hard.predict(X) == means).all()


@pytest.mark.parametrize("kind", BOTH)
def test_hard_and_soft_gates_agree_where_the_gates_are_sure(kind):
    X, y = problem(4)
    soft = kind(depth=1, max_iter=5, n_init=1, random_state=0).fit(X, y)
    hard = kind(depth=1, gating="hard", max_iter=5, n_init=1, random_state=0).fit(X, y)
    for model in (soft, hard):
        model.gates_ = Gates(tuple(1e6 * weights for weights in model.gates_.levels))
    np.testing.assert_allclose(soft.predict(X), hard.predict(X), atol=1e-9)
    with pytest.raises(ValueError, match="'gating' parameter"):
        kind(gating="firm").fit(X, y)
