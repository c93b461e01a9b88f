"""The estimators that model files know, and the attributes that fitting sets in them."""

from __future__ import annotations

from collections.abc import Iterator

from orfeon.io import consistency
from orfeon.io.catalogue import Entry
from orfeon.io.kinds import (
    Kind,
    anything,
    array,
    each,
    either,
    estimator,
    every,
    labels,
    named,
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
from orfeon.io.part_classes import HISTORY
from orfeon.io.rule_classes import COMBINING, LEARNT, LOSSES

_CURVE = array("f8", 1)
_MATRIX = array("f8", 2)
_COUNTS = array("i8", 1, low=0)
_MEMBERS = part(
    "Forest", "CommitteeMembers", "EstimatorMembers", "PoolMembers", "ProblemMembers"
)  # fmt: skip

#: What an attribute may be, in whatever estimator it is.
_KINDS: dict[str, Kind] = {
    "_queried": text,
    "_batches": every(list, span),
    "_chosen": every(list, whole(0)),
    "_class_factors": either(none, _CURVE),
    "_committee_size": whole(1),
    "_dealt": every(list, array("u4", 2)),
    "_samples": text,
    "_fitted_loss": part(*LOSSES),
    "_gains": _CURVE,
    "_history": HISTORY,
    "_known_classes": either(none, labels),
    "_learnt": either(none, each(part(*COMBINING), part(*COMBINING, *LEARNT))),
    "_made_by": named(anything),
    "_made_with": named(anything),
    "_method": text,
    "_model": part("AdditiveModel"),
    "_n_features_drawn": whole(1),
    "_n_drawn": whole(0),
    "_origin": part("Origin"),
    "_pool": either(part("StumpPool"), every(list, part("Voter", "MemberVoter"), at_least=1)),
    "_seen": every(tuple, text),
    "_sequence": seeds,
    "_sizes_differ": truth,
    "_sklearn_output_config": named(text),
    "_solutions": every(list, part("Solution"), at_least=1),
    "_spread": number(),
    "_target_scale": every(tuple, number()),
    "answered_": _CURVE,
    "queried_": _CURVE,
    "best_round_": whole(0),
    "calibrators_": every(list, estimator),
    "class_weights_": _CURVE,
    "classes_": labels,
    "code_book_": array("i1", 2),
    "committees_": array("i8", *range(1, 17), low=0),
    "constructed_": _MATRIX,
    "converged_": truth,
    "cost_matrix_": _MATRIX,
    "costs_": _CURVE,
    "cross_validation_": part("CrossValidation"),
    "ended_": text,
    "energy_curve_": array("f8", 1, 2),
    "ensemble_": estimator,
    "error_curve_": array("f8", 1, 2),
    "errors_": _CURVE,
    "estimator_": either(none, estimator),
    "estimators_": every(list, estimator, at_least=1),
    "expected_cost_": number(),
    "expected_loss_": number(),
    "experts_": part("ClassifierExperts", "GaussianExperts", "SoftmaxExperts"),
    "feature_names_in_": labels,
    "fidelity_": number(),
    "final_estimator_": either(estimator, part("MeanAnswers")),
    "flip_probabilities_": _MATRIX,
    "flip_rate_": number(),
    "forest_": part("Forest"),
    "gates_": part("Gates"),
    "generation_": text,
    "halves_": array("u1", 1),
    "history_": named(anything),
    "init_": array("f8", 1, finite=True),
    "inputs_": part("Inputs"),
    "kept_": _COUNTS,
    "level_one_": _MATRIX,
    "levels_": _COUNTS,
    "log_likelihood_curve_": _CURVE,
    "margin_": _CURVE,
    "member_weights_": array("f8", 1, 2),
    "members_": _MEMBERS,
    "minority_class_": scalar,
    "n_chunks_": whole(1),
    "n_classes_": whole(1),
    "n_estimators_": whole(0),
    "n_features_in_": whole(1),
    "n_iter_": whole(0),
    "n_members_": whole(1),
    "n_parts_": _COUNTS,
    "n_rounds_": whole(0),
    "named_estimators_": named(estimator),
    "oob_decision_function_": _MATRIX,
    "oob_error_": anything,
    "oob_error_curve_": _CURVE,
    "oob_prediction_": _CURVE,
    "oob_score_": anything,
    "oob_votes_": array("i4", 2),
    "order_": part("Order"),
    "part_sizes_": _COUNTS,
    "permutation_importances_": part("PermutationImportances"),
    "positive_class_": scalar,
    "referees_": every(list, estimator, at_least=1),
    "right_": _MATRIX,
    "sample_sizes_": _CURVE,
    "saving_": number(),
    "schema_": part("Schema"),
    "selected_": _COUNTS,
    "switch_rate_": number(),
    "target_range_": every(tuple, number()),
    "threshold_": number(),
    "train_loss_": _CURVE,
    "validation_errors_": _CURVE,
    "validation_loss_": _CURVE,
    "weights_": array("f8", 3, finite=True),
}  # fmt: skip

# Attributes that some estimators share; those with a question mark may be absent.
_TABLE = "schema_ n_features_in_ feature_names_in_?"
_CLASSES = "classes_ n_classes_"
_TREE = f"{_TABLE} forest_"
_ANY_TABLE = _TABLE.replace("schema_", "schema_?")  # of estimators that read it themselves
_CUT = "kept_? order_? error_curve_?"  # what prune() adds
_MANY = f"{_ANY_TABLE} estimator_ _sequence _history members_ _learnt _origin? {_CUT}"
_OUT_OF_BAG = "oob_score_? oob_error_? oob_error_curve_? permutation_importances_?"
_VOTES_OUT = f"{_OUT_OF_BAG} oob_votes_? oob_decision_function_?"
_NUMBERS_OUT = f"{_OUT_OF_BAG} oob_prediction_?"
_BOOSTED = f"{_MANY} member_weights_ errors_ _made_by validation_errors_?"
_DRAWN = "_n_drawn _dealt _batches?"
_GRADIENT = (
    f"{_TABLE} estimator_ _sequence _samples _fitted_loss _model _gains members_ init_ "
    "n_estimators_ train_loss_ validation_loss_?"
)
_STACKED = f"{_TABLE} estimators_ named_estimators_"
_TRANSFORMS = f"{_STACKED} _sklearn_output_config?"
_MIXED = f"{_TABLE} inputs_ gates_ experts_ log_likelihood_curve_ n_iter_ converged_"
_PERCEPTRON = (
    f"{_TABLE} inputs_ _solutions _made_with weights_ margin_ energy_curve_ error_curve_ n_iter_"
)
_COSTS = "classes_ n_classes_ cost_matrix_ estimator_ n_features_in_? feature_names_in_?"
_PRUNED = "kept_ ensemble_ order_ n_features_in_? feature_names_in_?"

_ESTIMATORS = {
    "AdaBoostClassifier": f"{_BOOSTED} {_CLASSES}",
    "AdaBoostM2Classifier": f"{_BOOSTED} {_CLASSES}",
    "AdaBoostMHClassifier": f"{_BOOSTED} {_CLASSES}",
    "AdaBoostOCClassifier": f"{_BOOSTED} {_CLASSES}",
    "AdaBoostPairwiseClassifier": f"{_BOOSTED} {_CLASSES}",
    "AdaBoostR2Regressor": _BOOSTED,
    "AdaBoostRRegressor": f"{_BOOSTED} target_range_ _spread",
    "ArbiterClassifier": f"{_STACKED} {_CLASSES} right_ _seen referees_",
    "ArcX4Classifier": f"{_BOOSTED} {_CLASSES}",
    "BaggingClassifier": f"{_MANY} {_CLASSES} {_VOTES_OUT} {_DRAWN}",
    "BaggingRegressor": f"{_MANY} {_NUMBERS_OUT} {_DRAWN}",
    "BalancedSubsetsClassifier": f"{_MANY} {_CLASSES} n_parts_ part_sizes_",
    "BoostingIGPClassifier": f"{_MANY} {_CLASSES}",
    "C45Classifier": f"{_TREE} {_CLASSES}",
    "CARTClassifier": f"{_TREE} {_CLASSES} cross_validation_?",
    "CARTRegressor": f"{_TREE} cross_validation_?",
    "CascadeClassifier": f"{_TRANSFORMS} {_CLASSES} constructed_",
    "CascadeRegressor": f"{_TRANSFORMS} constructed_",
    "ClassSwitchingClassifier": f"{_MANY} {_CLASSES} switch_rate_",
    "CombinedMultipleModels": (
        f"{_TABLE} {_CLASSES} ensemble_ generation_ estimator_ fidelity_ forest_?"
    ),
    "CostCascadeClassifier": (
        f"{_STACKED} {_CLASSES} calibrators_ levels_ threshold_ answered_ queried_ expected_loss_ "
        "costs_ expected_cost_ saving_"
    ),
    "CostSensitiveClassifier": f"{_COSTS} class_weights_",
    "CostThresholdClassifier": f"{_COSTS} threshold_?",
    "DoubleBaggingClassifier": f"{_MANY} {_CLASSES}",
    "ExtraTreesClassifier": f"{_MANY} {_CLASSES} {_VOTES_OUT} {_DRAWN}",
    "ExtraTreesRegressor": f"{_MANY} {_NUMBERS_OUT} {_DRAWN}",
    "FilterBoostClassifier": (
        f"{_ANY_TABLE} {_CLASSES} estimator_ committees_ members_ errors_ sample_sizes_ {_CUT}"
    ),
    "FlippingClassifier": f"{_MANY} {_CLASSES} flip_rate_ flip_probabilities_",
    "GradientBoostingClassifier": f"{_GRADIENT} {_CLASSES}",
    "GradientBoostingRegressor": _GRADIENT,
    "HierarchicalExpertsClassifier": f"{_MIXED} {_CLASSES}",
    "HierarchicalExpertsRegressor": f"{_MIXED} _target_scale",
    "IGPCommitteesClassifier": f"{_MANY} {_CLASSES} _committee_size",
    "IGPEnsembleClassifier": f"{_MANY} {_CLASSES}",
    "IGPTreeClassifier": f"{_TREE} {_CLASSES} n_rounds_ halves_",
    "MetaDecisionTree": "forest_ n_members_",
    "MixtureOfExpertsClassifier": f"{_MIXED} {_CLASSES}",
    "MixtureOfExpertsRegressor": f"{_MIXED} _target_scale",
    "MultiBoostClassifier": f"{_BOOSTED} {_CLASSES}",
    "ObliqueForestClassifier": f"{_MANY} {_CLASSES} {_VOTES_OUT} {_DRAWN}",
    "ObliqueForestRegressor": f"{_MANY} {_NUMBERS_OUT} {_DRAWN}",
    "ObliqueTreeClassifier": f"{_TREE} {_CLASSES}",
    "ObliqueTreeRegressor": _TREE,
    "OutputCodeClassifier": f"{_TABLE} {_CLASSES} code_book_ estimators_",
    "OutputSmearingRegressor": _MANY,
    "PPBoostClassifier": f"{_BOOSTED} {_CLASSES} positive_class_",
    "PPTSSClassifier": (
        "classes_ n_features_in_ feature_names_in_? positive_class_ estimator_ selected_ history_ "
        "best_round_ ended_"
    ),
    "ParallelPerceptronClassifier": (
        f"{_PERCEPTRON} {_CLASSES} _known_classes? minority_class_ _class_factors?"
    ),
    "ParallelPerceptronRegressor": f"{_PERCEPTRON} target_range_",
    "PartitionedClassifier": f"{_MANY} {_CLASSES} {_VOTES_OUT} n_chunks_",
    "PartitionedRegressor": f"{_MANY} {_NUMBERS_OUT} n_chunks_",
    "PoolBoostClassifier": f"{_BOOSTED} {_CLASSES} _chosen _pool",
    "PrunedClassifier": f"{_PRUNED} classes_",
    "PrunedRegressor": _PRUNED,
    "RandomForestClassifier": f"{_MANY} {_CLASSES} {_VOTES_OUT} {_DRAWN} _n_features_drawn",
    "RandomForestRegressor": f"{_MANY} {_NUMBERS_OUT} {_DRAWN} _n_features_drawn",
    "RandomSubspaceClassifier": f"{_MANY} {_CLASSES} _n_drawn _sizes_differ?",
    "RandomSubspaceRegressor": f"{_MANY} _n_drawn _sizes_differ?",
    "RandomTreeClassifier": f"{_TREE} {_CLASSES}",
    "RandomTreeRegressor": _TREE,
    "RandomizedTreesClassifier": f"{_MANY} {_CLASSES}",
    "StackingClassifier": f"{_TRANSFORMS} {_CLASSES} _method _queried level_one_ final_estimator_",
    "StackingRegressor": f"{_TRANSFORMS} _method _queried level_one_ final_estimator_",
    "StumpClassifier": f"{_TREE} {_CLASSES}",
    "StumpRegressor": _TREE,
    "WaggingClassifier": f"{_MANY} {_CLASSES} {_VOTES_OUT}",
    "WaggingRegressor": f"{_MANY} {_NUMBERS_OUT}",
}

#: The state of a run of boosting holds the training samples; a saved model does not go on with it.
_RUN = "_run"
#: Callbacks belong to the process, and requests for metadata to the pipeline around the model.
_LEFT_OUT = frozenset({_RUN, "_metadata_request", "_skl_callbacks"})
#: Attributes whose names in files are older than those in the classes.
_IN_FILES = {
    "_n_features_drawn": "_n_attributes_drawn",
    "_queried": "_asked",
    "_samples": "_examples",
    "queried_": "asked_",
}
#: Estimators that are parts of others only.
_HOMES = {"MetaDecisionTree": "orfeon.combining.meta_decision_tree"}
_CHECKS = {"MetaDecisionTree": consistency.check_meta_decision_tree}


def entries() -> Iterator[Entry]:
    """The estimators, with what is known of them."""
    for name, written in _ESTIMATORS.items():
        names = written.split()
        fields = {one.rstrip("?") for one in names}
        yield Entry(
            name,
            _HOMES.get(name, "orfeon"),
            "state",
            {one.rstrip("?"): _KINDS[one.rstrip("?")] for one in names},
            optional=frozenset(one.rstrip("?") for one in names if one.endswith("?")),
            left_out=_LEFT_OUT,
            check=_CHECKS.get(name, consistency.check_estimator),
            is_estimator=True,
            names_in_files={one: _IN_FILES[one] for one in _IN_FILES if one in fields},
        )
