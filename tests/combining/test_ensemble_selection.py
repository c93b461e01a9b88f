"""Ensemble selection: against a plain greedy search, and what it must do to be worth having."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

import orfeon
from orfeon import (
    BaggingClassifier,
    CARTClassifier,
    CARTRegressor,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    RandomForestClassifier,
)
from orfeon.combining.greedy_selection import (
    _SCORES,
    CLASS_LOSSES,
    TARGET_LOSSES,
    best_power,
    powered,
    select_greedily,
)
from orfeon.datasets import make_friedman1, make_waveform

MODELS = [
    ("tree", CARTClassifier(max_depth=3)),
    ("bayes", GaussianNB()),
    ("bag", BaggingClassifier(n_estimators=10)),
    ("stump", CARTClassifier(max_depth=1)),
]
NUMBERS = [("tree", CARTRegressor(max_depth=3)), ("line", LinearRegression())]


def plain_loss(loss: str, mean: Any, y: Any, weights: Any) -> tuple[float, ...]:
    """The loss of a mean prediction, sample by sample; ties of errors are decided by Brier's."""
    total, brier = 0.0, 0.0
    for answer, true, weight in zip(mean, y, weights, strict=True):
        if loss in CLASS_LOSSES:
            squares = sum((answer[k] - (k == true)) ** 2 for k in range(len(answer)))
            brier += weight * squares
            total += weight * {
                "log_loss": -np.log(max(answer[true], 1e-6)),
                "error": float(np.argmax(answer) != true),
                "brier": squares,
            }[loss]  # fmt: skip
        else:
            residual = answer[0] - true
            total += weight * (residual**2 if loss == "squared_error" else abs(residual))
    whole = sum(weights)
    return (total / whole, brier / whole) if loss == "error" else (total / whole,)


def plain_search(loss: str, answers: Any, y: Any, weights: Any, n_rounds: int) -> Any:
    """Models in the order taken, up to the best round."""
    taken: list[int] = []
    found: list[tuple[tuple[float, ...], int]] = []
    for _ in range(n_rounds):
        losses = [
            plain_loss(loss, answers[[*taken, t]].mean(axis=0), y, weights)
            for t in range(len(answers))
        ]
        taken.append(min(range(len(answers)), key=lambda t: (*np.round(losses[t], 12), t)))
        found.append((losses[taken[-1]], len(taken)))
    best = min(found, key=lambda one: (*np.round(one[0], 12), one[1]))[1]
    return np.bincount(taken[:best], minlength=len(answers))


