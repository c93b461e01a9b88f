"""PPBoost against the oracle's recursion, and against AdaBoost where the categories do nothing."""

from __future__ import annotations

import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests import shared
from tests.oracles import perceptron_selection as oracle
from tests.oracles import perceptrons as pp

from orfeon import AdaBoostClassifier, ParallelPerceptronClassifier, PPBoostClassifier
from orfeon.perceptrons import p_delta
from orfeon.perceptrons.boost import FACTORS, PPBoostScheme

Floats = npt.NDArray[np.float64]
MODES: list[Any] = ["adaboost", "negative", "positive", "balanced"]


def noisy(seed: int, n: int = 80) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Two classes, one of them rare, with some labels turned."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < n // 4).astype(int)
    X = rng.normal(size=(n, 3)) + 0.9 * y[:, None]
    turned = rng.random(n) < 0.05
    return X, np.where(turned, 1 - y, y)


@pytest.mark.parametrize("quasi_noisy", ["all", "vote"])
@pytest.mark.parametrize("mode", MODES)
def test_the_recursion(mode: Any, quasi_noisy: Any) -> None:
    """Whatever the members' activations are, weights and votes are the formulas'."""
    n_long = 0
    for seed in range(shared.cases(20)):
        rng = np.random.default_rng(seed)
        labels = (rng.random(30) < 0.3).astype(np.int64)
        labels[:2] = [0, 1]
        positive = int(rng.integers(0, 2))
        signs = np.where(labels == 1, 1.0, -1.0)
        given = rng.choice([1.0, 2.0, 3.0], 30)
        # Right more often than not, near zero now and then; never without error.
        rounds = [signs[:, None] * rng.normal(0.6, 1.0, (30, 3)) for _ in range(6)]
        for t, activations in enumerate(rounds):
            activations[t] = -signs[t] * np.abs(activations[t])
        gammas = rng.uniform(0, 0.8, 6)
        turn = iter(range(6))

        def member(
            weights: list[Decimal],
            rounds: Any = rounds, gammas: Any = gammas, turn: Any = turn, signs: Any = signs,
            is_positive: Any = labels == positive,
        ) -> tuple[list[int], list[str]]:  # fmt: skip
            t = next(turn)
            votes = [pp.sign(sum(pp.sign(a) for a in row)) for row in rounds[t]]
            margins = (signs[:, None] * rounds[t]).tolist()
            return votes, pp.categories(margins, gammas[t], is_positive.tolist(), quasi_noisy)

        expected = oracle.boost(
            signs.astype(int).tolist(), member, 6, mode, [Decimal(int(w)) for w in given]
        )
        scheme = PPBoostScheme(labels, given, positive, FACTORS[mode], quasi_noisy)
        for t, known in enumerate(expected.rounds):
            np.testing.assert_allclose(scheme.weights, np.array(known.weights, float), rtol=1e-9)
            answers = np.column_stack([rounds[t], np.full(30, gammas[t])])
            result = scheme.evaluate(answers)
            assert result.error == pytest.approx(float(known.error))
            assert result.vote == pytest.approx(float(known.alpha))
            scheme.reweigh(answers, result, rng)
        np.testing.assert_allclose(scheme.weights, np.array(expected.weights, float), rtol=1e-9)
        n_long += len(expected.rounds) > 2
    assert n_long >= shared.cases(20) // 2


