"""The rounds of gradient boosting against Friedman's algorithms, written out one row at a time."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from tests.oracles import gradient_boosting as oracle
from tests.shared import assert_same_forest

from orfeon.boosting.class_losses import ExponentialLoss, LogLoss, MultinomialLoss
from orfeon.boosting.gradient import (
    AdditiveModel,
    Boosting,
    Sample,
    Stage,
    fill_inner_values,
    split_gains,
    values_of,
)
from orfeon.boosting.losses import AbsoluteError, HuberError, QuantileError, SquaredError
from orfeon.boosting.stopping import Patience, Validation, Watch, draw_folds
from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.forest import Forest
from orfeon.growth import Growth
from orfeon.growth.residuals import ExactTrees

LOSSES = {
    "squared": (SquaredError(), oracle.LeastSquares()),
    "absolute": (AbsoluteError(), oracle.LeastAbsolute()),
    "huber": (HuberError(0.8), oracle.MTreeBoost(0.8)),
    "quantile": (QuantileError(0.7), oracle.LeastAbsolute(0.7, 0.7, 0.7 - 1.0)),
    "log": (LogLoss(), oracle.L2TreeBoost()),
    "exponential": (ExponentialLoss(), oracle.ExponentialTreeBoost()),
}
EVERY = pytest.mark.parametrize("name", LOSSES)


def problem(name, n_rows=40, seed=0, n_classes=2, n_features=3):
    """Samples of weights that leave no ties, but for features that part a node alike."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    y = X[:, 0] * X[:, -1] + rng.normal(size=n_rows)
    if name in ("log", "exponential", "classes"):
        y = np.argsort(np.argsort(y)) * n_classes // n_rows
    return Sample(X, y, rng.uniform(0.5, 1.5, n_rows))


def boosting(sample, loss, *, depth=2, rate=0.3, categorical=None, **how):
    schema, encoded = Schema.learn_and_encode(sample.X, categorical)
    assert np.array_equal(encoded, sample.X, equal_nan=True)
    trees = ExactTrees(
        Table(encoded, schema), encoded, Growth(criterion="variance", max_depth=depth)
    )
    return Boosting(loss, trees, sample, rate, np.random.SeedSequence(0), **how)


def run(boost, n_rounds):
    """The model of some rounds, the scores it was trained to, and the losses."""
    sample, loss = boost.sample, boost.loss
    start = loss.start(sample.y, sample.weights)
    scores = np.repeat(start[:, None], len(sample.y), axis=1)
    stages = list(islice(boost.rounds(scores), n_rounds))
    model = AdditiveModel(start, Forest.concatenate([stage.forest for stage in stages]))
    return model, scores, [stage.loss for stage in stages]


# -- against the paper -----------------------------------------------------------------------------


def new_rows(sample):
    """Rows that no tree was grown from, where it is certain which feature a tree tests."""
    if sample.X.shape[1] > 1:
        return sample.X
    return np.random.default_rng(9).normal(size=(50, 1))


@pytest.mark.parametrize("n_features", [1, 3])
@pytest.mark.parametrize("seed", range(2))
@EVERY
def test_the_rounds_are_those_of_the_paper(name, seed, n_features):
    loss, how = LOSSES[name]
    sample = problem(name, seed=seed, n_features=n_features)
    model, scores, _ = run(boosting(sample, loss), 6)
    signs = (2.0 * sample.y - 1).tolist() if name in ("log", "exponential") else sample.y.tolist()
    # The paper's F is half the log odds, and so half our score.
    factor = 2.0 if name == "log" else 1.0
    expected = oracle.boost(sample.X.tolist(), signs, sample.weights.tolist(), how, 6, 0.3, 2)
    for rows in (sample.X, new_rows(sample)):
        answers = factor * np.array(oracle.predict(expected, rows.tolist()))
        np.testing.assert_allclose(model.scores(rows)[:, 0], answers, atol=1e-10)
    np.testing.assert_array_equal(scores.T, model.scores(sample.X))


