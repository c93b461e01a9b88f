"""Cost-complexity and reduced-error pruning, and the choice by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.oracles import nested
from tests.shared import assert_same_forest, cases

from orfeon import BaggingClassifier, CARTClassifier, CARTRegressor
from orfeon.data.presorted import Table
from orfeon.datasets import make_waveform
from orfeon.forest import Forest
from orfeon.forest.pruning import (
    cut_at,
    node_errors,
    node_impurities,
    prune_reduced_error,
    prune_to_alpha,
    pruning_path,
)
from orfeon.growth import Growth, grow_forest, grow_pruned_forest
from orfeon.utils.seeding import tree_seeds


def path_of(forest: Forest, x: Any) -> list[tuple[int, float]]:
    """The tests on the way of a row, the leaf left out."""
    nodes = forest.decision_path(x[None]).indices
    return [(int(forest.feature[n]), float(forest.threshold[n])) for n in sorted(nodes)][:-1]


@pytest.fixture(scope="module")
def grown(waveform: Any) -> Forest:
    X, y = waveform
    return CARTClassifier(random_state=0).fit(X, y).forest_


# -- the nested family -----------------------------------------------------------------------------


@pytest.mark.parametrize("risk", ["error", "gini", "entropy", "variance"])
def test_the_family_is_nested_and_its_figures_are_those_of_its_trees(risk, waveform, friedman):
    X, y = friedman if risk == "variance" else waveform
    model = CARTRegressor if risk == "variance" else CARTClassifier
    forest = model(random_state=0).fit(X[:150], y[:150]).forest_
    path = pruning_path(forest, 0, risk)
    assert path.alphas[0] == 0
    assert (np.diff(path.alphas) > 0).all()
    assert (np.diff(path.n_leaves) < 0).all()
    assert path.n_leaves[-1] == 1
    kept = set(range(len(forest.nodes)))
    for alpha, leaves, share in zip(path.alphas, path.n_leaves, path.risks, strict=True):
        tree = prune_to_alpha(forest, alpha, risk).validate()
        assert tree.n_leaves[0] == leaves
        cost = (
            node_errors(tree) if risk == "error" else node_impurities(tree, risk) * tree.weights()
        )
        leaf_cost = cost[tree.is_leaf].sum() / tree.weights()[0]
        assert leaf_cost == pytest.approx(share, abs=1e-12)
        # Each tree is what is left of the one before it: its nodes are among those.
        reached = set(np.flatnonzero(tree_nodes(forest, path, alpha)))
        assert reached <= kept
        assert len(reached) == len(tree.nodes)
        kept = reached
        # What is left routes as before, only shorter.
        for row in range(0, 150, 30):
            short, long = path_of(tree, X[row]), path_of(forest, X[row])
            assert short == long[: len(short)]


def tree_nodes(forest: Forest, path: Any, alpha: float) -> Any:
    """Nodes that are left at a price: those without a cut ancestor."""
    cut = path.node_alpha <= alpha
    keep = np.ones(len(forest.nodes), dtype=bool)
    parent = forest.parents()
    for node in range(1, len(forest.nodes)):
        keep[node] = keep[parent[node]] and not cut[parent[node]]
    return keep


def test_between_breakpoints_nothing_changes_and_beyond_the_last_is_the_root(grown):
    path = pruning_path(grown)
    for k in range(len(path.alphas) - 1):
        middle = (path.alphas[k] + path.alphas[k + 1]) / 2
        assert prune_to_alpha(grown, middle).n_leaves[0] == path.n_leaves[k]
    assert prune_to_alpha(grown, 2.0 * path.alphas[-1]).n_leaves[0] == 1
    assert_same_forest(prune_to_alpha(grown, 0.0), prune_to_alpha(grown, 0.5 * path.alphas[1]))


def test_an_estimator_pruned_at_an_alpha_is_the_tree_of_the_path(waveform):
    X, y = waveform
    path = CARTClassifier(random_state=0).cost_complexity_pruning_path(X, y)
    for k in (0, len(path.alphas) // 2, len(path.alphas) - 1):
        tree = CARTClassifier(pruning=float(path.alphas[k]), random_state=0).fit(X, y)
        assert tree.get_n_leaves() == path.n_leaves[k]
        assert 1 - tree.score(X, y) == pytest.approx(path.risks[k], abs=1e-12)


def test_a_forest_is_pruned_tree_by_tree():
    X, y = make_waveform(120, random_state=3)
    seeds = tree_seeds(np.random.SeedSequence(4), 5)
    weights = np.random.default_rng(5).poisson(1, (5, 120))
    forest = grow_forest(Table(X), y, n_classes=3, seeds=seeds, weights=weights)
    together = prune_to_alpha(forest, 0.02).validate()
    for t in range(5):
        alone = prune_to_alpha(forest.subset([t]), 0.02)
        assert_same_forest(together.subset([t]), alone)
        assert pruning_path(forest, t).n_leaves[0] <= forest.n_leaves[t]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_alphas_and_risks_are_those_of_scikit_learn(task, weighted):
    """On data without ties, where both grow the same tree."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 2)).astype(np.float32).astype(np.float64)
    weights = rng.uniform(0.5, 2.0, 60) if weighted else None
    if task == "classification":
        y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
        ours, theirs, risk = CARTClassifier(), DecisionTreeClassifier(), "gini"
    else:
        y = X[:, 0] ** 2 + rng.normal(size=60)
        ours, theirs, risk = CARTRegressor(), DecisionTreeRegressor(), "variance"
    for max_depth in (2, 4):
        ours.set_params(max_depth=max_depth, random_state=0)
        theirs.set_params(max_depth=max_depth, random_state=0)
        path = ours.cost_complexity_pruning_path(X, y, weights, risk=risk)
        expected = theirs.cost_complexity_pruning_path(X, y, weights)
        np.testing.assert_allclose(path.alphas, expected.ccp_alphas, atol=1e-12)
        np.testing.assert_allclose(path.risks, expected.impurities, atol=1e-12)


