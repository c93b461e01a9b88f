"""From the runs of a study to its figures: scores, the nested estimate, and the choice.

Candidates are chosen twice. For each outer fold, one is chosen by other rows (the other folds of
the repetition, or folds inside its training part) and scored on the outer test part: the mean of
these scores estimates the whole procedure, including the choice. Then the outer folds together
choose the candidate of the final model. Its own mean is the best of many, and so too optimistic to
report.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats
from orfeon.workbench.experiment.evaluation import RunKey, unpacked
from orfeon.workbench.experiment.methods import BASELINE, METHODS, SELECTION
from orfeon.workbench.experiment.outcome import Candidate, FoldCurves, Honest
from orfeon.workbench.experiment.plan import Folding, Plan
from orfeon.workbench.experiment.selection import Limit, Mean, Selector

if TYPE_CHECKING:
    from orfeon.statistics.t_tests import PairedTTest


#: Fewer folds are too few to estimate a spread from.
FEWEST_FOLDS = 4
#: Bytes of the largest model file that is called small.
SMALL_FILE = 1_000_000


@dataclass(frozen=True)
class Evidence:
    """The runs of a study, of its complete outer folds."""

    plan: Plan
    units: tuple[int, ...]
    outer: Mapping[tuple[int, str], dict[str, Any]] = field(hash=False)
    inner: Mapping[tuple[int, str], list[dict[str, Any]]] = field(hash=False)
    timings: Mapping[tuple[int, str], dict[str, float]] = field(hash=False)
    n_classes: int = 0
    #: The ensemble selection that is trained in the end.
    mean: Mean = field(default_factory=Mean)
    #: Number of rows of equal weight that tell as much, for each tested row.
    row_worth: float = 1.0

    @classmethod
    def of(
        cls,
        plan: Plan,
        rows: Sequence[Any],
        n_classes: int = 0,
        most: int | None = None,
        folding: Folding | None = None,
        row_weights: Floats | None = None,
    ) -> Evidence:
        """Sort the rows of a store; with the folds, ensemble selection is added to them."""
        outer, timings = {}, {}
        inner: dict[tuple[int, str], dict[int, dict[str, Any]]] = {}
        for row in rows:
            key = RunKey.read(row.key)
            place = (key.unit, key.method)
            if key.inner is None:
                outer[place], timings[place] = row.result, row.timings or {}
            else:
                inner.setdefault(place, {})[key.inner] = row.result
        complete = tuple(
            unit
            for unit in sorted({unit for unit, _ in outer})
            if all(
                (unit, name) in outer and len(inner.get((unit, name), {})) == plan.n_inner
                for name in plan.fitted
            )
        )
        units = complete[:most]
        listed = {place: [found[i] for i in sorted(found)] for place, found in inner.items()}
        outer = {place: found for place, found in outer.items() if place[0] in units}
        listed = {place: found for place, found in listed.items() if place[0] in units}
        timings = {place: found for place, found in timings.items() if place[0] in units}
        mean = Mean()
        worth = 1.0
        if row_weights is not None:  # Kish's effective sample size
            worth = float(row_weights.sum() ** 2 / (len(row_weights) * (row_weights**2).sum()))
        found = cls(plan, units, outer, listed, timings, n_classes, row_worth=worth)
        if SELECTION in plan.methods and folding is not None and units:
            limits = found.limits(plan.fitted)
            selector = Selector(
                plan, folding, outer, listed, row_weights=row_weights, limits=limits
            )
            mean = selector.mean()
            for unit in units:
                of_unit = {name: timings[unit, name] for name in plan.fitted}
                outer[unit, SELECTION] = selector.result(unit)
                if plan.n_inner:
                    listed[unit, SELECTION] = selector.inner_results(unit)
                timings[unit, SELECTION] = selector.timings(unit, of_unit)
        return replace(found, mean=mean)

    def limits(self, names: Iterable[str]) -> list[Limit]:
        """What the study's model may need at most, and what some candidates need."""
        listed, found = list(names), []
        if self.plan.latency is not None:
            found.append(Limit(self.plan.latency, {one: self.row_time(one) for one in listed}))
        if self.plan.deployable == "small":
            sizes = {one: self.size(one, "bytes") for one in listed if self.plan.is_delivered(one)}
            found.append(Limit(SMALL_FILE, sizes))
        return found

    @cached_property
    def eligible(self) -> list[str]:
        """The candidates that may be the final model."""
        names = [one for one in self.plan.candidates() if self.plan.is_delivered(one)]
        limits = self.limits(names)
        return [one for one in names if all(limit.holds([one]) for limit in limits)]

    def predictions(self, unit: int, name: str) -> Floats:
        """What a candidate predicted for the test rows of an outer fold."""
        result = self.outer[unit, method_of(name)]
        kept = result["pruned predictions"][name] if "@" in name else result["predictions"]
        return unpacked(kept)

    def row_time(self, name: str) -> float:
        """Mean time of the prediction of a single row."""
        method = method_of(name)
        found = [self.timings[unit, method].get(f"row {name}", math.nan) for unit in self.units]
        return float(np.mean(found)) if found else math.nan

    def outer_scores(self, name: str, metric: str) -> Floats:
        """A measure of a candidate on each outer fold."""
        method = method_of(name)
        return np.array(
            [_score(self.outer[unit, method], name, metric) for unit in self.units], dtype=float
        )

    def inner_mean(self, unit: int, name: str, metric: str) -> float:
        """Mean of a measure over folds that do not test on the rows of an outer fold."""
        found = [_score(result, name, metric) for result in self._apart(unit, name)]
        return float(np.mean(found)) if found else math.nan

    def inner_nodes(self, unit: int, name: str) -> float:
        """Mean number of nodes over the same folds."""
        return _mean_size(self._apart(unit, name), name, "nodes")

    def _apart(self, unit: int, name: str) -> Sequence[dict[str, Any]]:
        """Results of inner folds, or of the other outer folds of the repetition."""
        method = method_of(name)
        if self.plan.n_inner:
            return self.inner[unit, method]
        return [self.outer[one, method] for one in self.plan.others(unit, self.units)]

    def size(self, name: str, what: str) -> float:
        """Mean number of members or nodes of a candidate, over the outer folds."""
        method = method_of(name)
        return _mean_size([self.outer[unit, method] for unit in self.units], name, what)

    @cached_property
    def parts(self) -> npt.NDArray[np.int64]:
        """Numbers of training and test samples of each outer fold."""
        found = []
        for unit in self.units:
            results = (self.outer[unit, name] for name in self.plan.methods)
            known = next((result["n"] for result in results if "n" in result), None)
            if known is not None:
                found.append(known)
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    @property
    def sizes(self) -> tuple[float, float]:
        """Mean numbers of training and test samples of the outer folds."""
        if not len(self.parts):
            return math.nan, math.nan
        n_train, n_test = self.parts.mean(axis=0)
        return float(n_train), float(n_test)

    @property
    def test_ratio(self) -> float:
        """Mean ratio of test to training samples, which determines how dependent the folds are."""
        if not len(self.parts):
            return math.nan
        return float((self.parts[:, 1] / self.parts[:, 0]).mean())

    @property
    def rows_apart(self) -> Floats | None:
        """Test rows of each outer fold over the number of repetitions, for counts of errors."""
        if self.plan.metric != "error" or len(self.parts) != len(self.units):
            return None
        n_repetitions = len(self.units) / self._folds_apart
        return np.asarray(self.row_worth * self.parts[:, 1] / max(1.0, n_repetitions))

    @property
    def _folds_apart(self) -> int:
        """Number of folds that test on rows of their own."""
        return 1 if self.plan.design == "splits" else self.plan.n_folds

    @property
    def n_tested(self) -> int:
        """Samples that were tested on, each counted once."""
        return round(self.row_worth * int(self.parts[: self._folds_apart, 1].sum()))


