"""The EM algorithm for mixtures of experts, from several starts.

The E step gives each expert the share of each sample that it is responsible for; the M step fits
gates and experts to their shares. No step lowers the penalised log-likelihood, as far as the fits
of the M step are exact or at least gain something.

References
----------
Jordan and Jacobs (1994). Hierarchical mixtures of experts and the EM algorithm. Neural Computation
6(2), 181-214.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from orfeon.combining.gating import Gates, responsibilities
from orfeon.combining.local_models import Learner
from orfeon.utils.types import Floats

#: What a fit within the M step may leave ungained, as a share of what ends the iterations.
_INNER = 1e-1


@dataclass(frozen=True)
class Mixture:
    """Gates and experts, and how they were come by."""

    gates: Gates
    experts: Any
    curve: Floats
    converged: bool

    @property
    def value(self) -> float:
        """The greatest log-likelihood, which is that of these gates and experts."""
        return float(self.curve.max())

    def expanded(self, basis: Floats) -> Mixture:
        """The same mixture for inputs of which it was given some directions."""
        gates, experts = self.gates.expanded(basis), self.experts.expanded(basis)
        return replace(self, gates=gates, experts=experts)


def evaluate(gates: Gates, experts: Any, learner: Learner, weights: Floats) -> tuple[float, Floats]:
    """The E step, and the penalised log-likelihood."""
    log_shares = gates.log_shares(learner.inputs)
    posterior, log_likelihood = responsibilities(log_shares, learner.log_densities(experts))
    penalty = gates.penalty(learner.alpha) + learner.penalty(experts)
    return float(((weights * log_likelihood).sum() - penalty) / weights.sum()), posterior


def maximise(
    gates: Gates, learner: Learner, weights: Floats, *, tol: float, max_iter: int
) -> Mixture:
    """Iterate E and M steps from a start."""
    inner = _INNER * tol
    experts = learner.fit(weights[:, None] * np.exp(gates.log_shares(learner.inputs)), None, inner)
    value, posterior = evaluate(gates, experts, learner, weights)
    curve = [value]
    for _ in range(max_iter):
        shares = weights[:, None] * posterior
        new_gates = gates.fitted(learner.inputs, shares, alpha=learner.alpha, tol=inner)
        new_experts = learner.fit(shares, experts, inner)
        value, posterior = evaluate(new_gates, new_experts, learner, weights)
        gain = value - curve[-1]
        if gain >= 0:
            gates, experts = new_gates, new_experts
        curve.append(value)
        if gain < tol:
            return Mixture(gates, experts, np.array(curve), True)
    return Mixture(gates, experts, np.array(curve), False)
