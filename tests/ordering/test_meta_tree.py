"""Members that a pruned tree over the votes asks are kept."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from tests.oracles.pruning import Tree, smallest_minimiser

from orfeon import BaggingClassifier, CARTClassifier
from orfeon.datasets import make_waveform
from orfeon.members.votes import read_selection
from orfeon.ordering import order, order_votes
from orfeon.ordering.meta_tree import MetaTree, decisions
from orfeon.ordering.rule import as_rule

#: Every pattern of three votes for two classes; the majority is class 1 in half of them.
PATTERNS = np.array(list(product([0, 1], repeat=3))).T
MAJORITY = (PATTERNS.sum(axis=0) > 1).astype(np.int64)


def random_votes(rng, n_members=25, n_samples=300, n_classes=3):
    """Members of different accuracies."""
    y = rng.integers(0, n_classes, n_samples)
    votes = rng.integers(0, n_classes, (n_members, n_samples))
    right = rng.random(votes.shape) < rng.uniform(0.3, 0.8, (n_members, 1))
    return np.where(right, y, votes), y


# -- by hand ---------------------------------------------------------------------------------------


def test_the_tree_is_a_model_of_the_vote():
    """The vote of three members needs all three, whatever the true classes are."""
    wrong = 1 - MAJORITY
    found = order_votes(PATTERNS, wrong, rule="meta_tree", pruning=0.0)
    assert found.own_size == 3
    assert sorted(found.order[:3].tolist()) == [0, 1, 2]
    assert found.criterion.sum() == pytest.approx(1.0, abs=1e-11)


def test_the_tree_can_be_a_model_of_the_class():
    found = order_votes(PATTERNS, PATTERNS[1], rule="meta_tree", target="class", pruning=0.0)
    assert (found.own_size, found.order[0], found.criterion.tolist()) == (1, 1, [1.0, 0.0, 0.0])


def test_members_are_ordered_by_their_importance_and_the_rest_by_their_errors():
    """Class 1 where members 3 and 1 both say so; the others say anything."""
    rng = np.random.default_rng(0)
    votes = rng.integers(0, 2, (5, 64))
    votes[3] = np.arange(64) // 4 % 2  # the tree asks it first: it is right on most samples
    votes[1] = np.arange(64) % 4 > 0
    y = votes[3] & votes[1]
    found = order_votes(votes, y, rule="meta_tree", target="class", pruning=0.001)
    errors = (votes != y).mean(axis=1)
    assert found.own_size == 2
    assert found.order[:2].tolist() == [3, 1]
    assert found.criterion[0] > found.criterion[1] > 0.0
    assert len(set(errors.tolist())) == 5
    assert found.order[2:].tolist() == sorted([0, 2, 4], key=lambda t: errors[t]) != [0, 2, 4]
    assert found.criterion[2:].tolist() == [0.0] * 3


def test_of_members_that_vote_alike_only_the_first_is_kept():
    votes = PATTERNS[[2, 0, 0, 1, 1, 2, 2]]
    for seed in range(10):
        found = order_votes(
            votes, MAJORITY, rule="meta_tree", target="class", pruning=0.0, random_state=seed
        )
        assert sorted(found.members("rule").tolist()) == [0, 1, 3]


def test_a_high_price_leaves_one_member():
    votes, y = random_votes(np.random.default_rng(1))
    found = order_votes(votes, y, rule="meta_tree", pruning=0.9)
    assert found.own_size == 1
    assert found.criterion.tolist() == [0.0] * 25
    errors = (votes != y).mean(axis=1)
    assert found.order.tolist() == np.argsort(errors, kind="stable").tolist()


def test_a_higher_price_keeps_no_other_members_and_fewer():
    votes, y = random_votes(np.random.default_rng(2))
    kept = [
        set(order_votes(votes, y, rule="meta_tree", pruning=price).members("rule").tolist())
        for price in (0.0, 0.004, 0.01, 0.03, 0.1)
    ]
    assert [len(members) for members in kept] == sorted(map(len, kept), reverse=True)
    assert len(kept[0]) > 2 * len(kept[3])
    assert all(few <= many for many, few in pairwise(kept))


def test_the_heaviest_member_is_all_that_a_weighted_vote_needs():
    weights = [1.0, 1.0, 3.0]
    selection = read_selection(PATTERNS, MAJORITY, member_weights=weights)
    assert decisions(selection).tolist() == PATTERNS[2].tolist()
    found = MetaTree(pruning=0.0).arrange(selection)
    assert (found.own_size, found.order[0]) == (1, 2)


def test_a_tied_vote_is_for_the_first_class_and_silence_counts_for_none():
    selection = read_selection([[2, 1, -1], [1, -1, -1], [-1, 2, 0]], [0, 1, 2], no_vote=-1)
    assert decisions(selection).tolist() == [1, 1, 0]


# -- the oracle ------------------------------------------------------------------------------------


class TiedError(Exception):
    """Two members give equally good tests: the tree chooses at random."""


@dataclass
class Grown:
    """A tree over two-class votes, grown by trying every member at every node."""

    votes: list[list[int]]
    y: list[int]
    weights: list[int]

    def __post_init__(self) -> None:
        self.member: dict[int, int] = {}
        self.decrease: dict[int, Fraction] = {}
        self.risk: dict[int, Fraction] = {}
        self.root = self.grow(range(len(self.y)))

    def counts(self, rows) -> tuple[int, int]:
        one = sum(self.weights[i] for i in rows if self.y[i])
        return sum(self.weights[i] for i in rows) - one, one

    def impurity(self, rows) -> Fraction:
        """The Gini index times the weight."""
        a, b = self.counts(rows)
        return Fraction(2 * a * b, a + b)

    def grow(self, rows) -> Tree:
        node = len(self.risk)
        self.risk[node] = Fraction(min(self.counts(rows)), sum(self.weights))
        best = []
        for t, answers in enumerate(self.votes):
            parts = [[i for i in rows if answers[i] == c] for c in (0, 1)]
            if all(parts):
                gain = self.impurity(rows) - sum(map(self.impurity, parts))
                best.append((gain, t, parts))
        best.sort(key=lambda b: b[0], reverse=True)
        if not self.risk[node] or not best or best[0][0] == 0:
            return Tree(node)
        if len(best) > 1 and best[0][0] == best[1][0]:
            raise TiedError
        gain, t, parts = best[0]
        self.member[node], self.decrease[node] = t, gain
        return Tree(node, tuple(self.grow(part) for part in parts))

    def kept_at(self, price: Fraction) -> dict[int, Fraction]:
        """The members in the tree pruned at a price, and their decreases of impurity."""
        leaves = smallest_minimiser(self.root, self.risk, price)
        found: dict[int, Fraction] = {}

        def walk(tree: Tree) -> None:
            if tree.name not in leaves:
                t = self.member[tree.name]
                found[t] = found.get(t, Fraction(0)) + self.decrease[tree.name]
                for child in tree.children:
                    walk(child)

        walk(self.root)
        return found


def test_the_oracle_keeps_the_same_members():
    rng = np.random.default_rng(3)
    compared = []
    while len(compared) < 60:
        votes, y = random_votes(rng, n_members=5, n_samples=40, n_classes=2)
        weights = rng.integers(1, 60, 40)
        price = Fraction(int(rng.integers(0, 50)), 200)
        try:
            kept = Grown(votes.tolist(), y.tolist(), weights.tolist()).kept_at(price)
        except TiedError:
            continue
        found = order_votes(
            votes,
            y,
            rule="meta_tree",
            target="class",
            pruning=float(price),
            sample_weight=weights,
        )
        total = sum(kept.values())
        expected = sorted(kept, key=lambda t: (-kept[t], t))
        errors = (votes != y) @ weights
        rest = sorted(set(range(5)) - set(kept), key=lambda t: (errors[t], t))
        assert found.order.tolist() == expected + rest
        np.testing.assert_allclose(
            found.criterion[: len(kept)], [float(kept[t] / total) for t in expected], atol=1e-11
        )
        assert found.own_size == max(1, len(kept))
        compared.append(len(kept))
    assert set(compared) >= {0, 1, 2, 5}


# -- what must hold --------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"target": "class", "pruning_rule": "min"}], ids=str)
@pytest.mark.parametrize("abstaining", [False, True])
def test_the_order_of_the_samples_and_copies_do_not_matter(abstaining, options):
    rng = np.random.default_rng(5)
    sizes = set()
    for _ in range(10):
        votes, y = random_votes(rng, n_members=10, n_samples=60)
        if abstaining:
            votes[rng.random(votes.shape) < 0.3] = -1
        weights = rng.integers(0, 4, 60)
        copies = rng.permutation(np.repeat(np.arange(60), weights))
        moved = rng.permutation(60)
        expected = order_votes(
            votes, y, rule="meta_tree", sample_weight=weights, no_vote=-1, **options
        )
        others = (
            order_votes(votes[:, copies], y[copies], rule="meta_tree", no_vote=-1, **options),
            order_votes(
                votes[:, moved], y[moved], rule="meta_tree", sample_weight=weights[moved],
                no_vote=-1, **options,
            ),
        )  # fmt: skip
        for other in others:
            assert other.order.tolist() == expected.order.tolist()
            assert other.own_size == expected.own_size
            np.testing.assert_array_equal(other.criterion, expected.criterion)
        sizes.add(expected.own_size)
    assert len(sizes) > 2


@pytest.mark.parametrize("abstaining", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    "options",
    [
        {"pruning": "cv"},
        {"pruning": "cv", "pruning_rule": "min", "n_folds": 3, "random_state": 7},
        {"pruning": 0.01, "random_state": 2},
    ],
    ids=str,
)
def test_the_members_are_those_of_a_cart_tree_over_categories(options, n_classes, abstaining):
    rng = np.random.default_rng(8)
    votes, y = random_votes(rng, n_members=12, n_samples=150, n_classes=n_classes)
    table = votes.T.astype(np.float64)
    if abstaining:
        table[rng.random(table.shape) < 0.4] = np.nan
        votes = np.where(np.isnan(table), -1, table).astype(np.int64).T
    target = decisions(read_selection(votes, y, no_vote=-1))
    tree = CARTClassifier(categorical_features=range(12), **({"random_state": 0} | options))
    tree.fit(table, target)
    found = order_votes(votes, y, rule="meta_tree", no_vote=-1, **options)
    importance = np.zeros(12)
    importance[found.order] = found.criterion
    np.testing.assert_allclose(importance, tree.feature_importances_, atol=1e-11)
    assert 1 < found.own_size == np.count_nonzero(tree.feature_importances_)


def test_members_that_do_not_vote_everywhere_are_used():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 200)
    votes = np.full((3, 200), -1)
    votes[0, :100], votes[1, 100:], votes[2] = y[:100], y[100:], rng.integers(0, 2, 200)
    found = order_votes(votes, y, rule="meta_tree", target="class", pruning=0.01, no_vote=-1)
    assert sorted(found.members("rule").tolist()) == [0, 1]


def test_one_class_and_one_member():
    found = order_votes([[0, 0, 1], [1, 0, 0]], [0, 0, 0], rule="meta_tree", target="class")
    assert (found.own_size, found.order.tolist()) == (1, [0, 1])
    found = order_votes([[0, 1, 1]], [0, 1, 0], rule="meta_tree")
    assert (found.own_size, found.order.tolist()) == (1, [0])


def test_a_few_of_a_bag_of_pruned_trees_vote_better_than_one():
    X, y = make_waveform(300, random_state=0)
    X_test, y_test = make_waveform(2000, random_state=1)
    bag = BaggingClassifier(CARTClassifier(pruning="cv"), 60, random_state=0).fit(X, y)
    votes = bag.votes(X_test)
    kept = order(bag, X, y, rule="meta_tree").members("rule")
    answers = np.stack([(votes[kept] == c).sum(axis=0) for c in range(3)])
    vote = np.mean(np.argmax(answers, axis=0) != y_test)
    assert 3 <= len(kept) <= 20
    assert vote < (votes != y_test).mean() - 0.03
    one, least = (
        order(bag, X, y, rule="meta_tree", pruning_rule=rule).own_size for rule in ("1se", "min")
    )
    assert one <= least


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "error"}, "target='error' is not allowed; use 'vote' or 'class'"),
        ({"pruning": "no"}, "pruning='no' is not allowed; use \"cv\" or a number"),
        ({"pruning": -0.1}, "pruning=-0.1 is not allowed"),
        ({"pruning": True}, "pruning=True is not allowed"),
        ({"pruning": None}, "pruning=None is not allowed"),
        ({"pruning": float("nan")}, "pruning=nan is not allowed"),
        ({"pruning": float("inf")}, "pruning=inf is not allowed"),
        ({"pruning_rule": "2se"}, "pruning_rule='2se' is not allowed; use '1se' or 'min'"),
        ({"n_folds": 1}, "n_folds=1 is not allowed; at least 2 are needed"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        as_rule("meta_tree", **options)


def test_numbers_are_refused():
    with pytest.raises(ValueError, match="rule='meta_tree' needs classes, and these members"):
        order_votes([[0.5, 1.5], [0.7, 1.1]], [0.4, 1.6], rule="meta_tree")
