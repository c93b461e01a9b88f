"""Gradient boosting as in Friedman's papers: trees of depth 3 fitted to the gradient alone."""

from __future__ import annotations

from orfeon import GradientBoostingClassifier, GradientBoostingRegressor

FIRST_ORDER = {
    "order": 1,
    "learning_rate": 0.1,
    "n_estimators": 100,
    "subsample": 1.0,
    "max_depth": 3,
    "max_features": None,
    "tree_method": "exact",
    "tree_shape": "free",
    "early_stopping": False,
    "validation_fraction": 0.1,
}


def mart_classifier(**settings):
    return GradientBoostingClassifier(**_completed(settings))


def mart_regressor(**settings):
    return GradientBoostingRegressor(**_completed(settings))


def _completed(settings):
    """Early stopping, which the papers do not have, is off unless a test asks for it."""
    stops = settings.get("n_iter_no_change") is not None
    return {**FIRST_ORDER, **({"early_stopping": "validation"} if stops else {}), **settings}
