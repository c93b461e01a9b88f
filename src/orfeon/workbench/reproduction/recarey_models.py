"""The models of Recarey's three studies, and the settings that the grid search chooses from.

The published grids are not known to us: ours are small. They were made after a few trial fits, and
not changed after a full run; after a quick one the perceptron was given 200 epochs instead of 60,
its default. Trees are grown in full, alone and in ensembles: an accuracy of 0.81 on Adult,
as published, is that of such a tree. Members of boosting are stumps for classes and full trees for
prices. Trees and ensembles are ours; all else is of scikit-learn, with its defaults but for the
grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orfeon
from orfeon.workbench.reproduction.recarey_tuning import Tuned

Grid = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Model:
    """A method of a study."""

    method: str
    make: Callable[[], Any]
    grid: Grid
    members: int = 1
    n_training_rows: int | None = None

    def build(self, random_state: int, limits: Mapping[str, int]) -> Tuned:
        """The estimator, with its grid."""
        limits = dict(limits)
        own = [self.n_training_rows, limits.pop("n_training_rows", None)]
        rows = min((limit for limit in own if limit is not None), default=None)
        return Tuned(
            self.make(), self.grid, n_training_rows=rows, random_state=random_state, **limits
        )

    def quick(self) -> Model:
        """The same with a grid of at most two combinations, and at most 20 members."""
        grid: dict[str, Sequence[Any]] = {}
        for name, values in self.grid.items():
            is_members = name == "n_estimators"
            first = [min(20, values[0])] if is_members else values[:1]
            grid[name] = first
        widest = next((name for name in self.grid if name != "n_estimators"), None)
        if widest is not None:
            grid[widest] = self.grid[widest][:2]
        return replace(self, grid=grid, members=min(20, self.members))


def _logistic(**settings: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(**settings)


def _lda() -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis()


def _mlp(task: str) -> Any:
    from sklearn import neural_network

    kind = {"classes": neural_network.MLPClassifier, "prices": neural_network.MLPRegressor}[task]
    return kind()


def _knn(task: str) -> Any:
    from sklearn import neighbors

    kind = {"classes": neighbors.KNeighborsClassifier, "prices": neighbors.KNeighborsRegressor}
    return kind[task]()


def _gaussian_nb() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def _svm(task: str, **settings: Any) -> Any:
    from sklearn import svm

    return {"classes": svm.SVC, "prices": svm.SVR}[task](**settings)


def _linear() -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _adult_stack() -> Any:
    return orfeon.StackingClassifier(
        [
            ("random_forest", orfeon.RandomForestClassifier(50)),
            ("adaboost", orfeon.AdaBoostClassifier(n_estimators=100)),
            ("logistic_regression", _logistic(solver="newton-cholesky")),
        ],
        _logistic(), cv=3,
    )  # fmt: skip


def _digit_stack() -> Any:
    return orfeon.StackingClassifier(
        [
            ("random_forest", orfeon.RandomForestClassifier(100)),
            ("knn", _knn("classes")),
            ("svc", _svm("classes", C=10.0)),
        ],
        _logistic(), cv=3,
    )  # fmt: skip


def _car_stack() -> Any:
    return orfeon.StackingRegressor(
        [
            ("random_forest", orfeon.RandomForestRegressor(50)),
            ("knn", _knn("prices")),
            ("linear_regression", _linear()),
        ],
        _linear(), cv=3,
    )  # fmt: skip


def _classifiers(
    logistic: Model, svc: Model, adaboost: Model, stacking: Model
) -> tuple[Model, ...]:
    """The methods of a study of classes, in the order of its table."""
    return (
        Model(
            "cart", orfeon.CARTClassifier,
            {"criterion": ["gini", "entropy"], "max_features": [None, 0.5]},
        ),
        logistic,
        Model("lda", _lda, {"tol": [1e-4, 1e-2]}),
        Model(
            "mlp", lambda: _mlp("classes"),
            {"hidden_layer_sizes": [(50,), (100,)], "alpha": [1e-4]},
        ),
        Model("knn", lambda: _knn("classes"), {"n_neighbors": [5, 15, 31]}),
        Model("gaussian_nb", _gaussian_nb, {"var_smoothing": [1e-9, 1e-8, 1e-7]}),
        svc,
        Model(
            "bagging", lambda: orfeon.BaggingClassifier(orfeon.CARTClassifier(), n_jobs=1),
            {"n_estimators": [20, 50]}, 50,
        ),
        Model(
            "random_forest", lambda: orfeon.RandomForestClassifier(n_jobs=1),
            {"n_estimators": [100], "max_features": ["sqrt", 0.3]}, 100,
        ),
        adaboost,
        stacking,
    )  # fmt: skip


ADULT = _classifiers(
    # Features differ by a factor of 100 000: a solver of second order does not mind.
    Model(
        "logistic_regression", lambda: _logistic(solver="newton-cholesky"), {"C": [0.1, 1.0, 10.0]}
    ),
    Model("svc", lambda: _svm("classes"), {"C": [1.0, 10.0, 100.0]}, n_training_rows=6000),
    Model(
        "adaboost", lambda: orfeon.AdaBoostClassifier(n_jobs=1), {"n_estimators": [50, 200]}, 200
    ),
    Model("stacking", _adult_stack, {}, 150),
)
DIGITS = _classifiers(
    Model("logistic_regression", _logistic, {"C": [0.1, 1.0]}),
    Model("svc", lambda: _svm("classes"), {"C": [1.0, 10.0]}),
    Model(
        "adaboost", lambda: orfeon.AdaBoostClassifier(algorithm="samme", n_jobs=1),
        {"n_estimators": [50, 200]}, 200,
    ),
    Model("stacking", _digit_stack, {}, 100),
)  # fmt: skip
CARS = (
    Model("cart", orfeon.CARTRegressor, {"max_features": [None, 0.5]}),
    Model("linear_regression", _linear, {}),
    Model("knn", lambda: _knn("prices"), {"n_neighbors": [5, 15, 31]}),
    Model(
        "mlp", lambda: _mlp("prices"), {"hidden_layer_sizes": [(50,), (100,)], "alpha": [1e-4]}
    ),
    Model("svr", lambda: _svm("prices"), {"C": [1.0, 10.0]}),
    Model(
        "random_forest", lambda: orfeon.RandomForestRegressor(n_jobs=1),
        {"n_estimators": [100], "max_features": [1 / 3, 1.0]}, 100,
    ),
    Model(
        "bagging", lambda: orfeon.BaggingRegressor(orfeon.CARTRegressor(), n_jobs=1),
        {"n_estimators": [20, 50]}, 50,
    ),
    Model(
        "adaboost", lambda: orfeon.AdaBoostR2Regressor(orfeon.CARTRegressor(), n_jobs=1),
        {"n_estimators": [50], "loss": ["linear", "square"]}, 50,
    ),
    Model("stacking", _car_stack, {}, 50),
)  # fmt: skip
