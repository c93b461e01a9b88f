"""Standard errors by the infinitesimal jackknife."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles.uncertainty import infinitesimal_jackknife

import orfeon
from orfeon import BaggingRegressor, RandomForestClassifier, RandomForestRegressor
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.uncertainty.in_bag import InBagCounts, jackknife_variance

FEW = pytest.mark.filterwarnings("ignore:.*are below the noise", "ignore:.*seen by every")


def test_counts_survive_as_bits():
    counts = np.random.default_rng(0).integers(0, 9, size=(13, 40))
    known = InBagCounts.of(counts, np.arange(40))
    assert np.array_equal(known.counts(), counts)
    assert len(known.planes) == 4
    assert known.moments == pytest.approx((counts.mean(), counts.var(axis=0).sum()))


def test_the_variance_is_its_definition():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(25, np.full(25, 1 / 25), size=19)
    answers = rng.normal(size=(19, 6)) + counts[:, :6]
    found = jackknife_variance(answers, InBagCounts.of(counts, np.arange(25)))
    assert found == pytest.approx(infinitesimal_jackknife(answers, counts))


@FEW
def test_forests_use_the_counts_of_their_own_samples():
    X, y = make_friedman1(60, random_state=0)
    new = make_friedman1(10, random_state=1)[0]
    forest = RandomForestRegressor(50, oob_score=True, random_state=0).fit(X, y)
    expected = infinitesimal_jackknife(forest.predictions(new), forest.in_bag(X, y))
    assert forest.standard_error(new) == pytest.approx(np.sqrt(np.maximum(expected, 0.0)))


def test_standard_errors_are_those_of_many_refits():
    new = make_friedman1(15, random_state=999)[0]
    predictions, errors = [], []
    for seed in range(60):
        X, y = make_friedman1(100, noise=3.0, random_state=seed)
        bag = BaggingRegressor(
            orfeon.CARTRegressor(max_depth=3), 150, oob_score=True, random_state=seed
        ).fit(X, y)
        predictions.append(bag.predict(new))
        if seed % 6 == 0:
            variance = jackknife_variance(bag.predictions(new), bag._in_bag)
            errors.append(variance)
    true = np.var(predictions, axis=0, ddof=1)
    ratio = np.mean(errors) / true.mean()
    assert 0.7 < ratio < 1.4


@FEW
@pytest.mark.parametrize("combine", ["majority", "soft"])
def test_shares_of_classes_have_standard_errors(combine, tmp_path):
    X, y = make_waveform(80, random_state=0)
    forest = RandomForestClassifier(60, combine=combine, oob_score=True, random_state=0).fit(X, y)
    errors = forest.standard_error(X)
    assert errors.shape == (80, 3)
    counts = forest.in_bag(X, y)
    supports = forest.forest_.supports(forest._rows(X))
    if combine == "majority":
        supports = np.eye(3)[forest.votes(X)]
    expected = infinitesimal_jackknife(supports[:, :5, 1], counts)
    assert errors[:5, 1] == pytest.approx(np.sqrt(np.maximum(expected, 0.0)), abs=1e-12)
    orfeon.save(forest, tmp_path / "forest.orfeon")
    assert np.array_equal(orfeon.load(tmp_path / "forest.orfeon").standard_error(X), errors)


@FEW
def test_weight_2_is_two_copies():
    X, y = make_friedman1(60, random_state=0)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    copies = np.repeat(np.arange(60), weights)
    forest = RandomForestRegressor(40, oob_score=True, random_state=0)
    weighted = forest.fit(X, y, weights).standard_error(X)
    assert np.array_equal(weighted, forest.fit(X[copies], y[copies]).standard_error(X))


def test_few_members_are_told():
    X, y = make_friedman1(100, random_state=0)
    forest = RandomForestRegressor(12, max_samples=0.5, oob_score=True, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="of 100 rows are below the noise of 12 members"):
        forest.standard_error(X)


def test_without_bootstrap_samples_there_is_a_sentence():
    X, y = make_friedman1(50, random_state=0)
    with pytest.raises(ValueError, match="set oob_score=True, with bootstrap=True"):
        RandomForestRegressor(5).fit(X, y).standard_error(X)
    with pytest.raises(ValueError, match="how often each sample was drawn: use bagging"):
        orfeon.WaggingRegressor(n_estimators=3).fit(X, y).standard_error(X)
