"""Single trees and ensembles of independent members, side by side: figures and pictures.

Run it with ``python examples/draw_trees_and_ensembles.py``; it takes a few minutes on an idle core.
With ``--out FOLDER`` it also draws the pictures of the guide's pages on trees and on ensembles,
which needs matplotlib.
``--quick`` uses one training set and few members, in a few seconds; its figures are rough.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import orfeon
from orfeon.datasets import GaussianClouds, problem
from orfeon.rendering import export_text, plot_tree

Floats = npt.NDArray[np.float64]
Build = Callable[[int, int], Any]  # from the number of members and the seed to an estimator

N_TRAIN = 300
CLASS_PROBLEMS = ("waveform", "twonorm", "threenorm", "ringnorm")
NUMBER_PROBLEMS = ("friedman1", "friedman2")
CURVES = ("bagging", "random forest", "extra-trees", "class-switching", "IGP committees, 9 in each")
#: Quinlan's table of days: outlook, temperature, humidity, windy, and whether one plays golf.
GOLF = """sunny 85 85 no stay, sunny 80 90 yes stay, overcast 83 78 no play, rain 70 96 no play,
rain 68 80 no play, rain 65 70 yes stay, overcast 64 65 yes play, sunny 72 95 no stay,
sunny 69 70 no play, rain 75 80 no play, sunny 75 70 yes play, overcast 72 90 yes play,
overcast 81 75 no play, rain 71 80 yes stay"""


class Effort(NamedTuple):
    """How much is done: training sets, members, test samples, problems."""

    n_draws: int = 10
    n_members: int = 200
    n_test: int = 5000
    n_problems: int = 4


QUICK = Effort(1, 20, 500, 2)


# -- What is compared ------------------------------------------------------------------------------


def single(name: str, **settings: Any) -> Build:
    """A single tree."""
    return lambda members, seed: getattr(orfeon, name)(random_state=seed, **settings)


def many(name: str, **settings: Any) -> Build:
    """An ensemble."""
    return lambda members, seed: getattr(orfeon, name)(
        n_estimators=members, random_state=seed, **settings
    )


def committees(members: int, seed: int) -> Any:
    """As many trees, in committees of nine."""
    return orfeon.IGPCommitteesClassifier(max(1, round(members / 9)), 9, random_state=seed)


def parts(members: int, seed: int) -> Any:
    """Ten parts of the samples, as many members in all."""
    each = max(1, members // 10)
    return orfeon.PartitionedClassifier(n_partitions=10, n_estimators=each, random_state=seed)


TREES: dict[str, Build] = {
    "CART, unpruned": single("CARTClassifier"),
    "CART, cross-validated, 1-SE": single("CARTClassifier", pruning="cv"),
    "CART, cross-validated, minimum": single("CARTClassifier", pruning="cv", pruning_rule="min"),
    "C4.5": single("C45Classifier"),
    "C4.5, to the end": single(
        "C45Classifier", pruning=False, min_samples_leaf=1, mdl_penalty=False, collapse=False
    ),
    "IGP": single("IGPTreeClassifier"),
    "stump": single("StumpClassifier"),
    "random tests": single("RandomTreeClassifier"),
    "best of random cuts": single("RandomTreeClassifier", max_features=None),
    "oblique": single("ObliqueTreeClassifier"),
}

ENSEMBLES: dict[str, Build] = {
    "bagging": many("BaggingClassifier"),
    "bagging, halves without replacement": many(
        "BaggingClassifier", bootstrap=False, max_samples=0.5
    ),
    "bagging, balanced": many("BaggingClassifier", bootstrap="balanced"),
    "bagging of pruned trees": many(
        "BaggingClassifier", estimator=orfeon.CARTClassifier(pruning="cv")
    ),
    "double-bagging": many("DoubleBaggingClassifier"),
    "wagging, gaussian": many("WaggingClassifier"),
    "wagging, Poisson": many("WaggingClassifier", noise="poisson"),
    "random subspaces": many("RandomSubspaceClassifier"),
    "random forest": many("RandomForestClassifier"),
    "random forest, one feature": many("RandomForestClassifier", max_features=1),
    "random forest, features per tree": many("RandomForestClassifier", features_per="tree"),
    "oblique forest": many("ObliqueForestClassifier"),
    "randomised trees": many("RandomizedTreesClassifier"),
    "extra-trees": many("ExtraTreesClassifier"),
    "extra-trees, one feature": many("ExtraTreesClassifier", max_features=1),
    "class-switching": many("ClassSwitchingClassifier"),
    "flipping": many("FlippingClassifier"),
    "IGP ensemble": many("IGPEnsembleClassifier"),
    "boosting IGP": many("BoostingIGPClassifier"),
    "IGP committees, 9 in each": committees,
    "ten parts": parts,
}

REGRESSORS: dict[str, Build] = {
    "CART, unpruned": single("CARTRegressor"),
    "CART, cross-validated, 1-SE": single("CARTRegressor", pruning="cv"),
    "bagging": many("BaggingRegressor"),
    "wagging, gaussian": many("WaggingRegressor"),
    "random subspaces": many("RandomSubspaceRegressor"),
    "random forest": many("RandomForestRegressor"),
    "oblique forest": many("ObliqueForestRegressor"),
    "extra-trees": many("ExtraTreesRegressor"),
    "output smearing": many("OutputSmearingRegressor"),
}


# -- Figures ---------------------------------------------------------------------------------------


class Result(NamedTuple):
    """Of each training set: the error with 1, 2, ... members, and the leaves of a tree."""

    curves: Floats
    leaves: Floats

    @property
    def errors(self) -> Floats:
        """Errors with all members."""
        return self.curves[:, -1]


def measure(name: str, build: Build, effort: Effort) -> Result:
    """Train a method on some training sets of a problem, and test it."""
    source = problem(name)
    X_test, y_test = source.sample(effort.n_test, random_state=1000)
    curves, leaves = [], []
    for draw in range(effort.n_draws):
        X, y = source.sample(N_TRAIN, random_state=draw)
        model = build(effort.n_members, draw).fit(X, y)
        is_tree = not hasattr(model, "staged_score")
        scores = [model.score(X_test, y_test)] if is_tree else [*model.staged_score(X_test, y_test)]
        # A run of boosting may end early; its vote is then that of the members there are.
        scores += [scores[-1]] * (0 if is_tree else effort.n_members - len(scores))
        curves.append(1 - np.array(scores))
        leaves.append(model.forest_.n_leaves.mean())
    return Result(np.array(curves), np.array(leaves))


def print_table(
    title: str, methods: Mapping[str, Build], problems: tuple[str, ...], effort: Effort
) -> dict[tuple[str, str], Result]:
    """Print mean errors in percent with their standard errors, and leaves on the first problem."""
    print(f"\n{title}\n")
    heads = [*problems, f"leaves, {problems[0]}"]
    print("| |" + "".join(f" {head} |" for head in heads) + "\n|---|" + "---|" * len(heads))
    results = {}
    for method, build in methods.items():
        cells = []
        for name in problems:
            found = results[method, name] = measure(name, build, effort)
            cells.append(f"{100 * found.errors.mean():.1f}")
            if effort.n_draws > 1:
                spread = found.errors.std(ddof=1) / effort.n_draws**0.5
                cells[-1] += f" ± {100 * spread:.1f}"
        cells.append(f"{results[method, problems[0]].leaves.mean():.0f}")
        print(f"| {method} | " + " | ".join(cells) + " |", flush=True)
    return results


def print_golf() -> Any:
    """Print the tree of Quinlan's table; the tree."""
    import pandas

    rows = [row.split() for row in GOLF.replace("\n", " ").split(",")]
    table = pandas.DataFrame(rows, columns=["outlook", "temperature", "humidity", "windy", "golf"])
    table = table.astype({"temperature": float, "humidity": float})
    tree = orfeon.C45Classifier().fit(table.drop(columns="golf"), table["golf"])
    print("\nC4.5 on Quinlan's days\n")
    print(export_text(tree))
    return tree


