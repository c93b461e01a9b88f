"""Export of fitted models to ONNX: ``to_onnx()`` and ``as_inputs()``."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from orfeon.combining.numeric_inputs import inputs_of
from orfeon.data.schema import Schema
from orfeon.forest import Forest
from orfeon.io.onnx.decision import Decision
from orfeon.io.onnx.errors import NoOnnxFormError, load_onnx
from orfeon.io.onnx.graph import Graph
from orfeon.io.onnx.prediction import PredictionGraph
from orfeon.io.onnx.rows import MATRIX, add_rows, decoded_inputs, input_names
from orfeon.utils.text import nearest_names

Missing = Literal["auto", "never"]

#: Outputs of classifiers (True) and of regressors, and those by default.
OUTPUTS = {
    True: ("label", "probabilities", "votes"),
    False: ("prediction", "predictions"),
}
_DEFAULT_OUTPUTS = {True: ("label", "probabilities"), False: ("prediction",)}


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    outputs: Sequence[str] | None = None,
    missing: Missing = "auto",
) -> Any:
    """Export a fitted model to ONNX; the exported model predicts the same, to the last vote.

    Parameters
    ----------
    model : estimator or Forest
        A tree of orfeon; an ensemble or a booster of such trees; a tree, a forest, a bag of trees
        or an AdaBoost of trees of scikit-learn; any of these after :func:`orfeon.prune` or in a
        :class:`orfeon.CalibratedEnsemble`; ensemble selection among models of orfeon, and the
        linear models, naive Bayes, networks and kernel machines that ``orfeon study`` trains.
    path : path-like, optional
        The file to write.
    outputs : sequence of str, optional
        Of a classifier "label", "probabilities" and "votes", the index into ``classes_`` that each
        member votes for; the first two by default. Of a regressor "prediction" and "predictions",
        those of each member; the first by default.
    missing : {"auto", "never"}, default="auto"
        With "auto" missing values take the branch that the trees learnt; trees that send them
        down all branches, such as those of :class:`orfeon.C45Classifier`, are rejected. With
        "never" these are exported too, for rows without missing values and new categories; the
        exported model does not check it.

    Returns
    -------
    onnx.ModelProto
        The model. Exporting needs onnx, ``pip install "orfeon[onnx]"``; running the model needs
        ``ai.onnx.ml`` 5, as in onnxruntime 1.22 and later.

    Raises
    ------
    NoOnnxFormError
        If a model, or a part of it, has no exact form in ONNX's operators.

    See Also
    --------
    orfeon.io.onnx.as_inputs : Rows as the inputs of an exported model.

    Notes
    -----
    If all features are numeric there is one input, ``X``, of doubles and of shape (n_rows,
    n_features), with NaN for missing values. If some features have strings as categories, each
    feature is an input of its own name, of shape (n_rows, 1): strings or doubles. Strings not seen
    in training, and empty ones, count as missing. Booleans are 0 and 1.

    Sums are added tree by tree, as in the model, so votes, sums and labels are equal to the last
    bit, whatever the runtime does in parallel. The logistic function and the softmax that turn the
    sums of gradient boosting into probabilities are the runtime's: these probabilities may differ
    in the last digits, the labels do not. An :class:`orfeon.AdaBoostPairwiseClassifier` of three
    or more classes sums hyperbolic tangents of the runtime: its probabilities may differ in the
    last digits, and its label where two classes are that close. So do calibrated models, but for
    isotonic and Venn-Abers calibration, which need no logarithms, and models on numeric inputs.

    Unlike the model, the exported one accepts infinite numbers.

    Examples
    --------
    A forest of scikit-learn, pruned and exported:

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from orfeon import prune, to_onnx
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(200, random_state=0)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> small = prune(forest, X, y, keep=0.2)
    >>> exported = to_onnx(small)

    It predicts the same:

    >>> from onnxruntime import InferenceSession
    >>> session = InferenceSession(exported.SerializeToString())
    >>> label, probabilities = session.run(None, {"X": X})
    >>> bool((label == small.predict(X)).all()), probabilities.shape
    (True, (200, 3))
    """
    if missing not in ("auto", "never"):
        raise ValueError(f'missing={missing!r} is not allowed; use "auto" or "never".')
    load_onnx()
    graph = Graph()
    inner = unwrapped(model)
    schema, of_scikit_learn = _schema_of(inner)
    rows = add_rows(graph, schema, in_single_precision=of_scikit_learn)
    prediction = PredictionGraph(graph, rows, missing == "auto")
    decision = decide(prediction, model)
    _check_outputs(outputs, decision, model)
    _add_outputs(graph, decision, outputs, taken=input_names(schema))
    made = graph.model(type(model).__name__, _about(model, schema, decision))
    if path is not None:
        from orfeon.utils.atomic_file import atomic_write

        with atomic_write(path) as file:
            file.write(made.SerializeToString())
    return made


def as_inputs(model: Any, X: Any) -> dict[str, npt.NDArray[Any]]:
    """Convert rows to the inputs of an exported model, for the ``run`` of a runtime.

    Parameters
    ----------
    model : estimator or Forest
        The model that was exported.
    X : array or data frame of shape (n_rows, n_features)
        Rows to predict.

    Returns
    -------
    dict of str to ndarray
        Inputs by name: one matrix of doubles, or each feature as a column.

    Examples
    --------
    >>> from onnxruntime import InferenceSession
    >>> from orfeon import CARTClassifier, to_onnx
    >>> from orfeon.io.onnx import as_inputs
    >>> X = [["red", 1.5], ["blue", 2.0], [None, 0.5], ["red", 0.0]]
    >>> tree = CARTClassifier().fit(X, ["yes", "no", "no", "yes"])
    >>> session = InferenceSession(to_onnx(tree).SerializeToString())
    >>> session.run(["label"], as_inputs(tree, [["red", 7.0], ["green", None]]))
    [array(['yes', 'no'], dtype=object)]
    """
    inner = unwrapped(model)
    schema, of_scikit_learn = _schema_of(inner)
    if of_scikit_learn or isinstance(inner, Forest):
        return {MATRIX: np.ascontiguousarray(X, dtype=np.float64)}
    return decoded_inputs(schema, inner._encode(X))


def unwrapped(model: Any) -> Any:
    """The estimator that encodes the rows, without wrappers."""
    from orfeon.combining.calibrated_ensemble import CalibratedEnsemble
    from orfeon.imbalance.cost_classifier import CostClassifier
    from orfeon.ordering.combined_multiple_models import CombinedMultipleModels
    from orfeon.ordering.pruned_base import PrunedEnsemble

    if isinstance(model, PrunedEnsemble):
        check_is_fitted(model, "ensemble_")
        return unwrapped(model.ensemble_)
    if isinstance(model, CalibratedEnsemble):
        check_is_fitted(model, "ensemble_")
        return unwrapped(model.ensemble_)
    if isinstance(model, CostClassifier | CombinedMultipleModels):
        check_is_fitted(model, "estimator_")
        return unwrapped(model.estimator_)
    if isinstance(model, FrozenEstimator):
        return unwrapped(model.estimator)
    if isinstance(model, Pipeline):
        return inputs_of(model) or unwrapped(_only_step(model))
    return model


def _only_step(pipeline: Pipeline) -> Any:
    steps = [(name, step) for name, step in pipeline.steps if step not in (None, "passthrough")]
    if len(steps) == 1:
        return steps[0][1]
    if not steps:
        raise NoOnnxFormError(
            "a Pipeline without an estimator", "it contains nothing that predicts",
            "export a pipeline whose last step is a model, or the model itself",
        )  # fmt: skip
    name, step = steps[0]
    raise NoOnnxFormError(
        f"a Pipeline with the step {name!r}, {type(step).__name__},",
        "orfeon exports models, not the steps before them",
        "export its last step, pipeline[-1], and run it on rows transformed by pipeline[:-1]; or "
        "convert the steps with skl2onnx and merge the two",
    )


def _schema_of(inner: Any) -> tuple[Schema, bool]:
    """The features of an estimator, and whether it is one of scikit-learn."""
    if isinstance(inner, Forest) or hasattr(inner, "forest_"):
        _check_one_output(inner)
    if isinstance(inner, Forest):
        if (inner.n_categories > 0).any():
            raise NoOnnxFormError(
                "a Forest with categories", "it does not know their names",
                "export the estimator that it belongs to",
            )  # fmt: skip
        return Schema.ordered(inner.n_features), False
    if isinstance(inner, type) or not hasattr(inner, "fit"):
        given = f"the class {inner.__name__}" if isinstance(inner, type) else repr(inner)[:80]
        raise TypeError(f"model is {given}; to_onnx takes a fitted estimator, or a Forest.")
    check_is_fitted(inner)
    known = getattr(inner, "schema_", None)
    if isinstance(known, Schema):
        if getattr(inner, "target_statistics_", None) is not None:
            raise NoOnnxFormError(
                f"{type(inner).__name__} with target statistics",
                "they distinguish missing values from categories not seen in training, which the "
                "inputs do not",
                'fit it with categorical_encoding="subsets"',
            )
        return known, False
    if hasattr(inner, "n_features_in_"):
        names = getattr(inner, "feature_names_in_", None)
        return Schema.ordered(inner.n_features_in_, names), True
    raise _no_form(inner)


def _check_one_output(inner: Any) -> None:
    is_forest = isinstance(inner, Forest)
    # Leaves of gradient boosting may hold a value for each class.
    if (inner.n_outputs if is_forest else getattr(inner, "n_outputs_", 1)) > 1:
        raise NoOnnxFormError(
            "a forest of several outputs", "its leaves hold the values of all outputs",
            "train and export a model for each output",
        )  # fmt: skip


def decide(prediction: PredictionGraph, model: Any) -> Decision:
    """Add the decision of a model to a graph."""
    from orfeon.combining.calibrated_ensemble import CalibratedEnsemble
    from orfeon.combining.ensemble_selection import EnsembleSelection
    from orfeon.imbalance import CostSensitiveClassifier, CostThresholdClassifier
    from orfeon.io.onnx.boosting import decide_by_costs
    from orfeon.io.onnx.ensembles import decide_count, decide_mean
    from orfeon.io.onnx.numeric_models import decide_on_numbers
    from orfeon.io.onnx.selection import decide_selection
    from orfeon.ordering.combined_multiple_models import CombinedMultipleModels
    from orfeon.ordering.pruned_base import PrunedEnsemble

    if inputs_of(model) is not None:
        return decide_on_numbers(prediction, model)
    if isinstance(model, Pipeline):
        return decide(prediction, _only_step(model))
    if isinstance(model, FrozenEstimator):
        return decide(prediction, model.estimator)
    if isinstance(model, PrunedEnsemble):
        return _decide_pruned(prediction, model)
    if isinstance(model, CostThresholdClassifier):
        return decide_by_costs(prediction, model, decide(prediction, model.estimator_))
    if isinstance(model, CostSensitiveClassifier | CombinedMultipleModels):
        return decide(prediction, model.estimator_)
    if isinstance(model, CalibratedEnsemble):
        return _decide_calibrated(prediction, model, model.ensemble_)
    if isinstance(model, EnsembleSelection):
        return decide_selection(prediction, model, decide)
    if isinstance(model, Forest):
        codes = np.arange(model.n_classes)
        return (
            decide_count(prediction, model, codes) if len(codes) else decide_mean(prediction, model)
        )
    return _decide_own(prediction, model)


def _decide_calibrated(prediction: PredictionGraph, model: Any, ensemble: Any) -> Decision:
    """The decision of an ensemble that was calibrated after it was trained."""
    from orfeon.io.onnx.probabilities import calibrate_from_outside

    if isinstance(ensemble, FrozenEstimator):
        return _decide_calibrated(prediction, model, ensemble.estimator)
    if isinstance(ensemble, Pipeline):
        return _decide_calibrated(prediction, model, _only_step(ensemble))
    raw = _decide_raw if hasattr(ensemble, "_raw_shares") else decide
    return calibrate_from_outside(prediction.graph, raw(prediction, ensemble), model, ensemble)


def _decide_pruned(prediction: PredictionGraph, model: Any) -> Decision:
    if not model.order_.has_own_weights:
        return decide(prediction, model.ensemble_)
    if not hasattr(model, "classes_"):
        raise _no_form(model)
    from orfeon.io.onnx.boosting import decide_by_weights
    from orfeon.io.onnx.ensembles import forest_of

    weights = model.order_.member_weights[: len(model.kept_)]
    if hasattr(model.ensemble_, "members_"):
        return decide_by_weights(prediction, forest_of(model.ensemble_), weights, model.classes_)
    return _decide_scikit_learn(prediction, model.ensemble_, weights)


def _decide_own(prediction: PredictionGraph, model: Any) -> Decision:
    from orfeon.io.onnx.probabilities import with_probabilities

    return with_probabilities(prediction.graph, _decide_raw(prediction, model), model)


def _decide_raw(prediction: PredictionGraph, model: Any) -> Decision:
    """The decision with the model's shares as they are, neither smoothed nor calibrated."""
    from orfeon.boosting.bagged import BaggedBoostingClassifier, BaggedBoostingRegressor
    from orfeon.boosting.filtering import FilterBoostClassifier
    from orfeon.boosting.gradient_base import GradientBoosting
    from orfeon.boosting.weighted_vote import WeightedMedianMixin, WeightedVoteMixin
    from orfeon.ensembles.voting import AveragingRegressorMixin, VotingClassifierMixin
    from orfeon.io.onnx import boosting, ensembles
    from orfeon.trees.base import BaseTree

    if type(model).__module__.startswith("orfeon.perceptrons"):
        raise _no_form(model)  # also where perceptrons are boosted
    if getattr(model, "soft_bounds_", None) is not None:
        raise NoOnnxFormError(
            "a tree with soft thresholds",
            "it sends rows down several branches",
            "fit it with soft_thresholds=False",
        )
    if isinstance(model, BaggedBoostingClassifier | BaggedBoostingRegressor):
        raise NoOnnxFormError(
            type(model).__name__,
            "its members are boosted models",
            "export each of its estimators_, or save it with orfeon.save",
        )
    if isinstance(model, BaseTree):
        return ensembles.decide_tree(prediction, model.forest_, getattr(model, "classes_", None))
    kinds = [
        (FilterBoostClassifier, boosting.decide_filtered),
        (GradientBoosting, boosting.decide_gradient),
        (WeightedVoteMixin, boosting.decide_weighted),
        (WeightedMedianMixin, boosting.decide_median),
        (VotingClassifierMixin, ensembles.decide_voting),
        (AveragingRegressorMixin, ensembles.decide_averaging),
    ]
    for kind, how in kinds:
        if isinstance(model, kind):
            return how(prediction, model)
    return _decide_scikit_learn(prediction, model)


