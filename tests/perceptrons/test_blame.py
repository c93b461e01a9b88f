"""Fewer perceptrons moved by a wrong vote, J as printed, restarts: against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests import shared
from tests.perceptrons.models import assert_same_model, classes, samples

from orfeon import ParallelPerceptronClassifier, PPTSSClassifier
from orfeon.perceptrons import p_delta
from orfeon.perceptrons.p_delta import PDelta, Solution, published_rate

#: One sample, x = 1; so weights are activations. All votes but the first two are wrong for +1.
ACTIVATIONS = np.array([0.9, 0.1, -0.5, -0.2, -0.7, -0.3, -0.4])


def moved(activations: Any, target: float, blame: Any, **settings: Any) -> Any:
    """What one sample adds to each perceptron."""
    weights = np.asarray(activations)[:, None]
    rule = PDelta(blame=blame, **settings)
    one = np.ones(1)
    total, _, _ = p_delta.update(
        np.ones((1, 1)), np.array([target]), one, Solution(weights, 0.05), rule
    )
    return total[:, 0]


@pytest.mark.parametrize(
    ("blame", "expected"),
    [
        ("all", [0, 0, 1, 1, 1, 1, 1]),
        ("nearest", [0, 0, 0, 1, 0, 0, 0]),
        ("fewest", [0, 0, 0, 1, 0, 1, 0]),  # five are wrong: two must turn for four of seven
    ],
)
def test_a_wrong_vote_by_hand(blame, expected):
    assert moved(ACTIVATIONS, 1.0, blame).tolist() == expected
    assert moved(-ACTIVATIONS, -1.0, blame).tolist() == [-e for e in expected]
    # The first of equals is moved.
    assert moved([-0.5, -0.5, -0.5], 1.0, "nearest").tolist() == [1, 0, 0]
    # A right vote is not concerned: both within the margin are pushed away from zero.
    right = moved([0.9, 0.01, -0.02], 1.0, blame, margin_weight=0.3)
    assert right.tolist() == [0, 0.3, -0.3]


@pytest.mark.parametrize("rule", ["p_delta", "auer"])
@pytest.mark.parametrize("blame", ["nearest", "fewest"])
def test_updates_are_those_of_plain_python(blame, rule):
    rng = np.random.default_rng(0)
    for _ in range(shared.cases(20)):
        n, d, h = 12, 3, int(rng.choice([1, 3, 5, 7]))
        inputs, targets = rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], n)
        weights, counts = rng.normal(size=(h, d)), rng.integers(0, 3, n).astype(float)
        expected = np.zeros((h, d))
        for x, y, weight in zip(inputs, targets, counts, strict=True):
            a = weights @ x
            wrong = [k for k in range(h) if (a[k] >= 0) != (y > 0)]
            is_wrong = 2 * len(wrong) > h
            wanted = 1 if blame == "nearest" else len(wrong) - h // 2
            to_move = sorted(wrong, key=lambda k: abs(a[k]))[:wanted] if is_wrong else []
            for k in range(h):
                if k in to_move:
                    expected[k] += weight * y * x
                elif abs(a[k]) < 0.4 and (not is_wrong or (rule == "auer" and k not in wrong)):
                    expected[k] += weight * 0.3 * (1 if a[k] >= 0 else -1) * x
        given = PDelta(rule=rule, blame=blame, margin_weight=0.3)
        found, _, _ = p_delta.update(inputs, targets, counts, Solution(weights, 0.4), given)
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("mode", ["batch", "incremental"])
def test_one_perceptron_has_nobody_else_to_blame(mode):
    X, signal = samples()
    y = classes(signal)
    one = ParallelPerceptronClassifier(1, mode=mode, max_iter=5, random_state=0).fit(X, y)
    for blame in ("nearest", "fewest"):
        other = ParallelPerceptronClassifier(
            1, mode=mode, blame=blame, max_iter=5, random_state=0
        ).fit(X, y)  # fmt: skip
        assert_same_model(one, other)


@pytest.mark.parametrize("blame", ["nearest", "fewest"])
@pytest.mark.parametrize("mode", ["batch", "incremental"])
def test_fewer_perceptrons_learn_too(mode, blame):
    X, signal = samples(300)
    y = (signal > 1.2).astype(int)
    model = ParallelPerceptronClassifier(
        7, mode=mode, blame=blame, init="unit", max_iter=100, random_state=0
    ).fit(X, y)  # fmt: skip
    assert model.score(X, y) > max(np.bincount(y)) / len(y) + 0.02
    with pytest.raises(ValueError, match="blame"):
        ParallelPerceptronClassifier(blame="some").fit(X, y)


@pytest.mark.parametrize("rule", ["p_delta", "auer"])
def test_j_as_printed(rule):
    """Norms count a half; the margin counts for perceptrons that vote for the sample's class."""
    rng = np.random.default_rng(1)
    for _ in range(shared.cases(20)):
        inputs, targets = rng.normal(size=(9, 2)), rng.choice([-1.0, 1.0], 9)
        weights, counts = rng.normal(size=(3, 2)), rng.random(9)
        expected = sum(0.5 * (float(w @ w) - 1.0) ** 2 for w in weights)
        for x, y, weight in zip(inputs, targets, counts, strict=True):
            margins = [float(y * (w @ x)) for w in weights]
            is_right = sum(m >= 0 for m in margins) >= 2
            if not is_right:
                expected -= weight * sum(m for m in margins if m < 0)
            if is_right or rule == "auer":
                expected += weight * 0.2 * sum(0.6 - m for m in margins if 0 <= m < 0.6)
        given = PDelta(rule=rule, margin_weight=0.2)
        found = p_delta.printed_energy(inputs, targets, counts, Solution(weights, 0.6), given)
        assert found == pytest.approx(expected)


def test_both_energies_of_a_classifier():
    X, signal = samples()
    y = classes(signal, 3)
    model = ParallelPerceptronClassifier(max_iter=20, random_state=0).fit(X, y)
    # Lengths are 1, so only pushes of wrong perceptrons on right votes can differ.
    assert 0 < model.energy(X, y, as_printed=True) <= model.energy(X, y)


def test_restarting_forgets_what_was_left_out():
    X, signal = samples(400)
    y = (signal > 2.0).astype(int)
    base = ParallelPerceptronClassifier(max_iter=30, init=0.2)
    again = PPTSSClassifier(base, restart=True, random_state=0).fit(X, y)
    goes_on = PPTSSClassifier(base, random_state=0).fit(X, y)
    assert len(again.history_["n_selected"]) > 1
    for name, values in again.history_.items():  # the first rounds are the same
        assert values[0] == goes_on.history_[name][0]
    # With one epoch of almost no step, all rounds have the first weights.
    still = PPTSSClassifier(base.set_params(max_iter=1, eta0=1e-9, init="unit"), restart=True)
    found = still.set_params(random_state=0).fit(X, y)
    assert len(set(found.history_["geometric_mean"])) == 1


def test_the_published_rates():
    published = [315, 691, 629, 762, 193, 891]
    assert {published_rate(n) for n in published} == {0.01}
    assert published_rate(6480) == 0.001