@pytest.mark.parametrize("n_features", [1, 3])
def test_several_classes_are_those_of_the_paper(n_features):
    sample = problem("classes", n_classes=3, n_features=n_features)
    model, _, _ = run(boosting(sample, MultinomialLoss(3)), 4)
    models = oracle.boost_classes(
        sample.X.tolist(), sample.y.tolist(), sample.weights.tolist(), 3, 4, 0.3, 2
    )
    for rows in (sample.X, new_rows(sample)):
        expected = np.column_stack([oracle.predict(m, rows.tolist()) for m in models])
        np.testing.assert_allclose(model.scores(rows), expected, atol=1e-10)


@pytest.mark.parametrize("columns", [[0, 1, 2], [0], [2]])
@pytest.mark.parametrize("name", ["squared", "log", "absolute"])
def test_missing_values_and_categories_as_the_oracle_has_them(name, columns):
    sample = problem(name, seed=3)
    rng = np.random.default_rng(5)
    sample.X[:, 2] = rng.integers(0, 4, 40)
    sample.X[rng.random((40, 3)) < 0.15] = np.nan
    # Categories are coded by their order; none may be absent.
    assert set(sample.X[~np.isnan(sample.X[:, 2]), 2]) == {0, 1, 2, 3}
    sample = sample._replace(X=np.ascontiguousarray(sample.X[:, columns]))
    categorical = [columns.index(2)] if 2 in columns else None
    loss, how = LOSSES[name]
    model, _, _ = run(boosting(sample, loss, categorical=categorical), 4)
    signs = 2.0 * sample.y - 1 if name == "log" else sample.y
    expected = oracle.boost(
        sample.X.tolist(), signs.tolist(), sample.weights.tolist(), how, 4, 0.3, 2,
        frozenset(categorical or ()),
    )  # fmt: skip
    factor = 2.0 if name == "log" else 1.0
    new = np.column_stack([rng.normal(size=(60, 2)), rng.integers(0, 4, 60)])
    new[rng.random(new.shape) < 0.2] = np.nan
    new = np.ascontiguousarray(new[:, columns]) if len(columns) == 1 else sample.X
    for rows in (sample.X, new):
        answers = factor * np.array(oracle.predict(expected, rows.tolist()))
        np.testing.assert_allclose(model.scores(rows)[:, 0], answers, atol=1e-10)


# -- what must hold of any run ---------------------------------------------------------------------


@pytest.mark.parametrize("name", [*LOSSES, "classes"])
def test_small_steps_never_raise_the_training_loss(name):
    loss = MultinomialLoss(4) if name == "classes" else LOSSES[name][0]
    sample = problem(name, 200, n_classes=4 if name == "classes" else 2)
    if name == "huber":  # its own width changes from round to round: with all residuals small
        loss = HuberError(0.9999)
    loss = loss.measured(sample.y, sample.weights)
    _, _, losses = run(boosting(sample, loss, rate=0.02), 60)
    start = np.repeat(loss.start(sample.y, sample.weights)[:, None], 200, axis=1)
    losses = [loss.value(sample.y, start, sample.weights), *losses]
    assert np.diff(losses).max() <= 1e-15
    assert losses[-1] < 0.95 * losses[0]


def test_a_round_of_huber_lowers_the_loss_of_its_own_width():
    sample = problem("huber", 200)
    boost = boosting(sample, HuberError(0.8), rate=0.05)
    scores = np.repeat(boost.loss.start(sample.y, sample.weights)[:, None], 200, axis=1)
    rounds = boost.rounds(scores)
    for _ in range(30):
        before = scores.copy()
        residuals = boost.loss.negative_gradient(sample.y, before, sample.weights)
        own = HuberError(0.8, float(np.abs(residuals).max()))
        next(rounds)
        cost = [own.value(sample.y, s, sample.weights) for s in (before, scores)]
        assert cost[1] < cost[0]


