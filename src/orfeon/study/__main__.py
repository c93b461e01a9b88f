"""The command ``python -m orfeon.study TABLE``: a published table, reproduced.

It prints our figures beside the published ones and says which cells agree. With --out every
finished result is on disk before the next begins, and the same command goes on where it was
stopped. Tables that rest on the same fits, such as martinez-5.7 and martinez-5.8, share them
through that file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from orfeon.study import (
    FOLDER_VARIABLE,
    PROTOCOLS,
    NothingToRunError,
    Reproduction,
    list_tables,
    published_cells,
    reproduce,
)
from orfeon.study.reproducing.reproduction import QUICK_MEMBERS, QUICK_SPLITS


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m orfeon.study",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("table", choices=list_tables(), help="the table to reproduce")
    parser.add_argument(
        "--splits", type=int, metavar="N",
        help="splits, or repetitions of a cross-validation; default: as many as published",
    )  # fmt: skip
    parser.add_argument("--datasets", type=_names, metavar="A,B", help="default: all")
    parser.add_argument(
        "--methods", type=_names, metavar="A,B",
        help="default: all but mlp and mlp_adaboost, which are slow",
    )  # fmt: skip
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"{QUICK_SPLITS} splits, ensembles of at most {QUICK_MEMBERS} members, and, unless "
        "they are named, only small data sets and those that are there",
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR",
        help=f"folder of the real data sets as CSV files; default: ${FOLDER_VARIABLE}",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="JSON lines; results found there are kept"
    )
    parser.add_argument("--n-jobs", type=int, metavar="J", help="threads of each fit")
    parser.add_argument(
        "--versus", metavar="METHOD", help="also print paired differences from this method"
    )
    return parser


def _show_progress(n_done: int, n_all: int, what: str) -> None:
    print(f"\r\033[K{n_done}/{n_all} {what}", end="", file=sys.stderr, flush=True)


def _paired(found: Reproduction, method: str) -> str:
    lines = [f"{cell}: {difference}" for cell, difference in found.versus(method)]
    return "\n".join([f"Paired differences from {method} (points ± standard error):", *lines])


def _what_is_quick(table: str) -> str:
    if PROTOCOLS[table].quick_datasets:
        return "a few repetitions on small data sets"
    return f"ensembles of at most {QUICK_MEMBERS} members"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the name of the command; by default from the command line.

    Returns
    -------
    int
        0, whatever agrees; also for a quick run without any data, which says so.

    Examples
    --------
    >>> from orfeon.study.__main__ import main
    >>> options = "--datasets waveform --methods igp_tree --splits 4"
    >>> main(["martinez-3.2", *options.split()])
    dataset   method    config  splits  ours        published   difference  tolerance
    waveform  igp_tree               4  ...
    <BLANKLINE>
    1 of 1 cells agree.
    0
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    methods = list(dict.fromkeys(cell.method for cell in published_cells(options.table)))
    if options.versus not in (None, *methods):
        parser.error(f"--versus must be among {', '.join(methods)}, got {options.versus}")
    terminal = sys.stderr.isatty()
    try:
        found = reproduce(
            options.table,
            datasets=options.datasets,
            methods=options.methods,
            n_splits=options.splits,
            quick=options.quick,
            data=options.data,
            out=options.out,
            n_jobs=options.n_jobs,
            progress=_show_progress if terminal else None,
        )
    except NothingToRunError as error:
        print(error)
        return 0
    except (ValueError, OSError) as error:
        parser.error(str(error))
    finally:
        if terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    if options.quick:
        print(f"Quick: {_what_is_quick(options.table)}.\n")
    print(found)
    if options.versus is not None:
        print(f"\n{_paired(found, options.versus)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
