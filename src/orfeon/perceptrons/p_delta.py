"""The p-delta rule, which trains parallel perceptrons.

Perceptrons vote with the sign of a weighted sum; the output is the sum of the votes, clipped to
+-rho and divided by it. The rule corrects only perceptrons whose vote makes the output wrong, and
keeps activations away from zero (the margin), so that correct outputs stay correct.

The rule minimises the energy ::

    J = 1/4 sum over h of (|w_h|^2 - 1)^2                                    the norms
      + sum over wrong x and the h to blame of |w_h x|                       the errors
      + mu sum over right x and all h of max(0, gamma - |w_h x|)             the margin

over the weighted samples x, where gamma is the margin and mu its weight. In Auer's rule the last
sum also runs over wrong x and the h that are not to blame. To blame are all h that vote wrongly, or
fewer (:mod:`orfeon.perceptrons.blame`). ``printed_energy`` is J as Cantador prints it.

References
----------
Auer, Burgsteiner and Maass (2008). A learning rule for very simple universal approximators
consisting of a single layer of perceptrons. Neural Networks 21(5), 786-795.

Cantador and Dorronsoro (2005). Balanced boosting with parallel perceptrons. IWANN 2005, 208-216.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.kernels.perceptron import epoch as kernels
from orfeon.perceptrons.blame import PASSES, Blame, Passes
from orfeon.utils import saved
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats

Mode = Literal["batch", "incremental"]
Rule = Literal["p_delta", "auer"]
LearningRate = Literal["invscaling", "adaptive", "constant"]
TuneMargin = bool | Literal["mean"]

_SCHEDULES = {
    "invscaling": kernels.FALLING,
    "adaptive": kernels.FOLLOWING,
    "constant": kernels.CONSTANT,
}
#: Learning rate of batch updates, and the total weight up to which it is stable; beyond, it
#: decreases, because updates are sums over the samples.
_LARGEST_RATE, _STABLE_WEIGHT = 0.01, 700.0
#: The published rates: 0.01 up to 891 samples, 0.001 for 6,480.
_LARGEST_WEIGHT, _RATE_TIMES_WEIGHT = 1000.0, 6.48
#: Multiplications, and share of the epochs, between two progress reports: a request to stop takes
#: effect soon.
_BETWEEN_REPORTS, _LONGEST_SHARE = 1 << 27, 0.05


@dataclass(frozen=True)
class PDelta:
    """Settings of the p-delta rule."""

    mode: Mode = "batch"
    rule: Rule = "p_delta"
    learning_rate: LearningRate = "invscaling"
    rate: float = 0.01
    tune_margin: TuneMargin = True
    margin_weight: float = 0.1
    tolerance: float = 0.5
    rho: float = 1.0
    stop_when_right: bool = False
    blame: Blame = "all"

    @property
    def passes(self) -> Passes:
        """The kernels of the rule."""
        return PASSES[self.blame]

    @property
    def _deciding(self) -> tuple[float, float, float, bool]:
        return self.margin_weight, self.tolerance, self.rho, self.rule == "auer"


@saved.attributes(
    weights=saved.array("f8", 2, finite=True),
    margin=saved.number(),
    rate=saved.number(),
    error=saved.number(),
    error_before=saved.number(),
    n_epochs=saved.integer(0),
)
@dataclass(frozen=True)
class Solution:
    """State of training: weights, margin, and what the learning rate schedule needs."""

    weights: Floats
    margin: float
    rate: float = 0.0
    error: float = -1.0
    error_before: float = -1.0
    n_epochs: int = 0

    @property
    def unit_weights(self) -> Floats:
        """The weights, normalised to length 1 for each perceptron."""
        norms = np.sqrt((self.weights**2).sum(axis=1, keepdims=True))
        return np.asarray(self.weights / np.where(norms > 0, norms, 1.0))


class Course(NamedTuple):
    """Result of a training run: the solution, and energy and error by epoch."""

    solution: Solution
    energies: Floats
    errors: Floats
    total_weight: float

    @property
    def error_shares(self) -> Floats:
        """Weighted error before each epoch's step."""
        return self.errors / (self.total_weight or 1.0)


