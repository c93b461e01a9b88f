"""Arc-x4, MultiBoosting, M2, MH, pairs, output codes and filtering against the oracles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests import shared
from tests.oracles.boosting import (
    arc_x4,
    committee_ends,
    filter_distribution,
    filter_samples,
    multiboost,
)
from tests.oracles.boosting_labels import (
    adaboost_m2,
    adaboost_mh,
    adaboost_oc,
    one_against_rest,
    pairwise,
    scores_of_classes,
    scores_of_pairs,
)
from tests.oracles.boosting_script import play
from tests.oracles.boosting_weak import in_turn

from orfeon.boosting import binary_problems, majority_of_three
from orfeon.boosting import multiboost as multiboosting
from orfeon.boosting.adaboost_m2 import M2Scheme
from orfeon.boosting.arcing import ArcX4Scheme
from orfeon.boosting.output_codes import OutputCodeScheme
from orfeon.ensembles.wagging import poisson_weights

usual = settings(deadline=None, derandomize=True, max_examples=shared.cases(60))


@st.composite
def problems(draw, least_classes=2, most_rounds=6):
    """Labels, votes with some mistakes, and the number of classes."""
    n, n_classes = draw(st.integers(3, 10)), draw(st.integers(least_classes, 4))
    codes = st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)
    y = draw(codes)
    mistake = st.dictionaries(st.integers(0, n - 1), st.integers(1, 2), max_size=1 + n // 3)
    mistakes = draw(st.lists(mistake, min_size=1, max_size=most_rounds))
    votes = [[(c + row.get(i, 0)) % n_classes for i, c in enumerate(y)] for row in mistakes]
    return y, votes, n_classes


def floats(table):
    """Fractions and decimals as an array."""
    return np.array([[float(v) for v in row] for row in table])


# --- arc-x4 and MultiBoosting ---------------------------------------------------------------


@given(problems())
@usual
def test_arc_x4(problem):
    y, votes, _ = problem
    oracle = arc_x4(in_turn(votes), y, len(votes))
    scheme = ArcX4Scheme(np.array(y), np.ones(len(y)))
    run, learner, kept = play(scheme, np.array(votes))
    assert len(kept) == len(votes)
    assert {one.result.vote for one in kept} == {1.0}
    np.testing.assert_allclose(learner.weights, floats(r.weights for r in oracle.rounds))
    np.testing.assert_allclose(scheme.weights, [float(w) for w in oracle.weights], rtol=1e-14)
    errors = [float(r.error) for r in oracle.rounds]
    np.testing.assert_allclose([j.error for j in run.results], errors, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("n_members", [1, 2, 3, 4, 9, 10, 50, 99, 100])
def test_committees_end_where_webb_ends_them(n_members):
    assert [*multiboosting.committee_ends(n_members), n_members] == committee_ends(n_members)


@given(problems(most_rounds=9), st.integers(0, 99))
@usual
def test_multiboost(problem, seed):
    """The random weights are those of the library; everything that follows from them is not."""
    y, votes, n_classes = problem
    n_members = len(votes)
    ends = multiboosting.committee_ends(n_members)
    scheme = multiboosting.MultiBoostScheme(np.array(y), np.ones(len(y)), n_classes, ends)
    run, learner, _ = play(scheme, np.array(votes), seed)
    answered = [0]

    def weak(weights, labels):
        answered[0] += 1
        return votes[answered[0] - 1]

    def wagged():
        yield [Fraction(w) for w in learner.weights[0]]
        while True:
            drawn = poisson_weights(len(y), learner.generators[answered[0] - 1])
            yield [Fraction(w) for w in drawn]

    oracle = multiboost(weak, y, [*ends, n_members], wagged(), attempts=n_members)
    exact = floats(r.weights for r in oracle.rounds)
    np.testing.assert_allclose(learner.weights[: len(exact)], exact, rtol=1e-10)
    for result, r in zip(run.results, oracle.rounds, strict=True):
        assert result.keep == r.kept
        assert result.error == pytest.approx(float(r.error), rel=1e-10)
        if r.kept:
            assert result.vote == pytest.approx(float(r.alpha), rel=1e-9, abs=1e-12)


# --- weights on mislabels -------------------------------------------------------------------


def assert_same_losses(run, learner, oracle, scale):
    """Pseudo-losses, fates and votes; ``scale`` is how the library measures alpha."""
    assert len(run.results) == len(oracle.rounds)
    for result, r in zip(run.results, oracle.rounds, strict=True):
        assert result.error == pytest.approx(float(r.error), rel=1e-11, abs=1e-15)
        assert result.keep == r.kept
        if r.kept and r.error > 1e-30:
            found = np.abs(result.vote)
            np.testing.assert_allclose(found, scale * float(r.alpha), rtol=1e-9, atol=1e-12)


@given(st.integers(2, 8), st.integers(2, 4), st.data())
@usual
def test_m2(n, n_classes, data):
    y = data.draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    eighths = st.lists(st.integers(0, 8), min_size=n_classes, max_size=n_classes)
    table = st.lists(eighths, min_size=n, max_size=n)
    tables = np.array(data.draw(st.lists(table, min_size=1, max_size=6))) / 8
    # the right class is more plausible than it would be by chance
    tables[:, np.arange(n), y] = np.maximum(tables[:, np.arange(n), y], 0.75)
    answers = iter(tables)
    oracle = adaboost_m2(
        lambda weights, labels: [[Fraction(v) for v in row] for row in next(answers).tolist()],
        y, n_classes, len(tables),
    )  # fmt: skip
    scheme = M2Scheme(np.array(y), np.ones(n), n_classes)
    run, learner, kept = play(scheme, tables)
    assert_same_losses(run, learner, oracle, scale=2)
    for given_, r in zip(learner.weights, oracle.rounds, strict=True):
        of_samples = floats(r.weights).sum(axis=1)
        np.testing.assert_allclose(given_ / given_.sum(), of_samples, rtol=1e-11)
    if not run.ended:
        np.testing.assert_allclose(scheme.mislabels.weights, floats(oracle.weights), rtol=1e-11)
    if oracle.members and oracle.rounds[-1].error > 1e-30:
        votes = [one.result.vote / 2 for one in kept]
        sums = np.tensordot(votes, tables[: len(votes)], 1)
        np.testing.assert_allclose(sums, floats(oracle.scores()), rtol=1e-9, atol=1e-12)


@given(problems(least_classes=3, most_rounds=5), st.integers(0, 99))
@usual
def test_output_codes(problem, seed):
    """The colourings are those of the library; a member that fails is dropped, and it goes on."""
    y, votes, n_classes = problem
    assume(len(set(y)) > 1)
    at_random = np.random.default_rng(seed).integers(0, n_classes, (2, len(y))).tolist()
    votes = [votes[0], at_random[0], *votes[1:], at_random[1]]
    scheme = OutputCodeScheme(np.array(y), np.ones(len(y)), n_classes)
    colourings = []

    class Colours:
        """Members say the colour of the class that the script votes for."""

        def __len__(self):
            return len(votes)

        def __getitem__(self, t):
            colourings.append(scheme.colouring.copy())
            return scheme.colouring[np.array(votes[t])]

    run, learner, _ = play(scheme, Colours(), seed)
    assert len(run.results) == len(votes)
    turns = iter(range(len(votes)))
    oracle = adaboost_oc(
        lambda D, colours: [colourings[t][v] for t in [next(turns)] for v in votes[t]],
        y, n_classes, [mu.tolist() for mu in colourings], goes_on=True,
    )  # fmt: skip
    assert_same_losses(run, learner, oracle, scale=2)
    for t, r in enumerate(oracle.rounds):
        trained = learner.weights[t] / learner.weights[t].sum()
        np.testing.assert_allclose(trained, [float(D) for D in r.samples], rtol=1e-10, atol=1e-15)
        np.testing.assert_array_equal(learner.labels[t], colourings[t][y])
    for mu in colourings:  # as even as can be, which makes U largest
        assert mu.sum() == n_classes // 2


# --- several binary problems ----------------------------------------------------------------


def signs_of(votes, n_classes, flips):
    """+1 for the class voted for and -1 for the others, some turned round."""
    signs = 2 * (np.array(votes)[:, :, None] == np.arange(n_classes)) - 1
    return signs * flips


@st.composite
def sign_tables(draw):
    """Labels, what members say of each pair of a sample and a class, number of classes."""
    y, votes, n_classes = draw(problems())
    shape = (len(votes), len(y), n_classes)
    seed = draw(st.integers(0, 2**16))
    flips = np.where(np.random.default_rng(seed).random(shape) < 0.15, -1, 1)
    return y, signs_of(votes, n_classes, flips), n_classes


@given(sign_tables())
@usual
def test_mh(problem):
    y, outputs, n_classes = problem
    answers = iter(outputs.tolist())
    oracle = adaboost_mh(lambda D, Y: next(answers), y, n_classes, len(outputs))
    codes = binary_problems.one_against_rest(n_classes)
    scheme = binary_problems.ProblemScheme(np.array(y), np.ones(len(y)), codes, joint=True)
    run, learner, kept = play(scheme, outputs)
    assert_same_losses(run, learner, oracle, scale=1)
    for given_, r in zip(learner.weights, oracle.rounds, strict=True):
        np.testing.assert_allclose(given_, floats(r.weights), rtol=1e-11)
    if oracle.members:
        votes = np.array([one.result.vote for one in kept])
        sums = np.einsum("tk,tik->ik", votes, outputs[: len(votes)].astype(float))
        np.testing.assert_allclose(sums, floats(oracle.scores()), rtol=1e-9, atol=1e-9)


def outputs(kept, answers):
    """The sum over the members of vote times what they say, for each problem."""
    total = np.zeros(answers.shape[1:])
    for one in kept:
        total += one.result.vote * answers[one.member]
    return total


def assert_same_problems(learner, runs, present):
    """The weights that each problem is trained with, until it is done."""
    for p, run in enumerate(runs):
        mine = [weights[:, p] for weights in learner.weights]
        for weights, r in zip(mine, run.rounds, strict=False):
            np.testing.assert_allclose(weights, [float(w) for w in r.weights], rtol=1e-11)
        for weights in mine[len(run.rounds) :]:
            assert not weights.any()
        assert present[p] == (run.rounds[0].weights != [])


@given(sign_tables())
@usual
def test_one_against_the_rest(problem):
    y, answers, n_classes = problem
    assume(len(set(y)) > 1)
    runs = one_against_rest(
        [in_turn(answers[:, :, k].tolist()) for k in range(n_classes)], y, len(answers)
    )
    codes = binary_problems.one_against_rest(n_classes)
    scheme = binary_problems.ProblemScheme(np.array(y), np.ones(len(y)), codes, joint=False)
    _, learner, kept = play(scheme, answers)
    assert_same_problems(learner, runs, [True] * n_classes)
    if any(run.members for run in runs):
        np.testing.assert_allclose(
            outputs(kept, answers), floats(scores_of_classes(runs)), rtol=1e-9, atol=1e-9
        )


@given(problems(least_classes=3), st.integers(0, 2**16))
@usual
def test_pairs(problem, seed):
    y, votes, n_classes = problem
    assume(len(set(y)) == n_classes)
    codes = binary_problems.all_pairs(n_classes)
    pairs = [(int(np.argmin(row)), int(np.argmax(row))) for row in codes]
    truth = codes[:, y].T
    rng = np.random.default_rng(seed)
    shape = (len(votes), len(y), len(pairs))
    answers = np.where(truth == 0, 1, truth) * np.where(rng.random(shape) < 0.25, -1, 1)
    weaks = {pair: in_turn(answers[:, :, p].tolist()) for p, pair in enumerate(pairs)}
    runs = pairwise(weaks, y, n_classes, len(answers))
    scheme = binary_problems.ProblemScheme(np.array(y), np.ones(len(y)), codes, joint=False)
    _, learner, kept = play(scheme, answers)
    assert_same_problems(learner, [runs[pair] for pair in pairs], [True] * len(pairs))
    if any(run.members for run in runs.values()):
        decoded = outputs(kept, answers) @ codes
        exact = floats(scores_of_pairs(runs, n_classes))
        np.testing.assert_allclose(decoded, exact, rtol=1e-9, atol=1e-9)


# --- filtering ------------------------------------------------------------------------------


@given(problems(most_rounds=3), st.data())
@usual
def test_filtering_a_distribution(problem, data):
    y, votes, _ = problem
    votes = (votes * 3)[:3]
    assume(votes[0] != y)
    assume(any(v == c for v, c in zip(votes[0], y, strict=True)))
    raw = data.draw(st.lists(st.integers(1, 5), min_size=len(y), max_size=len(y)))
    D = [Fraction(w, sum(raw)) for w in raw]
    rounds, decided = filter_distribution(in_turn(votes), y, D)
    trained = []

    def train(weights, number):
        trained.append(np.asarray(weights, dtype=float) / np.sum(weights))
        return number, np.array(votes[number])

    run = majority_of_three.Filtering(np.array(y), train, np.random.SeedSequence(0))
    found = run.learn(majority_of_three.Distribution(np.array(raw, dtype=float)), 1)
    np.testing.assert_array_equal(found.votes, decided)
    np.testing.assert_allclose(trained, floats(r.weights for r in rounds), rtol=1e-12)
    np.testing.assert_allclose(run.errors, [float(r.error) for r in rounds], rtol=1e-12)


@given(problems(most_rounds=3), st.integers(0, 2**16))
@usual
def test_filtering_a_stream(problem, seed):
    y, votes, _ = problem
    y, votes = y * 3, [row * 3 for row in (votes * 3)[:3]]
    order = np.random.default_rng(seed).permutation(len(y))
    stream = majority_of_three.Stream(order, np.ones(len(y), np.int64))
    pieces = tuple(part.rows.tolist() for part in stream.parts())
    assert [len(piece) for piece in pieces] == [len(y) // 3] * 3
    turns = iter(votes)
    seen, decided = filter_samples(lambda rows: next(turns), y, pieces)
    trained = []

    def train(counts, number):
        trained.append(np.flatnonzero(counts).tolist())
        return number, np.array(votes[number])

    run = majority_of_three.Filtering(np.array(y), train, np.random.SeedSequence(0))
    np.testing.assert_array_equal(run.learn(stream, 1).votes, decided)
    assert trained == [sorted(rows) for rows in seen if rows]
