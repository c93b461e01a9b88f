"""Every booster: the same bits however it is asked, and as scikit-learn's estimators are used."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.boosting.boosters import (
    SETTINGS,
    answers,
    assert_same_answers,
    assert_same_model,
    each_booster,
    each_classifier,
    each_setting,
    small,
    table,
)
from tests.oracles.probabilities import smoothed
from tests.utils.test_progress import Recorder

import orfeon.boosting
from orfeon import (
    AdaBoostClassifier,
    CARTClassifier,
    CARTRegressor,
    RandomTreeClassifier,
    StumpClassifier,
)

# -- the same bits ---------------------------------------------------------------------------------


@each_setting
def test_jobs_rows_in_another_order_clones_and_pickles_are_the_same_model(booster):
    """To the bit: nothing depends on the order of the rows or on the number of jobs."""
    X, y = table(booster)
    model = clone(booster).fit(X, y)
    moved = np.random.default_rng(0).permutation(len(y))
    for other in (
        clone(booster).fit(X, y),
        clone(model).fit(X, y),
        clone(booster).set_params(n_jobs=1).fit(X, y),
        clone(booster).set_params(n_jobs=2).fit(X, y),
        clone(booster).fit(X[moved], y[moved]),
        pickle.loads(pickle.dumps(model)),
        pickle.loads(pickle.dumps(booster)).fit(X, y),
    ):
        assert_same_model(model, other, X)
    assert not hasattr(clone(model), "members_")


@each_booster
def test_jobs_predict_the_same_bits(booster):
    """With rows enough for the work to be shared out."""
    X, y = table(booster)
    model = clone(booster).fit(X, y)
    rows = np.random.default_rng(0).normal(size=(2**18 // len(model) + 1, 5))
    alone = answers(model, rows)
    for n_jobs in (1, 2):
        for name, outputs in answers(model.set_params(n_jobs=n_jobs), rows).items():
            np.testing.assert_array_equal(outputs, alone[name], err_msg=name)


@each_setting
def test_a_weight_of_two_is_the_row_twice_and_of_none_is_no_row(booster):
    """To the bit."""
    X, y = table(booster)
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weights)
    weighted = clone(booster).fit(X, y, sample_weight=weights)
    assert_same_model(weighted, clone(booster).fit(X[copies], y[copies]), X)
    assert_same_model(weighted, clone(booster).fit(X, y, sample_weight=1.0 * weights), X)
    shares = np.random.default_rng(2).exponential(size=len(y))
    shares[::3] = 0.0
    present = shares > 0
    fractional = clone(booster).fit(X, y, sample_weight=shares)
    without = clone(booster).fit(X[present], y[present], sample_weight=shares[present])
    assert_same_model(fractional, without, X)


@pytest.mark.parametrize("sampling", ["weights", "resample"])
@pytest.mark.parametrize("name", ["AdaBoostClassifier", "AdaBoostMHClassifier"])
def test_weights_are_copies_for_members_that_are_no_trees(name, sampling):
    X, y = table(GaussianNB())
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weights)
    booster = small(name, estimator=GaussianNB(), sampling=sampling, n_estimators=4)
    weighted = clone(booster).fit(X, y, sample_weight=weights)
    assert_same_model(weighted, clone(booster).fit(X[copies], y[copies]), X)


@each_setting
def test_the_unit_of_the_weights_does_not_matter(booster):
    """It may change the last bits of weights, not the members."""
    X, y = table(booster)
    shares = np.random.default_rng(3).exponential(size=len(y))
    model = clone(booster).fit(X, y, sample_weight=shares)
    for unit in (1 / 1024, 0.3):
        other = clone(booster).fit(X, y, sample_weight=shares * unit)
        np.testing.assert_allclose(other.errors_, model.errors_, rtol=1e-9)
        if is_regressor(booster):
            np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-9)
        else:
            np.testing.assert_array_equal(other.votes(X), model.votes(X))


@each_booster
def test_another_seed_is_another_model_where_anything_is_drawn(booster):
    X, y = table(booster)
    draws = "sampling" in booster.get_params()
    booster = clone(booster).set_params(**({"sampling": "resample"} if draws else {}))
    one, other = (clone(booster).set_params(random_state=seed).fit(X, y) for seed in (1, 2))
    assert np.array_equal(one.errors_, other.errors_) == (not draws)


# -- what is read ----------------------------------------------------------------------------------


def frame_and_target(booster, n_rows=150):
    """Numbers, categories and truth values, some missing; the category alone tells the classes."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    kind = rng.integers(0, 6, n_rows)
    code = kind % 3 if not is_regressor(booster) else kind % 3 + 0.01 * rng.normal(size=n_rows)
    names = np.array(["ash", "birch", "cedar", "dogwood", "elm", "fir"])
    frame = pandas.DataFrame(
        {
            "tree": pandas.Categorical(names[kind]),
            "height": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows)),
            "evergreen": rng.random(n_rows) < 0.5,
        }
    )
    frame.loc[:4, "tree"] = None
    return frame, code


