"""Parallel perceptrons and what they cannot learn from: refused in words that help."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError
from tests.perceptrons.models import N_ROWS, classes, samples, target

from orfeon import (
    AdaBoostClassifier,
    ParallelPerceptronClassifier,
    ParallelPerceptronRegressor,
    PPBoostClassifier,
    PPTSSClassifier,
)

KINDS = [
    ParallelPerceptronClassifier,
    ParallelPerceptronRegressor,
    PPTSSClassifier,
    PPBoostClassifier,
]
each_kind = pytest.mark.parametrize("kind", KINDS)
each_binary = pytest.mark.parametrize("kind", [PPTSSClassifier, PPBoostClassifier])


def problem(kind):
    X, signal = samples()
    return X, target(kind(), signal)


# -- parameters ------------------------------------------------------------------------------------

WRONG = {
    "n_perceptrons": [0, -1, 2.5, "many"],
    "mode": ["online", None],
    "rule": ["delta", 1],
    "max_iter": [0, 1.5],
    "learning_rate": ["optimal", 0.1],
    "eta0": [0.0, -0.1, np.inf, np.nan, "scale"],
    "margin": [-0.1, np.inf, "auto"],
    "tune_margin": ["yes", None],
    "margin_weight": [-1.0, np.nan],
    "standardize": [None, "robust"],
    "divide_inputs": ["no"],
    "init": [0.0, -1.0, "zeros", np.inf],
    "early_stopping": ["auto"],
    "warm_start": ["yes"],
    "verbose": [-1],
    "random_state": ["seed", -3, 1.5],
}
OF_ONE_KIND = [
    (ParallelPerceptronClassifier, "multi_class", ["ovr", "multinomial"]),
    (ParallelPerceptronClassifier, "class_weight", ["auto", 3]),
    (ParallelPerceptronClassifier, "n_jobs", [1.5]),
    (ParallelPerceptronRegressor, "rho", [0.0, -1, np.inf, "auto"]),
    (ParallelPerceptronRegressor, "epsilon", [-0.1, 1.0, np.nan]),
    (PPTSSClassifier, "estimator", ["pp", ParallelPerceptronRegressor(), AdaBoostClassifier()]),
    (PPTSSClassifier, "keep_quasi_noisy", ["yes"]),
    (PPTSSClassifier, "quasi_noisy", ["any", None]),
    (PPTSSClassifier, "max_rounds", [0, 2.5]),
    (PPBoostClassifier, "estimator", ["pp", ParallelPerceptronRegressor()]),
    (PPBoostClassifier, "mode", ["neutral", None]),
    (PPBoostClassifier, "quasi_noisy", ["any"]),
    (PPBoostClassifier, "sampling", ["bootstrap"]),
    (PPBoostClassifier, "on_failure", ["go on"]),
    (PPBoostClassifier, "min_weight", [-1e-3, 0.5]),
    (PPBoostClassifier, "n_estimators", [0]),
    (PPBoostClassifier, "n_iter_no_change", [0]),
    (PPBoostClassifier, "validation_fraction", [0.0, 1.0]),
]


@pytest.mark.parametrize("kind", KINDS[:2])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_values_are_told(kind, name):
    X, y = problem(kind)
    for value in WRONG[name]:
        with pytest.raises(
            InvalidParameterError, match=f"The '{name}' parameter of {kind.__name__}"
        ):
            kind(**{name: value}).fit(X, y)


@pytest.mark.parametrize(("kind", "name", "values"), OF_ONE_KIND)
def test_wrong_values_of_one_kind_are_told(kind, name, values):
    X, y = problem(kind)
    for value in values:
        with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter of"):
            kind(**{name: value}).fit(X, y)


@pytest.mark.parametrize("name", sorted(set(WRONG) - {"verbose", "warm_start", "random_state"}))
@pytest.mark.parametrize("ensemble", [PPTSSClassifier, PPBoostClassifier, AdaBoostClassifier])
def test_settings_of_the_base_are_told_too(ensemble, name):
    X, signal = samples()
    for value in WRONG[name]:
        model = ensemble(ParallelPerceptronClassifier(**{name: value}))
        with pytest.raises(
            InvalidParameterError, match=f"The '{name}' parameter of ParallelPerceptronClassifier"
        ):
            model.fit(X, classes(signal))


@pytest.mark.parametrize("n_perceptrons", [2, 10])
def test_an_even_number_of_perceptrons_is_refused(n_perceptrons):
    X, signal = samples()
    y = classes(signal)
    words = (
        f"n_perceptrons={n_perceptrons} is even, so votes could be tied; give an odd number, "
        f"such as {n_perceptrons + 1}."
    )
    one = ParallelPerceptronClassifier(n_perceptrons)
    for model in (one, PPTSSClassifier(one), PPBoostClassifier(one), AdaBoostClassifier(one)):
        with pytest.raises(ValueError, match=re.escape(words)):
            model.fit(X, y)
    with pytest.raises(ValueError, match=re.escape(words)):
        one.partial_fit(X, y, classes=[0, 1])
    # The mean of a regressor's votes may well be in the middle.
    ParallelPerceptronRegressor(n_perceptrons, random_state=0).fit(X, signal)


def test_class_weights_that_are_none_are_refused():
    X, signal = samples()
    y = classes(signal)
    for weights, words in (
        ({0: 1.0, 1: -1.0}, "not negative"),
        ({0: 0.0, 1: 0.0}, "not all zero"),
        ({5: 2.0}, "are not in class_weight"),
    ):
        with pytest.raises(ValueError, match=words):
            ParallelPerceptronClassifier(class_weight=weights).fit(X, y)


@pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one"])
def test_classes_of_weight_zero_are_not_heard(multi_class):
    X, signal = samples()
    y = classes(signal, 3)
    model = ParallelPerceptronClassifier(
        multi_class=multi_class, class_weight={0: 0.0, 1: 0.0, 2: 1.0}, random_state=0
    ).fit(X, y)
    assert np.isfinite(model.weights_).all()
    assert np.mean(model.predict(X[y == 2]) == 2) > 0.9
    two = PPTSSClassifier(
        ParallelPerceptronClassifier(class_weight={0: 0.0, 1: 1.0}), random_state=0
    ).fit(X, y == 2)
    assert np.isfinite(two.history_["geometric_mean"]).all()


# -- tables ----------------------------------------------------------------------------------------


@each_kind
def test_tables_that_are_none_are_refused(kind):
    X, y = problem(kind)
    infinite = X.copy()
    infinite[3, 1] = np.inf
    for table, words in (
        (infinite, "infin"),
        (X[:, 0], r"shape is \(120,\)|Expected 2D array"),
        (X[:0], "0 sample|no rows|at least one"),
        (X[:, :0], r"0 feature|no attributes|no columns"),
        (X[:50], f"{N_ROWS}"),
        (sparse.csr_matrix(X), "[Ss]parse"),
        (X.astype(complex), "[Cc]omplex"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            kind().fit(table, y if table.shape[0] else y[:0])


@each_kind
def test_targets_that_are_none_are_refused(kind):
    X, y = problem(kind)
    gap = y.astype(float)
    gap[5] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        kind().fit(X, gap)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        kind().fit(X, None)
    if kind is ParallelPerceptronRegressor:
        with pytest.raises(ValueError, match="y must hold numbers only"):
            kind().fit(X, np.full(N_ROWS, "word"))
    else:
        with pytest.raises(ValueError, match="Unknown label type"):
            kind().fit(X, np.random.default_rng(0).normal(size=N_ROWS))


@each_kind
def test_weights_that_are_none_are_refused(kind):
    X, y = problem(kind)
    for weights, words in (
        (np.ones(5), "sample_weight"),
        (-np.ones(N_ROWS), "[Nn]egative"),
        (np.zeros(N_ROWS), "zero for every sample|at least one non-zero"),
        (np.full(N_ROWS, np.nan), "NaN"),
        (np.full(N_ROWS, 1.7e308), "whose sum overflows"),
    ):
        with pytest.raises(ValueError, match=words):
            kind().fit(X, y, sample_weight=weights)


@each_kind
def test_rows_to_predict_must_fit(kind):
    X, y = problem(kind)
    with pytest.raises(NotFittedError):
        kind().predict(X)
    model = kind(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="infin"):
        model.predict(np.full((2, 4), np.inf))


@pytest.mark.parametrize("name", ["margins", "categories", "energy", "decision_function"])
def test_before_a_fit_nothing_is_said(name):
    X, signal = samples()
    given = (X,) if name == "decision_function" else (X, classes(signal))
    with pytest.raises(NotFittedError):
        getattr(ParallelPerceptronClassifier(), name)(*given)


def test_samples_to_look_at_must_fit():
    X, signal = samples()
    y = classes(signal)
    model = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    for look in (model.margins, model.categories, model.energy):
        with pytest.raises(ValueError, match=f"y has 5 values and X has {N_ROWS} rows"):
            look(X, y[:5])
        with pytest.raises(ValueError, match=r"the class .*7.*, which is not among classes=\[0, 1"):
            look(X, np.full(N_ROWS, 7))
    with pytest.raises(ValueError, match=r"pos_label=2 is not among the classes \[0, 1\]"):
        model.categories(X, y, pos_label=2)
    with pytest.raises(ValueError, match="quasi_noisy='some' is not allowed"):
        model.categories(X, y, quasi_noisy="some")
    numbers = ParallelPerceptronRegressor(random_state=0).fit(X, signal)
    with pytest.raises(ValueError, match=f"y has 5 values and X has {N_ROWS} rows"):
        numbers.energy(X, signal[:5])


# -- two classes -----------------------------------------------------------------------------------


@each_binary
def test_more_than_two_classes_are_refused_with_advice(kind):
    X, signal = samples()
    with pytest.raises(
        ValueError,
        match=rf"y has 3 classes; wrap {kind.__name__} in sklearn.multiclass.OneVsRestClassifier",
    ):
        kind().fit(X, classes(signal, 3))


@each_binary
def test_a_class_of_interest_that_is_not_there_is_named(kind):
    """As in a fold of a cross-validation that has no positive sample."""
    X, signal = samples()
    y = classes(signal)
    with pytest.raises(ValueError, match=r"pos_label='ill' is not among the classes \[0, 1\]"):
        kind(pos_label="ill").fit(X, y)
    with pytest.raises(ValueError, match=r"pos_label=1 is not among the classes \[0\]"):
        kind(pos_label=1).fit(X, np.zeros(N_ROWS, int))


@each_binary
@pytest.mark.parametrize("label", [0, 1, "only"])
def test_one_class_is_what_it_is(kind, label):
    X, _ = samples()
    model = kind(random_state=0).fit(X, np.full(N_ROWS, label))
    assert set(model.predict(X).tolist()) == {label}
    assert model.predict_proba(X).tolist() == [[1.0]] * N_ROWS
    assert model.classes_.tolist() == [label]
    assert model.positive_class_ == label


@pytest.mark.parametrize("on_failure", ["stop", "restart", "bootstrap"])
@pytest.mark.parametrize("sampling", ["weights", "resample"])
def test_boosting_one_class_is_without_error(on_failure, sampling):
    X, _ = samples()
    model = PPBoostClassifier(
        on_failure=on_failure, sampling=sampling, n_estimators=3, random_state=0
    ).fit(X, np.zeros(N_ROWS))
    assert model.errors_.tolist() == [0.0] * (1 if on_failure == "stop" else 3)


def test_a_failed_fit_can_be_followed_by_another():
    X, signal = samples()
    y = classes(signal)
    model = ParallelPerceptronClassifier(random_state=0)
    with pytest.raises(ValueError, match="infin"):
        model.fit(np.full((N_ROWS, 4), np.inf), y)
    np.testing.assert_array_equal(model.fit(X, y).weights_, clone(model).fit(X, y).weights_)
