"""Keep the samples near the border of a network while it is trained (Duch's SVNT).

A network learns little from samples that it already predicts with certainty, and wrong things from
samples that it misclassifies with certainty. Support vector neural training leaves out both after
each few epochs, and puts back those that the network loses.

References
----------
Duch (2005). Support vector neural training. Lecture Notes in Computer Science 3697, 67-72.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.imbalance.samplers import SelectionSampler
from orfeon.imbalance.trainee import TRAINEES, Trainee
from orfeon.trees.base import LIMITS
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval
from orfeon.utils.types import Floats, Integers

#: How much smaller the step of the threshold becomes when samples come back.
_SHRINK = 1.2


class SupportVectors(NamedTuple):
    """The samples of the best round, its threshold, and the number of samples of each round."""

    rows: Integers
    threshold: float
    n_trained: list[int]


def select_support_vectors(
    n_samples: int,
    train: Callable[[Integers], None],
    errors: Callable[[], tuple[Floats, float]],
    is_enough: Callable[[Integers], bool],
    *,
    step: float = 0.01,
    patience: int = 10,
    max_rounds: int = 100,
) -> SupportVectors:
    """Alternate training with keeping samples whose error is neither small nor near 1."""
    rows = np.arange(n_samples)
    best = SupportVectors(rows, 0.0, [])
    best_accuracy, threshold, n_worse = -1.0, 0.0, 0
    for _ in range(max_rounds):
        best.n_trained.append(len(rows))
        train(rows)
        found, accuracy = errors()
        improves = accuracy > best_accuracy
        threshold += step if improves else 0.0
        kept = _between(found, threshold)
        if len(kept) > len(rows):
            threshold = max(0.0, threshold - step)
            step /= _SHRINK
            kept = _between(found, threshold)
        if not is_enough(kept):
            break
        rows = kept
        if improves:
            best_accuracy, n_worse = accuracy, 0
            best = best._replace(rows=rows, threshold=threshold)
        else:
            n_worse += 1
        if n_worse == patience:
            break
    return best


def _between(errors: Floats, threshold: float) -> Integers:
    return np.flatnonzero((errors >= threshold) & (errors <= 1.0 - threshold))


@saved.attributes(threshold_=saved.number(), history_=saved.indices)
@documented()
class SupportVectorSelection(SelectionSampler):
    """Undersample to the samples near the border of a network in training (SVNT).

    Parameters
    ----------
    estimator : classifier, optional
        With ``partial_fit`` and ``predict_proba``; by default scikit-learn's ``MLPClassifier`` with
        ten hidden units. It sees standardised features.
    sampling_strategy : str or list, default="all"
        Classes whose samples may be left out, as in imbalanced-learn: "all", "majority",
        "not minority", "not majority", or a list of classes.
    step : float, default=0.01
        How much the threshold grows in a round with a better accuracy; divided by 1.2 whenever
        samples come back.
    n_epochs : int, default=5
        Calls of ``partial_fit`` in each round.
    n_iter_no_change : int, default=10
        Number of rounds without a better accuracy after which training ends.
    max_rounds : int, default=100
        Maximum number of rounds.
    <random_state>

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_selected,)
        Rows kept, those of the round with the best accuracy.
    threshold_ : float
        Samples with errors from this to one minus this were selected.
    history_ : ndarray of shape (n_rounds,)
        Number of samples that each round was trained on.
    sampling_strategy_ : dict
        Classes that may lose samples.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if `X` has names.

    See Also
    --------
    IncrementalSelection : Starts with few samples and adds the worst.
    BorderSelection : Selects samples near the border by distances.
    PPTSSSampler : Selects by the margins of parallel perceptrons.

    Notes
    -----
    The error of a sample is the largest difference between a predicted probability and its true
    value, 0 or 1. Accuracy and errors are measured on the whole training set. Training ends early
    when a class would be left without samples.

    Examples
    --------
    >>> from orfeon.datasets import make_gaussian_clouds
    >>> from orfeon.imbalance import SupportVectorSelection
    >>> X, y = make_gaussian_clouds(1000, priors=(0.9, 0.1), random_state=0)
    >>> sampler = SupportVectorSelection(random_state=0)
    >>> X_few, y_few = sampler.fit_resample(X, y)
    >>> 0 < len(y_few) < 700
    True
    """

    _needs_numbers: ClassVar[str] = "trains a network, so X must hold numbers: encode categories"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SelectionSampler._parameter_constraints,
        "estimator": TRAINEES,
        "step": [Interval(Real, 0.0, 0.5, closed="neither")],
        "n_epochs": [Interval(Integral, 1, None, closed="left")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "random_state": LIMITS["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        sampling_strategy: Any = "all",
        step: float = 0.01,
        n_epochs: int = 5,
        n_iter_no_change: int = 10,
        max_rounds: int = 100,
        random_state: Any = None,
    ) -> None:
        super().__init__(sampling_strategy=sampling_strategy)
        self.estimator = estimator
        self.step = step
        self.n_epochs = n_epochs
        self.n_iter_no_change = n_iter_no_change
        self.max_rounds = max_rounds
        self.random_state = random_state

    def _select(self, X: Any, y: npt.NDArray[Any]) -> Integers:
        trainee = Trainee(self.estimator, X, y, self.random_state)
        found = select_support_vectors(
            len(y), lambda rows: trainee.train(rows, self.n_epochs), trainee.errors,
            trainee.has_all_classes, step=self.step, patience=self.n_iter_no_change,
            max_rounds=self.max_rounds,
        )  # fmt: skip
        self.threshold_ = float(found.threshold)
        self.history_ = np.array(found.n_trained, dtype=np.int64)
        return self._with_other_classes(found.rows, y)
