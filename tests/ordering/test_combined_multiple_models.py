"""One model in place of an ensemble."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from tests.shared import assert_same_forest

from orfeon import (
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    RandomForestClassifier,
    StumpClassifier,
)
from orfeon.data.schema import Schema
from orfeon.datasets import make_twonorm, make_waveform
from orfeon.ensembles.oblique_forest import ObliqueForestClassifier
from orfeon.forest import Forest
from orfeon.ordering.combined_multiple_models import CombinedMultipleModels
from orfeon.ordering.fresh_samples import (
    Regions,
    _Values,
    draw_marginals,
    draw_pairs,
    mix_rows,
)

FEW = BaggingClassifier(C45Classifier(), n_estimators=5)


class Recorder(ClassifierMixin, BaseEstimator):
    """Decides for the first class, and keeps what it was fitted to."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Recorder:
        self.X_, self.y_, self.weights_ = X, np.asarray(y), sample_weight
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


def mixed(rng: np.random.Generator, n_rows: int) -> tuple[Any, Any]:
    """Numbers and categories with missing values, and classes that depend on both."""
    X = np.empty((n_rows, 4), dtype=object)
    X[:, 0] = rng.normal(size=n_rows).round(2)
    X[:, 1] = rng.choice(["red", "green", "blue", "grey"], n_rows)
    X[:, 2] = rng.integers(0, 5, n_rows)
    X[:, 3] = rng.choice(["yes", "no"], n_rows)
    y = np.where((X[:, 0] > 0) ^ np.isin(X[:, 1], ["red", "blue"]), "up", "down")
    y = np.where(rng.random(n_rows) < 0.1, "up", y)
    X[rng.random((n_rows, 4)) < [0.2, 0.1, 0.0, 0.0]] = None
    return X, y


# -- what it is for --------------------------------------------------------------------------------


@pytest.mark.parametrize("generation", ["leaves", "pairs"])
@pytest.mark.parametrize("make_problem", [make_waveform, make_twonorm])
def test_it_keeps_a_part_of_what_the_ensemble_gains(make_problem, generation):
    """A third of it or more with 5000 samples; a quarter is asked for."""
    accuracy = []
    for seed in range(4):
        X, y = make_problem(300, random_state=seed)
        X_test, y_test = make_problem(2000, random_state=100 + seed)
        model = CombinedMultipleModels(generation=generation, n_generated=5000, random_state=seed)
        model.fit(X, y)
        alone = C45Classifier().fit(X, y)
        accuracy.append([m.score(X_test, y_test) for m in (alone, model, model.ensemble_)])
    alone, model, ensemble = np.mean(accuracy, axis=0)
    assert alone + 0.05 < ensemble
    assert alone + (ensemble - alone) / 4 < model < ensemble


def test_more_samples_make_a_larger_and_more_faithful_model(waveform):
    X, y = waveform
    few, many = (
        CombinedMultipleModels(FEW, n_generated=n, random_state=0).fit(X, y) for n in (200, 5000)
    )
    assert many.fidelity_ > few.fidelity_ + 0.03
    assert many.forest_.n_leaves[0] > 2 * few.forest_.n_leaves[0]


def test_defaults_are_those_of_the_paper(waveform):
    X, y = waveform
    model = CombinedMultipleModels(random_state=0).fit(X, y)
    assert isinstance(model.estimator_, C45Classifier)
    assert isinstance(model.ensemble_.estimator_, C45Classifier)
    assert len(model.ensemble_) == 25
    assert model.forest_.value[0].sum() == 300 + 1000
    assert model.generation_ == "leaves"
    assert model.n_features_in_ == 21
    assert model.classes_.tolist() == [0, 1, 2]


def test_a_model_of_another_kind_is_bagged_too(waveform):
    X, y = waveform
    model = CombinedMultipleModels(estimator=GaussianNB(), n_generated=50, random_state=0).fit(X, y)
    assert isinstance(model.ensemble_.estimator_, GaussianNB)
    assert len(model.ensemble_) == 25
    assert model.generation_ == "pairs"


# -- what the model is trained on ------------------------------------------------------------------


