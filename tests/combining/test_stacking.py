"""Stacking: the same as scikit-learn's where both can, and level-1 data that are always honest."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import ensemble as sklearn_ensemble
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    CARTRegressor,
    ParallelPerceptronClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StumpClassifier,
)
from orfeon.combining.stacking import StackingClassifier, StackingRegressor
from orfeon.datasets import make_friedman1, make_twonorm, make_waveform

CLASSIFIERS = [("bayes", GaussianNB()), ("tree", CARTClassifier(max_depth=3, random_state=0))]
REGRESSORS = [("line", LinearRegression()), ("tree", CARTRegressor(random_state=0))]
FOREST = RandomForestClassifier(n_estimators=30)
BAG = BaggingClassifier(n_estimators=30)
#: Small stacks that take each way through the code.
STACKS = {
    "folds": StackingClassifier([("tree", CARTClassifier()), ("forest", clone(FOREST))]),
    "any estimators": StackingClassifier(
        [("bayes", GaussianNB()), ("near", KNeighborsClassifier(3))], cv=3
    ),
    "decisions": StackingClassifier(CLASSIFIERS, stack_method="predict"),
    "attributes too": StackingClassifier(CLASSIFIERS, clone(FOREST), passthrough=True),
    "meta tree": StackingClassifier([*CLASSIFIERS, ("bag", clone(BAG))], "meta_tree"),
    "out of bag": StackingClassifier(
        [("forest", clone(FOREST)), ("bag", clone(BAG))], cv="out_of_bag"
    ),
    "meta tree out of bag": StackingClassifier(
        [("forest", clone(FOREST)), ("bag", clone(BAG))], "meta_tree", cv="out_of_bag",
        passthrough=True,
    ),
    "members": StackingClassifier(BaggingClassifier(n_estimators=60), cv="out_of_bag"),
    "regression": StackingRegressor(REGRESSORS),
    "regression, attributes too": StackingRegressor(
        REGRESSORS, RandomForestRegressor(n_estimators=5), passthrough=True
    ),
    "regression out of bag": StackingRegressor(
        [("forest", RandomForestRegressor(40)), ("bag", BaggingRegressor(n_estimators=40))],
        cv="out_of_bag",
    ),
    "members in regression": StackingRegressor(
        BaggingRegressor(n_estimators=60), cv="out_of_bag"
    ),
}  # fmt: skip
each_stack = pytest.mark.parametrize("name", STACKS)


def problem(stack, n_rows=90, seed=0):
    """Numbers with a signal in them; the last column is rounded, so that some rows are near."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    X[:, 2] = np.round(X[:, 2], 1)
    signal = X[:, 0] + X[:, 2] ** 2 + rng.normal(size=n_rows) / 2
    if isinstance(stack, StackingRegressor):
        return X, signal
    return X, np.array(["low", "middle", "top"])[np.digitize(signal, [0.2, 1.4])]


def outputs(stack, X):
    """All that a fitted stack says."""
    decided = stack.predict(X)
    shares = stack.predict_proba(X) if hasattr(stack, "predict_proba") else decided
    return decided, shares, stack.answers(X), stack.level_one_


# -- the same as others ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("splitter", [KFold(4), StratifiedKFold(4, shuffle=True, random_state=1)])
def test_with_the_same_splits_it_is_scikit_learns(n_classes, passthrough, splitter):
    X, y = make_waveform(150, random_state=0)
    X, y = X[:, :5], np.array(["a", "b", "c"])[np.minimum(y, n_classes - 1)]
    X_new = make_waveform(80, random_state=1)[0][:, :5]
    how = {"estimators": CLASSIFIERS, "passthrough": passthrough, "cv": splitter}
    final = LogisticRegression(max_iter=1000)
    ours = StackingClassifier(final_estimator=final, **how).fit(X, y)
    theirs = sklearn_ensemble.StackingClassifier(final_estimator=final, **how).fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X_new), theirs.predict_proba(X_new))
    np.testing.assert_array_equal(ours.predict(X_new), theirs.predict(X_new))
    n_answers = ours.answers(X_new).shape[1]
    assert n_answers == len(ours.answer_names_) == (2 if n_classes == 2 else 6)
    np.testing.assert_array_equal(ours.answers(X_new), theirs.transform(X_new)[:, :n_answers])


