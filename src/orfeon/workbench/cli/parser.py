"""The argument parser: readable help pages and one-sentence errors."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

from orfeon.errors import UserError
from orfeon.utils.text import nearest_names

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
