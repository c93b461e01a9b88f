"""The methods that a study compares, by name.

Each is an estimator with settings that suit most tables; nothing is tuned to one. They are listed
from simple to complex: baseline, single trees, other simple models, independent ensembles,
boosting, stacking. Some families have a few settings that are good together: ensemble selection
takes what helps.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from orfeon.errors import ArgumentError, UserError
from orfeon.utils.text import did_you_mean, nearest
from orfeon.workbench.experiment import builders
from orfeon.workbench.experiment.builders import Build, Task, both, ensemble, tree

#: What a study may deliver: any model, one with an ONNX form, a single ensemble or tree, or a
#: model whose file is small.
Deployable = Literal["any", "onnx", "single", "small"]
DEPLOYABLE: tuple[Deployable, ...] = ("any", "onnx", "single", "small")

#: Default number of members of an ensemble.
MEMBERS = 200

#: The method that others must beat; it is chosen only if there is no other.
BASELINE = "baseline"
#: The weighted mean of other methods.
SELECTION = "selection"


@dataclass(frozen=True)
class Method:
    """A method of the workbench."""

    name: str
    title: str
    idea: str
    builds: Mapping[str, Build]
    members: int = MEMBERS
    is_prunable: bool = False
    is_default: bool = True
    #: Whether it is made of the others' out-of-fold predictions, and so needs no fits of its own.
    is_derived: bool = False
    #: Whether its shares of votes are worth calibrating: they cost one pass or one more fit.
    is_calibrated: bool = False
    #: Whether it is made of other models, and so has no ONNX form and is no single model.
    is_composed: bool = False

    #: Whether it takes numbers alone: features are filled in, encoded and scaled in each fold.
    needs_numbers: bool = False
    #: Whether it has an ONNX form.
    has_onnx: bool = True
    #: Power of the number of rows by which the time of a fit grows.
    growth: float = 1.1
    #: Whether its fits take weights of rows.
    takes_weights: bool = True
    #: The optional package that it is from. Model files do not hold its models, so it is compared
    #: where it is named, and never delivered.
    package: str = ""
    #: Parameters of the estimator that differ from those of the method of this name.
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that it can do."""
        return tuple(self.builds)

    @property
    def is_delivered(self) -> bool:
        """Whether a study may choose it."""
        return not self.package

    def estimator(self, task: Task, seed: int, n_jobs: int | None, members: int | None) -> Any:
        """The estimator itself, which reads features as they come to it."""
        if task not in self.builds:
            raise UserError(
                f"The method {self.name} is for {' and '.join(self.tasks)}, not for {task}."
            )
        wanted = self.members if members is None or self.members == 1 else members
        made = self.builds[task](wanted, seed, n_jobs)
        return made.set_params(**self.settings) if self.settings else made

    def build(
        self,
        task: Task,
        seed: int,
        n_jobs: int | None = None,
        members: int | None = None,
        *,
        X: Any = None,
        calibrated: bool = False,
    ) -> Any:
        """Make the estimator, of classes with calibrated probabilities if they are worth it.

        ``X`` are rows such as it will be fitted to; methods that need numbers read its columns.
        """
        made = self.estimator(task, seed, n_jobs, members)
        if calibrated and self.is_calibrated and task == "classification":
            made.set_params(calibrate="sigmoid")
        if not self.needs_numbers:
            return made
        return builders.on_numbers(made, X, self.settings)


class _Methods(dict[str, Method]):
    """The methods by name; also those of a grid, whose names hold their settings."""

    def __missing__(self, name: str) -> Method:
        base, brace, settings = name.partition("{")
        if not brace or base not in self:
            raise KeyError(name)
        given = json.loads(brace + settings)
        listed = ", ".join(f"{one} {_plain(value)}" for one, value in given.items())
        of = self[base]
        return replace(of, name=name, title=f"{of.title}, {listed}", settings=given)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def named_with_settings(base: str, settings: Mapping[str, Any]) -> str:
    """The name of a method with settings of one's own."""
    return base + json.dumps(dict(settings), separators=(",", ":"))


_PRUNED_TREE = {"pruning": "cv"}

