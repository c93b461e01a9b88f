"""Suites: cases that can run one by one, and a text to print before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.report import Measurement


@dataclass(frozen=True)
class Case:
    """A question and how to answer it.

    Parameters
    ----------
    name : str
        The question; cases are chosen by it.
    run : callable
        Gives the measurements.
    """

    name: str
    run: Callable[[], list[Measurement]]


@dataclass(frozen=True)
class Suite:
    """Cases that belong together.

    Parameters
    ----------
    cases : sequence of Case
        In the order they are run.
    notices : sequence of str
        Lines to print first.
    """

    cases: Sequence[Case]
    notices: Sequence[str] = ()
