"""From votes to decisions: rules, early decision, and estimators made of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import lazy_names

#: Public names and the modules they live in; imported on first use.
_HOMES = {
    "COMBINING_RULES": "orfeon.rules.rule",
    "ArbiterClassifier": "arbiter",
    "CalibratedEnsemble": "calibrated_ensemble",
    "CascadeClassifier": "cascade",
    "CascadeRegressor": "cascade",
    "Combination": "combination",
    "CombiningRule": "orfeon.rules.rule",
    "ConformalClassifier": "conformal",
    "ConformalRegressor": "conformal",
    "CostCascadeClassifier": "cost_cascade",
    "Decider": "orfeon.rules.decider",
    "DynamicSelectionClassifier": "dynamic_selection",
    "EarlyDecision": "early",
    "EnsembleSelectionClassifier": "ensemble_selection",
    "EnsembleSelectionRegressor": "ensemble_selection",
    "HierarchicalExpertsClassifier": "experts",
    "HierarchicalExpertsRegressor": "experts",
    "Majority": "orfeon.rules.votes",
    "Max": "orfeon.rules.supports",
    "Mean": "orfeon.rules.supports",
    "Median": "orfeon.rules.supports",
    "MetaDecisionTree": "meta_decision_tree",
    "Min": "orfeon.rules.supports",
    "MixtureOfExpertsClassifier": "experts",
    "MixtureOfExpertsRegressor": "experts",
    "ModelAveraging": "orfeon.rules.model_averaging",
    "NaiveBayes": "orfeon.rules.naive_bayes",
    "OutputCodeClassifier": "output_codes",
    "Plurality": "orfeon.rules.votes",
    "Product": "orfeon.rules.supports",
    "Soft": "orfeon.rules.supports",
    "StackingClassifier": "stacking",
    "StackingRegressor": "stacking",
    "TrimmedMean": "orfeon.rules.supports",
    "Weighted": "orfeon.rules.votes",
    "as_combining_rule": "orfeon.rules.rule",
    "combine": "combination",
    "combine_votes": "combination",
    "early_decision": "early",
    "early_decision_votes": "early",
    "exhaustive_code": "output_codes",
    "least_distance": "output_codes",
    "random_code": "output_codes",
    "rules_for": "orfeon.rules.rule",
}

if TYPE_CHECKING:
    from orfeon.combining.arbiter import ArbiterClassifier
    from orfeon.combining.calibrated_ensemble import CalibratedEnsemble
    from orfeon.combining.cascade import CascadeClassifier, CascadeRegressor
    from orfeon.combining.combination import Combination, combine, combine_votes
    from orfeon.combining.conformal import ConformalClassifier, ConformalRegressor
    from orfeon.combining.cost_cascade import CostCascadeClassifier
    from orfeon.combining.dynamic_selection import DynamicSelectionClassifier
    from orfeon.combining.early import EarlyDecision, early_decision, early_decision_votes
    from orfeon.combining.ensemble_selection import (
        EnsembleSelectionClassifier,
        EnsembleSelectionRegressor,
    )
    from orfeon.combining.experts import (
        HierarchicalExpertsClassifier,
        HierarchicalExpertsRegressor,
        MixtureOfExpertsClassifier,
        MixtureOfExpertsRegressor,
    )
    from orfeon.combining.meta_decision_tree import MetaDecisionTree
    from orfeon.combining.output_codes import (
        OutputCodeClassifier,
        exhaustive_code,
        least_distance,
        random_code,
    )
    from orfeon.combining.stacking import StackingClassifier, StackingRegressor
    from orfeon.rules.decider import Decider
    from orfeon.rules.model_averaging import ModelAveraging
    from orfeon.rules.naive_bayes import NaiveBayes
    from orfeon.rules.rule import COMBINING_RULES, CombiningRule, as_combining_rule, rules_for
    from orfeon.rules.supports import Max, Mean, Median, Min, Product, Soft, TrimmedMean
    from orfeon.rules.votes import Majority, Plurality, Weighted

__all__ = [
    "COMBINING_RULES",
    "ArbiterClassifier",
    "CalibratedEnsemble",
    "CascadeClassifier",
    "CascadeRegressor",
    "Combination",
    "CombiningRule",
    "ConformalClassifier",
    "ConformalRegressor",
    "CostCascadeClassifier",
    "Decider",
    "DynamicSelectionClassifier",
    "EarlyDecision",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
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
    "combine_votes",
    "early_decision",
    "early_decision_votes",
    "exhaustive_code",
    "least_distance",
    "random_code",
    "rules_for",
]

__getattr__ = lazy_names(__name__, _HOMES, moved={"RULES": "orfeon.combining.COMBINING_RULES"})


def __dir__() -> list[str]:
    return sorted(__all__)