# -- cutting ---------------------------------------------------------------------------------------


def test_cutting_nothing_changes_nothing_and_cutting_the_root_leaves_it(grown, waveform):
    X, _ = waveform
    nothing = np.zeros(len(grown.nodes), dtype=bool)
    assert_same_forest(cut_at(grown, nothing), grown)
    root = nothing.copy()
    root[0] = True
    stump = cut_at(grown, root).validate()
    assert stump.n_nodes.tolist() == [1]
    assert set(stump.predict(X)) == {grown.label[0]}
    np.testing.assert_array_equal(stump.value[0], grown.value[0])


def test_a_cut_node_answers_with_its_own_value(grown, waveform):
    X, _ = waveform
    inner = np.flatnonzero(grown.n_children > 0)
    for node in inner[1::5]:
        cut = np.zeros(len(grown.nodes), dtype=bool)
        cut[node] = True
        pruned = cut_at(grown, cut).validate()
        through = grown.decision_path(X)[:, [node]].toarray()[:, 0] == 1
        assert set(pruned.predict(X[through])) == {grown.label[node]}
        np.testing.assert_array_equal(pruned.predict(X[~through]), grown.predict(X[~through]))


# -- reduced error ---------------------------------------------------------------------------------


def test_reduced_error_pruning_by_hand():
    """Six leaves on a line; errors on the second set, by hand.

    The tree has the thresholds 1.5, 2.5, ... in some order over labels 0 1 0 1 0 1. The pruning
    set has only zeros below 2.5 and ones above, so what is left is that one test.
    """
    X = np.arange(6.0)[:, None]
    forest = CARTClassifier(random_state=0).fit(X, [0, 0, 0, 1, 0, 1]).forest_
    root = nested(forest)
    assert (root.threshold, [c.label for c in root.children]) == (2.5, [0, 1])
    assert [leaf.label for leaf in root.leaves()] == [0, 1, 0, 1]
    # One sample on the leaf "4 -> 0" that is a 1: the leaves err once, their ancestor never.
    pruned = prune_reduced_error(
        forest, np.array([[0.0], [3.0], [4.0], [5.0]]), np.array([0, 1, 1, 1])
    )
    assert pruned.n_leaves.tolist() == [2]
    assert pruned.threshold[0] == 2.5
    # It is a 0: every test earns its keep.
    whole = prune_reduced_error(
        forest, np.array([[0.0], [3.0], [4.0], [5.0]]), np.array([0, 1, 0, 1])
    )
    assert whole.n_leaves.tolist() == [4]
    # Only zeros: the root errs as little as its leaves, and a tie is cut.
    assert prune_reduced_error(forest, X[:3], np.zeros(3, int)).n_leaves.tolist() == [1]
    # Nobody came: all errors are zero, a tie everywhere.
    assert prune_reduced_error(forest, X[:0], np.zeros(0, int)).n_leaves.tolist() == [1]