# -- Pictures --------------------------------------------------------------------------------------


def keep(figure: Any, folder: Path, name: str, dpi: int = 100) -> None:
    """Save a picture with few colours: a small file."""
    from matplotlib import pyplot
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    figure.savefig(path, dpi=dpi)
    pyplot.close(figure)
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def draw_plane(folder: Path) -> None:
    """Decision regions of eight trees for the same 200 points of two clouds."""
    from matplotlib import pyplot

    from orfeon.inspection import ClassificationMapDisplay

    clouds = GaussianClouds(priors=(0.5, 0.5))
    X, y = clouds.sample(200, random_state=6)
    X_test, y_test = clouds.sample(5000, random_state=1000)
    shown = [name for name in TREES if "minimum" not in name and "to the end" not in name]
    figure, axes = pyplot.subplots(2, 4, figsize=(10, 5.6), layout="constrained")
    for ax, name in zip(axes.flat, shown, strict=True):
        tree = TREES[name](1, 0).fit(X, y)
        ClassificationMapDisplay.from_estimator(tree, X, y, box=((-4, 4.5), (-4, 4.5)), ax=ax)
        answers = f"{tree.get_n_leaves()} leaves, error {1 - tree.score(X_test, y_test):.1%}"
        ax.set_title(f"{name}\n{answers}", fontsize=10)
        ax.set(xlabel="", ylabel="", xticks=[], yticks=[])
        if ax.get_legend() is not None:
            ax.get_legend().remove()
    keep(figure, folder, "trees_on_a_plane")


