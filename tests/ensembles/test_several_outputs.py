"""Several outputs through the estimators, as in scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import tree
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.metrics import r2_score
from sklearn.utils import compute_sample_weight, get_tags
from tests.shared import assert_same_forest

import orfeon
from orfeon import (
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    CARTRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreeClassifier,
    RandomTreeRegressor,
    prune,
)

CLASSIFIERS = [
    CARTClassifier(random_state=0),
    RandomTreeClassifier(random_state=0),
    RandomForestClassifier(10, random_state=0),
    ExtraTreesClassifier(10, combine="soft", random_state=0),
    BaggingClassifier(n_estimators=10, random_state=0),
]
REGRESSORS = [
    CARTRegressor(random_state=0),
    RandomTreeRegressor(random_state=0),
    RandomForestRegressor(10, random_state=0),
    ExtraTreesRegressor(10, random_state=0),
    BaggingRegressor(n_estimators=10, random_state=0),
]
each_classifier = pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
each_regressor = pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: type(m).__name__)


def problem(n: int = 200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6)).astype(np.float32).astype(float)  # scikit-learn's precision
    words = np.array(["b", "a", "c"])[np.digitize(X[:, 1], [-0.5, 0.5])]
    y = np.column_stack([np.where(X[:, 0] > 0, "yes", "no"), words])
    numbers = np.column_stack([X[:, 0] ** 2, X[:, 1] - X[:, 2], X[:, 3]])
    return X, y, numbers, rng


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_trees_are_those_of_scikit_learn(criterion):
    X, y, numbers, rng = problem()
    weights = rng.integers(1, 4, len(X))
    limits = {"max_depth": 4, "min_samples_leaf": 12}  # smaller nodes have ties
    for given in (None, weights):
        # Weights of ours are copies, also for the limits.
        rows = np.repeat(np.arange(len(X)), 1 if given is None else given)
        ours = CARTClassifier(criterion=criterion, **limits).fit(X, y, given)
        theirs = tree.DecisionTreeClassifier(criterion=criterion, random_state=0, **limits)
        theirs.fit(X[rows], y[rows])
        for own, other in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
            assert_allclose(own, other)
        assert_array_equal(ours.predict(X), theirs.predict(X))
        assert_allclose(ours.feature_importances_, theirs.feature_importances_)
        ours = CARTRegressor(**limits).fit(X, numbers, given)
        theirs = tree.DecisionTreeRegressor(random_state=0, **limits).fit(X[rows], numbers[rows])
        assert_allclose(ours.predict(X), theirs.predict(X))
        assert_allclose(ours.feature_importances_, theirs.feature_importances_)


@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_pruning_is_that_of_scikit_learn(alpha):
    X, y, numbers, _ = problem()
    ours = CARTClassifier(ccp_alpha=alpha).fit(X, y)
    theirs = tree.DecisionTreeClassifier(ccp_alpha=alpha, random_state=0).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    ours = CARTRegressor(ccp_alpha=alpha).fit(X, numbers)
    theirs = tree.DecisionTreeRegressor(ccp_alpha=alpha, random_state=0).fit(X, numbers)
    assert_allclose(ours.predict(X), theirs.predict(X))


@each_classifier
def test_shapes_and_names_of_classifiers(model):
    X, y, _, _ = problem()
    fitted = clone(model).fit(X, y)
    theirs = TheirForest(5).fit(X, y)
    assert fitted.n_outputs_ == theirs.n_outputs_ == 2
    assert fitted.n_classes_ == list(theirs.n_classes_)
    for own, other in zip(fitted.classes_, theirs.classes_, strict=True):
        assert_array_equal(own, other)
    shares, logs = fitted.predict_proba(X), fitted.predict_log_proba(X)
    assert [own.shape for own in shares] == [(200, 2), (200, 3)]
    with np.errstate(divide="ignore"):
        assert_array_equal(logs[1], np.log(shares[1]))
    for own in shares:
        assert_allclose(own.sum(axis=1), 1.0)
    decided = fitted.predict(X)
    assert decided.shape == y.shape
    assert decided.dtype.kind == "U"
    for o, classes in enumerate(fitted.classes_):
        assert_array_equal(decided[:, o], classes[shares[o].argmax(axis=1)])
    assert (decided == y).mean() > 0.95
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)


@each_regressor
def test_shapes_of_regressors(model):
    X, _, numbers, _ = problem()
    fitted = clone(model).fit(X, numbers)
    assert fitted.n_outputs_ == 3
    assert fitted.predict(X).shape == numbers.shape
    assert fitted.score(X, numbers) > 0.8
    if hasattr(fitted, "predictions"):
        each = fitted.predictions(X)
        assert_allclose(each.mean(axis=0), fitted.predict(X))
        assert_allclose(each[2], fitted.estimators_[2].predict(X))


def test_votes_and_supports_of_forests():
    X, y, _, _ = problem()
    forest = RandomForestClassifier(9, max_depth=3, random_state=0).fit(X, y)
    members = list(forest.estimators_)
    for o in range(2):
        votes = np.stack([member.predict(X)[:, o] for member in members])
        for c, name in enumerate(forest.classes_[o]):
            assert_allclose(forest.predict_proba(X)[o][:, c], (votes == name).mean(axis=0))
        means = np.mean([member.predict_proba(X)[o] for member in members], axis=0)
        assert_allclose(forest.mean_supports(X)[o], means)
    soft = clone(forest).set_params(combine="soft").fit(X, y)
    assert_array_equal(soft.predict_proba(X)[1], forest.mean_supports(X)[1])


def test_multilabel_targets_score_as_scikit_learns_forest():
    X, y = make_multilabel_classification(600, 20, n_classes=6, random_state=0)
    ours = RandomForestClassifier(60, combine="soft", random_state=0).fit(X[:400], y[:400])
    theirs = TheirForest(60, random_state=0).fit(X[:400], y[:400])
    right = [(model.predict(X[400:]) == y[400:]).mean() for model in (ours, theirs)]
    assert abs(right[0] - right[1]) < 0.02
    assert ours.predict(X).dtype == y.dtype


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_neither_threads_nor_order_nor_copies_change_a_bit(kind):
    X, y, _, rng = problem()
    weights = rng.integers(0, 3, len(X))
    rows = np.repeat(np.arange(len(X)), weights)[::-1]
    one = kind(6, random_state=0).fit(X, y, weights.astype(float))
    other = kind(6, n_jobs=2, random_state=0).fit(X[rows], y[rows])
    for own, theirs in zip(one.predict_proba(X), other.predict_proba(X), strict=True):
        assert_array_equal(own, theirs)


@pytest.mark.parametrize("combine", ["majority", "soft"])
def test_out_of_bag_estimates_are_those_of_a_loop_over_the_members(combine, tmp_path):
    X, y, _, rng = problem()
    weights = rng.integers(0, 3, len(X)).astype(float)
    forest = RandomForestClassifier(
        25, max_depth=3, combine=combine, oob_score=True, random_state=0
    ).fit(X, y, weights)
    out = (forest.in_bag(X, y, weights) == 0) & (weights > 0)
    right = np.ones(len(X), bool)
    for o, classes in enumerate(forest.classes_):
        shares = np.full((len(X), len(classes)), np.nan)
        for row in np.flatnonzero(out.any(axis=0)):
            own = [
                member.predict_proba(X[row : row + 1])[o][0]
                for member, is_out in zip(forest.estimators_, out[:, row], strict=True)
                if is_out
            ]
            if combine == "majority":
                own = np.eye(len(classes))[np.argmax(own, axis=1)]
            shares[row] = np.mean(own, axis=0)
        assert_allclose(forest.oob_decision_function_[o], shares)
        right &= classes[np.nan_to_num(shares).argmax(axis=1)] == y[:, o]
    known = out.any(axis=0)
    assert forest.oob_score_ == pytest.approx(np.average(right[known], weights=weights[known]))
    assert forest.oob_error_ == pytest.approx(1.0 - forest.oob_score_)
    assert len(forest.oob_error_curve_) == 25
    orfeon.save(forest, tmp_path / "m.orfeon")
    again = orfeon.load(tmp_path / "m.orfeon")
    assert_array_equal(again.oob_decision_function_[1], forest.oob_decision_function_[1])
    assert not hasattr(forest, "left_out_samples_")


def test_out_of_bag_predictions_of_several_numbers():
    X, _, numbers, _ = problem()
    bag = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0).fit(X, numbers)
    out, each = bag.in_bag(X, numbers) == 0, bag.predictions(X)
    with np.errstate(invalid="ignore"):
        mean = (each * out[:, :, None]).sum(axis=0) / out.sum(axis=0)[:, None]
    assert_allclose(bag.oob_prediction_, mean)
    assert bag.oob_score_ == pytest.approx(r2_score(numbers, mean))
    assert bag.oob_error_ == pytest.approx(((mean - numbers) ** 2).mean())

    def worst(y, predicted):
        return -np.abs(y - predicted).max()

    bag.set_params(oob_score=worst).fit(X, numbers)
    assert bag.oob_score_ == pytest.approx(worst(numbers, mean))
    with pytest.raises((ValueError, AttributeError), match="output"):
        bag.predict_interval(X)


def test_warm_starts_and_files(tmp_path):
    X, y, numbers, _ = problem()
    whole = RandomForestClassifier(8, random_state=0).fit(X, y)
    part = RandomForestClassifier(4, warm_start=True, random_state=0).fit(X, y)
    part.set_params(n_estimators=8).fit(X, y)
    assert_array_equal(part.predict_proba(X)[1], whole.predict_proba(X)[1])
    for model, target in ((whole, y), (CARTRegressor(), numbers)):
        model.fit(X, target)
        orfeon.save(model, tmp_path / "m.orfeon")
        assert_array_equal(orfeon.load(tmp_path / "m.orfeon").predict(X), model.predict(X))


def test_lists_and_frames_as_targets():
    pandas = pytest.importorskip("pandas")
    X, y, _, _ = problem()
    expected = CARTClassifier(random_state=0).fit(X, y).predict(X)
    for given in (y.tolist(), pandas.DataFrame(y, columns=["a", "b"])):
        assert_array_equal(CARTClassifier(random_state=0).fit(X, given).predict(X), expected)


def test_one_column_is_one_output():
    X, y, _, _ = problem()
    with pytest.warns(UserWarning, match="column-vector"):
        fitted = CARTClassifier(random_state=0).fit(X, y[:, :1])
    assert fitted.n_outputs_ == 1
    assert fitted.predict(X).shape == (200,)


def test_bad_targets():
    X, y, numbers, _ = problem(8)
    ragged = [[0, 1]] * 7 + [[1]]
    with pytest.raises(ValueError, match="its rows have different lengths"):
        CARTClassifier().fit(X, ragged)
    with pytest.raises(TypeError, match=r"y is a sparse matrix; pass y.toarray\(\)"):
        CARTClassifier().fit(X, sparse.csr_matrix(np.eye(8, 2)))
    with pytest.raises(ValueError, match="y has 8 values and X has 7 rows"):
        CARTClassifier().fit(X[:7], y)
    with pytest.raises(ValueError, match="Unknown label type: continuous-multioutput"):
        CARTClassifier().fit(X, numbers)
    numbers[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input y contains NaN"):
        CARTRegressor().fit(X, numbers)


NEEDS_ONE = {
    "importance": RandomForestClassifier(5, importance="permutation"),
    "combine": BaggingClassifier(n_estimators=5, combine="naive_bayes"),
    "class_weight": RandomForestClassifier(5, class_weight="balanced_subsample"),
}


@pytest.mark.parametrize("rule", ["balanced", [{"no": 1, "yes": 4}, {"a": 1, "b": 3, "c": 0.5}]])
def test_class_weights_multiply_over_the_outputs_as_in_scikit_learn(rule):
    X, y, _, rng = problem()
    limits = {"max_depth": 4, "min_samples_leaf": 12}
    ours = CARTClassifier(class_weight=rule, **limits).fit(X, y)
    factors = compute_sample_weight(rule, y)
    theirs = CARTClassifier(**limits).fit(X, y, factors)
    for own, other in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
        assert_allclose(own, other, rtol=1e-9)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    # A weight of two is two copies, to the last bit.
    weights = rng.integers(0, 3, len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    for model in (CARTClassifier(class_weight=rule), RandomForestClassifier(5, class_weight=rule)):
        one = clone(model).set_params(random_state=0).fit(X, y, weights)
        other = clone(model).set_params(random_state=0).fit(X[rows], y[rows])
        assert_same_forest(one.forest_, other.forest_)


def test_a_list_of_class_weights_is_for_several_outputs():
    X, y, _, _ = problem(60)
    with pytest.raises(ValueError, match="has a dict for each of several outputs"):
        CARTClassifier(class_weight=[{"no": 1, "yes": 2}]).fit(X, y[:, 0])
    with pytest.raises(ValueError, match="a list with a dict for each output"):
        CARTClassifier(class_weight=[{"no": 1, "yes": 2}]).fit(X, y)


@pytest.mark.parametrize("name", NEEDS_ONE)
def test_what_needs_one_output_says_so(name):
    X, y, _, _ = problem(60)
    with pytest.raises(ValueError, match=f"{name}=.* needs one"):
        NEEDS_ONE[name].fit(X, y)


def test_what_asks_members_one_by_one_says_so():
    X, y, numbers, _ = problem(60)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="staged predictions need one output"):
        next(forest.staged_predict(X))
    with pytest.raises((TypeError, ValueError), match="has 2 outputs"):
        prune(forest, X, y, keep=0.5)
    with pytest.raises(ValueError, match="categories are split by their order in one output"):
        CARTRegressor().fit([["a", 1.0], ["b", 2.0]] * 30, numbers)


@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=lambda m: type(m).__name__)
def test_sparse_rows_give_the_model_of_dense_ones(model):
    X, y, numbers, _ = problem(120)
    X[np.abs(X) < 0.8] = 0
    target = y if is_classifier(model) else numbers
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    for given, kind in ((None, sparse.csr_matrix), (weights, sparse.csc_array)):
        dense = clone(model).fit(X, target, given)
        wide = clone(model).fit(kind(X), target, given)
        assert_same_forest(dense.forest_, wide.forest_)
        assert_array_equal(dense.predict(X), wide.predict(kind(X)))
        if is_classifier(model):
            for one, other in zip(dense.predict_proba(X), wide.predict_proba(kind(X)), strict=True):
                assert_array_equal(one, other)


def test_paths_of_pruning_and_onnx_need_one_output():
    X, y, _, _ = problem(60)
    with pytest.raises(ValueError, match="a pruning path needs one"):
        CARTClassifier().cost_complexity_pruning_path(X, y)
    pytest.importorskip("onnx")
    from orfeon.io.onnx import NoOnnxFormError, to_onnx

    with pytest.raises(NoOnnxFormError, match="a forest of several outputs has no ONNX form"):
        to_onnx(RandomForestClassifier(3).fit(X, y))


def test_tags():
    for model in (*CLASSIFIERS, *REGRESSORS):
        assert get_tags(model).target_tags.multi_output
    for model in (
        CARTClassifier(pruning="cv"),
        BaggingClassifier(orfeon.C45Classifier()),
        orfeon.GradientBoostingRegressor(),
        orfeon.ClassSwitchingClassifier(),
    ):
        assert not get_tags(model).target_tags.multi_output
    assert get_tags(CLASSIFIERS[2]).classifier_tags.multi_label
