"""META-DES: a classifier learns which members are competent, from five kinds of meta-features.

A meta-sample is a pair of a selection sample and a member; its class is whether the member is
right. The meta-features of a pair are

1. whether the member is right on each neighbour of the row,
2. its support for the true class of each neighbour,
3. its local accuracy,
4. whether it is right on each sample that the members vote on most alike (the output profile),
5. its support for the class that it votes for.

Learning uses the samples whose members disagree, each with its own neighbours but without itself.

References
----------
Cruz, Sabourin, Cavalcanti and Ren (2015). META-DES: a dynamic ensemble selection framework using
meta-learning. Pattern Recognition 48(5), 1925-1935.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.naive_bayes import GaussianNB

from orfeon.combining.competence import Known, Regions, local_accuracy, or_all, vote_words
from orfeon.kernels.agreement import count_common_bits
from orfeon.utils.types import Floats, Integers, Mask

#: Samples of one profile, as in the publication.
N_PROFILES = 5
#: Meta-samples are those on which at most this share of the members agree.
_CONSENSUS = 0.7
#: Members vote that are more likely right than this.
_THRESHOLD = 0.5
#: Pairs of a sample and a member that the meta-classifier learns from, at most.
_MOST_PAIRS = 1 << 17


def meta_features(
    regions: Regions,
    profiles: Regions,
    known: Known,
    true_supports: Floats,
    confidence: Floats,
    n_neighbors: int,
) -> Iterator[Floats | Mask]:
    """The meta-features of rows and members, each of shape (n_rows, n_members)."""
    yield from _by_rank(regions, known.right, n_neighbors, known.is_right)
    yield from _by_rank(regions, true_supports, n_neighbors, true_supports)
    yield local_accuracy(regions, known)
    yield from _by_rank(profiles, known.right, N_PROFILES, known.is_right)
    yield confidence


def _by_rank(
    regions: Regions, values: Floats, n_ranks: int, same_values: Floats | Mask
) -> Iterator[Floats | Mask]:
    """Values at the nearest sample, the next, and so on; averages where several are as near.

    ``same_values`` are the values in a shorter form, for ranks without averages.
    """
    rows, n_levels = regions.rows, int(regions.levels.max(initial=0)) + 1
    weight = np.zeros((regions.weights.shape[0], n_levels))
    np.add.at(weight, (rows, regions.levels), regions.weights.data)
    reached = np.cumsum(weight, axis=1)
    for rank in range(1, n_ranks + 1):
        enough = reached >= np.minimum(rank, reached[:, -1:]) * (1 - 1e-10)
        level = enough.argmax(axis=1)
        at = regions.levels == level[rows]
        if at.sum() == len(weight) and (regions.weights.data[at] == 1.0).all():
            yield same_values[regions.weights.indices[at]]
            continue
        sums = regions.within(at).sums(values)
        sums /= weight[np.arange(len(weight)), level][:, None]
        yield sums


def profile_regions(
    votes: Integers, known: Known, weights: Floats, own: Integers | None
) -> Regions:
    """For each row the selection samples on which the members vote most as they do on the row."""
    alike = _agreements(votes, known)
    if own is not None:
        alike[np.arange(len(votes)), own] = -1
    # So many samples weigh enough, whichever they are.
    most = min(len(weights), math.ceil(N_PROFILES / weights.min()))
    least = np.partition(alike, len(weights) - most, axis=1)[:, len(weights) - most]
    rows, samples = np.nonzero(alike >= np.maximum(least, 0)[:, None])
    values = alike[rows, samples]
    order = np.lexsort((samples, -values, rows))
    rows, samples, values = rows[order], samples[order], values[order]
    weight = weights[samples]
    before = np.cumsum(weight) - weight
    is_row = np.diff(rows, prepend=-1) > 0
    is_level = is_row | (np.diff(values, prepend=0) != 0)
    level = np.cumsum(is_level)
    row, first = np.cumsum(is_row) - 1, np.flatnonzero(is_level)[level - 1]
    start = np.flatnonzero(is_row)[row]
    belongs = before[first] - before[start] < N_PROFILES * (1 - 1e-10)
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows[belongs], minlength=len(votes)))])
    entries = weight[belongs], samples[belongs], ends
    return Regions(csr_array(entries, shape=alike.shape), (level - level[start])[belongs])


def _agreements(votes: Integers, known: Known) -> npt.NDArray[np.int32]:
    """How many members vote alike, for each row and selection sample."""
    alike = np.empty((len(votes), len(known.votes)), dtype=np.int32)
    count_common_bits(vote_words(votes, known.n_classes), known.words, alike)
    return alike


def meta_samples(known: Known, random: np.random.Generator) -> Integers:
    """The selection samples to learn from."""
    counts = np.stack([(known.votes == label).sum(axis=1) for label in range(known.n_classes)])
    agree = counts.max(axis=0) / np.maximum(known.judged.sum(axis=1), 1)
    rows = np.flatnonzero(agree <= _CONSENSUS)
    if not len(rows):  # the members agree: learn from all samples
        rows = np.arange(len(known.y))
    most = max(1, _MOST_PAIRS // known.votes.shape[1])
    return rows if len(rows) <= most else np.sort(random.choice(rows, most, replace=False))


def meta_weights(meta_estimator: Any, features: Iterator[Floats | Mask]) -> Floats:
    """Votes of the members that the meta-classifier takes for competent, as far as it does."""
    trust = _probability_right(meta_estimator, features)
    return or_all(np.where(trust > _THRESHOLD, trust, 0.0))


def _probability_right(meta_estimator: Any, features: Iterator[Floats | Mask]) -> Floats:
    """The probability that each member is right on each row."""
    classes = list(meta_estimator.classes_)
    if type(meta_estimator) is GaussianNB and classes == [0, 1]:
        return np.asarray(expit(_log_odds(meta_estimator, features)))
    stacked = np.stack(list(features), axis=2)
    flat, right = stacked.reshape(-1, stacked.shape[2]), np.zeros(stacked[..., 0].size)
    if 1 in classes:
        right = meta_estimator.predict_proba(flat)[:, classes.index(1)]
    return np.asarray(right.reshape(stacked.shape[:2]), dtype=np.float64)


def _log_odds(naive_bayes: GaussianNB, features: Iterator[Floats | Mask]) -> Floats:
    """Log-odds of the second class: one square function per feature, without a table of them."""
    (mean, other_mean), (spread, other_spread) = naive_bayes.theta_, naive_bayes.var_
    squares = (1 / spread - 1 / other_spread) / 2
    slopes = other_mean / other_spread - mean / spread
    prior, other_prior = np.log(naive_bayes.class_prior_)
    constants = mean**2 / spread - other_mean**2 / other_spread + np.log(spread / other_spread)
    odds, term = np.empty(0), np.empty(0)
    for feature, square, slope in zip(features, squares, slopes, strict=True):
        if not odds.size:
            odds = np.full(feature.shape, other_prior - prior + constants.sum() / 2)
            term = np.empty(feature.shape)
        if feature.dtype == bool:
            np.multiply(feature, square + slope, out=term)
        else:
            np.multiply(feature, square, out=term)
            term += slope
            term *= feature
        odds += term
    return odds
