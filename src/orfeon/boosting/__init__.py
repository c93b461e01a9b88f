"""Boosted ensembles: each member focuses on the errors of those before it."""

from orfeon.boosting.adaboost import AdaBoostClassifier
from orfeon.boosting.adaboost_m2 import AdaBoostM2Classifier
from orfeon.boosting.adaboost_mh import AdaBoostMHClassifier, AdaBoostPairwiseClassifier
from orfeon.boosting.adaboost_r import AdaBoostRRegressor, squared_error_bound
from orfeon.boosting.adaboost_r2 import AdaBoostR2Regressor
from orfeon.boosting.arcing import ArcX4Classifier
from orfeon.boosting.bagged import BaggedBoostingClassifier, BaggedBoostingRegressor
from orfeon.boosting.boosting_igp import BoostingIGPClassifier
from orfeon.boosting.bounds import (
    edge_bound,
    error_bound,
    margin_bound,
    pseudo_loss_bound,
    vote_bound,
)
from orfeon.boosting.filtering import FilterBoostClassifier, filtering_error
from orfeon.boosting.generalization_bounds import (
    margin_generalization_bound,
    vc_dimension_of_votes,
    vc_generalization_bound,
)
from orfeon.boosting.gradient_boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from orfeon.boosting.igp_committees import IGPCommitteesClassifier
from orfeon.boosting.lp_boost import LargestMargin, largest_margin
from orfeon.boosting.multiboost import MultiBoostClassifier
from orfeon.boosting.output_codes import AdaBoostOCClassifier
from orfeon.boosting.pool import PoolBoostClassifier
from orfeon.boosting.real_adaboost import RealAdaBoostClassifier

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostM2Classifier",
    "AdaBoostMHClassifier",
    "AdaBoostOCClassifier",
    "AdaBoostPairwiseClassifier",
    "AdaBoostR2Regressor",
    "AdaBoostRRegressor",
    "ArcX4Classifier",
    "BaggedBoostingClassifier",
    "BaggedBoostingRegressor",
    "BoostingIGPClassifier",
    "FilterBoostClassifier",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "IGPCommitteesClassifier",
    "LargestMargin",
    "MultiBoostClassifier",
    "PoolBoostClassifier",
    "RealAdaBoostClassifier",
    "edge_bound",
    "error_bound",
    "filtering_error",
    "largest_margin",
    "margin_bound",
    "margin_generalization_bound",
    "pseudo_loss_bound",
    "squared_error_bound",
    "vc_dimension_of_votes",
    "vc_generalization_bound",
    "vote_bound",
]
