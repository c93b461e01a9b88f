"""ParallelPerceptronClassifier as its users meet it: decisions, curves, going on, copies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.perceptrons.models import (
    CLASSIFIERS,
    N_ROWS,
    assert_same_model,
    classes,
    each_classifier,
    each_model,
    samples,
    target,
)

from orfeon import ParallelPerceptronClassifier
from orfeon.datasets import make_twonorm

each_way = pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one"])
each_mode = pytest.mark.parametrize("mode", ["batch", "incremental"])


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.fixture(scope="module")
def easy():
    """Two clouds that one plane tells apart, 300 rows of each."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 300)
    return rng.normal(size=(600, 3)) + 3.0 * y[:, None], y


# -- decisions -------------------------------------------------------------------------------------


@each_way
@each_mode
def test_several_classes_are_learnt_both_ways(iris, mode, multi_class):
    model = ParallelPerceptronClassifier(mode=mode, multi_class=multi_class, random_state=0)
    scores = cross_val_score(model, *iris, cv=5)
    # What one plane for each class cannot tell apart, one for each pair can.
    assert scores.mean() > (0.92 if multi_class == "one_vs_one" else 0.89)
    fitted = model.fit(*iris)
    assert fitted.weights_.shape == (3, 3, 5)
    assert fitted.margin_.shape == (3,)
    assert fitted.energy_curve_.shape == fitted.error_curve_.shape == (3, 250)
    assert fitted.classes_.tolist() == ["setosa", "versicolor", "virginica"]


def test_four_classes_have_six_pairs():
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(4), 40)
    X = rng.normal(size=(160, 2)) + 6.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[y]
    for multi_class, n_problems in (("one_vs_rest", 4), ("one_vs_one", 6)):
        model = ParallelPerceptronClassifier(multi_class=multi_class, random_state=0).fit(X, y)
        assert len(model.weights_) == n_problems
        assert model.score(X, y) > 0.97
        assert model.decision_function(X).shape == (160, 4)


@each_classifier
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_shares_and_predictions_agree(model, n_classes):
    X, signal = samples()
    y = classes(signal, n_classes)
    fitted = clone(model).fit(X, y)
    rows = np.random.default_rng(2).normal(size=(500, 4)) * 3
    answers, decided, shares = (
        getattr(fitted, name)(rows) for name in ("predict", "decision_function", "predict_proba")
    )
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    assert (shares > 0).all()
    assert (shares < 1).all()
    assert shares.shape == (500, n_classes)
    np.testing.assert_array_equal(shares.argmax(axis=1), answers)
    if n_classes == 2:
        np.testing.assert_array_equal(decided > 0, answers == 1)
        # The same order, as the area under the ROC curve wants it.
        assert (np.argsort(shares[:, 1], kind="stable") == np.argsort(decided, kind="stable")).all()
    else:
        np.testing.assert_array_equal(decided.argmax(axis=1), answers)


def test_the_decision_is_the_mean_vote_and_less_than_a_vote_of_certainty():
    X, signal = samples()
    model = ParallelPerceptronClassifier(5, random_state=0).fit(X, classes(signal))
    margins = model.margins(X, np.full(N_ROWS, 1))  # those of the second class are activations
    votes = np.where(margins >= 0, 1, -1).sum(axis=1)
    decided = model.decision_function(X)
    assert (np.abs(5 * decided - votes) < 2 / 3).all()
    mean = margins.mean(axis=1)
    assert (np.sign(5 * decided - votes) == np.sign(mean)).all()
    np.testing.assert_allclose(decided, (votes + mean / (1.5 * (1 + np.abs(mean)))) / 5)


def test_rows_are_decided_one_by_one(iris):
    X, y = iris
    model = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    together = model.decision_function(X)
    for row in (0, 77, 149):
        np.testing.assert_array_equal(model.decision_function(X[row : row + 1])[0], together[row])


def test_weights_are_vectors_of_length_one():
    X, signal = samples()
    for model in CLASSIFIERS:
        fitted = clone(model).fit(X, classes(signal))
        assert fitted.weights_.shape == (1, fitted.n_perceptrons, 5)
        np.testing.assert_allclose(np.linalg.norm(fitted.weights_, axis=-1), 1.0, rtol=1e-12)
        assert fitted.margin_[0] >= 0


