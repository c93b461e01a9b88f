"""The corpus of the running release: a small model of every kind, saved, and what it says."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from sklearn import ensemble
from sklearn.base import is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.io.corpus.releases import ANSWERS, COLUMNS, answers, arithmetic, plain, prepared, table
from tests.shared import public_estimators

import orfeon
from orfeon.io import read_model
from orfeon.workbench.prepare import prepare

N_ROWS, N_ASKED = 24, 4
#: Few and small parts, where an estimator has such.
SMALL: dict[str, Any] = {
    "n_estimators": 2, "n_committees": 2, "max_iter": 4, "n_experts": 2, "depth": 1,
    "max_rounds": 2, "n_partitions": 2, "n_thresholds": 3, "n_perceptrons": 3, "n_generated": 30,
    "max_leaf_nodes": 6,
}  # fmt: skip
#: Answers that go through exponentials or matrix products of the processor's own.
CLOSE = (
    "AdaBoostPairwise", "BaggedBoostingClassifier", "CostCascade", "Experts",
    "GradientBoostingClassifier", "PP", "ParallelPerceptron", "RealAdaBoost", "Stacking",
    "sklearn_voting", "stacking_by_logistic",
)  # fmt: skip


def data() -> tuple[Any, Any, Any, Any]:
    """Rows of numbers, rows of numbers and words with some missing, classes, and a target."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(N_ROWS, 4)).round(3)
    signal = numbers[:, 0] + np.abs(numbers[:, 1]) + 0.5 * numbers[:, 2]
    classes = np.array(["high", "low", "middle"])[np.digitize(signal, [0.3, 1.2])]
    mixed = numbers.astype(object)
    mixed[:, 1] = np.array(list("abcde"))[np.digitize(numbers[:, 1], [-1, -0.3, 0.3, 1])]
    mixed[:, 3] = np.where(numbers[:, 3] > 0, "up", "down")
    mixed[::7, 0] = None
    mixed[3::11, 1] = None
    return numbers, mixed, classes, signal.round(3)


def small(kind: type) -> Any:
    """An estimator of a class with few members."""
    tree = orfeon.CARTClassifier(max_depth=3, random_state=0)
    pair = [("tree", tree), ("stump", orfeon.StumpClassifier(random_state=0))]
    stump = orfeon.StumpRegressor(random_state=0)
    two = [("tree", orfeon.CARTRegressor(max_depth=3, random_state=0)), ("stump", stump)]
    wanted = SMALL | {"random_state": 0}
    is_number = is_regressor(kind())
    if "estimators" in kind().get_params():
        wanted["estimators"] = two if is_number else pair
    if kind.__name__.startswith("Cost") and "estimator" in kind().get_params():
        wanted["estimator"] = orfeon.CARTClassifier(max_depth=4)
    if kind.__name__.startswith("Conformal"):
        cart = orfeon.CARTRegressor if is_number else orfeon.CARTClassifier
        wanted |= {"estimator": cart(max_depth=2), "cv": 2}
    if kind is orfeon.CalibratedEnsemble:
        wanted["estimator"] = orfeon.RandomForestClassifier(10, max_depth=3, random_state=0)
    if kind is orfeon.C45RulesClassifier:
        wanted["min_samples_leaf"] = 1  # for rules on words and on numbers
    if kind is orfeon.CombinedMultipleModels:
        wanted["ensemble"] = orfeon.BaggingClassifier(n_estimators=3, random_state=0)
    if kind.__name__.startswith(("DynamicSelection", "Pruned")):
        bag = orfeon.BaggingRegressor if is_number else orfeon.BaggingClassifier
        wanted["estimator"] = bag(n_estimators=10, random_state=0)
    if kind.__name__.startswith("BaggedBoosting"):
        boosting = (
            orfeon.GradientBoostingRegressor if is_number else orfeon.GradientBoostingClassifier
        )
        wanted |= {"estimator": boosting(n_estimators=3), "n_folds": 2}
    if kind.__name__.startswith("PP"):
        wanted["estimator"] = orfeon.ParallelPerceptronClassifier(max_iter=3)
    known = kind().get_params()
    return kind(**{name: value for name, value in wanted.items() if name in known})


