"""Files whose left-out samples, counts or leaves do not fit their members."""

from __future__ import annotations

import numpy as np
import pytest
from tests.io.test_forgeries import fields_of, forge, inline, refuse

import orfeon
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.io.arrays import read_small_array


@pytest.fixture(scope="module")
def forest():
    X, y = make_friedman1(12, random_state=0)
    settings = {"oob_score": True, "quantiles": True, "max_depth": 1, "random_state": 0}
    return orfeon.RandomForestRegressor(30, **settings).fit(X, y)


def changed(name, change):
    """A change of one array of an object."""

    def forge_it(fields):
        fields[name] = inline(change(read_small_array(fields[name]["inline"])))

    return forge_it


def too_many_bits(bits):
    bits = bits.copy()
    bits[0, -1] = 255  # of 30 members
    return bits


@pytest.mark.parametrize(
    ("kind", "forge_it", "message"),
    [
        ("LeftOutSamples", changed("left_out", too_many_bits), "left_out must fit n_members"),
        ("LeftOutSamples", changed("left_out", lambda a: a[:, :3]), "left_out must fit"),
        ("LeftOutSamples", changed("left_out", lambda a: 0 * a), "left out by no member"),
        ("LeftOutSamples", changed("weights", lambda a: a[:-1]), "one entry per sample"),
        ("LeftOutSamples", changed("weights", lambda a: 0 * a), "weights must be positive"),
        ("LeftOutSamples", changed("rows", lambda a: a + 10**6), "without an out-of-bag"),
        ("LeftOutSamples", lambda f: f.update(n_members=29), "must fit"),
        ("InBagCounts", lambda f: f.update(planes=[]), "counts must have digits"),
        ("InBagCounts", changed("rows", lambda a: a[:-1]), "planes must fit rows"),
        ("LeafSamples", changed("first_node", lambda a: 2 * a), "_leaf_samples must fit members_"),
        (
            "LeafSamples",
            lambda f: f.update(leaves=inline(np.full((30, 12), 9, "u2"))),
            "a node that does not exist",
        ),
        ("LeafSamples", changed("weights", lambda a: a[:, :-1]), "the shape of leaves"),
        ("LeafSamples", changed("targets", lambda a: a[:-1]), "one entry per sample"),
        ("LeafSamples", changed("rows", lambda a: a[::-1].copy()), "rows must be ascending"),
    ],
)
def test_what_does_not_fit_is_refused(forest, kind, forge_it, message, tmp_path):
    forged = forge(forest, tmp_path)
    forge_it(fields_of(forged, kind))
    refuse(forged, tmp_path, message)


def test_classes_that_do_not_exist_are_refused(tmp_path):
    X, y = make_waveform(15, random_state=0)
    model = orfeon.RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, y)
    forged = forge(model, tmp_path)
    changed("targets", lambda a: a + 3)(fields_of(forged, "LeftOutSamples"))
    refuse(forged, tmp_path, "a target is not in classes_")


def test_conformal_estimators_are_checked(tmp_path):
    X, y = make_friedman1(20, random_state=0)
    tree = orfeon.CARTRegressor(max_depth=2)
    model = orfeon.ConformalRegressor(tree, cv=2, random_state=0).fit(X, y)
    forged = forge(model, tmp_path)
    changed("fold_", lambda a: a + 1)(fields_of(forged, "ConformalRegressor"))
    refuse(forged, tmp_path, "fold_ must name one of models_")
    X, y = make_waveform(20, random_state=0)
    tree = orfeon.CARTClassifier(max_depth=2)
    model = orfeon.ConformalClassifier(tree, cv=2, random_state=0).fit(X, y)
    forged = forge(model, tmp_path)
    changed("_codes", lambda a: a + 3)(fields_of(forged, "ConformalClassifier"))
    refuse(forged, tmp_path, "_codes must be codes of classes_")
