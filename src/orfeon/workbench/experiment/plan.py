"""The plan of a study: methods, metric and folds, and everything else that fixes its figures.

Two studies with the same plan are the same study. How far it goes (a budget, a number of
repetitions) and where it runs are not part of the plan: a larger budget continues the study.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.errors import ArgumentError, UserError
from orfeon.utils.types import Integers
from orfeon.workbench.experiment.builders import Task
from orfeon.workbench.experiment.methods import (
    DEPLOYABLE,
    METHODS,
    Deployable,
    chosen_methods,
)
from orfeon.workbench.experiment.metrics import METRICS, shown_metrics

#: Metrics that are shown as percentages.
SHARES = frozenset(
    name for of_task in METRICS.values() for name, metric in of_task.items() if metric.is_share
)


def chosen_metric(name: str | None, task: Task) -> str:
    """The metric that a study chooses by."""
    known = METRICS[task]
    if name is None:
        return next(iter(known))
    if name not in known:
        raise ArgumentError(
            "metric", f"must be one of {', '.join(known)} for {task}; got {name!r}."
        )
    return name


def candidate_name(method: str, keep: float | None) -> str:
    return method if keep is None else f"{method}@{keep:g}"


Kind = Literal["cv", "splits", "time"]


class Split(NamedTuple):
    """Rows to train on and rows to test on."""

    train: Integers
    test: Integers


@dataclass(frozen=True)
class Folding:
    """The outer and inner folds of a study."""

    y: npt.NDArray[Any]
    is_stratified: bool
    seed: int
    kind: Kind = "cv"
    n_folds: int = 5
    n_inner_folds: int = 3
    test_share: float = 1 / 3
    groups: npt.NDArray[Any] | None = None
    #: When each row was, of kind "time"; fold 0 tests on the last rows, and later folds on rows
    #: before those.
    times: npt.NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if self.n_folds < 2:
            raise ArgumentError("n_folds", f"must be at least 2; got {self.n_folds}.")
        if self.n_inner_folds < 0 or self.n_inner_folds == 1:
            raise ArgumentError(
                "n_inner_folds", f"must be 0 or at least 2; got {self.n_inner_folds}."
            )
        if not 0 < self.test_share < 1:
            raise ArgumentError("test_share", f"must lie between 0 and 1; got {self.test_share}.")
        n_parts = len(self.y) if self.groups is None else len(np.unique(self.groups))
        what = "rows" if self.groups is None else "groups"
        if self.kind == "time":
            n_parts, what = len(np.unique(self._times)) - 1, "times after the first"
        if n_parts < max(self.n_folds, 2 * self.n_inner_folds):
            inner = f" and {self.n_inner_folds} inner folds" if self.n_inner_folds else ""
            raise ArgumentError(
                "n_folds",
                f"{n_parts} {what} are too few for {self.n_folds} folds{inner}; use fewer folds, "
                "or more data.",
            )
        try:
            self.both(0)
        except ValueError as error:
            raise UserError(
                f"These rows cannot be split this way: {error}. Try another n_folds (--folds), "
                "n_inner_folds (--inner-folds) or test_share (--test-share)."
            ) from error

    def repetition(self, unit: int) -> int:
        return unit if self.kind == "splits" else unit // self.n_folds

    @property
    def _times(self) -> npt.NDArray[Any]:
        assert self.times is not None
        return self.times

    def outer(self, unit: int) -> Split:
        if self.kind == "time":
            return self._after_the_past(unit)
        state = self._state(self.repetition(unit))
        if self.kind == "splits":
            return self._random_split(state)
        return self._folds(np.arange(len(self.y)), self.n_folds, state)[unit % self.n_folds]

    def _after_the_past(self, unit: int) -> Split:
        """Rows of a span of time to test on, and all rows before it; equal times stay together."""
        moments, place = np.unique(self._times, return_inverse=True)
        # The first rows are trained on in all folds; each span tests on as many rows as it can.
        ends = np.cumsum(np.bincount(place))
        wanted = len(place) * np.arange(1, self.n_folds + 1) / (self.n_folds + 1)
        starts = np.searchsorted(ends, wanted, side="left") + 1
        # At least one moment for each part, before and after.
        starts = np.maximum.accumulate(starts - np.arange(self.n_folds)) + np.arange(self.n_folds)
        most = len(moments) - self.n_folds + np.arange(self.n_folds)
        starts = np.append(np.minimum(starts, most), len(moments))
        span = self.n_folds - 1 - unit
        is_test = (place >= starts[span]) & (place < starts[span + 1])
        return Split(np.flatnonzero(place < starts[span]), np.flatnonzero(is_test))

    def inner(self, unit: int) -> list[Split]:
        """The folds inside the training part of an outer fold."""
        if not self.n_inner_folds:
            return []
        return self._folds(self.outer(unit).train, self.n_inner_folds, self._state(unit, 1))

    def both(self, unit: int) -> tuple[Split, list[Split]]:
        """An outer fold and its inner ones, kept for the next call."""
        known: dict[int, tuple[Split, list[Split]]] = self.__dict__.setdefault("_known", {})
        found = known.get(unit)
        if found is None:
            found = (self.outer(unit), self.inner(unit))
            known.clear()  # runs come one outer fold after another
            known[unit] = found
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in self.__dict__.items() if name != "_known"}

    def _state(self, *keys: int) -> int:
        return int(np.random.SeedSequence([self.seed, *keys]).generate_state(1)[0])

    def _folds(self, rows: Integers, n_folds: int, state: int) -> list[Split]:
        """Folds among some rows."""
        from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

        y = self.y[rows]
        groups = None if self.groups is None else self.groups[rows]
        # A class with fewer samples than folds is missing from some of them; nothing to be done.
        by_class = self.is_stratified and np.bincount(y).max() >= n_folds
        if groups is not None:
            kind = StratifiedGroupKFold if by_class else GroupKFold
        else:
            kind = StratifiedKFold if by_class else KFold
        splitter = kind(n_folds, shuffle=True, random_state=state)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            parts = list(splitter.split(np.zeros(len(rows)), y, groups))
        return [Split(rows[train], rows[test]) for train, test in parts]

    def _can_keep_shares(self, n_test: int) -> bool:
        """Whether either side of a random split has room for every class."""
        counts = np.bincount(self.y)
        n_classes = int((counts > 0).sum())
        room = min(n_test, len(self.y) - n_test)
        return int(counts[counts > 0].min()) > 1 and room >= n_classes

    def _random_split(self, state: int) -> Split:
        """A random split; of classes with a single sample some go to either side."""
        from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

        rows = np.arange(len(self.y))
        n_test = max(1, round(self.test_share * len(rows)))
        if self.groups is not None:
            splitter = GroupShuffleSplit(1, test_size=self.test_share, random_state=state)
            train, test = next(splitter.split(rows, groups=self.groups))
        elif self.is_stratified and self._can_keep_shares(n_test):
            kind = StratifiedShuffleSplit(1, test_size=n_test, random_state=state)
            train, test = next(kind.split(rows, self.y))
        else:
            train, test = next(ShuffleSplit(1, test_size=n_test, random_state=state).split(rows))
        return Split(np.sort(train), np.sort(test))


#: The ordering rule of each task.
DEFAULT_RULES: dict[str, str] = {"classification": "margin_distance", "regression": "reduce_error"}
#: What results look like: runs stored in another form, or with other settings of methods, belong to
#: another study.
RESULTS = 4
#: Rules that can order regressors.
_FOR_REGRESSORS = ("reduce_error", "complementarity", "individual_error")


@dataclass(frozen=True)
class Plan:
    """What a study compares, and how."""

    data: str
    task: Task
    methods: tuple[str, ...]
    metric: str
    design: Kind
    n_folds: int
    n_inner: int
    test_share: float
    rule: str
    keep: tuple[float, ...]
    members: int | None
    seed: int
    groups: str | None = None
    rows: int | None = None
    deployable: Deployable = "any"
    weights: str | None = None
    times: str | None = None
    costs: str | None = None
    latency: float | None = None

    @classmethod
    def of(
        cls,
        data: str,
        task: Task,
        *,
        methods: Any = None,
        metric: str | None = None,
        design: Kind = "cv",
        n_folds: int = 5,
        n_inner: int | None = None,
        test_share: float = 1 / 3,
        rule: str | None = None,
        keep: Any = (0.2, 0.4),
        members: int | None = None,
        seed: int = 0,
        groups: str | None = None,
        rows: int | None = None,
        deployable: Deployable = "any",
        weights: str | None = None,
        times: str | None = None,
        costs: str | None = None,
        latency: float | None = None,
    ) -> Plan:
        """Check what is given and fill in the rest."""
        if design not in ("cv", "splits"):
            raise ArgumentError("design", f"must be cv or splits; got {design!r}.")
        if times is not None:
            design = _design_in_time(design, n_inner, groups)
        if costs is not None:
            if task == "regression":
                raise ArgumentError("costs", "must be None in regression.")
            if design == "splits" or deployable == "onnx":
                raise ArgumentError("costs", "must be None with random splits, and for ONNX.")
            metric = metric or "log_loss"  # decisions need good probabilities
        if latency is not None and not 0 < latency < np.inf:
            raise ArgumentError("latency", f"must be longer than 0 s; got {latency} s.")
        if members is not None and members < 1:
            raise ArgumentError("members", f"must be at least 1; got {members}.")
        if deployable not in DEPLOYABLE:
            raise ArgumentError(
                "deployable", f"must be one of {', '.join(DEPLOYABLE)}; got {deployable!r}."
            )
        if seed < 0:
            raise ArgumentError("seed", f"must be a non-negative integer; got {seed}.")
        # As they are named, so that the share judged is the share trained in the end.
        shares = tuple(sorted({float(f"{share:g}") for share in keep}))
        if any(not 0 < share < 1 for share in shares):
            raise ArgumentError(
                "keep", f"must be fractions between 0 and 1, such as 0.2; got {shares}."
            )
        if n_inner is None:  # random splits test on the same rows, so none can choose for another
            n_inner = 3 if design == "splits" else 0
        if design == "splits" and n_inner == 0:
            raise ArgumentError("n_inner_folds", "must be at least 2 with random splits; got 0.")
        chosen = chosen_methods(methods, task, deployable, weighted=weights is not None)
        return cls(
            data, task, tuple(method.name for method in chosen),
            chosen_metric(metric, task), design, n_folds, n_inner, float(test_share),
            _rule(rule, task), shares, members, int(seed), groups, rows,
            deployable, weights, times, costs, latency,
        )  # fmt: skip

    def candidates(self) -> list[str]:
        """Names of all candidates, in the order of the methods."""
        return [
            candidate_name(name, share)
            for name in self.methods
            for share in (None, *(self.keep if METHODS[name].is_prunable else ()))
        ]

    @property
    def metrics(self) -> dict[str, str]:
        """The metrics that are shown, and what they are called."""
        return shown_metrics(self.task, self.metric)

    @property
    def fitted(self) -> tuple[str, ...]:
        """The methods with fits of their own."""
        return tuple(name for name in self.methods if not METHODS[name].is_derived)

    @property
    def keeps_predictions(self) -> bool:
        """Whether a method, or the threshold with the lowest cost, is derived from predictions."""
        return len(self.fitted) < len(self.methods) or self.costs is not None

    def others(self, unit: int, units: Sequence[int]) -> list[int]:
        """The other outer folds of a repetition, which test on other rows; in time earlier ones."""
        if self.design == "splits":
            return []
        if self.design == "time":
            return [one for one in units if one > unit]
        same = unit // self.n_folds
        return [one for one in units if one // self.n_folds == same and one != unit]

    def is_delivered(self, candidate: str) -> bool:
        """Whether a candidate may be the final model."""
        return METHODS[candidate.partition("@")[0]].is_delivered

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data."""
        return {**vars(self), "methods": list(self.methods), "keep": list(self.keep)}

    @property
    def digest(self) -> str:
        """A short name that no other plan has."""
        text = json.dumps([RESULTS, self.to_dict()], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:10]


