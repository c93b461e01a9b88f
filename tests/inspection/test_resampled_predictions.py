"""Repeated trainings: samples, seeds, threads, and what is known of the truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from orfeon import (
    BaggingClassifier,
    CARTClassifier,
    CARTRegressor,
    RandomForestClassifier,
    StumpClassifier,
)
from orfeon.datasets import Friedman1, TwoNorm, Waveform, make_twonorm, make_waveform
from orfeon.inspection.bias_variance.definitions import bias_variance_decomposition
from orfeon.inspection.bias_variance.repeated_trainings import resample_predictions
from orfeon.inspection.correlated_members import member_correlation_curve
from orfeon.inspection.retraining import (
    DataSetSamples,
    Seeds,
    read_training_samples,
    repeat_trainings,
)

SMALL = {"n_train": 60, "n_test": 40, "n_repetitions": 6}


class Witness(ClassifierMixin, BaseEstimator):
    """Remembers what it was trained on, and predicts the most frequent label."""

    seen: list = []  # noqa: RUF012

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.most_ = self.classes_[np.argmax(counts)]
        Witness.seen.append((np.asarray(X).copy(), np.asarray(y).copy(), self.random_state))
        return self

    def predict(self, X):
        return np.full(len(X), self.most_)


@pytest.fixture
def seen():
    Witness.seen.clear()
    return Witness.seen


# -- fresh samples ---------------------------------------------------------------------------------


def test_each_training_has_a_fresh_sample_and_a_seed_of_its_own(seen):
    resample_predictions(Witness(), TwoNorm(), **SMALL, random_state=0)
    assert [len(y) for _, y, _ in seen] == [60] * 6
    rows = np.concatenate([X for X, _, _ in seen])
    assert len(np.unique(rows, axis=0)) == 360
    assert len({seed for _, _, seed in seen}) == 6


def test_a_random_state_that_is_set_stays(seen):
    resample_predictions(Witness(random_state=5), TwoNorm(), **SMALL, random_state=0)
    assert {seed for _, _, seed in seen} == {5}


def test_predictions_are_those_of_training_by_hand():
    found = resample_predictions(StumpClassifier(), TwoNorm(), **SMALL, random_state=3)
    seeds = Seeds.of(3)
    samples = read_training_samples(TwoNorm(), None, None, 60, 40, seeds)
    X_test, y_test = samples.test_set()
    assert (found.y == y_test).all()
    for repetition, answers in enumerate(found.predictions):
        of_sample, of_estimator = seeds.of_repetition(repetition)
        X, y = TwoNorm().sample(60, random_state=of_sample)
        tree = StumpClassifier()
        words = np.random.SeedSequence(of_estimator).generate_state(1)
        tree.set_params(random_state=int(words[0]) % 2**31).fit(X, y)
        assert (answers == tree.predict(X_test)).all()


def test_the_truth_of_a_problem_is_known():
    found = resample_predictions(CARTClassifier(), Waveform(), **SMALL, random_state=0)
    assert found.posterior.shape == (40, 3)
    assert found.classes.tolist() == [0, 1, 2]
    by_hand = bias_variance_decomposition(
        found.predictions, definition="breiman", posterior=found.posterior
    )
    assert found.decompose("breiman").bias == by_hand.bias
    assert found.decompose("breiman").noise == pytest.approx(0.13, abs=0.06)
    assert found.decompose().definition == "kohavi_wolpert"


def test_a_regression_function_and_its_noise_are_known():
    problem = Friedman1(noise=2.0)
    found = resample_predictions(CARTRegressor(), problem, **SMALL, random_state=0)
    assert found.classes is None
    assert found.noise == 4.0
    parts = found.decompose(unbiased=True)
    assert parts.definition == "squared_error"
    assert parts.noise == 4.0
    spread = found.predictions.var(axis=0, ddof=1).mean()
    assert parts.variance == pytest.approx(spread)
    assert parts.error == pytest.approx(parts.bias + parts.variance + 4.0)
    measured = np.mean((found.predictions - found.y) ** 2)
    assert parts.error == pytest.approx(measured, rel=0.25)  # the targets are a sample


def test_a_function_can_be_sampled_and_its_labels_are_the_truth():
    found = resample_predictions(CARTClassifier(), make_twonorm, **SMALL, random_state=0)
    known = resample_predictions(CARTClassifier(), TwoNorm(), **SMALL, random_state=0)
    assert found.posterior is None
    assert (found.predictions == known.predictions).all()
    assert found.decompose().error == pytest.approx(np.mean(found.predictions != found.y))


# -- samples of a data set -------------------------------------------------------------------------


def test_halves_of_a_pool_by_kohavi_and_wolpert(seen):
    X, y = make_twonorm(300, random_state=0)
    found = resample_predictions(Witness(), X, y, n_repetitions=6, random_state=0)
    assert found.sampling == "subsample"
    assert found.predictions.shape == (6, 100)
    pools = set()
    for rows, _, _ in seen:
        assert len(np.unique(rows, axis=0)) == 100  # half of 200, none twice
        pools |= {row.tobytes() for row in rows}
    samples = read_training_samples(X, y, None, None, None, Seeds.of(0))
    tested = {row.tobytes() for row in samples.test_set()[0]}
    assert len(tested) == 100
    assert not pools & tested
    assert len(pools) > 190  # 6 halves have nearly all


def test_bootstrap_samples_have_as_many_samples_as_the_pool(seen):
    X, y = make_twonorm(300, random_state=0)
    resample_predictions(
        Witness(), X, y, sampling="bootstrap", n_test=50, n_repetitions=20, random_state=0
    )
    assert {len(rows) for rows, _, _ in seen} == {250}
    distinct = np.mean([len(np.unique(rows, axis=0)) for rows, _, _ in seen])
    assert distinct / 250 == pytest.approx(1 - np.exp(-1), abs=0.015)


def test_sizes_are_numbers_or_shares():
    X, y = make_twonorm(100, random_state=0)

    def sizes(**options):
        given = {"sampling": None, "n_train": None, "n_test": None, **options}
        samples = read_training_samples(X, y, **given, seeds=Seeds.of(0))
        return samples.n_train, samples.n_test, len(samples.draw(0)[1])

    assert sizes() == (34, 33, 34)  # a half of 67
    assert sizes(n_test=0.2, n_train=1.0) == (80, 20, 80)
    assert sizes(n_test=10, n_train=7) == (7, 10, 7)
    assert sizes(sampling="bootstrap", n_train=500) == (500, 33, 500)


def test_labels_of_a_data_set_may_be_words_and_rows_a_frame():
    X, y = make_waveform(200, random_state=0)
    frame = pd.DataFrame(X).add_prefix("x").assign(kind=np.where(X[:, 0] > 0, "a", "b"))
    words = np.array(["one", "two", "three"])[y]
    found = resample_predictions(CARTClassifier(), frame, words, n_repetitions=5, random_state=0)
    assert found.classes.tolist() == ["one", "three", "two"]
    assert found.decompose("domingos").error == np.mean(found.predictions != found.y)


def test_a_seed_gives_the_same_rows_with_their_labels():
    X, y = make_twonorm(90, random_state=0)
    samples = DataSetSamples(X, y, "subsample", 30, 30, Seeds.of(1))
    rows, labels = samples.draw(7)
    assert (rows == samples.draw(7)[0]).all()
    assert not np.array_equal(rows, samples.draw(8)[0])
    at = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in rows]
    assert (y[at] == labels).all()


# -- what changes nothing --------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [
    BaggingClassifier(n_estimators=5),
    make_pipeline(StandardScaler(), LogisticRegression()),
], ids=["bagging", "pipeline"])  # fmt: skip
def test_n_jobs_changes_nothing(estimator):
    one, two = (
        resample_predictions(estimator, TwoNorm(), **SMALL, n_jobs=n_jobs, random_state=0)
        for n_jobs in (1, 2)
    )
    assert (one.predictions == two.predictions).all()
    assert (one.y == two.y).all()


def test_more_repetitions_begin_with_the_same_ones():
    few = resample_predictions(CARTClassifier(), TwoNorm(), **SMALL, random_state=0)
    many = resample_predictions(
        CARTClassifier(), TwoNorm(), **{**SMALL, "n_repetitions": 9}, random_state=0
    )
    assert (many.predictions[:6] == few.predictions).all()


def test_random_state_fixes_everything_whatever_its_kind():
    def run(random_state):
        return resample_predictions(
            BaggingClassifier(n_estimators=3), TwoNorm(), **SMALL, random_state=random_state
        ).predictions

    for kind in (lambda: 7, lambda: np.random.default_rng(7), lambda: np.random.RandomState(7)):
        assert (run(kind()) == run(kind())).all()
    assert (run(7) != run(8)).any()
    assert (run(None) != run(None)).any()


def test_the_estimator_given_is_left_as_it_was():
    bag = BaggingClassifier(CARTClassifier(), n_estimators=3)
    before = repr(clone(bag))
    resample_predictions(bag, TwoNorm(), **SMALL, random_state=0)
    assert repr(bag) == before
    assert not hasattr(bag, "members_")


def test_a_bar_tells_of_the_trainings(capsys):
    resample_predictions(StumpClassifier(), TwoNorm(), **SMALL, random_state=0)
    assert capsys.readouterr().err == ""
    resample_predictions(StumpClassifier(), TwoNorm(), **SMALL, verbose=1, random_state=0)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("Trainings of StumpClassifier  6/6 [####################] 100%")


def test_answers_come_in_the_order_of_the_repetitions():
    seeds = Seeds.of(0)
    samples = read_training_samples(TwoNorm(), None, None, 20, 5, seeds)
    one, two = (
        repeat_trainings(
            StumpClassifier(), samples, 8, lambda tree: tree.random_state, seeds, n_jobs=n_jobs
        )
        for n_jobs in (1, 2)
    )
    assert one == two
    assert len(set(one)) == 8


# -- intervals, differences, probabilities ---------------------------------------------------------


def test_differences_are_between_learners_of_the_same_samples():
    given = {"n_train": 60, "n_test": 200, "n_repetitions": 30}
    tree = resample_predictions(CARTClassifier(), TwoNorm(), **given, random_state=0)
    bag = resample_predictions(
        BaggingClassifier(n_estimators=11), TwoNorm(), **given, random_state=0
    )
    found = bag.difference_from(tree, "breiman", random_state=0)
    expected = bag.decompose("breiman").variance - tree.decompose("breiman").variance
    assert found.estimates["variance"] == expected < 0
    assert found.interval("variance")[1] < 0
    alone = tree.intervals("breiman", random_state=0)
    assert alone.estimates["variance"] == tree.decompose("breiman").variance
    for other in ({"random_state": 1}, {"random_state": None}):
        apart = resample_predictions(CARTClassifier(), TwoNorm(), **given, **other)
        with pytest.raises(ValueError, match="was not trained on the same samples"):
            bag.difference_from(apart)


def test_probabilities_have_friedmans_account():
    given = {**SMALL, "method": "predict_proba", "random_state": 0}
    found = resample_predictions(LogisticRegression(), TwoNorm(), **given)
    assert found.predictions.shape == (6, 40, 2)
    parts = found.friedman()
    assert parts.error == pytest.approx(found.decompose().error, abs=1e-14)
    assert parts.noise == pytest.approx(np.minimum(*found.posterior.T).mean())
    labels = resample_predictions(LogisticRegression(), TwoNorm(), **SMALL, random_state=0)
    assert (found.labels == labels.predictions).all()
    with pytest.raises(ValueError, match="predictions are not probabilities"):
        labels.friedman()


def test_a_sample_without_a_class_gives_it_no_probability():
    X, y = np.arange(60.0)[:, None], np.repeat(["a", "b", "c"], [29, 29, 2])
    found = resample_predictions(
        CARTClassifier(), X, y, n_train=6, n_repetitions=10, method="predict_proba", random_state=0
    )
    assert found.predictions.shape == (10, 20, 3)
    np.testing.assert_allclose(found.predictions.sum(axis=2), 1)
    assert (found.predictions[:, :, 2].max(axis=1) == 0).any()


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "words"), [
    ({"sampling": "jackknife"}, "sampling='jackknife' is not allowed"),
    ({"sampling": "bootstrap"}, "sampling='bootstrap' is for data sets"),
    ({"y": [0, 1]}, r"y is given, but data=TwoNorm\(.*\) is not a data set"),
    ({"n_train": 0}, "n_train=0 is not allowed"),
    ({"n_train": 0.5}, "n_train=0.5 is not allowed: it must be a whole number"),
    ({"n_test": -1}, "n_test=-1 is not allowed"),
    ({"n_repetitions": 0}, "n_repetitions=0 is not allowed"),
    ({"method": "decision_function"}, "method='decision_function' is not allowed"),
])  # fmt: skip
def test_what_a_problem_cannot_give_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        resample_predictions(StumpClassifier(), TwoNorm(), **options)


@pytest.mark.parametrize(("options", "words"), [
    ({"y": None}, "y is missing"),
    ({"sampling": "fresh"}, 'sampling="fresh" needs a problem'),
    ({"n_test": 30}, "n_test=30 is not allowed.*no more than 29"),
    ({"n_train": 21}, "n_train=21 is not allowed.*no more than 20"),
    ({"n_train": 1.5}, "n_train=1.5 is not allowed"),
    ({"n_train": True}, "n_train=True is not allowed"),
    ({"y": [0, 1]}, "inconsistent numbers of samples"),
])  # fmt: skip
def test_what_a_data_set_cannot_give_is_refused(options, words):
    X, y = make_twonorm(30, random_state=0)
    with pytest.raises(ValueError, match=words):
        resample_predictions(StumpClassifier(), X, **{"y": y, **options})


@pytest.mark.parametrize("data", [TwoNorm, "twonorm", None])
def test_what_is_neither_a_problem_nor_a_data_set_is_refused(data):
    words = (
        r"data=.*(TwoNorm|twonorm|None).* is not allowed: it must be a problem such as TwoNorm\(\)"
    )
    with pytest.raises(TypeError, match=words):
        resample_predictions(StumpClassifier(), data)
    with pytest.raises(TypeError, match=words):
        member_correlation_curve(RandomForestClassifier(), data, values=[1])


def test_what_is_no_classifier_and_no_regressor_is_refused():
    class Numbers(RegressorMixin, BaseEstimator):
        """A regressor that is never fitted."""

    with pytest.raises(TypeError, match=r"StandardScaler.* is not allowed"):
        resample_predictions(StandardScaler(), TwoNorm())
    with pytest.raises(ValueError, match="'predict_proba' is for classifiers"):
        resample_predictions(Numbers(), Friedman1(), method="predict_proba")
    found = resample_predictions(LinearRegression(), Friedman1(), **SMALL, random_state=0)
    assert found.predictions.dtype == np.float64
