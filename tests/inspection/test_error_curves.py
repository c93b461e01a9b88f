"""Error curves against votes counted by hand, the ensembles' own scores, and the orders' curves."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostRegressor as AdaBoostRegressorOfScikitLearn
from sklearn.ensemble import BaggingClassifier as BaggingOfScikitLearn
from sklearn.ensemble import GradientBoostingClassifier as GradientOfScikitLearn
from sklearn.ensemble import RandomForestClassifier as ForestOfScikitLearn
from sklearn.tree import DecisionTreeClassifier
from tests.shared import cases

from orfeon import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    AdaBoostR2Regressor,
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    CARTRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    order,
    prune,
)
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.inspection.errors_by_size import ErrorCurve, ErrorCurves, curves_of_orders, error_curves
from orfeon.inspection.errors_by_size_display import ErrorCurveDisplay
from orfeon.members import adapt
from orfeon.ordering import BoostingBased, MarginDistance, ReduceError, order_votes

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture(scope="module")
def test_set():
    return make_waveform(400, random_state=1)


@pytest.fixture(scope="module")
def bag(waveform):
    tree = CARTClassifier(pruning="cv")
    return BaggingClassifier(tree, n_estimators=40, oob_score=True, random_state=0).fit(*waveform)


@pytest.fixture(scope="module")
def of_numbers(friedman):
    tree = CARTRegressor(max_depth=5)
    return BaggingRegressor(tree, n_estimators=20, oob_score=True, random_state=0).fit(*friedman)


def vote_errors(answers, y, order=None, no_vote=-1):
    """Error of the first members, member by member and sample by sample."""
    answers = answers if order is None else answers[order]
    return np.array([vote_error(answers[:u], y, no_vote) for u in range(1, len(answers) + 1)])


def vote_error(answers, y, no_vote=-1):
    """Error of all members, sample by sample."""
    wrong = answered = 0
    for given, label in zip(answers.T, y, strict=True):
        votes = given[given != no_vote]
        if len(votes):
            answered += 1
            wrong += np.bincount(votes).argmax() != label
    return wrong / answered


def mean_errors(answers, y, order=None):
    answers = answers if order is None else answers[order]
    errors = []
    for u in range(1, len(answers) + 1):
        known = ~np.isnan(answers[:u]).all(axis=0)
        errors.append(np.mean((np.nanmean(answers[:u, known], axis=0) - y[known]) ** 2))
    return np.array(errors)


# -- the members' own order ------------------------------------------------------------------------


def test_curves_are_those_of_the_stages(waveform, test_set, bag):
    found = error_curves(bag, *waveform, *test_set)
    assert [(curve.name, curve.on) for curve in found] == [
        ("own order", "training"), ("own order", "out-of-bag"), ("own order", "test"),
    ]  # fmt: skip
    for on, (X, y) in (("training", waveform), ("test", test_set)):
        expected = 1 - np.array(list(bag.staged_score(X, y)))
        np.testing.assert_allclose(found["own order", on].errors, expected, atol=1e-12)
        assert found["own order", on].whole == pytest.approx(1 - bag.score(X, y), abs=1e-12)


def test_out_of_bag_errors_are_of_members_that_did_not_see_the_sample(waveform, bag):
    X, y = waveform
    found = error_curves(bag, X, y)["own order", "out-of-bag"]
    assert found.whole == pytest.approx(1 - bag.oob_score_, abs=1e-12)
    answered = np.where(adapt(bag).out_of_bag(X, y), adapt(bag).answers(X), -1)
    np.testing.assert_allclose(found.errors, vote_errors(answered, y), atol=1e-12)
    # Samples that nobody has left out yet are no errors: the first member errs as single trees do.
    assert found.errors[0] < 0.5


@pytest.mark.parametrize("make", [
    lambda: BaggingOfScikitLearn(n_estimators=8, random_state=0),
    lambda: ForestOfScikitLearn(8, random_state=0),
])  # fmt: skip
def test_ensembles_of_scikit_learn_have_curves(make, waveform, test_set):
    ensemble = make().fit(*waveform)
    found = error_curves(ensemble, *waveform, *test_set)
    assert len(found) == 3
    for on, (X, y) in (("training", waveform), ("test", test_set)):
        expected = vote_errors(adapt(ensemble).answers(X), y)
        np.testing.assert_allclose(found["own order", on].errors, expected, atol=1e-12)
    mask = adapt(ensemble).out_of_bag(*waveform)
    answered = np.where(mask, adapt(ensemble).answers(waveform[0]), -1)
    expected = vote_errors(answered, waveform[1])
    np.testing.assert_allclose(found["own order", "out-of-bag"].errors, expected, atol=1e-12)


def test_a_matrix_of_votes_has_the_same_curves(waveform, test_set, bag):
    from_ensemble = error_curves(bag, *waveform, *test_set, orders="reduce_error", out_of_bag=False)
    names = np.array(["x", "y", "z"])
    answers, said_test = (names[bag.votes(X)] for X in (waveform[0], test_set[0]))
    from_votes = error_curves(
        answers, y=names[waveform[1]], votes_test=said_test, y_test=names[test_set[1]],
        orders="reduce_error",
    )  # fmt: skip
    assert len(from_votes) == len(from_ensemble) == 4
    for one, other in zip(from_ensemble, from_votes, strict=True):
        assert (one.name, one.on) == (other.name, other.on)
        assert (one.errors == other.errors).all()


def test_lists_of_estimators_have_curves(waveform):
    X, y = waveform
    trees = [DecisionTreeClassifier(max_depth=d, random_state=0).fit(X, y) for d in (1, 2, 3)]
    found = error_curves(trees, X, y)
    assert [curve.on for curve in found] == ["these samples"]  # nobody knows what they left out
    expected = vote_errors(np.array([tree.predict(X) for tree in trees]), y)
    np.testing.assert_allclose(found["own order", "these samples"].errors, expected, atol=1e-12)


def test_only_samples_that_members_were_trained_on_are_called_training(waveform, test_set, bag):
    assert {curve.on for curve in error_curves(bag, *waveform, out_of_bag=False)} == {"training"}
    assert {curve.on for curve in error_curves(bag, *test_set)} == {"these samples"}
    assert {curve.on for curve in error_curves(bag, *test_set, name="test")} == {"test"}
    few = prune(bag, *test_set, keep=[0, 1, 2])
    assert {curve.on for curve in error_curves(few, *test_set)} == {"these samples"}
    drawn_ = ErrorCurveDisplay.from_estimator(bag, *test_set).ax_
    assert drawn_.get_title().startswith("Lowest error on these samples: ")
    assert drawn_.get_ylabel() == "error, %"
    answers = np.array([[0, 1, 1], [0, 1, 0]])
    drawn_ = ErrorCurveDisplay.from_votes(answers, [0, 1, 1], name="test").ax_
    assert drawn_.get_title().startswith("Lowest test error: ")


def test_boosted_members_vote_with_their_weights(waveform, test_set):
    boosted = AdaBoostClassifier(CARTClassifier(max_depth=2), 20, random_state=0).fit(*waveform)
    found = error_curves(boosted, *waveform, *test_set)
    assert [curve.on for curve in found] == ["training", "test"]
    expected = 1 - np.array(list(boosted.staged_score(*test_set)))
    np.testing.assert_allclose(found["own order", "test"].errors, expected, atol=1e-12)


# -- other orders ----------------------------------------------------------------------------------


def test_ordered_curves_are_those_of_the_orders(waveform, test_set, bag):
    X, y = waveform
    rules = ["margin_distance", "reduce_error", "orientation"]
    found = error_curves(bag, X, y, *test_set, orders=rules, out_of_bag=False)
    for rule in rules:
        made = order(bag, X, y, rule=rule)
        name = rule.replace("_", " ")
        assert (found[name, "training"].errors == made.error_curve).all()
        expected = made.test_curve(bag, test_set[0], test_set[1])
        assert (found[name, "test"].errors == expected).all()
        assert found[name, "test"].is_ordered
    for on in ("training", "test"):
        wholes = {curve.whole for curve in found if curve.on == on}
        assert len(wholes) == 1  # every curve ends at the error of all
    assert not found["own order", "test"].is_ordered


def test_orders_come_in_many_forms(waveform, bag):
    X, y = waveform
    made = order(bag, X, y, rule="kappa")
    places = np.arange(40)[::-1]
    found = error_curves(
        bag, X, y, out_of_bag=False,
        orders={"rule": MarginDistance(0.1), "name": "orientation", "made": made, "mine": places},
    )  # fmt: skip
    assert [curve.name for curve in found] == ["own order", "rule", "name", "made", "mine"]
    assert (found["made", "training"].errors == made.error_curve).all()
    expected = vote_errors(bag.votes(X), y, places)
    np.testing.assert_allclose(found["mine", "training"].errors, expected, atol=1e-12)
    one = error_curves(bag, X, y, out_of_bag=False, orders=made)
    assert (one["kappa", "training"].errors == made.error_curve).all()
    two = [MarginDistance(0.05), MarginDistance(0.2)]
    names = [curve.name for curve in error_curves(bag, X, y, out_of_bag=False, orders=two)]
    assert names == ["own order", "MarginDistance(p=0.05)", "MarginDistance(p=0.2)"]


@pytest.mark.parametrize("rule", [ReduceError(backfitting=True), BoostingBased(weighted_vote=True)])
def test_subsets_and_weights_of_a_rule_are_used(rule, waveform, test_set, bag):
    X, y = waveform
    made = order(bag, X, y, rule=rule)
    found = error_curves(bag, X, y, *test_set, orders={"it": made}, out_of_bag=False)
    assert (found["it", "training"].errors == made.error_curve).all()
    expected = made.test_curve(bag, test_set[0], test_set[1])
    assert (found["it", "test"].errors == expected).all()


def test_out_of_bag_curves_of_orders_are_counted_the_same_way(waveform, bag):
    X, y = waveform
    answered = np.where(adapt(bag).out_of_bag(X, y), adapt(bag).answers(X), -1)
    for rule in (MarginDistance(), ReduceError(backfitting=True)):
        made = order(bag, X, y, rule=rule)
        found = error_curves(bag, X, y, orders={"it": made})["it", "out-of-bag"].errors
        subsets = made.subsets or [made.order[:u] for u in range(1, 41)]
        expected = [vote_error(answered[some], y) for some in subsets]
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_random_orders_are_averaged(waveform, test_set, bag):
    options = {"n_random_orders": 5, "out_of_bag": False}
    found = error_curves(bag, *waveform, *test_set, random_state=3, **options)
    assert [curve.name for curve in found] == 2 * ["own order"] + 2 * ["random order"]
    alone = error_curves(bag, *waveform, *test_set, out_of_bag=False)
    assert (found["own order", "test"].errors == alone["own order", "test"].errors).all()
    curve = found["random order", "test"]
    generator = np.random.default_rng(np.random.SeedSequence(3))
    votes = bag.votes(test_set[0])
    each = [vote_errors(votes, test_set[1], generator.permutation(40)) for _ in range(5)]
    np.testing.assert_allclose(curve.errors, np.mean(each, axis=0), atol=1e-12)
    np.testing.assert_allclose(curve.spread, np.std(each, axis=0), atol=1e-12)
    assert curve.spread[0] > 0.01
    assert curve.spread[-1] < 1e-12
    again = error_curves(bag, *waveform, *test_set, random_state=3, **options)
    assert (again["random order", "test"].errors == curve.errors).all()
    other = error_curves(bag, *waveform, *test_set, random_state=4, **options)
    assert (other["random order", "test"].errors != curve.errors).any()


def test_ordering_pruned_trees_goes_below_the_whole_ensemble():
    below = []
    for seed in range(cases(3)):
        X, y = make_waveform(1800, random_state=seed)
        tree = CARTClassifier(pruning="cv")
        bag = BaggingClassifier(tree, 100, random_state=seed).fit(X[:300], y[:300])
        found = error_curves(
            bag, X[:300], y[:300], X[300:], y[300:], orders="margin_distance", out_of_bag=False,
            n_random_orders=10, random_state=0,
        )  # fmt: skip
        ordered, chance = found["margin distance", "test"], found["random order", "test"]
        below.append(ordered.whole - ordered.errors[19:40].mean())
        assert (ordered.errors[9:60] < chance.errors[9:60]).mean() > 0.9
    assert min(below) > 0.003  # with 20 to 40% of the members


# -- regression ------------------------------------------------------------------------------------


def test_errors_of_numbers_are_mean_squares(friedman, of_numbers):
    X, y = friedman
    X_new, y_new = make_friedman1(150, random_state=1)
    found = error_curves(of_numbers, X, y, X_new, y_new, orders="reduce_error")
    assert found.is_regression
    made = order(of_numbers, X, y, rule="reduce_error")
    for on, rows, targets in (("training", X, y), ("test", X_new, y_new)):
        answers = of_numbers.predictions(rows)
        np.testing.assert_allclose(found["own order", on].errors, mean_errors(answers, targets))
        ordered = mean_errors(answers, targets, made.order)
        np.testing.assert_allclose(found["reduce error", on].errors, ordered)
    answered = np.where(adapt(of_numbers).out_of_bag(X, y), of_numbers.predictions(X), np.nan)
    for name, places in (("own order", np.arange(20)), ("reduce error", made.order)):
        expected = mean_errors(answered, y, places)
        np.testing.assert_allclose(found[name, "out-of-bag"].errors, expected, rtol=1e-9)


# -- ensembles that decide stage by stage ----------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda: GradientBoostingClassifier(n_estimators=10, random_state=0),
    lambda: AdaBoostM2Classifier(n_estimators=10, random_state=0),
    lambda: GradientOfScikitLearn(n_estimators=10, random_state=0),
])  # fmt: skip
def test_classifiers_without_a_vote_have_the_curves_of_their_stages(make, waveform, test_set):
    model = make().fit(*waveform)
    found = error_curves(model, *waveform, *test_set)
    assert [curve.on for curve in found] == ["training", "test"]
    for curve, (X, y) in zip(found, (waveform, test_set), strict=True):
        expected = [np.mean(answers != y) for answers in model.staged_predict(X)]
        np.testing.assert_allclose(curve.errors, expected, atol=1e-12)
        assert curve.whole == pytest.approx(1 - model.score(X, y), abs=1e-12)


@pytest.mark.parametrize("make", [
    lambda: GradientBoostingRegressor(n_estimators=10, random_state=0),
    lambda: AdaBoostR2Regressor(n_estimators=10, random_state=0),
    lambda: AdaBoostRegressorOfScikitLearn(n_estimators=10, random_state=0),
])  # fmt: skip
def test_regressors_without_a_mean_have_the_curves_of_their_stages(make, friedman):
    X, y = friedman
    model = make().fit(X, y)
    weights = np.arange(200) % 3
    found = error_curves(model, X, y, sample_weight=weights)
    assert found.is_regression
    expected = [
        np.average((answers - y) ** 2, weights=weights) for answers in model.staged_predict(X)
    ]
    np.testing.assert_allclose(found["own order", "these samples"].errors, expected)


def test_an_ensemble_that_votes_can_be_asked_for_its_stages(waveform, test_set):
    soft = BaggingClassifier(CARTClassifier(max_depth=3), 15, combine="soft", random_state=0)
    soft.fit(*waveform)
    found = error_curves(soft, *waveform, *test_set, staged=True)
    expected = 1 - np.array(list(soft.staged_score(*test_set)))
    np.testing.assert_allclose(found["own order", "test"].errors, expected, atol=1e-12)
    votes = error_curves(soft, *waveform, *test_set, staged=False)
    assert (votes["own order", "test"].errors != expected).any()


def test_stages_have_no_other_order(waveform):
    model = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(*waveform)
    for options in ({"orders": "kappa"}, {"n_random_orders": 5}, {"out_of_bag": True}):
        with pytest.raises(ValueError, match="members do not predict on their own"):
            error_curves(model, *waveform, **options)
    with pytest.raises(ValueError, match="staged=True needs an ensemble with staged_predict"):
        error_curves([[0, 1]], y=[0, 1], staged=True)


# -- sample weights --------------------------------------------------------------------------------


def test_weights_are_copies(waveform, test_set, bag):
    answers, said_test = bag.votes(waveform[0]), bag.votes(test_set[0])
    weights, weights_test = np.arange(300) % 3, np.arange(400) % 4
    options = {"orders": ["reduce_error", "margin_distance"]}
    weighted = error_curves(
        answers, y=waveform[1], votes_test=said_test, y_test=test_set[1], sample_weight=weights,
        sample_weight_test=weights_test, **options,
    )  # fmt: skip
    copied = error_curves(
        np.repeat(answers, weights, axis=1), y=np.repeat(waveform[1], weights),
        votes_test=np.repeat(said_test, weights_test, axis=1),
        y_test=np.repeat(test_set[1], weights_test), **options,
    )  # fmt: skip
    assert len(weighted) == 6
    for one, other in zip(weighted, copied, strict=True):
        assert (one.errors == other.errors).all()


def test_samples_without_a_vote_are_left_out():
    answers = [[0, 9, 9], [9, 1, 9], [0, 0, 9], [1, 1, 1]]
    found = error_curves(answers, y=[0, 0, 0], no_vote=9)
    errors = found["own order", "these samples"].errors
    np.testing.assert_allclose(errors, [0, 1 / 2, 0, 2 / 3])
    late = error_curves([[9, 9], [0, 1]], y=[0, 0], no_vote=9)["own order", "these samples"]
    np.testing.assert_array_equal(late.errors, [np.nan, 0.5])
    assert (late.best_size, late.least) == (2, 0.5)


# -- orders made before ----------------------------------------------------------------------------


def test_orders_made_before_keep_their_curves(waveform, test_set, bag):
    X, y = waveform
    orders = {rule: order(bag, X, y, rule=rule) for rule in ("reduce_error", "kappa")}
    alone = curves_of_orders(orders)
    assert [(curve.name, curve.on) for curve in alone] == [
        ("own order", "training"), ("reduce_error", "training"), ("kappa", "training"),
    ]  # fmt: skip
    assert (alone["kappa", "training"].errors == orders["kappa"].error_curve).all()
    tested = curves_of_orders(orders, bag, *test_set)
    expected = orders["kappa"].test_curve(bag, test_set[0], test_set[1])
    assert (tested["kappa", "test"].errors == expected).all()
    own = 1 - np.array(list(bag.staged_score(*test_set)))
    np.testing.assert_allclose(tested["own order", "test"].errors, own, atol=1e-12)
    # Orders that were kept without the votes still have their own curves.
    kept = pickle.loads(pickle.dumps(orders["kappa"]))
    assert [curve.name for curve in curves_of_orders([kept])] == ["kappa"]


# -- bad input -------------------------------------------------------------------------------------


def test_samples_set_aside_for_orders_have_labels_and_votes():
    votes, y = [[0, 1, 1], [1, 1, 0]], [0, 1, 1]
    made = order_votes(votes, y)
    with pytest.raises(ValueError, match=r"y is missing: .* pass y=labels"):
        curves_of_orders(made, votes, y)
    with pytest.raises(ValueError, match="votes has shape"):
        curves_of_orders(made, y=y)
    assert len(curves_of_orders(made, votes, y=y)) == 4
    assert len(curves_of_orders(made)) == 2


def test_what_cannot_be_counted_is_refused(waveform, test_set, bag):
    X, y = waveform
    with pytest.raises(ValueError, match="y is missing"):
        error_curves(bag, X)
    with pytest.raises(ValueError, match="y_test goes with X_test or votes_test"):
        error_curves(bag, X, y, test_set[0])
    with pytest.raises(ValueError, match="n_random_orders=-1 is not allowed"):
        error_curves(bag, X, y, n_random_orders=-1)
    with pytest.raises(ValueError, match="neither a rule nor an order of the 40 members"):
        error_curves(bag, X, y, orders={"mine": [0, 1, 2]})
    with pytest.raises(ValueError, match="without names it holds rules"):
        error_curves(bag, X, y, orders=[[0, 1, 2]])
    with pytest.raises(ValueError, match="two with one name"):
        error_curves(bag, X, y, orders=["kappa", "kappa"])
    with pytest.raises(ValueError, match="rule='kapa' is not known"):
        error_curves(bag, X, y, orders="kapa")
    with pytest.raises(ValueError, match="orders has 3 members, and the ensemble has 40"):
        error_curves(bag, X, y, orders=order_votes([[0, 1]] * 3, [0, 1]))
    with pytest.raises(ValueError, match="votes_test has 3 members, and the ensemble has 40"):
        error_curves(bag.votes(X), y=y, votes_test=[[0, 1]] * 3, y_test=[0, 1])
    with pytest.raises(ValueError, match="out_of_bag=True needs an ensemble"):
        error_curves(bag.votes(X), y=y, out_of_bag=True)
    boosted = AdaBoostClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match="AdaBoostClassifier has no out-of-bag samples"):
        error_curves(boosted, X, y, out_of_bag=True)
    with pytest.raises(KeyError, match="is not among the curves"):
        error_curves(bag, X, y)["kappa", "test"]
    with pytest.raises(ValueError, match="orders is empty"):
        curves_of_orders({})
    with pytest.raises(ValueError, match="which is not an Order"):
        curves_of_orders("kappa")


# -- the picture -----------------------------------------------------------------------------------


def drawn(line):
    return np.asarray(line.get_ydata())


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def labelled(ax):
    return {line.get_label(): line for line in ax.lines}


def test_curves_are_drawn_with_the_best_size_and_the_whole(waveform, test_set, bag):
    display = ErrorCurveDisplay.from_estimator(bag, *waveform, *test_set, orders="margin_distance")
    found = display.curves
    assert set(display.lines_) == {
        (name, on)
        for name in ("own order", "margin distance")
        for on in ("training", "out-of-bag", "test")
    }
    for (name, on), line in display.lines_.items():
        np.testing.assert_allclose(drawn(line), 100 * found[name, on].errors)
        assert line.get_xdata().tolist() == list(range(1, 41))
    best = found["margin distance", "test"]
    lines = labelled(display.ax_)
    mark = lines["_mark of margin distance, test"].get_xydata().tolist()
    assert mark == [[best.best_size, pytest.approx(100 * best.least)]]
    assert [text.get_text() for text in display.ax_.texts] == [
        f"{100 * best.least:.1f}% with {best.best_size}"
    ]
    (whole,) = (line for name, line in lines.items() if name.startswith("_all"))
    assert set(whole.get_ydata()) == {100 * best.whole}
    assert whole.get_linestyle() == ":"
    title = display.ax_.get_title().replace("\n", " ")
    assert title == (
        f"Lowest test error: {100 * best.least:.1f}% with {best.best_size} of 40 members "
        f"(margin distance), {100 * best.whole:.1f}% with all"
    )
    assert legend_of(display.ax_) == [
        "own order", "margin distance", "test", "out-of-bag", "training", "all 40 members",
    ]  # fmt: skip
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("members", "error, %")
    assert display.ax_.get_xlim() == (1, 40)


def test_several_orders_differ_in_colour_and_marker(waveform, test_set, bag):
    rules = ["margin_distance", "reduce_error", "orientation"]
    display = ErrorCurveDisplay.from_estimator(
        bag, *waveform, *test_set, orders=rules, n_random_orders=3, random_state=0, on=["test"]
    )
    assert {on for _, on in display.lines_} == {"test"}
    looks = {(line.get_color(), line.get_marker()) for line in display.lines_.values()}
    assert len({colour for colour, _ in looks}) == 5
    assert len({marker for _, marker in looks}) == 4  # own and random orders have none
    legend = legend_of(display.ax_)
    best = display.curves["orientation", "test"]
    assert legend[:2] == ["own order", "random order"]
    assert f"orientation: {100 * best.least:.1f}% with {best.best_size}" in legend
    assert len(legend) == 6
    assert len(display.ax_.texts) == 0
    wholes = [name for name in labelled(display.ax_) if name.startswith("_all")]
    assert wholes == ["_all, own order, test"]
    marks = [name for name in labelled(display.ax_) if name.startswith("_mark")]
    assert len(marks) == 3
    assert display.ax_.get_ylabel() == "test error, %"
    assert len(display.ax_.collections) == 1  # the band of the random orders


def test_ensembles_are_compared_in_one_picture(waveform, test_set, bag):
    boosted = AdaBoostClassifier(CARTClassifier(max_depth=2), 30, random_state=0).fit(*waveform)
    display = ErrorCurveDisplay.from_estimator(
        {"bagging": bag, "boosting": boosted}, *waveform, *test_set, on=["test", "training"]
    )
    assert list(display.lines_) == [
        ("bagging", "training"), ("bagging", "test"),
        ("boosting", "training"), ("boosting", "test"),
    ]  # fmt: skip
    assert display.ax_.get_xlim() == (1, 40)
    assert legend_of(display.ax_)[-1] == "all members"  # 40 of the one and 30 of the other
    ordered = ErrorCurveDisplay.from_estimator({"bags": bag}, *waveform, orders="kappa")
    assert {name for name, _ in ordered.lines_} == {"bags", "bags, kappa"}


def test_numbers_are_drawn_as_they_are(friedman, of_numbers):
    display = ErrorCurveDisplay.from_estimator(of_numbers, *friedman, out_of_bag=False)
    curve = display.curves["own order", "training"]
    assert (drawn(display.lines_["own order", "training"]) == curve.errors).all()
    assert display.ax_.get_ylabel() == "training mean squared error"
    assert display.ax_.get_title().startswith("Lowest training mean squared error: ")


def test_votes_and_orders_are_drawn(waveform, test_set, bag):
    answers = bag.votes(waveform[0])
    figure, ax = pyplot.subplots()
    display = ErrorCurveDisplay.from_votes(answers, waveform[1], orders="reduce_error", ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert list(display.lines_) == [
        ("own order", "these samples"),
        ("reduce error", "these samples"),
    ]
    made = order_votes(answers, waveform[1], rule="kappa")
    display = ErrorCurveDisplay.from_orders({"agree least": made}, bag, *test_set)
    expected = 100 * made.test_curve(bag, test_set[0], test_set[1])
    np.testing.assert_allclose(drawn(display.lines_["agree least", "test"]), expected)
    kept = pickle.loads(pickle.dumps(made))
    display = ErrorCurveDisplay.from_orders(kept)
    assert list(display.lines_) == [("kappa", "training")]
    assert sum(name.startswith("_all") for name in labelled(display.ax_)) == 1


def test_the_first_errors_are_cut_off_and_nothing_else():
    errors = np.full(100, 0.1)
    errors[:5] = 0.9
    errors[50] = 0.02
    curves = ErrorCurves((ErrorCurve("own order", "test", errors),))
    low, high = ErrorCurveDisplay(curves).plot().ax_.get_ylim()
    assert 0 <= low < 2
    assert 10 < high < 20


def test_hundreds_of_members_that_nobody_ordered_have_a_logarithmic_axis():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 50)
    votes = np.where(rng.random((300, 50)) < 0.7, y, 1 - y)
    many = ErrorCurveDisplay.from_votes(votes, y)
    assert many.ax_.get_xscale() == "log"
    assert many.ax_.get_xlim() == (1, 300)
    # All is seen but the error of the first member.
    errors = 100 * many.curves["own order", "these samples"].errors
    assert many.ax_.get_ylim()[1] > errors[1:].max()
    assert ErrorCurveDisplay.from_votes(votes[:299], y).ax_.get_xscale() == "linear"
    assert ErrorCurveDisplay.from_votes(votes, y, scale="linear").ax_.get_xscale() == "linear"
    ordered = ErrorCurveDisplay.from_votes(votes, y, orders="reduce_error")
    assert ordered.ax_.get_xscale() == "linear"  # orders part in the middle
    assert ordered.plot(scale="log").ax_.get_xscale() == "log"
    few = ErrorCurveDisplay.from_orders(order_votes(votes[:9], y), votes[:9], y=y, scale="log")
    assert few.ax_.get_xscale() == "log"
    with pytest.raises(ValueError, match='scale=\'square\' is not allowed; use "auto", "linear"'):
        many.plot(scale="square")


def test_the_title_says_when_all_members_are_best():
    curves = ErrorCurves((ErrorCurve("own order", "test", np.array([0.5, 0.25])),))
    display = ErrorCurveDisplay(curves).plot()
    assert display.ax_.get_title() == "Lowest test error: 25.0% with all 2 members"


def test_pictures_of_nothing_are_refused(waveform, bag, friedman, of_numbers):
    with pytest.raises(ValueError, match="ensemble is empty"):
        ErrorCurveDisplay.from_estimator({}, *waveform)
    with pytest.raises(ValueError, match="curves is empty"):
        ErrorCurveDisplay(ErrorCurves(()))
    with pytest.raises(ValueError, match=r"on=\['test'\] is not allowed; give some of"):
        ErrorCurveDisplay.from_estimator(bag, *waveform, on=["test"])
    with pytest.raises(ValueError, match="on='training' is not allowed"):
        ErrorCurveDisplay.from_estimator(bag, *waveform, on="training")
    mixed = {"one": BaggingRegressor(n_estimators=2).fit(*waveform), "other": bag}
    with pytest.raises(ValueError, match="holds classifiers and regressors"):
        ErrorCurveDisplay.from_estimator(mixed, *waveform)
