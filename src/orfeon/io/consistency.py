"""Attributes that must go together, so that nothing reads beyond an array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from orfeon.forest import Forest
from orfeon.schema import MAX_CATEGORIES, Schema

Fields = dict[str, Any]


def _require(condition: Any, what: str) -> None:
    if not condition:
        raise ValueError(what)


# -- parts -----------------------------------------------------------------------------------------


def check_forest(fields: Fields) -> None:
    """The arrays of a forest describe trees; see :mod:`orfeon.forest_checks`."""
    forest = Forest(**fields)
    inner = forest.n_children > 0 if len(forest.n_children) == len(forest.nodes) else None
    _require(inner is not None, "n_children must have one entry for each node.")
    if forest.n_classes == 0:
        _require(forest.value.shape[1:] == (1,), "value must have one column in regression.")
    attribute = forest.attribute[inner]
    ordered = attribute < 0
    known = attribute < len(forest.n_categories)
    tested = np.where(known & ~ordered, attribute, 0)
    tables = forest.threshold[inner][~ordered & (forest.n_categories[tested] > 0)]
    _require(
        ((tables >= 0) & (tables <= len(forest.branches))).all(),
        "a categorical test has its branches outside the table of branches.",
    )
    forest.validate()


def check_schema(fields: Fields) -> None:
    """Categories are few enough, and all different."""
    for categories in fields["categories"]:
        if categories is not None:
            _require(len(categories) <= MAX_CATEGORIES, "an attribute has too many categories.")
            different = {(isinstance(one, bool), one) for one in categories}
            _require(len(different) == len(categories), "categories must be different.")


def check_estimator_members(fields: Fields) -> None:
    """Every member can predict, and knows its columns if not all."""
    members, attributes = fields["estimators"], fields["attributes"]
    _require(all(hasattr(one, "predict") for one in members), "members must predict.")
    _require(
        attributes is None or len(attributes) == len(members),
        "attributes must be given for each member.",
    )


def check_same_forests(name: str) -> Callable[[Fields], None]:
    """All forests of a list have the same attributes and classes."""

    def check(fields: Fields) -> None:
        first, *others = fields[name]
        for other in others:
            same = first.n_classes == other.n_classes and np.array_equal(
                first.n_categories, other.n_categories
            )
            _require(same, f"{name} differ in their attributes or classes.")

    return check


def check_order(fields: Fields) -> None:
    """An order has every member once, and a curve of as many sizes."""
    order = fields["order"]
    n = len(order)
    _require(n and np.array_equal(np.sort(order), np.arange(n)), "order must have each member.")
    for name in ("criterion", "error_curve"):
        _require(len(fields[name]) == n, f"{name} must have one value for each member.")
    weights, subsets, own = fields["member_weights"], fields["subsets"], fields["own_size"]
    _require(weights is None or len(weights) == n, "member_weights must be those of all members.")
    _require(weights is not None or not fields["has_own_weights"], "member_weights are absent.")
    _require(own is None or own <= n, "own_size is larger than the ensemble.")
    if subsets is not None:
        _require(len(subsets) == n, "subsets must have one entry for each size.")
        _require(all((one < n).all() for one in subsets), "subsets name members that are not.")


def check_additive_model(fields: Fields) -> None:
    """Trees of numbers, one for each score in each round."""
    forest, start = fields["forest"], fields["start"]
    _require(forest.n_classes == 0, "its trees must say numbers.")
    _require(len(start) and len(forest) % len(start) == 0, "it has trees for some scores only.")


# -- estimators ------------------------------------------------------------------------------------


def check_estimator(fields: Fields) -> None:
    """What a fitted estimator knows of its table, classes and members is one story."""
    _check_classes(fields)
    _check_table(fields)
    n_members = len(fields["members_"]) if "members_" in fields else None
    for name in ("member_weights_", "errors_"):
        if n_members is not None and name in fields and name == "member_weights_":
            _require(len(fields[name]) == n_members, f"{name} must have one entry a member.")
            _require(np.isfinite(fields[name]).all(), f"{name} must be finite.")


def _check_classes(fields: Fields) -> None:
    if "classes_" not in fields:
        return
    classes = fields["classes_"]
    if "n_classes_" in fields:
        _require(fields["n_classes_"] == len(classes), "n_classes_ must be that of classes_.")
    _require(len(set(classes.tolist())) == len(classes), "classes_ must be different.")


def _check_table(fields: Fields) -> None:
    schema: Schema | None = fields.get("schema_")
    if schema is None:
        return
    _require(
        schema.n_attributes == fields.get("n_features_in_"),
        "schema_ must have as many attributes as n_features_in_.",
    )
    n_classes = fields.get("n_classes_")
    for forest in _forests_of(fields):
        _require(
            np.array_equal(forest.n_categories, schema.n_categories),
            "its trees must be those of the attributes of schema_.",
        )
        if n_classes is not None:
            _require(forest.n_classes in (n_classes, 0), "its trees must know classes_.")
        else:
            _require(forest.n_classes == 0, "its trees must say numbers.")


def _forests_of(fields: Fields) -> Iterator[Forest]:
    """Forests that rows of the table are sent through."""
    for name in ("members_", "forest_", "_model"):
        value = fields.get(name)
        if isinstance(value, Forest):
            yield value
        for inner in ("committees", "rounds", "forest"):
            held = getattr(value, inner, ())
            yield from (held,) if isinstance(held, Forest) else held
