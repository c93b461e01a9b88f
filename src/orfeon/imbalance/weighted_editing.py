"""Wilson's editing by a distance that brings smaller classes nearer (Barandela).

Wilson's rule leaves out samples that their nearest neighbours misclassify. Samples of a rare class
have mostly others around them, so the rule removes the minority rather than the majority. Barandela
et al. measure the distance to a sample of class i as

    d_w(y, x) = (n_i / n)^(1/m) d(y, x)

with n_i of the n samples in class i, and m features, as if all classes were equally dense: n_i
samples spread over the same space are (1/n_i)^(1/m) apart.

References
----------
Barandela, Sánchez, García, Rangel (2003). Strategies for learning in class imbalance problems.
Pattern Recognition 36(3), 849-851.
Barandela, Valdovinos, Sánchez, Ferri (2004). The imbalanced training sample problem: under or
over sampling? Lecture Notes in Computer Science 3138, 806-814.
Wilson (1972). Asymptotic properties of nearest neighbor rules using edited data. IEEE Transactions
on Systems, Man, and Cybernetics 2(3), 408-421.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.imbalance.neighbours import ClassNeighbours, blocks, by_distance, search_among
from orfeon.imbalance.samplers import SelectionSampler
from orfeon.utils import saved
from orfeon.utils.scikit_learn import HasMethods, Interval
from orfeon.utils.types import Floats, Integers


@saved.attributes(distance_weights_=saved.dict_of(saved.label, saved.number()))
class WeightedDistanceEditing(SelectionSampler):
    """Leave out samples that their neighbours misclassify, with rare classes counted as nearer.

    The nearest neighbours of each sample vote on its class. The distance to a sample of class i is
    multiplied by (n_i / n)^(1/m), with n_i of the n samples in class i, and m features.
    Misclassified samples are left out, all at once.

    Parameters
    ----------
    sampling_strategy : {"auto", "majority", "not minority", "not majority", "all"} or list, \
            default="auto"
        Classes whose samples may be left out, or a list of them. "auto" is "not minority". The
        neighbours are of all classes in any case.
    n_neighbors : int or estimator, default=3
        Number of neighbours that vote. An estimator with ``kneighbors`` brings its own distance;
        its ``n_neighbors`` counts the sample itself, as in imbalanced-learn.
    n_jobs : int or None, default=None
        Threads for the neighbour search; an estimator has its own.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_selected,)
        Rows kept, in ascending order.
    distance_weights_ : dict
        Factor on the distance to samples of each class.
    sampling_strategy_ : dict
        Classes whose samples may be left out.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if `X` has names.

    See Also
    --------
    imblearn.under_sampling.EditedNearestNeighbours : Wilson's editing with plain distances.
    BorderSelection : Keep the samples near other classes.

    Notes
    -----
    Equally near samples are taken in row order. Tied votes go to the class of the nearest
    neighbour. The class shares n_i / n include the sample itself. Features should be on one scale.

    Examples
    --------
    The sample at 3 is 1 away from the one at 2 and 1.2 from the one at 4.2. Two of the five samples
    are rare: its weighted distance is 1 * 3/5 = 0.6 to the common one and 1.2 * 2/5 = 0.48 to the
    rare one, which misclassifies it.

    >>> from orfeon.imbalance import WeightedDistanceEditing
    >>> X = [[0.0], [2.0], [3.0], [4.2], [4.4]]
    >>> y = ["common", "common", "common", "rare", "rare"]
    >>> editing = WeightedDistanceEditing(n_neighbors=1)
    >>> editing.fit_resample(X, y)
    ([[0.0], [2.0], [4.2], [4.4]], ['common', 'common', 'rare', 'rare'])
    >>> editing.sample_indices_, editing.distance_weights_
    (array([0, 1, 3, 4]), {'common': 0.6, 'rare': 0.4})
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SelectionSampler._parameter_constraints,
        "n_neighbors": [
            Interval(Integral, 1, None, closed="left"),
            HasMethods(["kneighbors", "kneighbors_graph"]),
        ],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        sampling_strategy: str | list[Any] = "auto",
        n_neighbors: Any = 3,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(sampling_strategy=sampling_strategy)
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    def _select(self, X: Any, y: npt.NDArray[Any]) -> Integers:
        search = search_among(X, self.n_neighbors, additional=1, n_jobs=self.n_jobs)
        if search.n_neighbors >= len(y):
            raise ValueError(
                f"n_neighbors={search.n_neighbors} needs at least {search.n_neighbors + 1} "
                f"samples, but X has only {len(y)}"
            )
        classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        weights = (counts / len(y)) ** (1 / X.shape[1])
        self.distance_weights_ = dict(zip(classes.tolist(), weights.tolist(), strict=True))
        edited = np.flatnonzero(np.isin(y, list(self.sampling_strategy_)))
        of_class = [np.flatnonzero(codes == c) for c in range(len(classes))]
        known = [ClassNeighbours(search, rows) for rows in of_class]
        wrong = [
            part[_decided(known, weights, part, search.n_neighbors, codes) != codes[part]]
            for part in blocks(edited, len(classes) * search.n_neighbors)
        ]
        return np.setdiff1d(np.arange(len(y)), np.concatenate(wrong))


def _decided(
    known: list[ClassNeighbours],
    weights: Floats,
    queries: Integers,
    n_neighbors: int,
    codes: Integers,
) -> Integers:
    """Class that the nearest neighbours of each row vote for, by weighted distances.

    Weights are equal within a class, so the nearest overall are among the nearest of each class.
    """
    found = [neighbours.nearest(queries) for neighbours in known]
    distances = np.hstack([w * d for w, (d, _) in zip(weights, found, strict=True)])
    rows = np.hstack([r for _, r in found])
    first = by_distance(distances, rows)[:, :n_neighbors]
    labels = codes[np.take_along_axis(rows, first, axis=1)]
    votes = np.stack([(labels == c).sum(axis=1) for c in range(len(known))], axis=1)
    is_winner = np.take_along_axis(votes, labels, axis=1) == votes.max(axis=1, keepdims=True)
    nearest_winner = is_winner.argmax(axis=1)[:, None]
    decided: Integers = np.take_along_axis(labels, nearest_winner, axis=1)[:, 0]
    return decided
