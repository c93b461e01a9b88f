"""Figures in ``orfeon reproduce``: draw one, and run all tables and figures."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from copy import copy
from pathlib import Path

from orfeon.errors import UserError
from orfeon.workbench.cli.live import LiveDisplay
from orfeon.workbench.cli.output import print_json


def run_figure(options: argparse.Namespace) -> int:
    """Draw a figure into the folder of the results."""
    path = _drawn(options)
    if options.json:
        print_json({"figure": options.table, "path": str(path)})
    else:
        print(f"The figure is in {path}.")
    return 0


def _drawn(options: argparse.Namespace) -> Path:
    from orfeon.workbench.reproduction.figures import draw_figure, read_figures, save_figure

    figure = read_figures()[options.table]
    # A figure of a table uses the fits of the table.
    owner = figure.protocol.family if figure.is_of_table else figure.name
    options.out.mkdir(parents=True, exist_ok=True)
    store = options.store or options.out / f"{owner}.orfeon.db"
    with LiveDisplay(f"orfeon reproduce {options.table}", quiet=options.quiet) as display:
        try:
            drawn = draw_figure(
                options.table,
                quick=options.quick,
                n_splits=options.runs,
                data=options.data,
                store=store,
                n_jobs=options.n_jobs,
                progress=display.reach,
            )
        except (FileNotFoundError, ImportError) as error:
            raise UserError(str(error)) from error  # about data or matplotlib: says what to do
    return save_figure(drawn, options.out / f"{options.table}.png")


def run_all(options: argparse.Namespace, run: Callable[[argparse.Namespace], int]) -> int:
    """Run every table and draw every figure; what cannot be run says why, and the rest goes on."""
    from orfeon.workbench import list_tables
    from orfeon.workbench.reproduction.figures import read_figures

    if options.json or options.csv or options.store:
        raise UserError("--json, --csv and --store are for one table; all use --out.")
    failed = []
    for name in (*list_tables(), *read_figures()):
        print(f"\n{name}\n{'-' * len(name)}", flush=True)
        one = copy(options)
        one.table = name
        try:
            run(one)
        except UserError as error:
            failed.append(name)
            print(error)
    if failed:
        print(f"\nNot run: {', '.join(failed)}.")
    return 0
