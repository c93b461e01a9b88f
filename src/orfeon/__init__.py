"""orfeon: ensembles that train more voices than others can afford and keep those that matter."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

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
    "ArcX4Classifier": "orfeon.boosting",
    "BaggingClassifier": "orfeon.ensembles",
    "BaggingRegressor": "orfeon.ensembles",
    "BalancedSubsetsClassifier": "orfeon.imbalance",
    "BoostingIGPClassifier": "orfeon.boosting",
    "BorderSelection": "orfeon.imbalance",
    "C45Classifier": "orfeon.trees",
    "CARTClassifier": "orfeon.trees",
    "CARTRegressor": "orfeon.trees",
    "ClassSwitchingClassifier": "orfeon.ensembles",
    "CombinedMultipleModels": "orfeon.ordering",
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
    "IGPCommitteesClassifier": "orfeon.boosting",
    "IGPEnsembleClassifier": "orfeon.ensembles",
    "IGPTreeClassifier": "orfeon.trees",
    "MultiBoostClassifier": "orfeon.boosting",
    "ObliqueForestClassifier": "orfeon.ensembles",
    "ObliqueForestRegressor": "orfeon.ensembles",
    "ObliqueTreeClassifier": "orfeon.trees",
    "ObliqueTreeRegressor": "orfeon.trees",
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
    "StumpClassifier": "orfeon.trees",
    "StumpRegressor": "orfeon.trees",
    "Table": "orfeon.table",
    "WaggingClassifier": "orfeon.ensembles",
    "WaggingRegressor": "orfeon.ensembles",
    "WeightedDistanceEditing": "orfeon.imbalance",
    "early_decision": "orfeon.combining",
    "export_graphviz": "orfeon.rendering",
    "export_html": "orfeon.rendering",
    "export_rules": "orfeon.rendering",
    "export_text": "orfeon.rendering",
    "order": "orfeon.ordering",
    "plot_tree": "orfeon.rendering",
    "prune": "orfeon.ordering",
    "search_exhaustive": "orfeon.ordering",
    "search_genetic": "orfeon.ordering",
}

if TYPE_CHECKING:
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
    from orfeon.combining import early_decision
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
    "ArcX4Classifier",
    "BaggingClassifier",
    "BaggingRegressor",
    "BalancedSubsetsClassifier",
    "BoostingIGPClassifier",
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "ClassSwitchingClassifier",
    "CombinedMultipleModels",
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
    "IGPCommitteesClassifier",
    "IGPEnsembleClassifier",
    "IGPTreeClassifier",
    "MultiBoostClassifier",
    "ObliqueForestClassifier",
    "ObliqueForestRegressor",
    "ObliqueTreeClassifier",
    "ObliqueTreeRegressor",
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
    "StumpClassifier",
    "StumpRegressor",
    "Table",
    "WaggingClassifier",
    "WaggingRegressor",
    "__version__",
    "early_decision",
    "export_graphviz",
    "export_html",
    "export_rules",
    "export_text",
    "order",
    "plot_tree",
    "prune",
    "search_exhaustive",
    "search_genetic",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'orfeon' has no attribute {name!r}")


def __dir__() -> list[str]:
    has_samplers = importlib.util.find_spec("imblearn") is not None
    return sorted({*__all__, *_HOMES} if has_samplers else __all__)