def errors_below(forest: Forest, node: int, rows: Any, X: Any, y: Any, w: Any) -> tuple[float, int]:
    """Errors and leaves of a subtree after pruning, by the recursion itself."""
    own = float(w[rows][y[rows] != forest.label[node]].sum())
    if forest.n_children[node] == 0:
        return own, 1
    left = X[rows, forest.feature[node]] <= forest.threshold[node]
    child = int(forest.first_child[node])
    parts = [errors_below(forest, child + b, rows[left == (b == 0)], X, y, w) for b in (0, 1)]
    below = sum(error for error, _ in parts)
    return (own, 1) if below >= own - 1e-9 else (below, sum(leaves for _, leaves in parts))


@pytest.mark.parametrize("weighted", [False, True])
def test_reduced_error_pruning_is_the_recursion(weighted, waveform):
    X, y = waveform
    rng = np.random.default_rng(7)
    sizes = []
    for seed in range(10):
        grow, test = np.split(rng.permutation(300), 2)
        forest = CARTClassifier(random_state=seed).fit(X[grow], y[grow]).forest_
        weights = rng.uniform(0, 3, 150) if weighted else np.ones(150)
        pruned = prune_reduced_error(forest, X[test], y[test], weights).validate()
        error, leaves = errors_below(forest, 0, np.arange(150), X[test], y[test], weights)
        assert pruned.n_leaves[0] == leaves
        wrong = pruned.predict(X[test]) != y[test]
        assert weights[wrong].sum() == pytest.approx(error)
        sizes.append(leaves)
    assert min(sizes) > 2
    assert np.mean(sizes) < 40


def test_reduced_error_pruning_refuses_what_it_cannot_judge():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 0, 1])
    forest = CARTClassifier().fit(X, y).forest_
    with pytest.raises(ValueError, match=r"X has shape \(6, 2\).*1 features"):
        prune_reduced_error(forest, np.hstack([X, X]), y)
    with pytest.raises(ValueError, match=r"y has the shape \(5,\); X has 6 rows"):
        prune_reduced_error(forest, X, y[:5])
    with pytest.raises(ValueError, match=r"weights has the shape \(1,\)"):
        prune_reduced_error(forest, X, y, np.ones(1))
    with pytest.raises(ValueError, match="regression trees"):
        prune_reduced_error(CARTRegressor().fit(X, y).forest_, X, y)


# -- cross-validation ------------------------------------------------------------------------------


def published_protocol(rule: str) -> tuple[float, float]:
    """Mean leaves and error, in percent, of trees on waveforms of 300 samples each."""
    X_test, y_test = make_waveform(5000, random_state=1000)
    leaves, errors = [], []
    for seed in range(cases(400)):
        X, y = make_waveform(300, random_state=seed)
        tree = CARTClassifier(pruning="cv", pruning_rule=rule, random_state=seed).fit(X, y)
        leaves.append(tree.get_n_leaves())
        errors.append(100 * (1 - tree.score(X_test, y_test)))
    return float(np.mean(leaves)), float(np.mean(errors))


def test_one_standard_error_gives_the_published_trees():
    """Nine leaves and about 30% on waveform-300 (Breiman et al. 1984; Martínez-Muñoz 2006)."""
    leaves, error = published_protocol("1se")
    assert 7.5 < leaves < 10
    assert 29.5 < error < 31.5


