"""The metrics for imbalanced classes as scorers, for ``scoring=`` in scikit-learn."""

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

#: acc+, with the minority of each test set as positive class.
positive_accuracy_scorer = make_scorer(positive_accuracy)
#: acc-, with the minority of each test set as positive class.
negative_accuracy_scorer = make_scorer(negative_accuracy)
#: Geometric mean g of the class accuracies.
geometric_mean_scorer = make_scorer(geometric_mean)
#: sqrt(p r), with the minority of each test set as positive class.
precision_recall_mean_scorer = make_scorer(precision_recall_mean)
#: F1, with the minority of each test set as positive class.
f_beta_scorer = make_scorer(f_beta)


def imbalance_scorers(
    pos_label: Any = None, beta: float = 1.0, zero_division: Any = "warn"
) -> dict[str, Any]:
    """All metrics as scorers, with one positive class for all test sets.

    Parameters
    ----------
    pos_label : label, optional
        The positive class. It is better to name it: the default is the minority of each test set,
        which may differ between them.
    beta : float, default=1.0
        Weight of recall relative to precision in F; not negative.
    zero_division : {"warn", 0.0, 1.0, numpy.nan}, default="warn"
        Value of a score that is 0/0, as in a test set without positive samples.

    Returns
    -------
    dict of str to scorer
        "positive_accuracy", "negative_accuracy", "geometric_mean", "precision_recall_mean" and
        "f_beta". A search with several scorers needs ``refit`` to name the one that decides.

    Notes
    -----
    If a *training* set has no positive samples, scikit-learn sets the scores to NaN and warns that
    scoring failed.

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
        raise ValueError(f"beta={beta!r} is not allowed; give a number of at least 0.")
    same = {"pos_label": pos_label, "zero_division": zero_division}
    measures = (positive_accuracy, negative_accuracy, geometric_mean, precision_recall_mean)
    scorers = {measure.__name__: make_scorer(measure, **same) for measure in measures}
    return {**scorers, "f_beta": make_scorer(f_beta, beta=beta, **same)}
