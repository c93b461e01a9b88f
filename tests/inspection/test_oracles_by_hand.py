"""The oracles of diversity, bias and variance, and maps: worked numbers and exact identities."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.oracles import bias_variance as bv
from tests.oracles import diversity, maps

F = Fraction


def members_of(patterns):
    """Members' being right on samples, from how often each pattern of rights occurs."""
    columns = [[c == "1" for c in pattern] for pattern, n in patterns.items() for _ in range(n)]
    return [list(row) for row in zip(*columns, strict=True)], [1] * len(columns)


#: Kuncheva's patterns of success and failure: three members of accuracy 0.6 on ten samples.
SUCCESS = members_of({"110": 3, "101": 3, "011": 3, "000": 1})
FAILURE = members_of({"111": 4, "100": 2, "010": 2, "001": 2})


def random_case(seed):
    """Members right and wrong at random, with weights of samples, some of them nothing."""
    rng = np.random.default_rng(seed)
    n_members, n_samples = int(rng.integers(2, 8)), int(rng.integers(3, 15))
    right = (rng.random((n_members, n_samples)) < rng.choice([0.3, 0.6, 0.9])).tolist()
    right[0][0], right[0][1] = True, False
    weights = [F(int(n), 3) for n in rng.integers(0, 5, n_samples)]
    weights[0] = weights[1] = F(1)
    return right, weights


def accuracy(right, weights):
    total = sum(weights) * len(right)
    return sum(w for row in right for ok, w in zip(row, weights, strict=True) if ok) / total


# -- diversity -------------------------------------------------------------------------------------


def test_pattern_of_success_by_hand():
    """Each pair: both right on 3, one on 3 and 3, none on 1; two of three right on nine."""
    pairs = {
        name: diversity.mean_of_pairs(getattr(diversity, name), *SUCCESS)
        for name in ("q_statistic", "correlation", "disagreement", "double_fault")
    }
    assert pairs["correlation"] == pytest.approx(-1 / 4, abs=1e-15)
    del pairs["correlation"]
    assert pairs == {"q_statistic": F(-1, 2), "disagreement": F(6, 10), "double_fault": F(1, 10)}
    assert diversity.kohavi_wolpert_variance(*SUCCESS) == F(9, 10) * F(2, 9)
    assert diversity.interrater_kappa(*SUCCESS) == F(-1, 4)  # 1 - 6 / (10 x 2 x 0.24)
    assert diversity.entropy(*SUCCESS) == F(9, 10)
    assert diversity.difficulty(*SUCCESS) == F(1, 25)  # 0.9 x 4/9 - 0.36
    assert diversity.generalized_diversity(*SUCCESS) == F(3, 4)  # 1 - 0.1 / 0.4
    assert diversity.coincident_failure(*SUCCESS) == F(9, 10)


def test_pattern_of_failure_by_hand():
    """Each pair: both right on 4, one on 2 and 2, none on 2; one of three right on six."""
    pairs = {
        name: diversity.mean_of_pairs(getattr(diversity, name), *FAILURE)
        for name in ("q_statistic", "disagreement", "double_fault")
    }
    assert pairs == {"q_statistic": F(1, 3), "disagreement": F(4, 10), "double_fault": F(2, 10)}
    assert diversity.mean_of_pairs(diversity.correlation, *FAILURE) == pytest.approx(1 / 6)
    assert diversity.kohavi_wolpert_variance(*FAILURE) == F(6, 10) * F(2, 9)
    assert diversity.interrater_kappa(*FAILURE) == F(1, 6)  # 1 - 4 / 4.8
    assert diversity.entropy(*FAILURE) == F(6, 10)
    assert diversity.difficulty(*FAILURE) == F(8, 75)  # 0.4 + 0.6 / 9 - 0.36
    assert diversity.generalized_diversity(*FAILURE) == F(1, 2)  # 1 - 0.2 / 0.4
    assert diversity.coincident_failure(*FAILURE) == F(1, 2)


