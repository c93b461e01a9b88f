"""Mistakes of users, told in a sentence that helps."""

from __future__ import annotations


class UserError(ValueError):
    """Something given is not as it must be; the message says what to do.

    Commands print it without a traceback.

    Examples
    --------
    >>> from orfeon.errors import UserError
    >>> raise UserError("--target must name a column of data.csv: there is no column 'clas'.")
    Traceback (most recent call last):
    ...
    orfeon.errors.UserError: --target must name a column of data.csv: there is no column 'clas'.
    """
