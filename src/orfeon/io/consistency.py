"""Checks that attributes fit each other, so that nothing reads beyond an array.

Each check takes the attributes of one object by name, whose kinds the catalogue has checked, and
raises ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from orfeon.data.schema import MAX_CATEGORIES, MAX_LEVELS, Schema
from orfeon.forest import Forest
from orfeon.io.errors import require
from orfeon.io.forest_checks import check_forest, forest_from_state, tables_of
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.saved import is_key

Fields = dict[str, Any]

#: The attribute in which each class of members holds its forests.
_WITHIN = {"AdditiveModel": "forest", "CommitteeMembers": "committees", "ProblemMembers": "rounds"}


# -- parts -----------------------------------------------------------------------------------------


def check_schema(fields: Fields) -> None:
    for categories in fields["categories"]:
        if categories is not None:
            # Trees that split such a feature are checked with their forest.
            require(len(categories) <= MAX_LEVELS, "a feature has too many categories.")
            require(all(map(is_key, categories)), "a category is an integer that is too large.")
            different = {(isinstance(one, bool), one) for one in categories}
            require(len(different) == len(categories), "categories must be distinct.")


def check_estimator_members(fields: Fields) -> None:
    members, features = fields["estimators"], fields["features"]
    require(all(hasattr(one, "predict") for one in members), "members must have predict.")
    require(
        features is None or len(features) == len(members),
        "features must be given for each member.",
    )


def check_committees(fields: Fields) -> None:
    first, *others = fields["committees"]
    for other in others:
        same = first.n_classes == other.n_classes and np.array_equal(
            first.n_categories, other.n_categories
        )
        require(same, "committees differ in their features or classes.")


def check_order(fields: Fields) -> None:
    order = fields["order"]
    n = len(order)
    require(n and np.array_equal(np.sort(order), np.arange(n)), "order must have each member once.")
    for name in ("criterion", "error_curve"):
        require(len(fields[name]) == n, f"{name} must have one value per member.")
    weights, subsets, own = fields["member_weights"], fields["subsets"], fields["own_size"]
    require(weights is None or len(weights) == n, "member_weights must have one entry per member.")
    require(weights is not None or not fields["has_own_weights"], "member_weights are missing.")
    require(own is None or own <= n, "own_size is larger than the ensemble.")
    if subsets is not None:
        require(len(subsets) == n, "subsets must have one entry per size.")
        require(
            all((one < n).all() for one in subsets), "subsets names a member that does not exist."
        )


def check_additive_model(fields: Fields) -> None:
    forest, start = fields["forest"], fields["start"]
    require(forest.n_classes == 0, "its trees must predict numbers.")
    # Trees have a value for one score, or for each.
    is_wide = forest.n_outputs > 1
    require(
        len(start) and (is_wide or len(forest) % len(start) == 0),
        "it must have the same number of trees for each score.",
    )
    require(not is_wide or forest.n_outputs == len(start), "it must have a value for each score.")
    # A score is the sum of one leaf per tree.
    require(not _splits_rows(forest), "its trees must not send rows down several branches.")


def check_isotonic(fields: Fields) -> None:
    _check_steps(fields["shares"], fields["probabilities"])


def check_venn_abers(fields: Fields) -> None:
    _check_steps(fields["shares"], fields["if_negative"], fields["if_positive"])
    require((fields["if_negative"] <= fields["if_positive"]).all(), "if_negative is above.")


def _check_steps(shares: Any, *steps: Any) -> None:
    require(len(shares) and (np.diff(shares) > 0).all(), "shares must be ascending.")
    for one in steps:
        require(len(one) == len(shares), "it must have one probability per share.")
        require(((one >= 0) & (one <= 1)).all(), "probabilities must be from 0 to 1.")


def check_target_statistics(fields: Fields) -> None:
    features, first = fields["features"], fields["first"]
    require(len(features) and (np.diff(features) > 0).all(), "features must be ascending.")
    require(len(first) == len(features) + 1 and first[0] == 0, "first must fit features.")
    require(first[-1] == len(fields["means"]), "first must end at the number of means.")
    require((np.diff(first) >= 2).all(), "a feature has too few means.")
    require(fields["means"].shape[1], "a level must have a mean.")


def _splits_rows(forest: Forest) -> bool:
    """Whether a node sends missing values, or a category, down all of its branches."""
    inner = forest.n_children > 0
    if (forest.missing[inner] == ALL_BRANCHES).any():
        return True
    # Tables of nodes that were pruned may still be there; only those of nodes count.
    _, first, width = tables_of(forest)
    entry = np.repeat(first - (np.cumsum(width) - width), width) + np.arange(width.sum())
    return bool((forest.branches[entry] == ALL_BRANCHES).any())


def check_problem_members(fields: Fields) -> None:
    rounds, problems, codes = fields["rounds"], fields["problems"], fields["codes"]
    require(len(rounds) == len(problems), "problems must be given for each member.")
    for classifiers, its in zip(rounds, problems, strict=True):
        require(len(classifiers) == len(its), "a member must have one classifier per problem.")
        require((its < len(codes)).all(), "a member solves a problem that does not exist.")
        require(classifiers.n_classes == 2, "its classifiers must have two classes.")


def check_cuts(fields: Fields) -> None:
    require(len({len(one) for one in fields.values()}) == 1, "its arrays differ in length.")
    require((fields["missing"] <= 1).all(), "missing must be 0 or 1.")
    require(not np.isnan(fields["threshold"]).any(), "a threshold is NaN.")


def check_stump_pool(fields: Fields) -> None:
    tests, many = fields["tests"], fields["n_categories"]
    require(len(many) and many.max() <= MAX_CATEGORIES, "a feature has too many categories.")
    require((tests.feature < len(many)).all(), "a test uses a feature that does not exist.")


def check_inputs(fields: Fields) -> None:
    n_inputs = sum(1 if one is None else len(one) for one in fields["codes"])
    for name in ("centres", "spreads"):
        require(len(fields[name]) == n_inputs, f"{name} must have one entry per input.")
    require((fields["spreads"] > 0).all(), "spreads must be positive.")
    require(fields["divisor"] > 0, "divisor must be positive.")


def check_left_out(fields: Fields) -> None:
    n_samples = len(fields["rows"])
    lengths = {len(fields[name]) for name in ("targets", "weights", "left_out")}
    require(lengths == {n_samples}, "its arrays must have one entry per sample.")
    require((fields["weights"] > 0).all(), "weights must be positive.")
    require(_are_bits(fields["left_out"], fields["n_members"]), "left_out must fit n_members.")
    require(fields["left_out"].any(axis=1).all(), "a sample was left out by no member.")


def check_conformal_regressor(fields: Fields) -> None:
    check_estimator(fields)
    samples, fold = fields["_samples"], fields["fold_"]
    n_samples = len(fields["errors_"])
    require(n_samples and len(fields["_weights"]) == n_samples, "_weights must fit errors_.")
    require((fields["_weights"] > 0).all(), "_weights must be positive.")
    if samples is not None:
        require(len(samples.rows) == n_samples, "_samples must fit errors_.")
    else:
        right = len(fold) == n_samples and fold.max() < len(fields["models_"])
        require(right, "fold_ must name one of models_ for each sample.")


def check_conformal_classifier(fields: Fields) -> None:
    check_estimator(fields)
    shares, codes, weights = (fields[name] for name in ("unseen_shares_", "_codes", "_weights"))
    require(len(shares) and len(shares) == len(codes) == len(weights), "its samples differ.")
    require((weights > 0).all(), "_weights must be positive.")
    n_classes = len(fields["classes_"])
    require(shares.shape[1] == n_classes, "unseen_shares_ must have one column per class.")
    require(codes.max() < n_classes, "_codes must be codes of classes_.")


def check_in_bag(fields: Fields) -> None:
    planes, n_units = fields["planes"], len(fields["rows"])
    require(0 < len(planes) < 63 and n_units, "counts must have digits and samples.")
    for plane in planes:
        right = len(plane) == n_units and _are_bits(plane, fields["n_members"])
        require(right, "planes must fit rows and n_members.")


def check_leaf_samples(fields: Fields) -> None:
    leaves, first = fields["leaves"], fields["first_node"]
    n_trees, n_samples = leaves.shape
    require(n_trees and n_samples, "leaves must not be empty.")
    require(fields["weights"].shape == leaves.shape, "weights must have the shape of leaves.")
    require(
        len(fields["targets"]) == n_samples == len(fields["rows"]),
        "targets and rows must have one entry per sample.",
    )
    require(np.isfinite(fields["weights"]).all(), "weights must be finite.")
    require((fields["weights"] >= 0).all(), "weights must not be negative.")
    require((np.diff(fields["rows"]) > 0).all(), "rows must be ascending.")
    require(len(first) == n_trees + 1 and first[0] == 0, "first_node must fit leaves.")
    require((leaves < np.diff(first)[:, None]).all(), "leaves has a node that does not exist.")


def _are_bits(bits: Any, n_members: int) -> bool:
    """Whether rows of bytes have a bit for each member and no more ones."""
    n_bytes = (n_members + 7) // 8
    return bits.shape[1] == n_bytes and not (bits[:, -1] >> (n_members - 8 * (n_bytes - 1))).any()


def check_gates(fields: Fields) -> None:
    """Each level has as many gates as the one above has branches."""
    n_gates = 1
    for weights in fields["levels"]:
        require(
            weights.shape[0] == n_gates and weights.size,
            "each level must have one gate per branch of the level above.",
        )
        require(weights.shape[2] == fields["levels"][0].shape[2], "levels differ in their inputs.")
        n_gates *= weights.shape[1]


def check_gaussian_experts(fields: Fields) -> None:
    n_experts, weights = len(fields["variances"]), fields["weights"]
    known = len(fields["estimators"]) if weights is None else len(weights)
    require(n_experts and known == n_experts, "experts must have one variance each.")
    require((fields["variances"] > 0).all(), "variances must be positive.")


def check_vote_likelihoods(fields: Fields) -> None:
    n_classes, table = len(fields["log_priors"]), fields["log_likelihoods"]
    require(table.shape[2] == n_classes, "log_likelihoods must have one entry per class.")
    require(not np.isnan(table).any(), "log_likelihoods must not be NaN.")


def check_rule_table(fields: Fields) -> None:
    n_rules, start = len(fields["label"]), fields["start"]
    for name in ("coverage", "confidence", "error"):
        require(len(fields[name]) == n_rules, f"{name} must have one entry per rule.")
    n_conditions = len(fields["feature"])
    for name in ("low", "high", "table"):
        require(len(fields[name]) == n_conditions, f"{name} must have one entry per condition.")
        require(not np.isnan(fields[name]).any(), f"{name} must not be NaN.")
    are_ends = len(start) == n_rules + 1 and start[0] == 0 and start[-1] == n_conditions
    require(are_ends and (np.diff(start) > 0).all(), "each rule must have conditions.")


# -- estimators ------------------------------------------------------------------------------------


def check_estimator(fields: Fields) -> None:
    _check_classes(fields)
    _check_table(fields)
    _check_voters(fields)
    _check_members(fields)
    _check_perceptrons(fields)
    _check_calibrator(fields)


def check_numeric_inputs(fields: Fields) -> None:
    _check_table(fields)
    schema, columns = fields["schema_"], fields["columns_"]
    is_categorical = schema.is_categorical
    n_numbers = int((~is_categorical).sum())
    for name in ("fills_", "means_", "scales_"):
        require(len(fields[name]) == n_numbers, f"{name} must have one entry per ordered feature.")
    n_codes = int((schema.n_categories[is_categorical] + 1).sum())
    require(len(columns) == n_codes, "columns_ must have one entry per category, and one more.")
    require(columns.max(initial=-1) < n_numbers + n_codes, "columns_ must be few.")


def check_selection(fields: Fields) -> None:
    check_estimator(fields)
    unseen, y, weights = (fields.get(f"_unseen{what}") for what in ("", "_y", "_weights"))
    if unseen is None or y is None or weights is None:
        require(unseen is y is weights is None, "it must have all of its unseen samples, or none.")
        return
    require(len(unseen) > 0 and len(unseen) == len(y) == len(weights), "its samples differ.")
    classes = fields.get("classes_")
    n_outputs = 1 if classes is None else len(classes)
    require(unseen.shape[1] == n_outputs, "its unseen samples must have its outputs.")
    is_coded = y.dtype.kind == "i"
    require(is_coded == (classes is not None), "its unseen samples must have its targets.")
    require(not is_coded or y.max() < n_outputs, "its unseen samples must have its classes.")


def check_meta_decision_tree(fields: Fields) -> None:
    forest = fields["forest_"]
    require(len(forest) == 1, "it must be one tree.")
    require(forest.n_classes == fields["n_members_"], "its tree must choose among n_members_.")
    require(not forest.n_categories.any(), "its tree must test numeric features.")


def check_dynamic_selection(fields: Fields) -> None:
    from orfeon.members import adapt  # here, because few models need it

    _check_classes(fields)
    points, votes, labels = fields["points_"], fields["votes_"], fields["labels_"]
    n_samples = len(points)
    lengths = {len(votes), len(labels), len(fields["sample_weights_"]), n_samples}
    require(n_samples > 0 and len(lengths) == 1, "its selection samples must be as many as votes.")
    require((fields["sample_weights_"] > 0).all(), "sample_weights_ must be positive.")
    n_classes = len(fields["classes_"])
    require(
        votes.size > 0 and votes.max() < n_classes and labels.max() < n_classes,
        "votes_ and labels_ must be codes of its classes.",
    )
    require(
        fields["inputs_"].n_inputs == points.shape[1] + 1
        and len(fields["inputs_"].codes) == fields["schema_"].n_features,
        "its points must have as many dimensions as its inputs.",
    )
    ensemble = adapt(fields["ensemble_"])
    require(ensemble.n_members == votes.shape[1], "votes_ must have one column per member.")
    require(ensemble.n_classes == n_classes, "its classes must be those of its ensemble.")
    if "centres_" in fields:
        require(
            len(fields["centres_"]) > 0 and fields["centres_"].shape[1] == points.shape[1],
            "centres_ must have as many dimensions as its points.",
        )
    if "true_supports_" in fields:
        is_same = fields["true_supports_"].shape == votes.shape
        require(is_same, "true_supports_ must have the shape of votes_.")
    needed = {"clusters": "centres_", "meta_des": "meta_estimator_"}.get(fields["rule"])
    require(needed is None or needed in fields, f"its rule needs {needed}.")


def check_soft_thresholds(fields: Fields) -> None:
    check_estimator(fields)
    forest, bounds = fields.get("forest_"), fields.get("soft_bounds_")
    if forest is None or bounds is None:
        return
    require(len(forest) == 1, "a tree with soft_bounds_ must be one tree.")
    require(bounds.shape == (len(forest.nodes), 2), "soft_bounds_ must have a row for each node.")


def check_rules(fields: Fields) -> None:
    """The conditions fit the features, and the rules the classes."""
    check_estimator(fields)
    table, n_classes = fields["_table"], len(fields["classes_"])
    n_categories = fields["schema_"].n_categories
    require((table.label < n_classes).all(), "a rule predicts a class that does not exist.")
    require((table.feature < len(n_categories)).all(), "a condition's feature does not exist.")
    many = n_categories[table.feature]
    require(((table.table >= 0) == (many > 0)).all(), "its conditions must fit schema_.")
    ends = table.table + many
    require((ends <= len(table.accepted)).all(), "a condition's categories are missing.")
    default = fields["default_class_"]
    require(default in fields["classes_"].tolist(), "default_class_ must be one of classes_.")
    require(
        fields["_shares"].shape == (len(table) + 1, n_classes),
        "_shares must have one row per rule and one for the default.",
    )


def _check_members(fields: Fields) -> None:
    if "members_" not in fields:
        return
    n_members = len(fields["members_"])
    _check_base(fields)
    if "member_weights_" in fields:
        weights = fields["member_weights_"]
        require(len(weights) == n_members, "member_weights_ must have one entry per member.")
        require(np.isfinite(weights).all(), "member_weights_ must be finite.")
    _check_pool(fields)
    _check_remembered(fields)
    if "committees_" in fields:
        who = fields["committees_"]
        require(
            who.size and who.max() < n_members, "committees_ names a member that does not exist."
        )


def _check_base(fields: Fields) -> None:
    """Rows are encoded for trees only, and ``estimator_`` decides whether members are trees."""
    if "estimator_" in fields:
        from orfeon.trees.base import BaseTree  # here, because only ensembles need it

        has_trees = any(isinstance(one, Forest) for one in _voters_of(fields))
        is_tree = isinstance(fields["estimator_"], BaseTree)
        require(has_trees == is_tree, "members_ must be trees if and only if estimator_ is one.")


def _check_remembered(fields: Fields) -> None:
    """Samples that were left out fit the members, and what these say of them."""
    members = fields["members_"]
    for name in ("left_out_samples_", "_in_bag"):
        known = fields.get(name)
        require(known is None or known.n_members == len(members), f"{name} must fit members_.")
    leaves = fields.get("_leaf_samples")
    if leaves is not None:
        right = isinstance(members, Forest) and np.array_equal(
            leaves.first_node, members.tree_start
        )
        require(right, "_leaf_samples must fit members_.")
    samples = fields.get("left_out_samples_")
    if samples is None:
        return
    n_classes = len(fields["classes_"]) if "classes_" in fields else 0
    is_code = samples.targets.dtype.kind == "i"
    require(is_code == (n_classes > 0), "targets must be numbers or classes as the members are.")
    if n_classes:
        codes = samples.targets
        require(((codes >= 0) & (codes < n_classes)).all(), "a target is not in classes_.")
    known = fields.get("oob_decision_function_" if n_classes else "oob_prediction_")
    fits = known is None or not len(samples.rows) or samples.rows.max() < len(known)
    require(fits, "left_out_samples_ has a row without an out-of-bag prediction.")
    if leaves is not None:
        require(
            np.isin(samples.rows, leaves.rows).all(), "left_out_samples_ must be among the leaves."
        )
    if known is not None and n_classes:
        require(known.shape[1] == n_classes, "oob_decision_function_ must fit classes_.")


def _check_pool(fields: Fields) -> None:
    pool: Any = fields.get("_pool")
    if type(pool).__name__ == "StumpPool":
        is_same = pool.n_classes == fields["n_classes_"] and np.array_equal(
            pool.n_categories, fields["schema_"].n_categories
        )
        require(is_same, "_pool must fit classes_ and schema_.")


def _check_perceptrons(fields: Fields) -> None:
    inputs, schema = fields.get("inputs_"), fields.get("schema_")
    if inputs is None or schema is None:
        return
    require(len(inputs.codes) == schema.n_features, "inputs_ must fit schema_.")
    if "weights_" in fields:
        weights = fields["weights_"]
        require(weights.shape[2] == inputs.n_inputs, "weights_ must fit inputs_.")
        require(weights.size, "weights_ must not be empty.")
    if "gates_" in fields:
        gates = fields["gates_"]
        require(gates.levels[0].shape[2] == inputs.n_inputs, "gates_ must fit inputs_.")
        require(gates.n_leaves == _n_experts(fields["experts_"]), "gates_ must lead to experts_.")


def _n_experts(experts: Any) -> int:
    weights = getattr(experts, "weights", None)
    return len(experts.estimators if weights is None else weights)


def _check_classes(fields: Fields) -> None:
    if "classes_" not in fields:
        return
    classes = fields["classes_"]
    if isinstance(classes, list):
        many = [len(own) for own in classes]
        require(fields.get("n_classes_") == many, "n_classes_ must be the lengths of classes_.")
        require(len(many) > 1, "classes_ must be an array, or a list of one for each output.")
        is_set = all(len(set(own.tolist())) == len(own) for own in classes)
        require(is_set, "classes_ must be distinct.")
        return
    if "n_classes_" in fields:
        require(fields["n_classes_"] == len(classes), "n_classes_ must be the length of classes_.")
    require(len(set(classes.tolist())) == len(classes), "classes_ must be distinct.")


def _check_calibrator(fields: Fields) -> None:
    calibrator: Any = fields.get("calibrator_")
    if calibrator is not None:
        is_same = calibrator.n_classes == len(fields.get("classes_", ()))
        require(is_same, "calibrator_ must have the classes of classes_.")


def _check_table(fields: Fields) -> None:
    schema: Schema | None = fields.get("schema_")
    forests = [one for one in _voters_of(fields) if isinstance(one, Forest)]
    if schema is None:
        require(not forests, "its trees need a schema_.")
        return
    require(
        schema.n_features == fields.get("n_features_in_"),
        "schema_ must have as many features as n_features_in_.",
    )
    n_categories = _of_extended_rows(fields, schema)
    for forest in forests:
        require(
            np.array_equal(forest.n_categories, n_categories),
            "its trees must fit the features of schema_.",
        )


def _of_extended_rows(fields: Fields, schema: Schema) -> Any:
    """Numbers of categories of the rows as trees take them."""
    many, statistics = schema.n_categories, fields.get("target_statistics_")
    if statistics is None:
        return many
    features = statistics.features
    require(features.max() < len(many), "target_statistics_ names a feature that does not exist.")
    require(schema.is_categorical[features].all(), "target_statistics_ are of categories.")
    own = [statistics.n_levels(i) for i in range(len(features))]
    require(np.array_equal(own, many[features]), "target_statistics_ must have all levels.")
    n_classes = len(fields.get("classes_", ()))
    expected = n_classes if n_classes > 2 else 1
    require(statistics.n_targets == expected, "target_statistics_ must have a mean per class.")
    many = many.copy()
    many[features] = 0
    return np.append(many, np.zeros(len(features) * (expected - 1), np.int64))


def _check_voters(fields: Fields) -> None:
    """Members of classifiers predict classes, except in gradient boosting."""
    if isinstance(fields.get("n_classes_"), list):
        width = sum(fields["n_classes_"])
        for one in _voters_of(fields):
            is_wide = isinstance(one, Forest) and not one.n_classes and one.n_outputs == width
            require(is_wide, "its trees must have a value for each class of each output.")
        return
    if "n_classes_" in fields and "_model" not in fields:
        allowed, what = {fields["n_classes_"]}, "its members must predict classes_."
        if _is_coded(fields):
            allowed.add(2)
    else:
        allowed, what = {0}, "its members must predict numbers."
    # Trees and averages of them may have several outputs.
    has_one = any(name in fields for name in ("n_classes_", "member_weights_", "init_"))
    # Those of gradient boosting may have a value for each score.
    width = fields["_model"].forest.n_outputs if "_model" in fields else 1
    for one in _voters_of(fields):
        require(one.n_classes in allowed, what)
        has_width = getattr(one, "n_outputs", 1) == width
        require(not has_one or has_width, "its trees must have one output.")


def _is_coded(fields: Fields) -> bool:
    """Whether members solve problems of two classes, as with output codes."""
    weights = fields.get("member_weights_")
    return weights is not None and weights.ndim == 2


def _voters_of(fields: Fields) -> Iterator[Any]:
    """Forests and other members that predict the encoded rows."""
    for name in ("members_", "forest_", "_model"):
        whole: Any = fields.get(name)
        inner = _WITHIN.get(type(whole).__name__)
        held = whole if inner is None else getattr(whole, inner)
        for one in held if isinstance(held, list) else [held]:
            if one is not None:
                yield one


#: Checks of single classes; other estimators get :func:`check_estimator`.
CHECKS: dict[str, Callable[[Fields], None]] = {
    "AdditiveModel": check_additive_model,
    "C45Classifier": check_soft_thresholds,
    "C45RulesClassifier": check_rules,
    "CommitteeMembers": check_committees,
    "ConformalClassifier": check_conformal_classifier,
    "ConformalRegressor": check_conformal_regressor,
    "Cuts": check_cuts,
    "DynamicSelectionClassifier": check_dynamic_selection,
    "EnsembleSelectionClassifier": check_selection,
    "EnsembleSelectionRegressor": check_selection,
    "EstimatorMembers": check_estimator_members,
    "Forest": check_forest,
    "GaussianExperts": check_gaussian_experts,
    "Gates": check_gates,
    "InBagCounts": check_in_bag,
    "Inputs": check_inputs,
    "IsotonicCalibrator": check_isotonic,
    "LeafSamples": check_leaf_samples,
    "LeftOutSamples": check_left_out,
    "MetaDecisionTree": check_meta_decision_tree,
    "NumericInputs": check_numeric_inputs,
    "Order": check_order,
    "ProblemMembers": check_problem_members,
    "RuleTable": check_rule_table,
    "Schema": check_schema,
    "StumpPool": check_stump_pool,
    "TargetStatistics": check_target_statistics,
    "VennAbersCalibrator": check_venn_abers,
    "VoteLikelihoods": check_vote_likelihoods,
}
#: Classes that are not built by their constructors alone.
MAKERS: dict[str, Callable[[Fields], Any]] = {"Forest": forest_from_state}
