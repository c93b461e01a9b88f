"""Warnings before a study: features that know too much, identifiers that order, rare classes."""

import numpy as np
import pandas as pd
import pytest

from orfeon.datasets import make_friedman1, make_waveform
from orfeon.workbench.prepare import prepare

N = 400


@pytest.fixture
def noise():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"u": rng.normal(size=N), "v": rng.normal(size=N)})
    return frame.assign(side=np.where(rng.random(N) < 0.5, "left", "right"))


def notes(frame, target):
    return [
        one
        for one in prepare(frame, target).notes
        if one.startswith(("Possible leakage", "The classes"))
    ]


def test_a_feature_that_alone_predicts_the_classes_is_named(noise):
    rng = np.random.default_rng(1)
    is_left = noise["side"].to_numpy() == "left"
    told = np.where(is_left, 1.0, -1.0) + rng.uniform(-0.9, 0.9, N)
    word = np.where(is_left, "a", "b").astype(object)
    word[::100] = "c"
    assert notes(noise.assign(told=told), "side") == [
        "Possible leakage: told alone predicts the target almost perfectly. Exclude with drop "
        "(--drop) whatever is not known before the target."
    ]
    assert notes(noise.assign(told=told, word=word), "side")[0].startswith(
        "Possible leakage: told and word alone predict the "
    )
    hidden = np.where(rng.random(N) < 0.2, np.nan, told)  # known in four of five rows
    assert notes(noise.assign(hidden=hidden), "side") == []


def test_a_feature_that_alone_predicts_numbers_is_named():
    X, y = make_friedman1(N, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    assert notes(frame, "y") == []
    (note,) = notes(frame.assign(cents=np.exp(y / 10) + 1e-9 * X[:, 0]), "y")
    assert note.startswith("Possible leakage: cents alone predicts the target")


def test_strong_features_and_noise_are_not_suspected(noise):
    assert notes(noise, "side") == []
    X, y = make_waveform(N, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(21)])
    assert notes(frame.assign(wave=np.array(["a", "b", "c"])[y]), "wave") == []
    flipped = np.where(np.random.default_rng(2).random(N) < 0.1, 1 - (y > 0), y > 0)
    assert notes(frame.assign(hint=flipped + 0.5, wave=y > 0), "wave") == []


def test_an_identifier_that_orders_the_classes_is_told(noise):
    ordered = noise.sort_values("side").reset_index(drop=True).assign(id=range(N))
    (note,) = notes(ordered, "side")
    assert note.startswith("Possible leakage: the row identifier id orders the target")
    assert notes(noise.assign(id=range(N)), "side") == []


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ([0.05, 0.95], "a is 5.0% of the rows, and always predicting b errs on 5.0%; judge by "
         "metric (--metric) average_precision or auc, or by costs (--cost)."),
        ([0.02, 0.49, 0.49], "a is 2.0% of the rows, and always predicting b errs on 51.0%; judge "
         "by metric (--metric) balanced_error or log_loss."),
        ([0.15, 0.85], None),
        ([0.2, 0.4, 0.4], None),
    ],
)  # fmt: skip
def test_rare_classes_are_told_with_the_metric_to_use(shares, words):
    counts = (np.array(shares) * N).round().astype(int)
    y = np.repeat(list("abc")[: len(shares)], counts)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"u": rng.normal(size=len(y)), "v": rng.normal(size=len(y))})
    expected = [] if words is None else [f"The classes are imbalanced: {words}"]
    assert notes(frame.assign(y=y), "y") == expected