@each_booster
def test_categories_and_missing_values_of_data_frames(booster):
    frame, y = frame_and_target(booster)
    if not is_regressor(booster):
        y = np.array(["low", "middle", "high"])[y]
    model = clone(booster)
    if "estimator" in booster.get_params():
        base = CARTRegressor if is_regressor(booster) else CARTClassifier
        model.set_params(estimator=base(max_depth=2))
    model.fit(frame, y)
    # the five rows whose category is missing can be told by nothing; a stump of the pool asks for
    # one category only, which is not enough for M1
    least = 0.55 if type(booster).__name__ == "PoolBoostClassifier" else 0.95
    assert model.score(frame[5:], y[5:]) > least
    assert model.feature_names_in_.tolist() == ["tree", "height", "evergreen"]
    words = frame.assign(tree=frame["tree"].astype(object))
    assert_same_answers(clone(model).fit(words, y), model, words, frame)
    moved = np.random.default_rng(0).permutation(len(y))
    assert_same_answers(clone(model).fit(frame.iloc[moved], y[moved]), model, frame)
    unknown = frame.assign(tree="ginkgo")
    assert len(model.predict(unknown)) == 150
    if not is_regressor(booster):
        assert model.classes_.tolist() == ["high", "low", "middle"]
        np.testing.assert_allclose(model.predict_proba(unknown).sum(axis=1), 1, rtol=1e-12)


@each_setting
def test_names_of_classes_do_not_matter(booster):
    if is_regressor(booster):
        pytest.skip("a regressor has no classes")
    X, y = table(booster)
    if isinstance(getattr(booster.get_params().get("estimator"), "class_weight", None), dict):
        pytest.skip("its classes are named in class_weight")
    codes = clone(booster).fit(X, y)
    for names in (np.array(["a", "b", "c"]), np.array([-7, 0, 33]), np.array(["x", "y", "z"], "O")):
        named = clone(booster).fit(X, names[y])
        assert named.classes_.tolist() == sorted(names)
        np.testing.assert_array_equal(named.predict(X), names[codes.predict(X)])
        np.testing.assert_array_equal(named.predict_proba(X), codes.predict_proba(X))


# -- what is said ----------------------------------------------------------------------------------


@each_setting
def test_stages_are_the_models_of_the_first_members(booster):
    """Each stage is what the model says that has no other members.

    To the bit; shares up to rounding, as the sum of all votes may be added in another order.
    """
    X, y = table(booster)
    model = clone(booster).fit(X, y)
    names = ["predict"] if is_regressor(booster) else ["predict", "predict_proba"]
    names += [] if is_regressor(booster) else ["decision_function"]
    staged = {name: [s.copy() for s in getattr(model, f"staged_{name}")(X)] for name in names}
    scores = list(model.staged_score(X, y))
    shorter = pickle.loads(pickle.dumps(model))
    for k in range(1, len(model) + 1):
        shorter.members_ = model.members_.subset(range(k))
        shorter.member_weights_ = model.member_weights_[:k]
        for name in names:
            answers = getattr(shorter, name)(X)
            if name == "predict_proba":
                np.testing.assert_allclose(staged[name][k - 1], answers, rtol=1e-12)
            else:
                np.testing.assert_array_equal(staged[name][k - 1], answers)
        assert scores[k - 1] == shorter.score(X, y)
    assert {len(stages) for stages in staged.values()} == {len(model)}


