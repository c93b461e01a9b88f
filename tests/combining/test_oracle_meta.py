"""Models over models, against loops over rows, folds and levels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.oracles import combining as rules
from tests.oracles import combining_models as oracle
from tests.oracles import nested, rows_by_node

from orfeon import BaggingClassifier, BaggingRegressor, RandomForestClassifier
from orfeon.combining.cascade import CascadeClassifier, CascadeRegressor
from orfeon.combining.meta_decision_tree import MetaDecisionTree
from orfeon.combining.out_of_fold import out_of_fold, splits_of
from orfeon.combining.stacking import StackingClassifier, StackingRegressor
from orfeon.members import adapt

N_FOLDS = 3


# -- random problems, and estimators as learners ---------------------------------------------------


def class_problem(seed, n_classes, n=30):
    """Two features, classes that overlap, folds at random, and counts of copies."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(3)
    y = (
        np.digitize(X[:, 0] + rng.normal(0, 0.7, n), np.linspace(-0.7, 0.7, n_classes - 1))
    ).astype(int)
    y[: 3 * n_classes] = np.tile(range(n_classes), 3)
    folds = rng.permutation(np.arange(n) % N_FOLDS)
    labels = np.array(list("pqrst"))[y]
    return X, labels, folds, rng.normal(size=(8, 2)).round(3)


def number_problem(seed, n=24):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(3)
    y = (np.abs(X[:, 0]) + X[:, 1] + rng.normal(0, 0.2, n)).round(3)
    return X, y, rng.permutation(np.arange(n) % N_FOLDS), rng.normal(size=(8, 2)).round(3)


def as_splits(folds):
    return [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(N_FOLDS)]


def supports_of(estimator, classes, x):
    """Probabilities of all classes, those not met having none; without them, the decision."""
    if not hasattr(estimator, "predict_proba"):
        return [float(label == estimator.predict([x])[0]) for label in classes]
    known = dict(zip(estimator.classes_, estimator.predict_proba([x])[0], strict=True))
    return [float(known.get(label, 0.0)) for label in classes]


def once(learn):
    """The same learner, which remembers what it was trained on: the oracle trains row by row."""
    known = {}

    def remember(X, y):
        key = (tuple(map(tuple, X)), tuple(y))
        if key not in known:
            known[key] = learn(X, y)
        return known[key]

    return remember


def learner_of(estimator, classes, decide=False):
    """A learner whose answers are lists of supports; of two classes, that of the second."""

    def learn(X, y):
        if len(set(y)) == 1:
            every = [float(label == y[0]) for label in classes]
            return lambda x: every[1:] if len(classes) == 2 else every
        fitted = clone(estimator).fit(X, y)

        def answer(x):
            answers = supports_of(fitted, classes, x)
            if decide:
                answers = [float(label == fitted.predict([x])[0]) for label in classes]
            return answers[1:] if len(classes) == 2 else answers

        return answer

    return once(learn)


def final_of(estimator, classes):
    """A learner that answers probabilities of all classes."""

    def learn(X, y):
        fitted = clone(estimator).fit(X, y)
        return lambda x: supports_of(fitted, classes, x)

    return once(learn)


def number_learner(estimator):
    def learn(X, y):
        fitted = clone(estimator).fit(X, y)
        return lambda x: [float(fitted.predict([x])[0])]

    return once(learn)


def copies(X, y, folds, counts):
    """Rows written as often as they count."""
    rows = [i for i, n in enumerate(counts) for _ in range(n)]
    return X[rows].tolist(), y[rows].tolist(), folds[rows].tolist(), rows


CLASSIFIERS = [
    ("near", KNeighborsClassifier(1)),
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
]
REGRESSORS = [
    ("near", KNeighborsRegressor(2)),
    ("line", LinearRegression()),
    ("tree", DecisionTreeRegressor(max_depth=2, random_state=0)),
]


