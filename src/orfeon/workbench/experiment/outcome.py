"""The result of a study: all candidates, the nested estimate, the choice and its evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats
from orfeon.workbench.experiment.builders import Task
from orfeon.workbench.experiment.costs import Decision
from orfeon.workbench.experiment.plan import Split
from orfeon.workbench.experiment.scoring import TestScores

if TYPE_CHECKING:
    from orfeon.workbench.experiment.out_of_fold import OutOfFold, Trial


@dataclass(frozen=True)
class Candidate:
    """A method, whole or pruned, and its results on every outer fold."""

    name: str
    method: str
    title: str
    idea: str
    keep: float | None
    scores: Mapping[str, Floats]
    members: float
    nodes: float
    fit_seconds: float
    predict_seconds: float
    interval: tuple[float, float]
    rank: float
    p_versus_best: float | None
    confusion: npt.NDArray[np.int64] | None = None

    def mean(self, metric: str) -> float:
        """Mean of a measure over the outer folds."""
        return float(np.mean(self.scores[metric]))


@dataclass(frozen=True)
class FoldCurves:
    """Error against the number of members, averaged over the outer folds."""

    method: str
    title: str
    sizes: npt.NDArray[np.int64]
    random: Floats
    ordered: Floats


@dataclass(frozen=True)
class Honest:
    """The nested estimate: candidates chosen on inner folds, scored on outer ones."""

    scores: Mapping[str, Floats]
    interval: tuple[float, float]
    chosen: tuple[str, ...]

    def mean(self, metric: str) -> float:
        """Mean of a measure over the outer folds."""
        return float(np.mean(self.scores[metric]))


@dataclass(frozen=True)
class Showcase:
    """Models of one outer fold, for charts on samples that they were not trained on.

    ``X`` and ``y`` are the whole table, and ``splits`` the first outer folds of it.
    """

    models: Mapping[str, Any]
    X_train: Any
    y_train: npt.NDArray[Any]
    X_test: Any
    y_test: npt.NDArray[Any]
    X: Any = None
    y: npt.NDArray[Any] | None = None
    splits: tuple[Split, ...] = ()


@dataclass(frozen=True)
class StudyOutcome:
    """The result of a study.

    Parameters
    ----------
    name : str
        Name of the data.
    task : {"classification", "regression"}
        What is predicted.
    target : str
        Name of the target.
    classes : tuple of str
        Names of the classes; empty for regression.
    metric : str
        The metric to choose by; lower is better for every metric of a study.
    metrics : dict of str to str
        All measures and what they are called.
    candidates : tuple of Candidate
        Best first, by mean of ``metric``.
    honest : Honest
        The estimate to report, from nested cross-validation.
    chosen : str
        Name of the candidate of the final model.
    curves : tuple of FoldCurves
        Of the methods whose members were ordered.
    showcase : Showcase or None
        For charts.
    model : estimator
        The chosen candidate, trained on all samples.
    preparation : Preparation
        From a raw table to what the model takes.
    profile : Profile
        What the columns of the table are.
    notes : tuple of str
        Sentences: how the data was prepared, methods that failed, warnings.
    n_rows, n_features : int
        Of the prepared table.
    n_studied : int
        Rows that the comparison used; the final model uses all.
    n_folds, n_outer : int
        Folds of a repetition, and outer folds in all.
    n_train, n_test : float
        Mean sizes of the outer training and test sets.
    test_ratio : float
        Mean ratio of test to training samples, which determines how dependent the folds are.
    n_runs : int
        Number of fits.
    seconds : float
        Time of all fits.
    configuration : dict
        The plan as plain data; it determines all results.
    command : str
        The command that repeats it.
    versions : dict of str to str
        Of the packages that matter.
    seed : int
        The seed.
    weights : dict of str to float
        Shares of the methods in the final ensemble selection, if there is one.
    out_of_fold : OutOfFold or None
        Predictions of the chosen method for the test rows of the outer folds, if they were kept.
    trials : tuple of Trial
        All runs in the order in which they ended.
    tested : TestScores, optional
        Scores of the final model on rows that the study did not use.
    decision : Decision, optional
        How the final model decides by costs.
    row_seconds : float
        Time in which the final model predicts a single row.

    Examples
    --------
    >>> import pandas
    >>> from orfeon.datasets import make_twonorm
    >>> from orfeon.workbench import run_study
    >>> X, y = make_twonorm(60, random_state=0)
    >>> frame = pandas.DataFrame(X).rename(columns="x{}".format).assign(norm=y)
    >>> found = run_study(frame, "norm", methods=["cart"], repetitions=1)
    >>> found.task, found.chosen, found.best.title
    ('classification', 'cart', 'CART tree')
    """

    name: str
    task: Task
    target: str
    classes: tuple[str, ...]
    metric: str
    metrics: Mapping[str, str]
    candidates: tuple[Candidate, ...]
    honest: Honest
    chosen: str
    curves: tuple[FoldCurves, ...]
    showcase: Showcase | None
    model: Any
    preparation: Any
    profile: Any
    notes: tuple[str, ...]
    n_rows: int
    n_features: int
    n_studied: int
    n_folds: int
    n_outer: int
    n_train: float
    n_test: float
    test_ratio: float
    n_runs: int
    seconds: float
    configuration: Mapping[str, Any] = field(hash=False)
    command: str
    versions: Mapping[str, str] = field(hash=False)
    seed: int
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    out_of_fold: OutOfFold | None = field(default=None, hash=False, compare=False)
    trials: tuple[Trial, ...] = ()
    tested: TestScores | None = None
    decision: Decision | None = None
    row_seconds: float = math.nan

    def candidate(self, name: str) -> Candidate:
        """A candidate by name.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        Candidate
            The candidate.
        """
        return next(candidate for candidate in self.candidates if candidate.name == name)

    @property
    def best(self) -> Candidate:
        """The candidate of the final model."""
        return self.candidate(self.chosen)
