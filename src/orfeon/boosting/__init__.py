"""Boosted ensembles: members trained one after the other, on what those before got wrong."""

from orfeon.boosting.adaboost import AdaBoostClassifier
from orfeon.boosting.bounds import edge_bound, error_bound, margin_bound, pseudo_loss_bound

__all__ = [
    "AdaBoostClassifier",
    "edge_bound",
    "error_bound",
    "margin_bound",
    "pseudo_loss_bound",
]
