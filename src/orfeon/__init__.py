"""orfeon: ensembles that train more voices than others can afford and keep those that matter."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

#: Public names and the modules they live in; imported on first use, so `import orfeon` stays light.
_HOMES = {
    "C45Classifier": "orfeon.trees",
    "CARTClassifier": "orfeon.trees",
    "CARTRegressor": "orfeon.trees",
    "Forest": "orfeon.forest",
    "IGPTreeClassifier": "orfeon.trees",
    "RandomTreeClassifier": "orfeon.trees",
    "Schema": "orfeon.schema",
    "StumpClassifier": "orfeon.trees",
    "StumpRegressor": "orfeon.trees",
    "Table": "orfeon.table",
    "export_graphviz": "orfeon.rendering",
    "export_html": "orfeon.rendering",
    "export_rules": "orfeon.rendering",
    "export_text": "orfeon.rendering",
    "plot_tree": "orfeon.rendering",
}

if TYPE_CHECKING:
    from orfeon.forest import Forest
    from orfeon.rendering import (
        export_graphviz,
        export_html,
        export_rules,
        export_text,
        plot_tree,
    )
    from orfeon.schema import Schema
    from orfeon.table import Table
    from orfeon.trees import (
        C45Classifier,
        CARTClassifier,
        CARTRegressor,
        IGPTreeClassifier,
        RandomTreeClassifier,
        StumpClassifier,
        StumpRegressor,
    )

__all__ = [
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "Forest",
    "IGPTreeClassifier",
    "RandomTreeClassifier",
    "Schema",
    "StumpClassifier",
    "StumpRegressor",
    "Table",
    "__version__",
    "export_graphviz",
    "export_html",
    "export_rules",
    "export_text",
    "plot_tree",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'orfeon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
