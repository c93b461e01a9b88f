"""The estimators of gradient boosting: what they promise beyond their rounds."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from sklearn import ensemble as sk
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.utils.fixes import parse_version
from tests import shared
from tests.boosting.first_order import mart_classifier, mart_regressor
from tests.boosting.gradient_settings import SETTINGS, data, each, is_classifier, scores
from tests.shared import assert_same_forest

from orfeon import CARTRegressor, GradientBoostingRegressor
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.growth import histogram, residuals

#: Before scikit-learn 1.9 its trees had another criterion by default.
OLD = parse_version(sklearn.__version__) < parse_version("1.9")
AS_FRIEDMAN = {"criterion": "squared_error"} if OLD else {}

# -- against others --------------------------------------------------------------------------------


@pytest.mark.parametrize("max_leaf_nodes", [None, 6])
def test_numbers_as_scikit_learn_predicts_them(max_leaf_nodes):
    """Without ties: continuous targets, leaves of several samples."""
    X, y = make_friedman1(400, random_state=1)
    X = X.astype(np.float32).astype(np.float64)  # scikit-learn rounds them
    how = {"n_estimators": 40, "min_samples_leaf": 10, "max_leaf_nodes": max_leaf_nodes}
    mine = mart_regressor(random_state=0, **how).fit(X[:300], y[:300])
    theirs = sk.GradientBoostingRegressor(random_state=0, **AS_FRIEDMAN, **how)
    theirs.fit(X[:300], y[:300])
    np.testing.assert_allclose(mine.predict(X), theirs.predict(X), rtol=1e-10)
    np.testing.assert_allclose(mine.train_loss_, 0.5 * theirs.train_score_, rtol=1e-10)
    np.testing.assert_allclose(mine.feature_importances_, theirs.feature_importances_, atol=1e-10)
    np.testing.assert_allclose(
        list(mine.staged_predict(X[300:])), list(theirs.staged_predict(X[300:])), rtol=1e-10
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_as_scikit_learn_predicts_them(n_classes):
    """Random weights leave no ties."""
    X, y = make_waveform(500, random_state=1)
    X = X.astype(np.float32).astype(np.float64)
    y = y % n_classes
    weights = np.random.default_rng(0).uniform(0.5, 1.5, 500)
    how = {"n_estimators": 15, "min_weight_fraction_leaf": 0.03}
    mine = mart_classifier(random_state=0, **how).fit(X, y, sample_weight=weights)
    theirs = sk.GradientBoostingClassifier(random_state=0, **AS_FRIEDMAN, **how)
    theirs.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    if n_classes == 2:
        np.testing.assert_allclose(
            mine.decision_function(X), theirs.decision_function(X), atol=1e-9
        )


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_bins_as_many_as_values_give_the_exact_trees(loss):
    """Up to ties, which the fixed point of either may break: the predictions are compared."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, (400, 4)).astype(np.float64)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + 100 * rng.normal(size=400)
    weights = rng.uniform(0.5, 1.5, 400)
    how = {"loss": loss, "n_estimators": 10, "min_samples_leaf": 20, "random_state": 0}
    exact, binned = (
        mart_regressor(tree_method=method, **how).fit(X, y, sample_weight=weights)
        for method in ("exact", "histogram")
    )
    np.testing.assert_allclose(binned.predict(X), exact.predict(X), rtol=1e-9)
    few = mart_regressor(tree_method="histogram", max_bins=4, **how).fit(X, y)
    inner = ~few.forest_.is_leaf
    assert len(np.unique(few.forest_.threshold[inner & (few.forest_.feature == 0)])) <= 4


def test_one_round_of_squared_error_is_a_shrunk_tree(friedman):
    X, y = friedman
    boosted = mart_regressor(n_estimators=1, learning_rate=0.25, random_state=0)
    tree = CARTRegressor(max_depth=3, random_state=0)
    expected = y.mean() + 0.25 * (tree.fit(X, y).predict(X) - y.mean())
    np.testing.assert_allclose(boosted.fit(X, y).predict(X), expected, rtol=1e-12)


def test_stumps_give_an_additive_model(friedman):
    """What one feature adds does not depend on the others."""
    X, y = friedman
    boosted = mart_regressor(max_depth=1, n_estimators=30, random_state=0).fit(X, y)
    one, other = X[:50].copy(), X[:50].copy()
    other[:, 3] = 0.9
    effect = boosted.predict(other) - boosted.predict(one)
    one[:, [0, 1, 2, 4]] = other[:, [0, 1, 2, 4]] = 0.1
    np.testing.assert_allclose(boosted.predict(other) - boosted.predict(one), effect, atol=1e-12)


