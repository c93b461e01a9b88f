"""The error of bagged regressors from the predictions that members make out of bag.

The mean of the few members that did not see a sample varies more than the mean of all. The excess
follows from the variance of the members, so it can be subtracted.

References
----------
Wolpert and Macready (1999). An efficient method to estimate bagging's generalization error. Machine
Learning 35(1), 41-55.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orfeon.inspection.documentation import documented
from orfeon.inspection.reading import read_answers
from orfeon.members.votes import Selection
from orfeon.utils.types import Floats


@dataclass(frozen=True)
class BaggingError:
    """Mean squared errors of a bagged regressor, estimated from its training set.

    Parameters
    ----------
    out_of_bag : float
        Of the mean of the members that did not see a sample; too high for a small ensemble.
    error : float
        With the number of members that the ensemble has.
    limit : float
        With infinitely many members.
    n_members : int
        Number of members.
    n_samples : int
        Samples that at least two members did not see; only they count.

    Examples
    --------
    >>> from orfeon.inspection import BaggingError
    >>> BaggingError(3.0, 2.4, 2.1, 10, 200).error
    2.4
    """

    out_of_bag: float
    error: float
    limit: float
    n_members: int
    n_samples: int


@documented()
def bagging_error(ensemble: Any, X: Any, y: Any, sample_weight: Any = None) -> BaggingError:
    """Estimate the error of bagged regressors on new samples, without a test set.

    Parameters
    ----------
    ensemble : fitted regressor
        An ensemble of regressors with equal votes that leaves samples out, such as
        :class:`orfeon.BaggingRegressor`, or scikit-learn's.
    X, y
        The training set, as given to ``fit``.
    <weights>

    Returns
    -------
    BaggingError
        The estimates.

    Notes
    -----
    If n members with variance v predict a sample that they did not see, the squared error of their
    mean is on average v/n above that of infinitely many members. The sample variance of their
    predictions estimates v. So v/n is subtracted for the limit, and v/T added for T members. If
    members predict independently given the training set, both estimates are unbiased.

    Examples
    --------
    With ten members, each sample is out of bag for only about four of them.

    >>> import numpy as np
    >>> from orfeon import BaggingRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> from orfeon.inspection import bagging_error
    >>> X, y = make_friedman1(300, random_state=0)
    >>> X_test, y_test = make_friedman1(5000, random_state=1)
    >>> bag = BaggingRegressor(n_estimators=10, random_state=0).fit(X, y)
    >>> found = bagging_error(bag, X, y)
    >>> round(found.out_of_bag, 1), round(found.error, 1)
    (8.5, 6.8)
    >>> round(float(np.mean((bag.predict(X_test) - y_test) ** 2)), 1)
    6.7
    """
    source = read_answers(ensemble, X, y, sample_weight, what="bagging errors", on="out_of_bag")
    selection = source.selection
    if not selection.is_regression:
        raise ValueError(
            "ensemble votes for classes; bagging_error needs regressors. The out-of-bag error of a "
            "classifier is its oob_error_."
        )
    return errors_of(selection)


def errors_of(selection: Selection) -> BaggingError:
    """The estimates from out-of-bag predictions, NaN where a member saw the sample."""
    known = selection.answered
    n_known = known.sum(axis=0)
    counted = n_known > 1
    if not counted.any():
        raise ValueError(
            "no sample was left out by two members; train more members, or use smaller samples."
        )
    answers = np.where(known, selection.answers, np.nan)[:, counted]
    weights, n = selection.weights[counted], n_known[counted]
    squared: Floats = (np.nanmean(answers, axis=0) - selection.y[counted]) ** 2
    variance: Floats = np.nanvar(answers, axis=0, ddof=1)
    limit = squared - variance / n
    n_members = selection.n_members
    return BaggingError(
        out_of_bag=float(np.average(squared, weights=weights)),
        error=float(np.average(limit + variance / n_members, weights=weights)),
        limit=float(np.average(limit, weights=weights)),
        n_members=n_members,
        n_samples=int(counted.sum()),
    )
