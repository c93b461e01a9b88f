"""Diversity of members, pair by pair: Q statistic, correlation, disagreement, double fault.

Of two members and N samples, N11 are those that both classify correctly, N00 those that neither
does, N10 and N01 those that only the first or only the second does. Each measure of a pair comes
from these four numbers; that of an ensemble is its mean over the L (L - 1) / 2 pairs. Where members
do not vote on all samples, a pair is measured on those on which both vote.

References
----------
Kuncheva and Whitaker (2003). Measures of diversity in classifier ensembles and their relationship
with the ensemble accuracy. Machine Learning 51, 181-207.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.inspection.documentation import documented
from orfeon.inspection.reading import read_class_votes
from orfeon.members.vote_input import On
from orfeon.members.votes import EXACT_IN_SINGLE, Selection
from orfeon.ordering.kappa import pairwise_kappa
from orfeon.utils.types import Floats

#: Samples multiplied at once: more would cost memory and save no time.
_SAMPLES = 4096


@dataclass(frozen=True, eq=False)
class PairwiseDiversity:
    """How often each pair of members is right and wrong together, and the measures of it.

    Entry (i, k) of each matrix is about members i and k, on the samples on which both vote.
    A measure with denominator 0 is NaN.

    Parameters
    ----------
    both_right : ndarray of shape (n_members, n_members)
        N11: weight of the samples that both classify correctly. Sample weights are counted in
        steps, so these are whole numbers; without sample weights, numbers of samples.
    first_right : ndarray of shape (n_members, n_members)
        N10: only i is right. N01 is its transpose.
    both_wrong : ndarray of shape (n_members, n_members)
        N00: neither is right.
    selection : Selection
        The votes.

    See Also
    --------
    pairwise_diversity : Computes it.

    Examples
    --------
    >>> from orfeon.inspection import pairwise_diversity
    >>> pairs = pairwise_diversity([[0, 0, 1, 1], [0, 1, 1, 0]], y=[0, 0, 1, 0])
    >>> pairs.both_right
    array([[3., 2.],
           [2., 3.]])
    >>> pairs.disagreement
    array([[0. , 0.5],
           [0.5, 0. ]])
    """

    both_right: Floats
    first_right: Floats
    both_wrong: Floats
    selection: Selection = field(repr=False)

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.both_right)

    @property
    def together(self) -> Floats:
        """N: weight of the samples on which both vote."""
        return self.both_right + self.both_wrong + self._one_right

    @property
    def _one_right(self) -> Floats:
        """N10 + N01."""
        return np.asarray(self.first_right + self.first_right.T)

    @property
    def q_statistic(self) -> Floats:
        """(N11 N00 - N01 N10) / (N11 N00 + N01 N10): from -1 to 1, less is more diverse."""
        alike, unlike = self.both_right * self.both_wrong, self.first_right * self.first_right.T
        return _ratio(alike - unlike, alike + unlike)

    @property
    def correlation(self) -> Floats:
        """Correlation of being right: from -1 to 1, less is more diverse."""
        alike, unlike = self.both_right * self.both_wrong, self.first_right * self.first_right.T
        right, wrong = self.both_right + self.first_right, self.both_wrong + self.first_right.T
        spread = right * wrong
        # The root of a square is exact: members that always agree have exactly 1.
        return _ratio(alike - unlike, np.sqrt(spread * spread.T))

    @property
    def disagreement(self) -> Floats:
        """(N01 + N10) / N: from 0 to 1, more is more diverse."""
        return _ratio(self._one_right, self.together)

    @property
    def double_fault(self) -> Floats:
        """N00 / N: from 0 to 1, less is more diverse."""
        return _ratio(self.both_wrong, self.together)

    @property
    def error(self) -> Floats:
        """Mean of the two members' errors."""
        return _ratio(self.both_wrong + self._one_right / 2, self.together)

    @cached_property
    def kappa(self) -> Floats:
        """Agreement of the two members' votes beyond chance, by Margineantu and Dietterich (1997).

        All other measures see only right and wrong; this one sees the labels that they vote for. It
        is 1 for two members that always agree, NaN for two that never vote on the same sample.
        """
        kappa = pairwise_kappa(self.selection)
        if not self.selection.is_complete:
            kappa[self.together == 0] = np.nan
        return kappa

    def mean(self, measure: str) -> float:
        """Mean of a matrix, such as "q_statistic", over the pairs where it is defined."""
        values = pair_values(getattr(self, measure))
        values = values[~np.isnan(values)]
        return float(values.mean()) if len(values) else float("nan")


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient, NaN where the denominator is 0."""
    quotient = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=quotient, where=denominator != 0)
    return quotient


def pair_values(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Entries of a symmetric matrix, each pair once."""
    return np.asarray(matrix[np.triu(np.ones(matrix.shape, bool), 1)])


def read_votes(
    members_or_votes: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    on: On = "train",
    no_vote: Any = None,
) -> Selection:
    """Read the votes for classes of two or more members."""
    selection = read_class_votes(
        members_or_votes, X, y, sample_weight, what="measures of diversity", on=on, no_vote=no_vote
    ).selection
    if selection.n_members < 2:
        raise ValueError("members_or_votes has 1 member; diversity needs two or more.")
    return selection


