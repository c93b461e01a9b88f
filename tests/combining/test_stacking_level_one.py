"""Level-1 data of stacks, from folds, bags and fitted models, which are always honest."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import ensemble as sklearn_ensemble
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier
from tests.combining.stacks import (
    BAG,
    CLASSIFIERS,
    FOREST,
)

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    CARTRegressor,
    ParallelPerceptronClassifier,
    RandomForestClassifier,
    StumpClassifier,
)
from orfeon.combining.stacking import StackingClassifier, StackingRegressor
from orfeon.datasets import make_twonorm, make_waveform

# -- honesty ---------------------------------------------------------------------------------------


def near_chance(right, n):
    return abs(np.mean(right) - 0.5) < 4 * 0.5 / np.sqrt(n)


def random_labels(n=1500):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 3)), rng.integers(0, 2, n)


NEAR = KNeighborsClassifier(1)
SAMPLED = BaggingClassifier(NEAR, n_estimators=20)
THEIRS = sklearn_ensemble.BaggingClassifier(NEAR, n_estimators=20)


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize(
    "stack",
    [
        StackingClassifier([("near", NEAR), ("tree", CARTClassifier())]),
        StackingClassifier([("near", NEAR), ("tree", CARTClassifier())], "meta_tree"),
        StackingClassifier(
            [("near", SAMPLED), ("forest", RandomForestClassifier(30))], cv="out_of_bag"
        ),
        StackingClassifier([("near", THEIRS)], cv="out_of_bag"),
        StackingClassifier(
            [("forest", sklearn_ensemble.RandomForestClassifier(20))], cv="out_of_bag"
        ),
    ],
    ids=["folds", "meta tree", "bag and forest", "scikit-learn's bag", "scikit-learn's forest"],
)
@pytest.mark.filterwarnings("ignore:.*seen by every member:UserWarning")
def test_random_labels_are_not_learnt_from_members_that_remember_them(stack, copied):
    """Also where each sample is there twice: the copy of one left out is left out with it."""
    X, y = random_labels()
    rows = np.repeat(np.arange(1500), 1 + copied)
    fitted = clone(stack).set_params(random_state=0).fit(X[rows], y[rows])
    known = ~np.isnan(fitted.level_one_).any(axis=1)
    assert known.mean() > 0.9
    for column in fitted.level_one_[known].T:
        sure = column != 0.5
        assert near_chance((column[sure] > 0.5) == y[rows][known][sure], 1500)
        assert abs(np.corrcoef(column, y[rows][known])[0, 1]) < 4 / np.sqrt(1500)
    if not isinstance(fitted.final_estimator, str):
        trained = fitted.final_estimator_.predict(fitted.level_one_[known])
        # It may have found a little in the noise, for which it has few parameters.
        assert np.mean(trained == y[rows][known]) < 0.5 + 4 * 0.5 / np.sqrt(1500)
    # All members do remember: asked about the samples themselves they are right.
    assert max(np.mean((a > 0.5) == y) for a in fitted.answers(X).T) > 0.95


def test_members_of_a_bag_are_heard_only_where_they_were_left_out():
    X, y = random_labels(600)
    stack = StackingClassifier(clone(SAMPLED), cv="out_of_bag", random_state=0).fit(X, y)
    for column in stack.level_one_.T:
        assert abs(np.corrcoef(column, y)[0, 1]) < 4 / np.sqrt(600)
    # In sample each of them is right about the 63% that it has seen, and half of the others.
    assert np.mean((stack.answers(X) > 0.5) == y[:, None]) > 0.75


def test_numbers_without_a_signal_are_not_learnt_either():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 3)), rng.normal(size=1000)
    for stack in (
        StackingRegressor([("near", KNeighborsRegressor(1)), ("tree", CARTRegressor())]),
        StackingRegressor([("bag", BaggingRegressor(n_estimators=30))], cv="out_of_bag"),
    ):
        fitted = stack.set_params(random_state=0).fit(X, y)
        for column in fitted.level_one_.T:
            assert abs(np.corrcoef(column, y)[0, 1]) < 4 / np.sqrt(1000)
        assert np.abs(fitted.final_estimator_.coef_).max() < 0.15
        assert fitted.score(X, y) < 0.2


# -- out of bag ------------------------------------------------------------------------------------


@pytest.mark.parametrize("frozen", [False, True])
def test_out_of_bag_answers_are_means_over_the_trees_that_left_the_sample_out(frozen):
    X, y = make_waveform(80, random_state=0)
    forest = RandomForestClassifier(n_estimators=25, random_state=3).fit(X, y)
    given = FrozenEstimator(forest) if frozen else clone(forest)
    stack = StackingClassifier([("forest", given)], cv="out_of_bag", random_state=0).fit(X, y)
    left_out = forest.in_bag(X, y) == 0
    shares = np.stack([tree.predict_proba(X) for tree in forest.estimators_])
    expected = (shares * left_out[:, :, None]).sum(axis=0) / left_out.sum(axis=0)[:, None]
    np.testing.assert_allclose(stack.level_one_, expected, atol=1e-12)
    np.testing.assert_allclose(stack.answers(X), shares.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("method", ["predict", "auto"])
def test_members_out_of_bag_answer_themselves_or_by_the_mean_of_those_that_can(method):
    X, y = make_twonorm(80, random_state=0)
    bag = BaggingClassifier(n_estimators=25, random_state=3)
    stack = StackingClassifier(bag, cv="out_of_bag", stack_method=method).fit(X, y)
    fitted = stack.estimators_[0]
    left_out = fitted.in_bag(X, y) == 0
    shares = np.stack([tree.predict_proba(X)[:, 1] for tree in fitted.estimators_])
    if method == "predict":
        shares = fitted.votes(X).astype(float)
    means = (shares * left_out).sum(axis=0) / left_out.sum(axis=0)
    np.testing.assert_allclose(stack.level_one_, np.where(left_out, shares, means).T, atol=1e-12)
    np.testing.assert_array_equal(stack.answers(X), shares.T)
    assert stack.answer_names_[24] == "member24_1"
    # The penalty grows with the members, so that many of them are not fitted to their noise.
    assert stack.final_estimator_.C * 25 == 1.0


def test_scikit_learns_forest_out_of_bag_is_its_own_estimate():
    X, y = make_waveform(150, random_state=0)
    forest = sklearn_ensemble.RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, y)
    stack = StackingClassifier([("forest", FrozenEstimator(forest))], cv="out_of_bag").fit(X, y)
    np.testing.assert_allclose(stack.level_one_, forest.oob_decision_function_, atol=1e-12)
    np.testing.assert_allclose(stack.answers(X), forest.predict_proba(X), atol=1e-12)


def test_samples_seen_by_all_members_are_not_learnt_from():
    X, y = make_twonorm(60, random_state=0)
    bag = BaggingClassifier(n_estimators=3, random_state=0)
    with pytest.warns(UserWarning, match=r"\d+ of 60 samples were seen by every m") as caught:
        stack = StackingClassifier([("bag", bag)], cv="out_of_bag").fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]
    never = ~(stack.estimators_[0].in_bag(X, y) == 0).any(axis=0)
    assert 3 <= never.sum() <= 30
    np.testing.assert_array_equal(np.isnan(stack.level_one_[:, 0]), never)


def test_out_of_bag_of_those_that_leave_nothing_out_is_refused():
    X, y = make_twonorm(50, random_state=0)
    for model in (AdaBoostClassifier(), sklearn_ensemble.AdaBoostClassifier()):
        with pytest.raises(ValueError, match=r"no out-of-bag samples: .* Use folds, such as"):
            StackingClassifier([("boosted", model)], cv="out_of_bag").fit(X, y)
    message = "^{} has no members that leave .* GaussianNB, not a fitted ensemble whose member"
    with pytest.raises(TypeError, match=message.format("bayes")):
        StackingClassifier([("bag", BAG), ("bayes", GaussianNB())], cv="out_of_bag").fit(X, y)
    with pytest.raises(TypeError, match=message.format("estimators")):
        StackingClassifier(GaussianNB(), cv="out_of_bag").fit(X, y)
    other = FrozenEstimator(clone(BAG).fit(X, y))
    with pytest.raises(ValueError, match="are not the training set of all members"):
        StackingClassifier([("bag", other)], cv="out_of_bag").fit(X + 1, y)


def test_members_of_one_ensemble_are_stacked_out_of_bag_only():
    X, y = make_twonorm(50, random_state=0)
    with pytest.raises(ValueError, match=r'is one ensemble, .* only with cv="out_of_bag"'):
        StackingClassifier(clone(BAG)).fit(X, y)


# -- fitted models ---------------------------------------------------------------------------------


def test_fitted_models_are_asked_and_not_fitted():
    X, y = make_waveform(300, random_state=0)
    fitted = [(name, clone(model).fit(X[:150], y[:150])) for name, model in CLASSIFIERS]
    stack = StackingClassifier(fitted, cv="prefit").fit(X[150:], y[150:])
    assert [a is b for a, (_, b) in zip(stack.estimators_, fitted, strict=True)] == [True, True]
    expected = np.column_stack([model.predict_proba(X[150:]) for _, model in fitted])
    np.testing.assert_array_equal(stack.level_one_, expected)
    final = LogisticRegression(max_iter=1000).fit(expected, y[150:])
    np.testing.assert_allclose(
        stack.predict_proba(X[150:]), final.predict_proba(expected), atol=1e-5
    )


@pytest.mark.parametrize(
    "model", [BAG, FOREST, AdaBoostClassifier(n_estimators=5)], ids=lambda m: type(m).__name__
)
def test_an_ensemble_knows_that_it_was_fitted_to_these_samples(model):
    X, y = make_twonorm(100, random_state=0)
    fitted = clone(model).set_params(random_state=0).fit(X, y)
    moved = np.random.default_rng(0).permutation(100)
    for stack in (
        StackingClassifier([("own", fitted)], cv="prefit"),
        StackingClassifier([("own", FrozenEstimator(fitted)), ("bayes", GaussianNB())]),
    ):
        for rows in (slice(None), moved):
            with pytest.raises(ValueError, match="own was fitted to these samples"):
                stack.fit(X[rows], y[rows])
        assert stack.fit(*make_twonorm(100, random_state=1)).score(X, y) > 0.85


def test_others_that_make_no_error_are_suspected():
    X, y = random_labels(100)
    tree = DecisionTreeClassifier().fit(X, y)
    with pytest.warns(UserWarning, match="tree predicts all 100 samples correctly") as caught:
        StackingClassifier([("tree", tree)], cv="prefit").fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]


def test_classes_that_only_fitted_models_know_are_kept():
    X, y = make_waveform(200, random_state=0)
    fitted = [("bayes", GaussianNB().fit(X, y))]
    two = y != 1
    stack = StackingClassifier(fitted, cv="prefit").fit(X[two][:80], y[two][:80])
    assert stack.classes_.tolist() == [0, 1, 2]
    shares = stack.predict_proba(X)
    assert shares.shape == (200, 3)
    assert (shares[:, 1] == 0).all()
    with pytest.raises(ValueError, match=r"bayes was fitted to the classes \[0, 1, 2\], and y has"):
        StackingClassifier(fitted, cv="prefit").fit(X, y.astype(str))


def test_prefit_wants_fitted_models():
    X, y = make_twonorm(50, random_state=0)
    with pytest.raises(ValueError, match='cv="prefit" needs fitted estimators'):
        StackingClassifier(cv="prefit").fit(X, y)
    with pytest.raises(ValueError, match="is not fitted; fit it first"):
        StackingClassifier(CLASSIFIERS, cv="prefit").fit(X, y)


# -- too few samples ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"passthrough": True},
        {"final_estimator": LogisticRegression()},
        {"final_estimator": "meta_tree"},
        {"cv": "out_of_bag"},
        {"estimators": BaggingClassifier(), "cv": "out_of_bag"},
    ],
    ids=str,
)
def test_two_samples_are_not_contradicted(setting):
    """Each model was asked about a class that it had not met, and was wrong."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array(["a", "b"])
    stack = StackingClassifier(random_state=0, **setting).fit(X, y)
    assert stack.predict(X).tolist() == ["a", "b"]
    assert stack.predict(np.repeat(X, 2, axis=0)).tolist() == ["a", "a", "b", "b"]
    shares = stack.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    if stack.final_estimator != "meta_tree":
        whole = stack.answers(X)
        np.testing.assert_allclose(shares[:, 1], whole.mean(axis=1), atol=1e-12)


