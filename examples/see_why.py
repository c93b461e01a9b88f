"""See why an ensemble works: bagging against boosting, in numbers and in pictures.

Run it with ``python examples/see_why.py``; it takes less than a minute on an idle core, most of it
to train the same learners hundreds of times for their bias and variance. With ``--out FOLDER`` it
also draws the pictures of the user guide, which needs matplotlib. ``--quick`` uses fewer
members, samples and trainings, in a few seconds; its figures are rougher.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import orfeon
from orfeon import inspection
from orfeon.datasets import Circle, Diagonal, Friedman1, RingNorm, ThreeNorm, TwoNorm, Waveform

Floats = npt.NDArray[np.float64]

N_TRAIN = 300
SQUARE = ((0.0, 1.0), (0.0, 1.0))
#: Definitions of bias and variance for zero-one loss.
DEFINITIONS = ("kohavi_wolpert", "kong_dietterich", "breiman", "domingos")


@dataclass(frozen=True)
class Effort:
    """How much is done: members, test samples, trainings, resamples, members of a search."""

    n_members: int = 1000
    n_test: int = 5000
    n_trainings: int = 400
    n_resamples: int = 200
    n_forests: int = 50
    n_searched: int = 21


QUICK = Effort(60, 500, n_trainings=20, n_resamples=50, n_forests=5, n_searched=9)


class Album:
    """A folder of pictures; without one, nothing is drawn."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.names: list[str] = []

    def keep(self, name: str, draw: Callable[[], Any]) -> None:
        """Draw a picture, a display or a figure, and save it with few colours: a small file."""
        if self.folder is None:
            return
        from matplotlib import pyplot
        from PIL import Image

        drawn = draw()
        figure, path = getattr(drawn, "figure_", drawn), self.folder / f"{name}.png"
        figure.savefig(path, dpi=100)
        pyplot.close(figure)
        with Image.open(path) as picture:
            rgb = picture.convert("RGB")
            few = rgb.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        self.names.append(name)


def panels(widths: tuple[float, ...], height: float, **options: Any) -> tuple[Any, Any]:
    """A figure with pictures beside each other, of these widths in inches."""
    from matplotlib import pyplot

    return pyplot.subplots(
        1, len(widths), figsize=(sum(widths), height), layout="constrained", width_ratios=widths,
        **options,
    )  # fmt: skip


def heading(text: str) -> None:
    print(f"\n{text}\n")


# -- three ensembles -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Votes:
    """The ensembles of this story, and the samples: training set and test set."""

    ensembles: dict[str, Any]
    training: tuple[Floats, Any]
    test: tuple[Floats, Any]


def train_three(effort: Effort) -> Votes:
    X, y = TwoNorm().sample(N_TRAIN, random_state=0)
    size = effort.n_members
    small = orfeon.CARTClassifier(max_depth=3)
    ensembles: dict[str, Any] = {
        "bagging": orfeon.BaggingClassifier(n_estimators=size, random_state=0),
        "boosting": orfeon.AdaBoostClassifier(small, n_estimators=size, random_state=0),
        "boosted stumps": orfeon.AdaBoostClassifier(n_estimators=size, random_state=0),
    }
    for ensemble in ensembles.values():
        ensemble.fit(X, y)
    return Votes(ensembles, (X, y), TwoNorm().sample(effort.n_test, random_state=1))


def compare(votes: Votes, album: Album) -> None:
    """The whole story in a table; then its pictures."""
    heading("Twonorm: members alone, and their vote")
    print(f"  {'':15} {'one errs on':>12} {'the vote on':>12} {'kappa':>7} {'least margin':>13}")
    clouds = {n: inspection.kappa_error(e, *votes.test) for n, e in votes.ensembles.items()}
    for name, ensemble in votes.ensembles.items():
        kappa, alone = clouds[name].centroid
        together = 1 - ensemble.score(*votes.test)
        least = inspection.margins(ensemble, *votes.training).minimum
        print(f"  {name:15} {alone:12.1%} {together:12.1%} {kappa:7.2f} {least:13.2f}")
    album.keep("kappa_error", lambda: inspection.KappaErrorDisplay(clouds).plot())