def _decide_scikit_learn(prediction: PredictionGraph, model: Any, weights: Any = None) -> Decision:
    from orfeon.io.onnx.scikit_learn import KINDS, decide_scikit_learn

    if not isinstance(model, KINDS):
        raise _no_form(model)
    return decide_scikit_learn(prediction, model, weights)


def _no_form(model: Any) -> NoOnnxFormError:
    """Why a model cannot be exported, and what to do instead."""
    name, where = type(model).__name__, type(model).__module__
    if hasattr(model, "best_estimator_"):
        return NoOnnxFormError(name, "it is a search", "export its best_estimator_")
    if where.startswith("orfeon.combining"):
        return NoOnnxFormError(
            name, "models that combine others of any kind are not exported",
            "export the members that are trees on their own, or save it with orfeon.save",
        )  # fmt: skip
    if where.startswith("orfeon."):
        distil = "distil it into one with CombinedMultipleModels, or "
        instead = f"{distil if is_classifier(model) else ''}save it with orfeon.save"
        return NoOnnxFormError(name, "it is not made of trees", instead)
    return NoOnnxFormError(
        name, "orfeon exports its own trees and ensembles, and trees, forests, bags of trees and "
        "AdaBoost of scikit-learn",
        "convert others with skl2onnx",
    )  # fmt: skip


