"""The command ``orfeon reproduce``: rerun a published table and compare the figures."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orfeon.errors import UserError
from orfeon.utils.atomic_file import atomic_write
from orfeon.utils.text import nearest_names
from orfeon.workbench.cli.figures import run_all, run_figure
from orfeon.workbench.cli.live import LiveDisplay
from orfeon.workbench.cli.options import (
    add_output_options,
    command_parser,
    count,
    jobs,
    names,
    output_file,
)
from orfeon.workbench.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.reproduction import Reproduction

_DESCRIPTION = """\
Runs the protocol of a published table and prints our figures beside the published ones, with
standard errors, and whether they agree: errors and accuracies within one point or two standard
errors of the difference, other figures by a rule that is printed. Significance tests and win counts
are recomputed where the source has them.

Every finished fit is stored before the next one starts. However the command was stopped, rerun it
to resume; with a larger --runs, it adds to what is there. Tables based on the same fits share them.

TABLE is a name that 'orfeon reproduce list' prints, of a table or of a figure; 'all' runs
everything. A figure is drawn from stored runs and saved in --out. Synthetic data is generated; real
data is read from CSV files in the folder given by --data or the variable ORFEON_DATA.
"""

_EXAMPLES = """\
orfeon reproduce list                                    the tables and their protocols
orfeon reproduce martinez-3.2 --datasets waveform        no data needed, a few seconds
orfeon reproduce martinez-5.8 --quick --datasets waveform,twonorm
orfeon reproduce martinez-fig-5.1 --runs 10              error curves, as a picture in --out
orfeon reproduce all --quick --data DIR                  every table and figure, small
orfeon reproduce martinez-3.3 --data DIR --runs 10 --n-jobs 2 --versus bagging
orfeon reproduce martinez-4.2 --store postgresql://host/results --csv table.csv
"""


def add_parser(subparsers: Any) -> None:
    """Define the arguments."""
    parser = command_parser(
        subparsers,
        "reproduce",
        "rerun a published table and compare the figures",
        _DESCRIPTION,
        _EXAMPLES,
    )
    parser.add_argument(
        "table", metavar="TABLE", help="the table or figure to reproduce, 'list' or 'all'"
    )
    what = parser.add_argument_group("what to run")
    what.add_argument(
        "--runs", "--repeats", type=count, metavar="N",
        help="number of splits, or repetitions of cross-validation; default: as published",
    )  # fmt: skip
    what.add_argument(
        "--datasets", type=names, metavar="A,B", help="data sets to run; default: all"
    )
    what.add_argument(
        "--methods", type=names, metavar="A,B",
        help="methods to run; default: all except the slowest, which must be named",
    )  # fmt: skip
    what.add_argument(
        "--quick", action="store_true",
        help="2 runs, ensembles of at most 100 members and, unless data sets are named, only small "
        "ones that are available",
    )  # fmt: skip
    what.add_argument(
        "--data", type=Path, metavar="DIR",
        help="folder with the real data sets as CSV files; default: $ORFEON_DATA",
    )  # fmt: skip
    _add_study_options(parser)
    _add_results_options(parser)


def _add_study_options(parser: argparse.ArgumentParser) -> None:
    study = parser.add_argument_group("studies of models side by side (p1, p2, p3)")
    study.add_argument(
        "--models", choices=("orfeon", "scikit-learn"), default="orfeon",
        help="whose trees, ensembles and stacks to run; default: %(default)s",
    )  # fmt: skip
    study.add_argument(
        "--settings", choices=("published", "tuned"), default="published",
        help="those of the document, or chosen by grid search; default: %(default)s",
    )  # fmt: skip
    study.add_argument(
        "--samples", type=count, metavar="N",
        help="number of samples to draw from the file; default: as in the table",
    )  # fmt: skip
    study.add_argument(
        "--folds", action="store_true",
        help="also score the models on folds of the training part, and draw the box plot of the "
        "document into --out",
    )  # fmt: skip


def _add_results_options(parser: argparse.ArgumentParser) -> None:
    results = parser.add_argument_group("results")
    results.add_argument(
        "--store", metavar="FILE|URL",
        help="where to store fits: an SQLite file or a PostgreSQL URL; default: a file in --out, "
        "named after the table",
    )  # fmt: skip
    results.add_argument(
        "--out", type=Path, metavar="DIR", default=Path("orfeon-reproduce"),
        help="folder of that file, created if needed; default: %(default)s",
    )  # fmt: skip
    results.add_argument(
        "--n-jobs", type=jobs, default=1, metavar="J",
        help="number of parallel fits, which does not affect the results; -1 for one per core; "
        "default: 1",
    )  # fmt: skip
    results.add_argument(
        "--versus", metavar="METHOD", help="also print paired differences from this method"
    )
    results.add_argument(
        "--csv", type=output_file, metavar="FILE", help="also write the figures to a CSV file"
    )
    add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    """Reproduce a table."""
    from orfeon.workbench.reproduction.plan import NothingToRunError

    if options.table == "list":
        return _list_tables(options)
    if options.data is not None:
        options.data = options.data.expanduser()
        if not options.data.is_dir():
            raise UserError(f"--data names {options.data}, which is not a folder.")
    if options.table == "all":
        return run_all(options, run)
    if "-fig-" in options.table:
        _check_figure(options.table)
        return run_figure(options)
    _check_names(options)
    try:
        found = _reproduce(options)
    except NothingToRunError as error:
        _say_nothing_to_run(options, str(error))
        return 0
    except FileNotFoundError as error:
        if error.errno is not None:
            raise
        raise UserError(str(error)) from error  # about a data set: the message says what to do
    differences = [] if options.versus is None else found.versus(options.versus)
    if options.csv is not None:
        _write_csv(options.csv, found.to_dict()["cells"])
    if options.json:
        paired = [{"cell": str(cell), **pair._asdict()} for cell, pair in differences]
        print_json(found.to_dict() | ({"versus": paired} if options.versus else {}))
        return 0
    if options.folds:
        say(f"The box plot is in {_draw_folds(found, options.out)}.", quiet=options.quiet)
    if options.quick:
        print(f"Quick: {_what_is_quick(found)}.\n")
    print(found)
    if options.versus is not None:
        print(f"\nPaired differences from {options.versus} (points ± standard error):")
        print("\n".join(f"{cell}: {pair}" for cell, pair in differences))
    return 0


def _check_figure(name: str) -> None:
    from orfeon.workbench.reproduction.figures import read_figures

    figures = read_figures()
    if name not in figures:
        raise UserError(
            f"unknown figure {name!r}{nearest_names(name, figures)}. "
            f"The figures are {', '.join(figures)}."
        )


def _check_names(options: argparse.Namespace) -> None:
    """Reject unknown names, and replace an alias of the table by its name."""
    from orfeon.workbench import PROTOCOLS
    from orfeon.workbench.reproduction import published_cells

    aliases = {protocol.alias: table for table, protocol in PROTOCOLS.items() if protocol.alias}
    options.table = aliases.get(options.table, options.table)
    if options.table not in PROTOCOLS:
        raise UserError(
            f"unknown table {options.table!r}{nearest_names(options.table, PROTOCOLS)}. "
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
        f"{option} must be one of {', '.join(allowed)}; got {name!r}{nearest_names(name, allowed)}."
    )


def _reproduce(options: argparse.Namespace) -> Reproduction:
    from orfeon.workbench import PROTOCOLS, reproduce
    from orfeon.workbench.store import shown_address

    store = options.store or options.out / f"{PROTOCOLS[options.table].family}.orfeon.db"
    with LiveDisplay(f"orfeon reproduce {options.table}", quiet=options.quiet) as display:
        try:
            return reproduce(
                options.table,
                datasets=options.datasets,
                methods=options.methods,
                n_splits=options.runs,
                quick=options.quick,
                models=options.models,
                settings=options.settings,
                n_samples=options.samples,
                folds=options.folds,
                data=options.data,
                store=store,
                n_jobs=options.n_jobs,
                progress=display.reach,
            )
        except KeyboardInterrupt:
            display.close()
            say(
                f"Stopped. Finished fits are in {shown_address(store)}; rerun the command to "
                "resume.",
                quiet=options.quiet,
            )
            raise


def _draw_folds(found: Reproduction, folder: Path) -> Path:
    from orfeon.workbench.reproduction.box_plot import recarey_box_plot

    path = folder / f"{found.protocol.settings['figure']}.png"
    folder.mkdir(parents=True, exist_ok=True)
    recarey_box_plot(found).savefig(path, dpi=150)
    return path


def _list_tables(options: argparse.Namespace) -> int:
    from orfeon.workbench import PROTOCOLS
    from orfeon.workbench.reproduction import published_cells
    from orfeon.workbench.reproduction.figures import read_figures

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
    figures = [
        {"figure": name, "title": figure.title, "datasets": len(figure.datasets)}
        for name, figure in read_figures().items()
    ]
    if options.json:
        print_json({"tables": lines, "figures": figures})
        return 0
    print_table(
        ["table", "contents", "data sets", "methods", "runs"],
        [
            [line[name] for name in ("table", "title", "datasets", "methods", "runs")]
            for line in lines
        ],
        to_the_right={2, 3, 4},
    )
    print()
    print_table(["figure", "contents"], [[line["figure"], line["title"]] for line in figures])
    return 0


def _what_is_quick(found: Reproduction) -> str:
    from orfeon.workbench.reproduction.plan import QUICK_MEMBERS

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
    """Write the cells to a file that appears once complete."""
    text = io.StringIO()
    columns = list(dict.fromkeys(name for cell in cells for name in cell))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(cells)
    with atomic_write(path) as file:
        file.write(text.getvalue().encode("utf-8"))
