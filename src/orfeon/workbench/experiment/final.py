"""The final model of a study, and the models of its charts."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.combining.fitting import fit_with_weights
from orfeon.utils.types import Floats
from orfeon.workbench.experiment.choice import method_of
from orfeon.workbench.experiment.evaluation import (
    Evaluation,
    RunKey,
    first_members,
    one_blas_thread,
    order_members,
    take_rows,
)
from orfeon.workbench.experiment.methods import METHODS, SELECTION
from orfeon.workbench.experiment.out_of_fold import OutOfFold
from orfeon.workbench.experiment.outcome import Candidate, Showcase
from orfeon.workbench.experiment.plan import Folding, Plan
from orfeon.workbench.experiment.selection import Mean

#: Rows by which intervals and sets of a selection are made: more hardly change them.
_UNSEEN_ROWS = 5000
#: Keeps the seed of the final model apart from those of all runs.
_FINAL = 2**32 - 1


def fit_candidate(
    plan: Plan,
    name: str,
    X: Any,
    y: npt.NDArray[Any],
    seed: int,
    n_jobs: int | None,
    mean: Mean,
    row_weights: Floats | None = None,
) -> Any:
    """Train a candidate, and prune it if it is a pruned one; ``mean`` is of a selection."""
    settings: dict[str, Any] = {
        "n_jobs": n_jobs, "members": plan.members, "calibrated": True, "X": X,
    }  # fmt: skip
    model = METHODS[method_of(name)].build(plan.task, seed, **settings)
    if name == SELECTION:
        models = [(one, METHODS[one].build(plan.task, seed, **settings)) for one in mean.weights]
        model.set_params(estimators=models, weights=list(mean.weights.values()))
        if plan.task == "classification":
            model.set_params(power=mean.power)
    with one_blas_thread():
        model = fit_with_weights(model, X, y, row_weights, name)
    if "@" not in name:
        return model
    found = order_members(model, X, y, plan.rule, row_weights)
    return first_members(model, found, float(name.split("@")[1]))


def final_model(
    plan: Plan,
    name: str,
    X: Any,
    y: npt.NDArray[Any],
    n_jobs: int | None = None,
    mean: Mean | None = None,
    row_weights: Floats | None = None,
) -> Any:
    """The chosen candidate, trained on all samples."""
    words = [plan.seed, _FINAL, zlib.crc32(method_of(name).encode())]
    seed = int(np.random.SeedSequence(words).generate_state(1)[0] >> 1)
    return fit_candidate(plan, name, X, y, seed, n_jobs, mean or Mean(), row_weights)


def keep_unseen(
    model: Any,
    found: OutOfFold,
    folding: Folding,
    classes: npt.NDArray[Any],
    row_weights: Floats | None = None,
) -> None:
    """Give a selection the out-of-fold predictions that its intervals or sets are made of.

    Each row counts once: those of later repetitions are of the same rows.
    """
    is_first = [folding.repetition(unit) == folding.repetition(0) for unit in found.unit]
    rows = np.flatnonzero(is_first)
    if len(rows) > _UNSEEN_ROWS:
        rng = np.random.default_rng(np.random.SeedSequence([folding.seed, len(rows)]))
        rows = np.sort(rng.choice(rows, _UNSEEN_ROWS, replace=False))
    y = found.y[rows]
    weights = None if row_weights is None else row_weights[found.rows[rows]]
    model.keep_unseen(
        found.predictions[rows], classes[y] if found.is_classification else y, weights
    )


def showcase_names(chosen: str, candidates: Sequence[Candidate], most: int = 3) -> list[str]:
    """Candidates worth a picture: the chosen one, and the best ensembles beside it."""
    names = [chosen]
    if "@" in chosen:
        names.append(method_of(chosen))
    taken = {method_of(name) for name in names}
    for candidate in candidates:
        if len(names) == most:
            break
        if candidate.method not in taken and candidate.members > 1:
            names.append(candidate.name)
            taken.add(candidate.method)
    return names


def showcase(
    plan: Plan,
    evaluation: Evaluation,
    labels: npt.NDArray[Any],
    names: Sequence[str],
    X: Any,
    n_jobs: int | None = None,
    mean: Mean | None = None,
    n_splits: int = 1,
) -> Showcase:
    """Train some candidates on the first outer fold again, as its runs did."""
    splits = tuple(map(evaluation.folding.outer, range(n_splits)))
    split = splits[0]
    X_train, y_train = take_rows(X, split.train), labels[split.train]
    row_weights = None if evaluation.weights is None else evaluation.weights[split.train]
    models = {
        name: fit_candidate(
            plan, name, X_train, y_train,
            evaluation.random_state(RunKey(0, None, method_of(name))), n_jobs, mean or Mean(),
            row_weights,
        )
        for name in names
    }  # fmt: skip
    X_test, y_test = take_rows(X, split.test), labels[split.test]
    return Showcase(models, X_train, y_train, X_test, y_test, X, labels, splits)
