"""How much memory a fitted forest takes, against scikit-learn's forest of the very same trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.ensemble

from benchmarks import problems
from benchmarks.contestants import SCIKIT_LEARN
from benchmarks.conversion import from_scikit_learn
from benchmarks.problems import Floats
from benchmarks.report import Measurement, Target
from orfeon import RandomForestRegressor
from orfeon.datasets import make_friedman1
from orfeon.forest import Forest

_ROWS = 2000
_HALF = Target("at most", 0.5, "share")


def _arrays(thing: Any) -> list[np.ndarray[Any, Any]]:
    if isinstance(thing, np.ndarray):
        return [thing]
    if isinstance(thing, tuple | list):
        return [array for part in thing for array in _arrays(part)]
    return []


def forest_bytes(forest: Forest) -> int:
    """Bytes of all arrays of a forest, including those cached by predictions."""
    arrays = {id(array): array for part in vars(forest).values() for array in _arrays(part)}
    return sum(array.nbytes for array in arrays.values())


def scikit_learn_bytes(ensemble: Any) -> int:
    """Bytes of the nodes and values of the trees of a scikit-learn ensemble."""
    states = [member.tree_.__getstate__() for member in ensemble.estimators_]
    return sum(state["nodes"].nbytes + state["values"].nbytes for state in states)


def _line(case: str, shape: tuple[int, int], forest: Forest, theirs: Any) -> Measurement:
    """Bytes a node, so that forests of not quite the same trees may be compared too."""
    n_nodes = len(forest.nodes)
    peer_nodes = sum(member.tree_.node_count for member in theirs.estimators_)
    ours, peer = forest_bytes(forest) / n_nodes, scikit_learn_bytes(theirs) / peer_nodes
    note = (
        f"{case}: bytes a node {ours:.2f}, scikit-learn {peer:.2f}; {len(forest)} trees of "
        f"{n_nodes / len(forest):.0f} nodes, scikit-learn {peer_nodes / len(theirs):.0f}."
    )
    detail = {
        "bytes_per_node": ours, "peer_bytes_per_node": peer, "nodes": n_nodes,
        "peer_nodes": peer_nodes,
    }  # fmt: skip
    return Measurement(
        case, *shape, figure=ours / peer, unit="share", peer=SCIKIT_LEARN, target=_HALF,
        notes=[note], detail=detail,
    )  # fmt: skip


def classification(
    name: str, make: Callable[[int], problems.Data], n_trees: int
) -> list[Measurement]:
    """After votes were counted, and after the class shares of the leaves were averaged too."""
    data = make(_ROWS)
    theirs = sklearn.ensemble.RandomForestClassifier(n_trees, random_state=0)
    theirs.fit(data.narrow, data.y)
    forest = from_scikit_learn(theirs)
    forest.predict(data.X)
    lines = [_line(name, data.shape, forest, theirs)]
    forest.mean_supports(data.X)
    return [*lines, _line(f"{name}, soft vote", data.shape, forest, theirs)]


def _friedman(n_rows: int) -> tuple[Floats, Floats]:
    X, y = make_friedman1(n_rows, random_state=0)
    return np.asarray(X, np.float32).astype(np.float64), y


def regression(name: str, n_trees: int, least: int) -> list[Measurement]:
    """After a prediction, of the same trees and of those that orfeon grows itself.

    A forest of pure leaves has no variances to keep, so leaves of one sample and of several
    differ, and it matters whether the trees' own arithmetic finds pure leaves pure. A sample
    drawn twice counts twice in orfeon's leaves of several and once in scikit-learn's.
    """
    X, y = _friedman(_ROWS)
    limits: dict[str, Any] = {"n_estimators": n_trees, "min_samples_leaf": least, "random_state": 0}
    theirs = sklearn.ensemble.RandomForestRegressor(**limits).fit(X, y)
    own = RandomForestRegressor(max_features=None, **limits).fit(X, y).forest_
    lines = []
    for case, forest in ((name, from_scikit_learn(theirs)), (f"{name}, own trees", own)):
        forest.predict(X)
        lines.append(_line(case, X.shape, forest, theirs))
    return lines
