"""Ensembles of independent members: bagging and its relatives, forests, class-switching, IGP."""

from orfeon.ensembles.bagging import BaggingClassifier, BaggingRegressor
from orfeon.ensembles.double_bagging import DoubleBaggingClassifier
from orfeon.ensembles.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from orfeon.ensembles.flipping import FlippingClassifier
from orfeon.ensembles.igp_ensemble import IGPEnsembleClassifier
from orfeon.ensembles.oblique_forest import ObliqueForestClassifier, ObliqueForestRegressor
from orfeon.ensembles.output_noise import OutputSmearingRegressor
from orfeon.ensembles.partitioned import PartitionedClassifier, PartitionedRegressor
from orfeon.ensembles.random_forest import RandomForestClassifier, RandomForestRegressor
from orfeon.ensembles.randomized_trees import RandomizedTreesClassifier
from orfeon.ensembles.subspace import RandomSubspaceClassifier, RandomSubspaceRegressor
from orfeon.ensembles.switching import ClassSwitchingClassifier
from orfeon.ensembles.wagging import WaggingClassifier, WaggingRegressor

__all__ = [
    "BaggingClassifier",
    "BaggingRegressor",
    "ClassSwitchingClassifier",
    "DoubleBaggingClassifier",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "FlippingClassifier",
    "IGPEnsembleClassifier",
    "ObliqueForestClassifier",
    "ObliqueForestRegressor",
    "OutputSmearingRegressor",
    "PartitionedClassifier",
    "PartitionedRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomSubspaceClassifier",
    "RandomSubspaceRegressor",
    "RandomizedTreesClassifier",
    "WaggingClassifier",
    "WaggingRegressor",
]