@pytest.mark.parametrize("generation", ["leaves", "marginals", "pairs"])
def test_the_model_learns_from_training_samples_and_labelled_new_ones(generation):
    X, y = mixed(np.random.default_rng(0), 120)
    model = CombinedMultipleModels(
        FEW, Recorder(), n_generated=80, generation=generation, random_state=0
    ).fit(X, y)
    seen, labels = model.estimator_.X_, model.estimator_.y_
    assert (seen.shape, model.estimator_.weights_) == ((200, 4), None)
    given = sorted(map(str, np.column_stack([X, y]).tolist()))
    assert sorted(map(str, np.column_stack([seen, labels])[:120].tolist())) == given
    assert labels[120:].tolist() == model.ensemble_.predict(seen[120:]).tolist()
    for j in range(4):
        assert set(seen[120:, j]) <= set(X[:, j])
    rows = {str(row) for row in X.tolist()}
    assert sum(str(row) not in rows for row in seen[120:].tolist()) > 40


def test_fidelity_is_the_agreement_on_fresh_samples(waveform):
    X, y = waveform
    stump = FrozenEstimator(StumpClassifier().fit(X, y))
    model = CombinedMultipleModels(stump, random_state=0).fit(X, stump.predict(X))
    assert model.fidelity_ == 1.0
    first = CombinedMultipleModels(stump, Recorder(), random_state=0).fit(X, y)
    # The recorder always says 0: it agrees where the stump does.
    assert first.fidelity_ == pytest.approx(np.mean(stump.predict(X) == 0), abs=0.06)
    # A tree that has learnt its own samples by heart is not told by these.
    heart = CombinedMultipleModels(
        FEW, CARTClassifier(), generation="marginals", n_generated=300, random_state=0
    ).fit(X, y)
    assert 0.4 < heart.fidelity_ < 0.8


# -- drawing ---------------------------------------------------------------------------------------


def test_marginals_are_drawn_in_proportion_to_the_weights():
    weights = np.array([1.0, 0.0, 2.0, 5.0])
    drawn = draw_marginals(weights, 3, 20_000, np.random.default_rng(0))
    for column in drawn.T:
        shares = np.bincount(column, minlength=4) / 20_000
        np.testing.assert_allclose(shares, weights / 8, atol=0.015)
    together = np.mean((drawn[:, 0] == 3) & (drawn[:, 1] == 3))
    assert together == pytest.approx((5 / 8) ** 2, abs=0.015)  # independent of each other


def test_pairs_take_each_feature_from_either_of_two():
    weights = np.array([1.0, 1.0, 0.0, 2.0])
    drawn = draw_pairs(weights, 30, 4000, np.random.default_rng(1))
    assert max(len(set(row)) for row in drawn.tolist()) == 2
    np.testing.assert_allclose(np.bincount(drawn.ravel()) / drawn.size, weights / 4, atol=0.01)
    # Both are the same sample in (1/16 + 1/16 + 1/4) of the cases; otherwise both lend values.
    assert np.mean([len(set(row)) == 1 for row in drawn.tolist()]) == pytest.approx(0.375, abs=0.03)


@pytest.mark.parametrize("tree", [C45Classifier(), CARTClassifier(min_samples_leaf=5)], ids=str)
def test_leaves_are_drawn_in_proportion_to_their_training_samples(tree):
    """In one tree every sample must reach the leaf that it was drawn for."""
    rng = np.random.default_rng(2)
    X, y = mixed(rng, 300)
    X = X[~np.equal(X, None).any(axis=1)]
    y = y[: len(X)]
    _, encoded = Schema.learn_and_encode(X)
    y = np.where((encoded[:, 0] > 0) ^ (encoded[:, 1] > 1), "up", y)
    tree.fit(X, y)
    drawn = Regions(tree.forest_, encoded, rng.exponential(size=len(X))).draw(20_000, rng)
    new = np.ascontiguousarray(encoded[drawn, np.arange(4)])
    reached = np.bincount(tree.forest_.apply(new)[:, 0], minlength=len(tree.forest_.nodes))
    weights = np.where(tree.forest_.is_leaf, tree.forest_.weights(), 0.0)
    assert np.count_nonzero(weights) > 8
    np.testing.assert_allclose(reached / 20_000, weights / len(X), atol=0.012)
    assert (reached[weights == 0] == 0).all()