def test_the_weights_are_those_of_planes(easy):
    """The last weight is a threshold on the sum of the others, over standardised inputs."""
    X, y = easy
    model = ParallelPerceptronClassifier(divide_inputs=False, random_state=0).fit(X, y)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    activations = z @ model.weights_[0, :, :-1].T - model.weights_[0, :, -1]
    np.testing.assert_allclose(model.margins(X, np.ones(600, int)), activations, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), (activations > 0).sum(axis=1) >= 2)


# -- margins and categories ------------------------------------------------------------------------


def test_margins_change_their_sign_with_the_class():
    X, signal = samples()
    y = classes(signal)
    model = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    assert model.margins(X, y).shape == (N_ROWS, 3)
    np.testing.assert_array_equal(model.margins(X, y), -model.margins(X, 1 - y))
    wrong = (model.margins(X, y) < 0).sum(axis=1) >= 2
    np.testing.assert_array_equal(wrong, model.predict(X) != y)


@each_way
def test_with_several_classes_each_problem_has_its_margins(iris, multi_class):
    X, y = iris
    model = ParallelPerceptronClassifier(multi_class=multi_class, random_state=0).fit(X, y)
    margins, categories = model.margins(X, y), model.categories(X, y)
    assert margins.shape == (150, 3, 3)
    assert categories.shape == (150, 3)
    concerned = ~np.isnan(margins).any(axis=2)
    # Each class is in two pairs of three, and in all problems of one against the rest.
    assert concerned.sum() == (450 if multi_class == "one_vs_rest" else 300)
    np.testing.assert_array_equal(categories != "", concerned)
    if multi_class == "one_vs_rest":  # the class of interest is never quasi-noisy
        own = categories[np.arange(150), np.searchsorted(model.classes_, y)]
        assert "quasi-noisy" not in own


@pytest.mark.parametrize("quasi_noisy", ["all", "vote"])
@pytest.mark.parametrize("n_perceptrons", [1, 3, 7])
def test_categories_are_a_partition(n_perceptrons, quasi_noisy):
    X, signal = samples(400, seed=4)
    y = classes(signal)
    model = ParallelPerceptronClassifier(n_perceptrons, max_iter=20, init=0.2, random_state=0)
    model.fit(X, y)
    gamma, margins = model.margin_[0], model.margins(X, y)
    found = model.categories(X, y, quasi_noisy=quasi_noisy)
    most = n_perceptrons / 2
    np.testing.assert_array_equal(found == "redundant", (margins > gamma).sum(axis=1) > most)
    np.testing.assert_array_equal(found == "noisy", (margins < -gamma).sum(axis=1) > most)
    rest = (found == "borderline") | (found == "quasi-noisy")
    n_wrong = n_perceptrons if quasi_noisy == "all" else most + 0.5
    wrong = (margins < 0).sum(axis=1) >= n_wrong
    np.testing.assert_array_equal(found == "quasi-noisy", rest & (y == 0) & wrong)
    assert set(found) == {"redundant", "noisy", "borderline", "quasi-noisy"}
    assert model.minority_class_ == 1


def test_the_class_of_interest_may_be_named():
    X, signal = samples(400, seed=4)
    y = classes(signal)
    model = ParallelPerceptronClassifier(max_iter=20, random_state=0).fit(X, y)
    by_default, ones, zeros = (
        model.categories(X, y, quasi_noisy="vote", pos_label=label) for label in (None, 1, 0)
    )
    np.testing.assert_array_equal(by_default, ones)
    assert set(y[ones == "quasi-noisy"]) == {0}
    assert set(y[zeros == "quasi-noisy"]) == {1}
    same = ~np.isin(ones, ["borderline", "quasi-noisy"])
    np.testing.assert_array_equal(ones[same], zeros[same])


# -- curves ----------------------------------------------------------------------------------------


@each_mode
@pytest.mark.parametrize("rule", ["p_delta", "auer"])
def test_the_energy_falls_on_an_easy_problem(easy, mode, rule):
    model = ParallelPerceptronClassifier(mode=mode, rule=rule, init=0.2, random_state=0).fit(*easy)
    assert len(model.energy_curve_) == model.n_iter_ == 250
    assert model.energy_curve_[-1] < 0.7 * model.energy_curve_[0]
    assert model.error_curve_[-1] < 0.01
    assert model.error_curve_[0] > 0.05
    # A margin that grows on the way brings energy of its own; one that stays does not.
    model.set_params(tune_margin=False, eta0=1e-4, learning_rate="constant", init="unit").fit(*easy)
    assert np.mean(np.diff(model.energy_curve_) < 0) > 0.9
    assert model.energy_curve_[-1] < 0.2 * model.energy_curve_[0]


