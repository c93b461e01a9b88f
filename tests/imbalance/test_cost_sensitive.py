"""Classifiers that mind costs: against brute force, against each other, and what they refuse."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    KFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from tests import shared
from tests.ensembles.twins import Remembering
from tests.shared import assert_same_forest

from orfeon import BaggingClassifier, C45Classifier, CARTClassifier, CARTRegressor
from orfeon.imbalance.cost_classifier import read_costs
from orfeon.imbalance.cost_threshold import CostThresholdClassifier
from orfeon.imbalance.cost_weights import CostSensitiveClassifier
from orfeon.imbalance.metrics import geometric_mean, positive_accuracy

WRAPPERS = [CostSensitiveClassifier, CostThresholdClassifier]
each_wrapper = pytest.mark.parametrize("wrapper", WRAPPERS)


class Told(ClassifierMixin, BaseEstimator):
    """Knows the posterior probabilities exactly: they are its features."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.asarray(X)

    def predict(self, X):
        return self.classes_[np.argmax(X, axis=1)]


class Cells(ClassifierMixin, BaseEstimator):
    """Estimates probabilities exactly: the weighted shares of the classes in each cell."""

    def fit(self, X, y, sample_weight=None):
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        self.classes_, codes = np.unique(y, return_inverse=True)
        cell = np.asarray(X)[:, 0].astype(int)
        self.share_ = np.zeros((cell.max() + 1, len(self.classes_)))
        np.add.at(self.share_, (cell, codes), weights)
        self.share_ /= self.share_.sum(axis=1, keepdims=True)
        return self

    def predict_proba(self, X):
        return self.share_[np.asarray(X)[:, 0].astype(int)]

    def predict(self, X):
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


def unbalanced(n_rows=400, seed=0, share=0.1):
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < share).astype(int)
    return rng.normal(size=(n_rows, 3)) + 0.8 * y[:, None], y


def from_table(counts):
    """Samples of these numbers: one row for each cell, one column for each class."""
    places = [
        (cell, k) for cell, row in enumerate(counts) for k, n in enumerate(row) for _ in range(n)
    ]
    cells, y = np.array(places).T
    return cells[:, None].astype(float), y


def random_matrix(rng, n_classes):
    matrix = rng.integers(1, 9, (n_classes, n_classes)).astype(float)
    np.fill_diagonal(matrix, 0.0)
    return matrix


# -- costs -----------------------------------------------------------------------------------------


def test_costs_by_hand():
    classes, codes = np.array(["a", "b", "c"]), np.array([0, 0, 0, 1, 1, 2])
    weights = np.array([1.0, 1.0, 1.0, 1.0, 2.0, 2.0])
    named = read_costs({"c": 4, "a": np.float32(0.5)}, classes, codes, weights)
    assert named.matrix.tolist() == [[0, 0.5, 0.5], [1, 0, 1], [4, 4, 0]]
    assert named.of_class.tolist() == [0.5, 1, 4]
    even = read_costs("balanced", classes, codes, weights)
    np.testing.assert_allclose(even.of_class, [8 / 9, 8 / 9, 8 / 6])
    given = read_costs([[0, 1, 2], [3, 0, 4], [5, 6, 0]], classes, codes, weights)
    assert given.of_class.tolist() == [3, 7, 11]


@each_wrapper
@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({2: 3.0}, r"costs names 2, which is not a class of y; the classes are \[0, 1\]"),
        ({"1": 3.0}, "costs names '1', which is not a class of y"),
        ({1: -3.0}, r"costs\[1\]=-3.0 is not allowed: costs are finite and not negative"),
        ({1: np.nan}, r"costs\[1\]=nan is not allowed"),
        ({1: np.inf}, r"costs\[1\]=inf is not allowed"),
        ({1: "high"}, r"costs\[1\]=high is not allowed"),
        ({0: 0, 1: 0}, "at least one error must cost something"),
        ([[0, 1], [np.nan, 0]], r"costs\[1\]\[0\]=nan is not allowed"),
        ([[0, -1], [1, 0]], r"costs\[0\]\[1\]=-1.0 is not allowed: costs are finite"),
        ([[0, np.inf], [1, 0]], r"costs\[0\]\[1\]=inf is not allowed"),
        ([[0, 1], [1, 2]], r"costs\[1\]\[1\]=2 is not allowed: a correct decision costs 0"),
        ([[0, 0], [0, 0]], "at least one error must cost something"),
        ([[0, 1, 1], [1, 0, 1]], r"costs has the shape \(2, 3\); with the classes \[0, 1\]"),
        (np.ones((3, 3)) - np.eye(3), r"shape \(3, 3\); .* shape \(2, 2\) is expected"),
        ([1, 2], r"costs has the shape \(2,\)"),
        ([["a", "b"], ["c", "d"]], "costs must be a matrix of numbers"),
        ("cheap", "The 'costs' parameter of .* Got 'cheap'"),
        (None, "The 'costs' parameter of .* Got None"),
    ],
)
def test_what_are_no_costs_is_refused(wrapper, costs, message):
    X, y = unbalanced(60)
    with pytest.raises(ValueError, match=message):
        wrapper(GaussianNB(), costs).fit(X, y)


