"""The base of combining rules, and the rules by name.

A rule is a few options. From held-out votes or supports it learns a decider: weights, confusion
matrices. A rule that does not learn may be its own decider.

Rows are decided one by one, with members added in order, so splitting the rows does not change a
bit. What is learnt does not depend on the order of the samples, and weights are copies to the bit.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np

from orfeon.members.votes import NothingCountsError
from orfeon.rules.answers import LabelledAnswers, Labels, Reads, read_labels, read_part
from orfeon.rules.decider import (
    Decider,
    RunningDecider,
    Task,
    WeightedMembers,
    check_n_classes,
    members_at,
)
from orfeon.utils import saved
from orfeon.utils.registry import RuleNames
from orfeon.utils.types import Floats

__all__ = [
    "COMBINING_RULES",
    "CombiningRule",
    "Decider",
    "RunningDecider",
    "Task",
    "WeightedMembers",
    "as_combining_rule",
    "check_real",
    "keep_member_numbers",
    "rules_for",
]


#: The rules by name: module and class.
_HOMES = {
    "majority": ("votes", "Majority"),
    "plurality": ("votes", "Plurality"),
    "weighted": ("votes", "Weighted"),
    "soft": ("supports", "Soft"),
    "mean": ("supports", "Mean"),
    "product": ("supports", "Product"),
    "max": ("supports", "Max"),
    "min": ("supports", "Min"),
    "median": ("supports", "Median"),
    "trimmed_mean": ("supports", "TrimmedMean"),
    "naive_bayes": ("naive_bayes", "NaiveBayes"),
    "model_averaging": ("model_averaging", "ModelAveraging"),
}
#: Names of the rules.
COMBINING_RULES = tuple(_HOMES)
_NAMES: RuleNames[CombiningRule] = RuleNames("orfeon.rules", _HOMES)


@saved.attributes(saved.anything)
@dataclass(frozen=True)
class CombiningRule(ABC):
    """A way to combine the outputs of members into a decision; its fields are its options.

    Examples
    --------
    >>> from orfeon.combining import as_combining_rule
    >>> rule = as_combining_rule("weighted")
    >>> rule, rule.reads, rule.learns, rule.task
    (Weighted(smoothing=1.0, below_chance='against'), 'votes', True, 'both')
    """

    #: Its name.
    name: ClassVar[str]
    #: Its input from classifiers; from regressors it is predictions.
    reads: ClassVar[Reads]
    #: Whether it needs labelled samples that the members have not seen.
    learns: ClassVar[bool] = False
    #: Classification, regression or both.
    task: ClassVar[Task]
    #: Options that have a number for each member.
    per_member: ClassVar[tuple[str, ...]] = ()

    @property
    def is_plain(self) -> bool:
        """Whether no option holds values for single members, such as weights."""
        return all(getattr(self, name) is None for name in self.per_member)

    def subset(self, indices: Any) -> Self:
        """The rule for some of the members.

        Parameters
        ----------
        indices : sequence of int, or mask
            Which members, in the order in which their answers will come.

        Returns
        -------
        CombiningRule
            With the options of these members; the rule itself if it has none.
        """
        given = {name: getattr(self, name) for name in self.per_member}
        cut = {
            name: [numbers[i] for i in members_at(indices, len(numbers))]
            for name, numbers in given.items()
            if numbers is not None
        }
        return replace(self, **cut) if cut else self

    def learn(
        self,
        answers: Any,
        y: Any,
        n_classes: int,
        weights: Any = None,
        *,
        class_factors: Any = None,
        relative: bool = False,
    ) -> Decider:
        """Learn from samples that the members were not trained on.

        Parameters
        ----------
        answers : array of shape (n_members, n_samples) or (n_members, n_samples, n_classes)
            Votes, -1 where a member does not vote; or supports, NaN for all classes where a member
            has none; or in regression predictions, NaN where there is none. None for a rule that
            does not learn.
        y : array of shape (n_samples,)
            Class codes or targets. None for a rule that does not learn.
        n_classes : int
            Number of classes, 0 in regression.
        weights : array of shape (n_samples,), optional
            Sample weights: 0 leaves a sample out, 2 counts it twice, 0.5 half.
        class_factors : array of shape (n_classes,), optional
            Factors on the weights of the classes.
        relative : bool, default=False
            Whether fractional weights are taken relative to the mean of the positive ones.
            Whole-number weights always count copies.

        Returns
        -------
        Decider
            The fitted rule.
        """
        return self.learn_in_parts(
            [answers], y, n_classes, weights, class_factors=class_factors, relative=relative
        )

    def learn_in_parts(
        self,
        parts: Iterable[Any],
        y: Any,
        n_classes: int,
        weights: Any = None,
        *,
        class_factors: Any = None,
        relative: bool = False,
    ) -> Decider:
        """Learn from a few members at a time; the result is that of :meth:`learn` to the bit.

        Parameters
        ----------
        parts : iterable of array
            Answers as for :meth:`learn`, of the first few members, of the next few, and so on;
            ignored by a rule that does not learn.
        y, n_classes, weights, class_factors, relative
            As for :meth:`learn`.

        Returns
        -------
        Decider
            The fitted rule.
        """
        check_n_classes(n_classes, fewest=0)
        self.check(is_regression=n_classes == 0)
        if not self.learns:
            return self._decider()
        labels = read_labels(y, n_classes, weights, class_factors=class_factors, relative=relative)
        measured, any_answer = [], False
        for part in parts:
            samples = read_part(part, labels, self.reads)
            any_answer = any_answer or samples.has_answers
            measured.append(self._measure(samples))
        if not measured:
            raise ValueError("parts is empty; answers of at least one member are needed.")
        if not any_answer:
            raise NothingCountsError(
                "answers holds no answer of any member on any sample of positive weight."
            )
        return self._learn(np.concatenate(measured), labels)

    def check(self, *, is_regression: bool) -> None:
        """Reject a task that the rule is not for.

        Parameters
        ----------
        is_regression : bool
            Whether the members predict numbers.
        """
        wanted: Task = "regression" if is_regression else "classification"
        if self.task not in ("both", wanted):
            output = "predict numbers" if is_regression else "vote for classes"
            raise ValueError(
                f"rule={self.name!r} is for {self.task}, but these members {output}; rules for "
                f"{wanted} are {', '.join(rules_for(wanted))}."
            )

    def _decider(self) -> Decider:
        """The decider of a rule that does not learn."""
        if isinstance(self, Decider):
            return self
        raise NotImplementedError

    def _measure(self, samples: LabelledAnswers) -> Floats:
        """What a rule measures of each member to learn from; members come first."""
        raise NotImplementedError

    def _learn(self, measured: Floats, labels: Labels) -> Decider:
        """The decider, from the measurements of all members."""
        raise NotImplementedError


def as_combining_rule(rule: str | CombiningRule, **options: Any) -> CombiningRule:
    """The rule with a given name.

    Parameters
    ----------
    rule : str or CombiningRule
        A name in ``COMBINING_RULES``, or a rule, which is returned unchanged.
    **options
        Options of the rule.

    Returns
    -------
    CombiningRule
        The rule with its options.

    Examples
    --------
    >>> from orfeon.combining import as_combining_rule
    >>> as_combining_rule("trimmed_mean", share=0.2)
    TrimmedMean(share=0.2)
    """
    return _NAMES.rule(rule, CombiningRule, options)


def rules_for(task: Task) -> tuple[str, ...]:
    """Names of the rules for a task.

    Parameters
    ----------
    task : {"classification", "regression"}
        The task.

    Returns
    -------
    tuple of str
        The names.

    Examples
    --------
    >>> from orfeon.combining import rules_for
    >>> rules_for("regression")
    ('weighted', 'mean', 'max', 'min', 'median', 'trimmed_mean', 'model_averaging')
    """
    if task not in ("classification", "regression"):
        raise ValueError(f'task={task!r} is not allowed; use "classification" or "regression".')
    return tuple(name for name in COMBINING_RULES if _NAMES.kind(name).task in ("both", task))


def check_real(
    rule: CombiningRule, name: str, is_allowed: Callable[[float], bool], allowed: str
) -> None:
    """Reject an option of a rule that is not an allowed number."""
    value = getattr(rule, name)
    is_real = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not is_real or not np.isfinite(value) or not is_allowed(float(value)):
        raise ValueError(f"{name}={value!r} is not allowed; use {allowed}.")


def keep_member_numbers(
    rule: CombiningRule, name: str, *, positive: Literal["all", "one", "none"] = "one"
) -> None:
    """Check an option with a number for each member, and keep it as a tuple."""
    given = getattr(rule, name)
    if given is None:
        return
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    allowed = numbers.ndim == 1 and np.isfinite(numbers).all() and (numbers >= 0).all()
    enough = {"all": numbers.all(), "one": numbers.any(), "none": True}
    if not allowed or not len(numbers) or not enough[positive]:
        which = {"all": "all positive", "one": "none negative and one positive"}
        raise ValueError(
            f"{name}={given!r} is not allowed; use a finite number for each member, "
            f"{which.get(positive, 'none negative')}."
        )
    object.__setattr__(rule, name, tuple(numbers.tolist()))
