"""Ordered target statistics: what they are, that they do not leak, and where they are used."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss
from tests.oracles.target_statistics import ordered_statistics, statistics_of_all
from tests.shared import assert_same_forest

import orfeon
from orfeon import CombinedMultipleModels, GradientBoostingClassifier, GradientBoostingRegressor
from orfeon.boosting import gradient_base, gradient_stopping
from orfeon.boosting.gradient_base import GradientBoosting
from orfeon.boosting.target_statistics import (
    FREQUENT,
    MOST_IN_SUBSETS,
    STRENGTH,
    OrderedSamples,
    TargetStatistics,
    encode_in_order,
    level_means,
    statistics_features,
)
from orfeon.data.schema import MAX_CATEGORIES, Schema
from orfeon.inspection import importances
from orfeon.io.consistency import check_estimator, check_target_statistics
from orfeon.io.onnx import NoOnnxFormError, as_inputs
from orfeon.rendering import export_text

KINDS = ("numbers", "two", "three")
FAST = {"n_estimators": 5, "random_state": 0}


def places(n_rows=300, n_levels=60, seed=0, kind="two"):
    """A place of many levels, one of few, and a number; missing values; targets of some kind."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, n_levels, n_rows)
    effect, other = rng.normal(size=(2, n_levels))
    X = pd.DataFrame({
        "place": np.array([f"p{c}" for c in range(n_levels)], dtype=object)[code],
        "size": rng.normal(size=n_rows).round(1),
        "few": np.array(list("abc"), dtype=object)[rng.integers(0, 3, n_rows)],
    })  # fmt: skip
    score = 2 * effect[code] + X["size"].to_numpy()
    if kind == "three":
        y = np.argmax([score, 2 * other[code], rng.normal(size=n_rows)], axis=0)
    else:
        noisy = score + rng.normal(size=n_rows)
        y = np.where(noisy > 0, "yes", "no") if kind == "two" else noisy
    X.loc[rng.random(n_rows) < 0.1, "place"] = None
    X.loc[rng.random(n_rows) < 0.1, "size"] = np.nan
    return X, y


def estimator(kind, **more):
    own = GradientBoostingRegressor if kind == "numbers" else GradientBoostingClassifier
    return own(**(FAST | more))


def scores(model, X):
    return model._scores(X)


# -- the statistics --------------------------------------------------------------------------------


def samples(kind, n_rows, rng):
    n_classes = {"numbers": 0, "two": 2, "three": 3}[kind]
    X = np.column_stack([rng.normal(size=n_rows), rng.integers(0, 5, n_rows)])
    X[rng.random(n_rows) < 0.2, 1] = np.nan
    y = rng.integers(0, n_classes, n_rows) if n_classes else rng.normal(size=n_rows)
    weights = rng.integers(1, 4, n_rows).astype(float)
    return OrderedSamples(X, y, weights, n_classes, int(weights.sum()))


def schema():
    return Schema((None, tuple("abcdef")))  # no training sample has f


@pytest.mark.parametrize("kind", KINDS)
def test_they_are_those_of_the_oracle(kind):
    rng = np.random.default_rng(3)
    for n_rows in (1, 2, 7, 40):
        given = samples(kind, n_rows, rng)
        rows, statistics = encode_in_order(
            given, schema(), np.array([1]), np.random.default_rng(n_rows)
        )
        order = np.random.default_rng(n_rows).permutation(n_rows)
        levels = given.X[:, 1].tolist()
        asked = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, np.nan]  # the last but one: not seen
        extended = statistics.extend(np.column_stack([np.zeros(8), asked]))
        np.testing.assert_array_equal(rows[:, 0], given.X[:, 0])
        columns = [1, 2, 3] if kind == "three" else [1]
        assert rows.shape[1] == extended.shape[1] == 1 + len(columns)
        for k, column in enumerate(columns):
            targets = given.y if kind == "numbers" else given.y == (k if kind == "three" else 1)
            known = levels, np.asarray(targets, float).tolist(), given.weights.tolist()
            expected = ordered_statistics(*known, order.tolist(), STRENGTH)
            np.testing.assert_allclose(rows[:, column], expected, rtol=1e-12, atol=1e-14)
            expected = statistics_of_all(*known, asked, STRENGTH)
            np.testing.assert_allclose(extended[:, column], expected, rtol=1e-12, atol=1e-14)