# -- thresholds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_decision_is_that_of_bayes_for_known_posteriors(n_classes):
    """Brute force over the decisions, in exact arithmetic."""
    rng = np.random.default_rng(n_classes)
    for _ in range(5):
        costs = random_matrix(rng, n_classes)
        shares = rng.integers(0, 30, (60, n_classes)) + np.eye(n_classes, dtype=int)[0]
        exact = [[Fraction(int(n), int(row.sum())) for n in row] for row in shares]
        model = CostThresholdClassifier(Told(), costs).fit(shares, np.arange(60) % n_classes)
        posteriors = np.array(exact, dtype=float)
        decided = model.predict(posteriors)
        for row, decision in zip(exact, decided, strict=True):
            price = [sum(p * int(costs[i, j]) for i, p in enumerate(row)) for j in range(n_classes)]
            cheapest = min(price)
            if price.count(cheapest) == 1:
                assert decision == price.index(cheapest)
            else:  # sums of floats need not see a tie
                assert price[decision] == cheapest
        expected = [
            [sum(p * int(costs[i, j]) for i, p in enumerate(row)) for j in range(n_classes)]
            for row in exact
        ]
        found = model.expected_costs(posteriors)
        np.testing.assert_allclose(found, np.array(expected, dtype=float), atol=1e-12)


def test_the_threshold_of_two_classes_is_that_of_elkan():
    posteriors = np.linspace(0, 1, 1001)
    X = np.column_stack([1 - posteriors, posteriors])
    # A miss costs 9, a false alarm 1: positive above 1 / 10.
    model = CostThresholdClassifier(Told(), [[0, 1], [9, 0]]).fit(X, np.arange(1001) % 2)
    assert model.threshold_ == 0.1
    np.testing.assert_array_equal(model.predict(X), posteriors > 0.1)
    fixed = FixedThresholdClassifier(Told(), threshold=model.threshold_).fit(X, np.arange(1001) % 2)
    differ = np.flatnonzero(fixed.predict(X) != model.predict(X))
    assert set(posteriors[differ]) <= {0.1}


def test_equal_costs_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.integers(1, 4, (500, 6)).astype(float)  # many ties
    X /= X.sum(axis=1, keepdims=True)
    model = CostThresholdClassifier(Told(), dict.fromkeys(range(6), 0.3))
    np.testing.assert_array_equal(model.fit(X, np.arange(500) % 6).predict(X), X.argmax(axis=1))


def test_a_class_whose_errors_are_free_is_never_worth_predicting():
    X = np.random.default_rng(0).dirichlet(np.ones(3), 200)
    model = CostThresholdClassifier(Told(), {0: 0.0}).fit(X, np.arange(200) % 3)
    assert set(model.predict(X)) == {1, 2}
    assert not hasattr(model, "threshold_")


def test_probabilities_are_those_of_the_classifier():
    X, y = unbalanced()
    model = CostThresholdClassifier(GaussianNB(), {1: 7.0}).fit(X, y)
    shares = GaussianNB().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), shares)
    np.testing.assert_array_equal(model.predict(X), shares[:, 1] > 1 / 8)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), shares, atol=1e-12)


