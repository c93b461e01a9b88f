"""IGP trees: grown with one half of the samples and pruned with the other, in turns.

References
----------
Gelfand, Ravishankar and Delp (1991). An iterative growing and pruning algorithm for classification
tree design. IEEE Transactions on Pattern Analysis and Machine Intelligence 13(2), 163-174.

Martínez-Muñoz and Suárez (2004). Using all data to generate decision tree ensembles. IEEE
Transactions on Systems, Man and Cybernetics C 34(4), 393-397.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.data.training_set import TrainingSet
from orfeon.forest import Forest
from orfeon.growth import Growth, grow_igp_forest
from orfeon.trees.base import (
    CRITERION,
    LIMITS,
    TIES,
    BaseTree,
    Criterion,
    MemberSamples,
    Ties,
    TreeClassifierMixin,
)
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import StrOptions
from orfeon.utils.seeding import tree_seeds


def halve_groups(
    groups: npt.NDArray[np.int64],
    labels: npt.NDArray[np.integer[Any]],
    weights: npt.NDArray[np.float64],
    rng: np.random.Generator,
) -> npt.NDArray[np.uint8]:
    """Split samples into halves of nearly equal weight in every class, copies together."""
    n_groups = int(groups.max()) + 1
    weight = np.bincount(groups, weights=weights, minlength=n_groups)
    label = np.zeros(n_groups, np.int64)
    label[groups] = labels
    half = np.zeros(n_groups, np.uint8)
    order = rng.permutation(n_groups)
    total = np.zeros(2)
    for c in range(int(labels.max()) + 1):
        share = np.zeros(2)
        for g in order[label[order] == c]:
            # The half with less weight of this class is next; on a tie, the lighter half.
            side = int(share[0] > share[1]) if share[0] != share[1] else int(total[0] > total[1])
            share[side] += weight[g]
            total[side] += weight[g]
            half[g] = side + 1
    return half[groups]


@saved.attributes(n_rounds_=saved.integer(0), halves_=saved.array("u1", 1))
@documented()
class IGPTreeClassifier(TreeClassifierMixin, BaseTree):
    """Tree grown on one half of the samples and pruned on the other, in turn.

    It needs neither a validation set nor cross-validation, and a new random split into halves
    gives a different tree, so ensembles of IGP trees need no other perturbation.

    Parameters
    ----------
    <criterion>
    <max_depth>
    <least_weight_of_half>
    <tie_rule>
    <categorical_features>
    <class_factors>
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of the halves and of the ties between equally good splits.

    Attributes
    ----------
    <tree>
    <classes>
    halves_ : ndarray of uint8
        The half, 1 or 2, of each training sample; 0 for samples of weight 0. Copies of one
        sample share a half.
    n_rounds_ : int
        Rounds of growing and pruning; usually 2 or 3.

    Examples
    --------
    >>> from orfeon import IGPTreeClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> tree = IGPTreeClassifier(random_state=0).fit(X, y)
    >>> tree.n_rounds_, tree.get_n_leaves()
    (4, 10)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: LIMITS[name]
            for name in (
                "max_depth",
                "min_weight_fraction_leaf",
                "categorical_features",
                "random_state",
            )
        },
        "criterion": CRITERION,
        "ties": TIES,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    halves_: npt.NDArray[np.uint8]
    n_rounds_: int

    def __init__(
        self,
        *,
        criterion: Criterion = "gini",
        max_depth: int | None = None,
        min_weight_fraction_leaf: float = 0.0,
        ties: Ties = "random",
        categorical_features: Any = "auto",
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.ties = ties
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.random_state = random_state

    def _whole_sample(self, data: TrainingSet) -> MemberSamples:
        tree_sequence, half_sequence = data.seeds.spawn(2)
        sample = super()._whole_sample(data)
        rng = np.random.default_rng(half_sequence)
        halves = halve_groups(data.groups, data.y, sample.weights[0], rng)
        return replace(sample, seeds=tree_seeds(tree_sequence, 1), halves=halves[None])

    def _grow(self, data: TrainingSet, samples: MemberSamples) -> tuple[Forest, dict[str, Any]]:
        if samples.halves is None:
            raise ValueError(
                "IGP trees are grown from two halves of the samples; use IGPEnsembleClassifier "
                "for ensembles of IGP trees."
            )
        forest, rounds = grow_igp_forest(
            data.table, data.X, samples.y, samples.halves, n_classes=data.n_classes,
            seeds=samples.seeds, weights=samples.weights, candidates=samples.candidates,
            growth=Growth(
                criterion=self._impurity,  # type: ignore[arg-type]
                max_depth=self.max_depth,
                min_weight_fraction_leaf=self.min_weight_fraction_leaf,
                ties=self.ties,
            ),
        )  # fmt: skip
        halves = np.zeros(data.n_given, np.uint8)
        halves[data.rows] = samples.halves[0]
        return forest, {"n_rounds_": int(rounds[0]), "halves_": halves}
