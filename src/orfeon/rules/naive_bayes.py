"""The naive Bayes combiner: what each member's votes are worth, class by class.

A member's confusion matrix shows how often it votes for each class when each class is the true one.
If members err independently given the class, the product of these probabilities and the prior is
all there is to know, and its largest the Bayes rule. Bagged members are far from independent: their
decisions may be good all the same, but the probabilities are much too close to 0 and 1.

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
import numpy.typing as npt

from orfeon.rules.answers import LabelledAnswers, Labels, Reads
from orfeon.rules.decider import RunningDecider, Task, members_at
from orfeon.rules.rule import CombiningRule, check_real
from orfeon.rules.shares import posterior
from orfeon.rules.votes import on_grid
from orfeon.utils import saved
from orfeon.utils.types import Floats

Codes = npt.NDArray[np.integer[Any]]


@saved.attributes(log_priors=saved.floats, log_likelihoods=saved.array("f8", 3))
@dataclass(frozen=True, eq=False)
class VoteLikelihoods(RunningDecider):
    """How likely each vote of each member is, when each class is the true one."""

    log_priors: Floats
    log_likelihoods: Floats

    reads: ClassVar[Reads] = "votes"
    task: ClassVar[Task] = "classification"

    @property
    def n_members(self) -> int:
        """How many members it is for."""
        return len(self.log_likelihoods)

    def subset(self, indices: Any) -> VoteLikelihoods:
        """The likelihoods of some of the members."""
        index = members_at(indices, self.n_members)
        return VoteLikelihoods(self.log_priors, self.log_likelihoods[index])

    def _stages(
        self, answered: Iterator[Codes], shape: tuple[int, ...], n_classes: int
    ) -> Iterator[Callable[[], Floats]]:
        if n_classes != len(self.log_priors):
            raise ValueError(
                f"n_classes={n_classes} is not allowed; {len(self.log_priors)} were learnt."
            )
        scores = np.tile(self.log_priors, (shape[0], 1))
        nothing = np.zeros((1, n_classes))
        for one, logs in zip(answered, self.log_likelihoods, strict=True):
            # Those who do not vote, -1, find the last row.
            scores += np.concatenate([logs, nothing])[one]
            yield partial(posterior, scores)


@dataclass(frozen=True)
class NaiveBayes(CombiningRule):
    """The class that is most probable given the votes, if members err independently.

    Parameters
    ----------
    smoothing : float, default=1.0
        Samples of each class added on which a member votes for each class; with 0, a vote that was
        never seen for a class makes the class impossible.
    priors : {"learnt", "equal"}, default="learnt"
        Whether the classes are as probable as they are frequent among the samples, or all the
        same.

    Notes
    -----
    Rows on which nobody votes get the prior probabilities.

    Examples
    --------
    The first member tells the third class from the others, the second tells the first from the
    second. No vote is for the third class more than once, and it is decided on.

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
        # Of a class that a member never voted on, nothing is known.
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
    """How often each member votes for each class, class by class."""
    labels = samples.labels
    n_classes = labels.n_classes
    counts = np.empty((samples.n_members, n_classes, n_classes))
    for member, votes in enumerate(samples.answers):
        # Those who do not vote, -1, come before all others.
        cells = (votes.astype(np.int64) + 1) * n_classes + labels.y
        found = np.bincount(cells, labels.weights, n_classes * (n_classes + 1))
        counts[member] = found[n_classes:].reshape(n_classes, n_classes)
    return counts * labels.step
