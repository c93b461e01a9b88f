"""What every public estimator promises: scikit-learn's checks, and our own.

Estimators are found in the package's exports, so a new one is checked as soon as it is public.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from itertools import groupby, product
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import clone, is_regressor
from sklearn.ensemble import BaggingClassifier as TheirBagging
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator
from tests import shared
from tests.shared import assert_same_forest, public_estimators

from orfeon import (
    AdaBoostOCClassifier,
    AdaBoostPairwiseClassifier,
    AdaBoostR2Regressor,
    BaggedBoostingClassifier,
    BaggedBoostingRegressor,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    C45RulesClassifier,
    CalibratedEnsemble,
    CARTClassifier,
    CARTRegressor,
    ClassSwitchingClassifier,
    CombinedMultipleModels,
    ConformalClassifier,
    ConformalRegressor,
    CostThresholdClassifier,
    DynamicSelectionClassifier,
    FlippingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IGPTreeClassifier,
    OutputSmearingRegressor,
    ParallelPerceptronClassifier,
    ParallelPerceptronRegressor,
    PPBoostClassifier,
    PPTSSClassifier,
    PrunedClassifier,
    PrunedRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    WaggingClassifier,
)
from orfeon.ordering import GASEN, BoostingBased, OutputClustering

# Orders by angles warn when nothing sets the samples apart, as it happens in problems this small.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*degrees from the diagonal:UserWarning"),
    # Labels drawn at random, or that one test tells apart, leave boosting nothing to do; tables of
    # a few rows leave nothing to set aside. It says so.
    pytest.mark.filterwarnings("ignore:.*no better than chance:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*the first member:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*there was nothing to boost:UserWarning"),
    pytest.mark.filterwarnings("ignore:.* requested, because:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*so nothing determines when to stop:UserWarning"),
]

CART = CARTClassifier(pruning="cv", n_folds=3)
CART_OF_NUMBERS = CARTRegressor(pruning="cv", n_folds=3)
#: What is pruned: small bags; smaller samples leave more samples out.
BAG, BAG_OF_NUMBERS = BaggingClassifier(CART, 5), BaggingRegressor(CART_OF_NUMBERS, 5)
# So small that some sample is left out of every bag, also where most of them are copies.
SMALL_BAG = BaggingClassifier(CART, 5, max_samples=0.2)
SMALL_BAG_OF_NUMBERS = BaggingRegressor(CART_OF_NUMBERS, 5, max_samples=0.2)

#: What is stacked, cascaded or judged.
TWO = [("tree", CARTClassifier(max_depth=5)), ("bag", BaggingClassifier(n_estimators=5))]
TWO_OF_NUMBERS = [("tree", CARTRegressor(max_depth=5)), ("bag", BaggingRegressor(n_estimators=5))]

#: Settings besides the defaults that take other ways through the code.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "BaggingClassifier": [
        {"estimator": CARTClassifier(pruning="cv", n_folds=3), "max_samples": 0.6},
        {"estimator": C45Classifier(), "bootstrap": False, "max_samples": 0.5},
        {"estimator": IGPTreeClassifier(), "bootstrap": "balanced"},
        {"class_weight": "balanced", "combine": "soft"},
        {"combine": "naive_bayes", "n_estimators": 10},
    ],
    "ClassSwitchingClassifier": [{"combine": "weighted", "n_estimators": 10}],
    "AdaBoostClassifier": [
        {"estimator": CARTClassifier(max_depth=3)},
        {"estimator": C45Classifier(), "on_failure": "bootstrap", "min_weight": 1e-8},
        {"sampling": "resample", "on_failure": "restart"},
        {"algorithm": "samme", "n_iter_no_change": 2, "validation_fraction": 0.3},
        {"combine": "naive_bayes", "n_estimators": 10},
        {"learning_rate": 0.5, "step": "constant", "perfect_member": "drop"},
    ],
    "AdaBoostM2Classifier": [{"sampling": "resample"}],
    "AdaBoostMHClassifier": [{"joint": False}],
    "AdaBoostR2Regressor": [{"loss": "square", "sampling": "weights"}],
    "AdaBoostRRegressor": [{"sampling": "resample"}],
    "ArbiterClassifier": [{"decision": "weighted", "see_answers": False}],
    "ArcX4Classifier": [{"estimator": C45Classifier(), "sampling": "weights"}],
    "BaggedBoostingClassifier": [
        {"estimator": GradientBoostingClassifier(n_estimators=5), "n_folds": None},
        {"n_estimators": 3, "n_folds": 2, "class_weight": "balanced", "combine": "majority"},
    ],
    "BaggedBoostingRegressor": [
        {
            "estimator": GradientBoostingRegressor(n_estimators=5, learning_rate=0.5),
            "n_folds": None,
            "max_samples": 0.7,
        },
        {"n_estimators": 3, "n_folds": 2, "early_stopping": False},
    ],
    "BaggingRegressor": [
        {"estimator": CARTRegressor(pruning="cv", n_folds=3), "bootstrap": "balanced"},
        {"bootstrap": False, "max_samples": 0.5},
    ],
    "BalancedSubsetsClassifier": [
        {"sampling": "random", "ratio": 2.0, "n_estimators": 3, "estimator": C45Classifier()},
        {"combine": "soft", "ratio": 0.5},
    ],
    "CascadeClassifier": [{"in_sample": True}],
    "CascadeRegressor": [{"in_sample": True}],
    "ConformalClassifier": [
        {"estimator": RandomForestClassifier(10, max_samples=0.3), "on": "out_of_bag"},
    ],
    "ConformalRegressor": [
        {"estimator": RandomForestRegressor(10, max_samples=0.3), "on": "out_of_bag"},
    ],
    "CostCascadeClassifier": [{"confidence": 0.9, "costs": [1, 5]}],
    "CostSensitiveClassifier": [{"estimator": C45Classifier()}],
    "CostThresholdClassifier": [{"estimator": CARTClassifier(max_depth=4)}],
    "DoubleBaggingClassifier": [{"estimator": C45Classifier(), "combine": "soft"}],
    "DynamicSelectionClassifier": [
        {"rule": "ola", "on": "train"},
        {"rule": "meta_des", "on": "validation"},
        # With a few members, each of them sees all of four different samples.
        {"rule": "clusters", "estimator": BaggingClassifier(n_estimators=100)},
    ],
    "EnsembleSelectionClassifier": [{"loss": "error", "n_bags": 1}, {"weights": [1, 3]}],
    "EnsembleSelectionRegressor": [{"loss": "absolute_error", "n_bags": 1}, {"weights": [1, 3]}],
    "ExtraTreesClassifier": [{"max_features": 1, "bootstrap": True, "class_weight": "balanced"}],
    "FilterBoostClassifier": [{"sampling": "weights", "depth": 2}, {"sampling": "resample"}],
    "GradientBoostingClassifier": [
        # A leaf of one class decides whatever the other weighs, which a check does not expect.
        {"order": 1, "subsample": 0.8, "max_features_per_tree": 0.7, "min_samples_leaf": 8},
        {"order": 1, "tree_method": "histogram", "max_leaf_nodes": 8, "max_depth": None},
        {"n_iter_no_change": 2, "max_features": 0.7},
        {"init": CARTClassifier(max_depth=1, min_samples_leaf=10)},
        {"early_stopping": "validation", "n_iter_no_change": 3},
        {"multi_strategy": "multi_output_tree", "n_iter_no_change": 2},
        {
            "tree_method": "histogram",
            "sampling": "gradient",
            "subsample": 1.0,
            "min_samples_leaf": 2,
        },
    ],
    "GradientBoostingRegressor": [
        {"order": 1, "loss": "absolute_error"},
        {"order": 1, "loss": "huber", "tree_method": "histogram"},
        # Not the quantile loss: the checks set alpha=0.01, which to them is a penalty.
        {"n_iter_no_change": 3, "subsample": 0.7},
        {"init": CARTRegressor(max_depth=1), "n_iter_no_change": 3},
        {"l1": 0.1, "interaction_cst": "pairwise"},
    ],
    "IGPEnsembleClassifier": [{"criterion": "entropy", "class_weight": "balanced"}],
    "MixtureOfExpertsClassifier": [{"expert": CARTClassifier(max_depth=3), "max_iter": 5}],
    "MixtureOfExpertsRegressor": [{"expert": CARTRegressor(max_depth=3), "max_iter": 5}],
    "OutputCodeClassifier": [{"code": "one_vs_one", "decoding": "hard"}],
    "PoolBoostClassifier": [
        {"algorithm": "m1"},
        {"rule": "soft_margin"},
        {"rule": "lp", "nu": 0.3},
    ],
    "RealAdaBoostClassifier": [
        {"confidence": "probability", "estimator": CARTClassifier(max_depth=3)},
        {"sampling": "resample", "learning_rate": 0.5},
    ],
    "PPBoostClassifier": [
        {"mode": "adaboost", "sampling": "resample", "on_failure": "stop"},
        {"mode": "negative", "on_failure": "bootstrap", "quasi_noisy": "all"},
        {"mode": "positive", "n_iter_no_change": 2, "validation_fraction": 0.3},
    ],
    "PPTSSClassifier": [
        {"keep_quasi_noisy": True, "quasi_noisy": "vote"},
        {"estimator": ParallelPerceptronClassifier(mode="incremental"), "max_rounds": 3},
    ],
    "ParallelPerceptronClassifier": [
        {"mode": "incremental", "rule": "p_delta"},
        {"learning_rate": "adaptive", "early_stopping": True, "divide_inputs": False},
        {"multi_class": "one_vs_one", "class_weight": "balanced", "init": "unit"},
        {"tune_margin": False, "learning_rate": "constant", "n_perceptrons": 1},
    ],
    "ParallelPerceptronRegressor": [
        {"mode": "incremental", "divide_inputs": False},
        {"rule": "p_delta", "standardize": False},
    ],
    "PartitionedClassifier": [{"n_partitions": 2, "n_estimators": 2}],
    "PrunedClassifier": [
        {"estimator": SMALL_BAG, "on": "out_of_bag", "rule": "reduce_error", "keep": 2},
        {"estimator": SMALL_BAG, "on": "out_of_bag", "rule": "boosting_based", "keep": "auto"},
        {"on": "validation", "rule": "complementarity"},
        {"keep": "auto"},
        {"rule": "orientation", "keep": "rule"},
        {"rule": GASEN(10, 5), "keep": "rule"},
        {"rule": "utility", "keep": "rule"},
        {"rule": BoostingBased(stop=True, weighted_vote=True), "keep": "rule"},
    ],
    "PrunedRegressor": [
        {"estimator": SMALL_BAG_OF_NUMBERS, "on": "out_of_bag", "rule": "complementarity"},
        {"on": "validation", "validation_fraction": 0.4},
        {"rule": "individual_error", "keep": "auto"},
        {"rule": OutputClustering(3, weighted_vote=True), "keep": "rule"},
    ],
    "RandomForestClassifier": [
        {"features_per": "tree", "max_features": "log2", "criterion": "entropy"},
        {"max_features": 1, "class_weight": "balanced", "bootstrap": False},
    ],
    "RandomForestRegressor": [
        {"features_per": "tree", "max_features": 0.7},
        {"combine": "weighted", "n_estimators": 10},
    ],
    "RandomSubspaceClassifier": [{"estimator": C45Classifier(), "max_features": None}],
    "StackingClassifier": [{"final_estimator": "meta_tree"}, {"passthrough": True, "cv": 3}],
    "StackingRegressor": [{"passthrough": True, "cv": 3}],
    "WaggingClassifier": [{"noise": "poisson"}, {"estimator": C45Classifier(), "scale": 0.5}],
    "WaggingRegressor": [{"noise": "poisson"}],
    "C45Classifier": [
        {"pruning": False, "min_samples_leaf": 1, "mdl_penalty": False},
        {"grouping": True, "gain_ratio": False},
    ],
    "C45RulesClassifier": [{"exceptions": "binomial", "min_samples_leaf": 1, "grouping": True}],
    "CARTClassifier": [
        {"pruning": "cv"},
        {"pruning": "cv", "pruning_rule": "min", "criterion": "entropy", "n_folds": 3},
        {"pruning": 0.01, "criterion": "entropy"},
        {"max_features": "sqrt", "n_best": 3},
        {"max_leaf_nodes": 5, "min_samples_leaf": 2},
        {"min_samples_leaf": 0.05, "min_samples_split": 0.2},
        {"min_impurity_decrease": 0.01, "max_depth": 4},
        {"class_weight": "balanced"},
        {"class_weight": "balanced", "pruning": "cv", "criterion": "entropy"},
        {"pruning": "cv", "keep_a_split": "path", "equal_rows": "apart", "n_folds": 4},
        {"class_weight": "balanced", "min_samples_leaf": 4, "min_samples_split": 9},
    ],
    "CARTRegressor": [
        {"pruning": "cv"},
        {"pruning": "cv", "pruning_rule": "min", "keep_a_split": False, "n_folds": 3},
        {"pruning": 0.01},
        {"max_leaf_nodes": 5, "min_samples_leaf": 2},
        {"max_features": 0.5, "n_best": 3},
    ],
    "IGPTreeClassifier": [{"criterion": "entropy", "max_depth": 3}, {"class_weight": "balanced"}],
    "RandomTreeClassifier": [
        {"max_features": None},
        {"criterion": "entropy", "max_depth": 3},
        {"class_weight": "balanced"},
    ],
    "StumpClassifier": [{"criterion": "entropy"}, {"class_weight": "balanced"}],
}

#: Settings that scikit-learn's checks are run with, and nothing else.
ONLY_CHECKED = [
    AdaBoostR2Regressor(n_estimators=3, sampling="weights"),
    C45Classifier(pruning=False, mdl_penalty=False, random_ties=True),
    CombinedMultipleModels(
        TheirBagging(DecisionTreeClassifier(), n_estimators=3),
        DecisionTreeClassifier(),
        n_generated=100,
    ),
    CombinedMultipleModels(
        RandomForestClassifier(n_estimators=3), CARTClassifier(), generation="marginals"
    ),
]


#: A leaf whose classes are tied takes its parent's label (Gelfand et al. 1991); scikit-learn asks
#: for the first of the tied classes. So its checks run with settings that leave no tied leaf.
LEAVES_TIES = ("max_leaf_nodes", "max_depth")


#: Noise is put on the targets, or steps are added up: predictions are no averages of targets.
MAY_LEAVE_THE_RANGE = (
    OutputSmearingRegressor,
    GradientBoostingRegressor,
    BaggedBoostingRegressor,
)


#: They consist of no trees: tests/perceptrons, tests/combining, tests/boosting/test_bagged.py and
#: tests/trees/test_c45_rules.py ask them for the same promises.
WITHOUT_TREES = (
    BaggedBoostingClassifier,
    BaggedBoostingRegressor,
    C45RulesClassifier,
    ParallelPerceptronClassifier,
    ParallelPerceptronRegressor,
    PPBoostClassifier,
    PPTSSClassifier,
    *(kind for kind in public_estimators().values() if kind.__module__.startswith("orfeon.comb")),
)


def make(estimator: Any, setting: dict[str, Any]) -> Any:
    """An estimator with a setting; ensembles are small ones, as far as they learn anything then."""
    n_members = 51 if estimator in (ClassSwitchingClassifier, FlippingClassifier) else 3
    n_members = 15 if estimator is AdaBoostOCClassifier else n_members  # each knows two colours
    few: dict[str, Any] = {"n_estimators": n_members, "n_committees": n_members}
    if estimator in (PrunedClassifier, PrunedRegressor):
        bag = BAG if estimator is PrunedClassifier else BAG_OF_NUMBERS
        few = {"estimator": bag, "keep": 0.4}
    if estimator.__module__.startswith("orfeon.combining"):
        pair = TWO_OF_NUMBERS if is_regressor(estimator()) else TWO
        few = {"estimators": pair, "n_experts": 2, "depth": 1, "n_init": 1, "estimator": CART}
    if estimator is CalibratedEnsemble:
        few = {"estimator": RandomForestClassifier(20)}
    if estimator is DynamicSelectionClassifier:
        few = {"estimator": BAG, "on": "validation"}
    if estimator is ConformalRegressor:
        few = {"estimator": CARTRegressor(max_depth=4), "cv": 4}
    if estimator is ConformalClassifier:
        few = {"estimator": CARTClassifier(max_depth=4), "cv": 4}
    if estimator is CombinedMultipleModels:
        few = {"ensemble": BaggingClassifier(C45Classifier(), n_estimators=5), "n_generated": 200}
    accepted = estimator().get_params()
    if isinstance(accepted.get("learning_rate"), float):  # a few small steps lead nowhere
        few = {"n_estimators": 10, "learning_rate": 0.5}
    return estimator(**{name: few[name] for name in few if name in accepted} | setting)


def every_setting(ties: bool = True) -> list[Any]:
    """Each public estimator with its defaults, then with its other settings."""
    return [
        make(estimator, setting)
        for name, estimator in public_estimators().items()
        for setting in [{}, *SETTINGS.get(name, [])]
        if ties or not set(LEAVES_TIES) & set(setting)
    ]


def to_check() -> list[Any]:
    """What scikit-learn's checks are run with: the defaults, and every setting if thorough."""
    if shared.thorough:
        return [*every_setting(ties=False), *ONLY_CHECKED]
    return [make(estimator, {}) for estimator in public_estimators().values()]


