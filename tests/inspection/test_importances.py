"""Importances of features: means and standard errors, and their picture."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.ensemble import BaggingClassifier as TheirBagging
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from tests.shared import public_estimators

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    CARTClassifier,
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    PrunedClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StumpClassifier,
)
from orfeon.forest.importance import impurity_importances
from orfeon.forest.permutation import oob_permutation_importances
from orfeon.inspection.feature_importance import ImportanceDisplay, Importances, importances

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")


@pytest.fixture(scope="module")
def forest():
    X, y = one_of_three(200)
    return RandomForestClassifier(n_estimators=40, random_state=0).fit(X, y)


def one_of_three(n):
    """Three features, of which the second decides."""
    X = np.random.default_rng(0).random((n, 3))
    return X, np.array(["low", "high"])[(X[:, 1] > 0.5).astype(int)]


# -- impurity --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(
    name for name, kind in public_estimators().items()
    if (is_classifier(kind()) or is_regressor(kind())) and "Perceptron" not in name
    and not name.startswith("PP")
))  # fmt: skip
def test_the_mean_is_what_the_model_itself_says(name, waveform, friedman):
    model = public_estimators()[name]()
    known = model.get_params()
    small = {"n_estimators": 7, "random_state": 0, "n_committees": 3, "max_iter": 10}
    model.set_params(**{k: v for k, v in small.items() if k in known})
    X, y = waveform if is_classifier(model) else friedman
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some say that they end early
        model.fit(X[:60], y[:60])
    if not hasattr(model, "feature_importances_"):
        with pytest.raises(TypeError, match="whose members have no splits to measure"):
            importances(model)
        return
    found = importances(model)
    np.testing.assert_allclose(found.mean, model.feature_importances_, rtol=0, atol=1e-12)
    assert found.names[0] == "x0"
    assert (found.kind, found.on, found.is_regression) == (
        "impurity",
        "splits",
        is_regressor(model),
    )


def test_standard_errors_are_those_of_the_mean_over_trees(forest):
    found = importances(forest)
    assert found.each.shape == (40, 3)
    alone = impurity_importances(forest.forest_.subset([7]), "gini")
    assert (found.each[7] == alone).all()
    np.testing.assert_allclose(found.mean, found.each.mean(axis=0))
    expected = found.each.std(axis=0, ddof=1) / np.sqrt(40)
    np.testing.assert_allclose(found.standard_error, expected)
    assert found.mean.argmax() == 1
    assert found.mean.sum() == pytest.approx(1)


def test_more_trees_have_smaller_standard_errors():
    X, y = one_of_three(200)
    errors = [
        importances(RandomForestClassifier(n, random_state=0).fit(X, y)).standard_error[1]
        for n in (25, 400)
    ]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.35)


def test_trees_without_splits_take_no_part():
    X, y = one_of_three(12)
    bag = BaggingClassifier(n_estimators=60, max_samples=2, random_state=0).fit(X, y)
    found = importances(bag)
    empty = np.isnan(found.each).all(axis=1)
    assert 0 < empty.sum() < 60
    assert (empty == (bag.forest_.n_leaves == 1)).all()
    np.testing.assert_allclose(found.mean, found.each[~empty].mean(axis=0))
    expected = found.each[~empty].std(axis=0, ddof=1) / np.sqrt((~empty).sum())
    np.testing.assert_allclose(found.standard_error, expected)
    nothing = importances(BaggingClassifier(n_estimators=3).fit(X, np.zeros(12)))
    assert nothing.mean.tolist() == [0, 0, 0]
    assert np.isnan(nothing.standard_error).all()


def test_the_votes_of_boosted_members_count():
    X, y = one_of_three(300)
    y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    model = AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=10, random_state=0)
    found = importances(model.fit(X, y))
    w = model.member_weights_
    np.testing.assert_allclose(found.mean, w @ found.each / w.sum())
    apart = w[:, None] * (found.each - found.mean)
    expected = np.sqrt((apart**2).sum(axis=0) * len(w) / (len(w) - 1)) / w.sum()
    np.testing.assert_allclose(found.standard_error, expected)


@pytest.mark.parametrize("model", [
    TheirForest(15, random_state=0),
    TheirBagging(n_estimators=15, max_features=2, random_state=0),
    BaggingClassifier(TheirForest(2), n_estimators=4, random_state=0),
])  # fmt: skip
def test_members_of_other_makes_are_averaged(model):
    X, y = one_of_three(150)
    found = importances(model.fit(X, y))
    assert len(found.each) == len(model)
    assert found.mean.argmax() == 1
    assert (found.standard_error > 0).all()
    if isinstance(model, TheirForest):
        np.testing.assert_allclose(found.mean, model.feature_importances_)


def test_what_is_no_mean_over_trees_has_no_standard_error(friedman):
    model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(*friedman)
    found = importances(model)
    assert (found.mean == model.feature_importances_).all()
    assert np.isnan(found.standard_error).all()
    assert found.each.shape == (0, 10)


# -- permutation -----------------------------------------------------------------------------------


def test_out_of_bag_permutation_is_that_of_the_forest(forest):
    X, y = one_of_three(200)
    found = importances(forest, X, y, kind="permutation", random_state=5)
    assert (found.kind, found.on) == ("permutation", "out_of_bag")
    out = forest.in_bag(X, y) == 0
    codes = (y == "low").astype(np.int64)  # "high" comes first
    expected = oob_permutation_importances(forest.forest_, X, codes, out, random_state=5)
    assert (found.mean == expected.mean).all()
    assert (found.standard_error == expected.standard_error).all()
    assert found.mean[1] == pytest.approx(0.45, abs=0.1)
    assert np.abs(found.mean[[0, 2]]).max() < 0.03
    more = importances(forest, X, y, kind="permutation", random_state=5, n_repeats=5)
    assert more.standard_error[0] < found.standard_error[0]


def test_weights_are_those_of_the_fit():
    X, y = one_of_three(150)
    w = np.random.default_rng(1).integers(0, 3, len(y))
    model = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y, w)
    found = importances(model, X, y, kind="permutation", sample_weight=w, random_state=0)
    # A row of weight 0 may be anything.
    X2, y2 = X.copy(), y.astype(object)
    X2[w == 0] = 0.5
    y2[w == 0] = "unheard of"
    again = importances(
        model, X2, y2.astype(str), kind="permutation", sample_weight=w, random_state=0
    )
    assert (found.mean == again.mean).all()
    # Without them it is another training set, and all trees are asked about all samples.
    assert importances(model, X, y, kind="permutation").on == "train"
    with pytest.raises(ValueError, match="not the training set"):
        importances(model, X, y, kind="permutation", on="out_of_bag")


def test_what_was_measured_in_the_fit_needs_no_samples():
    X, y = one_of_three(150)
    model = RandomForestClassifier(20, importance="permutation", random_state=0).fit(X, y)
    found = importances(model, kind="permutation")
    assert (found.mean == model.feature_importances_).all()
    assert (found.standard_error == model.permutation_importances_.standard_error).all()
    assert importances(model).mean.sum() == pytest.approx(1)  # by impurity all the same


def test_regression_counts_squared_errors(friedman):
    X, y = friedman
    model = RandomForestRegressor(n_estimators=30, random_state=0).fit(X, y)
    found = importances(model, X, y, kind="permutation", random_state=0)
    assert found.is_regression
    assert set(np.argsort(found.mean)[-5:]) == {0, 1, 2, 3, 4}  # those that the target is made of


@pytest.mark.parametrize("model", [
    SVC(), GaussianNB(), BaggingClassifier(GaussianNB(), n_estimators=5, random_state=0),
    ExtraTreesClassifier(n_estimators=15, random_state=0),
    AdaBoostClassifier(StumpClassifier(), n_estimators=5, random_state=0),
])  # fmt: skip
def test_other_models_are_asked_about_the_samples_given(model):
    X, y = one_of_three(150)
    y = np.where(X[:, 0] > 0.9, "low", y)
    model.fit(X[:100], y[:100])
    test = X[100:], y[100:]
    found = importances(model, *test, kind="permutation", random_state=0)
    assert found.on == "train"
    assert found.each.shape == (10, 3)
    np.testing.assert_allclose(found.mean, found.each.mean(axis=0))
    expected = found.each.std(axis=0, ddof=1) / np.sqrt(10)
    np.testing.assert_allclose(found.standard_error, expected)
    theirs = permutation_importance(model, *test, n_repeats=50, random_state=0)
    within = 4 * np.hypot(found.standard_error, theirs.importances_std / np.sqrt(50)) + 1e-12
    assert (np.abs(found.mean - theirs.importances_mean) <= within).all()
    again = importances(model, *test, kind="permutation", random_state=0)
    assert (again.each == found.each).all()
    rng = np.random.default_rng(0)
    drawn = importances(model, *test, kind="permutation", random_state=rng, n_repeats=3)
    assert drawn.each.shape == (3, 3)


def test_a_forest_may_be_asked_about_other_samples_too(forest):
    X, y = np.random.default_rng(9).random((80, 3)), np.array(["low", "high"] * 40)
    found = importances(forest, X, y, kind="permutation", on="train", random_state=0)
    assert found.on == "train"
    assert np.abs(found.mean).max() < 0.1  # labels without meaning
    linear = LinearRegression().fit(X, X @ [1.0, 2.0, 0.0])
    found = importances(linear, X, X @ [1.0, 2.0, 0.0], kind="permutation", random_state=0)
    # Shuffling an independent feature costs twice its part of the variance.
    assert found.mean == pytest.approx(2 * X.var(axis=0) * [1, 4, 0], rel=0.2, abs=1e-12)


def test_labels_that_are_no_names_are_not_shown():
    X, y = one_of_three(100)
    known = TheirForest(5, random_state=0).fit(X, y)
    found = importances(known, pd.DataFrame(X))
    assert found.names == importances(known, X).names == ("x0", "x1", "x2")


def test_names_are_those_of_the_columns():
    X, y = one_of_three(100)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    for model in (RandomForestClassifier(5, random_state=0), TheirForest(5, random_state=0)):
        assert importances(model.fit(table, y)).names == ("a", "b", "c")
    pruned = PrunedClassifier(BaggingClassifier(n_estimators=9), random_state=0).fit(table, y)
    assert importances(pruned).names == ("a", "b", "c")
    with pytest.warns(UserWarning, match="was trained on these samples"):
        found = importances(pruned, table, y, kind="permutation", on="train", random_state=0)
    assert found.mean.argmax() == 1


# -- what is refused -------------------------------------------------------------------------------


def test_what_cannot_be_measured_is_refused(forest):
    X, y = one_of_three(50)
    with pytest.raises(TypeError, match="of type LogisticRegression, whose members have no splits"):
        importances(LogisticRegression().fit(X, y))
    with pytest.raises(NotFittedError):
        importances(RandomForestClassifier())
    with pytest.raises(ValueError, match="X and y are missing"):
        importances(forest, kind="permutation")
    with pytest.raises(
        TypeError, match="of type SVC, not a fitted ensemble whose members can be queried"
    ):
        importances(SVC().fit(X, y), X, y, kind="permutation", on="out_of_bag")
    extra = ExtraTreesClassifier(n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="has no out-of-bag samples"):
        importances(extra, X, y, kind="permutation", on="out_of_bag")
    for settings, message in (
        ({"kind": "gain"}, "kind='gain' is not allowed"),
        ({"on": "test"}, "on='test' is not allowed"),
        ({"n_repeats": 0}, "n_repeats=0 is not allowed"),
    ):
        with pytest.raises(ValueError, match=message):
            importances(forest, X, y, **settings)


# -- the picture -----------------------------------------------------------------------------------


def by_hand(**changes):
    given = {
        "mean": np.array([0.1, 0.6, 0.3]), "standard_error": np.array([0.01, 0.02, 0.03]),
        "each": np.zeros((0, 3)), "names": ("a$", "b", "c"), "kind": "impurity", "on": "splits",
    } | changes  # fmt: skip
    return Importances(**given)


def test_bars_go_from_the_greatest_down_with_two_standard_errors():
    display = ImportanceDisplay(by_hand()).plot()
    assert display.order_.tolist() == [1, 2, 0]
    assert [bar.get_width() for bar in display.bars_] == [60.0, 30.0, 10.0]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["b", "c", r"a\$"]
    (lines,) = display.bars_.errorbar.lines[2]
    ends = [line[:, 0].tolist() for line in lines.get_segments()]
    assert ends == [pytest.approx([56, 64]), pytest.approx([24, 36]), pytest.approx([8, 12])]
    low, high = display.ax_.get_ylim()
    assert low > high  # the first is at the top
    assert display.ax_.get_title() == "Importance by impurity"
    assert display.ax_.get_xlabel().startswith("share of the impurity decrease, %")
    assert "2 standard errors" in display.ax_.get_xlabel()


def test_unknown_errors_are_not_drawn_and_few_may_be_shown():
    display = ImportanceDisplay(by_hand(standard_error=np.full(3, np.nan))).plot(n_shown=2)
    assert display.bars_.errorbar is None
    assert "standard errors" not in display.ax_.get_xlabel()
    assert display.ax_.get_title() == "Importance by impurity (2 of 3 shown)"
    with pytest.raises(ValueError, match="n_shown=0 is not allowed"):
        display.plot(n_shown=0)


@pytest.mark.parametrize(("changes", "label", "first"), [
    ({"on": "out_of_bag"}, "out-of-bag error added by shuffling, %", 60.0),
    ({"on": "train"}, "error added by shuffling, %", 60.0),
    ({"on": "train", "is_regression": True}, "squared error added by shuffling", 0.6),
])  # fmt: skip
def test_permutations_say_which_error_they_add_to(changes, label, first):
    display = ImportanceDisplay(by_hand(kind="permutation", **changes)).plot()
    assert display.ax_.get_xlabel().splitlines()[0] == label
    assert display.bars_[0].get_width() == pytest.approx(first)


# -- what was not seen -----------------------------------------------------------------------------


def test_scikit_learns_forests_and_pruned_ones_are_asked_out_of_bag():
    from orfeon import prune
    from orfeon.datasets import TwoNorm

    X, y = TwoNorm().sample(200, random_state=0)
    theirs = TheirForest(51, random_state=0).fit(X, y)
    found = importances(theirs, X, y, kind="permutation", random_state=0)
    assert found.on == "out_of_bag"
    assert found.each.shape == (51, 20)
    forest = RandomForestClassifier(51, random_state=0).fit(X, y)
    few = prune(forest, X, y, keep=list(range(0, 51, 2)))
    assert importances(few, X, y, kind="permutation", random_state=0).on == "out_of_bag"
    shown = ImportanceDisplay(found).plot()
    assert shown.ax_.get_title().startswith("Importance by permutation, out of bag")


def test_each_member_is_asked_about_what_it_did_not_see():
    from orfeon.datasets import TwoNorm
    from orfeon.inspection.feature_importance import permuted_members
    from orfeon.members import adapt

    X, y = TwoNorm().sample(60, random_state=0)
    forest = TheirForest(7, random_state=0).fit(X, y)
    members = adapt(forest)
    found = permuted_members(
        members, X, y, np.ones(60), members.out_of_bag(X, y), 1, np.random.default_rng(3)
    )
    shuffled = np.random.default_rng(3).permutation(60)
    for tree, drawn, row in zip(forest.estimators_, forest.estimators_samples_, found, strict=True):
        unseen = np.setdiff1d(np.arange(60), drawn)
        for column in (0, 7, 19):
            changed = X.copy()
            changed[:, column] = X[shuffled, column]
            wrong = [(tree.predict(rows[unseen]) != y[unseen]).mean() for rows in (changed, X)]
            assert row[column] == pytest.approx(wrong[0] - wrong[1], abs=1e-12)


def test_the_training_set_of_an_ensemble_that_leaves_nothing_out_has_a_warning():
    from orfeon import AdaBoostClassifier
    from orfeon.datasets import TwoNorm

    X, y = TwoNorm().sample(100, random_state=0)
    boosted = AdaBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="AdaBoostClassifier was trained on these samples"):
        assert importances(boosted, X, y, kind="permutation", random_state=0).on == "train"
    assert importances(boosted, X[:50], y[:50], kind="permutation", n_repeats=2).on == "train"
