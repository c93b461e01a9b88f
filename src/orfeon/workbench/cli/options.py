"""Arguments of the commands: the parser, and option types such as durations, names and paths.

An option type is a function from the text to the value, for ``add_argument(type=...)``. It raises
``ArgumentTypeError``, and argparse puts the option's name before the message.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import textwrap
from argparse import ArgumentTypeError
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from orfeon.errors import UserError
from orfeon.utils.text import nearest_names, read_duration

#: The end of every help page.
EXIT_CODES = """\
Exit codes:
  0    success
  1    internal error: the message names a file with the traceback
  2    invalid input: the message says what is wrong
  130  interrupted (Ctrl-C); 143 terminated (SIGTERM); 141 output pipe closed
"""


class UsageError(UserError):
    """The arguments of a command are invalid."""

    def __init__(self, program: str, message: str) -> None:
        super().__init__(message)
        self.program = program


class _Formatter(argparse.HelpFormatter):
    """Fills paragraphs, and leaves indented lines as they are."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)

    def add_argument(self, action: argparse.Action) -> None:
        """Count the indent of the command names, which argparse forgets."""
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            self._action_max_length += 2

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = textwrap.dedent(text).strip("\n").split("\n\n")
        return "\n\n".join(_fill_paragraph(paragraph, width) for paragraph in paragraphs)


def _fill_paragraph(paragraph: str, width: int) -> str:
    lines = paragraph.splitlines()
    if any(line.startswith(" ") for line in lines):
        return paragraph
    return textwrap.fill(" ".join(lines), width, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """A parser that raises its errors: one sentence each, with the nearest names."""

    def __init__(self, **settings: Any) -> None:
        # Abbreviations would stop working once another option shares the prefix.
        settings.setdefault("allow_abbrev", False)
        settings.setdefault("formatter_class", _Formatter)
        super().__init__(**settings)

    def error(self, message: str) -> NoReturn:
        """Raise a ``UsageError``."""
        if not message.endswith((".", "?")):
            message += "."
        raise UsageError(self.prog, f"{message} See '{self.prog} --help'.")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write a help page; argparse would hide a full disk or a closed pipe."""
        if message and file is not None:
            file.write(message)

    def add_debug_option(self) -> None:
        """Accept ``--debug`` after the command too."""
        self.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )

    def parse_all(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse arguments; the called command reports unknown ones."""
        options, unknown = self.parse_known_args(arguments)
        if unknown:
            self._command_parser(getattr(options, "command", None))._refuse(unknown)
        return options

    def _command_parser(self, command: str | None) -> Parser:
        for action in self._actions:
            if command is not None and isinstance(action, argparse._SubParsersAction):
                parser = action.choices[command]
                assert isinstance(parser, Parser)
                return parser
        return self

    def _refuse(self, unknown: Sequence[str]) -> NoReturn:
        name = next((text for text in unknown if text.startswith("-")), None)
        if name is None:
            self.error(f"unexpected argument {unknown[0]!r}")
        name = name.split("=", 1)[0]
        known = [option for option in self._option_string_actions if option.startswith("--")]
        self.error(f"unknown option {name!r}{nearest_names(name, known)}")


def command_parser(
    subparsers: Any, name: str, summary: str, description: str, examples: str = ""
) -> Parser:
    """Add the parser of a command, with examples and exit codes at the end of its help."""
    lines = textwrap.indent(textwrap.dedent(examples).strip(), "  ")
    epilog = f"Examples:\n{lines}\n\n{EXIT_CODES}" if lines else EXIT_CODES
    parser = subparsers.add_parser(name, help=summary, description=description, epilog=epilog)
    assert isinstance(parser, Parser)
    return parser


_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None, "null": None}


