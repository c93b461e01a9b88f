"""What holds for every order: end points, symmetries, sizes, curves on other samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests import shared
from tests.oracles.ordering import ORACLES

from orfeon.ordering import Order, order_votes

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*from the diagonal:UserWarning"),
    pytest.mark.filterwarnings(
        "ignore:votes holds 0, which is not in y"
    ),  # few may look like codes
]
usual = settings(deadline=None, derandomize=True, max_examples=shared.cases(60))

Integers = npt.NDArray[np.int64]
RULES = [*ORACLES, "random"]
FOR_REGRESSION = ["reduce_error", "complementarity", "individual_error", "random"]


@st.composite
def votes_and_labels(draw: Any, abstaining: bool = False) -> tuple[Integers, Integers]:
    """Few members on few samples of few classes, so that ties are common; -1 is no vote."""
    shape = draw(st.integers(1, 7)), draw(st.integers(1, 10))
    classes = draw(st.integers(1, 4))
    y = draw(hnp.arrays(np.int64, shape[1], elements=st.integers(0, classes - 1)))
    least = -1 if abstaining else 0
    votes = draw(hnp.arrays(np.int64, shape, elements=st.integers(least, classes - 1)))
    votes[draw(st.integers(0, shape[0] - 1))] = y
    return votes, y


def options_of(rule: str) -> dict[str, Any]:
    return {"random_state": 3} if rule == "random" else {}


def vote(votes: Integers) -> Integers:
    """The class of most votes on each sample, the lowest of those tied; -1 where nobody votes."""
    counts = np.stack([(votes == c).sum(axis=0) for c in range(5)])
    return np.where(counts.any(axis=0), counts.argmax(axis=0), -1)


def curve_by_hand(votes: Integers, y: Integers, found: Order) -> list[float]:
    return [float((vote(votes[found.members(n + 1)]) != y).mean()) for n in range(len(votes))]


# -- curves ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@usual
@given(data=votes_and_labels(abstaining=True))
def test_an_order_is_a_permutation_and_its_curve_ends_at_the_full_vote(rule, data):
    votes, y = data
    found = order_votes(votes, y, rule=rule, no_vote=-1, **options_of(rule))
    assert sorted(found.order.tolist()) == list(range(len(votes)))
    assert len(found) == len(found.criterion) == len(found.error_curve) == len(votes)
    assert found.error_curve.tolist() == curve_by_hand(votes, y, found)
    assert found.error_curve[-1] == (vote(votes) != y).mean()


@pytest.mark.parametrize("backfitting", [False, True])
@usual
@given(data=votes_and_labels())
def test_reduce_error_starts_with_the_best_member_and_its_best_is_no_worse(backfitting, data):
    votes, y = data
    found = order_votes(votes, y, rule="reduce_error", backfitting=backfitting)
    assert found.error_curve[0] == (votes != y).mean(axis=1).min()
    assert found.error_curve.min() <= found.error_curve[0]
    assert found.error_curve.tolist() == found.criterion.tolist()


@usual
@given(data=votes_and_labels())
def test_each_choice_of_reduce_error_is_the_best_there_is(data):
    # This, and not a curve that never rises, is what greedy choice promises.
    votes, y = data
    found = order_votes(votes, y, rule="reduce_error")
    for u, error in enumerate(found.error_curve):
        start = found.order[:u].tolist()
        others = [[*start, k] for k in range(len(votes)) if k not in start]
        assert error == min((vote(votes[some]) != y).mean() for some in others)


def test_the_curve_of_reduce_error_may_rise_above_its_start():
    votes = [[0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]
    found = order_votes(votes, [0, 0, 0, 0], rule="reduce_error")
    assert found.error_curve.tolist() == [0, 0, 1]


@usual
@given(data=votes_and_labels())
def test_backfitting_leaves_no_single_exchange_that_would_help(data):
    votes, y = data
    found = order_votes(votes, y, rule="reduce_error", backfitting=True)
    for n in range(1, len(votes) + 1):
        kept = found.members(n).tolist()
        assert len(set(kept)) == n
        for t in kept:
            for k in set(range(len(votes))) - set(kept):
                changed = [*(m for m in kept if m != t), k]
                assert (vote(votes[changed]) != y).mean() >= found.error_curve[n - 1]


@pytest.mark.parametrize("p", [0.001, 0.075, 0.5, 0.999])
@usual
@given(data=votes_and_labels())
def test_margin_distance_starts_with_the_most_accurate_member_wherever_it_goes(p, data):
    votes, y = data
    found = order_votes(votes, y, rule="margin_distance", p=p)
    assert found.order[0] == (votes == y).sum(axis=1).argmax()


@usual
@given(data=votes_and_labels())
def test_values_of_the_rules_are_what_they_say(data):
    votes, y = data
    by_error = order_votes(votes, y, rule="individual_error")
    assert by_error.criterion.tolist() == sorted((votes != y).mean(axis=1).tolist())
    angles = order_votes(votes, y, rule="orientation").criterion
    assert (np.diff(angles) >= -1e-9).all()
    gains = order_votes(votes, y, rule="complementarity").criterion
    assert gains[0] == (votes == y).mean(axis=1).max()
    errors = order_votes(votes, y, rule="boosting_based").criterion
    assert errors[0] == pytest.approx(by_error.criterion[0], abs=1e-12)
    kappas = order_votes(votes, y, rule="kappa").criterion
    assert (np.diff(kappas) >= 0).all()
    assert (np.abs(kappas) <= 1).all()


@pytest.mark.parametrize("rule", FOR_REGRESSION)
def test_curves_of_numbers_end_at_the_mean_of_all(rule):
    rng = np.random.default_rng(0)
    for _ in range(shared.cases(30)):
        answers, y = rng.normal(size=(6, 15)), rng.normal(size=15)
        found = order_votes(answers, y, rule=rule, **options_of(rule))
        assert found.n_classes == 0
        for n in range(6):
            error = ((answers[found.order[: n + 1]].mean(axis=0) - y) ** 2).mean()
            assert found.error_curve[n] == pytest.approx(error, rel=1e-12)


# -- symmetries ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ORACLES)
@usual
@given(data=votes_and_labels(abstaining=True), seed=st.integers(0, 99))
def test_the_order_of_the_samples_decides_nothing(rule, data, seed):
    votes, y = data
    drawn = np.random.default_rng(seed).permutation(len(y))
    one = order_votes(votes, y, rule=rule, no_vote=-1)
    other = order_votes(votes[:, drawn], y[drawn], rule=rule, no_vote=-1)
    assert one.order.tolist() == other.order.tolist()
    assert one.error_curve.tolist() == other.error_curve.tolist()
    np.testing.assert_allclose(one.criterion, other.criterion, rtol=0, atol=1e-12)
    assert one.own_size == other.own_size


#: Rules that depend on the order of training, or take both members of a pair.
BY_PLACE = ("kappa", "kappa_hull", "early_stopping", "kl_divergence")


@pytest.mark.parametrize("rule", [name for name in ORACLES if name not in BY_PLACE])
def test_members_keep_their_places_under_other_names(rule):
    # Weights without a pattern leave no ties, which only the names could decide.
    rng = np.random.default_rng(1)
    for _ in range(shared.cases(40)):
        y = rng.integers(0, 3, 300)
        votes = np.where(rng.random((8, 300)) < 0.5, y, rng.integers(0, 3, (8, 300)))
        weights = rng.integers(1, 10**6, 300)
        names = rng.permutation(8)
        one = order_votes(votes, y, rule=rule, sample_weight=weights)
        other = order_votes(votes[names], y, rule=rule, sample_weight=weights)
        assert names[other.order].tolist() == one.order.tolist()
        assert one.error_curve.tolist() == other.error_curve.tolist()


def test_pairs_of_least_kappa_stay_so_under_other_names():
    rng = np.random.default_rng(2)
    for _ in range(shared.cases(40)):
        votes, weights = rng.integers(0, 3, (8, 60)), rng.integers(1, 10**6, 60)
        names = rng.permutation(8)
        y = votes[0]
        one = order_votes(votes, y, rule="kappa", sample_weight=weights)
        other = order_votes(votes[names], y, rule="kappa", sample_weight=weights)
        # Within a pair that comes in together the names decide.
        np.testing.assert_allclose(one.criterion, other.criterion, rtol=1e-12)
        for value in set(one.criterion.tolist()):
            mine = {int(t) for t in one.order[one.criterion == value]}
            theirs = {int(names[t]) for t in other.order[np.isclose(other.criterion, value)]}
            assert mine == theirs


@pytest.mark.parametrize("rule", ["margin_distance", "orientation", "boosting_based"])
@usual
@given(data=votes_and_labels())
def test_which_wrong_class_is_voted_for_is_of_no_account_to_some_rules(rule, data):
    votes, y = data
    right = (votes == y).astype(int)
    assert order_votes(votes, y, rule=rule).order.tolist() == (
        order_votes(right, np.ones(len(y), int), rule=rule).order.tolist()
    )


@pytest.mark.parametrize("rule", RULES)
def test_the_same_votes_give_the_same_order_and_are_left_alone(rule):
    rng = np.random.default_rng(4)
    votes, y = rng.integers(0, 3, (9, 20)), rng.integers(0, 3, 20)
    before = votes.copy(), y.copy()
    one, other = (order_votes(votes, y, rule=rule, **options_of(rule)) for _ in range(2))
    assert one.order.tolist() == other.order.tolist()
    assert one.criterion.tolist() == other.criterion.tolist()
    np.testing.assert_array_equal(votes, before[0])
    np.testing.assert_array_equal(y, before[1])


# -- other samples --------------------------------------------------------------------------------


@pytest.mark.parametrize("backfitting", [False, True])
@usual
@given(data=votes_and_labels(), seed=st.integers(0, 99))
def test_curves_on_other_samples_are_those_of_the_vote(backfitting, data, seed):
    votes, y = data
    found = order_votes(votes, y, rule="reduce_error", backfitting=backfitting)
    rng = np.random.default_rng(seed)
    others, labels = rng.integers(0, 5, (len(votes), 12)), rng.integers(0, 5, 12)
    assert found.test_curve_votes(others, labels).tolist() == curve_by_hand(others, labels, found)
    assert found.test_curve_votes(votes, y).tolist() == found.error_curve.tolist()
    weights = rng.integers(0, 3, 12)
    weights[0] = 1
    copies = np.repeat(np.arange(12), weights)
    weighted = found.test_curve_votes(others, labels, sample_weight=weights)
    assert weighted.tolist() == found.test_curve_votes(others[:, copies], labels[copies]).tolist()


def test_curves_on_other_samples_count_only_those_who_vote():
    found = order_votes([[0, 1], [0, 0]], [0, 1], rule="individual_error")
    assert found.order.tolist() == [0, 1]
    assert found.test_curve_votes([[-1, 1, 0], [0, 0, 0]], [0, 0, 0], no_vote=-1).tolist() == [
        2 / 3,
        0,
    ]


def test_curves_of_numbers_on_other_samples():
    found = order_votes([[0.5, 1.5], [0.0, 1.0]], [0.5, 1.5], rule="reduce_error")
    # Whole numbers here: it is known that they are no classes.
    assert found.test_curve_votes([[1, 2], [3, 2]], [1, 2]).tolist() == [0, 0.5]


def test_curves_of_other_members_are_refused():
    found = order_votes([[0, 1], [0, 0]], [0, 1])
    with pytest.raises(ValueError, match="votes of 1 members; 2 were ordered"):
        found.test_curve_votes([[0, 1]], [0, 1])
    with pytest.raises(ValueError, match="y has 3 values"):
        found.test_curve_votes([[0, 1], [0, 1]], [0, 1, 1])


# -- sizes -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ten() -> Order:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 60)
    votes = np.where(rng.random((10, 60)) < 0.5, y, rng.integers(0, 3, (10, 60)))
    return order_votes(votes, y, rule="orientation")


@pytest.mark.parametrize(
    ("keep", "size"),
    [
        (1, 1), (10, 10), (np.int64(3), 3), (np.uint8(4), 4), (0.2, 2), (1.0, 10), (0.25, 3),
        (0.24, 2), (0.01, 1), (np.float32(0.5), 5), (1e-9, 1),
    ],
)  # fmt: skip
def test_shares_and_numbers_of_members(ten, keep, size):
    assert ten.size(keep) == size
    assert ten.members(keep).tolist() == ten.order[:size].tolist()


@pytest.mark.parametrize(
    "keep",
    [0, -1, 11, 0.0, -0.2, 1.0001, 2.0, np.nan, np.inf, True, False, np.True_, None, "all", [3]],
)
def test_sizes_that_cannot_be_kept_are_refused(ten, keep):
    with pytest.raises(ValueError, match="is not allowed") as caught:
        ten.size(keep)
    assert str(keep) in str(caught.value)
    with pytest.raises(ValueError, match="is not allowed"):
        ten.members(keep)


def test_the_size_of_the_rule(ten):
    assert ten.own_size is not None
    assert ten.size("rule") == ten.own_size == len(ten.members("rule"))
    acute = ten.criterion[ten.criterion < np.pi / 2]
    assert ten.own_size == (acute < acute.mean()).sum()
    plain = order_votes([[0, 1], [1, 1]], [0, 1])
    assert plain.own_size is None
    with pytest.raises(ValueError, match="needs a rule with a size of its own"):
        plain.size("rule")


def test_suggestions(ten):
    found = ten.suggestions
    assert found["fifth"] == 2
    assert found["minimum"] == ten.error_curve.argmin() + 1
    assert found["rule"] == ten.own_size
    assert 1 <= found["auto"] <= 10
    assert found["auto"] == ten.size("auto")
    bare = ten.without_source()
    assert set(bare.suggestions) == {"fifth", "minimum", "rule"}
    assert bare.order is ten.order


def test_members_of_backfitted_subsets_are_those_of_the_size():
    rng = np.random.default_rng(6)
    different = 0
    for _ in range(shared.cases(40)):
        votes, y = rng.integers(0, 2, (9, 15)), rng.integers(0, 2, 15)
        found = order_votes(votes, y, rule="reduce_error", backfitting=True)
        for n in range(1, 10):
            kept = found.members(n)
            assert len(kept) == n
            different += set(kept.tolist()) != set(found.order[:n].tolist())
            assert (vote(votes[kept]) != y).mean() == found.error_curve[n - 1]
    assert different > shared.cases(40) / 2


def test_one_member_and_one_sample_are_enough():
    for rule in RULES:
        found = order_votes([[1]], [0], rule=rule)
        assert found.order.tolist() == [0]
        assert found.error_curve.tolist() == [1]
        assert found.size(0.2) == 1
