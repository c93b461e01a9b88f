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

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orfeon.combining.competence import Known, Regions, local_accuracy, or_all
from orfeon.utils.types import Floats, Integers

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
) -> Floats:
    """The meta-features of rows and members, of shape (n_rows, n_members, n_features)."""
    parts = [
        *_by_rank(regions, known.right, n_neighbors),
        *_by_rank(regions, true_supports, n_neighbors),
        local_accuracy(regions, known),
        *_by_rank(profiles, known.right, N_PROFILES),
        confidence,
    ]
    return np.stack(parts, axis=2)


def _by_rank(regions: Regions, values: Floats, n_ranks: int) -> list[Floats]:
    """Values at the nearest sample, the next, and so on; averages where several are as near."""
    rows, n_levels = regions.rows, int(regions.levels.max(initial=0)) + 1
    weight = np.zeros((regions.weights.shape[0], n_levels))
    np.add.at(weight, (rows, regions.levels), regions.weights.data)
    reached = np.cumsum(weight, axis=1)
    found = []
    for rank in range(1, n_ranks + 1):
        enough = reached >= np.minimum(rank, reached[:, -1:]) * (1 - 1e-10)
        level = enough.argmax(axis=1)
        sums = regions.within(regions.levels == level[rows]).sums(values)
        found.append(sums / weight[np.arange(len(weight)), level][:, None])
    return found


def profile_regions(
    votes: Integers, known: Known, weights: Floats, own: Integers | None
) -> Regions:
    """For each row the selection samples on which the members vote most as they do on the row."""
    alike = np.zeros((len(votes), len(known.y)), dtype=np.float32)
    for label in range(known.n_classes):
        given = (votes == label).astype(np.float32)
        alike += given @ (known.votes == label).astype(np.float32).T
    if own is not None:
        alike[np.arange(len(votes)), own] = -1.0
    order = np.argsort(-alike, axis=1, kind="stable")
    ranked = np.take_along_axis(alike, order, axis=1)
    level = np.zeros(order.shape, dtype=np.int64)
    level[:, 1:] = np.cumsum(ranked[:, 1:] < ranked[:, :-1], axis=1)
    reached = np.cumsum(weights[order] * (ranked >= 0), axis=1)
    last = (reached >= np.minimum(N_PROFILES, reached[:, -1:]) * (1 - 1e-10)).argmax(axis=1)
    belongs = (level <= level[np.arange(len(level)), last][:, None]) & (ranked >= 0)
    samples = order[belongs]
    ends = np.concatenate([[0], np.cumsum(belongs.sum(axis=1))])
    return Regions(csr_array((weights[samples], samples, ends), shape=alike.shape), level[belongs])


def meta_samples(known: Known, random: np.random.Generator) -> Integers:
    """The selection samples to learn from."""
    counts = np.stack([(known.votes == label).sum(axis=1) for label in range(known.n_classes)])
    agree = counts.max(axis=0) / np.maximum(known.judged.sum(axis=1), 1)
    rows = np.flatnonzero(agree <= _CONSENSUS)
    if not len(rows):  # the members agree: learn from all samples
        rows = np.arange(len(known.y))
    most = max(1, _MOST_PAIRS // known.votes.shape[1])
    return rows if len(rows) <= most else np.sort(random.choice(rows, most, replace=False))


def meta_weights(meta_estimator: Any, features: Floats) -> Floats:
    """Votes of the members that the meta-classifier takes for competent, as far as it does."""
    n_rows, n_members, n_features = features.shape
    flat = features.reshape(-1, n_features)
    classes = list(meta_estimator.classes_)
    right = np.zeros(len(flat))
    if 1 in classes:
        right = meta_estimator.predict_proba(flat)[:, classes.index(1)]
    trust = right.reshape(n_rows, n_members)
    return or_all(np.where(trust > _THRESHOLD, trust, 0.0))
