"""Small stacks that take each way through the code, and problems for them."""

from __future__ import annotations

from contextlib import nullcontext

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests import shared

from orfeon import (
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    CARTRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from orfeon.combining.stacking import StackingClassifier, StackingRegressor

CLASSIFIERS = [("bayes", GaussianNB()), ("tree", CARTClassifier(max_depth=3, random_state=0))]
REGRESSORS = [("line", LinearRegression()), ("tree", CARTRegressor(random_state=0))]
FOREST = RandomForestClassifier(n_estimators=20)
BAG = BaggingClassifier(n_estimators=20)
#: Small stacks that take each way through the code.
STACKS = {
    "folds": StackingClassifier([("tree", CARTClassifier()), ("forest", clone(FOREST))]),
    "any estimators": StackingClassifier(
        [("bayes", GaussianNB()), ("near", KNeighborsClassifier(3))], cv=3
    ),
    "decisions": StackingClassifier(CLASSIFIERS, stack_method="predict"),
    "features too": StackingClassifier(CLASSIFIERS, clone(FOREST), passthrough=True),
    "meta tree": StackingClassifier([*CLASSIFIERS, ("bag", clone(BAG))], "meta_tree"),
    "out of bag": StackingClassifier(
        [("forest", clone(FOREST)), ("bag", clone(BAG))], cv="out_of_bag"
    ),
    "meta tree out of bag": StackingClassifier(
        [("forest", clone(FOREST)), ("bag", clone(BAG))], "meta_tree", cv="out_of_bag",
        passthrough=True,
    ),
    "members": StackingClassifier(BaggingClassifier(n_estimators=20), cv="out_of_bag"),
    "regression": StackingRegressor(REGRESSORS),
    "regression, features too": StackingRegressor(
        REGRESSORS, RandomForestRegressor(n_estimators=5), passthrough=True
    ),
    "regression out of bag": StackingRegressor(
        [("forest", RandomForestRegressor(20)), ("bag", BaggingRegressor(n_estimators=20))],
        cv="out_of_bag",
    ),
    "members in regression": StackingRegressor(
        BaggingRegressor(n_estimators=20), cv="out_of_bag"
    ),
}  # fmt: skip
each_stack = pytest.mark.parametrize("name", STACKS)


def problem(stack, n_rows=90, seed=0):
    """Numbers with a signal in them; the last column is rounded, so that some rows are near."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    X[:, 2] = np.round(X[:, 2], 1)
    signal = X[:, 0] + X[:, 2] ** 2 + rng.normal(size=n_rows) / 2
    if isinstance(stack, StackingRegressor):
        return X, signal
    return X, np.array(["low", "middle", "top"])[np.digitize(signal, [0.2, 1.4])]


def cheap_jobs():
    """Threads in place of processes, which take seconds to start, unless a run is thorough."""
    return nullcontext() if shared.thorough else joblib.parallel_config("threading")


def outputs(stack, X):
    """All that a fitted stack says."""
    decided = stack.predict(X)
    shares = stack.predict_proba(X) if hasattr(stack, "predict_proba") else decided
    return decided, shares, stack.answers(X), stack.level_one_