def test_by_hand():
    X = np.array([[0.0], [0.0], [1.0], [0.0]])
    given = OrderedSamples(X, np.array([4.0, 0.0, 2.0, 2.0]), np.ones(4), 0, 4)

    class InOrder:
        def permutation(self, n):
            return np.arange(n)

    rows, statistics = encode_in_order(given, Schema((("a", "b"),)), np.array([0]), InOrder())
    # The mean of all is 2 and counts 5 times.
    np.testing.assert_allclose(rows[:, 0], [2, (4 + 10) / 6, 2, (4 + 0 + 10) / 7])
    np.testing.assert_allclose(statistics.means[:, 0], [(6 + 10) / 8, (2 + 10) / 6, 2, 2])


def test_a_target_is_seen_only_by_later_samples():
    rng = np.random.default_rng(0)
    given = samples("numbers", 30, rng)
    given = OrderedSamples(given.X, given.y, np.ones(30), 0, 30)
    order = np.random.default_rng(1).permutation(30)

    def column(y):
        changed = OrderedSamples(given.X, y, given.weights, 0, 30)
        return encode_in_order(changed, schema(), np.array([1]), np.random.default_rng(1))[0][:, 1]

    before = column(given.y)
    for place in range(29):
        y = given.y.copy()  # two targets change places, so that the mean of all stays
        y[order[place]], y[order[-1]] = y[order[-1]], y[order[place]]
        np.testing.assert_allclose(column(y)[order[: place + 1]], before[order[: place + 1]])


def test_fractional_weights_of_copies_do_not_see_each_other():
    one = OrderedSamples(
        np.zeros((3, 1)), np.array([1.0, 1.0, 0.0]), np.array([1.5, 0.75, 1]), 0, 3
    )
    merged = OrderedSamples(np.zeros((2, 1)), np.array([1.0, 0.0]), np.array([2.25, 1.0]), 0, 3)
    for seed in range(4):
        found, _ = encode_in_order(
            one, Schema((("a",),)), np.array([0]), np.random.default_rng(seed)
        )
        whole, _ = encode_in_order(
            merged, Schema((("a",),)), np.array([0]), np.random.default_rng(seed)
        )
        np.testing.assert_allclose(found[:, 0], whole[[0, 0, 1], 0], rtol=1e-14)


def test_the_unit_of_the_weights_does_not_matter():
    rng = np.random.default_rng(0)
    given = samples("two", 50, rng)
    weights = rng.random(50)
    means = [
        encode_in_order(
            OrderedSamples(given.X, given.y, scale * weights, 2, 50), schema(), np.array([1]),
            np.random.default_rng(0),
        )[0]
        for scale in (1.0, 1000.0)
    ]  # fmt: skip
    np.testing.assert_allclose(*means)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_copies_and_the_order_of_rows_does_not_matter(kind):
    X, y = places(kind=kind)
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = estimator(kind).fit(X, y, weights)
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), weights))
    copied = estimator(kind, n_jobs=2).fit(X.iloc[rows].reset_index(drop=True), y[rows])
    assert_same_forest(weighted.forest_, copied.forest_)
    means = weighted.target_statistics_.means
    assert means.tobytes() == copied.target_statistics_.means.tobytes()
    assert scores(weighted, X).tobytes() == scores(copied, X).tobytes()


