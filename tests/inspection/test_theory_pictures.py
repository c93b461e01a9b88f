"""Pictures of theory, of correlated members, and of bias and variance: what is drawn where."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from orfeon import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    ArcX4Classifier,
    BaggingClassifier,
    CARTClassifier,
    CARTRegressor,
    ClassSwitchingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StumpClassifier,
)
from orfeon.datasets import Friedman1, RingNorm, TwoNorm, make_threenorm, make_twonorm
from orfeon.datasets import make_waveform as waveform_sample
from orfeon.inspection.bias_variance.bias_variance_display import BiasVarianceDisplay
from orfeon.inspection.bias_variance.definitions import bias_variance_decomposition
from orfeon.inspection.bias_variance.intervals import BiasVarianceIntervals
from orfeon.inspection.boosting_bounds_display import BoostingBoundsDisplay
from orfeon.inspection.correlated_members import (
    correlated_mean_variance,
    member_answers,
    member_correlation,
    member_correlation_curve,
)
from orfeon.inspection.correlated_members_display import (
    CorrelatedMeanDisplay,
    MemberCorrelationDisplay,
)
from orfeon.inspection.theory import condorcet_error, switching_error, switching_margins
from orfeon.inspection.theory_display import CondorcetDisplay, SwitchingTheoryDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture(scope="module")
def twonorm():
    return make_twonorm(150, random_state=0)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def assert_all_inside(figure):
    """Every text of a figure is within it."""
    figure.canvas.draw()
    whole = figure.bbox.padded(1.0)
    for ax in figure.axes:
        texts = [ax.title, ax.xaxis.label, ax.yaxis.label]
        if ax.get_legend() is not None:
            texts += ax.get_legend().get_texts()
        for text in texts:
            box = text.get_window_extent()
            if text.get_text() and box.width:
                assert whole.x0 <= box.x0 <= box.x1 <= whole.x1, text.get_text()
                assert whole.y0 <= box.y0 <= box.y1 <= whole.y1, text.get_text()


@pytest.fixture(params=[3.5, pytest.param(7.0, marks=pytest.mark.thorough)])
def ax(request):
    return pyplot.subplots(figsize=(request.param, 5.0), layout="constrained")[1]


# -- Condorcet -------------------------------------------------------------------------------------


def test_condorcet_curves_are_those_of_the_theorem(ax):
    display = CondorcetDisplay.from_member_errors([0.3, 0.5, 0.6], max_members=20, ax=ax)
    assert display.ax_ is ax
    for error, line in zip((0.3, 0.5, 0.6), display.lines_.values(), strict=True):
        sizes, percent = line.get_data()
        assert sizes.tolist() == list(range(1, 20, 2))
        np.testing.assert_allclose(percent, 100 * condorcet_error(error, sizes), atol=1e-12)
    assert legend_of(ax) == ["30%", "50%", "60%"]
    looks = {(line.get_color(), str(line.get_linestyle())) for line in display.lines_.values()}
    assert len(looks) == 3
    assert_all_inside(display.figure_)


def test_a_measured_vote_is_beside_that_of_independent_members(twonorm):
    X_test, y_test = make_twonorm(500, random_state=1)
    bag = BaggingClassifier(n_estimators=31, random_state=0).fit(*twonorm)
    display = CondorcetDisplay.from_estimator(bag, X_test, y_test)
    votes = np.array([tree.predict(X_test) for tree in bag.estimators_])
    mean = np.mean(votes != y_test)
    independent, measured = display.lines_.values()
    assert independent.get_label() == f"independent, {100 * mean:.1f}% each"
    sizes, percent = measured.get_data()
    for size, error in zip(sizes, percent, strict=True):
        wrong = (votes[:size].mean(axis=0) > 0.5) != y_test
        assert error == pytest.approx(100 * wrong.mean(), abs=1e-10)
    assert percent[-1] > 5 * independent.get_ydata()[-1]  # they are not independent
    assert display.ax_.get_title().replace("\n", " ").startswith("The vote of 31 members errs on")
    same = CondorcetDisplay.from_votes(votes, y_test)
    np.testing.assert_allclose(same.lines_["measured"].get_ydata(), percent, atol=1e-10)


def test_hundreds_of_members_have_a_logarithmic_axis():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    votes = np.where(rng.random((401, 40)) < 0.6, y, 1 - y)
    display = CondorcetDisplay.from_votes(votes, y)
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_xlim() == (1, 401)
    assert display.plot(scale="linear").ax_.get_xscale() == "linear"
    assert CondorcetDisplay.from_votes(votes[:99], y).ax_.get_xscale() == "linear"
    few = CondorcetDisplay.from_member_errors([0.3], max_members=9, scale="log")
    assert few.ax_.get_xscale() == "log"
    with pytest.raises(ValueError, match="scale='root' is not allowed"):
        few.plot(scale="root")


def test_votes_of_samples_with_weights():
    votes, y = np.array([[0, 1, 1], [1, 1, 0], [0, 1, 0]]), np.array([0, 1, 1])
    weighted = CondorcetDisplay.from_votes(votes, y, sample_weight=[2, 0, 1])
    copied = CondorcetDisplay.from_votes(votes[:, [0, 0, 2]], y[[0, 0, 2]])
    for one, other in zip(weighted.lines_.values(), copied.lines_.values(), strict=True):
        assert one.get_ydata().tolist() == other.get_ydata().tolist()


def test_condorcet_refuses_three_classes_and_no_curves():
    with pytest.raises(ValueError, match="the votes are for 3 classes"):
        CondorcetDisplay.from_votes([[0, 1, 2], [0, 1, 2]], [0, 1, 2])
    some = np.ma.masked_equal([[0, 1, 9], [0, 1, 1]], 9)
    with pytest.raises(ValueError, match="votes are missing; in Condorcet's theorem all"):
        CondorcetDisplay.from_votes(some, [0, 1, 1])
    with pytest.raises(ValueError, match="members that predict numbers have no Condorcet curves"):
        CondorcetDisplay.from_votes([[0.5, 1.5]], [0.2, 0.3])
    with pytest.raises(ValueError, match="curves is empty"):
        CondorcetDisplay.from_member_errors([])
    with pytest.raises(ValueError, match="max_members=0 is not allowed"):
        CondorcetDisplay.from_member_errors([0.3], max_members=0)


# -- class-switching -------------------------------------------------------------------------------


def test_switching_curves_are_those_of_theory(ax):
    display = SwitchingTheoryDisplay.from_rates([0.2, 0.4], max_members=301, ax=ax)
    for rate, line in display.error_lines_.items():
        sizes, percent = line.get_data()
        np.testing.assert_allclose(percent, 100 * switching_error(rate, sizes), atol=1e-10)
        assert sizes[-1] == 301
    assert list(display.margin_lines_) == [(0.2, 11), (0.2, 301), (0.4, 11), (0.4, 301)]
    margins, probabilities = switching_margins(0.4, 11)
    line = display.margin_lines_[0.4, 11]
    assert line.get_drawstyle() == "steps-post"  # it rises at the margins themselves
    np.testing.assert_allclose(line.get_xdata(), margins, atol=1e-15)
    np.testing.assert_allclose(line.get_ydata(), 100 * np.cumsum(probabilities), atol=1e-10)
    widths = {size: display.margin_lines_[0.2, size].get_linewidth() for size in (11, 301)}
    assert widths[301] > widths[11]
    side_by_side = display.figure_.get_size_inches()[0] > 5
    tops = [one.get_position().y1 for one in (display.ax_, display.margin_ax_)]
    assert (abs(tops[0] - tops[1]) < 0.02) == side_by_side
    assert_all_inside(display.figure_)


def test_a_class_switching_ensemble_follows_its_theory(twonorm):
    model = ClassSwitchingClassifier(n_estimators=101, random_state=0).fit(*twonorm)
    display = SwitchingTheoryDisplay.from_estimator(model, *twonorm)
    theory = display.errors[model.switch_rate_]
    measured = display.measured_errors
    assert measured.y[0] == pytest.approx(model.switch_rate_, abs=0.01)
    # 150 samples that err independently: four standard errors.
    room = 4 * np.sqrt(theory.y * (1 - theory.y) / 150) + 0.007
    assert (np.abs(measured.y - theory.y) <= room).all()
    assert list(display.measured_margins) == [11, 101]
    votes = model.members_.votes(twonorm[0])
    right = np.mean(model.classes_[votes] == twonorm[1], axis=0)
    whole = display.measured_margins[101]
    assert whole.x.tolist() == pytest.approx(np.unique(2 * right - 1).tolist())
    assert whole.y[-1] == 1.0
    assert "measured" in legend_of(display.ax_)


def test_more_classes_have_errors_and_no_margins():
    display = SwitchingTheoryDisplay.from_rates([0.3, 0.6], max_members=51, n_classes=3)
    assert display.margin_ax_ is None
    assert len(display.figure_.axes) == 1
    np.testing.assert_allclose(
        display.error_lines_[0.6].get_ydata()[-1], 100 * switching_error(0.6, 51, 3), atol=1e-9
    )


def test_switching_refuses_other_ensembles_rates_and_sizes(twonorm):
    with pytest.raises(TypeError, match=r"BaggingClassifier.* is not allowed"):
        SwitchingTheoryDisplay.from_estimator(BaggingClassifier(), *twonorm)
    with pytest.raises(NotFittedError):
        SwitchingTheoryDisplay.from_estimator(ClassSwitchingClassifier(), *twonorm)
    with pytest.raises(ValueError, match=r"switch_rate=0\.5 is not allowed"):
        SwitchingTheoryDisplay.from_rates([0.5])
    with pytest.raises(ValueError, match="margin_sizes has 200; sizes are from 1 to the 101"):
        SwitchingTheoryDisplay.from_rates([0.3], max_members=101, margin_sizes=[11, 200])


# -- bounds of boosting ----------------------------------------------------------------------------


def test_the_training_error_is_below_its_bounds(twonorm, ax):
    X, y = twonorm
    model = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    display = BoostingBoundsDisplay.from_estimator(model, X, y, ax=ax)
    tight, loose = list(display.lines_.values())[:2]
    np.testing.assert_allclose(tight.get_ydata(), 100 * model.error_bounds_)
    np.testing.assert_allclose(loose.get_ydata(), 100 * model.edge_bounds_)
    staged = [100 * np.mean(answers != y) for answers in model.staged_predict(X)]
    np.testing.assert_allclose(display.lines_["measured"].get_ydata(), staged)
    assert (np.array(staged) <= tight.get_ydata() + 1e-9).all()
    assert (tight.get_ydata() <= loose.get_ydata() + 1e-9).all()
    np.testing.assert_allclose(display.lines_["member errors"].get_ydata(), 100 * model.errors_)
    assert_all_inside(display.figure_)


def test_weights_of_samples_are_those_of_the_training(twonorm):
    X, y = twonorm
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    model = AdaBoostClassifier(n_estimators=10, random_state=0).fit(X, y, weights)
    display = BoostingBoundsDisplay.from_estimator(model, X, y, sample_weight=weights)
    rows = np.repeat(np.arange(len(y)), weights)
    copied = [np.mean(answers[rows] != y[rows]) for answers in model.staged_predict(X)]
    np.testing.assert_allclose(display.measured, copied, atol=1e-12)
    assert (display.measured <= model.error_bounds_ + 1e-12).all()


def test_small_margins_have_a_bound_too(twonorm):
    X, y = twonorm
    model = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    display = BoostingBoundsDisplay.from_estimator(model, X, y, theta=0.1)
    votes = np.array([tree.predict(X) for tree in model.estimators_])
    signs = np.where(votes == y, 1.0, -1.0)
    share = np.mean(model.member_weights_ @ signs / model.member_weights_.sum() <= 0.1)
    assert display.measured[-1] == pytest.approx(share)
    (bound,) = display.bounds.values()
    assert bound[-1] == pytest.approx(model.margin_bound(0.1))
    assert (display.measured <= bound + 1e-12).all()


def test_other_boosters_with_a_bound():
    X, y = waveform_sample(150, random_state=0)
    m2 = AdaBoostM2Classifier(n_estimators=20, random_state=0).fit(X, y)
    display = BoostingBoundsDisplay.from_estimator(m2, X, y)
    (bound,) = display.bounds.values()
    assert bound.tolist() == m2.error_bounds_.tolist()
    assert "pseudo-loss of each member" in legend_of(display.ax_)
    few = AdaBoostM2Classifier(n_estimators=3, random_state=0).fit(X, y)
    assert few.error_bounds_[-1] > 1
    title = BoostingBoundsDisplay.from_estimator(few, X, y).ax_.get_title()
    assert title.replace("\n", " ").endswith("its bound is useless")
    X, y = make_threenorm(150, random_state=0)
    theirs = sklearn.ensemble.AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    ours = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    tops = [BoostingBoundsDisplay.from_estimator(one, X, y) for one in (theirs, ours)]
    for name, bound in tops[0].bounds.items():
        np.testing.assert_allclose(bound[:5], tops[1].bounds[name][:5], rtol=1e-6)


def test_bounds_of_hundreds_of_members_have_a_logarithmic_axis():
    display = BoostingBoundsDisplay.from_errors(np.full(300, 0.3))
    assert display.ax_.get_xscale() == "log"
    assert display.plot(scale="linear").ax_.get_xscale() == "linear"
    assert BoostingBoundsDisplay.from_errors([0.3, 0.2], scale="log").ax_.get_xscale() == "log"
    with pytest.raises(ValueError, match="scale=2 is not allowed"):
        display.plot(scale=2)


def test_bounds_of_given_errors():
    display = BoostingBoundsDisplay.from_errors([0.2, 0.5, 0.1])
    tight, loose = display.bounds.values()
    np.testing.assert_allclose(tight, [0.8, 0.8, 0.48])
    assert loose[-1] == pytest.approx(np.exp(-2 * (0.09 + 0.16)))
    assert display.ax_.get_title().replace("\n", " ") == (
        "The training error after 3 members: its bound is 48.0%"
    )


def test_what_has_no_bound_is_refused(twonorm):
    X, y = twonorm
    arcing = ArcX4Classifier(CARTClassifier(max_depth=2), n_estimators=3, random_state=0)
    with pytest.raises(TypeError, match=r"(?s)ArcX4Classifier.* is not allowed"):
        BoostingBoundsDisplay.from_estimator(arcing.fit(X, y), X, y)
    slow = sklearn.ensemble.AdaBoostClassifier(n_estimators=3, learning_rate=0.5).fit(X, y)
    with pytest.raises(TypeError, match="learning_rate=1"):
        BoostingBoundsDisplay.from_estimator(slow, X, y)
    again = AdaBoostClassifier(n_estimators=3, on_failure="bootstrap", random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match="the bounds are those of a run"):
        BoostingBoundsDisplay.from_estimator(again, X, y)
    with pytest.raises(NotFittedError):
        BoostingBoundsDisplay.from_estimator(AdaBoostClassifier(), X, y)
    with pytest.raises(ValueError, match=r"theta=-0\.1 is not allowed"):
        BoostingBoundsDisplay.from_estimator(again, X, y, theta=-0.1)
    with pytest.raises(TypeError, match=r"is not allowed with theta=0\.1"):
        BoostingBoundsDisplay.from_estimator(slow, X, y, theta=0.1)


# -- correlated members ----------------------------------------------------------------------------


def test_curves_of_correlated_means_and_their_floors(ax):
    display = CorrelatedMeanDisplay.from_correlations([0.0, 0.5], variance=2.0, ax=ax)
    for rho, line in display.lines_.items():
        sizes, variances = line.get_data()
        np.testing.assert_allclose(variances, correlated_mean_variance(rho, 2.0, sizes))
        assert sizes[-1] == 100
    floors = [line.get_ydata()[0] for line in ax.lines if len(line.get_xdata()) == 2]
    assert floors == [0.0, 1.0]
    assert_all_inside(display.figure_)


@pytest.mark.parametrize(("ensemble", "problem", "n_classes"), [
    (RandomForestRegressor(8), Friedman1(), 0), (RandomForestClassifier(8), TwoNorm(), 2),
])  # fmt: skip
def test_an_ensemble_is_trained_and_its_means_are_drawn(ensemble, problem, n_classes):
    options = {"n_train": 60, "n_test": 30, "n_repetitions": 6, "random_state": 0}
    answers, found = member_answers(ensemble, problem, **options)
    assert found == n_classes
    assert answers.shape == (6, 8, 30)
    display = CorrelatedMeanDisplay.from_estimator(ensemble, problem, sizes=[1, 8], **options)
    expected = CorrelatedMeanDisplay.from_answers(answers, n_classes=n_classes, sizes=[1, 8])
    assert (display.measured.y == expected.measured.y).all()
    curve = member_correlation_curve(ensemble, problem, values=["sqrt"], **options)
    assert next(iter(display.lines_)) == pytest.approx(
        member_correlation(answers, n_classes=n_classes).pooled_correlation
    )
    ensemble = clone(ensemble).set_params(max_features="sqrt")
    again = member_correlation(member_answers(ensemble, problem, **options)[0], n_classes=n_classes)
    assert curve.correlations[0] == pytest.approx(again.pooled_correlation)


def test_measured_means_lie_on_the_curve_of_their_correlation():
    """A variance of 12 000 draws has a standard error of 1.3%."""
    rng = np.random.default_rng(0)
    answers = rng.normal(size=(1500, 1, 8)) + rng.normal(size=(1500, 40, 8))
    display = CorrelatedMeanDisplay.from_answers(answers)
    found = member_correlation(answers)
    ((rho, _),) = display.curves.items()
    assert rho == found.pooled_correlation
    sizes, variances = display.measured_.get_data()
    told = correlated_mean_variance(rho, found.mean_variance, sizes)
    np.testing.assert_allclose(variances, told, rtol=0.06)
    assert variances[-1] == pytest.approx(answers.mean(axis=1).var(axis=0, ddof=1).mean())
    codes = rng.integers(0, 3, (20, 6, 5))
    votes = CorrelatedMeanDisplay.from_answers(codes, n_classes=3, sizes=[1, 6])
    whole = member_correlation(codes, n_classes=3).ensemble_variance.mean()
    assert votes.measured.y[-1] == pytest.approx(whole)
    with pytest.raises(ValueError, match=r"sizes=\[7\] is not allowed"):
        CorrelatedMeanDisplay.from_answers(codes, n_classes=3, sizes=[7])
    for wrong in ([], [1.5], 3):
        with pytest.raises(ValueError, match=r"sizes=.* is not allowed: it holds whole numbers"):
            CorrelatedMeanDisplay.from_answers(codes, n_classes=3, sizes=wrong)
    with pytest.raises(ValueError, match="max_members=0 is not allowed"):
        CorrelatedMeanDisplay.from_correlations(max_members=0)


def test_boxes_of_correlations_against_features(ax):
    curve = member_correlation_curve(
        RandomForestRegressor(10), Friedman1(), values=(1, 3, 10), n_train=80, n_test=40,
        n_repetitions=20, random_state=0,
    )  # fmt: skip
    display = MemberCorrelationDisplay(curve).plot(ax)
    medians = [line.get_ydata()[0] for line in display.boxes_["medians"]]
    assert medians == pytest.approx([np.median(one.correlation) for one in curve.found])
    pooled = display.pooled_.lines[0].get_ydata()
    assert pooled.tolist() == curve.correlations.tolist()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "3", "10"]
    assert "with max_features=1" in ax.get_title().replace("\n", " ")
    assert_all_inside(display.figure_)


# -- bias and variance -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def learners():
    return {"stump": StumpClassifier(), "a tree, grown to its end": CARTClassifier()}


@pytest.mark.parametrize("definition", ["breiman", "domingos"])
def test_bars_add_up_to_the_error(definition, learners, ax):
    display = BiasVarianceDisplay.from_estimators(
        learners, RingNorm(), definition=definition, n_train=100, n_test=100, n_repetitions=20,
        random_state=0, ax=ax,
    )  # fmt: skip
    for name, found in display.intervals.items():
        bars = [display.bars_[name, part] for part in ("noise", "bias", "variance")]
        lengths = [bar.get_width() for bar in bars]
        assert lengths == pytest.approx(
            [100 * found.estimates[part] for part in ("noise", "bias", "variance")]
        )
        assert sum(lengths) == pytest.approx(100 * found.estimates["error"])
        right = [bar for bar in bars if bar.get_width() >= 0]
        ends = np.cumsum([0.0, *(bar.get_width() for bar in right)])
        assert [bar.get_x() for bar in right] == pytest.approx(ends[:-1].tolist())
    stump = display.bars_["stump", "variance"]
    if definition == "domingos":  # its variance helps, and is left of zero
        assert stump.get_x() == 0
        assert stump.get_width() < 0
    assert len({bar.get_hatch() for (_, _), bar in display.bars_.items()}) == 3
    assert_all_inside(display.figure_)


def test_whiskers_are_the_intervals_at_the_ends_of_the_bars():
    found = BiasVarianceIntervals(
        "breiman", {"error": 0.4, "bias": 0.1, "variance": 0.25, "noise": 0.05},
        {"error": 0.02, "bias": 0.01, "variance": 0.03, "noise": 0.0}, 0.95, "both", 100,
    )  # fmt: skip
    display = BiasVarianceDisplay({"one": found}).plot()
    for part, end in (("bias", 15.0), ("variance", 40.0), ("error", 40.0)):
        (segment,) = display.whiskers_["one", part].lines[2][0].get_segments()
        reach = 196 * found.standard_errors[part]
        assert segment[:, 0].tolist() == pytest.approx([end - reach, end + reach], abs=0.01)
    assert display.ax_.get_title() == "Bias and variance by Breiman"
    assert legend_of(display.ax_) == ["noise", "bias", "variance", "error", "95% interval"]


def test_bars_of_given_predictions_and_of_regressors():
    rng = np.random.default_rng(0)
    answers, y = rng.integers(0, 3, (20, 30)), rng.integers(0, 3, 30)
    display = BiasVarianceDisplay.from_predictions(
        {"chance": answers, "none": np.zeros_like(answers)}, y, definition="kong_dietterich"
    )
    parts = bias_variance_decomposition(answers, y, definition="kong_dietterich")
    assert display.intervals["chance"].estimates["bias"] == parts.bias
    assert display.ax_.get_xlabel() == "error, %"
    numbers = BiasVarianceDisplay.from_estimator(
        CARTRegressor(), Friedman1(), n_train=50, n_test=30, n_repetitions=5, random_state=0
    )
    assert numbers.ax_.get_xlabel() == "mean squared error"
    assert list(numbers.intervals) == ["CARTRegressor"]
    assert numbers.bars_["CARTRegressor", "noise"].get_width() == pytest.approx(1.0)
    assert "squared bias" in legend_of(numbers.ax_)


def test_learners_share_their_samples_also_without_a_seed():
    display = BiasVarianceDisplay.from_estimators(
        {"one": StumpClassifier(random_state=0), "the same": StumpClassifier(random_state=0)},
        TwoNorm(), n_train=30, n_test=30, n_repetitions=4,
    )  # fmt: skip
    one, same = display.intervals.values()
    assert one.estimates == same.estimates
    assert one.standard_errors == same.standard_errors


def test_names_go_above_the_bars_where_there_is_no_room_beside_them():
    found = BiasVarianceIntervals(
        "breiman", dict.fromkeys(("error", "bias", "variance", "noise"), 0.1),
        dict.fromkeys(("error", "bias", "variance", "noise"), 0.01), 0.95, "both", 100,
    )  # fmt: skip
    for width, is_above in ((3.5, True), (9.0, False)):
        _, ax = pyplot.subplots(figsize=(width, 3), layout="constrained")
        BiasVarianceDisplay({"a learner with a $name$": found}).plot(ax)
        above = [text.get_text() for text in ax.texts]
        assert (above == [r"a learner with a \$name\$"]) == is_above
        assert_all_inside(ax.figure)


def test_bias_and_variance_refuse_what_cannot_be_compared():
    parts = dict.fromkeys(("error", "bias", "variance", "noise"), 0.1)
    one, other = (
        BiasVarianceIntervals(name, parts, parts, 0.95, "both", 100)
        for name in ("breiman", "domingos")
    )
    with pytest.raises(ValueError, match=r"several definitions, \['breiman', 'domingos'\]"):
        BiasVarianceDisplay({"one": one, "other": other})
    with pytest.raises(ValueError, match="intervals is empty"):
        BiasVarianceDisplay({})
    with pytest.raises(ValueError, match=r"estimators must be a dict.*got StumpClassifier"):
        BiasVarianceDisplay.from_estimators(StumpClassifier(), TwoNorm())
