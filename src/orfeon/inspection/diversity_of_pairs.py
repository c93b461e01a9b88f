"""How alike the members are, two by two: Q statistic, correlation, disagreement, double fault.

Of two members and N samples, N11 are those that both classify rightly, N00 those that neither
does, N10 and N01 those that the first alone or the second alone does. Each measure of a pair comes
from these four, and that of an ensemble is its mean over the L (L - 1) / 2 pairs.

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

from orfeon.inspection._reading import read_class_votes
from orfeon.members.votes import EXACT_IN_SINGLE, On, Selection
from orfeon.ordering.kappa import pairwise_kappa
from orfeon.utils.types import Floats

#: Samples multiplied at once: more would cost memory, and gain no time.
_SAMPLES = 4096


@dataclass(frozen=True, eq=False)
class PairwiseDiversity:
    """Who is right and wrong together, for each pair of members, and the measures of it.

    Entry (i, k) of each matrix is about members i and k, on the samples on which both vote.
    A measure whose denominator is 0 is NaN.

    Parameters
    ----------
    both_right : ndarray of shape (n_members, n_members)
        N11: weight of the samples that both classify rightly. Sample weights are counted in
        steps, so that these are whole numbers; without sample weights, numbers of samples.
    first_right : ndarray of shape (n_members, n_members)
        N10: only i is right. N01 is its transpose.
    both_wrong : ndarray of shape (n_members, n_members)
        N00: neither is right.
    selection : Selection
        What the members say.

    See Also
    --------
    pairwise_diversity : Makes one.

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
        # The root of a square is exact, so that members that always agree have 1 to the last bit.
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
        """Agreement of the two members' votes beyond that of chance, whether they are right or not.

        It is that of Margineantu and Dietterich (1997): from the labels that they vote for, while
        all other measures see only right and wrong. 1 for two members that always agree, NaN for
        two that never vote on the same sample.
        """
        kappa = pairwise_kappa(self.selection)
        if not self.selection.is_complete:
            kappa[self.together == 0] = np.nan
        return kappa

    def mean(self, measure: str) -> float:
        """A measure of the whole ensemble: the mean over the pairs for which it is defined.

        Parameters
        ----------
        measure : str
            Name of the matrix, such as "q_statistic".

        Returns
        -------
        float
            Its mean; NaN where it is defined for no pair.
        """
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
    """Read the votes of two members or more for classes."""
    selection = read_class_votes(
        members_or_votes, X, y, sample_weight, what="measures of diversity", on=on, no_vote=no_vote
    ).selection
    if selection.n_members < 2:
        raise ValueError("members_or_votes has 1 member; diversity is of two or more.")
    return selection


def pairwise_diversity(
    members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any
) -> PairwiseDiversity:
    """How alike members are, two by two.

    Parameters
    ----------
    members_or_votes, X, y
        An ensemble with samples, or a matrix of votes without; see
        :func:`orfeon.inspection.diversity`.
    **reading
        ``sample_weight``, ``on`` and ``no_vote``, as there.

    Returns
    -------
    PairwiseDiversity
        Matrices with a row and a column for each member.

    Notes
    -----
    Counts come from products of matrices, and are exact. Time is that of the products, and memory
    that of the votes and of a few matrices with an entry for each pair.

    Examples
    --------
    Three members that are right on 6 of 10 samples each, never all three of them:

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
    """Count who is right and wrong together."""
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
    if selection.is_complete:  # then one product tells all
        np.subtract(n_right[:, np.newaxis], both_right, out=first_right)
        np.subtract(selection.total_weight - n_right, first_right, out=both_wrong)
    return PairwiseDiversity(both_right, first_right, both_wrong, selection)


def q_statistic(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Yule's Q statistic, the mean over the pairs. Less is more diverse.

    Of a pair, Q = (N11 N00 - N01 N10) / (N11 N00 + N01 N10), from -1 to 1: positive where the two
    tend to be right on the same samples, 0 where they are independent.

    Parameters
    ----------
    members_or_votes, X, y
        An ensemble with samples, or a matrix of votes without; see
        :func:`orfeon.inspection.diversity`. Or a :class:`PairwiseDiversity` alone.
    **reading
        ``sample_weight``, ``on`` and ``no_vote``, as there.

    Returns
    -------
    float
        The mean over the pairs with a denominator that is not 0; NaN if there is none.

    Examples
    --------
    >>> from orfeon.inspection import q_statistic
    >>> q_statistic([[1, 1, 1, 0, 0], [1, 1, 0, 1, 0]], y=[1, 1, 1, 1, 1])
    0.333...
    """
    return pairwise_diversity(members_or_votes, X, y, **reading).mean("q_statistic")


def correlation(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Correlation of being right, the mean over the pairs. Less is more diverse.

    Of a pair, rho = (N11 N00 - N01 N10) / sqrt((N11 + N10) (N01 + N00) (N11 + N01) (N10 + N00)),
    from -1 to 1. It has the sign of Q, and is never further from 0.

    Parameters
    ----------
    members_or_votes, X, y
        As for :func:`q_statistic`.
    **reading
        ``sample_weight``, ``on`` and ``no_vote``, as there.

    Returns
    -------
    float
        The mean over the pairs with a denominator that is not 0: members that are always right, or
        always wrong, have no correlation. NaN if there is none.

    Examples
    --------
    >>> from orfeon.inspection import correlation
    >>> correlation([[1, 1, 1, 0, 0], [1, 1, 0, 1, 0]], y=[1, 1, 1, 1, 1])
    0.166...
    """
    return pairwise_diversity(members_or_votes, X, y, **reading).mean("correlation")


def disagreement(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Share of samples on which one of two is right, averaged. More is more diverse.

    Of a pair, (N01 + N10) / N, from 0 to 1.

    Parameters
    ----------
    members_or_votes, X, y
        As for :func:`q_statistic`.
    **reading
        ``sample_weight``, ``on`` and ``no_vote``, as there.

    Returns
    -------
    float
        The mean over the pairs that vote on a common sample.

    Notes
    -----
    Two wrong votes are alike here, even for different classes.

    Examples
    --------
    >>> from orfeon.inspection import disagreement
    >>> disagreement([[1, 1, 1, 0, 0], [1, 1, 0, 1, 0]], y=[1, 1, 1, 1, 1])
    0.4
    """
    return pairwise_diversity(members_or_votes, X, y, **reading).mean("disagreement")


def double_fault(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Share of samples on which both are wrong, averaged. Less is more diverse.

    Of a pair, N00 / N, from 0 to 1.

    Parameters
    ----------
    members_or_votes, X, y
        As for :func:`q_statistic`.
    **reading
        ``sample_weight``, ``on`` and ``no_vote``, as there.

    Returns
    -------
    float
        The mean over the pairs that vote on a common sample.

    Examples
    --------
    >>> from orfeon.inspection import double_fault
    >>> double_fault([[1, 1, 1, 0, 0], [1, 1, 0, 1, 0]], y=[1, 1, 1, 1, 1])
    0.2
    """
    return pairwise_diversity(members_or_votes, X, y, **reading).mean("double_fault")