@each_setting
def test_decisions_probabilities_and_predictions_agree(booster):
    if is_regressor(booster):
        pytest.skip("a regressor decides in one way")
    for n_classes in (3, 2):
        X, y = table(booster)
        y = np.minimum(y, n_classes - 1)
        model = clone(booster)
        if isinstance(getattr(booster.get_params().get("estimator"), "class_weight", None), dict):
            model.set_params(estimator__class_weight=None)
        model.fit(X, y)
        decision, shares = model.decision_function(X), model.predict_proba(X)
        assert decision.shape == ((120,) if n_classes == 2 else (120, 3))
        assert shares.shape == (120, n_classes)
        assert shares.min() >= 0
        np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
        decided = (decision > 0).astype(int) if n_classes == 2 else decision.argmax(axis=1)
        np.testing.assert_array_equal(model.predict(X), model.classes_[decided])
        np.testing.assert_array_equal(shares.argmax(axis=1), decided)
        np.testing.assert_array_equal(np.exp(model.predict_log_proba(X)) > 0, shares > 0)
        assert model.score(X, y) == np.mean(model.predict(X) == y)


def test_no_share_is_above_one():
    """Brier scores, for one, are refused for probabilities above 1, be it by the last bit."""
    for seed in range(12):
        X, y = table(CARTClassifier(), seed=seed)
        for name in ("AdaBoostClassifier", "AdaBoostM2Classifier", "MultiBoostClassifier"):
            base = CARTClassifier(max_depth=2)
            model = small(name, estimator=base, n_estimators=10).fit(X, np.minimum(y, 1))
            assert model.predict_proba(X).max() <= 1.0
            assert max(shares.max() for shares in model.staged_predict_proba(X)) <= 1.0


@pytest.mark.parametrize(
    "name",
    ["AdaBoostClassifier", "ArcX4Classifier", "MultiBoostClassifier", "PoolBoostClassifier"],
)
def test_shares_are_those_of_the_votes(name):
    X, y = table(small(name))
    model = small(name).fit(X, y)
    votes, weights = model.votes(X), model.member_weights_
    sums = np.array([[weights[row == c].sum() for c in range(3)] for row in votes.T])
    np.testing.assert_allclose(model.decision_function(X), sums, rtol=1e-12, atol=1e-13)
    expected = smoothed(model, sums / weights.sum())
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)


def test_supports_are_summed_for_the_pseudo_loss():
    X, y = table(CARTClassifier())
    model = small("AdaBoostM2Classifier").fit(X, y)
    sums = np.zeros((120, 3))
    for member, weight in zip(model.estimators_, model.member_weights_, strict=True):
        sums += weight * member.predict_proba(X)
    np.testing.assert_allclose(model.decision_function(X), sums, rtol=1e-13)
    expected = smoothed(model, sums / model.member_weights_.sum())
    np.testing.assert_allclose(model.predict_proba(X), expected)


@each_setting
def test_members_can_be_asked_one_by_one(booster):
    X, y = table(booster)
    model = clone(booster).fit(X, y)
    name, members = type(booster).__name__, list(model.estimators_)
    assert len(members) == len(model) == len(model.members_) == len(model.errors_)
    assert len(model.member_weights_) == len(model)
    if is_regressor(booster):
        low, high = (y.min(), y.max()) if name == "AdaBoostRRegressor" else (-np.inf, np.inf)
        answers = np.array([member.predict(X) for member in members]).clip(low, high)
        np.testing.assert_array_equal(answers, model.predictions(X))
        return
    votes = model.votes(X)
    assert votes.shape == (len(model), 120)
    if name in ("AdaBoostMHClassifier", "AdaBoostPairwiseClassifier"):
        assert all(len(one) <= model.member_weights_.shape[1] for one in members)
        assert sum(len(one) for one in members) == len(model.forest_)
        answers = np.array([tree.predict(X) for one in members for tree in one])
        np.testing.assert_array_equal(answers, model.forest_.votes(X))
        return
    answers = np.array([member.predict(X) for member in members])
    np.testing.assert_array_equal(answers, model.classes_[votes])


@each_setting
def test_importances_sum_to_one(booster):
    X, y = table(booster)
    model = clone(booster).fit(X, y)
    importances = model.feature_importances_
    assert importances.shape == (5,)
    assert (importances >= 0).all()
    assert importances.sum() == pytest.approx(1, rel=1e-12)
    if not isinstance(model.estimator_, RandomTreeClassifier):
        assert importances.argmax() in (0, 1)  # the others are noise