def test_boosting_learns():
    X, y = make_waveform(600, random_state=2)
    boosted = mart_classifier(random_state=0).fit(X[:300], y[:300])
    assert boosted.score(X[300:], y[300:]) > 0.8
    X, y = make_friedman1(600, random_state=2)
    assert mart_regressor().fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.85


def test_a_quantile_is_exceeded_by_its_share():
    X, y = make_friedman1(1000, random_state=3)
    for alpha in (0.1, 0.5, 0.9):
        model = mart_regressor(loss="quantile", alpha=alpha, max_depth=2, random_state=0)
        assert np.mean(y <= model.fit(X, y).predict(X)) == pytest.approx(alpha, abs=0.03)


def test_absolute_error_and_huber_withstand_outliers(friedman):
    X, y = friedman
    spoilt = y.copy()
    spoilt[::20] += 1000.0
    error = {}
    for loss in ("squared_error", "absolute_error", "huber"):
        model = mart_regressor(loss=loss, random_state=0).fit(X, spoilt)
        error[loss] = np.median(np.abs(model.predict(X) - y))
    assert error["absolute_error"] < 0.5 * error["squared_error"]
    assert error["huber"] < 0.5 * error["squared_error"]


# -- what is shown ---------------------------------------------------------------------------------


@each
def test_what_is_fitted(estimator):
    X, y = data(estimator)
    fitted = clone(estimator).fit(X, y)
    k = 3 if is_classifier(fitted) else 1
    assert fitted.n_estimators_ == 8
    assert len(fitted.forest_) == len(fitted.members_) == len(fitted.estimators_) == 8 * k
    assert fitted.init_.shape == (k,)
    assert fitted.train_loss_.shape == (8,)
    assert fitted.apply(X).shape == (150, 8 * k)
    assert fitted.feature_importances_.sum() == pytest.approx(1.0, abs=1e-12)
    assert not hasattr(fitted, "validation_loss_")
    fitted.forest_.validate()
    # The members are what is added up.
    added = sum(tree.predict(X) for tree in fitted.estimators_[::k]) + fitted.init_[0]
    answers = scores(fitted, X)
    np.testing.assert_allclose(added, answers[:, 0] if k > 1 else answers, atol=1e-12)


@each
def test_the_loss_shown_is_that_of_the_predictions(estimator):
    X, y = data(estimator)
    fitted = clone(estimator).fit(X, y)
    last = fitted.train_loss_[-1]
    if isinstance(fitted, GradientBoostingRegressor):
        gap = y - fitted.predict(X)
        expected = {
            "squared_error": 0.5 * np.mean(gap**2),
            "absolute_error": np.mean(np.abs(gap)),
            "quantile": np.mean(np.where(gap > 0, 0.3 * gap, -0.7 * gap)),
        }
        if fitted.loss in expected:
            assert last == pytest.approx(expected[fitted.loss], rel=1e-12)
    else:
        weights = None
        if fitted.class_weight:
            weights = (150 / 3 / np.bincount(y))[y]
        expected = log_loss(y, fitted.predict_proba(X), sample_weight=weights)
        assert last == pytest.approx(expected, rel=1e-10)


@each
def test_staged_answers_are_those_of_fewer_rounds_to_the_bit(estimator):
    X, y = data(estimator)
    fitted = clone(estimator).fit(X, y)
    stages = list(fitted.staged_predict(X))
    assert len(stages) == 8
    for n in (1, 5, 8):
        fewer = clone(estimator).set_params(n_estimators=n).fit(X, y)
        np.testing.assert_array_equal(stages[n - 1], fewer.predict(X))
        assert list(fitted.staged_score(X, y))[n - 1] == pytest.approx(fewer.score(X, y), abs=1e-12)
        if is_classifier(estimator):
            proba = list(fitted.staged_predict_proba(X))[n - 1]
            np.testing.assert_array_equal(proba, fewer.predict_proba(X))
            decision = list(fitted.staged_decision_function(X))[n - 1]
            np.testing.assert_array_equal(decision, fewer.decision_function(X))


@each
def test_what_is_not_fitted_says_so(estimator):
    X, y = data(estimator)
    model = clone(estimator)
    for query in (model.predict, model.apply, lambda X: next(model.staged_predict(X))):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            query(X)
    with pytest.raises(NotFittedError):
        next(model.staged_score(X, y))


def test_two_classes_have_one_score(waveform):
    X, y = waveform
    names = np.array(["no", "yes"])[y % 2]
    for loss, factor in (("log_loss", 1.0), ("exponential", 2.0)):
        fitted = mart_classifier(loss=loss, n_estimators=20, random_state=0)
        score = fitted.fit(X, names).decision_function(X)
        assert score.shape == (300,)
        assert len(fitted.forest_) == 20
        p = fitted.predict_proba(X)
        np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-factor * score)), rtol=1e-12)
        np.testing.assert_array_equal(fitted.predict(X), names_of(score, fitted.classes_))
        np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), p, rtol=1e-12)