# -- error curves and margins ----------------------------------------------------------------------


def draw_error_curves(votes: Votes) -> Any:
    display = inspection.ErrorCurveDisplay.from_estimator(
        votes.ensembles, *votes.training, *votes.test
    )
    display.ax_.set(xscale="log", ylim=(-1.5, 30))  # most happens among the first members
    display.ax_.xaxis.set_major_formatter("{x:g}")
    return display


def follow_errors(votes: Votes, album: Album) -> None:
    heading("Errors with the first members, and with all")
    sizes = [size for size in (1, 10, 100, 1000) if size <= len(votes.ensembles["bagging"])]
    print(f"  {'':28}" + "".join(f"{size:8}" for size in sizes))
    for name, ensemble in votes.ensembles.items():
        for curve in inspection.error_curves(ensemble, *votes.training, *votes.test):
            errors = "".join(f"{curve.errors[size - 1]:8.1%}" for size in sizes)
            print(f"  {name:16} {curve.on:11}{errors}")
    album.keep("error_curves", lambda: draw_error_curves(votes))


def measure_margins(votes: Votes, album: Album) -> None:
    heading("Margins of the training samples: least and mean; mean of the test samples")
    found = {}
    for name, ensemble in votes.ensembles.items():
        found[name] = inspection.margin_distribution(ensemble, *votes.training)
        of_test = inspection.margin_distribution(ensemble, *votes.test)
        for stage, test in zip(found[name].stages, of_test.stages, strict=True):
            print(
                f"  {name:16} {stage.n_members:5} members {stage.minimum:6.2f} {stage.mean:6.2f}"
                f" {test.mean:8.2f}"
            )
    album.keep("margins", lambda: inspection.MarginDistributionDisplay(found).plot())


# -- diversity -------------------------------------------------------------------------------------


def measure_diversity(votes: Votes, album: Album) -> None:
    heading("Ten measures of diversity (↑: more is more diverse)")
    found = {n: inspection.diversity(e, *votes.test) for n, e in votes.ensembles.items()}
    print(f"  {'':25}" + "".join(f"{name:>15}" for name in found))
    for name, measure in inspection.MEASURES.items():
        values = "".join(f"{getattr(one, name):15.3f}" for one in found.values())
        print(f"  {measure.label:23} {measure.arrow}{values}")
    album.keep("diversity", lambda: inspection.DiversityDisplay(found).plot())


def buy_diversity(votes: Votes) -> None:
    """Class-switching controls diversity; more of it is not always better."""
    heading("Class-switching: the more labels are switched, the more diverse the members")
    print(f"  {'switched':>9} {'one errs on':>12} {'interrater kappa':>17} {'the vote on':>12}")
    size = len(votes.ensembles["bagging"])
    X, y = votes.test
    for rate in (0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49):
        model = orfeon.ClassSwitchingClassifier(
            n_estimators=size, switch_rate=rate, random_state=0
        ).fit(*votes.training)
        alone = np.mean(model.classes_[model.votes(X)] != y)
        kappa = inspection.interrater_kappa(model, X, y)
        print(f"  {rate:9.0%} {alone:12.1%} {kappa:17.3f} {1 - model.score(X, y):12.1%}")


# -- bias and variance -----------------------------------------------------------------------------


def learners() -> dict[str, Any]:
    small = orfeon.CARTClassifier(max_depth=3)
    return {
        "tree": orfeon.CARTClassifier(),
        "bagging": orfeon.BaggingClassifier(n_estimators=25),
        "small tree": small,
        "boosting": orfeon.AdaBoostClassifier(small, n_estimators=25, on_failure="bootstrap"),
        "stump": orfeon.StumpClassifier(),
        "boosted stumps": orfeon.AdaBoostClassifier(n_estimators=25),
    }


