"""Utility: accuracy minus cost against its definition, and what costs and trade-off must do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests import shared
from tests.oracles import ordering as oracle

from orfeon import BaggingClassifier, CARTClassifier, PrunedClassifier, PrunedRegressor, prune
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.io import load, save
from orfeon.ordering import Utility, order_votes

#: Few random votes may look like codes.
pytestmark = pytest.mark.filterwarnings("ignore:votes holds 0, which is not in y")


@pytest.mark.parametrize(
    "kind", [{}, {"weighted": True}, {"abstaining": 0.4}, {"regression": True}], ids=str
)
def test_members_come_by_error_and_cost(kind):
    rng = np.random.default_rng(0)
    for _ in range(shared.cases(80)):
        case = oracle.those_that_count(oracle.random_case(rng, **kind))
        votes, y, sample_weight = oracle.arrays(case)
        costs = rng.integers(0, 5, len(votes))
        costs[0] = 1  # not all are zero
        regression = bool(kind.get("regression"))
        found = order_votes(
            votes, y, sample_weight=sample_weight, rule="utility", costs=costs, trade_off=0.25,
            no_vote=np.nan if regression else -1,
            task="regression" if regression else "classification",
        )  # fmt: skip
        expected = oracle.utility(case, costs.tolist(), Fraction(1, 4))
        oracle.assert_agrees(found, expected, case)
        values = expected.criterion
        assert found.own_size == values.index(max(values)) + 1


def random_votes(seed, n_members=15):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 60)
    return np.where(rng.random((n_members, 60)) < 0.55, y, rng.integers(0, 3, (n_members, 60))), y


@pytest.mark.parametrize("seed", range(5))
def test_without_differences_in_cost_it_is_reduce_error(seed):
    votes, y = random_votes(seed)
    plain = order_votes(votes, y, rule="reduce_error")
    costs = np.random.default_rng(seed).random(15)
    equal = order_votes(votes, y, rule="utility", costs=[3] * 15, trade_off=0.7)
    free = order_votes(votes, y, rule="utility", costs=costs, trade_off=0)
    assert equal.order.tolist() == free.order.tolist() == plain.order.tolist()
    assert free.own_size == plain.error_curve.argmin() + 1


@pytest.mark.parametrize("seed", range(5))
def test_a_higher_trade_off_buys_less(seed):
    votes, y = random_votes(seed)
    costs = np.random.default_rng(seed).integers(1, 9, 15)
    spent = []
    for trade_off in (0.0, 0.02, 0.1, 100.0):
        found = order_votes(votes, y, rule="utility", costs=costs, trade_off=trade_off)
        spent.append(costs[found.order[: found.own_size]].sum())
    assert spent[0] >= spent[-1] == costs.min()
    assert costs[found.order].tolist() == sorted(costs.tolist())  # cost alone counts


def test_the_unit_of_costs_does_not_matter():
    votes, y = random_votes(9)
    costs = np.random.default_rng(9).integers(1, 9, 15)
    orders = [order_votes(votes, y, rule="utility", costs=k * costs).order for k in (1, 1024)]
    assert orders[0].tolist() == orders[1].tolist()


def test_targets_without_variance():
    found = order_votes([[1.5, 2.5], [1.5, 1.5]], [1.5, 1.5], rule="utility", task="regression")
    assert found.order.tolist() == [1, 0]
    assert found.own_size == 1


def test_pruned_estimators_keep_costs_when_saved(tmp_path):
    X, y = make_waveform(150, random_state=0)
    bag = BaggingClassifier(CARTClassifier(max_depth=3), 12, random_state=0).fit(X, y)
    leaves = [tree.get_n_leaves() for tree in bag.estimators_]
    small = prune(bag, X, y, rule="utility", keep="rule", costs=leaves)
    assert 1 <= len(small) < 12
    pruned = PrunedClassifier(
        BaggingClassifier(CARTClassifier(max_depth=3), 12), rule=Utility(leaves), keep="rule",
        random_state=0,
    ).fit(X, y)  # fmt: skip
    save(pruned, tmp_path / "pruned.orfeon")
    again = load(tmp_path / "pruned.orfeon")
    assert again.rule == Utility(tuple(leaves))
    assert (again.predict(X) == pruned.predict(X)).all()
    X, y = make_friedman1(100, random_state=0)
    PrunedRegressor(rule="utility", keep="rule", random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trade_off": -1}, r"trade_off=-1 is not allowed; give a number that is not negative\."),
        ({"trade_off": np.nan}, "trade_off=nan is not allowed"),
        ({"trade_off": "much"}, "trade_off='much' is not allowed"),
        ({"costs": (1, -1)}, r"costs=\(1, -1\) is not allowed; give one number per member, none"),
        ({"costs": (0, 0)}, "not all of them zero"),
        ({"costs": 3}, "costs=3 is not allowed"),
        ({"costs": ("a", "b")}, "is not allowed"),
        ({"costs": (np.inf, 1)}, "is not allowed"),
        ({"costs": (1, 2, 3)}, "costs has 3 entries and there are 2 members; give one"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        order_votes([[0, 1], [1, 1]], [0, 1], rule="utility", **options)
