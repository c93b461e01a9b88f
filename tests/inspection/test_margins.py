"""Margins against counting by hand, identities, theory, and what boosting is known for."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier as AdaBoostOfScikitLearn
from sklearn.ensemble import BaggingClassifier as BaggingOfScikitLearn
from sklearn.ensemble import RandomForestClassifier as ForestOfScikitLearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.shared import cases

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    ClassSwitchingClassifier,
    prune,
)
from orfeon.datasets import make_ringnorm, make_twonorm, make_waveform
from orfeon.inspection.theory import switching_margin_distribution
from orfeon.inspection.vote_margins import (
    MarginDistributionDisplay,
    Margins,
    margin_distribution,
    margins,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402


def by_hand(votes, y, weights=None, no_vote=None):
    """Margins and edges, sample by sample and vote by vote."""
    weights = np.ones(len(votes)) if weights is None else weights
    found = []
    for i, label in enumerate(y):
        count = Counter()
        for row, weight in zip(votes, weights, strict=True):
            if no_vote is None or row[i] != no_vote:
                count[row[i]] += weight
        total = sum(count.values())
        wrong = max((count[other] for other in count if other != label), default=0)
        if total == 0:
            found.append((np.nan, np.nan))
        else:
            found.append(((count[label] - wrong) / total, (total - count[label]) / total))
    return np.array(found).T


@pytest.fixture(scope="module")
def votes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 50)
    return np.where(rng.random((12, 50)) < 0.45, y, rng.integers(0, 4, (12, 50))), y


@pytest.fixture(scope="module")
def two_classes():
    X, y = make_twonorm(200, random_state=0)
    return X, np.where(y == y[0], "no", "yes")


@pytest.fixture(scope="module")
def bag(waveform):
    return BaggingClassifier(n_estimators=25, random_state=0).fit(*waveform)


# -- the numbers -----------------------------------------------------------------------------------


def test_margins_and_edges_are_those_counted_by_hand(votes):
    answers, y = votes
    found = margins(answers, y=y)
    expected = by_hand(answers, y)
    assert (found.margins == expected[0]).all()
    assert (found.edges == expected[1]).all()
    assert found.n_members == 12
    assert found.minimum == expected[0].min()
    assert found.mean == pytest.approx(expected[0].mean(), abs=1e-15)
    assert found.margins.min() < 0 < found.margins.max()


def test_members_vote_with_their_weights(votes):
    answers, y = votes
    weights = np.arange(1.0, 13.0)
    found = margins(answers, y=y, member_weights=weights)
    expected = by_hand(answers, y, weights)
    np.testing.assert_allclose([found.margins, found.edges], expected, atol=1e-15)
    assert (found.margins != margins(answers, y=y).margins).any()


def test_votes_that_are_missing_do_not_count(votes):
    answers, y = votes
    rng = np.random.default_rng(1)
    holes = np.where(rng.random(answers.shape) < 0.5, -9, answers)
    holes[:, [3, 40]] = -9
    found = margins(holes, y=y, no_vote=-9)
    expected = by_hand(holes, y, no_vote=-9)
    np.testing.assert_array_equal([found.margins, found.edges], expected)
    # Rows keep their places; nobody votes on two of them.
    assert np.flatnonzero(np.isnan(found.margins)).tolist() == [3, 40]
    masked = margins(np.ma.masked_equal(holes, -9), y=y)
    np.testing.assert_array_equal(masked.margins, found.margins)


def test_unanimous_votes_have_the_extreme_margins():
    found = margins([["a", "b", "a"]] * 7, y=["a", "a", "b"])
    assert found.margins.tolist() == [1.0, -1.0, -1.0]
    assert found.edges.tolist() == [0.0, 1.0, 1.0]
    assert margins([[5, 5]], y=[5, 5]).margins.tolist() == [1.0, 1.0]  # only one class


def test_two_classes_have_a_margin_of_one_minus_twice_the_edge(two_classes):
    X, y = two_classes
    boosted = AdaBoostClassifier(n_estimators=40, random_state=0).fit(X, y)
    found = margins(boosted, X, y)
    np.testing.assert_allclose(found.margins, 1 - 2 * found.edges, atol=1e-12)
    # The real output of the additive model is the same in other units.
    signed = np.where(y == boosted.classes_[1], 1, -1) * boosted.decision_function(X)
    np.testing.assert_allclose(found.margins, signed / boosted.member_weights_.sum(), atol=1e-8)


def test_the_vote_is_wrong_where_the_margin_is_negative(two_classes):
    X, y = two_classes
    X_new, y_new = make_twonorm(500, random_state=1)
    y_new = np.where(y_new == y_new[0], "no", "yes")
    bag = BaggingClassifier(n_estimators=11, random_state=0).fit(X, y)
    found = margins(bag, X_new, y_new)
    assert ((found.margins < 0) == (bag.predict(X_new) != y_new)).all()
    assert found.share_at_most(0.0) == pytest.approx(1 - bag.score(X_new, y_new), abs=1e-12)
    assert 0 < found.share_at_most(0.0) < 0.5


# -- sample weights --------------------------------------------------------------------------------


def test_weights_are_copies(votes):
    answers, y = votes
    weights = np.arange(50) % 3
    weighted = margins(answers, y=y, sample_weight=weights)
    copied = margins(np.repeat(answers, weights, axis=1), y=np.repeat(y, weights))
    at = np.linspace(-1, 1, 41)
    np.testing.assert_allclose(weighted.share_at_most(at), copied.share_at_most(at), atol=1e-12)
    assert weighted.minimum == copied.minimum
    assert weighted.mean == pytest.approx(copied.mean, abs=1e-12)
    # Rows without weight are absent, and the others keep their places.
    assert (np.isnan(weighted.margins) == (weights == 0)).all()
    assert (weighted.weights == weights).all()
    full = margins(answers, y=y)
    assert (weighted.margins[weights > 0] == full.margins[weights > 0]).all()


def test_weights_with_fractions_give_their_shares(votes):
    answers, y = votes
    weights = np.random.default_rng(2).random(50)
    found = margins(answers, y=y, sample_weight=weights)
    expected = weights[found.margins <= 0.25].sum() / weights.sum()
    assert found.share_at_most(0.25) == pytest.approx(expected, abs=1e-5)


# -- the distribution ------------------------------------------------------------------------------


def test_the_distribution_counts_samples_up_to_a_margin(votes):
    found = margins(votes[0], y=votes[1])
    at = np.append(found.margins, [-1.1, 0.0, 0.2, 1.0])
    expected = [(found.margins <= a + 1e-9).mean() for a in at]
    np.testing.assert_allclose(found.share_at_most(at), expected, atol=1e-15)
    values, shares = found.steps()
    assert (np.diff(values) > 0).all()
    assert (np.diff(shares) > 0).all()
    assert shares[-1] == 1.0
    assert values[0] == found.minimum


def test_steps_of_tenths_are_met_in_spite_of_rounding():
    answers = np.zeros((10, 1), int)
    answers[:3] = 1
    found = margins(answers, y=[0])
    assert found.margins[0] == pytest.approx(0.4)
    assert found.share_at_most([0.1 + 0.3 - 1e-15, 0.39]).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(("n_members", "sizes"), [
    (7, [7]), (10, [10]), (45, [10, 45]), (100, [10, 100]), (101, [10, 100, 101]),
])  # fmt: skip
def test_sizes_are_tens_hundreds_and_all(n_members, sizes):
    found = margin_distribution(np.zeros((n_members, 2), int), y=[0, 1])
    assert found.sizes.tolist() == sizes


def test_each_size_has_the_margins_of_the_first_members(votes):
    answers, y = votes
    found = margin_distribution(answers, y=y, sizes=[9, 1, 4])
    assert found.sizes.tolist() == [1, 4, 9]
    for size, stage in zip(found.sizes, found.stages, strict=True):
        assert (stage.margins == by_hand(answers[:size], y)[0]).all()
    assert found.minimum.tolist() == [stage.minimum for stage in found.stages]
    assert found.share_at_most([0.0, 1.0])[:, 1].tolist() == [1.0, 1.0, 1.0]


def test_a_size_at_which_nobody_votes_has_no_margins():
    found = margin_distribution([[9, 9], [0, 1]], y=[0, 0], no_vote=9, sizes=[1, 2])
    assert np.isnan(found.stages[0].margins).all()
    assert np.isnan(found.stages[0].minimum)
    assert np.isnan(found.stages[0].mean)
    assert np.isnan(found.stages[0].share_at_most(0.0))
    assert found.stages[1].margins.tolist() == [1.0, -1.0]


# -- ensembles of all kinds ------------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda: BaggingClassifier(n_estimators=9, random_state=0),
    lambda: BaggingOfScikitLearn(n_estimators=9, random_state=0),
    lambda: ForestOfScikitLearn(9, random_state=0),
    lambda: make_pipeline(StandardScaler(), BaggingOfScikitLearn(n_estimators=9, random_state=0)),
])  # fmt: skip
def test_ensembles_of_any_make_have_margins(make, waveform):
    from orfeon.members import adapt

    X, y = waveform
    names = np.array(["low", "mid", "top"])[y]
    ensemble = make().fit(X, names)
    adapted = adapt(ensemble)
    answers = adapted.classes[adapted.answers(X)]
    assert (margins(ensemble, X, names).margins == by_hand(answers, names)[0]).all()


@pytest.mark.parametrize("make", [
    lambda: AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=15, random_state=0),
    lambda: AdaBoostOfScikitLearn(DecisionTreeClassifier(max_depth=2), n_estimators=15,
                                  random_state=0),
])  # fmt: skip
def test_boosted_members_vote_with_their_weights(make, waveform):
    from orfeon.members import adapt

    X, y = waveform
    boosted = make().fit(X, y)
    answers, weights = adapt(boosted).answers(X), adapt(boosted).member_weights
    expected = by_hand(answers, y, weights)
    np.testing.assert_allclose(margins(boosted, X, y).margins, expected[0], atol=1e-8)
    bare = margins(answers, y=y, member_weights=weights)
    np.testing.assert_allclose(bare.margins, expected[0], atol=1e-8)


def test_lists_and_pruned_ensembles_have_margins(waveform, bag):
    X, y = waveform
    trees = [DecisionTreeClassifier(max_depth=d).fit(X, y) for d in (1, 2, 3)]
    expected = by_hand([tree.predict(X) for tree in trees], y)
    assert (margins(trees, X, y).margins == expected[0]).all()
    small = prune(bag, X, y, keep=5)
    assert (margins(small, X, y).margins == by_hand(small.votes(X), y)[0]).all()


@pytest.mark.parametrize("kind", ["ours", "scikit-learn"])
def test_out_of_bag_margins_hear_only_members_that_did_not_see_the_sample(kind, waveform):
    from orfeon.members import adapt

    X, y = waveform
    few = BaggingClassifier if kind == "ours" else BaggingOfScikitLearn
    bag = few(n_estimators=4, random_state=0).fit(X, y)
    found = margins(bag, X, y, on="out_of_bag")
    mask = adapt(bag).out_of_bag(X, y)
    answered = np.where(mask, adapt(bag).answers(X), -1)
    np.testing.assert_array_equal(found.margins, by_hand(answered, y, no_vote=-1)[0])
    # Rows that no member left out have no margin, in their place.
    never = ~mask.any(axis=0)
    assert (np.isnan(found.margins) == never).all()
    assert 10 < never.sum() < 100
    assert found.mean < margins(bag, X, y).mean


def test_out_of_bag_margins_with_weights_keep_the_places_of_rows(waveform):
    X, y = waveform
    weights = np.arange(300) % 3
    bag = BaggingClassifier(n_estimators=30, random_state=0).fit(X, y, sample_weight=weights)
    found = margins(bag, X, y, sample_weight=weights, on="out_of_bag")
    assert np.isnan(found.margins[weights == 0]).all()
    assert (~np.isnan(found.margins[weights > 0])).mean() > 0.95


# -- what is known ---------------------------------------------------------------------------------


@pytest.mark.parametrize("switch_rate", [0.2, 0.35])
def test_class_switching_follows_its_theory(switch_rate):
    X, y = make_twonorm(1000, random_state=0)
    ensemble = ClassSwitchingClassifier(
        n_estimators=101, switch_rate=switch_rate, random_state=0
    ).fit(X, y)
    found = margin_distribution(ensemble, X, y, sizes=[11, 101])
    for size, stage in zip(found.sizes, found.stages, strict=True):
        # Each member errs on exactly the switched share, so the mean is known to the last digit.
        assert stage.mean == pytest.approx(1 - 2 * switch_rate, abs=1e-12)
        at = np.linspace(-1, 1, 2 * size + 1)
        expected = switching_margin_distribution(switch_rate, int(size), at)
        # The 99.9% bound of Kolmogorov and Smirnov for 1000 samples.
        assert np.abs(stage.share_at_most(at) - expected).max() < 1.95 / np.sqrt(1000)


@pytest.mark.parametrize("seed", range(cases(4)))
@pytest.mark.parametrize("make", [make_waveform, make_twonorm, make_ringnorm])
def test_boosting_raises_the_least_margin_above_that_of_bagging(make, seed):
    X, y = make(300, random_state=seed)
    tree = CARTClassifier(max_depth=3)
    bag = BaggingClassifier(tree, n_estimators=100, random_state=seed).fit(X, y)
    boosted = AdaBoostClassifier(tree, n_estimators=100, random_state=seed).fit(X, y)
    few, many = margin_distribution(boosted, X, y).minimum
    of_bag = margins(bag, X, y)
    assert many > 0.2 > 0.05 > of_bag.minimum
    # It goes on after the training error is gone, and pays with the large margins.
    assert many > few + 0.1
    assert margins(boosted, X, y).share_at_most(0.8) > of_bag.share_at_most(0.8)


def test_boosting_raises_the_least_margin_with_pruned_trees_too():
    for seed in range(cases(5)):
        X, y = make_waveform(300, random_state=seed)
        tree = CARTClassifier(pruning="cv")
        bag = BaggingClassifier(tree, n_estimators=100, random_state=seed).fit(X, y)
        boosted = AdaBoostClassifier(
            tree, n_estimators=100, on_failure="bootstrap", min_weight=1e-8, random_state=seed
        ).fit(X, y)
        # Runs that begin anew with a bootstrap sample lose some of it: -0.4 at the worst of these.
        assert margins(boosted, X, y).minimum > margins(bag, X, y).minimum + 0.1


# -- bad input -------------------------------------------------------------------------------------


def test_what_has_no_margins_is_refused(votes, friedman, waveform, bag):
    answers, y = votes
    with pytest.raises(ValueError, match="y is missing"):
        margins(answers)
    with pytest.raises(ValueError, match="members that predict numbers have no margins"):
        margins(BaggingRegressor(n_estimators=3, random_state=0).fit(*friedman), *friedman)
    with pytest.raises(ValueError, match="member_weights is for a matrix of votes"):
        margins(bag, *waveform, member_weights=np.ones(25))
    with pytest.raises(ValueError, match="member_weights must hold a finite number"):
        margins(answers, y=y, member_weights=np.ones(3))
    with pytest.raises(ValueError, match='on="out_of_bag" needs an ensemble'):
        margins(answers, y=y, on="out_of_bag")
    with pytest.raises(ValueError, match="on='bag' is not allowed"):
        margins(bag, *waveform, on="bag")
    boosted = AdaBoostClassifier(n_estimators=3).fit(*waveform)
    with pytest.raises(ValueError, match="AdaBoostClassifier has no out-of-bag samples"):
        margins(boosted, *waveform, on="out_of_bag")


@pytest.mark.parametrize("sizes", [[0], [13], [], [1.5], "half", [[1, 2]]])
def test_sizes_that_there_are_not_are_refused(sizes, votes):
    with pytest.raises(ValueError, match=r"sizes=.* is not allowed; .* from 1 to 12"):
        margin_distribution(votes[0], y=votes[1], sizes=sizes)


# -- the picture -----------------------------------------------------------------------------------


def test_curves_are_the_distributions(waveform, bag):
    X, y = waveform
    boosted = AdaBoostClassifier(CARTClassifier(max_depth=3), n_estimators=25, random_state=0)
    ensembles = {"bagging": bag, "boosting": boosted.fit(X, y)}
    display = MarginDistributionDisplay.from_estimator(ensembles, X, y, sizes=[5, 25])
    assert set(display.lines_) == {(n, t) for n in ensembles for t in (5, 25)}
    for name, ensemble in ensembles.items():
        found = margin_distribution(ensemble, X, y, sizes=[5, 25])
        for size, stage in zip((5, 25), found.stages, strict=True):
            line = display.lines_[name, size]
            at, shares = line.get_data()
            assert line.get_drawstyle() == "steps-post"
            assert (at[0], at[-1]) == (-1.0, 1.0)
            np.testing.assert_allclose(shares[1:-1], 100 * stage.share_at_most(at[1:-1]))
    marks = {line.get_label(): line.get_xydata().tolist() for line in display.ax_.lines}
    assert marks["_least of bagging"] == [[margins(bag, X, y).minimum, 0.0]]


def test_words_say_whose_margins_they_are(waveform, bag):
    X, y = waveform
    display = MarginDistributionDisplay.from_estimator({"bags": bag, "again": bag}, X, y)
    least = f"{margins(bag, X, y).minimum:+.2f}".replace("-", "\N{MINUS SIGN}")
    title = display.ax_.get_title().replace("\n", " ")
    assert title == f"Smallest margin with all members (marked): bags {least}, again {least}"
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "bags", "again", "25 members", "10 members",
    ]  # fmt: skip
    assert display.ax_.get_xlabel() == "margin, at most"
    assert display.ax_.get_ylabel() == "share of samples, %"
    colours = {name: display.lines_[name, 25].get_color() for name in ("bags", "again")}
    assert colours["bags"] != colours["again"]
    styles = {display.lines_["bags", size].get_linestyle() for size in (10, 25)}
    assert len(styles) == 2


def test_one_ensemble_has_the_name_of_its_class(waveform, bag):
    X, y = waveform
    figure, ax = pyplot.subplots()
    display = MarginDistributionDisplay.from_estimator(bag, X, y, ax=ax, on="out_of_bag")
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert list(display.lines_) == [("BaggingClassifier", 25), ("BaggingClassifier", 10)]


def test_ensembles_that_stopped_early_share_a_line_style(votes):
    answers, y = votes
    display = MarginDistributionDisplay.from_votes({"all": answers, "some": answers[:11]}, y)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "all", "some", "12 or 11 members", "10 members",
    ]  # fmt: skip
    one = MarginDistributionDisplay.from_votes(
        answers, y, member_weights=np.arange(12.0), sizes=[12]
    )
    assert list(one.lines_) == [("votes", 12)]
    expected = margins(answers, y=y, member_weights=np.arange(12.0))
    assert one.distributions["votes"].stages[0].minimum == expected.minimum


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="distributions is empty"):
        MarginDistributionDisplay({})


def test_margins_can_be_made_by_hand():
    data = Margins(np.array([0.5, np.nan, -1.0]), np.zeros(3), np.array([3.0, 5.0, 1.0]), 2)
    assert (data.minimum, data.mean, data.share_at_most(0.0)) == (-1.0, 0.125, 0.25)
