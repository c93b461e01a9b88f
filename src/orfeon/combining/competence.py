"""Rules of dynamic selection: how much the vote of each member counts, row by row.

Each rule looks at the region of a row: the selection samples nearest to it, on which it is known
who is right. A region holds whole levels of equally near samples, so neither the order of the
samples nor copies in place of weights change it.

References
----------
Woods, Kegelmeyer and Bowyer (1997). Combination of multiple classifiers using local accuracy
estimates. IEEE Transactions on Pattern Analysis and Machine Intelligence 19(4), 405-410.
Giacinto and Roli (2001). Dynamic classifier selection based on multiple classifier behaviour.
Pattern Recognition 34(9), 1879-1881.
Ko, Sabourin and Britto (2008). From dynamic classifier selection to dynamic ensemble selection.
Pattern Recognition 41(5), 1718-1731.
Woloszynski, Kurzynski, Podsiadlo and Stachowiak (2012). A measure of competence based on random
classification for dynamic ensemble selection. Information Fusion 13(3), 207-213.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from orfeon.utils.types import Floats, Integers, Mask

#: Members this much behind the best local accuracy still vote with it in multiple classifier
#: behaviour, and neighbours must share this much of the query's votes (Giacinto and Roli 2001).
_LEAD, _SIMILARITY = 0.1, 0.7


@dataclass(frozen=True)
class Known:
    """Votes of members on the selection samples, whose classes are known."""

    votes: Integers
    """Class codes of shape (n_samples, n_members); -1 where a member must not be judged."""
    y: Integers
    n_classes: int

    @cached_property
    def is_right(self) -> Mask:
        """Whether a member is right, of shape (n_samples, n_members)."""
        return np.asarray(self.votes == self.y[:, None])

    @cached_property
    def right(self) -> Floats:
        """1 where a member is right."""
        return np.asarray(self.is_right, dtype=np.float64)

    @cached_property
    def judged(self) -> Floats:
        """1 where a member votes."""
        return np.asarray(self.votes >= 0, dtype=np.float64)

    @cached_property
    def words(self) -> npt.NDArray[np.uint64]:
        """The votes as words of bits."""
        return vote_words(self.votes, self.n_classes)


def vote_words(votes: Integers, n_classes: int) -> npt.NDArray[np.uint64]:
    """Votes as words of 64 bits: one bit for each class and member, set where it votes so."""
    chosen = votes[:, None, :] == np.arange(n_classes)[:, None]
    packed = np.packbits(chosen.reshape(len(votes), -1), axis=1)
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64)


@dataclass(frozen=True)
class Regions:
    """The regions of some rows: weights of selection samples, and their levels of distance."""

    weights: csr_array
    """Of shape (n_rows, n_samples)."""
    levels: Integers
    """0 for the nearest samples of each row, 1 for the next, and so on; beside ``weights.data``."""

    def sums(self, values: Floats) -> Floats:
        """Weighted sums over each region, of shape (n_rows, n_members)."""
        return np.asarray(self.weights @ values)

    def within(self, kept: Mask) -> Regions:
        """The regions with some of their samples only."""
        ends = np.concatenate([[0], np.cumsum(kept)])[self.weights.indptr]
        weights = csr_array(
            (self.weights.data[kept], self.weights.indices[kept], ends), shape=self.weights.shape
        )
        return Regions(weights, self.levels[kept])

    @property
    def rows(self) -> Integers:
        """The row that each entry belongs to."""
        return np.repeat(np.arange(self.weights.shape[0]), np.diff(self.weights.indptr))


def local_accuracy(regions: Regions, known: Known) -> Floats:
    """Share of each region on which each member is right; -1 where nothing is known."""
    total = regions.sums(known.judged)
    return np.asarray(
        np.divide(regions.sums(known.right), total, out=np.full_like(total, -1.0), where=total > 0)
    )


def _best(competence: Floats, lead: float = 0.0) -> Floats:
    """Equal votes of the members whose competence is within a lead of the best."""
    best = competence.max(axis=1, keepdims=True)
    return np.asarray(competence >= best - lead - 1e-12, dtype=np.float64)


def or_all(weights: Floats) -> Floats:
    """Where no member is chosen, all are."""
    weights[weights.sum(axis=1) == 0] = 1.0
    return weights


def overall_local_accuracy(regions: Regions, known: Known, votes: Integers) -> Floats:
    """OLA: the most accurate members of the region decide."""
    return _best(local_accuracy(regions, known))


def local_class_accuracy(regions: Regions, known: Known, votes: Integers) -> Floats:
    """LCA: the most accurate where they give the class that they give the row."""
    competence = np.zeros(votes.shape)
    for label in range(known.n_classes):
        given = known.votes == label
        total = regions.sums(given.astype(np.float64))
        share = np.divide(regions.sums(known.right * given), total, where=total > 0, out=total)
        np.copyto(competence, share, where=votes == label)
    return _best(competence)


def multiple_classifier_behaviour(regions: Regions, known: Known, votes: Integers) -> Floats:
    """MCB: local accuracy among the neighbours on which the members vote as they do on the row."""
    rows, samples = regions.rows, regions.weights.indices
    similar = np.empty(len(rows))
    for first in range(0, len(rows), 4096):
        some = slice(first, first + 4096)
        same = (votes[rows[some]] == known.votes[samples[some]]).sum(axis=1)
        similar[some] = same / np.maximum(known.judged[samples[some]].sum(axis=1), 1)
    kept = similar > _SIMILARITY
    none = np.bincount(rows, kept, minlength=len(votes)) == 0
    return _best(local_accuracy(regions.within(kept | none[rows]), known), _LEAD)


def knora_eliminate(regions: Regions, known: Known, votes: Integers) -> Floats:
    """KNORA-E: members that are right on all of the region, made smaller until there are some."""
    weights = np.zeros(votes.shape)
    wrong = known.judged - known.right
    for level in range(int(regions.levels.max(initial=0)) + 1):
        nearer = regions.within(regions.levels <= level)
        perfect = (nearer.sums(wrong) == 0) & (nearer.sums(known.judged) > 0)
        found = perfect.any(axis=1)
        weights[found] = perfect[found]
    return or_all(weights)


def knora_union(regions: Regions, known: Known, votes: Integers) -> Floats:
    """KNORA-U: a member has a vote for each sample of the region on which it is right."""
    return or_all(regions.sums(known.right))


def better_than_chance(regions: Regions, known: Known, votes: Integers) -> Floats:
    """DES-P: the members that are more accurate in the region than a guess."""
    chosen = local_accuracy(regions, known) > 1.0 / known.n_classes
    return or_all(chosen.astype(np.float64))


Competence = Callable[[Regions, Known, Integers], Floats]

SELECTION_RULES: dict[str, Competence] = {
    "ola": overall_local_accuracy,
    "lca": local_class_accuracy,
    "mcb": multiple_classifier_behaviour,
    "knora_eliminate": knora_eliminate,
    "knora_union": knora_union,
    "des_p": better_than_chance,
}
