"""Makes mutants of saved files, loads them, and asks what comes of it: in a process of its own.

A mutant is known by its family, seed and number: each has a generator of its own, so that any of
them can be made again. The process that started this one reads from shared memory which mutant is
being loaded, and sees it crash or hang.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import mmap
import os
import resource
import struct
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import joblib
from tests.io.damage import DAMAGE
from tests.io.forgeries import Forger
from tests.io.judging import Cost, Guard, SlowError, command_fate, fate, limited, query
from tests.io.mutations import FORGERY, NOTHING_THERE, a_spoiler, signed
from tests.io.specimens import Specimen, made_specimens, specimens

from orfeon.io import read_model

#: Numbers that the other process sees: mutants begun, and done.
PROGRESS = struct.Struct("<qq")
#: Bytes that loading and asking may take besides what the process has when it begins: beyond it
#: nothing is had, so that the machine goes on.
MEMORY = 3 << 30
#: Mutants that a process loads even if the time is over.
LEAST = 500
#: Rows for ``orfeon predict``, with the columns of the preparation that mutants have.
ROWS = "first,letter,second,way\n0.5,a,29/02/2024,up\n,c,01/03/2024,\n-1,?,x,down\n"


# -- mutants ---------------------------------------------------------------------------------------


class Mutant(NamedTuple):
    """A changed file, and how it was changed."""

    of: Specimen
    kind: str
    how: str
    data: bytes

    @property
    def is_damage(self) -> bool:
        return self.kind == "damaged"


def mutation(known: Sequence[Specimen], seed: int, number: int) -> Mutant:
    """The mutation of a number, always the same: bytes that were damaged, or values changed."""
    rng = Random(seed << 40 | number)
    of = known[number % len(known)]
    if rng.random() < 0.4:
        damage = rng.choice(DAMAGE)
        return Mutant(of, "damaged", damage.__name__, damage(of.data, of.parts, rng))
    forged = of.open()
    names = []
    try:
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            forgery = rng.choice(FORGERY)
            names.append(forgery.__name__)
            forgery(forged, rng)
    except NOTHING_THERE:
        pass  # there is nothing left to change so
    spoiler = a_spoiler(rng) if rng.random() < 0.03 else None
    names += [] if spoiler is None else [spoiler.__name__]
    try:
        return Mutant(of, "forged", ", ".join(names), signed(forged, spoiler))
    except NOTHING_THERE:
        return Mutant(of, "damaged", "truncate", of.data[:-1])


class Mutants:
    """All mutants of a family: mutations, consistent forgeries, or both by turns."""

    def __init__(self, family: str, seed: int) -> None:
        self.family, self.seed = family, seed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.corpus = specimens()
            made = [] if family == "mutations" else made_specimens()
        self.known = [*self.corpus, *made]
        self._forger = Forger(self.known)

    def __getitem__(self, number: int) -> Mutant:
        if self.family == "mutations":
            return mutation(self.corpus, self.seed, number)
        if self.family == "forgeries":
            return self._forgery(number)
        half, is_forgery = divmod(number, 2)
        return self._forgery(half) if is_forgery else mutation(self.corpus, self.seed, half)

    def _forgery(self, number: int) -> Mutant:
        return Mutant(*self._forger.forgery(self.seed, number))


# -- the process -----------------------------------------------------------------------------------


class Task(NamedTuple):
    """What the process is to do."""

    folder: Path
    seed: int
    first: int
    last: int
    until: float
    family: str


class Judge:
    """Finds out what becomes of mutants, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "mutant.orfeon"
        self.rows = folder / "rows.csv"
        self.rows.write_text(ROWS)
        self.guard = Guard()
        self.cost = Cost()
        joblib.cpu_count(only_physical_cores=True)  # which runs a program, the first time

    def fate_of(self, one: Mutant, number: int) -> str:
        self.path.write_bytes(one.data)
        try:
            return self._limited(one, number)
        except SlowError:  # perhaps a kernel was compiled
            return self._limited(one, number)

    def _limited(self, one: Mutant, number: int) -> str:
        with limited(len(one.data), self.guard, self.cost):
            if one.kind == "texts":
                answers = command_fate(self.path, self.rows, number, foreign=bool(one.of.foreign))
                if number % 16 or answers != "inspected":
                    return answers
            return fate(self.path, one.of, is_damage=one.is_damage, number=number)


def run(task: Task) -> None:
    """Load mutants one after the other; says what became of them, and what must not be."""
    faulthandler.enable()
    # What models print is not for the process that listens.
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def say(what: dict[str, Any]) -> None:
        print(json.dumps(what), file=channel, flush=True)

    mutants = Mutants(task.family, task.seed)
    _warm_up(mutants.known, task.folder)
    _limit_memory()
    with open(task.folder / "progress", "r+b") as file:
        progress = mmap.mmap(file.fileno(), PROGRESS.size)
    judge = Judge(task.folder)
    fates: Counter[str] = Counter()
    number = task.first
    # Where kernels had to be compiled the time may be over: some mutants are loaded all the same.
    until_number = min(task.first + LEAST, task.last)
    while number < until_number or (number < task.last and time.time() < task.until):
        progress[:] = PROGRESS.pack(number, number)
        one = mutants[number]
        try:
            found = judge.fate_of(one, number)
        except BaseException as error:
            found = f"WRONG: {type(error).__name__}: {str(error)[:200]}"
            say({"finding": number, "what": found, "trace": traceback.format_exc()})
        fates[f"{one.kind}, {found}"] += 1
        number += 1
        if number % 500 == 0:
            say({"fates": fates, "next": number, "cost": asdict(judge.cost)})
            fates.clear()
    progress[:] = PROGRESS.pack(number, number)
    say({"fates": fates, "next": number, "cost": asdict(judge.cost)})


def _warm_up(known: list[Specimen], folder: Path) -> None:
    """Load and ask each specimen as it is: kernels are compiled before the watch begins."""
    path = folder / "specimen.orfeon"
    for one in known:
        path.write_bytes(one.data)
        for memory_map in (False, True):
            answers = query(read_model(path, memory_map=memory_map), one.rows)
            assert answers == "asked", (one.name, answers)


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> None:
    parser = argparse.ArgumentParser(description="A process of tests.io.fuzzing, which starts it.")
    parser.add_argument("folder", type=Path)
    for name in ("seed", "first", "last"):
        parser.add_argument(name, type=int)
    parser.add_argument("until", type=float)
    parser.add_argument("family")
    run(Task(**vars(parser.parse_args())))


if __name__ == "__main__":
    sys.exit(main())
