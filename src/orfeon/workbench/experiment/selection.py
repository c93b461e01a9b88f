"""Ensemble selection within a study: a weighted mean of the compared models.

Every run keeps its predictions of the rows that it was tested on. So the weighted mean needs no
fits of its own: for an outer fold, the weights are chosen by predictions of other rows, and the
mean is scored on the fold as any other candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orfeon.combining.greedy_selection import Loss, best_power, powered, select_greedily
from orfeon.data.training_set import relative_weights
from orfeon.utils.types import Floats, Integers
from orfeon.workbench.experiment.evaluation import confusions, packed, unpacked
from orfeon.workbench.experiment.methods import BASELINE, SELECTION
from orfeon.workbench.experiment.metrics import Answers, losses
from orfeon.workbench.experiment.plan import Folding, Plan

#: What the search makes small, by the metric of the study; log loss or squared error for others.
_LOSSES: dict[str, Loss] = {
    "brier": "brier", "mae": "absolute_error", "mape": "absolute_error",
    "median_error": "absolute_error",
}  # fmt: skip
#: Rows that a search reads at most: more change the weights little.
_MOST_ROWS = 20_000
_N_ROUNDS, _N_BAGS, _LEAST_WEIGHT = 50, 5, 0.03

Weights = Mapping[str, float]
Result = Mapping[str, Any]


@dataclass(frozen=True)
class Mean:
    """A weighted mean of models, and the power that its probabilities are raised to."""

    weights: Weights = field(default_factory=dict, hash=False)
    power: float = 1.0

    @classmethod
    def of(cls, result: Result) -> Mean:
        """The mean of a stored result; none if it failed."""
        return cls(result.get("weights", {}), result.get("power", 1.0))

    def __call__(self, predictions: Mapping[str, Floats]) -> Floats:
        """The mean of some models' predictions."""
        parts = [predictions[name] for name in self.weights]
        return powered(np.tensordot(list(self.weights.values()), parts, axes=1), self.power)


@dataclass(frozen=True)
class Limit:
    """What a model may need at most, and what the compared ones need."""

    most: float
    amounts: Mapping[str, float]

    def holds(self, names: Iterable[str]) -> bool:
        """Whether some models together keep to it."""
        return sum(self.amounts.get(name, np.inf) for name in names) <= self.most

    def largest(self, names: Iterable[str]) -> str:
        """The one that needs most."""
        return max(names, key=lambda name: self.amounts.get(name, np.inf))


