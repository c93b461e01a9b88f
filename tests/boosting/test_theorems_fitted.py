"""What is proved of boosting, on the library's schemes and on ensembles that were fitted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from tests import shared
from tests.oracles.boosting_script import play

from orfeon import AdaBoostClassifier, CARTClassifier
from orfeon.boosting import margin_bound
from orfeon.boosting.adaboost import AdaBoostScheme
from orfeon.datasets import make_nested_spheres

usual = settings(deadline=None, derandomize=True, max_examples=shared.cases(60))
THETAS = np.linspace(-1, 1, 81)


@pytest.fixture(scope="module")
def spheres():
    X, y = make_nested_spheres(300, random_state=0)
    rng = np.random.default_rng(0)
    return X, y, rng.integers(1, 4, len(y))


def weights_of(signs, votes, base):
    """D_1, D_2, ... from what the members said, times y: the exponential loss of each stage."""
    scores = np.vstack([np.zeros(signs.shape[1]), np.cumsum(votes[:, None] * signs, axis=0)])
    losses = base * np.exp(-scores)
    return losses / losses.sum(axis=1, keepdims=True), losses.sum(axis=1)


@pytest.fixture(scope="module", params=["stumps", "trees", "weighted"])
def fitted(request, spheres):
    """A model of two classes, y h of each member and sample, and the weights of the samples."""
    X, y, weights = spheres
    base = CARTClassifier(max_depth=3) if request.param == "trees" else None
    weights = weights if request.param == "weighted" else np.ones(len(y))
    model = AdaBoostClassifier(base, 25, random_state=0).fit(X, y, sample_weight=weights)
    signs = np.where(model.classes_[model.votes(X)] == y, 1, -1)
    return model, signs, weights / weights.sum()


def test_errors_are_those_under_the_exponential_weights(fitted):
    model, signs, base = fitted
    assert len(signs) == 25
    D, _ = weights_of(signs, model.member_weights_, base)
    wrong = np.where(signs < 0, D[:-1], 0).sum(axis=1)
    np.testing.assert_allclose(wrong, model.errors_, rtol=1e-10)


def test_each_member_errs_on_half_of_the_weights_after_it(fitted):
    model, signs, base = fitted
    D, _ = weights_of(signs, model.member_weights_, base)
    np.testing.assert_allclose(np.where(signs < 0, D[1:], 0).sum(axis=1), 0.5, rtol=1e-12)


def test_the_bound_is_the_mean_exponential_loss(fitted):
    """The product of Z is the weighted mean of exp(-y F), to the last digits."""
    model, signs, base = fitted
    _, losses = weights_of(signs, model.member_weights_, base)
    np.testing.assert_allclose(losses[1:], model.error_bounds_, rtol=1e-11)
    e = model.errors_
    np.testing.assert_allclose(losses[1:] / losses[:-1], 2 * np.sqrt(e * (1 - e)), rtol=1e-11)


def test_training_error_is_below_the_bounds_at_every_round(fitted):
    model, signs, base = fitted
    scores = np.cumsum(model.member_weights_[:, None] * signs, axis=0)
    training_error = np.where(scores <= 0, base, 0).sum(axis=1)
    assert (training_error <= model.error_bounds_).all()
    assert (model.error_bounds_ <= model.edge_bounds_).all()
    assert model.error_bounds_[-1] < 0.9


def test_margins_are_below_the_bound_for_any_theta(fitted):
    model, signs, base = fitted
    votes = model.member_weights_
    margins = votes @ signs / votes.sum()
    for theta in np.concatenate([THETAS, margins.clip(-1, 1)]):
        share = base[margins <= theta].sum()
        assert share <= model.margin_bound(float(theta)) * (1 + 1e-12)


def test_votes_are_the_minima_of_the_exponential_loss(fitted):
    model, signs, base = fitted
    scores = np.zeros(signs.shape[1])
    for answers, vote in zip(signs, model.member_weights_, strict=True):
        found = minimize_scalar(
            lambda a, F=scores, h=answers: base @ np.exp(-(F + a * h)),
            bounds=(0, 10), method="bounded", options={"xatol": 1e-10},
        )  # fmt: skip
        assert found.x == pytest.approx(vote, abs=1e-6)
        scores = scores + vote * answers


@given(st.integers(3, 15), st.data())
@usual
def test_margin_bound_of_any_run_at_every_round(n, data):
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    mistake = st.lists(st.sampled_from([0, 0, 1]), min_size=n, max_size=n)
    votes = np.array(data.draw(st.lists(mistake, min_size=1, max_size=10))) ^ y
    run, _, kept = play(AdaBoostScheme(y, np.ones(n), 2), votes)
    members = [j for j in run.results if j.keep and j.error > 0]
    signs = np.where(votes == y, 1, -1)[: len(members)]
    alphas = np.array([j.vote for j in members])
    assert len(kept) >= len(members)
    for t in range(1, len(members) + 1):
        margins = alphas[:t] @ signs[:t] / alphas[:t].sum()
        for theta in THETAS[::8]:
            # a margin equal to theta may be rounded to either side of it
            share = np.mean(margins <= theta - 1e-12)
            assert share <= margin_bound([j.error for j in members[:t]], theta) * (1 + 1e-12)