# -- out of fold -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("method", ["predict_proba", "predict"])
def test_out_of_fold_answers_of_classifiers(method, n_classes):
    X, y, folds, _ = class_problem(1, n_classes)
    classes = sorted(set(y))
    found = out_of_fold(
        [e for _, e in CLASSIFIERS], X, y, rng=np.random.default_rng(0), method=method,
        splits=splits_of(folds),
    )  # fmt: skip
    for answers, (_, estimator) in zip(found, CLASSIFIERS, strict=True):
        learn = learner_of(estimator, classes, decide=method == "predict")
        outputs = oracle.out_of_fold(learn, X.tolist(), y.tolist(), folds.tolist())
        columns = answers[:, 1:] if n_classes == 2 else answers
        np.testing.assert_allclose(columns, outputs, rtol=0, atol=1e-12)
        np.testing.assert_allclose(answers.sum(axis=1), 1.0, atol=1e-12)


def test_out_of_fold_answers_of_classes_that_a_fold_has_alone():
    """All of one class is in the fold that is asked about, or all but one class."""
    X, y = np.arange(9.0)[:, None], np.array(list("aaabbbccc"))
    folds = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1])
    found = out_of_fold(
        [GaussianNB(), KNeighborsClassifier(1)], X, y, rng=np.random.default_rng(0),
        splits=splits_of(folds),
    )  # fmt: skip
    for answers, estimator in zip(found, (GaussianNB(), KNeighborsClassifier(1)), strict=True):
        learn = learner_of(estimator, ["a", "b", "c"])
        outputs = oracle.out_of_fold(learn, X.tolist(), y.tolist(), folds.tolist())
        np.testing.assert_allclose(answers, outputs, rtol=0, atol=1e-12)
    assert found[0, :3, 0].tolist() == [0.0] * 3  # who never met a does not expect it
    assert found[0, 3:].tolist() == [[1.0, 0.0, 0.0]] * 6  # who met only a expects nothing else


def test_out_of_fold_answers_of_regressors():
    X, y, folds, _ = number_problem(2)
    found = out_of_fold(
        [e for _, e in REGRESSORS], X, y, rng=np.random.default_rng(0), splits=splits_of(folds)
    )
    for answers, (_, estimator) in zip(found, REGRESSORS, strict=True):
        outputs = oracle.out_of_fold(
            number_learner(estimator), X.tolist(), y.tolist(), folds.tolist()
        )
        np.testing.assert_allclose(answers, outputs, rtol=0, atol=1e-10)


