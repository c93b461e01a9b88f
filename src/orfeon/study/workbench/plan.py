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
from orfeon.study.workbench.folding import Kind
from orfeon.study.workbench.methods import METHODS, Task, chosen_methods
from orfeon.study.workbench.scoring import chosen_metric

#: The ordering rule of each task.
RULES: dict[str, str] = {"classification": "margin_distance", "regression": "reduce_error"}
#: What results look like: runs that were stored in another form belong to another study.
RESULTS = 1
#: Rules that can order regressors.
_FOR_REGRESSORS = ("reduce_error", "complementarity", "individual_error")


@dataclass(frozen=True)
class Plan:
    """What a study compares, and how.

    Parameters
    ----------
    data : str
        Fingerprint of the prepared table.
    task : {"classification", "regression"}
        What is predicted.
    methods : tuple of str
        Names of the methods.
    metric : str
        The measure that candidates are chosen by.
    design : {"cv", "splits"}
        Repeated cross-validation or random splits.
    n_folds, n_inner : int
        Outer folds of a repetition, and folds inside.
    test_share : float
        Share of the test part of a random split.
    rule : str
        By which members are ordered.
    keep : tuple of float
        Shares of the ordered members that are kept.
    members : int or None
        Members of every ensemble; None for the numbers of the methods.
    seed : int
        Fixes all that is left to chance.
    groups : str, optional
        Fingerprint of the groups whose rows stay together.
    rows : int, optional
        Rows to compare on, where that was asked for.

    Examples
    --------
    >>> from orfeon.study.workbench.plan import Plan
    >>> plan = Plan.of("0123", "classification", methods=["bagging", "cart"], seed=1)
    >>> plan.methods, plan.rule, plan.candidates()
    (('cart', 'bagging'), 'margin_distance', ['cart', 'bagging', 'bagging@0.2', 'bagging@0.4'])
    """

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
        """Check what is given and fill in the rest.

        Parameters
        ----------
        data : str
            Fingerprint of the prepared table.
        task : {"classification", "regression"}
            What is predicted.
        methods : sequence of str, optional
            Names of methods, ``"default"`` and ``"all"`` among them.
        metric : str, optional
            The measure; the usual one of the task by default.
        design : {"cv", "splits"}, default="cv"
            Repeated cross-validation or random splits.
        n_folds, n_inner : int, default=5 and 3
            Outer folds of a repetition, and folds inside.
        test_share : float, default=1/3
            Share of the test part of a random split.
        rule : str, optional
            Ordering rule; margin distance by default, reduce-error for regression.
        keep : sequence of float, default=(0.2, 0.4)
            Shares of the ordered members to keep; none for no pruning.
        members : int, optional
            Members of every ensemble.
        seed : int, default=0
            Fixes all that is left to chance.
        groups : str, optional
            Fingerprint of the groups whose rows stay together.
        rows : int, optional
            Rows to compare on.

        Returns
        -------
        Plan
            Checked.
        """
        if design not in ("cv", "splits"):
            raise ArgumentError("design", f"must be cv or splits; got {design!r}.")
        if members is not None and members < 1:
            raise ArgumentError("members", f"must be at least 1; got {members}.")
        if seed < 0:
            raise ArgumentError("seed", f"must be 0 or a positive whole number; got {seed}.")
        # As they are named: what is judged and what is trained in the end is the same share.
        shares = tuple(sorted({float(f"{share:g}") for share in keep}))
        if any(not 0 < share < 1 for share in shares):
            raise ArgumentError(
                "keep", f"must be shares between 0 and 1, such as 0.2; got {shares}."
            )
        return cls(
            data, task, tuple(method.name for method in chosen_methods(methods, task)),
            chosen_metric(metric, task), design, n_folds, n_inner, float(test_share),
            _rule(rule, task), shares, members, int(seed), groups, rows,
        )  # fmt: skip

    def candidates(self) -> list[str]:
        """Names of all candidates, in the order of the methods.

        Returns
        -------
        list of str
            Whole methods, and pruned ones where members can be ordered.
        """
        from orfeon.study.workbench.evaluation import candidate_name

        return [
            candidate_name(name, share)
            for name in self.methods
            for share in (None, *(self.keep if METHODS[name].is_prunable else ()))
        ]

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data.

        Returns
        -------
        dict
            For the store and the report.
        """
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
    """A short text that tells two tables apart.

    Parameters
    ----------
    X : pandas.DataFrame
        The prepared attributes.
    y : ndarray
        The target.

    Returns
    -------
    str
        Names, kinds and every cell count; the order of the rows too.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas
    >>> from orfeon.study.workbench.plan import fingerprint
    >>> table = pandas.DataFrame({"u": [1.0, 2.0]})
    >>> fingerprint(table, np.array([0, 1])) == fingerprint(table, np.array([1, 0]))
    False
    """
    from pandas.util import hash_array, hash_pandas_object

    found = hashlib.sha256()
    found.update(json.dumps([[str(name), str(X[name].dtype.kind)] for name in X.columns]).encode())
    found.update(np.ascontiguousarray(hash_pandas_object(X, index=False)).tobytes())
    found.update(np.ascontiguousarray(hash_array(np.asarray(y))).tobytes())
    return found.hexdigest()[:16]


def groups_fingerprint(codes: npt.NDArray[Any], name: str) -> str:
    """A short text that tells two ways to group the rows apart.

    Parameters
    ----------
    codes : ndarray of int
        The group of each row.
    name : str
        The column it comes from.

    Returns
    -------
    str
        The name and a digest.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.study.workbench.plan import groups_fingerprint
    >>> groups_fingerprint(np.array([0, 0, 1]), "patient")
    'patient ...'
    """
    found = hashlib.sha256(np.ascontiguousarray(codes, dtype=np.int64).tobytes())
    return f"{name} {found.hexdigest()[:10]}"
