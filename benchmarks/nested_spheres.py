"""Boosted stumps against one stump and one large tree, on the nested spheres.

The label says whether a gaussian point in ten dimensions is farther from the origin than half of
them are. ``python -m benchmarks.nested_spheres`` prints the mean test errors over some draws of the
training set; with --picture it also draws them against the number of stumps.

References
----------
Hastie, Tibshirani and Friedman (2009). The Elements of Statistical Learning. Springer. Section
10.1.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import orfeon
from benchmarks.means import Mean
from orfeon.datasets import make_nested_spheres
from orfeon.workbench.reproduction.measures import error_percent

N_TRAIN, N_TEST = 2000, 10000
DRAWS, ROUNDS = 20, 400
QUICK_DRAWS, QUICK_ROUNDS = 3, 100
#: Numbers of stumps for which errors are printed.
SIZES = (1, 10, 30, 100, 200, 400)

Floats = npt.NDArray[np.float64]


class Errors(NamedTuple):
    """Test errors in percent on one draw, and the size of the tree."""

    #: Errors of one stump, and of one tree that is grown until its leaves are pure.
    stump: float
    tree: float
    #: Leaves of the tree.
    leaves: int
    #: Errors of the first stumps, one by one, of one boosted ensemble; of shape (rounds,).
    boosted: Floats


def measure(draw: int, rounds: int) -> Errors:
    """Train and test on one draw."""
    rng = np.random.default_rng(draw)
    X, y = make_nested_spheres(N_TRAIN, random_state=rng)
    X_test, y_test = make_nested_spheres(N_TEST, random_state=rng)
    stump = orfeon.StumpClassifier(random_state=draw).fit(X, y)
    tree = orfeon.CARTClassifier(random_state=draw).fit(X, y)
    boosted = orfeon.AdaBoostClassifier(stump, rounds, random_state=draw).fit(X, y)
    stages = [error_percent(answers, y_test) for answers in boosted.staged_predict(X_test)]
    return Errors(
        error_percent(stump.predict(X_test), y_test),
        error_percent(tree.predict(X_test), y_test),
        tree.get_n_leaves(),
        np.array(stages),
    )


def rounds_to_beat(found: Sequence[Errors]) -> int | None:
    """Stumps from which on the mean error is below that of the tree; None if it is not."""
    mean = np.mean([one.boosted for one in found], axis=0)
    above = np.flatnonzero(mean >= np.mean([one.tree for one in found]))
    first = int(above[-1]) + 2 if len(above) else 1
    return first if first <= len(mean) else None


def lines(found: Sequence[Errors]) -> list[str]:
    """The table of mean test errors, and from where on the tree is beaten."""
    rounds = len(found[0].boosted)
    leaves = np.mean([one.leaves for one in found])
    rows = [
        ("one stump", [one.stump for one in found]),
        (f"one tree of {leaves:.0f} leaves", [one.tree for one in found]),
    ]
    for size in (*(size for size in SIZES if size < rounds), rounds):
        name = f"{size} boosted stump{'s' if size > 1 else ''}"
        rows.append((name, [float(one.boosted[size - 1]) for one in found]))
    table = [f"| {name} | {Mean.of(errors)} |" for name, errors in rows]
    beaten = rounds_to_beat(found)
    words = "not yet beaten" if beaten is None else f"beaten from {beaten} stumps on"
    return ["| | test error, % |", "|---|---|", *table, "", f"The tree is {words}."]


def picture(found: Sequence[Errors], path: Path) -> None:
    """Draw the mean test error against the number of stumps, with its standard deviation."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")
    curves = np.array([one.boosted for one in found])
    sizes = np.arange(1, curves.shape[1] + 1)
    mean, spread = curves.mean(axis=0), curves.std(axis=0, ddof=1)
    ax.fill_between(sizes, mean - spread, mean + spread, color="#1f5fa8", alpha=0.2, linewidth=0)
    ax.plot(sizes, mean, color="#1f5fa8", linewidth=1.8)
    leaves = np.mean([one.leaves for one in found])
    _level(ax, float(np.mean([one.stump for one in found])), "one stump")
    _level(ax, float(np.mean([one.tree for one in found])), f"one tree of {leaves:.0f} leaves")
    at = len(sizes) // 4
    ax.annotate(
        "AdaBoost with stumps", (sizes[at], mean[at]), xytext=(8, 6), color="#1f5fa8",
        textcoords="offset points", fontsize=9,
    )  # fmt: skip
    ax.set(xlim=(1, len(sizes)), ylim=(0, 50), xlabel="stumps", ylabel="test error, %")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _level(ax: Any, error: float, text: str) -> None:
    ax.axhline(error, color="0.45", linestyle="--", linewidth=1.1)
    ax.annotate(
        text, (1.0, error), xycoords=("axes fraction", "data"), xytext=(-2, 4), ha="right",
        textcoords="offset points", color="0.3", fontsize=9,
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.nested_spheres", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--draws", type=int, metavar="N", help=f"default: {DRAWS}")
    parser.add_argument("--rounds", type=int, metavar="T", help=f"stumps; default: {ROUNDS}")
    parser.add_argument(
        "--quick", action="store_true",
        help=f"{QUICK_DRAWS} draws and {QUICK_ROUNDS} stumps, unless said otherwise",
    )  # fmt: skip
    parser.add_argument("--picture", type=Path, metavar="FILE", help="also draw a picture")
    options = parser.parse_args(arguments)
    draws, rounds = (QUICK_DRAWS, QUICK_ROUNDS) if options.quick else (DRAWS, ROUNDS)
    draws = draws if options.draws is None else options.draws
    rounds = rounds if options.rounds is None else options.rounds
    if draws < 2:
        parser.error(f"--draws must be 2 or more, got {draws}")
    if rounds < 1:
        parser.error(f"--rounds must be 1 or more, got {rounds}")
    found = [measure(draw, rounds) for draw in range(draws)]
    print(f"{N_TRAIN} training and {N_TEST} test samples; mean and standard error of {draws}.\n")
    print("\n".join(lines(found)))
    if options.picture is not None:
        picture(found, options.picture)
        print(f"\nThe picture is {options.picture}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
