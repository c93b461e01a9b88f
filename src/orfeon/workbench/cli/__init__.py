"""The command ``orfeon``: one module per command, imported only when that command is called.

Each module has two functions: ``add_parser(subparsers)`` defines the arguments, and
``run(options)`` runs the command and returns the exit code. The rest is here and in
:mod:`orfeon.workbench.cli.guard`: user errors, internal errors, signals and closed pipes.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

from orfeon import __version__
from orfeon.utils.text import nearest_names
from orfeon.workbench.cli.guard import guarded
from orfeon.workbench.cli.options import EXIT_CODES, Parser, UsageError

__all__ = ["COMMANDS", "available_commands", "main"]

#: The commands and their summaries, kept here so that `orfeon --help` imports no command.
COMMANDS = {
    "study": "compare methods on your data, prune the best, write a report",
    "fit": "fit one method to a table and save the model",
    "predict": "predict new rows with a saved model",
    "score": "evaluate a saved model on labelled rows",
    "serve": "serve predictions over HTTP",
    "prune": "prune a saved ensemble to the members that matter",
    "export": "export a saved model to an ONNX file",
    "inspect": "describe a model, a data file or a results store",
    "reproduce": "rerun a published table and compare the figures",
    "datasets": "list, describe and fetch named data sets",
    "teach": "write an interactive page for lessons",
    "warmup": "compile the kernels now, so that later commands start fast",
}

_DESCRIPTION = """\
Train large ensembles cheaply, and keep only the members that matter.

Start with 'orfeon study': it runs without arguments, even without data. Each command has its own
help page, such as 'orfeon fit --help'.
"""


def available_commands() -> list[str]:
    """The commands whose modules are installed, in the order of ``COMMANDS``."""
    return [name for name in COMMANDS if importlib.util.find_spec(f"{__name__}.{name}")]


def _asked_for(arguments: Sequence[str], commands: Sequence[str]) -> str | None:
    """The command among the arguments: the first non-option, since options here take no value."""
    name = next((argument for argument in arguments if not argument.startswith("-")), None)
    if name is None or name in commands:
        return name
    raise UsageError(
        "orfeon",
        f"unknown command {name!r}{nearest_names(name, commands)}. "
        f"The commands are {', '.join(commands)}.",
    )


def _build_parser(commands: Sequence[str], command: str | None) -> tuple[Parser, ModuleType | None]:
    """The parser of all commands; only the one that is called is imported."""
    parser = Parser(prog="orfeon", description=_DESCRIPTION, epilog=EXIT_CODES)
    parser.add_argument("--version", action="version", version=f"orfeon {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of every error")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    module = None
    for name in commands:
        if name == command:
            module = importlib.import_module(f"{__name__}.{name}")
            module.add_parser(subparsers)
            subparsers.choices[name].add_debug_option()
        else:
            subparsers.add_parser(name, help=COMMANDS[name])
    return parser, module


def _run(arguments: Sequence[str]) -> int:
    commands = available_commands()
    command = _asked_for(arguments, commands)
    parser, module = _build_parser(commands, command)
    options = parser.parse_all(arguments)
    options.arguments = list(arguments)
    if module is None:
        parser.print_help(sys.stderr)
        return 2
    with _notes(silent=getattr(options, "quiet", False)):
        return int(module.run(options))


@contextmanager
def _notes(*, silent: bool) -> Iterator[None]:
    """Silence notes about compiled kernels, as ``--quiet`` requests."""
    logger = logging.getLogger("orfeon")
    before = logger.level
    if silent:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command ``orfeon``."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    return guarded(_run, given)
