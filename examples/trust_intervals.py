"""How far is the target from the prediction? Intervals of a forest, in numbers and a picture.

Run it with ``python examples/trust_intervals.py``; it takes a few seconds. With ``--table FILE`` it
reads a CSV file of yours, whose last column is a number. With ``--out FOLDER`` it also draws the
picture of the user guide, which needs matplotlib.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from orfeon import ConformalRegressor, GradientBoostingRegressor, RandomForestRegressor
from orfeon.inspection import IntervalDisplay, interval_coverage

METHODS = ("jackknife", "residuals", "quantile")


def made(n_rows: int, seed: int) -> tuple[Any, Any]:
    """Targets whose noise grows with the first feature."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, 5))
    y = 10 * X[:, 0] + np.sin(6 * X[:, 1]) + 0.3 * rng.normal(size=n_rows)
    return X, y + 3 * X[:, 0] ** 2 * rng.normal(size=n_rows)


def samples(table: Path | None) -> list[Any]:
    """Training and test samples: of a file, or 1,000 and 5,000 made ones."""
    if table is None:
        (X, y), (X_test, y_test) = made(1000, 0), made(5000, 1)
        return [X, X_test, y, y_test]
    import pandas

    frame = pandas.read_csv(table)
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1].astype(float)
    return list(train_test_split(X, y, test_size=0.3, random_state=0))


def draw(intervals: dict[str, Any], y: Any, path: Path) -> None:
    """Draw some intervals side by side, in a picture of few colours: a small file."""
    from matplotlib import pyplot
    from PIL import Image

    figure, axes = pyplot.subplots(1, len(intervals), figsize=(10, 4.4), layout="constrained")
    for ax, (name, interval) in zip(axes, intervals.items(), strict=True):
        seen = IntervalDisplay.from_intervals(y, interval, coverage=0.9, n_shown=150, ax=ax).data
        ax.set_title(f"{name}: {seen.coverage:.1%} held, mean width {seen.width:.2f}")
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def main(arguments: list[str] | None = None) -> None:
    """Fit, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path, help="a CSV file; its last column is a number")
    parser.add_argument("--out", type=Path, help="folder for the picture")
    options = parser.parse_args(arguments)
    X, X_test, y, y_test = samples(options.table)
    forest = RandomForestRegressor(
        min_samples_leaf=5, oob_score=True, quantiles=True, random_state=0
    ).fit(X, y)
    found = {f"forest, {m}": forest.predict_interval(X_test, method=m) for m in METHODS}
    boosted = ConformalRegressor(GradientBoostingRegressor(), cv=5, random_state=0).fit(X, y)
    found["boosting, 5 folds"] = boosted.predict_interval(X_test)
    levels = GradientBoostingRegressor(loss="quantile", alpha=(0.05, 0.95))
    boosted = ConformalRegressor(levels, cv=5, random_state=0).fit(X, y)
    found["boosted quantiles"] = boosted.predict_interval(X_test)
    print("intervals of 90%       held   width   held by fifths of the rows")
    for name, interval in found.items():
        seen = interval_coverage(np.asarray(y_test), interval)
        fifths = "  ".join(f"{share:.2f}" for share in seen.bin_coverage)
        print(f"{name:20}{seen.coverage:7.3f}{seen.width:8.3g}   {fifths}")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        two = {name: found[f"forest, {name}"] for name in ("jackknife", "quantile")}
        draw(two, np.asarray(y_test), options.out / "trust_intervals.png")


if __name__ == "__main__":
    main()