def test_one_class_that_was_never_met_leaves_nothing_to_learn():
    """Three classes of one sample each, and one of two: one class alone is told about."""
    X, y = np.arange(5.0)[:, None] ** 2, np.array([0, 1, 2, 3, 3])
    models = [("near", KNeighborsClassifier(1)), ("tree", CARTClassifier())]
    stack = StackingClassifier(models, random_state=0).fit(X, y)
    assert stack.predict(X).tolist() == y.tolist()
    shares = [model.predict_proba(X) for model in stack.estimators_]
    np.testing.assert_allclose(stack.predict_proba(X), np.mean(shares, axis=0), atol=1e-12)
    # With another sample of one of them there are two, and the final estimator learns.
    X, y = np.vstack([X, X[:1] - 1]), np.append(y, 0)
    assert hasattr(StackingClassifier(models, random_state=0).fit(X, y).final_estimator_, "coef_")


@pytest.mark.parametrize("cv", [5, "out_of_bag"])
def test_two_numbers_are_not_contradicted_either(cv):
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]), np.array([1.0, 2.0, 2.0])
    for passthrough in (False, True):
        stack = StackingRegressor(cv=cv, passthrough=passthrough, random_state=0).fit(X, y)
        first, second, third = stack.predict(X)
        assert first < 1.5 < second == third
        np.testing.assert_allclose(stack.answers(X).mean(axis=1), stack.predict(X), atol=1e-12)


