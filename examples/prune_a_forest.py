"""Prune an ensemble: put its members in a better order and keep the first ones.

Run it with ``python examples/prune_a_forest.py``; it takes a few seconds. With ``--images DIR`` it
also draws the pictures of the user guide, which needs matplotlib.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import ensemble

import orfeon
from orfeon.datasets import make_waveform
from orfeon.ordering import MarginDistance, RandomOrder

Floats = npt.NDArray[np.float64]

N_TRAIN, N_TEST, N_MEMBERS, N_DRAWS = 300, 5000, 200, 5


# -- the ensembles ---------------------------------------------------------------------------------


def bag_of_pruned_trees(seed: int) -> Any:
    tree = orfeon.CARTClassifier(pruning="cv")
    return orfeon.BaggingClassifier(tree, n_estimators=N_MEMBERS, random_state=seed)


def bag_of_full_trees(seed: int) -> Any:
    tree = orfeon.CARTClassifier()
    return orfeon.BaggingClassifier(tree, n_estimators=N_MEMBERS, random_state=seed)


def random_forest(seed: int) -> Any:
    return orfeon.RandomForestClassifier(n_estimators=N_MEMBERS, random_state=seed)


def class_switching(seed: int) -> Any:
    return orfeon.ClassSwitchingClassifier(n_estimators=N_MEMBERS, random_state=seed)


def scikit_learn_forest(seed: int) -> Any:
    return ensemble.RandomForestClassifier(n_estimators=N_MEMBERS, random_state=seed)


def draw(seed: int) -> tuple[Floats, Any, Floats, Any]:
    """A training set and a test set of the waveform problem."""
    return (
        *make_waveform(N_TRAIN, random_state=seed),
        *make_waveform(N_TEST, random_state=1000 + seed),
    )


# -- what is printed -------------------------------------------------------------------------------

#: Ways to prune, by what is printed.
WAYS: dict[str, dict[str, Any]] = {
    "margin distance, 20%": {},
    "margin distance, auto": {"keep": "auto"},
    "margin distance, 20%, out-of-bag": {"on": "out_of_bag"},
    "reduce-error, 20%": {"rule": "reduce_error"},
    "orientation, 20%": {"rule": "orientation"},
    "most accurate 20%": {"rule": "individual_error"},
    "random 20%": {"rule": "random", "random_state": 0},
}


def error_and_seconds(model: Any, X: Floats, y: Any) -> tuple[float, float]:
    """Share of wrong predictions, and the seconds of the faster of two runs."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        predictions = model.predict(X)
        times.append(time.perf_counter() - start)
    return float(np.mean(predictions != y)), min(times)


