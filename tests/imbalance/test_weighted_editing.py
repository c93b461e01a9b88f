"""Wilson's editing by distances weighted by class: against fractions, by hand, and its limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.neighbors import NearestNeighbors
from tests.oracles import editing as oracle

pytest.importorskip("imblearn")
from imblearn.under_sampling import EditedNearestNeighbours

from orfeon.imbalance import WeightedDistanceEditing

# In problems of a few samples a class is easily lost; that it says so has a test.
ignore_lost_classes = pytest.mark.filterwarnings("ignore:.*keeps no sample:UserWarning")


def kept(X, y, **parameters):
    sampler = WeightedDistanceEditing(**parameters)
    X_kept, y_kept = sampler.fit_resample(np.asarray(X, dtype=float), np.asarray(y))
    rows = sampler.sample_indices_
    np.testing.assert_array_equal(X_kept, np.asarray(X, dtype=float)[rows])
    np.testing.assert_array_equal(y_kept, np.asarray(y)[rows])
    return rows.tolist()


# -- by hand ---------------------------------------------------------------------------------------

#: Six common samples, at 0 to 4 and at 10, and two rare ones, at 5 and 6.
LINE = [[0], [1], [2], [3], [4], [5], [6], [10]]
CLASSES = ["common"] * 5 + ["rare"] * 2 + ["common"]


def test_a_line_by_hand():
    # Distances to common samples count 3/4, to rare ones 1/4. The sample at 4 has beside it 5
    # (0.25), 6 (0.5) and 3 (0.75): two of three are rare. That at 10: 6 (1), 5 (1.25), 4 (4.5).
    # That at 3: 5 (0.5), then 2, 4 and 6 (0.75), of which the first two rows count: it stays.
    assert kept(LINE, CLASSES) == [0, 1, 2, 3, 5, 6]


def test_the_weights_make_the_difference():
    # With 6.5 for 6, that no tie decides. By plain distances the sample at 4 has beside it 3, 5
    # and 2, and stays; by weighted ones 5 (0.25), 6.5 (0.625) and 3 (0.75).
    X = np.where(np.array(LINE) == 6, 6.5, LINE)
    plain = EditedNearestNeighbours(kind_sel="mode", n_neighbors=3)
    plain.fit_resample(X, (np.array(CLASSES) == "rare").astype(int))
    assert sorted(plain.sample_indices_.tolist()) == [0, 1, 2, 3, 4, 5, 6]
    assert kept(X, CLASSES) == [0, 1, 2, 3, 5, 6]


def test_the_weights_are_the_published_ones():
    sampler = WeightedDistanceEditing()
    sampler.fit_resample(np.hstack([LINE, np.zeros((8, 2))]), CLASSES)
    assert sampler.distance_weights_ == {
        "common": pytest.approx(0.75 ** (1 / 3)),
        "rare": pytest.approx(0.25 ** (1 / 3)),
    }


@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_the_root_is_that_of_the_number_of_features(offset):
    # Four common samples and one rare: with two features a rare one counts as half as far. The
    # sample at (1, 0) is 1 from a common one and 2 from the rare one: just a tie.
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [8.0, 0.0], [8.0, 1.0]])
    y = np.array([0, 0, 1, 0, 0])
    nearer, further = X - [[0, 0], [0, 0], [0.01, 0], [0, 0], [0, 0]], X.copy()
    further[2, 0] += 0.01
    assert kept(nearer + offset, y, n_neighbors=1) == [0, 2, 3, 4]
    assert kept(further + offset, y, n_neighbors=1) == [0, 1, 2, 3, 4]
    # In the tie the first row decides.
    assert kept(X + offset, y, n_neighbors=1) == [0, 1, 2, 3, 4]
    assert kept(X[::-1] + offset, y[::-1], n_neighbors=1) == [0, 1, 2, 4]


@ignore_lost_classes
def test_a_tie_of_votes_is_for_the_nearest():
    # Three classes of two samples each: one vote each for the sample at 0.
    X = [[0.0], [3.0], [1.0], [20.0], [2.0], [21.0]]
    y = ["a", "a", "b", "b", "c", "c"]
    assert 0 not in kept(X, y, sampling_strategy=["a"])
    X[1] = [0.5]
    assert 0 in kept(X, y, sampling_strategy=["a"])


def test_decisions_are_made_with_all_samples():
    # The samples at 0 and 1 get each other wrong. Both go, though without that at 0 the nearest to
    # that at 1 would be of its class.
    X = [[0.0], [1.0], [2.5], [3.0], [10.0], [11.0]]
    y = ["a", "b", "b", "b", "a", "a"]
    assert kept(X, y, n_neighbors=1, sampling_strategy="all") == [2, 3, 4, 5]


# -- against the oracle ----------------------------------------------------------------------------


@st.composite
def problems(draw, values):
    """Up to 14 samples of up to 3 features and classes, each class with one at least."""
    n_features, n_classes = draw(st.integers(1, 3)), draw(st.integers(2, 3))
    n = draw(st.integers(5, 14))
    X = [[draw(values) for _ in range(n_features)] for _ in range(n)]
    y = list(range(n_classes)) + [draw(st.integers(0, n_classes - 1)) for _ in range(n - n_classes)]
    return X, y, draw(st.integers(1, 4))


@ignore_lost_classes
@given(problems(st.integers(0, 3)))
def test_the_oracle_with_many_ties_and_copies(problem):
    X, y, n_neighbors = problem
    expected = oracle.weighted_editing(X, y, n_neighbors, set(y))
    assert kept(X, y, n_neighbors=n_neighbors, sampling_strategy="all") == expected


@ignore_lost_classes
@given(problems(st.integers(-800, 800).map(lambda value: value / 64)))
def test_the_oracle_with_any_numbers(problem):
    X, y, n_neighbors = problem
    expected = oracle.weighted_editing(X, y, n_neighbors, {1})
    assert kept(X, y, n_neighbors=n_neighbors, sampling_strategy=[1]) == expected


@ignore_lost_classes
@pytest.mark.parametrize("n_features", [1, 2, 5, 16])
def test_the_oracle_on_larger_problems(n_features):
    rng = np.random.default_rng(n_features)
    X = (4 * rng.normal(size=(60, n_features))).round() / 4
    y = rng.choice(["a", "b", "c"], size=60, p=[0.7, 0.2, 0.1])
    expected = oracle.weighted_editing(X.tolist(), y.tolist(), 3, {"a", "b"})
    assert kept(X, y) == expected
    assert 10 < len(expected) < 60


@ignore_lost_classes
@pytest.mark.parametrize("n_features", [3, 16])
@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_the_oracle_with_copies_far_from_the_origin(n_features, offset):
    # By |a|^2 + |b|^2 - 2 a.b copies would be about 1e-5 apart, and more so some than others.
    rng = np.random.default_rng(n_features)
    X = rng.normal(offset, 1.0, size=(10, n_features))[rng.integers(0, 10, 40)]
    y = rng.choice(["a", "b", "c"], size=40, p=[0.6, 0.25, 0.15])
    expected = oracle.weighted_editing(X.tolist(), y.tolist(), 3, {"a", "b", "c"})
    assert kept(X, y, sampling_strategy="all") == expected
    sampler = WeightedDistanceEditing(sampling_strategy="all")
    sampler.fit_resample(sparse.csr_array(X), y)
    assert sampler.sample_indices_.tolist() == expected
    assert 10 < len(expected) < 40


# -- what must hold --------------------------------------------------------------------------------


def test_classes_of_one_size_are_edited_as_wilson_does():
    X, _ = make_classification(200, n_features=4, n_redundant=0, flip_y=0.2, random_state=0)
    y = np.arange(200) % 2
    wilson = EditedNearestNeighbours(sampling_strategy="all", kind_sel="mode", n_neighbors=5)
    wilson.fit_resample(X, y)
    expected = sorted(wilson.sample_indices_.tolist())
    assert kept(X, y, sampling_strategy="all", n_neighbors=5) == expected
    assert 50 < len(expected) < 150


def test_more_of_the_majority_goes_than_by_plain_distances_and_less_of_the_minority():
    X, y = make_classification(
        400, n_features=5, weights=[0.9], flip_y=0.05, class_sep=0.5, random_state=1
    )
    plain = EditedNearestNeighbours(sampling_strategy="all", kind_sel="mode", n_neighbors=3)
    plain.fit_resample(X, y)
    by_plain = np.bincount(y[plain.sample_indices_])
    by_weighted = np.bincount(y[kept(X, y, sampling_strategy="all")])
    assert by_weighted[0] < by_plain[0] < np.bincount(y)[0]
    assert by_plain[1] < by_weighted[1] <= np.bincount(y)[1]


def test_only_the_chosen_classes_lose_samples():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), np.repeat(["a", "b", "c"], [70, 30, 20])
    before = {"a": 70, "b": 30, "c": 20}
    chosen = {
        "auto": "ab", "not minority": "ab", "majority": "a", "not majority": "bc", "all": "abc",
    }  # fmt: skip
    for strategy, classes in [*chosen.items(), (["c"], "c")]:
        after = y[kept(X, y, sampling_strategy=strategy)]
        lost = {label for label, n in before.items() if np.count_nonzero(after == label) < n}
        assert lost == set(classes)


def test_the_order_of_the_samples_does_not_matter_without_ties():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(90, 3)), (rng.random(90) < 0.2).astype(int)
    shuffled = rng.permutation(90)
    again = kept(X[shuffled], y[shuffled], sampling_strategy="all")
    assert sorted(shuffled[again].tolist()) == kept(X, y, sampling_strategy="all")


@pytest.mark.parametrize("factor", [1e-300, 1e-150, 0.1, 1e150, 1e300])
def test_the_unit_of_the_features_does_not_matter(factor):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 2)), (rng.random(60) < 0.25).astype(int)
    expected = kept(X, y)
    assert kept(X * factor, y) == expected
    assert len(expected) < 60


def test_an_estimator_brings_its_distance():
    X, y = make_classification(80, weights=[0.8], flip_y=0.1, random_state=3)
    manhattan = kept(X, y, n_neighbors=NearestNeighbors(n_neighbors=4, metric="manhattan"))
    assert manhattan != kept(X, y)
    assert kept(X, y, n_neighbors=NearestNeighbors(n_neighbors=4, metric="minkowski", p=1)) == (
        manhattan
    )
    brute = NearestNeighbors(n_neighbors=4, algorithm="brute")
    assert kept(X, y, n_neighbors=brute) == kept(X, y)
    assert kept(X, y, n_jobs=2) == kept(X, y)
    assert not hasattr(brute, "n_samples_fit_")


@ignore_lost_classes
def test_copies_without_end_are_searched_by_row():
    X, y = np.zeros((20_000, 2)), np.repeat([0, 1], [15_000, 5_000])
    # All are equally near, so that the first three rows decide about all: they are of class 0.
    assert kept(X, y) == list(range(20_000))
    assert kept(X, y, sampling_strategy=[1]) == list(range(15_000))


# -- what is refused -------------------------------------------------------------------------------


def test_more_neighbours_than_there_are_samples_are_refused():
    X, y = [[0.0], [1.0], [2.0]], [0, 0, 1]
    with pytest.raises(
        ValueError, match=r"n_neighbors=3 needs at least 4 samples, but X has only 3"
    ):
        WeightedDistanceEditing().fit_resample(X, y)
    assert kept(X, y, n_neighbors=2) == [0, 2]
    with pytest.raises(ValueError, match="estimator of 1 neighbour, which is the sample itself"):
        WeightedDistanceEditing(n_neighbors=NearestNeighbors(n_neighbors=1)).fit_resample(X, y)


def test_a_class_that_is_lost_is_told():
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "b", "b", "a"]
    sampler = WeightedDistanceEditing(n_neighbors=1, sampling_strategy=["a"])
    with pytest.warns(UserWarning, match="keeps no sample of 1 of the classes: 'a'"):
        assert sampler.fit_resample(X, y) == ([[1.0], [2.0]], ["b", "b"])
