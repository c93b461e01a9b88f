"""The preparation that a model file holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orfeon.errors import UserError
from orfeon.workbench.prepare.preparation import Preparation


def read_preparation(plain: Mapping[str, Any] | None, file: object) -> Preparation | None:
    """The preparation of the plain values in a model file."""
    if plain is None:
        return None
    try:
        return Preparation.from_dict(plain)
    except UserError as error:
        raise UserError(f"{file}: {error}") from error
    except KeyError as error:
        raise UserError(f"{file}: its table preparation lacks {error}.") from error
    except ValueError as error:
        raise UserError(f"{file}: its table preparation cannot be read: {error}.") from error
    except (TypeError, AttributeError) as error:
        raise UserError(f"{file}: its table preparation cannot be read.") from error
