"""Features of few values in regression: counted and sorted, they give the same trees."""

from __future__ import annotations

import numpy as np
import pytest
from tests.shared import assert_same_forest

from orfeon.data import Table
from orfeon.data.presorted import COUNTED, SORTED
from orfeon.growth import Growth, grow_forest


def rows(seed, n):
    """Few values, some missing; whole targets, so that many cuts are equally good."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, [2, 3, 9, 30], (n, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng


def both(monkeypatch, X, y, **arguments):
    """The forests of a table that counts and of one that sorts."""
    found = []
    for few, kind in ((64, COUNTED), (0, SORTED)):
        monkeypatch.setattr("orfeon.data.presorted.FEW_VALUES", few)
        monkeypatch.setattr("orfeon.data.presorted._MANY_VALUES", few)
        table = Table(X)
        assert (table.kind == kind).all()
        found.append(grow_forest(table, y, seeds=np.arange(4, dtype=np.uint64), **arguments))
    return found


@pytest.mark.parametrize("least", [1, 4])
@pytest.mark.parametrize("weights", [None, "counts", "fractions"])
@pytest.mark.parametrize("n", [12, 300])
def test_targets(monkeypatch, n, weights, least):
    X, rng = rows(n, n)
    w = {
        None: None, "counts": rng.integers(0, 3, n), "fractions": rng.exponential(size=n)
    }[weights]  # fmt: skip
    growth = Growth(criterion="variance", min_samples_leaf=least)
    y = np.where(rng.random(n) < 0.5, rng.integers(-2, 3, n), np.nan_to_num(X[:, 2]))
    counted, presorted = both(monkeypatch, X, y, n_classes=0, weights=w, growth=growth)
    assert len(counted.nodes) > 4
    assert_same_forest(counted, presorted)


@pytest.mark.parametrize("n", [12, 300])
def test_two_classes_of_fractional_weights(monkeypatch, n):
    X, rng = rows(n + 1, n)
    y = (np.nan_to_num(X[:, 2]) + rng.normal(size=n) > 4).astype(int)
    w = rng.exponential(size=n)
    counted, presorted = both(monkeypatch, X, y, n_classes=2, weights=w)
    assert len(counted.nodes) > 4
    assert_same_forest(counted, presorted)
