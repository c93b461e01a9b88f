"""Early decision: members vote in order until the rest cannot change the decision.

Most rows are easy: after little more than half of the members their decision is certain, and
after a few it is nearly so. Only the others need the whole ensemble.

References
----------
Hernández-Lobato, Martínez-Muñoz and Suárez (2009). Statistical instance-based pruning in ensembles
of independent classifiers. IEEE Transactions on Pattern Analysis and Machine Intelligence 31(2),
364-369.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from orfeon.base import class_codes
from orfeon.boosting.vote_sums import with_ties
from orfeon.combining.vote_stability import (
    CertainLead,
    RivalsBound,
    StabilityRule,
    TwoClassTable,
)
from orfeon.forest import PER_NODE, Forest
from orfeon.members import Members, adapt, unpruned
from orfeon.members.adapter import EnsembleInPipeline
from orfeon.members.members import CommitteeMembers, FromEach
from orfeon.members.protocol import MembersNotVotingError
from orfeon.members.vote_input import is_deprecated_matrix
from orfeon.utils.scikit_learn import _safe_indexing
from orfeon.utils.types import Floats, Integers

#: Sums of fractions are equal within this share of the largest possible sum.
_ROUNDING = 1e-9
#: Between two checks the number of members that have voted grows by this share. Measured: fewer
#: checks query members in vain, more checks take longer than they save.
_GROWTH = 1 / 8
#: Minimum number of trees between two checks: a check takes longer than a tree.
_FEWEST_TREES = 8
#: Values of a row that are copied in the time that a tree takes to vote.
_VALUES_PER_TREE = 128


@dataclass(frozen=True, eq=False)
class EarlyDecision:
    """Predictions, and how many members voted for each.

    Parameters
    ----------
    predictions : ndarray of shape (n_rows,)
        Predicted classes.
    n_queried : ndarray of shape (n_rows,)
        How many members voted on each row.
    n_members : int
        Number of members.
    confidence : float, default=1.0
        The requested confidence.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.combining import EarlyDecision
    >>> decided = EarlyDecision(np.array(["a", "b"]), np.array([6, 10]), 10)
    >>> decided.mean_queried, decided.saving
    (8.0, 0.2)
    >>> print(decided)
    2 rows decided exactly by 8.0 of 10 members on average: 20.0% saved
    """

    predictions: npt.NDArray[Any]
    n_queried: Integers
    n_members: int
    confidence: float = 1.0

    @property
    def mean_queried(self) -> float:
        """Mean number of members that voted on a row."""
        return float(self.n_queried.mean())

    @property
    def saving(self) -> float:
        """Share of the members that were not needed, on average."""
        # A single division, so that saving nothing gives exactly 0.
        return float((self.n_members - self.n_queried).mean() / self.n_members)

    def __str__(self) -> str:
        how = "exactly" if self.confidence == 1 else f"at confidence {self.confidence:g}"
        return (
            f"{len(self.n_queried):,} rows decided {how} by {self.mean_queried:,.1f} of "
            f"{self.n_members:,} members on average: {self.saving:.1%} saved"
        )


def early_decision(
    ensemble: Any,
    X: Any = None,
    *,
    confidence: float = 1.0,
    block: int | None = None,
    member_weights: Any = None,
) -> EarlyDecision:
    """Predict with as few members as needed: they vote in order until the decision is settled.

    Parameters
    ----------
    ensemble : classifier, list of classifiers, or members
        A fitted ensemble of orfeon or scikit-learn, pruned or not, a pipeline that ends in one, or
        a list of fitted classifiers, as :func:`orfeon.members.adapt` takes them; or a container
        such as a :class:`~orfeon.forest.Forest`, which predicts class codes.
    X : array or data frame of shape (n_rows, n_features)
        Rows.
    confidence : float, default=1.0
        With 1 the decision is exactly that of the whole ensemble, ties included. With less, a row
        is decided once the whole vote would differ with a probability of at most
        ``1 - confidence``.
    block : int, optional
        Members that vote between two checks. By default an eighth of those that have voted,
        starting where a row can be decided for the first time.
    member_weights : array of shape (n_members,), optional
        Weight of each member's vote, by default the ensemble's own; needs a confidence of 1. Where
        an ordering rule weights the votes of a pruned ensemble, give its ``ensemble_`` with
        ``order_.member_weights[: len(kept_)]``.

    Returns
    -------
    EarlyDecision
        Predictions, how many members voted on each row, and what that saves.

    See Also
    --------
    orfeon.combining.early_decision_votes : What would be saved, from a matrix of votes.

    Notes
    -----
    A row is decided exactly when the lead of its first class exceeds the votes still to come, or
    equals them if the class wins ties: with equal votes never before half of the members. An
    ensemble with ``combine="soft"`` is decided in the same way by its summed supports, with a
    confidence of 1 only. So are scikit-learn's forests, its soft voting, and its bagging of
    classifiers with probabilities, which average supports instead of counting votes.

    With a confidence below 1, members are assumed to be independent draws, with all class shares
    equally likely before the first vote. The votes still to come are then Dirichlet-multinomial,
    given those so far. For two classes the probability that they change the decision is computed
    exactly; for more it is bounded from above, so that more members may vote than needed, never
    fewer. The confidence holds on average over rows, for members in random order. In an ordered
    ensemble the first members are not a random sample: with a confidence of 1 decisions remain
    exact, but with less nothing is guaranteed. Nor does it save more: complementary members come
    first, and they agree less. To save more, keep only the first members.

    The decision on a row does not depend on the other rows.

    References
    ----------
    Hernández-Lobato, Martínez-Muñoz and Suárez (2009). Statistical instance-based pruning in
    ensembles of independent classifiers. IEEE Transactions on Pattern Analysis and Machine
    Intelligence 31(2), 364-369.

    Examples
    --------
    >>> from orfeon import RandomForestClassifier
    >>> from orfeon.combining import early_decision
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_new, _ = make_waveform(1000, random_state=1)
    >>> forest = RandomForestClassifier(n_estimators=1000, random_state=0).fit(X, y)
    >>> exactly = early_decision(forest, X_new)
    >>> print(exactly)
    1,000 rows decided exactly by 728.2 of 1,000 members on average: 27.2% saved
    >>> bool((exactly.predictions == forest.predict(X_new)).all())
    True
    >>> nearly = early_decision(forest, X_new, confidence=0.99)
    >>> print(nearly)
    1,000 rows decided at confidence 0.99 by 84.3 of 1,000 members on average: 91.6% saved
    >>> float((nearly.predictions != forest.predict(X_new)).mean())
    0.004
    """
    if is_deprecated_matrix(ensemble, X, "early_decision"):
        return early_decision_votes(
            ensemble, confidence=confidence, block=block or 1, member_weights=member_weights
        )
    return _decide_early(_read(ensemble, X), confidence, block, member_weights)


def early_decision_votes(
    votes: Any, *, confidence: float = 1.0, block: int = 1, member_weights: Any = None
) -> EarlyDecision:
    """Early decision on a matrix of votes: how many members would have been needed.

    Parameters
    ----------
    votes : array of shape (n_members, n_rows)
        Label that each member votes for; all votes are needed. The classes are those with votes.
    confidence, member_weights
        As for :func:`orfeon.early_decision`.
    block : int, default=1
        Members that vote between two checks.

    Returns
    -------
    EarlyDecision
        Predictions, how many members voted on each row, and what that saves.

    Examples
    --------
    >>> from orfeon.combining import early_decision_votes
    >>> early_decision_votes([["a", "b"], ["a", "a"], ["b", "b"]]).n_queried
    array([2, 3])
    """
    return _decide_early(_read_votes(votes), confidence, block, member_weights)


def _decide_early(
    panel: _Panel, confidence: float, block: int | None, member_weights: Any
) -> EarlyDecision:
    confidence = _checked_confidence(confidence)
    summed = _sums_of(panel, member_weights, confidence)
    rule = summed.rule(confidence)
    checks = _checks(panel, rule.first, _checked_block(block))
    found = panel.query(lambda rows: _decide(summed, rule, checks, rows), panel.rows, 0)
    return EarlyDecision(panel.classes[found[:, 0]], found[:, 1], len(panel.members), confidence)


def _decide(summed: _Sums, rule: StabilityRule, checks: Sequence[int], rows: Any) -> Integers:
    """Class code of each row, and how many members voted on it."""
    n_rows = rows.shape[0]
    found = np.empty((n_rows, 2), np.int64)
    which, is_open = np.arange(n_rows), np.ones(n_rows, dtype=bool)
    sums = np.zeros((n_rows, summed.members.n_classes), summed.dtype)
    for k, upto in enumerate(checks):
        summed.add(sums, checks[k - 1] if k else 0, upto, rows)
        if upto == checks[-1]:
            now = np.flatnonzero(is_open)
            found[which[now], 0] = summed.decide(sums[now], rows, now)
        else:
            leader, settled = rule.settled(sums, upto)
            now = np.flatnonzero(settled & is_open)
            found[which[now], 0] = leader[now]
        found[which[now], 1] = upto
        is_open[now] = False
        left = np.flatnonzero(is_open)
        if not len(left):
            break
        # Settled rows stay until copying the others is cheaper.
        if summed.pays_to_copy(rows, len(left), checks[k + 1] - upto):
            rows, sums, which = _take(rows, left), sums[left], which[left]
            is_open = np.ones(len(left), dtype=bool)
    return found


def _checks(panel: _Panel, first: int, block: int | None) -> list[int]:
    """Numbers of members after which rows are checked; the last is that of all members."""
    n_members = len(panel.members)
    if block is None:
        block = panel.block
    if block is not None:
        return [*range(block * -(-first // block), n_members, block), n_members]
    fewest = _FEWEST_TREES if isinstance(panel.members, Forest) else 1
    checks = []
    while first < n_members:
        checks.append(first)
        first += max(fewest, int(first * _GROWTH))
    return [*checks, n_members]


# -- sums of votes and supports --------------------------------------------------------------------


class _Sums(ABC):
    """Sums of votes or supports."""

    dtype: type = np.float64

    def __init__(self, members: Any) -> None:
        self.members = members

    @abstractmethod
    def rule(self, confidence: float) -> StabilityRule:
        """The rule that settles rows."""

    @abstractmethod
    def add(self, sums: npt.NDArray[Any], first: int, last: int, rows: Any) -> None:
        """Add the votes or supports of the members from ``first`` to ``last``."""

    def decide(self, sums: npt.NDArray[Any], rows: Any, which: Integers) -> Integers:
        """Class codes of the rows ``which``, whose sums over all members are given."""
        return np.asarray(np.argmax(sums, axis=1))

    def pays_to_copy(self, rows: Any, n_left: int, n_members: int) -> bool:
        """Whether querying members on fewer rows is worth the copy of these."""
        n_settled = int(rows.shape[0]) - n_left
        if not isinstance(self.members, Forest):
            return n_settled > 0
        return n_settled * n_members * _VALUES_PER_TREE > n_left * int(rows.shape[1])


class _Votes(_Sums):
    dtype = np.int64

    def rule(self, confidence: float) -> StabilityRule:
        n_members, n_classes = len(self.members), self.members.n_classes
        if confidence == 1:
            return CertainLead(np.ones(n_members, np.int64), n_classes)
        if n_classes == 2:
            return TwoClassTable(n_members, 1 - confidence)
        return RivalsBound(n_members, n_classes, 1 - confidence)

    def add(self, sums: npt.NDArray[Any], first: int, last: int, rows: Any) -> None:
        sums += _consecutive(self.members, first, last).count_votes(rows)


class _WeightedVotes(_Sums):
    def __init__(self, members: Any, weights: Floats) -> None:
        super().__init__(members)
        self._weights = weights

    def rule(self, confidence: float) -> StabilityRule:
        total = float(self._weights.sum())
        # Sums of whole numbers are exact, so ties are ties.
        is_exact = total < 2**53 and bool((self._weights == np.floor(self._weights)).all())
        slack = 0.0 if is_exact else _ROUNDING * total
        return CertainLead(self._weights, self.members.n_classes, slack)

    def add(self, sums: npt.NDArray[Any], first: int, last: int, rows: Any) -> None:
        everyone = np.arange(len(sums))
        votes = _consecutive(self.members, first, last).votes(rows)
        for vote, weight in zip(votes, self._weights[first:last], strict=True):
            sums[everyone, vote] += weight

    def decide(self, sums: npt.NDArray[Any], rows: Any, which: Integers) -> Integers:
        return super().decide(with_ties(sums, self._weights.sum()), rows, which)


class _Supports(_Sums):
    """Class supports, which sum to 1."""

    def __init__(self, members: Any, weights: Floats | None = None) -> None:
        super().__init__(members)
        self._weights = np.ones(len(members)) if weights is None else weights
        self._slack = _ROUNDING * float(self._weights.sum())

    def rule(self, confidence: float) -> StabilityRule:
        return CertainLead(self._weights, self.members.n_classes, self._slack)

    def add(self, sums: npt.NDArray[Any], first: int, last: int, rows: Any) -> None:
        sums += _consecutive(self.members, first, last).mean_supports(rows) * (last - first)

    def decide(self, sums: npt.NDArray[Any], rows: Any, which: Integers) -> Integers:
        best = sums.max(axis=1, keepdims=True)
        close = (sums > best - self._slack).sum(axis=1) > 1
        leader = super().decide(sums, rows, which)
        # Rounding decides ties, so it has to be that of the whole ensemble.
        if close.any():
            leader[close] = self._query_all_members(_take(rows, which[close]))
        return leader

    def _query_all_members(self, rows: Any) -> Integers:
        return np.asarray(np.argmax(self.members.mean_supports(rows), axis=1))


class _Foreign(_Supports):
    """Supports, or weighted votes, of an ensemble whose own ``predict`` decides ties."""

    def add(self, sums: npt.NDArray[Any], first: int, last: int, rows: Any) -> None:
        answers = self.members.subset(range(first, last)).supports(rows)
        for one, weight in zip(answers, self._weights[first:last], strict=True):
            sums += weight * one

    def _query_all_members(self, rows: Any) -> Integers:
        return np.asarray(self.members.decide(rows))


def _sums_of(panel: _Panel, given: Any, confidence: float) -> _Sums:
    """The sums for these members; weights may be given for votes."""
    members, weights = panel.members, panel.weights if given is None else given
    is_foreign = isinstance(members, _Adapted)
    if panel.combine == "soft":
        _reject_with_supports(members, given if is_foreign else weights, confidence)
    if weights is not None:
        weights = _checked_weights(weights, len(members))
        if confidence < 1:
            raise ValueError(
                f"confidence={confidence} is not allowed with member_weights, because it assumes "
                "equal votes; use confidence=1."
            )
    if is_foreign and given is None and (panel.combine == "soft" or weights is not None):
        return _Foreign(members, weights)
    if panel.combine == "soft":
        return _Supports(members)
    return _Votes(members) if weights is None else _WeightedVotes(members, weights)


def _reject_with_supports(members: Any, given: Any, confidence: float) -> None:
    """Reject options for votes where supports are averaged."""
    this, instead = 'this ensemble has combine="soft"', 'set combine="majority"'
    if isinstance(members, _Adapted):
        this = f"{members.name} averages the supports of its members"
        instead = "pass its votes, orfeon.members.adapt(ensemble).answers(X), to "
        instead += "early_decision_votes()"
    if given is not None:
        raise ValueError(f"member_weights are for votes, but {this}.")
    if confidence < 1:
        raise ValueError(
            f"confidence={confidence} is not allowed: it is for votes, but {this}. "
            f"Use confidence=1, or {instead}."
        )


def _consecutive(members: Any, first: int, last: int) -> Any:
    """The members from ``first`` to ``last``; trees are not copied for it."""
    if not isinstance(members, Forest):
        return members.subset(range(first, last))
    start = members.tree_start[first : last + 1]
    nodes = slice(start[0], start[-1])
    own = {name: getattr(members, name)[nodes] for name in ("nodes", *PER_NODE)}
    return replace(members, tree_start=start - start[0], **own)


def _take(rows: Any, which: Integers) -> Any:
    if isinstance(rows, np.ndarray):
        return rows.take(which, axis=0)
    return _safe_indexing(rows, which)


# -- members and rows ------------------------------------------------------------------------------


def _query_all(query: Callable[[Any], Any], rows: Any, axis: int) -> Any:
    return query(rows)


@dataclass(frozen=True)
class _Panel:
    """Members, the rows they vote on, and the classes of their codes."""

    members: Any
    rows: Any
    classes: npt.NDArray[Any]
    combine: str = "majority"
    block: int | None = None
    query: Callable[[Callable[[Any], Any], Any, int], Any] = _query_all
    weights: Floats | None = None


class _GivenVotes:
    """A matrix of votes as members; rows are column indices."""

    def __init__(self, codes: npt.NDArray[np.int32], n_classes: int) -> None:
        self._codes = codes
        self.n_classes = n_classes

    def __len__(self) -> int:
        return len(self._codes)

    def subset(self, chosen: range) -> _GivenVotes:
        return _GivenVotes(self._codes[chosen.start : chosen.stop], self.n_classes)

    def votes(self, rows: Integers) -> npt.NDArray[np.int32]:
        return self._codes[:, rows]

    def count_votes(self, rows: Integers) -> Integers:
        votes = self.votes(rows)
        return np.stack([(votes == k).sum(axis=0) for k in range(self.n_classes)], axis=1)


class _Adapted(FromEach):
    """Members of an ensemble of another library."""

    def __init__(self, ensemble: Members) -> None:
        self._ensemble = ensemble
        self.n_classes = ensemble.n_classes

    def __len__(self) -> int:
        return self._ensemble.n_members

    @property
    def name(self) -> str:
        return type(self._ensemble.ensemble).__name__

    def subset(self, chosen: range) -> _Adapted:
        return _Adapted(self._ensemble.part(chosen.start, chosen.stop))

    def votes(self, X: Any) -> npt.NDArray[np.int32]:
        return np.asarray(self._ensemble.answers(X), dtype=np.int32)

    def supports(self, X: Any) -> Floats:
        """What each member adds to each class in the ensemble's decision."""
        if self._ensemble.averages_supports:
            return self._ensemble.supports(X)
        return np.asarray(np.eye(self.n_classes)[self.votes(X)])

    def decide(self, X: Any) -> Integers:
        """Codes of the classes that the ensemble itself predicts."""
        classes = self._ensemble.classes
        assert classes is not None
        return class_codes(np.asarray(self._ensemble.ensemble.predict(X)), classes)


