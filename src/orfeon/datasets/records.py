"""Records of a text file, a line or more each, a few megabytes at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TextIO

#: Letters of a record beyond which its quote is taken to be forgotten.
LONGEST_RECORD = 10_000_000


class UnclosedQuoteError(ValueError):
    """A quote is opened and never closed."""


def record_pieces(
    text: TextIO, delimiter: str, n_skipped: int, n_letters: int
) -> Iterator[list[str]]:
    r"""Records of a text, in pieces; a record goes on while a quote is open."""
    opening = _opening(delimiter)
    left, begun = n_skipped, ""
    while lines := text.readlines(n_letters):
        lines[0] = begun + lines[0]
        begun = ""
        if any('"' in line for line in lines):
            lines, begun = _closed(lines, opening)
        left, lines = max(left - len(lines), 0), lines[left:]
        yield [line for line in lines if not line.isspace()]
    if begun:
        yield [begun]


def _opening(delimiter: str) -> re.Pattern[str]:
    """Cells in quotes, whole or not: those that are not reach the end of the record."""
    part = delimiter if delimiter == r"\s+" else re.escape(delimiter)
    return re.compile(rf'(?:^|{part})\s*"(?:[^"]|"")*("|$)')


def _closed(lines: list[str], opening: re.Pattern[str]) -> tuple[list[str], str]:
    """Lines joined to records, and the beginning of one that is not whole yet."""
    records: list[str] = []
    begun = ""
    for line in lines:
        record = begun + line
        if '"' in record and any(not m.group(1) for m in opening.finditer(record)):
            if len(record) > LONGEST_RECORD:
                raise UnclosedQuoteError(f"record {len(records) + 1} of the piece")
            begun = record
            continue
        records.append(record)
        begun = ""
    return records, begun