def names_of(score, classes):
    return classes[(score > 0).astype(int)]


def test_the_model_is_pickled_and_cloned(waveform):
    X, y = waveform
    fitted = mart_classifier(n_estimators=5, random_state=0).fit(X, y)
    expected = fitted.predict_proba(X)
    size = len(pickle.dumps(fitted))
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(X), expected)
    assert size < 2 * fitted.forest_.nbytes + 20_000
    assert clone(fitted).get_params() == fitted.get_params()


# -- weights, threads, seeds -----------------------------------------------------------------------


def frame(seed, n_rows=90):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 5, n_rows)
    table = pandas.DataFrame(
        {
            "fine": rng.normal(size=n_rows),
            "coarse": np.round(rng.normal(size=n_rows), 1),
            "colour": pandas.Categorical.from_codes(codes, list("abcde")),
        }
    )
    signal = table["fine"] + np.isin(codes, [1, 3]) + rng.normal(size=n_rows)
    table["fine"] = table["fine"].mask(rng.random(n_rows) < 0.1)
    table["colour"] = table["colour"].mask(rng.random(n_rows) < 0.1)
    return table, signal.to_numpy()


@pytest.mark.parametrize(
    "estimator",
    [
        *SETTINGS,
        clone(SETTINGS[0]).set_params(n_iter_no_change=3, validation_fraction=0.3),
        clone(SETTINGS[4]).set_params(n_iter_no_change=2, early_stopping="cv", n_folds=3),
    ],
    ids=str,
)
def test_weight_k_is_k_copies_in_any_order_to_the_bit(estimator):
    X, signal = frame(1)
    y = np.argsort(np.argsort(signal)) * 3 // 90 if is_classifier(estimator) else signal
    rng = np.random.default_rng(2)
    weights = rng.integers(0, 4, 90)
    copies = rng.permutation(np.repeat(np.arange(90), weights))
    weighted = clone(estimator).fit(X, y, sample_weight=weights)
    copied = clone(estimator).fit(X.iloc[copies], y[copies])
    assert_same_forest(weighted.forest_, copied.forest_)
    np.testing.assert_array_equal(scores(weighted, X), scores(copied, X))
    np.testing.assert_array_equal(weighted.train_loss_, copied.train_loss_)


@each
def test_the_unit_of_weights_does_not_matter(estimator):
    X, y = data(estimator)
    rng = np.random.default_rng(0)
    plain = clone(estimator).fit(X, y)
    # Factors of classes have 50 bits, counted from the whole weight.
    weighs_classes = getattr(estimator, "class_weight", None) is not None
    atol = 1e-12 if weighs_classes else 0.0
    for weight in (0.3,) if weighs_classes else (0.3, 2.0**-500, 1e300):
        same = clone(estimator).fit(X, y, sample_weight=np.full(150, weight))
        np.testing.assert_allclose(scores(same, X), scores(plain, X), rtol=0, atol=atol)
    weights = rng.uniform(0.1, 1.0, 150)
    large = 16.0 if weighs_classes else 2.0**300
    one, other = (clone(estimator).fit(X, y, sample_weight=f * weights) for f in (1.0, large))
    np.testing.assert_allclose(scores(one, X), scores(other, X), rtol=0, atol=atol)


@each
def test_threads_change_no_bit(estimator, monkeypatch):
    monkeypatch.setattr(residuals, "_WORTH_THREADS", 1)
    monkeypatch.setattr(histogram, "_WORTH_THREADS", 1)
    X, y = data(estimator)
    estimator = clone(estimator).set_params(n_iter_no_change=3, early_stopping="cv", n_folds=3)
    one = clone(estimator).fit(X, y)
    for n_jobs in (2, 3) if shared.thorough else (3,):
        many = clone(estimator).set_params(n_jobs=n_jobs).fit(X, y)
        assert_same_forest(one.forest_, many.forest_)
        np.testing.assert_array_equal(one.validation_loss_, many.validation_loss_)


@each
def test_random_state_fixes_everything(estimator):
    X, y = data(estimator)
    fits = [clone(estimator).set_params(random_state=7).fit(X, y) for _ in range(2)]
    assert_same_forest(fits[0].forest_, fits[1].forest_)


