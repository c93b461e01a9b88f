"""LPBoost: the votes that maximise the smallest margin, by linear programming.

The weights of the samples are the solution of the dual problem: under them all members chosen so
far are about equally good. A member that is better than these is added, until there is none; then
no other votes of all members of the pool have a larger smallest margin.

References
----------
Demiriz, Bennett and Shawe-Taylor (2002). Linear programming boosting via column generation.
Machine Learning 46, 225-254.

Rätsch, Onoda and Müller (2001). Soft margins for AdaBoost. Machine Learning 42(3), 287-320.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from orfeon.boosting.loop import HALF, RoundResult, Scheme
from orfeon.utils.types import Floats

#: Gains in the smallest margin below this are rounding.
_TOLERANCE = 1e-9


class LargestMargin(NamedTuple):
    """Votes of members, which sum to 1; the margin that they reach; weights of the samples."""

    votes: Floats
    margin: float
    weights: Floats


def largest_margin(
    signs: npt.ArrayLike, weights: Floats | None = None, nu: float = 0.0
) -> LargestMargin:
    """The votes that maximise the smallest margin of some samples.

    Parameters
    ----------
    signs : array of shape (n_members, n_samples)
        1 where a member is right, -1 where it is wrong.
    weights : array of shape (n_samples,), optional
        Sample weights, which only matter with ``nu``.
    nu : float, default=0.0
        Above 0, soft margins: about this share of the samples may have a smaller margin, at a
        price of 1 / nu times its mean shortfall.

    Returns
    -------
    LargestMargin
        The votes, the margin, and the sample weights of the dual problem, under which no member
        has a larger edge than the margin.

    Examples
    --------
    >>> from orfeon.boosting import largest_margin
    >>> found = largest_margin([[1, 1, -1], [1, -1, 1], [-1, 1, 1]])
    >>> found.votes.round(3), round(found.margin, 3)
    (array([0.333, 0.333, 0.333]), 0.333)
    """
    gains = np.asarray(signs, dtype=np.float64)
    if gains.ndim != 2 or not gains.size or not np.isin(gains, (-1.0, 1.0)).all():
        raise ValueError(
            f"signs of shape {gains.shape} must be a matrix of 1 and -1, members by samples."
        )
    if not 0 <= nu <= 1:
        raise ValueError(f"nu={nu} is not a share; it is from 0 to 1.")
    n_members, n_samples = gains.shape
    shares = np.ones(n_samples) if weights is None else np.asarray(weights, dtype=np.float64)
    most = np.full(n_samples, np.inf) if nu == 0 else shares / shares.sum() / nu
    # The dual: the least upper bound of the edges, over the weights of the samples.
    found = linprog(
        np.append(np.zeros(n_samples), 1.0),
        A_ub=np.hstack([gains, -np.ones((n_members, 1))]), b_ub=np.zeros(n_members),
        A_eq=np.append(np.ones(n_samples), 0.0)[None], b_eq=[1.0],
        bounds=[*((0.0, top) for top in most), (None, None)], method="highs",
    )  # fmt: skip
    if found.x is None:
        raise RuntimeError(f"the linear program of {n_members} members failed: {found.message}")
    votes = np.maximum(-found.ineqlin.marginals, 0.0)
    votes = votes / votes.sum()
    margin = float(found.fun) if nu == 0 else float(found.eqlin.marginals[0])
    dual = np.maximum(found.x[:-1], 0.0)
    return LargestMargin(votes, margin, dual / dual.sum())


class LPBoostScheme(Scheme):
    """Weights from the dual of the linear program, which all members so far take part in."""

    def __init__(self, labels: npt.NDArray[Any], weights: Floats, nu: float = 0.0) -> None:
        self._labels = labels
        self.initial = np.asarray(weights / weights.sum())
        self.nu = nu
        self.signs: list[npt.NDArray[np.int8]] = []
        self.solution: LargestMargin | None = None

    @property
    def weights(self) -> Floats:
        """Weights of the samples, which sum to 1."""
        return self.initial if self.solution is None else self.solution.weights

    @property
    def labels(self) -> npt.NDArray[Any]:
        """Class codes."""
        return self._labels

    def evaluate(self, answers: npt.NDArray[Any]) -> RoundResult:
        """Weighted error; the run ends when no member is better than those so far."""
        weights = self.weights
        wrong = answers != self._labels
        error = float(np.where(wrong, weights, 0.0).sum())
        ends = error >= HALF
        if self.solution is not None:
            signs = np.array(self.signs, dtype=np.float64)
            ends = 1.0 - 2.0 * error <= float((signs @ weights).max()) + _TOLERANCE
        return RoundResult(error, 1.0, keep=not ends, ends=ends)

    def reweigh(
        self, answers: npt.NDArray[Any], result: RoundResult, rng: np.random.Generator
    ) -> None:
        """Solve the linear program again, with one more member."""
        self.signs.append(np.where(answers != self._labels, -1, 1).astype(np.int8))
        self.solution = largest_margin(self.signs, self.initial, self.nu)