def method_of(candidate: str) -> str:
    return candidate.partition("@")[0]


def best_of(scores: Mapping[str, float], nodes: Mapping[str, float]) -> str | None:
    """The candidate with the lowest score; of equal ones, the smallest model."""
    able = {name: score for name, score in scores.items() if not math.isnan(score)}
    if len(able) > 1:
        able.pop(BASELINE, None)
    if not able:
        return None

    def preference(name: str) -> tuple[float, float]:
        return able[name], _or_infinite(nodes.get(name, math.nan))

    return min(able, key=preference)


#: The measure by which a single candidate must not be worse than ensemble selection.
STRICT = {"classification": "log_loss", "regression": "rmse"}


def choose(
    scores: Mapping[str, float], strict: Mapping[str, float], nodes: Mapping[str, float]
) -> str | None:
    """The candidate to train: ensemble selection, unless another one is better or as good.

    A single candidate must have a lower score, which may be luck, as one of many, and also a
    log loss (or squared error) that is no higher.
    """
    best = best_of(scores, nodes)
    if best is None or math.isnan(scores.get(SELECTION, math.nan)):
        return best
    return best if strict[best] <= strict[SELECTION] else SELECTION


def chosen_of(evidence: Evidence) -> str | None:
    """The candidate of the final model, by all outer folds."""
    names = evidence.eligible
    metric, strict = evidence.plan.metric, STRICT[evidence.plan.task]
    return choose(
        {name: float(evidence.outer_scores(name, metric).mean()) for name in names},
        {name: float(evidence.outer_scores(name, strict).mean()) for name in names},
        {name: evidence.size(name, "nodes") for name in names},
    )


