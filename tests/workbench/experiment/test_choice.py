"""From runs to figures: by hand where a hand can do it, and what a choice may not see."""

import math

import numpy as np
import pytest

from orfeon.statistics import corrected_resampled_t_test
from orfeon.workbench.experiment.choice import (
    Evidence,
    best_of,
    honest_choice,
    interval,
    mean_curves,
    rank_candidates,
)
from orfeon.workbench.experiment.evaluation import RunKey
from orfeon.workbench.experiment.plan import Plan
from orfeon.workbench.store import RunRow

PLAN = Plan.of(
    "x", "classification", methods=["baseline", "cart", "bagging"], keep=[0.2], n_inner=3
)


def row(unit, inner, method, errors, nodes=None, **more):
    scores = {name: {"error": e, "balanced_error": e, "log_loss": e} for name, e in errors.items()}
    sizes = {name: {"members": 1, "nodes": nodes} for name in errors}
    result = {"scores": scores, "sizes": sizes, "n": [80, 20], **more}
    timings = {"fit": 0.5, "order": 0.25, **{f"predict {name}": 0.01 for name in errors}}
    return RunRow(RunKey(unit, inner, method).key, {}, 0, result, 1.0, timings)


def rows_of(outer, inner):
    """Runs from tables of errors: [unit][candidate] outside, [unit][candidate] inside."""
    found = []
    for unit, (outside, inside) in enumerate(zip(outer, inner, strict=True)):
        for part, errors in [(None, outside), *((i, inside) for i in range(3))]:
            for method in ("baseline", "cart", "bagging"):
                of_method = {n: e for n, e in errors.items() if n.split("@")[0] == method}
                found.append(row(unit, part, method, of_method, nodes=10))
    return found


def errors(baseline, cart, bagging, pruned):
    return {"baseline": baseline, "cart": cart, "bagging": bagging, "bagging@0.2": pruned}


OUTER = [errors(0.5, 0.3, 0.2, 0.1), errors(0.5, 0.2, 0.4, 0.3), errors(0.5, 0.3, 0.1, 0.2)]
INNER = [errors(0.5, 0.1, 0.2, 0.3), errors(0.5, 0.3, 0.2, 0.1), errors(0.5, 0.3, 0.1, 0.2)]


def test_the_honest_figure_is_the_outer_score_of_what_the_inner_folds_chose():
    honest = honest_choice(Evidence.of(PLAN, rows_of(OUTER, INNER)))
    assert honest.chosen == ("cart", "bagging@0.2", "bagging")
    assert honest.scores["error"].tolist() == [0.3, 0.3, 0.1]
    assert honest.mean("error") == pytest.approx(0.7 / 3)


def test_the_choice_on_inner_folds_does_not_see_outer_scores():
    generator = np.random.default_rng(0)
    chosen = honest_choice(Evidence.of(PLAN, rows_of(OUTER, INNER))).chosen
    for _ in range(20):
        other = [dict(zip(unit, generator.random(4), strict=True)) for unit in OUTER]
        assert honest_choice(Evidence.of(PLAN, rows_of(other, INNER))).chosen == chosen


def test_candidates_come_by_their_mean_with_ranks_and_tests():
    outer, inner = [*OUTER, errors(0.5, 0.25, 0.2, 0.15)], [*INNER, INNER[0]]
    candidates = rank_candidates(Evidence.of(PLAN, rows_of(outer, inner)))
    assert [c.name for c in candidates] == ["bagging@0.2", "bagging", "cart", "baseline"]
    assert candidates[0].title == "bagging, pruned to 20%"
    ranks = {c.name: c.rank for c in candidates}
    assert ranks == {
        "bagging@0.2": 1.5,
        "bagging": 2.0,
        "cart": 2.5,
        "baseline": 4.0,
    }
    best, baseline = candidates[0], candidates[-1]
    assert best.p_versus_best is None
    test = corrected_resampled_t_test([0.5] * 4, [0.1, 0.3, 0.2, 0.15], n_train=80, n_test=20)
    assert baseline.p_versus_best == pytest.approx(test.p_value)
    assert best.fit_seconds == 0.75  # with ordering
    assert candidates[1].fit_seconds == 0.5
    assert best.predict_seconds == 0.01


