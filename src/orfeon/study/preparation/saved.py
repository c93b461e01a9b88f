"""The preparation that a model file holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orfeon.errors import UserError
from orfeon.study.preparation.preparation import Preparation


def read_preparation(plain: Mapping[str, Any] | None, file: object) -> Preparation | None:
    """The preparation of the plain values in a model file.

    Parameters
    ----------
    plain : mapping or None
        What was saved; None where nothing was.
    file : str or path
        The file, for messages.

    Returns
    -------
    Preparation or None

    Examples
    --------
    >>> from orfeon.study.preparation.saved import read_preparation
    >>> read_preparation({"version": 1}, "model.orfeon")
    Traceback (most recent call last):
    ...
    orfeon.errors.UserError: model.orfeon: its preparation of tables lacks 'columns'.
    """
    if plain is None:
        return None
    try:
        return Preparation.from_dict(plain)
    except UserError as error:
        raise UserError(f"{file}: {error}") from error
    except KeyError as error:
        raise UserError(f"{file}: its preparation of tables lacks {error}.") from error
    except ValueError as error:
        raise UserError(f"{file}: its preparation of tables cannot be read: {error}.") from error
    except (TypeError, AttributeError) as error:
        raise UserError(f"{file}: its preparation of tables cannot be read.") from error
