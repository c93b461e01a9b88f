"""PPTSSClassifier: its rounds, why they end, and what is selected."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from tests.perceptrons.models import N_ROWS, assert_same_model, classes, samples
from tests.perceptrons.test_parallel_perceptron import Recorder

from orfeon import ParallelPerceptronClassifier, PPTSSClassifier
from orfeon.datasets import make_gaussian_clouds, make_twonorm
from orfeon.imbalance import geometric_mean, negative_accuracy, positive_accuracy
from orfeon.perceptrons.p_delta import published_rate
from orfeon.perceptrons.pptss import ENOUGH, FELL, NOTHING, ONE_CLASS, STOPPED, UNCHANGED


@pytest.fixture(scope="module")
def clouds():
    """A thousand samples, one in twenty of them positive."""
    return make_gaussian_clouds(1000, priors=(0.95, 0.05), random_state=0)


SETTINGS = [
    {},
    {"keep_quasi_noisy": True, "quasi_noisy": "vote"},
    {"quasi_noisy": "vote"},
    {"estimator": ParallelPerceptronClassifier(mode="incremental", rule="p_delta")},
    {"estimator": ParallelPerceptronClassifier(5, margin_weight=0.3), "pos_label": 0},
]
each_setting = pytest.mark.parametrize("setting", SETTINGS, ids=str)


# -- the rounds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@each_setting
def test_the_history_is_consistent(clouds, setting, seed):
    X, y = clouds
    model = PPTSSClassifier(random_state=seed, **setting).fit(X, y)
    history, best = model.history_, model.best_round_
    n_rounds = len(history["n_selected"])
    assert {len(column) for column in history.values()} == {n_rounds}
    assert history["n_selected"][0] == 1000
    assert (np.diff(history["n_selected"]) < 0).all()
    np.testing.assert_allclose(
        history["geometric_mean"],
        np.sqrt(history["positive_accuracy"] * history["negative_accuracy"]),
        rtol=1e-12,
    )
    # Up to the best round nothing fell; the last one did, if there is one more.
    for name in ("geometric_mean", "positive_accuracy"):
        assert (np.diff(history[name][: best + 1]) >= 0).all()
    assert best == n_rounds - (2 if model.ended_ == FELL else 1)
    if model.ended_ == FELL:
        assert (
            history["geometric_mean"][-1] < history["geometric_mean"][best]
            or history["positive_accuracy"][-1] < history["positive_accuracy"][best]
        )


@each_setting
def test_the_best_round_is_what_predicts(clouds, setting):
    X, y = clouds
    model = PPTSSClassifier(random_state=0, **setting).fit(X, y)
    answers = model.estimator_.predict(X)
    np.testing.assert_array_equal(model.predict(X), answers)
    label = model.positive_class_
    assert label == setting.get("pos_label", 1)
    for name, measure in (
        ("positive_accuracy", positive_accuracy),
        ("negative_accuracy", negative_accuracy),
        ("geometric_mean", geometric_mean),
    ):
        expected = measure(y, answers, pos_label=label)
        assert model.history_[name][model.best_round_] == pytest.approx(expected, rel=1e-12)


@each_setting
def test_what_is_selected_are_rows_of_the_training_set(clouds, setting):
    X, y = clouds
    model = PPTSSClassifier(random_state=0, **setting).fit(X, y)
    selected = model.selected_
    assert len(selected) == model.history_["n_selected"][model.best_round_]
    assert (np.diff(selected) > 0).all()
    assert selected.min() >= 0
    assert selected.max() < 1000
    assert set(y[selected]) == {0, 1}


@pytest.mark.parametrize("quasi_noisy", ["all", "vote"])
@pytest.mark.parametrize("keep", [False, True])
def test_a_round_leaves_out_what_its_categories_say(clouds, keep, quasi_noisy):
    X, y = clouds
    base = ParallelPerceptronClassifier(margin_weight=0.3, max_iter=40)
    given = {"keep_quasi_noisy": keep, "quasi_noisy": quasi_noisy, "random_state": 0}
    first = PPTSSClassifier(base, max_rounds=1, **given).fit(X, y)
    second = PPTSSClassifier(base, max_rounds=2, **given).fit(X, y)
    assert first.ended_ == ENOUGH
    assert first.selected_.tolist() == list(range(1000))
    stays = ["borderline", "quasi-noisy"] if keep else ["borderline"]
    categories = first.estimator_.categories(X, y, quasi_noisy=quasi_noisy)
    expected = np.flatnonzero(np.isin(categories, stays))
    assert second.history_["n_selected"].tolist() == [1000, len(expected)]
    assert second.best_round_ == 1
    np.testing.assert_array_equal(second.selected_, expected)


def test_keeping_and_leaving_quasi_noisy_samples_differ(clouds):
    X, y = clouds
    few = fixed_margin(0.4, max_iter=3, margin_weight=0.1, eta0=0.009)
    sizes = {
        (keep, quasi_noisy): PPTSSClassifier(
            few, keep_quasi_noisy=keep, quasi_noisy=quasi_noisy, max_rounds=2, random_state=0
        )
        .fit(X, y)
        .history_["n_selected"][1]
        for keep in (False, True)
        for quasi_noisy in ("all", "vote")
    }
    # Kept they are of no consequence; otherwise more are wrong by vote than by all.
    assert sizes[True, "all"] == sizes[True, "vote"]
    assert sizes[True, "all"] > sizes[False, "all"] > sizes[False, "vote"]


def test_the_first_round_is_a_parallel_perceptron(clouds):
    """Trained from drawn weights at the rate of its own size; the later ones go on from it."""
    X, y = clouds
    base = ParallelPerceptronClassifier(max_iter=60)
    model = PPTSSClassifier(base, max_rounds=1, random_state=0).fit(X, y)
    assert model.estimator_.n_iter_ == len(model.estimator_.energy_curve_) == 60
    # The rate for two thousand samples, also in later rounds.
    longer = PPTSSClassifier(base, random_state=0).fit(X, y, np.full(len(y), 2))
    rate = longer.estimator_._solutions[0].rate
    assert rate == pytest.approx(published_rate(2000.0) / 60**0.5)
    assert published_rate(2000.0) < published_rate(1000.0) == 0.01
    assert longer.estimator_.eta0 == "auto"
    assert len(longer.selected_) < 1000
    # The last round begins where the one before it ended, not at drawn weights.
    assert longer.estimator_.error_curve_[0] < 0.5
    assert longer.estimator_.energy_curve_[0] < model.estimator_.energy_curve_[0]
    assert PPTSSClassifier(base).estimator.eta0 == "auto"  # what was given is not changed


def test_it_is_better_for_the_rare_class():
    X, y = make_gaussian_clouds(1000, priors=(0.95, 0.05), random_state=2)
    X_test, y_test = make_gaussian_clouds(4000, priors=(0.95, 0.05), random_state=3)
    plain = ParallelPerceptronClassifier(random_state=0).fit(X, y).predict(X_test)
    selective = PPTSSClassifier(random_state=0).fit(X, y).predict(X_test)
    assert geometric_mean(y_test, selective) > geometric_mean(y_test, plain) + 0.02
    assert positive_accuracy(y_test, selective) > positive_accuracy(y_test, plain) + 0.02


# -- why it ends -----------------------------------------------------------------------------------


def fixed_margin(margin, **given):
    """Perceptrons whose margin stays as it is."""
    return ParallelPerceptronClassifier(margin=margin, tune_margin=False, **given)


def test_it_ends_where_g_or_the_positive_accuracy_fell(clouds):
    base = ParallelPerceptronClassifier(margin_weight=0.1, eta0=0.009)
    model = PPTSSClassifier(base, random_state=0).fit(*clouds)
    assert model.ended_ == FELL == "g or acc+ fell"
    assert model.best_round_ == len(model.history_["geometric_mean"]) - 2 == 2
    before, last = ([column[k] for column in model.history_.values()] for k in (-2, -1))
    assert last[1] < before[1] or last[2] < before[2]


def test_it_ends_where_no_sample_was_left_out(clouds):
    """Within a margin of 1000 all is borderline."""
    model = PPTSSClassifier(fixed_margin(1e3), keep_quasi_noisy=True, random_state=0).fit(*clouds)
    assert model.ended_ == UNCHANGED
    assert model.history_["n_selected"].tolist() == [1000]
    assert model.selected_.tolist() == list(range(1000))


def test_it_ends_where_no_sample_would_be_left(clouds):
    """Beyond a margin of 0 all is redundant or noisy."""
    model = PPTSSClassifier(fixed_margin(0.0), random_state=0).fit(*clouds)
    assert model.ended_ == NOTHING
    assert model.history_["n_selected"].tolist() == [1000]
    assert len(model.selected_) == 1000


def test_it_ends_where_one_class_would_be_left():
    """A margin that only some samples of the large class are within."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [90, 10])
    X = np.where(y == 1, 5.0, np.linspace(-5, 1.0, 100)[np.argsort(rng.random(100))])[:, None]
    model = PPTSSClassifier(fixed_margin(0.3, n_perceptrons=1), random_state=0).fit(X, y)
    assert model.ended_ == ONE_CLASS
    assert model.history_["n_selected"].tolist() == [100]
    left = model.estimator_.categories(X, y) == "borderline"
    assert left.any()
    assert len(set(y[left])) == 1
    assert model.score(X, y) == 1.0


