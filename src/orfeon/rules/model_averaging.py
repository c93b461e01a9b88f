"""Bayesian model averaging: members weighted by their posterior probabilities.

The posterior probability that a member is the true model is its prior probability times the
likelihood of held-out samples under it. With more samples all the weight goes to the best member,
even if the mean of several is better: model averaging is a soft choice of one, not a combination
(Minka 2000, Domingos 2000). A temperature above 1 keeps more members.

References
----------
Hoeting, Madigan, Raftery and Volinsky (1999). Bayesian model averaging: a tutorial. Statistical
Science 14(4), 382-417.
Domingos (2000). Bayesian averaging of classifiers and the overfitting problem. International
Conference on Machine Learning, 223-230.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from orfeon.rules.answers import LabelledAnswers, Labels, Reads
from orfeon.rules.decider import RunningDecider, Task, members_at
from orfeon.rules.rule import CombiningRule, check_real, keep_member_numbers
from orfeon.rules.shares import conclude_mean
from orfeon.utils import saved
from orfeon.utils.types import Floats


@saved.attributes(log_weights=saved.floats, variances=saved.one_of(saved.none, saved.finite_floats))
@dataclass(frozen=True, eq=False)
class ModelPosterior(RunningDecider):
    """Posterior probabilities of the members."""

    log_weights: Floats
    variances: Floats | None = None

    reads: ClassVar[Reads] = "supports"
    task: ClassVar[Task] = "both"

    @property
    def n_members(self) -> int:
        """How many members it is for."""
        return len(self.log_weights)

    @property
    def weights(self) -> Floats:
        """Posterior probabilities of the members."""
        relative = np.exp(self.log_weights - self.log_weights.max())
        return np.asarray(relative / relative.sum())

    def subset(self, indices: Any) -> ModelPosterior:
        index = members_at(indices, self.n_members)
        variances = None if self.variances is None else self.variances[index]
        return ModelPosterior(self.log_weights[index], variances)

    def predict_variance(self, answers: Any) -> Floats:
        """Expected variance of the targets, within and between members."""
        if self.variances is None:
            raise ValueError("variances are only known in regression; this rule learnt classes.")
        numbers = self._read_numbers(answers)
        centred = numbers - self._decide(numbers, 0)
        return self._decide(centred**2 + self.variances[:, None, None], 0)[:, 0]

    def _stages(
        self, answered: Iterator[Floats], shape: tuple[int, ...], n_classes: int
    ) -> Iterator[Callable[[], Floats]]:
        # Weights are relative to the most probable member so far on each row, so that some
        # weight is left where it does not answer.
        greatest = np.full(shape[0], -np.inf)
        sums, totals = np.zeros(shape), np.zeros(shape[0])
        for one, log_weight in zip(answered, self.log_weights, strict=True):
            there = ~np.isnan(one[:, 0])
            now = np.where(there, np.maximum(greatest, log_weight), greatest)
            known = now > -np.inf
            before = np.exp(np.where(known, greatest, 0.0) - np.where(known, now, 0.0))
            weight = np.where(there, np.exp(log_weight - np.where(there, now, log_weight)), 0.0)
            sums *= before[:, None]
            sums += np.where(there[:, None], weight[:, None] * one, 0.0)
            totals *= before
            totals += weight
            greatest = now
            yield partial(conclude_mean, sums, totals, n_classes)


@dataclass(frozen=True)
class ModelAveraging(CombiningRule):
    """The mean of supports or predictions, weighted by the members' posterior probabilities.

    Parameters
    ----------
    likelihood : {"supports", "errors"}, default="supports"
        Likelihood of a class under a member: its support, or the member's accuracy, with all wrong
        classes equally likely. In regression targets are normal around the member's prediction,
        with its mean squared error as variance.
    floor : float, default=1e-3
        Minimum support of a true class, so that no single sample decides; in regression, minimum
        variance, as a share of that of the targets.
    temperature : float, default=1.0
        The log-likelihood is divided by it. With 1 it is that of independent samples.
    priors : sequence of float, optional
        Prior probability of each member, up to a factor; all the same by default.
    n_parameters : sequence of float, optional
        Number of parameters of each member, penalised as in the Bayesian information criterion.
        This is for likelihoods of training samples; those of held-out samples need no penalty.

    Notes
    -----
    A member that votes on some samples only gets its mean log-likelihood for all of them. A member
    that never votes counts as uninformed: it supports all classes equally, or predicts the mean.

    Examples
    --------
    One member gives the true class 0.8 in each of five samples, the other 0.6.

    >>> import numpy as np
    >>> from orfeon.combining import ModelAveraging
    >>> answers = np.array([[[0.8, 0.2]] * 5, [[0.6, 0.4]] * 5])
    >>> decider = ModelAveraging().learn(answers, [0, 0, 0, 0, 0], n_classes=2)
    >>> decider.weights.round(3)
    array([0.808, 0.192])
    >>> decider.shares([[[1.0, 0.0]], [[0.0, 1.0]]], n_classes=2).round(3)
    array([[0.808, 0.192]])
    """

    likelihood: Literal["supports", "errors"] = "supports"
    floor: float = 1e-3
    temperature: float = 1.0
    priors: Sequence[float] | None = None
    n_parameters: Sequence[float] | None = None

    name: ClassVar[str] = "model_averaging"
    reads: ClassVar[Reads] = "supports"
    learns: ClassVar[bool] = True
    task: ClassVar[Task] = "both"
    per_member: ClassVar[tuple[str, ...]] = ("priors", "n_parameters")

    def __post_init__(self) -> None:
        if self.likelihood not in ("supports", "errors"):
            raise ValueError(
                f'likelihood={self.likelihood!r} is not allowed; use "supports" or "errors".'
            )
        check_real(self, "floor", lambda x: 0 < x < 1, "a number above 0 and below 1")
        check_real(self, "temperature", lambda x: x > 0, "a positive number")
        keep_member_numbers(self, "priors", positive="all")
        keep_member_numbers(self, "n_parameters", positive="none")

    def _measure(self, samples: LabelledAnswers) -> Floats:
        if samples.labels.n_classes == 0:
            one: Callable[[LabelledAnswers, int], float] = LabelledAnswers.squared_error
        else:
            one = self._mean_of_supports if self.likelihood == "supports" else _mean_of_errors
        return np.array([one(samples, member) for member in range(samples.n_members)])

    def _learn(self, measured: Floats, labels: Labels) -> ModelPosterior:
        variances, means = None, measured
        if labels.n_classes == 0:
            least = max(self.floor * labels.target_variance, np.finfo(np.float64).tiny)
            variances = np.maximum(measured, least)
            means = -0.5 * (np.log(2 * np.pi * variances) + measured / variances)
        n_members, total = len(measured), labels.total_weight
        penalties = 0.5 * self._for_each("n_parameters", n_members, 0.0) * np.log(total)
        logs = (means * total - penalties) / self.temperature
        return ModelPosterior(logs + np.log(self._for_each("priors", n_members, 1.0)), variances)

    def _for_each(self, name: str, n_members: int, by_default: float) -> Floats:
        """An option that has a number for each member."""
        given = getattr(self, name)
        if given is None:
            return np.full(n_members, by_default)
        if len(given) != n_members:
            raise ValueError(
                f"{name} has {len(given)} values; one for each of {n_members} members is expected."
            )
        return np.array(given)

    def _mean_of_supports(self, samples: LabelledAnswers, member: int) -> float:
        """Mean logarithm of a member's support for the true class."""
        labels, answered = samples.labels, samples.answered(member)
        if not answered.any():
            return -float(np.log(labels.n_classes))
        supports = samples.answers[member, np.arange(len(labels.y)), labels.y]
        return labels.mean(np.log(np.maximum(supports, self.floor)), answered)


def _mean_of_errors(samples: LabelledAnswers, member: int) -> float:
    """Mean log-likelihood by a member's accuracy, smoothed with one more sample per class."""
    labels, answered = samples.labels, samples.answered(member)
    n_classes = labels.n_classes
    if not answered.any() or n_classes == 1:
        return -float(np.log(n_classes))
    votes = np.where(answered, np.argmax(samples.answers[member], axis=1), -1)
    right, n_votes = labels.weight_of(votes == labels.y), labels.weight_of(answered)
    accuracy = (right + 1) / (n_votes + n_classes)
    share = right / n_votes
    wrong = (1 - accuracy) / (n_classes - 1)
    return float(share * np.log(accuracy) + (1 - share) * np.log(wrong))
