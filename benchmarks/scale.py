"""Data of unusual size: time and memory of a tree and of boosting, each fit in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks import boosting_scale, cost_growth, forest_scale
from benchmarks.report import Measurement, Target, compare
from benchmarks.suite import Case, Suite
from benchmarks.timing import Timing

_ROOT = Path(__file__).resolve().parents[1]
_MEGABYTE, _GIGABYTE = 1e6, 1e9


def _fit(library: str, n_rows: int, n_features: int, n_classes: int) -> dict[str, float]:
    """The result of :mod:`benchmarks.one_fit` for one fit."""
    sizes = [str(size) for size in (n_rows, n_features, n_classes)]
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.one_fit", library, *sizes],
        cwd=_ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return answer


def _notes(name: str, ours: dict[str, float], theirs: dict[str, float]) -> list[str]:
    leaves = f"leaves {ours['leaves']:.0f}, scikit-learn {theirs['leaves']:.0f}"
    if "before" not in ours:
        return [f"{name}: {leaves}; peak memory cannot be measured here."]
    ours_fit, theirs_fit = ((one["peak"] - one["before"]) / _MEGABYTE for one in (ours, theirs))
    memory = f"memory of the fit itself {ours_fit:.0f} MB, scikit-learn {theirs_fit:.0f} MB"
    return [f"{name}: {leaves}; {memory}."]


def one_tree(
    name: str,
    n_rows: int,
    n_features: int,
    n_classes: int,
    rounds: int,
    memory_target: Target | None = None,
) -> list[Measurement]:
    """Time against scikit-learn; memory where there is a target."""
    sizes = (n_rows, n_features, n_classes)
    _fit("orfeon", min(n_rows, 70_000), 2, min(n_classes, 2))  # compiles, where that is still due
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(_fit("orfeon", *sizes))
        theirs.append(_fit("scikit-learn", *sizes))
    timing, peer_timing = (
        Timing(tuple(run["seconds"] for run in runs), median(run["cores"] for run in runs))
        for runs in (ours, theirs)
    )
    notes = _notes(name, ours[-1], theirs[-1])
    detail = {"orfeon": ours[-1], "scikit-learn": theirs[-1], "classes": n_classes}
    timings = {"orfeon": timing, "scikit-learn": peer_timing}
    measurements = compare(
        name, (n_rows, n_features), timings, notes={"scikit-learn": notes}, detail=detail
    )
    if memory_target is not None and "peak" in ours[0]:
        peak = max(run["peak"] for run in ours) / _GIGABYTE
        measurements.append(
            Measurement(
                f"{name}, memory of the process", n_rows, n_features, peak, "GB",
                timing.seconds, timing.spread, target=memory_target, detail=detail,
            )
        )  # fmt: skip
    return measurements


def suite(quick: bool) -> Suite:
    rounds = 1 if quick else 3
    n_rows = 200_000 if quick else 1_000_000
    memory = Target("at most", 1.5, "GB")
    return Suite(
        [
            Case(name, partial(one_tree, name, *arguments))
            for name, *arguments in (
                ("many rows", n_rows, 20, 2, rounds, memory),
                ("300 classes", 30_000, 20, 300, rounds),
                ("5000 features", 1000, 5000, 2, rounds),
                ("100 rows", 100, 20, 2, rounds),
            )
        ]
        + [Case("growth with rows", partial(cost_growth.of_forests, quick))]
        + forest_scale.cases(quick)
        + boosting_scale.cases(quick),
        list(dict.fromkeys([*forest_scale.notices(), *boosting_scale.notices()])),
    )