def compare(build: Callable[[int], Any], ways: list[str]) -> None:
    """Prune an ensemble in several ways and print mean test errors."""
    chosen = {name: WAYS[name] for name in ways}
    found: dict[str, list[tuple[int, float, float]]] = {}
    for seed in range(N_DRAWS):
        X, y, X_test, y_test = draw(seed)
        whole = build(seed).fit(X, y)
        smaller = {name: orfeon.prune(whole, X, y, **how) for name, how in chosen.items()}
        for name, model in {"all members": whole, **smaller}.items():
            measured = error_and_seconds(model, X_test, y_test)
            found.setdefault(name, []).append((len(model.estimators_), *measured))
    print(f"  {'kept':33} {'members':>8} {'test error':>11} {'prediction':>11}")
    for name, rows in found.items():
        members, error, seconds = np.mean(rows, axis=0)
        print(f"  {name:33} {members:8.0f} {error:11.1%} {1e3 * seconds:8.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=Path, metavar="DIR", help="draw the pictures there")
    options = parser.parse_args()
    print(
        f"Waveform: {N_TRAIN} training samples, {N_TEST} test samples, means over {N_DRAWS} "
        "draws. The order is\nmade from the votes on the training set; the test set is used for "
        "the errors only."
    )
    print(f"\norfeon: bagging of {N_MEMBERS} CART trees, pruned by cross-validation\n")
    compare(bag_of_pruned_trees, list(WAYS))
    print("\n  A fifth of the members, well chosen, errs less than all of them.")
    print(f"\nscikit-learn: RandomForestClassifier of {N_MEMBERS} trees\n")
    # Orientation would warn: it is unstable where the ensemble is right on all samples.
    compare(scikit_learn_forest, [name for name in WAYS if "orientation" not in name])
    print(
        "\n  Unpruned trees make hardly any training errors: there is little to order by. "
        "A fifth\n  is better than a random fifth, and errs a little more than all. It is a way to "
        "be smaller,\n  not more accurate."
    )
    if options.images is not None:
        options.images.mkdir(parents=True, exist_ok=True)
        draw_pictures(options.images)


# -- pictures --------------------------------------------------------------------------------------

GREY, BLUE, RED, GREEN, SAND = "#7a7a7a", "#1f5fa8", "#b5442e", "#3b7d4f", "#b08a2e"
Curves = dict[str, Floats]


def mean_curves(build: Callable[[int], Any], n_draws: int = 10) -> Curves:
    """Mean error curves, in percent: ordered and not, on training and on test samples."""
    sums: Curves = {}
    for seed in range(n_draws):
        X, y, X_test, y_test = draw(seed)
        whole = build(seed).fit(X, y)
        votes, votes_test = whole.votes(X), whole.votes(X_test)
        for name, rule in {"ordered": MarginDistance(), "random": RandomOrder(seed)}.items():
            order = orfeon.ordering.order_votes(votes, y, rule=rule)
            for where, curve in {
                "training": order.error_curve,
                "test": order.test_curve_votes(votes_test, y_test),
            }.items():
                key = f"{name}, {where}"
                sums[key] = sums.get(key, np.zeros(N_MEMBERS)) + 100 * curve / n_draws
    return sums


def _bare(ax: Any) -> None:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set_xlim(1, N_MEMBERS)
    ax.set_xlabel("members kept")
    ax.set_ylabel("error, %")


def picture_of_the_idea(path: Path, curves: Curves) -> None:
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(6.4, 4.2), layout="constrained")
    sizes, fifth = np.arange(1, N_MEMBERS + 1), N_MEMBERS // 5
    for name, curve in curves.items():
        colour = BLUE if name.startswith("ordered") else GREY
        style = "-" if name.endswith("test") else "--"
        ax.plot(sizes, curve, color=colour, linestyle=style, linewidth=1.6)
    ax.axvline(fifth, color="0.8", linewidth=1, zorder=0)
    ax.text(fifth + 2, 34.3, "20% kept", color="0.35", va="top", fontsize=9)
    marked = curves["ordered, test"][fifth - 1]
    ax.plot([fifth], [marked], "o", color=BLUE, markersize=6)
    for x, name, text, shift in (
        (92, "random, test", "test, random order", 0.6),
        (92, "ordered, test", "test, ordered by margin distance", -1.6),
        (92, "random, training", "training, random order", 1.1),
        (92, "ordered, training", "training, ordered by margin distance", -1.9),
    ):
        colour = BLUE if name.startswith("ordered") else GREY
        ax.text(x, curves[name][x - 1] + shift, text, color=colour, fontsize=9)
    ax.set_ylim(0, 35)
    _bare(ax)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def picture_of_four_ensembles(path: Path, curves: dict[str, Curves]) -> None:
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")
    sizes = np.arange(1, N_MEMBERS + 1)
    for (name, found), colour in zip(curves.items(), (BLUE, RED, SAND, GREEN), strict=True):
        curve = found["ordered, test"]
        ax.plot(sizes, curve, color=colour, linewidth=1.6, label=name)
        ax.axhline(curve[-1], color=colour, linestyle=":", linewidth=1)
    ax.axvline(N_MEMBERS // 5, color="0.8", linewidth=1, zorder=0)
    ax.text(N_MEMBERS // 5 + 2, 34.3, "20% kept", color="0.35", va="top", fontsize=9)
    ax.legend(frameon=False, fontsize=9, loc="upper right", title="ordered, test error")
    ax.set_ylim(15, 35)
    ax.set_yticks(range(15, 36, 5))
    _bare(ax)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def picture_of_the_size(path: Path) -> None:
    from matplotlib import pyplot

    X, y, X_test, y_test = draw(0)
    bag = bag_of_pruned_trees(0).fit(X, y)
    order = orfeon.order(bag, X, y)
    choice = order.size_choice()
    assert choice.out_of_bag is not None
    figure, ax = pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")
    sizes = np.arange(1, N_MEMBERS + 1)
    for text, curve, colour, style, width in (
        ("cross-validated, out of bag", choice.out_of_bag, SAND, "-", 1.0),
        ("mean of the two, smoothed", choice.curve, BLUE, "-", 2.0),
        ("cross-validated, all members vote", choice.with_all_votes, GREEN, "-", 1.0),
        ("test (not used)", order.test_curve_votes(bag.votes(X_test), y_test), "black", "-", 1.2),
        ("training", order.error_curve, GREY, "--", 1.2),
    ):
        ax.plot(sizes, 100 * curve, color=colour, linestyle=style, linewidth=width, label=text)
    ax.plot([choice.size], [100 * choice.curve[choice.size - 1]], "o", color=BLUE)
    ax.annotate(
        f"{choice.size} kept", (choice.size, 100 * choice.curve[choice.size - 1]),
        xytext=(0, -14), textcoords="offset points", ha="center", color=BLUE, fontsize=9,
    )  # fmt: skip
    ax.set_ylim(0, 40)
    ax.legend(frameon=False, fontsize=9, ncols=2, loc="upper right")
    _bare(ax)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def draw_pictures(folder: Path) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    curves = {
        "bagging of pruned trees": mean_curves(bag_of_pruned_trees),
        "bagging of unpruned trees": mean_curves(bag_of_full_trees),
        "random forest": mean_curves(random_forest),
        "class-switching": mean_curves(class_switching),
    }
    for name, found in curves.items():
        fifth, whole = found["ordered, test"][[N_MEMBERS // 5 - 1, -1]]
        print(f"{name}: test error {whole:.1f}% with all members, {fifth:.1f}% with a fifth")
    picture_of_the_idea(folder / "ordered_curves.png", curves["bagging of pruned trees"])
    picture_of_four_ensembles(folder / "four_ensembles.png", curves)
    picture_of_the_size(folder / "automatic_size.png")
    print(f"\nThree pictures are in {folder}.")


if __name__ == "__main__":
    main()
