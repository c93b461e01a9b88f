"""Gates: soft partitions of the inputs, learnt by softmax regression.

A gate divides each row among its branches by the softmax of linear functions of the inputs. A tree
of gates multiplies these shares on the path to each leaf, where an expert is. In the M step of the
EM algorithm each gate is a softmax regression whose targets are the responsibilities of the experts
below each branch (Jordan and Jacobs 1994).

References
----------
Jacobs, Jordan, Nowlan and Hinton (1991). Adaptive mixtures of local experts. Neural Computation
3(1), 79-87.
Jordan and Jacobs (1994). Hierarchical mixtures of experts and the EM algorithm. Neural Computation
6(2), 181-214.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from scipy.optimize import minimize

from orfeon.utils import saved
from orfeon.utils.types import Floats, Integers

#: Up to this many unknowns a softmax regression is solved by Newton's method, else by L-BFGS.
_MOST_UNKNOWNS = 400
#: Rows whose second derivatives are summed at once.
_ROWS = 1 << 14
#: Newton's steps at most, and halvings of each.
_STEPS, _HALVINGS = 50, 10
#: Minimum curvature of a direction, as a share of the mean.
_LEAST_CURVATURE = 1e-9
#: Gains below this, per unit of weight, are rounding.
_ROUNDING = 1e-14


def responsibilities(log_shares: Floats, log_densities: Floats) -> tuple[Floats, Floats]:
    """The E step: posterior probability of each expert for each sample, and log-likelihoods."""
    joint = log_shares + log_densities
    posterior = log_softmax(joint)
    log_likelihood = joint.max(axis=1) - posterior.max(axis=1)
    return np.exp(posterior), log_likelihood


def log_softmax(scores: Floats) -> Floats:
    shifted = scores - scores.max(axis=-1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return np.asarray(shifted)


def fit_softmax(
    inputs: Floats, targets: Floats, start: Floats, *, alpha: float, tol: float = 1e-12
) -> Floats:
    """Softmax regression on soft targets; the result is never worse than the start."""
    total = float(targets.sum())
    if len(start) < 2 or total <= 0:
        return np.zeros_like(start)
    problem = _SoftmaxProblem(inputs, targets, alpha)
    start = start - start.mean(axis=0)
    least_gain = max(tol, _ROUNDING) * total
    if start.size > _MOST_UNKNOWNS:
        return problem.descend(start, least_gain)
    return problem.solve(start, least_gain)


class _Point(NamedTuple):
    """A softmax regression at some weights."""

    weights: Floats
    value: float
    gradient: Floats
    shares: Floats


class _SoftmaxProblem:
    """The objective of a softmax regression: minus its penalised log-likelihood."""

    def __init__(self, inputs: Floats, targets: Floats, alpha: float) -> None:
        self.inputs, self.targets = inputs, targets
        self.totals = targets.sum(axis=1, keepdims=True)
        self.scaled = inputs * np.sqrt(self.totals)
        self.penalties = np.full(inputs.shape[1], alpha)
        self.penalties[-1] = 0.0

    def at(self, weights: Floats) -> _Point:
        logs = log_softmax(self.inputs @ weights.T)
        shares = np.exp(logs)
        value = 0.5 * (self.penalties * weights**2).sum() - (self.targets * logs).sum()
        residuals = self.totals * shares - self.targets
        gradient = residuals.T @ self.inputs + self.penalties * weights
        return _Point(weights, float(value), gradient, shares)

    def hessian(self, shares: Floats) -> Floats:
        """Second derivatives, with some curvature in the directions that have none."""
        n_classes, n_inputs = shares.shape[1], self.inputs.shape[1]
        hessian = np.zeros((n_classes * n_inputs, n_classes * n_inputs))
        for first in range(0, len(shares), _ROWS):
            scaled = self.scaled[first : first + _ROWS]
            products = shares[first : first + _ROWS, :, None] * scaled[:, None, :]
            products = products.reshape(len(scaled), -1)
            hessian -= products.T @ products
            for k in range(n_classes):
                mine = slice(k * n_inputs, (k + 1) * n_inputs)
                hessian[mine, mine] += products[:, mine].T @ scaled
        diagonal = np.arange(len(hessian))
        hessian[diagonal, diagonal] += np.tile(self.penalties, n_classes)
        # Adding the same to all classes changes no share, so any curvature will do there.
        mean = max(float(hessian[diagonal, diagonal].mean()), np.finfo(np.float64).tiny)
        for j in range(n_inputs):
            hessian[j::n_inputs, j::n_inputs] += mean / n_classes
        hessian[diagonal, diagonal] += _LEAST_CURVATURE * mean
        return np.asarray(hessian)

    def solve(self, start: Floats, least_gain: float) -> Floats:
        """Newton's method, each step halved until it gains something, else L-BFGS for a while."""
        here = self.at(start)
        for _ in range(_STEPS):
            try:
                flat = np.linalg.solve(self.hessian(here.shares), here.gradient.ravel())
            except np.linalg.LinAlgError:  # all shares are 0 or 1: nothing more to gain
                return here.weights
            step = flat.reshape(start.shape)
            gain = float((here.gradient * step).sum()) / 2
            if not gain > least_gain:
                last = self.at(here.weights - step)
                return last.weights if last.value < here.value else here.weights
            for halving in range(_HALVINGS):
                part = 0.5**halving
                there = self.at(here.weights - part * step)
                if there.value <= here.value - 1e-3 * part * gain:
                    here = there
                    break
            else:
                # Where all shares are 0 or 1 there is hardly any curvature, and steps are too long.
                there = self.at(self.descend(here.weights, least_gain))
                if not there.value < here.value:
                    break
                here = there
        return here.weights

    def descend(self, start: Floats, least_gain: float) -> Floats:
        """L-BFGS, whose memory grows linearly with the unknowns."""

        def flat(unknowns: Floats) -> tuple[float, Floats]:
            here = self.at(unknowns.reshape(start.shape))
            return here.value, here.gradient.ravel()

        before = self.at(start).value
        found = minimize(
            flat, start.ravel(), jac=True, method="L-BFGS-B",
            options={"ftol": least_gain / max(abs(before), 1.0), "gtol": 0.0, "maxiter": 500},
        )  # fmt: skip
        return np.asarray(found.x).reshape(start.shape) if found.fun < before else start