def test_within_a_leaf_values_are_those_of_training_that_pass():
    X = np.array([[0.0, 7.0], [1.0, 8.0], [2.0, 7.0], [3.0, 9.0], [4.0, 9.0], [np.nan, 7.0]])
    weights = np.array([1.0, 3.0, 1.0, 1.0, 1.0, 0.0])
    tree = CARTClassifier(random_state=0).fit(X[:5, :1], [0, 0, 1, 1, 0])  # cuts at 1.5 and 3.5
    forest = CARTClassifier(random_state=0, max_depth=1).fit(X[:5], [0, 0, 1, 1, 1]).forest_
    assert tree.forest_.n_leaves[0] == 3
    regions = Regions(tree.forest_, X[:, :1], weights)
    drawn = regions.draw(30_000, np.random.default_rng(3))[:, 0]
    shares = np.bincount(drawn, minlength=6) / 30_000
    # Two of five training samples of the tree are below 1.5, two between, one above.
    np.testing.assert_allclose(shares, [0.1, 0.3, 0.2, 0.2, 0.2, 0.0], atol=0.01)
    # A feature that is not tested is drawn by its weights alone.
    assert set(forest.feature[~forest.is_leaf]) == {0}
    other = Regions(forest, X, weights).draw(30_000, np.random.default_rng(4))[:, 1]
    np.testing.assert_allclose(np.bincount(other, minlength=6) / 30_000, weights / 7, atol=0.01)


class Least(np.random.Generator):
    """Draws the least number there is, over and over."""

    def random(self, size: Any = None, *_: Any, **__: Any) -> Any:
        return np.zeros(size)


def test_nothing_of_weight_zero_is_ever_drawn():
    least, weights = Least(np.random.PCG64(0)), np.array([0.0, 0.0, 1.0])
    assert draw_marginals(weights, 1, 2, least).ravel().tolist() == [2, 2]
    assert draw_pairs(weights, 1, 2, least).ravel().tolist() == [2, 2]
    X = np.array([[0.0], [1.0], [2.0]])
    forest = CARTClassifier().fit([[0.0], [9.0]], [0, 1]).forest_
    assert Regions(forest, X, weights).draw(2, least).ravel().tolist() == [2, 2]


def test_every_member_is_drawn_from_as_often_whatever_its_training_set():
    few, many = (np.repeat([[0.0], [9.0]], counts, axis=0) for counts in ([9, 1], [100, 900]))
    trees = [CARTClassifier().fit(X, X[:, 0] > 0).forest_ for X in (few, many)]
    X = np.arange(10.0)[:, None]
    drawn = Regions(Forest.concatenate(trees), X, np.ones(10)).draw(
        20_000, np.random.default_rng(14)
    )
    # Below the cut at 4.5 are nine tenths of the one and a tenth of the other.
    assert np.mean(drawn <= 4) == pytest.approx((0.9 + 0.1) / 2, abs=0.015)


def test_a_value_on_a_cut_is_below_it():
    X, y = np.arange(10.0)[:, None], np.arange(10) > 5
    forest = CARTClassifier().fit(X, y).forest_
    assert forest.threshold[0] == 5.5
    drawn = Regions(forest, np.array([[5.5], [7.0]]), np.ones(2)).draw(
        5000, np.random.default_rng(15)
    )
    assert np.mean(drawn == 0) == pytest.approx(0.6, abs=0.03)


def test_categories_may_be_tested_twice_on_the_way():
    rng = np.random.default_rng(16)
    X = rng.integers(0, 8, (400, 1)).astype(np.float64)
    tree = CARTClassifier(categorical_features=[0], random_state=0).fit(X, X[:, 0] % 4)
    forest = tree.forest_
    assert (forest.n_leaves[0], forest.depth[0]) == (4, 3)
    # The trees' own shares count, not those of the values that are drawn from.
    heavy = np.where(X[:, 0] == 0, 20.0, 1.0)
    drawn = Regions(forest, tree.schema_.encode(X), heavy).draw(20_000, rng)
    reached = np.bincount(forest.apply(tree.schema_.encode(X[drawn[:, 0]]))[:, 0], minlength=7)
    weights = np.where(forest.is_leaf, forest.weights(), 0.0)
    np.testing.assert_allclose(reached / 20_000, weights / 400, atol=0.012)


