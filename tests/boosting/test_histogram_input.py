"""Histogram boosting reads the training rows where they are, whatever their type and layout."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from tests.boosting.first_order import mart_classifier, mart_regressor
from tests.shared import assert_same_forest

from orfeon.boosting.losses import HuberError, SquaredError
from orfeon.utils import row_threads


def rows_and_classes(n_rows=600, n_features=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32).astype(np.float64)
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n_rows) > 0).astype(int)
    X[::9, 2] = np.nan
    return X, y


def model(**settings):
    settings = {"n_estimators": 5, **settings}
    return mart_classifier(tree_method="histogram", random_state=0, **settings)


def stored(X, path):
    np.save(path / "X.npy", X)
    return np.load(path / "X.npy", mmap_mode="r")


FORMS = {
    "float32": lambda X, _: X.astype(np.float32),
    "fortran": lambda X, _: np.asfortranarray(X),
    "every second column": lambda X, _: np.repeat(X, 2, axis=1)[:, ::2],
    "memory-mapped": stored,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "settings", [{}, {"subsample": 0.5}, {"early_stopping": "cv", "n_iter_no_change": 5}], ids=str
)
def test_the_form_of_the_rows_changes_nothing(form, settings, tmp_path):
    X, y = rows_and_classes()
    expected = model(**settings).fit(X, y)
    fitted = model(**settings).fit(FORMS[form](X, tmp_path), y)
    assert_same_forest(fitted.forest_, expected.forest_)
    np.testing.assert_array_equal(fitted.train_loss_, expected.train_loss_)
    if not settings:
        more = fitted.set_params(n_estimators=8, warm_start=True).fit(FORMS[form](X, tmp_path), y)
        assert_same_forest(more.forest_, model().set_params(n_estimators=8).fit(X, y).forest_)


@pytest.mark.parametrize("form", ["float32", "fortran", "memory-mapped"])
def test_infinite_values_are_errors_in_any_form(form, tmp_path):
    X, y = rows_and_classes()
    X[17, 3] = np.inf
    with pytest.raises(ValueError, match="row 17"):
        model().fit(FORMS[form](X, tmp_path), y)


@pytest.mark.parametrize("form", FORMS)
def test_the_table_is_not_copied(form, tmp_path):
    X, y = rows_and_classes(20_000, 80)
    given = FORMS[form](X, tmp_path)
    model().fit(given[:300], y[:300])
    tracemalloc.start()
    try:
        model(max_depth=2).fit(given, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.6 * X.nbytes


@pytest.mark.parametrize(
    ("loss", "n_classes"), [("log_loss", 2), ("log_loss", 3), ("exponential", 2)]
)
def test_parts_of_the_rows_make_the_same_model_in_any_number_of_threads(
    loss, n_classes, monkeypatch
):
    X, y = rows_and_classes()
    y = y + (X[:, 3] > 1) * (n_classes - 2)
    whole = model(loss=loss).fit(X, y)
    monkeypatch.setattr(row_threads, "PART", 64)
    monkeypatch.setattr("orfeon.boosting.gradient.PART", 64)
    one, two = (model(loss=loss, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert_same_forest(one.forest_, whole.forest_)
    assert_same_forest(two.forest_, whole.forest_)
    np.testing.assert_array_equal(one.train_loss_, two.train_loss_)
    np.testing.assert_allclose(one.train_loss_, whole.train_loss_, rtol=1e-13)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_parts_of_the_rows_make_the_same_regression(loss, monkeypatch):
    X, y = rows_and_classes()
    y = y + X[:, 1]
    how = {"loss": loss, "tree_method": "histogram", "random_state": 0}
    whole = mart_regressor(n_estimators=4, **how).fit(X, y)
    monkeypatch.setattr(row_threads, "PART", 64)
    monkeypatch.setattr("orfeon.boosting.gradient.PART", 64)
    parts = mart_regressor(n_estimators=4, n_jobs=2, **how).fit(X, y)
    assert_same_forest(parts.forest_, whole.forest_)
    np.testing.assert_allclose(parts.train_loss_, whole.train_loss_, rtol=1e-13)
    assert SquaredError.is_by_row
    assert not HuberError.is_by_row
