"""Boosting IGP, word for word (figure 3.4 of Martínez-Muñoz's thesis), with sixty digits.

A tree that repeats the one before errs on exactly half of the weight; with the digits of a float
that would be a matter of luck. Trees come from :func:`orfeon.growth.grow_igp_forest`, which has
oracles of its own; what is written out here is all around them: errors, stops, the reweighting of
each half, the floor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.presorted import Table
from orfeon.forest import Forest
from orfeon.growth import Growth, grow_igp_forest

#: No weight falls below this.
FLOOR = Decimal("1e-8")
#: One half, but for what rounding leaves.
HALF = Decimal("0.4" + 40 * "9")
DIGITS = Context(prec=60)


@dataclass
class Run:
    """What happened in a run."""

    trees: list[Forest] = field(default_factory=list)
    errors: list[Decimal] = field(default_factory=list)
    weights: list[list[Decimal]] = field(default_factory=list)
    resets: int = 0
    end: str = "all trees"


def grow_tree(
    X: npt.NDArray[np.float64],
    y: npt.NDArray[np.int64],
    halves: npt.NDArray[np.uint8],
    weights: list[Decimal],
    seed: np.uint64,
    n_classes: int,
    criterion: Any,
) -> Forest:
    """IGP(L1, L2, w); equal weights are counts."""
    n = len(y)
    equal = all(w == weights[0] for w in weights)
    given = np.ones(n, np.int64) if equal else np.array([float(w * n) for w in weights])
    forest, _ = grow_igp_forest(
        Table(X), X, y, halves, n_classes=n_classes, seeds=np.array([seed], np.uint64),
        weights=given, growth=Growth(criterion),
    )  # fmt: skip
    return forest


def boost_igp(
    X: npt.NDArray[np.float64],
    y: npt.NDArray[np.int64],
    halves: npt.NDArray[np.uint8],
    seeds: list[np.uint64],
    *,
    n_classes: int,
    initial: list[Decimal] | None = None,
    criterion: Any = "gini",
) -> Run:
    """Run boosting IGP with one tree for each seed, unless it ends before.

    ``initial`` are the weights before the first tree; 1/N by default.
    """
    with localcontext(DIGITS):
        return _run(X, y, halves, seeds, n_classes, initial, criterion)


def _run(
    X: npt.NDArray[np.float64],
    y: npt.NDArray[np.int64],
    halves: npt.NDArray[np.uint8],
    seeds: list[np.uint64],
    n_classes: int,
    initial: list[Decimal] | None,
    criterion: Any,
) -> Run:
    n = len(y)
    start = [Decimal(1) / n] * n if initial is None else initial
    w = list(start)
    run = Run()
    for seed in seeds:
        run.weights.append(w)
        tree = grow_tree(X, y, halves, w, seed, n_classes, criterion)
        wrong = [int(p) != int(c) for p, c in zip(tree.predict(X), y, strict=True)]
        error = sum((w[i] for i in range(n) if wrong[i]), Decimal(0))
        run.errors.append(error)
        if error >= HALF:
            run.end = "half of the weight"
            if not run.trees:  # none was kept: the first tree then
                run.trees.append(tree)
            return run
        run.trees.append(tree)
        if error == 0:
            run.end = "no error"
            return run
        w = reweigh(w, start, halves, wrong, run)
    return run


def reweigh(
    w: list[Decimal],
    start: list[Decimal],
    halves: npt.NDArray[np.uint8],
    wrong: list[bool],
    run: Run,
) -> list[Decimal]:
    """Each half on its own; then the floor, and a sum of one."""
    w = list(w)
    for k in (1, 2):
        mine = [i for i in range(len(w)) if halves[i] == k]
        total = sum(w[i] for i in mine)
        e = sum((w[i] for i in mine if wrong[i]), Decimal(0)) / total
        if e >= HALF or e == 0:
            run.resets += 1
            for i in mine:
                w[i] = start[i]
        else:
            for i in mine:
                w[i] /= 2 * e if wrong[i] else 2 * (1 - e)
    w = [max(v, FLOOR) for v in w]
    total = sum(w)
    return [v / total for v in w]
