"""How much averaging helps: the variance of a mean of correlated members.

The mean of L members, each of variance s^2 and any two of correlation rho, has the variance

    rho s^2 + (1 - rho) s^2 / L

The second term vanishes as members are added; the first stays. So forests make their trees less
similar by choosing splits among a few random features: rho falls, and s^2 rises a little.

The correlation is over training sets: of the predictions of two trees of a forest at a point x,
when the training set is drawn again and again. For a given training set the trees of a forest
differ by independent draws and are uncorrelated.

References
----------
Breiman (2001). Random forests. Machine Learning 45(1), 5-32.

Hastie, Tibshirani and Friedman (2009). The elements of statistical learning, 2nd edition. Springer.
Section 15.4.

Recarey (2021). Métodos de ensamblado en machine learning. Section 2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier

from orfeon.inspection.reading import members_of
from orfeon.inspection.retraining import (
    Sampling,
    Seeds,
    TrainingSamples,
    known_classes,
    places_of_classes,
    read_training_samples,
    repeat_trainings,
)
from orfeon.utils.seeding import RandomState
from orfeon.utils.types import Floats


@overload
def correlated_mean_variance(correlation: float, variance: float, n_members: int) -> float: ...
@overload
def correlated_mean_variance(
    correlation: npt.ArrayLike, variance: npt.ArrayLike, n_members: npt.ArrayLike
) -> float | Floats: ...
def correlated_mean_variance(
    correlation: npt.ArrayLike, variance: npt.ArrayLike, n_members: npt.ArrayLike
) -> float | Floats:
    """Variance of the mean of correlated members: rho s^2 + (1 - rho) s^2 / L.

    Parameters
    ----------
    correlation : float or array
        Correlation rho of any two members, from -1 / (L - 1) to 1.
    variance : float or array
        Variance s^2 of each member.
    n_members : int or array of int
        Their number L.

    Returns
    -------
    float or ndarray
        The variance; arrays are broadcast.

    Examples
    --------
    >>> from orfeon.inspection import correlated_mean_variance
    >>> correlated_mean_variance(0.25, 4.0, 3)
    2.0
    >>> correlated_mean_variance(0.05, 1.0, [1, 10, 100, 1000]).round(4)
    array([1.    , 0.145 , 0.0595, 0.051 ])
    """
    rho = np.asarray(correlation, dtype=np.float64)
    each = np.asarray(variance, dtype=np.float64)
    sizes = np.asarray(n_members)
    if sizes.dtype.kind not in "iu" or not (sizes >= 1).all():
        raise ValueError(f"n_members={n_members!r} is not allowed: it must be whole, 1 or more.")
    if not (each >= 0).all():
        raise ValueError(f"variance={variance!r} is not allowed: it must be 0 or more.")
    # Such members do not exist: the variance of their mean would be negative.
    least = -1.0 / np.maximum(sizes - 1, 1)
    if not ((rho <= 1.0) & (rho >= least - 1e-12)).all():
        raise ValueError(
            f"correlation={correlation!r} is not allowed: for L members it is from "
            "-1 / (L - 1) to 1."
        )
    found = rho * each + (1.0 - rho) * each / sizes
    return float(found) if found.ndim == 0 else np.asarray(found)


@dataclass(frozen=True, eq=False)
class MemberCorrelation:
    """Correlation and variance of the members of ensembles, over trainings, at each point.

    Parameters
    ----------
    between : ndarray of shape (n_trainings, n_points, n_outputs)
        Mean of the members of each training; for a class the share of votes.
    within : ndarray of shape (n_trainings, n_points)
        Unbiased variance of the members about it, summed over outputs.
    n_members : int
        Members of each ensemble.

    Notes
    -----
    It is an analysis of variance with trainings as groups. The variance within groups is that of
    members with the same training set; the variance of the group means, minus the former over the
    number of members, is the variance between training sets. The correlation is the share of the
    latter in the sum of both. All estimates are unbiased, so a correlation near 0 may be estimated
    slightly below.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.inspection import member_correlation
    >>> rng = np.random.default_rng(0)
    >>> shared, own = rng.normal(size=(500, 1, 4)), rng.normal(size=(500, 20, 4))
    >>> found = member_correlation(shared + own)  # half of the variance is shared
    >>> round(found.pooled_correlation, 1), round(found.mean_variance, 1)
    (0.5, 2.0)
    """

    between: Floats
    within: Floats
    n_members: int

    @property
    def n_trainings(self) -> int:
        """Number of ensembles."""
        return int(self.between.shape[0])

    @cached_property
    def ensemble_variance(self) -> Floats:
        """Variance of the mean of the members, at each point."""
        return np.asarray(self.between.var(axis=0, ddof=1).sum(axis=-1))

    @cached_property
    def variance(self) -> Floats:
        """Variance s^2 of a member, at each point."""
        own = self.within.mean(axis=0)
        return np.asarray(self.ensemble_variance + own * (1.0 - 1.0 / self.n_members))

    @cached_property
    def correlation(self) -> Floats:
        """Correlation rho of two members at each point; NaN if members have no variance."""
        shared = self.variance - self.within.mean(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.where(self.variance > 0, shared / self.variance, np.nan))

    @property
    def mean_variance(self) -> float:
        """Variance of a member, averaged over points."""
        return float(self.variance.mean())

    @property
    def pooled_correlation(self) -> float:
        """Shared variance over all variance, both averaged over points."""
        return _pooled(self.ensemble_variance, self.within.mean(axis=0), self.n_members)

    @cached_property
    def standard_error(self) -> float:
        """Jackknife standard error of the pooled correlation, over trainings."""
        n = self.n_trainings
        if n < 3:
            return float("nan")
        # Sums without one training give mean and variance without it.
        total, squares = self.between.sum(axis=0), (self.between**2).sum(axis=0)
        inside = self.within.sum(axis=0)
        without = np.empty(n)
        for r, (mean, own) in enumerate(zip(self.between, self.within, strict=True)):
            left, left_squares = total - mean, squares - mean**2
            spread = (left_squares - left**2 / (n - 1)) / (n - 2)
            without[r] = _pooled(spread.sum(axis=-1), (inside - own) / (n - 1), self.n_members)
        return float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))


def _pooled(of_means: Floats, own: Floats, n_members: int) -> float:
    shared = float(of_means.mean() - own.mean() / n_members)
    whole = shared + float(own.mean())
    return shared / whole if whole > 0 else float("nan")


def member_correlation(answers: Any, *, n_classes: int = 0) -> MemberCorrelation:
    """Correlation of the members of ensembles that were trained on different samples.

    Parameters
    ----------
    answers : array of shape (n_trainings, n_members, n_points)
        Predictions of each member of each ensemble: numbers, or class codes.
    n_classes : int, default=0
        Number of classes, 0 in regression. A vote is a vector with a 1 for its class; variances of
        the classes are added.

    Returns
    -------
    MemberCorrelation
        Correlation and variance at each point, and pooled.

    See Also
    --------
    member_correlation_curve : Trains ensembles for several values of a parameter.

    Examples
    --------
    >>> from orfeon.inspection import member_correlation
    >>> found = member_correlation([[[0.0], [2.0]], [[4.0], [6.0]]])
    >>> found.ensemble_variance, found.variance, found.correlation
    (array([8.]), array([9.]), array([0.77777778]))
    """
    outputs = np.asarray(answers)
    if outputs.ndim != 3 or outputs.shape[0] < 2 or outputs.shape[1] < 2 or not outputs.size:
        raise ValueError(
            f"answers has shape {outputs.shape}; (n_trainings, n_members, n_points) is expected, "
            "with two or more trainings and members."
        )
    if n_classes and (
        outputs.dtype.kind not in "iu" or outputs.min() < 0 or outputs.max() >= n_classes
    ):
        raise ValueError(
            f"answers holds {outputs.dtype} numbers from {outputs.min()} to {outputs.max()}; with "
            f"n_classes={n_classes} class codes from 0 to {n_classes - 1} are expected."
        )
    moments = [_moments(of_training, n_classes) for of_training in outputs]
    return MemberCorrelation(
        np.array([m.mean for m in moments]), np.array([m.own for m in moments]), outputs.shape[1]
    )


class _Moments(NamedTuple):
    """Means of the members of one ensemble, and their variance about them."""

    mean: Floats
    own: Floats


def _moments(answers: npt.NDArray[Any], n_classes: int) -> _Moments:
    """Of answers of shape (n_members, n_points)."""
    if not n_classes:
        numbers = answers.astype(np.float64)
        return _Moments(numbers.mean(axis=0)[:, None], numbers.var(axis=0, ddof=1))
    shares = np.stack([(answers == code).mean(axis=0) for code in range(n_classes)], axis=1)
    n = len(answers)
    return _Moments(shares, np.asarray((1.0 - (shares**2).sum(axis=1)) * n / (n - 1)))


@dataclass(frozen=True, eq=False)
class MemberCorrelationCurve:
    """Correlation of members against a parameter of their ensemble.

    Parameters
    ----------
    parameter : str
        Its name.
    values : tuple
        Its values.
    found : tuple of MemberCorrelation
        The measurements at each value.

    Examples
    --------
    >>> from orfeon import RandomForestRegressor
    >>> from orfeon.datasets import Friedman1
    >>> from orfeon.inspection import member_correlation_curve
    >>> curve = member_correlation_curve(
    ...     RandomForestRegressor(20), Friedman1(), values=(1, 5), n_train=100, n_test=50,
    ...     n_repetitions=20, random_state=0,
    ... )
    >>> bool(curve.correlations[0] < curve.correlations[1])  # fewer features, less similar
    True
    """

    parameter: str
    values: tuple[Any, ...]
    found: tuple[MemberCorrelation, ...]

    @property
    def correlations(self) -> Floats:
        """Pooled correlation at each value."""
        return np.array([one.pooled_correlation for one in self.found])

    @property
    def standard_errors(self) -> Floats:
        """Standard error of each, by the jackknife over trainings."""
        return np.array([one.standard_error for one in self.found])

    @property
    def variances(self) -> Floats:
        """Variance of a member at each value, averaged over points."""
        return np.array([one.mean_variance for one in self.found])

    @property
    def ensemble_variances(self) -> Floats:
        """Variance of the mean of the members at each value, averaged over points."""
        return np.array([float(one.ensemble_variance.mean()) for one in self.found])


def member_correlation_curve(
    ensemble: Any,
    data: Any,
    y: Any = None,
    *,
    values: Sequence[Any],
    parameter: str = "max_features",
    sampling: Sampling | None = None,
    n_train: float | None = None,
    n_test: float | None = None,
    n_repetitions: int = 50,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: RandomState = None,
) -> MemberCorrelationCurve:
    """Measure how similar the members of an ensemble are, against one of its parameters.

    Parameters
    ----------
    ensemble : ensemble
        Such as a :class:`orfeon.RandomForestRegressor`, of orfeon or scikit-learn; copied.
    data, y, sampling, n_train, n_test, n_repetitions, n_jobs, verbose, random_state
        As for :func:`resample_predictions`. All values have the same samples and test set.
    values : sequence
        Values of the parameter.
    parameter : str, default="max_features"
        Its name.

    Returns
    -------
    MemberCorrelationCurve
        Correlations and variances at each value.

    Examples
    --------
    >>> from orfeon import RandomForestClassifier
    >>> from orfeon.datasets import TwoNorm
    >>> from orfeon.inspection import member_correlation_curve
    >>> curve = member_correlation_curve(
    ...     RandomForestClassifier(20), TwoNorm(), values=(1, 20), n_train=100, n_test=50,
    ...     n_repetitions=20, random_state=0,
    ... )
    >>> bool(curve.correlations[0] < curve.correlations[1])
    True
    """
    if not len(values):
        raise ValueError("values is empty; at least one value of the parameter is needed.")
    if n_repetitions < 2:
        raise ValueError(
            f"n_repetitions={n_repetitions!r} is not allowed: a correlation needs 2 or more."
        )
    if parameter not in ensemble.get_params():
        raise ValueError(
            f"parameter={parameter!r} is not allowed: {type(ensemble).__name__} has "
            f"{', '.join(sorted(ensemble.get_params()))}."
        )
    seeds = Seeds.of(random_state)
    samples = read_training_samples(data, y, sampling, n_train, n_test, seeds)
    question = _Question.about(samples, data, y, is_classifier(ensemble))
    found = []
    for value in values:
        moments = repeat_trainings(
            clone(ensemble).set_params(**{parameter: value}), samples, n_repetitions,
            question.moments, seeds, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        n_members = _one_size([size for _, size in moments])
        means, own = (np.array(each) for each in zip(*(one for one, _ in moments), strict=True))
        found.append(MemberCorrelation(means, own, n_members))
    return MemberCorrelationCurve(parameter, tuple(values), tuple(found))


def member_answers(
    ensemble: Any,
    data: Any,
    y: Any = None,
    *,
    sampling: Sampling | None = None,
    n_train: float | None = None,
    n_test: float | None = None,
    n_repetitions: int = 50,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: RandomState = None,
) -> tuple[npt.NDArray[Any], int]:
    """Predictions of the members of repeatedly trained ensembles, and the number of classes."""
    seeds = Seeds.of(random_state)
    samples = read_training_samples(data, y, sampling, n_train, n_test, seeds)
    question = _Question.about(samples, data, y, is_classifier(ensemble))
    answers = repeat_trainings(
        ensemble, samples, n_repetitions, question.answers, seeds, n_jobs=n_jobs, verbose=verbose
    )
    _one_size([len(outputs) for outputs in answers])
    return np.array(answers), question.n_classes


class _Question(NamedTuple):
    """Predictions of the members of a fitted ensemble for the test set."""

    X: Any
    classes: npt.NDArray[Any] | None

    @classmethod
    def about(
        cls, samples: TrainingSamples, data: Any, y: Any, is_classification: bool
    ) -> _Question:
        X_test, y_test = samples.test_set()
        return cls(X_test, known_classes(data, y, y_test) if is_classification else None)

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else len(self.classes)

    def answers(self, fitted: Any) -> npt.NDArray[Any]:
        """Predictions of each member: numbers, or class codes."""
        members = members_of(fitted, "correlations of members")
        if members.n_members < 2:
            raise ValueError(f"{type(fitted).__name__} has 1 member; two or more are needed.")
        answers = members.answers(self.X)
        if self.classes is None or members.classes is None:
            return answers
        return np.asarray(places_of_classes(members.classes, self.classes)[answers])

    def moments(self, fitted: Any) -> tuple[_Moments, int]:
        """Mean and variance of the members' predictions, and the number of members."""
        answers = self.answers(fitted)
        return _moments(answers, self.n_classes), len(answers)


def _one_size(sizes: Sequence[int]) -> int:
    if len(set(sizes)) > 1:
        raise ValueError(
            f"the ensembles have from {min(sizes)} to {max(sizes)} members; all must have the same "
            "number."
        )
    return sizes[0]
