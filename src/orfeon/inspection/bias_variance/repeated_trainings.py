"""Predictions of an estimator that is trained repeatedly, on samples of the same problem.

Bias and variance are estimated from them. If the problem is a generator, every sample is fresh, and
the true probabilities are known if the generator knows them. A data set is only one: by the
protocol of Kohavi and Wolpert a test set is held out, and the training samples are halves of the
rest, drawn without replacement. They overlap, so the variance is that of smaller samples of a
smaller population.

References
----------
Kohavi and Wolpert (1996). Bias plus variance decomposition for zero-one loss functions. Proceedings
of the 13th International Conference on Machine Learning, 275-283.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor

from orfeon.inspection.bias_variance.definitions import Definition, bias_variance_decomposition
from orfeon.inspection.bias_variance.friedman import FriedmanBiasVariance, friedman_decomposition
from orfeon.inspection.bias_variance.intervals import (
    BiasVarianceIntervals,
    Over,
    bias_variance_difference,
    bias_variance_intervals,
)
from orfeon.inspection.bias_variance.parts import BiasVariance
from orfeon.inspection.display import check_choice
from orfeon.inspection.documentation import documented
from orfeon.inspection.retraining import (
    Sampling,
    Seeds,
    known_classes,
    places_of_classes,
    read_training_samples,
    repeat_trainings,
)
from orfeon.utils.seeding import RandomState
from orfeon.utils.types import Floats

Method = Literal["predict", "predict_proba"]


@dataclass(frozen=True, eq=False)
class ResampledPredictions:
    """Predictions of an estimator after many trainings, and what is known about the problem.

    Parameters
    ----------
    predictions : ndarray of shape (n_trainings, n_points) or (n_trainings, n_points, n_classes)
        Labels or numbers; or probabilities of the classes.
    y : ndarray of shape (n_points,)
        Labels or targets of the test set.
    classes : ndarray of shape (n_classes,) or None
        The labels; None in regression.
    posterior : ndarray of shape (n_points, n_classes) or None
        Probability of each class, if known.
    regression_function : ndarray of shape (n_points,) or None
        Expected target, if known.
    noise : float
        Variance of the targets about it.
    sampling : {"fresh", "subsample", "bootstrap"}
        How the training samples were drawn.
    n_train : int
        Their size.
    seeds : tuple
        What the samples depend on: equal for estimators trained on the same ones.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.datasets import TwoNorm
    >>> from orfeon.inspection import resample_predictions
    >>> found = resample_predictions(
    ...     CARTClassifier(), TwoNorm(), n_test=200, n_repetitions=20, random_state=0
    ... )
    >>> found.predictions.shape, found.posterior.shape
    ((20, 200), (200, 2))
    """

    predictions: npt.NDArray[Any]
    y: npt.NDArray[Any]
    classes: npt.NDArray[Any] | None
    posterior: Floats | None
    regression_function: Floats | None
    noise: float
    sampling: Sampling
    n_train: int
    seeds: tuple[Any, ...]

    @property
    def n_trainings(self) -> int:
        """How often the estimator was trained."""
        return int(self.predictions.shape[0])

    @property
    def labels(self) -> npt.NDArray[Any]:
        """Labels or numbers, of shape (n_trainings, n_points); the most likely of probabilities."""
        if self.predictions.ndim == 2 or self.classes is None:
            return self.predictions
        return np.asarray(self.classes[np.argmax(self.predictions, axis=2)])

    @documented()
    def decompose(
        self, definition: Definition | None = None, *, unbiased: bool = False
    ) -> BiasVariance:
        """Bias, variance and noise, against the true probabilities or function if known.

        Parameters
        ----------
        <definition>

        Returns
        -------
        BiasVariance
            The parts, which add up to the error.
        """
        return bias_variance_decomposition(
            self.labels, **self._y_true(definition), unbiased=unbiased
        )

    def intervals(
        self,
        definition: Definition | None = None,
        *,
        unbiased: bool = False,
        over: Over = "both",
        confidence: float = 0.95,
        n_resamples: int = 500,
        random_state: RandomState = None,
    ) -> BiasVarianceIntervals:
        """Bias, variance and noise with confidence intervals.

        Parameters
        ----------
        definition, unbiased
            As for :meth:`decompose`.
        over, confidence, n_resamples, random_state
            As for :func:`bias_variance_intervals`.

        Returns
        -------
        BiasVarianceIntervals
            Estimates, standard errors and intervals.
        """
        return bias_variance_intervals(
            self.labels, **self._y_true(definition), unbiased=unbiased, over=over,
            confidence=confidence, n_resamples=n_resamples, random_state=random_state,
        )  # fmt: skip

    def difference_from(
        self,
        other: ResampledPredictions,
        definition: Definition | None = None,
        *,
        unbiased: bool = False,
        over: Over = "both",
        confidence: float = 0.95,
        n_resamples: int = 500,
        random_state: RandomState = None,
    ) -> BiasVarianceIntervals:
        """Differences from the parts of another estimator, trained on the same samples.

        Parameters
        ----------
        other : ResampledPredictions
            Made with the same integer ``random_state``, data and sizes.
        definition, unbiased
            As for :meth:`decompose`.
        over, confidence, n_resamples, random_state
            As for :func:`bias_variance_intervals`.

        Returns
        -------
        BiasVarianceIntervals
            These parts minus those of the other.
        """
        if self.seeds != other.seeds or not np.array_equal(self.y, other.y):
            raise ValueError(
                "other was not trained on the same samples; make both with the same data, sizes "
                "and random_state, an integer."
            )
        return bias_variance_difference(
            other.labels, self.labels, **self._y_true(definition), unbiased=unbiased, over=over,
            confidence=confidence, n_resamples=n_resamples, random_state=random_state,
        )  # fmt: skip

    def friedman(self) -> FriedmanBiasVariance:
        """Friedman's account of two classes, from probabilities: :func:`friedman_decomposition`."""
        if self.predictions.ndim != 3:
            raise ValueError(
                "predictions are not probabilities; make them with method='predict_proba'."
            )
        y_true = {"y": self.y} if self.posterior is None else {"posterior": self.posterior}
        return friedman_decomposition(self.predictions, classes=self.classes, **y_true)

    def _y_true(self, definition: Definition | None) -> dict[str, Any]:
        """The definition and the targets, as arguments of the functions."""
        if self.classes is None:
            target = self.y if self.regression_function is None else self.regression_function
            chosen = "squared_error" if definition is None else definition
            return {"definition": chosen, "y": target, "noise": self.noise}
        known: dict[str, Any] = {"classes": self.classes}
        known["definition"] = "kohavi_wolpert" if definition is None else definition
        known.update({"y": self.y} if self.posterior is None else {"posterior": self.posterior})
        return known


