"""The border of classes by closest opposite neighbours: by hand, against fractions, its limits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.neighbors import NearestNeighbors
from tests.oracles import editing as oracle

pytest.importorskip("imblearn")
from imblearn.under_sampling import TomekLinks

from orfeon.imbalance import BorderSelection


def kept(X, y, **parameters):
    sampler = BorderSelection(**parameters)
    X_kept, y_kept = sampler.fit_resample(np.asarray(X, dtype=float), np.asarray(y))
    rows = sampler.sample_indices_
    np.testing.assert_array_equal(X_kept, np.asarray(X, dtype=float)[rows])
    np.testing.assert_array_equal(y_kept, np.asarray(y)[rows])
    return rows.tolist()


# -- by hand ---------------------------------------------------------------------------------------

#: Class a at -5, 0 and 10, class b at 1 and 20.
LINE, CLASSES = [[-5], [0], [10], [1], [20]], ["a", "a", "a", "b", "b"]


def test_a_line_by_hand():
    # The nearest a to 1 is at 0, that to 20 at 10. The nearest b to any a is at 1.
    assert kept(LINE, CLASSES) == [1, 2, 3, 4]
    assert kept(LINE, CLASSES, sampling_strategy=["b"]) == [0, 1, 2, 3]
    assert kept(LINE, CLASSES, sampling_strategy="all") == [1, 2, 3]


def test_rounds_by_hand():
    # Once the sample at 20 is gone, that at 10 is the nearest to none.
    both = {"sampling_strategy": "all"}
    assert kept(LINE, CLASSES, n_rounds=2, **both) == [1, 3]
    for n_rounds, made in [(1, 1), (2, 2), (3, 3), (9, 3), (None, 3)]:
        sampler = BorderSelection(n_rounds=n_rounds, **both)
        sampler.fit_resample(LINE, CLASSES)
        assert sampler.n_rounds_ == made


def test_a_plane_by_hand():
    # Beside b, at (0, 0), is a at (0, 1), then (2, 0); beside c, at (9, 0), (7, 0), then (2, 0).
    X = [[0, 1], [2, 0], [7, 0], [0, 9], [0, 0], [9, 0]]
    y = list("aaaabc")
    assert kept(X, y, sampling_strategy=["a"]) == [0, 2, 4, 5]
    assert kept(X, y, sampling_strategy=["a"], n_neighbors=2) == [0, 1, 2, 4, 5]


def test_each_other_class_has_its_own_neighbours():
    # Class c is far from a, with b between; the nearest of a to it is at the border all the same.
    X, y = [[0, 3], [0, -4], [5, 0], [10, -1]], list("aabc")
    assert kept(X, y, sampling_strategy=["a"]) == [0, 1, 2, 3]
    assert kept(X[:3], y[:3], sampling_strategy=["a"]) == [0, 2]


def test_ties_go_by_row():
    X, y = [[1.0], [-1.0], [1.0], [0.0]], [0, 0, 0, 1]
    assert kept(X, y) == [0, 3]
    assert kept(X, y, n_neighbors=2) == [0, 1, 3]
    assert kept(X[::-1], y[::-1]) == [0, 1]


# -- against the oracle ----------------------------------------------------------------------------


@st.composite
def problems(draw, values):
    """Up to 14 samples of up to 3 features and classes, each class with two at least."""
    n_features, n_classes = draw(st.integers(1, 3)), draw(st.integers(2, 3))
    n = draw(st.integers(6, 14))
    X = [[draw(values) for _ in range(n_features)] for _ in range(n)]
    more = n - 2 * n_classes
    y = 2 * list(range(n_classes)) + [draw(st.integers(0, n_classes - 1)) for _ in range(more)]
    return X, y, draw(st.integers(1, 2)), draw(st.sampled_from([1, 2, None]))


@given(problems(st.integers(0, 3)))
def test_the_oracle_with_many_ties_and_copies(problem):
    X, y, n_neighbors, n_rounds = problem
    expected = oracle.border_selection(X, y, n_neighbors, set(y), n_rounds)
    found = kept(X, y, n_neighbors=n_neighbors, n_rounds=n_rounds, sampling_strategy="all")
    assert found == expected


@given(problems(st.integers(-800, 800).map(lambda value: value / 64)))
def test_the_oracle_with_any_numbers(problem):
    X, y, n_neighbors, n_rounds = problem
    expected = oracle.border_selection(X, y, n_neighbors, {0, 1}, n_rounds)
    found = kept(X, y, n_neighbors=n_neighbors, n_rounds=n_rounds, sampling_strategy=[0, 1])
    assert found == expected


@pytest.mark.parametrize("n_features", [1, 2, 16])
def test_the_oracle_on_larger_problems(n_features):
    rng = np.random.default_rng(n_features)
    X = (4 * rng.normal(size=(60, n_features))).round() / 4
    y = rng.choice(["a", "b", "c"], size=60, p=[0.7, 0.2, 0.1])
    expected = oracle.border_selection(X.tolist(), y.tolist(), 1, {"a", "b"}, 1)
    assert kept(X, y) == expected
    assert 10 < len(expected) < 50


# -- what must hold --------------------------------------------------------------------------------


def test_of_two_classes_the_larger_keeps_at_most_the_neighbours_of_the_smaller():
    X, y = make_classification(500, weights=[0.9], flip_y=0.02, random_state=0)
    before = np.bincount(y)
    for n_neighbors in (1, 3):
        after = np.bincount(y[kept(X, y, n_neighbors=n_neighbors)])
        assert after[1] == before[1]
        assert n_neighbors <= after[0] <= n_neighbors * before[1] < before[0]


def test_one_selected_class_has_its_border_after_one_round():
    X, y = make_classification(300, weights=[0.8], random_state=1)
    assert kept(X, y, n_rounds=None) == kept(X, y)


def test_rounds_only_take_away_and_end_at_a_border_of_itself():
    X, y = make_classification(120, n_classes=3, n_informative=4, random_state=2)
    stages = [
        kept(X, y, n_rounds=n_rounds, sampling_strategy="all") for n_rounds in (1, 2, 3, None)
    ]
    assert all(set(later) <= set(earlier) for earlier, later in pairwise(stages))
    assert len(stages[-1]) < len(stages[0]) < 120
    end = stages[-1]
    assert kept(X[end], y[end], sampling_strategy="all") == list(range(len(end)))
    assert set(y[end]) == {0, 1, 2}


def test_tomek_links_are_at_the_border():
    X, y = make_classification(200, flip_y=0.1, random_state=3)
    tomek = TomekLinks(sampling_strategy="all")
    tomek.fit_resample(X, y)
    linked = set(range(200)) - set(tomek.sample_indices_.tolist())
    for n_rounds in (1, None):
        found = kept(X, y, sampling_strategy="all", n_rounds=n_rounds)
        assert linked <= set(found)
    assert len(linked) >= 10


@pytest.mark.parametrize("factor", [1e-300, 0.1, 1e300])
def test_the_unit_of_the_features_does_not_matter(factor):
    X, y = make_classification(100, random_state=4)
    assert kept(X * factor, y, sampling_strategy="all") == kept(X, y, sampling_strategy="all")


def test_an_estimator_brings_its_distance_and_its_number():
    X, y = make_classification(150, weights=[0.7], random_state=5)
    plain = NearestNeighbors(n_neighbors=2, algorithm="ball_tree")
    assert kept(X, y, n_neighbors=plain) == kept(X, y, n_neighbors=2)
    manhattan = NearestNeighbors(n_neighbors=2, metric="manhattan")
    assert kept(X, y, n_neighbors=manhattan) != kept(X, y, n_neighbors=2)
    assert kept(X, y, n_jobs=2) == kept(X, y)


# -- what is refused -------------------------------------------------------------------------------


def test_more_neighbours_than_a_class_has_are_refused():
    X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], ["a", "a", "a", "b", "b"]
    with pytest.raises(ValueError, match=r"n_neighbors=4 is more than the 3 samples of class 'a'"):
        BorderSelection(n_neighbors=4).fit_resample(X, y)
    with pytest.raises(ValueError, match=r"n_neighbors=3 is more than the 2 samples of class 'b'"):
        BorderSelection(n_neighbors=3, sampling_strategy="all").fit_resample(X, y)
    assert kept(X, y, n_neighbors=3) == [0, 1, 2, 3, 4]
