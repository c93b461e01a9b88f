"""The network of published tables, against the derivative of its loss."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon.datasets import make_twonorm, make_waveform
from orfeon.kernels.perceptron.network import gradient_epoch
from orfeon.workbench.reproduction.network import SmallNetwork


def loss(x, target, weights, n_hidden):
    hidden = weights[: n_hidden * len(x)].reshape(n_hidden, len(x))
    output = weights[n_hidden * len(x) :]
    total = np.maximum(hidden @ x, 0.0) @ output[:-1] + output[-1]
    return np.logaddexp(0.0, total) - target * total


def test_each_sample_moves_the_weights_down_its_loss():
    rng = np.random.default_rng(0)
    inputs = np.column_stack([rng.normal(size=(12, 4)), np.ones(12)])
    targets = rng.integers(0, 2, 12).astype(float)
    hidden, output, rate = rng.normal(size=(3, 5)), rng.normal(size=4), 0.05
    order, expected = rng.permutation(12), np.concatenate([hidden.ravel(), output])
    for i in order:
        steps = 1e-6 * np.eye(len(expected))
        both = [
            [loss(inputs[i], targets[i], expected + sign * step, 3) for step in steps]
            for sign in (1, -1)
        ]
        expected = expected - rate * (np.array(both[0]) - np.array(both[1])) / 2e-6
    gradient_epoch(inputs, targets, order, hidden, output, rate, np.empty(3))
    np.testing.assert_allclose(np.concatenate([hidden.ravel(), output]), expected, atol=1e-7)


def test_it_learns_and_repeats_itself():
    X, y = make_twonorm(150, random_state=0)
    names = np.array(["in", "out"])[y]
    networks = [SmallNetwork(n_epochs=100, random_state=s).fit(X, names) for s in (0, 0, 1)]
    assert networks[0].score(X, names) > 0.85
    assert (networks[0].hidden_ == networks[1].hidden_).all()
    assert (networks[0].hidden_ != networks[2].hidden_).any()


def test_large_sums_one_class_and_three():
    X = np.array([[1e9], [-1e9], [1.0]])
    assert np.isfinite(SmallNetwork(n_epochs=3).fit(X, [0, 1, 1]).output_).all()
    assert SmallNetwork(n_epochs=3).fit(X, ["a", "a", "a"]).predict(X).tolist() == ["a"] * 3
    with pytest.raises(ValueError, match="takes two"):
        SmallNetwork().fit(*make_waveform(9, random_state=0))
