"""Parallel perceptrons, and the p-delta rule that trains them.

Some perceptrons, each the sign of a weighted sum, vote; the output is the sum of their signs, cut
at +-rho and divided by it. The rule moves only those that stand in the way of the right output,
and keeps activations away from zero, so that what is right stays so (the margin).

The rule descends the energy ::

    J = 1/4 sum over h of (|w_h|^2 - 1)^2                                    the norms
      + sum over wrong x and the h to blame of |w_h x|                       the errors
      + mu sum over right x and all h of max(0, gamma - |w_h x|)             the margin

where x with their weights are the examples, gamma is the margin, and mu says what it weighs. In
Auer's rule the last sum is also over wrong x and those h that are not to blame.

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

from orfeon.kernels import perceptron as kernels
from orfeon.kernels.jit import kernel_view

Floats = npt.NDArray[np.float64]
Mode = Literal["batch", "incremental"]
Rule = Literal["p_delta", "auer"]
LearningRate = Literal["invscaling", "adaptive", "constant"]

_SCHEDULES = {
    "invscaling": kernels.FALLING,
    "adaptive": kernels.FOLLOWING,
    "constant": kernels.CONSTANT,
}
#: Learning rate of batch updates, which are sums over the examples, and their weight up to which
#: it is stable; beyond, it falls as the sums grow.
_LARGEST_RATE, _STABLE_WEIGHT = 0.01, 700.0
#: Products of a row's inputs and weights between two reports of progress, and the share of the
#: epochs: who asks to stop is heard soon.
_BETWEEN_REPORTS, _LONGEST_SHARE = 1 << 27, 0.05


@dataclass(frozen=True)
class PDelta:
    """The p-delta rule with its settings.

    Parameters
    ----------
    mode : {"batch", "incremental"}, default="batch"
        Whether steps are taken after each epoch or after each example.
    rule : {"p_delta", "auer"}, default="p_delta"
        Whether the margin counts in examples that are right, or in all.
    learning_rate : {"invscaling", "adaptive", "constant"}, default="invscaling"
        Rate of epoch t: ``rate / sqrt(t)``; 1.1 times the last one when the error fell and half of
        it when it rose; or ``rate``.
    rate : float, default=0.01
        The initial learning rate.
    tune_margin : bool, default=True
        Whether the margin is tuned on the way.
    margin_weight : float, default=0.1
        What the margin weighs against errors, mu.
    tolerance : float, default=0.5
        Outputs that are no further from the target than this are right.
    rho : float, default=1.0
        Sums of signs are cut at this.
    stop_when_right : bool, default=False
        Whether to end where no training example is wrong.
    """

    mode: Mode = "batch"
    rule: Rule = "p_delta"
    learning_rate: LearningRate = "invscaling"
    rate: float = 0.01
    tune_margin: bool = True
    margin_weight: float = 0.1
    tolerance: float = 0.5
    rho: float = 1.0
    stop_when_right: bool = False

    @property
    def _deciding(self) -> tuple[float, float, float, bool]:
        return self.margin_weight, self.tolerance, self.rho, self.rule == "auer"


@dataclass(frozen=True)
class Solution:
    """Where training stands.

    Parameters
    ----------
    weights : ndarray of shape (n_perceptrons, n_inputs)
        Weights of the perceptrons.
    margin : float
        The margin, gamma.
    rate : float
        Learning rate of the last epoch.
    error, error_before : float
        Share of the weight that was wrong in the last epoch and in the one before it; negative
        where there was none.
    n_epochs : int
        Epochs so far.
    """

    weights: Floats
    margin: float
    rate: float = 0.0
    error: float = -1.0
    error_before: float = -1.0
    n_epochs: int = 0

    @property
    def unit_weights(self) -> Floats:
        """The weights, each perceptron's made a vector of length 1; one of length 0 stays."""
        norms = np.sqrt((self.weights**2).sum(axis=1, keepdims=True))
        return np.asarray(self.weights / np.where(norms > 0, norms, 1.0))


