"""Ensemble learning in Python.

A Python library for ensemble learning (bagging, boosting, random forests and ensemble pruning),
compatible with scikit-learn and several times faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import if_installed, lazy_names

__version__ = "0.2.0"

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
    "BaggedBoostingClassifier": "orfeon.boosting",
    "BaggedBoostingRegressor": "orfeon.boosting",
    "BaggingClassifier": "orfeon.ensembles",
    "BaggingRegressor": "orfeon.ensembles",
    "BalancedSubsetsClassifier": "orfeon.imbalance",
    "BoostingIGPClassifier": "orfeon.boosting",
    "BorderSelection": "orfeon.imbalance",
    "C45Classifier": "orfeon.trees",
    "C45RulesClassifier": "orfeon.trees",
    "CARTClassifier": "orfeon.trees",
    "CARTRegressor": "orfeon.trees",
    "CascadeClassifier": "orfeon.combining",
    "CascadeRegressor": "orfeon.combining",
    "CalibratedEnsemble": "orfeon.combining",
    "ClassSwitchingClassifier": "orfeon.ensembles",
    "CombinedMultipleModels": "orfeon.ordering",
    "ConformalClassifier": "orfeon.combining",
    "ConformalRegressor": "orfeon.combining",
    "CostCascadeClassifier": "orfeon.combining",
    "CostSensitiveClassifier": "orfeon.imbalance",
    "CostThresholdClassifier": "orfeon.imbalance",
    "DoubleBaggingClassifier": "orfeon.ensembles",
    "DynamicPatternSelection": "orfeon.imbalance",
    "DynamicSelectionClassifier": "orfeon.combining",
    "EnsembleSelectionClassifier": "orfeon.combining",
    "EnsembleSelectionRegressor": "orfeon.combining",
    "ExtraTreesClassifier": "orfeon.ensembles",
    "ExtraTreesRegressor": "orfeon.ensembles",
    "FilterBoostClassifier": "orfeon.boosting",
    "FlippingClassifier": "orfeon.ensembles",
    "GradientBoostingClassifier": "orfeon.boosting",
    "GradientBoostingRegressor": "orfeon.boosting",
    "HierarchicalExpertsClassifier": "orfeon.combining",
    "HierarchicalExpertsRegressor": "orfeon.combining",
    "IGPCommitteesClassifier": "orfeon.boosting",
    "IGPEnsembleClassifier": "orfeon.ensembles",
    "IGPTreeClassifier": "orfeon.trees",
    "IncrementalSelection": "orfeon.imbalance",
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
    "RealAdaBoostClassifier": "orfeon.boosting",
    "Snapshot": "orfeon.io",
    "StackingClassifier": "orfeon.combining",
    "StackingRegressor": "orfeon.combining",
    "StumpClassifier": "orfeon.trees",
    "StumpRegressor": "orfeon.trees",
    "SupportVectorSelection": "orfeon.imbalance",
    "WaggingClassifier": "orfeon.ensembles",
    "WaggingRegressor": "orfeon.ensembles",
    "WeightedDistanceEditing": "orfeon.imbalance",
    "combine": "orfeon.combining",
    "early_decision": "orfeon.combining",
    "load": "orfeon.io",
    "order": "orfeon.ordering",
    "prune": "orfeon.ordering",
    "save": "orfeon.io",
    "to_onnx": "orfeon.io.onnx",
}

#: Packages and modules that become features on first use. They are not in __all__:
#: `from orfeon import *` would import them all.
_PACKAGES = (
    "boosting",
    "combining",
    "data",
    "datasets",
    "ensembles",
    "errors",
    "forest",
    "growth",
    "imbalance",
    "inspection",
    "io",
    "members",
    "ordering",
    "perceptrons",
    "rendering",
    "statistics",
    "trees",
    "workbench",
)

#: Names that 0.1 had here; from 0.3 on they are only where they live now.
_MOVED = {
    "Forest": "orfeon.forest.Forest",
    "Schema": "orfeon.data.Schema",
    "Table": "orfeon.data.Table",
    "adapters": "orfeon.members",
    "export_graphviz": "orfeon.rendering.export_graphviz",
    "export_html": "orfeon.rendering.export_html",
    "export_rules": "orfeon.rendering.export_rules",
    "export_text": "orfeon.rendering.export_text",
    "plot_tree": "orfeon.rendering.plot_tree",
    "pruning": "orfeon.forest",
    "search_exhaustive": "orfeon.ordering.search_exhaustive",
    "search_genetic": "orfeon.ordering.search_genetic",
    "serving": "orfeon.workbench.serve",
    "study": "orfeon.workbench",
}

if TYPE_CHECKING:
    from orfeon import boosting as boosting
    from orfeon import combining as combining
    from orfeon import data as data
    from orfeon import datasets as datasets
    from orfeon import ensembles as ensembles
    from orfeon import errors as errors
    from orfeon import forest as forest
    from orfeon import growth as growth
    from orfeon import imbalance as imbalance
    from orfeon import inspection as inspection
    from orfeon import io as io
    from orfeon import members as members
    from orfeon import ordering as ordering
    from orfeon import perceptrons as perceptrons
    from orfeon import rendering as rendering
    from orfeon import statistics as statistics
    from orfeon import trees as trees
    from orfeon import workbench as workbench
    from orfeon.boosting import (
        AdaBoostClassifier,
        AdaBoostM2Classifier,
        AdaBoostMHClassifier,
        AdaBoostOCClassifier,
        AdaBoostPairwiseClassifier,
        AdaBoostR2Regressor,
        AdaBoostRRegressor,
        ArcX4Classifier,
        BaggedBoostingClassifier,
        BaggedBoostingRegressor,
        BoostingIGPClassifier,
        FilterBoostClassifier,
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        IGPCommitteesClassifier,
        MultiBoostClassifier,
        PoolBoostClassifier,
        RealAdaBoostClassifier,
    )
    from orfeon.combining import (
        ArbiterClassifier,
        CalibratedEnsemble,
        CascadeClassifier,
        CascadeRegressor,
        ConformalClassifier,
        ConformalRegressor,
        CostCascadeClassifier,
        DynamicSelectionClassifier,
        EnsembleSelectionClassifier,
        EnsembleSelectionRegressor,
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
    from orfeon.imbalance import (
        BalancedSubsetsClassifier,
        CostSensitiveClassifier,
        CostThresholdClassifier,
    )
    from orfeon.imbalance import BorderSelection as BorderSelection
    from orfeon.imbalance import DynamicPatternSelection as DynamicPatternSelection
    from orfeon.imbalance import IncrementalSelection as IncrementalSelection
    from orfeon.imbalance import SupportVectorSelection as SupportVectorSelection
    from orfeon.imbalance import WeightedDistanceEditing as WeightedDistanceEditing
    from orfeon.io import Snapshot, load, save
    from orfeon.io.onnx import to_onnx
    from orfeon.ordering import (
        CombinedMultipleModels,
        PrunedClassifier,
        PrunedRegressor,
        order,
        prune,
    )
    from orfeon.perceptrons import (
        ParallelPerceptronClassifier,
        ParallelPerceptronRegressor,
        PPBoostClassifier,
        PPTSSClassifier,
    )
    from orfeon.perceptrons import PPTSSSampler as PPTSSSampler
    from orfeon.trees import (
        C45Classifier,
        C45RulesClassifier,
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
    "BaggedBoostingClassifier",
    "BaggedBoostingRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BalancedSubsetsClassifier",
    "BoostingIGPClassifier",
    "C45Classifier",
    "C45RulesClassifier",
    "CARTClassifier",
    "CARTRegressor",
    "CalibratedEnsemble",
    "CascadeClassifier",
    "CascadeRegressor",
    "ClassSwitchingClassifier",
    "CombinedMultipleModels",
    "ConformalClassifier",
    "ConformalRegressor",
    "CostCascadeClassifier",
    "CostSensitiveClassifier",
    "CostThresholdClassifier",
    "DoubleBaggingClassifier",
    "DynamicSelectionClassifier",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "FilterBoostClassifier",
    "FlippingClassifier",
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
    "RealAdaBoostClassifier",
    "Snapshot",
    "StackingClassifier",
    "StackingRegressor",
    "StumpClassifier",
    "StumpRegressor",
    "WaggingClassifier",
    "WaggingRegressor",
    "__version__",
    "combine",
    "early_decision",
    "load",
    "order",
    "prune",
    "save",
    "to_onnx",
]


__getattr__ = lazy_names(__name__, _HOMES, _PACKAGES, _MOVED)


def __dir__() -> list[str]:
    optional = _HOMES.keys() - set(__all__)
    return sorted([*__all__, *_PACKAGES, *if_installed("imblearn", optional)])
