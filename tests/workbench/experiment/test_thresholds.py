"""The threshold of least cost, against every cut."""

from argparse import ArgumentTypeError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orfeon.workbench.experiment.thresholds import Costs, best_threshold


@given(st.integers(0, 10_000), st.integers(1, 30), st.booleans())
def test_no_other_cut_costs_less(seed, n, weighted):
    rng = np.random.default_rng(seed)
    share = rng.integers(0, 8, n) / 7  # ties, and probabilities of 0 and 1
    is_positive = rng.random(n) < share
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    costs = Costs(fn=float(rng.integers(1, 9)), fp=float(rng.integers(1, 9)))

    def cost_of(threshold):
        says = share >= threshold
        each = costs.fn * (is_positive & ~says) + costs.fp * (~is_positive & says)
        return np.average(each, weights=weights)

    found = best_threshold(is_positive, share, costs, weights)
    least = min(cost_of(cut) for cut in [*share, 1.1])
    assert found["cost"] == pytest.approx(least)
    assert cost_of(found["threshold"]) == pytest.approx(least)
    assert found["usual_cost"] == pytest.approx(cost_of(0.5))


def test_costs_are_read_and_mistakes_are_explained():
    assert Costs.read("fn=10, fp=1") == Costs(10.0, 1.0)
    for text, words in [
        ("fn=1", "must name fn and fp"),
        ("fn=a,fp=1", "'fn=a' is not"),
        ("fn=0,fp=1", "greater than 0"),
        ("fn=inf,fp=1", "greater than 0"),
    ]:
        with pytest.raises(ArgumentTypeError, match=words):
            Costs.read(text)