def draw_pruning(folder: Path) -> None:
    """Errors of the nested trees of one pruning path: training, cross-validation, test."""
    from matplotlib import pyplot

    from orfeon.forest.pruning import prune_to_alpha

    X, y = problem("waveform").sample(N_TRAIN, random_state=0)
    X_test, y_test = problem("waveform").sample(5000, random_state=1000)
    tree = orfeon.CARTClassifier(pruning="cv", random_state=0).fit(X, y)
    whole = orfeon.CARTClassifier(random_state=0).fit(X, y).forest_
    found = tree.cross_validation_
    steps = [prune_to_alpha(whole, alpha * (1 + 1e-9)) for alpha in found.alphas]
    best = int(np.argmin(found.losses))
    figure, ax = pyplot.subplots(figsize=(7, 4), layout="constrained")
    ax.errorbar(
        found.n_leaves, found.losses, found.standard_errors, marker="o", ms=4, capsize=2,
        color="#1f5fa8", label="cross-validation, ± one standard error",
    )  # fmt: skip
    for rows, labels, style, name in ((X, y, ":", "training"), (X_test, y_test, "--", "test")):
        errors = [np.mean(step.votes(rows)[0] != labels) for step in steps]
        ax.plot(found.n_leaves, errors, style, color="#555555", label=name)
    limit = found.losses[best] + found.standard_errors[best]
    ax.axhline(limit, color="#b8860b", lw=0.8, label="least error + one standard error")
    ax.plot(
        found.n_leaves[found.step], found.losses[found.step], "o", ms=12, mfc="none", mec="#b22222",
        mew=1.8, label=f"1-SE rule: {found.n_leaves[found.step]} leaves",
    )  # fmt: skip
    ax.set(xscale="log", xlabel="leaves", ylabel="error", ylim=(0, None))
    ticks = [1, 2, 3, 4, 6, 9, 11, 18, 37]
    ax.set_xticks(ticks, [str(n) for n in ticks])
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.minorticks_off()
    ax.legend(frameon=False, fontsize=9)
    keep(figure, folder, "pruning_path")


def draw_golf(tree: Any, folder: Path) -> None:
    """The tree of Quinlan's days as a drawing."""
    keep(plot_tree(tree).figure, folder, "golf_tree", dpi=110)