def test_it_ends_after_max_rounds(clouds):
    longer = PPTSSClassifier(random_state=0).fit(*clouds)
    for max_rounds in (1, 2):
        model = PPTSSClassifier(max_rounds=max_rounds, random_state=0).fit(*clouds)
        assert model.ended_ == ENOUGH == "max_rounds was reached"
        assert model.best_round_ == max_rounds - 1
        for name, column in model.history_.items():
            np.testing.assert_array_equal(column, longer.history_[name][:max_rounds])


def test_it_ends_when_asked_to(clouds):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    recorder = Recorder(stop_after=2)
    model = PPTSSClassifier(random_state=0).set_callbacks(recorder).fit(*clouds)
    assert model.ended_ == STOPPED == "a callback requested to stop"
    assert len(model.history_["geometric_mean"]) == 2
    assert recorder.ended == ["member", "member", "fit", "teardown"]
    assert_same_model(model, PPTSSClassifier(max_rounds=2, random_state=0).fit(*clouds))


def test_one_class_alone_is_one_round():
    X, _ = samples()
    model = PPTSSClassifier(random_state=0).fit(X, np.full(N_ROWS, "well"))
    assert model.ended_ == ONE_CLASS
    assert model.history_["n_selected"].tolist() == [N_ROWS]
    assert model.best_round_ == 0
    assert model.selected_.tolist() == list(range(N_ROWS))
    assert set(model.predict(X)) == {"well"}


