"""The classes that model files may name.

A file names a class by its bare name, which is looked up here and nowhere else. A class declares
what is saved of it (:mod:`orfeon.utils.saved`). Attributes that are not declared are rejected both
when a model is saved and when it is loaded: nothing is lost in silence, and nothing slips in.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from orfeon.io.entry import Entry
from orfeon.io.errors import ModelFileError

#: Packages whose public classes are found by their names if they declare what is saved.
_PUBLIC = ("orfeon", "orfeon.combining", "orfeon.ordering")
#: Classes that only occur inside models: module and names.
_PARTS = {
    "orfeon.boosting.binary_problems": "ProblemMembers",
    "orfeon.boosting.class_losses": "ExponentialLoss LogLoss MultinomialLoss",
    "orfeon.boosting.custom_loss": "CustomClassLoss CustomLoss",
    "orfeon.boosting.deviance": "TweedieDeviance",
    "orfeon.boosting.given_pool": "MemberVoter PoolMembers Voter",
    "orfeon.boosting.gradient": "AdditiveModel",
    "orfeon.boosting.losses": "AbsoluteError HuberError QuantileError SquaredError",
    "orfeon.boosting.quantiles": "QuantileErrors",
    "orfeon.boosting.stump_pool": "Cuts StumpPool",
    "orfeon.boosting.target_statistics": "TargetStatistics",
    "orfeon.calibration.binary": "BetaCalibrator IsotonicCalibrator SigmoidCalibrator",
    "orfeon.calibration.one_against_rest": "OneAgainstRest",
    "orfeon.calibration.softmax": "SoftmaxCalibrator",
    "orfeon.calibration.venn_abers": "VennAbersCalibrator",
    "orfeon.combining.gating": "Gates",
    "orfeon.combining.local_models": "ClassifierExperts GaussianExperts SoftmaxExperts",
    "orfeon.combining.numeric_inputs": "NumericInputs",
    "orfeon.combining.stacking_base": "MeanAnswers",
    "orfeon.data.schema": "Schema",
    "orfeon.ensembles.ensemble": "Origin",
    "orfeon.forest": "Forest",
    "orfeon.forest.permutation": "PermutationImportances",
    "orfeon.growth.cross_validated": "CrossValidation",
    "orfeon.members.members": "CommitteeMembers EstimatorMembers",
    "orfeon.perceptrons.inputs": "Inputs",
    "orfeon.perceptrons.p_delta": "Solution",
    "orfeon.rules.model_averaging": "ModelPosterior",
    "orfeon.rules.naive_bayes": "VoteLikelihoods",
    "orfeon.rules.supports": "Average",
    "orfeon.rules.votes": "WeightedVote",
    "orfeon.trees.rule_table": "RuleTable",
    "orfeon.uncertainty.in_bag": "InBagCounts",
    "orfeon.uncertainty.leaf_samples": "LeafSamples",
    "orfeon.uncertainty.left_out": "LeftOutSamples",
}
#: Packages whose name is a prefix of the names of their classes.
_OTHER_PACKAGES = ("imblearn", "sklearn")


@functools.cache
def _named() -> Mapping[str, Entry]:
    """Every name that a file may give, without importing the classes."""
    from orfeon.io import scikit_learn

    modules = {name: module for module, names in _PARTS.items() for name in names.split()}
    for package in _PUBLIC:
        modules |= dict.fromkeys(importlib.import_module(package)._HOMES, package)
    ours = [Entry(name, module) for name, module in modules.items()]
    return {entry.name: entry for entry in (*ours, *scikit_learn.scikit_learn_entries())}


def entries() -> Iterator[Entry]:
    """All classes that can be saved."""
    return (entry for entry in _named().values() if entry.is_saved)


def entry_named(name: Any) -> Entry:
    """The class of a name in a file."""
    entry = _named().get(name) if type(name) is str else None
    if entry is None or not entry.is_saved:
        raise ModelFileError(
            f"it names the class {str(name)[:80]!r}, which this version of orfeon does not know."
        )
    return entry


def entry_of(thing: Any) -> Entry | None:
    """What is known of the class of an object, None if nothing."""
    kind = type(thing)
    package = kind.__module__.partition(".")[0]
    prefix = f"{package}." if package in _OTHER_PACKAGES else ""
    entry = _named().get(f"{prefix}{kind.__name__}")
    if entry is None or entry.kind is not kind or not entry.is_saved:
        return None
    return entry if entry.suits is None or entry.suits(thing) else None
