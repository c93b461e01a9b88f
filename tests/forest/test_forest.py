"""Forests of every kind of test against a router that can be checked by reading."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.oracles.routing import KINDS, leaves_of, random_forest, random_rows, says
from tests.shared import assert_same_forest, differences

from orfeon import CARTClassifier
from orfeon.forest import NODE, Forest
from orfeon.kernels.routing.route import ALL_BRANCHES

# -- prediction ------------------------------------------------------------------------------------


@pytest.mark.parametrize("share_missing", [0.0, 0.2])
@pytest.mark.parametrize("n_rows", [1, 8, 9, 67])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [0, 2, 7])
def test_every_prediction_is_that_of_the_slow_router(kind, n_rows, share_missing, n_classes):
    forest = random_forest(n_rows, kind, n_classes=n_classes).validate()
    X = random_rows(forest, n_rows, 1, share_missing)
    reached = [[leaves_of(forest, t, x) for t in range(len(forest))] for x in X]
    leaves = np.array([[next(iter(r)) for r in row] for row in reached])
    np.testing.assert_array_equal(forest.apply(X), leaves)
    at = leaves + forest.tree_start[:-1]
    supports = [[says(forest, t, r) for t, r in enumerate(row)] for row in reached]
    supports = np.array(supports).transpose(1, 0, 2)
    np.testing.assert_allclose(forest.supports(X), supports, rtol=1e-14)
    np.testing.assert_allclose(forest.mean_supports(X), supports.mean(axis=0), rtol=1e-13)
    np.testing.assert_array_equal(forest.predict_proba(X), forest.mean_supports(X))
    if n_classes == 0:
        np.testing.assert_allclose(forest.predict(X), supports.mean(axis=0)[:, 0], rtol=1e-13)
        return
    votes = forest.label[at].T
    np.testing.assert_array_equal(forest.votes(X), votes)
    counts = np.array([np.bincount(v, minlength=n_classes) for v in votes.T])
    np.testing.assert_array_equal(forest.count_votes(X), counts)
    np.testing.assert_array_equal(forest.predict(X), counts.argmax(axis=1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [0, 3])
def test_missing_values_down_every_branch(kind, n_classes):
    forest = random_forest(3, kind, n_classes=n_classes, fractional=True).validate()
    X = random_rows(forest, 40, 2, share_missing=0.3)
    X[:10] = random_rows(forest, 10, 3)
    reached = [[leaves_of(forest, t, x) for t in range(len(forest))] for x in X]
    assert max(len(r) for row in reached for r in row) > 5
    supports = np.array([[says(forest, t, row[t]) for row in reached] for t in range(len(forest))])
    np.testing.assert_allclose(forest.supports(X), supports, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        forest.mean_supports(X), supports.mean(axis=0), rtol=1e-12, atol=1e-15
    )
    heaviest = [
        [next(iter(leaves_of(forest, t, x, heaviest=True))) for t in range(len(forest))] for x in X
    ]
    np.testing.assert_array_equal(forest.apply(X), heaviest)
    if n_classes == 0:
        return
    votes = forest.votes(X)
    for t, row in np.ndindex(votes.shape):
        if len(reached[row][t]) == 1:
            assert votes[t, row] == forest.label[forest.tree_start[t] + heaviest[row][t]]
        else:
            assert supports[t, row, votes[t, row]] >= supports[t, row].max() - 1e-12
    counts = np.array([np.bincount(v, minlength=n_classes) for v in votes.T])
    np.testing.assert_array_equal(forest.count_votes(X), counts)


@pytest.mark.parametrize("share_missing", [0.0, 0.3])
@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 7])
def test_weighted_votes_are_added_tree_after_tree(kind, n_classes, fractional, share_missing):
    """In the order of the trees, so that the sums are the same to the last bit."""
    forest = random_forest(5, kind, n_trees=40, n_classes=n_classes, fractional=fractional)
    weights = np.random.default_rng(6).exponential(size=40)
    weights[::7] = 0.0
    for n_rows in (1, 40):
        X = random_rows(forest, n_rows, 7, share_missing)
        sums = np.zeros((n_rows, n_classes))
        for votes, weight in zip(forest.votes(X), weights, strict=True):
            for row, vote in enumerate(votes):
                sums[row, vote] += weight
        np.testing.assert_array_equal(forest.weigh_votes(X, weights), sums)
        ones = forest.weigh_votes(X, np.ones(40))
        np.testing.assert_array_equal(ones, forest.count_votes(X))
    X.setflags(write=False)
    weights.setflags(write=False)
    np.testing.assert_array_equal(forest.weigh_votes(X, weights), sums)
    np.testing.assert_array_equal(forest.weigh_votes(np.asfortranarray(X), weights), sums)


@pytest.mark.parametrize("kind", KINDS)
def test_votes_need_a_weight_each(kind):
    forest = random_forest(5, kind, n_trees=4)
    X = random_rows(forest, 9, 7)
    for n_weights in (3, 5):
        with pytest.raises(ValueError, match="there are 4 trees, one weight each"):
            forest.weigh_votes(X, np.ones(n_weights))


def test_long_tables_are_predicted_alike_in_parts():
    for kind in KINDS:
        forest = random_forest(4, kind)
        X = random_rows(forest, 2100, 5)
        weigh = partial(forest.weigh_votes, weights=np.sqrt(np.arange(1.0, len(forest) + 1)))
        ways = (forest.apply, forest.mean_supports, forest.count_votes, forest.predict, weigh)
        for method in ways:
            parts = [method(X[:1000]), method(X[1000:1001]), method(X[1001:])]
            np.testing.assert_array_equal(method(X), np.concatenate(parts))


def test_a_tied_vote_takes_the_first_class():
    one = CARTClassifier().fit([[0.0], [1.0]], ["a", "b"]).forest_
    other = CARTClassifier().fit([[0.0], [1.0]], ["b", "a"]).forest_
    both = Forest.concatenate([one, other])
    assert both.count_votes(np.array([[0.0]])).tolist() == [[1, 1]]
    assert both.predict(np.array([[0.0], [1.0]])).tolist() == [0, 0]


@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_paths_lead_from_the_root_to_the_leaf(kind, fractional):
    forest = random_forest(6, kind, fractional=fractional)
    X = random_rows(forest, 20, 7, share_missing=0.2 if fractional else 0.0)
    path = forest.decision_path(X).toarray()
    assert path.shape == (20, len(forest.nodes))
    leaves = forest.apply(X)
    parent = forest.parents()
    for row in range(20):
        expected = set()
        for t in range(len(forest)):
            at = int(forest.tree_start[t] + leaves[row, t])
            while at >= 0:
                expected.add(at)
                at = int(parent[at])
        assert set(np.flatnonzero(path[row])) == expected
    assert set(np.unique(path)) == {0, 1}


# -- shape -----------------------------------------------------------------------------------------


def test_sizes_are_those_counted_by_walking():
    forest = random_forest(8, n_trees=12)
    parent = np.full(len(forest.nodes), -1)
    depth = np.zeros(len(forest.nodes), int)
    for t in range(len(forest)):
        start, end = forest.tree_start[t : t + 2]
        for at in range(start, end):
            for b in range(forest.n_children[at]):
                child = start + forest.first_child[at] + b
                parent[child], depth[child] = at, depth[at] + 1
        assert forest.n_nodes[t] == end - start
        assert forest.n_leaves[t] == sum(forest.n_children[start:end] == 0)
        assert forest.depth[t] == depth[start:end].max()
    np.testing.assert_array_equal(forest.parents(), parent)
    np.testing.assert_array_equal(forest.node_depth, depth)
    assert len(forest) == 12
    assert forest.n_features == 5
    n = len(forest.nodes)
    small = 13 * 8 + 5 * 8 + 2 * len(forest.branches)
    small += 8 * len(forest.projections[0]) + 12 * len(forest.projections[1])
    assert forest.nbytes == n * (16 + 2 + 2 + 4 + 3 * 4) + small


# -- subset and concatenate ------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_subset_predicts_like_its_trees(kind, fractional, n_classes):
    forest = random_forest(9, kind, n_classes=n_classes, fractional=fractional)
    X = random_rows(forest, 30, 10, share_missing=0.2)
    for trees in ([2], [0, 3, 5], [6, 0, 0], [-1, 1], np.arange(7)[::-1]):
        part = forest.subset(trees).validate()
        assert len(part) == len(trees)
        np.testing.assert_array_equal(part.supports(X), forest.supports(X)[trees])
        np.testing.assert_array_equal(part.apply(X), forest.apply(X)[:, trees])
        np.testing.assert_array_equal(part.n_leaves, forest.n_leaves[trees])
    assert_same_forest(forest.subset(range(7)), forest)
    mask = np.arange(7) % 2 == 0
    assert_same_forest(forest.subset(mask), forest.subset([0, 2, 4, 6]))


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_joined_forests_predict_like_each(kind, fractional, n_classes):
    forests = [
        random_forest(seed, kind, n_trees=seed % 3 + 1, n_classes=n_classes, fractional=fractional)
        for seed in (11, 12, 13, 14)
    ]
    joined = Forest.concatenate(forests).validate()
    X = random_rows(joined, 30, 15, share_missing=0.2)
    np.testing.assert_array_equal(joined.supports(X), np.vstack([f.supports(X) for f in forests]))
    np.testing.assert_array_equal(joined.apply(X), np.hstack([f.apply(X) for f in forests]))
    np.testing.assert_array_equal(joined.weights(), np.hstack([f.weights() for f in forests]))
    if n_classes:
        np.testing.assert_array_equal(joined.votes(X), np.vstack([f.votes(X) for f in forests]))
    first = 0
    for forest in forests:
        part = joined.subset(np.arange(first, first + len(forest)))
        np.testing.assert_array_equal(part.supports(X), forest.supports(X))
        first += len(forest)
    pairs = [Forest.concatenate(forests[:2]), Forest.concatenate(forests[2:])]
    assert_same_forest(Forest.concatenate(pairs), joined)
    assert Forest.concatenate([joined]) is joined


# -- validation ------------------------------------------------------------------------------------


def corrupt(forest: Forest, field: str, change: Any) -> Forest:
    """A copy of a forest in which a field was changed in place, or replaced by what is returned."""
    if field in NODE.names:
        nodes = forest.nodes.copy()
        change(nodes[field])
        return dataclasses.replace(forest, nodes=nodes)
    value = getattr(forest, field)
    copy = tuple(part.copy() for part in value) if field == "projections" else value.copy()
    changed = change(copy)
    return dataclasses.replace(forest, **{field: copy if changed is None else changed})


def first_where(condition: npt.NDArray[np.bool_]) -> int:
    """The first place where a condition holds."""
    return int(np.flatnonzero(condition)[0])


def places(forest: Forest) -> dict[str, int]:
    """One node of each kind."""
    inner = forest.n_children > 0
    feature = forest.feature
    categorical = inner & (feature >= 0) & (forest.n_categories[np.maximum(feature, 0)] > 0)
    return {
        "leaf": first_where(~inner),
        "ordered": first_where(inner & (feature >= 0) & ~categorical),
        "categorical": first_where(categorical),
        "oblique": first_where(inner & (feature < 0)),
    }


def corruptions(forest: Forest) -> list[tuple[str, str, Any]]:
    """Every field out of range in turn: (what, field, change)."""
    at = places(forest)
    n, n_projections = len(forest.nodes), len(forest.projections[0]) - 1
    last = int(forest.n_nodes[0])

    def put(where: Any, what: Any) -> Any:
        def change(array: Any) -> None:
            array[where] = what

        return change

    def put_part(part: int, where: int, what: Any) -> Any:
        return lambda projections: put(where, what)(projections[part])

    found: list[tuple[str, str, Any]] = [
        ("starts late", "tree_start", put(0, 1)),
        ("ends early", "tree_start", put(-1, n - 1)),
        ("ends late", "tree_start", put(-1, n + 1)),
        ("goes back", "tree_start", put(1, int(forest.tree_start[2]) + 1)),
        ("an empty tree", "tree_start", put(1, 0)),
        ("no tree", "tree_start", lambda a: a[:1]),
        ("two dimensions", "tree_start", lambda a: a[None]),
        ("other nodes", "nodes", lambda a: a["threshold"]),
        ("missing one", "label", lambda a: a[:-1]),
        ("missing one", "missing", lambda a: a[:-1]),
        ("missing one", "n_children", lambda a: a[:-1]),
        ("missing one", "value", lambda a: a[:-1]),
        ("one too many", "value", lambda a: np.vstack([a, a[:1]])),
        ("another class", "value", lambda a: a[:, :-1]),
        ("one dimension", "value", lambda a: a[:, 0]),
        ("not finite", "value", lambda a: a.astype(float) * np.nan),
        ("infinite", "value", lambda a: a.astype(float) + np.inf),
        ("negative", "value", lambda a: a.astype(float) - 9),
        ("negative", "label", put(0, -1)),
        ("too large", "label", put(n - 1, forest.n_classes)),
        ("a number", "threshold", put(at["leaf"], 0.5)),
        ("not a number", "threshold", put(at["ordered"], np.nan)),
        ("not a number", "threshold", put(at["oblique"], np.nan)),
        ("a fraction", "threshold", put(at["categorical"], 0.5)),
        ("before the tables", "threshold", put(at["categorical"], -1.0)),
        ("behind the tables", "threshold", put(at["categorical"], len(forest.branches) - 1.0)),
        ("huge", "threshold", put(at["categorical"], 1e300)),
        ("infinite", "threshold", put(at["categorical"], np.inf)),
        ("of a leaf", "feature", put(at["leaf"], 1)),
        ("too large", "feature", put(at["ordered"], forest.n_features)),
        ("beyond the projections", "feature", put(at["oblique"], -1 - n_projections)),
        ("most negative", "feature", put(at["oblique"], -(2**31))),
        ("itself", "first_child", put(at["ordered"], 0)),
        ("beyond the tree", "first_child", put(at["ordered"], last - 1)),
        ("far away", "first_child", put(at["ordered"], 2**31 - 1)),
        ("negative", "first_child", put(at["ordered"], -5)),
        ("a leaf's other child", "first_child", put(at["leaf"], last)),
        ("a shared child", "first_child", put(0, forest.first_child[0] + 1)),
        ("a child with a leaf", "n_children", put(at["leaf"], 2)),
        ("a lost child", "n_children", put(at["ordered"], 0)),
        ("one child", "n_children", put(at["ordered"], 1)),
        ("three children", "n_children", put(at["ordered"], 3)),
        ("many children", "n_children", put(at["categorical"], 65_535)),
        ("too large", "missing", put(at["ordered"], 2)),
        ("too large", "missing", put(at["categorical"], ALL_BRANCHES - 1)),
        ("too large", "branches", put(slice(None), 60_000)),
        ("too short", "branches", lambda a: a[:-1]),
        ("none", "branches", lambda a: a[:0]),
        ("negative", "n_categories", put(2, -1)),
        ("too many", "n_categories", put(2, 6 + len(forest.branches))),
        ("overflowing", "n_categories", put(2, 2**63 - 1)),
        ("an ordered feature", "n_categories", put(0, 4)),
        ("no features", "n_categories", lambda a: a[:0]),
        ("one dimension more", "n_categories", lambda a: a[None]),
        ("starts late", "projections", put_part(0, 0, 1)),
        ("goes back", "projections", put_part(0, 1, len(forest.projections[1]) + 1)),
        ("ends late", "projections", put_part(0, -1, len(forest.projections[1]) + 1)),
        ("no starts", "projections", lambda p: (p[0][:0], p[1], p[2])),
        ("a feature too large", "projections", put_part(1, 0, forest.n_features)),
        ("a negative feature", "projections", put_part(1, 0, -1)),
        ("no number", "projections", put_part(2, 0, np.nan)),
        ("infinite", "projections", put_part(2, 0, np.inf)),
        ("a weight missing", "projections", lambda p: (p[0], p[1], p[2][:-1])),
    ]  # fmt: skip
    return found


def big_forest(fractional: bool = False) -> Forest:
    """A forest whose first tree has every kind of node."""
    for seed in range(100):
        forest = random_forest(seed, n_trees=3, fractional=fractional)
        try:
            first = places(forest.subset([0]))
        except IndexError:
            continue
        if len(set(first.values())) == 4:
            return forest.validate()
    raise AssertionError("no such forest")


@pytest.mark.parametrize(
    ("what", "field", "change"),
    corruptions(big_forest()),
    ids=[f"{field}: {what}" for what, field, _ in corruptions(big_forest())],
)
def test_validate_rejects(what, field, change):
    forest = corrupt(big_forest(), field, change)
    assert differences(forest, big_forest()) != []
    with pytest.raises(ValueError, match=r".{20,}"):
        forest.validate()


@pytest.mark.parametrize("name", ["leaf_weight", "leaf_impurity"])
def test_validate_rejects_bad_weights_and_variances_of_regression(name):
    forest = random_forest(16, n_classes=0).validate()
    for change in (lambda a: a[:-1], lambda a: a * np.nan, lambda a: a - 9.0):
        with pytest.raises(ValueError, match=name):
            corrupt(forest, name, change).validate()


def test_rows_of_another_shape_or_type_are_rejected():
    forest = random_forest(20)
    X = random_rows(forest, 10, 21)
    bad = (X[:, :4], np.column_stack([X, X]), X[0], X[None], X.astype(np.float32), X.astype(int))
    for query in (
        forest.apply, forest.supports, forest.mean_supports, forest.votes, forest.count_votes,
        forest.predict, forest.decision_path, partial(forest.weigh_votes, weights=np.ones(7)),
    ):  # fmt: skip
        for rows in bad:
            with pytest.raises(ValueError, match="encoded rows of 5 features in float64"):
                query(rows)


def test_whatever_passes_validation_can_predict():
    """Random bytes: either they are rejected, or the forest still predicts."""
    rng = np.random.default_rng(17)
    fields = (
        "tree_start", "nodes", "n_children", "missing", "label", "value", "n_categories",
        "branches", "projections",
    )  # fmt: skip
    forests = [big_forest(), big_forest(fractional=True), random_forest(18, "ordered")]
    refused = 0
    for trial in range(3000):
        forest = forests[trial % 3]

        def garble(array: Any) -> None:
            parts = array if isinstance(array, tuple) else (array,)
            part = parts[rng.integers(len(parts))]
            raw = part.view(np.uint8).reshape(-1) if part.size else np.zeros(1, np.uint8)
            for _ in range(rng.integers(1, 4)):
                raw[rng.integers(raw.size)] = rng.choice([0, 1, 127, 128, 255, rng.integers(256)])

        broken = corrupt(forest, fields[rng.integers(len(fields))], garble)
        try:
            broken.validate()
        except ValueError:
            refused += 1
            continue
        X = random_rows(broken, 9, trial, share_missing=0.3 * (trial % 2))
        assert broken.votes(X).max() < broken.n_classes
        assert np.isfinite(broken.supports(X)).all()
        assert (broken.apply(X) < broken.n_nodes).all()
        assert broken.decision_path(X).shape == (9, len(broken.nodes))
    assert 500 < refused < 2900


# -- scikit-learn's trees --------------------------------------------------------------------------


def from_scikit_learn(tree: Any, n_features: int, n_classes: int) -> Forest:
    """The forest of one of scikit-learn's trees: children side by side, parents first."""
    order, first_child = [0], []
    for node in order:
        first_child.append(len(order) if tree.children_left[node] >= 0 else len(first_child))
        if tree.children_left[node] >= 0:
            order += [tree.children_left[node], tree.children_right[node]]
    leaf = tree.children_left[order] < 0
    nodes = np.zeros(len(order), NODE)
    nodes["threshold"] = np.where(leaf, np.inf, tree.threshold[order])
    nodes["feature"] = np.where(leaf, 0, tree.feature[order])
    nodes["first_child"] = first_child
    value = tree.value[order][:, 0]
    weight = None if n_classes else tree.weighted_n_node_samples[order]
    return Forest(
        np.array([0, len(order)]), nodes, np.where(leaf, 0, 2).astype(np.uint16),
        np.where(leaf, 0, 1 - tree.missing_go_to_left[order]).astype(np.uint16),
        np.argmax(value, axis=1).astype(np.int32)[: len(value) if n_classes else 0], value,
        n_classes,
        np.zeros(n_features, np.int64),
        leaf_weight=None if n_classes else weight[leaf],
        leaf_impurity=None if n_classes else np.maximum(tree.impurity[order], 0)[leaf],
    )  # fmt: skip


@pytest.mark.parametrize("share_missing", [0.0, 0.1])
def test_scikit_learns_trees_predict_the_same_here(share_missing, waveform, friedman):
    rng = np.random.default_rng(19)
    for model, (X, y) in (
        (DecisionTreeClassifier(random_state=0), waveform),
        (DecisionTreeRegressor(random_state=0), friedman),
    ):
        X = X.astype(np.float32).astype(np.float64)  # as scikit-learn does
        X[rng.random(X.shape) < share_missing] = np.nan
        n_classes = 3 if isinstance(model, DecisionTreeClassifier) else 0
        model.fit(X[:150], y[:150])
        forest = from_scikit_learn(model.tree_, X.shape[1], n_classes).validate()
        np.testing.assert_array_equal(forest.predict(X), model.predict(X))
        assert forest.n_leaves[0] == model.get_n_leaves()
        assert forest.depth[0] == model.get_depth()
        assert forest.decision_path(X).sum() == model.decision_path(X).sum()
        if n_classes:
            np.testing.assert_allclose(forest.predict_proba(X), model.predict_proba(X), rtol=1e-15)
