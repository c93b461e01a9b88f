"""Samples set aside: members are not trained on them, and they do not depend on the order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn import ensemble as sklearn_ensemble
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.neighbors import KNeighborsClassifier
from tests.shared import assert_same_forest

from orfeon import BaggingClassifier, CARTClassifier, PrunedClassifier, PrunedRegressor, prune
from orfeon.datasets import make_waveform
from orfeon.ensembles.holdout import set_aside

T = 20
BAG = BaggingClassifier(CARTClassifier(pruning="cv", n_folds=3), T)


@pytest.fixture(scope="module")
def train():
    X, y = make_waveform(120, random_state=0)
    return X[:, :10], np.array(["one", "two", "six"])[y]


@pytest.fixture(scope="module")
def fresh():
    return make_waveform(300, random_state=1)[0][:, :10]


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was trained on, and votes at random."""

    def fit(self, X, y, sample_weight=None):
        self.rows_, self.y_, self.weights_ = X, y, sample_weight
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] * 1e6).astype(int) % len(self.classes_)]


class NumberRecorder(RegressorMixin, BaseEstimator):
    """The same for numbers; it predicts the mean."""

    def fit(self, X, y):
        self.rows_, self.y_ = X, y
        return self

    def predict(self, X):
        return np.full(len(X), np.mean(self.y_))


VOTING = sklearn_ensemble.VotingClassifier([("a", Recorder()), ("b", Recorder())])


def trained_on(X, y, base=VOTING, pruned=PrunedClassifier, **options):
    """The rows that the members saw, by their first feature, which tells them apart."""
    rule = "individual_error"
    model = pruned(base, rule=rule, keep=1, on="validation", **options).fit(X, y)
    return model.ensemble_.estimators_[0].rows_[:, 0]


@pytest.mark.parametrize("share", [0.25, 0.1, 0.5])
def test_a_share_of_each_class_is_set_aside(share):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [10, 22, 55])
    X = np.column_stack([rng.random(87), rng.random(87)])
    seen = trained_on(X, y, validation_fraction=share, random_state=0)
    is_seen = np.isin(X[:, 0], seen)
    assert is_seen.sum() == len(seen)
    aside = [int((~is_seen & (y == code)).sum()) for code in range(3)]
    assert aside == [int(share * n + 0.5) for n in (10, 22, 55)]
    other = trained_on(X, y, validation_fraction=share, random_state=1)
    assert set(other.tolist()) != set(seen.tolist())


def test_of_numbers_a_share_of_all_is_set_aside():
    X = np.random.default_rng(0).random((30, 1))
    voting = sklearn_ensemble.VotingRegressor([("a", NumberRecorder()), ("b", NumberRecorder())])
    seen = trained_on(X, X[:, 0] ** 2, voting, PrunedRegressor, validation_fraction=0.3)
    assert len(seen) == 21


def test_what_is_set_aside_is_not_learnt():
    # Labels are noise, and neighbours know by heart what they saw.
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 3)), rng.integers(0, 2, 400)
    bag = BaggingClassifier(KNeighborsClassifier(1), 5, bootstrap=False)
    by_heart = PrunedClassifier(bag, random_state=0).fit(X, y)
    assert by_heart.error_curve_.tolist() == [0] * 5
    honest = PrunedClassifier(bag, on="validation", random_state=0).fit(X, y)
    assert 0.35 < honest.error_curve_[-1] < 0.65
    # One in four was not seen, and half of those are right by chance.
    assert honest.score(X, y) == pytest.approx(0.75 + 0.25 * (1 - honest.error_curve_[-1]))


def test_it_is_training_on_one_part_and_pruning_by_the_other(train, fresh):
    X, y = train
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    model = PrunedClassifier(BAG, on="validation", keep=6, random_state=2)
    model.fit(X, y, sample_weight=weights)
    count = np.flatnonzero(weights)
    rng = np.random.default_rng(np.random.SeedSequence(2))
    aside = set_aside(X[count], y[count], 1.0 * weights[count], 0.25, rng, by_class=True)
    assert 0.15 < aside.mean() < 0.35
    rows, others = count[~aside], count[aside]
    bag = clone(BAG).set_params(random_state=2).fit(X[rows], y[rows], weights[rows])
    small = prune(bag, X[others], y[others], sample_weight=weights[others], keep=6)
    assert model.kept_.tolist() == small.kept_.tolist()
    assert model.error_curve_.tolist() == small.error_curve_.tolist()
    np.testing.assert_array_equal(model.predict_proba(fresh), small.predict_proba(fresh))


def test_copies_stay_together():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((20, 2)), 3, axis=0)
    y = np.repeat(np.arange(20) % 2, 3)
    moved = rng.permutation(60)
    seen = trained_on(X[moved], y[moved], random_state=0)
    values, counts = np.unique(seen, return_counts=True)
    assert counts.tolist() == [3] * len(values)
    assert 0 < len(values) < 20
    # Copies with another label are other samples.
    seen = trained_on(X, np.tile([0, 1], 30), random_state=0)
    _, counts = np.unique(seen, return_counts=True)
    assert {1, 2} & set(counts.tolist())