#: The methods, by name.
METHODS = _Methods(
    (method.name, method)
    for method in (
        Method(
            "baseline", "baseline", "always predicts the largest class, or the mean",
            {"classification": builders.largest_class, "regression": builders.mean_target},
            members=1,
        ),
        Method(
            "cart", "CART tree", "a binary tree, pruned by cross-validation",
            {
                "classification": tree("CARTClassifier", **_PRUNED_TREE),
                "regression": tree("CARTRegressor", **_PRUNED_TREE),
            },
            members=1,
        ),
        Method(
            "c45", "C4.5 tree", "C4.5 Release 8, pruned by its error estimate",
            {"classification": tree("C45Classifier")}, members=1,
        ),
        Method(
            "igp_tree", "IGP tree", "grown and pruned in turn on two halves of the data",
            {"classification": tree("IGPTreeClassifier")}, members=1, is_default=False,
        ),
        Method(
            "linear", "linear model", "logistic or ridge regression on scaled features",
            {"classification": builders.logistic_regression, "regression": builders.ridge},
            members=1, needs_numbers=True,
        ),
        Method(
            "naive_bayes", "naive Bayes", "a normal distribution for each class and feature",
            {"classification": builders.naive_bayes}, members=1, needs_numbers=True,
        ),
        Method(
            "neighbors", "nearest neighbours", "the nearest training rows, weighted by distance",
            {
                "classification": builders.neighbors("Classifier", 20),
                "regression": builders.neighbors("Regressor", 15),
            },
            members=1, needs_numbers=True, has_onnx=False, takes_weights=False,
        ),
        Method(
            "kernel", "kernel machine",
            "a linear model of 300 radial basis functions around training rows",
            {
                "classification": builders.kernel_machine("classification"),
                "regression": builders.kernel_machine("regression"),
            },
            members=1, needs_numbers=True,
        ),
        Method(
            "network", "neural network", "one hidden layer of 32 units, or 100 for large tables",
            {
                "classification": builders.network("Classifier"),
                "regression": builders.network("Regressor"),
            },
            members=1, needs_numbers=True,
        ),
        Method(
            "bagging", "bagging", "fully grown trees on bootstrap samples",
            both("Bagging"), is_prunable=True, is_calibrated=True,
        ),
        Method(
            "bagging_pruned_trees", "bagging of pruned trees",
            "trees on bootstrap samples, pruned by cross-validation",
            both("Bagging", "CART", base_settings=_PRUNED_TREE), is_prunable=True,
            is_calibrated=True,
        ),
        Method(
            "random_forest", "random forest", "bootstrap samples, random features at each node",
            both("RandomForest"), is_prunable=True, is_calibrated=True,
        ),
        Method(
            "random_forest_half", "random forest of half the features",
            "half of the features at each node, leaves of 3 rows",
            both("RandomForest", max_features=0.5, min_samples_leaf=3), is_calibrated=True,
            is_default=False,
        ),
        Method(
            "extra_trees", "extra-trees", "random features and random thresholds",
            both("ExtraTrees"), is_calibrated=True,
        ),
        Method(
            "extra_trees_all", "extra-trees of all features",
            "random thresholds of all features, leaves of 3 rows",
            both("ExtraTrees", max_features=1.0, min_samples_leaf=3), is_calibrated=True,
            is_default=False,
        ),
        Method(
            "oblique_forest", "oblique forest", "random sums of features at each node",
            both("ObliqueForest"), members=100, is_default=False,
        ),
        Method(
            "class_switching", "class-switching", "trees on partly switched labels",
            {"classification": ensemble("ClassSwitchingClassifier")}, is_calibrated=True,
        ),
        Method(
            "output_smearing", "output smearing", "trees on noisy targets",
            {"regression": ensemble("OutputSmearingRegressor")},
        ),
        Method(
            "igp_ensemble", "IGP ensemble", "IGP trees, each on new random halves",
            {"classification": ensemble("IGPEnsembleClassifier")}, members=99, is_prunable=True,
            is_default=False, growth=1.6,
        ),
        Method(
            "igp_committees", "IGP committees", "committees of nine boosted IGP trees",
            {"classification": builders.committees}, members=99, growth=1.6,
        ),
        Method(
            "adaboost", "AdaBoost", "trees of depth 3 on reweighted samples",
            {
                "classification": ensemble(
                    "AdaBoostClassifier", "CARTClassifier", base_settings={"max_depth": 3}
                ),
                "regression": ensemble(
                    "AdaBoostR2Regressor", "CARTRegressor", base_settings={"max_depth": 6}
                ),
            },
        ),
        Method(
            "gradient_boosting", "gradient boosting", "trees fitted to the gradient of the loss",
            both("GradientBoosting"), members=400,
        ),
        Method(
            "gradient_boosting_shallow", "gradient boosting of depth 2",
            "trees of two levels, in more rounds",
            both("GradientBoosting", max_depth=2), members=600, is_default=False,
        ),
        Method(
            "gradient_boosting_deep", "gradient boosting of depth 8",
            "deep trees of 40% of the features, in small steps",
            both("GradientBoosting", max_depth=8, learning_rate=0.05, max_features=0.4),
            members=400, is_default=False,
        ),
        Method(
            "stacking", "stacking",
            "random forest, extra-trees and gradient boosting, combined by a model",
            {
                "classification": builders.stack("classification"),
                "regression": builders.stack("regression"),
            },
            is_composed=True, has_onnx=False,
        ),
        Method(
            "lightgbm", "LightGBM", "boosting of another package",
            builders.of_package("lightgbm", "LGBM", learning_rate=0.05,
                                subsample=0.8, subsample_freq=1, verbose=-1, n_jobs=1),
            members=300, is_default=False, has_onnx=False, package="lightgbm",
        ),
        Method(
            "xgboost", "XGBoost", "boosting of another package",
            builders.of_package("xgboost", "XGB", learning_rate=0.05, max_depth=6, subsample=0.8,
                                enable_categorical=True, n_jobs=1),
            members=300, is_default=False, has_onnx=False, package="xgboost",
        ),
        Method(
            "catboost", "CatBoost", "boosting of another package, on encoded features",
            builders.of_package("catboost", "CatBoost", learning_rate=0.05, verbose=False,
                                thread_count=1, allow_writing_files=False),
            members=300, is_default=False, has_onnx=False, package="catboost", needs_numbers=True,
        ),
        Method(
            SELECTION, "ensemble selection",
            "a weighted mean of the models that are best together",
            {
                "classification": builders.selection("classification"),
                "regression": builders.selection("regression"),
            },
            is_derived=True,
        ),
    )
)  # fmt: skip