@pytest.mark.parametrize("rule", ["p_delta", "auer"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_curves_say_where_each_epoch_began(rule, n_classes):
    """The curves of 11 epochs end where 10 epochs led to."""
    X, signal = samples()
    y = classes(signal, n_classes)
    ten, eleven = (
        ParallelPerceptronClassifier(rule=rule, max_iter=n, random_state=0).fit(X, y)
        for n in (10, 11)
    )
    np.testing.assert_array_equal(eleven.energy_curve_[..., :10], ten.energy_curve_)
    assert ten.energy(X, y) == pytest.approx(np.sum(eleven.energy_curve_[..., 10]), rel=1e-12)
    if n_classes == 2:
        assert eleven.error_curve_[10] == pytest.approx(1 - ten.score(X, y), abs=1e-12)


def test_energy_is_weighted():
    X, signal = samples()
    y = classes(signal)
    weights = np.random.default_rng(3).integers(0, 4, N_ROWS)
    copies = np.repeat(np.arange(N_ROWS), weights)
    model = ParallelPerceptronClassifier(max_iter=5, random_state=0).fit(X, y)
    assert model.energy(X, y, sample_weight=weights) == pytest.approx(
        model.energy(X[copies], y[copies]), rel=1e-12
    )
    assert model.energy(X, y, weights) != pytest.approx(model.energy(X, y), rel=0.01)


@pytest.mark.parametrize("max_iter", [39, 99, 250])
@each_mode
def test_early_stopping_ends_where_all_is_right(easy, mode, max_iter):
    """Wherever that is, also where progress is reported."""
    X, y = easy
    apart = np.abs(X.sum(axis=1) - 4.5) > 2  # leave out what is between the clouds
    X, y = X[apart], (X[apart].sum(axis=1) > 4.5).astype(int)
    for seed in range(4):
        model = ParallelPerceptronClassifier(
            mode=mode, early_stopping=True, eta0=0.02, max_iter=max_iter, random_state=seed
        ).fit(X, y)
        assert model.n_iter_ < 39
        assert model.score(X, y) == 1.0
        assert model.error_curve_[-1] == 0.0
        assert len(model.error_curve_) == model.n_iter_
        # The last epoch, without error, takes no step in batch mode.
        n_steps = model.n_iter_ - (mode == "batch")
        whole = clone(model).set_params(early_stopping=False, max_iter=n_steps).fit(X, y)
        np.testing.assert_array_equal(whole.weights_, model.weights_)


def test_problems_that_end_early_leave_gaps(iris):
    model = ParallelPerceptronClassifier(early_stopping=True, random_state=0).fit(*iris)
    n_epochs = (~np.isnan(model.error_curve_)).sum(axis=1)
    assert n_epochs[0] < 50  # setosa is apart from the others
    assert n_epochs.max() == model.error_curve_.shape[1] == 250
    assert model.n_iter_ == 250
    assert np.isnan(model.error_curve_[0, n_epochs[0] :]).all()


# -- going on --------------------------------------------------------------------------------------


def test_a_warm_start_goes_on():
    """At a constant rate, 5 epochs and 5 more are 10."""
    X, signal = samples()
    y = classes(signal, 3)
    given = {"learning_rate": "constant", "random_state": 0}
    whole = ParallelPerceptronClassifier(max_iter=10, **given).fit(X, y)
    warm = ParallelPerceptronClassifier(max_iter=5, warm_start=True, **given).fit(X, y)
    first = warm.energy_curve_
    warm.fit(X, y)
    np.testing.assert_array_equal(warm.weights_, whole.weights_)
    np.testing.assert_array_equal(warm.margin_, whole.margin_)
    np.testing.assert_array_equal(np.hstack([first, warm.energy_curve_]), whole.energy_curve_)
    cold = warm.set_params(warm_start=False).fit(X, y)
    np.testing.assert_array_equal(cold.energy_curve_, first)


@each_mode
def test_a_warm_start_begins_where_the_last_fit_ended(mode):
    X, signal = samples()
    y = classes(signal)
    warm = ParallelPerceptronClassifier(max_iter=30, warm_start=True, mode=mode, random_state=0)
    end = warm.fit(X, y).energy(X, y)
    warm.set_params(max_iter=1, eta0=1e-9).fit(X, y)
    assert warm.energy_curve_[0] == pytest.approx(end, rel=1e-6)
    assert warm.n_iter_ == 1


def test_a_warm_start_keeps_classes_and_inputs():
    X, signal = samples()
    y = classes(signal, 3)
    warm = ParallelPerceptronClassifier(warm_start=True, max_iter=5, random_state=0).fit(X, y)
    centres = warm.inputs_.centres
    warm.fit(X[y < 2] + 9.0, y[y < 2])  # no sample of the last class, and elsewhere
    assert warm.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(warm.inputs_.centres, centres)
    with pytest.raises(ValueError, match="the class 3, which is not among classes="):
        warm.fit(X, y + 1)


@pytest.mark.parametrize(
    "then",
    [
        {"n_perceptrons": 5},
        {"multi_class": "one_vs_one"},
        {"standardize": False},
        {"divide_inputs": False},
    ],
)
@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_what_makes_the_perceptrons_cannot_change_on_the_way(way, then):
    X, signal = samples()
    y = classes(signal, 3)
    model = ParallelPerceptronClassifier(warm_start=True, max_iter=2, random_state=0).fit(X, y)
    before = model.predict(X)
    ((name, value),) = then.items()
    with pytest.raises(ValueError, match=rf"{name} cannot change from .* to {value!r};"):
        getattr(model.set_params(**then), way)(X, y)
    model.set_params(**{name: getattr(ParallelPerceptronClassifier(), name)})
    np.testing.assert_array_equal(model.predict(X), before)
    fresh = model.set_params(**then, warm_start=False).fit(X, y)
    assert fresh.weights_.shape[1] == fresh.n_perceptrons


@each_way
@pytest.mark.parametrize("learning_rate", ["invscaling", "adaptive", "constant"])
@pytest.mark.parametrize("rule", ["p_delta", "auer"])
def test_one_chunk_again_and_again_is_one_fit(rule, learning_rate, multi_class):
    X, signal = samples()
    weights = np.random.default_rng(4).integers(0, 3, N_ROWS)
    for y in (classes(signal), classes(signal, 3)):
        model = ParallelPerceptronClassifier(
            rule=rule, learning_rate=learning_rate, multi_class=multi_class, max_iter=12,
            class_weight="balanced", random_state=3,
        )  # fmt: skip
        whole = clone(model).fit(X, y, sample_weight=weights)
        model.partial_fit(X, y, classes=np.unique(y), sample_weight=weights)
        for _ in range(11):
            model.partial_fit(X, y, sample_weight=weights)
        assert_same_model(model, whole)
        assert model.n_iter_ == whole.n_iter_ == 12


@each_mode
def test_chunks_are_learnt(mode):
    X, y = make_twonorm(600, random_state=0)
    X_test, y_test = make_twonorm(2000, random_state=1)
    model = ParallelPerceptronClassifier(mode=mode, random_state=0)
    for _ in range(20):
        for rows in np.array_split(np.arange(600), 6):
            model.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert model.n_iter_ == 120
    assert len(model.energy_curve_) == len(model.error_curve_) == 120
    assert model.score(X_test, y_test) > 0.92


@each_way
@each_mode
def test_chunks_of_one_class_are_learnt(iris, mode, multi_class):
    """Pairs of classes that a chunk has nothing of are left as they are."""
    X, y = iris
    model = ParallelPerceptronClassifier(
        mode=mode, multi_class=multi_class, eta0="auto", random_state=0
    )
    model.partial_fit(X, y, classes=np.unique(y))
    before = model.weights_
    own = y == "setosa"
    model.partial_fit(X[own], y[own])
    moved = np.abs(model.weights_ - before).max(axis=(1, 2))
    if multi_class == "one_vs_one":
        # The last pair, of the two others, is only made of length 1.
        assert moved[2] < 1e-12
    for _ in range(40):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.85


def test_classes_are_needed_and_fixed_by_the_first_chunk():
    X, signal = samples()
    y = classes(signal, 3)
    model = ParallelPerceptronClassifier(random_state=0)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match=r"the class .*2.*, which is not among classes=\[0, 1\]"):
        model.partial_fit(X, y, classes=[0, 1])
    model.partial_fit(X[y < 2], y[y < 2], classes=[2, 0, 1])
    assert model.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"classes=\[0, 1\] are not those of the first call"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="which is not among classes="):
        model.partial_fit(X, y + 5)
    assert model.partial_fit(X, y, classes=[0, 1, 2]).n_iter_ == 2


