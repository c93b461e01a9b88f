"""Gradient-based one-side sampling: a round sees all samples of large gradient, and some others.

The others are drawn at random, and weighted up to stand for all that are not seen.

References
----------
Ke, Meng, Finley, Wang, Chen, Ma, Ye and Liu (2017). LightGBM: a highly efficient gradient boosting
decision tree. Advances in Neural Information Processing Systems 30, 3146-3154.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orfeon.utils.types import Floats


class OneSide(NamedTuple):
    """Shares of the samples: those with the largest gradients, and those drawn from the others."""

    top_rate: float
    other_rate: float


def one_side_weights(
    gradients: Floats,
    weights: Floats,
    copies: Floats | None,
    rates: OneSide,
    rng: np.random.Generator,
) -> Floats:
    """Weights of a round; 0 leaves a sample out.

    Samples count by their copies, so that copies and weights of samples are the same.
    """
    size = np.abs(gradients).sum(axis=0)
    counts = np.ones(len(weights), np.int64) if copies is None else copies.astype(np.int64)
    counts[weights == 0] = 0
    n_samples = int(counts.sum())
    n_top = min(max(1, int(rates.top_rate * n_samples)), n_samples)
    order = np.argsort(-size, kind="stable")
    before = np.cumsum(counts[order]) - counts[order]
    kept = np.zeros(len(weights), np.int64)
    kept[order] = np.clip(n_top - before, 0, counts[order])
    others = counts - kept
    n_others = int(others.sum())
    n_drawn = min(max(1, int(rates.other_rate * n_samples)), n_others)
    if n_drawn == 0:
        return weights
    drawn = _draw(others, n_drawn, rng)
    share = kept + drawn * (n_others / n_drawn)
    return np.asarray(
        weights * np.divide(share, counts, out=np.zeros(len(share)), where=counts > 0)
    )


def _draw(
    counts: np.ndarray[tuple[int], np.dtype[np.int64]], n: int, rng: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many of each sample are drawn without replacement."""
    if counts.max() > 1:
        return rng.multivariate_hypergeometric(counts, n)
    drawn = np.zeros(len(counts), np.int64)
    drawn[rng.choice(np.flatnonzero(counts), n, replace=False, shuffle=False)] = 1
    return drawn
