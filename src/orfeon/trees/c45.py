"""C4.5 Release 8: gain ratio, a branch per category, fractional samples, pessimistic pruning.

It follows Quinlan's program, except that values closer than 1e-5 stay different; gains and gain
ratios closer than 1e-9 are ties; portions of a sample below one millionth (from missing values) are
dropped; a tie between classes takes the parent's label; and a leaf without samples predicts its
parent's class shares. Without missing values and on ordinary scales the trees are the same.

As in the program, a test must leave ``min_samples_leaf`` samples in at least two branches, and a
cut of an ordered feature also a tenth of the average class (at most 25) on both sides; the penalty
counts the cuts that do. A test on categories may be made without gain and is undone if no gain
follows (``collapse``). Features with more categories than 0.3 times the samples do not count in the
average gain.

References
----------
Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.
Quinlan (1996). Improved use of continuous attributes in C4.5. JAIR 4, 77-90.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from orfeon.data.training_set import TrainingSet, are_counts
from orfeon.forest import Forest
from orfeon.forest.soft_thresholds import soft_bounds, soft_supports
from orfeon.growth.c45 import C45Growth, count_samples, grow_c45
from orfeon.kernels.c45.information import GRAINS
from orfeon.trees.base import (
    LIMITS,
    BaseTree,
    MemberSamples,
    TreeClassifierMixin,
    features_per_node,
    least_weight,
)
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions


@documented()
@saved.attributes(
    soft_bounds_=saved.optional(saved.one_of(saved.none, saved.array("f8", 2, finite=True)))
)
class C45Classifier(TreeClassifierMixin, BaseTree):
    """C4.5 classification tree.

    Parameters
    ----------
    min_samples_leaf : int or float, default=2
        Minimum weight of at least two branches of a test; below one, a share of the total.
        Whole-number weights count copies; others are taken relative to their mean.
    gain_ratio : bool, default=True
        Whether tests are compared by gain ratio, among those of at least average gain; otherwise
        by gain.
    mdl_penalty : bool, default=True
        Whether the gain of a cut is reduced by the cost of choosing it among the cuts of its
        feature.
    grouping : bool, default=False
        Whether the categories of a test are grouped into few branches; otherwise each has its own.
    collapse : bool, default=True
        Whether a subtree that makes no fewer training errors than a leaf becomes one.
    pruning : bool, default=True
        Whether the tree is pruned by its pessimistic errors.
    confidence : float, default=0.25
        Confidence of the pessimistic errors; lower values prune more.
    error_limit : {"table", "normal"}, default="table"
        The normal deviate in the upper limit of the errors: from C4.5's own table, or exact, as in
        Weka's J48.
    subtree_raising : bool, default=True
        Whether pruning may replace a node by its largest branch.
    <max_depth>
    <max_features>
    random_ties : bool, default=False
        Whether equally good tests are chosen at random; otherwise the first feature wins.
    soft_thresholds : bool, default=False
        Whether a row near a cut goes down both branches, in shares (Quinlan 1993, chapter 8). It
        changes what this tree predicts, not its shape; a tree that is a member of an ensemble
        has no soft thresholds.
    <categorical_features>
    <class_factors>
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of the random ties and of the features drawn.

    Attributes
    ----------
    <tree>
    soft_bounds_ : ndarray of shape (n_nodes, 2) or None
        With ``soft_thresholds``, where the shares of each cut begin and end to change.
    <classes>

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import C45Classifier
    >>> X = np.array([["sunny", 70], ["sunny", 90], ["overcast", 75], ["rain", 80], ["sunny", None],
    ...               ["sunny", 85], ["overcast", 95], ["rain", 65]], dtype=object)
    >>> y = ["play", "stay", "play", "play", "stay", "stay", "play", "play"]
    >>> tree = C45Classifier().fit(X, y)
    >>> tree.predict(np.array([["rain", 70], [None, 70]], dtype=object))
    array(['play', 'play'], dtype='<U4')
    >>> tree.predict_proba(np.array([[None, 70]], dtype=object)).round(2)
    array([[0.62, 0.38]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: LIMITS[name]
        for name in (
            "min_samples_leaf", "max_depth", "max_features", "categorical_features", "random_state",
        )
    } | {
        "gain_ratio": ["boolean"],
        "mdl_penalty": ["boolean"],
        "grouping": ["boolean"],
        "collapse": ["boolean"],
        "pruning": ["boolean"],
        "confidence": [Interval(Real, 0.0, 1.0, closed="right")],
        "error_limit": [StrOptions({"table", "normal"})],
        "subtree_raising": ["boolean"],
        "random_ties": ["boolean"],
        "soft_thresholds": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }  # fmt: skip

    def __init__(
        self,
        *,
        min_samples_leaf: float = 2,
        gain_ratio: bool = True,
        mdl_penalty: bool = True,
        grouping: bool = False,
        collapse: bool = True,
        pruning: bool = True,
        confidence: float = 0.25,
        error_limit: Literal["table", "normal"] = "table",
        subtree_raising: bool = True,
        max_depth: int | None = None,
        max_features: Any = None,
        random_ties: bool = False,
        soft_thresholds: bool = False,
        categorical_features: Any = "auto",
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.min_samples_leaf = min_samples_leaf
        self.gain_ratio = gain_ratio
        self.mdl_penalty = mdl_penalty
        self.grouping = grouping
        self.collapse = collapse
        self.pruning = pruning
        self.confidence = confidence
        self.error_limit = error_limit
        self.subtree_raising = subtree_raising
        self.max_depth = max_depth
        self.max_features = max_features
        self.random_ties = random_ties
        self.soft_thresholds = soft_thresholds
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.random_state = random_state

    @property
    def _impurity(self) -> str:
        return "entropy"

    def _whole_sample(self, data: TrainingSet) -> MemberSamples:
        """Like the base's, but class weights do not change the number of samples."""
        # The factor of a class is rounded to whole grains, so that weight 2 still means two copies.
        sample = super()._whole_sample(data)
        if data.class_factors is None:
            return sample
        total = float(sample.weights.sum())
        if are_counts(sample.weights):
            return replace(sample, n_samples=total)
        factor = np.rint(data.class_factors * (data.n_samples / total) * GRAINS) / GRAINS
        factor = np.maximum(factor, 1.0 / GRAINS)
        return replace(sample, weights=(data.sample_weights * factor[data.y])[None])

    def _growth(self, n_features: int, n_samples: float) -> C45Growth:
        return C45Growth(
            min_samples_leaf=least_weight(self.min_samples_leaf, n_samples),
            gain_ratio=self.gain_ratio,
            mdl_penalty=self.mdl_penalty,
            grouping=self.grouping,
            collapse=self.collapse,
            pruning=self.pruning,
            confidence=float(self.confidence),
            error_limit=self.error_limit,
            subtree_raising=self.subtree_raising,
            max_depth=self.max_depth,
            max_features=features_per_node(self.max_features, n_features),
            random_ties=self.random_ties,
        )

    def _grow(self, data: TrainingSet, samples: MemberSamples) -> tuple[Forest, dict[str, Any]]:
        if self.soft_thresholds and not samples.is_alone:
            raise ValueError(
                "soft_thresholds=True is for a single tree: the members of an ensemble must have "
                "soft_thresholds=False."
            )
        forest = grow_c45(
            data.table, samples.y, n_classes=data.n_classes, seeds=samples.seeds,
            weights=samples.weights, units=np.ones(1) if samples.weighs_classes else None,
            candidates=samples.candidates,
            growth=self._growth(data.table.n_features, samples.n_samples),
        )  # fmt: skip
        bounds = None
        if self.soft_thresholds:
            weights = count_samples(samples.weights[0], samples.weighs_classes)
            bounds = soft_bounds(forest, data.X, samples.y[0], weights)
        return forest, {"soft_bounds_": bounds}

    def predict_proba(self, X: Any) -> Any:
        """Class shares of the leaves that each row reaches.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes_``.
        """
        bounds = getattr(self, "soft_bounds_", None)
        if bounds is None:
            return super().predict_proba(X)
        return soft_supports(self.forest_, bounds, self._encode(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Class with the most weight in the leaves that each row reaches.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes.
        """
        if getattr(self, "soft_bounds_", None) is None:
            return super().predict(X)
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)])
