"""How the estimators of a study's methods are made, each with settings that suit most tables.

A builder is called with the number of members, the seed and the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal

Task = Literal["classification", "regression"]

#: From the number of members, the seed and the number of threads to an estimator.
Build = Callable[[int, int, int | None], Any]


def largest_class(members: int, seed: int, n_jobs: int | None) -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


def mean_target(members: int, seed: int, n_jobs: int | None) -> Any:
    from sklearn.dummy import DummyRegressor

    return DummyRegressor()


def tree(name: str, **settings: Any) -> Build:
    def build(members: int, seed: int, n_jobs: int | None) -> Any:
        import orfeon

        return getattr(orfeon, name)(random_state=seed, **settings)

    return build


def ensemble(name: str, base: str | None = None, **settings: Any) -> Build:
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


def committees(members: int, seed: int, n_jobs: int | None) -> Any:
    """Committees of nine boosted IGP trees, as published."""
    import orfeon

    n_committees = max(1, round(members / 9))
    return orfeon.IGPCommitteesClassifier(n_committees, 9, random_state=seed, n_jobs=n_jobs)


def stack(task: Task) -> Build:
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


def of_package(package: str, prefix: str, **settings: Any) -> dict[str, Build]:
    """Estimators of an optional package, with the interface of scikit-learn."""

    def builds(kind: str) -> Build:
        def build(members: int, seed: int, n_jobs: int | None) -> Any:
            import importlib

            make = getattr(importlib.import_module(package), f"{prefix}{kind}")
            return make(n_estimators=members, random_state=seed, **settings)

        return build

    return {"classification": builds("Classifier"), "regression": builds("Regressor")}


def selection(task: Task) -> Build:
    """What the selected models are given to; the study knows which, and their weights."""

    def build(members: int, seed: int, n_jobs: int | None) -> Any:
        import orfeon

        kind = "Classifier" if task == "classification" else "Regressor"
        return getattr(orfeon, f"EnsembleSelection{kind}")(random_state=seed)

    return build


def both(name: str, base: str | None = None, **settings: Any) -> dict[str, Build]:
    """Classifier and regressor of one name."""
    return {
        "classification": ensemble(
            f"{name}Classifier", base and f"{base}Classifier", **dict(settings)
        ),
        "regression": ensemble(f"{name}Regressor", base and f"{base}Regressor", **dict(settings)),
    }


# -- models of scikit-learn, which take numbers alone ----------------------------------------------


def logistic_regression(members: int, seed: int, n_jobs: int | None) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=200)


def ridge(members: int, seed: int, n_jobs: int | None) -> Any:
    import numpy as np
    from sklearn.linear_model import RidgeCV

    return RidgeCV(alphas=tuple(np.logspace(-2, 3, 11).tolist()))


def neighbors(kind: str, n_neighbors: int) -> Build:
    """Nearest neighbours by comparing all rows: searched trees could not be saved safely."""

    def build(members: int, seed: int, n_jobs: int | None) -> Any:
        import sklearn.neighbors

        make = getattr(sklearn.neighbors, f"KNeighbors{kind}")
        return make(n_neighbors, weights="distance", algorithm="brute")

    return build


def naive_bayes(members: int, seed: int, n_jobs: int | None) -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB(var_smoothing=1e-3)


def network(kind: str) -> Build:
    """A network with one hidden layer, trained on all rows at once (L-BFGS)."""

    def build(members: int, seed: int, n_jobs: int | None) -> Any:
        import sklearn.neural_network

        made = getattr(sklearn.neural_network, f"MLP{kind}")(
            hidden_layer_sizes=(32,), alpha=1.0, solver="lbfgs", max_iter=200, random_state=seed
        )
        if kind == "Classifier":
            return made
        from sklearn.compose import TransformedTargetRegressor
        from sklearn.preprocessing import StandardScaler

        return TransformedTargetRegressor(made, transformer=StandardScaler())

    return build


#: Networks of larger tables are trained by few rows at a time, and stop by a tenth of the rows.
_LARGE = 250_000
_IN_STEPS = {
    "hidden_layer_sizes": (100,), "alpha": 0.01, "solver": "adam", "early_stopping": True,
    "max_iter": 100, "n_iter_no_change": 8,
}  # fmt: skip


def kernel_machine(task: Task) -> Build:
    """A linear model of 300 radial basis functions around training rows (Nyström's method)."""

    def build(members: int, seed: int, n_jobs: int | None) -> Any:
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import Pipeline

        linear = (
            LogisticRegression(C=10.0, max_iter=100)
            if task == "classification"
            else ridge(members, seed, n_jobs)
        )
        basis = Nystroem(n_components=300, random_state=seed)
        return Pipeline([("basis", basis), ("linear", linear)])

    return build


def on_numbers(model: Any, X: Any, given: Collection[str] = ()) -> Any:
    """A model that is trained on rows such as these, turned into numbers in each fold.

    The parameters that were ``given`` stay as they are.
    """
    from sklearn.pipeline import Pipeline

    from orfeon.combining.numeric_inputs import NumericInputs

    settings = model.get_params()
    wanted = settings.get("basis__n_components")
    if wanted is not None:  # not more functions than rows
        model.set_params(basis__n_components=min(wanted, len(X)))
    for name in ("", "regressor__"):
        is_network = f"{name}hidden_layer_sizes" in settings
        if is_network and len(X) * X.shape[1] > _LARGE:
            changed = {name + key: value for key, value in _IN_STEPS.items()}
            model.set_params(**{key: value for key, value in changed.items() if key not in given})
    return Pipeline([("inputs", NumericInputs()), ("model", model)])