@each_booster
def test_boosting_lowers_the_training_error(booster):
    X, y = table(booster)
    model = clone(booster).set_params(n_estimators=40)
    if type(booster).__name__ == "AdaBoostClassifier":
        model.set_params(estimator=CARTClassifier(max_depth=3))
    if is_regressor(booster):
        model.set_params(estimator=CARTRegressor(max_depth=4), sampling="resample")
    if type(booster).__name__ == "PoolBoostClassifier":
        y = np.minimum(y, 1)  # no stump is right about half of three classes for long
    scores = list(model.fit(X, y).staged_score(X, y))
    assert scores[-1] > scores[0] + 0.02


# -- in the hands of scikit-learn ------------------------------------------------------------------


@pytest.mark.parametrize("name", SETTINGS)
def test_every_parameter_is_checked(name):
    cls = getattr(orfeon.boosting, name)
    X, y = table(cls())
    for parameter in set(cls().get_params(deep=False)) - {"pool"}:
        with pytest.raises(ValueError, match=f"'{parameter}' parameter of {name} must be"):
            cls(**{parameter: object()}).fit(X, y)


def test_searches_and_pipelines():
    X, y = table(GaussianNB())
    search = GridSearchCV(
        AdaBoostClassifier(CARTClassifier(), 8, random_state=0, on_failure="restart"),
        {"estimator__max_depth": [2, 4], "sampling": ["weights", "resample"]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.5
    assert search.best_estimator_.forest_.depth.max() in (2, 4)
    pipeline = make_pipeline(StandardScaler(), small("AdaBoostM2Classifier"))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.5


def test_the_base_given_stays_unfitted():
    X, y = table(GaussianNB())
    for base in (StumpClassifier(), LogisticRegression(C=0.01)):
        model = AdaBoostClassifier(base, 3).fit(X, y)
        assert model.estimator is base
        assert not hasattr(base, "classes_")
        assert not hasattr(base, "forest_")


# -- progress --------------------------------------------------------------------------------------


@each_booster
def test_a_bar_goes_to_standard_error(booster, capsys):
    X, y = table(booster)
    quiet = clone(booster).fit(X, y)
    assert capsys.readouterr() == ("", "")
    loud = clone(booster).set_params(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    shown = err.splitlines()[-1]
    assert shown.startswith(f"{type(booster).__name__}  {len(quiet)}/9 [##")
    assert_same_model(quiet, loud, X)


@each_booster
def test_callbacks_hear_of_every_member_and_may_stop(booster):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    X, y = table(booster)
    whole = clone(booster).fit(X, y)
    recorder = Recorder()
    watched = clone(booster).set_callbacks(recorder).fit(X, y)
    assert recorder.answered.count(("end", "member")) == len(whole)
    assert (recorder.answered[0], recorder.answered[-1]) == (("setup", "fit"), ("teardown", "fit"))
    assert_same_model(watched, whole, X)
    stopped = clone(booster).set_callbacks(Recorder(stop_after=2)).fit(X, y)
    assert len(stopped) == 2
    first_two = clone(booster).set_params(n_estimators=2, **committees(booster)).fit(X, y)
    if "n_committees" not in booster.get_params():  # its committees go by n_estimators
        assert_same_model(stopped, first_two, X)
    np.testing.assert_array_equal(stopped.errors_, whole.errors_[:2])


def committees(booster):
    """Committees no more than members, where there are committees."""
    return {"n_committees": 2} if "n_committees" in booster.get_params() else {}


def test_a_run_that_a_callback_stopped_goes_on_where_it_was():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    X, y = table(GaussianNB())
    booster = small("AdaBoostM2Classifier", warm_start=True)
    stopped = clone(booster).set_callbacks(Recorder(stop_after=4)).fit(X, y)
    assert len(stopped) == 4
    stopped.set_callbacks()
    assert_same_model(stopped.fit(X, y), booster.fit(X, y), X)


@each_classifier
def test_one_class_is_always_predicted(booster):
    X, _ = table(booster)
    model = clone(booster).fit(X, np.full(120, "only"))
    assert set(model.predict(X)) == {"only"}
    np.testing.assert_allclose(model.predict_proba(X), np.ones((120, 1)), rtol=1e-12)
    assert model.votes(X).shape == (len(model), 120)
    assert np.isfinite(model.decision_function(X)).all()
    assert [one.tolist() for one in model.staged_predict(X[:2])] == [["only"] * 2] * len(model)