def test_regressors_with_the_same_splits_are_scikit_learns():
    X, y = make_friedman1(100, random_state=0)
    splits = list(KFold(5, shuffle=True, random_state=0).split(X))
    ours = StackingRegressor(REGRESSORS, Ridge(), cv=splits).fit(X, y)
    theirs = sklearn_ensemble.StackingRegressor(REGRESSORS, Ridge(), cv=splits).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_an_obvious_loop(n_classes):
    """Also with weights, which say how often a row is there."""
    X, y = make_waveform(60, random_state=0)
    X, y = X[:, :4], np.minimum(y, n_classes - 1)
    weights = 1 + np.arange(60) % 2
    fold = np.arange(60) % 3
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
    stack = StackingClassifier(CLASSIFIERS, LogisticRegression(), cv=splits)
    stack.fit(X, y, sample_weight=weights)

    copies = np.repeat(np.arange(60), weights)
    level_one = np.zeros((60, 2, n_classes))
    for f in range(3):
        train = copies[fold[copies] != f]
        for t, (_, model) in enumerate(CLASSIFIERS):
            fitted = clone(model).fit(X[train], y[train])
            level_one[fold == f, t] = fitted.predict_proba(X[fold == f])
    level_one = level_one[:, :, 1 if n_classes == 2 else 0 :].reshape(60, -1)
    np.testing.assert_allclose(stack.level_one_, level_one, atol=1e-12)
    final = LogisticRegression().fit(level_one[copies], y[copies])
    members = [clone(model).fit(X[copies], y[copies]) for _, model in CLASSIFIERS]
    asked = np.stack([member.predict_proba(X) for member in members], axis=1)
    asked = asked[:, :, 1 if n_classes == 2 else 0 :].reshape(60, -1)
    np.testing.assert_allclose(stack.predict_proba(X), final.predict_proba(asked), atol=1e-10)


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
        StackingClassifier([("near", SAMPLED), ("forest", FOREST)], cv="out_of_bag"),
        StackingClassifier([("near", THEIRS)], cv="out_of_bag"),
        StackingClassifier(
            [("forest", sklearn_ensemble.RandomForestClassifier(20))], cv="out_of_bag"
        ),
    ],
    ids=["folds", "meta tree", "bag and forest", "scikit-learn's bag", "scikit-learn's forest"],
)
@pytest.mark.filterwarnings("ignore:.*seen by every member:UserWarning")
def test_random_labels_are_not_learnt_from_members_that_remember_them(stack, copied):
    """Also where each example is there twice: the copy of one left out is left out with it."""
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
    # All members do remember: asked about the examples themselves they are right.
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
def test_out_of_bag_answers_are_means_over_the_trees_that_left_the_example_out(frozen):
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


def test_examples_seen_by_all_members_are_not_learnt_from():
    X, y = make_twonorm(60, random_state=0)
    bag = BaggingClassifier(n_estimators=3, random_state=0)
    with pytest.warns(UserWarning, match=r"\d+ of 60 examples were seen by every member"):
        stack = StackingClassifier([("bag", bag)], cv="out_of_bag").fit(X, y)
    never = ~(stack.estimators_[0].in_bag(X, y) == 0).any(axis=0)
    assert 3 <= never.sum() <= 30
    np.testing.assert_array_equal(np.isnan(stack.level_one_[:, 0]), never)


def test_out_of_bag_of_those_that_leave_nothing_out_is_refused():
    X, y = make_twonorm(50, random_state=0)
    for model in (AdaBoostClassifier(), sklearn_ensemble.AdaBoostClassifier()):
        with pytest.raises(ValueError, match=r"no out-of-bag examples: .* Use folds, such as"):
            StackingClassifier([("boosted", model)], cv="out_of_bag").fit(X, y)
    with pytest.raises(TypeError, match="GaussianNB, and no fitted ensemble whose members can be"):
        StackingClassifier([("bayes", GaussianNB())], cv="out_of_bag").fit(X, y)
    other = FrozenEstimator(clone(BAG).fit(X, y))
    with pytest.raises(ValueError, match="are not the training set of all members"):
        StackingClassifier([("bag", other)], cv="out_of_bag").fit(X + 1, y)


