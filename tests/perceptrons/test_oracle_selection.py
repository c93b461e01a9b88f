"""Selection of the training set against the document's pseudo-code."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.oracles import perceptron_selection as oracle
from tests.oracles import perceptrons as pp

from orfeon import ParallelPerceptronClassifier, PPTSSClassifier
from orfeon.perceptrons import p_delta
from orfeon.perceptrons.p_delta import PDelta, Solution
from orfeon.perceptrons.pptss import select_samples

Floats = npt.NDArray[np.float64]

ENDS = {
    "worse": "g or acc+ fell",
    "unchanged": "no sample was left out",
    "one class": "only one class would be left",
    "empty": "no sample would be left",
    "cap": "max_rounds was reached",
}


def unbalanced(seed: int) -> tuple[Floats, Floats, Floats]:
    """Extended inputs, classes of which one is rare, weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 60))
    y = np.where(np.arange(n) < max(3, n // 5), 1.0, -1.0)
    inputs = rng.normal(size=(n, 3)) + 0.8 * (y[:, None] > 0)
    inputs[:, -1] = -1.0
    weights = rng.choice([0.5, 1.0, 2.0], n)
    order = rng.permutation(n)
    return inputs[order] / np.sqrt(3), y[order], weights


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("quasi_noisy", ["all", "vote"])
def test_rounds(quasi_noisy: Any, keep: bool) -> None:
    """Both call the same training, which goes on from what it is given."""
    ends, lengths = set(), set()
    for seed in range(60):
        inputs, y, weights = unbalanced(seed)
        rng = np.random.default_rng(seed)
        first = Solution(rng.uniform(-1, 1, (3, 3)), float(rng.choice([0.01, 0.05, 0.2])))
        rule = PDelta(rate=0.02, tune_margin=seed % 3 > 0)
        n_epochs, max_rounds = int(rng.choice([1, 5, 20])), int(rng.choice([2, 20]))

        def train(rows: Any, start: Solution | None) -> Solution:
            rows = np.asarray(rows)
            begun = first if start is None else Solution(start.weights, start.margin)  # noqa: B023
            return p_delta.train(
                inputs[rows], y[rows], weights[rows], begun, rule, n_epochs,  # noqa: B023
                np.random.default_rng(0),
            ).solution  # fmt: skip

        def train_lists(
            rows: list[int], known: list[pp.Vector] | None, gamma: float | None
        ) -> tuple[list[pp.Vector], float]:
            start = None
            if known is not None and gamma is not None:
                start = Solution(np.array(known), gamma)
            end = train(rows, start)
            return end.weights.tolist(), end.margin

        expected = oracle.select(
            inputs.tolist(), y.astype(int).tolist(), train_lists, max_rounds=max_rounds,
            keep_quasi_noisy=keep, quasi_noisy=quasi_noisy, sample_weight=weights.tolist(),
        )  # fmt: skip
        found = select_samples(
            inputs, y, weights, train, keep_quasi_noisy=keep, quasi_noisy=quasi_noisy,
            max_rounds=max_rounds,
        )  # fmt: skip
        measured = [
            (len(r.rows), r.g, r.positive_accuracy, r.negative_accuracy) for r in expected.rounds
        ]
        np.testing.assert_allclose(found.rounds, measured, atol=1e-12)
        assert found.best == expected.best
        assert found.rows.tolist() == expected.rounds[expected.best].rows
        assert found.solution.weights.tolist() == expected.rounds[expected.best].weights
        assert found.solution.margin == expected.rounds[expected.best].gamma
        assert found.ended == ENDS[expected.end]
        ends.add(expected.end)
        lengths.add(len(expected.rounds))
    assert {"worse", "one class", "cap"} <= ends
    assert max(lengths) >= 3


def test_the_class_of_interest_may_be_the_first() -> None:
    """Classes and inputs turned round: the same rounds."""
    for seed in range(20):
        inputs, y, weights = unbalanced(seed)
        rng = np.random.default_rng(seed)
        first = Solution(rng.uniform(-1, 1, (3, 3)), 0.1)

        def rounds(turn: float) -> Any:
            def train(rows: Any, start: Solution | None) -> Solution:
                return p_delta.train(
                    inputs[rows], turn * y[rows], weights[rows],  # noqa: B023
                    Solution(turn * first.weights, first.margin) if start is None else start,  # noqa: B023
                    PDelta(rate=0.02), 10, np.random.default_rng(0),
                ).solution  # fmt: skip

            return select_samples(inputs, turn * y, weights, train, positive=turn)  # noqa: B023

        there, back = rounds(1.0), rounds(-1.0)
        assert there.rounds == back.rounds
        assert there.rows.tolist() == back.rows.tolist()
        assert there.ended == back.ended


@pytest.mark.parametrize("pos_label", [None, 0])
def test_the_classifier_from_its_first_round_on(pos_label: int | None) -> None:
    """The first round is drawn; all that follows is the oracle's."""
    n_rounds = set()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y = (np.arange(60) < 12).astype(int)
        X = rng.normal(size=(60, 3)) + y[:, None]
        base = ParallelPerceptronClassifier(
            max_iter=10, rule="p_delta", eta0=0.02, margin_weight=0.1
        )
        settings: dict[str, Any] = {"random_state": seed, "pos_label": pos_label}
        one = PPTSSClassifier(base, max_rounds=1, **settings).fit(X, y)
        drawn = one.estimator_.weights_[0].tolist(), float(one.estimator_.margin_[0])
        ones = [1.0] * 60
        inputs = pp.extended(pp.standardised(X.tolist(), X.tolist(), ones))
        # The oracle's +1 is the class of interest: with the other one, everything is turned round.
        turn = 1 if pos_label is None else -1
        labels = np.where(y == 1, turn, -turn).tolist()

        def train(
            rows: list[int], known: list[pp.Vector] | None, gamma: float | None
        ) -> tuple[list[pp.Vector], float]:
            if known is None or gamma is None:
                return [[turn * a for a in w] for w in drawn[0]], drawn[1]  # noqa: B023
            run = pp.run(
                known, gamma, [inputs[i] for i in rows], [labels[i] for i in rows],  # noqa: B023
                epochs=10, eta0=0.02, rule=pp.Rule(blames_zero=True),
            )  # fmt: skip
            return run.weights, run.gamma

        expected = oracle.select(inputs, labels, train, max_rounds=9)
        model = PPTSSClassifier(base, max_rounds=9, **settings).fit(X, y)
        best = expected.rounds[expected.best]
        assert model.positive_class_ == (1 if pos_label is None else 0)
        assert model.history_["n_selected"].tolist() == [len(r.rows) for r in expected.rounds]
        np.testing.assert_allclose(model.history_["geometric_mean"], [r.g for r in expected.rounds])
        np.testing.assert_allclose(
            model.history_["positive_accuracy"], [r.positive_accuracy for r in expected.rounds]
        )
        assert model.best_round_ == expected.best
        assert model.selected_.tolist() == best.rows
        np.testing.assert_allclose(
            model.estimator_.weights_[0], turn * np.array(best.weights), atol=1e-8
        )
        assert model.ended_ == ENDS[expected.end]
        n_rounds.add(len(expected.rounds))
    assert max(n_rounds) >= 3