def resample_predictions(
    estimator: Any,
    data: Any,
    y: Any = None,
    *,
    sampling: Sampling | None = None,
    n_train: float | None = None,
    n_test: float | None = None,
    n_repetitions: int = 50,
    method: Method = "predict",
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: RandomState = None,
) -> ResampledPredictions:
    """Train an estimator repeatedly, and predict the same test set each time.

    Parameters
    ----------
    estimator : classifier or regressor
        Cloned, never modified. Each ``random_state`` in it that is None gets a new seed in each
        training; one that is set stays, so nothing but the sample changes.
    data : problem, callable, or array or data frame of shape (n_rows, n_features)
        A problem of :mod:`orfeon.datasets`, or anything with its methods: the true probabilities
        come from its ``posterior``, in regression from its ``predict`` and ``noise``. Or a function
        of a number of samples and ``random_state``. Or the samples of a data set.
    y : array of shape (n_rows,), optional
        Labels or targets of a data set.
    sampling : {"fresh", "subsample", "bootstrap"}, optional
        Fresh samples of a problem; or samples of a data set without its test set, drawn without
        replacement (the default, by Kohavi and Wolpert) or with it.
    n_train : int or float, optional
        Size of the training samples: by default 300 for a problem; for a data set without its test
        set half in "subsample", all in "bootstrap".
    n_test : int or float, optional
        Size of the test set: by default 1,000 for a problem, a third of a data set.
    n_repetitions : int, default=50
        Number of trainings.
    method : {"predict", "predict_proba"}, default="predict"
        What to predict.
    n_jobs : int, optional
        Trainings that run at once; affects only the time. They run in threads, unless a joblib
        context sets another backend.
    verbose : int, default=0
        Whether to show progress.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the test set, the samples and the estimators. Estimators with the same integer are
        trained on the same samples, and more repetitions begin with the same ones.

    Returns
    -------
    ResampledPredictions
        The predictions, and what is known about the problem.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier
    >>> from orfeon.datasets import TwoNorm
    >>> from orfeon.inspection import resample_predictions
    >>> for estimator in (CARTClassifier(), BaggingClassifier(n_estimators=25)):
    ...     found = resample_predictions(
    ...         estimator, TwoNorm(), n_test=200, n_repetitions=30, random_state=0
    ...     )
    ...     print(found.decompose("breiman"))
    error 0.2... = bias 0.0... + variance 0.1... + noise 0.0... (breiman, 30 trainings)
    error 0.0... = bias 0.0... + variance 0.0... + noise 0.0... (breiman, 30 trainings)
    """
    check_choice("method", method, ("predict", "predict_proba"))
    if method == "predict_proba" and is_regressor(estimator):
        raise ValueError("method='predict_proba' is for classifiers; a regressor predicts numbers.")
    return _resample(
        estimator, data, y, sampling, n_train, n_test, n_repetitions, method, n_jobs, verbose,
        random_state,
    )[0]  # fmt: skip