def test_a_fitted_classifier_is_not_fitted_again():
    X, y = unbalanced()
    words = np.array(["no", "yes"])[y]
    inner = GaussianNB().fit(X, words)
    before = inner.theta_.copy()
    for how in ({"cv": "prefit", "estimator": inner}, {"estimator": FrozenEstimator(inner)}):
        model = CostThresholdClassifier(costs={"yes": 7.0}, **how).fit(X[:9], words[:9])
        assert model.classes_.tolist() == ["no", "yes"]
        np.testing.assert_array_equal(model.predict_proba(X), inner.predict_proba(X))
        decided = model.predict(X)
        model.fit(X, words, sample_weight=np.linspace(0, 1, len(y)))
        np.testing.assert_array_equal(model.predict(X), decided)
    # The one that is frozen stays fitted in cross-validation too.
    assert cross_val_score(model, X, words, cv=3).min() > 0.5
    np.testing.assert_array_equal(inner.theta_, before)
    none_of_them = CostThresholdClassifier(inner, cv="prefit")
    with pytest.raises(ValueError, match=r"needs samples of every class; y has none of \['yes'\]"):
        none_of_them.fit(X[words == "no"], words[words == "no"])
    with pytest.raises(ValueError, match="y has the class 'perhaps', which the fitted estimator"):
        none_of_them.fit(X, np.where(y == 1, "perhaps", "no"))
    with pytest.raises(NotFittedError):
        CostThresholdClassifier(GaussianNB(), cv="prefit").fit(X, y)
    with pytest.raises(ValueError, match="needs a fitted estimator"):
        CostThresholdClassifier(cv="prefit").fit(X, y)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_may_be_calibrated_by_cross_validation(method):
    X, y = unbalanced()
    model = CostThresholdClassifier(GaussianNB(), {1: 7.0}, cv=4, method=method).fit(X, y)
    twin = CalibratedClassifierCV(GaussianNB(), method=method, cv=4).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), twin.predict_proba(X)[:, 1] > 1 / 8)
    if method == "isotonic":
        return
    # Scores are enough then.
    scores = CostThresholdClassifier(LinearSVC(), {1: 9.0}, cv=3, method=method).fit(X, y)
    plain = LinearSVC().fit(X, y)
    assert positive_accuracy(y, scores.predict(X)) > positive_accuracy(y, plain.predict(X)) + 0.3


@pytest.mark.parametrize("base", [GaussianNB(), KNeighborsClassifier(3)], ids=str)
@pytest.mark.parametrize("cv", [None, "rows", 3, KFold(3), "generator"], ids=str)
def test_weight_zero_is_absence_however_it_is_calibrated(base, cv):
    X, y = unbalanced(200, share=0.4)
    weights = (np.random.default_rng(1).random(200) < 0.7).astype(int)
    kept = np.flatnonzero(weights)
    whole, part = cv, cv
    if isinstance(cv, str):
        whole = list(KFold(3).split(X))
        part = [tuple(np.flatnonzero(np.isin(kept, side)) for side in split) for split in whole]
        whole = iter(whole) if cv == "generator" else whole
    weighted = CostThresholdClassifier(base, cv=whole).fit(X, y, sample_weight=weights)
    absent = CostThresholdClassifier(base, cv=part).fit(X[kept], y[kept])
    np.testing.assert_allclose(weighted.predict_proba(X), absent.predict_proba(X), atol=1e-9)


def test_copies_take_the_place_of_weights_that_are_not_taken():
    X, y = unbalanced(150, share=0.3)
    weights = np.random.default_rng(0).integers(0, 4, 150)
    copies = np.repeat(np.arange(150), weights)
    model = CostThresholdClassifier(KNeighborsClassifier(5)).fit(X, y, sample_weight=weights)
    twin = KNeighborsClassifier(5).fit(X[copies], y[copies])
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))
    with pytest.raises(ValueError, match="fractions, but KNeighborsClassifier takes no weights"):
        CostThresholdClassifier(KNeighborsClassifier(5)).fit(X, y, sample_weight=weights / 7)


def test_a_classifier_without_probabilities_is_refused_with_advice():
    X, y = unbalanced(60)
    with pytest.raises(ValueError, match=r"LinearSVC\(\) has no predict_proba.* with cv=5"):
        CostThresholdClassifier(LinearSVC()).fit(X, y)


# -- weights ---------------------------------------------------------------------------------------


