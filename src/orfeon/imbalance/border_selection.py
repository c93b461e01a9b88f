"""Keep the samples at the border of their class, those nearest to samples of other classes (Duch).

Only samples near a border between classes define it. A sample is at the border if it is among the
nearest of its class to some sample of another class.

References
----------
Duch (2000). Similarity-based methods: a general framework for classification, approximation and
association. Control and Cybernetics 29(4), 937-968.
Duch (2005). Support vector neural training. Lecture Notes in Computer Science 3697, 67-72.
Jankowski, Grochowski (2004). Comparison of instances selection algorithms I. Lecture Notes in
Computer Science 3070, 598-603.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.imbalance.neighbours import ClassNeighbours, Search, search_among
from orfeon.imbalance.samplers import SelectionSampler
from orfeon.utils import saved
from orfeon.utils.scikit_learn import HasMethods, Interval
from orfeon.utils.types import Integers


@saved.attributes(n_rounds_=saved.integer(0))
class BorderSelection(SelectionSampler):
    """Keep only samples that are the nearest of their class to a sample of another class.

    Parameters
    ----------
    sampling_strategy : {"auto", "majority", "not minority", "not majority", "all"} or list, \
            default="auto"
        Classes reduced to their border, or a list of them. "auto" is "not minority": the minority
        is kept whole, and with two classes the other keeps at most `n_neighbors` times as many
        samples. "all" keeps the border of every class, Duch's selection of prototypes.
    n_neighbors : int or estimator, default=1
        Number of nearest samples of a class kept for each sample of another class. An estimator
        with ``kneighbors`` brings its own distance and ``n_neighbors``.
    n_rounds : int or None, default=1
        How often the border is taken, each time from the samples kept before; None repeats until
        nothing changes. It makes a difference only if two or more classes are reduced.
    n_jobs : int or None, default=None
        Threads for the neighbour search; an estimator has its own.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_selected,)
        Rows kept, in ascending order.
    n_rounds_ : int
        Number of rounds; it stops after one that keeps everything.
    sampling_strategy_ : dict
        Classes reduced to their border.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if `X` has names.

    See Also
    --------
    WeightedDistanceEditing : Leave out samples that their neighbours misclassify.
    imblearn.under_sampling.NearMiss : Undersample the majority by mean distances.

    Notes
    -----
    With more than two classes, neighbours are searched in each class separately, so that no class
    is lost. Equally near samples are taken in row order. Mislabelled samples are nearest to many
    and are kept, so edit first. Features should be on one scale.

    Examples
    --------
    Of the common samples, the one at 2 is nearest to both rare ones.

    >>> from orfeon.imbalance import BorderSelection
    >>> X = [[0.0], [1.0], [2.0], [4.0], [5.0]]
    >>> y = ["common", "common", "common", "rare", "rare"]
    >>> BorderSelection().fit_resample(X, y)
    ([[2.0], [4.0], [5.0]], ['common', 'rare', 'rare'])
    >>> border = BorderSelection(sampling_strategy="all")
    >>> border.fit_resample(X, y)
    ([[2.0], [4.0]], ['common', 'rare'])
    >>> border.sample_indices_
    array([2, 3])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SelectionSampler._parameter_constraints,
        "n_neighbors": [
            Interval(Integral, 1, None, closed="left"),
            HasMethods(["kneighbors", "kneighbors_graph"]),
        ],
        "n_rounds": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        sampling_strategy: str | list[Any] = "auto",
        n_neighbors: Any = 1,
        n_rounds: int | None = 1,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(sampling_strategy=sampling_strategy)
        self.n_neighbors = n_neighbors
        self.n_rounds = n_rounds
        self.n_jobs = n_jobs

    def _select(self, X: Any, y: npt.NDArray[Any]) -> Integers:
        search = search_among(X, self.n_neighbors, additional=0, n_jobs=self.n_jobs)
        for label in self.sampling_strategy_:
            size, name = np.count_nonzero(y == label), np.asarray(label).item()
            if size < search.n_neighbors:
                raise ValueError(
                    f"n_neighbors={search.n_neighbors} is more than the {size} samples of class "
                    f"{name!r}; use a smaller n_neighbors, or list only other classes in "
                    "sampling_strategy"
                )
        kept = np.arange(len(y))
        self.n_rounds_ = 0
        while self.n_rounds is None or self.n_rounds_ < self.n_rounds:
            before, kept = kept, self._border(search, y, kept)
            self.n_rounds_ += 1
            if len(kept) == len(before):
                break
        return kept

    def _border(self, search: Search, y: npt.NDArray[Any], rows: Integers) -> Integers:
        """Border of some samples; classes outside ``sampling_strategy_`` stay whole."""
        is_kept = ~np.isin(y[rows], list(self.sampling_strategy_))
        kept = [rows[is_kept]]
        for label in self.sampling_strategy_:
            own = y[rows] == label
            known = ClassNeighbours(search, rows[own])
            kept.append(known.nearest(rows[~own])[1].ravel())
        return np.unique(np.concatenate(kept))
