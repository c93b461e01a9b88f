"""From votes to decisions."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

#: Public names and the modules they live in; imported on first use.
_HOMES = {
    "EarlyDecision": "early",
    "early_decision": "early",
}

if TYPE_CHECKING:
    from orfeon.combining.early import EarlyDecision, early_decision

__all__ = ["EarlyDecision", "early_decision"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"orfeon.combining.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'orfeon.combining' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
