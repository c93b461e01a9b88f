"""Members that are taken as they are, fitted: what is the same in all that learn from answers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from orfeon import CARTClassifier, CARTRegressor, RandomForestClassifier
from orfeon.combining.arbiter import ArbiterClassifier
from orfeon.combining.cascade import CascadeClassifier, CascadeRegressor
from orfeon.combining.cost_cascade import CostCascadeClassifier
from orfeon.combining.out_of_fold import out_of_fold
from orfeon.combining.stacking import StackingClassifier, StackingRegressor
from orfeon.datasets import make_friedman1, make_waveform

FOUR = [StackingClassifier, CascadeClassifier, ArbiterClassifier, CostCascadeClassifier]
each_of_four = pytest.mark.parametrize("kind", FOUR, ids=lambda kind: kind.__name__)


def with_bayes(model, kind, **settings):
    """The model, frozen, before naive Bayes."""
    members = [("model", FrozenEstimator(model)), ("bayes", GaussianNB())]
    costs = {"costs": [1, 10]} if kind is CostCascadeClassifier else {}
    return kind(members, **costs, random_state=0, **settings)


@each_of_four
@pytest.mark.parametrize("tree", [CARTClassifier, DecisionTreeClassifier])
def test_one_that_remembers_the_samples_is_suspected_on_the_line_of_the_user(kind, tree):
    X, y = make_waveform(150, random_state=0)
    model = with_bayes(tree(random_state=0).fit(X, y), kind)
    with pytest.warns(UserWarning, match="^model predicts all 150 samples correctly") as caught:
        model.fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]


@each_of_four
def test_one_that_is_new_to_the_samples_is_not(kind):
    X, y = make_waveform(150, random_state=0)
    tree = CARTClassifier(random_state=0).fit(*make_waveform(300, random_state=1))
    assert with_bayes(tree, kind).fit(X, y).score(X, y) > 0.75


@pytest.mark.parametrize("kind", [StackingRegressor, CascadeRegressor])
def test_regressors_that_remember_are_suspected_too(kind):
    X, y = make_friedman1(80, random_state=0)
    members = [("old", FrozenEstimator(CARTRegressor().fit(X, y))), ("new", CARTRegressor())]
    with pytest.warns(UserWarning, match="^old predicts all 80 samples correctly"):
        kind(members, random_state=0).fit(X, y)


def test_a_cascade_in_sample_is_asked_about_what_it_has_seen():
    X, y = make_waveform(100, random_state=0)
    tree = CARTClassifier(random_state=0).fit(X, y)
    cascade = with_bayes(tree, CascadeClassifier, in_sample=True).fit(X, y)
    np.testing.assert_array_equal(cascade.constructed_.argmax(axis=1), y)


@each_of_four
def test_one_that_is_not_fitted_is_named(kind):
    X, y = make_waveform(60, random_state=0)
    for model in (GaussianNB(), RandomForestClassifier()):
        with pytest.raises(NotFittedError, match=r"^model=Frozen.* not fitted; fit it first"):
            with_bayes(model, kind).fit(X, y)


def test_a_stack_of_fitted_ones_names_the_one_that_is_not():
    X, y = make_waveform(60, random_state=0)
    members = [("bayes", GaussianNB().fit(X[:30], y[:30])), ("tree", CARTClassifier())]
    with pytest.raises(NotFittedError, match=r"^tree=CARTClassifier\(\) is .* not fitted;"):
        StackingClassifier(members, cv="prefit").fit(X, y)


@pytest.mark.parametrize("kind", [StackingClassifier, CascadeClassifier])
def test_classes_that_only_a_fitted_one_knows_are_kept(kind):
    X, y = make_waveform(300, random_state=0)
    tree = CARTClassifier(max_depth=3, random_state=0).fit(X[:150], y[:150])
    X, y = X[150:][y[150:] != 1], y[150:][y[150:] != 1]
    model = with_bayes(tree, kind).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    shares = model.predict_proba(X)
    assert shares.shape == (len(X), 3)
    # The last to decide has met no sample of it.
    assert (shares[:, 1] == 0).all()
    assert model.score(X, y) > 0.8
    found = model.level_one_ if kind is StackingClassifier else model.constructed_
    np.testing.assert_array_equal(found[:, :3], tree.predict_proba(X))


@pytest.mark.parametrize("kind", [StackingClassifier, CascadeClassifier])
def test_classes_of_another_kind_are_refused(kind):
    X, y = make_waveform(100, random_state=0)
    model = with_bayes(GaussianNB().fit(X, y), kind)
    with pytest.raises(ValueError, match=r"^model was fitted to .*; classes must be all strings"):
        model.fit(X + 1, y.astype(str))


def test_out_of_fold_answers_are_of_all_classes_given():
    X, y = make_waveform(200, random_state=0)
    frozen = FrozenEstimator(GaussianNB().fit(X[:100], y[:100]))
    two = y != 2
    how = {"rng": np.random.default_rng(0), "names": ["old", "new"]}
    answers = out_of_fold([frozen, GaussianNB()], X[two], y[two], classes=np.arange(3), **how)
    np.testing.assert_array_equal(answers[0], frozen.predict_proba(X[two]))
    assert (answers[1, :, 2] == 0).all()
    assert (answers[0, :, 2] > 0.5).any()
    with pytest.raises(
        ValueError,
        match=r"^old was fitted to the classes \[0, 1, 2\], but the samples have \[0, 1\]",
    ):
        out_of_fold([frozen, GaussianNB()], X[two], y[two], **how)
