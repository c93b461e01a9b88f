"""Pools weighted by soft margins and by linear programming: duality, and no better votes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests import shared
from tests.oracles.boosting_script import play

import orfeon
from orfeon import BaggingClassifier, CARTClassifier, PoolBoostClassifier
from orfeon.boosting import largest_margin
from orfeon.boosting.adaboost import AdaBoostScheme
from orfeon.boosting.loop import PERFECT
from orfeon.boosting.soft_margins import SoftMarginScheme, line_minimum
from orfeon.datasets import make_twonorm, make_waveform

usual = settings(deadline=None, derandomize=True, max_examples=shared.cases(60))


@st.composite
def sign_matrices(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    shape = draw(st.integers(1, 8)), draw(st.integers(1, 15))
    return np.where(rng.random(shape) < 0.7, 1, -1)


def primal(signs, nu, weights):
    """max rho - sum of cap xi, for votes on the simplex: the other side of the duality."""
    n_members, n = signs.shape
    cap = 1 / nu * weights / weights.sum() if nu else np.full(n, 1e6)
    found = linprog(
        np.concatenate([np.zeros(n_members), [-1.0], cap]),
        A_ub=np.hstack([-signs.T, np.ones((n, 1)), -np.eye(n)]), b_ub=np.zeros(n),
        A_eq=np.concatenate([np.ones(n_members), np.zeros(n + 1)])[None], b_eq=[1.0],
        bounds=[(0, None)] * n_members + [(None, None)] + [(0, None)] * n,
    )  # fmt: skip
    return -found.fun


@given(signs=sign_matrices(), seed=st.integers(0, 99))
@usual
def test_no_other_votes_have_a_larger_smallest_margin(signs, seed):
    found = largest_margin(signs)
    margins = found.votes @ signs
    assert found.votes.sum() == pytest.approx(1)
    assert margins.min() == pytest.approx(found.margin, abs=1e-7)
    assert found.margin == pytest.approx(primal(signs, 0, np.ones(signs.shape[1])), abs=1e-7)
    others = np.random.default_rng(seed).dirichlet(np.ones(len(signs)), size=50)
    assert (others @ signs).min(axis=1).max() <= found.margin + 1e-7
    # By duality: no member has a larger edge under the weights, and members with votes have it.
    edges = signs @ found.weights
    assert edges.max() == pytest.approx(found.margin, abs=1e-7)
    np.testing.assert_allclose(edges[found.votes > 1e-7], found.margin, atol=1e-6)


@given(signs=sign_matrices(), nu=st.sampled_from([0.1, 0.35, 0.8, 1.0]), seed=st.integers(0, 99))
@usual
def test_soft_margins_leave_at_most_the_share_nu_below(signs, nu, seed):
    weights = np.random.default_rng(seed).integers(1, 4, signs.shape[1]).astype(float)
    found = largest_margin(signs, weights, nu)
    margins = found.votes @ signs
    below = margins < found.margin - 1e-7
    assert weights[below].sum() / weights.sum() <= nu + 1e-9
    shortfall = np.maximum(found.margin - margins, 0) @ weights / weights.sum() / nu
    assert found.margin - shortfall == pytest.approx(primal(signs, nu, weights), abs=1e-7)
    copies = largest_margin(np.repeat(signs, weights.astype(int), axis=1), nu=nu)
    margins = copies.votes @ signs
    again = copies.margin - np.maximum(copies.margin - margins, 0) @ weights / weights.sum() / nu
    assert again == pytest.approx(found.margin - shortfall, abs=1e-7)


@pytest.fixture(scope="module")
def bag():
    X, y = make_twonorm(80, random_state=0)
    return BaggingClassifier(CARTClassifier(max_depth=2), 25, random_state=0).fit(X, y), X, y


def smallest_margin(model, X, y):
    signs = np.where(model.classes_[model.votes(X)] == y, 1, -1)
    return float((model.member_weights_ @ signs / model.member_weights_.sum()).min())


def test_column_by_column_reaches_the_optimum_of_the_whole_pool(bag):
    bag, X, y = bag
    model = PoolBoostClassifier(bag, 200, rule="lp").fit(X, y)
    signs = np.where(bag.classes_[bag.votes(X)] == y, 1, -1)
    assert model.margin_ == pytest.approx(largest_margin(signs).margin, abs=1e-7)
    assert smallest_margin(model, X, y) == pytest.approx(model.margin_, abs=1e-7)
    assert len(set(model.chosen_)) == len(model) <= 25
    plain = PoolBoostClassifier(bag, 200).fit(X, y)
    assert smallest_margin(plain, X, y) < model.margin_


def test_stumps_by_linear_programming():
    """No stump of the pool has a larger edge under the final weights than the margin."""
    X, y = make_waveform(40, random_state=0)
    y = (y > 0).astype(int)
    model = PoolBoostClassifier(n_estimators=300, rule="lp", n_thresholds=2).fit(X, y)
    signs = np.array([np.where(stump.predict(X) == y, 1, -1) for stump in model.pool_])
    assert model.margin_ == pytest.approx(largest_margin(signs).margin, abs=1e-6)
    assert model.margin_ > 0
    assert model.score(X, y) == 1


def test_the_rules_are_saved_loaded_and_continued(bag, tmp_path):
    bag, X, y = bag
    for given_ in ({"rule": "lp", "nu": 0.2}, {"rule": "soft_margin"}):
        model = PoolBoostClassifier(bag, 6, **given_).fit(X, y)
        orfeon.save(model, tmp_path / "model.orfeon")
        again = orfeon.load(tmp_path / "model.orfeon")
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        assert getattr(again, "margin_", None) == getattr(model, "margin_", None)
        twice = PoolBoostClassifier(bag, 3, warm_start=True, **given_).fit(X, y)
        twice.set_params(n_estimators=6).fit(X, y)
        np.testing.assert_array_equal(twice.member_weights_, model.member_weights_)
        with pytest.raises(AttributeError, match='those of rule="adaboost"'):
            model.error_bounds_  # noqa: B018


def test_what_does_not_go_together_is_refused(bag):
    bag, X, y = bag
    with pytest.raises(ValueError, match='not available with rule="lp"'):
        PoolBoostClassifier(bag, rule="lp", n_iter_no_change=2).fit(X, y)
    with pytest.raises(ValueError, match="'nu' parameter of PoolBoostClassifier"):
        PoolBoostClassifier(bag, nu=1.5).fit(X, y)
    with pytest.raises(ValueError, match="must be a matrix of 1 and -1"):
        largest_margin([[0.5, 1]])
    with pytest.raises(ValueError, match="nu=2 is not a share"):
        largest_margin([[1, 1]], nu=2)


# -- soft margins ------------------------------------------------------------------------------


@st.composite
def runs(draw):
    n = draw(st.integers(4, 15))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    y = rng.integers(0, 2, n)
    votes = np.repeat(y[None], 6, axis=0)
    for row in votes:
        row[rng.choice(n, int(rng.integers(1, 1 + n // 3)), replace=False)] ^= 1
    return y, votes


@given(run=runs(), C=st.sampled_from([0.0, 0.02, 0.1, 0.4]))
@usual
def test_weights_and_votes_follow_the_soft_margins(run, C):
    """Written out: exp(-(margin + C mistrust)), and the least loss along each member."""
    y, votes = run
    n = len(y)
    _, learner, kept = play(SoftMarginScheme(y, np.ones(n), 2, C), votes)
    margin, mistrust = np.zeros(n), np.zeros(n)
    for t, one in enumerate(kept):
        losses = np.exp(-(margin + C * mistrust))
        w = losses / losses.sum()
        np.testing.assert_allclose(learner.weights[t], w, rtol=1e-7)
        if one.result.error >= 0.5 - 1e-9:
            break
        sign, alpha = np.where(votes[t] == y, 1, -1), one.result.vote
        grid = np.append(np.linspace(0, PERFECT, 400), alpha)
        loss = [np.exp(-(margin + a * sign + C * (mistrust + a * n * w))).sum() for a in grid]
        assert loss[-1] <= min(loss) * (1 + 1e-9)
        margin, mistrust = margin + alpha * sign, mistrust + alpha * n * w


@given(run=runs())
@usual
def test_without_regularization_it_is_adaboost(run):
    y, votes = run
    soft = play(SoftMarginScheme(y, np.ones(len(y)), 2, 0.0), votes)[2]
    plain = play(AdaBoostScheme(y, np.ones(len(y)), 2), votes)[2]
    assert len(soft) == len(plain)
    for one, other in zip(soft, plain, strict=True):
        assert one.result.vote == pytest.approx(other.result.vote, rel=1e-9)


def test_mistrust_that_exceeds_all_mistakes_bounds_the_vote():
    assert line_minimum(np.array([1.5, 0.2]), np.array([0.6, 0.4])) == PERFECT