@pytest.mark.parametrize("k", [1, 3])
def test_staged_scores_are_those_of_prefixes_to_the_bit(k):
    sample = problem("classes", 80, n_classes=3) if k == 3 else problem("squared", 80)
    loss = MultinomialLoss(3) if k == 3 else SquaredError()
    model, scores, _ = run(boosting(sample, loss), 70)  # more than are looked up in one go
    stages = list(model.staged(sample.X))
    assert len(stages) == model.n_rounds == 70
    for n in (1, 2, 33, 70):
        np.testing.assert_array_equal(stages[n - 1], model.prefix(n).scores(sample.X))
    np.testing.assert_array_equal(stages[-1], scores.T)
    stages[0][:] = 0.0  # whoever gets them may change them
    assert stages[1].any()


def test_a_run_goes_on_as_if_it_had_never_ended():
    sample = problem("classes", 60, n_classes=3)
    boost = boosting(sample, MultinomialLoss(3), n_drawn=40, features=(3, 2))
    whole, _, _ = run(boost, 9)
    part, _, _ = run(boost, 4)
    scores = np.ascontiguousarray(part.scores(sample.X).T)
    more = [stage.forest for stage in islice(boost.rounds(scores, 4), 5)]
    assert_same_forest(Forest.concatenate([part.forest, *more]), whole.forest)


def test_copies_are_drawn_one_by_one():
    """As many of each row as from an urn with all copies, and a factor on them is kept."""
    copies = np.array([1.0, 3.0, 6.0, 40.0, 50.0])
    factors = np.array([0.5, 1.0, 2.0, 1.0, 1.0])
    sample = Sample(np.arange(5.0)[:, None], np.arange(5.0), factors * copies, copies)
    assert sample.n_samples == 100
    assert sample.take(np.arange(5) < 3).n_samples == 10
    boost = boosting(sample, SquaredError(), n_drawn=30)
    drawn = np.array([boost._draw(at)[0] for at in range(400)]) / factors
    np.testing.assert_array_equal(drawn, np.rint(drawn))
    assert (drawn.sum(axis=1) == 30).all()
    assert (drawn <= copies).all()
    mean, variance = 0.3 * copies, 0.3 * copies * (1 - copies / 100) * 70 / 99
    assert (np.abs(drawn.mean(axis=0) - mean) < 4 * np.sqrt(variance / 400)).all()
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.3)


def test_each_round_sees_its_share_of_the_samples():
    sample = problem("squared", 50)._replace(weights=np.ones(50))
    model, _, _ = run(boosting(sample, SquaredError(), n_drawn=20), 8)
    roots = model.forest.node_weight[model.forest.tree_start[:-1]]
    assert roots.tolist() == [20.0] * 8
    boost = boosting(sample, SquaredError(), n_drawn=20)
    drawn = np.array([boost._draw(at)[0] for at in range(200)])
    assert (drawn.sum(axis=1) == 20).all()
    # Each sample is drawn 0.4 * 200 = 80 times, give or take 4.5 standard deviations of 6.9.
    assert np.abs(drawn.sum(axis=0) - 80).max() < 31
    assert len(np.unique(drawn, axis=0)) == 200


