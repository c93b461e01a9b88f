"""How much the members' successes are spread: six measures of the ensemble as a whole.

All come from l(z), the number of the L members that classify a sample z rightly, and from the
distribution of it over the N samples.

Where members do not vote on all samples, such as out of bag, L is the number that vote on z, so
that it differs between samples. Each definition below is then a mean over samples in which L
stands for that of the sample, and is the published one where all members vote. Samples on which
fewer than two members vote say nothing of diversity, and are left out.

References
----------
Kuncheva and Whitaker (2003). Measures of diversity in classifier ensembles and their relationship
with the ensemble accuracy. Machine Learning 51, 181-207.

Fleiss and Cuzick (1979). The reliability of dichotomous judgments: unequal numbers of judges per
subject. Applied Psychological Measurement 3, 537-542. For the interrater kappa with missing votes.

Partridge and Krzanowski (1997). Software diversity: practical statistics for its measurement and
exploitation. Information and Software Technology 39, 707-717. For the generalised and the
coincident failure diversity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.inspection.diversity_of_pairs import read_votes
from orfeon.members.votes import Selection
from orfeon.utils.types import Integers


@dataclass(frozen=True, eq=False)
class RightVotes:
    """How many members vote and are right, over the samples on which two or more vote."""

    n_votes: Integers
    n_right: Integers
    weights: Integers

    def mean(self, values: npt.NDArray[Any]) -> float:
        """Mean over the samples."""
        if not len(self.weights):
            return float("nan")
        return float(self.weights.astype(np.float64) @ values / self.weights.sum())


def right_votes(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> RightVotes:
    """Count, for each sample, the members that vote and those that are right."""
    if isinstance(members_or_votes, RightVotes):
        return members_or_votes
    return tally(read_votes(members_or_votes, X, y, **reading))


def tally(selection: Selection) -> RightVotes:
    """Count, for each sample, the members that vote and those that are right."""
    n_right = selection.right.sum(axis=0, dtype=np.int64)
    n_votes = np.full_like(n_right, selection.n_members)
    if not selection.is_complete:
        n_votes = selection.answered.sum(axis=0, dtype=np.int64)
    counts = n_votes > 1
    base = selection.n_members + 1
    kinds, place = np.unique(n_votes[counts] * base + n_right[counts], return_inverse=True)
    weights = np.zeros(len(kinds), np.int64)
    np.add.at(weights, place, selection.weights[counts])
    return RightVotes(kinds // base, kinds % base, weights)


def entropy(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Entropy measure E. More is more diverse.

    The mean of min(l, L - l) / (L - ceil(L / 2)): from 0, where all members are right together or
    wrong together, to 1, where half of them, as near as can be, are right on each sample.

    Parameters
    ----------
    members_or_votes, X, y
        An ensemble with samples, or a matrix of votes without; see
        :func:`orfeon.inspection.diversity`. Or a :class:`RightVotes` alone.
    **reading
        ``sample_weight``, ``on`` and ``no_vote``, as there.

    Returns
    -------
    float
        The measure.

    Notes
    -----
    There is no logarithm in it: it is the measure that Kuncheva and Whitaker call so.

    Examples
    --------
    >>> from orfeon.inspection import entropy
    >>> entropy([[1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [1, 0, 1, 1, 0]], y=[1, 1, 1, 1, 1])
    0.6
    """
    of = right_votes(members_or_votes, X, y, **reading)
    fewer = np.minimum(of.n_right, of.n_votes - of.n_right)
    return of.mean(fewer / (of.n_votes // 2))


def kohavi_wolpert_variance(
    members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any
) -> float:
    """Kohavi-Wolpert variance of being right. More is more diverse.

    The mean of l (L - l) / L^2: from 0 to 1/4, and (L - 1) / (2 L) times the mean disagreement of
    the pairs where all members vote.

    Parameters
    ----------
    members_or_votes, X, y
        As for :func:`entropy`.
    **reading
        ``sample_weight``, ``on`` and ``no_vote``, as there.

    Returns
    -------
    float
        The measure.

    Notes
    -----
    It is the variance of one member's being right when the member is drawn at random, not that of
    its label: of several wrong classes, all are the same here.

    Examples
    --------
    >>> from orfeon.inspection import kohavi_wolpert_variance
    >>> kohavi_wolpert_variance([[1, 1, 0, 0], [1, 0, 1, 0]], y=[1, 1, 1, 1])
    0.125
    """
    of = right_votes(members_or_votes, X, y, **reading)
    return of.mean(of.n_right * (of.n_votes - of.n_right) / of.n_votes**2)


def interrater_kappa(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Interrater agreement kappa of being right. Less is more diverse.

    1 - sum(l (L - l) / L) / (N (L - 1) p (1 - p)), p the mean accuracy of the members: 1 where
    all are right together or wrong together, 0 where they agree as independent members would, and
    -1 / (L - 1) at least.

    Parameters
    ----------
    members_or_votes, X, y
        As for :func:`entropy`.
    **reading
        ``sample_weight``, ``on`` and ``no_vote``, as there.

    Returns
    -------
    float
        The measure; NaN where all votes are right, or all are wrong.

    Notes
    -----
    With missing votes it is that of Fleiss and Cuzick: L - 1 in the denominator is the mean number
    of votes on a sample less 1, and p the share of right votes among all of them. It is not the
    kappa of the kappa-error diagram, which is about the labels that two members vote for.

    Examples
    --------
    >>> from orfeon.inspection import interrater_kappa
    >>> interrater_kappa([[1, 1, 1, 0], [1, 1, 0, 0]], y=[1, 1, 1, 1])
    0.466...
    """
    of = right_votes(members_or_votes, X, y, **reading)
    mean_votes, mean_right = of.mean(of.n_votes), of.mean(of.n_right)
    accuracy = mean_right / mean_votes
    by_chance = (mean_votes - 1) * accuracy * (1 - accuracy)
    within = of.mean(of.n_right * (of.n_votes - of.n_right) / of.n_votes)
    return 1 - _ratio(within, by_chance)


def difficulty(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Difficulty measure theta. Less is more diverse.

    The variance over the samples of l / L, the share of the members that are right: large where
    some samples are easy for all and others difficult for all. From 0 to 1/4; with the
    Kohavi-Wolpert variance it makes p (1 - p), p the mean accuracy.

    Parameters
    ----------
    members_or_votes, X, y
        As for :func:`entropy`.
    **reading
        ``sample_weight``, ``on`` and ``no_vote``, as there.

    Returns
    -------
    float
        The measure.

    Examples
    --------
    >>> from orfeon.inspection import difficulty
    >>> difficulty([[1, 1, 0, 0], [1, 1, 0, 0]], y=[1, 1, 1, 1])
    0.25
    """
    of = right_votes(members_or_votes, X, y, **reading)
    shares = of.n_right / of.n_votes
    return of.mean((shares - of.mean(shares)) ** 2)


def generalized_diversity(
    members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any
) -> float:
    """Generalised diversity GD. More is more diverse.

    1 - p(2) / p(1): p(1) is the probability that a member drawn at random fails on a sample
    drawn at random, p(2) that two different ones do. From 0, where the failure of one comes with
    that of all others, to 1, where it never comes with that of another.

    Parameters
    ----------
    members_or_votes, X, y
        As for :func:`entropy`.
    **reading
        ``sample_weight``, ``on`` and ``no_vote``, as there.

    Returns
    -------
    float
        The measure; NaN where no member ever fails.

    Examples
    --------
    >>> from orfeon.inspection import generalized_diversity
    >>> generalized_diversity([[1, 1, 1, 0], [1, 1, 0, 0]], y=[1, 1, 1, 1])
    0.333...
    """
    of = right_votes(members_or_votes, X, y, **reading)
    n_wrong = of.n_votes - of.n_right
    one = of.mean(n_wrong / of.n_votes)
    two = of.mean(n_wrong * (n_wrong - 1) / (of.n_votes * (of.n_votes - 1)))
    return 1 - _ratio(two, one)


def coincident_failure(
    members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any
) -> float:
    """Coincident failure diversity CFD. More is more diverse.

    The mean of l / (L - 1) over the samples on which at least one member fails, L - l that fail:
    from 0, where all fail together or none does, to 1, where each failure is of one member alone.

    Parameters
    ----------
    members_or_votes, X, y
        As for :func:`entropy`.
    **reading
        ``sample_weight``, ``on`` and ``no_vote``, as there.

    Returns
    -------
    float
        The measure; 0, as it is defined, where no member ever fails.

    Examples
    --------
    >>> from orfeon.inspection import coincident_failure
    >>> coincident_failure([[1, 1, 1, 0], [1, 1, 0, 0]], y=[1, 1, 1, 1])
    0.5
    """
    of = right_votes(members_or_votes, X, y, **reading)
    fails = of.n_right < of.n_votes
    if len(fails) and not fails.any():
        return 0.0
    alone = np.where(fails, of.n_right / (of.n_votes - 1), 0.0)
    return _ratio(of.mean(alone), of.mean(fails))


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")
