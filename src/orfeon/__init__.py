"""Ensemble learning in Python.

A Python library for ensemble learning (bagging, boosting, random forests and ensemble pruning),
compatible with scikit-learn and several times faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon._lazy import if_installed, lazy_names

__version__ = "0.1.0"

#: Public names and the modules they live in; imported on first use, so `import orfeon` stays light.
#: Those that need an optional package are not in __all__: `from orfeon import *` needs none.
_HOMES = {
    "AdaBoostClassifier": "orfeon.boosting",
    "AdaBoostM2Classifier": "orfeon.boosting",
    "AdaBoostMHClassifier": "orfeon.boosting",
    "AdaBoostOCClassifier": "orfeon.boosting",
    "AdaBoostPairwiseClassifier": "orfeon.boosting",
    "AdaBoostR2Regressor": "orfeon.boosting",
    "AdaBoostRRegressor": "orfeon.boosting",
    "ArbiterClassifier": "orfeon.combining",
    "ArcX4Classifier": "orfeon.boosting",
    "BaggingClassifier": "orfeon.ensembles",
    "BaggingRegressor": "orfeon.ensembles",
    "BalancedSubsetsClassifier": "orfeon.imbalance",
    "BoostingIGPClassifier": "orfeon.boosting",
    "BorderSelection": "orfeon.imbalance",
    "C45Classifier": "orfeon.trees",
    "CARTClassifier": "orfeon.trees",
    "CARTRegressor": "orfeon.trees",
    "CascadeClassifier": "orfeon.combining",
    "CascadeRegressor": "orfeon.combining",
    "ClassSwitchingClassifier": "orfeon.ensembles",
    "CombinedMultipleModels": "orfeon.ordering",
    "CostCascadeClassifier": "orfeon.combining",
    "CostSensitiveClassifier": "orfeon.imbalance",
    "CostThresholdClassifier": "orfeon.imbalance",
    "DoubleBaggingClassifier": "orfeon.ensembles",
    "ExtraTreesClassifier": "orfeon.ensembles",
    "ExtraTreesRegressor": "orfeon.ensembles",
    "FilterBoostClassifier": "orfeon.boosting",
    "FlippingClassifier": "orfeon.ensembles",
    "Forest": "orfeon.forest",
    "GradientBoostingClassifier": "orfeon.boosting",
    "GradientBoostingRegressor": "orfeon.boosting",
    "HierarchicalExpertsClassifier": "orfeon.combining",
    "HierarchicalExpertsRegressor": "orfeon.combining",
    "IGPCommitteesClassifier": "orfeon.boosting",
    "IGPEnsembleClassifier": "orfeon.ensembles",
    "IGPTreeClassifier": "orfeon.trees",
    "MixtureOfExpertsClassifier": "orfeon.combining",
    "MixtureOfExpertsRegressor": "orfeon.combining",
    "MultiBoostClassifier": "orfeon.boosting",
    "ObliqueForestClassifier": "orfeon.ensembles",
    "ObliqueForestRegressor": "orfeon.ensembles",
    "ObliqueTreeClassifier": "orfeon.trees",
    "ObliqueTreeRegressor": "orfeon.trees",
    "OutputCodeClassifier": "orfeon.combining",
    "OutputSmearingRegressor": "orfeon.ensembles",
    "PPBoostClassifier": "orfeon.perceptrons",
    "PPTSSClassifier": "orfeon.perceptrons",
    "PPTSSSampler": "orfeon.perceptrons",
    "ParallelPerceptronClassifier": "orfeon.perceptrons",
    "ParallelPerceptronRegressor": "orfeon.perceptrons",
    "PartitionedClassifier": "orfeon.ensembles",
    "PartitionedRegressor": "orfeon.ensembles",
    "PoolBoostClassifier": "orfeon.boosting",
    "PrunedClassifier": "orfeon.ordering",
    "PrunedRegressor": "orfeon.ordering",
    "RandomForestClassifier": "orfeon.ensembles",
    "RandomForestRegressor": "orfeon.ensembles",
    "RandomSubspaceClassifier": "orfeon.ensembles",
    "RandomSubspaceRegressor": "orfeon.ensembles",
    "RandomTreeClassifier": "orfeon.trees",
    "RandomTreeRegressor": "orfeon.trees",
    "RandomizedTreesClassifier": "orfeon.ensembles",
    "Schema": "orfeon.schema",
    "StackingClassifier": "orfeon.combining",
    "StackingRegressor": "orfeon.combining",
    "StumpClassifier": "orfeon.trees",
    "StumpRegressor": "orfeon.trees",
    "Table": "orfeon.table",
    "WaggingClassifier": "orfeon.ensembles",
    "WaggingRegressor": "orfeon.ensembles",
    "WeightedDistanceEditing": "orfeon.imbalance",
    "combine": "orfeon.combining",
    "early_decision": "orfeon.combining",
    "export_graphviz": "orfeon.rendering",
    "export_html": "orfeon.rendering",
    "export_rules": "orfeon.rendering",
    "export_text": "orfeon.rendering",
    "load": "orfeon.io",
    "order": "orfeon.ordering",
    "plot_tree": "orfeon.rendering",
    "prune": "orfeon.ordering",
    "save": "orfeon.io",
    "search_exhaustive": "orfeon.ordering",
    "search_genetic": "orfeon.ordering",
    "to_onnx": "orfeon.io.onnx",
}

#: Packages and modules that become attributes on first use. They are not in __all__:
#: `from orfeon import *` would import them all.
_PACKAGES = (
    "adapters",
    "boosting",
    "combining",
    "datasets",
    "ensembles",
    "errors",
    "forest",
    "growth",
    "imbalance",
    "inspection",
    "io",
    "ordering",
    "perceptrons",
    "pruning",
    "rendering",
    "serving",
    "study",
    "trees",
)

if TYPE_CHECKING:
    from orfeon import adapters as adapters
    from orfeon import boosting as boosting
    from orfeon import combining as combining
    from orfeon import datasets as datasets
    from orfeon import ensembles as ensembles
    from orfeon import errors as errors
    from orfeon import forest as forest
    from orfeon import growth as growth
    from orfeon import imbalance as imbalance
    from orfeon import inspection as inspection
    from orfeon import io as io
    from orfeon import ordering as ordering
    from orfeon import perceptrons as perceptrons
    from orfeon import pruning as pruning
    from orfeon import rendering as rendering
    from orfeon import serving as serving
    from orfeon import study as study
    from orfeon import trees as trees
    from orfeon.boosting import (
        AdaBoostClassifier,
        AdaBoostM2Classifier,
        AdaBoostMHClassifier,
        AdaBoostOCClassifier,
        AdaBoostPairwiseClassifier,
        AdaBoostR2Regressor,
        AdaBoostRRegressor,
        ArcX4Classifier,
        BoostingIGPClassifier,
        FilterBoostClassifier,
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        IGPCommitteesClassifier,
        MultiBoostClassifier,
        PoolBoostClassifier,
    )
    from orfeon.combining import (
        ArbiterClassifier,
        CascadeClassifier,
        CascadeRegressor,
        CostCascadeClassifier,
        HierarchicalExpertsClassifier,
        HierarchicalExpertsRegressor,
        MixtureOfExpertsClassifier,
        MixtureOfExpertsRegressor,
        OutputCodeClassifier,
        StackingClassifier,
        StackingRegressor,
        combine,
        early_decision,
    )
    from orfeon.ensembles import (
        BaggingClassifier,
        BaggingRegressor,
        ClassSwitchingClassifier,
        DoubleBaggingClassifier,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        FlippingClassifier,
        IGPEnsembleClassifier,
        ObliqueForestClassifier,
        ObliqueForestRegressor,
        OutputSmearingRegressor,
        PartitionedClassifier,
        PartitionedRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
        RandomizedTreesClassifier,
        RandomSubspaceClassifier,
        RandomSubspaceRegressor,
        WaggingClassifier,
        WaggingRegressor,
    )
    from orfeon.forest import Forest
    from orfeon.imbalance import (
        BalancedSubsetsClassifier,
        CostSensitiveClassifier,
        CostThresholdClassifier,
    )
    from orfeon.imbalance import BorderSelection as BorderSelection
    from orfeon.imbalance import WeightedDistanceEditing as WeightedDistanceEditing
    from orfeon.io import load, save
    from orfeon.io.onnx import to_onnx
    from orfeon.ordering import (
        CombinedMultipleModels,
        PrunedClassifier,
        PrunedRegressor,
        order,
        prune,
        search_exhaustive,
        search_genetic,
    )
    from orfeon.perceptrons import (
        ParallelPerceptronClassifier,
        ParallelPerceptronRegressor,
        PPBoostClassifier,
        PPTSSClassifier,
    )
    from orfeon.perceptrons import PPTSSSampler as PPTSSSampler
    from orfeon.rendering import export_graphviz, export_html, export_rules, export_text, plot_tree
    from orfeon.schema import Schema
    from orfeon.table import Table
    from orfeon.trees import (
        C45Classifier,
        CARTClassifier,
        CARTRegressor,
        IGPTreeClassifier,
        ObliqueTreeClassifier,
        ObliqueTreeRegressor,
        RandomTreeClassifier,
        RandomTreeRegressor,
        StumpClassifier,
        StumpRegressor,
    )

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostM2Classifier",
    "AdaBoostMHClassifier",
    "AdaBoostOCClassifier",
    "AdaBoostPairwiseClassifier",
    "AdaBoostR2Regressor",
    "AdaBoostRRegressor",
    "ArbiterClassifier",
    "ArcX4Classifier",
    "BaggingClassifier",
    "BaggingRegressor",
    "BalancedSubsetsClassifier",
    "BoostingIGPClassifier",
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "CascadeClassifier",
    "CascadeRegressor",
    "ClassSwitchingClassifier",
    "CombinedMultipleModels",
    "CostCascadeClassifier",
    "CostSensitiveClassifier",
    "CostThresholdClassifier",
    "DoubleBaggingClassifier",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "FilterBoostClassifier",
    "FlippingClassifier",
    "Forest",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HierarchicalExpertsClassifier",
    "HierarchicalExpertsRegressor",
    "IGPCommitteesClassifier",
    "IGPEnsembleClassifier",
    "IGPTreeClassifier",
    "MixtureOfExpertsClassifier",
    "MixtureOfExpertsRegressor",
    "MultiBoostClassifier",
    "ObliqueForestClassifier",
    "ObliqueForestRegressor",
    "ObliqueTreeClassifier",
    "ObliqueTreeRegressor",
    "OutputCodeClassifier",
    "OutputSmearingRegressor",
    "PPBoostClassifier",
    "PPTSSClassifier",
    "ParallelPerceptronClassifier",
    "ParallelPerceptronRegressor",
    "PartitionedClassifier",
    "PartitionedRegressor",
    "PoolBoostClassifier",
    "PrunedClassifier",
    "PrunedRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomSubspaceClassifier",
    "RandomSubspaceRegressor",
    "RandomTreeClassifier",
    "RandomTreeRegressor",
    "RandomizedTreesClassifier",
    "Schema",
    "StackingClassifier",
    "StackingRegressor",
    "StumpClassifier",
    "StumpRegressor",
    "Table",
    "WaggingClassifier",
    "WaggingRegressor",
    "__version__",
    "combine",
    "early_decision",
    "export_graphviz",
    "export_html",
    "export_rules",
    "export_text",
    "load",
    "order",
    "plot_tree",
    "prune",
    "save",
    "search_exhaustive",
    "search_genetic",
    "to_onnx",
]


__getattr__ = lazy_names(__name__, _HOMES, _PACKAGES)


def __dir__() -> list[str]:
    optional = _HOMES.keys() - set(__all__)
    return sorted([*__all__, *_PACKAGES, *if_installed("imblearn", optional)])
