"""The command line: ``python -m benchmarks <suite> [--quick] [--json FILE] [--strict]``.

``all`` runs the suites within a given time, ``page`` writes the performance page from what they
measured.
"""

from __future__ import annotations

import argparse
import importlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import SUITES
from benchmarks.environment import machine, versions
from benchmarks.everything import run_all
from benchmarks.page import PAGE, RESULTS, write_page
from benchmarks.report import Measurement, Table
from benchmarks.suite import Suite


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    suites = whole.add_subparsers(dest="suite", required=True, metavar="suite")
    for name, module in SUITES.items():
        one = suites.add_parser(name, help=f"see {module}")
        one.add_argument("--quick", action="store_true", help="less work, the same code")
        one.add_argument("--json", type=Path, metavar="FILE", help="write JSON lines there")
        one.add_argument("--strict", action="store_true", help="exit with 1 on a missed target")
        one.add_argument("--list", action="store_true", help="name the cases and stop")
        one.add_argument(
            "--case", action="append", default=[], metavar="TEXT",
            help="only the cases whose name contains this; may be repeated",
        )  # fmt: skip
    every = suites.add_parser("all", help="the suites, as long as there is time")
    every.add_argument("--quick", action="store_true", help="less work, the same code")
    every.add_argument("--minutes", type=float, default=25.0, help="for all of it (default 25)")
    every.add_argument("--out", type=Path, default=RESULTS, metavar="FOLDER", help="for JSON lines")
    page = suites.add_parser("page", help="the performance page, from JSON lines")
    page.add_argument("--from", dest="results", type=Path, default=RESULTS, metavar="FOLDER")
    page.add_argument("--write", type=Path, default=PAGE, metavar="FILE", help="where it goes")
    return whole


def chosen(suite: Suite, texts: Sequence[str]) -> Suite:
    """The cases whose names contain one of the texts; without texts, all."""
    cases = [case for case in suite.cases if not texts or any(t in case.name for t in texts)]
    if not cases:
        names = ", ".join(case.name for case in suite.cases)
        raise SystemExit(f"--case {' '.join(texts)!r} matches no case; there are: {names}")
    return Suite(cases, suite.notices)


def origin(options: argparse.Namespace) -> dict[str, str]:
    """Where measurements come from, for their JSON lines: the suite and its command."""
    command = ["python", "-m", "benchmarks", options.suite]
    command += ["--quick"] if options.quick else []
    command += [word for case in options.case for word in ("--case", case)]
    return {"suite": options.suite, "command": shlex.join(command)}


def run(
    suite: Suite, *, quick: bool, json_file: Path | None, origin: Mapping[str, str] | None = None
) -> list[Measurement]:
    """Run the cases; print the table and write the JSON lines as they finish."""
    where = machine()
    print(f"{where['processor']}, {where['cores']} cores, {where['system']}")
    print(", ".join(f"{package} {version}" for package, version in versions().items()))
    for notice in suite.notices:
        print(notice)
    print()
    table = Table()
    measurements: list[Measurement] = []
    lines: list[str] = []
    for case in suite.cases:
        for measurement in case.run():
            measurements.append(measurement)
            lines.append(measurement.as_json(quick=quick, origin=origin))
            table.add(measurement)
            sys.stdout.flush()
            if json_file is not None:
                # Appended at once: an interrupted run keeps its measurements.
                with json_file.open("a", encoding="utf-8") as file:
                    file.write(lines[-1] + "\n")
    print()
    if json_file is None:
        print("\n".join(lines))
    else:
        print(f"{len(lines)} JSON lines are in {json_file}.")
    return measurements


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    if options.suite == "all":
        return run_all(options.out, options.minutes, quick=options.quick)
    if options.suite == "page":
        return write_page(options.results, options.write)
    suite: Suite = importlib.import_module(SUITES[options.suite]).suite(options.quick)
    suite = chosen(suite, options.case)
    if options.list:
        print("\n".join(case.name for case in suite.cases))
        return 0
    if options.json is not None:
        options.json.write_text("", encoding="utf-8")
    measurements = run(suite, quick=options.quick, json_file=options.json, origin=origin(options))
    targets = [m.is_met for m in measurements if m.is_met is not None]
    print(f"{sum(targets)} of {len(targets)} targets are met.")
    return int(options.strict and not all(targets))


if __name__ == "__main__":
    raise SystemExit(main())