def _read(ensemble: Any, X: Any) -> _Panel:
    ensemble = unpruned(ensemble)
    is_members = hasattr(ensemble, "count_votes") and hasattr(ensemble, "subset")
    is_ours = hasattr(ensemble, "_rows") and hasattr(ensemble, "_query")
    if not is_members and not is_ours:
        return _read_adapted(ensemble, X)
    if is_regressor(ensemble) if is_ours else ensemble.n_classes == 0:
        raise _regression(ensemble)
    if is_ours:
        check_is_fitted(ensemble, "members_")
    if X is None:
        raise ValueError("X is None; give the rows to predict.")
    if is_ours:
        return _Panel(
            ensemble.members_, ensemble._rows(X), ensemble.classes_, _how(ensemble),
            query=ensemble._query,
            weights=ensemble._vote_weights() if hasattr(ensemble, "_vote_weights") else None,
        )  # fmt: skip
    if isinstance(ensemble, Forest | CommitteeMembers):
        X = np.ascontiguousarray(X, dtype=np.float64)
    return _Panel(ensemble, _some_rows(X), np.arange(ensemble.n_classes))


def _read_adapted(ensemble: Any, X: Any) -> _Panel:
    """Ensembles of other libraries, pipelines, and lists of classifiers."""
    try:
        found = adapt(ensemble)
    except MembersNotVotingError as error:
        raise TypeError(f"{error.name} cannot be decided early: {error.reason}.") from error
    except TypeError as error:
        raise TypeError(
            f"ensemble is a {type(ensemble).__name__}, which is not allowed: give an ensemble of "
            "classifiers of orfeon or scikit-learn, a list of fitted classifiers, or members, with "
            "X. Classifiers that predict class codes are members as "
            "orfeon.members.members.EstimatorMembers(estimators, n_classes)."
        ) from error
    if found.classes is None:
        raise _regression(ensemble)
    if X is None:
        raise ValueError("X is None; give the rows to predict.")
    if isinstance(found, EnsembleInPipeline):  # the other steps transform the rows only once
        return _read(found.last.ensemble, found.transform(X))
    combine = "soft" if found.averages_supports else "majority"
    return _Panel(
        _Adapted(found), _some_rows(X), found.classes, combine, weights=found.member_weights
    )


