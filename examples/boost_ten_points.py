"""AdaBoost worked by hand: ten points, three stumps, every number as a fraction.

Run it with ``python examples/boost_ten_points.py``. With ``--image FILE`` it also draws the picture
of the user guide, which needs matplotlib.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from orfeon import AdaBoostClassifier

POINTS = [(1, 6), (2, 7), (3, 5), (4, 2), (5, 3), (6, 9), (7, 1), (8, 10), (9, 4), (10, 8)]
LABELS = [-1, -1, 1, 1, 1, 1, -1, 1, -1, 1]
N_ROUNDS = 3

Weights = list[Fraction]


def reweighted(weights: Weights, wrong: list[bool], error: Fraction) -> Weights:
    """Divide weights of wrong points by twice the error, those of right ones by twice the rest."""
    return [w / (2 * error if k else 2 * (1 - error)) for w, k in zip(weights, wrong, strict=True)]


def rounds(model: AdaBoostClassifier) -> list[tuple[Weights, list[bool], Fraction]]:
    """Exact weights before each round, the points that its stump gets wrong, and its error."""
    found, weights = [], [Fraction(1, len(POINTS))] * len(POINTS)
    for answers in model.classes_[model.votes(POINTS)]:
        wrong = [bool(s != label) for s, label in zip(answers, LABELS, strict=True)]
        error = sum((w for w, k in zip(weights, wrong, strict=True) if k), Fraction(0))
        found.append((weights, wrong, error))
        weights = reweighted(weights, wrong, error)
    return found


def show(model: AdaBoostClassifier) -> None:
    """Print the rounds by hand, and as the model has them."""
    stages = 1 - np.array(list(model.staged_score(POINTS, LABELS)))
    for t, (weights, wrong, error) in enumerate(rounds(model)):
        print(f"round {t + 1}")
        print("  weights", *weights)
        print("  wrong  ", *(POINTS[i] for i in np.flatnonzero(wrong)))
        print(f"  error   {error} = {model.errors_[t]:.4f}")
        print(f"  vote    1/2 ln({(1 - error) / error}) = {model.member_weights_[t]:.4f}")
        print(f"  training error {stages[t]:.1f}, bound {model.error_bounds_[t]:.4f}")


# -- the picture -----------------------------------------------------------------------------------

BLUE, RED = "#1f5fa8", "#b5442e"


def _shade(ax: Any, stump: Any) -> None:
    feature, threshold = stump.forest_.feature[0], stump.forest_.threshold[0]
    beyond = int(stump.predict([[11, 11]])[0])
    span = ax.axvspan if feature == 0 else ax.axhspan
    for low, high, sign in ((0, threshold, -beyond), (threshold, 11, beyond)):
        span(low, high, color=BLUE if sign > 0 else RED, alpha=0.10, linewidth=0)
    line = ax.axvline if feature == 0 else ax.axhline
    line(threshold, color="0.3", linewidth=1.2)


def _points(ax: Any, weights: Weights, wrong: list[bool]) -> None:
    for (x, y), label, weight, is_wrong in zip(POINTS, LABELS, weights, wrong, strict=True):
        ax.scatter(
            x, y, s=2600 * float(weight), color=BLUE if label > 0 else RED, zorder=3,
            edgecolor="black" if is_wrong else "white", linewidth=1.8 if is_wrong else 0.5,
        )  # fmt: skip
        ax.text(x, y, "+" if label > 0 else "$-$", color="white", ha="center", va="center_baseline")


def draw(model: AdaBoostClassifier, path: Path) -> None:
    """The three rounds, and the vote."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 4, figsize=(11.6, 3.2), layout="constrained", sharey=True)
    for t, (weights, wrong, error) in enumerate(rounds(model)):
        _shade(axes[t], model.estimators_[t])
        _points(axes[t], weights, wrong)
        vote = model.member_weights_[t]
        axes[t].set_title(f"round {t + 1}: error {error}, vote {vote:.3f}", fontsize=10)
    grid = np.linspace(0, 11, 221)
    x, y = np.meshgrid(grid, grid)
    sign = model.decision_function(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape) > 0
    axes[3].contourf(x, y, sign, levels=[-0.5, 0.5, 1.5], colors=[RED, BLUE], alpha=0.10)
    axes[3].contour(x, y, sign, levels=[0.5], colors="0.3", linewidths=1.2)
    _points(axes[3], [Fraction(1, 10)] * 10, [False] * 10)
    axes[3].set_title("the vote of the three", fontsize=10)
    for ax in axes:
        ax.set(xlim=(0, 11), ylim=(0, 11), aspect="equal", xticks=[1, 5, 10], yticks=[1, 5, 10])
    figure.savefig(path, dpi=90)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", type=Path, metavar="FILE", help="draw the picture there")
    options = parser.parse_args()
    model = AdaBoostClassifier(n_estimators=N_ROUNDS).fit(POINTS, LABELS)
    show(model)
    if options.image is not None:
        draw(model, options.image)
        print(f"\nThe picture is {options.image}.")


if __name__ == "__main__":
    main()