def train_often(problem: Any, names: tuple[str, ...], effort: Effort) -> dict[str, Any]:
    return {
        name: inspection.resample_predictions(
            learners()[name], problem, n_train=N_TRAIN, n_repetitions=effort.n_trainings,
            random_state=0,
        )
        for name in names
    }  # fmt: skip


def print_parts(found: Mapping[str, Any]) -> None:
    print(f"  {'':31} {'error':>7} {'bias':>7} {'variance':>9} {'noise':>7}")
    for definition in DEFINITIONS:
        for name, one in found.items():
            parts = one.decompose(definition, unbiased=definition == "kohavi_wolpert")
            print(
                f"  {definition:15} {name:15} {parts.error:7.1%} {parts.bias:7.1%} "
                f"{parts.variance:9.1%} {parts.noise:7.1%}"
            )


def print_changes(
    found: Mapping[str, Any], pairs: tuple[tuple[str, str], ...], effort: Effort
) -> None:
    print("\n  changes in points, with 95% intervals")
    for definition in DEFINITIONS:
        for ensemble, base in pairs:
            change = found[ensemble].difference_from(
                found[base], definition, unbiased=definition == "kohavi_wolpert",
                n_resamples=effort.n_resamples, random_state=0,
            )  # fmt: skip
            parts = []
            for part in ("bias", "variance"):
                low, high = (100 * end for end in change.interval(part))
                parts.append(f"{part} {100 * change.estimates[part]:+6.1f} [{low:.1f}, {high:.1f}]")
            print(f"  {definition:15} {ensemble:14} {'; '.join(parts)}")


def draw_bias_and_variance(found: Mapping[str, Any], effort: Effort) -> Any:
    figure, axes = panels((5.6, 5.6), 3.7)
    definitions: tuple[Literal["breiman", "kohavi_wolpert"], ...] = ("breiman", "kohavi_wolpert")
    for ax, definition in zip(axes, definitions, strict=True):
        inspection.BiasVarianceDisplay.from_resampled(
            found, definition=definition, unbiased=definition == "kohavi_wolpert",
            n_resamples=effort.n_resamples, random_state=0, ax=ax,
        )  # fmt: skip
    return figure


def split_errors(effort: Effort, album: Album) -> None:
    heading(f"Bias and variance on threenorm, {effort.n_trainings} trainings")
    found = train_often(ThreeNorm(), ("tree", "bagging", "small tree", "boosting"), effort)
    print_parts(found)
    print_changes(found, (("bagging", "tree"), ("boosting", "small tree")), effort)
    album.keep("bias_variance", lambda: draw_bias_and_variance(found, effort))
    heading("Ringnorm: the variance of a stump helps it")
    found = train_often(RingNorm(), ("stump", "boosted stumps"), effort)
    print_parts(found)
    print_changes(found, (("boosted stumps", "stump"),), effort)


# -- complexity ------------------------------------------------------------------------------------


def draw_complexity(curve: Any) -> Any:
    figure, axes = panels((5.6, 5.6), 3.9)
    inspection.ComplexityDisplay(curve).plot(axes[0])
    inspection.ComplexityDisplay(curve).plot(axes[1], show="parts")
    return figure


def grow_complexity(effort: Effort, album: Album) -> None:
    heading("Friedman 1: regression trees against their number of leaves")
    curve = inspection.complexity_curve(
        orfeon.CARTRegressor(), Friedman1(), parameter="max_leaf_nodes",
        values=(2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128), n_train=200, n_test=500,
        n_repetitions=effort.n_forests, unbiased=True, random_state=0,
    )  # fmt: skip
    print(f"  {'leaves':>7} {'training':>9} {'test':>7} {'bias2':>7} {'variance':>9}")
    errors = (curve.training_error, curve.test_error, curve.bias, curve.variance)
    for leaves, *found in zip(curve.values, *errors, strict=True):
        print("  {:7} {:9.2f} {:7.2f} {:7.2f} {:9.2f}".format(leaves, *found))
    album.keep("complexity", lambda: draw_complexity(curve))


