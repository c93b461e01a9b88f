"""Predictions over HTTP: a scoring service for a model file.

The command ``orfeon serve`` starts it; :func:`create_app` makes the ASGI application for a server
of your own. Both need ``pip install "orfeon[serve]"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import lazy_names

_HOMES = {"Limits": "limits", "create_app": "application"}

if TYPE_CHECKING:
    from orfeon.workbench.serve.application import create_app
    from orfeon.workbench.serve.limits import Limits

__all__ = ["Limits", "create_app"]

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
