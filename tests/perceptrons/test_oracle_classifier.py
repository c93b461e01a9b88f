"""ParallelPerceptronClassifier against the oracle, from the table to the decision.

Drawn weights are the library's own affair, so runs are compared from where a first epoch ends: a
warm start goes on from there at the rates of a new run.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.oracles import perceptrons as oracle

from orfeon import ParallelPerceptronClassifier
from orfeon.perceptrons.categories import NAMES, categorise

Floats = npt.NDArray[np.float64]


def rule_of(model: ParallelPerceptronClassifier) -> oracle.Rule:
    return oracle.Rule(
        model.margin_weight,
        model.rule,
        model.tune_margin,
        blames_zero=True,
        tunes_on_wrong=model.rule == "auer",
    )


def table(seed: int, n_classes: int = 2) -> tuple[Floats, npt.NDArray[np.int64], Floats]:
    """A table with a constant column, copies of rows, and weights, of 0 too, of mean 1."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 30))
    X = rng.normal([0.0, 5.0, 100.0, 7.0], [1.0, 0.1, 30.0, 0.0], (n, 4))
    X[1] = X[0]
    y = rng.integers(0, n_classes, n)
    y[2 : 2 + n_classes] = np.arange(n_classes)
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], n)
    weights[2 : 2 + n_classes] = 1.0
    return X, y, weights * ((weights > 0).sum() / weights.sum())


def extended(model: ParallelPerceptronClassifier, train: Floats, X: Floats, weights: Floats) -> Any:
    """The oracle's inputs for rows of a table."""
    rows = X.tolist()
    if model.standardize:
        rows = oracle.standardised(train.tolist(), rows, weights.tolist())
    return oracle.extended(rows, divide=model.divide_inputs)