def some_answers(loss: str, seed: int, n_models: int = 5, n: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    if loss in TARGET_LOSSES:
        y = rng.normal(size=n)
        return y[:, None] + rng.normal(size=(n_models, 1, 1)) * 0.3 + rng.normal(
            size=(n_models, n, 1)
        ), y
    y = rng.integers(0, 3, n)
    answers = rng.dirichlet(np.ones(3), (n_models, n)) + 0.8 * np.eye(3)[y]
    return answers / answers.sum(axis=2, keepdims=True), y


@pytest.mark.parametrize("loss", [*CLASS_LOSSES, *TARGET_LOSSES])
def test_one_bag_is_the_plain_greedy_search(loss: Any) -> None:
    for seed in range(3):
        answers, y = some_answers(loss, seed)
        weights = np.random.default_rng(seed).integers(0, 3, len(y)).astype(float)
        found = select_greedily(answers, y, weights, loss=loss, n_rounds=8, n_bags=1).weights
        expected = plain_search(loss, answers, y, weights, 8)
        # Counts are brought to a sum of 8 rounds.
        np.testing.assert_allclose(
            found,
            np.rint(8 * expected / expected.sum()) / np.rint(8 * expected / expected.sum()).sum(),
        )


@pytest.mark.parametrize("loss", [*CLASS_LOSSES, *TARGET_LOSSES])
def test_blocks_of_rows_change_nothing(loss: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answers, y = some_answers(loss, 3)
    shares, counts = np.full(len(y), 1 / len(y)), np.array([2.0, 0, 1, 0, 0])
    whole = _SCORES[loss](answers, y, shares)(counts, np.arange(5))
    monkeypatch.setattr("orfeon.combining.greedy_selection._AT_ONCE", 40)
    np.testing.assert_allclose(_SCORES[loss](answers, y, shares)(counts, np.arange(5)), whole)


@pytest.mark.parametrize("n_bags", [1, 10])
@pytest.mark.parametrize("loss", [*CLASS_LOSSES, *TARGET_LOSSES])
def test_no_worse_than_the_best_model_on_the_samples_it_was_chosen_by(
    loss: Any, n_bags: int
) -> None:
    answers, y = some_answers(loss, 1, n_models=8, n=200)
    weights = select_greedily(answers, y, loss=loss, n_bags=n_bags).weights
    mean = np.tensordot(weights, answers, axes=1)
    alone = [plain_loss(loss, answer, y, np.ones(len(y)))[0] for answer in answers]
    assert plain_loss(loss, mean, y, np.ones(len(y)))[0] < min(alone)
    assert weights.sum() == pytest.approx(1)


def test_one_perfect_model_is_all() -> None:
    answers, y = some_answers("log_loss", 0)
    answers[2] = np.eye(3)[y]
    np.testing.assert_array_equal(
        select_greedily(answers, y, loss="log_loss").weights, [0, 0, 1, 0, 0]
    )


def test_small_shares_are_left_out() -> None:
    answers, y = some_answers("brier", 2, n_models=9)
    whole = select_greedily(answers, y, loss="brier").weights
    some = select_greedily(answers, y, loss="brier", least_share=0.12).weights
    kept = whole >= 0.12
    assert 0 < kept.sum() < (whole > 0).sum()
    np.testing.assert_allclose(some, np.where(kept, whole, 0) / whole[kept].sum())


def test_the_estimator_selects_by_out_of_fold_predictions() -> None:
    X, y = make_waveform(120, random_state=0)
    splits = list(KFold(3).split(X))
    models = [("tree", CARTClassifier(max_depth=3, random_state=0)), ("bayes", GaussianNB())]
    model = EnsembleSelectionClassifier(models, cv=splits, n_bags=1, min_weight=0, random_state=0)
    model.fit(X, y)
    answers = np.zeros((2, len(y), 3))
    for train, test in splits:
        for t, (_, one) in enumerate(models):
            answers[t, test] = one.fit(X[train], y[train]).predict_proba(X[test])
    expected = plain_search("log_loss", answers, y, np.ones(len(y)), 50)
    np.testing.assert_allclose(model.weights_, expected / expected.sum(), atol=0.02)
    np.testing.assert_allclose(
        model.out_of_fold_predictions_, np.tensordot(model.weights_, answers, axes=1)
    )
    X_test = make_waveform(500, random_state=1)[0]
    mean = sum(
        weight * one.fit(X, y).predict_proba(X_test)
        for weight, (_, one) in zip(model.weights_, models, strict=True)
    )
    np.testing.assert_allclose(model.predict_proba(X_test), mean)


def test_a_selection_beats_its_best_model() -> None:
    X, y = make_waveform(300, random_state=0)
    X_test, y_test = make_waveform(2000, random_state=1)
    model = EnsembleSelectionClassifier(MODELS, random_state=0).fit(X, y)
    losses = [log_loss(y_test, one.predict_proba(X_test)) for one in model.estimators_]
    assert log_loss(y_test, model.predict_proba(X_test)) < min(losses)
    X, y = make_friedman1(200, random_state=0)
    X_test, y_test = make_friedman1(2000, random_state=1)
    chosen = EnsembleSelectionRegressor(NUMBERS, random_state=0).fit(X, y)
    alone = [one.score(X_test, y_test) for one in chosen.estimators_]
    assert len(alone) == 2
    assert chosen.score(X_test, y_test) > max(alone)


def test_weights_are_copies_and_the_order_of_rows_does_not_matter() -> None:
    X, y = make_waveform(90, random_state=2)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    models = [("tree", CARTClassifier(max_depth=3)), ("stump", CARTClassifier(max_depth=1))]
    model = EnsembleSelectionClassifier(models, cv=3, random_state=0)
    weighted = model.fit(X, y, sample_weight=weights).predict_proba(X)
    oof = model.out_of_fold_predictions_
    assert np.isnan(oof[weights == 0]).all()
    assert not np.isnan(oof[weights > 0]).any()
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weights))
    copied = model.fit(X[order], y[order]).predict_proba(X)
    np.testing.assert_array_equal(weighted, copied)


def test_given_weights_are_used_as_they_are() -> None:
    X, y = make_waveform(60, random_state=0)
    model = EnsembleSelectionClassifier(MODELS, weights=[3, 0, 1, 0], random_state=0).fit(X, y)
    np.testing.assert_allclose(model.weights_, [0.75, 0, 0.25, 0])
    assert model.out_of_fold_predictions_ is None
    assert [name for name, one in model.named_estimators_.items() if one != "drop"] == [
        "tree", "bag",
    ]  # fmt: skip
    tree, bag = (one.predict_proba(X) for one in model.estimators_)
    np.testing.assert_allclose(model.predict_proba(X), 0.75 * tree + 0.25 * bag)


