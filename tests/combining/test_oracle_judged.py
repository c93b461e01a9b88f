"""Arbiters and cascades of increasing cost, against loops over rows, folds and levels."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.oracles import combining as rules
from tests.oracles import combining_models as oracle

from orfeon.combining.arbiter import ArbiterClassifier
from orfeon.combining.cost_cascade import CostCascadeClassifier, calibrate

N_FOLDS = 3
MEMBERS = [
    ("near", KNeighborsClassifier(3)),
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
]


def problem(seed, n_classes, n=36):
    """Two features, classes that overlap, folds at random, and rows to ask about."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(3)
    noisy = X[:, 0] + rng.normal(0, 0.7, n)
    y = np.digitize(noisy, np.linspace(-0.7, 0.7, n_classes - 1)).astype(int)
    y[: 3 * n_classes] = np.tile(range(n_classes), 3)
    folds = rng.permutation(np.arange(n) % N_FOLDS)
    return X, np.array(list("pqrst"))[y], folds, rng.normal(size=(12, 2)).round(3)


def as_splits(folds):
    return [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(N_FOLDS)]


def once(learn):
    """The same learner, which remembers what it was trained on."""
    known = {}

    def remember(X, y):
        key = (tuple(map(tuple, X)), tuple(y))
        if key not in known:
            known[key] = learn(X, y)
        return known[key]

    return remember


def supports_of(estimator, classes):
    """A learner that answers probabilities of all classes."""

    def learn(X, y):
        if len(set(y)) == 1:
            return lambda x: [float(label == y[0]) for label in classes]
        fitted = clone(estimator).fit(X, y)

        @functools.cache
        def answer_row(x):
            answers = dict(zip(fitted.classes_, fitted.predict_proba([x])[0], strict=True))
            return [float(answers.get(label, 0.0)) for label in classes]

        return lambda x: answer_row(tuple(x))

    return once(learn)


def copies(X, y, folds, counts):
    rows = [i for i, n in enumerate(counts) for _ in range(n)]
    return X[rows].tolist(), y[rows].tolist(), folds[rows].tolist(), rows


@functools.cache
def told(seed, n_classes, weighted):
    """A problem, and out-of-fold supports of all members for its rows, written out."""
    X, y, folds, queried = problem(seed, n_classes)
    classes = sorted(set(y))
    counts = np.ones(len(y), int)
    if weighted:
        counts = np.random.default_rng(seed).integers(0, 3, len(y))
        counts[: 3 * n_classes] = 1
    rows, labels, row_folds, places = copies(X, y, folds, counts)
    learners = [supports_of(e, classes) for _, e in MEMBERS]
    answers = [oracle.out_of_fold(learn, rows, labels, row_folds) for learn in learners]
    fitted = [learn(rows, labels) for learn in learners]
    weights = {"sample_weight": counts} if weighted else {}
    return X, y, folds, queried, classes, weights, rows, labels, places, answers, fitted


# -- arbiters --------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", ["most_trusted", "weighted"])
@pytest.mark.parametrize("see_answers", [False, True])
@pytest.mark.parametrize(("n_classes", "weighted"), [(2, False), (3, False), (3, True)])
def test_arbiter(n_classes, weighted, see_answers, decision):
    case = told(60 + n_classes, n_classes, weighted)
    X, y, folds, queried, classes, weights, rows, labels, places, answers, fitted = case
    referee = DecisionTreeClassifier(max_depth=3, min_samples_leaf=3, random_state=0)
    model = ArbiterClassifier(
        MEMBERS, referee, decision=decision, see_answers=see_answers, cv=as_splits(folds),
        random_state=0,
    ).fit(X, y, **weights)  # fmt: skip
    judges = []
    for t, outputs in enumerate(answers):
        right = [
            int(classes[rules.first_largest(row)] == label)
            for row, label in zip(outputs, labels, strict=True)
        ]
        for place, verdict in zip(places, right, strict=True):
            assert model.right_[place, t] == verdict
        seen = [x + row for x, row in zip(rows, outputs, strict=True)] if see_answers else rows
        judges.append(supports_of(referee, [0, 1])(seen, right))
    chosen, trust, shares = (
        model.choose(queried),
        model.trust(queried),
        model.predict_proba(queried),
    )
    for i, x in enumerate(queried.tolist()):
        outputs = [member(x) for member in fitted]
        trusted = [
            judge(x + row if see_answers else x)[1]
            for judge, row in zip(judges, outputs, strict=True)
        ]
        assert trust[i].tolist() == pytest.approx(trusted, abs=1e-12)
        assert chosen[i] == rules.first_largest(trusted)
        if decision == "most_trusted":
            expected = oracle.arbitrate(outputs, trusted)
        else:
            expected = rules.soft(outputs, n_classes, trusted if sum(trusted) else None)
        assert shares[i].tolist() == pytest.approx([float(v) for v in expected], abs=1e-12)


