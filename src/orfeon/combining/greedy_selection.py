"""Ensemble selection: a weighted mean of models, put together greedily by unseen predictions.

Start with the best model. Then, round by round, add the model with which the mean of all taken so
far has the lowest loss. A model may be taken again, so the counts are weights; of all rounds the
best one is kept. The search is repeated among random halves of the models, because with many models
the best of a single search owes something to chance.

This is ordered aggregation of whole models, with replacement, by predictions of samples that the
models have not seen.

References
----------
Caruana, Niculescu-Mizil, Crew and Ksikes (2004). Ensemble selection from libraries of models.
International Conference on Machine Learning, 137-144.
Caruana, Munson and Niculescu-Mizil (2006). Getting the most out of ensemble selection.
International Conference on Data Mining, 828-833.
Guo, Pleiss, Sun and Weinberger (2017). On calibration of modern neural networks. International
Conference on Machine Learning, 1321-1330.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from orfeon.utils.types import Floats, Integers

Loss = Literal["log_loss", "error", "brier", "squared_error", "absolute_error"]
#: Losses of classifiers and of regressors, the default first.
CLASS_LOSSES: tuple[Loss, ...] = ("log_loss", "error", "brier")
TARGET_LOSSES: tuple[Loss, ...] = ("squared_error", "absolute_error")

#: Probabilities are not taken to be smaller than this.
_LEAST = 1e-6
#: Limits of the logarithm of a power, and the standard deviation of its prior.
_POWERS, _PRIOR = (-1.0, 1.5), 0.2
#: Predictions that are compared at once.
_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class GreedySelection:
    """How often each model was taken, and its share of the mean."""

    counts: Integers

    @property
    def weights(self) -> Floats:
        return np.asarray(self.counts / self.counts.sum())


def select_greedily(
    answers: Floats,
    y: Floats | Integers,
    weights: Floats | None = None,
    *,
    loss: Loss,
    n_rounds: int = 50,
    n_bags: int = 10,
    least_share: float = 0.0,
    rng: np.random.Generator | None = None,
) -> GreedySelection:
    """Weight models by their predictions of unseen samples.

    ``answers`` are class probabilities or targets, of shape (n_models, n_samples, n_outputs), and
    ``y`` class codes or targets. Models with less than ``least_share`` of the mean are left out.
    """
    n_models = len(answers)
    weights = np.ones(len(y)) if weights is None else weights
    there = np.flatnonzero(weights > 0)
    if len(there) < len(weights):
        answers, y, weights = answers[:, there], y[there], weights[there]
    scored = _SCORES[loss](answers, y, weights / weights.sum())
    alone = scored(np.zeros(n_models), np.arange(n_models))
    first = _least(alone)
    rng = np.random.default_rng(0) if rng is None else rng
    counts = np.zeros(n_models, dtype=np.int64)
    for _ in range(n_bags):
        among = np.arange(n_models)
        if n_bags > 1:
            drawn = rng.permutation(n_models)[: -(-n_models // 2)]
            # The best model is in every bag, so that no bag has poor ones only.
            among = np.union1d(drawn, [first])
        counts += _one_bag(scored, among, first, n_rounds, n_models)
    counts[counts < least_share * counts.sum()] = 0
    return GreedySelection(counts)


def powered(shares: Floats, power: float) -> Floats:
    """Probabilities raised to a power, and divided by their sum."""
    if power == 1.0:
        return shares
    raised = shares**power
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def best_power(shares: Floats, y: Integers, weights: Floats) -> float:
    """The power of a mean's probabilities with the lowest log loss.

    A mean of models that are each sure of the same class is less sure than it should be, so the
    power is mostly above 1 (the inverse of the temperature of Guo and others 2017). With few
    samples it stays near 1: its logarithm has a normal prior.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    logs = np.log(np.maximum(shares, _LEAST))
    rows = np.arange(len(y))

    def loss(logarithm: float) -> float:
        scores = np.exp(logarithm) * logs
        lost = logsumexp(scores, axis=1) - scores[rows, y]
        return float((weights * lost).sum() + 0.5 * (logarithm / _PRIOR) ** 2)

    found = minimize_scalar(loss, bounds=_POWERS, method="bounded", options={"xatol": 1e-4})
    return round(float(np.exp(found.x)), 3)


