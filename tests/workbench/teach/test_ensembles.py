"""The interactive page computes what orfeon does: its functions run under Node on the same data."""

from __future__ import annotations

import json
import shutil
import subprocess
from fractions import Fraction
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_moons

from orfeon import AdaBoostClassifier, CARTClassifier
from orfeon.datasets import Circle, ThreeNorm
from orfeon.inspection import margins
from orfeon.ordering import error_curve, order_votes, read_selection

pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed"),
]

SCRIPT = files("orfeon.workbench.teach") / "assets" / "ensembles.js"
DRIVER = Path(__file__).with_name("driver.js")
RATES = {"bagging": 1.0, "forest": 0.5, "switching": 0.3, "adaboost": 1.0}
PROBLEMS = ("moons", "circle", "xor", "threenorm")


def ask(*requests: tuple[str, Any]) -> list[Any]:
    """What the functions answer, in one run of Node."""
    ended = subprocess.run(
        ["node", str(DRIVER), str(SCRIPT)], input=json.dumps(requests), capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    return json.loads(ended.stdout)


def settings(method: str, problem: str = "moons", **changes: Any) -> dict[str, Any]:
    found = {
        "method": method, "problem": problem, "samples": 120, "noise": 0.1, "members": 12,
        "rate": RATES[method], "depth": 2 if method == "adaboost" else None, "seed": 3,
    }  # fmt: skip
    return found | changes


CASES = [settings(method, problem) for method in RATES for problem in PROBLEMS] + [
    settings("bagging", depth=3),
    settings("switching", members=9, depth=4),
    settings("adaboost", depth=1, rate=0.5, members=25),
    settings("adaboost", "threenorm", depth=3, members=40),
]
BY_DEPTH = [case for case in CASES if case["method"] in {"bagging", "switching"} and case["depth"]]


@pytest.fixture(scope="module")
def runs() -> list[Any]:
    return ask(*(("run", case) for case in CASES))


@pytest.fixture(params=range(len(CASES)), ids=lambda i: f"{CASES[i]['method']}-{i}")
def run(request: pytest.FixtureRequest, runs: list[Any]) -> Any:
    return CASES[request.param], runs[request.param]


def matrix(data: Any) -> Any:
    return np.column_stack(data["X"])


def leaf_of(tree: Any, x: Any) -> int:
    node = 0
    while tree["feature"][node] >= 0:
        goes_left = x[tree["feature"][node]] <= tree["threshold"][node]
        node = tree["left" if goes_left else "right"][node]
    return node


def routed(tree: Any, X: Any) -> list[int]:
    return [tree["label"][leaf_of(tree, x)] for x in X]


# -- trees -----------------------------------------------------------------------------------------


def impurity_after(rows: Any, feature: int, cut: float, X: Any, y: Any, weights: Any) -> Fraction:
    """Weight times Gini index of both sides of a cut, as exact fractions."""
    total = Fraction(0)
    for side in (X[rows, feature] <= cut, X[rows, feature] > cut):
        of = [sum((weights[i] for i in rows[side] if y[i] == c), Fraction(0)) for c in (0, 1)]
        total += sum(of) - (of[0] ** 2 + of[1] ** 2) / sum(of)
    return total


def all_cuts(rows: Any, X: Any) -> list[tuple[int, float]]:
    found = []
    for feature in (0, 1):
        values = np.unique(X[rows, feature])
        found += [(feature, low + (high - low) / 2) for low, high in pairwise(values)]
    return found


def nodes_with_rows(tree: Any, X: Any, rows: Any, node: int = 0, depth: int = 0) -> Any:
    yield node, rows, depth
    if tree["feature"][node] >= 0:
        left = X[rows, tree["feature"][node]] <= tree["threshold"][node]
        yield from nodes_with_rows(tree, X, rows[left], tree["left"][node], depth + 1)
        yield from nodes_with_rows(tree, X, rows[~left], tree["right"][node], depth + 1)


def check_tree(tree: Any, X: Any, y: Any, weights: Any, case: dict[str, Any]) -> bool:
    """Each node is cut where the Gini index falls most, or must be a leaf; whether none tied."""
    exact = [Fraction(w) for w in weights]
    without_ties = True
    for node, rows, depth in nodes_with_rows(tree, X, np.flatnonzero(np.asarray(weights) > 0)):
        of = [sum((exact[i] for i in rows if y[i] == c), Fraction(0)) for c in (0, 1)]
        assert tree["label"][node] == (of[1] > of[0])
        without_ties &= of[0] != of[1]
        cuts = all_cuts(rows, X)
        if tree["feature"][node] < 0:
            assert depth == case["depth"] or 0 in of or not cuts
            continue
        chosen = (tree["feature"][node], tree["threshold"][node])
        assert chosen in cuts
        if case["method"] == "forest":  # one random feature
            cuts = [cut for cut in cuts if cut[0] == chosen[0]]
        values = {cut: impurity_after(rows, *cut, X, y, exact) for cut in cuts}
        least = min(values.values())
        assert float(values[chosen] - least) == pytest.approx(0, abs=1e-12)
        without_ties &= sum(float(value - least) < 1e-12 for value in values.values()) == 1
    return without_ties


def test_every_cut_is_the_best_of_all(run):
    case, found = run
    X = matrix(found["data"])
    for tree, made in list(zip(found["trees"], found["made"], strict=True))[:4]:
        check_tree(tree, X, made["labels"], made["weights"], case)


def test_trees_are_those_of_orfeon_where_no_cuts_tie(runs):
    n_same = 0
    for case, found in zip(CASES, runs, strict=True):
        if case not in BY_DEPTH:
            continue
        X = matrix(found["data"])
        for tree, made in zip(found["trees"], found["made"], strict=True):
            if check_tree(tree, X, made["labels"], made["weights"], case):
                theirs = CARTClassifier(max_depth=case["depth"], random_state=0).fit(
                    X, made["labels"], sample_weight=made["weights"]
                )
                assert routed(tree, X) == list(theirs.predict(X))
                n_same += 1
    assert n_same >= 6


def test_votes_and_maps_follow_the_trees(run):
    _, found = run
    grid = found["grid"]
    cells = [(x, y) for y in grid["ys"][::7] for x in grid["xs"][::5]]
    for t in (0, len(found["trees"]) - 1):
        tree = found["trees"][t]
        assert found["votes"][t] == routed(tree, matrix(found["data"]))
        assert found["testVotes"][t] == routed(tree, matrix(found["test"]))
        painted = np.reshape(found["maps"][t], (grid["rows"], grid["columns"]))
        assert list(painted[::7, ::5].ravel()) == routed(tree, cells)


# -- what members are trained on -------------------------------------------------------------------


def test_members_are_perturbed_as_the_methods_say(run):
    case, found = run
    n, labels = case["samples"], found["data"]["y"]
    for made in found["made"]:
        changed = np.not_equal(made["labels"], labels).sum()
        if case["method"] == "switching":
            assert changed == round(case["rate"] * n)
            assert made["weights"] == [1] * n
        else:
            assert changed == 0
        if case["method"] in {"bagging", "forest"}:
            assert sum(made["weights"]) == round(case["rate"] * n)
    if case["method"] == "forest":
        roots = {tree["feature"][0] for tree in found["trees"]}
        assert roots == {0, 1}
    if case["method"] != "adaboost":
        assert found["memberWeights"] == [1] * case["members"]
        different = {json.dumps(made) for made in found["made"]}
        assert len(different) == case["members"]


def test_a_bootstrap_sample_leaves_out_as_many_as_it_should():
    [found] = ask(("run", settings("bagging", samples=400, members=50)))
    left_out = np.mean([np.equal(made["weights"], 0).mean() for made in found["made"]])
    assert left_out == pytest.approx((1 - 1 / 400) ** 400, abs=0.01)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("rate", [1.0, 0.4])
def test_adaboost_has_the_errors_and_votes_of_orfeon(depth, rate):
    case = settings("adaboost", samples=300, depth=depth, rate=rate, members=8, noise=0.2)
    [found] = ask(("run", case))
    tree = CARTClassifier(max_depth=depth, random_state=0)
    ours = AdaBoostClassifier(tree, 8, learning_rate=rate, random_state=0)
    ours.fit(matrix(found["data"]), found["data"]["y"])
    np.testing.assert_allclose(found["errors"], ours.errors_, rtol=1e-9)
    np.testing.assert_allclose(found["memberWeights"], ours.member_weights_, rtol=1e-9)
    assert np.array_equal(found["votes"], ours.votes(matrix(found["data"])))


def test_adaboost_ends_where_the_textbook_does():
    [perfect, late] = ask(
        ("run", settings("adaboost", noise=0, depth=None)),
        ("run", settings("adaboost", "circle", samples=30, noise=0, depth=3, members=200)),
    )
    assert (perfect["ended"], len(perfect["trees"])) == ("perfect", 1)
    assert perfect["curves"]["trained"]["train"] == [0]
    assert late["ended"] == "perfect"
    *others, last = late["memberWeights"]
    assert 1 <= len(others) < 199
    assert last > sum(others)


# -- votes -----------------------------------------------------------------------------------------


def test_orders_and_curves_are_those_of_orfeon(run):
    _, found = run
    y, weights = found["data"]["y"], found["memberWeights"]
    ordered = order_votes(found["votes"], y, rule="margin_distance").order
    assert found["orders"]["ordered"] == list(ordered)
    assert found["orders"]["trained"] == list(range(len(found["trees"])))
    train = read_selection(found["votes"], y, member_weights=weights)
    test = read_selection(found["testVotes"], found["test"]["y"], member_weights=weights)
    for name, curves in found["curves"].items():
        these = np.asarray(found["orders"][name])
        np.testing.assert_allclose(curves["train"], error_curve(train, these), atol=1e-12)
        np.testing.assert_allclose(curves["test"], error_curve(test, these), atol=1e-12)


def test_random_votes_with_ties_are_ordered_alike():
    rng = np.random.default_rng(0)
    cases = [
        {"votes": rng.integers(0, 2, (T, n)).tolist(), "y": rng.integers(0, 2, n).tolist()}
        for T, n in zip(rng.integers(1, 30, 60), rng.integers(2, 100, 60), strict=True)
    ]
    cases = [case for case in cases if len(set(case["y"])) == 2]
    orders = ask(*(("order", case) for case in cases))
    theirs = [order_votes(case["votes"], case["y"], rule="margin_distance") for case in cases]
    assert orders == [list(ordered.order) for ordered in theirs]
    curves = ask(
        *(
            ("curve", case | {"order": order, "weights": [1] * len(order)})
            for case, order in zip(cases, orders, strict=True)
        )
    )
    for curve, ordered in zip(curves, theirs, strict=True):
        np.testing.assert_allclose(curve, ordered.error_curve)


def test_margins_are_those_of_orfeon(run):
    _, found = run
    theirs = margins(found["votes"], y=found["data"]["y"], member_weights=found["memberWeights"])
    np.testing.assert_allclose(found["margins"], theirs.margins, atol=1e-8)
    shares = np.average(found["maps"], axis=0, weights=found["memberWeights"])
    np.testing.assert_allclose(found["shares"], shares, atol=1e-12)


# -- problems --------------------------------------------------------------------------------------


def test_the_best_classes_are_those_of_the_problems():
    rng = np.random.default_rng(0)
    unit, plane = rng.random((300, 2)), rng.uniform(-4, 4, (300, 2))
    circle, threenorm, xor = ask(
        ("best", {"problem": "circle", "points": unit.tolist()}),
        ("best", {"problem": "threenorm", "points": plane.tolist()}),
        ("best", {"problem": "xor", "points": unit.tolist()}),
    )
    assert circle == list(Circle().predict(unit))
    assert threenorm == list(ThreeNorm(n_features=2).predict(plane))
    assert xor == [int((x > 0.5) != (y > 0.5)) for x, y in unit]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_samples_have_the_distribution_and_noise_of_their_problem(problem):
    what = {"problem": problem, "n": 4000, "noise": 0.15, "seed": 1}
    [noisy] = ask(("sample", what))
    points = matrix(noisy)
    assert sum(noisy["wrong"]) == 600
    truth = np.asarray(noisy["y"]) ^ np.asarray(noisy["wrong"])
    [best] = ask(("best", {"problem": problem, "points": points.tolist()}))
    error = (truth != best).mean()
    assert truth.mean() == pytest.approx(0.5, abs=0.03)
    if problem == "threenorm":
        assert error == pytest.approx(ThreeNorm(n_features=2).bayes_error(), abs=0.02)
    elif problem == "moons":
        theirs, labels = make_moons(20_000, noise=0.25, random_state=0)
        for label in (0, 1):
            here, there = points[truth == label], theirs[labels == label]
            np.testing.assert_allclose(here.mean(axis=0), there.mean(axis=0), atol=0.05)
            np.testing.assert_allclose(np.cov(here.T), np.cov(there.T), atol=0.05)
        [their_best] = ask(("best", {"problem": problem, "points": theirs.tolist()}))
        assert (labels != their_best).mean() == pytest.approx(error, abs=0.02)
    else:
        assert error == 0


def test_a_seed_fixes_everything_and_settings_do_not_change_the_samples():
    again, other, more, deeper = ask(
        ("run", CASES[0]),
        ("run", CASES[0] | {"seed": 4}),
        ("run", CASES[0] | {"members": 20}),
        ("run", CASES[0] | {"depth": 2}),
    )
    [first] = ask(("run", CASES[0]))
    assert first == again
    assert other["data"] != first["data"]
    assert more["trees"][:12] == first["trees"]
    assert deeper["data"] == first["data"]
    assert deeper["made"] == first["made"]
