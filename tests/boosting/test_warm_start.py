"""Warm start: a run goes on from its weights, as if it had never been interrupted."""

from __future__ import annotations

import pickle
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_regressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.boosting.boosters import (
    answers,
    assert_same_model,
    each_booster,
    each_setting,
    every_default,
    small,
    table,
)

from orfeon import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    CARTClassifier,
    MultiBoostClassifier,
    PoolBoostClassifier,
)

#: Some runs end before they go on; tests that are about that look for the warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*the run had ended with")

OTHER_SAMPLES = "continues with the weights that .* gave to the samples of the previous fit"
OTHER_KIND = "continues with the features, the classes and the kind of members"

PROBLEMS = ("AdaBoostMHClassifier", "AdaBoostPairwiseClassifier")
each_with_members = pytest.mark.parametrize(
    "booster",
    [b for b in every_default() if "estimator" in b.get_params()],
    ids=str,
)


def assert_unchanged(model, X, before, n_members):
    assert len(model) == n_members == len(model.errors_) == len(model.member_weights_)
    for name, outputs in answers(model, X).items():
        np.testing.assert_array_equal(outputs, before[name], err_msg=name)


# -- going on --------------------------------------------------------------------------------------


@each_setting
def test_a_run_that_was_interrupted_is_the_run_at_once(booster):
    """To the bit: three members, then six, then nine; also from a pickle."""
    X, y = table(booster)
    whole = clone(booster).fit(X, y)
    grown = clone(booster).set_params(warm_start=True, n_estimators=3)
    if "n_committees" in booster.get_params():
        # The committees are those of the first fit: what is added is the last one's.
        grown.set_params(n_committees=1)
        whole = clone(booster).set_params(n_committees=1).fit(X, y)
    grown.fit(X, y)
    first = grown.errors_
    n_first = len(grown)
    assert n_first == min(3, len(whole))
    again = pickle.loads(pickle.dumps(grown))
    moved = np.random.default_rng(0).permutation(len(y))
    for n_members in (6, 9):
        grown.set_params(n_estimators=n_members).fit(X, y)
        again.set_params(n_estimators=n_members).fit(X[moved], y[moved])
    np.testing.assert_array_equal(grown.errors_[:n_first], first)
    assert_same_model(grown, whole, X)
    assert_same_model(again, whole, X)


def _each(members):
    """Members of several problems are lists of them."""
    return members if isinstance(members, list) else [members]


@pytest.mark.parametrize("sampling", ["weights", "resample"])
@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("AdaBoostClassifier", GaussianNB()),
        ("AdaBoostClassifier", KNeighborsClassifier(9)),
        ("AdaBoostM2Classifier", GaussianNB()),
        *((n, DecisionTreeClassifier(max_depth=1)) for n in PROBLEMS),
        ("AdaBoostOCClassifier", DecisionTreeClassifier(max_depth=2)),
        ("ArcX4Classifier", DecisionTreeClassifier(max_depth=3)),
        ("MultiBoostClassifier", DecisionTreeClassifier(max_depth=3)),
        ("AdaBoostRRegressor", DecisionTreeRegressor(max_depth=3)),
        ("AdaBoostR2Regressor", DecisionTreeRegressor(max_depth=3)),
    ],
)
def test_other_members_go_on_too(name, base, sampling):
    given = {"n_committees": 1} if name == "MultiBoostClassifier" else {}
    booster = small(name, estimator=base, sampling=sampling, n_estimators=4, **given)
    X, y = table(booster)
    whole = clone(booster).fit(X, y)
    grown = clone(booster).set_params(warm_start=True, n_estimators=2).fit(X, y)
    first = list(grown.estimators_)
    grown.set_params(n_estimators=4).fit(X, y)
    assert_same_model(grown, whole, X)
    assert all(
        a is b
        for old, new in zip(first, grown.estimators_, strict=False)
        for a, b in zip(_each(old), _each(new), strict=True)
    )


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(0), np.random.default_rng(0)])
def test_any_random_state_goes_on(random_state):
    X, y = table(GaussianNB())
    model = AdaBoostM2Classifier(n_estimators=3, sampling="resample", warm_start=True)
    model.set_params(random_state=random_state).fit(X, y)
    first = model.votes(X)
    model.set_params(n_estimators=8).fit(X, y)
    np.testing.assert_array_equal(model.votes(X)[:3], first)
    assert len(np.unique(model.errors_)) == 8  # no member was drawn twice


