"""The measures for unbalanced samples as scorers, for ``scoring=`` anywhere in scikit-learn."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.metrics import make_scorer

from orfeon.imbalance.metrics import (
    f_beta,
    geometric_mean,
    negative_accuracy,
    positive_accuracy,
    precision_recall_mean,
)

#: acc+, the minority of each test set being positive.
positive_accuracy_scorer = make_scorer(positive_accuracy)
#: acc-, the minority of each test set being positive.
negative_accuracy_scorer = make_scorer(negative_accuracy)
#: The geometric mean g of the accuracies on the classes.
geometric_mean_scorer = make_scorer(geometric_mean)
#: sqrt(p r), the minority of each test set being positive.
precision_recall_mean_scorer = make_scorer(precision_recall_mean)
#: F with equal parts of precision and recall, the minority of each test set being positive.
f_beta_scorer = make_scorer(f_beta)


def imbalance_scorers(
    pos_label: Any = None, beta: float = 1.0, zero_division: Any = "warn"
) -> dict[str, Any]:
    """All measures at once, with one positive class for all test sets.

    Parameters
    ----------
    pos_label : label, optional
        The positive class. By default it is the minority of each test set, which need not be the
        same class in all of them: better name it.
    beta : float, default=1.0
        How many times as much recall matters as precision in F; not negative.
    zero_division : {"warn", 0.0, 1.0, numpy.nan}, default="warn"
        What a score is that is 0/0, as in a test set without positive samples.

    Returns
    -------
    dict of str to scorer
        "positive_accuracy", "negative_accuracy", "geometric_mean", "precision_recall_mean" and
        "f_beta". To search by several of them, say with ``refit`` which of them decides.

    Notes
    -----
    scikit-learn's scorers ask that a classifier knows the positive class: where a *training* set
    has no sample of it, the scores are NaN, with a warning that scoring failed.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.model_selection import cross_validate
    >>> from orfeon import CARTClassifier
    >>> from orfeon.imbalance import imbalance_scorers
    >>> X, y = make_classification(400, weights=[0.9], random_state=0)
    >>> tree = CARTClassifier(random_state=0)
    >>> scores = cross_validate(tree, X, y, scoring=imbalance_scorers(pos_label=1))
    >>> for name in ("positive_accuracy", "negative_accuracy", "geometric_mean"):
    ...     print(f"{name:17} {scores['test_' + name].mean():.2f}")
    positive_accuracy 0.66
    negative_accuracy 0.95
    geometric_mean    0.79
    """
    is_number: bool = isinstance(beta, Real)
    if not is_number or not beta >= 0:
        raise ValueError(f"beta={beta!r} is not allowed: a number that is not negative is.")
    same = {"pos_label": pos_label, "zero_division": zero_division}
    measures = (positive_accuracy, negative_accuracy, geometric_mean, precision_recall_mean)
    scorers = {measure.__name__: make_scorer(measure, **same) for measure in measures}
    return {**scorers, "f_beta": make_scorer(f_beta, beta=beta, **same)}
