"""Estimators of scikit-learn that model files know themselves: models and pipelines have them.

All others go through skops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from orfeon.io.catalogue import Entry
from orfeon.io.kinds import anything

_NAMES = "n_features_in_ feature_names_in_ _sklearn_output_config"

#: Where an estimator lives, and the attributes that fitting sets.
_ESTIMATORS = {
    "ColumnTransformer": (
        "sklearn.compose",
        "_columns _transformer_to_input_indices _remainder sparse_output_ transformers_ "
        "output_indices_ _transformers_feature_names_out _n_features",
    ),
    "DummyClassifier": (
        "sklearn.dummy",
        "classes_ n_classes_ class_prior_ constant_ n_outputs_ sparse_output_ _strategy",
    ),
    "DummyRegressor": ("sklearn.dummy", "constant_ n_outputs_"),
    "FunctionTransformer": ("sklearn.preprocessing", ""),
    "GaussianNB": (
        "sklearn.naive_bayes",
        "classes_ epsilon_ theta_ var_ class_count_ class_prior_",
    ),
    "IsotonicRegression": (
        "sklearn.isotonic",
        "increasing_ X_min_ X_max_ X_thresholds_ y_thresholds_",
    ),
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
    "Pipeline": ("sklearn.pipeline", "kept_ order_ error_curve_"),  # prune() adds them
    "Ridge": ("sklearn.linear_model", "coef_ intercept_ n_iter_ solver_"),
    "RidgeCV": ("sklearn.linear_model", "alpha_ best_score_ coef_ intercept_ cv_results_"),
    "RobustScaler": ("sklearn.preprocessing", "center_ scale_"),
    "SimpleImputer": ("sklearn.impute", "_fit_dtype _fill_dtype indicator_ statistics_"),
    "StandardScaler": ("sklearn.preprocessing", "n_samples_seen_ mean_ var_ scale_"),
}


def _interpolate(regression: Any) -> None:
    """Set the function of an isotonic regression, which follows from its thresholds."""
    if hasattr(regression, "X_thresholds_"):
        regression._build_f(regression.X_thresholds_, regression.y_thresholds_)


_FINISH: dict[str, Callable[[Any], None]] = {"IsotonicRegression": _interpolate}


def entries() -> Iterator[Entry]:
    """The estimators, with what is known of them."""
    for name, (home, fitted) in _ESTIMATORS.items():
        names = f"{fitted} {_NAMES}".split()
        yield Entry(
            f"sklearn.{name}",
            home,
            "state",
            dict.fromkeys(names, anything),
            optional=frozenset(names),
            left_out=frozenset({"f_", "_metadata_request", "_skl_callbacks"}),
            finish=_FINISH.get(name),
            is_estimator=True,
            attribute=name,
        )
