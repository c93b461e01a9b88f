"""Reliability, calibration error and Brier score: by hand, by loops, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from orfeon import RandomForestClassifier
from orfeon.datasets import make_ringnorm, make_waveform
from orfeon.inspection import (
    BrierDisplay,
    ReliabilityDisplay,
    brier_score,
    expected_calibration_error,
    reliability_curve,
)


def drawn(seed=0, n=500, n_classes=2):
    rng = np.random.default_rng(seed)
    p = np.round(rng.dirichlet(np.ones(n_classes), n), 2)
    p /= p.sum(axis=1, keepdims=True)
    y = (rng.random(n)[:, None] > np.cumsum(p, axis=1)).sum(axis=1).clip(0, n_classes - 1)
    return y, p


def test_groups_by_hand():
    y, p = [0, 1, 0, 1, 1, 1], [0.1, 0.1, 0.3, 0.7, 0.9, 0.9]
    found = reliability_curve(y, p, n_bins=None)
    np.testing.assert_allclose(found.probability, [0.1, 0.3, 0.7, 0.9])
    np.testing.assert_allclose(found.frequency, [0.5, 0.0, 1.0, 1.0])
    np.testing.assert_allclose(found.weight, [1 / 3, 1 / 6, 1 / 6, 1 / 3])
    error = (0.4 * 2 + 0.3 + 0.3 + 0.1 * 2) / 6
    assert found.calibration_error == pytest.approx(error)
    assert expected_calibration_error(y, p, n_bins=None) == pytest.approx(error)
    halves = reliability_curve(y, p, n_bins=2)
    np.testing.assert_allclose(halves.probability, [0.5 / 3, 2.5 / 3])
    np.testing.assert_allclose(halves.frequency, [1 / 3, 1.0])


@pytest.mark.parametrize("n_bins", [5, 10])
def test_uniform_bins_are_those_of_scikit_learn(n_bins):
    y, p = drawn()
    moved = np.clip(p[:, 1] + 0.001, 0, 1)  # not on the edge of a bin
    theirs = calibration_curve(y, moved, n_bins=n_bins, strategy="uniform")
    found = reliability_curve(y, moved, n_bins=n_bins, bins="uniform")
    np.testing.assert_allclose(found.frequency, theirs[0])
    np.testing.assert_allclose(found.probability, theirs[1])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_bins", [None, 1, 10])
def test_the_parts_make_up_the_score(n_classes, n_bins):
    y, p = drawn(n_classes=n_classes)
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    found = brier_score(y, p, n_bins=n_bins, sample_weight=weights)
    parts = found.reliability - found.resolution + found.uncertainty + found.within
    assert found.score == pytest.approx(parts, rel=1e-9)
    given = p[:, 1] if n_classes == 2 else p
    assert found.score == pytest.approx(brier_score_loss(y, given, sample_weight=weights))
    copies = np.repeat(np.arange(len(y)), weights)
    again = brier_score(y[copies], p[copies], n_bins=n_bins)
    assert again.score == pytest.approx(found.score)
    assert again.reliability == pytest.approx(found.reliability)
    if n_bins is None:
        assert found.within == 0.0
    if n_bins == 1:
        assert found.resolution == pytest.approx(0.0)


def test_true_probabilities_are_reliable_and_flat_ones_resolve_nothing():
    y, p = drawn(n=40_000)
    assert expected_calibration_error(y, p) < 0.01
    assert brier_score(y, p).reliability < 2e-4
    flat = brier_score(y, np.full(len(y), y.mean()))
    assert [flat.resolution, flat.reliability] == pytest.approx([0.0, 0.0])
    assert flat.score == pytest.approx(flat.uncertainty)


def test_several_classes_by_their_confidence_or_each():
    y = np.array(["a", "b", "c", "a"])
    p = np.array([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.5, 0.3, 0.2], [0.5, 0.25, 0.25]])
    first = reliability_curve(y, p, n_bins=None)
    np.testing.assert_allclose(first.probability, [0.5, 0.6, 0.8])
    np.testing.assert_allclose(first.frequency, [0.5, 1.0, 1.0])
    each = expected_calibration_error(y, p, kind="classes", n_bins=None)
    columns = zip("abc", p.T, strict=True)
    problems = [expected_calibration_error(y == c, own, n_bins=None) for c, own in columns]
    assert each == pytest.approx(np.mean(problems))
    turned = expected_calibration_error(y, p[:, ::-1], classes=["c", "b", "a"], kind="classes")
    assert turned == pytest.approx(expected_calibration_error(y, p, kind="classes"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"probabilities": [0.2, 1.2]}, "all from 0 to 1"),
        ({"probabilities": [0.2, 0.3, 0.4]}, "y has 2 labels and probabilities has 3 rows"),
        ({"probabilities": [[0.2, 0.3, 0.5]] * 2}, "y has 2 classes and probabilities are of 3"),
        ({"n_bins": 0}, "n_bins=0 is not allowed"),
        ({"bins": "equal"}, 'use "quantile" or "uniform"'),
        ({"kind": "all"}, 'use "confidence" or "classes"'),
        ({"classes": [0, 2]}, "y has the class 1"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        reliability_curve(**{"y": [0, 1], "probabilities": [0.2, 0.7], **given})


def test_displays_draw_their_numbers():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    X, y = make_ringnorm(300, random_state=0)
    X_new, y_new = make_ringnorm(1000, random_state=1)
    models = {
        str(how): RandomForestClassifier(40, calibrate=how, random_state=0).fit(X, y)
        for how in (None, "beta")
    }
    display = ReliabilityDisplay.from_estimator(models, X_new, y_new, n_bins=5)
    for (name, model), line in zip(models.items(), display.lines_, strict=True):
        curve = reliability_curve(y_new, model.predict_proba(X_new), n_bins=5)
        np.testing.assert_allclose(line.get_ydata(), curve.frequency)
        np.testing.assert_allclose(line.get_xdata(), curve.probability)
        assert line.get_label() == name
    display.figure_.clear()
    bars = BrierDisplay.from_estimator(models, X_new, y_new)
    lost = [bar.get_width() for bar in bars.bars_[1]]
    scores = [brier_score(y_new, one.predict_proba(X_new)) for one in models.values()]
    assert lost == pytest.approx([one.reliability for one in scores])
    assert lost[1] < 0.3 * lost[0]
    bars.figure_.clear()
    X, y = make_waveform(200, random_state=0)
    alone = RandomForestClassifier(20, random_state=0).fit(X, y)
    one = ReliabilityDisplay.from_estimator(alone, X, y, name="mine")
    assert one.lines_[0].get_label() == "mine"
    one.figure_.clear()
    with pytest.raises(ValueError, match="curves is empty"):
        ReliabilityDisplay({})
