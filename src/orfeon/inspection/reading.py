"""Read what is inspected: an ensemble, a list of estimators, a matrix of votes, orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from orfeon.members import adapt
from orfeon.members.protocol import Members, MembersNotVotingError
from orfeon.members.vote_input import On, Source, can_be_queried, check_has_labels, read_source
from orfeon.members.votes import Task
from orfeon.ordering.order_type import Order, order_source
from orfeon.ordering.rule import Rule, as_rule, error_curve
from orfeon.utils.scikit_learn import _check_sample_weight
from orfeon.utils.types import Floats


def read_answers(
    members_or_votes: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    what: str,
    on: On = "train",
    no_vote: Any = None,
    task: Task | None = None,
) -> Source:
    """Read the members' predictions of samples, or let them predict."""
    check_has_labels(members_or_votes, y, what)
    if can_be_queried(members_or_votes):
        if X is None:
            raise ValueError(f"X is missing: {what} need samples that the members vote on.")
        members_of(members_or_votes, what)
    return read_source(members_or_votes, X, y, sample_weight, on=on, no_vote=no_vote, task=task)


def read_class_votes(
    members_or_votes: Any, X: Any, y: Any, sample_weight: Any = None, *, what: str, **options: Any
) -> Source:
    """Read votes for classes, or let members vote."""
    source = read_answers(members_or_votes, X, y, sample_weight, what=what, **options)
    if source.selection.is_regression:
        raise ValueError(
            f"members that predict numbers have no {what}; votes for classes are needed."
        )
    return source


def members_of(ensemble: Any, what: str) -> Members:
    """A fitted ensemble of any kind whose members can be queried individually."""
    try:
        return adapt(ensemble)
    except MembersNotVotingError as error:
        can_follow = hasattr(ensemble, "staged_predict")
        hint = " error_curves() follows it stage by stage." if can_follow else ""
        raise TypeError(
            f"{what} need members that predict on their own, and those of {error.name} do "
            f"not: {error.reason}.{hint}"
        ) from error


def named_ensembles(given: Any, name: str | None = None) -> dict[str, Any]:
    """One ensemble with its name, or several with theirs."""
    if isinstance(given, Mapping):
        return {str(its): one for its, one in given.items()}
    has_class = hasattr(given, "fit") or hasattr(given, "predict")
    return {name or (type(given).__name__ if has_class else "members"): given}


def read_weights(sample_weight: Any, n_samples: int) -> Floats:
    """Sample weights, at least one of them positive."""
    if sample_weight is not None and not np.any(np.asarray(sample_weight, dtype=np.float64)):
        raise ValueError(
            "sample_weight is zero for every sample; at least one weight must be positive."
        )
    weights = _check_sample_weight(
        sample_weight, np.empty((n_samples, 1)), dtype=np.float64, ensure_non_negative=True
    )
    return np.asarray(weights, dtype=np.float64)


Orders = Mapping[str, Any] | Sequence[str | Rule | Order] | str | Rule | Order


def read_orders(orders: Orders | None, source: Source) -> dict[str, Order]:
    """Orders by name, computed where only a rule is given."""
    named = {} if orders is None else named_orders(orders)
    return {name: as_order(one, source) for name, one in named.items()}


def named_orders(orders: Orders) -> dict[str, Any]:
    """Rules, orders or permutations with their names."""
    if isinstance(orders, str | Rule | Order):
        orders = [orders]
    if isinstance(orders, Mapping):
        return {str(name): one for name, one in orders.items()}
    given = list(orders)
    rules = [one.rule if isinstance(one, Order) else one for one in given]
    names = [_name_of(rule) for rule in rules]
    full = [
        name if names.count(name) == 1 else repr(rule)
        for name, rule in zip(names, rules, strict=True)
    ]
    if len(set(full)) < len(full):
        raise ValueError(f"orders holds {full}, two with one name; give a dictionary with names.")
    return dict(zip(full, given, strict=True))


def _name_of(rule: Any) -> str:
    name = rule.name if isinstance(rule, Rule) else rule
    if not isinstance(name, str):
        raise ValueError(
            f"orders holds {rule!r}; without names it holds rules, names of rules and Order "
            'objects. A permutation has a name: {"mine": [2, 0, 1]}.'
        )
    return name.replace("_", " ")


def as_order(given: Any, source: Source | None = None) -> Order:
    """An order of all members."""
    if isinstance(given, Order):
        if source is not None:
            check_members(len(given), source.selection.n_members, "orders")
        return given
    if source is None:
        raise ValueError(f"orders holds {given!r}, which is not an Order; order() returns one.")
    if isinstance(given, str | Rule):
        return order_source(source, as_rule(given))
    n_members = source.selection.n_members
    places = np.asarray(given)
    if not np.array_equal(np.sort(places, axis=None), np.arange(n_members)) or places.ndim != 1:
        raise ValueError(
            f"orders holds {given!r}, which is neither a rule nor an order of the {n_members} "
            "members, each once."
        )
    given_order = places.astype(np.int64)
    return Order(
        as_rule("random"), given_order, np.zeros(n_members),
        error_curve(source.selection, given_order), source.selection.n_classes,
    )  # fmt: skip


def check_members(found: int, expected: int, name: str) -> None:
    """Refuse what belongs to another ensemble."""
    if found != expected:
        raise ValueError(f"{name} has {found} members, and the ensemble has {expected}.")
