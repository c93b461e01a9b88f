"""Boosted ensembles: members trained one after the other, on what those before got wrong."""

from orfeon.boosting.adaboost import AdaBoostClassifier
from orfeon.boosting.adaboost_m2 import AdaBoostM2Classifier
from orfeon.boosting.adaboost_mh import AdaBoostMHClassifier, AdaBoostPairwiseClassifier
from orfeon.boosting.arcing import ArcX4Classifier
from orfeon.boosting.bounds import edge_bound, error_bound, margin_bound, pseudo_loss_bound
from orfeon.boosting.multiboost import MultiBoostClassifier
from orfeon.boosting.output_codes import AdaBoostOCClassifier

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostM2Classifier",
    "AdaBoostMHClassifier",
    "AdaBoostOCClassifier",
    "AdaBoostPairwiseClassifier",
    "ArcX4Classifier",
    "MultiBoostClassifier",
    "edge_bound",
    "error_bound",
    "margin_bound",
    "pseudo_loss_bound",
]
