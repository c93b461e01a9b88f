"""The oracles against numbers worked out by hand, in the comments."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from tests.oracles import perceptron_selection as selection
from tests.oracles import perceptrons as pp

NAN = math.nan


# Inputs


def test_z_scores_use_the_weighted_population_deviation() -> None:
    # Weights 3 and 1: mean (3*0 + 1*4)/4 = 1, variance (3*1 + 1*9)/4 = 3.
    scores = pp.standardised([[0.0], [4.0]], [[0.0], [4.0], [1.0]], [3.0, 1.0])
    assert [s[0] for s in scores] == pytest.approx([-1 / math.sqrt(3), math.sqrt(3), 0])


def test_a_constant_feature_and_a_missing_value_say_zero() -> None:
    # The first feature varies only by a row of weight 0; the second has mean 2, deviation 1.
    train = [[5.0, 1.0], [5.0, 3.0], [9.0, 99.0]]
    scores = pp.standardised(train, [[7.0, 4.0], [5.0, NAN]], [1.0, 1.0, 0.0])
    assert scores == [[0.0, 2.0], [0.0, 0.0]]


def test_the_extension_counts_among_the_inputs_of_the_division() -> None:
    # Three features and the -1 are four inputs: halves.
    assert pp.extended([[2.0, 0.0, -4.0]]) == [[1.0, 0.0, -2.0, -0.5]]
    assert pp.extended([[2.0, 0.0, -4.0]], divide=False) == [[2.0, 0.0, -4.0, -1.0]]


# Votes


def test_doubt_is_positive() -> None:
    # Activations 0, -1, -2: signs +, -, -; with the last one away the vote is even.
    weights = [[0.0, 1.0], [-1.0, 0.0], [-2.0, 0.0]]
    assert pp.sum_of_signs(weights, [1.0, 0.0]) == -1
    assert pp.majority(weights, [1.0, 0.0]) == -1
    assert pp.majority(weights[:2], [1.0, 0.0]) == 1


# The rule. One perceptron along each axis, and x = (0.03, -0.02, 0.5): activations are its entries.


AXES = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
X = [0.03, -0.02, 0.5]


@pytest.mark.parametrize(
    ("y", "rule", "pushes"),
    [
        # The vote is +1 (signs + - +). Right: 0.03 lies in [0, 0.05), -0.02 in (-0.05, 0).
        (1, "p_delta", [0.1, -0.1, 0]),
        (1, "auer", [0.1, -0.1, 0]),
        # Wrong: the first and the third push by y; the second is right (y act = 0.02 < gamma).
        (-1, "p_delta", [-1, 0, -1]),
        (-1, "auer", [-1, -0.1, -1]),
    ],
)
def test_pushes(y: int, rule: str, pushes: list[float]) -> None:
    assert [pp.push(a, y, 1, 0.05, 0.1, rule) for a in X] == pushes


def test_limits_of_the_margin() -> None:
    # 0 is inside, gamma is not; -gamma is outside for the update and inside for the tuning.
    assert pp.push(0.0, 1, 1, 0.05, 0.1, "p_delta") == 0.1
    assert pp.push(0.05, 1, 1, 0.05, 0.1, "p_delta") == 0
    assert pp.push(-0.05, 1, 1, 0.05, 0.1, "p_delta") == 0
    assert pp.margin_push([[-0.05], [1.0], [1.0]], [1.0], 1, 0.05) == -0.75
    assert pp.margin_push([[-0.06], [1.0], [1.0]], [1.0], 1, 0.05) == 0.25
    assert pp.margin_push([[0.05], [1.0], [1.0]], [1.0], 1, 0.05) == 0.25
    # With gamma 0 nothing is inside, not even 0.
    assert pp.push(0.0, 1, 1, 0.0, 0.1, "p_delta") == 0
    assert pp.margin_push([[0.0]], [1.0], 1, 0.0) == 0.25


def test_auer_moves_a_wrong_vote_at_zero() -> None:
    # y = 1, y act = 0 is within [0, gamma); for y = -1 the activation 0 says +1, which is wrong,
    # but y act = 0 is not below 0: the plain rule leaves it.
    assert pp.push(0.0, 1, -1, 0.05, 0.1, "auer") == 0.1
    assert pp.push(0.0, -1, 1, 0.05, 0.1, "auer") == -0.1
    assert pp.push(0.0, -1, 1, 0.05, 0.1, "p_delta") == 0


def test_the_other_readings() -> None:
    # Zero says +1, which of a negative sample is wrong; a right voter of a wrong vote is within.
    assert pp.push(0.0, -1, 1, 0.05, 0.1, "p_delta", blames_zero=True) == -1
    assert pp.push(0.0, -1, 1, 0.05, 0.1, "auer", blames_zero=True) == -1
    assert pp.push(0.0, 1, -1, 0.05, 0.1, "auer", blames_zero=True) == 0.1
    assert pp.margin_push(AXES, X, -1, 0.05, pp.Rule(tunes_on_wrong=True)) == -0.75
    assert pp.margin_push(AXES, X, -1, 0.01, pp.Rule(tunes_on_wrong=True)) == 0.25


def test_an_incremental_run() -> None:
    # w = (1, 0), both samples (-1, 1) of class +1, eta 1, fixed gamma 0.05. The first is wrong, of
    # energy 1: w = (0, 1). The second is then right by 1. The length at the end is 1.
    run = pp.incremental_run(
        [[1.0, 0.0]], 0.05, [[-1.0, 1.0]] * 2, [1, 1], [[0, 1], [1, 0]], eta0=1.0,
        schedule="constant", rule=pp.Rule(tune=False),
    )  # fmt: skip
    assert run.weights == [[0.0, 1.0]]
    assert run.errors == [0.5, 0.0]
    assert run.energies == [1.0, 0.0]


def test_gamma_grows_on_wrong_samples() -> None:
    assert pp.margin_push(AXES, X, -1, 0.05) == 0.25
    assert pp.margin_push(AXES, X, 1, 0.05) == -0.75
    assert pp.margin_push(AXES, X, 1, 0.01) == 0.25


def test_one_incremental_step() -> None:
    # w = (2, 0), |w|^2 - 1 = 3; x = (1, 1), y = -1, vote +1: push -1.
    # w += 0.1 * (-3 * (2, 0) - (1, 1)) = (-0.7, -0.1); gamma 0.05 + 0.1 * 0.25.
    weights, gamma = pp.incremental_step([[2.0, 0.0]], 0.05, [1.0, 1.0], -1, 0.1, pp.Rule())
    assert weights[0] == pytest.approx([1.3, -0.1])
    assert gamma == pytest.approx(0.075)
    # Half the weight, half of all of it.
    weights, gamma = pp.incremental_step([[2.0, 0.0]], 0.05, [1.0, 1.0], -1, 0.1, pp.Rule(), 0.5)
    assert weights[0] == pytest.approx([1.65, -0.05])
    assert gamma == pytest.approx(0.0625)


def test_one_batch_epoch() -> None:
    # w = (1, 0), gamma 0.5, mu 0.1, eta 1, weights 1, 2, 3:
    #   x = (-1, 2), y = +1: activation -1, wrong, push +1, weight 1: (-1, 2); gamma +0.25
    #   x = (0.25, 1), y = +1: right, inside, push 0.1, weight 2: (0.05, 0.2); gamma -1.5
    #   x = (-4, 1), y = -1: right, outside, weight 3: nothing; gamma +0.75
    # Sums (-0.95, 2.2) and -0.5. w = (0.05, 2.2) / 2.200568..., gamma 0.
    inputs = [[-1.0, 2.0], [0.25, 1.0], [-4.0, 1.0]]
    weights, gamma = pp.batch_epoch(
        [[1.0, 0.0]], 0.5, inputs, [1, 1, -1], 1.0, pp.Rule(), [1.0, 2.0, 3.0]
    )
    length = math.sqrt(0.05**2 + 2.2**2)
    assert weights[0] == pytest.approx([0.05 / length, 2.2 / length])
    assert gamma == 0
    # A fixed margin stays; eta 0.1 leaves gamma 0.45 when it is tuned.
    fixed = pp.Rule(tune=False)
    assert pp.batch_epoch([[1.0, 0.0]], 0.5, inputs, [1, 1, -1], 1.0, fixed)[1] == 0.5
    tuned = pp.batch_epoch([[1.0, 0.0]], 0.5, inputs, [1, 1, -1], 0.1, pp.Rule(), [1, 2, 3])
    assert tuned[1] == pytest.approx(0.45)


def test_gamma_is_clipped_at_the_end_of_an_epoch_and_not_within() -> None:
    # Two samples: the first pulls gamma down by 0.75, the second up by 0.25, weight 4: 0.1 + 0.25.
    inputs = [[0.05, 0.0], [-1.0, 0.0]]
    gamma = pp.batch_epoch([[1.0, 0.0]], 0.1, inputs, [1, 1], 1.0, pp.Rule(), [1, 4])[1]
    assert gamma == pytest.approx(0.35)
    # One by one: 0.1 - 0.75 is clipped to 0, then + 1.
    gamma = pp.incremental_epoch([[1.0, 0.0]], 0.1, inputs, [1, 1], 1.0, pp.Rule(), [1, 4])[1]
    assert gamma == pytest.approx(1.0)


def test_a_vector_of_length_zero_stays() -> None:
    # w = 0 says +1, y = +1 is right and 0 is inside: push mu on x = 0, which is nothing.
    weights, _ = pp.batch_epoch([[0.0, 0.0]], 0.05, [[0.0, 0.0]], [1], 0.1, pp.Rule())
    assert weights == [[0.0, 0.0]]


# Runs


def test_energy_by_hand() -> None:
    # Lengths 1, 1, 2: (4 - 1)^2 / 4 = 2.25.
    # x = (0.03, -0.02), weights e1, e2, 2 e1: activations 0.03, -0.02, 0.06, vote +1.
    # y = +1, gamma 0.05: mu (0.02 + 0.03) = 0.005.
    # y = -1: 0.03 + 0.06 = 0.09; Auer adds mu * 0.03 = 0.003.
    weights = [[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]
    x = [[0.03, -0.02]]
    plain, auer = pp.Rule(), pp.Rule(rule="auer")
    assert pp.energy(weights, 0.05, x, [1], plain) == pytest.approx(2.255)
    assert pp.energy(weights, 0.05, x, [-1], plain) == pytest.approx(2.34)
    assert pp.energy(weights, 0.05, x, [-1], auer) == pytest.approx(2.343)
    assert pp.energy(weights, 0.05, x, [-1], auer, [10.0]) == pytest.approx(2.25 + 0.93)


def test_gradient_by_hand() -> None:
    # One vector (2, 0): (|w|^2 - 1) w = (6, 0); x = (1, 1) wrong, y = -1: + x.
    gradient = pp.energy_gradient([[2.0, 0.0]], 0.05, [[1.0, 1.0]], [-1], pp.Rule())
    assert gradient[0] == pytest.approx([7.0, 1.0], abs=1e-6)


def test_learning_rates() -> None:
    assert pp.next_eta("invscaling", 0.1, 9.0, 4, [0.5]) == 0.05
    assert pp.next_eta("constant", 0.1, 9.0, 4, [0.5]) == 0.1
    assert pp.next_eta("adaptive", 0.1, 0.1, 1, [0.5]) == 0.1
    assert pp.next_eta("adaptive", 0.1, 0.2, 2, [0.5, 0.4]) == pytest.approx(0.22)
    assert pp.next_eta("adaptive", 0.1, 0.2, 2, [0.5, 0.6]) == pytest.approx(0.1)
    assert pp.next_eta("adaptive", 0.1, 0.2, 2, [0.5, 0.5]) == 0.2


def test_a_run_of_two_epochs() -> None:
    # w = (1, 0), x = (-1, 1), y = +1, constant eta 1, fixed gamma 0.05.
    # Epoch 1: wrong, J = 1; w = (0, 1). Epoch 2: activation 1, right, J = 0; w stays.
    run = pp.run(
        [[1.0, 0.0]],
        0.05,
        [[-1.0, 1.0]],
        [1],
        epochs=2,
        eta0=1.0,
        schedule="constant",
        rule=pp.Rule(tune=False),
    )
    assert run.errors == [1.0, 0.0]
    assert run.energies == [1.0, 0.0]
    assert run.weights == [[0.0, 1.0]]
    assert run.gammas == [0.05, 0.05]


# Categories


def test_most_means_more_than_half() -> None:
    # Four perceptrons: two beyond the margin are not most of them; on the margin is not beyond.
    assert pp.categories([[2, 2, 0.5, 0.5]], 1, [True]) == ["borderline"]
    assert pp.categories([[2, 2, 2, -9]], 1, [True]) == ["redundant"]
    assert pp.categories([[1, 1, 1]], 1, [True]) == ["borderline"]
    assert pp.categories([[-1, -1, -1]], 1, [True]) == ["borderline"]
    assert pp.categories([[-2, -2, 9]], 1, [True]) == ["noisy"]


@pytest.mark.parametrize(
    ("margins", "positive", "by_all", "by_vote"),
    [
        # Three of three wrong; 0 is +1, so wrong for a negative sample.
        ([-0.5, -0.5, 0.0], False, "quasi_noisy", "quasi_noisy"),
        # Two of three wrong.
        ([-0.5, -0.5, 0.5], False, "borderline", "quasi_noisy"),
        ([0.5, -0.5, 0.5], False, "borderline", "borderline"),
        # An even vote is +1.
        ([0.5, -0.5], False, "borderline", "quasi_noisy"),
        # Positive samples never are.
        ([-0.5, -0.5, -0.5], True, "borderline", "borderline"),
    ],
)
def test_quasi_noisy(margins: list[float], positive: bool, by_all: str, by_vote: str) -> None:
    assert pp.categories([margins], 1, [positive], "all") == [by_all]
    assert pp.categories([margins], 1, [positive], "vote") == [by_vote]


# Regression


def test_regression_pushes() -> None:
    # Output 0.5 against y = 0.1, eps 0.2: too high. 0.1 + 0.2 < 0.5.
    assert pp.regression_push(0.0, 0.1, 0.5, 0.05, 0.1, 0.2) == -1
    assert pp.regression_push(-0.02, 0.1, 0.5, 0.05, 0.1, 0.2) == -0.1
    assert pp.regression_push(-0.2, 0.1, 0.5, 0.05, 0.1, 0.2) == 0
    # Output -0.5: too low.
    assert pp.regression_push(-0.2, 0.1, -0.5, 0.05, 0.1, 0.2) == 1
    assert pp.regression_push(0.0, 0.1, -0.5, 0.05, 0.1, 0.2) == 0.1
    assert pp.regression_push(0.2, 0.1, -0.5, 0.05, 0.1, 0.2) == 0
    # Output 0.25: close enough, both sides of the margin are cleared.
    assert pp.regression_push(0.02, 0.1, 0.25, 0.05, 0.1, 0.2) == 0.1
    assert pp.regression_push(-0.02, 0.1, 0.25, 0.05, 0.1, 0.2) == -0.1


@pytest.mark.parametrize("vote", [-1, 1])
@pytest.mark.parametrize("y", [-1, 1])
def test_with_two_targets_the_regressor_follows_auers_rule(y: int, vote: int) -> None:
    # All but activation 0 for a wrong vote and y = -1: the regressor takes it for wrong (pushes
    # by -1), the classifier's y act < 0 does not.
    for activation in (-0.2, -0.05, -0.01, 0.0, 0.01, 0.05, 0.2):
        if activation == 0 and y == -1 and vote == 1:
            continue
        expected = pp.push(activation, y, vote, 0.05, 0.1, "auer")
        assert pp.regression_push(activation, y, vote, 0.05, 0.1, 0.5) == expected


def test_one_regression_epoch() -> None:
    # Perceptrons (1, 0), (0, 1), (-1, 0), rho 3, x = (1, -2): signs + - -, output -1/3.
    # y = 0.5, eps 0.1: too low: the last two push +1; the first is far from its margin.
    # eta 0.5: (0, 1) + (0.5, -1) = (0.5, 0); (-1, 0) + (0.5, -1) = (-0.5, -1). gamma + 0.125.
    weights, gamma = pp.regression_epoch(
        [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]],
        0.05,
        [[1.0, -2.0]],
        [0.5],
        0.5,
        mu=0.1,
        rho=3,
        eps=0.1,
    )
    assert weights[0] == [1.0, 0.0]
    assert weights[1] == [1.0, 0.0]
    assert weights[2] == pytest.approx([-0.5 / math.sqrt(1.25), -1 / math.sqrt(1.25)])
    assert gamma == pytest.approx(0.175)


# Selection. Inputs on a line and one perceptron w = (1, -threshold), x = (value, -1) extended:
# the margin is y (value - threshold), over a length near 1 where the threshold is not 0.


LINE = [[v, -1.0] for v in (-3.0, -0.5, 0.5, -0.2, 0.2, 3.0, -4.0)]
LINE_Y = [-1, -1, -1, 1, 1, 1, 1]


def thresholds(*values: float, gamma: float = 1.0) -> selection.Train:
    """Trainings that place the threshold where they are told, one after the other."""
    told = iter(values)
    return lambda rows, weights, before: ([[1.0, next(told)]], gamma)


def test_selection_by_hand() -> None:
    # Threshold 0: margins 3, 0.5, -0.5 | -0.2, 0.2, 3, -4. acc+ 2/4, acc- 2/3.
    # Redundant 0 and 5, noisy 6, quasi-noisy 2 (negative, says +1): left 1, 3, 4.
    # Threshold -0.3: acc+ 3/4, acc- 2/3: better. Margins of 1, 3, 4: 0.2, 0.1, 0.5: unchanged.
    found = selection.select(LINE, LINE_Y, thresholds(0.0, -0.3), max_rounds=9)
    assert [r.rows for r in found.rounds] == [[0, 1, 2, 3, 4, 5, 6], [1, 3, 4]]
    assert found.rounds[0].g == pytest.approx(math.sqrt(1 / 3))
    assert found.rounds[1].g == pytest.approx(math.sqrt(1 / 2))
    assert [r.positive_accuracy for r in found.rounds] == [0.5, 0.75]
    assert (found.best, found.end) == (1, "unchanged")


def test_selection_may_keep_the_quasi_noisy() -> None:
    train = thresholds(0.0, -0.3)
    found = selection.select(LINE, LINE_Y, train, max_rounds=2, keep_quasi_noisy=True)
    assert found.rounds[1].rows == [1, 2, 3, 4]
    assert found.end == "unchanged"
    assert selection.select(LINE, LINE_Y, thresholds(0.0), max_rounds=1).end == "cap"


def test_selection_ends_when_either_measure_falls() -> None:
    # Threshold 1: acc- 3/3, acc+ 1/4: g = 0.5 falls from 0.577. Threshold 0.3: acc+ 1/4, acc- 2/3.
    found = selection.select(LINE, LINE_Y, thresholds(0.0, 1.0), max_rounds=9)
    assert (found.best, found.end, len(found.rounds)) == (0, "worse", 2)
    # From acc+ 3/4, acc- 1/3 (g 0.5) at -1 to 2/4, 2/3 (g 0.577) at 0: acc+ fell.
    found = selection.select(LINE, LINE_Y, thresholds(-1.0, 0.0, gamma=9.0), max_rounds=9)
    assert (found.best, found.end) == (0, "worse")


def test_selection_ends_before_a_set_that_cannot_train() -> None:
    # gamma 0.1 at threshold 0: everything is redundant or noisy. gamma 0.3: 3 and 4 are left.
    empty = selection.select(LINE, LINE_Y, thresholds(0.0, gamma=0.1), max_rounds=9)
    assert (empty.end, len(empty.rounds)) == ("empty", 1)
    single = selection.select(LINE, LINE_Y, thresholds(0.0, gamma=0.3), max_rounds=9)
    assert (single.end, len(single.rounds)) == ("one class", 1)


def test_a_round_continues_from_the_one_before() -> None:
    seen: list[tuple[object, object]] = []

    def train(
        rows: list[int], weights: list[pp.Vector] | None, gamma: float | None
    ) -> tuple[list[pp.Vector], float]:
        seen.append((weights, gamma))
        return [[1.0, 0.0]], 1.0

    selection.select(LINE, LINE_Y, train, max_rounds=9)
    assert seen == [(None, None), ([[1.0, 0.0]], 1.0)]


# Boosting


def test_reweighing_by_hand() -> None:
    # Five samples of weight 1/5, the last one wrong: error 1/5, exp(alpha) = 2.
    # AdaBoost: factors 1/2 (four times) and 2: sum 4; weights 1/8 and 1/2.
    y, answers = [1, 1, -1, -1, -1], [1, 1, -1, -1, 1]
    categories = ["redundant", "borderline", "redundant", "borderline", "noisy"]

    def member(weights: list[Decimal]) -> tuple[list[int], list[str]]:
        return answers, categories

    plain = selection.boost(y, member, 1, "adaboost")
    assert plain.rounds[0].alpha == pytest.approx(Decimal(2).ln())
    assert [float(w) for w in plain.weights] == pytest.approx([1 / 8] * 4 + [1 / 2])
    # A noisy one falls like the right ones: all stay 1/5.
    for mode in ("negative", "positive", "balanced"):
        assert [float(w) for w in selection.boost(y, member, 1, mode).weights] == pytest.approx(
            [1 / 5] * 5
        )


@pytest.mark.parametrize(
    ("mode", "last"), [("adaboost", 2), ("negative", 2), ("positive", 1 / 2), ("balanced", 1)]
)
def test_the_quasi_noisy_by_mode(mode: str, last: float) -> None:
    # As before, with factors 1/2 four times and that of the mode once.
    y, answers = [1, 1, -1, -1, -1], [1, 1, -1, -1, 1]
    categories = ["redundant"] * 4 + ["quasi_noisy"]
    found = selection.boost(y, lambda weights: (answers, categories), 1, mode)
    total = 2 + last
    assert [float(w) for w in found.weights] == pytest.approx([0.5 / total] * 4 + [last / total])


def test_boosting_ends_without_error_or_hope() -> None:
    perfect = selection.boost([1, -1], lambda w: ([1, -1], ["redundant"] * 2), 5, "adaboost")
    assert (len(perfect.rounds), perfect.end) == (1, "no error")
    hopeless = selection.boost([1, -1], lambda w: ([1, 1], ["borderline"] * 2), 5, "adaboost")
    assert (len(hopeless.rounds), hopeless.end) == (0, "no better than chance")


def test_given_weights_are_made_to_sum_to_one() -> None:
    found = selection.boost([1, -1, 1], lambda w: ([1, -1, -1], ["noisy"] * 3), 1, "adaboost", [
        1, 2, 1,
    ])  # fmt: skip
    assert found.rounds[0].weights == [Decimal("0.25"), Decimal("0.5"), Decimal("0.25")]
    assert found.scores()[0] == pytest.approx(Decimal(3).ln() / 2)
