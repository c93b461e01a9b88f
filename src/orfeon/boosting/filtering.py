"""Boosting by filtering: the majority of three classifiers.

The first classifier learns from all samples, the second from samples half of which the first gets
wrong, the third from samples on which the first two disagree.

References
----------
Schapire (1990). The strength of weak learnability. Machine Learning 5(2), 197-227.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import has_fit_parameter

from orfeon.base import TabularClassifierMixin, transactional
from orfeon.boosting.loop import LEAST_SHARE
from orfeon.boosting.majority_of_three import (
    Distribution,
    Filtering,
    Source,
    Stream,
    decide,
    filtering_error,
)
from orfeon.data.training_set import TrainingSet, are_counts, fractions_error
from orfeon.ensembles.base import EstimatorTraining, Recipe, TreeTraining
from orfeon.ensembles.ensemble import Ensemble
from orfeon.ensembles.perturbation import Perturbation, member_generator, sample_size
from orfeon.ensembles.voting import VotesMixin
from orfeon.members.members import EstimatorMembers, concatenate
from orfeon.trees.base import LIMITS, BaseTree
from orfeon.trees.cart import CARTClassifier
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.progress import Progress, report_progress
from orfeon.utils.scikit_learn import HasMethods, Interval, StrOptions, _fit_context
from orfeon.utils.seeding import Purpose, seed_sequence
from orfeon.utils.types import Floats, Integers, Integers32
from orfeon.utils.user_warning import warn_user

__all__ = ["FilterBoostClassifier", "filtering_error"]

Sampling = Literal["stream", "weights", "resample"]

#: What the first of three has more than the others where each votes for another class.
_EDGE = 1e-9


@saved.attributes(
    committees_=saved.array("i8", *range(1, 17), low=0),
    errors_=saved.floats,
    sample_sizes_=saved.floats,
)
@documented()
class FilterBoostClassifier(VotesMixin, TabularClassifierMixin, Ensemble):
    """Majority of three classifiers, each trained on samples filtered by those before it.

    The first learns from all samples, the second from samples half of which the first gets wrong,
    the third from samples on which the first two disagree. With ``depth=2`` each of the three is
    itself such a majority, and so on.

    Parameters
    ----------
    estimator : estimator, optional
        The base learner. By default a :class:`orfeon.CARTClassifier` of depth 3: with three members
        each should be better than a stump, but still make training errors, which the other two
        learn from.
    depth : int, default=1
        Levels of majorities. There are ``3 ** depth`` members, or fewer if samples or errors run
        out; with fewer than half, a warning is raised.
    sampling : {"stream", "weights", "resample"}, default="stream"
        "stream" uses each training sample once, in random order: a first part trains the first
        classifier; of a second part, equally many wrong and correct samples train the second; of
        the rest, samples on which the two disagree train the third. The other two treat the
        training set as the whole distribution, which all three see, by weights or by drawing with
        replacement.
    max_samples : int or float, optional
        Number or share of the samples for the first of three: by default a third of a stream, at
        every level (the other two halve the rest), and with ``sampling="resample"`` as many draws
        as there are samples, for every member.
    min_samples : int, default=1
        If filtering leaves fewer samples than this, the first of three decides alone. Use more than
        one for learners that reject small training sets.
    n_jobs : int, optional
        Threads that predict new rows, through joblib. Training is sequential.
    <verbose>
    <random_state>

    Attributes
    ----------
    <members>
    committees_ : ndarray of int of shape (3, ..., 3)
        Index of each member: the first axis is the top level, the last the three members of each
        majority. A member that decides alone occurs several times.
    errors_ : ndarray of shape (n_members,)
        Error of each member on its filtered training samples.
    sample_sizes_ : ndarray of shape (n_members,)
        Number or weight of each member's training samples.
    <classes>

    Notes
    -----
    The first of three decides alone if nothing is left for the others: it makes no error on the
    samples for the second, or the first two never disagree on those for the third.

    With two classes, if each member errs on at most e < 1/2 of its own samples, the majority errs
    with probability at most 3 e² - 2 e³ (:func:`filtering_error`). With ``sampling="weights"`` this
    holds for ``errors_`` and the training error. On a stream it holds for errors on fresh samples;
    ``errors_``, on training samples, are smaller.

    With more classes the majority is the class that two agree on, or else that of the first.

    References
    ----------
    Schapire (1990). The strength of weak learnability. Machine Learning 5(2), 197-227.

    Examples
    --------
    >>> from orfeon import FilterBoostClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(3000, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> three = FilterBoostClassifier(random_state=0).fit(X, y)
    >>> three.sample_sizes_, round(three.score(X_test, y_test), 2)
    (array([1000.,  616.,  416.]), 0.75)
    """

    _decides_by_vote: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "depth": [Interval(Integral, 1, None, closed="left")],
        "sampling": [StrOptions({"stream", "weights", "resample"})],
        "max_samples": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0.0, 1.0, closed="right"),
            None,
        ],
        "min_samples": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": LIMITS["random_state"],
    }

    committees_: Integers
    errors_: Floats
    sample_sizes_: Floats

    def __init__(
        self,
        estimator: Any = None,
        *,
        depth: int = 1,
        sampling: Sampling = "stream",
        max_samples: float | None = None,
        min_samples: int = 1,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.depth = depth
        self.sampling = sampling
        self.max_samples = max_samples
        self.min_samples = min_samples
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    # -- fitting -------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    @transactional
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the members.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; with trees as members, missing values and categories are supported.
        y : array of shape (n_rows,)
            Classes.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            The fitted ensemble.
        """
        given = self.estimator
        self.estimator_ = CARTClassifier(max_depth=3) if given is None else clone(given)
        self._check_base()
        samples = self._read_all(X, y, sample_weight)
        self._check_weights(samples)
        sequence = seed_sequence(self.random_state)
        source = self._source(samples, member_generator(sequence, Purpose.SHUFFLING))
        if self._has_trees:
            self.estimator_._prepare(samples)
        with report_progress(
            self, 3**self.depth, self.verbose, X=X, y=y, sample_weight=sample_weight
        ) as progress:
            train = _Training(self.estimator_, samples, sequence, self._classes, progress)
            run = Filtering(
                samples.y, train, sequence, self.min_samples, lambda: progress.stop_requested
            )
            self.committees_ = run.learn(source, self.depth).who
            self.members_ = concatenate(run.members)
            self.errors_ = np.array(run.errors)
            self.sample_sizes_ = np.array(run.sizes)
            stopped = progress.stop_requested
        if not stopped and self.n_classes_ > 1:
            self._check_enough()
        return self

    def _check_enough(self) -> None:
        """Warn if samples or errors ran out for most members."""
        n_members = len(self.members_)
        if n_members == 1:
            warn_user(
                "FilterBoostClassifier: the first member makes no error on the samples that are "
                "filtered for the second, or no samples are left, so it decides alone. Give a "
                "weaker estimator, or more samples."
            )
        elif n_members < LEAST_SHARE * 3**self.depth:
            warn_user(
                f"FilterBoostClassifier: depth={self.depth} ended with {n_members} members of the "
                f"{3**self.depth} requested, because these make no error on the samples that are "
                "filtered for others, or no samples are left. Give a smaller depth, a weaker "
                "estimator, or more samples."
            )

    def _source(self, samples: TrainingSet, rng: np.random.Generator) -> Source:
        n_rows = len(samples)
        weights = np.ones(n_rows, np.int64) if samples.are_equal else samples.weights
        if self.sampling == "stream":
            size = sample_size(1 / 3 if self.max_samples is None else self.max_samples, n_rows)
            return Stream(rng.permutation(n_rows), weights, size / n_rows)
        n_draws = None
        if self.sampling == "resample":
            n_draws = sample_size(1.0 if self.max_samples is None else self.max_samples, n_rows)
        return Distribution(weights.astype(np.float64), n_draws)

    def _check_weights(self, samples: TrainingSet) -> None:
        """Reject weights that the base learner cannot take."""
        if self._has_trees or has_fit_parameter(self.estimator_, "sample_weight"):
            return
        who = type(self.estimator_).__name__
        if self.sampling == "weights":
            raise ValueError(
                f'sampling="weights" needs a base learner that takes sample_weight, but {who} does '
                'not; use sampling="stream" or sampling="resample".'
            )
        if self.sampling == "stream" and not are_counts(samples.weights):
            raise fractions_error(who, 'another base learner, or sampling="resample"')

    # -- deciding ------------------------------------------------------------------------------

    def committee_votes(self, X: Any) -> Integers32:
        """Class that each of the three of the top level votes for.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (3, n_rows)
            Indices into ``classes_``.
        """
        votes = self.votes(X)
        return np.stack([decide(votes[who]) for who in self.committees_])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class that two of three agree on; where all differ, that of the first.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes.
        """
        votes = self.committee_votes(X)
        return np.asarray(self.classes_[decide(votes)])

    def predict_proba(self, X: Any) -> Floats:
        """Share of the three of the top level that vote for each class.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Thirds, in the order of ``classes_``. Where all three differ, the first gets a billionth
            more, because it decides.
        """
        votes = self.committee_votes(X)
        everyone = np.arange(votes.shape[1])
        counts = np.zeros((votes.shape[1], self.n_classes_))
        for one in votes:
            counts[everyone, one] += 1
        shares = counts / 3
        split = counts.max(axis=1) == 1
        shares[split] -= _EDGE * counts[split]
        shares[everyone[split], votes[0, split]] += 3 * _EDGE
        return shares


@dataclass(frozen=True)
class _Training:
    """Trains one member with counts or weights of the samples."""

    base: Any
    samples: TrainingSet
    sequence: np.random.SeedSequence
    classes: npt.NDArray[Any]
    progress: Progress

    def __call__(self, given: npt.NDArray[Any], number: int) -> tuple[Any, npt.NDArray[Any]]:
        """The member, and its votes on all the samples."""
        recipe = Recipe(
            self.samples, lambda *_: Perturbation(weights=given), self.sequence, keep_seen=False
        )
        block = slice(number, number + 1)
        if isinstance(self.base, BaseTree):
            member = TreeTraining(self.base, recipe, self.classes)(block).members
        else:
            member = self._constant(given)
            if member is None:
                member = EstimatorTraining(self.base, recipe)(block).members
        votes = member.votes(self.samples.X)[0]
        self.progress.update()
        return member, votes

    def _constant(self, given: npt.NDArray[Any]) -> EstimatorMembers | None:
        """What filtering left may be of one class, which many learners refuse and none need."""
        labels = self.samples.y[given > 0]
        if (labels != labels[0]).any():
            return None
        constant = DummyClassifier(strategy="most_frequent").fit(np.zeros((1, 1)), labels[:1])
        return EstimatorMembers([constant], self.samples.n_classes)
