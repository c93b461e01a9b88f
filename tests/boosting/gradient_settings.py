"""Settings of gradient boosting that take different ways through the code, and data for them."""

from __future__ import annotations

import pytest
from tests.boosting.first_order import mart_classifier, mart_regressor

from orfeon import GradientBoostingClassifier, GradientBoostingRegressor
from orfeon.datasets import make_friedman1, make_waveform

SETTINGS = [
    mart_regressor(n_estimators=8, random_state=0),
    mart_regressor(n_estimators=8, loss="absolute_error", max_depth=2, random_state=0),
    mart_regressor(n_estimators=8, loss="huber", subsample=0.6, random_state=0),
    mart_regressor(n_estimators=8, loss="quantile", alpha=0.3, max_features=2, random_state=0),
    mart_classifier(n_estimators=8, random_state=0),
    mart_classifier(
        n_estimators=8, subsample=0.5, max_features_per_tree=0.5, max_leaf_nodes=4, random_state=0
    ),
    mart_classifier(n_estimators=8, class_weight="balanced", random_state=0),
    mart_regressor(
        n_estimators=8, tree_method="histogram", max_bins=16, subsample=0.7, random_state=0
    ),
    mart_classifier(
        n_estimators=8, tree_method="histogram", max_features_per_tree=0.6, random_state=0
    ),
    GradientBoostingRegressor(n_estimators=8, random_state=0),
    GradientBoostingClassifier(n_estimators=8, random_state=0),
]
each = pytest.mark.parametrize("estimator", SETTINGS, ids=str)


def is_classifier(estimator):
    return isinstance(estimator, GradientBoostingClassifier)


def data(estimator, n_rows=150, seed=0):
    """Three classes, or numbers."""
    make = make_waveform if is_classifier(estimator) else make_friedman1
    return make(n_rows, random_state=seed)


def scores(estimator, X):
    return estimator.decision_function(X) if is_classifier(estimator) else estimator.predict(X)
