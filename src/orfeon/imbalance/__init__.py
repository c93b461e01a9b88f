"""Imbalanced classes: metrics, cost-sensitive learning, balanced subsets, and samplers.

The samplers need imbalanced-learn (``pip install 'orfeon[imbalance]'``), so they are imported by
name only, and ``from orfeon.imbalance import *`` leaves them out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import if_installed, lazy_names

#: Public names and their modules, imported on first use.
_HOMES = {
    "BalancedSubsetsClassifier": "balanced_subsets",
    "BorderSelection": "border_selection",
    "ClassShareStudy": "class_share",
    "CostSensitiveClassifier": "cost_weights",
    "CostThresholdClassifier": "cost_threshold",
    "DynamicPatternSelection": "pattern_selection",
    "IncrementalSelection": "incremental_selection",
    "SupportVectorSelection": "support_vectors",
    "WeightedDistanceEditing": "weighted_editing",
    "class_share_study": "class_share",
    "f_beta": "metrics",
    "f_beta_scorer": "scorers",
    "geometric_mean": "metrics",
    "geometric_mean_scorer": "scorers",
    "imbalance_scorers": "scorers",
    "input_sensitivity": "sensitivity",
    "minority_class": "metrics",
    "negative_accuracy": "metrics",
    "negative_accuracy_scorer": "scorers",
    "positive_accuracy": "metrics",
    "positive_accuracy_scorer": "scorers",
    "precision_recall_mean": "metrics",
    "precision_recall_mean_scorer": "scorers",
}

#: Names that need imbalanced-learn.
_SAMPLERS = (
    "BorderSelection", "DynamicPatternSelection", "IncrementalSelection", "SupportVectorSelection",
    "WeightedDistanceEditing",
)  # fmt: skip

if TYPE_CHECKING:
    from orfeon.imbalance.balanced_subsets import BalancedSubsetsClassifier
    from orfeon.imbalance.border_selection import BorderSelection as BorderSelection
    from orfeon.imbalance.class_share import ClassShareStudy, class_share_study
    from orfeon.imbalance.cost_threshold import CostThresholdClassifier
    from orfeon.imbalance.cost_weights import CostSensitiveClassifier
    from orfeon.imbalance.incremental_selection import IncrementalSelection as IncrementalSelection
    from orfeon.imbalance.metrics import (
        f_beta,
        geometric_mean,
        minority_class,
        negative_accuracy,
        positive_accuracy,
        precision_recall_mean,
    )
    from orfeon.imbalance.pattern_selection import (
        DynamicPatternSelection as DynamicPatternSelection,
    )
    from orfeon.imbalance.scorers import (
        f_beta_scorer,
        geometric_mean_scorer,
        imbalance_scorers,
        negative_accuracy_scorer,
        positive_accuracy_scorer,
        precision_recall_mean_scorer,
    )
    from orfeon.imbalance.sensitivity import input_sensitivity
    from orfeon.imbalance.support_vectors import SupportVectorSelection as SupportVectorSelection
    from orfeon.imbalance.weighted_editing import WeightedDistanceEditing as WeightedDistanceEditing

__all__ = [
    "BalancedSubsetsClassifier",
    "ClassShareStudy",
    "CostSensitiveClassifier",
    "CostThresholdClassifier",
    "class_share_study",
    "f_beta",
    "f_beta_scorer",
    "geometric_mean",
    "geometric_mean_scorer",
    "imbalance_scorers",
    "input_sensitivity",
    "minority_class",
    "negative_accuracy",
    "negative_accuracy_scorer",
    "positive_accuracy",
    "positive_accuracy_scorer",
    "precision_recall_mean",
    "precision_recall_mean_scorer",
]


__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted([*__all__, *if_installed("imblearn", _SAMPLERS)])
