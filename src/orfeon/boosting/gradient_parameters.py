"""The parameters of the gradient boosting estimators: their types and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Literal

from orfeon.boosting.base import STOPPING
from orfeon.ensembles.base import ENSEMBLE
from orfeon.trees.base import LIMITS
from orfeon.utils.scikit_learn import HasMethods, Interval, StrOptions

TreeMethod = Literal["exact", "histogram", "auto"]
TreeShape = Literal["auto", "free", "symmetric"]
MultiStrategy = Literal["auto", "one_output_per_tree", "multi_output_tree"]
EarlyStopping = bool | Literal["auto", "validation", "cv"]
CategoricalEncoding = Literal["auto", "subsets", "ordered"]

#: Parameters of the trees themselves.
OF_TREES = (
    "max_depth", "max_leaf_nodes", "min_samples_split", "min_samples_leaf",
    "min_weight_fraction_leaf", "min_impurity_decrease", "max_features", "categorical_features",
)  # fmt: skip

GRADIENT: dict[str, list[Any]] = {
    **ENSEMBLE,
    **STOPPING,
    **{name: LIMITS[name] for name in OF_TREES},
    "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
    "subsample": [Interval(Real, 0.0, 1.0, closed="right")],
    "max_features_per_tree": LIMITS["max_features"],
    "tree_method": [StrOptions({"exact", "histogram", "auto"})],
    "tree_shape": [StrOptions({"auto", "free", "symmetric"})],
    "ccp_alpha": LIMITS["ccp_alpha"],
    "max_bins": [Interval(Integral, 2, 255, closed="both")],
    "early_stopping": ["boolean", StrOptions({"auto", "validation", "cv"})],
    "n_folds": [Interval(Integral, 2, None, closed="left")],
    "init": [StrOptions({"zero"}), HasMethods(["fit", "predict"]), None],
    "categorical_encoding": [StrOptions({"auto", "subsets", "ordered"})],
    "sampling": [StrOptions({"uniform", "gradient"})],
    "top_rate": [Interval(Real, 0.0, 1.0, closed="neither")],
    "other_rate": [Interval(Real, 0.0, 1.0, closed="neither")],
    "order": [Interval(Integral, 1, 2, closed="both")],
    "l2": [Interval(Real, 0.0, None, closed="left")],
    "l1": [Interval(Real, 0.0, None, closed="left")],
    "min_hessian": [Interval(Real, 0.0, None, closed="left")],
    "cat_smooth": [Interval(Real, 0.0, None, closed="left")],
    "max_cat_to_onehot": [Interval(Integral, 1, None, closed="left")],
    "monotonic_cst": ["array-like", Mapping, None],
    "interaction_cst": [StrOptions({"pairwise", "no_interactions"}), list, tuple, None],
}


#: Of classifiers.
MULTI_STRATEGY: dict[str, list[Any]] = {
    "multi_strategy": [StrOptions({"auto", "one_output_per_tree", "multi_output_tree"})],
}


class GradientParameters:
    """Types of the parameters; the estimators that have them say what they mean."""

    n_estimators: int
    loss: Any
    init: Any
    learning_rate: float
    subsample: float
    sampling: str
    top_rate: float
    other_rate: float
    max_features: Any
    max_features_per_tree: Any
    min_samples_split: float
    min_samples_leaf: float
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    max_depth: int | None
    max_leaf_nodes: int | None
    tree_method: TreeMethod
    tree_shape: TreeShape
    #: A parameter of classifiers only.
    multi_strategy: MultiStrategy = "one_output_per_tree"
    max_bins: int
    ccp_alpha: float
    early_stopping: EarlyStopping
    n_folds: int
    categorical_encoding: CategoricalEncoding
    n_iter_no_change: int | None
    validation_fraction: float
    tol: float
    order: int
    l2: float
    l1: float
    min_hessian: float
    cat_smooth: float
    max_cat_to_onehot: int
    monotonic_cst: Any
    interaction_cst: Any