def resample_with_training_errors(
    estimator: Any,
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
) -> tuple[ResampledPredictions, Floats]:
    """The same, with the error of each training on its own sample."""
    return _resample(
        estimator, data, y, sampling, n_train, n_test, n_repetitions, "predict", n_jobs, verbose,
        random_state, with_training=True,
    )  # fmt: skip


def _resample(
    estimator: Any,
    data: Any,
    y: Any,
    sampling: Sampling | None,
    n_train: float | None,
    n_test: float | None,
    n_repetitions: int,
    method: Method,
    n_jobs: int | None,
    verbose: int,
    random_state: RandomState,
    with_training: bool = False,
) -> tuple[ResampledPredictions, Floats]:
    if not is_classifier(estimator) and not is_regressor(estimator):
        raise TypeError(
            f"estimator={estimator!r} is not allowed: it must be a classifier or a regressor."
        )
    seeds = Seeds.of(random_state)
    samples = read_training_samples(data, y, sampling, n_train, n_test, seeds)
    X_test, y_test = samples.test_set()
    classes = known_classes(data, y, y_test) if is_classifier(estimator) else None
    answers = repeat_trainings(
        estimator, samples, n_repetitions, _Question(X_test, method, classes, with_training), seeds,
        n_jobs=n_jobs, verbose=verbose, with_samples=True,
    )  # fmt: skip
    predictions, training_errors = (np.array(each) for each in zip(*answers, strict=True))
    if classes is not None and method == "predict":
        classes = np.unique(np.append(classes, np.unique(predictions)))
    key = (seeds.entropy, seeds.key, samples.sampling, samples.n_train, samples.n_test)
    resampled = ResampledPredictions(
        predictions, y_test, classes, **_known(data, y, X_test, classes is None),
        sampling=samples.sampling, n_train=samples.n_train, seeds=key,
    )  # fmt: skip
    return resampled, training_errors


class _Question:
    """Predicts the test set with a fitted estimator, and if wanted its training sample."""

    def __init__(
        self, X: Any, method: Method, classes: npt.NDArray[Any] | None, with_training: bool
    ) -> None:
        self.X, self.method, self.classes, self.with_training = X, method, classes, with_training

    def __call__(self, fitted: Any, X: Any, y: Any) -> tuple[npt.NDArray[Any], float]:
        return self._answers(fitted), self._error(fitted, X, y) if self.with_training else np.nan

    def _answers(self, fitted: Any) -> npt.NDArray[Any]:
        if self.method == "predict" or self.classes is None:
            return np.asarray(fitted.predict(self.X))
        answers = np.asarray(fitted.predict_proba(self.X))
        # A sample may lack some classes.
        known = places_of_classes(fitted.classes_, self.classes)
        whole = np.zeros((len(answers), len(self.classes)))
        whole[:, known] = answers
        return whole

    def _error(self, fitted: Any, X: Any, y: Any) -> float:
        answers = np.asarray(fitted.predict(X))
        return float(np.mean((answers - y) ** 2 if self.classes is None else answers != y))


def _known(data: Any, y: Any, X_test: Any, is_regression: bool) -> dict[str, Any]:
    """What is known about the problem at the points of the test set."""
    known: dict[str, Any] = {"posterior": None, "regression_function": None, "noise": 0.0}
    if y is not None:
        return known
    if is_regression and hasattr(data, "predict") and hasattr(data, "noise"):
        known["regression_function"] = np.asarray(data.predict(X_test), dtype=np.float64)
        known["noise"] = float(data.noise) ** 2
    elif not is_regression and hasattr(data, "posterior"):
        known["posterior"] = np.asarray(data.posterior(X_test), dtype=np.float64)
    return known