def test_no_category_leads_to_no_row():
    values = _Values.of(np.array([0.0, 1.0, np.nan]), np.ones(3))
    assert values.among(np.zeros(0, np.int64), np.zeros(2)).tolist() == [-1, -1]
    assert values.among(np.array([7]), np.zeros(2)).tolist() == [-1, -1]
    assert values.among(np.array([0, 1]), np.array([0.2, 0.7])).tolist() == [0, 1]


def test_values_are_missing_as_often_as_in_training():
    X, y = mixed(np.random.default_rng(5), 400)
    model = CombinedMultipleModels(FEW, Recorder(), n_generated=4000, random_state=0).fit(X, y)
    assert (model.ensemble_.forest_.feature[~model.ensemble_.forest_.is_leaf] < 2).any()
    new = model.estimator_.X_[400:]
    for j in range(4):
        share = np.mean(np.equal(X[:, j], None))
        assert np.mean(np.equal(new[:, j], None)) == pytest.approx(share, abs=0.02)


def test_a_leaf_that_no_training_value_leads_to_takes_any():
    X, y = np.arange(10.0)[:, None], np.arange(10) > 5
    tree = CARTClassifier().fit(X, y)
    for other in (X[:4], np.full((4, 1), np.nan)):  # both on one side of the cut, or unknown
        drawn = Regions(tree.forest_, other, np.ones(4)).draw(500, np.random.default_rng(6))
        assert set(drawn.ravel().tolist()) == {0, 1, 2, 3}
    words = np.array([["a"], ["b"], ["c"]] * 4, dtype=object)
    tree = C45Classifier().fit(words, ["x", "y", "z"] * 4)
    encoded = tree.schema_.encode(words[:2])
    drawn = Regions(tree.forest_, encoded, np.ones(2)).draw(500, np.random.default_rng(7))
    # "a" and "b" lead to their leaves, "c" is replaced by either of them.
    np.testing.assert_allclose(np.bincount(drawn[:, 0]) / 500, [0.5, 0.5], atol=0.07)


# -- weights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        CombinedMultipleModels(FEW, n_generated=200),
        CombinedMultipleModels(FEW, n_generated=200, generation="pairs"),
        CombinedMultipleModels(FEW, CARTClassifier(), n_generated=200, generation="marginals"),
        CombinedMultipleModels(TheirForest(5), CARTClassifier(), n_generated=200),
    ],
    ids=str,
)
def test_weight_k_is_k_copies_and_weight_zero_is_absence(model):
    rng = np.random.default_rng(8)
    model.set_params(random_state=3)
    for _ in range(4):
        X, y = rng.normal(size=(60, 3)).round(1), rng.integers(0, 3, 60)
        weights = rng.integers(0, 4, 60)
        copies = rng.permutation(np.repeat(np.arange(60), weights))
        moved = rng.permutation(60)
        weighted = model.fit(X, y, sample_weight=weights)
        forest, fidelity = weighted.forest_, weighted.fidelity_
        for rows, given in ((copies, None), (moved, weights[moved])):
            other = model.fit(X[rows], y[rows], sample_weight=given)
            assert_same_forest(forest, other.forest_)
            assert other.fidelity_ == fidelity


def test_fractional_weights_are_relative_to_their_mean(waveform):
    X, y = waveform
    weights = np.where(y == 0, 0.5, 0.125)
    recorded = CombinedMultipleModels(FEW, Recorder(), n_generated=100, random_state=0)
    seen = recorded.fit(X, y, sample_weight=weights).estimator_.weights_
    assert sorted(seen[:300]) == pytest.approx(sorted(weights / weights.mean()), abs=1e-12)
    assert seen[300:].tolist() == [1.0] * 100
    plain = CombinedMultipleModels(FEW, n_generated=100, random_state=0).fit(X, y).forest_
    for weight in (0.1, 2.0**-500):
        other = CombinedMultipleModels(FEW, n_generated=100, random_state=0)
        assert_same_forest(other.fit(X, y, sample_weight=np.full(300, weight)).forest_, plain)


