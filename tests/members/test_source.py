"""Where votes come from: matrices, ensembles and lists, and what is refused of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import ensemble as sklearn_ensemble
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from orfeon import (
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    combine,
    combining,
    early_decision,
    order,
    ordering,
    prune,
)
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.members.vote_input import read_source
from orfeon.ordering import (
    PrunedClassifier,
    order_votes,
    prune_votes,
    search_exhaustive,
    search_genetic,
)

CART = CARTClassifier(pruning="cv", n_folds=3)
T = 12


@pytest.fixture(scope="module")
def train():
    X, y = make_waveform(90, random_state=0)
    return X[:, :8], np.array(["one", "two", "six"])[y]


@pytest.fixture(scope="module")
def bag(train):
    return BaggingClassifier(CART, T, random_state=0).fit(*train)


# -- what is read ----------------------------------------------------------------------------------


def test_a_matrix_is_read_as_it_is():
    source = read_source([["a", "b", "b"], ["b", "b", "a"]], None, ["a", "b", "a"])
    assert source.selection.answers.tolist() == [[0, 1, 1], [1, 1, 0]]
    assert source.selection.y.tolist() == [0, 1, 0]
    assert source.ensemble is None
    assert source.left_out is None


def test_a_matrix_with_gaps_is_taken_to_be_out_of_bag():
    source = read_source([[0, -1, 1], [-1, 1, 1]], None, [0, 1, 1], no_vote=-1)
    assert source.left_out is source.selection
    answers = [[0.5, np.nan, np.nan], [1.0, 2.0, np.nan]]
    numbers = read_source(answers, None, [0.25, 1.0, 0.5], no_vote=np.nan)
    assert numbers.left_out is numbers.selection
    assert numbers.selection.y.tolist() == [0.25, 1.0]


def test_an_ensemble_is_asked(bag, train):
    X, y = train
    source = read_source(bag, X, y)
    np.testing.assert_array_equal(source.selection.answers, bag.votes(X))
    np.testing.assert_array_equal(bag.classes_[source.selection.y], y)
    assert source.selection.member_weights is None
    np.testing.assert_array_equal(
        source.left_out.answers, np.where(bag.in_bag(X, y) > 0, -1, bag.votes(X))
    )
    assert source.selection.is_complete  # it is not changed by that


def test_a_list_is_asked_and_nobody_knows_what_it_was_trained_on(train):
    X, y = train
    pair = [GaussianNB().fit(X, y), DecisionTreeClassifier(max_depth=2).fit(X, y)]
    for given in (pair, tuple(pair), [("a", pair[0]), ("b", pair[1])]):
        source = read_source(given, X, y)
        answers = pair[0].classes_[source.selection.answers]
        np.testing.assert_array_equal(answers, [e.predict(X) for e in pair])
        assert source.left_out is None


def test_weights_of_members_are_read_with_their_votes(train):
    X, y = train
    boosted = sklearn_ensemble.AdaBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    source = read_source(boosted, X, y)
    np.testing.assert_allclose(
        source.selection.member_weights, boosted.estimator_weights_, rtol=1e-8
    )
    assert source.left_out is None


@pytest.mark.parametrize("on", ["train", "out_of_bag"])
def test_samples_of_no_weight_are_left_out_everywhere(on, train):
    X, y = train
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    bag = BaggingClassifier(CART, T, random_state=0)
    bag.fit(X, y, sample_weight=weights)
    source = read_source(bag, X, y, weights, on=on)
    count = weights > 0
    out = bag.in_bag(X, y, weights)[:, count] == 0
    some = out.any(axis=0) if on == "out_of_bag" else np.ones(count.sum(), dtype=bool)
    expected = np.where(out, bag.votes(X)[:, count], -1)[:, some]
    np.testing.assert_array_equal(source.left_out.answers, expected)
    assert source.selection.weights.tolist() == weights[count][some].tolist()
    assert source.selection.total_weight == source.left_out.total_weight


def test_other_samples_than_those_of_the_training_set_were_seen_by_nobody_knows_whom(bag):
    X, y = make_waveform(90, random_state=1)
    names = np.array(["one", "two", "six"])[y]
    source = read_source(bag, X[:, :8], names)
    assert source.left_out is None
    with pytest.raises(ValueError, match="are not the training set of all members"):
        read_source(bag, X[:, :8], names, on="out_of_bag")


def test_numbers_are_asked_for_too():
    X, y = make_friedman1(60, random_state=0)
    bag = BaggingRegressor(n_estimators=T, random_state=0).fit(X, y)
    source = read_source(bag, X, y)
    np.testing.assert_array_equal(source.selection.answers, bag.predictions(X))
    out = bag.in_bag(X, y) == 0
    np.testing.assert_array_equal(
        source.left_out.answers, np.where(out, bag.predictions(X), np.nan)
    )
    # A target that is a whole number does not make it a problem of classes.
    assert read_source(bag, X, np.rint(y)).selection.is_regression


def test_a_class_that_the_samples_lack_still_ties_as_in_the_vote(bag, train):
    X, y = train
    rows = y != "one"
    found = order(bag, X[rows], y[rows])
    assert found.error_curve[-1] == pytest.approx(1 - bag.score(X[rows], y[rows]), abs=1e-15)


def test_labels_of_no_weight_may_be_any(bag, train):
    X, y = train
    strange = np.append(y[:-1], "none of them")
    weights = np.append(np.ones(len(y) - 1), 0)
    small = prune(bag, X, strange, sample_weight=weights)
    assert small.kept_.tolist() == prune(bag, X[:-1], y[:-1]).kept_.tolist()
    with pytest.raises(ValueError, match="y holds 'none of them', which the ensemble does not"):
        prune(bag, X, strange)


# -- labels, tables, threads -----------------------------------------------------------------------


def test_the_names_of_the_classes_do_not_matter(train, bag):
    X, y = train
    codes = np.searchsorted(bag.classes_, y)
    by_code = prune(BaggingClassifier(CART, T, random_state=0).fit(X, codes), X, codes)
    by_name = prune(bag, X, y)
    assert by_name.kept_.tolist() == by_code.kept_.tolist()
    assert by_name.classes_.tolist() == ["one", "six", "two"]
    for labels in (y.tolist(), y.astype(object), y[:, None]):
        assert prune(bag, X, labels).kept_.tolist() == by_name.kept_.tolist()


def test_two_jobs_prune_alike(train):
    one = BaggingClassifier(CART, T, random_state=0).fit(*train)
    two = BaggingClassifier(CART, T, random_state=0, n_jobs=2).fit(*train)
    for on in ("train", "out_of_bag"):
        first, second = prune(one, *train, on=on), prune(two, *train, on=on)
        assert first.kept_.tolist() == second.kept_.tolist()
        assert second.n_jobs == 2
        np.testing.assert_array_equal(first.predict(train[0]), second.predict(train[0]))


@pytest.mark.parametrize("on", ["train", "out_of_bag"])
def test_data_frames_with_categories_and_missing_values(on, train):
    pandas = pytest.importorskip("pandas")
    X, y = train
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(X[:, 3:7], columns=list("abcd"))
    frame["word"] = pandas.Categorical(np.where(rng.random(len(y)) < 0.2, "none", y))
    for name in ("a", "word"):
        frame[name] = frame[name].mask(rng.random(len(y)) < 0.15)
    labels = pandas.Series(y, index=frame.index + 7)
    whole = BaggingClassifier(CART, T, random_state=0).fit(frame, labels)
    small = prune(whole, frame, labels, on=on, rule="reduce_error", keep=5)
    votes = whole.votes(frame)
    if on == "out_of_bag":
        votes = np.where(whole.in_bag(frame, labels) > 0, -1, votes)
    codes = np.searchsorted(whole.classes_, y)
    assert small.kept_.tolist() == order_votes(
        votes, codes, no_vote=-1, rule="reduce_error"
    ).order[:5].tolist()  # fmt: skip
    np.testing.assert_array_equal(small.votes(frame), whole.votes(frame)[small.kept_])
    assert small.feature_names_in_.tolist() == ["a", "b", "c", "d", "word"]


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"on": "oob"}, r"on='oob' is not allowed; use \"train\" or \"out_of_bag\""),
        ({"on": None}, r"on=None is not allowed; use \"train\" or \"out_of_bag\""),
        ({"on": "validation"}, r"on='validation' is not allowed; use \"train\" or"),
        ({"X": None}, r"X is missing: an ensemble needs the selection samples"),
        ({"y": ["one"] * 89}, r"X has 90 rows and y has 89 values; one value for each row"),
        ({"y": ["ten"] * 90}, r"y holds 'ten', which the ensemble does not know; .*'one', 'six'"),
        ({"y": [0, 1] * 45}, r"y holds 0, which the ensemble does not know"),
        ({"y": None}, r"y is missing: the selection samples need the true labels or targets\.$"),
        ({"y": [["one", "two"]] * 90}, r"y should be a 1d array, got .* \(90, 2\)"),
        ({"sample_weight": [1.0] * 89}, r"sample_weight has shape \(89,\); .* of the 90 samp"),
        ({"sample_weight": [1.0] * 89 + [-2.0]}, r"sample_weight must hold .*, and holds -2.0"),
        ({"sample_weight": [1.0] * 89 + [np.nan]}, r"sample_weight must hold .*, and holds nan"),
        ({"sample_weight": [1.0] * 89 + [np.inf]}, r"sample_weight must hold .*, and holds inf"),
        ({"sample_weight": np.zeros(90)}, r"sample_weight is zero for every sample"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("function", [prune, order])
def test_bad_arguments_are_refused_by_name_and_value(function, given, message, bag, train):
    arguments = {"X": train[0], "y": train[1]} | given
    with pytest.raises(ValueError, match=message):
        function(bag, **arguments)


def test_numbers_spelled_out_are_not_classes_of_numbers(train):
    X, y = train
    codes = np.searchsorted(["one", "six", "two"], y)
    whole = BaggingClassifier(n_estimators=3, random_state=0).fit(X, codes)
    with pytest.raises(ValueError, match=f"y holds '{codes[0]}', which the ensemble does not know"):
        prune(whole, X, codes.astype(str))


def test_matrices_are_refused_where_they_do_not_fit(bag, train):
    X, y = train
    votes = bag.classes_[bag.votes(X)]
    with pytest.raises(ValueError, match=r"votes has shape \(90, 12\).*y has 90.*transposed"):
        prune_votes(votes.T, y)
    with pytest.raises(ValueError, match=r"votes has shape \(12, 90\).*y has 89 values"):
        prune_votes(votes, y[:-1])
    with pytest.raises(ValueError, match=r'on="out_of_bag" needs an ensemble; .* no_vote='):
        prune(votes, None, y, on="out_of_bag")
    with pytest.raises(ValueError, match=r"votes has shape \(\)"):
        prune_votes("votes", y)


@pytest.mark.parametrize(
    "function", [order, prune, combine, early_decision, search_exhaustive, search_genetic]
)
def test_what_is_not_an_ensemble_is_refused(function, bag, train):
    X, y = train
    votes = bag.classes_[bag.votes(X)]
    has_labels = function is not early_decision
    for given in (votes, votes.tolist(), 3, "forest"):
        with pytest.raises(ValueError, match=r"^ensemble is of type") as caught:
            function(given, X, *([y] if has_labels else []))
        assert str(caught.value) == (
            f"ensemble is of type {type(given).__name__}, not a fitted ensemble or a list of "
            "fitted estimators. Pass one of these with X; for a matrix of votes use "
            f"{function.__name__}_votes(), which takes no X."
        )
    with pytest.raises(ValueError, match=r"^ensemble is of type int, not a fitted ensemble"):
        function(3)


@pytest.mark.parametrize("function", [order, prune, search_exhaustive, search_genetic])
def test_missing_labels_are_pointed_out(function, bag, train):
    with pytest.raises(ValueError, match=r"^y is missing: .* the true labels or targets\.$"):
        function(bag, train[0])


def test_members_that_cannot_vote_are_refused(train):
    X, y = train
    boosted = sklearn_ensemble.GradientBoostingClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(TypeError, match="GradientBoostingClassifier cannot be selected"):
        prune(boosted, X, y)
    numbers = make_friedman1(20, random_state=0)
    with pytest.raises(TypeError, match=r"of type LinearRegression, .* Allowed are ensembles of"):
        prune(LinearRegression().fit(*numbers), *numbers, rule="reduce_error")
    for place in (0, 1):
        transformers = [GaussianNB().fit(X, y)] * place + [StandardScaler().fit(X)]
        with pytest.raises(TypeError, match=rf"estimator {place} of the list, StandardScaler\(\)"):
            prune(transformers, X, y)
    with pytest.raises(ValueError, match="no out-of-bag samples: it is not known which samples"):
        prune([GaussianNB().fit(X, y)], X, y, on="out_of_bag")


@pytest.mark.parametrize(
    "unfitted",
    [
        BaggingClassifier(),
        sklearn_ensemble.RandomForestClassifier(),
        make_pipeline(StandardScaler(), BaggingClassifier()),
        [GaussianNB()],
        PrunedClassifier(),
    ],
    ids=str,
)
def test_what_is_not_fitted_is_refused(unfitted, train):
    with pytest.raises(NotFittedError, match="not fitted"):
        prune(unfitted, *train)


# -- codes or labels -------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [order_votes, prune_votes, ordering.search_exhaustive_votes])
def test_codes_beside_labels_are_pointed_out_to_the_caller(function):
    votes = np.array([[0, 1, 2, 2], [0, 1, 1, 2]])
    with pytest.warns(
        UserWarning, match=r"votes holds 0, .* no member votes for 3, .* classes_\[votes\]"
    ) as caught:
        function(votes, y=votes[0] + 1)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("y", [[0, 1, 1, 1], [0, 1, 2, 3], [0, 1, 2, 2]])
def test_a_class_that_only_votes_or_only_labels_have_is_none_of_that(y):
    found = order_votes([[0, 1, 2, 2], [0, 1, 1, 2]], y)
    assert sorted(found.order.tolist()) == [0, 1]


def deprecated(call, name):
    """The result of a call that warns of votes in the place of an ensemble."""
    with pytest.warns(FutureWarning, match=rf"use {name}_votes\(\) for a matrix") as caught:
        found = call()
    assert caught[0].filename == __file__
    return found


def test_votes_in_the_place_of_an_ensemble_are_deprecated(bag, train):
    X, y = train
    votes = bag.classes_[bag.votes(X)]
    compared = {
        order: lambda found: found.error_curve,
        prune: lambda found: found,
        search_exhaustive: lambda found: found.error_curve,
        search_genetic: lambda found: found.subset,
        combine: lambda found: found.predict(votes),
    }
    for function, result in compared.items():
        options = {"random_state": 0, "n_generations": 9} if function is search_genetic else {}
        name = function.__name__
        found = deprecated(lambda f=function, o=options: f(votes, y=y, **o), name)
        home = combining if function is combine else ordering
        expected = getattr(home, f"{name}_votes")(votes, y, **options)
        np.testing.assert_array_equal(result(found), result(expected))


def test_votes_are_deprecated_for_early_decision_and_test_curves(bag, train):
    X, y = train
    votes = bag.classes_[bag.votes(X)]
    decided = deprecated(lambda: early_decision(votes), "early_decision")
    expected = combining.early_decision_votes(votes)
    np.testing.assert_array_equal(decided.predictions, expected.predictions)
    np.testing.assert_array_equal(decided.n_queried, expected.n_queried)
    ordered = order(bag, X, y)
    curve = deprecated(lambda: ordered.test_curve(votes, y=y), "test_curve")
    np.testing.assert_array_equal(curve, ordered.test_curve_votes(votes, y))
    np.testing.assert_array_equal(curve, ordered.test_curve(bag, X, y))
