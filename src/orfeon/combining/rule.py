"""What a combining rule is, and the rules by name.

A rule is a few settings. What it learns from held-out answers is a decider: weights, confusion
matrices. A rule with nothing to learn needs no answers, and may be its own decider.

Rows are decided one by one and members are heard in their order, so how the rows are split does not
change a bit. What is learnt does not depend on the order of the examples; an example of weight 2
is the same as two of them and one of weight 0 the same as none, to the last bit.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from orfeon.combining.answers import (
    LabelledAnswers,
    Reads,
    read_examples,
    read_predictions,
    read_supports,
    read_votes,
)

Floats = npt.NDArray[np.float64]
Task = Literal["classification", "regression", "both"]

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
RULES = tuple(_HOMES)


class Decider(ABC):
    """What decides from the answers of members: all that a rule has learnt.

    The fields of a decider are arrays, numbers and words.

    Examples
    --------
    >>> from orfeon.combining.votes import Majority
    >>> decider = Majority().learn(None, None, n_classes=3)
    >>> decider.shares([[0, 2], [0, -1], [1, 2], [0, -1]], n_classes=3)
    array([[0.75, 0.25, 0.  ],
           [0.  , 0.  , 1.  ]])
    """

    #: What members must say where there are classes; where there are none, it is predictions.
    reads: ClassVar[Reads]
    #: What it can decide.
    task: ClassVar[Task]

    @property
    def n_members(self) -> int | None:
        """How many members it is for; None when for any number."""
        return None

    def shares(self, said: Any, n_classes: int) -> Floats:
        """How much speaks for each class; the first of the largest is the decision.

        Parameters
        ----------
        said : array of shape (n_members, n_rows) or (n_members, n_rows, n_classes)
            Votes, -1 where a member does not vote; or supports, NaN for all classes where a member
            has none.
        n_classes : int
            Number of classes.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Numbers that are not negative, and sum to 1 in each row.
        """
        return self._decide(self._read(said, n_classes), n_classes)

    def predict(self, said: Any) -> Floats:
        """The number decided on.

        Parameters
        ----------
        said : array of shape (n_members, n_rows)
            Predictions, NaN where a member has none.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions; NaN where no member has one.
        """
        return self._decide(self._read_numbers(said), 0)[:, 0]

    def staged_shares(self, said: Any, n_classes: int) -> Iterator[Floats]:
        """:meth:`shares` of the first member, of the first two, and so on.

        Parameters
        ----------
        said, n_classes
            As for :meth:`shares`.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
            Shares.
        """
        yield from self._decide_in_stages(self._read(said, n_classes), n_classes)

    def staged_predict(self, said: Any) -> Iterator[Floats]:
        """:meth:`predict` of the first member, of the first two, and so on.

        Parameters
        ----------
        said : array of shape (n_members, n_rows)
            Predictions, NaN where a member has none.

        Yields
        ------
        ndarray of shape (n_rows,)
            Predictions.
        """
        for decided in self._decide_in_stages(self._read_numbers(said), 0):
            yield decided[:, 0]

    def decide(self, said: npt.NDArray[Any], n_classes: int) -> Floats:
        """:meth:`shares` or :meth:`predict` of answers that are known to be in order.

        It is for answers that members of ours have just given: nothing is checked.

        Parameters
        ----------
        said : ndarray of shape (n_members, n_rows) or (n_members, n_rows, n_classes)
            Votes of whole numbers, from -1 on; or float64 supports; or float64 predictions where
            there are no classes. Of as many members as the decider is for.
        n_classes : int
            Number of classes, 0 in regression.

        Returns
        -------
        ndarray of shape (n_rows, n_classes) or (n_rows,)
            Shares, or numbers.
        """
        if n_classes == 0:
            return self._decide(said[:, :, None], 0)[:, 0]
        return self._decide(said, n_classes)

    def decide_in_stages(
        self, parts: Iterable[npt.NDArray[Any]], n_classes: int
    ) -> Iterator[Floats]:
        """:meth:`decide` of the first member, of the first two, and so on.

        Parameters
        ----------
        parts : iterable of ndarray
            Answers as for :meth:`decide`, of the first few members, of the next few, and so on;
            the next part is asked for when the stages of the one before are done.
        n_classes : int
            Number of classes, 0 in regression.

        Yields
        ------
        ndarray of shape (n_rows, n_classes) or (n_rows,)
            Shares, or numbers.
        """
        said = np.concatenate(list(parts))
        if n_classes:
            yield from self._decide_in_stages(said, n_classes)
        else:
            for decided in self._decide_in_stages(said[:, :, None], 0):
                yield decided[:, 0]

    def subset(self, indices: Any) -> Decider:
        """The decider of some of the members.

        Parameters
        ----------
        indices : sequence of int, or mask
            Which members, in the order in which their answers will come.

        Returns
        -------
        Decider
            What was learnt of them.
        """
        return self

    @abstractmethod
    def _decide(self, said: npt.NDArray[Any], n_classes: int) -> Floats:
        """Shares of each class, or one number where there are no classes."""

    def _decide_in_stages(self, said: npt.NDArray[Any], n_classes: int) -> Iterator[Floats]:
        for n_heard in range(1, len(said) + 1):
            yield self.subset(np.arange(n_heard))._decide(said[:n_heard], n_classes)

    def _read(self, said: Any, n_classes: int) -> npt.NDArray[Any]:
        if self.task == "regression":
            raise ValueError(
                f"{type(self).__name__} predicts numbers; it has no shares of classes."
            )
        _check_n_classes(n_classes, fewest=1)
        read = read_votes if self.reads == "votes" else read_supports
        return read(said, n_classes, self.n_members)

    def _read_numbers(self, said: Any) -> Floats:
        if self.task == "classification":
            raise ValueError(f"{type(self).__name__} decides on classes; it predicts no numbers.")
        return read_predictions(said, self.n_members)[:, :, None]


class RunningDecider(Decider):
    """A decider that hears one member after the other, and could decide after each.

    Examples
    --------
    >>> from orfeon.combining.supports import Max
    >>> [numbers.tolist() for numbers in Max().staged_predict([[1.0], [0.5], [3.0]])]
    [[1.0], [1.0], [3.0]]
    """

    @abstractmethod
    def _stages(self, said: npt.NDArray[Any], n_classes: int) -> Iterator[Callable[[], Floats]]:
        """What decides with the members heard so far, after each; good until the next."""

    def _decide(self, said: npt.NDArray[Any], n_classes: int) -> Floats:
        *_, conclude = self._stages(said, n_classes)
        return conclude()

    def _decide_in_stages(self, said: npt.NDArray[Any], n_classes: int) -> Iterator[Floats]:
        for conclude in self._stages(said, n_classes):
            yield conclude()


@dataclass(frozen=True)
class CombiningRule(ABC):
    """A way from the answers of members to a decision; its fields are its options.

    Examples
    --------
    >>> from orfeon.combining.rule import as_combining_rule
    >>> rule = as_combining_rule("weighted")
    >>> rule, rule.reads, rule.learns, rule.task
    (Weighted(smoothing=1.0, below_chance='against'), 'votes', True, 'both')
    """

    #: The word for it.
    name: ClassVar[str]
    #: What members must say where there are classes; where there are none, it is predictions.
    reads: ClassVar[Reads]
    #: Whether it needs labelled examples that the members have not seen.
    learns: ClassVar[bool] = False
    #: What it can decide.
    task: ClassVar[Task]
    #: Options that have a number for each member.
    per_member: ClassVar[tuple[str, ...]] = ()

    @property
    def is_plain(self) -> bool:
        """Whether no option says anything of single members, such as their weights."""
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
            With the options of these members; the rule itself, if it has none of single members.
        """
        given = {name: getattr(self, name) for name in self.per_member}
        cut = {
            name: [numbers[i] for i in members_at(indices, len(numbers))]
            for name, numbers in given.items()
            if numbers is not None
        }
        return replace(self, **cut) if cut else self

    def learn(self, said: Any, y: Any, n_classes: int, weights: Any = None) -> Decider:
        """Learn from answers on examples that the members were not trained on.

        Parameters
        ----------
        said : array of shape (n_members, n_examples) or (n_members, n_examples, n_classes)
            Votes, -1 where a member does not vote; or supports, NaN for all classes where a member
            has none; or in regression predictions, NaN where there is none. None for a rule that
            does not learn.
        y : array of shape (n_examples,)
            Class codes or targets. None for a rule that does not learn.
        n_classes : int
            Number of classes, 0 in regression.
        weights : array of shape (n_examples,), optional
            Sample weights; 0 is the same as leaving one out, 2 as giving it twice.

        Returns
        -------
        Decider
            What decides.
        """
        _check_n_classes(n_classes, fewest=0)
        self.check(is_regression=n_classes == 0)
        if not self.learns:
            return self._decider()
        return self._learn(read_examples(said, y, n_classes, weights, self.reads))

    def check(self, *, is_regression: bool) -> None:
        """Refuse a problem that the rule is not made for.

        Parameters
        ----------
        is_regression : bool
            Whether the members predict numbers.
        """
        wanted: Task = "regression" if is_regression else "classification"
        if self.task not in ("both", wanted):
            says = "predict numbers" if is_regression else "decide on classes"
            raise ValueError(
                f"rule={self.name!r} is for {self.task}, and these members {says}; rules for "
                f"{wanted} are {', '.join(rules_for(wanted))}."
            )

    def _decider(self) -> Decider:
        """What decides, of a rule that does not learn."""
        if isinstance(self, Decider):
            return self
        raise NotImplementedError

    def _learn(self, examples: LabelledAnswers) -> Decider:
        """What decides, of a rule that learns."""
        raise NotImplementedError


