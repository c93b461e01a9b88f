"""What does not change a stack: the order of rows, how copies are written, jobs, units."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from tests.combining.stacks import (
    CLASSIFIERS,
    FOREST,
    REGRESSORS,
    STACKS,
    cheap_jobs,
    each_stack,
    outputs,
    problem,
)

from orfeon import (
    CARTClassifier,
    RandomForestClassifier,
)
from orfeon.combining.stacking import StackingClassifier, StackingRegressor
from orfeon.datasets import make_friedman1, make_twonorm

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
    for rows, given in ((copies, None), (moved, 1.0 * weights[moved])):
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
def test_features_pass_through_as_they_are(library):
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
    with cheap_jobs():
        second = outputs(stack.set_params(n_jobs=2).fit(X, y), X)
    for a, b in zip(first, second, strict=True):
        assert a.tobytes() == b.tobytes()


@each_stack
def test_random_state_fixes_everything(name):
    stack = clone(STACKS[name])
    X, y = problem(stack)
    seeds = [lambda: 7]
    if name == "folds":
        seeds.append(lambda: np.random.RandomState(7))
    for seed in seeds:
        one, two = (outputs(stack.set_params(random_state=seed()).fit(X, y), X) for _ in range(2))
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
    with pytest.raises(ValueError, match="fractions, but near=KNeigh"):
        STACKS["any estimators"].fit(X, y, sample_weight=np.linspace(0.1, 1, 90))


def test_the_unit_of_the_target_does_not_matter():
    X, y = make_friedman1(120, random_state=0)
    stack = StackingRegressor(REGRESSORS, random_state=0)
    expected = stack.fit(X, y).predict(X)
    for unit in (2.0**-40, 2.0**40):
        np.testing.assert_allclose(stack.fit(X, unit * y).predict(X), unit * expected, rtol=1e-8)