def test_samples_weigh_what_errors_on_them_cost():
    y = np.repeat([0, 1, 2], [60, 30, 10])
    X = np.arange(100.0)[:, None]
    costs = [[0, 1, 1], [2, 0, 4], [20, 10, 0]]  # 2, 6 and 30 for an error on each class
    weights = np.random.default_rng(0).random(100)
    for base in (np.ones(100), weights):
        model = CostSensitiveClassifier(Remembering(), costs).fit(X, y, sample_weight=base)
        used = model.estimator_.weights_
        expected = base * np.array([2, 6, 30])[y]
        expected *= base.sum() / expected.sum()
        np.testing.assert_allclose(used, expected, rtol=1e-12)
        np.testing.assert_allclose(model.class_weights_[y] * base, expected, rtol=1e-12)
    assert model.cost_matrix_.tolist() == costs


def test_balanced_costs_are_balanced_weights():
    X, y = unbalanced()
    twin = LogisticRegression(class_weight="balanced").fit(X, y)
    model = CostSensitiveClassifier(LogisticRegression()).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), twin.decision_function(X), atol=1e-6)
    assert geometric_mean(y, model.predict(X)) > 0.7


@pytest.mark.parametrize("unit", [1.0, 0.3, 1e6])
def test_the_unit_of_the_costs_does_not_matter(unit):
    X, y = unbalanced()
    plain = CARTClassifier(random_state=0, min_samples_leaf=5).fit(X, y)
    same = CostSensitiveClassifier(plain, {0: unit, 1: unit}).fit(X, y)
    assert same.class_weights_.tolist() == [1.0, 1.0]
    assert_same_forest(same.forest_, plain.forest_)


@pytest.mark.parametrize(
    "base",
    [None, C45Classifier(), CARTClassifier(pruning="cv"), BaggingClassifier(None, 3)],
    ids=str,
)
def test_weight_k_is_k_copies_and_weight_zero_is_absence(base):
    X, y = unbalanced(200, share=0.3)
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, 200)
    copies = rng.permutation(np.repeat(np.arange(200), weights))
    model = CostSensitiveClassifier(base, costs={1: 3.7}, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=weights)
    assert_same_forest(weighted.forest_, clone(model).fit(X[copies], y[copies]).forest_)


def test_what_the_classifier_has_is_there():
    X, y = unbalanced()
    tree = CostSensitiveClassifier(random_state=1).fit(X, y)
    inner = tree.estimator_
    np.testing.assert_array_equal(tree.apply(X), inner.apply(X))
    assert (tree.decision_path(X) != inner.decision_path(X)).nnz == 0
    # The last node of a path is the leaf, and the root is on all of them.
    path = tree.decision_path(X).toarray()
    assert path[:, 0].all()
    assert path[np.arange(len(X)), tree.apply(X)].all()
    np.testing.assert_array_equal(tree.feature_importances_, inner.feature_importances_)
    assert tree.feature_importances_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(np.exp(tree.predict_log_proba(X)), tree.predict_proba(X))
    assert not hasattr(tree, "decision_function")
    assert not hasattr(CostSensitiveClassifier(LinearSVC()), "predict_proba")
    assert not hasattr(CostSensitiveClassifier(LinearSVC()), "apply")


def test_a_classifier_without_weights_is_refused_with_advice():
    X, y = unbalanced(60)
    for base in (KNeighborsClassifier(), make_pipeline(StandardScaler(), LogisticRegression())):
        with pytest.raises(ValueError, match=r"takes no sample_weight.*CostThresholdClassifier"):
            CostSensitiveClassifier(base).fit(X, y)
    inside = make_pipeline(StandardScaler(), CostSensitiveClassifier(LogisticRegression()))
    assert geometric_mean(y, inside.fit(X, y).predict(X)) > 0.6


def test_a_class_whose_errors_are_free_is_refused():
    X, y = unbalanced(60)
    with pytest.raises(ValueError, match=r"errors on \[0\] would cost nothing"):
        CostSensitiveClassifier(costs={0: 0.0}).fit(X, y)


# -- one and the other -----------------------------------------------------------------------------