def test_folds_that_differ_by_almost_the_same_few_rows_are_no_proof():
    # 5, 5, 6, 6, 6 errors of 20 against 6, 6, 7, 7, 8: a t test sees hardly any spread.
    ours, theirs = [5, 5, 6, 6, 6], [6, 6, 7, 7, 8]
    found = []
    for unit, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        for method, wrong in [("baseline", 10), ("cart", b), ("bagging", a)]:
            names = [method] + (["bagging@0.2"] if method == "bagging" else [])
            found += [
                row(unit, part, method, dict.fromkeys(names, wrong / 20), nodes=10)
                for part in (None, 0, 1, 2)
            ]
    evidence = Evidence.of(PLAN, found)
    cart = next(c for c in rank_candidates(evidence) if c.name == "cart")
    plain = corrected_resampled_t_test(
        np.array(theirs) / 20, np.array(ours) / 20, n_train=80, n_test=20
    )
    assert plain.p_value < 0.02
    assert cart.p_versus_best == pytest.approx(2 * 0.5**6)


def test_folds_that_are_not_complete_do_not_count():
    rows = rows_of(OUTER, INNER)
    without = [r for r in rows if r.key != RunKey(1, 2, "cart").key]
    assert Evidence.of(PLAN, without).units == (0, 2)
    assert Evidence.of(PLAN, rows).units == (0, 1, 2)


def test_the_order_of_the_rows_does_not_matter():
    rows = rows_of(OUTER, INNER)
    shuffled = [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]
    one, other = (rank_candidates(Evidence.of(PLAN, r)) for r in (rows, shuffled))
    assert [c.name for c in one] == [c.name for c in other]
    assert all(
        np.array_equal(a.scores["error"], b.scores["error"])
        for a, b in zip(one, other, strict=True)
    )


def test_a_candidate_that_failed_somewhere_comes_last_and_is_not_chosen():
    rows = rows_of(OUTER, INNER)
    failed = RunRow(RunKey(0, None, "bagging").key, {}, 0, {"failed": "ValueError: no"}, 1.0, {})
    rows = [failed if r.key == failed.key else r for r in rows]
    candidates = rank_candidates(Evidence.of(PLAN, rows))
    assert [c.name for c in candidates][:2] == ["cart", "baseline"]
    bagging = next(c for c in candidates if c.name == "bagging")
    assert math.isnan(bagging.mean("error"))
    assert math.isnan(bagging.interval[0])
    means = {c.name: c.mean("error") for c in candidates}
    assert best_of(means, {}) == "cart"


def test_the_best_is_the_lowest_then_the_smallest_and_the_baseline_only_alone():
    assert best_of({"a": 0.2, "b": 0.1}, {}) == "b"
    assert best_of({"a": 0.1, "b": 0.1}, {"a": 50.0, "b": 5.0}) == "b"
    assert best_of({"a": 0.1, "b": 0.1}, {"a": math.nan, "b": 5.0}) == "b"
    assert best_of({"baseline": 0.1, "a": 0.4}, {}) == "a"
    assert best_of({"baseline": 0.1, "a": math.nan}, {}) == "baseline"
    assert best_of({"baseline": math.nan}, {}) is None


def test_the_interval_is_the_corrected_one():
    scores = np.array([0.2, 0.25, 0.22, 0.3])
    half = 3.182446305284263 * math.sqrt(scores.var(ddof=1) * (1 / 4 + 20 / 80))
    low, high = interval(scores, 20 / 80)
    assert (low, high) == (pytest.approx(scores.mean() - half), pytest.approx(scores.mean() + half))
    assert math.isnan(interval(scores[:1], 20 / 80)[0])


def test_an_interval_of_errors_is_not_narrower_than_that_of_as_many_answers():
    low, high = interval(np.zeros(5), 1 / 4, n_tested=100)
    assert low == 0.0
    assert high == pytest.approx(1 - 0.025**0.01)  # Clopper and Pearson: no error in 100
    scores = np.array([0.1, 0.3, 0.2, 0.4])
    low, high = interval(scores, 1 / 4)
    assert low < 0  # of any measure; errors are not below 0
    assert interval(scores, 1 / 4, n_tested=4000) == (0.0, high)
    scores = np.array([0.4, 0.5, 0.45, 0.42])
    assert interval(scores, 1 / 4, n_tested=4000) == interval(scores, 1 / 4)
    assert math.isnan(interval(np.full(5, 0.25), 1 / 4)[0])  # a loss without any spread


