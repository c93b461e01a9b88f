"""Single trees as estimators."""

from orfeon.trees.c45 import C45Classifier
from orfeon.trees.cart import CARTClassifier, CARTRegressor
from orfeon.trees.igp import IGPTreeClassifier
from orfeon.trees.oblique import ObliqueTreeClassifier, ObliqueTreeRegressor
from orfeon.trees.random_tree import RandomTreeClassifier, RandomTreeRegressor
from orfeon.trees.stump import StumpClassifier, StumpRegressor

__all__ = [
    "C45Classifier",
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
