"""Tables as plain text."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def aligned(lines: Sequence[Sequence[str]], to_the_right: Collection[int] = ()) -> str:
    """Set cells in columns.

    Parameters
    ----------
    lines : sequence of sequence of str
        The cells of each line, as many in each.
    to_the_right : collection of int, optional
        The columns that are set to the right.

    Returns
    -------
    str
        The lines, two spaces between the columns.

    Examples
    --------
    >>> from orfeon.study.text import aligned
    >>> print(aligned([["size", "error"], ["9", "12.5"], ["99", "8.0"]], to_the_right={0}))
    size  error
       9  12.5
      99  8.0
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if j in to_the_right else cell.ljust(width)
            for j, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
