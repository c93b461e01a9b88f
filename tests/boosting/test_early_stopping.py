"""Early stopping: on samples that no member saw, where their error has been least."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.boosting.boosters import each_booster, every_default, small, table
from tests.ensembles.twins import Remembering, RememberingRegressor, numbered
from tests.oracles.boosting_script import Script, ScriptedClassifier

from orfeon import AdaBoostClassifier, AdaBoostM2Classifier, ArcX4Classifier, CARTClassifier

N_ROWS = 40


def stop_by_the_book(losses, patience, tol):
    """After how many members boosting stops, and how many of them are kept."""
    best = 0
    for t, loss in enumerate(losses):
        if loss < losses[best] - tol:
            best = t
        if t - best >= patience:
            return t + 1, best + 1
    return len(losses), len(losses)


# -- what is set aside -----------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_samples_set_aside_are_not_trained_on(share):
    """Members note the rows they are given: a share of each class is never among them."""
    X, y = numbered(N_ROWS), np.repeat([0, 1], [30, 10])
    model = ArcX4Classifier(
        Remembering(), 3, sampling="weights", n_iter_no_change=9, validation_fraction=share,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    counts = np.array([member.counts(N_ROWS) for member in model.estimators_])
    held = (counts == 0).all(axis=0)
    assert held.sum() == round(30 * share) + round(10 * share)
    assert held[y == 1].sum() == round(10 * share)
    assert (counts[:, ~held] > 0).all()
    # they are what the error is measured on: all members say the first class
    assert model.validation_errors_.tolist() == [np.mean(y[held])] * 3


def test_samples_set_aside_are_not_drawn_either():
    """Samples are of the rest, as large as the rest."""
    X, y = numbered(N_ROWS), np.repeat([0, 1], [20, 20])
    booster = ArcX4Classifier(
        Remembering(), 30, n_iter_no_change=99, validation_fraction=0.2, random_state=0
    )
    weighted = clone(booster).set_params(sampling="weights", n_estimators=1).fit(X, y)
    held = weighted.estimators_[0].counts(N_ROWS) == 0
    assert held.sum() == 8
    drawn = clone(booster).set_params(sampling="resample").fit(X, y)
    counts = np.array([member.counts(N_ROWS) for member in drawn.estimators_])
    assert (counts[:, held] == 0).all()
    assert (counts.sum(axis=1) == 32).all()
    assert (counts[:, ~held].sum(axis=0) > 0).sum() > 28


def test_copies_are_set_aside_together_and_weights_are_copies():
    X, y = numbered(N_ROWS), np.repeat([0, 1], [20, 20])
    weights = np.random.default_rng(0).integers(1, 4, N_ROWS)
    copies = np.repeat(np.arange(N_ROWS), weights)
    booster = ArcX4Classifier(
        Remembering(), 2, sampling="weights", n_iter_no_change=9, validation_fraction=0.3,
        random_state=0,
    )  # fmt: skip
    weighted = clone(booster).fit(X, y, sample_weight=weights)
    written_out = clone(booster).fit(X[copies], y[copies])
    seen = [model.estimators_[0].counts(N_ROWS) > 0 for model in (weighted, written_out)]
    np.testing.assert_array_equal(*seen)
    held = ~seen[0]
    assert 0.2 < weights[held].sum() / weights.sum() < 0.4
    for model in (weighted, written_out):
        assert model.validation_errors_[0] == np.average(y[held], weights=weights[held])


def test_regressors_set_a_share_of_all_aside():
    X = numbered(N_ROWS)
    model = small(
        "AdaBoostR2Regressor", estimator=RememberingRegressor(), sampling="weights",
        n_iter_no_change=9, validation_fraction=0.25,
    )  # fmt: skip
    target = np.where(np.arange(N_ROWS) == 7, 9.0, np.arange(N_ROWS) % 2)
    model.fit(X, target)
    held = model.estimators_[0].counts(N_ROWS) == 0
    assert held.sum() == 10
    predicted = target[~held].mean()
    squares = (target[held] - predicted) ** 2
    assert model.validation_errors_[0] == pytest.approx(squares.mean(), rel=1e-12)


@each_booster
def test_trees_do_not_see_what_is_set_aside(booster):
    """Targets drawn by lot: an unpruned tree knows what it saw, and nothing of the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = rng.normal(size=200) if is_regressor(booster) else rng.integers(0, 2, 200)
    model = clone(booster).set_params(n_iter_no_change=99, validation_fraction=0.4)
    if "estimator" not in booster.get_params():
        return
    model.set_params(
        estimator=None if is_regressor(booster) else CARTClassifier(max_depth=8), n_estimators=5
    )
    model.fit(X, y)
    if is_regressor(booster):
        assert model.validation_errors_[0] > 0.8 * np.var(y)
    else:
        # 80 fair coins: five standard deviations around one half
        assert abs(model.validation_errors_[-1] - 0.5) < 5 * np.sqrt(0.25 / 80)
        assert model.score(X, y) > 0.65