def test_folds_without_positives_are_survived(clouds):
    """Sorted classes and folds in order: one fold is trained without its positives."""
    X, y = clouds
    order = np.argsort(y, kind="stable")
    answers = cross_val_predict(PPTSSClassifier(random_state=0), X[order], y[order], cv=KFold(2))
    assert set(answers[500:]) == {0}  # what was trained on nothing but zeros
    assert set(answers[:500]) == {0, 1}


# -- weights and classes ---------------------------------------------------------------------------


def test_rows_without_weight_are_not_selected(clouds):
    X, y = clouds
    weights = (np.arange(1000) % 3).astype(float)
    model = PPTSSClassifier(random_state=0).fit(X, y, sample_weight=weights)
    assert model.history_["n_selected"][0] == weights.sum()  # copies count
    assert (weights[model.selected_] > 0).all()
    n_best = model.history_["n_selected"][model.best_round_]
    assert weights[model.selected_].sum() == n_best
    halves = PPTSSClassifier(random_state=0).fit(X, y, sample_weight=weights / 2)
    assert halves.history_["n_selected"][0] == np.count_nonzero(weights)
    assert (weights[halves.selected_] > 0).all()


def test_the_order_of_the_rows_selects_the_same(clouds):
    X, y = clouds
    moved = np.random.default_rng(1).permutation(1000)
    one = PPTSSClassifier(random_state=0).fit(X, y)
    other = PPTSSClassifier(random_state=0).fit(X[moved], y[moved])
    assert_same_model(one, other)
    np.testing.assert_array_equal(np.sort(moved[other.selected_]), one.selected_)


