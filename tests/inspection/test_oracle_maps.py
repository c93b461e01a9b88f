"""Maps, ensemble walks and coincidence matrices, against points, dot products and sets."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier
from tests import shared
from tests.oracles import maps as oracle
from tests.oracles import nested

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    CARTClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)
from orfeon.inspection import (
    classification_map,
    ensemble_walk,
    margin_map,
    member_coincidence,
    subset_coincidence,
)
from orfeon.inspection.maps import painted_votes
from orfeon.ordering import order_votes, search_exhaustive_votes

usual = settings(deadline=None, max_examples=shared.cases(60))
#: Thresholds lie half way between whole numbers, and so do half of the points of this grid.
BOX, SIZES = ((-1, 5), (-1, 4)), (13, 11)
ACROSS, UP = np.linspace(*BOX[0], SIZES[0]), np.linspace(*BOX[1], SIZES[1])


def lattice(seed, n_classes, n=30):
    """Samples on a small lattice, many of them alike, with classes that say little."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, 2)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 3, n)).astype(int) % n_classes
    y[:n_classes] = range(n_classes)
    return X, np.array(list("pqrst"))[y]


def trees_of(forest):
    return [nested(forest, t) for t in range(len(forest))]


def signed(decided, lead, n_classes):
    """Margins of two classes are those of the first."""
    return -lead if n_classes == 2 and decided == 1 else lead


def assert_map(found, forest, classes, weights=None, tolerance=0.0):
    n_classes = len(classes)
    assert found.classes.tolist() == list(classes)
    np.testing.assert_array_equal(found.x, ACROSS)
    np.testing.assert_array_equal(found.y, UP)
    for i, row in enumerate(oracle.vote_map(trees_of(forest), ACROSS, UP)):
        for j, votes in enumerate(row):
            decided, lead = oracle.decision_and_lead(votes, n_classes, weights)
            expected = float(signed(decided, lead, n_classes))
            assert found.margins[i, j] == pytest.approx(expected, abs=tolerance), (i, j)
            if lead > tolerance or not tolerance:
                assert found.codes[i, j] == decided, (i, j)


# -- maps ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "method", [BaggingClassifier, RandomForestClassifier, ExtraTreesClassifier]
)
def test_maps_of_forests_are_the_votes_of_trees_at_each_point(method, seed, n_classes):
    X, y = lattice(seed, n_classes)
    model = method(n_estimators=6, random_state=seed, combine="majority").fit(X, y)
    found = margin_map(model, box=BOX, grid_resolution=SIZES)
    assert found.of == "votes"
    assert_map(found, model.members_, model.classes_, tolerance=1e-15)
    decided = classification_map(model, box=BOX, grid_resolution=SIZES)
    assert decided.codes.tolist() == found.codes.tolist()
    points = np.array([[x, y] for y in UP for x in ACROSS])
    assert decided.labels.ravel().tolist() == model.predict(points).tolist()


@pytest.mark.parametrize("n_members", [1, 2, 5])
def test_maps_of_the_first_members(n_members):
    X, y = lattice(7, 3)
    bag = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    found = margin_map(bag, box=BOX, grid_resolution=SIZES, n_members=n_members)
    first = bag.members_.subset(np.arange(n_members))
    assert_map(found, first, bag.classes_, tolerance=1e-15)


