"""Rules over votes: plurality, majority, and votes weighted by the accuracy of the members.

If members err independently, and wrong votes are equally likely for all wrong classes, the best
weight of a vote is ``log(p (K - 1) / (1 - p))``, with p the accuracy of the member and K
classes; with two classes, ``log(p / (1 - p))``. The weighted vote is then the Bayes rule for
classes that are equally likely.

References
----------
Pierce (1961). Improving reliability of digital systems by redundancy and adaptation. PhD thesis,
Stanford University.
Kuncheva (2004). Combining Pattern Classifiers. Wiley, chapter 4.
Bates and Granger (1969). The combination of forecasts. Operational Research Quarterly 20(4),
451-468.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from orfeon.rules.answers import LabelledAnswers, Labels, Reads
from orfeon.rules.decider import Decider, Task, WeightedMembers
from orfeon.rules.rule import CombiningRule, check_real, keep_member_numbers
from orfeon.rules.shares import conclude, divide, row_sums
from orfeon.rules.supports import Average
from orfeon.utils import saved
from orfeon.utils.types import AnyIntegers, Floats

#: Shares this close are tied, so that neither rounding nor the grid of weights decides.
_TIED = 1e-9
#: Grid of learnt logarithms. Their sums are exact, so the order of members decides no tie.
_GRID = 2.0**-40


@saved.attributes(weights=saved.one_of(saved.none, saved.finite_floats))
@dataclass(frozen=True, eq=False)
class WeightedVote(WeightedMembers):
    """A vote of equal or weighted members."""

    reads: ClassVar[Reads] = "votes"
    task: ClassVar[Task] = "classification"

    def has_majority(self, answers: Any, n_classes: int) -> npt.NDArray[np.bool_]:
        """Whether one class has more than half of the votes that are cast."""
        votes = self._read(answers, n_classes)
        largest = self._decide(votes, n_classes).max(axis=1)
        return np.asarray((largest > 0.5 + _TIED) & (votes >= 0).any(axis=0))

    def _stages(
        self, answered: Iterator[AnyIntegers], shape: tuple[int, ...], n_classes: int
    ) -> Iterator[Callable[[], Floats]]:
        # Missing votes, -1, go to the first column.
        sums, against = np.zeros((shape[0], n_classes + 1)), np.zeros(shape[0])
        cells, no_vote = sums.reshape(-1), np.arange(1, sums.size + 1, n_classes + 1)
        for one, weight in self._with_weights(answered):
            cells[no_vote + one] += weight
            if weight < 0:
                against -= np.where(one >= 0, weight, 0.0)
            yield partial(vote_shares, sums[:, 1:], against)


def vote_shares(sums: Floats, against: Floats) -> Floats:
    """Shares of classes in a vote; those tied for first place get exactly equal shares."""
    votes = np.maximum(sums + against[:, None], 0.0)
    shares = divide(votes, row_sums(votes))
    largest = shares.max(axis=1, keepdims=True)
    level = np.where(largest - shares <= _TIED, largest, shares)
    raised = (level != shares).any(axis=1)
    level[raised] = divide(level[raised], row_sums(level[raised]))
    return conclude(level, sums.shape[1])


@dataclass(frozen=True)
class Plurality(CombiningRule):
    """The class with the most votes, the first of those tied.

    Parameters
    ----------
    weights : sequence of float, optional
        Weight of each member's vote; all the same by default.

    Examples
    --------
    >>> from orfeon.combining import Plurality
    >>> votes = [[0], [1], [1], [2], [2]]
    >>> Plurality().learn(None, None, n_classes=3).shares(votes, n_classes=3)
    array([[0.2, 0.4, 0.4]])
    """

    weights: Sequence[float] | None = None

    name: ClassVar[str] = "plurality"
    reads: ClassVar[Reads] = "votes"
    task: ClassVar[Task] = "classification"
    per_member: ClassVar[tuple[str, ...]] = ("weights",)

    def __post_init__(self) -> None:
        keep_member_numbers(self, "weights")

    def _decider(self) -> WeightedVote:
        return WeightedVote(None if self.weights is None else np.array(self.weights))


@dataclass(frozen=True)
class Majority(Plurality):
    """The class with more than half of the votes; if there is none, that with the most.

    It decides as :class:`Plurality` does; :meth:`WeightedVote.has_majority` shows where there was a
    majority.

    Parameters
    ----------
    weights : sequence of float, optional
        Weight of each member's vote; all the same by default.

    Examples
    --------
    >>> from orfeon.combining import Majority
    >>> decider = Majority().learn(None, None, n_classes=3)
    >>> votes = [[0, 0], [0, 1], [2, 2]]
    >>> decider.shares(votes, n_classes=3).argmax(axis=1), decider.has_majority(votes, n_classes=3)
    (array([0, 0]), array([ True, False]))
    """

    name: ClassVar[str] = "majority"


@dataclass(frozen=True)
class Weighted(CombiningRule):
    """Votes weighted by log odds of their members' accuracy; predictions by inverse squared error.

    Parameters
    ----------
    smoothing : float, default=1.0
        Right votes, and wrong votes for each other class, added to those of a member: with few
        votes its weight is closer to zero, that of guessing. In regression, samples added on which
        the member predicts the mean.
    below_chance : {"against", "silent"}, default="against"
        Whether a member that is worse than guessing votes for the other classes, as it should if
        its accuracy is known, or not at all. In regression all weights are positive.

    Notes
    -----
    The weight is ``log((r + s) (K - 1) / (n - r + s (K - 1)))`` for r right among n votes, K
    classes and smoothing s: the log odds of the accuracy ``(r + s) / (n + s K)``. In regression it
    is ``(n + s) / (n e + s v)``, with e the mean squared error over the n samples that the member
    predicts, and v the variance of the targets.

    Examples
    --------
    One member is right nine times in ten, two are right seven times in ten:

    >>> import numpy as np
    >>> from orfeon.combining import Weighted
    >>> answers = np.ones((3, 10), dtype=int)
    >>> answers[0, :9] = answers[1, :7] = answers[2, 3:] = 0
    >>> decider = Weighted().learn(answers, np.zeros(10, dtype=int), n_classes=2)
    >>> decider.weights.round(3)
    array([1.609, 0.693, 0.693])
    >>> decider.shares([[0], [1], [1]], n_classes=2).round(3)
    array([[0.537, 0.463]])
    """

    smoothing: float = 1.0
    below_chance: Literal["against", "silent"] = "against"

    name: ClassVar[str] = "weighted"
    reads: ClassVar[Reads] = "votes"
    learns: ClassVar[bool] = True
    task: ClassVar[Task] = "both"

    def __post_init__(self) -> None:
        check_real(self, "smoothing", lambda x: x > 0, "a positive number")
        if self.below_chance not in ("against", "silent"):
            raise ValueError(
                f'below_chance={self.below_chance!r} is not allowed; use "against" or "silent".'
            )

    def _measure(self, samples: LabelledAnswers) -> Floats:
        one = self._log_odds if samples.labels.n_classes else self._smoothed_error
        return np.array([one(samples, member) for member in range(samples.n_members)])

    def _learn(self, measured: Floats, labels: Labels) -> Decider:
        if labels.n_classes == 0:
            return Average(inverse_errors(measured))
        is_silent = self.below_chance == "silent"
        return WeightedVote(on_grid(np.maximum(measured, 0) if is_silent else measured))

    def _log_odds(self, samples: LabelledAnswers, member: int) -> float:
        labels = samples.labels
        n_wrong = labels.n_classes - 1
        if n_wrong == 0:
            return 0.0
        is_right = samples.answers[member] == labels.y
        right = labels.weight_of(is_right)
        wrong = labels.weight_of(samples.answered(member) & ~is_right)
        odds = (right + self.smoothing) / (wrong + self.smoothing * n_wrong)
        return float(np.log(odds * n_wrong))

    def _smoothed_error(self, samples: LabelledAnswers, member: int) -> float:
        """Mean squared error with added samples on which the member predicts the mean."""
        n_answered = samples.labels.weight_of(samples.answered(member))
        added = self.smoothing / (n_answered + self.smoothing)
        own, spread = samples.squared_error(member), samples.labels.target_variance
        return (1 - added) * own + added * spread


def inverse_errors(errors: Floats) -> Floats:
    """Weights of members that predict numbers: inverse mean squared errors."""
    if not errors.any():
        return np.ones(len(errors))
    return np.asarray(1.0 / np.maximum(errors, errors.max() * 2.0**-50))


def on_grid(values: Floats) -> Floats:
    """Logarithms rounded to a fine binary grid."""
    return np.asarray(np.rint(values / _GRID) * _GRID)
