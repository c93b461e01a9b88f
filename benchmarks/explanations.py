"""The speed of exact Shapley values and of partial dependence.

One thread. Both sides explain the same fitted models of scikit-learn, and the answers are compared:
Shapley values with those of the package shap, partial dependence with scikit-learn's brute force.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, make_regression
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.ensemble import RandomForestRegressor as Forest

from benchmarks.report import Measurement, Target, compare
from benchmarks.suite import Case, Suite
from benchmarks.timing import Contender, interleave, one_thread

_TIMES_SHAP = Target("at least", 3.0, "x")
_CLOSE = 1e-6


@dataclass(frozen=True)
class Effort:
    """How much work the cases do."""

    #: Trees of a forest, and rows to explain.
    n_trees: int = 200
    n_rows: int = 1000
    #: The share of these rows that the peer explains: a tenth, if it is 10.
    share: int = 10
    #: Rows of a background.
    n_background: int = 100
    #: Rows whose pairs of features are explained.
    n_pairs: int = 20
    #: How often each contender is timed.
    rounds: int = 3


FULL = Effort()
QUICK = Effort(n_trees=50, n_rows=400, share=8, n_background=50, n_pairs=5, rounds=3)


def _single(X: Any) -> Any:
    """Features of 16 bits: thresholds, which lie between two values, have single precision.

    With a background, the package shap rounds thresholds to it: a value between a threshold and its
    rounding would go to the other side.
    """
    step = np.exp2(np.ceil(np.log2(np.abs(X).max(axis=0))) - 16)
    return np.ascontiguousarray(np.rint(X / step) * step)


def regression(n_trees: int) -> tuple[Any, Any]:
    """A forest of deep trees for a number."""
    X, y = make_regression(1000, 20, n_informative=10, noise=5.0, random_state=0)
    X = _single(X)
    return Forest(n_trees, max_features="sqrt", random_state=0).fit(X, y), X


def classification(n_trees: int) -> tuple[Any, Any]:
    """A forest for two classes."""
    X, y = load_breast_cancer(return_X_y=True)
    X = _single(X)
    forest = RandomForestClassifier(n_trees, random_state=0).fit(X, y)
    return forest, np.tile(X, (2, 1))


def boosting(n_trees: int) -> tuple[Any, Any]:
    """Boosted trees of depth 3 for two classes."""
    X, y = load_breast_cancer(return_X_y=True)
    X = _single(X)
    model = GradientBoostingClassifier(n_estimators=n_trees, random_state=0).fit(X, y)
    return model, np.tile(X, (2, 1))


def _both(
    case: str, shape: tuple[int, int], ours: Callable[[], Any], theirs: Callable[[], Any],
    factor: float, rounds: int, peer: str, target: Target | None,
) -> list[Measurement]:  # fmt: skip
    contenders = [Contender("orfeon", ours), Contender(peer, theirs, factor)]
    with one_thread():
        timings = interleave(contenders, rounds=rounds)
    found, known = timings["orfeon"].result, timings[peer].result
    apart = np.abs(found[: len(known)] - known)
    difference, largest = float(apart.max()), max(1.0, float(np.abs(known).max()))
    if difference > _CLOSE * largest:
        raise AssertionError(f"{case}: {peer} differs by {difference}")
    return compare(
        case, shape, timings, targets={} if target is None else {peer: target},
        notes={peer: [f"{case}: the answers differ by at most {difference:.1g}."]},
    )  # fmt: skip


def values(
    case: str, make: Callable[[int], Any], kind: str, effort: Effort, target: Target | None
) -> list[Measurement]:
    """Shapley values of one kind, and the package shap's."""
    import shap

    from orfeon.inspection import shap_values

    model, X = make(effort.n_trees)
    pairs = kind == "interactions"
    rows = X[: effort.n_pairs if pairs else effort.n_rows]
    background = None
    if kind == "background":  # of more than 100 rows the package shap draws 100
        background = X[:: max(1, len(X) // effort.n_background)][: effort.n_background]
    share = 1 if pairs else effort.share
    few = rows[: len(rows) // share]
    feature_perturbation = "tree_path_dependent" if background is None else "interventional"
    explainer = shap.TreeExplainer(model, background, feature_perturbation=feature_perturbation)

    def ours() -> Any:
        return shap_values(model, rows, background=background, interactions=pairs).values

    def theirs() -> Any:
        if pairs:
            return np.asarray(explainer.shap_interaction_values(few))
        return np.asarray(explainer.shap_values(few, check_additivity=False))

    return _both(case, rows.shape, ours, theirs, share, effort.rounds, "shap", target)


def dependence(case: str, make: Callable[[int], Any], effort: Effort) -> list[Measurement]:
    """Partial dependence on one feature, and scikit-learn's by brute force."""
    from sklearn.inspection import partial_dependence as by_prediction

    from orfeon.inspection import partial_dependence

    model, X = make(effort.n_trees)
    rows = X[: effort.n_rows]

    def ours() -> Any:
        return partial_dependence(model, rows, 3).average.T

    def theirs() -> Any:
        return by_prediction(model, rows, [3], method="brute").average

    peer = "scikit-learn, brute force"
    return _both(case, rows.shape, ours, theirs, 1.0, effort.rounds, peer, None)


def suite(quick: bool) -> Suite:
    """The cases of explanations."""
    effort = QUICK if quick else FULL
    cases = []

    def add(name: str, run: Callable[..., list[Measurement]], *arguments: Any) -> None:
        cases.append(Case(name, partial(run, name, *arguments)))

    notices = ["Sizes are rows to explain x features."]
    if importlib.util.find_spec("shap") is None:
        notices.append("The package shap is not installed: Shapley values are not compared.")
    else:
        models = {"forest, regression": regression, "forest": classification, "boosting": boosting}
        for name, make in models.items():
            add(f"path-dependent, {name}", values, make, "paths", effort, _TIMES_SHAP)
        for name in ("forest, regression", "forest"):
            add(f"background, {name}", values, models[name], "background", effort, None)
        add("interactions, forest", values, classification, "interactions", effort, None)
    add("partial dependence, forest", dependence, regression, effort)
    return Suite(cases, notices)