def chosen_methods(
    names: Sequence[str] | None,
    task: Task,
    deployable: Deployable = "any",
    *,
    weighted: bool = False,
) -> list[Method]:
    """The methods of some names, simple ones first; a grid's follow the methods they are of."""
    able = [
        method for method in METHODS.values()
        if task in method.tasks and _is_deployable(method, deployable)
        and (method.takes_weights or not weighted) and _is_installed(method)
    ]  # fmt: skip
    wanted: set[str] = set()
    of_grid = [METHODS[name] for name in names or () if "{" in name]
    for name in ["default"] if names is None else names:
        if name == "default":
            wanted.update(method.name for method in able if method.is_default)
        elif name == "all":
            wanted.update(method.name for method in able if not method.package)
        else:
            known = _known(name, task)
            _check_usable(known, deployable, weighted)
            wanted.add(known.name)
    if not wanted:
        raise ArgumentError("methods", f"must name at least one method: {', '.join(METHODS)}.")
    places = {name: place for place, name in enumerate(METHODS)}
    chosen = [method for method in able if method.name in wanted]
    chosen += [method for method in of_grid if method.name in wanted]
    chosen.sort(key=lambda method: places[method.name.partition("{")[0]])
    if all(method.is_derived for method in chosen):
        raise ArgumentError(
            "methods", f"{SELECTION} is a weighted mean of other methods; name some of them, too."
        )
    if not any(method.is_delivered and not method.is_derived for method in chosen):
        raise ArgumentError(
            "methods",
            f"must name one that can be delivered: model files do not hold {chosen[0].title}.",
        )
    return chosen


def _check_usable(method: Method, deployable: Deployable, weighted: bool) -> None:
    """Reject a method that was named and cannot be used."""
    if not _is_deployable(method, deployable):
        raise ArgumentError(
            "deployable", f"is {deployable}, which the method {method.name} is not; leave it out."
        )
    if weighted and not method.takes_weights:
        raise ArgumentError(
            "weights", f"must be None, as the method {method.name} takes none; or leave it out."
        )
    if not _is_installed(method):
        raise ArgumentError(
            "methods", f"names {method.name}, which needs a package: pip install {method.package}."
        )


def _is_installed(method: Method) -> bool:
    return not method.package or importlib.util.find_spec(method.package) is not None


def _is_deployable(method: Method, deployable: Deployable) -> bool:
    """Whether a model of this method may be delivered; a selection of exportable ones is one."""
    if deployable == "onnx":
        return method.has_onnx or bool(method.package)
    return deployable != "single" or not (method.is_composed or method.is_derived)


def _known(name: str, task: Task) -> Method:
    """The method of a name, if it can do the task."""
    if name.partition("{")[0] not in METHODS:
        hint = did_you_mean(nearest(name, METHODS, n=1))
        raise UserError(f"Unknown method {name!r}.{hint} Available: {', '.join(METHODS)}.")
    method = METHODS[name]
    if task not in method.tasks:
        able = ", ".join(m.name for m in METHODS.values() if task in m.tasks)
        raise UserError(f"The method {name} does not support {task}. Available: {able}.")
    return method
