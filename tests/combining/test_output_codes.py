"""Output codes: what they promise, with scikit-learn's meta-estimators and with orfeon's own."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn import multiclass
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from orfeon import (
    AdaBoostClassifier,
    AdaBoostOCClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ParallelPerceptronClassifier,
    StumpClassifier,
)
from orfeon.combining.output_codes import (
    OutputCodeClassifier,
    exhaustive_code,
    least_distance,
    named_code,
    random_code,
)
from orfeon.datasets import make_waveform

LEARNERS = [
    CARTClassifier(pruning="cv", n_folds=3),
    C45Classifier(),
    BaggingClassifier(CARTClassifier(), n_estimators=11),
    AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=10),
    ParallelPerceptronClassifier(),
]


class GivenCode(np.random.RandomState):
    """A source of randomness that draws one code, for scikit-learn to use."""

    def __init__(self, code: npt.NDArray[Any]) -> None:
        super().__init__(0)
        self.code = code

    def uniform(self, *args: Any, **kwargs: Any) -> npt.NDArray[np.float64]:
        return np.where(self.code > 0, 0.75, 0.25)


@pytest.fixture(scope="module")
def problem() -> tuple[Any, Any, Any, Any]:
    return (*make_waveform(300, random_state=0), *make_waveform(1000, random_state=1))


@pytest.fixture(scope="module")
def digits() -> tuple[Any, Any, Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X[:700], y[:700], X[700:], y[700:]


# -- orfeon's classifiers in scikit-learn's meta-estimators ----------------------------------------


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize(
    "make",
    [
        lambda learner: multiclass.OneVsRestClassifier(learner),
        lambda learner: multiclass.OneVsOneClassifier(learner),
        lambda learner: multiclass.OutputCodeClassifier(learner, code_size=4, random_state=1),
        lambda learner: OutputCodeClassifier(learner, "exhaustive", random_state=1),
    ],
    ids=["one against the rest", "round robin", "random code", "exhaustive code"],
)
def test_learners_in_codes_of_all_kinds(problem, learner, make):
    """They come near to what the learner does with three classes at once, or beyond."""
    X, y, X_test, y_test = problem
    learner.set_params(random_state=0)
    model = make(learner).fit(X, y)
    alone = learner.fit(X, y).score(X_test, y_test)
    assert model.score(X_test, y_test) > max(alone - 0.05, 0.66)
    assert set(model.predict(X_test)) == {0, 1, 2}


def test_missing_values_and_categories_pass_through_scikit_learn(problem):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    codes, numbers = rng.integers(0, 4, 300), rng.normal(size=300)
    y = np.where(codes == 0, "x", np.where(numbers > 0, "y", "z"))
    frame = pandas.DataFrame({"colour": np.array(list("abcd"))[codes], "size": numbers})
    frame = frame.mask(rng.random(frame.shape) < 0.03)
    for model in (
        multiclass.OneVsRestClassifier(C45Classifier()),
        multiclass.OutputCodeClassifier(C45Classifier(), code_size=3, random_state=0),
        OutputCodeClassifier(C45Classifier()),
        OutputCodeClassifier(C45Classifier(), "one_vs_one"),
    ):
        assert model.fit(frame, y).score(frame, y) > 0.9


# -- codes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", range(2, 11))
def test_exhaustive_codes_part_the_classes_in_all_ways(n_classes):
    code = exhaustive_code(n_classes)
    assert code.shape == (n_classes, 2 ** (n_classes - 1) - 1)
    partings = {min(tuple(column), tuple(-column)) for column in code.T.astype(int)}
    assert len(partings) == code.shape[1]
    assert (np.abs(code.sum(axis=0, dtype=int)) < n_classes).all()
    for one, other in combinations(code, 2):
        assert np.sum(one != other) == 2 ** (n_classes - 2)


@pytest.mark.parametrize("n_classes", [3, 4, 5])
def test_exhaustive_codes_correct_as_many_errors_as_they_promise(n_classes):
    """A word with (d - 1) / 2 places wrong is still nearest to its class."""
    code = exhaustive_code(n_classes).astype(int)
    n_corrected = (least_distance(code) - 1) // 2
    rng = np.random.default_rng(0)
    for word in range(n_classes):
        for _ in range(50):
            answers = code[word].copy()
            answers[rng.choice(code.shape[1], n_corrected, replace=False)] *= -1
            distances = (code != answers).sum(axis=1)
            assert distances.argmin() == word
            assert np.sum(distances == distances[word]) == 1


@pytest.mark.parametrize(("n_classes", "n_columns"), [(3, 6), (8, 30), (26, 48)])
def test_random_codes_are_better_than_those_of_a_single_draw(n_classes, n_columns):
    rng = np.random.default_rng(1)
    found = [random_code(n_classes, n_columns, rng) for _ in range(3)]
    drawn = [rng.choice([-1, 1], size=(n_classes, n_columns)) for _ in range(20)]
    assert min(map(least_distance, found)) >= np.mean([least_distance(code) for code in drawn])
    for code in found:
        assert set(np.unique(code)) == {-1, 1}
        assert (np.abs(code.sum(axis=0, dtype=int)) < n_classes).all()
        least = min(np.sum(one != other) for one, other in combinations(code, 2))
        assert least_distance(code) == least


def test_named_codes():
    rng = np.random.default_rng(2)
    np.testing.assert_array_equal(named_code("one_vs_rest", 4, rng), 2 * np.eye(4) - 1)
    pairs = named_code("one_vs_one", 5, rng)
    assert pairs.shape == (5, 10)
    np.testing.assert_array_equal(np.abs(pairs).sum(axis=0), 2)
    np.testing.assert_array_equal(pairs.sum(axis=0), 0)
    assert named_code("auto", 7, rng).shape == (7, 63)
    assert named_code("auto", 8, rng).shape == (8, 30)
    for name in ("auto", "exhaustive", "random", "one_vs_rest", "one_vs_one"):
        assert named_code(name, 2, rng).shape == (2, 1)
        assert named_code(name, 1, rng).shape == (1, 0)


# -- against scikit-learn --------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["exhaustive", "random"])
def test_decisions_are_those_of_scikit_learn_with_the_same_code(problem, code):
    """Its squared distances order words of 0 and 1 as absolute ones do."""
    X, y, X_test, _ = problem
    learner = C45Classifier()
    ours = OutputCodeClassifier(learner, code, random_state=3).fit(X, y)
    book = ours.code_book_
    theirs = multiclass.OutputCodeClassifier(
        learner, code_size=(book.shape[1] + 0.5) / 3, random_state=GivenCode(book)
    ).fit(X, y)
    np.testing.assert_array_equal(theirs.code_book_, (book > 0).astype(float))
    same = ours.predict(X_test) == theirs.predict(X_test)
    # Where words are equally near, rounding decides there.
    shares = np.sort(ours.predict_proba(X_test), axis=1)
    assert same[shares[:, -1] - shares[:, -2] > 1e-9].all()
    assert same.mean() > 0.99


def test_one_against_the_rest_is_that_of_scikit_learn(problem):
    X, y, X_test, _ = problem
    ours = OutputCodeClassifier(GaussianNB(), "one_vs_rest").fit(X, y)
    theirs = multiclass.OneVsRestClassifier(GaussianNB()).fit(X, y)
    answers = np.column_stack([e.predict_proba(X_test)[:, 1] for e in theirs.estimators_])
    np.testing.assert_allclose(ours.member_sides(X_test), answers, atol=1e-12)
    top = np.sort(answers, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9
    np.testing.assert_array_equal(ours.predict(X_test)[clear], theirs.predict(X_test)[clear])


def test_round_robin_is_a_vote_over_pairs(problem):
    X, y, X_test, _ = problem
    learner = CARTClassifier(max_depth=3, random_state=0)
    model = OutputCodeClassifier(learner, "one_vs_one", decoding="hard").fit(X, y)
    votes = np.zeros((len(X_test), 3))
    for a, b in combinations(range(3), 2):
        rows = (y == a) | (y == b)
        answers = CARTClassifier(max_depth=3, random_state=0).fit(X[rows], y[rows]).predict(X_test)
        votes[np.arange(len(X_test)), answers] += 1
    np.testing.assert_array_equal(model.predict(X_test), votes.argmax(axis=1))
    assert len(model.estimators_) == 3


# -- decoding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("decoding", ["soft", "hard"])
def test_the_nearest_word_decides(digits, decoding):
    X, y, X_test, _ = digits
    code = np.array(random_code(10, 12, np.random.default_rng(4)))
    code[3, 5] = 0
    model = OutputCodeClassifier(CARTClassifier(max_depth=5), code, decoding=decoding).fit(X, y)
    answers, shares, decided = (
        f(X_test) for f in (model.member_sides, model.predict_proba, model.predict)
    )
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    if decoding == "hard":
        assert set(np.unique(answers)) == {0.0, 1.0}
    for i in range(0, len(X_test), 50):
        distances = []
        for word in code:
            terms = [
                0.5 if w == 0 else abs(p - (w + 1) / 2)
                for w, p in zip(word, answers[i], strict=True)
            ]
            distances.append(sum(terms))
        assert distances[decided[i]] == pytest.approx(min(distances), abs=1e-9)
        nearness = 1 - np.array(distances) / 12
        np.testing.assert_allclose(shares[i], nearness / nearness.sum(), atol=1e-9)


def test_two_classes_are_one_member(problem):
    X, y, X_test, _ = problem
    model = OutputCodeClassifier(C45Classifier()).fit(X, y == 1)
    alone = C45Classifier().fit(X, y == 1)
    assert len(model.estimators_) == 1
    np.testing.assert_allclose(model.predict_proba(X_test), alone.predict_proba(X_test), atol=1e-12)


def test_one_class(problem):
    X = problem[0]
    model = OutputCodeClassifier().fit(X, ["same"] * 300)
    assert model.estimators_ == []
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((300, 1)))
    assert set(model.predict(X)) == {"same"}


def test_learners_without_probabilities(problem):
    X, y, X_test, y_test = problem
    model = OutputCodeClassifier(LinearSVC(), "one_vs_one").fit(X, y)
    assert set(np.unique(model.member_sides(X_test))) == {0.0, 1.0}
    assert model.score(X_test, y_test) > 0.75


# -- what they are for -----------------------------------------------------------------------------


def test_codes_correct_errors_of_trees_on_ten_classes(digits):
    """Dietterich and Bakiri (1995): C4.5 gains much from a long code."""
    X, y, X_test, y_test = digits
    alone = C45Classifier().fit(X, y).score(X_test, y_test)
    rest, long = (
        OutputCodeClassifier(C45Classifier(), code, random_state=0).fit(X, y).score(X_test, y_test)
        for code in ("one_vs_rest", "random")
    )
    assert long > alone + 0.1
    assert long > rest + 0.02


def test_boosting_with_output_codes(digits):
    """Schapire (1997): stumps that tell halves of the classes apart, boosted; and in rivalry."""
    X, y, X_test, y_test = digits
    boosted = AdaBoostOCClassifier(StumpClassifier(), n_estimators=150, random_state=0).fit(X, y)
    coded = OutputCodeClassifier(StumpClassifier(), "random", random_state=0).fit(X, y)
    assert boosted.colourings_.shape[1] == 10
    assert boosted.score(X_test, y_test) > coded.score(X_test, y_test) + 0.1
    inside = AdaBoostClassifier(CARTClassifier(max_depth=3), n_estimators=10, random_state=0)
    both = OutputCodeClassifier(inside, "random", random_state=0).fit(X, y)
    assert both.score(X_test, y_test) > 0.85


# -- weights, order, randomness --------------------------------------------------------------------


@pytest.mark.parametrize("code", ["exhaustive", "random", "one_vs_one"])
def test_weights_are_copies_in_any_order(problem, code):
    X, y = problem[0][:80], problem[1][:80]
    rng = np.random.default_rng(5)
    weights = rng.integers(0, 4, 80)
    copies = rng.permutation(np.repeat(np.arange(80), weights))
    moved = rng.permutation(80)
    for learner in (CARTClassifier(max_features=2), KNeighborsClassifier(3)):
        model = OutputCodeClassifier(learner, code, random_state=0)
        expected = model.fit(X, y, sample_weight=weights).predict_proba(X)
        for rows, given in ((copies, None), (moved, weights[moved])):
            again = model.fit(X[rows], y[rows], sample_weight=given).predict_proba(X)
            np.testing.assert_array_equal(again, expected)


def test_random_state_fixes_everything_and_n_jobs_changes_nothing(problem):
    X, y = problem[0], problem[1] + 3 * (problem[0][:, 0] > 0)
    learner = CARTClassifier(max_features=1, max_depth=4)
    found = [
        OutputCodeClassifier(learner, "random", random_state=1, n_jobs=n).fit(X, y)
        for n in (None, 1, 2)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.code_book_, found[0].code_book_)
        np.testing.assert_array_equal(other.predict_proba(X), found[0].predict_proba(X))
    seeds = {member.random_state for member in found[0].estimators_}
    assert len(seeds) == len(found[0].estimators_)
    other = OutputCodeClassifier(learner, "random", random_state=2).fit(X, y)
    assert (other.code_book_ != found[0].code_book_).any()


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"code": "hamming"}, r"'code' parameter .* Got 'hamming'"),
        ({"code": [[1, -1], [-1, 1]]}, r"code has the shape \(2, 2\); a word for each of the 3"),
        ({"code": [1, -1, 1]}, r"code has the shape \(3,\); a word for each of the 3 classes"),
        (
            {"code": [[1, 2], [-1, 1], [0, -1]]},
            r"code=.* is not allowed: it may hold only -1, 0 and 1",
        ),
        ({"code": [[1, 1], [1, -1], [1, 1]]}, r"column 0 of code has classes on one side only"),
        ({"code": [[1, 1], [-1, -1], [1, 1]]}, r"code has two words that no member separates"),
        ({"decoding": "loss"}, r"'decoding' parameter .* Got 'loss'"),
        ({"estimator": CARTRegressor()}, r"estimator=CARTRegressor\(\) is not a classifier"),
    ],
)
def test_settings_that_cannot_be_are_refused(problem, setting, message):
    with pytest.raises(ValueError, match=message):
        OutputCodeClassifier(**setting).fit(*problem[:2])


def test_exhaustive_codes_end_at_ten_classes():
    with pytest.raises(ValueError, match=r"n_classes=11 is not allowed: .* for 1 to 10 classes"):
        exhaustive_code(11)
    X, y = np.arange(22.0)[:, None], np.arange(22) % 11
    with pytest.raises(ValueError, match="n_classes=11 is not allowed"):
        OutputCodeClassifier(code="exhaustive").fit(X, y)
    assert OutputCodeClassifier(random_state=0).fit(X, y).code_book_.shape == (11, 35)
