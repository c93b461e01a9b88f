"""What is inspected, however it is given: every function says what it wants, in its own words."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import re

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import orfeon
from orfeon import AdaBoostClassifier, BaggingClassifier, GradientBoostingClassifier, inspection
from orfeon.inspection.reading import named_ensembles, read_weights
from orfeon.members import adapt
from orfeon.members.protocol import MembersNotVotingError, NoOutOfBagError

#: Functions of an ensemble with samples, or of a matrix of votes without; and what they are for.
FUNCTIONS = {
    inspection.margins: "margins",
    inspection.margin_distribution: "margins",
    inspection.ensemble_walk: "walks",
    inspection.diversity: "measures of diversity",
    inspection.pairwise_diversity: "measures of diversity",
    inspection.q_statistic: "measures of diversity",
    inspection.entropy: "measures of diversity",
    inspection.kappa_error: "measures of diversity",
    inspection.error_curves: "error curves",
}
VOTERS = {f: what for f, what in FUNCTIONS.items() if f is not inspection.error_curves}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)


@pytest.fixture(scope="module")
def gradients(data):
    kinds = [
        GradientBoostingClassifier(n_estimators=3),
        sklearn.ensemble.GradientBoostingClassifier(n_estimators=3),
        sklearn.ensemble.HistGradientBoostingClassifier(max_iter=3),
    ]
    return [model.fit(*data) for model in kinds]


def named(function):
    return function.__name__


@pytest.mark.parametrize("function", FUNCTIONS, ids=named)
def test_labels_in_the_place_of_samples_are_told_where_to_go(function):
    votes, y = [[0, 1, 1], [1, 1, 0]], [0, 1, 1]
    what = FUNCTIONS[function]
    with pytest.raises(ValueError, match=(
        f"y is missing: {what} need the true labels or targets. "
        "For a matrix of votes, leave X out and pass y=labels"
    )):  # fmt: skip
        function(votes, y)


@pytest.mark.parametrize("function", FUNCTIONS, ids=named)
def test_an_ensemble_without_samples_or_labels_is_told_what_is_missing(function, data):
    X, y = data
    trees = [DecisionTreeClassifier(max_depth=d).fit(X, y) for d in (1, 2)]
    bag = BaggingClassifier(n_estimators=3, random_state=0).fit(X, y)
    for ensemble in (trees, bag):
        with pytest.raises(ValueError, match="X is missing") as told:
            function(ensemble, y=y)
        assert str(told.value) == (
            f"X is missing: {FUNCTIONS[function]} need samples that the members vote on."
        )
        with pytest.raises(ValueError, match="y is missing") as told:
            function(ensemble, X)
        assert "matrix" not in str(told.value)


@pytest.mark.parametrize("function", VOTERS, ids=named)
def test_gradient_boosting_is_sent_to_its_error_curves(function, gradients, data):
    for model in gradients:
        with pytest.raises(
            TypeError, match=r"predict on their own, and those of .* do not"
        ) as told:
            function(model, *data)
        words = str(told.value)
        name = type(model).__name__
        start = f"{VOTERS[function]} need members that predict on their own, and those of {name}"
        assert words.startswith(start)
        assert words.endswith("error_curves() follows it stage by stage.")
        assert not re.search("chosen|selection|order|left out|iterations", words)
        assert len(inspection.error_curves(model, *data)["own order", "these samples"]) == 3


def test_other_ensembles_whose_members_do_not_vote_are_told_why(data, gradients):
    X, y = data
    stacked = sklearn.ensemble.StackingClassifier([("a", LogisticRegression())]).fit(X, y)
    with pytest.raises(TypeError, match="those of StackingClassifier do not: its members do"):
        inspection.diversity(stacked, X, y)
    with pytest.raises(TypeError, match=r"margins of votes need members .* by stage"):
        inspection.margin_map(clone(gradients[0]).fit(X[:, :2], y), X[:, :2], of="votes")
    with pytest.raises(TypeError, match="margins need members that predict on their own"):
        inspection.MarginDistributionDisplay.from_estimator(gradients[0], X, y)
    with pytest.raises(TypeError, match="Condorcet curves need members that predict on their own"):
        inspection.CondorcetDisplay.from_estimator(gradients[0], X, y)
    with pytest.raises(
        TypeError, match="correlations of members need members that predict on their own"
    ):
        inspection.member_correlation_curve(
            GradientBoostingClassifier(n_estimators=2), X, y, values=[0.1],
            parameter="learning_rate", n_repetitions=2,
        )  # fmt: skip


def test_what_is_no_ensemble_is_told_what_is(data):
    with pytest.raises(TypeError, match="of type LinearRegression, not a fitted ensemble"):
        inspection.margins(LinearRegression().fit(*data), *data)


@pytest.mark.parametrize("function", VOTERS, ids=named)
def test_members_that_predict_numbers_are_refused(function):
    with pytest.raises(
        ValueError, match=f"members that predict numbers have no {VOTERS[function]}"
    ):
        function([[0.5, 1.0], [0.2, 0.1]], y=[0.1, 0.2])


def test_without_out_of_bag_samples_there_is_no_such_curve(data):
    boosted = AdaBoostClassifier(n_estimators=3, random_state=0).fit(*data)
    with pytest.raises(ValueError, match="out_of_bag=True is not allowed: AdaBoostClassifier has"):
        inspection.error_curves(boosted, *data, out_of_bag=True)
    # It has no on= that could be "train".
    with pytest.raises(ValueError, match=r"weighted\.$"):
        inspection.error_curves(boosted, *data, out_of_bag=True)
    with pytest.raises(ValueError, match="is missing: error curves need samples"):
        inspection.error_curves(boosted, data[0], staged=True)


def test_errors_of_members_pass_from_one_process_to_another(gradients, data):
    with pytest.raises(MembersNotVotingError) as told:
        adapt(gradients[1])
    copied = pickle.loads(pickle.dumps(told.value))
    assert (str(copied), copied.name, copied.reason) == (
        str(told.value), "GradientBoostingClassifier",
        "its trees do not vote, each corrects the sum of all before it",
    )  # fmt: skip
    error = NoOutOfBagError("there are none")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert "cannot be selected" in str(copied)  # as those who prune want to know


# -- names and weights -----------------------------------------------------------------------------


def test_ensembles_have_names():
    bag = BaggingClassifier()
    assert named_ensembles(bag) == {"BaggingClassifier": bag}
    assert list(named_ensembles(bag, "mine")) == ["mine"]
    assert list(named_ensembles([bag])) == list(named_ensembles(np.zeros((2, 3)))) == ["members"]
    assert named_ensembles({1: bag, "b": bag}) == {"1": bag, "b": bag}


@pytest.mark.parametrize(("weights", "words"), [
    ([0.0, 0.0], "sample_weight is zero for every sample"),
    ([-1.0, 2.0], "Negative values"),
    ([1.0], "sample_weight.shape"),
    ([1.0, np.nan], "NaN"),
])  # fmt: skip
def test_weights_that_cannot_be_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        read_weights(weights, 2)


# -- what docstrings refer to ----------------------------------------------------------------------


def modules():
    found = pkgutil.walk_packages(inspection.__path__, "orfeon.inspection.")
    return [importlib.import_module(module.name) for module in found]


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__)
def test_references_lead_to_what_they_say(module):
    kinds = {
        "func": inspect.isfunction, "class": inspect.isclass, "mod": inspect.ismodule,
        "meth": callable, "data": lambda _: True,
    }  # fmt: skip
    text = inspect.getsource(module)
    for kind, path in re.findall(r":(func|class|mod|meth|data):`~?(orfeon[\w.]*)`", text):
        found = orfeon
        parts = path.split(".")[1:]
        for depth, part in enumerate(parts, start=1):
            try:
                found = getattr(found, part)
            except AttributeError:
                found = importlib.import_module(".".join(["orfeon", *parts[:depth]]))
        assert kinds[kind](found), f":{kind}:`{path}`"
