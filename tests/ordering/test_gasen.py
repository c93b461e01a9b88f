"""GASEN: the errors of weights by hand, and what evolved weights must do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests import shared
from tests.oracles import ordering as oracle

from orfeon import BaggingClassifier, CARTClassifier, PrunedClassifier, PrunedRegressor
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.members.votes import read_selection
from orfeon.ordering import GASEN, order_votes
from orfeon.ordering.gasen import fitness, weighted_errors

QUICK = {"population_size": 12, "n_generations": 10}

#: Few random votes may look like codes.
pytestmark = pytest.mark.filterwarnings("ignore:votes holds 0, which is not in y")


@pytest.mark.parametrize(
    "kind", [{}, {"weighted": True}, {"abstaining": 0.4}, {"regression": True}], ids=str
)
def test_the_error_of_weights_is_that_of_the_weighted_vote(kind):
    rng = np.random.default_rng(0)
    for _ in range(shared.cases(60)):
        case = oracle.those_that_count(oracle.random_case(rng, **kind))
        votes, y, sample_weight = oracle.arrays(case)
        no_vote = np.nan if kind.get("regression") else -1
        task = "regression" if kind.get("regression") else "classification"
        selection = read_selection(votes, y, sample_weight, no_vote=no_vote, task=task)
        weights = rng.integers(1, 9, (3, len(votes)))
        found = weighted_errors(selection, weights.astype(float))
        for one, error in zip(weights.tolist(), found, strict=True):
            shares = [Fraction(weight) for weight in one]
            given = oracle.Case(case.answers, case.y, case.weights, case.n_classes, shares)
            assert error == pytest.approx(float(oracle.error(given, list(case.members))), abs=1e-12)


def test_fitness_by_hand():
    # The first alone errs on 1 of 4 samples, and half of one more is added.
    selection = read_selection([[0, 0, 0, 1], [1, 1, 1, 1]], [0, 0, 0, 0])
    values = fitness(selection, np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert values == pytest.approx([1 / (1 / 4 + 1 / 8), 1 / (1 + 1 / 8)], rel=1e-12)


def test_members_above_the_mean_weight_are_kept_by_weight():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 80)
    votes = np.where(rng.random((20, 80)) < 0.55, y, rng.integers(0, 3, (20, 80)))
    found = order_votes(votes, y, rule="gasen", **QUICK)
    assert found.criterion.sum() == pytest.approx(1, abs=1e-12)
    assert (np.diff(found.criterion) <= 0).all()
    assert found.own_size == (found.criterion > 1 / 20).sum()
    assert found.member_weights is None  # those kept count the same
    again = order_votes(votes, y, rule="gasen", **QUICK)
    assert again.order.tolist() == found.order.tolist()
    other = order_votes(votes, y, rule="gasen", random_state=1, **QUICK)
    assert other.order.tolist() != found.order.tolist()


def test_more_generations_find_weights_that_err_no_more():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 80)
    votes = np.where(rng.random((20, 80)) < 0.25, y, rng.integers(0, 3, (20, 80)))
    selection, errors = read_selection(votes, y), []
    for n_generations in (1, 20, 60):
        found = GASEN(population_size=20, n_generations=n_generations).arrange(selection)
        weights = np.empty(20)
        weights[found.order] = found.criterion
        errors.append(float(weighted_errors(selection, weights[None])[0]))
    assert errors[0] >= errors[1] >= errors[2]
    assert errors[2] < errors[0]


def test_useless_members_are_left_out():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    votes = rng.integers(0, 2, (20, 200))
    votes[:6] = np.where(rng.random((6, 200)) < 0.8, y, 1 - y)
    kept = order_votes(votes, y, rule="gasen").members("rule").tolist()
    assert set(kept) >= set(range(6))
    assert len(kept) < 16


def test_it_prunes_classifiers_and_regressors():
    X, y = make_waveform(120, random_state=0)
    bag = BaggingClassifier(CARTClassifier(pruning="cv"), 20, random_state=0)
    rule = GASEN(**QUICK)
    pruned = PrunedClassifier(bag, rule=rule, keep="rule", on="out_of_bag", random_state=0)
    assert 1 < len(pruned.fit(X, y)) < 20
    X, y = make_friedman1(100, random_state=0)
    assert 1 < len(PrunedRegressor(rule=rule, keep="rule", random_state=0).fit(X, y)) < 200


def test_one_member_is_kept():
    assert order_votes([[0, 1, 1]], [0, 1, 0], rule="gasen", **QUICK).own_size == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population_size": 2}, "population_size=2 is not allowed"),
        ({"n_generations": 0}, "n_generations=0 is not allowed"),
        ({"crossover": 1.5}, "crossover=1.5 is not allowed"),
        ({"mutation": -0.1}, "mutation=-0.1 is not allowed"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        GASEN(**options)