# -- outputs ---------------------------------------------------------------------------------------


def _check_outputs(outputs: Sequence[str] | None, decision: Decision, model: Any) -> None:
    if outputs is None:
        return
    allowed = OUTPUTS[decision.classes is not None]
    if isinstance(outputs, str) or not len(outputs):
        raise ValueError(f"outputs={outputs!r} is not allowed; give a list of {list(allowed)}.")
    for name in outputs:
        if name not in allowed:
            near = nearest_names(name, allowed)
            raise ValueError(f"outputs has {name!r}{near}; allowed are {list(allowed)}.")
    if len(set(outputs)) < len(outputs):
        raise ValueError(f"outputs={list(outputs)} names an output twice.")
    if allowed[-1] in outputs and decision.members is None:
        raise ValueError(
            f"outputs has {allowed[-1]!r}, but single members of {type(model).__name__} have none."
        )


def _add_outputs(
    graph: Graph, decision: Decision, outputs: Sequence[str] | None, taken: Sequence[str]
) -> None:
    """Add the outputs; one with the name of a feature gets a leading underscore."""
    has_classes = decision.classes is not None
    for name in _DEFAULT_OUTPUTS[has_classes] if outputs is None else outputs:
        free = name
        while free in taken:
            free = f"_{free}"
        if name in ("votes", "predictions"):
            assert decision.members is not None
            kind = np.int64 if has_classes else np.float64
            graph.add_output(free, decision.members(), kind, [decision.n_members])
        elif name == "probabilities":
            assert decision.shares is not None
            assert decision.classes is not None
            graph.add_output(free, decision.shares, np.float64, [len(decision.classes)])
        elif name == "prediction":
            graph.add_output(free, decision.decided, np.float64, [])
        else:
            classes = _class_tensor(decision.classes)
            label = graph.add("Gather", graph.constant(classes), decision.decided, axis=0)
            graph.add_output(free, label, classes.dtype, [])


def _class_tensor(classes: Any) -> npt.NDArray[Any]:
    found = np.asarray(classes)
    kind = found.dtype.kind
    if kind in "iu":
        if found.max() > np.iinfo(np.int64).max:
            raise NoOnnxFormError(
                f"a model of the class {found.max()}",
                "it does not fit into a signed 64-bit integer",
                "convert the classes to strings and train again",
            )
        return found.astype(np.int64)
    if kind == "f":
        return found.astype(np.float64)
    if kind == "b":
        return found
    if all(isinstance(label, str) for label in found.tolist()):
        return found.astype(object)
    raise NoOnnxFormError(
        f"a model of the classes {found.tolist()}", "a tensor holds either numbers or strings",
        "convert all of them to strings and train again",
    )  # fmt: skip


def _about(model: Any, schema: Schema, decision: Decision) -> dict[str, str]:
    """Metadata of the file."""
    about = {"estimator": type(model).__name__}
    names = [schema.name(j) for j in range(schema.n_features)]
    about["features"] = json.dumps(names, ensure_ascii=False)
    if decision.classes is not None:
        classes = np.asarray(decision.classes).tolist()
        about["classes"] = json.dumps(classes, ensure_ascii=False, default=str)
    return about
