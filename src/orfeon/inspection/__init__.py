"""Seeing why an ensemble works: theory, what its members say of the data, and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon._lazy import lazy_names

#: Public names and the modules they live in; imported on first use.
_HOMES = {
    "PerceptronCategories": "example_categories",
    "PerceptronCategoriesDisplay": "example_categories",
    "SelectionHistoryDisplay": "selection_history",
    "condorcet_error": "theory",
    "forest_weights": "neighbourhood",
    "outlier_scores": "neighbourhood",
    "perceptron_categories": "example_categories",
    "proximities": "neighbourhood",
    "switching_error": "theory",
    "switching_error_curve": "theory",
    "switching_margin_distribution": "theory",
    "switching_margins": "theory",
}

if TYPE_CHECKING:
    from orfeon.inspection.example_categories import (
        PerceptronCategories,
        PerceptronCategoriesDisplay,
        perceptron_categories,
    )
    from orfeon.inspection.neighbourhood import forest_weights, outlier_scores, proximities
    from orfeon.inspection.selection_history import SelectionHistoryDisplay
    from orfeon.inspection.theory import (
        condorcet_error,
        switching_error,
        switching_error_curve,
        switching_margin_distribution,
        switching_margins,
    )

__all__ = [
    "PerceptronCategories",
    "PerceptronCategoriesDisplay",
    "SelectionHistoryDisplay",
    "condorcet_error",
    "forest_weights",
    "outlier_scores",
    "perceptron_categories",
    "proximities",
    "switching_error",
    "switching_error_curve",
    "switching_margin_distribution",
    "switching_margins",
]


__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