def test_few_folds_have_the_exact_interval_of_errors_and_no_other():
    low, high = interval(np.array([0.1, 0.3]), 1 / 4, n_tested=200)
    assert (low, high) == (pytest.approx(0.1469, abs=1e-4), pytest.approx(0.2622, abs=1e-4))
    assert math.isnan(interval(np.array([0.1, 0.3, 0.2]), 1 / 4)[0])


def test_differences_without_spread_and_few_folds_have_no_p_value():
    apart = [errors(0.5, 0.3, 0.2, 0.1)] * 4
    candidates = rank_candidates(Evidence.of(PLAN, rows_of(apart, [INNER[0]] * 4)))
    assert [c.p_versus_best is None for c in candidates] == [True, False, False, False]
    assert all(math.isnan(c.p_versus_best) for c in candidates[1:])
    few = rank_candidates(Evidence.of(PLAN, rows_of(OUTER, INNER)))
    assert all(c.p_versus_best is None or math.isnan(c.p_versus_best) for c in few)


def test_equal_candidates_come_with_the_chosen_one_first_and_a_p_value_of_one():
    alike = [errors(0.5, 0.2, 0.2, 0.2)] * 4
    rows = rows_of(alike, [INNER[0]] * 4)
    for r in rows:
        for name, size in r.result["sizes"].items():
            size["nodes"] = {"cart": 5, "bagging": 500, "bagging@0.2": 100}.get(name)
    candidates = rank_candidates(Evidence.of(PLAN, rows))
    assert [c.name for c in candidates] == ["cart", "bagging@0.2", "bagging", "baseline"]
    assert [c.p_versus_best for c in candidates[:3]] == [None, 1.0, 1.0]


def test_outer_folds_without_a_choice_are_left_out_of_the_honest_figure():
    rows = rows_of(OUTER, INNER)
    failed = [
        RunRow(r.key, {}, 0, {"failed": "ValueError: no"}, 1.0, {})
        if RunKey.read(r.key).unit == 1 and RunKey.read(r.key).inner is not None
        else r
        for r in rows
    ]
    honest = honest_choice(Evidence.of(PLAN, failed))
    assert honest.chosen == ("cart", "bagging")
    assert honest.scores["error"].tolist() == [0.3, 0.1]


def test_only_the_folds_that_count_are_looked_at():
    found = Evidence.of(PLAN, rows_of(OUTER, INNER), most=2)
    assert found.units == (0, 1)
    assert {unit for unit, _ in found.outer} == {0, 1}


def test_confusions_are_added_up_over_the_folds():
    rows = rows_of(OUTER, INNER)
    for r in rows:
        if RunKey.read(r.key).inner is None:
            r.result["confusion"] = {name: [[0, 1, 2], [1, 1, 5]] for name in r.result["scores"]}
    best = rank_candidates(Evidence.of(PLAN, rows, n_classes=3))[0]
    assert best.confusion.tolist() == [[0, 6, 0], [0, 15, 0], [0, 0, 0]]


def test_curves_are_averaged_where_all_have_a_value():
    rows = rows_of(OUTER, INNER)
    curves = [[0.4, 0.2, 0.3], [0.2, 0.4], [0.3, 0.3, 0.3]]
    for unit, curve in enumerate(curves):
        key = RunKey(unit, None, "bagging").key
        place = [r.key for r in rows].index(key)
        rows[place].result["curves"] = {"random": curve, "ordered": curve[::-1]}
    (found,) = mean_curves(Evidence.of(PLAN, rows))
    assert found.method == "bagging"
    assert found.sizes.tolist() == [1, 2]
    assert found.random == pytest.approx([0.3, 0.3])


def test_no_p_value_is_less_than_that_of_a_sign_test_of_the_rows_apart():
    from orfeon.workbench.experiment.choice import at_least_sign_test

    assert at_least_sign_test(1e-9, 5) == 2 * 0.5**5
    assert at_least_sign_test(0.5, 5) == 0.5
    assert at_least_sign_test(1e-9, 0.3) == 1.0
