"""The methods that a study compares, by name.

Each is an orfeon estimator with settings that suit most tables; nothing is tuned to one. They are
listed from simple to complex: baseline, single trees, independent ensembles, boosting, stacking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from orfeon.errors import ArgumentError, UserError
from orfeon.utils.text import did_you_mean, nearest

Task = Literal["classification", "regression"]

#: What a study may deliver: any model, one with an ONNX form, or a single ensemble or tree.
Deployable = Literal["any", "onnx", "single"]
DEPLOYABLE: tuple[Deployable, ...] = ("any", "onnx", "single")

#: Default number of members of an ensemble.
MEMBERS = 200

#: The method that others must beat; it is chosen only if there is no other.
BASELINE = "baseline"
#: The weighted mean of other methods.
SELECTION = "selection"

#: From the number of members, the seed and the number of threads to an estimator.
Build = Callable[[int, int, int | None], Any]


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

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that it can do."""
        return tuple(self.builds)

    def build(
        self,
        task: Task,
        seed: int,
        n_jobs: int | None = None,
        members: int | None = None,
        *,
        calibrated: bool = False,
    ) -> Any:
        """Make the estimator, of classes with calibrated probabilities if they are worth it."""
        if task not in self.builds:
            raise UserError(
                f"The method {self.name} is for {' and '.join(self.tasks)}, not for {task}."
            )
        wanted = self.members if members is None or self.members == 1 else members
        made = self.builds[task](wanted, seed, n_jobs)
        if calibrated and self.is_calibrated and task == "classification":
            made.set_params(calibrate="sigmoid")
        return made


def _majority(members: int, seed: int, n_jobs: int | None) -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


def _mean(members: int, seed: int, n_jobs: int | None) -> Any:
    from sklearn.dummy import DummyRegressor

    return DummyRegressor()


def _tree(name: str, **settings: Any) -> Build:
    def build(members: int, seed: int, n_jobs: int | None) -> Any:
        import orfeon

        return getattr(orfeon, name)(random_state=seed, **settings)

    return build


def _ensemble(name: str, base: str | None = None, **settings: Any) -> Build:
    """An ensemble, of trees with settings of their own if a kind of tree is named."""
    of_base = settings.pop("base_settings", {})

    def build(members: int, seed: int, n_jobs: int | None) -> Any:
        import orfeon

        given = dict(settings, n_estimators=members, random_state=seed)
        if base is not None:
            given["estimator"] = getattr(orfeon, base)(**of_base)
        if n_jobs is not None:
            given["n_jobs"] = n_jobs
        return getattr(orfeon, name)(**given)

    return build


def _committees(members: int, seed: int, n_jobs: int | None) -> Any:
    """Committees of nine boosted IGP trees, as published."""
    import orfeon

    n_committees = max(1, round(members / 9))
    return orfeon.IGPCommitteesClassifier(n_committees, 9, random_state=seed, n_jobs=n_jobs)


