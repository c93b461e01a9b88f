"""Whether bagging or boosting suffers more from wrong labels.

A share of the labels of the training set is replaced by another class at random; the test set is
clean. Both ensembles have as many members, of the same kind: CART trees pruned by cross-validation,
or with --leaves not pruned but small. ``python -m benchmarks.noise_sensitivity`` prints test errors
and paired differences on problems that anyone can draw again; with --picture it also draws them.

References
----------
Dietterich (2000). An experimental comparison of three methods for constructing ensembles of
decision trees: bagging, boosting, and randomization. Machine Learning 40(2), 139-157.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import orfeon
from benchmarks.means import Mean
from benchmarks.selection_sets import mean_difference
from orfeon.datasets import problem
from orfeon.workbench.reproduction import PairedDifference, paired_difference
from orfeon.workbench.reproduction.measures import error_percent

PROBLEMS = ("twonorm", "threenorm", "waveform")
SHARES = (0.0, 0.05, 0.1, 0.2)
N_TRAIN, N_TEST = 300, 5000
DRAWS, MEMBERS = 20, 100
QUICK_DRAWS, QUICK_MEMBERS = 2, 10

Labels = npt.NDArray[np.int64]
#: Errors in percent by the number of the draw.
Errors = dict[int, float]
#: Errors by the share of wrong labels and the ensemble.
Found = Mapping[tuple[float, str], Errors]


def _tree(leaves: int | None) -> Any:
    if leaves is None:
        return orfeon.CARTClassifier(pruning="cv")
    return orfeon.CARTClassifier(max_leaf_nodes=leaves)


def _bagging(tree: Any, members: int, random_state: int) -> Any:
    return orfeon.BaggingClassifier(tree, members, random_state=random_state)


def _boosting(tree: Any, members: int, random_state: int) -> Any:
    """AdaBoost that goes on after a member without error, so that both have all their members."""
    return orfeon.AdaBoostClassifier(
        tree, members, algorithm="m1", on_failure="bootstrap", min_weight=1e-8,
        random_state=random_state,
    )  # fmt: skip


ENSEMBLES: dict[str, Callable[[Any, int, int], Any]] = {"bagging": _bagging, "boosting": _boosting}


def with_wrong_labels(
    y: Labels, share: float, n_classes: int, order: npt.NDArray[np.int64], steps: Labels
) -> Labels:
    """Replace the labels of the first samples of an order.

    With one order the labels that are wrong at a small share are also wrong at a larger one.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.noise_sensitivity import with_wrong_labels
    >>> with_wrong_labels(np.array([0, 1, 2, 2]), 0.5, 3, np.array([3, 0, 1, 2]), np.full(4, 2))
    array([2, 1, 2, 1])
    """
    wrong = order[: round(share * len(y))]
    noisy = y.copy()
    noisy[wrong] = (y[wrong] + steps[wrong]) % n_classes
    return noisy


def measure(name: str, draws: int, members: int, leaves: int | None = None) -> Found:
    """Test errors on a problem, at all shares and of both ensembles, on the same draws."""
    found: dict[tuple[float, str], Errors] = {(s, e): {} for s in SHARES for e in ENSEMBLES}
    drawn_from = problem(name)
    for draw in range(draws):
        rng = np.random.default_rng([PROBLEMS.index(name), draw])
        X, y = drawn_from.sample(N_TRAIN, random_state=rng)
        X_test, y_test = drawn_from.sample(N_TEST, random_state=rng)
        n_classes = int(y_test.max()) + 1
        order, steps = rng.permutation(N_TRAIN), rng.integers(1, n_classes, N_TRAIN)
        for share in SHARES:
            noisy = with_wrong_labels(y, share, n_classes, order, steps)
            for ensemble, build in ENSEMBLES.items():
                model = build(_tree(leaves), members, draw).fit(X, noisy)
                error = error_percent(model.predict(X_test), y_test)
                found[share, ensemble][draw] = error
    return found


def _difference(found: Found, share: float) -> PairedDifference:
    return paired_difference(found[share, "boosting"], found[share, "bagging"])


def lines(found: Mapping[str, Found]) -> list[str]:
    """The table, a row for each problem and share; the means over problems come last."""
    table = [
        "| problem | wrong labels | bagging | boosting | boosting - bagging |",
        "|---|---|---|---|---|",
    ]
    for name, of_problem in found.items():
        for share in SHARES:
            means = [Mean.of(list(of_problem[share, e].values())) for e in ENSEMBLES]
            cells = [name, f"{share:.0%}", *map(str, means), str(_difference(of_problem, share))]
            table.append(f"| {' | '.join(cells)} |")
    for share in SHARES:
        errors = [
            np.mean([np.mean(list(one[share, e].values())) for one in found.values()])
            for e in ENSEMBLES
        ]
        paired = mean_difference([_difference(one, share) for one in found.values()])
        cells = ["**mean**", f"{share:.0%}", *(f"{error:.2f}" for error in errors), str(paired)]
        table.append(f"| {' | '.join(cells)} |")
    return table


def picture(found: Mapping[str, Found], path: Path) -> None:
    """Draw the errors of both ensembles against the share of wrong labels."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        1, len(found), figsize=(8.4, 3.2), layout="constrained", squeeze=False
    )
    for ax, (name, of_problem) in zip(axes[0], found.items(), strict=True):
        for ensemble, colour in zip(ENSEMBLES, ("#7a7a7a", "#1f5fa8"), strict=True):
            means = [Mean.of(list(of_problem[share, ensemble].values())) for share in SHARES]
            ax.errorbar(
                [100 * share for share in SHARES], [mean.value for mean in means],
                [2 * mean.standard_error for mean in means], color=colour, label=ensemble,
                marker="o", markersize=4, capsize=2, linewidth=1.6,
            )  # fmt: skip
        ax.set(title=name, xlabel="wrong training labels, %", xticks=[0, 5, 10, 20])
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("test error, %")
    axes[0, 0].legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.noise_sensitivity", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--draws", type=int, metavar="N", help=f"default: {DRAWS}")
    parser.add_argument("--members", type=int, metavar="T", help=f"default: {MEMBERS}")
    parser.add_argument(
        "--leaves", type=int, metavar="L", help="trees of at most L leaves; default: pruned trees"
    )
    parser.add_argument(
        "--quick", action="store_true",
        help=f"{QUICK_DRAWS} draws and {QUICK_MEMBERS} members, unless said otherwise",
    )  # fmt: skip
    parser.add_argument("--picture", type=Path, metavar="FILE", help="also draw a picture")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    draws, members = (QUICK_DRAWS, QUICK_MEMBERS) if options.quick else (DRAWS, MEMBERS)
    draws = draws if options.draws is None else options.draws
    members = members if options.members is None else options.members
    if draws < 2:
        parser.error(f"--draws must be 2 or more, got {draws}")
    if members < 1:
        parser.error(f"--members must be 1 or more, got {members}")
    if options.leaves is not None and options.leaves < 2:
        parser.error(f"--leaves must be 2 or more, got {options.leaves}")
    found = {name: measure(name, draws, members, options.leaves) for name in PROBLEMS}
    kind = "pruned trees" if options.leaves is None else f"trees of at most {options.leaves} leaves"
    print(
        f"Test errors in percent with {members} {kind}, {N_TRAIN} training and {N_TEST} test "
        f"samples; mean and standard error of {draws} draws.\n"
    )
    print("\n".join(lines(found)))
    if options.picture is not None:
        picture(found, options.picture)
        print(f"\nThe picture is {options.picture}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