def test_the_class_of_interest(clouds):
    X, y = clouds
    names = np.array(["common", "rare"])[y]
    model = PPTSSClassifier(random_state=0).fit(X, names)
    assert model.positive_class_ == "rare"
    assert model.classes_.tolist() == ["common", "rare"]
    named = PPTSSClassifier(pos_label="rare", random_state=0).fit(X, names)
    assert_same_model(model, named)
    other = PPTSSClassifier(pos_label="common", random_state=0).fit(X, names)
    assert other.positive_class_ == "common"
    np.testing.assert_array_equal(
        other.history_["positive_accuracy"][:1], model.history_["negative_accuracy"][:1]
    )
    # Of classes of the same size it is the second.
    X, signal = samples()
    even = (signal > np.median(signal)).astype(int)
    assert np.bincount(even).tolist() == [60, 60]
    assert PPTSSClassifier(random_state=0).fit(X, even).positive_class_ == 1


def test_the_second_class_may_be_the_large_one(clouds):
    """Classes the other way round: the same selection, but for perceptrons drawn alike."""
    X, y = clouds
    model = PPTSSClassifier(random_state=0).fit(X, 1 - y)
    assert model.positive_class_ == 0
    assert model.history_["positive_accuracy"][model.best_round_] > 0.75
    assert model.history_["n_selected"][-1] < 300


# -- company ---------------------------------------------------------------------------------------


def test_what_it_says_is_what_its_perceptron_says(clouds):
    X, y = clouds
    model = PPTSSClassifier(random_state=0).fit(X, y)
    for name in ("predict", "predict_proba", "decision_function"):
        mine, its = getattr(model, name)(X), getattr(model.estimator_, name)(X)
        np.testing.assert_array_equal(mine, its)
    assert model.predict_proba(X).shape == (1000, 2)
    assert model.n_features_in_ == 2


def test_several_classes_one_against_the_rest():
    X, signal = samples(300, seed=5)
    y = classes(signal, 3)
    model = OneVsRestClassifier(PPTSSClassifier(random_state=0)).fit(X, y)
    assert model.predict(X).shape == (300,)
    assert len(model.estimators_) == 3
    assert model.score(X, y) > 0.5


def test_its_perceptrons_can_be_searched_for(clouds):
    X, y = clouds
    model = PPTSSClassifier(ParallelPerceptronClassifier(max_iter=20), random_state=0)
    grid = {"estimator__margin_weight": [0.1, 1.0]}
    scoring = make_scorer(geometric_mean, pos_label=1)
    search = GridSearchCV(model, grid, scoring=scoring, cv=2).fit(X, y)
    twins = [clone(model).set_params(estimator__margin_weight=weight) for weight in (0.1, 1.0)]
    expected = [cross_val_score(twin, X, y, scoring=scoring, cv=2).mean() for twin in twins]
    assert search.cv_results_["mean_test_score"].tolist() == expected
    assert expected[0] != expected[1]
    assert search.best_estimator_.estimator.margin_weight == (0.1, 0.3)[np.argmax(expected)]
    assert search.best_score_ > 0.8
    assert model.estimator.margin_weight == ParallelPerceptronClassifier().margin_weight
    assert not hasattr(model.estimator, "weights_")
    again = clone(search.best_estimator_).fit(X, y)
    assert_same_model(again, search.best_estimator_)


def test_balanced_classes_are_selected_too():
    X, y = make_twonorm(300, random_state=0)
    X_test, y_test = make_twonorm(1000, random_state=1)
    model = PPTSSClassifier(random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.93
    assert len(model.selected_) < 100


def test_verbose_shows_the_rounds(clouds, capsys):
    model = PPTSSClassifier(verbose=1, random_state=0).fit(*clouds)
    n_rounds = len(model.history_["geometric_mean"])
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith(f"PPTSSClassifier  {n_rounds}/50")
    PPTSSClassifier(random_state=0).fit(*clouds)
    assert capsys.readouterr() == ("", "")