# -- stacking --------------------------------------------------------------------------------------


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_stack_of_classifiers(weighted, n_classes, passthrough):
    X, y, folds, queried = class_problem(n_classes, n_classes)
    classes = sorted(set(y))
    counts = (
        np.random.default_rng(n_classes).integers(0, 3, len(y))
        if weighted
        else np.ones(len(y), int)
    )
    counts[: 3 * n_classes] = np.maximum(counts[: 3 * n_classes], 1)
    final = LogisticRegression(solver="newton-cholesky", tol=1e-10)
    model = StackingClassifier(
        CLASSIFIERS, final, cv=as_splits(folds), passthrough=passthrough, random_state=0
    ).fit(X, y, sample_weight=counts if weighted else None)
    rows, labels, row_folds, places = copies(X, y, folds, counts)
    learners = [learner_of(e, classes) for _, e in CLASSIFIERS]
    columns = [oracle.out_of_fold(learn, rows, labels, row_folds) for learn in learners]
    for at, i in enumerate(places):
        expected = oracle.level_one_row([column[at] for column in columns], [], False)
        assert model.level_one_[i].tolist() == pytest.approx(expected, abs=1e-12)
    assert np.isnan(model.level_one_[counts == 0]).all()
    stacked = oracle.stack(learners, final_of(final, classes), rows, labels, row_folds, passthrough)
    expected = [stacked(x) for x in queried.tolist()]
    np.testing.assert_allclose(model.predict_proba(queried), expected, rtol=0, atol=1e-7)
    decided = [classes[rules.first_largest(row)] for row in expected]
    assert model.predict(queried).tolist() == decided


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stack_of_decisions_under_a_tree(n_classes):
    X, y, folds, queried = class_problem(10 + n_classes, n_classes)
    classes = sorted(set(y))
    final = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = StackingClassifier(
        CLASSIFIERS, final, cv=as_splits(folds), stack_method="predict", random_state=0
    ).fit(X, y)
    learners = [learner_of(e, classes, decide=True) for _, e in CLASSIFIERS]
    stacked = oracle.stack(
        learners, final_of(final, classes), X.tolist(), y.tolist(), folds.tolist()
    )
    expected = [stacked(x) for x in queried.tolist()]
    np.testing.assert_allclose(model.predict_proba(queried), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_stack_of_regressors(weighted, passthrough):
    X, y, folds, queried = number_problem(4)
    counts = np.random.default_rng(1).integers(0, 3, len(y)) if weighted else np.ones(len(y), int)
    final = Ridge(alpha=0.5)
    model = StackingRegressor(
        REGRESSORS, final, cv=as_splits(folds), passthrough=passthrough, random_state=0
    ).fit(X, y, sample_weight=counts if weighted else None)
    rows, labels, row_folds, places = copies(X, y, folds, counts)
    learners = [number_learner(e) for _, e in REGRESSORS]
    columns = [oracle.out_of_fold(learn, rows, labels, row_folds) for learn in learners]
    for at, i in enumerate(places):
        expected = oracle.level_one_row([column[at] for column in columns], [], False)
        assert model.level_one_[i].tolist() == pytest.approx(expected, abs=1e-10)
    stacked = oracle.stack(learners, number_learner(final), rows, labels, row_folds, passthrough)
    expected = [stacked(x)[0] for x in queried.tolist()]
    np.testing.assert_allclose(model.predict(queried), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.filterwarnings("ignore:.*samples were seen by every member")
def test_level_one_out_of_bag_is_told_by_those_who_left_the_sample_out(n_classes):
    X, y, _, _ = class_problem(20 + n_classes, n_classes)
    bag = BaggingClassifier(n_estimators=12, random_state=3)
    forest = RandomForestClassifier(n_estimators=12, random_state=4)
    model = StackingClassifier(
        [("bag", bag), ("forest", forest)], LogisticRegression(), cv="out_of_bag", random_state=0
    ).fit(X, y)
    told = []
    for ensemble in model.estimators_:
        supports, left_out = adapt(ensemble).supports(X), adapt(ensemble).out_of_bag(X, y)
        rows = []
        for i in range(len(y)):
            answered = [supports[t, i].tolist() for t in range(12) if left_out[t, i]]
            mean = (
                [sum(row[k] for row in answered) / len(answered) for k in range(n_classes)]
                if answered
                else None
            )
            rows.append(mean)
        told.append(rows)
    for i in range(len(y)):
        if any(rows[i] is None for rows in told):
            assert np.isnan(model.level_one_[i]).all()
        else:
            expected = [
                value for rows in told for value in (rows[i][1:] if n_classes == 2 else rows[i])
            ]
            assert model.level_one_[i].tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore:.*samples were seen by every member")
def test_members_of_one_ensemble_out_of_bag():
    """A member that saw the sample is replaced by the mean of those that did not."""
    X, y, _, queried = number_problem(5)
    bag = BaggingRegressor(n_estimators=9, random_state=2)
    model = StackingRegressor(bag, Ridge(alpha=1.0), cv="out_of_bag", random_state=0).fit(X, y)
    members = adapt(model.estimators_[0])
    answers, left_out = members.answers(X), members.out_of_bag(X, y)
    level_one, labels = [], []
    for i in range(len(y)):
        answered = [float(answers[t, i]) for t in range(9) if left_out[t, i]]
        if not answered:
            assert np.isnan(model.level_one_[i]).all()
            continue
        mean = sum(answered) / len(answered)
        row = [float(answers[t, i]) if left_out[t, i] else mean for t in range(9)]
        assert model.level_one_[i].tolist() == pytest.approx(row, abs=1e-12)
        level_one.append(row)
        labels.append(y[i])
    final = Ridge(alpha=1.0).fit(level_one, labels)
    expected = final.predict(members.answers(queried).T)
    np.testing.assert_allclose(model.predict(queried), expected, rtol=0, atol=1e-9)


# -- meta decision trees ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_leaves_of_a_meta_tree_choose_who_is_right_most_often(seed, n_classes):
    """Of the samples in a leaf that tell: not all members are right about them, nor all wrong."""
    rng = np.random.default_rng(seed)
    answers = rng.dirichlet(np.ones(n_classes), (3, 40)).round(2)
    answers[:, :, -1] += 1 - answers.sum(axis=2)
    answers = np.abs(answers)
    y, counts = rng.integers(0, n_classes, 40), rng.integers(1, 4, 40)
    tree = MetaDecisionTree(pruning=None, min_samples_leaf=6, random_state=0)
    tree.learn(answers, y, counts.astype(float))
    rows = []
    for i in range(40):
        greatest = [max(answers[t, i]) for t in range(3)]
        bits = [-sum(p * math.log2(p) for p in answers[t, i] if p > 0) for t in range(3)]
        rows.append([*greatest, *bits])
    root = nested(tree.forest_)
    reached = rows_by_node(root, np.array(rows))
    assert len(root.leaves()) > 1
    for leaf in root.leaves():
        right = [0, 0, 0]
        for i in reached[leaf.index]:
            who = [int(rules.first_largest(answers[t, i].tolist()) == y[i]) for t in range(3)]
            if 0 < sum(who) < 3:
                right = [n + w * int(counts[i]) for n, w in zip(right, who, strict=True)]
        assert right[leaf.label] == max(right)
        chosen = tree.choose(answers[:, reached[leaf.index]])
        assert set(chosen.tolist()) <= {leaf.label}


# -- cascades --------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_sample", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_cascade_of_classifiers(weighted, n_classes, in_sample):
    X, y, folds, queried = class_problem(30 + n_classes, n_classes)
    classes = sorted(set(y))
    counts = np.random.default_rng(2).integers(0, 3, len(y)) if weighted else np.ones(len(y), int)
    counts[: 3 * n_classes] = np.maximum(counts[: 3 * n_classes], 1)
    members = [CLASSIFIERS[1], CLASSIFIERS[2],
               ("last", LogisticRegression(solver="newton-cholesky", tol=1e-10))]  # fmt: skip
    model = CascadeClassifier(
        members, cv=as_splits(folds), in_sample=in_sample, random_state=0
    ).fit(X, y, sample_weight=counts if weighted else None)
    rows, labels, row_folds, _ = copies(X, y, folds, counts)
    learners = [learner_of(e, classes) for _, e in members[:-1]]
    learners.append(final_of(members[-1][1], classes))
    # The last level's own out-of-fold answers are made and thrown away.
    cascade = oracle.cascade(learners, rows, labels, None if in_sample else row_folds)
    expected = [cascade(x) for x in queried.tolist()]
    np.testing.assert_allclose(model.predict_proba(queried), expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("in_sample", [False, True])
def test_cascade_of_regressors(in_sample):
    X, y, folds, queried = number_problem(6)
    model = CascadeRegressor(
        REGRESSORS, cv=as_splits(folds), in_sample=in_sample, random_state=0
    ).fit(X, y)
    learners = [number_learner(e) for _, e in REGRESSORS]
    cascade = oracle.cascade(
        learners, X.tolist(), y.tolist(), None if in_sample else folds.tolist()
    )
    expected = [cascade(x)[0] for x in queried.tolist()]
    np.testing.assert_allclose(model.predict(queried), expected, rtol=0, atol=1e-9)
    first = learners[0](X.tolist(), y.tolist())
    if in_sample:
        answers = [first(x)[0] for x in X.tolist()]
    else:
        answers = [
            row[0]
            for row in oracle.out_of_fold(learners[0], X.tolist(), y.tolist(), folds.tolist())
        ]
    np.testing.assert_allclose(model.constructed_[:, 0], answers, rtol=0, atol=1e-10)