@pytest.mark.filterwarnings("ignore:.* requested, because:UserWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_maps_of_boosted_trees_weigh_their_votes(seed, n_classes):
    X, y = lattice(seed, n_classes)
    tree = CARTClassifier(max_depth=2)
    model = AdaBoostClassifier(tree, n_estimators=6, random_state=seed).fit(X, y)
    weights = [Fraction(float(w)) for w in model.estimator_weights_]
    found = margin_map(model, box=BOX, grid_resolution=SIZES)
    assert_map(found, model.members_, model.classes_, weights, tolerance=1e-12)


def test_maps_of_other_estimators_are_what_they_predict():
    X, y = lattice(3, 3)
    trees = [DecisionTreeClassifier(max_depth=d, random_state=0).fit(X, y) for d in (1, 2, 3, 4)]
    found = margin_map(trees, box=BOX, grid_resolution=SIZES)
    classes = trees[0].classes_.tolist()
    for i, up in enumerate(UP):
        for j, across in enumerate(ACROSS):
            votes = [classes.index(tree.predict([[across, up]])[0]) for tree in trees]
            decided, lead = oracle.decision_and_lead(votes, 3)
            assert (found.codes[i, j], found.margins[i, j]) == (decided, float(lead))


@pytest.mark.parametrize("seed", range(4))
def test_painted_sums_are_counts_of_votes(seed):
    X, y = lattice(seed, 4)
    forest = BaggingClassifier(n_estimators=7, random_state=seed).fit(X, y).members_
    weights = np.random.default_rng(seed).integers(0, 5, 7)
    painted = painted_votes(forest, ACROSS, UP, weights)
    expected = [
        oracle.tally(votes, 4, weights.tolist())
        for row in oracle.vote_map(trees_of(forest), ACROSS, UP)
        for votes in row
    ]
    assert painted.tolist() == expected


# -- ensemble walks --------------------------------------------------------------------------------


@st.composite
def votes_and_orders(draw):
    n_classes, n_members = draw(st.integers(2, 4)), draw(st.integers(1, 6))
    n_samples = draw(st.integers(2, 9))
    labels = st.sampled_from("abcd"[:n_classes])
    vote = draw(st.sampled_from([labels, st.one_of(labels, labels, st.none())]))
    y = draw(st.lists(labels, min_size=n_samples, max_size=n_samples))
    row = st.lists(vote, min_size=n_samples, max_size=n_samples)
    votes = draw(st.lists(row, min_size=n_members, max_size=n_members))
    weights = draw(st.lists(st.integers(0, 3), min_size=n_samples, max_size=n_samples))
    order = draw(st.permutations(range(n_members)))
    return votes, y, weights, order


@usual
@given(votes_and_orders())
def test_walks_are_sums_of_vectors_seen_from_two_directions(case):
    votes, y, weights, order = case
    c = [oracle.correctness(row, y) for row in votes]
    # Samples of no weight, or that nobody votes on, are not there.
    kept = [i for i, w in enumerate(weights) if w and any(row[i] is not None for row in votes)]
    c, weights = [[row[i] for i in kept] for row in c], [weights[i] for i in kept]
    assume(kept and any(any(row) for row in c))
    ensemble = oracle.mean_vector(c)
    assume(oracle.dot(ensemble, ensemble, weights))
    lacking = oracle.reference(ensemble, weights)
    has_reference = oracle.dot(lacking, lacking, weights) != 0
    answers = np.array([["?" if v is None else v for v in row] for row in votes])
    found = ensemble_walk(answers, y=np.array(y), sample_weight=case[2], no_vote="?",
                          orders={"mine": list(order)})  # fmt: skip
    root = np.sqrt(np.array(weights, dtype=float))
    np.testing.assert_allclose(found.ensemble, root * np.array(ensemble, dtype=float), atol=1e-12)
    exist = [True, has_reference, bool(found.directions[2].any())]
    np.testing.assert_allclose(
        found.directions @ found.directions.T, np.diag(np.array(exist, dtype=float)), atol=1e-9
    )
    walks = {"mine": order, "own order": range(len(votes))}
    assert set(found.walks) == set(walks)
    for name, places in walks.items():
        path = found.walks[name]
        assert path[0].tolist() == [0.0, 0.0, 0.0]
        for point, seen in zip(oracle.partial_sums(c, list(places)), path[1:], strict=True):
            whole = [value * len(c) for value in point]  # the library does not divide by T
            axis = lacking if has_reference else ensemble
            along, up, left = oracle.coordinates(whole, ensemble, axis, weights)
            assert seen[0] == pytest.approx(along, abs=1e-8)
            assert seen[1] == pytest.approx(up if has_reference else 0.0, abs=1e-8)
            assert abs(seen[2]) <= left + 1e-7
            third = float(np.dot(root * np.array(whole, dtype=float), found.directions[2]))
            assert seen[2] == pytest.approx(third, abs=1e-8)


def test_third_direction_is_that_in_which_the_rest_differs_most():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        votes, y = rng.integers(0, 2, (6, 15)), np.zeros(15, int)
        found = ensemble_walk(votes, y=y, orders=None)
        c = [oracle.correctness(row, y.tolist()) for row in votes.tolist()]
        ensemble, ones = oracle.mean_vector(c), [1] * 15
        lacking = oracle.reference(ensemble, ones)
        rest = []
        for row in c:
            left = np.array(row, dtype=float)
            for axis in (ensemble, lacking):
                unit = np.array(axis, dtype=float) / math.sqrt(oracle.dot(axis, axis, ones))
                left = left - (left @ unit) * unit
            rest.append(left)
        greatest = np.linalg.eigvalsh(np.array(rest) @ np.array(rest).T)[-1]
        assert (found.steps[:, 2] ** 2).sum() == pytest.approx(greatest, rel=1e-9)
        for _ in range(20):
            other = rng.normal(size=6) @ np.array(rest)
            shares = [float(left @ other) for left in rest]
            assert sum(s * s for s in shares) / (other @ other) <= greatest * (1 + 1e-12)


# -- coincidence -----------------------------------------------------------------------------------


def search_of(seed, sizes="all"):
    rng = np.random.default_rng(seed)
    n_members, n_classes = int(rng.integers(2, 8)), int(rng.integers(2, 4))
    y = rng.integers(0, n_classes, 12)
    votes = np.where(
        rng.random((n_members, 12)) < 0.6, y, rng.integers(0, n_classes, (n_members, 12))
    )
    return search_exhaustive_votes(votes, y, sizes=sizes), votes, y, rng


@pytest.mark.parametrize("sizes", ["all", "odd"])
def test_coincidence_of_members_by_sets(sizes):
    for seed in range(8):
        search, votes, _, rng = search_of(seed, sizes)
        orders = [rng.permutation(len(votes)).tolist() for _ in range(3)]
        best = [[subset.tolist() for subset in search.subsets_like(one)] for one in orders]
        single = [oracle.coincidence(*given) for given in zip(best, orders, strict=True)]
        for expected, one, subsets in zip(single, orders, best, strict=True):
            found = member_coincidence(search, one)
            assert found.values.tolist() == expected
            assert found.columns.tolist() == list(range(1, len(votes) + 1))
            shares = [
                oracle.in_common(subset, one[: len(subset)]) / len(subset) for subset in subsets
            ]
            assert found.found.tolist() == pytest.approx(shares, abs=1e-15)
        together = member_coincidence([search] * 3, orders)
        means = [
            [sum(m[i][j] for m in single) / 3 for j in range(len(votes))]
            for i in range(len(search.sizes))
        ]
        np.testing.assert_allclose(together.values, means, rtol=0, atol=1e-15)


@pytest.mark.parametrize("sizes", ["all", "odd"])
def test_coincidence_of_subsets_by_sets(sizes):
    for seed in range(8):
        search, votes, y, _ = search_of(seed, sizes)
        first = [subset.tolist() for subset in search.subsets]
        greedy = order_votes(votes, y, rule="reduce_error")
        best = [subset.tolist() for subset in search.subsets_like(greedy)]
        prefixes = [greedy.order[:size].tolist() for size in range(1, len(votes) + 1)]
        for found, rows, columns in (
            (subset_coincidence(search), first, first),
            (subset_coincidence(search, greedy), best, prefixes),
            (subset_coincidence(greedy, search), prefixes, best),
        ):
            expected = [
                [oracle.in_common(a, b) / min(len(a), len(b)) for b in columns] for a in rows
            ]
            assert found.values.tolist() == expected
            assert found.sizes.tolist() == [len(a) for a in rows]
            assert found.columns.tolist() == [len(b) for b in columns]
