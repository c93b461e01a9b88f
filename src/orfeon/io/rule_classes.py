"""Rules and losses that model files know, and what rules have learnt from examples."""

from __future__ import annotations

from collections.abc import Iterator

from orfeon.io import consistency
from orfeon.io.catalogue import Entry
from orfeon.io.kinds import Kind, array, either, none

#: Rules by which members are ordered.
ORDERING = {
    "BoostingBased": "orfeon.ordering.boosting_based",
    "Clustering": "orfeon.ordering.clustering",
    "Complementarity": "orfeon.ordering.complementarity",
    "IndividualError": "orfeon.ordering.individual_error",
    "Kappa": "orfeon.ordering.kappa",
    "MarginDistance": "orfeon.ordering.margin_distance",
    "MetaTree": "orfeon.ordering.meta_tree",
    "Orientation": "orfeon.ordering.orientation",
    "RandomOrder": "orfeon.ordering.random_order",
    "ReduceError": "orfeon.ordering.reduce_error",
}
#: Rules by which members are combined.
COMBINING = {
    "Majority": "orfeon.combining.votes",
    "Max": "orfeon.combining.supports",
    "Mean": "orfeon.combining.supports",
    "Median": "orfeon.combining.supports",
    "Min": "orfeon.combining.supports",
    "ModelAveraging": "orfeon.combining.model_averaging",
    "NaiveBayes": "orfeon.combining.naive_bayes",
    "Plurality": "orfeon.combining.votes",
    "Product": "orfeon.combining.supports",
    "Soft": "orfeon.combining.supports",
    "TrimmedMean": "orfeon.combining.supports",
    "Weighted": "orfeon.combining.votes",
}
#: What gradient boosting makes small.
LOSSES = {
    "AbsoluteError": "orfeon.boosting.losses",
    "ExponentialLoss": "orfeon.boosting.class_losses",
    "HuberError": "orfeon.boosting.losses",
    "LogLoss": "orfeon.boosting.class_losses",
    "MultinomialLoss": "orfeon.boosting.class_losses",
    "QuantileError": "orfeon.boosting.losses",
    "SquaredError": "orfeon.boosting.losses",
}

_NUMBERS = array("f8", 1, finite=True)
_LOGARITHMS = array("f8", 1)

#: What rules have learnt: home and attributes.
LEARNT: dict[str, tuple[str, dict[str, Kind]]] = {
    "Average": ("orfeon.combining.supports", {"weights": either(none, _NUMBERS)}),
    "ModelPosterior": (
        "orfeon.combining.model_averaging",
        {"log_weights": _LOGARITHMS, "variances": either(none, _NUMBERS)},
    ),
    "VoteLikelihoods": (
        "orfeon.combining.naive_bayes",
        {"log_priors": _LOGARITHMS, "log_likelihoods": array("f8", 3)},
    ),
    "WeightedVote": ("orfeon.combining.votes", {"weights": either(none, _NUMBERS)}),
}


def entries() -> Iterator[Entry]:
    """The classes, with what is known of them."""
    for name, home in {**ORDERING, **COMBINING, **LOSSES}.items():
        yield Entry(name, home, "call", None)  # constructors check their options
    for name, (home, kinds) in LEARNT.items():
        check = consistency.check_vote_likelihoods if name == "VoteLikelihoods" else None
        yield Entry(name, home, "call", kinds, check=check)
