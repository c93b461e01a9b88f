"""What shuffling an attribute costs members of any make on the examples that they did not see.

References
----------
Breiman (2001). Random forests. Machine Learning 45(1), 5-32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from orfeon.adapters.base import FittedEnsemble

Floats = npt.NDArray[np.float64]


def permuted_members(
    members: FittedEnsemble,
    X: Any,
    y: npt.NDArray[Any],
    weights: Floats,
    out: npt.NDArray[np.bool_],
    n_repeats: int,
    generator: np.random.Generator,
) -> Floats:
    """Increase of each member's error on what it did not see, when an attribute is shuffled.

    Parameters
    ----------
    members : FittedEnsemble
        The members.
    X : array or data frame of shape (n_rows, n_attributes)
        The training examples.
    y : ndarray of shape (n_rows,)
        Codes of their classes, or their targets.
    weights : ndarray of shape (n_rows,)
        Their weights.
    out : ndarray of bool of shape (n_members, n_rows)
        The examples that each member did not see.
    n_repeats : int
        Shuffles of each attribute, of which the mean is taken.
    generator : numpy.random.Generator
        Source of the shuffles.

    Returns
    -------
    ndarray of shape (n_members, n_attributes)
        Shares of errors, or squared ones; NaN for a member that saw all.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from orfeon.adapters import adapt
    >>> from orfeon.inspection._member_permutations import permuted_members
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> y = (X[:, 1] > 0.5).astype(int)
    >>> members = adapt(RandomForestClassifier(20, random_state=0).fit(X, y))
    >>> found = permuted_members(
    ...     members, X, y, np.ones(100), members.out_of_bag(X, y), 1, np.random.default_rng(0)
    ... )
    >>> found.shape, bool(found[:, 1].mean() > 0.2)
    ((20, 2), True)
    """
    counted = out * weights
    total = counted.sum(axis=1)

    def errors(given: Any) -> Floats:
        said = members.answers(given)
        lost = (said != y) if members.classes is not None else (said - y) ** 2
        nothing = np.full(len(total), np.nan)
        lost = (lost * counted).sum(axis=1)
        return np.asarray(np.divide(lost, total, out=nothing, where=total > 0))

    before = errors(X)
    rows = np.flatnonzero(weights > 0)  # those of weight 0 are not there
    added = np.zeros((len(total), np.shape(X)[1]))
    for _ in range(n_repeats):
        shuffled = np.arange(len(y))
        shuffled[rows] = generator.permutation(rows)
        for column in range(added.shape[1]):
            added[:, column] += errors(_with_shuffled(X, column, shuffled)) - before
    return added / n_repeats


def _with_shuffled(X: Any, column: int, order: npt.NDArray[np.int64]) -> Any:
    if hasattr(X, "iloc"):
        changed = X.copy()
        values = X.iloc[:, column].iloc[order].set_axis(X.index)
        changed[X.columns[column]] = values
        return changed
    changed = np.array(X)
    changed[:, column] = changed[order, column]
    return changed
