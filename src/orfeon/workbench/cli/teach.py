"""The command ``orfeon teach``: write the interactive page for lessons."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import Any

from orfeon.workbench.cli import options as types
from orfeon.workbench.cli.output import print_json

_DESCRIPTION = """\
Writes a page in which bagging, forests, class-switching and AdaBoost are trained while you move
their settings: decision maps, margins, votes, and errors by the number of members, as trained and
in margin-distance order.

The page is one file that works in any browser without a network.
"""

_EXAMPLES = """\
orfeon teach
orfeon teach --open
orfeon teach -o leccion.html --language es
"""


def add_parser(subparsers: Any) -> None:
    """Define the arguments."""
    parser = types.command_parser(
        subparsers, "teach", "write an interactive page for lessons", _DESCRIPTION, _EXAMPLES
    )
    parser.add_argument(
        "-o", "--output", type=types.output_file, default=Path("lesson.html"), metavar="FILE",
        help="the HTML file to write; default: lesson.html",
    )  # fmt: skip
    parser.add_argument(
        "--language", choices=("en", "es"), default="en",
        help="language of the page: English or Spanish; default: en",
    )  # fmt: skip
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    types.add_output_options(parser, progress=False)


def run(options: argparse.Namespace) -> int:
    """Write the page, and open it on request."""
    from orfeon.workbench.teach import write_lesson

    types.check_output(options.output, force=options.force)
    path = write_lesson(options.output, options.language)
    if options.open:
        webbrowser.open(path.resolve().as_uri())
    if options.json:
        print_json({"path": str(path), "language": options.language})
    else:
        print(f"The page is {path}. Open it in a browser.")
    return 0
