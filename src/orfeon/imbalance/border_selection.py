"""Keep the samples at the border of their class: those nearest to the samples of others (Duch).

The samples beside a border between classes define it; those far inside do not matter. For every
sample, the nearest of each other class are at the border. What remains are all that were so for
any. (Support vector neural training selects by the outputs of a network instead.)

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
    """Keep only the samples that are the nearest of their class to a sample of another.

    Parameters
    ----------
    sampling_strategy : {"auto", "majority", "not minority", "not majority", "all"} or list, \
            default="auto"
        The classes of which only the border is kept; a list names them. "auto" is "not minority":
        the minority is kept whole, and of two classes the other keeps at most `n_neighbors` times
        as many. "all" keeps the border of every class, the selection of prototypes by Duch.
    n_neighbors : int or estimator, default=1
        How many of a class are at its border for each sample of another class. An estimator with
        ``kneighbors`` brings its own distance and its ``n_neighbors``.
    n_rounds : int or None, default=1
        How often the border is taken, each time of what the last time kept; with None until that
        is the border of itself. It takes more than one round only where two classes or more are
        selected from.
    n_jobs : int or None, default=None
        Threads that look for neighbours; an estimator has its own.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_selected,)
        The rows that are kept, in ascending order.
    n_rounds_ : int
        The rounds that were made: no more follow one that keeps everything.
    sampling_strategy_ : dict
        The classes of which only the border is kept.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where `X` has names.

    See Also
    --------
    WeightedDistanceEditing : Leave out the samples that their neighbours get wrong.
    imblearn.under_sampling.NearMiss : As many of the majority as of the minority, by mean distance.

    Notes
    -----
    With more than two classes neighbours are looked for in each other class by itself, so that no
    class is lost. Equally near samples are taken in the order of their rows. A mislabelled
    sample is the nearest to many and is kept: edit before. Features should be on one scale.

    Examples
    --------
    Of the common ones, that at 2 is the nearest to both rare ones.

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
                    f"n_neighbors={search.n_neighbors} samples of each class are looked for, but "
                    f"class {name!r} has only {size}: look for fewer, or let sampling_strategy "
                    "name the other classes only"
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
        """The border of some samples; the classes that are not selected from stay whole."""
        is_kept = ~np.isin(y[rows], list(self.sampling_strategy_))
        kept = [rows[is_kept]]
        for label in self.sampling_strategy_:
            own = y[rows] == label
            known = ClassNeighbours(search, rows[own])
            kept.append(known.nearest(rows[~own])[1].ravel())
        return np.unique(np.concatenate(kept))
