"""AdaBoost worked by hand: ten points, three stumps, every number written out.

    10 | . . . . . . . + . .      h1: x <= 2.5 is -, else +    wrong at (7, 1), (9, 4)
     9 | . . . . . + . . . .      h2: y <= 7.5 is -, else +    wrong at (3, 5), (4, 2), (5, 3)
     8 | . . . . . . . . . +      h3: x <= 6.5 is +, else -    wrong at (1, 6), (2, 7), (8, 10),
     7 | . - . . . . . . . .                                            (10, 8)
     6 | - . . . . . . . . .      No point is wrong twice, and no vote is as large as the other two
     5 | . . + . . . . . . .      together, so the vote of the three is right everywhere.
     4 | . . . . . . . . - .
     3 | . . . . + . . . . .
     2 | . . . + . . . . . .
     1 | . . . . . . - . . .
       +--------------------
         1 2 3 4 5 6 7 8 9 10

In each round no other stump has so small a weighted error, and none leaves so little Gini impurity.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.oracles.boosting import adaboost, adaboost_exponential, adaboost_m1
from tests.oracles.boosting_script import play
from tests.oracles.boosting_weak import Cut, all_cuts, best_stump

from orfeon import AdaBoostClassifier
from orfeon.boosting import edge_bound, error_bound, margin_bound
from orfeon.boosting.adaboost import AdaBoostScheme

POINTS = [(1, 6), (2, 7), (3, 5), (4, 2), (5, 3), (6, 9), (7, 1), (8, 10), (9, 4), (10, 8)]
LABELS = [-1, -1, 1, 1, 1, 1, -1, 1, -1, 1]
CODES = [0, 0, 1, 1, 1, 1, 0, 1, 0, 1]
STUMPS = [
    Cut(0, Fraction(5, 2), -1, 1),
    Cut(1, Fraction(15, 2), -1, 1),
    Cut(0, Fraction(13, 2), 1, -1),
]
ERRORS = [Fraction(1, 5), Fraction(3, 16), Fraction(2, 13)]
ODDS = [Fraction(4), Fraction(13, 3), Fraction(11, 2)]
# 1/2 ln 4, 1/2 ln(13/3), 1/2 ln(11/2)
ALPHAS = [0.6931471805599453, 0.7331685343967135, 0.8523740461192126]
WEIGHTS = [
    # every point alike
    [Fraction(1, 10)] * 10,
    # wrong: 1/10 over 2/5 is 1/4; right: 1/10 over 8/5 is 1/16
    [Fraction(1, 16)] * 6 + [Fraction(1, 4), Fraction(1, 16), Fraction(1, 4), Fraction(1, 16)],
    # wrong: 1/16 over 3/8 is 1/6; right: over 13/8, 1/16 is 1/26 and 1/4 is 2/13
    [Fraction(1, 26)] * 2
    + [Fraction(1, 6)] * 3
    + [Fraction(1, 26), Fraction(2, 13), Fraction(1, 26), Fraction(2, 13), Fraction(1, 26)],
    # wrong: 1/26 over 4/13 is 1/8; right: over 22/13, 1/6 is 13/132, 2/13 is 1/11, 1/26 is 1/44
    [Fraction(1, 8)] * 2
    + [Fraction(13, 132)] * 3
    + [Fraction(1, 44), Fraction(1, 11), Fraction(1, 8), Fraction(1, 11), Fraction(1, 8)],
]
TRAINING_ERRORS = [Fraction(2, 10), Fraction(3, 10), Fraction(0)]
# products of 4/5, sqrt(39)/8, 2 sqrt(22)/13
BOUNDS = [0.8, 0.6244997998398398, 0.45064056971928646]


@pytest.mark.parametrize("t", [0, 1, 2])
def test_the_stump_of_each_round_is_the_best_one_and_the_only_one(t):
    cuts = all_cuts(POINTS, WEIGHTS[t], LABELS)
    assert len(cuts) == 18
    by_error = sorted(cuts, key=lambda c: c[0])
    by_gini = sorted(cuts, key=lambda c: c[1])
    assert by_error[0][2] == by_gini[0][2] == STUMPS[t]
    assert by_error[0][0] == ERRORS[t] < by_error[1][0]
    assert by_gini[0][1] < by_gini[1][1]


def test_the_oracle_finds_every_number():
    run = adaboost(best_stump(POINTS), LABELS, 3)
    assert [r.answers for r in run.rounds] == [stump(POINTS) for stump in STUMPS]
    assert [r.error for r in run.rounds] == ERRORS
    assert [r.odds for r in run.rounds] == ODDS
    assert [*(r.weights for r in run.rounds), run.weights] == WEIGHTS
    np.testing.assert_allclose([float(r.alpha) for r in run.rounds], ALPHAS, rtol=1e-15)
    for t in range(3):
        wrong = sum(s != y for s, y in zip(run.signs(t + 1), LABELS, strict=True))
        assert Fraction(wrong, 10) == TRAINING_ERRORS[t]


def test_the_exponential_form_gives_the_same_numbers():
    rounds = adaboost_exponential(best_stump(POINTS), LABELS, 3)
    bound = 1.0
    for t, r in enumerate(rounds):
        assert float(r.error) == float(ERRORS[t])
        assert float(r.alpha) == pytest.approx(ALPHAS[t], rel=1e-15)
        assert [float(w) for w in r.weights] == [float(w) for w in WEIGHTS[t]]
        bound *= float(r.Z)
        assert bound == pytest.approx(BOUNDS[t], rel=1e-15)
        assert TRAINING_ERRORS[t] <= bound


def test_m1_on_codes_gives_the_same_numbers():
    run = adaboost_m1(best_stump(POINTS), CODES, 3)
    assert [r.error for r in run.rounds] == ERRORS
    assert run.weights == WEIGHTS[3]
    assert run.decisions(2) == CODES


def test_the_scores_of_the_points():
    run = adaboost(best_stump(POINTS), LABELS, 3)
    a, b, c = ALPHAS
    by_hand = [-a - b + c, -a - b + c, a - b + c, a - b + c, a - b + c, a + b + c]
    by_hand += [a - b - c, a + b - c, a - b - c, a + b - c]
    np.testing.assert_allclose([float(s) for s in run.scores()], by_hand, rtol=1e-14)
    assert min(abs(s) for s in by_hand) == pytest.approx(0.5 * math.log(4 * 13 / 3 / 5.5))


# --- the library ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    return AdaBoostClassifier(n_estimators=3, random_state=0).fit(
        np.array(POINTS, dtype=float), np.array(LABELS)
    )


def test_the_scheme_finds_every_weight():
    answers = [[(v + 1) // 2 for v in stump(POINTS)] for stump in STUMPS]
    scheme = AdaBoostScheme(np.array(CODES), np.ones(10), 2)
    run, learner, _ = play(scheme, answers)
    found = np.array([*learner.weights, scheme.weights])
    by_hand = np.array([[float(w) for w in row] for row in WEIGHTS])
    np.testing.assert_allclose(found, by_hand, rtol=1e-14)
    np.testing.assert_allclose([j.error for j in run.results], [0.2, 0.1875, 2 / 13], rtol=1e-14)
    np.testing.assert_allclose([j.vote for j in run.results], ALPHAS, rtol=1e-14)


def test_the_estimator_finds_the_three_stumps_and_their_votes(model):
    forest = model.members_
    roots = forest.tree_start[:-1]
    assert forest.feature[roots].tolist() == [0, 1, 0]
    assert forest.threshold[roots].tolist() == [2.5, 7.5, 6.5]
    np.testing.assert_allclose(model.errors_, [0.2, 0.1875, 2 / 13], rtol=1e-14)
    np.testing.assert_allclose(model.member_weights_, ALPHAS, rtol=1e-14)


def test_the_estimator_decides_as_by_hand_at_every_stage(model):
    X = np.array(POINTS, dtype=float)
    staged = [int(np.sum(decided != LABELS)) for decided in model.staged_predict(X)]
    assert staged == [2, 3, 0]
    a, b, c = ALPHAS
    by_hand = [-a - b + c, -a - b + c, a - b + c, a - b + c, a - b + c, a + b + c]
    by_hand += [a - b - c, a + b - c, a - b - c, a + b - c]
    np.testing.assert_allclose(model.decision_function(X), by_hand, rtol=1e-13)
    shares = (1 + np.array(by_hand) / sum(ALPHAS)) / 2
    smoothed = (3 * shares + 0.25) / 3.5  # half a vote is added to those of three members
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], smoothed, rtol=1e-13)


def test_the_bounds_by_hand(model):
    np.testing.assert_allclose(model.error_bounds_, BOUNDS, rtol=1e-14)
    np.testing.assert_allclose(error_bound([float(e) for e in ERRORS]), BOUNDS, rtol=1e-14)
    # edges 3/10, 5/16, 9/26: squares 9/100, 25/256, 81/676
    edges = [9 / 100, 9 / 100 + 25 / 256, 9 / 100 + 25 / 256 + 81 / 676]
    by_hand = [math.exp(-2 * s) for s in edges]
    np.testing.assert_allclose(model.edge_bounds_, by_hand, rtol=1e-14)
    np.testing.assert_allclose(edge_bound([float(e) for e in ERRORS]), by_hand, rtol=1e-14)
    # at theta = 1/4 every factor sqrt(e^(1 - theta) (1 - e)^(1 + theta)) gains odds^(theta / 2)
    at_quarter = BOUNDS[2] * (4 * 13 / 3 * 11 / 2) ** 0.125
    assert model.margin_bound(0.25) == pytest.approx(at_quarter, rel=1e-14)
    assert margin_bound([float(e) for e in ERRORS], 0.25) == pytest.approx(at_quarter, rel=1e-14)