# -- bad and extreme input -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"learning_rate": -1}, "learning_rate"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"subsample": 1.5}, "subsample"),
        ({"max_depth": 0}, "max_depth"),
        ({"alpha": 1.0}, "alpha"),
        ({"loss": "log_loss"}, "loss"),
        ({"max_bins": 256}, "max_bins"),
        ({"tree_method": "fast"}, "tree_method"),
        ({"early_stopping": "never"}, "early_stopping"),
        ({"n_folds": 1}, "n_folds"),
        ({"validation_fraction": 0.0}, "validation_fraction"),
        ({"n_iter_no_change": 0}, "n_iter_no_change"),
        ({"tol": -1.0}, "tol"),
    ],
)
def test_parameters_are_checked(friedman, change, message):
    with pytest.raises(ValueError, match=f"The '{message}' parameter"):
        mart_regressor(**change).fit(*friedman)


def test_one_class_has_probability_one(friedman):
    X, _ = friedman
    model = mart_classifier(n_estimators=2).fit(X, np.full(200, "a"))
    assert set(model.predict(X)) == {"a"}
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((200, 1)))
    weights = np.arange(200) % 2
    model = mart_classifier(n_estimators=2).fit(X, weights, sample_weight=weights)
    assert model.classes_.tolist() == [1]


def test_the_exponential_loss_is_for_two_classes(waveform):
    with pytest.raises(ValueError, match="loss='exponential', but y has 3 classes"):
        mart_classifier(loss="exponential").fit(*waveform)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_targets_of_any_kind(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    model = mart_regressor(loss=loss, n_estimators=10, random_state=0)
    for value in (3.5, -1e150, 0.0):
        constant = model.fit(X, np.full(50, value))
        assert constant.predict(X).tolist() == [value] * 50
        assert constant.forest_.n_leaves.tolist() == [1] * 10
        assert constant.train_loss_.tolist() == [0.0] * 10
        assert constant.feature_importances_.tolist() == [0.0, 0.0]
    y = rng.normal(size=50)
    plain = model.fit(X, y).predict(X)
    for factor in (2.0**490, 2.0**-400):
        np.testing.assert_allclose(model.fit(X, y * factor).predict(X), plain * factor, rtol=1e-10)
    one = model.fit(X[:1], y[:1])
    assert one.predict(X[:1]).tolist() == [y[0]]


def test_probabilities_stay_finite_when_nothing_is_left_to_learn():
    """Perfectly parted classes: log odds grow, curvatures vanish."""
    X = np.arange(40.0)[:, None]
    for y in (X[:, 0] > 19, X[:, 0] // 14):
        for loss in ("log_loss", "exponential") if len(np.unique(y)) == 2 else ("log_loss",):
            model = mart_classifier(
                loss=loss, n_estimators=400, learning_rate=1.0, random_state=0
            ).fit(X, y)
            p = model.predict_proba(X)
            assert np.isfinite(model.decision_function(X)).all()
            assert np.isfinite(model.predict_log_proba(X)).all()
            np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
            assert model.score(X, y) == 1.0
            assert np.diff(model.train_loss_).max() <= 1e-15


def test_contradictory_samples_cannot_blow_up():
    """One sample of another class where all are sure of the contrary."""
    X = np.zeros((200, 1))
    X[:100] = 1.0
    y = (X[:, 0] > 0).astype(int)
    y[0] = 0
    model = mart_classifier(n_estimators=300, learning_rate=1.0, random_state=0)
    model.fit(X, y)
    assert model.decision_function([[1.0]])[0] == pytest.approx(np.log(99), abs=1e-9)


def test_a_class_may_weigh_nothing(waveform):
    X, y = waveform
    model = mart_classifier(class_weight={0: 0.0, 1: 1.0, 2: 1.0}, n_estimators=5)
    assert 0 not in set(model.fit(X, y).predict(X))


def test_progress_is_shown(friedman, capsys):
    mart_regressor(n_estimators=10, verbose=1).fit(*friedman)
    assert "GradientBoostingRegressor  10/10" in capsys.readouterr().err


def test_no_warning_in_ordinary_use(waveform):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mart_classifier(n_estimators=3, random_state=0).fit(*waveform)


class Listener:
    """A callback that keeps the models it is shown, and stops after some rounds."""

    def __init__(self, stop_after):
        self.stop_after = stop_after
        self.models = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(
        self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None
    ):
        if context.task_name == "member":
            self.models.append(fitted_estimator)
        return len(self.models) >= self.stop_after


def test_callbacks_hear_each_round_and_may_stop(waveform):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    X, y = waveform
    listener = Listener(4)
    model = mart_classifier(n_estimators=50, random_state=0).set_callbacks(listener)
    model.fit(X, y)
    assert model.n_estimators_ == len(listener.models) == 4
    for shown, stage in zip(listener.models, model.staged_predict_proba(X), strict=True):
        np.testing.assert_array_equal(shown.predict_proba(X), stage)
