"""Boosters and what they cannot learn from: each case is defined, and explained in words."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.boosting.boosters import each_booster, each_classifier, table
from tests.oracles.boosting_script import Script, ScriptedClassifier

from orfeon import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostOCClassifier,
    AdaBoostPairwiseClassifier,
    AdaBoostR2Regressor,
    AdaBoostRRegressor,
    ArcX4Classifier,
    CARTClassifier,
    CARTRegressor,
    MultiBoostClassifier,
    PoolBoostClassifier,
    StumpClassifier,
)
from orfeon.boosting.adaboost import AdaBoostScheme

N_ROWS = 12
ROWS = np.arange(float(N_ROWS))[:, None]
CODES = np.arange(N_ROWS) % 2


def scripted(*answers, then=None):
    """A learner that gives these answers in turn, and the last one, or another, ever after."""
    last = answers[-1] if then is None else then
    script = Script(lambda turn: answers[turn] if turn < len(answers) else last, N_ROWS)
    return ScriptedClassifier(script), script


def wrong_at(*rows):
    answers = CODES.copy()
    answers[list(rows)] ^= 1
    return answers


# -- members no better than chance -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "error"),
    [(wrong_at(*range(6)), "0.5"), (1 - CODES, "1"), (wrong_at(*range(9)), "0.75")],
)
def test_a_first_member_that_is_no_better_than_chance_is_alone(answers, error):
    base, script = scripted(answers)
    model = AdaBoostClassifier(base, 10)
    words = (
        f"^AdaBoostClassifier: the first member errs on {error} of the weight, which is no better "
        "than chance; the ensemble is this member alone. Give a stronger estimator, such as a "
        r"deeper tree\.$"
    )
    with pytest.warns(UserWarning, match=words):
        model.fit(ROWS, CODES)
    assert len(model) == len(script.weights) == 1
    assert model.member_weights_.tolist() == [1.0]
    np.testing.assert_array_equal(model.predict(ROWS), answers)


@pytest.mark.parametrize("on_failure", ["restart", "bootstrap"])
def test_a_run_that_goes_on_gives_up_after_a_hundred_failures(on_failure):
    base, script = scripted(1 - CODES)
    model = AdaBoostClassifier(base, 10, on_failure=on_failure, random_state=0)
    with pytest.warns(
        UserWarning, match="the last of 100 members errs on 1 of the weight, which is no better"
    ):
        model.fit(ROWS, CODES)
    assert len(script.weights) == 100
    assert len(model) == 1
    equal = np.full(N_ROWS, 1 / N_ROWS)
    same = [np.allclose(weights, equal, rtol=1e-12) for weights in script.weights]
    assert sum(same) == (100 if on_failure == "restart" else 1)


def test_it_gives_up_after_some_members_too():
    """Twice right, then nothing but failures: two members, and the number of failures is told."""
    base, script = scripted(wrong_at(0), wrong_at(1), then=1 - CODES)
    model = AdaBoostClassifier(base, 10, on_failure="restart")
    words = (
        "^AdaBoostClassifier: 100 members in a row were no better than chance, so boosting ended "
        "with 2 members of the 10 requested. Give a stronger estimator, such as a deeper tree"
    )
    with pytest.warns(UserWarning, match=words):
        model.fit(ROWS, CODES)
    assert len(script.weights) == 102
    assert len(model) == 2


def test_failures_that_are_not_in_a_row_do_not_add_up():
    answers = [wrong_at(0)] + [1 - CODES] * 99 + [wrong_at(1)] + [1 - CODES] * 99 + [wrong_at(2)]
    base, script = scripted(*answers)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AdaBoostClassifier(base, 3, on_failure="restart").fit(ROWS, CODES)
    assert len(model) == 3
    assert len(script.weights) == len(answers) == 201


def test_with_several_classes_other_methods_are_named():
    y = np.arange(N_ROWS) % 3
    answers = np.where(np.arange(N_ROWS) < 4, y, (y + 1) % 3)
    model = AdaBoostClassifier(scripted(answers)[0], 5, algorithm="m1")
    words = (
        'With 3 classes algorithm="samme", AdaBoostM2Classifier or AdaBoostMHClassifier are less'
    )
    with pytest.warns(UserWarning, match=words):
        model.fit(ROWS, y)
    # an error of two thirds is chance for SAMME too, and one of seven twelfths is not
    with pytest.warns(UserWarning, match="errs on 0.667 of the weight") as caught:
        AdaBoostClassifier(scripted(answers)[0], 5).fit(ROWS, y)
    assert "samme" not in str(caught[0].message)
    better = np.where(np.arange(N_ROWS) < 5, y, (y + 1) % 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AdaBoostClassifier(scripted(better)[0], 2).fit(ROWS, y)
    assert model.errors_[0] == pytest.approx(7 / 12)
    assert model.member_weights_[0] == pytest.approx(0.5 * np.log(5 / 7 * 2))


@pytest.mark.parametrize(
    "kind",
    [
        AdaBoostM2Classifier, AdaBoostMHClassifier, AdaBoostPairwiseClassifier,
        AdaBoostOCClassifier, MultiBoostClassifier,
    ],
)  # fmt: skip
def test_other_methods_say_so_too(kind):
    model = kind(scripted(1 - CODES)[0], 10, random_state=0)
    with pytest.warns(UserWarning, match=f"{kind.__name__}: .* no better than chance") as caught:
        model.fit(ROWS, CODES)
    assert len(caught) == 1
    assert len(model) == 1
    assert len(model.predict(ROWS)) == N_ROWS
    assert np.isfinite(model.predict_proba(ROWS)).all()


def test_arcing_goes_on_whatever_its_members_are():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ArcX4Classifier(scripted(1 - CODES)[0], 6, sampling="weights").fit(ROWS, CODES)
    assert len(model) == 6
    np.testing.assert_allclose(model.errors_, 1.0)


def test_a_pool_without_better_than_chance_says_so():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    with pytest.warns(UserWarning, match="the best classifier of the pool errs on 0.5"):
        model = PoolBoostClassifier(n_estimators=5).fit(X, [0, 1, 0, 1])
    assert len(model) == 1


def test_features_that_say_nothing():
    """Constant columns: a stump is one leaf, and errs on the smaller class."""
    X = np.ones((10, 2))
    model = AdaBoostClassifier(n_estimators=5).fit(X, [0] * 7 + [1] * 3)
    assert len(model) == 1
    assert model.errors_.tolist() == pytest.approx([0.3])
    with pytest.warns(UserWarning, match="the first member errs on 0.5 of the weight"):
        AdaBoostClassifier(n_estimators=5).fit(X, [0] * 5 + [1] * 5)


# -- perfect members -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(CARTClassifier(), 5),
        AdaBoostClassifier(DecisionTreeClassifier(), 5, sampling="weights"),
        AdaBoostM2Classifier(CARTClassifier(), 5),
        AdaBoostMHClassifier(CARTClassifier(), 5),
        AdaBoostRRegressor(CARTRegressor(), 5),
        AdaBoostR2Regressor(CARTRegressor(), 5, sampling="weights"),
    ],
    ids=str,
)
def test_a_first_member_without_error_is_alone_with_a_warning(model):
    X, y = table(model)
    name = type(model).__name__
    words = (
        f"^{name}: the first member makes no error on the training samples, so there was nothing "
        "to boost and the ensemble is this member alone. Give a weaker estimator, such as a tree"
    )
    with pytest.warns(UserWarning, match=words) as caught:
        fitted = clone(model).fit(X, y)
    assert len(caught) == 1
    hint = 'Or set on_failure="bootstrap"'
    assert (hint in str(caught[0].message)) == (name == "AdaBoostClassifier")
    assert len(fitted) == 1
    assert fitted.errors_.tolist() == [0.0]
    assert fitted.score(X, y) == 1.0
    assert np.isfinite(fitted.member_weights_).all()


def test_one_member_asked_for_is_no_surprise():
    X, y = table(GaussianNB())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(AdaBoostClassifier(CARTClassifier(), 1).fit(X, y)) == 1


@pytest.mark.parametrize("on_failure", ["restart", "bootstrap"])
def test_runs_that_go_on_have_members_without_error(on_failure):
    """Each with half of ln(1e10) as its vote."""
    X, y = table(GaussianNB())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AdaBoostClassifier(CARTClassifier(), 6, on_failure=on_failure, random_state=0)
        model.fit(X, y)
    assert len(model) == 6
    np.testing.assert_allclose(model.member_weights_, 0.5 * np.log(1e10), rtol=1e-14)
    same = [np.array_equal(row, model.votes(X)[0]) for row in model.votes(X)]
    assert all(same) == (on_failure == "restart")


def test_a_later_member_without_error_has_the_last_word():
    base, _ = scripted(wrong_at(0), wrong_at(1), CODES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AdaBoostClassifier(base, 6).fit(ROWS, CODES)
    assert len(model) == 3
    assert model.member_weights_[2] >= 2 * model.member_weights_[:2].sum()
    np.testing.assert_array_equal(model.predict(ROWS), CODES)


# -- parameters ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (AdaBoostClassifier(min_weight=0.05), r"min_weight=0.05 for 120 samples leaves nothing to "
         r"reweigh: weights sum to 1. Give less than 0.00833"),
        (AdaBoostClassifier(min_weight=1 / 120), "min_weight=0.00833.* for 120 samples leaves"),
        (AdaBoostClassifier(min_weight=0.2), "'min_weight' parameter of AdaBoostClassifier must"),
        (AdaBoostClassifier(min_weight=-1e-9), "'min_weight' parameter of AdaBoostClassifier must"),
        (AdaBoostClassifier(on_failure="give up"), "'on_failure' parameter of AdaBoostClassifier "
         "must be a str among .*'bootstrap'.* Got 'give up' instead"),
        (AdaBoostClassifier(algorithm="samme.r"), "'algorithm' parameter .* Got 'samme.r' instead"),
        (AdaBoostClassifier(sampling="weight"), "'sampling' parameter .* Got 'weight' instead"),
        (AdaBoostClassifier(n_estimators=0), "'n_estimators' parameter of AdaBoostClassifier"),
        (AdaBoostClassifier(n_iter_no_change=0), "'n_iter_no_change' parameter of AdaBoost"),
        (AdaBoostClassifier(validation_fraction=1.0), "'validation_fraction' parameter of AdaB"),
        (AdaBoostClassifier(tol=-0.1), "'tol' parameter of AdaBoostClassifier"),
        (AdaBoostMHClassifier(joint="yes"), "'joint' parameter of AdaBoostMHClassifier"),
        (AdaBoostR2Regressor(loss="cubic"), "'loss' parameter of AdaBoostR2Regressor .*'cubic'"),
        (MultiBoostClassifier(n_estimators=4, n_committees=5), "n_committees=5 is more than "
         "n_estimators=4; a committee has at least one member"),
        (MultiBoostClassifier(n_committees=0), "'n_committees' parameter of MultiBoostClassifier"),
        (PoolBoostClassifier(n_thresholds=0), "'n_thresholds' parameter of PoolBoostClassifier"),
        (PoolBoostClassifier([]), "pool is empty; give at least one classifier, or None"),
        (AdaBoostClassifier(LinearRegression()), r"estimator=LinearRegression\(\) is not a "
         "classifier; AdaBoostClassifier needs one"),
        (AdaBoostM2Classifier(CARTRegressor()), r"CARTRegressor\(\) is not a classifier; Ada"),
        (AdaBoostRRegressor(GaussianNB()), r"GaussianNB\(\) is not a regressor; AdaBoostRRegre"),
        (AdaBoostR2Regressor(StumpClassifier()), r"StumpClassifier\(\) is not a regressor"),
        (AdaBoostClassifier("stump"), "'estimator' parameter of AdaBoostClassifier must be"),
        (AdaBoostClassifier(CARTClassifier(max_depth=0)), "'max_depth' parameter of CART"),
        (AdaBoostClassifier(random_state="seed"), "'random_state' parameter of AdaBoostClassifier"),
        (AdaBoostClassifier(verbose=-1), "'verbose' parameter of AdaBoostClassifier"),
    ],
)  # fmt: skip
def test_impossible_settings_are_refused(model, message):
    X, y = table(model)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "members_")


def test_as_many_committees_as_members_is_allowed():
    X, y = table(GaussianNB())
    model = MultiBoostClassifier(StumpClassifier(), 4, n_committees=4, random_state=0).fit(X, y)
    assert len(model) == 4


def test_the_largest_min_weight_leaves_a_little_to_reweigh():
    X, y = table(GaussianNB())
    model = AdaBoostClassifier(n_estimators=4, min_weight=0.99 / 120, warm_start=True).fit(X, y)
    weights = model._run.scheme.weights
    assert weights.sum() == pytest.approx(1)
    assert 0 < weights.min() < weights.max()


# -- samples --------------------------------------------------------------------------------------


@each_booster
def test_bad_weights_and_tables_are_refused(booster):
    X, y = table(booster)
    model = clone(booster)
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        model.fit(X, y, sample_weight=np.linspace(-1, 1, 120))
    with pytest.raises(ValueError, match="at least one"):
        model.fit(X, y, sample_weight=np.zeros(120))
    with pytest.raises(ValueError, match="y has 119 values and X has 120 rows"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match=r"infinity|inf"):
        model.fit(np.where(X > 2, np.inf, X), y)
    if is_regressor(booster):
        with pytest.raises(ValueError, match="y must hold numbers only"):
            model.fit(X, np.full(120, "word"))
    else:
        with pytest.raises(ValueError, match="Unknown label type"):
            model.fit(X, np.linspace(0, 1, 120))


def test_what_members_refuse_is_refused():
    X, y = table(GaussianNB())
    with pytest.raises(ValueError, match="contains NaN"):
        AdaBoostClassifier(LogisticRegression(), 3).fit(np.where(X > 2, np.nan, X), y)


@each_classifier
def test_a_class_without_weight_is_no_class(booster):
    X, y = table(booster)
    weights = (y < 2).astype(float)
    model = clone(booster).fit(X, y, sample_weight=weights)
    assert model.classes_.tolist() == [0, 1]
    assert set(model.predict(X)) <= {0, 1}


@pytest.mark.parametrize("min_weight", [0.0, 1e-8])
def test_an_sample_without_weight_never_gains_any(min_weight):
    labels, rng = np.arange(30) % 2, np.random.default_rng(0)
    scheme = AdaBoostScheme(labels, np.arange(30) % 3.0, 2, min_weight=min_weight)
    absent = scheme.weights == 0
    for _ in range(200):
        answers = np.where(rng.random(30) < 0.3, 1 - labels, labels)
        scheme.reweigh(answers, scheme.evaluate(answers), rng)
        assert (scheme.weights[absent] == 0).all()
        assert (scheme.weights[~absent] > 0).all()


@each_booster
def test_one_row_is_enough(booster):
    X, y = table(booster)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = clone(booster).fit(X[:1], y[:1])
    np.testing.assert_allclose(model.predict(X[:1]), y[:1], rtol=1e-12)


@each_classifier
def test_two_rows_that_contradict_each_other(booster):
    """Nothing can be learnt; what is predicted is one of the classes, and nothing is infinite."""
    X, y = np.zeros((2, 1)), np.array([0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = clone(booster).fit(X, y)
    assert set(model.predict(X)) <= {0, 1}
    shares = model.predict_proba(X)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)


# -- before fit ------------------------------------------------------------------------------------


@each_booster
def test_models_that_are_not_fitted_say_so(booster):
    X, y = table(booster)
    model = clone(booster)
    methods = ["predict", "predictions"] if is_regressor(booster) else [
        "predict", "predict_proba", "predict_log_proba", "decision_function", "votes",
    ]  # fmt: skip
    staged = ["staged_predict"] if is_regressor(booster) else [
        "staged_predict", "staged_predict_proba", "staged_decision_function",
    ]  # fmt: skip
    for name in [*methods, "apply", "decision_path"]:
        with pytest.raises(
            NotFittedError, match=f"This {type(model).__name__} instance is not fit"
        ):
            getattr(model, name)(X)
    for name in staged:
        with pytest.raises(NotFittedError):
            next(getattr(model, name)(X))
    with pytest.raises(NotFittedError):
        next(model.staged_score(X, y))
    with pytest.raises(NotFittedError):
        len(model)
    for name in ("estimators_", "feature_importances_"):
        with pytest.raises(NotFittedError):
            getattr(model, name)
    others = ("bounds_", "betas_", "chosen_", "pool_", "pairs_", "colourings_")
    for name in (name for name in dir(type(model)) if name.endswith(others)):
        # a regressor's bounds and betas only say which feature is not there
        with pytest.raises(NotFittedError):
            getattr(model, name)


@each_booster
def test_rows_of_another_width_are_refused(booster):
    X, y = table(booster)
    model = clone(booster).fit(X, y)
    with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 5 features"):
        model.predict(X[:, :4])
