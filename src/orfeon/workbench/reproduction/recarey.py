"""Recarey's three studies: single models and ensembles side by side.

Settings are chosen by grid search in three folds of the training part; the table is of the fifth
that was set aside, the box plot of five folds of the training part.

What differs from the text is told in :mod:`orfeon.workbench.reproduction.recarey_data` and
:mod:`orfeon.workbench.reproduction.recarey_models`. Besides, so that a table takes minutes: the
search sees 6000 training samples at most and the box plot 10 000, and the support vector machine of
Adult is trained on 6000.

References
----------
Recarey (2021). Single models and ensembles side by side. Chapter 3, tables 3.3 to 3.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orfeon.workbench.reproduction.partitions import Partition
from orfeon.workbench.reproduction.recarey_conclusions import recarey_conclusions
from orfeon.workbench.reproduction.recarey_data import FifthsForTesting
from orfeon.workbench.reproduction.recarey_figures import (
    INCOMES,
    Figures,
    class_figures,
    price_figures,
)
from orfeon.workbench.reproduction.recarey_models import ADULT, CARS, DIGITS, Model
from orfeon.workbench.reproduction.recarey_rules import recarey_rule
from orfeon.workbench.reproduction.runs import Cell, Protocol, Results, Run

_LIMITS = {"n_tuning_rows": 6000, "n_fold_rows": 10_000}
_QUICK_LIMITS = {"n_training_rows": 1000}
_AVERAGES = ("avg=macro", "avg=weighted", "")
_CONFIGS = {
    "recarey-3.3": (*(f"class={name}" for name in INCOMES), *_AVERAGES),
    "recarey-3.4": _AVERAGES,
    "recarey-3.5": ("",),
}


def _figures(table: str, predictions: Any, y: Any) -> Figures:
    if table == "recarey-3.5":
        return price_figures(predictions, y)
    return class_figures(predictions, y, INCOMES if table == "recarey-3.3" else None)


def _run(table: str, model: Model, limits: Mapping[str, int], suffix: str = "") -> Run:
    cells = tuple(Cell(table, model.method, config) for config in _CONFIGS[table])

    def build(members: int, random_state: int, n_jobs: int | None) -> Any:
        return model.build(random_state, limits)

    def measure(tuned: Any, split: Partition) -> Results:
        figures = _figures(table, tuned.predict(split.X_test), split.y_test)
        figures[""] |= {
            f"fold_{number}": round(100.0 * float(score), 10)
            for number, score in enumerate(tuned.fold_scores_, start=1)
        }
        figures[""][f"chosen{suffix}"] = float(tuned.best_index_)
        return {cell: figures[cell.config] for cell in cells}

    return Run(model.method + suffix, cells, model.members, build, measure)


def _study(table: str, alias: str, title: str, models: Sequence[Model]) -> Protocol:
    return Protocol(
        table, FifthsForTesting(), tuple(_run(table, model, _LIMITS) for model in models),
        conclude=recarey_conclusions, rule=recarey_rule, title=title, alias=alias,
        quick_runs=tuple(
            _run(table, model.quick(), _QUICK_LIMITS, " quick") for model in models
        ),
        quick_note="1,000 training samples, small grids, ensembles of at most 20 members",
    )  # fmt: skip


#: The protocols of the three tables.
RECAREY = (
    _study("recarey-3.3", "p1", "scores of models and ensembles on Adult", ADULT),
    _study("recarey-3.4", "p2", "scores of models and ensembles on binary digits", DIGITS),
    _study("recarey-3.5", "p3", "errors of models and ensembles on car prices", CARS),
)
