"""The p-delta rule of the library against the oracle: single passes, whole runs, the energy."""

from __future__ import annotations

import itertools
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import shared
from tests.oracles import perceptrons as oracle

from orfeon.perceptrons import p_delta
from orfeon.perceptrons.p_delta import PDelta, Solution

Floats = npt.NDArray[np.float64]
RULES: list[Any] = ["p_delta", "auer"]
MODES: list[Any] = ["batch", "incremental"]
SCHEDULES: list[Any] = ["invscaling", "adaptive", "constant"]


def rule_of(rule: PDelta) -> oracle.Rule:
    """What the library reads the rule as: zero says +1 in everything, and Auer's margin counts."""
    return oracle.Rule(
        rule.margin_weight,
        rule.rule,
        rule.tune_margin,
        blames_zero=True,
        tunes_on_wrong=rule.rule == "auer",
    )


def quarters(low: int, high: int) -> st.SearchStrategy[float]:
    """Numbers whose products and sums are exact, so that ties are ties on both sides."""
    return st.integers(low, high).map(lambda k: k / 4)


@st.composite
def problems(
    draw: st.DrawFn,
) -> tuple[Floats, Floats, Floats, Solution]:
    """Inputs with copies and zeros, classes, weights of 0 and more, perceptrons, a margin."""
    n, n_inputs = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    n_perceptrons = draw(st.sampled_from([1, 3, 5]))

    def table(rows: int, low: int, high: int) -> Floats:
        cells = draw(
            st.lists(quarters(low, high), min_size=rows * n_inputs, max_size=rows * n_inputs)
        )
        return np.array(cells).reshape(rows, n_inputs)

    inputs = table(n, -4, 4)
    inputs = inputs[draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))]
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
    weights = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n))
    margin = draw(st.sampled_from([0.0, 0.0625, 0.25, 0.5, 1.0]))
    return inputs, y, np.array(weights), Solution(table(n_perceptrons, -4, 4), margin)


def lists(
    solution: Solution, inputs: Floats, y: Floats
) -> tuple[list[list[float]], float, list[list[float]], list[int]]:
    """What the oracle takes."""
    return solution.weights.tolist(), solution.margin, inputs.tolist(), y.astype(int).tolist()


@given(problems(), st.sampled_from(RULES), st.sampled_from([0.0, 0.1, 0.5]))
@settings(max_examples=shared.cases(400), deadline=None)
def test_one_pass(problem: tuple[Floats, Floats, Floats, Solution], name: Any, mu: float) -> None:
    inputs, y, weights, solution = problem
    rule = PDelta(rule=name, margin_weight=mu)
    given_lists = lists(solution, inputs, y)
    expected, expected_margin = oracle.batch_sums(*given_lists, rule_of(rule), weights.tolist())
    found, margin_update, wrong = p_delta.update(inputs, y, weights, solution, rule)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert margin_update == pytest.approx(expected_margin, abs=1e-12)
    says = [oracle.majority(given_lists[0], x) for x in given_lists[2]]
    assert wrong == weights[np.array(says) != y].sum()
    assert p_delta.energy(inputs, y, weights, solution, rule) == pytest.approx(
        oracle.energy(*given_lists, rule_of(rule), weights.tolist()), abs=1e-12
    )


@given(problems())
@settings(max_examples=shared.cases(200), deadline=None)
def test_the_letter_of_the_rule_where_no_activation_is_zero(
    problem: tuple[Floats, Floats, Floats, Solution],
) -> None:
    """Without the second reading of zero, the plain rule is that of the paper."""
    inputs, y, weights, solution = problem
    inputs = inputs[(inputs @ solution.weights.T != 0).all(axis=1)]
    if not len(inputs):
        return
    y, weights = y[: len(inputs)], weights[: len(inputs)]
    expected, margin = oracle.batch_sums(
        *lists(solution, inputs, y), oracle.Rule(), weights.tolist()
    )
    found, margin_update, _ = p_delta.update(inputs, y, weights, solution, PDelta())
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert margin_update == pytest.approx(margin, abs=1e-12)


@given(problems())
@settings(max_examples=shared.cases(100), deadline=None)
def test_signs_and_activations(problem: tuple[Floats, Floats, Floats, Solution]) -> None:
    inputs, _, _, solution = problem
    activations = p_delta.activations(inputs, solution.weights)
    expected = [[oracle.dot(w, x) for w in solution.weights] for x in inputs]
    assert activations.tolist() == expected
    assert p_delta.signs(activations).tolist() == [[oracle.sign(a) for a in r] for r in expected]