# -- leakage ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree_method", ["exact", "histogram"])
def test_there_is_no_leakage_on_tossed_labels(tree_method):
    rng = np.random.default_rng(0)
    n, n_levels = 1000, 500
    code = rng.integers(0, n_levels, 2 * n)
    noise, y = rng.normal(size=2 * n), rng.integers(0, 2, 2 * n)
    centre = y[:n].mean()
    naive = level_means(code[:n], y[:n] - centre, np.ones(n), STRENGTH, n_levels)
    settings = {"n_estimators": 20, "order": 1, "tree_method": tree_method, "random_state": 0}

    def losses(X, **more):
        model = GradientBoostingClassifier(**settings, **more).fit(X[:n], y[:n])
        return model.train_loss_[-1], log_loss(y[n:], model.predict_proba(X[n:]))

    by_chance = np.log(2)
    train, test = losses(np.column_stack([code, noise]), categorical_features=[0])
    assert train > losses(noise[:, None])[0] - 0.02
    assert test < by_chance + 0.02
    train, test = losses(np.column_stack([naive[code], noise]))
    assert train < by_chance - 0.2
    assert test > by_chance + 0.2


@pytest.mark.parametrize("early_stopping", ["validation", "cv"])
def test_validation_samples_are_not_in_the_statistics(monkeypatch, early_stopping):
    X, y = places(kind="numbers")
    X["held"] = np.random.default_rng(0).random(len(y)) < 0.3
    held = X["held"].to_numpy()
    seen = []
    encode = GradientBoosting._encode_in_order

    def spy(self, training):
        seen.append(training.n_samples)
        return encode(self, training)

    monkeypatch.setattr(GradientBoosting, "_encode_in_order", spy)
    if early_stopping == "cv":
        estimator("numbers", n_iter_no_change=2, early_stopping="cv", n_folds=3).fit(X, y)
        assert seen == [200, 200, 200, 300]
        return
    monkeypatch.setattr(
        gradient_stopping, "draw_held", lambda sample, *_, by_class: sample.encoded()[:, 3] == 1
    )
    stopped = estimator("numbers", n_iter_no_change=2, early_stopping="validation").fit(X, y)
    alone = estimator("numbers").fit(X[~held], y[~held])
    known = stopped.schema_.categories[0]
    own = [known.index(level) for level in alone.schema_.categories[0]]
    there = [*own, len(known), len(known) + 1]
    np.testing.assert_allclose(
        stopped.target_statistics_.means[there], alone.target_statistics_.means
    )
    assert seen == [int((~held).sum())] * 2


# -- where they are used ---------------------------------------------------------------------------


def test_auto_takes_subsets_of_few_levels_and_statistics_of_many():
    levels = tuple(map(str, range(256)))
    mixed = Schema((levels[:20], None, levels[:21], levels[:255], levels))
    assert (MOST_IN_SUBSETS, FREQUENT) == (20, 200)
    assert statistics_features(mixed, "auto", 200 * 21 - 1).tolist() == [2, 3, 4]
    assert statistics_features(mixed, "auto", 200 * 21).tolist() == [3, 4]
    assert statistics_features(mixed, "auto", 200 * 1000).tolist() == [4]
    assert statistics_features(mixed, "ordered", 1000).tolist() == [0, 2, 3, 4]
    assert statistics_features(mixed, "subsets", 1000).tolist() == []


@pytest.mark.parametrize("tree_method", ["exact", "histogram"])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_see_statistics_and_the_rest_sees_features(kind, tree_method):
    X, y = places(kind=kind)
    model = estimator(kind, tree_method=tree_method).fit(X, y)
    n_more = 2 if kind == "three" else 0
    assert model.forest_.n_features == 3 + n_more
    assert model.forest_.n_categories.tolist() == [0, 0, 3] + [0] * n_more
    assert model.tree_features_.tolist() == [0, 1, 2] + [0] * n_more
    assert model.schema_.names == ("place", "size", "few")
    first = {"numbers": "mean target by place", "two": "share of yes by place"}
    assert model.tree_schema_.name(0) == first.get(kind, "share of 0 by place")
    assert len(model.feature_importances_) == model.n_features_in_ == 3
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(importances(model).mean, model.feature_importances_)
    assert first.get(kind, "share of 0 by place") in export_text(model, decimals=2)
    tree = model.estimators_[0]
    assert tree.schema_ == model.tree_schema_
    leaves = tree.apply(X)
    np.testing.assert_array_equal(np.ravel(leaves), model.apply(X)[:, 0])
    without = estimator(kind, tree_method=tree_method, categorical_encoding="subsets").fit(X, y)
    assert without.target_statistics_ is None
    assert without.tree_features_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_unseen_levels_are_average_and_missing_values_a_level(kind):
    X, y = places(kind=kind)
    model = estimator(kind).fit(X, y)
    statistics, n = model.target_statistics_, statistics_size(model)
    rows = X.iloc[[0, 0]].copy()
    rows["place"] = ["never seen", None]
    unseen, missing = model._encode(rows)
    at = [0, 3, 4] if kind == "three" else [0]
    np.testing.assert_array_equal(unseen[at], statistics.means[n])
    np.testing.assert_array_equal(missing[at], statistics.means[n + 1])
    targets = y if kind == "numbers" else y == model.classes_[-1]
    np.testing.assert_allclose(unseen[at[-1]], np.mean(targets))
    gone = X["place"].isna().to_numpy()
    expected = (np.sum(targets[gone]) + STRENGTH * np.mean(targets)) / (gone.sum() + STRENGTH)
    np.testing.assert_allclose(missing[at[-1]], expected)


