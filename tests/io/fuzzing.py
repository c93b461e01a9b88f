"""Load files that are no longer what was saved, and see what comes of it.

*Damaged* files differ in their bytes, as after an accident: loading one must give the very model
that was saved, or be refused. *Forged* files were changed inside and signed again, as by somebody
who knows the format: loading one must be refused, or give a model that can be asked without reading
beyond an array; what it says is the forger's. Both are mutations of single values.

*Forgeries* are edits of whole parts that keep a file consistent, so that they get past the first
checks: objects shared many times, states of generators, branch tables that overlap, parameters that
act, parts of other models, sizes, texts for people (through ``orfeon inspect`` and ``predict``),
and parts saved by skops.

No file may crash the process, make it read beyond an array, take more than 5 seconds of the
processor or more memory than 20 times its size and 200 MB, start processes or write files; commands
end with exit code 0 or 2.

The files are those of the corpora and some that scikit-learn makes quickly. A process of its own
loads them, in which kernels check every index; it is watched, so that a crash or a mutant that
takes too long is seen and attributed. Mutants have numbers, and the same seed and number make the
same mutant. Without a number of either, mutations and forgeries are made by turns:

    python -m tests.io.fuzzing --seconds 60
    python -m tests.io.fuzzing --mutations 200000 --cache kernels
    python -m tests.io.fuzzing --forgeries 200000 --seed 1
    python -m tests.io.fuzzing --first 1234 --forgeries 1 --keep found
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: Where mutants are written, if it is there: the disk would be slower than all the rest.
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
#: Seconds of the clock that a mutant may take, on a machine that may be busy; most take a few
#: thousandths. Those that take longer are loaded once more: kernels may have been compiled.
PATIENCE = 30.0
#: Seconds until the first mutant: kernels are compiled before.
START = 900.0


#: What mutants of each family are called.
NAMES = {"mutations": "mutations", "forgeries": "forgeries", "both": "mutations and forgeries"}


@dataclass
class Outcome:
    """What a run found."""

    fates: Counter[str] = field(default_factory=Counter)
    findings: list[dict[str, Any]] = field(default_factory=list)
    done: int = 0
    #: The most that a mutant took: seconds of the processor, bytes, and share of what it may take.
    cost: dict[str, float] = field(default_factory=dict)
    #: Seconds from the first mutant to the last.
    seconds: float = 0.0


@dataclass
class Run:
    """Some mutants, in processes one after the other."""

    folder: Path
    cache: Path
    seed: int
    first: int
    last: int
    until: float
    family: str = "both"

    def __post_init__(self) -> None:
        self.outcome = Outcome()
        self.next = self.first
        self._slow = -1
        (self.folder / "progress").write_bytes(bytes(16))

    def go(self) -> Outcome:
        while self.next < self.last and time.time() < self.until:
            self._one_process()
        self.outcome.done = self.next - self.first
        return self.outcome

    def _one_process(self) -> None:
        """Let a process load mutants until it ends, dies or hangs."""
        self._set_progress(-1)
        command = [
            sys.executable, "-m", "tests.io.fuzz_worker", str(self.folder), str(self.seed),
            str(self.next), str(self.last), str(self.until), self.family,
        ]  # fmt: skip
        begun = self.next
        with (
            open(self.folder / "errors.txt", "wb") as errors,
            subprocess.Popen(
                command, cwd=ROOT, env=environment(self.cache), stdout=subprocess.PIPE,
                stderr=errors, text=True,
            ) as process,
        ):  # fmt: skip
            assert process.stdout is not None
            reader = threading.Thread(target=self._listen, args=(process.stdout,))
            reader.start()
            hung = self._watch(process)
            reader.join()
        at = self._progress()
        if process.returncode == 0:
            return
        answers = (self.folder / "errors.txt").read_text(errors="replace")[-3000:]
        if at < begun:
            raise RuntimeError(f"the process that loads files ended before the first:\n{answers}")
        if hung and self._slow != at:
            self._slow = self.next = at
            return
        what = f"took more than {PATIENCE:.0f} s" if hung else f"ended by {-process.returncode}"
        self._found({"finding": at, "what": what, "trace": answers})
        self.outcome.fates[f"WRONG: {what}"] += 1
        self.next = at + 1

    def _found(self, what: dict[str, Any]) -> None:
        """Remember a finding, and say so at once: a long run takes its time."""
        self.outcome.findings.append(what)
        print(f"{self.family}, number {what['finding']}: {what['what'][:300]}", file=sys.stderr)

    def _listen(self, lines: Any) -> None:
        for line in lines:
            told = json.loads(line)
            if "finding" in told:
                self._found(told)
            else:
                self.outcome.fates.update(told["fates"])
                self.next = told["next"]
                for name, most in told.get("cost", {}).items():
                    self.outcome.cost[name] = max(most, self.outcome.cost.get(name, 0))

    def _watch(self, process: Any) -> bool:
        """Wait for the end of a process; whether it had to be killed."""
        at, since, first = self._progress(), time.monotonic(), None
        while process.poll() is None:
            time.sleep(0.1)
            now = self._progress()
            if now >= 0 and first is None:
                first = time.monotonic()
            if now != at:
                at, since = now, time.monotonic()
            if time.monotonic() - since > (START if at < 0 else PATIENCE):
                process.kill()
                process.wait()
                return True
        self.outcome.seconds += 0.0 if first is None else time.monotonic() - first
        return False

    def _set_progress(self, number: int) -> None:
        (self.folder / "progress").write_bytes(number.to_bytes(8, "little", signed=True) * 2)

    def _progress(self) -> int:
        with (
            open(self.folder / "progress", "rb") as file,
            mmap.mmap(file.fileno(), 16, access=mmap.ACCESS_READ) as shared,
        ):
            return int.from_bytes(shared[:8], "little", signed=True)


def environment(cache: Path) -> dict[str, str]:
    """That of a process in which kernels check every index; their code is kept apart."""
    return {
        **os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(cache),
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1",
    }  # fmt: skip


def report(outcome: Outcome, keep: Path | None, family: str, seed: int) -> None:
    """Print what was done and found, and keep the mutants that did what they must not."""
    for what, count in sorted(outcome.fates.items()):
        print(f"{count:9d}  {what}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{outcome.done:9d}  {NAMES[family]} of seed {seed} in {outcome.seconds:.0f} s; "
        f"{used.ru_utime + used.ru_stime:.0f} s of the processor, with the start",
        flush=True,
    )
    if outcome.cost:
        print(
            "the most that one took: {seconds:.1f} s of the processor, {memory:.0f} MB, and "
            "{share:.0%} of the memory that it may take".format(
                **{**outcome.cost, "memory": outcome.cost["memory"] / 2**20}
            )
        )
    if not outcome.done:
        print("the time was over before the first: give more --seconds, or a --cache")
        return
    if not outcome.findings:
        print(
            "no crash, no hang, no read beyond an array, no wrong model, no memory beyond its limit"
        )
        return
    from tests.io.fuzz_worker import Mutants

    mutants = Mutants(family, seed)
    for one in outcome.findings:
        made = mutants[one["finding"]]
        print(f"\n{family}, number {one['finding']} of seed {seed}: {made.of.name}, {made.how}")
        print(f"{one['what']}\n{one['trace']}")
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{family}-{seed}-{one['finding']}.orfeon").write_bytes(made.data)


def main(arguments: list[str] | None = None) -> int:
    """Load as many mutants as wanted, or until time is over; 1 on a finding, or with none made."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.io.fuzzing", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--mutations", type=int, help="how many, and no forgeries")
    parser.add_argument("--forgeries", type=int, help="how many, and no mutations")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of the clock, in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--cache", type=Path, help="folder for compiled kernels, to be used again")
    parser.add_argument("--keep", type=Path, help="folder for the mutants that were found")
    options = parser.parse_args(arguments)
    if None not in (options.mutations, options.forgeries):
        parser.error("--mutations and --forgeries: give one of them, or none for both by turns")
    wanted = options.mutations or options.forgeries
    family = "mutations" if options.mutations else "forgeries" if options.forgeries else "both"
    until = time.time() + options.seconds
    with tempfile.TemporaryDirectory(prefix="orfeon-fuzzing-", dir=IN_MEMORY) as name:
        folder = Path(name)
        cache = folder / "kernels" if options.cache is None else options.cache.resolve()
        last = options.first + (wanted or 200_000)
        outcome = Run(folder, cache, options.seed, options.first, last, until, family).go()
    report(outcome, options.keep, family, options.seed)
    return int(bool(outcome.findings) or not outcome.done)


if __name__ == "__main__":
    sys.exit(main())