def test_heavy_samples_lend_their_values_more_often(waveform):
    X, y = waveform
    weights = np.where(y == 2, 1.5, 0.25)
    model = CombinedMultipleModels(
        FEW, Recorder(), n_generated=3000, generation="marginals", random_state=0
    ).fit(X, y, sample_weight=weights)
    heavy = np.isin(model.estimator_.X_[300:, 3], X[y == 2, 3]).mean()
    share = weights[y == 2].sum() / weights.sum()
    assert heavy == pytest.approx(share, abs=0.04)
    assert share > 0.7


# -- tables ----------------------------------------------------------------------------------------


def test_data_frames_stay_what_they_are():
    pandas = pytest.importorskip("pandas")
    X, y = mixed(np.random.default_rng(9), 100)
    frame = pandas.DataFrame(
        {
            "size": X[:, 0].astype(float),
            "colour": pandas.Categorical(X[:, 1]),
            "count": X[:, 2].astype(int),
            "flag": pandas.array(X[:, 3] == "yes", dtype="boolean"),
        }
    )
    model = CombinedMultipleModels(FEW, Recorder(), n_generated=60, random_state=0).fit(frame, y)
    seen = model.estimator_.X_
    assert seen.dtypes.tolist() == frame.dtypes.tolist()
    assert seen.columns.tolist() == frame.columns.tolist() == list(model.feature_names_in_)
    assert seen.index.tolist() == list(range(160))
    tree = CombinedMultipleModels(FEW, n_generated=60, random_state=0).fit(frame, y)
    assert tree.schema_.names == ("size", "colour", "count", "flag")
    assert tree.schema_ == tree.estimator_.schema_
    assert tree.score(frame, y) > 0.7


def test_all_kinds_of_tables_give_the_same_model():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    X, y = mixed(np.random.default_rng(10), 100)
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "d": X[:, 3]}
    columns = {name: column.tolist() for name, column in columns.items()}
    tables = [X, X.tolist(), polars.DataFrame(columns), pyarrow.table(columns)]
    tables.append(pandas.DataFrame(columns))
    model = CombinedMultipleModels(FEW, n_generated=200, random_state=0)
    forest = model.fit(X, y).forest_
    decided, shares = model.predict(X), model.predict_proba(X)
    for table in tables:
        other = model.fit(table, y)
        assert_same_forest(other.forest_, forest)
        np.testing.assert_array_equal(other.predict(table), decided)
        np.testing.assert_array_equal(other.predict_proba(table), shares)
        np.testing.assert_array_equal(
            other.apply(table), forest.apply(model.schema_.encode(X))[:, 0]
        )


def test_cells_are_mixed_and_decoded():
    X, _ = mixed(np.random.default_rng(11), 30)
    rows = np.random.default_rng(12).integers(0, 30, (50, 4))
    new = mix_rows(X, rows)
    assert new[7, 1] == X[rows[7, 1], 1]
    assert new.shape == (50, 4)
    schema, encoded = Schema.learn_and_encode(X)
    back = schema.decode(encoded)
    np.testing.assert_array_equal(schema.encode(back), encoded)
    assert back[:, 1].tolist() == X[:, 1].tolist()
    numbers = np.array([[1.0, np.nan]])
    assert Schema.ordered(2).decode(numbers) is numbers


def test_categories_may_be_given_as_numbers():
    rng = np.random.default_rng(13)
    X = rng.integers(0, 6, (200, 3)).astype(np.float64)
    y = np.isin(X[:, 0], [1, 4]).astype(int)
    model = CombinedMultipleModels(
        estimator=C45Classifier(categorical_features=[0]), n_generated=300, random_state=0
    ).fit(X, y)
    assert model.schema_.is_categorical.tolist() == [True, False, False]
    assert model.generation_ == "leaves"
    assert model.score(X, y) == 1.0
    assert model.predict(X.tolist()).tolist() == y.tolist()


