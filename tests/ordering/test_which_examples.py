"""Whether members were trained on the samples: nothing is held for out-of-bag that is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from orfeon import PrunedClassifier, order, prune
from orfeon.datasets import make_waveform
from orfeon.inspection import error_curves, importances, margins
from orfeon.members import adapt
from orfeon.members.vote_input import read_ensemble
from orfeon.ordering.auto_size import choose_size
from orfeon.ordering.rule import as_rule

TREES = [
    RandomForestClassifier(12, random_state=0),
    RandomForestRegressor(12, random_state=0),
    BaggingClassifier(n_estimators=12, random_state=0),
    BaggingRegressor(n_estimators=12, random_state=0),
]
OTHERS = [
    BaggingClassifier(GaussianNB(), 12, random_state=0),
    BaggingRegressor(KNeighborsRegressor(3), 12, random_state=0),
]


@pytest.fixture(scope="module")
def sets():
    """A training set, and as many other samples."""
    X, y = make_waveform(160, random_state=0)
    return (X[:80, :8], y[:80]), (X[80:, :8], y[80:])


def rule_of(ensemble):
    return "reduce_error" if hasattr(ensemble, "classes_") else "complementarity"


@pytest.mark.parametrize("ensemble", TREES, ids=lambda e: type(e).__name__)
def test_as_many_samples_of_validation_are_taken_as_they_are(ensemble, sets):
    train, other = sets
    ensemble.fit(*train)
    for (X, y), known in ((train, True), (other, False)):
        found = importances(ensemble, X, y, kind="permutation", random_state=0, n_repeats=1)
        assert found.on == ("out_of_bag" if known else "train")
        choice = order(ensemble, X, y, rule=rule_of(ensemble)).size_choice(n_folds=2)
        assert (choice.out_of_bag is not None) == known
        curves = error_curves(ensemble, X, y)
        assert ("out-of-bag" in {curve.on for curve in curves}) == known
    X, y = other
    for query in (
        lambda: importances(ensemble, X, y, kind="permutation", on="out_of_bag"),
        lambda: order(ensemble, X, y, on="out_of_bag", rule=rule_of(ensemble)),
        lambda: prune(ensemble, X, y, on="out_of_bag", rule=rule_of(ensemble)),
        lambda: error_curves(ensemble, X, y, out_of_bag=True),
    ):
        with pytest.raises(ValueError, match="is not the training set"):
            query()
    if rule_of(ensemble) == "reduce_error":
        with pytest.raises(ValueError, match="is not the training set"):
            margins(ensemble, X, y, on="out_of_bag")


@pytest.mark.parametrize("ensemble", OTHERS, ids=lambda e: type(e).__name__)
def test_members_that_do_not_tell_are_out_of_bag_only_where_it_is_asked_for(ensemble, sets):
    (X, y), _ = sets
    ensemble.fit(X, y)
    options = {"kind": "permutation", "random_state": 0, "n_repeats": 1}
    assert importances(ensemble, X, y, **options).on == "train"
    assert importances(ensemble, X, y, on="out_of_bag", **options).on == "out_of_bag"
    assert order(ensemble, X, y, rule=rule_of(ensemble)).size_choice(n_folds=2).out_of_bag is None
    by_default, queried = (
        error_curves(ensemble, X, y),
        error_curves(ensemble, X, y, out_of_bag=True),
    )
    assert [len(by_default), len(queried)] == [1, 2]
    mask = adapt(ensemble).out_of_bag(X, y)
    answers = np.where(mask, adapt(ensemble).answers(X), np.nan)[0]
    wrong = answers != y if rule_of(ensemble) == "reduce_error" else (answers - y) ** 2
    expected = np.mean(wrong[~np.isnan(answers)])
    assert queried["own order", "out-of-bag"].errors[0] == pytest.approx(expected)


def test_what_was_just_trained_is_known(sets):
    """The estimator has trained the members itself, so that they need not tell."""
    (X, y), _ = sets
    bag = BaggingClassifier(GaussianNB(), 30, random_state=0)
    model = PrunedClassifier(bag, rule="reduce_error", keep="auto").fit(X, y)
    known = read_ensemble(bag.fit(X, y), X, y, was_trained_on=True)
    sizes = [
        choose_size(source, as_rule("reduce_error")).size
        for source in (known, replace(known, was_trained_on=False))
    ]
    assert len(model) == sizes[0] != sizes[1]
