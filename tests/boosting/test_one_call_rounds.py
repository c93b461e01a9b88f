"""Rounds that are one call of a kernel, against the same rounds step by step."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon import GradientBoostingClassifier, GradientBoostingRegressor
from orfeon.boosting.gradient import Boosting


def problem(n_classes, n_rows=160):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_rows, 5))
    X[:, 1] = rng.integers(0, 7, n_rows)
    X[:, 2] = rng.integers(0, 6, n_rows)
    X[rng.random(X.shape) < 0.06] = np.nan
    score = np.nan_to_num(X[:, 0]) + (X[:, 2] == 3) + 0.7 * rng.normal(size=n_rows)
    if n_classes:
        return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes)), rng
    return X, score, rng


def in_steps(monkeypatch):
    monkeypatch.setattr(Boosting, "_is_one_call", False)


SETTINGS = {
    "default": {},
    "all samples and features": {"subsample": 1.0, "max_features": None},
    "folds": {"early_stopping": "cv", "n_folds": 3},
    "validation set": {"early_stopping": "validation"},
    "large leaves": {"min_samples_leaf": 4, "min_impurity_decrease": 1e-3},
    "few leaves": {"max_depth": None, "max_leaf_nodes": 6},
    "penalties": {"l1": 0.4, "l2": 0.2, "min_hessian": 0.0},
    "few features": {"max_features": 1, "max_features_per_tree": 3},
    "groups": {"interaction_cst": [[0, 1], [2, 3, 4]]},
    "monotone": {"monotonic_cst": [1, 0, 0, -1, 0]},
}


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("case", SETTINGS, ids=str)
@pytest.mark.parametrize("weights", ["none", "counts", "fractions"])
def test_one_call_gives_the_same_model_to_the_last_bit(n_classes, case, weights, monkeypatch):
    if case == "monotone" and n_classes == 3:
        pytest.skip("several classes have no monotone features")
    X, y, rng = problem(n_classes)
    w = {
        "none": None, "counts": rng.integers(0, 3, len(y)), "fractions": rng.uniform(0, 2, len(y)),
    }[weights]  # fmt: skip
    kind = GradientBoostingClassifier if n_classes else GradientBoostingRegressor
    settings = {"n_estimators": 14, "random_state": 3, "categorical_features": [2]}
    model = kind(**settings | SETTINGS[case])
    fast = model.fit(X, y, w)
    scores, gains, losses = fast._scores(X), fast._gains, fast.train_loss_
    validation = getattr(fast, "validation_loss_", None)
    in_steps(monkeypatch)
    slow = model.fit(X, y, w)
    np.testing.assert_array_equal(slow._scores(X), scores)
    np.testing.assert_array_equal(slow._gains, gains)
    np.testing.assert_array_equal(slow.train_loss_, losses)
    np.testing.assert_array_equal(getattr(slow, "validation_loss_", None), validation)
    assert len(scores) == len(y)
    assert len(losses) > 1


def test_branch_tables_that_do_not_fit_get_more_space(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 90, 700), rng.integers(0, 80, 700)]).astype(float)
    effect = rng.normal(size=(3, 90))
    y = np.argmax(effect[:, X[:, 0].astype(int)] + rng.normal(size=(3, 700)), axis=0)
    model = GradientBoostingClassifier(
        n_estimators=4, max_depth=8, categorical_features=[0, 1], early_stopping=False,
        categorical_encoding="subsets", min_hessian=0.0, random_state=0,
    )  # fmt: skip
    fast = model.fit(X, y)._scores(X)
    assert len(model.forest_.branches) > 4 * 3 * 16 * 91 / 4  # more than there is room for at first
    in_steps(monkeypatch)
    np.testing.assert_array_equal(model.fit(X, y)._scores(X), fast)


def test_a_validation_set_with_unseen_categories_is_followed_step_by_step():
    X, y, _ = problem(2)
    model = GradientBoostingClassifier(
        n_estimators=12, random_state=0, categorical_features=[2], early_stopping="validation"
    )
    X_val, y_val = X[:40].copy(), y[:40]
    X_val[:9, 2] = 17.0
    model.fit(X[40:], y[40:], X_val=X_val, y_val=y_val)
    staged = [model._fitted_loss.value(y_val, np.ascontiguousarray(s.T), np.ones(40))
              for s in model._staged_scores(X_val)]  # fmt: skip
    known = model.validation_loss_[: len(staged)]
    np.testing.assert_allclose(known, staged, rtol=1e-12)


def test_scores_that_diverge_are_noticed_in_one_call():
    X, y, _ = problem(0)
    model = GradientBoostingRegressor(learning_rate=1e160, early_stopping=False, random_state=0)
    with pytest.raises(ValueError, match="makes the scores diverge; give one of at most 1"):
        model.fit(X, y)