def test_a_fit_is_gone_on_with_by_chunks():
    X, signal = samples()
    y = classes(signal)
    model = ParallelPerceptronClassifier(max_iter=20, learning_rate="constant", random_state=0)
    longer = clone(model).set_params(max_iter=21).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).partial_fit(X, y).weights_, longer.weights_)
    # A fit does not go on with chunks unless it is a warm start.
    assert_same_model(model.fit(X, y), clone(model).fit(X, y))


# -- copies and company ----------------------------------------------------------------------------


@each_model
def test_copies_are_the_same(model):
    X, signal = samples()
    y = target(model, signal)
    fitted = clone(model).fit(X, y)
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert_same_model(fitted, other)
        np.testing.assert_array_equal(other.predict(X), fitted.predict(X))
    again = clone(fitted)
    assert not hasattr(again, "classes_")
    assert repr(again) == repr(model)
    assert_same_model(again.fit(X, y), fitted)


@each_model
def test_parameters_come_and_go(model):
    given = model.get_params()
    other = type(model)().set_params(**model.get_params(deep=False))
    assert {name: repr(value) for name, value in other.get_params().items()} == {
        name: repr(value) for name, value in given.items()
    }


def test_in_pipelines_searches_and_other_ensembles(easy):
    X, y = easy
    model = ParallelPerceptronClassifier(max_iter=20, random_state=0)
    pipeline = make_pipeline(StandardScaler(), model)
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.97
    search = GridSearchCV(
        ParallelPerceptronClassifier(max_iter=10, random_state=0),
        {"n_perceptrons": [1, 3], "mode": ["batch", "incremental"]},
        cv=2,
    ).fit(X, y)
    assert search.best_score_ > 0.97
    many = OneVsRestClassifier(ParallelPerceptronClassifier(max_iter=50, random_state=0))
    assert many.fit(X, np.digitize(X[:, 0], [0, 3])).score(X, np.digitize(X[:, 0], [0, 3])) > 0.7


