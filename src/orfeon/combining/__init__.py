"""From votes to decisions: rules, early decision, and estimators made of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon._lazy import lazy_names

#: Public names and the modules they live in; imported on first use.
_HOMES = {
    "RULES": "rule",
    "ArbiterClassifier": "arbiter",
    "CascadeClassifier": "cascade",
    "CascadeRegressor": "cascade",
    "Combination": "combination",
    "CombiningRule": "rule",
    "CostCascadeClassifier": "cost_cascade",
    "Decider": "decider",
    "EarlyDecision": "early",
    "HierarchicalExpertsClassifier": "hierarchical_experts",
    "HierarchicalExpertsRegressor": "hierarchical_experts",
    "Majority": "votes",
    "Max": "supports",
    "Mean": "supports",
    "Median": "supports",
    "MetaDecisionTree": "meta_decision_tree",
    "Min": "supports",
    "MixtureOfExpertsClassifier": "experts",
    "MixtureOfExpertsRegressor": "experts",
    "ModelAveraging": "model_averaging",
    "NaiveBayes": "naive_bayes",
    "OutputCodeClassifier": "output_codes",
    "Plurality": "votes",
    "Product": "supports",
    "Soft": "supports",
    "StackingClassifier": "stacking",
    "StackingRegressor": "stacking",
    "TrimmedMean": "supports",
    "Weighted": "votes",
    "as_combining_rule": "rule",
    "combine": "combination",
    "early_decision": "early",
    "exhaustive_code": "output_codes",
    "least_distance": "output_codes",
    "random_code": "output_codes",
    "rules_for": "rule",
}

if TYPE_CHECKING:
    from orfeon.combining.arbiter import ArbiterClassifier
    from orfeon.combining.cascade import CascadeClassifier, CascadeRegressor
    from orfeon.combining.combination import Combination, combine
    from orfeon.combining.cost_cascade import CostCascadeClassifier
    from orfeon.combining.decider import Decider
    from orfeon.combining.early import EarlyDecision, early_decision
    from orfeon.combining.experts import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor
    from orfeon.combining.hierarchical_experts import (
        HierarchicalExpertsClassifier,
        HierarchicalExpertsRegressor,
    )
    from orfeon.combining.meta_decision_tree import MetaDecisionTree
    from orfeon.combining.model_averaging import ModelAveraging
    from orfeon.combining.naive_bayes import NaiveBayes
    from orfeon.combining.output_codes import (
        OutputCodeClassifier,
        exhaustive_code,
        least_distance,
        random_code,
    )
    from orfeon.combining.rule import RULES, CombiningRule, as_combining_rule, rules_for
    from orfeon.combining.stacking import StackingClassifier, StackingRegressor
    from orfeon.combining.supports import Max, Mean, Median, Min, Product, Soft, TrimmedMean
    from orfeon.combining.votes import Majority, Plurality, Weighted

__all__ = [
    "RULES",
    "ArbiterClassifier",
    "CascadeClassifier",
    "CascadeRegressor",
    "Combination",
    "CombiningRule",
    "CostCascadeClassifier",
    "Decider",
    "EarlyDecision",
    "HierarchicalExpertsClassifier",
    "HierarchicalExpertsRegressor",
    "Majority",
    "Max",
    "Mean",
    "Median",
    "MetaDecisionTree",
    "Min",
    "MixtureOfExpertsClassifier",
    "MixtureOfExpertsRegressor",
    "ModelAveraging",
    "NaiveBayes",
    "OutputCodeClassifier",
    "Plurality",
    "Product",
    "Soft",
    "StackingClassifier",
    "StackingRegressor",
    "TrimmedMean",
    "Weighted",
    "as_combining_rule",
    "combine",
    "early_decision",
    "exhaustive_code",
    "least_distance",
    "random_code",
    "rules_for",
]

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