# -- orders ----------------------------------------------------------------------------------------


def draw_walk(walk: Any) -> Any:
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(13.0, 4.4), layout="constrained")
    grid = figure.add_gridspec(1, 3, width_ratios=(1.2, 1, 1.1))
    display = inspection.EnsembleWalkDisplay(walk)
    display.plot(figure.add_subplot(grid[0]))
    display.plot(figure.add_subplot(grid[1]), view="ref-third")
    display.plot(figure.add_subplot(grid[2], projection="3d"), dimensions=3)
    for ax in figure.axes[1:]:
        ax.get_legend().remove()  # it is below the first
    figure.axes[1].set_title("Along the ensemble")
    figure.axes[2].set_title("In three dimensions")
    figure.axes[2].set_box_aspect((1.5, 1.0, 0.9), zoom=0.8)  # with room for the names
    return figure


def walk_and_search(effort: Effort, album: Album) -> None:
    """Bags of pruned trees on waveform, as in the guide to ordering."""
    X, y = Waveform().sample(N_TRAIN, random_state=0)
    tree = orfeon.CARTClassifier(pruning="cv")
    size = min(effort.n_members, 200)
    bag = orfeon.BaggingClassifier(tree, n_estimators=size, random_state=0).fit(X, y)
    heading(f"Waveform: the walk of {size} bagged, pruned trees")
    walk = inspection.ensemble_walk(
        bag, X, y, orders=["orientation", "margin_distance"], n_random_orders=5, random_state=0
    )
    for name, path in walk.walks.items():
        print(f"  {name:16} farthest with {walk.farthest(name):4} members: {path[:, 1].max():6.1f}")
    album.keep("ensemble_walk", lambda: draw_walk(walk))

    few = orfeon.BaggingClassifier(tree, n_estimators=effort.n_searched, random_state=0).fit(X, y)
    search = orfeon.ordering.search_exhaustive(few, X, y)
    print(f"\n  Of the best subsets of {effort.n_searched} members, first members of an order find")
    for rule in ("reduce_error", "margin_distance", "random"):
        options: dict[str, Any] = {"random_state": 0} if rule == "random" else {}
        greedy = orfeon.order(few, X, y, rule=rule, **options)
        found = inspection.member_coincidence(search, greedy)
        errors = greedy.error_curve.min(), search.error_curve.min()
        print(
            f"  {rule:16} {found.found.mean():5.0%}; least training error {errors[0]:.1%}, of all "
            f"subsets {errors[1]:.1%}"
        )
    album.keep("coincidence", lambda: inspection.CoincidenceDisplay.from_estimator(few, X, y))


# -- correlated members ----------------------------------------------------------------------------


def correlate(effort: Effort, album: Album) -> None:
    problem, values = Friedman1(), (1, 2, 3, 5, 10)
    often: dict[str, Any] = {
        "n_train": 200, "n_test": 200, "n_repetitions": effort.n_forests, "random_state": 0,
    }  # fmt: skip
    forest = orfeon.RandomForestRegressor(50)
    heading(f"Friedman 1: forests of 50 trees, m of 10 features; {effort.n_forests} trainings")
    curve = inspection.member_correlation_curve(forest, problem, values=values, **often)
    print(f"  {'m':>3} {'rho':>7} {'s2':>7} {'variance of the mean':>21} {'bias2':>7} {'error':>7}")
    for m, found in zip(values, curve.found, strict=True):
        model = orfeon.RandomForestRegressor(50, max_features=m)
        parts = inspection.resample_predictions(model, problem, **often).decompose(unbiased=True)
        print(
            f"  {m:3} {found.pooled_correlation:7.3f} {found.mean_variance:7.1f} "
            f"{found.ensemble_variance.mean():21.2f} {parts.bias:7.2f} {parts.error:7.2f}"
        )
    X = problem.sample(200, random_state=10_000)[0]
    answers = [
        orfeon.BaggingRegressor(n_estimators=100, random_state=seed)
        .fit(*problem.sample(200, random_state=seed))
        .predictions(X)
        for seed in range(effort.n_forests)
    ]
    album.keep("correlated_members", lambda: draw_correlation(np.array(answers), curve))


