"""Add the worst sample whenever a network begins to overfit those it is trained on (Röbel).

Dynamic pattern selection trains a network on a few samples and watches the generalisation factor,
the error on validation samples over that on the training samples. When the factor exceeds a limit,
the sample with the largest error joins. The limit only falls: it is the lowest so far of 1 and the
mean plus one standard deviation of the latest factors.

References
----------
Röbel (1994). The dynamic pattern selection algorithm: effective training and controlled
generalization of backpropagation neural networks. Technical report, Technische Universität Berlin.
Engelbrecht (2007). Computational Intelligence: An Introduction. Wiley. Chapter 7.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.imbalance.samplers import SelectionSampler
from orfeon.imbalance.trainee import TRAINEES, Trainee
from orfeon.trees.base import LIMITS
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval
from orfeon.utils.seeding import seed_sequence
from orfeon.utils.types import Floats, Integers

#: A network without error on its training samples has this mean square, so that factors are finite.
_LEAST_ERROR = 1e-12


def add_samples_when_overfitted(
    start: Integers,
    candidates: Integers,
    validation: Integers,
    train: Callable[[Integers], None],
    errors: Callable[[], Floats],
    *,
    n_latest: int,
    tolerance: float,
    max_rounds: int,
) -> list[Integers]:
    """Alternate training with adding the worst candidate where it overfits; rows of each round."""
    rounds, factors, limit = [np.sort(start)], list[float](), 1.0
    while True:
        rows = rounds[-1]
        train(rows)
        squares = errors() ** 2
        unseen = float(squares[validation].mean())
        left = np.setdiff1d(candidates, rows)
        if len(rounds) == max_rounds or unseen <= tolerance**2 or not len(left):
            return rounds
        factor = unseen / max(float(squares[rows].mean()), _LEAST_ERROR)
        worst = left[np.argmax(squares[left])]
        rounds.append(np.union1d(rows, worst) if factor > limit else rows)
        factors = [*factors, factor][-n_latest:]
        limit = min(limit, float(np.mean(factors) + np.std(factors)))


@saved.attributes(history_=saved.indices, validation_indices_=saved.indices)
@documented()
class DynamicPatternSelection(SelectionSampler):
    """Undersample to the samples that a network needs in order not to overfit.

    Parameters
    ----------
    estimator : classifier, optional
        With ``partial_fit`` and ``predict_proba``; by default scikit-learn's ``MLPClassifier`` with
        ten hidden units. It sees standardised features.
    sampling_strategy : str or list, default="all"
        Classes whose samples may be left out, as in imbalanced-learn: "all", "majority",
        "not minority", "not majority", or a list of classes.
    validation_share : float, default=0.2
        Share of each class that overfitting is measured on; a class keeps one sample for training.
    n_latest : int, default=10
        Number of rounds whose factors set the limit.
    tolerance : float, default=0.05
        Training ends when the root mean squared error on the validation samples is no larger than
        this.
    n_epochs : int, default=1
        Calls of ``partial_fit`` in each round.
    max_rounds : int, default=500
        Maximum number of rounds.
    <random_state>

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_selected,)
        Rows kept.
    validation_indices_ : ndarray of shape (n_validation,)
        Rows that overfitting was measured on.
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
    IncrementalSelection : Adds the worst samples of all, as long as one is predicted wrongly.

    Notes
    -----
    Training starts with one sample of each class. The error of a sample is the largest difference
    between a predicted probability and its true value, 0 or 1. Equal errors are taken in row order.
    A round adds at most one sample, so at most ``max_rounds`` samples are kept besides the first of
    each class.

    Examples
    --------
    >>> from orfeon.datasets import make_gaussian_clouds
    >>> from orfeon.imbalance import DynamicPatternSelection
    >>> X, y = make_gaussian_clouds(500, priors=(0.9, 0.1), random_state=0)
    >>> sampler = DynamicPatternSelection(random_state=0)
    >>> X_few, y_few = sampler.fit_resample(X, y)
    >>> int(sampler.history_[0]), len(sampler.validation_indices_), len(y_few) < 300
    (2, 100, True)
    """

    _needs_numbers: ClassVar[str] = "trains a network, so X must hold numbers: encode categories"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SelectionSampler._parameter_constraints,
        "estimator": TRAINEES,
        "validation_share": [Interval(Real, 0.0, 1.0, closed="neither")],
        "n_latest": [Interval(Integral, 1, None, closed="left")],
        "tolerance": [Interval(Real, 0.0, 1.0, closed="left")],
        "n_epochs": [Interval(Integral, 1, None, closed="left")],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "random_state": LIMITS["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        sampling_strategy: Any = "all",
        validation_share: float = 0.2,
        n_latest: int = 10,
        tolerance: float = 0.05,
        n_epochs: int = 1,
        max_rounds: int = 500,
        random_state: Any = None,
    ) -> None:
        super().__init__(sampling_strategy=sampling_strategy)
        self.estimator = estimator
        self.validation_share = validation_share
        self.n_latest = n_latest
        self.tolerance = tolerance
        self.n_epochs = n_epochs
        self.max_rounds = max_rounds
        self.random_state = random_state

    def _select(self, X: Any, y: npt.NDArray[Any]) -> Integers:
        seeds = seed_sequence(self.random_state)
        trainee = Trainee(self.estimator, X, y, seeds if self.random_state is not None else None)
        start, candidates, validation = self._divide(trainee.codes, np.random.default_rng(seeds))
        rounds = add_samples_when_overfitted(
            start, candidates, validation if len(validation) else candidates,
            lambda rows: trainee.train(rows, self.n_epochs), lambda: trainee.errors()[0],
            n_latest=self.n_latest, tolerance=self.tolerance, max_rounds=self.max_rounds,
        )  # fmt: skip
        self.history_ = np.array([len(rows) for rows in rounds], dtype=np.int64)
        self.validation_indices_ = np.sort(validation)
        return self._with_other_classes(rounds[-1], y)

    def _divide(
        self, codes: Integers, rng: np.random.Generator
    ) -> tuple[Integers, Integers, Integers]:
        """One sample of each class to start with, all that may join, and those to validate on."""
        start, candidates, validation = [], [], []
        for code in range(codes.max() + 1):
            own = rng.permutation(np.flatnonzero(codes == code))
            n_training = max(1, len(own) - round(self.validation_share * len(own)))
            start.append(own[:1])
            candidates.append(own[:n_training])
            validation.append(own[n_training:])
        return np.concatenate(start), np.concatenate(candidates), np.concatenate(validation)