def _design_in_time(design: str, n_inner: int | None, groups: str | None) -> Kind:
    if design == "splits":
        raise ArgumentError(
            "design", "must be cv with time_column: random splits mix past and future."
        )
    if n_inner:
        raise ArgumentError("n_inner_folds", f"must be 0 with time_column; got {n_inner}.")
    if groups is not None:
        raise ArgumentError("group", "must be None with time_column.")
    return "time"


def _rule(rule: str | None, task: Task) -> str:
    from orfeon.ordering import ORDERING_RULES

    if rule is None:
        return DEFAULT_RULES[task]
    able = list(ORDERING_RULES) if task == "classification" else list(_FOR_REGRESSORS)
    if rule not in able:
        raise ArgumentError("rule", f"must be one of {', '.join(able)} for {task}; got {rule!r}.")
    return rule


def fingerprint(X: Any, y: npt.NDArray[Any]) -> str:
    """A short text that differs between any two tables."""
    from pandas.util import hash_array, hash_pandas_object

    found = hashlib.sha256()
    found.update(json.dumps([[str(name), str(X[name].dtype.kind)] for name in X.columns]).encode())
    found.update(np.ascontiguousarray(hash_pandas_object(X, index=False)).tobytes())
    found.update(np.ascontiguousarray(hash_array(np.asarray(y))).tobytes())
    return found.hexdigest()[:16]


def column_fingerprint(values: npt.NDArray[Any], name: str) -> str:
    """A short text that differs between any two columns of numbers, such as groups of rows."""
    found = hashlib.sha256(np.ascontiguousarray(values).tobytes())
    return f"{name} {found.hexdigest()[:10]}"