@settings(max_examples=shared.cases(40))
@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=6),
    st.integers(1, 12),
    st.integers(1, 12),
)
def test_weights_and_thresholds_agree_where_probabilities_are_exact(counts, miss, alarm):
    """Elkan's theorem: weighing negatives by p / (1 - p) moves the threshold from 1/2 to p."""
    X, y = from_table(counts)
    costs = [[0, alarm], [miss, 0]]
    by_weight = CostSensitiveClassifier(Cells(), costs).fit(X, y)
    by_threshold = CostThresholdClassifier(Cells(), costs).fit(X, y)
    cells = np.arange(len(counts))[:, None]
    one, other = by_weight.predict(cells), by_threshold.predict(cells)
    for cell, (negative, positive) in enumerate(counts):
        if positive * miss != negative * alarm:
            best = int(positive * miss > negative * alarm)
            assert one[cell] == other[cell] == best


def test_they_agree_for_several_classes_where_only_the_true_class_matters():
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 40, (50, 4))
    X, y = from_table(counts)
    costs = {0: 1.0, 1: 2.5, 2: 7.0, 3: 4.0}
    cells = np.arange(50)[:, None]
    value = counts * np.array([1.0, 2.5, 7.0, 4.0])
    clear = np.sort(value, axis=1)[:, -1] > np.sort(value, axis=1)[:, -2]
    for wrapper in WRAPPERS:
        decided = wrapper(Cells(), costs).fit(X, y).predict(cells)
        np.testing.assert_array_equal(decided[clear], value.argmax(axis=1)[clear])


def test_trees_that_learn_each_cell_agree_too():
    counts = np.random.default_rng(2).integers(1, 30, (20, 2))
    X, y = from_table(counts)
    found = [w(CARTClassifier(), {1: 2.75}).fit(X, y).predict(X) for w in WRAPPERS]
    np.testing.assert_array_equal(*found)
    assert 0 < found[0].mean() < 1


def test_only_thresholds_mind_which_error_it_is():
    """Class 2 must not be taken for 0; weights know only that errors on it are dear."""
    X, y = from_table([[5, 5, 2]])
    costs = [[0, 1, 1], [1, 0, 1], [10, 1, 0]]
    assert CostThresholdClassifier(Cells(), costs).fit(X, y).predict([[0]]).tolist() == [1]
    assert CostSensitiveClassifier(Cells(), costs).fit(X, y).predict([[0]]).tolist() == [2]


@each_wrapper
def test_dear_errors_are_made_less_often(wrapper):
    X, y = unbalanced(600)
    X_test, y_test = unbalanced(3000, seed=1)
    found = [
        positive_accuracy(
            y_test, wrapper(BaggingClassifier(random_state=0), {1: c}).fit(X, y).predict(X_test)
        )
        for c in (0.5, 2.0, 20.0)
    ]
    assert found == sorted(found)
    assert found[2] > found[0] + 0.1


# -- fits that fail --------------------------------------------------------------------------------


class Interrupted(GaussianNB):
    """Is interrupted while it learns from samples that are marked."""

    def fit(self, X, y, sample_weight=None):
        if (np.asarray(X) > 1e6).any():
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


def second_fits(X, y):
    """Fits that fail: new costs or None, a training set, and what is raised."""
    three = np.arange(len(y)) % 3
    marked = np.column_stack([X, np.full(len(y), 1e9)])  # one feature more than before
    return {
        "costs of no class": ({"no such class": 2.0}, X, three, ValueError),
        "costs of another shape": ([[0, 1], [1, 0]], X, three, ValueError),
        "missing class": (None, X, np.where(y == 1, np.nan, 0.0), ValueError),
        "rows of another number": (None, X, three[1:], ValueError),
        "features missing": (None, np.full_like(X, np.nan), three, ValueError),
        "interrupted": (None, marked, three, KeyboardInterrupt),
    }


@each_wrapper
@pytest.mark.parametrize("case", second_fits(*unbalanced(9)))
def test_a_fit_that_fails_leaves_the_classifier_as_it_was(wrapper, case):
    pandas = pytest.importorskip("pandas")
    X, y = unbalanced()
    frame = pandas.DataFrame(X, columns=list("abc"))
    model = wrapper(Interrupted(), "balanced").fit(frame, y)
    before, decided = dict(vars(model)), model.predict(frame)
    costs, X_bad, y_bad, error = second_fits(X, y)[case]
    model.set_params(costs=before["costs"] if costs is None else costs)
    with pytest.raises(error):
        model.fit(X_bad, y_bad)
    model.set_params(costs="balanced")
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)
    np.testing.assert_array_equal(model.predict(frame), decided)
    assert model.feature_names_in_.tolist() == list("abc")
    assert hasattr(model, "threshold_") == (wrapper is CostThresholdClassifier)


