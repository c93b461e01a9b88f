"""All classes calibrated at once: softmax of linear functions of the logarithms of their shares.

With a slope of its own for each pair of classes this is Dirichlet calibration, which for two
classes is beta calibration. With one slope for all, and an intercept for each class, it is Platt's
sigmoid for several classes. Coefficients are pulled to those that change nothing. On 15 real tables
both had a lower log loss than one sigmoid or beta calibrator for each class against the rest.

References
----------
Kull, Perello-Nieto, Kängsepp, Silva Filho, Song and Flach (2019). Beyond temperature scaling:
obtaining well-calibrated multiclass probabilities with Dirichlet calibration. NeurIPS, 12316-12326.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize

from orfeon.calibration.calibrator import Calibrator
from orfeon.calibration.samples import ScoredSamples, log_shares
from orfeon.rules.shares import row_sums
from orfeon.utils import saved
from orfeon.utils.types import Floats

#: Half of the pull on a coefficient, in samples: on those between two classes, and on the others.
_BETWEEN = 100.0
_OWN = 0.1
#: The same with one slope for all classes.
_SHARED = 1.0
_MOST_STEPS = 100
#: Probabilities closer to 0 than this are moved there.
_LEAST = 1e-12


@saved.attributes(slopes=saved.array("f8", 2, finite=True), intercepts=saved.finite_floats)
@dataclass(frozen=True, eq=False)
class SoftmaxCalibrator(Calibrator):
    """Softmax of ``slopes @ log(shares) + intercepts``; one slope stands for all classes."""

    slopes: Floats
    intercepts: Floats

    def __post_init__(self) -> None:
        n = len(self.intercepts)
        if n < 2 or self.slopes.shape not in ((1, 1), (n, n)):
            raise ValueError(f"slopes of shape {self.slopes.shape} do not fit {n} intercepts.")

    @classmethod
    def learn_matrix(cls, samples: ScoredSamples) -> Self:
        """Dirichlet calibration."""
        n = samples.n_classes
        pull = np.full((n, n), _BETWEEN)
        np.fill_diagonal(pull, _OWN)
        found = _fit(samples, np.eye(n), pull, _OWN)
        return cls(*found)

    @classmethod
    def learn_scaling(cls, samples: ScoredSamples) -> Self:
        """One slope and an intercept for each class."""
        return cls(*_fit(samples, np.ones((1, 1)), np.full((1, 1), _SHARED), _SHARED))

    @property
    def n_classes(self) -> int:
        return len(self.intercepts)

    @property
    def method(self) -> str:
        return "sigmoid" if len(self.slopes) == 1 else "beta"

    def probabilities(self, shares: Floats) -> Floats:
        logs = log_shares(shares)
        scores = np.tile(self.intercepts, (len(logs), 1))
        if len(self.slopes) == 1:
            scores += self.slopes[0, 0] * logs
        else:
            # Column by column: a row has the same bits among any others.
            for column, of_class in zip(logs.T, self.slopes.T, strict=True):
                scores += column[:, None] * of_class
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        found = np.maximum(likely / row_sums(likely)[:, None], _LEAST)
        return np.asarray(found / row_sums(found)[:, None])


def _fit(
    samples: ScoredSamples, neutral: Floats, pull: Floats, pull_of_intercepts: float
) -> tuple[Floats, Floats]:
    """Slopes and intercepts with the lowest log loss, with a pull to neutral ones."""
    logs, weights = log_shares(samples.shares), samples.weights
    n_samples, n_classes = logs.shape
    is_own = np.zeros(logs.shape)
    is_own[np.arange(n_samples), samples.y] = 1.0
    n_slopes = neutral.size

    def loss(at: Floats) -> tuple[float, Any]:
        slopes, intercepts = at[:n_slopes].reshape(neutral.shape), at[n_slopes:]
        scores = (slopes[0, 0] * logs if n_slopes == 1 else logs @ slopes.T) + intercepts
        scores -= scores.max(axis=1, keepdims=True)
        sums = np.log(np.exp(scores).sum(axis=1))
        value = float(weights @ (sums - scores[np.arange(n_samples), samples.y]))
        value += 0.5 * float((pull * (slopes - neutral) ** 2).sum())
        value += 0.5 * pull_of_intercepts * float(intercepts @ intercepts)
        excess = (np.exp(scores - sums[:, None]) - is_own) * weights[:, None]
        by_slope = (excess * logs).sum().reshape(1, 1) if n_slopes == 1 else excess.T @ logs
        by_slope = by_slope + pull * (slopes - neutral)
        by_intercept = excess.sum(axis=0) + pull_of_intercepts * intercepts
        return value, np.concatenate([by_slope.ravel(), by_intercept])

    start = np.concatenate([neutral.ravel(), np.zeros(n_classes)])
    # One slope below 0 would turn the order of the classes.
    bounds = [(0.0, None) if n_slopes == 1 else (None, None)] * n_slopes
    bounds += [(None, None)] * n_classes
    found = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": _MOST_STEPS, "ftol": 1e-8, "gtol": 1e-6},
    ).x  # fmt: skip
    return found[:n_slopes].reshape(neutral.shape).copy(), found[n_slopes:].copy()