def _regression(ensemble: Any) -> ValueError:
    return ValueError(
        f"ensemble is a {type(ensemble).__name__} for regression; only votes for classes can be "
        "decided early."
    )


def _some_rows(X: Any) -> Any:
    X = X if hasattr(X, "shape") else np.asarray(X)
    if X.shape[0] == 0:
        raise ValueError(f"X has shape {X.shape}; it needs at least one row.")
    return X


def _how(ensemble: Any) -> str:
    """Whether an ensemble counts votes or sums supports; other rules are rejected."""
    combine = getattr(ensemble, "combine", "majority")
    name = getattr(ensemble, "_simple_rule", "majority")
    if name == "soft":
        return "soft"
    if name not in ("majority", "plurality", "own"):
        raise ValueError(
            f"combine={combine!r} cannot be decided early; majority, plurality and soft can, and "
            'weighted votes with combine="majority" and member_weights=.'
        )
    return "majority"


def _read_votes(votes: Any) -> _Panel:
    given = np.asarray(votes)
    if isinstance(votes, np.ma.MaskedArray) and np.ma.getmaskarray(votes).any():
        raise ValueError("votes has masked entries; every member must vote on each row.")
    if given.ndim != 2 or 0 in given.shape:
        raise ValueError(
            f"votes has shape {given.shape}; a matrix of shape (n_members, n_rows) is expected, "
            "with at least one of each. For an ensemble, use early_decision()."
        )
    strange = given.dtype.kind == "f" and not np.isfinite(given).all()
    if given.dtype == object:
        strange = any(vote is None or vote != vote for vote in given.flat)
    if strange:
        raise ValueError(
            "votes has entries that are None, NaN or infinite; every vote must be a label."
        )
    classes = np.unique(given)
    codes = np.searchsorted(classes, given).astype(np.int32)
    # It is not known in advance that all will vote for the same class, so there is another.
    members = _GivenVotes(codes, max(2, len(classes)))
    return _Panel(members, np.arange(given.shape[1]), classes, block=1)


# -- checks ----------------------------------------------------------------------------------------


def _checked_confidence(confidence: Any) -> float:
    is_switch = type(confidence) is bool
    if is_switch or not isinstance(confidence, Real) or not 0 < float(confidence) <= 1:
        raise ValueError(
            f"confidence={confidence!r} is not allowed; give a number above 0, at most 1."
        )
    return float(confidence)


def _checked_block(block: Any) -> int | None:
    if block is None:
        return None
    if type(block) is bool or not isinstance(block, Integral) or int(block) < 1:
        raise ValueError(f"block={block!r} is not allowed; give an integer from 1 on, or None.")
    return int(block)


def _checked_weights(weights: Any, n_members: int) -> Floats:
    checked = np.asarray(weights, dtype=np.float64)
    if checked.shape != (n_members,):
        raise ValueError(
            f"member_weights has shape {checked.shape}; one weight for each of the {n_members} "
            "members is expected."
        )
    if not np.isfinite(checked).all() or (checked < 0).any() or not checked.any():
        raise ValueError("member_weights must be finite, not negative, and not all 0.")
    return checked
