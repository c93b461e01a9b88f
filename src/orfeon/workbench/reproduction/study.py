"""Forms of a study of models side by side: whose models, which settings, how many samples.

A table with a part ``study`` in its TOML file has these forms. Settings are those of the document,
or chosen from the ``grid`` of a run; models are ours, or the ``original`` of a run; scores on folds
of the training part are computed on request, where the table itself is not about them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from orfeon.errors import UserError
from orfeon.workbench.reproduction.measures import FOLDS, MEASURES
from orfeon.workbench.reproduction.results import Cell
from orfeon.workbench.reproduction.tuning import CrossValidated, searched

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.protocols import Run

MODELS = ("orfeon", "scikit-learn")
SETTINGS = ("published", "tuned")
#: The measure of a table that is about folds of the training part.
_OF_FOLDS = "price errors of folds"


@dataclass(frozen=True)
class Variant:
    """The form of a study: whose models, with which settings, on how many samples."""

    models: str = "orfeon"  # whose trees, ensembles and stacks; the others are scikit-learn's
    settings: str = "published"  # or "tuned" by grid search
    n_samples: int | None = None  # drawn from the file; by default as many as the table says
    folds: bool = False  # whether to score the models on folds of the training part, too

    def __post_init__(self) -> None:
        for name, allowed in (("models", MODELS), ("settings", SETTINGS)):
            given = getattr(self, name)
            if given not in allowed:
                raise UserError(f"{name} must be one of {', '.join(allowed)}, got {given!r}")
        if self.n_samples is not None and self.n_samples < 100:
            raise UserError(f"n_samples must be at least 100, got {self.n_samples}")

    def __str__(self) -> str:
        samples = "" if self.n_samples is None else f", {self.n_samples:,} samples"
        return f"{self.models} models, {self.settings} settings{samples}"

    def entry(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """A part ``runs`` of a TOML file with the estimator of this form."""
        is_original = self.models == "scikit-learn" and "original" in entry
        return {**entry, "estimator": entry["original" if is_original else "estimator"]}

    def runs(self, run: Run, entry: Mapping[str, Any], study: Mapping[str, Any]) -> Iterator[Run]:
        """The fits of a method in this form."""
        words = [run.name, self.settings]
        if self.models == "scikit-learn" and "original" in entry:
            words.append(self.models)
        n_samples = self.n_samples or study.get("samples")
        build = StudyBuild(run.build, self._grid(entry), study)
        run = replace(
            run,
            name=" ".join(words),
            build=build,
            drawn=_drawn(n_samples, study),
        )
        on_folds = replace(build, is_scored=True)
        place = Cell(run.cells[0].table, run.cells[0].method, FOLDS)
        if entry["measure"] == _OF_FOLDS:
            cells = (*run.cells, place)
            measure = partial(MEASURES[_OF_FOLDS], cells=cells)
            yield replace(run, cells=cells, build=on_folds, measure=measure)
            return
        yield run
        if self.folds:
            measure = partial(MEASURES["accuracy of folds"], cells=(place,))
            name = f"{run.name} folds"
            yield replace(run, name=name, cells=(place,), build=on_folds, measure=measure)

    def _grid(self, entry: Mapping[str, Any]) -> dict[str, list[Any]]:
        if self.settings == "published":
            return {}
        is_original = self.models == "scikit-learn"
        grid = entry.get("original_grid", entry["grid"]) if is_original else entry["grid"]
        return {name: [_value(item) for item in items] for name, items in grid.items()}


@dataclass(frozen=True)
class StudyBuild:
    """Makes a model with the given settings or those of a grid, fitted once or on folds."""

    build: Callable[[int, int, int | None], Any]
    grid: Mapping[str, Sequence[Any]] = field(hash=False)
    study: Mapping[str, Any] = field(hash=False)
    is_scored: bool = False

    def __call__(self, members: int, random_state: int, n_jobs: int | None) -> Any:
        model = self.build(members, random_state, n_jobs)
        if self.grid:
            model = searched(
                model, self.grid, self.study["search_folds"], self.study.get("scoring")
            )
        if not self.is_scored:
            return model
        stratified = self.study.get("stratified_folds", False)
        return CrossValidated(model, self.study["score_folds"], stratified=stratified)


def quick_run(run: Run, study: Mapping[str, Any]) -> Run:
    """The same with fewer members and samples."""
    n_samples = min(study["quick_samples"], int(run.drawn.get("samples", study["quick_samples"])))
    return replace(
        run,
        name=f"{run.name} quick",
        members=min(study["quick_members"], run.members),
        drawn=_drawn(n_samples, study),
    )


def _drawn(n_samples: int | None, study: Mapping[str, Any]) -> dict[str, str]:
    if n_samples is None:
        return {}
    return {"samples": str(n_samples), **({"in_order": ""} if study.get("in_order") else {})}


def _value(item: Any) -> Any:
    """A value of a grid as an estimator takes it."""
    if isinstance(item, list):
        return tuple(item)
    return None if item == "$none" else item