class Course(NamedTuple):
    """What a run leaves: the solution, and how energy and error went.

    Parameters
    ----------
    solution : Solution
        Where it ended.
    energies, errors : ndarray of shape (n_epochs,)
        Energy J, and weight of the wrong examples, before each epoch's step (in the incremental
        mode, as the examples had their turn).
    total_weight : float
        Weight of all examples.
    """

    solution: Solution
    energies: Floats
    errors: Floats
    total_weight: float

    @property
    def error_shares(self) -> Floats:
        """Share of the weight that is wrong, before each epoch's step."""
        return self.errors / (self.total_weight or 1.0)


def stable_rate(total_weight: float) -> float:
    """A learning rate for steps that are sums over examples of this total weight.

    Parameters
    ----------
    total_weight : float
        Sum of the weights of the examples.

    Returns
    -------
    float
        0.01 up to 700 examples, then less as there are more.

    Examples
    --------
    >>> from orfeon.perceptrons.p_delta import stable_rate
    >>> stable_rate(700), stable_rate(6480)
    (0.01, 0.00108...)
    """
    return float(_LARGEST_RATE * (_STABLE_WEIGHT / max(_STABLE_WEIGHT, total_weight)))


def rated_weight(inputs: Floats, example_weights: Floats) -> float:
    """The weight of some examples that a learning rate should be for.

    Parameters
    ----------
    inputs : ndarray of shape (n_rows, n_inputs)
        Extended inputs.
    example_weights : ndarray of shape (n_rows,)
        Weights of the examples.

    Returns
    -------
    float
        Their sum; more where inputs are longer than 1 on average, as steps are then too.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.perceptrons.p_delta import rated_weight
    >>> rated_weight(np.array([[0.6, -0.8], [0.0, -1.0]]), np.ones(2))
    2.0
    >>> rated_weight(np.array([[30.0, -40.0], [0.0, -1.0]]), np.ones(2))
    51.0
    """
    lengths = np.sqrt(np.einsum("nd,nd->n", inputs, inputs))
    mean_length = float(lengths.mean()) if len(lengths) else 0.0
    return float(example_weights.sum() * max(1.0, mean_length))


def draw_weights(
    n_perceptrons: int, n_inputs: int, init: float | Literal["unit"], rng: np.random.Generator
) -> Floats:
    """Initial weights.

    Parameters
    ----------
    n_perceptrons, n_inputs : int
        How many.
    init : float or "unit"
        They are uniform between minus this and this, or vectors of length 1 in any direction.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n_perceptrons, n_inputs)
        The weights.
    """
    if init != "unit":
        return rng.uniform(-init, init, (n_perceptrons, n_inputs))
    weights = rng.standard_normal((n_perceptrons, n_inputs))
    return np.asarray(weights / np.sqrt((weights**2).sum(axis=1, keepdims=True)))


def activations(inputs: Floats, weights: Floats) -> Floats:
    """Weighted sums of the inputs; the same for a row whatever rows are beside it.

    Parameters
    ----------
    inputs : ndarray of shape (n_rows, n_inputs)
        Extended inputs.
    weights : ndarray of shape (n_perceptrons, n_inputs)
        Weights.

    Returns
    -------
    ndarray of shape (n_rows, n_perceptrons)
        Activations.
    """
    if inputs.shape[1] != weights.shape[1]:
        raise ValueError(
            f"inputs have {inputs.shape[1]} columns and weights {weights.shape[1]}; they must have "
            "the same number."
        )
    found = np.empty((len(inputs), len(weights)))
    kernels.activate(kernel_view(inputs), kernel_view(weights), found)
    return found


def signs(activations: Floats) -> npt.NDArray[np.int64]:
    """What perceptrons say: -1, or +1 from zero on.

    Parameters
    ----------
    activations : ndarray
        Activations.

    Returns
    -------
    ndarray of int
        Signs.
    """
    return np.where(activations >= 0, 1, -1)