def test_identities_between_the_measures_hold_in_fractions():
    for seed in range(30):
        right, weights = random_case(seed)
        n_members, p = len(right), accuracy(right, weights)
        apart = diversity.mean_of_pairs(diversity.disagreement, right, weights)
        variance = diversity.kohavi_wolpert_variance(right, weights)
        assert variance == F(n_members - 1, 2 * n_members) * apart
        kappa = diversity.interrater_kappa(right, weights)
        assert kappa == 1 - F(n_members, n_members - 1) * variance / (p * (1 - p))
        assert kappa == 1 - apart / (2 * p * (1 - p))
        assert diversity.difficulty(right, weights) == p * (1 - p) - variance
        faults = diversity.mean_of_pairs(diversity.double_fault, right, weights)
        assert diversity.generalized_diversity(right, weights) == 1 - faults / (1 - p)


def test_weights_are_copies():
    for seed in range(5):
        right, _ = random_case(seed)
        counts = np.random.default_rng(seed).integers(0, 4, len(right[0])).tolist()
        counts[0] = counts[1] = 1
        copied = [
            [ok for ok, n in zip(row, counts, strict=True) for _ in range(n)] for row in right
        ]
        ones = [1] * len(copied[0])
        for name in ("kohavi_wolpert_variance", "interrater_kappa", "entropy", "difficulty",
                     "generalized_diversity", "coincident_failure"):  # fmt: skip
            measure = getattr(diversity, name)
            assert measure(right, counts) == measure(copied, ones)
        for name in ("q_statistic", "disagreement", "double_fault"):
            measure = getattr(diversity, name)
            assert measure(right[0], right[1], counts) == measure(copied[0], copied[1], ones)


def test_extremes_of_coincident_failures():
    one_at_a_time = [[False, True, True], [True, False, True], [True, True, False]]
    together = [[False, True]] * 3
    assert diversity.generalized_diversity(one_at_a_time, [1] * 3) == 1
    assert diversity.coincident_failure(one_at_a_time, [1] * 3) == 1
    assert diversity.generalized_diversity(together, [1] * 2) == 0
    assert diversity.coincident_failure(together, [1] * 2) == 0
    assert diversity.interrater_kappa(together, [1] * 2) == 1
    assert diversity.generalized_diversity([[True], [True]], [1]) is None
    assert diversity.q_statistic([True, True], [True, True], [1, 1]) is None
    assert diversity.correlation([True, True], [True, False], [1, 1]) is None


def test_unequal_numbers_of_answers_by_hand():
    """Two of three right, one of one: 1 - (2/3) / ((2 - 1) 2 x 3/4 x 1/4)."""
    right = [[True, None], [False, None], [True, True]]
    assert diversity.interrater_kappa(right, [1, 1]) == 1 - F(2, 3) / (2 * F(3, 16))
    assert diversity.kohavi_wolpert_variance(right, [1, 1]) == F(1, 9)
    assert diversity.difficulty(right, [1, 1]) == F(1, 36)
    assert diversity.disagreement(right[0], right[2], [1, 1]) == 0


def test_kappa_of_labels_by_hand():
    assert diversity.kappa([0, 1, 2], [0, 1, 2], [1, 1, 1]) == 1
    assert diversity.kappa([0, 1], [1, 0], [1, 1]) == -1
    assert diversity.kappa([0, 0, 1, 1], [0, 1, 0, 1], [1] * 4) == 0
    assert diversity.kappa([0, 0], [0, 0], [1, 1]) is None
    assert diversity.kappa([0, 1, None], [0, 0, 5], [1, 2, 9]) == 0  # agree on 1/3, by chance 1/3


def test_margins_and_edges():
    rng = np.random.default_rng(1)
    for _ in range(100):
        n_classes = int(rng.integers(2, 5))
        votes = rng.integers(0, n_classes, 7).tolist()
        weights = [F(int(n), 2) for n in rng.integers(1, 5, 7)]
        margin, edge = (rule(votes, 1, weights) for rule in (diversity.margin, diversity.edge))
        assert -1 <= 1 - 2 * edge <= margin <= 1
        assert n_classes > 2 or margin == 1 - 2 * edge
    assert diversity.margin([1, 1, 2, 2, 0], 2, [1] * 5) == 0
    assert diversity.margin([None, None], 0, [1, 1]) is None
    assert diversity.margin([0, 1], 0, [3, 1]) == F(1, 2)


# -- bias and variance -----------------------------------------------------------------------------