def duration(text: str) -> float:
    """Seconds of a duration such as ``90s``, ``2m``, ``1h30m`` or plain ``45``."""
    try:
        return read_duration(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def names(text: str) -> list[str]:
    """Names separated by commas, without repetitions."""
    found = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not found:
        raise ArgumentTypeError(f"{text!r} contains no names: separate them by commas")
    return found


def value(text: str) -> Any:
    """The value of a setting: a number, true, false, none, a list in brackets, or a string."""
    plain = text.strip()
    if plain.lower() in _WORDS:
        return _WORDS[plain.lower()]
    for number in (int, float):
        try:
            return number(plain)
        except ValueError:
            continue
    if plain[:1] in ('"', "["):
        try:
            return json.loads(plain)
        except ValueError:
            return plain
    return plain


def setting(text: str) -> tuple[str, Any]:
    """A setting ``name=value``."""
    name, equals, given = text.partition("=")
    name = name.strip()
    if not equals or not _NAME.match(name):
        raise ArgumentTypeError(f"{text!r} is not a setting: write it as name=value")
    return name, value(given)


def merged(settings: Iterable[tuple[str, Any]] | None) -> dict[str, Any]:
    """Settings as a mapping; a repeated name is rejected."""
    found: dict[str, Any] = {}
    for name, given in settings or ():
        if name in found:
            raise UserError(f"--set {name}=... is given twice: {found[name]!r} and {given!r}.")
        found[name] = given
    return found


def count(text: str) -> int:
    """A whole number, 1 or more."""
    number = _whole(text)
    if number < 1:
        raise ArgumentTypeError(f"must be 1 or more, got {number}")
    return number


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a whole number") from None


def inner_folds(text: str) -> int:
    """A number of folds: none, or at least two."""
    number = 0 if text.strip() == "0" else count(text)
    if number == 1:
        raise ArgumentTypeError("must be 0, or 2 or more, got 1")
    return number


def seed(text: str) -> int:
    """A random seed: a whole number from 0 to 2**32 - 1."""
    if not text.strip().isdecimal() or int(text) > 2**32 - 1:
        raise ArgumentTypeError(f"must be a whole number from 0 to {2**32 - 1:,}, got {text!r}")
    return int(text)


def jobs(text: str) -> int:
    """A number of threads or processes: 1 or more, or -1 for one per core."""
    number = _whole(text)
    if number < -1 or number == 0:
        raise ArgumentTypeError(f"must be 1 or more, or -1 for all cores; got {number}")
    return number


def share(text: str) -> float:
    """A fraction greater than 0 and at most 1; also as a percentage."""
    plain = text.strip()
    try:
        number = float(plain[:-1]) / 100 if plain.endswith("%") else float(plain)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a fraction: write it as 0.2 or 20%") from None
    if not 0 < number <= 1:
        raise ArgumentTypeError(f"a fraction must be greater than 0 and at most 1, got {text!r}")
    return number


def size(text: str) -> int | float:
    """How many members to keep: a whole number, or a fraction."""
    return count(text) if text.strip().lstrip("+-").isdecimal() else share(text)


def existing_file(text: str) -> Path:
    path = Path(text).expanduser()
    if path.is_dir():
        raise ArgumentTypeError(f"{text!r} is a folder, not a file")
    if not path.exists():
        raise ArgumentTypeError(f"there is no file {text!r}")
    return path


def output_file(text: str) -> Path:
    """The path of a file to write; its folder must exist."""
    path = Path(text).expanduser()
    if not text or path.is_dir():
        raise ArgumentTypeError(f"{text!r} is a folder: name a file")
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"{str(path.parent)!r} is not a folder: create it first")
    return path


def check_output(path: Path, *, force: bool) -> None:
    """Refuse early to replace a file or to write to a read-only folder."""
    if path.exists() and not force:
        raise UserError(f"{path} already exists: choose another name, or replace it with --force.")
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"{path.parent}: you do not have permission to write to this folder.")


def add_output_options(parser: argparse.ArgumentParser, *, progress: bool = True) -> None:
    """Add ``--json`` and, for commands that take long, ``--quiet``."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON document and nothing else"
    )
    if progress:
        parser.add_argument(
            "--quiet", "-q", action="store_true",
            help="no progress or notes on standard error",
        )  # fmt: skip