class Selector:
    """Chooses weights by the predictions of some outer folds."""

    def __init__(
        self,
        plan: Plan,
        folding: Folding,
        outer: Mapping[tuple[int, str], Result],
        inner: Mapping[tuple[int, str], Sequence[Result]],
        *,
        row_weights: Floats | None = None,
        limits: Sequence[Limit] = (),
    ) -> None:
        self.plan, self.folding = plan, folding
        self._row_weights, self._limits = row_weights, limits
        self._outer, self._inner = outer, inner
        self._units = sorted({unit for unit, _ in outer})
        self._tests = {unit: folding.both(unit)[0].test for unit in self._units}
        self.names = [
            name
            for name in plan.fitted
            if name != BASELINE
            and plan.is_delivered(name)
            and all("predictions" in outer[unit, name] for unit in self._units)
            and all(
                "predictions" in one for unit in self._units for one in inner.get((unit, name), ())
            )
        ]

    @property
    def _loss(self) -> Loss:
        usual: Loss = "log_loss" if self.plan.task == "classification" else "squared_error"
        return _LOSSES.get(self.plan.metric, usual)

    def mean(self) -> Mean:
        """The mean of the final model, chosen by the predictions of all outer folds."""
        return self._by_units(self._units, 0)

    def mean_for(self, unit: int) -> Mean:
        """The mean chosen without the test rows of an outer fold."""
        if self.plan.n_inner:
            inner = [self._inner[unit, name] for name in self.names]
            tests = [split.test for split in self.folding.both(unit)[1]]
            return self._search(list(zip(*inner, strict=True)), tests, 1 + unit)
        others = self.plan.others(unit, self._units)
        if not others and self.plan.design == "time":  # nothing is known before the first rows
            return Mean(self._within_limits(lambda names: dict.fromkeys(names, 1.0 / len(names))))
        return self._by_units(others, 1 + unit)

    def _by_units(self, units: Sequence[int], seed: int) -> Mean:
        parts = [[self._outer[unit, name] for name in self.names] for unit in units]
        return self._search(parts, [self._tests[unit] for unit in units], seed)

    def _search(
        self, parts: Sequence[Sequence[Result]], tests: Sequence[Integers], seed: int
    ) -> Mean:
        """Search by the predictions of some test parts, a sequence of models for each."""
        if not parts or not self.names:
            return Mean()
        answers = np.concatenate(
            [np.stack([unpacked(one["predictions"]) for one in part]) for part in parts], axis=1
        )
        tested = np.concatenate(tests)
        rng = np.random.default_rng(np.random.SeedSequence([self.plan.seed, seed]))
        if len(tested) > _MOST_ROWS:
            rows = np.sort(rng.choice(len(tested), _MOST_ROWS, replace=False))
            answers, tested = answers[:, rows], tested[rows]
        weights = self._within_limits(lambda names: self._shares(names, answers, tested, rng))
        found = Mean(weights)
        if self._loss != "log_loss" or not weights:
            return found
        shares = found(dict(zip(self.names, answers, strict=True)))
        known = np.ones(len(tested)) if self._row_weights is None else self._row_weights[tested]
        return Mean(weights, best_power(shares, self.folding.y[tested], relative_weights(known)))

    def _within_limits(self, weigh: Callable[[list[str]], Weights]) -> Weights:
        """Weights of models that keep to all limits: what needs most is left out, one by one."""
        names = list(self.names)
        while names:
            found = weigh(names)
            exceeded = [limit for limit in self._limits if not limit.holds(found)]
            if not exceeded:
                return found
            names.remove(exceeded[0].largest(found))
        return {}

    def _shares(
        self, names: Sequence[str], answers: Floats, tested: Integers, rng: np.random.Generator
    ) -> Weights:
        """Weights of some models, by their predictions of these rows."""
        places = [self.names.index(name) for name in names]
        shares = select_greedily(
            answers[places], self.folding.y[tested],
            None if self._row_weights is None else self._row_weights[tested], loss=self._loss,
            n_rounds=_N_ROUNDS, n_bags=_N_BAGS, least_share=_LEAST_WEIGHT, rng=rng,
        ).weights  # fmt: skip
        found = zip(names, shares.tolist(), strict=True)
        return {name: share for name, share in found if share > 0}

    def result(self, unit: int) -> dict[str, Any]:
        """What a run of the weighted mean on an outer fold would have stored."""
        results = {name: self._outer[unit, name] for name in self.names}
        return self._scored(self.mean_for(unit), results, self._tests[unit])

    def inner_results(self, unit: int) -> list[dict[str, Any]]:
        """The same for its inner folds, each with weights chosen by the others."""
        inner = [self._inner[unit, name] for name in self.names]
        parts = list(zip(*inner, strict=True))
        tests = [split.test for split in self.folding.both(unit)[1]]
        found = []
        for i, (part, test) in enumerate(zip(parts, tests, strict=True)):
            others = [j for j in range(len(parts)) if j != i]
            mean = self._search([parts[j] for j in others], [tests[j] for j in others], 1 + unit)
            found.append(self._scored(mean, dict(zip(self.names, part, strict=True)), test))
        return found

    def _scored(self, how: Mean, results: Mapping[str, Result], test: Integers) -> dict[str, Any]:
        """The weighted mean of some predictions, as a result."""
        weights = how.weights
        if not weights:
            return {"failed": "No model predicted all folds, so there was nothing to select."}
        chosen = [results[name] for name in weights]
        mean = how({name: unpacked(results[name]["predictions"]) for name in weights})
        sizes = [one["sizes"][name] for name, one in zip(weights, chosen, strict=True)]
        amounts = [what for what in ("members", "nodes", "bytes") if what in sizes[0]]
        found: dict[str, Any] = {
            "n": chosen[0]["n"],
            "weights": weights,
            "power": how.power,
            "sizes": {SELECTION: {what: sum(one[what] or 0 for one in sizes) for what in amounts}},
            "predictions": packed(mean),
        }
        y, is_class = self.folding.y[test], self.plan.task == "classification"
        predicted: Any = mean.argmax(axis=1).astype(np.int64) if is_class else mean[:, 0]
        counted = None if self._row_weights is None else self._row_weights[test]
        scores = losses(Answers(y, predicted, mean, counted), self.plan.task, self.plan.metric)
        found["scores"] = {SELECTION: scores}
        if is_class:
            found["confusion"] = {SELECTION: confusions(y, predicted)}
        return found

    def timings(self, unit: int, of: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        """Times of the selected models, one after the other, from those of all models."""
        names = list(self.mean_for(unit).weights)
        found = {"fit": sum(of[name].get("fit", 0.0) for name in names)}
        for what in ("predict", "row"):
            found[f"{what} {SELECTION}"] = sum(of[one].get(f"{what} {one}", 0.0) for one in names)
        return found
