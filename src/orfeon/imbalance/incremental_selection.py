"""Start with few samples and add those that a network gets most wrong (Zhang).

Incremental selective learning trains a network on a small random part of the training set, adds the
most critical of the others, those with the largest errors, trains further, and repeats this until
the network gets none of the rest wrong.

References
----------
Zhang (1994). Accelerated learning by active example selection. International Journal of Neural
Systems 5(1), 67-75.
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


def add_critical_samples(
    start: Integers,
    train: Callable[[Integers], None],
    errors: Callable[[], Floats],
    *,
    n_added: int,
    tolerance: float = 0.5,
    max_rounds: int = 50,
) -> list[Integers]:
    """Alternate training with adding samples of the largest errors; the rows of each round."""
    rounds = [np.sort(start)]
    while True:
        train(rounds[-1])
        if len(rounds) == max_rounds:
            return rounds
        found = errors().copy()
        found[rounds[-1]] = -np.inf
        worst = np.argsort(-found, kind="stable")[:n_added]
        critical = worst[found[worst] > tolerance]
        if not len(critical):
            return rounds
        rounds.append(np.union1d(rounds[-1], critical))


@saved.attributes(history_=saved.indices)
@documented()
class IncrementalSelection(SelectionSampler):
    """Undersample to a small random part and the samples that a network gets most wrong.

    Parameters
    ----------
    estimator : classifier, optional
        With ``partial_fit`` and ``predict_proba``; by default scikit-learn's ``MLPClassifier`` with
        ten hidden units. It sees standardised features.
    sampling_strategy : str or list, default="all"
        Classes whose samples may be left out, as in imbalanced-learn: "all", "majority",
        "not minority", "not majority", or a list of classes.
    initial_share : float, default=0.1
        Share of each class to start with, chosen at random; at least one sample.
    added_share : float, default=0.02
        Maximum share of all samples that a round adds; at least one sample.
    tolerance : float, default=0.5
        A sample is added only if its error is larger.
    n_epochs : int, default=50
        Calls of ``partial_fit`` in each round.
    max_rounds : int, default=50
        Maximum number of rounds.
    <random_state>

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_selected,)
        Rows kept.
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
    SupportVectorSelection : Starts with all samples and leaves out those far from the border.

    Notes
    -----
    The error of a sample is the largest difference between a predicted probability and its true
    value, 0 or 1. Equal errors are taken in row order. Mislabelled samples have large errors
    and are added, so edit first.

    Examples
    --------
    >>> from orfeon.datasets import make_gaussian_clouds
    >>> from orfeon.imbalance import IncrementalSelection
    >>> X, y = make_gaussian_clouds(1000, priors=(0.9, 0.1), random_state=0)
    >>> sampler = IncrementalSelection(random_state=0)
    >>> X_few, y_few = sampler.fit_resample(X, y)
    >>> int(sampler.history_[0]), len(y_few) < 400
    (100, True)
    """

    _needs_numbers: ClassVar[str] = "trains a network, so X must hold numbers: encode categories"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SelectionSampler._parameter_constraints,
        "estimator": TRAINEES,
        "initial_share": [Interval(Real, 0.0, 1.0, closed="right")],
        "added_share": [Interval(Real, 0.0, 1.0, closed="right")],
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
        initial_share: float = 0.1,
        added_share: float = 0.02,
        tolerance: float = 0.5,
        n_epochs: int = 50,
        max_rounds: int = 50,
        random_state: Any = None,
    ) -> None:
        super().__init__(sampling_strategy=sampling_strategy)
        self.estimator = estimator
        self.initial_share = initial_share
        self.added_share = added_share
        self.tolerance = tolerance
        self.n_epochs = n_epochs
        self.max_rounds = max_rounds
        self.random_state = random_state

    def _select(self, X: Any, y: npt.NDArray[Any]) -> Integers:
        seeds = seed_sequence(self.random_state)
        trainee = Trainee(self.estimator, X, y, seeds if self.random_state is not None else None)
        rounds = add_critical_samples(
            self._start(trainee.codes, np.random.default_rng(seeds)),
            lambda rows: trainee.train(rows, self.n_epochs), lambda: trainee.errors()[0],
            n_added=max(1, int(self.added_share * len(y))), tolerance=self.tolerance,
            max_rounds=self.max_rounds,
        )  # fmt: skip
        self.history_ = np.array([len(rows) for rows in rounds], dtype=np.int64)
        return self._with_other_classes(rounds[-1], y)

    def _start(self, codes: Integers, rng: np.random.Generator) -> Integers:
        """A share of each class, at random."""
        parts = []
        for code in range(codes.max() + 1):
            own = rng.permutation(np.flatnonzero(codes == code))
            parts.append(own[: max(1, round(self.initial_share * len(own)))])
        return np.concatenate(parts)
