"""Can probabilities be trusted? Ensembles before and after calibration, in numbers and pictures.

Run it with ``python examples/trust_probabilities.py``; it takes a few seconds. With ``--table
FILE`` it reads a CSV file of yours, whose last column is the class. With ``--out FOLDER`` it also
draws the pictures of the user guide, which needs matplotlib.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import orfeon
from orfeon.datasets import make_ringnorm
from orfeon.inspection import (
    BrierDisplay,
    ReliabilityDisplay,
    brier_score,
    expected_calibration_error,
)

ENSEMBLES = {
    "forest": orfeon.RandomForestClassifier,
    "bagging": orfeon.BaggingClassifier,
    "class-switching": orfeon.ClassSwitchingClassifier,
    "AdaBoost": orfeon.AdaBoostClassifier,
}


def samples(table: Path | None) -> list[Any]:
    """Training and test samples: of a file, or 1,000 and 5,000 of two overlapping clouds."""
    if table is None:
        X, y = make_ringnorm(1000, random_state=0)
        X_test, y_test = make_ringnorm(5000, random_state=1)
        return [X, X_test, y, y_test]
    import pandas

    frame = pandas.read_csv(table)
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1].astype(str)
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
    """Fit, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path, help="a CSV file; its last column is the class")
    parser.add_argument("--out", type=Path, help="folder for the pictures")
    options = parser.parse_args(arguments)
    X, X_test, y, y_test = samples(options.table)
    found: dict[str, Any] = {}
    print("                   calibrate   log loss   by fit   cal. error   Brier score")
    for name, kind in ENSEMBLES.items():
        for how in (None, "sigmoid"):
            model = kind(calibrate=how, random_state=0).fit(X, y)
            p = model.predict_proba(X_test)
            found[f"{name}{', calibrated' if how else ''}"] = p
            by_fit = getattr(model, "oob_log_loss_", np.nan)
            error = expected_calibration_error(y_test, p)
            print(
                f"{name:19}{how!s:10}{log_loss(y_test, p):10.3f}{by_fit:9.3f}{error:13.3f}"
                f"{brier_score(y_test, p).score:14.3f}"
            )
    if options.out is None:
        return
    options.out.mkdir(parents=True, exist_ok=True)
    shown = {name: p for name, p in found.items() if "forest" in name or "switching" in name}
    display = ReliabilityDisplay.from_probabilities(y_test, shown)
    save(display, options.out / "trust_reliability.png")
    save(BrierDisplay.from_probabilities(y_test, found), options.out / "trust_brier.png")


if __name__ == "__main__":
    main()
