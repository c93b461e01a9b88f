"""Ordered aggregation: put the members of an ensemble in a better order and keep the first few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import lazy_names

_HOMES = {
    "GASEN": "gasen",
    "ORDERING_RULES": "rule",
    "Arrangement": "rule",
    "BoostingBased": "boosting_based",
    "Clustering": "clustering",
    "CombinedMultipleModels": "combined_multiple_models",
    "Complementarity": "complementarity",
    "CorrectnessGram": "gram",
    "EarlyStopping": "early_stopping",
    "ExhaustiveSearch": "exhaustive",
    "GeneticSearch": "genetic",
    "IndividualError": "individual_error",
    "KLDivergence": "kl_divergence",
    "Kappa": "kappa",
    "KappaHull": "kappa_hull",
    "MarginDistance": "margin_distance",
    "MetaTree": "meta_tree",
    "Order": "order_type",
    "Orientation": "orientation",
    "OutputClustering": "output_clustering",
    "PrunedClassifier": "pruned",
    "PrunedRegressor": "pruned",
    "RandomOrder": "random_order",
    "ReduceError": "reduce_error",
    "Rule": "rule",
    "Selection": "orfeon.members.votes",
    "SizeChoice": "auto_size",
    "Utility": "utility",
    "error_curve": "rule",
    "order": "ordering",
    "order_chunks": "chunks",
    "order_partitions": "partitioned",
    "order_votes": "ordering",
    "prune": "ordering",
    "prune_partitions": "partitioned",
    "prune_votes": "ordering",
    "read_selection": "orfeon.members.votes",
    "reference_direction": "orientation",
    "search_exhaustive": "exhaustive",
    "search_exhaustive_votes": "exhaustive",
    "search_genetic": "genetic",
    "search_genetic_votes": "genetic",
    "single_tree": "merged_trees",
}

if TYPE_CHECKING:
    from orfeon.members.votes import Selection, read_selection
    from orfeon.ordering.auto_size import SizeChoice
    from orfeon.ordering.boosting_based import BoostingBased
    from orfeon.ordering.chunks import order_chunks
    from orfeon.ordering.clustering import Clustering
    from orfeon.ordering.combined_multiple_models import CombinedMultipleModels
    from orfeon.ordering.complementarity import Complementarity
    from orfeon.ordering.early_stopping import EarlyStopping
    from orfeon.ordering.exhaustive import (
        ExhaustiveSearch,
        search_exhaustive,
        search_exhaustive_votes,
    )
    from orfeon.ordering.gasen import GASEN
    from orfeon.ordering.genetic import GeneticSearch, search_genetic, search_genetic_votes
    from orfeon.ordering.gram import CorrectnessGram
    from orfeon.ordering.individual_error import IndividualError
    from orfeon.ordering.kappa import Kappa
    from orfeon.ordering.kappa_hull import KappaHull
    from orfeon.ordering.kl_divergence import KLDivergence
    from orfeon.ordering.margin_distance import MarginDistance
    from orfeon.ordering.merged_trees import single_tree
    from orfeon.ordering.meta_tree import MetaTree
    from orfeon.ordering.order_type import Order
    from orfeon.ordering.ordering import order, order_votes, prune, prune_votes
    from orfeon.ordering.orientation import Orientation, reference_direction
    from orfeon.ordering.output_clustering import OutputClustering
    from orfeon.ordering.partitioned import order_partitions, prune_partitions
    from orfeon.ordering.pruned import PrunedClassifier, PrunedRegressor
    from orfeon.ordering.random_order import RandomOrder
    from orfeon.ordering.reduce_error import ReduceError
    from orfeon.ordering.rule import ORDERING_RULES, Arrangement, Rule, error_curve
    from orfeon.ordering.utility import Utility

__all__ = [
    "GASEN",
    "ORDERING_RULES",
    "Arrangement",
    "BoostingBased",
    "Clustering",
    "CombinedMultipleModels",
    "Complementarity",
    "CorrectnessGram",
    "EarlyStopping",
    "ExhaustiveSearch",
    "GeneticSearch",
    "IndividualError",
    "KLDivergence",
    "Kappa",
    "KappaHull",
    "MarginDistance",
    "MetaTree",
    "Order",
    "Orientation",
    "OutputClustering",
    "PrunedClassifier",
    "PrunedRegressor",
    "RandomOrder",
    "ReduceError",
    "Rule",
    "Selection",
    "SizeChoice",
    "Utility",
    "error_curve",
    "order",
    "order_chunks",
    "order_partitions",
    "order_votes",
    "prune",
    "prune_partitions",
    "prune_votes",
    "read_selection",
    "reference_direction",
    "search_exhaustive",
    "search_exhaustive_votes",
    "search_genetic",
    "search_genetic_votes",
    "single_tree",
]


__getattr__ = lazy_names(__name__, _HOMES, moved={"RULES": "orfeon.ordering.ORDERING_RULES"})


def __dir__() -> list[str]:
    return sorted(__all__)
