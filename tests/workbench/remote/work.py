"""Work for other processes, which import it by name."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

from orfeon.errors import UserError


class Fits:
    """Fits a small ensemble from a seed; says who it was."""

    def __init__(self, X: Any, y: Any, seconds: float = 0.0) -> None:
        self.X, self.y, self.seconds = X, y, seconds

    def __call__(self, seed: int) -> tuple[int, str, int]:
        from orfeon import BaggingClassifier  # the other tasks do without, and begin sooner

        time.sleep(self.seconds)
        bag = BaggingClassifier(n_estimators=3, random_state=seed).fit(self.X, self.y)
        forest = bag.forest_
        words = (
            forest.nodes.tobytes() + forest.value.tobytes() + bag.predict_proba(self.X).tobytes()
        )
        return seed, hashlib.sha256(words).hexdigest(), os.getpid()


class Counts:
    """Counts its calls, and tries to do so in an array."""

    def __init__(self, array: Any) -> None:
        self.calls, self.array = 0, array

    def __call__(self, number: int) -> tuple[int, str]:
        self.calls += 1
        try:
            self.array[0] += 1
        except ValueError as error:
            return self.calls, str(error)
        return self.calls, "written"


def look_at(task: tuple[int, Any]) -> tuple[int, str, bool, int, float]:
    """Who has the array of a task, of which kind, whether writable, where, and its sum."""
    array = task[1]
    return (
        os.getpid(), type(array).__name__, array.flags.writeable,
        array.__array_interface__["data"][0], float(array.sum()),
    )  # fmt: skip


def fail_at_three(number: int) -> int:
    """Fail on one of the tasks."""
    if number == 3:
        raise KeyError("no such thing")
    return number


def refuse_three(number: int) -> int:
    """Find a mistake of the user in one of the tasks."""
    if number == 3:
        raise UserError("--target must name a column.")
    return number


class TravelsBadlyError(Exception):
    """An exception that pickle cannot make again."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


def fail_badly(number: int) -> int:
    """Fail with something that does not travel."""
    raise TravelsBadlyError(number, 2)


def wait(number: int) -> int:
    """Take a little time."""
    time.sleep(0.2)
    return number


def die_at_seven(number: int) -> int:
    """End the process on one of the tasks."""
    if number == 7:
        os._exit(1)
    return number


def die_once(task: tuple[int, str]) -> int:
    """End the process, unless another one was ended before."""
    number, mark = task
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return number
    os._exit(1)


def wait_for(mark: Path) -> None:
    """Wait until a file is there, though not for ever."""
    until = time.monotonic() + 30
    while not mark.exists() and time.monotonic() < until:
        time.sleep(0.01)


def tell_pid(number: int) -> int:
    """Say who it is, after a while: all processes have their share."""
    time.sleep(0.1)
    return os.getpid()


def begin_another(path: str) -> str:
    """Begin a process; the second one is waited for."""
    with subprocess.Popen(["sleep", "60"]) as other:
        if path.endswith("1"):
            other.returncode = 0  # it is left as it is
            return str(other.pid)
    return path


def slow_block(block: Any, seconds: float) -> Any:
    """The same rows, later."""
    time.sleep(seconds)
    return np.asarray(block)


def grown(number):
    """Hold 480 MB, more than joblib lets a process grow; it is renewed before the next task."""
    import builtins

    builtins.__dict__.setdefault("held", []).append(np.ones(60_000_000))
    time.sleep(1.1)  # joblib looks once a second
    return number