def test_members_of_one_ensemble_are_stacked_out_of_bag_only():
    X, y = make_twonorm(50, random_state=0)
    with pytest.raises(ValueError, match=r'is one ensemble, .* cv="out_of_bag" only'):
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
def test_an_ensemble_knows_that_it_was_fitted_to_these_examples(model):
    X, y = make_twonorm(100, random_state=0)
    fitted = clone(model).fit(X, y)
    moved = np.random.default_rng(0).permutation(100)
    for stack in (
        StackingClassifier([("own", fitted)], cv="prefit"),
        StackingClassifier([("own", FrozenEstimator(fitted)), ("bayes", GaussianNB())]),
    ):
        for rows in (slice(None), moved):
            with pytest.raises(ValueError, match="own was fitted to these very examples"):
                stack.fit(X[rows], y[rows])
        assert stack.fit(*make_twonorm(100, random_state=1)).score(X, y) > 0.85


def test_others_that_make_no_error_are_suspected():
    X, y = random_labels(100)
    tree = DecisionTreeClassifier().fit(X, y)
    with pytest.warns(UserWarning, match="tree is right about all 100 examples"):
        StackingClassifier([("tree", tree)], cv="prefit").fit(X, y)


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
    with pytest.raises(ValueError, match="not fitted yet"):
        StackingClassifier(CLASSIFIERS, cv="prefit").fit(X, y)


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
    """The class is told by the second attribute on the right, by the third on the left."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(600, 3))
    return X, np.where(X[:, 0] > 0, X[:, 1] > 0, X[:, 2] > 0).astype(int)


def test_with_the_attributes_it_learns_where_each_model_is_right():
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
    with pytest.raises(ValueError, match='final_estimator=None chooses no classifier; "meta_tree"'):
        stack.choose(X)


# -- weights, order, randomness, jobs --------------------------------------------------------------


@each_stack
@pytest.mark.filterwarnings("ignore:.*seen by every member:UserWarning")
def test_weight_k_is_k_copies_and_weight_zero_is_absence(name):
    """To the last bit, in whatever order the rows come."""
    stack = clone(STACKS[name]).set_params(random_state=1)
    X, y = problem(stack)
    rng = np.random.default_rng(2)
    weights = rng.integers(0, 3, len(y))
    copies = rng.permutation(np.repeat(np.arange(len(y)), weights))
    moved = rng.permutation(len(y))
    *weighted, level = outputs(stack.fit(X, y, sample_weight=weights), X)
    assert np.isnan(level[weights == 0]).all()
    for rows, given in ((copies, None), (moved, weights[moved]), (moved, 1.0 * weights[moved])):
        *other, again = outputs(stack.fit(X[rows], y[rows], sample_weight=given), X)
        for a, b in zip(weighted, other, strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(again, level[rows])


@pytest.mark.parametrize("name", ["folds", "meta tree", "out of bag", "regression out of bag"])
def test_frames_with_categories_and_missing_values(name):
    pandas = pytest.importorskip("pandas")
    stack = clone(STACKS[name])
    own = [p for p in stack.estimators if not isinstance(p[1], GaussianNB)]
    stack.set_params(estimators=own, random_state=0)
    X, y = problem(stack, 120)
    rng = np.random.default_rng(3)
    frame = pandas.DataFrame(X, columns=list("abc"))
    frame["word"] = pandas.Categorical(rng.choice(["x", "y", "z"], 120))
    frame["said"] = y if y.dtype.kind == "U" else np.where(y > np.median(y), "more", "less")
    for column in ("a", "word", "said"):
        frame[column] = frame[column].mask(rng.random(120) < 0.1)
    stack.fit(frame, y)
    assert stack.feature_names_in_.tolist() == ["a", "b", "c", "word", "said"]
    assert stack.score(frame, y) > 0.7
    moved = rng.permutation(120)
    again = clone(stack).fit(frame.iloc[moved], y[moved])
    np.testing.assert_array_equal(again.predict(frame), stack.predict(frame))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_attributes_pass_through_as_they_are(library):
    module = pytest.importorskip(library)
    X, y = make_twonorm(80, random_state=0)
    frame = module.DataFrame({"a": X[:, 0], "tree_1": ["left", "right"] * 40})
    models = [("tree", CARTClassifier(max_depth=2)), ("forest", clone(FOREST))]
    stack = StackingClassifier(models, CARTClassifier(), passthrough=True).fit(frame, y)
    assert stack.final_estimator_.feature_names_in_.tolist() == [
        "_tree_1", "forest_1", "a", "tree_1",
    ]  # fmt: skip
    assert stack.final_estimator_.schema_.categories[-1] == ("left", "right")
    assert stack.predict_proba(frame).shape == (80, 2)


@each_stack
@pytest.mark.filterwarnings("ignore:.*seen by every member:UserWarning")
def test_jobs_change_no_bit(name):
    stack = clone(STACKS[name]).set_params(random_state=4)
    X, y = problem(stack)
    first = outputs(stack.fit(X, y), X)
    second = outputs(stack.set_params(n_jobs=2).fit(X, y), X)
    for a, b in zip(first, second, strict=True):
        assert a.tobytes() == b.tobytes()


@each_stack
def test_random_state_fixes_everything(name):
    stack = clone(STACKS[name])
    X, y = problem(stack)
    for make in (lambda: 7, lambda: np.random.RandomState(7)):
        one, two = (outputs(stack.set_params(random_state=make()).fit(X, y), X) for _ in range(2))
        for a, b in zip(one, two, strict=True):
            np.testing.assert_array_equal(a, b)


def test_models_keep_the_random_state_that_they_were_given():
    X, y = make_twonorm(60, random_state=0)
    models = [("a", RandomForestClassifier(5, random_state=11)), ("b", RandomForestClassifier(5))]
    stack = StackingClassifier(models, random_state=0).fit(X, y)
    assert stack.estimators_[0].random_state == 11
    assert stack.estimators_[1].random_state is not None
    assert models[1][1].random_state is None


def test_equal_fractions_are_no_weights_and_unequal_ones_count():
    X, y = problem(StackingClassifier())
    stack = StackingClassifier(CLASSIFIERS, random_state=0)
    expected = stack.fit(X, y).predict_proba(X)
    for weight in (0.25, 2.0**-500):
        same = stack.fit(X, y, sample_weight=np.full(90, weight)).predict_proba(X)
        np.testing.assert_array_equal(same, expected)
    unequal = stack.fit(X, y, sample_weight=np.where(y == "top", 0.1, 1.3)).predict_proba(X)
    assert unequal[:, 2].mean() < 0.5 * expected[:, 2].mean()
    with pytest.raises(ValueError, match="fractions, and near=KNeigh"):
        STACKS["any estimators"].fit(X, y, sample_weight=np.linspace(0.1, 1, 90))


def test_the_unit_of_the_target_does_not_matter():
    X, y = make_friedman1(120, random_state=0)
    stack = StackingRegressor(REGRESSORS, random_state=0)
    expected = stack.fit(X, y).predict(X)
    for unit in (2.0**-40, 2.0**40):
        np.testing.assert_allclose(stack.fit(X, unit * y).predict(X), unit * expected, rtol=1e-8)


# -- what it gains ---------------------------------------------------------------------------------


def test_it_is_as_good_as_the_best_of_its_models():
    X, y = make_twonorm(300, random_state=0)
    X_new, y_new = make_twonorm(3000, random_state=1)
    stack = StackingClassifier(random_state=0).fit(X, y)
    assert list(stack.named_estimators_) == ["tree", "forest", "boosting", "perceptron"]
    scores = [model.score(X_new, y_new) for model in stack.estimators_]
    assert max(scores) - min(scores) > 0.1
    assert stack.score(X_new, y_new) > max(scores) - 0.01


def test_a_line_and_a_forest_together_are_better_than_each():
    X, y = make_friedman1(200, random_state=0)
    X_new, y_new = make_friedman1(2000, random_state=1)
    models = [("line", LinearRegression()), ("forest", RandomForestRegressor())]
    stack = StackingRegressor(models, random_state=0).fit(X, y)
    scores = [model.score(X_new, y_new) for model in stack.estimators_]
    assert stack.score(X_new, y_new) > max(scores) + 0.05


# -- edges -----------------------------------------------------------------------------------------


@each_stack
def test_one_class_or_one_value_is_all_there_is(name):
    stack = clone(STACKS[name])
    X = np.random.default_rng(0).normal(size=(20, 3))
    is_number = isinstance(stack, StackingRegressor)
    for rows in (X, X[:1], np.ones((4, 3))):
        y = np.full(len(rows), 3.5) if is_number else np.full(len(rows), "only")
        assert set(stack.fit(rows, y).predict(X)) == {y[0]}
    if stack.final_estimator is None:
        assert isinstance(stack.final_estimator_, DummyRegressor if is_number else DummyClassifier)


@pytest.mark.parametrize(
    ("stack", "table"),
    [
        (stack, table)
        for stack in (StackingClassifier(), StackingRegressor())
        for table in ("two rows", "constant", "huge", "denormal", "empty column", "no value")
    ],
    ids=str,
)
def test_extreme_tables_are_learnt(stack, table):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 3))
    X = {
        "two rows": X[:2],
        "constant": np.ones((40, 3)),
        "huge": X * 1e300,
        "denormal": rng.integers(-50, 50, (40, 2)) * 5e-324,
        "empty column": np.where(np.arange(3) == 1, np.nan, X),
        "no value": np.full((10, 2), np.nan),
    }[table]
    y = np.arange(len(X)) % 3 if isinstance(stack, StackingClassifier) else rng.normal(size=len(X))
    fitted = stack.set_params(random_state=0).fit(X, y)
    assert np.isfinite(fitted.predict(X)).all()
    if isinstance(stack, StackingClassifier):
        np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)


def test_a_class_of_one_example_is_not_lost():
    X, y = make_twonorm(60, random_state=0)
    y[7] = 5
    for name in ("folds", "meta tree", "out of bag"):
        fitted = clone(STACKS[name]).set_params(random_state=0).fit(X, y)
        assert fitted.classes_.tolist() == [0, 1, 5]
        assert fitted.predict_proba(X).shape == (60, 3)


def test_a_failed_fit_leaves_the_stack_as_it_was():
    X, y = make_twonorm(60, random_state=0)
    stack = StackingClassifier(CLASSIFIERS).fit(X, y)
    before = stack.predict_proba(X)
    with pytest.raises(ValueError, match="Negative values"):
        stack.fit(X[:, :2], y, sample_weight=-np.ones(60))
    np.testing.assert_array_equal(stack.predict_proba(X), before)


def test_a_final_estimator_without_probabilities_gives_none():
    X, y = make_twonorm(60, random_state=0)
    stack = StackingClassifier(CLASSIFIERS, LinearSVC(random_state=0))
    assert not hasattr(stack, "predict_proba")
    stack.fit(X, y)
    assert not hasattr(stack, "predict_proba")
    np.testing.assert_array_equal(stack.decision_function(X) > 0, stack.predict(X) == 1)
    assert not hasattr(StackingClassifier(CLASSIFIERS), "decision_function")


def test_decisions_are_a_column_for_each_class():
    X, y = make_waveform(90, random_state=0)
    models = [("svm", LinearSVC(random_state=0)), ("bayes", GaussianNB())]
    decided = StackingClassifier(models, stack_method="predict", random_state=0).fit(X, y)
    assert set(np.unique(decided.answers(X))) == {0.0, 1.0}
    either = StackingClassifier(models, random_state=0).fit(X, y).answers(X)
    np.testing.assert_array_equal(either[:, :3], decided.answers(X)[:, :3])
    assert len(np.unique(either[:, 3:])) > 100
    with pytest.raises(ValueError, match=r'"predict_proba", and svm=LinearSVC.* has none; "auto"'):
        StackingClassifier(models, stack_method="predict_proba").fit(X, y)


# -- as an estimator -------------------------------------------------------------------------------


def test_parameters_of_the_models_are_set_by_name():
    X, y = make_twonorm(60, random_state=0)
    stack = StackingClassifier(CLASSIFIERS)
    assert stack.get_params()["tree__max_depth"] == 3
    clone(stack).set_params(tree__max_depth=1, bayes="drop").fit(X, y)
    dropped = clone(stack).set_params(bayes="drop").fit(X, y)
    assert dropped.named_estimators_["bayes"] == "drop"
    assert dropped.answer_names_ == ["tree_1"]
    search = GridSearchCV(stack, {"tree__max_depth": [1, 2]}, cv=2).fit(X, y)
    assert search.best_params_["tree__max_depth"] in (1, 2)
    members = StackingClassifier(clone(BAG), cv="out_of_bag")
    assert members.set_params(estimators__n_estimators=5).estimators.n_estimators == 5
    theirs = StackingClassifier(sklearn_ensemble.BaggingClassifier(), cv="out_of_bag")
    assert theirs.get_params()["estimators__n_estimators"] == 10


@pytest.mark.parametrize(
    ("estimators", "error", "message"),
    [
        ([], ValueError, r"estimators=\[\] is not allowed: give a list of \(name, estimator\)"),
        ([GaussianNB()], ValueError, r"give a list of \(name, estimator\), one at least"),
        ([(1, GaussianNB())], ValueError, r"give a list of \(name, estimator\)"),
        ([("a", GaussianNB())] * 2, ValueError, "has the name 'a' twice"),
        ([("a__b", GaussianNB())], ValueError, "the name 'a__b'; names .* no '__'"),
        ([("cv", GaussianNB())], ValueError, "the name 'cv'; names are not those of parameters"),
        ([("a", "drop")], ValueError, 'estimators are all "drop"'),
        ([("a", CARTRegressor())], ValueError, r"a=CARTRegressor\(\) is not a classifier"),
        ([("a", GaussianNB)], TypeError, "a=GaussianNB is a class"),
    ],
)
def test_what_are_no_named_classifiers_is_refused(estimators, error, message):
    X, y = make_twonorm(20, random_state=0)
    with pytest.raises(error, match=message):
        StackingClassifier(estimators).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cv": 1}, "'cv' parameter .* Got 1"),
        ({"cv": "bag"}, "'cv' parameter .* Got 'bag'"),
        ({"stack_method": "vote"}, "'stack_method' parameter .* Got 'vote'"),
        ({"final_estimator": "tree"}, "'final_estimator' parameter .* Got 'tree'"),
        ({"final_estimator": Ridge()}, r"final_estimator=Ridge\(\) is not a classifier"),
        ({"passthrough": 2}, "'passthrough' parameter .* Got 2"),
        ({"cv": [(np.arange(20), np.arange(20))]}, "row 0 in both parts of a split"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    X, y = make_twonorm(20, random_state=0)
    with pytest.raises(ValueError, match=message):
        StackingClassifier(CLASSIFIERS, **parameters).fit(X, y)


def test_it_can_be_pickled_and_shows_progress(capsys):
    X, y = make_twonorm(60, random_state=0)
    stack = StackingClassifier(CLASSIFIERS, cv=4, verbose=1).fit(X, y)
    assert "StackingClassifier  11/11 [####" in capsys.readouterr().err
    again = pickle.loads(pickle.dumps(stack))
    np.testing.assert_array_equal(again.predict_proba(X), stack.predict_proba(X))


def test_rows_of_weight_zero_are_not_split():
    X, y = make_twonorm(40, random_state=0)
    weights = np.repeat([1.0, 0.0], 20)
    splitter = KFold(4)
    whole = StackingClassifier(CLASSIFIERS, cv=splitter).fit(X, y, sample_weight=weights)
    part = StackingClassifier(CLASSIFIERS, cv=splitter).fit(X[:20], y[:20])
    np.testing.assert_array_equal(whole.predict_proba(X), part.predict_proba(X))
    listed = StackingClassifier(CLASSIFIERS, cv=list(splitter.split(X)))
    listed.fit(X, y, sample_weight=weights)
    assert np.isnan(listed.level_one_).all(axis=1).tolist() == [False] * 20 + [True] * 20