def test_the_least_error_gives_larger_trees():
    leaves, error = published_protocol("min")
    assert 14.5 < leaves < 19
    assert 28 < error < 30


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_smaller_rule_is_never_larger(task, waveform, friedman):
    X, y = waveform if task == "classification" else friedman
    model = CARTClassifier if task == "classification" else CARTRegressor
    smaller = 0
    for seed in range(15):
        rows = np.random.default_rng(seed).permutation(len(X))[:100]
        sizes = []
        for rule in ("1se", "min"):
            tree = model(pruning="cv", pruning_rule=rule, random_state=seed)
            tree.fit(X[rows], y[rows])
            chosen = tree.cross_validation_
            assert chosen.n_leaves[chosen.step] == tree.get_n_leaves()
            allowed = chosen.losses[:-1].min()
            best = int(np.argmin(chosen.losses[:-1]))
            if rule == "1se":
                allowed += chosen.standard_errors[best]
            assert chosen.losses[chosen.step] <= allowed + 1e-12
            sizes.append(tree.get_n_leaves())
        assert sizes[0] <= sizes[1]
        smaller += sizes[0] < sizes[1]
    assert smaller > 5


def test_the_standard_error_is_that_of_a_share(waveform):
    X, y = waveform
    chosen = CARTClassifier(pruning="cv", random_state=0).fit(X, y).cross_validation_
    r = chosen.losses
    np.testing.assert_allclose(chosen.standard_errors, np.sqrt(r * (1 - r) / 300), rtol=1e-12)
    assert (r * 300 == np.rint(r * 300)).all() or np.allclose(r * 300, np.rint(r * 300))


def test_the_path_of_the_choice_is_that_of_the_whole_tree(waveform, friedman):
    for model, (X, y) in ((CARTClassifier, waveform), (CARTRegressor, friedman)):
        chosen = model(pruning="cv", random_state=0).fit(X, y).cross_validation_
        path = model(random_state=0).cost_complexity_pruning_path(X, y)
        # Ties between splits are broken by other draws, so the trees may differ a little.
        assert chosen.n_leaves[-1] == path.n_leaves[-1] == 1
        assert chosen.alphas[-1] == pytest.approx(path.alphas[-1], rel=1e-9)


def test_copies_stay_in_one_fold(waveform):
    """Twice the data set is the data set: otherwise trees are tested on what they have seen."""
    X, y = waveform
    for seed in range(5):
        tree = CARTClassifier(pruning="cv", pruning_rule="min", random_state=seed)
        one = tree.fit(X, y).forest_
        two = tree.fit(np.vstack([X, X]), np.hstack([y, y])).forest_
        weighted = tree.fit(X, y, sample_weight=np.full(300, 2)).forest_
        assert_same_forest(two, weighted)
        np.testing.assert_array_equal(two.nodes, one.nodes)
        np.testing.assert_array_equal(two.value, 2 * one.value)


def test_copies_in_different_folds_would_hardly_be_pruned(waveform):
    """The trap that copies together avoid, shown by telling the copies apart."""
    X, y = make_waveform(300, random_state=8)
    rows = np.random.default_rng(9).integers(0, 300, 300)
    table, seeds = Table(X[rows]), tree_seeds(np.random.SeedSequence(10), 10)
    together, apart = (
        grow_pruned_forest(table, X[rows], y[rows], n_classes=3, seeds=seeds, groups=groups)[0]
        for groups in (None, np.arange(300))
    )
    assert together.n_leaves.mean() < 12
    assert apart.n_leaves.mean() > 2 * together.n_leaves.mean()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_keep_a_split_keeps_one(task):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(60, 3))
    y = rng.integers(2, size=60) if task == "classification" else rng.normal(size=60)
    model = CARTClassifier if task == "classification" else CARTRegressor
    roots = 0
    for seed in range(10):
        kept = model(pruning="cv", random_state=seed).fit(X, y)
        free = model(pruning="cv", keep_a_split=False, random_state=seed).fit(X, y)
        assert kept.get_n_leaves() >= 2
        assert free.get_n_leaves() <= kept.get_n_leaves()
        roots += free.get_n_leaves() == 1
    assert roots >= 3


