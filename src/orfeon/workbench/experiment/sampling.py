"""How many rows a comparison can afford within a budget.

Every method is timed on two small samples, which also compiles what is not compiled yet. From the
second, and from how much longer it took, follows the time of an outer fold of any size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.workbench.experiment.evaluation import Evaluation, RunKey, take_rows
from orfeon.workbench.experiment.folding import Folding
from orfeon.workbench.experiment.plan import Plan
from orfeon.workbench.tasks.parallel import run_all

Rows = npt.NDArray[np.int64]

#: Tables up to this size are studied whole: their fits take fractions of a second.
SMALL = 2000
#: Rows of the two samples that are timed.
_SAMPLES = (500, 1000)
#: Growth of the time with the number of rows is taken to lie between these powers.
_LEAST_POWER, _GREATEST_POWER = 1.0, 1.4
#: Outer folds that must fit, in this share of the budget.
_FOLDS, _SHARE = 5, 0.7


def sample_rows(y: npt.NDArray[Any], n_rows: int, is_stratified: bool, seed: int) -> Rows:
    """Rows drawn at random, in their order."""
    if n_rows >= len(y):
        return np.arange(len(y))
    generator = np.random.default_rng(np.random.SeedSequence([seed, len(y), n_rows]))
    if not is_stratified:
        return np.sort(generator.choice(len(y), n_rows, replace=False))
    codes, counts = np.unique(y, return_counts=True)
    quotas = n_rows * counts / len(y)
    wanted = np.floor(quotas).astype(np.int64)
    # What rounding down leaves goes to the classes that lost most by it.
    wanted[np.argsort(wanted - quotas, kind="stable")[: n_rows - wanted.sum()]] += 1
    wanted = np.maximum(wanted, np.minimum(2, counts))
    drawn = [
        generator.choice(np.flatnonzero(y == code), n, replace=False)
        for code, n in zip(codes, wanted, strict=True)
    ]
    return np.sort(np.concatenate(drawn))


def affordable_rows(
    seconds: Mapping[str, tuple[float, float]], n_rows: int, n_inner: int, budget: float
) -> int:
    """Rows with which some outer folds of all methods fit into a budget."""

    def fold(rows: float) -> float:
        """Time of an outer fold: one fit on four fifths of the rows, inner ones on less."""
        total = 0.0
        for small, large in seconds.values():
            ratio = large / small if small > 0 else 2.0
            power = min(max(math.log2(max(ratio, 1.0)), _LEAST_POWER), _GREATEST_POWER)
            inner = n_inner * ((n_inner - 1) / n_inner) ** power
            total += large * (0.8 * rows / _SAMPLES[1]) ** power * (1.0 + inner)
        return total

    allowed = _SHARE * budget / _FOLDS
    if fold(n_rows) <= allowed:
        return n_rows
    low, high = float(min(_SAMPLES[1], n_rows)), float(n_rows)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if fold(middle) <= allowed else (low, middle)
    return int(low)


def time_methods(
    evaluation: Evaluation, plan: Plan, run: Callable[..., Any] = run_all, **where: Any
) -> dict[str, tuple[float, float]]:
    """Time every method on two samples."""
    is_stratified = plan.task == "classification"
    found: dict[str, list[float]] = {name: [] for name in plan.methods}
    # The first round compiles; its times would mean nothing.
    for n_rows in (_SAMPLES[0], *_SAMPLES):
        rows = sample_rows(evaluation.y, n_rows, is_stratified, plan.seed)
        y = evaluation.y[rows]
        # Two halves: both sides of the split are as large as the sample is to be.
        twice = np.concatenate([np.arange(len(rows)), np.arange(len(rows))])
        folding = Folding(y[twice], False, plan.seed, kind="splits", test_share=0.5)
        small = replace(
            evaluation, X=take_rows(evaluation.X, rows[twice]), y=y[twice], folding=folding
        )
        keys = [RunKey(0, None, name) for name in plan.methods]
        for done in run(small, keys, **where):
            found[done.configuration["method"]].append(done.seconds)
    return {name: (times[1], times[2]) for name, times in found.items()}
