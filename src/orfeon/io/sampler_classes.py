"""Samplers of ours, and the pipeline of imbalanced-learn that they stand in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orfeon.io.catalogue import Entry, Fields
from orfeon.io.kinds import Kind, array, dictionary, labels, number, part, scalar, whole

#: What fitting sets in all of them.
_SELECTED: dict[str, Kind] = {
    "sampling_strategy_": dictionary(scalar, number()),
    "sample_indices_": array("i8", 1, low=0),
    "n_features_in_": whole(1),
    "feature_names_in_": labels,
}
#: What it sets besides.
_SAMPLERS: dict[str, dict[str, Kind]] = {
    "BorderSelection": {"n_rounds_": whole(0)},
    "PPTSSSampler": {"classifier_": part("PPTSSClassifier")},
    "WeightedDistanceEditing": {"distance_weights_": dictionary(scalar, number())},
}
_LEFT_OUT = frozenset({"_metadata_request", "_skl_callbacks"})


def _state(sampler: Any) -> Fields:
    """The attributes of a sampler; imbalanced-learn's ordered dict is a dict that remembers it."""
    kept = {name: value for name, value in vars(sampler).items() if name not in _LEFT_OUT}
    if "sampling_strategy_" in kept:
        kept["sampling_strategy_"] = {
            label: int(many) for label, many in kept["sampling_strategy_"].items()
        }
    return kept


def entries() -> Iterator[Entry]:
    """The classes, with what is known of them."""
    for name, more in _SAMPLERS.items():
        yield Entry(
            name,
            "orfeon",
            "state",
            _SELECTED | more,
            optional=frozenset({"feature_names_in_", "n_features_in_"}),
            to_state=_state,
            is_estimator=True,
        )
    yield Entry(
        "imblearn.Pipeline",
        "imblearn.pipeline",
        "state",
        {},
        left_out=_LEFT_OUT,
        is_estimator=True,
        attribute="Pipeline",
    )
