"""Problems for mixtures of experts, and their numbers as the oracles have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.combining.experts import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor

Floats = npt.NDArray[np.float64]
BOTH = [MixtureOfExpertsClassifier, MixtureOfExpertsRegressor]


def inputs_of(X: Floats) -> Floats:
    return np.column_stack([X, -np.ones(len(X))])


def coefficients(weights: Floats) -> list[list[float]]:
    """Weights as the oracle has them: the last input is 1, not -1."""
    return [[*row[:-1], -row[-1]] for row in weights.tolist()]


def regimes(rng: np.random.Generator, n: int = 1500) -> tuple[Floats, Floats, npt.NDArray[Any]]:
    """Two linear functions, with noise of their own, on two sides of a hyperplane."""
    X = rng.normal(size=(n, 3))
    left = X[:, 0] - X[:, 1] < 0
    y = np.where(left, 2 * X[:, 0] + X[:, 2] + 1, -X[:, 0] + 3 * X[:, 1] - 1)
    return X, y + rng.normal(size=n) * np.where(left, 0.1, 0.3), left


def three_classes(rng: np.random.Generator, n: int = 200) -> tuple[Floats, npt.NDArray[Any]]:
    X = rng.normal(size=(n, 3))
    scores = np.column_stack([X[:, 0] * X[:, 1], X[:, 1], X[:, 2] - X[:, 0]])
    return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
