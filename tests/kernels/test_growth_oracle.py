"""The trees that the engine grows, node by node, against enumeration of every split."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.oracles import Node, frozen, nested
from tests.oracles.growth import Judge, Problem, random_problem
from tests.oracles.splits import all_splits
from tests.shared import cases

from orfeon.growth import Growth

#: Level of the statistical tests; their seeds are fixed, so they do not come and go.
LEVEL = 1e-3
#: No least size: fractional weights count relative to their mean, so that light samples could
#: otherwise not be set apart.
FREE = {"min_samples_leaf": 0, "min_samples_split": 0}

FEATURES = (
    "ordered", "ordered duplicates", "ordered missing", "ordered duplicates missing",
    "categorical", "categorical missing", "mixed duplicates missing",
)  # fmt: skip
CRITERIA = (
    ("gini", 2), ("gini", 3), ("gini", 5), ("entropy", 2), ("entropy", 4), ("error", 2),
    ("error", 4), ("variance", 0),
)  # fmt: skip
WEIGHTS = ("none", "zero", "integer", "heavy", "float")


def problems(*key: Any, n: int, **options: Any) -> Any:
    """Random problems that depend on the key only; a quarter of ``n`` in a usual run."""
    rng = np.random.default_rng([sum(map(ord, str(k))) for k in key])
    for _ in range(cases(n)):
        yield random_problem(rng, **options), rng


@pytest.fixture(params=[64, 2])
def few_values(request, monkeypatch):
    """Features of few values are sorted by counting: with a limit of 2 small tables have both."""
    monkeypatch.setattr("orfeon.data.presorted.FEW_VALUES", request.param)


@pytest.mark.usefixtures("few_values")
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_every_split_is_the_best_one(features, criterion, n_classes, weights):
    growth = Growth(criterion=criterion, **FREE)
    drawn = problems(
        features, criterion, weights, n=4,
        features=features, weights=weights, n_classes=n_classes,
    )  # fmt: skip
    for seed, (problem, _) in enumerate(drawn):
        Judge(problem, growth, problem.grow(growth, seed=seed)).check()


@pytest.mark.usefixtures("few_values")
@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_limits_are_kept_and_nothing_else_stops_growth(criterion, n_classes, weights):
    drawn = problems(
        "limits", criterion, weights, n=16,
        features="mixed duplicates missing", weights=weights, n_classes=n_classes,
    )  # fmt: skip
    for problem, rng in drawn:
        growth = Growth(
            criterion=criterion,
            max_depth=rng.choice([None, 0, 1, 2, 3]),
            min_samples_split=float(rng.integers(2, 7)),
            min_samples_leaf=float(rng.integers(1, 4)),
        )
        Judge(problem, growth, problem.grow(growth)).check()


@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_min_impurity_decrease_weighs_the_decrease_by_the_share_of_the_node(
    criterion, n_classes, weights
):
    drawn = problems(
        "decrease", criterion, weights, n=10,
        features="ordered", weights=weights, n_classes=n_classes,
    )  # fmt: skip
    for problem, rng in drawn:
        growth = Growth(criterion=criterion, min_impurity_decrease=float(rng.uniform(0.01, 0.2)))
        Judge(problem, growth, problem.grow(growth)).check()


@pytest.mark.usefixtures("few_values")
@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_limited_leaves_go_to_the_nodes_of_greatest_weighted_gain(criterion, n_classes, weights):
    drawn = problems(
        "leaves", criterion, weights, n=10,
        features="mixed missing", weights=weights, n_classes=n_classes,
    )  # fmt: skip
    for problem, rng in drawn:
        growth = Growth(criterion=criterion, max_leaf_nodes=int(rng.integers(1, 7)), **FREE)
        Judge(problem, growth, problem.grow(growth)).check_best_first()


@pytest.mark.thorough  # compiles another version of the kernels
@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
def test_large_tables_are_searched_alike(criterion, n_classes, monkeypatch):
    """Beyond 65 535 rows records are wider; the switch is moved down to the size of the tables."""
    monkeypatch.setattr("orfeon.data.presorted.MAX_NARROW_ROWS", 0)
    monkeypatch.setattr("orfeon.data.presorted.FEW_VALUES", 2)
    drawn = problems(
        "wide", criterion, n=10,
        features="mixed duplicates missing", weights="integer", n_classes=n_classes,
    )  # fmt: skip
    for problem, _ in drawn:
        growth = Growth(criterion=criterion)
        Judge(problem, growth, problem.grow(growth)).check()


def test_zero_gain_splits_are_made_while_a_node_is_impure():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    problem = Problem(X, [0, 0], np.array([0, 1, 1, 0]), None, 2)
    forest = problem.grow(Growth())
    assert forest.n_leaves.tolist() == [4]
    assert forest.votes(X)[0].tolist() == [0, 1, 1, 0]


def test_equal_rows_of_different_classes_stay_together():
    problem = Problem(np.zeros((3, 2)), [0, 0], np.array([0, 1, 1]), None, 2)
    forest = problem.grow(Growth())
    assert forest.n_nodes.tolist() == [1]
    assert forest.value.tolist() == [[1.0, 2.0]]
    assert forest.label.tolist() == [1]


@pytest.mark.parametrize(
    ("low", "high", "threshold"),
    [
        (1.0, np.nextafter(1.0, 2.0), 1.0),
        (-1.5e308, 1.5e308, 0.0),
        (1.5e308, 1.7e308, 1.6e308),
        (0.0, 5e-324, 0.0),
        (-3.0, 4.0, 0.5),
    ],
)
def test_thresholds_are_midpoints_even_of_extreme_values(low, high, threshold):
    problem = Problem(np.array([[high], [low]]), [0], np.array([1, 0]), None, 2)
    forest = problem.grow(Growth())
    assert forest.threshold[0] == threshold
    assert forest.votes(problem.X)[0].tolist() == [1, 0]


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_beyond_ten_categories_every_ordering_by_a_class_is_scanned(criterion):
    growth = Growth(criterion=criterion, max_depth=1)
    rng = np.random.default_rng(5)
    for seed in range(cases(3)):
        X = np.append(np.arange(11.0), rng.integers(0, 11, 8))[:, None]
        problem = Problem(X, [11], rng.integers(0, 3, len(X)), None, 3)
        X[rng.random(len(X)) < 0.1] = np.nan
        judge = Judge(problem, growth, problem.grow(growth, seed=seed))
        rows = judge.rows[0]
        splits = judge.valid_splits(rows)
        made = judge.matching(judge.root, splits)
        tried = judge.surely_tried(rows, splits)
        assert float(made.gain) >= max(float(s.gain) for s in tried) - 1e-9
        judge.check_unseen(judge.root)


def ranked_gains(problem: Problem, judge: Judge) -> list[tuple[float, tuple[int, float]]]:
    """Gain of every (feature, boundary) of the root, missing values on their better side."""
    best: dict[tuple[int, float], float] = {}
    for s in all_splits(problem.X, problem.is_categorical, problem.present, judge.samples):
        key = (s.feature, s.threshold)
        best[key] = max(best.get(key, -1.0), float(s.gain))
    return sorted(((gain, key) for key, gain in best.items()), reverse=True)


@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("features", ["ordered duplicates", "ordered missing"])
def test_n_best_takes_one_of_the_best_splits(criterion, n_classes, features):
    drawn = problems(
        "n_best", criterion, features, n=5,
        features=features, weights="float", n_classes=n_classes,
    )  # fmt: skip
    for problem, rng in drawn:
        n_best = int(rng.integers(2, 8))
        growth = Growth(criterion=criterion, n_best=n_best, max_depth=1, **FREE)
        n_trees = cases(20)
        forest = problem.grow(growth, n_trees)
        for tree in range(n_trees):
            judge = Judge(problem, growth, forest, tree)
            if judge.root.is_leaf:
                continue
            ranked = ranked_gains(problem, judge)
            made = judge.matching(judge.root, judge.valid_splits(judge.rows[0]))
            assert float(made.gain) >= ranked[min(n_best, len(ranked)) - 1][0] - 1e-9
            best_here = {key: gain for gain, key in ranked}[made.feature, made.threshold]
            assert float(made.gain) >= best_here - 1e-9, "missing values on their worse side"


@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
def test_n_best_takes_each_of_the_best_splits_equally_often(criterion, n_classes):
    rng = np.random.default_rng(7)
    y = rng.integers(0, n_classes, 40) if n_classes else rng.normal(size=40)
    problem = Problem(rng.normal(size=(40, 3)), [0] * 3, y, rng.exponential(size=40), n_classes)
    growth = Growth(criterion=criterion, n_best=5, max_depth=1, **FREE)
    forest = problem.grow(growth, 2000)
    ranked = ranked_gains(problem, Judge(problem, growth, forest))[:6]
    assert ranked[4][0] > ranked[5][0] + 1e-9
    roots = forest.tree_start[:-1]
    chosen = Counter(
        zip(forest.feature[roots].tolist(), forest.threshold[roots].tolist(), strict=True)
    )
    counts = [chosen.pop(key, 0) for _, key in ranked[:5]]
    assert not chosen
    assert stats.chisquare(counts).pvalue > LEVEL


@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("features", ["ordered duplicates", "mixed missing"])
def test_random_cuts_lie_between_the_extremes_of_their_node(criterion, n_classes, features):
    growth = Growth(criterion=criterion, splitter="random", max_features=1)
    drawn = problems(
        "cuts", criterion, features, n=12,
        features=features, weights="integer", n_classes=n_classes,
    )  # fmt: skip
    for seed, (problem, _) in enumerate(drawn):
        judge = Judge(problem, growth, problem.grow(growth, seed=seed))
        for node in judge.root.walk():
            judge.check_statistics(node)
            rows = judge.rows[node.index]
            if node.is_leaf:
                assert not judge.is_open(node) or not judge.valid_splits(rows)
            else:
                assert judge.is_open(node)
                known = problem.X[rows, node.feature]
                known = known[~np.isnan(known)]
                judge.check_unseen(node)
                if node.branches is None and np.isfinite(node.threshold):
                    assert known.min() < node.threshold < known.max()


def test_random_cuts_are_uniform_between_the_extremes():
    x = np.array([0.0, 0.1, 0.15, 0.2, 0.9, 2.0])
    problem = Problem(x[:, None], [0], np.array([0, 1, 0, 1, 1, 0]), None, 2)
    forest = problem.grow(Growth(splitter="random", max_depth=1), 4000)
    cuts = forest.threshold[forest.tree_start[:-1]]
    assert stats.kstest(cuts, stats.uniform(0.0, 2.0).cdf).pvalue > LEVEL


@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("share_missing", [0.0, 0.15])
def test_an_oblique_split_is_the_best_cut_of_its_combination(criterion, n_classes, share_missing):
    rng = np.random.default_rng(10)
    growth = Growth(criterion=criterion, splitter="oblique", max_features=2, n_combined=2)
    for seed in range(cases(6)):
        X = rng.normal(size=(14, 4))
        X[rng.random(X.shape) < share_missing] = np.nan
        y = rng.integers(0, n_classes, 14) if n_classes else rng.normal(size=14)
        forest = Problem(X, [0] * 4, y, None, n_classes).grow(growth, seed=seed)
        start, feature, weight = forest.projections
        assert (np.diff(start) == 2).all()
        assert (np.abs(weight) < 1).all()
        terms = X[:, feature] * weight
        combined = terms[:, ::2] + terms[:, 1::2]
        nodes = forest.nodes.copy()
        nodes["feature"][forest.n_children > 0] = -1 - forest.feature[forest.n_children > 0]
        problem = Problem(combined, [0] * combined.shape[1], y, None, n_classes)
        plain = replace(forest, nodes=nodes, n_categories=np.zeros(combined.shape[1], np.int64),
                        projections=(np.zeros(1, np.int64), feature[:0], weight[:0]))  # fmt: skip
        judge = Judge(problem, growth, plain)
        for node in judge.root.walk():
            judge.check_statistics(node)
            if node.is_leaf:
                assert share_missing or not judge.is_open(node)
            else:
                splits = judge.valid_splits(judge.rows[node.index])
                best = max(s.gain for s in splits if s.feature == node.feature)
                assert float(judge.matching(node, splits).gain) >= float(best) - 1e-9
                judge.check_unseen(node)


@pytest.mark.parametrize("splitter", ["best", "random"])
def test_one_feature_a_node_is_drawn_evenly_from_those_that_vary(splitter):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 6))
    X[:, [1, 4]] = 7.0
    X[:, 5] = np.round(X[:, 5])
    problem = Problem(X, [0] * 6, rng.integers(0, 2, 30), None, 2)
    forest = problem.grow(Growth(splitter=splitter, max_features=1, max_depth=1), 2000)
    drawn = Counter(forest.feature[forest.tree_start[:-1]].tolist())
    assert sorted(drawn) == [0, 2, 3, 5]
    assert stats.chisquare(list(drawn.values())).pvalue > LEVEL


def test_the_best_of_two_drawn_features_is_used():
    rng = np.random.default_rng(4)
    problem = Problem(rng.normal(size=(30, 4)), [0] * 4, rng.normal(size=30), None, 0)
    growth = Growth(criterion="variance", max_features=2, max_depth=1)
    forest = problem.grow(growth, 2000)
    best: dict[int, float] = {}
    for gain, (feature, _) in ranked_gains(problem, Judge(problem, growth, forest)):
        best[feature] = max(best.get(feature, 0.0), gain)
    order = sorted(best, key=lambda feature: -best[feature])
    drawn = Counter(forest.feature[forest.tree_start[:-1]].tolist())
    assert drawn[order[3]] == 0
    counts = [drawn[feature] for feature in order[:3]]
    assert stats.chisquare(counts, [2000 / 2, 2000 / 3, 2000 / 6]).pvalue > LEVEL


@pytest.mark.parametrize("kind", ["ordered", "few values", "categorical"])
@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
def test_equally_good_features_are_used_equally_often(kind, criterion, n_classes):
    rng = np.random.default_rng(6)
    x = {
        "ordered": rng.normal(size=100),
        "few values": rng.integers(0, 9, 100),
        "categorical": rng.integers(0, 5, 100),
    }[kind]
    X = np.column_stack([x, x, x]).astype(np.float64)
    y = rng.integers(0, n_classes, 100) if n_classes else rng.normal(size=100)
    problem = Problem(X, [5 if kind == "categorical" else 0] * 3, y, None, n_classes)
    forest = problem.grow(Growth(criterion=criterion, max_depth=1), 1500)
    drawn = Counter(forest.feature[forest.tree_start[:-1]].tolist())
    assert stats.chisquare([drawn[j] for j in range(3)]).pvalue > LEVEL


OPTIONS = (
    {}, {"n_best": 4}, {"splitter": "random"}, {"max_features": 1}, {"max_leaf_nodes": 4},
    {"min_samples_leaf": 2, "min_samples_split": 5},
)  # fmt: skip


def assert_same_trees(one: Any, other: Any) -> None:
    """Bit for bit, the sum of squared deviations excepted, which is taken row by row."""
    for name in ("tree_start", "nodes", "n_children", "missing", "label", "value", "branches"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    if one.node_weight is not None:
        np.testing.assert_array_equal(one.node_weight, other.node_weight)
        np.testing.assert_allclose(one.impurity, other.impurity, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_weight_k_is_k_copies_and_weight_zero_is_absence(criterion, n_classes, options):
    growth = Growth(criterion=criterion, **options)
    drawn = problems(
        "copies", criterion, n=8,
        features="mixed missing", weights="integer", n_classes=n_classes,
    )  # fmt: skip
    for problem, _ in drawn:
        copies = problem.rows(np.repeat(np.arange(len(problem.y)), problem.all_weights.astype(int)))
        weighted = problem.grow(growth, 3)
        assert_same_trees(weighted, problem.rows(problem.present).grow(growth, 3))
        assert_same_trees(weighted, replace(copies, weights=None).grow(growth, 3))


@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("weights", ["none", "float"])
@pytest.mark.parametrize("features", ["ordered missing", "categorical missing"])
def test_the_order_of_the_rows_does_not_matter(criterion, n_classes, options, weights, features):
    growth = Growth(criterion=criterion, **options)
    drawn = problems(
        "order", criterion, weights, n=4,
        features=features, weights=weights, n_classes=n_classes,
    )  # fmt: skip
    for problem, rng in drawn:
        shuffled = problem.rows(rng.permutation(len(problem.y)))
        assert_same_trees(problem.grow(growth, 3), shuffled.grow(growth, 3))


@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("factor", [0.1, 1e-9, 1 / 3, 1e12 + 0.5])
def test_equal_fractional_weights_count_as_one_sample_each(criterion, n_classes, factor):
    drawn = problems(
        "equal", criterion, n=8, features="mixed missing", weights="none", n_classes=n_classes
    )
    for problem, rng in drawn:
        growth = Growth(
            criterion=criterion,
            min_samples_leaf=float(rng.integers(1, 4)),
            min_samples_split=float(rng.integers(2, 7)),
        )
        scaled = replace(problem, weights=np.full(len(problem.y), factor))
        Judge(scaled, growth, scaled.grow(growth)).check()


@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("factor", [2.0**-60, 2.0**40])
def test_the_unit_of_fractional_weights_does_not_matter(criterion, n_classes, factor):
    drawn = problems(
        "unit", criterion, n=6, features="mixed missing", weights="float", n_classes=n_classes
    )
    for problem, _ in drawn:
        problem.all_weights[0] = 0.75
        scaled = replace(problem, weights=problem.all_weights * factor)
        growth = Growth(criterion=criterion)
        ours, theirs = problem.grow(growth, 3), scaled.grow(growth, 3)
        np.testing.assert_array_equal(ours.nodes, theirs.nodes)
        np.testing.assert_array_equal(ours.value * (factor if n_classes else 1.0), theirs.value)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weight", [None, 1 / 7, 0.1])
def test_equally_good_splits_of_different_make_are_used_equally_often(criterion, n_classes, weight):
    """The first feature sets three of one class apart at its beginning, the others at the end."""
    y = np.array([0, 0, 0, 1, 0, 1, 1])
    X = np.array([np.arange(7), [5, 6, 4, 3, 2, 1, 0], [6, 4, 5, 0, 1, 3, 2]], np.float64).T
    weights = None if weight is None else np.full(7, weight)
    problem = Problem(X, [0] * 3, y, weights, n_classes)
    growth = Growth(criterion=criterion, max_depth=1)
    forest = problem.grow(growth, 900)
    ranked = ranked_gains(problem, Judge(problem, growth, forest))
    tied = {key[0] for gain, key in ranked if gain > ranked[0][0] - 1e-12}
    assert len(tied) == 3
    drawn = Counter(forest.feature[forest.tree_start[:-1]].tolist())
    assert stats.chisquare([drawn[j] for j in range(3)]).pvalue > LEVEL


def test_labels_and_weights_may_differ_from_tree_to_tree():
    rng = np.random.default_rng(8)
    n_trees, problem = 4, random_problem(rng, "mixed missing", "none", 3, n_rows=40)
    y = rng.integers(0, 3, (n_trees, len(problem.y)))
    weights = rng.integers(0, 3, y.shape).astype(np.float64)
    weights[:, 0] = 1.0
    together = replace(problem, y=y, weights=weights).grow(Growth(), n_trees)
    for t in range(n_trees):
        alone = replace(problem, y=y[t], weights=weights[t])
        Judge(alone, Growth(), together, t).check()
        assert frozen(nested(together, t)) == frozen(nested(alone.grow(Growth(), n_trees), t))


def test_a_tree_does_not_depend_on_the_weights_of_the_others():
    rng = np.random.default_rng(11)
    weights = np.array([rng.integers(1, 4, 40).astype(np.float64), rng.exponential(size=40)])
    problem = Problem(rng.normal(size=(40, 2)), [0, 0], rng.integers(0, 2, 40), weights, 2)
    growth = Growth(min_samples_leaf=4)
    together = problem.grow(growth, 2)
    for t in range(2):
        alone = replace(problem, weights=weights[t])
        Judge(alone, growth, together, t).check()


@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("weights", ["none", "integer", "float"])
def test_the_trees_do_not_depend_on_the_number_of_threads(criterion, n_classes, weights):
    rng = np.random.default_rng(12)
    y = rng.integers(0, n_classes, (70, 50)) if n_classes else rng.normal(size=(70, 50))
    table = {
        "none": None, "integer": rng.integers(1, 4, (70, 50)),
        "float": rng.exponential(size=(70, 50)) * 10.0 ** rng.integers(-3, 3, (70, 1)),
    }[weights]  # fmt: skip
    X = np.column_stack([rng.normal(size=(50, 2)), rng.integers(0, 5, 50)])
    X[rng.random(X.shape) < 0.1] = np.nan
    problem = Problem(X, [0, 0, 5], y, table, n_classes)
    growth = Growth(criterion=criterion, max_features=2, **FREE)
    one = problem.grow(growth, 70, n_jobs=1)
    for n_jobs in (2, 3):
        many = problem.grow(growth, 70, n_jobs=n_jobs)
        assert_same_trees(one, many)
        np.testing.assert_array_equal(one.impurity, many.impurity)


def assert_same_as_scikit_learn(node: Node, tree: Any, at: int, n_classes: int) -> None:
    """Same tests, same leaves; scikit-learn keeps class shares where we keep class weights."""
    left, right = int(tree.children_left[at]), int(tree.children_right[at])
    assert node.is_leaf == (left < 0)
    value = node.value / node.value.sum() if n_classes else node.value
    np.testing.assert_allclose(value, tree.value[at, 0], rtol=1e-11, atol=1e-13)
    if not node.is_leaf:
        assert node.feature == tree.feature[at]
        assert node.threshold == pytest.approx(tree.threshold[at], rel=1e-14)
        for child, other in zip(node.children, (left, right), strict=True):
            assert_same_as_scikit_learn(child, tree, other, n_classes)


@pytest.mark.parametrize(("criterion", "n_classes"), [c for c in CRITERIA if c[0] != "error"])
@pytest.mark.parametrize("n_features", [1, 5])
def test_untied_trees_are_those_of_scikit_learn(criterion, n_classes, n_features):
    """One feature and random weights leave no ties; with several, leaves must not be small.

    The weights are such that scikit-learn sums them exactly; else it splits pure nodes.
    """
    rng = np.random.default_rng(9)
    n, share = 200, 0.0 if n_features == 1 else 0.06
    X = rng.normal(size=(n, n_features)).astype(np.float32).astype(np.float64)
    y = rng.integers(0, n_classes, n) if n_classes else rng.normal(size=n) + X[:, 0]
    weights = rng.integers(1 << 9, 1 << 11, n) / 1024
    problem = Problem(X, [0] * n_features, y, weights, n_classes)
    options = {"min_weight_fraction_leaf": share, "random_state": 0}
    if n_classes:
        theirs = DecisionTreeClassifier(criterion=criterion, **options)
    else:
        theirs = DecisionTreeRegressor(**options)
    theirs.fit(X, y, sample_weight=problem.weights)
    growth = Growth(criterion=criterion, min_samples_leaf=share * n, min_samples_split=0)
    ours = nested(problem.grow(growth))
    assert len(ours.leaves()) == theirs.get_n_leaves() > 8
    assert_same_as_scikit_learn(ours, theirs.tree_, 0, n_classes)
