"""Members that err together are grouped, and one of each group is kept."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from tests import shared
from tests.oracles.clustering import clustering
from tests.oracles.ordering import Case, arrays, error, random_case

from orfeon import BaggingClassifier, CARTClassifier
from orfeon.datasets import make_waveform
from orfeon.members.votes import read_selection
from orfeon.ordering import order, order_votes
from orfeon.ordering.clustering import (
    Clustering,
    error_distances,
    join_groups,
    representatives,
)
from orfeon.ordering.rule import as_rule

#: Few random votes may look like codes.
pytestmark = pytest.mark.filterwarnings("ignore:votes holds 0, which is not in y")


def random_votes(rng, n_members=30, n_samples=400, n_classes=3):
    """Members of different accuracies, whose distances are hardly ever tied."""
    y = rng.integers(0, n_classes, n_samples)
    votes = rng.integers(0, n_classes, (n_members, n_samples))
    right = rng.random(votes.shape) < rng.uniform(0.2, 0.7, (n_members, 1))
    return np.where(right, y, votes), y


def those_voted_on(case: Case) -> Case:
    """A case without the samples that nobody votes on, and those of no weight."""
    chosen = [
        i for i in case.samples
        if case.weights[i] and any(votes[i] is not None for votes in case.answers)
    ]  # fmt: skip
    return replace(
        case,
        answers=[[votes[i] for i in chosen] for votes in case.answers],
        y=[case.y[i] for i in chosen],
        weights=[case.weights[i] for i in chosen],
    )


# -- by hand ---------------------------------------------------------------------------------------


def test_the_distance_is_the_share_of_samples_not_missed_together():
    votes = [[1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [0, 0, 0, 0, 2]]
    distance, scale = error_distances(read_selection(votes, [0, 0, 0, 0, 0]))
    np.testing.assert_allclose(
        distance / scale, [[0.4, 0.6, 1.0], [0.6, 0.4, 1.0], [1.0, 1.0, 0.8]], atol=1e-15
    )
    distance, scale = error_distances(read_selection(votes, [0] * 5, [6, 1, 1, 1, 1]))
    assert distance[0, 1] / scale == pytest.approx(0.3, abs=1e-15)


def test_members_that_do_not_vote_are_compared_where_both_do():
    votes = [[1, 1, -1, 0, -1], [1, 0, 1, -1, -1], [-1, -1, -1, -1, 1]]
    distance, scale = error_distances(read_selection(votes, [0] * 5, no_vote=-1))
    assert distance[0, 1] / scale == pytest.approx(1 - 1 / 2, abs=1e-12)
    assert distance[0, 2] / scale == distance[1, 2] / scale == 1.0


def test_two_families_of_members_leave_one_of_each():
    """0, 1, 2 err on the first half of the samples, 3 and 4 on the other."""
    votes = np.zeros((5, 12), np.int64)
    for member, missed in enumerate(([0, 1, 2, 3], [0, 1, 2], [0, 1, 2, 3, 6], [6, 7, 8], [6, 7])):
        votes[member, missed] = 1
    found = order_votes(votes, np.zeros(12, np.int64), rule="clustering")
    # 0 and 2 miss four together and are joined first; of the two, 0 misses none with 3 and 4.
    # 1 comes to them next; it is as far from 3 and 4 as 0, and errs less. Then 3 joins 4.
    assert [kept.tolist() for kept in found.subsets] == [
        [4], [1, 4], [1, 3, 4], [0, 1, 3, 4], [0, 1, 2, 3, 4],
    ]  # fmt: skip
    assert found.order.tolist() == [4, 1, 3, 0, 2]
    np.testing.assert_allclose(found.criterion, [1, 1, 10 / 12, 9 / 12, 8 / 12], atol=1e-15)
    np.testing.assert_allclose(found.error_curve, np.array([2, 0, 2, 0, 4]) / 12, atol=1e-15)
    assert found.own_size == 2
    assert found.members("rule").tolist() == [1, 4]


def test_a_tied_distance_joins_the_first_pair():
    joined, heights = join_groups(np.full((4, 4), 3) - 3 * np.eye(4, dtype=np.int64))
    assert joined.tolist() == [[0, 1], [0, 2], [0, 3]]
    assert heights.tolist() == [3, 3, 3]
    # Two nearest pairs: the one with the lower first member; then with the lower second.
    distance = np.array([[0, 9, 9, 2], [9, 0, 2, 9], [9, 2, 0, 9], [2, 9, 9, 0]])
    assert join_groups(distance)[0].tolist() == [[0, 3], [1, 2], [0, 1]]


def test_a_tie_within_a_group_takes_the_more_accurate_then_the_first():
    distance = np.array([[0, 1, 7, 7], [1, 0, 7, 7], [7, 7, 0, 2], [7, 7, 2, 0]])
    joined, _ = join_groups(distance)
    kept = representatives(distance, joined, np.array([0.4, 0.3, 0.2, 0.2]))
    assert [members.tolist() for members in kept] == [[2], [1, 2], [1, 2, 3], [0, 1, 2, 3]]


def test_rounding_does_not_decide_a_tie_between_shares():
    """To the others, 0 has the distances 2/3, 2/3, 2/3 and 1 has 0, 1, 1."""
    votes = np.full((5, 21), -1)
    votes[0, :10] = [1, 1, 0, 0, 1, 0, 0, 1, 0, 0]
    votes[1, [0, 10]], votes[1, 11:] = 1, 0
    votes[2, [1, 2, 3, 10]] = [1, 0, 0, 1]
    votes[3, [4, 5, 6, 11]] = [1, 0, 0, 0]
    votes[4, [7, 8, 9, 12]] = [1, 0, 0, 0]
    selection = read_selection(votes, np.zeros(21, np.int64), no_vote=-1)
    distance, scale = error_distances(selection)
    np.testing.assert_allclose(distance[:2, 2:] / scale, [[2 / 3] * 3, [0, 1, 1]], atol=1e-12)
    assert distance[0, 2:].sum() != distance[1, 2:].sum()  # but for rounding they are equal
    found = Clustering().arrange(selection)
    assert found.subsets[3].tolist() == [1, 2, 3, 4]  # of the group of 0 and 1 the more accurate
    joined, _ = join_groups(distance)
    exact = representatives(distance, joined, np.array([0.4, 0.2, 0.5, 0.2, 0.2]))
    assert exact[3].tolist() == [0, 2, 3, 4]


def test_one_member_is_kept():
    found = order_votes([[0, 1, 1]], [0, 1, 0], rule="clustering")
    assert (found.order.tolist(), found.own_size, found.criterion.tolist()) == ([0], 1, [1.0])


# -- the oracle ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [{}, {"weighted": True}, {"abstaining": 0.4}, {"weighted": True, "abstaining": 0.7}],
    ids=str,
)
def test_the_oracle_keeps_the_same_members(how):
    rng = np.random.default_rng(1)
    sizes = []
    for _ in range(shared.cases(240)):
        case = those_voted_on(random_case(rng, **how))
        if not case.y:
            continue
        votes, y, weights = arrays(case)
        found = order_votes(votes, y, rule="clustering", sample_weight=weights, no_vote=-1)
        expected = clustering(case)
        assert [kept.tolist() for kept in found.subsets] == expected.subsets
        assert found.order.tolist() == expected.order
        assert found.own_size == expected.own_size
        np.testing.assert_allclose(
            found.criterion, [float(c) for c in expected.criterion], atol=1e-12
        )
        curve = [float(error(case, kept)) for kept in expected.subsets]
        np.testing.assert_allclose(found.error_curve, curve, atol=1e-12)
        sizes.append(expected.own_size)
    assert len(set(sizes)) > 3


def test_groups_are_those_of_scipy_where_no_distances_are_tied():
    rng = np.random.default_rng(2)
    place = rng.normal(size=(40, 3))
    apart = np.linalg.norm(place - place[:, None], axis=2)
    joined, heights = join_groups(np.rint(apart * 1e12).astype(np.int64))
    tree = linkage(squareform(apart, checks=False), method="complete")
    np.testing.assert_allclose(heights / 1e12, tree[:, 2], atol=1e-11)
    group = np.arange(40)
    for n_groups, (a, b) in zip(range(39, 0, -1), joined, strict=True):
        group[group == b] = a
        theirs = fcluster(tree, n_groups, criterion="maxclust")
        assert len(set(zip(group, theirs, strict=True))) == n_groups == len(set(theirs))


# -- what must hold --------------------------------------------------------------------------------


def test_subsets_have_their_sizes_and_the_last_is_the_whole_ensemble():
    votes, y = random_votes(np.random.default_rng(3))
    found = order_votes(votes, y, rule="clustering")
    assert [len(set(kept.tolist())) for kept in found.subsets] == list(range(1, 31))
    assert sorted(found.order.tolist()) == list(range(30))
    counts = np.stack([(votes == c).sum(axis=0) for c in range(3)])
    assert found.error_curve[-1] == np.mean(np.argmax(counts, axis=0) != y)
    assert found.error_curve[found.own_size - 1] == found.error_curve.min()
    assert (found.error_curve[: found.own_size - 1] > found.error_curve.min()).all()
    assert (np.diff(found.criterion) <= 0).all()
    # Not nested: that is why there are subsets at all.
    assert any(set(a.tolist()) - set(b.tolist()) for a, b in pairwise(found.subsets))


def test_the_first_is_the_most_accurate():
    votes, y = random_votes(np.random.default_rng(4))
    first = order_votes(votes, y, rule="clustering").order[0]
    assert first == np.argmin((votes != y).mean(axis=1))


@pytest.mark.parametrize("abstaining", [False, True])
def test_the_order_of_the_samples_and_copies_do_not_matter(abstaining):
    rng = np.random.default_rng(5)
    for _ in range(shared.cases(20)):
        votes, y = random_votes(rng, n_members=12, n_samples=20)
        if abstaining:
            votes[rng.random(votes.shape) < 0.3] = -1
        weights = rng.integers(0, 4, 20)
        weights[0] = 1
        expected = order_votes(votes, y, rule="clustering", sample_weight=weights, no_vote=-1)
        copies = rng.permutation(np.repeat(np.arange(20), weights))
        moved = rng.permutation(20)
        others = (
            order_votes(votes[:, copies], y[copies], rule="clustering", no_vote=-1),
            order_votes(
                votes[:, moved], y[moved], rule="clustering", sample_weight=0.1 * weights[moved],
                no_vote=-1,
            ),
        )  # fmt: skip
        for other in others:
            assert [kept.tolist() for kept in other.subsets] == [
                kept.tolist() for kept in expected.subsets
            ]
            assert other.own_size == expected.own_size
            np.testing.assert_array_equal(other.criterion, expected.criterion)


def test_weights_of_members_count_in_the_size_and_not_in_the_groups():
    votes, y = random_votes(np.random.default_rng(6), n_members=9, n_samples=60)
    plain = Clustering().arrange(read_selection(votes, y))
    weights = np.full(9, 0.01)
    weights[plain.subsets[0][0]] = 1.0  # it decides wherever it votes
    heavy = Clustering().arrange(read_selection(votes, y, member_weights=weights))
    assert [kept.tolist() for kept in heavy.subsets] == [kept.tolist() for kept in plain.subsets]
    assert heavy.own_size == 1 < plain.own_size


def test_a_few_of_a_bag_of_pruned_trees_vote_about_as_well_as_all():
    X, y = make_waveform(300, random_state=0)
    X_test, y_test = make_waveform(2000, random_state=1)
    bag = BaggingClassifier(CARTClassifier(pruning="cv"), 60, random_state=0).fit(X, y)
    kept = order(bag, X, y, rule="clustering").members("rule")
    votes = bag.votes(X_test)
    answers = np.stack([(votes[kept] == c).sum(axis=0) for c in range(3)])
    vote, whole = np.mean(np.argmax(answers, axis=0) != y_test), 1 - bag.score(X_test, y_test)
    assert len(kept) <= 15
    assert vote < whole + 0.02
    assert vote < (votes != y_test).mean() - 0.05


# -- bad input -------------------------------------------------------------------------------------


def test_numbers_are_refused():
    with pytest.raises(ValueError, match="rule='clustering' needs classes, and these members"):
        order_votes([[0.5, 1.5], [0.7, 1.1]], [0.4, 1.6], rule="clustering")


def test_there_are_no_options():
    with pytest.raises(TypeError, match="rule='clustering' has no option 'linkage'"):
        as_rule("clustering", linkage="single")
    assert as_rule("clustering") == Clustering()