@each_wrapper
def test_a_first_fit_that_fails_leaves_it_unfitted(wrapper):
    X, y = unbalanced(60)
    model = wrapper(costs={7: 1.0})
    with pytest.raises(ValueError, match="costs names 7"):
        model.fit(X, y)
    assert set(vars(model)) == set(model.get_params(deep=False))
    with pytest.raises(NotFittedError):
        model.predict(X)


@each_wrapper
def test_features_that_the_classifier_does_not_count_are_not_counted(wrapper):
    X, y = from_table([[3, 4], [2, 1]])
    model = wrapper(GaussianNB()).fit(X, y)
    assert model.n_features_in_ == 1
    model.set_params(estimator=Cells()).fit(X, y)  # which says nothing of features
    assert not hasattr(model, "n_features_in_")


@each_wrapper
@pytest.mark.parametrize("inner", [None, LogisticRegression()], ids=str)
def test_rows_of_another_width_are_refused_by_the_wrapper(wrapper, inner):
    X, y = unbalanced(60)
    model = wrapper(inner, random_state=0).fit(X, y)
    n_columns = X.shape[1]
    words = rf"^X has {{}} features, but {wrapper.__name__} is expecting {n_columns} features"
    methods = [
        name
        for name in ("predict", "predict_proba", "predict_log_proba", "decision_function", "apply")
        if hasattr(model, name)
    ]
    assert len(methods) >= 3
    for name in methods:
        with pytest.raises(ValueError, match=words.format(n_columns - 1)):
            getattr(model, name)(X[:, 1:])
        with pytest.raises(ValueError, match=words.format(2 * n_columns)):
            getattr(model, name)(np.column_stack([X, X]))
    with pytest.raises(ValueError, match=r"Reshape your data|Expected 2D array"):
        model.predict(X[0])


# -- as estimators ---------------------------------------------------------------------------------


@each_wrapper
def test_random_state_fixes_everything(wrapper):
    X, y = unbalanced()
    one, two, three = (wrapper(random_state=seed).fit(X, y) for seed in (3, 3, 4))
    assert_same_forest(one.forest_, two.forest_)
    assert one.forest_.threshold.tobytes() != three.forest_.threshold.tobytes()
    kept = wrapper(CARTClassifier(random_state=5)).fit(X, y)
    assert kept.estimator_.random_state == 5


@each_wrapper
def test_one_class_is_what_it_is(wrapper):
    model = wrapper().fit(np.zeros((4, 1)), ["only"] * 4)
    assert model.predict([[1.0]]).tolist() == ["only"]
    assert model.cost_matrix_.tolist() == [[0.0]]


@each_wrapper
def test_regressors_are_refused(wrapper):
    X, y = unbalanced(50)
    with pytest.raises(ValueError, match=r"estimator=CARTRegressor\(\) is not a classifier"):
        wrapper(CARTRegressor()).fit(X, y)


@each_wrapper
def test_frames_with_categories_and_missing_values(wrapper):
    pandas = pytest.importorskip("pandas")
    X, y = unbalanced()
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(X, columns=list("abc")).mask(rng.random(X.shape) < 0.1)
    codes = (2 * y + rng.integers(0, 3, 400)) % 4
    frame["colour"] = pandas.Categorical.from_codes(codes, list("wxyz"))
    model = wrapper(random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "colour"]
    assert geometric_mean(y, model.predict(frame)) > 0.9
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame[["b", "a", "c", "colour"]])


@pytest.mark.parametrize(
    ("wrapper", "given"), [*product(WRAPPERS, [{}]), (CostThresholdClassifier, {"cv": 2})]
)
def test_weights_where_scikit_learn_routes_them(wrapper, given):
    X, y = unbalanced(200, share=0.4)
    weights = np.random.default_rng(0).integers(1, 4, 200)
    folds = StratifiedKFold(2)
    with sklearn.config_context(enable_metadata_routing=True):
        model = wrapper(GaussianNB(), **given).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=False)
        found = cross_val_score(model, X, y, cv=folds, params={"sample_weight": weights})
    expected = [
        wrapper(GaussianNB(), **given)
        .fit(X[train], y[train], sample_weight=weights[train])
        .score(X[test], y[test])
        for train, test in folds.split(X, y)
    ]
    assert found.tolist() == expected