def stable_rate(total_weight: float) -> float:
    return float(_LARGEST_RATE * (_STABLE_WEIGHT / max(_STABLE_WEIGHT, total_weight)))


def published_rate(total_weight: float) -> float:
    """The rates of the published experiments: 0.01, and less for more than 1,000 samples."""
    if total_weight <= _LARGEST_WEIGHT:
        return _LARGEST_RATE
    return float(_RATE_TIMES_WEIGHT / total_weight)


def rated_weight(inputs: Floats, sample_weights: Floats) -> float:
    """Total weight of the samples, times their mean length if that is above 1."""
    lengths = np.sqrt(np.einsum("nd,nd->n", inputs, inputs))
    mean_length = float(lengths.mean()) if len(lengths) else 0.0
    return float(sample_weights.sum() * max(1.0, mean_length))


def draw_weights(
    n_perceptrons: int, n_inputs: int, init: float | Literal["unit"], rng: np.random.Generator
) -> Floats:
    if init != "unit":
        return rng.uniform(-init, init, (n_perceptrons, n_inputs))
    weights = rng.standard_normal((n_perceptrons, n_inputs))
    return np.asarray(weights / np.sqrt((weights**2).sum(axis=1, keepdims=True)))


def activations(inputs: Floats, weights: Floats) -> Floats:
    """Weighted sums of the inputs; each row's sum does not depend on the other rows."""
    if inputs.shape[1] != weights.shape[1]:
        raise ValueError(
            f"inputs have {inputs.shape[1]} columns and weights {weights.shape[1]}; they must have "
            "the same number."
        )
    found = np.empty((len(inputs), len(weights)))
    kernels.activate(kernel_view(inputs), kernel_view(weights), found)
    return found


def signs(activations: Floats) -> npt.NDArray[np.int64]:
    """Votes of the perceptrons: +1 where the activation is 0 or more, else -1."""
    return np.where(activations >= 0, 1, -1)


def votes(activations: Floats) -> npt.NDArray[np.int64]:
    """Majority vote of an odd number of perceptrons: -1 or +1."""
    return np.where(signs(activations).sum(axis=1) > 0, 1, -1)


def update(
    inputs: Floats, targets: Floats, sample_weights: Floats, solution: Solution, rule: PDelta
) -> tuple[Floats, float, float]:
    """Minus the gradient of the energy without its norms term, the margin's update, the error."""
    total = np.empty_like(solution.weights)
    _, widening, error = rule.passes.batch_pass(
        kernel_view(inputs), targets, sample_weights, kernel_view(solution.weights),
        float(solution.margin), *rule._deciding, total,
    )  # fmt: skip
    return total, widening, error


def energy(
    inputs: Floats, targets: Floats, sample_weights: Floats, solution: Solution, rule: PDelta
) -> float:
    """Energy J.

    The norms count a quarter, not a half as in the paper, so that the step that draws them to 1 is
    minus the gradient.
    """
    of_samples, _, _ = rule.passes.batch_pass(
        kernel_view(inputs), targets, sample_weights, kernel_view(solution.weights),
        float(solution.margin), *rule._deciding, np.empty_like(solution.weights),
    )  # fmt: skip
    squares = (solution.weights**2).sum(axis=1)
    return float(of_samples + 0.25 * ((squares - 1) ** 2).sum())


def printed_energy(
    inputs: Floats, targets: Floats, sample_weights: Floats, solution: Solution, rule: PDelta
) -> float:
    """Energy J of a classifier as printed, of which the rule is not quite the gradient.

    The norms count a half, and the margin counts for perceptrons that vote for the sample's class
    only; the rule also pushes away those that are wrong where the vote is right.
    """
    margins = targets[:, None] * activations(inputs, solution.weights)
    is_right = signs(margins * targets[:, None]) == targets[:, None]
    is_vote_right = is_right.sum(axis=1, keepdims=True) * 2 > is_right.shape[1]
    errors = np.where(~is_vote_right & ~is_right, -margins, 0.0)
    counts = is_right & (is_vote_right | (rule.rule == "auer")) & (margins < solution.margin)
    gaps = np.where(counts, solution.margin - margins, 0.0)
    of_samples = float((sample_weights[:, None] * (errors + rule.margin_weight * gaps)).sum())
    squares = (solution.weights**2).sum(axis=1)
    return of_samples + 0.5 * float(((squares - 1) ** 2).sum())