def as_combining_rule(rule: str | CombiningRule, **options: Any) -> CombiningRule:
    """The rule of a name.

    Parameters
    ----------
    rule : str or CombiningRule
        A name among ``RULES``, or a rule, which is returned as it is.
    **options
        Options of the rule.

    Returns
    -------
    CombiningRule
        The rule with its options.

    Examples
    --------
    >>> from orfeon.combining.rule import as_combining_rule
    >>> as_combining_rule("trimmed_mean", share=0.2)
    TrimmedMean(share=0.2)
    """
    if isinstance(rule, CombiningRule):
        if options:
            raise ValueError(
                f"{', '.join(options)} cannot be given beside rule={rule!r}, which has its options."
            )
        return rule
    if not isinstance(rule, str) or rule not in RULES:
        raise ValueError(f"rule={rule!r} is not known; rules are {', '.join(RULES)}.")
    kind = _class(rule)
    known = [field.name for field in fields(kind)]
    unknown = [name for name in options if name not in known]
    if unknown:
        allowed = ", ".join(known) if known else "none"
        raise TypeError(f"rule={rule!r} has no option {unknown[0]!r}; its options: {allowed}.")
    return kind(**options)


def rules_for(task: Task) -> tuple[str, ...]:
    """Names of the rules that can decide a task.

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
    >>> from orfeon.combining.rule import rules_for
    >>> rules_for("regression")
    ('weighted', 'mean', 'max', 'min', 'median', 'trimmed_mean', 'model_averaging')
    """
    if task not in ("classification", "regression"):
        raise ValueError(f'task={task!r} is not allowed; use "classification" or "regression".')
    return tuple(name for name in RULES if _class(name).task in ("both", task))