def honest_choice(evidence: Evidence) -> Honest | None:
    """What to expect of the study's own choice."""
    names = evidence.eligible
    metric, strict = evidence.plan.metric, STRICT[evidence.plan.task]
    chosen: dict[int, str] = {}
    for unit in evidence.units:
        best = choose(
            {name: evidence.inner_mean(unit, name, metric) for name in names},
            {name: evidence.inner_mean(unit, name, strict) for name in names},
            {name: evidence.inner_nodes(unit, name) for name in names},
        )
        if best is not None:
            chosen[unit] = best
    if not chosen:
        return None
    scores = {
        metric: np.array(
            [
                _score(evidence.outer[unit, method_of(name)], name, metric)
                for unit, name in chosen.items()
            ]
        )
        for metric in evidence.plan.metrics
    }
    return Honest(scores, _interval(evidence, scores[evidence.plan.metric]), tuple(chosen.values()))


def interval(scores: Floats, test_ratio: float, n_tested: int | None = None) -> tuple[float, float]:
    """95% interval of a mean over folds that share training samples (Nadeau and Bengio 2003)."""
    from scipy.stats import binomtest

    if (
        not len(scores)
        or not np.all(np.isfinite(scores))
        or (len(scores) < FEWEST_FOLDS and not n_tested)
    ):
        return math.nan, math.nan
    if len(scores) < FEWEST_FOLDS:  # too few to see how much they differ
        low, high = math.inf, -math.inf
    else:
        low, high = corrected_test(scores, np.zeros(len(scores)), test_ratio).interval(0.95)
    if n_tested:
        mean = float(scores.mean())
        exact = binomtest(round(mean * n_tested), n_tested).proportion_ci(method="exact")
        return max(0.0, min(low, float(exact.low))), min(1.0, max(high, float(exact.high)))
    return (math.nan, math.nan) if _is_constant(scores) else (low, high)


def _interval(evidence: Evidence, scores: Floats) -> tuple[float, float]:
    is_error = evidence.plan.metric == "error"
    return interval(scores, evidence.test_ratio, evidence.n_tested if is_error else None)


def corrected_test(first: Floats, second: Floats, test_ratio: float) -> PairedTTest:
    """The corrected resampled t-test, where only the ratio of the parts is known."""
    from orfeon.statistics import corrected_resampled_t_test

    n_train = 1_000_000  # only the ratio counts
    n_test = max(round(test_ratio * n_train), 1)
    return corrected_resampled_t_test(first, second, n_train=n_train, n_test=n_test)


def _is_constant(values: Floats) -> bool:
    """Whether values differ by no more than rounding."""
    return float(np.ptp(values)) <= 1e-12 * max(1.0, float(np.abs(values).max()))


def rank_candidates(evidence: Evidence) -> tuple[Candidate, ...]:
    """Every candidate with its figures."""
    from scipy.stats import rankdata

    plan = evidence.plan
    names = plan.candidates()
    counted = np.array([evidence.outer_scores(name, plan.metric) for name in names])
    filled = np.where(np.isnan(counted), np.inf, counted)
    ranks = rankdata(filled, axis=0).mean(axis=1)
    nodes = {name: evidence.size(name, "nodes") for name in names}
    best = chosen_of(evidence)
    against = None if best is None else counted[names.index(best)]
    found = [
        _candidate(evidence, name, float(ranks[i]), None if name == best else against)
        for i, name in enumerate(names)
    ]
    # Among equals the chosen one comes first, then the smallest.
    return tuple(
        found[i]
        for i in sorted(
            range(len(names)),
            key=lambda i: (filled[i].mean(), names[i] != best, _or_infinite(nodes[names[i]])),
        )
    )


