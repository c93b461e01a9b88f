"""Ctrl-C at random moments, over all estimators: ``python -m tests.interruptions --signals 10000``.

Every attempt must end in a KeyboardInterrupt with the estimator as it was, or in the result that
an undisturbed call gives. The attempts run in processes of their own, so that a crash is counted
and does not end the run.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

#: Seconds that a call should take: long enough to be interrupted, short enough to be repeated.
_SPAN = (0.05, 0.3)
_MOST_ROWS = 20_000
_LIMIT = 60  # seconds until an attempt counts as a hang
_SETUP_LIMIT = 900  # seconds for what comes before: kernels may have to be compiled
_GOOD = ("interrupted", "finished")


@dataclass
class Call:
    """Something to interrupt: how to run it, and the state it may change."""

    run: Callable[[], Any]
    state: Callable[[], Any]
    answer: Callable[[], Any]


def attempt(call: Call, expected: Any, delay: float) -> str:
    """Run a call, interrupt it after a delay, and say how it ended."""
    before = call.state()
    sent = threading.Event()

    def interrupt() -> None:
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGINT)
        sent.set()

    timer = threading.Thread(target=interrupt)
    outcome = ""
    try:
        timer.start()
        try:
            call.run()
            outcome = "finished"
        except KeyboardInterrupt:
            outcome = "interrupted"
        except BaseException as error:
            outcome = f"{type(error).__name__}: {str(error)[:100]}"
        while not sent.is_set():  # the signal must not arrive in the next attempt
            time.sleep(0.001)
        time.sleep(0.002)
    except KeyboardInterrupt:
        outcome = outcome or "interrupted"
    timer.join()
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return f"{outcome}, but the signal handler is another one"
    if outcome == "finished" and not same(call.answer(), expected):
        return "finished with another result"
    # The signal may also arrive between the end of a fit and that of the call.
    if outcome == "interrupted" and not (
        unchanged(before, call.state()) or same(call.answer(), expected)
    ):
        return "interrupted with a changed estimator"
    return outcome


def same(one: Any, other: Any) -> bool:
    """Whether two answers are the same to the bit."""
    return np.asarray(one).tobytes() == np.asarray(other).tobytes()


def unchanged(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether an estimator has the very features that it had."""
    return before.keys() == after.keys() and all(after[name] is before[name] for name in before)