@cache
def label(value: Any) -> str:
    """The name of a case; texts of estimators are slow to write, so they are written once."""
    return str(getattr(value, "__name__", value))


WITH_TREES = [e for e in every_setting() if not isinstance(e, WITHOUT_TREES)]
each_setting = pytest.mark.parametrize("estimator", WITH_TREES, ids=label)
#: Each class with its defaults; if thorough, with every setting.
each_class = pytest.mark.parametrize(
    "estimator",
    WITH_TREES if shared.thorough else [next(same) for _, same in groupby(WITH_TREES, key=type)],
    ids=label,
)
CLASSIFIERS = [e for e in WITH_TREES if not is_regressor(e)]
each_classifier = pytest.mark.parametrize("estimator", CLASSIFIERS, ids=label)


def in_pairs(estimators: list[Any], values: Sequence[Any]) -> list[Any]:
    """Each class with every value and each setting with some value; if thorough, all of them.

    Settings of a class take turns, so that pairs are covered, and not the whole product.
    """
    if shared.thorough:
        return list(product(estimators, values))
    pairs = []
    for _, group in groupby(estimators, key=type):
        settings = list(group)
        turns = range(max(len(settings), len(values)))
        pairs += [(settings[turn % len(settings)], values[turn % len(values)]) for turn in turns]
    return pairs