def votes(activations: Floats) -> npt.NDArray[np.int64]:
    """What most of an odd number of perceptrons say: -1 or +1.

    Parameters
    ----------
    activations : ndarray of shape (n_rows, n_perceptrons)
        Activations.

    Returns
    -------
    ndarray of int of shape (n_rows,)
        Signs.
    """
    return np.where(signs(activations).sum(axis=1) > 0, 1, -1)


def update(
    inputs: Floats, targets: Floats, example_weights: Floats, solution: Solution, rule: PDelta
) -> tuple[Floats, float, float]:
    """What the examples ask for together: minus the gradient of the energy but for the norms.

    Parameters
    ----------
    inputs : ndarray of shape (n_rows, n_inputs)
        Extended inputs.
    targets : ndarray of shape (n_rows,)
        -1 and 1, or numbers between.
    example_weights : ndarray of shape (n_rows,)
        Weights of the examples.
    solution : Solution
        Where training stands.
    rule : PDelta
        The rule.

    Returns
    -------
    update : ndarray of shape (n_perceptrons, n_inputs)
        The direction of a step.
    margin_update : float
        What is asked of the margin.
    error : float
        Weight of the wrong examples.

    Examples
    --------
    Two of three perceptrons are wrong about an example of class +1, and are pulled towards it:

    >>> import numpy as np
    >>> from orfeon.perceptrons.p_delta import PDelta, Solution, update
    >>> weights = np.array([[0.6, 0.8], [-0.6, 0.8], [-1.0, 0.0]])
    >>> x, y = np.array([[2.0, -1.0]]), np.array([1.0])
    >>> update(x, y, np.ones(1), Solution(weights, 0.1), PDelta())
    (array([[ 0.,  0.],
           [ 2., -1.],
           [ 2., -1.]]), 0.25, 1.0)
    """
    total = np.empty_like(solution.weights)
    _, widening, error = kernels.batch_pass(
        kernel_view(inputs), targets, example_weights, kernel_view(solution.weights),
        float(solution.margin), *rule._deciding, total,
    )  # fmt: skip
    return total, widening, error


def energy(
    inputs: Floats, targets: Floats, example_weights: Floats, solution: Solution, rule: PDelta
) -> float:
    """The energy J that the rule descends.

    Parameters
    ----------
    inputs : ndarray of shape (n_rows, n_inputs)
        Extended inputs.
    targets : ndarray of shape (n_rows,)
        -1 and 1, or numbers between.
    example_weights : ndarray of shape (n_rows,)
        Weights of the examples.
    solution : Solution
        Where training stands.
    rule : PDelta
        The rule.

    Returns
    -------
    float
        J.

    Notes
    -----
    The norms count for a quarter, so that the step that draws them to 1 is minus the gradient. In
    print they count for a half.
    """
    of_examples, _, _ = kernels.batch_pass(
        kernel_view(inputs), targets, example_weights, kernel_view(solution.weights),
        float(solution.margin), *rule._deciding, np.empty_like(solution.weights),
    )  # fmt: skip
    squares = (solution.weights**2).sum(axis=1)
    return float(of_examples + 0.25 * ((squares - 1) ** 2).sum())