def test_each_tree_sees_its_share_of_the_features():
    sample = problem("classes", 60, n_classes=3)
    boost = boosting(sample, MultinomialLoss(3), features=(3, 1))
    drawn = np.array([boost._draw(at)[1] for at in range(100)])
    assert drawn.shape == (100, 3, 1)
    assert set(drawn.ravel()) == {0, 1, 2}
    model, _, _ = run(boost, 5)
    for t in range(15):
        tree = model.forest.subset([t])
        assert set(tree.feature[~tree.is_leaf]) <= set(drawn[t // 3, t % 3])


# -- parts -----------------------------------------------------------------------------------------


def test_gains_are_the_squared_error_that_splits_remove():
    sample = problem("squared", 80)
    boost = boosting(sample, SquaredError(), depth=3)
    scores = np.repeat(boost.loss.start(sample.y, sample.weights)[:, None], 80, axis=1)
    residual = sample.y - scores[0]
    stage = next(boost.rounds(scores))
    gains = split_gains(stage.forest, stage.means)
    unshrunk = values_of(stage.forest, sample.X, 1)[0, 0] / 0.3
    after = sample.weights @ (residual - unshrunk) ** 2
    assert gains.sum() == pytest.approx(sample.weights @ residual**2 - after, rel=1e-9)
    assert not gains[stage.forest.is_leaf].any()


def test_inner_values_are_the_means_of_their_leaves():
    sample = problem("squared", 80)
    model, _, _ = run(boosting(sample, SquaredError(), depth=3), 3)
    fill_inner_values(model.forest)
    for t, answers in enumerate(values_of(model.forest, sample.X, 1)[:, 0]):
        root = model.forest.value[model.forest.tree_start[t], 0]
        assert root == pytest.approx(np.average(answers, weights=sample.weights), abs=1e-9)


def test_patience_counts_rounds_since_the_best():
    patience = Patience(3, 0.5)
    ended = [patience.ends(loss) for loss in (5.0, 4.0, 3.6, 3.7, 3.45, 3.4, 3.3, 2.0)]
    # 3.6 is not lower than 4.0 by more than 0.5; 3.45 is.
    assert ended == [False, False, False, False, False, False, False, False]
    assert patience.best == 8
    patience = Patience(2, 0.0)
    assert [patience.ends(loss) for loss in (1.0, 1.0, 1.0)] == [False, False, True]
    assert patience.best == 1


def test_a_watch_replays_the_rounds_of_a_model():
    sample = problem("log", 80)
    model, _, losses = run(boosting(sample, LogLoss()), 6)
    validation = Validation(LogLoss(), sample, model.start)
    watch = Watch(validation, Patience(10, 0.0), model)
    assert watch.patience.losses == losses
    assert not watch.ended
    added = Validation(LogLoss(), sample, model.start)
    again = [added.after(Stage(model.forest.subset([t]), None, 0.0)) for t in range(6)]
    assert again == losses


def test_folds_keep_copies_together_and_spread_the_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.repeat([0, 1, 2], [60, 30, 10])
    whole = Sample(X, y, np.ones(100))
    fold = draw_folds(whole, 5, np.random.default_rng(1), by_class=True)
    for k in range(3):
        assert set(np.bincount(fold[y == k], minlength=5)) == {[60, 30, 10][k] // 5}
    order = rng.permutation(100)
    moved = Sample(X[order], y[order], np.ones(100))
    again = draw_folds(moved, 5, np.random.default_rng(1), by_class=True)
    np.testing.assert_array_equal(again, fold[order])
    copies = np.repeat(np.arange(100), 1 + np.arange(100) % 3)
    copied = Sample(X[copies], y[copies], np.ones(len(copies)))
    weighted = whole._replace(weights=1.0 + np.arange(100) % 3)
    first, second = (
        draw_folds(sample, 5, np.random.default_rng(1), by_class=True)
        for sample in (copied, weighted)
    )
    np.testing.assert_array_equal(first, second[copies])


@pytest.mark.parametrize("most_listed", [0, 8])
def test_copies_are_drawn_without_replacement(most_listed, monkeypatch):
    monkeypatch.setattr("orfeon.boosting.gradient.MOST_LISTED", most_listed)
    sample = problem("squared", 30)
    copies = 1.0 + np.arange(30) % 4
    sample = sample._replace(weights=2.0 * copies, copies=copies)
    boost = boosting(sample, SquaredError(), n_drawn=40)
    draws = [boost._draw_weights(40, np.random.default_rng(seed)) for seed in range(2000)]
    each = np.array(draws) / 2.0
    np.testing.assert_array_equal(each.sum(axis=1), 40)
    assert (each <= copies).all() and (each == each.round()).all()  # noqa: PT018
    share = 40 / copies.sum()
    np.testing.assert_allclose(each.mean(axis=0), share * copies, atol=0.09)
    # The variance of the hypergeometric distribution.
    n = copies.sum()
    variance = 40 * copies / n * (1 - copies / n) * (n - 40) / (n - 1)
    np.testing.assert_allclose(each.var(axis=0), variance, rtol=0.15)