def test_the_order_of_the_rows_does_not_decide_what_is_set_aside():
    X, y = table(GaussianNB())
    moved = np.random.default_rng(0).permutation(len(y))
    booster = AdaBoostM2Classifier(GaussianNB(), 20, n_iter_no_change=3, random_state=0)
    one, other = clone(booster).fit(X, y), clone(booster).fit(X[moved], y[moved])
    np.testing.assert_allclose(other.validation_errors_, one.validation_errors_, rtol=1e-12)
    assert len(one) == len(other)


def test_another_seed_sets_others_aside():
    X, y = numbered(N_ROWS), np.repeat([0, 1], [20, 20])
    held = [
        tuple(
            ArcX4Classifier(
                Remembering(), 1, sampling="weights", n_iter_no_change=1, validation_fraction=0.3,
                random_state=seed,
            ).fit(X, y).estimators_[0].X_[:, 0]
        )
        for seed in range(5)
    ]  # fmt: skip
    assert len(set(held)) == 5


# -- where it stops --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "booster",
    [b for b in every_default() if type(b).__name__ not in ("AdaBoostRRegressor",)],
    ids=str,
)
def test_it_stops_where_the_validation_curve_says_and_keeps_the_best(booster):
    X, y = table(booster, 150)
    given = {"n_estimators": 30, "validation_fraction": 0.3}
    # the whole curve: nobody is that patient
    whole = clone(booster).set_params(**given, n_iter_no_change=10**6).fit(X, y)
    curve = whole.validation_errors_
    assert len(curve) == len(whole)
    for patience, tol in product([1, 3, 6], [0.0, 0.02]):
        stop, kept = stop_by_the_book(curve, patience, tol)
        model = clone(booster).set_params(**given, n_iter_no_change=patience, tol=tol).fit(X, y)
        assert (len(model.validation_errors_), len(model)) == (stop, kept)
        np.testing.assert_array_equal(model.validation_errors_, curve[:stop])
        np.testing.assert_array_equal(model.errors_, whole.errors_[:kept])
        np.testing.assert_array_equal(model.member_weights_, whole.member_weights_[:kept])
        if kept < stop:
            assert curve[kept - 1] <= curve[kept:stop].min() + tol


def test_the_best_are_kept_also_where_the_members_asked_for_end_with_the_patience():
    """One member more asked for, and the same three are kept."""
    X, y = table(GaussianNB(), seed=4)
    given = {"n_iter_no_change": 2, "validation_fraction": 0.3, "random_state": 0}
    whole = AdaBoostM2Classifier(n_estimators=40, **given).fit(X, y)
    assert (len(whole.validation_errors_), len(whole)) == (5, 3)
    for n_members in (6, 5):
        model = AdaBoostM2Classifier(n_estimators=n_members, **given).fit(X, y)
        assert len(model) == 3


@pytest.mark.parametrize("name", ["AdaBoostM2Classifier", "AdaBoostMHClassifier"])
def test_the_curve_is_that_of_the_stages(name):
    """Of the samples set aside, which are found as those of equal content."""
    booster = small(name, n_iter_no_change=50, validation_fraction=0.3, n_estimators=12)
    X, y = table(booster)
    model = clone(booster).fit(X, y)
    from orfeon.ensembles.holdout import set_aside
    from orfeon.ensembles.perturbation import member_generator
    from orfeon.utils.seeding import Purpose, seed_sequence

    rng = member_generator(seed_sequence(0), Purpose.SETTING_ASIDE)
    held = set_aside(X, y, np.ones(len(y)), 0.3, rng, by_class=True)
    assert held.sum() == pytest.approx(0.3 * len(y), abs=2)
    staged = [1 - score for score in model.staged_score(X[held], y[held])]
    np.testing.assert_allclose(model.validation_errors_, staged, atol=1e-12)