def _class(name: str) -> type[CombiningRule]:
    module, attribute = _HOMES[name]
    home = importlib.import_module(f"orfeon.combining.{module}")
    found: type[CombiningRule] = getattr(home, attribute)
    return found


def _check_n_classes(n_classes: Any, fewest: int) -> None:
    if isinstance(n_classes, bool) or not isinstance(n_classes, Integral) or n_classes < fewest:
        also = ", or 0 in regression" if fewest == 0 else ""
        raise ValueError(f"n_classes={n_classes!r} is not allowed; use 1 or more{also}.")


def check_real(
    rule: CombiningRule, name: str, is_allowed: Callable[[float], bool], allowed: str
) -> None:
    """Refuse an option of a rule that is not the number it should be.

    Parameters
    ----------
    rule : CombiningRule
        The rule.
    name : str
        The option.
    is_allowed : callable
        Whether a number is allowed.
    allowed : str
        What is allowed, in words.

    Examples
    --------
    >>> from orfeon.combining.supports import TrimmedMean
    >>> TrimmedMean(share=0.5)
    Traceback (most recent call last):
    ...
    ValueError: share=0.5 is not allowed; use a number from 0 to less than 0.5.
    """
    value = getattr(rule, name)
    is_real = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not is_real or not np.isfinite(value) or not is_allowed(float(value)):
        raise ValueError(f"{name}={value!r} is not allowed; use {allowed}.")


def keep_member_numbers(
    rule: CombiningRule, name: str, *, positive: Literal["all", "one", "none"] = "one"
) -> None:
    """Keep an option of a rule that has a number for each member as a tuple.

    Parameters
    ----------
    rule : CombiningRule
        The rule.
    name : str
        The option; None is left as it is.
    positive : {"all", "one", "none"}, default="one"
        Which of the numbers must be positive, at least; the others may be zero.

    Examples
    --------
    >>> from orfeon.combining.supports import Mean
    >>> Mean(weights=[1, 3])
    Mean(weights=(1.0, 3.0))
    >>> Mean(weights=[0, 0])
    Traceback (most recent call last):
    ...
    ValueError: weights=[0, 0] is not allowed; use a finite number for each member, none negative
    and one positive.
    """
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


def members_at(indices: Any, n_members: int) -> npt.NDArray[np.int64]:
    """Indices of some of the members.

    Parameters
    ----------
    indices : sequence of int, or mask
        Which.
    n_members : int
        How many there are.

    Returns
    -------
    ndarray of int64
        The same as numbers from 0 to ``n_members - 1``.

    Examples
    --------
    >>> from orfeon.combining.rule import members_at
    >>> members_at([True, False, True], 3), members_at(range(2), 3)
    (array([0, 2]), array([0, 1]))
    >>> members_at([3], 3)
    Traceback (most recent call last):
    ...
    ValueError: indices=[3] is not allowed; use whole numbers from 0 to 2, at least one, or a mask.
    """
    index = np.asarray(indices)
    if index.dtype == bool and index.shape == (n_members,):
        index = np.flatnonzero(index)
    is_list = index.ndim == 1 and len(index) > 0 and index.dtype.kind in "iu"
    if not is_list or index.min() < 0 or index.max() >= n_members:
        raise ValueError(
            f"indices={indices!r} is not allowed; use whole numbers from 0 to {n_members - 1}, at "
            "least one, or a mask."
        )
    return index.astype(np.int64)