def test_weights_and_failures_are_carried_on():
    """Restarts and bootstrap samples fall into the second fit, and are those of the whole run."""
    X, y = table(GaussianNB())
    for on_failure in ("restart", "bootstrap"):
        booster = AdaBoostClassifier(
            n_estimators=30, algorithm="m1", on_failure=on_failure, random_state=0
        )
        whole = clone(booster).set_params(warm_start=True).fit(X, y)
        assert whole._run.attempts > 30  # some failed
        grown = clone(booster).set_params(warm_start=True)
        for n_members in range(1, 31):
            grown.set_params(n_estimators=n_members).fit(X, y)
        assert_same_model(grown, whole, X)
        assert grown._run.attempts == whole._run.attempts


def test_the_committees_of_a_warm_start_are_those_of_the_first_fit():
    X, y = table(GaussianNB())
    grown = MultiBoostClassifier(CARTClassifier(max_depth=2), 9, random_state=0, warm_start=True)
    first = grown.fit(X, y).errors_
    grown.set_params(n_estimators=20).fit(X, y)
    np.testing.assert_array_equal(grown.errors_[:9], first)
    assert grown._run.scheme.ends == []
    assert len(grown) == 20


def test_what_a_pool_chose_is_carried_on():
    X, y = table(GaussianNB())
    whole = PoolBoostClassifier(n_estimators=12, random_state=0).fit(X, np.minimum(y, 1))
    grown = PoolBoostClassifier(n_estimators=5, random_state=0, warm_start=True)
    grown.fit(X, np.minimum(y, 1)).set_params(n_estimators=12).fit(X, np.minimum(y, 1))
    np.testing.assert_array_equal(grown.chosen_, whole.chosen_)
    assert len(grown.chosen_) == 12


# -- runs that have ended --------------------------------------------------------------------------


def test_a_run_that_had_ended_stays():
    """M1 of stumps with three classes ends after a few members; nothing is added to it."""
    X, y = table(GaussianNB())
    model = AdaBoostClassifier(
        n_estimators=50, algorithm="m1", warm_start=True, random_state=0
    ).fit(X, y)
    n_members, before = len(model), answers(model, X)
    assert n_members == 3
    with pytest.warns(UserWarning, match="the run had ended with 3 members, so none was added"):
        model.set_params(n_estimators=80).fit(X, y)
    assert_unchanged(model, X, before, n_members)
    assert_unchanged(model, X, before, n_members)


def test_a_member_without_error_ends_the_run_for_good():
    X, y = table(GaussianNB())
    model = AdaBoostClassifier(CARTClassifier(), 5, warm_start=True, random_state=0)
    with pytest.warns(UserWarning, match="the first member makes no error on the training"):
        model.fit(X, y)
    with pytest.warns(UserWarning, match="the run had ended with 1 member, so none was added"):
        model.set_params(n_estimators=7).fit(X, y)
    assert len(model) == 1


# -- refusals --------------------------------------------------------------------------------------


@each_booster
def test_other_samples_are_refused_and_the_model_is_kept(booster):
    X, y = table(booster)
    other, target = table(booster, seed=5)
    model = clone(booster).set_params(warm_start=True, n_estimators=3).fit(X, y)
    before, n_members = answers(model, X), len(model)
    model.set_params(n_estimators=5)
    weights = np.ones(len(y))
    weights[7] = 2
    changed = X.copy()
    changed[3, 2] += 1e-9
    for rows, classes, given in (
        (other, target, None), (X, y, weights), (changed, y, None),
        (X[:-1], y[:-1], None), (X, np.roll(y, 1), None),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=OTHER_SAMPLES):
            model.fit(rows, classes, sample_weight=given)
        assert_unchanged(model, X, before, n_members)
    fresh = clone(booster).set_params(n_estimators=5, **committees(model)).fit(X, y)
    model.fit(X, y)
    if not committees(model):
        assert_same_model(model, fresh, X)
    assert len(model) == len(fresh)


def committees(model):
    return {"n_committees": 1} if "n_committees" in model.get_params() else {}


@each_booster
def test_fewer_members_other_classes_and_features_are_refused(booster):
    X, y = table(booster)
    model = clone(booster).set_params(warm_start=True, n_estimators=3).fit(X, y)
    before, n_members = answers(model, X), len(model)
    with pytest.raises(
        ValueError, match=f"n_estimators=1 is less than the {n_members} existing members"
    ):
        model.set_params(n_estimators=1).fit(X, y)
    assert_unchanged(model, X, before, n_members)
    model.set_params(n_estimators=6)
    with pytest.raises(ValueError, match=OTHER_KIND):
        model.fit(X[:, :4], y)
    assert_unchanged(model, X, before, n_members)
    if not is_regressor(booster):
        with pytest.raises(ValueError, match=OTHER_KIND):
            model.fit(X, y + 1)
        assert model.classes_.tolist() == [0, 1, 2]
        assert_unchanged(model, X, before, n_members)
    if "estimator" in booster.get_params():
        other = DecisionTreeRegressor() if is_regressor(booster) else GaussianNB()
        with pytest.raises(ValueError, match=OTHER_KIND):
            model.set_params(estimator=other).fit(X, y)
        assert_unchanged(model, X, before, n_members)
    assert len(model.set_params(n_estimators=1, warm_start=False, **none(model)).fit(X, y)) == 1


