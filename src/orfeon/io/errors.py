"""Errors of saving and loading model files."""

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
    """A file contains estimators saved by skops, and ``foreign=False`` rejects them."""


def require(condition: Any, what: str) -> None:
    if not condition:
        raise ValueError(what)