SETTINGS: list[dict[str, Any]] = [
    {},
    {"rule": "p_delta", "learning_rate": "adaptive", "eta0": 0.05},
    {"rule": "p_delta", "learning_rate": "constant", "tune_margin": False},
    {"divide_inputs": False, "margin_weight": 0.5, "margin": 0.0},
    {"tune_margin": "mean", "margin_weight": 1.4, "init": 0.3},
    {"standardize": False, "n_perceptrons": 1, "eta0": 0.001},
    {"init": "unit", "n_perceptrons": 5, "learning_rate": "adaptive", "eta0": 0.1},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_fit_from_known_weights(settings: dict[str, Any]) -> None:
    for seed in range(5):
        X, y, weights = table(seed)
        model = ParallelPerceptronClassifier(
            max_iter=1, warm_start=True, random_state=seed, **settings
        ).fit(X, y, weights)
        begun, gamma = model.weights_[0].tolist(), float(model.margin_[0])
        model.set_params(max_iter=20).fit(X, y, weights)
        inputs = extended(model, X, X, weights)
        labels = np.where(y == 1, 1, -1).tolist()
        rate = 0.01 if model.eta0 == "auto" else model.eta0
        expected = oracle.run(
            begun, gamma, inputs, labels, epochs=20, eta0=rate, schedule=model.learning_rate,
            rule=rule_of(model), sample_weight=weights.tolist(),
        )  # fmt: skip
        np.testing.assert_allclose(model.weights_[0], expected.weights, atol=1e-8)
        assert model.margin_[0] == pytest.approx(expected.gamma, abs=1e-8)
        np.testing.assert_allclose(model.error_curve_, expected.errors, atol=1e-12)
        np.testing.assert_allclose(model.energy_curve_, expected.energies, rtol=1e-7, atol=1e-8)
        assert model.energy(X, y, weights) == pytest.approx(
            oracle.energy(
                expected.weights, expected.gamma, inputs, labels, rule_of(model), weights.tolist()
            ),
            abs=1e-7,
        )
        says = [oracle.majority(expected.weights, x) for x in inputs]
        assert model.predict(X).tolist() == [int(s > 0) for s in says]


def test_new_rows_are_standardised_by_the_training_rows() -> None:
    for seed in range(5):
        X, y, weights = table(seed)
        X_new, y_new, _ = table(seed + 50)
        X[3, 0] = X_new[4, 1] = np.nan
        model = ParallelPerceptronClassifier(random_state=0).fit(X, y, weights)
        inputs = extended(model, X, X_new, weights)
        labels = np.where(y_new == 1, 1, -1)
        expected = [
            [label * oracle.dot(w, x) for w in model.weights_[0].tolist()]
            for label, x in zip(labels.tolist(), inputs, strict=True)
        ]
        np.testing.assert_allclose(model.margins(X_new, y_new), expected, atol=1e-12)


@pytest.mark.parametrize("quasi_noisy", ["all", "vote"])
@pytest.mark.parametrize("pos_label", [None, 0, 1])
def test_categories(quasi_noisy: Any, pos_label: int | None) -> None:
    names = {"quasi_noisy": "quasi-noisy"}
    found_names = set()
    for seed in range(12):
        X, y, weights = table(seed)
        model = ParallelPerceptronClassifier(
            random_state=seed, max_iter=3, margin=0.4, tune_margin=False
        ).fit(X, y, weights)
        shares = [weights[y == label].sum() for label in (0, 1)]
        positive = pos_label if pos_label is not None else int(shares[1] <= shares[0])
        expected = oracle.categories(
            model.margins(X, y).tolist(), float(model.margin_[0]), (y == positive).tolist(),
            quasi_noisy,
        )  # fmt: skip
        found = model.categories(X, y, quasi_noisy=quasi_noisy, pos_label=pos_label)
        assert found.tolist() == [names.get(name, name) for name in expected]
        found_names |= set(found)
    assert found_names == {"redundant", "noisy", "borderline", "quasi-noisy"}


@pytest.mark.parametrize("quasi_noisy", ["all", "vote"])
@pytest.mark.parametrize("n_perceptrons", [1, 3, 5])
def test_categories_on_the_margin_and_at_zero(n_perceptrons: int, quasi_noisy: Any) -> None:
    """Every row of margins of 0, gamma, and to either side of it, for a gamma of 1 and of 0."""
    steps = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0] if n_perceptrons < 5 else [-1.0, 0.0, 2.0]
    rows = list(product(steps, repeat=n_perceptrons))
    for gamma, positive in product([0.0, 1.0], [True, False]):
        found = NAMES[
            categorise(
                np.array(rows),
                gamma,
                np.full(len(rows), 1.0 if positive else -1.0),
                quasi_noisy=quasi_noisy,
            )
        ]
        expected = oracle.categories(rows, gamma, [positive] * len(rows), quasi_noisy)
        assert [name.replace("-", "_") for name in found] == expected


def test_categories_partition_the_training_set() -> None:
    """By the words of the document, each from the margins alone: every sample is in one."""
    for seed in range(10):
        X, y, weights = table(seed)
        model = ParallelPerceptronClassifier(random_state=seed, max_iter=20).fit(X, y, weights)
        margins, gamma = model.margins(X, y), model.margin_[0]
        redundant = (margins > gamma).sum(axis=1) * 2 > 3
        noisy = (margins < -gamma).sum(axis=1) * 2 > 3
        negative = y != model.minority_class_
        misled = ~redundant & ~noisy & negative & (margins < 0).all(axis=1)
        found = model.categories(X, y)
        assert not (redundant & noisy).any()
        assert (found == "redundant").tolist() == redundant.tolist()
        assert (found == "noisy").tolist() == noisy.tolist()
        assert (found == "quasi-noisy").tolist() == misled.tolist()
        rest = ~redundant & ~noisy & ~misled
        assert (found == "borderline").tolist() == rest.tolist()


# Several classes


def test_one_vs_rest() -> None:
    """The class with most votes; where some have the same, the greatest mean activation."""
    for seed in range(6):
        X, y, weights = table(seed, 4)
        model = ParallelPerceptronClassifier(
            max_iter=1, warm_start=True, random_state=seed, eta0=0.05
        ).fit(X, y, weights)
        begun = model.weights_.tolist()
        gammas = model.margin_.tolist()
        model.set_params(max_iter=10).fit(X, y, weights)
        inputs = extended(model, X, X, weights)
        runs = [
            oracle.run(
                begun[k], gammas[k], inputs, np.where(y == k, 1, -1).tolist(), epochs=10,
                eta0=0.05, rule=rule_of(model), sample_weight=weights.tolist(),
            )
            for k in range(4)
        ]  # fmt: skip
        np.testing.assert_allclose(model.weights_, [run.weights for run in runs], atol=1e-8)
        np.testing.assert_allclose(model.error_curve_, [run.errors for run in runs], atol=1e-12)
        decided = []
        for x in inputs:
            merits = [
                (oracle.sum_of_signs(r.weights, x), sum(oracle.dot(w, x) for w in r.weights))
                for r in runs
            ]
            decided.append(merits.index(max(merits)))
        assert model.predict(X).tolist() == decided