def pairwise_diversity(
    members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any
) -> PairwiseDiversity:
    """How similar members are, pair by pair.

    Parameters
    ----------
    members_or_votes, X, y
        As for :func:`diversity`.
    **reading
        ``sample_weight``, ``on`` and ``no_vote``, as for :func:`diversity`.

    Returns
    -------
    PairwiseDiversity
        Matrices with one row and one column per member.

    Notes
    -----
    Counts come from matrix products and are exact. Time is that of the products, and memory that of
    the votes and of a few matrices with one entry per pair.

    Examples
    --------
    Three members that are each right on 6 of 10 samples, never all three together:

    >>> import numpy as np
    >>> from orfeon.inspection import pairwise_diversity
    >>> right = np.repeat([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0]], [3, 3, 3, 1], axis=1)
    >>> pairs = pairwise_diversity(right, y=np.ones(10, int))
    >>> pairs.q_statistic
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    >>> round(pairs.mean("double_fault"), 3), round(pairs.mean("error"), 3)
    (0.1, 0.4)
    """
    if isinstance(members_or_votes, PairwiseDiversity):
        return members_or_votes
    return pairs_of(read_votes(members_or_votes, X, y, **reading))


def pairs_of(selection: Selection) -> PairwiseDiversity:
    both_right, first_right, both_wrong = np.zeros((3, selection.n_members, selection.n_members))
    n_right = np.zeros(selection.n_members)
    for first in range(0, selection.n_samples, _SAMPLES):
        chunk = selection.samples(slice(first, first + _SAMPLES))
        # Sums of a chunk are whole numbers that single precision holds, unless weights are large.
        dtype = np.float32 if chunk.total_weight < EXACT_IN_SINGLE else np.float64
        weights = None if (chunk.weights == 1).all() else chunk.weights.astype(dtype)
        right: Any = chunk.right.astype(dtype)
        weighted = right if weights is None else right * weights
        both_right += weighted @ right.T
        if selection.is_complete:
            n_right += weighted.sum(axis=1, dtype=np.float64)
        else:
            wrong: Any = (chunk.answered & ~chunk.right).astype(dtype)
            first_right += weighted @ wrong.T
            both_wrong += (wrong if weights is None else wrong * weights) @ wrong.T
    if selection.is_complete:  # then one product is enough
        np.subtract(n_right[:, np.newaxis], both_right, out=first_right)
        np.subtract(selection.total_weight - n_right, first_right, out=both_wrong)
    return PairwiseDiversity(both_right, first_right, both_wrong, selection)


@documented(counts="pairwise_diversity")
def q_statistic(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Yule's Q statistic, the mean over pairs. Less is more diverse.

    Of a pair, Q = (N11 N00 - N01 N10) / (N11 N00 + N01 N10), from -1 to 1: positive if the two tend
    to be right on the same samples, 0 if they are independent.

    Parameters
    ----------
    <measure>

    Examples
    --------
    >>> from orfeon.inspection import q_statistic
    >>> q_statistic([[1, 1, 1, 0, 0], [1, 1, 0, 1, 0]], y=[1, 1, 1, 1, 1])
    0.333...
    """
    return pairwise_diversity(members_or_votes, X, y, **reading).mean("q_statistic")


@documented(counts="pairwise_diversity")
def correlation(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Correlation of being right, the mean over pairs. Less is more diverse.

    Of a pair, rho = (N11 N00 - N01 N10) / sqrt((N11 + N10) (N01 + N00) (N11 + N01) (N10 + N00)),
    from -1 to 1. It has the sign of Q and is never further from 0. Members that are always right,
    or always wrong, have none.

    Parameters
    ----------
    <measure>

    Examples
    --------
    >>> from orfeon.inspection import correlation
    >>> correlation([[1, 1, 1, 0, 0], [1, 1, 0, 1, 0]], y=[1, 1, 1, 1, 1])
    0.166...
    """
    return pairwise_diversity(members_or_votes, X, y, **reading).mean("correlation")


@documented(counts="pairwise_diversity")
def disagreement(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Mean share of samples on which one of two is right. More is more diverse.

    Of a pair, (N01 + N10) / N, from 0 to 1. Two wrong votes count as equal, even for
    different classes.

    Parameters
    ----------
    <measure>

    Examples
    --------
    >>> from orfeon.inspection import disagreement
    >>> disagreement([[1, 1, 1, 0, 0], [1, 1, 0, 1, 0]], y=[1, 1, 1, 1, 1])
    0.4
    """
    return pairwise_diversity(members_or_votes, X, y, **reading).mean("disagreement")


@documented(counts="pairwise_diversity")
def double_fault(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Mean share of samples on which two are both wrong. Less is more diverse.

    Of a pair, N00 / N, from 0 to 1.

    Parameters
    ----------
    <measure>

    Examples
    --------
    >>> from orfeon.inspection import double_fault
    >>> double_fault([[1, 1, 1, 0, 0], [1, 1, 0, 1, 0]], y=[1, 1, 1, 1, 1])
    0.2
    """
    return pairwise_diversity(members_or_votes, X, y, **reading).mean("double_fault")
