"""What models are made of besides estimators: forests, schemas, rules, experts..."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from orfeon.forest import NODE
from orfeon.io import consistency, forest_checks, rule_classes
from orfeon.io.catalogue import Entry, Fields
from orfeon.io.kinds import (
    Kind,
    array,
    dictionary,
    each,
    either,
    estimator,
    every,
    labels,
    none,
    number,
    part,
    scalar,
    seeds,
    span,
    text,
    truth,
    whole,
)

Check = Callable[[Fields], None]

#: Fields whose names in files are older than those in the classes.
_IN_FILES = {"feature": "attribute", "features": "attributes"}

_FLOATS = array("f8", 1)
_INDICES = array("i8", 1, low=0)
_CATEGORY = either(text, truth, number())
HISTORY = every(list, each(span, text))

#: Where a class lives, what its features are, and the check of them together.
Parts = dict[str, tuple[str, dict[str, Kind], Check | None]]

_PARTS: Parts = {
    "Forest": (
        "orfeon.forest",
        {
            "tree_start": array("i8", 1, low=0),
            "nodes": array(NODE, 1),
            "n_children": array("u2", 1),
            "missing": array("u2", 1),
            "label": array("i4", 1),
            "value": array(("u4", "f8"), 2),
            "n_classes": whole(0, 2**31 - 1),
            "n_categories": array("i8", 1, low=0),
            "branches": array("u2", 1),
            "projections": each(array("i8", 1, low=0), array("i4", 1), array("f8", 1)),
            "leaf_weight": either(none, array(("u4", "f8"), 1)),
            "leaf_impurity": either(none, array("f8", 1)),
        },
        forest_checks.check_forest,
    ),
    "Schema": (
        "orfeon.data.schema",
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
        "orfeon.forest.permutation",
        {"mean": _FLOATS, "standard_error": _FLOATS, "per_tree": array("f8", 2)},
        None,
    ),
    "EstimatorMembers": (
        "orfeon.members.members",
        {
            "estimators": every(list, estimator, at_least=1),
            "n_classes": whole(0),
            "features": either(none, every(list, _INDICES)),
        },
        consistency.check_estimator_members,
    ),
    "CommitteeMembers": (
        "orfeon.members.members",
        {"committees": every(list, part("Forest"), at_least=1)},
        consistency.check_same_forests("committees"),
    ),
    "Origin": (
        "orfeon.ensembles.provenance",
        {"sequence": seeds, "history": HISTORY, "members": every(tuple, whole(0))},
        None,
    ),
    "Order": (
        "orfeon.ordering.ordering",
        {
            "rule": part(*rule_classes.ORDERING),
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


_BOOSTING: Parts = {
    "AdditiveModel": (
        "orfeon.boosting.gradient",
        {"start": array("f8", 1, finite=True), "forest": part("Forest")},
        consistency.check_additive_model,
    ),
    "ProblemMembers": (
        "orfeon.boosting.binary_problems",
        {
            "rounds": every(list, part("Forest", "EstimatorMembers"), at_least=1),
            "problems": every(list, _INDICES),
            "codes": array("i8", 2),
        },
        consistency.check_problem_members,
    ),
    "Cuts": (
        "orfeon.boosting.stump_pool",
        {
            "feature": _INDICES,
            "cut": array("i8", 1, low=-1),
            "threshold": _FLOATS,
            "missing": _INDICES,
        },
        consistency.check_cuts,
    ),
    "StumpPool": (
        "orfeon.boosting.stump_pool",
        {"tests": part("Cuts"), "n_classes": whole(1), "n_categories": _INDICES},
        consistency.check_stump_pool,
    ),
    "Voter": (
        "orfeon.boosting.given_pool",
        {"classifier": estimator, "codes": dictionary(scalar, whole(0)), "place": whole(0)},
        None,
    ),
    "MemberVoter": (
        "orfeon.boosting.given_pool",
        {"classifier": estimator, "codes": array("i4", 1, low=0)},
        None,
    ),
    "PoolMembers": (
        "orfeon.boosting.given_pool",
        {
            "estimators": every(list, part("Voter", "MemberVoter"), at_least=1),
            "n_classes": whole(1),
            "features": none,
        },
        None,
    ),
}

_PERCEPTRONS: Parts = {
    "Inputs": (
        "orfeon.perceptrons.inputs",
        {
            "codes": every(tuple, either(none, every(tuple, whole(0))), at_least=1),
            "centres": array("f8", 1, finite=True),
            "spreads": _FLOATS,
            "standardize": truth,
            "divisor": number(),
        },
        consistency.check_inputs,
    ),
    "Solution": (
        "orfeon.perceptrons.p_delta",
        {
            "weights": array("f8", 2, finite=True),
            "margin": number(),
            "rate": number(),
            "error": number(),
            "error_before": number(),
            "n_epochs": whole(0),
        },
        None,
    ),
}

_EXPERTS: Parts = {
    "Gates": (
        "orfeon.combining.gating",
        {"levels": every(tuple, array("f8", 3, finite=True), at_least=1)},
        consistency.check_gates,
    ),
    "SoftmaxExperts": (
        "orfeon.combining.local_models",
        {"weights": array("f8", 3, finite=True)},
        None,
    ),
    "GaussianExperts": (
        "orfeon.combining.local_models",
        {
            "variances": _FLOATS,
            "weights": either(none, array("f8", 2, finite=True)),
            "estimators": every(tuple, estimator),
        },
        consistency.check_gaussian_experts,
    ),
    "ClassifierExperts": (
        "orfeon.combining.local_models",
        {"estimators": every(tuple, estimator, at_least=1), "classes": labels},
        None,
    ),
    "MeanAnswers": (
        "orfeon.combining.mean_answers",
        {"n_models": whole(1), "classes_": either(none, labels)},
        None,
    ),
}


def entries() -> Iterator[Entry]:
    """The classes, with what is known of them."""
    for name, (home, kinds, check) in {**_PARTS, **_BOOSTING, **_PERCEPTRONS, **_EXPERTS}.items():
        made = forest_checks.from_state if name == "Forest" else None
        yield Entry(
            name, home, "call", kinds, check=check, from_state=made,
            names_in_files={one: _IN_FILES[one] for one in _IN_FILES if one in kinds},
        )  # fmt: skip