def train(
    inputs: Floats,
    targets: Floats,
    example_weights: Floats,
    start: Solution,
    rule: PDelta,
    n_epochs: int,
    rng: np.random.Generator,
    after: Callable[[int], bool] | None = None,
) -> Course:
    """Train for some epochs.

    Parameters
    ----------
    inputs : ndarray of shape (n_rows, n_inputs)
        Extended inputs.
    targets : ndarray of shape (n_rows,)
        -1 and 1, or numbers between.
    example_weights : ndarray of shape (n_rows,)
        Weights of the examples; they multiply what an example asks for.
    start : Solution
        Where to begin; it is not changed.
    rule : PDelta
        The rule.
    n_epochs : int
        Epochs at most.
    rng : numpy.random.Generator
        Draws the order of the examples in the incremental mode.
    after : callable, optional
        Told now and then how many epochs were done since the last time; True ends the run.

    Returns
    -------
    Course
        Where it ended, and how it went.

    Examples
    --------
    Three perceptrons learn the exclusive or, which one cannot:

    >>> import numpy as np
    >>> from orfeon.perceptrons import p_delta
    >>> x = np.array([[-1.0, -1, -1], [-1, 1, -1], [1, -1, -1], [1, 1, -1]])
    >>> y = np.array([-1.0, 1, 1, -1])
    >>> rng = np.random.default_rng(0)
    >>> start = p_delta.Solution(p_delta.draw_weights(3, 3, "unit", rng), margin=0.05)
    >>> rule = p_delta.PDelta(stop_when_right=True, rate=0.1)
    >>> course = p_delta.train(x, y, np.ones(4), start, rule, 500, rng)
    >>> p_delta.signs(p_delta.activations(x, course.solution.weights)).sum(axis=1)
    array([-1,  1,  1, -1])
    """
    rate = start.rate if start.n_epochs else rule.rate
    state = np.array([start.margin, rate, start.error, start.error_before, float(start.n_epochs)])
    weights = np.array(start.weights, dtype=np.float64, order="C")
    energies, errors = np.zeros(n_epochs), np.zeros(n_epochs)
    given = (kernel_view(inputs), kernel_view(targets), kernel_view(example_weights))
    run = _batch if rule.mode == "batch" else _incremental
    at_once = n_epochs if after is None else _reported_epochs(inputs.size * len(weights), n_epochs)
    done = 0
    while done < n_epochs:
        part = slice(done, min(done + at_once, n_epochs))
        n_asked = part.stop - part.start
        n_run = run(given, weights, state, rule, energies[part], errors[part], rng)
        done += n_run
        if n_run < n_asked or (after is not None and after(n_run)):
            break
        was_right = rule.stop_when_right and errors[done - 1] == 0
        if was_right and (rule.mode == "batch" or _is_right(given, weights, state, rule)):
            break
    solution = Solution(
        weights, float(state[kernels.MARGIN]), float(state[kernels.RATE]),
        float(state[kernels.ERROR]), float(state[kernels.ERROR_BEFORE]),
        int(state[kernels.EPOCHS]),
    )  # fmt: skip
    return Course(solution, energies[:done], errors[:done], float(example_weights.sum()))


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
    """Epochs of the batch rule; how many ran."""
    return int(
        kernels.batch_epochs(
            *given, weights, state, rule.rate, _SCHEDULES[rule.learning_rate], rule.tune_margin,
            *rule._deciding, rule.stop_when_right, energies, errors,
        )
    )  # fmt: skip


def _incremental(
    given: tuple[Floats, Floats, Floats],
    weights: Floats,
    state: Floats,
    rule: PDelta,
    energies: Floats,
    errors: Floats,
    rng: np.random.Generator,
) -> int:
    """Epochs of the incremental rule, each in a new order; how many ran."""
    for epoch in range(len(energies)):
        order = rng.permutation(len(given[0]))
        energies[epoch], errors[epoch] = kernels.incremental_epoch(
            *given, order, weights, state, rule.rate, _SCHEDULES[rule.learning_rate],
            rule.tune_margin, *rule._deciding,
        )  # fmt: skip
        if rule.stop_when_right and errors[epoch] == 0 and _is_right(given, weights, state, rule):
            return epoch + 1
    return len(energies)


def _is_right(
    given: tuple[Floats, Floats, Floats], weights: Floats, state: Floats, rule: PDelta
) -> bool:
    """Whether no example is wrong, now that all had their turn."""
    here = Solution(weights, float(state[kernels.MARGIN]))
    return update(*given, here, rule)[2] == 0