def test_one_class_is_what_it_is():
    X, _ = samples()
    model = ParallelPerceptronClassifier(random_state=0).fit(X, np.full(N_ROWS, "only"))
    assert set(model.predict(X)) == {"only"}
    assert model.predict_proba(X).tolist() == [[1.0]] * N_ROWS
    assert model.weights_.shape == (0, 3, 5)
    assert model.n_iter_ == 0
    assert model.energy(X, ["only"] * N_ROWS) == 0.0


# -- progress --------------------------------------------------------------------------------------


def test_verbose_shows_the_epochs(capsys):
    X, signal = samples()
    ParallelPerceptronClassifier(max_iter=40, random_state=0).fit(X, classes(signal))
    assert capsys.readouterr() == ("", "")
    ParallelPerceptronClassifier(max_iter=40, verbose=1, random_state=0).fit(X, classes(signal, 3))
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("ParallelPerceptronClassifier  120/120 [####################] 100%")
    assert len(lines) == 10


class Recorder:
    """A callback that counts the tasks that ended, and may ask to stop."""

    def __init__(self, stop_after=None):
        self.ended = []
        self.stop_after = stop_after

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        self.ended.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, **given):
        self.ended.append(context.task_name)
        return self.stop_after is not None and self.ended.count("member") == self.stop_after


@each_mode
def test_callbacks_hear_each_epoch_and_may_stop(mode):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    X, signal = samples()
    y = classes(signal)
    recorder = Recorder()
    model = ParallelPerceptronClassifier(mode=mode, max_iter=100, random_state=0)
    whole = clone(model).set_callbacks(recorder).fit(X, y)
    assert recorder.ended == ["member"] * 100 + ["fit", "teardown"]
    assert_same_model(whole, clone(model).fit(X, y))
    stopped = clone(model).set_callbacks(Recorder(stop_after=8)).fit(X, y)
    assert stopped.n_iter_ == 10  # they are told every fifth epoch
    assert_same_model(stopped, clone(model).set_params(max_iter=10).fit(X, y))


@pytest.mark.parametrize(
    ("n_classes", "multi_class"), [(5, "one_vs_rest"), (30, "one_vs_one"), (300, "one_vs_rest")]
)
def test_any_number_of_classes(n_classes, multi_class):
    X = np.random.default_rng(7).normal(size=(3 * n_classes + 20, 3))
    y = np.arange(len(X)) % n_classes + 100
    model = ParallelPerceptronClassifier(multi_class=multi_class, max_iter=20, random_state=0)
    model.fit(X, y)
    assert model.classes_.tolist() == list(range(100, 100 + n_classes))
    n_problems = n_classes if multi_class == "one_vs_rest" else n_classes * (n_classes - 1) // 2
    assert model.weights_.shape == (n_problems, 3, 4)
    shares = model.predict_proba(X)
    assert shares.shape == (len(X), n_classes)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))