def test_threads_and_files_change_nothing(tmp_path: Any) -> None:
    X, y = make_waveform(90, random_state=0)
    X_test = make_waveform(50, random_state=1)[0]
    with joblib.parallel_config("threading"):
        one, two = (
            EnsembleSelectionClassifier(MODELS, cv=3, n_jobs=n, random_state=0).fit(X, y)
            for n in (1, 2)
        )
    np.testing.assert_array_equal(one.predict_proba(X_test), two.predict_proba(X_test))
    orfeon.save(one, tmp_path / "model.orfeon")
    loaded = orfeon.load(tmp_path / "model.orfeon")
    np.testing.assert_array_equal(one.predict_proba(X_test), loaded.predict_proba(X_test))


def test_fitted_models_are_used_as_they_are() -> None:
    X, y = make_waveform(150, random_state=0)
    bag = BaggingClassifier(n_estimators=5, random_state=0).fit(X[:75], y[:75])
    model = EnsembleSelectionClassifier(
        [("bag", FrozenEstimator(bag)), ("tree", CARTClassifier(max_depth=2))], random_state=0
    ).fit(X[75:], y[75:])
    assert model.weights_[0] > 0.5
    assert model.estimators_[0].estimator is bag


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights": [1.0]}, "a number >= 0 for each of the 4 estimators"),
        ({"weights": [1, -1, 1, 1]}, "a number >= 0"),
        ({"weights": [0, 0, 0, 0]}, "not all 0"),
        ({"loss": "squared_error"}, "'loss' parameter"),
        ({"n_rounds": 0}, "'n_rounds' parameter"),
        ({"min_weight": 0.7}, "'min_weight' parameter"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    X, y = make_waveform(30, random_state=0)
    with pytest.raises(ValueError, match=message):
        EnsembleSelectionClassifier(MODELS, **settings).fit(X, y)


def test_one_class_needs_no_selection() -> None:
    X, _ = make_waveform(20, random_state=0)
    model = EnsembleSelectionClassifier(MODELS, random_state=0).fit(X, ["same"] * 20)
    assert set(model.predict(X)) == {"same"}


def test_the_power_has_the_least_log_loss_and_a_prior() -> None:
    rng = np.random.default_rng(0)
    true = rng.dirichlet([0.3, 0.3, 0.3], 4000)
    y = np.array([rng.choice(3, p=one) for one in true])
    flat = true**0.5 / (true**0.5).sum(axis=1, keepdims=True)  # less sure than it should be
    weights = np.ones(4000)

    def by_hand(power: float, some: slice) -> float:
        shares = powered(flat[some], power)[np.arange(len(y[some])), y[some]]
        return float(-np.log(np.maximum(shares, 1e-6)).sum() + 12.5 * np.log(power) ** 2)

    for some in (slice(None), slice(20)):
        grid = np.arange(0.5, 4.0, 0.005)
        best = grid[np.argmin([by_hand(power, some) for power in grid])]
        assert best_power(flat[some], y[some], weights[some]) == pytest.approx(best, abs=0.006)
    assert best_power(flat, y, weights) == pytest.approx(2.0, abs=0.15)
    assert best_power(flat[:20], y[:20], weights[:20]) < 1.5
    copies = np.repeat(np.arange(20), 2)
    assert best_power(flat[copies], y[copies], np.ones(40)) == best_power(
        flat[:20], y[:20], 2 * np.ones(20)
    )


def test_a_mean_that_is_not_sure_enough_gets_a_power(tmp_path: Any) -> None:
    X, y = make_waveform(300, random_state=0)
    models = [("forest", RandomForestClassifier(20)), ("tree", CARTClassifier(max_depth=3))]
    plain = EnsembleSelectionClassifier(models, random_state=0).fit(X, y)
    assert plain.power_ == 1.0
    learnt = EnsembleSelectionClassifier(models, power="auto", random_state=0).fit(X, y)
    mean = plain.out_of_fold_predictions_
    assert mean is not None
    assert learnt.power_ == best_power(mean, y, np.ones(300))
    np.testing.assert_array_equal(learnt.out_of_fold_predictions_, powered(mean, learnt.power_))
    np.testing.assert_array_equal(
        learnt.predict_proba(X), powered(plain.predict_proba(X), learnt.power_)
    )
    np.testing.assert_array_equal(learnt.predict(X), plain.predict(X))
    given = EnsembleSelectionClassifier(models, weights=[1, 1], power=2, random_state=0).fit(X, y)
    orfeon.save(given, tmp_path / "m.orfeon")
    again = orfeon.load(tmp_path / "m.orfeon")
    np.testing.assert_array_equal(again.predict_proba(X), given.predict_proba(X))
    assert given.power_ == 2.0
    with pytest.raises(ValueError, match="power"):
        EnsembleSelectionClassifier(models, power=0.0).fit(X, y)
