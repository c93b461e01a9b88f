"""Dynamic selection: for each row, the members decide that are competent near it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple, Self

import joblib
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import column_or_1d, indexable
from sklearn.utils.validation import check_is_fitted, has_fit_parameter
from threadpoolctl import threadpool_limits

from orfeon.base import transactional
from orfeon.combining.competence import SELECTION_RULES, Known, Regions
from orfeon.combining.meta_des import meta_features, meta_samples, meta_weights, profile_regions
from orfeon.combining.regions import Neighbours
from orfeon.data.schema import Schema
from orfeon.data.training_set import check_length, read_weights, relative_weights
from orfeon.ensembles.holdout import hash_samples
from orfeon.ensembles.with_selection import EnsembleWithSelection, Samples
from orfeon.members import Members, adapt
from orfeon.members.vote_input import codes_of_labels
from orfeon.perceptrons.inputs import Inputs
from orfeon.utils import saved
from orfeon.utils.row_threads import RowThreads
from orfeon.utils.scikit_learn import (
    HasMethods,
    Interval,
    StrOptions,
    _check_feature_names,
    _fit_context,
    _safe_indexing,
)
from orfeon.utils.seeding import seed_sequence
from orfeon.utils.types import Floats, Integers

Rule = Literal[
    "ola", "lca", "mcb", "knora_eliminate", "knora_union", "des_p", "meta_des", "clusters"
]

#: Weights of members that are held at once.
_ENTRIES = 1 << 22
#: Rows whose meta-features are computed at once: they fit in a processor's cache.
_ROWS = 512


class _Query(NamedTuple):
    """Rows to predict: as given, and encoded."""

    members: Members
    X: Any
    encoded: Floats


@saved.attributes(
    ensemble_=saved.anything,
    schema_=saved.instance("Schema"),
    inputs_=saved.instance("Inputs"),
    points_=saved.array("f8", 2, finite=True),
    votes_=saved.array("i8", 2, low=-1),
    labels_=saved.array("i8", 1, low=0),
    sample_weights_=saved.finite_floats,
    true_supports_=saved.optional(saved.array("f8", 2, finite=True)),
    centres_=saved.optional(saved.array("f8", 2, finite=True)),
    meta_estimator_=saved.optional(saved.estimator),
    classes_=saved.labels,
    n_features_in_=saved.integer(1),
    feature_names_in_=saved.optional(saved.labels),
)
class DynamicSelectionClassifier(ClassifierMixin, EnsembleWithSelection):  # type: ignore[misc]
    """For each row, a vote of the members that are right on nearby samples.

    Parameters
    ----------
    estimator : classifier, or list of fitted classifiers, default=None
        The ensemble whose members are selected. A :class:`sklearn.frozen.FrozenEstimator` and a
        list of fitted classifiers are used as they are: with ``on="train"``, pass ``fit`` samples
        that are new to them.
        By default bagging of 100 :class:`orfeon.CARTClassifier`.
    rule : str, default="lca"
        How the votes of members count, given the region of the row:

        - "ola": the members with the highest local accuracy decide (Woods et al. 1997).
        - "lca": the same, counting only samples of the region to which the member gives the class
          that it gives the row.
        - "mcb": the same as "ola", counting only samples on which most members vote as they do on
          the row; members within 0.1 of the best decide together (Giacinto and Roli 2001).
        - "knora_eliminate": members that are right on the whole region, which shrinks until there
          are some (Ko et al. 2008).
        - "knora_union": a member has one vote per sample of the region on which it is right.
        - "des_p": the members that are more accurate than a guess (Woloszynski et al. 2012).
        - "meta_des": a classifier learns from meta-features which members are competent
          (Cruz et al. 2015).
        - "clusters": the selection samples are divided by k-means, and the best members of each
          cluster decide there.
    n_neighbors : int, default=7
        Samples in a region; more where several are equally near.
    n_regions : int, default=8
        Number of clusters of the rule "clusters".
    meta_estimator : classifier, default=None
        What the rule "meta_des" learns with; it needs ``predict_proba``. By default
        :class:`sklearn.naive_bayes.GaussianNB`.
    on : {"out_of_bag", "validation", "train"}, default="out_of_bag"
        The samples by which competence is measured: those that each member was not trained on,
        some set aside, or all that ``fit`` gets.
    validation_fraction : float, default=0.25
        The fraction set aside by ``on="validation"``.
    n_jobs : int, optional
        Passed on to the ensemble and the search for neighbours. The result does not depend on it.
    verbose : int, default=0
        Whether to show progress.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of all random choices.

    Attributes
    ----------
    ensemble_ : classifier, or list of classifiers
        The fitted ensemble.
    points_ : ndarray of shape (n_samples, n_inputs)
        The selection samples as points: numbers standardised, categories one-hot, missing values
        at the mean.
    votes_ : ndarray of shape (n_samples, n_members)
        The members' votes on them as class codes, -1 where a member was trained on the sample.
    labels_ : ndarray of shape (n_samples,)
        Their class codes.
    sample_weights_ : ndarray of shape (n_samples,)
        Their weights.
    meta_estimator_ : classifier
        What "meta_des" learnt.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Their names, when all are strings.

    See Also
    --------
    ArbiterClassifier : A trained referee for each classifier instead of neighbours.
    PrunedClassifier : One choice of members for all rows.

    Notes
    -----
    A region holds all samples as near as its last one, so neither the order of the samples nor
    copies in place of weights matter. Members that are equally good vote together, where the
    publications draw one of them. Rows on which all members agree need no region.

    References
    ----------
    Britto, Sabourin and Oliveira (2014). Dynamic selection of classifiers: a comprehensive review.
    Pattern Recognition 47(11), 3665-3680.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from orfeon import BaggingClassifier, CARTClassifier, DynamicSelectionClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> pool = BaggingClassifier(CARTClassifier(max_depth=5), n_estimators=50, random_state=0)
    >>> round(pool.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]), 2)
    0.83
    >>> local = DynamicSelectionClassifier(pool, random_state=0).fit(X[:1200], y[:1200])
    >>> round(local.score(X[1200:], y[1200:]), 2)
    0.92
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EnsembleWithSelection._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict"]), list, tuple, None],
        "rule": [StrOptions({*SELECTION_RULES, "meta_des", "clusters"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_regions": [Interval(Integral, 1, None, closed="left")],
        "meta_estimator": [HasMethods(["fit", "predict_proba"]), None],
    }

    ensemble_: Any
    schema_: Schema
    inputs_: Inputs
    points_: Floats
    votes_: Integers
    labels_: Integers
    sample_weights_: Floats
    classes_: npt.NDArray[Any]
    n_features_in_: int

    def __init__(
        self,
        estimator: Any = None,
        rule: Rule = "lca",
        *,
        n_neighbors: int = 7,
        n_regions: int = 8,
        meta_estimator: Any = None,
        on: Samples = "out_of_bag",
        validation_fraction: float = 0.25,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.n_neighbors = n_neighbors
        self.n_regions = n_regions
        self.meta_estimator = meta_estimator
        self.on = on
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        from orfeon.ensembles import BaggingClassifier

        return BaggingClassifier(n_estimators=100)

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    @transactional
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the ensemble and record its members' votes on the selection samples.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            The samples, as the ensemble takes them.
        y : array of shape (n_samples,)
            Classes.
        sample_weight : array of shape (n_samples,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            The fitted classifier.
        """
        self.n_features_in_ = Schema.learn(X).n_features  # rejects what is not a table
        (X,) = indexable(X)
        if y is not None:
            y = column_or_1d(y, warn=True)
        if isinstance(self.estimator, list | tuple):
            self.ensemble_, select = self.estimator, (X, y, sample_weight)
        else:
            self.ensemble_ = self._prepared()
            select = self._train(self.ensemble_, X, y, sample_weight)
        members = adapt(self.ensemble_)
        if members.classes is None:
            raise ValueError("estimator predicts numbers; dynamic selection needs classifiers.")
        self.classes_ = members.classes
        for name in ("true_supports_", "centres_", "meta_estimator_"):
            self.__dict__.pop(name, None)
        kept = self._record(members, *select)
        if self.rule == "clusters":
            self._divide()
        elif self.rule == "meta_des":
            self._learn_competence(members, select[0], kept)
        return self

    def _record(self, members: Members, X: Any, y: Any, sample_weight: Any) -> Integers:
        """Keep the selection samples as points, with votes and labels; return their rows."""
        labels = column_or_1d(y)
        votes: Integers = np.asarray(members.answers(X), dtype=np.int64)
        check_length(labels, votes.shape[1])
        weights = np.ones(len(labels))
        if sample_weight is not None:
            weights = read_weights(sample_weight, len(labels))
        if self.on == "out_of_bag":
            votes[~members.out_of_bag(X, labels, sample_weight)] = -1
        _check_feature_names(self, X, reset=True)
        codes = codes_of_labels(labels, self.classes_, weights > 0)
        count = np.flatnonzero(weights)
        # Copies are one sample of their weight, and the order given does not matter.
        hashes = hash_samples(_safe_indexing(X, count), codes[count])
        _, first, copy = np.unique(hashes, return_index=True, return_inverse=True)
        kept = count[first]
        given = relative_weights(weights[count])
        self.sample_weights_ = np.bincount(copy, given).astype(np.float64)
        self.schema_, encoded = Schema.learn_and_encode(_safe_indexing(X, kept))
        self.labels_ = codes[kept]
        self.votes_ = np.ascontiguousarray(votes[:, kept].T)
        self.inputs_ = Inputs.learn(
            encoded, self.schema_, self.sample_weights_, standardize=True, divide=False
        )
        self.points_ = self._points(encoded)
        return kept

    def _points(self, encoded: Floats) -> Floats:
        return np.ascontiguousarray(self.inputs_.of(encoded)[:, :-1])  # without the constant input

    @property
    def _known(self) -> Known:
        return Known(self.votes_, self.labels_, len(self.classes_))

    def _neighbours(self) -> Neighbours:
        return Neighbours(self.points_, self.sample_weights_, self.n_neighbors, self.n_jobs)

    def _divide(self) -> None:
        """Find the centres of the clusters."""
        seed = int(seed_sequence(self.random_state).generate_state(1)[0])
        n_clusters = min(self.n_regions, len(np.unique(self.points_, axis=0)))
        clusters = KMeans(n_clusters, n_init=10, random_state=seed)
        with threadpool_limits(1):  # sums depend on the number of threads
            clusters.fit(self.points_, sample_weight=self.sample_weights_)
        self.centres_ = clusters.cluster_centers_

    def _learn_competence(self, members: Members, X: Any, kept: Integers) -> None:
        """Train the classifier of META-DES on pairs of selection samples and members."""
        known = self._known
        supports = members.supports(X)[:, kept]
        self.true_supports_ = np.ascontiguousarray(
            supports[:, np.arange(len(kept)), known.y].T, dtype=np.float64
        )
        random = np.random.default_rng(seed_sequence(self.random_state))
        rows = meta_samples(known, random)
        others = rows if len(known.y) > 1 else None  # a single sample is its own neighbour
        regions = self._neighbours().regions(self.points_[rows], without=others)
        features = np.stack([*meta_features(
            regions, profile_regions(known.votes[rows], known, self.sample_weights_, others), known,
            self.true_supports_, supports.max(axis=2).T[rows], self.n_neighbors,
        )], axis=2)  # fmt: skip
        judged = known.votes[rows] >= 0
        meta = GaussianNB() if self.meta_estimator is None else clone(self.meta_estimator)
        weights = np.broadcast_to(self.sample_weights_[rows][:, None], judged.shape)[judged]
        given = {"sample_weight": weights} if has_fit_parameter(meta, "sample_weight") else {}
        right = known.right[rows][judged].astype(np.int64)
        self.meta_estimator_ = meta.fit(features[judged], right, **given)

    # -- prediction ----------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False  # neighbours are searched in dense rows
        return tags

    def _queried(self, X: Any) -> tuple[_Query, Integers]:
        """The rows, and the votes of the members on them, of shape (n_rows, n_members)."""
        check_is_fitted(self, "points_")
        _check_feature_names(self, X, reset=False)
        encoded = self.schema_.encode(X)
        (X,) = indexable(X)
        members = adapt(self.ensemble_)
        votes = np.ascontiguousarray(members.answers(X).T, dtype=np.int64)
        return _Query(members, X, encoded), votes

    def member_weights(self, X: Any) -> Floats:
        """How much the vote of each member counts.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_members)
            Weights of the votes, 0 for members that are not selected. Where all members agree, all
            weigh the same.
        """
        query, votes = self._queried(X)
        weights = np.ones(votes.shape)
        for rows, chosen in self._selected(query, votes):
            weights[rows] = chosen
        return weights

    def _selected(self, query: _Query, votes: Integers) -> Iterator[tuple[Integers, Floats]]:
        """Weights of the members for the rows on which they disagree, some rows at a time."""
        rows = np.flatnonzero((votes != votes[:, :1]).any(axis=1))
        if not len(rows):
            return
        known, neighbours = self._known, self._neighbours()
        size = max(1, _ENTRIES // votes.shape[1])
        for first in range(0, len(rows), size):
            some = rows[first : first + size]
            points = self._points(query.encoded[some])
            if self.rule == "clusters":
                chosen = self._weigh_by_cluster(points, known)
            elif self.rule == "meta_des":
                chosen = self._weigh_by_learning(query, some, points, votes[some])
            else:
                regions = neighbours.regions(points)
                chosen = SELECTION_RULES[self.rule](regions, known, votes[some])
            yield some, chosen

    def _weigh_by_learning(
        self, query: _Query, rows: Integers, points: Floats, votes: Integers
    ) -> Floats:
        """Votes of the members that META-DES takes for competent."""
        supports = query.members.supports(_safe_indexing(query.X, rows))
        confidence = reduce(np.maximum, supports.T)  # much faster than max over the last axis
        known, neighbours = self._known, self._neighbours()
        weights = np.empty(votes.shape)

        def weigh(some: slice) -> None:
            features = meta_features(
                neighbours.regions(points[some]),
                profile_regions(votes[some], known, self.sample_weights_, None),
                known,
                self.true_supports_,
                np.ascontiguousarray(confidence[some]),
                self.n_neighbors,
            )
            weights[some] = meta_weights(self.meta_estimator_, features)

        RowThreads(joblib.effective_n_jobs(self.n_jobs)).map(weigh, len(rows), _ROWS)
        return weights

    def _weigh_by_cluster(self, points: Floats, known: Known) -> Floats:
        """Votes of the best members of the cluster that each row belongs to."""
        home = pairwise_distances_argmin(self.points_, self.centres_)
        belongs = csr_array(
            (self.sample_weights_, (home, np.arange(len(home)))),
            shape=(len(self.centres_), len(home)),
        )
        regions = Regions(belongs, np.zeros(len(home), np.int64))
        best = SELECTION_RULES["ola"](regions, known, self.votes_)
        return np.asarray(best[pairwise_distances_argmin(points, self.centres_)])

    def predict_proba(self, X: Any) -> Floats:
        """Share of each class among the votes of the selected members.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes_``.
        """
        query, votes = self._queried(X)
        shares = np.zeros((len(votes), len(self.classes_)))
        shares[np.arange(len(votes)), votes[:, 0]] = 1.0
        for rows, weights in self._selected(query, votes):
            given = votes[rows]
            for label in range(len(self.classes_)):
                shares[rows, label] = np.where(given == label, weights, 0.0).sum(axis=1)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class that most of the selected members vote for.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes; ties go to the first class.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])
