"""Runs a command and turns errors, signals and closed pipes into exit codes."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from orfeon import __version__
from orfeon.errors import ArgumentError, UserError
from orfeon.workbench.cli.options import UsageError
from orfeon.workbench.cli.output import command_text, printable

#: System errors that the user can fix, and how.
_SYSTEM_ERRORS = {
    errno.ENOSPC: "there is no space left on the disk: free some, or write elsewhere",
    errno.EDQUOT: "your disk quota is used up: free some space, or write elsewhere",
    errno.EACCES: "permission denied",
    errno.EPERM: "operation not permitted",
    errno.EROFS: "the disk is read-only: write elsewhere",
    errno.ENOENT: "no such file or folder",
    errno.ENOTDIR: "part of this path is not a folder",
    errno.EISDIR: "it is a folder, not a file",
    errno.EEXIST: "it already exists",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EFBIG: "the file would be larger than allowed",
    errno.EIO: "the disk could not be read or written",
}


#: Options whose names differ from the arguments they set.
_OPTIONS = {
    "keep_columns": "use",
    "n_folds": "folds",
    "costs": "cost",
    "time_column": "time",
    "n_inner_folds": "inner_folds",
    "repetitions": "repeats",
}


class Terminated(KeyboardInterrupt):
    """The system terminates the process; cleanup for Ctrl-C runs for this too."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.exit_code = 128 + number


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a command as Ctrl-C does, with cleanup."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    owner = os.getpid()

    def terminate(number: int, frame: object) -> None:
        if os.getpid() != owner:  # a forked worker has nothing to clean up
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        raise Terminated(number)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in (getattr(signal, n) for n in names)}
    # What nohup or a host program has set is left alone.
    ours = [number for number, handler in before.items() if handler is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, terminate)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


@contextlib.contextmanager
def _plain_warnings(program: str) -> Iterator[None]:
    """Show each warning once, as a message of the command, without source lines."""
    shown: set[str] = set()
    before = warnings.showwarning

    def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
        text = printable(message)
        hidden = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
        if text not in shown and not issubclass(category, hidden):
            shown.add(text)
            _tell(f"{program}: warning: {text}")

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before


def _tell(text: str) -> None:
    """Write a line to standard error, unless that is closed."""
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def _message(error: BaseException) -> str:
    return "\n".join(printable(line) for line in str(error).splitlines())


def _program(arguments: Sequence[str]) -> str:
    name = next((argument for argument in arguments if not argument.startswith("-")), None)
    return f"orfeon {printable(name, 20)}" if name else "orfeon"


def _system_message(error: OSError) -> str | None:
    """The message for a system error that the user can fix; None for the others."""
    what = _SYSTEM_ERRORS.get(error.errno or 0)
    if what is None:
        return None
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    return f"{printable(' -> '.join(names))}: {what}." if names else f"{what[0].upper()}{what[1:]}."


def _write_traceback(arguments: Sequence[str], text: str) -> str | None:
    """Write version, command and traceback to a new file; None if that fails."""
    about = f"orfeon {__version__}, Python {platform.python_version()}, {platform.platform()}"
    command = command_text(arguments)
    try:
        handle, path = tempfile.mkstemp(prefix="orfeon-error-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{about}\n{command}\n\n{text}")
    except OSError:
        return None
    return path


def _report_internal_error(
    program: str, arguments: Sequence[str], error: Exception, debug: bool
) -> None:
    text = "".join(traceback.format_exception(error))
    kind = f"{type(error).__name__}: {printable(error, 300)}"
    path = None if debug else _write_traceback(arguments, text)
    if path is None:
        _tell(text.rstrip())
        where = "The traceback is above"
    else:
        where = f"The traceback is in {path}"
    _tell(f"{program}: internal error: {kind}. {where}; please report it.")


def _leave_closed_pipe() -> None:
    """Redirect standard output to the null device, or Python complains when it flushes at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _printed_anywhere() -> None:
    """Write characters that the terminal's encoding lacks as escapes."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            with contextlib.suppress(ValueError):
                reconfigure(errors="backslashreplace")


def guarded(run: Callable[[list[str]], int], arguments: list[str]) -> int:
    """Run a command and return its exit code, whatever happens."""
    program = _program(arguments)
    debug = "--debug" in arguments
    _printed_anywhere()
    try:
        with _signals(), _plain_warnings(program):
            try:
                code = run(arguments)
            finally:
                _flush()
            return code
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else 2 if ending.code else 0
    except BaseException as error:
        if debug and isinstance(error, (UserError, OSError, MemoryError, KeyboardInterrupt)):
            _tell("".join(traceback.format_exception(error)).rstrip())
        code_found = _exit_code(error, program)
        if code_found is None:
            if not isinstance(error, Exception):
                raise
            _report_internal_error(program, arguments, error, debug)
            return 1
        return code_found


def _exit_code(error: BaseException, program: str) -> int | None:
    """Print the message and return the exit code; None for internal errors, reported elsewhere."""
    match error:
        case Terminated():
            _tell(f"{program}: terminated.")
            return error.exit_code
        case KeyboardInterrupt():
            _tell(f"{program}: interrupted.")
            return 130
        case BrokenPipeError():
            _leave_closed_pipe()
            return 141
        case UsageError():
            _tell(f"{error.program}: error: {_message(error)}")
            return 2
        case ArgumentError():
            option = _OPTIONS.get(error.argument, error.argument).replace("_", "-")
            _tell(f"{program}: error: --{option}: {printable(error.problem)}")
            return 2
        case UserError():
            _tell(f"{program}: error: {_message(error)}")
            return 2
        case MemoryError():
            more = f" {_message(error)}" if str(error) else ""
            _tell(f"{program}: error: not enough memory.{more}")
            return 2
        case OSError():
            message = _system_message(error)
            if message is not None:
                _leave_closed_pipe_if_full(error)
                _tell(f"{program}: error: {message}")
                return 2
    return None


def _leave_closed_pipe_if_full(error: OSError) -> None:
    """A full disk under standard output would fail again in the flush at exit."""
    if error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        _leave_closed_pipe()
