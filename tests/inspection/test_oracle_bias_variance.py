"""Decompositions of the error of random trainings, against literal sums in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests import shared
from tests.oracles import bias_variance as oracle

from orfeon.inspection import (
    breiman_decomposition,
    correlated_mean_variance,
    domingos_decomposition,
    friedman_decomposition,
    kohavi_wolpert_decomposition,
    kong_dietterich_decomposition,
    member_correlation,
    squared_error_decomposition,
)

usual = settings(deadline=None, max_examples=shared.cases(80))


@st.composite
def cases(draw, n_classes=None, known=None):
    """Predictions of some trainings, the truth at each point, and what the library is told."""
    n_classes = draw(st.integers(2, 5)) if n_classes is None else n_classes
    n_trainings, n_points = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    labels = st.integers(0, n_classes - 1)
    row = st.lists(labels, min_size=n_points, max_size=n_points)
    predictions = draw(st.lists(row, min_size=n_trainings, max_size=n_trainings))
    # Eighths, which floats hold exactly, and with few of which there are many ties.
    cuts = st.lists(st.integers(0, 8), min_size=n_classes - 1, max_size=n_classes - 1).map(sorted)
    given_posterior = draw(st.booleans()) if known is None else known
    weights = draw(st.lists(st.integers(0, 4), min_size=n_points, max_size=n_points))
    weights = [Fraction(n, 2) for n in (weights if any(weights) else [1] * n_points)]
    told = {"sample_weight": [float(w) for w in weights]}
    if given_posterior:
        bounds = [[0, *draw(cuts), 8] for _ in range(n_points)]
        true = [[Fraction(b - a, 8) for a, b in pairwise(c)] for c in bounds]
        told |= {"posterior": [[float(p) for p in shares] for shares in true]}
        told |= {"classes": list(range(n_classes))}
    else:
        y = draw(row)
        true = [oracle.sure_of(label, n_classes) for label in y]
        told |= {"y": y}
    return predictions, true, weights, told


def points_of(predictions, true, weights):
    """At each point that counts: shares of the trainings, probabilities, Bayes's class, weight.

    Of classes that are equally probable, Bayes's is the one that is predicted most often.
    """
    for i, (distribution, weight) in enumerate(zip(true, weights, strict=True)):
        if weight:
            answers = oracle.shares_of_trainings([row[i] for row in predictions], len(distribution))
            main = oracle.first_largest(answers)
            best = oracle.first_largest(distribution)
            yield answers, distribution, main if distribution[main] == max(distribution) else best


def agrees(found, points, weights, names):
    """The parts at each point and their weighted means, as near as rounding allows."""
    counted = [weight for weight in weights if weight]
    means = oracle.over_points(points, counted)
    for ours, theirs in names.items():
        values = getattr(found, f"point_{ours}")
        expected = [float(point[theirs]) for point in points]
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-14, err_msg=ours)
        assert getattr(found, ours) == pytest.approx(float(means[theirs]), rel=0, abs=1e-14)


SAME_NAMES = {name: name for name in ("error", "bias", "variance", "noise")}


@usual
@given(cases())
def test_kohavi_wolpert(case):
    predictions, true, weights, told = case
    found = kohavi_wolpert_decomposition(predictions, **told)
    points = [
        oracle.kohavi_wolpert(answers, p) for answers, p, _ in points_of(predictions, true, weights)
    ]
    agrees(found, points, weights, SAME_NAMES)


@usual
@given(cases())
def test_kohavi_wolpert_corrected(case):
    predictions, true, weights, told = case
    assume(len(predictions) > 1)
    found = kohavi_wolpert_decomposition(predictions, **told, unbiased=True)
    points = [
        oracle.kohavi_wolpert_corrected(answers, p, len(predictions))
        for answers, p, _ in points_of(predictions, true, weights)
    ]
    agrees(found, points, weights, SAME_NAMES)


@usual
@given(cases(known=False))
def test_kong_dietterich_as_published(case):
    predictions, true, weights, told = case
    found = kong_dietterich_decomposition(predictions, **told)
    points = [
        oracle.kong_dietterich(answers, p)
        for answers, p, _ in points_of(predictions, true, weights)
    ]
    agrees(found, points, weights, {name: name for name in ("error", "bias", "variance")})
    assert found.noise == 0


@usual
@given(cases(known=True))
def test_kong_dietterich_with_noise_is_james(case):
    predictions, true, weights, told = case
    found = kong_dietterich_decomposition(predictions, **told)
    points = [oracle.james(*point) for point in points_of(predictions, true, weights)]
    names = {"error": "error", "bias": "systematic", "variance": "effect", "noise": "noise"}
    agrees(found, points, weights, names)


@usual
@given(cases())
def test_breiman(case):
    predictions, true, weights, told = case
    found = breiman_decomposition(predictions, **told)
    points = [oracle.breiman(*point) for point in points_of(predictions, true, weights)]
    agrees(found, points, weights, SAME_NAMES)
    biased = [
        oracle.first_largest(answers) != best
        for answers, _, best in points_of(predictions, true, weights)
    ]
    assert found.is_biased.tolist() == biased


@usual
@given(cases())
def test_domingos(case):
    predictions, true, weights, told = case
    found = domingos_decomposition(predictions, **told)
    points = [oracle.domingos(*point) for point in points_of(predictions, true, weights)]
    for point in points:
        point["net variance"] = point["c2"] * point["variance"]
        point["net noise"] = point["c1"] * point["noise"]
    names = {"error": "error", "bias": "bias", "variance": "net variance", "noise": "net noise"}
    agrees(found, points, weights, names)
    means = oracle.over_points(points, [weight for weight in weights if weight])
    assert found.gross_variance == pytest.approx(float(means["variance"]), abs=1e-14)
    assert found.gross_noise == pytest.approx(float(means["noise"]), abs=1e-14)
    for i, point in enumerate(points):
        if point["noise"]:  # else c1 has nothing to multiply
            assert found.noise_factor[i] == pytest.approx(float(point["c1"]), abs=1e-13)
        if point["variance"]:
            assert found.variance_factor[i] == pytest.approx(float(point["c2"]), abs=1e-13)


@usual
@given(cases(n_classes=2), st.data())
def test_friedman(case, data):
    """From estimates of the second class in tenths, one of them never just a half."""
    predictions, true, weights, told = case
    tenths = st.sampled_from([Fraction(n, 10) for n in (0, 1, 2, 3, 4, 6, 7, 8, 9, 10)])
    estimates = [[data.draw(tenths) for _ in row] for row in predictions]
    decided = [[int(value > Fraction(1, 2)) for value in row] for row in estimates]
    told = {**told, "classes": [0, 1]}
    found = friedman_decomposition([[float(v) for v in row] for row in estimates], **told)
    points, columns = [], []
    for i, (p, weight) in enumerate(zip(true, weights, strict=True)):
        if weight:
            answers = oracle.shares_of_trainings([row[i] for row in decided], 2)
            points.append(oracle.friedman(answers, p))
            columns.append((i, p[1], [row[i] for row in estimates]))
    agrees(found, points, weights, {"error": "error", "noise": "noise"})
    for at, (point, (_, y_true, column)) in enumerate(zip(points, columns, strict=True)):
        mean = sum(column) / len(column)
        variance = sum((value - mean) ** 2 for value in column) / len(column)
        assert found.estimate_bias[at] == pytest.approx(float(mean - y_true), abs=1e-14)
        assert found.estimate_variance[at] == pytest.approx(float(variance), abs=1e-14)
        side = (y_true < Fraction(1, 2)) - (y_true > Fraction(1, 2))
        boundary = float(side * (mean - Fraction(1, 2)))
        assert found.boundary_bias[at] == pytest.approx(boundary, abs=1e-14)
        assert found.stakes[at] == float(point["factor"])
        if y_true != Fraction(1, 2):
            assert found.boundary_error[at] == pytest.approx(float(point["boundary"]), abs=1e-14)
            if variance:
                chance = oracle.boundary_error(float(mean), float(variance), float(y_true))
                assert found.normal_boundary_error[at] == pytest.approx(chance, abs=1e-9)
    means = oracle.over_points(
        [{"lost": point["factor"] * point["boundary"]} for point in points],
        [weight for weight in weights if weight],
    )
    assert found.reducible_error == pytest.approx(float(means["lost"]), abs=1e-14)


@usual
@given(st.data())
def test_squared_error(data):
    n_trainings, n_points = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    number = st.integers(-40, 40).map(lambda n: Fraction(n, 8))
    row = st.lists(number, min_size=n_points, max_size=n_points)
    predictions = data.draw(st.lists(row, min_size=n_trainings, max_size=n_trainings))
    labels = [data.draw(st.lists(number, min_size=1, max_size=4)) for _ in range(n_points)]
    weights = data.draw(st.lists(st.integers(0, 3), min_size=n_points, max_size=n_points))
    weights = weights if any(weights) else [1] * n_points
    true = [sum(values) / len(values) for values in labels]
    points = [
        oracle.regression([training[i] for training in predictions], true[i], labels[i])
        for i in range(n_points)
        if weights[i]
    ]
    noise = [
        float(sum((v - f) ** 2 for v in values) / len(values))
        for values, f in zip(labels, true, strict=True)
    ]
    answers = [[float(v) for v in training] for training in predictions]
    told = {"noise": noise, "sample_weight": weights}
    found = squared_error_decomposition(answers, [float(f) for f in true], **told)
    for ours in SAME_NAMES:
        expected = [float(point[ours]) for point in points]
        np.testing.assert_allclose(
            getattr(found, f"point_{ours}"), expected, rtol=1e-12, atol=1e-13
        )
        mean = oracle.over_points(points, [w for w in weights if w])[ours]
        assert getattr(found, ours) == pytest.approx(float(mean), rel=1e-12, abs=1e-13)
    if n_trainings > 1:
        found = squared_error_decomposition(
            answers, [float(f) for f in true], **told, unbiased=True
        )
        for at, point in enumerate(points):
            excess = point["variance"] / (n_trainings - 1)
            bias, variance = point["bias"] - excess, point["variance"] + excess
            assert found.point_bias[at] == pytest.approx(float(bias), rel=1e-12, abs=1e-12)
            assert found.point_variance[at] == pytest.approx(float(variance), rel=1e-12, abs=1e-12)


# -- correlated members ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_members", [1, 2, 5])
@pytest.mark.parametrize("correlation", [Fraction(-1, 4), Fraction(0), Fraction(1, 3), Fraction(1)])
def test_variance_of_a_mean_is_the_mean_of_all_covariances(correlation, n_members):
    variance = Fraction(9, 4)
    total = Fraction(0)
    for a in range(n_members):
        for b in range(n_members):
            total += variance if a == b else correlation * variance
    found = correlated_mean_variance(float(correlation), float(variance), n_members)
    assert found == pytest.approx(float(total / n_members**2), abs=1e-15)


def shared_and_own(groups):
    """Analysis of variance in fractions: variance between groups, and within them."""
    n_groups, size = len(groups), len(groups[0])
    means = [sum(group) / size for group in groups]
    grand = sum(means) / n_groups
    of_means = sum((mean - grand) ** 2 for mean in means) / (n_groups - 1)
    own = Fraction(0)
    for group, mean in zip(groups, means, strict=True):
        own += sum((value - mean) ** 2 for value in group) / (size - 1) / n_groups
    return of_means - own / size, own, of_means


@usual
@given(st.data())
def test_correlation_of_members_by_analysis_of_variance(data):
    n_trainings, n_members = data.draw(st.integers(2, 5)), data.draw(st.integers(2, 5))
    n_classes, n_points = data.draw(st.sampled_from([0, 2, 3])), 2
    outputs = st.integers(0, n_classes - 1) if n_classes else st.integers(-9, 9)
    answers = [
        [[data.draw(outputs) for _ in range(n_points)] for _ in range(n_members)]
        for _ in range(n_trainings)
    ]
    found = member_correlation(np.array(answers), n_classes=n_classes)
    shared_all, own_all = Fraction(0), Fraction(0)
    for i in range(n_points):
        shared, own, of_means = Fraction(0), Fraction(0), Fraction(0)
        for k in range(n_classes or 1):
            groups = [
                [Fraction(member[i] == k) if n_classes else Fraction(member[i]) for member in one]
                for one in answers
            ]
            parts = shared_and_own(groups)
            shared, own, of_means = shared + parts[0], own + parts[1], of_means + parts[2]
        assert found.ensemble_variance[i] == pytest.approx(float(of_means), abs=1e-12)
        assert found.variance[i] == pytest.approx(float(shared + own), abs=1e-12)
        if shared + own:
            expected = float(shared / (shared + own))
            assert found.correlation[i] == pytest.approx(expected, abs=1e-9)
        shared_all, own_all = shared_all + shared, own_all + own
    if shared_all + own_all > 0:
        expected = float(shared_all / (shared_all + own_all))
        assert found.pooled_correlation == pytest.approx(expected, abs=1e-9)