# Runs


def random_problem(seed: int, *, weighted: bool = True) -> tuple[Floats, Floats, Floats, Solution]:
    """Continuous inputs with copies and zeros, so that only the copies tie."""
    rng = np.random.default_rng(seed)
    n, n_inputs, n_perceptrons = rng.integers(4, 20), rng.integers(2, 6), rng.choice([1, 3, 5])
    inputs = rng.normal(size=(n, n_inputs)) / np.sqrt(n_inputs)
    inputs[:, 0] = rng.integers(-1, 2, n)
    inputs[:, -1] = -1 / np.sqrt(n_inputs)
    inputs[n // 2] = inputs[0]
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    weights = rng.choice([0.0, 0.25, 1.0, 2.5], n) if weighted else np.ones(n)
    weights[0] = 1.0
    margin = float(rng.choice([0.0, 0.05, 0.3]))
    return inputs, y, weights, Solution(rng.uniform(-1, 1, (n_perceptrons, n_inputs)), margin)


@pytest.mark.parametrize("tune", [True, False, "mean"])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", RULES)
def test_batch_runs(name: Any, schedule: Any, tune: Any) -> None:
    for seed in range(shared.cases(12)):
        inputs, y, weights, start = random_problem(seed)
        rule = PDelta(rule=name, learning_rate=schedule, rate=0.05, tune_margin=tune)
        expected = oracle.run(
            *lists(start, inputs, y), epochs=25, eta0=0.05, schedule=schedule,
            rule=rule_of(rule), sample_weight=weights.tolist(),
        )  # fmt: skip
        course = p_delta.train(inputs, y, weights, start, rule, 25, np.random.default_rng(0))
        np.testing.assert_allclose(course.solution.weights, expected.weights, rtol=1e-9, atol=1e-9)
        assert course.solution.margin == pytest.approx(expected.gamma, abs=1e-9)
        assert course.solution.rate == pytest.approx(expected.etas[-1], rel=1e-12)
        np.testing.assert_allclose(course.error_shares, expected.errors, atol=1e-12)
        np.testing.assert_allclose(course.energies, expected.energies, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("tune", [True, False])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", RULES)
def test_incremental_runs(name: Any, schedule: Any, tune: bool) -> None:
    for seed in range(shared.cases(12)):
        inputs, y, weights, start = random_problem(seed)
        rule = PDelta("incremental", name, schedule, 0.05, tune)
        orders = np.random.default_rng(seed)
        expected = oracle.incremental_run(
            *lists(start, inputs, y), [orders.permutation(len(y)).tolist() for _ in range(12)],
            eta0=0.05, schedule=schedule, rule=rule_of(rule), sample_weight=weights.tolist(),
        )  # fmt: skip
        course = p_delta.train(inputs, y, weights, start, rule, 12, np.random.default_rng(seed))
        np.testing.assert_allclose(course.solution.weights, expected.weights, rtol=1e-9, atol=1e-9)
        assert course.solution.margin == pytest.approx(expected.gamma, abs=1e-9)
        np.testing.assert_allclose(course.error_shares, expected.errors, atol=1e-12)
        np.testing.assert_allclose(course.energies, expected.energies, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_a_run_in_two_halves_is_one_run(mode: Any) -> None:
    for schedule, seed in itertools.product(SCHEDULES, range(4)):
        inputs, y, weights, start = random_problem(seed)
        rule = PDelta(mode, learning_rate=schedule, rate=0.05)
        whole = p_delta.train(inputs, y, weights, start, rule, 14, np.random.default_rng(seed))
        rng = np.random.default_rng(seed)
        first = p_delta.train(inputs, y, weights, start, rule, 6, rng)
        second = p_delta.train(inputs, y, weights, first.solution, rule, 8, rng)
        assert second.solution.weights.tolist() == whole.solution.weights.tolist()
        ends = [asdict(run.solution) for run in (second, whole)]
        for end in ends:
            del end["weights"]
        assert ends[0] == ends[1]
        assert [*first.energies, *second.energies] == whole.energies.tolist()


def test_weights_are_copies() -> None:
    for seed in range(6):
        inputs, y, _, start = random_problem(seed)
        counts = np.random.default_rng(seed).integers(0, 4, len(y))
        copied = np.repeat(np.arange(len(y)), counts)
        ones = np.ones(len(copied))
        weighted = p_delta.update(inputs, y, counts.astype(float), start, PDelta())
        repeated = p_delta.update(inputs[copied], y[copied], ones, start, PDelta())
        np.testing.assert_allclose(weighted[0], repeated[0], atol=1e-12)
        assert weighted[1:] == pytest.approx(repeated[1:])


# The energy


def off_the_kinks(inputs: Floats, solution: Solution, rng: np.random.Generator) -> Solution:
    """The solution with other weights, none of whose activations is near 0 or the margin."""
    while True:
        weights = rng.normal(size=solution.weights.shape)
        distances = np.abs(inputs @ weights.T)
        if min(distances.min(), np.abs(distances - solution.margin).min()) > 1e-4:
            return replace(solution, weights=weights)


@pytest.mark.parametrize("name", RULES)
def test_the_update_is_minus_the_gradient_of_the_energy(name: Any) -> None:
    rng = np.random.default_rng(0)
    rule = PDelta(rule=name, margin_weight=0.3)
    n_moved = 0
    for seed in range(30):
        inputs, y, weights, start = random_problem(seed)
        here = off_the_kinks(inputs, start, rng)
        queried, _, _ = p_delta.update(inputs, y, weights, here, rule)
        pull = -((here.weights**2).sum(axis=1, keepdims=True) - 1) * here.weights
        gradient = np.empty_like(here.weights)
        for place in np.ndindex(gradient.shape):
            ahead, behind = here.weights.copy(), here.weights.copy()
            ahead[place] += 1e-6
            behind[place] -= 1e-6
            gradient[place] = (
                p_delta.energy(inputs, y, weights, replace(here, weights=ahead), rule)
                - p_delta.energy(inputs, y, weights, replace(here, weights=behind), rule)
            ) / 2e-6
        np.testing.assert_allclose(queried + pull, -gradient, atol=1e-6)
        by_oracle = oracle.energy_gradient(*lists(here, inputs, y), rule_of(rule), weights.tolist())
        np.testing.assert_allclose(gradient, by_oracle, atol=1e-6)
        n_moved += np.abs(queried).sum() > 0
    assert n_moved >= 25


# The two modes


def commuting(rng: np.random.Generator) -> tuple[Floats, Floats, Solution]:
    """Three samples, each with an input of its own, that never move the same perceptron.

    The first is wrong by two perceptrons; the second is right, with the third perceptron within the
    margin, on either side; the third is right by all. From length 1, the pull towards length 1 only
    ever stretches a vector, so that in any order each ends in the direction of the batch step.
    """
    weights = rng.uniform(0.4, 0.6, (3, 3))
    weights[:2, 0] *= -1
    weights[2, 1] = rng.choice([-1, 1]) * rng.uniform(0.005, 0.01)
    weights /= np.sqrt((weights**2).sum(axis=1, keepdims=True))
    y = rng.choice([-1.0, 1.0], 3)
    return np.eye(3), y, Solution(weights * y, 0.05)


@pytest.mark.parametrize("tune", [True, False])
def test_the_modes_agree_where_samples_do_not_meet(tune: bool) -> None:
    for seed in range(40):
        inputs, y, start = commuting(np.random.default_rng(seed))
        ends = [
            p_delta.train(
                inputs, y, np.ones(3), start, PDelta(mode, rate=0.04, tune_margin=tune), 1,
                np.random.default_rng(seed),
            ).solution
            for mode in MODES
        ]  # fmt: skip
        moved = np.abs(ends[0].unit_weights - start.weights).max(axis=1)
        assert (moved > 1e-3).all()
        np.testing.assert_allclose(ends[1].unit_weights, ends[0].unit_weights, atol=1e-14)
        # 0.25 for the wrong one and the right one beyond, -0.75 for the one within.
        assert ends[0].margin == pytest.approx(0.05 - 0.01 * tune)
        assert ends[1].margin == pytest.approx(ends[0].margin)


@pytest.mark.parametrize("name", RULES)
def test_the_modes_agree_on_one_sample(name: Any) -> None:
    for seed in range(20):
        inputs, y, weights, start = random_problem(seed)
        start = Solution(start.unit_weights, start.margin)
        its = inputs[:1], y[:1], weights[:1]
        batch, incremental = (
            p_delta.train(*its, start, PDelta(mode, name), 1, np.random.default_rng(0)).solution
            for mode in MODES
        )
        np.testing.assert_allclose(incremental.unit_weights, batch.unit_weights, atol=1e-14)
        assert incremental.margin == batch.margin