def _candidate(evidence: Evidence, name: str, rank: float, best_scores: Floats | None) -> Candidate:
    plan = evidence.plan
    method = METHODS[method_of(name)]
    keep = float(name.partition("@")[2]) if "@" in name else None
    scores = {metric: evidence.outer_scores(name, metric) for metric in plan.metrics}
    times = [evidence.timings[unit, method.name] for unit in evidence.units]
    order = 0.0 if keep is None else _middle(times, "order")
    return Candidate(
        name, method.name, candidate_title(method.name, keep), method.idea, keep, scores,
        members=evidence.size(name, "members"),
        nodes=evidence.size(name, "nodes"),
        fit_seconds=_middle(times, "fit") + order,
        predict_seconds=_middle(times, f"predict {name}"),
        interval=_interval(evidence, scores[plan.metric]),
        rank=rank,
        p_versus_best=_p_value(
            scores[plan.metric], best_scores, evidence.test_ratio, evidence.rows_apart
        ),
        confusion=_confusion(evidence, name),
    )  # fmt: skip


def candidate_title(method: str, keep: float | None) -> str:
    """What a candidate is called in tables."""
    title = METHODS[method].title
    return title if keep is None else f"{title}, pruned to {100 * keep:g}%"


def mean_curves(evidence: Evidence) -> tuple[FoldCurves, ...]:
    """Error curves of the methods whose members were ordered, averaged over the outer folds."""
    found = []
    for name in evidence.plan.methods:
        curves = [evidence.outer[unit, name].get("curves") for unit in evidence.units]
        known = [curve for curve in curves if curve]
        if not known or len(known) < len(curves):
            continue
        length = min(len(curve["random"]) for curve in known)
        random, ordered = (
            np.mean([curve[kind][:length] for curve in known], axis=0)
            for kind in ("random", "ordered")
        )
        title = METHODS[name].title
        found.append(FoldCurves(name, title, np.arange(1, length + 1), random, ordered))
    return tuple(found)


def _score(result: Mapping[str, Any], name: str, metric: str) -> float:
    value = result.get("scores", {}).get(name, {}).get(metric)
    return math.nan if value is None else float(value)


def _mean_size(results: Sequence[Mapping[str, Any]], name: str, what: str) -> float:
    found = [result.get("sizes", {}).get(name, {}).get(what) for result in results]
    known = [size for size in found if size is not None]
    return float(np.mean(known)) if known else math.nan


def _middle(times: Sequence[Mapping[str, float]], part: str) -> float:
    """The median: a first fit may compile, and others may use the machine."""
    found = [time[part] for time in times if part in time]
    return float(np.median(found)) if found else math.nan


def _or_infinite(size: float) -> float:
    return math.inf if math.isnan(size) else size


def _p_value(
    scores: Floats, best: Floats | None, test_ratio: float, rows: Floats | None
) -> float | None:
    """Corrected resampled t-test on the folds where both have a score.

    NaN where it would mean nothing: with fewer than four folds, or where differences that are
    multiples of one sample happen to be equal and have no spread to go by. With the test ``rows``
    of error counts, at least the p-value of a sign test of all rows by which the counts differ:
    differences that are almost equal have almost no spread, which is no certainty either.
    """
    if best is None:
        return None
    both = np.isfinite(scores) & np.isfinite(best)
    differences = scores[both] - best[both]
    if both.sum() < FEWEST_FOLDS:
        return math.nan
    if _is_constant(differences):
        return 1.0 if abs(float(differences[0])) < 1e-12 else math.nan
    p_value = float(corrected_test(scores[both], best[both], test_ratio).p_value)
    if rows is None:
        return p_value
    return at_least_sign_test(p_value, abs(float(differences @ rows[both])))


def at_least_sign_test(p_value: float, n_apart: float) -> float:
    """A p-value, but at least that of a sign test of as many rows that all favour one side."""
    return max(p_value, min(1.0, float(2.0 * 0.5**n_apart)))


def _confusion(evidence: Evidence, name: str) -> npt.NDArray[np.int64] | None:
    found = [evidence.outer[unit, method_of(name)].get("confusion", {}) for unit in evidence.units]
    known = [np.array(triples[name], dtype=np.int64) for triples in found if name in triples]
    if not known:
        return None
    true, answers, count = np.concatenate(known).T
    counts = np.zeros((evidence.n_classes, evidence.n_classes), dtype=np.int64)
    np.add.at(counts, (true, answers), count)
    return counts
