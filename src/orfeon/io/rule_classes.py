"""Rules and losses that model files know, and what rules have learnt from samples."""

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
    "Majority": "orfeon.rules.votes",
    "Max": "orfeon.rules.supports",
    "Mean": "orfeon.rules.supports",
    "Median": "orfeon.rules.supports",
    "Min": "orfeon.rules.supports",
    "ModelAveraging": "orfeon.rules.model_averaging",
    "NaiveBayes": "orfeon.rules.naive_bayes",
    "Plurality": "orfeon.rules.votes",
    "Product": "orfeon.rules.supports",
    "Soft": "orfeon.rules.supports",
    "TrimmedMean": "orfeon.rules.supports",
    "Weighted": "orfeon.rules.votes",
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

#: What rules have learnt: home and features.
LEARNT: dict[str, tuple[str, dict[str, Kind]]] = {
    "Average": ("orfeon.rules.supports", {"weights": either(none, _NUMBERS)}),
    "ModelPosterior": (
        "orfeon.rules.model_averaging",
        {"log_weights": _LOGARITHMS, "variances": either(none, _NUMBERS)},
    ),
    "VoteLikelihoods": (
        "orfeon.rules.naive_bayes",
        {"log_priors": _LOGARITHMS, "log_likelihoods": array("f8", 3)},
    ),
    "WeightedVote": ("orfeon.rules.votes", {"weights": either(none, _NUMBERS)}),
}


def entries() -> Iterator[Entry]:
    """The classes, with what is known of them."""
    for name, home in {**ORDERING, **COMBINING, **LOSSES}.items():
        yield Entry(name, home, "call", None)  # constructors check their options
    for name, (home, kinds) in LEARNT.items():
        check = consistency.check_vote_likelihoods if name == "VoteLikelihoods" else None
        yield Entry(name, home, "call", kinds, check=check)