def each_pair(name: str, values: Sequence[Any], estimators: list[Any] = WITH_TREES) -> Any:
    """Parametrize a test by pairs of an estimator and a value."""
    return pytest.mark.parametrize(("estimator", name), in_pairs(estimators, values), ids=label)


_SKIPPED = (
    "check_array_api_input",
    "check_classifiers_multilabel_output_format_decision_function",
)


def test_the_estimators_are_found():
    found = public_estimators()
    assert {"CARTClassifier", "CARTRegressor", "IGPTreeClassifier", "StumpRegressor"} <= set(found)
    assert set(SETTINGS) <= set(found)


@pytest.mark.parametrize("estimator", to_check(), ids=label)
def test_scikit_learn_compatible(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    failed = {done["check_name"]: done["exception"] for done in results if done["exception"]}
    # The variable SCIPY_ARRAY_API must be set before SciPy is imported; the next test does it. Few
    # classifiers have a decision_function.
    for name in _SKIPPED:
        skipped = failed.pop(name, None)
        assert skipped is None or isinstance(skipped, SkipTest)
    assert failed == {}
    assert len(results) > 40


@pytest.mark.tools
def test_input_from_other_array_libraries():
    pytest.importorskip("array_api_strict")
    script = (
        "from sklearn.utils.estimator_checks import estimator_checks_generator\n"
        "from tests.shared import public_estimators\n"
        "for name, estimator in public_estimators().items():\n"
        "    for instance, check in estimator_checks_generator(estimator()):\n"
        "        if check.func.__name__ == 'check_array_api_input':\n"
        "            check(instance)\n"
        "            print(name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert set(done.stdout.split()) == set(public_estimators()), done.stderr
    assert done.returncode == 0, done.stderr


# -- data ------------------------------------------------------------------------------------------


def target_of(estimator: Any, signal: npt.NDArray[np.float64], n_classes: int = 3) -> Any:
    """A target that fits the estimator: numbers, or classes of equal size."""
    if is_regressor(estimator):
        return signal
    return np.argsort(np.argsort(signal)) * n_classes // len(signal)


def numbers(rng: np.random.Generator, n_rows: int) -> tuple[Any, npt.NDArray[np.float64]]:
    """Continuous and rounded columns, and a signal in them."""
    X = rng.normal(size=(n_rows, 4))
    X[:, 2:] = np.round(X[:, 2:], 1)
    return X, X[:, 0] + X[:, 2] ** 2 + rng.normal(size=n_rows)


def mixed_frame(rng: np.random.Generator, n_rows: int) -> tuple[Any, npt.NDArray[np.float64]]:
    """Continuous, rounded, categorical and boolean columns with missing values, and a signal."""
    pandas = pytest.importorskip("pandas")
    X, signal = numbers(rng, n_rows)
    codes = rng.integers(0, 6, n_rows)
    frame = pandas.DataFrame(
        {
            "fine": X[:, 0],
            "coarse": X[:, 2],
            "colour": pandas.Categorical.from_codes(codes, list("abcdef")),
            "word": pandas.array(rng.choice(["yes", "no", "perhaps"], n_rows), dtype="string"),
            "flag": rng.random(n_rows) < 0.5,
        }
    )
    for name in ("fine", "coarse", "colour", "word"):
        frame[name] = frame[name].mask(rng.random(n_rows) < 0.1)
    return frame, signal + np.isin(codes, [1, 4])


# -- weights ---------------------------------------------------------------------------------------


@each_pair("make_table", [numbers, mixed_frame])
def test_weight_k_is_k_copies_and_weight_zero_is_absence(estimator, make_table):
    """Exactly, in whatever order the rows come."""
    rng = np.random.default_rng(5)
    for n_classes in (2, 3, 6):
        X, signal = make_table(rng, 80)
        y = target_of(estimator, signal, n_classes)
        weights = rng.integers(0, 4, 80)
        copies = rng.permutation(np.repeat(np.arange(80), weights))
        moved = rng.permutation(80)
        estimator.set_params(random_state=int(rng.integers(1000)))
        weighted = estimator.fit(X, y, sample_weight=weights).forest_
        for rows, given in ((copies, None), (moved, weights[moved]), (moved, 1.0 * weights[moved])):
            table = X[rows] if isinstance(X, np.ndarray) else X.iloc[rows]
            other = estimator.fit(table, y[rows], sample_weight=given).forest_
            # The variance is a sum of floats, which knows the order of its terms.
            assert_same_forest(weighted, other, but=("leaf_impurity",))
            if weighted.impurity is not None:
                np.testing.assert_allclose(weighted.impurity, other.impurity, atol=1e-12)


@each_setting
def test_equal_fractional_weights_are_no_weights(estimator, waveform):
    """The unit that weights are measured in does not matter."""
    X, y = waveform
    y = target_of(estimator, X[:, 5] + y)
    estimator.set_params(random_state=0)
    decided = estimator.fit(X[:100], y[:100]).predict(X)
    for weight in (0.25, 2.0**-500):
        other = estimator.fit(X[:100], y[:100], sample_weight=np.full(100, weight))
        if is_regressor(estimator):
            np.testing.assert_allclose(other.predict(X), decided, atol=1e-11)
        else:
            np.testing.assert_array_equal(other.predict(X), decided)


# -- input -----------------------------------------------------------------------------------------


def memory_mapped(X: npt.NDArray[np.float64], folder: Path) -> npt.NDArray[np.float64]:
    np.save(folder / "X.npy", X)
    mapped: npt.NDArray[np.float64] = np.load(folder / "X.npy", mmap_mode="r")
    return mapped


def read_only(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    copy = X.copy()
    copy.setflags(write=False)
    return copy


@each_class
def test_the_layout_of_the_input_does_not_matter(estimator, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.integers(-20, 20, size=(60, 3)).astype(np.float64)
    y = target_of(estimator, X[:, 0] * X[:, 1] + rng.normal(size=60))
    weights = rng.integers(1, 4, 60)
    estimator.set_params(random_state=0)
    fitted = estimator.fit(X, y, sample_weight=weights)
    expected, decided = fitted.forest_, fitted.predict(X)
    spaced = np.zeros((120, 9))
    spaced[::2, ::3] = X
    reversed_rows = np.ascontiguousarray(X[::-1])[::-1]
    same = (
        read_only(X), memory_mapped(X, tmp_path), spaced[::2, ::3], reversed_rows,
        np.asfortranarray(X), X.astype(np.float32), X.astype(np.int64), X.astype(np.int8),
        X.astype(">f8"), X.astype(object), X.tolist(),
    )  # fmt: skip
    for given in same:
        again = estimator.fit(given, y, sample_weight=weights)
        assert_same_forest(again.forest_, expected)
        np.testing.assert_array_equal(again.predict(given), decided)
    for target in (y.tolist(), read_only(y), np.repeat(y, 2)[::2]):
        assert_same_forest(estimator.fit(X, target, sample_weight=weights).forest_, expected)
    for given in (weights.tolist(), weights.astype(np.float32), read_only(1.0 * weights)):
        assert_same_forest(estimator.fit(X, y, sample_weight=given).forest_, expected)


@each_setting
def test_fitting_changes_nothing_that_was_given(estimator):
    rng = np.random.default_rng(2)
    X, signal = numbers(rng, 50)
    y, weights = target_of(estimator, signal), rng.random(50)
    before = X.tobytes(), y.tobytes(), weights.tobytes()
    fitted = estimator.set_params(random_state=0).fit(X, y, sample_weight=weights)
    fitted.predict(X)
    assert (X.tobytes(), y.tobytes(), weights.tobytes()) == before


# -- randomness ------------------------------------------------------------------------------------


@each_setting
def test_random_state_fixes_everything(estimator):
    X, signal = mixed_frame(np.random.default_rng(3), 100)
    y = target_of(estimator, signal)
    for make in (lambda: 7, lambda: np.random.RandomState(7)):
        one = estimator.set_params(random_state=make()).fit(X, y)
        first, decided = one.forest_, one.predict(X)
        two = estimator.set_params(random_state=make()).fit(X, y)
        assert_same_forest(first, two.forest_)
        np.testing.assert_array_equal(decided, two.predict(X))


# -- extremes --------------------------------------------------------------------------------------


@cache
def extremes() -> dict[str, npt.NDArray[np.float64]]:
    """Tables at the edges of what a table may be."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 3))
    missing, both = X.copy(), X.copy()
    missing[:, 1] = np.nan
    both[:, 0], both[::3, 1] = 1.0, np.nan
    return {
        "one row": X[:1],
        "two rows": X[:2],
        "one feature": X[:, :1],
        "5000 features": rng.normal(size=(20, 5000)),
        "only constant columns": np.ones((40, 3)),
        "huge values": X * 1e300,
        "the largest floats": np.where(X > 0, 1.7e308, -1.7e308) * rng.uniform(0.9, 1, X.shape),
        "denormals": rng.integers(-50, 50, (40, 2)) * 5e-324,
        "neighbours": np.nextafter(1.0, 2.0) + np.spacing(1.0) * rng.integers(0, 9, (40, 2)),
        "negative zeros": np.where(X > 0, 0.0, -0.0),
        "a column without values": missing,
        "a constant and a half empty column": both,
        "no value at all": np.full((10, 2), np.nan),
    }


#: Tables of which no sample can be kept from the members: its copies are seen, or a class is lost.
ALL_ARE_SEEN = {
    "out_of_bag": ("one row", "only constant columns", "negative zeros"),
    "validation": (
        "one row", "two rows", "only constant columns", "negative zeros", "no value at all",
    ),
}  # fmt: skip


def is_all_seen(estimator: Any, name: str) -> bool:
    combine = getattr(estimator, "combine", "own")
    if name == "one row" and isinstance(estimator, CalibratedEnsemble):
        return False  # one class has nothing to calibrate
    if combine in ("weighted", "naive_bayes"):  # they learn from what members did not see
        return name == "one row"
    seen = ALL_ARE_SEEN.get(getattr(estimator, "on", "train"), ())
    return name in seen[:1] if is_regressor(estimator) else name in seen


@each_pair("name", list(extremes()))
def test_extreme_tables_are_learnt(estimator, name):
    X = extremes()[name]
    rng = np.random.default_rng(5)
    y = target_of(estimator, rng.normal(size=len(X)), min(len(X), 3))
    estimator.set_params(random_state=0)
    if is_all_seen(estimator, name):
        with pytest.raises(ValueError, match=r"1 sample|saw all the sam|holds out none of"):
            estimator.fit(X, y)
        return
    fitted = estimator.fit(X, y)
    forest = fitted.forest_.validate()
    predicted = fitted.predict(X)
    if not is_regressor(estimator):
        assert set(predicted) <= set(y)
        np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)
    elif not isinstance(estimator, MAY_LEAVE_THE_RANGE):
        assert predicted.min() >= y.min() - 1e-9
        assert predicted.max() <= y.max() + 1e-9
    if is_regressor(estimator) and not hasattr(fitted, "estimators_"):
        np.testing.assert_allclose(predicted.mean(), y.mean(), atol=1e-9)
    total = fitted.feature_importances_.sum()
    assert total == pytest.approx(1.0 if forest.n_leaves.max() > 1 else 0.0, abs=1e-12)


@each_setting
def test_one_class_or_one_value_is_a_leaf(estimator):
    X = np.random.default_rng(6).normal(size=(20, 2))
    y = np.full(20, 3.5) if is_regressor(estimator) else np.full(20, "only")
    fitted = estimator.fit(X, y)
    assert (fitted.forest_.n_leaves == 1).all()
    assert set(fitted.predict(X)) == {y[0]}
    assert fitted.feature_importances_.tolist() == [0.0, 0.0]


@each_classifier
def test_the_prediction_is_the_likeliest_class_and_in_a_tie_one_of_them(estimator, waveform):
    X, y = waveform
    if isinstance(estimator, CostThresholdClassifier):  # all errors cost the same
        estimator = clone(estimator).set_params(costs=1.0 - np.eye(3))
    fitted = estimator.set_params(random_state=0).fit(X[:80], y[:80])
    shares = fitted.predict_proba(X)
    chosen = shares[np.arange(len(X)), fitted.predict(X)]
    np.testing.assert_allclose(chosen, shares.max(axis=1), atol=1e-12)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), shares, atol=1e-12)


@each_pair("n_classes", [2, 4, 5, 300], CLASSIFIERS)
def test_any_number_of_classes(estimator, n_classes):
    if isinstance(estimator, AdaBoostPairwiseClassifier):
        n_classes = min(n_classes, 60)  # 300 classes are 44 850 pairs
    X = np.random.default_rng(7).normal(size=(3 * n_classes + 20, 3))
    y = np.arange(len(X)) % n_classes + 100
    fitted = estimator.set_params(random_state=0).fit(X, y)
    forest = fitted.forest_.validate()
    assert fitted.classes_.tolist() == list(range(100, 100 + n_classes))
    assert fitted.predict_proba(X).shape == (len(X), n_classes)
    # The weights of wagging are random, and combined multiple models makes samples of its own.
    if not isinstance(estimator, WaggingClassifier | CombinedMultipleModels):
        assert forest.value[0].sum() <= len(X) * (1 + 1e-9)
