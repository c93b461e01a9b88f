"""See how votes become decisions: rules, mixtures of experts, and a cascade that saves cost.

Run it with ``python examples/teach_combining.py``; it takes about half a minute. With ``--out
FOLDER`` it also draws the pictures of the user guide, which needs matplotlib. ``--quick`` uses
fewer samples and draws, in a few seconds; its figures are rougher.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import orfeon
from orfeon.combining import Plurality, as_combining_rule, rules_for
from orfeon.datasets import make_threenorm
from orfeon.inspection import classification_map
from orfeon.rendering.palette import INK, MUTED_INK, class_colours, mixed

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Sample = tuple[Floats, Integers]

BLUE, ORANGE, GREEN, _, _, VERMILLION = class_colours(6)
SQUARE = ((-4.0, 4.0), (-3.5, 4.5))


@dataclass(frozen=True)
class Effort:
    """How much is done: test samples, draws and trees of the cascade, points of a map."""

    n_test: int = 20_000
    n_cost: int = 5000
    n_draws: int = 10
    n_trees: int = 200
    grid: int = 150


QUICK = Effort(n_test=500, n_cost=500, n_draws=1, n_trees=20, grid=40)


class Album:
    """A folder of pictures; without one, nothing is drawn."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.names: list[str] = []

    def keep(self, name: str, draw: Callable[[], Any]) -> None:
        """Draw a figure, and save it with few colours: a small file."""
        if self.folder is None:
            return
        from matplotlib import pyplot
        from PIL import Image

        figure, path = draw(), self.folder / f"{name}.png"
        figure.savefig(path, dpi=110)
        pyplot.close(figure)
        with Image.open(path) as picture:
            rgb = picture.convert("RGB")
            few = rgb.quantize(128, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        self.names.append(name)


# -- one row, by hand ------------------------------------------------------------------------------


def decide_one_row() -> None:
    """Three members, three classes: the predicted class depends on the rule."""
    supports = np.array([[[0.50, 0.45, 0.05]], [[0.50, 0.45, 0.05]], [[0.02, 0.38, 0.60]]])
    print("One row: supports of three members for classes A, B and C, and of the rules\n")
    for number, answers in enumerate(supports[:, 0], 1):
        print(f"  {'member ' + str(number):14}" + "".join(f"{share:7.2f}" for share in answers))
    print()
    rules = [rule for rule in rules_for("classification") if not as_combining_rule(rule).learns]
    accurate = Plurality(weights=[float(np.log(2 * p / (1 - p))) for p in (0.6, 0.6, 0.9)])
    for rule in (*(as_combining_rule(name) for name in rules if name != "plurality"), accurate):
        answers = supports.argmax(axis=2) if rule.reads == "votes" else supports
        shares = rule.learn(None, None, 3).shares(answers, 3)[0]
        name = "weighted *" if rule is accurate else rule.name
        cells = "".join(f"{share:7.2f}" for share in shares)
        print(f"  {name:14}{cells}   {'ABC'[int(shares.argmax())]}")
    print("\n  * votes weighted by log odds of accuracies 0.6, 0.6 and 0.9")


# -- rules and their borders -----------------------------------------------------------------------

CENTRES, SPREAD = np.array([[-1.3, -0.6], [1.3, -0.6], [0.0, 1.5]]), 1.0
RULES = ("majority", "soft", "product", "max", "naive_bayes")


def draw_clouds(n_samples: int, seed: int) -> Sample:
    """Three clouds in the plane, of independent features."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_samples)
    return CENTRES[y] + rng.normal(0, SPREAD, (n_samples, 2)), y


def nearest_centre(X: Floats) -> Integers:
    """The best possible decision about the clouds."""
    return np.asarray(np.argmin(((X[:, None] - CENTRES) ** 2).sum(axis=2), axis=1))


def seeing(feature: int) -> Any:
    """A model that sees one feature."""
    return make_pipeline(make_column_transformer(("passthrough", [feature])), GaussianNB())


def members() -> dict[str, Any]:
    X, y = draw_clouds(300, seed=0)
    models = {
        "sees across": seeing(0),
        "sees up": seeing(1),
        "small tree": orfeon.CARTClassifier(max_depth=2),
        "1 neighbour": KNeighborsClassifier(1),
    }
    return {name: model.fit(X, y) for name, model in models.items()}


def juries(models: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Three members by each rule: the two that see half, and a tree or a neighbour."""
    held_out = draw_clouds(300, seed=1)
    found: dict[str, dict[str, Any]] = {}
    for third in ("small tree", "1 neighbour"):
        jury = [models[name] for name in ("sees across", "sees up", third)]
        found[third] = {rule: orfeon.combine(jury, *held_out, rule=rule) for rule in RULES}
    return found


def compare_borders(effort: Effort, album: Album) -> None:
    X, y = draw_clouds(effort.n_test, seed=2)
    models = members()
    panels = juries(models)
    print("\nThree clouds: test errors of members, and of the two that see half with a third\n")
    errors = {name: float(np.mean(model.predict(X) != y)) for name, model in models.items()}
    errors["best possible"] = float(np.mean(nearest_centre(X) != y))
    print("  " + ", ".join(f"{name} {error:.1%}" for name, error in errors.items()))
    print(f"\n  {'the third':14}" + "".join(f"{rule:>13}" for rule in RULES))
    table = []
    for third, jury in panels.items():
        row = {rule: float(np.mean(one.predict(X) != y)) for rule, one in jury.items()}
        print(f"  {third:14}" + "".join(f"{error:13.1%}" for error in row.values()))
        table.append((f"and {third}", jury, row))
    first = {**models, "best possible": nearest_centre}
    rows = [("alone", first, errors), *table]
    album.keep("combining_rules", lambda: draw_borders(rows, effort))


def draw_borders(rows: list[tuple[str, dict[str, Any], dict[str, float]]], effort: Effort) -> Any:
    from matplotlib import pyplot
    from matplotlib.colors import ListedColormap

    colours = class_colours(3)
    shades = ListedColormap([mixed(colour, "#FFFFFF", 0.45) for colour in colours])
    figure, axes = pyplot.subplots(3, 5, figsize=(7.0, 5.0), layout="constrained")
    X, y = draw_clouds(60, seed=0)
    extent = (*SQUARE[0], *SQUARE[1])
    for (title, models, errors), line in zip(rows, axes, strict=True):
        for (name, model), ax in zip(models.items(), line, strict=True):
            decided = classification_map(
                getattr(model, "predict", model), box=SQUARE, grid_resolution=effort.grid
            )
            ax.imshow(decided.codes, cmap=shades, vmin=0, vmax=2, origin="lower", extent=extent)
            ax.contour(
                decided.codes, levels=[0.5, 1.5], colors=[INK], linewidths=0.4, extent=extent
            )
            for code, marker in enumerate("o^s"):
                ax.scatter(*X[y == code].T, s=4, marker=marker, color=colours[code], linewidths=0)
            ax.set_title(f"{name.replace('_', ' ')}\n{errors[name]:.1%}", fontsize=8)
            ax.set(xticks=[], yticks=[])
        line[0].set_ylabel(title, fontsize=8)
    figure.suptitle(
        "Three members decide by five rules: classes and test errors", fontsize=10, color=INK
    )
    return figure


# -- mixtures of experts ---------------------------------------------------------------------------


def bent(n_samples: int, seed: int) -> tuple[Floats, Floats]:
    """Numbers along three straight lines."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n_samples, 1))
    line = np.interp(X[:, 0], [-3, -1, 1, 3], [2.0, -1.0, 1.5, 0.0])
    return X, line + rng.normal(0, 0.2, n_samples)


#: Directions in which the sides of the triangle lie, all at the same distance.
SIDES = np.array([[np.cos(angle), np.sin(angle)] for angle in np.deg2rad([90, 210, 330])])
DISTANCE = 0.4


def triangle(n_samples: int, seed: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Points of a square, and whether they are inside a triangle."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n_samples, 2))
    return X, (X @ SIDES.T).max(axis=1) < DISTANCE


def mix_experts(effort: Effort, album: Album) -> None:
    X, y = triangle(600, seed=0)
    test = triangle(effort.n_test, seed=1)
    print("\nInside a triangle or not: test errors of mixtures of linear experts\n")
    flat = {
        n_experts: orfeon.MixtureOfExpertsClassifier(
            n_experts=n_experts, alpha=0.01, random_state=0
        ).fit(X, y)
        for n_experts in (1, 2, 3, 4, 6)
    }
    for n_experts, model in flat.items():
        tell("1 expert, a line" if n_experts == 1 else f"{n_experts} experts", model, test)
    tree = orfeon.HierarchicalExpertsClassifier(alpha=0.01, random_state=0).fit(X, y)
    tell("4 experts, tree of gates", tree, test)
    shy = orfeon.MixtureOfExpertsClassifier(n_experts=3, random_state=0).fit(X, y)
    tell("3 experts, alpha=1", shy, test)
    tell("random forest of 100", orfeon.RandomForestClassifier(random_state=0).fit(X, y), test)
    album.keep("combining_experts", lambda: draw_experts(flat, effort))


def tell(name: str, model: Any, test: Any) -> None:
    curve = getattr(model, "log_likelihood_curve_", None)
    how = ""
    if curve is not None:
        rises = bool((np.diff(curve) >= 0).all())
        steps = f"{len(curve) - 1} iteration" + ("s" if len(curve) > 2 else "")
        how = f"log-likelihood {curve[0]:.3f} to {curve[-1]:.3f} in {steps}"
        how += ", never falling" if rises else ""
    print(f"  {name:26}{1 - model.score(*test):6.1%}   {how}".rstrip())


def draw_experts(flat: dict[int, Any], effort: Effort) -> Any:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(7.4, 3.0), layout="constrained")
    draw_lines(axes[0])
    draw_regions(axes[1], flat[3], effort)
    axes[2].axhline(
        flat[1].log_likelihood_curve_[-1], color=MUTED_INK, linestyle=":", label="1 expert"
    )
    for n_experts, colour, style in ((2, BLUE, "-."), (3, INK, "-"), (4, ORANGE, "--")):
        curve = flat[n_experts].log_likelihood_curve_
        axes[2].plot(curve, style, color=colour, label=f"{n_experts} experts", linewidth=1.5)
    axes[2].set_title("training: it never falls", fontsize=9)
    axes[2].set_xlabel("iteration of EM", fontsize=8)
    axes[2].set_ylabel("log-likelihood of a sample", fontsize=8)
    axes[2].set_ylim(-0.85, 0)
    axes[2].legend(frameon=False, fontsize=7.5, loc="lower right")
    for ax in axes:
        ax.tick_params(labelsize=7.5)
    return figure


def draw_lines(ax: Any) -> None:
    """Targets, the experts' lines where the gate activates them, and the mixture."""
    X, y = bent(300, seed=0)
    model = orfeon.MixtureOfExpertsRegressor(n_experts=3, alpha=0.1, random_state=0).fit(X, y)
    grid = np.linspace(-3, 3, 301)[:, None]
    shares, lines = model.gate_proba(grid), model.expert_predict(grid)
    ax.scatter(X[:, 0], y, s=3, color="0.72", linewidths=0)
    order = np.argsort((shares * grid).sum(axis=0) / shares.sum(axis=0))
    for expert, colour, style in zip(order, (BLUE, ORANGE, GREEN), ("-", "--", "-."), strict=True):
        answered = np.where(shares[:, expert] > 0.05, lines[:, expert], np.nan)
        ax.plot(grid, answered, style, color=colour, linewidth=2.2, alpha=0.8)
        ax.plot(grid, -3.2 + shares[:, expert], style, color=colour, linewidth=1.2)
    ax.plot(grid, model.predict(grid), color=INK, linewidth=1.0)
    ax.text(-2.9, -1.95, "gate's shares, 0 to 1", fontsize=7.5, color=MUTED_INK)
    ax.set_title("three linear experts, one gate", fontsize=9)
    ax.set_xlabel("feature", fontsize=8)
    ax.set_ylim(-3.4, 2.9)


def draw_regions(ax: Any, model: Any, effort: Effort) -> None:
    """Where each expert counts most, and the border between the classes."""
    from matplotlib.colors import ListedColormap

    X, y = triangle(250, seed=0)
    values = np.linspace(-1, 1, effort.grid)
    plane = np.stack(np.meshgrid(values, values), axis=-1).reshape(-1, 2)
    shape = (effort.grid, effort.grid)
    gate = model.gate_proba(plane).argmax(axis=1).reshape(shape)
    inside = model.predict_proba(plane)[:, 1].reshape(shape)
    shades = ListedColormap(["#d9e6f0", "#f7ead0", "#e9dfe9"])
    ax.imshow(gate, cmap=shades, vmin=0, vmax=2, origin="lower", extent=(-1, 1, -1, 1))
    for code, marker, colour in ((False, "o", BLUE), (True, "^", VERMILLION)):
        ax.scatter(*X[y == code].T, s=7, marker=marker, color=colour, linewidths=0)
    true = (plane @ SIDES.T).max(axis=1).reshape(shape)
    ax.contour(values, values, true, levels=[DISTANCE], colors=["0.45"], linestyles=":")
    ax.contour(values, values, inside, levels=[0.5], colors=[INK], linewidths=1.4)
    ax.set_title("regions of three experts", fontsize=9)
    ax.set_xlabel("dotted: the true border", fontsize=8)
    ax.set_xticks([-1, 0, 1])
    ax.set_yticks([-1, 0, 1])


# -- a cascade of increasing cost ------------------------------------------------------------------

#: The cost of querying each level for a row: roughly the time that it takes.
COSTS = np.array([1.0, 20.0, 120.0])
LOSSES = (0.02, 0.01, 0.005)
CONFIDENCES = (0.95, 0.99, 0.999, 1.0)


def levels(n_trees: int) -> list[tuple[str, Any]]:
    """From cheap to expensive."""
    return [
        ("logistic regression", LogisticRegression()),
        ("forest", orfeon.RandomForestClassifier(n_trees)),
        ("support vectors", SVC()),
    ]


@dataclass(frozen=True)
class Curve:
    """Costs of a row and test errors: one row for each draw."""

    costs: Floats
    errors: Floats

    def means(self) -> list[tuple[float, float]]:
        """Mean costs and errors."""
        found = zip(self.costs.mean(axis=0), self.errors.mean(axis=0), strict=True)
        return [(float(cost), float(error)) for cost, error in found]


def at_thresholds(model: Any, X: Floats, y: Any, thresholds: Floats) -> Floats:
    """Costs and errors of a cascade, had it other thresholds."""
    wrong = np.array([level.predict(X) != y for level in model.estimators_])
    sure = np.array(
        [
            calibrator.predict(level.predict_proba(X).max(axis=1))
            for level, calibrator in zip(model.estimators_[:-1], model.calibrators_, strict=True)
        ]
    )
    found = []
    for threshold in thresholds:
        is_sure = np.vstack([sure >= threshold, np.ones(len(y), dtype=bool)])
        level = is_sure.argmax(axis=0)  # the first
        found.append([np.cumsum(COSTS)[level].mean(), wrong[level, np.arange(len(y))].mean()])
    return np.array(found)


def at_loss(loss: float, seed: int, effort: Effort, test: Sample) -> tuple[Any, list[float]]:
    """A cascade with a given allowed loss, and its cost and error."""
    model = orfeon.CostCascadeClassifier(
        levels(effort.n_trees), costs=COSTS, max_loss=loss, random_state=seed
    )
    with warnings.catch_warnings():  # it reports levels that are not worth their cost
        warnings.filterwarnings("ignore", "costs=", UserWarning)
        model.fit(*make_threenorm(1000, random_state=seed))
    is_used = np.isin(np.arange(3), model.levels_)
    cost = np.cumsum(COSTS * is_used)[model.answer_level(test[0])].mean()
    return model, [float(cost), 1 - model.score(*test)]


def follow_cost(effort: Effort) -> dict[str, Curve]:
    """Costs and errors of the levels, at thresholds, at allowed losses, of early decision."""
    found: dict[str, list[Any]] = {"alone": [], "allowed": [], "cascade": [], "early": []}
    for seed in range(effort.n_draws):
        X_test, y_test = test = make_threenorm(effort.n_cost, random_state=1000 + seed)
        allowed = [at_loss(loss, seed, effort, test) for loss in LOSSES]
        found["allowed"].append([figures for _, figures in allowed])
        model = allowed[0][0]
        thresholds = np.linspace(0.5, 0.97, 48)
        found["cascade"].append(at_thresholds(model, X_test, y_test, thresholds))
        errors = [1 - level.score(X_test, y_test) for level in model.estimators_]
        found["alone"].append(np.column_stack([COSTS, errors]))
        early = []
        for confidence in CONFIDENCES:
            decided = orfeon.early_decision(model.estimators_[1], X_test, confidence=confidence)
            cost = COSTS[1] * decided.mean_queried / decided.n_members
            early.append([cost, np.mean(decided.predictions != y_test)])
        found["early"].append(early)
    shaped = {name: np.array(rows) for name, rows in found.items()}
    return {name: Curve(rows[:, :, 0], rows[:, :, 1]) for name, rows in shaped.items()}


def save_cost(effort: Effort, album: Album) -> None:
    curves = follow_cost(effort)
    print(
        "\nThreenorm, 1,000 training samples: logistic regression predicts when confident, then a"
    )
    print(
        f"forest of {effort.n_trees} trees, then support vectors. Test errors, and costs of a row\n"
    )
    names = [name for name, _ in levels(effort.n_trees)]
    for name, (cost, error) in zip(names, curves["alone"].means(), strict=True):
        print(f"  {name + ' alone':37}{error:7.1%}{cost:8.1f}")
    lost = curves["allowed"].errors - curves["alone"].errors[:, 2:]
    for k, (cost, error) in enumerate(curves["allowed"].means()):
        name = f"cascade, {100 * LOSSES[k]:g} points may be lost"
        above = int(np.sum(lost[:, k] > LOSSES[k]))
        print(
            f"  {name:37}{error:7.1%}{cost:8.1f}   lost {100 * lost[:, k].mean():.1f}, more than "
            f"allowed in {above} of {effort.n_draws} draws"
        )
    for confidence, (cost, error) in zip(CONFIDENCES, curves["early"].means(), strict=True):
        name = f"forest, early decision at {confidence:g}"
        print(f"  {name:37}{error:7.1%}{cost:8.1f}")
    take_time(effort)
    album.keep("combining_cost", lambda: draw_cost(curves))


def take_time(effort: Effort) -> None:
    """Seconds of the last level and of the cascade, which measures costs by itself."""
    X, y = make_threenorm(1000, random_state=0)
    rows, _ = make_threenorm(effort.n_cost, random_state=1)
    model = orfeon.CostCascadeClassifier(levels(effort.n_trees), random_state=0).fit(X, y)
    seconds = []
    for one in (*model.estimators_, model):
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            one.predict(rows)
            times.append(time.perf_counter() - begin)
        seconds.append(min(times))
    answers = ", ".join(f"{1e3 * time:.1f} ms" for time in seconds)
    print(
        f"\n  By the clock, {len(rows)} rows take {answers}, the last by the cascade.\n  It "
        f"expected to save {model.saving_:.0%} of the time of support vectors, and saved "
        f"{1 - seconds[-1] / seconds[-2]:.0%}."
    )


def draw_cost(curves: dict[str, Curve]) -> Any:
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(5.8, 3.6), layout="constrained")
    looks = {
        "cascade": ("-", 0, "cascade, any threshold"),
        "allowed": ("o", 6, "cascade, loss of 2, 1 and 0.5 points allowed"),
        "early": ("--s", 4, "forest, early decision at 0.95 to 1"),
    }
    for name, (style, size, label) in looks.items():
        costs, errors = np.transpose(curves[name].means())
        colour = ORANGE if name == "early" else BLUE
        ax.plot(costs, 100 * errors, style, color=colour, markersize=size, label=label)
    places = ((0, 7, "left"), (7, 4, "left"), (0, -14, "right"))
    for (name, _), point, (right, up, side) in zip(
        levels(1), curves["alone"].means(), places, strict=True
    ):
        at = (point[0], 100 * point[1])
        ax.plot(*at, "D", color=INK, markersize=5)
        ax.annotate(
            f"{name} alone", at, xytext=(right, up), textcoords="offset points", fontsize=8.5,
            color=INK, ha=side,
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    ax.minorticks_off()
    ax.margins(y=0.25)
    ax.set_xlabel("cost of a row (logistic regression: 1)")
    ax.set_ylabel("test error, %")
    ax.set_title("Only hard rows reach the expensive model: error against cost", fontsize=10)
    ax.legend(frameon=False, fontsize=8, loc="upper right")
    for edge in ("top", "right"):
        ax.spines[edge].set_visible(False)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="draw the pictures there")
    parser.add_argument("--quick", action="store_true", help="fewer samples and draws")
    options = parser.parse_args()
    effort = QUICK if options.quick else Effort()
    if options.out is not None:
        import matplotlib as mpl

        mpl.use("agg")
        options.out.mkdir(parents=True, exist_ok=True)
    album = Album(options.out)
    decide_one_row()
    compare_borders(effort, album)
    mix_experts(effort, album)
    save_cost(effort, album)
    if album.names:
        print(f"\n{len(album.names)} pictures are in {album.folder}.")


if __name__ == "__main__":
    main()
