"""Teach a few perceptrons together: the p-delta rule, step by step, and what it makes of samples.

Run it with ``python examples/teach_perceptrons.py``; it takes a few seconds. With ``--images DIR``
it also draws the pictures of the user guide, which needs matplotlib.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon import ParallelPerceptronClassifier, PPTSSClassifier
from orfeon.datasets import make_gaussian_clouds
from orfeon.perceptrons import p_delta

Samples = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


def quarters(n_samples: int, seed: int) -> Samples:
    """Points of a square: two opposite quarters of it are positive."""
    points = np.random.default_rng(seed).uniform(-1, 1, (n_samples, 2))
    return points, (points[:, 0] * points[:, 1] > 0).astype(np.int64)


# -- one step, by hand -----------------------------------------------------------------------------


def take_one_step() -> None:
    """A sample that two of three perceptrons are wrong about, and what the rule does."""
    weights = np.array([[0.6, 0.8], [-0.6, 0.8], [-1.0, 0.0]])
    x, y = np.array([[2.0, -1.0]]), np.array([1.0])
    before = p_delta.Solution(weights, margin=0.1)
    rule = p_delta.PDelta(rate=0.1)
    print("One step of the p-delta rule: the sample x = (2, -1) is positive\n")
    print(f"  {'perceptron':14} {'w.x':>6} {'vote':>5} {'moved by':>9}   {'w after':16} {'w.x':>6}")
    step, _, _ = p_delta.update(x, y, np.ones(1), before, rule)
    after = p_delta.Solution(weights + rule.rate * step, margin=0.1).unit_weights
    first, then = (p_delta.activations(x, w)[0] for w in (weights, after))
    for h in range(3):
        old, new = (f"({w[h, 0]:6.3f}, {w[h, 1]:6.3f})" for w in (weights, after))
        vote, by = "-+"[int(first[h] >= 0)], f"{rule.rate} x" if step[h].any() else "0"
        print(f"  {old} {first[h]:5.2f} {vote:>5} {by:>9}   {new} {then[h]:6.2f}")
    print(
        "\n  The vote is - and wrong. The first perceptron is right and stays; the others come "
        "nearer to +."
    )


# -- what one perceptron cannot do -----------------------------------------------------------------


def learn_the_quarters() -> None:
    X, y = quarters(400, seed=0)
    test = quarters(5000, seed=1)
    print("\nTwo opposite quarters of a square are positive: test errors, means over 10 starts\n")
    for n_perceptrons in (1, 3, 15):
        errors = [
            1 - ParallelPerceptronClassifier(n_perceptrons, random_state=k).fit(X, y).score(*test)
            for k in range(10)
        ]
        name = "1 perceptron" if n_perceptrons == 1 else f"{n_perceptrons} perceptrons"
        print(f"  {name:14} {np.mean(errors):6.1%}")
    model = ParallelPerceptronClassifier(init="unit", tune_margin=False, random_state=0).fit(X, y)
    curve = ", ".join(f"{model.energy_curve_[t]:.1f}" for t in (0, 9, 49, 249))
    print(f"\n  With a fixed margin, the energy J of three before epochs 1, 10, 50, 250: {curve}")


# -- what samples are to perceptrons --------------------------------------------------------------


def clouds() -> Samples:
    return make_gaussian_clouds(1000, random_state=0)


def select_samples() -> None:
    X, y = clouds()
    print(f"\nTwo gaussian clouds, {np.mean(y):.1%} of {len(y)} samples are positive\n")
    plain = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    counts = Counter(plain.categories(X, y).tolist())
    print("  to three perceptrons:", ", ".join(f"{n} {c}" for c, n in counts.most_common()))
    model = PPTSSClassifier(random_state=0).fit(X, y)
    print("\n  round   trained on      g    acc+    acc-")
    for t, (n, g, positive, negative) in enumerate(zip(*model.history_.values(), strict=True)):
        kept = "   kept" if t == model.best_round_ else ""
        print(f"  {t:5} {n:12} {g:6.1%} {positive:7.1%} {negative:7.1%}{kept}")
    print(f"\n  It ended because {model.ended_}.")


# -- pictures --------------------------------------------------------------------------------------


def save(figure: Any, path: Path) -> None:
    from matplotlib import pyplot
    from PIL import Image

    figure.savefig(path, dpi=90)
    pyplot.close(figure)
    with Image.open(path) as picture:  # few colours make a small file
        rgb = picture.convert("RGB")
        few = rgb.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def draw_pictures(folder: Path) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    from orfeon.inspection import PerceptronCategoriesDisplay, SelectionHistoryDisplay

    X, y = clouds()
    plain = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    selective = PPTSSClassifier(random_state=0).fit(X, y)
    figure, axes = pyplot.subplots(1, 2, figsize=(11.6, 5.4), layout="constrained", sharey=True)
    # Two cuts show more than all: after the last one, samples and bands are lines themselves.
    halfway = PPTSSClassifier(max_rounds=3, random_state=0).fit(X, y)
    for model, ax in zip((plain, halfway), axes, strict=True):
        PerceptronCategoriesDisplay.from_estimator(model, X, y, ax=ax)
    save(figure, folder / "perceptron_categories.png")

    history = SelectionHistoryDisplay.from_estimator(selective)
    save(history.figure_, folder / "selection_history.png")

    X, y = quarters(400, seed=0)
    model = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    display = PerceptronCategoriesDisplay.from_estimator(model, X, y)
    save(display.figure_, folder / "perceptron_quarters.png")
    print(f"\nThree pictures are in {folder}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=Path, metavar="DIR", help="draw the pictures there")
    options = parser.parse_args()
    take_one_step()
    learn_the_quarters()
    select_samples()
    if options.images is not None:
        options.images.mkdir(parents=True, exist_ok=True)
        draw_pictures(options.images)


if __name__ == "__main__":
    main()