def statistics_size(model):
    return len(model.schema_.categories[0])


def test_without_missing_values_in_training_they_are_average():
    X, y = places(kind="numbers")
    X["place"] = X["place"].fillna("p0")
    model = estimator("numbers").fit(X, y)
    rows = X[:2].copy()
    rows["place"] = ["never seen", None]
    unseen, missing = model._encode(rows)[:, 0]
    assert unseen == missing


def test_all_samples_with_missing_values_and_one_class():
    X = pd.DataFrame({"place": pd.Series([None] * 20, dtype="category"), "size": range(20)})
    y = np.arange(20) % 2
    model = GradientBoostingClassifier(categorical_encoding="ordered", **FAST).fit(X, y)
    assert model.target_statistics_.features.tolist() == [0]
    assert model.target_statistics_.means.tolist() == [[0.5], [0.5]]
    one = GradientBoostingClassifier(categorical_encoding="ordered", **FAST).fit(X, np.zeros(20))
    assert (one.predict(X) == 0).all()
    assert one.target_statistics_.means.tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_warm_start_is_a_fit_from_scratch(kind):
    X, y = places(kind=kind)
    more = {"early_stopping": "validation", "n_iter_no_change": 5, "subsample": 0.8}
    for settings in ({}, more):
        warm = estimator(kind, warm_start=True, n_estimators=3, **settings).fit(X, y)
        warm.set_params(n_estimators=8).fit(X, y)
        cold = estimator(kind, **{**settings, "n_estimators": 8}).fit(X, y)
        assert_same_forest(warm.forest_, cold.forest_)
    warm.set_params(n_estimators=9, categorical_encoding="subsets")
    with pytest.raises(ValueError, match="categorical_encoding='subsets' differs"):
        warm.fit(X, y)


def test_a_model_that_imitates_it_draws_from_pairs_not_from_leaves():
    X, y = places()
    both = CombinedMultipleModels(estimator("two"), n_generated=200, random_state=0).fit(X, y)
    assert both.generation_ == "pairs"
    few = CombinedMultipleModels(
        estimator("two", categorical_encoding="subsets"), n_generated=200, random_state=0
    )
    assert few.fit(X, y).generation_ == "leaves"


def test_more_levels_than_trees_can_split(tmp_path):
    n = MAX_CATEGORIES + 1
    X = pd.DataFrame({"who": np.arange(n) % (n - 5), "size": np.arange(n) % 7})
    X["who"] = X["who"].astype(str)
    X.loc[n - 1, "who"] = "the last"
    X["who"] = [f"{who}-{i}" if i < 10 else who for i, who in enumerate(X["who"])]
    y = (X["size"] > 3).to_numpy()
    model = GradientBoostingClassifier(tree_method="histogram", n_estimators=2, random_state=0)
    model.fit(X, y)
    assert len(model.schema_.categories[0]) > MAX_CATEGORIES
    assert model.forest_.n_categories.tolist() == [0, 0]
    path = tmp_path / "many.orfeon"
    orfeon.save(model, path)
    assert path.stat().st_size < 40 * n
    loaded = orfeon.load(path)
    assert loaded.predict_proba(X[:100]).tobytes() == model.predict_proba(X[:100]).tobytes()
    with pytest.raises(ValueError, match=f"at most {MAX_CATEGORIES} are allowed"):
        model.set_params(categorical_encoding="subsets").fit(X, y)