def data(estimator: Any, n_rows: int) -> tuple[Any, Any]:
    """Numbers, few values, missing values, and a target that fits the estimator."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    X[:, 3:] = np.round(X[:, 3:])
    target = X[:, 0] + X[:, 4] + rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, target if is_regressor(estimator) else (target > 0).astype(int)


def kept_call(run: Callable[[], Any], model: Any) -> Call:
    """A call whose own result is compared, and which must leave the model alone."""
    found: list[Any] = [None]

    def keep() -> None:
        found[0] = None
        found[0] = run()

    return Call(keep, lambda: dict(model.__dict__), lambda: found[0])


def fit_call(estimator: Any, n_rows: int) -> Call:
    """A fit of an estimator that was fitted before."""
    X, y = data(estimator, n_rows)
    model = clone(estimator).fit(X[:100], y[:100])
    return Call(lambda: model.fit(X, y), lambda: dict(model.__dict__), lambda: model.predict(X))


def predict_call(estimator: Any, n_rows: int) -> Call:
    """Predictions by a fitted estimator."""
    X, y = data(estimator, n_rows)
    model = clone(estimator).fit(X[:500], y[:500])
    return kept_call(lambda: [model.predict(X) for _ in range(20)], model)


def order_call(rule: str, n_rows: int) -> Call:
    """An ordering of a bag, or a search for a subset of it."""
    from orfeon import BaggingClassifier
    from orfeon.ordering import order

    estimator = BaggingClassifier(n_estimators=100, random_state=0)
    X, y = data(estimator, n_rows)
    bag = estimator.fit(X[:300], y[:300])
    return kept_call(lambda: order(bag, X, y, rule=rule).order, bag)


def calls() -> dict[str, Callable[[int], Call]]:
    """All that is interrupted, by name: fits, predictions and orderings."""
    from tests.shared import public_estimators
    from tests.test_estimator_checks import make

    def prepared(kind: type) -> Any:
        model = make(kind, {})
        known = model.get_params()
        chosen = {"random_state": 0, "n_estimators": 20, "n_jobs": len(kind.__name__) % 2 + 1}
        if "estimators" in known:
            chosen.pop("n_estimators")
        return model.set_params(**{name: chosen[name] for name in chosen if name in known})

    found: dict[str, Callable[[int], Call]] = {}
    for name, kind in public_estimators().items():
        found[f"{name}.fit"] = lambda n, kind=kind: fit_call(prepared(kind), n)
        if hasattr(kind, "predict"):
            found[f"{name}.predict"] = lambda n, kind=kind: predict_call(prepared(kind), n)
    for rule in ("reduce_error", "boosting_based", "complementarity", "margin_distance"):
        found[f"order, {rule}"] = lambda n, rule=rule: order_call(rule, n)
    return found


def long_enough(make_call: Callable[[int], Call]) -> tuple[Call, Any, float]:
    """A call on as many rows as it takes, its answer, and its seconds."""
    n_rows = 500
    while True:
        call = make_call(n_rows)
        call.run()  # compiles
        began = time.perf_counter()
        call.run()
        seconds = time.perf_counter() - began
        if seconds >= _SPAN[0] or n_rows >= _MOST_ROWS:
            return make_call(n_rows), call.answer(), seconds
        n_rows *= 4


def interrupt_one(name: str, n_signals: int, seed: int) -> Counter[str]:
    """Interrupt one call again and again."""
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    # Programs that a shell runs in the background begin with Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call, expected, seconds = long_enough(calls()[name])
        for _ in range(n_signals):
            delay = rng.uniform(0, min(seconds, _SPAN[1]))
            faulthandler.dump_traceback_later(_LIMIT, exit=True)
            counts[attempt(call, expected, delay)] += 1
        faulthandler.cancel_dump_traceback_later()
    return counts


def run_one(name: str, n_signals: int, seed: int) -> Counter[str]:
    """Interrupt one call in a process of its own."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.interruptions"]
    command += ["--one", name, "--signals", str(n_signals), "--seed", str(seed)]
    limit = _SETUP_LIMIT + n_signals * _LIMIT
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Counter({"hang": 1})
    if done.returncode:
        return Counter({f"exit {done.returncode}: {done.stderr.strip()[:2000]}": 1})
    return Counter(json.loads(done.stdout.splitlines()[-1]))


def run_all(n_signals: int, seed: int, n_jobs: int, names: list[str]) -> int:
    """Interrupt all calls, and print how it went; 1 if anything went wrong."""
    share = [n_signals // len(names) + (i < n_signals % len(names)) for i in range(len(names))]
    work = [(name, n, seed + i) for i, (name, n) in enumerate(zip(names, share, strict=True)) if n]
    totals: Counter[str] = Counter()
    began = time.perf_counter()
    with ThreadPoolExecutor(n_jobs) as pool:
        for (name, *_), counts in zip(work, pool.map(lambda one: run_one(*one), work), strict=True):
            totals += counts
            wrong = {key: counts[key] for key in counts if key not in _GOOD}
            if wrong:
                print(f"{name}: {wrong}", flush=True)
    seconds = time.perf_counter() - began
    wrong_total = sum(count for key, count in totals.items() if key not in _GOOD)
    print(
        f"{sum(totals.values()):,} signals, {len(work)} calls, {seconds:.0f} s: "
        f"{totals['interrupted']:,} interrupted, {totals['finished']:,} finished, "
        f"{wrong_total:,} wrong"
    )
    return int(wrong_total > 0)


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.interruptions", description=__doc__)
    parser.add_argument("--signals", type=int, default=10_000, help="how many in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--n-jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--quick", action="store_true", help="a few calls, 200 signals")
    parser.add_argument("--match", default="", help="only calls whose name has this in it")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        counts = interrupt_one(options.one, options.signals, options.seed)
        print(json.dumps(counts))
        return 0
    names = [name for name in calls() if options.match in name]
    if not names:
        parser.error(f"--match {options.match!r}: no call has this in its name")
    if options.quick:
        names = ["C45Classifier.fit", "CARTClassifier.fit", "BaggingClassifier.predict",
                 "GradientBoostingRegressor.fit", "order, reduce_error"]  # fmt: skip
        options.signals = 200
    return run_all(options.signals, options.seed, options.n_jobs, names)


if __name__ == "__main__":
    sys.exit(main())
