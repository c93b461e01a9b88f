"""Suites: cases that can run one by one, and a text to print before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.report import Measurement


@dataclass(frozen=True)
class Case:
    """A question and how to answer it."""

    #: The question; cases are chosen by it.
    name: str
    #: Gives the measurements.
    run: Callable[[], list[Measurement]]


@dataclass(frozen=True)
class Suite:
    """Cases that belong together."""

    #: In the order they are run.
    cases: Sequence[Case]
    #: Lines to print first.
    notices: Sequence[str] = ()
