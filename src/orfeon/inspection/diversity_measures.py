"""Ten measures of the diversity of an ensemble, four of pairs of members and six of all at once.

The measures look only at which members are right on which samples. Some grow with diversity and
some fall, see :data:`MEASURES`.

Four are means over pairs, see :mod:`orfeon.inspection.diversity_of_pairs`. The other six come from
l(z), the number of the L members that classify a sample z correctly. Where members do not vote on
all samples, for example out of bag, L is the number that vote on z, so it differs between samples.
Each definition is then a mean over samples with the L of each, which is the published one if all
members vote. Samples on which fewer than two members vote are left out.

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

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.inspection.diversity_of_pairs import PairwiseDiversity, pairs_of, read_votes
from orfeon.inspection.documentation import documented
from orfeon.members.vote_input import On
from orfeon.members.votes import Selection
from orfeon.utils.types import Integers


@dataclass(frozen=True)
class Measure:
    """A measure of diversity: its label, direction and range."""

    label: str
    grows: bool
    lowest: float
    highest: float
    is_pairwise: bool = False

    @property
    def arrow(self) -> str:
        """Up if more of it is more diversity, down if less is."""
        return "\N{UPWARDS ARROW}" if self.grows else "\N{DOWNWARDS ARROW}"


#: The ten measures by name, as Kuncheva and Whitaker list them.
MEASURES = {
    "q_statistic": Measure("Q statistic", False, -1.0, 1.0, True),
    "correlation": Measure("correlation", False, -1.0, 1.0, True),
    "disagreement": Measure("disagreement", True, 0.0, 1.0, True),
    "double_fault": Measure("double fault", False, 0.0, 1.0, True),
    "kohavi_wolpert_variance": Measure("Kohavi-Wolpert variance", True, 0.0, 0.25),
    "interrater_kappa": Measure("interrater kappa", False, -1.0, 1.0),
    "entropy": Measure("entropy", True, 0.0, 1.0),
    "difficulty": Measure("difficulty", False, 0.0, 0.25),
    "generalized_diversity": Measure("generalised diversity", True, 0.0, 1.0),
    "coincident_failure": Measure("coincident failure", True, 0.0, 1.0),
}


@dataclass(frozen=True, eq=False)
class Diversity:
    """The ten measures of an ensemble on some samples.

    Parameters
    ----------
    q_statistic, correlation, disagreement, double_fault : float
        Means over the pairs of members. Less is more diverse, except for the disagreement.
    kohavi_wolpert_variance : float
        More is more diverse.
    interrater_kappa : float
        Less is more diverse.
    entropy : float
        More is more diverse.
    difficulty : float
        Less is more diverse.
    generalized_diversity, coincident_failure : float
        More is more diverse.
    n_members : int
        Number of members.
    n_samples : int
        Number of samples with a positive weight and a vote.
    pairwise : PairwiseDiversity
        The matrices of the pairwise measures.

    See Also
    --------
    diversity : Computes it.

    Examples
    --------
    >>> from orfeon.inspection import diversity
    >>> found = diversity([[1, 1, 0, 0], [1, 0, 1, 0]], y=[1, 1, 1, 1])
    >>> found.disagreement, found.pairwise.disagreement.tolist()
    (0.5, [[0.0, 0.5], [0.5, 0.0]])
    """

    q_statistic: float
    correlation: float
    disagreement: float
    double_fault: float
    kohavi_wolpert_variance: float
    interrater_kappa: float
    entropy: float
    difficulty: float
    generalized_diversity: float
    coincident_failure: float
    n_members: int
    n_samples: int
    pairwise: PairwiseDiversity = field(repr=False)

    def as_dict(self) -> dict[str, float]:
        """The ten measures by name, in the order of :data:`MEASURES`."""
        return {name: getattr(self, name) for name in MEASURES}

    def __str__(self) -> str:
        width = max(len(measure.label) for measure in MEASURES.values())
        lines = [f"Diversity of {self.n_members} members on {self.n_samples} samples"]
        for name, measure in MEASURES.items():
            value = np.round(getattr(self, name), 4) + 0.0  # no negative zero
            lines.append(f"{measure.label:<{width}}  {measure.arrow} {value:7.4f}")
        return "\n".join(lines)


@documented()
def diversity(
    members_or_votes: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    on: On = "train",
    no_vote: Any = None,
) -> Diversity:
    """Measure how diverse the members of an ensemble are, in ten ways.

    Parameters
    ----------
    <votes>
    <weights>
    <on>

    Returns
    -------
    Diversity
        The measures, and the matrices of the pairwise ones.

    Notes
    -----
    The weights of members' votes are ignored. A measure that is 0 / 0 is NaN: such pairs are left
    out of a mean, and a mean without pairs is NaN.

    Examples
    --------
    >>> from orfeon import BaggingClassifier
    >>> from orfeon.datasets import make_twonorm
    >>> from orfeon.inspection import diversity
    >>> X, y = make_twonorm(300, random_state=0)
    >>> bag = BaggingClassifier(n_estimators=25, random_state=0).fit(X, y)
    >>> print(diversity(bag, *make_twonorm(2000, random_state=1)))
    Diversity of 25 members on 2000 samples
    Q statistic              ↓  0.3435
    correlation              ↓  0.1461
    disagreement             ↑  0.3106
    double fault             ↓  0.0838
    Kohavi-Wolpert variance  ↑  0.1491
    interrater kappa         ↓  0.1463
    entropy                  ↑  0.4470
    difficulty               ↓  0.0328
    generalised diversity    ↑  0.6496
    coincident failure       ↑  0.7729
    """
    selection = read_votes(
        members_or_votes, X, y, sample_weight=sample_weight, on=on, no_vote=no_vote
    )
    pairs, votes = pairs_of(selection), tally(selection)
    values = {
        name: pairs.mean(name) if measure.is_pairwise else _OF_ALL[name](votes)
        for name, measure in MEASURES.items()
    }
    return Diversity(
        **values,
        n_members=selection.n_members,
        n_samples=selection.n_samples,
        pairwise=pairs,
    )


@dataclass(frozen=True, eq=False)
class RightVotes:
    """How many members vote and are right, over the samples on which two or more vote."""

    n_votes: Integers
    n_right: Integers
    weights: Integers

    def mean(self, values: npt.NDArray[Any]) -> float:
        if not len(self.weights):
            return float("nan")
        return float(self.weights.astype(np.float64) @ values / self.weights.sum())


def right_votes(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> RightVotes:
    """Count, for each sample, the members that vote and those that are right."""
    if isinstance(members_or_votes, RightVotes):
        return members_or_votes
    return tally(read_votes(members_or_votes, X, y, **reading))


def tally(selection: Selection) -> RightVotes:
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


@documented(counts="right_votes")
def entropy(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Entropy measure E. More is more diverse.

    The mean of min(l, L - l) / (L - ceil(L / 2)): from 0, where all members are right together or
    wrong together, to 1, where about half of them are right on each sample.

    Parameters
    ----------
    <measure>

    Notes
    -----
    It has no logarithm; the name is Kuncheva and Whitaker's.

    Examples
    --------
    >>> from orfeon.inspection import entropy
    >>> entropy([[1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [1, 0, 1, 1, 0]], y=[1, 1, 1, 1, 1])
    0.6
    """
    of = right_votes(members_or_votes, X, y, **reading)
    fewer = np.minimum(of.n_right, of.n_votes - of.n_right)
    return of.mean(fewer / (of.n_votes // 2))


@documented(counts="right_votes")
def kohavi_wolpert_variance(
    members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any
) -> float:
    """Kohavi-Wolpert variance of being right. More is more diverse.

    The mean of l (L - l) / L^2: from 0 to 1/4, and (L - 1) / (2 L) times the mean disagreement of
    the pairs if all members vote.

    Parameters
    ----------
    <measure>

    Notes
    -----
    It is the variance of whether a randomly drawn member is right, not of its label: all wrong
    classes count as one.

    Examples
    --------
    >>> from orfeon.inspection import kohavi_wolpert_variance
    >>> kohavi_wolpert_variance([[1, 1, 0, 0], [1, 0, 1, 0]], y=[1, 1, 1, 1])
    0.125
    """
    of = right_votes(members_or_votes, X, y, **reading)
    return of.mean(of.n_right * (of.n_votes - of.n_right) / of.n_votes**2)


@documented(counts="right_votes")
def interrater_kappa(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Interrater agreement kappa of being right. Less is more diverse.

    1 - sum(l (L - l) / L) / (N (L - 1) p (1 - p)), p the mean accuracy of the members: 1 where all
    are right together or wrong together, 0 where they agree as independent members would, and at
    least -1 / (L - 1).

    Parameters
    ----------
    <measure>

    Notes
    -----
    With missing votes it is that of Fleiss and Cuzick: L - 1 in the denominator is the mean number
    of votes per sample minus 1, and p the share of right votes among all. It is not the kappa of
    the kappa-error diagram, which looks at the labels that two members vote for.

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


@documented(counts="right_votes")
def difficulty(members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any) -> float:
    """Difficulty measure theta. Less is more diverse.

    The variance over the samples of l / L, the share of members that are right: large if some
    samples are easy for all and others hard for all. From 0 to 1/4; with the Kohavi-Wolpert
    variance it adds up to p (1 - p), p the mean accuracy.

    Parameters
    ----------
    <measure>

    Examples
    --------
    >>> from orfeon.inspection import difficulty
    >>> difficulty([[1, 1, 0, 0], [1, 1, 0, 0]], y=[1, 1, 1, 1])
    0.25
    """
    of = right_votes(members_or_votes, X, y, **reading)
    shares = of.n_right / of.n_votes
    return of.mean((shares - of.mean(shares)) ** 2)


@documented(counts="right_votes")
def generalized_diversity(
    members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any
) -> float:
    """Generalised diversity GD. More is more diverse.

    1 - p(2) / p(1): p(1) is the probability that a random member fails on a random sample, p(2)
    that two different ones do. From 0, where members only fail all together, to 1, where no two
    fail together.

    Parameters
    ----------
    <measure>

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


@documented(counts="right_votes")
def coincident_failure(
    members_or_votes: Any, X: Any = None, y: Any = None, **reading: Any
) -> float:
    """Coincident failure diversity CFD. More is more diverse.

    The mean of l / (L - 1) over the samples on which at least one member fails: from 0, where all
    fail together or none ever does, to 1, where each failure is of one member alone.

    Parameters
    ----------
    <measure>

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


_OF_ALL = {
    measure.__name__: measure
    for measure in (
        entropy, kohavi_wolpert_variance, interrater_kappa, difficulty, generalized_diversity,
        coincident_failure,
    )
}  # fmt: skip
