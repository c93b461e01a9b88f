"""The command ``orfeon reproduce``: a published table, run again and set beside ours."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orfeon.cli.live import LiveDisplay
from orfeon.cli.options import add_output_options, count, jobs, names, output_file
from orfeon.cli.output import print_json, print_table, say
from orfeon.cli.parser import command_parser
from orfeon.errors import UserError
from orfeon.wording import nearest_names
from orfeon.writing import atomic_write

if TYPE_CHECKING:
    from orfeon.study.reproducing.reproduction import Reproduction

_DESCRIPTION = """\
Runs the protocol of a published table and prints our figures beside the published ones, with
standard errors, and which of them agree: errors and accuracies within one point or two standard
errors of the difference, other figures by a rule that is printed. Significance tests and records
of wins are recomputed where the source has them.

Every finished fit is in the store before the next begins. Stopped in whatever way, the same command
goes on where it was; with more --runs it adds to what is there. Tables that rest on the same fits
share them.

Names of tables are those that 'orfeon reproduce list' prints. Synthetic data is drawn; real data
is read from CSV files in the folder that --data or the variable ORFEON_DATA names.
"""

_EXAMPLES = """\
orfeon reproduce list                                    the tables, their protocols
orfeon reproduce martinez-3.2 --datasets waveform        no data needed, a few seconds
orfeon reproduce martinez-5.8 --quick --datasets waveform,twonorm
orfeon reproduce martinez-3.3 --data DIR --runs 10 --n-jobs 2 --versus bagging
orfeon reproduce martinez-4.2 --store postgresql://host/results --csv table.csv
"""


def add_parser(subparsers: Any) -> None:
    """Say what the command takes."""
    parser = command_parser(
        subparsers,
        "reproduce",
        "run the protocol of a published table and set our figures beside it",
        _DESCRIPTION,
        _EXAMPLES,
    )
    parser.add_argument("table", metavar="TABLE", help="the table to reproduce, or 'list'")
    what = parser.add_argument_group("what to run")
    what.add_argument(
        "--runs", "--repeats", type=count, metavar="N",
        help="splits, or repetitions of a cross-validation; default: as many as published",
    )  # fmt: skip
    what.add_argument("--datasets", type=names, metavar="A,B", help="default: all")
    what.add_argument(
        "--methods", type=names, metavar="A,B",
        help="default: all but those that are so slow that they must be named",
    )  # fmt: skip
    what.add_argument(
        "--quick", action="store_true",
        help="2 runs, ensembles of at most 100 members and, unless they are named, only data sets "
        "that are small and there",
    )  # fmt: skip
    what.add_argument(
        "--data", type=Path, metavar="DIR",
        help="folder of the real data sets as CSV files; default: $ORFEON_DATA",
    )  # fmt: skip
    _add_results_options(parser)


def _add_results_options(parser: argparse.ArgumentParser) -> None:
    results = parser.add_argument_group("results")
    results.add_argument(
        "--store", metavar="FILE|URL",
        help="where fits are kept: an SQLite file or a URL of PostgreSQL; default: a file of the "
        "table's name in --out",
    )  # fmt: skip
    results.add_argument(
        "--out", type=Path, metavar="DIR", default=Path("orfeon-reproduce"),
        help="folder of that file, made when it is not there; default: %(default)s",
    )  # fmt: skip
    results.add_argument(
        "--n-jobs", type=jobs, default=1, metavar="J",
        help="fits at once, -1 for as many as there are cores; default: 1. The results do not "
        "depend on it",
    )  # fmt: skip
    results.add_argument(
        "--versus", metavar="METHOD", help="also print paired differences from this method"
    )
    results.add_argument(
        "--csv", type=output_file, metavar="FILE", help="also write the cells to a CSV file"
    )
    add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    """Reproduce a table."""
    from orfeon.study.reproducing.plan import NothingToRunError

    if options.table == "list":
        return _list_tables(options)
    _check_names(options)
    if options.data is not None:
        options.data = options.data.expanduser()
        if not options.data.is_dir():
            raise UserError(f"--data names {options.data}, which is not a folder.")
    try:
        found = _reproduce(options)
    except NothingToRunError as error:
        _say_nothing_to_run(options, str(error))
        return 0
    except FileNotFoundError as error:
        if error.errno is not None:
            raise
        raise UserError(str(error)) from error  # of a data set: the message says what to do
    differences = [] if options.versus is None else found.versus(options.versus)
    if options.csv is not None:
        _write_csv(options.csv, found.to_dict()["cells"])
    if options.json:
        paired = [{"cell": str(cell), **pair._asdict()} for cell, pair in differences]
        print_json(found.to_dict() | ({"versus": paired} if options.versus else {}))
        return 0
    if options.quick:
        print(f"Quick: {_what_is_quick(found)}.\n")
    print(found)
    if options.versus is not None:
        print(f"\nPaired differences from {options.versus} (points ± standard error):")
        print("\n".join(f"{cell}: {pair}" for cell, pair in differences))
    return 0


def _check_names(options: argparse.Namespace) -> None:
    """Refuse names that are not those of the table, and put its own name for another one."""
    from orfeon.study import PROTOCOLS
    from orfeon.study.reproducing import published_cells

    aliases = {protocol.alias: table for table, protocol in PROTOCOLS.items() if protocol.alias}
    options.table = aliases.get(options.table, options.table)
    if options.table not in PROTOCOLS:
        raise UserError(
            f"there is no table {options.table!r}{nearest_names(options.table, PROTOCOLS)}. "
            f"The tables are {', '.join(PROTOCOLS)}."
        )
    cells = published_cells(PROTOCOLS[options.table].source)
    for option, known in (
        ("datasets", [cell.dataset for cell in cells]),
        ("methods", [cell.method for cell in cells]),
    ):
        for name in getattr(options, option) or ():
            if name not in known:
                raise _unknown(f"--{option}", name, known)
    methods = [cell.method for cell in cells]
    if options.versus not in (None, *methods):
        raise _unknown("--versus", options.versus, methods)


def _unknown(option: str, name: str, known: Sequence[str]) -> UserError:
    allowed = list(dict.fromkeys(known))
    return UserError(
        f"{option} must be among {', '.join(allowed)}, got {name!r}{nearest_names(name, allowed)}."
    )


def _reproduce(options: argparse.Namespace) -> Reproduction:
    from orfeon.study import PROTOCOLS, reproduce
    from orfeon.study.store import shown_address

    store = options.store or options.out / f"{PROTOCOLS[options.table].family}.orfeon.db"
    with LiveDisplay(f"orfeon reproduce {options.table}", quiet=options.quiet) as display:

        def show(n_done: int, n_all: int, latest: str) -> None:
            display.start(n_all)
            if n_done > display.done:
                display.advance(n_done - display.done)
            display.running([latest])

        try:
            return reproduce(
                options.table,
                datasets=options.datasets,
                methods=options.methods,
                n_splits=options.runs,
                quick=options.quick,
                data=options.data,
                store=store,
                n_jobs=options.n_jobs,
                progress=show,
            )
        except KeyboardInterrupt:
            display.close()
            say(
                f"Stopped. What was done is in {shown_address(store)}; the same command goes on "
                "from there.",
                quiet=options.quiet,
            )
            raise


def _list_tables(options: argparse.Namespace) -> int:
    from orfeon.study import PROTOCOLS
    from orfeon.study.reproducing import published_cells

    lines = []
    for table, protocol in PROTOCOLS.items():
        cells = published_cells(protocol.source)
        lines.append(
            {
                "table": table,
                "alias": protocol.alias or None,
                "title": protocol.title,
                "datasets": len({cell.dataset for cell in cells}),
                "methods": len({cell.method for cell in cells}),
                "runs": cells[0].n_splits,
                "shares_fits_with": [
                    other.table
                    for other in PROTOCOLS.values()
                    if other.family == protocol.family and other.table != table
                ],
            }
        )
    if options.json:
        print_json({"tables": lines})
        return 0
    print_table(
        ["table", "what is in it", "data sets", "methods", "runs"],
        [
            [line[name] for name in ("table", "title", "datasets", "methods", "runs")]
            for line in lines
        ],
        to_the_right={2, 3, 4},
    )
    return 0


def _what_is_quick(found: Reproduction) -> str:
    from orfeon.study.reproducing.plan import QUICK_MEMBERS

    if found.protocol.quick_note:
        return found.protocol.quick_note
    if found.protocol.quick_datasets:
        names = dict.fromkeys(cell.dataset for cell in found.cells)
        return f"a few repetitions on small data sets: {', '.join(names)}"
    return f"ensembles of at most {QUICK_MEMBERS} members"


def _say_nothing_to_run(options: argparse.Namespace, message: str) -> None:
    if options.json:
        print_json({"table": options.table, "cells": [], "nothing_to_run": message})
    else:
        print(message)


def _write_csv(path: Path, cells: Sequence[Mapping[str, Any]]) -> None:
    """Write the cells, all or nothing."""
    text = io.StringIO()
    columns = list(dict.fromkeys(name for cell in cells for name in cell))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(cells)
    with atomic_write(path) as file:
        file.write(text.getvalue().encode("utf-8"))
