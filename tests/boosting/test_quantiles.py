"""Several quantiles at once: they never cross, and lose nothing against single ones."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import d2_pinball_score, mean_pinball_loss

from orfeon import GradientBoostingRegressor
from orfeon.boosting.losses import QuantileError
from orfeon.boosting.quantiles import QuantileErrors

LEVELS = (0.05, 0.5, 0.95)


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 3))
    return X, X[:, 0] + rng.standard_t(3, size=300) * (0.1 + X[:, 1])


def pinball(y, columns, levels=LEVELS):
    return np.mean(
        [mean_pinball_loss(y, c, alpha=a) for a, c in zip(levels, columns.T, strict=True)]
    )


def test_the_loss_is_the_mean_of_single_ones(noisy):
    y, rng = noisy[1], np.random.default_rng(1)
    scores, weights = rng.normal(size=(3, 300)), rng.uniform(0.2, 3.0, 300)
    loss, singles = QuantileErrors(LEVELS), [QuantileError(a) for a in LEVELS]
    each = [one.value(y, s[None], weights) for one, s in zip(singles, scores, strict=True)]
    assert loss.value(y, scores, weights) == pytest.approx(np.mean(each), rel=1e-14)
    gradient = loss.negative_gradient(y, scores, weights)
    leaves = rng.integers(0, 4, (3, 300)) + np.array([[0], [5], [9]])
    values = loss.leaf_values(y, scores, weights, gradient, leaves, 13)
    for k, (one, first) in enumerate(zip(singles, (0, 5, 9), strict=True)):
        np.testing.assert_array_equal(gradient[[k]], one.negative_gradient(y, scores[[k]], weights))
        own = one.leaf_values(y, scores[[k]], weights, gradient[[k]], leaves[[k]] - first, 4)
        np.testing.assert_array_equal(values[first : first + 4], own)


@pytest.mark.parametrize("tree_method", ["exact", "histogram"])
def test_one_of_several_is_the_single_quantile_to_the_bit(noisy, tree_method):
    X, y = noisy
    given = {"loss": "quantile", "n_estimators": 20, "tree_method": tree_method, "random_state": 0}
    many = GradientBoostingRegressor(alpha=(0.3,), **given).fit(X, y)
    single = GradientBoostingRegressor(alpha=0.3, **given).fit(X, y)
    np.testing.assert_array_equal(many.predict(X), single.predict(X)[:, None])
    np.testing.assert_array_equal(many.train_loss_, single.train_loss_)
    three = GradientBoostingRegressor(alpha=LEVELS, **given).fit(X, y)
    assert three.predict(X).shape == (300, 3)
    assert three.init_.shape == (3,)


def test_quantiles_never_cross_and_crossing_is_what_would_happen():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(120, 4)), rng.normal(size=120)
    levels = (0.3, 0.4, 0.5, 0.6)
    model = GradientBoostingRegressor(
        loss="quantile", alpha=levels, early_stopping=False, random_state=0
    ).fit(X, y)
    new = rng.normal(scale=3.0, size=(2000, 4))
    assert (np.diff(model.predict(new), axis=1) >= 0).all()
    raw = model._scores(new)
    assert (np.diff(raw, axis=1) < 0).any()  # or this would be no test
    for stage in model.staged_predict(new[:50]):
        assert (np.diff(stage, axis=1) >= 0).all()
    np.testing.assert_array_equal(stage, model.predict(new[:50]))


def test_the_rearrangement_never_increases_the_pinball_loss():
    """For every row and target, whatever the scores."""
    rng = np.random.default_rng(0)
    levels = np.sort(rng.uniform(size=5))
    loss = QuantileErrors(tuple(levels.tolist()))
    scores = rng.normal(size=(5, 4000))
    y = rng.normal(size=4000)
    shown = loss.predictions(scores.T).T
    for i in range(0, 4000, 7):
        before = loss.value(y[[i]], scores[:, [i]], np.ones(1))
        assert loss.value(y[[i]], shown[:, [i]], np.ones(1)) <= before + 1e-15


def test_several_quantiles_are_no_worse_than_single_ones_on_new_samples(noisy):
    """Splits of equal gain are drawn, so the trees differ; the mean over seeds does not."""
    X, y = noisy
    rng = np.random.default_rng(5)
    new = rng.uniform(size=(3000, 3))
    target = new[:, 0] + rng.standard_t(3, size=3000) * (0.1 + new[:, 1])
    losses = []
    for seed in range(3):
        given = {"loss": "quantile", "random_state": seed}
        many = GradientBoostingRegressor(alpha=LEVELS, **given).fit(X, y).predict(new)
        singles = [GradientBoostingRegressor(alpha=a, **given).fit(X, y) for a in LEVELS]
        apart = np.column_stack([single.predict(new) for single in singles])
        losses.append([pinball(target, many), pinball(target, apart)])
    together, alone = np.mean(losses, axis=0)
    assert together <= 1.01 * alone


def test_the_score_is_the_mean_share_of_the_pinball_loss(noisy):
    X, y = noisy
    model = GradientBoostingRegressor(loss="quantile", alpha=LEVELS, n_estimators=20).fit(X, y)
    columns = model.predict(X).T
    expected = np.mean(
        [d2_pinball_score(y, c, alpha=a) for a, c in zip(LEVELS, columns, strict=True)]
    )
    assert model.score(X, y) == pytest.approx(expected, rel=1e-14)
    assert list(model.staged_score(X, y))[-1] == model.score(X, y)


@pytest.mark.parametrize("alpha", [(0.5, 0.2), (0.5, 0.5), (0.0, 0.5), (), (0.5, 1.0)])
def test_levels_are_checked(noisy, alpha):
    model = GradientBoostingRegressor(loss="quantile", alpha=alpha)
    with pytest.raises(ValueError, match="several quantiles are in ascending order"):
        model.fit(*noisy)


def test_other_losses_take_one_level(noisy):
    with pytest.raises(ValueError, match='loss="huber" needs one number as alpha'):
        GradientBoostingRegressor(loss="huber", alpha=LEVELS).fit(*noisy)