def test_referees_without_answers_are_those_of_the_oracle():
    X, y, folds, queried, classes, *_ = told(70, 3, False)
    referee = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = ArbiterClassifier(
        MEMBERS, referee, see_answers=False, cv=as_splits(folds), random_state=0
    ).fit(X, y)

    def decides(estimator):
        def learn(rows, labels):
            answer = supports_of(estimator, classes)(rows, labels)
            return lambda x: classes[rules.first_largest(answer(x))]

        return learn

    judges = oracle.referees(
        [decides(e) for _, e in MEMBERS], supports_of(referee, [0, 1]), X.tolist(), y.tolist(),
        folds.tolist(),
    )  # fmt: skip
    expected = [[judge(x)[1] for judge in judges] for x in queried.tolist()]
    np.testing.assert_allclose(model.trust(queried), expected, rtol=0, atol=1e-12)


# -- cascades of increasing cost -------------------------------------------------------------------


def calibrated(scores, right, weights):
    """Isotonic values at the places seen, and lines between; one more surest sample is wrong."""
    known = oracle.isotonic([*scores, max(scores)], [*map(int, right), 0], [*weights, Fraction(1)])
    places = sorted(known)

    def confidence(x):
        if x <= places[0]:
            return float(known[places[0]])
        if x >= places[-1]:
            return float(known[places[-1]])
        above = next(i for i, place in enumerate(places) if place >= x)
        low, high = places[above - 1], places[above]
        share = (x - low) / (high - low)
        return float(known[low]) * (1 - share) + float(known[high]) * share

    return confidence


