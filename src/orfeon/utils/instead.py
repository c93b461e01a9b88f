"""What to use instead of parameters and attributes that scikit-learn's estimators have.

A test compares the signatures and attributes of both libraries: what is missing here must be named.
"""

from __future__ import annotations

from abc import ABCMeta
from inspect import Signature, signature
from typing import Any

#: What to write instead of a parameter.
PARAMETERS = {
    "splitter": "RandomTreeClassifier and RandomTreeRegressor cut at random",
    "criterion": "regression trees always minimise the squared error, and gradient boosting the "
    "loss",
    "max_features": "RandomSubspaceClassifier draws features for each member, and "
    "RandomForestClassifier(features_per='tree') samples as well",
    "bootstrap_features": "RandomSubspaceClassifier draws features, without replacement",
    "learning_rate": "GradientBoostingRegressor has a learning rate",
    "l2_regularization": "use l2",
    "max_iter": "use n_estimators",
    "scoring": "early stopping measures the loss",
    "quantile": "use alpha",
}

#: What to read instead of an attribute.
ATTRIBUTES = {
    "tree_": "forest_",
    "class_weight": "regression has no classes",
    "cost_complexity_pruning_path": "orfeon.forest.pruning_path(tree.forest_)",
    "estimator": "estimator_",
    "estimator_params": "estimator_.get_params()",
    "estimators_samples_": "in_bag(X, y), which draws them again",
    "alpha": "only regression has quantiles",
    "max_features_": "the parameter max_features",
    "n_trees_per_iteration_": "len(init_)",
    "train_score_": "train_loss_",
    "validation_score_": "validation_loss_",
    "n_iter_": "n_estimators_",
    "do_early_stopping_": "hasattr(model, 'validation_loss_')",
    "is_categorical_": "schema_.is_categorical",
}


class Advising(ABCMeta):
    """The class of estimators that name the alternative to a parameter they do not have."""

    @property
    def __signature__(cls) -> Signature:
        """The parameters of an estimator, which ``__call__`` would hide."""
        own = signature(cls.__init__)  # type: ignore[misc]
        return own.replace(parameters=list(own.parameters.values())[1:])

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except TypeError as error:
            known = signature(cls).parameters
            for name in kwargs:
                if name not in known and name in PARAMETERS:
                    raise TypeError(
                        f"{cls.__name__} has no parameter {name!r}: {PARAMETERS[name]}."
                    ) from error
            raise
