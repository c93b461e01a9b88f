"""Seeing why an ensemble works: theory, and what its members say of the data."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

#: Public names and the modules they live in; imported on first use.
_HOMES = {
    "condorcet_error": "theory",
    "forest_weights": "neighbourhood",
    "outlier_scores": "neighbourhood",
    "proximities": "neighbourhood",
    "switching_error": "theory",
    "switching_error_curve": "theory",
    "switching_margin_distribution": "theory",
    "switching_margins": "theory",
}

if TYPE_CHECKING:
    from orfeon.inspection.neighbourhood import forest_weights, outlier_scores, proximities
    from orfeon.inspection.theory import (
        condorcet_error,
        switching_error,
        switching_error_curve,
        switching_margin_distribution,
        switching_margins,
    )

__all__ = [
    "condorcet_error",
    "forest_weights",
    "outlier_scores",
    "proximities",
    "switching_error",
    "switching_error_curve",
    "switching_margin_distribution",
    "switching_margins",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"orfeon.inspection.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'orfeon.inspection' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
