"""The scikit-learn estimators that model files support directly; all others go through skops.

scikit-learn reads most of their attributes through NumPy, which checks indices. The checks here are
for the rest: indices that compiled code follows, and sizes of memory allocations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.io import limits
from orfeon.io.entry import Entry, Fields
from orfeon.io.errors import require
from orfeon.io.scikit_learn_trees import MEMBERS, TREE, alike_trees_entry, packed, tree_entry
from orfeon.utils import saved
from orfeon.utils.saved import Kind

Check = Callable[[Fields], None]

_NAMES = "n_features_in_ feature_names_in_ _sklearn_output_config"

_CUT = "kept_ order_ error_curve_"  # added by prune()
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
_NEIGHBORS = (
    "effective_metric_ effective_metric_params_ n_samples_fit_ outputs_2d_ radius _fit_X "
    "_fit_method _tree _y"
)
_NETWORK = (
    "best_loss_ best_validation_score_ coefs_ intercepts_ loss_ loss_curve_ n_iter_ n_layers_ "
    "n_outputs_ out_activation_ t_ validation_scores_"
)
#: What a network needs to go on with its training only, which starts anew after loading.
_OF_TRAINING = (
    "_best_coefs", "_best_intercepts", "_coef_indptr", "_intercept_indptr",
    "_no_improvement_count", "_optimizer", "_random_state",
)  # fmt: skip
#: Distances that need no more than the rows.
_METRICS = ("euclidean", "manhattan")

#: The module of each estimator, and its fitted attributes.
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
    "KNeighborsClassifier": ("sklearn.neighbors", f"{_NEIGHBORS} classes_"),
    "KNeighborsRegressor": ("sklearn.neighbors", _NEIGHBORS),
    "LabelBinarizer": ("sklearn.preprocessing", "classes_ sparse_input_ y_type_"),
    "LabelEncoder": ("sklearn.preprocessing", "classes_"),
    "LinearRegression": ("sklearn.linear_model", "coef_ intercept_ rank_ singular_"),
    "LogisticRegression": ("sklearn.linear_model", "classes_ coef_ intercept_ n_iter_"),
    "MLPClassifier": ("sklearn.neural_network", f"{_NETWORK} loss classes_ _label_binarizer"),
    "MLPRegressor": ("sklearn.neural_network", _NETWORK),
    "MinMaxScaler": (
        "sklearn.preprocessing",
        "n_samples_seen_ scale_ min_ data_min_ data_max_ data_range_",
    ),
    "Nystroem": (
        "sklearn.kernel_approximation",
        "components_ component_indices_ normalization_ _n_features_out",
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
    "TransformedTargetRegressor": (
        "sklearn.compose",
        "regressor_ transformer_ _training_dim",
    ),
    "VotingClassifier": (
        "sklearn.ensemble",
        f"le_ classes_ estimators_ named_estimators_ {_CUT}",
    ),
    "VotingRegressor": ("sklearn.ensemble", f"estimators_ named_estimators_ {_CUT}"),
}


def _interpolate(regression: Any) -> None:
    """Rebuild the interpolation of an isotonic regression from its thresholds."""
    if hasattr(regression, "X_thresholds_"):
        regression._build_f(regression.X_thresholds_, regression.y_thresholds_)


def _packed_state(ensemble: Any) -> Fields:
    """The attributes of an ensemble; similar trees are packed into one set of arrays."""
    state: Fields = dict(vars(ensemble))
    if "estimators_" in state:
        state["estimators_"] = packed(state["estimators_"])
    return state


def _network_state(network: Any) -> Fields:
    """The attributes of a network without those of an interrupted training."""
    return {name: value for name, value in vars(network).items() if name not in _OF_TRAINING}


def _compares_all_rows(model: Any) -> bool:
    """Whether nearest neighbours are found among plain rows, without a tree."""
    if not hasattr(model, "_fit_X"):
        return True
    return (
        model._fit_method == "brute"
        and type(model._fit_X) is np.ndarray
        and model.effective_metric_ in _METRICS
        and model._y.ndim == 1
    )


def scikit_learn_entries() -> Iterator[Entry]:
    """One for each estimator that can be saved; every attribute is optional."""
    yield tree_entry()
    yield alike_trees_entry()
    yield Entry("imblearn.Pipeline", "imblearn.pipeline", {})
    for name, (module, fitted) in _ESTIMATORS.items():
        names = f"{fitted} {_NAMES}".split()
        kinds: dict[str, Kind] = dict.fromkeys(names, saved.anything)
        kinds["n_features_in_"] = saved.integer(1)
        if "tree_" in kinds:
            kinds["tree_"] = TREE
        if fitted.startswith(_FOREST):
            kinds["estimators_"] = MEMBERS
        listed = {one: saved.optional(kind) for one, kind in kinds.items()}
        yield Entry(
            f"sklearn.{name}",
            module,
            {**listed, "f_": None},  # a function that is rebuilt from other attributes
            check=_checks_of(name, names),
            to_state=_packed_state if "estimators_" in kinds else _STATES.get(name),
            finish=_interpolate if name == "IsotonicRegression" else None,
            suits=_SUITS.get(name),
        )


#: How the state of some classes is read, and which of their objects are saved this way.
_STATES = {"MLPClassifier": _network_state, "MLPRegressor": _network_state}
_SUITS: dict[str, Callable[[Any], bool]] = {
    "KNeighborsClassifier": _compares_all_rows,
    "KNeighborsRegressor": _compares_all_rows,
    "Nystroem": lambda one: one.kernel == "rbf" and one.kernel_params is None,
}


# -- checks ----------------------------------------------------------------------------------------


def _checks_of(name: str, fitted: list[str]) -> Check:
    found: list[Check] = [check for one, check in _ATTRIBUTE_CHECKS.items() if one in fitted]
    found += [_CLASS_CHECKS[name]] if name in _CLASS_CHECKS else []

    def check(fields: Fields) -> None:
        for one in found:
            one(fields)

    return check


# -- trees, which predict without further checks ---------------------------------------------------


def _check_tree(fields: Fields) -> None:
    if "tree_" in fields:
        tree = fields["tree_"]
        is_wide = tree.n_features == fields.get("n_features_in_")
        require(is_wide, "tree_ must have n_features_in_ features.")
        require(tree.n_outputs == fields.get("n_outputs_"), "tree_ must have n_outputs_ outputs.")


def _check_forest(fields: Fields) -> None:
    for tree in fields.get("estimators_", ()):
        is_wide = tree.n_features_in_ == fields.get("n_features_in_")
        require(is_wide, "estimators_ must have n_features_in_ features.")
        is_same = tree.n_outputs_ == fields.get("n_outputs_")
        require(is_same, "estimators_ must have n_outputs_ outputs.")


# -- classes ---------------------------------------------------------------------------------------


def _classes_of(fields: Fields) -> list[npt.NDArray[Any]]:
    """The classes of each target."""
    classes = fields.get("classes_")
    each: list[Any] = classes if isinstance(classes, list) else [classes]
    are_arrays = all(type(one) is np.ndarray and one.ndim == 1 for one in each)
    require(are_arrays, "classes_ must be an array, or a list of one per output.")
    return each


def _check_classes(fields: Fields) -> None:
    """Predictions allocate memory for n_classes_ classes."""
    if "n_classes_" in fields:
        many = [int(n) for n in np.atleast_1d(fields["n_classes_"])]
        is_same = many == [len(one) for one in _classes_of(fields)]
        require(is_same, "n_classes_ must be the length of classes_.")


def _check_dummy_classifier(fields: Fields) -> None:
    if fields.get("_strategy") == "constant":
        answers, each = np.ravel(fields["constant"]).tolist(), _classes_of(fields)
        are_known = len(answers) == len(each) and all(
            one in classes.tolist() for one, classes in zip(answers, each, strict=True)
        )
        require(are_known, "constant must be one of classes_.")


def _check_dummy_regressor(fields: Fields) -> None:
    if "n_outputs_" in fields:
        constant = fields.get("constant_")
        is_array = type(constant) is np.ndarray and constant.size == fields["n_outputs_"]
        require(is_array, "constant_ must have one number per output.")


def _check_voting_classifier(fields: Fields) -> None:
    """Counting votes allocates memory up to the largest class code."""
    if "le_" not in fields:
        return
    known = fields["le_"].classes_
    # Predictions come from le_, but ensembles around it read classes_.
    require(np.array_equal(known, np.asarray(fields.get("classes_"))), "le_ must encode classes_.")
    for member in fields.get("estimators_", ()):
        for _ in range(limits.MAX_NESTING):
            codes = np.asarray(member.classes_)
            are_codes = codes.dtype.kind in "iu" and codes.size and codes.min() >= 0
            is_known = are_codes and codes.max() < len(known)
            require(is_known, "estimators_ must predict codes of classes_.")
            inner = _delegate_of(member)
            if inner is None:
                break
            member = inner


#: Classifiers that return the predictions of an inner one, and how to find that.
_DELEGATES: dict[str, Callable[[Any], Any]] = {
    "CascadeClassifier": lambda one: [m for m in one.estimators_ if not isinstance(m, str)][-1],
    "CombinedMultipleModels": lambda one: one.estimator_,
    "CostSensitiveClassifier": lambda one: one.estimator_,
    "FrozenEstimator": lambda one: one.estimator,
    "PPTSSClassifier": lambda one: one.estimator_,
    "Pipeline": lambda one: one.steps[-1][1],
    "PrunedClassifier": lambda one: one.ensemble_,
    "StackingClassifier": lambda one: one.final_estimator_,
}


def _delegate_of(member: Any) -> Any:
    """The inner estimator whose predictions a member returns, None if it predicts itself."""
    find = _DELEGATES.get(type(member).__name__)
    inner = None if find is None else find(member)
    # A meta decision tree predicts members, not classes.
    return None if type(inner).__name__ == "MetaDecisionTree" else inner


# -- encoders --------------------------------------------------------------------------------------


def _check_one_hot(fields: Fields) -> None:
    """Output columns are written at sums of these widths, without bounds checks."""
    if not {"categories_", "_n_features_outs"} & set(fields):
        return
    categories, widths = fields["categories_"], []
    is_long = isinstance(categories, list) and len(categories) == fields.get("n_features_in_")
    require(is_long, "categories_ must have one entry for each of the n_features_in_ features.")
    infrequent = _infrequent(fields, len(categories))
    dropped = fields["_drop_idx_after_grouping"]
    is_array = type(dropped) is np.ndarray and dropped.shape == (len(categories),)
    require(dropped is None or is_array, "at most one category of each feature may be dropped.")
    for at, (known, (rare, mapping)) in enumerate(zip(categories, infrequent, strict=True)):
        _check_categories(known)
        width = len(known)
        if rare is not None:
            _check_mapping(rare, mapping, len(known))
            width -= len(rare) - 1
        if dropped is not None and dropped[at] is not None:
            is_index = isinstance(dropped[at], int | np.integer) and 0 <= dropped[at] < width
            require(is_index, "a dropped category does not exist.")
            width -= 1
        widths.append(width)
    require(fields["_n_features_outs"] == widths, "_n_features_outs must fit categories_.")


def _check_categories(known: Any) -> None:
    """Numbers are looked up by binary search, which may run past the end if they are unsorted."""
    require(type(known) is np.ndarray and known.ndim == 1, "categories_ must be arrays.")
    if known.dtype.kind not in "OUS":
        numbers = known[:-1] if len(known) and known[-1] != known[-1] else known  # NaN is the last
        require((numbers[1:] > numbers[:-1]).all(), "categories_ must be sorted.")


def _infrequent(fields: Fields, n_features: int) -> Iterator[tuple[Any, Any]]:
    """The infrequent categories of each feature, and the mapping of all its categories."""
    if not fields["_infrequent_enabled"]:
        return iter([(None, None)] * n_features)
    both = fields["_infrequent_indices"], fields["_default_to_infrequent_mappings"]
    return zip(*both, strict=True)


def _check_mapping(rare: Any, mapping: Any, n_categories: int) -> None:
    """Infrequent categories are mapped to the last code, after the others in their order."""
    for one in (rare, mapping):
        is_array = type(one) is np.ndarray and one.ndim == 1 and one.dtype.kind == "i"
        require(is_array, "infrequent categories must be given by arrays of indices.")
    is_rare = np.zeros(n_categories, bool)
    require(len(rare) and rare.min() >= 0, "an infrequent category does not exist.")
    is_rare[rare] = True
    require(is_rare.sum() == len(rare), "infrequent categories must be distinct.")
    expected = np.where(is_rare, n_categories - len(rare), np.cumsum(~is_rare) - 1)
    require(np.array_equal(mapping, expected), "infrequent categories must come last.")


# -- rows and layers that compiled code reads ------------------------------------------------------


def _check_neighbors(fields: Fields) -> None:
    """Compiled code reads rows of neighbours, and their classes, without bounds checks."""
    if "_fit_X" not in fields:
        return
    rows, n_rows = fields["_fit_X"], fields.get("n_samples_fit_")
    answers: Any = fields.get("_y")
    is_table = type(rows) is np.ndarray and rows.dtype == np.float64 and rows.ndim == 2
    is_whole = is_table and rows.shape == (n_rows, fields.get("n_features_in_"))
    require(is_whole, "_fit_X must hold n_samples_fit_ rows of n_features_in_ numbers.")
    require(fields.get("_tree") is None, "_tree must be None.")
    require(fields.get("_fit_method") == "brute", "_fit_method must be 'brute'.")
    require(fields.get("effective_metric_") in _METRICS, "effective_metric_ must be a known one.")
    require(fields.get("effective_metric_params_") == {}, "effective_metric_params_ must be empty.")
    is_plain = type(answers) is np.ndarray and answers.dtype.kind in "iuf"
    require(is_plain and answers.shape == (n_rows,), "_y must have n_samples_fit_ numbers.")
    if "classes_" in fields:
        (classes,) = _classes_of(fields)
        are_codes = answers.dtype.kind == "i" and answers.size and answers.min() >= 0
        require(are_codes and answers.max() < len(classes), "_y must hold codes of classes_.")


def _check_network(fields: Fields) -> None:
    """Layers follow one another, from the features to the outputs."""
    if "coefs_" not in fields:
        return
    layers, offsets = fields["coefs_"], fields.get("intercepts_", [])
    are_lists = type(layers) is list and type(offsets) is list and len(layers) == len(offsets)
    is_deep = are_lists and len(layers) == fields.get("n_layers_", 0) - 1
    require(is_deep, "coefs_ and intercepts_ must have n_layers_ - 1 entries.")
    width = fields.get("n_features_in_")
    for layer, offset in zip(layers, offsets, strict=True):
        are_arrays = type(layer) is np.ndarray and type(offset) is np.ndarray and layer.ndim == 2
        is_next = are_arrays and layer.shape[0] == width and offset.shape == layer.shape[1:]
        require(is_next, "the layers of coefs_ and intercepts_ must fit together.")
        width = layer.shape[1]
    require(width == fields.get("n_outputs_"), "coefs_ must end with n_outputs_ outputs.")
    if "_label_binarizer" in fields:
        (classes,) = _classes_of(fields)
        known = np.asarray(fields["_label_binarizer"].classes_)
        require(np.array_equal(known, classes), "_label_binarizer must encode classes_.")
        require(
            width == (1 if len(classes) == 2 else len(classes)), "n_outputs_ must fit classes_."
        )


#: Checks by attribute, and by class.
_ATTRIBUTE_CHECKS: dict[str, Check] = {"n_classes_": _check_classes, "tree_": _check_tree}
_CLASS_CHECKS: dict[str, Check] = {
    "DummyClassifier": _check_dummy_classifier,
    "DummyRegressor": _check_dummy_regressor,
    "ExtraTreesClassifier": _check_forest,
    "ExtraTreesRegressor": _check_forest,
    "KNeighborsClassifier": _check_neighbors,
    "KNeighborsRegressor": _check_neighbors,
    "MLPClassifier": _check_network,
    "MLPRegressor": _check_network,
    "OneHotEncoder": _check_one_hot,
    "RandomForestClassifier": _check_forest,
    "RandomForestRegressor": _check_forest,
    "VotingClassifier": _check_voting_classifier,
}
