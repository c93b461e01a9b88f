"""What a study costs beyond its fits, what a killed one loses, and how long a first one takes."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.report import Measurement, Target
from benchmarks.suite import Case, Suite
from orfeon.datasets import make_waveform
from orfeon.ordering import order
from orfeon.workbench.experiment.evaluation import (
    Evaluation,
    RunKey,
    findings,
    first_members,
)
from orfeon.workbench.experiment.methods import METHODS
from orfeon.workbench.experiment.plan import Folding, Plan
from orfeon.workbench.experiment.running import Running, unit_keys
from orfeon.workbench.store import Store

_ROWS, _FEATURES = 300, 21
#: What a study may add to its fits: less than 5%.
_OVERHEAD = Target("at most", 1.05, "ratio")


def _bench(members: int) -> tuple[Plan, Evaluation]:
    X, y = make_waveform(_ROWS, random_state=0)
    plan = Plan.of("waveform", "classification", members=members)
    folding = Folding(y, True, plan.seed)
    return plan, Evaluation(
        X, y, "classification", 3, folding, plan.rule, plan.keep, members, plan.seed
    )


def bare_loop(plan: Plan, evaluation: Evaluation, unit: int) -> dict[str, float]:
    """The runs of an outer fold as a user would write them: fit, order, cut, predict, count."""
    X, y = evaluation.X, evaluation.y
    errors: dict[str, float] = {}
    splits = [evaluation.folding.outer(unit), *evaluation.folding.inner(unit)]
    for key in unit_keys(plan, unit):
        method = METHODS[key.method]
        train, test = splits[0 if key.inner is None else 1 + key.inner]
        seed = evaluation.random_state(key)
        model = method.build("classification", seed, 1, plan.members, X=X[train], calibrated=True)
        with findings():  # networks end early on purpose
            model.fit(X[train], y[train])
        models = {method.name: model}
        if method.is_prunable:
            found = order(model, X[train], y[train], rule=plan.rule)
            for share in plan.keep:
                models[f"{method.name}@{share:g}"] = first_members(model, found, share)
        for name, each in models.items():
            wrong = float(np.mean(each.predict(X[test]) != y[test]))
            each.predict_proba(X[test])
            if key.inner is None:
                errors[name] = wrong
    return errors


def overhead(n_units: int, members: int) -> list[Measurement]:
    """Runs with the store against bare loops, outer fold by outer fold, in turns."""
    plan, evaluation = _bench(members)
    studied: list[float] = []
    bare: list[float] = []
    n_runs = n_units * len(unit_keys(plan, 0))
    with (
        tempfile.TemporaryDirectory(prefix="orfeon-benchmark-") as folder,
        Store(Path(folder) / "store.db") as store,
    ):
        study = store.open_study("overhead", plan.to_dict())
        running = Running(plan, evaluation, study)
        for unit in range(n_units + 1):
            turns = [("study", studied), ("bare", bare)]
            for name, times in turns if unit % 2 else turns[::-1]:
                start = time.perf_counter()
                if name == "study":
                    running.units([unit])
                else:
                    errors = bare_loop(plan, evaluation, unit)
                times.append(time.perf_counter() - start)
            _check_same(study.rows(), unit, errors)
    # The first outer fold loads or compiles kernels.
    ratio = sum(studied[1:]) / sum(bare[1:])
    spread = [one / other for one, other in zip(studied[1:], bare[1:], strict=True)]
    note = (
        f"{n_runs} runs of 12 methods with {members} members: {sum(studied[1:]):.1f} s, the bare "
        f"loops {sum(bare[1:]):.1f} s; ratio by outer fold, median {median(spread):.3f}."
    )
    return [
        Measurement(
            f"a study of {n_runs} runs over bare loops", _ROWS, _FEATURES, ratio, "ratio",
            sum(studied[1:]), max(spread) - min(spread), target=_OVERHEAD, notes=[note],
        )
    ]  # fmt: skip


def _check_same(rows: Sequence[Any], unit: int, errors: dict[str, float]) -> None:
    """A comparison of different work would mean nothing."""
    found = {
        name: scores["error"]
        for row in rows
        if (key := RunKey.read(row.key)).unit == unit and key.inner is None
        for name, scores in row.result["scores"].items()
    }
    if found != errors:
        raise AssertionError(f"the study and the bare loop differ on outer fold {unit}")


_COMMAND = (
    "study", "waveform", "--methods", "baseline,cart,bagging,random_forest", "--members", "25",
    "--quiet", "--n-jobs", "2",
)  # fmt: skip


def _start(out: Path, repeats: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "orfeon", *_COMMAND, "--repeats", str(repeats), "--out", str(out)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def stored_rows(out: Path) -> list[tuple[Any, ...]]:
    """Everything in a store but times, dates and hosts."""
    path = out / "store.db"
    if not path.exists():
        return []
    with Store(path, read_only=True) as store:
        return [
            (info.name, row.key, row.configuration, row.seed, row.result)
            for info in store.studies()
            for row in store.study(info.name).rows()
        ]


def _n_rows(out: Path) -> int:
    """How many runs a study has stored; 0 while its store is being made."""
    try:
        return len(stored_rows(out))
    except ValueError:
        return 0


def killed(n_kills: int, repeats: int) -> list[Measurement]:
    """Kill a study at random moments, resume it each time, and compare it with an undisturbed one.

    Moments are drawn over the whole of the study, from its first row to its last.
    """
    generator = random.Random(20)
    moments = []
    with tempfile.TemporaryDirectory(prefix="orfeon-benchmark-") as folder:
        whole, cut = Path(folder) / "whole", Path(folder) / "cut"
        _start(Path(folder) / "warm", 1).wait()
        start = time.perf_counter()
        if _start(whole, repeats).wait() != 0:
            raise RuntimeError("the undisturbed study failed")
        seconds = time.perf_counter() - start
        counts, n_all = [0], len(stored_rows(whole))
        for n_before in range(n_kills):
            # Some more rows than the last time, and a moment later: all stages are met.
            share = 2 * (n_all - counts[-1]) // (n_kills - n_before + 1)
            wanted = counts[-1] + generator.randint(0, max(share, 0))
            process, start = _start(cut, repeats), time.perf_counter()
            while process.poll() is None and _n_rows(cut) < wanted:
                time.sleep(0.05)
            time.sleep(generator.uniform(0.0, 0.5))
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            moments.append(time.perf_counter() - start)
            counts.append(_n_rows(cut))
        if _start(cut, repeats).wait() != 0:
            raise RuntimeError("the resumed study failed")
        one, other = stored_rows(whole), stored_rows(cut)
        n_differ = sum(a != b for a, b in itertools.zip_longest(one, other))
        files = sorted(path.name for path in cut.iterdir() if not path.name.startswith("store"))
    n_hits = sum(1 for before, after in itertools.pairwise(counts) if after > before)
    note = (
        f"killed at {', '.join(f'{moment:.1f}' for moment in moments)} s of {seconds:.1f}; rows "
        f"then: {', '.join(map(str, counts[1:]))} of {len(one)}; {n_hits} sessions added rows; "
        f"files at the end: {', '.join(files)}."
    )
    return [
        Measurement(
            f"rows that differ after {n_kills} kill -9", len(one), 0,
            float(n_differ),
            "ratio", target=Target("at most", 0, "ratio"), notes=[note],
        )
    ]  # fmt: skip


def first_study() -> list[Measurement]:
    """The default study with an empty cache of kernels: what a new user waits for."""
    with tempfile.TemporaryDirectory(prefix="orfeon-benchmark-") as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder) / "cache")}
        command = [sys.executable, "-m", "orfeon", "study", "--quiet", "--out"]
        start = time.perf_counter()
        subprocess.run(
            [*command, str(Path(folder) / "out")], env=environment, check=True,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        has_report = (Path(folder) / "out" / "report.html").stat().st_size > 0
    note = "orfeon study with its defaults, no kernel compiled before."
    if not has_report:
        raise RuntimeError("there is no report")
    return [
        Measurement(
            "first study, empty cache", 0, 0, seconds, "s", seconds,
            target=Target("at most", 120, "s"), notes=[note],
        )
    ]  # fmt: skip


def suite(quick: bool) -> Suite:
    """What is measured."""
    return Suite(
        [
            Case("overhead", lambda: overhead(2 if quick else 42, 20 if quick else 50)),
            Case("killed", lambda: killed(2 if quick else 20, 1 if quick else 4)),
            *([] if quick else [Case("first study", first_study)]),
        ]
    )
