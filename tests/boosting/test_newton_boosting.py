"""Gradient boosting with Newton trees: rounds by hand, constraints, weights, and all the rest."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from tests.boosting.first_order import FIRST_ORDER
from tests.oracles.newton import Oracle, Rules, SymmetricOracle
from tests.shared import assert_same_forest

from orfeon import GradientBoostingClassifier, GradientBoostingRegressor, load, save
from orfeon.boosting.one_side_sampling import OneSide, one_side_weights
from orfeon.datasets import make_friedman1, make_waveform

#: Nothing is drawn and nothing is limited but the depth.
PLAIN = {
    **FIRST_ORDER, "order": 2, "n_estimators": 8, "min_hessian": 0.001, "random_state": 0,
}  # fmt: skip
FOR_ALL_CLASSES = {"tree_shape": "auto", "multi_strategy": "multi_output_tree"}
METHODS = pytest.mark.parametrize("method", ["exact", "histogram"])


def classifier(**settings):
    return GradientBoostingClassifier(**{**PLAIN, **settings})


def regressor(**settings):
    return GradientBoostingRegressor(**{**PLAIN, **settings})


def two_classes(n=150, seed=0):
    X, y = make_waveform(n, random_state=seed)
    return X[:, 5:11], (y == y[0]).astype(int)


def paths_of(model):
    """Features on each path of each tree."""
    forest = model.forest_
    for t in range(len(forest)):
        tree = forest.subset([t])
        open_nodes = [(0, frozenset())]
        while open_nodes:
            node, path = open_nodes.pop()
            if tree.n_children[node] == 0:
                yield path
                continue
            path = path | {int(tree.feature[node])}
            first = int(tree.first_child[node])
            open_nodes += [(first, path), (first + 1, path)]


# -- rounds ----------------------------------------------------------------------------------------


@METHODS
def test_rounds_of_two_classes_are_those_of_brute_force(method):
    X, y = two_classes(60)
    w = np.random.default_rng(0).uniform(0.6, 1.4, 60)  # no two splits are equally good
    model = classifier(n_estimators=3, l2=0.7, min_hessian=0.5, max_depth=2, tree_method=method)
    shown = [p[:, 1] for p in model.fit(X, y, sample_weight=w).staged_predict_proba(X)]
    share = np.average(y, weights=w)
    scores = np.full(60, np.log(share / (1 - share)))
    for probabilities in shown:
        p = expit(scores)
        tree = Oracle(X, y - p, p * (1 - p), w, Rules(0.7, 0, 0.5, max_depth=2))
        scores = scores + 0.1 * tree.values()
        np.testing.assert_allclose(probabilities, expit(scores), rtol=1e-9)


@METHODS
def test_a_round_of_several_classes_scales_the_diagonal_by_their_number(method):
    X, y = make_waveform(60, random_state=0)
    X = X[:, 5:10]
    model = classifier(n_estimators=1, l2=0.5, max_depth=2, min_hessian=0.0, tree_method=method)
    decisions = model.fit(X, y).decision_function(X)
    shares = np.bincount(y) / 60
    start = np.log(shares) - np.log(shares).mean()
    for k, p in enumerate(shares):
        hessian = np.full(60, 1.5 * p * (1 - p))
        tree = Oracle(X, (y == k) - p, hessian, np.ones(60), Rules(0.5, max_depth=2))
        np.testing.assert_allclose(decisions[:, k], start[k] + 0.1 * tree.values(), rtol=1e-9)


def test_without_penalties_the_squared_error_gives_the_trees_of_order_one():
    X, y = make_friedman1(200, random_state=0)
    newton = regressor(l2=0.0, min_hessian=0.0).fit(X, y)
    plain = regressor(order=1).fit(X, y)
    np.testing.assert_allclose(newton.predict(X), plain.predict(X), rtol=1e-9)
    np.testing.assert_allclose(
        newton.feature_importances_, plain.feature_importances_, rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize(("loss", "share"), [("absolute_error", 0.5), ("quantile", 0.9)])
def test_exact_minima_are_shrunk_as_means_are(loss, share):
    X, y = make_friedman1(80, random_state=0)
    settings = {"loss": loss, "n_estimators": 1, "learning_rate": 1.0, "min_hessian": 0.0}
    model = regressor(l2=3.0, **settings).fit(X, y)
    leaves = model.apply(X)[:, 0]
    assert len(np.unique(leaves)) > 2
    for leaf in np.unique(leaves):
        residuals = np.sort((y - model.init_[0])[leaves == leaf])
        n = len(residuals)
        exact = residuals[int(np.ceil(share * n * (1 - 1e-12))) - 1]
        value = model.predict(X[leaves == leaf])[0] - model.init_[0]
        assert value == pytest.approx(exact * n / (n + 3.0), rel=1e-9)


@METHODS
def test_penalties_and_limits_are_kept(method):
    X, y = two_classes()
    weak = classifier(tree_method=method, l2=0.0).fit(X, y)
    strong = classifier(tree_method=method, l2=50.0).fit(X, y)
    assert np.abs(strong.forest_.value).max() < 0.5 * np.abs(weak.forest_.value).max()
    assert classifier(tree_method=method, l1=1e3).fit(X, y).forest_.n_leaves.max() == 1
    assert classifier(tree_method=method, min_hessian=40.0).fit(X, y).forest_.n_leaves.max() == 1
    few = classifier(tree_method=method, min_samples_leaf=30).fit(X, y).forest_
    assert few.leaf_weight.min() >= 30
    assert (few.n_leaves > 1).any()


@METHODS
def test_trees_draw_features_and_samples(method):
    X, y = two_classes()
    model = classifier(
        tree_method=method, subsample=0.5, max_features=2, max_features_per_tree=3, max_leaf_nodes=5
    ).fit(X, y)
    for t in range(8):
        tree = model.forest_.subset([t])
        assert len(set(tree.feature[~tree.is_leaf])) <= 3
        assert tree.leaf_weight.sum() == 75
    assert model.score(X, y) > 0.8


# -- constraints -----------------------------------------------------------------------------------


@METHODS
@pytest.mark.parametrize(
    "settings",
    [{}, {"max_leaf_nodes": 12, "max_depth": None}, {"subsample": 0.6}, {"l1": 0.5}, {"l2": 0.0}],
    ids=str,
)
def test_predictions_are_monotone_on_dense_grids(method, settings):
    rng = np.random.default_rng(0)
    X, y = make_friedman1(300, noise=3.0, random_state=0)
    X[rng.random(X.shape) < 0.05] = np.nan
    signs = [1, 0, -1, 1, 0] + [-1] * (X.shape[1] - 5)
    settings = {"n_estimators": 30, "max_depth": 5, "learning_rate": 0.5, **settings}
    grid = np.nan_to_num(np.repeat(X[:40], 60, axis=0))
    losses = ["squared_error", "absolute_error"] if not settings.get("l1") else ["squared_error"]
    for loss in losses:
        model = regressor(tree_method=method, monotonic_cst=signs, loss=loss, **settings)
        model.fit(X, y)
        free = regressor(tree_method=method, loss=loss, **settings).fit(X, y)
        violated = 0
        for f in range(X.shape[1]):
            rows = grid.copy()
            rows[:, f] = np.tile(np.linspace(-0.1, 1.1, 60), 40)
            steps = np.diff(model.predict(rows).reshape(40, 60), axis=1)
            assert (signs[f] * steps >= 0).all()
            violated += (signs[f] * np.diff(free.predict(rows).reshape(40, 60), axis=1) < 0).any()
        assert violated  # without constraints they would not be


@METHODS
def test_probabilities_are_monotone_and_names_are_known(method):
    X, y = two_classes(200)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    settings = {"tree_method": method, "n_estimators": 30, "max_depth": 4}
    named = classifier(monotonic_cst={"c": 1, "d": -1}, **settings).fit(frame, y)
    listed = classifier(monotonic_cst=np.array([0, 0, 1, -1, 0, 0]), **settings).fit(X, y)
    np.testing.assert_array_equal(named.predict_proba(frame), listed.predict_proba(X))
    rows = np.repeat(X[:50], 50, axis=0)
    for f, sign in ((2, 1), (3, -1)):
        moved = rows.copy()
        moved[:, f] = np.tile(np.linspace(-3, 9, 50), 50)
        assert (sign * np.diff(listed.predict_proba(moved)[:, 1].reshape(50, 50)) >= 0).all()


@METHODS
def test_no_path_mixes_groups(method):
    X, y = make_friedman1(200, random_state=0)
    settings = {"tree_method": method, "max_depth": 4}
    groups = [[0, 1], [1, 2, 3], [4]]
    rest = set(range(5, X.shape[1]))
    grouped = regressor(interaction_cst=groups, **settings).fit(X, y)
    paths = set(paths_of(grouped))
    assert all(any(path <= set(group) for group in [*groups, rest]) for path in paths)
    assert any(len(path) > 1 for path in paths)
    assert max(map(len, paths_of(regressor(interaction_cst="pairwise", **settings).fit(X, y)))) == 2
    alone = regressor(interaction_cst="no_interactions", **settings).fit(X, y)
    assert max(map(len, paths_of(alone))) == 1
    # Additive: the effect of one feature does not depend on another.
    a, b = X[:20].copy(), X[:20].copy()
    b[:, 0] = 1 - b[:, 0]
    a[:, 1] = b[:, 1] = 0.5
    difference = alone.predict(a) - alone.predict(b)
    a[:, 1] = b[:, 1] = 0.9
    np.testing.assert_allclose(difference, alone.predict(a) - alone.predict(b), atol=1e-9)


def test_many_features_are_sets_of_bits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 130))
    y = X[:, 0] + X[:, 64] * X[:, 129]
    model = regressor(interaction_cst=[[0, 64], [64, 129]], max_depth=4).fit(X, y)
    rest = set(range(130)) - {0, 64, 129}
    for path in paths_of(model):
        assert any(path <= group for group in ({0, 64}, {64, 129}, rest))


BAD = [
    ({"monotonic_cst": [1, 0]}, "monotonic_cst has shape 2 but the input data X has 6 features"),
    (
        {"monotonic_cst": [2, 0, 0, 0, 0, 0]},
        "must be None or an array-like of -1, 0 or 1, but got 2",
    ),
    ({"monotonic_cst": {"a": 1}}, "names the feature 'a'; X has no names"),
    ({"monotonic_cst": ["x"] * 6}, "-1, 0 or 1, but got .*x"),
    ({"interaction_cst": [[0, 9]]}, "feature 9; features are names, or numbers from 0 to 5"),
    ({"interaction_cst": [0, 1]}, "group 0; each group must be a list"),
    ({"monotonic_cst": [1] * 6, "order": 1}, "monotonic_cst needs order=2"),
    ({"interaction_cst": "pairwise", "order": 1}, "interaction_cst needs order=2"),
    ({"order": 3}, "'order'"),
    ({"l2": -1.0}, "'l2'"),
    ({"interaction_cst": "all"}, "'interaction_cst'"),
]


@pytest.mark.parametrize(("settings", "message"), BAD, ids=lambda case: str(case)[:40])
def test_bad_constraints_get_one_sentence(settings, message):
    X, y = two_classes(60)
    with pytest.raises(ValueError, match=message):
        classifier(**settings).fit(X, y)


def test_monotone_features_need_an_order_and_one_score():
    X, y = make_waveform(60, random_state=0)
    with pytest.raises(ValueError, match="two classes or a numeric target, but y has 3 classes"):
        classifier(monotonic_cst=[1] * X.shape[1]).fit(X, y)
    frame = pd.DataFrame({"kind": ["a", "b"] * 30, "x": np.arange(60.0)})
    with pytest.raises(ValueError, match="feature 'kind', which is categorical"):
        regressor(monotonic_cst={"kind": 1}).fit(frame, np.arange(60.0))


# -- categories ------------------------------------------------------------------------------------


def with_categories(n=200, seed=0):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 12, n)
    effect = rng.normal(size=12)
    frame = pd.DataFrame(
        {"kind": pd.Categorical([f"k{k}" for k in kinds]), "x": rng.normal(size=n)}
    )
    frame.loc[rng.random(n) < 0.1, "kind"] = None
    return frame, effect[kinds] + frame["x"] + 0.1 * rng.normal(size=n)


@METHODS
def test_categories_are_split_and_unseen_ones_have_an_answer(method):
    X, y = with_categories()
    model = regressor(tree_method=method, n_estimators=40, cat_smooth=1.0).fit(X, y)
    assert model.score(X, y) > 0.8
    unseen = X.iloc[:5].assign(kind="never")
    missing = X.iloc[:5].assign(kind=None)
    np.testing.assert_array_equal(model.predict(unseen), model.predict(missing))


@METHODS
def test_few_categories_are_each_compared_with_all_others(method):
    X = pd.DataFrame({"kind": list("abcd") * 20})
    y = np.array([0.0, 1.0, 5.0, 6.0] * 20)
    settings = {"tree_method": method, "n_estimators": 1, "max_depth": 1, "l2": 0.0}
    for most, groups in ((1, 2), (4, 1), (3, 2)):
        model = regressor(max_cat_to_onehot=most, cat_smooth=0.0, **settings).fit(X, y)
        answers = model.predict(X.iloc[:4])
        assert min(np.unique(answers, return_counts=True)[1]) == groups


# -- gradient-based sampling -----------------------------------------------------------------------


def test_samples_of_large_gradient_are_kept_and_others_stand_for_the_rest():
    rng = np.random.default_rng(0)
    gradients, weights = rng.normal(size=(2, 200)), rng.uniform(0.5, 2.0, 200)
    size = np.abs(gradients).sum(axis=0)
    top = np.argsort(-size)[:40]
    others = np.setdiff1d(np.arange(200), top)
    total = np.zeros(200)
    for seed in range(200):
        drawn = one_side_weights(
            gradients, weights, None, OneSide(0.2, 0.1), np.random.default_rng(seed)
        )
        np.testing.assert_array_equal(drawn[top], weights[top])
        assert (drawn[others] > 0).sum() == 20
        some = others[drawn[others] > 0]
        np.testing.assert_allclose(drawn[some], weights[some] * 8.0)
        total += drawn
    # On average every sample has its weight: 8 standard errors of a draw of 20 of 160.
    np.testing.assert_allclose(total[others] / 200, weights[others], rtol=8 * np.sqrt(7 / 200))
    assert total[others].sum() / 200 == pytest.approx(weights[others].sum(), rel=0.05)


def test_copies_are_sampled_one_by_one():
    gradients = np.array([[3.0, 2.0, 1.0, 0.5]])
    copies = np.array([2.0, 4.0, 6.0, 8.0])
    drawn = one_side_weights(
        gradients, 0.5 * copies, copies, OneSide(0.2, 0.25), np.random.default_rng(0)
    )
    assert drawn[0] == 1.0  # both copies are in the top 4 of 20
    in_top = 2  # copies of the second sample
    assert drawn[1] >= 0.5 * in_top
    others = drawn.sum() - 1.0 - 0.5 * in_top
    assert others == pytest.approx(0.5 * 16)  # what is drawn stands for 16 copies


def test_gradient_sampling_learns_and_rejects_what_does_not_fit():
    X, y = two_classes(300)
    model = classifier(sampling="gradient", n_estimators=40).fit(X, y)
    assert model.score(X, y) > 0.9
    assert (model.forest_.subset([5]).leaf_weight.sum() - 300) < 150
    with pytest.raises(ValueError, match=r"subsample=0\.5 draws samples at random"):
        classifier(sampling="gradient", subsample=0.5).fit(X, y)
    with pytest.raises(ValueError, match="their sum must be at most 1"):
        classifier(sampling="gradient", top_rate=0.7, other_rate=0.4).fit(X, y)


# -- weights, threads, order of the rows, and all that reads ensembles -----------------------------

SETTINGS = [
    classifier(),
    classifier(loss="exponential", max_leaf_nodes=6, max_depth=None),
    classifier(tree_method="histogram", min_samples_leaf=4),
    regressor(tree_method="histogram", monotonic_cst=[1, 0, 0, 0, -1] + [0] * 5, l1=0.1),
    regressor(loss="huber", subsample=0.7, interaction_cst="pairwise"),
    regressor(min_samples_leaf=5, max_features=0.5),
    regressor(sampling="gradient", order=1),
    classifier(sampling="gradient", tree_method="histogram", other_rate=0.3),
    classifier(tree_shape="symmetric", subsample=0.7, max_features=0.6, max_depth=4),
    regressor(tree_shape="symmetric", monotonic_cst=[1, 0, 0, 0, -1] + [0] * 5, l1=0.1),
    classifier(**FOR_ALL_CLASSES, subsample=0.7, max_features_per_tree=0.6, min_samples_leaf=3),
    classifier(**FOR_ALL_CLASSES, sampling="gradient", interaction_cst="pairwise", l1=0.1),
]
each = pytest.mark.parametrize("estimator", SETTINGS, ids=str)


def data_of(estimator, n=120):
    if isinstance(estimator, GradientBoostingRegressor):
        return make_friedman1(n, random_state=0)
    if estimator.loss == "exponential":
        return two_classes(n)
    return make_waveform(n, random_state=0)


def answers(model, X):
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


@each
def test_weights_are_copies_and_the_order_of_rows_is_nothing(estimator):
    X, y = data_of(estimator)
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), weights))
    weighted = clone(estimator).fit(X, y, sample_weight=weights)
    copied = clone(estimator).fit(X[rows], y[rows])
    np.testing.assert_array_equal(answers(weighted, X), answers(copied, X))
    np.testing.assert_array_equal(weighted.feature_importances_, copied.feature_importances_)


@each
def test_threads_change_no_bit(estimator, monkeypatch):
    for module in ("newton", "histogram"):
        monkeypatch.setattr(f"orfeon.growth.{module}._WORTH_THREADS", 1)
    monkeypatch.setattr("orfeon.growth.histogram._WORTH_HELPERS", 1)
    monkeypatch.setattr("orfeon.growth.histogram_newton._WORTH_PARTS", 1)
    X, y = data_of(estimator)
    one, many = (clone(estimator).set_params(n_jobs=n).fit(X, y) for n in (1, 3))
    np.testing.assert_array_equal(answers(one, X), answers(many, X))


@each
def test_a_warm_start_equals_a_single_run(estimator):
    X, y = data_of(estimator)
    whole = clone(estimator).fit(X, y)
    grown = clone(estimator).set_params(n_estimators=3, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=8).fit(X, y)
    np.testing.assert_array_equal(answers(whole, X), answers(grown, X))
    np.testing.assert_array_equal(whole.feature_importances_, grown.feature_importances_)


@each
def test_saved_models_and_stages_answer_the_same(estimator, tmp_path):
    X, y = data_of(estimator)
    model = clone(estimator).fit(X, y)
    save(model, tmp_path / "model.orfeon")
    loaded = load(tmp_path / "model.orfeon")
    assert loaded.get_params() == model.get_params()
    assert loaded.tree_method_ == model.tree_method_
    np.testing.assert_array_equal(answers(loaded, X), answers(model, X))
    staged = model.staged_predict_proba if hasattr(model, "classes_") else model.staged_predict
    stages = list(staged(X))
    assert len(stages) == 8
    np.testing.assert_array_equal(stages[-1], answers(model, X))
    assert model.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingClassifier(learning_rate=0.5, random_state=0),
        GradientBoostingRegressor(learning_rate=0.5, random_state=0),
        GradientBoostingClassifier(
            learning_rate=0.5, multi_strategy="multi_output_tree", random_state=0
        ),
        GradientBoostingClassifier(
            learning_rate=0.5, l1=0.1, max_features_per_tree=0.5, tree_method="histogram",
            random_state=0,
        ),
    ],
    ids=str,
)  # fmt: skip
def test_the_best_rounds_are_those_of_a_shorter_run(estimator):
    X, y = data_of(estimator, 240)
    assert estimator.order == 2
    model = clone(estimator).set_params(n_estimators=40, early_stopping=False)
    model.fit(X[:120], y[:120])
    n_rounds = model.best_rounds(X[120:], y[120:])
    assert 1 < n_rounds < 40
    smaller = model.with_rounds(n_rounds)
    shorter = clone(model).set_params(n_estimators=n_rounds).fit(X[:120], y[:120])
    assert_same_forest(smaller.forest_, shorter.forest_)
    np.testing.assert_array_equal(answers(smaller, X), answers(shorter, X))
    np.testing.assert_array_equal(smaller.feature_importances_, shorter.feature_importances_)
    np.testing.assert_array_equal(smaller.train_loss_, shorter.train_loss_)


def test_with_a_bin_for_each_value_histograms_give_the_exact_trees():
    X, y = two_classes(200)
    exact, binned = (
        classifier(tree_method=method, n_estimators=20).fit(X, y)
        for method in ("exact", "histogram")
    )
    np.testing.assert_allclose(exact.predict_proba(X), binned.predict_proba(X), rtol=1e-6)


def test_auto_is_exact_up_to_ten_thousand_samples(monkeypatch):
    X, y = two_classes(60)
    assert classifier(tree_method="auto").fit(X, y).tree_method_ == "exact"
    monkeypatch.setattr("orfeon.boosting.gradient_trees.MOST_EXACT", 59)
    auto = classifier(tree_method="auto").fit(X, y)
    assert auto.tree_method_ == "histogram"
    np.testing.assert_array_equal(
        auto.predict_proba(X), classifier(tree_method="histogram").fit(X, y).predict_proba(X)
    )


# -- symmetric trees -------------------------------------------------------------------------------


def test_symmetric_rounds_are_those_of_brute_force():
    X, y = two_classes(90)
    w = np.random.default_rng(0).uniform(0.6, 1.4, 90)  # no two tests are equally good
    model = classifier(tree_shape="symmetric", n_estimators=4, l2=0.7, min_hessian=0.5)
    score = np.full(90, model.fit(X, y, sample_weight=w).init_[0])
    rules = Rules(l2=0.7, min_hessian=0.5, max_depth=3)
    for found in model.staged_predict_proba(X):
        p = expit(score)
        score = score + 0.1 * SymmetricOracle(X, y - p, p * (1 - p), w, rules).values()
        np.testing.assert_allclose(found[:, 1], expit(score), rtol=1e-9)


def test_auto_takes_symmetric_trees_where_they_can_be_grown(monkeypatch):
    X, y = two_classes(80)
    auto, symmetric, free = (
        classifier(tree_shape=shape).fit(X, y) for shape in ("auto", "symmetric", "free")
    )
    np.testing.assert_array_equal(auto.predict_proba(X), symmetric.predict_proba(X))
    assert (auto.predict_proba(X) != free.predict_proba(X)).any()
    monkeypatch.setattr("orfeon.boosting.gradient_trees.MOST_EXACT", 79)
    for settings, words in [
        ({"order": 1}, "order=1"), ({"max_depth": None}, "max_depth=None"),
        ({"max_leaf_nodes": 6}, "max_leaf_nodes=6"), ({"tree_method": "histogram"}, "histogram"),
        ({"tree_method": "auto"}, "chosen for so many"),
    ]:  # fmt: skip
        auto, free = (
            classifier(tree_shape=shape, **settings).fit(X, y) for shape in ("auto", "free")
        )
        np.testing.assert_array_equal(auto.predict_proba(X), free.predict_proba(X))
        with pytest.raises(ValueError, match=words):
            classifier(tree_shape="symmetric", **settings).fit(X, y)


def test_symmetric_trees_keep_constraints_and_split_categories():
    X, y = make_friedman1(200, random_state=0)
    rising = regressor(tree_shape="symmetric", monotonic_cst=[0, 0, 0, 1, 1] + [0] * 5).fit(X, y)
    grid = np.repeat(X[:20], 50, axis=0)
    for feature in (3, 4):
        line = grid.copy()
        line[:, feature] = np.tile(np.linspace(0, 1, 50), 20)
        steps = np.diff(rising.predict(line).reshape(20, 50), axis=1)
        assert (steps >= 0).all()
        assert steps.max() > 0
    pairs = regressor(tree_shape="symmetric", interaction_cst=[[0, 1], [2, 3]]).fit(X, y)
    groups = [{0, 1}, {2, 3}, *({f} for f in range(4, 10))]
    paths = set(paths_of(pairs))
    assert all(any(path <= group for group in groups) for path in paths)
    assert any(len(path) == 2 for path in paths)
    frame = pd.DataFrame({"level": list("abcdefgh") * 25, "x": X[:, 0]})
    target = np.where(frame["level"].isin(list("adg")), 3.0, 0.0) + X[:, 0]
    model = regressor(tree_shape="symmetric", cat_smooth=0.0, n_estimators=60).fit(frame, target)
    assert np.abs(model.predict(frame) - target).max() < 0.1


def test_rows_far_from_the_border_count():
    # Hessians that round to zero must not make rows absent.
    for seed, method in itertools.product(range(3), ("exact", "histogram")):
        X, y = two_classes(100, seed)
        model = classifier(
            tree_method=method, n_estimators=400, learning_rate=1.0, l2=0.0, min_hessian=0.0
        ).fit(X, y)
        assert model.train_loss_[-1] < 1e-3
        assert np.isfinite(model.predict_proba(X)).all()