def draw_correlation(answers: Floats, curve: Any) -> Any:
    figure, axes = panels((5.5, 5.5), 3.9)
    inspection.CorrelatedMeanDisplay.from_answers(answers, ax=axes[0])
    inspection.MemberCorrelationDisplay(curve).plot(axes[1])
    return figure


# -- a forest as a neighbourhood, and importances --------------------------------------------------


def find_outliers(effort: Effort, album: Album) -> None:
    """Make some labels wrong, and count how many a forest finds."""
    X, y = Waveform().sample(N_TRAIN, random_state=0)
    drawn: list[Any] = []
    n_wrong, n_draws, n_found, n_named = 6, effort.n_forests // 5, 0, 0
    for seed in range(n_draws):
        wrong = np.random.default_rng(seed).choice(N_TRAIN, n_wrong, replace=False)
        labels = y.copy()
        labels[wrong] = (y[wrong] + 1) % 3
        forest = orfeon.RandomForestClassifier(500, random_state=0).fit(X, labels)
        near = forest.proximities(X)
        scores = inspection.outlier_scores(near, labels)
        n_found += int(np.sum(scores[wrong] > 10))
        n_named += int(np.sum(scores > 10))
        drawn = drawn or [near, labels, scores]
    heading(f"Waveform: {n_wrong} of {N_TRAIN} labels made wrong ({n_draws} draws): outlier scores")
    print(
        f"  {n_found} of {n_draws * n_wrong} wrong labels have a score above 10, and so have "
        f"{n_named - n_found} right ones"
    )
    album.keep("neighbourhood", lambda: draw_neighbourhood(*drawn))


def weigh_features(effort: Effort, album: Album) -> None:
    X, y = Waveform().sample(N_TRAIN, random_state=0)
    size = min(effort.n_members, 500)
    forest = orfeon.RandomForestClassifier(size, random_state=0).fit(X, y)
    found = {
        "impurity": inspection.importances(forest),
        "permutation": inspection.importances(forest, X, y, kind="permutation", random_state=0),
    }
    heading("Waveform: importances of x0 and x20, which are noise, and of the largest, in %")
    for kind, one in found.items():
        each = [f"{100 * one.mean[j]:.2f} ± {100 * one.standard_error[j]:.2f}" for j in (0, 20)]
        best = int(np.argmax(one.mean))
        print(f"  {kind:12} {each[0]}, {each[1]}; x{best}: {100 * one.mean[best]:.2f}")
    album.keep("importances", lambda: draw_importances(found))


def draw_neighbourhood(near: Floats, labels: Any, scores: Floats) -> Any:
    X, y = Circle().sample(N_TRAIN, random_state=0)
    circle = orfeon.RandomForestClassifier(200, random_state=0).fit(X, y)
    figure, axes = panels((4.4, 4.4, 4.4), 4.3)
    inspection.ForestWeightsDisplay.from_estimator(circle, X, y, [0.5, 0.9], ax=axes[0])
    inspection.ProximityDisplay(near, labels).plot(axes[1], kind="plane")
    inspection.OutlierDisplay(scores, labels).plot(axes[2])
    return figure


def draw_importances(found: Mapping[str, Any]) -> Any:
    figure, axes = panels((4.6, 4.6), 5.2)
    for ax, one in zip(axes, found.values(), strict=True):
        inspection.ImportanceDisplay(one).plot(ax, n_shown=21)
    return figure


# -- theory and maps -------------------------------------------------------------------------------


