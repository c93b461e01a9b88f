"""Makes mutants of saved files, loads them, and asks what comes of it: in a process of its own.

A mutant is known by its seed and number: each has a generator of its own, so that any of them can
be made again. The process that started this one reads from shared memory which mutant is being
loaded, and sees it crash or hang.
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
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from tests.io.corpus.releases import METHODS, models, prepared, releases
from tests.io.damage import DAMAGE
from tests.io.mutations import FORGERY, NOTHING_THERE, Opened, a_spoiler, opened, signed
from tests.io.zips import Part

from orfeon.io import ModelFileError, describe, read_model
from orfeon.io.archive import open_archive
from orfeon.io.model_file import written

#: Numbers that the other process sees: mutants begun, and done.
PROGRESS = struct.Struct("<qq")
#: Bytes that loading and asking may take besides what the process has when it begins.
MEMORY = 3 << 30


class Specimen(NamedTuple):
    """A saved model, and what is needed to make mutants of it quickly."""

    name: str
    data: bytes
    rows: Any
    parts: list[Part]
    text: str
    arrays: tuple[bytes, ...]
    saved: bytes


def specimens() -> list[Specimen]:
    """The models of all corpora."""
    return [
        specimen(one.name, one.path, one.rows) for folder in releases() for one in models(folder)
    ]


def specimen(name: str, path: Path, rows: Any) -> Specimen:
    data, content = path.read_bytes(), opened(path.read_bytes())
    with open_archive(str(path)) as archive:
        places = sorted(archive._places.items(), key=lambda item: item[1])
        parts = [Part(member.encode(), bytes(archive.contents(member))) for member, _ in places]
    text = json.dumps(content.content)
    return Specimen(
        name, data, rows, parts, text, tuple(content.arrays), written(*read_model(path))[0]
    )


# -- mutants ---------------------------------------------------------------------------------------


class Mutant(NamedTuple):
    """A changed file, and how it was changed."""

    of: Specimen
    how: str
    data: bytes
    is_damage: bool


def mutant(all_specimens: list[Specimen], seed: int, number: int) -> Mutant:
    """The mutant of a number, always the same."""
    rng = Random(seed << 40 | number)
    of = all_specimens[number % len(all_specimens)]
    if rng.random() < 0.4:
        damage = rng.choice(DAMAGE)
        return Mutant(of, damage.__name__, damage(of.data, of.parts, rng), True)
    forged = Opened(json.loads(of.text), list(of.arrays))
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
        return Mutant(of, ", ".join(names), signed(forged, spoiler), False)
    except NOTHING_THERE:
        return Mutant(of, "truncate", of.data[:-1], True)


# -- judging ---------------------------------------------------------------------------------------


class WrongLoadError(AssertionError):
    """A mutated file did what it must not do."""


def fate(path: Path, of: Specimen, *, is_damage: bool, number: int = 0) -> str:
    """What loading a file leads to; raises what must not be."""
    try:
        content = read_model(path, memory_map=number % 3 == 0)
    except ModelFileError:
        return "refused"
    if is_damage:
        if written(*content)[0] != of.saved:
            raise WrongLoadError("another model was loaded in silence")
        return "equal"
    if number % 7 == 0:
        try:
            describe(path)
        except ModelFileError:
            return "described: refused"
    return ask(content, of.rows)


def ask(content: Any, rows: Any) -> str:
    """Ask a model about its own rows, and about some that nobody trained with."""
    said = _ask(content, rows)
    if said == "asked":
        _ask(content, far_rows(rows))
    return said


def far_rows(rows: Any) -> Any:
    """Rows of large numbers, whose sums are none, and of numbers where codes would be."""
    far = np.resize(rows, (5, rows.shape[1]))
    far[0], far[1], far[2] = 1e308, -1e308, 1e12
    far[3] = np.where(np.arange(rows.shape[1]) % 2, 1e308, -1e308)
    far[4, ::2] = -1.0
    return far


def _ask(content: Any, rows: Any) -> str:
    """Ask a model whatever it has an answer for: it may refuse, but not read beyond an array."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            rows = prepared(content, rows)
            model = content.model
            for name in METHODS:
                if hasattr(model, name) and (name != "apply" or hasattr(model, "forest_")):
                    getattr(model, name)(rows)
        except MemoryError as error:
            raise WrongLoadError("it asked for more memory than there is") from error
        except Exception as error:
            if str(error) == "index is out of bounds":  # a kernel says so, not NumPy
                raise WrongLoadError("a kernel read beyond an array") from error
            return f"asked: {type(error).__name__}"
    return "asked"


# -- the process -----------------------------------------------------------------------------------


class Task(NamedTuple):
    """What the process is to do."""

    folder: Path
    seed: int
    first: int
    last: int
    until: float


def run(task: Task) -> None:
    """Load mutants one after the other; says what became of them, and what must not be."""
    faulthandler.enable()
    # What models print is not for the process that listens.
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def say(what: dict[str, Any]) -> None:
        print(json.dumps(what), file=channel, flush=True)

    known = specimens()
    _warm_up(known, task.folder)
    _limit_memory()
    with open(task.folder / "progress", "r+b") as file:
        progress = mmap.mmap(file.fileno(), PROGRESS.size)
    path = task.folder / "mutant.orfeon"
    fates: Counter[str] = Counter()
    number = task.first
    while number < task.last and time.time() < task.until:
        progress[:] = PROGRESS.pack(number, number)
        one = mutant(known, task.seed, number)
        path.write_bytes(one.data)
        try:
            found = fate(path, one.of, is_damage=one.is_damage, number=number)
        except BaseException as error:
            found = f"WRONG: {type(error).__name__}: {error}"
            say({"finding": number, "what": found, "trace": traceback.format_exc()})
        fates[f"{'damaged' if one.is_damage else 'forged'}, {found}"] += 1
        number += 1
        if number % 500 == 0:
            say({"fates": fates, "next": number})
            fates.clear()
    progress[:] = PROGRESS.pack(number, number)
    say({"fates": fates, "next": number})


def _warm_up(known: list[Specimen], folder: Path) -> None:
    """Load and ask each specimen as it is: kernels are compiled before the watch begins."""
    path = folder / "specimen.orfeon"
    for one in known:
        path.write_bytes(one.data)
        said = ask(read_model(path), one.rows)
        assert said == "asked", (one.name, said)


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
    run(Task(**vars(parser.parse_args())))


if __name__ == "__main__":
    sys.exit(main())
