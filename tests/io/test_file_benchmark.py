"""The benchmark of model files measures both, ours and joblib's."""

from __future__ import annotations

import pytest
from benchmarks import model_files

pytestmark = pytest.mark.tools


def test_sizes_and_times_are_those_of_equal_forests():
    lines = model_files.sizes_and_times("c", model_files._classification, n_trees=10, rounds=1)
    assert [line.case for line in lines] == [
        "c, size", "c, load", "c, load with a memory map", "c, scikit-learn's in ours, size",
        "c, scikit-learn's in ours, load",
    ]  # fmt: skip
    size, load, mapped, other_size, other_load = lines
    assert 0.3 < size.figure < 0.5 < other_size.figure < 1.0
    assert size.detail["bytes"] == round(size.figure * size.detail["peer_bytes"])
    assert load.figure == 1000 * load.seconds > 0
    assert load.detail["trees"] == 10
    assert (str(load.target), str(mapped.target), other_load.target) == (
        "<= 50 ms",
        "<= 50 ms",
        None,
    )
