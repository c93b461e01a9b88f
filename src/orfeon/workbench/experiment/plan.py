"""The plan of a study: all that fixes its figures, as plain data.

Two studies with the same plan are the same study. How far it goes (a budget, a number of
repetitions) and where it runs are not part of it: with a larger budget it goes on.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.errors import ArgumentError
from orfeon.workbench.experiment.folding import Kind
from orfeon.workbench.experiment.methods import METHODS, Task, chosen_methods
from orfeon.workbench.experiment.scoring import chosen_metric

#: The ordering rule of each task.
RULES: dict[str, str] = {"classification": "margin_distance", "regression": "reduce_error"}
#: What results look like: runs that were stored in another form belong to another study.
RESULTS = 1
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
        n_inner: int = 3,
        test_share: float = 1 / 3,
        rule: str | None = None,
        keep: Any = (0.2, 0.4),
        members: int | None = None,
        seed: int = 0,
        groups: str | None = None,
        rows: int | None = None,
    ) -> Plan:
        """Check what is given and fill in the rest."""
        if design not in ("cv", "splits"):
            raise ArgumentError("design", f"must be cv or splits; got {design!r}.")
        if members is not None and members < 1:
            raise ArgumentError("members", f"must be at least 1; got {members}.")
        if seed < 0:
            raise ArgumentError("seed", f"must be a non-negative integer; got {seed}.")
        # As they are named, so that the share judged is the share trained in the end.
        shares = tuple(sorted({float(f"{share:g}") for share in keep}))
        if any(not 0 < share < 1 for share in shares):
            raise ArgumentError(
                "keep", f"must be fractions between 0 and 1, such as 0.2; got {shares}."
            )
        return cls(
            data, task, tuple(method.name for method in chosen_methods(methods, task)),
            chosen_metric(metric, task), design, n_folds, n_inner, float(test_share),
            _rule(rule, task), shares, members, int(seed), groups, rows,
        )  # fmt: skip

    def candidates(self) -> list[str]:
        """Names of all candidates, in the order of the methods."""
        from orfeon.workbench.experiment.evaluation import candidate_name

        return [
            candidate_name(name, share)
            for name in self.methods
            for share in (None, *(self.keep if METHODS[name].is_prunable else ()))
        ]

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data."""
        return {**vars(self), "methods": list(self.methods), "keep": list(self.keep)}

    @property
    def digest(self) -> str:
        """A short name that no other plan has."""
        text = json.dumps([RESULTS, self.to_dict()], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:10]


def _rule(rule: str | None, task: Task) -> str:
    from orfeon.ordering import RULES as KNOWN

    if rule is None:
        return RULES[task]
    able = list(KNOWN) if task == "classification" else list(_FOR_REGRESSORS)
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


def groups_fingerprint(codes: npt.NDArray[Any], name: str) -> str:
    """A short text that differs between any two groupings of the rows."""
    found = hashlib.sha256(np.ascontiguousarray(codes, dtype=np.int64).tobytes())
    return f"{name} {found.hexdigest()[:10]}"
