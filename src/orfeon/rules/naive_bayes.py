"""The naive Bayes combiner: members' confusion matrices as class-conditional probabilities.

A confusion matrix shows how often a member votes for each class when each class is the true one. If
members err independently given the class, the product of these probabilities and the prior gives
the Bayes rule. Bagged members are far from independent: decisions may still be good, but the
probabilities are much too close to 0 and 1.

References
----------
Xu, Krzyżak and Suen (1992). Methods of combining multiple classifiers and their applications to
handwriting recognition. IEEE Transactions on Systems, Man, and Cybernetics 22(3), 418-435.
Kuncheva (2004). Combining Pattern Classifiers. Wiley, chapter 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from orfeon.rules.answers import LabelledAnswers, Labels, Reads
from orfeon.rules.decider import RunningDecider, Task, members_at
from orfeon.rules.rule import CombiningRule, check_real
from orfeon.rules.shares import posterior
from orfeon.rules.votes import on_grid
from orfeon.utils import saved
from orfeon.utils.types import AnyIntegers, Floats


@saved.attributes(log_priors=saved.floats, log_likelihoods=saved.array("f8", 3))
@dataclass(frozen=True, eq=False)
class VoteLikelihoods(RunningDecider):
    """Likelihood of each vote of each member given the true class."""

    log_priors: Floats
    log_likelihoods: Floats

    reads: ClassVar[Reads] = "votes"
    task: ClassVar[Task] = "classification"

    @property
    def n_members(self) -> int:
        """How many members it is for."""
        return len(self.log_likelihoods)

    def subset(self, indices: Any) -> VoteLikelihoods:
        index = members_at(indices, self.n_members)
        return VoteLikelihoods(self.log_priors, self.log_likelihoods[index])

    def _stages(
        self, answered: Iterator[AnyIntegers], shape: tuple[int, ...], n_classes: int
    ) -> Iterator[Callable[[], Floats]]:
        if n_classes != len(self.log_priors):
            raise ValueError(
                f"n_classes={n_classes} is not allowed; {len(self.log_priors)} were learnt."
            )
        scores = np.tile(self.log_priors, (shape[0], 1))
        nothing = np.zeros((1, n_classes))
        for one, logs in zip(answered, self.log_likelihoods, strict=True):
            # Missing votes, -1, find the last row.
            scores += np.concatenate([logs, nothing])[one]
            yield partial(posterior, scores)


@dataclass(frozen=True)
class NaiveBayes(CombiningRule):
    """The class that is most probable given the votes, if members err independently.

    Parameters
    ----------
    smoothing : float, default=1.0
        Votes added to each cell of a confusion matrix; with 0, a vote that was never seen for a
        class rules the class out.
    priors : {"learnt", "equal"}, default="learnt"
        Whether prior probabilities are the class frequencies among the samples, or all equal.

    Notes
    -----
    Rows without votes get the prior probabilities.

    Examples
    --------
    The first member separates the third class from the others, the second the first class from the
    second. The third class wins with one vote:

    >>> import numpy as np
    >>> from orfeon.combining import NaiveBayes
    >>> y = np.repeat([0, 1, 2], 20)
    >>> answers = np.array([[0, 0, 2], [0, 1, 1]]).repeat(20, axis=1)
    >>> decider = NaiveBayes().learn(answers, y, n_classes=3)
    >>> decider.shares([[2, 0], [1, 1]], n_classes=3).round(3)
    array([[0.002, 0.045, 0.952],
           [0.043, 0.913, 0.043]])
    """

    smoothing: float = 1.0
    priors: Literal["learnt", "equal"] = "learnt"

    name: ClassVar[str] = "naive_bayes"
    reads: ClassVar[Reads] = "votes"
    learns: ClassVar[bool] = True
    task: ClassVar[Task] = "classification"

    def __post_init__(self) -> None:
        check_real(self, "smoothing", lambda x: x >= 0, "a number that is not negative")
        if self.priors not in ("learnt", "equal"):
            raise ValueError(f'priors={self.priors!r} is not allowed; use "learnt" or "equal".')

    def _measure(self, samples: LabelledAnswers) -> Floats:
        return confusion_counts(samples)

    def _learn(self, measured: Floats, labels: Labels) -> VoteLikelihoods:
        n_classes = labels.n_classes
        smoothed = measured + self.smoothing
        totals = smoothed.sum(axis=1, keepdims=True)
        # Nothing is known about a class on which a member never voted.
        likelihoods = np.full(measured.shape, 1.0 / n_classes)
        np.divide(smoothed, totals, out=likelihoods, where=totals > 0)
        if self.priors == "equal":
            priors = np.full(n_classes, 1.0 / n_classes)
        else:
            frequencies = np.bincount(labels.y, labels.weights, n_classes)
            priors = frequencies / frequencies.sum()
        with np.errstate(divide="ignore"):
            return VoteLikelihoods(on_grid(np.log(priors)), on_grid(np.log(likelihoods)))


def confusion_counts(samples: LabelledAnswers) -> Floats:
    """The confusion matrix of each member."""
    labels = samples.labels
    n_classes = labels.n_classes
    counts = np.empty((samples.n_members, n_classes, n_classes))
    for member, votes in enumerate(samples.answers):
        # Missing votes, -1, come before all others.
        cells = (votes.astype(np.int64) + 1) * n_classes + labels.y
        found = np.bincount(cells, labels.weights, n_classes * (n_classes + 1))
        counts[member] = found[n_classes:].reshape(n_classes, n_classes)
    return counts * labels.step