def draw_perturbations(folder: Path) -> None:
    """The same 60 samples as one member of each of six ensembles sees them."""
    from matplotlib import pyplot

    from orfeon.ensembles import flipping, switching, wagging
    from orfeon.trees.igp import halve_groups

    X, y = GaussianClouds(priors=(0.7, 0.3)).sample(60, random_state=3)
    rng, ones = np.random.default_rng(1), np.ones(len(y))
    drawn = np.bincount(rng.integers(len(y), size=len(y)), minlength=len(y))
    switched = switching.switch_labels(y, 2, round(0.2 * len(y)), rng)
    chances = flipping.flip_probabilities(np.bincount(y) / len(y), 0.2)
    flipped = flipping.flip_labels(y, chances, rng)
    halves = halve_groups(np.arange(len(y)), y, ones, rng)
    flat = X * [1.0, 0.0]
    panels = [
        (f"bagging: {np.sum(drawn > 0)} of 60 are drawn", X, drawn, y, None),
        ("wagging: random weights", X, wagging.gaussian_weights(len(y), 2.0, rng), y, None),
        ("random subspace: one feature of two", flat, ones, y, None),
        (f"class-switching: {np.sum(switched != y)} labels", X, ones, switched, switched != y),
        (f"flipping: {np.sum(flipped != y)} labels", X, ones, flipped, flipped != y),
        ("IGP: halves take turns", X, ones, y, halves == 2),
    ]
    figure, axes = pyplot.subplots(2, 3, figsize=(10, 6), layout="constrained")
    colours = np.array(["#1f5fa8", "#d9822b"])
    for ax, (title, at, sizes, labels, marked) in zip(axes.flat, panels, strict=True):
        is_half = title.startswith("IGP")
        face = [
            "white" if is_half and second else colours[label]
            for label, second in zip(labels, halves == 2, strict=True)
        ]
        edge = colours[labels] if is_half else "none"
        ax.scatter(*at.T, s=28 * np.asarray(sizes), c=face, edgecolors=edge, linewidths=1.3)
        if marked is not None and not is_half:
            ax.scatter(*at[marked].T, s=90, facecolors="none", edgecolors="#222222", linewidths=1.1)
        ax.set(title=title, xticks=[], yticks=[])
    keep(figure, folder, "perturbed_samples")


def draw_curves(results: Mapping[tuple[str, str], Result], effort: Effort, folder: Path) -> None:
    """Mean test error against the number of members."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for ax, name in zip(axes, ("waveform", "twonorm"), strict=True):
        for method in CURVES:
            curve = results[method, name].curves.mean(axis=0)
            # Committees are members too: nine trees each.
            step = 9 if method.startswith("IGP committees") else 1
            n_points = max(1, round(effort.n_members / step))
            ax.plot(step * np.arange(1, n_points + 1), curve[:n_points], label=method)
        ax.axhline(problem(name).bayes_error(), color="#888888", ls=":", label="Bayes error")
        ax.set(title=name, xlabel="trees", ylabel="test error", xscale="log", ylim=(0, None))
        ax.set_xticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
        ax.minorticks_off()
        ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes[1].legend(frameon=False, fontsize=9)
    keep(figure, folder, "ensemble_curves")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="one training set, few members")
    parser.add_argument("--out", type=Path, help="folder for the pictures")
    given = parser.parse_args()
    effort = QUICK if given.quick else Effort()
    print(
        f"{N_TRAIN} training samples, {effort.n_draws} training sets, {effort.n_test} test "
        f"samples; means and their standard errors. Ensembles have {effort.n_members} trees."
    )
    problems = CLASS_PROBLEMS[: effort.n_problems]
    print_table("Trees: test error, %", TREES, problems, effort)
    results = print_table("Ensembles: test error, %", ENSEMBLES, problems, effort)
    print_table("Numbers: 1 - R², %", REGRESSORS, NUMBER_PROBLEMS, effort)
    tree = print_golf()
    if given.out is not None:
        import matplotlib

        matplotlib.use("agg")
        draw_plane(given.out)
        draw_pruning(given.out)
        draw_golf(tree, given.out)
        draw_perturbations(given.out)
        draw_curves(results, effort, given.out)


if __name__ == "__main__":
    main()