#: From how often each model is taken so far, and the models to add, to the loss with each of them
#: added: a row, or two of which the second decides among equals.
Scored = Callable[[Floats, Integers], Floats]


def _one_bag(scored: Scored, among: Integers, first: int, n_rounds: int, n_models: int) -> Integers:
    """Counts after the best round of one greedy search."""
    counts = np.zeros(n_models)
    counts[first] = 1
    best, least = counts.copy(), scored(np.zeros(n_models), np.array([first]))[:, 0]
    for _ in range(1, n_rounds):
        found = scored(counts, among)
        taken = _least(found)
        counts[among[taken]] += 1
        if tuple(found[:, taken]) < tuple(least):
            best, least = counts.copy(), found[:, taken]
    # Each bag has the same say, however many rounds were its best.
    common = n_rounds * best / best.sum()
    return np.asarray(np.rint(common), dtype=np.int64)


def _least(scores: Floats) -> int:
    """The model with the lowest loss, the first of those tied."""
    return int(np.lexsort(scores[::-1])[0])


def _by_products(residuals: Floats, shares: Floats) -> Scored:
    """Mean squared error of a mean of models, from the products of their residuals."""
    products = np.einsum("snk,tnk,n->st", residuals, residuals, shares, optimize=True)

    def scored(counts: Floats, models: Integers) -> Floats:
        whole = counts @ products @ counts
        added = whole + 2.0 * (counts @ products)[models] + np.diag(products)[models]
        return np.asarray(added / (counts.sum() + 1.0) ** 2)[None]

    return scored


def _squared_error(answers: Floats, y: Floats | Integers, shares: Floats) -> Scored:
    return _by_products(answers - np.asarray(y, dtype=np.float64)[:, None], shares)


def _brier(answers: Floats, y: Floats | Integers, shares: Floats) -> Scored:
    return _by_products(answers - np.eye(answers.shape[2])[y], shares)


def _by_rows(
    answers: Floats, of_means: Callable[[Floats, slice], Floats], n_scores: int = 1
) -> Scored:
    """A loss that is a sum over rows, which are read in blocks."""
    n_models, n_rows = answers.shape[:2]
    width = max(1, _AT_ONCE // max(1, n_models * answers[0, 0].size))

    def scored(counts: Floats, models: Integers) -> Floats:
        total = np.zeros((n_scores, len(models)))
        for begin in range(0, n_rows, width):
            span = slice(begin, begin + width)
            taken = np.tensordot(counts, answers[:, span], axes=1)
            total += of_means((taken + answers[models, span]) / (counts.sum() + 1.0), span)
        return total

    return scored


def _log_loss(answers: Floats, y: Floats | Integers, shares: Floats) -> Scored:
    true = np.ascontiguousarray(answers[:, np.arange(len(y)), y])
    return _by_rows(
        true, lambda means, span: -(np.log(np.maximum(means, _LEAST)) @ shares[span])[None]
    )


def _absolute_error(answers: Floats, y: Floats | Integers, shares: Floats) -> Scored:
    flat = np.ascontiguousarray(answers[:, :, 0])
    return _by_rows(flat, lambda means, span: (np.abs(means - y[span]) @ shares[span])[None])


def _error(answers: Floats, y: Floats | Integers, shares: Floats) -> Scored:
    """Errors; of equally many, the one with the smaller Brier score is less sure of them."""
    codes = np.asarray(y, dtype=np.int64)

    def of_means(means: Floats, span: slice) -> Floats:
        wrong = means.argmax(axis=2) != codes[span]
        own = np.take_along_axis(means, codes[None, span, None], axis=2)[:, :, 0]
        brier = (means**2).sum(axis=2) - 2.0 * own + 1.0
        return np.stack([wrong @ shares[span], brier @ shares[span]])

    return _by_rows(answers, of_means, n_scores=2)


_SCORES: dict[str, Callable[[Floats, Floats | Integers, Floats], Scored]] = {
    "log_loss": _log_loss,
    "error": _error,
    "brier": _brier,
    "squared_error": _squared_error,
    "absolute_error": _absolute_error,
}