@pytest.mark.parametrize("seed", range(6))
def test_calibration_by_pooling_means(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(4, 9, 25) / 8
    right = rng.random(25) < scores
    weights = rng.integers(1, 4, 25)
    found = calibrate(scores, right, weights.astype(float))
    expected = calibrated(scores.tolist(), right.tolist(), weights.tolist())
    queried = [0.0, 0.5, 0.55, 0.625, 0.7, 0.9, 1.0]
    assert found.predict(queried).tolist() == pytest.approx(
        [expected(x) for x in queried], abs=1e-12
    )
    assert max(found.predict(queried)) < 1


def level_of(confidences, threshold):
    """The first level that is as confident, or the one after the last of them."""
    for level, confidence in enumerate(confidences):
        if confidence >= threshold - 1e-12:
            return level
    return len(confidences)


def loss_and_error(right, levels):
    """Mean of what is lost against the last level on each sample, and its standard error."""
    lost = [right[-1][i] - right[level][i] for i, level in enumerate(levels)]
    mean = Fraction(sum(lost), len(lost))
    variance = Fraction(sum(v * v for v in lost), len(lost)) - mean**2
    return float(mean), math.sqrt(float(variance) / len(lost))


def lowest_threshold(right, confidences, levels, max_loss):
    """The least at which no more is lost by these levels, and who answers then."""
    rows = [[row[level] for level in levels[:-1]] for row in confidences]
    found = []
    for threshold in sorted({c for row in rows for c in row} | {0.0, 1.0}):
        found = [levels[level_of(row, threshold)] for row in rows]
        loss, error = loss_and_error(right, found)
        if loss + error <= max_loss + 1e-12:
            return threshold, found
    return 1.0, found


def expected_cost(levels, found, costs):
    """Each sample pays for all levels up to the one that answers it."""
    paid = [sum(costs[k] for k in levels if k <= level) for level in found]
    return Fraction(sum(paid), len(paid))


def settled(right, confidences, levels, highest, max_loss):
    """Levels that can be sure enough, with the threshold for these, and who answers."""
    while len(levels) > 1:
        threshold, found = lowest_threshold(right, confidences, levels, max_loss)
        able = [k for k in levels[:-1] if highest[k] >= threshold - 1e-12] + levels[-1:]
        if able == levels:
            return levels, threshold, found
        levels = able
    return levels, 1.0, levels * len(confidences)


@pytest.mark.parametrize("costs", [[1, 2, 10], [7, 8, 10]], ids=["cheap", "dear"])
@pytest.mark.parametrize("max_loss", [0.0, 0.05, 0.2])
@pytest.mark.parametrize(("n_classes", "weighted"), [(2, False), (3, False), (3, True)])
@pytest.mark.filterwarnings("ignore:.*and will not be used:UserWarning")
def test_cost_cascade(n_classes, weighted, max_loss, costs):
    case = told(80 + n_classes, n_classes, weighted)
    X, y, folds, queried, classes, weights, rows, labels, places, answers, fitted = case
    model = CostCascadeClassifier(
        MEMBERS, costs=costs, max_loss=max_loss, cv=as_splits(folds), random_state=0
    ).fit(X, y, **weights)
    right = [
        [
            int(classes[rules.first_largest(row)] == label)
            for row, label in zip(outputs, labels, strict=True)
        ]
        for outputs in answers
    ]
    sure = [[max(row) for row in outputs] for outputs in answers[:-1]]
    curves = [calibrated(s, ok, [1] * len(s)) for s, ok in zip(sure, right[:-1], strict=True)]
    # Of each sample the confidence is learnt from the other folds.
    of_fold = folds[places]
    confidences = [[0.0, 0.0] for _ in rows]
    for fold in range(N_FOLDS):
        others = [i for i in range(len(rows)) if of_fold[i] != fold]
        for level in range(2):
            curve = calibrated(
                [sure[level][i] for i in others], [right[level][i] for i in others],
                [1] * len(others),
            )  # fmt: skip
            for i in np.flatnonzero(of_fold == fold):
                confidences[i][level] = curve(sure[level][i])
    how = {"highest": [curve(1.0) for curve in curves], "max_loss": max_loss}
    levels, threshold, found = settled(right, confidences, [0, 1, 2], **how)
    while expected_cost(levels, found, costs) > costs[-1]:
        plans = [
            settled(right, confidences, [k for k in levels if k != out], **how)
            for out in levels[:-1]
        ]
        levels, threshold, found = min(plans, key=lambda p: expected_cost(p[0], p[2], costs))
    assert model.levels_.tolist() == levels
    assert model.threshold_ == pytest.approx(threshold, abs=1e-12)
    answered = [Fraction(found.count(level), len(found)) for level in range(3)]
    assert model.answered_.tolist() == pytest.approx([float(a) for a in answered], abs=1e-12)
    reached = [sum(answered[level:]) if level in levels else 0 for level in range(3)]
    assert model.queried_.tolist() == pytest.approx([float(a) for a in reached], abs=1e-12)
    cost = float(expected_cost(levels, found, costs))
    assert model.expected_cost_ == pytest.approx(cost, abs=1e-12)
    assert model.saving_ == pytest.approx(1 - cost / 10, abs=1e-12)
    assert model.saving_ > -1e-12
    assert model.expected_loss_ == pytest.approx(loss_and_error(right, found)[0], abs=1e-12)
    who, shares = model.answer_level(queried), model.predict_proba(queried)
    for i, x in enumerate(queried.tolist()):
        outputs = [member(x) for member in fitted]
        level = levels[level_of([curves[k](max(outputs[k])) for k in levels[:-1]], threshold)]
        assert who[i] == level
        assert shares[i].tolist() == pytest.approx(outputs[level], abs=1e-12)


@pytest.mark.parametrize("confidence", [0.0, 0.6, 0.8, 1.0])
def test_cost_cascade_of_a_given_confidence(confidence):
    X, y, folds, queried, classes, _, _, labels, _, answers, fitted = told(90, 3, False)
    model = CostCascadeClassifier(
        MEMBERS, costs=[1, 2, 100], confidence=confidence, cv=as_splits(folds), random_state=0
    ).fit(X, y)
    curves = []
    for outputs in answers[:-1]:
        right = [
            classes[rules.first_largest(r)] == label
            for r, label in zip(outputs, labels, strict=True)
        ]
        curves.append(calibrated([max(row) for row in outputs], right, [1] * len(labels)))
    found = model.answer_level(queried)
    for i, x in enumerate(queried.tolist()):
        outputs = [member(x) for member in fitted]
        # The oracle's cascade of sureness, with calibrated sureness of what each level decides.
        rows = [[c(max(row)), 0.0] for c, row in zip(curves, outputs[:-1], strict=True)]
        _, level = oracle.first_sure([*rows, [1.0, 0.0]], [confidence - 1e-12] * 2)
        assert found[i] == level
    if confidence in (0.0, 1.0):
        assert set(found.tolist()) == {0 if confidence == 0.0 else 2}
