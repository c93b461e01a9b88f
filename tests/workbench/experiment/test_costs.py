"""Decisions by costs: thresholds that a fold does not choose for itself, stored with the model."""

import numpy as np
import pandas as pd
import pytest

import orfeon
from orfeon.datasets import make_waveform
from orfeon.errors import UserError
from orfeon.workbench import run_study
from orfeon.workbench.experiment.costs import cost_matrix, decide, read_cost_file
from orfeon.workbench.experiment.thresholds import Costs

TINY = {"methods": ["baseline", "cart", "bagging", "selection"], "members": 9, "repetitions": 1}


@pytest.fixture(scope="module")
def waves():
    X, y = make_waveform(240, random_state=0)
    frame = pd.DataFrame(X[:, 5:12], columns=[f"x{j}" for j in range(7)])
    return frame.assign(wave=y)


def folds_of(rng, n_folds=4, n_rows=30):
    found = {}
    for unit in range(n_folds):
        share = rng.random(n_rows).round(1)
        codes = (rng.random(n_rows) < share).astype(int)
        found[unit] = (codes, np.column_stack([1 - share, share]), rng.random(n_rows) + 0.1)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_each_fold_is_decided_by_the_cheapest_threshold_of_the_others(seed):
    folds = folds_of(np.random.default_rng(seed))
    matrix = np.array([[0.0, 1.0], [4.0, 0.0]])
    others = {unit: [one for one in folds if one != unit] for unit in folds}
    found = decide(matrix, 1, ["no", "yes"], folds, others)

    def cost(units, threshold):
        total = 0.0
        for unit in units:
            for code, shares, weight in zip(*folds[unit], strict=True):
                total += weight * matrix[code, int(shares[1] >= threshold)]
        return total

    tried = np.arange(-0.05, 1.2, 0.1)
    total = 0.0
    for unit in folds:
        best = min(tried, key=lambda t: round(cost(others[unit], t), 9))
        total += cost([unit], best)
    whole = sum(weights.sum() for *_, weights in folds.values())
    assert found.cost == pytest.approx(total / whole)
    assert found.usual_cost == pytest.approx(cost(folds, 0.50001) / whole)
    assert cost(folds, found.threshold) == pytest.approx(min(cost(folds, t) for t in tried))


def test_the_delivered_model_decides_by_the_threshold_and_is_saved_with_it(waves, tmp_path):
    frame = waves.assign(wave=np.where(waves["wave"] == 0, "rare", "usual"))
    found = run_study(frame, "wave", costs=Costs(10.0, 1.0), **TINY)
    decision = found.decision
    assert found.metric == "log_loss"
    assert decision.positive == "rare"
    assert decision.threshold < 0.5
    assert decision.cost < decision.usual_cost
    X = found.preparation.transform(frame)
    share = found.model.predict_proba(X)[:, 0]
    answers = found.model.predict(X)
    np.testing.assert_array_equal(answers == "rare", share > decision.threshold)
    orfeon.save(found.model, tmp_path / "m.orfeon")
    assert (orfeon.load(tmp_path / "m.orfeon").predict(X) == answers).all()
    assert any(note.startswith("It predicts rare at a probability of ") for note in found.notes)
    pruned = run_study(frame, "wave", costs=Costs(10.0, 1.0), **{**TINY, "methods": ["bagging"]})
    assert pruned.decision.threshold < 0.5


def test_several_classes_are_decided_by_a_file_of_costs(waves, tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("true,0,1,2\n0,0,1,1\n1,9,0,1\n2,1,1,0\n")
    costs = read_cost_file(path)
    assert costs["1"] == {"0": 9.0, "1": 0.0, "2": 1.0}
    found = run_study(waves, "wave", costs=costs, **TINY)
    matrix = np.array([[0, 1, 1], [9, 0, 1], [1, 1, 0]])
    X = found.preparation.transform(waves)
    expected = (found.model.predict_proba(X) @ matrix).argmin(axis=1)
    np.testing.assert_array_equal(found.model.predict(X), expected)
    assert found.decision.threshold is None
    assert found.decision.cost <= found.decision.usual_cost
    (tmp_path / "odd.csv").write_text("true,0\n0,x\n")
    for bad in (tmp_path / "odd.csv", tmp_path / "none.csv"):
        with pytest.raises(UserError, match=r"^costs: must be fn=NUMBER,fp=NUMBER or a CSV file"):
            read_cost_file(bad)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Costs(1.0, 2.0), "fn and fp need two classes, not 3"),
        ({"a": {"a": 0.0}}, "must have a row and a column for each class: a, b, c"),
        ({t: dict.fromkeys("abc", 1.0) for t in "abc"}, "must be 0 on the diagonal"),
        ({t: {p: -float(p != t) for p in "abc"} for t in "abc"}, "0 or more elsewhere"),
        ({t: dict.fromkeys("abc", 0.0) for t in "abc"}, "greater than 0 for some mistake"),
    ],
)
def test_costs_that_mean_nothing_are_named(given, words):
    with pytest.raises(UserError, match=rf"^costs: .*{words}"):
        cost_matrix(given, ["a", "b", "c"], np.array([0, 1, 2]))


def test_what_does_not_go_with_costs_is_named(waves):
    frame = waves.assign(wave=waves["wave"] == 0)
    for options in ({"design": "splits"}, {"deployable": "onnx", "methods": ["cart"]}):
        with pytest.raises(
            UserError, match=r"^costs: must be None with random splits, and for ONNX"
        ):
            run_study(frame, "wave", costs=Costs(2.0, 1.0), **{**TINY, **options})
    with pytest.raises(UserError, match=r"^costs: must be None in regression"):
        run_study(waves, "x0", costs=Costs(2.0, 1.0), methods=["cart"])
