"""Gradient boosting as in Friedman's papers: trees of depth 3 fitted to the gradient alone."""

from __future__ import annotations

from orfeon import GradientBoostingClassifier, GradientBoostingRegressor

FIRST_ORDER = {
    "order": 1,
    "n_estimators": 100,
    "subsample": 1.0,
    "max_depth": 3,
    "max_features": None,
    "tree_method": "exact",
    "early_stopping": "validation",
    "validation_fraction": 0.1,
}


def mart_classifier(**settings):
    return GradientBoostingClassifier(**{**FIRST_ORDER, **settings})


def mart_regressor(**settings):
    return GradientBoostingRegressor(**{**FIRST_ORDER, **settings})
