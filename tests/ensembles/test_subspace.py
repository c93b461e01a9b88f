"""Random subspaces: which features each member may use, and that it uses no other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from tests.ensembles.twins import (
    LEVEL,
    Remembering,
    content_order,
    generators,
    table,
)
from tests.shared import assert_same_forest

from orfeon import C45Classifier, RandomSubspaceClassifier, RandomSubspaceRegressor
from orfeon.data.presorted import Table
from orfeon.ensembles.perturbation import draw_seed
from orfeon.ensembles.subspace import draw_features
from orfeon.growth import grow_forest


def features_used(forest):
    """The features that each tree tests."""
    found = []
    for first, last in zip(forest.tree_start[:-1], forest.tree_start[1:], strict=True):
        inner = forest.n_children[first:last] > 0
        found.append(set(forest.feature[first:last][inner].tolist()))
    return found


def named_columns(n_rows=30, n_features=5):
    """Rows in which every value is the number of its column."""
    return np.tile(np.arange(n_features, dtype=np.float64), (n_rows, 1))


def test_every_subset_is_equally_likely():
    subspace = RandomSubspaceClassifier(Remembering(), 1000, max_features=2, random_state=0)
    subspace.fit(named_columns(), np.arange(30) % 2)
    drawn = [tuple(member.X_[0].astype(int).tolist()) for member in subspace.estimators_]
    counts = [drawn.count(pair) for pair in combinations(range(5), 2)]
    assert sum(counts) == 1000
    assert stats.chisquare(counts).pvalue > LEVEL
    chosen = [tuple(a.tolist()) for a in subspace.estimators_features_]
    assert chosen == drawn


def test_features_are_drawn_without_replacement_and_in_order():
    rng = np.random.default_rng(0)
    for n_drawn in (1, 3, 7):
        for _ in range(50):
            drawn = draw_features(7, n_drawn, rng)
            assert len(drawn) == n_drawn
            assert (np.diff(drawn) > 0).all()
            assert 0 <= drawn.min() <= drawn.max() < 7


@pytest.mark.parametrize("base", [None, C45Classifier()])
def test_trees_use_only_their_features(base, waveform):
    X, y = waveform
    subspace = RandomSubspaceClassifier(base, 20, max_features=4, random_state=1).fit(X, y)
    used = features_used(subspace.forest_)
    for rng, mine in zip(generators(1, 20), used, strict=True):
        draw_seed(rng)
        allowed = set(np.sort(rng.permutation(21)[:4]).tolist())
        assert mine <= allowed
    assert max(len(mine) for mine in used) == 4
    assert len(set.union(*used)) > 15
    # All samples are seen: unpruned trees know them all.
    if base is None:
        assert (subspace.votes(X) == y).all()


def test_the_trees_are_those_grown_by_hand():
    X, y = table(RandomSubspaceClassifier())
    subspace = RandomSubspaceClassifier(n_estimators=8, max_features=3, random_state=2).fit(X, y)
    order = content_order(X, y)
    seeds, candidates = [], []
    for rng in generators(2, 8):
        seeds.append(draw_seed(rng))
        candidates.append(np.sort(rng.permutation(5)[:3]))
    forest = grow_forest(
        Table(X[order]), y[order], n_classes=3, seeds=np.array(seeds),
        candidates=np.array(candidates),
    )  # fmt: skip
    assert_same_forest(subspace.forest_, forest)


@pytest.mark.parametrize(
    ("max_features", "size"),
    [(1, 1), (21, 21), (0.5, 10), (0.01, 1), ("sqrt", 4), ("log2", 5), (None, 21), (1.0, 21)],
)
def test_how_many_features(max_features, size, waveform):
    X, y = waveform
    base = Remembering()
    subspace = RandomSubspaceClassifier(base, 3, max_features=max_features, random_state=0)
    subspace.fit(X, y)
    assert [member.X_.shape[1] for member in subspace.estimators_] == [size] * 3


def test_data_frames_stay_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(named_columns(), columns=list("abcde"))

    class Names(Remembering):
        def fit(self, X, y, sample_weight=None):
            self.names_ = X.columns.tolist()
            return super().fit(X, y, sample_weight)

        def predict(self, X):
            assert X.columns.tolist() == self.names_
            return super().predict(X)

    subspace = RandomSubspaceClassifier(Names(), 10, max_features=2, random_state=0)
    subspace.fit(frame, np.arange(30) % 2)
    assert subspace.predict(frame).tolist() == [0] * 30
    for member, features in zip(subspace.estimators_, subspace.estimators_features_, strict=True):
        assert member.names_ == frame.columns[features].tolist()


def test_regressors_have_subspaces_too(friedman):
    X, y = friedman
    subspace = RandomSubspaceRegressor(n_estimators=15, max_features=3, random_state=0).fit(X, y)
    used = features_used(subspace.forest_)
    assert {len(mine) for mine in used} == {3}
    assert len(set.union(*used)) == 10


@pytest.mark.parametrize("make", [RandomSubspaceClassifier, RandomSubspaceRegressor])
def test_more_features_than_there_are_is_refused(make):
    X, y = table(make())
    with pytest.raises(ValueError, match="max_features=6 is more than the 5 features"):
        make(max_features=6).fit(X, y)
    for impossible in (0, 1.5, "third", -1):
        with pytest.raises(ValueError, match=f"'max_features' parameter of {make.__name__}"):
            make(max_features=impossible).fit(X, y)
