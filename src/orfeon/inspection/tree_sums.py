"""Models whose output is a sum over trees: what a leaf adds, for every kind of model.

Exact Shapley values and partial dependence by routing need nothing else of a model. Shares of
votes, mean class shares, means, and the raw scores of boosting are such sums.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from orfeon.base import TabularEstimator
from orfeon.data.schema import names_of
from orfeon.forest import Forest
from orfeon.inspection.display import check_choice
from orfeon.inspection.tree_sum_types import (
    AdditiveOutput,
    NoTreeSumError,
    Output,
    after_transform,
    check_numbers,
    own_part,
    shares_output,
)
from orfeon.inspection.tree_sums_own import of_own
from orfeon.utils.types import Floats


def additive_output(model: Any, output: Output = "auto", X: Any = None) -> AdditiveOutput:
    """The output of a fitted model as a sum over trees; raises if there is none."""
    check_choice("output", output, ("auto", "supports", "votes", "raw"))
    if issparse(X):
        raise ValueError("X is sparse; explanations need dense rows: pass some_rows.toarray().")
    found = _read(model, output)
    if len(found.names):
        return found
    n_features = 1 + max(int(part.players.max()) for part in found.parts)
    named = model[-1] if isinstance(model, Pipeline) and len(model) == 1 else model
    return replace(found, names=names_of(named, n_features, X))


def _read(model: Any, output: Output) -> AdditiveOutput:
    from orfeon.ordering.pruned_base import PrunedEnsemble

    if isinstance(model, type | str) or model is None:
        raise TypeError(f"model is {model!r}; a fitted tree, or ensemble of trees, is expected.")
    if isinstance(model, Forest):
        return _forest_alone(model, output)
    if isinstance(model, FrozenEstimator):
        return _read(model.estimator, output)
    if isinstance(model, Pipeline):
        return _of_pipeline(model, output)
    if not hasattr(model, "predict"):
        raise TypeError(
            f"model is of type {type(model).__name__}; a fitted tree, or ensemble of trees, is "
            "expected."
        )
    check_is_fitted(model)
    n_outputs = getattr(model, "n_outputs_", 1)
    if isinstance(n_outputs, int) and n_outputs > 1:
        raise NoTreeSumError(
            model, f"it has {n_outputs} outputs", "explain a model for each of them"
        )
    if isinstance(model, PrunedEnsemble):
        return _of_pruned(model, output)
    if isinstance(model, TabularEstimator) or type(model).__module__.startswith("orfeon."):
        return of_own(model, output, _read)
    from orfeon.inspection.tree_sums_scikit_learn import of_scikit_learn

    return of_scikit_learn(model, output, _read)


def _of_pipeline(model: Pipeline, output: Output) -> AdditiveOutput:
    found = _read(model.steps[-1][1], output)
    before = model[:-1] if len(model.steps) > 1 else None
    if before is None:
        return found
    names = found.names
    if not names:
        n_features = 1 + max(int(part.players.max()) for part in found.parts)
        try:
            names = tuple(map(str, before.get_feature_names_out()))
        except (AttributeError, ValueError):
            names = names_of(model.steps[-1][1], n_features)
    return replace(after_transform(found, before.transform), names=names)


def _of_pruned(model: Any, output: Output) -> AdditiveOutput:
    if not model.order_.has_own_weights:
        return _read(model.ensemble_, output)
    weights = model.order_.member_weights[: len(model.kept_)]
    if output not in ("auto", "votes") or not is_classifier(model):
        raise ValueError(
            f"output={output!r} is not allowed: the rule of this {type(model).__name__} weights "
            'votes; use "votes", or explain its ensemble_.'
        )
    found = _read(model.ensemble_, "votes")
    (part,) = found.parts
    factor = np.repeat(weights * len(weights) / weights.sum(), part.forest.n_nodes)
    part = replace(part, values=part.values * factor[:, None])
    return replace(found, parts=(part,), what="share of the weighted votes")


def _forest_alone(forest: Forest, output: Output) -> AdditiveOutput:
    def encode(X: Any) -> Floats:
        return np.ascontiguousarray(X, dtype=np.float64)

    if forest.n_classes == 0:
        check_numbers(forest, output)
        part = own_part(forest, forest.value / len(forest), encode)
        return AdditiveOutput((part,), np.zeros(1), "mean of the trees", None, ())
    return shares_output(forest, encode, np.arange(forest.n_classes), output, "supports")