def train(
    inputs: Floats,
    targets: Floats,
    sample_weights: Floats,
    start: Solution,
    rule: PDelta,
    n_epochs: int,
    rng: np.random.Generator,
    after: Callable[[int], bool] | None = None,
) -> Course:
    rate = start.rate if start.n_epochs else rule.rate
    state = np.array([start.margin, rate, start.error, start.error_before, float(start.n_epochs)])
    weights = np.array(start.weights, dtype=np.float64, order="C")
    energies, errors = np.zeros(n_epochs), np.zeros(n_epochs)
    given = (kernel_view(inputs), kernel_view(targets), kernel_view(sample_weights))
    run = _batch if rule.mode == "batch" else _incremental
    at_once = n_epochs if after is None else _reported_epochs(inputs.size * len(weights), n_epochs)
    done = 0
    while done < n_epochs:
        part = slice(done, min(done + at_once, n_epochs))
        n_wanted = part.stop - part.start
        n_run = run(given, weights, state, rule, energies[part], errors[part], rng)
        done += n_run
        if n_run < n_wanted or (after is not None and after(n_run)):
            break
        was_right = rule.stop_when_right and errors[done - 1] == 0
        if was_right and (rule.mode == "batch" or _is_right(given, weights, state, rule)):
            break
    solution = Solution(
        weights, float(state[kernels.MARGIN]), float(state[kernels.RATE]),
        float(state[kernels.ERROR]), float(state[kernels.ERROR_BEFORE]),
        int(state[kernels.EPOCHS]),
    )  # fmt: skip
    return Course(solution, energies[:done], errors[:done], float(sample_weights.sum()))


def _reported_epochs(cost: int, n_epochs: int) -> int:
    return max(1, min(_BETWEEN_REPORTS // max(cost, 1), int(_LONGEST_SHARE * n_epochs)))


def _batch(
    given: tuple[Floats, Floats, Floats],
    weights: Floats,
    state: Floats,
    rule: PDelta,
    energies: Floats,
    errors: Floats,
    rng: np.random.Generator,
) -> int:
    """Run epochs in batch mode, and return how many ran."""
    return int(
        rule.passes.batch_epochs(
            *given, weights, state, rule.rate, _SCHEDULES[rule.learning_rate],
            _margin_rate(rule, given[2]), *rule._deciding, rule.stop_when_right, energies, errors,
        )
    )  # fmt: skip


def _margin_rate(rule: PDelta, sample_weights: Floats) -> float:
    if rule.tune_margin == "mean":
        return float(1.0 / (sample_weights.sum() or 1.0))
    return float(rule.tune_margin)


def _incremental(
    given: tuple[Floats, Floats, Floats],
    weights: Floats,
    state: Floats,
    rule: PDelta,
    energies: Floats,
    errors: Floats,
    rng: np.random.Generator,
) -> int:
    """Run epochs in incremental mode, each in a new order, and return how many ran."""
    for epoch in range(len(energies)):
        order = rng.permutation(len(given[0]))
        energies[epoch], errors[epoch] = rule.passes.incremental_epoch(
            *given, order, weights, state, rule.rate, _SCHEDULES[rule.learning_rate],
            bool(rule.tune_margin), *rule._deciding,
        )  # fmt: skip
        if rule.stop_when_right and errors[epoch] == 0 and _is_right(given, weights, state, rule):
            return epoch + 1
    return len(energies)


def _is_right(
    given: tuple[Floats, Floats, Floats], weights: Floats, state: Floats, rule: PDelta
) -> bool:
    """Whether no sample is wrong with the weights after the epoch."""
    here = Solution(weights, float(state[kernels.MARGIN]))
    return update(*given, here, rule)[2] == 0
