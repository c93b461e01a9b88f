"""Samples held out from training, or divided into folds, by their content.

Copies of a sample stay together, and the draw depends neither on the order of the rows nor on
whether copies are given as weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from orfeon.data.schema import Schema
from orfeon.data.training_set import hash_rows
from orfeon.utils.types import Integers


def set_aside(
    X: Any,
    y: npt.NDArray[Any],
    weights: npt.NDArray[np.float64],
    share: float,
    rng: np.random.Generator,
    *,
    by_class: bool,
) -> npt.NDArray[np.bool_]:
    """Choose samples at random, by their content; copies of a sample stay together."""
    codes = np.unique(y, return_inverse=True)[1]
    turns = _draw_turns(hash_samples(X, codes), codes, weights, rng, by_class)
    taken = np.zeros(len(turns.weight), dtype=bool)
    ends = np.flatnonzero(np.diff(turns.stratum[turns.order])) + 1
    for mine in np.split(turns.order, ends):
        middle = np.cumsum(turns.weight[mine]) - turns.weight[mine] / 2
        taken[mine[:-1]] = (middle <= share * turns.weight[mine].sum())[:-1]
    return np.asarray(taken[turns.copy])


def deal_folds(
    hashes: npt.NDArray[np.uint64],
    codes: npt.NDArray[Any],
    weights: npt.NDArray[np.float64],
    n_folds: int,
    rng: np.random.Generator,
    *,
    by_class: bool,
) -> Integers:
    """Random folds of about equal weight; copies of a sample share a fold."""
    turns = _draw_turns(hashes, codes, weights, rng, by_class)
    n_different, weight = len(turns.weight), turns.weight[turns.order]
    middle = np.cumsum(weight) - weight / 2
    place = np.floor(middle * (n_different / turns.weight.sum())).astype(np.int64)
    if (place % n_folds == place[0] % n_folds).all():  # one sample outweighs all others
        place = np.arange(n_different)
    fold = np.empty(n_different, np.int64)
    fold[turns.order] = place % n_folds
    return np.asarray(fold[turns.copy])


class _Turns(NamedTuple):
    """The different samples in a random order, one class after the other."""

    copy: Integers
    weight: npt.NDArray[np.float64]
    stratum: npt.NDArray[Any]
    order: Integers


def _draw_turns(
    hashes: npt.NDArray[np.uint64],
    codes: npt.NDArray[Any],
    weights: npt.NDArray[np.float64],
    rng: np.random.Generator,
    by_class: bool,
) -> _Turns:
    different, first, copy = np.unique(hashes, return_index=True, return_inverse=True)
    stratum = codes[first] if by_class else np.zeros(len(different), np.int64)
    order = np.lexsort((rng.random(len(different)), stratum))
    weight = np.asarray(np.bincount(copy, weights=weights), dtype=np.float64)
    return _Turns(copy, weight, stratum, order)


def hash_samples(X: Any, codes: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """A hash of the values and the target of each sample."""
    if not issparse(X):
        return hash_rows(Schema.learn_and_encode(X)[1], codes)
    rows = X.tocsr()
    if not rows.has_canonical_format:  # values that are stored twice are added
        rows = rows.copy()
        rows.sum_duplicates()
    return hash_rows(rows, codes)
