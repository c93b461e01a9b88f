"""Ten measures of the diversity of an ensemble.

The measures see only which members are right on which samples. They point two ways: some grow with
diversity and some fall, see :data:`MEASURES`.

References
----------
Kuncheva and Whitaker (2003). Measures of diversity in classifier ensembles and their relationship
with the ensemble accuracy. Machine Learning 51, 181-207.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orfeon.inspection import diversity_of_all
from orfeon.inspection.diversity_of_all import tally
from orfeon.inspection.diversity_of_pairs import PairwiseDiversity, pairs_of, read_votes
from orfeon.members.votes import On


@dataclass(frozen=True)
class Measure:
    """What is known of a measure of diversity."""

    label: str
    grows: bool
    lowest: float
    highest: float
    is_pairwise: bool = False

    @property
    def arrow(self) -> str:
        """Up where more of it is more diversity, down where less is."""
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
        Means over the pairs of members. Less is more diverse, but for the disagreement.
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
    diversity : Makes one.

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
        """The measures by name, in the order of :data:`MEASURES`.

        Returns
        -------
        dict of str to float
            Ten numbers.
        """
        return {name: getattr(self, name) for name in MEASURES}

    def __str__(self) -> str:
        width = max(len(measure.label) for measure in MEASURES.values())
        lines = [f"Diversity of {self.n_members} members on {self.n_samples} samples"]
        for name, measure in MEASURES.items():
            value = np.round(getattr(self, name), 4) + 0.0  # no negative zero
            lines.append(f"{measure.label:<{width}}  {measure.arrow} {value:7.4f}")
        return "\n".join(lines)


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
    members_or_votes : fitted ensemble, list of estimators or array of shape (n_members, n_samples)
        The ensemble (of orfeon, or scikit-learn's bagging, forests, AdaBoost and voting), or fitted
        estimators, with ``X``; or the labels that each member votes for, without.
    X : array or data frame of shape (n_samples, n_features), optional
        The samples, when an ensemble is given.
    y : array of shape (n_samples,)
        Their true labels.
    sample_weight : array of shape (n_samples,), optional
        Weights of the samples: 0 is the same as leaving one out, 2 as giving it twice.
    on : {"train", "out_of_bag"}, default="train"
        Whether all members vote on all samples, or only on those they were not trained on; then
        ``X``, ``y`` and ``sample_weight`` are the training set.
    no_vote : optional
        What stands in a matrix of votes for a member that does not vote.

    Returns
    -------
    Diversity
        The measures, and the matrices of the pairwise ones.

    Notes
    -----
    The weights of members' votes play no part. Where members do not vote on all samples, a pair
    is measured on those on which both vote, and the other measures are as
    :mod:`orfeon.inspection.diversity_of_all` says. What is 0 / 0 is NaN: such pairs are left out of
    a mean, and a mean without pairs is NaN.

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
        name: pairs.mean(name) if measure.is_pairwise else getattr(diversity_of_all, name)(votes)
        for name, measure in MEASURES.items()
    }
    return Diversity(
        **values,
        n_members=selection.n_members,
        n_samples=selection.n_samples,
        pairwise=pairs,
    )
