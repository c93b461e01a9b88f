"""All suites, within a given time: ``python -m benchmarks all --minutes 25``.

Each step is a process of its own and leaves a file of JSON lines, from which ``python -m benchmarks
page`` writes the performance page. Suites for which no time is left are skipped and named; their
files from an earlier run stay.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import SUITES


@dataclass(frozen=True)
class Step:
    """A suite, or some of its cases."""

    #: The suite.
    suite: str
    #: How long it takes, about, on two cores that do nothing else.
    minutes: float
    #: Texts that choose the cases; all of them without any.
    cases: Sequence[str] = ()
    #: Whether the quick form must do, as the full one takes too long. Where the full one was run on
    #: its own, what it measured is kept.
    quick: bool = False

    def command(self, quick: bool) -> list[str]:
        """What is run, without the interpreter.

        Examples
        --------
        >>> Step("trees", 1.0, ("waveform",)).command(quick=True)
        ['-m', 'benchmarks', 'trees', '--quick', '--case', 'waveform']
        """
        chosen = [word for case in self.cases for word in ("--case", case)]
        hurried = ["--quick"] if quick or self.quick else []
        return ["-m", "benchmarks", self.suite, *hurried, *chosen]


#: The most important first, without cases that others repeat on larger data.
PLAN = (
    Step("trees", 2.5, ("waveform", "twonorm", "two threads", "cross-", "CART", "predict")),
    Step(
        "ensembles", 3.4,
        ("class-switching", " 5000 rows", "of 50000 rows", "memory", "growth"),
    ),
    Step("tables", 1.3, ("car-like", "predict, forest")),
    Step("boosting", 2.8, (" 5000 rows", "histogram", "predict")),
    Step(
        "ordering", 2.5,
        ("200 x 300", "many", "5.10", "search", "forest, waveform", "forest, clusters", "(cv)"),
    ),
    Step("perceptrons", 1.2, ("PPTSS", "train, 300", "768", "train, 5000", "PPBoost", "up to")),
    Step("files", 0.5),
    Step("exports", 2.8),
    Step("serving", 0.5, ("single rows",), quick=True),
    Step("start", 1.0, ("first bag",)),
    Step("inspection", 2.5, ("diversity", "map, 300 ", "mosaic", "predict", "300 rows")),
    Step("scale", 1.5, ("300 classes", "5000 features", "100 rows")),
    Step("studies", 2.5, ("overhead", "first study")),
)  # fmt: skip
#: A step may take this many times its minutes, plus half a minute; then it is stopped, so a wrong
#: estimate does not cost the others their turn.
_PATIENCE = 1.6


def is_full(path: Path) -> bool:
    """Whether a file holds what the full form of a suite measured."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return bool(lines) and not any(json.loads(line)["quick"] for line in lines)


def run_step(step: Step, folder: Path, *, quick: bool, seconds: float) -> str:
    """Run one step and keep what it measured, whole or as far as it came."""
    partial, final = folder / f".{step.suite}.partial", folder / f"{step.suite}.jsonl"
    command = [sys.executable, *step.command(quick), "--json", str(partial)]
    # A process group of its own: its children end with it.
    process = subprocess.Popen(command, start_new_session=True)
    outcome = "stopped"
    try:
        code = process.wait(timeout=seconds)
        outcome = "done" if code == 0 else f"failed with {code}"
    except subprocess.TimeoutExpired:
        outcome = f"stopped after {seconds / 60:.1f} minutes"
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if partial.exists() and partial.stat().st_size:
        os.replace(partial, final)
    else:
        partial.unlink(missing_ok=True)
    return outcome


def run_all(folder: Path, minutes: float, *, quick: bool, plan: Sequence[Step] = PLAN) -> int:
    """Run the steps of a plan, one after another, as long as there is time."""
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * minutes
    outcomes: dict[str, str] = {}
    for step in plan:
        if step.suite not in SUITES:
            outcomes[step.suite] = "left out: there is no such suite"
            continue
        if step.quick and not quick and is_full(folder / f"{step.suite}.jsonl"):
            outcomes[step.suite] = "done before, in full, and kept"
            continue
        left = end - time.monotonic()
        if left < (5 if quick else 60 * step.minutes / 2):
            outcomes[step.suite] = f"left out: {max(left, 0) / 60:.1f} minutes are left"
            continue
        print(f"== {step.suite}, {left / 60:.1f} minutes left", flush=True)
        start = time.monotonic()
        patience = left if quick else min(left, 60 * (_PATIENCE * step.minutes + 0.5))
        outcome = run_step(step, folder, quick=quick, seconds=patience)
        outcomes[step.suite] = f"{outcome}, {(time.monotonic() - start) / 60:.1f} minutes"
    print()
    for name, outcome in outcomes.items():
        print(f"{name}: {outcome}")
    return int(not all(outcome.startswith("done") for outcome in outcomes.values()))