def test_fitted_models_teach_from_two_samples():
    """Nothing was trained on the samples, so that the answers are honest however few there are."""
    X, y = make_twonorm(100, random_state=0)
    model = FrozenEstimator(GaussianNB().fit(X, 1 - y))
    few = [int(np.flatnonzero(y == label)[0]) for label in (0, 1)]
    stack = StackingClassifier([("wrong", model)], LogisticRegression(C=100), cv=2, random_state=0)
    assert stack.fit(X[few], y[few]).predict(X[few]).tolist() == [0, 1]


# -- meta decision trees ---------------------------------------------------------------------------


def test_the_answer_is_that_of_the_model_chosen():
    X, y = make_waveform(300, random_state=0)
    X_new = make_waveform(200, random_state=1)[0]
    stack = StackingClassifier(
        [("line", ParallelPerceptronClassifier()), ("tree", CARTClassifier(max_depth=4))],
        "meta_tree", random_state=0,
    ).fit(X, y)  # fmt: skip
    chosen = stack.choose(X_new)
    assert set(chosen) <= {0, 1}
    shares = np.stack([model.predict_proba(X_new) for model in stack.estimators_])
    np.testing.assert_array_equal(stack.predict_proba(X_new), shares[chosen, np.arange(200)])
    np.testing.assert_array_equal(
        stack.predict(X_new), shares[chosen, np.arange(200)].argmax(axis=1)
    )


