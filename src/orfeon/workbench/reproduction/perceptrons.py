"""Parallel perceptrons on unbalanced samples: plain, after training-set selection, and boosted.

Every method has the settings it has by default, the same for all problems; the seed is all that is
given. What a model has right on a fold fills all cells of its method, of whatever measure and
table.

The baselines are scikit-learn's multilayer perceptron with one hidden layer of three units and a
learning rate of 1e-3, trained for 2000 epochs without a stop, on standardised features. They take
far longer than all the rest and are run on request only. The text does not say how the weights were
changed. Here it is by Adam, in mini-batches and without a penalty: by plain gradient descent the
networks are far from done after 2000 epochs.

References
----------
Cantador (2005). Aplicación de perceptrones paralelos y AdaBoost a problemas de clasificación de
muestra extrema. Universidad Autónoma de Madrid. Chapter 6.
"""

from __future__ import annotations

from typing import Any, Literal

from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import orfeon
from orfeon.workbench.reproduction.fold_outcome import FoldOutcome
from orfeon.workbench.reproduction.partitions import Partition
from orfeon.workbench.reproduction.runs import Build, Cell, Results, Run

_SELECTION = "cantador-6.3.1"
_ADABOOST, _BOOSTED_ACCURACIES, _BOOSTED_G = "cantador-6.4.1", "cantador-6.4.2", "cantador-6.4.3"
_MEMBERS = 10
_EPOCHS = 2000

#: The class of interest of each problem, which is the smaller one.
POSITIVE_CLASSES = {
    "ionosphere": ("b",),
    "diabetes": ("tested_positive",),
    "cancer": ("malignant",),
    "vehicle": ("saab",),
    "glass": ("headlamps",),
    "vowel": ("hid",),
    "thyroid": ("code1_hypo", "code2_subnormal"),
}
#: Problems that are better known by another name.
FILES = {"cancer": "breast_w"}


def _run(
    method: str,
    tables: tuple[str, ...],
    build: Build,
    *,
    members: int = 1,
    expected_warning: str | None = None,
    on_request: bool = False,
) -> Run:
    """A fit that fills one cell of each table."""
    config = f"T={members}" if members > 1 else ""
    cells = tuple(Cell(table, method, config) for table in tables)

    def measure(model: Any, split: Partition) -> Results:
        outcome = FoldOutcome.of(model, split)
        return dict.fromkeys(cells, outcome)

    return Run(method, cells, members, build, measure, expected_warning, on_request)


def _boosted(
    method: str,
    mode: Literal["adaboost", "negative", "positive", "balanced"],
    tables: tuple[str, ...],
) -> Run:
    def build(members: int, random_state: int, n_jobs: int | None) -> Any:
        return orfeon.PPBoostClassifier(
            n_estimators=members, mode=mode, random_state=random_state, n_jobs=n_jobs
        )

    return _run(method, tables, build, members=_MEMBERS)


def _network(random_state: int) -> Any:
    """The baseline; it is never done before its last epoch."""
    return MLPClassifier(
        (3,), alpha=0.0, learning_rate_init=1e-3, max_iter=_EPOCHS, tol=0.0,
        n_iter_no_change=_EPOCHS + 1, random_state=random_state,
    )  # fmt: skip


def _standardised(classifier: Any) -> Any:
    return make_pipeline(SimpleImputer(), StandardScaler(), classifier)


def _network_of(members: int, random_state: int, n_jobs: int | None) -> Any:
    return _standardised(_network(random_state))


def _boosted_networks(members: int, random_state: int, n_jobs: int | None) -> Any:
    """Members learn from weighted bootstrap samples: a network need not know weights."""
    return _standardised(
        orfeon.AdaBoostClassifier(
            _network(random_state), n_estimators=members, sampling="resample",
            random_state=random_state,
        )
    )  # fmt: skip


#: Said of every network that is trained to its last epoch.
_NOT_CONVERGED = r"Stochastic Optimizer: Maximum iterations \(\d+\) reached"

#: One model each: the multilayer perceptron, and parallel perceptrons on all or selected samples.
PLAIN = (
    _run(
        "mlp", (_SELECTION,), _network_of, expected_warning=_NOT_CONVERGED, on_request=True
    ),
    _run(
        "pp", (_SELECTION,),
        lambda _, seed, jobs: orfeon.ParallelPerceptronClassifier(random_state=seed),
    ),
    _run(
        "pptss_keep_wb", (_SELECTION,),
        lambda _, seed, jobs: orfeon.PPTSSClassifier(keep_quasi_noisy=True, random_state=seed),
    ),
    _run(
        "pptss", (_SELECTION,),
        lambda _, seed, jobs: orfeon.PPTSSClassifier(random_state=seed),
    ),
)  # fmt: skip
#: Ten members each.
BOOSTED = (
    _run(
        "mlp_adaboost", (_ADABOOST, _BOOSTED_G), _boosted_networks, members=_MEMBERS,
        expected_warning=_NOT_CONVERGED, on_request=True,
    ),
    _boosted("pp_adaboost", "adaboost", (_ADABOOST, _BOOSTED_G)),
    _boosted("ppboost_negative", "negative", (_BOOSTED_ACCURACIES, _BOOSTED_G)),
    _boosted("ppboost_positive", "positive", (_BOOSTED_ACCURACIES, _BOOSTED_G)),
    _boosted("ppboost_balanced", "balanced", (_BOOSTED_ACCURACIES, _BOOSTED_G)),
)  # fmt: skip