def none(model):
    return {"estimator": None} if "estimator" in model.get_params() else {}


def test_a_model_of_members_that_are_no_trees_does_not_go_on_with_trees():
    X, y = table(GaussianNB())
    model = AdaBoostClassifier(GaussianNB(), 3, warm_start=True).fit(X, y)
    before = answers(model, X)
    with pytest.raises(ValueError, match=OTHER_KIND):
        model.set_params(estimator=None, n_estimators=5).fit(X, y)
    assert_unchanged(model, X, before, len(model))


def test_a_fit_without_warm_start_leaves_nothing_to_go_on_from():
    """Weights are not carried along where nobody asked for it."""
    X, y = table(GaussianNB())
    model = AdaBoostM2Classifier(n_estimators=3, random_state=0).fit(X, y)
    before = answers(model, X)
    with pytest.raises(ValueError, match=r"must be the same and fitted with warm_start=True too"):
        model.set_params(n_estimators=5, warm_start=True).fit(X, y)
    assert_unchanged(model, X, before, 3)


@pytest.mark.parametrize("weights", [np.full(120, np.nan), -np.ones(120), np.ones(119)])
def test_bad_weights_leave_the_model_as_it_was(weights):
    X, y = table(GaussianNB())
    model = AdaBoostM2Classifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    before = answers(model, X)
    with pytest.raises(ValueError, match="sample_weight"):
        model.set_params(n_estimators=5).fit(X, y, sample_weight=weights)
    assert_unchanged(model, X, before, 3)


# -- learners that fail in the middle --------------------------------------------------------------


class _Fragile:
    """Fails in the turn that the shared list asks for; otherwise a small tree."""

    #: How many fits are left before one fails; all of them count together.
    turns: ClassVar[list[int]] = [10**9]

    def fit(self, X, y, sample_weight=None):
        self.turns[0] -= 1
        if self.turns[0] == 0:
            raise RuntimeError("the power went out")
        self.tree_ = self.kind(max_depth=2, random_state=0).fit(X, y, sample_weight)
        self.classes_ = getattr(self.tree_, "classes_", None)
        return self

    def predict(self, X):
        return self.tree_.predict(X)


class FragileClassifier(_Fragile, ClassifierMixin, BaseEstimator):
    kind = DecisionTreeClassifier


class FragileRegressor(_Fragile, RegressorMixin, BaseEstimator):
    kind = DecisionTreeRegressor


@each_with_members
@pytest.mark.parametrize("turn", [1, 2])
def test_a_learner_that_fails_leaves_the_model_as_it_was(booster, turn):
    """In the first turn of the warm start, or in the second; then the run goes on."""
    X, y = table(booster)
    turns = _Fragile.turns
    turns[0] = 10**9
    base = (FragileRegressor if is_regressor(booster) else FragileClassifier)()
    given = {**committees(booster), "estimator": base, "warm_start": True}
    if "confidence" in booster.get_params():
        given["confidence"] = "probability"  # the learner has none of its own
    model = clone(booster).set_params(**given, n_estimators=3).fit(X, y)
    before, n_members = answers(model, X), len(model)
    turns[0] = turn
    with pytest.raises(RuntimeError, match="the power went out"):
        model.set_params(n_estimators=5).fit(X, y)
    assert_unchanged(model, X, before, n_members)
    turns[0] = 10**9
    model.fit(X, y)
    assert_same_model(model, clone(booster).set_params(**given, n_estimators=5).fit(X, y), X)


def test_trees_that_fail_leave_the_model_as_it_was(monkeypatch):
    from orfeon.growth.reweighted import ReweightedTrees

    X, y = table(GaussianNB())
    model = AdaBoostM2Classifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    before = answers(model, X)
    grow, calls = ReweightedTrees.grow, []

    def fragile(self, *given):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return grow(self, *given)

    monkeypatch.setattr(ReweightedTrees, "grow", fragile)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_estimators=9).fit(X, y)
    assert_unchanged(model, X, before, 3)
    monkeypatch.undo()
    fresh = AdaBoostM2Classifier(n_estimators=9, random_state=0).fit(X, y)
    assert_same_model(model.fit(X, y), fresh, X)


