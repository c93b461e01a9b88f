"""The bounds of fitted boosters hold for what they were trained on, or are refused in words."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests import shared
from tests.boosting.boosters import table

from orfeon import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostOCClassifier,
    AdaBoostPairwiseClassifier,
    AdaBoostR2Regressor,
    AdaBoostRRegressor,
    ArcX4Classifier,
    CARTClassifier,
    CARTRegressor,
    MultiBoostClassifier,
    PoolBoostClassifier,
    StumpClassifier,
)
from orfeon.boosting import edge_bound, error_bound, margin_bound, pseudo_loss_bound, vote_bound
from orfeon.ensembles.holdout import set_aside
from orfeon.ensembles.perturbation import member_generator
from orfeon.utils.seeding import Purpose, seed_sequence

TREE = CARTClassifier(max_depth=2)
CLASSIFIERS: list[Any] = [
    AdaBoostClassifier(n_estimators=30, algorithm="m1"),
    AdaBoostClassifier(TREE, 30, algorithm="m1"),
    AdaBoostClassifier(TREE, 30, sampling="resample", algorithm="m1"),
    AdaBoostClassifier(GaussianNB(), 10, algorithm="m1"),
    AdaBoostClassifier(KNeighborsClassifier(9), 10, algorithm="m1"),
    AdaBoostClassifier(CARTClassifier(max_depth=5), 30, algorithm="m1"),
    AdaBoostClassifier(CARTClassifier(class_weight="balanced", max_depth=3), 20, algorithm="m1"),
    AdaBoostM2Classifier(n_estimators=30),
    AdaBoostM2Classifier(n_estimators=30, sampling="resample"),
    AdaBoostM2Classifier(GaussianNB(), 10),
    AdaBoostM2Classifier(CARTClassifier(max_depth=6), 30),
    AdaBoostOCClassifier(n_estimators=30),
    AdaBoostOCClassifier(StumpClassifier(), 30, sampling="resample"),
    PoolBoostClassifier(n_estimators=30, algorithm="m1"),
]


def quietly(model, X, y, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X, y, **given)


def staged_errors(model, X, y, weights):
    wrong = np.array([decided != y for decided in model.staged_predict(X)])
    return wrong @ (weights / weights.sum())


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_training_errors_stay_below(model, weighted, n_classes):
    for seed in range(3 if shared.thorough else 1):
        X, y = table(model, seed=seed)
        y = np.minimum(y, n_classes - 1)
        rng = np.random.default_rng(seed)
        weights = rng.exponential(size=len(y)) if weighted else np.ones(len(y))
        fitted = quietly(clone(model).set_params(random_state=seed), X, y, sample_weight=weights)
        errors = staged_errors(fitted, X, y, weights)
        assert fitted.error_bounds_.shape == (len(fitted),)
        assert (errors <= fitted.error_bounds_ * (1 + 1e-12) + 1e-12).all()
        if hasattr(fitted, "edge_bounds_"):
            positive = fitted.errors_ > 0
            below = fitted.error_bounds_ <= fitted.edge_bounds_ * (1 + 1e-12)
            assert below[positive].all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model", [m for m in CLASSIFIERS if hasattr(type(m), "margin_bound")], ids=str
)
def test_margins_stay_below(model, n_classes):
    X, y = table(model)
    y = np.minimum(y, n_classes - 1)
    fitted = quietly(clone(model).set_params(random_state=0), X, y)
    signs = np.where(fitted.votes(X) == y, 1.0, -1.0)
    votes = fitted.member_weights_
    margins = votes @ signs / votes.sum()
    for theta in np.linspace(-1, 1, 21):
        share = np.mean(margins <= theta - 1e-12)
        assert share <= fitted.margin_bound(float(theta)) * (1 + 1e-12)
    assert fitted.margin_bound(0.0) == pytest.approx(fitted.error_bounds_[-1], rel=1e-12)


def test_samples_count_by_their_weights():
    X, y = table(GaussianNB())
    y = np.minimum(y, 1)
    weights = np.where(y == 1, 3.5, 1.0)
    model = AdaBoostClassifier(n_estimators=20).fit(X, y, sample_weight=weights)
    assert (staged_errors(model, X, y, weights) <= model.error_bounds_ * (1 + 1e-12)).all()


@pytest.mark.parametrize(
    "model", [AdaBoostClassifier(TREE, 30), AdaBoostM2Classifier(n_estimators=30)], ids=str
)
def test_with_early_stopping_they_are_about_the_samples_that_were_trained_on(model):
    X, y = table(model)
    y = np.minimum(y, 1)
    given = {"n_iter_no_change": 6, "validation_fraction": 0.3, "random_state": 0}
    fitted = clone(model).set_params(**given).fit(X, y)
    rng = member_generator(seed_sequence(0), Purpose.SETTING_ASIDE)
    held = set_aside(X, y, np.ones(len(y)), 0.3, rng, by_class=True)
    errors = staged_errors(fitted, X[~held], y[~held], np.ones((~held).sum()))
    assert (errors <= fitted.error_bounds_ * (1 + 1e-12)).all()
    assert len(fitted.error_bounds_) == len(fitted)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        AdaBoostMHClassifier(n_estimators=30),
        AdaBoostMHClassifier(TREE, 30, sampling="resample"),
        AdaBoostMHClassifier(GaussianNB(), 10),
        AdaBoostMHClassifier(CARTClassifier(max_depth=7), 30),
    ],
    ids=str,
)
def test_hamming_losses_stay_below(model, weighted, n_classes):
    X, y = table(model)
    y = np.minimum(y, n_classes - 1)
    weights = np.random.default_rng(0).exponential(size=len(y)) if weighted else np.ones(len(y))
    fitted = quietly(clone(model).set_params(random_state=0), X, y, sample_weight=weights)
    target = np.where(np.arange(n_classes) == y[:, None], 1, -1)
    outputs, losses = np.zeros((len(y), n_classes)), []
    for answers, vote in zip(fitted.members_.outputs(X), fitted.member_weights_, strict=True):
        outputs += answers * vote
        losses.append(weights @ (outputs * target <= 0).mean(axis=1) / weights.sum())
    assert (np.array(losses) <= fitted.hamming_bounds_ * (1 + 1e-12) + 1e-12).all()
    # a sample that is decided wrongly has a pair that is
    errors = staged_errors(fitted, X, y, weights)
    assert (errors <= n_classes * fitted.hamming_bounds_ * (1 + 1e-12) + 1e-12).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        AdaBoostRRegressor(n_estimators=20),
        AdaBoostRRegressor(CARTRegressor(), 20, sampling="resample"),
        AdaBoostRRegressor(CARTRegressor(max_depth=1), 20),
        AdaBoostRRegressor(CARTRegressor(max_depth=9), 20),
    ],
    ids=str,
)
def test_squared_errors_stay_below(model, weighted):
    X, y = table(model)
    weights = np.random.default_rng(0).exponential(size=len(y)) if weighted else np.ones(len(y))
    fitted = quietly(clone(model).set_params(random_state=0), X, y, sample_weight=weights)
    squares = [np.average((p - y) ** 2, weights=weights) for p in fitted.staged_predict(X)]
    # what is off by rounding alone is right
    assert (np.array(squares) <= fitted.squared_error_bounds_ * (1 + 1e-9) + 1e-20).all()


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "setting",
    [
        {"on_failure": "restart"},
        {"on_failure": "bootstrap"},
        {"algorithm": "samme"},
        {"min_weight": 1e-8},
    ],
)
def test_runs_that_change_their_weights_have_no_bounds(setting):
    X, y = table(GaussianNB())
    model = AdaBoostClassifier(n_estimators=5, random_state=0, **setting).fit(X, y)
    (value,) = setting.values()
    words = f'the bounds are those of a run with on_failure="stop".*{value}'
    for name in ("error_bounds_", "edge_bounds_"):
        with pytest.raises(AttributeError, match=words):
            getattr(model, name)
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=words):
        model.margin_bound(0.0)


def test_problems_that_are_boosted_alone_have_no_joint_bound():
    X, y = table(GaussianNB())
    model = AdaBoostMHClassifier(n_estimators=4, joint=False).fit(X, y)
    with pytest.raises(AttributeError, match="the bound is that of joint=True, but joint=False"):
        _ = model.hamming_bounds_


@pytest.mark.parametrize(
    "kind", [AdaBoostPairwiseClassifier, ArcX4Classifier, MultiBoostClassifier, AdaBoostR2Regressor]
)
def test_others_have_none(kind):
    assert not [name for name in dir(kind) if "bound" in name]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (AdaBoostClassifier, "edge_bounds_"),
        (AdaBoostM2Classifier, "error_bounds_"),
        (AdaBoostOCClassifier, "error_bounds_"),
        (AdaBoostMHClassifier, "hamming_bounds_"),
        (PoolBoostClassifier, "edge_bounds_"),
    ],
)
def test_a_member_that_stands_in_is_bounded_by_nothing(kind, name):
    """Constant columns and as many of each class: no better than chance."""
    X, y = np.ones((8, 1)), np.arange(8) % 2
    with pytest.warns(UserWarning, match="no better than chance"):
        model = kind(n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match="there is no bound: the only member"):
        getattr(model, name)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, PoolBoostClassifier])
def test_a_stand_in_with_a_vote_is_bounded_by_its_vote(kind):
    X, y = np.ones((8, 1)), np.arange(8) % 2
    with pytest.warns(UserWarning, match="no better than chance"):
        model = kind(n_estimators=3, random_state=0).fit(X, y)
    assert model.error_bounds_.tolist() == pytest.approx([np.cosh(1.0)])
    assert 1 - model.score(X, y) <= model.error_bounds_[0]


# -- the functions ---------------------------------------------------------------------------------


def test_bounds_of_no_rounds_and_bad_input():
    assert error_bound([]).shape == (0,)
    assert margin_bound([], 0.3) == 1.0
    for bad in ([0.2, 1.2], [-0.1], [np.nan], [[0.1]], 0.3):
        for bound in (error_bound, edge_bound, lambda e: pseudo_loss_bound(e, 3)):
            with pytest.raises(ValueError, match=r"must be a list of numbers from 0 to 1"):
                bound(bad)
    for theta in (-1.1, 1.1, np.nan):
        with pytest.raises(ValueError, match=r"theta=.* is not a margin; margins are from -1 to 1"):
            margin_bound([0.2], theta)
        with pytest.raises(ValueError, match="is not a margin"):
            vote_bound([0.2], [0.5], theta)
    with pytest.raises(ValueError, match="one vote for each error"):
        vote_bound([0.2, 0.3], [0.5])
    with pytest.raises(ValueError, match="n_classes=1 leaves nothing to confuse"):
        pseudo_loss_bound([0.2], 1)


def test_bounds_by_hand():
    np.testing.assert_allclose(error_bound([0.1, 0.5, 0.0]), [0.6, 0.6, 0.0])
    np.testing.assert_allclose(edge_bound([0.1, 0.5]), [np.exp(-0.32)] * 2)
    np.testing.assert_allclose(pseudo_loss_bound([0.1], 5), [2.4])
    assert margin_bound([0.1], 1.0) == pytest.approx(2 * 0.9)
    assert margin_bound([0.1], -1.0) == pytest.approx(2 * 0.1)
    # with a vote of 1 and an error of 1/4: (3/4) / e + e / 4
    np.testing.assert_allclose(vote_bound([0.25], [1.0]), [0.75 / np.e + 0.25 * np.e])