# -- ensembles that are fitted already -------------------------------------------------------------


def test_a_frozen_ensemble_is_used_as_it_is(waveform):
    X, y = waveform
    bag = BaggingClassifier(C45Classifier(), 10, random_state=0).fit(X[:200], y[:200])
    before = bag.forest_
    model = CombinedMultipleModels(FrozenEstimator(bag), n_generated=300, random_state=0)
    model.fit(X[200:], y[200:])
    assert bag.forest_ is before
    assert model.ensemble_.estimator is bag
    assert (model.generation_, model.forest_.value[0].sum()) == ("leaves", 400.0)


def test_a_frozen_forest_of_another_library(waveform):
    X, y = waveform
    theirs = TheirForest(20, random_state=0).fit(X, y)
    model = CombinedMultipleModels(FrozenEstimator(theirs), n_generated=2000, random_state=0)
    model.fit(X, y)
    assert model.generation_ == "pairs"
    assert model.fidelity_ > 0.7
    assert model.score(X, y) > 0.9


def test_classes_that_only_the_ensemble_knows(waveform):
    X, y = waveform
    bag = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    few = y < 2
    model = CombinedMultipleModels(FrozenEstimator(bag), random_state=0).fit(X[few], y[few])
    assert model.classes_.tolist() == [0, 1, 2] == model.estimator_.classes_.tolist()
    assert model.n_classes_ == 3
    assert model.predict_proba(X).shape == (300, 3)
    bag = FrozenEstimator(BaggingClassifier(n_estimators=5).fit(X[few], y[few]))
    with pytest.raises(ValueError, match=r"y holds 2, .* does not know; its classes are \[0, 1\]"):
        CombinedMultipleModels(bag).fit(X, y)


# -- randomness ------------------------------------------------------------------------------------


def test_random_state_fixes_everything(waveform):
    X, y = waveform
    ensemble = RandomForestClassifier(n_estimators=5)
    for make in (lambda: 7, lambda: np.random.RandomState(7)):
        one, two = (
            CombinedMultipleModels(ensemble, n_generated=100, random_state=make()).fit(X, y)
            for _ in range(2)
        )
        assert_same_forest(one.ensemble_.forest_, two.ensemble_.forest_)
        assert_same_forest(one.forest_, two.forest_)
        assert one.fidelity_ == two.fidelity_
    other = CombinedMultipleModels(ensemble, n_generated=100, random_state=8).fit(X, y)
    assert not np.array_equal(other.predict(X), one.predict(X))


def test_a_random_state_of_its_own_is_left_to_a_model(waveform):
    X, y = waveform
    ensemble = RandomForestClassifier(n_estimators=5, random_state=3)
    estimator = CARTClassifier(random_state=4)
    one, two = (
        CombinedMultipleModels(ensemble, estimator, n_generated=50, random_state=seed).fit(X, y)
        for seed in (0, 1)
    )
    assert (one.ensemble_.random_state, one.estimator_.random_state) == (3, 4)
    assert_same_forest(one.ensemble_.forest_, two.ensemble_.forest_)
    assert ensemble.random_state == 3
    assert not hasattr(ensemble, "members_")


# -- the model -------------------------------------------------------------------------------------


def test_it_answers_as_its_model_does(waveform):
    X, y = waveform
    model = CombinedMultipleModels(FEW, n_generated=100, random_state=0).fit(X, y)
    for method in ("predict", "predict_proba", "predict_log_proba", "apply"):
        np.testing.assert_array_equal(
            getattr(model, method)(X), getattr(model.estimator_, method)(X)
        )
    assert (model.decision_path(X) != model.estimator_.decision_path(X)).nnz == 0
    assert model.feature_importances_.sum() == pytest.approx(1.0, abs=1e-12)


def test_a_model_without_probabilities_gives_none(waveform):
    X, y = waveform
    model = CombinedMultipleModels(FEW, LinearSVC(), n_generated=50, random_state=0)
    assert not hasattr(model, "predict_proba")
    assert not get_tags(model).input_tags.allow_nan
    assert get_tags(CombinedMultipleModels(FEW)).input_tags.allow_nan
    model.fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert model.score(X, y) > 0.8
    for name in ("forest_", "feature_importances_"):
        with pytest.raises(AttributeError):
            getattr(model, name)


