"""Private names of scikit-learn; no other module imports any."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sklearn.base import _clone_parametrized as _clone_parametrized
from sklearn.base import _fit_context as _fit_context
from sklearn.utils import _safe_indexing as _safe_indexing
from sklearn.utils._param_validation import HasMethods as HasMethods
from sklearn.utils._param_validation import Interval as Interval
from sklearn.utils._param_validation import StrOptions as StrOptions
from sklearn.utils.metaestimators import _BaseComposition as _BaseComposition
from sklearn.utils.validation import _check_feature_names as _check_feature_names
from sklearn.utils.validation import _check_feature_names_in as _check_feature_names_in
from sklearn.utils.validation import _check_sample_weight as _check_sample_weight
from sklearn.utils.validation import _num_samples as _num_samples

if TYPE_CHECKING:
    from sklearn.tree._tree import NODE_DTYPE as NODE_DTYPE
    from sklearn.tree._tree import Tree as Tree
    from sklearn.utils._missing import is_pandas_na as is_pandas_na
    from sklearn.utils._missing import is_scalar_nan as is_scalar_nan
    from sklearn.utils._set_output import _wrap_data_with_container as _wrap_data_with_container
    from sklearn.utils.multiclass import _ovr_decision_function as _ovr_decision_function

#: Rarely needed names, imported on first use.
_SELDOM = {
    "NODE_DTYPE": "sklearn.tree._tree",
    "Tree": "sklearn.tree._tree",
    "_ovr_decision_function": "sklearn.utils.multiclass",
    "_wrap_data_with_container": "sklearn.utils._set_output",
    "is_pandas_na": "sklearn.utils._missing",
    "is_scalar_nan": "sklearn.utils._missing",
}


def __getattr__(name: str) -> Any:
    if name not in _SELDOM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_SELDOM[name]), name)