def test_by_hand():
    """Members are told what to say; the curve is 1/4, 1/4, 0, 1/4 ... and patience is two."""
    n_rows = 40
    y = np.arange(n_rows) % 2
    X = np.arange(n_rows, dtype=float)[:, None]
    probe = ArcX4Classifier(
        Remembering(), 1, sampling="weights", n_iter_no_change=1, validation_fraction=0.2,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    held = np.flatnonzero(probe.estimators_[0].counts(n_rows) == 0)
    assert len(held) == 8

    def say(*wrong):
        outputs = y.copy()
        outputs[held[list(wrong)]] ^= 1
        return outputs

    # equal votes: the majority of the first t members decides, and a tie takes class 0
    answers = [say(0, 1), say(0, 1), say(), say(), say(), say(), say(), say()]
    script = Script(answers, n_rows)
    model = ArcX4Classifier(
        ScriptedClassifier(script), 8, sampling="weights", n_iter_no_change=2,
        validation_fraction=0.2, random_state=0,
    ).fit(X, y)  # fmt: skip
    votes = np.array(answers)[:, held]
    errors = []
    for t in range(1, 9):
        ones = votes[:t].sum(axis=0)
        errors.append(np.mean((2 * ones > t) != y[held]))
    assert errors[:3] == [0.25, 0.25, 0.25]
    stop, kept = stop_by_the_book(errors, 2, 0.0)
    assert (stop, kept) == (3, 1)
    assert model.validation_errors_.tolist() == errors[:3]
    assert len(model) == 1
    assert len(script.weights) == 3  # no member was trained beyond


def test_tol_asks_for_progress():
    """A curve that falls by less than tol a step has its best where it has fallen enough."""
    assert stop_by_the_book([0.5, 0.49, 0.48, 0.47], 3, 0.05) == (4, 1)
    assert stop_by_the_book([0.5, 0.47, 0.44, 0.43, 0.43], 3, 0.05) == (5, 5)
    X, y = table(GaussianNB(), 150)
    given = {"n_iter_no_change": 3, "validation_fraction": 0.3, "random_state": 0}
    eager = AdaBoostM2Classifier(n_estimators=60, tol=0.2, **given).fit(X, y)
    patient = AdaBoostM2Classifier(n_estimators=60, tol=0.0, **given).fit(X, y)
    assert len(eager.validation_errors_) <= len(patient.validation_errors_)
    assert len(eager) == 1


# -- nothing to set aside, other members -----------------------------------------------------------


@pytest.mark.parametrize("n_rows", [3, 4])
def test_nothing_to_set_aside_warns_and_boosting_goes_on(n_rows):
    X, y = np.arange(float(n_rows))[:, None], np.arange(n_rows) % 2
    model = AdaBoostM2Classifier(CARTClassifier(max_depth=1), 5, n_iter_no_change=2)
    words = (
        rf"validation_fraction=0.1 sets none of the {n_rows} samples aside, so nothing determines "
        r"when to stop: boosting continues up to n_estimators=5"
    )
    with pytest.warns(UserWarning, match=words):
        model.fit(X, y)
    assert not hasattr(model, "validation_errors_")
    assert model.score(X, y) >= 0.5


def test_no_class_is_set_aside_as_a_whole():
    X, y = table(GaussianNB())
    y = np.where(np.arange(120) == 5, 3, y)  # one sample of a class of its own
    model = AdaBoostM2Classifier(
        n_estimators=4, n_iter_no_change=2, validation_fraction=0.9, random_state=0
    ).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.predict_proba(X).shape == (120, 4)


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("AdaBoostClassifier", GaussianNB()),
        ("AdaBoostClassifier", KNeighborsClassifier(5)),
        ("AdaBoostClassifier", make_pipeline(StandardScaler(), LogisticRegression())),
        ("AdaBoostM2Classifier", GaussianNB()),
        ("AdaBoostMHClassifier", GaussianNB()),
        ("AdaBoostPairwiseClassifier", GaussianNB()),
        ("AdaBoostOCClassifier", GaussianNB()),
        ("MultiBoostClassifier", GaussianNB()),
        ("ArcX4Classifier", KNeighborsClassifier(5)),
        ("AdaBoostR2Regressor", KNeighborsRegressor(5)),
        ("AdaBoostR2Regressor", Ridge()),
        ("AdaBoostRRegressor", KNeighborsRegressor(3)),
    ],
)
def test_members_of_any_kind(name, base):
    booster = small(
        name, estimator=base, n_estimators=25, n_iter_no_change=3, validation_fraction=0.3
    )
    X, y = table(booster)
    model = clone(booster).fit(X, y)
    curve = model.validation_errors_
    stop, kept = stop_by_the_book(curve, 3, 0.0)
    assert stop == len(curve)
    assert len(model) == len(model.errors_) == kept
    assert len(model.predict(X)) == 120


def test_sparse_rows_and_data_frames_are_divided_too():
    from scipy.sparse import csr_matrix

    pandas = pytest.importorskip("pandas")
    X, y = table(GaussianNB())
    booster = AdaBoostClassifier(
        BernoulliNB(), 12, n_iter_no_change=3, validation_fraction=0.3, random_state=0
    )
    dense = clone(booster).fit(X, y)
    sparse = clone(booster).fit(csr_matrix(X), y)
    frame = clone(booster).fit(pandas.DataFrame(X, columns=list("abcde")), y)
    for other in (sparse, frame):
        np.testing.assert_allclose(other.validation_errors_, dense.validation_errors_)
        assert len(other) == len(dense)


def test_a_run_that_ends_by_itself_keeps_all_its_members():
    """M1 ends when a stump is no better than chance; that is no early stop."""
    X, y = table(GaussianNB())
    model = AdaBoostClassifier(
        n_estimators=50,
        algorithm="m1",
        n_iter_no_change=40,
        validation_fraction=0.3,
        random_state=0,
    ).fit(X, y)
    assert len(model) == len(model.validation_errors_) < 40
