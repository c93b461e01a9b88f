"""What is wrong with a model file, or with what should become one."""

from __future__ import annotations

from typing import Any

from orfeon.errors import UserError


class ModelFileError(UserError):
    """A model cannot be saved, or a file cannot be loaded as a model; the message says why.

    Examples
    --------
    >>> import orfeon
    >>> orfeon.load("no_such_model.orfeon")
    Traceback (most recent call last):
    ...
    orfeon.io.errors.ModelFileError: no_such_model.orfeon cannot be read: No such file or directory.
    """


class ForeignPartsError(ModelFileError):
    """A file holds estimators of other packages, saved by skops, and these were not asked for."""


def require(condition: Any, what: str) -> None:
    """Raise ValueError with what is wrong unless a condition holds."""
    if not condition:
        raise ValueError(what)