def test_few_samples_make_fewer_folds():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 1, 1])
    for n_folds in (2, 10):
        tree = CARTClassifier(pruning="cv", n_folds=n_folds).fit(X, y)
        np.testing.assert_array_equal(tree.predict(X), y)
    alone = CARTClassifier(pruning="cv").fit([[1.0]], ["a"])
    assert alone.predict([[5.0]]).tolist() == ["a"]


def test_limits_hold_in_pruned_growth(waveform):
    X, y = waveform
    seeds = tree_seeds(np.random.SeedSequence(12), 6)
    forest, _ = grow_pruned_forest(
        Table(X), X, y, n_classes=3, seeds=seeds, growth=Growth(max_depth=3, min_samples_leaf=10)
    )
    assert forest.depth.max() <= 3
    assert forest.weights()[forest.is_leaf].min() >= 10


def left_out_losses(X: Any, y: Any, prices: Any) -> list[float]:
    """Errors of trees grown without one sample each, pruned at each price, on that sample."""
    errors = np.zeros(len(prices))
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        tree = CARTClassifier(ties="first").fit(X[others], y[others])
        for k, price in enumerate(prices):
            pruned = prune_to_alpha(tree.forest_, price)
            errors[k] += tree.classes_[pruned.predict(X[i : i + 1])[0]] != y[i]
    return list(errors / len(y))


def test_cross_validated_losses_are_those_of_trees_pruned_between_two_breakpoints():
    """With "path" the last tree with a split has no next breakpoint, so its own is the price."""
    rng = np.random.default_rng(21)
    others = choices = 0
    for seed in range(8):
        X = rng.normal(size=(30, 3))
        y = (X[:, 0] + rng.normal(size=30) > 0).astype(int)
        given = {"pruning": "cv", "n_folds": 30, "ties": "first", "random_state": seed}
        plain = CARTClassifier(**given).fit(X, y)
        ended = CARTClassifier(keep_a_split="path", **given).fit(X, y)
        alphas = pruning_path(CARTClassifier(ties="first").fit(X, y).forest_).alphas
        prices = np.sqrt(alphas * np.append(alphas[1:], np.inf))
        prices[0] = 0.0
        last = len(alphas) - 2
        np.testing.assert_allclose(
            plain.cross_validation_.losses, left_out_losses(X, y, prices), atol=1e-12
        )
        prices[last] = alphas[last]
        np.testing.assert_allclose(
            ended.cross_validation_.losses, left_out_losses(X, y, prices), atol=1e-12
        )
        both = (plain.cross_validation_, ended.cross_validation_)
        others += both[0].losses[last] != both[1].losses[last]
        choices += both[0].step != both[1].step
        for found in both:
            allowed = found.losses[:-1].min() + found.standard_errors[found.losses[:-1].argmin()]
            assert found.losses[found.step] <= allowed + 1e-12
            assert (found.losses[found.step + 1 : -1] > allowed).all()
    assert others >= 2
    assert choices >= 1


def test_equal_rows_share_a_fold_unless_they_are_kept_apart(waveform):
    """Two equal rows in different folds: trees are tested on what they have seen."""
    X, y = waveform
    doubled = np.vstack([X, X]), np.hstack([y, y])
    leaves = {
        how: CARTClassifier(pruning="cv", equal_rows=how, random_state=1)
        .fit(*doubled)
        .get_n_leaves()
        for how in ("together", "apart")
    }
    assert leaves["apart"] > 2 * leaves["together"]
    apart = CARTClassifier(pruning="cv", equal_rows="apart", random_state=1)
    forest = apart.fit(*doubled).forest_
    assert_same_forest(apart.fit(X, y, sample_weight=np.full(len(y), 2)).forest_, forest)
    order = np.random.default_rng(3).permutation(2 * len(y))
    assert_same_forest(apart.fit(doubled[0][order], doubled[1][order]).forest_, forest)


def test_copies_in_a_bootstrap_sample_share_a_fold_either_way(waveform):
    X, y = waveform
    leaves = [
        BaggingClassifier(CARTClassifier(pruning="cv", equal_rows=how), 100, random_state=2)
        .fit(X, y)
        .forest_.n_leaves.mean()
        for how in ("together", "apart")
    ]
    assert leaves[1] == pytest.approx(leaves[0], rel=0.2)
    assert leaves[1] < 12
