"""From votes to decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon._lazy import lazy_names

#: Public names and the modules they live in; imported on first use.
_HOMES = {
    "Combination": "combination",
    "EarlyDecision": "early",
    "combine": "combination",
    "early_decision": "early",
}

if TYPE_CHECKING:
    from orfeon.combining.combination import Combination, combine
    from orfeon.combining.early import EarlyDecision, early_decision

__all__ = ["Combination", "EarlyDecision", "combine", "early_decision"]


__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