def hold_against_theory(votes: Votes, album: Album) -> None:
    X, y = votes.training
    size = len(votes.ensembles["bagging"])
    switching = orfeon.ClassSwitchingClassifier(
        n_estimators=size + 1 - size % 2, switch_rate=0.3, random_state=0
    ).fit(X, y)
    stumps = votes.ensembles["boosted stumps"]
    heading("Class-switching, three labels in ten switched: training error, by theory and measured")
    measured = inspection.error_curves(switching, X, y, out_of_bag=False).curves[0].errors
    for n in (1, 11, 21, 51):
        theory = inspection.switching_error(0.3, n)
        print(f"  {n:4} members {theory:6.2%} {measured[n - 1]:6.2%}")
    heading("Boosted stumps: training error and its bound")
    errors = 1 - np.array(list(stumps.staged_score(X, y)))
    for n in (1, 10, 50):
        print(f"  {n:4} members {errors[n - 1]:6.1%} at most {stumps.error_bounds_[n - 1]:6.1%}")
    album.keep("condorcet", lambda: draw_condorcet(votes))
    album.keep(
        "switching_theory",
        lambda: inspection.SwitchingTheoryDisplay.from_estimator(switching, X, y),
    )
    first = orfeon.AdaBoostClassifier(n_estimators=60, random_state=0).fit(X, y)
    album.keep(
        "boosting_bounds", lambda: inspection.BoostingBoundsDisplay.from_estimator(first, X, y)
    )


def draw_condorcet(votes: Votes) -> Any:
    figure, axes = panels((5.5, 5.5), 3.9)
    few = votes.ensembles["bagging"].votes(votes.test[0])[:101]
    inspection.CondorcetDisplay.from_member_errors(ax=axes[0])
    inspection.CondorcetDisplay.from_votes(few, votes.test[1], ax=axes[1])
    return figure


def draw_maps(album: Album) -> None:
    """How confident four ensembles are near a border that no axis-parallel cut follows."""
    small = orfeon.CARTClassifier(max_depth=3)
    models: dict[str, Any] = {
        "bagging": orfeon.BaggingClassifier(n_estimators=101, random_state=0),
        "boosting": orfeon.AdaBoostClassifier(small, n_estimators=101, random_state=0),
        "random forest": orfeon.RandomForestClassifier(101, random_state=0),
        "class-switching": orfeon.ClassSwitchingClassifier(
            n_estimators=101, switch_rate=0.3, random_state=0
        ),
    }
    mosaic = inspection.map_mosaic(
        models, [Diagonal().sample(N_TRAIN, random_state=0)], true_classes=Diagonal(), box=SQUARE,
        kind="margins",
    )  # fmt: skip
    heading("The diagonal of a square: area that is wrong")
    for name, error in zip(mosaic.column_names, mosaic.errors[0], strict=True):
        print(f"  {name:16} {error:6.1%}")
    album.keep("margin_maps", lambda: inspection.MapMosaicDisplay(mosaic).plot())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="draw the pictures there")
    parser.add_argument("--quick", action="store_true", help="fewer members and trainings")
    given = parser.parse_args()
    effort, album = QUICK if given.quick else Effort(), Album(given.out)
    if given.out is not None:
        import matplotlib as mpl

        mpl.use("agg")
        given.out.mkdir(parents=True, exist_ok=True)
    votes = train_three(effort)
    compare(votes, album)
    follow_errors(votes, album)
    measure_margins(votes, album)
    measure_diversity(votes, album)
    buy_diversity(votes)
    split_errors(effort, album)
    grow_complexity(effort, album)
    walk_and_search(effort, album)
    correlate(effort, album)
    find_outliers(effort, album)
    weigh_features(effort, album)
    hold_against_theory(votes, album)
    draw_maps(album)
    if album.names:
        print(f"\n{len(album.names)} pictures are in {given.out}.")


if __name__ == "__main__":
    main()
