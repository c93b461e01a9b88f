"""Why did the model say so? Reasons of a forest's decisions, in sentences and pictures.

Run it with ``python examples/trust_reasons.py``; it takes a few seconds. With ``--table FILE`` it
reads a CSV file of yours, whose last column is the class. With ``--out FOLDER`` it also draws the
pictures of the user guide, which needs matplotlib.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from orfeon import RandomForestClassifier
from orfeon.inspection import (
    AccumulatedEffectsDisplay,
    PartialDependenceDisplay,
    ShapBeeswarmDisplay,
    ShapWaterfallDisplay,
    shap_values,
    why,
)


def samples(table: Path | None) -> list[Any]:
    """Training and test samples: of a file, or of tumours, benign and malignant."""
    if table is None:
        given = load_breast_cancer(as_frame=True)
        X, y = given.data, given.target_names[given.target]
    else:
        import pandas

        frame = pandas.read_csv(table)
        X, y = frame.iloc[:, :-1], frame.iloc[:, -1].astype(str).to_numpy()
    return list(train_test_split(X, y, test_size=0.3, stratify=y, random_state=0))


def save(display: Any, path: Path) -> None:
    """Save a picture with few colours: a small file."""
    from matplotlib import pyplot
    from PIL import Image

    display.figure_.savefig(path, dpi=100)
    pyplot.close(display.figure_)
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def main(arguments: list[str] | None = None) -> None:
    """Fit, explain, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path, help="a CSV file; its last column is the class")
    parser.add_argument("--out", type=Path, help="folder for the pictures")
    options = parser.parse_args(arguments)
    X, X_test, y, _ = samples(options.table)
    forest = RandomForestClassifier(random_state=0).fit(X, y)
    name = forest.classes_[-1]

    # The row about which the forest is least sure.
    shares = np.sort(forest.vote_shares(X_test), axis=1)
    doubtful = int(np.argmin(shares[:, -1] - shares[:, -2]))
    print(why(forest, X_test.iloc[[doubtful]], X, y))

    found = shap_values(forest, X_test).for_class(name)
    size = np.abs(found.values).mean(axis=0)
    order = np.argsort(-size)
    print(f"\nmean change of the share of votes for {name}:")
    for j in order[:5]:
        print(f"  {found.names[j]:24} {size[j]:.3f}")
    apart = np.abs(found.outputs - forest.vote_shares(X_test)[:, -1]).max()
    print(f"values and vote shares differ by at most {apart:.0e}")
    if options.out is None:
        return
    options.out.mkdir(parents=True, exist_ok=True)
    ordered = [j for j in order if forest.schema_.categories[j] is None]
    first = found.names[(ordered or order)[0]]  # local effects need an order
    display = ShapWaterfallDisplay.from_estimator(forest, X_test, doubtful, n_shown=8)
    save(display, options.out / "trust_waterfall.png")
    display = ShapBeeswarmDisplay(found).plot(n_shown=8)
    save(display, options.out / "trust_beeswarm.png")
    from matplotlib import pyplot

    _, axes = pyplot.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained")
    display: Any = PartialDependenceDisplay.from_estimator(
        forest, X_test, first, kind="both", name=name, ax=axes[0]
    )
    if ordered:
        display = AccumulatedEffectsDisplay.from_estimator(
            forest, X_test, first, name=name, ax=axes[1]
        )
        axes[1].locator_params(axis="x", nbins=5)
    else:
        axes[1].remove()
    save(display, options.out / "trust_effects.png")


if __name__ == "__main__":
    main()