@pytest.mark.parametrize("share", [0.25, 0.5, 0.99])
def test_no_class_is_lost_from_training(share):
    y = np.array([0] * 30 + [1] * 2 + [2])
    X = np.random.default_rng(0).random((33, 2))
    for seed in range(5):
        model = PrunedClassifier(BAG, on="validation", validation_fraction=share, keep=1)
        model.set_params(random_state=seed).fit(X, y)
        assert model.classes_.tolist() == [0, 1, 2]


def test_the_share_is_that_of_the_weight():
    X, weights = np.arange(10.0)[:, None], np.array([9.0] + [1.0] * 9)
    found = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        aside = set_aside(X, np.zeros(10, dtype=int), weights, 0.25, rng, by_class=True)
        found.add((bool(aside[0]), int(weights[aside].sum())))
    # A quarter of 18 is 4.5: the heavy one alone when it is drawn first, else the light ones that
    # are drawn before it, at most five.
    assert found <= {(True, 9), *((False, n) for n in range(1, 6))}
    assert {(True, 9), (False, 5)} <= found


@pytest.mark.parametrize("by_class", [True, False])
def test_what_is_set_aside_depends_on_the_samples_alone(by_class):
    rng = np.random.default_rng(4)
    X = np.round(rng.random((50, 2)), 1)
    y, weights = rng.integers(0, 3, 50), rng.integers(1, 4, 50)

    def chosen(rows, weights, sparsely=False):
        given = sparse.csr_matrix(X[rows]) if sparsely else X[rows]
        source = np.random.default_rng(9)
        mask = set_aside(given, y[rows], 1.0 * weights, 0.4, source, by_class=by_class)
        found = {(*X[i], y[i]): bool(m) for i, m in zip(rows, mask, strict=True)}
        assert all(found[(*X[i], y[i])] == m for i, m in zip(rows, mask, strict=True))
        return found

    everything, moved = np.arange(50), rng.permutation(50)
    copies = rng.permutation(np.repeat(everything, weights))
    first = chosen(everything, weights)
    assert first == chosen(moved, weights[moved])
    assert first == chosen(copies, np.ones(len(copies)))
    assert first == chosen(moved, weights[moved], sparsely=True)
    assert set(first.values()) == {True, False}


def test_sparse_matrices_and_data_frames_are_parted(train):
    pandas = pytest.importorskip("pandas")
    X, y = train
    forest = sklearn_ensemble.RandomForestClassifier(T, max_depth=3)
    model = PrunedClassifier(forest, on="validation", random_state=0)
    dense = clone(model).fit(X, y)
    sparsely = clone(model).fit(sparse.csr_matrix(X), y)
    assert sparsely.kept_.tolist() == dense.kept_.tolist()
    frame = pandas.DataFrame({"a": X[:, 5], "word": pandas.Categorical(y)})
    frame.loc[::7, "a"] = np.nan
    model = PrunedClassifier(BAG, on="validation", random_state=0)
    by_frame = clone(model).fit(frame, pandas.Series(y))
    moved = np.random.default_rng(0).permutation(len(y))
    again = clone(model).fit(frame.iloc[moved], y[moved])
    assert_same_forest(by_frame.forest_, again.forest_)
    assert by_frame.error_curve_.tolist() == again.error_curve_.tolist()


# -- what is refused -------------------------------------------------------------------------------


def test_samples_that_cannot_be_spared_are_not_set_aside(train):
    X, y = train
    model = PrunedClassifier(BAG, on="validation")
    with pytest.raises(ValueError, match=r"validation_fraction=0.25 holds out none of 120 sample"):
        model.fit(np.zeros((120, 2)), y)
    with pytest.raises(ValueError, match=r"validation_fraction=0.01 holds out none of"):
        clone(model).set_params(validation_fraction=0.01).fit(X, y)
    for on in ("validation", "out_of_bag"):
        with pytest.raises(ValueError, match="1 sample"):
            PrunedClassifier(BAG, on=on).fit(X[:1], y[:1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": None}, r"y should be a 1d array"),
        ({"y": np.arange(119) % 2}, r"y has 119 values and X has 120 rows"),
        ({"y": np.linspace(0, 1, 120)}, r"Unknown label type: continuous"),
        ({"y": np.append(np.zeros(119), np.nan)}, r"Input y contains NaN"),
        ({"sample_weight": -np.ones(120)}, r"[Nn]egative values in data passed to `?sample_weight"),
        ({"sample_weight": np.ones(119)}, r"sample_weight.shape == \(119,\), expected \(120,\)"),
        ({"sample_weight": np.full(120, np.nan)}, r"sample_weight contains NaN"),
        ({"X": np.full((120, 2), np.inf)}, r"Feature 'x0', row 0. Finite numbers"),
        ({"X": np.zeros(120)}, r"X must be a table .* its shape is \(120,\)"),
    ],
)  # fmt: skip
def test_bad_samples_are_refused_before_they_are_parted(given, message, train):
    arguments = {"X": train[0], "y": train[1]} | given
    with pytest.raises(ValueError, match=message):
        PrunedClassifier(BAG, on="validation").fit(**arguments)
