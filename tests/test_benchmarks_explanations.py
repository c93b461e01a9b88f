"""The benchmark of explanations runs, and compares answers."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import explanations
from benchmarks.explanations import Effort

pytestmark = pytest.mark.tools

TINY = Effort(n_trees=3, n_rows=12, share=2, n_background=8, n_pairs=3, rounds=1)


@pytest.mark.parametrize("kind", ["paths", "background", "interactions"])
def test_values_are_compared_with_those_of_the_package_shap(kind):
    pytest.importorskip("shap")
    (line,) = explanations.values("case", explanations.classification, kind, TINY, None)
    assert line.peer == "shap"
    assert line.seconds > 0
    assert (line.n, line.d) == (3 if kind == "interactions" else 12, 30)


def test_partial_dependence_is_compared_with_brute_force():
    (line,) = explanations.dependence("case", explanations.regression, TINY)
    assert line.peer == "scikit-learn, brute force"


def test_other_answers_are_an_error():
    with pytest.raises(AssertionError, match="differs by"):
        explanations._both(
            "case", (3, 1), lambda: np.zeros(3), lambda: np.ones(3), 1.0, 1, "peer", None
        )


def test_the_suite_names_its_cases():
    names = [case.name for case in explanations.suite(quick=True).cases]
    assert names[-1] == "partial dependence, forest"
    assert len(set(names)) == len(names)