def in_fewer_directions(inputs: Floats) -> tuple[Floats, Floats | None]:
    """Project inputs on the span of the samples, if that has fewer dimensions.

    Penalised linear models have no weights in other directions, so nothing is lost.
    """
    if inputs.shape[1] - 1 <= len(inputs):
        return inputs, None
    basis = np.linalg.qr(inputs[:, :-1].T)[0]
    return np.column_stack([inputs[:, :-1] @ basis, inputs[:, -1]]), basis


def expand(weights: Floats, basis: Floats) -> Floats:
    """Weights of all inputs, from those of some directions."""
    return np.concatenate([weights[..., :-1] @ basis.T, weights[..., -1:]], axis=-1)


@saved.attributes(levels=saved.tuple_of(saved.array("f8", 3, finite=True), at_least=1))
@dataclass(frozen=True)
class Gates:
    """A tree of gates with equally many branches each; depth 1 is a single gate."""

    levels: tuple[Floats, ...]

    @classmethod
    def draw(
        cls,
        n_branches: int,
        depth: int,
        n_inputs: int,
        steepness: float,
        rng: np.random.Generator,
    ) -> Self:
        """Draw gates at random."""
        levels = []
        for level in range(depth):
            weights = rng.normal(size=(n_branches**level, n_branches, n_inputs))
            weights *= steepness / np.sqrt(max(n_inputs - 1, 1))
            weights[:, :, -1] = 0.0
            levels.append(weights)
        return cls(tuple(levels))

    @property
    def n_leaves(self) -> int:
        n_gates, n_branches, _ = self.levels[-1].shape
        return int(n_gates * n_branches)

    def chosen(self, inputs: Floats) -> Integers:
        """The leaf that each row reaches along the branches of the largest shares."""
        leaf = np.zeros(len(inputs), dtype=np.int64)
        for weights in self.levels:
            scores = np.einsum("nbi,ni->nb", weights[leaf], inputs)
            leaf = leaf * weights.shape[1] + scores.argmax(axis=1)
        return leaf

    def log_shares(self, inputs: Floats) -> Floats:
        """Logarithms of the shares of the leaves in each row."""
        logs = np.zeros((len(inputs), 1))
        for weights in self.levels:
            n_gates, n_branches, n_inputs = weights.shape
            scores = inputs @ weights.reshape(-1, n_inputs).T
            branches = log_softmax(scores.reshape(-1, n_gates, n_branches))
            logs = (logs[:, :, None] + branches).reshape(len(inputs), n_gates * n_branches)
        return logs

    def expanded(self, basis: Floats) -> Gates:
        """The gates for all inputs, from gates for some directions."""
        return Gates(tuple(expand(weights, basis) for weights in self.levels))

    def penalty(self, alpha: float) -> float:
        """Half of alpha times the sum of squared weights, without those of the last input."""
        return 0.5 * alpha * float(sum((weights[:, :, :-1] ** 2).sum() for weights in self.levels))

    def fitted(self, inputs: Floats, shares: Floats, *, alpha: float, tol: float) -> Gates:
        """The M step: gates fitted to the responsibilities of the experts."""
        levels = []
        for weights in self.levels:
            n_gates, n_branches, _ = weights.shape
            below = shares.reshape(len(inputs), n_gates, n_branches, -1).sum(axis=3)
            levels.append(
                np.stack(
                    [
                        fit_softmax(inputs, below[:, gate], start, alpha=alpha, tol=tol)
                        for gate, start in enumerate(weights)
                    ]
                )
            )
        return Gates(tuple(levels))