def estimators() -> Iterator[tuple[str, Any, str]]:
    """Name, estimator and table: every public one, and some that hold others."""
    of_numbers = ("Oblique", "AdaBoostM2", "AdaBoostPairwise", "RandomSubspace", "Hierarchical")
    for name, kind in sorted(public_estimators().items()):
        yield name, small(kind), "numbers" if name.startswith(of_numbers) else "mixed"
    yield "bag_of_c45", orfeon.BaggingClassifier(orfeon.C45Classifier(), 2, random_state=0), "mixed"
    out_of_bag = orfeon.RandomForestClassifier(4, oob_score=True, random_state=0)
    yield "forest_out_of_bag", out_of_bag, "numbers"
    keeps = {"oob_score": True, "quantiles": True, "max_depth": 2, "random_state": 0}
    yield "forest_with_quantiles", orfeon.RandomForestRegressor(4, **keeps), "numbers"
    bag = orfeon.BaggingClassifier(n_estimators=5, combine="naive_bayes", random_state=0)
    yield "bag_by_naive_bayes", bag, "mixed"
    yield "bag_of_bayes", orfeon.BaggingClassifier(GaussianNB(), 2, random_state=0), "numbers"
    trees = DecisionTreeClassifier(max_depth=1)
    yield "boosted_sklearn_trees", orfeon.AdaBoostMHClassifier(trees, 1, random_state=0), "numbers"
    pair = [("bayes", GaussianNB()), ("tree", orfeon.CARTClassifier(max_depth=3, random_state=0))]
    stacked = orfeon.StackingClassifier(pair, final_estimator=LogisticRegression(), random_state=0)
    yield "stacking_by_logistic", stacked, "numbers"
    levels = {"loss": "quantile", "alpha": (0.1, 0.5, 0.9)}
    quantiles = orfeon.GradientBoostingRegressor(**levels, n_estimators=2, random_state=0)
    yield "boosted_quantiles", quantiles, "mixed"
    first = orfeon.CARTRegressor(max_depth=1, random_state=0)
    second = orfeon.GradientBoostingRegressor(init=first, n_estimators=2, random_state=0)
    yield "boosted_from_a_tree", second, "numbers"
    pool = orfeon.PoolBoostClassifier([GaussianNB(), orfeon.StumpClassifier()], 2, random_state=0)
    yield "pool_of_estimators", pool, "numbers"
    yield (
        "sklearn_forest",
        ensemble.RandomForestClassifier(3, max_depth=4, random_state=0),
        "numbers",
    )
    few = DecisionTreeRegressor(max_depth=2)
    yield "sklearn_bag", ensemble.BaggingRegressor(few, 2, random_state=0), "numbers"
    yield "sklearn_boosted", ensemble.AdaBoostClassifier(n_estimators=3, random_state=0), "numbers"
    voting = ensemble.VotingRegressor(
        [("ridge", Ridge()), ("tree", orfeon.CARTRegressor(random_state=0))]
    )
    yield "sklearn_voting", voting, "numbers"
    forest = ensemble.ExtraTreesClassifier(9, max_depth=3, random_state=0)
    yield (
        "pruned_sklearn_forest",
        orfeon.PrunedClassifier(forest, keep=3, random_state=0),
        "numbers",
    )
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-2)
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), [0, 2]),
            ("one_hot", OneHotEncoder(handle_unknown="ignore", sparse_output=False), [3]),
            ("codes", codes, [1]),
        ]
    )
    last = orfeon.RandomForestClassifier(3, random_state=0)
    yield "pipeline", make_pipeline(columns, last), "mixed"


def others(numbers: Any, mixed: Any, classes: Any) -> Iterator[tuple[str, Any, str]]:
    """Models that are no estimators, and samplers."""
    bag = orfeon.BaggingClassifier(n_estimators=5, random_state=0).fit(mixed, classes)
    weighted = orfeon.combine(bag, mixed, classes, rule="weighted", on="out_of_bag")
    yield "combination", weighted, "mixed"
    yield (
        "bare_forest",
        orfeon.CARTClassifier(random_state=0).fit(numbers, classes).forest_,
        "numbers",
    )
    ready = prepare(pandas.DataFrame(mixed, columns=COLUMNS).assign(target=classes), "target")
    forest = orfeon.RandomForestClassifier(3, random_state=0).fit(ready.X, ready.y)
    yield "prepared", (forest, ready.preparation), "mixed"
    from imblearn.pipeline import make_pipeline as make_sampled

    sampler = orfeon.BorderSelection(sampling_strategy="all")
    sampled = make_sampled(sampler, orfeon.CARTClassifier(max_depth=3, random_state=0))
    yield "sampled_pipeline", sampled.fit(numbers, classes), "numbers"
    for kind in (orfeon.BorderSelection, orfeon.PPTSSSampler, orfeon.WeightedDistanceEditing):
        sampler = small(kind)
        sampler.fit_resample(numbers, classes)
        yield kind.__name__, sampler, "numbers"


def fitted() -> Iterator[tuple[str, Any, str]]:
    """Every model of the corpus."""
    numbers, mixed, classes, target = data()
    for name, estimator, which in estimators():
        aim = target if is_regressor(estimator) else classes
        if name in ("PPBoostClassifier", "PPTSSClassifier"):  # two classes only
            aim = np.where(classes == "low", "low", "other")
        yield name, estimator.fit(numbers if which == "numbers" else mixed, aim), which
    yield from others(numbers, mixed, classes)


def write(folder: Path, *, only_new: bool = False) -> tuple[int, int]:
    """Write the files and what the models say; how many there are, and how large."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers, mixed, _, _ = data()
    # A category that there was not, too.
    unseen = [*mixed[: N_ASKED - 1].tolist(), [0.5, "never seen", 0.5, None]]
    tables = {"numbers": numbers[:N_ASKED].tolist(), "mixed": unseen}
    found = json.loads((folder / ANSWERS).read_text())["models"] if only_new else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model, which in fitted():
            if name in found:
                continue
            path = folder / f"{name}.orfeon"
            model, preparation = model if isinstance(model, tuple) else (model, None)
            orfeon.save(model, path, preparation=preparation, about={"corpus": name})
            content = read_model(path)
            said = answers(content.model, prepared(content, table(tables[which])))
            found[name] = {
                "table": which,
                "is_close": any(word in name for word in CLOSE),
                "answers": {method: plain(one) for method, one in said.items()},
            }
    content = {"arithmetic": arithmetic(), "tables": tables, "models": found}
    (folder / ANSWERS).write_text(json.dumps(content, sort_keys=True) + "\n")
    return len(found), sum(path.stat().st_size for path in folder.iterdir())