def two_halves(seed):
    """The class is told by the second feature on the right, by the third on the left."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(600, 3))
    return X, np.where(X[:, 0] > 0, X[:, 1] > 0, X[:, 2] > 0).astype(int)


def test_with_the_features_it_learns_where_each_model_is_right():
    X, y = two_halves(0)
    right = X[:, 0] > 0
    fitted = [
        ("right", StumpClassifier().fit(X[right], y[right])),
        ("left", StumpClassifier().fit(X[~right], y[~right])),
    ]
    how = {"final_estimator": "meta_tree", "cv": "prefit", "random_state": 0}
    X, y = two_halves(1)
    without = StackingClassifier(fitted, **how).fit(X, y)
    stack = StackingClassifier(fitted, passthrough=True, **how).fit(X, y)
    X, y = two_halves(2)
    assert without.score(X, y) < 0.85
    assert stack.score(X, y) > 0.98
    assert np.mean(stack.choose(X) == np.where(X[:, 0] > 0, 0, 1)) > 0.98


def test_a_stack_without_a_meta_tree_chooses_nobody():
    X, y = make_twonorm(50, random_state=0)
    stack = StackingClassifier(CLASSIFIERS).fit(X, y)
    with pytest.raises(ValueError, match=r'=None does not choose a classifier; .*"meta_tree"'):
        stack.choose(X)