@pytest.mark.parametrize("mode", MODES)
def test_a_fitted_ensemble(mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Members are trained with the oracle's weights, and vote with the oracle's votes."""
    given: list[tuple[Floats, Floats]] = []
    train = p_delta.train

    def spy(inputs: Floats, targets: Floats, weights: Floats, *rest: Any) -> Any:
        given.append((inputs, weights))
        return train(inputs, targets, weights, *rest)

    monkeypatch.setattr(p_delta, "train", spy)
    lengths = []
    for seed in range(4):
        given.clear()
        X, y = noisy(seed)
        base = ParallelPerceptronClassifier(max_iter=30, eta0=0.01, init=0.2)
        model = PPBoostClassifier(
            base, 6, mode=mode, on_failure="stop", random_state=seed
        ).fit(X, y)  # fmt: skip
        inputs = pp.extended(pp.standardised(X.tolist(), X.tolist(), [1.0] * len(y)))
        labels = np.where(y == 1, 1, -1).tolist()
        members = iter(model.estimators_)

        def member(
            weights: list[Decimal], members: Any = members, inputs: Any = inputs,
            labels: Any = labels, y: Any = y,
        ) -> tuple[list[int], list[str]]:  # fmt: skip
            one = next(members)
            its = one.weights_[0].tolist()
            margins = [
                [label * pp.dot(w, x) for w in its] for x, label in zip(inputs, labels, strict=True)
            ]
            found = pp.categories(margins, float(one.margin_[0]), (y == 1).tolist(), "vote")
            return [pp.majority(its, x) for x in inputs], found

        expected = oracle.boost(labels, member, len(model.estimators_), mode)
        assert model.positive_class_ == 1
        np.testing.assert_allclose(model.errors_, [float(r.error) for r in expected.rounds])
        np.testing.assert_allclose(model.member_weights_, [float(r.alpha) for r in expected.rounds])
        for (its_inputs, its_weights), known in zip(given, expected.rounds, strict=False):
            order = [_place(inputs, x) for x in its_inputs]
            np.testing.assert_allclose(
                its_weights, [float(known.weights[i] * len(y)) for i in order], rtol=1e-9
            )
        scores = [float(s) for s in expected.scores()]
        assert model.predict(X).tolist() == [int(s > 0) for s in scores]
        lengths.append(len(expected.rounds))
    assert max(lengths) >= 3


def _place(inputs: list[pp.Vector], x: Floats) -> int:
    """Which of the rows this is: the booster has them in an order of its own."""
    distances = np.abs(np.array(inputs) - x).max(axis=1)
    assert distances.min() < 1e-12
    return int(distances.argmin())


@pytest.mark.parametrize("sampling", ["weights", "resample"])
@pytest.mark.parametrize("on_failure", ["stop", "restart", "bootstrap"])
def test_with_r_of_one_it_is_adaboost_to_the_last_bit(sampling: Any, on_failure: Any) -> None:
    for seed in range(4):
        X, y = noisy(seed)
        weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], len(y))
        base = ParallelPerceptronClassifier(max_iter=30)
        shared: dict[str, Any] = {
            "estimator": base,
            "n_estimators": 8,
            "sampling": sampling,
            "on_failure": on_failure,
            "random_state": seed,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # runs that end early say so, both of them
            plain = AdaBoostClassifier(**shared).fit(X, y, weights)
            boosted = PPBoostClassifier(mode="adaboost", **shared).fit(X, y, weights)
        assert boosted.member_weights_.tobytes() == plain.member_weights_.tobytes()
        assert boosted.errors_.tobytes() == plain.errors_.tobytes()
        assert len(boosted.estimators_) == len(plain.estimators_)
        for ours, theirs in zip(boosted.estimators_, plain.estimators_, strict=True):
            assert ours.weights_.tobytes() == theirs.weights_.tobytes()
            assert ours.margin_.tobytes() == theirs.margin_.tobytes()
        for name in ("decision_function", "predict", "predict_proba", "votes"):
            assert getattr(boosted, name)(X).tobytes() == getattr(plain, name)(X).tobytes(), name


def test_modes_differ() -> None:
    """The categories do something: no two modes have the same votes."""
    X, y = noisy(1)
    base = ParallelPerceptronClassifier(max_iter=30)
    votes = [
        PPBoostClassifier(base, 6, mode=mode, random_state=0).fit(X, y).member_weights_.tolist()
        for mode in MODES
    ]
    assert all(votes[a] != votes[b] for a in range(4) for b in range(a))
