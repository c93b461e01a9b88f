"""Orders of the members of an ensemble, however they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from orfeon.members.votes import Source
from orfeon.ordering.curves import error_curve
from orfeon.ordering.ordering import Order, order_source
from orfeon.ordering.rule import Rule, as_rule

Orders = Mapping[str, Any] | Sequence[str | Rule | Order] | str | Rule | Order


def read_orders(orders: Orders | None, source: Source) -> dict[str, Order]:
    """Orders by name, made where only a rule is given."""
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
        raise ValueError(f"orders holds {full}, two of one name; give a dictionary with names.")
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
        raise ValueError(f"orders holds {given!r}, which is no Order; order() gives one.")
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
