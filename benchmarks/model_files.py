"""How large a model file is and how long it takes to load, against joblib's of scikit-learn."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import sklearn.ensemble

import orfeon
from benchmarks.contestants import SCIKIT_LEARN
from benchmarks.report import Measurement, Target, remarks
from benchmarks.suite import Case, Suite
from benchmarks.timing import Contender, Timing, interleave
from orfeon.datasets import make_friedman1, make_waveform

_ROWS = 1000
_SIZE = Target("at most", 0.5, "share")
#: For a thousand trees of the usual size, and beyond.
_MILLISECONDS, _NODES = 50.0, 500_000
_PEER = f"joblib, {SCIKIT_LEARN}"


class _Forests(NamedTuple):
    """A forest of ours, and scikit-learn's of the same settings."""

    ours: Any
    theirs: Any
    shape: tuple[int, int]


def _classification(n_trees: int) -> _Forests:
    X, y = make_waveform(_ROWS, random_state=0)
    limits: dict[str, Any] = {"n_estimators": n_trees, "random_state": 0}
    ours = orfeon.RandomForestClassifier(**limits).fit(X, y)
    theirs = sklearn.ensemble.RandomForestClassifier(**limits).fit(X, y)
    return _Forests(ours, theirs, X.shape)


def _regression(n_trees: int) -> _Forests:
    X, y = make_friedman1(_ROWS, random_state=0)
    limits: dict[str, Any] = {"n_estimators": n_trees, "random_state": 0, "max_features": None}
    ours = orfeon.RandomForestRegressor(**limits).fit(X, y)
    theirs = sklearn.ensemble.RandomForestRegressor(**limits).fit(X, y)
    return _Forests(ours, theirs, X.shape)


def sizes_and_times(
    name: str, make: Callable[[int], _Forests], n_trees: int, rounds: int
) -> list[Measurement]:
    """Bytes of both files, and milliseconds to load them; scikit-learn's forest from ours too."""
    made = make(n_trees)
    with tempfile.TemporaryDirectory(prefix="orfeon-benchmark-") as folder:
        files = {one: Path(folder) / one for one in ("ours", "joblib", "theirs in ours")}
        orfeon.save(made.ours, files["ours"])
        joblib.dump(made.theirs, files["joblib"])
        orfeon.save(made.theirs, files["theirs in ours"])
        timings = interleave(
            [
                Contender("orfeon", partial(orfeon.load, files["ours"])),
                Contender("mapped", partial(orfeon.load, files["ours"], memory_map=True)),
                Contender("of scikit-learn", partial(orfeon.load, files["theirs in ours"])),
                Contender(_PEER, partial(joblib.load, files["joblib"])),
            ],
            rounds=rounds,
        )
        sizes = {one: path.stat().st_size for one, path in files.items()}
    lines = [_size(f"{name}, size", made, sizes["ours"], sizes["joblib"])]
    for case, contender in (("load", "orfeon"), ("load with a memory map", "mapped")):
        lines.append(_time(f"{name}, {case}", made, timings, contender))
    case = f"{name}, scikit-learn's in ours"
    others = [
        _size(f"{case}, size", made, sizes["theirs in ours"], sizes["joblib"]),
        _time(f"{case}, load", made, timings, "of scikit-learn"),
    ]
    # What scikit-learn stores per node is its own choice, so there is no target.
    return [*lines, *(replace(line, target=None) for line in others)]


def _size(case: str, made: _Forests, ours: int, theirs: int) -> Measurement:
    nodes = len(made.ours.members_.nodes)
    peer_nodes = sum(tree.tree_.node_count for tree in made.theirs.estimators_)
    note = (
        f"{case}: {ours / 1e6:.2f} MB against {theirs / 1e6:.2f} MB; {nodes} nodes of ours, "
        f"{peer_nodes} of scikit-learn's."
    )
    return Measurement(
        case, *made.shape, figure=ours / theirs, unit="share", peer=_PEER, target=_SIZE,
        notes=[note], detail={"bytes": ours, "peer_bytes": theirs, "nodes": nodes},
    )  # fmt: skip


def _time(case: str, made: _Forests, timings: dict[str, Timing], name: str) -> Measurement:
    ours, theirs = timings[name], timings[_PEER]
    nodes = len(made.ours.members_.nodes)
    # Reading and hashing take time per byte, so a limit for any number of nodes makes no sense.
    target = Target("at most", _MILLISECONDS, "ms") if nodes < _NODES else None
    return Measurement(
        case, *made.shape, figure=1000 * ours.seconds, unit="ms", seconds=ours.seconds,
        spread=ours.spread, peer=_PEER, peer_seconds=theirs.seconds, peer_spread=theirs.spread,
        target=target, notes=[*remarks(name, ours), *remarks(_PEER, theirs)],
        detail={"rounds": len(ours.rounds), "trees": len(made.ours), "nodes": nodes},
    )  # fmt: skip


def suite(quick: bool) -> Suite:
    n_trees, rounds = (100, 3) if quick else (1000, 9)
    makers = {"classification": _classification, "regression": _regression}
    return Suite(
        [
            Case(f"{kind}, {n_trees} trees", partial(sizes_and_times, kind, make, n_trees, rounds))
            for kind, make in makers.items()
        ]
    )
