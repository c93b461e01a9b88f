"""Texts that docstrings of this package share, written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from orfeon.rendering.display import DISPLAY_TEXTS
from orfeon.utils.documentation import filled_docstring

Function = TypeVar("Function", bound=Callable[..., Any])

#: A docstring has a line ``<name>`` where the text goes.
TEXTS = {
    **DISPLAY_TEXTS,
    "scale": """
scale : {"auto", "linear", "log"}, default="auto"
    Scale of the axis of ensemble sizes; "auto" is logarithmic from 300 members on.
""",
    "named ensembles": """
ensemble : fitted ensemble or list of fitted estimators, or dict of str to these
    The ensemble, of orfeon or scikit-learn; or several by name.
""",
    "named votes": """
votes : array of shape (n_members, n_samples), or dict of str to such arrays
    Labels that each member votes for; or those of several ensembles by name.
""",
    "name": """
name : str, optional
    Name of the ensemble; by default its class, or "members". A dict has its own names.
""",
    "votes": """
members_or_votes : fitted ensemble, list of estimators or array of shape (n_members, n_samples)
    An ensemble of orfeon, or scikit-learn's bagging, forest, AdaBoost or voting, or a list of
    fitted estimators, with ``X``; or the labels that each member votes for, without.
X : array or data frame of shape (n_samples, n_features), optional
    The samples, for an ensemble.
y : array of shape (n_samples,)
    Their classes.
""",
    "weights": """
sample_weight : array of shape (n_samples,), optional
    Sample weights: 0 leaves a sample out, 2 counts it twice.
""",
    "on": """
on : {"train", "out_of_bag"}, default="train"
    Whether all members vote on all samples, or only on those they were not trained on; then
    ``X``, ``y`` and ``sample_weight`` must be the training set.
no_vote : optional
    The value in a matrix of votes that means "does not vote".
""",
    "probabilities": """
y : array of shape (n_samples,)
    Classes of samples that the model was not trained on.
probabilities : array of shape (n_samples,) or (n_samples, n_classes)
    Probability of the second of two classes, or of each class.
classes : array of shape (n_classes,), optional
    The classes, in the order of the columns; by default those of ``y``, sorted.
""",
    "kind": """
kind : {"confidence", "classes"}, default="confidence"
    With more than two classes: whether the largest probability is compared with how often its class
    is the true one, or the probability of each class with how often it occurs.
""",
    "bins": """
n_bins : int or None, default=10
    Groups of similar probabilities; None groups only equal probabilities.
bins : {"quantile", "uniform"}, default="quantile"
    Whether groups have about the same number of samples, or the same width.
""",
    "measure": """
members_or_votes, X, y
    As for :func:`diversity`; or what %(counts)s() returns, alone.
**reading
    ``sample_weight``, ``on`` and ``no_vote``, as for :func:`diversity`.

Returns
-------
float
    The measure; NaN if it is undefined.
""",
    "predictions": """
predictions : array of shape (n_trainings, n_points)
    Labels predicted after each training.
y : array of shape (n_points,), optional
    Labels, taken as certain.
posterior : array of shape (n_points, n_classes), optional
    Probability of each class at each point, instead of ``y``.
classes : array of shape (n_classes,), optional
    The labels, in the order of the columns of ``posterior``; sorted by default.
sample_weight : array of shape (n_points,), optional
    Weights of the points: 0 leaves a point out, 2 counts it twice.
""",
    "unbiased": """
unbiased : bool, default=False
    Whether to correct bias and variance for the number n of trainings. Without correction the
    squared bias is too large by ``variance / n`` and the variance too small by as much. A
    corrected bias may be below 0. Needs two trainings.
""",
    "definition": """
definition : str, optional
    See :func:`bias_variance_decomposition`; by default "kohavi_wolpert", and "squared_error"
    in regression.
unbiased : bool, default=False
    Whether to correct the estimates for the number of trainings.
""",
}


def filled(text: str | None, **words: str) -> str:
    """A docstring with the shared texts in place of their marks."""
    text = filled_docstring(text, TEXTS)
    for name, word in words.items():
        text = text.replace(f"%({name})s", word)
    return text


def documented(**words: str) -> Callable[[Function], Function]:
    """Fill the shared texts into the docstring of a function."""

    def fill(function: Function) -> Function:
        function.__doc__ = filled(function.__doc__, **words)
        return function

    return fill
