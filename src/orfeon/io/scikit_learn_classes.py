"""Estimators of scikit-learn that model files know themselves: models and pipelines have them.

All others go through skops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from orfeon.io import scikit_learn_forests as forests
from orfeon.io import scikit_learn_trees as trees
from orfeon.io.catalogue import Entry, Fields
from orfeon.io.kinds import Kind, anything, whole
from orfeon.io.scikit_learn_checks import checks_of

#: Functions that follow from other attributes, and what belongs to the process.
_LEFT_OUT = frozenset({"f_", "_metadata_request", "_skl_callbacks"})

_NAMES = "n_features_in_ feature_names_in_ _sklearn_output_config"

_CUT = "kept_ order_ error_curve_"  # what prune() adds
_CLASSES = "classes_ n_classes_"
_TREE = "tree_ n_outputs_ max_features_"
_MEMBERS = f"estimator_ estimator_params estimators_ {_CUT}"
_BAGGED = (
    f"{_MEMBERS} estimators_features_ _n_samples _max_samples _max_features _sample_weight _seeds "
    "oob_score_"
)
_FOREST = (
    f"{_MEMBERS} estimator n_outputs_ _n_samples _sample_weight _n_samples_bootstrap oob_score_"
)

#: Where an estimator lives, and the attributes that fitting sets.
_ESTIMATORS = {
    "AdaBoostClassifier": (
        "sklearn.ensemble",
        f"{_MEMBERS} {_CLASSES} estimator_weights_ estimator_errors_",
    ),
    "BaggingClassifier": ("sklearn.ensemble", f"{_BAGGED} {_CLASSES} oob_decision_function_"),
    "BaggingRegressor": ("sklearn.ensemble", f"{_BAGGED} oob_prediction_"),
    "ColumnTransformer": (
        "sklearn.compose",
        "_columns _transformer_to_input_indices _remainder sparse_output_ transformers_ "
        "output_indices_ _transformers_feature_names_out _n_features",
    ),
    "DecisionTreeClassifier": ("sklearn.tree", f"{_TREE} {_CLASSES}"),
    "DecisionTreeRegressor": ("sklearn.tree", f"{_TREE} class_weight"),
    "DummyClassifier": (
        "sklearn.dummy",
        "classes_ n_classes_ class_prior_ constant_ n_outputs_ sparse_output_ _strategy",
    ),
    "DummyRegressor": ("sklearn.dummy", "constant_ n_outputs_"),
    "ExtraTreeClassifier": ("sklearn.tree", f"{_TREE} {_CLASSES}"),
    "ExtraTreeRegressor": ("sklearn.tree", f"{_TREE} class_weight"),
    "ExtraTreesClassifier": ("sklearn.ensemble", f"{_FOREST} {_CLASSES} oob_decision_function_"),
    "ExtraTreesRegressor": ("sklearn.ensemble", f"{_FOREST} class_weight oob_prediction_"),
    "FrozenEstimator": ("sklearn.frozen", ""),
    "FunctionTransformer": ("sklearn.preprocessing", ""),
    "GaussianNB": (
        "sklearn.naive_bayes",
        "classes_ epsilon_ theta_ var_ class_count_ class_prior_",
    ),
    "IsotonicRegression": (
        "sklearn.isotonic",
        "increasing_ X_min_ X_max_ X_thresholds_ y_thresholds_",
    ),
    "LabelEncoder": ("sklearn.preprocessing", "classes_"),
    "LinearRegression": ("sklearn.linear_model", "coef_ intercept_ rank_ singular_"),
    "LogisticRegression": ("sklearn.linear_model", "classes_ coef_ intercept_ n_iter_"),
    "MinMaxScaler": (
        "sklearn.preprocessing",
        "n_samples_seen_ scale_ min_ data_min_ data_max_ data_range_",
    ),
    "OneHotEncoder": (
        "sklearn.preprocessing",
        "_infrequent_enabled categories_ _drop_idx_after_grouping drop_idx_ _n_features_outs "
        "_infrequent_indices _default_to_infrequent_mappings",
    ),
    "OrdinalEncoder": (
        "sklearn.preprocessing",
        "_infrequent_enabled categories_ _missing_indices _infrequent_indices "
        "_default_to_infrequent_mappings",
    ),
    "Pipeline": ("sklearn.pipeline", _CUT),
    "RandomForestClassifier": ("sklearn.ensemble", f"{_FOREST} {_CLASSES} oob_decision_function_"),
    "RandomForestRegressor": ("sklearn.ensemble", f"{_FOREST} class_weight oob_prediction_"),
    "Ridge": ("sklearn.linear_model", "coef_ intercept_ n_iter_ solver_"),
    "RidgeCV": ("sklearn.linear_model", "alpha_ best_score_ coef_ intercept_ cv_results_"),
    "RobustScaler": ("sklearn.preprocessing", "center_ scale_"),
    "SimpleImputer": ("sklearn.impute", "_fit_dtype _fill_dtype indicator_ statistics_"),
    "StandardScaler": ("sklearn.preprocessing", "n_samples_seen_ mean_ var_ scale_"),
    "VotingClassifier": (
        "sklearn.ensemble",
        f"le_ classes_ estimators_ named_estimators_ {_CUT}",
    ),
    "VotingRegressor": ("sklearn.ensemble", f"estimators_ named_estimators_ {_CUT}"),
}


def _interpolate(regression: Any) -> None:
    """Set the function of an isotonic regression, which follows from its thresholds."""
    if hasattr(regression, "X_thresholds_"):
        regression._build_f(regression.X_thresholds_, regression.y_thresholds_)


def _packed_state(ensemble: Any) -> Fields:
    """The attributes of an ensemble, its trees end to end where they are alike."""
    kept = {name: value for name, value in vars(ensemble).items() if name not in _LEFT_OUT}
    if "estimators_" in kept:
        kept["estimators_"] = forests.packed(kept["estimators_"])
    return kept


_FINISH: dict[str, Callable[[Any], None]] = {"IsotonicRegression": _interpolate}


def entries() -> Iterator[Entry]:
    """The estimators, with what is known of them."""
    yield trees.entry()
    yield forests.entry()
    for name, (home, fitted) in _ESTIMATORS.items():
        names = f"{fitted} {_NAMES}".split()
        kinds: dict[str, Kind] = dict.fromkeys(names, anything)
        kinds["n_features_in_"] = whole(1)
        if "tree_" in kinds:
            kinds["tree_"] = trees.TREE
        if fitted.startswith(_FOREST):
            kinds["estimators_"] = forests.MEMBERS
        yield Entry(
            f"sklearn.{name}",
            home,
            "state",
            kinds,
            optional=frozenset(names),
            left_out=_LEFT_OUT,
            check=checks_of(name, names),
            to_state=_packed_state if "estimators_" in kinds else None,
            finish=_FINISH.get(name),
            is_estimator=True,
            attribute=name,
        )
