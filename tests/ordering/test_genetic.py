"""Genetic search: the fitness by hand, the operators one by one, and what the whole must do."""

from __future__ import annotations

from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.oracles.subset_search import fitness, wrong_weight

from orfeon.datasets import make_waveform
from orfeon.ordering import (
    error_curve,
    order,
    order_votes,
    read_selection,
    search_exhaustive_votes,
    search_genetic_votes,
)
from orfeon.ordering import genetic as module
from orfeon.ordering.contests import find_contests
from orfeon.ordering.genetic import search_genetic


def draw(seed, n_members, n_samples, n_classes, skill=0.5, silent=0.0):
    """Votes of members that are right with some probability, and the truth."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_samples)
    votes = rng.integers(0, n_classes, (n_members, n_samples))
    votes = np.where(rng.random(votes.shape) < skill, y, votes)
    votes[rng.random(votes.shape) < silent] = -1
    votes[0, (votes < 0).all(axis=0)] = 0
    return votes, y


def judge(votes, y, weights=None):
    selection = read_selection(votes, y, weights, no_vote=-1)
    return module._Fitness(find_contests(selection), module._n_equal(selection))


@pytest.fixture(scope="module")
def bag():
    X, y = make_waveform(300, random_state=1)
    trees = DecisionTreeClassifier(ccp_alpha=0.01)
    return BaggingClassifier(trees, 60, random_state=0).fit(X, y), X, y


# -- fitness ---------------------------------------------------------------------------------------


def test_fitness_by_hand():
    # One of two members, right on 2 of 4 samples: 1 / (1 + 1/2 + 1 / (2 * 2 * 4)).
    search = search_genetic_votes(
        [[0, 0, 1, 1], [1, 1, 1, 1]], [0, 0, 0, 0], mutation=0, crossover=0
    )
    assert search.subset.tolist() == [0]
    assert search.error == 0.5
    assert search.fitness == pytest.approx(1 / (1 + 0.5 + 1 / 16), rel=1e-15)
    assert search.history.mean_fitness[0] == pytest.approx(
        (1 / (1.5 + 1 / 16) + 1 / (2 + 1 / 16)) / 2, rel=1e-12
    )
    assert search.history.mean_error[0] == 0.75


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("silent", [0.0, 0.4])
@pytest.mark.parametrize("entries", [1, 100, 1 << 22])
def test_all_strings_have_the_fitness_of_the_formula(monkeypatch, n_classes, silent, entries):
    monkeypatch.setattr(module, "_ENTRIES", entries)
    votes, y = draw(n_classes, 6, 20, n_classes, silent=silent)
    weights = np.random.default_rng(1).integers(1, 4, 20)
    strings = np.array(list(product([False, True], repeat=6)))
    judged = judge(votes, y, weights)
    errors = judged.errors(strings)
    expected = [fitness(votes.tolist(), y.tolist(), weights.tolist(), s) for s in strings]
    np.testing.assert_allclose(judged.fitness(strings, errors), np.array(expected, float), 1e-15)
    for string, error in zip(strings[1:], errors[1:], strict=True):
        wrong = wrong_weight(votes.tolist(), y.tolist(), weights.tolist(), np.flatnonzero(string))
        assert error == wrong / weights.sum()


def test_the_empty_string_has_error_one():
    judged = judge([[0, 0], [0, 0]], [0, 0])
    nothing = np.zeros((1, 2), bool)
    assert judged.errors(nothing).tolist() == [1]
    assert judged.fitness(nothing, np.ones(1))[0] == pytest.approx(1 / (2 + 2 / 8), rel=1e-15)


def test_of_subsets_with_equal_error_the_larger_is_fitter_but_never_than_one_with_less():
    votes, y = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1]]), np.zeros(3, int)
    judged = judge(votes, y)
    strings = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 0, 1]], bool)
    values = judged.fitness(strings, judged.errors(strings))
    assert values[2] > values[1] > values[0] > values[3]
    # Two zeros of three weigh less than a third of the samples.
    assert values[0] == pytest.approx(1 / (1 + 2 / 18), rel=1e-15)
    assert search_genetic_votes(votes, y, random_state=0).subset.tolist() == [0, 1, 2]


def test_weight_two_is_two_copies():
    votes, y = draw(2, 30, 50, 3)
    weights = np.random.default_rng(3).integers(0, 4, 50)
    weighted = search_genetic_votes(
        votes, y, sample_weight=weights, n_generations=20, random_state=0
    )
    copied = search_genetic_votes(
        np.repeat(votes, weights, axis=1), np.repeat(y, weights), n_generations=20, random_state=0
    )
    assert weighted.subset.tolist() == copied.subset.tolist()
    assert weighted.history.mean_fitness.tolist() == copied.history.mean_fitness.tolist()


def test_small_weights_do_not_make_zeros_outweigh_samples():
    votes, y = draw(4, 20, 40, 2)
    plain = search_genetic_votes(votes, y, n_generations=30, random_state=0)
    shares = search_genetic_votes(
        votes, y, sample_weight=np.full(40, 1 / 40), n_generations=30, random_state=0
    )
    assert shares.fitness == plain.fitness
    assert shares.subset.tolist() == plain.subset.tolist()


# -- start -----------------------------------------------------------------------------------------


def test_the_diagonal_start_has_one_member_a_string():
    rng = np.random.default_rng(0)
    assert module._first("diagonal", 4, 4, rng).tolist() == np.eye(4, dtype=bool).tolist()
    more = module._first("diagonal", 5, 3, rng)
    assert more.argmax(axis=1).tolist() == [0, 1, 2, 0, 1]
    assert more.sum(axis=1).tolist() == [1] * 5
    fewer = module._first("diagonal", 3, 7, rng)
    assert [np.flatnonzero(s).tolist() for s in fewer] == [[0, 3, 6], [1, 4], [2, 5]]


def test_the_start_is_in_the_history():
    votes, y = draw(5, 12, 30, 3)
    history = search_genetic_votes(votes, y, population_size=12, n_generations=3).history
    errors = (votes != y).mean(axis=1)
    assert history.best_error[0] == errors.min()
    assert history.mean_error[0] == pytest.approx(errors.mean(), rel=1e-12)
    assert len(history.best_fitness) == 4


def test_a_random_start_has_half_of_the_bits():
    strings = module._first("random", 400, 100, np.random.default_rng(0))
    assert strings.mean() == pytest.approx(0.5, abs=0.01)
    votes, y = draw(6, 30, 60, 2)
    assert (
        search_genetic_votes(votes, y, start="random", random_state=0).history.mean_error[0] < 0.2
    )


# -- breeding --------------------------------------------------------------------------------------


def bred(strings, values, n_strings, crossover=0.0, mutation=0.0, seed=0):
    population = SimpleNamespace(
        strings=np.array(strings, bool), fitness=np.array(values, float), fittest=np.argmax(values)
    )
    rng = np.random.default_rng(seed)
    return module.bred(population, n_strings, crossover, mutation, rng)


def test_parents_are_drawn_in_proportion_to_their_fitness():
    children = bred(np.eye(3), [1.0, 2.0, 5.0], 40_002)[2:]
    assert children.mean(axis=0) == pytest.approx([1 / 8, 2 / 8, 5 / 8], abs=0.01)
    assert (children.sum(axis=1) == 1).all()


def test_the_first_two_are_copies_of_the_fittest():
    strings = [[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1]]
    following = bred(strings, [1.0, 3.0, 2.0], 7, crossover=1.0, mutation=1.0)
    assert len(following) == 7
    assert following[:2].tolist() == [[False, True, True, False]] * 2


def test_two_children_share_out_the_bits_of_their_parents():
    n = 2000
    strings = [[0] * n, [1] * n]
    following = bred(strings, [1.0, 1.0], 202, crossover=0.65)
    first, second = following[2:102], following[102:]
    same = (first == second).all(axis=1)  # twice the same parent
    assert 30 <= same.sum() <= 70
    assert (first[~same] ^ second[~same]).all()
    shares = first[~same].mean(axis=1)
    is_mixed = (shares > 0) & (shares < 1)
    assert shares[is_mixed] == pytest.approx(0.5, abs=0.06)
    assert is_mixed.mean() == pytest.approx(0.65, abs=0.15)


def test_how_often_parents_mix_and_bits_flip():
    strings = [[0] * 20, [1] * 20]
    mixed = bred(strings, [1.0, 1.0], 40_002, crossover=0.65)[2:].mean(axis=1) % 1 > 0
    assert mixed.mean() == pytest.approx(0.65 / 2, abs=0.01)  # half have the same parent twice
    flipped = bred(np.zeros((1, 200)), [1.0], 2002, crossover=0.65, mutation=0.005)[2:]
    assert flipped.mean() == pytest.approx(0.005, abs=0.0005)
    assert bred(np.zeros((1, 9)), [1.0], 12, mutation=1.0)[2:].all()


def test_without_operators_nothing_new_comes_up():
    votes, y = draw(7, 25, 80, 3)
    search = search_genetic_votes(
        votes, y, crossover=0, mutation=0, n_generations=30, random_state=0
    )
    assert search.error == search.history.best_error[0] == (votes != y).mean(axis=1).min()
    assert len(search.subset) == 1


# -- the whole -------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["diagonal", "random"])
@pytest.mark.parametrize("mutation", [0.005, 0.2])
def test_the_best_fitness_never_falls(start, mutation):
    votes, y = draw(8, 40, 100, 3)
    history = search_genetic_votes(
        votes, y, start=start, mutation=mutation, n_generations=60, random_state=1
    ).history
    assert all(after >= before for before, after in pairwise(history.best_fitness))
    assert history.best_fitness[-1] > history.best_fitness[0]
    assert (history.best_fitness >= history.mean_fitness).all()


def test_it_improves_much_on_the_diagonal_start_and_on_the_whole_bag(bag):
    ensemble, X, y = bag
    search = search_genetic(ensemble, X, y, random_state=0)
    whole = order(ensemble, X, y, rule="random", random_state=0).error_curve[-1]
    assert search.error < 0.5 * whole
    assert search.error < 0.6 * search.history.best_error[0]
    assert search.history.mean_error[-1] < search.history.mean_error[0] / 2
    votes = np.array([tree.predict(X) for tree in ensemble.estimators_], dtype=int)
    assert search.error == error_curve(read_selection(votes, y), search.subset)[-1]
    assert (np.diff(search.subset) > 0).all()


def test_it_finds_the_optimum_of_a_few_members(bag):
    ensemble, X, y = bag
    votes = np.array([tree.predict(X) for tree in ensemble.estimators_[:14]], dtype=int)
    optimum = search_exhaustive_votes(votes, y).error_curve.min()
    assert search_genetic_votes(votes, y, random_state=0).error == optimum
    for seed in range(5):
        few = search_genetic_votes(votes, y, population_size=6, n_generations=4, random_state=seed)
        assert few.error >= optimum


def test_seeded_is_never_worse_than_the_reduce_error_solution(bag):
    ensemble, X, y = bag
    greedy = order(ensemble, X, y, rule="reduce_error").error_curve
    for seed in range(3):
        seeded = search_genetic(ensemble, X, y, seeded=True, n_generations=40, random_state=seed)
        assert seeded.history.best_error[0] == greedy.min()
        assert seeded.error <= greedy.min()
        assert len(seeded.history.best_error) == 41
    unseeded = search_genetic(ensemble, X, y, n_generations=40, random_state=0)
    assert unseeded.history.best_error[0] > greedy.min()


def test_the_seed_is_the_longest_best_prefix():
    votes, y = draw(0, 12, 40, 3)
    greedy = order_votes(votes, y, rule="reduce_error")
    best = np.flatnonzero(greedy.error_curve == greedy.error_curve.min()) + 1
    assert best.tolist() == [8, 10]
    string = module._reduce_error_solution(read_selection(votes, y), judge(votes, y))
    assert np.flatnonzero(string).tolist() == sorted(greedy.order[: best[-1]].tolist())


def test_the_seed_replaces_two_strings_of_the_start():
    votes, y = draw(9, 12, 60, 3)
    greedy = order_votes(votes, y, rule="reduce_error").error_curve.min()
    start = search_genetic_votes(votes, y, population_size=12, n_generations=1, seeded=True).history
    mean = ((votes != y).mean(axis=1)[:10].sum() + 2 * greedy) / 12
    assert start.mean_error[0] == pytest.approx(mean, rel=1e-12)


def test_the_random_state_fixes_everything():
    votes, y = draw(10, 50, 120, 3)

    def run(random_state):
        search = search_genetic_votes(votes, y, n_generations=25, random_state=random_state)
        return search.subset.tolist(), search.history.mean_fitness.tolist()

    assert run(0) == run(0) == run(np.int64(0))
    assert run(0) != run(1)
    assert run(np.random.default_rng(5)) == run(np.random.default_rng(5))
    assert run(np.random.RandomState(5)) == run(np.random.RandomState(5))


def test_silence_is_no_vote():
    votes, y = draw(11, 20, 60, 3, silent=0.6)
    search = search_genetic_votes(votes, y, no_vote=-1, n_generations=30, random_state=0)
    wrong = wrong_weight(votes.tolist(), y.tolist(), [1] * 60, search.subset)
    assert search.error == wrong / 60


def test_one_member_and_unanimous_members():
    one = search_genetic_votes([[0, 1, 1]], [0, 0, 1], population_size=3, n_generations=2)
    assert one.subset.tolist() == [0]
    assert one.error == pytest.approx(1 / 3)
    same = search_genetic_votes(np.zeros((4, 3), int), [0, 0, 0], n_generations=40, random_state=0)
    assert same.error == 0
    assert same.subset.tolist() == [0, 1, 2, 3]
    assert same.fitness == 1


def test_progress_counts_generations(capsys):
    search_genetic_votes([[0, 1], [1, 1]], [0, 1], n_generations=20, verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("Genetic search  20/20 [####################] 100%")
    assert len(lines) == 10


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"population_size": 2},
            "population_size=2 is not allowed; it must be a whole number, 3 or",
        ),
        ({"population_size": 10.0}, "population_size=10.0 is not allowed"),
        (
            {"n_generations": 0},
            "n_generations=0 is not allowed; it must be a whole number, 1 or more",
        ),
        ({"n_generations": True}, "n_generations=True is not allowed"),
        ({"crossover": 1.5}, "crossover=1.5 is not allowed; it must be a probability"),
        ({"crossover": float("nan")}, "crossover=nan is not allowed"),
        ({"mutation": -0.1}, "mutation=-0.1 is not allowed; it must be a probability, from 0 to 1"),
        ({"mutation": "much"}, "mutation='much' is not allowed"),
        ({"seeded": "yes"}, "seeded='yes' is not allowed; use True or False"),
        ({"start": "eye"}, 'start=\'eye\' is not allowed; use "diagonal" or "random"'),
        ({"sample_weight": [1, -1]}, "sample_weight"),
        ({"verbose": -1}, "verbose=-1"),
    ],
)
def test_wrong_arguments_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        search_genetic_votes([[0, 1], [1, 1]], [0, 1], **given)


def test_what_is_no_vote_of_equals_is_refused():
    with pytest.raises(ValueError, match="searched for votes only"):
        search_genetic_votes([[0.5, 1.5], [0.2, 1.0]], [0.4, 1.2])
    X, y = make_waveform(60, random_state=0)
    boosted = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=4).fit(X, y)
    with pytest.raises(ValueError, match="vote with different weights"):
        search_genetic(boosted, X, y)
    with pytest.raises(ValueError, match=r"votes has shape \(1, 2\).*y has 3"):
        search_genetic_votes([[0, 1]], [0, 1, 1])
