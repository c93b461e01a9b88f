"""What every public sampler promises: imbalanced-learn's checks and scikit-learn's, all of them.

Samplers are found in the exports, so a new one is checked as soon as it is public.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests import shared

import orfeon
import orfeon.imbalance

pytest.importorskip("imblearn")
from imblearn.base import is_sampler
from imblearn.utils import estimator_checks as imblearn_checks

#: Settings besides the defaults that take other ways through the code.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "WeightedDistanceEditing": [
        {"sampling_strategy": "all", "n_neighbors": 1},
        {"n_neighbors": NearestNeighbors(n_neighbors=5, metric="manhattan"), "n_jobs": 2},
    ],
    "BorderSelection": [
        {"sampling_strategy": "all", "n_neighbors": 2, "n_rounds": None},
        {"n_neighbors": NearestNeighbors(n_neighbors=2, metric="manhattan")},
    ],
    "SupportVectorSelection": [
        {"estimator": SGDClassifier(loss="log_loss"), "sampling_strategy": "not minority"},
        {"step": 0.2, "n_epochs": 1, "n_iter_no_change": 2, "max_rounds": 5},
    ],
    "IncrementalSelection": [
        {"estimator": SGDClassifier(loss="log_loss"), "sampling_strategy": "not minority"},
        {"initial_share": 0.3, "added_share": 0.2, "tolerance": 0.0, "n_epochs": 2},
    ],
    "DynamicPatternSelection": [
        {"estimator": SGDClassifier(loss="log_loss"), "sampling_strategy": "not minority"},
        {"validation_share": 0.5, "n_latest": 2, "tolerance": 0.0, "n_epochs": 2},
    ],
    "PPTSSSampler": [
        {"keep_quasi_noisy": True, "quasi_noisy": "vote"},
        # Not "majority": a check has three classes and wants the second largest to lose some too.
        {"sampling_strategy": "not minority"},
        {"estimator": orfeon.ParallelPerceptronClassifier(mode="incremental", max_iter=20)},
    ],
}


def public_samplers() -> dict[str, type]:
    """Every class with ``fit_resample`` that the package or its toolbox exports, by name."""
    homes = (orfeon, orfeon.imbalance)
    exported = {name: getattr(home, name) for home in homes for name in dir(home)}
    return {name: thing for name, thing in exported.items() if hasattr(thing, "fit_resample")}


def instances(others: bool = True) -> list[Any]:
    """Each sampler as it is by default, and in its other settings; seeded where it draws."""
    made = [
        sampler(**setting)
        for name, sampler in sorted(public_samplers().items())
        for setting in [{}, *(SETTINGS[name] if others else [])]
    ]
    for sampler in made:
        if "max_rounds" in sampler.get_params() and "n_epochs" in sampler.get_params():
            sampler.set_params(max_rounds=3)  # each round trains a network
        if "random_state" in sampler.get_params():
            sampler.set_params(random_state=0)
    return made


each_instance = pytest.mark.parametrize("sampler", instances(), ids=lambda sampler: str(sampler))


def test_the_samplers_are_found():
    expected = {
        "BorderSelection", "DynamicPatternSelection", "IncrementalSelection", "PPTSSSampler",
        "SupportVectorSelection", "WeightedDistanceEditing",
    }  # fmt: skip
    assert set(public_samplers()) == set(SETTINGS) == expected
    assert all(is_sampler(sampler) for sampler in instances())


# Its own parametrize_with_checks gives pytest a generator, which pytest warns of.
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pair
        for sampler in instances(others=shared.thorough)
        for pair in imblearn_checks.estimator_checks_generator(sampler)
    ],
    ids=imblearn_checks._get_check_estimator_ids,
)
def test_checks_of_imbalanced_learn(estimator, check):
    check(estimator)


@parametrize_with_checks(instances(others=shared.thorough))
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@each_instance
def test_wrong_parameters_are_told(sampler):
    imblearn_checks.check_param_validation(type(sampler).__name__, sampler)


@each_instance
def test_names_of_columns_are_kept_and_compared(sampler):
    pytest.importorskip("pandas")
    imblearn_checks.check_dataframe_column_names_consistency(type(sampler).__name__, sampler)


@each_instance
def test_the_layout_in_memory_does_not_matter(sampler):
    X, y = make_classification(300, weights=[0.8, 0.2], flip_y=0.1, random_state=0)
    plain, turned = (clone(sampler).fit_resample(Z, y) for Z in (X, np.asfortranarray(X)))
    np.testing.assert_array_equal(turned[0], plain[0])
    np.testing.assert_array_equal(turned[1], plain[1])