def test_a_first_fit_that_fails_leaves_no_model():
    X, y = table(GaussianNB())
    _Fragile.turns[0] = 3
    model = AdaBoostClassifier(FragileClassifier(), 9, warm_start=True)
    with pytest.raises(RuntimeError, match="the power went out"):
        model.fit(X, y)
    assert not hasattr(model, "members_")


# -- with early stopping ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["AdaBoostM2Classifier", "AdaBoostR2Regressor"])
def test_with_samples_set_aside_it_is_the_run_at_once(name):
    booster = small(name, n_estimators=20, n_iter_no_change=50, validation_fraction=0.3)
    X, y = table(booster)
    whole = clone(booster).fit(X, y)
    grown = clone(booster).set_params(warm_start=True, n_estimators=6).fit(X, y)
    np.testing.assert_array_equal(grown.validation_errors_, whole.validation_errors_[:6])
    grown.set_params(n_estimators=20).fit(X, y)
    np.testing.assert_array_equal(grown.validation_errors_, whole.validation_errors_)
    assert_same_model(grown, whole, X)


def test_a_run_that_stopped_early_stays_stopped():
    booster = small(
        "AdaBoostM2Classifier", n_estimators=60, n_iter_no_change=4, validation_fraction=0.3,
        warm_start=True,
    )  # fmt: skip
    X, y = table(booster)
    model = booster.fit(X, y)
    n_members, before = len(model), answers(model, X)
    assert n_members < 56
    with pytest.warns(UserWarning, match=f"had ended with {n_members} members, so none was added"):
        model.set_params(n_estimators=90).fit(X, y)
    assert_unchanged(model, X, before, n_members)


@pytest.mark.parametrize("seed", [0, 4])
def test_every_place_to_interrupt_gives_the_same_members(seed):
    """Where the members of a fit end must not decide where boosting stops."""
    booster = small(
        "AdaBoostM2Classifier", n_estimators=40, n_iter_no_change=2, validation_fraction=0.3
    )
    X, y = table(booster, seed=seed)
    whole = clone(booster).fit(X, y)
    stop = len(whole.validation_errors_)
    assert len(whole) == stop - 2
    for n_first in range(1, stop + 1):
        grown = clone(booster).set_params(warm_start=True, n_estimators=n_first).fit(X, y)
        grown.set_params(n_estimators=40).fit(X, y)
        assert_same_model(grown, whole, X)


def test_a_stopped_run_keeps_its_validation_errors():
    booster = small(
        "AdaBoostM2Classifier", n_estimators=40, n_iter_no_change=2, validation_fraction=0.3
    )
    X, y = table(booster)
    model = clone(booster).set_params(warm_start=True).fit(X, y)
    before = model.validation_errors_
    model.set_params(n_estimators=50).fit(X, y)
    np.testing.assert_array_equal(model.validation_errors_, before)


@pytest.mark.parametrize(
    ("name", "first", "then"),
    [
        ("AdaBoostClassifier", {"algorithm": "m1"}, {"algorithm": "samme"}),
        ("AdaBoostClassifier", {}, {"estimator": CARTClassifier(max_depth=2)}),
        ("AdaBoostClassifier", {"n_iter_no_change": 50}, {"n_iter_no_change": None}),
        ("AdaBoostMHClassifier", {"joint": True}, {"joint": False}),
        ("MultiBoostClassifier", {"n_committees": 1}, {"n_committees": 2}),
        ("AdaBoostR2Regressor", {"loss": "linear"}, {"loss": "square"}),
    ],
)
def test_settings_cannot_change_on_the_way(name, first, then):
    booster = small(name, **first, warm_start=True, n_estimators=3)
    X, y = table(booster)
    model = booster.fit(X, y)
    before = answers(model, X)
    (changed,) = then
    with pytest.raises(ValueError, match=f"{changed} cannot change; set it back"):
        model.set_params(**then, n_estimators=6).fit(X, y)
    for answer, outputs in answers(model.set_params(**first), X).items():
        np.testing.assert_array_equal(outputs, before[answer])


def test_a_parameter_of_the_estimator_is_a_setting_too():
    X, y = table(GaussianNB())
    model = AdaBoostClassifier(CARTClassifier(max_depth=2), 3, warm_start=True, random_state=0)
    model.fit(X, y).set_params(n_estimators=5, estimator__max_depth=3)
    with pytest.raises(ValueError, match="estimator cannot change"):
        model.fit(X, y)
