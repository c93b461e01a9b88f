"""orfeon: ensembles that train more voices than others can afford and keep those that matter."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

#: Public names and the modules they live in; imported on first use, so `import orfeon` stays light.
_HOMES = {
    "AdaBoostClassifier": "orfeon.boosting",
    "AdaBoostM2Classifier": "orfeon.boosting",
    "AdaBoostMHClassifier": "orfeon.boosting",
    "AdaBoostOCClassifier": "orfeon.boosting",
    "AdaBoostPairwiseClassifier": "orfeon.boosting",
    "ArcX4Classifier": "orfeon.boosting",
    "BaggingClassifier": "orfeon.ensembles",
    "BaggingRegressor": "orfeon.ensembles",
    "BoostingIGPClassifier": "orfeon.ensembles",
    "C45Classifier": "orfeon.trees",
    "CARTClassifier": "orfeon.trees",
    "CARTRegressor": "orfeon.trees",
    "ClassSwitchingClassifier": "orfeon.ensembles",
    "CombinedMultipleModels": "orfeon.ordering",
    "DoubleBaggingClassifier": "orfeon.ensembles",
    "ExtraTreesClassifier": "orfeon.ensembles",
    "ExtraTreesRegressor": "orfeon.ensembles",
    "FlippingClassifier": "orfeon.ensembles",
    "Forest": "orfeon.forest",
    "IGPCommitteesClassifier": "orfeon.ensembles",
    "IGPEnsembleClassifier": "orfeon.ensembles",
    "IGPTreeClassifier": "orfeon.trees",
    "MultiBoostClassifier": "orfeon.boosting",
    "ObliqueForestClassifier": "orfeon.ensembles",
    "ObliqueForestRegressor": "orfeon.ensembles",
    "ObliqueTreeClassifier": "orfeon.trees",
    "ObliqueTreeRegressor": "orfeon.trees",
    "OutputSmearingRegressor": "orfeon.ensembles",
    "PartitionedClassifier": "orfeon.ensembles",
    "PartitionedRegressor": "orfeon.ensembles",
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
        ArcX4Classifier,
        MultiBoostClassifier,
    )
    from orfeon.combining import early_decision
    from orfeon.ensembles import (
        BaggingClassifier,
        BaggingRegressor,
        BoostingIGPClassifier,
        ClassSwitchingClassifier,
        DoubleBaggingClassifier,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        FlippingClassifier,
        IGPCommitteesClassifier,
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
    from orfeon.ordering import (
        CombinedMultipleModels,
        PrunedClassifier,
        PrunedRegressor,
        order,
        prune,
        search_exhaustive,
        search_genetic,
    )
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
    "ArcX4Classifier",
    "BaggingClassifier",
    "BaggingRegressor",
    "BoostingIGPClassifier",
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "ClassSwitchingClassifier",
    "CombinedMultipleModels",
    "DoubleBaggingClassifier",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "FlippingClassifier",
    "Forest",
    "IGPCommitteesClassifier",
    "IGPEnsembleClassifier",
    "IGPTreeClassifier",
    "MultiBoostClassifier",
    "ObliqueForestClassifier",
    "ObliqueForestRegressor",
    "ObliqueTreeClassifier",
    "ObliqueTreeRegressor",
    "OutputSmearingRegressor",
    "PartitionedClassifier",
    "PartitionedRegressor",
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
    return sorted(__all__)