def random_shares(rng, n_classes, sure=False):
    if sure:
        return bv.sure_of(int(rng.integers(n_classes)), n_classes)
    parts = [int(n) for n in rng.integers(0, 9, n_classes)]
    parts[int(rng.integers(n_classes))] += 1
    return [F(part, sum(parts)) for part in parts]


@pytest.mark.parametrize("sure", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_decompositions_add_up_exactly(n_classes, sure):
    rng = np.random.default_rng(n_classes)
    for _ in range(60):
        answers, true = random_shares(rng, n_classes), random_shares(rng, n_classes, sure)
        error = 1 - sum(q * p for q, p in zip(answers, true, strict=True))
        for rule in (bv.kohavi_wolpert, bv.breiman):
            parts = rule(answers, true)
            assert parts["bias"] + parts["variance"] + parts["noise"] == parts["error"] == error
        parts = bv.kohavi_wolpert_corrected(answers, true, 4)
        assert parts["bias"] + parts["variance"] + parts["noise"] == error
        parts = bv.kong_dietterich(answers, true)
        assert parts["bias"] + parts["variance"] == error
        parts = bv.domingos(answers, true)
        whole = parts["c1"] * parts["noise"] + parts["bias"] + parts["c2"] * parts["variance"]
        assert whole == error
        parts = bv.james(answers, true)
        assert parts["noise"] + parts["systematic"] + parts["effect"] == error
        if n_classes == 2:
            parts = bv.friedman(answers, true)
            assert parts["noise"] + parts["factor"] * parts["boundary"] == error


def test_definitions_agree_where_they_must():
    """Without noise: Domingos's biased variance is negative, and sums to Kong and Dietterich's."""
    rng = np.random.default_rng(9)
    for _ in range(60):
        n_classes = int(rng.integers(2, 5))
        answers, true = random_shares(rng, n_classes), random_shares(rng, n_classes, sure=True)
        kong, pedro = bv.kong_dietterich(answers, true), bv.domingos(answers, true)
        assert kong["bias"] == pedro["bias"]
        assert kong["variance"] == pedro["c2"] * pedro["variance"]
        gareth = bv.james(answers, true)
        assert (gareth["systematic"], gareth["effect"]) == (kong["bias"], kong["variance"])
        leo = bv.breiman(answers, true)
        assert leo["noise"] == 0
        assert (leo["bias"] == 0) or (pedro["bias"] == 1)


def test_one_point_by_hand():
    """Seven of ten trainings say a, three b; the truth is a with 0.2, b with 0.5, c with 0.3."""
    answers, true = [F(7, 10), F(3, 10), F(0)], [F(2, 10), F(5, 10), F(3, 10)]
    error = F(71, 100)  # 1 - 0.14 - 0.15
    assert bv.kohavi_wolpert(answers, true) == {
        "bias": F(19, 100), "variance": F(21, 100), "noise": F(31, 100), "error": error,
    }  # fmt: skip
    assert bv.kong_dietterich(answers, true)["bias"] == F(8, 10)
    assert bv.breiman(answers, true) == {
        "bias": F(21, 100), "variance": 0, "noise": F(1, 2), "error": error,
    }  # fmt: skip
    parts = bv.domingos(answers, true)
    assert (parts["c1"], parts["c2"]) == (F(2, 100), -1)  # 0.3 - 0.14 / 0.5, and -0.3 / 0.3
    assert bv.james(answers, true)["systematic"] == F(3, 10)


@pytest.mark.parametrize("n_trainings", [2, 3, 5])
def test_corrected_squared_bias_is_unbiased_by_enumeration(n_trainings):
    """Over all that R trainings may predict, its mean is the squared bias of infinitely many."""
    answers, true = [F(1, 2), F(1, 3), F(1, 6)], [F(1, 5), F(3, 5), F(1, 5)]
    plain, corrected = F(0), F(0)
    for predictions in itertools.product(range(3), repeat=n_trainings):
        chance = math.prod(answers[k] for k in predictions)
        shares = bv.shares_of_trainings(predictions, 3)
        plain += chance * bv.kohavi_wolpert(shares, true)["bias"]
        corrected += chance * bv.kohavi_wolpert_corrected(shares, true, n_trainings)["bias"]
    exact = bv.kohavi_wolpert(answers, true)
    assert corrected == exact["bias"] == F(73, 900)  # (81 + 64 + 1) / 900 / 2
    assert plain == exact["bias"] + exact["variance"] / n_trainings


def test_boundary_error_is_that_of_a_normal_estimate():
    draws = np.random.default_rng(0).normal(0.6, 0.2, 200_000)
    assert bv.boundary_error(0.6, 0.04, 0.7) == pytest.approx((draws < 0.5).mean(), abs=0.004)
    assert bv.boundary_error(0.6, 0.04, 0.2) == pytest.approx((draws >= 0.5).mean(), abs=0.004)
    assert bv.boundary_error(0.5, 0.04, 0.7) == 0.5


def test_squared_error_is_bias_plus_variance_plus_noise():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        predictions = [F(int(n), 4) for n in rng.integers(-20, 20, 6)]
        labels = [F(int(n), 3) for n in rng.integers(-20, 20, 4)]
        parts = bv.regression(predictions, sum(labels) / 4, labels)
        assert parts["bias"] + parts["variance"] + parts["noise"] == parts["error"]
        alone = bv.regression(predictions, labels[0], labels[:1])
        assert alone["noise"] == 0
        assert alone["bias"] + alone["variance"] == alone["error"]


# -- maps, walks and coincidences ------------------------------------------------------------------


def test_walk_by_hand():
    """Members (1, 1, -1) and (1, -1, 1) and (1, 1, 1): c_ens = (1, 1/3, 1/3)."""
    c = [[1, 1, -1], [1, -1, 1], [1, 1, 1]]
    ensemble = maps.mean_vector(c)
    assert ensemble == [1, F(1, 3), F(1, 3)]
    lacking = maps.reference(ensemble, [1, 1, 1])  # lambda = -(5/3) / (11/9)
    assert lacking == [F(-4, 11), F(6, 11), F(6, 11)]
    assert maps.dot(ensemble, lacking, [1, 1, 1]) == 0
    points = maps.partial_sums(c, [2, 0, 1])
    assert points == [[F(1, 3)] * 3, [F(2, 3), F(2, 3), 0], ensemble]
    first, last = (maps.coordinates(p, ensemble, lacking, [1] * 3) for p in (points[0], points[2]))
    assert first == pytest.approx((5 / (3 * math.sqrt(11)), 8 / (3 * math.sqrt(88)), 0), abs=1e-15)
    assert last == pytest.approx((math.sqrt(11) / 3, 0, 0), abs=1e-15)
    along, up, left = maps.coordinates(points[1], ensemble, lacking, [1] * 3)
    assert along**2 + up**2 + left**2 == pytest.approx(8 / 9, abs=1e-15)
    assert left == pytest.approx(math.sqrt(2) / 3, abs=1e-15)  # half of (0, 2/3, -2/3)


def test_walk_with_weights_is_a_walk_with_copies():
    rng = np.random.default_rng(2)
    c = rng.choice([-1, 1], (4, 6)).tolist()
    counts = [1, 2, 0, 3, 1, 1]
    copied = [[v for v, n in zip(row, counts, strict=True) for _ in range(n)] for row in c]
    walks = []
    for vectors, weights in ((c, counts), (copied, [1] * 8)):
        ensemble = maps.mean_vector(vectors)
        lacking = maps.reference(ensemble, weights)
        walks.append([
            maps.coordinates(point, ensemble, lacking, weights)
            for point in maps.partial_sums(vectors, [3, 1, 0, 2])
        ])  # fmt: skip
    assert np.allclose(*walks, rtol=0, atol=1e-14)


def test_lead_of_a_decision_by_hand():
    assert maps.decision_and_lead([0, 0, 1, 1, 1, 2], 3) == (1, F(1, 6))
    assert maps.decision_and_lead([0, 0, 1, 1], 2) == (0, 0)
    assert maps.decision_and_lead([0, 1, 1], 2, [3, 1, 1]) == (0, F(1, 5))


def test_coincidence_by_hand():
    """Order 2, 0, 1 of three members; its prefixes are the best subsets of sizes 2 and 3."""
    assert maps.coincidence([[1], [0, 2], [0, 1, 2]], [2, 0, 1]) == [
        [0, 0, 1],
        [1, 1, 0],
        [1, 1, 1],
    ]
    assert [maps.in_common([0, 2], subset) for subset in ([1], [0, 2], [0, 1, 2])] == [0, 2, 2]
