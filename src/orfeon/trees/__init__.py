"""Single trees as estimators."""

from orfeon.trees.cart import CARTClassifier, CARTRegressor
from orfeon.trees.igp import IGPTreeClassifier
from orfeon.trees.random_tree import RandomTreeClassifier
from orfeon.trees.stump import StumpClassifier, StumpRegressor

__all__ = [
    "CARTClassifier",
    "CARTRegressor",
    "IGPTreeClassifier",
    "RandomTreeClassifier",
    "StumpClassifier",
    "StumpRegressor",
]