def test_one_vs_one() -> None:
    """Each pair has its own samples; the class that wins most pairs."""
    for seed in range(6):
        X, y, weights = table(seed, 4)
        model = ParallelPerceptronClassifier(
            max_iter=1, warm_start=True, random_state=seed, eta0=0.05, multi_class="one_vs_one"
        ).fit(X, y, weights)
        begun, gammas = model.weights_.tolist(), model.margin_.tolist()
        model.set_params(max_iter=10).fit(X, y, weights)
        inputs = extended(model, X, X, weights)
        wins = np.zeros((len(X), 4), int)
        for p, (a, b) in enumerate(combinations(range(4), 2)):
            its = [i for i in range(len(y)) if y[i] in (a, b)]
            run = oracle.run(
                begun[p], gammas[p], [inputs[i] for i in its],
                [1 if y[i] == b else -1 for i in its], epochs=10, eta0=0.05, rule=rule_of(model),
                sample_weight=weights[its].tolist(),
            )  # fmt: skip
            np.testing.assert_allclose(model.weights_[p], run.weights, atol=1e-8)
            assert model.margin_[p] == pytest.approx(run.gamma, abs=1e-8)
            for i, x in enumerate(inputs):
                wins[i, b if oracle.majority(run.weights, x) == 1 else a] += 1
        predicted = model.predict(X)
        assert wins[np.arange(len(X)), predicted].tolist() == wins.max(axis=1).tolist()
        unique = (wins == wins.max(axis=1, keepdims=True)).sum(axis=1) == 1
        assert unique.any()


@pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one"])
def test_shares_and_decisions_go_with_the_prediction(multi_class: Any) -> None:
    for n_classes in (2, 3, 5):
        X, y, weights = table(n_classes, n_classes)
        model = ParallelPerceptronClassifier(
            random_state=0, max_iter=10, multi_class=multi_class
        ).fit(X, y, weights)
        shares, decisions = model.predict_proba(X), model.decision_function(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        assert shares.min() > 0
        codes = model.predict(X)
        assert shares.argmax(axis=1).tolist() == codes.tolist()
        expected = decisions > 0 if n_classes == 2 else decisions.argmax(axis=1)
        assert codes.tolist() == expected.astype(int).tolist()


# Chunks


@pytest.mark.parametrize("schedule", ["invscaling", "adaptive", "constant"])
def test_chunks_are_epochs(schedule: Any) -> None:
    """The first chunk says how to standardise; each is the next epoch of one run."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(5, 9, 3)), rng.integers(0, 2, (5, 9))
        model = ParallelPerceptronClassifier(
            random_state=seed, learning_rate=schedule, eta0=0.05
        ).partial_fit(X[0], y[0], classes=[0, 1])
        now, gamma, eta = model.weights_[0].tolist(), float(model.margin_[0]), 0.05
        errors = model.error_curve_.tolist()
        for t in range(2, 6):
            model.partial_fit(X[t - 1], y[t - 1])
            chunk = (
                extended(model, X[0], X[t - 1], np.ones(9)),
                np.where(y[t - 1] == 1, 1, -1).tolist(),
            )
            errors.append(oracle.error(now, *chunk))
            eta = oracle.next_eta(schedule, 0.05, eta, t, errors)
            now, gamma = oracle.batch_epoch(now, gamma, *chunk, eta, rule_of(model))
            np.testing.assert_allclose(model.weights_[0], now, atol=1e-8)
            assert model.margin_[0] == pytest.approx(gamma, abs=1e-8)
        np.testing.assert_allclose(model.error_curve_, errors, atol=1e-12)
        assert model.n_iter_ == 5
