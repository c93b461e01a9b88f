"""What models are made of besides estimators: forests, schemas, rules, experts..."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from orfeon.forest import NODE
from orfeon.io import consistency
from orfeon.io.catalogue import Entry, Fields
from orfeon.io.kinds import (
    Kind,
    anything,
    array,
    each,
    either,
    every,
    none,
    number,
    part,
    seeds,
    span,
    text,
    truth,
    whole,
)

Check = Callable[[Fields], None]

_FLOATS = array("f8", 1)
_INDICES = array("i8", 1, low=0)
_OWN_NUMBER = either(truth, none, number(), text)
_CATEGORY = either(text, truth, number())
HISTORY = every(list, each(span, text))

#: Where a class lives, what its attributes are, and the check of them together.
_PARTS: dict[str, tuple[str, dict[str, Kind], Check | None]] = {
    "Forest": (
        "orfeon.forest",
        {
            "tree_start": array("i8", 1, low=0),
            "nodes": array(NODE, 1),
            "n_children": array("u2", 1),
            "missing": array("u2", 1),
            "label": array("i4", 1),
            "value": array(("u4", "f8"), 2, finite=True),
            "n_classes": whole(0, 2**31 - 1),
            "n_categories": array("i8", 1, low=0),
            "branches": array("u2", 1),
            "projections": each(array("i8", 1, low=0), array("i4", 1), array("f8", 1)),
            "leaf_weight": either(none, array(("u4", "f8"), 1)),
            "leaf_impurity": either(none, array("f8", 1)),
        },
        consistency.check_forest,
    ),
    "Schema": (
        "orfeon.schema",
        {
            "categories": every(tuple, either(none, every(tuple, _CATEGORY)), at_least=1),
            "names": either(none, every(tuple, text)),
        },
        consistency.check_schema,
    ),
    "CrossValidation": (
        "orfeon.growth.cross_validated",
        {
            "alphas": _FLOATS,
            "losses": _FLOATS,
            "standard_errors": _FLOATS,
            "n_leaves": _INDICES,
            "step": whole(0),
        },
        None,
    ),
    "PermutationImportances": (
        "orfeon.permutation",
        {"mean": _FLOATS, "standard_error": _FLOATS, "per_tree": array("f8", 2)},
        None,
    ),
    "EstimatorMembers": (
        "orfeon.members",
        {
            "estimators": every(list, anything, at_least=1),
            "n_classes": whole(0),
            "attributes": either(none, every(list, _INDICES)),
        },
        consistency.check_estimator_members,
    ),
    "CommitteeMembers": (
        "orfeon.members",
        {"committees": every(list, part("Forest"), at_least=1)},
        consistency.check_same_forests("committees"),
    ),
    "Origin": (
        "orfeon.ensembles.training_set",
        {"sequence": seeds, "history": HISTORY, "members": every(tuple, whole(0))},
        None,
    ),
    "Order": (
        "orfeon.ordering.ordered",
        {
            "rule": part(
                "BoostingBased", "Clustering", "Complementarity", "IndividualError", "Kappa",
                "MarginDistance", "MetaTree", "Orientation", "RandomOrder", "ReduceError",
            ),
            "order": _INDICES,
            "criterion": _FLOATS,
            "error_curve": _FLOATS,
            "n_classes": whole(0),
            "own_size": either(none, whole(1)),
            "subsets": either(none, every(tuple, _INDICES)),
            "member_weights": either(none, array("f8", 1, finite=True)),
            "has_own_weights": truth,
        },
        consistency.check_order,
    ),
}  # fmt: skip


def entries() -> Iterator[Entry]:
    """The classes, with what is known of them."""
    for name, (home, kinds, check) in _PARTS.items():
        yield Entry(name, home, "call", kinds, check=check)
    yield from _rules()
    yield from _boosting()


def _rules() -> Iterator[Entry]:
    """Rules by which members are ordered or combined: their fields are options."""
    homes = {
        "orfeon.boosting.class_losses": "ExponentialLoss LogLoss MultinomialLoss",
        "orfeon.boosting.losses": "AbsoluteError HuberError QuantileError SquaredError",
        "orfeon.ordering.boosting_based": "BoostingBased",
        "orfeon.ordering.clustering": "Clustering",
        "orfeon.ordering.complementarity": "Complementarity",
        "orfeon.ordering.individual_error": "IndividualError",
        "orfeon.ordering.kappa": "Kappa",
        "orfeon.ordering.margin_distance": "MarginDistance",
        "orfeon.ordering.meta_tree": "MetaTree",
        "orfeon.ordering.orientation": "Orientation",
        "orfeon.ordering.random_order": "RandomOrder",
        "orfeon.ordering.reduce_error": "ReduceError",
    }
    for home, names in homes.items():
        for name in names.split():
            yield Entry(name, home, "call", None)


def _boosting() -> Iterator[Entry]:
    yield Entry(
        "AdditiveModel", "orfeon.boosting.gradient", "call",
        {"start": array("f8", 1, finite=True), "forest": part("Forest")},
        check=consistency.check_additive_model,
    )  # fmt: skip