def test_rows_to_predict_are_checked_for_a_model_that_does_not(waveform):
    X, y = waveform
    model = CombinedMultipleModels(FEW, DummyClassifier(), n_generated=50).fit(X, y)
    with pytest.raises(ValueError, match="X has 20 features, but CombinedMultipleModels is expec"):
        model.predict(X[:, :20])
    with pytest.raises(ValueError, match="Finite numbers and NaN"):
        model.predict(np.full((2, 21), np.inf))


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ensemble": CARTRegressor()}, r"ensemble=CARTRegressor\(\) is not a classifier"),
        ({"estimator": LinearRegression()}, r"estimator=LinearRegression\(\) is not a classifier"),
        ({"ensemble": "bagging"}, "'ensemble' parameter .* Got 'bagging'"),
        ({"estimator": 3}, "'estimator' parameter .* Got 3"),
        ({"n_generated": 0}, r"must be an int in the range \[1, inf\). Got 0"),
        ({"generation": "uniform"}, "a str among .*'leaves'.* Got 'uniform'"),
        ({"random_state": -1}, "'random_state' parameter .* Got -1"),
        (
            {"ensemble": TheirForest(2), "generation": "leaves"},
            'generation="leaves" needs .* ensemble=RandomForestClassifier.* use "marginals"',
        ),
        (
            {"ensemble": ObliqueForestClassifier(n_estimators=2), "generation": "leaves"},
            "trees that test one feature at a time, not ensemble=Oblique",
        ),
    ],
)
def test_bad_arguments_are_refused(options, message, waveform):
    with pytest.raises(ValueError, match=message):
        CombinedMultipleModels(**options).fit(*waveform)


def test_oblique_trees_are_replaced_through_pairs(waveform):
    X, y = waveform
    ensemble = ObliqueForestClassifier(n_estimators=5)
    model = CombinedMultipleModels(ensemble, n_generated=500, random_state=0).fit(X, y)
    assert model.generation_ == "pairs"


def test_what_is_not_fitted_says_so(waveform):
    X, y = waveform
    model = CombinedMultipleModels(FrozenEstimator(CARTClassifier()))
    with pytest.raises(NotFittedError):
        model.fit(X, y)
    for use in ("predict", "predict_proba", "apply", "decision_path"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(CombinedMultipleModels(), use)(X)
    for name in ("forest_", "feature_importances_"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(CombinedMultipleModels(), name)


def test_fractions_are_refused_by_models_without_weights(waveform):
    X, y = waveform
    neighbours = KNeighborsClassifier()
    weights = np.where(y == 0, 2, 1)
    model = CombinedMultipleModels(FEW, neighbours, n_generated=50, random_state=0)
    assert model.fit(X, y, sample_weight=weights).estimator_.n_samples_fit_ == weights.sum() + 50
    with pytest.raises(ValueError, match=r"fractions, but estimator=KNeighborsClassifier\(\)"):
        model.fit(X, y, sample_weight=0.3 * weights)
    with pytest.raises(ValueError, match=r"fractions, but ensemble=KNeighborsClassifier\(\)"):
        CombinedMultipleModels(neighbours).fit(X, y, sample_weight=0.3 * weights)


def test_jobs_and_words_are_handed_on_to_the_ensemble(waveform, capsys):
    X, y = waveform
    plain = CombinedMultipleModels(FEW, n_generated=50, random_state=0).fit(X, y)
    model = CombinedMultipleModels(FEW, n_generated=50, n_jobs=2, verbose=1, random_state=0)
    model.fit(X, y)
    assert (model.ensemble_.n_jobs, model.ensemble_.verbose) == (2, 1)
    assert (plain.ensemble_.n_jobs, plain.ensemble_.verbose) == (FEW.n_jobs, FEW.verbose)
    answers = capsys.readouterr()
    assert answers.out + answers.err != ""
    assert_same_forest(model.forest_, plain.forest_)
