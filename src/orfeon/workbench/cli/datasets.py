"""The command ``orfeon datasets``: named data sets, listed, described and fetched."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from orfeon.errors import UserError
from orfeon.utils.text import size_text
from orfeon.workbench.cli.options import add_output_options, command_parser, count
from orfeon.workbench.cli.output import print_facts, print_json, print_table, printable, say

_DESCRIPTION = """\
Wherever a command takes a data file, it also takes the name of a data set: 'orfeon study wine',
'orfeon fit wine'. Names are looked up among the synthetic problems, then in a folder of data files
(--data, or the variable ORFEON_DATA), then among the data sets fetched earlier, and finally on
OpenML. Only this last step needs the network, and fetched data sets are kept.

  list        list what is available offline (the default)
  show NAME   describe a data set or a file: rows, columns, their kinds, the target
  fetch NAME  fetch a data set from OpenML now, for use offline
  path        print the folders that data sets are read from and kept in

On OpenML, 'iris' is the active version of that name, 'iris:1' is version 1, and '61' is the data
set with that number. A synthetic name can include the number of rows: 'waveform:5000'.
"""

_EXAMPLES = """\
orfeon datasets
orfeon datasets show waveform:300
orfeon datasets show sales.csv --target region
orfeon datasets fetch iris:1
ORFEON_DATA=~/data orfeon datasets list --json
"""


def add_parser(subparsers: Any) -> None:
    """Define the arguments."""
    parser = command_parser(
        subparsers, "datasets", "list, describe and fetch named data sets", _DESCRIPTION, _EXAMPLES
    )
    parser.add_argument(
        "action", nargs="?", default="list", choices=("list", "show", "fetch", "path"),
        help="what to do; default: list",
    )  # fmt: skip
    parser.add_argument("name", nargs="*", metavar="NAME", help="data sets to show or fetch")
    parser.add_argument(
        "--data", metavar="FOLDER", help="folder of data files; default: $ORFEON_DATA"
    )
    parser.add_argument("--target", metavar="COLUMN", help="with show: the column to predict")
    parser.add_argument(
        "--rows", type=count, metavar="N", help="with show: read a random sample of N rows"
    )
    add_output_options(parser, progress=False)


def run(options: argparse.Namespace) -> int:
    """List, show, fetch, or print the folders."""
    names = options.name
    if options.action in ("list", "path"):
        if names:
            raise UserError(
                f"'orfeon datasets {options.action}' takes no name, got {names[0]!r}: "
                f"'orfeon datasets show {names[0]}' describes a data set."
            )
        document = _list(options) if options.action == "list" else _path(options)
    else:
        if not names:
            raise UserError(
                f"'orfeon datasets {options.action}' needs the name of a data set: "
                "'orfeon datasets list' shows what is available."
            )
        act = _show if options.action == "show" else _fetch
        found = [act(name, options) for name in names]
        document = found[0] if len(found) == 1 else found
    if options.json:
        print_json(document)
    return 0


def _list(options: argparse.Namespace) -> Any:
    from orfeon.datasets import list_datasets

    found = list_datasets(options.data)
    if not options.json:
        print_table(["name", "source", "description"], found)
        if not options.data and not os.environ.get("ORFEON_DATA"):
            say("To list your own data files too, set their folder with --data or ORFEON_DATA.")
    return [info._asdict() for info in found]


def _path(options: argparse.Namespace) -> Any:
    from orfeon.datasets.cache import cache_folder

    folder = options.data or os.environ.get("ORFEON_DATA")
    facts = {"data": folder, "cache": str(cache_folder())}
    if not options.json:
        print_facts(
            {"data": folder or "none (set it with --data or ORFEON_DATA)", "cache": facts["cache"]}
        )
    return facts


def _fetch(name: str, options: argparse.Namespace) -> Any:
    from orfeon.datasets import load_dataset
    from orfeon.datasets.cache import cached_file

    found = load_dataset(name, folder=options.data)
    kept = cached_file(name)
    facts = {
        "name": name,
        "rows": len(found.frame),
        "columns": len(found.frame.columns),
        "target": found.target_name,
        "source": found.source,
        "file": None if kept is None else str(kept),
        "bytes": None if kept is None else kept.stat().st_size,
    }
    if not options.json:
        print_facts(_shown(facts))
        if kept is None and found.source.startswith("OpenML"):
            say("It was not kept: the cache folder (see 'orfeon datasets path') is not writable.")
    return facts


def _shown(facts: dict[str, Any]) -> dict[str, Any]:
    """Facts as text: sizes with units, thousands with commas."""
    size = facts.get("bytes")
    texts = {name: f"{fact:,}" if isinstance(fact, int) else fact for name, fact in facts.items()}
    return {**texts, "bytes": None if size is None else size_text(size)}


def _show(name: str, options: argparse.Namespace) -> Any:
    from orfeon.datasets import find_data
    from orfeon.workbench.prepare import prepare, profile_frame

    found = find_data(name, folder=options.data, rows=options.rows)
    target = options.target or found.target_name
    facts: dict[str, Any] = {
        "name": found.name,
        "source": found.source,
        "rows": len(found.frame),
        "columns": len(found.frame.columns),
        "target": target,
        "description": found.description,
    }
    notes = list(found.frame.attrs.get("notes", ()))
    if target is None:
        profile = profile_frame(found.frame)
    else:
        try:
            prepared = prepare(found.frame, target)
        except UserError as error:
            profile = profile_frame(found.frame, target)
            notes.append(str(error))
        else:
            profile, notes = prepared.profile, list(prepared.notes)
            facts["task"] = prepared.task
    facts["profile"], facts["notes"] = profile.to_dict(), notes
    if not options.json:
        _print_profile(facts, profile)
    return facts


def _print_profile(facts: dict[str, Any], profile: Any) -> None:
    plain = {k: v for k, v in facts.items() if k not in ("profile", "notes", "description") and v}
    print_facts(_shown(plain))
    if facts["description"]:
        print(f"\n{printable(Path(facts['name']).name)}: {printable(facts['description'], 400)}")
    print()
    rows = [
        [
            printable(c.name, 40),
            c.kind,
            f"{c.n_missing:,}",
            f"{c.n_distinct:,}",
            _examples(c.examples),
        ]
        for c in profile.columns
    ]
    headings = ["column", "kind", "missing", "distinct", "example values"]
    print_table(headings, rows, to_the_right={2, 3})
    if facts["notes"]:
        print()
    for note in facts["notes"]:
        print(f"- {printable(note)}")


def _examples(examples: tuple[str, ...]) -> str:
    return ", ".join(printable(example, 16) for example in examples[:3])