def _stack(task: Task) -> Build:
    """Different models, combined by a model trained on their cross-validated predictions."""

    def build(members: int, seed: int, n_jobs: int | None) -> Any:
        import orfeon

        kind = "Classifier" if task == "classification" else "Regressor"
        each = max(1, members // 2)
        models = [
            ("forest", getattr(orfeon, f"RandomForest{kind}")(each)),
            ("extra_trees", getattr(orfeon, f"ExtraTrees{kind}")(each)),
            ("boosting", getattr(orfeon, f"GradientBoosting{kind}")(n_estimators=each)),
        ]
        return getattr(orfeon, f"Stacking{kind}")(models, cv=3, random_state=seed, n_jobs=n_jobs)

    return build


def _selection(task: Task) -> Build:
    """What the selected models are given to; the study knows which, and their weights."""

    def build(members: int, seed: int, n_jobs: int | None) -> Any:
        import orfeon

        kind = "Classifier" if task == "classification" else "Regressor"
        return getattr(orfeon, f"EnsembleSelection{kind}")(random_state=seed)

    return build


def _both(name: str, base: str | None = None, **settings: Any) -> dict[str, Build]:
    """Classifier and regressor of one name."""
    return {
        "classification": _ensemble(
            f"{name}Classifier", base and f"{base}Classifier", **dict(settings)
        ),
        "regression": _ensemble(f"{name}Regressor", base and f"{base}Regressor", **dict(settings)),
    }


_PRUNED_TREE = {"pruning": "cv"}

#: The methods, by name.
METHODS = {
    method.name: method
    for method in (
        Method(
            "baseline", "baseline", "always predicts the largest class, or the mean",
            {"classification": _majority, "regression": _mean}, members=1,
        ),
        Method(
            "cart", "CART tree", "a binary tree, pruned by cross-validation",
            {
                "classification": _tree("CARTClassifier", **_PRUNED_TREE),
                "regression": _tree("CARTRegressor", **_PRUNED_TREE),
            },
            members=1,
        ),
        Method(
            "c45", "C4.5 tree", "C4.5 Release 8, pruned by its error estimate",
            {"classification": _tree("C45Classifier")}, members=1,
        ),
        Method(
            "igp_tree", "IGP tree", "grown and pruned in turns on two halves of the data",
            {"classification": _tree("IGPTreeClassifier")}, members=1, is_default=False,
        ),
        Method(
            "bagging", "bagging", "fully grown trees on bootstrap samples",
            _both("Bagging"), is_prunable=True, is_calibrated=True,
        ),
        Method(
            "bagging_pruned_trees", "bagging of pruned trees",
            "trees on bootstrap samples, pruned by cross-validation",
            _both("Bagging", "CART", base_settings=_PRUNED_TREE), is_prunable=True,
            is_calibrated=True,
        ),
        Method(
            "random_forest", "random forest", "bootstrap samples, random features at each node",
            _both("RandomForest"), is_prunable=True, is_calibrated=True,
        ),
        Method(
            "extra_trees", "extra-trees", "random features and random thresholds",
            _both("ExtraTrees"), is_calibrated=True,
        ),
        Method(
            "class_switching", "class-switching", "trees on partly switched labels",
            {"classification": _ensemble("ClassSwitchingClassifier")}, is_calibrated=True,
        ),
        Method(
            "output_smearing", "output smearing", "trees on noisy targets",
            {"regression": _ensemble("OutputSmearingRegressor")},
        ),
        Method(
            "igp_ensemble", "IGP ensemble", "IGP trees, each on new random halves",
            {"classification": _ensemble("IGPEnsembleClassifier")}, members=99, is_prunable=True,
            is_default=False,
        ),
        Method(
            "igp_committees", "IGP committees", "committees of nine boosted IGP trees",
            {"classification": _committees}, members=99,
        ),
        Method(
            "adaboost", "AdaBoost", "trees of depth 3 on reweighted samples",
            {
                "classification": _ensemble(
                    "AdaBoostClassifier", "CARTClassifier", base_settings={"max_depth": 3}
                ),
                "regression": _ensemble(
                    "AdaBoostR2Regressor", "CARTRegressor", base_settings={"max_depth": 6}
                ),
            },
        ),
        Method(
            "gradient_boosting", "gradient boosting", "trees fitted to the gradient of the loss",
            _both("GradientBoosting"), members=400,
        ),
        Method(
            "stacking", "stacking",
            "random forest, extra-trees and gradient boosting, combined by a model",
            {"classification": _stack("classification"), "regression": _stack("regression")},
            is_composed=True,
        ),
        Method(
            SELECTION, "ensemble selection",
            "a weighted mean of the models that are best together",
            {
                "classification": _selection("classification"),
                "regression": _selection("regression"),
            },
            is_derived=True,
        ),
    )
}  # fmt: skip


def chosen_methods(
    names: Sequence[str] | None, task: Task, deployable: Deployable = "any"
) -> list[Method]:
    able = [
        method for method in METHODS.values()
        if task in method.tasks and _is_deployable(method, deployable)
    ]  # fmt: skip
    wanted: set[str] = set()
    for name in ["default"] if names is None else names:
        if name == "default":
            wanted.update(method.name for method in able if method.is_default)
        elif name == "all":
            wanted.update(method.name for method in able)
        else:
            wanted.add(_known(name, task))
            if not _is_deployable(METHODS[name], deployable):
                raise ArgumentError(
                    "deployable", f"is {deployable}, which the method {name} is not; leave it out."
                )
    if not wanted:
        raise ArgumentError("methods", f"must name at least one method: {', '.join(METHODS)}.")
    chosen = [method for method in able if method.name in wanted]
    if all(method.is_derived for method in chosen):
        raise ArgumentError(
            "methods", f"{SELECTION} is a weighted mean of other methods; name some of them, too."
        )
    return chosen


def _is_deployable(method: Method, deployable: Deployable) -> bool:
    """Whether a model of this method may be delivered; a selection of exportable ones is one."""
    if deployable == "onnx":
        return not method.is_composed
    return deployable == "any" or not (method.is_composed or method.is_derived)


def _known(name: str, task: Task) -> str:
    """The name of a method that can do the task."""
    method = METHODS.get(name)
    if method is None:
        hint = did_you_mean(nearest(name, METHODS, n=1))
        raise UserError(f"Unknown method {name!r}.{hint} Available: {', '.join(METHODS)}.")
    if task not in method.tasks:
        able = ", ".join(m.name for m in METHODS.values() if task in m.tasks)
        raise UserError(f"The method {name} does not support {task}. Available: {able}.")
    return name