def test_levels_have_a_limit(monkeypatch):
    monkeypatch.setattr(gradient_base, "MAX_LEVELS", 50)
    with pytest.raises(ValueError, match=r"'place' has \d+ categories; at most 50 are allowed"):
        estimator("two").fit(*places())


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_model_predicts_the_same(kind, tmp_path):
    X, y = places(kind=kind)
    model = estimator(kind).fit(X, y)
    orfeon.save(model, tmp_path / "model.orfeon")
    loaded = orfeon.load(tmp_path / "model.orfeon")
    rows = X.copy()
    rows.loc[:3, "place"] = "never seen"
    assert scores(loaded, rows).tobytes() == scores(model, rows).tobytes()
    np.testing.assert_array_equal(loaded.tree_features_, model.tree_features_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": np.array([1, 0])}, "ascending"),
        ({"first": np.array([0, 3])}, "fit features"),
        ({"first": np.array([0, 3, 6])}, "number of means"),
        ({"first": np.array([0, 1, 7])}, "too few means"),
        ({"means": np.zeros((7, 0))}, "must have a mean"),
    ],
)
def test_statistics_that_do_not_fit_are_rejected(change, message):
    fields = {
        "features": np.array([0, 1]), "first": np.array([0, 3, 7]), "means": np.zeros((7, 1)),
    }  # fmt: skip
    check_target_statistics(fields)
    with pytest.raises(ValueError, match=message):
        check_target_statistics(fields | change)


@pytest.mark.parametrize(
    ("feature", "more", "n_means", "message"),
    [
        (5, 0, 1, "does not exist"),
        (1, 0, 1, "are of categories"),
        (0, -1, 1, "all levels"),
        (0, 0, 2, "a mean per class"),
        (2, 0, 1, "must fit the features of schema_"),
    ],
)
def test_statistics_of_another_model_are_rejected(feature, more, n_means, message):
    X, y = places()
    model = estimator("two").fit(X, y)
    fields = {k: v for k, v in vars(model).items() if k.endswith("_") or k.startswith("_")}
    check_estimator(fields)
    n = len(model.schema_.categories[feature % 3] or ()) + 2 + more
    other = TargetStatistics(np.array([feature]), np.array([0, n]), np.zeros((n, n_means)))
    with pytest.raises(ValueError, match=message):
        check_estimator(fields | {"target_statistics_": other})


def test_onnx_is_refused_in_a_sentence():
    X, y = places()
    model = estimator("two").fit(X, y)
    for export in (orfeon.to_onnx, lambda one: as_inputs(one, X)):
        with pytest.raises(NoOnnxFormError, match='fit it with categorical_encoding="subsets"'):
            export(model)


def test_constraints_are_of_features_and_hold_for_all_their_columns():
    X, y = places(kind="three")
    more = {"order": 2, "max_depth": 3, "interaction_cst": [["place"], ["size", "few"]]}
    model = estimator("three", n_estimators=8, **more).fit(X, y)
    forest, origin = model.forest_, model.tree_features_
    used = set(forest.feature[~forest.is_leaf].tolist())
    assert used & {3, 4}  # shares of later classes
    for start, end in zip(forest.tree_start, forest.tree_start[1:], strict=False):
        inner = ~forest.is_leaf[start:end]
        of_place = origin[forest.feature[start:end][inner]] == 0
        assert of_place.all() or not of_place.any()
    X, y = places(kind="numbers")
    rising = estimator("numbers", order=2, monotonic_cst={"size": 1}).fit(X, y)
    rows = X.iloc[[0] * 50].assign(size=np.linspace(-3, 3, 50))
    assert (np.diff(rising.predict(rows)) >= 0).all()
    with pytest.raises(ValueError, match="'place', which is categorical"):
        estimator("numbers", order=2, monotonic_cst={"place": 1}).fit(X, y)
