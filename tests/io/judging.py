"""What a mutated file leads to when it is loaded and asked, and what it must not lead to."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tests.io.corpus.releases import METHODS, prepared
from tests.io.specimens import Specimen

from orfeon.io import ModelFileError, describe, read_model
from orfeon.io.model_file import encode_model
from orfeon.workbench.cli import main

#: What loading and asking may take: seconds of the processor, and memory by the size of the file.
MOST_SECONDS = 5.0
MOST_TIMES, MOST_BESIDES = 20, 200 * 2**20
#: Threads at the same time.
MOST_THREADS = 4


class WrongLoadError(AssertionError):
    """A mutated file did what it must not do."""


class SlowError(WrongLoadError):
    """It took too long, unless kernels were compiled meanwhile: a second time tells."""


# -- limits ----------------------------------------------------------------------------------------

#: What no file may make the reader do.
_FORBIDDEN = {
    "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "os.remove",
    "os.rename", "pickle.find_class", "shutil.rmtree", "socket.bind", "socket.connect",
    "subprocess.Popen",
}  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Guard:
    """Watches what one file makes the process do: processes, writes, pickles and threads."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.n_threads = 0
        self._is_on = False
        sys.addaudithook(self._predict_train)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        self.seen.clear()
        self.n_threads = 0
        self._is_on = True
        try:
            yield
        finally:
            self._is_on = False

    def _predict_train(self, event: str, given: Any) -> None:
        if not self._is_on:
            return
        if event == "_thread.start_new_thread":
            self.n_threads = max(self.n_threads, threading.active_count())
        elif event == "open":
            path, _, flags = given
            if flags & _WRITING and path != os.devnull and not _is_of_a_cache():
                self.seen.append(f"open {path}")
        elif event in _FORBIDDEN and not _is_of_a_cache():
            self.seen.append(f"{event} {str(given)[:100]}")


def _is_of_a_cache() -> bool:
    """Whether compiled kernels are read or written, which are pickles, or compiled modules."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if f"{os.sep}numba{os.sep}" in name or name.startswith("<frozen importlib"):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


@dataclass
class Cost:
    """The most that any file took."""

    seconds: float = 0.0
    memory: int = 0
    #: As a multiple of what a file of its size may take.
    share: float = 0.0


def _peak() -> int:
    with open("/proc/self/status", "rb") as file:
        text = file.read()
    at = text.index(b"VmHWM:")
    return int(text[at + 6 : text.index(b"kB", at)]) * 1024


def _forget_peak() -> None:
    with open("/proc/self/clear_refs", "wb") as file:
        file.write(b"5")


@contextlib.contextmanager
def limited(n_bytes: int, guard: Guard, cost: Cost) -> Iterator[None]:
    """Raise when what is done for a file of a size takes too long, or too much memory."""
    _forget_peak()
    before, start = _peak(), time.process_time()
    with guard.watching():
        yield
    seconds, memory = time.process_time() - start, _peak() - before
    allowed = MOST_TIMES * n_bytes + MOST_BESIDES
    cost.seconds = max(cost.seconds, seconds) if seconds <= MOST_SECONDS else cost.seconds
    cost.memory, cost.share = max(cost.memory, memory), max(cost.share, memory / allowed)
    if memory > allowed:
        raise WrongLoadError(f"{memory >> 20} MB were taken for a file of {n_bytes} bytes")
    if guard.seen:
        raise WrongLoadError(f"it did what no file may do: {guard.seen[:3]}")
    if guard.n_threads > MOST_THREADS:
        raise WrongLoadError(f"it started {guard.n_threads} threads")
    if seconds > MOST_SECONDS:
        raise SlowError(f"it took {seconds:.1f} s of the processor")


# -- loading and asking ----------------------------------------------------------------------------


def fate(path: Path, of: Specimen, *, is_damage: bool, number: int = 0) -> str:
    """What loading a file leads to; raises what must not be."""
    try:
        content = read_model(path, memory_map=number % 3 == 0)
    except ModelFileError as error:
        _refuse_if_it_was_too_large(error)
        return "refused"
    if is_damage:
        if encode_model(*content)[0] != of.saved:
            raise WrongLoadError("another model was loaded in silence")
        return "equal"
    if number % 7 == 0:
        try:
            describe(path)
        except ModelFileError:
            return "described: refused"
    return query(content, of.rows)


def _refuse_if_it_was_too_large(error: BaseException | None) -> None:
    """Memory that was not there must not be what a file is refused for: elsewhere there is more."""
    while error is not None:
        if isinstance(error, MemoryError):
            raise WrongLoadError(f"loading it asked for more memory than there is: {error}")
        error = error.__cause__ or error.__context__


def query(content: Any, rows: Any) -> str:
    """Ask a model about its own rows, and about some that nobody trained with."""
    answers = _query(content, rows)
    if answers == "asked":
        _query(content, far_rows(rows))
    _draw(content.model)
    return answers


def far_rows(rows: Any) -> Any:
    """Rows of large numbers, whose sums are none, and of numbers where codes would be."""
    far = np.resize(rows, (5, rows.shape[1]))
    far[0], far[1], far[2] = 1e308, -1e308, 1e12
    far[3] = np.where(np.arange(rows.shape[1]) % 2, 1e308, -1e308)
    far[4, ::2] = -1.0
    return far


def _query(content: Any, rows: Any) -> str:
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
        except SystemError as error:
            raise WrongLoadError(f"compiled code was left in disorder: {error}") from error
        except Exception as error:
            if str(error) == "index is out of bounds":  # a kernel says so, not NumPy
                raise WrongLoadError("a kernel read beyond an array") from error
            return f"asked: {type(error).__name__}"
    return "asked"


def _draw(model: Any) -> None:
    """Draw from every generator among the parameters: a wrong state reads beyond its own."""
    try:
        given = list(model.get_params().values())
    except Exception:  # a bare forest has none, and some that were forged cannot tell theirs
        return
    for one in given:
        if isinstance(one, np.random.RandomState | np.random.Generator):
            one.normal(size=3)
            one.bytes(5)
            one.permutation(3)
            one.random(700)


# -- commands --------------------------------------------------------------------------------------


def command_fate(path: Path, rows: Path, number: int, *, foreign: bool = False) -> str:
    """What commands make of a file: they print it, or reject it with one sentence."""
    more = ["--debug", *(["--foreign"] if foreign else [])]
    arguments = ["inspect", str(path), *more, *(["--json"] if number % 2 else [])]
    answers = _run(arguments)
    if number % 8 == 0:
        _run(["predict", str(path), str(rows), *more])
    return answers


def _run(arguments: list[str]) -> str:
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        code = main(arguments)
    told = err.getvalue()
    if code not in (0, 2):
        raise WrongLoadError(f"orfeon {arguments[0]} ended with {code}: {told[-1500:]}")
    if "\x1b" in out.getvalue() + told:
        raise WrongLoadError(f"orfeon {arguments[0]} printed what a terminal obeys")
    return f"{arguments[0]}ed" if code == 0 else f"{arguments[0]}: exit code 2"
