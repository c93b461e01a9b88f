"""How parallel perceptrons do on many rows, how their time grows, and what a first fit takes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Any

from benchmarks import one_perceptron
from benchmarks.cost_growth import growth_line, relative_growth, time_by_size
from benchmarks.perceptron_problems import DIABETES, standardised
from benchmarks.problems import Data
from benchmarks.report import Measurement, Target
from orfeon import ParallelPerceptronClassifier

#: Epochs of a parallel perceptron by default.
EPOCHS = 250
MILLION = 1_000_000

_MEGABYTE, _GIGABYTE = 1e6, 1e9
#: Of a million rows.
_IN_MINUTES, _IN_MEMORY = 180.0, Target("at most", 2.0, "GB")
_LINEAR = Target("at most", 1.3, "ratio")


def train(data: Data, n_epochs: int) -> Any:
    """A parallel perceptron of so many epochs."""
    return ParallelPerceptronClassifier(max_iter=n_epochs, random_state=0).fit(data.X, data.y)


def many_rows(name: str, n_rows: int, n_features: int) -> list[Measurement]:
    """Time and memory of a fit on many rows, in a fresh process."""
    answers = one_perceptron.fit_in_a_process(n_rows, n_features, EPOCHS)
    shape, seconds = (n_rows, n_features), answers["seconds"]
    notes = [
        f"{name}: {EPOCHS} epochs, and {answers['outside']:.1f} s for all but them; training error "
        f"{answers['error']:.1%}; {answers['cores']:.2f} cores."
    ]
    if n_rows < MILLION:
        notes.append(f"{name}: the full form has {MILLION} rows, in {_IN_MINUTES:g} s and 2 GB.")
    target = Target("at most", _IN_MINUTES * n_rows / MILLION, "s")
    epoch = answers["epoch"]
    lines = [
        Measurement(
            name, *shape, seconds, "s", seconds, target=target, notes=notes, detail=answers
        ),
        Measurement(f"{name}, an epoch", *shape, 1000 * epoch, "ms", epoch),
    ]  # fmt: skip
    if "peak" in answers:
        table = 8 * n_rows * n_features / _MEGABYTE
        note = f"{name}: the table itself is {table:.0f} MB"
        if "before" in answers:
            note += f"; the process had {answers['before'] / _MEGABYTE:.0f} MB before the fit"
        lines.append(
            Measurement(
                f"{name}, memory", *shape, answers["peak"] / _GIGABYTE, "GB",
                target=_IN_MEMORY if n_rows >= MILLION else None, notes=[f"{note}."],
                detail=answers,
            )
        )  # fmt: skip
    return lines


def growth(name: str, sizes: Sequence[int], rounds: int) -> list[Measurement]:
    """Whether the time grows like the rows; the smaller sets are the first rows of the largest."""
    whole, _ = standardised(max(sizes), 20)
    parts = {n: Data(whole.name, whole.X[:n].copy(), whole.y[:n]) for n in sizes}
    timings = time_by_size({n: partial(train, part, EPOCHS) for n, part in parts.items()}, rounds)
    found = relative_growth({n: timing.seconds for n, timing in timings.items()}, float)
    return [growth_line(name, whole.shape, timings, found, _LINEAR, "time over N at N")]


def start(name: str, rounds: int) -> list[Measurement]:
    """The first fit of a fresh process: on an empty cache, and on the one just filled."""
    with tempfile.TemporaryDirectory(prefix="orfeon-benchmark-") as cache:
        cold = [one_perceptron.first_fit(cache)]
        warm = [one_perceptron.first_fit(cache) for _ in range(rounds)]
    lines = []
    for label, runs in (("empty cache", cold), ("kernels cached", warm)):
        parts = {part: median(run[part] for run in runs) for part in runs[0]}
        fits = [run["fit"] for run in runs]
        note = ", ".join(f"{part} {seconds:.2f} s" for part, seconds in parts.items())
        lines.append(
            Measurement(
                f"{name}, {label}", *DIABETES, parts["fit"], "s", parts["fit"],
                (max(fits) - min(fits)) / parts["fit"], notes=[f"{name}, {label}: {note}."],
                detail=parts,
            )
        )  # fmt: skip
    return lines
