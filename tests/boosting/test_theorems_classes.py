"""What is proved of boosting with several classes, on ensembles that were fitted."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon import (
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostOCClassifier,
    AdaBoostPairwiseClassifier,
    ArcX4Classifier,
    StumpClassifier,
)

N, K = 160, 4


@pytest.fixture(scope="module")
def blobs():
    """Four overlapping classes in the plane, and weights."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % K
    X = rng.normal(size=(N, 2)) + 1.5 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[y]
    return X, y, rng.integers(1, 4, N).astype(float)


def staged_errors(model, X, y, weights):
    wrong = np.array([decided != y for decided in model.staged_predict(X)])
    return wrong @ (weights / weights.sum())


def mislabels(y, weights):
    spread = np.repeat(weights[:, None], K, axis=1)
    spread[np.arange(len(y)), y] = 0
    return spread / spread.sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_m2_pseudo_losses_and_bound(blobs, weighted):
    X, y, weights = blobs
    weights = weights if weighted else np.ones(N)
    model = AdaBoostM2Classifier(n_estimators=30, random_state=0).fit(X, y, sample_weight=weights)
    assert len(model.members_) == 30
    w = mislabels(y, weights)
    for h, error, vote in zip(
        model.members_.supports(X), model.errors_, model.member_weights_, strict=True
    ):
        own = h[np.arange(N), y][:, None]
        loss = 0.5 * (w * (1 - own + h)).sum()
        assert error == pytest.approx(loss, rel=1e-10)
        beta = loss / (1 - loss)
        assert vote == pytest.approx(-np.log(beta), rel=1e-9)
        w = w * beta ** (0.5 * (1 + own - h))
        w /= w.sum()
    edges = 0.5 - model.errors_
    bound = (K - 1) * np.cumprod(np.sqrt(1 - 4 * edges**2))
    np.testing.assert_allclose(model.error_bounds_, bound, rtol=1e-12)
    errors = staged_errors(model, X, y, weights)
    assert (errors <= bound).all()
    assert errors[-1] < errors[0]


def test_output_codes_pseudo_losses_and_bound(blobs):
    X, y, weights = blobs
    model = AdaBoostOCClassifier(n_estimators=60, random_state=0).fit(X, y, sample_weight=weights)
    w = mislabels(y, weights)
    bound = K - 1.0
    for answers, mu, error, bounded in zip(
        model.members_.votes(X), model.colourings_, model.errors_, model.error_bounds_, strict=True
    ):
        has = (answers[:, None] == mu).astype(float)
        s = 1 - has[np.arange(N), y][:, None] + has
        loss = 0.5 * (w * s).sum()
        assert error == pytest.approx(loss, rel=1e-10)
        apart = w * (mu != mu[y][:, None])
        U, wrong = apart.sum(), apart[answers != mu[y]].sum() / apart.sum()
        assert loss == pytest.approx(0.5 - (0.5 - wrong) * U, rel=1e-10)
        bound *= np.sqrt(1 - 4 * ((0.5 - wrong) * U) ** 2)
        assert bounded == pytest.approx(bound, rel=1e-10)
        w = w * np.exp(0.5 * np.log((1 - loss) / loss) * s)
        w /= w.sum()
    errors = staged_errors(model, X, y, weights)
    assert (errors <= model.error_bounds_).all()
    assert errors[-1] < errors[0]


def test_mh_bound_is_the_mean_exponential_loss_of_the_pairs(blobs):
    X, y, weights = blobs
    model = AdaBoostMHClassifier(n_estimators=30, random_state=0).fit(X, y, sample_weight=weights)
    truth = 2 * (y[:, None] == np.arange(K)) - 1
    share = np.repeat(weights[:, None], K, axis=1) / (K * weights.sum())
    F = np.zeros((N, K))
    for t, answers in enumerate(model.members_.outputs(X)):
        D = share * np.exp(-truth * F)
        D /= D.sum()
        assert model.errors_[t] == pytest.approx(D[answers != truth].sum(), rel=1e-10)
        votes = model.member_weights_[t]
        e = model.errors_[t]
        np.testing.assert_allclose(votes, 0.5 * np.log((1 - e) / e), rtol=1e-10)
        F += votes * answers
        after = share * np.exp(-truth * F)
        assert after.sum() == pytest.approx(model.hamming_bounds_[t], rel=1e-10)
        assert after[answers != truth].sum() / after.sum() == pytest.approx(0.5, rel=1e-10)
        hamming = share[truth * F <= 0].sum()
        assert hamming <= model.hamming_bounds_[t]
    np.testing.assert_allclose(model.decision_function(X), F, rtol=1e-9, atol=1e-12)
    errors = staged_errors(model, X, y, weights)
    assert (errors <= K * model.hamming_bounds_).all()


def test_one_against_the_rest_is_an_adaboost_for_each_class(blobs):
    """The outputs of each problem have half of the weight wrong after every round."""
    X, y, weights = blobs
    model = AdaBoostMHClassifier(n_estimators=20, joint=False, random_state=0)
    model.fit(X, y, sample_weight=weights)
    truth = 2 * (y[:, None] == np.arange(K)) - 1
    F = np.zeros((N, K))
    for votes, answers in zip(model.member_weights_, model.members_.outputs(X), strict=True):
        D = weights[:, None] * np.exp(-truth * F)
        wrong = np.where(answers != truth, D, 0).sum(axis=0) / D.sum(axis=0)
        going = votes > 0
        np.testing.assert_allclose(
            votes[going], 0.5 * np.log((1 - wrong) / wrong)[going], rtol=1e-9
        )
        F += votes * answers
    np.testing.assert_array_equal(model.predict(X), np.argmax(F, axis=1))


def test_pairs_are_an_adaboost_each_and_their_outputs_add_up(blobs):
    X, y, weights = blobs
    model = AdaBoostPairwiseClassifier(n_estimators=12, random_state=0)
    model.fit(X, y, sample_weight=weights)
    assert model.pairs_.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    F = np.zeros((N, len(model.pairs_)))
    for votes, answers in zip(model.member_weights_, model.members_.outputs(X), strict=True):
        for p, (a, b) in enumerate(model.pairs_):
            mine = np.isin(y, (a, b))
            truth = np.where(y == b, 1, -1)[mine]
            D = weights[mine] * np.exp(-truth * F[mine, p])
            e = D[answers[mine, p] != truth].sum() / D.sum()
            if votes[p] > 0:
                assert votes[p] == pytest.approx(0.5 * np.log((1 - e) / e), rel=1e-9)
        F += votes * answers
    sums = np.zeros((N, K))
    for p, (a, b) in enumerate(model.pairs_):
        sums[:, b] += np.tanh(F[:, p])
        sums[:, a] -= np.tanh(F[:, p])
    np.testing.assert_allclose(model.decision_function(X), sums, rtol=1e-9, atol=1e-9)


def test_arc_x4_errors_are_those_under_one_plus_the_fourth_power(blobs):
    X, y, _ = blobs
    base = StumpClassifier()
    model = ArcX4Classifier(base, n_estimators=15, sampling="weights", random_state=0).fit(X, y)
    misses = np.zeros(N)
    for answers, error in zip(model.votes(X), model.errors_, strict=True):
        weights = 1 + misses**4
        assert error == pytest.approx(weights[answers != y].sum() / weights.sum(), rel=1e-12)
        misses += answers != y
    assert set(model.member_weights_) == {1.0}
