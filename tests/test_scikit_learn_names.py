"""What scikit-learn's users type: it works, or a sentence says what to use instead."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
from sklearn import ensemble, tree
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import balanced_accuracy_score, mean_absolute_error
from tests.shared import assert_same_forest

import orfeon
from orfeon import (
    CARTClassifier,
    CARTRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from orfeon.forest import prune_to_alpha
from orfeon.forest.pruning import node_impurities
from orfeon.utils.instead import ATTRIBUTES, PARAMETERS

#: scikit-learn's estimators and ours.
PAIRS = {
    tree.DecisionTreeClassifier: "CARTClassifier",
    tree.DecisionTreeRegressor: "CARTRegressor",
    tree.ExtraTreeClassifier: "RandomTreeClassifier",
    tree.ExtraTreeRegressor: "RandomTreeRegressor",
    ensemble.RandomForestClassifier: "RandomForestClassifier",
    ensemble.RandomForestRegressor: "RandomForestRegressor",
    ensemble.ExtraTreesClassifier: "ExtraTreesClassifier",
    ensemble.ExtraTreesRegressor: "ExtraTreesRegressor",
    ensemble.BaggingClassifier: "BaggingClassifier",
    ensemble.BaggingRegressor: "BaggingRegressor",
    ensemble.AdaBoostClassifier: "AdaBoostClassifier",
    ensemble.AdaBoostRegressor: "AdaBoostR2Regressor",
    ensemble.GradientBoostingClassifier: "GradientBoostingClassifier",
    ensemble.GradientBoostingRegressor: "GradientBoostingRegressor",
    ensemble.HistGradientBoostingClassifier: "GradientBoostingClassifier",
    ensemble.HistGradientBoostingRegressor: "GradientBoostingRegressor",
}

each_pair = pytest.mark.parametrize("theirs", PAIRS, ids=lambda kind: kind.__name__)


@each_pair
def test_each_parameter_exists_or_its_error_says_what_to_use(theirs):
    ours = getattr(orfeon, PAIRS[theirs])
    for name in signature(theirs).parameters.keys() - signature(ours).parameters.keys():
        with pytest.raises(TypeError, match=f"has no parameter {name!r}: .*[a-z]") as caught:
            ours(**{name: None})
        assert PARAMETERS[name] in str(caught.value)


def test_other_wrong_names_get_pythons_error():
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_dept'"):
        CARTClassifier(max_dept=3)


def test_no_sentence_is_left_over():
    missing = {
        name
        for theirs, ours in PAIRS.items()
        for name in signature(theirs).parameters.keys()
        - signature(getattr(orfeon, ours)).parameters.keys()
    }
    assert missing == PARAMETERS.keys()


def fitted(kind, **parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int) if is_classifier(kind()) else X[:, 0]
    known = signature(kind).parameters
    some = {"n_estimators": 30, "oob_score": True, "bootstrap": True, **parameters}
    return kind(**{name: value for name, value in some.items() if name in known}).fit(X, y)


def public(model):
    names = {n for n in dir(model) if not n.startswith("_")}
    return {name for name in names - signature(type(model)).parameters.keys() if has(model, name)}


def has(model, name):
    try:
        getattr(model, name)
    except AttributeError:
        return False
    return True


@pytest.mark.filterwarnings("ignore::UserWarning")
@each_pair
def test_each_attribute_exists_or_has_an_alternative(theirs):
    ours = fitted(getattr(orfeon, PAIRS[theirs]))
    missing = {name for name in public(fitted(theirs)) if not has(ours, name)}
    assert missing <= ATTRIBUTES.keys()


# -- what works ------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.003, 0.01, 0.05])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_ccp_alpha_prunes_classification_trees_as_scikit_learn_does(alpha, criterion):
    X, y = load_breast_cancer(return_X_y=True)
    ours = CARTClassifier(criterion=criterion, ccp_alpha=alpha, ties="first").fit(X, y)
    leaves = ours.get_n_leaves()
    path = CARTClassifier(criterion=criterion, ties="first").cost_complexity_pruning_path(
        X, y, risk=criterion
    )
    k = np.flatnonzero(path.alphas <= alpha)[-1]
    assert leaves == path.n_leaves[k]
    # In theirs, ties between splits are broken at random, so only the sizes agree.
    theirs = tree.DecisionTreeClassifier(criterion=criterion, ccp_alpha=alpha, random_state=0)
    assert abs(theirs.fit(X, y).get_n_leaves() - leaves) <= 1


@pytest.mark.parametrize("alpha", [20.0, 60.0, 300.0])
def test_ccp_alpha_prunes_regression_trees_as_scikit_learn_does(alpha):
    X, y = load_diabetes(return_X_y=True)
    ours = CARTRegressor(ccp_alpha=alpha).fit(X, y)
    theirs = tree.DecisionTreeRegressor(ccp_alpha=alpha, random_state=0).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


def test_ccp_alpha_prunes_each_tree_of_a_forest():
    X, y = load_breast_cancer(return_X_y=True)
    for kind in (RandomForestClassifier, ExtraTreesClassifier):
        whole = kind(5, random_state=0).fit(X, y)
        pruned = kind(5, ccp_alpha=0.01, random_state=0).fit(X, y)
        assert_same_forest(pruned.forest_, prune_to_alpha(whole.forest_, 0.01, "gini"))
        assert (pruned.forest_.n_leaves < whole.forest_.n_leaves).all()


def test_two_ways_of_pruning_exclude_each_other():
    with pytest.raises(ValueError, match=r"pruning='cv' and ccp_alpha=0.1 exclude each other"):
        CARTClassifier(pruning="cv", ccp_alpha=0.1).fit([[0.0], [1.0]], [0, 1])


def test_extra_trees_stop_at_a_minimum_decrease():
    X, y = load_breast_cancer(return_X_y=True)
    forest = ExtraTreesClassifier(5, min_impurity_decrease=0.01, random_state=0).fit(X, y)
    gain = forest.forest_
    for tree_ in forest.estimators_:
        one = tree_.forest_
        impurity = node_impurities(one, "gini") * one.weights() / len(y)
        inner = np.flatnonzero(one.n_children)
        left = one.first_child[inner]
        assert (impurity[inner] - impurity[left] - impurity[left + 1] >= 0.01 - 1e-12).all()
    assert gain.n_leaves.max() < 15


def test_balanced_subsamples_weigh_classes_in_each_bootstrap_sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 1.8).astype(int)
    forest = RandomForestClassifier(
        20, class_weight="balanced_subsample", max_depth=3, random_state=0
    ).fit(X, y)
    plain = RandomForestClassifier(20, max_depth=3, random_state=0).fit(X, y)
    roots = forest.forest_.value[forest.forest_.tree_start[:-1]]
    np.testing.assert_allclose(roots[:, 0], roots[:, 1])
    np.testing.assert_array_equal(forest.in_bag(X, y), plain.in_bag(X, y))
    assert balanced_accuracy_score(y, forest.predict(X)) > balanced_accuracy_score(
        y, plain.predict(X)
    )


def test_out_of_bag_scores_by_any_metric():
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["bad", "good"])[y]
    forest = RandomForestClassifier(60, oob_score=balanced_accuracy_score, random_state=0)
    forest.fit(X, names)
    decided = forest.classes_[forest.oob_decision_function_.argmax(axis=1)]
    assert forest.oob_score_ == balanced_accuracy_score(names, decided)
    X, y = load_diabetes(return_X_y=True)
    numbers = RandomForestRegressor(60, oob_score=mean_absolute_error, random_state=0).fit(X, y)
    assert numbers.oob_score_ == mean_absolute_error(y, numbers.oob_prediction_)


def test_a_model_file_holds_no_metric(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(40, oob_score=balanced_accuracy_score, random_state=0)
    orfeon.save(forest.fit(X, y), tmp_path / "m.orfeon")
    loaded = orfeon.load(tmp_path / "m.orfeon")
    assert loaded.oob_score is True
    assert loaded.oob_score_ == forest.oob_score_
