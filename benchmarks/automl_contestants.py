"""Systems that turn a table into a model within a given time, each in a process of its own.

The peers need versions of packages that orfeon does not, so each has an environment of its own in
the folder that ``ORFEON_PEERS`` names (default: ``.peers``). It is made by the first full run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas

from benchmarks.accuracy_contestants import loss_and_error
from benchmarks.accuracy_tables import Table
from benchmarks.contestants import ORFEON
from benchmarks.fold_results import code_state

FLAML, AUTOGLUON, AUTOGLUON_BEST = "FLAML", "AutoGluon medium", "AutoGluon best"
THREADS = 2
#: Whoever takes so many minutes more than the time it was given is stopped.
_PATIENCE = 20
_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Environment:
    """An environment of Python packages."""

    #: Of its folder.
    name: str
    #: What pip installs; the first is the system itself.
    packages: tuple[str, ...]

    @property
    def python(self) -> Path:
        """Its interpreter, which need not be there."""
        return Path(os.environ.get("ORFEON_PEERS", ".peers")) / self.name / "bin" / "python"

    def make(self) -> str | None:
        """Install the packages if they are not there."""
        if self.version() is not None:
            return None
        folder = self.python.parents[1]
        for command in (
            [sys.executable, "-m", "venv", str(folder)],
            [str(self.python), "-m", "pip", "install", "-q", *self.packages],
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                return (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return None

    def version(self) -> str | None:
        """Version of the system; None if it is not installed."""
        if not self.python.exists():
            return None
        package = self.packages[0].partition("[")[0]
        command = f"from importlib.metadata import version; print(version({package!r}))"
        done = subprocess.run([self.python, "-c", command], capture_output=True, text=True)
        return done.stdout.strip() or None


@dataclass(frozen=True)
class System:
    """A system and how it is called."""

    #: Who it is.
    name: str
    #: Where it lives; orfeon lives here.
    environment: Environment | None = None
    #: The file of this folder that runs it.
    script: str = ""
    #: What it is asked for.
    preset: str = ""

    def state(self) -> str | None:
        """Its version; None if it is not installed."""
        return code_state((".",)) if self.environment is None else self.environment.version()

    def command(self, folder: Path, seconds: float, seed: int) -> list[str]:
        """What is run in a folder that holds the task."""
        if self.environment is not None:
            return [str(self.environment.python.absolute()), str(_HERE / self.script), str(folder)]
        return [
            sys.executable, "-m", "orfeon", "study", str(folder / "train.csv"),
            "--target", "target", "--metric", _metric(folder), "--budget", f"{seconds:g}s",
            "--seed", str(seed), "--n-jobs", str(THREADS), "--out", str(folder / "study"),
            "--json", "--quiet",
        ]  # fmt: skip


_AUTOGLUON = Environment("autogluon", ("autogluon.tabular[catboost,lightgbm,xgboost]",))
ORFEON_STUDY = System(ORFEON)
FLAML_SYSTEM = System(FLAML, Environment("flaml", ("flaml[automl]",)), "automl_flaml.py")
MEDIUM = System(AUTOGLUON, _AUTOGLUON, "automl_autogluon.py", "medium_quality")
BEST = System(AUTOGLUON_BEST, _AUTOGLUON, "automl_autogluon.py", "best_quality")


def _metric(folder: Path) -> str:
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    return "rmse" if task["classes"] is None else "log_loss"


def installed(systems: Sequence[System], *, make: bool) -> tuple[list[System], list[str]]:
    """The systems that can be run here."""
    there, notices = [], []
    for system in systems:
        reason = "it is not installed" if system.environment is not None else None
        if make and system.environment is not None:
            reason = system.environment.make()
        if system.state() is None:
            notices.append(f"{system.name} is left out: {reason}.")
        else:
            there.append(system)
    return there, notices


# -- one run ---------------------------------------------------------------------------------------


def label(code: int) -> str:
    """A class as it stands in the files: a word, so that nobody takes it for a number."""
    return f"class {code}"


def write_task(
    folder: Path, training: Table, test: Table, seconds: float, seed: int, preset: str
) -> None:
    """Write the files that every system reads."""
    labels = [label(code) for code in range(training.n_classes)] or None
    target = training.y if labels is None else np.array(labels)[training.y]
    # A first line of numbers would not look like names.
    first, second = (part.X.rename(columns="x{}".format) for part in (training, test))
    first.assign(target=target).to_csv(folder / "train.csv", index=False)
    second.to_csv(folder / "test.csv", index=False)
    task = {
        "classes": labels, "seconds": seconds, "threads": THREADS, "seed": seed, "preset": preset,
    }  # fmt: skip
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")


def read_answers(folder: Path, n_classes: int) -> npt.NDArray[np.float64]:
    """What a system answered, in the order of the classes."""
    answers = pandas.read_csv(folder / "answers.csv")
    if not n_classes:
        return np.asarray(answers["prediction"], np.float64)
    answers.columns = answers.columns.str.removeprefix("probability_")
    labels = [label(code) for code in range(n_classes)]
    return np.asarray(answers.reindex(columns=labels, fill_value=0.0), np.float64)


def _call(command: Sequence[str], seconds: float, who: str) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": str(THREADS)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60 * _PATIENCE + seconds, env=environment
    )
    if done.returncode:
        raise RuntimeError(f"{who} failed: {done.stderr[-2000:]}")
    return done.stdout


def measure(
    system: System, training: Table, test: Table, seconds: float, seed: int
) -> dict[str, Any]:
    """Give a system its time on the training rows, and score its predictions of the test rows."""
    with tempfile.TemporaryDirectory(prefix="orfeon-automl-") as name:
        folder = Path(name)
        write_task(folder, training, test, seconds, seed, system.preset)
        begin = time.perf_counter()
        printed = _call(system.command(folder, seconds, seed), seconds, system.name)
        taken = time.perf_counter() - begin
        extra = {}
        if system.environment is None:
            study = json.loads(printed)
            extra = {"interval": study["interval"], "method": study["chosen"]}
            _call(
                [
                    sys.executable, "-m", "orfeon", "predict", str(folder / "study/model.orfeon"),
                    str(folder / "test.csv"), "-o", str(folder / "answers.csv"), "--quiet",
                    *(["--proba"] if test.n_classes else []),
                ],
                seconds, system.name,
            )  # fmt: skip
        loss, error = loss_and_error(read_answers(folder, test.n_classes), test)
    found = {"loss": loss, "error": error, "seconds": taken}
    return {**{key: float(f"{value:.6g}") for key, value in found.items()}, **extra}
