"""Single trees as estimators."""

from orfeon.trees.c45 import C45Classifier
from orfeon.trees.c45_rules import C45RulesClassifier
from orfeon.trees.cart import CARTClassifier, CARTRegressor
from orfeon.trees.igp import IGPTreeClassifier
from orfeon.trees.oblique import ObliqueTreeClassifier, ObliqueTreeRegressor
from orfeon.trees.random_tree import RandomTreeClassifier, RandomTreeRegressor
from orfeon.trees.stump import StumpClassifier, StumpRegressor

__all__ = [
    "C45Classifier",
    "C45RulesClassifier",
    "CARTClassifier",
    "CARTRegressor",
    "IGPTreeClassifier",
    "ObliqueTreeClassifier",
    "ObliqueTreeRegressor",
    "RandomTreeClassifier",
    "RandomTreeRegressor",
    "StumpClassifier",
    "StumpRegressor",
]
