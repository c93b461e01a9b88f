"""PPBoostClassifier: its modes, and what all boosted ensembles can do."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from tests.perceptrons.models import (
    BOOSTED,
    assert_same_model,
    classes,
    frame,
    learnt,
    samples,
)
from tests.perceptrons.test_parallel_perceptron import Recorder

from orfeon import (
    AdaBoostClassifier,
    ParallelPerceptronClassifier,
    PPBoostClassifier,
    PrunedClassifier,
    early_decision,
    prune,
)
from orfeon.datasets import make_gaussian_clouds
from orfeon.imbalance import geometric_mean, positive_accuracy
from orfeon.ordering import order_votes
from orfeon.perceptrons.boost import FACTORS

MODES = ["adaboost", "negative", "positive", "balanced"]
each_mode = pytest.mark.parametrize("mode", MODES)
each_sampling = pytest.mark.parametrize("sampling", ["weights", "resample"])
#: Few epochs, so that members err.
WEAK = ParallelPerceptronClassifier(max_iter=15, margin_weight=0.3)


@pytest.fixture(scope="module")
def clouds():
    """Six hundred samples, one in ten of them positive."""
    return make_gaussian_clouds(600, priors=(0.9, 0.1), random_state=0)


# -- AdaBoost --------------------------------------------------------------------------------------


@each_sampling
def test_early_stopping_and_weights_are_adaboosts_too(clouds, sampling):
    X, y = clouds
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    given = {
        "sampling": sampling, "random_state": 1, "n_iter_no_change": 2, "on_failure": "restart",
        "validation_fraction": 0.3, "min_weight": 1e-4,
    }  # fmt: skip
    mine = PPBoostClassifier(WEAK, 20, mode="adaboost", **given).fit(X, y, sample_weight=weights)
    other = AdaBoostClassifier(WEAK, 20, **given).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(mine.validation_errors_, other.validation_errors_)
    np.testing.assert_array_equal(mine.member_weights_, other.member_weights_)
    assert len(mine.validation_errors_) < 20


def test_members_are_parallel_perceptrons_of_the_same_inputs(clouds):
    X, y = clouds
    model = PPBoostClassifier(n_estimators=4, random_state=0).fit(X, np.array(["no", "yes"])[y])
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X)) == {"no", "yes"}
    assert len(model) == model.n_estimators_ == 4
    for member in model.estimators_:
        assert isinstance(member, ParallelPerceptronClassifier)
        assert member.margin_weight == 0.5
        assert member.inputs_ is model.estimators_[0].inputs_
        assert member.margins(X, y).shape == (600, 3)
        assert set(member.predict(X)) <= {0, 1}


# -- modes -----------------------------------------------------------------------------------------


def test_the_factors_are_those_of_the_table():
    """Of redundant, noisy, borderline and quasi-noisy samples."""
    assert [[FACTORS[mode][code] for code in range(4)] for mode in MODES] == [
        [1, 1, 1, 1], [1, -1, 1, 1], [1, -1, 1, -1], [1, -1, 1, 0],
    ]  # fmt: skip


@pytest.mark.parametrize("quasi_noisy", ["all", "vote"])
@each_mode
def test_the_second_member_has_the_weights_of_the_formula(clouds, mode, quasi_noisy):
    """D exp(-vote R y h), by the categories that the first member has for the samples."""
    X, y = clouds
    model = PPBoostClassifier(
        WEAK, 2, mode=mode, quasi_noisy=quasi_noisy, on_failure="stop", random_state=0
    ).fit(X, y)
    first, second = model.estimators_
    answers, vote = first.predict(X), model.member_weights_[0]
    assert model.errors_[0] == pytest.approx(np.mean(answers != y), rel=1e-9)
    assert vote == pytest.approx(0.5 * np.log(1 / model.errors_[0] - 1), rel=1e-9)
    categories = first.categories(X, y, quasi_noisy=quasi_noisy, pos_label=1)
    names = ["redundant", "noisy", "borderline", "quasi-noisy"]
    factors = np.array([FACTORS[mode][names.index(name)] for name in categories])
    weights = np.exp(-vote * factors * np.where(answers == y, 1, -1))
    weights /= weights.sum()
    error = weights[second.predict(X) != y].sum()
    assert model.errors_[1] == pytest.approx(error, rel=1e-9)
    if mode == "adaboost":
        assert weights[answers != y].sum() == pytest.approx(0.5, rel=1e-9)
    else:
        assert weights[answers != y].sum() < 0.5


def test_the_rare_class_is_recognised(clouds):
    X, y = clouds
    X_test, y_test = make_gaussian_clouds(4000, priors=(0.9, 0.1), random_state=1)
    answers = {
        mode: PPBoostClassifier(mode=mode, random_state=0).fit(X, y).predict(X_test)
        for mode in MODES
    }
    recall = {mode: positive_accuracy(y_test, answers[mode]) for mode in MODES}
    g = {mode: geometric_mean(y_test, answers[mode]) for mode in MODES}
    assert recall["balanced"] > recall["adaboost"] + 0.1
    assert g["balanced"] > g["adaboost"] + 0.03
    assert recall["positive"] > recall["adaboost"]


def test_the_class_of_interest_matters_where_quasi_noisy_samples_do(clouds):
    X, y = clouds
    for mode, differs in (("adaboost", False), ("negative", False), ("balanced", True)):
        one, other = (
            PPBoostClassifier(WEAK, 6, mode=mode, pos_label=label, random_state=0).fit(X, y)
            for label in (0, 1)
        )
        assert (one.positive_class_, other.positive_class_) == (0, 1)
        assert (one.errors_.tolist() != other.errors_.tolist()) == differs
    by_default = PPBoostClassifier(WEAK, 6, random_state=0).fit(X, y)
    assert by_default.positive_class_ == 1
    assert_same_model(by_default, other)


# -- what all boosted ensembles can do -------------------------------------------------------------


@each_sampling
@each_mode
def test_a_warm_start_goes_on(clouds, mode, sampling):
    X, y = clouds
    given = {"mode": mode, "sampling": sampling, "on_failure": "bootstrap", "random_state": 0}
    whole = PPBoostClassifier(WEAK, 7, **given).fit(X, y)
    warm = PPBoostClassifier(WEAK, 3, warm_start=True, **given).fit(X, y)
    assert_same_model(warm.set_params(n_estimators=7).fit(X, y), whole)


@pytest.mark.parametrize(
    "then",
    [{"mode": "negative"}, {"quasi_noisy": "all"}, {"pos_label": 0}, {"estimator__max_iter": 3}],
)
def test_settings_cannot_change_on_the_way(clouds, then):
    X, y = clouds
    model = PPBoostClassifier(clone(WEAK), 3, warm_start=True, random_state=0).fit(X, y)
    ((name, _),) = then.items()
    with pytest.raises(ValueError, match=f"{name.split('__')[0]} cannot change"):
        model.set_params(**then, n_estimators=5).fit(X, y)


def test_stages_end_at_the_whole(clouds):
    X, y = clouds
    model = PPBoostClassifier(WEAK, 6, random_state=0).fit(X, y)
    for name in ("predict", "predict_proba", "decision_function"):
        stages = list(getattr(model, f"staged_{name}")(X))
        assert len(stages) == 6
        np.testing.assert_array_equal(stages[-1], getattr(model, name)(X))
    np.testing.assert_array_equal(next(model.staged_predict(X)), model.estimators_[0].predict(X))
    assert list(model.staged_score(X, y))[-1] == pytest.approx(model.score(X, y))


def test_the_decision_is_the_weighted_vote(clouds):
    X, y = clouds
    model = PPBoostClassifier(WEAK, 6, random_state=0).fit(X, y)
    votes = np.array([np.where(m.predict(X) == 1, 1, -1) for m in model.estimators_])
    total = model.member_weights_ @ votes
    np.testing.assert_array_equal(model.predict(X), (total > 0).astype(int))
    decided = model.decision_function(X)
    assert np.corrcoef(decided, total)[0, 1] == pytest.approx(1.0)


def test_early_stopping_keeps_the_best(clouds):
    X, y = clouds
    model = PPBoostClassifier(
        WEAK, 50, n_iter_no_change=3, validation_fraction=0.3, random_state=0
    ).fit(X, y)
    losses = model.validation_errors_
    assert len(losses) < 50
    assert len(model) == int(np.argmin(losses)) + 1 == len(losses) - 3
    assert len(model.member_weights_) == len(model.errors_) == len(model)


def test_it_can_be_ordered_pruned_and_asked_less(clouds):
    X, y = clouds
    model = PPBoostClassifier(WEAK, 12, random_state=0).fit(X, y)
    ordered = order_votes(model.votes(X), y)
    assert sorted(ordered.order) == list(range(12))
    few = prune(model, X, y, keep=5)
    assert len(few) == 5
    assert few.score(X, y) > 0.85
    decided = early_decision(model, X)
    np.testing.assert_array_equal(decided.predictions, model.predict(X))
    assert decided.n_queried.mean() < 12
    pruned = PrunedClassifier(model, keep=0.5, random_state=0).fit(X, y)
    assert pruned.score(X, y) > 0.85


def test_bounds_are_those_of_adaboost(clouds):
    X, y = clouds
    model = PPBoostClassifier(WEAK, 6, mode="adaboost", on_failure="stop", random_state=0)
    model.fit(X, y)
    products = np.cumprod(2 * np.sqrt(model.errors_ * (1 - model.errors_)))
    np.testing.assert_allclose(model.error_bounds_, products, rtol=1e-12)
    staged = [1 - score for score in model.staged_score(X, y)]
    assert (model.error_bounds_ >= staged).all()
    assert (model.edge_bounds_ >= model.error_bounds_).all()
    assert model.margin_bound(0.0) == pytest.approx(products[-1])


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"mode": "negative", "on_failure": "stop"}, r"not for mode='negative'"),
        ({"mode": "positive", "on_failure": "stop"}, r"not for mode='positive'"),
        ({"mode": "balanced", "on_failure": "stop"}, r"not for mode='balanced'"),
        ({"mode": "adaboost", "on_failure": "restart"}, "on_failure='restart'"),
        ({"mode": "adaboost", "on_failure": "bootstrap"}, "on_failure='bootstrap'"),
        (
            {"mode": "adaboost", "on_failure": "stop", "min_weight": 1e-5},
            "min_weight=1e-05",
        ),
    ],
)
def test_other_runs_have_no_bounds(clouds, setting, words):
    model = PPBoostClassifier(WEAK, 3, random_state=0, **setting).fit(*clouds)
    for name in ("error_bounds_", "edge_bounds_"):
        with pytest.raises(AttributeError, match=words):
            getattr(model, name)
    with pytest.raises(AttributeError, match=words):
        model.margin_bound(0.1)


# -- failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("on_failure", ["stop", "restart", "bootstrap"])
def test_a_member_without_error(on_failure):
    """It ends the run with a warning, or boosting goes on."""
    X = np.repeat([[-3.0], [3.0]], 30, axis=0) + np.random.default_rng(0).normal(size=(60, 1))
    y = np.repeat([0, 1], 30)
    model = PPBoostClassifier(n_estimators=4, on_failure=on_failure, random_state=0)
    if on_failure == "stop":
        with pytest.warns(UserWarning, match="with fewer perceptrons or epochs"):
            model.fit(X, y)
        assert len(model) == 1
    else:
        assert len(model.fit(X, y)) == 4
    assert model.errors_[0] == 0.0
    assert model.score(X, y) == 1.0


def test_members_no_better_than_chance_are_told():
    X = np.zeros((40, 2))
    y = np.arange(40) % 2
    with pytest.warns(UserWarning, match=r"no better than chance.*with more perceptrons"):
        model = PPBoostClassifier(random_state=0, n_estimators=3).fit(X, y)
    assert len(model) == 1
    assert np.isfinite(model.predict_proba(X)).all()


def test_min_weight_is_checked_against_the_samples(clouds):
    X, y = clouds
    with pytest.raises(ValueError, match=r"min_weight=0.01 for 600 samples leaves nothing"):
        PPBoostClassifier(min_weight=0.01).fit(X, y)


# -- copies and company ----------------------------------------------------------------------------


def test_copies_of_a_warm_start_go_on_alike(clouds):
    X, y = clouds
    model = PPBoostClassifier(WEAK, 3, warm_start=True, random_state=0).fit(X, y)
    others = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    model.set_params(n_estimators=5).fit(X, y)
    for other in others:
        assert len(other) == 3
        assert_same_model(other.set_params(n_estimators=5).fit(X, y), model)


def test_frames(clouds):
    X, signal = samples()
    table = frame(X)
    y = classes(signal)
    for model in BOOSTED:
        fitted = clone(model).fit(table, y)
        assert fitted.score(table, y) > 0.65
        assert fitted.feature_names_in_.tolist() == list(table.columns)
        assert all(len(m.feature_names_in_) == 8 for m in fitted.estimators_)


def test_its_perceptrons_can_be_searched_for(clouds):
    X, y = clouds
    model = PPBoostClassifier(clone(WEAK), 3, random_state=0)
    grid = {"estimator__n_perceptrons": [1, 3], "mode": ["negative", "balanced"]}
    search = GridSearchCV(model, grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.8
    assert not hasattr(model.estimator, "weights_")


def test_the_members_of_an_ensemble_are_not_alike(clouds):
    X, y = clouds
    model = PPBoostClassifier(WEAK, 5, random_state=0).fit(X, y)
    weights = [numbers for name, numbers in learnt(model).items() if "weights_" in name]
    assert len({w.tobytes() for w in weights}) == 5


def test_it_has_no_trees(clouds):
    model = PPBoostClassifier(WEAK, 2, random_state=0).fit(*clouds)
    for name in ("forest_", "feature_importances_"):
        assert not hasattr(model, name)


def test_verbose_and_callbacks(clouds, capsys):
    PPBoostClassifier(WEAK, 5, verbose=1, random_state=0).fit(*clouds)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" [")[0] for line in lines] == [
        f"PPBoostClassifier  {k}/5" for k in range(1, 6)
    ]
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    recorder = Recorder(stop_after=3)
    model = PPBoostClassifier(WEAK, 5, random_state=0).set_callbacks(recorder).fit(*clouds)
    assert len(model) == 3
    assert recorder.ended == ["member"] * 3 + ["fit", "teardown"]


@pytest.mark.parametrize("n_rows", [2, 3, 5])
def test_a_few_rows_are_enough(n_rows):
    X, _ = samples()
    model = PPBoostClassifier(n_estimators=3, random_state=0).fit(
        X[:n_rows], [0, 1, 0, 0, 1][:n_rows]
    )
    assert set(model.predict(X)) <= {0, 1}
