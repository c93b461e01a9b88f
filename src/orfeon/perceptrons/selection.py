"""PPTSS: training a parallel perceptron on the samples that matter only.

Where one class is rare, most samples say nothing new and some are wrong. A parallel perceptron is
trained; what it finds redundant, noisy or quasi-noisy is left out; it goes on from where it stands
with the rest; and so on, for as long as neither g nor the accuracy on the positive class falls.

References
----------
Cantador and Dorronsoro (2005). Parallel perceptrons, activation margins and imbalanced training set
pruning. IbPRIA 2005, 43-50.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from orfeon.perceptrons import p_delta
from orfeon.perceptrons.categories import BORDERLINE, QUASI_NOISY, QuasiNoisy, categorise
from orfeon.perceptrons.p_delta import Solution
from orfeon.utils.types import Floats, Integers

#: From the rows to train on, and where the round before ended (None in the first), to a solution.
Train = Callable[[Integers, Solution | None], Solution]

#: Why a selection ended.
FELL = "g or acc+ fell"
UNCHANGED = "no sample was left out"
ONE_CLASS = "only one class would be left"
NOTHING = "no sample would be left"
ENOUGH = "max_rounds was reached"
STOPPED = "it was asked to stop"


@dataclass
class Selection:
    """The rounds of a selection, and the best of them."""

    rounds: list[tuple[int, float, float, float]] = field(default_factory=list)
    best: int = 0
    solution: Solution = field(default_factory=lambda: Solution(np.zeros((0, 0)), 0.0))
    rows: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    ended: str = ""


def select_samples(
    inputs: Floats,
    targets: Floats,
    weights: Floats,
    train: Train,
    *,
    positive: float = 1.0,
    keep_quasi_noisy: bool = False,
    quasi_noisy: QuasiNoisy = "all",
    max_rounds: int = 50,
    after: Callable[[int], bool] | None = None,
) -> Selection:
    """Train, leave out what does not matter, and go on with the rest."""
    found = Selection()
    is_positive = targets == positive
    rows = np.arange(len(targets))
    solution = train(rows, None)
    best_g = best_positive = 0.0
    while not found.ended:
        activations = p_delta.activations(inputs, solution.unit_weights)
        right = p_delta.votes(activations) == targets
        accuracy = _share(right, weights, is_positive)
        specificity = _share(right, weights, ~is_positive)
        g = float(np.sqrt(accuracy * specificity))
        found.rounds.append((len(rows), g, accuracy, specificity))
        asked_to_stop = after is not None and after(1)
        if g < best_g or accuracy < best_positive:
            found.ended = FELL
            break
        best_g, best_positive = g, accuracy
        found.best, found.solution, found.rows = len(found.rounds) - 1, solution, rows
        margins = targets[rows, None] * activations[rows]
        codes = categorise(margins, solution.margin, targets[rows], positive, quasi_noisy)
        stays = (codes == BORDERLINE) | (keep_quasi_noisy & (codes == QUASI_NOISY))
        found.ended = _end(stays, is_positive[rows], len(found.rounds) >= max_rounds)
        if asked_to_stop and not found.ended:
            found.ended = STOPPED
        if not found.ended:
            rows = rows[stays]
            solution = train(rows, solution)
    return found


def _share(right: npt.NDArray[np.bool_], weights: Floats, among: npt.NDArray[np.bool_]) -> float:
    return float(weights[right & among].sum() / weights[among].sum())


def _end(stays: npt.NDArray[np.bool_], is_positive: npt.NDArray[np.bool_], is_last: bool) -> str:
    """Why there is no further round, if there is none."""
    if stays.all():
        return UNCHANGED
    if not stays.any():
        return NOTHING
    left = is_positive[stays]
    if left.all() or not left.any():
        return ONE_CLASS
    return ENOUGH if is_last else ""
